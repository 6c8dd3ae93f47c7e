"""Rate limits and waiting times in headers."""

import datetime
import email.utils
import re
from collections.abc import Callable, Mapping
from typing import Any

from judgefixtures.models.usage import Usage
from judgefixtures.providers import RateLimitQuota
from judgefixtures.util.clock import timestamp

_SPAN = re.compile(
    r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])",
    re.IGNORECASE,
)
_TRY_AGAIN = re.compile(rf"(?:again|retry|wait)(?: in| after| for)? ((?:{_SPAN.pattern}[ ,]*)+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # by how a unit begins


def retry_after(headers: Mapping[str, str], error: Mapping[str, Any], message: str) -> float | None:
    """Return the seconds a server asks to wait, from headers or message.

    >>> retry_after({"retry-after-ms": "84", "retry-after": "1"}, {}, "")
    0.084
    >>> retry_after({}, {}, "Please try again in 1m2.5s.")
    62.5
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value.partition(",")[0]) * scale  # a proxy may add its own
        except ValueError:
            moment = _date(value)
            if moment is None:
                continue
            seconds = moment - timestamp()
        return max(seconds, 0.0) if seconds == seconds else None
    for name in ("retry_after", "estimated_time"):
        if (seconds_told := _amount(str(error.get(name)))) is not None:
            return seconds_told
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return _seconds(detail["retryDelay"])
    if match := _TRY_AGAIN.search(message):
        return _seconds(match[1])
    used_up = [left.seconds for left in parse_quotas(headers, Usage()) if left.calls < 1]
    return max(used_up, default=None)


LONGEST_SPAN = 100  # characters
LONGEST_RESET = 120.0  # a limit by the hour or day: its reset is not waited for, whatever else may be left


# How headers of rate limits are called: OpenAI's and those of most others, then Anthropic's. What each counts, of a
# call's usage; without a kind it is requests.
NAMED = ("x-ratelimit-{what}{kind}", "anthropic-ratelimit{kind}-{what}")
COUNTED: Mapping[str, Callable[[Usage], int]] = {
    "": lambda _usage: 1,
    "-requests": lambda _usage: 1,
    "-tokens": lambda usage: (usage.input_tokens or 0) + (usage.output_tokens or 0),
    "-input-tokens": lambda usage: usage.input_tokens or 0,
    "-output-tokens": lambda usage: usage.output_tokens or 0,
}


def parse_quotas(headers: Mapping[str, str], usage: Usage) -> tuple[RateLimitQuota, ...]:
    """Return the remaining rate limits, in calls like this one.

    >>> parse_quotas({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, Usage())
    ()
    >>> parse_quotas({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1.5s"}, Usage())
    (RateLimitQuota(calls=3.0, seconds=1.5, limit=None),)
    """
    limits = {name.lower(): value for name, value in headers.items() if "ratelimit" in name.lower()}
    if not limits:
        return ()
    now, quotas_left = server_time(headers), []
    for named in NAMED:
        for kind, counted in COUNTED.items():
            left, reset, most = (
                limits.get(named.format(what=what, kind=kind), "") for what in ("remaining", "reset", "limit")
            )
            calls, seconds, limit = _amount(left), _until_reset(reset, now), _amount(most)
            if calls is not None and seconds is not None and 0 < seconds <= LONGEST_RESET:
                size = max(counted(usage), 1)
                quotas_left.append(RateLimitQuota(calls / size, seconds, limit / size if limit else None))
    return tuple(quotas_left)


def server_time(headers: Mapping[str, str]) -> float:
    """Return the server's time."""
    seconds = _date(headers.get("date", ""))
    return timestamp() if seconds is None else seconds


def _date(text: str) -> float | None:
    try:
        date = email.utils.parsedate_tz(text)
        return None if date is None else email.utils.mktime_tz(date)
    except (ArithmeticError, LookupError, ValueError):
        return None


def _amount(text: str) -> float | None:
    try:
        value = float(text.partition(",")[0])  # a gateway may add its own
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until_reset(text: str, now: float) -> float | None:
    value = _amount(text)
    if value is None:
        moment = _moment(text)
        return _seconds(text) if moment is None else moment - now
    moment = value / 1000 if value > 1e11 else value
    return moment - now if moment > 1e9 else moment


def _moment(text: str) -> float | None:
    try:
        time_given = datetime.datetime.fromisoformat(text.strip())
        return None if time_given.tzinfo is None else time_given.timestamp()
    except (ArithmeticError, ValueError):
        return None


def _seconds(span: str) -> float | None:
    scales = [
        (float(number), next(scale for start, scale in _SECONDS.items() if unit.lower().startswith(start)))
        for number, unit in _SPAN.findall(span[:LONGEST_SPAN])
    ]
    return sum(number * scale for number, scale in scales) if scales else None
