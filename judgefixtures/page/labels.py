"""Words: numbers, statuses and short sentences of the page. Nothing is measured or decided here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.findings import PartRow, Row
from judgefixtures.material.diction import OF_PAIRS
from judgefixtures.numbers.odds import odds_ratio
from judgefixtures.numbers.statistics import bare, signed
from judgefixtures.words.texts import join_names

SYMBOLS = {"PASS": "✓", "APPROVE": "✓", "FAIL": "✕", "REJECT": "✕", "INCONCLUSIVE": "?", "ERROR": "!"}
NOT_DECIDED = {"NOT_APPLICABLE": "not applicable"}

# What a part of a swap's decision compares, and what is said of a candidate that is worse in it.
COMPARED = {
    "abs-vsr": "how far {said} follow {name}",
    "unadmitted-shift": "moves with {name} that no reason admits",
    "flip-rate": "how many {said} change at all",
    "accuracy": "accuracy",
    "own-order": "accuracy in the pair's own order alone",
    "pass-rate": "how much passes",
    "tpr": "how much it passes of what people pass",
    "tnr": "how much it fails of what people fail",
    "invalid": "answers that cannot be read",
    "moved-to-edited": "how far {name} wins {said}",
}
WORSE = {
    "abs-vsr": "its {said} follow {names} more",
    "unadmitted-shift": "its reasons hide more of what {names} moved",
    "flip-rate": "more of its {said} change when nothing should change them",
    "accuracy": "it is right less often{on}",
    "pass-rate": "it passes another share of the responses",
    "tpr": "it fails more of what people pass",
    "tnr": "it passes more of what people fail",
    "invalid": "more of its answers cannot be read",
    "moved-to-edited": "{names} wins more of its {said}",
}


def share(value: float | None) -> str:
    """Return a share without its leading zero: .15, 1.00; a dash where there is none."""
    return "–" if value is None else bare(value)


def shift(value: float | None) -> str:
    """Return a difference with its sign, +0.30 or −0.30; a dash where there is none."""
    return "–" if value is None else signed(value).replace("-", "−")


def limits(estimate: Row | None) -> str:
    """Return an interval, empty where there is none.

    >>> limits({"value": 0.3, "low": -0.0307, "high": 0.3798, "confidence": 0.9, "n": 100})
    '−.031 to .380'
    """
    if not estimate:
        return ""
    return f"{bare(estimate['low'], 3)} to {bare(estimate['high'], 3)}".replace("-", "−")


def beside_verdicts(parts: Iterable[PartRow], *, by_scores: bool = False) -> list[PartRow]:
    """Return the parts that a status is due to beside the shift that is gated, as far as they are estimates."""
    gated = ("vsr", "effect", "score") if by_scores else ("vsr", "effect")
    return [part for part in parts if part.estimate and part.part not in gated]


def measured_text(part: PartRow) -> tuple[str, str]:
    """Return the estimate of a part and its interval, in the part's own unit.

    >>> from judgefixtures.numbers.statistics import Estimate
    >>> measured_text(PartRow(part="score", estimate=Estimate(1.0, 0.9, 1.1, 0.9, 50)))
    ('+1.00 points', '.900 to 1.100')
    >>> measured_text(PartRow(part="log_odds", estimate=Estimate(0.8, 0.5, 1.1, 0.9, 50)))
    ('odds ratio 2.2', '1.6 to 3.0')
    """
    assert part.estimate is not None
    value, ends = part.estimate.value, (part.estimate.low, part.estimate.high)
    if part.part == "log_odds":
        return f"odds ratio {odds_ratio(value)}", " to ".join(map(odds_ratio, ends))
    if part.part in ("position_flips", "car"):  # a share, and no shift either way
        return bare(value), " to ".join(bare(end, 3) for end in ends)
    points = " points" if part.part == "score" else ""
    return f"{signed(value)}{points}", " to ".join(bare(end, 3) for end in ends)


def allowed_text(part: PartRow) -> str:
    """Return between which limits the estimate of a part may lie.

    >>> allowed_text(PartRow(part="log_odds", allowed=(-0.405, 0.405)))
    '0.67 to 1.5'
    >>> allowed_text(PartRow(part="max_silent", allowed=(None, 0.05)))
    'at most .05'
    >>> allowed_text(PartRow(part="car", allowed=(0.8, None)))
    'at least .80'
    """
    if not part.allowed:
        return ""
    spell = odds_ratio if part.part == "log_odds" else bare
    low, high = (None if end is None else spell(end) for end in part.allowed)
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}" if part.part == "car" else f"more than {low}"
    return f"{low} to {high}"


def level(estimate: Row | None) -> str:
    """Return the confidence of an interval as a table's head has it, empty where it is not known.

    >>> level({"confidence": 0.9})
    ', 90% CI'
    """
    confidence = (estimate or {}).get("confidence")
    return "" if confidence is None else f", {100 * confidence:.10g}% CI"


def number(value: float | None) -> str:
    """Return a count or an amount with its thousands apart, a dash where it is not known.

    >>> number(12345.0), number(0.5), number(None)
    ('12,345', '0.5', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def status(value: str) -> dict[str, str]:
    """Return what stands for a status: the word, a sign, and the name of its colour.

    >>> status("FAIL")
    {'word': 'FAIL', 'sign': '✕', 'kind': 'fail'}
    """
    kind = {"APPROVE": "pass", "REJECT": "fail"}.get(value, value.lower().replace("_", "-"))
    known = kind in ("pass", "fail", "inconclusive", "error")
    word = NOT_DECIDED.get(value, value)
    return {"word": word, "sign": SYMBOLS.get(value, "–"), "kind": kind if known else "none"}


def part_of_swap(kind: str, name: str = "", said: str = "verdicts") -> str:
    """Return what a part of a decision compares, in words; `said` is what the judges said.

    >>> part_of_swap("abs-vsr", "recency"), part_of_swap("accuracy", "house-qa")
    ('how far verdicts follow recency', 'accuracy over both orders: house-qa')
    """
    phrase = COMPARED.get(kind) or kind
    if kind == "accuracy" and said == OF_PAIRS.said:  # in a swap it is that of both, and elsewhere that of one
        phrase = f"{phrase} over both orders"
    if "{name}" in phrase:
        return phrase.format(name=name or "the labels", said=said)
    phrase = phrase.format(said=said)
    return f"{phrase}: {name}" if name else phrase


def worse_in(parts: Iterable[tuple[str, str]], said: str = "verdicts") -> str:
    """Return what is worse about a candidate, by kind and name; parts of the same kind in one phrase.

    >>> worse_in([("abs-vsr", "recency"), ("abs-vsr", "age"), ("accuracy", "")])
    'its verdicts follow recency and age more; it is right less often'
    """
    names: dict[str, list[str]] = {}
    for kind, name in parts:
        names.setdefault(kind, []).extend(filter(None, [name]))
    phrases = []
    for kind, own in names.items():
        named = join_names(own) if own else ""
        phrase = WORSE.get(kind, f"{kind}{{on}}")
        phrases.append(phrase.format(names=named or "the labels", said=said, on=f" on {named}" if named else ""))
    return "; ".join(phrases)


def numbered(numbers: Sequence[int]) -> str:
    """Return ascending numbers as a label, those in a row as a range.

    >>> numbered([1, 2, 3, 5, 7, 8])
    '1–3, 5, 7, 8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts)
