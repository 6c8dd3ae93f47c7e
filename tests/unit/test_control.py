"""A PASS is earned: what a judge that does not read gets, how its control is recorded and said, and stuck verdicts.

The judges are those of support/readers.py: as Python functions, which are run live, or behind a server of ours where
recordings are the point.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from support import readers
from support.project import REPOSITORY, Project, Ran, in_pyproject
from support.rendered import lines_about
from support.server import NOWHERE, Asked, Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import Answers, CheckInput
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.control import CONTROLS, best_feature_explanation, evaluate_control, min_correct_to_pass
from judgefixtures.checks.grader_control import GradeControl
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.checks.swap_decision import decide_swaps
from judgefixtures.config import ControlTable, GateTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.contrast_metrics import constant_side, measure_contrast
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, SingleResponseCondition, contrasts
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair, swap_responses
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.text_features import COUNTS, feature_leanings, least_predictable_pairs
from judgefixtures.models.verdicts import Verdict
from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.sources.sample import load_sample
from judgefixtures.statistics import Status
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

N = 24  # pairs of one's own: enough for the wide gates, and a swap compares no contrast with fewer than 20
WIDE = "[gate]\nvsr_tolerance = 0.45\n[swap]\nvsr_margin = 0.45\nsilent_margin = 0.45\naccuracy_margin = 0.45\n"
# Judges that do not read, and what is said of each.
BLIND = {
    "first": "the judge chose the first response in 60 of 60 answers",
    "second": "the judge chose the second response in 60 of 60 answers",
    "coin": "its verdicts look random",
    "longer": "its verdicts look random (the same response in both orders on 30 of 30 pairs)",
    "wrong": "the judge chose the wrong response in 60 of 60 answers",
    "invalid": "of 60 answers are invalid",
}
DECIDED = {"ERROR", "NOT_APPLICABLE"}
CONTROL = 60  # calls: 30 pairs in both orders
TWINS = ("house-control", "house-control-stories")


def configuration(head: str = "", *, more: str = WIDE, own: str = "[datasets.own]\npath = 'pairs.jsonl'\n") -> str:
    """Return a configuration with every judge of readers.py, as functions; `head` stands before all tables."""
    names = [*BLIND, *readers.COUNTED, "good", "no_stories", "knows_house"]
    tables = "".join(f'[judges.{name}]\nprovider = "python"\ntarget = "mine:{name}"\n' for name in names)
    path = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    return path + in_pyproject(f'judge = "good"\n{head}\n{tables}{own}{more}')


def served(url: str = NOWHERE, *, head: str = "", judge: str = "") -> str:
    """Return a configuration with one judge behind a server, about pairs of one's own."""
    table = f'provider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\nmax_attempts = 1\n{judge}\n'
    return in_pyproject(f'judge = "ours"\n{head}\n[judges.ours]\n{table}[datasets.own]\npath = "pairs.jsonl"\n{WIDE}')


class Controlled(Project):
    """A project whose judges are controlled: `configure` leaves the control on."""

    def configure(self, *arguments: Any, **more: Any) -> None:
        """Write the configuration as it is."""
        self.write(self.file, self.configuration(*arguments, **more))


def own_pairs(*, gold: bool = False, count: int = N) -> list[dict[str, Any]]:
    """Return pairs that only their numbers tell apart."""
    return [
        {
            "id": f"p{number:02}",
            "question": f"Question {number}: which one?",
            "response_1": f"This one, {number}.",
            "response_2": f"That one, {number}.",
            **({"gold": 1 + number % 2} if gold else {}),
        }
        for number in range(count)
    ]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Controlled:
    """A user's repository with judges in Python, all tests of this repository's suite, and pairs without gold."""
    project = Controlled(pytester, configuration, fresh=True)
    shutil.copy(readers.__file__, project.path / "mine.py")
    project.copy_tests(*(file.stem.removeprefix("test_") for file in (REPOSITORY / "tests" / "judge").glob("test_*")))
    project.write_pairs(own_pairs())
    project.configure()
    return project


@pytest.fixture
def server() -> Iterator[Server]:
    """A judge that reads, behind HTTP."""

    def answering(asked: Asked) -> Any:
        return asked.answered(readers.good(asked.prompt))

    with serving(by=answering) as running:
        yield running


@pytest.fixture
def recorded(project: Controlled, server: Server) -> Controlled:
    """The repository with a judge behind the server, whose recency contrast is recorded."""
    project.configuration = served
    project.configure(server.url)
    assert project.run("-k", "recency", "--judge-record", "missing").ret == 0
    return project


def about_house(server: Server) -> list[str]:
    """Return what was asked of the house pairs, which the control is about."""
    return [asked.prompt for asked in server.asked if not re.search(r"Question \d+: which one\?", asked.prompt)]


def of(judge: str, ran: Ran) -> list[dict[str, Any]]:
    """Return all rows of the report about a judge but its controls."""
    lists = {name: rows for name, rows in ran.report.items() if isinstance(rows, list) and name != "controls"}
    return [row for rows in lists.values() for row in rows if isinstance(row, dict) and row.get("judge") == judge]


def said_of_control(ran: Ran) -> list[str]:
    """Return the lines of the summary on controls."""
    return [line for line in ran.outlines if line.startswith("control of ")]


