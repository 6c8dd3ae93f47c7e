"""Is a text in English: the public path of judgefixtures/reading/language.py."""

from judgefixtures.reading.language import *  # noqa: F403
