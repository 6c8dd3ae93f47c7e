"""Shares of reasons that admit a cue, corrected: the public path of judgefixtures/numbers/admission.py."""

from judgefixtures.numbers.admission import *  # noqa: F403
