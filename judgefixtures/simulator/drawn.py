"""Pseudo-random draws that depend only on texts, and a cache for threads."""

import functools
import hashlib
import threading
import tomllib
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from judgefixtures.sources.source import DATA

P = ParamSpec("P")
T = TypeVar("T")
SAYS = tomllib.loads((DATA / "simulated.toml").read_text(encoding="utf-8"))


def draw_text(texts: Sequence[str], *decided_by: str) -> str:
    """Return one of the texts, decided by other texts."""
    return texts[int(draw_uniform(*decided_by) * len(texts))]


# In how much of what is not clear a judge that goes by the words of its prompt says the contrary: two prompts that mean
# the same then differ in 2 * .25 * .75, that is in .375 of it.
WORDED = 0.25


def draw_uniform(*texts: str) -> float:
    """Return a number in [0, 1), decided by texts."""
    digest = hashlib.sha256("\0".join(texts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


_MAKING = threading.RLock()  # one for all: what is made may need what another one makes


def cached_once(make: Callable[P, T]) -> Callable[P, T]:
    """Return a cached function; one thread computes each result."""
    kept: Callable[..., T] = functools.cache(make)

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        with _MAKING:
            return kept(*args, **kwargs)

    return made
