"""Scores that are there already: the log of a judge that scores becomes an imported judge, and a mark makes grades."""

from __future__ import annotations

import json
import math
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.importing import Rows, Tool, answers, importer
from support.importing import run as run_judge
from support.project import Project, Ran, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.config import judge_table
from judgefixtures.importers import formats, log_files
from judgefixtures.importers.imported_answers import (
    SCORES,
    AnswerKeyFields,
    Imported,
    ImportedAnswer,
    Imports,
    LogSource,
    mirrored_condition,
    name_without_order,
    read_imported,
    shown_texts_digest,
    write_imported,
)
from judgefixtures.importers.score_rows import are_scores, likely_scale, middle_of_scale, parse_number
from judgefixtures.judges.mode import mode_class
from judgefixtures.models.contrasts import Condition, SingleResponseCondition, conditions, contrasts
from judgefixtures.models.pairs import Example, Pair, as_examples, swap_responses
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

N = 60
LABELS = ["fail", "pass"]


def examples(n: int = N) -> Rows:
    """Return labelled examples, every second of which passes."""
    return [
        {"id": f"e{i:02}", "question": f"Question {i}?", "response": f"This, {i}.", "label": LABELS[i % 2]}
        for i in range(n)
    ]


def score_of(i: int) -> float | None:
    """Return what a judge says that is mostly right from 6 on: one that fails has an 8, and one has no score."""
    return 8 if i == 10 else None if i == 31 else 6 + i % 4 if i % 2 else 1 + i % 5


def log(say: Callable[[int], Any] = score_of, *, n: int = N, **more: Any) -> Rows:
    """Return the rows of a log of scores."""
    return [{"id": f"e{i:02}", "score": say(i), "reason": "It names the year.", **more} for i in range(n)]


def pairs(n: int = 40) -> Rows:
    """Return pairs with gold, as often on either side."""
    return [
        {"id": f"p{i:02}", "question": f"Q {i}?", "response_1": f"A {i}.", "response_2": f"B {i}.", "gold": 1 + i % 2}
        for i in range(n)
    ]


def two_of(i: int) -> tuple[int, int]:
    """Return both scores of a pair: the better response has more, but for every fifth, and some have as many."""
    better, other = (7, 5) if i % 5 else (4, 4) if i % 10 else (3, 6)
    return (better, other) if i % 2 == 0 else (other, better)


def log_of_pairs(say: Callable[[int], Sequence[Any]] = two_of, n: int = 40, **more: Any) -> Rows:
    """Return the rows of a log of two scores each."""
    return [dict(zip(("id", "score_1", "score_2"), (f"p{i:02}", *say(i)), strict=True), **more) for i in range(n)]


def table(name: str = "mine", **keys: Any) -> str:
    """Return the table of an imported judge that scores."""
    said = {"provider": "imported", "mode": "pointwise", "scale": [1, 10], **keys}
    return f"[judges.{name}]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in said.items() if value is not None
    )


MARKED = table(pass_mark=6)
OWN = '[datasets.own]\npath = "examples.jsonl"\n[datasets.two]\npath = "pairs.jsonl"\n'
GATE = "[gate.agreement]\nmin_kappa = 0.6\n[gate.accuracy]\nmin_accuracy = 0.5\n[swap]\nfamilies = []\n"
OF_PAIRS = ("--dataset", "two")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with examples and pairs, an imported scorer with a mark, and a few tests of the suite."""
    project = Project(pytester, lambda tables=MARKED + OWN + GATE: in_pyproject(tables), fresh=True)
    project.copy_tests("agreement", "accuracy", "recency", "noise", "swap", "position")
    project.write_pairs(examples(), "examples.jsonl")
    project.write_pairs(pairs(), "pairs.jsonl")
    project.configure()
    return project


@pytest.fixture
def take(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import rows as the command does, and return what it says."""
    return importer(project, capsys)


def run(project: Project, *arguments: str, dataset: str = "own") -> Ran:
    """Run the judge `mine` on one of the datasets, with a report."""
    return run_judge(project, "--judge-dataset", dataset, *arguments)


def cells_of(rows: Rows, mark: float) -> tuple[int, int, int, int]:
    """Return TP, FN, FP and TN of scores that pass from a mark on; one that is lacking is wrong."""
    passed = {row["id"]: None if row["score"] is None else float(row["score"]) >= mark for row in rows}
    cells = [(example["label"], passed[example["id"]]) for example in examples() if example["id"] in passed]
    tp, tn = cells.count(("pass", True)), cells.count(("fail", False))
    of = [label for label, _ in cells]
    return tp, of.count("pass") - tp, of.count("fail") - tn, tn


def kappa_of(tp: int, fn: int, fp: int, tn: int) -> float:
    """Return Cohen's kappa of a table."""
    n = tp + fn + fp + tn
    chance = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n**2
    return ((tp + tn) / n - chance) / (1 - chance)


