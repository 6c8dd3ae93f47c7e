"""Power: how likely an unbiased judge passes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from .elementary import check_alpha, check_counts, check_open, smallest_size_with_power, z_quantile
from .estimate import format_share
from .gates import LARGEST_ADVICE
from .proportion_gate import largest_passing_count, share_gate_chances
from .score_shift import scores_pass
from .sequential import SequentialOutcome, Steps, most_one_sided_flips, sequential_outcome

# What a good judge is assumed to flip without any bias: by noise, half of it each way.
FLIP_RATES = (0.05, 0.10)
# An unbiased judge should get through the whole run this often.
ENOUGH = 0.8
# Shifts in every contrast of a run, and one beyond a tolerance: what a green run says of them is told for these.
SHIFTS, OVER = (0.02, 0.05), 0.10
NOISE = (0.0, 0.05, 0.10, 0.15, 0.20)
SELDOM = 0.0001
SWAPS = Path(__file__).parents[1] / "data" / "swap-power.json"


@dataclass(frozen=True, slots=True)
class PlannedContrast:
    """A planned contrast: id, dataset, n pairs, VSR tolerance and alpha.

    `group` is its family, if the id does not tell. `least` pairs follow from another `limit` ("score 0.05").
    """

    contrast: str
    dataset: str
    n: int
    tolerance: float
    alpha: float = 0.05
    group: str = ""
    least: int = 0
    limit: str = ""
    units: str = "pairs"  # what n counts
    scored: bool = False  # the tolerance is of scores, as a share of their scale
    steps: Steps = ()  # of a gate with looks: of each its pairs and its level; the last one is at n
    last_look: int = 0  # of the plan, which may be of more pairs than n; 0 without looks
    most_flips: float | None = None  # the limit of the share of verdicts that flip; None: there is none
    least_of_shift: int = 0  # the fewest pairs with which VSR can PASS at a look; 0: as of one look

    @property
    def held_to(self) -> str:
        """The limit that determines the fewest pairs, as text."""
        if self.scored:
            return self.limit or format_share(self.tolerance)
        return self.limit if self.limit and self.fewest > self._of_shift else format_share(self.tolerance)

    @property
    def fewest(self) -> int:
        """The fewest pairs with which a PASS is possible."""
        return self.least if self.scored else max(self._of_shift, self.least)

    @property
    def _of_shift(self) -> int:
        return self.least_of_shift or smallest_n(self.tolerance, self.alpha)

    @property
    def family(self) -> str:
        """The cue family, which shares a line of the table."""
        return self.group or self.contrast.rsplit("-", 2)[0]

    def chance(self, flips: float, shift: float = 0.0) -> float:
        """Return the probability of a PASS with these noise flips and true shift."""
        if self.n < self.least:
            return 0.0
        if self.scored:
            return scores_pass(self.n, self.tolerance, flips, self.steps[-1][1] if self.steps else self.alpha)
        if self.steps:
            return min(self.course(flips, shift).passes, self._flips_pass(min(flips + abs(shift), 1.0)))
        most = None if self.most_flips is None else largest_passing_count(self.n, self.most_flips, self.alpha)
        return pass_probability(self.n, self.tolerance, flips, shift, self.alpha, most)

    def _flips_pass(self, flips: float) -> float:
        if self.most_flips is None:
            return 1.0
        return share_gate_chances(self.n, self.most_flips, flips, self.steps[-1][1])[0]

    def course(self, flips: float, shift: float = 0.0) -> SequentialOutcome:
        """Return at which looks this judge ends."""
        steps = self.steps or ((self.n, self.alpha),)
        if not self.scored:
            return sequential_outcome(steps, self.tolerance, flips, shift)
        passed = list(accumulate((scores_pass(look, self.tolerance, flips, level) for look, level in steps), max))
        new = tuple(now - then for now, then in zip(passed, [0.0, *passed[:-1]], strict=True))
        return SequentialOutcome(tuple(look for look, _ in steps), new, (0.0,) * len(steps))

    def with_pairs(self, n: int) -> PlannedContrast:
        """Return the contrast with at least n pairs."""
        return replace(self, n=n, steps=(), least_of_shift=0) if n > max(self.n, self.last_look) else self


def smallest_n(tolerance: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which a judge without flips passes.

    Source: Tango 1998. Raises ValueError for an invalid tolerance or alpha.

    >>> [smallest_n(tolerance) for tolerance in (0.05, 0.10, 0.15, 0.20)]
    [52, 25, 16, 11]
    """
    check_alpha(alpha, tolerance=tolerance)
    return math.floor(z_quantile(1 - alpha) ** 2 * (1 - tolerance) / tolerance) + 1


