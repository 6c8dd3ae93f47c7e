"""Swaps and what surrounds them, as their users meet them: the command line, what it says, its exit code and files.

The repository's own recordings answer wherever they can; small pair files and a loopback server do elsewhere.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from scipy.stats import binomtest
from support.forked import LEAN, gate_here
from support.project import REPOSITORY, Project, Ran
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.simulator.behaviour import PUBLISHED
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import format_share

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.whole

FAITHFUL, NOISY, GPT = "simulated-faithful", "simulated-noisy", "simulated-gpt-4o"
# What is asked about by default: cues, placebo, repeats and four cells of the close pairs, all else of the clear ones.
CLOSE, CLEAR = "house-close", "house-qa"
CONTRASTS = 7
ESTIMATE = {"value", "low", "high", "confidence", "n"}
# design.md, "Report"
SWAP_ROW = {
    "judge",
    "baseline",
    "dataset",
    "contrast",
    "quantity",
    "value",
    "low",
    "high",
    "n",
    "margin",
    "p",
    "status",
    "message",
    "p_fail",
    "p_fail_holm",
}
COMPONENT = {
    "kind",
    "role",
    "name",
    "n",
    "value",
    "low",
    "high",
    "margin",
    "status",
    "z",
    "p_pass",
    "p_fail",
    "message",
    "judge",
    "baseline",
}
ACCURACY_ROW = {"judge", "dataset", "category", "n", "correct", "invalid", "accuracy", "accuracy_both_orders"}
DIFFERENCE = {
    "judge",
    "baseline",
    "dataset",
    "pair",
    "condition",
    "repeat",
    "gold",
    "judge_chosen",
    "judge_invalid",
    "judge_reason",
    "baseline_chosen",
    "baseline_invalid",
    "baseline_reason",
}


# --- in the repository --------------------------------------------------------------------------------------

COMMANDS = {
    "approved": ["-k", "swap", "--judge", FAITHFUL, "--judge-baseline", GPT],
    "rejected": ["-k", "swap and not stories", "--judge", GPT, "--judge-baseline", FAITHFUL],
    "itself": ["-k", "swap", "--judge", GPT, "--judge-baseline", GPT],
    "few": ["-k", "swap", "--judge", FAITHFUL, "--judge-baseline", NOISY, "--judge-pairs", "20"],
    "part": ["-k", "swap and recency and not stories", "--judge", GPT, "--judge-baseline", FAITHFUL],
    "passing part": ["-k", "swap and recency", "--judge", FAITHFUL, "--judge-baseline", GPT],
}
COMMANDS["parallel part"] = [*COMMANDS["part"], "-n", "2"]


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    """Return what makes a run of COMMANDS in the repository: each once, whichever process of ours asks first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(name: str) -> Ran:
        folder = shared / "swaps" / name.replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            if not (folder / "code").exists():
                done = gate_here(*COMMANDS[name], "--judge-report", folder)
                (folder / "said").write_text(done.stdout + done.stderr)
                (folder / "code").write_text(str(done.returncode))
        return Ran(int((folder / "code").read_text()), (folder / "said").read_text(), folder)

    return run


RULED_OUT = [
    "not worse by these margins: abs(VSR) of a family 0.10, unadmitted shift of a family 0.10, flip rate 0.10, invalid "
    "verdicts 0.05, accuracy 0.05 (100 pairs per dataset)",
    "not excluded: one contrast on one dataset is worse by less than 0.20",
]


@pytest.mark.slow
def test_the_better_judge_is_approved(runs: Callable[[str], Ran], snapshot: SnapshotAssertion) -> None:
    """A judge without bias that is right more often replaces the biased one: APPROVE, exit 0, every item passes.

    The reasons are what is ruled out, with the margins and the number of pairs, and what is not.
    """
    run = runs("approved")
    assert run.ret == 0
    assert run.decision == snapshot
    assert "17 passed" in run.said
    # abs(VSR) and unadmitted shift of 2 families and of 14 contrasts on datasets, accuracy at once and of 2 datasets,
    # flip rate, invalid verdicts
    components = run.report["decision"]["components"]
    assert Counter(each["role"] for each in components) == {"primary": 7, "guard": 30}
    assert {each["status"] for each in components} == {"PASS"}
    assert lines_about(run.said, "single contrasts") == snapshot


def test_the_worse_judge_is_rejected(runs: Callable[[str], Ran]) -> None:
    """The other way round: REJECT, exit 1, for reasons that name what, difference, interval and margin."""
    run = runs("rejected")
    assert run.ret == 1
    status, reasons = run.decision
    assert status == "REJECT"
    shape = (
        r"[\w() -]+ of [\w -]+: difference [+-][\d.]+ \(90% CI \S+ to \S+\), 100 pairs, (margin|limit) 0\.\d\d: FAIL"
    )
    assert all(re.fullmatch(shape, reason) for reason in reasons), reasons
    assert [reason.partition(":")[0] for reason in reasons] == [
        f"{quantity} of {name}"
        for name in ("recency", "recency-new-old on house-close")
        for quantity in ("abs(VSR)", "unadmitted shift")
    ]
    # What fails by itself alone, without regard to how much was tested, rejects nothing.
    failing = {each["message"] for each in run.report["decision"]["components"] if each["status"] == "FAIL"}
    assert set(reasons) < failing


def test_a_failing_comparison_shows_where_the_judges_differ(
    runs: Callable[[str], Ran], snapshot: SnapshotAssertion
) -> None:
    """A failing item gives every quantity, how often the judges differ, and pairs with what both say about them."""
    said = runs("rejected").said
    item = said.partition(f"{GPT} against {FAITHFUL} on house-close: recency-new-old is FAIL")[2]
    item = re.split(r"^_+ test_swap", item, flags=re.MULTILINE)[0]
    shape = r"abs\(VSR\) of recency-new-old on house-close: difference \+0\.30 \(90% CI .*\), .*limit 0\.10: FAIL"
    assert re.search(shape, item)
    assert (
        lines_about(
            item, "house-close: difference", "silent-shift rate", "same verdict", "Cohen's kappa", "--judge-report"
        )
        == snapshot
    )
    assert len(re.findall(rf"^    {GPT}: [12] -- \S", item, re.MULTILINE)) == 3
    assert len(re.findall(rf"^    {FAITHFUL}: [12] -- \S", item, re.MULTILINE)) == 3


@pytest.mark.slow
def test_a_judge_is_approved_against_itself(runs: Callable[[str], Ran], snapshot: SnapshotAssertion) -> None:
    """A judge that is biased is no worse than itself: APPROVE, with perfect agreement, and a note that says it."""
    run = runs("itself")
    assert run.ret == 0
    assert run.decision == snapshot
    assert {each["value"] for each in run.report["decision"]["components"]} == {0.0}
    assert lines_about(run.said, "with itself") == snapshot
    assert {row["value"] for row in run.report["swap"] if row["quantity"] in ("agreement", "kappa")} == {1.0}
    assert run.rows("differences") == []


