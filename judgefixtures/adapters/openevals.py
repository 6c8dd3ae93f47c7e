"""Adapter of openevals: an evaluator, such as that of create_llm_as_judge, sync or async."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(evaluator: Any, _table: Any) -> Callable[..., Any]:
    """Return the evaluator, which takes inputs and returns score and comment."""
    evaluate: Callable[..., Any] = evaluator
    return evaluate


RECORD = framework("openevals", adapt, inputs={"inputs": "{question}", "outputs": "{response}"}, pass_mark=0.5)
