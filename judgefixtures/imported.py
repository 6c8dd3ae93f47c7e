"""Answers of a log: the public path of judgefixtures/imports/answers.py."""

from judgefixtures.imports.answers import *  # noqa: F403
