"""Adapter of MLflow: a judge of make_judge, a built-in scorer, or a function under @scorer."""

from collections.abc import Callable, Mapping
from typing import Any

from . import framework


def adapt(scorer: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that scores one output; feedback with an error has no value."""
    scorer = scorer() if isinstance(scorer, type) else scorer

    def score(**inputs: Any) -> Any:
        asked = inputs.get("inputs")
        if "inputs" in inputs and not isinstance(asked, Mapping):
            inputs["inputs"] = {"question": asked}
        feedback = scorer(**inputs)
        if getattr(feedback, "error", None):
            return {"value": None, "rationale": str(feedback.error)}
        value = getattr(feedback, "value", feedback)
        return {"value": value, "rationale": getattr(feedback, "rationale", None)}

    return score


RECORD = framework("mlflow", adapt, inputs={"inputs": "{question}", "outputs": "{response}"}, pass_mark=0.5)
