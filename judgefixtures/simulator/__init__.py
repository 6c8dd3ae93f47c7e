"""Simulated judges: examples with a known bias, without any model.

`python -m judgefixtures.simulator --help` starts the server.
"""
