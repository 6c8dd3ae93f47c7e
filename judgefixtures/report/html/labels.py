"""Labels of the page: numbers, statuses and short sentences."""

from collections.abc import Iterable, Sequence

from judgefixtures.models.findings import DecisionPart, Row
from judgefixtures.models.vocabulary import OF_PAIRS
from judgefixtures.statistics import format_share, format_signed
from judgefixtures.statistics.log_odds import odds_ratio
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

SYMBOLS = {"PASS": "✓", "APPROVE": "✓", "FAIL": "✕", "REJECT": "✕", "INCONCLUSIVE": "?", "ERROR": "!"}
NOT_DECIDED = {"NOT_APPLICABLE": "not applicable"}

_TABLE = load_table("page")
# Names of the parts of a swap's decision, and how a candidate is worse in a part.
COMPARED, WORSE = _TABLE["compared"], _TABLE["worse"]


def capitalize_first(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def share_label(value: float | None) -> str:
    """Return a share such as 0.15, or a dash."""
    return "–" if value is None else format_share(value)


def shift_label(value: float | None) -> str:
    """Return a difference such as +0.30 or −0.30, or a dash."""
    return "–" if value is None else format_signed(value).replace("-", "−")


def interval_label(estimate: Row | None) -> str:
    """Return an interval, or "".

    >>> interval_label({"value": 0.3, "low": -0.0307, "high": 0.3798, "confidence": 0.9, "n": 100})
    '−0.031 to 0.380'
    """
    if not estimate:
        return ""
    return f"{format_share(estimate['low'], 3)} to {format_share(estimate['high'], 3)}".replace("-", "−")


def other_deciding_parts(parts: Iterable[DecisionPart], *, by_scores: bool = False) -> list[DecisionPart]:
    """Return the other deciding parts that have estimates."""
    gated = ("vsr", "effect", "score") if by_scores else ("vsr", "effect")
    return [part for part in parts if part.estimate and part.part not in gated]


def estimate_label(part: DecisionPart) -> tuple[str, str]:
    """Return the estimate of a part and its interval, in the part's own unit.

    >>> from judgefixtures.statistics import Estimate
    >>> estimate_label(DecisionPart(part="score", estimate=Estimate(1.0, 0.9, 1.1, 0.9, 50)))
    ('+1.00 points', '0.900 to 1.100')
    >>> estimate_label(DecisionPart(part="log_odds", estimate=Estimate(0.8, 0.5, 1.1, 0.9, 50)))
    ('odds ratio 2.2', '1.6 to 3.0')
    """
    assert part.estimate is not None
    value, ends = part.estimate.value, (part.estimate.low, part.estimate.high)
    if part.part == "log_odds":
        return f"odds ratio {odds_ratio(value)}", " to ".join(map(odds_ratio, ends))
    if part.part in ("position_flips", "car"):  # a share, and no shift either way
        return format_share(value), " to ".join(format_share(end, 3) for end in ends)
    points = " points" if part.part == "score" else ""
    return f"{format_signed(value)}{points}", " to ".join(format_share(end, 3) for end in ends)


def limits_label(part: DecisionPart) -> str:
    """Return between which limits the estimate of a part may lie.

    >>> limits_label(DecisionPart(part="log_odds", allowed=(-0.405, 0.405)))
    '0.67 to 1.5'
    >>> limits_label(DecisionPart(part="max_silent", allowed=(None, 0.05)))
    'at most 0.05'
    >>> limits_label(DecisionPart(part="car", allowed=(0.8, None)))
    'at least 0.80'
    """
    if not part.allowed:
        return ""
    spell = odds_ratio if part.part == "log_odds" else format_share
    low, high = (None if end is None else spell(end) for end in part.allowed)
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}" if part.part == "car" else f"more than {low}"
    return f"{low} to {high}"


def confidence_label(estimate: Row | None) -> str:
    """Return the confidence of an interval for a header, or "".

    >>> confidence_label({"confidence": 0.9})
    ', 90% CI'
    """
    confidence = (estimate or {}).get("confidence")
    return "" if confidence is None else f", {100 * confidence:.10g}% CI"


def number_label(value: float | None) -> str:
    """Return a count or amount with separators, or a dash.

    >>> number_label(12345.0), number_label(0.5), number_label(None)
    ('12,345', '0.5', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def status_label(value: str) -> dict[str, str]:
    """Return a status's word, sign and colour name.

    >>> status_label("FAIL")
    {'word': 'FAIL', 'sign': '✕', 'kind': 'fail'}
    """
    kind = {"APPROVE": "pass", "REJECT": "fail"}.get(value, value.lower().replace("_", "-"))
    known = kind in ("pass", "fail", "inconclusive", "error")
    word = NOT_DECIDED.get(value, value)
    return {"word": word, "sign": SYMBOLS.get(value, "–"), "kind": kind if known else "none"}


def swap_part_label(kind: str, name: str = "", verdict_words: str = "verdicts") -> str:
    """Return what a decision's part compares.

    >>> swap_part_label("abs-vsr", "recency"), swap_part_label("accuracy", "house-qa")
    ('how far verdicts follow recency', 'accuracy over both orders: house-qa')
    """
    phrase = COMPARED.get(kind) or kind
    if kind == "accuracy" and verdict_words == OF_PAIRS.said:  # in a swap it is that of both, and elsewhere that of one
        phrase = f"{phrase} over both orders"
    if "{name}" in phrase:
        return phrase.format(name=name or "the labels", said=verdict_words)
    phrase = phrase.format(said=verdict_words)
    return f"{phrase}: {name}" if name else phrase


def worse_parts_text(parts: Iterable[tuple[str, str]], verdict_words: str = "verdicts") -> str:
    """Return in which parts a candidate is worse.

    >>> worse_parts_text([("abs-vsr", "recency"), ("abs-vsr", "age"), ("accuracy", "")])
    'its verdicts follow recency and age more; its accuracy is lower'
    """
    names: dict[str, list[str]] = {}
    for kind, name in parts:
        names.setdefault(kind, []).extend(filter(None, [name]))
    phrases = []
    for kind, own in names.items():
        named, on = (join_names(own), f" on {join_names(own)}") if own else ("the labels", "")
        phrases.append(WORSE.get(kind, f"{kind}{{on}}").format(names=named, said=verdict_words, on=on))
    return "; ".join(phrases)


def number_ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with ranges.

    >>> number_ranges([1, 2, 3, 5, 7, 8])
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
