"""Texts from outside (judges, servers, data files): made such that they can travel, be written, and be printed.

Models cut emoji in two, and servers answer with whatever they like. Three things are done about that, and nowhere else:
`encodable` where a text enters, `travelling` where results leave for another process, `printable` where a person reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_HALVES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"

# CI services take a line for a command that begins with ::, and (GitHub's older form, Azure, TeamCity) ##[ or ##word[
# wherever it stands.
_COMMAND = re.compile(r"^( *:)(?=:)|(#)(?=#\w*\[)", re.MULTILINE)


def encodable(text: str) -> str:
    """Return a text that has UTF-8: every half of a surrogate pair is replaced by U+FFFD, as decoders do.

    >>> encodable("half of an emoji: \\ud83d") == "half of an emoji: \\ufffd"
    True
    """
    return text if text.isascii() else _HALVES.sub(REPLACEMENT, text)


def printable(text: str) -> str:
    """Return a text as it may be printed: encodable, without control characters, and no command to a CI service.

    Line ends stay; every other character that is not printable, the escape of terminals among them, becomes a space.

    >>> printable("\\x1b[2Jgone\\n::add-mask::all ##[group]")
    ' [2Jgone\\n: :add-mask::all # #[group]'
    """
    text = encodable(text)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return _COMMAND.sub(r"\1\2 ", text)


def one_line(text: str) -> str:
    """Return a text as it may be printed within a line: `printable`, with a single space for any white space.

    >>> one_line("two\\r\\nlines")
    'two lines'
    """
    return " ".join(printable(text).split())


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text: how a long table of names is written.

    >>> sorted(word_set("one two"))
    ['one', 'two']
    """
    return frozenset(text.split())


def join_names(names: Iterable[object], last: str = " and ", *, quoted: bool = False, most: int | None = None) -> str:
    """Return names as a sentence lists them: commas between them, `last` before the last one; "none" of none.

    >>> join_names(["a"]), join_names("abc"), join_names(("id", "prompt"), ", ", quoted=True), join_names("abc", most=2)
    ('a', 'a, b and c', "'id', 'prompt'", 'a, b, and 1 more')
    """
    listed = [repr(name) if quoted else str(name) for name in names]
    if most is not None and len(listed) > most:
        return f"{', '.join(listed[:most])}, and {len(listed) - most} more"
    return last.join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed) or "none"


def quote_names(names: Iterable[str] | None) -> str:
    """Return names as messages list what was found or is accepted.

    >>> quote_names(["id", "prompt"]), quote_names(())
    ("'id', 'prompt'", 'none')
    """
    return join_names(names or (), ", ", quoted=True)


def travelling(value: Any) -> Any:
    """Return plain JSON with every text encodable, and every `message` as it may be shown.

    execnet ends a worker over a text that has no UTF-8, and a report's messages are read by people.
    """
    match value:
        case str():
            return encodable(value)
        case list():
            return [travelling(item) for item in value]
        case dict():
            return {
                encodable(key): printable(item) if key == "message" and isinstance(item, str) else travelling(item)
                for key, item in value.items()
            }
    return value
