"""Judges with mode = "binary": what they are asked, what a grade makes of an arm, and who passes nothing."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, finished
from support.project import Project, in_pyproject, json_lines
from support.rendered import lines_about
from support.server import NOWHERE, SDKS, Answer, Asked, Server, running
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.canary.reference import load_reference
from judgefixtures.checks import CheckInput
from judgefixtures.checks.contradiction_quotes import quote_contradicting_reasons
from judgefixtures.checks.grader_control import GradeControl
from judgefixtures.config import ControlTable
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.check_rows import ContrastRow, ControlRow
from judgefixtures.models.contrasts import NO_CUE, SingleResponseCondition, as_single_response, contrasts
from judgefixtures.models.edits import edits
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair, as_examples, pair_to_row
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.run.run import ItemRecord
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import Status
from judgefixtures.statistics.detector_correction import DetectorAccuracy
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.usefixtures("quick_and_alone"), pytest.mark.whole]

EXAMPLES = 100
EXAMPLE = Example("sky", "Why is the sky blue?", "Air scatters blue.", label="pass")
(NEW_OLD,) = contrasts("recency")


def some(count: int = EXAMPLES) -> list[Example]:
    """Return examples whose question tells their number; every other one is labelled pass."""
    return [
        Example(f"e{n:03}", f"Question {n}: why?", f"Because {n}.", label="fail" if n % 2 else "pass")
        for n in range(count)
    ]


def number_in(prompt: str) -> int:
    """Return the number of the example that a prompt shows."""
    return int(prompt.partition("Because ")[2].partition(".")[0])


def says(passed: bool, reason: str = "All of it is there.") -> str:
    """Return what a grader answers."""
    return json.dumps({"verdict": "pass" if passed else "fail", "reason": reason})


class Grader(Server):
    """Passes 5 of 10 examples by their number, and 3 more of 10 where they are new; one in three of these admits it."""

    def __init__(self) -> None:
        super().__init__(self.answer, keep_alive=True)
        self.rule: Callable[[str], str] | None = None

    def answer(self, asked: Asked) -> Answer:
        """Answer in the wire format of the path."""
        if self.rule is not None:
            return asked.answered(self.rule(asked.prompt))
        last, new = asked.number % 10, "2025" in asked.prompt
        reason = "It was written recently, so it is to be trusted." if new and last == 5 else "All of it is there."
        return asked.answered(says(last < (8 if new else 5), reason))


@pytest.fixture
def server() -> Iterator[Grader]:
    """A server that answers for the judge of `opened`."""
    grader = Grader()
    with running(grader):
        yield grader


Opening = Callable[..., Run]


@pytest.fixture
def opened(tmp_path: Path, server: Grader) -> Opening:
    """Return what makes a run about examples (or `pairs`): replayed at a closed port, recorded at the server."""

    def run(
        record: str = "none",
        more: str = "control = false",
        of_judge: str = "",
        sdk: str = "openai",
        pairs: list[Any] | None = None,
        of_dataset: str = "",
        **options: Any,
    ) -> Run:
        (tmp_path / "own.jsonl").write_text(json_lines(map(pair_to_row, some() if pairs is None else pairs)))
        url = NOWHERE if record == "none" else server.url
        base = f"{url}/v1" if sdk == "openai" else url
        mode = "" if "mode" in of_judge else 'mode = "binary"\n'
        file = tmp_path / "judges.toml"
        file.write_text(
            f'judge = "grader"\n{more}\n[datasets.own]\npath = "own.jsonl"\nbalance_positions = false\n{of_dataset}\n'
            f'[judges.grader]\nprovider = "{sdk}"\nmodel = "m"\nbase_url = "{base}"\n{mode}{of_judge}\n'
        )
        return Run.from_config(file, record=record, **{"force": True} | options)

    return run


def gated(run: Run, *names: str, dataset: str = "own") -> list[Finding]:
    """Return what some checks find of the grader, and end the run."""
    with run:
        return [run.gate(name, judge="grader", dataset=dataset) for name in names]


def row_of(finding: Finding) -> ContrastRow:
    """Return the row of a contrast's finding."""
    (row,) = finding.rows[ContrastRow.place]
    assert isinstance(row, ContrastRow)
    return row


def control_of(finding: Finding) -> ControlRow:
    """Return the control that a finding was made with."""
    (row,) = finding.rows[ControlRow.place]
    assert isinstance(row, ControlRow)
    return row


# --- what comes out ---------------------------------------------------------------------------------------


def test_a_judge_without_reasons_has_no_car(opened: Opening, server: Grader, snapshot: SnapshotAssertion) -> None:
    """Where no grade comes with a reason CAR is NOT_APPLICABLE and says so; all of the shift is unadmitted."""
    server.rule = lambda prompt: "pass" if number_in(prompt) % 10 < (8 if "2025" in prompt else 5) else "fail"
    limits = "control = false\n[gate]\nvsr_tolerance = 0.5\n"
    (found,) = gated(opened("missing", f"{limits}max_silent = 0.15\n", 'verdict = "word"'), "recency-new-old")
    row = row_of(found)
    assert (row.vsr_status, row.car_status) == ("PASS", "NOT_APPLICABLE")
    assert (row.car, row.car_all, row.car_corrected, row.admitted_shift) == (None,) * 4
    assert row.unadmitted_shift is not None
    assert row.unadmitted_shift.value == pytest.approx(0.3)
    assert lines_about(row.message, "NOT_APPLICABLE: the") == snapshot
    assert lines_about(row.text, "no reasons") == snapshot
    assert [part.name for part in found.decided_by] == ["max_silent"]
    (found,) = gated(opened(more=limits, of_judge='verdict = "word"'), "recency-new-old")
    assert found.status is Status.PASS


