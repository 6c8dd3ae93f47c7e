"""Adapter of Ragas: a metric with its model, of ragas.metrics.collections or of a single turn."""

import math
from collections.abc import Callable
from typing import Any

from . import framework


def adapt(metric: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that scores one turn."""

    async def score(**inputs: Any) -> Any:
        if hasattr(metric, "single_turn_ascore"):
            from ragas.dataset_schema import SingleTurnSample

            scored = await metric.single_turn_ascore(SingleTurnSample(**inputs))
        else:
            scored = await metric.ascore(**inputs)
        value = getattr(scored, "value", scored)
        unread = isinstance(value, float) and math.isnan(value)  # Ragas could not read the model's answer
        return {"score": None if unread else value, "reason": getattr(scored, "reason", None)}

    return score


RECORD = framework("ragas", adapt, inputs={"user_input": "{question}", "response": "{response}"}, pass_mark=0.5)
