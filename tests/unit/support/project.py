"""A user's repository in a temporary folder: what is written in it, runs of pytest on it, and what they leave."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgefixtures.models.pairs import Pair
from support.forked import WHOLE, run_pytest

REPOSITORY = Path(__file__).parents[3]
SHORT = (
    "-q",
    "-v",
    "--verbosity=0",
    "--collect-only",
    "--judge-preflight",
)  # options with which a run shows what it shows


def suite(*families: str, name: str = "judge") -> str:
    """Return a test module as users write it."""
    return (
        f"import pytest\n\npytestmark = pytest.mark.judge_family({', '.join(map(repr, families))})\n\n\n"
        f"def test_{name}(judge, pairs, contrast, gate):\n    gate.check(judge, pairs, contrast)\n"
    )


def in_pyproject(tables: str) -> str:
    """Return a configuration as it stands in pyproject.toml."""
    return "[tool.judgefixtures]\n" + re.sub(r"^\[(?=\w)", "[tool.judgefixtures.", tables, flags=re.MULTILINE)


def uncontrolled(configuration: str) -> str:
    """Return a configuration with the control switched off: its judges answer by rule, and are not about reading."""
    head = "[tool.judgefixtures]\n"
    before, found, after = configuration.partition(head)
    return f"{before}{head}control = false\n{after}" if found else f"control = false\n{configuration}"


def rows_of(pairs: Iterable[Pair]) -> list[dict[str, Any]]:
    """Return the rows of a pair file."""
    fields = ("id", "question", "response_1", "response_2")
    return [{field: getattr(pair, field) for field in fields} for pair in pairs]


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as a file of JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def read_rows(file: Path) -> list[Any]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of pytest: its exit code, all that it said, where its report is, and pytester's view of it."""

    ret: int
    said: str
    folder: Path
    result: pytest.RunResult | None = None

    @classmethod
    def of(cls, result: pytest.RunResult, folder: Path) -> Ran:
        """Return pytester's result as one of ours."""
        result.reprec = None  # it holds the run's items, and what they left open is told when they are collected
        return cls(int(result.ret), "\n".join([*result.outlines, *result.errlines]), folder, result)

    @property
    def whole(self) -> Ran:
        """This run, which must be free of tracebacks and of pytest's insides."""
        assert "Traceback" not in self.said, self.said
        assert "INTERNALERROR" not in self.said, self.said
        return self

    @property
    def stdout(self) -> pytest.LineMatcher:
        """What it printed, to match lines."""
        return self._result.stdout

    @property
    def stderr(self) -> pytest.LineMatcher:
        """What it printed as errors, to match lines."""
        return self._result.stderr

    @property
    def outlines(self) -> list[str]:
        """The lines that it printed."""
        return self._result.outlines

    def parseoutcomes(self) -> dict[str, int]:
        """Return how many items ended how."""
        return self._result.parseoutcomes()

    def assert_outcomes(self, **outcomes: int) -> None:
        """Assert how many items ended how."""
        self._result.assert_outcomes(**outcomes)

    @property
    def report(self) -> Any:
        """report.json."""
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8"))

    def rows(self, name: str) -> list[Any]:
        """Return the rows of a .jsonl file of the report."""
        return read_rows(self.folder / f"{name}.jsonl")

    @property
    def decision(self) -> tuple[str, list[str]]:
        """The decision that was printed, with all reasons of report.json: the terminal shows the first of them."""
        printed, decided = self.said.partition("\ndecision: ")[2].splitlines(), self.report["decision"]
        assert printed[0] == decided["status"]
        if decided["reasons"]:
            # Which judges fail their control, what it covers and what it does not come first.
            said = [line.strip() for line in printed[1:5]]
            assert decided["reasons"][0] in said or len(self.report["decisions"]) > 1
        return printed[0], decided["reasons"]

    @property
    def _result(self) -> pytest.RunResult:
        assert self.result is not None, "this run was not started by pytester"
        return self.result


