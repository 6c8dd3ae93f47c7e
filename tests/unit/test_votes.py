"""Votes on pairs: what counts as votes, and which pairs `max_margin` takes by them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import load_config
from judgefixtures.models.pairs import Pair
from judgefixtures.sources import Source, load_sample
from judgefixtures.sources.preference_votes import PreferenceVotes, parsed_votes
from judgefixtures.sources.sample import describe_sample
from judgefixtures.util.errors import JudgeFixturesError

DATASETS = Path(__file__).parents[2] / "docs" / "how-to" / "close-calls.md"
ROW: dict[str, Any] = {"question": "Why?", "response_1": "Because.", "response_2": "Why not?"}
COUNTS = st.integers(0, 10**6)
VOTES = st.builds(PreferenceVotes, COUNTS, COUNTS, COUNTS).filter(
    lambda votes: votes.first + votes.second + votes.tie > 0
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["1", "2", "tie", "x"]), inner),
)


def source(folder: Path, rows: Sequence[Mapping[str, Any]], **keys: Any) -> Source:
    """A file of JSON lines, the rows under ids from 0, read with these keys."""
    lines = [json.dumps({"id": number, **ROW, **row}) for number, row in enumerate(rows)]
    (folder / "voted.jsonl").write_text("\n".join(lines))
    return Source(**{"name": "mine", "path": folder / "voted.jsonl", "balance_positions": False, **keys})


def refusal(refused: Source) -> str:
    """The message with which a source is refused."""
    with pytest.raises(JudgeFixturesError) as caught:
        load_sample(refused)
    return str(caught.value)


def kept(found: Source) -> set[str]:
    """The ids of the pairs that are taken."""
    return {pair.id for pair in load_sample(found).pairs}


# --- what counts as votes -------------------------------------------------------------------------------------


@given(votes=VOTES)
def test_votes_are_read_as_they_are_written(votes: PreferenceVotes) -> None:
    """An object and its JSON text give the same votes, whole numbers stored as floats included."""
    said = {"1": votes.first, "2": votes.second, "tie": votes.tie}
    assert parsed_votes(said) == parsed_votes(json.dumps(said)) == votes
    assert parsed_votes({key: float(count) for key, count in said.items()}) == votes


@given(votes=VOTES)
def test_the_tie_is_optional(votes: PreferenceVotes) -> None:
    """Votes without "tie", or with null as typed formats fill it in, are votes without ties."""
    said = {"1": votes.first, "2": votes.second}
    expected = PreferenceVotes(votes.first, votes.second) if votes.first + votes.second else None
    assert parsed_votes(said) == parsed_votes({**said, "tie": None}) == expected


@given(votes=VOTES)
def test_a_margin_is_a_share_that_knows_no_position(votes: PreferenceVotes) -> None:
    """A margin lies in [0, 1], is the same with responses swapped, and ties only make it smaller."""
    assert 0 <= votes.margin <= 1
    assert votes.margin == replace(votes, first=votes.second, second=votes.first).margin
    assert replace(votes, tie=votes.tie + 1).margin <= votes.margin


@given(value=JSON | st.text() | JSON.map(json.dumps))
def test_any_value_is_votes_or_none(value: Any) -> None:
    """Whatever stands in the column, the parser raises nothing, and what it takes are counts that are not all zero."""
    votes = parsed_votes(value)
    if votes is not None:
        counts = (votes.first, votes.second, votes.tie)
        assert all(type(count) is int and count >= 0 for count in counts)
        assert any(counts)


NO_VOTES = [
    3,
    True,
    "",
    "2:1",
    [2, 1],
    "[2, 1]",
    "null",
    "{'1': 2, '2': 1}",
    "[" * 100_000,
    "9" * 5000,
    {},
    {"1": 2},
    {"1": 2, "2": None},
    {"1": 2, "2": -1},
    {"1": 2, "2": 0.5},
    {"1": 2, "2": "1"},
    {"1": 2, "2": True},
    {"1": 2, "2": float("nan")},
    {"1": 2, "2": float("inf")},
    {"1": 0, "2": 0, "tie": 0},
    {"1": 2, "2": 1, "ties": 1},
]


@pytest.mark.parametrize("value", NO_VOTES, ids=lambda value: repr(value)[:30])
def test_other_values_are_errors(value: Any, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A value that is not votes is an error with file, row, field and what is accepted, without max_margin, too."""
    rows = [{"votes": {"1": 2, "2": 1}}, {"votes": value}]
    message = refusal(source(tmp_path, rows))
    assert "field 'votes'" in message
    assert 'as {"1": 3, "2": 2, "tie": 0}' in message
    mapped = source(tmp_path, [{"people": value}], columns={"votes": "people"})
    assert "field 'people'" in refusal(mapped)
    expected, _, got = message.partition("; got ")
    assert got
    assert expected == snapshot


# --- which pairs are taken ------------------------------------------------------------------------------------

