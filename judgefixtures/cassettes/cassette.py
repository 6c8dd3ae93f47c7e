"""Recordings of one condition, open for a run."""

import contextlib
import glob
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

from judgefixtures.models.pairs import Example, Pair, digests_of, whole_pairs
from judgefixtures.util.paths import move, open_regular
from judgefixtures.util.shell import quoted

from .cache_detection import ResponseOrigins
from .calls import BatchRoute, CassetteMissError, JudgeCall
from .files import FORMAT, CassetteError, CassetteFile, CassetteRow, Key, identity_differences, planned_sizes, today_utc
from .messages import MESSAGES
from .snapshot import changed_fields

RecordMode = Literal["none", "missing", "invalid", "all"]


class RecordedJudge(Protocol):
    """What recordings need of a judge."""

    @property
    def name(self) -> str:
        """The judge's name."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything that can change the judge's answers."""

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Take identity fields that only a recording knows."""


@dataclass(slots=True)
class ReaskPolicy:
    """The invalid recorded answers that a run asks again, once each."""

    kinds: frozenset[str]
    path: Path  # what was asked again already, by whichever worker and item of the run: a JSON list a line
    _done: set[Key] | None = None

    def wants(self, pair: str, repeat: int, invalid: str | None) -> bool:
        """Return whether to ask an answer again."""
        if self._done is None:
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ()
            self._done = {(str(name), int(number)) for name, number in map(json.loads, lines)}
        return invalid in self.kinds and (pair, repeat) not in self._done

    def done(self, pair: str, repeat: int) -> None:
        """Note an answer of this run."""
        if self._done is not None:
            self._done.add((pair, repeat))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([pair, repeat]) + "\n")


@dataclass(slots=True)
class Cassette:
    """One judge's answers in one condition of a dataset.

    In mode "all", answers go to a side file and `older` is the recording to merge into.
    """

    judge: str
    dataset: str
    condition: str
    identity: Callable[[], Mapping[str, Any]]  # a judge learns while it is probed what its model takes
    file: CassetteFile
    snapshot: Mapping[str, Pair]
    final_path: Path
    mode: RecordMode
    command: Callable[[str], str]  # the command that records what is asked here, in a mode
    run: str = ""
    origins: ResponseOrigins = field(default_factory=ResponseOrigins)
    again: ReaskPolicy | None = None  # which recorded answers are asked again
    older: CassetteFile | None = None
    redone: frozenset[str] = frozenset()  # digests of those of its answers that this run made
    earlier_run: frozenset[str] = frozenset()  # digests of answers of an `all` that did not end
    usual: Path | None = None  # where recordings are unless one says otherwise
    # What changed since the recording was made, where it is that of another judge and other conditions are this one's:
    # then it is what is missing.
    renews: tuple[str, ...] = ()
    plan: int = 0  # with how many pairs this run was planned; 0: that is not to be kept
    resumed: str = ""  # how many answers of an unfinished `all` the side file held, and since when
    set_aside: list[Path] = field(default_factory=list)  # recordings of another judge that stood in the way
    used: dict[Key, list[CassetteRow]] = field(default_factory=dict)
    asked: int = 0  # answers recorded in this run
    ended: bool = False  # nothing is written any longer
    _checked_packages: Mapping[str, str] | None = None  # the versions that recordings of the folder were compared with
    _seen: set[tuple[str, int, str, str]] | None = None
    _recorded: dict[Key, CassetteRow] | None = None
    _kinds: set[tuple[Key, bool]] | None = None  # which answers there were at first: of whom, and whether only theirs

    def call(
        self,
        pair: Pair,
        repeat: int = 0,
        *,
        eager: bool = False,
        plan: str = "",
        again: bool = False,
        post: BatchRoute | None = None,
    ) -> JudgeCall:
        """Return the context of one judge call about a pair.

        Args:
            pair: The pair, with only the shown columns.
            repeat: Which repeat.
            eager: Keep answers on arrival.
            plan: Digest of the plan, or "".
            again: Ignore earlier recordings, until a new answer replaces them.
            post: Batches to use in place of the network.
        """
        own: set[str] = set()

        def find(digest: str) -> CassetteRow | None:
            return self.find(digest) if digest in own or not again else None

        def keep(row: CassetteRow) -> CassetteRow:
            before = self.file.find(row.digest) if again else None
            times = 1 if before is None else before.asked + 1
            row = replace(row, seen=pair.digest, plan=plan, asked=times, on=today_utc())
            row = replace(row, columns=pair.columns_digest) if pair.columns else row
            if self.ended:
                return row  # of a function that answers after its time
            row = self.file.append(row, self._header_now())
            own.add(row.digest)
            self.asked += 1
            return row

        def missing() -> NoReturn:
            raise CassetteMissError(explain_miss(self, pair, repeat, plan))

        return JudgeCall(
            pair.id,
            repeat,
            find,
            keep,
            missing if self.mode == "none" else None,
            eager,
            self.origins.repeats,
            texts=(pair.question, pair.response_1, pair.response_2, *pair.columns.values()),
            place=json.dumps([self.condition, pair.id]) if eager else "",
            check_packages=self.check_packages,
            takes_shared=eager and self._takes_shared((pair.id, repeat)),
            post=post,
        )

    def _takes_shared(self, key: Key) -> bool:
        """Return whether answers shared by examples (before format `own`) may answer."""
        if self._kinds is None:
            self._kinds = {(row.key, row.own) for row in self.read_rows()}
        return (key, False) in self._kinds or (self.mode == "none" and (key, True) not in self._kinds)

    def find(self, digest: str) -> CassetteRow | None:
        """Return the usable recorded answer to a request, or None."""
        row = self.file.find(digest)
        if row is None and self.older is not None and digest in self.redone:
            row = self.older.find(digest)
        return row

    def read_rows(self) -> list[CassetteRow]:
        """Return every usable recorded answer."""
        earlier = self.older.read_rows() if self.older is not None and self.redone else ()
        return [*(row for row in earlier if row.digest in self.redone), *self.file.read_rows()]

    def earlier(self) -> Iterator[CassetteRow]:
        """Yield this judge's recordings in this and then other conditions."""
        yield from self.read_rows()
        for path in sorted(self.final_path.parents[1].glob("*/*.jsonl")):
            if path != self.file.path and header_identity(path) == self.identity():
                with contextlib.suppress(CassetteError):  # whoever is asked in it says what is wrong with it
                    yield from CassetteFile(path).read_rows()

    def asks_again(self, call: JudgeCall, invalid: str | None) -> bool:
        """Return whether a call's recorded answer is asked again."""
        return self.again is not None and not call.recorded and self.again.wants(call.pair, call.repeat, invalid)

    def used_by(self, call: JudgeCall) -> None:
        """Note the rows that a finished call used."""
        self.used[(call.pair, call.repeat)] = call.played  # a function may be answered after its time
        if call.recorded and self.again is not None:
            self.again.done(call.pair, call.repeat)

    def end(self) -> None:
        """Close the file."""
        self.ended = True
        self.file.close()

    def complete(self) -> None:
        """Sort the file by pair and move it into place.

        Outdated rows of this run's pairs are dropped; other pairs' rows stay.
        """
        # Two pairs with the same texts share a row: it is always the first one's, whoever asked first.
        used = [replace(row, pair=pair) for (pair, _), rows in sorted(self.used.items(), reverse=True) for row in rows]
        mine = self.read_rows()
        others = [row for row in mine if row.key not in self.used]
        if not used and not others:
            return
        kept = self._not_asked_anew({row.key for row in mine} | self.used.keys())
        rows = {row.digest: row for row in [*kept, *others, *used]}
        self.file.replace(rows.values(), self.header(), self.final_path)
        if self.final_path != self.file.path:
            self.file.close()
            self.file.path.unlink(missing_ok=True)

    def _not_asked_anew(self, anew: set[Key]) -> list[CassetteRow]:
        left = [row for row in self.older.read_rows() if row.key not in anew] if self.older is not None else []
        if left and self.older is not None and self.older.header is not None:
            if not identity_differences(self.older.header["judge"], self.identity()):
                return left
            self._set_aside(self.older.path)
        return []

    @property
    def uses_earlier_run(self) -> bool:
        """Whether answers of an interrupted `all` were used."""
        return any(row.digest in self.earlier_run for rows in self.used.values() for row in rows)

    @property
    def days(self) -> set[str]:
        """The days of the used answers."""
        return {row.on for rows in self.used.values() for row in rows}

    @property
    def cached(self) -> tuple[int, int]:
        """The numbers of used answers from a cache, and of all."""
        rows = [row for each in self.used.values() for row in each]
        return sum(row.cached for row in rows), len(rows)

    def keeps(self, pair: Pair, repeat: int) -> bool:
        """Return whether an answer about the current pair is on disk."""
        if self._seen is None:
            self._seen = {(row.pair, row.repeat, row.seen, row.columns) for row in self.read_rows()}
        return any((pair.id, repeat, digest, pair.columns_digest) in self._seen for digest in digests_of(pair))

    def recorded(self) -> Mapping[Key, CassetteRow]:
        """The recorded answers by key, as first read."""
        if self._recorded is None:
            self._recorded = {row.key: row for row in self.file.read_rows()}
        return self._recorded

    def unused(self, *, whole: bool) -> list[str]:
        """Return ids of recorded pairs that no question used.

        Without `whole`, only the run's pairs count.
        """
        played = {row.digest for rows in self.used.values() for row in rows}
        if len(played) == len(self.file):
            return []
        rows = [row for row in self.file.read_rows() if row.digest not in played]
        repeats = {repeat for _, repeat in self.used}
        return sorted({row.pair for row in rows if row.key in self.used or (whole and row.repeat in repeats)})

    def regraded(self, pairs: Sequence[Pair]) -> list[str]:
        """Return ids of pairs whose gold, category or cluster changed."""
        now = whole_pairs(pairs)
        before = {pair.id: self.snapshot.get(pair.id, pair) for pair in now}
        return [pair.id for pair in now if before[pair.id] != pair and before[pair.id].digest == pair.digest]

    def header(self) -> dict[str, Any]:
        """Return the header: format, names, identity and planned pairs."""
        planned = list(self.planned)
        if self.plan > max(planned, default=0) and (planned or self.asked or self.file.header is None):
            planned.append(self.plan)
        return {
            "judgefixtures": FORMAT,
            "dataset": self.dataset,
            "condition": self.condition,
            "judge": dict(self.identity()),
            **({"planned": planned} if planned else {}),
            **self._looks_kept(),
        }

    def _looks_kept(self) -> dict[str, Any]:
        for before in self._headers[-1:]:
            if self.mode == "all" and not self.redone and self.file.header is None:
                is_counted = "looks" in before or "recording" in before
                return {"recording": before.get("recording", 1) + 1} if is_counted else {}
            return {key: before[key] for key in ("looks", "recording") if key in before}
        return {}

    @property
    def _headers(self) -> list[dict[str, Any]]:
        headers = [file.header for file in (self.older, self.file) if file is not None and file.header is not None]
        return [header for header in headers if not identity_differences(header["judge"], self.identity())]

    @property
    def planned(self) -> tuple[int, ...]:
        """The planned numbers of pairs, if known."""
        return tuple(sorted({count for header in self._headers for count in planned_sizes(header)}))

    @property
    def recorded_identity(self) -> Mapping[str, Any]:
        """The recordings' judge identity, or {}."""
        header = self.file.header
        if header is None and self.older is not None and self.redone:
            header = self.older.header
        return header["judge"] if header else {}

    def make_way(self) -> None:
        """Rename an unfinished recording of another judge."""
        recorded = self.recorded_identity
        if recorded and identity_differences(recorded, self.identity()):
            self._set_aside(self.file.path)
            self.file = CassetteFile(self.file.path, self.command)

    def _set_aside(self, path: Path) -> None:
        number, aside = 1, path
        while aside.exists():
            more = "" if number == 1 else f"-{number}"
            aside = path.with_name(f"{self.condition}.part-of-another-judge{more}.jsonl")
            number += 1
        move(path, aside)
        self.set_aside.append(aside)

    def _header_now(self) -> dict[str, Any]:
        run = {} if self.file.path == self.final_path else {"run": self.run}
        return self.header() | run | {"recorded": today_utc()}

    def check_identity(self) -> None:
        """Raise CassetteError if the recordings are another judge's."""
        recorded = self.recorded_identity
        if not recorded or not (changed := identity_differences(recorded, self.identity())):
            return
        raise CassetteError(MESSAGES.other_judge(self.file.path, self.judge, changed, self._renewal))

    def check_packages(self, now: Mapping[str, str]) -> None:
        """Check that this folder's recordings are by the same versions of the judge's packages.

        Raises:
            CassetteError: They are not, and this run adds to them.
        """
        if now == self._checked_packages:
            return
        beside = [path for path in sorted(self.final_path.parent.glob("*.jsonl")) if ".part" not in path.name]
        paths = [self.file.path] if self.mode == "all" else beside
        identities = {path: header_identity(path) for path in paths}
        own = [path for path, identity in identities.items() if identity.get("target") == self.identity()["target"]]
        if other := [path for path in own if identities[path].get("packages", {}) != now]:
            changed = identity_differences(identities[other[0]].get("packages", {}), now)
            rows = [row for path in own for row in CassetteFile(path).read_rows()]
            cost = cost_of_results(rows)
            raise CassetteError(
                MESSAGES.other_packages(other[0], self.judge, changed, len(rows), cost, self.command("all"))
            )
        self._checked_packages = dict(now)

    @property
    def changed_packages(self) -> list[str]:
        """The versions that an `all` replaces: `deepeval: "3.0" -> "3.1"`."""
        before = self.older.header if self.older is not None else None
        now = self.identity().get("packages", {})
        return identity_differences(before["judge"].get("packages", now), now) if before and self.asked else []

    @property
    def _renewal(self) -> str:
        """Remedy for another judge's recordings, ending in the command."""
        if self.renews:
            return (
                f"Others in this folder are of the judge as it is now. Record anew what is not: "
                f"{self.command('missing')}"
            )
        if self.mode == "none":
            return f"Go back to the recorded judge, or record anew: {self.command('all')}"
        return MESSAGES.all_of_other_judges(self.command("all"))


