"""Estimates and gates: the public path of judgefixtures/numbers/statistics.py."""

from judgefixtures.numbers.statistics import *  # noqa: F403
