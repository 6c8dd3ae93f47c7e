"""Runs that go wrong: texts that cannot travel or command a terminal, workers that die, items that run twice.

Small projects with a judge in Python, run by pytest inside a test. What plugins for repeating tests do is done here by
a few lines of conftest.py, as pytest-rerunfailures 16.7 and pytest-repeat 0.9.4 do it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.forked import run_pytest
from support.project import Project, small_project, suite
from support.rendered import lines_about
from support.server import Answer, Asked, Server, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

pytest_plugins = ["pytester"]

ACCURACY = """\
import pytest

pytestmark = pytest.mark.judge_accuracy


def test_judge(judge, pairs, gate):
    gate.check_accuracy(judge, pairs)
"""
PYTHON = 'provider = "python"\ntarget = "mine:judge"'
FOLLOWS = """\
import json
import re


def judge(prompt):
    better = 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1)
    if "2025" in prompt:
        better = 1 if prompt.index("2025") < prompt.index("1950") else 2
    return json.dumps({"selected_response": better, "reason": %r})
"""
ITEM = "test_recency.py::test_judge[ours-own-recency-new-old]"
# A worker that fails inside while it reports, after all others are through: xdist shows INTERNALERROR and exits with 0.
CANNOT_REPORT = """\
import os
import time
from pathlib import Path


def pytest_testnodedown():
    Path("down").touch()


def pytest_report_to_serializable(report):
    if report.when == "call" and "PYTEST_XDIST_WORKER" in os.environ:
        while not Path("down").exists():
            time.sleep(0.05)
        raise RuntimeError("this report cannot travel")
"""


def configuration(judge: str = PYTHON) -> str:
    """Return a configuration with a judge's table."""
    return f"""\
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
[tool.judgefixtures.judges.ours]
{judge}
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
[tool.judgefixtures.gate]
vsr_tolerance = 0.3
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project whose judge follows the newer date in every pair and is right elsewhere, run in its own processes."""
    return small_project(pytester, configuration, FOLLOWS % "It is better.", "recency")


def gates(project: Project, *families: str) -> None:
    """Write a test module for each family."""
    for family in families:
        project.write(f"test_{family}.py", suite(family))


def run(project: Project, *arguments: str, conftest: str = "") -> tuple[int, str]:
    """Return the exit code of a run and what it said."""
    if conftest:
        project.write("conftest.py", conftest)
    ran = project.run(*arguments)
    return ran.ret, ran.said


def report(project: Project, *arguments: str, folder: str, conftest: str = "") -> tuple[int, str, dict[str, bytes]]:
    """Return the exit code of a run, what it said, and the files of its report."""
    code, said = run(project, "--judge-report", folder, *arguments, conftest=conftest)
    return code, said, {path.name: path.read_bytes() for path in sorted((project.path / folder).glob("*"))}


# --- texts that cannot travel -------------------------------------------------------------------------------


@pytest.mark.slow
def test_half_an_emoji_in_a_verdict_changes_no_outcome(project: Project) -> None:
    """A reason with half of a surrogate pair: under -n the item fails as it does serially, with the same report."""
    project.write("mine.py", FOLLOWS % "cut in two: \ud83d")
    code, _, files = report(project, folder="serial")
    assert code == 1
    assert json.loads(files["report.json"])["status"] == "FAIL"
    assert "cut in two: \ufffd" in files["judgments.jsonl"].decode()
    code, said, parallel = report(project, "-n", "2", folder="parallel")
    assert (code, parallel) == (1, files), said


@pytest.mark.slow
def test_half_an_emoji_in_an_error_changes_no_outcome(project: Project) -> None:
    """An error with half of a surrogate pair in its message: ERROR under -n, with the message, as serially."""
    project.write("mine.py", "def judge(prompt):\n    raise ValueError('cut in two: \\ud83d')\n")
    code, said, files = report(project, "-n", "2", folder="parallel")
    assert "cut in two: \ufffd" in said
    assert "INTERNALERROR" not in said
    assert code == 2  # a fatal error of the judge stops the run
    assert files == report(project, folder="serial")[2]


