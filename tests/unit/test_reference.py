"""docs/reference/ says all that a user can do: it is what `make reference` writes, and no entry of it lacks a sentence.

The pages are read as they stand: a heading, and below it a list of names, each with its type and a sentence.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import reference
from support.pages import REPOSITORY, of_language

import judgefixtures
import judgefixtures.cli.main
from judgefixtures.cassettes.file_names import BATCHES_FILE, CANARY_FILE, IMPORTED_FILE
from judgefixtures.checks import ALONE_CHECKS, ContrastCheck, EditCheck, FourCellCheck, SwapCheck
from judgefixtures.checks.plain_language import NAMED
from judgefixtures.models.contrasts import SIDE_FILES
from judgefixtures.plugin.gate import PROPERTIES
from judgefixtures.providers import PROVIDERS, provider_spec
from judgefixtures.report import FACES
from judgefixtures.report.run_record import JUDGMENTS, PAIRS, PLANS, RESULTS
from judgefixtures.simulator import __main__ as simulator
from judgefixtures.util.exit_codes import ExitCode

FOLDER = REPOSITORY / "docs" / "reference"
PACKAGE = Path(judgefixtures.__file__).parent
ENTRY = re.compile(r"^- (`[^`]+`(?:, `[^`]+`)*)(?: \((.*?)\))?: (.+)$", re.M)
MOST_WORDS = 12_000  # of all pages together
# Of shipped recordings: a judge that moves, one that plans, a swap, and every kind of check.
SELECTED = (
    "house-close and not stories and (recency or placebo or repeat or four-cell or provenance and not swap)"
    " or house-stories and (verbosity or plan) or house-qa and (accuracy or position) or house-bias and accuracy"
)
SETTINGS = """
[[waivers]]
contrast = "recency-new-old"
owner = "somebody"
reason = "a reason"
expires = 2999-01-01
"""


class Entry(NamedTuple):
    """What a page says of a name."""

    kind: str
    text: str


@cache
def read(page: str) -> dict[str, dict[str, Entry]]:
    """Return the entries of a page by heading and name; of a field that is named behind another one with its class."""
    parts = re.split(r"^##+ (.+)$", (FOLDER / page).read_text(encoding="utf-8"), flags=re.M)
    found: dict[str, dict[str, Entry]] = {}
    for heading, part in zip(parts[1::2], parts[2::2], strict=True):
        entries = found.setdefault(heading.replace("`", ""), {})
        for names, kind, text in ENTRY.findall(part):
            first, *others = re.findall(r"`([^`]+)`", names)
            entries |= dict.fromkeys((first, *others), Entry(kind, text))
    return found


def differences(place: str, said: Iterable[str], there: Iterable[str]) -> list[str]:
    """Return what a page says at a place and is not there, and what is there and the page does not say."""
    said, there = set(said), set(there)
    return [
        *(f"{place}: {name} is not there" for name in sorted(said - there)),
        *(f"{place} lacks {name}" for name in sorted(there - said)),
    ]


def pytest_says(*arguments: str) -> str:
    """Return what pytest prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout


# --- the pages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", reference.PAGES)
def test_a_page_is_what_is_generated(page: str) -> None:
    """Each page is what `make reference` writes today."""
    fresh = (FOLDER / page).read_text(encoding="utf-8") == reference.PAGES[page]()
    assert fresh, f"docs/reference/{page} is stale: run make reference"


def test_there_are_no_other_pages() -> None:
    """The folder holds what is generated and nothing else."""
    assert {file.name for file in FOLDER.iterdir()} == set(reference.PAGES)


@pytest.mark.whole
def test_a_page_depends_on_nothing_but_the_code() -> None:
    """A narrow terminal, another language and missing optional packages change nothing."""
    missing = dict.fromkeys(("anthropic", "matplotlib", "sphinx", "hypothesis"))
    code = f"import sys; sys.modules.update({missing}); import reference; sys.exit(reference.main(['--check']))"
    variables = {"COLUMNS": "20", "LC_ALL": "C", "PYTHONPATH": str(REPOSITORY / "tools"), "CI": "true"}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("page", reference.PAGES)
