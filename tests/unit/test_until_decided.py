"""--judge-until-decided: a swap is recorded a look at a time, until it is decided."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.project import Project

from judgefixtures.simulator.server import SimulatorServer, serving

pytest_plugins = ["pytester"]
LOOKS = (20, 40, 80)
RECORD = ("-k", "swap", "--judge-record", "missing", "--judge-until-decided", "--judge-report", "report")


def configuration(
    url: str = "http://127.0.0.1:9/v1", candidate: str = "simulated-silent", looks: str = str([*LOOKS])
) -> str:
    """Return a configuration that compares a candidate with the faithful judge in recency."""
    return f"""
judge = "candidate"
datasets = ["house-close"]
pairs = 80
[judges.candidate]
provider = "openai"
model = "{candidate}"
base_url = "{url}"
[judges.production]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}"
[swap]
families = ["recency"]
looks = {looks}
"""


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: SimulatorServer) -> Project:
    """A repository whose candidate follows every label, silently."""
    options = ("-p", "no:cacheprovider", "--judge-config", "judges.toml", "--judge-baseline", "production")
    project = Project(pytester, configuration, file="judges.toml", options=options, fresh=True, rough=True)
    project.copy_tests("swap")
    project.configure(f"{server.url}/v1")
    return project


def test_a_bad_candidate_is_found_out_early(project: Project, server: SimulatorServer) -> None:
    """Recording stops at the first look that rejects, says what that saved, and replays with that many pairs."""
    ran = project.run(*RECORD)
    look = ran.report["decision"]["look"]
    assert ran.report["decision"]["status"] == "REJECT"
    assert look in LOOKS[:2]
    assert server.requests == 2 * 2 * look
    assert f"look at {look} pairs per dataset: decided; {2 * (80 - look)} questions were not asked of each" in ran.said
    again = project.run("-k", "swap", "--judge-pairs", str(look), "--judge-report", "report")
    assert (again.report["decision"], server.requests) == (ran.report["decision"], 2 * 2 * look)


def test_equal_judges_take_every_look(project: Project, server: SimulatorServer) -> None:
    """Nothing is approved before there are pairs enough: all are recorded, each once."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful")
    ran = project.run(*RECORD)
    assert (ran.report["decision"]["status"], ran.report["decision"]["look"]) == ("APPROVE", 80)
    assert server.requests == 2 * 2 * 80
    assert "pairs per dataset: decided" not in ran.said


def test_what_the_looks_do_not_decide_is_not_called_decided(project: Project, server: SimulatorServer) -> None:
    """Where the last look leaves it open nothing further is asked: that is said, with what it leaves out."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful", looks="[20, 40]")
    ran = project.run(*RECORD)
    assert (ran.report["decision"]["status"], server.requests) == ("INCONCLUSIVE", 2 * 2 * 40)
    assert "look at 40 pairs per dataset: not decided, and it is the last one; 80 questions were not asked" in ran.said


def test_a_part_of_a_swap_is_not_decided_for_the_whole(project: Project, server: SimulatorServer) -> None:
    """What was deselected is not compared: no look can approve without it, and recording goes on to the last."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful", looks="[80, 100]")
    project.add('[cues.brand]\nours = "{content_type} {number} is ours."\ntheirs = "{content_type} {number} is not."\n')
    written = (project.path / "judges.toml").read_text()
    project.write(
        "judges.toml", written.replace('["recency"]', '["recency", "brand"]').replace("pairs = 80", "pairs = 100")
    )
    ran = project.run(*RECORD[2:], "-k", "recency")
    assert (ran.report["decision"]["status"], server.requests) == ("INCONCLUSIVE", 2 * 2 * 100)
    assert "brand-ours-theirs on house-close: was not compared" in ran.report["decision"]["reasons"]


@pytest.mark.parametrize(("arguments", "looks", "words"), [
    (("--judge-until-decided",), str([*LOOKS]), "it needs --judge-record missing and --judge-baseline NAME"),
    (("--judge-until-decided", "--judge-record", "missing"), "[100]", "needs several looks, and [swap] looks has one"),
])  # fmt: skip
def test_what_it_needs_is_said(project: Project, arguments: tuple[str, ...], looks: str, words: str) -> None:
    """Without looks, or without recording, the option is refused before anything is asked."""
    project.configure(looks=looks)
    ran = project.run("-k", "swap", *arguments)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert words in ran.said
