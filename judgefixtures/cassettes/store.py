"""Folder of cassettes: files of conditions, their writers and completeness."""

import contextlib
import datetime
import json
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from judgefixtures.models.cues import LONGEST_NAME
from judgefixtures.models.pairs import Pair, whole_pairs
from judgefixtures.models.verdicts import InvalidKind

from . import snapshot
from .cache_detection import ResponseOrigins
from .cassette import Cassette, ReaskPolicy, RecordedJudge, RecordMode, header_identity, header_in, identity_for_message
from .files import CassetteError, CassetteFile, DecidedLook, atomic_write, identity_differences, looks_in, or_replaced
from .locks import file_lock, temporary_file
from .messages import MESSAGES

DONE = ".done.draft"  # ends the note of a condition's answers that an `all` made which has not ended yet
KEPT_FOR = 7 * 86400  # seconds after which an `all` no longer goes on with what an interrupted one finished
PlaceOfLooks = tuple[str, str, str]  # a dataset, the condition in whose header they are kept, a contrast
SIDE_FILE = re.compile(r"\.part(-of-another-judge(-\d+)?)?\.jsonl\Z")  # answers that are no condition's recording


@dataclass(frozen=True, slots=True)
class CassetteStore:
    """The folder of cassettes and its mode; `run` names the pytest run."""

    root: Path
    mode: RecordMode = "none"
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    command_start: str = "pytest"  # of the commands in messages: with the options that found these recordings
    samples: dict[tuple[str, str], snapshot.SampleSnapshot] = field(
        default_factory=dict
    )  # to keep, by judge and dataset
    shipped: set[str] = field(default_factory=set)  # digests of pairs that come with the package: not to be frozen
    invalid: frozenset[str] = frozenset(get_args(InvalidKind))  # what mode "invalid" asks again
    origins: ResponseOrigins = field(default_factory=ResponseOrigins)
    usual: Path | None = None  # where recordings are unless one says otherwise
    goes_on: bool = False  # with `all`: where an interrupted one stopped. Whoever sets this calls `finish` at the end

    def folder(self, judge: str, dataset: str) -> Path:
        """Return the folder of a judge's recordings."""
        for name in (judge, dataset):
            if len(name.encode()) > LONGEST_NAME:
                raise CassetteError(MESSAGES.name_too_long(name[:40], name, LONGEST_NAME))
        return self.root / judge / dataset

    def frozen(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the pairs of the recordings."""
        return tuple(snapshot.read_snapshot_pairs(self.folder(judge, dataset)).values())

    def frozen_sample(self, judge: str, dataset: str) -> snapshot.SampleSnapshot | None:
        """Return the sample of the recordings, or None."""
        return snapshot.read_snapshot(self.folder(judge, dataset))

    def freeze_choice(self, judge: str, dataset: str, choice: snapshot.ClosestPairsSnapshot) -> None:
        """Write a judge's closest pairs."""
        with self._lock(judge, dataset, "pairs"):  # two workers choose the same, and write through one draft
            snapshot.write_closest_snapshot(self.folder(judge, dataset), choice)

    @contextlib.contextmanager
    def open(
        self,
        judge: RecordedJudge,
        dataset: str,
        conditions: Sequence[str],
        pairs: Sequence[Pair],
        commands: Callable[[str], str] | None = None,
        among: str | None = None,
        plan: int = 0,
    ) -> Iterator[dict[str, Cassette]]:
        """Open conditions' cassettes, exclusively when recording.

        After the block they are complete; after an error, the answers stay.

        Args:
            judge: The judge.
            dataset: The dataset's name.
            conditions: The conditions' names.
            pairs: The pairs to ask.
            commands: Returns the recording command of a mode.
            among: The judge whose folder is used, if another.
            plan: The planned number of pairs, or 0.
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
                cassette.plan = plan
                stack.callback(cassette.end)
                judge.adopt(cassette.recorded_identity)
                cassette.check_identity()
            if self.mode != "none":
                self._freeze(among, dataset, pairs, first=True)
            try:
                yield opened
            except BaseException:
                if self.mode == "all":
                    temporary_file(self.run, "broken").touch()
                raise
            if self.mode == "none":
                return
            for cassette in opened.values():
                self._note_done(cassette)  # of what is not in its place yet nothing counts
                cassette.complete()
            self._freeze(among, dataset, pairs)

    def _freeze(self, judge: str, dataset: str, pairs: Sequence[Pair], *, first: bool = False) -> None:
        """Write the pairs; before the first answer only if `first`."""
        folder = self.folder(judge, dataset)
        with self._lock(judge, dataset, "pairs"):
            if first and snapshot.has_snapshot(folder):
                return
            if own := [pair for pair in whole_pairs(pairs) if pair.digest not in self.shipped]:
                snapshot.add_snapshot_pairs(folder, own)
            if (sample := self.samples.get((judge, dataset))) is not None:
                snapshot.write_snapshot(folder, sample, pairs)

    def _frozen_before(self, judge: str, dataset: str) -> dict[str, Pair]:
        folder = self.folder(judge, dataset)

        def read() -> dict[str, Pair]:
            snapshot.read_sample(folder)
            return snapshot.read_snapshot_pairs(folder)

        return or_replaced(read, {}, is_replaced=self.mode == "all")

    def _cassette(
        self,
        judge: RecordedJudge,
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
            ReaskPolicy(self.invalid, temporary_file(f"{self.run}\0{path.resolve()}", "again"))
            if self.mode == "invalid"
            else None,
            usual=self.usual,
        )
        if self.mode == "all":
            judge.adopt(cassette.recorded_identity)
            cassette.make_way()
            cassette.older = or_replaced(lambda: CassetteFile(path, commands), None)
            cassette.resumed = self._resumed(cassette.file)
            self._take_done(judge, cassette)
            return cassette
        cassette.renews = self._stale(cassette)
        if self.mode != "none" and cassette.renews:
            cassette.older, cassette.file = file, CassetteFile(part, commands)
            judge.adopt(cassette.recorded_identity)
            cassette.make_way()
        elif self.mode != "none" and file.header is None:
            temporary_file(str(path.resolve()), "begun").write_text(self.run, encoding="ascii")
        return cassette

    def _stale(self, cassette: Cassette) -> tuple[str, ...]:
        """Return what changed if only this recording is another judge's."""
        recorded, now = identity_for_message(cassette.recorded_identity), identity_for_message(cassette.identity())
        changed = identity_differences(recorded, now) if recorded else []
        path = cassette.final_path
        beside = (other for other in {*path.parent.glob("*.jsonl")} - {path} if not SIDE_FILE.search(other.name))
        known = changed and any(
            identity_for_message(header_identity(other)) == now and not self._began(other) for other in beside
        )
        return tuple(changed) if known else ()

    def _began(self, path: Path) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return temporary_file(str(path.resolve()), "begun").read_text(encoding="ascii") == self.run
        return False

    def _resumed(self, part: CassetteFile) -> str:
        if not len(part) or part.header is None or part.header.get("run") == self.run:
            return ""
        until = datetime.datetime.fromtimestamp(part.path.stat().st_mtime).astimezone()
        return f"{len(part)}, the last from {until:%Y-%m-%d %H:%M}"

    def _take_done(self, judge: RecordedJudge, cassette: Cassette) -> None:
        """Accept answers of this run or of a resumed `all`."""
        run, marks = _read_note(self._note_of(cassette.final_path))
        header = None if cassette.older is None else cassette.older.header
        rows: dict[str, bool] = {}  # whether an earlier run made it
        if marks and header is not None and run != self.run:
            if self.goes_on and identity_for_message(header["judge"]) == identity_for_message(judge.identity):
                judge.adopt(header["judge"])
            marks = marks if self.goes_on and not identity_differences(header["judge"], judge.identity) else {}
        if cassette.older is not None and marks:
            found = ((row.digest, row.mark) for row in cassette.older.read_rows())
            rows = {digest: marks[mark] or run != self.run for digest, mark in found if mark in marks}
        cassette.redone = frozenset(rows)
        left = cassette.file.read_rows() if cassette.resumed else ()
        cassette.earlier_run = frozenset([*(each for each in rows if rows[each]), *(row.digest for row in left)])

    def _note_done(self, cassette: Cassette) -> None:
        if self.mode == "all":
            marks = {row.mark: row.digest in cassette.earlier_run for row in cassette.read_rows()}
            atomic_write(self._note_of(cassette.final_path), json.dumps([self.run, marks]).encode())

    def _note_of(self, path: Path) -> Path:
        return path.with_name(f".{path.stem}{DONE}") if self.goes_on else temporary_file(str(path.resolve()), "done")

    def _is_redone(self, path: Path) -> bool:
        run, marks = _read_note(self._note_of(path))
        return bool(marks) and (self.goes_on or run == self.run)

    def finish(self, runs: Iterable[str] = ()) -> None:
        """Let the next `all` start afresh if this one is finished."""
        if self.mode != "all":
            return
        mine = {self.run, *runs}
        try:
            broken = [path for run in mine if (path := temporary_file(run, "broken")).exists()]
        except CassetteError:  # without a folder of locks nothing was recorded
            return
        for path in broken:
            path.unlink(missing_ok=True)
        for note in self.root.glob(f"*/*/.*{DONE}") if not broken else ():
            if _read_note(note)[0] in mine:
                note.unlink(missing_ok=True)

    def decided_looks(self, judge: RecordedJudge, where: PlaceOfLooks) -> tuple[list[DecidedLook], int]:
        """Return a judge's decided looks, and the recording's number."""
        header = header_in(path := self.folder(judge.name, where[0]) / f"{where[1]}.jsonl")
        with contextlib.suppress(ValueError, TypeError, KeyError):  # who opens the file says what is wrong with it
            if not isinstance(recorded := header["judge"], dict):
                raise TypeError
            judge.adopt(recorded)
            if not identity_differences(recorded, judge.identity):
                anew = self.mode == "all" and not self._is_redone(path)
                looks = [] if anew else looks_in(header).get(where[2], [])
                return looks, header.get("recording", 1) + (anew and "looks" in header)
        return [], 1

    def keep_look(self, judge: str, where: PlaceOfLooks, look: DecidedLook) -> None:
        """Write a decided look into a condition's header."""
        dataset, condition, contrast = where
        with self._lock(judge, dataset, condition):
            file = CassetteFile(self.folder(judge, dataset) / f"{condition}.jsonl")
            looks = looks_in(file.header or {})
            if file.header is not None and look not in (kept := looks.setdefault(contrast, [])):
                kept.append(look)
                file.replace(file.read_rows(), {**file.header, "looks": looks})

    def canary(self, judge: str) -> contextlib.AbstractContextManager[None]:
        """Lock a judge's canary log."""
        return file_lock(self.root / judge / "canary")

    def _lock(self, judge: str, dataset: str, condition: str) -> contextlib.AbstractContextManager[None]:
        return file_lock(self.folder(judge, dataset) / condition)


def _read_note(path: Path) -> tuple[str, dict[str, bool]]:
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        if time.time() - path.stat().st_mtime < KEPT_FOR:
            run, marks = json.loads(path.read_bytes())
            return str(run), dict(marks)
    return "", {}
