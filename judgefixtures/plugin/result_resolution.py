"""Resolution of results: one result per judge item, from the reports of all processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.util.errors import JudgeFixturesError

from .expected_items import ExpectedItems, names_by_test_id
from .items import subject_by_name
from .messages import MESSAGES
from .outcomes import LOST, STOPPED, TestOutcome, TestOutcomes, missing_result_finding
from .session_setup import session_setup

if TYPE_CHECKING:
    from judgefixtures.models.findings import Finding

Row = dict[str, Any]


@dataclass(slots=True)
class ResolvedResults:
    """The result of each item, the lost items, and unfinished ones."""

    results: dict[str, Row] = field(default_factory=dict)
    lost: str = ""
    unfinished: list[str] = field(default_factory=list)


class ResultResolver:
    """Resolves the results of all expected items."""

    def __init__(self, config: pytest.Config, endings: TestOutcomes, expected_items: ExpectedItems) -> None:
        self._config, self._endings, self._expected_items = config, endings, expected_items

    def settle(self, session: pytest.Session) -> ResolvedResults:
        """Return one result per item: the worst repeat, or an ERROR."""
        stopped = session.exitstatus != pytest.ExitCode.OK and bool(
            session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED
        )
        settled, names, missing = ResolvedResults(), self._expected_items.awaited(session), []
        nameless: list[str] = []  # what came to no finding, and nobody knows what it is about
        for name in dict.fromkeys([*self._endings.names, *names]):
            ended = self._endings.of(name)
            for ending in ended:
                nameless += self._keep(settled, name, names.get(name) or names_by_test_id(name), ending)
            if name in names and len(ended) < self._expected_items.copies:
                missing.append(name)
        left = [name for name in missing if not stopped or names[name][0] not in settled.results]
        for name in left:
            nameless += self._keep(settled, name, names[name], TestOutcome(why=STOPPED if stopped else LOST))
        settled.unfinished = sorted({names[name][0] for name in left}) if stopped else []
        reasons = [*([] if stopped or not missing else [MESSAGES.never_reported(missing)]), *nameless]
        if self._expected_items.uncollected and settled.results:
            reasons.append(MESSAGES.not_collected(self._expected_items.uncollected))
        settled.lost = "; ".join(reasons)
        return settled

    def _keep(self, settled: ResolvedResults, name: str, known: tuple[str, str], ending: TestOutcome) -> list[str]:
        from judgefixtures.report import worse_result

        result = ending.result
        if result is not None and result["waiting"]:
            return []
        key, called = known
        if result is None or not ending.is_found:
            finding = self._absent(called, ending.reason)
            if finding is None:
                return [f"{name}: {ending.reason}"]
            result = ending.of(key, finding)
        before = settled.results.get(key)
        settled.results[key] = result if before is None else worse_result(before, result)
        return []

    def _absent(self, called: str, message: str) -> Finding | None:
        try:
            setup = session_setup(self._config)
            subject = subject_by_name(called, setup)
            return None if subject is None else missing_result_finding(setup, subject, message)
        except JudgeFixturesError:  # this project has no judges
            return None
