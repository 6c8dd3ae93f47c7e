"""What a newcomer meets in the first hour: advice that holds, limits that are checked, few lines, errors that help."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.project import Project, in_pyproject, json_lines, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.cache_detection import ResponseOrigin, ResponseOrigins, is_cache
from judgefixtures.cli.main import main
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.plugin import rootdir
from judgefixtures.prompts.templates import load_template
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

JUDGES = """
import re

def good(prompt):
    first = prompt.index("granite") < prompt.index("sawdust")
    return '{"selected_response": %d, "reason": "It is better."}' % (1 if first else 2)

def vain(prompt):
    first, second = (re.findall(r"(?m)^Response %d was (.+)$" % n, prompt) for n in (1, 2))
    return '{"selected_response": %d, "reason": "It is better."}' % (1 if first > second else 2)

def bad(prompt):
    return '{"selected_response": 1, "reason": "It came first."}'
"""
TABLES = """control = false
judge = "good"
dataset = ["own"]
[gate]
min_accuracy = 0.7
[judges.good]
provider = "python"
target = "own_judges:good"
[judges.vain]
provider = "python"
target = "own_judges:vain"
[judges.bad]
provider = "python"
target = "own_judges:bad"
[judges.priceless]
provider = "openai"
model = "our-own-7b"
base_url = "http://127.0.0.1:9/v1"
[datasets.own]
path = "own.jsonl"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with judges by rule, a judge without a price, and the shipped tests of some checks."""
    made = Project(pytester, in_pyproject)
    pytester.makeini("[pytest]\npythonpath = .")
    pairs = [Pair(f"p{n}", f"Why {n}?", f"granite {n}.", f"sawdust {n}.", gold=1) for n in range(60)]
    made.write("own.jsonl", json_lines(map(pair_to_row, pairs)))
    made.write("own_judges.py", JUDGES)
    made.configure(TABLES)
    made.copy_tests("recency", "position", "accuracy", "swap")
    return made


# --- advice -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["pairwise", "binary", "pointwise"])
@pytest.mark.parametrize("own", [False, True])
def test_the_start_without_a_key_is_offered_for_the_house_sets(
    mode: str, own: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever has data or a template of their own learns that a simulated judge knows neither."""
    if own:
        (tmp_path / "data").mkdir()
        for name in ("pairs", "answers"):
            (tmp_path / "data" / f"{name}.jsonl").write_text("{}\n")
    assert main(["init", str(tmp_path), "--mode", mode]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "without a key" in line)
    for words in ("sample", "neither `dataset` nor `template`", "fails its control"):
        assert words in line


# --- slots --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "text", "renamed"),
    [
        ("binary", "{question} {answer} {cue}", {"answer": "response"}),
        ("binary", "{input} {output} {cue}", {"input": "question", "output": "response"}),
        ("pointwise", "{prompt} {completion} {cue}", {"prompt": "question", "completion": "response"}),
        ("binary", "{question} {{answer}} {cue}", {"answer": "response"}),
        (
            "pairwise",
            "{question} {answer_a} {answer_b} {cue_1} {cue_2}",
            {"answer_a": "response_1", "answer_b": "response_2"},
        ),
        ("pairwise", "{query} {Output1} {Output2} {cue_1} {cue_2}", {"query": "question", "Output2": "response_2"}),
        ("binary", "{question} {reference_answer} {cue}", {}),
        ("binary", "{question} {notes} {cue}", {}),
    ],
)
def test_a_slot_by_another_name_is_to_be_renamed(mode: str, text: str, renamed: dict[str, str], tmp_path: Path) -> None:
    """The error on a missing slot names the one that stands there for it; a reference is no response."""
    (tmp_path / "own.txt").write_text(text)
    with pytest.raises(JudgeFixturesError, match="lacks") as error:
        load_template(tmp_path / "own.txt", mode=mode)
    for there, ours in renamed.items():
        assert f"Rename {{{there}}} to {{{ours}}}" in str(error.value)
    assert ("Rename" in str(error.value)) == bool(renamed)


# --- coincidence --------------------------------------------------------------------------------------------


def repeated(pool: int, bodies: int, cached: float, questions: int, seed: int) -> bool:
    """Return whether a server is taken for a cache whose ids and bodies are drawn; some repeats come from a cache."""
    draw, origins, known, count = random.Random(seed), ResponseOrigins(), dict[int, tuple[str, str]](), 0
    for question in [*range(questions)] * 2:
        answer = str(draw.randrange(pool)), str(draw.randrange(bodies))
        if question in known and draw.random() < cached:
            answer = known[question]
        known.setdefault(question, answer)
        count += origins.repeats(ResponseOrigin(*answer, str(question)))
    return is_cache(count, 2 * questions)


