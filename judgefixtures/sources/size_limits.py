"""Size limits of rows and unpacked files, because small files can unpack to gigabytes."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Literal

from judgefixtures.util.errors import JudgeFixturesError

What = Literal["row", "file"]
MB = 2**20
BYTES_A_VALUE = 16  # of a limit, for each value of JSON: in memory an empty list takes twenty times its text

_GIVEN: ContextVar[dict[str, int | None] | None] = ContextVar("sizes", default=None)


@contextlib.contextmanager
def limited(row_mb: int | None, file_mb: int | None) -> Iterator[None]:
    """Apply a command's limits in megabytes; None keeps the default."""
    before = _GIVEN.set({"row": row_mb, "file": file_mb})
    try:
        yield
    finally:
        _GIVEN.reset(before)


def limit(what: What, usual: int) -> int:
    """Return the largest bytes of a row or file."""
    given = (_GIVEN.get() or {}).get(what)
    return usual if given is None else given * MB


def remedy(what: What, most: int) -> str:
    """Return the exceeded limit with its remedy."""
    named = "one row" if what == "row" else "one file, unpacked,"
    raised = f"add --max-{what}-mb {max(1, 2 * most // MB)}" if _GIVEN.get() is not None else "split it"
    return f"The limit for {named} is {most / MB:,.4g} MB. If the size is intended, {raised}"


def check_json(text: str | bytes | bytearray, named: str, what: What, usual: int) -> None:
    """Raise JudgeFixturesError for JSON with too many values."""
    marks = (",", "[", "{") if isinstance(text, str) else (b",", b"[", b"{")
    values, most = sum(map(text.count, marks)), limit(what, usual)  # type: ignore[arg-type]
    if values * BYTES_A_VALUE > most:
        raise JudgeFixturesError(f"{named} holds {values:,} JSON values. {remedy(what, most)}.")
