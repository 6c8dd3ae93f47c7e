"""Loader of jinja2 templates beside the code."""

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

MACRO = re.compile(r"^\{% macro (\w+)\(.*?^\{% endmacro %\}$", re.MULTILINE | re.DOTALL)
JOINED = re.compile(r"\\\n *")
TAGS_ALONE = re.compile(r"^ *((?:\{%(?:(?!%\}).)*%\} *)+)\n", re.MULTILINE)
MARK, BREAK = "\x1e0", "\x1e1"  # of a value: the character U+001E itself, and a line break
Filters = Mapping[str, Callable[..., object]]


@cache
def load_template(path: Path, **filters: Callable[..., object]) -> Any:
    """Return a file's template; undefined names are errors."""
    return _environment(filters).from_string(path.read_text(encoding="utf-8"))


class Messages:
    """Messages of a package: the macros of a template, each compiled when it is first used.

    `MESSAGES.passed(row)` returns the text of the macro `passed`. A line that has nothing but tags is no line of the
    text. A backslash at the end of a line joins the next one to it, without its indentation. Macros call each other as
    `say.passed(row)`.
    """

    def __init__(self, path: Path, filters: Callable[[], Filters]) -> None:
        self._path, self._filters = path, filters
        self._macros: dict[str, Callable[..., str]] = {}

    def __getattr__(self, name: str) -> Callable[..., str]:
        """Return a macro as a function; its last line break is no part of the text."""
        if name.startswith("_") or name not in self._sources:
            raise AttributeError(name)
        macro = self._macro(name)
        return lambda *values, **named: _unmarked(macro(*values, **named).removesuffix("\n"))

    def lines(self, name: str, *values: object, **named: object) -> list[str]:
        """Return the lines of a macro without empty ones, "" for a dot; a line break within a value ends no line."""
        lines = self._macro(name)(*values, **named).split("\n")
        return ["" if line == "." else _unmarked(line) for line in lines if line]

    def _macro(self, name: str) -> Callable[..., str]:
        if name not in self._macros:
            self._macros[name] = getattr(self._environment.from_string(self._sources[name]).module, name)
        return self._macros[name]

    @cached_property
    def _sources(self) -> dict[str, str]:
        macros = MACRO.finditer(self._path.read_text(encoding="utf-8"))
        return {macro[1]: JOINED.sub("", TAGS_ALONE.sub(r"\1", macro[0])) for macro in macros}

    @cached_property
    def _environment(self) -> Any:
        made = _environment(self._filters())
        made.finalize = _marked
        made.trim_blocks = made.lstrip_blocks = False
        made.globals["say"] = self
        return made


def _environment(filters: Filters) -> Any:
    import jinja2

    made = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= filters
    return made


def _marked(value: object) -> str:
    """Return a value whose line breaks end no line of a macro."""
    return str(value).replace("\x1e", MARK).replace("\n", BREAK)


def _unmarked(text: str) -> str:
    return text.replace(BREAK, "\n").replace(MARK, "\x1e")
