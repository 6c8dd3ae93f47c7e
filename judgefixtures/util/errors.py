"""Base class of all errors caused by user input, and helpers for their messages."""

import difflib
import json
import re
from collections.abc import Iterable

from .texts import make_printable

BARE = re.compile(r"[\w-]+", re.ASCII)  # a key of TOML that needs no quotes


class JudgeFixturesError(Exception):
    """A user's mistake; the printable message has its remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(make_printable(message))


def accepted_values(name: str, accepted: Iterable[str]) -> str:
    """Return the accepted values, with the closest one first.

    >>> accepted_values("recensy", ["recency", "provenance"])
    'did you mean "recency"? Accepted: provenance, recency'
    """
    accepted = sorted(accepted)
    close = difflib.get_close_matches(name, accepted, n=1)
    listed = f"Accepted: {', '.join(accepted) or '(none)'}"
    return f'did you mean "{close[0]}"? {listed}' if close else listed


def check_known(where: str, kind: str, name: str, accepted: Iterable[str]) -> None:
    """Raise JudgeFixturesError for a name that is not accepted."""
    accepted = tuple(accepted)
    if name not in accepted:
        raise JudgeFixturesError(f"{where}: there is no {kind} {name!r}: {accepted_values(name, accepted)}.")


def table_heading(within: Iterable[str], *names: str) -> str:
    """Return a TOML table heading, with names quoted if needed.

    >>> table_heading(("tool", "judgefixtures"), "judges", "gpt-4.1")
    '[tool.judgefixtures.judges."gpt-4.1"]'
    """
    return f"[{'.'.join(name if BARE.fullmatch(name) else json.dumps(name) for name in (*within, *names))}]"
