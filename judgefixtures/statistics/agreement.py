"""Gates of a judge's agreement with people: TPR, TNR, accuracy and kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from .agreement_rates import share_estimate
from .clusters import ScoredUnits, Totals, can_decide
from .elementary import check_alpha, check_number, check_open, check_whole, lower_tail, upper_tail, z_quantile
from .estimate import Estimate, GateResult, Status, format_estimate, format_share, pluralize
from .gates import LARGEST_ADVICE, combine_one_sided_tests, inconclusive_advice
from .kappa import TwoByTwo, cohen_kappa, kappa_z, most_likely_table
from .power import ENOUGH
from .proportions import binomial_tails

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

FEWEST_OF_A_CLASS = 10
LEAST_ADVICE = 1000  # so many labels may be advised to anybody; to who has more, LARGEST_ADVICE times as many
_NODES = 4  # points of the curve where kappa just passes
_STEP = 10  # labels; the number is "about"
# What a good judge is assumed to be right on of either class, the first that can pass at all.
ASSUMED_RATES = (0.90, 0.95, 0.98, 0.99)


@dataclass(frozen=True, slots=True)
class AgreementLimits:
    """Limits that TPR, TNR, accuracy and kappa must exceed, or None.

    Raises:
        ValueError: A limit out of range.

    >>> str(AgreementLimits(tpr=0.80, kappa=0.60))
    'min_tpr = 0.80 and min_kappa = 0.60'
    """

    tpr: float | None = None
    tnr: float | None = None
    accuracy: float | None = None
    kappa: float | None = None

    def __post_init__(self) -> None:
        for name, limit in self.set.items():
            if name == "kappa" and -1 < check_number(limit, "min_kappa") <= 0:
                continue  # hardly ever meant, but kappa can exceed it
            check_open(limit, f"min_{name}")

    @property
    def set(self) -> dict[str, float]:
        """The limits that are set, by name."""
        every = {"tpr": self.tpr, "tnr": self.tnr, "accuracy": self.accuracy, "kappa": self.kappa}
        return {name: limit for name, limit in every.items() if limit is not None}

    def __str__(self) -> str:
        return " and ".join(f"min_{name} = {format_share(limit)}" for name, limit in self.set.items())


# --- estimates ----------------------------------------------------------------------------------------------


# --- gates --------------------------------------------------------------------------------------------------


def too_few_labels_text(positives: int, negatives: int) -> str:
    """Return which class has too few labels for a PASS, or "".

    >>> too_few_labels_text(30, 9)
    'only 9 examples are labelled fail; use at least 10'
    >>> too_few_labels_text(0, 0)
    'no example is labelled'
    """
    counts = {"pass": check_whole(positives, "positives"), "fail": check_whole(negatives, "negatives")}
    if not any(counts.values()):
        return "no example is labelled"
    few = {label: count for label, count in counts.items() if count < FEWEST_OF_A_CLASS}
    if not few:
        return ""
    classes = [
        f"only {pluralize(count, 'example')} {'is' if count == 1 else 'are'} labelled {label}"
        if count
        else f"no example is labelled {label}"
        for label, count in few.items()
    ]
    return f"{' and '.join(classes)}; use at least {FEWEST_OF_A_CLASS}"


def gate_tpr(
    tp: int, fn: int, fp: int, tn: int, limit: float, alpha: float = 0.05, totals: Totals = None
) -> GateResult:
    """Decide whether TPR exceeds a limit, by its exact one-sided bounds.

    PASS and FAIL need a bound at level 1 - alpha beyond the limit. Fewer than FEWEST_OF_A_CLASS labels in a class, or
    FEWEST_CLUSTERS clusters, prevent a PASS. `needed_pairs` counts labels for 80% power. `totals` as in
    `true_positive_rate`.

    Raises:
        ValueError: Invalid counts, limit or alpha.

    >>> gate_tpr(29, 1, 5, 25, 0.80).status.value
    'PASS'
    >>> gate_tpr(29, 1, 0, 9, 0.80).message.partition(": ")[2]
    'INCONCLUSIVE; only 9 examples are labelled fail; use at least 10'
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    return _gate_share("tpr", table, table.tp, table.positives, limit, alpha, totals)


def gate_tnr(
    tp: int, fn: int, fp: int, tn: int, limit: float, alpha: float = 0.05, totals: Totals = None
) -> GateResult:
    """Decide whether TNR exceeds a limit, as `gate_tpr`."""
    table = TwoByTwo.of(tp, fn, fp, tn)
    return _gate_share("tnr", table, table.tn, table.negatives, limit, alpha, totals)


