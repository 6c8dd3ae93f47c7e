"""Does the verdict move when only the stated gender of the author moves? By name alone: `pytest -k gender`."""

import pytest

pytestmark = pytest.mark.judge_family("gender", by_name=True)


def test_gender(judge, pairs, contrast, gate):
    """A response is chosen as often whether a man or a woman is said to have written it."""
    gate.check(judge, pairs, contrast)
