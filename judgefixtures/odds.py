"""Estimates and gates of log-odds: the public path of judgefixtures/numbers/odds.py."""

from judgefixtures.numbers.odds import *  # noqa: F403
