"""Every block of code of README, CONTRIBUTING and docs/ does what its page says, and none is left out unnoticed.

Commands run offline: in a copy of this repository (`console`), or in a repository that `init` has just made, whose
judge is a simulated one (`sh`). What is not run is listed in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.pages import EXAMPLE, REPOSITORY, Block, Command, assert_done, blocks, clone, of_language, run

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.cli.scaffold import write_scaffold
from judgefixtures.config import build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.parsing.verdict_probabilities import stated_probability
from judgefixtures.providers.python import PythonProvider
from judgefixtures.simulator.server import SimulatorServer, serving

PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "examples/real-model/README.md")),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
LANGUAGES = {"console", "sh", "python", "toml", "json", "yaml", "text"}
IMPORTS = "reads logs that are not shipped; test_imports.py imports and compares logs of its own"
EXPORTS = "reads what other tools wrote; test_logs_*.py import their files"
NOT_RUN = {
    "git clone <this repository> && cd judgefixtures": "needs the network; the copy takes its place",
    "pip install .": "asks an index; test_wheel.py installs the wheel",
    "judgefixtures demo": "test_demo.py runs it",
    "make docs": "asks an index where Sphinx is not installed; test_site.py builds the site",
    "make quick": "takes a minute; runs the tests of this folder",
    "make test": "takes minutes; runs the tests of this folder",
    "make test-slow": "takes many minutes, and runs this test",
    "make real-judge": "asks a package index; test_real_model.py replays what it recorded",
    "make lowest": "asks an index; test_docs.py holds its versions against pyproject.toml",
    "python3 -m venv ../../.venv-real && ../../.venv-real/bin/pip install --no-deps -r requirements.txt": "asks an index",
    "../../.venv-real/bin/python serve.py -- pytest --judge-config {config} --judge smollm2-scores -k recency "
    "--judge-record missing --judge-concurrency 1": "needs the model; tests/real asks one",
    "ssh -L 8123:127.0.0.1:8123 there": "needs another machine",
    "pytest tests/judge -k brand --judge-record missing": "a simulated judge knows the built-in sentences only",
    "judgefixtures label data/answers.jsonl --by anna": "serves until Ctrl-C; test_labelling.py starts it",
    "judgefixtures label data/answers.jsonl --by bo --port 8123": "the same",
    "judgefixtures import answers.jsonl --judge gpt-4 --dataset support --pairs pairs.jsonl": IMPORTS,
    "judgefixtures import readings.jsonl --judge reader --pairs examples.jsonl --where reading=3": IMPORTS,
    "judgefixtures import results.json --judge rubric --dataset support": EXPORTS,
    "judgefixtures import traces.jsonl --judge correct --metric correct --label-metric user-feedback": EXPORTS,
    "judgefixtures import scores.csv --judge correct --metric correct --pairs examples.jsonl": EXPORTS,
    "pytest -k swap --judge gpt-4 --judge-baseline chatgpt --judge-dataset support": IMPORTS,
    "judgefixtures import log.jsonl --judge gpt-4 --dataset support "
    "--columns pair=request.id,selected_response=verdict --where model=gpt-4-0613": IMPORTS,
}
# Blocks `text` that no command of their page prints.
SHOWN = {
    "close: 1 of 1 pairs": "compared in test_votes.py",
    "{question} {cue}": "a template; test_init.py runs it",
    "Which response answers the question better?": "a template; test_tutorials.py loads it",
    "Does the response answer the question correctly?": "a template; test_tutorials.py loads it",
    '{"id": "e1", "reading"': "a log of grades; test_import_grades.py imports one like it",
}
# Pages whose tables their commands need, pages whose commands need recordings, and pages about pass/fail judges.
WITH_TABLES = {f"docs/how-to/{name}.md" for name in ("agreement", "own-cue", "plan", "scores", "wordings")}
WITH_RECORDINGS = {"docs/how-to/results.md"}
OF_GRADERS = {"docs/how-to/agreement.md"}
TUTORIALS = {"docs/tutorial/pairs.md", "docs/tutorial/pass-fail.md"}  # test_tutorials.py runs them from an empty folder
# Python that is no program of its own: a test below runs it in what it belongs to.
PARTS = {CODE := "docs/how-to/code-judges.md"}

RUN = [block for block in of_language(PAGES, "console") if {each.bare for each in block.commands} - {*NOT_RUN}]
COMMANDS = [command for block in of_language(PAGES, "console") for command in block.commands]
OWN = {page: [command for block in of_language([page], "sh") for command in block.commands] for page in PAGES}
README = REPOSITORY / "README.md"
PYTHON = [block for block in of_language(PAGES, "python") if block.page not in PARTS]
TOML = of_language(PAGES, "toml")


def name_of(page: Path) -> str:
    """Return a page's path in the repository."""
    return page.relative_to(REPOSITORY).as_posix()