@pytest.mark.slow
def test_a_swap_row_holds_what_the_contract_promises(runs: Callable[[str], Ran], snapshot: SnapshotAssertion) -> None:
    """The report has a row for every dataset, contrast (null: accuracy) and quantity; estimates lie in intervals."""
    report = runs("approved").report
    decision = report["decision"]
    assert (decision["status"], decision["reasons"]) == snapshot
    assert (decision["guard_margin"], decision["needed_pairs"], decision["look"]) == (0.2, None, 100)
    assert report["decisions"] == [{"judge": FAITHFUL, "baseline": GPT, **decision}]
    for component in decision["components"]:
        assert component.keys() == COMPONENT
        assert component["low"] <= component["value"] <= component["high"]
    quantities = Counter((row["dataset"], row["contrast"] is None, row["quantity"]) for row in report["swap"])
    assert quantities == {
        **{
            (dataset, True, name): 1
            for dataset in ("house-qa", "house-stories")
            for name in ("accuracy", "agreement", "kappa")
        },
        **{
            (dataset, False, name): CONTRASTS
            for dataset in ("house-close", "house-close-stories")
            for name in ("abs-vsr", "unadmitted-shift", "silent-shift-rate", "agreement", "kappa")
        },
    }
    for row in report["swap"]:
        assert row.keys() >= SWAP_ROW
        assert (row["judge"], row["baseline"]) == (FAITHFUL, GPT)
        assert row["low"] <= row["value"] <= row["high"]
        decides = row["quantity"] in ("accuracy", "abs-vsr", "unadmitted-shift")
        assert row["status"] == ("PASS" if decides else "NOT_APPLICABLE")
        assert (row["margin"] is not None) == (row["p"] is not None) == decides
        assert row["n"] == (200 if row["quantity"] in ("agreement", "kappa") else 100)
        assert not decides or row["p"] < 0.05
        # The first row of a contrast says what was asked, for whoever shows its answers.
        first = row["quantity"] == "abs-vsr"
        assert ("arms" in row, "sentences" in row, row.get("outcome") == "chose-first") == (first, first, first)
        # An item is held to the margin that the decision holds it to.
        assert row["margin"] == (None if not decides else 0.1 if row["contrast"] is None else decision["guard_margin"])


def test_the_swap_finds_the_published_difference(runs: Callable[[str], Ran]) -> None:
    """Against a judge that is unbiased, abs(VSR) differs by what was published for the other, to the pair."""
    found = {
        (row["dataset"], row["contrast"]): row["value"]
        for row in runs("approved").report["swap"]
        if row["quantity"] == "abs-vsr"
    }
    for dataset, kind in (("house-close", "Response"), ("house-close-stories", "Story")):
        rates = PUBLISHED["gpt-4o", kind]
        for (x, y), rate in rates.items():
            for family in ("provenance", "recency"):
                if (value := found.get((dataset, f"{family}-{x}-{y}"))) is not None:
                    assert value == pytest.approx(-abs(rate - rates[y, x]) / 100)
                    break
            else:
                assert (dataset, f"provenance-{y}-{x}") in found or (dataset, f"recency-{y}-{x}") in found


def test_every_difference_is_listed_with_both_reasons(runs: Callable[[str], Ran]) -> None:
    """differences.jsonl has the pairs on which the judges differ in a condition, as many as agreement says."""
    run = runs("approved")
    rows = run.rows("differences")
    keys = [(row["judge"], row["baseline"], row["dataset"], row["condition"], row["pair"]) for row in rows]
    assert keys == sorted(set(keys))
    for row in rows:
        assert row.keys() == DIFFERENCE
        assert row["judge_chosen"] != row["baseline_chosen"]
        assert row["judge_reason"]
        assert row["baseline_reason"]
        assert row["gold"] in ((None,) if "close" in row["dataset"] else (1, 2))
    listed = Counter((row["dataset"], row["condition"]) for row in rows)
    for row in run.report["swap"]:
        if row["quantity"] == "agreement":
            family, x, y = (row["contrast"] or "no-cue-").split("-")
            arms = [f"{family}-{x}-{y}", f"{family}-{y}-{x}"] if row["contrast"] else ["no-cue", "no-cue-21"]
            assert sum(listed[row["dataset"], arm] for arm in arms) == round(row["n"] * (1 - row["value"]))


@pytest.mark.slow
def test_few_pairs_decide_nothing(runs: Callable[[str], Ran], snapshot: SnapshotAssertion) -> None:
    """On 20 pairs the swap is INCONCLUSIVE, exit 1, and says how many pairs would do; nothing is called FAIL."""
    run = runs("few")
    assert run.ret == 1
    status, reasons = run.decision
    assert status == "INCONCLUSIVE"
    assert not re.search(r"\bFAIL\b", run.said)
    decision = run.report["decision"]
    open_ones = [each["message"] for each in decision["components"] if each["status"] == "INCONCLUSIVE"]
    assert open_ones
    left_out = [each for each in reasons if "--judge-pairs" in each]
    assert len(left_out) == 4  # one for each dataset
    assert set(reasons[:-3]) == {*open_ones, *left_out}
    equal, seen, price = reasons[-3:]
    needed = decision["needed_pairs"]
    assert needed >= 75
    assert equal == snapshot
    assert lines_about(seen, "difference stays") == snapshot
    assert lines_about(price, "per dataset", "price unknown") == snapshot
    assert all(reason in run.said for reason in (equal, seen, price))
    assert run.report["status"] == "INCONCLUSIVE"


@pytest.mark.slow
def test_the_calls_that_would_settle_it_are_counted_from_the_pairs_there_are(runs: Callable[[str], Ran]) -> None:
    """From 20 pairs to N there are N - 20 more, each asked twice in all 16 parts of the swap."""
    needed, calls = map(
        int, re.findall(r"(\d+) pairs per dataset need (\d+) more requests", runs("few").decision[1][-1])[0]
    )
    assert calls == (needed - 20) * 2 * 16


@pytest.mark.slow
def test_a_part_of_the_swap_is_never_approved(runs: Callable[[str], Ran]) -> None:
    """Where comparisons were deselected, those that ran pass and the swap is INCONCLUSIVE, exit 1, naming them."""
    run = runs("passing part")
    assert run.ret == 1
    assert "2 passed" in run.said
    status, reasons = run.decision
    assert status == "INCONCLUSIVE"
    missing = list(reasons)
    assert all(reason.endswith(": not compared") for reason in missing)
    assert missing[:3] == [
        f"{name}: not compared"
        for name in ("accuracy on house-qa", "accuracy on house-stories", "provenance-expert-human on house-close")
    ]
    assert len(missing) == 14  # 2 x 8 parts, without two of recency
    assert re.search(r"^  and \d+ more like these$", run.said, re.MULTILINE)


