"""The decision on a swap of judges of one response, on plain data: what labels and the pass rate add to it.

What is the same for judges of pairs is tested in test_decide_swap.py, how often it errs in test_worlds.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import Answers, CheckInput
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.config import SwapTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status, gate_non_inferiority, gate_shift
from judgefixtures.swap import Component, SwapAccuracy, SwapContrast, SwapDecision, decide_swap, guards
from judgefixtures.swap.decide_looks import decide_looks

SWAP = SwapTable()
APPROVE, REJECT, INCONCLUSIVE = SwapStatus.APPROVE, SwapStatus.REJECT, SwapStatus.INCONCLUSIVE
OF_GRADES = ("accuracy", "pass-rate", "tpr", "tnr")
brief = settings(deadline=None, max_examples=40)

# A label, and whether candidate and baseline passed the example; None: their grade is invalid, and so wrong.
Row = tuple[str | None, bool | None, bool | None]
Counts = tuple[int, int]  # on how many examples candidate, or baseline, alone does it


def said(label: str | None, passed: bool | None) -> float:
    """Return what plain data has for a grade: whether it is the label; without one, whether it passed."""
    if passed is None:
        return 0.0
    return float(passed == (label != "fail"))


def graded(rows: Iterable[Row], dataset: str = "qa") -> SwapAccuracy:
    """Return both judges' grades of these examples."""
    every = list(rows)
    ours, theirs = ([said(row[0], row[who]) for row in every] for who in (1, 2))
    return SwapAccuracy(dataset, [f"e{n}" for n in range(len(every))], ours, theirs, [row[0] for row in every])


def block(label: str | None, n: int, passes: Counts) -> list[Row]:
    """Return n examples of a label: so many pass by the candidate alone and by the baseline alone, others by both."""
    ours, theirs = passes
    rows: list[Row] = [(label, True, False)] * ours + [(label, False, True)] * theirs
    return [*rows, *[(label, True, True)] * (n - ours - theirs)]


def judges(
    positives: Counts, negatives: Counts, half: int = 200, unlabelled: Counts = (0, 0), more: int = 0
) -> list[Row]:
    """Return half as many positives and negatives, and more without a label, by who alone passes how many."""
    return [*block("pass", half, positives), *block("fail", half, negatives), *block(None, more, unlabelled)]


def quiet(n: int = 400, dataset: str = "qa") -> SwapContrast:
    """Return a contrast that moves nothing."""
    same, nothing = [(1, 1)] * n, [False] * n
    return SwapContrast(
        "recency", "recency-new-old", dataset, [f"e{i}" for i in range(n)], same, same, nothing, nothing
    )


def decide(
    *rows: Sequence[Row], cells: Sequence[SwapContrast] = (), swap: SwapTable = SWAP, **more: Any
) -> SwapDecision:
    """Return the decision on these datasets."""
    return decide_swap(cells, [graded(each, f"d{at}") for at, each in enumerate(rows)], swap, **more)


def of(found: SwapDecision, kind: str) -> Component:
    """Return the component of this kind over all examples."""
    (one,) = [each for each in found.components if each.kind == kind and not each.name]
    return one


def kinds(found: SwapDecision) -> list[str]:
    return [each.kind for each in found.components]


def named(found: SwapDecision) -> set[str]:
    """Return what the reasons of a REJECT name."""
    return {each.kind for each in found.components if each.message in found.reasons}


# --- what is compared ---------------------------------------------------------------------------------------


def test_equal_graders_are_approved(snapshot: SnapshotAssertion) -> None:
    """400 labels, 12% on which one alone is right: APPROVE, and the first line has every margin."""
    found = decide(judges((12, 12), (12, 12)), cells=[replace(quiet(), dataset="d0")])
    assert found.status is APPROVE
    roles = {each.kind: each.role for each in found.components if each.kind in OF_GRADES}
    assert roles == {"accuracy": "primary", "pass-rate": "primary", "tpr": "guard", "tnr": "guard"}
    assert lines_about(found.reasons[0], "accuracy 0", "TPR 0", "TNR 0", "rate within", "examples") == snapshot
    assert "pairs" not in " ".join(found.reasons)


