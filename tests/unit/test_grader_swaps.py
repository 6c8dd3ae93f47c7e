"""Swaps of judges of one response, as their users meet them: recorded simulated graders, and functions as graders."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.forked import gate_here
from support.project import Project, Ran, in_pyproject, json_lines, read_rows
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import SwapTable
from judgefixtures.models.pairs import Example, pair_to_row
from judgefixtures.models.swap_rows import DecisionRow, SwapStatus
from judgefixtures.report.swap_section import decision_headline
from judgefixtures.swap import SwapAccuracy, decide_swap

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.whole

CUES = "swap and (recency or provenance or accuracy)"  # what is recorded of all five simulated graders
ONE = "swap and (recency or accuracy)"  # as much as shows it


@pytest.fixture(scope="session")
def swapped(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ran]:
    """Return what compares two recorded simulated graders: each two once, whichever process of ours asks first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(candidate: str, baseline: str, about: str = ONE) -> Ran:
        folder = shared / "grader-swaps" / f"{candidate}-for-{baseline}"
        folder.mkdir(parents=True, exist_ok=True)
        judges = ("--judge", f"simulated-grader-{candidate}", "--judge-baseline", f"simulated-grader-{baseline}")
        with FileLock(folder / "lock"):
            if not (folder / "code").exists():
                done = gate_here("-k", about, *judges, "--judge-report", folder)
                (folder / "said").write_text(done.stdout + done.stderr)
                (folder / "code").write_text(str(done.returncode))
        return Ran(int((folder / "code").read_text()), (folder / "said").read_text(), folder).whole

    return run


def decision_of(folder: Path) -> Any:
    """Return the only decision of a report."""
    (decision,) = json.loads((folder / "report.json").read_text())["decisions"]
    return decision


def of_status(decision: Any, status: str, **of: str) -> set[str]:
    """Return the kinds of the components of a status."""
    every = [each for each in decision["components"] if all(each[name] == value for name, value in of.items())]
    return {each["kind"] for each in every if each["status"] == status}


@pytest.mark.slow
def test_one_that_errs_by_chance_may_take_over(swapped: Callable[..., Ran], snapshot: SnapshotAssertion) -> None:
    """Noisy for faithful: near the line it changes its mind, and is as right and as lenient."""
    ran = swapped("noisy", "faithful", CUES)
    decision = decision_of(ran.folder)
    assert (ran.ret, decision["status"]) == (0, "APPROVE")
    named = {"abs-vsr", "unadmitted-shift", "accuracy", "pass-rate", "flip-rate", "invalid", "tpr", "tnr"}
    assert of_status(decision, "PASS") == named
    assert lines_about(decision["reasons"][0], "rate within") == snapshot
    assert "simulated-grader-noisy may replace simulated-grader-faithful" in ran.said


@pytest.mark.slow
def test_one_that_is_right_more_often_passes_another_share(
    swapped: Callable[..., Ran], snapshot: SnapshotAssertion
) -> None:
    """Faithful for lenient: by the pass rate alone it is not approved, and nobody is told that it is worse."""
    ran = swapped("faithful", "lenient")
    decision = decision_of(ran.folder)
    assert (ran.ret, decision["status"]) == (1, "REJECT")
    assert of_status(decision, "FAIL") == {"pass-rate"}
    assert of_status(decision, "INCONCLUSIVE") == set()
    share, stuck = decision["reasons"]
    assert share == "pass rate: difference -0.21 (90% CI -0.28 to -0.15), 100 examples, margin 0.10: FAIL"
    # Beside a judge that passes whatever it is shown, labels cannot be compared.
    assert lines_about(stuck, "recency-new-old on") == snapshot
    for said in (ran.said, (ran.folder / "report.md").read_text().replace("\\", "")):
        assert lines_about(said, "pass_rate_margin") == snapshot
        assert "demonstrably worse" not in said