def gate_accuracy(
    tp: int, fn: int, fp: int, tn: int, limit: float, alpha: float = 0.05, totals: Totals = None
) -> GateResult:
    """Decide whether accuracy exceeds a limit, as `gate_tpr`."""
    table = TwoByTwo.of(tp, fn, fp, tn)
    return _gate_share("accuracy", table, table.agreement, table.n, limit, alpha, totals)


def gate_kappa(
    tp: int, fn: int, fp: int, tn: int, limit: float, alpha: float = 0.05, totals: Totals = None
) -> GateResult:
    """Decide whether Cohen's kappa of judge and label exceeds a limit: PASS, FAIL or INCONCLUSIVE.

    By the signed root of the likelihood ratio (`kappa_z`), so that a PASS is where the lower end of `cohen_kappa` at
    confidence 1 - 2 alpha is above the limit and a FAIL where the upper one is below it. `needed_pairs` are labels, and
    classes that lack are no PASS, as in `gate_tpr`; of one class alone kappa decides nothing. `totals` as in
    `cohen_kappa`. Raises ValueError for counts that no table can have, a limit not inside -1 to 1 or an alpha outside
    (0, 0.5). Source: Wilks 1938; sizes in benchmarks/results.md.

    >>> gate_kappa(48, 2, 2, 48, 0.60).status.value
    'PASS'
    >>> gate_kappa(44, 6, 6, 44, 0.60).message
    "Cohen's kappa 0.76 (90% CI 0.64 to 0.85), min_kappa 0.60: PASS"
    """
    check_alpha(alpha)
    table = TwoByTwo.of(tp, fn, fp, tn)
    z = kappa_z(table, limit, totals)
    one_class = not (table.positives and table.negatives)
    tails = (upper_tail(z), 1.0 if one_class else lower_tail(z))
    estimate = cohen_kappa(tp, fn, fp, tn, 1 - 2 * alpha, totals)
    kappa = format_estimate(estimate, format_share)
    text = "kappa is not defined" if math.isnan(estimate.value) else f"Cohen's kappa {kappa}"
    tested = _TestedRate("kappa", table, limit, alpha, totals, most_likely_table(table, limit).agreement)
    return tested.result(text, estimate, tails)


AGREEMENT_GATES: Mapping[str, Callable[..., GateResult]] = MappingProxyType(
    {"tpr": gate_tpr, "tnr": gate_tnr, "accuracy": gate_accuracy, "kappa": gate_kappa}
)
_SHOWN = {"tpr": "TPR", "tnr": "TNR", "accuracy": "accuracy", "kappa": "kappa"}


def _gate_share(
    name: str, table: TwoByTwo, right: float, n: float, limit: float, alpha: float, totals: Totals
) -> GateResult:
    check_alpha(alpha, limit=limit)
    estimate = share_estimate(right, n, 1 - 2 * alpha, totals)
    tails = binomial_tails(right, int(n), limit, totals) if n else (1.0, 1.0)
    text = f"{_SHOWN[name]} {right:g}/{n:g} = {format_estimate(estimate, format_share)}" if n else f"no {_SHOWN[name]}"
    return _TestedRate(name, table, limit, alpha, totals, limit).result(text, estimate, tails)


@dataclass(frozen=True, slots=True)
class _TestedRate:
    name: str
    table: TwoByTwo
    limit: float
    alpha: float
    totals: Totals
    mean: float

    def result(self, text: str, estimate: Estimate, tails: tuple[float, float]) -> GateResult:
        totals, lacks = self.totals, too_few_labels_text(int(self.table.positives), int(self.table.negatives))
        status, p_pass, p_fail = combine_one_sided_tests(1.0 if lacks else tails[0], tails[1], self.alpha, totals)
        related = ""
        if totals is not None and totals.related:
            related = f", n = {pluralize(estimate.n, 'label')} in {pluralize(totals.count, 'cluster')}"
        message = f"{text}{related}, min_{self.name} {format_share(self.limit)}: {status}"
        needed = None
        if status is Status.INCONCLUSIVE:
            needed = self.needed()
            message += f"; {lacks or self.what_settles(needed, estimate)}"
        return GateResult(status, p_pass, p_fail, needed, message, estimate)

    def needed(self) -> int | None:
        effect, mean = 1.0, self.mean
        if not can_decide(self.totals):
            return None
        if self.totals is not None:
            effect = ScoredUnits.of(self.totals, 0.0, 1.0).design_effect(mean, mean * (1 - mean))
        return _needed(self.table, AgreementLimits(**{self.name: self.limit}), self.alpha, effect)

    def what_settles(self, needed: int | None, estimate: Estimate) -> str:
        named = _SHOWN[self.name]
        if not can_decide(self.totals):
            return inconclusive_advice(None, estimate.n, f"min_{self.name}", self.totals)
        if not estimate.value > self.limit:
            return f"{named} is not above its minimum: more labels would probably show a FAIL"
        if needed is None:
            return f"{named} is at its minimum: no realistic number of labels can decide"
        return f"use about {needed} labels (80% power)"