counts = st.tuples(st.integers(0, 14), st.integers(0, 14))
margins = st.sampled_from([0.04, 0.10, 0.22])


@brief
@given(counts, counts, counts, st.integers(40, 90), st.tuples(margins, margins, margins))
def test_each_component_is_the_gate_of_its_own_examples(
    positives: Counts, negatives: Counts, unlabelled: Counts, half: int, limits: tuple[float, float, float]
) -> None:
    """TPR is about positives, TNR about negatives, accuracy about both, the pass rate about all; each by its gate."""
    accuracy, rate, passes = limits
    table = SwapTable(accuracy_margin=accuracy, rate_margin=rate, pass_rate_margin=passes)
    found = decide(judges(positives, negatives, half, unlabelled, 50), swap=table)
    right, all_passed = (
        (positives[0] + negatives[1], positives[1] + negatives[0]),
        tuple(map(sum, zip(positives, negatives, unlabelled, strict=True))),
    )
    expected = {
        "accuracy": gate_non_inferiority(*right, 2 * half, accuracy),
        "tpr": gate_non_inferiority(*positives, half, rate),
        "tnr": gate_non_inferiority(negatives[1], negatives[0], half, rate),
        "pass-rate": gate_shift(*all_passed, 2 * half + 50, passes),
    }
    for kind, gate in expected.items():
        component = of(found, kind)
        assert gate.estimate is not None
        assert component.estimate.value == pytest.approx(gate.estimate.value, abs=1e-12)
        assert (component.estimate.low, component.estimate.high) == pytest.approx(
            (gate.estimate.low, gate.estimate.high), abs=1e-6
        )
        # What a REJECT names is a FAIL, too; no other status is changed by what the others are.
        assert component.status is gate.status
        assert component.margin == {"accuracy": accuracy, "pass-rate": passes}.get(kind, rate)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("towards", [1, -1])
def test_another_pass_rate_is_a_fault_either_way(labelled: bool, towards: int) -> None:
    """20 points more or fewer that pass: REJECT for the pass rate, also where the accuracy is as it was."""
    ours: Counts = (40, 0) if towards > 0 else (0, 40)
    rows = judges(ours, ours) if labelled else judges((0, 0), (0, 0), 0, (80, 0)[::towards], 400)
    found = decide(rows)
    assert of(found, "pass-rate").estimate.value == pytest.approx(towards * 0.20)
    assert found.status is REJECT
    worse = {"tnr" if towards > 0 else "tpr"} if labelled else set()
    assert named(found) == {"pass-rate", *worse}


@pytest.mark.parametrize("towards", [1, -1])
def test_a_pass_rate_at_its_margin_is_not_approved(towards: int) -> None:
    """10 points more or fewer, of unlabelled ones alone, with a contrast that moves nothing: INCONCLUSIVE."""
    found = decide(judges((0, 0), (0, 0), 200, (60, 0)[::towards], 200), cells=[replace(quiet(600), dataset="d0")])
    assert of(found, "pass-rate").estimate.value == pytest.approx(towards * 0.10)
    assert found.status is INCONCLUSIVE
    assert [each.kind for each in found.components if each.status is not Status.PASS] == ["pass-rate"]
    assert found.reasons[0].startswith("pass rate: difference")


@pytest.mark.parametrize("kind", ["tpr", "tnr"])
def test_a_rate_that_is_much_worse_is_rejected(kind: str) -> None:
    """25 points fewer of one class graded as its label says: REJECT, and the rate is named."""
    worse = judges((0, 50), (0, 0)) if kind == "tpr" else judges((0, 0), (50, 0))
    found = decide(worse)
    assert found.status is REJECT
    assert kind in named(found)
    assert of(found, kind).estimate.value == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("kind", "rows", "others"),
    [
        ("tnr", judges((0, 0), (29, 0)), {"accuracy_margin": 0.3, "pass_rate_margin": 0.5}),
        ("pass-rate", judges((26, 0), (26, 0)), {"accuracy_margin": 0.3, "rate_margin": 0.6}),
    ],
)
def test_what_fails_alone_leaves_the_swap_open(kind: str, rows: list[Row], others: dict[str, float]) -> None:
    """The tests of each half share .025: accuracy and pass rate, TPR and TNR have .0125 each, and .02 rejects nothing."""
    found = decide(rows, swap=SwapTable(**others))
    assert [each.kind for each in found.components if each.status is not Status.PASS] == [kind]
    assert of(found, kind).status is Status.FAIL
    assert 0.0125 < of(found, kind).p_fail < 0.025
    assert found.status is INCONCLUSIVE


