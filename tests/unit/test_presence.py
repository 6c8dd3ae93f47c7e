"""What was selected and came to no finding: an ERROR by name in every output, and never a PASS of what is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.project import Project, small_project, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.models.findings import Finding, Row
from judgefixtures.report import (
    markdown_report,
    report_and_questions,
    restore_earlier_report,
    set_earlier_report_aside,
    write_report,
)
from judgefixtures.report.exit_code import NOT_MEASURED, NOTHING_DECIDED, exit_code
from judgefixtures.report.overview import headlines, unfinished_items
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.statistics import Status

pytest_plugins = ["pytester"]

RIGHT = """\
import json
import re


def judge(prompt):
    return json.dumps({"selected_response": 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1), "reason": "Better."})
"""
# A fixture `pairs` of the user's own that ends the test of one contrast in many ways; the others are as they were.
PAIRS = """\
import os
import pytest


@pytest.fixture
def pairs(pairs, request):
    mine = "recency" in request.node.name
    if mine:
        BEFORE
    yield pairs
    if mine:
        AFTER
"""
NAME = "recency-new-old"
ITEM = f"test_recency.py::test_judge[ours-own-{NAME}]"


def configuration(_: str = "") -> str:
    """Return the configuration of a judge in Python that is right everywhere."""
    return """\
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
control = false
[tool.judgefixtures.judges.ours]
provider = "python"
target = "mine:judge"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
[tool.judgefixtures.gate]
vsr_tolerance = 0.3
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project in which two contrasts are gated, and both pass."""
    return small_project(pytester, configuration, RIGHT, "placebo", "recency")


def ending(before: str = "pass", after: str = "pass") -> str:
    """Return a conftest.py in which the test of one contrast ends so."""
    return PAIRS.replace("BEFORE", before).replace("AFTER", after)


def run(project: Project, *arguments: str, folder: str = "report") -> tuple[int, str]:
    """Return the exit code of a run with a report, and what it said."""
    ran = project.run("--judge-report", folder, *arguments)
    return ran.ret, ran.said


def merged(project: Project, *folders: str, into: str = "merged") -> int:
    """Return the exit code of these folders put together."""
    return main(
        ["report", "merge", *(str(project.path / name) for name in folders), "--into", str(project.path / into)]
    )


def statuses(folder: Path) -> dict[str, str]:
    """Return the status of each check in a report."""
    return {row["name"]: row["status"] for row in json.loads((folder / "report.json").read_text())["results"]}


def assert_told(project: Project, said: str, why: str, folder: str = "report") -> None:
    """Assert that every output of a run says by name that one contrast came to no result, and why."""
    files = project.path / folder
    report = json.loads((files / "report.json").read_text())
    assert report["status"] == "ERROR"
    (row,) = (row for row in report["results"] if row["name"] == NAME)
    assert row["status"] == "ERROR"
    assert row["of_test"]
    assert why in row["message"]
    assert [row["status"] for row in report["contrasts"] if row["contrast"] == NAME] == ["ERROR"]
    assert "PASS: ours passed" not in said
    assert f"on own: {NAME}: " in said
    assert why in said
    sheet = (files / "report.md").read_text()
    assert sheet.startswith("# Judge gate: ERROR\n\n**ERROR: ours: 1 of ")
    assert f"ours on own: {NAME}: " in sheet
    page = (files / "report.html").read_text()
    assert f"on own: {NAME}: " in page
    (result,) = (result for result in RunRecord.from_folder(files).results if NAME in result["item"])
    assert result["findings"][-1]["status"] == "ERROR"


# --- how a test can end ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conftest", "why", "code"),
    [
        (ending("raise RuntimeError('no such file')"), "its test failed in its setup: RuntimeError: no such file", 1),
        (ending(after="raise RuntimeError('stuck')"), "its test failed in its teardown: RuntimeError: stuck", 1),
        (ending("pytest.skip('not today')"), "its test was skipped: not today", 1),
        (ending("pytest.xfail('known')"), "its test failed, as xfail expects: known", 1),
        (ending("request.getfixturevalue('nowhere')"), "fixture 'nowhere' not found", 1),
        (ending("pytest.exit('enough')"), "the run stopped before this test", 2),
        (ending("raise KeyboardInterrupt"), "the run stopped before this test", 2),
    ],
)
def test_what_came_to_no_finding_is_an_error_by_name(project: Project, conftest: str, why: str, code: int) -> None:
    """However a test ends, what it was about is an ERROR with its name and why, and the run and its merge fail."""
    project.write("conftest.py", conftest)
    found, said = run(project)
    assert found == code, said
    assert_told(project, said, why)
    assert statuses(project.path / "report")["placebo-listed-shown"] == "PASS"
    assert merged(project, "report") == 1


@pytest.mark.slow
def test_workers_tell_the_same(project: Project) -> None:
    """Under -n the files are those of a serial run, byte for byte."""
    project.write("conftest.py", ending("raise RuntimeError('no such file')"))
    assert run(project, folder="serial")[0] == 1
    code, said = run(project, "-n", "2", folder="parallel")
    assert code == 1, said
    assert_told(project, said, "no such file", "parallel")
    one, other = (
        {path.name: path.read_bytes() for path in sorted((project.path / name).iterdir())}
        for name in ("serial", "parallel")
    )
    assert one == other


@pytest.mark.parametrize(
    "options", [("-n", "2"), ("-n", "1", "--max-worker-restart", "0"), ("-n", "2", "--dist", "each")], ids=" ".join
)
def test_what_a_dead_worker_had_is_an_error(project: Project, options: tuple[str, ...]) -> None:
    """A process that dies, also the only one there was, takes no item with it."""
    project.write("conftest.py", ending("os._exit(1)"))
    code, said = run(project, *options)
    assert code == 1, said
    assert_told(project, said, "the process that ran its test died")
    assert merged(project, "report") == 1


def test_a_crash_of_the_judge_or_of_the_test_is_an_error(project: Project) -> None:
    """An exception of the test, before its gate and after it, is an ERROR of what the test is about."""
    before = suite("recency").replace("    gate.check", "    raise OSError('no disk')\n    gate.check")
    project.write("test_recency.py", before)
    code, said = run(project)
    assert code == 1
    assert_told(project, said, "no result: its test failed: OSError: no disk")
    project.write("test_recency.py", f"{suite('recency')}    assert len(pairs) > 100\n")
    code, said = run(project)
    assert code == 1
    assert_told(project, said, "before, its gate found PASS")


def test_a_gate_that_is_never_asked_is_no_pass(project: Project) -> None:
    """A test that takes the gate and passes without asking it found nothing; one without a gate promises nothing."""
    project.write("test_recency.py", suite("recency").replace("gate.check(judge, pairs, contrast)", "return"))
    code, said = run(project)
    assert code == 1
    assert_told(project, said, "its test passed without calling its gate")
    project.write(
        "test_recency.py", suite("recency").replace(", gate)", ")").replace("gate.check(judge", "print(judge")
    )
    code, said = run(project)
    assert code == 0, said


def test_every_item_may_be_lost(project: Project) -> None:
    """A run in which no item came to a finding has a report all the same, and it names all of them."""
    project.write("conftest.py", ending("raise RuntimeError('x')").replace('"recency" in request.node.name', "True"))
    code, said = run(project)
    assert code == 1
    assert set(statuses(project.path / "report").values()) == {"ERROR"}
    assert "placebo-listed-shown, recency-new-old: no result" in said


def test_what_was_deselected_is_not_missed(project: Project) -> None:
    """An item that -k leaves out is no ERROR."""
    project.write("conftest.py", ending("raise RuntimeError('x')"))
    code, said = run(project, "-k", "placebo")
    assert code == 0, said
    assert statuses(project.path / "report") == {"placebo-listed-shown": "PASS"}


def test_the_last_attempt_counts(project: Project) -> None:
    """What a plugin for reruns made again counts for nothing, also where only the last attempt crashed."""
    project.write(
        "conftest.py",
        """\
