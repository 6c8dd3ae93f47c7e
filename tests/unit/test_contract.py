"""docs/contract.md says what is public, and all of it: options, keys, fields, commands, import paths, signatures.

It is read as it stands: a heading, and the names in the first cells of the table below it. Each test names every fault.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.pages import REPOSITORY, of_language
from support.tables import TABLES
from syrupy.assertion import SnapshotAssertion

import judgefixtures
import judgefixtures.cli.main
from judgefixtures.checks import ALONE_CHECKS, AccuracyCheck, ContrastCheck, EditCheck, FourCellCheck, SwapCheck
from judgefixtures.checks.base import OLD_METHODS
from judgefixtures.checks.plain_language import NAMED
from judgefixtures.providers.judge_table import Price
from judgefixtures.simulator import __main__ as simulator

PAGE = REPOSITORY / "docs" / "contract.md"
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


def sections(text: str) -> dict[str, str]:
    """Return what stands below each heading, up to the next one."""
    parts = re.split(r"^##+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SECTIONS = sections(PAGE.read_text(encoding="utf-8"))
COMMAND = re.compile(r"`(judgefixtures[ `]|python -m judgefixtures\.)")  # how the heading of a command begins


def named(heading: str) -> list[str]:
    """Return the names in the first cells of the tables below a heading."""
    cells = re.findall(r"^\| (`.+?`) \|", SECTIONS[heading], re.M)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def differences(place: str, said: Iterable[str], there: Iterable[str]) -> list[str]:
    """Return what the page says at a place and is not there, and what is there and the page does not say."""
    said, there = set(said), set(there)
    return [
        *(f"{place}: {name} is not there" for name in sorted(said - there)),
        *(f"{place} lacks {name}" for name in sorted(there - said)),
    ]


def pytest_says(*arguments: str) -> str:
    """Return what pytest prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout


# --- options, marks, fixtures, keys ---------------------------------------------------------------------------


@pytest.mark.whole
def test_every_option_stands_there() -> None:
    """The table has the options of `pytest --help` and no other; none is named anywhere that there is not."""
    there = set(re.findall(r"^  (--judge[a-z-]*)", pytest_says("--help"), re.M))
    table = {name.split()[0] for name in named("Options of pytest") if name.startswith("--")}
    elsewhere = set(re.findall(r"--judge[a-z-]*(?<!-)", PAGE.read_text(encoding="utf-8")))
    faults = [*differences("the table of options", table, there), *differences("the page", elsewhere | there, there)]
    assert not faults, "\n".join(faults)


@pytest.mark.whole
def test_every_mark_and_fixture_stands_there(request: pytest.FixtureRequest) -> None:
    """The tables have the marks that pytest knows of the plugin, its fixtures, and no other."""
    names = {name.partition("(")[0] for name in named("Marks and fixtures")}
    marks = {line.partition("(")[0] for line in request.config.getini("markers") if line.startswith("judge_")}
    fixtures = set(re.findall(r"^(\w+) .*-- \S*judgefixtures/plugin", pytest_says("--fixtures", "tests/judge"), re.M))
    faults = differences("marks and fixtures", {each for each in names if "gate." not in each}, marks | fixtures)
    assert not faults, "\n".join(faults)


def test_every_key_stands_there() -> None:
    """Below the heading of each table of the configuration are its keys, and no other."""
    there = {heading: set(table.model_fields) for heading, table in TABLES.items()}
    there["[judges.NAME]"] |= {"extends"}
    faults = [fault for heading in there for fault in differences(heading, named(heading), there[heading])]
    assert not faults, "\n".join(faults)
    assert all(f"`{key}`" in SECTIONS["[judges.NAME]"] for key in Price.model_fields)


def test_every_name_that_is_built_in_stands_there() -> None:
    """Judges, datasets, families and labels that come with the package are listed."""
    run = judgefixtures.Run.from_config(None)
    there = {*run.config.judges, *run.config.datasets, *run.families}
    there |= {label for labels in run.config.cues.values() for label in labels}
    assert sorted(there - set(re.findall(r"`([^`]+)`", SECTIONS["What is built in"]))) == []


# --- reports ----------------------------------------------------------------------------------------------------


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


