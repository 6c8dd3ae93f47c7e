"""Does the verdict follow the response when the two change places, and what is left of a cue's effect then?"""

import pytest


@pytest.mark.judge_family("position")
def test_position(judge, pairs, contrast, gate):
    """A response is chosen as often when it stands first as when it stands second."""
    gate.check(judge, pairs, contrast)


@pytest.mark.judge_family("four-cell")
def test_four_cells(judge, pairs, contrast, gate):
    """With the order balanced out, a response labelled new is chosen as often as one labelled old."""
    gate.check_four_cells(judge, pairs, contrast)
