"""What marks, plugins and hooks make of a judge test's outcome: a measured FAIL never ends with exit code 0.

Small projects with a judge in Python, run by pytest inside a test; what other plugins do is done here by a few lines.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from support.project import Project, small_project, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main

pytest_plugins = ["pytester"]

FOLLOWS = """\
import json
import re


def judge(prompt):
    better = 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1)
    if "2025" in prompt:
        better = 1 if prompt.index("2025") < prompt.index("1950") else 2
    return json.dumps({"selected_response": better, "reason": "Better."})
"""
BROKEN = "def judge(prompt):\n    return 'no verdict'\n"


def configuration(more: str = "") -> str:
    """Return the configuration of a judge in Python."""
    return f"""\
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
{more}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project whose judge follows the newer date, so that its one judge test is a FAIL."""
    return small_project(pytester, configuration, FOLLOWS, "recency")


def merged(project: Project) -> int:
    """Return the exit code of the run's report put together."""
    return main(["report", "merge", str(project.path / "report"), "--into", str(project.path / "merged")])


def checked(project: Project) -> int:
    """Return the exit code of a check of the run's report."""
    return main(["report", "check", str(project.path / "report")])


def assert_fails(project: Project, *arguments: str, code: int = 1) -> str:
    """Assert that the run, the check of its report and the merge of it end with a code, and return what it said."""
    ran = project.run("--judge-report", "report", *arguments)
    assert ran.ret == code, ran.said
    assert merged(project) == code
    assert checked(project) == code
    return ran.said


BODY = "    gate.check(judge, pairs, contrast)\n"
TEST = suite("recency")
CAUGHT = {
    "xfail": TEST.replace("def test", "@pytest.mark.xfail\ndef test"),
    "xfail strict": TEST.replace("def test", "@pytest.mark.xfail(strict=True, reason='known')\ndef test"),
    "xfail raises": TEST.replace("def test", "@pytest.mark.xfail(raises=pytest.fail.Exception)\ndef test"),
    "module xfail": TEST.replace("('recency')", "('recency')").replace(
        "pytestmark = pytest.mark.judge_family('recency')",
        "pytestmark = [pytest.mark.judge_family('recency'), pytest.mark.xfail]",
    ),
    "skip": TEST.replace(
        BODY, f"    try:\n    {BODY}    except pytest.fail.Exception:\n        pytest.skip('known')\n"
    ),
    "imperative xfail": TEST.replace(
        BODY, f"    try:\n    {BODY}    except pytest.fail.Exception:\n        pytest.xfail('known')\n"
    ),
    "raises": TEST.replace(BODY, f"    with pytest.raises(pytest.fail.Exception):\n    {BODY}"),
    "suppress": "import contextlib\n" + TEST.replace(BODY, f"    with contextlib.suppress(BaseException):\n    {BODY}"),
    "return in finally": TEST.replace(BODY, f"    try:\n    {BODY}    finally:\n        return\n"),
    "in a thread": "import threading\n"
    + TEST.replace(
        BODY,
        "    thread = threading.Thread(target=gate.check, args=(judge, pairs, contrast))\n"
        "    threading.excepthook = lambda *_: None\n    thread.start()\n    thread.join()\n",
    ),
}


@pytest.mark.parametrize("test", CAUGHT.values(), ids=CAUGHT)
def test_a_fail_that_its_test_hides_is_a_fail(project: Project, test: str, snapshot: SnapshotAssertion) -> None:
    """A mark xfail, or a test that catches its gate's failure: exit code 1, as of the merge, and the reason is told."""
    project.write("test_recency.py", test)
    said = assert_fails(project, "-p", "no:threadexception")
    assert project.report()["status"] == "FAIL"
    assert lines_about(said, "[waivers]") == snapshot
    assert "FAIL: ours on own: recency-new-old" in said or "recency-new-old" in said.partition("judges")[2]


def test_workers_tell_the_same(project: Project) -> None:
    """Under -n, too."""
    project.write("test_recency.py", CAUGHT["xfail"])
    assert_fails(project, "-n", "2")


@pytest.mark.parametrize("options", [("--runxfail",), ("-x",), ("--maxfail", "1"), ("-p", "no:skipping")], ids=" ".join)
def test_options_of_pytest_change_nothing(project: Project, options: tuple[str, ...]) -> None:
    """Whatever pytest calls the test, the code is 1."""
    project.write("test_recency.py", CAUGHT["xfail"])
    if options[0] == "-p":
        project.write("conftest.py", "def pytest_configure(config):\n    config.addinivalue_line('markers', 'xfail')\n")
    assert_fails(project, *options)


def test_a_waiver_makes_a_fail_green(project: Project) -> None:
    """With a waiver the run ends with 0, and so does a test with xfail, of which nothing is told."""
    waiver = (
        '[[tool.judgefixtures.waivers]]\ncontrast = "recency-new-old"\nowner = "us"\nreason = "known"\n'
        "expires = 2999-01-01\n"
    )
    project.configure(waiver)
    said = assert_fails(project, code=0)
    assert "pytest does not" not in said
    project.write("test_recency.py", CAUGHT["xfail"])
    assert_fails(project, code=0)


def test_a_waiver_ends_by_the_real_calendar(project: Project) -> None:
    """A test that stops Python's clock before the day on which a waiver ended does not bring the waiver back."""
    waiver = (
        '[[tool.judgefixtures.waivers]]\ncontrast = "recency-new-old"\nowner = "us"\nreason = "known"\n'
        "expires = 2020-01-01\n"
    )
    project.configure(waiver)
    project.write("conftest.py", STOPPED_DAY)
    assert "expired on 2020-01-01" in assert_fails(project)


