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
    assert f"decided at the look at {look} pairs per dataset: {2 * (80 - look)} questions were not asked" in ran.said
    again = project.run("-k", "swap", "--judge-pairs", str(look), "--judge-report", "report")
    assert (again.report["decision"], server.requests) == (ran.report["decision"], 2 * 2 * look)


def test_equal_judges_take_every_look(project: Project, server: SimulatorServer) -> None:
    """Nothing is approved before there are pairs enough: all are recorded, each once."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful")
    ran = project.run(*RECORD)
    assert (ran.report["decision"]["status"], ran.report["decision"]["look"]) == ("APPROVE", 80)
    assert server.requests == 2 * 2 * 80
    assert "decided at the look" not in ran.said


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