def test_every_entry_says_something(page: str) -> None:
    """Each line of a list is an entry with a sentence of its own, of at most thirty words but for names."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    names_alone = re.compile(r"- (\[Common fields\]|All fields of |[A-Z][\w, ]+: `|Cue family `)")
    assert [line for line in lines if not ENTRY.match(line) and not names_alone.match(line)] == []
    sentences = [re.sub(r"`[^`]*`(, |\.)?|\([^)]*\)", "", entry[2]) for entry in ENTRY.findall(text)]
    assert [each for each in sentences if len(each.split()) > 30] == []


def test_the_pages_are_short() -> None:
    """All pages together have few words."""
    texts = [(FOLDER / page).read_text(encoding="utf-8") for page in reference.PAGES]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


# --- options, marks, fixtures, environment ------------------------------------------------------------------------


@pytest.mark.whole
def test_every_option_stands_there() -> None:
    """The page has the options of `pytest --help` and no other; no page names one that there is not."""
    there = set(re.findall(r"^  (--judge[a-z-]*)", pytest_says("--help"), re.M))
    listed = {name.split()[0] for name in read("options.md")["Gates of LLM judges"]}
    pages = "".join((FOLDER / page).read_text(encoding="utf-8") for page in ("options.md", "files.md"))
    pages += (REPOSITORY / "docs" / "contract.md").read_text(encoding="utf-8")
    elsewhere = set(re.findall(r"--judge[a-z-]*(?<!-)", pages))
    faults = [*differences("the list of options", listed, there), *differences("pages", elsewhere | there, there)]
    assert not faults, "\n".join(faults)


@pytest.mark.whole
def test_every_mark_and_fixture_stands_there(request: pytest.FixtureRequest) -> None:
    """The pages have the marks that pytest knows of the plugin, its fixtures, and no other."""
    marks = {line.partition("(")[0] for line in request.config.getini("markers") if line.startswith("judge_")}
    fixtures = set(re.findall(r"^(\w+) .*-- \S*judgefixtures/plugin", pytest_says("--fixtures", "tests/judge"), re.M))
    listed = {name for name in read("python.md")["Fixtures"] if not name.startswith("gate.")}
    faults = [*differences("marks", read("options.md")["Marks"], marks), *differences("fixtures", listed, fixtures)]
    assert not faults, "\n".join(faults)


def test_every_environment_variable_stands_there() -> None:
    """Each variable that the code reads by its name, and each that holds a provider's key, is listed."""
    pattern = re.compile(r"environ(?:ment)?(?:\.get\(|\[)\"?([A-Z]\w+)")
    read_here = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in pattern.findall(text):
            constant = re.search(rf'^{name} = "(\w+)"$', text, re.M)
            read_here.add(constant[1] if constant else name)
    keys = {key for name in PROVIDERS if (key := provider_spec(name).key)}
    assert len(read_here) > 3
    assert sorted((read_here | keys) - read("options.md")["Environment variables"].keys()) == []


# --- configuration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heading", reference.TABLES)
def test_every_key_stands_there(heading: str) -> None:
    """Below the heading of a table are its keys with a type and, where they have one, their default."""
    table, listed = reference.TABLES[heading], read("configuration.md")[heading]
    shared = reference.TABLES["[gate] and [gate.FAMILY]"].model_fields if heading.startswith("[gate.") else {}
    more = {"[judges.NAME]": {"extends"}, "[gate.agreement]": {"min_accuracy"}}.get(heading, set())
    assert listed.keys() == table.model_fields.keys() - shared.keys() | more
    for key in listed.keys() & table.model_fields.keys():
        default = table.model_fields[key].get_default(call_default_factory=True, validated_data={})
        assert re.match(r"[a-z`]", listed[key].kind), key
        assert "required" in listed[key].kind or not isinstance(default, int | float) or "`" in listed[key].kind, key


def test_every_name_that_is_built_in_stands_there() -> None:
    """Judges, datasets, families and labels that come with the package are listed."""
    run = judgefixtures.Run.from_config(None)
    there = {*run.config.judges, *run.config.datasets, *run.families}
    there |= {label for labels in run.config.cues.values() for label in labels}
    text = (FOLDER / "configuration.md").read_text(encoding="utf-8").partition("## Built-in names")[2]
    assert sorted(there - set(re.findall(r"`([^`]+)`", text))) == []


# --- exit codes and files -----------------------------------------------------------------------------------------


def test_every_exit_code_stands_there() -> None:
    """The codes of runs are ours and pytest's, those of commands the ones that their texts name, and ours."""
    runs, commands = read("exit-codes.md").values()
    ours = {str(int(code)) for code in ExitCode}
    named = {
        code
        for text in re.findall(r"Exit code: ([^\"]+)", (PACKAGE / "data/commands.toml").read_text())
        for code in re.findall(r"\b\d+\b", text)
    }
    assert ours == (ours & runs.keys()) | (ours & commands.keys())
    assert {str(int(code)) for code in pytest.ExitCode} <= runs.keys()
    assert named <= commands.keys() <= ours


