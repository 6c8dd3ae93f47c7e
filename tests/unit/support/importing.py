"""Imports as their users make them: the command over rows, a run of the imported judge, and what lies on the disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from judgefixtures.__main__ import main
from support.project import Project, Ran, json_lines, read_rows

Rows = list[dict[str, Any]]


def importer(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what imports rows as the command does, and returns what it says; `code` is the exit code it must have."""

    def taken(rows: Any, *arguments: str, judge: str = "mine", code: int = 0, name: str = "answers.jsonl") -> str:
        text = rows if isinstance(rows, str) else json_lines(rows) if name.endswith("l") else json.dumps(rows)
        project.write(name, text)
        chosen = arguments if {"--dataset", "--pairs"} & {*arguments} else (*arguments, "--dataset", "own")
        capsys.readouterr()
        assert main(["import", name, "--judge", judge, *chosen]) == code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return said.err if code else said.out

    return taken


def run(project: Project, *arguments: str) -> Ran:
    """Run the judge `mine`, with a report."""
    return project.run("--judge", "mine", "--judge-report", "report", *arguments)


def answers(project: Project, dataset: str = "own") -> Rows:
    """Return the imported answers of `mine`, without their digests."""
    rows = read_rows(project.cassettes / "mine" / dataset / "imported.jsonl")[1:]
    return [{key: value for key, value in row.items() if key != "shown"} for row in rows]
