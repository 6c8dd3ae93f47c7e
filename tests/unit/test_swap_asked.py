"""What recording a swap asks of both judges: as much as its preflight says, and nothing that the decision does not use.

Loopback servers answer, and count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from support.project import Project, in_pyproject, read_rows
from support.server import Answer, Asked
from support.server import serving as answering

from judgefixtures.simulator.server import serving as simulating
from judgefixtures.sources import Source, load_pairs

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.whole

SWAP = ("-k", "swap", "--judge", "candidate", "--judge-baseline", "production")
RECORD = ("--judge-record", "missing", "--judge-force")
PAIRS = 20


@dataclass(frozen=True)
class Kind:
    """A kind of judge: its table, and how often each judge is asked for recency, for accuracy and for its controls."""

    model: str
    table: str
    asked: int


# Graders with a mark are asked about both responses of a pair of the four sets of pairs, the others about examples.
KINDS = {
    "pairs": Kind("simulated-faithful", "", 2 * 2 * PAIRS + 2 * 2 * PAIRS + 2 * 60),
    "binary": Kind("simulated-grader-faithful", 'mode = "binary"', 2 * PAIRS + PAIRS + 60),
    "pointwise": Kind("m", 'mode = "pointwise"\npass_mark = 6', 2 * 2 * 2 * PAIRS + 2 * 2 * PAIRS + 2 * 60),
}


@dataclass(frozen=True)
class Swap:
    """Two judges of a kind in a repository of its own, and how often they were asked."""

    project: Project
    kind: Kind
    asked: Callable[[], int]


@pytest.fixture
def swap(pytester: pytest.Pytester, request: pytest.FixtureRequest) -> Iterator[Swap]:
    """Two judges of the kind that a test names, on little."""
    project, kind = Project(pytester, options=("--judge-report", "report"), fresh=True), KINDS[request.param]
    project.copy_tests("swap", "accuracy", "recency", "provenance", "noise")
    with ExitStack() as stack:
        if request.param == "pointwise":
            scores = stack.enter_context(answering(by=scored()))
            url, asked = scores.url, lambda: len(scores.asked)
        else:
            server = stack.enter_context(simulating())
            url, asked = server.url, lambda: server.requests
        project.write("pyproject.toml", in_pyproject(tables(kind, url)))
        yield Swap(project, kind, asked)


def tables(kind: Kind, url: str) -> str:
    """Return the configuration of two judges that are compared in one contrast."""
    return (
        f'judge = "production"\npairs = {PAIRS}\n[judges.production]\nprovider = "openai"\nmodel = "{kind.model}"\n'
        f'base_url = "{url}/v1"\n{kind.table}\n[judges.candidate]\nextends = "production"\nmax_output_tokens = 300\n'
        '[swap]\nfamilies = ["recency"]\n'
    )


def scored() -> Callable[[Asked], Answer]:
    """Return a judge that scores what a control knows to be wrong low, and all else high."""
    twins = [pair for name in ("house-control", "house-control-stories") for pair in load_pairs(Source(name))]
    wrong = [pair.response_2 if pair.gold == 1 else pair.response_1 for pair in twins]

    def answer(asked: Asked) -> Answer:
        score = 2 if any(text in asked.prompt for text in wrong) else 9
        return asked.answered(f'{{"score": {score}, "reason": "So it is."}}')

    return answer


def lacks(said: str) -> dict[str, int]:
    """Return how many calls a preflight says that each judge of a swap lacks."""
    total, each = re.findall(r"record the missing answers of the swap, (\d+) calls \((.*?); with controls\)", said)[0]
    found = {judge: int(calls) for calls, judge in re.findall(r"(\d+) of (\w+)", each)}
    assert sum(found.values()) == int(total)
    return found


@pytest.mark.parametrize("swap", KINDS, indirect=True)
def test_a_swap_asks_what_its_preflight_says(swap: Swap) -> None:
    """Of each judge as many calls are made as the preflight names, its controls among them, and then none lacks."""
    asked = swap.kind.asked
    before = swap.project.run(*SWAP, "--judge-preflight")
    assert (before.ret, swap.asked()) == (0, 0)
    assert lacks(before.said) == {"candidate": asked, "production": asked}
    assert f"candidate: at most {asked} calls" in before.said
    assert f"production: at most {asked} calls" in before.said
    swap.project.run(*SWAP, *RECORD)
    assert swap.asked() == 2 * asked
    assert lacks(swap.project.run(*SWAP, "--judge-preflight").said) == {"candidate": 0, "production": 0}


@pytest.mark.parametrize("swap", ["pairs"], indirect=True)
def test_a_swap_records_what_its_decision_uses(swap: Swap) -> None:
    """Both orders for accuracy, both sides of each contrast, the controls: every condition on disk is one of these."""
    swap.project.run(*SWAP, *RECORD)
    orders = {"no-cue.jsonl", "no-cue-21.jsonl"}
    sides = {"recency-new-old.jsonl", "recency-old-new.jsonl"}
    of = {"house-qa": orders, "house-stories": orders, "house-close": sides, "house-close-stories": sides}
    of |= {"house-control": orders, "house-control-stories": orders}
    for judge in ("candidate", "production"):
        folder = swap.project.path / "cassettes" / judge
        answered = [file for file in folder.rglob("*.jsonl") if file.parent != folder and len(read_rows(file)) > 1]
        assert {(file.parent.name, file.name) for file in answered} == {
            (dataset, name) for dataset, names in of.items() for name in names
        }


@pytest.mark.parametrize("swap", ["pairs"], indirect=True)
def test_the_preflight_of_a_swap_is_the_swaps(swap: Swap) -> None:
    """With -k swap nothing of it is about the gates of a judge by itself; of a whole run both parts have a title."""
    titles = ("gates of candidate alone", "swap: candidate against production", "for both judges, gates and swap:")
    alone = swap.project.run(*SWAP, "--judge-preflight").said
    assert [title in alone for title in titles] == [False, True, False]
    assert "tolerance" not in alone
    assert "total calls" in alone
    whole = swap.project.run(*SWAP[2:], "--judge-preflight").said
    found = [whole.index(title) for title in titles]
    assert found == sorted(found)
    assert found[0] < whole.index("tolerance") < found[1]
    # What the swap lacks is the swap's part, and the judge's whole is more.
    assert lacks(whole) == lacks(alone)
    assert int(re.search(r"candidate: at most (\d+) calls", whole)[1]) > lacks(whole)["candidate"]  # type: ignore[index]


@pytest.mark.parametrize("swap", ["pairs"], indirect=True)
def test_calls_in_all_are_those_of_a_recording_from_nothing(swap: Swap) -> None:
    """For the pairs that there are it says what both judges are asked, their controls included, once each."""
    said = swap.project.run(*SWAP, "--judge-preflight").said
    calls = re.findall(rf"^  {PAIRS} .* (\d+)  price unknown$", said, re.MULTILINE)
    assert set(calls) == {str(2 * swap.kind.asked)}
