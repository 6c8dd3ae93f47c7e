"""Write docs/reference/ from the code: options, commands, configuration, reports, exit codes, files and Python names.

Sentences come from help texts and docstrings, and from reference.toml beside this file for whatever has neither.
Types and signatures are read from the source as it is written, so that the pages are the same with every version of
Python and whatever is installed. `make reference` runs this; `--check` names the pages that are stale.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import judgefixtures
from judgefixtures.cli.main import build_parser
from judgefixtures.config import run_tables
from judgefixtures.models import check_rows, judgment_rows, swap_rows
from judgefixtures.models.record import UNWRITTEN, WHERE_ANY
from judgefixtures.plugin.gate import Gate
from judgefixtures.plugin.items import MARKS
from judgefixtures.plugin.options import add_options
from judgefixtures.prompts.templates import LAYOUTS, WORDINGS
from judgefixtures.providers import judge_table
from judgefixtures.report.sections import SECTIONS
from judgefixtures.simulator.__main__ import build_parser as build_simulator_parser
from judgefixtures.sources.known_sources import NAMED

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GENERATED = "<!-- Written by `make reference`: change the code or tools/reference.toml, not this page. -->"
JSON_NAMES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"}
JSON_NAMES |= dict.fromkeys(("Status", "SwapStatus", "ComponentKind", "ComponentRole"), "string")
HOMES = (judge_table, run_tables, check_rows, judgment_rows, swap_rows)


def classes_of(*names: str) -> list[Any]:
    """Return tables of the configuration or rows of a report by the names of their classes."""
    return [next(getattr(home, name) for home in HOMES if hasattr(home, name)) for name in names]


TABLES: dict[str, type[BaseModel]] = dict(zip(TEXTS["tables"], classes_of(*TEXTS["tables"].values()), strict=True))


@dataclass(frozen=True)
class Entry:
    """One thing that a page explains: its name, its type or default, and a sentence."""

    name: str
    text: str
    kind: str = ""

    def __str__(self) -> str:
        names = code_list([self.name] if "(" in self.name else self.name.split(", "))
        kind = f" ({self.kind})" if self.kind else ""
        return f"- {names}{kind}: {as_sentence(self.text)}"


def as_sentence(text: str) -> str:
    """Return a text with options as code, a capital at its beginning and a full stop at its end."""
    text = re.sub(r"(`[^`]*`)|(--[a-z][a-z-]*|\[\[?tool\.[\w.]+\]?\])", lambda found: found[1] or f"`{found[2]}`", text)
    first = text[:1].upper() if re.match(r"[a-z]{2,} |a ", text) else text[:1]
    return f"{first}{text[1:]}" + ("" if not text or text.endswith((".", "?", "!", ":")) else ".")


def first_line(thing: Any) -> str:
    """Return the main clause of a docstring's first line, without the word "Return"; empty without a docstring."""
    line = re.split(r"\. |;|\n", inspect.getdoc(thing) or "")[0].removeprefix("Return ")
    clause = line.partition(": ")[0]
    return clause if len(clause.split()) > 4 else line


def section(title: str, entries: Iterable[Entry], intro: str = "", level: int = 2) -> str:
    """Return a part of a page: its heading, a sentence and a list."""
    parts = [f"{'#' * level} {title}", as_sentence(intro), "\n".join(map(str, entries))]
    return "\n\n".join(part for part in parts if part)


def page(title: str, intro: str, *parts: str) -> str:
    """Return a whole page."""
    return "\n\n".join([GENERATED, f"# {title}", intro, *parts]) + "\n"


def texts_of(*path: str) -> list[Entry]:
    """Return the entries of a table of reference.toml as they stand."""
    table = TEXTS
    for name in path:
        table = table[name]
    return [Entry(name, *([text] if isinstance(text, str) else reversed(text))) for name, text in table.items()]


# --- options and commands ---------------------------------------------------------------------------------------


class OptionRecorder:
    """Takes the plugin's options as pytest's parser does, whose help depends on the width of a terminal."""

    def __init__(self) -> None:
        self.groups: dict[str, list[Entry]] = {}

    def getgroup(self, name: str, description: str = "") -> OptionRecorder:
        """Begin a group of options."""
        self.groups[description or name] = []
        return self

    def addoption(self, flag: str, **option: Any) -> None:
        """Add an option to the last group."""
        word = option.get("metavar") or "|".join(option.get("choices", ()))
        list(self.groups.values())[-1].append(Entry(f"{flag} {word}".strip(), option["help"]))


