"""What a design can show before it is run: held against the gate itself, table by table, and printed numbers."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import subprocess
import sys
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial, norm
from support.rendered import lines_about
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.accuracy import decide_accuracy, min_pairs_for_accuracy
from judgefixtures.checks.four_cells import FourCellMeasurement, decide_four_cells, min_pairs_for_four_cells
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.config import GateTable, build_config
from judgefixtures.models.check_rows import AccuracyRow
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.pairs import Example
from judgefixtures.statistics import Status, gate_shift, mean_interval, power, proportion
from judgefixtures.statistics.power import (
    PlannedContrast,
    pass_chance_of_designs,
    pass_probability,
    power_table,
    smallest_n,
)
from judgefixtures.swap import SwapAccuracy, SwapContrast, guards

no_deadline = settings(deadline=None)
brief = settings(deadline=None, max_examples=30)

tolerances = st.floats(0.02, 0.6)
alphas = st.floats(0.005, 0.4)


def passes(n10: int, n01: int, n: int, tolerance: float, alpha: float = 0.05) -> bool:
    """What the gate itself says of a table."""
    return gate_shift(n10, n01, n, tolerance, alpha).status is Status.PASS


def every_table(n: int) -> list[tuple[int, int]]:
    """All (n10, n01) of n pairs."""
    return [(n10, n01) for n10 in range(n + 1) for n01 in range(n + 1 - n10)]


# --- smallest_n ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tolerance", "fewest"), [(0.10, 25), (0.05, 52), (0.15, 16), (0.20, 11)])
def test_smallest_n(tolerance: float, fewest: int) -> None:
    """Zero flips PASS from 25, 52, 16 and 11 pairs on."""
    assert smallest_n(tolerance) == fewest


@no_deadline
@given(tolerances, alphas)
def test_smallest_n_is_where_zero_flips_pass(tolerance: float, alpha: float) -> None:
    """Without flips the gate says PASS at that n and not with a pair less."""
    n = smallest_n(tolerance, alpha)
    assert passes(0, 0, n, tolerance, alpha)
    assert n == 1 or not passes(0, 0, n - 1, tolerance, alpha)


@pytest.mark.parametrize("tolerance", [0.05, 0.10, 0.15, 0.20])
def test_nothing_passes_below_smallest_n(tolerance: float) -> None:
    """With a pair less the probability to PASS is 0 for every judge; with that many it is not."""
    n = smallest_n(tolerance)
    for flips, shift in itertools.product((0, 0.05, 0.5, 1), (0, 0.05)):
        if flips + shift <= 1:
            assert pass_probability(n - 1, tolerance, flips, shift) == 0
    assert pass_probability(n, tolerance, 0) == pytest.approx(1)


# --- pass_probability: against the gate, table by table -----------------------------------------------------


@pytest.mark.parametrize(
    ("n", "tolerance", "alpha"),
    [
        (1, 0.80, 0.05),
        (2, 0.70, 0.05),
        (7, 0.45, 0.05),
        (12, 0.20, 0.05),
        (13, 0.30, 0.01),
        (16, 0.15, 0.05),
        (16, 0.40, 0.10),
        (10, 0.05, 0.05),
    ],
)
def test_sum_over_every_table_of_few_pairs(n: int, tolerance: float, alpha: float) -> None:
    """The probability is scipy's multinomial summed over every table of which gate_shift says PASS."""
    passing = [table for table in every_table(n) if passes(*table, n, tolerance, alpha)]
    for flips, shift in [(0, 0), (0.05, 0), (0.3, 0), (1, 0), (0.1, 0.1), (0.1, -0.1), (0, 0.2), (0.4, -0.6), (0, 1)]:
        p10, p01 = flips / 2 + max(shift, 0), flips / 2 + max(-shift, 0)
        rest = max(1 - p10 - p01, 0.0)
        expected = sum(multinomial.pmf([n10, n01, n - n10 - n01], n, [p10, p01, rest]) for n10, n01 in passing)
        assert pass_probability(n, tolerance, flips, shift, alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "tolerance"), [(25, 0.10), (52, 0.05), (60, 0.15), (100, 0.10), (100, 0.15), (200, 0.10), (37, 0.6)]
)
def test_what_passes_ends_where_the_gate_says(n: int, tolerance: float) -> None:
    """For every number of flips, the last split that passes does at the gate, and one further does not."""
    reach = power.most_one_sided_flips(n, tolerance, 0.05)
    assert len(reach) == n + 1
    for total, most in enumerate(reach):
        if 2 * most >= total:
            assert passes(most, total - most, n, tolerance)
            assert passes(total - most, most, n, tolerance)
        assert most == total or not passes(most + 1, total - most - 1, n, tolerance)


