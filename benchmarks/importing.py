"""What importing a large log costs: CPU time and memory of `judgefixtures import`, beside reading the same file alone.

    python benchmarks/importing.py [--rows 100000]

Graded logs with their texts (question 100 characters, response 600, reason 200) as CSV, JSON lines and Parquet, the
same without texts and with --pairs, and choices between two responses in both orders; each imported in a process of its
own. The ratio is to the library that reads the format (csv, json, pyarrow), over the same file in the same run. Exit
code 1 where an import takes more than 20 s of CPU time, or 500 MB.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

MOST_SECONDS, MOST_MEGABYTES = 20.0, 500.0
WORDS = ("alpha", "beta", "gamma,", "delta.", "epsilon\n", "zeta", '"eta"', "theta", "é", "iota", "kappa", "lambda")
Rows = list[dict[str, Any]]


def text(draw: random.Random, length: int) -> str:
    """Return some words of a length."""
    return " ".join(draw.choices(WORDS, k=length // 4))[:length].strip()


def grades(n: int) -> Rows:
    """Return the rows of a graded log with its texts and labels."""
    draw = random.Random(0)
    return [
        {
            "id": f"e{each:06}",
            "question": f"{text(draw, 100)} {each}?",
            "response": text(draw, 600),
            "verdict": draw.choice(["pass", "fail"]),
            "label": draw.choice(["pass", "fail"]),
            "reason": text(draw, 200),
        }
        for each in range(n)
    ]


def choices(n: int) -> Rows:
    """Return the rows of a log of choices: each pair in both orders."""
    draw, rows = random.Random(0), []
    for each in range(n // 2):
        question, one, other = f"{text(draw, 100)} {each}?", text(draw, 300), text(draw, 300)
        for order, shown in (("1-2", (one, other)), ("2-1", (other, one))):
            said = {"order": order, "selected_response": draw.choice([1, 2]), "reason": text(draw, 200)}
            texts = {"question": question, "response_1": shown[0], "response_2": shown[1]}
            rows.append({"id": f"p{each:06}", **texts, **said})
    return rows


def written(rows: Rows, path: Path) -> Path:
    """Write rows in the format of a file's name."""
    match path.suffix:
        case ".csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        case ".jsonl":
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        case ".parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def read_parquet(path: Path) -> int:
    """Return the number of rows that pyarrow reads."""
    from pyarrow import parquet

    return len(parquet.read_table(path).to_pylist())


def read_lines(path: Path) -> int:
    """Return the number of lines that are JSON."""
    with path.open(encoding="utf-8") as file:
        return sum(1 for line in file if json.loads(line))


def read_cells(path: Path) -> int:
    """Return the number of rows of a CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file))


READERS: dict[str, Callable[[Path], int]] = {".csv": read_cells, ".jsonl": read_lines, ".parquet": read_parquet}


def spent(run: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds and the megabytes that a process of its own takes for something."""
    child = os.fork()
    if not child:
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit("a process failed: what it said stands above")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def imported(*arguments: str) -> None:
    """Import in this process, which becomes the command."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.executable, [sys.executable, "-m", "judgefixtures", "import", *arguments])


def make_files(folder: Path, rows: int) -> None:
    """Write all logs, and the examples that some are about."""
    graded = grades(rows)
    bare = [{key: row[key] for key in ("id", "verdict", "reason")} for row in graded]
    examples = [{key: row[key] for key in ("id", "question", "response", "label")} for row in graded]
    logs = {"grades": graded, "grades-pairs": bare, "choices": choices(rows), "examples": examples}
    for suffix in READERS:
        for name, log in logs.items():
            written(log, folder / f"{name}{suffix}")


def main() -> int:
    """Print a row per log; return 1 where one takes too long, or too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    rows, worst, most = parser.parse_args().rows, 0.0, 0.0
    print("| log | MB | reading alone, s | import, CPU s | ratio | peak MB |\n|---|---|---|---|---|---|", flush=True)  # noqa: T201
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        spent(lambda: make_files(folder, rows))  # not here: a process has the memory of the one that it is forked from
        for suffix, reader in READERS.items():
            for name in ("grades", "grades-pairs", "choices"):
                log = folder / f"{name}{suffix}"
                more = ["--pairs", str(folder / f"examples{suffix}")] if name == "grades-pairs" else []
                alone, _ = spent(partial(reader, log))
                into = str(folder / f"{log.name}-answers")
                seconds, megabytes = spent(partial(imported, str(log), *more, "--judge", "large", "--into", into))
                worst, most = max(worst, seconds), max(most, megabytes)
                figures = (f"{log.stat().st_size / 2**20:.0f}", f"{alone:.2f}", f"{seconds:.1f}")
                cells = (log.name, *figures, f"{seconds / alone:.0f}", f"{megabytes:.0f}")
                print(f"| {' | '.join(cells)} |", flush=True)  # noqa: T201
    return int(worst > MOST_SECONDS or most > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
