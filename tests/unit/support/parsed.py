"""A page as its elements and texts, and the data that its script reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "input", "line", "rect", "circle", "br", "link", "img"}


class Parsed(HTMLParser):
    """A page as its elements, in order, with their attributes, and its texts by the element they stand in."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.stack: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.stack), data))

    def inside(self, tag: str) -> list[str]:
        """The texts right inside of elements of a name."""
        return [text for stack, text in self.texts if stack and stack[-1] == tag]

    def of(self, tag: str) -> Iterator[dict[str, str | None]]:
        """The attributes of every element of a name."""
        return (attributes for name, attributes in self.elements if name == tag)


def data_of(parsed: Parsed) -> Any:
    """What page.js reads."""
    scripts = ["".join(text for stack, text in parsed.texts if stack and stack[-1] == "script")]
    return json.JSONDecoder().raw_decode(scripts[0])[0]
