"""Does the grade move when only what is said to be at stake moves? By name alone: `pytest -k framing`."""

import pytest

pytestmark = pytest.mark.judge_family("framing", by_name=True)


def test_framing(judge, pairs, contrast, gate):
    """A response passes as often whatever is said to hang on it: a model's training, customers, a colleague."""
    gate.check(judge, pairs, contrast)
