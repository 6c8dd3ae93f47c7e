"""How gates with looks end, exactly: held against the gate itself, table by table, and against what the docs say."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pytest
from scipy.stats import multinomial
from support.project import REPOSITORY
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import GateTable
from judgefixtures.statistics import Status, gate_shift
from judgefixtures.statistics.alpha_spending import gate_look_levels, planned_levels
from judgefixtures.statistics.power import (
    PlannedContrast,
    describe_run_chances,
    pass_chance_of_designs,
    pass_probability,
    power_table,
    smallest_n,
)
from judgefixtures.statistics.sequential import Steps, expected_looks, sequential_outcome

LOOKS = (25, 50, 100)
STEPS = planned_levels(LOOKS, 100, 0.05)
PLANNED = PlannedContrast("recency-new-old", "mine", 100, 0.15, steps=STEPS, least_of_shift=25)


@cache
def status_of(n10: int, n01: int, n: int, tolerance: float, alpha: float) -> Status:
    """What the gate says of a table."""
    return gate_shift(n10, n01, n, tolerance, alpha).status


def by_tables(steps: Steps, tolerance: float, flips: float, shift: float) -> list[tuple[float, float]]:
    """PASS and FAIL at each look, by every way in which the pairs of each look can turn out."""
    p10, p01 = flips / 2 + shift, flips / 2
    open_tables, before, found = {(0, 0): 1.0}, 0, []
    for n, level in steps:
        more, following = n - before, {}
        for (n10, n01), chance_of in open_tables.items():
            for k10, k01 in itertools.product(range(more + 1), repeat=2):
                if k10 + k01 <= more:
                    chances = [p10, p01, max(1 - p10 - p01, 0.0)]
                    share = multinomial.pmf([k10, k01, more - k10 - k01], more, chances)
                    key = (n10 + k10, n01 + k01)
                    following[key] = following.get(key, 0.0) + chance_of * float(share)
        ended: dict[Status, float] = dict.fromkeys(Status, 0.0)
        open_tables, before = {}, n
        for each, chance_of in following.items():
            status = status_of(*each, n, tolerance, level)
            ended[status] += chance_of
            if status is Status.INCONCLUSIVE:
                open_tables[each] = chance_of
        found.append((ended[Status.PASS], ended[Status.FAIL]))
    return found


@pytest.mark.parametrize("steps", [((8, 0.03), (14, 0.04)), ((6, 0.1), (6, 0.1), (9, 0.05)), ((10, 0.05),)])
def test_every_table_at_every_look(steps: Steps) -> None:
    """The chances are those of all tables of which gate_shift says PASS or FAIL, without those that ended before."""
    for flips, shift in ((0.0, 0.0), (0.1, 0.0), (0.2, 0.3), (0.0, 0.7), (0.4, 0.5)):
        found = sequential_outcome(steps, 0.35, flips, shift)
        expected_of = by_tables(steps, 0.35, flips, shift)
        assert list(zip(found.passed, found.failed, strict=True)) == [pytest.approx(each) for each in expected_of]


def test_one_look_is_the_gate_that_looks_once() -> None:
    """With one look the chance of a PASS is that of the fixed design, whichever way the shift is."""
    for flips, shift in ((0.0, 0.0), (0.05, 0.05), (0.1, -0.15), (0.2, 0.15)):
        once = sequential_outcome(((100, 0.05),), 0.15, flips, shift)
        assert once.passes == pytest.approx(pass_probability(100, 0.15, flips, shift), abs=1e-12)
        assert once.pairs == 100


@pytest.mark.parametrize("tolerance", [0.10, 0.15, 0.20])
@pytest.mark.parametrize("flips", [0.0, 0.02, 0.05, 0.10, 0.20])
def test_errors_at_the_tolerance(tolerance: float, flips: float) -> None:
    """A judge that moves by exactly the tolerance passes in at most .055 and fails in at most .065."""
    found = sequential_outcome(STEPS, tolerance, flips, tolerance)
    assert found.passes <= 0.055
    assert found.fails <= 0.065


@pytest.mark.parametrize(
    ("flips", "shift", "pairs", "passes"), [(0, 0, 25, 1.0), (0.02, 0, 36, 1.0), (0.05, 0, 52, 1.0), (0.05, 0.4, 41, 0)]
)
def test_steady_judges_end_early(flips: float, shift: float, pairs: int, passes: float) -> None:
    """A judge that does not move is decided with a quarter of the pairs to a half; so is one that moves far."""
    found = sequential_outcome(STEPS, 0.15, flips, shift)
    assert round(found.pairs) == pairs
    assert found.passes == pytest.approx(passes, abs=0.001)


def test_what_looks_cost() -> None:
    """At a shift of a third of the tolerance they pass .81 where one look passes .87."""
    assert round(sequential_outcome(STEPS, 0.15, 0.05, 0.05).passes, 2) == 0.81
    assert round(pass_probability(100, 0.15, 0.05, 0.05), 2) == 0.87


@pytest.mark.slow
def test_peeking_errs_more_with_every_look() -> None:
    """A judge at the tolerance passes the more often the more looks are taken at .05 each; planned ones hold it."""
    errors = []
    for looks in ((100,), (25, 50, 100, 200), tuple(range(30, 401, 10))):
        steps = tuple((look, 0.05) for look in looks)
        errors.append(sequential_outcome(steps, 0.15, 0.05, 0.15, until_pass=True).passes)
    assert [round(each, 2) for each in errors] == [0.04, 0.11, 0.21]
    assert sequential_outcome(STEPS, 0.15, 0.05, 0.15, until_pass=True).passes < 0.05


@pytest.mark.parametrize(
    ("steps", "tolerance", "flips", "shift"),
    [
        ((), 0.15, 0.0, 0.0),
        (((50, 0.05), (25, 0.05)), 0.15, 0.0, 0.0),
        (((0, 0.05),), 0.15, 0.0, 0.0),
        (((25, 0.5),), 0.15, 0.0, 0.0),
        (((25, 0.05),), 1.0, 0.0, 0.0),
        (((25, 0.05),), 0.15, 0.9, 0.2),
        (((25, 0.05),), 0.15, -0.1, 0.0),
    ],
)
def test_impossible_designs_are_refused(steps: Any, tolerance: float, flips: float, shift: float) -> None:
    """No looks, looks that decrease, levels, tolerances and shares that cannot be are errors."""
    with pytest.raises(ValueError, match="must"):
        sequential_outcome(steps, tolerance, flips, shift)


def test_the_mean_of_looks() -> None:
    """It is that of the looks by the chance that each is the last."""
    assert expected_looks((25, 50, 100), (1.0, 1.0, 1.0)) == 25
    assert expected_looks((25, 50, 100), (0.0, 0.0, 1.0)) == 100


# --- levels --------------------------------------------------------------------------------------------------


def test_levels_of_all_planned_pairs_are_those_of_the_gate() -> None:
    """At the last look they are those of gate_levels, rounded down by half of the last digit of a confidence."""
    for (_, rounded), level in zip(STEPS, gate_look_levels(LOOKS, 0.05), strict=True):
        assert 0 <= level - rounded < 5e-5
        assert round(1 - 2 * rounded, 4) == pytest.approx(1 - 2 * rounded, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "looks"), [(10, (10,)), (25, (25,)), (30, (25, 30)), (100, LOOKS), (101, (101,)), (400, (400,))]
)
def test_looks_are_those_that_there_are_pairs_for(pairs: int, looks: tuple[int, ...]) -> None:
    """The last look is at all pairs; more than were planned are decided on once, with all of alpha."""
    found = planned_levels(LOOKS, pairs, 0.05)
    assert tuple(look for look, _ in found) == looks
    assert (found[-1][1] == 0.05) == (pairs > 100)


# --- a whole run ---------------------------------------------------------------------------------------------


def test_a_planned_design_has_the_chances_of_its_looks() -> None:
    """Its chance is that of any look; with more pairs than it plans it is decided once."""
    assert PLANNED.chance(0.1) == sequential_outcome(STEPS, 0.15, 0.1).passes
    assert PLANNED.with_pairs(200).chance(0.1) == pass_probability(200, 0.15, 0.1)
    assert PLANNED.with_pairs(50) is PLANNED
    assert PLANNED.fewest == 25 > smallest_n(0.15)
    assert power_table([PLANNED])[1].split()[3:6] == ["100", "25", "0.15"]


def test_what_a_green_run_says(snapshot: SnapshotAssertion) -> None:
    """Fourteen contrasts at once: the figures of benchmarks/results.md, with looks and without."""
    shipped = [PlannedContrast("recency-new-old", "mine", 100, 0.15)] * 14
    assert describe_run_chances(shipped)[:2] == snapshot
    assert lines_about(describe_run_chances(shipped)[2], "tolerance passes") == snapshot
    assert "all 14 in 0.80 of runs at 5% flips, 0.36 at 10%" in describe_run_chances([PLANNED] * 14)[0]
    text = (REPOSITORY / "benchmarks" / "results.md").read_text()
    for shift in (0.0, 0.02, 0.05, 0.08):
        shares = [
            pass_chance_of_designs(each, flips, shift) for each in (shipped, [PLANNED] * 14) for flips in (0.05, 0.10)
        ]
        cells = " | ".join(f"{share:.2f}".lstrip("0") for share in shares)
        assert f"| {f'{shift:.2f}'.lstrip('0') if shift else '0'} | {cells} |" in text


def test_a_green_run_of_other_designs(snapshot: SnapshotAssertion) -> None:
    """A shift that is no smaller than a tolerance is not called allowed; one contrast is no "all 1"; none says nothing."""
    strict = PlannedContrast("attack-authority", "mine", 200, 0.05)
    said = describe_run_chances([strict, PlannedContrast("recency-new-old", "mine", 100, 0.15)])
    assert [line.split(" in every")[0] for line in said[:1]] == snapshot
    assert len(said) == 2
    assert lines_about(describe_run_chances([strict])[0], "passes its") == snapshot
    assert len(describe_run_chances([PlannedContrast("recency-new-old", "mine", 400, 0.02)])) == 1
    assert "less than 0.0001" in describe_run_chances([PlannedContrast("recency-new-old", "mine", 400, 0.15)])[-1]
    assert describe_run_chances([]) == []


def test_the_gate_itself_is_asked() -> None:
    """A run whose gate is stricter, or less sure, has other levels."""
    assert (
        planned_levels([25, 50], 50, GateTable(confidence=0.98).alpha)[0][1] < planned_levels([25, 50], 50, 0.05)[0][1]
    )


def test_the_preflight_promises_nothing_of_more_pairs_within_the_plan(snapshot: SnapshotAssertion) -> None:
    """With fewer pairs than the last look it advises more than that, whose chance it knows, and says that it does."""
    short = PlannedContrast("recency-new-old", "mine", 40, 0.15, steps=((25, 0.01785), (40, 0.01135)), last_look=100)
    assert [short.with_pairs(n).n for n in (50, 90, 100, 110)] == [40, 40, 40, 110]
    warned = power_table([short] * 14)[-1]
    assert lines_about(warned, "beyond the last") == snapshot
