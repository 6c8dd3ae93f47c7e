"""Runs: a configuration at work, without pytest: what is asked, of whom, and what the checks find."""