@pytest.mark.slow
def test_a_part_of_the_swap_may_reject(runs: Callable[[str], Ran]) -> None:
    """What ran may be bad enough: a family that is worse rejects whatever was deselected."""
    run = runs("part")
    assert (run.ret, run.decision[0]) == (1, "REJECT")
    assert {"abs(VSR) of recency", "abs(VSR) of recency-new-old on house-close"} <= {
        reason.partition(":")[0] for reason in run.decision[1]
    }


@pytest.mark.slow
def test_the_swap_is_the_same_from_several_processes(runs: Callable[[str], Ran]) -> None:
    """Decision, exit code and the bytes of every file are the same serially and under -n 2."""
    serial, parallel = runs("part"), runs("parallel part")
    assert (serial.ret, serial.decision) == (parallel.ret, parallel.decision)
    for name in ("report.json", "judgments.jsonl", "differences.jsonl"):
        assert (serial.folder / name).read_bytes() == (parallel.folder / name).read_bytes()
    assert len(serial.rows("differences")) == 30


def test_every_judgment_of_a_swap_is_reported(runs: Callable[[str], Ran]) -> None:
    """judgments.jsonl has a row per judge, condition and pair, those of the controls included, as for any run."""
    asked = Counter((row["judge"], row["dataset"], row["condition"]) for row in runs("part").rows("judgments"))
    assert asked == {
        (judge, dataset, condition): pairs
        for judge in (FAITHFUL, GPT)
        for dataset, conditions, pairs in (
            (CLOSE, ("recency-new-old", "recency-old-new"), 100),
            ("house-control", ("no-cue", "no-cue-21"), 30),
        )
        for condition in conditions
    }


# --- in a project of its own --------------------------------------------------------------------------------

TESTS = ("accuracy", "noise", "position", "provenance", "recency", "swap")


def a_project(pytester: pytest.Pytester, cassettes: Path) -> Project:
    """Return a folder with the suite's tests, run with a report on recordings that may lie elsewhere."""
    report = str(pytester.path / "report")
    options = ("--judge-config", "judges.toml", "--judge-cassettes", str(cassettes), "--judge-report", report)
    project = Project(pytester, file="judges.toml", options=options, fresh=True)
    project.cassettes = cassettes
    project.copy_tests(*TESTS)
    project.write("pytest.ini", f"[pytest]\nfilterwarnings = error\naddopts = --strict-markers {' '.join(LEAN)}\n")
    return project


def house(judge: str = GPT, gate: str = "", more: str = "", *, datasets: tuple[str, ...] = (CLOSE,)) -> str:
    """Return a configuration that gates a simulated judge on what is recorded; without datasets, on the default."""
    asked = f"datasets = {json.dumps(datasets)}\n" if datasets else ""
    return f'judge = "{judge}"\npairs = 100\n{asked}[gate]\n{gate}\n{more}\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project that replays the repository's recordings of cues, on house-close."""
    project = a_project(pytester, REPOSITORY / "cassettes")
    project.configure(house())
    return project


@pytest.fixture
def clear(project: Project) -> Project:
    """A project that replays the repository's recordings of house-qa: of accuracy and position."""
    project.configure(house(datasets=(CLEAR,)))
    return project


def own(url: str, pairs: int, more: str = "") -> str:
    """Return a configuration with two judges at `url`, priced, and pairs of one's own."""
    price = "price = {input = 2.5, output = 10.0}"
    return (
        'judge = "mine"\n[judges.mine]\nprovider = "openai"\nmodel = "simulated-faithful"\n'
        f'base_url = "{url}/v1"\n{price}\n[judges.old]\nextends = "mine"\nmodel = "simulated-candid"\n'
        f'[datasets.own]\npath = "pairs-{pairs}.jsonl"\nbalance_positions = false\n{more}\n'
    )


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges on a free port; `requests` counts."""
    with serving() as running:
        yield running


@pytest.fixture
def recording(pytester: pytest.Pytester, server: SimulatorServer) -> Callable[..., Project]:
    """Return what makes a project with so many own pairs, all with gold, to be recorded from the server."""

    def made(pairs: int, more: str = "") -> Project:
        project = a_project(pytester, pytester.path / "cassettes")
        rows = [
            {
                "id": f"p{i:03}",
                "question": f"Which is better in case {i}?",
                "response_1": f"The first of {i}.",
                "response_2": f"The second of {i}.",
                "gold": 1 + i % 2,
            }
            for i in range(pairs)
        ]
        project.write_pairs(rows, f"pairs-{pairs}.jsonl")
        project.configure(own(server.url, pairs, more))
        return project

    return made


# --- the decision, where something is missing ---------------------------------------------------------------


def test_what_is_not_recorded_is_not_approved(project: Project, snapshot: SnapshotAssertion) -> None:
    """A comparison without recordings is an ERROR with the command that records: the swap is INCONCLUSIVE."""
    project.configure(house(FAITHFUL, more=f'[judges.new]\nextends = "{FAITHFUL}"\nmodel = "simulated-noisy"'))
    run = project.run("-k", "swap and recency", "--judge", "new", "--judge-baseline", GPT)
    assert run.ret == NOT_MEASURED
    status, reasons = run.decision
    assert status == "INCONCLUSIVE"
    assert lines_about(reasons[0], "'new'") == snapshot
    assert "recency-new-old on house-close: not compared" in reasons
    assert reasons[-1] == "nothing was compared"
    assert "--judge-record missing" in reasons[0]
    (row,) = run.report["swap"]
    assert (row["status"], row["value"], row["n"]) == ("ERROR", None, 0)
    assert row.keys() >= SWAP_ROW


@pytest.mark.slow
def test_what_was_skipped_is_not_approved(project: Project) -> None:
    """A comparison that a user's conftest skips is named, and the swap INCONCLUSIVE."""
    project.write(
        "conftest.py",
        "import pytest\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
        "        if 'close-provenance-expert' in item.name or 'qa-accuracy' in item.name:\n"
        "            item.add_marker(pytest.mark.skip('not today'))\n",
    )
    project.configure(house(datasets=()))
    run = project.run("-k", "swap", "--judge", FAITHFUL, "--judge-baseline", GPT)
    assert run.ret == 1
    assert "12 passed, 4 skipped" in run.said
    labels = [f"provenance-expert-{label} on house-close" for label in ("human", "llm", "unknown")]
    compared = [f"{name}: not compared" for name in ("accuracy on house-qa", *labels)]
    reasons = ["no result: its test was skipped: not today", *compared]
    assert run.decision == ("INCONCLUSIVE", reasons)


