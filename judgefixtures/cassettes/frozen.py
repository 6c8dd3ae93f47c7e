"""The pairs that a judge's recordings were made on, frozen beside them, so that CI needs no dataset hub.

pairs.jsonl holds the pairs; sample.json says which sample they are: from where, of which commit, with which seed;
closest.json which of them were chosen as the closest for a judge. A choice stays what it is when the answers that it
was made from are recorded anew; how pairs are chosen is not known here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from judgefixtures.cassettes.files import CassetteError, DamagedError, atomic_write, refuse_merge_marks
from judgefixtures.material.pairs import Pair, as_row, whole, with_columns
from judgefixtures.sources import Source, read_pairs
from judgefixtures.words.errors import JudgeFixturesError

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
class FrozenSample:
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
class FrozenChoice:
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


def has_frozen(folder: Path) -> bool:
    """Tell whether pairs, or what is known of them, are frozen in a folder, readable or not."""
    return (folder / FILE).exists() or (folder / SAMPLE_FILE).exists()


def frozen_pairs(folder: Path) -> dict[str, Pair]:
    """Return the pairs frozen in a judge's dataset folder by id, in order; empty where there are none.

    Raises DamagedError for an unresolved merge, CassetteError for any other line that is not a pair of its own.
    """
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        content = path.read_bytes()
        refuse_merge_marks(path, content)
        return dict(_read_once(path, hashlib.sha256(content).hexdigest()))
    except DamagedError:
        raise
    except JudgeFixturesError as error:
        raise CassetteError(f"the frozen pairs are damaged ({error}) {REMEDY}") from None


@functools.lru_cache(maxsize=4)
def _read_once(path: Path, digest: str) -> Mapping[str, Pair]:  # noqa: ARG001 (a file of other content is another)
    """Return the pairs of a file by id: a run asks for them several times, and of an imported log they are many."""
    return {pair.id: pair for pair in read_pairs(path, Source(path.parent.name, path, balance_positions=False))}


def frozen_sample(folder: Path) -> FrozenSample | None:
    """Return what is known of the frozen pairs of a folder; None where nothing is, as for the house sets.

    Raises CassetteError where it does not fit the pairs that lie beside it.
    """
    path, sample = folder / SAMPLE_FILE, read_sample(folder)
    if sample is None:
        return None
    frozen = frozen_pairs(folder)
    changed = [name for name, digest in sample.pairs if name not in frozen or frozen[name].digest != digest]
    if changed:
        raise CassetteError(
            f"{path} and {FILE} beside it do not fit: pair {changed[0]!r} is missing or another one. {REMEDY}"
        )
    return sample


def read_sample(folder: Path) -> FrozenSample | None:
    """Return what a folder says of its frozen pairs, whatever pairs are there; None where it says nothing.

    Raises DamagedError for an unresolved merge, CassetteError for any other file that is not a sample.
    """
    return _read_whole(folder / SAMPLE_FILE, parsed_sample)


def parsed_sample(path: Path, content: bytes) -> FrozenSample:
    """Return the sample that a file's content describes; `path` is for the message of the error."""

    def sample(written: dict[str, Any]) -> FrozenSample:
        return FrozenSample(**{**written, "pairs": _named_pairs(written["pairs"])})

    return _parsed(path, content, SAMPLE_FORMAT, sample, REMEDY)


def frozen_choice(folder: Path) -> FrozenChoice | None:
    """Return the choice that is frozen in a folder; None where there is none.

    Raises DamagedError for an unresolved merge, CassetteError for any other file that is not a choice.
    """
    return _read_whole(folder / CHOICE_FILE, parsed_choice)


def parsed_choice(path: Path, content: bytes) -> FrozenChoice:
    """Return the choice that a file's content describes; `path` is for the message of the error."""

    def choice(written: dict[str, Any]) -> FrozenChoice:
        pool, pairs = written["pool"], _named_pairs(written["pairs"])
        if written["closest"] != len(pairs):
            raise ValueError(f"closest is {written['closest']!r}, and it has {len(pairs)} pairs")
        if type(pool) is not int or pool < len(pairs):
            raise ValueError(f"pool is {pool!r}, not the number of pairs there were to choose from")
        return FrozenChoice(pool, pairs, written.get("mark"))

    return _parsed(path, content, CHOICE_FORMAT, choice, CHOICE_REMEDY)


def _read_whole(path: Path, parse: Callable[[Path, bytes], T]) -> T | None:
    """Return what a file holds, None where there is none; raises CassetteError where it cannot be read."""
    try:
        return parse(path, path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}.") from None


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


def freeze_sample(folder: Path, sample: FrozenSample, pairs: Sequence[Pair]) -> None:
    """Keep what is known of the pairs that a folder's recordings are made on: the first ones of a sample.

    Nothing is kept where other pairs are asked, as by a `pairs` fixture of the user's; the same sample with
    fewer pairs changes nothing.
    """
    asked = tuple((pair.id, pair.digest) for pair in whole(pairs))
    if asked != sample.pairs[: len(asked)]:
        return
    sample = replace(sample, pairs=asked)
    try:
        before = frozen_sample(folder)
    except DamagedError:
        raise
    except CassetteError:
        before = None  # what was there is replaced now
    if before is None or not before.extends(sample):
        _write_whole(folder / SAMPLE_FILE, {"judgefixtures": SAMPLE_FORMAT, **asdict(sample)})


def freeze_choice(folder: Path, choice: FrozenChoice) -> None:
    """Keep a choice in place of the one that was there."""
    about = {"judgefixtures": CHOICE_FORMAT, "closest": len(choice.pairs), **asdict(choice)}
    if choice.mark is None:
        del about["mark"]
    _write_whole(folder / CHOICE_FILE, about)


def _write_whole(path: Path, written: dict[str, Any]) -> None:
    pairs = [{"id": name, "digest": digest} for name, digest in written["pairs"]]
    write_changed(path, json.dumps({**written, "pairs": pairs}, ensure_ascii=False, indent=1) + "\n")


def freeze(folder: Path, pairs: Iterable[Pair]) -> None:
    """Add pairs to the frozen ones of a folder, replacing those that changed; sorted by id.

    Where the responses of a pair are asked about one by one, the pair is what is frozen: to any other judge, too.
    """
    try:
        before = frozen_pairs(folder)
    except DamagedError:
        raise
    except CassetteError:
        before = {}  # what was there is replaced now
    merged = {**before, **{pair.id: pair for pair in whole(pairs)}}
    lines = (json.dumps(as_row(merged[key]), ensure_ascii=False) for key in sorted(merged))
    write_changed(folder / FILE, "".join(f"{line}\n" for line in lines))


def changed_fields(old: Pair, new: Pair) -> list[str]:
    """Return the names of the fields in which a pair differs from its frozen self, the columns shown of it included.

    Columns that are not shown of it now, but to somebody else who is asked about it, are none of its fields.
    """
    before, after = as_row(with_columns(old, new.columns)), as_row(new)
    return [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]


def write_changed(path: Path, text: str) -> None:
    """Write a file whole, and only where it changes."""
    content = text.encode()
    with contextlib.suppress(OSError):  # what cannot be read is written, or that says why not
        if path.read_bytes() == content:
            return
    atomic_write(path, content)
