"""Table of a judge of code: what it may say, and what identifies the judge."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.providers import FatalJudgeError

from .messages import MESSAGES

if TYPE_CHECKING:
    from .judge_table import JudgeTable

# Keys about a prompt, or about an answer that is a text in place of an object.
OF_PROMPTS = ("template", "templates", "wordings", "cue_after", "system_prompt", "logprobs")


def check_code(table: JudgeTable) -> None:
    """Check the keys of a judge of code.

    Raises:
        ValueError: Two keys exclude each other.
    """
    if table.inputs is None and table.record.adapt is not None:
        raise ValueError(MESSAGES.inputs_missing(table.provider))
    if table.inputs is not None:
        if others := [key for key in OF_PROMPTS if key in table.model_fields_set and getattr(table, key)]:
            raise ValueError(MESSAGES.key_beside_inputs(others[0]))
        if table.strategy != "direct":
            raise ValueError(MESSAGES.key_beside_inputs("strategy"))
    if table.hosts is not None and table.records_results:
        raise ValueError(MESSAGES.hosts_without_http())
    if not table.records_results:
        of_results = [key for key in ("result", "version", "packages") if getattr(table, key) is not None]
        of_results += ["pass_mark"] if table.pass_mark is not None and LAYOUTS[table.mode].has_labels else []
        if of_results and table.inputs is None:
            raise ValueError(MESSAGES.key_without_results(of_results[0]))


def code_identity(table: JudgeTable) -> Mapping[str, Any]:
    """Return what else decides the answers: how results are recorded, and the user's version."""
    own = {"version": table.version} if table.version else {}
    return {**({"recording": "result"} if table.records_results else {}), **own}


def package_versions(table: JudgeTable, target: Any) -> dict[str, str]:
    """Return the versions of the packages that a target is made with.

    Raises:
        FatalJudgeError: A named package is not installed.
    """
    names = table.packages if table.packages is not None else [table.record.package or _package_of(target)]
    versions = {}
    for name in filter(None, names):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise FatalJudgeError(MESSAGES.package_missing(name, table.heading)) from None
    return versions


def _package_of(target: Any) -> str:
    """Return the installed package that defines a target's class, or its function's module; "" for the user's own."""
    is_named = inspect.isroutine(target) or inspect.isclass(target)
    module = getattr(target if is_named else type(target), "__module__", None) or ""
    names = metadata.packages_distributions().get(module.partition(".")[0], [])
    return names[0] if names else ""