def test_a_warning_approves_nothing(project: Project) -> None:
    """Under inconclusive = "warn" an open comparison passes its item; the swap stays INCONCLUSIVE, exit 1."""
    project.configure(house(gate='inconclusive = "warn"', datasets=()))
    selection = ("-k", "swap and (recency or accuracy) and not stories", "--judge-pairs", "15")
    run = project.run(*selection, "--judge-baseline", GPT)
    assert "2 passed" in run.said
    open_ones = {row["dataset"] for row in run.report["swap"] if row["status"] == "INCONCLUSIVE"}
    assert open_ones == {CLEAR}
    status, reasons = run.decision
    assert (run.ret, status) == (1, "INCONCLUSIVE")
    assert any(
        reason.startswith("recency-new-old on house-close: not compared, because only 15 pairs") for reason in reasons
    )


def test_without_a_baseline_there_is_no_swap(clear: Project) -> None:
    """Without --judge-baseline no comparison is collected, nothing is decided and no list of differences written."""
    run = clear.run("-k", "swap or accuracy")
    assert run.ret == 11  # no limit is set
    assert "1 skipped" in run.said
    assert "decision" not in run.report
    assert run.report["swap"] == []
    assert not (run.folder / "differences.jsonl").exists()
    assert "decision:" not in run.said


@pytest.mark.parametrize("name", ["nobody", "simulated-gpt4o"])
def test_an_unknown_baseline_is_refused(project: Project, name: str, snapshot: SnapshotAssertion) -> None:
    """A baseline that is no judge is a usage error which names the judges there are."""
    run = project.run("-k", "swap", "--judge-baseline", name)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert lines_about(run.said, "no judge") == snapshot
    assert GPT in run.said


