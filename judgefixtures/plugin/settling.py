"""Settling: the one result of each judge item of a run, of whatever its processes reported and left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.plugin.endings import LOST, STOPPED, Ending, Endings, absent
from judgefixtures.plugin.items import subject_called
from judgefixtures.plugin.roster import Roster, named_by_id
from judgefixtures.plugin.setup import setup_of
from judgefixtures.words.errors import JudgeFixturesError

if TYPE_CHECKING:
    from judgefixtures.findings import Finding

Row = dict[str, Any]


@dataclass(slots=True)
class Settled:
    """The one result of each item, what came to none although it ran, and what a stopped run did not come to."""

    results: dict[str, Row] = field(default_factory=dict)
    lost: str = ""
    unfinished: list[str] = field(default_factory=list)


class Settling:
    """Knows what was to run, and how the test of each item ended."""

    def __init__(self, config: pytest.Config, endings: Endings, roster: Roster) -> None:
        self._config, self._endings, self._roster = config, endings, roster

    def settle(self, session: pytest.Session) -> Settled:
        """Return the one result of each item: of several copies the worst, and an ERROR of a test that came to none."""
        stopped = session.exitstatus != pytest.ExitCode.OK and bool(
            session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED
        )
        found, names, missing = Settled(), self._roster.awaited(session), []
        nameless: list[str] = []  # what came to no finding, and nobody knows what it is about
        for name in dict.fromkeys([*self._endings.names, *names]):
            ended = self._endings.of(name)
            for ending in ended:
                nameless += self._keep(found, name, names.get(name) or named_by_id(name), ending)
            if name in names and len(ended) < self._roster.copies:
                missing.append(name)
        left = [name for name in missing if not stopped or names[name][0] not in found.results]
        for name in left:
            nameless += self._keep(found, name, names[name], Ending(why=STOPPED if stopped else LOST))
        found.unfinished = sorted({names[name][0] for name in left}) if stopped else []
        said = [*([] if stopped or not missing else [_never_reported(missing)]), *nameless]
        if self._roster.uncollected and found.results:
            said.append(_not_collected(self._roster.uncollected))
        found.lost = "; ".join(said)
        return found

    def _keep(self, found: Settled, name: str, known: tuple[str, str], ending: Ending) -> list[str]:
        """Keep one result of an item, of several copies the worst; return what of it nobody knows."""
        from judgefixtures.report import worse

        result = ending.result
        if result is not None and result["waiting"]:
            return []
        key, called = known
        if result is None or not ending.is_found:
            finding = self._absent(called, ending.reason)
            if finding is None:
                return [f"{name}: {ending.reason}"]
            result = ending.of(key, finding)
        before = found.results.get(key)
        found.results[key] = result if before is None else worse(before, result)
        return []

    def _absent(self, called: str, said: str) -> Finding | None:
        """Return the ERROR of an item that is called so; None where nobody knows what it is about."""
        try:
            setup = setup_of(self._config)
            subject = subject_called(called, setup)
            return None if subject is None else absent(setup, subject, said)
        except JudgeFixturesError:  # this project has no judges
            return None


def _never_reported(names: Sequence[str]) -> str:
    return (
        f"{len(names)} of the judge items that were collected were never reported, {names[0]} first: a process of "
        "this run died or failed inside (INTERNALERROR), and nothing is known of them. Run again without -n to see "
        "why."
    )


def _not_collected(names: Sequence[str]) -> str:
    return (
        f"{len(names)} of the files or folders of tests could not be collected, {names[0]} first: no judge item of "
        "theirs is in this report"
    )
