"""Texts that try to be more than text, planted in every field of a report that comes from outside."""

from __future__ import annotations

from typing import Any

ATTACK = (
    "</title></style></script><script>window.hit=1</script>]]>--><img src='{url}/img' onerror=window.hit=2>"
    "<svg onload=window.hit=3><iframe src='{url}/frame'></iframe>\"' onmouseover=\"window.hit=4\" x='"
    "{{{{7*7}}}}{{% raw %}}${{7*7}}[md]({url}/md)![i]({url}/i)javascript:window.hit=5 &lt;b&gt; &#60;"
    "\x1b[31mred\x00\x9b\u202egnp.exe\u2066\u200b\u2028\u2029\U000e0041\n::error::boom\r##[group]"
)
# What comes from outside: names, texts of data files, and what judges and servers said.
FIELDS = frozenset(
    {
        "judge",
        "baseline",
        "dataset",
        "pair",
        "question",
        "response_1",
        "response_2",
        "response",
        "reference",
        "category",
        "content_type",
        "reason",
        "invalid",
        "detail",
        "contradiction",
        "span",
        "condition",
        "contrast",
        "family",
        "x",
        "y",
        "message",
        "text",
        "owner",
        "model",
        "fingerprint",
        "provider",
        "command",
        "version",
        "date",
        "digest",
        "first",
        "last",
        "name",
    }
)
LISTS = frozenset({"close_for", "moved", "reasons", "warnings", "order"})  # of such texts
TABLES = frozenset({"judges", "recorded", "invalid", "strengths", "columns"})  # whose keys are such texts
OURS = ("all", "placebo", "plain")  # values that the report itself gives a meaning


def attack(url: str = "http://127.0.0.1:9") -> str:
    """Return the text, with an address that no page may fetch."""
    return ATTACK.format(url=url)


def planted(value: Any, text: str, key: str = "") -> Any:
    """Return JSON with the text after every text from outside: the same texts are still the same."""
    match value:
        case str():
            return f"{value}{text}" if (key in FIELDS or key in LISTS) and value not in OURS else value
        case list() if key == "arms":
            return [[f"{condition}{text}", repeat] for condition, repeat in value]
        case list():
            return [planted(each, text, key) for each in value]
        case dict():
            return {
                f"{name}{text}" if key in TABLES else name: planted(each, text, name) for name, each in value.items()
            }
    return value
