"""Adapter of LangChain: a runnable with structured output, whose inputs the user named."""

from collections.abc import Callable
from typing import Any

from . import framework


def adapt(runnable: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that invokes the runnable; of `include_raw`, what was parsed counts."""

    async def invoke(**inputs: Any) -> Any:
        result = await runnable.ainvoke(inputs)
        if isinstance(result, dict) and {"raw", "parsed", "parsing_error"} <= result.keys():
            return result["parsed"]
        return result

    return invoke


RECORD = framework("langchain", adapt, pass_mark=0.5)