def test_a_pass_rate_that_may_go_neither_way_takes_more_examples() -> None:
    """Equal judges have to be found neither above nor below the margin: .10 is 1.645 + 1.28 standard errors in 80%."""
    found = decide(block(None, 100, (20, 20)), cells=[replace(quiet(100), dataset="d0")])
    assert [each.kind for each in found.components if each.status is not Status.PASS] == ["pass-rate"]
    assert found.needed_pairs == pytest.approx((1.645 + 1.2816) ** 2 * 0.40 / 0.10**2, abs=25)


# --- labels that lack ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "kind"), [("pass", "TPR"), ("fail", "TNR")])
@pytest.mark.parametrize(("few", "why"), [(9, "only 9 examples are"), (1, "only 1 example is"), (0, "no example is")])
def test_few_of_a_class_approve_nothing(label: str, kind: str, few: int, why: str) -> None:
    """However wide the margin is and however alike the judges are; the reasons name the rate and its label."""
    other = "fail" if label == "pass" else "pass"
    rows = block(other, 400, (0, 0))
    table = SwapTable(rate_margin=0.6)
    found = decide([*rows, *block(label, few, (0, 0))], swap=table)
    assert found.status is INCONCLUSIVE
    assert found.reasons[0] == f"{kind}: not compared, because {why} labelled {label}; use at least 10"
    assert found.needed_pairs is None
    assert decide([*rows, *block(label, 10, (0, 0))], swap=table).status is APPROVE
    # Labels of all datasets count together.
    several = decide([*rows, *block(label, 4, (0, 0))], block(label, 6, (0, 0)), swap=table)
    assert not any("labelled" in reason for reason in several.reasons)


NOT_APPLICABLE = "accuracy, TPR and TNR: NOT_APPLICABLE, no example is labelled"


def test_without_labels_the_rest_decides(snapshot: SnapshotAssertion) -> None:
    """Contrasts and the pass rate are compared; of accuracy, TPR and TNR is said that they do not apply."""
    cells = [replace(quiet(), dataset="d0")]
    found = decide(block(None, 400, (12, 12)), cells=cells)
    assert found.status is APPROVE
    assert [kind for kind in kinds(found) if kind in OF_GRADES] == ["pass-rate"]
    assert lines_about(found.reasons, "TNR: NOT_APPLICABLE") == snapshot
    assert "accuracy by" not in found.reasons[0]
    lenient = decide(block(None, 400, (80, 0)), cells=cells)
    assert (lenient.status, named(lenient)) == (REJECT, {"pass-rate"})


def test_a_pass_rate_alone_approves_nothing(snapshot: SnapshotAssertion) -> None:
    """A coin passes as many as its baseline, and is another judge: without labels and contrasts nothing tells."""
    coin = decide(block(None, 2000, (500, 500)))
    same = decide(block(None, 2000, (0, 0)))
    for found in (coin, same):
        assert (found.status, kinds(found)) == (INCONCLUSIVE, ["pass-rate"])
        assert of(found, "pass-rate").status is Status.PASS
        assert lines_about(found.reasons[0], "was compared") == snapshot
        assert lines_about(found.reasons, "contrasts were", "TNR: NOT_APPLICABLE") == snapshot


def test_beside_a_baseline_that_passes_everything_only_how_right_they_are_counts(snapshot: SnapshotAssertion) -> None:
    """Nobody is rejected for failing what people fail; whoever is wrong more often is."""
    better, worse = judges((0, 20), (0, 180)), judges((0, 150), (0, 20))
    assert named(decide(better)) >= {"pass-rate"}
    for rows, status in ((better, INCONCLUSIVE), (worse, REJECT)):
        found = decide_swap([], [replace(graded(rows), alike=True)], SWAP)
        assert (found.status, {each.kind for each in found.components}) == (status, {"accuracy"})
    (said,) = [
        reason
        for reason in decide_swap([], [replace(graded(better), alike=True)], SWAP).reasons
        if "same grade" in reason
    ]
    assert lines_about(said, "not compared") == snapshot


