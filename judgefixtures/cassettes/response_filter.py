"""Filter for recorded responses: drop token alternatives, signatures and timings.

What is read from an answer never changes.
"""

import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgefixtures.parsing.verdict_probabilities import VERDICT_MAY_END, token_bytes
from judgefixtures.util.secrets import redact
from judgefixtures.util.texts import parse_json

from .files import dump_json

OPENAI = ("content", "refusal")  # lists of tokens in a choice's `logprobs`, each token with its `top_logprobs`
OLDER = "tokens"  # a list of their texts alone, as in the older completions
OPAQUE = {"thinking": "signature", "redacted_thinking": "data"}  # by the type of a block of Claude's
CHOSEN, TOP = "chosenCandidates", "topCandidates"  # in a Gemini candidate's `logprobsResult`: side by side


def keep_verdict_logprobs(body: bytes, may_stand: re.Pattern[bytes] = VERDICT_MAY_END) -> bytes:
    """Return a body with alternatives only at tokens that may hold a verdict.

    `may_stand` matches there: at each match's end, or over its group.

    >>> token = b'{"token": "so", "logprob": -1, "top_logprobs": []}'
    >>> keep_verdict_logprobs(b'{"choices": [{"logprobs": {"content": [%b]}}]}' % token)
    b'{"choices":[{"logprobs":{"content":[{"token":"so","logprob":-1}]}}]}'
    """
    if (fields := _parse_logprobs(body)) is None:
        return body
    changed = False
    for logprobs in _held(fields, "choices", "logprobs"):
        for name in OPENAI:
            if (spelled := _spelled(logprobs.get(name))) is not None:
                places = _places(spelled, may_stand)
                logprobs[name] = [_bare(entry, at in places) for at, entry in enumerate(logprobs[name])]
                changed = True
    for result in _held(fields, "candidates", "logprobsResult"):
        if (spelled := _spelled(result.get(CHOSEN))) is not None:
            places = _places(spelled, may_stand)
            result[CHOSEN] = [_bare(entry) for entry in result[CHOSEN]]
            if isinstance(top := result.get(TOP), list):
                result[TOP] = [_bare_list(each) if at in places else {} for at, each in enumerate(top)]
            changed = True
    return dump_json(fields) if changed else body


def drop_thinking_signatures(body: bytes) -> bytes:
    """Return Claude's body without signatures and encrypted thoughts.

    >>> drop_thinking_signatures(b'{"content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]}')
    b'{"content":[{"type":"thinking","thinking":"Hm."}]}'
    """
    if b"thinking" not in body and b"tool_use" not in body:
        return body
    try:
        fields = json.loads(body)
        given = tool_arguments(body)
    except (ValueError, RecursionError):
        return body
    content = fields.get("content") if isinstance(fields, dict) else None
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
    return dump_json(fields) if changed else body


def drop_timings(body: bytes) -> bytes:
    """Return a body without llama.cpp's `timings`.

    >>> drop_timings(b'{"choices": [], "timings": {"prompt_ms": 764.251}}')
    b'{"choices":[]}'
    """
    if b'"timings"' not in body:
        return body
    fields = parse_json(body)
    return dump_json(fields) if isinstance(fields, dict) and isinstance(fields.pop("timings", None), dict) else body


def tool_arguments(body: bytes | str) -> dict[int, Any]:
    """Return the tool arguments in Claude's body by block number.

    Duplicate members become a list.

    >>> tool_arguments('{"content": [{"type": "tool_use", "input": {"selected_response": 1, "selected_response": 2}}]}')
    {0: {'selected_response': [1, 2]}}
    """
    fields = json.loads(body, object_pairs_hook=_all_values)
    content = fields.get("content") if isinstance(fields, dict) else None
    blocks = enumerate(content if isinstance(content, list) else ())
    return {
        place: block["input"]
        for place, block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_use" and "input" in block
    }


def _all_values(members: list[tuple[str, Any]]) -> dict[str, Any]:
    lists: dict[str, list[Any]] = {}
    for name, value in members:
        lists.setdefault(name, []).append(value)
    return {name: each[0] if len({repr(value) for value in each}) == 1 else each for name, each in lists.items()}


def drop_secret_logprobs(body: bytes) -> bytes:
    """Return a body without probabilities if its tokens spell a secret."""
    if (fields := _parse_logprobs(body)) is None:
        return body
    changed = False
    for holder, name, lists in (("choices", "logprobs", (*OPENAI, OLDER)), ("candidates", "logprobsResult", (CHOSEN,))):
        for logprobs in _held(fields, holder, name):
            if any(tokens_spell_secret(_spelled(logprobs.get(each)) or ()) for each in lists):
                logprobs.clear()
                changed = True
    return dump_json(fields) if changed else body


def tokens_spell_secret(tokens: Sequence[bytes]) -> bool:
    """Return whether joined tokens contain a known secret."""
    text = b"".join(tokens).decode("utf-8", "replace")
    return redact(text) != text


def _parse_logprobs(body: bytes) -> Any:
    return parse_json(body) if b"ogprobs" in body else None


def _held(holder_fields: Any, holder: str, name: str) -> Iterator[dict[str, Any]]:
    each = holder_fields.get(holder) if isinstance(holder_fields, dict) else None
    for choice in each if isinstance(each, list) else ():
        if isinstance(choice, dict) and isinstance(choice.get(name), dict):
            yield choice[name]


def _spelled(entries: Any) -> list[bytes] | None:
    if not isinstance(entries, list) or not entries:
        return None
    spelled = [
        token_bytes(entry.get("token"), entry.get("bytes")) if isinstance(entry, dict) else token_bytes(entry, None)
        for entry in entries
    ]
    return None if None in spelled else [each for each in spelled if each is not None]


def _places(spelled: Sequence[bytes], may_stand: re.Pattern[bytes]) -> set[int]:
    ends = list(itertools.accumulate(map(len, spelled)))
    places: set[int] = set()
    for match in may_stand.finditer(b"".join(spelled)):
        start = match.start(1) if may_stand.groups else match.end() - 1
        places.update(range(bisect_right(ends, start), bisect_right(ends, match.end() - 1) + 1))
    return places


def _bare(entry: Any, with_others: bool = False) -> Any:
    if not isinstance(entry, dict):
        return entry
    text, listed = entry.get("token"), entry.get("bytes")
    redundant = listed is None or token_bytes(text, listed) == token_bytes(text, None)
    left_out = {"top_logprobs", "tokenId", "id", *(["bytes"] if redundant else [])}
    bare = {name: value for name, value in entry.items() if name not in left_out}
    if with_others and "top_logprobs" in entry:
        others = entry["top_logprobs"]
        bare["top_logprobs"] = [_bare(each) for each in others] if isinstance(others, list) else others
    return bare


def _bare_list(top: Any) -> Any:
    if not isinstance(top, Mapping) or not isinstance(top.get("candidates"), list):
        return top
    return {"candidates": [_bare(each) for each in top["candidates"]]}
