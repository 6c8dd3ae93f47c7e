"""Parsing: the verdict, score, grade, probability and acknowledgment that an answer holds."""
