"""The folder of cassettes: which file a condition lives in, who may write it, and when it is complete."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

from judgefixtures.cassettes.files import FORMAT, CassetteError, CassetteFile, Key, Row, differences
from judgefixtures.cassettes.frozen import (
    FrozenSample,
    changed_fields,
    freeze,
    freeze_sample,
    frozen_pairs,
    frozen_sample,
)
from judgefixtures.cassettes.replay import Call, CassetteMissError
from judgefixtures.pairs import Pair

RecordMode = Literal["none", "missing", "all"]


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
    """One judge's answers in one condition of a dataset, open for a run."""

    judge: str
    dataset: str
    condition: str
    identity: Callable[[], Mapping[str, Any]]  # a judge learns while it is probed what its model takes
    file: CassetteFile
    frozen: Mapping[str, Pair]
    final_path: Path
    mode: RecordMode
    command_start: str = "pytest"
    set_aside: Path | None = None  # an unfinished recording of another judge that stood in the way
    used: dict[Key, list[Row]] = field(default_factory=dict)
    asked: int = 0  # answers recorded in this run
    _seen: set[tuple[str, int, str]] | None = None

    def call(self, pair: Pair, repeat: int = 0, *, eager: bool = False, plan: str = "") -> Call:
        """Return what routes one judge call about a pair to this cassette; `eager` keeps answers as they arrive.

        `plan` is the digest of the plan that is carried out, where there is one.
        """

        def keep(row: Row) -> Row:
            row = self.file.append(replace(row, seen=pair.digest, plan=plan), self.header())
            self.asked += 1
            return row

        def missing() -> NoReturn:
            raise CassetteMissError(self._diagnosis(pair, repeat, plan))

        return Call(pair.id, repeat, self.file.find, keep, missing if self.mode == "none" else None, eager)

    def used_by(self, call: Call) -> None:
        """Note which rows a finished call was answered from."""
        self.used[(call.pair, call.repeat)] = list(call.played)

    def complete(self) -> None:
        """Sort the file by pair and put it in its place; rows that its pairs no longer ask for are dropped.

        Rows of pairs (or repeats) that were not part of this run stay as they are.
        """
        # Two pairs with the same texts share a row: it is always the first one's, whoever asked first.
        asked = [replace(row, pair=pair) for (pair, _), rows in sorted(self.used.items(), reverse=True) for row in rows]
        others = [row for row in self.file.rows() if row.key not in self.used]
        if not asked and not others:
            return
        self.file.replace({row.digest: row for row in [*others, *asked]}.values(), self.header(), self.final_path)
        if self.final_path != self.file.path:
            self.file.close()
            self.file.path.unlink(missing_ok=True)

    def keeps(self, pair: Pair, repeat: int) -> bool:
        """Tell whether an answer about a pair, as it is now, is on disk."""
        if self._seen is None:
            self._seen = {(row.pair, row.repeat, row.seen) for row in self.file.rows()}
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
        """Return the ids of pairs that differ from the frozen ones in what no judge sees: gold or category."""
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
        return self.file.header["judge"] if self.file.header else {}

    def make_way(self) -> None:
        """Set an unfinished recording of another judge aside: this run records the one that is configured now."""
        recorded = self.recorded_identity
        if recorded and differences(recorded, self.identity()):
            path = self.file.path
            self.set_aside = path.with_name(path.name.replace(".part.", ".part-of-another-judge."))
            path.replace(self.set_aside)
            self.file = CassetteFile(path)

    def check_identity(self) -> None:
        """Raise CassetteError where the recordings are another judge's: an answer of one must not pass for both."""
        recorded = self.recorded_identity
        if not recorded or not (changed := differences(recorded, self.identity())):
            return
        raise CassetteError(
            f"the recordings in {self.file.path} were made by another judge than [judges.{self.judge}] is now: "
            f"{'; '.join(changed)}. Go back to the recorded judge, or record anew: {self.command('all')}"
        )

    def command(self, mode: str) -> str:
        """Return the command that records this condition."""
        return f"{self.command_start} --judge {self.judge} --judge-dataset {self.dataset} --judge-record {mode}"

    def _diagnosis(self, pair: Pair, repeat: int, plan: str) -> str:
        what = f"judge {self.judge!r}, dataset {self.dataset!r}, condition {self.condition!r}, pair {pair.id!r}"
        if repeat:
            what += f", repeat {repeat}"
        if self.file.header is None:
            state = "holds no answers" if self.file.path.exists() else "does not exist"
            return f"nothing is recorded for {what}: {self.file.path} {state}. Record: {self.command('missing')}"
        return f"no recording answers {what}: {self._reason(pair, repeat, plan)} Record: {self.command('missing')}"

    def _reason(self, pair: Pair, repeat: int, plan: str) -> str:
        frozen = self.frozen.get(pair.id)
        if frozen is not None and (frozen.response_1, frozen.response_2) == (pair.response_2, pair.response_1):
            return (
                "the pair's responses changed places since the recording, in the file or by balance_positions, which "
                "keeps gold even over positions: some pair's gold, or which pairs there are, changed."
            )
        if frozen is not None and (fields := changed_fields(frozen, pair)):
            return f"the pair's {' and '.join(fields)} changed since the recording."
        recorded = {row.key: row for row in self.file.rows()}
        if (row := recorded.get((pair.id, repeat))) is not None and row.seen not in ("", pair.digest):
            return "the pair's text changed since the recording."
        if row is None:
            of = f"{len({key[0] for key in recorded})} pairs are recorded in {self.file.path}"
            damage = f", and line {self.file.damaged[0]} is damaged" if self.file.damaged else ""
            return f"{of}{damage}, not this one (a recording that was cut short?)."
        if row.plan not in ("", plan):
            return (
                "the pair's plan is not the one that this answer was recorded with: plan.jsonl was recorded anew "
                "(or changed) and this condition was not."
            )
        return (
            "the pair is recorded, but the request is another one now: the base_url's host or path changed, "
            "or the SDK sends another body."
        )


