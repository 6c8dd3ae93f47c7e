from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grade:
    passed: bool | None
    reason: str
    invalid: str | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""


def parse_grade(text, format="json", labels=None, field=None):
    try:
        found = json.loads(text)
        w = str(found[field or "verdict"]).lower()
        return Grade(w in ("pass", "true"), found.get("reason", ""))
    except Exception:
        return Grade(None, "", "not-json")
