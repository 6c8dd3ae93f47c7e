"""What version 0.2.0 recorded of a real model is what it was: docs/how-to/stale.md promises it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import REPOSITORY, Project, Ran, read_rows, uncontrolled
from support.rendered import lines_about
from support.server import Asked, Server, serving
from syrupy.assertion import SnapshotAssertion

pytestmark = pytest.mark.whole  # runs programs

pytest_plugins = ["pytester"]

THEN = Path(__file__).parent / "data" / "version-0.2.0"  # its README says who was asked, and by what
ADDRESS = "http://127.0.0.1:8143"  # where the model was served then
RUNS = {
    "scores": ("--judge", "scores", "--judge-pairs", "8", "-k", "recency or human-llm"),
    "pairs": ("--judge", "pairs", "--judge-pairs", "4", "-k", "recency"),
}
COUNTS = ("n", "ties", "n11", "n10", "n01", "n00", "invalid_pairs", "contradictions", "moved", "arms")
# CAR's definition is another one since (docs/explanation/measures.md), where a verdict that moves is admitted in one order alone.
ESTIMATES = ("vsr", "flip_rate", "silent_shift_rate", "admitted_shift", "unadmitted_shift", "car", "log_odds_shift")
VALUES = ("score_shift", "soft_vsr", "first_selection_rate")  # of the first two the interval is another one since
SAID_OTHERWISE = ("detail", "loop")  # what is said of an answer that was cut off


class Recorded(Project):
    """A repository with what version 0.2.0 recorded in it, configured as it was then."""

    def configure_at(self, address: str = ADDRESS, *, control: bool = True) -> None:
        """Write the configuration of then, with the model at an address of today, and the control or none."""
        text = (THEN / "pyproject.toml").read_text(encoding="utf-8").replace(ADDRESS, address)
        self.write("pyproject.toml", text if control else uncontrolled(text))


@pytest.fixture
def recorded(pytester: pytest.Pytester) -> Recorded:
    """A copy of the recordings, with the tests of this repository that use them."""
    shutil.copytree(THEN, pytester.path, dirs_exist_ok=True)
    project = Recorded(pytester, fresh=True)
    project.copy_tests("recency", "provenance")
    return project


def reported(judge: str) -> Any:
    """Return what version 0.2.0 reported of a judge."""
    return json.loads((THEN / f"{judge}.json").read_text(encoding="utf-8"))


def by_contrast(rows: Any) -> dict[str, Any]:
    """Return rows of contrasts by the contrast's id."""
    return {row["contrast"]: row for row in rows}


def without_sayings(rows: Any) -> list[dict[str, Any]]:
    """Return judgments without what is said in words of ours."""
    return [{key: value for key, value in row.items() if key not in SAID_OTHERWISE} for row in rows]


def value(estimate: Any) -> Any:
    """Return the value of an estimate; what is none, as it is."""
    return estimate["value"] if isinstance(estimate, dict) and "value" in estimate else estimate


@pytest.mark.parametrize("judge", RUNS)
def test_what_version_0_2_0_recorded_replays_to_what_it_reported(recorded: Recorded, judge: str) -> None:
    """Every count, estimate and judgment is the same: with `control = false`, as results count then and now."""
    recorded.configure_at(control=False)
    before = recorded.tree()
    ran = recorded.run("--judge-report", "report", *RUNS[judge])
    now, then = by_contrast(ran.report["contrasts"]), by_contrast(reported(judge)["contrasts"])
    assert now.keys() == then.keys()
    for name, row in then.items():
        for key in (*COUNTS, *ESTIMATES):
            assert now[name].get(key) == row.get(key), (name, key)
        for key in VALUES:
            assert value(now[name].get(key)) == pytest.approx(value(row.get(key))), (name, key)
    assert without_sayings(read_rows(ran.folder / "judgments.jsonl")) == without_sayings(reported(judge)["judgments"])
    assert {name: digest for name, digest in recorded.tree().items() if name in before} == before, (
        "nothing is rewritten"
    )


@pytest.mark.parametrize("judge", RUNS)
def test_without_the_control_of_today_they_are_shown_as_not_counting(
    recorded: Recorded, judge: str, snapshot: SnapshotAssertion
) -> None:
    """Every output has each result with its numbers, that it does not count, and the command that records the control.

    The configuration is the one of then: nothing in it has to change.
    """
    ran = recorded.run("--judge-report", "report", *RUNS[judge])
    rows = {row["name"]: row for row in ran.report["not_counted"]}
    then = by_contrast(reported(judge)["contrasts"])
    asked = {name: row["n"] + row["invalid_pairs"] for name, row in then.items()}  # all that are recorded
    assert {name: row["n"] for name, row in rows.items()} == asked
    for name, row in rows.items():
        gated = [then[name][key] for key in ("score_shift", "log_odds_shift", "vsr") if then[name].get(key)]
        assert row["estimate"]["value"] in [pytest.approx(each["value"]) for each in gated], name
    (command,) = {row["command"] for row in rows.values()}
    assert command.startswith("pytest ")
    assert command.endswith("--judge-record missing")
    assert {row["status"] for row in ran.report["results"]} == {"ERROR"}
    for text in (ran.said, *(plain(ran, page) for page in ("report.md", "report.html"))):
        assert lines_about(text, "recorded, and", "recorded: what") == snapshot
        assert command in text
    assert ran.ret == 10


def plain(ran: Ran, page: str) -> str:
    """Return a page without what its own form writes otherwise."""
    text = (ran.folder / page).read_text(encoding="utf-8")
    return text.replace("\\", "").replace("&#34;", '"')


RIGHT = frozenset(
    row[f"response_{row['gold']}"] for row in read_rows(REPOSITORY / "judgefixtures" / "data" / "house-control.jsonl")
)


def reading(asked: Asked) -> Any:
    """Answer as a judge does that reads: a right twin has 9 points, a wrong one 2."""
    is_right = any(f"Response:\n{right}\n" in asked.prompt for right in RIGHT)
    said = {"score": 9 if is_right else 2, "reason": "The response says what is so."}
    return asked.answered(json.dumps(said), model=asked.body["model"])


@pytest.fixture
def server() -> Iterator[Server]:
    """A judge that reads, at an address of its own."""
    with serving(by=reading) as running:
        yield running


def test_the_control_of_today_is_added_to_recordings_of_then(recorded: Recorded, server: Server) -> None:
    """The command that is shown asks the control and nothing else, wherever the model is served now: then all counts."""
    about = ("--judge", "scores", "--judge-pairs", "8", "-k", "recency or human-llm", "--judge-report", "report")
    recorded.configure_at(server.url)
    before = recorded.tree()
    recorded.run(*about, "--judge-record", "missing", "--judge-force")
    assert len(server.asked) == 60, "thirty pairs of twins, whose responses are scored one by one"
    after = recorded.tree()
    assert {name: after[name] for name in before} == before, "what was recorded then is left as it is"
    recorded.configure_at()
    ran = recorded.run(*about)
    assert [row["status"] for row in ran.report["controls"]] == ["PASS"]
    assert "not_counted" not in ran.report
    then = by_contrast(reported("scores")["contrasts"])
    for name, row in by_contrast(ran.report["contrasts"]).items():
        assert {key: row.get(key) for key in COUNTS} == {key: then[name].get(key) for key in COUNTS}
        assert row["score_shift"]["value"] == pytest.approx(then[name]["score_shift"]["value"])