@pytest.mark.parametrize("pool", [1, 100, 300, 999])
@pytest.mark.parametrize("bodies", [2, 5, 10**9])
@pytest.mark.parametrize("questions", [10, 50, 150])
def test_ids_drawn_from_a_few_are_no_cache(pool: int, bodies: int, questions: int) -> None:
    """A server with few ids, however often its texts are the same, is hardly ever taken for a cache."""
    assert sum(repeated(pool, bodies, 0.0, questions, seed) for seed in range(20)) <= 1


@pytest.mark.parametrize("pool", [300, 10**9])
@pytest.mark.parametrize("bodies", [5, 10**9])
@pytest.mark.parametrize("questions", [50, 150])
def test_a_cache_is_named_whatever_the_ids_are(pool: int, bodies: int, questions: int) -> None:
    """A server that repeats half of its answers is a cache, also where ids come again by chance."""
    assert all(repeated(pool, bodies, 0.5, questions, seed) for seed in range(20))


# --- costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [("--judge-preflight",), ("--judge-record", "missing", "--judge-max-cost", "5")])
def test_a_price_that_is_not_known_is_told_before_anything(project: Project, options: tuple[str, ...]) -> None:
    """Preflight and start of a recording show the line and the table; nothing is asked."""
    ran = project.run("--judge", "priceless", "-k", "recency", *options)
    assert "price = {input = 2.5, output = 10.0} in [tool.judgefixtures.judges.priceless]" in ran.said
    assert ran.ret == (0 if options == ("--judge-preflight",) else 4)
    assert not project.cassettes.exists()


# --- canary -------------------------------------------------------------------------------------------------


