"""Cassettes: a judge's answers in a condition, recorded by vcrpy and replayed offline."""