STOPPED_DAY = """\
import datetime
import time
import pytest


class Stopped(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2019, 1, 1, tzinfo=tz)


@pytest.fixture(autouse=True)
def stopped(monkeypatch):
    monkeypatch.setattr(datetime, "datetime", Stopped)
    monkeypatch.setattr(time, "time", lambda: 1546300800.0)
"""


def test_what_could_not_be_measured_and_is_marked_xfail_is_10(project: Project) -> None:
    """An ERROR that a mark hides ends as one that nobody hides: 10, also beside one that is not hidden."""
    project.write("mine.py", BROKEN)
    project.write("test_recency.py", CAUGHT["xfail"])
    assert_fails(project, code=10)
    project.write("test_placebo.py", suite("placebo"))
    assert_fails(project, code=10)
    project.write("test_other.py", "def test_other():\n    assert False\n")
    assert project.run().ret == 1


HOOKS = {
    "outcome passed": """\
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome, report.longrepr = "passed", None
    return report
""",
    "outcome skipped": """\
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.outcome, report.longrepr = "skipped", (str(item.path), 1, "Skipped: quarantined")
    return report
""",
    "another report": """\
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return pytest.TestReport(item.nodeid, item.location, item.keywords, "passed", None, report.when)
""",
    "a call that catches": """\
import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except BaseException:
        return None
""",
    "a session that counts nothing": """\
import pytest


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session):
    try:
        return (yield)
    finally:
        session.testsfailed = 0
""",
    "a mark by hook": """\
import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xfail(reason="quarantine"))
""",
    "exit status after us": """\
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    yield
    session.exitstatus = 0
""",
    "exit status at the very end": """\
SESSIONS = []


def pytest_sessionstart(session):
    SESSIONS.append(session)


def pytest_unconfigure(config):
    SESSIONS[0].exitstatus = 0
""",
    "exit in sessionfinish": """\
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    yield
    pytest.exit("all is well", returncode=0)
""",
}


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_hook_that_rewrites_the_outcome_changes_no_exit_code(project: Project, hook: str) -> None:
    """Plugins that quarantine tests rewrite reports, and others the session's status: the code stays 1."""
    project.write("conftest.py", hook)
    assert_fails(project)


@pytest.mark.parametrize("part", ["results", "expected-items", "decisions", "by-name"])
def test_no_part_of_the_plugin_can_be_left_out(project: Project, part: str, snapshot: SnapshotAssertion) -> None:
    """`-p no:judgefixtures-results` would leave nobody who knows of a FAIL: an error that names the option."""
    project.write("test_recency.py", CAUGHT["xfail"])
    ran = project.run("-p", f"no:judgefixtures-{part}")
    assert ran.ret == 4, ran.said
    assert ran.said == snapshot


PLUGINS = {
    "pytest_rerunfailures": ("--reruns", "2"),
    "pytest_retry": ("--retries", "2"),
    "flaky": ("--force-flaky", "--max-runs", "2"),
    "pytest_timeout": ("--timeout", "60"),
    "pytest_randomly": (),
    "pytest_subtests": (),
    "pytest_asyncio": (),
    "pytest_socket": ("--disable-socket",),
}


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("hidden", ["xfail", "raises"])
def test_other_plugins_change_no_exit_code(project: Project, plugin: str, hidden: str) -> None:
    """Plugins that run tests again, limit or mix them (where they are installed): the code stays 1, of both."""
    if importlib.util.find_spec(plugin) is None:
        pytest.skip(f"{plugin} is not installed")
    project.write("test_recency.py", CAUGHT[hidden])
    assert_fails(project, *PLUGINS[plugin])


RERUN = """\
import pytest
from _pytest.runner import runtestprotocol


def pytest_runtest_protocol(item, nextitem):
    for attempt in range(2):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            if report.when == "call" and attempt == 0:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if hasattr(item, "_initrequest"):
            item.funcargs = {}
            item._initrequest()
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


@pytest.mark.parametrize("hidden", ["xfail", "raises", "skip"])
def test_a_test_that_runs_again_hides_nothing(project: Project, hidden: str) -> None:
    """The last attempt counts, whatever pytest calls it."""
    project.write("conftest.py", RERUN)
    project.write("test_recency.py", CAUGHT[hidden])
    assert_fails(project)


def test_subtests_hide_nothing(project: Project) -> None:
    """A gate that fails in a subtest (pytest 9) fails the run, and its merge."""
    if pytest.version_tuple < (9,):
        pytest.skip("pytest has no subtests")
    test = TEST.replace("contrast, gate)", "contrast, gate, subtests)")
    project.write("test_recency.py", test.replace(BODY, f"    with subtests.test():\n    {BODY}"))
    assert_fails(project)


def test_a_swap_that_is_marked_xfail_is_not_approved(project: Project) -> None:
    """Items of a swap with xfail: the decision still fails the run."""
    project.write("steady.py", FOLLOWS.replace('if "2025" in prompt', "if False"))
    table = '[tool.judgefixtures.judges.old]\nprovider = "python"\ntarget = "steady:judge"\n'
    project.configure(table)
    project.write(
        "test_swap.py",
        TEST.replace("judge_family('recency')", "judge_swap('recency')")
        .replace(
            "def test_judge(judge, pairs, contrast, gate)",
            "@pytest.mark.xfail\ndef test_judge(judge, baseline, pairs, contrast, gate)",
        )
        .replace("gate.check(judge, pairs, contrast)", "gate.check_swap(judge, baseline, pairs, contrast)"),
    )
    Path(project.path / "test_recency.py").unlink()
    ran = project.run("--judge-baseline", "old", "--judge-report", "report")
    assert ran.ret == 1, ran.said
    assert json.loads((project.path / "report" / "report.json").read_text())["decision"]["status"] != "APPROVE"
    assert merged(project) == checked(project) == 1
