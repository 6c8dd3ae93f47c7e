"""Evidence that the answers to the same prompts changed since the recording (e-values).

docs/explanation/canary.md explains the e-values, which hold for any number of runs (Ville's inequality).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .explanations import SHAPES, Explanation, log_mean, log_sum, other_explanation

SHARES = (0.9, 0.5, 0.2, 0.05)  # of the prompts whose answers vary: how many of them a change moves
NOTICED = math.log(5)  # evidence against chance that is held against explanations: less of it never makes an alarm
FIRST = 0.5  # that a change, if there is one, came between the recordings and the first run


@dataclass(frozen=True, slots=True)
class AnswerStream:
    """The answers to one prompt in order, a character each: recorded, then by run.

    "" is a run without an answer. `days` are the recorded answers by day.
    """

    recorded: str
    runs: tuple[str, ...]
    days: tuple[str, ...] = ()

    @property
    def usual(self) -> str:
        """The most frequent answer, first in the alphabet if tied."""
        answers = self.all
        return min(set(answers), key=lambda answer: (-answers.count(answer), answer), default="")

    @property
    def all(self) -> str:
        """Every answer, in order."""
        return self.recorded + "".join(self.runs)


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The likeliest change.

    Attributes:
        since: Number of runs before it.
        moved: Probability by prompt that it moved.
    """

    since: int
    moved: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Cuts:
    """A prompt's numbers of answers and unusual ones, before each cut."""

    place: int
    answers: int
    unusual: int
    before: tuple[tuple[int, int], ...]  # per cut: answers, unusual ones

    def counts(self, cut: int) -> tuple[int, int, int, int]:
        answers, unusual = self.before[cut]
        return unusual, answers, self.unusual, self.answers


@dataclass(frozen=True, slots=True)
class ChangeEvidence:
    """Evidence for a change.

    Attributes:
        chance: Natural logarithm of the evidence against unchanged answers.
        explanation: Another explanation that fits as well.
    """

    chance: float
    explanation: Explanation | None = None

    @property
    def log_e(self) -> float:
        """The natural logarithm of the last run's e-value."""
        return self.chance if self.explanation is None else 0.0


def log_e_value(streams: Sequence[AnswerStream]) -> float:
    """Return the natural logarithm of the last run's e-value.

    Raises:
        ValueError: No run.

    >>> quiet, turned = [AnswerStream("1", ("1",) * 9)] * 50, [AnswerStream("1", ("2",) * 9)] * 10
    >>> round(log_e_value([*quiet, *quiet[:10]]), 9) + 0, log_e_value([*quiet, *turned]) > 9
    (0.0, True)
    """
    return weigh_evidence(streams).log_e


def weigh_evidence(streams: Sequence[AnswerStream]) -> ChangeEvidence:
    """Return the evidence for a change; raises ValueError without a run."""
    runs, varied = _runs(streams), _varied(streams)
    chance = log_sum([math.log(weight) + log_mean(_likely(varied, cut)) for cut, weight in _weights(runs)])
    if chance < NOTICED:
        return ChangeEvidence(chance)
    recorded = max(len(stream.days) for stream in streams) or 1
    prompts = Counter(_days(stream, recorded, runs) for stream in streams)
    return ChangeEvidence(chance, other_explanation(prompts, recorded, sorted(cut for cut, _ in _weights(runs))))


def _days(stream: AnswerStream, recorded: int, runs: int) -> tuple[tuple[int, int], ...]:
    known, usual = stream.days or (stream.recorded,), stream.usual
    days = (*known, *[""] * (recorded - len(known)), *stream.runs, *[""] * (runs - len(stream.runs)))
    return tuple((len(day), len(day) - (day.count(usual) if usual else 0)) for day in days)


def likeliest_change(streams: Sequence[AnswerStream]) -> ChangePoint:
    """Return the likeliest change; raises ValueError without a run.

    >>> likeliest_change([*[AnswerStream("1", ("1", "1", "1"))] * 2, *[AnswerStream("1", ("1", "2", "2"))] * 3]).since
    1
    """
    runs, varied = _runs(streams), _varied(streams)
    since = max(range(runs), key=lambda cut: log_mean(_likely(varied, cut)))
    moved = [0.0] * len(streams)
    for cuts in varied:
        odds = e_value_of_prompt(*cuts.counts(since))
        moved[cuts.place] = odds / (1 + odds)
    return ChangePoint(since, tuple(moved))


