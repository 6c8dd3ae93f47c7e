"""Adapter of Haystack: an evaluator component, which takes a list for each input."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(component: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that runs the component on lists of one value."""
    if hasattr(component, "warm_up"):
        component.warm_up()

    def evaluate(**inputs: Any) -> Any:
        result = component.run(**{name: [value] for name, value in inputs.items()})
        results, scores = result.get("results"), result.get("individual_scores")
        if isinstance(results, list):
            return results[0] if results else None
        return {**result, "score": scores[0]} if isinstance(scores, list) and scores else result

    return evaluate


RECORD = framework("haystack-ai", adapt, pass_mark=0.5)
