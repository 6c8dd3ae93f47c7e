"""Messages of a canary run, filled into messages.txt.jinja."""

import math
from collections import Counter
from collections.abc import Sequence, Sized
from pathlib import Path
from typing import Any

from judgefixtures.client.costs import format_usd
from judgefixtures.statistics import pluralize
from judgefixtures.util.exit_codes import ExitCode
from judgefixtures.util.jinja import load_template
from judgefixtures.util.secrets import safe_message
from judgefixtures.util.texts import quote_names

from .monitor import CanaryForecast, CanaryResult
from .reference import CanaryPrompt

SPOKEN = {"0": "tie", "1": "response 1", "2": "response 2", "x": "no verdict"}
HEADS = {
    "quiet": "quiet",
    "drift": "ALARM: its verdicts changed since the recording",
    "model": "ALARM: another model answers than in the recording",
    "not-measured": "NOT MEASURED",
}
EXITS = {
    "quiet": ExitCode.OK,
    "drift": ExitCode.DRIFT,
    "model": ExitCode.OTHER_MODEL,
    "not-measured": ExitCode.NOT_MEASURED,
}


def canary_exit_code(result: CanaryResult) -> int:
    """Return 0 (quiet), 20 (verdicts moved), 21 (another model) or 10 (not measured)."""
    return EXITS[result.entry.result]


def describe_run(result: CanaryResult) -> list[str]:
    """Return lines about a run."""
    return _lines_below(f"canary of {result.reference.judge}: {HEADS[result.entry.result]}", _sentences().run(result))


def describe_forecast(outlook: CanaryForecast) -> list[str]:
    """Return lines about a forecast."""
    return _lines_below(f"canary of {outlook.reference.judge}: nothing was sent", _sentences().outlook(outlook))


def _lines_below(head: str, text: str) -> list[str]:
    return [safe_message(line) for line in (head, *(f"  {line}" for line in text.split("\n") if line.strip()))]


def _sentences() -> Any:
    filters = {"exp": math.exp, "number": _number, "money": format_usd, "quote": quote_names}
    own = {"counted": _counted, "several": _several, "recorded": _recorded}
    return load_template(Path(__file__).with_suffix(".txt.jinja"), **filters, **own).module


def _several(things: Sized, noun: str) -> str:
    return pluralize(len(things), noun)


def _recorded(prompts: Sequence[CanaryPrompt]) -> str:
    counts = Counter(len(each.recorded) for each in prompts)
    return ", ".join(f"{n} with {pluralize(answers, 'recorded answer')}" for answers, n in sorted(counts.items()))


def _counted(answers: str) -> str:
    counts = sorted(Counter(answers).items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{SPOKEN[answer]} in {count} of {len(answers)}" for answer, count in counts)


def _number(logarithm: float) -> str:
    if logarithm == -math.inf:
        return "0"
    ten = logarithm / math.log(10)
    return f"{math.exp(logarithm):.3g}" if ten < 6 else f"1e{math.floor(ten)}"