@pytest.mark.slow
def test_too_many_invalid_verdicts_are_not_approved(
    recording: Callable[..., Project], server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """Where a judge answers nonsense too often, the contrast was not compared and its swap is not approved."""
    project, proper = recording(40), server.answer

    def answer(model: str, prompt: str, schema: Any = None) -> str:
        said = proper(model, prompt, schema)
        return "Both are fine." if re.search(r"case 1?[0-5]\?", prompt) and model == "simulated-faithful" else said

    server.answer = answer  # type: ignore[method-assign]
    arguments = ("-k", "swap and recency", "--judge-baseline", "old", "--judge-record", "missing", "--judge-force")
    run = project.run(*arguments)
    assert run.ret == 1
    status, reasons = run.decision
    assert status == "INCONCLUSIVE"
    assert lines_about(reasons, "recency-new-old on") == snapshot
    assert any(reason.startswith("invalid verdicts: difference +0.30") for reason in reasons)
    assert run.report["status"] == "INCONCLUSIVE"  # no ERROR
    invalid = [row for row in run.rows("differences") if row["judge_invalid"]]
    assert len(invalid) == 2 * 12
    assert all(row["judge_chosen"] is None and row["baseline_reason"] for row in invalid)


@pytest.mark.slow
def test_a_reason_names_the_candidate_where_there_are_two(project: Project) -> None:
    """Two candidates against one baseline: every reason says which of them it speaks of."""
    run = project.run(
        "-k",
        "swap and recency",
        "--judge",
        FAITHFUL,
        "--judge",
        "simulated-silent",
        "--judge-baseline",
        NOISY,
        "--judge-pairs",
        "40",
    )
    assert run.decision[0] == "REJECT"
    assert all(reason.startswith("simulated-silent: ") for reason in run.decision[1])
    for judge, status in ((FAITHFUL, "INCONCLUSIVE"), ("simulated-silent", "REJECT")):
        assert f"decision on {judge} against {NOISY}: {status}" in run.said


# --- accuracy -----------------------------------------------------------------------------------------------


def accuracy_of(run: Ran, judge: str) -> dict[str, tuple[int, ...]]:
    """Return n, right in the own order and right in both, per category, counted from judgments and the pair file."""
    chosen = {
        (row["condition"], row["pair"]): row["selected_response"]
        for row in run.rows("judgments")
        if row["judge"] == judge
    }
    found: dict[str, list[tuple[bool, bool]]] = {}
    for pair in load_pairs(Source(CLEAR)):
        right = chosen["no-cue", pair.id] == pair.gold
        other = chosen["no-cue-21", pair.id] == 3 - (pair.gold or 0)
        for category in ("all", str(pair.category)):
            found.setdefault(category, []).append((right, right and other))
    return {category: (len(pairs), *map(sum, zip(*pairs, strict=True))) for category, pairs in found.items()}


@pytest.mark.slow
def test_accuracy_is_reported_by_category(clear: Project) -> None:
    """Without min_accuracy the item skips, and reports all pairs and every category, with interval, both orders."""
    run = clear.run("test_accuracy.py", "-rs", "--judge", GPT, "--judge", FAITHFUL)
    assert (run.ret, "2 skipped" in run.said) == (11, True)
    assert run.said.count("min_accuracy is not set") == 4  # where pytest says why it skips, and of each judge
    for judge in (GPT, FAITHFUL):
        rows = [row for row in run.report["accuracy"] if row["judge"] == judge]
        expected = accuracy_of(run, judge)
        assert [row["category"] for row in rows] == ["all", *sorted(expected.keys() - {"all"})]
        for row in rows:
            assert row.keys() == ACCURACY_ROW
            assert row["accuracy"].keys() == row["accuracy_both_orders"].keys() == ESTIMATE
            n, right, both = expected[row["category"]]
            assert (row["n"], row["correct"], row["invalid"], row["dataset"]) == (n, right, 0, "house-qa")
            values = (row["accuracy"]["value"], row["accuracy_both_orders"]["value"])
            assert values == pytest.approx((right / n, both / n), abs=1e-11)  # 12 digits are written
            wilson = binomtest(right, n).proportion_ci(0.9, "wilson")
            assert (row["accuracy"]["low"], row["accuracy"]["high"]) == pytest.approx(tuple(wilson), abs=1e-9)
    assert re.search(
        rf"^{FAITHFUL} +house-qa +all +100 +100 +0 +1\.00 +90% CI 0\.974 to 1\.000", run.said, re.MULTILINE
    )


@pytest.mark.parametrize(("least", "status"), [(0.8, "PASS"), (0.9, "INCONCLUSIVE"), (0.97, "FAIL")])
def test_min_accuracy_is_gated(clear: Project, least: float, status: str) -> None:
    """PASS where the exact lower bound is above min_accuracy, FAIL where the upper one is below, else INCONCLUSIVE."""
    clear.configure(house(datasets=(CLEAR,), gate=f"min_accuracy = {least}"))
    run = clear.run("test_accuracy.py")
    (row,) = (row for row in run.report["accuracy"] if row["category"] == "all")
    exact = binomtest(row["correct"], row["n"]).proportion_ci(0.9, "exact")
    assert status == ("PASS" if exact.low > least else "FAIL" if exact.high < least else "INCONCLUSIVE")
    assert run.ret == (0 if status == "PASS" else 1)
    said = rf"^{status}: \S+ is right on 91 of 100 pairs of .* \(accuracy 0\.91, 90% CI .*, minimum {format_share(least)}\)"
    assert re.search(said, run.said, re.MULTILINE)
    if status != "PASS":
        assert re.search(rf"accuracy 91/100 = 0\.91 \(90% CI .*\), min_accuracy 0\.\d\d: {status}", run.said)
        assert status == "FAIL" or not re.search(r"\bFAIL\b", run.said)


def test_an_open_accuracy_may_pass_with_a_warning(clear: Project) -> None:
    """inconclusive = "warn" lets an INCONCLUSIVE accuracy pass, and no FAIL."""
    for least, code in ((0.9, 0), (0.97, 1)):
        clear.configure(house(datasets=(CLEAR,), gate=f'min_accuracy = {least}\ninconclusive = "warn"'))
        assert clear.run("test_accuracy.py").ret == code


def test_the_report_of_a_failing_accuracy_is_not_called_well(clear: Project) -> None:
    """Where the only item failed, the status of the report is FAIL."""
    clear.configure(house(datasets=(CLEAR,), gate="min_accuracy = 0.97"))
    assert clear.run("test_accuracy.py").report["status"] == "FAIL"


def test_accuracy_needs_gold(project: Project, snapshot: SnapshotAssertion) -> None:
    """A dataset without gold skips accuracy, saying why, and a swap has no accuracy to compare."""
    rows = [{"id": str(i), "question": f"{i}?", "response_1": "A", "response_2": "B"} for i in range(3)]
    project.write_pairs(rows, "plain.jsonl")
    project.configure(f'judge = "{GPT}"\n[datasets.plain]\npath = "plain.jsonl"\n')
    run = project.run("test_accuracy.py", "-rs")
    assert (run.ret, "1 skipped" in run.said) == (11, True)
    assert lines_about(run.said, "plain has") == snapshot
    collected = project.run("test_swap.py", "--collect-only", "-q", "--judge-baseline", FAITHFUL).said
    assert "plain-recency-new-old" in collected
    assert "accuracy" not in collected


# --- the noise floor ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_repeats_are_the_floor_of_every_contrast(project: Project) -> None:
    """--judge-repeats 2 adds an item that asks the same again; its flips and the placebo's VSR stand in every row."""
    run = project.run("test_noise.py", "test_recency.py", "--judge", NOISY, "--judge-repeats", "2")
    rows = {row["contrast"]: row for row in run.report["contrasts"]}
    assert list(rows) == ["placebo-listed-shown", "recency-new-old", "repeat-no-cue-1"]
    repeated = rows["repeat-no-cue-1"]
    assert 0 < repeated["flip_rate"]["value"] < 0.15
    floor = {"repeat_flip_rate": repeated["flip_rate"], "placebo_vsr": rows["placebo-listed-shown"]["vsr"]}
    assert [row["floor"] for row in rows.values()] == [floor] * 3
    chosen = {
        (row["pair"], row["repeat"]): row["selected_response"]
        for row in run.rows("judgments")
        if row["condition"] == "no-cue"
    }
    flips = sum(chosen[pair, 0] != chosen[pair, 1] for pair, repeat in chosen if repeat == 0)
    assert repeated["n10"] + repeated["n01"] == flips
    assert "disagrees with itself" not in run.said


@pytest.mark.slow
def test_the_floor_and_the_position_are_printed(project: Project) -> None:
    """The summary has, beside a judge's contrasts, its floor and how far it prefers what stands first."""
    project.configure(house(NOISY, datasets=()))
    selection = ("-k", "not four and not stories", "--judge-repeats", "2")
    run = project.run("test_noise.py", "test_recency.py", "test_position.py", "-v", *selection)
    rows = {row["contrast"]: row for row in run.report["contrasts"]}
    number, interval = r"[+-]?\d?\.\d+", r"90% CI \S+ to \S+"
    floor = (
        rf"^noise floor of {NOISY} on {CLOSE}: flips between repeats ({number}) \({interval}\); "
        rf"placebo VSR ({number}) \({interval}\)$"
    )
    flips, placebo = map(float, re.search(floor, run.said, re.MULTILINE).groups())  # type: ignore[union-attr]
    assert flips == pytest.approx(rows["repeat-no-cue-1"]["flip_rate"]["value"], abs=5e-4)
    assert placebo == pytest.approx(rows["placebo-listed-shown"]["vsr"]["value"], abs=5e-4)
    position = rf"^position preference of {NOISY} on {CLEAR}: first chosen ({number}) \({interval}\) more often"
    (first,) = map(float, re.search(position, run.said, re.MULTILINE).groups())  # type: ignore[union-attr]
    assert first == pytest.approx(rows["position-no-cue"]["position"]["first"]["value"], abs=5e-4)


@pytest.mark.slow
def test_without_repeats_there_is_no_floor_of_them(project: Project) -> None:
    """By default nothing is asked twice, and the floor says that there is none rather than 0."""
    run = project.run("test_noise.py", "test_recency.py")
    assert [row["contrast"] for row in run.report["contrasts"]] == ["placebo-listed-shown", "recency-new-old"]
    assert {row["floor"]["repeat_flip_rate"] for row in run.report["contrasts"]} == {None}


def test_a_judge_that_disagrees_with_itself_is_told_first(
    recording: Callable[..., Project], server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """Where more verdicts change on asking again than a gate tolerates, that is the first thing said."""
    project, asked = recording(20), Counter[str]()

    def answer(model: str, prompt: str, schema: object = None) -> str:  # noqa: ARG001 (the server's signature)
        asked[prompt] += 1
        choice = 1 + (zlib.crc32(prompt.encode()) + asked[prompt]) % 2
        return json.dumps({"selected_response": choice, "reason": "It is the better one."})

    server.answer = answer  # type: ignore[method-assign]
    arguments = ("test_noise.py", "--judge-repeats", "2")
    recorded, replayed = project.run(*arguments, "--judge-record", "missing"), project.run(*arguments)
    for run in (recorded, replayed):
        lines = run.said.splitlines()
        title = next(index for index, line in enumerate(lines) if re.fullmatch(r"=+ judges =+", line))
        assert any(line.startswith("control of mine ") and "NOT_APPLICABLE: control = false" in line for line in lines)
        assert lines_about(lines[title + 1], "verdicts change") == snapshot
    # Repeats are recordings of their own: the questions without a placebo were asked twice.
    assert {asked[prompt] for prompt in asked if "candidate" not in prompt} == {2}


# --- waivers ------------------------------------------------------------------------------------------------

FAR = "2999-12-31"


def waiver(contrast: str, expires: str = FAR) -> str:
    """Return a waiver as it stands in the configuration."""
    why = 'owner = "search-team"\nreason = "known, see 12"'
    return f'[[waivers]]\ncontrast = "{contrast}"\n{why}\nexpires = {expires}\n'


@pytest.mark.slow
def test_a_waived_contrast_passes_and_is_shown_as_waived(project: Project) -> None:
    """A waiver lets its contrast pass; the row keeps the status and says who answers for it, why and until when."""
    project.configure(house(more=waiver("recency-new-old")))
    run = project.run("test_recency.py", "test_provenance.py", "-k", "recency or expert-unknown")
    rows = {row["contrast"]: row for row in run.report["contrasts"]}
    assert "1 failed, 1 passed" in run.said  # the waiver is of one contrast
    assert rows["recency-new-old"]["status"] == "FAIL"
    assert rows["recency-new-old"]["waived"] == {"owner": "search-team", "reason": "known, see 12", "expires": FAR}
    assert rows["provenance-expert-unknown"]["waived"] is None
    assert re.search(rf"^{GPT} +house-close +recency-new-old .*WAIVED \(FAIL\)$", run.said, re.MULTILINE)
    assert f"WAIVED {GPT} house-close recency-new-old by search-team until {FAR} (known, see 12): VSR +0.30" in run.said


def test_a_waiver_of_a_contrast_that_passes_changes_nothing(project: Project) -> None:
    """What passes is not shown as waived."""
    project.configure(house(FAITHFUL, more=waiver("recency-new-old")))
    run = project.run("test_recency.py")
    assert run.ret == 0
    assert run.report["contrasts"][0]["waived"] is None
    assert "WAIVED" not in run.said


@pytest.mark.parametrize(
    ("judge", "remedy"), [(GPT, "remove it, or renew it in "), (FAITHFUL, "the check needs no waiver; remove it from ")]
)
def test_an_expired_waiver_fails(project: Project, judge: str, remedy: str, snapshot: SnapshotAssertion) -> None:
    """From its day on (UTC), a waiver fails its contrast, whatever the judge does, and says what to do."""
    today = datetime.datetime.now(datetime.UTC).date()
    project.configure(house(judge, more=waiver("recency-new-old", str(today))))
    run = project.run("test_recency.py")
    assert run.ret == 1
    said = f"the waiver of recency-new-old by search-team expired on {today}: {remedy}"
    assert lines_about(run.said, "search-team expired") == snapshot
    assert lines_about(run.said.partition(said)[2].splitlines()[0], "judges.toml") == snapshot
    (row,) = run.report["contrasts"]
    assert (row["status"], row["waived"], run.report["status"]) == ("FAIL", None, "FAIL")


def test_a_waiver_holds_until_its_day(project: Project) -> None:
    """A waiver that expires the day after tomorrow (a test may run past midnight) is one."""
    last = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=2)
    project.configure(house(more=waiver("recency-new-old", str(last))))
    assert project.run("test_recency.py").ret == 0


def test_a_waiver_excuses_no_error(project: Project) -> None:
    """What could not be measured fails, waived or not."""
    new = f'[judges.new]\nextends = "{FAITHFUL}"\nmodel = "simulated-noisy"\n'
    project.configure(house("new", more=new + waiver("recency-new-old")))
    run = project.run("test_recency.py")
    assert (run.ret, run.report["contrasts"][0]["status"]) == (NOT_MEASURED, "ERROR")


@pytest.mark.slow
def test_a_waiver_of_four_cells_is_heeded(project: Project, snapshot: SnapshotAssertion) -> None:
    """A waiver of a contrast in both orders lets it pass and is shown; an expired one fails it."""
    project.configure(house(more=waiver("four-cell-new-old")))
    run = project.run("test_position.py", "-k", "four_cells")
    (row,) = run.report["four_cells"]
    assert (run.ret, row["status"], run.report["status"]) == (0, "FAIL", "NOT_APPLICABLE")
    assert row["waived"] == {"owner": "search-team", "reason": "known, see 12", "expires": FAR}
    assert lines_about(run.said, "search-team until") == snapshot
    project.configure(house(FAITHFUL, more=waiver("four-cell-new-old", "2026-01-31")))
    run = project.run("test_position.py", "-k", "four_cells")
    (row,) = run.report["four_cells"]
    assert (run.ret, row["status"], row["waived"]) == (1, "FAIL", None)
    assert lines_about(run.said, "of four-cell-new-old") == snapshot


def test_a_waiver_does_not_touch_the_swap(project: Project) -> None:
    """The decision on a swap looks at its own components alone: no waiver makes it another."""
    project.configure(house(more=waiver("recency-new-old")))
    run = project.run("-k", "swap and recency", "--judge-baseline", FAITHFUL)
    assert (run.ret, run.decision[0]) == (1, "REJECT")


@pytest.mark.parametrize("contrast", ["recency-old-new", "recency", "provenance-expert"])
def test_a_waiver_of_no_contrast_is_refused(project: Project, contrast: str) -> None:
    """A waiver that names no contrast is an error before anything runs; it names file and contrasts."""
    project.configure(house(more=waiver(contrast)))
    run = project.run("test_recency.py")
    assert run.ret != 0
    assert f"[[waivers]] contrast {contrast!r} does not exist" in run.said
    for words in ("judges.toml", "recency-new-old", "provenance-human-llm", "position-no-cue"):
        assert words in run.said
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("line", "words"), [("owner = 7", "owner"), ('expires = "soon"', "expires"), ('sponsor = "x"', "sponsor")]
)
def test_a_wrong_waiver_is_refused(project: Project, line: str, words: str) -> None:
    """A waiver with a wrong value or an unknown key is an error that names the key."""
    key = line.partition(" ")[0]
    kept = [part for part in waiver("recency-new-old").splitlines() if not part.startswith(key)]
    project.configure(house(more="\n".join([*kept, line])))
    run = project.run("test_recency.py")
    assert run.ret != 0
    assert words in run.said
    assert "waivers" in run.said