def test_one_that_passes_what_people_fail_is_rejected(swapped: Callable[..., Ran], snapshot: SnapshotAssertion) -> None:
    """Lenient for faithful: pass rate and TNR are named, with accuracy; TPR is as good."""
    ran = swapped("lenient", "faithful")
    decision = decision_of(ran.folder)
    assert (ran.ret, decision["status"]) == (1, "REJECT")
    assert of_status(decision, "FAIL") == {"accuracy", "pass-rate", "tnr"}
    assert of_status(decision, "PASS", role="guard") == {"tpr"}
    (tnr,) = (each for each in decision["components"] if each["kind"] == "tnr")
    assert (tnr["n"], round(tnr["value"], 3), tnr["margin"]) == (54, -0.389, 0.1)
    html = (ran.folder / "report.html").read_text()
    assert lines_about(html, "pass rate differs") == snapshot
    sheet = (ran.folder / "report.md").read_text()
    both = r"\| 0\.611 \(0\.499 to 0\.712\) \| 1\.00 \(0\.952 to 1\.000\) \|"
    assert lines_about(sheet, "what people") == snapshot
    both = r"\| 0\.67 \(0\.589 to 0\.742\) \| 0\.46 \(0\.380 to 0\.542\) \|"
    assert re.search(rf"\| pass rate \| FAIL {both} 100 \| \+0\.21 \| 0\.151 to 0\.284 \| other by 0\.10 \|", sheet)


def test_an_open_swap_is_not_told_as_a_reject(snapshot: SnapshotAssertion) -> None:
    """A pass rate beyond its margin, but not adjusted for all that may reject, leaves the swap open, and says so."""
    labels = ["pass"] * 100 + ["fail"] * 100
    ours, theirs = [1.0] * 200, [0.0] * 18 + [1.0] * 182
    ours[100:109] = [0.0] * 9
    decided = decide_swap([], [SwapAccuracy("own", list(map(str, range(200))), ours, theirs, labels)], SwapTable())
    components = decided.components
    assert {each.kind for each in components if each.status == "FAIL"} == {"pass-rate"}
    assert decided.status is SwapStatus.INCONCLUSIVE
    row = DecisionRow(judge="new", baseline="old", status=decided.status, components=components)
    assert decision_headline(row, {}) == snapshot


# --- functions as graders ---------------------------------------------------------------------------------------