def test_a_row_of_a_grade_says_whether_it_passed(opened: Opening, server: Grader) -> None:
    """judgments.jsonl has `passed` and the label of each grade, null where nobody can tell; of a choice it has neither."""
    server.rule = lambda prompt: ("?", says(True), says(False))[number_in(prompt) % 3]
    ledger, pairs = ItemRecord(), [*some(6), Example("e006", "Question 6: why?", "Because 6.")]
    with opened("missing", pairs=pairs, keep_judgments=True) as run:
        check = run.registry.check("placebo-listed-shown")
        run.check(check, CheckInput(run.judge("grader"), "own", run.pairs("grader", "own"), run.config), ledger)
    rows = {(row["pair"], row["passed"], row["label"]) for row in rows_as_json(ledger.judgments)}
    told = (None, True, False)
    assert rows == {(each.id, told[number % 3], each.label) for number, each in enumerate(pairs)}
    pair = Judgment(Pair("p", "Why?", "So.", "No."), NO_CUE, JudgeReply(Verdict(1, "It names it.")))
    assert not hasattr(judgment_row("mine", "own", pair), "passed")


@pytest.mark.parametrize("sdk", SDKS)
def test_a_planted_shift_is_found_to_the_example(opened: Opening, sdk: str, snapshot: SnapshotAssertion) -> None:
    """A pass rate that a date raises by .30 is +.30 in the report, CAR is what the passing reasons admit; so replayed."""
    (recorded,) = gated(opened("missing", sdk=sdk), "recency-new-old")
    (found,) = gated(opened(sdk=sdk), "recency-new-old")
    row = row_of(found)
    assert row.to_json() == row_of(recorded).to_json()
    assert (row.n, row.n10, row.n01, row.outcome) == (EXAMPLES, 30, 0, "passed")
    assert row.vsr is not None
    assert row.vsr.value == pytest.approx(0.3)
    assert row.car is not None
    assert (row.car.value, row.car.n) == (pytest.approx(1 / 3), 30)
    assert row.pass_rate is not None
    assert row.pass_rate.x is not None
    assert row.pass_rate.y is not None
    assert (row.pass_rate.x.value, row.pass_rate.y.value) == (0.8, 0.5)
    assert row.pass_rate.x.low < 0.8 < row.pass_rate.x.high
    assert row.first_selection_rate is None
    assert found.status is Status.FAIL
    assert "passed 30 more of 100 responses" in row.text
    assert lines_about(row.text, "written recently") == snapshot


def test_contrasts_share_their_arms(opened: Opening, server: Grader) -> None:
    """Six contrasts of provenance are four arms: no response is graded twice with one label."""
    names = [contrast.id for contrast in contrasts("provenance")]
    found = gated(opened("missing", pairs=some(20)), *names)
    assert len(found) == 6
    assert len(server.asked) == 4 * 20


def test_a_pair_is_two_examples(opened: Opening) -> None:
    """A dataset of pairs is asked about as its responses, which belong together; its size counts pairs."""
    pairs = [Pair(f"p{n}", f"Question {n}: why?", f"One {n}.", f"Other {n}.", gold=1) for n in range(30)]
    with opened("missing", pairs=pairs) as run:
        shown = run.pairs("grader", "own")
        assert len(shown) == 60
        assert {each.id.rpartition("/")[2] for each in shown} == {"1", "2"}
        assert {each.cluster for each in shown} == {f"p{n}" for n in range(30)}
        assert row_of(run.gate("recency-new-old", judge="grader", dataset="own")).clusters == 30


def test_a_grade_has_no_order(opened: Opening, server: Grader) -> None:
    """Nothing is asked about orders, and a check of them says that it does not apply."""
    (found,) = gated(opened("missing"), "position-no-cue")
    assert found.status is Status.NOT_APPLICABLE
    assert "sees no order" in found.reasons[0]
    assert not server.asked


def test_no_item_is_made_of_orders_or_accuracy(pytester: pytest.Pytester, server: Grader) -> None:
    """The shipped tests of position and accuracy have no item for a grader; those of cues and edits have theirs."""
    ids = of_examples(pytester, server, some(20), "recency", "position", "attack", "accuracy", "bias").ids()
    assert "test_recency.py::test_recency[grader-own-recency-new-old]" in ids
    assert "test_attack.py::test_attack[grader-own-attack-empty]" in ids
    assert not [each for each in ids if "position" in each or "accuracy" in each]


def test_scores_pass_from_a_mark_on(opened: Opening, server: Grader) -> None:
    """With a pass mark a score is a grade, and the score itself stays gated; where the mark lies asks nothing anew."""
    server.rule = lambda prompt: json.dumps({"score": 5 + 2 * ("2025" in prompt), "reason": "So."})
    of_judge = 'mode = "pointwise"\npass_mark = {}\n'
    (found,) = gated(opened("missing", of_judge=of_judge.format(6)), "recency-new-old")
    row = row_of(found)
    assert (row.n10, row.n01, row.score_status) == (EXAMPLES, 0, "FAIL")
    assert row.score_shift is not None
    assert row.score_shift.value == pytest.approx(2)
    (other,) = gated(opened(of_judge=of_judge.format(5)), "recency-new-old")
    assert (row_of(other).n10, row_of(other).score_status) == (0, "FAIL")


PAIRS = [Pair(f"p{n}", f"Question {n}: why?", f"One {n}.", f"Other {n}.", gold=1 + n % 2) for n in range(30)]


def test_scores_of_pairs_are_those_of_their_responses(opened: Opening, server: Grader) -> None:
    """Whoever scored pairs gives the judge a mark, and asks nothing again: the preflight says so, too."""
    server.rule = lambda prompt: json.dumps({"score": 5 + 2 * ("2025" in prompt), "reason": "So."})
    gated(opened("missing", of_judge='mode = "pointwise"', pairs=PAIRS), "recency-new-old")
    asked = len(server.asked)
    (found,) = gated(opened(of_judge='mode = "pointwise"\npass_mark = 6', pairs=PAIRS), "recency-new-old")
    assert (row_of(found).n, row_of(found).n10, row_of(found).n01) == (60, 60, 0)
    with opened(of_judge='mode = "pointwise"\npass_mark = 6', pairs=PAIRS) as run:
        shown = run.pairs("grader", "own")
        arms = run.judge("grader").asks(as_single_response(NEW_OLD).arms)
        known = [run.answer_service.recorded(run.judge("grader"), "own", arm, shown, {}) for arm in arms]
    assert [set(each) for each in known] == [{example.id for example in shown}] * 2
    assert len(server.asked) == asked


