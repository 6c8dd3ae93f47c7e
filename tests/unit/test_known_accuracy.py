"""Accuracy of a judge whose verdicts are known: what the suite reports per category is exactly that."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
import scipy.stats  # noqa: F401
import statsmodels.stats.proportion  # noqa: F401 (loaded once: pytester forgets what a run imported, numpy minds)

from judgefixtures.checks.accuracy import accuracy
from judgefixtures.contrasts import NO_CUE
from judgefixtures.judges import Reply
from judgefixtures.judgments import Judgment
from judgefixtures.pairs import Pair, swapped
from judgefixtures.prompts import load_template
from judgefixtures.verdicts import Verdict

pytest_plugins = ["pytester"]

SHARED = Path(__file__).parents[3] / "shared" / "data"
ROWS = [
    {"id": f"{category}-{n}", "category": category, "question": f"Question {n} of {category}?",
     "response_1": f"The first answer to {n} of {category}.", "gold": 1,
     "response_2": f"Another one, to {n} of {category}, longer."}
    for category, size in (("length", 9), ("nested instruction", 7), ("other", 5)) for n in range(size)
]  # fmt: skip


def prefers(first: str, second: str) -> str:
    """Return the text that this judge prefers: a matter of the two texts, wherever they stand."""
    return min(first, second, key=lambda text: hashlib.sha256(f"{text}\0{first < second}".encode()).digest())


class Judge(BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible server, in the format that the prompt asks for; some answers are no verdict."""

    asked: ClassVar[dict[str, tuple[dict[str, Any], str]]] = {}  # by prompt: the row, and which response stands first
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = json.dumps({"choices": [{"message": {"content": self.verdict(body["messages"][-1]["content"])},
                                        "finish_reason": "stop"}], "model": body["model"]}).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def verdict(self, prompt: str) -> str:
        row, first = self.asked[prompt]
        if unreadable(row):
            return "I would rather not say."
        number = 1 if prefers(row["response_1"], row["response_2"]) == row[first] else 2
        if "[[B]]" in prompt:
            return f"At first I thought [[{'BA'[number - 1]}]], but: [[{'AB'[number - 1]}]]"
        return json.dumps({"selected_response": number, "reason": "known"})

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def prompts(rows: list[dict[str, Any]], template: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Return every prompt that there can be, with its row and the response that stands first in it."""
    found = {}
    for row in rows:
        pair = Pair(row["id"], row["question"], row["response_1"], row["response_2"])
        for first, stands in (("response_1", pair), ("response_2", swapped(pair))):
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


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def sets() -> list[Any]:
    """Return our own rows, and real benchmarks where they lie beside the project."""
    found: list[Any] = [pytest.param(ROWS, id="own")]
    for name in ("biasbench", "llmbar"):
        path = SHARED / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found.append(pytest.param(rows, id=name))
    return found


@pytest.mark.parametrize("verdict", ["json", "brackets"])
@pytest.mark.parametrize("rows", sets())
def test_accuracy_per_category_is_the_known_one(
    rows: list[dict[str, Any]], verdict: str, url: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both formats, positions randomised by seed: every category's n, correct and invalid are exactly known."""
    monkeypatch.setattr(Judge, "asked", prompts(rows, {"json": "silent-judge", "brackets": "mt-bench"}[verdict]))
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (pytester.path / "pairs.jsonl").write_text(lines, encoding="utf-8")
    pytester.makepyprojecttoml(f"""
        [tool.judgefixtures]
        judge = "known"
        dataset = ["bench"]
        seed = 7
        [tool.judgefixtures.judges.known]
        provider = "openai"
        model = "known"
        base_url = "{url}"
        verdict = "{verdict}"
        [tool.judgefixtures.datasets.bench]
        path = "pairs.jsonl"
        [tool.judgefixtures.gate]
        max_invalid = 0.3
        """)
    pytester.makepyfile(test_accuracy=(Path(__file__).parents[1] / "judge" / "test_accuracy.py").read_text("utf-8"))
    for mode in ("missing", "none"):
        result = pytester.runpytest_inprocess("--judge-record", mode, "--judge-report", "report")
        assert result.ret == 0
        report = json.loads((pytester.path / "report" / "report.json").read_text(encoding="utf-8"))
        found = {row["category"]: (row["n"], row["correct"], row["invalid"]) for row in report["accuracy"]}
        assert found == known(rows)
    frozen = (pytester.path / "cassettes" / "known" / "bench" / "pairs.jsonl").read_text(encoding="utf-8")
    gold = Counter(json.loads(line)["gold"] for line in frozen.splitlines())
    assert abs(gold[1] - gold[2]) <= 1


def test_a_category_called_all_makes_no_second_row() -> None:
    """The row "all" is about every pair, also where the data has a category of that name."""
    pairs = [Pair(f"p{n}", "q", "a", "b", 1, category) for n, category in enumerate(("all", "all", "other"))]
    own = [Judgment(pair, NO_CUE, Reply(Verdict(1, "", None))) for pair in pairs]
    assert [(row.category, row.n) for row in accuracy(own)] == [("all", 3), ("other", 1)]
