"""A swap on less than is configured approves nothing, and one of a judge with itself says so in every output."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.forked import gate_here
from support.project import Project, in_pyproject, json_lines
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.run import samples
from judgefixtures.run.samples import load_sample
from judgefixtures.sources import Source

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.whole

JUDGE = """
def judge(prompt, reason="It is better."):
    first = prompt.index("granite") < prompt.index("sawdust")
    return '{"selected_response": %d, "reason": "%s"}' % (1 if first else 2, reason)

def twin(prompt):
    return judge(prompt)

def other(prompt):
    return judge(prompt, "It is by far the better one.")
"""
TABLES = """control = false
judge = "candidate"
dataset = {datasets}
{top}
[swap]
looks = [100]
{swap}
[judges.candidate]
provider = "python"
target = "own_judges:judge"
[judges.alias]
extends = "candidate"
[judges.baseline]
provider = "python"
target = "own_judges:other"
[judges.copy]
provider = "python"
target = "own_judges:twin"
{more}
"""
TEST = """import pytest

@pytest.mark.judge_swap({families})
def test_swap{name}(judge, baseline, pairs, contrast, gate):
    gate.check_swap(judge, baseline, pairs, contrast)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with two datasets, judges that are always right, and a test of a swap for each of two families."""
    made = Project(pytester, in_pyproject)
    pytester.makeini("[pytest]\npythonpath = .")
    for name in ("easy", "hard"):
        pairs = [Pair(f"{name}{n}", f"Why {n}?", f"granite {n}.", f"sawdust {n}.", gold=1) for n in range(120)]
        made.write(f"{name}.jsonl", json_lines(map(pair_to_row, pairs)))
    made.write("own_judges.py", JUDGE)
    for family in ("recency", "provenance"):
        made.write(f"test_swap_{family}.py", TEST.format(families=repr(family), name=f"_{family}"))
    configure(made)
    return made


def configure(
    project: Project, datasets: str = '["easy", "hard"]', top: str = "", swap: str = "", more: str = ""
) -> None:
    """Write the configuration; `more` are further tables."""
    more += "".join(f'[datasets.{name}]\npath = "{name}.jsonl"\n' for name in ("easy", "hard"))
    project.configure(TABLES.format(datasets=datasets, top=top, swap=swap, more=more))


def decided(project: Project, *arguments: str, baseline: str = "baseline") -> tuple[int, dict[str, object]]:
    """Return the exit code of a swap, and its decision as the report has it."""
    ran = project.run("--judge-baseline", baseline, "--judge-report", "report", *arguments)
    report = json.loads((project.path / "report" / "report.json").read_text())
    return ran.ret, report["decisions"][0]


def test_a_swap_on_all_that_is_configured_is_approved(project: Project) -> None:
    """Equal judges are approved where nothing is left out, and nothing is said of a selection."""
    code, decision = decided(project)
    assert (code, decision["status"]) == (0, "APPROVE")
    assert not re.search(r"selected by|not compared", str(decision["reasons"]))
    assert "same_judge" not in decision


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        (("--judge-dataset", "easy"), "hard (configured, but not selected by --judge-dataset): not compared"),
        (("--judge-dataset", "hard"), "easy (configured, but not selected by --judge-dataset): not compared"),
        (("--judge-pairs", "110"), "10 of the 120 configured pairs of hard (not selected by --judge-pairs): not"),
        (("-k", "easy"), "accuracy on hard: not compared"),
        (("-k", "not new-old"), "recency-new-old on hard: not compared"),
    ],
)
def test_a_selection_approves_nothing(
    project: Project, options: tuple[str, ...], left_out: str, snapshot: SnapshotAssertion
) -> None:
    """Whatever an option leaves out of what is configured, nothing is approved, and it is named."""
    code, decision = decided(project, *options)
    assert (code, decision["status"]) == (1, "INCONCLUSIVE")
    assert decision["reasons"] == snapshot  # type: ignore[attr-defined]
    page, sheet = ((project.path / "report" / f"report.{kind}").read_text() for kind in ("html", "md"))
    words = left_out.partition(" (")[0].partition(":")[0]
    assert words in page
    assert words in sheet


def test_a_dataset_of_the_hub_that_is_left_out_is_not_fetched(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """To say that an option leaves it out takes no network, also in a recording mode."""
    fetched = []

    def load(source: Source, *arguments: Any, **more: Any) -> Any:
        fetched.append(source.name)
        return load_sample(source, *arguments, **more)

    monkeypatch.setattr(samples, "load_sample", load)
    configure(project, '["easy", "hub"]', more='[datasets.hub]\nsource = "owner/name"\n')
    for options in (("--judge-record", "missing"), ("--judge-record", "missing", "--judge-pairs", "110")):
        _, decision = decided(project, "--judge-dataset", "easy", *options)
        assert lines_about(decision["reasons"], "--judge-dataset") == snapshot  # type: ignore[attr-defined]
    assert {*fetched} == {"easy"}


def test_the_configuration_may_be_narrow(project: Project) -> None:
    """A dataset or number of pairs that the configuration chooses is no selection; options that agree are none."""
    configure(project, '["easy"]', "pairs = 110")
    for options in ((), ("--judge-dataset", "easy"), ("--judge-pairs", "110"), ("--judge-pairs", "500")):
        assert decided(project, *options)[1]["status"] == "APPROVE"
    assert decided(project, "--judge-pairs", "100")[1]["status"] == "INCONCLUSIVE"


def test_a_family_that_the_configuration_names_is_no_choice_of_a_file(project: Project) -> None:
    """With [swap] families set, the file of one family alone approves nothing; without, its mark says what counts."""
    assert decided(project, "test_swap_recency.py")[1]["status"] == "APPROVE"
    configure(project, swap='families = ["recency", "provenance"]')
    assert decided(project)[1]["status"] == "APPROVE"
    _, decision = decided(project, "test_swap_recency.py")
    assert decision["status"] == "INCONCLUSIVE"
    assert any(re.match(r"provenance-\S+ on easy: ", each) for each in decision["reasons"])  # type: ignore[attr-defined]


def test_machines_that_share_the_datasets_approve_together(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one machine leaves out and another one compares is compared."""
    for name in ("easy", "hard"):
        project.run("--judge-baseline", "baseline", "--judge-dataset", name, "--judge-report", name)
    monkeypatch.chdir(project.path)
    assert main(["report", "merge", "easy", "hard", "--into", "both"]) == 0
    assert json.loads((project.path / "both" / "report.json").read_text())["decision"]["status"] == "APPROVE"