class Project:
    """A user's repository, and ways to change, run and look at it.

    `configuration` makes of the arguments of `configure` the text of `file`; `options` belong to every run. A run is
    inside of this process, or `apart` in one of its own; it may show no traceback unless it is `rough`, and finds no
    report of an earlier run if it is `fresh`.
    """

    def __init__(
        self,
        at: pytest.Pytester | Path,
        configuration: Callable[..., str] = str,
        *,
        file: str = "pyproject.toml",
        options: tuple[str, ...] = ("-p", "no:cacheprovider"),
        apart: bool = False,
        rough: bool = False,
        fresh: bool = False,
    ) -> None:
        self.pytester, self.path = (None, at) if isinstance(at, Path) else (at, at.path)
        self.configuration, self.file = configuration, file
        self.options, self.apart, self.rough, self.fresh = options, apart, rough, fresh
        self.cassettes = self.path / "cassettes"

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        file = self.path / name
        file.write_text(text, encoding="utf-8")
        return file

    def write_pairs(self, rows: Iterable[Mapping[str, Any]], name: str = "pairs.jsonl") -> None:
        """Write a pair file."""
        self.write(name, json_lines(rows))

    def copy_tests(self, *names: str) -> None:
        """Copy tests of this repository's own suite."""
        for name in names:
            file = f"test_{name}.py"
            self.write(file, (REPOSITORY / "tests" / "judge" / file).read_text(encoding="utf-8"))

    def configure(self, *arguments: Any, **more: Any) -> None:
        """Write the configuration, with the control switched off unless it says otherwise."""
        text = self.configuration(*arguments, **more)
        self.write(self.file, text if "control" in text else uncontrolled(text))

    def add(self, text: str) -> None:
        """Add tables to the configuration."""
        with (self.path / self.file).open("a", encoding="utf-8") as file:
            file.write(text)

    def run(self, *arguments: str | Path) -> Ran:
        """Run pytest to its end, with the whole summary; under -n in a process of its own in any case."""
        assert self.pytester is not None
        if self.fresh:
            shutil.rmtree(self.path / "report", ignore_errors=True)
        options = [*self.options, *(() if {*SHORT} & {*arguments} else WHOLE), *map(str, arguments)]
        if self.apart or "-n" in options:
            result = run_pytest(self.path, *options)
        else:
            result = self.pytester.runpytest_inprocess(*options)
        ran = Ran.of(result, self.path / "report")
        return ran if self.rough else ran.whole

    def ids(self, *arguments: str) -> list[str]:
        """Return the ids of the items that a run would choose."""
        return [line for line in self.run("--collect-only", "-q", *arguments).outlines if "::" in line]

    def rows(self, name: str) -> list[Any]:
        """Return the rows of a file of JSON lines."""
        return read_rows(self.path / name)

    def report(self, folder: str = "report") -> Any:
        """Return report.json."""
        return json.loads((self.path / folder / "report.json").read_text(encoding="utf-8"))

    def cassette(self, condition: str, judge: str = "ours", dataset: str = "own") -> Path:
        """Return the path of a condition's recording."""
        return self.cassettes / judge / dataset / f"{condition}.jsonl"

    def tree(self) -> dict[str, str]:
        """Return a digest of every file, without what pytest itself leaves behind."""
        return {
            str(file.relative_to(self.path)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(self.path.rglob("*"))
            if file.is_file() and not {"__pycache__", ".pytest_cache"} & {*file.parts}
        }


def small_project(
    pytester: pytest.Pytester, configuration: Callable[[str], str], judge: str, *families: str
) -> Project:
    """Return a project of 12 pairs and a judge in mine.py, with a test module for each family, run in own processes."""
    options = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    project = Project(pytester, configuration, options=options, apart=True, rough=True)
    project.write_pairs(
        {"id": f"p{n:02}", "question": f"q{n}", "response_1": "a", "response_2": "b", "gold": 1 + n % 2}
        for n in range(12)
    )
    project.write("mine.py", judge)
    project.configure()
    for family in families:
        project.write(f"test_{family}.py", suite(family))
    return project