@brief
@given(st.integers(1, 30), tolerances, alphas)
def test_what_passes_at_any_tolerance(n: int, tolerance: float, alpha: float) -> None:
    """Every table within the splits that pass does pass at the gate, and no other does."""
    reach = power.most_one_sided_flips(n, tolerance, alpha)
    for n10, n01 in every_table(n):
        if n10 >= n01 and (n10 - reach[n10 + n01]) in (0, 1):  # the two next to the end; the gate is monotone
            assert passes(n10, n01, n, tolerance, alpha) == (n10 <= reach[n10 + n01])


def array_z(d: float, n10: np.ndarray, n01: np.ndarray, n: int) -> np.ndarray:
    """Tango's statistic in closed form for many tables at once."""
    a, b, c = 2 * n, (2 * n - n10 + n01) * d - n10 - n01, -n01 * d * (1 - d)
    p01 = np.maximum((np.sqrt(np.maximum(b * b - 4 * a * c, 0)) - b) / (2 * a), max(0.0, -d))
    return np.asarray((n10 - n01 - n * d) / np.sqrt(n * (2 * p01 + d * (1 - d))))


@lru_cache
def passing_tables(n: int, tolerance: float) -> np.ndarray:
    """Every (n10, n01, rest) that passes, by enumeration of all tables."""
    n10, n01 = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    n10, n01 = n10[n10 + n01 <= n], n01[n10 + n01 <= n]
    z = norm.ppf(0.95)
    inside = (array_z(-tolerance, n10, n01, n) > z) & (array_z(tolerance, n10, n01, n) < -z)
    return np.asarray(np.stack([n10, n01, n - n10 - n01], axis=1)[inside])


@pytest.mark.parametrize(
    ("n", "tolerance"), [(50, 0.10), (100, 0.05), (100, 0.10), (100, 0.15), (200, 0.10), (300, 0.07)]
)
def test_sum_over_every_table_of_many_pairs(n: int, tolerance: float) -> None:
    """The probability is the multinomial summed over all tables that pass, n10 by n01."""
    for flips, shift in [(0.02, 0), (0.05, 0.05), (0.1, 0), (0.1, 0.1), (0.4, -0.03), (0.5, 0.16)]:
        probabilities = (flips / 2 + max(shift, 0), flips / 2 + max(-shift, 0))
        expected = multinomial.pmf(passing_tables(n, tolerance), n, [*probabilities, 1 - sum(probabilities)]).sum()
        assert pass_probability(n, tolerance, flips, shift) == pytest.approx(expected, abs=1e-11)


def test_simulated_runs() -> None:
    """A simulated judge passes as often as computed."""
    drawn = np.random.default_rng(3).multinomial(80, [0.09, 0.04, 0.87], size=1500)
    kinds, counts = np.unique(drawn[:, :2], axis=0, return_counts=True)
    passed = sum(int(k) for (b, c), k in zip(kinds.tolist(), counts, strict=True) if passes(b, c, 80, 0.12))
    expected = pass_probability(80, 0.12, flips=0.08, shift=0.05)
    assert passed / 1500 == pytest.approx(expected, abs=3.5 * math.sqrt(expected * (1 - expected) / 1500))


# --- pass_probability: what must hold -----------------------------------------------------------------------


@brief
@given(st.integers(1, 150), tolerances, st.floats(0, 0.5), st.floats(-0.5, 0.5))
def test_probability_is_one(n: int, tolerance: float, flips: float, shift: float) -> None:
    """It lies in 0..1 and does not depend on which label is favoured."""
    probability = pass_probability(n, tolerance, flips, shift)
    assert 0 <= probability <= 1
    assert probability == pass_probability(n, tolerance, flips, -shift)


