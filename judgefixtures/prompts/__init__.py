"""Prompts: the templates and plans that a judge is shown."""