# --- of one response, with a mark -------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [lambda score: score, lambda score: score if score is None else f" {score:.1f} "])
def test_scores_with_a_mark_are_held_against_labels(
    project: Project, take: Callable[..., str], write: Callable[[float | None], Any], snapshot: SnapshotAssertion
) -> None:
    """What is printed is all it takes: the scores pass from its mark on, numbers and texts that are numbers alike."""
    project.configure("")
    rows = log(lambda i: write(score_of(i)))
    said = take(rows, "--pairs", "examples.jsonl")
    scores = [score for i in range(N) if (score := score_of(i)) is not None]
    assert f"no-cue: scored 59, from 1 to 9, mean {sum(scores) / 59:.3g}; by pass_mark = 5.5 passed " in said
    assert said.count("1 without a score") == 1
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    assert lines_about(added, '= "pointwise', "scale =", "score that passes") == snapshot
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    ran.assert_outcomes(passed=1)
    (row,) = ran.report["agreement"]
    cells = cells_of(log(), 5.5)
    assert (row["tp"], row["fn"], row["fp"], row["tn"], row["invalid"]) == (*cells, 1)
    assert (row["n"], row["kappa"]["value"]) == (N, pytest.approx(kappa_of(*cells)))
    judgments = {each["pair"]: each for each in ran.rows("judgments")}
    assert all(each["imported"] for each in judgments.values())
    assert judgments["e10"]["scores"] == [8]
    assert judgments["e31"]["invalid"] == "not-a-choice"


@pytest.mark.parametrize("mark", [3, 6, 8.5])
def test_another_mark_needs_no_new_import(project: Project, take: Callable[..., str], mark: float) -> None:
    """The mark changes which scores pass, and neither what is imported nor whose answers they are."""
    take(log())
    before, identity = answers(project), run(project, "-k", "agreement").report["judges"]["mine"]
    project.configure(table(pass_mark=mark) + OWN + GATE)
    report = run(project, "-k", "agreement").report
    (row,) = report["agreement"]
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == cells_of(log(), mark)
    assert report["judges"]["mine"] == identity
    assert (identity["mode"], identity["scale"]) == ("pointwise", [1, 10])
    take(log())
    assert answers(project) == before


def test_repeats_of_grades_are_flips(project: Project, take: Callable[..., str]) -> None:
    """With a mark a repeat that crosses it is a flip, and one that does not is none; points are shown beside."""
    again = {1: 5, 2: 4, 4: 9}
    take([*log(repeat=1), *log(lambda i: again.get(i, score_of(i)), repeat=2)])
    (row,) = run(project, "-k", "noise", "--judge-repeats", "2").report["contrasts"][:1]
    both = [(score_of(i), again.get(i, score_of(i))) for i in range(N)]
    valid = [(a, b) for a, b in both if a is not None and b is not None]
    flips = sum((a >= 6) != (b >= 6) for a, b in valid)
    assert (row["n"], row["flip_rate"]["value"]) == (len(valid), pytest.approx(flips / len(valid)))
    assert row["score_shift"]["value"] == pytest.approx(sum(a - b for a, b in valid) / len(valid))


def test_cues_of_the_log_shift_scores(project: Project, take: Callable[..., str]) -> None:
    """Rows with a cue of ours are arms of its contrast: the pass rate and the points shift as they do in the log."""

    def newer(i: int) -> float | None:
        score = score_of(i)
        return score and min(10, score + 2)

    take([*log(), *log(newer, condition="recency-new"), *log(condition="recency-old")])
    (row,) = run(project, "-k", "recency").report["contrasts"]
    both = [(newer(i), score_of(i)) for i in range(N)]
    valid = [(a, b) for a, b in both if a is not None and b is not None]
    assert (row["n10"], row["n01"]) == (sum(b < 6 <= a for a, b in valid), 0)
    assert row["score_shift"]["value"] == pytest.approx(sum(a - b for a, b in valid) / len(valid))
    assert row["score_status"] == "FAIL"


