"""Sanitizing of external texts (judges, servers, data files) so that they can be encoded, sent and printed.

Models cut emoji in two, and servers send any bytes. `make_encodable` applies where a text enters, `make_json_safe`
where results go to another process, and `make_printable` where a person reads.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

_HALVES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"

# CI services take a line for a command that begins with ::, and (GitHub's older form, Azure, TeamCity) ##[ or ##word[
# wherever it stands.
_COMMAND = re.compile(r"^( *:)(?=:)|(#)(?=#\w*\[)", re.MULTILINE)


def make_encodable(text: str) -> str:
    r"""Return a text that has UTF-8: every half of a surrogate pair is replaced by U+FFFD, as decoders do.

    >>> make_encodable("half of an emoji: \ud83d") == "half of an emoji: \ufffd"
    True
    """
    return text if text.isascii() else _HALVES.sub(REPLACEMENT, text)


def make_printable(text: str) -> str:
    r"""Return a text as it may be printed: encodable, without control characters, and no command to a CI service.

    Line ends stay; every other character that is not printable, the escape of terminals among them, becomes a space.

    >>> make_printable("\x1b[2Jgone\n::add-mask::all ##[group]")
    ' [2Jgone\n: :add-mask::all # #[group]'
    """
    text = make_encodable(text)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return _COMMAND.sub(r"\1\2 ", text)


def make_one_line(text: str) -> str:
    r"""Return a text as it may be printed within a line: `printable`, with a single space for any white space.

    >>> make_one_line("two\r\nlines")
    'two lines'
    """
    return " ".join(make_printable(text).split())


def short_repr(value: object, most: int = 40) -> str:
    """Return how Python shows a value, in one line and at most so many characters.

    >>> short_repr({"a": [1, 2]}, 8)
    "{'a': [1"
    """
    return make_one_line(repr(value))[:most]


def parse_json(text: str | bytes, default: Any = None) -> Any:
    """Return what a text holds as JSON; the default where it is none, or is nested too deep.

    >>> parse_json('{"a": [1]}'), parse_json("{", {})
    ({'a': [1]}, {})
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default


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


def make_json_safe(value: Any) -> Any:
    """Return plain JSON with every text encodable, and every `message` as it may be shown.

    execnet ends a worker over a text that has no UTF-8, and a report's messages are read by people.
    """
    match value:
        case str():
            return make_encodable(value)
        case list():
            return [make_json_safe(item) for item in value]
        case dict():
            return {
                make_encodable(key): make_printable(item)
                if key == "message" and isinstance(item, str)
                else make_json_safe(item)
                for key, item in value.items()
            }
    return value
