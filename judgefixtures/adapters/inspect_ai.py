"""Adapter of Inspect: a scorer, or the function under @scorer that makes one."""

import inspect
from collections.abc import Callable
from typing import Any

from . import framework

UNREADABLE = "Grade not found in model output"


def adapt(target: Any, _table: Any) -> Callable[..., Any]:
    """Return a function that scores one sample; a grade that Inspect could not find is none."""
    from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
    from inspect_ai.scorer import Target, value_to_float
    from inspect_ai.solver import TaskState

    is_scorer = inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(type(target).__call__)
    scorer, number = target if is_scorer else target(), value_to_float()

    async def score(*, input: str = "", output: str, target: Any = "", **metadata: Any) -> dict[str, Any]:  # noqa: A002
        state = TaskState(
            model=ModelName("none/none"),
            sample_id=1,
            epoch=1,
            input=input,
            messages=[ChatMessageUser(content=input)],
            target=Target(target or ""),
            output=ModelOutput.from_content("none/none", output),
            metadata=metadata,
        )
        scored = await scorer(state, Target(target or ""))
        reason = scored.explanation or ""
        unread = scored.value is None or reason.startswith(UNREADABLE)
        if unread or not isinstance(scored.value, str | bool | int | float):
            return {"score": None if unread else scored.value, "reason": reason}
        return {"score": number(scored.value), "value": scored.value, "reason": reason}

    return score


RECORD = framework("inspect-ai", adapt, inputs={"input": "{question}", "output": "{response}"}, pass_mark=1)
