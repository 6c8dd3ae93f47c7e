"""`[gate] looks`: each contrast is decided at the first look that can, and replays to the same bytes however recorded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.project import Project, json_lines, rows_of, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import CheckInput, GateDecision
from judgefixtures.checks.contrast import ContrastCheck
from judgefixtures.checks.gate_looks import gate_at_level, plan_looks
from judgefixtures.checks.look_levels import gate_at_last_look, look_sizes
from judgefixtures.config import GateTable, build_config, judge_table
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.findings import Finding
from judgefixtures.models.pairs import Pair
from judgefixtures.run.run import Run
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import Status
from judgefixtures.statistics.alpha_spending import gate_look_levels
from judgefixtures.statistics.score_shift import fewest_scores

pytest_plugins = ["pytester"]
LOOKS = [25, 50, 100]
JUDGE = {"provider": "openai", "model": "m"}
UNTIL = ("--judge-record", "missing", "--judge-until-decided", "--judge-report", "report")
ALL = ("--judge-record", "missing", "--judge-report", "report")
REPLAY = ("--judge-report", "report")


def configuration(
    url: str = "http://127.0.0.1:9/v1",
    model: str = "simulated-faithful",
    pairs: int = 100,
    looks: str = str(LOOKS),
    gate: str = "",
) -> str:
    """Return a configuration whose gate plans looks."""
    return f"""
