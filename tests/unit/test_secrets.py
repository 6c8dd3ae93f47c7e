"""Known secrets: found in whatever spelling, whole and in parts; and nothing else is touched."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgefixtures.util.secrets import (
    MOST_RECENT,
    PLACEHOLDER_KEY,
    SCRUBBED,
    SecretStore,
    redact_message,
    request_secrets,
)

KEY = "sk-planted;second,third=Fourth/and+more"
# Made of what cannot stand in the text around it.
SECRETS = st.text(alphabet="aZ9-;,=/+ \"'\\\\<&", min_size=8, max_size=200).filter(lambda text: len(set(text)) > 5)


def knowing(*values: str) -> SecretStore:
    """Return secrets that know these."""
    secrets = SecretStore()
    secrets.know(dict.fromkeys(values, True))
    return secrets


@pytest.mark.slow
@pytest.mark.parametrize(
    "written",
    [
        str,
        quote,
        quote_plus,
        html.escape,
        lambda key: quote(key, safe=""),
        lambda key: json.dumps(key)[1:-1],
        lambda key: repr(key)[1:-1],
    ],
)
@given(secret=SECRETS)
def test_a_secret_is_found_as_it_is_written(written: Callable[[str], str], secret: str) -> None:
    """Percent-encoded, escaped as JSON, HTML or Python do: nothing is left of it, and all of the rest."""
    assert knowing(secret).redacted(f"(__{written(secret)}__)") == f"(__{SCRUBBED}__)"


@given(secret=SECRETS, start=st.integers(0, 200), length=st.integers(12, 200))
def test_a_part_of_a_secret_is_found(secret: str, start: int, length: int) -> None:
    """Twelve characters in a row are enough, wherever they stand in the secret: no text holds so many."""
    part = secret[start : start + length]
    if len(part) >= 12 and any(map(str.isalnum, part[:12])) and any(map(str.isalnum, part[-12:])):
        assert part not in knowing(secret).redacted(f"(__{part}__)")


@pytest.mark.parametrize(
    "text",
    [
        "begins with sk-pla...",
        "ends with ...d+more",
        "is sk-plan****nd+more",
        "is planted, second",
        "has third=Fou in it",
        "sk-planted;",
        "is 'sk-planted;second' 'third=Fourth'",
    ],
)
def test_what_a_cut_leaves_of_a_secret_is_found(text: str) -> None:
    """Beginnings and ends at a cut or a mask, parts between separators, pieces of a wrapped line."""
    shown = knowing(KEY).redacted(text)
    assert SCRUBBED in shown or text == "is planted, second"  # a word of seven letters
    for piece in ("sk-pla", "d+more", "third=Fou", "sk-planted"):
        assert piece not in shown


@pytest.mark.parametrize(
    "text",
    [
        "The Bearer of the python token is planted, said the second and the third.",
        "Fourth and more.",
        "No key, ok.",
        "sk- is how keys begin...",
        "A production judge; a=b, c=d.",
    ],
)
@pytest.mark.parametrize("secret", [KEY, "fakewrdz", "plantedandofsmalllettersalone", "key-of-a-judge-in-test"])
def test_words_are_left_alone(secret: str, text: str) -> None:
    """What a judge says is not damaged: not by words that a secret is made of, or that stand beside it."""
    assert knowing(secret).redacted(text) == text


@pytest.mark.parametrize("value", ["", "x", "EMPTY", "python", "Bearer", "secret", "12345", PLACEHOLDER_KEY])
def test_what_anybody_may_say_is_no_secret(value: str) -> None:
    """A word of less than eight letters, or what is sent where there is no key, is looked for nowhere."""
    text = f"A {value} is what it is: {value}."
    assert knowing(value).redacted(text) == text


@pytest.mark.parametrize(
    ("headers", "url", "expected"),
    [
        ({"Authorization": "Bearer fakewords"}, "", ["fakewords"]),
        ({"authorization": "fakewords"}, "", ["fakewords"]),
        ({"X-Api-Key": "Bearer fakewords"}, "", ["fakewords"]),
        ({"x-goog-api-key": b"fakewords"}, "", ["fakewords"]),
        ({"authorization": "Basic anVkZ2U6ZmFrZXdvcmRz"}, "", ["fakewords", "judge:fakewords", "anVkZ2U6ZmFrZXdvcmRz"]),
        ({"cookie": "a=fakewords; b=other;words"}, "", ["fakewords", "other", "words"]),
        ({}, "http://h/x?api_key=fake%3Bwords&page=2", ["fake%3Bwords", "fake;words"]),
        ({}, "http://judge:fake%3Bwords@h/x", ["fake%3Bwords", "fake;words"]),
        ({}, "http://fakewords@h/x", ["fakewords"]),
        ({"X-Tenant": "tenant-77aa"}, "", ["tenant-77aa"]),
    ],
)
def test_what_a_request_carries_is_known(headers: dict[str, str | bytes], url: str, expected: list[str]) -> None:
    """Credentials are known without the words that go with them, as they were written and as they are meant."""
    assert set(expected) <= set(request_secrets(headers, url))


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "application/json", "User-Agent": "python-requests/2.32", "x-stainless-os": "Linux"},
        {"X-Title": "Judge Gate", "Priority": "high", "Cache-Control": "no-cache"},
    ],
)
def test_words_of_headers_are_no_secrets(headers: dict[str, str]) -> None:
    """What a client says of itself, or in a word, is what a judge may say, too."""
    assert request_secrets(headers, "http://127.0.0.1:1/v1/judge?page=2&model=m") == {}


def test_an_address_in_a_header_spoils_no_other() -> None:
    """Parts of what is perhaps no secret are left alone: the beginning of an address is that of every address."""
    secrets = SecretStore()
    secrets.know(request_secrets({"HTTP-Referer": "https://ours.example.org/gate"}, ""))
    assert secrets.redacted("See https://example.org.") == "See https://example.org."


@pytest.mark.parametrize("value", ["grading response quality", "nightly selected_response eval", "Is a better reason"])
def test_words_of_a_header_spoil_no_answer(value: str) -> None:
    """Each word of a sentence in an unlisted header may stand in an answer; the sentence and longer parts may not."""
    secrets = SecretStore()
    secrets.know(request_secrets({"X-Purpose": value}, ""))
    answer = json.dumps({"selected_response": 1, "reason": "Is grading the response: a better quality, a reason."})
    assert secrets.redacted(answer) == answer
    assert secrets.redacted(f"(__{value}__)") == f"(__{SCRUBBED}__)"
    assert secrets.redacted(f"(__{value[3:17]}__)") == f"(__{SCRUBBED}__)"


def test_a_credential_stays_one_in_any_other_header() -> None:
    """The same words under the name of a key and under another: each of them is secret, whichever came last."""
    secrets = SecretStore()
    for name in ("X-Api-Key", "X-Purpose"):
        secrets.know(request_secrets({name: "pa_ss words of_mysecrets"}, ""))
    assert secrets.redacted("of_mysecrets") == SCRUBBED
    assert secrets.redacted("words") == "words"


def test_requests_that_are_signed_anew_each_time_do_not_pile_up() -> None:
    """What lasts is known for good; of the rest the latest, those that are used again among them."""
    secrets = SecretStore()
    secrets.know({"lasting-fake-key": True}, lasting=True)
    for number in range(2 * MOST_RECENT):
        secrets.know({f"{number:05}" * 3: True, "session-in-use-fake": True})
    assert secrets.redacted("lasting-fake-key session-in-use-fake") == f"{SCRUBBED} {SCRUBBED}"
    assert secrets.redacted(f"{2 * MOST_RECENT - 1:05}" * 3) == SCRUBBED
    assert secrets.redacted("00000" * 3) == "00000" * 3


def test_a_message_shows_no_password_and_no_key_of_an_address() -> None:
    """In messages and logs addresses are shown without what is secret by its place, known or not."""
    said = "GET http://me:fake@127.0.0.1/v1?x=1&api_key=fake;words&y=2 and /v1/judge?token=fakewords"
    assert redact_message(said) == "GET http://...@127.0.0.1/v1?x=1&api_key=...&y=2 and /v1/judge?token=..."
