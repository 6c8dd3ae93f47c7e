"""pytest plugin: options, test items, fixtures and the report. Only this package imports pytest.

pytest loads it in every project where it is installed: start-up imports only pytest and reads no file.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest
from _pytest.unittest import TestCaseFunction

from judgefixtures.models.check_registry import FAMILY, SWAP
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import redact_message, safe_message
from judgefixtures.util.texts import make_json_safe

from . import items
from .gate import OUTCOME, Gate
from .messages import MESSAGES
from .named_collection import BY_NAME, OptInCollector
from .options import add_options, check_options
from .redaction import SecretRedaction
from .reporter import ASIDE, JudgeReporter, set_report_aside
from .rootdir import find_rootdir
from .session_setup import SETUP, SHARED, session_setup
from .skipped_notes import unchecked, uncompared_families, unselected_checks, unsuitable_datasets_notes

if TYPE_CHECKING:
    from judgefixtures.checks.base import CheckId
    from judgefixtures.judges.judge import Judge
    from judgefixtures.models.contrasts import Contrast
    from judgefixtures.models.pairs import Pair

REFUSED = pytest.StashKey[str]()
FIXTURES = ("judge", "pairs", "contrast", "gate")
OURS = "judgefixtures-"  # how the names of our parts begin among pytest's plugins


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    """Find the rootdir again; set an earlier report aside before any conftest.py runs.

    A conftest.py may end the process.
    """
    find_rootdir(early_config, args)
    with contextlib.suppress(JudgeFixturesError):  # the results say it, where pytest shows a mistake of the user's
        early_config.stash[ASIDE] = set_report_aside(early_config.known_args_namespace)
    yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, int | None, int | None]:
    """Start no workers in a preflight or for batches; never return 0 after FAIL."""
    # Not by the plugin's name: `-p xdist.plugin` registers it under another.
    if (config.option.judge_preflight or config.option.judge_batch) and hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []
    code = yield
    return code or getattr(config.pluginmanager.get_plugin(f"{OURS}results"), "code", code)


def pytest_configure(config: pytest.Config) -> None:
    """Register marks and plugins, and check the options."""
    for name, meaning in items.MARKS.items():
        config.addinivalue_line("markers", f"{name}(*families): {meaning}")
    results = JudgeReporter(config)
    config.stash[BY_NAME] = by_name = OptInCollector(config)
    parts = {
        "results": results,
        "expected-items": results.expected_items,
        "decisions": results.decisions,
        "by-name": by_name,
    }
    for name, part in {**parts, "redaction": SecretRedaction(config)}.items():
        if config.pluginmanager.register(part, f"{OURS}{name}") is None:
            raise pytest.UsageError(f"-p no:{OURS}{name} disables a part of the gate. Remove this option.")
    option = config.option
    if option.judge_record != "none" and not hasattr(config, "workerinput") and config.getoption("tx", None):
        from .cancellation import XdistWorkerCoordinator

        config.pluginmanager.register(XdistWorkerCoordinator(SHARED), "judgefixtures-workers")
    results.begin()
    check_options(option)
    if option.judge_batch:
        from .batch_run import BatchRunPlugin

        config.pluginmanager.register(BatchRunPlugin(), "judgefixtures-batches")
    given = (option.judge_names, option.judge_datasets, option.judge_config, option.judge_baseline)
    if any(given) and not hasattr(config, "workerinput") and not by_name.is_needed:
        try:
            session_setup(config).check()
        except JudgeFixturesError as error:
            raise pytest.UsageError(redact_message(str(error))) from None


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """Check the configuration at the first judge test: one collection error, not one per item.

    Tests without cases, and unnamed opt-in tests, give no items.
    """
    mark = items.function_mark(obj) or items.mark_of(collector)
    if mark is None or not name.startswith("test") or _is_unnamed(collector):
        return None
    subjects = _subjects(mark, collector)
    if SETUP in collector.config.stash and REFUSED not in collector.config.stash:
        setup = session_setup(collector.config)
        for line in (
            *unsuitable_datasets_notes(mark, setup, collector, name),
            *uncompared_families(mark, setup, collector, name),
        ):
            setup.run.context.note(line)
    return None if subjects else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Create items for each judge and dataset of a mark."""
    mark = items.mark_of(metafunc.definition)
    if mark is None or items.ITEM not in metafunc.fixturenames or _is_unnamed(metafunc.definition):
        return
    subjects = _subjects(mark, metafunc.definition)
    if mark.name == SWAP and subjects:
        setup = session_setup(metafunc.config)
        setup.required_swaps += setup.parts_of_swap((*subjects, *items.parts_left_out(mark, setup)))
    metafunc.parametrize(items.ITEM, subjects, indirect=True, ids=repr, scope="session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let `-k cue` select cue contrasts."""
    if SETUP in item.config.stash:
        item.extra_keyword_matches.update(items.keywords_of_item(item, session_setup(item.config)))


def _is_unnamed(node: pytest.Collector | pytest.Item) -> bool:
    return node.config.stash[BY_NAME].leaves_out(node.path, node.session)


def _subjects(mark: pytest.Mark, node: pytest.Collector | pytest.Item) -> list[CheckId]:
    config = node.config
    if REFUSED in config.stash:
        return []
    try:
        setup = session_setup(config)
        setup.check()
        return [
            each for each in items.subjects_of_mark(mark, setup) if not items.is_opt_in_only(mark, each, node, setup)
        ]
    except JudgeFixturesError as error:
        config.stash[REFUSED] = str(error)
        raise pytest.Collector.CollectError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Run the preflight: what is skipped, the maximum cost, and what can pass."""
    option = session.config.option
    if SETUP not in session.config.stash or REFUSED in session.config.stash:
        return  # a collection error says why nothing can be foreseen
    setup = session_setup(session.config)
    chosen = [subject for _, subject in items.selected_judge_items(session.items)]
    for line in (*unselected_checks(setup, option), *unchecked(setup, option, chosen)):
        setup.run.context.note(line)
    if not (option.judge_preflight or option.judge_record != "none"):
        return
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or not chosen or hasattr(session.config, "workerinput"):
        return
    from judgefixtures.run.preflight import preflight_lines

    try:
        lines = preflight_lines(setup.run, chosen)
    except JudgeFixturesError as error:
        raise pytest.UsageError(str(error)) from None
    quiet = option.verbose < 0 and not option.judge_preflight
    for line in [each for each in lines if ": at most " in each][:3] if quiet else lines:
        reporter.write_line(safe_message(line))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run nothing in a preflight; collection errors still count."""
    option = session.config.option
    return (option.judge_preflight and not (session.testsfailed and not option.continue_on_collection_errors)) or None


@pytest.fixture(scope="session")
def _judge_item(request: pytest.FixtureRequest) -> CheckId:
    """Return the item's subject, from the only parametrized fixture."""
    subject: CheckId | None = getattr(request, "param", None)
    if subject is None:
        pytest.fail(_why_no_item(request._pyfuncitem), pytrace=False)
    return subject


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse tests that use our fixtures without a subject, unless skipped."""
    if items.ITEM not in getattr(item, "fixturenames", ()) or items.ITEM in getattr(
        getattr(item, "callspec", None), "params", ()
    ):
        return
    if isinstance(item, TestCaseFunction):
        for each in (item.cls, getattr(item.cls, item.originalname, None)):
            if getattr(each, "__unittest_skip__", False):
                pytest.skip(getattr(each, "__unittest_skip_why__", ""))
    pytest.fail(_why_no_item(item), pytrace=False)


def _is_called_without(item: pytest.Item, error: BaseException) -> bool:
    if not isinstance(item, TestCaseFunction) or not isinstance(error, TypeError):
        return False
    lacking = rf"\b{item.originalname}\(\) missing .* required positional .*'({'|'.join(FIXTURES)})'"
    return re.search(lacking, str(error)) is not None


def _why_no_item(node: pytest.Item) -> str:
    mark, ours = items.mark_of(node), ", ".join(FIXTURES)
    name = f"pytest.mark.{mark.name if mark else FAMILY}"
    how = f"a plain function with the mark {name}:\n    def test_judge({ours}): gate.check(judge, pairs, contrast)"
    if isinstance(node, TestCaseFunction):
        return f"methods of a unittest.TestCase cannot use the fixtures {ours}. Write {how}"
    if mark is not None:
        return f"the test has the mark {name}, but not the parameters {ours}. Write {how}"
    return MESSAGES.mark_missing(items.MARKS, FAMILY)


@pytest.fixture
def judge(_judge_item: CheckId, request: pytest.FixtureRequest) -> Judge:
    """The judge under test, a `judgefixtures.judges.judge.Judge`; override it to gate one made by your own code."""
    return session_setup(request.config).run.judge(_judge_item.judge)


@pytest.fixture
def baseline(_judge_item: CheckId, request: pytest.FixtureRequest) -> Judge:
    """The judge to compare with, from --judge-baseline."""
    return session_setup(request.config).run.judge(str(_judge_item.baseline))


@pytest.fixture
def pairs(_judge_item: CheckId, request: pytest.FixtureRequest) -> Sequence[Pair]:
    """The sampled pairs the judge is asked about; override it to choose them yourself."""
    return session_setup(request.config).run.pairs(_judge_item.judge, _judge_item.dataset)


@pytest.fixture
def contrast(_judge_item: CheckId) -> Contrast | None:
    """The contrast under test: two conditions on the same pairs; None for accuracy."""
    return _judge_item.check.contrast


@pytest.fixture
def gate(_judge_item: CheckId, request: pytest.FixtureRequest) -> Gate:
    """The gate: `gate.check(judge, pairs, contrast)` passes or fails the test; so do its other check_... methods."""
    return Gate(session_setup(request.config), request.node, _judge_item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach an item's result to its report as plain values for xdist."""
    report = yield
    if report.failed and call.excinfo is not None and _is_called_without(item, call.excinfo.value):
        why = pytest.fail.Exception(_why_no_item(item), pytrace=False).with_traceback(call.excinfo.tb)
        report.longrepr = item.repr_failure(pytest.ExceptionInfo.from_exception(why))
    if call.when == "call" and OUTCOME in item.stash:
        # A fixture of the user's may have made the judge or the pairs: not every text came in where we look.
        outcome = {**item.stash[OUTCOME].to_json(), "item": items.report_key(item)}
        report.judgefixtures = make_json_safe(outcome)  # type: ignore[attr-defined]
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            # The message of a JUnit file, where the verdict is enough: its text has the whole diagnosis.
            titles = [finding.title for finding in item.stash[OUTCOME].findings if finding.plain]
            crash.message = safe_message(titles[-1]) if titles else crash.message.partition("\n")[0]
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the session's resources."""
    if SETUP in config.stash:
        config.stash[SETUP].close()
