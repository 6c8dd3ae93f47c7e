"""Plain-language sentences about a result, for readers who know no statistics."""

import re
from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.models.check_rows import CueSentences
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.cues import PLACEBO, Cue
from judgefixtures.models.findings import DecisionPart
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary
from judgefixtures.statistics.estimate import Estimate, format_share, format_signed, pluralize
from judgefixtures.util.patterns import load_table

from .base import UnreadableReasons
from .formatting import format_interval, shorten

QUOTED = 120  # characters of a sentence that is quoted
SUBJECT = re.compile(r"\{content_type\} \{number\} (was |is )?")

EDITED: Mapping[str, str] = load_table("checks")["edited"]
NAMED: Mapping[str, str] = load_table("checks")["named"]  # the parts that decide
MENDED: Mapping[str, str] = load_table("checks")["mended"]


def remedy(family: str) -> str:
    """Return what usually mends a contrast of a family that is a FAIL.

    >>> remedy("recency")
    'keep the cue from the judge, or tell it in its prompt to ignore it; do not widen the tolerance to make it green'
    """
    usually = MENDED.get(family) or MENDED["an edit" if family in EDITED else "a cue"]
    return f"{usually}; do not widen the tolerance to make it green"


def cue_sentences(contrast: Contrast) -> CueSentences | None:
    """Return the sentences that a contrast exchanges; None without."""
    if contrast.x.cue_1 is None:
        return None
    x, y = (condition.sentences("Response")[0] for condition in (contrast.x, contrast.y))
    return CueSentences(x=x, y=y)


def describe_change(contrast: Contrast) -> str:
    """Return what a contrast does to the judge's prompt.

    >>> from judgefixtures.models.contrasts import contrasts
    >>> describe_change(contrasts("recency")[0])
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
    text = f'calling a response "{_predicate(one)}" and the other "{_predicate(other)}"'
    return f"{text} (a placebo)" if contrast.family == PLACEBO else text


def _predicate(cue: Cue) -> str:
    """Return what a cue's sentence says of its response."""
    rest = SUBJECT.sub("", cue.sentence, count=1) if SUBJECT.match(cue.sentence) else cue.render("Response", 1)
    return shorten(rest.rstrip().rstrip("."), QUOTED)


def _called(cue: Cue) -> str:
    """Return what a cue's sentence says of a response that is shown by itself, in quotes.

    >>> from judgefixtures.models.cues import FAMILIES, family
    >>> _called(family("provenance", FAMILIES)[0])
    '"written by a human expert in the field"'
    """
    return f'"{_predicate(cue)}"' if SUBJECT.match(cue.sentence) else f'"{cue.render_alone("Response")}"'


def _passed_text(contrast: Contrast, who: str, n: int, shift: Estimate, tolerance: float, words: Vocabulary) -> str:
    """Return what a contrast did to the grades of `who`: how many more passed, and how many more may."""
    net = round(shift.value * n)
    more = "as many" if net == 0 else f"{abs(net)} {'more' if net > 0 else 'fewer'}"
    x, y = contrast.x.cue_1, contrast.y.cue_1
    if contrast.x.edit is not None:
        when = f"after {describe_change(contrast)}"
    elif x is None or y is None:
        when = "when they were asked about once than when they were asked about again"
    else:
        clause = "the prompt said" if contrast.is_of_prompts else "they were said to be"
        when = f"when {clause} {_called(x)} than when {clause} {_called(y)}"
    if net == 0:
        when = when.replace(" than when", " as when")
    return (
        f"{who} passed {more} of {pluralize(n, 'response')}{words.which} {when} (pass rate "
        f"{format_signed(shift.value)}, at most {format_share(tolerance)} allowed; {format_interval(shift)})"
    )


