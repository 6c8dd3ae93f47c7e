"""Reading scores: the public path of judgefixtures/reading/scores.py."""

from judgefixtures.reading.scores import *  # noqa: F403
