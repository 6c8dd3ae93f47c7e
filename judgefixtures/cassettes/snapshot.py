"""Snapshot of the pairs of a recording, stored beside it so that CI needs no dataset hub.

pairs.jsonl holds the pairs. sample.json names their source, commit and seed. closest.json lists the pairs chosen as the
closest for a judge; recording again does not change that choice.
"""

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from judgefixtures.models.pairs import Pair, id_key, keep_columns, pair_to_row, whole_pairs
from judgefixtures.sources import Source, read_pairs
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import read_bytes

from .files import CassetteError, DamagedFileError, atomic_write, or_replaced, refuse_merge_marks

FILE = "pairs.jsonl"
SAMPLE_FILE = "sample.json"
SAMPLE_FORMAT = 1
CHOICE_FILE = "closest.json"
CHOICE_FORMAT = 1
# Answers are found by what was asked, so that nothing is asked again about pairs that the dataset still has.
REMEDY = (
    f"Restore {FILE} and {SAMPLE_FILE}, or delete both: --judge-record missing writes them anew, from the dataset, and "
    "asks only what no recording answers."
)

CHOICE_REMEDY = "Restore it, or remove it: then --judge-record missing chooses anew, from what is recorded."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SampleSnapshot:
    """Where a sample came from, and its pairs in order, as (id, text digest).

    `selection` is what the table said that decides about pairs, `available` how many there were to choose from.
    """

    selection: Mapping[str, Any]
    seed: int
    available: int
    pairs: tuple[tuple[str, str], ...]
    left_out: Mapping[str, int]
    revision: str | None = None
    licence: str | None = None

    def extends(self, other: Self) -> bool:
        """Tell whether this is the other sample, or the same one with more pairs."""
        return replace(self, pairs=self.pairs[: len(other.pairs)]) == other


@dataclass(frozen=True, slots=True)
class ClosestPairsSnapshot:
    """The closest pairs as (id, text digest), the closest one first, and how many there were to choose from.

    `mark` is the pass mark that their scores are close to, where there is one.
    """

    pool: int
    pairs: tuple[tuple[str, str], ...]
    mark: float | None = None

    @classmethod
    def of(cls, pool: int, pairs: Iterable[Pair], mark: float | None = None) -> Self:
        """Return the choice of some pairs."""
        return cls(pool, tuple((pair.id, pair.digest) for pair in pairs), mark)

    def extends(self, other: Self) -> bool:
        """Tell whether this is the other choice, or the same one with more pairs."""
        return self.mark == other.mark and self.pairs[: len(other.pairs)] == other.pairs


def has_snapshot(folder: Path) -> bool:
    """Tell whether pairs, or what is known of them, are frozen in a folder, readable or not."""
    return (folder / FILE).exists() or (folder / SAMPLE_FILE).exists()


def read_snapshot_pairs(folder: Path) -> dict[str, Pair]:
    """Return the pairs frozen in a judge's dataset folder by id, in order; empty where there are none.

    Raises DamagedError for an unresolved merge, CassetteError for any other line that is not a pair of its own.
    """
    path = folder / FILE
    try:
        if (content := _read_whole(path, lambda _, content: content)) is None:
            return {}
        refuse_merge_marks(path, content)
        return dict(_read_once(path, hashlib.sha256(content).hexdigest()))
    except DamagedFileError:
        raise
    except JudgeFixturesError as error:
        raise CassetteError(f"the frozen pairs are damaged ({error}) {REMEDY}") from None


@functools.lru_cache(maxsize=4)
def _read_once(path: Path, digest: str) -> Mapping[str, Pair]:  # noqa: ARG001 (a file of other content is another)
    """Return the pairs of a file by id: a run asks for them several times, and of an imported log they are many."""
    return {pair.id: pair for pair in read_pairs(path, Source(path.parent.name, path, balance_positions=False))}


def read_snapshot(folder: Path) -> SampleSnapshot | None:
    """Return what is known of the frozen pairs of a folder; None where nothing is, as for the house sets.

    Raises CassetteError where it does not fit the pairs that lie beside it.
    """
    path, sample = folder / SAMPLE_FILE, read_sample(folder)
    if sample is None:
        return None
    frozen = read_snapshot_pairs(folder)
    changed = [name for name, digest in sample.pairs if name not in frozen or frozen[name].digest != digest]
    if changed:
        raise CassetteError(
            f"{path} and {FILE} beside it do not fit: pair {changed[0]!r} is missing or another one. {REMEDY}"
        )
    return sample


def read_sample(folder: Path) -> SampleSnapshot | None:
    """Return what a folder says of its frozen pairs, whatever pairs are there; None where it says nothing.

    Raises DamagedError for an unresolved merge, CassetteError for any other file that is not a sample.
    """
    return _read_whole(folder / SAMPLE_FILE, parse_snapshot)


def parse_snapshot(path: Path, content: bytes) -> SampleSnapshot:
    """Return the sample that a file's content describes; `path` is for the message of the error."""

    def sample(written: dict[str, Any]) -> SampleSnapshot:
        return SampleSnapshot(**{**written, "pairs": _named_pairs(written["pairs"])})

    return _parsed(path, content, SAMPLE_FORMAT, sample, REMEDY)


