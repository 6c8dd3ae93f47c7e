"""Agreement of a judge of one response with people's labels: what is measured, what decides, and what it says."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.project import Project, in_pyproject, json_lines
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.checks import Answers, CheckInput
from judgefixtures.checks.human_agreement import AgreementCheck
from judgefixtures.cli.main import main
from judgefixtures.config import build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.agreement_rows import AgreementRow
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair, as_examples, pair_to_row
from judgefixtures.models.probabilities import Probability
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import (
    ClusterTotals,
    Status,
    balanced_accuracy,
    cohen_kappa,
    gate_tpr,
    true_negative_rate,
    true_positive_rate,
)

pytest_plugins = ["pytester"]

Row = tuple[
    Any, ...
]  # an example's label, what was selected (1 passed, 2 failed, None), and further keys of the example


def table(tp: int, fn: int, fp: int, tn: int) -> list[Row]:
    """Return the labels and grades of a 2 x 2 table."""
    return [("pass", 1)] * tp + [("pass", 2)] * fn + [("fail", 1)] * fp + [("fail", 2)] * tn


TABLE = {"provider": "openai", "model": "m", "base_url": f"{NOWHERE}/v1", "mode": "binary"}


def example(number: int, label: str | None, **more: Any) -> Example:
    """Return an example with a label."""
    return Example(f"e{number:03}", f"Why {number}?", f"So {number}.", label=label, **more)  # type: ignore[arg-type]


def found(rows: Sequence[Row], chances: Sequence[float] = (), **limits: float) -> Finding:
    """Return what is found of these labels and grades, against these limits."""
    pairs = tuple(example(number, label, **dict(*more)) for number, (label, _, *more) in enumerate(rows))
    arm = tuple(
        Judgment(
            pair,
            SingleResponseCondition(),
            JudgeReply(
                Verdict(
                    selected,
                    f"Reason {pair.id}.",
                    None if selected else "not-a-choice",
                    probability=Probability(*[math.log(chances[number] / (1 - chances[number]))] * 2)
                    if chances
                    else None,
                )
            ),
        )
        for number, (pair, (_, selected, *_)) in enumerate(zip(pairs, rows, strict=True))
    )
    return checked(pairs, arm, **limits)


def checked(pairs: tuple[Pair, ...], arm: tuple[Judgment, ...], mode: str = "binary", **limits: float) -> Finding:
    """Return what a check finds in an arm about some pairs."""
    table = TABLE | {"mode": mode}
    config = build_config({"judges": {"mine": table}, "gate": {"min_accuracy": 0.99, "agreement": limits}})
    judge = load_judge(table, "mine")
    check = AgreementCheck().for_mode(type(judge.kind), pairs)
    case = CheckInput(judge, "own", pairs, config)
    if why := check.skip_reason(case):
        return Finding("agreement", "mine", "own", "agreement", Status.NOT_APPLICABLE, reasons=(why,))
    return check.evaluate(case, Answers((tuple(each for each in arm if each.pair in check.select_pairs(pairs)),)))


def row_of(finding: Finding, category: str = "all") -> AgreementRow:
    """Return the row of a category."""
    (row,) = (row for row in finding.rows[AgreementRow.place] if row.category == category)  # type: ignore[attr-defined]
    assert isinstance(row, AgreementRow)
    return row


# --- what is measured -------------------------------------------------------------------------------------------


def test_the_row_has_the_table_and_its_rates() -> None:
    """Counts, rates with their intervals, and how much both pass; one person is taken to have labelled."""
    row = row_of(found(table(45, 5, 10, 40)))
    assert (row.n, row.positives, row.negatives, row.invalid) == (100, 50, 50, 0)
    assert (row.tp, row.fn, row.fp, row.tn) == (45, 5, 10, 40)
    rates = (row.tpr, row.tnr, row.accuracy, row.balanced_accuracy, row.pass_rate, row.label_rate)
    assert [each and round(each.value, 12) for each in rates] == [0.9, 0.8, 0.85, 0.85, 0.55, 0.5]
    assert row.kappa == cohen_kappa(45, 5, 10, 40)
    assert row.people.to_json() == {"raters": 1, "kappa": None, "alpha": None}
    assert (row.brier_score, row.calibration_error) == (None, None)


def test_an_invalid_grade_is_wrong() -> None:
    """It is a fail of what people pass and a pass of what they fail, in the rate of passes as well."""
    row = row_of(found([*table(48, 0, 0, 48), ("pass", None), ("pass", None), ("fail", None), ("fail", None)]))
    assert (row.invalid, row.tp, row.fn, row.fp, row.tn) == (4, 48, 2, 2, 48)
    assert row.pass_rate is not None
    assert row.pass_rate.value == 0.5


def test_categories_are_shown_and_decide_nothing() -> None:
    """Each category has a row of its own behind that of all labels."""
    finding = found(
        [("pass", 1, {"category": "a"})] * 20 + [("fail", 1, {"category": "b"})] * 20 + [("fail", 2)] * 20, min_tpr=0.8
    )
    assert [row.category for row in finding.rows["agreement"]] == ["all", "a", "b"]  # type: ignore[attr-defined]
    a = row_of(finding, "a")
    assert (a.n, a.tp, a.tnr, a.kappa, a.status, a.limits) == (20, 20, None, None, "NOT_APPLICABLE", {})
    assert row_of(finding).limits == {"min_tpr": 0.8}


def test_related_examples_are_heeded() -> None:
    """Of ten copies of one grade nine tell nothing: the interval is that of the clusters, and few of them decide nothing."""
    alone = found(table(40, 10, 10, 40), min_kappa=0.3)
    rows = [("pass", 1 + (n % 5 == 0), {"cluster": f"c{n}"}) for n in range(25)] * 2
    rows += [("fail", 2 - (n % 5 == 0), {"cluster": f"d{n}"}) for n in range(25)] * 2
    related = found(rows, min_kappa=0.3)
    a, b = row_of(alone).kappa, row_of(related).kappa
    assert a is not None
    assert b is not None
    assert (b.value, row_of(related).clusters) == (a.value, 50)
    assert b.high - b.low > 1.2 * (a.high - a.low)
    few = [("pass", 1, {"cluster": "one"})] * 30 + [("fail", 2, {"cluster": "two"})] * 30
    assert found(few, min_kappa=0.3).status is Status.INCONCLUSIVE


def test_a_rate_has_the_clusters_of_its_own_class() -> None:
    """Positives in pairs that are alike and single negatives: TPR is that of the pairs, TNR that of single labels."""
    rows: list[Row] = [("pass", 1 if n < 21 else 2, {"cluster": f"c{n}"}) for n in range(25)] * 2
    finding = found([*rows, *[("fail", 2)] * 47, *[("fail", 1)] * 3], min_tpr=0.7)
    pairs = ClusterTotals((2.0,) * 21 + (0.0,) * 4, (2,) * 25)
    row, (part,) = row_of(finding), finding.decided_by
    assert row.tpr == true_positive_rate(42, 8, 3, 47, totals=pairs)
    assert row.tnr == true_negative_rate(42, 8, 3, 47)
    assert row.tpr != true_positive_rate(42, 8, 3, 47)
    assert row.balanced_accuracy == balanced_accuracy(42, 8, 3, 47, totals=(pairs, None))
    assert part.reason == gate_tpr(42, 8, 3, 47, 0.7, totals=pairs).message


def test_a_category_that_is_called_all_is_every_example() -> None:
    """A category of that name makes no second row, and takes nothing out of the first."""
    finding = found([("pass", 1, {"category": "all"})] * 20 + [("fail", 2, {"category": "b"})] * 20)
    assert [(row.category, row.n) for row in finding.rows["agreement"]] == [("all", 40), ("b", 20)]  # type: ignore[attr-defined]


def test_probabilities_are_held_against_labels() -> None:
    """Of a judge that tells how sure it is the row has the Brier score and the calibration error."""
    row = row_of(found(table(40, 10, 10, 40), chances=[0.8] * 50 + [0.2] * 50))
    assert row.brier_score is not None
    assert row.calibration_error is not None
    assert row.brier_score.value == pytest.approx(0.8 * 0 + (50 * 0.04 + 50 * 0.04) / 100)
    assert row.calibration_error.value == pytest.approx(0.2)


def test_probabilities_of_related_examples_count_once() -> None:
    """Every example twice, the two in a cluster: calibration may be as far off as by the examples once."""
    rows, chances = table(12, 3, 3, 12), [0.6, 0.7, 0.8, 0.9, 0.95] * 3 + [0.4, 0.3, 0.2, 0.1, 0.05] * 3
    once = row_of(found(rows, chances))
    pairs = [(*row, {"cluster": f"c{at}"}) for at, row in enumerate(rows)]
    twice = row_of(found([*pairs, *pairs], [*chances, *chances]))
    for ours, theirs in ((once.brier_score, twice.brier_score), (once.calibration_error, twice.calibration_error)):
        assert ours is not None
        assert theirs is not None
        assert (theirs.value, theirs.high) == pytest.approx((ours.value, ours.high), abs=1e-6)


# --- people -----------------------------------------------------------------------------------------------------


def labelled(*people: tuple[str, ...], selected: Sequence[int]) -> Finding:
    """Return what is found of examples that several people labelled: a tuple an example, of p, f and - for none."""
    names, meant = ("anna", "bo", "cy", "dee"), {"p": "pass", "f": "fail"}
    rows: list[Row] = []
    for said, grade in zip(people, selected, strict=True):
        labels = {name: meant[each] for name, each in zip(names, said, strict=False) if each in meant}
        votes = list(labels.values())
        one = None if votes.count("pass") * 2 == len(votes) else max(set(votes), key=votes.count)
        rows.append((one, grade, {"labels": labels}))
    return found(rows, min_kappa=0.1)


def test_people_are_counted_on_what_divides_them_too() -> None:
    """A tie has no label and is not graded; of how far people agree it tells all the same."""
    agreed = [("p", "p")] * 20 + [("f", "f")] * 20
    grades = [1] * 20 + [2] * 20
    row = row_of(labelled(*agreed, selected=grades))
    assert (row.people.raters, row.people.kappa, row.people.alpha) == (2, 1, 1)
    row = row_of(labelled(*agreed, *[("p", "f")] * 10, selected=[*grades, *[1] * 10]))
    assert row.n == 40
    assert row.people.kappa is not None
    assert row.people.alpha is not None
    assert row.people.kappa == pytest.approx(cohen_kappa(20, 10, 0, 20).value)
    assert row.people.alpha < 1


def test_people_of_a_category_are_those_of_its_examples() -> None:
    """Two who agree on all of one category and on nothing of the other: each row has what they do there."""
    here: list[Row] = [
        (said, grade, {"category": "a", "labels": {"anna": said, "bo": said}})
        for said, grade in (("pass", 1), ("fail", 2))
    ] * 10
    there: list[Row] = [
        (None, 1, {"category": "b", "labels": labels})
        for labels in ({"anna": "pass", "bo": "fail"}, {"anna": "fail", "bo": "pass"})
    ] * 9
    b: list[Row] = [
        (said, grade, {"category": "b", "labels": {"cy": said}}) for said, grade in (("pass", 1), ("fail", 2))
    ]
    finding = found([*here, *there, *b])
    of_a, of_b, of_all = (row_of(finding, name).people for name in ("a", "b", "all"))
    assert (of_a.raters, of_a.kappa, of_a.alpha) == (2, 1, 1)
    assert (of_b.raters, of_b.kappa) == (3, -1)
    assert of_all.kappa is not None
    assert -1 < of_all.kappa < 1


def test_a_judge_is_told_how_it_agrees_beside_people(snapshot: SnapshotAssertion) -> None:
    """It is compared with single people, by their own agreement; people's kappa and alpha stand beside that."""
    people = [("p", "p", "f")] * 20 + [("f", "f", "p")] * 20 + [("p", "p", "p")] * 20 + [("f", "f", "f")] * 20
    best = labelled(*people, selected=[1] * 20 + [2] * 20 + [1] * 20 + [2] * 20)
    assert lines_about(best.plain, "other (difference", "kappa among") == snapshot
    poor = labelled(*people, selected=[1, 2] * 40)
    assert lines_about(poor.plain, "agrees less") == snapshot
    unanimous = labelled(*[("p", "p")] * 30, *[("f", "f")] * 30, selected=[1] * 30 + [2] * 30)
    assert lines_about(unanimous.plain, "they agree", "kappa among") == snapshot


