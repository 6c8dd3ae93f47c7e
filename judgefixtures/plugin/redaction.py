"""Redaction of known credentials in everything that pytest prints and writes.

judgefixtures.util.secrets knows the credentials.
"""

import logging
from collections.abc import Callable, Generator
from typing import Any

import pytest

from judgefixtures.util.secrets import redact_message, redacted_json

from .session_setup import SETUP

RecordFactory = Callable[..., logging.LogRecord]


class SecretRedaction:
    """Takes credentials out of what pytest keeps of an item, a collection, a log record, a warning or a crash."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._before: RecordFactory | None = None
        self._ours: RecordFactory | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """From here on, whoever handles a log record gets one without credentials: a file, the terminal, a report."""
        self._before = before = logging.getLogRecordFactory()

        def record(*args: Any, **kwargs: Any) -> logging.LogRecord:
            made = before(*args, **kwargs)
            return _without(made) if self._has_judges else made

        self._ours = record
        logging.setLogRecordFactory(record)

    def pytest_unconfigure(self) -> None:
        """Give the record factory back, unless somebody put another one over it."""
        if self._before is not None and logging.getLogRecordFactory() is self._ours:
            logging.setLogRecordFactory(self._before)

    @property
    def _has_judges(self) -> bool:
        """Whether a judge was loaded: in a run without one nothing is looked at."""
        return SETUP in self._config.stash

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Clean a test's report where it is made: under xdist the controller does not know what workers sent."""
        report = yield
        self._clean(report)
        if (result := getattr(report, "judgefixtures", None)) is not None:
            report.judgefixtures = redacted_json(result)  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Clean the report of a module that could not be collected."""
        report = yield
        self._clean(report)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        """Clean what is about to be shown of a crash."""
        if self._has_judges:
            _clean_in_place(excrepr)

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Clean what the terminal kept of an interruption, which it shows at the end."""
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if self._has_judges and (kept := getattr(reporter, "_keyboardinterrupt_memo", None)) is not None:
            _clean_in_place(kept)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: Any) -> None:
        """Clean a warning before it is kept for the summary."""
        if self._has_judges and (text := str(warning_message.message)) != (clean := redact_message(text)):
            warning_message.message = clean

    def _clean(self, report: Any) -> None:
        if not self._has_judges:
            return
        report.longrepr = _cleaned(report.longrepr)
        report.sections = [(redact_message(title), redact_message(content)) for title, content in report.sections]
        if properties := getattr(report, "user_properties", None):
            report.user_properties = [(name, redacted_json(value)) for name, value in properties]


def _without(record: logging.LogRecord) -> logging.LogRecord:
    """Return a log record without credentials in message and traceback; untouched where there are none."""
    try:
        text = record.getMessage()
    except Exception:  # arguments that do not fit the message: logging tells whoever wrote it
        return record
    if text != (clean := redact_message(text)):
        record.msg, record.args = clean, ()
    if record.exc_info and record.exc_info[0] is not None:
        trace = logging.Formatter().formatException(record.exc_info)
        if trace != (clean := redact_message(trace)):
            record.exc_text = clean  # formatters show what is there already
    return record


def _cleaned(value: Any) -> Any:
    """Return what a report shows: a text, the place and reason of a skip, or an exception as pytest keeps it."""
    if isinstance(value, str):
        return redact_message(value)
    if isinstance(value, tuple | list):
        return type(value)(map(_cleaned, value))
    _clean_in_place(value)
    return value


def _clean_in_place(thing: Any) -> None:
    """Clean every text of an exception that pytest keeps as objects: its entries, locals, arguments, messages."""
    if not type(thing).__module__.startswith("_pytest."):
        return
    for name, value in vars(thing).items():
        # Some of these classes are frozen: what is shown changes, not what it stands for.
        object.__setattr__(thing, name, _cleaned(value))
