"""Answers that are there already: logs and exports become an imported judge, whose gates run without asking anybody."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from support.importing import Rows, answers, importer, run
from support.project import REPOSITORY, Project, in_pyproject, json_lines, read_rows
from support.rendered import lines_about
from support.server import serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers.imported_answers import Imports
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

N = 40
Choose = Callable[[int, str], Any]  # what is chosen of a pair's number in an order, as numbered in the order shown


def gold_of(number: int) -> int:
    """Return a pair's gold: three of four have it first, so that balanced positions would swap some."""
    return 2 if number % 4 == 0 else 1


def pairs(n: int = N) -> Rows:
    """Return pairs with gold."""
    return [
        {
            "id": f"p{number:02}",
            "question": f"Question {number}?",
            "response_1": f"This, {number}.",
            "response_2": f"That, {number}.",
            "gold": gold_of(number),
        }
        for number in range(n)
    ]


def shown(order: str, choice: int) -> int:
    """Return one of the pair's own responses as it is numbered in the order shown."""
    return choice if order == "1-2" else 3 - choice


def good(number: int, order: str) -> int:
    """Return what a judge says that is right but on every eighth pair."""
    return shown(order, gold_of(number) if number % 8 else 3 - gold_of(number))


def poor(number: int, order: str) -> int:
    """Return what a judge says that always chooses what stands first."""
    del number, order
    return 1


def log(choose: Choose = good, *, n: int = N, orders: Iterable[str] = ("1-2", "2-1"), **more: Any) -> Rows:
    """Return the rows of a log."""
    return [
        {
            "pair": f"p{number:02}",
            "order": order,
            "selected_response": choose(number, order),
            "reason": "The chosen one answers the question.",
            **more,
        }
        for number in range(n)
        for order in orders
    ]


TABLES = """
[judges.mine]
provider = "imported"
[judges.other]
provider = "imported"
[datasets.own]
path = "pairs.jsonl"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with pairs, the configuration of two imported judges, and a few tests of the suite."""
    project = Project(pytester, lambda more="": in_pyproject(f"{TABLES}{more}"), fresh=True)
    project.copy_tests("accuracy", "position", "noise", "recency", "swap")
    project.write_pairs(pairs())
    project.configure()
    return project