judge = "ours"
datasets = ["house-close"]
pairs = {pairs}
[judges.ours]
provider = "openai"
model = "{model}"
base_url = "{url}"
[gate]
looks = {looks}
{gate}
"""


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: SimulatorServer) -> Project:
    """A repository that gates recency, of a judge that reads."""
    options = ("-p", "no:cacheprovider", "--judge-config", "judges.toml")
    project = Project(pytester, configuration, file="judges.toml", options=options, fresh=True, rough=True)
    project.write("test_looks_of_a_gate.py", suite("recency"))
    project.configure(f"{server.url}/v1")
    return project


def some(pairs: int) -> list[Pair]:
    return [Pair(str(n), "Why?", "So.", "No.") for n in range(pairs)]


def contents(project: Project) -> dict[str, str]:
    """Return every file of the report, without the days of the recordings: of two recordings they may differ."""
    files = sorted((project.path / "report").iterdir())
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def looks_of(report: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """Return at how many pairs each contrast was decided, and how."""
    return {row["contrast"]: (row["look"], row["status"]) for row in report["looks"]}


# --- the plan ---------------------------------------------------------------------------------------------------


def test_looks_share_the_level() -> None:
    """With as many pairs as the last look has, each look has its level of the plan; without looks there is none."""
    found = plan_looks(GateTable(looks=LOOKS), some(100))
    assert [look.pairs for look in found] == LOOKS
    assert [look.level for look in found] == pytest.approx(gate_look_levels(LOOKS, 0.05), abs=5e-5)
    assert plan_looks(GateTable(), some(100)) == ()


def test_fewer_pairs_have_the_levels_of_the_plan() -> None:
    """The last look is at all pairs there are, and leaves the level that the plan has for more of them."""
    (first, last) = plan_looks(GateTable(looks=LOOKS), some(40))
    assert (first.pairs, last.pairs) == (25, 40)
    assert [first.level, last.level] == pytest.approx(gate_look_levels([25, 40, 100], 0.05)[:2], abs=5e-5)
    (only,) = plan_looks(GateTable(looks=LOOKS), some(10))
    assert (only.pairs, only.level) == (10, pytest.approx(gate_look_levels([10, 100], 0.05)[0], abs=5e-5))


def test_more_pairs_are_a_new_design(snapshot: SnapshotAssertion) -> None:
    """Beyond the last look everything is decided once, at alpha, and that is said."""
    (only,) = plan_looks(GateTable(looks=LOOKS), some(101))
    assert (only.pairs, only.level) == (101, pytest.approx(0.05))
    assert lines_about(only.remark, "new decision") == snapshot


@pytest.mark.parametrize("pairs", [20, 100])
def test_a_last_look_far_away_leaves_a_level_that_decides(pairs: int) -> None:
    """However little of the plan is asked, each look has a level above none, and a gate can be held to it."""
    gate = GateTable(looks=[25, 99_999_999_999])
    found = plan_looks(gate, some(pairs))
    assert [look.pairs for look in found] == [each for each in (25, pairs) if each <= pairs]
    assert all(0 < gate_at_level(gate, look.level).alpha < 1e-3 for look in found)


def test_one_look_is_no_look() -> None:
    """A single look at all pairs has all of alpha: the gate is what it is without looks."""
    gate = GateTable(looks=[100])
    (only,) = plan_looks(gate, some(100))
    assert (only.level, gate_at_level(gate, only.level)) == (gate.alpha, gate)


def test_a_gate_at_a_look_is_never_less_sure_than_its_level() -> None:
    """The confidence is rounded up: the level of the bounds is at most that of the look."""
    gate = GateTable(looks=LOOKS)
    for look in plan_looks(gate, some(100)):
        (exact,) = (
            level for pairs, level in zip(LOOKS, gate_look_levels(LOOKS, 0.05), strict=True) if pairs == look.pairs
        )
        assert exact - 1e-4 < gate_at_level(gate, look.level).alpha <= exact + 1e-12


def test_the_steps_of_a_preflight_are_the_looks_that_can_decide() -> None:
    """Early looks at which scores cannot PASS yet are left out, the last one never; it is the level of `at_last`."""
    gate = GateTable(looks=LOOKS)
    judge = judge_table({"provider": "openai", "model": "m", "mode": "pointwise"})
    assert [pairs for pairs, _ in look_sizes(gate, some(100))] == LOOKS
    lacking = set()
    for look in range(30, 45):
        planned = GateTable(looks=[look, 100])
        least = fewest_scores(0.05, plan_looks(planned, some(100))[0].level)
        lacking.add(max(least - look, 0))
        assert [pairs for pairs, _ in look_sizes(planned, some(100), judge)] == [look, 100][least > look :]
    assert {0, 1} <= lacking
    assert [pairs for pairs, _ in look_sizes(gate, some(30), judge)] == [30]
    last = plan_looks(gate, some(60))[-1].level
    assert gate_at_last_look(gate, some(60)).alpha == pytest.approx(last, abs=1e-9)
    assert gate_at_last_look(GateTable(), some(60)) == GateTable()


def test_a_p_of_a_look_compares_with_alpha() -> None:
    """It is scaled as the level of the look is, at most to 1; what has no p has none at a look either."""
    config, check = build_config({"gate": {"looks": LOOKS}}), ContrastCheck(contrasts("recency")[0])
    look, judge = plan_looks(config.gate("recency"), some(100))[0], load_judge(JUDGE)
    case = CheckInput(judge, "qa", tuple(some(25)), config, look=look)
    decision = replace(GateDecision.of(Status.PASS, 0.15, "said", part="vsr"), p_pass=look.level, p_fail=0.9)
    found = check.decision_at_look(case, decision)
    assert (found.p_pass, found.p_fail) == (pytest.approx(0.05), 1.0)
    assert check.decision_at_look(case, replace(decision, p_pass=None)).p_pass is None
    assert check.decision_at_look(replace(case, look=None), decision) == decision


@pytest.mark.parametrize(
    ("statuses", "is_open"),
    [
        (("PASS", "INCONCLUSIVE", "NOT_APPLICABLE"), True),
        (("NOT_APPLICABLE", "NOT_APPLICABLE", "INCONCLUSIVE"), True),
        (("INCONCLUSIVE", "NOT_APPLICABLE", "FAIL"), False),
        (("ERROR", "INCONCLUSIVE", "PASS"), False),
        (("PASS", "NOT_APPLICABLE", "NOT_APPLICABLE"), False),
    ],
)
def test_a_contrast_is_open_while_a_gate_is_and_none_failed(statuses: tuple[str, str, str], is_open: bool) -> None:
    """VSR, log-odds and scores, whichever is undecided; a FAIL of one is the contrast's, and final."""
    shift, odds, score = statuses
    row = ContrastRow(judge="j", dataset="d", vsr_status=shift, log_odds_status=odds, score_status=score)
    finding = Finding("contrast", "j", "d", "recency-new-old", Status.INCONCLUSIVE, rows={ContrastRow.place: (row,)})
    assert ContrastCheck(contrasts("recency")[0]).is_open(finding) is is_open


