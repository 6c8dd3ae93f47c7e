"""Texts from outside: what may travel, be written and be printed of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.providers import RetryableError
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_encodable, make_json_safe, make_one_line, make_printable

ANY = st.text(st.characters(exclude_categories=()), max_size=40)  # halves of surrogate pairs, too
HOSTILE = st.text(st.sampled_from(":#[]a \n\r\t\x1b\x9b\u2028\u202e\ud83d\ufeffvso"), max_size=40)


@given(ANY)
def test_every_text_is_made_encodable_and_nothing_else_is_changed(text: str) -> None:
    """Halves of surrogate pairs become U+FFFD, one each; a text that has UTF-8 stays as it is."""
    found = make_encodable(text)
    found.encode()
    assert [new for new, old in zip(found, text, strict=True) if new != old] == ["\ufffd"] * sum(
        "\ud800" <= character <= "\udfff" for character in text
    )


@given(ANY | HOSTILE)
def test_nothing_shown_controls_a_terminal_or_a_ci_service(text: str) -> None:
    """No line has a control character or begins like ::command, none holds ##[ or ##word[; once is enough."""
    found = make_printable(text)
    assert all(line.isprintable() for line in found.split("\n"))
    assert not re.search(r"^\s*::|##\w*\[", found, re.MULTILINE)
    assert make_printable(found) == found
    assert "\n" not in make_one_line(text)


@pytest.mark.parametrize("text", ["a::b", "https://host/#/x", "# Title [1]", "test.py::test[a]", "Grüße: «so»\n\n  :x"])
def test_what_is_harmless_is_shown_as_it_is(text: str) -> None:
    """Colons and brackets that are no command stay, and so do line ends."""
    assert make_printable(text) == text


def test_what_travels_keeps_its_values() -> None:
    """Of results the messages are made printable; other texts are made encodable and otherwise kept."""
    row = {"message": "\x1b[1m", "reason": "\x1b[1m \ud83d", "n": 3, "rows": [{"message": None, "p": 0.5}, ["\udc00"]]}
    assert make_json_safe(row) == {
        "message": " [1m",
        "reason": "\x1b[1m \ufffd",
        "n": 3,
        "rows": [{"message": None, "p": 0.5}, ["\ufffd"]],
    }


@pytest.mark.parametrize("text", ['{"selected_response": 1, "reason": "cut \\ud83d"}', "\ud83d cut [[A]]"])
def test_a_verdict_is_encodable(text: str) -> None:
    """Half of an emoji, as it is or as a JSON escape, is in no verdict."""
    verdict = parse_verdict(text, "json" if text.startswith("{") else "brackets")
    assert verdict.selected_response == 1
    assert "\ufffd" in verdict.reason.encode().decode()


def test_errors_are_printable() -> None:
    """What a server said reaches a person through an error's message: it is made printable when the error is made."""
    assert str(JudgeFixturesError("said \x1b[2J\n::warning::\ud83d")) == "said  [2J\n: :warning::\ufffd"
    assert str(RetryableError("\ud83d")) == "\ufffd"