@pytest.fixture
def take(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import rows as the command does, and return what it says."""
    return importer(project, capsys)


# --- what can be checked ---------------------------------------------------------------------------------------


def test_accuracy_is_that_of_the_log(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """An imported judge's accuracy is counted from its log, in the pairs' own order and in both, and says so."""
    said = take(log())
    assert "80 answers about 40 pairs" in said
    assert "order 1-2 40, order 2-1 40" in said
    ran = run(project, "-k", "accuracy")
    ran.assert_outcomes(skipped=1)  # no min_accuracy: nothing is decided
    (row,) = ran.report["accuracy"]
    assert (row["n"], row["correct"], row["accuracy_both_orders"]["value"]) == (40, 35, 35 / 40)
    assert ran.report["judges"]["mine"]["provider"] == "imported"
    (answered,) = ran.report["judges"]["mine"]["answers"]["own"]
    assert re.fullmatch(r"answers\.jsonl [0-9a-f]{16}", answered)
    assert all(row["imported"] for row in ran.rows("judgments"))
    assert lines_about(ran.said, "imported: its") == snapshot


def test_positions_are_those_of_the_log(project: Project, take: Callable[..., str]) -> None:
    """balance_positions swaps no pair of a log: its order 1-2 stays the pair's own."""
    take(log(poor))
    ran = run(project, "-k", "accuracy")
    assert ran.report["accuracy"][0]["correct"] == sum(gold_of(number) == 1 for number in range(N))


@pytest.mark.slow
def test_workers_find_the_same(project: Project, take: Callable[..., str]) -> None:
    """Under -n the report of an imported judge is the same, byte for byte."""
    take(log())
    found = []
    for workers in ("0", "2"):
        ran = run(project, "-k", "accuracy or position", "-n", workers)
        found.append((ran.folder / "report.json").read_bytes())
    assert found[0] == found[1]


def test_the_position_is_gated(project: Project, take: Callable[..., str]) -> None:
    """A log with both orders shows a judge that always chooses what stands first."""
    take(log(poor))
    ran = run(project, "-k", "position")
    ran.assert_outcomes(failed=1, skipped=1)
    (row,) = [row for row in ran.report["contrasts"] if row["family"] == "position"]
    assert (row["n10"], row["n"]) == (N, N)


def test_repeats_are_noise(project: Project, take: Callable[..., str]) -> None:
    """A column that counts repeats, from 0 or from 1, gives the flips between them; what it has not is skipped."""

    def flipping(number: int, order: str) -> int:
        return 3 - good(number, order) if number < 3 else good(number, order)

    take([*log(repeat=1), *log(flipping, repeat=2)])
    ran = run(project, "-k", "noise", "--judge-repeats", "3", "-rs")
    rows = {row["contrast"]: row for row in ran.report["contrasts"]}
    assert rows["repeat-no-cue-1"]["flip_rate"]["value"] == 3 / N
    assert "repeat-no-cue-2" not in rows
    assert "condition no-cue, repeat 2" in ran.said


@pytest.mark.parametrize(
    ("candidate", "baseline", "decided", "code"), [("mine", "other", "APPROVE", 0), ("other", "mine", "REJECT", 1)]
)
def test_a_swap_is_decided_on_accuracy(
    project: Project,
    take: Callable[..., str],
    candidate: str,
    baseline: str,
    decided: str,
    code: int,
    snapshot: SnapshotAssertion,
) -> None:
    """Without families a swap of imported judges is decided on accuracy, and says that no cue was compared."""
    project.configure("[swap]\nfamilies = []\n")
    take(log(good))
    take(log(poor), judge="other")
    ran = project.run("-k", "swap", "--judge", candidate, "--judge-baseline", baseline, "--judge-report", "report")
    assert (ran.decision[0], ran.ret) == (decided, code)
    if code == 0:
        assert lines_about(ran.said, "contrasts were") == snapshot


def test_a_swap_says_what_no_log_has(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """With the default families it is decided on accuracy as well, and says which families were not compared."""
    take(log(good))
    take(log(poor), judge="other")
    ran = project.run("-k", "swap", "--judge", "mine", "--judge-baseline", "other", "--judge-report", "report")
    status, reasons = ran.decision
    assert (status, ran.ret) == ("APPROVE", 0)
    assert lines_about(reasons, "compared: provenance") == snapshot
    assert (
        lines_about("".join(row["message"] for row in ran.report["results"]), "condition recency-new-old") == snapshot
    )


def test_a_cue_free_log_skips_cues(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Without answers to a cue its contrast is skipped with one sentence, and the detector's false alarms are told."""
    rows = log()
    rows[0]["reason"] = "It is the newer response, and so it is better."
    take(rows)
    ran = run(project, "-k", "recency", "-rs")
    ran.assert_outcomes(skipped=1)
    assert lines_about(ran.said, "condition recency-new-old") == snapshot
    (row,) = ran.report["contrasts"]
    assert (row["status"], row["n"], row["false_alarms"]["n"]) == ("NOT_APPLICABLE", 0, N)
    assert row["false_alarms"]["value"] == 1 / N
    assert lines_about(ran.said, "cue-free reasons") == snapshot


def test_a_log_with_cues_is_gated(project: Project, take: Callable[..., str]) -> None:
    """Rows whose condition is one of ours are answers to that cue."""
    cued = [*log(orders=["1-2"], condition="recency-new-old"), *log(orders=["1-2"], condition="recency-old-new")]
    take([*log(), *cued])
    ran = run(project, "-k", "recency")
    ran.assert_outcomes(passed=1)
    assert ran.report["contrasts"][0]["n"] == N


def test_closest_pairs_follow_from_the_log(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Of a dataset with `closest` a log with cues is gated on the pairs closest by its own cue-free answers."""
    tables = (project.path / "pyproject.toml").read_text()
    project.write("pyproject.toml", tables.replace('path = "pairs.jsonl"', 'path = "pairs.jsonl"\nclosest = 20'))
    cued = [*log(orders=["1-2"], condition="recency-new-old"), *log(orders=["1-2"], condition="recency-old-new")]
    take([*log(), *cued])
    ran = run(project, "-k", "recency")
    assert ran.report["contrasts"][0]["n"] == 20
    assert lines_about(ran.said, "closest pairs") == snapshot
    assert "--judge-record" not in ran.said


def test_a_condition_with_gaps_is_an_error(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A condition that lacks some pairs is an ERROR that names them: the rest must not pass for the whole."""
    cued = [*log(orders=["1-2"], condition="recency-new-old"), *log(n=38, orders=["1-2"], condition="recency-old-new")]
    take([*log(), *cued])
    ran = run(project, "-k", "recency")
    ran.assert_outcomes(failed=1)
    assert lines_about(ran.said, "condition recency-old-new") == snapshot
    assert all(name in ran.said for name in ("p38", "p39"))


def test_one_order_is_enough_for_accuracy(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A log with one order has an accuracy, none in both orders, and no position; two of them make a swap."""
    project.configure("[swap]\nfamilies = []\n")
    take(log(orders=["1-2"]))
    take(log(poor, orders=["1-2"]), judge="other")
    ran = run(project, "-k", "accuracy or position", "-rs")
    (row,) = ran.report["accuracy"]
    assert (row["correct"], row["accuracy_both_orders"]) == (35, None)
    assert lines_about(ran.said, "no-cue-21 for") == snapshot
    swapped = run(project, "-k", "swap", "--judge-baseline", "other")
    assert swapped.decision[0] == "APPROVE"


def test_a_dataset_without_answers_is_an_error(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Pairs that no log is about are never skipped over."""
    take(log())
    ran = run(project, "-k", "accuracy", "--judge-dataset", "house-qa")
    ran.assert_outcomes(failed=1)
    assert lines_about(ran.said, "about house-qa") == snapshot
    assert "Use --judge-dataset own, or import them" in ran.said


def test_a_changed_pair_is_not_answered(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """An answer is about the texts that it was given on: a pair that changed since has none."""
    take(log())
    changed = pairs()
    changed[3]["response_2"] = "Something else."
    project.write_pairs(changed)
    ran = run(project, "-k", "accuracy")
    ran.assert_outcomes(failed=1)
    assert lines_about(ran.said, "condition no-cue") == snapshot


# --- the control -----------------------------------------------------------------------------------------------


def test_the_control_is_of_its_own_pairs(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Without [control] dataset an imported judge is controlled on the pairs of its log, and the message says so."""
    project.configure("[control]\npairs = 30\n")
    take(log())
    (found,) = run(project, "-k", "accuracy").report["controls"]
    assert (found["dataset"], found["n"], found["status"]) == ("own", 30, "PASS")
    assert lines_about(found["message"], "[tool.judgefixtures.control]") == snapshot


def test_a_judge_that_does_not_read_fails_its_control(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """One that always chooses what stands first passes nothing: no pairs, however hard, account for that."""
    project.configure("[control]\npairs = 30\n")
    take(log(poor))
    ran = run(project, "-k", "accuracy")
    ran.assert_outcomes(failed=1)
    assert ran.report["controls"][0]["status"] == "FAIL"
    assert lines_about(ran.report["controls"][0]["message"], "first response") == snapshot


def test_hard_pairs_are_no_control(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """One that is wrong on half of the pairs of its log may read all the same: nothing shows it, and that is said."""
    project.configure("[control]\npairs = 30\n")
    take(log(lambda number, order: shown(order, gold_of(number) if number % 2 else 3 - gold_of(number))))
    ran = run(project, "-k", "position")
    assert {row["status"] for row in ran.report["contrasts"]} == {"PASS"}
    (found,) = ran.report["controls"]
    assert found["status"] == "NOT_APPLICABLE"
    assert lines_about(found["message"], "nothing shows", "[tool.judgefixtures.control]") == snapshot


def test_an_import_says_what_it_takes_the_place_of(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Answers of an earlier log that the new one lacks are counted, and how to keep both; the same log says nothing."""
    take(log(orders=("1-2",)))
    assert "in place of" not in take(log(orders=("1-2",)))
    assert lines_about(take(log(orders=("2-1",))), "earlier import") == snapshot


def test_a_control_that_cannot_be_is_an_error(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A control that was asked for, and that the log has no answers about, is an ERROR that says what is lacking."""
    project.configure('[control]\ndataset = "house-qa"\n')
    take(log())
    ran = run(project, "-k", "accuracy")
    ran.assert_outcomes(failed=1)
    (found,) = ran.report["controls"]
    assert found["status"] == "ERROR"
    assert lines_about(found["message"], "about house-qa") == snapshot


def test_a_log_of_one_order_has_no_control(project: Project, take: Callable[..., str]) -> None:
    """Without the other order nothing shows that it reads: said on every summary, and no ERROR."""
    project.configure("[control]\npairs = 30\n")
    take(log(orders=("1-2",)))
    (found,) = run(project, "-k", "accuracy").report["controls"]
    assert found["status"] == "NOT_APPLICABLE"
    assert "in condition no-cue-21" in found["message"]


# --- nothing can be asked --------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [(), ("--judge-preflight",)])
def test_recording_an_imported_judge_is_refused(
    project: Project, take: Callable[..., str], more: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """--judge-record has nobody to ask, and says so before anything runs; a preflight, too."""
    take(log())
    ran = run(project, "-k", "accuracy", "--judge-record", "missing", *more)
    assert ran.ret == 4
    assert lines_about(ran.said, "--judge-record") == snapshot


def test_a_judge_is_recorded_beside_an_imported_one(project: Project, take: Callable[..., str]) -> None:
    """A candidate can be asked where the baseline's answers are a log's: it is asked about the log's pairs."""
    project.write("ours.py", 'def judge(prompt):\n    return \'{"selected_response": 1, "reason": "It is."}\'\n')
    project.configure('[swap]\nfamilies = []\n[judges.asked]\nprovider = "python"\ntarget = "ours:judge"\n')
    take(log())
    ran = project.run(
        "-k",
        "swap",
        "--judge",
        "asked",
        "--judge-baseline",
        "mine",
        "--judge-record",
        "missing",
        "--judge-report",
        "report",
    )
    assert ran.decision[0] == "REJECT"


def test_recordings_keep_their_positions(project: Project, take: Callable[..., str]) -> None:
    """A judge that was recorded in balanced positions is compared with a log: the log answers in either order."""
    with serving(by=lambda asked: asked.answered('{"selected_response": 1, "reason": "It is."}')) as server:
        asked = f'[judges.asked]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
        project.configure(f"[swap]\nfamilies = []\n{asked}")
        ran = project.run("-k", "accuracy", "--judge", "asked", "--judge-record", "missing")
        assert ran.ret == 11  # no limit is set
    frozen = read_rows(project.cassettes / "asked" / "own" / "pairs.jsonl")
    assert [row["response_1"] for row in frozen] != [row["response_1"] for row in pairs()]
    take(log())
    ran = run(project, "-k", "swap", "--judge-baseline", "asked")
    assert ran.decision[0] == "APPROVE"
    assert len(ran.rows("judgments")) == 4 * N


def test_a_key_in_a_log_is_not_written(
    project: Project, take: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known secret that a reason quotes reaches neither the file nor the terminal."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234567890abcdef")
    project.configure('[judges.asked]\nprovider = "openai"\nmodel = "m"\n')
    take([{"pair": "p01", "selected_response": 1, "reason": "It has sk-canary-1234567890abcdef in it."}])
    assert "sk-canary" not in (project.cassettes / "mine" / "own" / "imported.jsonl").read_text()
    assert "in it." in answers(project)[0]["reason"]


@pytest.fixture
def key(project: Project, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the variable of a judge's key holds: letters and digits of the test's own."""
    value = "".join(f"{word}{number}" for number, word in enumerate(("Quince", "Osier", "Larch", "Sorrel")))
    monkeypatch.setenv("OPENAI_API_KEY", value)
    project.configure('[judges.asked]\nprovider = "openai"\nmodel = "m"\n')
    return value


@pytest.mark.parametrize("place", ["pair", "question", "response_1", "response_2", "reason", "category", "cluster"])
@pytest.mark.parametrize("name", ["answers.jsonl", "answers.json"])
def test_a_key_anywhere_in_a_log_is_not_written(
    project: Project, take: Callable[..., str], key: str, place: str, name: str
) -> None:
    """A known key is in no file and no line that an import leaves, wherever the log has it; the rest is kept."""
    rows = [
        {
            "pair": f"n{n}",
            "question": f"What is {n}?",
            "response_1": "One.",
            "response_2": "Two.",
            "selected_response": 1,
            "reason": "It is.",
        }
        for n in range(3)
    ]
    rows[1][place] = f"before {key} after"
    said = take(rows, "--dataset", "new", name=name)
    written = [file for file in project.cassettes.rglob("*") if file.is_file()]
    assert not [file for file in written if key in file.read_text()]
    assert key not in said
    assert len(answers(project, "new")) == 3


def spoilt(key: str, number: int) -> Rows:
    """Return a log with a mistake of which the error quotes what the log has there."""
    row = {"pair": key, "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
    return [
        [row, {**row, "selected_response": 2}],
        [row, {**row, "question": "Who?"}],
        [{**row, "selected_response": key}],
        [{**row, "order": key}],
        [{**row, "repeat": key}],
        [{**row, "reason": {key: 1}}],
        [{key: 1}],
        [{**row, "pair": {key: 1}}],
    ][number]


@pytest.mark.parametrize("number", range(8))
def test_no_error_prints_a_key(project: Project, take: Callable[..., str], key: str, number: int) -> None:
    """An error quotes a row without the known keys in it, and nothing is written."""
    assert key not in take(spoilt(key, number), "--dataset", "new", code=2)
    assert not list(project.cassettes.rglob("*.jsonl"))


def test_a_key_in_where_is_not_printed(take: Callable[..., str], key: str) -> None:
    """What --where compares with, and the values that there are, are printed without keys."""
    assert key not in take([{"pair": "p01", "model": key, "selected_response": 1}], "--where", f"model={key}!", code=2)


@pytest.mark.parametrize("option", ["--dataset", "--pairs"])
def test_a_key_in_the_pairs_themselves(
    project: Project, take: Callable[..., str], key: str, option: str, snapshot: SnapshotAssertion
) -> None:
    """Pairs that hold a key are refused before they are written beside the answers."""
    rows = pairs()
    rows[2]["response_1"] = f"Use {key}."
    project.write_pairs(rows)
    said = take(log(), option, "own" if option == "--dataset" else "pairs.jsonl", code=2)
    assert key not in said
    assert lines_about(said, "'p02'") == snapshot
    assert not list(project.cassettes.rglob("*.jsonl"))


def test_a_key_that_stands_twice(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """An object of JSON that says two things by one name is an error with its place; the same said twice is none."""
    line = '{"pair": "p01", "selected_response": 1, "selected_response": 2}'
    assert "answers.jsonl:1: an object has the key 'selected_response' twice" in take(line, code=2)
    inner = '[{"pair": "p01", "selected_response": 1, "more": {"a": 1, "a": null}}]'
    assert lines_about(take(inner, code=2, name="answers.json"), "answers.json: an object") == snapshot
    assert not list(project.cassettes.rglob("*.jsonl"))
    take('{"pair": "p01", "selected_response": 1, "selected_response": 1}')
    assert len(answers(project)) == 1


@pytest.mark.parametrize("status", ["error", "started", "cancelled"])
def test_an_inspect_log_that_did_not_end_well(
    take: Callable[..., str], status: str, snapshot: SnapshotAssertion
) -> None:
    """A log of a run that failed, or is not over, is imported with a word on what it may lack."""
    samples = [{"id": "p01", "epoch": 1, "metadata": {}, "scores": {"s": {"value": "C", "answer": "A"}}}]
    held = {"version": 2, "status": status, "eval": {"dataset": {"samples": 40}}, "samples": samples}
    said = take(held, name="log.json")
    assert lines_about(said, "'success'") == snapshot
    assert "take care" not in take({**held, "status": "success"}, name="log.json")


def test_an_error_of_a_promptfoo_provider_is_no_verdict(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Where a provider failed nobody answered: the row is counted as unused, and is not an invalid verdict.

    The reason of an assertion that failed stands under `error`, too, and is an answer.
    """
    said = '{"selected_response": 2, "reason": "It is."}'
    cells = [
        cell(0, 0, said, variables=pairs()[0]),
        {**cell(1, 0, "", variables=pairs()[1]), "response": {"error": "API error: 500"}, "failureReason": 2},
        {**cell(2, 0, "", variables=pairs()[2]), "response": None, "error": "no answer", "failureReason": 2},
        {**cell(3, 0, said, variables=pairs()[3]), "error": "Expected output to be 1", "failureReason": 1},
    ]
    told = take({"results": {"results": cells}}, "--allow", "0.5", name="results.json")
    assert lines_about(told, "results.json: test") == snapshot
    assert [(row["pair"], row["selected_response"]) for row in answers(project)] == [("p00", 2), ("p03", 2)]


def test_a_provider_that_failed_beside_the_judge_that_is_meant(project: Project, take: Callable[..., str]) -> None:
    """Of several providers only the answer of the one that is named counts, whatever became of the others."""
    said = '{"selected_response": 2, "reason": "It is."}'
    failed = {"response": {"error": "API error"}, "failureReason": 2}
    cells = [
        {**cell(0, 0, "", variables=pairs()[0]), **failed},
        cell(0, 1, said, variables=pairs()[0]),
        cell(1, 0, said, variables=pairs()[1]),
        {**cell(1, 1, "", variables=pairs()[1]), **failed},
    ]
    take({"results": {"results": cells}}, "--columns", "answer=outputs.1", "--allow", "0.5", name="results.json")
    assert [row["pair"] for row in answers(project)] == ["p00"]


def test_an_imported_judge_reads_no_reasons(project: Project, snapshot: SnapshotAssertion) -> None:
    """[detector] judge names one that can be asked."""
    project.configure('[detector]\njudge = "mine"\n')
    ran = project.run("--judge", "mine", "-k", "accuracy")
    assert ran.ret == 4
    assert lines_about(ran.said, "[tool.judgefixtures.detector]") == snapshot


def test_a_preflight_says_that_nothing_is_asked(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """The preflight names the log, what it lacks, and no calls."""
    take(log())
    take(log(poor), judge="other")
    ran = project.run("-k", "swap or recency", "--judge", "mine", "--judge-baseline", "other", "--judge-preflight")
    assert ran.ret in (0, 5)
    assert lines_about(ran.said, "are sent", "condition recency-new-old") == snapshot
    assert "mine: at most" not in ran.said
    assert "--judge-record" not in ran.said


def test_an_imported_judge_answers_no_prompt(snapshot: SnapshotAssertion) -> None:
    """From Python it refuses to be asked."""
    judge = load_judge({"provider": "imported"}, "mine")
    with pytest.raises(FatalJudgeError) as error:
        asyncio.run(judge.verdict("Which one?"))
    assert str(error.value) == snapshot


@pytest.mark.parametrize("key", ['model = "gpt-4"', "temperature = 1.0", 'template = "mt-bench"', "logprobs = true"])
def test_its_table_has_nothing_to_ask_with(project: Project, key: str, snapshot: SnapshotAssertion) -> None:
    """Keys that change what is asked mean nothing in the table of an imported judge."""
    project.configure(f'[judges.third]\nprovider = "imported"\n{key}\n')
    ran = project.run("--judge", "third", "-k", "accuracy")
    assert ran.ret == 4
    assert lines_about(ran.said, "no effect") == snapshot


def test_ties_count_where_the_table_says_so(project: Project, take: Callable[..., str]) -> None:
    """A tie is invalid, or half right with ties = "half"; null is an invalid verdict in either case."""
    rows = log()
    rows[0]["selected_response"], rows[2]["selected_response"] = "tie", None
    take(rows)
    invalid = run(project, "-k", "accuracy").report["accuracy"][0]
    assert invalid["invalid"] == 2
    project.write(
        "pyproject.toml",
        (project.path / "pyproject.toml")
        .read_text()
        .replace('judges.mine]\nprovider = "imported"', 'judges.mine]\nprovider = "imported"\nties = "half"'),
    )
    half = run(project, "-k", "accuracy").report["accuracy"][0]
    assert (half["invalid"], half["correct"]) == (1, invalid["correct"] + 0.5)


# --- what a row may say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "read"), [(1, 1), ("1", 1), ("A", 1), ("b", 2), (2, 2), ("2", 2), (2.0, 2), ("tie", "tie"), (None, None)]
)
def test_choices_are_read(project: Project, take: Callable[..., str], value: Any, read: Any) -> None:
    """1, 2, A, B, tie and null are the choices there are."""
    take([{"pair": "p01", "selected_response": value}])
    assert answers(project)[0]["selected_response"] == read


@pytest.mark.parametrize(
    "row",
    [
        {"selected_response": 3},
        {"selected_response": True},
        {"selected_response": "response 1"},
        {"selected_response": [1]},
        {"selected_response": 1, "order": "3-1"},
        {"selected_response": 1, "repeat": -1},
        {"selected_response": 1, "repeat": "second"},
        {"selected_response": 1, "reason": 5},
        {"selected_response": 1, "order": "1-2", "condition": "no-cue-21"},
        {"pair": None, "selected_response": 1},
        {"reason": "It is."},
        {"answer": 5},
    ],
)
def test_a_wrong_row_is_named(
    project: Project, take: Callable[..., str], row: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    """A value that is none of ours ends the import with its line, and nothing is written."""
    found = take([*log(n=1), {"pair": "p02", **row}], code=2)
    assert "answers.jsonl:3: " in found
    assert found == snapshot
    assert not (project.cassettes / "mine").exists()


@pytest.mark.parametrize("value", ["2-1", "21", 21, True, "true"])
def test_orders_are_read(project: Project, take: Callable[..., str], value: Any) -> None:
    """An order may be named in several ways; the choice is numbered as it was shown."""
    take([{"pair": "p01", "order": value, "selected_response": 1}])
    run(project, "-k", "accuracy")
    said = take([{"pair": "p01", "condition": "no-cue-21", "selected_response": 1}])
    assert "order 1-2 0, order 2-1 1" in said


def test_choices_may_be_numbered_as_in_the_pair(project: Project, take: Callable[..., str]) -> None:
    """With --numbers own the choice is one of the pair's own responses, whatever stood first."""
    take([{"pair": "p01", "order": "2-1", "selected_response": 1}], "--numbers", "own")
    assert answers(project)[0]["selected_response"] == 2


def test_columns_are_mapped_and_rows_chosen(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A log's own columns, nested ones too, are named; rows of other judges are left out and counted."""
    rows = [
        {"q": {"id": f"p{number:02}"}, "who": who, "pick": "A", "why": "So."}
        for number in range(3)
        for who in ("x", "y")
    ]
    said = take(rows, "--columns", "pair=q.id,selected_response=pick", "--columns", "reason=why", "--where", "who=x")
    assert lines_about(said, "--where") == snapshot
    assert [row["reason"] for row in answers(project)] == ["So."] * 3


@pytest.mark.parametrize(
    "options",
    [
        ("--where", "pair=p00", "--where", "pair=p01"),
        ("--columns", "pair=id,pair=pair"),
        ("--columns", "pair=id", "--columns", "pair=pair"),
    ],
)
def test_an_option_that_says_two_things_is_refused(
    options: tuple[str, ...], take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Of two values for one column none is chosen in silence."""
    said = take([{"pair": f"p{number:02}", "selected_response": 1} for number in range(2)], *options, code=2)
    assert f"{options[0]} has both pair=" in said
    assert lines_about(said, "Remove one") == snapshot


def test_whole_texts_of_a_judge_are_read(project: Project, take: Callable[..., str]) -> None:
    """A column with the judge's whole text is read as a recorded answer is, its invalid ones with their kind."""
    texts = ['{"selected_response": 2, "reason": "It is."}', '{"selected_response": "tie", "reason": "Both."}', "Hm."]
    take([{"pair": f"p{number:02}", "answer": text} for number, text in enumerate(texts)])
    assert [row["selected_response"] for row in answers(project)] == [2, "tie", None]
    assert answers(project)[2]["invalid"] == "no-json"
    take([{"pair": "p00", "answer": "It is. [[B]]"}], "--verdict", "brackets")
    assert answers(project)[0]["selected_response"] == 2


def test_two_answers_to_one_question_are_refused(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """The same question with two different answers is an error that names both lines; an equal one is counted."""
    row = {"pair": "p01", "selected_response": 1, "reason": "So."}
    assert lines_about(take([row, row]), "earlier row") == snapshot
    said = take([row, {**row, "selected_response": 2}], code=2)
    assert lines_about(said, "'p01'") == snapshot
    assert "answers.jsonl:1" in said


def test_rows_without_use_are_named(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """What cannot be used is counted and named by its line, and is never dropped in silence."""
    said = take(
        [
            *log(n=2),
            {"pair": "p99", "selected_response": 1},
            {"pair": "p01", "condition": "brand-ours-theirs", "selected_response": 1},
        ],
        "--allow",
        "0.4",
    )
    assert "not used: 2 rows" in said
    assert lines_about(said, "the dataset", "its condition") == snapshot
    assert lines_about(take([{"pair": "p99", "selected_response": 1}], code=2), "row can") == snapshot


@pytest.mark.parametrize(
    ("rows", "arguments"),
    [
        ("", ()),
        ("not json\n", ()),
        ('{"pair": "p01", "selected_response": 1}\n', ("--where", "judge=x")),
        ('{"pair": "p01", "selected_response": 1}\n', ("--columns", "repeat=n")),
        ('{"pair": "p01", "selected_response": 1}\n', ("--columns", "paire=n")),
        ('{"pair": "p01", "choice": 1}\n', ()),
        ('{"pair": "p01", "selected_response": 1}\n', ("--dataset", "../x")),
        ('{"pair": "p01", "selected_response": 1}\n', ("--dataset", "new")),
        ('{"pair": "p01", "selected_response": 1}\n', ("--config", "no.toml")),
        ('{"pair": "p01", "selected_response": 1}\n', ("--pairs", "none.jsonl")),
    ],
)
def test_mistakes_are_one_sentence(
    project: Project, take: Callable[..., str], rows: str, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """A mistake in what is imported is told with what to do, and leaves nothing behind."""
    assert take(rows, *arguments, code=2) == snapshot
    assert not project.cassettes.exists()


@pytest.mark.usefixtures("project")
def test_a_missing_file_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A log that is not there is one sentence."""
    assert main(["import", "none.jsonl", "--judge", "mine", "--dataset", "own"]) == 2
    assert "none.jsonl does not exist" in capsys.readouterr().err


def test_imported_answers_never_pass_for_asked_ones(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A judge that is asked, and a folder with its recordings, take no answers of a log."""
    project.configure('[judges.asked]\nprovider = "openai"\nmodel = "m"\n')
    assert "[tool.judgefixtures.judges.asked] has provider = 'openai'" in take(log(), judge="asked", code=2)
    folder = project.cassettes / "third" / "own"
    folder.mkdir(parents=True)
    (folder / "no-cue.jsonl").write_text("{}\n")
    assert lines_about(take(log(), judge="third", code=2), "judge (no-cue.jsonl") == snapshot


def test_importing_again_changes_nothing(project: Project, take: Callable[..., str]) -> None:
    """The same log in another order of rows gives the same answers, the same one the same bytes."""
    take(log())
    before = project.tree()
    take(log())
    assert project.tree() == before
    rows = answers(project)
    take(log()[::-1])
    assert answers(project) == rows


# --- pairs of the log, and exports -----------------------------------------------------------------------------


def with_texts(rows: Rows) -> Rows:
    """Return rows that hold their pair's texts and gold, and no id: as they were shown."""
    found = []
    for row in rows:
        pair = {key: value for key, value in pairs()[int(row["pair"][1:])].items() if key != "id"}
        if row["order"] == "2-1":
            pair |= {"response_1": pair["response_2"], "response_2": pair["response_1"], "gold": 3 - pair["gold"]}
        found.append({**pair, "selected_response": row["selected_response"], "reason": row["reason"]})
    return found


def test_a_log_may_hold_its_pairs(project: Project, take: Callable[..., str]) -> None:
    """Texts in the log are its pairs: a pair whose responses change places is one in two orders. The tables run."""
    said = take(with_texts(log()), "--dataset", "logged", judge="third")
    assert "80 answers about 40 pairs" in said
    assert "order 1-2 40, order 2-1 40" in said
    tables = said.partition("\n\n")[2].partition("\nthen: ")[0]
    project.add(f"\n{tables}\n")
    ran = project.run("--judge", "third", "--judge-dataset", "logged", "-k", "accuracy", "--judge-report", "report")
    (row,) = ran.report["accuracy"]
    assert (row["n"], row["correct"], row["accuracy_both_orders"]["value"]) == (40, 35, 35 / 40)


def test_texts_must_be_those_of_the_pair(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Texts beside an id that are another pair's are of no use; one id with two pairs is refused."""
    rows = [{"pair": "p01", "question": "Other?", "response_1": "a", "response_2": "b", "selected_response": 1}]
    assert lines_about(take([*rows, *log(n=1)], "--allow", "0.4"), "its texts") == snapshot
    assert "pair 'p01' has another question" in take(
        [*rows, {**rows[0], "question": "Why?"}], "--dataset", "new", code=2
    )


def grading(*, best: bool) -> dict[str, Any]:
    """Return what promptfoo's select-best leaves of one output."""
    part = {"pass": best, "score": int(best), "reason": "Output", "assertion": {"type": "select-best", "value": "good"}}
    return {"pass": best, "score": int(best), "reason": "", "componentResults": [part]}


def cell(test: int, prompt: int, output: str, **more: Any) -> dict[str, Any]:
    """Return a result of a promptfoo export."""
    variables = more.pop("variables", {})
    return {
        "testIdx": test,
        "promptIdx": prompt,
        "vars": variables,
        "prompt": {"raw": f"Question {test}?"},
        "response": {"output": output},
        "provider": {"id": f"m{prompt}"},
        **more,
    }


def test_promptfoo_that_selected_the_best(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Two outputs of a test and what select-best chose are a pair and a choice; its reasons are not the judge's."""
    cells = [cell(n, p, f"Answer {n} {p}", gradingResult=grading(best=p == n)) for n in (0, 1, 2) for p in (0, 1)]
    said = take({"results": {"results": cells}}, "--dataset", "foo", name="results.json")
    assert lines_about(said, "verdict; none") == snapshot
    assert sorted(str(row["selected_response"]) for row in answers(project, "foo")) == ["1", "2", "None"]
    told = read_rows(project.cassettes / "mine" / "foo" / "pairs.jsonl")
    assert {(row["question"], row["response_1"], row["response_2"]) for row in told} == {
        (f"Question {n}?", f"Answer {n} 0", f"Answer {n} 1") for n in (0, 1, 2)
    }


def test_promptfoo_that_asked_a_judge(project: Project, take: Callable[..., str]) -> None:
    """Where promptfoo asked a judge its output is the judge's whole text, and the variables are the pair."""
    cells = [
        cell(n, 0, '{"selected_response": 2, "reason": "It is."}', variables={**pairs()[n], "order": "2-1"})
        for n in (0, 1)
    ]
    take({"results": {"results": cells}}, name="results.json")
    assert [(row["pair"], row["selected_response"], row["reason"]) for row in answers(project)] == [
        ("p00", 2, "It is."),
        ("p01", 2, "It is."),
    ]


def test_promptfoo_with_several_judges(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Of several outputs without a select-best nothing says whose is meant: it has to be named."""
    cells = [
        cell(n, p, f'{{"selected_response": {1 + p}, "reason": "It is."}}', variables=pairs()[n])
        for n in (0, 1)
        for p in (0, 1)
    ]
    held = {"results": {"results": cells}}
    assert lines_about(take(held, code=2, name="results.json"), "--columns") == snapshot
    take(held, "--columns", "answer=outputs.1", name="results.json")
    assert [row["selected_response"] for row in answers(project)] == [2, 2]


def test_inspect_logs(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Samples of an Inspect log: the only scorer's answer is the choice, its explanation the reason, epochs repeats."""
    samples = [
        {
            "id": f"p0{n}",
            "epoch": epoch,
            "metadata": {"order": "1-2"},
            "scores": {"pairwise": {"value": "C", "answer": "A", "explanation": "It is."}},
        }
        for n in range(3)
        for epoch in (1, 2)
    ]
    held = {"version": 2, "status": "success", "eval": {}, "samples": samples}
    take(held, name="log.json")
    assert [(row["pair"], row["repeat"], row["selected_response"]) for row in answers(project)][:2] == [
        ("p00", 0, 1),
        ("p00", 1, 1),
    ]
    for sample in samples:
        sample["output"] = {"completion": '{"selected_response": 2, "reason": "No."}'}
    take(held, "--columns", "answer=output.completion", name="log.json")
    assert {row["selected_response"] for row in answers(project)} == {2}
    samples[0]["error"] = {"message": "The model was not there."}
    assert lines_about(take(held, "--allow", "0.2", name="log.json"), "log.json: row") == snapshot
    assert lines_about(take({"samples": 3}, name="log.json", code=2), "Inspect log") == snapshot
    assert "inspect log convert" in take("", name="log.eval", code=2)


def test_deepeval_needs_to_be_told_the_choice(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A deepeval file has no winner: it is refused, unless a column is named that holds the choice."""
    cases = [
        {
            "name": "t",
            "input": pair["question"],
            "actualOutput": pair["response_1"],
            "expectedOutput": pair["response_2"],
            "additionalMetadata": {"winner": 1},
            "metricsData": [{"name": "m", "score": 1, "reason": "It is."}],
        }
        for pair in pairs(2)
    ]
    held = {"testCases": cases}
    assert lines_about(take(held, name="run.json", code=2), "which response") == snapshot
    take(held, "--columns", "selected_response=additionalMetadata.winner", name="run.json")
    assert [(row["pair"], row["reason"]) for row in answers(project)] == [("p00", "It is."), ("p01", "It is.")]


# --- the file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "with_what"),
    [
        (1, "{}"),
        (1, "not json"),
        (2, "[]"),
        (2, '{"condition": "no-cue"}'),
        (2, '{"condition":"no-cue","pair":"p","shown":"s","repeat":0,"selected_response":3,"reason":""}'),
        (2, '{"condition":"no-cue","pair":"p","shown":"s","repeat":-1,"selected_response":1,"reason":""}'),
        (
            2,
            '{"condition":"no-cue","pair":"p","shown":"s","repeat":0,"selected_response":null,"reason":"","invalid":"x"}',
        ),
        (2, '{"condition":"no-cue","pair":"p","shown":"s","repeat":0,"selected_response":1,"reason":7}'),
        (2, "<<<<<<< ours"),
    ],
)
def test_a_damaged_file_is_told(
    project: Project, take: Callable[..., str], line: int, with_what: str, snapshot: SnapshotAssertion
) -> None:
    """Imported answers are data from outside: a line that is not one is named, with what to do."""
    take(log(n=2))
    file = project.cassettes / "mine" / "own" / "imported.jsonl"
    lines = file.read_text().splitlines()
    lines[line - 1] = with_what
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(JudgeFixturesError) as error:
        Imports(project.cassettes).of("mine", "own")
    assert str(error.value) == snapshot
    ran = run(project, "-k", "accuracy")
    assert ran.ret == 10  # nothing was measured, and other items are
    assert lines_about(ran.said, "of imported") == snapshot


def test_a_log_that_grew_adds_its_pairs(project: Project, take: Callable[..., str]) -> None:
    """Where the pairs are those that an import wrote, a longer log adds some and a shorter one takes none away."""

    def told(n: int) -> Rows:
        texts = {pair["id"]: pair for pair in pairs(n)}
        return [{**texts[row["pair"]], **row} for row in log(n=n)]

    take(told(10), "--dataset", "grown")
    file = project.cassettes / "mine" / "grown" / "pairs.jsonl"
    gate = "[gate.accuracy]\nmin_accuracy = 0.6\n"
    project.configure(f'[datasets.grown]\npath = "{file.relative_to(project.path)}"\n{gate}')
    assert "40 answers about 20 pairs" in take(told(20), "--dataset", "grown")
    said = take(told(5), "--dataset", "grown")
    assert "10 answers about 5 pairs" in said
    assert [row["id"] for row in read_rows(file)] == [pair["id"] for pair in pairs(20)]
    assert "40 answers about 20 pairs" in take(told(20), "--dataset", "grown")
    assert project.run("-k", "accuracy", "--judge", "mine", "--judge-dataset", "grown", "--judge-report", "r").ret == 0


def test_pairs_of_the_package_are_not_others(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A name that the package has pairs of is refused for a file of other pairs."""
    said = take(log(), "--pairs", "pairs.jsonl", "--dataset", "house-qa", code=2)
    assert lines_about(said, "--dataset") == snapshot
    assert not (project.cassettes / "mine").exists()


def test_one_response_twice_is_no_choice(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Of a pair with equal responses no order can be told: its rows are counted as not used, and the others are."""
    same = {"pair": "q1", "question": "Why?", "response_1": "So.", "response_2": "So."}
    rows = [{**same, "order": order, "selected_response": 1} for order in ("1-2", "2-1")]
    other = {"pair": "q2", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
    said = take([*rows, other], "--dataset", "told", "--allow", "0.7")
    assert "1 answer about 1 pair" in said
    assert lines_about(said, "response twice") == snapshot


def test_texts_alone_name_a_pair(project: Project, take: Callable[..., str]) -> None:
    """A row without an id is about the pair with its three texts, whatever else the pair says of itself."""
    project.write_pairs([{**pair, "content_type": "Story"} for pair in pairs()])
    told = {name: pairs()[3][name] for name in ("question", "response_1", "response_2")}
    turned = {**told, "response_1": told["response_2"], "response_2": told["response_1"]}
    take([{**told, "selected_response": 1}, {**turned, "selected_response": 1}])
    assert [row["pair"] for row in answers(project)] == ["p03", "p03"]


def test_what_is_printed_can_be_run(project: Project, take: Callable[..., str]) -> None:
    """The command at the end names the folders and the configuration that the import was given."""
    said = take(log(), "--into", "my recordings")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    assert '--judge-cassettes="my recordings"' in command
    arguments = shlex.split(command.removeprefix("then: pytest "))
    assert project.run(*arguments).ret == 11  # no limit is set: nothing is decided
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    assert "[tool.judgefixtures.gate.accuracy]\nmin_accuracy = 0.7" in added
    file = project.path / "pyproject.toml"
    file.write_text(f"{file.read_text()}\n{added}")
    ran = project.run(*arguments)
    assert ran.ret == 0, ran.said
    odd = project.path / "x,y"
    odd.mkdir()
    (odd / "judges.toml").write_text("")
    said = take(log(n=2), "--config", "x,y/judges.toml", "--pairs", "pairs.jsonl")
    assert f"add to {odd / 'judges.toml'}:" in said
    assert "--judge-config=x,y/judges.toml" in said


@pytest.mark.parametrize("value", ["9" * 5000, -1, 1.5, True])
def test_a_repeat_that_is_none_is_told(value: object, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A repeat is a number that somebody counted to."""
    said = take(log(n=1, orders=("1-2",), repeat=value), code=2)
    assert lines_about(said, "whole number") == snapshot
    assert len(said) < 400


def test_a_name_that_no_file_has_is_told(
    project: Project, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A name longer than the system takes is a file that does not exist."""
    for name in ("x" * 300, "x" * 300 + ".json"):
        assert main(["import", name, "--judge", "mine", "--dataset", "own"]) == 2
        assert "does not exist" in capsys.readouterr().err
    project.write("log.jsonl", json_lines(log(n=1)))
    assert main(["import", "log.jsonl", "--judge", "mine", "--dataset", "own", "--into", "x" * 300]) == 2
    assert lines_about(capsys.readouterr().err, "File name") == snapshot


def test_a_column_that_a_row_lacks_is_told(take: Callable[..., str]) -> None:
    """Where the answer is said to stand in a column, a row without it is no invalid answer."""
    rows = [
        {"pair": "p00", "raw": '{"selected_response": 1, "reason": "So."}'},
        {"pair": "p01", "selected_response": 1},
    ]
    said = take(rows, "--columns", "answer=raw", code=2)
    assert "answers.jsonl:2: 'raw' is missing" in said


def test_what_differs_in_a_pair_is_named(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A row that lacks what another says of the same pair is told by that field's name."""
    row = {"pair": "q1", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
    said = take([{**row, "category": "x"}, {**row, "order": "2-1"}], "--dataset", "told", code=2)
    assert lines_about(said, "'q1'") == snapshot


def test_what_was_moved_by_hand_is_no_other_judges(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Answers say whose they are and what they are about: a copied folder is an ERROR of its own items alone."""
    take(log())
    shutil.copytree(project.cassettes / "mine", project.cassettes / "other")
    ran = project.run("-k", "accuracy", "--judge", "mine", "--judge", "other", "--judge-report", "report")
    assert ran.ret == 10
    assert lines_about(ran.said, "imported.jsonl holds") == snapshot
    assert {row["judge"] for row in ran.report["accuracy"]} == {"mine"}


def test_a_damaged_file_concerns_its_own_dataset_alone(project: Project, take: Callable[..., str]) -> None:
    """What is damaged of one dataset keeps no other from being measured."""
    take(log())
    take(log(), "--pairs", "pairs.jsonl", "--dataset", "second")
    (project.cassettes / "mine" / "second" / "imported.jsonl").write_text("junk\n")
    project.configure("[gate.accuracy]\nmin_accuracy = 0.6\n")
    assert run(project, "-k", "accuracy", "--judge-dataset", "own").ret == 0


def test_an_identity_has_every_log(project: Project) -> None:
    """Two logs of one name are two."""
    for folder, order in (("a", "1-2"), ("b", "2-1")):
        (project.path / folder).mkdir()
        project.write(f"{folder}/log.jsonl", json_lines(log(orders=(order,))))
    assert main(["import", "a/log.jsonl", "b/log.jsonl", "--judge", "mine", "--dataset", "own"]) == 0
    assert len(set(Imports(project.cassettes).identity("mine")["answers"]["own"])) == 2


def test_an_answer_that_stands_twice_is_told(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """The same key twice in the file, as after a merge by hand, is refused; so is a file with nothing in it."""
    take(log(n=2))
    file = project.cassettes / "mine" / "own" / "imported.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines, lines[-1]]) + "\n")
    with pytest.raises(JudgeFixturesError) as error:
        Imports(project.cassettes).of("mine", "own")
    assert str(error.value) == snapshot
    file.write_text("")
    with pytest.raises(JudgeFixturesError, match="is empty"):
        Imports(project.cassettes).of("mine", "own")


def test_the_log_of_the_docs_can_be_imported(project: Project, take: Callable[..., str]) -> None:
    """The rows that import.md begins with are those of a log."""
    (rows,) = re.findall(
        r"^```json\n(.*?)^```", (REPOSITORY / "docs" / "how-to" / "import.md").read_text(), re.M | re.S
    )
    project.write_pairs([{**pairs()[1], "id": "q1"}])
    assert "2 answers about 1 pair" in take(rows)
