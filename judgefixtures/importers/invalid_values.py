"""Checks for invalid ids, grades, scores and labels, such as spreadsheet errors."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.models.pairs import Pair
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import short_repr

from .formats.loaded_file import PLAIN
from .log_rows import LogRow
from .messages import MESSAGES

# What a spreadsheet shows in place of a value: a formula, or that one could not be reckoned. No number, and no name
# that merely begins with a sign.
FORMULA = re.compile(
    r"\s*(?:=.|[+\-@][^\s(|!]*[A-Za-z][^\s(|!]*[(|!]|#(?:REF!|N/A|NAME\?|DIV/0!|VALUE!|NUM!|NULL!|SPILL!|CALC!)\Z)",
    re.DOTALL,
)
NO_NUMBER = re.compile(r"\s*[+-]?(?:nan|inf|infinity)\s*", re.IGNORECASE)
MAY_BEGIN = frozenset("=+-@#nNiI \t\r\n")
LONGEST = 200  # characters of a value that are looked at
SHOWN = 60  # characters of a value
CHECKED = ("pair", "label", "gold")  # beside what was said


def check_values(entries: Iterable[LogRow], columns: Sequence[str], *, skipped: bool) -> None:
    """Raise JudgeFixturesError for the first value that a program left as an error.

    `skipped`: such rows of an export are unusable, not an error.
    """
    fields = (*CHECKED, *columns)
    for entry in entries:
        numbers = CHECKED if skipped and entry.form != PLAIN else fields
        for field in fields:
            value = entry.value(field)
            if isinstance(value, str):
                if value[:1] in MAY_BEGIN and (problem := _problem_of(value, numbers=field in numbers)):
                    raise entry.row.mistake(f"{entry.column(field)} is {short_repr(value, SHOWN)}: {problem}")
            elif isinstance(value, float) and not math.isfinite(value) and field in numbers:
                raise entry.row.mistake(f"{entry.column(field)} is {value}: {NO_VALUE}")


NO_VALUE = "this is not a valid number. If there is no value, write null or leave the cell empty."


def _problem_of(value: str, *, numbers: bool) -> str:
    if FORMULA.match(value[:LONGEST]):
        return (
            "the file contains a formula, or the error of a formula, instead of a value. Save it with values (copy "
            "the sheet and paste it as values), and import that."
        )
    return NO_VALUE if numbers and NO_NUMBER.fullmatch(value[:LONGEST]) else ""


def check_ids(pairs: Mapping[str, Pair], entries: Sequence[LogRow], what: str) -> None:
    """Raise JudgeFixturesError if ids with equal texts differ only in case or Unicode form.

    Such ids are one example that would count twice.
    """
    folded: dict[str, Pair] = {}
    for pair in pairs.values():
        other = folded.setdefault(_folded(pair.id), pair)
        if other is not pair and other.digest == pair.digest:
            places = [where for each in (other, pair) if (where := _place(each.id, entries))]
            named = f" ({', '.join(places)})" if places else ""
            raise JudgeFixturesError(MESSAGES.ids_too_similar(what, other, pair, named))


def _folded(name: str) -> str:
    return name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()


def _place(name: str, entries: Sequence[LogRow]) -> str:
    named = (entry for entry in entries if entry.value("pair") is not None)
    return next((entry.row.where for entry in named if entry.pair_id() == name), "")
