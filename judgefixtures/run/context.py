"""Run context: options, recordings and notes that all parts of a run share."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from judgefixtures.cassettes.cassette import RecordMode
from judgefixtures.cassettes.files import CassetteWriteError
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.client.costs import BudgetError, CostMeter
from judgefixtures.config import Config
from judgefixtures.providers import FatalJudgeError
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.shell import options as command_options
from judgefixtures.util.shell import quoted
from judgefixtures.util.texts import make_printable

DEFAULT_CONCURRENCY = 16
FATAL = (FatalJudgeError, BudgetError, CassetteWriteError)  # nothing else of the run can succeed


class WaitingError(JudgeFixturesError):
    """A check waits for answers from batches."""


Answered = Callable[[Any], None]
# Shows how far a recording is: gets what the calls cost so far and how many there are.
Progress = Callable[[CostMeter, int], AbstractContextManager[Answered | None]]


class CancelToken(Protocol):
    """A request to stop a recording, such as Ctrl-C."""

    @property
    def level(self) -> int:
        """0: continue; 1: ask nothing further; 2: also drop requests in flight."""

    def handled(self) -> AbstractContextManager[None]:
        """Let the block stop by itself when `level` rises."""


def no_progress(_meter: CostMeter, _total: int) -> AbstractContextManager[None]:
    """Show no progress."""
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The command line's options of a run.

    Attributes:
        invalid: Kinds of answers that record mode "invalid" asks again.
        baseline: The judge whose pairs and positions serve if unrecorded.
        datasets: The selected datasets, or those configured if empty.
        batch: Whether requests go into batches.
        until_decided: Whether contrasts stop at the look that decides.
        command: The start of commands in messages.
        usual: The default folder of recordings.
        session: The name that parallel processes share.
        workers: The number of processes.
        shared: The folder of their rate limits.
    """

    record: RecordMode = "none"
    invalid: tuple[str, ...] = ()
    baseline: str | None = None
    datasets: tuple[str, ...] = ()
    pairs: int | None = None
    repeats: int = 1
    concurrency: int = DEFAULT_CONCURRENCY
    max_cost: float | None = None
    force: bool = False
    keep_judgments: bool = False
    batch: bool = False
    until_decided: bool = False
    command: str = "pytest"
    usual: Path | None = None
    session: str = ""
    workers: int = 1
    shared: Path | None = None


@dataclass(frozen=True, slots=True)
class RunContext:
    """A run's configuration, options, recordings and notes."""

    config: Config
    options: RunOptions
    library: CassetteStore
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, config: Config, cassettes: Path, options: RunOptions) -> RunContext:
        """Return the context of a run with recordings in a folder."""
        # Only given options are passed: the store has defaults of its own.
        given = {"invalid": frozenset(options.invalid), "run": options.session}
        passed: dict[str, Any] = {"goes_on": True, **{name: value for name, value in given.items() if value}}
        library = CassetteStore(cassettes, options.record, command_start=options.command, usual=options.usual, **passed)
        return cls(config, options, library)

    def note(self, text: str) -> None:
        """Keep a note for the end of the run, once."""
        if make_printable(text) not in self.notes:
            self.notes.append(make_printable(text))

    def retell(self, before: Sequence[str], since: int) -> list[str]:
        """Return the notes since `since`, and those of `before` that they do not replace."""
        now = self.notes[since:]
        again = {_uncounted(text) for text in now}
        kept = [text for text in before if _uncounted(text) not in again]
        self.notes[:] = [text for text in self.notes if text in now or text in kept or text not in before]
        return [*kept, *now]

    @property
    def is_offline(self) -> bool:
        """Whether only recordings answer."""
        return self.options.record == "none"

    @property
    def as_replay(self) -> RunContext:
        """The context that replays this run's recordings."""
        return replace(self, options=replace(self.options, record="none"), library=replace(self.library, mode="none"))


def _uncounted(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def command_start(path: str | Path | None, cassettes: str | Path | None, options: Mapping[str, Any]) -> str:
    """Return the start of equivalent pytest commands."""
    file = None if path is None else Path(path).resolve()
    elsewhere = file is not None and file.name == "pyproject.toml" and file.parent != Path.cwd()
    repeats = options.get("repeats", 1)
    given = {
        "config": file if file is not None and file.name != "pyproject.toml" else None,
        "cassettes": None if cassettes is None else Path(cassettes).resolve(),
        "pairs": options.get("pairs"),
        "repeats": repeats if repeats > 1 else None,
    }
    start = f"cd {quoted(str(file.parent))} && pytest" if file is not None and elsewhere else "pytest"
    return " ".join([start, *command_options(given)])
