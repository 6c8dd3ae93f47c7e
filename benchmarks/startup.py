"""Wall time of `pytest --collect-only` in an empty repository with and without the plugin, in turns.

python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 25


def seconds(folder: Path, *options: str) -> float:
    """Return the wall time of one collection."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - start


def main() -> None:
    """Print both medians and the median of the differences, pair by pair."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        seconds(folder)
        pairs = [(seconds(folder), seconds(folder, "-p", "no:judgefixtures")) for _ in range(ROUNDS)]
    with_plugin, without = (statistics.median(column) for column in zip(*pairs, strict=True))
    overhead = statistics.median(first - second for first, second in pairs)
    print(  # noqa: T201
        f"with the plugin {1000 * with_plugin:.0f} ms, without {1000 * without:.0f} ms, "
        f"overhead {1000 * overhead:.1f} ms"
    )


if __name__ == "__main__":
    main()
