"""Marks: characters that a reader would not see, or that turn a line around, are spelled out; nothing else changes.

A browser obeys a right-to-left override inside of a text as well as outside of it: then what is read is not what the
judge read. The same is true of what has no width, and of the tags that only models read.
"""

from __future__ import annotations

import json
import re
from typing import Any

# First and last of each range; line feeds and tabs are seen. What joins the parts of an emoji is left as it is.
_RANGES = (
    "0-8 b-1f 7f-9f ad-ad 61c-61c 180e-180e 200b-200b 200e-200f 2028-202e 2060-206f d800-dfff feff-feff fff9-fffb "
    "e0000-e007f"
)
UNSEEN = [tuple(int(end, 16) for end in each.split("-")) for each in _RANGES.split()]
_UNSEEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN) + "]")
# Inside of a script element: nothing that ends it or begins a comment, nor a line end of old JavaScript.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def spelled(text: str) -> str:
    """Return a text with every unseen character spelled out, for places that hold text alone (titles, attributes).

    >>> spelled("to\\u202eleft\\r\\nnext \\U000e0041")
    'to\\\\u202eleft\\nnext \\\\u{e0041}'
    """
    return _UNSEEN.sub(lambda found: _spelling(found[0]), text.replace("\r\n", "\n"))


def seen(text: Any) -> Any:
    """Return a text as HTML with every unseen character spelled out and marked as such; what is HTML stays as it is.

    >>> seen("<b>\\u202e")
    Markup('&lt;b&gt;<span class="mark">\\\\u202e</span>')
    """
    from markupsafe import Markup, escape

    if isinstance(text, Markup) or not _UNSEEN.search(text):
        return text
    spelt = Markup('<span class="mark">{}</span>')
    parts = pieces(text)
    return Markup("").join(spelt.format(each) if place % 2 else escape(each) for place, each in enumerate(parts))


def pieces(text: str) -> list[str]:
    """Return a text in pieces: each second one, beginning with the second, is an unseen character spelled out.

    >>> pieces("to\\u202eleft"), pieces("plain")
    (['to', '\\\\u202e', 'left'], ['plain'])
    """
    parts, end = [], 0
    text = text.replace("\r\n", "\n")
    for found in _UNSEEN.finditer(text):
        parts += [text[end : found.start()], _spelling(found[0])]
        end = found.end()
    return [*parts, text[end:]]


def safe_json(value: Any) -> Any:
    """Return a JSON value as the text of a script element: it cannot end the element, and it has UTF-8.

    >>> print(safe_json(["</script>", 1]))
    ["\\u003c/script\\u003e",1]
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _spelling(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"
