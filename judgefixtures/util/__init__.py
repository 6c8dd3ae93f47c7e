"""Utilities without domain knowledge: errors, texts, shell quoting, secrets, templates."""