@dataclass(frozen=True, slots=True)
class Library:
    """The folder of cassettes and the mode that they are used in; `run` names a pytest run over its workers."""

    root: Path
    mode: RecordMode = "none"
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    command_start: str = "pytest"  # of the commands in messages: with the options that found these recordings
    samples: dict[tuple[str, str], FrozenSample] = field(default_factory=dict)  # to keep, by judge and dataset
    shipped: set[str] = field(default_factory=set)  # digests of pairs that come with the package: not to be frozen

    def folder(self, judge: str, dataset: str) -> Path:
        """Return where a judge's recordings of a dataset live."""
        return self.root / judge / dataset

    def frozen(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the pairs that the recordings were made on."""
        return tuple(frozen_pairs(self.folder(judge, dataset)).values())

    def frozen_sample(self, judge: str, dataset: str) -> FrozenSample | None:
        """Return what is known of the pairs that the recordings were made on."""
        return frozen_sample(self.folder(judge, dataset))

    def recorded(self, judge: str, dataset: str, condition: str) -> set[tuple[str, int, str]]:
        """Return pair id, repeat and pair digest of every answer that a condition holds."""
        file = CassetteFile(self.folder(judge, dataset) / f"{condition}.jsonl")
        return {(row.pair, row.repeat, row.seen) for row in file.rows()}

    @contextlib.contextmanager
    def open(
        self, judge: Recorded, dataset: str, conditions: Sequence[str], pairs: Sequence[Pair]
    ) -> Iterator[dict[str, Cassette]]:
        """Open the cassettes of some conditions; in the recording modes no other process can at the same time.

        When the block ends without an error the conditions are complete; with one, what was recorded stays.
        """
        with contextlib.ExitStack() as stack:
            if self.mode != "none":
                # In one order everywhere, or two workers could each hold what the other waits for.
                for condition in sorted(conditions):
                    stack.enter_context(self._lock(judge.name, dataset, condition))
            frozen = self._frozen_before(judge.name, dataset)
            opened = {name: self._cassette(judge, dataset, name, frozen) for name in conditions}
            for cassette in opened.values():
                stack.callback(cassette.file.close)
                judge.adopt(cassette.recorded_identity)
                cassette.check_identity()
            if self.mode != "none":
                with self._lock(judge.name, dataset, "pairs"):
                    if own := [pair for pair in pairs if pair.digest not in self.shipped]:
                        freeze(self.folder(judge.name, dataset), own)
                    if (sample := self.samples.get((judge.name, dataset))) is not None:
                        freeze_sample(self.folder(judge.name, dataset), sample, pairs)
            yield opened
            for cassette in opened.values():
                if cassette.mode != "none":
                    cassette.complete()
                    self._done(cassette.final_path).touch()

    def _frozen_before(self, judge: str, dataset: str) -> dict[str, Pair]:
        """Return the frozen pairs by id; damaged ones are nothing where all is recorded anew."""
        try:
            return frozen_pairs(self.folder(judge, dataset))
        except CassetteError:
            if self.mode != "all":
                raise
            return {}

    def _cassette(
        self, judge: Recorded, dataset: str, condition: str, frozen: Mapping[str, Pair]
    ) -> Cassette:
        path = self.folder(judge.name, dataset) / f"{condition}.jsonl"
        renews = self.mode == "all" and not self._done(path).exists()
        # A side file: the old recording stays until the new one is complete, and a kill loses neither.
        file = CassetteFile(path.with_name(f"{condition}.part.jsonl") if renews else path)
        mode: RecordMode = "missing" if self.mode == "all" and not renews else self.mode
        cassette = Cassette(
            judge.name, dataset, condition, lambda: judge.identity, file, frozen, path, mode, self.command_start
        )
        if renews:
            judge.adopt(cassette.recorded_identity)
            cassette.make_way()
        return cassette

    def _done(self, path: Path) -> Path:
        """Return the mark that a condition was recorded in this run, whichever worker did it."""
        return _scratch(f"{self.run}\0{path.resolve()}", "done")

    def _lock(self, judge: str, dataset: str, condition: str) -> Any:
        from filelock import FileLock

        return FileLock(_scratch(str((self.folder(judge, dataset) / condition).resolve()), "lock"))


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