# --- how many labels it takes -------------------------------------------------------------------------------


def pass_chance(
    positives: int, negatives: int, tpr: float, tnr: float, limits: AgreementLimits, alpha: float = 0.05
) -> float:
    """Return the probability that a judge with these rates passes all limits.

    Tables are enumerated; kappa is interpolated (error up to 0.005). Raises ValueError for invalid counts or rates.

    >>> round(pass_chance(30, 30, 0.90, 0.90, AgreementLimits(tpr=0.80)), 2)
    0.41
    """
    import numpy as np

    check_alpha(alpha)
    sizes = (check_whole(positives, "positives"), check_whole(negatives, "negatives"))
    rates = (_check_rate(tpr, "tpr"), _check_rate(tnr, "tnr"))
    if min(sizes) < FEWEST_OF_A_CLASS:
        return 0.0

    (wrong, chances), (also, chances_also) = (_wrongs(n, 1 - rate) for n, rate in zip(sizes, rates, strict=True))
    fn, fp = wrong[:, None], also[None, :]
    passes = np.ones((len(wrong), len(also)), dtype=bool)
    if limits.tpr is not None:
        passes &= _enough(sizes[0] - fn, sizes[0], limits.tpr, alpha)
    if limits.tnr is not None:
        passes &= _enough(sizes[1] - fp, sizes[1], limits.tnr, alpha)
    if limits.accuracy is not None:
        passes &= _enough(sum(sizes) - fn - fp, sum(sizes), limits.accuracy, alpha)
    if limits.kappa is not None:
        passes &= fp <= _most_fp(wrong, sizes, limits.kappa, alpha)[:, None]
    return min(float(chances @ passes @ chances_also), 1.0)


def _enough(right: NDArray[int64], n: int, limit: float, alpha: float) -> NDArray[bool_]:
    import numpy as np
    from scipy.special import bdtrc

    passes: NDArray[bool_] = (right > 0) & (bdtrc(np.maximum(right - 1, 0), n, limit) < alpha)
    return passes


def _most_fp(fn: NDArray[int64], sizes: tuple[int, int], limit: float, alpha: float) -> NDArray[float64]:
    import numpy as np
    from scipy.optimize import brentq

    def excess(missed: float, passed: float) -> float:
        table = TwoByTwo(sizes[0] - missed, missed, passed, sizes[1] - passed)
        return kappa_z(table, limit) - z_quantile(1 - alpha)

    def most(missed: float) -> float:
        if excess(missed, sizes[1]) >= 0:  # a limit below 0
            return sizes[1]
        if excess(missed, 0.0) <= 0:
            return 0.0
        return float(brentq(lambda passed: excess(missed, passed), 0.0, sizes[1], xtol=0.01))

    first, last = float(fn[0]), float(fn[-1])
    if excess(first, 0.0) <= 0:
        return np.full(len(fn), -1.0)
    if excess(last, 0.0) < 0:
        last = float(brentq(lambda missed: excess(missed, 0.0), first, last, xtol=0.01))
    nodes = np.linspace(first, last, _NODES if last > first else 1)
    values = [most(float(node)) for node in nodes]
    curve = np.polynomial.Polynomial.fit(nodes, values, len(nodes) - 1)
    return np.where(fn <= last, curve(fn), -1.0)


def _wrongs(n: int, rate: float) -> tuple[NDArray[int64], NDArray[float64]]:
    import numpy as np
    from scipy.special import bdtr

    spread = 4.5 * math.sqrt(n * rate * (1 - rate)) + 3
    counts = np.arange(max(math.floor(n * rate - spread), 0), min(math.ceil(n * rate + spread), n) + 1)
    upto = bdtr(counts, n, rate)
    return counts, np.diff(upto, prepend=bdtr(counts[0] - 1, n, rate) if counts[0] else 0.0)


