"""Metrics: counts, estimates and rows of the answers in two arms."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contrast_metrics import arm_rates as arm_rates

__all__ = ["arm_rates"]


def __getattr__(name: str) -> Any:
    """Return a public name, imported on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import contrast_metrics

    return getattr(contrast_metrics, name)
