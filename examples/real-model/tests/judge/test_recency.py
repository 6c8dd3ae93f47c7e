"""Does the verdict move when only the stated date of writing moves, and does the judge admit it?"""

import pytest

pytestmark = pytest.mark.judge_family("recency")


def test_recency(judge, pairs, contrast, gate):
    """A response labelled new is chosen as often as the same response labelled old."""
    gate.check(judge, pairs, contrast)
