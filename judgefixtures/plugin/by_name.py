"""By name: where collect = "named", a run has judge items only if its command names them. Whether it does is told here.

Any other run is the repository's own: nothing of ours is read, imported or refused in it, and a line at its end says
what was left out. `addopts` and PYTEST_ADDOPTS are in every run: what stands there names nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import tomllib
from collections.abc import Generator, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from judgefixtures.material.registry import ALONE, REGISTRY
from judgefixtures.plugin.items import ITEM, mark_of
from judgefixtures.plugin.rootdir import parse_again
from judgefixtures.words.commands import SUITE, quoted

MARKED = "mark.judge_"
WORDS = ("cue", "cues", "swap", "noise", "bias")  # of -k, beside families and the names of checks
NAMED = re.compile(r"^\s*collect\s*=\s*[\"']named[\"']", re.MULTILINE)


class ByName:
    """Knows whether a command names judge tests, and takes those out that it has to name and does not."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._left: set[Path] = set()

    @cached_property
    def is_needed(self) -> bool:
        """Whether judge tests have to be named in this run by their paths: no option and no word names them."""
        return self._table.get("collect") == "named" and not self._has_named

    def leaves_out(self, path: Path, session: pytest.Session) -> bool:
        """Return whether the judge tests of a file are left out."""
        return self.is_needed and not (self._is_path_given(path, session) or self._failed_before(path))

    @property
    def note(self) -> str:
        """What was left out, in a line; empty where nothing was."""
        if not self._left:
            return ""
        places = sorted({self._suite if self._suite in file.parents else file for file in self._left})
        here = self._config.invocation_params.dir
        command = " ".join(["pytest", *(quoted(os.path.relpath(place, here)) for place in places)])
        files = "1 file of judge tests" if len(self._left) == 1 else f"{len(self._left)} files of judge tests"
        return f'left out: {files}, which this command does not name (collect = "named"); to run them: {command}'

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Generator[None, list[Any], list[Any]]:
        """Leave a module of the suite out unread; one that has other tests, too, is imported for these."""
        made = yield
        if not made or self._suite not in file_path.parents or not self.leaves_out(file_path, parent.session):
            return made
        # pytest makes collectors of all files of a folder, also for the sake of one.
        is_asked_for = any(map(parent.session.isinitpath, (file_path, *file_path.parents)))
        if not is_asked_for or not _has_judge_tests_alone(file_path):
            return made
        self._left.add(file_path)
        return []

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self, collector: Any) -> Generator[None, Any, Any]:
        """Take judge items out, and leave what else there is in their module."""
        made = yield
        if not isinstance(made, list) or not any(map(_is_of_judge, made)):
            return made
        if not self.leaves_out(collector.path, collector.session):
            return made
        self._left.add(collector.path)
        return [each for each in made if not _is_of_judge(each)]

    @cached_property
    def _suite(self) -> Path:
        return self._home / SUITE

    @cached_property
    def _home(self) -> Path:
        """The repository: pytest may take a folder in it for its root, as one with settings of its own."""
        here = self._config.rootpath
        return next((each for each in (here, *here.parents) if _written(each / "pyproject.toml")), here)

    @cached_property
    def _typed(self) -> argparse.Namespace:
        """What was typed after `pytest`; an option that was not is None."""
        ours = [dest for dest in vars(self._config.option) if dest.startswith("judge_")]
        return parse_again(self._config, argparse.Namespace(**dict.fromkeys([*ours, "keyword", "markexpr"])))

    @cached_property
    def _has_named(self) -> bool:
        """Whether an option of ours was typed, or a word of -k or -m that is one of judge tests."""
        typed = vars(self._typed)
        if any(value is not None for dest, value in typed.items() if dest.startswith("judge_")):
            return True
        marks = {kind.mark for kind in REGISTRY}
        if any(word in marks for word in wanted(typed["markexpr"] or "")):
            return True
        return any(word in marks or self._is_known(word) for word in wanted((typed["keyword"] or "").lower()))

    def _is_known(self, word: str) -> bool:
        """Return whether a word of -k is a family, a contrast or a check: `recency`, `expert-llm`, `accuracy`."""
        from judgefixtures.material.contrasts import OTHER_FAMILIES
        from judgefixtures.material.cues import FAMILIES

        families = {**FAMILIES, **_tables_in(self._table.get("cues"))}
        known = {*families, *OTHER_FAMILIES, *WORDS, *(kind.name for kind in ALONE)}
        word = word.removeprefix("test_")
        first, *labels = word.split("-")
        if word in known or (labels and first in known):
            return True
        return bool(labels) and any({first, *labels} <= {*each} for each in families.values())

    def _is_path_given(self, path: Path, session: pytest.Session) -> bool:
        """Return whether a path was typed, or pytest was started in one, that means the judge tests of a file.

        That is the file itself, or a test in it; tests/judge or a folder in that; or the file's own folder, if plain
        `pytest` would collect more.
        """
        source = self._config.args_source
        if source is pytest.Config.ArgsSource.TESTPATHS:
            return False
        if source is pytest.Config.ArgsSource.ARGS and not self._typed.file_or_dir:
            return False
        inside = [folder for folder in (path, *path.parents) if folder.is_relative_to(self._suite)]
        alone = [path.parent] if self._is_a_part(path.parent) else []
        here = self._config.invocation_params.dir
        # pytest forgets a path that lies in another one of the command.
        typed = {Path(os.path.normpath(here / argument.partition("::")[0])) for argument in self._typed.file_or_dir}
        return any(session.isinitpath(each) or each in typed for each in (path, *inside, *alone))

    def _is_a_part(self, folder: Path) -> bool:
        """Return whether plain `pytest` would collect more than a folder."""
        root = self._config.rootpath
        plain = [root / each for each in self._config.getini("testpaths")] or [root]
        return not all(each.is_relative_to(folder) for each in plain)

    def _failed_before(self, path: Path) -> bool:
        """Return whether --lf is to repeat a test of a file."""
        if not self._config.getoption("lf", False) or self._config.cache is None:
            return False
        failed = self._config.cache.get("cache/lastfailed", {})
        return any(self._config.rootpath / name.partition("::")[0] == path for name in failed)

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        """The table of the configuration as it is written, unchecked: a run that names no judge refuses none."""
        given = self._config.option.judge_config
        return _written(self._home / "pyproject.toml" if given is None else self._config.invocation_params.dir / given)


