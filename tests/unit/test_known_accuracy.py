"""Accuracy of a judge whose verdicts are known: what the suite reports per category is exactly that."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.project import Project
from support.server import Answer, Asked, serving

from judgefixtures.checks.accuracy import accuracy
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, swap_responses
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.prompts.templates import load_template

pytest_plugins = ["pytester"]

SHARED = Path(__file__).parents[3] / "shared" / "data"
ROWS = [
    {
        "id": f"{category}-{n}",
        "category": category,
        "question": f"Question {n} of {category}?",
        "response_1": f"The first answer to {n} of {category}.",
        "gold": 1,
        "response_2": f"Another one, to {n} of {category}, longer.",
    }
    for category, size in (("length", 9), ("nested instruction", 7), ("other", 5))
    for n in range(size)
]


def prefers(first: str, second: str) -> str:
    """Return the text that this judge prefers: a matter of the two texts, wherever they stand."""
    return min(first, second, key=lambda text: hashlib.sha256(f"{text}\0{first < second}".encode()).digest())


def verdict(prompt: str, row: dict[str, Any], first: str) -> str:
    """Return the judge's answer in the format that the prompt asks for; about some rows it is not a verdict."""
    if unreadable(row):
        return "I would rather not say."
    number = 1 if prefers(row["response_1"], row["response_2"]) == row[first] else 2
    if "[[B]]" in prompt:
        return f"At first I thought [[{'BA'[number - 1]}]], but: [[{'AB'[number - 1]}]]"
    return json.dumps({"selected_response": number, "reason": "known"})


def prompts(rows: list[dict[str, Any]], template: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Return every prompt that there can be, with its row and the response that stands first in it."""
    found = {}
    for row in rows:
        pair = Pair(row["id"], row["question"], row["response_1"], row["response_2"])
        for first, stands in (("response_1", pair), ("response_2", swap_responses(pair))):
            found[load_template(template).render(stands, NO_CUE)] = (row, first)
    return found


def unreadable(row: dict[str, Any]) -> bool:
    return int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 23 == 0


def known(rows: list[dict[str, Any]]) -> dict[str, tuple[int, int, int]]:
    """Return n, correct and invalid for every category and for all."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        right = not unreadable(row) and prefers(row["response_1"], row["response_2"]) == row[f"response_{row['gold']}"]
        for category in ("all", row["category"]):
            found.setdefault(category, Counter()).update(n=1, correct=right, invalid=unreadable(row))
    return {name: (count["n"], count["correct"], count["invalid"]) for name, count in found.items()}


def sets() -> list[Any]:
    """Return our own rows, and real benchmarks where they lie beside the project."""
    found: list[Any] = [pytest.param(ROWS, id="own")]
    for name in ("biasbench", "llmbar"):
        path = SHARED / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found.append(pytest.param(rows, id=name))
    return found


def configuration(url: str, form: str) -> str:
    """Return the configuration of the known judge."""
    return f"""\
[tool.judgefixtures]
judge = "known"
dataset = ["bench"]
seed = 7
[tool.judgefixtures.judges.known]
provider = "openai"
model = "known"
base_url = "{url}/v1"
verdict = "{form}"
[tool.judgefixtures.datasets.bench]
path = "pairs.jsonl"
[tool.judgefixtures.gate]
max_invalid = 0.3
"""


@pytest.mark.parametrize("form", ["json", "brackets"])
@pytest.mark.parametrize("rows", sets())
def test_accuracy_per_category_is_the_known_one(
    rows: list[dict[str, Any]], form: str, pytester: pytest.Pytester
) -> None:
    """Both formats, positions randomised by seed: every category's n, correct and invalid are exactly known."""
    about = prompts(rows, {"json": "silent-judge", "brackets": "mt-bench"}[form])
    project = Project(pytester, configuration)
    project.write_pairs(rows)
    project.copy_tests("accuracy")

    def answering(asked: Asked) -> Answer:
        return asked.answered(verdict(asked.prompt, *about[asked.prompt]), model="known")

    with serving(by=answering) as server:
        project.configure(server.url, form)
        for mode in ("missing", "none"):
            assert project.run("--judge-record", mode, "--judge-report", "report").ret == 11  # no limit is set
            found = {
                row["category"]: (row["n"], row["correct"], row["invalid"]) for row in project.report()["accuracy"]
            }
            assert found == known(rows)
    gold = Counter(pair["gold"] for pair in project.rows("cassettes/known/bench/pairs.jsonl"))
    assert abs(gold[1] - gold[2]) <= 1


def test_a_category_called_all_makes_no_second_row() -> None:
    """The row "all" is about every pair, also where the data has a category of that name."""
    pairs = [Pair(f"p{n}", "q", "a", "b", 1, category) for n, category in enumerate(("all", "all", "other"))]
    own = [Judgment(pair, NO_CUE, JudgeReply(Verdict(1, "", None))) for pair in pairs]
    assert [(row.category, row.n) for row in accuracy(own)] == [("all", 3), ("other", 1)]
