"""Import paths: documented ones work in any order, those of version 0.2 still do and warn."""

from __future__ import annotations

import contextlib
import importlib
import re
import subprocess
import sys
import warnings
from typing import Any

import pytest
import reference
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks import AccuracyCheck
from judgefixtures.checks.base import OLD_METHODS

# Documented import paths of version 0.2 that have another name today.
OLD_NAMES = {
    "judgefixtures.asking.questions Judgment": "judgefixtures.models.judgments Judgment",
    "judgefixtures.checks Case": "judgefixtures.checks CheckInput",
    "judgefixtures.swap SwapCell": "judgefixtures.swap SwapContrast",
    "judgefixtures.checks Need": "judgefixtures.checks SampleRequirement",
    "judgefixtures.acknowledgment explained": "judgefixtures.parsing.acknowledgment explain_acknowledgment",
    "judgefixtures.detection Accuracy": "judgefixtures.statistics.detector_correction DetectorAccuracy",
    "judgefixtures.findings Finding": "judgefixtures.models.findings Finding",
    "judgefixtures.imports Request": "judgefixtures.importers ImportRequest",
    "judgefixtures.imports import_log": "judgefixtures.importers import_log",
    "judgefixtures.imports summary": "judgefixtures.importers summary",
    "judgefixtures.material.contrasts Condition": "judgefixtures.models.contrasts Condition",
    "judgefixtures.material.contrasts Contrast": "judgefixtures.models.contrasts Contrast",
    "judgefixtures.material.contrasts NO_CUE": "judgefixtures.models.contrasts NO_CUE",
    "judgefixtures.material.contrasts contrasts": "judgefixtures.models.contrasts contrasts",
    "judgefixtures.material.cues Cue": "judgefixtures.models.cues Cue",
    "judgefixtures.material.edits Edited": "judgefixtures.models.edits Edited",
    "judgefixtures.material.pairs Example": "judgefixtures.models.pairs Example",
    "judgefixtures.material.pairs Pair": "judgefixtures.models.pairs Pair",
    "judgefixtures.material.prompts Template": "judgefixtures.prompts.templates Template",
    "judgefixtures.material.prompts load_system_prompt": "judgefixtures.prompts.templates load_system_prompt",
    "judgefixtures.material.prompts load_template": "judgefixtures.prompts.templates load_template",
    "judgefixtures.page page": "judgefixtures.report.html page",
    "judgefixtures.words.errors JudgeFixturesError": "judgefixtures.util.errors JudgeFixturesError",
}


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_works_and_warns(old: str) -> None:
    """A documented name of version 0.2 is what its new name is; the warning gives the new name, at the import."""
    new_module, new_name = OLD_NAMES[old].split()
    with pytest.warns(DeprecationWarning, match=rf"\b{new_name}$") as warned:
        exec(f"from {old.replace(' ', ' import ')} as value", globals())
    assert value is getattr(importlib.import_module(new_module), new_name)  # type: ignore[name-defined] # noqa: F821
    assert len({str(each.message) for each in warned}) == 1  # `from` looks a package's name up twice
    assert {each.filename for each in warned} == {"<string>"}


def test_old_methods_of_checks_work_and_warn() -> None:
    """A check of version 0.2 overrides and calls methods by their old names, super() included."""
    code = """
class Apart:
    def lost(self, case, reason):
        return "apart"

class Mine(Apart, AccuracyCheck):
    def excuse(self, case):
        return "mine"

    def among(self, pairs):
        return super().among(pairs)[:1]
"""
    names = {"AccuracyCheck": AccuracyCheck}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        exec(code, names)
    assert [str(each.message) for each in warned] == [
        f"Mine.{old} is now Mine.{OLD_METHODS[old]}" for old in ("excuse", "among", "lost")
    ]
    assert {each.filename for each in warned} == {"<string>"}
    mine: Any = names["Mine"]()
    assert mine.error_finding(None, "") == "apart"
    assert mine.skip_reason(None) == "mine"
    for old, new in OLD_METHODS.items():
        overridden = old in ("excuse", "among", "lost")
        with contextlib.nullcontext() if overridden else pytest.warns(DeprecationWarning, match=rf"\b{new}$"):
            assert getattr(mine, old) == getattr(mine, new)
    with pytest.warns(DeprecationWarning, match="Check.among is now Check.select_pairs"):
        assert mine.select_pairs((1, 2)) == (1,)
    with pytest.raises(AttributeError, match="'Mine' object has no attribute 'nothing'"):
        mine.nothing  # noqa: B018


def test_an_old_path_has_no_other_names(snapshot: SnapshotAssertion) -> None:
    """A name that never was is an error, with the path that was asked."""
    with pytest.raises(ImportError) as error:
        from judgefixtures.material.pairs import nothing  # type: ignore[import-not-found] # noqa: F401
    assert str(error.value) == snapshot
    with pytest.raises(ModuleNotFoundError, match=r"judgefixtures\.nothing"):
        importlib.import_module("judgefixtures.nothing")


@pytest.mark.parametrize("backwards", [False, True])
def test_paths_can_be_imported_in_any_order(*, backwards: bool) -> None:
    """In a new process every documented path gives its names, whichever comes first, and only old ones warn."""
    today = [
        f"from {module} import {re.split(r'[^a-zA-Z_]', name)[0]}"
        for module, names in reference.TEXTS["python"].items()
        for name in names
    ]
    old = [f"from {name.replace(' ', ' import ')}" for name in OLD_NAMES]
    lines = sorted({*today, *old}, reverse=backwards)
    others = [
        *("import judgefixtures.acknowledgment", "import judgefixtures.material.pairs as pairs; pairs.__name__"),
        "import judgefixtures.verdicts as verdicts; verdicts.parse_verdict",
        *("from judgefixtures.verdicts import *", "parse_verdict"),
    ]
    code = f"""
import warnings
for line in {[*lines, *others]!r}:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(line)
    assert bool(caught) == (line in {old!r}), line
"""
    subprocess.run([sys.executable, "-c", code], check=True)
