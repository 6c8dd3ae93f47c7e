"""How far does the verdict move when nothing that matters moves: neutral sentences, or nothing at all?"""

import pytest

pytestmark = pytest.mark.judge_family("placebo", "repeat")


def test_noise(judge, pairs, contrast, gate):
    """Neutral sentences move no verdict; with --judge-repeats, neither does asking again."""
    gate.check(judge, pairs, contrast)