def smallest_passing_n(passes: Callable[[int], bool]) -> int:
    """Return the smallest n that passes; passing is monotone in n."""
    enough = 1
    while not passes(enough):
        enough *= 2
    return smallest_size_with_power(lambda n: float(passes(n)), 1.0, enough) or enough


def pass_probability(
    n: int, tolerance: float, flips: float, shift: float = 0.0, alpha: float = 0.05, most: int | None = None
) -> float:
    """Return the exact probability that `gate_shift` says PASS.

    `flips` is the share of pairs that flip by noise, half each way; `shift` is the true VSR in addition. At most `most`
    pairs may flip. Errors as in `gate_shift`.

    >>> round(pass_probability(100, 0.10, flips=0.10), 2)
    0.8
    >>> round(pass_probability(100, 0.10, flips=0.10, most=10), 2)
    0.52
    """
    check_counts(0, 0, n)
    check_alpha(alpha, tolerance=tolerance)
    if not 0 <= flips <= 1 or not flips + abs(shift) <= 1 + 1e-12:
        raise ValueError(f"flips and flips + abs(shift) must lie in 0..1, got flips={flips!r}, shift={shift!r}")
    return _pass_probability(n, tolerance, flips, abs(shift), alpha, n if most is None else most)


def pass_chance_of_designs(designs: Iterable[PlannedContrast], flips: float, shift: float = 0.0) -> float:
    """Return the probability that a judge passes all designs, taken as independent.

    >>> round(pass_chance_of_designs([PlannedContrast("recency-new-old", "mine", 100, 0.10)] * 20, flips=0.05), 2)
    0.5
    """
    return math.prod(each.chance(flips, shift) for each in designs)


def power_table(designs: Sequence[PlannedContrast]) -> list[str]:
    """Return terminal lines with the power of these designs for unbiased judges.

    >>> for line in power_table([PlannedContrast("recency-new-old", "mine", 80, 0.15)]):
    ...     print(line)
    dataset  cues     contrasts   n  at least  tolerance  alpha  P(PASS) at 5% flips  at 10%
    mine     recency          1  80        16       0.15   0.05                 1.00    0.97
    P(all PASS | unbiased): 1.00 at 5% flips, 0.97 at 10%
    """
    by_verdicts, by_scores = ([each for each in designs if each.scored is scored] for scored in (False, True))
    return [*_table(by_verdicts, *(f"{rate:.0%}" for rate in FLIP_RATES)), *_table_of_scores(by_scores)]


def _table_of_scores(designs: Sequence[PlannedContrast]) -> list[str]:
    lines = _table(designs, *(f"noise {format_share(rate)}" for rate in FLIP_RATES))
    about = "noise of scores: the standard deviation of a pair's shift, as a share of the scale"
    return [*lines, about] if lines else []


