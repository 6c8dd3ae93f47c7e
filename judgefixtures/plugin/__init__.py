"""The pytest plugin: options, test items, fixtures, the report. The only room that sees pytest.

It is loaded in other people's repositories: at start-up nothing is imported but pytest, and nothing is read
until a test asks for one of our fixtures. Every option is --judge or --judge-..., every dest judge_...
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.material.kinds import FAMILY, SWAP
from judgefixtures.plugin.gating import OUTCOME, Gate
from judgefixtures.plugin.items import ITEM, MARKS, is_left_out, key_of, mark_of, selected, subjects_of, words_of
from judgefixtures.plugin.redaction import Redaction
from judgefixtures.plugin.results import Results, set_aside
from judgefixtures.plugin.setup import SETUP, SHARED, setup_of
from judgefixtures.words.errors import JudgeFixturesError, choices
from judgefixtures.words.secrets import masked, presentable
from judgefixtures.words.texts import travelling

if TYPE_CHECKING:
    from judgefixtures.asking.judges import Judge
    from judgefixtures.checks.protocol import Subject
    from judgefixtures.material.contrasts import Contrast
    from judgefixtures.material.pairs import Pair

DEFAULT_CONCURRENCY = 16
REFUSED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; each help text says what happens without it."""
    group = parser.getgroup("judgefixtures", "gates of LLM judges")
    add = group.addoption
    add(
        "--judge",
        action="append",
        dest="judge_names",
        metavar="NAME",
        default=None,
        help="judge to gate, a [tool.judgefixtures.judges.NAME] table (repeatable; default: `judge` of the "
        "configuration)",
    )
    add(
        "--judge-baseline",
        dest="judge_baseline",
        metavar="NAME",
        default=None,
        help="compare every judge with this one on the same pairs, decide on the swap (default: none)",
    )
    add(
        "--judge-dataset",
        action="append",
        dest="judge_datasets",
        metavar="NAME",
        default=None,
        help="dataset to ask about (repeatable; default: `datasets` of the configuration)",
    )
    add(
        "--judge-pairs",
        type=_positive,
        dest="judge_pairs",
        metavar="N",
        default=None,
        help="use the first N pairs of each dataset, in seeded order (default: `pairs`, else all)",
    )
    add(
        "--judge-record",
        choices=("none", "missing", "invalid", "all"),
        dest="judge_record",
        default="none",
        help="none: replay recordings, no network at all (default); missing: ask only what is not recorded; "
        "invalid: that, and again what was recorded as invalid; all: record everything anew",
    )
    add(
        "--judge-record-invalid",
        type=_invalid_kind,
        action="append",
        dest="judge_record_invalid",
        metavar="KIND",
        default=None,
        help="with --judge-record invalid: ask again answers of this kind alone, such as empty, "
        "truncated or filtered (repeatable; default: every kind)",
    )
    add(
        "--judge-report",
        type=Path,
        dest="judge_report",
        metavar="DIR",
        default=None,
        help="write report.html, report.md, report.json, every judgment to DIR (default: terminal only)",
    )
    add(
        "--judge-config",
        type=Path,
        dest="judge_config",
        metavar="FILE",
        default=None,
        help="TOML file with the configuration (default: [tool.judgefixtures] of pyproject.toml)",
    )
    add(
        "--judge-cassettes",
        type=Path,
        dest="judge_cassettes",
        metavar="DIR",
        default=None,
        help="folder of the recordings (default: cassettes, beside the configuration)",
    )
    add(
        "--judge-concurrency",
        type=_positive,
        dest="judge_concurrency",
        metavar="N",
        default=DEFAULT_CONCURRENCY,
        help=f"calls in flight while recording, over all workers (default: {DEFAULT_CONCURRENCY})",
    )
    add(
        "--judge-repeats",
        type=_positive,
        dest="judge_repeats",
        metavar="N",
        default=1,
        help="ask the cue-free condition N times: how far does a judge disagree with itself; of a judge with a "
        "temperature cue contrasts, too, for shares of verdicts (default: 1)",
    )
    add(
        "--judge-preflight",
        action="store_true",
        dest="judge_preflight",
        help="say what would run, what it could cost and whether it can decide; run nothing",
    )
    add(
        "--judge-until-decided",
        action="store_true",
        dest="judge_until_decided",
        help="with --judge-record missing: record a swap one of its looks at a time ([tool.judgefixtures.swap] looks), "
        "stop when it is decided; a replay asks for the same (default: all pairs)",
    )
    add(
        "--judge-batch",
        action="store_true",
        dest="judge_batch",
        help="with --judge-record missing: send what is missing in batches, at half the price, and end; the same "
        "command collects the answers, within a day (default: ask at once)",
    )
    add(
        "--judge-force",
        action="store_true",
        dest="judge_force",
        help="record although the preflight refuses, or the first answers are cut off (default: stop)",
    )
    add(
        "--judge-max-cost",
        type=_dollars,
        dest="judge_max_cost",
        metavar="USD",
        default=None,
        help="stop recording before it has cost so much, everything kept (default: no limit)",
    )


