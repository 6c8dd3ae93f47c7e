"""Data of the page's pair browser: one entry per pair and contrast of a judge."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.models.edits import edit_target
from judgefixtures.models.findings import Row
from judgefixtures.models.pairs import Example, Pair

from .views import baselines_by_candidate, contrast_sentence, is_edit
from .vocabulary import is_grade_contrast

# What a case can be filtered by: bits of one number.
MOVED, ADMITTED, CLOSE, INVALID, DIFFERS = 1, 2, 4, 8, 16
FILTERS = {"moved": MOVED, "admitted": ADMITTED, "close": CLOSE, "invalid": INVALID, "differs": DIFFERS}
TIE, NONE = 0, -1  # in place of the number of the chosen response
TURNED = f"-{NO_CUE_SWAPPED.order}"  # how the name of a condition ends that shows the responses in the other order
REVERSED = "chose-own-first"  # the outcome whose second arm shows the responses in the other order

ArmKey = tuple[str, str, str, int]  # judge, dataset, condition, repeat
Answers = Mapping[ArmKey, Mapping[int, Row]]  # by arm, and by the number of the pair


@dataclass(slots=True)
class TextTable:
    """A table of distinct texts; number 0 is empty."""

    numbers: dict[str, int] = field(default_factory=lambda: {"": 0})

    def __call__(self, text: object) -> int:
        """Return the number of a text, 0 for none."""
        return self.numbers.setdefault("" if text is None else str(text), len(self.numbers))

    @property
    def all(self) -> list[str]:
        """The texts in order."""
        return list(self.numbers)


def browser_data(report: Row, judgments: Sequence[Row], pairs: Sequence[Row]) -> Row:
    """Return the data of page.js: `strings`, `pairs`, `arms`, `contrasts` and `cases`.

    A pair is `[dataset, pair, question, response 1, response 2, gold, category, content type, close for, label]`, then
    `[name, text]` per column. An answer is `[chosen, reason, invalid, acknowledgment, span, extras]` without final
    zeros. A case is contrast, pair and sum of filters. Texts are numbers of strings.
    """
    texts = TextTable()
    known = _numbers(judgments, pairs)
    answers = _by_arm(judgments, known)
    arms = sorted(answers)
    numbers = {arm: number for number, arm in enumerate(arms)}
    contrasts = list(_contrasts(report, answers))
    baselines = baselines_by_candidate(report)
    cases: list[int] = []
    for number, row in enumerate(contrasts):
        others = [(baselines.get(arm[0], ""), *arm[1:]) for arm in row["arms"]]
        for pair, flags in _flagged(row, others, answers, pairs):
            cases += [number, pair, flags]
    packed = {
        "filters": FILTERS,
        "pairs": [_pair(row, texts) for row in pairs],
        "arms": [{**_arm(arm, answers[arm], texts), "turned": _is_turned(arm, answers)} for arm in arms],
        "contrasts": [_contrast(row, numbers, baselines, texts) for row in contrasts],
        "cases": cases,
        "edited": [edit_target(_plain(row)) for row in pairs],
    }
    return {**packed, "strings": texts.all}


def _numbers(judgments: Sequence[Row], pairs: Sequence[Row]) -> dict[tuple[str, str, str], int]:
    """Keep one row per order: judges may see a pair in different orders."""
    everybody = sorted({row["judge"] for row in judgments})
    return {
        (judge, row["dataset"], row["pair"]): number
        for number, row in enumerate(pairs)
        for judge in row.get("judges", everybody)
    }


def _by_arm(judgments: Sequence[Row], known: Mapping[tuple[str, str, str], int]) -> dict[ArmKey, dict[int, Row]]:
    rows_by_arm: dict[ArmKey, dict[int, Row]] = defaultdict(dict)
    for row in judgments:
        pair = known.get((row["judge"], row["dataset"], row["pair"]))
        if pair is not None:
            rows_by_arm[row["judge"], row["dataset"], row["condition"], row["repeat"]][pair] = row
    return rows_by_arm


def _contrasts(report: Row, answers: Answers) -> Iterator[Row]:
    left = {arm: set(answers[arm]) for arm in sorted(answers)}
    gated: list[Row] = report.get("contrasts") or []
    for row in (*gated, *_swapped(report, {_key(row) for row in gated})):
        own = [(row["judge"], row["dataset"], str(name), int(repeat)) for name, repeat in row.get("arms") or []]
        if len(own) == 2 and answers.keys() >= {*own}:
            about = _about(row, *(answers[arm] for arm in own))
            for arm in own:
                left[arm] -= about
            yield {**row, "arms": own, "about": about}
    for arm, about in left.items():
        if about:
            judge, dataset, condition, repeat = arm
            name = f"{condition} (repeat {repeat})" if repeat else condition
            yield {"judge": judge, "dataset": dataset, "contrast": name, "arms": [arm], "moved": [], "about": about}


def _swapped(report: Row, known: set[tuple[str, str, str]]) -> Iterator[Row]:
    for row in report.get("swap") or []:
        for judge in (row["judge"], row["baseline"]) if row.get("arms") else ():
            own = {**row, "judge": judge}
            if _key(own) not in known:
                known.add(_key(own))
                yield own


def _key(row: Row) -> tuple[str, str, str]:
    return row["judge"], row["dataset"], row["contrast"]


def _about(row: Row, x: Iterable[int], y: Iterable[int]) -> set[int]:
    """Return a contrast's pairs: attacks omit examples labelled pass."""
    return {*x} if is_grade_contrast(row) and is_edit(row) else {*x, *y}


