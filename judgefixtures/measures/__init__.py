"""Measures: what the answers of two arms amount to, as counts, estimates and rows."""