def asking(server: Server) -> str:
    """Return the table of a judge that a server answers for."""
    return f'provider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\n'


@pytest.mark.slow
def test_half_an_emoji_from_a_server_changes_no_outcome(project: Project) -> None:
    """In an answer's text and its system_fingerprint: recorded under -n and replayed so, with the same report."""

    def answering(asked: Asked) -> Answer:
        better = 1 + int(re.search(r"q(\d+)", asked.prompt)[1]) % 2
        verdict = {"content": f'{{"selected_response": {better}, "reason": "\ud83d"}}', "role": "assistant"}
        choice = {"index": 0, "finish_reason": "stop", "message": verdict}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return wire(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "system_fingerprint": "fp_\ud83d",
                "usage": usage,
            }
        )

    with serving(by=answering) as server:
        project.configure(asking(server))
        code, said, files = report(project, "-n", "2", "--judge-record", "missing", folder="recorded")
    assert code == 0, said
    assert '"fingerprint": "fp_\ufffd"' in files["judgments.jsonl"].decode()
    code, said, again = report(project, "-n", "2", folder="replayed")
    assert code == 0, said
    assert again["judgments.jsonl"] == files["judgments.jsonl"]
    # The server gives every answer one id, whatever it says: that is no cache.
    assert json.loads(files["report.json"])["warnings"] == []
    assert again["report.json"] == files["report.json"]


@pytest.mark.slow
def test_half_an_emoji_in_a_servers_error_changes_no_outcome(project: Project) -> None:
    """A server's error message: the run stops with it, under -n as serially."""
    with serving(wire(problem("no \ud83d for you"), 401)) as server:
        project.configure(asking(server))
        code, said = run(project, "-n", "2", "--judge-record", "missing")
    assert code == 2
    assert "no \ufffd for you" in said
    assert "INTERNALERROR" not in said


@pytest.mark.slow
def test_half_a_surrogate_in_a_pair_is_refused(project: Project, snapshot: SnapshotAssertion) -> None:
    """A pair of the user's own making that no judge can be sent fails its item and is named."""
    conftest = """\
import pytest
from judgefixtures.models.pairs import Pair


@pytest.fixture
def pairs():
    return [Pair("odd", "cut in two: \\ud83d", "a", "b")]
"""
    code, said = run(project, "-n", "1", conftest=conftest)
    assert code == 1
    assert lines_about(said, "'odd'") == snapshot


# --- fewer reports than items -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_fails_inside_is_never_exit_0(project: Project, snapshot: SnapshotAssertion) -> None:
    """One item whose report cannot travel: no result, and so neither exit code 0 nor silence, but an ERROR by name."""
    code, said, files = report(project, "-n", "2", folder="report", conftest=CANNOT_REPORT)
    assert code == pytest.ExitCode.INTERNAL_ERROR
    assert lines_about(said, "have no result") == snapshot
    found = json.loads(files["report.json"])
    assert (found["status"], [row["status"] for row in found["results"]]) == ("ERROR", ["ERROR"])


def test_a_report_that_lacks_items_is_an_error(project: Project) -> None:
    """Where another item was reported, the report says ERROR and which items it lacks."""
    gates(project, "placebo")
    conftest = CANNOT_REPORT.replace('"call"', '"call" and "recency" in report.nodeid')
    code, said, files = report(project, "-n", "2", folder="report", conftest=conftest)
    found = json.loads(files["report.json"])
    assert code == pytest.ExitCode.INTERNAL_ERROR
    assert [row["status"] for row in found["contrasts"] if row["contrast"] == "recency-new-old"] == ["ERROR"]
    assert [row["status"] for row in found["contrasts"] if row["contrast"] != "recency-new-old"] == ["PASS"]
    assert found["status"] == "ERROR"
    assert f"no result, first {ITEM}" in found["warnings"][0]
    assert f"WARNING: {found['warnings'][0]}" in said


