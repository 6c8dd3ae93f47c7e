"""Which pairs were chosen as the closest for a judge, frozen beside its recordings in closest.json.

A choice that is frozen stays what it is when the answers that it was made from are recorded anew. How pairs are chosen
is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from judgefixtures.cassettes.files import CassetteError, refuse_merge_marks
from judgefixtures.cassettes.frozen import write_changed
from judgefixtures.pairs import Pair

CHOICE_FILE = "closest.json"
CHOICE_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FrozenChoice:
    """The closest pairs as (id, text digest), the closest one first, and how many there were to choose from."""

    pool: int
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, pool: int, pairs: Iterable[Pair]) -> Self:
        """Return the choice of some pairs."""
        return cls(pool, tuple((pair.id, pair.digest) for pair in pairs))

    def extends(self, other: Self) -> bool:
        """Tell whether this is the other choice, or the same one with more pairs."""
        return self.pairs[: len(other.pairs)] == other.pairs


def frozen_choice(folder: Path) -> FrozenChoice | None:
    """Return the choice that is frozen in a folder; None where there is none.

    Raises DamagedError for an unresolved merge, CassetteError for any other file that is not a choice.
    """
    path = folder / CHOICE_FILE
    try:
        return parsed_choice(path, path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}.") from None


def parsed_choice(path: Path, content: bytes) -> FrozenChoice:
    """Return the choice that a file's content describes; `path` is for the message of the error."""
    refuse_merge_marks(path, content)
    try:
        written = json.loads(content)
        if written["judgefixtures"] != CHOICE_FORMAT:
            raise ValueError("of another format")
        pairs = tuple((str(pair["id"]), str(pair["digest"])) for pair in written["pairs"])
        if len({name for name, _ in pairs}) != len(pairs) or written["closest"] != len(pairs):
            raise ValueError("a pair stands in it twice, or is missing")
        return FrozenChoice(int(written["pool"]), pairs)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CassetteError(
            f"{path} cannot be read ({error}). Restore it, or remove it: then --judge-record missing chooses "
            "anew, from what is recorded."
        ) from None


def freeze_choice(folder: Path, choice: FrozenChoice) -> None:
    """Keep a choice in place of the one that was there."""
    written = {
        "judgefixtures": CHOICE_FORMAT,
        "closest": len(choice.pairs),
        "pool": choice.pool,
        "pairs": [{"id": name, "digest": digest} for name, digest in choice.pairs],
    }
    write_changed(folder / CHOICE_FILE, json.dumps(written, ensure_ascii=False, indent=1) + "\n")