def test_every_file_stands_there() -> None:
    """Files of reports and recordings whose names the code has are listed."""
    listed = " ".join(name for entries in read("files.md").values() for name in entries)
    names = {RESULTS, PLANS, PAIRS, JUDGMENTS, BATCHES_FILE, CANARY_FILE, IMPORTED_FILE, *FACES, *SIDE_FILES}
    names |= {"differences.jsonl", "sample.json", "closest.json", "imported.jsonl", ".before", ".draft", "paper.md"}
    assert sorted(name for name in names if name not in listed) == []


# --- report fields ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of reports of the shipped recordings: judges of pairs, of single responses, looks, a failed control."""
    folder = tmp_path_factory.mktemp("report")
    config = folder / "judge.toml"
    config.write_text(SETTINGS)
    judges = "--judge simulated-candid --judge simulated-verbose-prepared --judge-baseline simulated-gpt-4o"
    how = f"--judge-pairs 30 --judge-repeats 2 --judge-cassettes cassettes --judge-config {config}"
    looks = folder / "looks.toml"
    looks.write_text("[gate]\nlooks = [20, 30]\n")
    strict = folder / "strict.toml"
    strict.write_text("[control]\nthreshold = 0.9\n")
    found = [folder / name for name in ("pairs", "responses", "words", "looks", "strict")]
    runs = (
        (*judges.split(), "-k", SELECTED),
        ("--judge", "simulated-grader-silent", "-k", "agreement"),
        ("--judge", "simulated-grader-worded", "-k", "wording"),
        ("--judge", "simulated-faithful", "-k", "recency", "--judge-config", str(looks)),
        ("--judge", "simulated-noisy", "-k", "recency and not stories", "--judge-config", str(strict)),
    )
    for into, asked in zip(found, runs, strict=True):
        shown = pytest_says("-q", *how.split(), *asked, "--judge-report", str(into))
        assert (into / "report.json").exists(), shown
    return found