@brief
@given(st.integers(1, 150), tolerances, tolerances, st.floats(0, 0.5), st.floats(0, 0.5))
def test_tolerance_helps(n: int, one: float, other: float, flips: float, shift: float) -> None:
    """A larger tolerance never makes a PASS less likely, and a smaller alpha never more."""
    strict, lenient = sorted((one, other))
    probability = pass_probability(n, lenient, flips, shift)
    assert pass_probability(n, strict, flips, shift) <= probability + 1e-12
    assert pass_probability(n, lenient, flips, shift, alpha=0.025) <= probability + 1e-12


@brief
@given(st.integers(1, 150), tolerances, st.floats(0, 0.5), st.floats(0, 0.5))
def test_flips_do_not_help_an_unbiased_judge(n: int, tolerance: float, one: float, other: float) -> None:
    """An unbiased judge with more noise flips is never more likely to PASS."""
    still, noisy = sorted((one, other))
    assert pass_probability(n, tolerance, noisy) <= pass_probability(n, tolerance, still) + 1e-12


@pytest.mark.parametrize("flips", [0.0, 0.05, 0.10, 0.4])
def test_size(flips: float) -> None:
    """A judge exactly at the tolerance passes in at most 5.8% of runs."""
    for n, tolerance in itertools.product((52, 100, 200), (0.10, 0.15, 0.20)):
        assert pass_probability(n, tolerance, flips, tolerance) <= 0.058


@pytest.mark.parametrize("n", [500, 1000])
def test_it_is_fast(n: int) -> None:
    """500 and 1000 pairs take under 0.3 seconds the first time (scipy being there), and nothing the second."""
    pass_probability(30, 0.1, 0.1)

    def anew() -> float:
        power.most_one_sided_flips.cache_clear()
        power._pass_probability.cache_clear()
        return pass_probability(n, 0.1, 0.1)

    assert quickest(anew, 0.3) < 0.3
    assert pass_probability(n, 0.1, 0.1) == anew()
    pass_probability(n, 0.1, 0.1)
    assert power._pass_probability.cache_info().hits == 1


# --- the printed numbers ------------------------------------------------------------------------------------


def twice_rounded(value: float) -> str:
    """As the table of operating characteristics was printed: to three decimals, then to two, halves to even."""
    three = Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    return str(three.quantize(Decimal("0.01"), ROUND_HALF_EVEN)).removeprefix("0")


@pytest.mark.parametrize(
    ("n", "flips", "printed"),
    [
        (50, 0.05, ".63 .20 .04 .00 .00"),
        (100, 0.05, ".97 .42 .05 .00 .00"),
        (100, 0.10, ".80 .32 .05 .00 .00"),
        (200, 0.10, ".99 .54 .05 .00 .00"),
        (500, 0.10, "1.00 .88 .05 .00 .00"),
    ],
)
def test_operating_characteristics(n: int, flips: float, printed: str) -> None:
    """The table shown to users (t = .10; VSR 0, .05, .10, .16, .30): noise half each way, the shift on top."""
    row = [pass_probability(n, 0.10, flips, shift) for shift in (0, 0.05, 0.10, 0.16, 0.30)]
    assert " ".join(map(twice_rounded, row)) == printed


SHIPPED = [
    (f"provenance-{x}-{y}", dataset)
    for dataset in ("house-qa", "house-stories")
    for x, y in itertools.combinations(("expert", "human", "llm", "unknown"), 2)
] + [("recency-new-old", "house-qa"), ("recency-new-old", "house-stories")]


def shipped(n: int, tolerance: float) -> list[PlannedContrast]:
    """The 14 contrasts that come with the package."""
    return [PlannedContrast(contrast, dataset, n, tolerance) for contrast, dataset in SHIPPED]


@pytest.mark.parametrize(
    ("count", "n", "tolerance", "few", "many"),
    [
        (20, 100, 0.10, "0.50", "0.01"),
        (20, 200, 0.10, "1.00", "0.80"),
        (20, 100, 0.15, "1.00", "0.84"),
        (14, 100, 0.15, "1.00", "0.89"),
        (14, 100, 0.10, "0.62", "0.05"),
        (14, 200, 0.10, "1.00", "0.86"),
    ],
)
def test_chance_of_a_whole_run(count: int, n: int, tolerance: float, few: str, many: str) -> None:
    """An unbiased judge passes all 20, or all 14, with the printed probability at 5% and at 10% flips."""
    designs = (shipped(n, tolerance) * 2)[:count]
    assert f"{pass_chance_of_designs(designs, 0.05):.2f}" == few
    assert f"{pass_chance_of_designs(designs, 0.10):.2f}" == many