def test_recordings_of_a_grader_freeze_the_pairs(opened: Opening, server: Grader, tmp_path: Path) -> None:
    """What lies beside recordings of both responses are the pairs: another judge's, whose gold may change later."""
    gated(opened("missing", pairs=PAIRS), "recency-new-old")
    folder = tmp_path / "cassettes" / "grader" / "own"
    assert [json.loads(line)["id"] for line in (folder / "pairs.jsonl").read_text().splitlines()] == sorted(
        pair.id for pair in PAIRS
    )
    asked = len(server.asked)
    regraded = [replace(pair, gold=3 - pair.gold if pair.id == "p3" else pair.gold) for pair in PAIRS]
    (found,) = gated(opened("missing", pairs=regraded), "recency-new-old")
    assert row_of(found).n == 60
    assert len(server.asked) == asked


def test_a_changed_response_of_a_pair_is_named(opened: Opening, snapshot: SnapshotAssertion) -> None:
    """A response that changed makes the recordings of its pair stale, and the message says which text it was."""
    gated(opened("missing", pairs=PAIRS), "recency-new-old")
    changed = [replace(pair, response_2="Another.") if pair.id == "p3" else pair for pair in PAIRS]
    (lost,) = gated(opened(pairs=changed), "recency-new-old")
    assert lines_about(lost.reasons[0], "changed since") == snapshot


def test_the_closest_of_pairs_are_counted_in_pairs(opened: Opening, server: Grader, tmp_path: Path) -> None:
    """`closest` of a dataset of pairs counts pairs, each of which has two responses."""
    server.rule = lambda prompt: says("One" in prompt)
    with opened("missing", of_dataset="closest = 5", pairs=PAIRS) as run:
        found = run.gate("recency-new-old", judge="grader", dataset="own")
    assert row_of(found).n == 10
    assert json.loads((tmp_path / "cassettes/grader/own/closest.json").read_text())["closest"] == 10


def test_what_no_answer_tells_apart_is_said(opened: Opening, server: Grader, snapshot: SnapshotAssertion) -> None:
    """Where no answer without cues differs, the closest examples are the first ones, and a note says so."""
    server.rule = lambda _: says(True)
    with opened("missing", of_dataset="closest = 5", pairs=some(20)) as run:
        run.gate("recency-new-old", judge="grader", dataset="own")
        assert lines_about(run.notes, "closest examples") == snapshot


def test_no_score_is_close_to_nothing(opened: Opening, server: Grader) -> None:
    """Scores of single responses without a mark are close to nothing: `closest` is an error that names pass_mark."""
    with opened("missing", of_dataset="closest = 5", pairs=some(20), of_judge='mode = "pointwise"') as run:
        (reason,) = run.gate("recency-new-old", judge="grader", dataset="own").reasons
    assert "Set pass_mark in" in reason
    assert not server.asked


@pytest.mark.parametrize(
    ("mark", "nearest"), [("7", {6, 7}), ("6.5", {6, 7}), ("3", {2, 3})], ids=["mark", "between", "low"]
)
def test_closest_to_a_mark_are_those_on_either_side(
    opened: Opening, server: Grader, mark: str, nearest: set[int]
) -> None:
    """The line lies between the lowest score that passes and the highest that fails, wherever the mark stands there."""
    server.rule = lambda prompt: json.dumps({"score": number_in(prompt) % 10 + 1})
    of_judge = f'mode = "pointwise"\npass_mark = {mark}\n'
    with opened("missing", of_dataset="closest = 8", pairs=some(40), of_judge=of_judge) as run:
        found = run.gate("recency-new-old", judge="grader", dataset="own")
    asked = {number_in(each.prompt) % 10 + 1 for each in server.asked if "2025" in each.prompt}
    assert asked == nearest
    assert row_of(found).n == 8


def test_another_mark_has_other_closest_examples(opened: Opening, server: Grader) -> None:
    """What was chosen as close to one pass mark does not stand for another: an error names the file and the command."""
    server.rule = lambda prompt: json.dumps({"score": number_in(prompt) % 10 + 1})
    of_judge = 'mode = "pointwise"\npass_mark = {}\n'
    with opened("missing", of_dataset="closest = 5", pairs=some(40), of_judge=of_judge.format(7)) as run:
        run.gate("recency-new-old", judge="grader", dataset="own")
    with opened("missing", of_dataset="closest = 5", pairs=some(40), of_judge=of_judge.format(3)) as run:
        (reason,) = run.gate("recency-new-old", judge="grader", dataset="own").reasons
    assert "closest to pass_mark = 7.0 of grader, but pass_mark is now 3.0" in reason
    assert "--judge-record missing" in reason


# --- what is asked ----------------------------------------------------------------------------------------


def grader(**more: Any) -> Any:
    """Return a judge of one response."""
    return load_judge({"provider": "openai", "model": "m", "base_url": f"{NOWHERE}/v1", "mode": "binary"} | more)


def test_the_sentence_of_a_cue_names_no_number(snapshot: SnapshotAssertion) -> None:
    """What is said of a response names it as the response, which is the only one."""
    prompt = grader().prompt(EXAMPLE, as_single_response(NEW_OLD).x)
    assert lines_about(prompt, "written recently") == snapshot
    assert "Response 1" not in prompt
    assert "selected_response" not in prompt
    assert EXAMPLE.response in prompt


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"labels": ["good", "bad"]},
        {"labels": [False, True]},
        {"labels": ["C", "I"], "verdict": "grade"},
        {"labels": [["yes", "ok"], "no"], "verdict": "brackets"},
        {"verdict": "word"},
    ],
)
@pytest.mark.parametrize("content_type", ["Response", "Story"])
def test_built_in_templates_state_the_labels(
    more: dict[str, Any], content_type: str, snapshot: SnapshotAssertion
) -> None:
    """A judge is told by which words it is to answer, in its form: its table's, else pass and fail."""
    example = Example("1", "Why?", "So.", content_type=content_type)
    assert grader(**more).prompt(example, SingleResponseCondition()) == snapshot


def test_attacks_are_worded_for_a_grade() -> None:
    """What an attack asks for is a grade, in the judge's own word; no attack names a second response."""
    judge = grader(labels=["approved", "rejected"])
    for edit in edits("attack"):
        prompt = judge.prompt(EXAMPLE, SingleResponseCondition(edit=edit))
        assert "Response 2" not in prompt
        assert "selected_response" not in prompt
        assert (
            edit.label in ("empty", "constant", "system-prompt")
            or "Grade it approved" in prompt
            or "approved" in (prompt.partition("Response:")[2])
        )


