"""Answers by length, format and model: the groups, what stands beside them, and what an import says it can show."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.importing import Rows, importer, run
from support.project import Project, in_pyproject, read_rows
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.checks import ALONE_CHECKS, CheckInput
from judgefixtures.checks.answer_groups import ANSWERS_BY, AnswersByRow
from judgefixtures.checks.sections import DisplayOptions
from judgefixtures.config import build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.groupings import HAS, LENGTH, THIRDS, AnswerGroup, example_groups, pair_groups
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, SingleResponseCondition
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair, swap_responses
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.text_features import FORMATS, count_words, formats_of
from judgefixtures.models.verdicts import Verdict
from judgefixtures.run.samples import SampledPairs
from judgefixtures.sources.sample import Sample
from judgefixtures.statistics import Estimate, paired_difference, points_shift, proportion
from judgefixtures.statistics.clusters import cluster_totals

pytest_plugins = ["pytester"]

LIST, TABLE = "Two steps:\n- boil\n- wait", "| a | b |\n|---|---|\n| 1 | 2 |"


# --- what is counted ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LIST, {"list"}),
        ("1. Boil.\n\n2. Wait.", {"list"}),
        ("I have one point:\n- boil it", {"plain text"}),
        ("- said she, -5 degrees - and left", {"plain text"}),
        (TABLE, {"table"}),
        ("a | b\n:-- | --:\n1 | 2", {"table"}),
        ("a - b\n---\nc | d", {"plain text"}),
        ("## Steps\nBoil it.", {"headings"}),
        ("We are #1 in C# and #tags.", {"plain text"}),
        ("Run it:\n```sh\n# not a heading\n- no\n- list\n```\n", {"code"}),
        ("Call `run` first.", {"code"}),
        ("``Quoted'' as of old, and ``again''.", {"plain text"}),
        ("It is **very** hot, 2 ** 3 is 8.", {"bold"}),
        ("2 ** 3 ** 4", {"plain text"}),
        ("<h2>Steps</h2><table><tr><td><strong>one</strong></td></tr></table>", {"headings", "table", "bold"}),
        ("~~~\nnever closed", {"code"}),
        ("", {"plain text"}),
    ],
)
def test_what_a_response_has_of_a_format(text: str, found: set[str]) -> None:
    """What Markdown or HTML would show is found, and what only looks like it in a text is not."""
    assert formats_of(text) == found


@given(st.text(alphabet="ab `~#*-|:.1\n\t<>", max_size=200))
def test_plain_text_has_no_other_format(text: str) -> None:
    """Every text has a format, and plain text is what has none of the others."""
    found = formats_of(text)
    assert found
    assert found <= {*FORMATS}
    assert "plain text" not in found or len(found) == 1


# --- judges of one response -----------------------------------------------------------------------------------------


def example(number: int, response: str, label: str | None = None, **more: Any) -> Example:
    """Return an example with this response."""
    return Example(f"e{number:03}", f"Why {number}?", response, label=label, **more)  # type: ignore[arg-type]


def graded(pair: Pair, selected: int | None) -> Judgment:
    """Return a grade: 1 passed, 2 failed, None is invalid."""
    return Judgment(
        pair, SingleResponseCondition(), JudgeReply(Verdict(selected, "So.", None if selected else "no-json"))
    )  # type: ignore[arg-type]


def numbered(groups: Sequence[AnswerGroup]) -> dict[tuple[str, str], AnswerGroup]:
    """Return groups by what they are."""
    return {(group.by, group.name): group for group in groups}


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 90% interval, as in the books."""
    z = NormalDist().inv_cdf(0.95)
    share = k / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    width = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - width, centre + width


def near(found: Estimate | None, value: float, low: float, high: float, n: int) -> None:
    """Assert what an estimate is."""
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=1e-9)
    assert (found.n, found.confidence) == (n, 0.90)