def test_a_dataset_that_nobody_labelled_adds_to_the_pass_rate_alone() -> None:
    """Beside a labelled one: it has no accuracy of its own, and its examples are in no other component."""
    rows, others = judges((12, 12), (12, 12)), block(None, 100, (30, 0))
    found = decide(rows, others)
    assert [each.name for each in found.components if each.kind == "accuracy"] == [""]
    for kind in ("accuracy", "tpr", "tnr"):
        assert of(found, kind) == of(decide(rows), kind)
    assert of(found, "pass-rate").estimate.n == 500
    assert of(found, "pass-rate").estimate.value == pytest.approx(30 / 500)
    two = decide(rows, others, rows)
    assert [each.name for each in two.components if each.kind == "accuracy"] == ["", "d0", "d2"]


def test_labels_that_were_planned_and_not_asked_about_are_missed() -> None:
    """A dataset of examples without any keeps the swap open, and is named."""
    found = decide(judges((0, 0), (0, 0)), [])
    assert (found.status, found.reasons[0]) == (INCONCLUSIVE, "accuracy on d1: not compared")


def test_gold_of_pairs_is_not_a_label() -> None:
    """Without `labels` there is no pass rate, TPR or TNR, and the accuracy is that of the same with labels."""
    part = graded(judges((12, 8), (9, 12)))
    of_pairs, of_examples = (decide_swap([], [each], SWAP) for each in (replace(part, labels=None), part))
    assert kinds(of_pairs) == ["accuracy"]
    assert of(of_pairs, "accuracy").z == of(of_examples, "accuracy").z
    assert "400 pairs" in of_pairs.reasons[0]
    assert "pass rate" not in " ".join(of_pairs.reasons)


# --- invalid grades -----------------------------------------------------------------------------------------


def test_an_invalid_grade_is_wrong() -> None:
    """Of a positive and of a negative; as wrong as the other grade, so that a judge gains nothing by refusing."""
    refusing = [("pass", None, True), ("fail", None, False)] * 20 + judges((0, 0), (0, 0), 180)
    found = decide(refusing)
    assert of(found, "accuracy").estimate.value == pytest.approx(-0.10)
    assert of(found, "tpr").estimate.value == of(found, "tnr").estimate.value == pytest.approx(-0.10)
    assert found.status is not APPROVE
    wrong = decide([("pass", False, True), ("fail", True, False)] * 20 + judges((0, 0), (0, 0), 180))
    assert [each.z for each in found.components] == [each.z for each in wrong.components]


def answers(rows: Sequence[Row]) -> Answers:
    """Return the candidate's grades as they come from a judge."""
    every = []
    for at, (label, passed, _) in enumerate(rows):
        verdict = Verdict(None, "", "not-a-choice") if passed is None else Verdict(1 if passed else 2, "So.")
        every.append(Judgment(Example(f"e{at}", f"{at}?", "So.", label=label), NO_CUE, JudgeReply(verdict)))  # type: ignore[arg-type]
    return Answers((tuple(every),))


def part_of(ours: Answers, theirs: Answers) -> dict[str, Any]:
    """Return what the decision needs of two judges' grades of the same examples."""
    tables = {n: {"provider": "openai", "model": "m", "mode": "binary"} for n in ("new", "old")}
    config = build_config({"judges": tables})
    new, old = (load_judge(config.judges[name], name) for name in ("new", "old"))
    case = CheckInput(new, "qa", tuple(each.pair for each in ours.arms[0]), config, old)
    (part,) = (
        each.part for each in SwapCheck(None, 1, graded=True).evaluate(case, ours, theirs).evidence["swap_parts"]
    )
    assert part is not None
    return dict(part)


