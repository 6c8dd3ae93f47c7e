"""Does the verdict move when only the stated kind of author moves, and does the judge admit it?"""

import pytest

pytestmark = pytest.mark.judge_family("provenance")


def test_provenance(judge, pairs, contrast, gate):
    """A response is chosen as often whether an expert, a human, a model or nobody known is said to have written it."""
    gate.check(judge, pairs, contrast)
