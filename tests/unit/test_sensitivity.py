"""How many pairs were close for a judge: which verdicts are compared, over how many items, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.close_pairs import describe_close_pairs, with_movable_share
from judgefixtures.metrics.movable_pairs import movable_share
from judgefixtures.models.check_rows import ContrastRow, NeutralChoices
from judgefixtures.models.contrasts import neutral_arms
from judgefixtures.models.vocabulary import OF_PAIRS
from judgefixtures.statistics import Estimate, proportion

PAIRS = "abcdef"
ARMS = st.lists(st.dictionaries(st.sampled_from(PAIRS + "xyz"), st.sampled_from([1, 2])), max_size=5)
REPORTED = ContrastRow(judge="j", dataset="d", contrast="recency-new-old")


@given(arms=ARMS)
def test_a_pair_is_movable_where_any_two_verdicts_differ(arms: list[dict[str, int]]) -> None:
    """n counts the pairs with two verdicts at least, of those that are asked for; Wilson's interval; else None."""
    verdicts = {pair: [arm[pair] for arm in arms if pair in arm] for pair in PAIRS}
    n = sum(len(found) >= 2 for found in verdicts.values())
    k = sum({1, 2} <= set(found) for found in verdicts.values())
    assert movable_share(arms, PAIRS, 0.8) == (proportion(k, n, 0.8) if n else None)


@pytest.mark.parametrize(("repeats", "expected"), [(1, [0, 1]), (2, [0, 1]), (3, [0, 1, 2]), (5, [0, 1, 2, 3, 4])])
def test_every_repeat_counts(repeats: int, expected: list[int]) -> None:
    """As many as the run asks for, and the first in any case; both orders and both placebos once."""
    found = [(condition.name, repeat) for condition, repeat in neutral_arms(repeats)]
    assert [repeat for name, repeat in found if name == "no-cue"] == expected
    assert [repeat for name, repeat in found if name != "no-cue"] == [0, 0, 0]
    assert len(set(found)) == len(found)


def evidence(contrast: str, pairs: str, **arms: dict[str, int]) -> NeutralChoices:
    """Return what one item came across."""
    return NeutralChoices(judge="j", dataset="d", contrast=contrast, pairs=tuple(pairs), arms=arms, likely={})


def test_what_other_items_came_across_counts_too() -> None:
    """The arms of all items of the judge on the dataset together, for the row's own pairs; of no other judge."""
    own = evidence("recency-new-old", "abc", plain={"a": 1, "b": 1})
    others = [
        evidence("repeat-no-cue-1", "abcd", again={"a": 2, "d": 1}, plain={"c": 1}),
        evidence("position-no-cue", "abcd", swapped={"b": 1, "c": 1, "d": 2}),
        replace(evidence("repeat-no-cue-1", "abc", again={"b": 2, "c": 2}), judge="another"),
        replace(evidence("repeat-no-cue-1", "abc", again={"b": 2, "c": 2}), dataset="another"),
    ]
    for found in (own, *others), (*others, own):
        (row,) = with_movable_share([REPORTED], found)
        assert row.movable is not None
        assert (row.movable.value, row.movable.n) == (1 / 3, 3)  # a of a, b, c
    assert with_movable_share([REPORTED], others) == [REPORTED], "it was not measured itself"
    assert with_movable_share([REPORTED], [own]) == [REPORTED], "one verdict on a pair tells nothing"


def test_answers_that_chose_pairs_do_not_tell_how_close_they_are(snapshot: SnapshotAssertion) -> None:
    """Of the closest pairs the other arms count, whoever came across them; with none it is unknown, and said why."""
    likely = {"no-cue 0": {"a": 0.5}, "placebo 0": {"b": 0.99}}
    own = replace(
        evidence("recency-new-old", "abc", **{"no-cue 0": {"a": 1, "b": 1}}), chosen_by=("no-cue 0", "no-cue-21 0")
    )
    whole = evidence("position-no-cue", "abc", **{"no-cue 0": {"a": 1, "b": 1}, "no-cue-21 0": {"a": 2, "b": 2}})
    (row,) = with_movable_share([REPORTED], [own, whole])
    assert row.movable is None
    assert lines_about(row.movable_unknown, "these pairs") == snapshot
    assert (
        lines_about(describe_close_pairs(None, OF_PAIRS, passed=True, unknown=row.movable_unknown), "these pairs")
        == snapshot
    )
    placebo = evidence("placebo-listed-shown", "abc", x={"a": 1, "b": 1}, y={"a": 1, "b": 2})
    (row,) = with_movable_share([REPORTED], [own, whole, placebo])
    assert row.movable is not None
    assert (row.movable.value, row.movable.n, row.movable_unknown) == (0.5, 2, "")
    (row,) = with_movable_share([REPORTED], [replace(own, likely=likely), whole])
    assert row.movable is not None
    assert (row.movable.value, row.movable.n) == (0, 1), "probabilities of other arms tell, those of the choice do not"
    (row,) = with_movable_share([replace(REPORTED, contrast="position-no-cue")], [own, whole])
    assert row.movable is not None
    assert row.movable.value == 1, "pairs that nothing chose are told by all arms"


@pytest.mark.parametrize(
    ("close", "passed"),
    [
        (None, True),
        (Estimate(0.09, 0.05, 0.15, 0.9, 100), True),
        (Estimate(0.10, 0.06, 0.16, 0.9, 100), True),
        (Estimate(0.5, 0.2, 0.8, 0.9, 8), False),
    ],
)
def test_what_a_pass_covers_is_said(close: Estimate | None, passed: bool, snapshot: SnapshotAssertion) -> None:
    """How many pairs were close, and of a PASS with few of them that it says little."""
    assert describe_close_pairs(close, OF_PAIRS, passed=passed) == snapshot
