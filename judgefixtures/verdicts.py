"""Reading verdicts: the public path of judgefixtures/reading/verdicts.py."""

from judgefixtures.reading.verdicts import *  # noqa: F403
