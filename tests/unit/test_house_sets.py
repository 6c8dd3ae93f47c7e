"""The shipped pairs are what the statistics assume: balanced, diverse, free of cues, with an agreed gold."""

import house_sets
import pytest


@pytest.mark.parametrize("name", house_sets.SETS)
def test_every_property_holds(name):
    """A house set has no problem that the script knows to look for."""
    assert list(house_sets.problems(name)) == []


@pytest.mark.parametrize("name", house_sets.CLOSE_SETS)
def test_close_pairs_are_close(name):
    """Six blind readers of three tastes split on every close pair, or call it close; nothing else gives it away."""
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