def describe_shift(
    contrast: Contrast,
    who: str,
    flips: int,
    n: int,
    shift: Estimate | None,
    tolerance: float,
    words: Vocabulary = OF_PAIRS,
) -> str:
    """Return what a contrast did to the verdicts of `who`, by how much, and how much is allowed."""
    if shift is None:
        return f"{describe_change(contrast)} could not be measured: no {words.one} has two valid {words.said} of {who}"
    if contrast.is_alone:
        return _passed_text(contrast, who, n, shift, tolerance, words)
    if contrast.x.edit is not None:
        net = (
            f"net share won {format_signed(shift.value)}, at most "
            f"{format_share(tolerance)} allowed; {format_interval(shift)}"
        )
        return f"{describe_change(contrast)} changed {flips} of {pluralize(n, 'verdict')} of {who} ({net})"
    what = "choices" if contrast.family == "position" else "verdicts"
    net = f"net shift {format_signed(shift.value)}, at most {format_share(tolerance)} allowed; {format_interval(shift)}"
    return f"{describe_change(contrast)} changed {flips} of {n} {what} of {who} ({net})"


def describe_admission(followed: int, admitted: int, label: str, required: float | None = None) -> str:
    """Return how many of the verdicts that followed a label admit it; empty for none.

    `asked`: the share of them that have to, where they are too few.

    >>> describe_admission(141, 0, "new", 0.8)
    "; 141 went to 'new', and 0 of these 141 reasons admit it, at least .80 asked"
    """
    if not followed:
        return ""
    if required is None:
        return f"; {followed} went to {label!r}, and the reason admits that in {admitted} of them"
    return (
        f"; {followed} went to {label!r}, and {admitted} of these "
        f"{followed} reasons admit it, {required_admission(required)}"
    )


def required_admission(required: float) -> str:
    """Return the share of reasons that have to admit what they followed, as it stands beside how many do."""
    return f"at least {format_share(required)} asked"


def describe_missing_reasons(followed: int) -> str:
    """Return what a sentence says in place of how often a shift is admitted, of a judge without reasons."""
    return "; it gives no reasons that could admit that" if followed else ""


def describe_unreadable_reasons(unread: UnreadableReasons) -> str:
    """Return what a sentence for a reader says in place of how often a shift is admitted."""
    return f"; whether the reasons admit that is not known: {unread}"


# Parts that a sentence about verdicts is about, or that it names itself where verdicts fail as well.
IN_SENTENCE = ("vsr", "effect", "accuracy", "wording", "unmeasured")
BESIDE = (*IN_SENTENCE, "car")


def with_deciding_part(text: str, decided: Sequence[DecisionPart], *, whole: bool = False) -> str:
    """Return a sentence with what decided beside that which it is about: in front of it where that did not.

    `told`: it begins with what decided.

    >>> from judgefixtures.statistics import Status
    >>> score = DecisionPart("score", Status.FAIL, text="the scores shift by +1.00 points, at most .45 allowed")
    >>> with_deciding_part("labels changed 0 of 9 verdicts", [score])
    'the scores shift by +1.00 points, at most .45 allowed; labels changed 0 of 9 verdicts'
    """
    if whole or any(part.part in IN_SENTENCE for part in decided):
        return "; ".join([text, *(part.text for part in decided if part.part not in BESIDE)])
    return "; ".join([*(part.text for part in decided), text])


def status_with_part(status: str, decided_by: Iterable[DecisionPart] | None) -> str:
    """Return a status, with what decided it where more than verdicts and CAR did, or they did not.

    >>> status_with_part("FAIL", [DecisionPart(part="vsr"), DecisionPart(part="score")])
    'FAIL (VSR, score)'
    """
    names = [NAMED.get(each.part, each.part) for each in decided_by or () if each.part not in ("unmeasured", "waiver")]
    known = not names or (names[0] == "VSR" and {*names} <= {"VSR", "CAR"})  # a table has columns for these two
    return status if known else f"{status} ({', '.join(names)})"


def status_cell(status: str, decided_by: Iterable[DecisionPart] | None, waived: object) -> str:
    """Return a status as a table has it."""
    return f"WAIVED ({status_with_part(status, decided_by)})" if waived else status_with_part(status, decided_by)
