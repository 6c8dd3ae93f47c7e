"""A recording and its replay leave the same, but for what is listed here of the files where they differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.simulator.server import SimulatorServer, serving

pytest_plugins = ["pytester"]

PAIRS = "house-close"
OF_THIS_RUN = ("digest", "digests", "retries", "asked_now")  # in the head of results.jsonl
SELECTED = ("-k", "recency or repeat or position", "--judge-pairs", "20", "--judge-repeats", "2", "--judge-report")


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """A simulated judge that tells how sure it is."""
    with serving() as running:
        running.RequestHandlerClass = type(
            "OneCallEach", (running.RequestHandlerClass,), {"protocol_version": "HTTP/1.0"}
        )
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: SimulatorServer) -> Project:
    """A repository whose judge is asked over the network."""

    def configuration(url: str) -> str:
        table = f'provider = "openai"\nmodel = "simulated-unsure"\nbase_url = "{url}"\nlogprobs = true\n'
        return in_pyproject(f'judge = "ours"\ndatasets = ["{PAIRS}"]\n[judges.ours]\n{table}')

    project = Project(pytester, configuration, options=("-p", "no:cacheprovider", "--judge-force"))
    project.copy_tests("recency", "noise", "position")
    project.configure(server.url)
    return project


def without(row: Any, names: tuple[str, ...]) -> Any:
    """Return JSON without some keys, wherever they stand."""
    if isinstance(row, dict):
        return {name: without(value, names) for name, value in row.items() if name not in names}
    return [without(each, names) for each in row] if isinstance(row, list) else row


def test_a_replay_leaves_what_its_recording_left(project: Project, snapshot: SnapshotAssertion) -> None:
    """Every file but the page is the same, results.jsonl but for what was asked and what was recorded by then."""
    recording = project.run(*SELECTED, "recorded", "--judge-record", "missing")
    replay = project.run(*SELECTED, "replayed")
    assert recording.ret == replay.ret
    folders = [project.path / name for name in ("recorded", "replayed")]
    found = [{file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} for folder in folders]
    assert found[0].keys() == found[1].keys() >= {"report.md", "report.json", "judgments.jsonl", "pairs.jsonl"}
    differing = {name for name in found[0] if found[0][name] != found[1][name]}
    assert differing == {"report.html", "results.jsonl"}
    (first, *items), (again, *others) = (
        [json.loads(line) for line in each["results.jsonl"].split("\n")[:-1]] for each in found
    )
    assert without(first, OF_THIS_RUN) == without(again, OF_THIS_RUN)
    assert without(items, ("indifferent",)) == without(others, ("indifferent",))
    assert first["sources"]["ours"]["asked_now"] > again["sources"]["ours"]["asked_now"] == 0
    assert lines_about(recording.said, "were asked") == snapshot
    assert lines_about(replay.said, "nobody was") == snapshot
