"""What is recorded of a judge that has not passed its control is shown, and counts for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import Project, Ran, in_pyproject, rows_of, suite
from support.rendered import lines_about
from support.server import NOWHERE, Asked, Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.pairs import Pair
from judgefixtures.statistics.estimate import Status

pytest_plugins = ["pytester"]

N = 24
PAIRS = [Pair(f"p{each:02}", f"Question {each}: which one?", f"This, {each}.", f"That, {each}.") for each in range(N)]
ENDS = ("value", "low", "high", "n")
NEW = "written recently (in 2025)"


def configuration(url: str = NOWHERE, *, control: bool = True, more: str = "") -> str:
    """Return the configuration of a judge behind a server, with its control or without."""
    table = f'provider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\n'
    head = "" if control else "control = false\n"
    own = "[datasets.own]\npath = 'pairs.jsonl'\n[gate]\nvsr_tolerance = 0.45\n"
    return in_pyproject(f'judge = "ours"\n{head}[judges.ours]\n{table}{own}{more}')


class Controlled(Project):
    """A project whose judge is controlled: `configure` leaves the control on."""

    def configure(self, *arguments: Any, **more: Any) -> None:
        """Write the configuration as it is."""
        self.write(self.file, self.configuration(*arguments, **more))


def by_date(asked: Asked) -> Any:
    """Choose the response that is said to be new, and what stands first where nothing is said."""
    texts = [text for text in asked.prompt.split("\n") if "written" in text]
    is_second = bool(texts) and NEW in texts[-1] and NEW not in texts[0]
    return asked.answered(f'{{"selected_response": {2 if is_second else 1}, "reason": "It is better."}}')


@pytest.fixture
def server() -> Iterator[Server]:
    """A judge that goes by dates and sides, behind HTTP."""
    with serving(by=by_date) as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: Server) -> Controlled:
    """A repository whose judge was recorded without a control."""
    project = Controlled(pytester, configuration, options=("-p", "no:cacheprovider", "--judge-force"))
    project.write("test_ours.py", suite("recency", name="recency"))
    project.write_pairs(rows_of(PAIRS))
    project.configure(server.url, control=False)
    project.run("--judge-record", "missing")
    return project


def measured(ran: Ran) -> dict[str, Any]:
    """Return the row of what is shown and does not count."""
    (row,) = ran.report["not_counted"]
    return row


def test_a_failed_control_hides_no_recorded_results(
    project: Controlled, server: Server, snapshot: SnapshotAssertion
) -> None:
    """They are in every output, with the numbers that they have without a control; the status is the control's."""
    before = project.run("--judge-report", "report").report["contrasts"][0]
    project.configure(server.url)
    asked = len(server.asked)
    recorded = project.run("--judge-record", "missing", "--judge-report", "report")
    assert len(server.asked) == asked + 60, "the control, and nothing else"
    row = measured(recorded)
    assert (row["estimate"], row["n"]) == (before["vsr"], before["n"])
    assert row["text"] == before["text"]
    (contrast,) = recorded.report["contrasts"]
    assert (contrast["status"], contrast["vsr"], contrast["decided_by"][0]["part"]) == ("FAIL", None, "control")
    assert f"not counted: {row['text']}" in recorded.outlines
    for page in ("report.md", "report.html"):
        text = re.sub(r"[\\]|&#\d+;|&quot;", "", (recorded.folder / page).read_text(encoding="utf-8"))
        assert lines_about(text, "but not") == snapshot
        assert "not counted" in text, page
    files = {name: (recorded.folder / name).read_bytes() for name in ("report.json", "report.md", "judgments.jsonl")}
    project.configure()
    replayed = project.run("--judge-report", "report")
    assert {name: (replayed.folder / name).read_bytes() for name in files} == files
    assert replayed.ret == recorded.ret == 1


def test_results_beside_a_control_that_is_not_recorded_are_shown_with_its_command(project: Controlled) -> None:
    """Recordings from before the control show what they have; the item is an ERROR whose command records it."""
    project.configure()
    ran = project.run("--judge-report", "report")
    assert measured(ran)["n"] == N
    assert ran.report["results"][0]["status"] == "ERROR"
    assert "--judge-record missing" in ran.said
    assert ran.ret == 10


def test_pairs_that_lack_an_answer_are_no_part_of_it(project: Controlled) -> None:
    """What is shown is about the pairs that are recorded in both arms, and says how many these are."""
    (file, _) = sorted((project.path / "cassettes" / "ours" / "own").glob("recency*.jsonl"))
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-4]))
    project.configure()
    assert measured(project.run("--judge-report", "report"))["n"] == N - 4


def test_nothing_is_shown_where_nothing_is_recorded(project: Controlled, server: Server) -> None:
    """A report without such results has no key for them."""
    for file in (project.path / "cassettes" / "ours" / "own").glob("recency*.jsonl"):
        file.unlink()
    project.configure(server.url)
    ran = project.run("--judge-record", "missing", "--judge-report", "report")
    assert "not_counted" not in ran.report
    assert "not counted" not in ran.said


def test_a_swap_shows_what_is_recorded_too(project: Controlled, server: Server, snapshot: SnapshotAssertion) -> None:
    """Whichever of the two judges failed, or has no control recorded: as with single judges, and no decision knows."""
    more = f'[judges.other]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\n'
    project.copy_tests("swap")
    options = ("--judge-baseline", "other", "-k", "swap and recency", "--judge-report", "report")
    project.configure(server.url, control=False, more=more)
    before = project.run("--judge-record", "missing", *options).report["swap"][0]
    asked = len(server.asked)
    project.configure(server.url, more=more)
    unrecorded = project.run(*options)
    recorded = project.run("--judge-record", "missing", *options)
    assert len(server.asked) == asked + 120, "both controls, and nothing else"
    for ran in (unrecorded, recorded):
        row = measured(ran)
        assert (row["judge"], row["baseline"], row["n"]) == ("ours", "other", N)
        assert {name: row["estimate"][name] for name in ENDS} == {name: before[name] for name in ENDS}
        assert not set(Status) & set(row["text"].split())
        assert lines_about(ran.said, "must pass") == snapshot
        assert f"not counted: {row['text']}" in ran.outlines
        decision = ran.report["decision"]
        assert (decision["status"], decision["components"]) == ("INCONCLUSIVE", [])
    project.configure(more=more)
    replayed = project.run(*options)
    assert replayed.report == recorded.report
