"""Votes: how many people preferred each response of a pair, and pairs with split votes.

Votes only select pairs while a source is read. The upvotes of known sources are scores of single responses: schemas.py
compares those with `min_ratio` and `max_ratio`.
"""

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
    'an object with how many people preferred response 1, response 2 and neither, as {"1": 3, "2": 2, "tie": 0} (in '
    'CSV and TSV that object as JSON text): whole numbers >= 0, at least one of them above 0; "tie" may be absent'
)


@dataclass(frozen=True, slots=True)
class PreferenceVotes:
    """How many people preferred the first response of a pair, the second one, and neither."""

    first: int
    second: int
    tie: int = 0

    @property
    def margin(self) -> float:
        """The lead of one response as a share of all votes: 0 where both have as many, 1 where one has all.

        >>> PreferenceVotes(2, 1, tie=2).margin
        0.2
        """
        return abs(self.first - self.second) / (self.first + self.second + self.tie)


def row_votes(row: DataRow, source: Source) -> PreferenceVotes | None:
    """Return the votes on a row's pair, None where it has none; raises JudgeFixturesError for any other value.

    In a user's file a column `votes` holds votes. In a dataset on the hub it may hold anything, and the user cannot
    rename it: there it is read only where the table asks for votes, by `max_margin` or by `columns`.
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
    """Return the votes that an object says, or its JSON text; None for any other value.

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
    """Yield the pairs whose margin of votes is at most `max_margin`, all of them without it; the others are counted.

    Raises JudgeFixturesError after the last pair where `max_margin` is set and none of them has votes.
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
    """Return a number of votes; None for a value that is not one. 2.0 is how columns with gaps hold a 2."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
