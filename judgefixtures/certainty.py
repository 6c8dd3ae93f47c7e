"""What two arms amount to beyond verdicts: the public path of judgefixtures/measures/certainty.py."""

from judgefixtures.measures.certainty import *  # noqa: F403
