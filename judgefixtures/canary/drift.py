"""Drift test: do the answers to the same prompts still come from the recorded judge?

The input is counts of answers, the output is evidence against "no change".

**Without a change** every prompt has a law of answers of its own, and its recorded answers and those of every run are
drawn from it. All orders of them are then equally likely. No more is assumed: not what the laws are, nor that they are
alike, nor that any is close to certain.

**One run.** After run d, look at the bag of a prompt: its answers without their order. Of N answers, T are not the
most frequent one. Given the bag, each of the C(N, T) sets of places where these T can stand has the same chance. Let a
change after c runs cut the sequence into b answers before it and N - b after it, with j of the T before. If there was
one, the unusual answers have a chance of their own on each side, drawn from Beta(a, a), and a set of places with j
before is as likely as this says, up to a constant:

    h(j) = B(a + j, a + b - j) B(a + T - j, a + N - b - T + j)

The e-value of the prompt is that chance given the bag over the one without a change:

    L(j) = C(N, T) h(j) / sum over i of C(b, i) C(N - b, T - i) h(i).

Without a change its mean is exactly 1 given every bag: the sum over j of L(j) C(b, j) C(N - b, T - j) / C(N, T) is 1.
So is the mean of 1 - s + s L, where a change moves a share s of the prompts; that of its product over prompts, which
are answered apart from each other; and that of a mixture over c, s and a with weights that no answer decides. The
mixture is e(d), the e-value of run d.

**Any number of runs.** e(1), e(2), ... are made of the same answers again and again. Each has a mean of 1, yet they do
not make a martingale: stopping at the best of them has a larger mean, and their product means nothing. A weighted sum
is safe. With w(d) = 1 / sqrt(d) - 1 / sqrt(d + 1), which sum to 1,

    A(d) = w(1) e(1) + ... + w(d) e(d)

never falls, and its limit has a mean of 1, whatever the e(d) have to do with each other. By Markov's inequality the
limit, and so any A(d), reaches 1 / f with a chance of at most f: 100 with 1%. That is Ville's inequality for A, and A
is the evidence that the canary tells.
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
    """The answers to one prompt in their order, a character each: those recorded, then those of each run.

    A run that brought no answer to the prompt is an empty text. `days` are the recorded answers by the day of their
    recording, the same days for every prompt; without it all were recorded on one day.
    """

    recorded: str
    runs: tuple[str, ...]
    days: tuple[str, ...] = ()

    @property
    def usual(self) -> str:
        """The most frequent answer of all, the first one in the alphabet where several are."""
        answers = self.all
        return min(set(answers), key=lambda answer: (-answers.count(answer), answer), default="")

    @property
    def all(self) -> str:
        """Every answer, in order."""
        return self.recorded + "".join(self.runs)


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """The likeliest change, if there was one.

    `since` is the number of runs before it, and `moved` how likely it moved each prompt, in the order of the streams,
    where that was as likely as not before.
    """

    since: int
    moved: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Cuts:
    """A prompt whose answers vary: how many there are, how many unusual ones, and how many stand before each cut."""

    place: int
    answers: int
    unusual: int
    before: tuple[tuple[int, int], ...]  # per cut: answers, unusual ones

    def counts(self, cut: int) -> tuple[int, int, int, int]:
        """Return what `ratio` takes, at a cut."""
        answers, unusual = self.before[cut]
        return unusual, answers, self.unusual, self.answers


@dataclass(frozen=True, slots=True)
class ChangeEvidence:
    """What the answers say for a change.

    `chance` is the natural logarithm of the evidence that they are not draws of unchanged laws, and `explanation` is
    what else brings them as easily as a change.
    """

    chance: float
    explanation: Explanation | None = None

    @property
    def log_e(self) -> float:
        """The natural logarithm of e(d)."""
        return self.chance if self.explanation is None else 0.0


def log_e_value(streams: Sequence[AnswerStream]) -> float:
    """Return the natural logarithm of e(d), where d is how many runs the streams have; ValueError without a run.

    >>> quiet, turned = [AnswerStream("1", ("1",) * 9)] * 50, [AnswerStream("1", ("2",) * 9)] * 10
    >>> round(log_e_value([*quiet, *quiet[:10]]), 9) + 0, log_e_value([*quiet, *turned]) > 9
    (0.0, True)
    """
    return weigh_evidence(streams).log_e


def weigh_evidence(streams: Sequence[AnswerStream]) -> ChangeEvidence:
    """Return what the answers say for a change, and against what else explains them; ValueError without a run."""
    runs, varied = _runs(streams), _varied(streams)
    chance = log_sum([math.log(weight) + log_mean(_likely(varied, cut)) for cut, weight in _weights(runs)])
    if chance < NOTICED:
        return ChangeEvidence(chance)
    recorded = max(len(stream.days) for stream in streams) or 1
    prompts = Counter(_days(stream, recorded, runs) for stream in streams)
    return ChangeEvidence(chance, other_explanation(prompts, recorded, sorted(cut for cut, _ in _weights(runs))))


def _days(stream: AnswerStream, recorded: int, runs: int) -> tuple[tuple[int, int], ...]:
    """Return how many answers each day brought, and how many unusual ones."""
    known, usual = stream.days or (stream.recorded,), stream.usual
    days = (*known, *[""] * (recorded - len(known)), *stream.runs, *[""] * (runs - len(stream.runs)))
    return tuple((len(day), len(day) - (day.count(usual) if usual else 0)) for day in days)


def likeliest_change(streams: Sequence[AnswerStream]) -> ChangePoint:
    """Return the change that the answers are likeliest with; ValueError without a run.

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
    """Return the natural logarithm of A(d): what the e-values of runs 1 to d, as logarithms, come to.

    >>> round(math.exp(total_log_e_value([0.0] * 3)), 10)
    0.5
    """
    parts = [value + math.log(run**-0.5 - (run + 1) ** -0.5) for run, value in enumerate(log_e_values, 1)]
    return log_sum(parts) if parts else -math.inf


def _cuts(place: int, stream: AnswerStream) -> _Cuts | None:
    """Return a stream's counts at each cut; None where all answers are the same: it says nothing either way."""
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
    """Return the logarithms of the products over prompts for a change at a cut, one per share of prompts moved."""
    parts = [_log_shares(*cuts.counts(cut)) for cuts in varied]
    return [math.fsum(part) for part in zip(*parts, strict=True)] or [0.0] * len(SHARES)


@lru_cache(maxsize=2**18)
def _log_shares(j: int, before: int, unusual: int, answers: int) -> tuple[float, ...]:
    """Return the logarithms of 1 - s + s L for each share."""
    gain = e_value_of_prompt(j, before, unusual, answers) - 1
    return tuple(math.log1p(share * gain) for share in SHARES)


@lru_cache(maxsize=2**10)
def _weights(runs: int) -> tuple[tuple[int, float], ...]:
    """Return the cuts that are looked at after so many runs, with their weights, which sum to 1.

    Before the first run, and some runs ago: every age up to eight, older ones in steps of a quarter, so that a year is
    looked through in a moment. A change between two of them is found by the nearest.
    """
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
    """Return L: the e-value of a prompt with `answers`, of which `unusual` ones, with j of these among those `before`.

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
    """Return log C(b, j) C(N - b, T - j) h(j), up to a constant that is the same for every j."""
    late = unusual - j
    return sum(_log_part(n, shape) for n in (j, before - j, late, answers - before - late))


@lru_cache(maxsize=2**14)
def _log_part(n: int, shape: float) -> float:
    return math.lgamma(shape + n) - math.lgamma(n + 1)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
