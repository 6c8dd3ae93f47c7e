"""The rules of the wording gate: the mean excess, and of each wording its signed shift and its squared change."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.config import build_config
from judgefixtures.metrics.excess_flips import excess_flips
from judgefixtures.models.check_rows import WordingRow
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.findings import Finding, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.simulator.server import serving
from judgefixtures.statistics.clusters import score_interval
from judgefixtures.statistics.estimate import Status
from judgefixtures.statistics.gates import gate_excess
from judgefixtures.statistics.wordings import chance_of_harmless, change, excess, flip, shift
from judgefixtures.util.errors import JudgeFixturesError

CASSETTES = Path(__file__).parents[2] / "cassettes"
outcomes = st.sampled_from([0.0, 0.5, 1.0])
probabilities = st.floats(0, 1)


# --- the scores of one example -----------------------------------------------------------------------------------


@given(probabilities, probabilities)
def test_the_squared_change_is_unbiased(own: float, other: float) -> None:
    """Over all outcomes of two runs each, its mean is the square of the change of the pass probability."""
    mean = 0.0
    for a, b, first, second in itertools.product((0, 1), repeat=4):
        likely = [p if each else 1 - p for each, p in ((a, own), (b, own), (first, other), (second, other))]
        mean += likely[0] * likely[1] * likely[2] * likely[3] * change(a, b, [first, second])
    assert mean == pytest.approx((other - own) ** 2, abs=1e-12)


@given(probabilities, probabilities)
def test_the_shift_is_unbiased(own: float, other: float) -> None:
    """With one run and with two its mean is the signed change of the pass probability."""
    for runs in (1, 2):
        mean = 0.0
        for a, b, *told in itertools.product((0, 1), repeat=2 + runs):
            weight = (own if a else 1 - own) * (own if b else 1 - own)
            for each in told:
                weight *= other if each else 1 - other
            mean += weight * shift(a, b, told)
        assert mean == pytest.approx(other - own, abs=1e-12)


@given(outcomes, outcomes, st.lists(outcomes, min_size=1, max_size=2))
def test_scores_stay_in_their_range(own: float, again: float, runs: list[float]) -> None:
    """Excess and shift lie in -1 to 1, a squared change in -0.5 to 1, and what does not differ has none of them."""
    assert -1 <= excess(own, again, runs) <= 1
    assert -1 <= shift(own, again, runs) <= 1
    assert 0 <= flip(own, again, runs) <= 1
    assert excess(own, own, [own] * len(runs)) == shift(own, own, [own] * len(runs)) == 0
    if len(runs) == 2:
        assert -0.5 <= change(own, again, runs) <= 1
        assert change(own, again, runs) == change(again, own, runs) == change(own, again, runs[::-1])
        assert change(own, again, [own, again]) == -((own - again) ** 2) / 2
    else:
        assert excess(own, again, runs) == abs(runs[0] - own) - abs(again - own)


# --- the scores of a run -----------------------------------------------------------------------------------------


def arm(selected: Sequence[int | None], repeat: int = 0, clusters: Sequence[int] | None = None) -> list[Judgment]:
    """Return judgments that chose these responses: 0 is a tie, None an invalid answer."""

    def verdict(chosen: int | None) -> Verdict:
        if chosen is None:
            return Verdict(None, "", "malformed")
        return Verdict(chosen or None, "So.", tie=chosen == 0)  # type: ignore[arg-type]

    pairs = [Pair(f"p{number}", "Why?", "So.", "No.") for number in range(len(selected))]
    if clusters is not None:
        pairs = [replace(pair, cluster=f"c{label}") for pair, label in zip(pairs, clusters, strict=True)]
    return [
        Judgment(pair, NO_CUE, JudgeReply(verdict(each)), repeat) for pair, each in zip(pairs, selected, strict=True)
    ]


SHARES = {1: 1.0, 0: 0.5, 2: 0.0}
answers = st.lists(st.tuples(*[st.sampled_from([1, 2, 0])] * 6), min_size=1, max_size=12)
spoiled = st.lists(st.tuples(*[st.sampled_from([1, 2, None])] * 4), min_size=1, max_size=6)


@given(answers)
@settings(deadline=None)
def test_two_runs_of_each_wording_are_measured_by_the_formulas(rows: list[tuple[int, ...]]) -> None:
    """The mean excess is over the wordings; of each wording there is its shift, and its squared change."""
    own, again, *others = zip(*rows, strict=True)
    wordings = {"a": arm(others[0]) + arm(others[1], 1), "b": arm(others[2]) + arm(others[3], 1)}
    every, *each = excess_flips(arm(own), arm(again, 1), wordings)
    known = [[SHARES[one] for one in row] for row in rows]
    for number, (a, b, *runs) in enumerate(known):
        expected = (excess(a, b, runs[:2]) + excess(a, b, runs[2:])) / 2
        assert every.excess[f"p{number}"] == pytest.approx(expected)
        for measured, of in zip(each, (runs[:2], runs[2:]), strict=True):
            assert measured.shifts[0][number] == pytest.approx(shift(a, b, of))
            assert measured.changes is not None
            assert measured.changes[0][number] == pytest.approx(change(a, b, of))
            assert measured.runs == 2
    for once in excess_flips(arm(own), arm(again, 1), {"a": arm(others[0])}):
        assert (once.runs, once.changes) == (1, None)


@given(spoiled, st.data())
@settings(deadline=None)
def test_invalid_answers_lie_between_their_ends(rows: list[tuple[int | None, ...]], data: st.DataObject) -> None:
    """Whatever invalid answers would have been, no score is below its least or above its most."""
    own, again, *others = (list(each) for each in zip(*rows, strict=True))
    (_, found) = excess_flips(arm(own), arm(again, 1), {"a": arm(others[0]) + arm(others[1], 1)})
    filled = [[data.draw(st.sampled_from([1, 2])) if one is None else one for one in row] for row in rows]
    for number, (a, b, *runs) in enumerate([[SHARES[one] for one in row] for row in filled]):
        assert found.changes is not None
        for scores, value in (
            ((None, found.least, found.most), excess(a, b, runs)),
            (found.shifts, shift(a, b, runs)),
            (found.changes, change(a, b, runs)),
        ):
            assert scores[1][number] - 1e-12 <= value <= scores[2][number] + 1e-12
    assert found.invalid == sum(one is None for row in rows for one in row)


def test_related_pairs_count_by_cluster() -> None:
    """The interval of a wording's shift is the one over clusters where pairs are related."""
    labels = [number // 4 for number in range(24)]
    own, again, first, second = [1] * 24, [1, 1, 2, 1] * 6, [2, 2, 2, 1] * 6, [2, 1, 2, 1] * 6
    runs = [arm(each, clusters=labels) for each in (own, again, first, second)]
    (_, found) = excess_flips(runs[0], runs[1], {"a": runs[2] + runs[3]})
    result = gate_excess(found.shifts[0], 0.10, clusters=found.labels, both_sides=True)
    assert result.estimate == score_interval(found.shifts[0], clusters=labels) != score_interval(found.shifts[0])


# --- the test on both sides --------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=5, max_size=60))
@settings(deadline=None)
def test_both_sides_are_alike(scores: list[float]) -> None:
    """With every score's sign turned, a test on both sides says the same; its PASS is one of both one-sided tests."""
    turned = [-score for score in scores]
    one, other = (gate_excess(each, 0.10, both_sides=True) for each in (scores, turned))
    assert (one.status, one.p_pass, one.needed_pairs) == (other.status, pytest.approx(other.p_pass), other.needed_pairs)
    passes = [gate_excess(each, 0.10).status is Status.PASS for each in (scores, turned)]
    assert (one.status is Status.PASS) == all(passes)
    within = one.estimate.low > -0.10 and one.estimate.high < 0.10
    assert (one.status is Status.PASS) == within


def test_a_fail_may_have_its_own_level() -> None:
    """With a smaller level of a FAIL, what would FAIL is INCONCLUSIVE; a PASS is not touched."""
    scores = [1.0] * 20 + [0.0] * 90
    assert gate_excess(scores, 0.10).status is Status.FAIL
    assert gate_excess(scores, 0.10, fail_alpha=0.001).status is Status.INCONCLUSIVE
    assert gate_excess([0.0] * 60, 0.10, fail_alpha=0.001).status is Status.PASS


# --- planted judges ----------------------------------------------------------------------------------------------

# A close pair is decided by a coin, another one always for response 1. `terse` begins with "Which", `reordered` with
# "Your"; every further call about the same prompt is another toss.
JUDGE = """import hashlib
import json
import re
from collections import Counter

CALLS = Counter()


def judge(prompt):
    CALLS[prompt] += 1
    wording = {{"W": "terse", "Y": "reordered"}}.get(prompt[0], "own")
    pair = int(re.search(r"Question (\\d+)", prompt)[1])
    toss = hashlib.sha256(f"{{wording}} {{pair}} {{CALLS[prompt]}}".encode()).digest()[0] % 2 + 1
    selected = toss if pair % 10 < {close} else 1
    {planted}
    return json.dumps({{"selected_response": selected, "reason": "So."}})
"""
UP = 'selected = 1 if wording == "terse" else selected'
PLANTED = {
    "nothing": "pass",
    "one": UP,
    "up": 'selected = 1 if wording != "own" else selected',
    "opposite": 'selected = {"terse": 1, "reordered": 2, "own": selected}[wording] if pair % 10 < 8 else selected',
    "split": 'selected = 1 + pair // 10 % 2 if wording != "own" and pair % 10 < 8 else selected',
}


def found_of(folder: Path, planted: str, close: int = 8, keys: str = "", count: int = 200) -> Finding:
    """Return what is found of a judge with a planted effect of its two wordings."""
    folder.mkdir(exist_ok=True)
    rows = (
        f'{{"id": "p{n}", "question": "Question {n}?", "response_1": "So.", "response_2": "No."}}\n'
        for n in range(count)
    )
    (folder / "own.jsonl").write_text("".join(rows))
    (folder / f"planted_{folder.name}.py").write_text(JUDGE.format(close=close, planted=PLANTED[planted]))
    (folder / "judges.toml").write_text(
        f'control = false\n[datasets.own]\npath = "own.jsonl"\nbalance_positions = false\n[judges.mine]\nprovider = "python"\n'
        f'target = "planted_{folder.name}:judge"\nwordings = ["terse", "reordered"]\n[gate.wording]\n{keys}\n'
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        with Run.from_config(folder / "judges.toml", record="missing") as run:
            return run.gate("wording", judge="mine", dataset="own")


def rows_by_wording(found: Finding) -> dict[str, WordingRow]:
    """Return the rows of a finding by wording."""
    return {row.wording: row for row in rows_of([found], WordingRow)}


def test_wordings_without_effect_pass(tmp_path: Path) -> None:
    """A judge that tosses a coin about some pairs passes: noise is no wording."""
    found = found_of(tmp_path / "nothing", "nothing", close=2)
    assert found.status is Status.PASS, found.text
    rows = rows_by_wording(found)
    assert {row.status for row in rows.values()} == {Status.PASS}
    assert {row.runs for row in rows.values()} == {2}


@pytest.mark.parametrize("planted", ["one", "up", "opposite"])
def test_a_wording_that_moves_close_pairs_to_one_side_fails(tmp_path: Path, planted: str) -> None:
    """The excess is nothing, and the signed shift of that wording is far beyond the limit: FAIL, in these words."""
    found = found_of(tmp_path / planted, planted)
    rows = rows_by_wording(found)
    assert found.status is Status.FAIL
    assert rows["all"].excess_flips is not None
    assert abs(rows["all"].excess_flips.value) < 0.06
    assert rows["terse"].status == Status.FAIL
    assert rows["terse"].shift is not None
    assert rows["terse"].shift.value > 0.2
    assert rows["reordered"].status == (Status.FAIL if planted != "one" else Status.PASS) or planted == "one"
    assert {part.name for part in found.decided_by} >= {"wording_shift"}
    said = re.search(
        r"Wording 'terse' changed how often response 1 is chosen by \+0\.\d\d \(90% CI (\S+) to", found.text
    )
    assert said, found.text
    assert "limit ±0.10)." in found.text


def test_a_wording_that_settles_close_pairs_either_way_fails_with_two_runs(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Half of the close pairs go to one side and half to the other: no shift, a squared change, and FAIL."""
    found = found_of(tmp_path / "split", "split")
    rows = rows_by_wording(found)
    assert found.status is Status.FAIL
    assert {part.name for part in found.decided_by} == {"wording_change"}
    assert rows["terse"].squared_change is not None
    assert rows["terse"].squared_change.value > 0.10
    assert lines_about(found.text, "directions (mean") == snapshot
    once = found_of(tmp_path / "once", "split", keys="repeats = 1")
    assert once.status is not Status.FAIL
    assert lines_about(once.text, "each wording") == snapshot
    assert {row.squared_change for row in rows_by_wording(once).values()} == {None}


def test_the_limits_are_keys_of_the_gate(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A higher limit of the squared change lets the same judge pass; other values are refused by name."""
    found = found_of(tmp_path / "wide", "split", keys="max_probability_change = 0.5")
    assert found.status is not Status.FAIL
    for keys, named in (
        ({"repeats": 3}, "repeats"),
        ({"repeats": 0}, "repeats"),
        ({"max_probability_change": 0}, "max_probability_change"),
        ({"max_probability_change": 1.5}, "max_probability_change"),
    ):
        with pytest.raises(JudgeFixturesError, match=named):
            build_config({"gate": {"wording": keys}})
    with pytest.raises(JudgeFixturesError) as error:
        build_config({"gate": {"repeats": 2}})
    assert str(error.value) == snapshot


# --- recordings --------------------------------------------------------------------------------------------------

SERVED = """
control = false
pairs = 30
cassettes = "{cassettes}"
[judges.calm]
provider = "openai"
model = "simulated-grader-faithful"
base_url = "{url}"
mode = "binary"
wordings = ["terse", "reordered"]
[gate.wording]
wording_tolerance = 0.3
{keys}
"""


def served(folder: Path, url: str, record: str, keys: str = "") -> tuple[Finding, list[str]]:
    """Return what is found of a judge behind a server, and the notes of the run."""
    file = folder / "judges.toml"
    file.write_text(SERVED.replace('cassettes = "{cassettes}"\n', "").format(url=url, keys=keys))
    with Run.from_config(file, record=record) as run:
        found = run.gate("wording", judge="calm", dataset="house-answers")
        return found, list(run.notes)


def test_recordings_of_one_run_still_decide_and_a_second_run_is_asked_once(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """One run replays by two rules and says so; `missing` asks nothing but the second runs; these replay, too."""
    with serving() as server:
        url = f"{server.url}/v1"
        served(tmp_path, url, "missing", "repeats = 1")
        assert server.requests == 30 * 4
        once, notes = served(tmp_path, NOWHERE, "none")
        assert once.status is Status.PASS, once.text
        assert lines_about(once.reasons, "each wording") == snapshot
        assert lines_about(notes, "house-answers: only one") == snapshot
        both, _ = served(tmp_path, url, "missing")
        assert server.requests == 30 * 6
    again, notes = served(tmp_path, NOWHERE, "none")
    assert again.reasons == both.reasons
    assert {row.runs for row in rows_by_wording(again).values()} == {2}
    assert not any("one run" in note for note in notes)


def test_the_shipped_recordings_of_wordings_decide_as_before(snapshot: SnapshotAssertion) -> None:
    """The recorded judge that words move FAILs by its excess, and what one run does not tell is said."""
    with Run.from_config(CASSETTES.parent / "pyproject.toml") as run:
        found = run.gate("wording", judge="simulated-grader-worded", dataset="house-answers")
    rows = rows_by_wording(found)
    assert found.status is Status.FAIL
    assert (rows["all"].status, rows["all"].runs) == (Status.FAIL, 1)
    assert [part.name for part in found.decided_by] == ["wording"]
    assert lines_about(found.text, "each wording") == snapshot


# --- the preflight -----------------------------------------------------------------------------------------------


def test_harmless_wordings_pass_the_more_often_the_more_examples() -> None:
    """The chance grows with the examples and with a second run, and falls with the share of close ones."""
    chances = [chance_of_harmless(n, 0.2, 2, 2, 0.1, 0.1) for n in (40, 100, 200)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.95
    assert chance_of_harmless(100, 0.2, 2, 1, 0.1, 0.1) < chances[1]
    assert chance_of_harmless(100, 0.3, 2, 2, 0.1, 0.1) < chances[1]


def test_the_preflight_says_how_likely_harmless_wordings_pass(
    pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Before anything is asked it states that chance for the number of examples, and counts both runs of each."""
    pytester.makefile(".toml", judges=SERVED.replace('cassettes = "{cassettes}"\n', "").format(url=NOWHERE, keys=""))
    shipped = Path(__file__).parents[1] / "judge" / "test_wording.py"
    (pytester.path / "test_wording.py").write_text(shipped.read_text())
    ran = pytester.runpytest(
        *("--judge-config", "judges.toml", "--judge-preflight", "-p", "no:cacheprovider", "--judge", "calm"),
        *("--judge-dataset", "house-answers"),
    )
    text = ran.stdout.str()
    assert lines_about(text, "wordings without") == snapshot
    assert "calm~terse: at most 60 calls" in text


pytest_plugins = ["pytester"]
