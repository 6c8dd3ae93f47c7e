"""Canary: ask recorded prompts again every day, to detect that the model behind a judge changed.

`drift.py` is the statistical test, `log.py` the file of all runs, `monitor.py` asks and compares, and `messages.py`
writes the output. The canary never writes a recording. See docs/how-to/canary.md.
"""
