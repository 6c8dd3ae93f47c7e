"""Capabilities of imported answers: which checks they allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.pairs import LABELS, MODEL, MODELS, Example, Pair, are_examples
from judgefixtures.models.text_features import count_words, formats_of
from judgefixtures.statistics.agreement import FEWEST_OF_A_CLASS
from judgefixtures.statistics.estimate import pluralize
from judgefixtures.util.texts import join_names

from .imported_answers import ImportedAnswer
from .rows_by_mode import RowFormat

MOST_NAMED = 6  # conditions


@dataclass(frozen=True, slots=True)
class ImportCapabilities:
    """What imported answers can and cannot show, with reasons."""

    can: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()

    def __add__(self, other: ImportCapabilities) -> ImportCapabilities:
        return ImportCapabilities(self.can + other.can, self.cannot + other.cannot)


@dataclass(frozen=True, slots=True)
class _Answers:
    content: RowFormat
    every: tuple[ImportedAnswer, ...]
    own: tuple[ImportedAnswer, ...]
    about: tuple[Pair, ...]
    of_examples: bool


def import_capabilities(
    content: RowFormat, answers: Iterable[ImportedAnswer], pairs: Mapping[str, Pair]
) -> ImportCapabilities:
    """Return what answers about these pairs or examples can show."""
    every = tuple(answers)
    own = tuple(each for each in every if each.key.condition == NO_CUE.name)
    about = tuple(pairs[name] for name in sorted({each.key.pair for each in own}))
    of = _Answers(content, every, own, about, are_examples(pairs.values()))
    parts = (_people, _position, _noise, _cues, _reasons, _copies, _groups)
    return sum((part(of) for part in parts), ImportCapabilities())


def _capability(can: object, text: str, why: str) -> ImportCapabilities:
    return ImportCapabilities(can=(text,)) if can else ImportCapabilities(cannot=(why,))


def _people(of: _Answers) -> ImportCapabilities:
    if not of.of_examples:
        known = sum(pair.gold is not None for pair in of.about)
        if known and of.content.check != "accuracy":
            return _capability(False, "", "accuracy (grades choose no response)")
        return _capability(known, f"accuracy on {pluralize(known, 'pair')} with gold", "accuracy (no pair has gold)")
    labels = Counter(pair.label for pair in of.about if isinstance(pair, Example))
    known, least = sum(labels[label] for label in LABELS), min(labels[label] for label in LABELS)
    if known and of.content.check != "agreement":
        return _capability(False, "", "agreement with labels (scores need a pass_mark)")
    counts = ", ".join(f"{labels[label]} {label}" for label in LABELS)
    few = "" if least >= FEWEST_OF_A_CLASS else f", a limit needs {FEWEST_OF_A_CLASS} of each"
    text = f"agreement with {pluralize(known, 'label')} ({counts}{few})"
    return _capability(known, text, "agreement with people (no example has a label)")


def _position(of: _Answers) -> ImportCapabilities:
    if of.of_examples:
        return _capability(False, "", "position (one response has no order)")
    orders = Counter(pair for pair, _ in {(each.key.pair, each.key.shown) for each in of.own})
    both = sum(count > 1 for count in orders.values())
    why = _as_far(of, both, "in both orders", "no pair is in both orders")
    text = f"position ({pluralize(both, 'pair')} in both orders)"
    return _capability(both and both == len(of.about), text, f"position ({why})")


def _noise(of: _Answers) -> ImportCapabilities:
    counts = Counter((each.key.pair, each.key.shown) for each in of.own)
    again, least = len({pair for (pair, _), count in counts.items() if count > 1}), min(counts.values(), default=0)
    why = _as_far(of, again, "answered again", "no repeats; name their column: --columns repeat=...")
    text = f"noise ({least} answers each to {of.content.words.counted(len(of.about))})"
    return _capability(least > 1, text, f"noise ({why})")


def _as_far(of: _Answers, some: int, what: str, none: str) -> str:
    return f"{some} of {of.content.words.counted(len(of.about))} {what}, all needed" if some else none


def _cues(of: _Answers) -> ImportCapabilities:
    conditions = sorted({each.key.condition for each in of.every} - {NO_CUE.name})
    text = f"cues and edits ({join_names(conditions, ', ', most=MOST_NAMED)})"
    why = "cues, edits and attacks (no condition; name its column: --columns condition=...)"
    return _capability(conditions, text, why)


def _reasons(of: _Answers) -> ImportCapabilities:
    reasoned, cued = sum(bool(each.reason) for each in of.every), len(of.own) < len(of.every)
    text = f"reasons ({reasoned} of {pluralize(len(of.every), 'answer')})"
    scope = _capability(reasoned, text, "reasons (the log has none)")
    admits = "cue acknowledgment"
    return scope + _capability(cued and reasoned, admits, f"{admits} (no {'reasons' if cued else 'cues'})")


def _copies(of: _Answers) -> ImportCapabilities:
    if not of.of_examples:
        return ImportCapabilities()
    answers: dict[tuple[str, int], list[str]] = {}
    for each in of.own:
        answers.setdefault((each.key.shown, each.key.repeat), []).append(repr(each.said))
    copies = [each for each in answers.values() if len(each) > 1]
    torn, more = sum(len({*each}) > 1 for each in copies), "s" if len(copies) == 1 else ""
    named = f"{pluralize(len(copies), 'response')} appear{more} with several ids"
    return _capability(copies, f"copies ({named}, {torn} judged differently)", "copies (no response has two ids)")


def _groups(of: _Answers) -> ImportCapabilities:
    texts = [(pair.response_1, pair.response_2) for pair in of.about]
    sets = [[text for text, _ in texts]] if of.of_examples else texts
    columns = (MODEL,) if of.of_examples else MODELS
    where = f"--columns {MODEL}=..." if of.of_examples else f"columns {' and '.join(MODELS)}"
    models = [pair.columns[name] for pair in of.about for name in columns if name in pair.columns]
    unknown = f"no author; name the column: {where}"
    apart = {
        "length": (any(_differ(map(count_words, each)) for each in sets), "all have the same length"),
        "format": (any(_differ(map(formats_of, each)) for each in sets), "all have the same format"),
        "model": (_differ(models), "one model wrote all" if models else unknown),
    }
    can = [name for name, (is_one, _) in apart.items() if is_one]
    cannot = tuple(f"answers by {name} ({why})" for name, (is_one, why) in apart.items() if not is_one)
    return ImportCapabilities((f"answers by {join_names(can)} of the response",) if can else (), cannot)


def _differ(values: Iterable[Hashable]) -> bool:
    rest = iter(values)
    first = next(rest, None)
    return any(value != first for value in rest)