def test_a_judge_that_goes_by_lists_is_told_from_better_answers() -> None:
    """People pass as many with a list as without; the judge passes nearly all that have one: the difference says so."""
    arm = []
    for number in range(80):
        label, has_list = ("pass", "fail")[number % 2], number < 40
        passed = number != 0 if has_list else label == "pass"
        arm.append(graded(example(number, LIST if has_list else "Boil it, then wait.", label), 1 if passed else 2))
    groups = numbered(example_groups(arm))
    assert {by for by, _ in groups} == {"list", "plain text"}
    with_list = groups["list", "yes"]
    near(with_list.judged, 39 / 40, *wilson(39, 40), 40)
    near(with_list.people, 0.5, *wilson(20, 40), 40)
    # Passed and labelled fail: 20; failed and labelled pass: the first.
    tango = paired_difference(20, 1, 40)
    near(with_list.difference, 19 / 40, tango.low, tango.high, 40)
    without = groups["list", "no"].difference
    assert without is not None
    assert without.value == 0
    assert without.low < 0 < without.high


def test_what_is_invalid_or_not_labelled_is_in_no_share_that_needs_it() -> None:
    """An invalid grade is counted apart; people's share, and the difference, are of the labelled ones alone."""
    labels = ["pass", "fail", None, None, "pass", "fail"] * 5
    grades = [1, 1, 1, 2, None, 2] * 5
    texts = ["Short."] * 15 + ["It is **long**, and has more words."] * 15
    arm = [
        graded(example(n, text, label), grade)
        for n, (text, label, grade) in enumerate(zip(texts, labels, grades, strict=True))
    ]
    group = numbered(example_groups(arm))["bold", "yes"]
    members = [(label, grade) for text, label, grade in zip(texts, labels, grades, strict=True) if "**" in text]
    valid = [(label, grade) for label, grade in members if grade]
    known = [(label, grade) for label, grade in valid if label]
    assert (group.n, group.invalid) == (len(valid), len(members) - len(valid))
    passed, liked = sum(grade == 1 for _, grade in valid), sum(label == "pass" for label, _ in known)
    near(group.judged, passed / len(valid), *wilson(passed, len(valid)), len(valid))
    near(group.people, liked / len(known), *wilson(liked, len(known)), len(known))
    assert group.difference is not None
    assert group.difference.n == len(known)
    assert group.difference.value == pytest.approx(sum((g == 1) - (lab == "pass") for lab, g in known) / len(known))