def test_a_person_who_labelled_little_makes_no_judge_better(snapshot: SnapshotAssertion) -> None:
    """One label of a fourth person halves the mean kappa of every two people, and not alpha: the judge is told both."""
    three = [("p", "p", "p")] * 54 + [("f", "f", "f")] * 54 + [("p", "p", "f")] * 6 + [("f", "f", "p")] * 6
    grades = [1] * 48 + [2] * 6 + [2] * 48 + [1] * 6 + [1] * 6 + [2] * 6
    before = labelled(*three, selected=grades)
    after = labelled(*[("p", "p", "p", "f"), *three[1:]], selected=grades)
    kappas = [row_of(each).people.kappa or 0 for each in (before, after)]
    assert kappas[1] < 0.6 * kappas[0]
    for finding in (before, after):
        assert lines_about(finding.plain, "agrees less") == snapshot


# --- what decides -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "limits", "status"),
    [
        ((48, 2, 2, 48), {"min_kappa": 0.6}, Status.PASS),
        ((44, 6, 6, 44), {"min_kappa": 0.75}, Status.INCONCLUSIVE),
        ((30, 20, 20, 30), {"min_kappa": 0.6}, Status.FAIL),
        ((48, 2, 2, 48), {"min_tpr": 0.8, "min_tnr": 0.8, "min_accuracy": 0.8, "min_kappa": 0.6}, Status.PASS),
        ((48, 2, 17, 33), {"min_tpr": 0.8, "min_tnr": 0.8}, Status.FAIL),
        ((48, 2, 8, 42), {"min_tpr": 0.8, "min_tnr": 0.8}, Status.INCONCLUSIVE),
        ((50, 0, 0, 50), {}, Status.NOT_APPLICABLE),
    ],
)
def test_bounds_decide(counts: tuple[int, int, int, int], limits: dict[str, float], status: Status) -> None:
    """PASS where each lower bound exceeds its limit, FAIL where an upper one is below it; without limits nothing is."""
    finding = found(table(*counts), **limits)
    assert (finding.status, row_of(finding).status) == (status, status)
    decided = {part.name for part in finding.decided_by}
    assert decided <= {name.removeprefix("min_") for name in limits}
    assert bool(decided) == (status in (Status.FAIL, Status.INCONCLUSIVE))