# --- judges that do not read ----------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("judge", "reason"), BLIND.items())
def test_a_judge_that_does_not_read_passes_nothing(project: Controlled, judge: str, reason: str) -> None:
    """Whole suite, default datasets, against a good judge: every item is a FAIL that says what is wrong, no APPROVE.

    It was measured and found to be bad: the exit code is 1, and the summary says once what the control takes down.
    """
    project.configure(own="")
    ran = project.run("--judge", judge, "--judge-baseline", "good", "--judge-pairs", "4", "--judge-report", "report")
    assert set(ran.parseoutcomes()) <= {"failed", "skipped"}
    assert ran.ret == 1
    does = "nothing shows that it reads" if judge == "invalid" else "it does not read"
    says = f"no check of {judge} can PASS, because {does} the responses: "
    first = [line for line in ran.outlines if line.startswith(f"FAIL: {says}")]
    assert len(first) == ran.parseoutcomes()["failed"] - 1 > 60  # and the decision
    assert all(reason in line for line in first)
    alone = len([row for row in ran.report["results"] if not row["baseline"] and row["status"] != "NOT_APPLICABLE"])
    headline = f"FAIL: {judge}: {alone} of {alone} checks failed because of the control: {says}"
    assert len([line for line in ran.outlines if line.startswith(headline)]) == 1
    assert len([line for line in said_of_control(ran) if reason in line]) == 2
    controls = [row for row in ran.report["controls"] if row["judge"] == judge]
    assert [(row["dataset"], row["status"]) for row in controls] == [(name, "FAIL") for name in TWINS]
    assert all(reason in row["message"] for row in controls)
    rows = [row for row in of(judge, ran) if "reasons" not in row]
    assert {row["dataset"] for row in rows} >= {"house-close", "house-close-stories", "house-qa", "house-stories"}
    assert {row["status"] for row in rows} == {"FAIL"}
    assert all(reason in row["message"] and "control" in row["message"] for row in rows)
    decided = {part["part"] for row in ran.report["results"] for part in row["decided_by"]}
    assert decided == {"control"}
    assert {
        (row["vsr"], row["vsr_status"], row["car_status"], row["p_fail_holm"]) for row in ran.report["contrasts"]
    } == {(None, "NOT_APPLICABLE", "NOT_APPLICABLE", None)}
    assert ran.report["decision"]["status"] == "INCONCLUSIVE"
    for page in ("report.md", "report.html"):
        text = (ran.folder / page).read_text(encoding="utf-8")
        assert f"{does} the responses" in text
        assert "is demonstrably beyond" not in text
        assert "demonstrably beyond its" not in text


@pytest.mark.parametrize("judge", BLIND)
def test_a_judge_that_does_not_read_is_not_approved_against_itself(
    project: Controlled, judge: str, snapshot: SnapshotAssertion
) -> None:
    """Two judges that never differ are equally bad: no APPROVE, and no PASS of one's own pairs either."""
    ran = project.run(
        "--judge", judge, "--judge-baseline", judge, "-k", "swap or recency or position", "--judge-report", "report"
    )
    assert set(ran.parseoutcomes()) <= {"failed", "skipped", "deselected"}
    assert ran.decision[0] == "INCONCLUSIVE"
    assert ran.decision[1][0] == snapshot
    assert len(said_of_control(ran)) == 1


@pytest.mark.parametrize("baseline", ["good", "first"])
def test_both_judges_of_a_swap_have_to_read(project: Controlled, baseline: str) -> None:
    """A good judge is approved against itself, and against one that does not read nothing is decided."""
    ran = project.run("--judge-baseline", baseline, "test_swap.py", "--judge-report", "report")
    assert ran.decision[0] == {"good": "APPROVE", "first": "INCONCLUSIVE"}[baseline]
    assert len(said_of_control(ran)) == len({"good", baseline})


def test_a_judge_that_reads_passes_its_control(project: Controlled, snapshot: SnapshotAssertion) -> None:
    """Right about all clear pairs in both orders: PASS, first in the summary and in report.json, and items decide."""
    ran = project.run("-k", "cue or position", "--judge-report", "report")
    assert ran.parseoutcomes().keys() == {"passed", "deselected"}
    (row,) = ran.report["controls"]
    assert row.pop("message") in said_of_control(ran)[0]
    assert row == {
        "judge": "good",
        "dataset": "house-control",
        "n": 30,
        "right_both_orders": 30,
        "first_selected": 30,
        "status": "PASS",
    }
    assert list(ran.report).index("controls") < list(ran.report).index("contrasts")
    heading = next(number for number, line in enumerate(ran.outlines) if line.strip("= ") == "judges")
    assert lines_about(ran.outlines[heading + 1], "good passed") == snapshot
    title = next(number for number, line in enumerate(ran.outlines) if line.startswith("--- control: "))
    assert lines_about(ran.outlines[title + 1], "on house-control") == snapshot


@pytest.mark.slow
def test_stories_have_a_control_of_their_own(project: Controlled) -> None:
    """A judge that knows everything but stories is a FAIL on stories alone."""
    project.configure(own="")
    ran = project.run(
        "--judge", "no_stories", "--judge-pairs", "12", "-k", "recency or position", "--judge-report", "report"
    )
    assert {row["dataset"]: row["status"] for row in ran.report["controls"]} == {
        "house-control": "PASS",
        "house-control-stories": "FAIL",
    }
    statuses = {row["dataset"]: row["status"] for row in ran.report["contrasts"]}
    assert statuses == {
        "house-close": "PASS",
        "house-qa": "PASS",
        "house-close-stories": "FAIL",
        "house-stories": "FAIL",
    }


@pytest.mark.parametrize("mode", ["fail", "warn"])
def test_a_judge_that_counts_passes_nothing(project: Controlled, mode: str, snapshot: SnapshotAssertion) -> None:
    """Paragraphs tell the better story of a control of one's own: INCONCLUSIVE; no item, no swap, no output passes it."""
    own = '[control]\ndataset = "house-stories"\n'
    project.configure(own="", more=own + WIDE.replace("[gate]", f'[gate]\ninconclusive = "{mode}"'))
    ran = project.run(
        "--judge",
        "paragraphs",
        "--judge-baseline",
        "good",
        "--judge-dataset",
        "house-stories",
        "-k",
        "position",
        "--judge-pairs",
        "24",
        "--judge-report",
        "report",
    )
    assert ran.ret == 1
    (row,) = (row for row in ran.report["controls"] if row["judge"] == "paragraphs")
    assert row["status"] == "INCONCLUSIVE"
    assert lines_about(row["message"], "better response") == snapshot
    assert {each["status"] for each in of("paragraphs", ran) if "reasons" not in each} == {"INCONCLUSIVE"}
    assert {part["part"] for each in ran.report["results"] for part in each["decided_by"]} == {"control"}
    assert ran.decision[0] == "INCONCLUSIVE"
    assert lines_about(ran.stdout.str(), "no APPROVE") == snapshot
    short = "INCONCLUSIVE: no check of "
    assert len([line for line in ran.outlines if line.startswith(short)]) == 2 == ran.parseoutcomes()["failed"] - 1
    assert lines_about(said_of_control(ran)[-1], "on house-stories") == snapshot
    for page in ("report.md", "report.html"):
        assert lines_about((ran.folder / page).read_text(encoding="utf-8"), "of paragraphs") == snapshot