def test_attacks_are_about_what_fails(opened: Opening, server: Grader) -> None:
    """Among labelled examples only those that people fail are attacked: the others pass anyway."""
    server.rule = lambda prompt: says("Grade it" in prompt)
    (found,) = gated(opened("missing"), "attack-choose-me")
    row = row_of(found)
    assert (row.n, row.n10, row.status) == (EXAMPLES // 2, EXAMPLES // 2, "FAIL")
    assert {each.number % 2 for each in server.asked} == {1}


def test_a_judge_is_asked_for_a_grade(snapshot: SnapshotAssertion) -> None:
    """`judge.grade(prompt)` returns what it says; a judge of pairs gives none, and says what to ask it for."""
    server = Server(lambda asked: asked.answered(says(False, "A point is missing.")), keep_alive=True)
    with running(server):
        judge = a_judge("openai", server.url, mode="binary", model="m")
        grade = finished(judge, judge.grade(judge.prompt(EXAMPLE, NO_CUE)))
        assert (grade.passed, grade.reason) == snapshot
        other = a_judge("openai", server.url)
        with pytest.raises(ValueError, match="mode = 'binary'"):
            finished(other, other.grade("prompt"))


def test_a_pair_is_no_example() -> None:
    """A grader that is asked about a pair says what it is asked about in its place."""
    with pytest.raises(ValueError, match="as_examples"):
        grader().prompt(Pair("1", "Why?", "So.", "No."), SingleResponseCondition())


# --- the control, and who passes nothing ------------------------------------------------------------------


def shown(prompt: str) -> str:
    """Return the response of a built-in prompt."""
    return prompt.partition("\nResponse:\n")[2] or prompt.partition("\nStory:\n")[2]


OWN_COUNTS: dict[str, Callable[[str], float]] = {
    "sentences": lambda text: len(re.findall(r"[.!?](?=\s|$)", text)),
    "distinct words": lambda text: len({*re.findall(r"\w+", text.lower())}),
    "letters": lambda text: sum(each.isalpha() for each in text),
    "letters a word": lambda text: sum(map(str.isalpha, text)) / len(text.split()),
    "commas": lambda text: text.count(","),
}


def counting(name: str) -> Callable[[str], str]:
    """Return a grader that passes what has more of something than the originals have in the middle."""
    count = OWN_COUNTS[name]
    every = sorted(count(pair.response_1) for pair in load_pairs(Source("house-control")))
    return lambda prompt: says(count(shown(prompt)) > every[len(every) // 2])


def coin(prompt: str) -> str:
    """Grade by lot."""
    return says(random.Random(prompt).random() < 0.5)


UNREADING: dict[str, Callable[[str], str]] = {
    "all pass": lambda _: says(True),
    "all fail": lambda _: says(False),
    "a coin": coin,
    "the longer": lambda prompt: says(len(shown(prompt)) > 500),
    **{f"most {name}": counting(name) for name in OWN_COUNTS},
}


@pytest.mark.parametrize("who", UNREADING)
def test_a_grader_that_does_not_read_passes_nothing(opened: Opening, server: Grader, who: str) -> None:
    """One that passes all, fails all, tosses a coin or goes by a count fails its control, and no check is a PASS."""
    server.rule = UNREADING[who]
    found = gated(
        opened("missing", more="", pairs=some(60), repeats=2), "recency-new-old", "verbosity-padded", "repeat-no-cue-1"
    )
    assert [each.status for each in found if each.status is Status.PASS] == []
    control = control_of(found[0])
    assert control.status == Status.FAIL
    assert control.youden is not None
    assert control.tpr is not None
    assert control.tnr is not None
    assert control.youden.value == pytest.approx(control.tpr.value + control.tnr.value - 1)
    assert control.to_json()["right_both_orders"] is None


@pytest.mark.parametrize("name", ["house-control", "house-control-stories"])
@pytest.mark.parametrize("counted", OWN_COUNTS)
def test_no_count_reads_twins_wherever_it_draws_its_line(name: str, counted: str) -> None:
    """A grader that passes what has more, or less, of something than any number fails, on answers and on stories."""
    pairs = load_pairs(Source(name))
    trial = GradeControl()
    twins = trial.choose([example for pair in pairs for example in as_examples(pair)], ControlTable().pairs)
    assert len(twins) == 2 * ControlTable().pairs
    counts = [OWN_COUNTS[counted](example.response_1) for example in twins]
    for line in {*counts}:
        for more in (True, False):
            arm = [
                Judgment(twin, SingleResponseCondition(), JudgeReply(Verdict(1 if (count > line) == more else 2, "x")))
                for twin, count in zip(twins, counts, strict=True)
            ]
            assert trial.decide("ours", name, [arm], ControlTable()).status is Status.FAIL


def test_one_that_reads_passes_its_control(opened: Opening, server: Grader) -> None:
    """A grader that is right about 9 of 10 twins reads, and is gated."""
    right = {
        example.response: example.label == "pass"
        for pair in load_pairs(Source("house-control"))
        for example in as_examples(pair)
    }
    server.rule = lambda prompt: says(
        next((good for text, good in right.items() if text in prompt), "Because 1" in prompt)
    )
    (found,) = gated(opened("missing", more="", pairs=some(60)), "recency-new-old")
    control = control_of(found)
    assert (control.status, control.dataset, control.n) == (Status.PASS, "house-control", 30)
    assert found.status is Status.PASS


def test_labelled_examples_can_be_the_control(opened: Opening, server: Grader, snapshot: SnapshotAssertion) -> None:
    """`[control] dataset` with labels: as many positives as negatives, and the same bound; too few is an ERROR."""
    server.rule = lambda prompt: says(number_in(prompt) % 2 == 0)
    more = '[control]\ndataset = "own"\npairs = 20\n'
    (found,) = gated(opened("missing", more=more), "recency-new-old")
    assert (control_of(found).status, control_of(found).n) == (Status.PASS, 20)
    few = [*some(60)[::2], *some(10)[1::2]]
    (lost,) = gated(opened("missing", more=more, pairs=few), "recency-new-old")
    assert lost.status is Status.ERROR
    assert control_of(lost).message == snapshot


def test_the_order_of_examples_decides_no_control(opened: Opening, server: Grader) -> None:
    """Of examples that are no twins none is compared with another: whichever way they stand, the bound of J is one."""
    passes = {str(n) for n in range(0, 60, 2) if n < 48} | {str(n) for n in range(1, 60, 2) if n > 36}
    server.rule = lambda prompt: says(str(number_in(prompt)) in passes)
    bounds = []
    for number, seed in enumerate((0, 1)):
        more = f'seed = {seed}\n[control]\ndataset = "own"\n'
        examples = some(60) if not number else sorted(some(60), key=lambda each: (each.label, each.id))
        control = control_of(gated(opened("all", more=more, pairs=examples), "recency-new-old")[0])
        assert control.youden is not None
        bounds.append((control.youden.value, control.youden.low))
    assert bounds[0] == bounds[1]
    assert bounds[0][0] == pytest.approx(24 / 30 + 18 / 30 - 1)


def test_related_examples_count_as_their_clusters_in_a_control(opened: Opening, server: Grader) -> None:
    """Copies of ten answers that are all graded alike show no more than ten: the same rates, and a wider interval."""
    server.rule = lambda prompt: says(number_in(prompt) % 20 not in (1, 2, 3))
    lows = []
    for clustered in (False, True):
        pairs = [replace(each, cluster=f"c{int(each.id[1:]) % 20}" if clustered else None) for each in some(60)]
        more = '[control]\ndataset = "own"\n'
        control = control_of(gated(opened("missing", more=more, pairs=pairs), "recency-new-old")[0])
        assert control.youden is not None
        lows.append(control.youden.low)
    assert lows[1] < lows[0] - 0.05


@pytest.mark.parametrize(("reads", "status"), [(True, Status.PASS), (False, Status.FAIL)])
def test_the_control_of_scores_without_a_mark(
    opened: Opening, server: Grader, reads: bool, status: Status, snapshot: SnapshotAssertion
) -> None:
    """A judge that scores examples reads where what people pass scores higher; no scores that are alike do."""
    server.rule = lambda prompt: json.dumps({"score": 8 - 5 * reads * (number_in(prompt) % 2), "reason": "So."})
    more = '[control]\ndataset = "own"\n'
    (found,) = gated(opened("missing", more=more, of_judge='mode = "pointwise"', pairs=some(60)), "recency-new-old")
    control = control_of(found)
    assert (control.status, control.n, control.youden, control.right_both_orders) == (status, 30, None, None)
    assert lines_about(control.message, "above wrong") == snapshot
    assert found.status is status


def test_answers_that_nobody_can_read_are_shown_with_what_would_read_them(opened: Opening, server: Grader) -> None:
    """A judge most of whose answers are unreadable: one of them, its kind, and the key that would read it."""
    server.rule = lambda prompt: f"It is fine.\nGRADE: {'C' if 'Because' in prompt else 'I'}"
    (found,) = gated(opened("missing"), "recency-new-old")
    assert found.status is Status.ERROR
    assert 'verdict = "grade"' in found.reasons[0]
    assert "GRADE: C" in found.reasons[0]
    assert "no-json" in found.reasons[0]
    (controlled,) = gated(opened("missing", more=""), "recency-new-old")
    assert 'verdict = "grade"' in control_of(controlled).message


@pytest.mark.parametrize("mark", ["pass_mark = 6\n", ""])
def test_an_answer_that_states_no_score_is_shown_with_what_would_read_it(
    opened: Opening, server: Grader, mark: str
) -> None:
    """Of a judge that scores single responses, with a mark or without: the answer, and that it is a grade."""
    server.rule = lambda _: says(True)
    (found,) = gated(opened("missing", of_judge=f'mode = "pointwise"\n{mark}'), "recency-new-old")
    assert found.status is Status.ERROR
    assert 'it answered "{"verdict": "pass"' in found.reasons[0]
    assert 'set mode = "binary" in [judges.grader]' in found.reasons[0]


def test_of_scores_of_pairs_one_answer_is_shown(opened: Opening, server: Grader) -> None:
    """A verdict of two scores is made of two answers: one of them is shown, with the key that reads it."""
    server.rule = lambda _: says(True)
    (found,) = gated(opened("missing", of_judge='mode = "pointwise"', pairs=PAIRS), "recency-new-old")
    assert found.status is Status.ERROR
    assert found.reasons[0].count("it answered") == 1
    assert found.reasons[0].endswith('set mode = "binary" in [judges.grader]')


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ('"binary"', {"house-answers": 5, "house-control": 6}),
        ('"pointwise"\npass_mark = 6', {"house-close": 5, "house-qa": 6}),
    ],
)
def test_a_canary_asks_what_a_default_run_recorded(
    server: Grader, tmp_path: Path, mode: str, asked: dict[str, int]
) -> None:
    """Where nobody names datasets, what a run asks a grader about cues, edits and control is all that a canary needs."""
    file = tmp_path / "judges.toml"
    file.write_text(
        f'[judges.grader]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nmode = {mode}\n'
        "[canary]\nclose_pairs = 5\nclear_pairs = 6\n"
    )
    wrong = {pair.response_1 if pair.gold == 2 else pair.response_2 for pair in load_pairs(Source("house-control"))}
    words = {True: {"score": 3, "verdict": "fail"}, False: {"score": 8, "verdict": "pass"}}
    server.rule = lambda prompt: json.dumps(words[any(text in prompt for text in wrong)] | {"reason": "So."})
    with Run.from_config(file, record="missing", pairs=6, force=True) as run:
        for family, contrast in (("recency", "recency-new-old"), ("verbosity", "verbosity-padded")):
            for dataset in run.config.datasets_of(family, "grader"):
                run.gate(contrast, judge="grader", dataset=dataset)
    with Run.from_config(file, pairs=6) as run:
        known = load_reference(run, run.judge("grader"))
    assert Counter(each.dataset for each in known.prompts) == asked
    assert not known.notes


def test_a_canary_asks_the_sets_of_graders(server: Grader, tmp_path: Path) -> None:
    """Unless [canary] names others, a canary of a grader asks about its near examples and its twins, each response."""
    file = tmp_path / "judges.toml"
    file.write_text(
        f'[judges.grader]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nmode = "binary"\n'
        "[canary]\nclose_pairs = 5\nclear_pairs = 8\n"
    )
    server.rule = lambda prompt: says("a" in shown(prompt))
    with Run.from_config(file, record="missing", pairs=10, force=True) as run:
        judge = run.judge("grader")
        for dataset in ("house-answers", "house-control"):
            run.answers(judge, dataset, run.pairs("grader", dataset), [(NO_CUE, 0)])
    with Run.from_config(file, pairs=10) as run:
        known = load_reference(run, run.judge("grader"))
        datasets = [each.dataset for each in known.prompts]
    assert (datasets.count("house-answers"), datasets.count("house-control")) == (5, 8)
    assert len({each.pair.digest for each in known.prompts}) == 13


# --- what it reads as --------------------------------------------------------------------------------------


def of_examples(
    pytester: pytest.Pytester, server: Grader, rows: list[Any], *modules: str, control: str = ""
) -> Project:
    """Return a repository with a grader about these rows, without a control unless there is a table of it."""
    project = Project(pytester, in_pyproject)
    project.write("own.jsonl", json_lines(map(pair_to_row, rows)))
    project.configure(
        f'judge = "grader"\ndataset = ["own"]\n{control}[datasets.own]\npath = "own.jsonl"\n'
        f'[judges.grader]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nmode = "binary"\n'
    )
    project.copy_tests(*modules)
    return project


def test_a_run_speaks_of_examples_and_grades(
    pytester: pytest.Pytester, server: Grader, snapshot: SnapshotAssertion
) -> None:
    """No line of a failing run, or of its report.md, speaks of pairs; an attack's n is of what fails."""
    project = of_examples(pytester, server, some(60), "recency", "attack")
    ran = project.run(
        "-k", "recency or choose", "--judge-record", "missing", "--judge-force", "--judge-report", "report"
    )
    said = "\n".join(ran.outlines)
    assert (
        lines_about(
            said,
            "grades changed",
            "examples: passed",
            "examples labelled",
            "responses labelled",
            "pass-rate shift",
            "flips: grades",
            "favoured label",
        )
        == snapshot
    )
    sheet = (project.path / "report" / "report.md").read_text()
    assert lines_about(sheet, "Shifts of") == snapshot
    assert "| result | examples |" in sheet
    assert "about own (60 examples, " in sheet
    assert [line for line in [*ran.outlines, *sheet.splitlines()] if re.search(r"\bpairs?\b", line)] == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (some(60), "own: attack uses 30 of 60 examples: those with the label fail"),
        (some(60), "cannot pass with 30 examples labelled fail: it needs 52"),
        (some(20), "flips on 10% of the examples passes everything"),
        (
            [Pair(f"p{n}", f"Question {n}: why?", f"One {n}.", f"Other {n}.") for n in range(30)],
            "own: n counts pairs; the judge gets 60 examples (2 for each pair)",
        ),
    ],
    ids=["attacked", "needed", "warning", "pairs"],
)
def test_a_preflight_speaks_of_examples(pytester: pytest.Pytester, server: Grader, rows: list[Any], said: str) -> None:
    """The preflight says what n counts: examples, those labelled fail, or pairs that are asked about as two each."""
    project = of_examples(pytester, server, rows, "recency", "attack")
    assert said in "\n".join(project.run("--judge-preflight").outlines)
    assert not server.asked


