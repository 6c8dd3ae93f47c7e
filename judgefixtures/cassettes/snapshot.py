"""Snapshot of a recording's pairs (pairs.jsonl, sample.json, closest.json)."""

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

from .file_names import CHOICE_FILE, PAIRS_FILE, SAMPLE_FILE
from .files import CassetteError, DamagedFileError, atomic_write, or_replaced, refuse_merge_marks

SAMPLE_FORMAT = 1
CHOICE_FORMAT = 1
# Answers are found by what was asked, so that nothing is asked again about pairs that the dataset still has.
REMEDY = (
    f"Restore {PAIRS_FILE} and {SAMPLE_FILE}, or delete both: --judge-record missing writes them anew, from the "
    "dataset, and asks only what no recording answers."
)

CHOICE_REMEDY = "Restore it, or remove it: then --judge-record missing chooses anew, from what is recorded."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SampleSnapshot:
    """A sample's source and its pairs as (id, text digest).

    `selection` is the deciding configuration, `available` the pool size.
    """

    selection: Mapping[str, Any]
    seed: int
    available: int
    pairs: tuple[tuple[str, str], ...]
    left_out: Mapping[str, int]
    revision: str | None = None
    licence: str | None = None

    def extends(self, other: Self) -> bool:
        """Return whether this sample begins with the other."""
        return replace(self, pairs=self.pairs[: len(other.pairs)]) == other


@dataclass(frozen=True, slots=True)
class ClosestPairsSnapshot:
    """The closest pairs as (id, text digest), closest first.

    `mark` is the pass mark, if any.
    """

    pool: int
    pairs: tuple[tuple[str, str], ...]
    mark: float | None = None

    @classmethod
    def of(cls, pool: int, pairs: Iterable[Pair], mark: float | None = None) -> Self:
        """Return the snapshot of these pairs."""
        return cls(pool, tuple((pair.id, pair.digest) for pair in pairs), mark)

    def extends(self, other: Self) -> bool:
        """Return whether this choice begins with the other."""
        return self.mark == other.mark and self.pairs[: len(other.pairs)] == other.pairs


def has_snapshot(folder: Path) -> bool:
    """Return whether a folder has a snapshot, readable or not."""
    return (folder / PAIRS_FILE).exists() or (folder / SAMPLE_FILE).exists()


def read_snapshot_pairs(folder: Path) -> dict[str, Pair]:
    """Return a folder's frozen pairs by id, in order.

    Raises:
        DamagedFileError: An unresolved merge.
        CassetteError: Any other invalid line.
    """
    path = folder / PAIRS_FILE
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
    return {pair.id: pair for pair in read_pairs(path, Source(path.parent.name, path, balance_positions=False))}


def read_snapshot(folder: Path) -> SampleSnapshot | None:
    """Return a folder's sample, or None; CassetteError if its pairs differ."""
    path, sample = folder / SAMPLE_FILE, read_sample(folder)
    if sample is None:
        return None
    frozen = read_snapshot_pairs(folder)
    changed = [name for name, digest in sample.pairs if name not in frozen or frozen[name].digest != digest]
    if changed:
        raise CassetteError(
            f"{path} and {PAIRS_FILE} beside it do not fit: pair {changed[0]!r} is missing or another one. {REMEDY}"
        )
    return sample


def read_sample(folder: Path) -> SampleSnapshot | None:
    """Return a folder's sample regardless of its pairs, or None.

    Errors as in `read_snapshot_pairs`.
    """
    return _read_whole(folder / SAMPLE_FILE, parse_snapshot)


def parse_snapshot(path: Path, content: bytes) -> SampleSnapshot:
    """Return the sample in a file's content."""

    def sample(written: dict[str, Any]) -> SampleSnapshot:
        return SampleSnapshot(**{**written, "pairs": _named_pairs(written["pairs"])})

    return _parsed(path, content, SAMPLE_FORMAT, sample, REMEDY)


