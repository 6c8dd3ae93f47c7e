"""Imports as their users make them: the command over rows, a run of the imported judge, and what lies on the disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from judgefixtures.cli.main import main
from judgefixtures.importers import ImportRequest, import_log
from judgefixtures.importers.formats.loaded_file import ExportFormat, LoadedFile, normalized_row
from judgefixtures.importers.import_result import ImportResult
from judgefixtures.sources.row_readers import DataRow
from support.project import Project, Ran, in_pyproject, json_lines, read_rows

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


def bare(pytester: pytest.Pytester) -> Project:
    """Return a user's repository without any table, and with the suite's test of agreement."""
    project = Project(pytester, lambda tables="": in_pyproject(tables), fresh=True)
    project.copy_tests("agreement")
    project.configure("")
    return project


def importer_of(data: Path, into: Path, monkeypatch: pytest.MonkeyPatch, **usual: Any) -> Callable[..., ImportResult]:
    """Return what imports a file of a folder, or another one, as `mine` and returns what was done."""
    monkeypatch.chdir(into)

    def taken(file: str | Path, **more: Any) -> ImportResult:
        request = ImportRequest((data / file,), judge="mine", dataset="own", into=into / "cassettes")
        return import_log(replace(request, **(usual | more)))

    return taken


class Tool(ExportFormat):
    """A tool that is nobody's: each of its rows is what `judged` makes of its own fields."""

    name: ClassVar[str] = "inspect"  # whose words it borrows

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Tell whether there are judgements."""
        return isinstance(held.value, dict) and "judgements" in held.value

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return them."""
        return [
            normalized_row(row, **({"metric": "tone"} | row.fields)) for row in held.numbered(held.value["judgements"])
        ]


def run(project: Project, *arguments: str) -> Ran:
    """Run the judge `mine`, with a report."""
    return project.run("--judge", "mine", "--judge-report", "report", *arguments)


def answers(project: Project, dataset: str = "own") -> Rows:
    """Return the imported answers of `mine`, without their digests."""
    rows = read_rows(project.cassettes / "mine" / dataset / "imported.jsonl")[1:]
    return [{key: value for key, value in row.items() if key != "shown"} for row in rows]
