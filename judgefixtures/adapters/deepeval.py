"""Adapter of deepeval: a metric of single test cases."""

import copy
from collections.abc import Callable
from typing import Any

from . import framework


def adapt(metric: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that measures one test case with a copy of the metric, which keeps state."""
    from deepeval.test_case import LLMTestCase

    async def measure(**inputs: Any) -> dict[str, Any]:
        own = copy.copy(metric)  # not deep: models hold connections and locks
        await own.a_measure(LLMTestCase(**inputs), _show_indicator=False)
        return {
            "success": own.is_successful(),
            "score": own.score,
            "reason": own.reason,
            "evaluation_cost": own.evaluation_cost,
            "threshold": own.threshold,
        }

    return measure


RECORD = framework("deepeval", adapt, inputs={"input": "{question}", "actual_output": "{response}"})
