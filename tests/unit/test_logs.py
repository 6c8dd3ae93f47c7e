"""Files that other tools wrote: each is known by what it holds, and by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgefixtures.importers.formats import EXPORTS
from judgefixtures.importers.formats.loaded_file import load_file
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError

LOGS = Path(__file__).with_name("data") / "logs"
WRITTEN = (".json", ".jsonl", ".csv", ".parquet", ".eval")
REFUSED = ("0.121.20-small.csv",)  # with what to write in its place
UNMARKED = ("0.29-evals.json", "0.29-hallucination.csv")  # columns that are anybody's
FILES = sorted(file for file in LOGS.glob("*/*") if file.suffix in WRITTEN and file.name not in REFUSED)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_a_file_is_one_tools(file: Path) -> None:
    """A file is claimed by the tool that wrote it and by no other; without a mark of one it is a plain log."""
    held = load_file(file)
    tools = [name for name, export in EXPORTS.items() if export.claims(held)]
    assert tools == ["jsonl"] if file.name in UNMARKED else tools == [file.parent.name, "jsonl"]


def test_every_tool_has_files() -> None:
    """No export is without a file of its tool."""
    assert {file.parent.name for file in FILES} == EXPORTS.keys() - {"jsonl"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_says_too_little_is_refused(name: str) -> None:
    """What holds no judgement by judgement is refused with the command that writes what does."""
    (file,) = LOGS.rglob(name)
    with pytest.raises(JudgeFixturesError, match=r"promptfoo eval -o results\.json"):
        read_log(file)
