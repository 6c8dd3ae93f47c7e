"""What stands in a row as the text that a judge is shown: a text, a conversation, or any other value as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from typing import Any

# How a line begins that somebody said; any other role begins it as it is written.
SPEAKERS: Mapping[str, str] = {"human": "User", "developer": "System", "function": "Tool"}

_as_json = json.JSONEncoder(ensure_ascii=False, default=str).encode


def as_text(value: Any) -> str:
    """Return a value as a template shows it: a text as it is, messages as a conversation, all else as JSON.

    >>> as_text([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}])
    'User: Why?\\nAssistant: So.'
    >>> as_text(["a", 1, True])
    '["a", 1, true]'
    """
    if isinstance(value, str):
        return value
    told = conversation(value)
    return _as_json(value) if told is None else told


def conversation(value: Any) -> str | None:
    """Return messages as lines that say who said what; None for a value that is not a list of messages.

    A message has a role, and a content: a text, or parts of which each has one. What an assistant called stands behind
    what it said, as JSON.
    """
    if not isinstance(value, list) or not value or not all(map(_is_message, value)):
        return None
    return "\n".join(f"{_speaker(message['role'])}: {_said(message)}" for message in value)


def further_columns(fields: Mapping[str, Any], read: Set[str]) -> dict[str, str]:
    """Return what a row says beside the columns that are `read` as a field, as text by the column's name."""
    return {name: as_text(value) for name, value in fields.items() if value is not None and name not in read}


def _is_message(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str) or not value["role"].strip():
        return False
    content = value.get("content")
    return isinstance(content, str | list) or (content is None and bool(value.get("tool_calls")))


def _speaker(role: str) -> str:
    role = role.strip()
    return SPEAKERS.get(role.lower(), role[:1].upper() + role[1:])


def _said(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [_part(part) for part in content or ()]
    calls = message.get("tool_calls") or []
    return "\n".join([*parts, *map(_as_json, calls if isinstance(calls, list) else [calls])])


def _part(part: Any) -> str:
    """Return a part of what was said: its text, or all of it where it has none, as of a picture."""
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return part if isinstance(part, str) else _as_json(part)
