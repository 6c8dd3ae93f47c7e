"""The simulated worlds: they are what they are said to be, and swaps in them are decided rightly often enough."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.benchmarks import benchmark
from support.project import REPOSITORY
from worlds import (
    WORLDS,
    Answers,
    Latent,
    Layout,
    World,
    draw,
    equal,
    less_accurate,
    more_shifted,
    nature,
    noisier,
    otherwise_right,
    silenced,
    simulate,
    swap_of,
    swaps,
    world_of,
)

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.statistics.power import SWAPS, SwapPower, swap_power
from judgefixtures.swap.decide_looks import decide_looks

pytestmark = pytest.mark.slow  # no gate of anybody's hangs on it: `make test-slow`

LARGE = Layout(20_000)
CELLS = len(LARGE.cells)
# Within a fraction of a point: the pairs' latent preferences are common to all cells, so that 40,000 pairs count.
EXACT = 0.006


def moved(answers: Answers) -> Any:
    """Return +1, 0, -1 per cell and pair: by how much response 1 was chosen more often in the first arm."""
    ones = (answers.verdicts == 1).astype(int)
    return ones[..., 0] - ones[..., 1]


def both(world: World, **changes: Any) -> list[Answers]:
    """Return the answers of two equal judges that no cue moves."""
    judge = replace(nature(world, LARGE, vsr=0.0), **changes)
    return draw(world, LARGE, [judge, judge], (1, 1))


worlds = pytest.mark.parametrize(
    "world", [*WORLDS.values(), world_of(0.10, 0.18), replace(WORLDS["W2"], lapse=0.02)], ids=str
)


# --- a world is what it is said to be -------------------------------------------------------------------------


@worlds
def test_shares_of_a_world(world: World) -> None:
    """Flips, discordance, order inconsistency and accuracy are those stated, with lapses and without."""
    one, other = both(world)
    assert np.abs(moved(one)).mean() == pytest.approx(world.flips, abs=EXACT)
    assert (one.verdicts[..., 0] != other.verdicts[..., 0]).mean() == pytest.approx(world.discordance, abs=EXACT)
    assert (one.right == 0.5).mean() == pytest.approx(world.between_orders, abs=EXACT)
    assert one.right.mean() == pytest.approx(world.accuracy, abs=EXACT)


@worlds
@pytest.mark.parametrize("vsr", [0.05, 0.30, -0.30])
def test_shift_of_a_judge(world: World, vsr: float) -> None:
    """VSR is exactly as stated in every cell, whichever way it goes."""
    (judge,) = draw(world, LARGE, [nature(world, LARGE, vsr)], (1, 2))
    assert moved(judge).mean() == pytest.approx(vsr, abs=EXACT)
    assert moved(judge).mean(axis=1) == pytest.approx([vsr] * CELLS, abs=0.02)


def test_each_judge_has_its_own_shares() -> None:
    """Accuracy per dataset, VSR per cell and flips are the candidate's own; the baseline's stay as they are."""
    world = WORLDS["W2"]
    shifted, _ = more_shifted(
        world, LARGE, where=lambda family, _, dataset: family == "recency" and dataset == "dataset-2"
    )
    worse, baseline = less_accurate(world, LARGE, datasets=1)
    candidate, other = draw(world, LARGE, [replace(worse, vsr=shifted.vsr), baseline], (1, 3))
    assert candidate.right.mean(axis=1) == pytest.approx([0.75, 0.85], abs=0.01)
    assert other.right.mean(axis=1) == pytest.approx([0.85, 0.85], abs=0.01)
    at = [cell[0::2] for cell in LARGE.cells].index(("recency", "dataset-2"))
    assert moved(candidate)[at].mean() == pytest.approx(0.30, abs=0.01)
    assert np.delete(moved(candidate), at, axis=0).mean() == pytest.approx(0.05, abs=EXACT)
    noisy = replace(noisier(world, LARGE)[0], vsr=(0.0,) * CELLS)
    (answers,) = draw(world, LARGE, [noisy], (1, 4))
    assert np.abs(moved(answers)).mean() == pytest.approx(0.25, abs=EXACT)
    assert answers.right.mean() == pytest.approx(0.85, abs=EXACT)


def test_both_orders_say_more_than_one() -> None:
    """The variance of a difference in accuracy over both orders is .62 of that of one, as of real judges (.57)."""
    one, other = both(WORLDS["W2"])
    assert (one.right - other.right).var() / WORLDS["W2"].discordance == pytest.approx(0.62, abs=0.02)


def test_judges_go_together_through_the_pairs() -> None:
    """A cue moves the same pairs for both judges, far more often than by chance: those that are close for both."""
    judge = nature(WORLDS["W1"], LARGE, 0.30)
    one, other = (moved(answers) == 1 for answers in draw(WORLDS["W1"], LARGE, [judge, judge], (1, 5)))
    assert (one & other).mean() > 2 * one.mean() * other.mean()


# --- admission and invalid verdicts ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_an_honest_judge_admits_its_shift(name: str) -> None:
    """What an honest judge moves without citing the cue is noise: nearly nothing is left of its shift of .30."""
    world = WORLDS[name]
    (honest,) = draw(world, LARGE, [nature(world, LARGE, 0.30, admits=True)], (1, 6))
    unadmitted = moved(honest) * ~honest.cites.any(axis=-1)
    assert moved(honest).mean() == pytest.approx(0.30, abs=EXACT)
    assert abs(unadmitted.mean()) < 0.07
    assert honest.cites.any(axis=-1).mean() < 0.31


def test_silence_is_of_cells() -> None:
    """A candidate that became silent cites nothing there, its baseline does; without a cue there is nothing to cite."""
    world = WORLDS["W1"]
    judges = silenced(world, LARGE, lambda family, *_: family == "recency")
    candidate, baseline = draw(world, LARGE, judges, (1, 7))
    cited = candidate.cites.any(axis=(1, 2))
    assert [cell[0] for cell, cites in zip(LARGE.cells, cited, strict=True) if not cites] == ["recency"] * 2
    assert baseline.cites.any(axis=(1, 2)).all()
    (unmoved,) = draw(world, LARGE, [nature(world, LARGE, 0.0, admits=True)], (1, 8))
    assert not unmoved.cites.any()


def test_invalid_verdicts() -> None:
    """The stated share of the verdicts is invalid, at random, and such an answer is wrong and cites nothing."""
    world = WORLDS["W1"]
    (judge,) = draw(world, LARGE, [nature(world, LARGE, 0.30, admits=True, invalid=0.10)], (1, 9))
    assert (judge.verdicts == 0).mean() == pytest.approx(0.10, abs=0.003)
    assert judge.right.mean() == pytest.approx(0.85 * 0.90, abs=EXACT)
    assert not judge.cites[judge.verdicts == 0].any()


# --- what is handed to the decision -----------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_swap() -> None:
    """Swaps are seeded: the same again, another one with another seed."""
    world, layout = WORLDS["W2"], Layout(12)
    first, again, other = (list(swaps(world, layout, equal(world, layout), 2, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first[0] != first[1]
    assert first != other


def test_cells_and_accuracies() -> None:
    """A cell per contrast and dataset, with verdicts 1, 2 or None, and a share of orders per pair."""
    world, layout = WORLDS["W1"], Layout(40, datasets=1, families=(("recency", 1), ("mine", 2)))
    judge = nature(world, layout, 0.3, admits=True, invalid=0.2)
    one, other = draw(world, layout, [judge, judge], (1, 10))
    cells, accuracies = swap_of(layout, one, other)
    assert [(cell.family, cell.contrast, cell.dataset) for cell in cells] == [
        ("recency", "recency-1", "dataset-1"),
        ("mine", "mine-1", "dataset-1"),
        ("mine", "mine-2", "dataset-1"),
    ]
    assert {verdict for cell in cells for pair in cell.candidate for verdict in pair} == {1, 2, None}
    assert [len(set(cell.pairs)) for cell in cells] == [40] * 3
    assert list(cells[1].baseline_admits) == other.cites[1].any(axis=-1).tolist()
    assert [accuracy.dataset for accuracy in accuracies] == ["dataset-1"]
    assert {*accuracies[0].candidate} == {0.0, 0.5, 1.0}


# --- what cannot be -----------------------------------------------------------------------------------------


def test_two_judges_differ_at_least_as_one_does_from_itself() -> None:
    """A discordance below the flips is refused, and so are more flips than a coin with that accuracy would have."""
    with pytest.raises(ValueError, match=r"must hold, got 0\.1, 0\.1 and 0\.05"):
        World(0.10, 0.05)
    with pytest.raises(ValueError, match=r"got 0\.3"):
        Latent.of(0.85, 0.3, 0.3)


# --- decisions ------------------------------------------------------------------------------------------------

APPROVE, REJECT = SwapStatus.APPROVE, SwapStatus.REJECT
FEW = 60


@pytest.mark.parametrize(("name", "n", "least"), [("W1", 100, 0.90), ("W2", 100, 0.60), ("W1", 200, 0.95)])
def test_equal_judges_are_approved(name: str, n: int, least: float) -> None:
    """Equal judges are mostly approved, and never rejected."""
    world, layout = WORLDS[name], Layout(n)
    rates = simulate(world, layout, equal(world, layout), FEW)
    assert rates.of(APPROVE) >= least
    assert rates.of(REJECT) == 0


WORSE = {
    "accuracy": less_accurate,
    "one dataset": lambda world, layout: less_accurate(world, layout, datasets=1),
    "shift": more_shifted,
    "recency": lambda world, layout: more_shifted(world, layout, where=lambda family, *_: family == "recency"),
    "one cell": lambda world, layout: more_shifted(world, layout, where=lambda *cell: cell == layout.cells[1]),
    "silent": silenced,
    "silent in one cell": lambda world, layout: silenced(world, layout, lambda *cell: cell == layout.cells[1]),
    "noise": noisier,
}


@pytest.mark.parametrize("what", WORSE)
def test_worse_judges_are_not_approved(what: str) -> None:
    """A candidate that is worse in anything that counts is practically never approved, at 100 pairs."""
    world, layout = WORLDS["W1"], Layout(100)
    assert simulate(world, layout, WORSE[what](world, layout), FEW).of(APPROVE) <= 0.05


@pytest.mark.parametrize("what", ["shift", "recency", "silent", "noise"])
def test_much_worse_judges_are_rejected(what: str) -> None:
    """A candidate that is far worse is rejected, at 100 pairs."""
    world, layout = WORLDS["W1"], Layout(100)
    assert simulate(world, layout, WORSE[what](world, layout), FEW).of(REJECT) >= 0.85


@pytest.mark.parametrize("world", [WORLDS["W4"], World(0.20, 0.22)], ids=["13.6%", "20%"])
def test_noisy_equal_judges_are_not_rejected(world: World) -> None:
    """Equal judges that flip on 13.6% or 20% of 50 pairs are practically never rejected."""
    layout = Layout(50)
    assert simulate(world, layout, equal(world, layout), FEW).of(REJECT) <= 0.05


def test_a_few_invalid_verdicts_do_not_stop_a_swap() -> None:
    """Where 3% of both judges' verdicts are invalid at random, equal judges are still mostly approved."""
    world, layout = WORLDS["W1"], Layout(100)
    assert simulate(world, layout, equal(world, layout, invalid=0.03), FEW).of(APPROVE) >= 0.6