def test_labels_that_would_settle_it(snapshot: SnapshotAssertion) -> None:
    """An INCONCLUSIVE says with how many labels a judge with these rates passes all that is set."""
    row = row_of(found(table(27, 3, 3, 27), min_tpr=0.8))
    assert row.needed_labels == 180
    assert lines_about(row.message, "80% power") == snapshot
    both = row_of(found(table(27, 3, 3, 27), min_tpr=0.8, min_tnr=0.8))
    assert both.needed_labels is not None
    assert both.needed_labels > 180
    assert lines_about(both.message, "80% power") == snapshot


def test_of_related_labels_it_takes_more(snapshot: SnapshotAssertion) -> None:
    """In clusters of two that are alike it takes about twice the labels, in the row as in what each limit says."""
    once = row_of(found(table(27, 3, 3, 27), min_tpr=0.8, min_tnr=0.8)).needed_labels
    pairs = [(*row, {"cluster": f"c{at}"}) for at, row in enumerate(table(27, 3, 3, 27))]
    row = row_of(found([*pairs, *pairs], min_tpr=0.8, min_tnr=0.8))
    assert once is not None
    assert row.needed_labels == pytest.approx(2 * once, rel=0.1)
    assert lines_about(row.message, "80% power") == snapshot


@pytest.mark.parametrize(
    "rows",
    [[("pass", 1)] * 60, [("fail", 2)] * 60, table(60, 0, 0, 9), [(None, 1)] * 30],
    ids=["one class", "the other", "nine", "none"],
)
@pytest.mark.parametrize("limit", ["min_tpr", "min_tnr", "min_kappa", "min_accuracy"])
def test_lacking_labels_are_no_pass(rows: list[Row], limit: str, snapshot: SnapshotAssertion) -> None:
    """With one class alone, nine of one, or none at all nothing passes, and the message says what lacks."""
    finding = found(rows, **{limit: 0.5})
    assert finding.status is not Status.PASS
    assert row_of(finding).message == snapshot
    assert "label" in finding.plain


