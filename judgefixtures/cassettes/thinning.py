"""What of an answer is recorded: of token probabilities the alternatives where a verdict may stand; no signatures.

A server lists up to twenty alternatives for every token of a reason, a hundred times its text. What is read from a
thinned answer is what is read from the whole one; an answer without either stays byte for byte.
"""

from __future__ import annotations

import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgefixtures.cassettes.files import dump
from judgefixtures.reading.probabilities import VERDICT_MAY_END, token_bytes
from judgefixtures.words.secrets import redacted

OPENAI = ("content", "refusal")  # lists of tokens in a choice's `logprobs`, each token with its `top_logprobs`
OLDER = "tokens"  # a list of their texts alone, as in the older completions
OPAQUE = {"thinking": "signature", "redacted_thinking": "data"}  # by the type of a block of Claude's
CHOSEN, TOP = "chosenCandidates", "topCandidates"  # in a Gemini candidate's `logprobsResult`: side by side


def thinned(body: bytes, may_stand: re.Pattern[bytes] = VERDICT_MAY_END) -> bytes:
    """Return an answer's body with the alternatives of those tokens alone that may hold a verdict.

    `may_stand` says where one may: at the end of each match, or, where the pattern has a group, all along that
    (`grade_may_stand` of reading/grade_probabilities.py).

    >>> thinned(b'{"choices": [{"logprobs": {"content": [{"token": "so", "logprob": -1, "top_logprobs": []}]}}]}')
    b'{"choices":[{"logprobs":{"content":[{"token":"so","logprob":-1}]}}]}'
    """
    if (found := _parse_logprobs(body)) is None:
        return body
    changed = False
    for logprobs in _held(found, "choices", "logprobs"):
        for name in OPENAI:
            if (spelled := _spelled(logprobs.get(name))) is not None:
                places = _places(spelled, may_stand)
                logprobs[name] = [_bare(entry, at in places) for at, entry in enumerate(logprobs[name])]
                changed = True
    for result in _held(found, "candidates", "logprobsResult"):
        if (spelled := _spelled(result.get(CHOSEN))) is not None:
            places = _places(spelled, may_stand)
            result[CHOSEN] = [_bare(entry) for entry in result[CHOSEN]]
            if isinstance(top := result.get(TOP), list):
                result[TOP] = [_bare_list(each) if at in places else {} for at, each in enumerate(top)]
            changed = True
    return dump(found) if changed else body


def unsigned(body: bytes) -> bytes:
    """Return an answer of Claude's without what its provider alone can read: thoughts are signed, or encrypted.

    What a tool is called with keeps all its members, though two may have one name.

    >>> unsigned(b'{"content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]}')
    b'{"content":[{"type":"thinking","thinking":"Hm."}]}'
    """
    if b"thinking" not in body and b"tool_use" not in body:
        return body
    try:
        found = json.loads(body)
        given = tool_inputs(body)
    except (ValueError, RecursionError):
        return body
    content = found.get("content") if isinstance(found, dict) else None
    changed = False
    for place, block in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(block, dict):
            continue
        opaque = OPAQUE.get(str(block.get("type")))
        if opaque in block:
            del block[opaque]
            changed = True
        if place in given and given[place] != block.get("input"):
            block["input"] = given[place]
            changed = True
    return dump(found) if changed else body


def untimed(body: bytes) -> bytes:
    """Return an answer's body without how long each of its parts took: llama.cpp's `timings`, a third of a short one.

    >>> untimed(b'{"choices": [], "timings": {"prompt_ms": 764.251}}')
    b'{"choices":[]}'
    """
    if b'"timings"' not in body:
        return body
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(found, dict) or not isinstance(found.pop("timings", None), dict):
        return body
    return dump(found)


