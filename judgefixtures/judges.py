"""Judges: the public path of judgefixtures/asking/judges.py."""

from judgefixtures.asking.judges import *  # noqa: F403
