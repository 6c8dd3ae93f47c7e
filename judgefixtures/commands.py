"""Words of commands as a shell reads them: the public path of judgefixtures/words/commands.py."""

from judgefixtures.words.commands import *  # noqa: F403
