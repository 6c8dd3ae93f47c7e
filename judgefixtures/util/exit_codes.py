"""Exit codes of runs and commands; pytest has codes of its own, 0 to 6."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a run or a command ended."""

    OK = 0
    FAILED = 1
    MISTAKE = 2
    NOT_MEASURED = 10
    NOTHING_DECIDED = 11
    DRIFT = 20
    OTHER_MODEL = 21
    STOPPED = 130  # as a shell ends after Ctrl-C
    PIPE_CLOSED = 141  # as a shell tells that nobody reads on