def test_what_settles_all_limits_is_told_to_people_too(snapshot: SnapshotAssertion) -> None:
    """Of several limits the largest number counts: it stands in the sentence and in what a failing item says."""
    finding = found(table(44, 6, 6, 44), min_kappa=0.7, min_tnr=0.85)
    needed = row_of(finding).needed_labels
    assert needed is not None
    assert lines_about(finding.plain, "80% power") == snapshot
    assert lines_about(finding.text, "80% power") == snapshot


@pytest.mark.parametrize(("unlabelled", "says"), [(3, "3 examples have no label. "), (0, "has a label")])
def test_labels_are_asked_for_where_they_lack(unlabelled: int, says: str) -> None:
    """The command of the labelling page stands there only where an example has no label."""
    said = found(table(44, 6, 6, 44) + [(None, 1)] * unlabelled, min_kappa=0.7).text
    assert says in said
    assert ("judgefixtures label own --by NAME" in said) == bool(unlabelled)


def test_grades_that_nobody_can_read_are_no_disagreement(snapshot: SnapshotAssertion) -> None:
    """They count as wrong and are told as what they are: no label can be wrong there, and no prompt unclear."""
    said = found([*table(40, 4, 4, 40), ("pass", None), ("fail", None)], min_kappa=0.9).text
    assert "In 4 of 8 disagreements" in said
    assert lines_about(said, "invalid and") == snapshot
    lost = found([("pass", None)] * 30 + [("fail", None)] * 30, min_kappa=0.1)
    assert "disagreement" not in lost.text
    assert lost.plain.count("0 of 30") == 2


