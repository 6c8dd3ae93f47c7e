"""Sanitizing of external texts."""

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
    r"""Return a text with U+FFFD for half surrogates.

    >>> make_encodable("half of an emoji: \ud83d") == "half of an emoji: \ufffd"
    True
    """
    return text if text.isascii() else _HALVES.sub(REPLACEMENT, text)


def make_printable(text: str) -> str:
    r"""Return a text without control characters and CI commands.

    >>> make_printable("\x1b[2Jgone\n::add-mask::all ##[group]")
    ' [2Jgone\n: :add-mask::all # #[group]'
    """
    text = make_encodable(text)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return _COMMAND.sub(r"\1\2 ", text)


def make_one_line(text: str) -> str:
    r"""Return a printable text on one line.

    >>> make_one_line("two\r\nlines")
    'two lines'
    """
    return " ".join(make_printable(text).split())


def short_repr(value: object, most: int = 40) -> str:
    """Return a value's repr in one line, shortened.

    >>> short_repr({"a": [1, 2]}, 8)
    "{'a': [1"
    """
    return make_one_line(repr(value))[:most]


def parse_json(text: str | bytes, default: Any = None) -> Any:
    """Return a text's JSON value, or the default.

    >>> parse_json('{"a": [1]}'), parse_json("{", {})
    ({'a': [1]}, {})
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text.

    >>> sorted(word_set("one two"))
    ['one', 'two']
    """
    return frozenset(text.split())


def join_names(names: Iterable[object], last: str = " and ", *, quoted: bool = False, most: int | None = None) -> str:
    """Return names as a list in a sentence, or "none".

    >>> join_names(["a"]), join_names("abc"), join_names(("id", "prompt"), ", ", quoted=True), join_names("abc", most=2)
    ('a', 'a, b and c', "'id', 'prompt'", 'a, b, and 1 more')
    """
    listed = [repr(name) if quoted else str(name) for name in names]
    if most is not None and len(listed) > most:
        return f"{', '.join(listed[:most])}, and {len(listed) - most} more"
    return last.join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed) or "none"


def quote_names(names: Iterable[str] | None) -> str:
    """Return quoted names for messages.

    >>> quote_names(["id", "prompt"]), quote_names(())
    ("'id', 'prompt'", 'none')
    """
    return join_names(names or (), ", ", quoted=True)


def make_json_safe(value: Any) -> Any:
    """Return JSON with encodable texts and printable messages."""
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
