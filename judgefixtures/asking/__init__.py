"""Asking: a model that is asked, with its key, pace and price; the judge; every question of a condition.

`asker` asks once, `attempts` until it answers, with the `patience` that is left; `probing` finds out what the model
takes, and `pinned` and `cut_offs` when asking on would be for nothing. `kinds` has what makes a judge one of its kind.
"""
