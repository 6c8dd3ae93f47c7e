"""Conversion of a row's value to text."""

import json
from collections.abc import Mapping, Set
from typing import Any

from judgefixtures.models.pairs import ColumnText

# How a line begins that somebody said; any other role begins it as it is written.
SPEAKERS: Mapping[str, str] = {"human": "User", "developer": "System", "function": "Tool"}

_as_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


def value_to_text(value: Any) -> str:
    r"""Return a value as shown: text, conversation or JSON.

    >>> value_to_text([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}])
    'User: Why?\nAssistant: So.'
    >>> value_to_text(["a", 1, True])
    '["a", 1, true]'
    """
    if isinstance(value, str):
        return value
    conversation_text = messages_to_text(value)
    return _as_json(value) if conversation_text is None else conversation_text


def messages_to_text(value: Any) -> str | None:
    """Return messages as lines with roles, or None.

    Tool calls follow as JSON.
    """
    if not isinstance(value, list) or not value or not all(map(_is_message, value)):
        return None
    return "\n".join(f"{_speaker(message['role'])}: {_message_text(message)}" for message in value)


def other_columns(fields: Mapping[str, Any], read: Set[str]) -> dict[str, str]:
    """Return the columns not `read`, as text by name."""
    return {name: _column(value) for name, value in fields.items() if value is not None and name not in read}


def _column(value: Any) -> str:
    return value if isinstance(value, str) else ColumnText(value_to_text(value), value)


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str) or not value["role"].strip():
        return False
    content = value.get("content")
    return isinstance(content, str | list) or (content is None and bool(value.get("tool_calls")))


def _speaker(role: str) -> str:
    role = role.strip()
    return SPEAKERS.get(role.lower(), role[:1].upper() + role[1:])


def _message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [_part(part) for part in content or ()]
    calls = message.get("tool_calls") or []
    return "\n".join([*parts, *map(_as_json, calls if isinstance(calls, list) else [calls])])


def _part(part: Any) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return part if isinstance(part, str) else _as_json(part)
