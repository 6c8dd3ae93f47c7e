"""The second file of provider answers in ../shared/data: each case has the outcome that it expects.

Its keys are explained in the README.md beside it. Answers go through the real SDKs, as in test_providers.py.
"""

from __future__ import annotations

import functools
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, finished, rows, run
from support.server import MODELS, Answer, Asked, good, serving, wire

from judgefixtures.cli.main import main
from judgefixtures.client.costs import Budget, BudgetError, CostMeter
from judgefixtures.judges.judge import FatalJudgeError, Judge
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.parsing.acknowledgment import acknowledgment

CASES = Path(__file__).parents[2].parent / "shared" / "data" / "provider-cases-2.json"
SLOW = 0.6  # seconds before a good answer of a recording

pytestmark = [
    pytest.mark.usefixtures("quick_and_alone"),
    pytest.mark.skipif(not CASES.is_file(), reason="the shared cases are not here"),
]


@functools.cache
def cases() -> list[dict[str, Any]]:
    """Return the cases of the shared file; none where there is no such file."""
    return json.loads(CASES.read_text(encoding="utf-8")) if CASES.is_file() else []


def those(*keys: str) -> Any:
    """Return the parameters of a test: the cases with the first of some keys that they have being the last of these."""
    of = [case for case in cases() if next((key for key in ("endpoint", "run") if case.get(key)), "answer") in keys]
    return pytest.mark.parametrize("case", of, ids=lambda case: case["id"])


def sdk_of(case: dict[str, Any]) -> str:
    """Return the SDK that meets a case."""
    return {"gemini": "google", "anthropic": "anthropic"}.get(case["provider"], "openai")


def answer_of(case: dict[str, Any]) -> Answer:
    """Return a case's answer as it goes over the wire."""
    headers = {name: value for name, value in case["headers"].items() if name != "content-length"}
    return wire(case["body"], case["http_status"], **headers)


def judge_of(case: dict[str, Any], url: str, folder: Path) -> Judge:
    """Return the judge that a case is about."""
    body = case["body"]
    served = body.get("model") or body.get("modelVersion")
    more = {"model": served or MODELS[sdk_of(case)]} | case.get("judge", {})
    if text := case.get("system_text"):
        (folder / "system.txt").write_text(text, encoding="utf-8")
        more["system_prompt"] = str(folder / "system.txt")
    return a_judge(sdk_of(case), url, **more)


def pairs_of(case: dict[str, Any]) -> list[Pair]:
    """Return the pairs of a recording, whose questions hold their numbers; those that are to come first do."""
    count, at = case["run"]["pairs"], case["run"]["at"]
    numbers = list(range(count))
    if case["run"].get("first"):
        numbers = [*at, *(number for number in numbers if number not in at)]
    return [Pair(f"p{i:03}", f"Which is better for ITEM-{i}?", f"One {i}.", f"Other {i}.") for i in numbers]


def item(asked: Asked) -> int:
    """Return which pair a request is about."""
    return int(re.search(r"ITEM-(\d+)", asked.raw.decode())[1])


def check_words(case: dict[str, Any], text: str) -> None:
    """Check that a text has the words of `says`, and none of those of `says_not`."""
    assert [words for words in case.get("says", ()) if not re.search(words, text, re.IGNORECASE)] == [], text
    assert [words for words in case.get("says_not", ()) if re.search(words, text, re.IGNORECASE)] == [], text


def check_reply(case: dict[str, Any], reply: JudgeReply | Any) -> None:
    """Check what was made of an answer: verdict or kind, reason, tokens."""
    stated = getattr(reply, "verdict", None) or reply.score
    value = stated.invalid or getattr(stated, "value", None) or getattr(stated, "selected_response", None)
    expected = case["expected"] if isinstance(case["expected"], list) else [case["expected"]]
    if stated.invalid:
        assert "invalid" in expected, (stated, reply.detail)
        assert stated.invalid in case.get("kind", [stated.invalid])
    else:
        assert value in expected, (stated, reply.detail)
    check_words(case, f"{stated.invalid or ''} {reply.detail} {stated.reason}")
    reason = stated.reason
    assert [words for words in case.get("reason", ()) if not re.search(words, reason, re.IGNORECASE)] == [], reason
    assert [words for words in case.get("reason_not", ()) if re.search(words, reason, re.IGNORECASE)] == [], reason
    if "cues" in case:
        assert acknowledgment(reason, *case["cues"]) != "cited"
    assert {name: getattr(reply.usage, name) for name in case.get("usage", {})} == case.get("usage", {})