def tool_inputs(body: bytes | str) -> dict[int, Any]:
    """Return what tools are called with in an answer of Claude's, by the place of the block.

    A member that stands there with several values has the list of them: a JSON reader would take the last.

    >>> tool_inputs('{"content": [{"type": "tool_use", "input": {"selected_response": 1, "selected_response": 2}}]}')
    {0: {'selected_response': [1, 2]}}
    """
    found = json.loads(body, object_pairs_hook=_all_values)
    content = found.get("content") if isinstance(found, dict) else None
    blocks = enumerate(content if isinstance(content, list) else ())
    return {
        place: block["input"]
        for place, block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_use" and "input" in block
    }


def _all_values(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for name, value in members:
        found.setdefault(name, []).append(value)
    return {
        name: values[0] if len({repr(value) for value in values}) == 1 else values for name, values in found.items()
    }


def unspelled(body: bytes) -> bytes:
    """Return an answer's body without token probabilities where its tokens, put together, spell a secret."""
    if (found := _parse_logprobs(body)) is None:
        return body
    changed = False
    for holder, name, lists in (("choices", "logprobs", (*OPENAI, OLDER)), ("candidates", "logprobsResult", (CHOSEN,))):
        for logprobs in _held(found, holder, name):
            if any(spells_secret(_spelled(logprobs.get(each)) or ()) for each in lists):
                logprobs.clear()
                changed = True
    return dump(found) if changed else body


def spells_secret(tokens: Sequence[bytes]) -> bool:
    """Tell whether tokens, put together, hold a known secret: none of them alone need show it."""
    text = b"".join(tokens).decode("utf-8", "replace")
    return redacted(text) != text


def _parse_logprobs(body: bytes) -> Any:
    """Return the JSON of a body that speaks of token probabilities, or None."""
    if b"ogprobs" not in body:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _held(found: Any, holder: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield what each choice or candidate of an answer holds under a name, where that is an object."""
    each = found.get(holder) if isinstance(found, dict) else None
    for choice in each if isinstance(each, list) else ():
        if isinstance(choice, dict) and isinstance(choice.get(name), dict):
            yield choice[name]


def _spelled(entries: Any) -> list[bytes] | None:
    """Return the bytes of each token of a list; None where there are none, or one that is not a token."""
    if not isinstance(entries, list) or not entries:
        return None
    spelled = [
        token_bytes(entry.get("token"), entry.get("bytes")) if isinstance(entry, dict) else token_bytes(entry, None)
        for entry in entries
    ]
    return None if None in spelled else [each for each in spelled if each is not None]


def _places(spelled: Sequence[bytes], may_stand: re.Pattern[bytes]) -> set[int]:
    """Return the numbers of the tokens that hold a character which may be a verdict, in whichever format."""
    ends = list(itertools.accumulate(map(len, spelled)))
    places: set[int] = set()
    for found in may_stand.finditer(b"".join(spelled)):
        start = found.start(1) if may_stand.groups else found.end() - 1
        places.update(range(bisect_right(ends, start), bisect_right(ends, found.end() - 1) + 1))
    return places


def _bare(entry: Any, with_others: bool = False) -> Any:
    """Return what is read of a token: no bytes that its text tells, and its alternatives where they are wanted."""
    if not isinstance(entry, dict):
        return entry
    text, listed = entry.get("token"), entry.get("bytes")
    told = listed is None or token_bytes(text, listed) == token_bytes(text, None)
    left_out = {"top_logprobs", "tokenId", "id", *(["bytes"] if told else [])}
    bare = {name: value for name, value in entry.items() if name not in left_out}
    if with_others and "top_logprobs" in entry:
        others = entry["top_logprobs"]
        bare["top_logprobs"] = [_bare(each) for each in others] if isinstance(others, list) else others
    return bare


def _bare_list(top: Any) -> Any:
    """Return a place of Gemini's list of alternatives with what is read of each."""
    if not isinstance(top, Mapping) or not isinstance(top.get("candidates"), list):
        return top
    return {"candidates": [_bare(each) for each in top["candidates"]]}
