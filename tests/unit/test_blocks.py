"""Every block of code of README, CONTRIBUTING and docs/ does what its page says, and none is left out unnoticed.

Commands run offline: in a copy of this repository (`console`), or in a repository that `init` has just made, whose
judge is a simulated one (`sh`). What is not run is listed in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import asyncio
import json
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

PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
LANGUAGES = {"console", "sh", "python", "toml", "json", "yaml", "text"}
IMPORTS = "reads logs that are not shipped; test_imports.py imports and compares logs of its own"
EXPORTS = "reads what other tools wrote; test_logs_*.py import their files"
NOT_RUN = {
    "git clone <this repository> && cd judgefixtures": "needs the network; the copy takes its place",
    "make docs": "asks an index where Sphinx is not installed; test_site.py builds the site",
    "make quick": "takes a minute; runs the tests of this folder",
    "make test": "takes minutes; runs the tests of this folder",
    "make test-slow": "takes many minutes, and runs this test",
    "make real-judge": "asks a package index; test_real_model.py replays what it recorded",
    "make lowest": "asks an index; test_docs.py holds its versions against pyproject.toml",
    "judgefixtures import answers.jsonl --judge gpt-4 --dataset support --pairs pairs.jsonl": IMPORTS,
    "judgefixtures label data/answers.jsonl --by anna": "serves until Ctrl-C; test_labelling.py starts it",
    "judgefixtures import readings.jsonl --judge reader --pairs examples.jsonl --where reading=3": IMPORTS,
    "judgefixtures import logs/2026-11-26_graded.eval --judge grader --pairs examples.jsonl": EXPORTS,
    "judgefixtures import results.json --judge rubric --dataset support": EXPORTS,
    "judgefixtures import traces.jsonl --judge answers --dataset support": EXPORTS,
    "judgefixtures import scores.csv --judge correct --metric correct --pairs examples.jsonl": EXPORTS,
    "judgefixtures import traces.jsonl --judge correct --metric correct --label-metric user-feedback": EXPORTS,
    "judgefixtures import evaluated.jsonl --judge correctness --metric correctness --columns label=human": EXPORTS,
    "judgefixtures import annotations.jsonl --judge correctness --metric correctness --pairs examples.jsonl": EXPORTS,
    "judgefixtures import experiment.json --judge closed --metric ClosedQA --label-metric right": EXPORTS,
    "judgefixtures import results.csv --judge correct --metric correct --columns label=reference.label": EXPORTS,
    "judgefixtures import feedback.json --judge correct --metric correct --pairs examples.jsonl": EXPORTS,
    "judgefixtures import scores.jsonl --judge helpfulness --pairs answers.jsonl": IMPORTS,
    "judgefixtures import readings.csv --judge reader --pairs examples.jsonl --where reading=3": IMPORTS,
    "pytest -k swap --judge gpt-4 --judge-baseline chatgpt --judge-dataset support": IMPORTS,
    "judgefixtures import log.jsonl --judge gpt-4 --dataset support "
    "--columns pair=request.id,selected_response=verdict --where model=gpt-4-0613": IMPORTS,
}
# Blocks `text` that no command of their page prints.
SHOWN = {
    "  of scores the control is not recorded": "of recordings by 0.2.0; test_earlier_versions.py",
    "cassettes/<judge>/<dataset>/<condition>.jsonl": "where files are; test_cassettes.py",
    "34 of 34 published": "what `make paper` says; test_paper_tables.py",
    "production: 74% of each prompt": "a long prompt of one's own; test_rates.py",
    "close: 1 of 1 pairs": "compared in test_votes.py",
    "{question} {cue}": "a template; test_init.py runs it",
    '{"id": "e1", "reading"': "a log of grades; test_import_grades.py imports one like it",
    '{"id": "e1", "score"': "a log of scores; test_import_scores.py imports one like it",
    '{"pair": "q1", "score_1"': "a log of two scores; test_import_scores.py imports one like it",
    "--- answers by length": "of logs that are not shipped; test_answers_by.py computes its own",
    "with 60 labels a judge": "what `agreement_prospect` says; an example of its own, which runs",
}
# Python that is no program of its own: a test below runs it in what it belongs to.
PARTS = {"docs/python-judges.md"}

RUN = [block for block in of_language(PAGES, "console") if {each.bare for each in block.commands} - {*NOT_RUN}]
COMMANDS = [command for block in of_language(PAGES, "console") for command in block.commands]
OWN = {page: [command for block in of_language([page], "sh") for command in block.commands] for page in PAGES}
PYTHON = [block for block in of_language(PAGES, "python") if block.page not in PARTS]
TOML = of_language(PAGES, "toml")


def only(page: str, language: str) -> list[Block]:
    """Return the blocks of one language on one page."""
    return of_language([REPOSITORY / page], language)


# --- none is left out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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


@pytest.fixture
def own(server: SimulatorServer, tmp_path: Path) -> Path:
    """A repository after `init`, with a judge that the simulator answers for, a candidate, and few pairs."""
    write_scaffold(tmp_path)
    file = tmp_path / "pyproject.toml"
    text = file.read_text()
    for there, instead in {**OWN_GATES, '# base_url = "http://127.0.0.1:8080': f'base_url = "{server.url}'}.items():
        assert there in text
        text = text.replace(there, instead, 1)
    file.write_text(text + OWN_KEYS)
    (tmp_path / "cassettes").mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("page", [page for page in PAGES if OWN[page]], ids=lambda page: page.name)
def test_the_commands_for_ones_own_repository(page: Path, own: Path) -> None:
    """Run one after the other, each ends with the code that the page gives."""
    for command in OWN[page]:
        if command.bare not in NOT_RUN:
            assert_done(command, run(command.line, own))


def test_yaml_and_scripts_are_those_of_the_example() -> None:
    """Steps of a page are steps of the example's workflows; a whole file is the example's file, to the letter.

    test_workflows.py runs their commands.
    """
    steps = [
        step
        for file in (EXAMPLE / ".github" / "workflows").glob("*.yml")
        for job in yaml.safe_load(file.read_text())["jobs"].values()
        for step in job["steps"]
    ]
    texts = [block.text for block in of_language(PAGES, "yaml")]
    files = [text for text in texts if not isinstance(yaml.safe_load(text), list)]
    written = [step for text in texts if text not in files for step in yaml.safe_load(text)]
    assert written
    assert [step for step in written if step not in steps] == []
    scripts = [block.text for block in of_language(PAGES, "sh") if block.text.startswith("#!")]
    whole = [(EXAMPLE / ".gitlab-ci.yml").read_text(), (EXAMPLE / "ci" / "gate.sh").read_text()]
    assert files + scripts == whole


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
    """python-judges.md's function, with its table, is recorded over the SDK's own address, and then replayed."""
    code, table = only("docs/python-judges.md", "python")[0], only("docs/python-judges.md", "toml")[0]
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
    """What python-judges.md's second function returns is read as a text with its probabilities."""

    async def ask(prompt: str) -> Any:
        return types.SimpleNamespace(text=prompt)

    module = types.ModuleType("judging_of_the_docs")
    vars(module)["ask"] = ask
    exec(only("docs/python-judges.md", "python")[1].text, vars(module))
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
    for name in ("judge", "story", "system"):
        (tmp_path / "prompts").mkdir(exist_ok=True)
        (tmp_path / "prompts" / f"{name}.txt").write_text("{question}{response_1}{response_2}{cue_1}{cue_2}")
    config = build_config(completed(written), str(block), tmp_path)
    for name, table in written.get("judges", {}).items():
        assert config.judge_table(name).model_fields_set >= {*table} - {"extends"}
    for name in written.get("datasets", {}):
        assert config.source(name).name == name


@pytest.mark.parametrize("block", of_language(PAGES, "json"), ids=str)
def test_json_is_an_object_per_line(block: Block) -> None:
    """Each line is read as a row of a file of pairs is."""
    assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
