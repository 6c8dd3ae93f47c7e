"""The folder of cassettes: which file a condition lives in, who may write it, and when it is complete."""

from __future__ import annotations

import contextlib
import datetime
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from judgefixtures.cassettes.caching import Origins
from judgefixtures.cassettes.files import CassetteError, CassetteFile, DamagedError, differences
from judgefixtures.cassettes.frozen import (
    FrozenChoice,
    FrozenSample,
    freeze,
    freeze_choice,
    freeze_sample,
    frozen_pairs,
    frozen_sample,
    has_frozen,
    read_sample,
)
from judgefixtures.cassettes.in_use import Again, Cassette, Recorded, RecordMode, as_told, identity_in
from judgefixtures.cassettes.locks import held, scratch
from judgefixtures.material.cues import LONGEST_NAME
from judgefixtures.material.pairs import Pair, whole
from judgefixtures.reading.verdicts import InvalidKind

SIDE_FILE = re.compile(r"\.part(-of-another-judge(-\d+)?)?\.jsonl\Z")  # answers that are no condition's recording


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
        plan: int = 0,
    ) -> Iterator[dict[str, Cassette]]:
        """Open the cassettes of some conditions; in the recording modes no other process can at the same time.

        When the block ends without an error the conditions are complete; with one, what was recorded stays.
        `commands` returns what records whatever the item that asks is about in a mode, for messages. `among` names the
        judge among whose recordings they are kept, where that is another one. `plan` is with how many pairs what asks
        was planned, 0 where that is not to be kept.
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
            if own := [pair for pair in whole(pairs) if pair.digest not in self.shipped]:
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
            Again(self.invalid, scratch(f"{self.run}\0{path.resolve()}", "again")) if self.mode == "invalid" else None,
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
            scratch(str(path.resolve()), "begun").write_text(self.run, encoding="ascii")
        return cassette

    def _stale(self, cassette: Cassette) -> tuple[str, ...]:
        """Return what changed since a recording was made, where it is another judge's and others beside are this one's.

        With a table that was changed by mistake no recording is, but those that this run began with it: those do not
        count.
        """
        recorded, now = as_told(cassette.recorded_identity), as_told(cassette.identity())
        changed = differences(recorded, now) if recorded else []
        path = cassette.final_path
        beside = (other for other in sorted(path.parent.glob("*.jsonl")) if changed and other != path)
        known = any(
            as_told(identity_in(other)) == now and not self._began(other)
            for other in beside
            if not SIDE_FILE.search(other.name)
        )
        return tuple(changed) if known else ()

    def _began(self, path: Path) -> bool:
        """Tell whether this run, in whichever worker, was the first to ask about a condition."""
        with contextlib.suppress(FileNotFoundError):
            return scratch(str(path.resolve()), "begun").read_text(encoding="ascii") == self.run
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
            run, *digests = scratch(str(path.resolve()), "done").read_text(encoding="ascii").split("\n")
            if run == self.run:
                return frozenset(digests)
        return frozenset()

    def _note_done(self, cassette: Cassette) -> None:
        """Note which answers this run made, in place of what an earlier run noted."""
        if self.mode == "all":
            digests = sorted({row.digest for row in cassette.read_rows()})
            mark = scratch(str(cassette.final_path.resolve()), "done")
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