BY_NAME = pytest.StashKey[ByName]()


def _written(file: Path) -> Mapping[str, Any]:
    """Return our table as a file has it; empty where it has none, or cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    try:
        held = tomllib.loads(text)
    except ValueError:  # a run that names judges says what is wrong
        return {"collect": "named"} if NAMED.search(text) else {}
    if file.name == "pyproject.toml" or {*held} == {"tool"}:
        held = _tables_in(_tables_in(held).get("tool")).get("judgefixtures", {})
    return held


def wanted(expression: str) -> Iterator[str]:
    """Yield the words of an expression of -k or -m that no `not` stands before.

    >>> list(wanted("cue and not (recency or not placebo)"))
    ['cue', 'placebo']
    """
    unwanted, around, negated = False, [], False
    for token in re.findall(r"[()]|[^\s()]+", expression):
        if token == "not":
            negated = not negated
        elif token == "(":
            around.append(unwanted)
            unwanted, negated = unwanted != negated, False
        elif token == ")":
            unwanted = around.pop() if around else False
        elif token not in ("and", "or"):
            if unwanted == negated:
                yield token
            negated = False


def _tables_in(value: Any) -> dict[str, dict[str, Any]]:
    """Return what a table holds that is a table; nothing of any other value."""
    held = value.items() if isinstance(value, dict) else ()
    return {name: table for name, table in held if isinstance(table, dict)}


def _is_of_judge(made: Any) -> bool:
    """Return whether what pytest made of a function is a judge item."""
    return ITEM in getattr(made, "fixturenames", ()) and mark_of(made) is not None


def _has_judge_tests_alone(file: Path) -> bool:
    """Return whether a module has judge tests and no others: each of its tests takes the fixture `gate`."""
    try:
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError):  # pytest says what is wrong with it
        return False
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = [each for each in functions if each.name.startswith("test")]
    takes_gate = all("gate" in {given.arg for given in each.args.args} for each in tests)
    return MARKED in source and bool(tests) and takes_gate