def test_grades_become_plain_data() -> None:
    """Right where the grade is the label, passed where there is none; an invalid one neither, and it stays in."""
    rows: list[Row] = [(label, passed, passed) for label in ("pass", "fail", None) for passed in (True, False, None)]
    both = answers(rows)
    part = part_of(both, both)
    assert part["labels"] == ("pass", "pass", "pass", "fail", "fail", "fail", None, None, None)
    assert part["candidate"] == part["baseline"] == (1, 0, 0, 0, 1, 0, 1, 0, 0)


@pytest.mark.parametrize(("passed", "alike"), [(100, True), (95, True), (94, False), (50, False), (4, True)])
def test_a_baseline_that_grades_alike_is_known(passed: int, *, alike: bool) -> None:
    """It says the same in at least 95% of its grades, though half of the labels are another."""
    labels = ["pass", "fail"] * 50
    ours = answers([(label, label == "pass", None) for label in labels])
    theirs = answers([(label, at < passed, None) for at, label in enumerate(labels)])
    assert part_of(ours, theirs)["alike"] is alike
    assert part_of(theirs, ours)["alike"] is False  # the candidate's own habit is its fault


# --- nothing depends on order, nor on who is called the candidate ---------------------------------------------


drawn = st.lists(
    st.tuples(st.sampled_from(["pass", "fail", None]), *[st.sampled_from([True, False, None])] * 2),
    min_size=1,
    max_size=60,
)