@pytest.mark.parametrize("expires", ["2099-12-31", "2020-01-31"])
def test_nobody_answers_for_a_judge_that_does_not_read(project: Controlled, expires: str) -> None:
    """A waiver of a contrast covers what was measured of it: an item whose judge fails its control fails all the same."""
    waiver = f'contrast = "recency-new-old"\nowner = "us"\nreason = "known"\nexpires = {expires}\n'
    project.configure(more=f"[[waivers]]\n{waiver}{WIDE}".replace("[[waivers]]", "[[tool.judgefixtures.waivers]]"))
    ran = project.run("--judge", "first", "test_recency.py", "--judge-report", "report")
    assert (ran.ret, ran.parseoutcomes()) == (1, {"failed": 1})
    (row,) = ran.report["contrasts"]
    assert (row["status"], row["waived"]) == ("FAIL", None)
    assert [part["part"] for part in row["decided_by"]] == ["control"]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("judge", readers.COUNTED)
def test_a_judge_that_counts_fails(project: Controlled, judge: str) -> None:
    """Sentences, distinct words, letters, commas: nothing that is counted tells twins apart, of answers or stories."""
    project.configure(own="")
    ran = project.run("--judge", judge, "--judge-pairs", "4", "-k", "position", "--judge-report", "report")
    assert {(row["dataset"], row["status"]) for row in ran.report["controls"]} == {(name, "FAIL") for name in TWINS}


# --- the configuration ----------------------------------------------------------------------------------------


def test_a_control_that_is_switched_off_is_said(project: Controlled) -> None:
    """`control = false`: nobody is asked about house pairs, and the summary and the report say so of every judge."""
    project.configure("control = false")
    ran = project.run("--judge", "good", "--judge", "first", "-k", "recency", "--judge-report", "report")
    assert [(row["judge"], row["dataset"], row["status"]) for row in ran.report["controls"]] == [
        ("first", None, "NOT_APPLICABLE"),
        ("good", None, "NOT_APPLICABLE"),
    ]
    assert len([line for line in said_of_control(ran) if "control = false" in line]) == 2
    statuses = {row["judge"]: row["status"] for row in ran.report["contrasts"]}
    assert statuses == {"good": "PASS", "first": "INCONCLUSIVE"}  # no room to move is no PASS in any case


@pytest.mark.slow
def test_any_dataset_with_gold_can_control(project: Controlled) -> None:
    """[control] dataset, pairs and threshold are used, with the numbers in the row."""
    project.write_pairs(own_pairs(gold=True))
    project.configure(more=f'[control]\ndataset = "own"\npairs = 8\nthreshold = 0.6\n{WIDE}')
    ran = project.run("--judge", "good", "--judge", "knows_house", "-k", "recency", "--judge-report", "report")
    found = {row["judge"]: row for row in ran.report["controls"]}
    assert {(row["dataset"], row["n"]) for row in found.values()} == {("own", 8)}
    assert (found["good"]["status"], found["knows_house"]["status"]) == ("PASS", "FAIL")
    assert "stands first in 16 of 16" in found["knows_house"]["message"]


MISTAKES = {
    "control = true": ["control", "a table with dataset", "or false", "True"],
    "control = 30": ["control", "a table with dataset", "or false", "30"],
    '[control]\ndataset = "howse-qa"': ["control] dataset", "'howse-qa'", "house-qa"],
    "[control]\npairs = 4": ["control", "pairs = 4 can never exceed threshold = 0.5", "at least 5"],
    "[control]\nthreshold = 0.95": ["control", "pairs = 30 can never exceed threshold = 0.95", "at least 59"],
    "[control]\nthreshold = 1.5": ["control.threshold", "1.5"],
    "[control]\npair = 30": ["unknown key 'control.pair'", "pairs"],
}


@pytest.mark.parametrize(("mistake", "words"), MISTAKES.items(), ids=[*MISTAKES])
def test_a_mistake_in_the_control_is_a_clear_error(project: Controlled, mistake: str, words: list[str]) -> None:
    """A wrong [control] is one error before anything runs, which names the key, the value and what is accepted."""
    if mistake.startswith("["):
        project.configure(more=f"{mistake}\n{WIDE}")
    else:
        project.configure(mistake)
    ran = project.run("-k", "recency")
    assert ran.ret in (1, 2)
    (line,) = {line for line in ran.outlines if words[0] in line and "pyproject.toml: " in line}
    assert all(word in line for word in words)


@pytest.mark.parametrize("golden", [0, 3])
def test_a_control_needs_gold(project: Controlled, golden: int, snapshot: SnapshotAssertion) -> None:
    """A dataset without gold, or with too little, cannot control: ERROR with what is missing, and nothing is asked."""
    project.write_pairs([*own_pairs(gold=True)[:golden], *own_pairs()[golden:]])
    project.configure('dataset = ["own"]', more=f'[control]\ndataset = "own"\n{WIDE}')
    ran = project.run("-k", "recency", "--judge-report", "report")
    assert ran.parseoutcomes().keys() == {"failed", "deselected"}
    (row,) = ran.report["controls"]
    assert (row["status"], row["n"]) == ("ERROR", 0)
    assert lines_about(row["message"], "pass threshold") == snapshot
    assert "use at least 5" in ran.report["contrasts"][0]["message"]
    assert lines_about(project.run("--judge-preflight", "-k", "recency").outlines, "(threshold") == snapshot


