"""What simulated judges say, and chance that texts decide, so that a judge answers a prompt as it did before."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence

from judgefixtures.sources.described import DATA

SAYS = tomllib.loads((DATA / "simulated.toml").read_text(encoding="utf-8"))


def one_of(texts: Sequence[str], *decided_by: str) -> str:
    """Return one of some texts, always the same for the texts that decide."""
    return texts[int(uniform(*decided_by) * len(texts))]


def uniform(*texts: str) -> float:
    """Return a number in [0, 1) that the texts decide."""
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
