"""A configuration at work: the public path of judgefixtures/runs/run.py."""

from judgefixtures.runs.run import *  # noqa: F403
