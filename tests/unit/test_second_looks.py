"""What is decided again on more pairs than were planned before: the recording knows it, and every run says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.files import CassetteFile
from judgefixtures.cli.main import main
from judgefixtures.simulator.server import SimulatorServer, serving

pytest_plugins = ["pytester"]

RECENCY, SET = ("-k", "recency", "--judge-dataset"), "house-close"


@pytest.fixture
def simulator() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as server:
        yield server


def configuration(url: str, more: str = "") -> str:
    """Return a configuration with one judge behind the simulators."""
    table = f'[judges.ours]\nprovider = "openai"\nbase_url = "{url}/v1"\nmodel = "simulated-faithful"\n'
    return in_pyproject(f'judge = "ours"\ncontrol = false\n{table}{more}')


@pytest.fixture
def project(pytester: pytest.Pytester, simulator: SimulatorServer) -> Project:
    """A repository with the tests of recency, provenance and of the noise."""
    project = Project(pytester, configuration, fresh=True)
    project.copy_tests("recency", "noise")
    project.write(project.file, configuration(simulator.url))
    return project


def looks(project: Project, *options: str, dataset: str = SET) -> list[str]:
    """Return what a run's report says of second looks; the terminal says the same."""
    ran = project.run("-k", "recency", "--judge-dataset", dataset, "--judge-report", "report", *options)
    warned = [text for text in project.report()["warnings"] if "at these recordings" in text]
    assert [text for text in warned if text not in ran.said.replace("\n", " ")] == []
    assert ("at these recordings" in ran.said) == bool(warned)
    assert ("at these recordings" in (project.path / "report" / "report.md").read_text()) == bool(warned)
    return warned


def record(project: Project, pairs: int, mode: str = "missing", *options: str, dataset: str = SET) -> list[str]:
    """Record so many pairs, and return what is said of second looks."""
    more = ("--judge-pairs", str(pairs), "--judge-record", mode, *options)
    return looks(project, *more, dataset=dataset)


def planned(project: Project, condition: str = "recency-new-old") -> Any:
    """Return with how many pairs a condition was planned."""
    (file,) = project.cassettes.glob(f"ours/*/{condition}.jsonl")
    return (CassetteFile(file).header or {}).get("planned")


def replayed(project: Project, pairs: int, *options: str) -> dict[str, bytes]:
    """Return every file of the report of a replay."""
    project.run(*RECENCY, SET, "--judge-pairs", str(pairs), "--judge-report", "report", *options)
    names = ("judgments.jsonl", "report.md")
    found = {name: (project.path / "report" / name).read_bytes() for name in names}
    return {**found, "warnings": json.dumps(project.report()["warnings"]).encode()}


@pytest.mark.slow
def test_more_pairs_are_a_second_look(project: Project, snapshot: SnapshotAssertion) -> None:
    """A recording that grew says so on the terminal and in the report; so do its replays, serially and under -n 2."""
    assert record(project, 40) == []
    assert planned(project) == [40]
    (said,) = record(project, 60)
    assert lines_about(said, "these recordings") == snapshot
    assert "now decided on 60" in said
    assert lines_about(said, "after 4") == snapshot
    assert planned(project) == [40, 60]
    alone = replayed(project, 60)
    assert json.loads(alone["warnings"]) == [said]
    assert replayed(project, 60, "-n", "2") == alone
    assert json.loads(replayed(project, 40)["warnings"]) == []  # the first look, once more


@pytest.mark.slow
def test_later_looks_are_counted(project: Project, snapshot: SnapshotAssertion) -> None:
    """The third number of pairs is the third look; the same number again is none, and neither is one too few to pass."""
    assert record(project, 5, "missing", "--judge-force") == []
    assert record(project, 40) == []
    assert record(project, 40) == []
    assert len(record(project, 50)) == 1
    (said,) = record(project, 60)
    assert lines_about(said, "these recordings") == snapshot
    assert planned(project) == [5, 40, 50, 60]


@pytest.mark.slow
def test_a_recording_made_anew_keeps_its_plans(project: Project, simulator: SimulatorServer) -> None:
    """Asking the same judge anew with more pairs is a second look, too; another judge begins with its own plan."""
    record(project, 40)
    assert len(record(project, 60, "all")) == 1
    assert planned(project) == [40, 60]
    other = configuration(simulator.url).replace("simulated-faithful", "simulated-candid")
    project.write(project.file, other)
    assert record(project, 80, "all") == []
    assert planned(project) == [80]


@pytest.mark.slow
def test_a_recording_that_was_cut_short_is_no_look(project: Project) -> None:
    """What a killed run left is completed as it was planned."""
    record(project, 60)
    for condition in ("recency-new-old", "recency-old-new"):
        (file,) = project.cassettes.glob(f"ours/*/{condition}.jsonl")
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:21]))
    assert record(project, 60) == []
    assert planned(project) == [60]


@pytest.mark.slow
def test_looks_that_share_the_error_are_no_second_ones(project: Project, simulator: SimulatorServer) -> None:
    """With [gate] looks nothing is said up to the last look; beyond it, it is."""
    project.write(project.file, configuration(simulator.url, "[gate]\nlooks = [40, 60]\n"))
    assert record(project, 40) == []
    assert record(project, 60) == []
    assert len(record(project, 80)) == 1


@pytest.mark.slow
def test_other_contrasts_are_looked_at_for_the_first_time(project: Project) -> None:
    """A contrast that was not recorded before is planned with as many pairs as there are now."""
    record(project, 40)
    project.run("-k", "placebo", "--judge-dataset", SET, "--judge-pairs", "60", "--judge-record", "missing")
    assert planned(project, "placebo-listed-shown") == [60]
    ran = project.run("-k", "placebo", "--judge-dataset", SET, "--judge-pairs", "60")
    assert "at these recordings" not in ran.said


def test_recordings_of_before_say_nothing(project: Project) -> None:
    """A header without plans is one of an earlier version: nothing is known of it, and nothing is said."""
    record(project, 40)
    for file in project.cassettes.glob("ours/*/*.jsonl"):
        file.write_text(file.read_text().replace(',"planned":[40]', ""))
    assert record(project, 50) == []
    assert planned(project) == [50]


@pytest.mark.parametrize("written", ['"100"', "[0]", "[true]", '["a"]'])
def test_a_header_that_plans_nonsense_is_refused(project: Project, written: str, snapshot: SnapshotAssertion) -> None:
    """What is no list of counts is a damaged header, named with its file."""
    record(project, 40)
    (file,) = project.cassettes.glob("ours/*/recency-new-old.jsonl")
    file.write_text(file.read_text().replace("[40]", written))
    said = project.run(*RECENCY, SET, "--judge-pairs", "40").said
    assert lines_about(said, "recency-new-old.jsonl is") == snapshot


def test_branches_that_planned_differently_are_joined(project: Project, tmp_path: Path) -> None:
    """A merge keeps the plans of both branches."""
    record(project, 40)
    (file,) = project.cassettes.glob("ours/*/recency-new-old.jsonl")
    for name in ("base", "ours"):
        shutil.copy(file, tmp_path / f"{name}.jsonl")
    (tmp_path / "theirs.jsonl").write_text(file.read_text().replace("[40]", "[40,60]"))
    versions = [str(tmp_path / f"{name}.jsonl") for name in ("base", "ours", "theirs")]
    assert main(["cassettes", "merge", "--driver", *versions, "cassettes/recency-new-old.jsonl"]) == 0
    assert (CassetteFile(tmp_path / "ours.jsonl").header or {})["planned"] == [40, 60]
