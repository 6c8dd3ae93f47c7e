"""Adapters of evaluation frameworks: one file each, which imports its framework when a judge is first asked."""

from collections.abc import Callable, Mapping
from typing import Any

from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.providers import ProviderSpec
from judgefixtures.providers.code_table import check_code, code_identity
from judgefixtures.providers.python import PythonProvider

Adapt = Callable[[Any, Any], Callable[..., Any]]


def framework(
    package: str,
    adapt: Adapt,
    *,
    inputs: Mapping[str, str] | None = None,
    pass_mark: float | None = None,
    mode: str = "binary",
) -> ProviderSpec:
    """Return the specification of a framework.

    Args:
        package: The name on PyPI.
        adapt: Makes a function of the inputs of a target and its table.
        inputs: The inputs unless the table has its own; None if every user names them.
        pass_mark: The mark for scores unless the table has its own.
        mode: The mode unless the table has one.
    """

    def defaults(written: Mapping[str, Any]) -> dict[str, Any]:
        layout = LAYOUTS.get(str(own := written.get("mode", mode)))
        usual: dict[str, Any] = {"mode": own}
        if layout is None or layout.shows_both:
            return usual
        usual |= {"inputs": dict(inputs)} if inputs is not None else {}
        marked = {"pass_mark": pass_mark} if pass_mark is not None else {}
        return usual | ({"scale": [0, 1]} if layout.has_scale else marked)

    return ProviderSpec(
        answers=PythonProvider,
        is_code=True,
        package=package,
        adapt=adapt,
        defaults=defaults,
        check=check_code,
        identity=code_identity,
    )