def _table(designs: Sequence[PlannedContrast], few: str, many: str) -> list[str]:
    if not designs:
        return []
    flips = "" if designs[0].scored else " flips"
    heads = ("dataset", "cues", "contrasts", "n", "at least", "tolerance", "alpha")
    rows: list[tuple[str, ...]] = [(*heads, f"P(PASS) at {few}{flips}", f"at {many}")]
    groups = Counter(replace(each, contrast=each.family, group="") for each in designs)
    for each, count in groups.items():
        probabilities = (_rounded(pass_chance_of_designs([each], flips)) for flips in FLIP_RATES)
        pairs = (str(count), str(each.n), str(each.fewest))
        rows.append((each.dataset, each.contrast, *pairs, each.held_to, format_share(each.alpha), *probabilities))
    lines = align_table(rows)
    whole = [pass_chance_of_designs(designs, flips) for flips in FLIP_RATES]
    lines.append(f"P(all PASS | unbiased): {_rounded(whole[0])} at {few}{flips}, {_rounded(whole[1])} at {many}")
    if min(whole) < ENOUGH:
        lines.append(_warning(designs, FLIP_RATES[1], whole[1]))
    return lines


def describe_run_chances(designs: Sequence[PlannedContrast]) -> list[str]:
    """Return in words how often judges with a shift pass the run.

    >>> for line in describe_run_chances([PlannedContrast("recency-new-old", "mine", 100, 0.15)] * 14):
    ...     print(line)
    a judge with VSR 0.02 in every contrast passes all 14 in 0.91 of runs at 5% flips, 0.57 at 10%
    a judge with VSR 0.05 in every contrast passes all 14 in 0.15 of runs at 5% flips, 0.03 at 10%
    a judge with VSR 0.10 beyond the tolerance passes a contrast in at most 0.0006 of runs (up to 20% flips)
    """
    designs = [each for each in designs if not each.scored]
    if not designs:
        return []
    few, many = FLIP_RATES
    several = len(designs) > 1
    passes = f"in every contrast passes all {len(designs)}" if several else "passes its contrast"
    lines = [
        f"a judge with VSR {format_share(shift)} {passes} in "
        f"{_rounded(pass_chance_of_designs(designs, few, shift))} of runs at {few:.0%} flips, "
        f"{_rounded(pass_chance_of_designs(designs, many, shift))} at {many:.0%}"
        for shift in SHIFTS
        if shift < min(each.tolerance for each in designs)
    ]
    kinds = {replace(each, contrast="", dataset="", group="", limit="", units="") for each in designs}
    possible = [(each, flips) for each in kinds for flips in NOISE if flips + each.tolerance + OVER <= 1]
    most = max(each.chance(flips, each.tolerance + OVER) for each, flips in possible)
    chance = f"at most {format_share(round(most, 4), 4)}" if most >= SELDOM else f"less than {format_share(SELDOM, 4)}"
    beyond = f"a judge with VSR {format_share(OVER)} beyond the tolerance passes a contrast in {chance} of runs"
    return [*lines, f"{beyond} (up to {NOISE[-1]:.0%} flips)"]


def _warning(designs: Sequence[PlannedContrast], flips: float, whole: float) -> str:
    def with_pairs(tens: int) -> float:
        return pass_chance_of_designs([each.with_pairs(10 * tens) for each in designs], flips)

    def with_tolerance(hundredths: int) -> float:
        wider = [replace(each, tolerance=max(each.tolerance, hundredths / 100)) for each in designs]
        return pass_chance_of_designs(wider, flips)

    largest = math.ceil(LARGEST_ADVICE * max(each.n for each in designs) / 10)
    remedies, units = [], " or ".join(dict.fromkeys(each.units for each in designs))
    if tens := smallest_size_with_power(with_pairs, ENOUGH, largest):
        beyond = ", beyond the last look" if any(each.last_look for each in designs) else ""
        remedies.append(f"use {10 * tens} {units} per contrast{beyond} (then {format_share(with_pairs(tens))})")
    if hundredths := smallest_size_with_power(with_tolerance, ENOUGH, 50):
        chance = format_share(with_tolerance(hundredths))
        remedies.append(f"use tolerance {format_share(hundredths / 100)} (then {chance})")
    noise = f"that flips on {flips:.0%} of the {units}"
    if designs[0].scored:
        noise = f"whose scores have noise {format_share(flips)}"
    return (
        f"warning: a judge without bias {noise} passes everything with probability "
        f"{format_share(whole)} only: {', or '.join(remedies) or 'select fewer contrasts'}"
    )