@pytest.mark.parametrize("limits", [{"min_kappa": 0.1}, {}], ids=["a limit", "no limit"])
def test_grades_that_nobody_can_read_are_an_error(limits: dict[str, float]) -> None:
    """Demonstrably more than max_invalid decide nothing, whatever the others say, and whether a limit is set or not."""
    finding = found([("pass", None)] * 30 + [("fail", None)] * 30, **limits)
    assert finding.status is Status.ERROR
    assert "60 of 60 grades are invalid" in row_of(finding).message
    assert [part.name for part in finding.decided_by] == ["invalid"]


def test_a_failure_shows_disagreements(snapshot: SnapshotAssertion) -> None:
    """Three examples with the judge's reasons, of the larger side first, and what to do."""
    said = found(table(48, 2, 17, 33), min_tnr=0.8).text
    assert lines_about(said, "own passes") == snapshot
    assert "TNR 33/50 = 0.66" in said
    assert len(re.findall(r"the judge passed it\n    Reason e\d+\.", said)) == 3
    assert lines_about(said, "passes what") == snapshot


# --- what it is asked about -------------------------------------------------------------------------------------


def test_pairs_have_no_labels(snapshot: SnapshotAssertion) -> None:
    """On a dataset of pairs, and of a judge of pairs, agreement is NOT_APPLICABLE and says why."""
    two = [Pair(f"p{n}", "Why?", "So.", "No.", gold=1) for n in range(30)]
    examples = tuple(each for pair in two for each in as_examples(pair))
    assert "own has pairs" in checked(examples, (), min_kappa=0.6).reasons[0]
    assert lines_about(checked(tuple(two), (), "pairwise", min_kappa=0.6).reasons[0], "no pass/fail grades") == snapshot
    unlabelled = tuple(example(number, None) for number in range(20))
    assert lines_about(checked(unlabelled, ()).reasons[0], "has a label") == snapshot


