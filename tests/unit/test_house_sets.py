"""The shipped pairs are what the statistics assume: balanced, diverse, free of cues, with an agreed gold."""

import house_sets
import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.text_features import COUNTS, feature_leanings
from judgefixtures.sources import Source, load_pairs


@pytest.mark.parametrize("name", house_sets.SETS)
def test_every_property_holds(name):
    """A house set has no problem that the script knows to look for."""
    assert list(house_sets.problems(name)) == []


@pytest.mark.parametrize("name", house_sets.CLOSE_SETS)
def test_close_pairs_are_close(name):
    """A language model that read blind, with three tastes, splits on every close pair, or calls it close.

    Nothing else gives a pair away.
    """
    assert list(house_sets.close_problems(name)) == []


def test_the_script_sees_a_pair_that_is_not_close():
    """Agreeing readers, a longer response, a cue word and a missing reading are each reported."""
    row, (_, readings) = house_sets.read("house-close")[0], next(iter(house_sets.readings_of("house-close").items()))
    agreed = [{**reading, "choice": 1, "margin": "slight"} for reading in readings]
    assert list(house_sets._closeness_problems("p", agreed)) == ["p: readers agree (6-0), and 0 call it close"]
    assert list(house_sets._closeness_problems("p", [{**each, "margin": "close"} for each in agreed])) == []
    assert "not read once" in next(house_sets._closeness_problems("p", readings[:5]))
    longer = {**row, "response_1": f"{row['response_1']} {'more ' * 40}"}
    assert "characters" in next(house_sets._close_row_problems(longer, "Response"))
    assert "'recent'" in next(house_sets._close_row_problems({**row, "question": "Why is it recent?"}, "Response"))


def test_the_script_sees_a_cue_a_copy_and_an_imbalance():
    """The script is able to fail: a planted cue, a repeated text and one-sided gold are each reported."""
    rows = house_sets.read("house-qa")
    planted = {**rows[0], "response_1": "As an expert wrote in 1950, it rains."}
    assert "'expert'" in next(house_sets._row_problems(planted, "Response"))
    assert any("twice" in problem for problem in house_sets._duplicate_problems([*rows, rows[0]]))
    assert any("gold over positions" in p for p in house_sets._balance_problems([{**r, "gold": 1} for r in rows]))


@pytest.mark.parametrize("name", house_sets.TWIN_SETS)
def test_nothing_that_can_be_counted_tells_twins_apart(name):
    """No count is right on under .4 or over .6 of all pairs or the first 30, no model of 20 on over .6; readers are."""
    assert len(house_sets.COUNTS) == 20
    assert list(house_sets.twin_problems(name)) == []


@pytest.mark.parametrize("name", house_sets.TWIN_SETS)
def test_nothing_that_a_control_counts_tells_twins_apart(name):
    """What the control holds a judge's choices against tells no more of the better response than a coin does."""
    pairs = load_pairs(Source(name))
    for some in (pairs, pairs[: house_sets.ASKED]):
        for count in COUNTS:
            right = sum((1 + feature_leanings(pair)[count] * (1 if pair.gold == 1 else -1)) / 2 for pair in some)
            assert 0.4 <= right / len(some) <= 0.6, (count, right)


def test_the_script_sees_twins_that_counting_tells_apart(snapshot: SnapshotAssertion):
    """A comma in every better text is what a count tells, and what a model learns."""
    rows = house_sets.read("house-control")
    assert list(house_sets.telling(rows)) == []
    better = [f"response_{row['gold']}" for row in rows]
    telling = [{**row, field: f"Well, {row[field]}"} for row, field in zip(rows, better, strict=True)]
    found = list(house_sets.telling(telling))
    assert lines_about(found, "response with") == snapshot
    assert found[-1] == snapshot


@pytest.mark.parametrize("name", house_sets.EXAMPLE_SETS)
def test_examples_are_what_they_are_for(name):
    """Near the line two to four of six blind readings of a language model pass.

    Labels are half of each, agreed on, and told by no count.
    """
    assert list(house_sets.example_problems(name)) == []


def test_the_script_sees_an_example_that_is_not_near_the_line_and_one_sided_labels(snapshot: SnapshotAssertion):
    """Readings that agree, a label that no reading has, and a set of one label are each reported."""
    readings = next(iter(house_sets.readings_of("house-answers").values()))
    agreed = [{**each, "pass": True} for each in readings]
    assert list(house_sets._vote_problems("e", agreed)) == ["e: 6 of 6 readings pass it"]
    assert next(house_sets._vote_problems("e", readings[:5])) == snapshot
    rows = house_sets.read("house-graded")
    assert list(house_sets._label_problems({**rows[0], "label": "fail"}, agreed[:2])) != []
    assert next(house_sets._labels_problems([{**row, "label": "pass"} for row in rows])) == snapshot


def test_no_house_set_repeats_another():
    """No id twice, and no question or whole phrases of twins and examples in any other set."""
    assert list(house_sets.shared()) == []
