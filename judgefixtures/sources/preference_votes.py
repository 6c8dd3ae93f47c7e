"""Preference votes: how many people preferred each response of a pair; they only select pairs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgefixtures.models.pairs import Pair

from .messages import MESSAGES
from .row_readers import DataRow, cell_value, lookup
from .source import Source

VOTES = "votes"
ACCEPTED = (
    'an object with the votes for response 1, response 2 and neither, such as {"1": 3, "2": 2, "tie": 0} (in CSV and '
    'TSV as JSON text): whole numbers of at least 0, one of them above 0; "tie" is optional'
)


@dataclass(frozen=True, slots=True)
class PreferenceVotes:
    """Votes for the first response, the second and a tie."""

    first: int
    second: int
    tie: int = 0

    @property
    def margin(self) -> float:
        """The lead as a share of all votes.

        >>> PreferenceVotes(2, 1, tie=2).margin
        0.2
        """
        return abs(self.first - self.second) / (self.first + self.second + self.tie)


def row_votes(row: DataRow, source: Source) -> PreferenceVotes | None:
    """Return a row's votes, or None.

    In hub datasets, only `max_margin` or `columns` enables them. Raises JudgeFixturesError for other values.
    """
    columns = source.columns or {}
    if source.path is None and source.max_margin is None and VOTES not in columns:
        return None
    column = columns.get(VOTES, VOTES)
    cell = lookup(row.fields, column, None)
    if cell is None:
        return None
    votes = parsed_votes(cell, row.where)
    if votes is None:
        raise row.mistake(f"field {column!r} must be {ACCEPTED}; got {cell!r}.")
    return votes


def parsed_votes(value: Any, where: str = "") -> PreferenceVotes | None:
    """Return the votes in an object or JSON text, or None.

    >>> parsed_votes({"1": 3, "2": 2}) == parsed_votes('{"1": 3, "2": 2, "tie": 0}') == PreferenceVotes(3, 2)
    True
    """
    if isinstance(value, str):
        value = cell_value(value, where)
    if not isinstance(value, Mapping) or not {"1", "2"} <= value.keys() <= {"1", "2", "tie"}:
        return None
    # Where rows of one column differ, formats with types write an absent "tie" as null.
    tie = 0 if value.get("tie") is None else value["tie"]
    counts = [_count(each) for each in (value["1"], value["2"], tie)]
    whole = [count for count in counts if count is not None]
    return PreferenceVotes(*whole) if len(whole) == len(counts) and any(whole) else None


def split_pairs(
    voted: Iterable[tuple[Pair, PreferenceVotes | None]], source: Source, left_out: Counter[str]
) -> Iterator[Pair]:
    """Yield pairs with a margin up to `max_margin`; count the others.

    Raises:
        JudgeFixturesError: No pair has votes.
    """
    pairs = with_votes = 0
    for pair, votes in voted:
        pairs, with_votes = pairs + 1, with_votes + (votes is not None)
        if source.max_margin is None or (votes is not None and votes.margin <= source.max_margin):
            yield pair
        else:
            left_out["pairs without votes" if votes is None else "pairs on which people agree"] += 1
    if source.max_margin is not None and pairs and not with_votes:
        column = (source.columns or {}).get(VOTES, VOTES)
        raise source.mistake(MESSAGES.no_votes(source, column))


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