def _runs(streams: Sequence[AnswerStream]) -> int:
    runs = max((len(stream.runs) for stream in streams), default=0)
    if not runs:
        raise ValueError("there is no run to look at")
    return runs


def _varied(streams: Sequence[AnswerStream]) -> list[_Cuts]:
    return [cuts for place, stream in enumerate(streams) if (cuts := _cuts(place, stream)) is not None]


def total_log_e_value(log_e_values: Iterable[float]) -> float:
    """Return the logarithm of the evidence from all e-values of the runs.

    Run d has weight 1/sqrt(d) - 1/sqrt(d + 1).

    >>> round(math.exp(total_log_e_value([0.0] * 3)), 10)
    0.5
    """
    parts = [value + math.log(run**-0.5 - (run + 1) ** -0.5) for run, value in enumerate(log_e_values, 1)]
    return log_sum(parts) if parts else -math.inf


def _cuts(place: int, stream: AnswerStream) -> _Cuts | None:
    all_answers = stream.all
    if all_answers.count(all_answers[:1]) == len(all_answers):
        return None
    usual = stream.usual
    answers, unusual = len(stream.recorded), len(stream.recorded) - stream.recorded.count(usual)
    before = []
    for run in stream.runs:
        before.append((answers, unusual))
        answers, unusual = answers + len(run), unusual + len(run) - run.count(usual)
    return _Cuts(place, answers, unusual, tuple(before))


def _likely(varied: Sequence[_Cuts], cut: int) -> list[float]:
    parts = [_log_shares(*cuts.counts(cut)) for cuts in varied]
    return [math.fsum(part) for part in zip(*parts, strict=True)] or [0.0] * len(SHARES)


@lru_cache(maxsize=2**18)
def _log_shares(j: int, before: int, unusual: int, answers: int) -> tuple[float, ...]:
    gain = e_value_of_prompt(j, before, unusual, answers) - 1
    return tuple(math.log1p(share * gain) for share in SHARES)


@lru_cache(maxsize=2**10)
def _weights(runs: int) -> tuple[tuple[int, float], ...]:
    """Return the inspected cuts with weights: all ages up to eight, then quarter steps."""
    ages, age = [], 1
    while age < runs:
        ages.append(age)
        age = max(age + 1, age * 5 // 4)
    if not ages:
        return ((0, 1.0),)
    weighed = math.fsum(1 / (place + 1) for place in range(len(ages)))
    later = ((runs - age, (1 - FIRST) / (place + 1) / weighed) for place, age in enumerate(ages))
    return ((0, FIRST), *later)


@lru_cache(maxsize=2**18)
def e_value_of_prompt(j: int, before: int, unusual: int, answers: int) -> float:
    """Return the e-value L(j) of a prompt.

    L(j) = C(N, T) h(j) / sum over i of C(b, i) C(N - b, T - i) h(i), with h(j) = B(a + j, a + b - j) B(a + T - j, a + N
    - b - T + j): N answers, T of them unusual, b before the change, and j unusual before it.

    >>> [round(e_value_of_prompt(j, 1, 1, 11), 2) for j in (0, 1)]
    [0.27, 8.34]
    """
    after, late = answers - before, unusual - j
    places = _log_choose(before, j) + _log_choose(after, late) - _log_choose(answers, unusual)
    log_ratios = (
        _log_ways(j, before, unusual, answers, shape) - _log_norm(before, unusual, answers, shape) - places
        for shape in SHAPES
    )
    return sum(map(math.exp, log_ratios)) / len(SHAPES)


@lru_cache(maxsize=2**18)
def _log_norm(before: int, unusual: int, answers: int, shape: float) -> float:
    first, last = max(0, unusual + before - answers), min(before, unusual)
    return log_sum([_log_ways(j, before, unusual, answers, shape) for j in range(first, last + 1)])


def _log_ways(j: int, before: int, unusual: int, answers: int, shape: float) -> float:
    late = unusual - j
    return sum(_log_part(n, shape) for n in (j, before - j, late, answers - before - late))


@lru_cache(maxsize=2**14)
def _log_part(n: int, shape: float) -> float:
    return math.lgamma(shape + n) - math.lgamma(n + 1)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
