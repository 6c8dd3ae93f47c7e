"""Shared records: pairs, cues, contrasts, verdicts, judgments, findings and the rows of a report."""
