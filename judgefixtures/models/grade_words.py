"""Usual grade and label words for pass and fail."""

PASSING = ("pass", "passed", "yes", "true", "1", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0", "incorrect", "wrong", "bad")