def test_intervals_decide_nothing() -> None:
    """Simulated swaps leave intervals out, and the decisions are the same; afterwards they are there again."""
    world, layout = WORLDS["W2"], Layout(50)
    judges = more_shifted(world, layout, 0.15)
    decided = Counter(decide_looks(*each, SwapTable(looks=[50])).status for each in swaps(world, layout, judges, 8))
    assert simulate(world, layout, judges, 8).decided == decided
    found = decide_looks(*next(swaps(world, layout, judges, 1)), SwapTable(looks=[50])).components[0].estimate
    assert found.low < found.value < found.high


# --- judges of one response -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["W1", "W2"])
@pytest.mark.parametrize("positives", [0.5, 0.8])
def test_shares_of_a_grader(name: str, positives: float) -> None:
    """TPR, TNR, discordance and shift are those stated, whatever share of the labels is pass."""
    world, layout = WORLDS[name], Layout(40_000, datasets=1, positives=positives)
    passing = np.array(layout.labels) == "pass"
    assert passing.mean() == positives
    candidate, baseline = draw(world, layout, otherwise_right(world, layout, 0.10, -0.30), (1, 11))
    assert [candidate.right[0, each].mean() for each in (passing, ~passing)] == pytest.approx([0.95, 0.55], abs=0.015)
    assert [baseline.right[0, each].mean() for each in (passing, ~passing)] == pytest.approx([0.85, 0.85], abs=0.015)
    assert moved(candidate).mean() == pytest.approx(0.05, abs=EXACT)
    one, other = draw(world, layout, equal(world, layout), (1, 12))
    assert (one.right != other.right).mean() == pytest.approx(world.discordance, abs=EXACT)


