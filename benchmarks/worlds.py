"""Worlds: simulated judges whose every property is known, to learn how often a swap is decided rightly.

Pair i has a latent preference u = g mu + shared + own: g is its gold side (+1 or -1), the shared part is the same for
every judge, the own part is the judge's. A call chooses response 1 where u + order effect + cue shift x susceptibility
+ noise exceeds 0, so that close pairs flip and clear ones do not, and judges and arms go together through the pair.
A judge of one response passes an example by the same sum, g being its label (+1 pass, -1 fail); it knows no order.
What is stated of a world and of a judge are shares of pairs; the sizes of the parts are solved for them.
This room knows no recordings and asks nobody. numpy and scipy are imported by the functions that need them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.swap import SwapAccuracy, SwapContrast
from judgefixtures.swap.decide_looks import decide_looks

if TYPE_CHECKING:
    import numpy as np

    Drawn = np.ndarray[Any, Any]

ACCURACY = 0.85
VSR = 0.05
# Susceptibility is gamma distributed with mean 1; at shape 4 its standard deviation is one half.
SHAPE = 4
ORDERS = 2
ARMS = 2


@dataclass(frozen=True, slots=True)
class World:
    """How alike two equal judges are, in shares of the pairs.

    `flips`: the verdict differs between two runs of one call. `discordance`: one judge alone is right, in one order.
    `inconsistent`: the verdict differs between the two orders of the responses (None: `flips`, nothing persistent).
    Each includes what the one before it does, so that flips <= inconsistent <= discordance.
    `lapse`: calls that are a coin toss, however clear the pair.

    >>> World(flips=0.10, discordance=0.05)
    Traceback (most recent call last):
    ...
    ValueError: flips <= inconsistent <= discordance must hold, got 0.1, 0.1 and 0.05: two judges differ at least \