def cost_of_results(rows: Sequence[CassetteRow]) -> float | None:
    """Return the price in USD that recorded calls state, or None if one of them states none."""
    usages = [json.loads(row.body or b"{}").get("usage", {}) for row in rows]
    return sum(usage["usd"] for usage in usages) if all("usd" in usage for usage in usages) else None


# --- why nothing in it answers -------------------------------------------------------------------------------

LONGEST_HEADER = 2**20  # bytes


def explain_miss(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    """Return the message of a missing recording, with the command."""
    what = f"judge {cassette.judge!r}, dataset {cassette.dataset!r}, condition {cassette.condition!r}, pair {pair.id!r}"
    if repeat:
        what += f", repeat {repeat}"
    if cassette.file.header is None:
        state = "holds no answers" if cassette.file.path.exists() else "does not exist"
        state += f". {elsewhere}" if (elsewhere := find_recordings_elsewhere(cassette)) else ""
        state += f". Record: {cassette.command('missing')}"
        return f"nothing is recorded for {what}: {cassette.file.path} {state}"
    return f"no recording answers {what}: {_reason(cassette, pair, repeat, plan)} Record: {cassette.command('missing')}"


def find_recordings_elsewhere(cassette: Cassette) -> str:
    """Return where else this judge's recordings are, or ""."""
    return (_find_moved(cassette) or _find_namesake(cassette)) if cassette.file.header is None else ""


def _find_moved(cassette: Cassette) -> str:
    root = cassette.final_path.parents[2]
    for other in _elsewhere(root, cassette.usual, cassette.final_path.relative_to(root)):
        recorded = header_identity(other)
        # What a model does not take is found out by asking it, and this judge was not asked yet.
        if recorded and identity_for_message(recorded) == identity_for_message(cassette.identity()):
            folder = other.parents[2]
            return MESSAGES.recordings_moved(folder, root, quoted(str(folder)))
    return ""


def _find_namesake(cassette: Cassette) -> str:
    folder = cassette.final_path.parent
    if folder.parent.name != cassette.judge:  # a detector's readings: whose reasons it read is not in its identity
        return ""
    for other in sorted(folder.parents[1].glob(f"*/{folder.name}/{cassette.final_path.name}")):
        recorded = header_identity(other)
        if (
            other != cassette.final_path
            and recorded
            and identity_for_message(recorded) == identity_for_message(cassette.identity())
        ):
            return MESSAGES.judge_renamed(other, other.parents[1].name, other.parents[1], folder)
    return ""


def _reason(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    (now,) = whole_pairs((pair,))
    frozen, it = cassette.snapshot.get(now.id), "example" if isinstance(now, Example) else "pair"
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
    return MESSAGES.request_changed(it, attacks)


def _changed_columns(row: CassetteRow, pair: Pair) -> list[str]:
    before, now = set(row.columns.split()), set(pair.columns_digest.split())
    return sorted({column.partition("=")[0] for column in before ^ now})


def identity_for_message(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configured part of an identity."""
    return {key: value for key, value in identity.items() if key not in ("dropped", "packages")}


def header_identity(path: Path) -> Mapping[str, Any]:
    """Return the identity in a recording's header, or {}."""
    identity = header_in(path).get("judge")
    return identity if isinstance(identity, dict) else {}


def header_in(path: Path) -> Mapping[str, Any]:
    """Return a recording's header, or {}."""
    try:
        with open_regular(path) as file:
            found = json.loads(file.readline(LONGEST_HEADER))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _elsewhere(root: Path, usual: Path | None, own: Path) -> Iterator[Path]:
    homes = dict.fromkeys((root if usual is None else usual).parent.joinpath(place) for place in ("", root.parent))
    inside = glob.escape(str(own))
    paths = [] if usual is None else [usual / own]
    for home in homes:
        if home != home.parent:  # not the whole machine
            paths += [*sorted(home.glob(f"*/{inside}")), *sorted(home.glob(f"*/*/{inside}"))]
    yield from (path for path in dict.fromkeys(paths) if path.parents[2] != root and path.is_file())
