"""How close a house pair is: the log odds with which readers who did not know its source prefer its response 1.

Read off the blind readings that are shipped beside each set. Of a close set every pair was read six times, of a clear
one once, or twice with one outcome; what one reader called clear there, another chose again in 60 of 60 pairs.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from types import MappingProxyType

from judgefixtures.sources.described import DATA

CLEAR = math.log(60.5 / 0.5)
CLEARLY = 2  # so often at most a pair of a clear set was read: all that read it agree


def log_odds(first: float, second: float) -> float:
    """Return the log odds of votes for response 1 against those for response 2, half a vote added to each.

    >>> log_odds(3, 3), round(log_odds(4, 2), 2)
    (0.0, 0.59)
    """
    return math.log((first + 0.5) / (second + 0.5))


@functools.cache
def differences(name: str) -> Mapping[str, float]:
    """Return the latent difference of each pair of a house set by id: above 0 where readers prefer response 1."""
    votes: dict[str, list[int]] = {}
    for line in (DATA / f"{name}.reading.jsonl").read_text(encoding="utf-8").splitlines():
        reading = json.loads(line)
        votes.setdefault(reading["id"], []).append(reading["choice"])
    return MappingProxyType({pair: _difference(choices) for pair, choices in votes.items()})


def _difference(choices: list[int]) -> float:
    if len(choices) <= CLEARLY:
        return CLEAR if choices[0] == 1 else -CLEAR
    return log_odds(choices.count(1), choices.count(2))