VOTED = [
    {"votes": {"1": 2, "2": 2, "tie": 1}},
    {"votes": {"1": 1, "2": 2, "tie": 2}},
    {"votes": {"1": 2, "2": 1}},
    {"votes": {"1": 0, "2": 3}},
    {"votes": None},
    {},
]


@pytest.mark.parametrize(
    ("margin", "taken"), [(0.0, {"0"}), (0.2, {"0", "1"}), (0.34, {"0", "1", "2"}), (1.0, {"0", "1", "2", "3"})]
)
def test_max_margin_takes_split_votes(margin: float, taken: set[str], tmp_path: Path) -> None:
    """Pairs up to the margin, itself included, are taken; the others, and those without votes, are counted apart."""
    sample = load_sample(source(tmp_path, VOTED, max_margin=margin))
    assert {pair.id for pair in sample.pairs} == taken
    agreed = {"pairs on which people agree": 4 - len(taken)} if len(taken) < 4 else {}
    assert sample.left_out == {**agreed, "pairs without votes": 2}


def test_votes_alone_change_nothing(tmp_path: Path) -> None:
    """Without max_margin all pairs are taken, and a pair is the same with votes on it as without."""
    assert kept(source(tmp_path, VOTED)) == {"0", "1", "2", "3", "4", "5"}
    (pair,) = load_sample(source(tmp_path, VOTED[:1])).pairs
    assert pair == Pair("0", "Why?", "Because.", "Why not?")


def test_votes_stand_where_columns_say(tmp_path: Path) -> None:
    """`columns` may name another column, or a path into it; then `votes` is as free as any other column."""
    rows = [{"votes": 12, "meta": {"people": [each]}} for each in ({"1": 1, "2": 1}, {"1": 3, "2": 0})]
    columns = {"votes": "meta.people.0"}
    assert kept(source(tmp_path, rows, columns=columns, max_margin=0.5)) == {"0"}
    assert "no row of" in refusal(source(tmp_path, rows, columns={"votes": "meta.people.1"}, max_margin=0.5))


def test_max_margin_without_votes(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where no pair has votes, max_margin is an error that says so and how to name the column."""
    for rows in ([{}, {}], [{"votes": None}, {}]):
        message = refusal(source(tmp_path, rows, max_margin=0.25))
        assert lines_about(message, "'mine'", "'votes'") == snapshot
        assert 'columns = {votes = "..."}' in message


def test_a_file_without_any_pair_is_not_called_one_without_votes(tmp_path: Path) -> None:
    """Where there is no pair at all, that is what is said, not that the column of votes is absent."""
    message = refusal(source(tmp_path, [], max_margin=0.25))
    assert "votes" not in message


def test_all_agree(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where max_margin leaves no pair, the rules are named with their counts."""
    message = refusal(source(tmp_path, [{"votes": {"1": 3, "2": 0}}, {}], max_margin=0.2))
    assert lines_about(message, "pairs without") == snapshot


def test_rows_that_are_left_out_are_checked(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A row is read whole whether its votes let it in or not: an id that is used twice is an error."""
    rows = [{"id": "a", "votes": {"1": 3, "2": 0}}, {"id": "a", "votes": {"1": 1, "2": 1}}]
    assert lines_about(refusal(source(tmp_path, rows, max_margin=0.2)), "also in") == snapshot


def test_one_pair_a_question_is_one_of_the_split_ones(tmp_path: Path) -> None:
    """The margin comes first: a pair that it leaves out never stands for its question."""
    rows = [{"votes": {"1": 3, "2": 0}}] * 9 + [{"votes": {"1": 1, "2": 1}}]
    assert kept(source(tmp_path, rows, max_margin=0.2, one_per_question=True)) == {"9"}


def test_deepeval_exports_have_votes_too(tmp_path: Path) -> None:
    """The columns of an export can name votes as those of a file can."""
    rows = [
        {"input": f"q{i}", "actual_output": "a", "expected_output": "b", "metadata": {"votes": {"1": i, "2": 1}}}
        for i in (1, 9)
    ]
    (tmp_path / "goldens.json").write_text(json.dumps(rows))
    columns = {"votes": "metadata.votes"}
    found = Source("mine", tmp_path / "goldens.json", "deepeval", columns=columns, max_margin=0.2)
    assert [pair.question for pair in load_sample(found).pairs] == ["q1"]


def test_the_example_of_the_docs(tmp_path: Path) -> None:
    """close-calls.md's rows with its table give the account that it shows."""
    blocks = dict(
        re.findall(r"^```(json|toml|text)\n(.*?)^```", DATASETS.read_text().partition("`max_ratio`")[0], re.M | re.S)
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "voted.jsonl").write_text(blocks["json"])
    (tmp_path / "judges.toml").write_text(blocks["toml"])
    found = load_config(tmp_path / "judges.toml").source("close")
    sample = load_sample(found)
    shown = describe_sample("close", sample.pairs, sample, found, 0, available=len(sample.pairs))
    assert [line.replace(f"{tmp_path.resolve()}/", "") for line in shown] == blocks["text"].splitlines()
