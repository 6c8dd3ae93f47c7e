"""A failure is told once: in full among pytest's FAILURES, and with its family in one sentence and a table below."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.project import Project, in_pyproject, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.plain_language import remedy
from judgefixtures.models.check_rows import ContrastRow, SelectionRate
from judgefixtures.models.findings import DecisionPart, Finding, Row
from judgefixtures.report import build_report, terminal_summary
from judgefixtures.report.contrast_groups import group_equal_results, group_sentence, holm_lines
from judgefixtures.report.html.views import page_view
from judgefixtures.report.markdown import render_markdown
from judgefixtures.statistics import Estimate, Status

pytest_plugins = ["pytester"]


def share(value: float, n: int = 100) -> Estimate:
    return Estimate(value, value - 0.05, value + 0.05, 0.9, n)


def row(contrast: str, status: str = "FAIL", *parts: str, shift: float = 0.3, **more: Any) -> ContrastRow:
    """Return a row of provenance with this status, due to these parts."""
    given: dict[str, Any] = {"judge": "mine", "dataset": "qa", "family": "provenance", "n": 100, "vsr": share(shift)}
    given |= {"text": f"{contrast} moved mine by {shift}", "message": f"why {contrast}", "outcome": "chose-first"}
    decided = tuple(DecisionPart(part=part, status=status) for part in parts)
    return ContrastRow(contrast=contrast, status=status, decided_by=decided, **(given | more))


def reported(*rows: ContrastRow) -> Row:
    return build_report([Finding("contrast", "mine", "qa", "it", Status.FAIL, rows={"contrasts": rows})])


SIX = [row(f"provenance-{n}", "FAIL", "vsr", shift=0.2 + n / 100) for n in range(6)]


# --- one sentence for what came to the same -----------------------------------------------------------------


def test_several_failing_contrasts_are_one_sentence(snapshot: SnapshotAssertion) -> None:
    """How many of how many on which datasets, and the largest in its own words; one alone is told as it is."""
    rows = [*SIX, *(replace(each, dataset="stories") for each in SIX), row("provenance-9", "PASS")]
    (failed, passed) = group_equal_results(rows, ())
    assert group_sentence(failed, rows) == snapshot
    assert group_sentence(passed, rows) == "PASS: provenance-9 moved mine by 0.3"
    assert group_sentence(SIX[:1], SIX[:1]) == "FAIL: provenance-0 moved mine by 0.2"


def test_the_reasons_of_all_are_counted_where_they_admit_too_few(snapshot: SnapshotAssertion) -> None:
    """Beside those of the largest the sentence has those of all; where CAR decided nothing it has none."""
    silent = [row(f"provenance-{n}", "FAIL", "vsr", "car", car=share(0.1 * n, 40)) for n in range(3)]
    assert lines_about(group_sentence(silent, silent), "over these") == snapshot
    open_ = [replace(each, decided_by=each.decided_by[:1]) for each in silent]
    assert "admit" not in group_sentence(open_, open_)


def test_what_differs_in_kind_is_not_lumped_together() -> None:
    """A FAIL of verdicts, of CAR alone and of scores, an INCONCLUSIVE, an ERROR and a waiver have a sentence each."""
    rows = [
        *SIX[:2],
        row("provenance-both", "FAIL", "vsr", "car"),
        row("provenance-car", "FAIL", "car"),
        row("provenance-score", "FAIL", "score"),
        row("provenance-open", "INCONCLUSIVE", "vsr"),
        row("provenance-stuck", "INCONCLUSIVE", "stuck"),
        row("provenance-lost", "ERROR", "unmeasured", vsr=None),
        replace(SIX[2], judge="other"),
        replace(SIX[3], family="recency"),
    ]
    names = [
        sorted(each.contrast.removeprefix("provenance-") for each in group) for group in group_equal_results(rows, ())
    ]
    assert names == [["0", "1", "both"], ["car"], ["score"], ["open"], ["stuck"], ["lost"], ["2"], ["3"]]


def test_the_terminal_has_a_sentence_and_a_row_for_each() -> None:
    """Six that failed are one sentence and six rows of the table."""
    lines = terminal_summary(reported(*SIX), 0.05)
    assert len([line for line in lines if "moved mine by" in line]) == 1
    assert len([line for line in lines if line.startswith("mine ") and line.endswith(" FAIL")]) == 6


def test_report_md_and_the_page_say_the_same(snapshot: SnapshotAssertion) -> None:
    """Both have one sentence for the six, and the page leaves none of another kind behind a fold."""
    rows = [*SIX, row("provenance-car", "FAIL", "car"), row("provenance-open", "INCONCLUSIVE", "vsr", shift=0.1)]
    rows += [row(f"{family}-new-old", "FAIL", "vsr", family=family) for family in ("recency", "age", "gender")]
    report = {**reported(*rows), "results": []}
    told = "6 of 8 contrasts of provenance on qa, largest shift: provenance-5 moved mine by 0.25"
    lines = render_markdown(report).splitlines()
    assert f"- FAIL: {told}" in lines
    assert len([line for line in lines if line.startswith("- FAIL: ")]) == 5
    (found,) = page_view(report).findings
    assert lines_about([each["said"] for each in found.first], "of provenance") == snapshot
    assert len(found.first) == 6
    assert found.rest == ()


# --- Holm ---------------------------------------------------------------------------------------------------


def violating(*adjusted: float) -> list[ContrastRow]:
    return [row(f"c{n}", "FAIL", "vsr", p_fail=0.001, p_fail_holm=p) for n, p in enumerate(adjusted)]


@pytest.mark.parametrize("adjusted", [(0.01, 0.02, 0.03), (0.01, 0.9), (0.01, 0.02, 0.9, 0.9), (0.01, 0.02, 0.03, 0.9)])
def test_what_survives_holm_is_one_line(adjusted: tuple[float, ...], snapshot: SnapshotAssertion) -> None:
    """All of them, or some by name, whichever names are fewer; none of another judge, and no line where none does."""
    other = replace(row("c0", "FAIL", "vsr", p_fail=0.04, p_fail_holm=0.2), judge="other")
    passed = row("c9", "PASS", p_fail=0.9, p_fail_holm=1.0)
    assert holm_lines([*violating(*adjusted), passed, other], 0.05) == snapshot
    assert holm_lines([passed, other], 0.05) == []


# --- what is undecided --------------------------------------------------------------------------------------


def test_what_would_settle_is_told_once_a_family(snapshot: SnapshotAssertion) -> None:
    """Of a family that is open the largest says what would settle it."""
    open_ = [row(f"provenance-{n}", "INCONCLUSIVE", "vsr", shift=0.1 + n / 100) for n in range(3)]
    report = reported(*open_)
    told = [line for line in terminal_summary(report, 0.05) if line.startswith("INCONCLUSIVE mine")]
    assert told == snapshot


def test_what_pass_covers_speaks_of_passes(snapshot: SnapshotAssertion) -> None:
    """Beside a FAIL that moved many it says in how many contrasts no verdict did, or how many did at most."""
    passed = [row(f"age-{n}", "PASS", flip_rate=share(0.0), first_selection_rate=SelectionRate()) for n in range(2)]
    failed = row("recency-new-old", "FAIL", "vsr", family="recency", flip_rate=share(0.5))
    (said,) = [
        line for line in terminal_summary(reported(failed, *passed), 0.05) if line.startswith("what PASS covers")
    ]
    assert lines_about(said, "contrasts that") == snapshot
    moved = replace(passed[0], flip_rate=share(0.03))
    (said,) = [line for line in terminal_summary(reported(failed, moved), 0.05) if line.startswith("what PASS covers")]
    assert lines_about(said, "verdicts moved") == snapshot


# --- a run --------------------------------------------------------------------------------------------------

# Follows the label of recency and provenance in 16 of 40 pairs, and never says so.
SILENT = """
import json, re

