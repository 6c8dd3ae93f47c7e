"""Run: execute a configuration without pytest, from the pairs to the findings."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Run as Run
    from .run import RunOptions as RunOptions
    from .run import WaitingError as WaitingError

__all__ = ["Run", "RunOptions", "WaitingError"]


def __getattr__(name: str) -> Any:
    """Return a public name, imported on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, name)
