"""Does a reason admit a cue: the public path of judgefixtures/reading/acknowledgment.py, which can be called, too."""

import sys
from types import ModuleType
from typing import Any

from judgefixtures.reading.acknowledgment import *  # noqa: F403
from judgefixtures.reading.acknowledgment import Acknowledgment, acknowledgment


class _Room(ModuleType):
    """`judgefixtures.acknowledgment` is this room and, as the package's function of that name, can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Acknowledgment:
        return acknowledgment(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