def judge(prompt):
    number = int(re.search(r"question (\\d+)", prompt)[1])
    good = 1 if prompt.index("Good") < prompt.index("Bad") else 2
    first = re.search(r"(?m)^Response 1 was (written recently|written by a human expert)", prompt)
    second = re.search(r"(?m)^Response 2 was (written recently|written by a human expert)", prompt)
    moved = number < 16 and bool(first) != bool(second)
    return json.dumps({"selected_response": (1 if first else 2) if moved else good, "reason": "It is right."})
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with recency and provenance and the silent judge, in CI, where pytest cuts no line."""
    monkeypatch.setenv("CI", "true")
    project = Project(pytester, fresh=True)
    project.write("mine.py", SILENT)
    project.write("test_cues.py", suite("recency", "provenance", name="cues"))
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
    own = 'judge = "ours"\ncontrol = false\n[judges.ours]\nprovider = "python"\ntarget = "mine:judge"\n'
    tables = in_pyproject(f'{own}[datasets.own]\npath = "pairs.jsonl"\n')
    project.write(project.file, '[tool.pytest.ini_options]\npythonpath = ["."]\n' + tables)
    return project


RUN = ("--judge-dataset", "own", "--judge-force", "--judge-record", "missing", "--judge-report", "report")


def parts_of(said: str) -> tuple[str, str, str]:
    """Return what FAILURES, the summary of judges and pytest's short summary say."""
    above, _, rest = said.partition("= judges =")
    below, _, short = rest.partition("= short test summary info =")
    return above, below, short