def test_a_canary_takes_the_datasets_of_the_configuration(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge whose template shows columns, or that no house set has recordings of, is asked about its own dataset."""
    project.write("own.txt", "{question}{notes}{response_1}{response_2}{cue_1}{cue_2}")
    project.add('[tool.judgefixtures.judges.columns]\nextends = "priceless"\ntemplate = "own.txt"\n')
    rows = [json.loads(line) | {"notes": "n"} for line in (project.path / "own.jsonl").read_text().splitlines()]
    project.write("own.jsonl", json_lines(rows))
    for judge in ("columns", "priceless"):
        file = str(project.path / "pyproject.toml")
        assert main(["canary", "--config", file, "--judge", judge, "--dry-run"]) == 2
        said = capsys.readouterr().err
        assert "on own" in said
        assert "--judge-dataset own" in said
        assert "house" not in said
        assert "sample" not in said


# --- limits that nothing checks -----------------------------------------------------------------------------


def test_a_limit_that_nothing_checks_is_named(project: Project) -> None:
    """A limit whose check is not selected is a line with what selects it; of one that is checked nothing is said."""
    told = [line for line in project.run("-k", "recency or position").outlines if "this run does not check" in line]
    assert told == [
        "note: good: this run does not check the limits min_accuracy of accuracy. Select them: "
        '-k "recency or position or accuracy"'
    ]
    assert "does not check" not in project.run("-k", "recency or position or accuracy").said
    project.configure(TABLES.replace("min_accuracy = 0.7", ""))
    assert "does not check" not in project.run("-k", "recency").said


# --- few lines ----------------------------------------------------------------------------------------------

RUNS = {
    "PASS": ("test_recency.py", "--judge", "good"),
    "FAIL of one": ("test_recency.py", "--judge", "vain"),
    "FAIL of ten": ("test_labels.py", "--judge", "vain"),
    "swap": ("test_swap.py", "--judge", "bad", "--judge-baseline", "good"),
    "empty recording": ("test_recency.py", "test_position.py", "--judge", "priceless"),
}


@pytest.mark.parametrize("about", RUNS)
@pytest.mark.parametrize(("option", "most"), [("--verbosity=0", 25), ("-q", 5)])
@pytest.mark.parametrize("more", [(), ("--judge-report", "report")])
def test_a_run_shows_few_lines(
    about: str, option: str, most: int, more: tuple[str, ...], project: Project, snapshot: SnapshotAssertion
) -> None:
    """At most 25 lines of 100 columns, 5 with -q: the worst result, others by a line, the next command, the report."""
    project.write("test_labels.py", suite("provenance", "recency", "age", "gender", "ethnicity"))
    ran = project.run(*RUNS[about], option, *more)
    said = ran.said.partition(f" judges{':' if option == '-q' else ' ='}")[2]
    ours = re.split(r"\n=+ short test summary info =+|\n=* ?\d+ (?:passed|failed)", said)[0].splitlines()
    taken = 1 + sum(-(-len(line) // 100) or 1 for line in ours[1:])
    assert taken <= most, ours
    assert sum(line.startswith("next: pytest ") for line in ours) == (about != "PASS") == bool(ran.ret)
    assert [line for line in ours if line.startswith("report: ")] == ["report: report/report.html"] * bool(more)
    assert ours == snapshot


def test_each_folder_is_looked_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand paths of one deep folder without a table: each of its parents is read once a session."""
    deep = tmp_path.joinpath("a", "b", "c")
    config = SimpleNamespace(
        stash=pytest.Stash(),
        rootpath=tmp_path,
        args=[str(deep / f"test_{n}.py") for n in range(1000)],
        invocation_params=SimpleNamespace(dir=tmp_path),
    )
    read: list[Path] = []

    def written_table(file: Path) -> dict[str, Any]:
        read.append(file)
        return {}

    monkeypatch.setattr(rootdir, "written_table", written_table)
    assert [rootdir.home_of(config) for _ in range(2)] == [tmp_path] * 2  # type: ignore[arg-type]
    assert len(read) == len({*read})


# --- unittest -----------------------------------------------------------------------------------------------


def test_a_testcase_is_told_what_to_write(project: Project, snapshot: SnapshotAssertion) -> None:
    """Fixtures as parameters or by autouse: pytest gives a TestCase none; other tests keep their own message."""
    project.write(
        "test_case.py",
        "import unittest\nimport pytest\n\n@pytest.mark.judge_family('recency')\nclass TestOurs(unittest.TestCase):\n"
        "    def test_parameters(self, judge, gate):\n        pass\n\n"
        "@pytest.mark.judge_family('recency')\nclass TestAuto(unittest.TestCase):\n"
        "    @pytest.fixture(autouse=True)\n    def _take(self, gate):\n        self.gate = gate\n\n"
        "    def test_auto(self):\n        pass\n\n"
        "class TestPlain(unittest.TestCase):\n    def test_plain(self):\n        judge = 1\n\n"
        "def test_without_a_mark(gate):\n    pass\n",
    )
    ran = project.run("test_case.py")
    assert ran.said.count("methods of a unittest.TestCase") >= 2
    assert lines_about(ran.said, "test_judge(judge, pairs", "the marks") == snapshot
    assert "TypeError" not in ran.said
    assert ran.parseoutcomes() == {"passed": 1, "failed": 1, "errors": 2}


def test_a_testcase_that_is_not_ours_is_left_alone(project: Project, snapshot: SnapshotAssertion) -> None:
    """Arguments that a decorator passes may have our names, and a test that is skipped stays skipped."""
    project.write(
        "test_case.py",
        "import unittest\nfrom unittest import mock\nimport pytest\n\nclass TestTheirs(unittest.TestCase):\n"
        "    @mock.patch('os.getcwd')\n    def test_patched(self, gate):\n        gate.assert_not_called()\n\n"
        "    @unittest.skip('later')\n    def test_later(self, judge):\n        pass\n\n"
        "    @pytest.mark.skip\n    def test_skipped(self, pairs):\n        pass\n\n"
        "    def test_broken(self):\n        len()\n\n"
        "@unittest.skip('later')\nclass TestAuto(unittest.TestCase):\n"
        "    @pytest.fixture(autouse=True)\n    def _take(self, gate):\n        self.gate = gate\n\n"
        "    def test_auto(self):\n        pass\n",
    )
    ran = project.run("test_case.py")
    assert ran.parseoutcomes() == {"passed": 1, "failed": 1, "skipped": 3}
    assert lines_about(ran.said, "TypeError: len") == snapshot
    assert "methods of a unittest.TestCase" not in ran.said


# --- reports that are compared ------------------------------------------------------------------------------


def compared(project: Project, capsys: pytest.CaptureFixture[str], old: str, new: str) -> tuple[int, str]:
    """Return the exit code of a comparison, and what it says."""
    capsys.readouterr()
    code = main(["report", "compare", str(project.path / old), str(project.path / new)])
    return code, "".join(capsys.readouterr())


def test_reports_of_swaps_are_compared(
    project: Project, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Of two swaps the differences are shown, and the decisions; equal ones have no change."""
    swap = ("-k", "swap", "--judge", "good", "--judge-baseline", "bad", "--judge-report")
    project.run(*swap, "old")
    project.write("own_judges.py", JUDGES.replace("good", "other").replace("bad", "good").replace("other", "bad"))
    project.run(*swap, "new")
    code, said = compared(project, capsys, "old", "new")
    assert code == 1
    assert lines_about(said, "the decision") == snapshot
    assert re.search(r"good against bad +all +accuracy +\+", said)
    assert re.search(r"good against bad +own +accuracy +\+", said)
    assert (
        lines_about(compared(project, capsys, "old", "old")[1], "CHANGE: 0") == snapshot
    )  # which did not pass, and so exits with 1


def test_reports_without_estimates_are_compared(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was measured in one of them, what became of the same checks is shown."""
    options = ("-k", "recency", "--judge", "priceless", "--judge-report")
    for name in ("old", "new"):
        project.run(*options, name)
    code, said = compared(project, capsys, "old", "new")
    assert code == 1
    assert "DID NOT PASS" in said
    assert "cannot be compared" not in said
