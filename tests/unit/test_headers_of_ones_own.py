"""Recordings hold the headers that are listed, and no part of any other, wherever an answer repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.server import Answer, Asked, serving
from test_own_draws import ask, judging  # noqa: F401 (a fixture)

from judgefixtures.judges.judge import Judge
from judgefixtures.util.secrets import request_secrets

SECRETS = [
    "tr0ub4dor-and-3-more",
    "correct horse battery staple",
    "Zebra;Quokka;Wombat-7781",
    "acme/eu-west/9f8e7d6c5b4a",
    "PlainLettersInMixedCase",
    "lowercaselettersonlybutlong",
    "user=maria team=fraud pin=77123981",
]
NAMES = ["X-Acme-Pass", "X-Corp", "Wicket", "X-Forwarded-For-Billing", "x-b3-traceid"]


def said(text: str) -> str:
    """Return a verdict with a reason."""
    return json.dumps({"selected_response": 1, "reason": text})


def parts(secret: str) -> set[str]:
    """Return the parts of twelve characters of a secret, and the shorter ones that cannot be words."""
    return {secret[at : at + 12] for at in range(len(secret) - 11)} | {
        part for at in range(len(secret) - 7) if any(map(str.isdigit, part := secret[at : at + 8]))
    }


def check_absent(folder: Path, secret: str) -> None:
    """Assert that no part of a secret is recorded."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name.startswith("recency") for path in files)
    for path in files:
        content = path.read_text()
        assert not [part for part in parts(secret) if part in content], path


def repeating(secret: str) -> Callable[[Asked], Answer]:
    """Repeat a secret as servers do: whole, in part, cut, in a field, in the headers of the answer."""
    middle = len(secret) // 2
    body = {
        "headers": {name.lower(): secret for name in NAMES},
        "text": f"You sent {secret}; it begins with {secret[:12]} and ends with {secret[middle:]}.",
        "deep": [{"at": secret[2:14]}],
    }
    headers = {"content-type": f"application/vnd.ours+json; charset=utf-8; sid={secret}", "x-echo": secret}
    return lambda _: Answer(200, json.dumps(body).encode(), {**headers, "set-cookie": f"sid={secret}; Path=/"})


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("name", NAMES)
def test_no_part_of_a_header_is_recorded(
    name: str,
    secret: str,
    judging: Callable[[Any], Judge],  # noqa: F811
    tmp_path: Path,
) -> None:
    """A header with any name but a listed one: nothing of its value is on disk, and the recording replays."""
    with serving(by=repeating(secret)) as server:

        async def judge(prompt: str) -> str:
            async with httpx.AsyncClient() as client:
                response = await client.post(f"{server.url}/v1/judge", json={"prompt": prompt}, headers={name: secret})
            return said(("charset" in response.headers["content-type"] and "it is better") or "")

        made = judging(judge)
        recorded = ask(made, tmp_path, "missing")
    check_absent(tmp_path, secret)
    assert ask(made, tmp_path, "none") == recorded == ["it is better"] * 12


@pytest.mark.parametrize("way", ["query", "cookie", "set-cookie", "redirect"])
def test_no_part_of_an_address_or_a_cookie_is_recorded(
    way: str,
    judging: Callable[[Any], Judge],  # noqa: F811
    tmp_path: Path,
) -> None:
    """A field of a query with a name of one's own, a cookie of either side, and where a redirect leads."""
    secret = "tr0ub4dor-and-3-more-4455"
    repeat = repeating(secret)

    def answer(asked: Asked) -> Answer:
        if way == "redirect" and "sid=" not in asked.path:
            return Answer(307, b"", {"location": f"/final?page=2&sid={secret}#{secret}"})
        return repeat(asked)

    with serving(by=answer) as server:
        url = f"{server.url}/v1/judge" + (f"?page=2&sid={secret}" if way == "query" else "")
        headers = {"cookie": f"sid={secret}"} if way == "cookie" else {}

        async def judge(prompt: str) -> str:
            async with httpx.AsyncClient(follow_redirects=True) as client:
                response = await client.post(url, json={"prompt": prompt}, headers=headers)
            return said(str(response.status_code))

        made = judging(judge)
        recorded = ask(made, tmp_path, "missing")
    check_absent(tmp_path, secret)
    assert ask(made, tmp_path, "none") == recorded == ["200"] * 12


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "application/json; q=0.9", "Content-Type": "application/json", "User-Agent": "python-requests/2.32"},
        {"X-Team": "evaluation", "X-Stage": "Production", "X-Env": "dev", "Priority": "u=1, i"},
        {"anthropic-beta": "output-128k-2025-02-19", "openai-beta": "assistants=v2", "x-stainless-os": "Linux"},
    ],
)
def test_what_is_listed_and_words_spoil_no_answer(headers: dict[str, str]) -> None:
    """What the listed headers carry, and a word, may stand in an answer."""
    assert request_secrets(headers, "http://127.0.0.1:1/v1/judge?page=2&model=gpt-4o&prompt=Which+one+is+better") == {}
