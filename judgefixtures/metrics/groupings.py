"""Groups of answers by length, format or author."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import MODEL, MODELS, NUMBERS, Example, Pair, clusters_of
from judgefixtures.models.text_features import FORMATS, count_words, formats_of
from judgefixtures.statistics.clusters import score_interval, share_interval
from judgefixtures.statistics.estimate import Estimate
from judgefixtures.statistics.score_shift import points_shift

from .contrast_metrics import outcome_share

LENGTH = "length"
THIRDS = ("shortest", "middle", "longest")
LONGER = "longer"
HAS: Mapping[bool, str] = {True: "yes", False: "no"}
Scale = tuple[float, float]


class AnswerShare(NamedTuple):
    """The judge's and people's assessments of an answer in [0, 1], or None.

    For pairs: whether the group's response was chosen.
    """

    pair: Pair
    judge: float | None
    people: float | None


@dataclass(frozen=True)
class AnswerGroup:
    """Answers with a common property.

    Attributes:
        scale: The scale of scores.
        words: The fewest and most words.
    """

    by: str
    name: str
    members: tuple[AnswerShare, ...]
    confidence: float = 0.90
    scale: Scale | None = None
    words: tuple[int, int] | None = None

    @cached_property
    def valid(self) -> tuple[AnswerShare, ...]:
        """The valid assessments."""
        return tuple(each for each in self.members if each.judge is not None)

    @property
    def n(self) -> int:
        """Their number."""
        return len(self.valid)

    @property
    def invalid(self) -> int:
        """The number of invalid answers."""
        return len(self.members) - self.n

    @property
    def clusters(self) -> int | None:
        """The number of related clusters, or None."""
        labels = clusters_of(each.pair for each in self.valid)
        return len(set(labels)) if labels else None

    @property
    def judged(self) -> Estimate | None:
        """The judge's rate or mean score, or None."""
        if not self.valid:
            return None
        shares, labels = [each.judge or 0.0 for each in self.valid], clusters_of(each.pair for each in self.valid)
        if self.scale is None:
            return share_interval(shares, self.confidence, labels)
        estimate, (low, high) = points_shift(shares, self.confidence, labels), self.scale
        ends = (estimate.value, estimate.low, estimate.high)
        value, least, most = (low + (high - low) * min(max(end, 0.0), 1.0) for end in ends)
        return Estimate(value, least, most, self.confidence, estimate.n)

    @property
    def _known(self) -> list[tuple[Pair, float, float]]:
        both = ((each.pair, each.judge, each.people) for each in self.valid)
        return [(pair, judge, people) for pair, judge, people in both if judge is not None and people is not None]

    @property
    def people(self) -> Estimate | None:
        """People's rate, or None."""
        if not (known := self._known):
            return None
        shares, labels = [people for _, _, people in known], clusters_of(pair for pair, _, _ in known)
        return share_interval(shares, self.confidence, labels)

    @property
    def difference(self) -> Estimate | None:
        """The paired difference, or None for scores."""
        if self.scale is not None or not (known := self._known):
            return None
        differences = [judge - people for _, judge, people in known]
        return score_interval(differences, self.confidence, clusters=clusters_of(pair for pair, _, _ in known))


# --- judges of one response ---------------------------------------------------------------------------------------


def example_groups(
    arm: Sequence[Judgment], confidence: float = 0.90, scale: Scale | None = None
) -> tuple[AnswerGroup, ...]:
    """Return a judge's groups of responses by each property.

    Lengths are thirds by words. Common properties give no groups.
    """
    shares = [AnswerShare(each.pair, _graded(each, scale), _passed(each.pair)) for each in arm]
    words = {each.pair.id: count_words(each.pair.response_1) for each in shares}
    formats = {each.pair.id: formats_of(each.pair.response_1) for each in shares}
    third = _thirds(sorted(words.values()))
    groups = list(_split(LENGTH, shares, lambda pair: third(words[pair.id]), THIRDS))
    for name in FORMATS:
        groups += _split(name, shares, _having(name, formats), tuple(HAS.values()))
    # Of a response whose writer is not known nothing can be said by who wrote it.
    written = [each for each in shares if MODEL in each.pair.columns]
    groups += _split(MODEL, written, lambda pair: pair.columns[MODEL])

    def group(by: str, name: str, members: Sequence[AnswerShare]) -> AnswerGroup:
        counts = [words[each.pair.id] for each in members]
        ends = (min(counts), max(counts)) if by == LENGTH else None
        return AnswerGroup(by, name, tuple(members), confidence, scale, ends)

    return tuple(group(*each) for each in groups)


