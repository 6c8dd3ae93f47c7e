"""The folder of cassettes: which file a condition lives in, who may write it, and when it is complete."""

from __future__ import annotations

import contextlib
import datetime
import glob
import hashlib
import json
import os
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, get_args

from judgefixtures.cassettes.caching import Origins
from judgefixtures.cassettes.calls import Call, CassetteMissError, Postbox
from judgefixtures.cassettes.files import (
    FORMAT,
    CassetteError,
    CassetteFile,
    DamagedError,
    Key,
    Row,
    differences,
    today,
)
from judgefixtures.cassettes.frozen import (
    FrozenSample,
    changed_fields,
    freeze,
    freeze_sample,
    frozen_pairs,
    frozen_sample,
    has_frozen,
    read_sample,
)
from judgefixtures.cassettes.screening import FrozenChoice, freeze_choice
from judgefixtures.material.cues import LONGEST_NAME
from judgefixtures.material.pairs import Pair
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.commands import quoted

if TYPE_CHECKING:
    from filelock import BaseFileLock

RecordMode = Literal["none", "missing", "invalid", "all"]

SIDE_FILE = re.compile(r"\.part(-of-another-judge(-\d+)?)?\.jsonl\Z")  # answers that are no condition's recording
LONGEST_HEADER = 2**20  # bytes
POLL = 0.05  # seconds between two attempts to take a lock
# How a lock's file ends, which a kill leaves: as that of a write that was killed, which .gitignore has from the start.
LOCK = ".lock.draft"


