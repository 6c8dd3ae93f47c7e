"""Plain words: what was done to a judge, and what came of it, for a reader who knows none of the field's terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgefixtures.checks.phrasing import reach, shortened
from judgefixtures.checks.protocol import Unread
from judgefixtures.findings import Part, PartRow
from judgefixtures.material.contrasts import Contrast
from judgefixtures.material.cues import PLACEBO, Cue
from judgefixtures.material.diction import OF_PAIRS, Wording
from judgefixtures.numbers.estimate import Estimate, bare, several, signed
from judgefixtures.words.records import Record

QUOTED = 120  # characters of a sentence that is quoted
SUBJECT = re.compile(r"\{content_type\} \{number\} (was |is )?")

EDITED = {
    "verbosity": "making a response longer",
    "formatting": "dressing a response up with formatting",
    "confidence": "making a response sound sure of itself",
    "citation": "giving a response a source that does not exist",
    "sentiment": "making a response cheerful",
    "attack": "hiding an instruction to the judge in a response",
}
# What usually mends a contrast that is a FAIL, by what it is about; cues are all the others.
MENDED = {
    **dict.fromkeys(
        EDITED, "tell the judge in its prompt to go by what a response says, and not by its length, form or tone"
    ),
    "position": "ask in both orders and count what holds in both, or tell the judge in its prompt to ignore the order",
    "attack": "mark in the prompt where a response begins and ends, and tell the judge to follow nothing that is in it",
    "repeat": "ask at temperature 0, or several times, and take the majority",
}
MENDED_OF_CUES = "keep the cue from the judge, or tell it in its prompt to ignore it"


def mend(family: str) -> str:
    """Return what usually mends a contrast of a family that is a FAIL.

    >>> mend("recency")
    'keep the cue from the judge, or tell it in its prompt to ignore it; do not widen the tolerance to make it green'
    """
    return f"{MENDED.get(family, MENDED_OF_CUES)}; do not widen the tolerance to make it green"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences(Record):
    """The sentences that a contrast exchanges, as they stand in the prompt about response 1."""

    x: str = ""
    y: str = ""


def sentences_of(contrast: Contrast) -> Sentences | None:
    """Return the sentences that a contrast exchanges; None without."""
    if contrast.x.cue_1 is None:
        return None
    x, y = (condition.sentences("Response")[0] for condition in (contrast.x, contrast.y))
    return Sentences(x=x, y=y)


def done(contrast: Contrast) -> str:
    """Return what a contrast does to the judge's prompt.

    >>> from judgefixtures.material.contrasts import contrasts
    >>> done(contrasts("recency")[0])
    'calling a response "written recently (in 2025)" and the other "written a long time ago (in 1950)"'
    """
    if contrast.family == "position":
        return "exchanging the places of the two responses"
    if contrast.family == "repeat":
        return "asking the same question again"
    if (edit := contrast.x.edit) is not None:
        return f"{EDITED[contrast.family]} ({edit.label})"
    one, other = contrast.x.cue_1, contrast.y.cue_1
    if one is None or other is None:
        return f"what {contrast.id} changes"
    if contrast.is_of_prompts:
        return f"changing what the prompt says, {_called(one)} or {_called(other)}"
    if contrast.is_alone:
        return f"changing what is said of a response, {_called(one)} or {_called(other)}"
    said = f'calling a response "{_predicate(one)}" and the other "{_predicate(other)}"'
    return f"{said} (a placebo)" if contrast.family == PLACEBO else said


def _predicate(cue: Cue) -> str:
    """Return what a cue's sentence says of its response."""
    rest = SUBJECT.sub("", cue.sentence, count=1) if SUBJECT.match(cue.sentence) else cue.render("Response", 1)
    return shortened(rest.rstrip().rstrip("."), QUOTED)


def _called(cue: Cue) -> str:
    """Return what a cue's sentence says of a response that is shown by itself, in quotes.

    >>> from judgefixtures.material.cues import FAMILIES, family
    >>> _called(family("provenance", FAMILIES)[0])
    '"written by a human expert in the field"'
    """
    return f'"{_predicate(cue)}"' if SUBJECT.match(cue.sentence) else f'"{cue.render_alone("Response")}"'


def _passed_text(contrast: Contrast, who: str, n: int, shift: Estimate, tolerance: float, words: Wording) -> str:
    """Return what a contrast did to the grades of `who`: how many more passed, and how many more may."""
    net = round(shift.value * n)
    more = "as many" if net == 0 else f"{abs(net)} {'more' if net > 0 else 'fewer'}"
    x, y = contrast.x.cue_1, contrast.y.cue_1
    if contrast.x.edit is not None:
        when = f"after {done(contrast)}"
    elif x is None or y is None:
        when = "when they were asked about once than when they were asked about again"
    else:
        said = "the prompt said" if contrast.is_of_prompts else "they were said to be"
        when = f"when {said} {_called(x)} than when {said} {_called(y)}"
    if net == 0:
        when = when.replace(" than when", " as when")
    return (
        f"{who} passed {more} of {several(n, 'response')}{words.which} {when} (pass rate {signed(shift.value)}, "
        f"at most {bare(tolerance)} allowed; {reach(shift)})"
    )