# --- designs ------------------------------------------------------------------------------------------------

designs_of_any_kind = st.lists(
    st.builds(
        PlannedContrast,
        st.sampled_from(["recency-new-old", "provenance-human-llm", "provenance-expert-llm", "my-own-a-b"]),
        st.sampled_from(["qa", "stories"]),
        st.sampled_from([10, 20, 60, 100]),
        st.sampled_from([0.05, 0.10, 0.15]),
    ),
    max_size=8,
)


@no_deadline
@given(designs_of_any_kind, st.sampled_from([0.0, 0.05, 0.2]))
def test_chance_is_a_product(designs: list[PlannedContrast], flips: float) -> None:
    """The chance is the product over the designs, each at its own n and tolerance, and 1 for none."""
    expected = 1.0
    for each in designs:
        expected *= pass_probability(each.n, each.tolerance, flips)
    assert pass_chance_of_designs(designs, flips) == pytest.approx(expected)
    assert pass_chance_of_designs(iter(designs), flips) == pass_chance_of_designs(designs, flips)


def test_chance_knows_alpha() -> None:
    """A design's own alpha counts."""
    strict = PlannedContrast("recency-new-old", "mine", 100, 0.10, alpha=0.01)
    assert (
        pass_chance_of_designs([strict], 0.05)
        == pass_probability(100, 0.10, 0.05, alpha=0.01)
        < pass_probability(100, 0.10, 0.05)
    )


# --- the smallest n of everything else ------------------------------------------------------------------------


@brief
@given(st.floats(0.05, 0.6), st.floats(0.01, 0.4))
def test_smallest_n_of_cells(tolerance: float, alpha: float) -> None:
    """In both orders nothing moves: the gate says PASS at that n and not with a pair less."""
    table = GateTable(vsr_tolerance=tolerance, confidence=1 - 2 * alpha)

    def status(n: int) -> Status:
        still = mean_interval([0.0] * n, table.confidence)
        return decide_four_cells(FourCellMeasurement(still, still, 0), n, table).status

    n = min_pairs_for_four_cells(tolerance, alpha)
    assert status(n) is Status.PASS
    assert n == 1 or status(n - 1) is not Status.PASS


@brief
@given(st.floats(0.05, 0.99), st.floats(0.01, 0.4))
def test_smallest_n_of_accuracy(least: float, alpha: float) -> None:
    """With all answers right the gate says PASS at that n and not with a pair less."""
    table = GateTable(min_accuracy=least, confidence=1 - 2 * alpha)

    def status(n: int) -> Status:
        return decide_accuracy(AccuracyRow(category="all", n=n, correct=n, accuracy=proportion(n, n)), table).status

    n = min_pairs_for_accuracy(least, table.alpha)
    assert status(n) is Status.PASS
    assert n == 1 or status(n - 1) is not Status.PASS


def right(share: float, n: int) -> list[float]:
    """Return a judge that is right in this share of the orders of each of n pairs."""
    return [share] * n


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.10])
def test_fewest_pairs_of_a_swap_in_accuracy(margin: float) -> None:
    """A candidate that is always right passes against one that never is from `any` on, equal ones from `equal` on."""
    config = build_config({"swap": {"accuracy_margin": margin}})
    fewest = SwapCheck(None, 14).fewest(config, ())

    def passes(n: int, baseline: float) -> bool:
        part = SwapAccuracy("qa", [str(pair) for pair in range(n)], right(1.0, n), right(baseline, n))
        return guards(part, 14, config.swap)[0][0].status is Status.PASS

    assert [passes(fewest.any, 0.0), passes(fewest.any - 1, 0.0)] == [True, False]
    assert [passes(fewest.equal, 1.0), passes(fewest.equal - 1, 1.0)] == [True, False]


