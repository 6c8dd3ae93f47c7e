"""Usual words for pass and fail, in a judge's grades and in people's labels."""

PASSING = ("pass", "passed", "yes", "true", "1", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0", "incorrect", "wrong", "bad")