def _positive(text: str) -> int:
    import argparse

    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _invalid_kind(text: str) -> str:
    import argparse
    from typing import get_args

    from judgefixtures.reading.verdicts import InvalidKind

    if text not in get_args(InvalidKind):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a kind of invalid answer: {choices(text, get_args(InvalidKind))}"
        )
    return text


def _dollars(text: str) -> float:
    import argparse
    import math

    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of US dollars above 0")
    return value


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    """Find the rootdir again, now that our options are known; a run that ends in a conftest.py leaves no old report."""
    _find_rootdir(early_config, args)
    try:
        yield
    except BaseException:
        set_aside(early_config.known_args_namespace)
        raise


def _find_rootdir(early_config: pytest.Config, args: list[str]) -> None:
    """Find the rootdir again.

    pytest looks for it before plugins are loaded, and takes the value of `--judge-report DIR` or
    `--judge-config FILE` for a path of tests: an existing one elsewhere would hide the user's pyproject.toml.
    """
    known: Any = early_config.known_args_namespace
    if all(getattr(known, dest) is None for dest in ("judge_config", "judge_report", "judge_cassettes")):
        return
    from _pytest.config.findpaths import determine_setup

    before = early_config.getini("addopts")
    config: Any = early_config
    found = determine_setup(
        inifile=known.inifilename,
        override_ini=known.override_ini,
        args=known.file_or_dir,
        rootdir_cmd_arg=known.rootdir or None,
        invocation_dir=early_config.invocation_params.dir,
    )
    if found[:2] != (early_config.rootpath, early_config.inipath):
        config._rootpath, config._inipath, config._inicfg, config._ignored_config_files = found
        config._inicache.clear()
        known.confcutdir = str(found[1].parent if found[1] else found[0])
        # What stands first in args came from the settings of a folder that is not the project's.
        args[: len(before)] = early_config.getini("addopts")


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
    config.pluginmanager.register(Redaction(config), "judgefixtures-redaction")
    option = config.option
    if option.judge_record != "none" and not hasattr(config, "workerinput") and config.getoption("tx", None):
        from judgefixtures.plugin.interruption import Workers

        config.pluginmanager.register(Workers(SHARED), "judgefixtures-workers")
    report = option.judge_report
    if report is not None and report.exists() and not report.is_dir():
        raise pytest.UsageError(f"the report cannot be written to {report}: it is a file, not a folder.")
    results.begin()
    if option.judge_record_invalid and option.judge_record != "invalid":
        raise pytest.UsageError(
            "--judge-record-invalid names the invalid answers that --judge-record invalid asks "
            f"again, and this is --judge-record {option.judge_record}: give both."
        )
    if option.judge_until_decided and (option.judge_record in ("invalid", "all") or option.judge_baseline is None):
        raise pytest.UsageError(
            "--judge-until-decided records or replays a swap look by look: it needs "
            "--judge-baseline NAME, and --judge-record missing or none."
        )
    if option.judge_batch and (option.judge_record != "missing" or option.judge_until_decided):
        raise pytest.UsageError(
            "--judge-batch sends what is missing all at once: it needs --judge-record missing, and "
            "goes without --judge-until-decided, which looks at some answers first."
        )
    if option.judge_batch:
        from judgefixtures.plugin.mailing import BatchRun

        config.pluginmanager.register(BatchRun(), "judgefixtures-batches")
    given = (option.judge_names, option.judge_datasets, option.judge_config, option.judge_baseline)
    if any(given) and not hasattr(config, "workerinput"):
        try:
            setup_of(config).check()
        except JudgeFixturesError as error:
            raise pytest.UsageError(masked(str(error))) from None


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str) -> list[pytest.Item] | None:
    """Check the configuration when the first judge test is met: one clear collection error, not one per item.

    Nothing is made of a test that has nothing to compare: no family of the user's own, no baseline, no repeats;
    nor of one that is made by name alone where nobody named it.
    """
    mark = mark_of(collector)
    if mark is None or not name.startswith("test"):
        return None
    return None if _subjects(mark, collector) else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make an item of everything that the mark asks for, for each judge and dataset."""
    mark = mark_of(metafunc.definition)
    if mark is None or ITEM not in metafunc.fixturenames:
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
    """Before the first question: what it can cost, and whether it can decide anything."""
    option = session.config.option
    if not (option.judge_preflight or option.judge_record != "none") or SETUP not in session.config.stash:
        return
    if REFUSED in session.config.stash:
        return  # a collection error says why nothing can be foreseen
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    chosen = [subject for _, subject in selected(session.items)]
    if reporter is None or not chosen or hasattr(session.config, "workerinput"):
        return
    from judgefixtures.preflight.forecast import forecast

    try:
        lines = forecast(setup_of(session.config).run, chosen)
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
            # In CI pytest repeats this message, uncut, in its short summary: the verdict is enough there.
            titles = [finding.title for finding in item.stash[OUTCOME].findings if finding.plain]
            crash.message = presentable(titles[-1]) if titles else crash.message.partition("\n")[0]
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what the session opened."""
    if SETUP in config.stash:
        config.stash[SETUP].close()
