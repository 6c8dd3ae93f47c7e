"""Reading grades: the public path of judgefixtures/reading/grades.py."""

from judgefixtures.reading.grades import *  # noqa: F403
