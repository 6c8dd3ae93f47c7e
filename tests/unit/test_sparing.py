"""What the preflight expects of looks: calls, tokens and money beside the bound, of judges without bias."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.project import Project
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.gate_looks import LOOKS as SECTION
from judgefixtures.checks.gate_looks import note_pairs_after_last_look
from judgefixtures.checks.sections import DisplayOptions
from judgefixtures.models.check_rows import GateLookRow
from judgefixtures.models.record import as_json
from judgefixtures.simulator.server import SimulatorServer, serving

pytest_plugins = ["pytester"]
LOOKS = "looks = [25, 50, 100]"


def configuration(url: str = "http://127.0.0.1:9/v1", gate: str = LOOKS, pairs: int = 100, more: str = "") -> str:
    """Return a configuration of a steady judge whose gate has looks."""
    return f"""
judge = "ours"
datasets = ["house-close"]
pairs = {pairs}
control = false
[judges.ours]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}"
price = {{ input = 1.0, output = 1.0 }}
[gate]
{gate}
{more}
"""


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: SimulatorServer) -> Project:
    """A repository with the contrasts of recency and provenance."""
    options = ("-p", "no:cacheprovider", "--judge-config", "judges.toml")
    project = Project(pytester, configuration, file="judges.toml", options=options, fresh=True, rough=True)
    project.copy_tests("recency", "provenance")
    project.configure(f"{server.url}/v1")
    return project


def forecast(project: Project, *options: str) -> str:
    """Return what a preflight says."""
    return project.run("--judge-preflight", *options).said


def about(said: str) -> list[int]:
    """Return the calls that are expected: of a judge that never flips, and of one that flips in 5%."""
    (line,) = [line for line in said.splitlines() if "--judge-until-decided about" in line]
    return [int(calls) for calls in re.findall(r"about (\d+) calls", line)]


def test_expected_calls_stand_beside_the_bound(project: Project, snapshot: SnapshotAssertion) -> None:
    """Seven contrasts of two arms: 1400 calls at most, a quarter of them if nothing flips, half at 5% flips."""
    said = forecast(project)
    assert "ours: at most 1400 calls" in said
    assert about(said) == [350, pytest.approx(726, abs=14)]
    assert lines_about(said, "maximum; answers") == snapshot


def test_more_pairs_than_the_last_look_are_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """Where no look is taken the preflight and the run say so, and with how many pairs they would be."""
    project.configure("http://127.0.0.1:9/v1", gate="looks = [25, 50]")
    assert lines_about(forecast(project, "-k", "recency"), "--judge-pairs") == snapshot
    assert "more than the" not in forecast(project, "-k", "recency", "--judge-pairs", "50")


def test_a_run_beyond_its_looks_says_so() -> None:
    """The line of a run tells which dataset had more pairs than the last look, once for all of its contrasts."""
    row = GateLookRow(judge="j", dataset="mine", contrast="a-b", look=100, pairs=100, planned=(25, 50), arms=("x", "y"))
    rows = [replace(row, contrast=name, calls=200, calls_of_all=200, status="PASS") for name in ("a-b", "a-c")]
    within = replace(rows[0], dataset="other", look=25, pairs=50, calls=50, calls_of_all=100)
    told = SECTION.shown({"looks": as_json([*rows, within])}, DisplayOptions())
    assert told[1:] == [note_pairs_after_last_look("mine", 100, 50)]


def test_without_looks_nothing_is_expected(project: Project) -> None:
    """A gate that looks once asks for all pairs, and so does one of fewer pairs than its first look."""
    project.configure("http://127.0.0.1:9/v1", gate="")
    assert "until-decided about" not in forecast(project)
    assert "P(all PASS | unbiased): 1.00 at 5% flips, 0.94 at 10%" in forecast(project)


@pytest.mark.slow
def test_what_is_recorded_prices_the_rest(project: Project, server: SimulatorServer) -> None:
    """Twenty recorded pairs are left out of both numbers, and the tokens of the rest are as theirs were."""
    project.configure(f"{server.url}/v1", pairs=20, gate='inconclusive = "warn"')
    project.run("-k", "recency", "--judge-record", "missing")
    project.configure(f"{server.url}/v1")
    said = forecast(project, "-k", "recency")
    assert "ours: at most 160 calls" in said
    steady, noisy = about(said)
    assert steady == 10
    assert noisy == pytest.approx(104 - 40, abs=2)
    assert "tokens as in 40 recorded answers" in said
    least, most = (
        float(line[1])
        for line in (re.search(r"about 10 calls.*?\$([\d.]+) if", said), re.search(r"at most 160.*?\$([\d.]+) ", said))
        if line
    )
    assert 0 < least < most * 10 / 160


def test_fewest_pairs_follow_from_the_looks(project: Project) -> None:
    """Twenty pairs pass with one look, and cannot with levels that are shared; the preflight and the item say so."""
    project.configure("http://127.0.0.1:9/v1", pairs=20)
    said = forecast(project, "-k", "recency")
    assert "cannot pass with 20 pairs: it needs 25" in said
    project.configure("http://127.0.0.1:9/v1", pairs=20, gate="")
    assert "cannot pass" not in forecast(project, "-k", "recency")


def test_the_run_in_plain_words(project: Project, snapshot: SnapshotAssertion) -> None:
    """What a green run says of judges that move is computed for the contrasts and the looks of this very run."""
    assert lines_about(forecast(project), "every contrast") == snapshot
    project.configure("http://127.0.0.1:9/v1", gate="")
    assert lines_about(forecast(project), "every contrast") == snapshot


def test_scores_end_at_looks_that_show_them(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge that scores cannot pass at 25 pairs, of which few that move far may be missing: half is expected."""
    table = configuration().replace("simulated-faithful", "simulated-scorer-faithful")
    (project.path / "judges.toml").write_text(table.replace("[judges.ours]\n", '[judges.ours]\nmode = "pointwise"\n'))
    said = forecast(project, "-k", "recency")
    (most,) = re.findall(r"ours: at most (\d+) calls", said)
    assert about(said)[0] == int(most) / 2
    assert lines_about(said, "moves; about") == snapshot
    assert "a judge with VSR" not in said
