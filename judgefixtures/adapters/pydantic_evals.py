"""Adapter of pydantic-evals: an evaluator, such as LLMJudge."""

from collections.abc import Callable, Mapping
from typing import Any

from . import framework


def adapt(evaluator: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that evaluates one case; of several named results, all are fields."""
    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.otel import SpanTree

    async def evaluate(*, inputs: Any = None, output: Any, expected_output: Any = None, metadata: Any = None) -> Any:
        context: Any = EvaluatorContext(
            name=None,
            inputs=inputs,
            metadata=metadata,
            expected_output=expected_output,
            output=output,
            duration=0.0,
            _span_tree=SpanTree(),
            attributes={},
            metrics={},
        )
        results = await evaluator.evaluate_async(context)
        if isinstance(results, Mapping) and len(results) == 1:
            return next(iter(results.values()))
        return results

    return evaluate


RECORD = framework("pydantic-evals", adapt, inputs={"inputs": "{question}", "output": "{response}"}, pass_mark=0.5)