import pytest
from _pytest.runner import runtestprotocol

attempts = []


@pytest.fixture
def pairs(pairs):
    attempts.append(1)
    if len(attempts) == LAST:
        raise RuntimeError("the last one")
    return pairs


def pytest_runtest_protocol(item, nextitem):
    for attempt in range(2):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if attempt < 1 and report.when == "call":
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        item._initrequest()
    return True
""".replace("LAST", "2"),
    )
    code, said = run(project, "-k", "recency")
    assert code == 1
    assert_told(project, said, "the last one")


def test_x_leaves_errors_that_another_run_may_mend(project: Project, snapshot: SnapshotAssertion) -> None:
    """What -x left out is an ERROR by name, until a folder that has it is put beside; what crashed stays one."""
    project.write("conftest.py", ending("raise RuntimeError('x')").replace('"recency"', '"placebo"'))
    code, said = run(project, "-x", folder="cut")
    assert code == 1
    assert statuses(project.path / "cut") == {"placebo-listed-shown": "ERROR", NAME: "ERROR"}
    assert lines_about(said, "no result") == snapshot
    project.write("conftest.py", "")
    assert run(project, folder="whole")[0] == 0
    assert merged(project, "cut", "whole") == 1
    assert statuses(project.path / "merged") == {"placebo-listed-shown": "ERROR", NAME: "PASS"}
    assert merged(project, "whole", "cut", into="other way") == 1
    one, other = (project.path / name / "report.json" for name in ("merged", "other way"))
    assert one.read_bytes() == other.read_bytes()


def test_what_could_not_be_collected_is_missed(project: Project, snapshot: SnapshotAssertion) -> None:
    """With --continue-on-collection-errors nobody knows what a broken module has: not PASS, and said first."""
    project.write("test_broken.py", "import nowhere_at_all\n")
    code, said = run(project, "--continue-on-collection-errors")
    assert code == 1
    report = json.loads((project.path / "report" / "report.json").read_text())
    assert report["status"] == "ERROR"
    assert "test_broken.py" in report["warnings"][0]
    assert lines_about(headlines(report)[0], "ERROR: some") == snapshot
    assert headlines(report)[0] in said
    assert merged(project, "report") == 1


def test_github_names_what_is_missing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job's summary is headed ERROR, and an annotation names the item."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    project.write("conftest.py", ending("raise RuntimeError('no such file')"))
    _, said = run(project)
    assert (project.path / "summary.md").read_text().startswith("# Judge gate: ERROR")
    (line,) = (line for line in said.splitlines() if line.startswith("::error"))
    assert NAME in line
    assert "no such file" in line


# --- a report of an earlier run ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["collection", "usage", "conftest", "killed"])
def test_a_run_that_did_not_end_leaves_no_old_report(
    project: Project, how: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Where a run ended before its tests, or was killed, what an earlier run found cannot be merged or compared."""
    assert run(project)[0] == 0
    (project.path / "report" / "mine.txt").write_text("mine")
    if how == "collection":
        project.write("test_broken.py", "import nowhere_at_all\n")
    elif how == "conftest":
        project.write("conftest.py", "import nowhere_at_all\n")
    elif how == "killed":
        project.write("conftest.py", ending("os._exit(9)"))
    assert run(project, *(("--judge", "nobody") if how == "usage" else ()))[0] != 0
    assert merged(project, "report") == 2
    assert lines_about(capsys.readouterr().err, "did not end") == snapshot
    assert main(["report", "compare", *[str(project.path / "report")] * 2]) == 2
    assert not (project.path / "report" / "report.md").exists()
    assert (project.path / "report" / "mine.txt").read_text() == "mine"
    for name in ("test_broken.py", "conftest.py"):
        (project.path / name).unlink(missing_ok=True)
    assert run(project)[0] == 0
    assert merged(project, "report") == 0
    assert not list((project.path / "report").glob("*.before"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--collect-only",),
        ("--judge-preflight",),
        ("--setup-only",),
        ("--fixtures",),
        ("-k", "nothing"),
        ("test_own.py",),
        ("test_own.py", "-n", "1"),
    ],
    ids=" ".join,
)
def test_a_run_without_judge_items_leaves_the_report(
    project: Project, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that only looks, or is about other tests and given the option as every run is, leaves every file as it was."""
    project.write("test_own.py", "def test_own():\n    assert False\n")
    assert run(project, "-k", "recency")[0] == 0
    before = {path.name: path.read_bytes() for path in (project.path / "report").iterdir()}
    monkeypatch.setenv("PYTEST_ADDOPTS", "--judge-report report")
    project.run(*arguments)
    assert {path.name: path.read_bytes() for path in (project.path / "report").iterdir()} == before


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    """A folder without results of ours is not touched, whatever its files are called; nor is one that is marked."""
    (tmp_path / "report.md").write_text("mine")
    assert not set_earlier_report_aside(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    write_report(tmp_path, left({"status": Status.PASS}))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set_earlier_report_aside(tmp_path)
    assert not set_earlier_report_aside(tmp_path)
    restore_earlier_report(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# --- a gate of nothing ------------------------------------------------------------------------------------------


def left(*findings: dict[str, Any], lost: str = "") -> RunRecord:
    """Return what a run of such findings leaves behind."""
    known = {"check": "contrast", "judge": "mine", "dataset": "qa", "name": NAME}
    found = [Finding(**{**known, **each}).to_json() for each in findings]
    rows: list[Row] = [
        {"item": f"t.py::t[{number}]", "findings": [each], "judges": {}, "failed": each["status"] in ("FAIL", "ERROR")}
        for number, each in enumerate(found)
    ]
    return RunRecord.of(RunInfo("1", "2026-01-01", lost=lost), rows, [], [], [])


def test_nothing_that_applies_is_said_first(snapshot: SnapshotAssertion) -> None:
    """Where every check of a run is NOT_APPLICABLE its first line says so, and the code is 11; one PASS is enough."""
    record = left(*[{"status": Status.NOT_APPLICABLE}] * 9)
    report = report_and_questions(record)
    assert lines_about(headlines(report)[0], "NOT_APPLICABLE: mine") == snapshot
    assert markdown_report(report).startswith("# Judge gate: NOT_APPLICABLE\n\n**NOT")
    assert exit_code(record, report) == NOTHING_DECIDED == 11
    mixed = left({"status": Status.NOT_APPLICABLE}, {"status": Status.PASS, "judge": "other"})
    assert exit_code(mixed, report_and_questions(mixed)) == 0
    assert [line.split(":")[0] for line in headlines(report_and_questions(mixed))] == ["NOT_APPLICABLE", "PASS"]
    assert exit_code(left(), report_and_questions(left())) == 0


def test_a_swap_to_which_nothing_applies_says_so() -> None:
    """Also where no judge was checked by itself."""
    record = left({"status": Status.NOT_APPLICABLE, "baseline": "other"})
    assert headlines(report_and_questions(record))[0].startswith("NOT_APPLICABLE: none of 1 check applies")


def test_a_run_of_nothing_ends_with_11(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Accuracy without min_accuracy decides nothing: 11, of the run and its merge; a failing test of one's own: 1."""
    project.write(
        "test_accuracy.py",
        suite()
        .replace("judge_family()", "judge_accuracy")
        .replace(", contrast", "")
        .replace("gate.check(", "gate.check_accuracy("),
    )
    code, said = run(project, "-k", "accuracy")
    assert code == 11, said
    assert "NOT_APPLICABLE: ours: none of 1 check applies" in said
    assert merged(project, "report") == 11
    assert "none of 1 check applies" in capsys.readouterr().out
    assert run(project, folder="beside")[0] == 0
    assert merged(project, "report", "beside") == 0
    project.write("test_own_accuracy.py", "def test_own():\n    assert False\n")
    assert run(project, "-k", "accuracy")[0] == 1


# --- words ------------------------------------------------------------------------------------------------------


def test_an_error_of_the_test_is_not_one_of_the_judge(snapshot: SnapshotAssertion) -> None:
    """10 is for what could not be asked; a test that came to no finding is 1."""
    asked, crashed = {"status": Status.ERROR}, {"status": Status.ERROR, "of_test": True, "reasons": ("it crashed",)}
    assert exit_code(left(asked), {}) == NOT_MEASURED
    assert exit_code(left(asked, crashed), {}) == 1
    assert unfinished_items(report_and_questions(left(asked, crashed))) == snapshot


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        (("new", "old"), "new failed its control and old failed its control"),
        (("old",), "old failed its control"),
        ((), ""),
    ],
)
def test_a_swap_of_judges_that_do_not_read_says_so_first(failing: tuple[str, ...], said: str) -> None:
    """Before anything else about the decision: in its headline, in report.md and on the page."""
    from judgefixtures.report.html.views import page_view

    rows = tuple(
        {
            "judge": name,
            "dataset": "house-qa",
            "n": 30,
            "right_both_orders": 8,
            "first_selected": 30,
            "status": "FAIL" if name in failing else "PASS",
            "message": "m",
        }
        for name in ("new", "old")
    )
    part = {
        "judge": "new",
        "baseline": "old",
        "dataset": "qa",
        "family": "accuracy",
        "contrast": None,
        "kind": None,
        "part": None,
        "lacking": ["no"],
    }
    report = report_and_questions(
        left(
            {
                "judge": "new",
                "baseline": "old",
                "name": "accuracy",
                "status": Status.ERROR,
                "rows": {"controls": rows},
                "evidence": {"required": [part]},
            }
        )
    )
    assert headlines(report)[0].startswith(f"INCONCLUSIVE: {said or 'new cannot'}")
    assert f"**INCONCLUSIVE: {said or 'new cannot'}" in markdown_report(report)
    assert page_view(report).leads[0].startswith(said or "new cannot")