def read_closest_snapshot(folder: Path) -> ClosestPairsSnapshot | None:
    """Return the choice that is frozen in a folder; None where there is none.

    Raises DamagedError for an unresolved merge, CassetteError for any other file that is not a choice.
    """
    return _read_whole(folder / CHOICE_FILE, parse_closest_snapshot)


def parse_closest_snapshot(path: Path, content: bytes) -> ClosestPairsSnapshot:
    """Return the choice that a file's content describes; `path` is for the message of the error."""

    def choice(written: dict[str, Any]) -> ClosestPairsSnapshot:
        pool, pairs = written["pool"], _named_pairs(written["pairs"])
        if written["closest"] != len(pairs):
            raise ValueError(f"closest is {written['closest']!r}, and it has {len(pairs)} pairs")
        if type(pool) is not int or pool < len(pairs):
            raise ValueError(f"pool is {pool!r}, not the number of pairs there were to choose from")
        return ClosestPairsSnapshot(pool, pairs, written.get("mark"))

    return _parsed(path, content, CHOICE_FORMAT, choice, CHOICE_REMEDY)


def _read_whole(path: Path, parse: Callable[[Path, bytes], T]) -> T | None:
    """Return what a file holds, None where there is none; raises CassetteError where it cannot be read."""
    try:
        return parse(path, read_bytes(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read: {error.strerror}.") from None


def _parsed(path: Path, content: bytes, number: int, build: Callable[[dict[str, Any]], T], remedy: str) -> T:
    """Return what `build` makes of the object in a file of a format's number, which is left out of it.

    Raises DamagedError for an unresolved merge, CassetteError with the remedy for anything else that is amiss.
    """
    refuse_merge_marks(path, content)
    where = str(path)
    try:
        written = json.loads(content)
        if written.pop("judgefixtures") != number:
            raise ValueError("of another format")
        return build(written)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):
            where = f"{path}:{error.lineno}"
        raise CassetteError(f"{where} cannot be read ({error}). {remedy}") from None


def _named_pairs(written: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs as (id, text digest), each of them once; raises ValueError and the like for anything else."""
    if not isinstance(written, list):
        raise TypeError(f"pairs is a {type(written).__name__}, not a list")
    pairs = tuple((str(pair["id"]), str(pair["digest"])) for pair in written)
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a pair stands in it twice")
    return pairs


def write_snapshot(folder: Path, sample: SampleSnapshot, pairs: Sequence[Pair]) -> None:
    """Keep what is known of the pairs that a folder's recordings are made on: the first ones of a sample.

    Nothing is kept where other pairs are asked, as by a `pairs` fixture of the user's; the same sample with
    fewer pairs changes nothing.
    """
    pair_digests = tuple((pair.id, pair.digest) for pair in whole_pairs(pairs))
    if pair_digests != sample.pairs[: len(pair_digests)]:
        return
    sample = replace(sample, pairs=pair_digests)
    before = or_replaced(lambda: read_snapshot(folder), None)
    if before is None or not before.extends(sample):
        _write_whole(folder / SAMPLE_FILE, {"judgefixtures": SAMPLE_FORMAT, **asdict(sample)})


def write_closest_snapshot(folder: Path, choice: ClosestPairsSnapshot) -> None:
    """Keep a choice in place of the one that was there."""
    about = {"judgefixtures": CHOICE_FORMAT, "closest": len(choice.pairs), **asdict(choice)}
    if choice.mark is None:
        del about["mark"]
    _write_whole(folder / CHOICE_FILE, about)


def _write_whole(path: Path, written: dict[str, Any]) -> None:
    pairs = [{"id": name, "digest": digest} for name, digest in written["pairs"]]
    write_if_changed(path, json.dumps({**written, "pairs": pairs}, ensure_ascii=False, indent=1) + "\n")


def add_snapshot_pairs(folder: Path, pairs: Iterable[Pair]) -> None:
    """Add pairs to the frozen ones of a folder, replacing those that changed; sorted by id.

    Where the responses of a pair are asked about one by one, the pair is what is frozen: to any other judge, too.
    """
    before: dict[str, Pair] = or_replaced(lambda: read_snapshot_pairs(folder), {})
    merged = {id_key(pair.id): pair for pair in (*before.values(), *whole_pairs(pairs))}
    kept = sorted(merged.values(), key=lambda pair: pair.id)
    lines = (json.dumps(pair_to_row(pair), ensure_ascii=False) for pair in kept)
    write_if_changed(folder / FILE, "".join(f"{line}\n" for line in lines))


def changed_fields(old: Pair, new: Pair) -> list[str]:
    """Return the names of the fields in which a pair differs from its frozen self, the columns shown of it included.

    Columns that are not shown of it now, but to somebody else who is asked about it, are none of its fields.
    """
    before, after = pair_to_row(keep_columns(old, new.columns)), pair_to_row(new)
    return [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]


def write_if_changed(path: Path, text: str) -> None:
    """Write a file whole, and only where it changes."""
    content = text.encode()
    with contextlib.suppress(OSError):  # what cannot be read is written, or that says why not
        if read_bytes(path) == content:
            return
    atomic_write(path, content)
