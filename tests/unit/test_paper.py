"""The paper's experiment, ready to run: what it would ask, and that it spends nothing unasked or by chance.

The datasets are small local copies with the published columns; no provider is asked, and none could be.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.scaffold import write_scaffold
from judgefixtures.config import load_config

pytestmark = pytest.mark.whole

REPOSITORY = Path(__file__).parents[2]
KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY")
PAIRS, CONDITIONS = 100, 2 + 12  # recency: both ways round; provenance: every two of four labels, both ways round
CONTROL = 2 * 2 * 30  # before that, 30 clear house pairs of answers and 30 of stories, each in both orders


def eli5(number: int) -> dict[str, object]:
    """Return a question as Pavithree/eli5 holds it, with two answers of clearly different votes."""
    texts = [f"Because {number}.", f"Who knows {number}."]
    answers = {"a_id": [f"a{number}", f"b{number}"], "text": texts, "score": [9, 3]}
    return {
        "q_id": f"q{number}",
        "title": f"Why {number}?",
        "selftext": "",
        "subreddit": "explainlikeimfive",
        "answers": answers,
    }


def litbench(number: int) -> dict[str, object]:
    """Return a row as SAA-Lab/LitBench-Train holds it."""
    return {
        "prompt": f"[WP] {number}",
        "chosen_story": f"It began {number}.",
        "rejected_story": f"The end {number}.",
        "chosen_upvotes": 90,
        "rejected_upvotes": 30,
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the suite, this repository's Makefile, and the two datasets as local copies."""
    copies = []
    for name, row in (("eli5", eli5), ("litbench", litbench)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row(number)) + "\n" for number in range(PAIRS + 10)))
        copies.append(f'[tool.judgefixtures.datasets.{name}]\nsource = "{name}"\npath = "{name}.jsonl"\n')
    write_scaffold(tmp_path)
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write("\n".join(copies))
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    (tmp_path / "constraints.txt").touch()
    (tmp_path / "environment" / "bin").mkdir(parents=True)
    (tmp_path / "environment" / "bin" / "activate").write_text(f'PATH="{Path(sys.executable).parent}:$PATH"\n')
    (tmp_path / "environment" / ".installed").touch()
    return tmp_path


def make(project: Path, *, typed: str = "", keys: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run `make record-paper` with nothing but these keys in the environment, and something typed at its question."""
    environment = {name: value for name, value in os.environ.items() if name not in KEYS and "PYTEST" not in name}
    return subprocess.run(
        ["make", "record-paper", "VENV=environment"],
        cwd=project,
        input=typed,
        text=True,
        env=environment | dict.fromkeys(keys, "none"),
        capture_output=True,
        check=False,
    )


def test_it_is_configured_as_in_the_paper(tmp_path: Path) -> None:
    """The two judges at temperature 0 with a fixed seed, by dated name where there is one; answers and stories."""
    file = tmp_path / "empty.toml"
    file.write_text("")
    config = load_config(file)
    judges = [config.judge_table(name) for name in ("gpt-4o", "gemini-2.5-flash")]
    assert [(judge.provider, judge.model, judge.base_url, judge.key_variable) for judge in judges] == [
        ("openai", "gpt-4o-2024-11-20", None, "OPENAI_API_KEY"),
        ("google", "gemini-2.5-flash", None, "GEMINI_API_KEY"),
    ]
    assert {(judge.temperature, judge.seed, judge.template_name) for judge in judges} == {(0.0, 0, "silent-judge")}
    sources = [config.source(name) for name in ("eli5", "litbench")]
    assert [(source.origin, source.content_type, source.path) for source in sources] == [
        ("eli5", "Response", None),
        ("litbench", "Story", None),
    ]


def test_it_is_no_default_of_anything(tmp_path: Path) -> None:
    """Neither an empty configuration, nor this repository's, nor what init writes selects any of it."""
    file = tmp_path / "empty.toml"
    file.write_text("")
    assert (load_config(file).judge, load_config(file).dataset_names) == (None, ())
    write_scaffold(tmp_path)
    for folder in (tmp_path, REPOSITORY, REPOSITORY / "examples" / "support-judge"):
        config = load_config(folder / "pyproject.toml", table=("tool", "judgefixtures"))
        assert config.judge not in ("gpt-4o", "gemini-2.5-flash")
        assert not {"eli5", "litbench"} & {*config.dataset_names}


@pytest.mark.slow
def test_it_says_first_what_it_would_ask_and_cost(project: Path, snapshot: SnapshotAssertion) -> None:
    """The preflight counts every call of both judges, controls included, with a price; then a missing key ends it."""
    done = make(project, keys=("OPENAI_API_KEY",))
    asked = 2 * PAIRS * CONDITIONS + CONTROL
    for judge in ("gpt-4o", "gemini-2.5-flash"):
        assert re.search(rf"^  {judge}: at most {asked} calls, \d+ tokens in, \d+ out, \$\d", done.stdout, re.MULTILINE)
        assert lines_about(done.stdout, "before anything") == snapshot
    for dataset in ("eli5", "litbench"):
        assert f"{dataset}: {PAIRS} of {PAIRS + 10} pairs" in done.stdout
    assert done.returncode == 2
    assert lines_about(done.stderr, "GEMINI_API_KEY must") == snapshot
    assert not (project / "cassettes").exists()


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
def test_without_a_yes_it_asks_nothing(project: Path, typed: str, snapshot: SnapshotAssertion) -> None:
    """Only a y after the cost starts the recording: anything else, or nobody there, ends it."""
    done = make(project, typed=typed, keys=KEYS)
    (asked,) = lines_about(done.stdout, "[y/N]")
    assert asked.partition("[y/N]")[0] == snapshot
    assert done.returncode == 2
    assert done.stdout.count("test session starts") == 1  # the preflight's
    assert not (project / "cassettes").exists()


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["gpt-4o", "gemini-2.5-flash"])
def test_a_missing_key_is_one_clear_error(project: Path, judge: str, snapshot: SnapshotAssertion) -> None:
    """Recording without the key names its variable once, ends the session and has asked nothing."""
    environment = {name: value for name, value in os.environ.items() if name not in KEYS and "PYTEST" not in name}
    subjects = ["--judge", judge, "--judge-dataset", "eli5", "--judge-dataset", "litbench", "--judge-pairs", "100"]
    command = [sys.executable, "-m", "pytest", "-k", "recency or provenance", *subjects, "--judge-record", "missing"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert lines_about(done.stdout, "environment variable") == snapshot
    assert done.stdout.count("FAILED") == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert not [*project.glob("cassettes/**/recency*.jsonl"), *project.glob("cassettes/**/provenance*.jsonl")]


@pytest.mark.slow
def test_without_the_hub_it_says_what_is_missing(tmp_path: Path) -> None:
    """With no copy, no frozen sample and no network, the error names the dataset and what to do; nothing is asked."""
    write_scaffold(tmp_path)
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name} | {"HF_HUB_OFFLINE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-k",
        "recency",
        "--judge",
        "gpt-4o",
        "--judge-dataset",
        "eli5",
        "--judge-record",
        "missing",
        "--judge-preflight",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 4
    assert "Pavithree/eli5" in said
    assert "Traceback" not in said