@pytest.mark.slow
def test_a_waiver_does_not_depend_on_the_command(project: Project) -> None:
    """A waiver of a repeat, which --judge-repeats 2 needs, does not break the runs without repeats."""
    project.configure(house(FAITHFUL, more=waiver("repeat-no-cue-1")))
    assert project.run("test_recency.py", "--judge-repeats", "2").ret == 0
    assert project.run("test_recency.py").ret == 0


# --- position and ranking -----------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", [GPT, FAITHFUL])
def test_position_is_consistency_and_preference(clear: Project, judge: str) -> None:
    """The row says how often the same response is chosen in both orders, and how far what stands first is preferred."""
    run = clear.run("test_position.py", "-k", "not four", "--judge", judge)
    row = next(row for row in run.report["contrasts"] if row["contrast"] == "position-no-cue")
    chosen = {(line["condition"], line["pair"]): line["selected_response"] for line in run.rows("judgments")}
    pairs = load_pairs(Source(CLEAR))
    places = {pair.id: (chosen["no-cue", pair.id], chosen["no-cue-21", pair.id], pair.gold) for pair in pairs}

    def preferred(golds: tuple[int, ...]) -> tuple[float, int]:
        found = [(a, b) for a, b, gold in places.values() if gold in golds]
        firsts = sum((a == 1) + (b == 1) for a, b in found) / 2
        return firsts / len(found) - 0.5, len(found)

    position = row["position"]
    assert position["consistency"]["value"] == sum(a != b for a, b, _ in places.values()) / 100
    assert position["first"]["value"] == pytest.approx(preferred((1, 2))[0])
    for estimate in (position["consistency"], position["first"]):
        assert estimate.keys() == ESTIMATE
        assert estimate["low"] <= estimate["value"] <= estimate["high"]
    assert [gold for gold, _, _ in position["by_gold"]] == [1, 2]
    for gold, first, n in position["by_gold"]:
        assert (first, n) == pytest.approx(preferred((gold,)))
    assert row["first_selection_rate"] is None


