"""What starting costs: a collection in an empty repository with and without the plugin, and what a replay imports.

python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROUNDS = 25
REPLAYS = 5
REPOSITORY = Path(__file__).parents[1]
# One contrast of an OpenAI judge, its control included. Uncaptured, or pytest would keep what Python says of imports.
REPLAY = ("tests/judge/test_recency.py", "-k", "house-close-stories", "-q", "--capture=no", "-p", "no:cacheprovider")
NEEDLESS = ("anthropic", "datasets", "google", "pandas", "pyarrow", "statsmodels")
SHOWN = 6  # of the packages that modules are of
IMPORTED = "modules: "
CODE = f"import sys, pytest; code = pytest.main(sys.argv[1:]); print('{IMPORTED}' + ' '.join(sys.modules)); exit(code)"


def seconds(folder: Path, *options: str) -> float:
    """Return the wall time of one collection."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - start


def replay() -> tuple[list[str], float]:
    """Return the modules that a replay of one contrast imports, and how many seconds importing them takes."""
    command = [sys.executable, "-X", "importtime", "-c", CODE, *REPLAY]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    (modules,) = (line for line in done.stdout.splitlines() if line.startswith(IMPORTED))
    told = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if "|" in line]
    own = [int(parts[0]) for parts in told if parts[0].strip().isdecimal()]  # microseconds, but for the heading
    return modules.removeprefix(IMPORTED).split(), sum(own) / 1e6


def main() -> None:
    """Print both medians and the median of the differences, pair by pair; then what a replay imports, and how long."""
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
    replays = [replay() for _ in range(REPLAYS)]
    modules, taken = replays[0][0], statistics.median(each for _, each in replays)
    packages = Counter(name.partition(".")[0] for name in modules)
    most = ", ".join(f"{name} {count}" for name, count in packages.most_common(SHOWN))
    needless = ", ".join(name for name in NEEDLESS if name in packages) or "none"
    print(  # noqa: T201
        f"a replay of one contrast imports {len(modules)} modules in {1000 * taken:.0f} ms ({most}); "
        f"of {', '.join(NEEDLESS)} it imports {needless}"
    )


if __name__ == "__main__":
    main()
