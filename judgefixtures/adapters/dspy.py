"""Adapter of DSPy: a module, whose inputs and outputs the user named."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(module: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that calls the module without DSPy's cache: every call is a draw of its own."""
    import dspy

    async def predict(**inputs: Any) -> dict[str, Any]:
        own = module.deepcopy()
        for each in own.predictors():
            each.lm = (each.lm or dspy.settings.lm).copy(cache=False)
        return dict((await own.acall(**inputs)).items())

    return predict


RECORD = framework("dspy", adapt, pass_mark=0.5)