@pytest.mark.parametrize(
    ("say", "status"), [(score_of, "PASS"), (lambda _: 7, "FAIL"), (lambda i: 3 + i // 2 % 2 * 4, "NOT_APPLICABLE")]
)
def test_the_control_is_that_of_a_grader(
    project: Project, take: Callable[..., str], say: Callable[[int], Any], status: str, snapshot: SnapshotAssertion
) -> None:
    """Where it has a mark, a scorer of a log is controlled on its own labels: 30 that pass and 30 that fail."""
    project.configure(MARKED + OWN + GATE + "[control]\npairs = 30\n")
    take(log(say))
    (found,) = run(project, "-k", "agreement").report["controls"]
    assert (found["n"], found["status"]) == (30, status)
    assert found["message"] == snapshot


# --- of one response, without a mark ----------------------------------------------------------------------------


def test_without_a_mark_the_points_are_what_is_gated(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Repeats show how far scores differ, in points; what takes a grade names pass_mark, and nothing of it passes."""
    project.configure(table() + OWN + GATE)

    def again(i: int) -> float | None:
        score = score_of(i)
        return score and max(1, score + (i % 3 == 0) - (i % 3 == 1))

    said = take([*log(repeat=0), *log(again, repeat=1)])
    assert "; no pass_mark in [tool.judgefixtures.judges.mine]; 1 without a score" in said
    assert "then: pytest -k noise --judge mine" in said
    ran = run(project, "-k", "noise or accuracy", "--judge-repeats", "2", "-rs")
    (row,) = (row for row in ran.report["contrasts"] if row["contrast"] == "repeat-no-cue-1")
    both = [(score_of(i), again(i)) for i in range(N)]
    valid = [a - b for a, b in both if a is not None and b is not None]
    assert row["score_shift"]["value"] == pytest.approx(sum(valid) / len(valid))
    assert (row["n"], row["vsr_status"], row["score_status"]) == (len(valid), "NOT_APPLICABLE", "PASS")
    assert "[tool.judgefixtures.judges.mine]" in ran.said
    ran = run(project, "-k", "agreement")
    assert lines_about(ran.said, "response: agreement") == snapshot
    ran.assert_outcomes()


def test_a_constant_scorer_without_a_mark_passes_no_control(project: Project, take: Callable[..., str]) -> None:
    """Scores of labelled examples that say nothing of the labels show nothing; those that do are a PASS."""
    project.configure(table() + OWN + GATE + "[control]\npairs = 30\n")
    for say, status in ((lambda _: 7, "NOT_APPLICABLE"), (score_of, "PASS")):
        take([*log(say), *log(say, repeat=1)])
        (found,) = run(project, "-k", "noise", "--judge-repeats", "2").report["controls"]
        assert (found["status"], found.get("tpr")) == (status, None)


# --- of pairs ---------------------------------------------------------------------------------------------------


def share_right(ties: bool) -> float:
    """Return the accuracy of the log of pairs, with a tie as half right or as wrong."""
    right = 0.0
    for i, pair in enumerate(pairs()):
        first, second = two_of(i)
        right += 0.5 * ties if first == second else (1 if first > second else 2) == pair["gold"]
    return right / len(pairs())


@pytest.mark.parametrize("ties", [None, "half", "invalid"])
def test_two_scores_of_a_pair_are_a_choice(project: Project, take: Callable[..., str], ties: str | None) -> None:
    """The higher score is chosen, equal ones are half right or invalid, and no order was seen."""
    project.configure(table(ties=ties) + OWN + GATE)
    said = take(log_of_pairs(), *OF_PAIRS)
    higher = [sum(a > b for a, b in map(two_of, range(40))), sum(a < b for a, b in map(two_of, range(40)))]
    assert f"response 1 higher in {higher[0]}, response 2 in {higher[1]}, equal scores in 4;" in said
    ran = run(project, "-k", "accuracy or position", "-rs", dataset="two")
    (row,) = ran.report["accuracy"]
    assert (row["n"], row["accuracy"]["value"]) == (40, pytest.approx(share_right(ties != "invalid")))
    assert row["accuracy_both_orders"] is None
    assert "one response" in ran.said
    assert next(each["scores"] for each in ran.rows("judgments") if each["pair"] == "p00") == list(two_of(0))


def test_a_table_is_proposed_for_pairs(project: Project, take: Callable[..., str]) -> None:
    """Rows with two texts and two scores need nothing else: the mode and the scale are printed, and no mark."""
    project.configure("")
    rows = [{**pair, **row} for pair, row in zip(pairs(), log_of_pairs(), strict=True)]
    said = take(rows, "--dataset", "told")
    assert 'provider = "imported"\nmode = "pointwise"\nscale = [1, 10]\n\n' in said
    assert "then: pytest -k accuracy --judge mine --judge-dataset told" in said


def test_no_order_is_seen(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """The same scores in rows of the other order are the same answers, and other ones contradict them."""
    project.configure(table() + OWN + GATE)
    take(log_of_pairs(), *OF_PAIRS)
    own = answers(project, "two")
    turned = log_of_pairs(lambda i: two_of(i)[::-1], order="2-1")
    assert lines_about(take([*log_of_pairs(), *turned], *OF_PAIRS), "earlier row") == snapshot
    take(turned, *OF_PAIRS)
    assert answers(project, "two") == [{**row, "reason": ""} for row in own]
    take(log_of_pairs(order="2-1"), *OF_PAIRS, "--numbers", "own")
    assert answers(project, "two") == own
    said = take([*log_of_pairs(n=2), *log_of_pairs(n=2, order="2-1")], *OF_PAIRS, code=2)
    assert lines_about(said, "'p00'") == snapshot


def test_the_texts_of_a_row_may_stand_the_other_way_round(project: Project, take: Callable[..., str]) -> None:
    """score_1 belongs to the row's own response_1, whichever of the dataset's that is."""
    project.configure(table() + OWN + GATE)
    rows = [{**pair, **row} for pair, row in zip(pairs(), log_of_pairs(), strict=True)]
    take(rows, *OF_PAIRS)
    own = answers(project, "two")
    for row in rows:
        row["response_1"], row["response_2"] = row["response_2"], row["response_1"]
        row["score_1"], row["score_2"], row["gold"] = row["score_2"], row["score_1"], 3 - row["gold"]
    take(rows, *OF_PAIRS)
    assert answers(project, "two") == own


def test_with_a_mark_each_response_of_a_pair_passes_or_fails(project: Project, take: Callable[..., str]) -> None:
    """A mark makes two grades of a pair's scores, as of a judge that is asked, for a control and a swap."""
    tables = table(pass_mark=6) + table("other", pass_mark=6) + OWN + GATE + "[control]\npairs = 20\n"
    project.configure(tables)
    said = take(log_of_pairs(), *OF_PAIRS)
    assert "then: pytest -k noise" in said
    take(log_of_pairs(), *OF_PAIRS, judge="other")
    ran = run(project, "--judge-baseline", "other", "-k", "swap", dataset="two")
    first, _ = ran.report["controls"]
    assert first["n"] == 20
    rows = {each["pair"]: each["scores"] for each in ran.rows("judgments") if each["judge"] == "mine"}
    assert {f"p{i:02}/{number}": [two_of(i)[number - 1]] for i in range(40) for number in (1, 2)} == rows
    components = {each["kind"] for each in ran.report["decision"]["components"]}
    assert {"accuracy", "tpr", "tnr", "pass-rate"} <= components


# --- swaps ------------------------------------------------------------------------------------------------------


def differences(ran: Any) -> Mapping[str, float]:
    """Return the differences that a swap found, by what was compared."""
    return {row["quantity"]: row["value"] for row in ran.report["swap"] if row["contrast"] is None}


@pytest.mark.parametrize("other", ["scores", "grades"])
def test_a_swap_of_a_score_log(project: Project, take: Callable[..., str], other: str) -> None:
    """Two logs with marks on scales of their own, or one of scores and one of grades, are compared as graders are."""
    of_other = table("other", scale=[0.0, 1.0], pass_mark=0.5) if other == "scores" else ""
    of_other = of_other or '[judges.other]\nprovider = "imported"\nmode = "binary"\n'
    project.configure(MARKED + of_other + OWN + GATE)
    rows = log()
    theirs = {row["id"]: bool(row["label"] == "pass") != (row["id"] in ("e03", "e04", "e06")) for row in examples()}
    take(rows)
    said = {"scores": {"score": {True: 0.9, False: 0.2}}, "grades": {"passed": {True: "pass", False: "fail"}}}[other]
    ((field, words),) = said.items()
    take([{"id": name, field: words[passed]} for name, passed in theirs.items()], judge="other")
    ran = run(project, "--judge-baseline", "other", "-k", "swap")
    tp, fn, fp, tn = cells_of(rows, 6)
    right = [theirs[row["id"]] == (row["label"] == "pass") for row in examples()]
    found = differences(ran)
    assert found["accuracy"] == pytest.approx((tp + tn - sum(right)) / N)
    assert found["tpr"] == pytest.approx(tp / (tp + fn) - 29 / 30)
    assert found["tnr"] == pytest.approx(tn / (tn + fp) - 28 / 30)
    assert found["pass-rate"] == pytest.approx((tp + fp - sum(theirs.values())) / N)


def test_a_swap_takes_a_mark(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A log of scores without a mark and a grader are not comparable, and the key that would make them so is named."""
    project.configure(MARKED + table("other") + OWN + GATE)
    take(log())
    take(log(), judge="other")
    ran = run(project, "--judge-baseline", "other", "-k", "swap")
    assert ran.ret == 4
    assert lines_about(ran.said, "[tool.judgefixtures.judges.other]") == snapshot


def test_a_swap_of_scores_of_pairs_and_choices(project: Project, take: Callable[..., str]) -> None:
    """A log of two scores each and one of choices in both orders are compared in accuracy."""
    project.configure(table() + '[judges.other]\nprovider = "imported"\n' + OWN + GATE)
    take(log_of_pairs(), *OF_PAIRS)
    rows = [
        {"pair": pair["id"], "order": order, "selected_response": pair["gold"] if order == "1-2" else 3 - pair["gold"]}
        for pair in pairs()
        for order in ("1-2", "2-1")
    ]
    take(rows, *OF_PAIRS, judge="other")
    ran = run(project, "--judge-baseline", "other", "-k", "swap", dataset="two")
    assert differences(ran)["accuracy"] == pytest.approx(share_right(ties=True) - 1)


# --- what a log holds -------------------------------------------------------------------------------------------


def mode_of(said: str) -> str:
    """Return the mode that was printed."""
    return said.partition('mode = "')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("row", "arguments", "mode", "line"),
    [
        (lambda i: {"score": i % 2}, (), "binary", {"passed": False}),
        (lambda i: {"score": str(i % 2)}, (), "binary", {"passed": False}),
        (lambda i: {"score": bool(i % 2)}, (), "binary", {"passed": False}),
        (lambda i: {"score": i % 2 or None}, (), "binary", {"passed": None}),
        (lambda i: {"score": ["bad", "good"][i % 2]}, (), "binary", {"passed": False}),
        (lambda i: {"score": i % 3 / 2}, (), "pointwise", {"scores": [0]}),
        (lambda i: {"score": i % 3, "passed": "fail"}, (), "binary", {"passed": False}),
        (lambda i: {"score": i % 3, "passed": "fail"}, ("--columns", "score=score"), "pointwise", {"scores": [0]}),
        (lambda i: {"verdict": i % 3}, ("--columns", "score=verdict"), "pointwise", {"scores": [0]}),
        (lambda i: {"verdict": i % 2}, ("--columns", "score=verdict"), "binary", {"passed": False}),
        (
            lambda i: {"score": i % 3, "text": '{"pass": true}'},
            ("--columns", "answer=text"),
            "binary",
            {"passed": True},
        ),
    ],
)
def test_rows_tell_grades_from_scores(
    project: Project,
    take: Callable[..., str],
    row: Callable[[int], dict[str, Any]],
    arguments: Sequence[str],
    mode: str,
    line: Mapping[str, Any],
) -> None:
    """Without a table rows with a grade are grades, and so are scores that are all 0 or 1; any other are scores."""
    project.configure("")
    said = take([{"id": f"e{i:02}", **row(i)} for i in range(6)], "--pairs", "examples.jsonl", *arguments)
    assert mode_of(said) == mode
    assert answers(project, "examples")[0].items() >= line.items()


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        ([0.2, 0.8], "scale = [0.0, 1.0]\npass_mark = 0.5"),
        ([0, 1, 0.5], "scale = [0.0, 1.0]\npass_mark = 0.5"),
        (["1", "5"], "scale = [1, 5]\npass_mark = 3"),
        ([1, 7], "scale = [1, 10]\npass_mark = 5.5"),
        ([0, 7], "scale = [0, 10]\npass_mark = 5"),
        ([55.5, 7], "scale = [0.0, 100.0]\npass_mark = 50"),
        ([-2, 3], "scale = [-2, 3]\npass_mark = 0.5"),
        ([400, 800], "scale = [400, 800]\npass_mark = 600"),
    ],
)
def test_the_scale_is_proposed_from_the_values(
    project: Project, take: Callable[..., str], values: Sequence[Any], printed: str
) -> None:
    """The narrowest of the usual scales that holds all scores is printed, else that from the lowest to the highest."""
    project.configure("")
    rows = [{"id": f"e{i:02}", "score": value} for i, value in enumerate(values)]
    assert f"\n{printed}  # choose yours: " in take(rows, "--pairs", "examples.jsonl")


def test_one_number_tells_no_scale(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Where all scores are one number off the usual scales nothing is guessed."""
    project.configure("")
    said = take(log(lambda _: 250), "--pairs", "examples.jsonl", code=2)
    assert lines_about(said, "every score") == snapshot


@pytest.mark.parametrize(
    ("keys", "rows", "said"),
    [
        ({"mode": "pointwise"}, log(lambda i: i % 2 + 1, passed="fail"), "scored 60, from 1 to 2"),
        ({"mode": "pointwise", "scale": [0, 1]}, log(lambda i: i % 2), "scored 60, from 0 to 1"),
        ({"mode": "binary", "scale": None}, log(lambda i: i % 2), "passed 30, failed 30"),
        ({"mode": "binary", "scale": None}, log(lambda i: i / 60, passed="no"), "passed 0, failed 60"),
    ],
)
def test_the_mode_of_the_table_wins(
    project: Project, take: Callable[..., str], keys: Mapping[str, Any], rows: Rows, said: str
) -> None:
    """A table of scores reads scores where grades are, one of grades reads grades where scores are."""
    project.configure(table(**keys) + OWN)
    assert said in take(rows)


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ({"mode": "binary", "scale": None}, log(lambda i: i % 3)),
        ({}, [{"id": "e00", "passed": True}]),
        ({}, [{"id": "e00", "score_1": 2, "score_2": 3}]),
        ({}, [{"id": "e00"}]),
        ({}, [{"id": "e00", "score": 2}, {"id": "e01"}]),
    ],
)
def test_contradictions_are_told(
    project: Project, take: Callable[..., str], keys: Mapping[str, Any], rows: Rows, snapshot: SnapshotAssertion
) -> None:
    """Rows that do not say what judges of the table's mode say are an error that names what would mend it."""
    project.configure(table(**keys) + OWN)
    assert take(rows, code=2) == snapshot
    assert not project.cassettes.exists()


@pytest.mark.parametrize(
    ("value", "why"), [(True, "not a number"), ("7/10", "not a number"), ("0,7", "not a number"), ([7], "not a number")]
)
def test_a_row_without_a_number_cannot_be_used(
    project: Project, take: Callable[..., str], value: Any, why: str
) -> None:
    """Such rows are counted by what is wrong, with a value and their lines; of pairs each is an error."""
    rows = log(lambda i: value if i in (2, 5) else score_of(i))
    said = take(rows)
    assert f" {why}, such as {value!r}"[:40] in said
    assert ": 2 (answers.jsonl:3, answers.jsonl:6)" in said
    assert len(answers(project)) == N - 2
    project.configure(table() + OWN)
    said = take(log_of_pairs(lambda i: (5, value) if i == 3 else two_of(i)), *OF_PAIRS, code=2)
    assert "answers.jsonl:4: score_2 is " in said
    assert why in said


@pytest.mark.parametrize("value", ["nan", math.inf, math.nan])
def test_a_score_that_a_program_spoilt_is_an_error(project: Project, take: Callable[..., str], value: Any) -> None:
    """NaN and infinity in a log of one's own were left there by a program: the first row with one ends the import."""
    said = take(log(lambda i: value if i in (2, 5) else score_of(i)), code=2)
    assert "answers.jsonl:3: score is " in said
    assert not project.cassettes.exists()


def test_a_log_on_another_scale_is_an_error(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A log on another scale than the table's ends at its first row, which names the scale."""
    said = take(log(lambda i: 100 + i), code=2)
    assert lines_about(said, "[tool.judgefixtures.judges.mine]") == snapshot


def test_a_pair_with_one_score_has_none(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A null score of a pair leaves no choice; a column that a row lacks is an error."""
    project.configure(table() + OWN + GATE)
    take(log_of_pairs(lambda i: (5, None) if i == 3 else two_of(i)), *OF_PAIRS)
    assert [row["pair"] for row in answers(project, "two") if row["scores"] is None] == ["p03"]
    (row,) = run(project, "-k", "accuracy", dataset="two").report["accuracy"]
    assert row["invalid"] == 1
    rows = log_of_pairs()
    del rows[1]["score_2"]
    assert lines_about(take(rows, *OF_PAIRS, code=2), "'score_2'") == snapshot


def test_whole_texts_are_read_as_scores(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A column with the judge's whole text is read in the table's form, or the command's, as a recording is."""
    texts = ['{"score": 7, "reason": "So."}', '{"score": 77}', "Hm."]
    take([{"id": f"e{i:02}", "answer": text} for i, text in enumerate(texts)])
    assert [(row["scores"], row["reason"], row.get("invalid")) for row in answers(project)] == [
        ([7], "So.", None),
        (None, "", "not-a-choice"),
        (None, "", "no-json"),
    ]
    row = {"id": "e00", "answer": "Clear. [[3]]"}
    take([row], "--verdict", "brackets")
    assert answers(project)[0]["scores"] == [3]
    project.configure(table(verdict="brackets") + OWN)
    take([row])
    assert answers(project)[0]["scores"] == [3]
    assert lines_about(take([row], "--verdict", "grade", code=2), "--verdict") == snapshot
    project.configure(table() + OWN)
    assert (
        lines_about(
            take([{"id": "p00", "answer": "[[3]]"}], *OF_PAIRS, "--columns", "answer=answer", code=2), "whole text"
        )
        == snapshot
    )


def test_the_column_of_the_score_is_nobodys_label(project: Project, take: Callable[..., str]) -> None:
    """A column that is named as the score is not read as what people say, whatever it is called."""
    project.configure("")
    rows = [{**row, "label": 3 + i % 5} for i, row in enumerate(examples())]
    said = take(rows, "--dataset", "told", "--columns", "score=label")
    assert mode_of(said) == "pointwise"
    assert '"label"' not in (project.cassettes / "mine" / "told" / "pairs.jsonl").read_text()


def test_a_table_of_texts_has_scores(project: Project, take: Callable[..., str]) -> None:
    """Of a CSV file, in which all values are texts, an empty one is no score and the others are numbers."""
    project.configure("")
    rows = "".join(f"e{i:02},{'' if i == 3 else i / 10}\n" for i in range(10))
    said = take(f"id,score\n{rows}", "--pairs", "examples.jsonl", name="answers.csv")
    assert "scored 9, from 0 to 0.9, mean 0.467; by pass_mark = 0.5 passed 5, failed 4; 1 without a score" in said
    assert answers(project, "examples")[9]["scores"] == [0.9]


@pytest.mark.parametrize(
    ("tell", "mode", "line"),
    [
        (lambda i: {"value": i / 9}, "pointwise", {"scores": [0]}),
        (lambda i: {"value": i % 2}, "binary", {"passed": False}),
        (lambda i: {"score": i / 9, "passed": i > 4}, "binary", {"passed": False}),
    ],
)
def test_an_export_of_scores(
    project: Project,
    take: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    tell: Callable[[int], dict[str, Any]],
    mode: str,
    line: Mapping[str, Any],
) -> None:
    """What an export says as scores is told from its grades as rows of one's own are."""
    for module in (formats, log_files):
        monkeypatch.setattr(module, "EXPORTS", {Tool.name: Tool})
    project.configure("")
    rows = [{"id": f"e{i:02}", "question": f"Why {i}?", "response": f"So, {i}.", **tell(i)} for i in range(10)]
    said = take(json.dumps({"judgements": rows}), "--dataset", "told", name="log.json")
    assert mode_of(said) == mode
    assert answers(project, "told")[0].items() >= line.items()


# --- tables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        {"template": "pointwise"},
        {"labels": ["a", "b"]},
        {"pass_mark": 11},
        {"pass_mark": 6, "ties": "half"},
        {"verdict": "grade"},
    ],
)
def test_its_table_has_nothing_to_ask_with(
    project: Project, key: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    """Keys that change what is asked, or that no score knows, are refused as in any other table."""
    project.configure(table(**key) + OWN)
    ran = project.run("--judge", "mine", "-k", "agreement")
    assert ran.ret == 4
    assert lines_about(ran.said, "ERROR: ") == snapshot


def test_answers_of_another_mode_are_told(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A table whose mode is not that of what was imported is an error of the item, and no grade is made up."""
    take(log())
    project.configure(table(mode="binary", scale=None) + OWN + GATE)
    ran = run(project, "-k", "agreement")
    ran.assert_outcomes(failed=1)
    assert lines_about(ran.said, "'pointwise'") == snapshot
    take(log(lambda i: i % 2))
    project.configure(MARKED + OWN + GATE)
    assert lines_about(run(project, "-k", "agreement").said, "'binary'") == snapshot


def test_what_kind_it_is() -> None:
    """A mark makes grades of what is looked up, as it does of what is asked; nobody is asked either way."""
    keys = {"provider": "imported", "mode": "pointwise"}
    plain, marked = mode_class(judge_table(keys)), mode_class(judge_table({**keys, "pass_mark": 7}))
    assert (plain.is_asked, plain.gives_scores, plain.grades, plain.sees_order) == (False, True, False, False)
    assert (marked.is_asked, marked.gives_scores, marked.grades, marked.sees_order) == (False, True, True, False)


# --- the file ---------------------------------------------------------------------------------------------------

scores = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))
said = st.one_of(st.none(), st.tuples(scores), st.tuples(scores, scores))


@given(st.lists(st.tuples(said, st.text(max_size=5)), max_size=6))
def test_lines_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, lines: Any) -> None:
    """Scores survive the file exactly, and writing what was read changes no byte."""
    path = tmp_path_factory.mktemp("scores") / "imported.jsonl"
    found = {
        key: ImportedAnswer(SCORES, key, each, reason)
        for i, (each, reason) in enumerate(lines)
        for key in [AnswerKeyFields("no-cue", f"e{i}", "0" * 16, 0)]
    }
    imported = Imported("mine", "own", (LogSource("a.jsonl", "0"),), found)
    write_imported(path, imported)
    again = read_imported(path)
    assert again == imported
    assert b"".join(again.lines) == path.read_bytes()


@pytest.mark.parametrize("scores", [7, "7", [], [1, 2, 3], ["7"], [True], [None, 7], [math.nan], [math.inf], [[7]], {}])
def test_a_damaged_line_is_told(
    project: Project, take: Callable[..., str], scores: Any, snapshot: SnapshotAssertion
) -> None:
    """A line whose scores are none is named."""
    take(log(n=2))
    file = project.cassettes / "mine" / "own" / "imported.jsonl"
    head, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([head, json.dumps({**json.loads(first), "scores": scores}), *rest]))
    with pytest.raises(CassetteError) as error:
        Imports(project.cassettes).of("mine", "own")
    assert str(error.value) == snapshot


def test_importing_again_changes_nothing(project: Project, take: Callable[..., str]) -> None:
    """The same log gives the same bytes; its rows in another order, or numbers as texts, the same answers."""
    take(log())
    before, rows = project.tree(), answers(project)
    take(log())
    assert project.tree() == before
    take(log(lambda i: None if score_of(i) is None else f"{score_of(i)}.0")[::-1])
    assert answers(project) == rows


PAIR = Pair("p1", "Why?", "So.", "No.")
CONDITIONS = [each for each in conditions().values() if each.edit is None]


@given(st.sampled_from(CONDITIONS), st.booleans(), st.tuples(scores, scores), st.integers(0, 2))
def test_an_answer_counts_for_both_orders(condition: Condition, turn: bool, both: Any, repeat: int) -> None:
    """Whichever way round a pair is shown, each response keeps its score under its cue; other cues find nothing."""
    key = AnswerKeyFields(name_without_order(condition), "p1", shown_texts_digest(PAIR, condition.order), repeat)
    imported = Imported("mine", "own", (), {key: ImportedAnswer(SCORES, key, both)})
    pair, seen = (swap_responses(PAIR), mirrored_condition(condition)) if turn else (PAIR, condition)
    # The same responses stand in the same places, under the same cues: only which of them is the pair's own first.
    same = replace(seen, cue_1=condition.cue_1, cue_2=condition.cue_2)
    assert {name: each.said for name, each in imported.found([pair], (same, repeat)).items()} == {"p1": both}
    other = mirrored_condition(same)
    assert {name: each.said for name, each in imported.found([pair], (other, repeat)).items()} == {"p1": both[::-1]}
    assert not imported.found([pair], (same, repeat + 1))
    crossed = replace(same, cue_1=same.cue_2, cue_2=same.cue_1)
    assert bool(imported.found([pair], (crossed, repeat))) == (same.cue_1 is None)


def test_the_responses_of_a_pair_have_its_scores() -> None:
    """Of a response of a pair the log has its score without a cue, and under a cue of the pair's none."""
    key = AnswerKeyFields("no-cue", "p1", shown_texts_digest(PAIR, "12"), 0)
    imported = Imported("mine", "own", (), {key: ImportedAnswer(SCORES, key, (7, 4))})
    found = imported.found(as_examples(PAIR), (SingleResponseCondition(), 0))
    assert {name: each.said for name, each in found.items()} == {"p1/1": (7,), "p1/2": (4,)}
    cued = SingleResponseCondition(cue_1=contrasts("recency")[0].x.cue_1)
    assert not imported.found(as_examples(PAIR), (cued, 0))
    assert not imported.found([Example("p1", "Why?", "So.")], (SingleResponseCondition(), 0))


# --- numbers ----------------------------------------------------------------------------------------------------

anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)


@given(anything)
def test_a_number_is_finite_and_is_what_python_reads(value: Any) -> None:
    """No value raises; what is read is finite, equals Python's own reading, and is never made of true or false."""
    found = parse_number(value)
    if found is None:
        return
    assert not isinstance(value, bool)
    assert math.isfinite(found)
    assert found == float(value)


@given(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_is_read_from_its_text(number: float) -> None:
    """Whatever Python writes for a number is read as that number."""
    assert parse_number(repr(number)) == parse_number(number) == number


@given(st.lists(scores, min_size=1, max_size=8))
@example([6.639513957769708e299, -1.7976931282228019e308])  # further apart than a float goes
@example([0, -5e-324])  # and nothing between them
def test_a_proposed_table_is_one_that_holds_all_scores(values: list[float]) -> None:
    """The scale that is proposed holds every number, its middle is a mark of it, and the printed lines are its TOML."""
    scale = likely_scale(values)
    if scale is None:
        assert len(set(values)) == 1
        return
    assert all(scale[0] <= number <= scale[1] for number in values)
    mark = middle_of_scale(scale)
    printed = f'provider = "imported"\nmode = "pointwise"\nscale = {json.dumps(list(scale))}\npass_mark = {mark}.0'
    printed = printed if isinstance(mark, int) else printed.removesuffix(".0")
    read = judge_table(tomllib.loads(printed))
    assert (read.scale, read.pass_mark) == (scale, mark)


@given(st.lists(anything, min_size=1, max_size=6), st.sampled_from(["score", "score_1", "passed"]))
def test_hostile_scores_give_rows_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], field: str
) -> None:
    """Whatever stands where scores do, rows are read or one sentence says which cannot be."""
    from judgefixtures.importers import ImportRequest, import_log

    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"id": f"e{i}", "question": "Why?", "response": f"{i}", "response_1": "a", "response_2": f"{i}", field: value}
        | ({"score_2": 1} if field == "score_1" else {})
        for i, value in enumerate(values)
    ]
    file = Path(folder) / "log.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    try:
        done = import_log(ImportRequest((file,), judge="mine", into=folder / "cassettes", allow=1.0))
    except JudgeFixturesError:
        assert not (folder / "cassettes").exists()
        return
    assert len(done.imported.answers) + len(done.unused) + done.repeated == len(rows)
    assert read_imported(done.folder / "imported.jsonl") == done.imported


@given(st.lists(anything, max_size=5))
def test_grades_and_scores_are_told_apart(values: list[Any]) -> None:
    """Scores are those of which one is a number other than 0 and 1, in whatever form."""
    numbers = [number for value in values if (number := parse_number(value)) is not None]
    assert are_scores(values) == (not set(numbers) <= {0, 1})