# --- through pytest ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("model", ["simulated-faithful", "simulated-noisy"])
def test_replays_have_the_same_bytes(
    project: Project, server: SimulatorServer, model: str, snapshot: SnapshotAssertion
) -> None:
    """Recorded a look at a time, or with all pairs: serially and under -n 2 each replay writes the same files.

    What is known of one contrast's pairs by another, which was decided earlier, is the same as well.
    """
    project.write("test_looks_of_a_gate.py", suite("recency", "placebo", "position", "attack", "verbosity"))
    project.configure(f"{server.url}/v1", model)
    recorded = project.run(*UNTIL)
    asked = server.requests
    found = {}
    project.run(*UNTIL)  # every recording is there for every item
    for name, options in (("serial", ()), ("workers", ("-n", "2")), ("with the option", ("--judge-until-decided",))):
        project.run(*REPLAY, *options)
        found[name] = contents(project)
    assert server.requests == asked
    whole = project.run(*ALL)
    assert server.requests > asked
    assert lines_about(whole.said, "that decides") == snapshot
    assert looks_of(whole.report) == looks_of(recorded.report)
    assert whole.rows("judgments") == recorded.rows("judgments")
    project.run(*REPLAY)
    found["all pairs"] = contents(project)
    first = found.pop("serial")
    assert [name for name, files in found.items() if files != first] == []


@pytest.mark.slow
def test_fourteen_contrasts_ask_at_most_two_fifths(project: Project, server: SimulatorServer) -> None:
    """A steady judge is decided with a quarter of the calls, and the terminal says so."""
    project.write("test_looks_of_a_gate.py", suite("recency", "provenance", "placebo", "ethnicity"))
    project.configure(f"{server.url}/v1")
    ran = project.run(*UNTIL)
    said = re.search(r"looks: (\d+) contrasts decided at 25 pairs; (\d+) of (\d+) requests used \(25%\)", ran.said)
    assert said is not None, ran.said
    assert (len(ran.report["contrasts"]), [int(each) for each in said.groups()]) == (14, [14, server.requests, 2800])
    assert server.requests <= 0.4 * 2800
    assert {row["look"] for row in ran.report["contrasts"]} == {25}


@pytest.mark.slow
def test_a_judge_that_stays_open_is_asked_to_the_last_look(project: Project, server: SimulatorServer) -> None:
    """With a tolerance that few pairs cannot show every look is taken, and each pair is asked about once."""
    project.configure(f"{server.url}/v1", "simulated-noisy", gate="vsr_tolerance = 0.08")
    ran = project.run(*UNTIL)
    assert looks_of(ran.report)["recency-new-old"][0] == 100
    assert server.requests == 2 * 100
    assert len(ran.rows("judgments")) == 2 * 100


@pytest.mark.slow
def test_a_fail_is_final(project: Project, server: SimulatorServer) -> None:
    """A judge that follows every label FAILs at the first look: no further pair is asked about or shown."""
    project.configure(f"{server.url}/v1", "simulated-silent")
    ran = project.run(*UNTIL)
    (row,) = ran.report["contrasts"]
    assert (row["status"], row["look"], row["n"], server.requests) == ("FAIL", 25, 25, 50)
    assert row["vsr"]["confidence"] == pytest.approx(1 - 2 * gate_look_levels(LOOKS, 0.05)[0], abs=1e-4)
    assert row["p_fail"] < 0.05
    assert {each["pair"] for each in ran.rows("judgments")} == {each["pair"] for each in ran.rows("pairs")}
    assert len(ran.rows("pairs")) == 25
    assert ran.ret == 1


@pytest.mark.slow
def test_later_pairs_are_in_no_output(project: Project, server: SimulatorServer) -> None:
    """What all pairs are recorded of shows those of the look alone, in every file."""
    ran = project.run(*ALL)
    assert (server.requests, looks_of(ran.report)["recency-new-old"]) == (200, (25, "PASS"))
    shown = [row["pair"] for row in ran.rows("pairs")]
    later = {pair.id for pair in Run.from_config(project.path / "judges.toml").pairs("ours", "house-close")}
    later -= set(shown)
    assert len(shown) == 25
    assert len(later) == 75
    for name, text in contents(project).items():
        assert [each for each in later if f'"{each}"' in text] == [], name


@pytest.mark.slow
def test_repeats_are_cut_alike(project: Project, server: SimulatorServer) -> None:
    """Repeats of a cue are asked about the pairs of the look alone, and replay to the same."""
    written = configuration(f"{server.url}/v1", pairs=50, looks="[25, 50]")
    written = written.replace("[gate]", "temperature = 0.5\n[gate]")
    project.write("judges.toml", f"control = false\n{written}")
    ran = project.run(*UNTIL, "--judge-repeats", "3")
    (row,) = ran.report["contrasts"]
    assert (row["look"], server.requests, len(ran.rows("judgments"))) == (25, 2 * 3 * 25, 2 * 3 * 25)
    before = contents(project)
    project.run(*ALL, "--judge-repeats", "3")
    assert server.requests == 2 * 3 * 50
    project.run(*REPLAY, "--judge-repeats", "3")
    after = contents(project)
    assert (after["judgments.jsonl"], after["report.json"]) == (before["judgments.jsonl"], before["report.json"])