@pytest.mark.slow
def test_the_provenance_labels_are_ranked(project: Project) -> None:
    """After all six contrasts a line and a row give the estimated order, certified where the intervals say so."""
    labels = ["expert", "human", "llm", "unknown"]
    run = project.run("test_provenance.py", "--judge", "simulated-silent")
    (row,) = run.report["rankings"]
    assert (row["judge"], row["dataset"], row["n"], row["order"]) == ("simulated-silent", CLOSE, 100, labels)
    assert row["certified"] is True
    assert f"ranking of simulated-silent on {CLOSE}: {row['message']}" in run.said
    # Each label beats every label below by .40: strengths are row means over four labels, itself included.
    assert [row["strengths"][label]["value"] for label in labels] == pytest.approx([0.3, 0.1, -0.1, -0.3])
    assert all(row["strengths"][label].keys() == ESTIMATE for label in labels)


@pytest.mark.slow
def test_an_order_that_is_not_certain_is_not_certified(project: Project) -> None:
    """A judge that no label moves has no order, and the line says that it is not certified, the page in words."""
    run = project.run("test_provenance.py", "--judge", FAITHFUL, "--judge-pairs", "20")
    (row,) = run.report["rankings"]
    assert (row["n"], row["certified"]) == (20, False)
    assert "no label wins" in (run.folder / "report.html").read_text()
    assert re.search(rf"^ranking of {FAITHFUL} on {CLOSE}: .*not certified", run.said, re.MULTILINE)


def test_a_part_of_the_contrasts_is_not_ranked(project: Project) -> None:
    """Where one of the six contrasts did not run there is no order."""
    run = project.run("test_provenance.py", "-k", "not llm-unknown", "--judge", FAITHFUL, "--judge-pairs", "20")
    assert run.report["rankings"] == []
    assert "ranking of" not in run.said


# --- the preflight ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_preflight_runs_nothing(
    recording: Callable[..., Project], server: SimulatorServer, workers: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """--judge-preflight prints table, calls and cost, asks nobody, writes nothing and exits 0, also under -n 2."""
    project = recording(20)
    tests = ("test_recency.py", "test_provenance.py")
    run = project.run(*tests, "--judge-preflight", "--judge-record", "missing", *workers)
    assert run.ret == 0
    assert server.requests == 0
    assert not run.folder.exists()
    assert not project.cassettes.exists()
    assert re.search(r"^preflight$", run.said, re.MULTILINE)
    assert re.search(r"own +provenance +6 +20 +16 +0\.15 +0\.05 +0\.\d+ +0\.\d+$", run.said, re.MULTILINE)
    assert re.search(r"P\(all PASS \| unbiased\): 0\.\d+ at 5% flips, 0\.\d+ at 10%", run.said)
    assert lines_about(run.said, "judge without") == snapshot
    calls, asked, answered, cost = re.search(  # type: ignore[union-attr]
        r"mine: at most (\d+) calls, (\d+) tokens in, (\d+) out, \$([\d.]+)", run.said
    ).groups()
    assert int(calls) == 14 * 20
    assert int(answered) == 14 * 20 * 512
    assert float(cost) == pytest.approx((2.5 * int(asked) + 10 * int(answered)) / 1e6, abs=0.01)
    assert "passed" not in run.said


def test_the_preflight_counts_what_is_not_recorded(recording: Callable[..., Project], server: SimulatorServer) -> None:
    """What is recorded already costs nothing: the second preflight counts the rest, for a swap of both judges."""
    project = recording(20)
    project.run("test_recency.py", "--judge-record", "missing")
    assert server.requests == 40
    run = project.run("test_recency.py", "--judge-preflight", "--judge-record", "missing")
    assert "mine: at most 0 calls" in run.said
    swap = ("-k", "swap and recency", "--judge-baseline", "old", "--judge-preflight", "--judge-record")
    run = project.run(*swap, "missing")
    assert "mine: at most 0 calls" in run.said
    assert "old: at most 40 calls" in run.said
    assert "mine: at most 40 calls" in project.run(*swap, "all").said
    assert server.requests == 40


def test_the_preflight_names_what_cannot_pass(recording: Callable[..., Project], snapshot: SnapshotAssertion) -> None:
    """With 5 pairs no judge can PASS: the preflight says so, and how many are needed; it is no failure of the run."""
    run = recording(5).run("test_recency.py", "--judge-preflight")
    assert run.ret == 0
    assert lines_about(run.said, "recency-new-old on") == snapshot


def test_the_preflight_names_families_as_they_are_called(project: Project) -> None:
    """The column of cues has the names of the families, those that [gate.FAMILY] takes."""
    run = project.run("test_noise.py", "--judge-preflight", "--judge-repeats", "2")
    assert re.findall(r"^  house-close +(\S+)", run.said, re.MULTILINE) == ["placebo", "repeat"]