GRADERS = """
import json, random, re

def says(passed, reason="Because."):
    return json.dumps({"verdict": "pass" if passed else "fail", "reason": reason})

def shown(prompt):
    return prompt.partition("\\nResponse:\\n")[2] or prompt.partition("\\nStory:\\n")[2]

def all_pass(prompt):
    return says(True)

def all_fail(prompt):
    return says(False)

def coin(prompt):
    return says(random.Random(prompt).random() < 0.5)

def longer(prompt):
    return says(len(shown(prompt)) > 500)

def commas(prompt):
    return says(shown(prompt).count(",") > 4)

def sentences(prompt):
    return says(len(re.findall(r"[.!?](?=\\s|$)", shown(prompt))) > 4)

def words(prompt):
    return says(len({*re.findall(r"\\w+", shown(prompt).lower())}) > 60)

def letters(prompt):
    return says(sum(map(str.isalpha, shown(prompt))) / max(len(shown(prompt).split()), 1) > 4.6)

def odd(prompt):
    number = int(re.search(r"So (\\d+)", prompt)[1])
    return says(number % 2, f"Number {number}.")

def lenient(prompt):
    number = int(re.search(r"So (\\d+)", prompt)[1])
    return says(number % 2 or number % 4 == 0, f"Number {number}.")
"""
UNREADING = ("all_pass", "all_fail", "coin", "longer", "commas", "sentences", "words", "letters")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with graders that are functions, 120 labelled examples of its own, and the shipped swap."""
    project = Project(pytester, in_pyproject)
    project.write("graders.py", GRADERS)
    rows = [Example(f"e{n}", f"Why {n}?", f"So {n}.", label="pass" if n % 2 else "fail") for n in range(120)]
    project.write("own.jsonl", json_lines(map(pair_to_row, rows)))
    project.write("bare.jsonl", json_lines(pair_to_row(each) | {"label": None} for each in rows))
    project.write("few.jsonl", json_lines(map(pair_to_row, [row for at, row in enumerate(rows) if at % 2 or at < 18])))
    pytester.syspathinsert()
    project.copy_tests("swap")
    return project


def tables(names: tuple[str, ...], head: str = "") -> str:
    """Return a configuration with graders of GRADERS."""
    judges = (f'[judges.{each}]\nprovider = "python"\ntarget = "graders:{each}"\nmode = "binary"\n' for each in names)
    own = (f'[datasets.{each}]\npath = "{each}.jsonl"\n' for each in ("own", "bare", "few"))
    return "\n".join([head, *judges, *own])


def compared(project: Project, candidate: str, baseline: str, *more: str) -> tuple[Ran, Any]:
    """Return the run of a swap that asks what it needs, and its decision."""
    judges = ("--judge", candidate, "--judge-baseline", baseline)
    ran = project.run("-k", ONE, *judges, "--judge-record", "missing", "--judge-report", "report", *more).whole
    return ran, decision_of(project.path / "report")


@pytest.mark.parametrize("who", UNREADING)
def test_a_grader_that_does_not_read_is_never_approved(project: Project, who: str) -> None:
    """Not even in place of itself: nothing can be approved of a judge that fails its control, which is said first."""
    project.configure(tables(UNREADING, "[control]\n"))
    for baseline in (who, "longer"):
        house = ("--judge-dataset", "house-answers", "--judge-dataset", "house-graded")
        ran, decision = compared(project, who, baseline, *house, "--judge-pairs", "40")
        assert (ran.ret != 0, decision["status"] != "APPROVE") == (True, True)
        assert f"{who} fails its control" in ran.said.partition("= judges =")[2].splitlines()[1]


OWN = "control = false\n"


def test_own_examples_are_swapped_by_their_labels(project: Project) -> None:
    """A function that passes what people fail is REJECTed in place of one that does not, on one's own examples."""
    project.configure(tables(("odd", "lenient"), OWN))
    ran, decision = compared(project, "lenient", "odd", "--judge-dataset", "own", "--judge-pairs", "60")
    assert (ran.ret, decision["status"]) == (1, "REJECT")
    assert {"accuracy", "pass-rate", "tnr"} <= of_status(decision, "FAIL")
    assert re.search(
        r"example e\d+ in no-cue \(people say fail\)\n    lenient: passed it -- .*\n    odd: failed it", ran.said
    )
    differing = read_rows(project.path / "report" / "differences.jsonl")
    assert {(each["label"], each["judge_passed"], each["baseline_passed"]) for each in differing} == {
        ("fail", True, False)
    }
    sheet = (project.path / "report" / "report.md").read_text()
    for said in (ran.said.partition("--- swap")[2], sheet.partition("## Controls")[0]):
        assert "TNR" in said or "people fail" in said
        assert not re.search(r"\bpairs?\b|\bverdicts?\b", said), said
    ran, decision = compared(project, "odd", "odd", "--judge-dataset", "own", "--judge-pairs", "60")
    assert of_status(decision, "PASS") >= {"accuracy", "pass-rate", "tpr", "tnr"}


@pytest.mark.parametrize("dataset", ["bare", "few"])
def test_too_few_labels_say_so(project: Project, dataset: str, snapshot: SnapshotAssertion) -> None:
    """Without labels the pass rate is compared all the same; with nine of a class nothing is approved."""
    project.configure(tables(("odd",), OWN))
    given = ("--judge-dataset", dataset, "--judge-pairs", "120")
    if dataset == "few":  # what cannot pass is not asked unless somebody wants it
        ran, decision = compared(project, "odd", "odd", *given)
        assert lines_about(ran.said, "swap accuracy") == snapshot
        assert decision["status"] == "INCONCLUSIVE"
    _, decision = compared(project, "odd", "odd", *given, "--judge-force")
    assert "pass-rate" in of_status(decision, "PASS")
    assert decision["reasons"] == snapshot
    if dataset == "few":
        assert decision["status"] == "INCONCLUSIVE"
    else:
        assert of_status(decision, "PASS").isdisjoint({"accuracy", "tpr", "tnr"})