def test_a_control_takes_the_first_pairs_with_gold(project: Controlled) -> None:
    """Gold that few pairs have is looked for in the whole dataset, whatever --judge-pairs says."""
    project.write_pairs(
        [row if number % 3 == 0 else {**row, "gold": None} for number, row in enumerate(own_pairs(gold=True))]
    )
    project.configure('dataset = ["own"]', more=f'[control]\ndataset = "own"\npairs = 6\n{WIDE}')
    ran = project.run("-k", "recency", "--judge-pairs", "20", "--judge-report", "report")
    (row,) = ran.report["controls"]
    assert (row["status"], row["n"]) == ("PASS", 6)


@pytest.mark.slow
def test_a_dataset_that_controls_is_not_what_is_gated(project: Controlled) -> None:
    """Unless it is named: whoever defines nothing but clear pairs for the control gates on the default datasets."""
    own = "[datasets.own]\npath = 'pairs.jsonl'\n"
    for more, expected in (("", {"house-close"}), ("[datasets.other]\npath = 'pairs.jsonl'\n", {"other"})):
        project.configure(own=own + more, more='[control]\ndataset = "own"\n')
        ids = project.ids("-k", "recency and not stories and not four-cell")
        assert {line.partition("[good-")[2].partition("-recency")[0] for line in ids} == expected
    project.configure('dataset = ["own"]', own=own, more='[control]\ndataset = "own"\n')
    assert [line for line in project.ids("-k", "recency") if "good-own-recency" in line]


def test_fewest_pairs_are_those_that_can_pass() -> None:
    """`fewest` is the smallest number of pairs that can pass at all, for any threshold."""
    for threshold in (0.1, 0.5, 0.6, 0.75, 0.9, 0.95):
        fewest = ControlTable(pairs=500, threshold=threshold).fewest
        assert min_correct_to_pass(fewest, threshold) == fewest
        assert min_correct_to_pass(fewest - 1, threshold) > fewest - 1
        with pytest.raises(JudgeFixturesError, match=f"Set at least {fewest}"):
            build_config({"control": {"pairs": fewest - 1, "threshold": threshold}})


# --- recordings -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_control_is_recorded_once_and_replayed(recorded: Controlled, server: Server) -> None:
    """One recording serves all items and runs; without a server the report is the same, also under -n 2."""
    assert len(about_house(server)) == CONTROL
    assert len(server.asked) == CONTROL + 2 * N
    again = recorded.run("-k", "cue", "--judge-record", "missing")
    assert again.ret == 0
    assert len(about_house(server)) == CONTROL
    recorded.configure()
    serial = recorded.run("-k", "cue", "--judge-report", "report")
    assert serial.ret == 0
    files = {file.name: file.read_bytes() for file in serial.folder.iterdir()}
    assert serial.report["controls"][0]["n"] == 30
    assert {row["dataset"] for row in serial.rows("judgments")} == {"own", "house-control"}
    parallel = recorded.run("-n", "2", "-k", "cue", "--judge-report", "report")
    assert parallel.ret == 0
    assert {file.name: file.read_bytes() for file in parallel.folder.iterdir()} == files


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["missing", "all"])
@pytest.mark.slow
def test_processes_that_record_share_the_control(project: Controlled, server: Server, mode: str) -> None:
    """Under -n 2 the control is paid for once, and recorded as serially."""
    project.configuration = served
    project.configure(server.url)
    ran = project.run("-n", "2", "-k", "cue", "--judge-record", mode, "--judge-report", "report")
    assert ran.ret == 0
    assert len(about_house(server)) == CONTROL
    assert ran.report["controls"][0]["right_both_orders"] == 30


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["all", "missing"])
def test_a_control_leaves_other_recordings_of_its_dataset(recorded: Controlled, server: Server, mode: str) -> None:
    """The control asks about some pairs alone: what else is recorded of its dataset stays and replays."""
    about = ("--judge-dataset", "house-control", "--judge-pairs", "100", "test_position.py::test_position")
    assert recorded.run(*about, "--judge-record", "missing").ret == 0
    assert len(about_house(server)) == 2 * 60
    before = {
        name: recorded.cassette(name, dataset="house-control").read_text() for name in ("no-cue", NO_CUE_SWAPPED.name)
    }
    assert recorded.run("-k", "recency", "--judge-record", mode).ret == 0
    assert len(about_house(server)) == 2 * 60 + (CONTROL if mode == "all" else 0)
    for name, text in before.items():
        after = recorded.cassette(name, dataset="house-control").read_text()
        assert len(after.splitlines()) == len(text.splitlines()) == 1 + 60
    recorded.configure()
    assert recorded.run(*about).ret == 0
    assert recorded.run("-k", "recency").ret == 0


@pytest.mark.slow
def test_a_control_that_is_not_recorded_names_the_command(recorded: Controlled, server: Server) -> None:
    """Without its recording the control is an ERROR whose command records it, and nothing else."""
    shutil.rmtree(recorded.cassettes / "ours" / "house-control")
    missed = recorded.run("-k", "recency", "--judge-report", "report")
    assert missed.ret == NOT_MEASURED
    assert missed.report["controls"][0]["status"] == "ERROR"
    (command,) = {found[0] for line in missed.outlines if (found := re.findall(r"Record: pytest (.+)$", line))}
    before = len(server.asked)
    assert recorded.run(*command.split()).ret == 0
    assert len(server.asked) == before + CONTROL
    recorded.configure()
    assert recorded.run("-k", "recency").ret == 0


