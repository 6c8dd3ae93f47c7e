"""`max_position_flips`: choices that change with the order all count, whichever way, and a limit of them decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from scipy.stats import binom, binomtest
from support.project import Project, in_pyproject, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.contrast import ContrastCheck
from judgefixtures.checks.order_flips import decide_flips, min_pairs_for_flips
from judgefixtures.config import GateTable, PositionTable, build_config, judge_table
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.contrasts import other_contrasts
from judgefixtures.models.findings import DecisionPart, Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status, proportion
from judgefixtures.statistics.proportion_gate import (
    gate_share,
    largest_passing_count,
    pairs_for_share,
    share_gate_chances,
    smallest_n_of_share,
)
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

REPOSITORY = Path(__file__).parents[2]
POSITION = other_contrasts("position")[0]
CONFIG = build_config({"gate": {"position": {"max_position_flips": 0.2}}})
GATE = CONFIG.gate("position")
JUDGE = judge_table({"provider": "openai", "model": "m"})


def choosing(selected: int | None) -> JudgeReply:
    return JudgeReply(Verdict(None, "", "refusal") if selected is None else Verdict(selected, "It is right."))


def both_orders(choices: Sequence[str], clusters: int | None = None) -> ContrastMeasurement:
    """Return a measurement of pairs by their own choices in either order: "12" changed, "1-" has one invalid answer."""
    rows = []
    for number, (own, other) in enumerate(choices):
        pair = Pair(f"p{number}", "Q", "A", "B", cluster=None if clusters is None else f"c{number % clusters}")
        x = Judgment(pair, POSITION.x, choosing(None if own == "-" else int(own)))
        y = Judgment(pair, POSITION.y, choosing(None if other == "-" else 3 - int(other)))
        rows.append((x, y))
    return measure_contrast([x for x, _ in rows], [y for _, y in rows], GATE.confidence, POSITION.outcome)


def part(choices: Sequence[str], limit: float | None = 0.2, clusters: int | None = None, **gate: Any) -> DecisionPart:
    return decide_flips(both_orders(choices, clusters), PositionTable(max_position_flips=limit, **gate), CONFIG)


# --- the decision -------------------------------------------------------------------------------------------


def test_six_each_way_are_twelve(snapshot: SnapshotAssertion) -> None:
    """Choices that change six each way have a net shift of 0 and count as twelve of forty."""
    choices = ["12"] * 6 + ["21"] * 6 + ["11"] * 14 + ["22"] * 14
    assert both_orders(choices).n10 == both_orders(choices).n01 == 6
    found = part(choices)
    assert found.reason == snapshot
    assert found.status is Status.INCONCLUSIVE
    assert found.estimate == proportion(12, 40, 0.90, "exact")
    assert found.allowed == (None, 0.2)


@pytest.mark.parametrize("flips", range(0, 41, 2))
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_three_ways_by_exact_tests(flips: int, alpha: float) -> None:
    """PASS where few enough are unlikely at the limit, FAIL where so many are, by the binomial test of scipy."""
    found = gate_share(flips, 40, 0.2, alpha)
    p_pass = binomtest(flips, 40, 0.2, alternative="less").pvalue
    p_fail = binomtest(flips, 40, 0.2, alternative="greater").pvalue
    assert (found.p_pass, found.p_fail) == pytest.approx((p_pass, p_fail))
    expected = Status.PASS if p_pass < alpha else Status.FAIL if p_fail < alpha else Status.INCONCLUSIVE
    assert found.status is expected
    assert (
        (found.status is Status.PASS) == (found.estimate.high < 0.2) == (flips <= largest_passing_count(40, 0.2, alpha))
    )
    assert (found.status is Status.FAIL) == (found.estimate.low > 0.2)


def test_unset_it_decides_nothing_and_is_told(snapshot: SnapshotAssertion) -> None:
    """Without a limit the share is shown with its interval, and where the limit would stand."""
    found = part(["12"] * 12 + ["11"] * 28, limit=None)
    assert found.status is Status.NOT_APPLICABLE
    low, high = found.estimate.low, found.estimate.high  # type: ignore[union-attr]
    assert found.reason == snapshot
    assert f"0.30 (90% CI {low:.2f} to {high:.2f})" in found.reason


def test_a_pass_holds_with_invalid_pairs_at_worst(snapshot: SnapshotAssertion) -> None:
    """Two flips of forty pass; beside four invalid pairs, which may all have changed, nothing is shown."""
    steady = ["11"] * 38 + ["12"] * 2
    assert part(steady).status is Status.PASS
    assert part([*steady, "1-"]).status is Status.PASS
    found = part([*steady, "1-", "-1", "--", "2-"])
    assert found.status is Status.INCONCLUSIVE
    worst = proportion(6, 44, 0.90, "exact").high
    assert f"raise the flips to {worst:.3f}" in found.reason
    assert found.reason == snapshot
    assert "PASS" not in found.reason
    assert part(["12"] * 30 + ["11"] * 6 + ["--"] * 4).status is Status.FAIL


def test_related_pairs_count_as_clusters(snapshot: SnapshotAssertion) -> None:
    """Of pairs that change together the bound is wider; fewer than five clusters decide nothing."""
    alone = ["12"] * 4 + ["11"] * 56
    assert part(alone).status is Status.PASS
    grouped = [choice for _ in range(2) for choice in (["12"] * 2 + ["11"] * 28)]
    related = part(grouped, clusters=30)
    assert related.estimate.high > part(alone).estimate.high  # type: ignore[union-attr, operator]
    assert "n = 60 pairs in 30 clusters" in related.reason
    few = part(["11"] * 60, clusters=4)
    assert few.status is Status.INCONCLUSIVE
    assert few.reason == snapshot


# --- before anything is asked -------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.05, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_fewest_pairs(limit: float, alpha: float) -> None:
    """With as many pairs as are said a judge that never changes passes, and with one fewer it does not."""
    least = smallest_n_of_share(limit, alpha)
    assert gate_share(0, least, limit, alpha).status is Status.PASS
    assert gate_share(0, least - 1, limit, alpha).status is Status.INCONCLUSIVE
    assert min_pairs_for_flips(PositionTable(max_position_flips=limit, confidence=1 - 2 * alpha)) == least
    assert min_pairs_for_flips(PositionTable()) == min_pairs_for_flips(GateTable()) == 0


def test_the_preflight_knows_the_limit(snapshot: SnapshotAssertion) -> None:
    """Too few pairs are refused by the key that they fall short of; the table's chance is that of both parts."""
    some = [Pair(f"p{n}", "Q", "A", "B") for n in range(30)]
    strict = build_config({"gate": {"position": {"max_position_flips": 0.05}}})
    check = ContrastCheck(POSITION)
    need = check.min_sample(strict, JUDGE, "own", some)
    assert str(need) == snapshot
    assert check.min_sample(CONFIG, JUDGE, "own", some) is None
    design, unlimited = (check.design(each, JUDGE, "own", some * 2) for each in (CONFIG, build_config({})))
    assert design.chance(0.05) == pytest.approx(0.9624, abs=0.0001), "six flips at most, and of these few one way"
    assert unlimited.chance(0.05) > design.chance(0.05)
    assert check.design(strict, JUDGE, "own", some).held_to == "flips 0.05"


