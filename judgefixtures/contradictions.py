"""Which response does a reason argue for: the public path of judgefixtures/reading/contradictions.py."""

from judgefixtures.reading.contradictions import *  # noqa: F403