def test_a_failure_is_told_once(project: Project, snapshot: SnapshotAssertion) -> None:
    """FAILURES has each diagnosis, the summary the worst and a line for each other, the short summary the reasons."""
    said = project.run(*RUN, "--verbosity=0").said
    failed = [each for each in project.report()["contrasts"] if each["status"] == "FAIL"]
    assert sorted({each["family"] for each in failed}) == ["provenance", "recency"]
    of_provenance = [each for each in failed if each["family"] == "provenance"]
    assert len(of_provenance) == 3
    failures, below, short = parts_of(said)
    for each in failed:
        assert failures.count(each["text"]) == 1
        assert short.count(f"-{each['contrast']}] - FAIL: {each['text']}\n") == 1
    assert sum(each["text"] in below for each in failed) == 1
    assert failures.count("  n = 40 pairs: ") == 4
    assert "n = 40 pairs" not in below
    assert (
        lines_about(below, *(f"{each['contrast']} on own: " for each in failed if each["text"] not in below))
        == snapshot
    )
    below = parts_of(project.run(*RUN).said)[1]
    sentences = [line for line in below.splitlines() if line.startswith("FAIL: ")]
    assert sum("the labels" in line.lower() for line in sentences) == 2
    (several,) = [line for line in sentences if "provenance on own" in line]
    assert lines_about(several, "shift: The labels", "together their") == snapshot
    rows = [line for line in below.splitlines() if line.startswith("ours   own ") and line.endswith(" FAIL")]
    assert len(rows) == len(failed) == 4


def test_a_failure_ends_with_what_to_do(project: Project, snapshot: SnapshotAssertion) -> None:
    """Which answers to look at, how to run this one again, and what usually mends it; the command runs as it is."""
    above, _, _ = parts_of(project.run(*RUN, "-k", "recency").said)
    *_, look, again, mended = above.splitlines()[: above[: above.index("note: ")].count("\n")]
    assert look == "  Every judgment: report/judgments.jsonl"
    assert again == snapshot
    assert mended == snapshot
    project.run(*again.partition("pytest ")[2].split(), "--judge-force").assert_outcomes(failed=1, deselected=6)
    above, _, _ = parts_of(project.run(*RUN[:-2], "-k", "recency").said)
    assert f"  Every judgment: {again.partition(': ')[2]} --judge-report report\n" in above
    assert "Run this check again" not in above


@pytest.mark.parametrize("family", ["provenance", "position", "verbosity", "attack", "repeat"])
def test_what_mends_it_goes_by_the_family(family: str, snapshot: SnapshotAssertion) -> None:
    """Each kind of contrast has its own words, and none is mended by a wider tolerance."""
    assert remedy(family) == snapshot
    assert lines_about(remedy(family), "the tolerance") == snapshot


def test_without_failures_the_summary_says_as_much(project: Project) -> None:
    """With --tb=no nothing stands above, and the summary tells the worst, and what would settle the undecided."""
    wide = ("-k", "human-llm or recency", "--judge-pairs", "12")
    above, below, _ = parts_of(project.run(*RUN, *wide).said)
    (open_,) = [each for each in project.report()["contrasts"] if each["status"] == "INCONCLUSIVE"]
    assert open_["message"].partition(";")[0] in above
    above, below, short = parts_of(project.run(*RUN, *wide, "--tb=no").said)
    assert open_["message"] not in above
    assert open_["text"] in below
    assert f"INCONCLUSIVE ours own {open_['contrast']}: {open_['message']}" in below
    assert f"-{open_['contrast']}] - INCONCLUSIVE: {open_['text']}\n" in short
    _, below, _ = parts_of(project.run(*RUN, *wide, "--tb=no", "--verbosity=0").said)
    (failed,) = [each for each in project.report()["contrasts"] if each["status"] == "FAIL"]
    assert f"FAIL: {failed['text']}" in below
    assert below.count("chose 1 -- It is right.") == 3
    assert f"INCONCLUSIVE: {open_['contrast']} on own: {open_['message']}"[:97] in below


def test_junit_and_annotations_have_a_line_for_each(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every failing item has its own failure and its own annotation, of one line each, however it was folded."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = project.run(*RUN, "--junitxml", "junit.xml", "-k", "provenance").said
    failed = [each for each in project.report()["contrasts"] if each["status"] == "FAIL"]
    notes = [line for line in said.splitlines() if line.startswith("::error")]
    junit = (project.path / "junit.xml").read_text()
    for each in failed:
        assert junit.count(f'<failure message="ours on own: {each["contrast"]} is FAIL"') == 1
        assert sum(each["contrast"] in note and "changed 16 of 40 verdicts" in note for note in notes) == 1
