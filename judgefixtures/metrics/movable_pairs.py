"""Close pairs: which pairs could go either way for a judge."""

from collections.abc import Iterable, Mapping

from judgefixtures.statistics.estimate import Estimate
from judgefixtures.statistics.proportions import proportion

from .contrast_metrics import Judgments


def chosen_responses(arm: Judgments) -> dict[str, int]:
    """Return the pair's own response chosen by pair id, 0 for a tie."""
    return {judgment.pair.id: judgment.chosen for judgment in arm if judgment.chosen is not None}


# A pair is close for a judge whose probability of choosing its response 1 lies between these.
OPEN = (0.1, 0.9)


def movable_share(
    arms: Iterable[Mapping[str, int]],
    pairs: Iterable[str],
    confidence: float = 0.90,
    likely: Iterable[Mapping[str, float]] = (),
) -> Estimate | None:
    """Return the share of close pairs with Wilson's interval, or None.

    Close: a mean probability in [0.1, 0.9], else differing verdicts or a tie. `arms` are choices and `likely`
    probabilities of response 1, by pair id.

    >>> movable_share([{"a": 1, "b": 1, "c": 2}, {"a": 2, "b": 1}], "abc").value
    0.5
    >>> movable_share([{"a": 1, "b": 1}], "ab", likely=[{"a": 0.8, "b": 0.99}]).value
    0.5
    """
    close = close_pairs(arms, pairs, likely)
    return proportion(sum(close.values()), len(close), confidence) if close else None


def close_pairs(
    arms: Iterable[Mapping[str, int]], pairs: Iterable[str], likely: Iterable[Mapping[str, float]] = ()
) -> dict[str, bool]:
    """Return whether each pair is close, if known; arguments as in `movable_share`.

    >>> close_pairs([{"a": 1, "b": 1, "c": 2}, {"a": 2, "b": 1}], "abc")
    {'a': True, 'b': False}
    """
    choices_by_arm, known = tuple(arms), tuple(likely)
    close = {}
    for pair in pairs:
        chances = [arm[pair] for arm in known if pair in arm]
        choices = [arm[pair] for arm in choices_by_arm if pair in arm]
        if chances:
            close[pair] = OPEN[0] <= sum(chances) / len(chances) <= OPEN[1]
        elif len(choices) > 1 or 0 in choices:
            close[pair] = len(set(choices)) > 1 or 0 in choices
    return close
