"""Looks cannot be restarted: a recording knows which looks decided, and another plan spends what they left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.files import CassetteError, CassetteFile, looks_in
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.checks.gate_looks import plan_looks
from judgefixtures.config import GateTable
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.pairs import Pair
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.statistics.alpha_spending import levels_left, planned_levels
from judgefixtures.statistics.sequential import sequential_outcome

pytest_plugins = ["pytester"]

FOUR = (25, 50, 100, 200)
IDENTITY = {"provider": "openai", "model": "m"}
OLD = [(FOUR, 25, 0.00965), (FOUR, 50, 0.011)]


def some(pairs: int) -> list[Pair]:
    return [Pair(str(n), "Why?", "So.", "No.") for n in range(pairs)]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(10, 60), min_size=2, max_size=5), st.sampled_from([0.0, 0.05, 0.10]))
def test_plans_one_after_the_other_err_as_one(steps: list[int], flips: float) -> None:
    """However often somebody plans anew, a judge at the tolerance passes in no more than one plan allows."""
    decided: dict[int, float] = {}
    for look in [sum(steps[: n + 1]) for n in range(len(steps))]:
        decided |= dict(levels_left(decided, [look], look, 0.05) if decided else planned_levels([look], look, 0.05))
    alone = sequential_outcome(
        tuple(decided.items())[:1], 0.15, flips, 0.15
    ).passes  # the score test's own error at so few pairs
    assert sequential_outcome(tuple(decided.items()), 0.15, flips, 0.15).passes <= max(alone + 0.005, 0.06)


@pytest.mark.parametrize("looks", [[400], [100, 200, 400]])
@pytest.mark.parametrize("step", [50, 30, 20])
def test_pairs_that_grow_under_one_plan_err_as_one_look(step: int, looks: list[int]) -> None:
    """Looks at numbers of pairs that the plan does not have spend its error, too; a replay of each finds it again."""
    decided: list[tuple[tuple[int, ...], int, float]] = []
    for there in range(100, 401, step):
        taken = [
            (look.plan, look.pairs, look.level) for look in plan_looks(GateTable(looks=looks), some(there), decided)
        ]
        decided += [look for look in taken if look not in decided]
        assert plan_looks(GateTable(looks=looks), some(there), decided)[-1].level == taken[-1][2]
    steps = {look: level for _, look, level in decided}
    assert len(steps) == len(decided)  # each look has one level
    assert sequential_outcome(tuple(steps.items()), 0.15, 0.05, 0.15).passes < 0.06


def test_fewer_pairs_than_a_plan_decided_on_have_nothing_to_spend() -> None:
    """After looks at 25 and 50 of a plan, a look at 40 has no error left, but planned numbers keep their levels."""
    gate = GateTable(looks=list(FOUR))
    (look,) = plan_looks(gate, some(40), OLD)
    assert look.level < 0.001
    assert plan_looks(gate, some(25), OLD) == plan_looks(gate, some(25))


def test_a_new_plan_spends_what_is_left(snapshot: SnapshotAssertion) -> None:
    """After two of four looks something is left, after all of them nothing; the reason says which looks there were."""
    (look,) = plan_looks(GateTable(looks=[400]), some(400), OLD)
    assert 0.025 < look.level < 0.04
    assert look.remark == snapshot
    spent = [(FOUR, look, level) for look, level in planned_levels(FOUR, 200, 0.05)]
    (look,) = plan_looks(GateTable(looks=[400]), some(400), spent)
    assert look.level < 0.001
    assert lines_about(look.remark, "--judge-record") == snapshot


def test_the_same_plan_goes_on() -> None:
    """Looks of the plan itself cost nothing twice: its levels are those that were planned."""
    gate = GateTable(looks=list(FOUR))
    assert plan_looks(gate, some(200), OLD) == plan_looks(gate, some(200))
    again = plan_looks(GateTable(looks=[400]), some(400), [*OLD, ((400,), 400, 0.0347)])
    assert again == plan_looks(GateTable(looks=[400]), some(400), OLD)


def test_more_pairs_and_no_plan_are_new_plans() -> None:
    """Pairs beyond the last look, and a gate without looks, have what the looks left, not the whole error."""
    for gate in (GateTable(looks=list(FOUR)), GateTable()):
        (look,) = plan_looks(gate, some(300), OLD)
        assert (look.pairs, look.level < 0.04, "new plan after" in look.remark) == (300, True, True)
    assert plan_looks(GateTable(), some(300)) == ()


def test_a_look_that_was_decided_keeps_its_level() -> None:
    """With no more pairs than were looked at there is nothing to spend."""
    (look,) = plan_looks(GateTable(looks=[50]), some(50), OLD)
    assert look.level == 0.011
    (look,) = plan_looks(GateTable(looks=[40]), some(40), OLD)
    assert look.level < 0.001


def test_later_recordings_are_counted(snapshot: SnapshotAssertion) -> None:
    """Recording all again starts afresh, and every look says how often the pairs were recorded."""
    (look,) = plan_looks(GateTable(looks=[50]), some(50), [], 2)
    assert look.level == pytest.approx(0.05)
    assert look.remark == snapshot
    assert plan_looks(GateTable(looks=[50]), some(50), [], 3)[0].remark == "recording 3 of these pairs"


OTHER_LOOKS = [3, "x", {"a": 3}, {"a": [[25]]}, {"a": [["x", 1, 0.1]]}, [["a", []]], {"a": ["123"]}]
OTHER_LOOKS += [{"a": [[[1], 1e999, 0.05]]}, {"a": [[[1], 1, 1e999]]}, {"a": [[[1e999], 1, 0.05]]}]


@pytest.mark.parametrize("looks", OTHER_LOOKS)
def test_other_headers_are_refused(looks: Any, tmp_path: Path) -> None:
    """A header is data from outside: looks that are none are an error that names the file."""
    file = tmp_path / "c.jsonl"
    file.write_text(json.dumps({"judgefixtures": 1, "judge": {}, "looks": looks}) + "\n")
    with pytest.raises(CassetteError, match="not a cassette"):
        CassetteFile(file)


@pytest.mark.parametrize(
    "header",
    [{"judge": []}, *({"judge": load_judge(IDENTITY, "ours").identity, "looks": looks} for looks in OTHER_LOOKS)],
)
def test_looks_that_cannot_be_read_are_none(header: dict[str, Any], tmp_path: Path) -> None:
    """A judge or looks of another type count as no looks: the error comes from where the file is opened."""
    (tmp_path / "ours" / "own").mkdir(parents=True)
    (tmp_path / "ours" / "own" / "no-cue.jsonl").write_text(json.dumps({"judgefixtures": 1, **header}) + "\n")
    judge = load_judge(IDENTITY, "ours")
    assert CassetteStore(tmp_path).decided_looks(judge, ("own", "no-cue", "a")) == ([], 1)


# --- recorded and replayed ---------------------------------------------------------------------------------------


def configuration(url: str, looks: str = "[25, 50]") -> str:
    """Return a configuration with one judge behind the simulators."""
    table = f'[judges.ours]\nprovider = "openai"\nbase_url = "{url}/v1"\nmodel = "simulated-faithful"\n'
    gate = f"[gate]\nvsr_tolerance = 0.08\nlooks = {looks}\n"
    return in_pyproject(f'judge = "ours"\ncontrol = false\n{table}{gate}')


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as running:
        yield running


@pytest.mark.slow
def test_a_recording_knows_its_looks(
    pytester: pytest.Pytester, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """A recording writes plan and looks, a replay writes nothing, a new plan is named, and `all` starts afresh."""
    project = Project(pytester, configuration, fresh=True)
    project.copy_tests("recency")

    def ran(looks: str, pairs: int, *options: str) -> tuple[str, dict[str, Any], bytes]:
        project.write(project.file, configuration(server.url, looks))
        chosen = ("-k", "recency", "--judge-dataset", "house-close", "--judge-pairs", str(pairs))
        project.run(*chosen, "--judge-report", "report", *options)
        (file,) = project.cassettes.glob("ours/*/recency-new-old.jsonl")
        (row,) = (each for each in project.report()["contrasts"] if each["contrast"] == "recency-new-old")
        return row["message"], CassetteFile(file).header or {}, file.read_bytes()

    message, header, kept = ran("[25, 50]", 50, "--judge-record", "missing")
    assert "new plan after" not in message
    assert [(plan, look) for plan, look, _ in looks_in(header)["recency-new-old"]] == [((25, 50), 25), ((25, 50), 50)]
    assert ran("[25, 50]", 50)[::2] == (message, kept)
    assert lines_about(ran("[40]", 40)[0], "new plan after") == snapshot
    message, header, kept = ran("[100]", 100, "--judge-record", "missing")
    assert lines_about(message, "new plan after") == snapshot
    assert ran("[100]", 100)[::2] == (message, kept)
    message, header, _ = ran("[100]", 100, "--judge-record", "all")
    assert ("new plan after" in message, "second recording" in message) == (False, True)
    assert (header["recording"], len(header["looks"]["recency-new-old"])) == (2, 1)
    assert lines_about(ran("[100]", 100)[0], "second recording") == snapshot