@brief
@given(drawn, drawn, st.randoms(use_true_random=False), st.booleans())
def test_order_changes_no_byte(one: list[Row], two: list[Row], order: random.Random, related: bool) -> None:
    """Examples and datasets in another order give the same decision, to the last digit."""
    parts = [graded(one, "a"), graded(two, "b")]
    clusters = {(part.dataset, pair): at // 2 for part in parts for at, pair in enumerate(part.pairs)}
    more = {"clusters": clusters if related else None}
    found = decide_swap([], parts, SWAP, **more)
    mixed = []
    for part in parts:
        places = random.Random(order.random()).sample(range(len(part.pairs)), len(part.pairs))
        fields = ("pairs", "candidate", "baseline", "labels")
        mixed.append(replace(part, **{name: [getattr(part, name)[at] for at in places] for name in fields}))
    assert repr(decide_swap([], mixed[::-1], SWAP, **more)) == repr(found)


@brief
@given(drawn)
def test_the_judges_exchanged_turn_every_difference_round(rows: list[Row]) -> None:
    """Each estimate is minus what it was, with its interval; the pass rate, a fault either way, stays as it was."""
    part = graded(rows)
    found = decide_swap([], [part], SWAP).components
    turned = decide_swap([], [replace(part, candidate=part.baseline, baseline=part.candidate)], SWAP).components
    assert [each.kind for each in turned] == [each.kind for each in found]
    for ours, theirs in zip(found, turned, strict=True):
        seen, other = ours.estimate, theirs.estimate
        assert (other.value, other.low, other.high) == pytest.approx((-seen.value, -seen.high, -seen.low), abs=1e-9)
        if ours.kind == "pass-rate":
            assert (theirs.z, theirs.p_fail, theirs.status) == (
                pytest.approx(ours.z, abs=1e-9),
                pytest.approx(ours.p_fail, abs=1e-9),
                ours.status,
            )


# --- related examples ---------------------------------------------------------------------------------------


def test_examples_that_are_asked_twice_count_once() -> None:
    """Every example a second time, the two in a cluster: z of each component is that of the examples once."""
    rows = judges((7, 4), (3, 8), 60, (5, 2), 40)
    once = decide(rows)
    clusters = {("d0", f"e{at}"): at % len(rows) for at in range(2 * len(rows))}
    twice = decide([*rows, *rows], clusters=clusters)
    assert kinds(twice) == kinds(once)
    assert [each.z for each in twice.components] == pytest.approx([each.z for each in once.components], abs=1e-9)
    assert "320 examples in 160 clusters" in of(twice, "pass-rate").message
    assert "120 examples in 60 clusters" in of(twice, "tnr").message


def test_few_clusters_decide_nothing() -> None:
    """With four clusters nothing passes and nothing fails, whether the judges are equal or far apart."""
    clusters = {("d0", f"e{at}"): at % 4 for at in range(400)}
    for rows in (judges((12, 12), (12, 12)), judges((0, 0), (100, 0))):
        found = decide(rows, clusters=clusters)
        assert {each.status for each in found.components} == {Status.INCONCLUSIVE}
        assert (found.status, found.needed_pairs) == (INCONCLUSIVE, None)


# --- an item, looks, and what is refused ----------------------------------------------------------------------


def test_an_item_finds_what_the_decision_has_for_its_dataset() -> None:
    """With one dataset: pass rate, TPR and TNR are those of the decision, and accuracy is held to the guard's margin."""
    rows = judges((14, 8), (6, 9))
    whole, (found, lacking) = decide(rows), guards(graded(rows, "d0"), 7, SWAP)
    assert lacking == ()
    assert [(each.kind, each.name) for each in found] == [("accuracy", "d0"), *((kind, "") for kind in OF_GRADES[1:])]
    for each in found[1:]:
        assert each == of(whole, each.kind)
    assert found[0].margin == 2 * of(whole, "accuracy").margin
    assert found[0].estimate == of(whole, "accuracy").estimate


def test_an_item_says_which_labels_lack(snapshot: SnapshotAssertion) -> None:
    """Too few of a class are named; without any label the pass rate alone is found, and nothing lacks."""
    found, lacking = guards(graded([*block("pass", 100, (0, 0)), *block("fail", 3, (0, 0))]), 7, SWAP)
    assert lacking == snapshot
    assert {each.kind for each in found} == set(OF_GRADES)
    found, lacking = guards(graded(block(None, 100, (0, 0))), 7, SWAP)
    assert ([each.kind for each in found], lacking) == (["pass-rate"], ())


def test_a_look_takes_the_first_examples_with_their_labels() -> None:
    """Decided at the first look, everything is that of the first 100 examples alone."""
    first, rest = judges((20, 0), (30, 0), 50), block("fail", 100, (0, 0))
    found = decide_looks([], [graded([*first, *rest])], SwapTable(looks=[100, 200]))
    assert (found.status, found.look) == (REJECT, 100)
    alone = decide_swap([], [graded(first)], SWAP)
    assert [(each.kind, each.z) for each in found.components] == [(each.kind, each.z) for each in alone.components]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"labels": ["pass", "fail"]}, r"as many of everything as pairs \(3\), got 3, 3, 2"),
        ({"labels": ["pass", "fail", "good"]}, "labels are pass, fail or None, got 'good'"),
        ({"labels": ["pass", "fail", 1]}, "labels are pass, fail or None, got 1"),
        ({"labels": ["pass", "fail", float("nan")]}, "labels are pass, fail or None, got nan"),
        ({"labels": ["pass", "fail", ["pass"]]}, r"labels are pass, fail or None, got \['pass'\]"),
        ({"candidate": [1, 0.5, 0]}, r"of an example a judge is right or not, got 0\.5"),
        ({"candidate": [1, 2, 0]}, "of an example a judge is right or not, got 2"),
        ({"pairs": ["a", "a", "b"]}, "a pair comes twice"),
    ],
)
def test_impossible_labels_are_refused(wrong: dict[str, Any], words: str) -> None:
    """The message names the dataset, what is accepted and what was given."""
    given: dict[str, Any] = {"pairs": ["a", "b", "c"], "candidate": [1, 0, 1], "baseline": [1, 1, 1]}
    with pytest.raises(ValueError, match=f"accuracy on qa: .*{words}"):
        SwapAccuracy("qa", **{**given, "labels": ["pass", "fail", None], **wrong})


def test_numbers_and_words_of_numpy_are_as_good() -> None:
    """Grades and labels as numpy gives them: the same decision."""
    part = graded(judges((5, 2), (1, 9), 50))
    small = {name: np.array(getattr(part, name), dtype=np.float32) for name in ("candidate", "baseline")}
    arrays = replace(part, **small, labels=np.array(part.labels))
    assert repr(decide_swap([], [arrays], SWAP)) == repr(decide_swap([], [part], SWAP))