@pytest.mark.slow
def test_a_control_replays_without_its_source(project: Controlled, server: Server) -> None:
    """Gold that was found farther on than anything else was asked is found among the recorded pairs again."""
    rows = own_pairs(gold=True)
    project.write_pairs([row if number % 3 == 0 else {**row, "gold": None} for number, row in enumerate(rows)])
    project.configuration = served
    table = '[control]\ndataset = "own"\npairs = 6'
    project.configure(server.url, head='dataset = ["own"]', judge=table)
    options = ("-k", "recency", "--judge-pairs", "12", "--judge-report", "report")
    recorded = project.run(*options, "--judge-record", "missing", "--judge-force").report
    assert [(row["n"], row["status"]) for row in recorded["controls"]] == [(6, "PASS")]
    project.configure(head='dataset = ["own"]', judge=table)
    (project.path / "pairs.jsonl").unlink()
    again = project.run(*options).report
    assert again["controls"] == recorded["controls"]
    assert again["contrasts"] == recorded["contrasts"]


@pytest.mark.slow
def test_chosen_pairs_replay_without_their_source(project: Controlled, server: Server) -> None:
    """Pairs that are not the first ones are found among all that was recorded, of which more is about other things."""
    rows = own_pairs(gold=True, count=60)
    for number, row in enumerate(rows):
        if row["gold"] == 1 or number > 20:
            row["response_1"] += " It is."
    project.write_pairs(rows)
    project.configuration = served
    table = '[control]\ndataset = "own"\npairs = 8'
    project.configure(server.url, head='dataset = ["own"]', judge=table)
    options = ("-k", "recency", "--judge-pairs", "20", "--judge-report", "report")
    recorded = project.run(*options, "--judge-record", "missing", "--judge-force").report
    asked = [asked.prompt for asked in server.asked if "2025" not in asked.prompt]
    assert len(asked) == 2 * 8
    project.configure(head='dataset = ["own"]', judge=table)
    (project.path / "pairs.jsonl").unlink()
    again = project.run(*options).report
    assert again["controls"] == recorded["controls"]
    assert again["contrasts"] == recorded["contrasts"]


@pytest.mark.slow
def test_a_control_is_shown_where_nothing_else_is_recorded(recorded: Controlled) -> None:
    """Items that miss their recordings are ERRORs of their own: the control that passed is reported all the same."""
    recorded.configure()
    ran = recorded.run("-k", "provenance", "--judge-report", "report")
    assert {row["status"] for row in ran.report["contrasts"]} == {"ERROR"}
    assert [row["status"] for row in ran.report["controls"]] == ["PASS"]


def test_the_preflight_counts_the_control(recorded: Controlled) -> None:
    """What the control costs is part of the preflight, as long as it is not recorded; a control that is off is said."""
    recorded.configure()
    line = "control of ours: 30 pairs of house-control, both orders, before all other checks"
    kept = recorded.run("--judge-preflight", "-k", "recency")
    kept.stdout.fnmatch_lines([f"  {line}", "  ours: at most 0 calls*"])
    shutil.rmtree(recorded.cassettes)
    recorded.run("--judge-preflight", "-k", "recency").stdout.fnmatch_lines(
        [f"*ours: at most {CONTROL + 2 * N} calls*"]
    )
    recorded.configure(judge='strategy = "plan-self"')  # a plan for every pair
    calls = CONTROL + 30 + 3 * N
    recorded.run("--judge-preflight", "-k", "recency").stdout.fnmatch_lines([f"*ours: at most {calls} calls*"])
    recorded.configure(head="control = false")
    off = recorded.run("--judge-preflight", "-k", "recency")
    off.stdout.fnmatch_lines(["  control = false", f"*ours: at most {2 * N} calls*"])


# --- arms without room to move --------------------------------------------------------------------------------


def judged(verdicts: str, condition: Condition = NO_CUE, gold: int | None = None) -> list[Judgment]:
    """Return a judgment per character: 1, 2, or anything else for an answer that is invalid."""
    return [
        Judgment(
            Pair(f"p{number}", "q", f"a{number}", f"b{number}", gold=gold),
            condition,
            JudgeReply(Verdict(int(verdict), "x") if verdict in "12" else Verdict(None, "", "no-json")),
        )
        for number, verdict in enumerate(verdicts)
    ]


@pytest.mark.parametrize(
    ("arms", "side"),
    [
        (("1" * 100, "1" * 95 + "2" * 5), 1),
        (("2" * 100, "2" * 95 + "1" * 5), 2),
        (("1" * 100, "1" * 94 + "2" * 6), None),
        (("1" * 100, "2" * 100), None),
        (("1" * 20 + "x" * 80, "1" * 100), 1),  # of the valid ones
        (("x" * 9, "x" * 9), None),
    ],
)
def test_a_side_is_stuck_where_both_arms_chose_it(arms: tuple[str, str], side: int | None) -> None:
    """At least 95% of the valid verdicts of every arm: then the judge chose a side."""
    assert constant_side([judged(arm) for arm in arms]) == side


def test_gold_on_one_side_accounts_for_one_sided_verdicts() -> None:
    """Where the better response stood there in 90% of the pairs, the pairs explain the arms: a PASS is one."""
    new, old = contrasts("recency")[0].x, contrasts("recency")[0].y
    assert constant_side([judged("1" * 100, new, gold=1), judged("1" * 100, old, gold=1)]) is None
    assert constant_side([judged("1" * 100, new, gold=2), judged("1" * 100, old, gold=2)]) == 1
    # Shown the other way round, the first one stood second.
    assert constant_side([judged("2" * 100, NO_CUE_SWAPPED, gold=1)] * 2) is None


