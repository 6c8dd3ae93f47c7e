"""Run context: what all parts of a run share, such as options, cancellation and progress."""

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
    """A check has to wait for answers that are asked for in batches."""


Answered = Callable[[Any], None]
# Shows how far a recording is: gets what the calls cost so far and how many there are.
Progress = Callable[[CostMeter, int], AbstractContextManager[Answered | None]]


class CancelToken(Protocol):
    """Somebody who may ask a recording to stop, as Ctrl-C does."""

    @property
    def level(self) -> int:
        """0: go on; 1: ask nothing further; 2: drop what is in flight, too."""

    def handled(self) -> AbstractContextManager[None]:
        """Let the block look at `level` itself, and end it in the caller's own way where it stopped."""


def no_progress(_meter: CostMeter, _total: int) -> AbstractContextManager[None]:
    """Show nobody how far a recording is."""
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run asks: the command line's options, as the plugin or a script gives them.

    `invalid` narrows what record mode "invalid" asks again to some kinds; `baseline` is the judge whose pairs and
    positions the others' are to be where their own are not recorded; `datasets` are those that were selected, empty
    where those of the configuration are asked about.
    With `batch` questions go into batches in place of the network, until `send_batches` sends them. `until_decided`:
    contrasts whose gate plans looks are asked a look at a time, and no further than it takes to decide them.
    `command` begins the commands in messages; `usual` is where recordings are unless one says otherwise, looked at for
    what was moved. `session`, `workers` and `shared` are of a run that several processes share: its name, how many they
    are, and a folder for their pace.
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
    """What the parts of a run share: its configuration and options, its recordings, and its notes."""

    config: Config
    options: RunOptions
    library: CassetteStore
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, config: Config, cassettes: Path, options: RunOptions) -> RunContext:
        """Return the context of a run whose recordings lie in a folder."""
        # What a library is told only where it is given.
        given = {"invalid": frozenset(options.invalid), "run": options.session}
        told: dict[str, Any] = {"goes_on": True, **{name: value for name, value in given.items() if value}}
        library = CassetteStore(cassettes, options.record, command_start=options.command, usual=options.usual, **told)
        return cls(config, options, library)

    def note(self, text: str) -> None:
        """Keep a line for the end of the run, once."""
        if make_printable(text) not in self.notes:
            self.notes.append(make_printable(text))

    def retell(self, before: Sequence[str], since: int) -> list[str]:
        """Return what was noted from a place on; of the notes before it those go that it says again, with other counts.

        `before` are the ones that may go.
        """
        now = self.notes[since:]
        again = {_uncounted(text) for text in now}
        kept = [text for text in before if _uncounted(text) not in again]
        self.notes[:] = [text for text in self.notes if text in now or text in kept or text not in before]
        return [*kept, *now]

    @property
    def is_offline(self) -> bool:
        """Whether recordings alone answer."""
        return self.options.record == "none"

    @property
    def as_replay(self) -> RunContext:
        """The context of a run that reads what this one recorded; what it notes stands with this one's notes."""
        return replace(self, options=replace(self.options, record="none"), library=replace(self.library, mode="none"))


def _uncounted(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def command_start(path: str | Path | None, cassettes: str | Path | None, options: Mapping[str, Any]) -> str:
    """Return the start of pytest commands that look at the same recordings as a run from Python."""
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