GRADER = """
import json, re

def grade(prompt):
    number = int(re.search(r"So (\\d+)", prompt)[1])
    right = "pass" if number % 2 else "fail"
    wrong = "fail" if number % 2 else "pass"
    return json.dumps({"verdict": wrong if number % 10 == 4 else right, "reason": f"Number {number}."})
"""
COUNTING = """
import grader

def grade(prompt):
    with open("asked.txt", "a") as asked:
        asked.write(".")
    return grader.grade(prompt)
"""
TABLES = """control = false
judge = "mine"
dataset = ["own"]
[judges.mine]
provider = "python"
target = "grader:grade"
mode = "binary"
template = "own.txt"
[judges.pairs]
provider = "openai"
model = "m"
[datasets.own]
path = "own.jsonl"
[gate.agreement]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with a grader that is a function and errs about 1 of 10, and 60 labelled examples."""
    project = Project(pytester, in_pyproject)
    rows = [example(number, "pass" if number % 2 else "fail") for number in range(60)]
    project.write("own.jsonl", json_lines(map(pair_to_row, rows)))
    project.write("own.txt", "{question} {response} {cue}")
    project.write("grader.py", GRADER)
    pytester.syspathinsert()
    project.copy_tests("agreement")
    return project


@pytest.mark.parametrize(
    ("limits", "code"), [("min_kappa = 0.6\n", 0), ("min_tnr = 0.95\n", 1), ("min_tpr = 0.95\n", 1), ("", 11)]
)
def test_a_run_gates_agreement(project: Project, limits: str, code: int, snapshot: SnapshotAssertion) -> None:
    """The shipped test has an item a dataset, selected by -k and by its mark; its row is in every report."""
    project.configure(TABLES + limits)
    assert project.ids("-k", "agreement") == ["test_agreement.py::test_agreement[mine-own-agreement]"]
    assert project.ids("-m", "judge_agreement") == ["test_agreement.py::test_agreement[mine-own-agreement]"]
    ran = project.run("-k", "agreement", "--judge-report", "report")
    assert ran.ret == code
    assert lines_about(ran.said, "agreement: does") == snapshot
    report = json.loads((project.path / "report" / "report.json").read_text())
    (row,) = report["agreement"]
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == (30, 0, 6, 24)
    assert row["kappa"]["value"] == pytest.approx(0.8)
    for name in ("report.md", "report.html"):
        text = (project.path / "report" / name).read_text()
        assert lines_about(text, "own passes") == snapshot


@pytest.mark.parametrize(
    ("passed", "failed", "limits", "needed"),
    [
        (29, 15, {"min_tpr": 0.9}, None),  # a judge that is right on all 29 has a lower bound of .902
        (28, 15, {"min_tpr": 0.9}, 44),
        (10, 15, {"min_kappa": 0.6}, None),
        (30, 30, {"min_tpr": 0.95}, 118),
    ],
)
def test_labels_that_a_perfect_judge_passes_with_are_enough(
    passed: int, failed: int, limits: dict[str, float], needed: int | None
) -> None:
    """No recording is refused with labels with which a judge that agrees with all of them PASSes."""
    examples = [example(number, "pass" if number < passed else "fail") for number in range(passed + failed)]
    config = build_config({"judges": {"mine": TABLE}, "gate": {"agreement": limits}})
    need = AgreementCheck().min_sample(config, config.judge_table("mine"), "own", examples)
    assert (need and need.at_least) == needed
    best = found(table(passed, 0, 0, failed), **limits)
    assert (best.status is Status.PASS) == (needed is None)


def test_the_preflight_says_what_so_many_labels_can_show(project: Project, snapshot: SnapshotAssertion) -> None:
    """How often a good judge passes, and how many labels would do; what cannot pass at all is refused a recording."""
    project.configure(TABLES + "min_tpr = 0.8\n")
    said = project.run("-k", "agreement", "--judge-preflight").said
    expected = (
        "with 60 labels, a judge with TPR and TNR 0.90 passes min_tpr = 0.80 in 41% of runs; use about 180 labels"
    )
    assert f"agreement on own: {expected}" in said
    project.configure(TABLES + "min_tpr = 0.95\n")
    said = project.run("-k", "agreement", "--judge-preflight").said
    assert lines_about(said, "agreement on") == snapshot


def test_a_judge_of_pairs_is_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """Of a judge that chooses there is no item, and whoever names it is told what asks it."""
    project.configure(TABLES)
    ran = project.run("-k", "agreement", "--judge", "pairs", "--judge-dataset", "house-qa", "--collect-only")
    assert lines_about(ran.said, "responses: agreement") == snapshot
    assert project.ids("--judge", "pairs", "--judge-dataset", "house-qa") == []


