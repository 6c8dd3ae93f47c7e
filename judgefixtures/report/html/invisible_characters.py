"""Escaping of characters that are invisible or change the direction of a line.

Otherwise people would read another text than the judge.
"""

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


def spell_out_invisible(text: str) -> str:
    r"""Return a plain text with invisible characters spelled out.

    >>> spell_out_invisible("to\u202eleft\r\nnext \U000e0041")
    'to\\u202eleft\nnext \\u{e0041}'
    """
    return _UNSEEN.sub(lambda match: _spelling(match[0]), text.replace("\r\n", "\n"))


def mark_invisible_html(text: Any) -> Any:
    r"""Return a text as HTML with invisible characters marked; HTML stays unchanged.

    >>> mark_invisible_html("<b>\u202e")
    Markup('&lt;b&gt;<span class="mark">\\u202e</span>')
    """
    from markupsafe import Markup, escape

    if isinstance(text, Markup) or not _UNSEEN.search(text):
        return text
    spelt = Markup('<span class="mark">{}</span>')
    parts = split_at_invisible(text)
    return Markup("").join(spelt.format(each) if place % 2 else escape(each) for place, each in enumerate(parts))


def split_at_invisible(text: str) -> list[str]:
    r"""Return the pieces of a text; every second one is an invisible character.

    >>> split_at_invisible("to\u202eleft"), split_at_invisible("plain")
    (['to', '\\u202e', 'left'], ['plain'])
    """
    parts, end = [], 0
    text = text.replace("\r\n", "\n")
    for match in _UNSEEN.finditer(text):
        parts += [text[end : match.start()], _spelling(match[0])]
        end = match.end()
    return [*parts, text[end:]]


def safe_json(value: Any) -> Any:
    r"""Return JSON that is safe in a script element.

    >>> print(safe_json(["</script>", 1]))
    ["\u003c/script\u003e",1]
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def _spelling(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\u{{{code:x}}}"