@those("answer")
def test_an_answer_has_its_outcome(case: dict[str, Any], tmp_path: Path) -> None:
    """Verdict or score, kind, stated reason, tokens, calls and words of the error: what the file says of an answer."""
    with serving(answer_of(case)) as server:
        judge = judge_of(case, server.url, tmp_path)
        asker = judge.rater or judge
        if case["expected"] == "fatal":
            with pytest.raises(FatalJudgeError) as caught:
                finished(judge, asker.ask("Question 1: which one?"))
            check_words(case, str(caught.value))
        else:
            check_reply(case, finished(judge, asker.ask("Question 1: which one?")))
    assert len(server.asked) <= case.get("max_calls", 1)


def record(judge: Judge, case: dict[str, Any], folder: Path, meter: CostMeter | None = None) -> list[Judgment]:
    """Return what a run records."""
    return run(judge, folder, pairs_of(case), concurrency=case["run"].get("concurrency", 24), meter=meter)


@those("run")
def test_a_recording_ends_as_it_has_to(case: dict[str, Any], tmp_path: Path) -> None:
    """One refused prompt is one invalid item, a fatal one keeps what is in flight, a limit of cost holds."""
    at, delay = case["run"]["at"], (case.get("transport") or {}).get("seconds", 0.0)

    def answering(asked: Asked) -> Answer:
        sent_it = case.get("while_sent") is None or case["while_sent"] in asked.body
        if sent_it and (at == "all" or item(asked) in at):
            time.sleep(delay)
            return answer_of(case)
        time.sleep(SLOW)
        return good(sdk_of(case))

    with serving(by=answering) as server:
        judge = judge_of(case, server.url, tmp_path)
        meter = CostMeter(judge.table, Budget(case["run"].get("max_cost")))
        if case["expected"] == "stopped":
            with pytest.raises(BudgetError):
                record(judge, case, tmp_path, meter)
            assert 1 < len(server.asked) <= case["run"]["most_calls"]
            return
        if case["expected"] == "fatal":
            with pytest.raises(FatalJudgeError) as caught:
                record(judge, case, tmp_path, meter)
            check_words(case, str(caught.value))
            paid = {item(asked) for asked in server.asked} - set(at)
            assert len(paid) > 1
            assert {row["pair"] for row in rows(tmp_path)} == {f"p{i:03}" for i in paid}
            return
        judgments = record(judge, case, tmp_path, meter)
    check_judgments(case, judgments)
    if case["expected"] == "invalid":
        times = [item(asked) for asked in server.asked]
        assert max(times.count(each) for each in at) <= case.get("max_calls", 1)
        check_recorded(case, judgments, tmp_path)


def check_judgments(case: dict[str, Any], judgments: list[Judgment]) -> None:
    """Check that the items of a case alone are invalid, each with one of its kinds."""
    at = case["run"]["at"] if case["expected"] == "invalid" else []
    for judgment in judgments:
        if int(judgment.pair.id[1:]) in at:
            assert judgment.verdict.invalid in case["kind"], judgment
            check_words(case, judgment.reply.detail)
        else:
            assert judgment.verdict.selected_response == 2, judgment


def check_recorded(case: dict[str, Any], before: list[Judgment], folder: Path) -> None:
    """Check that a second run with `missing` asks nothing, and that a replay finds the same."""
    with serving(good(sdk_of(case))) as server:
        again = record(judge_of(case, server.url, folder), case, folder)
        assert server.asked == []
        replayed = run(judge_of(case, server.url, folder), folder, pairs_of(case), mode="none")
    assert [each.verdict for each in again] == [each.verdict for each in before]
    assert [each.verdict for each in replayed] == [each.verdict for each in before]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds nothing."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@those("endpoint")
def test_a_log_is_imported_or_its_fault_is_told(
    case: dict[str, Any], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log with a corrupt score is an error that names its row; one with a wide scale is taken."""
    lines = "".join(json.dumps(row) + "\n" for row in case["body"])
    (here / case["import"]["file"]).write_text(lines, encoding="utf-8")
    code = main(["import", case["import"]["file"], "--judge", "mine", "--dataset", "own"])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    if case["expected"] == "imported":
        assert code == 0, printed.err
    check_words(case, printed.out + printed.err)


def test_every_case_is_tried() -> None:
    """No case is left out, and no key is new."""
    known = {"id", "provider", "http_status", "headers", "body", "expected", "why", "judge", "says", "says_not", "kind"}
    known |= {"max_calls", "reason", "reason_not", "cues", "usage", "run", "endpoint", "import", "transport"}
    known |= {"system_text", "while_sent"}
    assert len(cases()) == 38
    assert set().union(*cases()) <= known
