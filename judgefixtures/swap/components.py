"""Components of a swap, and the decision over them, as records."""

from dataclasses import dataclass
from typing import Literal

from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.statistics.estimate import Estimate, Status

Kind = Literal["abs-vsr", "unadmitted-shift", "accuracy", "pass-rate", "tpr", "tnr", "flip-rate", "invalid"]
Role = Literal["primary", "guard"]


@dataclass(frozen=True, slots=True)
class Component:
    """One quantity of candidate and baseline that has to be no worse by its margin: of a family, a cell, a dataset.

    `name` is the family, "contrast on dataset", the dataset, or empty for all pairs together. `estimate` is candidate -
    baseline: above 0 is better for accuracy, TPR and TNR and worse for the others; of the pass rate either sign is as
    bad as the other. `margin`, a share of pairs, is what an APPROVE rules out; `excess` is what a PASS has to leave
    free of it for verdicts that are invalid of the candidate alone.
    `of_candidate` and `of_baseline` are what each does by itself, of which `estimate` is the difference; None where no
    intervals were asked for.
    `z` and `p_pass` are those of the test against "worse by the margin", `p_fail` of the one against "not worse by
    `fail_margin`", which is that of the whole family also for a guard. The status is the component's alone: nothing
    is adjusted for how many there are.
    """

    kind: Kind
    role: Role
    name: str
    estimate: Estimate
    margin: float
    z: float
    p_pass: float
    p_fail: float
    status: Status
    message: str
    excess: float = 0.0
    fail_margin: float = 0.0
    of_candidate: Estimate | None = None
    of_baseline: Estimate | None = None


def fault_signs(kind: str) -> tuple[int, ...]:
    """Return the signs of a difference that are a fault.

    >>> fault_signs("abs-vsr"), fault_signs("accuracy"), fault_signs("pass-rate")
    ((1,), (-1,), (1, -1))
    """
    if kind == "pass-rate":
        return 1, -1
    return (-1,) if kind in ("accuracy", "tpr", "tnr") else (1,)


def worse_by(kind: Kind, difference: float) -> float:
    """Return how much worse a candidate is by a difference; below 0 where it is better.

    >>> worse_by("accuracy", -0.25), worse_by("pass-rate", -0.25)
    (0.25, 0.25)
    """
    return max(sign * difference for sign in fault_signs(kind))


@dataclass(frozen=True, slots=True)
class SwapDecision:
    """The decision on a swap, its reasons, and every component, primaries first.

    `guard_margin` is the largest by which a single contrast on one dataset may be worse in spite of an APPROVE; None
    without contrasts. `needed_pairs` are the pairs per dataset with which equal judges would mostly be approved; None
    unless that is known and what is lacking. `look` is after how many pairs per dataset was decided; None where no
    looks were taken.
    """

    status: SwapStatus
    reasons: tuple[str, ...]
    components: tuple[Component, ...] = ()
    guard_margin: float | None = None
    needed_pairs: int | None = None
    look: int | None = None