def test_the_preflight_of_a_swap_is_a_table(
    recording: Callable[..., Project], server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """It has pairs, calls, cost, the pairs needed and whether it can PASS, for every comparison with the baseline."""
    run = recording(20).run("-k", "swap", "--judge-baseline", "old", "--judge-preflight", "--judge-record", "missing")
    assert (run.ret, server.requests) == (0, 0)
    assert lines_about(run.said, "mine against") == snapshot
    heads = r"dataset +comparison +pairs +calls +cost at most +at least +if equal +can pass"
    assert re.search(rf"^ +{heads}$", run.said, re.MULTILINE)
    cells = r"^  own +(\S+) +(\d+) +(\d+) +\$([\d.]+) +(\d+) +(\d+)  +(no|yes|if better)$"
    rows = re.findall(cells, run.said, re.MULTILINE)
    assert len(rows) == 1 + CONTRASTS
    found = {row[0]: row[1:] for row in rows}
    assert found["accuracy"][:2] == ("20", "80")
    assert found["accuracy"][3:] == ("3", "25", "if better")
    assert found["recency-new-old"][:2] == ("20", "80")
    assert found["recency-new-old"][3:] == ("20", "20", "yes")
    (total,) = re.findall(r"mine: at most (\d+) calls", run.said)
    assert int(total) == sum(int(row[2]) for row in rows) / 2


@pytest.mark.parametrize(("pairs", "can"), [(3, "no"), (60, "yes")])
def test_the_preflight_says_whether_a_swap_can_pass(recording: Callable[..., Project], pairs: int, can: str) -> None:
    """Too few pairs for any PASS are "no", and named; enough for judges that never differ "yes"."""
    run = recording(pairs).run("-k", "swap and recency", "--judge-baseline", "old", "--judge-preflight")
    assert re.search(rf"^  own +recency-new-old +{pairs} .* {can}$", run.said, re.MULTILINE)
    assert ("swap recency-new-old on" in run.said) == (can == "no")


@pytest.mark.parametrize(
    ("tests", "pairs", "more", "said"),
    [
        (
            ["test_accuracy.py"],
            5,
            "[gate]\nmin_accuracy = 0.7",
            "accuracy on own: 5 pairs are too few to pass min_accuracy 0.7: use at least 9",
        ),
        (
            ["test_position.py", "-k", "four"],
            5,
            "",
            "four-cell-new-old on own: 5 pairs are too few to pass vsr_tolerance 0.15: use at least 15",
        ),
        (
            ["-k", "swap and recency", "--judge-baseline", "old"],
            3,
            "",
            "swap recency-new-old on own: 3 pairs are too few to pass the margins of a swap: use at least 20",
        ),
        (
            ["-k", "swap and accuracy", "--judge-baseline", "old"],
            2,
            "",
            "swap accuracy on own: 2 pairs are too few to pass the margins of a swap: use at least 3",
        ),
    ],
    ids=["accuracy", "four cells", "swap", "swap of accuracy"],
)
def test_whatever_cannot_pass_is_refused(
    recording: Callable[..., Project], server: SimulatorServer, tests: list[str], pairs: int, more: str, said: str
) -> None:
    """Accuracy, four cells and a swap are refused as contrasts are, and asked about with --judge-force."""
    project = recording(pairs, more)
    run = project.run(*tests, "--judge-record", "missing")
    assert (run.ret, server.requests) == (NOT_MEASURED, 0)
    assert said in run.said
    assert run.report["status"] == "ERROR"
    project.run(*tests, "--judge-record", "missing", "--judge-force")
    assert server.requests > 0


def test_accuracy_that_decides_nothing_is_not_refused(
    recording: Callable[..., Project], server: SimulatorServer
) -> None:
    """Without min_accuracy accuracy is shown, whatever the number of pairs."""
    run = recording(5).run("test_accuracy.py", "--judge-record", "missing")
    assert (run.ret, server.requests) == (11, 10)


@pytest.mark.slow
def test_what_would_settle_a_swap_has_a_price(recording: Callable[..., Project]) -> None:
    """The decision gives pairs, calls and what they cost at most, by the judges' prices: of both judges."""
    run = recording(20).run("-k", "swap", "--judge", "old", "--judge-baseline", "old", "--judge-record", "missing")
    status, reasons = run.decision
    assert status == "INCONCLUSIVE"
    shape = r"(\d+) pairs per dataset need (\d+) more requests to each judge, at most \$([\d.]+) for both"
    needed, calls, usd = re.fullmatch(shape, reasons[-1]).groups()  # type: ignore[union-attr]
    assert int(calls) == (int(needed) - 20) * 2 * (1 + CONTRASTS)
    longest = 512 * 10 / 1e6  # what the longest answer costs; a question of 100 to 400 tokens comes on top
    assert 2 * int(calls) * (longest + 100 * 2.5e-6) < float(usd) < 2 * int(calls) * (longest + 400 * 2.5e-6)


def test_recording_what_cannot_pass_is_refused(recording: Callable[..., Project], server: SimulatorServer) -> None:
    """Recording 5 pairs is refused before a question is asked, with the number that is needed and the way round."""
    project = recording(5)
    run = project.run("test_recency.py", "--judge-record", "missing")
    assert run.ret == NOT_MEASURED
    assert server.requests == 0
    assert "recency-new-old on own: 5 pairs cannot pass vsr_tolerance 0.15" in run.said
    assert "at least 16 are needed" in run.said
    assert "--judge-force" in run.said
    assert run.report["contrasts"][0]["status"] == "ERROR"


def test_recording_what_cannot_pass_can_be_forced(
    recording: Callable[..., Project], server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """--judge-force records all the same; then, and in a replay without it, the item is INCONCLUSIVE, not refused."""
    project = recording(5)
    forced = project.run("test_recency.py", "--judge-record", "missing", "--judge-force")
    assert server.requests == 10
    replayed = project.run("test_recency.py")
    for run in (forced, replayed):
        assert run.ret == 1
        assert run.report["contrasts"][0]["status"] == "INCONCLUSIVE"
        assert lines_about(run.said, "80% power") == snapshot
    assert server.requests == 10


def test_sixteen_pairs_can_be_recorded(recording: Callable[..., Project], server: SimulatorServer) -> None:
    """What can just pass is recorded without force, and does pass."""
    run = recording(16).run("test_recency.py", "--judge-record", "missing")
    assert (run.ret, server.requests) == (0, 32)
    assert run.report["contrasts"][0]["status"] == "PASS"


def test_a_refused_recording_asks_nothing_at_all(
    recording: Callable[..., Project], server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """The preflight refuses before the first item: where contrasts cannot pass, nothing of the run is paid for."""
    run = recording(5).run("test_accuracy.py", "test_recency.py", "--judge-record", "missing")
    assert server.requests == 0
    assert lines_about(run.said, "recorded: recency-new-old") == snapshot
