"""Gate LLM judges in CI: does the verdict move with a superficial cue, and does the judge admit it?

What a script or a notebook needs is here by name, and imported when it is first used, so that pytest starts as fast
with the plugin installed as without it. docs/python.md shows it at work.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# A module of this name binds itself to the package when it is first imported. It is imported now, and unbound, so that
# judgefixtures.acknowledgment is the function whatever is imported later, and in whatever order.
importlib.import_module("judgefixtures.acknowledgment")
del globals()["acknowledgment"]

if TYPE_CHECKING:
    __version__: str
    from judgefixtures.asking.judges import FatalJudgeError as FatalJudgeError
    from judgefixtures.asking.judges import Judge as Judge
    from judgefixtures.asking.judges import load_judge as load_judge
    from judgefixtures.asking.questions import Judgment as Judgment
    from judgefixtures.config import load_config as load_config
    from judgefixtures.findings import Finding as Finding
    from judgefixtures.material.contrasts import NO_CUE as NO_CUE
    from judgefixtures.material.contrasts import Condition as Condition
    from judgefixtures.material.contrasts import Contrast as Contrast
    from judgefixtures.material.pairs import Pair as Pair
    from judgefixtures.numbers.statistics import Estimate as Estimate
    from judgefixtures.numbers.statistics import GateResult as GateResult
    from judgefixtures.numbers.statistics import Status as Status
    from judgefixtures.numbers.statistics import gate_non_inferiority as gate_non_inferiority
    from judgefixtures.numbers.statistics import gate_shift as gate_shift
    from judgefixtures.numbers.statistics import needed_pairs as needed_pairs
    from judgefixtures.numbers.statistics import paired_difference as paired_difference
    from judgefixtures.numbers.statistics import proportion as proportion
    from judgefixtures.reading.acknowledgment import acknowledgment as acknowledgment
    from judgefixtures.reading.verdicts import Verdict as Verdict
    from judgefixtures.reading.verdicts import parse_verdict as parse_verdict
    from judgefixtures.runs.run import Run as Run
    from judgefixtures.sources import Source as Source
    from judgefixtures.sources import load_pairs as load_pairs
    from judgefixtures.sources import read_pairs as read_pairs
    from judgefixtures.words.errors import JudgeFixturesError as JudgeFixturesError

# Which room each name lives in.
_NAMES = {
    "asking.judges": "FatalJudgeError Judge load_judge",
    "asking.questions": "Judgment",
    "config": "load_config",
    "findings": "Finding",
    "material.contrasts": "Condition Contrast NO_CUE",
    "material.pairs": "Pair",
    "numbers.statistics": "Estimate GateResult Status gate_non_inferiority gate_shift needed_pairs paired_difference"
    " proportion",
    "reading.acknowledgment": "acknowledgment",
    "reading.verdicts": "Verdict parse_verdict",
    "runs.run": "Run",
    "sources": "Source load_pairs read_pairs",
    "words.errors": "JudgeFixturesError",
}
_ROOMS = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = [*_ROOMS, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _ROOMS:
        raise AttributeError(f"module 'judgefixtures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"judgefixtures.{_ROOMS[name]}"), name)


def _version() -> str:
    """Return the version that is installed: pyproject.toml states it, and nothing else does."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("judgefixtures")
    except PackageNotFoundError:
        from judgefixtures.words.errors import JudgeFixturesError

        raise JudgeFixturesError(
            "the version of judgefixtures is not known, because it runs from a folder and is not "
            "installed: install that folder with pip."
        ) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
