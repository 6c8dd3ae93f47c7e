"""The pytest plugin: options, test items, fixtures, the report. The only room that sees pytest.

It is loaded in other people's repositories: at start-up nothing is imported but pytest, and nothing is read
until a test asks for one of our fixtures. Every option is --judge or --judge-..., every dest judge_...
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest

from judgefixtures.material.registry import FAMILY, SWAP
from judgefixtures.plugin.by_name import BY_NAME, ByName
from judgefixtures.plugin.gating import OUTCOME, Gate
from judgefixtures.plugin.items import (
    ITEM,
    MARKS,
    is_left_out,
    key_of,
    mark_of,
    own_mark,
    selected,
    subjects_of,
    words_of,
)
from judgefixtures.plugin.options import add_options, check_options
from judgefixtures.plugin.redaction import Redaction
from judgefixtures.plugin.results import Results, set_aside
from judgefixtures.plugin.rootdir import find_rootdir
from judgefixtures.plugin.setup import SETUP, SHARED, setup_of
from judgefixtures.plugin.unasked import unasked, uncompared, unfit
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import masked, presentable
from judgefixtures.words.texts import travelling

if TYPE_CHECKING:
    from judgefixtures.asking.judges import Judge
    from judgefixtures.checks.protocol import Subject
    from judgefixtures.material.contrasts import Contrast
    from judgefixtures.material.pairs import Pair

REFUSED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    add_options(parser)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    """Find the rootdir again, now that our options are known; a run that ends in a conftest.py leaves no old report."""
    find_rootdir(early_config, args)
    try:
        yield
    except BaseException:
        set_aside(early_config.known_args_namespace)
        raise


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """A preflight, and a run that sends batches, look at the items of one process: they start no workers."""
    # Not by the plugin's name: `-p xdist.plugin` registers it under another.
    if (config.option.judge_preflight or config.option.judge_batch) and hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks and the collector of results; check what was said on the command line at once."""
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}(*families): {meaning}")
    results = Results(config)
    config.pluginmanager.register(results, "judgefixtures-results")
    config.pluginmanager.register(results.roster, "judgefixtures-roster")
    config.pluginmanager.register(results.decisions, "judgefixtures-decisions")
    config.pluginmanager.register(Redaction(config), "judgefixtures-redaction")
    config.stash[BY_NAME] = by_name = ByName(config)
    config.pluginmanager.register(by_name, "judgefixtures-by-name")
    option = config.option
    if option.judge_record != "none" and not hasattr(config, "workerinput") and config.getoption("tx", None):
        from judgefixtures.plugin.interruption import Workers

        config.pluginmanager.register(Workers(SHARED), "judgefixtures-workers")
    results.begin()
    check_options(option)
    if option.judge_batch:
        from judgefixtures.plugin.outbox import BatchRun

        config.pluginmanager.register(BatchRun(), "judgefixtures-batches")
    given = (option.judge_names, option.judge_datasets, option.judge_config, option.judge_baseline)
    if any(given) and not hasattr(config, "workerinput") and not by_name.is_needed:
        try:
            setup_of(config).check()
        except JudgeFixturesError as error:
            raise pytest.UsageError(masked(str(error))) from None


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """Check the configuration when the first judge test is met: one clear collection error, not one per item.

    Nothing is made of a test that has nothing to compare: no family of the user's own, no baseline, no repeats, no
    order in which a judge of one response sees anything; nor of one that is made by name alone where nobody named it.
    """
    mark = own_mark(obj) or mark_of(collector)
    if mark is None or not name.startswith("test") or _is_unnamed(collector):
        return None
    subjects = _subjects(mark, collector)
    if SETUP in collector.config.stash and REFUSED not in collector.config.stash:
        setup = setup_of(collector.config)
        for line in (*unfit(mark, setup, collector, name), *uncompared(mark, setup, collector, name)):
            setup.run.desk.note(line)
    return None if subjects else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of everything that the mark asks for, for each judge and dataset."""
    mark = mark_of(metafunc.definition)
    if mark is None or ITEM not in metafunc.fixturenames or _is_unnamed(metafunc.definition):
        return
    subjects = _subjects(mark, metafunc.definition)
    if mark.name == SWAP and subjects:
        from judgefixtures.checks.candidate import plan_part

        setup_of(metafunc.config).required_swaps += map(plan_part, subjects)
    metafunc.parametrize(ITEM, subjects, indirect=True, ids=repr, scope="session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let `-k cue` select the contrasts of cues."""
    if SETUP in item.config.stash:
        item.extra_keyword_matches.update(words_of(item, setup_of(item.config)))


