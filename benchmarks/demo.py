"""Wall time of `judgefixtures demo` in an empty folder without network: the first time on a machine, and then.

python benchmarks/demo.py

The first time Python compiles all that is imported, as after `uvx` or `pip install --no-compile`, and its own library
beside it: each round has a folder of its own for what is compiled. Cores that are busy with other things show as CPU
time far below twice the wall time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
ALONE = ("unshare", "--map-root-user", "--net")  # no network, not even the loopback


def seconds(folder: Path, name: str, compiled: Path) -> tuple[float, float]:
    """Return the wall time of a demo, and the CPU time of all its processes."""
    environment = {each: value for each, value in os.environ.items() if each != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [*ALONE, sys.executable, "-m", "judgefixtures", "demo", "--into", name]
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print each round: wall and CPU time of the first demo and of the second."""
    for number in range(1, ROUNDS + 1):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            runs = [seconds(folder, name, folder / "compiled") for name in ("first", "then")]
        told = "; ".join(
            f"{name} {wall:.1f} s (CPU {cpu:.1f} s)" for name, (wall, cpu) in zip(("first", "then"), runs, strict=True)
        )
        print(f"round {number}: {told}; load before it {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # noqa: T201


if __name__ == "__main__":
    main()