def test_related_answers_are_counted_as_clusters() -> None:
    """Four answers to one question are hardly more than one: the intervals are those over clusters."""
    arm = []
    for number in range(80):
        text = "It is **so**." if number < 40 else "It is so."
        pair = example(number, text, "pass" if number // 4 % 3 else "fail", cluster=f"q{number // 4}")
        arm.append(graded(pair, 1 if number // 4 % 2 else 2))
    group = numbered(example_groups(arm))["bold", "yes"]
    labels = [number // 4 for number in range(40)]
    passed = [number // 4 % 2 for number in range(40)]
    expected = proportion(sum(passed), 40, totals=cluster_totals(passed, labels))
    near(group.judged, expected.value, expected.low, expected.high, 40)
    moves = [score - (number // 4 % 3 > 0) for number, score in enumerate(passed)]
    up, down = sum(move > 0 for move in moves), sum(move < 0 for move in moves)
    paired = paired_difference(up, down, 40, totals=cluster_totals(moves, labels))
    near(group.difference, paired.value, paired.low, paired.high, 40)
    assert group.clusters == 10
    assert expected.high - expected.low > wilson(20, 40)[1] - wilson(20, 40)[0]


def test_scores_have_a_mean_in_points() -> None:
    """A judge without a mark neither passes nor fails: its mean score stands beside what people pass, and no difference."""
    scores = [2.0, 8.0, 9.0, 7.0, 3.0, 10.0] * 5
    arm = [
        Judgment(
            example(n, "Boil it." + " Wait." * (n >= 15), "pass" if n % 3 else "fail"),
            SingleResponseCondition(),
            JudgeReply(Verdict(None, "So.", tie=True, scores=(score,))),
        )
        for n, score in enumerate(scores)
    ]
    group = numbered(example_groups(arm, scale=(1.0, 10.0)))[LENGTH, "shortest"]
    shares = [(score - 1) / 9 for score in scores[:15]]
    expected = points_shift(shares)
    near(group.judged, sum(scores[:15]) / 15, 1 + 9 * expected.low, 1 + 9 * expected.high, 15)
    near(group.people, 10 / 15, *wilson(10, 15), 15)
    assert group.difference is None


TEXTS = st.sampled_from(["", LIST, TABLE, "# A\nb", "`c` d e", "**f**", "g h i", "j k l m n", "o " * 30])
MADE = st.lists(
    st.tuples(
        TEXTS,
        st.sampled_from(["pass", "fail", None]),
        st.sampled_from([1, 2, None]),
        st.sampled_from([None, "a", "b", "c"]),
        st.sampled_from([None, "q1", "q2"]),
    ),
    max_size=40,
)


@given(MADE)
def test_every_response_is_in_one_group_by_everything(made: list[tuple[Any, ...]]) -> None:
    """Whatever the answers are: by each thing the groups are apart, none is empty, and together they are all."""
    arm = []
    for number, (text, label, selected, model, cluster) in enumerate(made):
        columns = {} if model is None else {"model": model}
        arm.append(graded(example(number, text, label, columns=columns, cluster=cluster), selected))
    groups = example_groups(arm)
    wrote = [judgment for judgment in arm if "model" in judgment.pair.columns]
    for by in {group.by for group in groups}:
        own, whole = [group for group in groups if group.by == by], wrote if by == "model" else arm
        ids = Counter(said.pair.id for group in own for said in group.members)
        assert ids == Counter(judgment.pair.id for judgment in whole)
        assert len({group.name for group in own}) == len(own) > 1
        assert sum(group.n + group.invalid for group in own) == len(whole)
        assert sum(group.n for group in own) == sum(judgment.selected is not None for judgment in whole)
        for group in own:
            assert group.members
            for found in (group.judged, group.people, group.difference):
                assert found is None or found.low <= found.value <= found.high
                assert found is None or found.n <= group.n
    lengths = [[count_words(said.pair.response_1) for said in group.members] for group in groups if group.by == LENGTH]
    assert [group.name for group in groups if group.by == LENGTH] == [
        name for name in THIRDS if (LENGTH, name) in numbered(groups)
    ]
    assert all(max(one) < min(other) for one, other in itertools.pairwise(lengths))


def test_thirds_are_thirds() -> None:
    """Thirty lengths make three groups of ten; equal lengths are not torn apart."""
    arm = [graded(example(n, "word " * (n + 1)), 1) for n in range(30)]
    found = numbered(example_groups(arm))
    assert [found[LENGTH, name].n for name in THIRDS] == [10, 10, 10]
    assert [found[LENGTH, name].words for name in THIRDS] == [(1, 10), (11, 20), (21, 30)]
    equal = [graded(example(n, "word " * (1 if n < 25 else 9)), 1) for n in range(30)]
    assert [(group.name, group.n) for group in example_groups(equal)] == [("shortest", 25), ("longest", 5)]


# --- judges of pairs ------------------------------------------------------------------------------------------------


def chosen(pair: Pair, choice: int | None, *, turned: bool = False) -> Judgment:
    """Return a verdict for what stood first (1) or second (2), a tie (0), or an invalid one."""
    verdict = Verdict(None, "So.", tie=True) if choice == 0 else Verdict(choice, "So.", None if choice else "no-json")  # type: ignore[arg-type]
    return Judgment(pair, NO_CUE_SWAPPED if turned else NO_CUE, JudgeReply(verdict))


def test_how_often_the_longer_response_is_chosen() -> None:
    """Over both orders, a tie half, beside how often gold is the longer one; equally long ones and invalid ones apart."""
    long, short = "It is so because of this.", "It is so."
    rows: list[tuple[str, str, int, int | None, int | None]] = [
        (long, short, 1, 1, 2),  # the longer one in both orders
        (long, short, 2, 1, 2),
        (short, long, 1, 2, 2),  # what stands second
        (short, long, 1, 1, 0),  # the shorter one, and a tie
        (long, long, 1, 1, 2),  # none is longer
        (long, short, 1, None, 2),  # invalid in one order
    ]
    pairs = [Pair(f"p{n}", f"Why {n}?", one, two, gold) for n, (one, two, gold, *_) in enumerate(rows)]  # type: ignore[arg-type]
    own = [chosen(pair, row[3]) for pair, row in zip(pairs, rows, strict=True)]
    other = [chosen(pair, row[4], turned=True) for pair, row in zip(pairs, rows, strict=True)]
    group = numbered(pair_groups([own, other]))[LENGTH, "longer"]
    assert (group.n, group.invalid) == (4, 1)
    assert [said.judge for said in group.valid] == [1, 1, 0.5, 0.25]
    assert group.judged is not None
    assert group.people is not None
    assert group.difference is not None
    assert (group.judged.value, group.people.value, group.difference.value) == (2.75 / 4, 0.25, (2.75 - 1) / 4)
    alone = numbered(pair_groups([own]))[LENGTH, "longer"]
    assert (alone.n, [said.judge for said in alone.valid]) == (4, [1, 1, 1, 0])


def test_pairs_of_which_one_response_has_a_format_or_a_model() -> None:
    """A list in both, or in none, tells nothing; a model's responses are counted against all others'."""
    rows = [
        (LIST, "No.", "a", "b", 1),
        ("No.", LIST, "b", "a", 1),
        (LIST, LIST, "a", "a", 1),
        ("No.", "Yes.", "b", "c", 2),
    ]
    pairs = [
        Pair(f"p{n}", f"Why {n}?", one, two, columns={"model_1": first, "model_2": second})
        for n, (one, two, first, second, _) in enumerate(rows)
    ]
    groups = numbered(pair_groups([[chosen(pair, row[4]) for pair, row in zip(pairs, rows, strict=True)]]))
    lists = groups["list", HAS[True]]
    assert (lists.n, lists.judged and lists.judged.value, lists.people, lists.difference) == (2, 0.5, None, None)
    said = {name: [each.judge for each in group.members] for (by, name), group in groups.items() if by == "model"}
    assert said == {"a": [1, 0], "b": [0, 1, 0], "c": [1]}
    assert [name for by, name in groups if by == "model"] == ["a", "b", "c"]


def test_who_wrote_a_response_changes_places_with_it() -> None:
    """A pair whose responses change places is still by the models that wrote them; nothing else of it moves."""
    pair = Pair("p", "Why?", "So.", "No.", columns={"model_1": "a", "model_2": "b", "source": "a book"})
    assert swap_responses(pair).columns == {"model_1": "b", "model_2": "a", "source": "a book"}
    assert dict(swap_responses(swap_responses(pair)).columns) == dict(pair.columns)


def test_who_wrote_what_is_fetched_is_told_as_a_replay_tells_it() -> None:
    """What is frozen with fetched pairs are the columns that a template shows: the others are in no recording's report."""
    columns = {"model": "a", "model_1": "b", "source": "a book"}
    pairs = (Pair("p", "Why?", "So.", "No.", columns=columns),)
    samples = Run.from_config(None).samples
    fetched = samples._unsigned("simulated-faithful", SampledPairs(pairs, Sample(pairs), 1))
    assert [dict(pair.columns) for pair in fetched.pairs] == [{"source": "a book"}]


# --- what is told ---------------------------------------------------------------------------------------------------


def rows_by(name: str, arms: Sequence[Sequence[Judgment]], **table: Any) -> list[AnswersByRow]:
    """Return the rows of a check."""
    table = {"provider": "openai", "model": "m", "base_url": f"{NOWHERE}/v1", **table}
    config = build_config({"judges": {"mine": table}})
    case = CheckInput(load_judge(table, "mine"), "own", tuple(each.pair for each in arms[0]), config)
    return [row for row in ALONE_CHECKS[f"judge_{name}"].ungated_rows(case, arms) if isinstance(row, AnswersByRow)]


def lines(rows: Sequence[AnswersByRow]) -> list[str]:
    """Return what the terminal shows of rows."""
    return ANSWERS_BY.lines({ANSWERS_BY.key: rows_as_json(rows)}, DisplayOptions())


def test_the_group_that_stands_out_is_told(snapshot: SnapshotAssertion) -> None:
    """A judge that passes all of one model's: of length, format and model the terminal has the group that shows most."""
    arm = []
    for number in range(60):
        model, label = "ab"[number % 2], ("pass", "fail")[number // 2 % 2]
        text = f"It is {'**so**' if number % 4 == 0 else 'so'}{' indeed' * (number % 3)}."
        arm.append(
            graded(example(number, text, label, columns={"model": model}), 1 if model == "a" or label == "pass" else 2)
        )
    said = lines(rows_by("agreement", [arm], mode="binary"))
    assert [line.partition(":")[0] for line in said[:-1]] == snapshot
    (of_model,) = [line for line in said if ", by model: " in line]
    assert of_model == snapshot
    assert "; people pass 0.50, difference +0.50 (90% CI " in of_model
    assert said[-1] == snapshot
    assert "p =" not in "".join(said)


def test_a_few_answers_say_nothing_in_the_terminal() -> None:
    """Groups of fewer than ten are in report.json, and nowhere else; without any there is no line at all."""
    arm = [graded(example(n, "word " * (n + 1)), 1) for n in range(20)]
    rows = rows_by("agreement", [arm], mode="binary")
    assert [row.n for row in rows] == [7, 7, 6]
    assert lines(rows) == []
    assert list(ANSWERS_BY.cells({ANSWERS_BY.key: rows_as_json(rows)})) == []


def test_each_check_shows_its_own_kind_of_judge() -> None:
    """Choices are shown by accuracy, grades by agreement, scores without a mark by accuracy, and none of them twice."""
    arm = [graded(example(n, "word " * (n + 1)), 1) for n in range(6)]
    scored = [
        Judgment(each.pair, SingleResponseCondition(), JudgeReply(Verdict(None, "So.", tie=True, scores=(7.0,))))
        for each in arm
    ]
    pairs = [chosen(Pair(f"p{n}", "Why?", "So it is.", f"{n}"), 1) for n in range(6)]
    asked: list[tuple[list[Judgment], dict[str, Any]]] = [
        (arm, {"mode": "binary"}),
        (scored, {"mode": "pointwise"}),
        (pairs, {}),
        (arm, {"mode": "pointwise", "pass_mark": 7}),
    ]
    found = [
        {name: {row.outcome for row in rows_by(name, [judgments], **table)} for name in ("accuracy", "agreement")}
        for judgments, table in asked
    ]
    assert [each["accuracy"] for each in found] == [set(), {"score"}, {"chosen"}, set()]
    assert [each["agreement"] for each in found] == [{"passed"}, set(), set(), {"passed"}]


# --- from a log to the report -----------------------------------------------------------------------------------------

MINE = '[judges.mine]\nprovider = "imported"\nmode = "binary"\n'
OWN = '[datasets.own]\npath = "cassettes/mine/own/pairs.jsonl"\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with an imported grader."""
    project = Project(pytester, lambda tables=MINE: in_pyproject(tables), fresh=True)
    project.copy_tests("agreement", "accuracy")
    project.configure()
    return project


@pytest.fixture
def take(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import rows as the command does, and return what it says."""
    return importer(project, capsys)


def log(n: int = 60, **more: Any) -> Rows:
    """Return grades of responses by two models, of which the judge likes one."""
    return [
        {
            "id": f"e{number:02}",
            "question": f"Question {number}?",
            "response": f"This, {number}." + " And more." * (number % 5),
            "model": "ab"[number % 2],
            "label": ("pass", "fail")[number // 2 % 2],
            "verdict": "pass" if number % 2 == 0 or number // 2 % 2 == 0 else "fail",
            "reason": "It names the year.",
            **more,
        }
        for number in range(n)
    ]


def of_model(report: Any) -> dict[str, tuple[int, float, float | None]]:
    """Return of each model's responses how many there are, and what judge and people pass."""
    return {
        row["group"]: (row["n"], row["judged"]["value"], row["people"] and row["people"]["value"])
        for row in report["answers_by"]
        if row["by"] == "model"
    }


def test_a_log_that_names_models_shows_who_is_liked(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """From the log to report.json, report.md, the page and a line; the table is in the terminal where it shows more."""
    said = take(log())
    assert lines_about(said, "length") == snapshot
    assert {row["id"]: row["model"] for row in read_rows(project.cassettes / "mine/own/pairs.jsonl")} == {
        f"e{number:02}": "ab"[number % 2] for number in range(60)
    }
    project.configure(MINE + OWN)
    ran = run(project, "-k", "agreement")
    assert of_model(ran.report) == {"a": (30, 1.0, 0.5), "b": (30, 0.5, 0.5)}
    assert lines_about(ran.said, "model: passes") == snapshot
    assert "| mine | own | model | a | 30 |" in (ran.folder / "report.md").read_text()
    assert lines_about((ran.folder / "report.html").read_text(), "model: passes") == snapshot
    header = "judge  dataset  by "
    assert header not in ran.said
    assert header in run(project, "-k", "agreement", "-v").said


def test_a_log_without_labels_shows_its_groups_too(project: Project, take: Callable[..., str]) -> None:
    """Where nobody labelled there is no agreement, and what the judge passes of whom is shown all the same."""
    take([{name: value for name, value in row.items() if name != "label"} for row in log()])
    project.configure(MINE + OWN)
    ran = run(project, "-k", "agreement")
    assert ran.report["results"][0]["status"] == "NOT_APPLICABLE"
    assert of_model(ran.report) == {"a": (30, 1.0, None), "b": (30, 0.5, None)}


def test_a_column_may_be_named(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """The writer may stand anywhere in a row; of a log about examples that are known it is added to these."""
    rows = [{**row, "by": {"name": row["model"]}} for row in log()]
    project.write_pairs(
        [{name: row[name] for name in ("id", "question", "response", "label")} for row in rows], "examples.jsonl"
    )
    bare = [{name: row[name] for name in ("id", "verdict", "by")} for row in rows]
    take(bare, "--dataset", "own", "--pairs", "examples.jsonl", "--columns", "model=by.name")
    assert [row["model"] for row in read_rows(project.cassettes / "mine/own/pairs.jsonl")] == ["a", "b"] * 30
    take(bare, "--dataset", "own", "--pairs", "examples.jsonl")
    assert not any("model" in row for row in read_rows(project.cassettes / "mine/own/pairs.jsonl"))
    assert take(rows, "--columns", "model=nothing", code=2) == snapshot


def test_a_column_of_the_judge_is_not_of_who_wrote(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Two models of one response, or rows chosen by that column: it tells the judge, which is said, and is not kept."""
    again = [{**row, "repeat": repeat, "model": f"judge-{repeat}"} for row in log() for repeat in (0, 1)]
    said = take(again)
    assert lines_about(said, "--columns") == snapshot
    assert not any("model" in row for row in read_rows(project.cassettes / "mine/own/pairs.jsonl"))
    wrong = take(again, "--columns", "model=model", code=2)
    assert wrong == snapshot
    take(again, "--where", "model=judge-1")
    assert not any("model" in row for row in read_rows(project.cassettes / "mine/own/pairs.jsonl"))


def test_a_model_is_no_field_of_choices(
    take: Callable[..., str], project: Project, snapshot: SnapshotAssertion
) -> None:
    """A pair has two writers: one column for both is a mistake that is told."""
    project.configure("")
    rows = [{"id": "p", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}]
    assert take(rows, "--columns", "model=id", code=2) == snapshot


# --- what an import says it can show ----------------------------------------------------------------------------------


def said_of(text: str) -> tuple[list[str], list[str]]:
    """Return what a summary says that a log shows, and cannot show."""
    lines = text.splitlines()
    shows = next((line.partition(": ")[2].split("; ") for line in lines if line.startswith("  shows: ")), [])
    return shows, [line.strip() for line in lines if line.startswith("    ")]


def test_what_grades_show(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Labels, reasons and groups are counted; what is lacking is named with why, and with the option that names it."""
    can, cannot = said_of(take(log()))
    assert can == snapshot
    assert cannot == snapshot


def test_what_is_there_in_part_is_told_so(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Repeats of some, few labels, copies, cues without reasons: each is told as far as it goes."""
    rows = [{**row, "reason": ""} for row in log()]
    for row in rows[4:]:
        del row["label"]
    again = [{**row, "repeat": 1} for row in rows[:40]]
    cued = [{**row, "condition": f"recency-{age}"} for row in rows for age in ("new", "old")]
    copies = [{**rows[0], "id": "e98"}, {**rows[1], "id": "e99", "verdict": "fail"}]
    can, cannot = said_of(take([*({**row, "repeat": 0} for row in rows), *again, *cued, *copies]))
    assert can[0] == snapshot
    assert can == snapshot
    assert cannot == snapshot
    assert can == snapshot


def test_what_choices_show(take: Callable[..., str], project: Project, snapshot: SnapshotAssertion) -> None:
    """Gold, both orders and the texts of pairs; where one order lacks some pairs it is told."""
    project.configure("")
    pair = {"question": "Why?", "response_2": "No.", "gold": 1, "selected_response": 1}
    rows = [
        {"id": f"p{n}", "response_1": f"So {n}.", "order": order, **pair} for n in range(4) for order in ("1-2", "2-1")
    ]
    can, cannot = said_of(take(rows))
    assert can == snapshot
    assert cannot == snapshot
    _, cannot = said_of(take(rows[:-1]))
    assert cannot == snapshot