def _is_unnamed(node: pytest.Collector | pytest.Item) -> bool:
    return node.config.stash[BY_NAME].leaves_out(node.path, node.session)


def _subjects(mark: pytest.Mark, node: pytest.Collector | pytest.Item) -> list[Subject]:
    """Return the subjects of a mark, none once the configuration was refused: the first collection error said why."""
    config = node.config
    if REFUSED in config.stash:
        return []
    try:
        setup = setup_of(config)
        setup.check()
        return [each for each in subjects_of(mark, setup) if not is_left_out(mark, each, node, setup)]
    except JudgeFixturesError as error:
        config.stash[REFUSED] = str(error)
        raise pytest.Collector.CollectError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Before the first question: what is not asked, what the rest can cost, and whether it can decide anything."""
    option = session.config.option
    if SETUP not in session.config.stash or REFUSED in session.config.stash:
        return  # a collection error says why nothing can be foreseen
    setup = setup_of(session.config)
    for line in unasked(setup, option):
        setup.run.desk.note(line)
    if not (option.judge_preflight or option.judge_record != "none"):
        return
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    chosen = [subject for _, subject in selected(session.items)]
    if reporter is None or not chosen or hasattr(session.config, "workerinput"):
        return
    from judgefixtures.preflight.forecast import forecast

    try:
        lines = forecast(setup.run, chosen)
    except JudgeFixturesError as error:
        raise pytest.UsageError(str(error)) from None
    for line in lines:
        reporter.write_line(presentable(line))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run nothing in a preflight."""
    return True if session.config.option.judge_preflight else None


@pytest.fixture(scope="session")
def _judge_item(request: pytest.FixtureRequest) -> Subject:
    """What the item is about; only this hidden fixture is parametrized."""
    subject: Subject | None = getattr(request, "param", None)
    if subject is None:
        pytest.fail(
            f"the fixtures judge, pairs, contrast and gate need one of the marks {', '.join(MARKS)}: add for example "
            f'`pytestmark = pytest.mark.{FAMILY}("recency")` to the module.',
            pytrace=False,
        )
    return subject


@pytest.fixture
def judge(_judge_item: Subject, request: pytest.FixtureRequest) -> Judge:
    """The judge under test, a `judgefixtures.asking.judges.Judge`; override it to gate one made by your own code."""
    return setup_of(request.config).run.judge(_judge_item.judge)


@pytest.fixture
def baseline(_judge_item: Subject, request: pytest.FixtureRequest) -> Judge:
    """The judge that the one under test is compared with, --judge-baseline."""
    return setup_of(request.config).run.judge(str(_judge_item.baseline))


@pytest.fixture
def pairs(_judge_item: Subject, request: pytest.FixtureRequest) -> Sequence[Pair]:
    """The sampled pairs the judge is asked about; override it to choose them yourself."""
    return setup_of(request.config).run.pairs(_judge_item.judge, _judge_item.dataset)


@pytest.fixture
def contrast(_judge_item: Subject) -> Contrast | None:
    """The contrast under test: two conditions on the same pairs. None where accuracy is."""
    return _judge_item.check.contrast


@pytest.fixture
def gate(_judge_item: Subject, request: pytest.FixtureRequest) -> Gate:
    """The gate: `gate.check(judge, pairs, contrast)` passes or fails the test; so do its other check_... methods."""
    return Gate(setup_of(request.config), request.node, _judge_item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put an item's result on its report, as plain values: under xdist it travels to the controller."""
    report = yield
    if call.when == "call" and OUTCOME in item.stash:
        # A fixture of the user's may have made the judge or the pairs: not every text came in where we look.
        outcome = {**item.stash[OUTCOME].to_json(), "item": key_of(item)}
        report.judgefixtures = travelling(outcome)  # type: ignore[attr-defined]
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            # The message of a JUnit file, where the verdict is enough: its text has the whole diagnosis.
            titles = [finding.title for finding in item.stash[OUTCOME].findings if finding.plain]
            crash.message = presentable(titles[-1]) if titles else crash.message.partition("\n")[0]
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what the session opened."""
    if SETUP in config.stash:
        config.stash[SETUP].close()
