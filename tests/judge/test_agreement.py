"""Does a judge of one response grade as people label?"""

import pytest

from judgefixtures.checks.human_agreement import AgreementCheck

pytestmark = pytest.mark.judge_agreement


def test_agreement(judge, pairs, gate):
    """What is set of min_tpr, min_tnr, min_kappa and min_accuracy in [gate.agreement] is exceeded."""
    gate.run(AgreementCheck(), judge, pairs)