@pytest.mark.slow
def test_the_closest_pairs_have_looks(project: Project, server: SimulatorServer) -> None:
    """With `closest` a look has the first of the chosen pairs, in the pool's order."""
    pool = load_pairs(Source(name="house-close"))[:80]
    project.write("pairs.jsonl", json_lines(rows_of(pool)))
    written = configuration(f"{server.url}/v1", looks="[25, 50]").replace('["house-close"]', '["close"]')
    project.write("judges.toml", f"control = false\n{written}[datasets.close]\npath = 'pairs.jsonl'\nclosest = 50\n")
    ran = project.run(*UNTIL)
    frozen = json.loads((project.path / "cassettes/ours/close/closest.json").read_text())["pairs"]
    asked = {row["pair"] for row in ran.rows("judgments")}
    look, _ = looks_of(ran.report)["recency-new-old"]
    assert (look, len(asked), server.requests) == (25, 25, 2 * 80 + 2 * 25)
    assert asked < {pair["id"] for pair in frozen}
    before = contents(project)
    project.run(*REPLAY)
    assert contents(project)["report.json"] == before["report.json"]


@pytest.mark.slow
def test_what_stopped_in_between_goes_on(project: Project, server: SimulatorServer) -> None:
    """A limit of costs in the midst of the looks loses nothing: the same command asks for the rest, each once."""
    written = configuration(f"{server.url}/v1", "simulated-noisy", gate="vsr_tolerance = 0.08")
    written = written.replace("[gate]", "price = {input = 1000.0, output = 1000.0}\n[gate]")
    project.write("judges.toml", f"control = false\n{written}")
    stopped = project.run(*UNTIL, "--judge-max-cost", "70", "--judge-concurrency", "1")
    kept = server.requests
    assert (stopped.ret == 0, 50 < kept < 200) == (False, True), kept
    assert f"{kept} of them new" in stopped.said or "remain: run the" in stopped.said
    ran = project.run(*UNTIL)
    assert (server.requests, looks_of(ran.report)["recency-new-old"][0]) == (200, 100)


@pytest.mark.slow
def test_a_miss_says_what_asks_no_further_than_it_takes(project: Project, server: SimulatorServer) -> None:
    """Where a look is not recorded the command asks for looks, and not for all pairs."""
    project.run(*UNTIL)
    written = (project.path / "judges.toml").read_text()
    project.write("judges.toml", f"{written}\nvsr_tolerance = 0.08\n")
    missed = project.run(*REPLAY)
    (row,) = missed.report["contrasts"]
    assert (row["status"], "look" in row) == ("ERROR", False)
    assert "-k recency-new-old --judge-until-decided --judge-record missing" in missed.said
    asked = server.requests
    assert project.run(*UNTIL).report["contrasts"][0]["look"] == 50
    assert server.requests == asked + 50


