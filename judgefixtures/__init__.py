"""Gate LLM judges in CI: does a superficial cue change the verdict, and does the judge admit it?

The names below are imported on first use, so that the plugin does not slow down the start of pytest. Old import paths
are aliases; renamed ones warn. See docs/how-to/notebook.md.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from judgefixtures.config import load_config as load_config
    from judgefixtures.judges.judge import FatalJudgeError as FatalJudgeError
    from judgefixtures.judges.judge import Judge as Judge
    from judgefixtures.judges.judge import load_judge as load_judge
    from judgefixtures.models.contrasts import NO_CUE as NO_CUE
    from judgefixtures.models.contrasts import Condition as Condition
    from judgefixtures.models.contrasts import Contrast as Contrast
    from judgefixtures.models.findings import Finding as Finding
    from judgefixtures.models.judgments import Judgment as Judgment
    from judgefixtures.models.pairs import Pair as Pair
    from judgefixtures.models.verdicts import Verdict as Verdict
    from judgefixtures.parsing.acknowledgment import acknowledgment as acknowledgment
    from judgefixtures.parsing.verdicts import parse_verdict as parse_verdict
    from judgefixtures.run.run import Run as Run
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
    from judgefixtures.util.errors import JudgeFixturesError as JudgeFixturesError

# The module of each public name.
_NAMES = {
    "config": "load_config",
    "judges.judge": "FatalJudgeError Judge load_judge",
    "models.contrasts": "Condition Contrast NO_CUE",
    "models.findings": "Finding",
    "models.judgments": "Judgment",
    "models.pairs": "Pair",
    "models.verdicts": "Verdict",
    "parsing.acknowledgment": "acknowledgment",
    "parsing.verdicts": "parse_verdict",
    "run.run": "Run",
    "sources": "Source load_pairs read_pairs",
    "statistics": "Estimate GateResult Status gate_non_inferiority"
    " gate_shift needed_pairs paired_difference proportion",
    "util.errors": "JudgeFixturesError",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

# Documented import paths without a file of their own, each with the module that has the names.
_PATHS = {
    "acknowledgment": "parsing.acknowledgment",
    "certainty": "metrics.certainty",
    "commands": "util.shell",
    "contradictions": "parsing.contradictions",
    "costs": "client.costs",
    "detection": "statistics.detector_correction",
    "grades": "parsing.grades",
    "imported": "importers.imported_answers",
    "language": "parsing.language",
    "odds": "statistics.log_odds",
    "published": "models.published",
    "scores": "parsing.scores",
    "verdicts": "parsing.verdicts",
}
# Import paths of version 0.2, which warn.
_OLD_PATHS = {
    "asking.questions": "models.judgments",
    "findings": "models.findings",
    "imports": "importers",
    "material.contrasts": "models.contrasts",
    "material.cues": "models.cues",
    "material.edits": "models.edits",
    "material.pairs": "models.pairs",
    "material.prompts": "prompts.templates",
    "page": "report.html",
    "words.errors": "util.errors",
}
# Names of version 0.2 in these paths, which warn.
_OLD_NAMES = {
    "acknowledgment.explained": "explain_acknowledgment",
    "detection.Accuracy": "DetectorAccuracy",
    "imports.Request": "ImportRequest",
}

__all__ = [*_MODULES, "__version__"]


class _Alias(ModuleType):
    """An import path that takes its names from another module, when they are first used."""

    def __init__(self, path: str, target: str) -> None:
        super().__init__(f"{__name__}.{path}")
        self.__spec__ = ModuleSpec(self.__name__, None)
        self._path, self._target = path, f"{__name__}.{target}"

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [name for name in dir(importlib.import_module(self._target)) if not name.startswith("_")]
        if name.startswith("__"):  # whoever looks through sys.modules imports nothing
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        new_name = _OLD_NAMES.get(f"{self._path}.{name}", name)
        value = getattr(importlib.import_module(self._target), new_name)
        if self._path in _OLD_PATHS or new_name != name:
            message = f"{self.__name__}.{name} is now {self._target}.{new_name}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        return value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__all__]


for _path, _target in {**_PATHS, **_OLD_PATHS}.items():
    _folder, _, _file = f"{__name__}.{_path}".rpartition(".")
    sys.modules[f"{_folder}.{_file}"] = _Alias(_path, _target)
    if _folder != __name__:
        setattr(sys.modules.setdefault(_folder, ModuleType(_folder)), _file, sys.modules[f"{_folder}.{_file}"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name != "__path__" and f"{__name__}.{name}" in sys.modules:
        return sys.modules[f"{__name__}.{name}"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    """Return the installed version, as pyproject.toml states it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("judgefixtures")
    except PackageNotFoundError:
        from judgefixtures.util.errors import JudgeFixturesError

        raise JudgeFixturesError(
            "the version of judgefixtures is not known, because it runs from a folder and is not "
            "installed: install that folder with pip."
        ) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
