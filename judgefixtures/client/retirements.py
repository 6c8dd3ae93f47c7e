"""Warnings about models that are shut down or rerouted."""

import datetime
import json
from pathlib import Path

NOTICE = datetime.timedelta(days=60)
DATA = Path(__file__).parents[1] / "data" / "retirements.json"


def retirement_warning(model: str, today: datetime.date, announced: str | None = None) -> str | None:
    """Return a warning within 60 days of a model's end, or None.

    `announced` is the provider's ISO date.

    >>> retirement_warning("gpt-4o", datetime.date(2026, 11, 21))
    'gpt-4o is shut down; the provider names gpt-6-luna as its replacement: 2027-01-14, in 54 days'
    >>> retirement_warning("gpt-4o", datetime.date(2026, 6, 1)) is None
    True
    """
    name, what = model, "is shut down by its provider"
    if announced is None:
        known = json.loads(DATA.read_text(encoding="utf-8"))["models"]
        name = max((name for name in known if model == name or model.startswith(f"{name}-20")), key=len, default="")
        if not name:
            return None
        announced, what = known[name]["date"], known[name]["what"]
    try:
        date = datetime.date.fromisoformat(announced[:10])
    except ValueError:
        return None
    if date - today > NOTICE:
        return None
    days = (date - today).days
    return f"{model} {what}: {date}, {f'in {days} days' if days > 0 else 'today' if days == 0 else f'{-days} days ago'}"
