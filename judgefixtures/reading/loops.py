"""Loops: a text that ends in one passage over and over, as models write until they are cut off.

What the passage says is nobody's business here.
"""

from __future__ import annotations

import re

from judgefixtures.words.texts import one_line

LOOKED_AT = 4000  # characters from the end: no passage is longer than a third of them
TAIL = 24  # characters that have come before where a text goes round
FEWEST = 3  # times that a passage stands there
SHORTEST = 100  # characters that all of these have together
SHOWN_TAIL = 95
_NUMBER = re.compile(r"\d+")


def loop_in(text: str) -> str:
    """Return the end of a text that goes round in a loop; empty for one that does not.

    Numbers are as good as each other: a list whose entries are the same but for theirs is a loop, too.

    >>> loop_in("It is good. " + "And it is clear. " * 20)[-33:]
    'And it is clear. And it is clear.'
    >>> loop_in("Response 1 is right, and Response 2 is not, because of what the question asks for.")
    ''
    """
    said = _NUMBER.sub("0", text[-LOOKED_AT:])
    before = said.rfind(said[-TAIL:], 0, len(said) - 1)
    if before < 0:
        return ""
    period = len(said) - len(said[-TAIL:]) - before
    repeated = period + next((n for n in range(len(said) - period) if said[-1 - n] != said[-1 - n - period]), len(said))
    if repeated < max(FEWEST * period, SHORTEST):
        return ""
    return one_line(text[-LOOKED_AT:])[-SHOWN_TAIL:].strip() if text[-TAIL:].strip() else "nothing but white space"
