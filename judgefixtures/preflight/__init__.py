"""Preflight: what a run would ask and cost, and whether it can decide."""