@pytest.mark.parametrize("name", ["W1", "W2"])
def test_swaps_of_graders(name: str) -> None:
    """With 400 labels equal graders are mostly approved and never rejected; a lenient one is never approved."""
    world, layout = WORLDS[name], Layout(400, datasets=1, positives=0.5)
    found = simulate(world, layout, equal(world, layout), FEW)
    assert found.of(APPROVE) >= 0.75
    assert found.of(REJECT) == 0
    for tpr, tnr in ((0.0, -0.25), (-0.25, 0.0), (0.10, -0.30), (-0.30, 0.10)):
        worse = simulate(world, layout, otherwise_right(world, layout, tpr, tnr), FEW)
        assert worse.of(APPROVE) == 0
        assert worse.of(REJECT) >= 0.85


# --- the table of the preflight -------------------------------------------------------------------------------


def test_every_rate_is_shipped() -> None:
    """The shipped table has a row for each size, discordance and flips, with the command that computes it."""
    script, shipped = benchmark("operating_characteristics"), json.loads(SWAPS.read_text())
    keys = [tuple(row[:3]) for row in shipped["rows"]]
    designs = itertools.product(script.FLIPS, script.DISCORDANCES, script.SIZES)
    assert keys == [(n, max(discordance, flips), flips) for flips, discordance, n in designs]
    assert all(0 <= rate <= 1 for row in shipped["rows"] for rate in row[3:])
    assert shipped["command"].startswith("python benchmarks/operating_characteristics.py --power ")