def _rounded(probability: float) -> str:
    return format_share(round(probability, 2))


def align_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's lines: two left-aligned columns, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class SwapPower:
    """Simulated shares of swap decisions with the default margins.

    `reject_accuracy` is for a loss of 10 points, `reject_shift` for VSR 0.30 (baseline 0.05).
    """

    approve_equal: float
    reject_accuracy: float
    reject_shift: float


def swap_power(n: int, discordance: float, flips: float) -> SwapPower | None:
    """Return the simulated power of a swap on n pairs per dataset, or None.

    `discordance` is the share of pairs on which one of two equal judges alone is right, `flips` the share that changes
    between runs. Values are interpolated. Source: `benchmarks/operating_characteristics.py --power`. Raises ValueError
    for shares outside (0, 1).

    >>> power = swap_power(100, discordance=0.12, flips=0.05)
    >>> 0.7 < power.approve_equal < 0.9, power.reject_shift
    (True, 1.0)
    >>> swap_power(100, discordance=0.40, flips=0.05) is None
    True
    """
    check_open(discordance, "discordance")
    check_open(flips, "flips")
    simulated = _swaps()
    sizes, noises = sorted({n for n, _, _ in simulated}), sorted({noise for _, _, noise in simulated})
    shares = {noise: sorted({share for _, share, each in simulated if each == noise}) for noise in noises}
    if n < sizes[0] or discordance > shares[noises[0]][-1] or flips > noises[-1]:
        return None
    corners = [
        (weight_n * weight_flips * weight, simulated[at_n, share, noise])
        for at_n, weight_n in _between(sizes, n)
        for noise, weight_flips in _between(noises, flips)
        for share, weight in _between(shares[noise], discordance)
    ]
    return SwapPower(*(sum(weight * each[index] for weight, each in corners) for index in range(3)))


def approval_with_invalid(n: int) -> tuple[float, ...]:
    """Return how often equal judges are approved with 2% invalid candidate answers.

    The discordances are 0.05, 0.12 and 0.18.

    >>> approval_with_invalid(100)[0] < swap_power(100, 0.05, 0.05).approve_equal
    True
    """
    rows = {size: chances for size, *chances in _simulated()["candidate_invalid"]}
    weights = _between(sorted(rows), n)
    return tuple(sum(weight * rows[size][index] for size, weight in weights) for index in range(3))


@cache
def _simulated() -> Any:
    return json.loads(SWAPS.read_text(encoding="utf-8"))


@cache
def _swaps() -> dict[tuple[float, float, float], tuple[float, float, float]]:
    rows = _simulated()["rows"]
    return {(n, discordance, flips): (equal, accuracy, shift) for n, discordance, flips, equal, accuracy, shift in rows}


def _between(points: Sequence[float], value: float) -> list[tuple[float, float]]:
    above = next((point for point in points if point >= value), points[-1])
    below = max((point for point in points if point <= value), default=points[0])
    if above <= below:
        return [(above, 1.0)]
    share = (value - below) / (above - below)
    return [(below, 1 - share), (above, share)]


@lru_cache(maxsize=4096)
def _pass_probability(n: int, tolerance: float, flips: float, shift: float, alpha: float, most: int) -> float:
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy

    total = np.arange(n + 1)
    reach = np.array(most_one_sided_flips(n, tolerance, alpha))
    passes = (2 * reach >= total) & (total <= most)
    total, reach = total[passes], reach[passes]
    flipped = min(flips + shift, 1.0)
    one_way = (flips / 2 + shift) / (flips + shift) if flipped else 0.5
    ways = gammaln(n + 1) - gammaln(total + 1) - gammaln(n - total + 1)
    totals = np.exp(ways + xlogy(total, flipped) + xlog1py(n - total, -flipped))
    fewer = total - reach - 1  # n10 must be in total - reach ... reach
    splits = bdtr(reach, total, one_way) - np.where(fewer < 0, 0.0, bdtr(np.maximum(fewer, 0), total, one_way))
    return min(float((totals * splits).sum()), 1.0)
