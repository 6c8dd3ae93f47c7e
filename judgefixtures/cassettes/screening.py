"""Which pairs were chosen as the closest for a judge, frozen beside its recordings in closest.json.

A choice that is frozen stays what it is when the answers that it was made from are recorded anew. How pairs are chosen
is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from judgefixtures.cassettes.frozen import named_pairs, parsed, read_whole, write_changed
from judgefixtures.material.pairs import Pair

CHOICE_FILE = "closest.json"
CHOICE_FORMAT = 1
REMEDY = "Restore it, or remove it: then --judge-record missing chooses anew, from what is recorded."


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
    return read_whole(folder / CHOICE_FILE, parsed_choice)


def parsed_choice(path: Path, content: bytes) -> FrozenChoice:
    """Return the choice that a file's content describes; `path` is for the message of the error."""

    def choice(written: dict[str, Any]) -> FrozenChoice:
        pool, pairs = written["pool"], named_pairs(written["pairs"])
        if written["closest"] != len(pairs):
            raise ValueError(f"closest is {written['closest']!r}, and it has {len(pairs)} pairs")
        if type(pool) is not int or pool < len(pairs):
            raise ValueError(f"pool is {pool!r}, not the number of pairs there were to choose from")
        return FrozenChoice(pool, pairs)

    return parsed(path, content, CHOICE_FORMAT, choice, REMEDY)


def freeze_choice(folder: Path, choice: FrozenChoice) -> None:
    """Keep a choice in place of the one that was there."""
    written = {
        "judgefixtures": CHOICE_FORMAT,
        "closest": len(choice.pairs),
        "pool": choice.pool,
        "pairs": [{"id": name, "digest": digest} for name, digest in choice.pairs],
    }
    write_changed(folder / CHOICE_FILE, json.dumps(written, ensure_ascii=False, indent=1) + "\n")