def read_closest_snapshot(folder: Path) -> ClosestPairsSnapshot | None:
    """Return a folder's closest pairs, or None.

    Errors as in `read_snapshot_pairs`.
    """
    return _read_whole(folder / CHOICE_FILE, parse_closest_snapshot)


def parse_closest_snapshot(path: Path, content: bytes) -> ClosestPairsSnapshot:
    """Return the closest pairs in a file's content."""

    def choice(written: dict[str, Any]) -> ClosestPairsSnapshot:
        pool, pairs = written["pool"], _named_pairs(written["pairs"])
        if written["closest"] != len(pairs):
            raise ValueError(f"closest is {written['closest']!r}, and it has {len(pairs)} pairs")
        if type(pool) is not int or pool < len(pairs):
            raise ValueError(f"pool is {pool!r}, not the number of pairs there were to choose from")
        return ClosestPairsSnapshot(pool, pairs, written.get("mark"))

    return _parsed(path, content, CHOICE_FORMAT, choice, CHOICE_REMEDY)


def _read_whole(path: Path, parse: Callable[[Path, bytes], T]) -> T | None:
    try:
        return parse(path, read_bytes(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read: {error.strerror}.") from None


def _parsed(path: Path, content: bytes, number: int, build: Callable[[dict[str, Any]], T], remedy: str) -> T:
    """Return a file's built content, or raise DamagedFileError or CassetteError."""
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
    if not isinstance(written, list):
        raise TypeError(f"pairs is a {type(written).__name__}, not a list")
    pairs = tuple((str(pair["id"]), str(pair["digest"])) for pair in written)
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a pair stands in it twice")
    return pairs


def write_snapshot(folder: Path, sample: SampleSnapshot, pairs: Sequence[Pair]) -> None:
    """Write a sample's first pairs, unless other pairs are asked."""
    pair_digests = tuple((pair.id, pair.digest) for pair in whole_pairs(pairs))
    if pair_digests != sample.pairs[: len(pair_digests)]:
        return
    sample = replace(sample, pairs=pair_digests)
    before = or_replaced(lambda: read_snapshot(folder), None)
    if before is None or not before.extends(sample):
        _write_whole(folder / SAMPLE_FILE, {"judgefixtures": SAMPLE_FORMAT, **asdict(sample)})


def write_closest_snapshot(folder: Path, choice: ClosestPairsSnapshot) -> None:
    """Replace the closest pairs."""
    about = {"judgefixtures": CHOICE_FORMAT, "closest": len(choice.pairs), **asdict(choice)}
    if choice.mark is None:
        del about["mark"]
    _write_whole(folder / CHOICE_FILE, about)


def _write_whole(path: Path, written: dict[str, Any]) -> None:
    pairs = [{"id": name, "digest": digest} for name, digest in written["pairs"]]
    write_if_changed(path, json.dumps({**written, "pairs": pairs}, ensure_ascii=False, indent=1) + "\n")


def add_snapshot_pairs(folder: Path, pairs: Iterable[Pair]) -> None:
    """Add or replace frozen pairs, sorted by id."""
    before: dict[str, Pair] = or_replaced(lambda: read_snapshot_pairs(folder), {})
    merged = {id_key(pair.id): pair for pair in (*before.values(), *whole_pairs(pairs))}
    kept = sorted(merged.values(), key=lambda pair: pair.id)
    lines = (json.dumps(pair_to_row(pair, values=True), ensure_ascii=False, default=str) for pair in kept)
    write_if_changed(folder / PAIRS_FILE, "".join(f"{line}\n" for line in lines))


def changed_fields(old: Pair, new: Pair) -> list[str]:
    """Return the fields, with shown columns, that changed in a pair."""
    before, after = pair_to_row(keep_columns(old, new.columns)), pair_to_row(new)
    return [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]


def write_if_changed(path: Path, text: str) -> None:
    """Write a file only if its text changes."""
    content = text.encode()
    with contextlib.suppress(OSError):  # what cannot be read is written, or that says why not
        if read_bytes(path) == content:
            return
    atomic_write(path, content)
