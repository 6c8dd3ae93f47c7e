"""Detection of repetition: a text that ends in one repeated passage."""

import re

from judgefixtures.util.texts import make_one_line

# No limit is long enough for a loop.
LOOP_REMEDY = "a higher limit does not help, but another prompt, temperature or model may"


LOOKED_AT = 4000  # characters from the end: no passage is longer than a third of them
TAIL = 24  # characters that have come before where a text goes round
FEWEST = 3  # times that a passage stands there
SHORTEST = 100  # characters that all of these have together
SHOWN_TAIL = 95
_NUMBER = re.compile(r"\d+")


def repeated_ending(text: str) -> str:
    """Return the repeated ending of a text, or "".

    Numbers count as equal.

    >>> repeated_ending("It is good. " + "And it is clear. " * 20)[-33:]
    'And it is clear. And it is clear.'
    >>> repeated_ending("Response 1 is right, and Response 2 is not, because of what the question asks for.")
    ''
    """
    ending = _NUMBER.sub("0", text[-LOOKED_AT:])
    before = ending.rfind(ending[-TAIL:], 0, len(ending) - 1)
    if before < 0:
        return ""
    period = len(ending) - len(ending[-TAIL:]) - before
    differing = (n for n in range(len(ending) - period) if ending[-1 - n] != ending[-1 - n - period])
    repeated = period + next(differing, len(ending))
    if repeated < max(FEWEST * period, SHORTEST):
        return ""
    return make_one_line(text[-LOOKED_AT:])[-SHOWN_TAIL:].strip() if text[-TAIL:].strip() else "nothing but white space"