def test_the_chances_are_those_of_the_gate() -> None:
    """Every count of flips, by its probability and what the gate says of it, sums up to the chances."""
    for n, limit, share in ((40, 0.2, 0.1), (60, 0.1, 0.2), (13, 0.2, 0.0), (25, 0.5, 0.9)):
        said = [gate_share(k, n, limit).status for k in range(n + 1)]
        sums = [
            sum(binom.pmf(k, n, share) for k in range(n + 1) if said[k] is status)
            for status in (Status.PASS, Status.FAIL)
        ]
        assert share_gate_chances(n, limit, share) == pytest.approx(sums, abs=1e-12)


def test_it_errs_no_more_often_than_it_says() -> None:
    """At the limit neither PASS nor FAIL is likelier than alpha, at any number of pairs; the table of benchmarks/results.md holds."""
    for limit in (0.05, 0.1, 0.2, 0.4):
        assert max(max(share_gate_chances(n, limit, limit)) for n in range(5, 300)) <= 0.05
    text = (REPOSITORY / "benchmarks" / "results.md").read_text()
    for n in (40, 60, 100, 200):
        chances = [share_gate_chances(n, 0.2, share) for share in (0.05, 0.10, 0.15, 0.20, 0.30, 0.40)]
        cells = [" / ".join(f"{chance:.2f}".removeprefix("0") for chance in each) for each in chances]
        assert f"| {n} | {' | '.join(cells)} |" in text


def test_the_advice_decides() -> None:
    """With as many pairs as are advised, and the share as seen, the gate decides in about 80% of runs."""
    for k in (4, 5, 12):
        advised = pairs_for_share(k, 40, 0.2)
        assert advised is not None
        assert max(share_gate_chances(advised, 0.2, k / 40)) == pytest.approx(0.8, abs=0.06)
    assert pairs_for_share(8, 40, 0.2) is None


# --- the key ------------------------------------------------------------------------------------------------


def test_the_limit_is_a_key_of_its_own(snapshot: SnapshotAssertion) -> None:
    """max_position_flips stands in [gate.position] alone, and is one of the settings that a result depends on."""
    assert CONFIG.decisive["gate.position"] == {"max_position_flips": 0.2}
    assert "gate.position" not in build_config({}).decisive
    for elsewhere in ({"max_position_flips": 0.2}, {"recency": {"max_position_flips": 0.2}}):
        with pytest.raises(JudgeFixturesError) as error:
            build_config({"gate": elsewhere})
        assert str(error.value) == snapshot
    for wrong in (0, 1, 1.5, "0.2"):
        with pytest.raises(JudgeFixturesError, match="max_position_flips"):
            build_config({"gate": {"position": {"max_position_flips": wrong}}})


