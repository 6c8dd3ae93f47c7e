"""Adapter of autoevals: a scorer, such as an LLMClassifier."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(scorer: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that scores one output; a score of None is none."""
    scorer = scorer() if isinstance(scorer, type) else scorer

    def score(**inputs: Any) -> dict[str, Any]:
        scored = scorer(**inputs)
        metadata = scored.metadata or {}
        return {"score": scored.score, "reason": metadata.get("rationale"), "metadata": metadata}

    return score


RECORD = framework("autoevals", adapt, inputs={"input": "{question}", "output": "{response}"}, pass_mark=0.5)
