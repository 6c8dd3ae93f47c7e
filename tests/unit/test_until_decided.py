"""--judge-until-decided: a swap is recorded a look at a time, until it is decided."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.project import Project, json_lines, rows_of
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.sources import Source, load_pairs

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


@pytest.mark.slow
def test_a_bad_candidate_is_found_out_early(
    project: Project, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """Recording stops at the first look that rejects, says what that saved, and replays with that many pairs."""
    ran = project.run(*RECORD)
    look = ran.report["decision"]["look"]
    assert ran.report["decision"]["status"] == "REJECT"
    assert look in LOOKS[:2]
    assert server.requests == 2 * 2 * look
    assert lines_about(ran.said, "against production") == snapshot
    for replay in ("--judge-until-decided",), ("--judge-pairs", str(look)):
        again = project.run("-k", "swap", "--judge-report", "report", *replay)
        assert (again.report["decision"], server.requests) == (ran.report["decision"], 2 * 2 * look)


@pytest.mark.slow
def test_equal_judges_take_every_look(project: Project, server: SimulatorServer) -> None:
    """Nothing is approved before there are pairs enough: all are recorded, each once."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful")
    ran = project.run(*RECORD)
    assert (ran.report["decision"]["status"], ran.report["decision"]["look"]) == ("APPROVE", 80)
    assert server.requests == 2 * 2 * 80
    assert "per dataset: decided" not in ran.said


@pytest.mark.slow
def test_what_the_looks_do_not_decide_is_not_called_decided(
    project: Project, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """Where the last look leaves it open nothing further is asked: that is said, with what it leaves out."""
    project.configure(f"{server.url}/v1", candidate="simulated-faithful", looks="[20, 40]")
    ran = project.run(*RECORD)
    assert (ran.report["decision"]["status"], server.requests) == ("INCONCLUSIVE", 2 * 2 * 40)
    assert lines_about(ran.said, "dataset: not") == snapshot


@pytest.mark.slow
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
    assert "brand-ours-theirs on house-close: not compared" in ran.report["decision"]["reasons"]


@pytest.mark.slow
def test_each_candidate_has_its_own_looks(
    project: Project, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """A candidate that is decided is asked nothing further while another one is open; the note is about its swap."""
    project.add(f'[judges.equal]\nprovider = "openai"\nmodel = "simulated-faithful"\nbase_url = "{server.url}/v1"\n')
    ran = project.run(*RECORD, "--judge", "candidate", "--judge", "equal")
    bad, equal = ran.report["decisions"]
    assert (bad["status"], equal["status"], equal["look"]) == ("REJECT", "APPROVE", 80)
    assert bad["look"] in LOOKS[:2]
    assert server.requests == 2 * bad["look"] + 2 * 80 + 2 * 80  # the baseline's answers serve both
    assert lines_about(ran.said, "against production") == snapshot
    assert "equal against production: look" not in ran.said


@pytest.mark.slow
def test_the_closest_pairs_are_looked_at_as_well(
    project: Project, server: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """With `closest` a look has the first of the closest pairs for either judge; a replay asks for the same ones."""
    pool = load_pairs(Source(name="house-close"))[:60]
    project.write("pairs.jsonl", json_lines(rows_of(pool)))
    project.add('[datasets.close]\npath = "pairs.jsonl"\nclosest = 45\n')
    written = (project.path / "judges.toml").read_text()
    project.write("judges.toml", written.replace('["house-close"]', '["close"]'))
    ran = project.run(*RECORD)
    look = ran.report["decision"]["look"]
    assert (ran.report["decision"]["status"], look in LOOKS[:2]) == ("REJECT", True)
    assert server.requests == 2 * 2 * len(pool) + 2 * 2 * look
    frozen = [
        json.loads((project.path / "cassettes" / judge / "close" / "closest.json").read_text())["pairs"]
        for judge in ("candidate", "production")
    ]
    closest = {pair["id"] for choice in frozen for pair in choice}
    asked = {row["pair"] for row in ran.rows("judgments")}
    assert (asked <= closest, len(asked)) == (True, look)
    assert lines_about(ran.said, "requests to") == snapshot
    again = project.run("-k", "swap", "--judge-until-decided", "--judge-report", "report")
    assert (again.report["decision"], server.requests) == (ran.report["decision"], 2 * 2 * len(pool) + 2 * 2 * look)


@pytest.mark.parametrize(
    ("fixture", "words"),
    [
        ("def pairs(pairs):\n    return pairs[:10]", "fixture `pairs`"),
        (
            "def baseline():\n    from judgefixtures.judges import load_judge\n"
            "    return load_judge({'provider': 'openai', 'model': 'm', 'base_url': 'http://127.0.0.1:9/v1'})",
            "fixture `judge` or `baseline`",
        ),
    ],
)
def test_what_the_looks_are_not_about_is_refused(
    project: Project, server: SimulatorServer, fixture: str, words: str, snapshot: SnapshotAssertion
) -> None:
    """A test with pairs or judges of its own would be decided on others: nothing is asked."""
    project.write("conftest.py", f"import pytest\n\n@pytest.fixture\n{fixture}\n")
    ran = project.run(*RECORD)
    assert (ran.ret, server.requests) == (1, 0)
    assert lines_about(ran.said, words) == snapshot


@pytest.mark.parametrize(
    ("arguments", "looks", "words"),
    [
        (("--judge-until-decided", "--judge-record", "all"), str([*LOOKS]), "needs --judge-record missing or none"),
        (("--judge-until-decided", "--judge-record", "missing"), "[100]", "looks has one"),
    ],
)
def test_what_it_needs_is_said(project: Project, arguments: tuple[str, ...], looks: str, words: str) -> None:
    """Without looks, or without recording, the option is refused before anything is asked."""
    project.configure(looks=looks)
    ran = project.run("-k", "swap", *arguments)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert words in ran.said