where one judge differs from itself
    """

    flips: float
    discordance: float
    inconsistent: float | None = None
    accuracy: float = ACCURACY
    lapse: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.flips <= self.between_orders <= self.discordance:
            raise ValueError(
                f"flips <= inconsistent <= discordance must hold, got {self.flips!r}, {self.between_orders!r} and "
                f"{self.discordance!r}: two judges differ at least where one judge differs from itself"
            )

    @property
    def between_orders(self) -> float:
        """The share of pairs whose verdict differs between the two orders."""
        return self.flips if self.inconsistent is None else self.inconsistent

    @property
    def rho(self) -> float:
        """The variance of the shared part of u, of 1."""
        one = Latent.of(self.accuracy, self.flips, self.between_orders, self.lapse)
        return min(_correlation(one.accuracy, _without_lapses(self.discordance, self.lapse)) * one.variance, 1.0)


# Two runs of one judge; two prompts of one real model; and noisier ones. Shares from public outputs of real judges.
WORLDS: Mapping[str, World] = {
    "W1": World(0.05, 0.05),
    "W2": World(0.05, 0.12, inconsistent=0.09),
    "W3": World(0.10, 0.15),
    "W4": World(0.136, 0.18),
}


def world_of(flips: float, discordance: float) -> World:
    """Return a world with order effects in between W1, which has none, and W2.

    Two judges with independent noise cannot differ less than each flips: `discordance` is raised to `flips`.

    >>> world_of(0.05, 0.12).inconsistent
    0.09
    >>> world_of(0.10, 0.05).discordance
    0.1
    """
    discordance = max(discordance, flips)
    return World(flips, discordance, round(flips + 4 / 7 * (discordance - flips), 12))


@dataclass(frozen=True, slots=True)
class Layout:
    """What is compared: n pairs on each dataset, and how many contrasts each family has. A cell is one on one dataset.

    With `positives` these are n labelled examples in place of pairs, so large a share of them labelled pass.

    >>> Layout(100).cells[0], len(Layout(100).cells)
    (('recency', 'recency-1', 'dataset-1'), 14)
    """

    n: int
    datasets: int = 2
    families: tuple[tuple[str, int], ...] = (("recency", 1), ("provenance", 6))
    positives: float | None = None

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of a dataset's examples, those that are pass first; None of pairs.

        >>> Layout(5, positives=0.4).labels
        ('pass', 'pass', 'fail', 'fail', 'fail')
        """
        if self.positives is None:
            return None
        passing = round(self.positives * self.n)
        return ("pass",) * passing + ("fail",) * (self.n - passing)

    @property
    def orders(self) -> int:
        """In how many orders accuracy is asked about."""
        return ORDERS if self.positives is None else 1

    @property
    def cells(self) -> tuple[tuple[str, str, str], ...]:
        """Family, contrast and dataset of each cell, one dataset after the other."""
        return tuple(
            (family, f"{family}-{number}", dataset)
            for dataset in self.names
            for family, contrasts in self.families
            for number in range(1, contrasts + 1)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the datasets."""
        return tuple(f"dataset-{number}" for number in range(1, self.datasets + 1))


@dataclass(frozen=True, slots=True)
class Nature:
    """A judge as it really is: shares of pairs per cell or dataset, in the layout's order.

    `vsr`: by how much more often the favoured response is chosen, per cell. `admits`: whether it is honest there, so
    that a justification cites the cue exactly where the cue changed that call's verdict. `accuracy`: per dataset.
    `invalid`: verdicts that are none, at random. `leniency`, of a judge of one response: TPR is accuracy + leniency,
    TNR is accuracy - leniency.
    """

    vsr: tuple[float, ...]
    accuracy: tuple[float, ...]
    flips: float
    inconsistent: float
    admits: tuple[bool, ...]
    lapse: float = 0.0
    invalid: float = 0.0
    leniency: float = 0.0


def nature(world: World, layout: Layout, vsr: float = VSR, *, admits: bool = False, invalid: float = 0.0) -> Nature:
    """Return a judge as this world's equal judges are, with one VSR and one honesty in all cells."""
    cells = len(layout.cells)
    return Nature(
        (vsr,) * cells,
        (world.accuracy,) * layout.datasets,
        world.flips,
        world.between_orders,
        (admits,) * cells,
        world.lapse,
        invalid,
    )


@dataclass(frozen=True, slots=True)
class Latent:
    """The solved sizes behind a judge's shares: u has variance 1, a call the variance of u, order effect and noise.

    `accuracy` is that of calls that are no lapse.
    """

    accuracy: float
    variance: float
    noise: float
    order: float

    @classmethod
    @lru_cache(maxsize=4096)
    def of(cls, accuracy: float, flips: float, inconsistent: float, lapse: float = 0.0) -> Latent:
        """Solve noise and order effect for a judge's flips and order inconsistency.

        >>> latent = Latent.of(0.85, flips=0.05, inconsistent=0.09)
        >>> round(latent.noise, 2), round(latent.order, 2)
        (0.2, 0.3)
        """
        awake = (accuracy - lapse / 2) / (1 - lapse)
        same = _correlation(awake, _without_lapses(flips, lapse))
        other = _correlation(awake, _without_lapses(inconsistent, lapse))
        variance = 1 / other
        return cls(awake, variance, math.sqrt(variance * (1 - same)), math.sqrt(max(variance * same - 1, 0.0)))

    @property
    def mean(self) -> float:
        """The mean of u towards the gold side."""
        from scipy.special import ndtri

        return float(ndtri(self.accuracy)) * math.sqrt(self.variance)

    def cue_shift(self, vsr: float) -> float:
        """Return how far a cue of mean susceptibility moves u so that the favoured response wins `vsr` more often."""
        return _cue_shift(float(self.mean / math.sqrt(self.variance)), vsr) * math.sqrt(self.variance)


def _without_lapses(share: float, lapse: float) -> float:
    """Return the share of differing verdicts among pairs of calls of which neither is a coin toss."""
    awake = (1 - lapse) ** 2
    return (share - (1 - awake) / 2) / awake


@lru_cache(maxsize=4096)
def _correlation(accuracy: float, share: float) -> float:
    """Return the correlation of two calls, each right with probability `accuracy`, that differ on this share of pairs.

    With normal deviates the share is 4 T(z, sqrt((1 - r) / (1 + r))), T being Owen's function (Owen 1956).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri, owens_t

    z, most = ndtri(accuracy), 2 * accuracy * (1 - accuracy)
    if not 0 < share < most:
        raise ValueError(
            f"two calls that are right on {accuracy:.3g} of the pairs and agree better than by chance "
            f"differ on 0 to {most:.3g} of them, got {share!r}"
        )
    return float(brentq(lambda r: 4 * owens_t(z, math.sqrt((1 - r) / (1 + r))) - share, 0.0, 1.0, xtol=1e-14))


@lru_cache(maxsize=4096)
def _cue_shift(z: float, vsr: float) -> float:
    """Return the shift in standard deviations of a call; the mean over susceptibilities by Gauss and Laguerre."""
    from scipy.optimize import brentq
    from scipy.special import ndtr, roots_genlaguerre

    nodes, weights = roots_genlaguerre(40, SHAPE - 1)
    susceptible, weights = nodes / SHAPE, weights / weights.sum()

    def missing(shift: float) -> float:
        moved = ndtr(z + shift * susceptible) - ndtr(z - shift * susceptible)
        return float(weights @ moved) - abs(vsr)

    return math.copysign(float(brentq(missing, 0.0, 100.0, xtol=1e-13)), vsr) if vsr else 0.0


@dataclass(frozen=True, slots=True)
class Answers:
    """What a judge said: verdicts 1 or 2, 0 where invalid.

    `verdicts` and `cites` are cells x pairs x arms, the arm that favours response 1 first; `right`, the share of
    orders in which the gold response was chosen, is datasets x pairs. Of an example 1 is a pass and 2 a fail.
    """

    verdicts: Drawn
    cites: Drawn
    right: Drawn


def draw(world: World, layout: Layout, judges: Sequence[Nature], seed: Sequence[int]) -> list[Answers]:
    """Return the answers of some judges about the same pairs: the same seed, the same answers."""
    import numpy as np

    rng = np.random.default_rng(list(seed))
    shape = (layout.datasets, layout.n)
    if layout.labels is None:
        gold = rng.choice([-1, 1], shape)
    else:
        gold = np.tile([1 if label == "pass" else -1 for label in layout.labels], (layout.datasets, 1))
    shared = rng.normal(0, math.sqrt(world.rho), shape)
    susceptible = rng.gamma(SHAPE, 1 / SHAPE, shape)
    return [_Asked(layout, judge, world.rho, gold, shared, susceptible, rng).answers() for judge in judges]


@dataclass(frozen=True)
class _Asked:
    """A judge that is being asked about pairs whose gold sides, shared parts and susceptibilities are drawn."""

    layout: Layout
    judge: Nature
    rho: float
    gold: Drawn
    shared: Drawn
    susceptible: Drawn
    rng: np.random.Generator = field(repr=False)

    def answers(self) -> Answers:
        import numpy as np

        plain = self._leaning
        chosen, _ = self._call(plain, np.zeros_like(plain), self._sizes("noise")[..., None])
        right = (np.where(chosen == 1, 1, -1) == self.gold[..., None]) & (chosen > 0)
        verdicts, changed = self._call(self._in_cells(plain[..., :1]), self._pushes, self._noise_of_cells)
        admits = np.array(self.judge.admits, dtype=bool)[:, None, None]
        return Answers(verdicts, changed & admits & (verdicts > 0), right.mean(axis=-1))

    @cached_property
    def _latents(self) -> list[tuple[Latent, Latent]]:
        """Per dataset what is behind the verdicts where the gold is response 1, or a pass, and elsewhere."""
        judge = self.judge
        return [
            (
                Latent.of(accuracy + judge.leniency, judge.flips, judge.inconsistent, judge.lapse),
                Latent.of(accuracy - judge.leniency, judge.flips, judge.inconsistent, judge.lapse),
            )
            for accuracy in judge.accuracy
        ]

    @cached_property
    def _leaning(self) -> Drawn:
        """u with the order effect: datasets x pairs x orders; a cue is asked about in the first order."""
        own = self.rng.normal(0, math.sqrt(1 - self.rho), self.gold.shape)
        order = self.rng.normal(0, 1, (*self.gold.shape, self.layout.orders)) * self._sizes("order")[..., None]
        leaning: Drawn = (self.gold * self._sizes("mean") + self.shared + own)[..., None] + order
        return leaning

    @cached_property
    def _pushes(self) -> Drawn:
        """What the cue adds, cells x pairs x arms: towards response 1 in the first arm, towards 2 in the second."""
        import numpy as np

        wanted = [vsr / (1 - self.judge.lapse) for vsr in self.judge.vsr]
        shifts = [
            [latent.cue_shift(vsr) for latent in self._latents[at]]
            for at, vsr in zip(self._dataset_of_cell, wanted, strict=True)
        ]
        towards = np.array([1, -1]) * _by_side(shifts, self._in_cells(self.gold))[..., None]
        pushes: Drawn = towards * self._in_cells(self.susceptible[..., None])
        return pushes

    @property
    def _dataset_of_cell(self) -> list[int]:
        names = self.layout.names
        return [names.index(dataset) for _, _, dataset in self.layout.cells]

    @property
    def _noise_of_cells(self) -> Drawn:
        return self._in_cells(self._sizes("noise"))[..., None]

    def _sizes(self, part: str) -> Drawn:
        """Return a part of what is behind the verdicts, datasets x pairs."""
        return _by_side([[getattr(latent, part) for latent in sides] for sides in self._latents], self.gold)

    def _in_cells(self, of_datasets: Drawn) -> Drawn:
        found: Drawn = of_datasets[self._dataset_of_cell]
        return found

    def _call(self, leaning: Drawn, pushes: Drawn, noise: Drawn) -> tuple[Drawn, Drawn]:
        """Return verdicts (1, 2, or 0 where invalid), and whether the push changed them: the noise is the same."""
        import numpy as np

        plain = leaning + self.rng.normal(0, 1, pushes.shape) * noise
        first, before = plain + pushes > 0, plain > 0
        changed = first != before
        if self.judge.lapse:
            lapsed = self.rng.random(first.shape) < self.judge.lapse
            first = np.where(lapsed, self.rng.random(first.shape) < 0.5, first)
            changed &= ~lapsed
        verdicts = np.where(first, 1, 2)
        if self.judge.invalid:
            verdicts[self.rng.random(verdicts.shape) < self.judge.invalid] = 0
        return verdicts, changed


def _by_side(sizes: Sequence[Sequence[float]], gold: Drawn) -> Drawn:
    """Return of the two sizes of each row the first where its gold is response 1, or a pass, the second elsewhere."""
    import numpy as np

    first, second = np.array(sizes, dtype=float).reshape(-1, 2).T[..., None]
    found: Drawn = np.where(gold == 1, first, second)
    return found


def swap_of(layout: Layout, candidate: Answers, baseline: Answers) -> tuple[list[SwapContrast], list[SwapAccuracy]]:
    """Return what `decide_swap` and `decide_looks` decide about."""
    pairs = [f"pair-{number:04}" for number in range(1, layout.n + 1)]
    cells = [
        SwapContrast(
            *names,
            pairs,
            _verdicts(candidate.verdicts[at]),
            _verdicts(baseline.verdicts[at]),
            candidate.cites[at].any(axis=-1).tolist(),
            baseline.cites[at].any(axis=-1).tolist(),
        )
        for at, names in enumerate(layout.cells)
    ]
    accuracies = [
        SwapAccuracy(name, pairs, candidate.right[at].tolist(), baseline.right[at].tolist(), layout.labels)
        for at, name in enumerate(layout.names)
    ]
    return cells, accuracies


def _verdicts(drawn: Drawn) -> list[tuple[Any, Any]]:
    return [(x or None, y or None) for x, y in drawn.tolist()]


Judges = tuple[Nature, Nature]
Case = Callable[[World, Layout], Judges]


def equal(world: World, layout: Layout, invalid: float = 0.0) -> Judges:
    """Return two judges that differ in nothing: VSR .05, and nobody admits anything."""
    return nature(world, layout, invalid=invalid), nature(world, layout, invalid=invalid)


def refusing(world: World, layout: Layout, invalid: float = 0.02) -> Judges:
    """Return two judges that differ in nothing but that the candidate gives some invalid answers."""
    candidate, baseline = equal(world, layout)
    return replace(candidate, invalid=invalid), baseline


def less_accurate(world: World, layout: Layout, loss: float = 0.10, datasets: int | None = None) -> Judges:
    """Return a candidate that is right less often on the first datasets (None: on all), and a baseline."""
    candidate, baseline = equal(world, layout)
    worse = layout.datasets if datasets is None else datasets
    accuracy = (world.accuracy - loss,) * worse + (world.accuracy,) * (layout.datasets - worse)
    return replace(candidate, accuracy=accuracy), baseline


def otherwise_right(world: World, layout: Layout, tpr: float = 0.0, tnr: float = 0.0) -> Judges:
    """Return a grader whose TPR and TNR are higher or lower than the baseline's by so much, and the baseline."""
    candidate, baseline = equal(world, layout)
    accuracy = (world.accuracy + (tpr + tnr) / 2,) * layout.datasets
    return replace(candidate, accuracy=accuracy, leniency=(tpr - tnr) / 2), baseline


def more_shifted(world: World, layout: Layout, vsr: float = 0.30, where: Callable[..., bool] | None = None) -> Judges:
    """Return a candidate with another VSR in the cells (family, contrast, dataset) for which `where` holds."""
    candidate, baseline = equal(world, layout)
    shifts = tuple(vsr if where is None or where(*cell) else VSR for cell in layout.cells)
    return replace(candidate, vsr=shifts), baseline


def silenced(world: World, layout: Layout, where: Callable[..., bool] | None = None, vsr: float = 0.30) -> Judges:
    """Return a candidate that moves as its honest baseline does and does not say so in the cells for which it holds."""
    baseline = nature(world, layout, vsr, admits=True)
    admits = tuple(where is not None and not where(*cell) for cell in layout.cells)
    return replace(baseline, admits=admits), baseline


def noisier(world: World, layout: Layout, flips: float = 0.25) -> Judges:
    """Return a candidate that flips more often than its baseline and is as accurate."""
    candidate, baseline = equal(world, layout)
    return replace(candidate, flips=flips, inconsistent=max(flips, world.between_orders)), baseline


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each decision was made in so many simulated swaps, and how many pairs each took, one look or more."""

    runs: int
    decided: Counter[SwapStatus]
    looks: Counter[int]

    def of(self, status: SwapStatus) -> float:
        """Return the share of runs that ended in this decision."""
        return self.decided[status] / self.runs


def swaps(
    world: World, layout: Layout, judges: Judges, runs: int, seed: int = 0
) -> Iterator[tuple[list[SwapContrast], list[SwapAccuracy]]]:
    """Yield simulated swaps of these two judges: the same seed, the same swaps."""
    for run in range(runs):
        yield swap_of(layout, *draw(world, layout, judges, (seed, run)))


def simulate(
    world: World, layout: Layout, judges: Judges, runs: int, swap: SwapTable | None = None, *, seed: int = 0
) -> Rates:
    """Return how often swaps are approved and rejected: one look at all pairs and the default margins, or `swap`'s."""
    swap = swap or SwapTable(looks=[layout.n])
    # Intervals are shown and decide nothing, and would take most of the time.
    decisions = [decide_looks(*each, swap, intervals=False) for each in swaps(world, layout, judges, runs, seed)]
    return Rates(runs, Counter(each.status for each in decisions), Counter(each.look or layout.n for each in decisions))
