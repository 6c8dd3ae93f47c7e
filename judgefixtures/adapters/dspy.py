"""Adapter of DSPy: a module, whose inputs and outputs the user named."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(module: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that calls the module without DSPy's cache: every call is a draw of its own."""
    import dspy

    async def predict(**inputs: Any) -> dict[str, Any]:
        model = module.get_lm() if all(each.lm for each in module.predictors()) else dspy.settings.lm
        with dspy.context(lm=model.copy(cache=False) if model is not None else None, track_usage=False):
            own = module.deepcopy()
            own.set_lm(dspy.settings.lm)
            return dict((await own.acall(**inputs)).items())

    return predict


RECORD = framework("dspy", adapt, pass_mark=0.5)