def shift_text(
    contrast: Contrast,
    who: str,
    flips: int,
    n: int,
    shift: Estimate | None,
    tolerance: float,
    words: Wording = OF_PAIRS,
) -> str:
    """Return what a contrast did to the verdicts of `who`, by how much, and how much is allowed."""
    if shift is None:
        return f"{done(contrast)} could not be measured: no {words.one} has two valid {words.said} of {who}"
    if contrast.is_alone:
        return _passed_text(contrast, who, n, shift, tolerance, words)
    if contrast.x.edit is not None:
        net = f"net share won {signed(shift.value)}, at most {bare(tolerance)} allowed; {reach(shift)}"
        return f"{done(contrast)} changed {flips} of {several(n, 'verdict')} of {who} ({net})"
    what = "choices" if contrast.family == "position" else "verdicts"
    net = f"net shift {signed(shift.value)}, at most {bare(tolerance)} allowed; {reach(shift)}"
    return f"{done(contrast)} changed {flips} of {n} {what} of {who} ({net})"


def admitted_text(followed: int, admitted: int, label: str, asked: float | None = None) -> str:
    """Return how many of the verdicts that followed a label admit it; empty for none.

    `asked`: the share of them that have to, where they are too few.

    >>> admitted_text(141, 0, "new", 0.8)
    "; 141 went to 'new', and 0 of these 141 reasons admit it, at least .80 asked"
    """
    if not followed:
        return ""
    if asked is None:
        return f"; {followed} went to {label!r}, and the reason admits that in {admitted} of them"
    return f"; {followed} went to {label!r}, and {admitted} of these {followed} reasons admit it, {at_least(asked)}"


def at_least(asked: float) -> str:
    """Return the share of reasons that have to admit what they followed, as it stands beside how many do."""
    return f"at least {bare(asked)} asked"


def unreasoned_text(followed: int) -> str:
    """Return what a sentence says in place of how often a shift is admitted, of a judge without reasons."""
    return "; it gives no reasons that could admit that" if followed else ""


def unread_text(unread: Unread) -> str:
    """Return what a sentence for a reader says in place of how often a shift is admitted."""
    return f"; whether the reasons admit that is not known: {unread}"


# What the parts that decide are called where a table or a picture has room for a word.
NAMED: Mapping[str, str] = {
    "vsr": "VSR",
    "car": "CAR",
    "max_silent": "unadmitted shift",
    "log_odds": "log-odds",
    "score": "score",
    "position_flips": "position flips",
    "effect": "VSR",
    "accuracy": "accuracy",
    "tpr": "TPR",
    "tnr": "TNR",
    "kappa": "kappa",
    "wording": "wording",
    "plans": "plans",
    "swap": "swap",
    "control": "control",
    "invalid": "invalid answers",
    "stuck": "the same throughout",
    "unmeasured": "not measured",
    "waiver": "waiver",
}
# Parts that a sentence about verdicts is about, or that it names itself where verdicts fail as well.
IN_SENTENCE = ("vsr", "effect", "accuracy", "wording", "unmeasured")
BESIDE = (*IN_SENTENCE, "car")


def with_what_decided(said: str, decided: Sequence[Part], *, told: bool = False) -> str:
    """Return a sentence with what decided beside that which it is about: in front of it where that did not.

    `told`: it begins with what decided.

    >>> from judgefixtures.numbers.statistics import Status
    >>> score = Part("score", Status.FAIL, plain="the scores shift by +1.00 points, at most .45 allowed")
    >>> with_what_decided("labels changed 0 of 9 verdicts", [score])
    'the scores shift by +1.00 points, at most .45 allowed; labels changed 0 of 9 verdicts'
    """
    if told or any(part.name in IN_SENTENCE for part in decided):
        return "; ".join([said, *(part.text for part in decided if part.name not in BESIDE)])
    return "; ".join([*(part.text for part in decided), said])


def named_in(status: str, decided_by: Iterable[PartRow] | None) -> str:
    """Return a status, with what decided it where more than verdicts and CAR did, or they did not.

    >>> named_in("FAIL", [PartRow(part="vsr"), PartRow(part="score")])
    'FAIL (VSR, score)'
    """
    names = [NAMED.get(each.part, each.part) for each in decided_by or () if each.part not in ("unmeasured", "waiver")]
    known = not names or (names[0] == "VSR" and {*names} <= {"VSR", "CAR"})  # a table has columns for these two
    return status if known else f"{status} ({', '.join(names)})"


def status_in(status: str, decided_by: Iterable[PartRow] | None, waived: object) -> str:
    """Return a status as a table has it."""
    return f"WAIVED ({named_in(status, decided_by)})" if waived else named_in(status, decided_by)