def options_page() -> str:
    """Return the page of pytest's options and of the environment."""
    recorder = OptionRecorder()
    add_options(recorder)  # type: ignore[arg-type]  # it needs no more of a parser
    groups = [section(title[:1].upper() + title[1:], entries) for title, entries in recorder.groups.items()]
    refused = section("Refused combinations", (), TEXTS["refused"])
    return page(
        "Options of pytest",
        "`pytest --help` shows the same options.",
        *groups,
        refused,
        section("Marks", [Entry(name, text) for name, text in MARKS.items()]),
        section("Environment variables", texts_of("environment")),
    )


def command_sections(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    """Yield the part of a command, and those of its subcommands."""
    options: list[Entry] = []
    inner: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner = action.choices
        elif action.dest != "help":
            names = "/".join(action.option_strings) or str(action.metavar or action.dest)
            words = action.metavar if action.metavar is not None else "|".join(map(str, action.choices or ()))
            words = words if isinstance(words, str) else " ".join(words)
            shown = f"{names} {words}".strip() if action.option_strings else names
            options.append(Entry(shown, (action.help or "").replace("%%", "%")))
    intro = "" if inner and not options else " ".join(filter(None, [parser.description, parser.epilog]))
    if options or not inner:
        yield section(f"`{name}`", options, intro)
    for word, each in inner.items():
        yield from command_sections(each, f"{name} {word}")


def commands_page() -> str:
    """Return the page of the commands."""
    parsers = {"judgefixtures": build_parser(), "python -m judgefixtures.simulator": build_simulator_parser()}
    parts = itertools.chain.from_iterable(command_sections(parser, name) for name, parser in parsers.items())
    return page("Commands", TEXTS["intros"]["commands"], *parts)


# --- configuration ----------------------------------------------------------------------------------------------


def schema_type(schema: Mapping[str, Any]) -> str:
    """Return what a key takes, in the words of TOML."""
    for several in ("anyOf", "enum"):
        if several in schema:
            kinds = [schema_type(each if isinstance(each, dict) else {"const": each}) for each in schema[several]]
            shown = "|".join(dict.fromkeys(each for each in kinds if each not in ("", "null")))
            return shown.replace("`|`", "|")
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    kind = str(schema.get("format") or schema.get("type") or ("table" if "$ref" in schema else ""))
    if kind == "array":
        inner = schema_type(schema.get("items", {}))
        return f"list of {inner}" if inner else "list"
    return {"object": "table", "": "any"}.get(kind, kind)


def default_of(table: type[BaseModel], key: str) -> str:
    """Return the default of a key as TOML has it; empty where nothing is set."""
    value: Any = table.model_fields[key].get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", [], {}, ()) or isinstance(value, BaseModel):
        return ""
    return f"`{json.dumps(value)}`"


def keys_of(heading: str) -> Iterator[Entry]:
    """Yield the keys of a table, those that it shares with [gate] left out."""
    table, texts = TABLES[heading], TEXTS["configuration"][heading]
    shared = run_tables.GateTable.model_fields if table is not run_tables.GateTable else {}
    schema = table.model_json_schema()["properties"]
    for key in table.model_fields:
        if key not in shared or key in texts:
            kind = ", ".join(filter(None, [schema_type(schema[key]), default_of(table, key)]))
            yield Entry(key, texts.get(key, ""), kind)
    yield from (Entry(key, text) for key, text in texts.items() if key not in table.model_fields)


def configuration_page() -> str:
    """Return the page of the configuration's keys and of the names that are built in."""
    parts = [section(heading, keys_of(heading)) for heading in TABLES]
    cues = section("[cues.NAME]", texts_of("configuration", "[cues.NAME]"), TEXTS["intros"]["cues"])
    return page("Configuration", TEXTS["intros"]["configuration"], *parts, cues, built_in())


def built_in() -> str:
    """Return the part that lists the names of what comes with the package."""
    run, texts = judgefixtures.Run.from_config(None), TEXTS["built_in"]
    config, others = run.config, [name for name in run.families if name not in run.config.cues]
    names = {"Other families": others, "Judges": config.judges, "Datasets": config.datasets, "Known sources": NAMED}
    for mode, layout in LAYOUTS.items():
        names |= {f"Templates, {mode}": layout.built_in, f"Slots, {mode}": [f"{{{slot}}}" for slot in layout.slots]}
    names["Wordings"] = WORDINGS
    lines = [f"- {kind}: {code_list(of)}. {texts.get(kind, '')}".strip() for kind, of in names.items()]
    families = [f"- Cue family `{name}`: {code_list(labels)}." for name, labels in config.cues.items()]
    return "\n\n".join(["## Built-in names", "\n".join([*families, *lines])])


def code_list(names: Iterable[str]) -> str:
    """Return names as code with commas between."""
    return ", ".join(f"`{name}`" for name in names)


# --- report fields ----------------------------------------------------------------------------------------------


@cache
def source_of(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def definition(thing: Any) -> Any:
    """Return the syntax of a class or function where it is defined."""
    body: list[ast.stmt] = source_of(thing.__module__).body
    for name in thing.__qualname__.split("."):
        found = next(each for each in ast.walk(ast.Module(body, [])) if getattr(each, "name", "") == name)
        body = getattr(found, "body", [])
    return found


def written_types(record: type) -> dict[str, tuple[ast.expr, type]]:
    """Return the annotation of each field of a record as it is written, and the class that has it."""
    types = {}
    for base in reversed([each for each in record.__mro__ if is_dataclass(each)]):
        for line in definition(base).body:
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                types[line.target.id] = (line.annotation, base)
    return types


def json_type(node: ast.expr | None, home: type, seen: list[type]) -> str:
    """Return an annotation in the words of JSON, with a link for a record, which is added to those seen."""
    match node:
        case ast.BinOp(right=ast.Constant(value=None)):
            kind, of, inner = json_type(node.left, home, seen).partition(" of ")
            return f"{kind}?{of}{inner}"
        case ast.BinOp():
            return f"{json_type(node.left, home, seen)} or {json_type(node.right, home, seen)}"
        case ast.Constant():
            return f"`{json.dumps(node.value)}`" if node.value is not None else "null"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
            return " or ".join(json_type(each, home, seen) for each in getattr(values, "elts", [values]))
        case ast.Subscript(value=ast.Name(id=name), slice=inside):
            first, *others = getattr(inside, "elts", [inside])
            if name == "tuple" and ast.unparse(others[-1]) != "...":
                return "list"
            several, each = ("object", others[0]) if name in ("Mapping", "dict") else ("list", first)
            return f"{several} of {json_type(each, home, seen)}"
        case ast.Name(id=name):
            value = getattr(importlib.import_module(home.__module__), name, None)
            if is_dataclass(value) and isinstance(value, type):
                seen += [value] if value not in seen else []
                return f"[{name}](#{name.lower()})"
            return JSON_NAMES.get(name, "object" if name in ("Row", "ByArm") else "any")
    raise TypeError(f"{home.__name__}: no JSON type for {ast.unparse(node) if node else node}")


def fields_of(record: type, seen: list[type]) -> list[Entry]:
    """Return the fields of a record that are written, with the common sentence where they have none of their own."""
    texts = {name: text for base in reversed(record.__mro__) for name, text in REPORT.get(base.__name__, {}).items()}
    types, entries = written_types(record), []
    for each in fields(record):
        if UNWRITTEN not in each.metadata:
            kind = json_type(*types[each.name], seen)
            optional = ", optional" if WHERE_ANY in each.metadata else ""
            entries.append(Entry(each.name, texts.get(each.name) or COMMON.get(each.name, ""), kind + optional))
    return entries


REPORT: dict[str, Any] = TEXTS["report"]
COMMON: dict[str, str] = REPORT["common"]
COMMON_TYPES: dict[str, str] = {}  # of each common field, by the first record that has it


def record_part(record: type, seen: list[type], intro: str = "") -> str:
    """Return the part of a record: common fields by their names alone, its own with a sentence each."""
    entries = fields_of(record, seen)
    shared = [each for each in entries if each.text == COMMON.get(each.name)]
    for each in shared:
        COMMON_TYPES.setdefault(each.name, each.kind.removesuffix(", optional"))
    shared = [each for each in shared if COMMON_TYPES[each.name] == each.kind.removesuffix(", optional")]
    parents = [base for base in record.__mro__[1:] if base in seen and base.__name__ in REPORT]
    known = {each.name for base in parents[:1] for each in fields_of(base, seen)}
    lines = [f"- All fields of [{parents[0].__name__}](#{parents[0].__name__.lower()})."] if parents else []
    names = [each.name for each in shared if each.name not in known]
    lines += [f"- [Common fields](#common-fields): {code_list(names)}."] if names else []
    lines += [str(each) for each in entries if each not in shared and each.name not in known]
    return "\n\n".join(filter(None, [f"### {record.__name__}", as_sentence(intro), "\n".join(lines)]))


def report_fields_page() -> str:
    """Return the page of what stands in a report's files."""
    seen: list[type] = []
    top = texts_of("report", "report.json")
    for each in SECTIONS:
        if each.record is not None:
            record, several = each.record, each.sums_up is None
            seen += [record] if record not in seen else []
            link = f"[{record.__name__}](#{record.__name__.lower()})"
            top.append(Entry(each.key, first_line(record), f"list of {link}" if several else link))
    parts = [section("report.json", top, TEXTS["intros"]["report"])]
    parts += [section(name, texts_of("report", name), level=3) for name in ("run", "datasets", "judges")]
    rows = len(seen)  # whose sentences stand in the list above; records that they hold are added on the way
    parts += [record_part(each, seen, first_line(each) if n >= rows else "") for n, each in enumerate(seen)]
    for name, kinds in TEXTS["rows"].items():
        entries = texts_of("report", name) if name in REPORT else []
        parts.append(section(name, entries, TEXTS["files"]["report"][name]))
        rows = len(seen)
        seen += classes_of(*kinds)
        parts += [record_part(each, seen, first_line(each)) for each in itertools.islice(seen, rows, None)]
    common = [Entry(name, text, COMMON_TYPES.get(name, "")) for name, text in COMMON.items()]
    junit = section("JUnit properties", texts_of("report", "junit"), TEXTS["intros"]["junit"])
    return page("Report fields", TEXTS["intros"]["report-fields"], section("Common fields", common), *parts, junit)


# --- exit codes, files, Python ----------------------------------------------------------------------------------


def plain_page(title: str, name: str) -> str:
    """Return a page of which reference.toml has all: a table of it per section."""
    parts = [section(heading, texts_of(name, part)) for part, heading in TEXTS["intros"][f"{name}-sections"].items()]
    return page(title, TEXTS["intros"][name], *parts)


def signature(thing: Any) -> str:
    """Return the promised parameters of a function, or of a class as it is made, without their types."""
    hidden = TEXTS["not_promised"].get(thing.__qualname__, ())
    every = inspect.signature(thing).parameters.values()
    kept = [each.replace(annotation=each.empty) for each in every if each.name not in ("self", "cls", *hidden)]
    text = str(inspect.Signature(kept)).replace("<factory>", "...").replace("mappingproxy({})", "{}")
    return f"{text[:-1]}{', ' if kept else ''}...)" if hidden else text


def public(module: str, path: str) -> Any:
    """Return what a public name stands for; None for a field that only objects have."""
    value: Any = importlib.import_module(module)
    for name in path.split("."):
        value = inspect.getattr_static(value, name, None) if isinstance(value, type) else getattr(value, name)
        value = getattr(value, "__func__", value)
    return value


def python_entry(module: str, path: str, text: str) -> Entry:
    """Return the entry of a public name: a signature where it can be called, a sentence."""
    value = public(module, path.removesuffix("()")) if ", " not in path else None  # several fields of a class
    called = path.endswith("()") or inspect.isfunction(value) or hasattr(value, "__wrapped__")
    described = isinstance(value, type) or callable(value) or isinstance(value, property)
    shown = path.removesuffix("()") + (signature(value) if called else "")
    return Entry(shown, text or (first_line(value) if described else ""))


def python_page() -> str:
    """Return the page of public names, fixtures and old import paths."""
    package = f"`judgefixtures` itself offers {code_list(sorted(judgefixtures.__all__))}."
    parts = [
        section(f"`{module}`", [python_entry(module, path, text) for path, text in names.items()])
        for module, names in TEXTS["python"].items()
    ]
    methods = {name: each for name, each in vars(Gate).items() if inspect.isfunction(each) and name[0] != "_"}
    gate = [Entry(f"gate.{name}{signature(each)}", first_line(each)) for name, each in methods.items()]
    fixtures = section("Fixtures", [*texts_of("fixtures"), *gate], TEXTS["intros"]["fixtures"])
    paths = {old: f"Now `judgefixtures.{new}`" for old, new in judgefixtures._OLD_PATHS.items()}
    paths |= {old: f"Now `{new}`" for old, new in judgefixtures._OLD_NAMES.items()}
    entries = [Entry(f"judgefixtures.{old}", text) for old, text in paths.items()]
    parts = [fixtures, *parts, section("Old names", entries, TEXTS["intros"]["old"])]
    return page("Python", f"{TEXTS['intros']['python']} {package}", *parts)


PAGES: dict[str, Callable[[], str]] = {
    "options.md": options_page,
    "commands.md": commands_page,
    "configuration.md": configuration_page,
    "report-fields.md": report_fields_page,
    "exit-codes.md": lambda: plain_page("Exit codes", "exit-codes"),
    "files.md": lambda: plain_page("Files", "files"),
    "python.md": python_page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or name those that are stale."""
    FOLDER.mkdir(exist_ok=True)
    texts = {FOLDER / name: build() for name, build in PAGES.items()}
    stale = [file for file in texts if not file.exists() or file.read_text(encoding="utf-8") != texts[file]]
    for file in stale:
        sys.stdout.write(f"{file.relative_to(FOLDER.parents[1])}\n")
        if "--check" not in arguments:
            file.write_text(texts[file], encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