def _flagged(row: Row, others: Sequence[ArmKey], answers: Answers, pairs: Sequence[Row]) -> Iterator[tuple[int, int]]:
    named = None if row.get("moved") is None else set(row["moved"])
    sides = [(answers[arm], answers.get(other, {})) for arm, other in zip(row["arms"], others, strict=True)]
    for number in sorted(row["about"]):
        both = [(ours[number], theirs.get(number)) for ours, theirs in sides if number in ours]
        own = [each for each, _ in both]
        chosen = [_chosen(each) for each in own]
        moved = pairs[number]["pair"] in named if named is not None else _moved(chosen, row.get("outcome"))
        flags = MOVED * moved + INVALID * (NONE in chosen)
        flags += ADMITTED * any(each.get("acknowledgment") == "cited" and not each.get("unread") for each in own)
        flags += CLOSE * (row["judge"] in (pairs[number].get("close_for") or ()))
        flags += DIFFERS * any(theirs is not None and _chosen(each) != _chosen(theirs) for each, theirs in both)
        yield number, flags


def _moved(chosen: Sequence[int], outcome: str | None) -> bool:
    if len(chosen) < 2 or NONE in chosen:
        return False
    first, second = chosen
    return first != ({1: 2, 2: 1}.get(second, second) if outcome == REVERSED else second)


def _chosen(row: Row) -> int:
    if row.get("tie"):
        return TIE
    chosen = row.get("selected_response")
    return NONE if chosen is None else int(chosen)


# --- packed -----------------------------------------------------------------------------------------------------


def _pair(row: Row, texts: TextTable) -> list[Any]:
    close = [texts(judge) for judge in row.get("close_for") or ()]
    names = [texts(row.get(name)) for name in ("dataset", "pair", "question")]
    responses = [texts(row.get("response", row.get("response_1"))), texts(row.get("response_2"))]
    kinds = [texts(row.get(name)) for name in ("category", "content_type")]
    packed = [*names, *responses, row.get("gold") or 0, *kinds, close, texts(row.get("label"))]
    columns = [[texts(name), texts(value)] for name, value in (row.get("columns") or {}).items()]
    return [*packed, columns] if columns else packed


def _plain(row: Row) -> Pair:
    if "response" in row:
        return Example(row["pair"], row["question"], row["response"])
    return Pair(row["pair"], row["question"], row["response_1"], row["response_2"], row.get("gold"))


def _is_turned(arm: ArmKey, there: Collection[ArmKey]) -> bool:
    """Return whether an arm is reversed: `age-20-21` is only if `age-20` exists."""
    judge, dataset, condition, repeat = arm
    plain = condition.removesuffix(TURNED)
    return plain != condition and (plain == NO_CUE.name or (judge, dataset, plain, repeat) in there)


def _arm(key: ArmKey, answers: Mapping[int, Row], texts: TextTable) -> Row:
    numbers = sorted(answers)
    named = dict(zip(("judge", "dataset", "condition"), map(texts, key[:3]), strict=True))
    content = {"repeat": key[3], "pairs": numbers, "answers": [_answer(answers[number], texts) for number in numbers]}
    return {**named, **content}


def _answer(row: Row, texts: TextTable) -> list[Any]:
    extras = {name: texts(row[name]) for name in ("detail", "contradiction") if row.get(name)}
    if row.get("scores"):
        extras["scores"] = texts(" and ".join(f"{score:g}" for score in row["scores"]))
    reading = "unread" if row.get("unread") else row.get("acknowledgment")
    packed: list[Any] = [_chosen(row), texts(row.get("reason")), texts(row.get("invalid")), texts(reading)]
    packed += [texts(row.get("span")), extras or 0]
    return packed[: _length(packed)]


def _length(values: Sequence[Any]) -> int:
    return max((place for place, value in enumerate(values, 1) if value), default=1)


def _contrast(row: Row, numbers: Mapping[ArmKey, int], baselines: Mapping[str, str], texts: TextTable) -> Row:
    baseline = baselines.get(row["judge"], "")
    others: Iterable[ArmKey] = [(baseline, *arm[1:]) for arm in row["arms"]]
    sentences = row.get("sentences") or {}
    return {
        **{name: texts(row.get(name)) for name in ("judge", "dataset", "contrast", "status")},
        "said": texts(contrast_sentence(row)),
        "x": texts(row.get("x")),
        "y": texts(row.get("y")),
        "sentences": [texts(sentences.get("x")), texts(sentences.get("y"))],
        "arms": [numbers[arm] for arm in row["arms"]],
        "baseline": texts(baseline),
        "others": [numbers.get(arm, -1) for arm in others],
        "reversed": row.get("outcome") == REVERSED,
        "edit": bool(row.get("x")) and is_edit(row),
        "cue": _is_of_cue(row),
    }


def _is_of_cue(row: Row) -> bool:
    chosen = row.get("outcome", "chose-first") == "chose-first" or is_grade_contrast(row)
    return chosen and bool(row.get("x")) and not is_edit(row)