@pytest.mark.slow
def test_more_pairs_than_planned_are_said_to_be_a_new_design(
    project: Project, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """They are decided once on all, and the row says it."""
    project.configure(f"{server.url}/v1", pairs=30, looks="[10, 20]")
    ran = project.run(*UNTIL)
    (row,) = ran.report["contrasts"]
    assert (row["look"], server.requests) == (30, 60)
    assert lines_about(row["message"], "pairs are") == snapshot


@pytest.mark.slow
def test_only_contrasts_take_looks(project: Project, server: SimulatorServer) -> None:
    """Accuracy is about all pairs; cues in both orders are decided at a look."""
    project.copy_tests("accuracy", "bias")
    project.configure(f"{server.url}/v1", gate="min_accuracy = 0.6")
    ran = project.run(*UNTIL, "--judge-dataset", "house-qa", "-k", "accuracy")
    (found,) = (row for row in ran.report["accuracy"] if row["category"] == "all")
    assert found["n"] == 100
    assert "looks" not in ran.report


def test_without_looks_nothing_is_said_of_them(project: Project, server: SimulatorServer) -> None:
    """No column and no section is there, and no line."""
    written = configuration(f"{server.url}/v1", pairs=20).replace(f"looks = {LOOKS}", "")
    project.write("judges.toml", f"control = false\n{written}")
    ran = project.run(*ALL)
    assert ("looks" in ran.report, "look" in ran.report["contrasts"][0], "looks:" in ran.said) == (False, False, False)


@pytest.mark.parametrize(
    ("arguments", "looks"),
    [
        (("--judge-until-decided",), ""),
        (("--judge-until-decided", "--judge-record", "all"), "looks = [25, 50]"),
        (("--judge-until-decided", "--judge-record", "invalid"), "looks = [25, 50]"),
    ],
)
def test_what_the_option_needs_is_said(
    project: Project, arguments: tuple[str, ...], looks: str, snapshot: SnapshotAssertion
) -> None:
    """Without looks, or with a mode that asks again what is recorded, it is refused before anything is asked."""
    written = configuration().replace(f"looks = {LOOKS}", looks)
    project.write("judges.toml", f"control = false\n{written}")
    ran = project.run(*arguments)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert lines_about(ran.said, "--judge-until-decided") == snapshot


def test_from_python(tmp_path: Path, server: SimulatorServer) -> None:
    """A run in a script takes looks alike."""
    file = tmp_path / "judges.toml"
    file.write_text(f"control = false\n{configuration(f'{server.url}/v1', pairs=50, looks='[25, 50]')}")
    with Run.from_config(file, record="missing", until_decided=True) as run:
        found = run.gate("recency-new-old", judge="ours", dataset="house-close")
    assert (found.status, server.requests) == (Status.PASS, 50)
    shutil.rmtree(tmp_path / "cassettes")
    with Run.from_config(file, record="all") as run:
        again = run.gate("recency-new-old", judge="ours", dataset="house-close")
    assert (again.rows["contrasts"], server.requests) == (found.rows["contrasts"], 150)


@pytest.mark.slow
def test_a_batch_has_the_questions_of_a_look(project: Project) -> None:
    """With --judge-batch the first look is posted and nothing behind it; the next run decides by it."""
    batch = (*UNTIL, "--judge-batch")
    sent = project.run(*batch)
    assert "sent: ours: 50 requests in " in sent.said
    ran = project.run(*batch)
    assert looks_of(ran.report) == {"recency-new-old": (25, "PASS")}


LIVE = """
import pathlib

calls = []


def judge(prompt):
    calls.append(prompt)
    pathlib.Path("calls").write_text(str(len(calls)))
    return '{"selected_response": %d, "reason": "better"}' % (1 + len(calls) % 25 % 2)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), [("live_until", UNTIL), ("live_all", ALL), ("live_replay", REPLAY)])
def test_a_function_that_runs_live_answers_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, mode: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """No look asks it again about pairs of the one before, of which it may say something else every time."""
    monkeypatch.syspath_prepend(str(project.path))
    project.write(f"{name}.py", LIVE)
    written = configuration(pairs=50, looks="[10, 20, 50]", gate="vsr_tolerance = 0.10")
    head, gate = written.partition("provider")[0], written.partition("[gate]")[2]
    judge = f'provider = "python"\ntarget = "{name}:judge"\n'
    project.write("judges.toml", f"control = false\n{head}{judge}[gate]{gate}")
    ran = project.run(*mode, "--judge-force")
    assert looks_of(ran.report)["recency-new-old"][0] == 50
    assert (project.path / "calls").read_text() == "100"
    assert lines_about(ran.said, "without replay") == snapshot


@pytest.mark.slow
def test_parts_that_end_at_other_looks_are_one_run(project: Project) -> None:
    """Shards whose contrasts were decided at other looks are put together as the report of one run."""
    project.write("test_looks_of_a_gate.py", suite("recency", "placebo"))
    written = (project.path / "judges.toml").read_text().replace("pairs = 100", "pairs = 50")
    project.write(
        "judges.toml",
        f"{written.replace(str(LOOKS), '[25, 50]')}\n[gate.placebo]\nlooks = [25, 50]\nvsr_tolerance = 0.1\n",
    )
    project.run(*UNTIL)
    whole = project.run(*REPLAY)
    assert {look for look, _ in looks_of(whole.report).values()} == {25, 50}
    one = contents(project)
    parts = [project.path / "placebo", project.path / "recency"]
    for part in parts:
        project.run("--judge-report", part, "-k", part.name)
    merge = [sys.executable, "-m", "judgefixtures", "report", "merge", *map(str, parts), "--into", "report"]
    merged = subprocess.run(merge, cwd=project.path, capture_output=True, text=True, check=False)
    assert merged.returncode == whole.ret, merged.stderr
    assert contents(project) == one
