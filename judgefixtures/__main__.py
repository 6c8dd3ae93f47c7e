"""Entry point of `python -m judgefixtures`."""

import sys

from judgefixtures.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