def test_a_run_that_is_ended_with_code_0_is_not_a_pass(project: Project) -> None:
    """pytest.exit(returncode=0) before a judge item ran does not make it a PASS."""
    conftest = "import pytest\n\n\ndef pytest_runtest_setup():\n    pytest.exit('enough', returncode=0)\n"
    code, said = run(project, conftest=conftest)
    assert code == pytest.ExitCode.INTERNAL_ERROR
    assert "judge items have no result" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--collect-only",), 0),
        (("--judge-preflight",), 0),
        (("--setup-only",), 0),
        (("-n", "2", "--collect-only"), 0),
        (("-k", "placebo"), 0),
        (("-x",), 1),
        (("-n", "2", "-x"), 2),
        (("-k", "nothing"), 5),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_run_that_reports_less_on_purpose_is_as_it_was(
    project: Project, arguments: tuple[str, ...], expected: int
) -> None:
    """Looking without running, choosing and stopping early keep pytest's exit codes, and nothing is said lost."""
    gates(project, "placebo", "provenance")
    code, said = run(project, *arguments)
    assert code == expected, said
    assert "items have no result" not in said


@pytest.mark.slow
def test_other_projects_are_left_alone(pytester: pytest.Pytester) -> None:
    """In a project without judges this plugin does not decide what a lost report means."""
    pytester.makepyfile(test_other="import pytest\n\n\n@pytest.mark.parametrize('n', [1])\ndef test_it(n):\n    pass\n")
    pytester.makeconftest(CANNOT_REPORT)
    done = run_pytest(pytester.path, "-n", "2", "-p", "no:cacheprovider")
    done.stdout.no_fnmatch_line("*items have no result*")


# --- items that run more than once --------------------------------------------------------------------------

RERUN = """\
from _pytest.runner import runtestprotocol


def pytest_runtest_protocol(item, nextitem):
    for attempt in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            if attempt < 2 and report.failed:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        item._initrequest()
    return True


def pytest_report_teststatus(report):
    if report.outcome == "rerun":
        return "rerun", "R", "RERUN"
"""
COUNT = """\
import pytest


@pytest.fixture
def __pytest_repeat_step_number(request):
    return request.param


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("__pytest_repeat_step_number")
    metafunc.parametrize("__pytest_repeat_step_number", range(3), indirect=True, ids=lambda i: f"{i + 1}-3")
"""


@pytest.mark.parametrize(
    ("conftest", "arguments"),
    [(RERUN, ()), (COUNT, ()), (COUNT, ("-n", "2")), ("", ("-n", "2", "--dist", "each"))],
    ids=["reruns", "count", "count on workers", "dist each"],
)
def test_an_item_has_one_row_however_often_it_runs(project: Project, conftest: str, arguments: tuple[str, ...]) -> None:
    """Reruns and copies of an item leave the report of a run without them, byte for byte: Holm counts each once."""
    gates(project, "placebo")
    code, _, once = report(project, folder="once")
    assert len(json.loads(once["report.json"])["contrasts"]) == 2
    again, said, files = report(project, *arguments, folder="often", conftest=conftest)
    assert again == code == 1
    assert files == once, said


def test_of_copies_the_worst_result_counts(project: Project) -> None:
    """Where copies of an item differ, the row is that of the worse one, whichever came first."""
    project.write(
        "mine.py",
        f"calls = []\n{FOLLOWS % 'x'}\n\ndef changing(prompt):\n    calls.append(1)\n"
        "    return judge(prompt if 24 < len(calls) <= 48 else prompt.replace('2025', ''))\n",
    )
    project.configure(PYTHON.replace("mine:judge", "mine:changing"))
    code, said, files = report(project, folder="report", conftest=COUNT)
    (row,) = json.loads(files["report.json"])["contrasts"]
    assert (code, row["status"]) == (1, "FAIL")
    assert "1 failed, 2 passed" in said