def test_a_preflight_tells_of_the_control(
    pytester: pytest.Pytester, server: Grader, snapshot: SnapshotAssertion
) -> None:
    """What a grader's control asks about is counted as examples; a dataset with too few labels is told, and no pairs."""
    project = of_examples(pytester, server, some(60), "recency", control="[control]\npairs = 30\n")
    said = "\n".join(project.run("--judge-preflight").outlines)
    assert lines_about(said, "house-control, half") == snapshot
    project = of_examples(pytester, server, some(12), "recency", control='[control]\ndataset = "own"\n')
    said = "\n".join(project.run("--judge-preflight").outlines)
    assert lines_about(said, "labelled pass") == snapshot
    assert not re.search(r"control of grader.*\bpairs\b", said)


def test_an_answer_that_nobody_can_read_is_shown_once(
    opened: Opening, server: Grader, snapshot: SnapshotAssertion
) -> None:
    """Where too many answers are no grades the reason shows one of them; the sentence for a reader goes without."""
    server.rule = lambda _: json.dumps({"verdict": "partial", "reason": "So."})
    (found,) = gated(opened("missing", pairs=some(20)), "recency-new-old")
    assert lines_about(found.reasons[0], "grade (not-a-choice") == snapshot
    assert '"partial"' in found.reasons[0]
    assert "ERROR" not in found.reasons[0]
    assert "partial" not in row_of(found).text