class Recorded(Protocol):
    """What the recordings need to know of a judge: its name, and all that can change its answers."""

    @property
    def name(self) -> str: ...  # pragma: no cover

    @property
    def identity(self) -> Mapping[str, Any]: ...  # pragma: no cover

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Take over from a recorded identity what only a recording can find out."""


@dataclass(slots=True)
class Cassette:
    """One judge's answers in one condition of a dataset, open for a run.

    With mode "all" the answers go to a side file, and `older` is the recording that they will be merged into.
    """

    judge: str
    dataset: str
    condition: str
    identity: Callable[[], Mapping[str, Any]]  # a judge learns while it is probed what its model takes
    file: CassetteFile
    frozen: Mapping[str, Pair]
    final_path: Path
    mode: RecordMode
    commands: Callable[[str], str]  # the command that records what is asked here, in a mode
    run: str = ""
    origins: Origins = field(default_factory=Origins)
    again: Again | None = None  # which recorded answers are asked again
    older: CassetteFile | None = None
    redone: frozenset[str] = frozenset()  # digests of those of its answers that this run made
    usual: Path | None = None  # where recordings are unless one says otherwise
    # What changed since the recording was made, where it is that of another judge and other conditions are this one's:
    # then it is what is missing.
    renews: tuple[str, ...] = ()
    resumed: str = ""  # how many answers of an unfinished `all` the side file held, and since when
    set_aside: list[Path] = field(default_factory=list)  # recordings of another judge that stood in the way
    used: dict[Key, list[Row]] = field(default_factory=dict)
    asked: int = 0  # answers recorded in this run
    _seen: set[tuple[str, int, str]] | None = None
    _recorded: dict[Key, Row] | None = None

    def call(
        self,
        pair: Pair,
        repeat: int = 0,
        *,
        eager: bool = False,
        plan: str = "",
        again: bool = False,
        post: Postbox | None = None,
    ) -> Call:
        """Return what routes one judge call about a pair to this cassette; `eager` keeps answers as they arrive.

        `plan` is the digest of the plan that is carried out, where there is one. With `again` what was recorded
        before this call does not answer it; it stays until a new answer is written behind it. With `post` what is
        not recorded is not asked, but taken from there or put into a batch.
        """
        own: set[str] = set()

        def find(digest: str) -> Row | None:
            return self.find(digest) if digest in own or not again else None

        def keep(row: Row) -> Row:
            before = self.file.find(row.digest) if again else None
            asked = 1 if before is None else before.asked + 1
            row = replace(row, seen=pair.digest, plan=plan, asked=asked, on=today())
            row = self.file.append(row, self._header_now())
            own.add(row.digest)
            self.asked += 1
            return row

        def missing() -> NoReturn:
            raise CassetteMissError(self._diagnosis(pair, repeat, plan))

        return Call(
            pair.id,
            repeat,
            find,
            keep,
            missing if self.mode == "none" else None,
            eager,
            self.origins.repeats,
            post=post,
        )

    def find(self, digest: str) -> Row | None:
        """Return the recorded answer to a request, where it may answer in this run; with "all", this run's own."""
        row = self.file.find(digest)
        if row is None and self.older is not None and digest in self.redone:
            row = self.older.find(digest)
        return row

    def rows(self) -> list[Row]:
        """Return every recorded answer that may answer in this run."""
        earlier = self.older.rows() if self.older is not None and self.redone else ()
        return [*(row for row in earlier if row.digest in self.redone), *self.file.rows()]

    def asks_again(self, call: Call, invalid: str | None) -> bool:
        """Tell whether the recorded answer that a call was answered from is to be asked again in this run."""
        return self.again is not None and not call.recorded and self.again.wants(call.pair, call.repeat, invalid)

    def used_by(self, call: Call) -> None:
        """Note which rows a finished call was answered from."""
        self.used[(call.pair, call.repeat)] = list(call.played)
        if call.recorded and self.again is not None:
            self.again.done(call.pair, call.repeat)

    def complete(self) -> None:
        """Sort the file by pair and put it in its place; rows that its pairs no longer ask for are dropped.

        Rows of pairs (or repeats) that were not part of this run stay as they are, also where all is recorded anew.
        """
        # Two pairs with the same texts share a row: it is always the first one's, whoever asked first.
        asked = [replace(row, pair=pair) for (pair, _), rows in sorted(self.used.items(), reverse=True) for row in rows]
        mine = self.rows()
        others = [row for row in mine if row.key not in self.used]
        if not asked and not others:
            return
        kept = self._not_asked_anew({row.key for row in mine} | self.used.keys())
        rows = {row.digest: row for row in [*kept, *others, *asked]}
        self.file.replace(rows.values(), self.header(), self.final_path)
        if self.final_path != self.file.path:
            self.file.close()
            self.file.path.unlink(missing_ok=True)

    def _not_asked_anew(self, anew: set[Key]) -> list[Row]:
        """Return the older rows of other pairs and repeats; those of another judge are set aside, as a whole."""
        left = [row for row in self.older.rows() if row.key not in anew] if self.older is not None else []
        if left and self.older is not None and self.older.header is not None:
            if not differences(self.older.header["judge"], self.identity()):
                return left
            self._set_aside(self.older.path)
        return []

    @property
    def days(self) -> set[str]:
        """Of which days the answers are that were used; empty where nobody wrote it down."""
        return {row.on for rows in self.used.values() for row in rows}

    @property
    def cached(self) -> tuple[int, int]:
        """How many of the answers that were used came from a cache before the judge when they were new, and of all."""
        rows = [row for each in self.used.values() for row in each]
        return sum(row.cached for row in rows), len(rows)

    def keeps(self, pair: Pair, repeat: int) -> bool:
        """Tell whether an answer about a pair, as it is now, is on disk."""
        if self._seen is None:
            self._seen = {(row.pair, row.repeat, row.seen) for row in self.rows()}
        return (pair.id, repeat, pair.digest) in self._seen

    def unused(self, *, whole: bool) -> list[str]:
        """Return the ids of pairs with recordings that no question asked for.

        With `whole` the run asked about every pair there is; without, other pairs' recordings are not judged.
        """
        played = {row.digest for rows in self.used.values() for row in rows}
        if len(played) == len(self.file):
            return []
        rows = [row for row in self.file.rows() if row.digest not in played]
        repeats = {repeat for _, repeat in self.used}
        return sorted({row.pair for row in rows if row.key in self.used or (whole and row.repeat in repeats)})

    def regraded(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the ids of pairs that differ from the frozen ones in what no judge sees: gold, category, cluster."""
        before = {pair.id: self.frozen.get(pair.id, pair) for pair in pairs}
        return [pair.id for pair in pairs if before[pair.id] != pair and before[pair.id].digest == pair.digest]

    def header(self) -> dict[str, Any]:
        """Return the header line: format, names and the judge's identity."""
        return {
            "judgefixtures": FORMAT,
            "dataset": self.dataset,
            "condition": self.condition,
            "judge": dict(self.identity()),
        }

    @property
    def recorded_identity(self) -> Mapping[str, Any]:
        """The identity of the judge that the recordings are of; empty where there are none."""
        header = self.file.header
        if header is None and self.older is not None and self.redone:
            header = self.older.header
        return header["judge"] if header else {}

    def make_way(self) -> None:
        """Set an unfinished recording of another judge aside: this run records the one that is configured now."""
        recorded = self.recorded_identity
        if recorded and differences(recorded, self.identity()):
            self._set_aside(self.file.path)
            self.file = CassetteFile(self.file.path, self.commands)

    def _set_aside(self, path: Path) -> None:
        """Rename a file to a name that is free: what was set aside before stays as well."""
        number, aside = 1, path
        while aside.exists():
            more = "" if number == 1 else f"-{number}"
            aside = path.with_name(f"{self.condition}.part-of-another-judge{more}.jsonl")
            number += 1
        path.replace(aside)
        self.set_aside.append(aside)

    def _header_now(self) -> dict[str, Any]:
        """Return the header of the file that answers are appended to: a side file says which run began it."""
        run = {} if self.file.path == self.final_path else {"run": self.run}
        return self.header() | run | {"recorded": today()}

    def check_identity(self) -> None:
        """Raise CassetteError where the recordings are another judge's: an answer of one must not pass for both."""
        recorded = self.recorded_identity
        if not recorded or not (changed := differences(recorded, self.identity())):
            return
        raise CassetteError(
            f"the recordings in {self.file.path} were made by another judge than {self.judge} is now: "
            f"{'; '.join(changed)}. {self._renewal}"
        )

    @property
    def _renewal(self) -> str:
        """What to do about recordings of another judge; the command comes last, it is copied as it stands."""
        if self.renews:
            return (
                f"Others in this folder are of the judge as it is now. Record anew what is not: "
                f"{self.command('missing')}"
            )
        if self.mode == "none":
            return f"Go back to the recorded judge, or record anew: {self.command('all')}"
        return (
            f"No other recording in this folder is of the judge as it is now, and a slip in its table must not ask "
            f"everything anew. Go back to the recorded judge, or record this anew, after which --judge-record missing "
            f"does so with the rest: {self.command('all')}"
        )

    def command(self, mode: str) -> str:
        """Return the command that records what is asked of this condition, and nothing else."""
        return self.commands(mode)

    def _diagnosis(self, pair: Pair, repeat: int, plan: str) -> str:
        what = f"judge {self.judge!r}, dataset {self.dataset!r}, condition {self.condition!r}, pair {pair.id!r}"
        if repeat:
            what += f", repeat {repeat}"
        if self.file.header is None:
            state = "holds no answers" if self.file.path.exists() else "does not exist"
            state += "".join(f". {found}" for found in [self.elsewhere] if found)
            state += f". Record: {self.command('missing')}"
            return f"nothing is recorded for {what}: {self.file.path} {state}"
        return f"no recording answers {what}: {self._reason(pair, repeat, plan)} Record: {self.command('missing')}"

    @property
    def elsewhere(self) -> str:
        """Where recordings of this very judge are, with what to do, where none are here; empty where there are none."""
        return (self._moved() or self._namesake()) if self.file.header is None else ""

    def _moved(self) -> str:
        """Say which other folder has recordings of this very judge, as after a move of them; else nothing."""
        root = self.final_path.parents[2]
        for other in _elsewhere(root, self.usual, self.final_path.relative_to(root)):
            recorded = _identity_in(other)
            # What a model does not take is found out by asking it, and this judge was not asked yet.
            if recorded and _told(recorded) == _told(self.identity()):
                found = other.parents[2]
                return (
                    f"{found} holds this condition of this very judge: if the recordings were moved, move them to "
                    f"{root} or run with --judge-cassettes={quoted(str(found))}, and nothing need be asked again"
                )
        return ""

    def _namesake(self) -> str:
        """Say whose recordings are of this very judge by another name, as after a change of its name; else nothing."""
        folder = self.final_path.parent
        if folder.parent.name != self.judge:  # a detector's readings: whose reasons it read is not in its identity
            return ""
        for other in sorted(folder.parents[1].glob(f"*/{folder.name}/{self.final_path.name}")):
            recorded = _identity_in(other)
            if other != self.final_path and recorded and _told(recorded) == _told(self.identity()):
                return (
                    f"{other.parent} holds this condition of a judge that is the same in all but its name: if "
                    f"{other.parents[1].name} was renamed, rename the folder {other.parents[1]} to "
                    f"{folder.parent}, and nothing need be asked again"
                )
        return ""

    def _reason(self, pair: Pair, repeat: int, plan: str) -> str:
        frozen = self.frozen.get(pair.id)
        if frozen is not None and (frozen.response_1, frozen.response_2) == (pair.response_2, pair.response_1):
            return (
                "the pair's responses changed places since the recording, in the file or by balance_positions, which "
                "keeps gold even over positions: some pair's gold, or which pairs there are, changed."
            )
        if frozen is not None and (fields := changed_fields(frozen, pair)):
            return f"the pair's {' and '.join(fields)} changed since the recording."
        if self._recorded is None:
            self._recorded = {row.key: row for row in self.file.rows()}
        recorded = self._recorded
        if (row := recorded.get((pair.id, repeat))) is not None and row.seen not in ("", pair.digest):
            return "the pair's text changed since the recording."
        if row is None:
            of = f"{len({key[0] for key in recorded})} pairs are recorded in {self.file.path}"
            return f"{of}, not this one (a recording that was cut short?)."
        if row.plan not in ("", plan):
            return (
                "the pair's plan is not the one that this answer was recorded with: plan.jsonl was recorded anew "
                "(or changed) and this condition was not."
            )
        return (
            "the pair is recorded, but the request is another one now: the base_url's host or path changed, "
            "or the SDK sends another body."
        )


def _told(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a judge's table says of its identity."""
    return {key: value for key, value in identity.items() if key != "dropped"}


def _identity_in(path: Path) -> Mapping[str, Any]:
    """Return the identity in a recording's header; empty where there is none that can be read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline(LONGEST_HEADER))["judge"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _elsewhere(root: Path, usual: Path | None, own: Path) -> Iterator[Path]:
    """Yield where a condition may be recorded in place of `root`: the usual folder, and those beside and below it."""
    homes = dict.fromkeys((root if usual is None else usual).parent.joinpath(place) for place in ("", root.parent))
    inside = glob.escape(str(own))
    found = [] if usual is None else [usual / own]
    for home in homes:
        if home != home.parent:  # not the whole machine
            found += [*sorted(home.glob(f"*/{inside}")), *sorted(home.glob(f"*/*/{inside}"))]
    yield from (path for path in dict.fromkeys(found) if path.parents[2] != root and path.is_file())


@dataclass(slots=True)
class Again:
    """Which recorded answers of a condition a run asks again: invalid ones of some kinds, each once per run."""

    kinds: frozenset[str]
    path: Path  # what was asked again already, by whichever worker and item of the run: a JSON list a line
    _done: set[Key] | None = None

    def wants(self, pair: str, repeat: int, invalid: str | None) -> bool:
        """Tell whether an answer is to be asked again."""
        if self._done is None:
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ()
            self._done = {(str(name), int(number)) for name, number in map(json.loads, lines)}
        return invalid in self.kinds and (pair, repeat) not in self._done

    def done(self, pair: str, repeat: int) -> None:
        """Note that an answer is this run's own."""
        if self._done is not None:
            self._done.add((pair, repeat))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([pair, repeat]) + "\n")


@dataclass(frozen=True, slots=True)
class Library:
    """The folder of cassettes and the mode that they are used in; `run` names a pytest run over its workers."""

    root: Path
    mode: RecordMode = "none"
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    command_start: str = "pytest"  # of the commands in messages: with the options that found these recordings
    samples: dict[tuple[str, str], FrozenSample] = field(default_factory=dict)  # to keep, by judge and dataset
    shipped: set[str] = field(default_factory=set)  # digests of pairs that come with the package: not to be frozen
    invalid: frozenset[str] = frozenset(get_args(InvalidKind))  # what mode "invalid" asks again
    origins: Origins = field(default_factory=Origins)
    usual: Path | None = None  # where recordings are unless one says otherwise

    def folder(self, judge: str, dataset: str) -> Path:
        """Return where a judge's recordings of a dataset live."""
        for name in (judge, dataset):
            if len(name.encode()) > LONGEST_NAME:
                raise CassetteError(
                    f"the name {name[:40]}... has {len(name)} characters and cannot be a folder of recordings: "
                    f"shorten it to at most {LONGEST_NAME}."
                )
        return self.root / judge / dataset

    def frozen(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the pairs that the recordings were made on."""
        return tuple(frozen_pairs(self.folder(judge, dataset)).values())

    def frozen_sample(self, judge: str, dataset: str) -> FrozenSample | None:
        """Return what is known of the pairs that the recordings were made on."""
        return frozen_sample(self.folder(judge, dataset))

    def freeze_choice(self, judge: str, dataset: str, choice: FrozenChoice) -> None:
        """Keep which pairs were chosen as the closest for a judge."""
        with self._lock(judge, dataset, "pairs"):  # two workers choose the same, and write through one draft
            freeze_choice(self.folder(judge, dataset), choice)

    @contextlib.contextmanager
    def open(
        self,
        judge: Recorded,
        dataset: str,
        conditions: Sequence[str],
        pairs: Sequence[Pair],
        commands: Callable[[str], str] | None = None,
        among: str | None = None,
    ) -> Iterator[dict[str, Cassette]]:
        """Open the cassettes of some conditions; in the recording modes no other process can at the same time.

        When the block ends without an error the conditions are complete; with one, what was recorded stays.
        `commands` returns what records whatever the item that asks is about in a mode, for messages. `among` names the
        judge among whose recordings they are kept, where that is another one.
        """
        among = among or judge.name
        whole = f"{self.command_start} --judge {among} --judge-dataset {dataset} --judge-record"
        commands = commands or (lambda mode: f"{whole} {mode}")
        with contextlib.ExitStack() as stack:
            if self.mode != "none":
                # In one order everywhere, or two workers could each hold what the other waits for.
                for condition in sorted(conditions):
                    stack.enter_context(self._lock(among, dataset, condition))
            frozen = self._frozen_before(among, dataset)
            opened = {name: self._cassette(judge, among, dataset, name, frozen, commands) for name in conditions}
            for cassette in opened.values():
                stack.callback(cassette.file.close)
                judge.adopt(cassette.recorded_identity)
                cassette.check_identity()
            if self.mode != "none":
                self._freeze(among, dataset, pairs, first=True)
            yield opened
            if self.mode == "none":
                return
            for cassette in opened.values():
                cassette.complete()
                self._note_done(cassette)
            self._freeze(among, dataset, pairs)

    def _freeze(self, judge: str, dataset: str, pairs: Sequence[Pair], *, first: bool = False) -> None:
        """Keep the pairs, and what is known of them, beside the recordings that they are asked for.

        The `first` ones of a folder are kept before anything is answered: nothing else says of which commit a hub's
        pairs are. Later ones only replace them once the recording that needs them is complete.
        """
        folder = self.folder(judge, dataset)
        with self._lock(judge, dataset, "pairs"):
            if first and has_frozen(folder):
                return
            if own := [pair for pair in pairs if pair.digest not in self.shipped]:
                freeze(folder, own)
            if (sample := self.samples.get((judge, dataset))) is not None:
                freeze_sample(folder, sample, pairs)

    def _frozen_before(self, judge: str, dataset: str) -> dict[str, Pair]:
        """Return the frozen pairs by id; unreadable ones are nothing where all is recorded anew."""
        folder = self.folder(judge, dataset)
        try:
            read_sample(folder)
            return frozen_pairs(folder)
        except DamagedError:
            raise
        except CassetteError:
            if self.mode != "all":
                raise
            return {}

    def _cassette(
        self,
        judge: Recorded,
        among: str,
        dataset: str,
        condition: str,
        frozen: Mapping[str, Pair],
        commands: Callable[[str], str],
    ) -> Cassette:
        path = self.folder(among, dataset) / f"{condition}.jsonl"
        # A side file: the old recording stays until the new one is complete, and a kill loses neither.
        part = path.with_name(f"{condition}.part.jsonl")
        file = CassetteFile(part if self.mode == "all" else path, commands)
        cassette = Cassette(
            judge.name,
            dataset,
            condition,
            lambda: judge.identity,
            file,
            frozen,
            path,
            self.mode,
            commands,
            self.run,
            self.origins,
            Again(self.invalid, _scratch(f"{self.run}\0{path.resolve()}", "again")) if self.mode == "invalid" else None,
            usual=self.usual,
        )
        if self.mode == "all":
            judge.adopt(cassette.recorded_identity)
            cassette.make_way()
            cassette.older = _readable(path, commands)
            cassette.redone = self._done(path)
            cassette.resumed = self._resumed(cassette.file)
            return cassette
        cassette.renews = self._stale(cassette)
        if self.mode != "none" and cassette.renews:
            cassette.older, cassette.file = file, CassetteFile(part, commands)
            judge.adopt(cassette.recorded_identity)
            cassette.make_way()
        elif self.mode != "none" and file.header is None:
            _scratch(str(path.resolve()), "begun").write_text(self.run, encoding="ascii")
        return cassette

    def _stale(self, cassette: Cassette) -> tuple[str, ...]:
        """Return what changed since a recording was made, where it is another judge's and others beside are this one's.

        With a table that was changed by mistake no recording is, but those that this run began with it: those do not
        count.
        """
        recorded, now = _told(cassette.recorded_identity), _told(cassette.identity())
        changed = differences(recorded, now) if recorded else []
        path = cassette.final_path
        beside = (other for other in sorted(path.parent.glob("*.jsonl")) if changed and other != path)
        known = any(
            _told(_identity_in(other)) == now and not self._began(other)
            for other in beside
            if not SIDE_FILE.search(other.name)
        )
        return tuple(changed) if known else ()

    def _began(self, path: Path) -> bool:
        """Tell whether this run, in whichever worker, was the first to ask about a condition."""
        with contextlib.suppress(FileNotFoundError):
            return _scratch(str(path.resolve()), "begun").read_text(encoding="ascii") == self.run
        return False

    def _resumed(self, part: CassetteFile) -> str:
        """Return how many answers a side file holds that another run left, and since when; empty for none."""
        if not len(part) or part.header is None or part.header.get("run") == self.run:
            return ""
        until = datetime.datetime.fromtimestamp(part.path.stat().st_mtime).astimezone()
        return f"{len(part)}, the last of {until:%Y-%m-%d %H:%M}"

    def _done(self, path: Path) -> frozenset[str]:
        """Return the digests of a condition's answers that this run made, whichever worker and item it was."""
        with contextlib.suppress(FileNotFoundError):
            run, *digests = _scratch(str(path.resolve()), "done").read_text(encoding="ascii").split("\n")
            if run == self.run:
                return frozenset(digests)
        return frozenset()

    def _note_done(self, cassette: Cassette) -> None:
        """Note which answers this run made, in place of what an earlier run noted."""
        if self.mode == "all":
            digests = sorted({row.digest for row in cassette.rows()})
            mark = _scratch(str(cassette.final_path.resolve()), "done")
            mark.write_text("\n".join([self.run, *digests]), encoding="ascii")

    def canary(self, judge: str) -> contextlib.AbstractContextManager[None]:
        """Hold the log of a judge's canary alone, over processes."""
        return held(self.root / judge / "canary")

    def _lock(self, judge: str, dataset: str, condition: str) -> contextlib.AbstractContextManager[None]:
        return held(self.folder(judge, dataset) / condition)


def _readable(path: Path, commands: Callable[[str], str]) -> CassetteFile | None:
    """Return the recording that is to be renewed, or None where the renewal is to replace what cannot be read."""
    try:
        return CassetteFile(path, commands)
    except DamagedError:
        raise
    except CassetteError:
        return None


def held(path: Path) -> contextlib.AbstractContextManager[None]:
    """Hold what a path names, over processes: another one that wants it waits.

    The lock lies beside what it guards, for whoever sees the one sees the other: another user, another TMPDIR, another
    container. Where no file can be made there nothing new can be recorded, and it lies in the temporary folder.
    """
    folder = path.parent.resolve()
    lock = folder / f".{path.name}{LOCK}"
    if lock.is_symlink():
        raise CassetteError(f"{lock} is a link and no lock: delete it.")
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    # Only whoever takes the lock makes its file: where files cannot be locked, that it is there is the lock.
    if not (os.access(folder, os.W_OK) or os.access(lock, os.W_OK)):
        lock = _scratch(str(folder / path.name), "lock")
    return _locked(lock)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock over processes; its file is removed afterwards, while it is held.

    Whoever waits must not take a lock whose file was removed meanwhile, while the next one makes a new file.
    """
    from filelock import FileLock

    while True:
        lock = FileLock(path, mode=0o666)
        try:
            lock.acquire(blocking=False)
        except TimeoutError:
            pass  # another holds it
        except OSError as error:
            raise CassetteError(
                f"the lock {path} cannot be taken: {error.strerror}. It keeps two recordings from paying for the same: "
                "delete it where no other one runs, or keep the folder where files can be locked."
            ) from None
        if lock.is_locked and _is_named(lock, path):
            break
        lock.release()
        time.sleep(POLL)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no file that is open
            path.unlink()
        lock.release()


def _is_named(lock: BaseFileLock, path: Path) -> bool:
    """Tell whether a file that was locked bears its name still."""
    descriptor = lock._context.lock_file_fd  # there is no other way to the file that is open
    try:
        return descriptor is None or os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _scratch(name: str, kind: str) -> Path:
    """Return a file outside of the project for what only this machine and moment care about."""
    folder = Path(tempfile.gettempdir()) / f"judgefixtures-{os.getuid() if hasattr(os, 'getuid') else 'locks'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CassetteError(
            f"the folder of locks {folder} cannot be made: {error.strerror}. Remove what is in the way, or set TMPDIR."
        ) from None
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.{kind}"