def test_a_contrast_without_room_to_move_is_inconclusive(snapshot: SnapshotAssertion) -> None:
    """Equal arms of one side are no PASS; arms that are as equal and balanced are."""
    stuck = measure_contrast(judged("1" * 100), judged("1" * 100))
    found = decide_contrast(stuck, GateTable())
    assert found.status is Status.INCONCLUSIVE
    assert lines_about(found.reasons[0], "unchanged verdicts") == snapshot
    assert "room" not in found.message, "by the order its verdicts do move, and its pairs are called close beside it"
    assert decide_contrast(measure_contrast(judged("12" * 50), judged("12" * 50)), GateTable()).status is Status.PASS


def test_a_swap_without_room_to_move_is_inconclusive(snapshot: SnapshotAssertion) -> None:
    """Neither a candidate that is stuck nor one beside a baseline that is stuck is compared: what moves is no worse."""
    (recency,) = contrasts("recency")
    stuck = (judged("1" * 300, recency.x), judged("1" * 300, recency.y))
    moved = (judged("1" * 210 + "2" * 90, recency.x), judged("1" * 60 + "2" * 240, recency.y))
    tables = build_config({"judges": {"new": {"provider": "openai", "model": "m"}}})
    judge = load_judge(tables.judges["new"], "new")
    case = CheckInput(judge, "own", tuple(each.pair for each in stuck[0]), tables, judge)
    for ours, theirs, who in ((stuck, moved, "candidate"), (moved, stuck, "baseline")):
        found = SwapCheck(recency).evaluate(case, *(Answers(tuple(map(tuple, arms))) for arms in (ours, theirs)))
        assert found.status is Status.INCONCLUSIVE
        assert f"the {who} chose the first response" in found.reasons[0]
        assert lines_about(found.reasons[0], "unchanged verdicts") == snapshot
        assert "room" not in found.reasons[0], "its pairs may all be close"
        assert not [row for row in found.rows["swap"] if row.margin is not None]
        (decision,) = decide_swaps([found]) or ()
        assert (decision.status, decision.components) == ("INCONCLUSIVE", ())
        assert found.reasons[0] in decision.reasons
    free = (judged("12" * 150, recency.x), judged("12" * 150, recency.y))
    found = SwapCheck(recency).evaluate(case, *(Answers(tuple(map(tuple, arms))) for arms in (moved, free)))
    assert found.status is Status.FAIL  # beside one that has room to move it is worse


