"""Adapter of Phoenix: an evaluator, such as that of create_classifier."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(evaluator: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that evaluates one record; of a score to minimize, 1 minus the score counts."""

    async def evaluate(**inputs: Any) -> dict[str, Any]:
        scored = (await evaluator.async_evaluate(inputs))[0]
        score = scored.score
        if score is not None and scored.direction == "minimize":
            score = 1 - score
        return {"score": score, "label": scored.label, "explanation": scored.explanation}

    return evaluate


RECORD = framework("arize-phoenix-evals", adapt, inputs={"input": "{question}", "output": "{response}"}, pass_mark=0.5)
