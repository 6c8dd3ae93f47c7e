"""Gate LLM judges in CI: does the verdict move with a superficial cue, and does the judge admit it?

What a script or a notebook needs is here by name, and imported when it is first used, so that pytest starts as fast
with the plugin installed as without it. docs/python.md shows it at work.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from judgefixtures.acknowledgment import acknowledgment as acknowledgment
    from judgefixtures.config import load_config as load_config
    from judgefixtures.contrasts import NO_CUE as NO_CUE
    from judgefixtures.contrasts import Condition as Condition
    from judgefixtures.contrasts import Contrast as Contrast
    from judgefixtures.errors import JudgeFixturesError as JudgeFixturesError
    from judgefixtures.findings import Finding as Finding
    from judgefixtures.judges import FatalJudgeError as FatalJudgeError
    from judgefixtures.judges import Judge as Judge
    from judgefixtures.judges import load_judge as load_judge
    from judgefixtures.judgments import Judgment as Judgment
    from judgefixtures.pairs import Pair as Pair
    from judgefixtures.run import Run as Run
    from judgefixtures.sources import Source as Source
    from judgefixtures.sources import load_pairs as load_pairs
    from judgefixtures.sources import read_pairs as read_pairs
    from judgefixtures.statistics import Estimate as Estimate
    from judgefixtures.statistics import GateResult as GateResult
    from judgefixtures.statistics import Status as Status
    from judgefixtures.statistics import gate_non_inferiority as gate_non_inferiority
    from judgefixtures.statistics import gate_shift as gate_shift
    from judgefixtures.statistics import needed_pairs as needed_pairs
    from judgefixtures.statistics import paired_difference as paired_difference
    from judgefixtures.statistics import proportion as proportion
    from judgefixtures.verdicts import Verdict as Verdict
    from judgefixtures.verdicts import parse_verdict as parse_verdict

# Which room each name lives in.
_ROOMS = {
    "NO_CUE": "contrasts", "Condition": "contrasts", "Contrast": "contrasts", "Estimate": "statistics",
    "FatalJudgeError": "judges", "Finding": "findings", "GateResult": "statistics", "Judge": "judges",
    "JudgeFixturesError": "errors", "Judgment": "judgments", "Pair": "pairs", "Run": "run", "Source": "sources",
    "Status": "statistics", "Verdict": "verdicts", "gate_non_inferiority": "statistics", "gate_shift": "statistics",
    "load_config": "config", "load_judge": "judges", "load_pairs": "sources", "needed_pairs": "statistics",
    "paired_difference": "statistics", "parse_verdict": "verdicts", "proportion": "statistics", "read_pairs": "sources",
}  # fmt: skip

__all__ = [*_ROOMS, "__version__", "acknowledgment"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "acknowledgment":  # the function and its room share a name, and the room can be called
        return importlib.import_module("judgefixtures.acknowledgment")
    if name not in _ROOMS:
        raise AttributeError(f"module 'judgefixtures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"judgefixtures.{_ROOMS[name]}"), name)


def _version() -> str:
    """Return the version that is installed: pyproject.toml states it, and nothing else does."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("judgefixtures")
    except PackageNotFoundError:
        from judgefixtures.errors import JudgeFixturesError

        raise JudgeFixturesError("the version of judgefixtures is not known, because it runs from a folder and is not "
                                 "installed: install that folder with pip.") from None  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
