"""Adapter of Ragas: a metric with its model, of ragas.metrics.collections or of a single turn."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(metric: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that scores one turn."""

    async def score(**inputs: Any) -> Any:
        if hasattr(metric, "single_turn_ascore"):
            from ragas.dataset_schema import SingleTurnSample

            return {"score": await metric.single_turn_ascore(SingleTurnSample(**inputs))}
        scored = await metric.ascore(**inputs)
        return {"score": getattr(scored, "value", scored), "reason": getattr(scored, "reason", None)}

    return score


RECORD = framework("ragas", adapt, inputs={"user_input": "{question}", "response": "{response}"}, pass_mark=0.5)
