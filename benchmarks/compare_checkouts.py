"""Replay the shipped recordings with two checkouts and compare what they write.

Run in this checkout, with its environment active: `python benchmarks/compare_checkouts.py ../other`. Each checkout
replays the same selections with its own code, offline. The script prints every judgment and every field of report.json
that differs, and exits with 1 if there are any.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# By name, the options of pytest: together they replay every shipped recording of a kind.
SELECTIONS = {
    "faithful": ["--judge", "simulated-faithful", "-k", "not swap"],
    "noisy": ["--judge", "simulated-noisy", "-k", "not swap"],
    "cued": [
        *(f"--judge=simulated-{name}" for name in ("candid", "silent", "gpt-4o", "gemini-2.5-flash")),
        *("-k", "not (attack or verbosity or bias or swap)"),
    ],
    "weak": [
        *(f"--judge=simulated-{name}" for name in ("verbose", "obedient", "verbose-prepared", "obedient-prepared")),
        *("-k", "accuracy or bias or attack or verbosity or plan"),
    ],
    "graders": [
        *(f"--judge=simulated-grader-{name}" for name in ("faithful", "silent", "candid", "lenient", "noisy")),
        *("-k", "recency or provenance"),
    ],
    "staked": ["--judge", "simulated-grader-staked", "-k", "framing"],
    "worded": ["--judge", "simulated-grader-worded", "-k", "wording"],
    "swap": ["--judge", "simulated-noisy", "--judge-baseline", "simulated-faithful", "-k", "swap and recency"],
}
VOLATILE = {"date", "version", "seconds", "started", "ended", "command"}  # keys that differ from run to run


def replay(checkout: Path, options: list[str], folder: Path) -> None:
    """Replay a selection with a checkout's code and write its report into a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no"]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    subprocess.run(
        [*command, *options, "--judge-report", str(folder)], cwd=checkout, env=environment, stdout=subprocess.DEVNULL
    )


def without_volatile(value: Any) -> Any:
    """Return a JSON value without the keys that differ from run to run."""
    if isinstance(value, dict):
        return {key: without_volatile(each) for key, each in value.items() if key not in VOLATILE}
    return [without_volatile(each) for each in value] if isinstance(value, list) else value


def differences(path: str, old: Any, new: Any) -> Iterator[str]:
    """Yield where two JSON values differ, and how."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old:
                yield f"{path}.{key} is new: {json.dumps(new[key])[:100]}"
            elif key not in new:
                yield f"{path}.{key} is gone: {json.dumps(old[key])[:100]}"
            else:
                yield from differences(f"{path}.{key}", old[key], new[key])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, both in enumerate(zip(old, new, strict=True)):
            yield from differences(f"{path}[{number}]", *both)
    elif old != new:
        yield f"{path}: {json.dumps(old)[:200]} -> {json.dumps(new)[:200]}"


def compare(name: str, old: Path, new: Path) -> int:
    """Print what differs between two reports; return how many differences there are."""
    found: list[str] = []
    for file in ("judgments.jsonl", "pairs.jsonl"):
        before, after = (
            (each / file).read_text().splitlines() if (each / file).exists() else [] for each in (old, new)
        )
        changed = [lines for lines in zip(before, after, strict=False) if lines[0] != lines[1]]
        found += [f"{file}: {len(before)} lines -> {len(after)}"] if len(before) != len(after) else []
        found += [f"{file}: {a[:200]} -> {b[:200]}" for a, b in changed[:5]]
        found += [f"{file}: {len(changed)} lines differ"] if changed else []
    reports = [without_volatile(json.loads((each / "report.json").read_text())) for each in (old, new)]
    found += differences("report", *reports)
    title = f"{name}: {f'{len(found)} differences' if found else 'the same'}"
    sys.stdout.write("\n  ".join([title, *found]) + "\n")
    sys.stdout.flush()
    return len(found)


def main() -> int:
    """Compare this checkout with another one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--only", choices=SELECTIONS, action="append", help="replay this selection only")
    options = parser.parse_args()
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or SELECTIONS:
            old, new = Path(folder, name, "old"), Path(folder, name, "new")
            replay(options.other.resolve(), SELECTIONS[name], old)
            replay(Path(__file__).resolve().parents[1], SELECTIONS[name], new)
            total += compare(name, old, new)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
