"""One condition's recordings, open for a run: which answers may be used, which are added, and when it is complete."""

from __future__ import annotations

import contextlib
import glob
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

from judgefixtures.cassettes.caching import Origins
from judgefixtures.cassettes.calls import Call, CassetteMissError, Postbox
from judgefixtures.cassettes.files import FORMAT, CassetteError, CassetteFile, Key, Row, differences, plans_in, today
from judgefixtures.cassettes.frozen import changed_fields
from judgefixtures.material.pairs import Example, Pair, whole
from judgefixtures.words.commands import quoted

RecordMode = Literal["none", "missing", "invalid", "all"]


class Recorded(Protocol):
    """What the recordings need to know of a judge: its name, and all that can change its answers."""

    @property
    def name(self) -> str: ...  # pragma: no cover

    @property
    def identity(self) -> Mapping[str, Any]: ...  # pragma: no cover

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Take over from a recorded identity what only a recording can find out."""


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
    command: Callable[[str], str]  # the command that records what is asked here, in a mode
    run: str = ""
    origins: Origins = field(default_factory=Origins)
    again: Again | None = None  # which recorded answers are asked again
    older: CassetteFile | None = None
    redone: frozenset[str] = frozenset()  # digests of those of its answers that this run made
    usual: Path | None = None  # where recordings are unless one says otherwise
    # What changed since the recording was made, where it is that of another judge and other conditions are this one's:
    # then it is what is missing.
    renews: tuple[str, ...] = ()
    plan: int = 0  # with how many pairs this run was planned; 0: that is not to be kept
    resumed: str = ""  # how many answers of an unfinished `all` the side file held, and since when
    set_aside: list[Path] = field(default_factory=list)  # recordings of another judge that stood in the way
    used: dict[Key, list[Row]] = field(default_factory=dict)
    asked: int = 0  # answers recorded in this run
    _seen: set[tuple[str, int, str, str]] | None = None
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

        The pair has the columns that are shown of it, and no others.
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
            row = replace(row, columns=pair.columns_digest) if pair.columns else row
            row = self.file.append(row, self._header_now())
            own.add(row.digest)
            self.asked += 1
            return row

        def missing() -> NoReturn:
            raise CassetteMissError(explain_miss(self, pair, repeat, plan))

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

    def read_rows(self) -> list[Row]:
        """Return every recorded answer that may answer in this run."""
        earlier = self.older.read_rows() if self.older is not None and self.redone else ()
        return [*(row for row in earlier if row.digest in self.redone), *self.file.read_rows()]

    def earlier(self) -> Iterator[Row]:
        """Yield what is recorded of the judge as it is now: in this condition, then in the others on any dataset."""
        yield from self.read_rows()
        for path in sorted(self.final_path.parents[1].glob("*/*.jsonl")):
            if path != self.file.path and identity_in(path) == self.identity():
                with contextlib.suppress(CassetteError):  # whoever is asked in it says what is wrong with it
                    yield from CassetteFile(path).read_rows()

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
        mine = self.read_rows()
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
        left = [row for row in self.older.read_rows() if row.key not in anew] if self.older is not None else []
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
            self._seen = {(row.pair, row.repeat, row.seen, row.columns) for row in self.read_rows()}
        return (pair.id, repeat, pair.digest, pair.columns_digest) in self._seen

    def recorded(self) -> Mapping[Key, Row]:
        """Return the recorded answers by what they answer, as they were when this was first asked."""
        if self._recorded is None:
            self._recorded = {row.key: row for row in self.file.read_rows()}
        return self._recorded

    def unused(self, *, whole: bool) -> list[str]:
        """Return the ids of pairs with recordings that no question asked for.

        With `whole` the run asked about every pair there is; without, other pairs' recordings are not judged.
        """
        played = {row.digest for rows in self.used.values() for row in rows}
        if len(played) == len(self.file):
            return []
        rows = [row for row in self.file.read_rows() if row.digest not in played]
        repeats = {repeat for _, repeat in self.used}
        return sorted({row.pair for row in rows if row.key in self.used or (whole and row.repeat in repeats)})

    def regraded(self, pairs: Sequence[Pair]) -> list[str]:
        """Return the ids of pairs that differ from the frozen ones in what no judge sees: gold, category, cluster."""
        now = whole(pairs)
        before = {pair.id: self.frozen.get(pair.id, pair) for pair in now}
        return [pair.id for pair in now if before[pair.id] != pair and before[pair.id].digest == pair.digest]

    def header(self) -> dict[str, Any]:
        """Return the header line: format, names, the judge's identity, and with how many pairs it was planned.

        Where that is not known of a recording, the pairs that it is asked about now say nothing of the first ones.
        """
        planned = list(self.planned)
        if self.plan > max(planned, default=0) and (planned or self.asked or self.file.header is None):
            planned.append(self.plan)
        return {
            "judgefixtures": FORMAT,
            "dataset": self.dataset,
            "condition": self.condition,
            "judge": dict(self.identity()),
            **({"planned": planned} if planned else {}),
        }

    @property
    def planned(self) -> tuple[int, ...]:
        """With how many pairs recordings of this judge were planned before, as far as that is written down.

        More than one number: they have grown. A recording that is replaced by another of the same judge counts.
        """
        headers = [file.header for file in (self.older, self.file) if file is not None and file.header is not None]
        mine = [header for header in headers if not differences(header["judge"], self.identity())]
        return tuple(sorted({count for header in mine for count in plans_in(header)}))

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
            self.file = CassetteFile(self.file.path, self.command)

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


# --- why nothing in it answers -------------------------------------------------------------------------------

LONGEST_HEADER = 2**20  # bytes


def explain_miss(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    """Return the message of a question that nothing recorded answers, with the command that records it."""
    what = f"judge {cassette.judge!r}, dataset {cassette.dataset!r}, condition {cassette.condition!r}, pair {pair.id!r}"
    if repeat:
        what += f", repeat {repeat}"
    if cassette.file.header is None:
        state = "holds no answers" if cassette.file.path.exists() else "does not exist"
        state += f". {found}" if (found := find_elsewhere(cassette)) else ""
        state += f". Record: {cassette.command('missing')}"
        return f"nothing is recorded for {what}: {cassette.file.path} {state}"
    return f"no recording answers {what}: {_reason(cassette, pair, repeat, plan)} Record: {cassette.command('missing')}"


def find_elsewhere(cassette: Cassette) -> str:
    """Where recordings of this very judge are, with what to do, where none are here; empty where there are none."""
    return (_find_moved(cassette) or _find_namesake(cassette)) if cassette.file.header is None else ""


def _find_moved(cassette: Cassette) -> str:
    """Say which other folder has recordings of this very judge, as after a move of them; else nothing."""
    root = cassette.final_path.parents[2]
    for other in _elsewhere(root, cassette.usual, cassette.final_path.relative_to(root)):
        recorded = identity_in(other)
        # What a model does not take is found out by asking it, and this judge was not asked yet.
        if recorded and as_told(recorded) == as_told(cassette.identity()):
            found = other.parents[2]
            return (
                f"{found} holds this condition of this very judge: if the recordings were moved, move them to "
                f"{root} or run with --judge-cassettes={quoted(str(found))}, and nothing need be asked again"
            )
    return ""


def _find_namesake(cassette: Cassette) -> str:
    """Say whose recordings are of this very judge by another name, as after a change of its name; else nothing."""
    folder = cassette.final_path.parent
    if folder.parent.name != cassette.judge:  # a detector's readings: whose reasons it read is not in its identity
        return ""
    for other in sorted(folder.parents[1].glob(f"*/{folder.name}/{cassette.final_path.name}")):
        recorded = identity_in(other)
        if other != cassette.final_path and recorded and as_told(recorded) == as_told(cassette.identity()):
            return (
                f"{other.parent} holds this condition of a judge that is the same in all but its name: if "
                f"{other.parents[1].name} was renamed, rename the folder {other.parents[1]} to "
                f"{folder.parent}, and nothing need be asked again"
            )
    return ""


def _reason(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    (now,) = whole((pair,))
    frozen, it = cassette.frozen.get(now.id), "example" if isinstance(now, Example) else "pair"
    if frozen is not None and (frozen.response_1, frozen.response_2) == (now.response_2, now.response_1):
        return (
            "the pair's responses changed places since the recording, in the file or by balance_positions, which "
            "keeps gold even over positions: some pair's gold, or which pairs there are, changed."
        )
    if frozen is not None and (fields := changed_fields(frozen, now)):
        return f"the {it}'s {' and '.join(fields)} changed since the recording."
    recorded = cassette.recorded()
    if (row := recorded.get((pair.id, repeat))) is not None and row.seen not in ("", pair.digest):
        return f"the {it}'s text changed since the recording."
    if row is not None and (changed := _changed_columns(row, pair)):
        return f"the {it}'s {' and '.join(changed)} changed since the recording."
    if row is None:
        of = f"{len({key[0] for key in recorded})} {it}s are recorded in {cassette.file.path}"
        return f"{of}, not this one (a recording that was cut short?)."
    if row.plan not in ("", plan):
        return (
            "the pair's plan is not the one that this answer was recorded with: plan.jsonl was recorded anew "
            "(or changed) and this condition was not."
        )
    attacks = "the labels or the grade_field that an attack names, or " if isinstance(pair, Example) else ""
    return (
        f"the {it} is recorded, but the request is another one now: {attacks}the base_url's host or path changed, "
        "or the SDK sends another body."
    )


def _changed_columns(row: Row, pair: Pair) -> list[str]:
    """Return the columns in which a pair is not what it was when a row was recorded."""
    before, now = set(row.columns.split()), set(pair.columns_digest.split())
    return sorted({told.partition("=")[0] for told in before ^ now})


def as_told(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a judge's table says of its identity."""
    return {key: value for key, value in identity.items() if key != "dropped"}


def identity_in(path: Path) -> Mapping[str, Any]:
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