def _having(name: str, formats: Mapping[str, Collection[str]]) -> Callable[[Pair], str]:
    return lambda pair: HAS[name in formats[pair.id]]


def _graded(judgment: Judgment, scale: Scale | None) -> float | None:
    if scale is None:
        return {1: 1.0, 2: 0.0}.get(judgment.selected or 0)
    scores, (low, high) = judgment.verdict.scores, scale
    return None if scores is None else (scores[0] - low) / (high - low)


def _passed(pair: Pair) -> float | None:
    label = pair.label if isinstance(pair, Example) else None
    return None if label is None else float(label == "pass")


def _thirds(counts: Sequence[int]) -> Callable[[int], str]:
    ends = [counts[-(-len(counts) * part // 3) - 1] for part in (1, 2)] if counts else []
    return lambda count: THIRDS[sum(count > end for end in ends)]


def _split(
    by: str, shares: Sequence[AnswerShare], name_of: Callable[[Pair], str], names: Sequence[str] = ()
) -> Iterator[tuple[str, str, list[AnswerShare]]]:
    members: dict[str, list[AnswerShare]] = {name: [] for name in names}
    for each in shares:
        members.setdefault(name_of(each.pair), []).append(each)
    there = {name: of for name, of in members.items() if of}
    if len(there) > 1:
        yield from ((by, name, there[name]) for name in (names or sorted(there)) if name in there)


# --- judges of pairs ----------------------------------------------------------------------------------------------


def pair_groups(arms: Sequence[Sequence[Judgment]], confidence: float = 0.90) -> tuple[AnswerGroup, ...]:
    """Return the groups of pairs in which one response has a property.

    Choices are averaged over orders.
    """
    judgments_by_pair: dict[str, list[Judgment]] = {}
    for each in (each for arm in arms for each in arm):
        judgments_by_pair.setdefault(each.pair.id, []).append(each)
    members: dict[tuple[str, str], list[AnswerShare]] = {}
    for orders in judgments_by_pair.values():
        for place, number in _alone(orders[0].pair).items():
            members.setdefault(place, []).append(_chosen(orders, number))
    models = sorted(place for place in members if place[0] == MODEL)
    places = [(LENGTH, LONGER), *((name, HAS[True]) for name in FORMATS), *models]
    return tuple(AnswerGroup(*place, tuple(members[place]), confidence) for place in places if place in members)


def _alone(pair: Pair) -> dict[tuple[str, str], int]:
    texts = (pair.response_1, pair.response_2)
    words, formats = [count_words(text) for text in texts], [formats_of(text) for text in texts]
    has = {(LENGTH, LONGER): [words[0] > words[1], words[1] > words[0]]}
    has |= {(name, HAS[True]): [name in each for each in formats] for name in FORMATS}
    if all(name in pair.columns for name in MODELS):
        writers = [pair.columns[name] for name in MODELS]
        has |= {(MODEL, model): [model == each for each in writers] for model in writers}
    return {place: NUMBERS[each.index(True)] for place, each in has.items() if sum(each) == 1}


def _chosen(orders: Sequence[Judgment], number: int) -> AnswerShare:
    pair = orders[0].pair
    shares = [outcome_share(each, "chose-own-first") for each in orders]
    whole = [share if number == 1 else 1 - share for share in shares if share is not None]
    judge = sum(whole) / len(shares) if len(whole) == len(shares) else None
    return AnswerShare(pair, judge, None if pair.gold is None else float(pair.gold == number))
