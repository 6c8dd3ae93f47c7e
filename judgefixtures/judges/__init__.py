"""Judges: the `Judge` class and its modes, one file each."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .judge import FatalJudgeError as FatalJudgeError
    from .judge import Judge as Judge
    from .judge import load_judge as load_judge

__all__ = ["FatalJudgeError", "Judge", "load_judge"]


def __getattr__(name: str) -> Any:
    """Return a public name, imported on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import judge

    return getattr(judge, name)
