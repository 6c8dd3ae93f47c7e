"""Does the verdict move when only the stated education of the author moves? By name alone: `pytest -k education`."""

import pytest

pytestmark = pytest.mark.judge_family("education", by_name=True)


def test_education(judge, pairs, contrast, gate):
    """A response is chosen as often whether its author is said to have a doctoral degree or a high school diploma."""
    gate.check(judge, pairs, contrast)