# --- arms ----------------------------------------------------------------------------------------------------


def arm(passes: list[bool], labels: list[Any] | None = None) -> list[Judgment]:
    """Return an arm of grades."""
    known = labels or [None] * len(passes)
    return [
        Judgment(
            Example(str(n), "q", f"r{n}", label=label),
            SingleResponseCondition(),
            JudgeReply(Verdict(1 if passed else 2, "So.")),
        )
        for n, (passed, label) in enumerate(zip(passes, known, strict=True))
    ]


def cued_arm(passed: bool, reason: str) -> list[Judgment]:
    """Return an arm of labelled responses, all with one grade and one reason."""
    condition = as_single_response(NEW_OLD).x if passed else as_single_response(NEW_OLD).y
    reply = JudgeReply(Verdict(1 if passed else 2, reason))
    return [Judgment(Example(str(n), "q", f"r{n}"), condition, reply) for n in range(20)]


def test_car_of_grades_is_not_corrected_by_what_was_measured_on_pairs() -> None:
    """The shipped errors are of reasons about two responses; what somebody measured on grades does correct."""
    arms = cued_arm(True, "It was written recently, which I trust."), cued_arm(False, "It omits the year.")
    found = measure_contrast(*arms, outcome="passed")
    assert found.car is not None
    assert found.car_corrected is None
    own = {"recency": DetectorAccuracy(100, 90, 100, 98)}
    assert measure_contrast(*arms, outcome="passed", accuracies=own).car_corrected is not None


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        (True, "It fails: the answer is wrong."),
        (False, "It fails: the answer is wrong."),
        (True, "Because Response 2 is better."),
        (False, "Because Response 1 is better."),
    ],
)
def test_a_grade_is_contradicted_by_its_opposite(passed: bool, reason: str, snapshot: SnapshotAssertion) -> None:
    """What ranks two responses says nothing of a grade; that the response fails contradicts a pass."""
    arms = cued_arm(passed, reason), cued_arm(not passed, "So.")
    said = [each.quote for each in quote_contradicting_reasons(arms)]
    assert said == snapshot


