"""Preferences for the sample pairs: log-odds that blind readers prefer response 1.

The readers are language model sessions.
"""

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judgefixtures.models.pairs import Example, Pair, sample_order
from judgefixtures.models.published import PAIRS
from judgefixtures.sources import BUILT_IN_SOURCES, Source, read_pairs
from judgefixtures.sources.source import DATA

from .drawn import cached_once, draw_uniform

TWINS = ("house-control", "house-control-stories")  # plainly right or wrong: every judge tells them, whatever its rates
RANKED_TOGETHER = PAIRS  # pairs without gold: what the published rates are exact on
CLEAR = math.log(60.5 / 0.5)
CLEARLY = 2  # so often at most a pair of a clear set was read: all that read it agree


def log_odds(first: float, second: float) -> float:
    """Return the log-odds of two vote counts, each plus one half.

    >>> log_odds(3, 3), round(log_odds(4, 2), 2)
    (0.0, 0.59)
    """
    return math.log((first + 0.5) / (second + 0.5))


@cached_once
def latent_differences(name: str) -> Mapping[str, float]:
    """Return a set's latent differences by pair id."""
    votes: dict[str, list[int]] = {}
    for line in (DATA / f"{name}.reading.jsonl").read_text(encoding="utf-8").splitlines():
        reading = json.loads(line)
        votes.setdefault(reading["id"], []).append(reading["choice"])
    return MappingProxyType({pair: _difference(choices) for pair, choices in votes.items()})


def _difference(choices: list[int]) -> float:
    if len(choices) <= CLEARLY and len({*choices}) == 1:
        return CLEAR if choices[0] == 1 else -CLEAR
    return log_odds(choices.count(1), choices.count(2))


@cached_once
def house_set(name: str) -> tuple[Pair, ...]:
    """Return a sample set in run order."""
    return sample_order(read_pairs(Source(name).file, Source(name)), 0)


@cached_once
def house_sets() -> Mapping[str, tuple[Pair, ...]]:
    """Return the sample sets of pairs in run order."""
    sets = {name: house_set(name) for name in BUILT_IN_SOURCES}
    return {name: pairs for name, pairs in sets.items() if not isinstance(pairs[0], Example)}


@dataclass(frozen=True, slots=True)
class HousePair:
    """A sample pair with its lean and latent difference."""

    pair: Pair
    lean: float
    difference: float


@cached_once
def pairs_by_lean(separation: float) -> Mapping[str, list[HousePair]]:
    """Return the sample pairs by question, with their lean (rank).

    Pairs without gold are ranked by readers within each hundred.
    """
    leans: dict[str, list[HousePair]] = {}
    for name, pairs in house_sets().items():
        latent = latent_differences(name)
        for start in range(0, len(pairs), RANKED_TOGETHER if pairs[0].gold is None else len(pairs)):
            together = pairs[start : start + RANKED_TOGETHER] if pairs[0].gold is None else pairs
            for rank, pair in enumerate(sorted(together, key=functools.partial(_rank, separation, latent))):
                lean = float(pair.gold == 2) if name in TWINS else (rank + 0.5) / len(together)
                known = HousePair(pair, lean, latent[pair.id])
                leans.setdefault(pair.question.partition("\n")[0], []).append(known)
    return leans


def _rank(separation: float, latent: Mapping[str, float], pair: Pair) -> tuple[float, float]:
    chance = draw_uniform("rank", pair.question) * 0.999
    return (-latent[pair.id], chance) if pair.gold is None else ((pair.gold == 2) * separation + chance, 0.0)
