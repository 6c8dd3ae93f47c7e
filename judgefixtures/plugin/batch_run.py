"""Plugin for --judge-batch: submit queued requests after all items, and report them."""

from collections.abc import Generator
from typing import Any

import pytest

from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import safe_message

from .messages import MESSAGES
from .session_setup import SETUP


class BatchRunPlugin:
    """Sends a run's batches, unless the run was stopped."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._waits = 0
        self._error = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Send the queued requests."""
        ran = yield
        if session.config.option.judge_preflight or SETUP not in session.config.stash:
            return ran
        run = session.config.stash[SETUP].run
        try:
            self._words = run.send_batches()
        except JudgeFixturesError as error:
            self._words = list(run.batch_session.manager.messages) if run.batch_session.manager is not None else []
            self._error = str(error)
        self._waits = run.batch_session.waits
        return ran

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run if sending failed."""
        if self._error and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Report sent and collected batches, and the next step."""
        if not (self._words or self._error or self._waits):
            return
        terminalreporter.section("batches")
        for word in self._words:
            terminalreporter.write_line(safe_message(word))
        if self._error:
            terminalreporter.write_line(safe_message(f"ERROR: {self._error}"))
        elif self._waits:
            terminalreporter.write_line(MESSAGES.batches_wait(self._waits))
