"""Canary: ask recorded prompts again every day, to detect that the model behind a judge changed.

`change_evidence.py` is the statistical test, `log.py` the file of all runs, and `monitor.py` asks, compares and decides
the result of a day. The canary never writes a recording. See docs/how-to/canary.md.
"""