def test_workers_write_no_report(project: Project) -> None:
    """Only the controller has all results: it alone writes the report."""
    conftest = """\
import pytest
from pathlib import Path


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        Path("gw0").write_text(str(Path("report/report.json").exists()))
"""
    _, _, files = report(project, "-n", "1", folder="report", conftest=conftest)
    assert (project.path / "gw0").read_text() == "False"
    assert "report.json" in files


# --- a bad pairs file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [("--judge-preflight",), ("-k", "recency", "--judge-record", "missing"), ("--judge-preflight", "-n", "2")],
    ids=" ".join,
)
def test_a_bad_pairs_file_is_one_clear_error(project: Project, arguments: tuple[str, ...]) -> None:
    """Whether the mark stands on the module or on the function: one sentence, and no internal error."""
    marked = (project.path / "test_recency.py").read_text().replace("pytestmark = ", "@")
    (project.path / "test_recency.py").write_text(marked.replace("\n\n\ndef", "\ndef", 1))
    gates(project, "placebo")
    with (project.path / "pairs.jsonl").open("a") as file:
        file.write('{"id": \n')
    code, said = run(project, *arguments)
    assert code in (1, 2)
    assert said.count("pairs.jsonl:13: not JSON") == 1
    assert "INTERNALERROR" not in said


# --- texts that command -------------------------------------------------------------------------------------


def test_no_text_from_outside_commands_a_terminal_or_a_ci_service(project: Project) -> None:
    """Escapes and workflow commands in ids, categories, reasons and errors: not on the terminal, in JUnit, in messages.

    judgments.jsonl has them as they were.
    """
    hostile = "\x1b[31m\n::add-mask::all\n##[group]##vso[task]\r::stop-commands::x"
    project.write_pairs(
        [
            {
                "id": f"p{n}{hostile}",
                "question": f"q{n}{hostile}",
                "response_1": "a",
                "response_2": "b",
                "gold": 1 + n % 2,
                "category": f"c{hostile}",
            }
            for n in range(12)
        ]
    )
    project.write("test_accuracy.py", ACCURACY)
    project.write("mine.py", FOLLOWS % hostile)
    _, said, files = report(project, "-rA", "-vv", "--junitxml", "junit.xml", folder="report")
    printed = [said, (project.path / "junit.xml").read_text()]
    project.write("mine.py", f"def judge(prompt):\n    raise ValueError({hostile!r})\n")
    failed = report(project, "-rA", "-vv", "--junitxml", "junit.xml", folder="failed")
    printed += [failed[1], (project.path / "junit.xml").read_text()]
    printed += [row["message"] for each in (files, failed[2]) for row in json.loads(each["report.json"])["contrasts"]]
    printed += [each["report.md"].decode() for each in (files, failed[2])]
    for text in printed:
        assert "\x1b" not in text
        assert "#x1B" not in text
        assert not [line for line in text.splitlines() if line.strip().startswith("::") or "##[" in line]
        assert "##vso[" not in text
    assert "add-mask" in said
    judgments = [json.loads(line) for line in files["judgments.jsonl"].decode().splitlines()]
    assert {row["reason"] for row in judgments} == {hostile}
    assert {Path(row["pair"]).name for row in judgments} >= {f"p0{hostile}"}


def test_on_github_only_our_own_commands_are_commands(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a judge says is in an annotation, in the summary and in the log, and commands GitHub in none of them."""
    hostile = "\x1b[31m\n::add-mask::all\n##[group]%0A::set-output name=x::y\u202e<img src=x>"
    page = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    project.write("mine.py", f"def judge(prompt):\n    raise ValueError({hostile!r})\n")
    _, said, _ = report(project, "-rA", folder="report")
    commands = [line for line in said.splitlines() if line.lstrip().startswith("::") or "##[" in line]
    assert commands
    assert all(re.match(r"::error file=test_\w+\.py,title=[^:,]+::[^\x00-\x1f]*$", line) for line in commands)
    assert "add-mask" in "".join(commands)
    text = page.read_text()
    assert "<img" not in re.sub(r"\\.", "", text)
    assert "\u202e" not in text
    assert not any(line.startswith("::") for line in text.splitlines())
