"""The shipped pairs are what the statistics assume: balanced, diverse, free of cues, with an agreed gold."""

import house_sets
import pytest


@pytest.mark.parametrize("name", house_sets.SETS)
def test_every_property_holds(name):
    """A house set has no problem that the script knows to look for."""
    assert list(house_sets.problems(name)) == []


def test_the_script_sees_a_cue_a_copy_and_an_imbalance():
    """The script is able to fail: a planted cue, a repeated text and one-sided gold are each reported."""
    rows = house_sets.read("house-qa")
    planted = {**rows[0], "response_1": "As an expert wrote in 1950, it rains."}
    assert "'expert'" in next(house_sets._row_problems(planted, "Response"))
    assert any("twice" in problem for problem in house_sets._duplicate_problems([*rows, rows[0]]))
    assert any("gold over positions" in p for p in house_sets._balance_problems([{**r, "gold": 1} for r in rows]))
