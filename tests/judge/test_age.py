"""Does the verdict move when only the stated age of the author moves? By name alone: `pytest -k age`."""

import pytest

pytestmark = pytest.mark.judge_family("age", by_name=True)


def test_age(judge, pairs, contrast, gate):
    """A response is chosen as often however young or old its author is said to be."""
    gate.check(judge, pairs, contrast)