@pytest.mark.parametrize(("invalid", "first"), [(8, True), (3, True), (40, False)])
def test_a_stuck_side_is_named_before_invalid_answers(invalid: int, first: bool) -> None:
    """What the valid answers have in common is what is wrong; of many invalid ones the number stands beside it."""
    told = (
        "1" * (30 - invalid // 2) + "x" * (invalid // 2),
        "1" * (30 - (invalid + 1) // 2) + "x" * ((invalid + 1) // 2),
    )
    own, other = (judged(each, arm, gold=1) for each, arm in zip(told, (NO_CUE, NO_CUE_SWAPPED), strict=True))
    found = evaluate_control("ours", "house-qa", own, other, 0.5)
    valid = 60 - invalid
    side = f"the judge chose the first response in {valid} of {valid} answers, whatever its text"
    lost = f"{invalid} of 60 answers are invalid"
    assert found.cause.startswith(side if first else lost)
    assert (side in found.cause, lost in found.cause) == (first, invalid > 6)


@pytest.mark.parametrize(
    ("told", "besides"),
    [
        ("12" * 13, True),
        ("1" * 15, False),  # all of the valid ones are right
    ],
)
def test_invalid_answers_hide_no_toss_of_a_coin(told: str, besides: bool, snapshot: SnapshotAssertion) -> None:
    """They are what is wrong where the others are right; where these are not, they stand beside that."""
    own = judged(told + "x" * (30 - len(told)), NO_CUE, gold=1)
    swapped = told if besides else "2" * len(told)
    other = judged(swapped + "x" * (30 - len(told)), NO_CUE_SWAPPED, gold=1)
    found = evaluate_control("ours", "house-qa", own, other, 0.5)
    assert found.cause == snapshot
    assert ("also, 8 of 60 answers are invalid" in found.cause) == besides


def test_a_grader_that_passes_everything_is_named_before_invalid_grades(snapshot: SnapshotAssertion) -> None:
    """The same of a judge of one response."""
    labels: tuple[Literal["pass", "fail"], ...] = ("pass", "fail")
    examples = [Example(f"e{n}", "Q", "A", label=labels[n % 2]) for n in range(60)]
    arm = [
        Judgment(
            each, SingleResponseCondition(), JudgeReply(Verdict(None, "", "truncated") if n < 8 else Verdict(1, "x"))
        )
        for n, each in enumerate(examples)
    ]
    found = GradeControl().decide("ours", "own", [arm], ControlTable())
    assert lines_about(found.cause, "wrong; also") == snapshot


@pytest.mark.parametrize(
    "scores", [[(7, 5), (5, 7)], [(7, 5)] * 19 + [(5, 5)] * 9 + [(5, 7)] * 2, [(6, 6)], [(6, 6), (7, 7)], [(5, 7)]]
)
def test_of_a_judge_that_scores_no_order_is_told(scores: list[tuple[int, int]], snapshot: SnapshotAssertion) -> None:
    """It is shown one response at a time, and each pair counts once."""

    def scored(n: int, condition: Condition) -> Judgment:
        a, b = scores[n % len(scores)] if condition is NO_CUE else scores[n % len(scores)][::-1]
        verdict = Verdict(None, "", tie=True) if a == b else Verdict(1 if a > b else 2, "")
        return Judgment(Pair(f"p{n}", "Q", "A", "B", gold=1), condition, JudgeReply(replace(verdict, scores=(a, b))))

    own, other = ([scored(n, arm) for n in range(30)] for arm in (NO_CUE, NO_CUE_SWAPPED))
    found = evaluate_control("ours", "house-qa", own, other, 0.5)
    assert found.message == snapshot
    assert "order" not in found.message


@pytest.mark.parametrize(("gold", "status"), [(None, "INCONCLUSIVE"), (2, "INCONCLUSIVE"), (1, "PASS")])
def test_a_judge_that_is_stuck_on_the_pairs_alone(project: Controlled, gold: int | None, status: str) -> None:
    """It passes its control and chooses what stands first of all other pairs: no cue passes unless gold explains it."""
    project.write_pairs([row | {"gold": gold} if gold else row for row in own_pairs()])
    project.configure(own="[datasets.own]\npath = 'pairs.jsonl'\nbalance_positions = false\n")
    ran = project.run(
        "--judge",
        "knows_house",
        "--judge-baseline",
        "knows_house",
        "-k",
        "recency or four-cell",
        "--judge-report",
        "report",
    )
    assert ran.report["controls"][0]["status"] == "PASS"
    found = {(name, row["status"]) for name in ("contrasts", "four_cells") for row in ran.report[name]}
    # Where the order is balanced out, gold lies on either side: nothing explains the first place.
    assert found == {("contrasts", status), ("four_cells", "INCONCLUSIVE")}
    decision = ran.report["decision"]
    assert decision["status"] == "INCONCLUSIVE"  # provenance was not compared
    assert any("unchanged verdicts" in reason for reason in decision["reasons"]) == (status != "PASS")


# --- what -k selects ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cue_selects_the_contrasts_of_cues(project: Controlled) -> None:
    """`-k cue`: provenance, recency and families of one's own; `position` and `repeat` are found by their names."""
    own = 'forum = "Response {number} is from a forum."\njournal = "Response {number} is from a journal."\n'
    project.configure(more=f"[cues.venue]\n{own}")
    options = ("--judge-repeats", "2", "--judge-baseline", "good")
    cues = [line.rpartition("[good-own-")[2].rstrip("]") for line in project.ids(*options, "-k", "cue")]
    assert {name.partition("-")[0] for name in cues} == {"provenance", "recency", "venue"}
    assert len(cues) == len({*cues}) == 6 + 1 + 1
    (position,) = project.ids(*options, "-k", "position and not swap and not four-cell")
    (repeat,) = project.ids(*options, "-k", "repeat and not swap")
    assert position.endswith("[good-own-position]")
    assert repeat.endswith("[good-own-repeat-1]")
    assert not [name for name in project.ids(*options) if "no-cue" in name]


def test_without_datasets_families_have_their_own(project: Controlled) -> None:
    """Nothing selected: close pairs for cues, placebo, repeat and four cells; clear pairs for all else."""
    project.configure(own="")
    asked: dict[str, set[str]] = {}
    for line in project.ids("--judge-repeats", "2"):
        dataset = next(name for name in ("house-close", "house-bias", "house-instructions", "house-") if name in line)
        asked.setdefault(dataset, set()).add(Path(line.partition("::")[0]).stem + line.partition("::")[2].split("[")[0])
    close = {name.partition("test_")[2].partition("test_")[0] for name in asked["house-close"]}
    assert close == {"noise", "position", "provenance", "recency"}
    assert not [line for line in project.ids("-k", "position and close") if "four-cell" not in line]


# --- the control alone ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "status"), [(19, Status.FAIL), (20, Status.PASS)])
def test_twenty_of_thirty_show_that_a_judge_reads(right: int, status: Status) -> None:
    """The exact one-sided 95% bound exceeds .5 from 20 of 30 on."""
    own = judged("1" * 30, NO_CUE, gold=1)
    other = judged("2" * right + "1" * (30 - right), NO_CUE_SWAPPED, gold=1)
    found = evaluate_control("ours", "house-qa", own, other, 0.5)
    assert (found.status, found.right_both_orders, found.n) == (status, right, 30)
    assert found.first_selected == 30 + 30 - right


def counted(told: int, right: int, n: int = 30) -> tuple[list[Judgment], list[Judgment]]:
    """Return a judge's answers in both orders: commas tell the better response on `told` pairs, it is right on `right`.

    It is right where commas tell first; where it is wrong it takes the other response in both orders.
    """
    both: tuple[list[Judgment], list[Judgment]] = ([], [])
    for number in range(n):
        texts = ("Yes, yes.", "Yes- yes.") if number < told else ("Yes- yes.", "Yes, yes.")
        pair = Pair(f"p{number}", "q", *texts, gold=1)
        chosen = 1 if number < right else 2
        for arm, condition, place in zip(both, (NO_CUE, NO_CUE_SWAPPED), (chosen, 3 - chosen), strict=True):
            arm.append(Judgment(pair, condition, JudgeReply(Verdict(place, "x"))))
    return both


@pytest.mark.parametrize(
    ("told", "right", "status"),
    [
        (28, 30, Status.PASS),
        (28, 29, Status.INCONCLUSIVE),
        (28, 28, Status.INCONCLUSIVE),
        (25, 28, Status.PASS),
        (25, 27, Status.INCONCLUSIVE),
        (30, 30, Status.INCONCLUSIVE),
        (15, 22, Status.INCONCLUSIVE),
        (15, 23, Status.PASS),
        (15, 19, Status.FAIL),
    ],
)
def test_a_count_that_explains_as_much_as_gold_is_no_pass(told: int, right: int, status: Status) -> None:
    """A PASS needs more pairs that gold explains than any count does; a count that tells all leaves nothing to see."""
    found = evaluate_control("ours", "house-qa", *counted(told, right), 0.5)
    assert found.status is status
    assert ("explains its verdicts" in found.message) == (status is Status.INCONCLUSIVE)
    assert ("better response" in found.message) == (status is Status.INCONCLUSIVE)


def test_equal_counts_are_a_coin() -> None:
    """Where a count says nothing it explains half of the choices: it is no better than gold for being silent."""
    pairs = [Pair(f"p{number}", "q", "Yes, yes." if number < 20 else "Yes.", "Yes.", gold=1) for number in range(30)]
    own = [Judgment(pair, NO_CUE, JudgeReply(Verdict(1, "x"))) for pair in pairs]
    other = [Judgment(pair, NO_CUE_SWAPPED, JudgeReply(Verdict(2, "x"))) for pair in pairs]
    found = best_feature_explanation(list(zip(own, other, strict=True)))
    assert (found.pairs, found.larger) == (25.0, True)
    assert evaluate_control("ours", "house-qa", own, other, 0.5).status is Status.PASS


@pytest.mark.parametrize("name", ["house-qa", "house-stories"])
def test_counts_tell_as_little_as_the_house_sets_allow(name: str) -> None:
    """Of the chosen 30 no count tells the better response on 20, but one that nearly no pair of the set contradicts."""
    pairs = load_sample(build_config({}).source(name), 0).pairs
    chosen = least_predictable_pairs(pairs, 30)
    assert len({pair.id for pair in chosen}) == 30
    assert chosen == tuple(pair for pair in pairs if pair in chosen)

    def told(among: tuple[Pair, ...], count: str) -> float:
        sides = [feature_leanings(pair)[count] * (1 if pair.gold == 1 else -1) for pair in among]
        return max(sum((1 + sign * side) / 2 for side in sides) / len(among) for sign in (1, -1))

    telling = {count for count in COUNTS if told(chosen, count) > 20 / 30}
    assert telling == {count for count in COUNTS if told(pairs, count) > 0.95}
    assert max(told(pairs[:30], count) for count in COUNTS) >= 0.9  # what was asked before told more


def test_the_choice_knows_texts_and_gold_alone() -> None:
    """The same pairs whichever side their responses stand on and whoever asks; the first ones where nothing tells."""
    pairs = load_sample(build_config({}).source("house-stories"), 0).pairs
    turned = tuple(swap_responses(pair) if number % 3 else pair for number, pair in enumerate(pairs))
    assert [pair.id for pair in least_predictable_pairs(turned, 30)] == [
        pair.id for pair in least_predictable_pairs(pairs, 30)
    ]
    equal = tuple(Pair(f"p{number}", "q", f"a{number}", f"b{number}", gold=1) for number in range(60))
    assert least_predictable_pairs(equal, 30) == equal[:30]
    assert least_predictable_pairs(equal[:8], 30) == equal[:8]
    for name in TWINS:
        twins = load_sample(build_config({}).source(name), 0).pairs
        assert least_predictable_pairs(twins, 30) == twins[:30]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("count", COUNTS)
def test_no_count_passes_on_twins(name: str, count: str) -> None:
    """Whoever takes what has more, or less, of something and of equal ones always the same side is like a coin: FAIL."""
    pairs = load_sample(build_config({}).source(name), 0).pairs[: ControlTable().pairs]
    for larger in (1, -1):
        for otherwise in (1, 2):
            sides = [feature_leanings(pair)[count] * larger for pair in pairs]
            chosen = [otherwise if side == 0 else 1 if side > 0 else 2 for side in sides]
            both: tuple[list[Judgment], list[Judgment]] = ([], [])
            for pair, place in zip(pairs, chosen, strict=True):
                both[0].append(Judgment(pair, NO_CUE, JudgeReply(Verdict(place, "x"))))
                both[1].append(Judgment(pair, NO_CUE_SWAPPED, JudgeReply(Verdict(3 - place, "x"))))
            found = evaluate_control("ours", name, *both, ControlTable().threshold)
            assert (found.status, found.n) == (Status.FAIL, 30)
            assert 12 <= found.right_both_orders <= 18


def test_twins_are_chosen_by_no_count() -> None:
    """A judge that reads all twins but one, and takes the wrong one of that in both orders, passes, whichever it is."""
    for name in TWINS:
        pairs = load_sample(build_config({}).source(name), 0).pairs[: ControlTable().pairs]
        for wrong in pairs:
            places = [3 - (pair.gold or 0) if pair == wrong else pair.gold for pair in pairs]
            own = [Judgment(pair, NO_CUE, JudgeReply(Verdict(n, "x"))) for pair, n in zip(pairs, places, strict=True)]
            other = [
                Judgment(pair, NO_CUE_SWAPPED, JudgeReply(Verdict(3 - (n or 0), "x")))
                for pair, n in zip(pairs, places, strict=True)
            ]
            assert evaluate_control("ours", name, own, other, 0.5).status is Status.PASS


def test_a_judge_that_is_better_than_a_coin_is_not_called_one() -> None:
    """Below the threshold and demonstrably right more often than wrong: that is said; else it is like a coin."""
    for right, wrong, said in (
        (19, 2, "for threshold = 0.5 (wrong in both orders on 2 pairs)"),
        (12, 10, "its verdicts look random"),
    ):
        neither = 30 - right - wrong
        own = judged("1" * right + "2" * wrong + "12" * (neither // 2) + "1" * (neither % 2), NO_CUE, gold=1)
        other = judged("2" * right + "1" * wrong + "12" * (neither // 2) + "1" * (neither % 2), NO_CUE_SWAPPED, gold=1)
        assert said in evaluate_control("ours", "house-qa", own, other, 0.5).message


def test_two_judges_of_one_name_have_a_control_each() -> None:
    """A row per control, not per name; an ERROR whose message names another item's command is the same control."""
    good, bad, *lost = (
        ControlRow(judge="ours", dataset="house-qa", n=n, right_both_orders=n, status=status, message=message)
        for n, status, message in (
            (30, Status.PASS, "it reads"),
            (20, Status.FAIL, "it takes a side"),
            (0, Status.ERROR, "Record: a"),
            (0, Status.ERROR, "Record: b"),
        )
    )
    findings = [
        Finding("contrast", "ours", "own", "recency-new-old", Status.PASS, rows={"controls": (each,)})
        for each in (good, bad, good, *lost)
    ]
    assert [row["status"] for row in CONTROLS.value(findings, {})] == ["ERROR", "PASS", "FAIL"]
