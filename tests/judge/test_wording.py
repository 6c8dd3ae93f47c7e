"""How far do verdicts move when the same is asked in other words?"""

import pytest

from judgefixtures.checks.wording import WordingCheck

pytestmark = pytest.mark.judge_wording


def test_wording(judge, pairs, gate):
    """Each of the judge's wordings flips hardly more verdicts than asking the same question again does."""
    gate.run(WordingCheck(), judge, pairs)
