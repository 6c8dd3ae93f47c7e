"""Asking: a model that is asked, with its key, pace and price; the judge; every question of a condition."""