@pytest.mark.parametrize(
    ("flips", "vsr", "is_open"), [("INCONCLUSIVE", "PASS", True), ("PASS", "PASS", False), ("FAIL", "PASS", False)]
)
def test_an_open_limit_keeps_a_contrast_open(flips: str, vsr: str, is_open: bool) -> None:
    """Where the net shift is decided and the flips are not, the next look is asked."""
    row = ContrastRow(vsr_status=vsr, position_flips=DecisionPart(part="position_flips", status=flips))
    finding = Finding("contrast", "j", "d", "position-no-cue", Status.PASS, rows={"contrasts": (row,)})
    assert ContrastCheck(POSITION).is_open(finding) is is_open
    lost = replace(row, vsr_status="ERROR")
    assert not ContrastCheck(POSITION).is_open(replace(finding, rows={"contrasts": (lost,)}))


# --- everywhere ---------------------------------------------------------------------------------------------

# Chooses the better response, but in pairs 0 to 11 one of the two places: the first in even ones, the second in odd.
UNSTEADY = """
import json, re

def judge(prompt):
    number = int(re.search(r"question (\\d+)", prompt)[1])
    better = 1 if prompt.index("Good") < prompt.index("Bad") else 2
    return json.dumps({"selected_response": 1 + number % 2 if number < 12 else better, "reason": "It is right."})
"""


def gated(project: Project, gate: str, *options: str) -> Any:
    """Run the position test of a judge whose choice changes in 12 of 40 pairs, six each way."""
    project.write("mine.py", UNSTEADY)
    project.write("test_both_orders.py", suite("position", "repeat", name="both_orders"))
    texts = ("Good, and right.", "Bad, and wrong.")
    project.write_pairs(
        {
            "id": f"p{n}",
            "question": f"This is question {n}?",
            "response_1": texts[n % 2],
            "response_2": texts[1 - n % 2],
        }
        for n in range(40)
    )
    own = '[judges.ours]\nprovider = "python"\ntarget = "mine:judge"\n[datasets.own]\npath = "pairs.jsonl"\n'
    tables = in_pyproject(f'judge = "ours"\ncontrol = false\n{own}[gate]\nvsr_tolerance = 0.4\n{gate}\n')
    project.write(project.file, '[tool.pytest.ini_options]\npythonpath = ["."]\n' + tables)
    record = ("--judge-record", "missing", "--judge-report", "report", "--junitxml", "junit.xml")
    return project.run("--judge-force", "--judge-dataset", "own", *record, *options)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, fresh=True)


TOLD = "12 of 40 verdicts changed with the order"


def position_row(project: Project) -> Any:
    (row,) = [row for row in project.report()["contrasts"] if row["family"] == "position"]
    return row


def test_without_a_limit_it_is_shown(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge that changes six each way passes by its net shift, and every output says how many choices changed."""
    found = gated(project, "", "--judge-repeats", "2")
    found.assert_outcomes(passed=2)
    row = position_row(project)
    assert row["vsr"]["value"] == 0
    assert row["position_flips"]["status"] == "NOT_APPLICABLE"
    assert row["position_flips"]["estimate"]["value"] == pytest.approx(0.3)
    (line,) = [line for line in found.said.splitlines() if line.startswith("both orders of ours on own: ")]
    assert line == snapshot
    for file in ("report.md", "report.html"):
        assert lines_about((project.path / "report" / file).read_text(), "changed with the order") == snapshot
    assert "<dt>Position consistency</dt>" in (project.path / "report" / "report.html").read_text()


@pytest.mark.parametrize(("limit", "status"), [(0.15, "FAIL"), (0.2, "INCONCLUSIVE"), (0.5, "PASS")])
def test_the_limit_decides_the_item(
    project: Project, limit: float, status: Literal["FAIL"], snapshot: SnapshotAssertion
) -> None:
    """The item's status is that of its flips, and the sentence, the table, JUnit, report.md and the page name them."""
    found = gated(project, f"[gate.position]\nvsr_tolerance = 0.4\nmax_position_flips = {limit}")
    row = position_row(project)
    assert (row["status"], row["vsr_status"], row["position_flips"]["status"]) == (status, "PASS", status)
    if status == "PASS":
        assert row["decided_by"] == []
        found.assert_outcomes(passed=1)
        return
    (due_to,) = row["decided_by"]
    assert (due_to["part"], due_to["allowed"]) == ("position_flips", [None, limit])
    assert row["text"].startswith(f"{TOLD} (0.30, 90% CI 0.18 to 0.44, limit {limit:.2f})")
    assert f"{status}: {row['text']}" in found.said
    assert f"{status} (position flips)" in found.said
    junit = (project.path / "junit.xml").read_text()
    assert f'name="decided_by" value="position_flips: {TOLD}' in junit
    page, text = ((project.path / "report" / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert lines_about(page, "position-no-cue") == snapshot
    assert "position flips <small>of position-no-cue, own" in text


def test_the_report_is_plain_json(project: Project) -> None:
    """The column travels: what is read back of a row is the row."""
    gated(project, "[gate.position]\nmax_position_flips = 0.2\nvsr_tolerance = 0.4")
    row = position_row(project)
    assert json.loads(json.dumps(ContrastRow.from_json(row).to_json())) == row