def _check_rate(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in 0..1, got {value!r}")
    return float(value)


def needed_labels(
    tp: int, fn: int, fp: int, tn: int, limits: AgreementLimits, alpha: float = 0.05, design_effect: float = 1.0
) -> int | None:
    """Return how many labels give 80% power at the observed rates, in tens.

    `design_effect` related labels count as one. None if the number is unrealistic. Raises ValueError for invalid
    counts.

    >>> needed_labels(27, 3, 3, 27, AgreementLimits(tpr=0.80))
    180
    """
    return _needed(TwoByTwo.of(tp, fn, fp, tn), limits, alpha, design_effect)


def _needed(table: TwoByTwo, limits: AgreementLimits, alpha: float, effect: float) -> int | None:
    if not (limits.set and table.positives and table.negatives):
        return None
    share = table.positives / table.n
    rates = (table.tp / table.positives, table.tn / table.negatives)
    largest = max(LARGEST_ADVICE * table.n, LEAST_ADVICE) / effect
    return labels_for_power(share, *rates, limits, alpha, effect=effect, largest=math.floor(largest))


def labels_for_power(
    prevalence: float,
    tpr: float,
    tnr: float,
    limits: AgreementLimits,
    alpha: float = 0.05,
    *,
    effect: float = 1.0,
    largest: int = LEAST_ADVICE,
) -> int | None:
    """Return how many labels give 80% power at these true rates, in tens.

    `prevalence` is the share of pass labels; `effect` related labels count as one. None if more than `largest` are
    needed.

    >>> labels_for_power(0.5, 0.90, 0.90, AgreementLimits(kappa=0.60))
    80
    """

    def chance(tens: int) -> float:
        positives = round(_STEP * tens * prevalence)
        return pass_chance(positives, _STEP * tens - positives, tpr, tnr, limits, alpha)

    true = TwoByTwo(prevalence * tpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - tnr), (1 - prevalence) * tnr)
    reached = {"tpr": tpr, "tnr": tnr, "accuracy": true.agreement, "kappa": true.kappa}
    if not all(reached[name] > limit for name, limit in limits.set.items()):
        return None
    return _smallest(chance, _first_guess(true, limits.kappa, alpha), largest, effect)


def labels_for_good_judge(
    prevalence: float, limits: AgreementLimits, alpha: float = 0.05, *, largest: int = LEAST_ADVICE
) -> tuple[float, int | None]:
    """Return a good judge's accuracy and how many labels it needs for 80% power.

    The accuracy is 0.90, or the next of ASSUMED_RATES for which `largest` labels suffice.

    >>> labels_for_good_judge(0.5, AgreementLimits(tpr=0.92))
    (0.95, 930)
    """
    for rate in ASSUMED_RATES:
        needed = labels_for_power(prevalence, rate, rate, limits, alpha, largest=largest)
        if needed is not None:
            break
    return rate, needed


def _first_guess(true: TwoByTwo, limit: float | None, alpha: float) -> float:
    if limit is None:
        return 0.0
    wanted = z_quantile(1 - alpha) + z_quantile(ENOUGH)
    return (wanted / max(kappa_z(true, limit), 1e-9)) ** 2


def _smallest(chance: Callable[[int], float], guess: float, largest: int, effect: float) -> int | None:
    if guess > 2 * largest:
        return None
    low, high = 0, max(round(guess / _STEP), 1)  # the chance grows with the labels, but for steps of single tables
    while chance(high) < ENOUGH:
        low, high = high, high + max(high // 3, 1)
        if _STEP * low >= largest:
            return None
    while high - low > 1:
        middle = (low + high) // 2 if low else max(3 * high // 4, 1)
        low, high = (low, middle) if chance(middle) >= ENOUGH else (middle, high)
    return math.ceil(round(effect * high, 6)) * _STEP if _STEP * high <= largest else None


def agreement_prospect(positives: int, negatives: int, limits: AgreementLimits, alpha: float = 0.05) -> str:
    """Return what this many labels can show, for a preflight.

    >>> agreement_prospect(30, 30, AgreementLimits(tpr=0.80))
    'with 60 labels, a judge with TPR and TNR 0.90 passes min_tpr = 0.80 in 41% of runs; use about 180 labels'
    """
    if not limits.set:
        return ""
    n = positives + negatives
    labels = pluralize(n, "label")
    if lacks := too_few_labels_text(positives, negatives):
        return f"with {labels}, no judge passes {limits}: {lacks}"
    largest = max(LARGEST_ADVICE * n, LEAST_ADVICE)
    rate, needed = labels_for_good_judge(positives / n, limits, alpha, largest=largest)
    chance = pass_chance(positives, negatives, rate, rate, limits, alpha)
    text = f"with {labels}, a judge with TPR and TNR {format_share(rate)} passes {limits} in {chance:.0%} of runs"
    if chance >= ENOUGH:
        return text
    return f"{text}; {f'use about {needed} labels' if needed else 'no realistic number of labels is enough'}"
