"""How long README and docs/ are, and how long their sentences are. The limits stand here, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages import REPOSITORY

DOCS_WORDS = 32_500  # later work on the documentation raises this by its own allowance only
README_WORDS = 700
MEAN_OF_A_PAGE = 20  # words a sentence
MEAN_OF_ALL_PAGES = 18

README = REPOSITORY / "README.md"
PAGES = [README, *sorted((REPOSITORY / "docs").rglob("*.md"))]


def sentence_lengths(text: str) -> list[int]:
    """Return the words of each sentence of prose: no code, tables, headings or list markers."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M)
    text = re.sub(r"^\s*\|.*$|^#+ .*$|<[^>]+>", "", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    lengths = []
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+[.)])\s", text):
        sentences = re.split(r"(?<=[.!?:;])\s+(?=[A-Z\"(])", " ".join(paragraph.split()))
        lengths += [len(each.split()) for each in sentences if len(each.split()) >= 3]
    return lengths


def words(page: Path) -> int:
    """Return the words of a page, everything included."""
    return len(page.read_text(encoding="utf-8").split())


def mean(lengths: list[int]) -> float:
    """Return the mean length."""
    return sum(lengths) / max(len(lengths), 1)


def test_the_documentation_is_short() -> None:
    """All pages of docs/ together keep to the limit, generated ones included."""
    assert sum(words(page) for page in PAGES if page != README) <= DOCS_WORDS


def test_readme_is_short() -> None:
    """README keeps to its own limit."""
    assert words(README) <= README_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_the_sentences_of_a_page_are_short(page: Path) -> None:
    """The mean sentence of each page keeps to the limit."""
    assert mean(sentence_lengths(page.read_text(encoding="utf-8"))) <= MEAN_OF_A_PAGE


def test_the_sentences_of_all_pages_are_short() -> None:
    """The mean sentence of all pages together keeps to a lower one."""
    lengths = [n for page in PAGES for n in sentence_lengths(page.read_text(encoding="utf-8"))]
    assert mean(lengths) <= MEAN_OF_ALL_PAGES


def test_how_sentences_are_counted() -> None:
    """Headings, tables and code blocks have no sentences; a piece of code or a link counts as its words on the page."""
    text = """# A heading of many words

One two three. Four `x = y` six seven.

- [eight nine](page.md) ten
- no.

| a | table of cells |

```sh
pytest tests/judge
```
"""
    assert sentence_lengths(text) == [3, 4, 4]  # the marker of a list's first line counts
