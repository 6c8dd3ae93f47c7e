"""Base class of all errors caused by user input, and helpers for their messages."""

import difflib
import json
import re
from collections.abc import Iterable

from .texts import make_printable

BARE = re.compile(r"[\w-]+", re.ASCII)  # a key of TOML that needs no quotes


class JudgeFixturesError(Exception):
    """A mistake that the user can mend: the message says what happened, to which thing, and the remedy.

    Whoever shows it to a person shows the message alone, never a traceback. It may quote a server or a data file, so
    it is made printable here, once.
    """

    def __init__(self, message: str) -> None:
        super().__init__(make_printable(message))


def accepted_values(name: str, accepted: Iterable[str]) -> str:
    """Return the accepted values for an error message, with the likeliest one named first.

    >>> accepted_values("recensy", ["recency", "provenance"])
    'did you mean "recency"? Accepted: provenance, recency'
    """
    accepted = sorted(accepted)
    close = difflib.get_close_matches(name, accepted, n=1)
    listed = f"Accepted: {', '.join(accepted) or '(none)'}"
    return f'did you mean "{close[0]}"? {listed}' if close else listed


def check_known(where: str, kind: str, name: str, accepted: Iterable[str]) -> None:
    """Raise JudgeFixturesError for a name that is none of those that are accepted."""
    accepted = tuple(accepted)
    if name not in accepted:
        raise JudgeFixturesError(f"{where}: there is no {kind} {name!r}: {accepted_values(name, accepted)}.")


def table_heading(within: Iterable[str], *names: str) -> str:
    """Return the heading of a table of the configuration, as TOML wants it: a name with a dot is quoted.

    >>> table_heading(("tool", "judgefixtures"), "judges", "gpt-4.1")
    '[tool.judgefixtures.judges."gpt-4.1"]'
    """
    return f"[{'.'.join(name if BARE.fullmatch(name) else json.dumps(name) for name in (*within, *names))}]"
