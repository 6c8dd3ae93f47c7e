"""Answers with planted token probabilities, in both wire formats: what a test knows and a reader has to find again."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.server import Answer, chat, gemini, wire

FILLERS = {f" filler{number}": 0.004 / 2**number for number in range(30)}  # likelier than nothing, no verdict


@dataclass(frozen=True)
class Planted:
    """One token with its probability, and those of what might have stood there, itself among them where listed."""

    text: bytes
    chance: float = 0.9
    others: Mapping[bytes, float] = field(default_factory=dict)

    @property
    def alternatives(self) -> dict[bytes, float]:
        """What a server could list in this place, the likeliest first; a plain token has other words beside it."""
        listed = self.others or {self.text: self.chance, **{word.encode(): p for word, p in FILLERS.items()}}
        return dict(sorted(listed.items(), key=lambda item: -item[1]))

    def likeliest(self, count: int) -> list[tuple[bytes, float]]:
        """Return what a server lists that lists so many."""
        return list(self.alternatives.items())[:count]


def pieces(text: str, cuts: Sequence[int]) -> list[bytes]:
    """Return a text's bytes cut in places: whatever a tokenizer makes of it."""
    whole = text.encode()
    marks = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    return [whole[start:end] for start, end in itertools.pairwise(marks)]


def planted(tokens: Sequence[bytes], at: int, verdicts: Mapping[str, float]) -> list[Planted]:
    """Return tokens of which the one that holds the byte `at` states a verdict, with these chances of each digit."""
    found, start = [], 0
    for token in tokens:
        inside = at - start
        if 0 <= inside < len(token):
            others = {token[:inside] + verdict.encode() + token[inside + 1 :]: p for verdict, p in verdicts.items()}
            chance = others.get(token, 0.5)
            found.append(Planted(token, chance, others | {word.encode(): p for word, p in FILLERS.items()}))
        else:
            found.append(Planted(token))
        start += len(token)
    return found


def openai_body(text: str, tokens: Sequence[Planted], count: int, **more: Any) -> dict[str, Any]:
    """Return a chat completion that lists the `count` likeliest tokens in each place."""
    body = chat(text, usage={"prompt_tokens": 100, "completion_tokens": 20}, **more)
    listed = [
        {**_openai(token.text, token.chance), "top_logprobs": [_openai(*each) for each in token.likeliest(count)]}
        for token in tokens
    ]
    body["choices"][0]["logprobs"] = {"content": listed, "refusal": None}
    return body


def google_body(text: str, tokens: Sequence[Planted], count: int) -> dict[str, Any]:
    """Return an answer of generateContent that lists the `count` likeliest tokens in each place."""
    body = gemini(text, usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 20})
    body["candidates"][0] |= {
        "avgLogprobs": -0.1,
        "logprobsResult": {
            "chosenCandidates": [_google(token.text, token.chance) for token in tokens],
            "topCandidates": [{"candidates": [_google(*each) for each in token.likeliest(count)]} for token in tokens],
        },
    }
    return body


BODIES = {"openai": openai_body, "google": google_body}


def said(sdk: str, verdict: int, chances: Mapping[str, float], count: int = 20) -> Answer:
    """Return an answer on the wire whose verdict token has these chances."""
    text = json.dumps({"selected_response": verdict, "reason": f"Response {verdict} gives 2 dates and 1 name."})
    tokens = [token.encode() for token in re.findall(r" ?\w+|\W", text)]
    return wire(BODIES[sdk](text, planted(tokens, text.encode().index(b": ") + 2, chances), count))


def _openai(text: bytes, chance: float) -> dict[str, Any]:
    return {"token": text.decode("utf-8", "backslashreplace"), "logprob": math.log(chance), "bytes": list(text)}


def _google(text: bytes, chance: float) -> dict[str, Any]:
    return {"token": text.decode("utf-8", "replace"), "logProbability": math.log(chance), "tokenId": len(text)}
