"""Collection of named tests: with collect = "named", judge items run only if the command names them.

`addopts` and PYTEST_ADDOPTS do not count as naming.
"""

import argparse
import ast
import os
import re
from collections.abc import Generator, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from judgefixtures.models.check_registry import ALONE, REGISTRY
from judgefixtures.util.shell import SUITE, quoted

from .items import ITEM, mark_of
from .rootdir import command_line_only, home_of, root_options, tables_in, written_table

MARKED = "mark.judge_"
WORDS = ("cue", "cues", "swap", "noise", "bias")  # of -k, beside families and the names of checks


class OptInCollector:
    """Leaves out judge tests that the command does not name."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._left: set[Path] = set()

    @cached_property
    def is_needed(self) -> bool:
        """Whether only a path can name judge tests."""
        return self._table.get("collect") == "named" and not self._has_named

    def leaves_out(self, path: Path, session: pytest.Session) -> bool:
        """Return whether a file's judge tests are left out."""
        return self.is_needed and not (self._is_path_given(path, session) or self._failed_before(path))

    @property
    def note(self) -> str:
        """A line on omitted tests, or ""."""
        if not self._left:
            return ""
        places = sorted({self._suite if self._suite in file.parents else file for file in self._left})
        here = self._config.invocation_params.dir
        command = " ".join(
            ["pytest", *root_options(self._config), *(quoted(os.path.relpath(place, here)) for place in places)]
        )
        files = "1 file of judge tests" if len(self._left) == 1 else f"{len(self._left)} files of judge tests"
        return f'not collected: {files} (collect = "named"). To run them: {command}'

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Generator[None, list[Any], list[Any]]:
        """Leave a judge test module unread; import mixed ones."""
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
        """Remove judge items from a mixed module."""
        made = yield
        if not isinstance(made, list) or not any(map(_is_of_judge, made)):
            return made
        if not self.leaves_out(collector.path, collector.session):
            return made
        self._left.add(collector.path)
        return [each for each in made if not _is_of_judge(each)]

    @cached_property
    def _suite(self) -> Path:
        return self.home / SUITE

    @cached_property
    def home(self) -> Path:
        """The repository, which may differ from the rootdir."""
        return home_of(self._config)

    @cached_property
    def _typed(self) -> argparse.Namespace:
        ours = [dest for dest in vars(self._config.option) if dest.startswith("judge_")]
        return command_line_only(self._config, argparse.Namespace(**dict.fromkeys([*ours, "keyword", "markexpr"])))

    @property
    def typed_options(self) -> list[str]:
        """The names of our typed options."""
        return [name for name, given in vars(self._typed).items() if name.startswith("judge_") and given is not None]

    @cached_property
    def _has_named(self) -> bool:
        typed = vars(self._typed)
        if self.typed_options:
            return True
        marks = {kind.mark for kind in REGISTRY}
        if any(word in marks for word in positive_words(typed["markexpr"] or "")):
            return True
        return any(word in marks or self._is_known(word) for word in positive_words((typed["keyword"] or "").lower()))

    def _is_known(self, word: str) -> bool:
        from judgefixtures.models.contrasts import OTHER_FAMILIES
        from judgefixtures.models.cues import FAMILIES

        families = {**FAMILIES, **tables_in(self._table.get("cues"))}
        known = {*families, *OTHER_FAMILIES, *WORDS, *(kind.name for kind in ALONE)}
        word = word.removeprefix("test_")
        first, *labels = word.split("-")
        if word in known or (labels and first in known):
            return True
        return bool(labels) and any({first, *labels} <= {*each} for each in families.values())

    def _is_path_given(self, path: Path, session: pytest.Session) -> bool:
        """Accept a path to the file or folder, or one narrower than plain `pytest`."""
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
        root = self._config.rootpath
        plain = [root / each for each in self._config.getini("testpaths")] or [root]
        return not all(each.is_relative_to(folder) for each in plain)

    def _failed_before(self, path: Path) -> bool:
        if not self._config.getoption("lf", False) or self._config.cache is None:
            return False
        failed = self._config.cache.get("cache/lastfailed", {})
        return any(self._config.rootpath / name.partition("::")[0] == path for name in failed)

    @cached_property
    def _table(self) -> Mapping[str, Any]:
        given = self._config.option.judge_config
        return written_table(
            self.home / "pyproject.toml" if given is None else self._config.invocation_params.dir / given
        )


BY_NAME = pytest.StashKey[OptInCollector]()


def positive_words(expression: str) -> Iterator[str]:
    """Yield the words of a -k or -m expression without `not`.

    >>> list(positive_words("cue and not (recency or not placebo)"))
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


def _is_of_judge(made: Any) -> bool:
    return ITEM in getattr(made, "fixturenames", ()) and mark_of(made) is not None


def _has_judge_tests_alone(file: Path) -> bool:
    try:
        source = file.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError):  # pytest says what is wrong with it
        return False
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = [each for each in functions if each.name.startswith("test")]
    takes_gate = all("gate" in {given.arg for given in each.args.args} for each in tests)
    return MARKED in source and bool(tests) and takes_gate
