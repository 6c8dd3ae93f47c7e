"""Scope: what can be told of a judge by the answers that were imported, and what cannot, in words of a newcomer's.

Computed from the answers and from what they are about; what a check then needs of them the check itself says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from judgefixtures.imports.answers import Logged
from judgefixtures.imports.contents import Content
from judgefixtures.material.contrasts import NO_CUE
from judgefixtures.material.counts import count_words, formats_of
from judgefixtures.material.pairs import LABELS, MODEL, MODELS, Example, Pair, is_of_examples
from judgefixtures.numbers.agreement import FEWEST_OF_A_CLASS
from judgefixtures.numbers.estimate import several
from judgefixtures.words.texts import join_names

MOST_NAMED = 6  # conditions


@dataclass(frozen=True, slots=True)
class Scope:
    """What answers can show of their judge, and what they cannot, with why."""

    can: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()

    def __add__(self, other: Scope) -> Scope:
        """Return both together."""
        return Scope(self.can + other.can, self.cannot + other.cannot)


@dataclass(frozen=True, slots=True)
class _Answers:
    """All answers of a log, those without cues, and the pairs or examples that these are about."""

    content: Content
    every: tuple[Logged, ...]
    own: tuple[Logged, ...]
    about: tuple[Pair, ...]
    of_examples: bool


def scope_of(content: Content, answers: Iterable[Logged], pairs: Mapping[str, Pair]) -> Scope:
    """Return what answers about some of these pairs, or examples, can show, and what they cannot."""
    every = tuple(answers)
    own = tuple(each for each in every if each.key.condition == NO_CUE.name)
    about = tuple(pairs[name] for name in sorted({each.key.pair for each in own}))
    of = _Answers(content, every, own, about, is_of_examples(pairs.values()))
    parts = (_people, _position, _noise, _cues, _reasons, _copies, _groups)
    return sum((part(of) for part in parts), Scope())


def _told(can: object, said: str, why: str) -> Scope:
    """Return that something can be shown, or why it cannot."""
    return Scope(can=(said,)) if can else Scope(cannot=(why,))


def _people(of: _Answers) -> Scope:
    """Tell whether people say what is right."""
    if not of.of_examples:
        known = sum(pair.gold is not None for pair in of.about)
        if known and of.content.check != "accuracy":
            return Scope(cannot=("accuracy (each response passes or fails by itself, and neither is chosen)",))
        return _told(known, f"accuracy on {several(known, 'pair')} with gold", "accuracy (no pair has gold)")
    labels = Counter(pair.label for pair in of.about if isinstance(pair, Example))
    known, least = sum(labels[label] for label in LABELS), min(labels[label] for label in LABELS)
    if known and of.content.check != "agreement":
        return Scope(cannot=("agreement with labels (a score neither passes nor fails: set pass_mark)",))
    counts = ", ".join(f"{labels[label]} {label}" for label in LABELS)
    few = "" if least >= FEWEST_OF_A_CLASS else f", and a limit takes {FEWEST_OF_A_CLASS} of each"
    said = f"agreement with {several(known, 'label')} ({counts}{few})"
    return _told(known, said, "agreement with people (no example has a label)")


def _position(of: _Answers) -> Scope:
    """Tell whether the order of two responses can be seen to matter."""
    if of.of_examples:
        return Scope(cannot=("position (one response has no order)",))
    orders = Counter(pair for pair, _ in {(each.key.pair, each.key.shown) for each in of.own})
    both = sum(count > 1 for count in orders.values())
    why = _as_far(of, both, "in both orders", "no pair stands there in both orders")
    return _told(
        both and both == len(of.about), f"position ({several(both, 'pair')} in both orders)", f"position ({why})"
    )


def _noise(of: _Answers) -> Scope:
    """Tell whether everything was answered several times."""
    counts = Counter((each.key.pair, each.key.shown) for each in of.own)
    again, least = {pair for (pair, _), count in counts.items() if count > 1}, min(counts.values(), default=0)
    why = _as_far(
        of, len(again), "answered again", "nothing says that anything was answered twice: --columns repeat=..."
    )
    said = f"noise ({least} answers each to {of.content.words.counted(len(of.about))})"
    return _told(least > 1, said, f"noise ({why})")


def _as_far(of: _Answers, some: int, what: str, none: str) -> str:
    """Return of how many something holds that has to hold of all."""
    return f"{some} of {of.content.words.counted(len(of.about))} {what}, and all have to be" if some else none


def _cues(of: _Answers) -> Scope:
    """Tell whether anything was varied that the judge was shown."""
    conditions = sorted({each.key.condition for each in of.every} - {NO_CUE.name})
    said = f"cues and edits ({join_names(conditions, ', ', most=MOST_NAMED)})"
    why = "cues, edits and attacks (nothing says with which of them it was asked: --columns condition=...)"
    return _told(conditions, said, why)


def _reasons(of: _Answers) -> Scope:
    """Tell whether there are reasons, and cues that they could admit."""
    reasoned, cued = sum(bool(each.reason) for each in of.every), len(of.own) < len(of.every)
    found = _told(reasoned, f"reasons ({reasoned} of {several(len(of.every), 'answer')})", "reasons (the log has none)")
    admits = "what it admits of cues"
    return found + _told(cued and reasoned, admits, f"{admits} (no {'reasons' if cued else 'cues'})")


def _copies(of: _Answers) -> Scope:
    """Tell whether the same response stands there under several ids, and was judged differently."""
    if not of.of_examples:
        return Scope()
    said: dict[tuple[str, int], list[str]] = {}
    for each in of.own:
        said.setdefault((each.key.shown, each.key.repeat), []).append(repr(each.said))
    copies = [each for each in said.values() if len(each) > 1]
    torn, more = sum(len({*each}) > 1 for each in copies), "s" if len(copies) == 1 else ""
    there = (
        f"copies ({several(len(copies), 'response')} stand{more} there under several ids, {torn} judged differently)"
    )
    return _told(copies, there, "copies (no response stands there under two ids)")


def _groups(of: _Answers) -> Scope:
    """Tell by what the answers can be told apart: responses among each other, or the two of a pair."""
    texts = [(pair.response_1, pair.response_2) for pair in of.about]
    sets = [[text for text, _ in texts]] if of.of_examples else texts
    columns, where = (
        ((MODEL,), f"--columns {MODEL}=...") if of.of_examples else (MODELS, f"columns {' and '.join(MODELS)}")
    )
    models = [pair.columns[name] for pair in of.about for name in columns if name in pair.columns]
    unknown = f"nothing says which model wrote what: {where}"
    apart = {
        "length": (any(_differ(map(count_words, each)) for each in sets), "all are as long"),
        "format": (any(_differ(map(formats_of, each)) for each in sets), "all have the same"),
        "model": (_differ(models), "one model wrote all" if models else unknown),
    }
    can = [name for name, (is_one, _) in apart.items() if is_one]
    cannot = tuple(f"answers by {name} ({why})" for name, (is_one, why) in apart.items() if not is_one)
    return Scope((f"answers by {join_names(can)} of the response",) if can else (), cannot)


def _differ(values: Iterable[Hashable]) -> bool:
    """Tell whether values are not all the same, as soon as one is another."""
    rest = iter(values)
    first = next(rest, None)
    return any(value != first for value in rest)
