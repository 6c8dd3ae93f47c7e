"""Checks over real servers: not part of `make test`."""

import sys
from pathlib import Path

sys.path.append(
    str(Path(__file__).parent)
)  # test modules are imported from their files, which puts no folder on the path