@pytest.mark.parametrize(("passed", "failed"), [(60, 60), (90, 30)])
def test_fewest_labels_of_a_swap_of_graders(passed: int, failed: int) -> None:
    """Graders that never differ pass accuracy, TPR, TNR and pass rate from `equal` on, at the classes' shares."""
    config = build_config({})
    examples = [Example(str(each), "Why?", "So.", label="pass" if each < passed else "fail") for each in range(120)]
    check = dataclasses.replace(SwapCheck(None, 14), graded=True)

    def passes(n: int) -> bool:
        labels = [example.label for example in [*examples[: n * passed // 120], *examples[120 - n * failed // 120 :]]]
        ids, alike = [str(each) for each in range(len(labels))], [1.0] * len(labels)
        found, lacking = guards(SwapAccuracy("own", ids, alike, alike, labels), 14, config.swap)
        assert {each.kind for each in found} == {"accuracy", "pass-rate", "tpr", "tnr"}
        return not lacking and {each.status for each in found} == {Status.PASS}

    least = check.fewest(config, examples)
    assert least.any <= least.equal
    assert [passes(least.equal), passes(least.equal - 4)] == [True, False]
    one_class = check.fewest(config, examples[:passed])
    assert one_class.any == passed + 10
    nobody = check.fewest(config, [dataclasses.replace(each, label=None) for each in examples])
    assert nobody.any == nobody.equal == 25


@pytest.mark.parametrize("cells", [1, 7, 14, 40])
def test_fewest_pairs_of_a_swap_in_a_contrast(cells: int) -> None:
    """With fewer than twenty pairs a contrast is not compared; judges that never move pass from `equal` on."""
    config = build_config({})
    check = SwapCheck(contrasts("recency")[0], cells)
    fewest = check.fewest(config, ())

    def statuses(n: int) -> set[Status]:
        still, silent = [((1, 1), (2, 2))[pair % 2] for pair in range(n)], [False] * n
        ids = [str(pair) for pair in range(n)]
        part = SwapContrast("recency", check.name, "qa", ids, still, still, silent, silent)
        return {each.status for each in guards(part, cells, config.swap)[0]}

    assert fewest.any == 20
    assert statuses(fewest.any - 1) == set()
    assert statuses(fewest.equal) == {Status.PASS}


@pytest.mark.parametrize(
    ("contrast", "family"), [("recency-new-old", "recency"), ("my-own-a-b", "my-own"), ("verbosity", "verbosity")]
)
def test_family(contrast: str, family: str) -> None:
    """The family is the contrast's id without its two labels."""
    assert PlannedContrast(contrast, "mine", 100, 0.1).family == family


def test_a_family_that_is_said_is_taken() -> None:
    """Where the id does not end in two labels, the family is given: it is the column of the table, too."""
    design = PlannedContrast("repeat-no-cue-1", "mine", 100, 0.15, group="repeat")
    assert design.family == "repeat"
    assert power_table([design])[1].split()[:2] == ["mine", "repeat"]


def test_designs_are_frozen() -> None:
    """A design cannot be changed, and equal designs are one."""
    design: Any = PlannedContrast("recency-new-old", "mine", 100, 0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        design.n = 200
    assert len({design, PlannedContrast("recency-new-old", "mine", 100, 0.1)}) == 1


# --- table --------------------------------------------------------------------------------------------------


def test_table_of_a_design_that_will_do(snapshot: SnapshotAssertion) -> None:
    """The 14 shipped contrasts at t = .15, n = 100: one line per dataset and family, the whole run, no warning."""
    assert "\n".join(power_table(shipped(100, 0.15))) == snapshot


def test_table_of_a_design_that_will_not_do(snapshot: SnapshotAssertion) -> None:
    """At t = .10 the last line warns, and names the pairs and the tolerance that would do."""
    *_, whole, warning = power_table(shipped(100, 0.10))
    assert whole == "P(all PASS | unbiased): 0.62 at 5% flips, 0.05 at 10%"
    assert warning == snapshot


def test_rows_are_distinct_designs() -> None:
    """Contrasts that differ in n, tolerance, alpha or dataset have lines of their own."""
    base = PlannedContrast("provenance-human-llm", "qa", 100, 0.15)
    others = [
        dataclasses.replace(base, **change)
        for change in (
            {"n": 90},
            {"tolerance": 0.2},
            {"alpha": 0.04},
            {"dataset": "b"},
            {"contrast": "recency-new-old"},
        )
    ]
    lines = power_table([base, *others, dataclasses.replace(base, contrast="provenance-expert-llm")])
    assert [line.split()[:3] for line in lines[1:-1]] == [
        ["qa", "provenance", "2"],
        ["qa", "provenance", "1"],
        ["qa", "provenance", "1"],
        ["qa", "provenance", "1"],
        ["b", "provenance", "1"],
        ["qa", "recency", "1"],
    ]
    assert len({len(line) for line in lines[:-1]}) == 1


@settings(deadline=None, max_examples=60)
@given(designs_of_any_kind.filter(bool))
def test_warning_keeps_its_promises(designs: list[PlannedContrast]) -> None:
    """It stands iff the run passes with less than .8; the n and tolerance it names do, a step less does not."""
    *_, last = power_table(designs)
    assert last.startswith("warning: ") == (pass_chance_of_designs(designs, 0.10) < 0.8)
    if found := re.search(r"(\d+) pairs per contrast", last):
        n = int(found[1])
        for pairs, enough in ((n, True), (n - 10, False)):
            raised = [dataclasses.replace(each, n=max(each.n, pairs)) for each in designs]
            assert (pass_chance_of_designs(raised, 0.10) >= 0.8) == enough
    if found := re.search(r"tolerance (0\.\d+)", last):
        for tolerance, enough in ((float(found[1]), True), (round(float(found[1]) - 0.01, 2), False)):
            wider = [dataclasses.replace(each, tolerance=max(each.tolerance, tolerance)) for each in designs]
            assert (pass_chance_of_designs(wider, 0.10) >= 0.8) == enough


def test_warning_without_a_remedy(snapshot: SnapshotAssertion) -> None:
    """Where neither twenty times the pairs nor a tolerance of a half would do, it names neither."""
    last = power_table([PlannedContrast("recency-new-old", "mine", 1, 0.01)] * 3000)[-1]
    assert lines_about(last, "fewer contrasts") == snapshot


def test_no_designs() -> None:
    """Nothing is said of nothing."""
    assert power_table([]) == []


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -5, 10.0, True, None])
def test_n_is_a_whole_number(n: Any, snapshot: SnapshotAssertion) -> None:
    """n must be a whole number of at least 1."""
    with pytest.raises(ValueError) as error:
        pass_probability(n, 0.1, 0.1)
    assert str(error.value) == snapshot


@pytest.mark.parametrize("tolerance", [0, 1, -0.1, 15, math.nan])
def test_tolerance_lies_between_0_and_1(tolerance: float, snapshot: SnapshotAssertion) -> None:
    """A tolerance outside (0, 1) is refused, by every function that takes one."""
    for refused in (
        lambda: pass_probability(10, tolerance, 0.1),
        lambda: smallest_n(tolerance),
        lambda: pass_chance_of_designs([PlannedContrast("a-b-c", "d", 100, tolerance)], 0.1),
        lambda: power_table([PlannedContrast("a-b-c", "d", 100, tolerance)]),
    ):
        with pytest.raises(ValueError) as error:
            refused()
        assert str(error.value) == snapshot


@pytest.mark.parametrize("alpha", [0, 0.5, 0.95])
def test_alpha_lies_below_one_half(alpha: float, snapshot: SnapshotAssertion) -> None:
    """An alpha outside (0, 0.5) is refused."""
    for refused in (lambda: pass_probability(10, 0.1, 0.1, alpha=alpha), lambda: smallest_n(0.1, alpha)):
        with pytest.raises(ValueError) as error:
            refused()
        assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("flips", "shift"), [(-0.1, 0), (1.1, 0), (0.5, 0.6), (0.5, -0.6), (math.nan, 0), (0, math.nan)]
)
def test_shares_that_no_judge_can_have(flips: float, shift: float) -> None:
    """More flips than pairs, or fewer than none, are refused; the message quotes what was given."""
    with pytest.raises(ValueError, match=re.escape(f"got flips={flips!r}, shift={shift!r}")):
        pass_probability(100, 0.1, flips, shift)


def test_all_pairs_may_flip_but_for_rounding() -> None:
    """0.9 + 0.1 and the like are 1."""
    assert pass_probability(50, 0.6, 0.7, 0.3) >= 0
    assert pass_probability(50, 0.6, 1.0) == pytest.approx(1, abs=5e-3)


@pytest.mark.whole
def test_importing_costs_nothing() -> None:
    """The module imports neither numpy nor scipy."""
    code = "import sys, judgefixtures.statistics.power; print({'numpy', 'scipy', 'statsmodels'} & {*sys.modules})"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
