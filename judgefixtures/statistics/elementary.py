"""Argument checks, the normal distribution and root finding."""

import math
import operator
from collections.abc import Callable
from functools import lru_cache


def check_counts(
    n10: float, n01: float, n: int, names: tuple[str, str] = ("n10", "n01"), *, halves: bool = False
) -> tuple[float, float, int]:
    """Return counts as Python integers, or halves with `halves`."""
    count = _half if halves else check_whole
    n10, n01, n = count(n10, names[0]), count(n01, names[1]), check_whole(n, "n")
    if n < 1 or n10 < 0 or n01 < 0 or n10 + n01 > n:
        raise ValueError(f"counts must be >= 0 and sum to at most n >= 1, got {n10}, {n01} of n={n}")
    return n10, n01, n


def _half(value: float, name: str) -> float:
    return float(value) if isinstance(value, float) and value % 1 == 0.5 else check_whole(value, name)


def check_whole(value: float, name: str) -> int:
    """Return a whole number, or raise ValueError."""
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return whole


def check_number(value: float, name: str) -> float:
    """Return a number as a float, or raise ValueError."""
    try:
        number = None if isinstance(value, str) else float(value)
    except TypeError:  # nothing, or a list
        number = None
    if number is None:
        raise ValueError(f"{name} must be a number, got {value!r}")
    return number


def check_open(value: float, name: str) -> float:
    """Return a value inside (0, 1), or raise ValueError."""
    return check_inside(value, name, 1)


def check_alpha(alpha: float, **limits: float) -> None:
    """Raise ValueError for an alpha or limits out of range."""
    for name, limit in limits.items():
        check_open(limit, name)
    check_inside(alpha, "alpha", 0.5)


def check_inside(value: float, name: str, high: float) -> float:
    """Return a value inside (0, high), or raise ValueError."""
    try:
        inside = 0 < value < high
    except TypeError:  # a text, or nothing
        inside = False
    if not inside:
        raise ValueError(f"{name} must lie between 0 and {high:g}, both excluded, got {value!r}")
    return value


def lower_tail(z: float) -> float:
    """Return P(Z <= z) of the standard normal distribution."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def upper_tail(z: float) -> float:
    """Return P(Z >= z) of the standard normal distribution."""
    return 0.5 * math.erfc(z / math.sqrt(2))


@lru_cache(maxsize=64)
def z_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def smallest_size_with_power(power_at: Callable[[int], float], power: float, largest: int) -> int | None:
    """Return the smallest size up to `largest` with this power, or None."""
    if power_at(largest) < power:
        return None
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a monotone function, by bisection."""
    if low == high or function(low) == 0:
        return low
    sign = function(low) > 0
    while low < (middle := (low + high) / 2) < high and high - low > 1e-15:
        if (function(middle) > 0) is sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def find_crossing(
    function: Callable[[float], float], low: float, high: float, known: tuple[float, float], near: float
) -> float:
    """Return the root of a smooth falling function in [low, high].

    `known` is a point (x, value), `near` the first guess.
    """
    if low == high:
        return low
    before, value_before = known
    following = near if low < near < high else (low + high) / 2
    for _ in range(200):
        value = function(following)
        low, high = (following, high) if value > 0 else (low, following)
        rise = value - value_before
        secant = following - value * (following - before) / rise if math.isfinite(rise) and rise else math.nan
        before, value_before = following, value
        following = secant if low < secant < high else (low + high) / 2
        if value == 0 or abs(following - before) < 1e-15 or not low < following < high:
            break
    return before if value_before == 0 else following
