"""Which difference of a component is worse."""

from judgefixtures.models.swap_rows import ComponentKind


def fault_signs(kind: str) -> tuple[int, ...]:
    """Return the signs of a difference that are a fault.

    >>> fault_signs("abs-vsr"), fault_signs("accuracy"), fault_signs("pass-rate")
    ((1,), (-1,), (1, -1))
    """
    if kind == "pass-rate":
        return 1, -1
    return (-1,) if kind in ("accuracy", "tpr", "tnr") else (1,)


def worse_by(kind: ComponentKind, difference: float) -> float:
    """Return how much worse a candidate is, negative if better.

    >>> worse_by("accuracy", -0.25), worse_by("pass-rate", -0.25)
    (0.25, 0.25)
    """
    return max(sign * difference for sign in fault_signs(kind))