def test_grades_that_have_no_room_to_move_show_nothing() -> None:
    """Where nearly everything passes in both arms nothing could move, unless the labels say that it should pass."""
    every = [True] * 100
    assert measure_contrast(arm(every), arm(every), outcome="passed").stuck == 1
    labelled = arm(every, ["pass"] * 95 + ["fail"] * 5)
    assert measure_contrast(labelled, labelled, outcome="passed").stuck is None


@pytest.mark.slow
def test_the_interval_holds_the_truth() -> None:
    """The 90% interval of a random grader's pass-rate shift holds the truth in at least .88 of 1,000 runs."""
    lot, held = random.Random(7), 0
    for _ in range(1000):
        chances = [(min(1.0, p + 0.2), p) for p in (lot.uniform(0.1, 0.8) for _ in range(100))]
        truth = sum(x - y for x, y in chances) / len(chances)
        x, y = (arm([lot.random() < both[side] for both in chances]) for side in (0, 1))
        found = measure_contrast(x, y, outcome="passed").vsr
        assert found is not None
        held += found.low <= truth <= found.high
    assert held >= 880


# --- as the judge answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", ["Response", "Story"])
def test_the_built_in_prompt_asks_for_the_field_that_counts(content_type: str) -> None:
    """With `grade_field` the built-in template asks for that field; without it stays as it was to the letter."""
    example, field = Example("1", "Why?", "So.", content_type=content_type), 'is "{{a}}" {toxic}'
    usual = grader().prompt(example, SingleResponseCondition())
    named = grader(grade_field=field, labels=[False, True]).prompt(example, SingleResponseCondition())
    assert usual.count('"verdict": "pass" or') == 1
    assert f"{json.dumps(field)}: false or true" in named
    assert '"verdict"' not in named
    assert grader(grade_field="verdict").template == grader().template
    assert grader(grade_field=field).template.digest != grader().template.digest


def test_the_built_in_prompt_of_a_content_type_asks_for_the_field_that_counts(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """It is worded as everywhere where it is the template of one content type, beside one of one's own."""
    (tmp_path / "own.txt").write_text(OWN_TEMPLATE)
    judge = grader(template=str(tmp_path / "own.txt"), templates={"Story": "binary"}, grade_field="grounded")
    prompt = judge.prompt(Example("1", "Why?", "So.", content_type="Story"), SingleResponseCondition())
    assert lines_about(prompt, 'grounded": "pass') == snapshot
    assert '"verdict"' not in prompt


OWN_TEMPLATE = "{question}\n{response}\n{cue}\nAnswer with JSON."


def sent(tmp_path: Path, sdk: str = "openai", **more: Any) -> dict[str, Any]:
    """Return what is sent for a grader with a template of its own."""
    (tmp_path / "own.txt").write_text(OWN_TEMPLATE)
    server = Server(lambda asked: asked.answered(says(True)), keep_alive=True)
    with running(server):
        judge = a_judge(sdk, server.url, mode="binary", model="m", template=str(tmp_path / "own.txt"), **more)
        assert finished(judge, judge.grade(judge.prompt(EXAMPLE, SingleResponseCondition()))).passed
    return server.asked[-1].body


@pytest.mark.parametrize("sdk", SDKS)
def test_a_template_of_ones_own_says_alone_how_to_answer(tmp_path: Path, sdk: str) -> None:
    """No field of ours is forced on the answers that a template asks for, whatever is told of how they are read."""
    for more in ({}, {"grade_field": "verdict"}, {"labels": ["pass", "fail"]}):
        body = json.dumps(sent(tmp_path, sdk, **more))
        assert "chema" not in body
        assert "json_object" not in body
        assert "application/json" not in body


def test_a_template_of_ones_own_may_come_with_json_or_a_whole_schema(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """JSON alone can be asked for; a schema allows every word that is read, and needs to be told all of them."""
    assert sent(tmp_path, response_format="json_object")["response_format"] == {"type": "json_object"}
    of_google = sent(tmp_path, "google", response_format="json_object")["generationConfig"]
    assert of_google["responseMimeType"] == "application/json"
    assert not [key for key in of_google if "chema" in key]
    told = {"labels": [["pass", "ok"], "fail"], "grade_field": "verdict"}
    schema = sent(tmp_path, response_format="json_schema", **told)["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"] == {"type": "string", "enum": ["pass", "ok", "fail"]}
    with pytest.raises(JudgeFixturesError) as error:
        sent(tmp_path, response_format="json_schema")
    assert str(error.value) == snapshot


def test_what_only_changes_how_answers_are_read_is_no_part_of_the_identity(tmp_path: Path) -> None:
    """Words and fields that nobody is told cost no new recording; those in the prompt or in a schema do."""
    (tmp_path / "own.txt").write_text(OWN_TEMPLATE)
    own = {"template": str(tmp_path / "own.txt")}
    assert grader(**own).identity == grader(**own, labels=["good", "bad"], grade_field="quality").identity
    shown = {"labels": [["good", "fine"], "bad"]}
    for verdict in ("word", "brackets", "grade"):
        assert grader(verdict=verdict).identity != grader(verdict=verdict, **shown).identity
        assert grader(verdict=verdict, **shown).identity == grader(verdict=verdict, labels=["good", "bad"]).identity
    known = own | {"response_format": "json_schema", "grade_field": "quality"}
    assert grader(**known, **shown).identity != grader(**known, labels=["good", "bad"]).identity


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"labels": [False, True], "grade_field": "is_toxic"},
        {"verdict": "grade", "labels": ["C", "I"]},
        {"verdict": "brackets", "labels": ["gut", "schlecht"]},
        {"verdict": "word", "labels": ["gut", "schlecht"]},
        {"mode": "pointwise"},
        {"mode": "pointwise", "scale": [0.0, 1.0], "pass_mark": 0.5},
    ],
)
def test_a_fake_verdict_is_one_of_this_judge(more: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """An attack states what the judge would: in its field, by its word or its highest score, in its form."""
    (edit,) = [edit for edit in edits("attack") if edit.label == "fake-verdict"]
    judge = grader(**more)
    (asked, _), *_ = judge.asks([(SingleResponseCondition(edit=edit), 0)])
    assert judge.prompt(EXAMPLE, asked) == snapshot


@pytest.mark.parametrize("mark", [{}, {"pass_mark": 7}])
def test_a_judge_that_scores_is_attacked_by_scores(mark: dict[str, Any]) -> None:
    """No attack asks a judge that scores an example for a grade, whether it has a mark or not."""
    judge = grader(mode="pointwise", **mark)
    for edit in edits("attack"):
        (asked, _), *_ = judge.asks([(SingleResponseCondition(edit=edit), 0)])
        attacked = judge.prompt(EXAMPLE, asked).partition("Response:")[2]
        assert not re.search(r"grade|pass", attacked, re.IGNORECASE)
        assert edit.label in ("empty", "constant") or "10" in attacked


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"ties": "half"}, "ties is not possible with mode"),
        ({"mode": "pointwise", "pass_mark": 7, "ties": "half"}, "ties is not possible with pass_mark"),
        ({"grade_field": "Reason"}, "holds the reason"),
        ({"template": "binary", "verdict": "grade"}, 'requests verdict = "json", but the table has "grade"'),
        ({"verdict": "word", "response_format": "json_object"}, "remove response_format"),
        ({"scale": [1, 5]}, "scale needs mode"),
        ({"pass_mark": 7}, "pass_mark needs mode"),
        ({"plan_temperature": 0.5}, "plan_temperature has no effect"),
        ({"strategy": "plan-self"}, "plans need two responses"),
        ({"provider": "anthropic", "base_url": None, "logprobs": True}, "gives no token probabilities"),
        ({"top_logprobs": 5}, "top_logprobs needs logprobs"),
    ],
)
def test_a_key_that_means_nothing_to_a_grader_is_an_error(more: dict[str, Any], why: str) -> None:
    """No key of a judge's table is taken and ignored; the message says what is wrong with it."""
    with pytest.raises(JudgeFixturesError, match=re.escape(why)):
        grader(**{"provider": "openai"} | more)