def rows_of(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield every row of a report with the heading of the page that says what it holds."""
    whole = json.loads((folder / "report.json").read_text())
    yield "report.json", whole
    for file in folder.glob("*.jsonl"):
        for row in map(json.loads, file.read_text().splitlines()):
            yield file.name, dict.fromkeys(row) if file.name == "results.jsonl" else row


@cache
def names_of(heading: str) -> dict[str, str]:
    """Return the fields below a heading with their types, common ones and those of a parent among them."""
    page, text = read("report-fields.md"), (FOLDER / "report-fields.md").read_text(encoding="utf-8")
    part = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.M | re.S)
    assert part, heading
    fields = {name: entry.kind for name, entry in page[heading].items()}
    for line in re.findall(r"^- \[Common fields\].*$", part[1], re.M):
        fields |= {name: page["Common fields"][name].kind for name in re.findall(r"`(\w+)`", line)}
    parents = re.findall(r"^- All fields of \[(\w+)\]", part[1], re.M)
    for parent in (*parents, *reference.TEXTS["rows"].get(heading, ())):
        fields |= names_of(parent)
    return fields


@cache
def named_as(name: str, fields: frozenset[str]) -> str | None:
    """Return how the page names a field: as it is called, or as <judge> where the data brings the name."""
    pattern = {each: re.sub(r"<\w+>", ".+", each) for each in fields}
    return name if name in fields else next((each for each in fields if re.fullmatch(pattern[each], name)), None)


def undocumented(fields: dict[str, str], row: dict[str, Any], place: str) -> Iterator[str]:
    """Yield the paths of a row's fields that stand nowhere."""
    headings = {each.lower(): each for each in read("report-fields.md")}
    for name, value in row.items():
        known = named_as(name, frozenset(fields))
        if known is None:
            yield f"{place}.{name}"
            continue
        values, linked = value if isinstance(value, list) else [value], re.search(r"\(#(\w+)\)", fields[known])
        if linked:
            within = names_of(headings[linked[1]])
        else:
            below = re.compile(rf"{re.escape(known)}(?:\[\])?\.(.+)")
            within = {found[1]: kind for each, kind in fields.items() if (found := below.fullmatch(each))}
        if fields[known].startswith("object of [") and "<judge>" not in within:
            values = list(value.values())
        for each in values if within else ():
            if isinstance(each, dict):
                yield from undocumented(within, each, f"{place}.{name}")


@pytest.mark.slow
@pytest.mark.whole
def test_every_field_of_a_report_stands_there(reports: list[Path]) -> None:
    """Whatever a report of the shipped recordings holds stands there; what has no record there is in the code."""
    page = read("report-fields.md")
    faults = set()
    for heading, row in itertools.chain.from_iterable(map(rows_of, reports)):
        faults |= set(undocumented(names_of(heading), row, heading))
    code = set(re.findall(r"\w+", "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))))
    for heading in ("report.json", "run", "datasets", "judges", "results.jsonl"):
        faults |= {name for name in page[heading] if not name.endswith(">") and name.rpartition(".")[2] not in code}
    assert not faults, "\n".join(sorted(faults))


def test_every_kind_of_check_and_part_stands_there() -> None:
    """What a result's `check` and `name`, a part's `part` and a case's properties can be is named."""
    page = read("report-fields.md")
    kinds = {check.kind for check in (*ALONE_CHECKS.values(), ContrastCheck, EditCheck, FourCellCheck, SwapCheck)}
    names = {check.name for check in ALONE_CHECKS.values()}
    said = {
        name: set(re.findall(r"`([^`]+)`", page[record][name].text))
        for record, name in (("ItemResultRow", "check"), ("ItemResultRow", "name"), ("DecisionPart", "part"))
    }
    faults = [
        *differences("part", said["part"], NAMED),
        *differences("check", said["check"], kinds),
        *differences("name", said["name"], names),
        *differences("properties", page["JUnit properties"], PROPERTIES),
    ]
    assert not faults, "\n".join(faults)


# --- commands -----------------------------------------------------------------------------------------------------


def helped(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """Return what a command says of itself."""
    main = simulator.main if command == ("simulator",) else judgefixtures.cli.main.main
    with pytest.raises(SystemExit):
        main(["--help"] if command == ("simulator",) else [*command, "--help"])
    return capsys.readouterr().out


def commands(capsys: pytest.CaptureFixture[str], *above: str) -> Iterator[tuple[str, ...]]:
    """Yield every command that asks for no further one."""
    found = re.findall(r"^    ([a-z]+)(?=\s|$)", helped(capsys, *above), re.M)
    for name in found:
        yield from commands(capsys, *above, name)
    if not found:
        yield above


def test_every_command_and_its_options_stand_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command has a heading, and a list with its options and no other."""
    page = read("commands.md")
    headings = {tuple(re.split(r"[ .]", heading.removeprefix("python -m "))[1:]): heading for heading in page}
    faults = differences("commands", map(" ".join, headings), map(" ".join, [*commands(capsys), ("simulator",), ()]))
    for command, heading in headings.items():
        options = re.findall(r"^  (--[a-z-]+)", helped(capsys, *command), re.M)
        listed = {name.split()[0] for name in page[heading] if name.startswith("--")}
        faults += differences(heading, listed, options)
    assert not faults, "\n".join(faults)


# --- Python -------------------------------------------------------------------------------------------------------

# What an object has from its making on, and its class has not.
MADE = ("Judge.name", "Judge.rater", "SimulatorServer.desk")


def public_paths() -> Iterator[tuple[str, str]]:
    """Yield each public name with its module, fields and methods of a class among them."""
    for module, names in reference.TEXTS["python"].items():
        for name in names:
            first, *others = name.removesuffix("()").split(", ")
            yield module, first
            yield from ((module, first.partition(".")[0] + other) for other in others)


def test_every_public_name_is_there() -> None:
    """Each name can be imported from the module that is given, and has the field or method."""
    faults = []
    for module, path in public_paths():
        name, *parts = path.split(".")
        value = getattr(importlib.import_module(module), name, None)
        annotated = any(
            parts and parts[0] in getattr(kind, "__annotations__", ()) for kind in getattr(value, "__mro__", ())
        )
        if value is None or (parts and not hasattr(value, parts[0]) and not annotated and path not in MADE):
            faults.append(f"{module} has no {path}")
    assert not faults, "\n".join(faults)


def test_what_is_not_promised_is_optional() -> None:
    """Each parameter that a signature leaves out is one of the function, and has a default."""
    hidden = dict(reference.TEXTS["not_promised"])
    for module, path in public_paths():
        value = reference.public(module, path)
        for parameter in hidden.pop(getattr(value, "__qualname__", ""), ()):
            each = inspect.signature(value).parameters[parameter]
            assert each.default is not each.empty, f"{path}: {parameter}"
    assert hidden == {}


def test_what_pages_import_is_public() -> None:
    """README, the pages and the package offer no name that the page of Python lacks."""
    page = read("python.md")
    listed = {(module, re.split(r"\W", name)[0]) for module in page for name in page[module]}
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
    nodes = [node for block in of_language(pages, "python") for node in ast.walk(ast.parse(block.text))]
    shown = {
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "judgefixtures"
        for alias in node.names
    }
    own = {("judgefixtures", name) for name in judgefixtures.__all__}
    everywhere = {name for _, name in listed}
    faults = [" ".join(each) for each in sorted(shown - listed - own)] + [
        name for _, name in own if name not in everywhere
    ]
    assert not faults, "\n".join(faults)
