"""Pairs whose two responses are the same text: every run names them, and they stay asked about."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Project, in_pyproject

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with a judge that nobody asks here."""
    table = 'provider = "openai"\nmodel = "m"\n'
    own = '[datasets.own]\npath = "pairs.jsonl"\n'
    project = Project(pytester, lambda: in_pyproject(f'judge = "ours"\n[judges.ours]\n{table}{own}'))
    project.copy_tests("recency", "accuracy")
    project.configure()
    return project


def rows(same: int, *, gold: bool = False) -> list[dict[str, Any]]:
    """Return thirty pairs, the first of which show one response twice."""
    return [
        {
            "id": f"p{number:02}",
            "question": f"Question {number}?",
            "response_1": f"One, {number}.",
            "response_2": f"{'One' if number < same else 'Two'}, {number}.",
            **({"gold": 1} if gold else {}),
        }
        for number in range(30)
    ]


@pytest.mark.parametrize(
    ("same", "gold", "said"),
    [
        (0, False, ""),
        (2, False, "own: 2 of 30 pairs have two identical responses (p00, p01): neither can be better, so "),
        (5, False, ", ...): neither can be better, so the choice is chance or habit. These pairs are"),
        (1, True, "(p00): neither can be better (although the data has gold for 1 of them), so "),
    ],
)
def test_a_run_names_identical_responses(project: Project, same: int, gold: bool, said: str) -> None:
    """How many, the first ids and what that does, once per dataset; as many calls are foreseen as without them."""
    project.write_pairs(rows(same, gold=gold))
    replayed = project.run("--judge-pairs", "30")
    assert sum("identical responses" in line for line in replayed.outlines) == bool(said)
    ran = project.run("--judge-preflight", "--judge-pairs", "30")
    lines = [line for line in ran.outlines if "identical responses" in line]
    assert len(lines) == bool(said)
    assert all(said in line and line.endswith("These pairs are still used and count") for line in lines)
    calls = {line for line in ran.outlines if "ours: at most" in line}
    project.write_pairs(rows(0, gold=gold))
    without = project.run("--judge-preflight", "--judge-pairs", "30")
    assert {line.partition(" calls")[0] for line in calls} == {
        line.partition(" calls")[0] for line in without.outlines if "ours: at most" in line
    }