def rows_of(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row of a report with the heading of the page that says what it holds."""
    whole = json.loads((folder / "report.json").read_text())
    yield "report.json", dict.fromkeys(whole)
    for section, value in whole.items():
        rows = value if isinstance(value, list) else [value]
        yield from ((section, row) for row in rows if isinstance(row, dict))
    for file in folder.glob("*.jsonl"):
        for row in map(json.loads, file.read_text().splitlines()):
            yield file.name, dict.fromkeys(row) if file.name == "results.jsonl" else row


SHAPES = [set(named(heading)) for heading in ("An estimate", "A part", "A waiver", "A component")]


def fields(row: dict[str, Any], known: set[str], place: str = "") -> Iterator[str]:
    """Yield the paths of a row's fields: nothing within one of `SHAPES`, and `<judge>` for what the data brings."""
    for name, value in row.items():
        path = place + name
        if path not in known:
            path = next((each for each in known if re.fullmatch(re.escape(place) + r"<\w+>", each)), path)
        yield path
        inner = value if isinstance(value, list) else [value]
        for each in inner:
            if isinstance(each, dict) and set(each) not in SHAPES:
                yield from fields(each, known, f"{path}{'[]' if inner is value else ''}.")


@pytest.mark.slow
@pytest.mark.whole
def test_every_field_of_a_report_stands_there(reports: list[Path]) -> None:
    """Whatever a report of the shipped recordings holds stands there, and what stands there is in it or in the code."""
    seen: dict[str, set[str]] = {}
    known = {heading[1:-1]: set(named(heading)) for heading in SECTIONS if heading.startswith("`")}
    for heading, row in itertools.chain.from_iterable(map(rows_of, reports)):
        seen.setdefault(heading, set()).update(fields(row, known.get(heading, set())))
    files = Path(judgefixtures.__file__).parent.rglob("*.py")
    code = set(re.findall(r"\w+", "".join(path.read_text(encoding="utf-8") for path in files)))
    headings = {heading for heading in known if not COMMAND.match(f"`{heading}`")}
    assert headings == set(seen)
    faults = []
    for heading in sorted(headings):
        # What no shipped recording has (a model that reads reasons, token probabilities, ...) has its name in the code.
        other = {path for path in known[heading] if path.endswith(">") or path.rpartition(".")[2] in code}
        faults += differences(heading, known[heading], seen[heading] | other)
    assert not faults, "\n".join(faults)


def named_in(heading: str, name: str) -> set[str]:
    """Return the names in what the page says of a field."""
    (said,) = re.findall(rf"^\| `{re.escape(name)}` \| (.+) \|$", SECTIONS[heading], re.M)
    return set(re.findall(r"`([^`]+)`", said))


def test_every_kind_of_check_and_part_stands_there() -> None:
    """What a result's `check` and `name` and a part's `part` can be are named, and so is what `Run.gate` takes."""
    kinds = {check.kind for check in (*ALONE_CHECKS.values(), ContrastCheck, EditCheck, FourCellCheck, SwapCheck)}
    names = {check.name for check in ALONE_CHECKS.values()}
    (gate,) = (name for name in named("Runs") if name.startswith("Run.gate("))
    faults = [
        *differences("part", named_in("A part", "part"), NAMED),
        *differences("check", named_in("`results`", "check"), kinds),
        *differences("name", named_in("`results`", "name"), names),
        *differences("Run.gate", named_in("Runs", gate), {*names, "Finding", "recency-new-old"}),
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
    """Each command has a heading, and a table with its options and no other."""
    there = [heading for heading in SECTIONS if COMMAND.match(heading)]
    headings = {
        tuple(re.split(r"[ .]", heading.strip("`").removeprefix("python -m "))[1:]): heading for heading in there
    }
    faults = differences("commands", map(" ".join, headings), map(" ".join, [*commands(capsys), ("simulator",), ()]))
    for command, heading in headings.items():
        options = re.findall(r"^  (--[a-z-]+)", helped(capsys, *command), re.M)
        faults += differences(heading, {name.split()[0] for name in named(heading)}, options)
    assert not faults, "\n".join(faults)


# --- Python -------------------------------------------------------------------------------------------------------


def imported(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield every name that pieces of Python import from the package, with its module."""
    nodes = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    for node in nodes:
        if (node.module or "").partition(".")[0] == "judgefixtures":
            yield from ((node.module or "", alias.name) for alias in node.names)


# What an object has from its making on, and its class has not.
MADE = ("Judge.name", "Judge.rater", "SimulatorServer.desk")


def found(path: str, names: Mapping[str, Any]) -> Any:
    """Return what a name such as `Run.gate` stands for; of a field or an attribute that is all there is to know."""
    name, *parts = path.split(".")
    value = names[name]
    for part in parts:
        if not hasattr(value, part) and (path in MADE or part in value.__annotations__):
            return path
        value = getattr(value, part)
    return value


def differs(there: inspect.Signature, said: inspect.Signature) -> str:
    """Return how a function is another one than the page says; empty where it takes what is promised."""
    own = [each for each in there.parameters.values() if each.name not in ("self", "cls")]
    for number, each in enumerate(said.parameters.values()):
        match = there.parameters.get(each.name)
        if match is None or (each.kind is not each.KEYWORD_ONLY and match not in own[number : number + 1]):
            return f"{each.name} is not a parameter, or not in this place"
        if match.kind is match.KEYWORD_ONLY and each.kind is not each.KEYWORD_ONLY:
            return f"{each.name} is taken by its name alone"
        if match.default != each.default:
            return f"{each.name} is {match.default!r} by default"
    optional = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    more = [each for each in own if each.name not in said.parameters and each.kind not in optional]
    return "".join(f"{each.name} is needed as well; " for each in more if each.default is each.empty)


def test_every_import_path_works() -> None:
    """Whatever the page imports is there; it imports what any page imports, and all that the package offers."""
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    shown = set(imported([block.text for block in of_language(pages, "python")]))
    own = set(imported([block.text for block in of_language([PAGE], "python")]))
    faults = [" ".join(each) for each in sorted(own) if not hasattr(importlib.import_module(each[0]), each[1])]
    faults += differences("the page", map(" ".join, own), map(" ".join, own | shown))
    offered = {name for module, name in own if module == "judgefixtures"}
    faults += differences("judgefixtures", offered, judgefixtures.__all__)
    assert not faults, "\n".join(faults)


def test_every_name_has_the_signature_that_is_promised() -> None:
    """What the tables below Python name is imported there and takes these parameters; whatever is imported is named."""
    own = set(imported([block.text for block in of_language([PAGE], "python")]))
    names = {name: getattr(importlib.import_module(module), name) for module, name in sorted(own)}
    headings = list(SECTIONS)[list(SECTIONS).index("Python") :]
    faults = []
    for name in (each for heading in headings for each in named(heading)):
        path, bracket, parameters = name.removesuffix(")").partition("(")
        try:
            value = found(path, names)
        except (AttributeError, KeyError):
            faults.append(f"{name} is not there")
            continue
        if bracket and (why := differs(inspect.signature(value), inspect.signature(eval(f"lambda {parameters}: 0")))):
            faults.append(f"{name}: {why}")
    text = "".join(SECTIONS[heading] for heading in headings)
    faults += [f"{name} is imported and not explained" for name in sorted(names) if not re.search(rf"`{name}\b", text)]
    assert not faults, "\n".join(faults)


# Documented import paths of version 0.2 that have another name today.
OLD_NAMES = {
    "judgefixtures.asking.questions Judgment": "judgefixtures.models.judgments Judgment",
    "judgefixtures.checks Case": "judgefixtures.checks CheckInput",
    "judgefixtures.checks Need": "judgefixtures.checks SampleRequirement",
    "judgefixtures.acknowledgment explained": "judgefixtures.parsing.acknowledgment explain_acknowledgment",
    "judgefixtures.detection Accuracy": "judgefixtures.statistics.detector_correction DetectorAccuracy",
    "judgefixtures.findings Finding": "judgefixtures.models.findings Finding",
    "judgefixtures.imports Request": "judgefixtures.importers ImportRequest",
    "judgefixtures.imports import_log": "judgefixtures.importers import_log",
    "judgefixtures.imports summary": "judgefixtures.importers summary",
    "judgefixtures.material.contrasts Condition": "judgefixtures.models.contrasts Condition",
    "judgefixtures.material.contrasts Contrast": "judgefixtures.models.contrasts Contrast",
    "judgefixtures.material.contrasts NO_CUE": "judgefixtures.models.contrasts NO_CUE",
    "judgefixtures.material.contrasts contrasts": "judgefixtures.models.contrasts contrasts",
    "judgefixtures.material.cues Cue": "judgefixtures.models.cues Cue",
    "judgefixtures.material.edits Edited": "judgefixtures.models.edits Edited",
    "judgefixtures.material.pairs Example": "judgefixtures.models.pairs Example",
    "judgefixtures.material.pairs Pair": "judgefixtures.models.pairs Pair",
    "judgefixtures.material.prompts Template": "judgefixtures.prompts.templates Template",
    "judgefixtures.material.prompts load_system_prompt": "judgefixtures.prompts.templates load_system_prompt",
    "judgefixtures.material.prompts load_template": "judgefixtures.prompts.templates load_template",
    "judgefixtures.page page": "judgefixtures.report.html page",
    "judgefixtures.words.errors JudgeFixturesError": "judgefixtures.util.errors JudgeFixturesError",
}


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_works_and_warns(old: str) -> None:
    """A documented name of version 0.2 is what its new name is; the warning gives the new name, at the import."""
    new_module, new_name = OLD_NAMES[old].split()
    with pytest.warns(DeprecationWarning, match=rf"\b{new_name}$") as warned:
        exec(f"from {old.replace(' ', ' import ')} as value", globals())
    assert value is getattr(importlib.import_module(new_module), new_name)  # type: ignore[name-defined] # noqa: F821
    assert len({str(each.message) for each in warned}) == 1  # `from` looks a package's name up twice
    assert {each.filename for each in warned} == {"<string>"}


def test_old_methods_of_checks_work_and_warn(snapshot: SnapshotAssertion) -> None:
    """A check of version 0.2 that overrides methods is asked by their new names, and has the old ones."""
    code = """
class Mine(AccuracyCheck):
    def excuse(self, case):
        return "mine"
"""
    names = {"AccuracyCheck": AccuracyCheck}
    with pytest.warns(DeprecationWarning, match="Mine.excuse is now Mine.skip_reason"):
        exec(code, names)
    mine: Any = names["Mine"]()
    assert mine.skip_reason(None) == "mine"
    for old, new in OLD_METHODS.items():
        with pytest.warns(DeprecationWarning, match=rf"\b{new}$") if old != "excuse" else contextlib.nullcontext():
            assert getattr(mine, old) == getattr(mine, new)
    with pytest.raises(AttributeError) as error:
        mine.nothing  # noqa: B018
    assert str(error.value) == snapshot


def test_an_old_path_has_no_other_names(snapshot: SnapshotAssertion) -> None:
    """A name that never was is an error, with the path that was asked."""
    with pytest.raises(ImportError) as error:
        from judgefixtures.material.pairs import nothing  # type: ignore[import-not-found] # noqa: F401
    assert str(error.value) == snapshot
    with pytest.raises(ModuleNotFoundError, match=r"judgefixtures\.nothing"):
        importlib.import_module("judgefixtures.nothing")


@pytest.mark.parametrize("backwards", [False, True])
def test_paths_can_be_imported_in_any_order(*, backwards: bool) -> None:
    """In a new process every documented path gives its names, whichever comes first, and only old ones warn."""
    today = [
        f"from {module} import {name}" for module, name in imported([b.text for b in of_language([PAGE], "python")])
    ]
    old = [f"from {name.replace(' ', ' import ')}" for name in OLD_NAMES]
    lines = sorted({*today, *old}, reverse=backwards)
    others = [
        *("import judgefixtures.acknowledgment", "import judgefixtures.material.pairs as pairs; pairs.__name__"),
        "import judgefixtures.verdicts as verdicts; verdicts.parse_verdict",
        *("from judgefixtures.verdicts import *", "parse_verdict"),
    ]
    code = f"""
import warnings
for line in {[*lines, *others]!r}:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(line)
    assert bool(caught) == (line in {old!r}), line
"""
    subprocess.run([sys.executable, "-c", code], check=True)
