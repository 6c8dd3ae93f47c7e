"""The usual words for pass and fail: a grade says one of them, and so does a label that people gave. Nothing else."""

PASSING = ("pass", "passed", "yes", "true", "1", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0", "incorrect", "wrong", "bad")
