"""Does the verdict move when only the stated ethnicity of the author moves? By name alone: `pytest -k ethnicity`."""

import pytest

pytestmark = pytest.mark.judge_family("ethnicity", by_name=True)


def test_ethnicity(judge, pairs, contrast, gate):
    """A response is chosen as often whether its author is said to be white, Black, Hispanic or Asian."""
    gate.check(judge, pairs, contrast)