@pytest.mark.parametrize("baseline", ["candidate", "alias", "copy"])
def test_a_judge_against_itself_is_told_in_every_output(project: Project, baseline: str) -> None:
    """One judge under two names, or equal answers of two: terminal, page, JSON and Markdown say it."""
    wanted = "exactly the same answers" if baseline == "copy" else "the same judge"
    ran = project.run("--judge-baseline", baseline, "--judge-report", "report")
    assert wanted in ran.said
    for kind in ("json", "html", "md"):
        assert wanted in (project.path / "report" / f"report.{kind}").read_text(), kind
    report = json.loads((project.path / "report" / "report.json").read_text())
    assert report["decision"]["status"] == "APPROVE"
    assert wanted in report["decision"]["same_judge"]


def test_different_judges_are_not_called_the_same(project: Project) -> None:
    """Judges that always agree and word their reasons otherwise are two."""
    assert not re.search("same judge|same answers", project.run("--judge-baseline", "baseline").said)


def test_the_repositorys_own_judge_against_itself(snapshot: SnapshotAssertion) -> None:
    """So it is with recordings and house sets."""
    name = "simulated-faithful"
    ran = gate_here("-k", "swap and accuracy", "--judge", name, "--judge-baseline", name)
    assert lines_about(ran.stdout, "judge (simulated-faithful") == snapshot
