"""Words: what a run of the canary says to whoever reads its output; messages.txt.jinja has the sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Sized
from pathlib import Path
from typing import Any

from judgefixtures.asking.costs import money
from judgefixtures.canary.reference import Prompt
from judgefixtures.canary.watching import Outlook, Watched
from judgefixtures.numbers.statistics import several
from judgefixtures.report.outcome import NOT_MEASURED
from judgefixtures.words.jinja import load_template
from judgefixtures.words.secrets import presentable
from judgefixtures.words.texts import quote_names

DRIFT = 20  # apart from pytest's codes and ours
OTHER_MODEL = 21
SPOKEN = {"0": "tie", "1": "response 1", "2": "response 2", "x": "no verdict"}
HEADS = {
    "quiet": "quiet",
    "drift": "ALARM: its verdicts are no longer those of the judge that was recorded",
    "model": "ALARM: another model answers than the one that was recorded",
    "not-measured": "NOT MEASURED",
}
EXITS = {"quiet": 0, "drift": DRIFT, "model": OTHER_MODEL, "not-measured": NOT_MEASURED}


def exit_code(found: Watched) -> int:
    """Return the exit code of a run: 0 quiet, 20 the verdicts moved, 21 another model, 10 not measured."""
    return EXITS[found.entry.result]


def describe_run(found: Watched) -> list[str]:
    """Return the lines that tell what a run found."""
    return _lines_below(f"canary of {found.reference.judge}: {HEADS[found.entry.result]}", _sentences().run(found))


def describe_outlook(found: Outlook) -> list[str]:
    """Return the lines that tell what a run would do."""
    return _lines_below(f"canary of {found.reference.judge}: nothing was asked", _sentences().outlook(found))


def _lines_below(head: str, text: str) -> list[str]:
    return [presentable(line) for line in (head, *(f"  {line}" for line in text.split("\n") if line.strip()))]


def _sentences() -> Any:
    """Return the macros of the template."""
    filters = {"exp": math.exp, "number": _number, "money": money, "quote": quote_names}
    own = {"counted": _counted, "several": _several, "recorded": _recorded}
    return load_template(Path(__file__).with_suffix(".txt.jinja"), **filters, **own).module


def _several(things: Sized, noun: str) -> str:
    return several(len(things), noun)


def _recorded(prompts: Sequence[Prompt]) -> str:
    """Return how many prompts have how many recorded answers."""
    counts = Counter(len(each.recorded) for each in prompts)
    return ", ".join(f"{n} with {several(answers, 'recorded answer')}" for answers, n in sorted(counts.items()))


def _counted(answers: str) -> str:
    counts = sorted(Counter(answers).items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{SPOKEN[answer]} in {count} of {len(answers)}" for answer, count in counts)


def _number(logarithm: float) -> str:
    """Return a number of which the natural logarithm is known, also where it is too large for a float."""
    if logarithm == -math.inf:
        return "0"
    ten = logarithm / math.log(10)
    return f"{math.exp(logarithm):.3g}" if ten < 6 else f"1e{math.floor(ten)}"