def of_column(number: int) -> list[Command]:
    """Return the commands in a column of README's table, from the top."""
    rows = re.findall(r"^\| \d\w?\. .* \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [row.split(" | ")[number].strip("| `") for row in rows]
    return [Command(cell) for cell in cells if cell.startswith(("pytest ", "judgefixtures "))]


def only(page: str, language: str) -> list[Block]:
    """Return the blocks of one language on one page."""
    return of_language([REPOSITORY / page], language)


# --- none is left out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_names_its_language(page: Path) -> None:
    """A block without a language, or with another one, would be run by nothing here."""
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert page.read_text().count("```") == 2 * len(blocks(page))


def test_what_is_not_run_is_there() -> None:
    """The lists of exceptions name nothing that has left the docs."""
    written = [command.bare for command in COMMANDS] + [each.bare for own in OWN.values() for each in own]
    assert set(NOT_RUN) <= set(written)
    shown = [block.text for block in of_language(PAGES, "text")]
    assert all(any(text.startswith(beginning) for text in shown) for beginning in SHOWN)


def test_every_text_is_printed_or_listed() -> None:
    """A block `text` is what the command before it prints, which is compared, or it is listed with its reason."""
    printed = [block.output for block in of_language(PAGES, "console")]
    left = [block.text for block in of_language(PAGES, "text") if block.text not in printed]
    assert [text for text in left if not text.startswith(tuple(SHOWN))] == []


# --- commands ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which `make` has installed already: the programs are those of this Python."""
    folder = clone(tmp_path_factory.mktemp("clone") / "judgefixtures")
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name in ("bin/activate", ".installed"):
        (folder / ".venv" / name).touch()
    return folder


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("block", RUN, ids=str)
def test_the_commands_of_a_block_in_a_clone(block: Block, copy: Path) -> None:
    """Run one after the other, each ends with the code that the page gives; what the page shows is printed.

    `...` stands for what is left out.
    """
    printed: list[str] = []
    for command in block.commands:
        if command.bare in NOT_RUN:
            continue
        done = run(command.line, copy)
        assert_done(command, done)
        printed += done.stdout.splitlines()
    lines = iter(printed)
    shown = [line for line in block.output.splitlines() if line.strip() not in ("", "...")]
    assert [line for line in shown if line not in lines] == []  # each is looked for behind the one before


@pytest.fixture(scope="module")
def server() -> Iterator[SimulatorServer]:
    """The simulated judges, on a free port of this machine."""
    with serving() as server:
        yield server


# Few pairs of one dataset decide where much is tolerated. Prices are known where a model has one.
OWN_KEYS = """
[tool.judgefixtures.judges.candidate]
extends = "production"
model = "simulated-noisy"
"""
OWN_GATES = {
    "pairs = 100 ": 'dataset = ["house-qa"]\npairs = 20 ',
    "vsr_tolerance = 0.15": "vsr_tolerance = 0.5\nattack_tolerance = 0.5\nlooks = [16, 20]",
    "min_accuracy = 0.7": "min_accuracy = 0.1",
    "[tool.judgefixtures.swap]": "[tool.judgefixtures.swap]\nlooks = [16, 20]\ncontrast_margin = 0.8\n"
    + "".join(f"{name}_margin = 0.5\n" for name in ("accuracy", "vsr", "silent", "flip", "invalid")),
    '"gpt-4o-2024-11-20"': '"simulated-faithful"\nprice = {input = 1.0, output = 1.0}',
}
OF_ONE_RESPONSE = {'"gpt-4o-2024-11-20"': '"simulated-grader-faithful"'}


def make_own(folder: Path, url: str, mode: str = "pairwise") -> Path:
    """Make a repository with `init`, with a judge that the simulator answers for."""
    folder.mkdir(exist_ok=True)
    write_scaffold(folder, mode)
    file = folder / "pyproject.toml"
    text = file.read_text()
    there = OWN_GATES if mode == "pairwise" else OF_ONE_RESPONSE
    for old, new in {**there, '# base_url = "http://127.0.0.1:8080': f'base_url = "{url}'}.items():
        assert old in text
        text = text.replace(old, new, 1)
    file.write_text(text + (OWN_KEYS if mode == "pairwise" else ""))
    (folder / "cassettes").mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def add_tables(page: Path, file: Path) -> None:
    """Add the tables of a page to a configuration, and to its tables the keys that they lack.

    Of a page about graders the first block alone: the labels of the sample data are of one person.
    """
    shown = of_language([page], "toml")[: 1 if name_of(page) in OF_GRADERS else None]
    for name, lines in re.findall(r"^\[(.+)\]\n((?:[^\[\n].*\n)*)", "\n".join(block.text for block in shown), re.M):
        text = file.read_text()
        header = f"[{name}]\n"
        if header not in text:
            file.write_text(f"{text}\n{header}{lines}")
            continue
        before, after = text.split(header)
        table = after.partition("\n[")[0]
        new = [line for line in lines.splitlines() if not re.search(rf"^{re.escape(line.split()[0])} =", table, re.M)]
        file.write_text("\n".join([before + header.rstrip(), *new, after]))


@pytest.fixture
def own(server: SimulatorServer, tmp_path: Path) -> Path:
    """A repository with a judge of pairs, a candidate, and few pairs."""
    return make_own(tmp_path, server.url)


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize(
    "page", [page for page in PAGES if OWN[page] and name_of(page) not in {CODE, *TUTORIALS}], ids=name_of
)
def test_the_commands_for_ones_own_repository(page: Path, server: SimulatorServer, tmp_path: Path) -> None:
    """Run one after the other, each ends with the code that the page gives."""
    own = make_own(tmp_path / "own", server.url, "binary" if name_of(page) in OF_GRADERS else "pairwise")
    if name_of(page) in WITH_TABLES:
        add_tables(page, own / "pyproject.toml")
    recorded = [Command("pytest tests/judge -k recency --judge-record missing")] * (name_of(page) in WITH_RECORDINGS)
    for command in [*recorded, *(of_column(1) if page == README else []), *OWN[page]]:
        if command.bare not in NOT_RUN:
            assert_done(command, run(command.line, own))


@pytest.mark.slow
@pytest.mark.whole
def test_the_commands_of_readme_for_a_judge_of_one_response(server: SimulatorServer, tmp_path: Path) -> None:
    """So do those of README's second column, with a pass/fail judge."""
    own = make_own(tmp_path, server.url, "binary")
    commands = of_column(2)
    assert len(commands) == len(of_column(1)) == 4
    for command in commands:
        assert_done(command, run(command.line, own))


def test_yaml_is_that_of_the_example() -> None:
    """Steps of a page are steps of the example's workflows, and test_workflows.py runs their commands."""
    steps = [
        step
        for file in (EXAMPLE / ".github" / "workflows").glob("*.yml")
        for job in yaml.safe_load(file.read_text())["jobs"].values()
        for step in job["steps"]
    ]
    written = [step for block in of_language(PAGES, "yaml") for step in yaml.safe_load(block.text)]
    assert written
    assert [step for step in written if step not in steps] == []


# --- Python -----------------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize("block", PYTHON, ids=str)
@pytest.mark.slow
def test_python_runs_as_it_stands(block: Block) -> None:
    """In a clone, offline, without a warning; where it prints, something is printed."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.text], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert bool(ran.stdout.strip()) == ("print(" in block.text)


@pytest.mark.slow
@pytest.mark.whole
def test_a_judge_that_is_a_function(own: Path, server: SimulatorServer) -> None:
    """code-judges.md's function, with its table, is recorded over the SDK's own address, and then replayed."""
    code, table = only(CODE, "python")[0], only(CODE, "toml")[0]
    module = own / code.text.splitlines()[0].removeprefix("# ")
    module.parent.mkdir()
    module.write_text(code.text.replace('"gpt-4o-2024-11-20"', '"simulated-faithful"'))
    with (own / "pyproject.toml").open("a") as file:
        file.write(f'{table.text}\n[tool.pytest.ini_options]\npythonpath = ["."]\n')  # as the page says
    gate = "pytest -k recency --judge ours"
    reach = {"OPENAI_API_KEY": "nobody's", "OPENAI_BASE_URL": f"{server.url}/v1"}
    assert_done(Command(gate), run(f"{gate} --judge-record missing", own, **reach))
    asked = server.requests
    assert_done(Command(gate), run(gate, own, **reach))
    assert server.requests == asked


def test_a_function_that_says_how_sure_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """What code-judges.md's last function returns is read as a text with its probabilities."""

    async def ask(prompt: str) -> Any:
        return types.SimpleNamespace(text=prompt)

    module = types.ModuleType("judging_of_the_docs")
    vars(module)["ask"] = ask
    exec(only(CODE, "python")[-1].text, vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    judge = load_judge({"provider": "python", "target": f"{module.__name__}:judge", "logprobs": True}, "ours")
    answer = asyncio.run(PythonProvider(judge.table).complete("[[A]]", JudgeCall()))
    assert (answer.text, answer.probability) == ("[[A]]", stated_probability(0.62, 0.31))


# --- configuration and data -------------------------------------------------------------------------------


def completed(written: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a block with what its page leaves out: who answers, what is extended, clear pairs."""
    judges = written.get("judges", {})
    someone = {"provider": "openai", "model": "gpt-4o-2024-11-20"}
    named = {table["extends"] for table in judges.values() if "extends" in table} - {*judges}
    whole = {name: table if "extends" in table else {**someone, **table} for name, table in judges.items()}
    whole = {
        name: {key: value for key, value in table.items() if key != "model" or "target" not in table}
        for name, table in whole.items()
    }
    whole.update(dict.fromkeys(named, someone))
    controlling = written.get("control", {}).get("dataset")
    datasets = {controlling: {"path": "pairs.jsonl"}} if controlling else written.get("datasets", {})
    return {**written, "judges": whole, "datasets": datasets}


@pytest.mark.parametrize("block", TOML, ids=str)
def test_a_configuration_loads(block: Block, tmp_path: Path) -> None:
    """Its keys exist and its values are accepted; its judges and datasets are among those of the configuration.

    Its tables have their full names: pasted into a pyproject.toml, another one would do nothing.
    """
    written = tomllib.loads(block.text)
    assert {*written} == {"tool"}
    written = written["tool"]["judgefixtures"]
    (tmp_path / "prompts").mkdir()
    for name in ("judge", "story", "system"):
        (tmp_path / "prompts" / f"{name}.txt").write_text("{question}{response_1}{response_2}{cue_1}{cue_2}")
    (tmp_path / "prompts" / "grader.txt").write_text("{question}{response}{cue}")
    config = build_config(completed(written), str(block), tmp_path)
    for name, table in written.get("judges", {}).items():
        assert config.judge_table(name).model_fields_set >= {*table} - {"extends"}
    for name in written.get("datasets", {}):
        assert config.source(name).name == name


@pytest.mark.parametrize("block", of_language(PAGES, "json"), ids=str)
def test_json_is_an_object_per_line(block: Block) -> None:
    """Each line is read as a row of a file of pairs is."""
    assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