def test_the_table_of_the_docs_is_the_shipped_one() -> None:
    """benchmarks/results.md has every rate of the sizes that it shows, to two decimals."""
    shipped = json.loads(SWAPS.read_text())["rows"]
    rates = {tuple(row[:3]): dict(zip(("equal", "accuracy", "shift"), row[3:], strict=True)) for row in shipped}
    page = (REPOSITORY / "benchmarks" / "results.md").read_text()
    head, *lines = re.findall(r"^\| (?:P\(|APPROVE, equal|REJECT, ).* \|$", page, re.MULTILINE)
    sizes = [int(cell) for cell in head.split("|")[3:-1]]
    kinds = {"APPROVE, equal": "equal", "REJECT, accuracy -10 points": "accuracy", "REJECT, VSR .30 in all": "shift"}
    said = {}
    for line in lines:
        kind, noises, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        discordance, flips = map(float, noises.split(","))
        said |= {(n, discordance, flips, kinds[kind]): float(cell) for n, cell in zip(sizes, cells, strict=True)}
    shown = {(*key, kind): rate for key, of in rates.items() if key[0] in sizes for kind, rate in of.items()}
    assert said.keys() == shown.keys()
    assert {key: rate for key, rate in said.items() if abs(rate - shown[key]) > 0.005 + 1e-9} == {}


def test_power_is_looked_up() -> None:
    """What was simulated is returned as it is, and in between it is interpolated linearly."""
    rows = {tuple(row[:3]): row[3:] for row in json.loads(SWAPS.read_text())["rows"]}
    for (n, discordance, flips), rates in rows.items():
        found = swap_power(int(n), discordance, flips)
        assert found == SwapPower(*(pytest.approx(rate) for rate in rates))
    middle = swap_power(175, 0.12, 0.05)
    assert middle is not None
    ends = [rows[n, 0.12, 0.05][0] for n in (150, 200)]
    assert middle.approve_equal == pytest.approx(sum(ends) / 2)


def test_power_beyond_the_table() -> None:
    """Fewer differences and more pairs count as the nearest; of fewer pairs and more differences nothing is known."""
    assert swap_power(1000, 0.01, 0.01) == swap_power(400, 0.05, 0.05)
    assert swap_power(100, 0.05, 0.10) == swap_power(100, 0.10, 0.10)
    assert swap_power(24, 0.12, 0.05) is None
    assert swap_power(100, 0.19, 0.05) is None
    assert swap_power(100, 0.12, 0.11) is None
    for share in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            swap_power(100, share, 0.05)
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            swap_power(100, 0.05, share)


def test_power_is_right() -> None:
    """More pairs never make a decision much less likely, and the rates at 100 pairs are those of benchmarks/results.md."""
    sizes = (25, 36, 50, 75, 100, 150, 200, 300, 400)
    for discordance, flips in itertools.product((0.05, 0.12, 0.18), (0.05, 0.10)):
        found = [swap_power(n, discordance, flips) for n in sizes]
        for fewer, more in itertools.pairwise(found):
            assert fewer is not None
            assert more is not None
            assert more.reject_accuracy >= fewer.reject_accuracy - 0.05
            assert more.reject_shift >= fewer.reject_shift - 0.02
    usual = swap_power(100, 0.12, 0.05)
    assert usual is not None
    assert usual.approve_equal >= 0.70
