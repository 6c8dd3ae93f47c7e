"""Redaction of known credentials in everything that pytest prints and writes."""

import logging
from collections.abc import Callable, Generator
from typing import Any

import pytest

from judgefixtures.util.secrets import redact_message, redacted_json

from .session_setup import SETUP

RecordFactory = Callable[..., logging.LogRecord]


class SecretRedaction:
    """Removes credentials from reports, log records, warnings and crashes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._before: RecordFactory | None = None
        self._ours: RecordFactory | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Redact log records from now on."""
        self._before = before = logging.getLogRecordFactory()

        def record(*args: Any, **kwargs: Any) -> logging.LogRecord:
            made = before(*args, **kwargs)
            return _without(made) if self._has_judges else made

        self._ours = record
        logging.setLogRecordFactory(record)

    def pytest_unconfigure(self) -> None:
        """Restore the record factory, unless replaced since."""
        if self._before is not None and logging.getLogRecordFactory() is self._ours:
            logging.setLogRecordFactory(self._before)

    @property
    def _has_judges(self) -> bool:
        return SETUP in self._config.stash

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Redact a test's report before xdist sends it."""
        report = yield
        self._clean(report)
        if (result := getattr(report, "judgefixtures", None)) is not None:
            report.judgefixtures = redacted_json(result)  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Redact a collection report."""
        report = yield
        self._clean(report)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        """Redact a crash."""
        if self._has_judges:
            _clean_in_place(excrepr)

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Redact the terminal's text of an interruption."""
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if self._has_judges and (kept := getattr(reporter, "_keyboardinterrupt_memo", None)) is not None:
            _clean_in_place(kept)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: Any) -> None:
        """Redact a warning."""
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
    if isinstance(value, str):
        return redact_message(value)
    if isinstance(value, tuple | list):
        return type(value)(map(_cleaned, value))
    _clean_in_place(value)
    return value


def _clean_in_place(thing: Any) -> None:
    if not type(thing).__module__.startswith("_pytest."):
        return
    for name, value in vars(thing).items():
        # Some of these classes are frozen: what is shown changes, not what it stands for.
        object.__setattr__(thing, name, _cleaned(value))
