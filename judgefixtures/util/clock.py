"""Clock with the machine's time while a test replaces Python's (freezegun, time-machine)."""

import datetime
import sys
import time
from functools import partial

elapsed = partial(time.monotonic) if sys.platform == "win32" else partial(time.clock_gettime, time.CLOCK_MONOTONIC)
# 5 is CLOCK_REALTIME_COARSE, which is right to 4 ms: time-machine replaces CLOCK_REALTIME.
timestamp = partial(time.clock_gettime, 5) if sys.platform == "linux" else partial(time.time)


def now() -> datetime.datetime:
    """Return the time in UTC."""
    return datetime.datetime.fromtimestamp(timestamp(), datetime.UTC)
