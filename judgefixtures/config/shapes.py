"""What values of the configuration look like: tables that take no unknown key, and the kinds of values in them."""

from __future__ import annotations

import math
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

UNSET = "unset"  # a parameter that is not sent: the model's own default is asked for


def or_unset(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    if value == UNSET:
        return None
    try:
        return handler(value)
    except ValidationError as invalid:
        raise ValueError(f'{invalid.errors()[0]["msg"]}, or "{UNSET}", which does not send it') from None


def score_ends(value: object) -> object:
    ends = value if isinstance(value, list | tuple) else ()
    numbers = [each for each in ends if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(ends) != 2 or len(numbers) != 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise ValueError("it is the lowest and the highest score, as in [1, 10]")
    return tuple(numbers)


def _reachable(value: str) -> str:
    try:
        parts = urlsplit(value)
        if parts.hostname and (parts.port is None or parts.port > 0):
            return value
        why = "it has no host" if not parts.hostname else "its port is 0"
    except ValueError as error:
        why = str(error)
    raise ValueError(f"it is no address of a server: {why}")


Temperature = Annotated[float | None, Field(ge=0, le=2), WrapValidator(or_unset)]
Share = Annotated[float, Field(gt=0, lt=1)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), AfterValidator(_reachable)]
Table = dict[str, Any]


class StrictTable(BaseModel):
    """A table of the configuration: every key is known, every value is of its type, and nothing changes it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
