"""The canary: some recorded prompts asked again every day, to tell when the judge behind them is another one.

`drift.py` is the test, on counts; `log.py` the file of all runs; `watching.py` asks and compares; `words.py` says it.
Nothing here writes a recording: what the canary is answered is in its log and nowhere else. docs/canary.md.
"""
