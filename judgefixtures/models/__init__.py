"""Shared records: pairs, cues, contrasts, verdicts, judgments, findings and report rows."""