def test_labelled_examples_alone_are_asked_about(project: Project) -> None:
    """Of 60 examples of which 20 have no label the judge is asked about 40: no call is paid for that counts nothing."""
    rows = [example(at, None if at % 3 == 0 else "pass" if at % 2 else "fail") for at in range(60)]
    project.write("own.jsonl", json_lines(map(pair_to_row, rows)))
    project.write("counting.py", COUNTING)
    project.configure(TABLES.replace("grader:grade", "counting:grade") + "min_kappa = 0.3\n")
    with Run.from_config(project.path / "pyproject.toml") as run:
        finding = run.gate("agreement", judge="mine", dataset="own")
    assert row_of(finding).n == 40
    assert len((project.path / "asked.txt").read_text()) == 40


def test_from_python(project: Project) -> None:
    """A script gets the same finding as pytest's item."""
    project.configure(TABLES + "min_kappa = 0.6\n")
    with Run.from_config(project.path / "pyproject.toml") as run:
        finding = run.gate("agreement", judge="mine", dataset="own")
    assert finding.status is Status.PASS
    assert finding.estimate is not None
    assert finding.estimate.value == pytest.approx(0.8)


# --- then and now -----------------------------------------------------------------------------------------------

Comparing = Callable[[str, str], tuple[int, list[str]]]


@pytest.fixture
def compare(project: Project, capsys: pytest.CaptureFixture[str]) -> Comparing:
    """Return what compares two reports of the repository: the exit code, and the lines that are said."""

    def compare(old: str, new: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        code = main(["report", "compare", *(str(project.path / name) for name in (old, new))])
        return code, capsys.readouterr().out.splitlines()

    return compare


def report(project: Project, name: str, *relabelled: int) -> None:
    """Write a report of agreement with the labels, some of which are the other one now."""
    rows = [example(n, "pass" if (n % 2 == 1) != (n in relabelled) else "fail") for n in range(60)]
    project.write("own.jsonl", json_lines(map(pair_to_row, rows)))
    project.run("-k", "agreement", "--judge-report", name)


def cells(lines: list[str]) -> dict[str, list[str]]:
    """Return old, new, change, and which examples were asked about, by what is compared."""
    rows = [re.split(r"  +", line) for line in lines if line.startswith("mine   own")]
    return {row[2]: [*row[3:6], row[7]] for row in rows}


def test_two_reports_of_agreement_are_compared(
    project: Project, compare: Comparing, snapshot: SnapshotAssertion
) -> None:
    """Shares by example, kappa as independent; a status that changed is told, and the words are those of examples."""
    project.configure(TABLES + "min_kappa = 0.6\n")
    report(project, "old")
    project.write("grader.py", GRADER.replace("number % 10 == 4", "number % 10 in (2, 4, 6, 8)"))
    report(project, "new")
    code, lines = compare("old", "new")
    assert code == 1
    assert lines_about(lines[0], "result is") == snapshot
    assert lines[1].startswith("CHANGED: 3 of 4 estimates")  # all that people pass it passes, as before
    assert cells(lines) == {
        "TNR": ["+0.80", "+0.20", "-0.60", "same"],
        "accuracy": ["+0.90", "+0.60", "-0.30", "same"],
        "kappa": ["+0.80", "+0.20", "-0.60", "-"],
    }
    assert lines_about(lines, "examples: same", "not a mean", "own: agreement") == snapshot
    assert not any("pairs" in line for line in lines)


def test_labels_that_changed_are_told(project: Project, compare: Comparing, snapshot: SnapshotAssertion) -> None:
    """How many and the first of them, where no number differs as well; the examples are the same ones."""
    project.configure(TABLES)
    report(project, "old")
    report(project, "two", 1, 4)
    code, lines = compare("old", "two")
    assert code == 0
    assert lines_about(lines[0], "CHANGE: 0") == snapshot
    assert lines[1:] == snapshot
    report(project, "seven", *range(6, 13))
    _, lines = compare("old", "seven")
    assert lines[-1] == snapshot
    which = {what: row[-1] for what, row in cells(lines).items()}
    assert which == {"TPR": "others", "TNR": "others", "accuracy": "same", "kappa": "-"}
