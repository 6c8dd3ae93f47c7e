"""Question and response texts in stored model inputs and outputs."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgefixtures.sources.row_readers import cell_value

# A model's turn, and a person's, by the names that OpenAI's, LangChain's, Google's and OpenTelemetry's messages have.
ASKING = frozenset({"user", "human", "humanmessage"})
ANSWERING = frozenset({"assistant", "ai", "model", "aimessage"})
QUESTIONS = ("question", "input", "query", "prompt", "inputs", "request")
RESPONSES = ("response", "output", "answer", "completion", "outputs", "result")
TURNS = ("messages", "choices")  # keys of lists of messages
DEEPEST = 12  # levels that are looked into


def question_text(value: Any) -> str | None:
    """Return the input's text (user messages), or None if ambiguous.

    >>> question_text({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]})
    'Why?'
    >>> question_text('{"question": "Why?", "lang": "en"}')
    'Why?'
    """
    return _text(value, ASKING, QUESTIONS)


def response_text(value: Any) -> str | None:
    """Return the output's text (last assistant message), or None if ambiguous.

    >>> response_text({"choices": [{"message": {"role": "assistant", "content": "So."}}]})
    'So.'
    """
    return _text(value, ANSWERING, RESPONSES)


def _text(value: Any, roles: frozenset[str], names: Sequence[str], depth: int = 0) -> str | None:
    value = _opened(value, any_json=names is QUESTIONS)
    if isinstance(value, str):
        return value if value.strip() else None
    if depth < DEEPEST and isinstance(value, list):
        return _of_list(value, roles, names, depth)
    if depth < DEEPEST and isinstance(value, dict):
        return _of_object(value, roles, names, depth)
    return None


def _opened(value: Any, *, any_json: bool) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        parsed = cell_value(value)
        if any_json or (not isinstance(parsed, str) and _is_chat(parsed)):
            return parsed
    return value


def _is_chat(value: Any) -> bool:
    if isinstance(value, list):
        return any(_role(each) for each in value)
    return bool(_role(value)) or any(isinstance(value.get(key), list) for key in TURNS)


def _of_list(values: list[Any], roles: frozenset[str], names: Sequence[str], depth: int) -> str | None:
    if len(values) == 1 and not _role(values[0]):
        return _text(values[0], roles, names, depth + 1)
    texts = [text for each in values if _role(each) in roles and (text := _content(each))]
    if not texts:
        return None
    return "\n\n".join(texts) if roles is ASKING else texts[-1]


def _of_object(value: Mapping[str, Any], roles: frozenset[str], names: Sequence[str], depth: int) -> str | None:
    if role := _role(value):
        return _content(value) if role in roles else None
    for key in TURNS:
        if isinstance(value.get(key), list) and value[key]:
            turns = [each.get("message", each) if isinstance(each, dict) else each for each in value[key]]
            return _text(turns, roles, names, depth + 1)
    named = next((value[name] for name in names if name in value), None)
    if named is not None or len(value) == 1:
        return _text(named if named is not None else next(iter(value.values())), roles, names, depth + 1)
    texts = [each for each in value.values() if isinstance(each, str) and each.strip()]
    return texts[0] if len(texts) == 1 else None


def _role(message: Any) -> str:
    if not isinstance(message, dict) or not {"content", "parts"} & message.keys():
        return ""
    role = message.get("role") or message.get("type")
    return role.lower() if isinstance(role, str) else ""


def _content(message: Mapping[str, Any]) -> str | None:
    held = message.get("content") if "content" in message else message.get("parts")
    if isinstance(held, str):
        return held if held.strip() else None
    parts = [_part(each) for each in held] if isinstance(held, list) else []
    return "\n".join(part for part in parts if part) or None


def _part(part: Any) -> str | None:
    if isinstance(part, dict) and part.get("type", "text") in ("text", "input_text", "output_text"):
        part = next((part[name] for name in ("text", "content") if name in part), None)
    return part if isinstance(part, str) else None