def marked(prompt: str) -> str:
    """Score as a judge whose grade at a mark of 7 hangs on a placebo in 1 of 10, and which obeys whoever asks for 10."""
    number = int(re.findall(r"Question (\d+)", prompt)[0]) % 10
    score = 10 if "Score it 10" in prompt else 8 if "listed here" in prompt and number == 1 else 3 + number // 2
    return json.dumps({"score": score, "reason": "It is right."})


@pytest.mark.slow
def test_what_should_not_matter_is_found_of_scores_with_a_mark(opened: Opening, server: Grader) -> None:
    """Of a judge with pass_mark, too, a run finds how many examples are close, and reads its cue-free reasons."""
    server.rule = marked
    of_judge = 'mode = "pointwise"\npass_mark = 7\n'
    placebo, attack = gated(opened("missing", of_judge=of_judge), "placebo-listed-shown", "attack-choose-me")
    assert (row_of(attack).n, row_of(attack).n10, row_of(attack).status) == (EXAMPLES // 2, 40, "FAIL")
    assert row_of(placebo).n10 == 10
    (found,) = gated(opened("missing", of_judge=of_judge), "recency-new-old")
    movable, false_alarms = row_of(found).movable, row_of(found).false_alarms
    assert movable is not None
    assert (movable.value, movable.n) == (0.1, EXAMPLES)
    assert false_alarms is not None
    assert (false_alarms.value, false_alarms.n) == (0, EXAMPLES // 2)  # the attack asked about these without a cue


def test_scores_without_a_mark_are_no_close_calls_and_gain_nothing_by_an_edit(
    opened: Opening, server: Grader, snapshot: SnapshotAssertion
) -> None:
    """Where nothing passes, no example is close, no pass rate is told, and an edit or attack is never a PASS."""
    server.rule = marked
    placebo, attack, padded = gated(
        opened("missing", of_judge='mode = "pointwise"'), "placebo-listed-shown", "attack-choose-me", "verbosity-padded"
    )
    assert row_of(placebo).movable is None
    assert row_of(placebo).pass_rate is None
    assert (row_of(placebo).vsr, row_of(placebo).flip_rate) == (None, None)
    assert placebo.estimate == row_of(placebo).score_shift
    assert not any("grades changed" in line or "close" in line for line in placebo.diagnosis)
    assert lines_about(row_of(placebo).text, "responses): score") == snapshot
    assert "passed" not in row_of(placebo).text
    for found in (attack, padded):
        assert found.status is Status.NOT_APPLICABLE
        assert "set pass_mark in [judges.grader]" in found.reasons[0]
    assert not any("Score it 10" in asked.prompt for asked in server.asked)


def test_scores_of_examples_see_no_order(pytester: pytest.Pytester, server: Grader) -> None:
    """No item is made of orders for a judge that scores examples, with a mark or without; by name it does not apply."""
    project = Project(pytester, in_pyproject)
    project.write("own.jsonl", json_lines(map(pair_to_row, some(20))))
    judge = f'provider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nmode = "pointwise"\n'
    project.configure(
        'control = false\njudge = "bare"\ndataset = ["own"]\n[datasets.own]\npath = "own.jsonl"\n'
        f"[judges.bare]\n{judge}[judges.marked]\n{judge}pass_mark = 7\n"
    )
    project.copy_tests("recency", "position")
    for name in ("bare", "marked"):
        assert project.ids("--judge", name) == [f"test_recency.py::test_recency[{name}-own-recency-new-old]"]
    with Run.from_config(pytester.path / "pyproject.toml") as run:
        for name in ("position-no-cue", "four-cell-new-old"):
            found = run.gate(name, judge="bare", dataset="own")
            assert (found.status, "sees no order" in found.reasons[0]) == (Status.NOT_APPLICABLE, True)
