"""Plain-language sentences about a result."""

from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.models.check_rows import CueSentences
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import DecisionPart
from judgefixtures.util.patterns import load_table

from .messages import MESSAGES

EDITED: Mapping[str, str] = load_table("checks")["edited"]
NAMED: Mapping[str, str] = load_table("checks")["named"]  # the parts that decide
MENDED: Mapping[str, str] = load_table("checks")["mended"]


def remedy(family: str) -> str:
    """Return the usual remedy of a failed contrast.

    >>> remedy("repeat")
    'set temperature = 0, or use the majority of several requests; do not raise the tolerance to get a PASS'
    """
    usually = MENDED.get(family) or MENDED["an edit" if family in EDITED else "a cue"]
    return f"{usually}; do not raise the tolerance to get a PASS"


def cue_sentences(contrast: Contrast) -> CueSentences | None:
    """Return a contrast's cue sentences, or None."""
    if contrast.x.cue_1 is None:
        return None
    x, y = (condition.sentences("Response")[0] for condition in (contrast.x, contrast.y))
    return CueSentences(x=x, y=y)


def describe_change(contrast: Contrast) -> str:
    """Return what a contrast changes in the prompt.

    >>> from judgefixtures.models.contrasts import contrasts
    >>> describe_change(contrasts("recency")[0])
    'the labels "written recently (in 2025)" and "written a long time ago (in 1950)"'
    """
    return MESSAGES.change(contrast)


# Parts that a sentence about verdicts is about, or that it names itself where verdicts fail as well.
IN_SENTENCE = ("vsr", "effect", "accuracy", "wording", "unmeasured")
BESIDE = (*IN_SENTENCE, "car")


def with_deciding_part(text: str, decided: Sequence[DecisionPart], *, whole: bool = False) -> str:
    """Return a sentence with what decided beside that which it is about: in front of it where that did not.

    `told`: it begins with what decided.

    >>> from judgefixtures.statistics import Status
    >>> score = DecisionPart("score", Status.FAIL, text="score shift +1.00 points (limit 0.45)")
    >>> with_deciding_part("labels changed 0 of 9 verdicts", [score])
    'score shift +1.00 points (limit 0.45); labels changed 0 of 9 verdicts'
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
    """Return a status as a table cell."""
    return f"WAIVED ({status_with_part(status, decided_by)})" if waived else status_with_part(status, decided_by)
