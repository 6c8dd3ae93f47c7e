"""Judges of code with inputs: what they are called with, what they may return, and what is recorded of a call."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import json
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import PATIENCE, finished, run
from support.project import suite, uncontrolled
from support.server import serving, wire

from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.cassette import CassetteError
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.judges.judge import FatalJudgeError, Judge, load_judge
from judgefixtures.judges.pointwise import scored_response_condition
from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.models.contrasts import NO_CUE, SingleResponseCondition, as_single_response, contrasts
from judgefixtures.models.cues import FAMILIES, family
from judgefixtures.models.pairs import ColumnText, Example, Pair
from judgefixtures.prompts.inputs import load_inputs
from judgefixtures.providers.result_json import to_json
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

INPUTS = {"input": "{question}", "output": "{response}"}
ALONE = SingleResponseCondition()
RECENT = as_single_response(contrasts("recency")[0]).x
STAKED = SingleResponseCondition(family("framing", FAMILIES)[0])
Make = Callable[..., Judge]


def passing(**_inputs: Any) -> Any:
    """Return what passes."""
    return {"passed": True, "reason": "fine"}


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a way to make a judge of a target."""

    def make(code: Any, **more: Any) -> Judge:
        module = types.ModuleType("mycompany_evals")
        module.judge = code  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "mycompany_evals", module)
        table = {"provider": "python", "target": "mycompany_evals:judge", "mode": "binary", "inputs": INPUTS}
        table = {**table, "max_attempts": 1, **more}
        return load_judge({key: value for key, value in table.items() if value is not None}, "ours")

    return make


def an_example(number: int = 0, response: str = "So.", **columns: str) -> Example:
    """Return an example."""
    return Example(f"e{number:03}", f"Question {number}?", response, columns=columns)


def examples(count: int) -> list[Example]:
    """Return examples."""
    return [an_example(number, f"Answer {number}.") for number in range(count)]


def grade(judge: Judge, example: Pair | None = None, condition: Any = ALONE) -> Any:
    """Ask once about an example, unrecorded."""
    return finished(judge, judge.ask(judge.prompt(example or an_example(), condition))).verdict


def rows(folder: Path, condition: str = "no-cue") -> list[dict[str, Any]]:
    """Return the rows of a recording."""
    lines = (folder / "ours" / "own" / f"{condition}.jsonl").read_text().splitlines(keepends=True)
    return [row for line in lines if line.endswith("\n") and "digest" in (row := json.loads(line))]


# --- fields in ----------------------------------------------------------------------------------------------


def inputs_of(judge: Judge, example: Pair, condition: Any = ALONE) -> Mapping[str, Any]:
    """Return what a judge's code is called with."""
    return judge.prompt(example, condition).values  # type: ignore[attr-defined]


def test_each_input_is_a_template(judging: Make) -> None:
    """A slot stands for its text, two braces for one, and a column of the dataset for its value or its text."""
    table = {"a": "{question}", "b": "Said: {response} {{response}}", "c": "{contexts}", "d": "{contexts}!", "e": "{n}"}
    example = an_example(contexts=ColumnText('["x"]', ["x"]), n=ColumnText("3", 3))
    found = inputs_of(judging(passing, inputs=table), example)
    assert found == {"a": "Question 0?", "b": "Said: So. {response}", "c": ["x"], "d": '["x"]!', "e": 3}
    assert inputs_of(judging(passing, inputs=table | {"d": ""}), an_example(n=ColumnText("3", 3)))["c"] is None


@pytest.mark.parametrize(
    ("output", "placement", "expected"),
    [
        ("{response}", "after", "So.\n\nCUE"),
        ("{response}", "before", "CUE\n\nSo."),
        ("A: {response}!", "after", "A: So.\n\nCUE!"),
        ("{cue}\n\n{response}", "after", "CUE\n\nSo."),
        ("{response} [{cue}]", "after", "So. [CUE]"),
    ],
)
def test_a_cue_stands_in_its_slot_or_at_the_response(judging: Make, output: str, placement: str, expected: str) -> None:
    """Without a slot the cue stands at each response, after an empty line; without a cue nothing is left of it."""
    judge = judging(passing, inputs={"input": "{question}", "output": output}, cue_placement=placement)
    sentence = RECENT.sentences("Response")[0]
    found = inputs_of(judge, an_example(), RECENT)
    assert found == {"input": "Question 0?", "output": expected.replace("CUE", sentence)}
    plain = inputs_of(judge, an_example())["output"]
    assert plain == {"A: {response}!": "A: So.!", "{response} [{cue}]": "So. []"}.get(output, "So.")
    assert "output" in judge.identity["cue_placement"]


def test_a_cue_of_the_prompt_stands_before_the_question(judging: Make) -> None:
    """A sentence about the whole prompt is none about the response."""
    sentence = STAKED.sentences("Response")[0]
    found = inputs_of(judging(passing), an_example(), STAKED)
    assert found == {"input": f"{sentence}\n\nQuestion 0?", "output": "So."}


def test_pairs_have_two_responses_and_two_cues(judging: Make) -> None:
    """A judge of pairs is called with both responses, in the order of the condition."""
    table = {"first": "{response_1}", "second": "{response_2}"}
    judge = judging(passing, inputs=table, mode="pairwise")
    arm = contrasts("recency")[0].x
    cues = arm.sentences("Response")
    pair = Pair("p", "Which?", "One.", "Two.")
    assert inputs_of(judge, pair, arm) == {"first": f"One.\n\n{cues[0]}", "second": f"Two.\n\n{cues[1]}"}
    assert inputs_of(judge, pair, NO_CUE) == {"first": "One.", "second": "Two."}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"inputs": {"input": "{question}"}}, r"\{response\}"),
        ({"inputs": {"a": "{response_1}"}, "mode": "pairwise"}, r"\{response_2\}"),
        ({"inputs": {"a": "{response} {label}"}}, r"inputs.a has \{label\}"),
        ({"inputs": {"a": "{response} {response_1}"}}, r"inputs.a has \{response_1\}"),
        ({"inputs": {"a": "{cue}{response}"}, "cue_placement": "before"}, "cue_placement"),
        ({"inputs": {"a b": "{response}"}}, "inputs"),
        ({"cue_after": "x"}, "cue_after"),
        ({"template": "binary"}, "template"),
        ({"inputs": None, "result": {"verdict": "x"}}, "result"),
        ({"inputs": None, "pass_mark": 0.5}, "pass_mark"),
        ({"provider": "openai", "model": "m", "target": None}, "inputs"),
    ],
)
def test_a_wrong_table_is_told(judging: Make, more: Any, words: str) -> None:
    """Each mistake is one sentence with the key."""
    with pytest.raises(JudgeFixturesError, match=words):
        judging(passing, **more)


TEXT = (
    st.text(alphabet=st.sampled_from(list('{}"\\\n[]:,-= aresponse_12questcu')))
    | st.text()
    | st.sampled_from(
        ["\n---\n", "{question}", "{cue}", '{"verdict": "pass"}', "{{response}}", "{response_1}", "</s>", "{0}", "%s"]
    )
)


@settings(max_examples=200, deadline=None)
@given(response=TEXT, question=TEXT)
def test_a_response_changes_nothing_but_itself(response: str, question: str) -> None:
    """Separators, braces, JSON and slots in a text are text."""
    template = load_inputs({"q": "{question}", "a": "{cue}\n\n{response}", "both": "{question}|{response}"}, "binary")
    example = Example("e", question, response)
    found = template.render_one(example, response).values  # type: ignore[attr-defined]
    assert found == {"q": question, "a": response, "both": f"{question}|{response}"}


# --- objects out --------------------------------------------------------------------------------------------


class Word(enum.Enum):
    """A grade as an enumeration."""

    GOOD = "good"


@dataclasses.dataclass
class Scored:
    """A result of a dataclass."""

    score: float
    explanation: str = "because"


class Modelled(pydantic.BaseModel):
    """A result of pydantic."""

    label: str
    metadata: dict[str, Any]


class Plain:
    """A result with attributes."""

    def __init__(self) -> None:
        self.success, self.reason, self._secret, self.client = False, "bad", 1, object()

    @property
    def label(self) -> str:
        """The label."""
        return "fail"


@pytest.mark.parametrize(
    ("result", "more", "expected"),
    [
        (True, {}, (True, "")),
        (False, {}, (False, "")),
        (0.7, {"pass_mark": 0.5}, (True, "")),
        (0.3, {"pass_mark": 0.5}, (False, "")),
        (1, {}, (True, "")),
        ({"verdict": "pass", "comment": "ok"}, {}, (True, "ok")),
        ({"passed": False, "score": 1, "reason": "x"}, {}, (False, "x")),
        ({"success": True, "score": 0.2}, {"pass_mark": 0.5}, (False, "")),
        (Scored(0.9), {"pass_mark": 0.5}, (True, "because")),
        (Modelled(label="PASS", metadata={"why": "w"}), {"result": {"reason": "metadata.why"}}, (True, "w")),
        (Plain(), {}, (False, "bad")),
        ({"label": Word.GOOD}, {"labels": ["good", "bad"]}, (True, "")),
        ({"results": [{"score": 0}]}, {"result": {"verdict": "results.0.score"}}, (False, "")),
        ('{"verdict": "fail", "reason": "as text"}', {}, (False, "as text")),
    ],
    ids=repr,
)
def test_an_object_is_read(judging: Make, result: Any, more: Any, expected: Any) -> None:
    """The field that counts is one of a list, or the one that the table names."""
    verdict = grade(judging(lambda **_: result, **more))
    assert (verdict.passed, verdict.reason, verdict.invalid) == (*expected, None)


@pytest.mark.parametrize(
    ("result", "more", "words"),
    [
        ({"passed": True, "label": "fail"}, {}, 'passed and label: {"passed": true'),
        ({"quality": 3}, {}, '{"quality": 3}'),
        ({"score": 0.4}, {}, "pass_mark = 0.5"),
        ({"score": 1}, {"result": {"verdict": "metadata.grade"}}, "'metadata.grade'"),
    ],
    ids=repr,
)
def test_a_result_without_a_clear_verdict_is_told(judging: Make, result: Any, more: Any, words: str) -> None:
    """The error shows the object's fields."""
    with pytest.raises(FatalJudgeError) as caught:
        grade(judging(lambda **_: result, **more))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("result", "kind"), [({"passed": None}, "empty"), ({"verdict": "perhaps"}, "not-a-choice"), (None, "empty")]
)
def test_a_result_that_states_nothing_is_invalid(judging: Make, result: Any, kind: str) -> None:
    """A field without a readable value is an answer all the same."""
    assert grade(judging(lambda **_: result)).invalid == kind


def test_scores_and_choices_are_read(judging: Make) -> None:
    """A judge of scores returns a number of its scale, one of pairs 1 or 2."""
    judge = judging(lambda **_: {"score": 0.25, "reason": "r"}, mode="pointwise", scale=[0, 1])
    assert judge.rater is not None
    prompt = judge.prompt(an_example(), scored_response_condition(ALONE, 1))
    assert finished(judge, judge.rater.ask(prompt)).verdict.value == 0.25
    both = {"a": "{response_1}", "b": "{response_2}"}
    judge = judging(lambda **_: {"winner": 2}, mode="pairwise", inputs=both)
    assert grade(judge, Pair("p", "?", "a", "b"), NO_CUE).value == 2


class Evaluator:
    """A judge that is an object."""

    def __call__(self, **inputs: Any) -> Any:
        """Return what passes."""
        return {"passed": True, "reason": inputs["output"]}


class AsyncEvaluator:
    """A judge that is an object and is awaited."""

    async def __call__(self, **inputs: Any) -> Any:
        """Return what passes."""
        await asyncio.sleep(0)
        return {"passed": True, "reason": inputs["output"]}


@pytest.mark.parametrize(
    ("target", "factory"),
    [(Evaluator(), False), (AsyncEvaluator(), False), (Evaluator, True), (lambda: AsyncEvaluator(), True)],
    ids=["instance", "async instance", "class as a factory", "factory"],
)
def test_instances_and_factories_are_called(judging: Make, target: Any, factory: bool) -> None:
    """Anything that can be called is a judge, and so is what a factory makes."""
    assert grade(judging(target, factory=factory)).reason == "So."


def test_a_result_is_recorded_as_its_fields() -> None:
    """What JSON cannot hold is its type's name; private fields and clients are not looked into."""
    assert to_json(Plain()) == {"success": False, "reason": "bad", "client": "object", "label": "fail"}
    assert to_json({"a": float("inf"), 1: (Scored(0.5), Word.GOOD)}) == {
        "a": "float",
        "1": [{"score": 0.5, "explanation": "because"}, "good"],
    }


# --- recordings ---------------------------------------------------------------------------------------------


def test_a_call_is_recorded_and_replayed_without_its_target(judging: Make, tmp_path: Path) -> None:
    """A row has inputs and result; a replay imports nothing and reads the result again."""
    made = run(judging(lambda **_: Scored(0.6), pass_mark=0.5), tmp_path, examples(3), conditions=(ALONE, RECENT))
    assert [each.reply.verdict.passed for each in made] == [True] * 6
    row = rows(tmp_path)[0]["json"]
    assert row["inputs"] == {"input": "Question 0?", "output": "Answer 0."}
    assert row["result"] == {"score": 0.6, "explanation": "because"}
    assert row["seconds"] >= 0
    before = (tmp_path / "ours" / "own" / "no-cue.jsonl").read_bytes()
    table = {"provider": "python", "target": "mycompany_evals:judge", "mode": "binary", "inputs": INPUTS}
    del sys.modules["mycompany_evals"]
    for mark, passed in ((0.5, True), (0.7, False)):
        judge = load_judge({**table, "pass_mark": mark}, "ours")
        again = run(judge, tmp_path, examples(3), conditions=(ALONE, RECENT), mode="none")
        assert [each.reply.verdict.passed for each in again] == [passed] * 6
    assert (tmp_path / "ours" / "own" / "no-cue.jsonl").read_bytes() == before
    with pytest.raises(CassetteMissError):
        run(load_judge({**table, "pass_mark": 0.5}, "ours"), tmp_path, examples(4), conditions=(ALONE,), mode="none")


def test_each_call_is_its_own_draw(judging: Make, tmp_path: Path) -> None:
    """Two examples with the same texts, and two conditions, are two calls."""
    count = iter(range(100))
    same = [Example(name, "Q?", "A.") for name in ("a", "b")]
    judge = judging(lambda **_: {"passed": True, "reason": str(next(count))})
    made = run(judge, tmp_path, same, conditions=(ALONE, RECENT))
    assert len({each.reply.verdict.reason for each in made}) == 4


def test_an_exception_is_an_answer(judging: Make, tmp_path: Path) -> None:
    """Three of sixty raise: the recording is complete, and `invalid` asks them alone again."""
    broken = {"Answer 7.", "Answer 20.", "Answer 41."}

    def judge(output: str, **_inputs: Any) -> bool:
        if output in broken:
            raise KeyError(output)
        return True

    made = run(judging(judge), tmp_path, examples(60), conditions=(ALONE,))
    invalid = [each.reply for each in made if each.reply.invalid]
    assert [each.invalid for each in invalid] == ["raised"] * 3
    assert "raised KeyError: 'Answer 7.', " in invalid[0].detail
    assert "test_code_judges.py:" in invalid[0].detail
    (error,) = [row["json"]["error"] for row in rows(tmp_path) if row["pair"] == "e007"]
    assert error["class"] == "KeyError"
    again = run(judging(judge), tmp_path, examples(60), conditions=(ALONE,), mode="none")
    assert [each.reply.detail for each in again] == [each.reply.detail for each in made]
    broken.clear()
    asked: list[str] = []

    def mended(output: str, **_inputs: Any) -> bool:
        asked.append(output)
        return True

    made = run(judging(mended), tmp_path, examples(60), conditions=(ALONE,), mode="invalid")
    assert sorted(asked) == ["Answer 20.", "Answer 41.", "Answer 7."]
    assert not any(each.reply.invalid for each in made)


def test_five_exceptions_at_first_end_the_recording(judging: Make, tmp_path: Path) -> None:
    """A judge whose code always fails is not asked sixty times."""
    asked: list[str] = []

    def judge(output: str, **_inputs: Any) -> bool:
        asked.append(output)
        raise ValueError("no key")

    with pytest.raises(FatalJudgeError, match=r"5 .*ValueError: no key, .*\.py:\d+") as caught:
        run(judging(judge), tmp_path, examples(60), conditions=(ALONE,), concurrency=1)
    assert len(asked) == 5
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_passing_fault_is_retried_and_then_an_answer(judging: Make, tmp_path: Path) -> None:
    """What the network does to one call is tried again; if it stays, the answer is invalid and recorded."""
    asked: list[str] = []

    def judge(output: str, **_inputs: Any) -> bool:
        asked.append(output)
        if output == "Answer 1.":
            raise ConnectionResetError("reset")
        return True

    made = run(judging(judge, max_attempts=2), tmp_path, examples(3), conditions=(ALONE,))
    assert [each.reply.invalid for each in made] == [None, "raised", None]
    assert asked.count("Answer 1.") == 2
    again = run(judging(judge), tmp_path, examples(3), conditions=(ALONE,), mode="none")
    assert [each.reply.detail for each in again] == [each.reply.detail for each in made]


class RefusedError(Exception):
    """What a client raises for a refused key."""

    status_code = 401


def test_a_refused_key_ends_the_recording_at_once(judging: Make, tmp_path: Path) -> None:
    """A key that is refused is no answer about one example: nothing is recorded."""

    def judge(**_inputs: Any) -> bool:
        raise RefusedError("Invalid key")

    with pytest.raises(FatalJudgeError, match="HTTP 401"):
        run(judging(judge), tmp_path, examples(3), conditions=(ALONE,))
    assert not (tmp_path / "ours" / "own" / "no-cue.jsonl").exists()


def test_a_factory_that_fails_is_told(judging: Make) -> None:
    """The error of a factory ends the run with its place."""
    with pytest.raises(FatalJudgeError, match=r"KeyError: 'model', .*\.py:\d+"):
        grade(judging(lambda: {}["model"], factory=True))


def test_a_late_call_is_recorded_as_invalid(judging: Make, tmp_path: Path) -> None:
    """A call beyond its time is an answer, too, and a replay finds it."""

    async def judge(output: str, **_inputs: Any) -> bool:
        await asyncio.sleep(30 if output == "Answer 1." else 0)
        return True

    made = run(judging(judge, timeout=0.3), tmp_path, examples(2), conditions=(ALONE,))
    again = run(judging(judge), tmp_path, examples(2), conditions=(ALONE,), mode="none")
    assert [each.reply.invalid for each in again] == [each.reply.invalid for each in made] == [None, "timeout"]


def test_versions_are_not_mixed(judging: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording names the versions of its packages; a replay does not care, and another version is not added."""
    from importlib import metadata

    versions = {"frame": "1.0"}
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: versions.get(name) or real(name))
    table: dict[str, Any] = {"packages": ["frame"], "version": "a"}
    run(judging(passing, **table), tmp_path, examples(2), conditions=(ALONE,))
    assert judging(passing, **table).identity["version"] == "a"
    head = json.loads((tmp_path / "ours" / "own" / "no-cue.jsonl").read_text().partition("\n")[0])
    assert head["judge"]["packages"] == {"frame": "1.0"}
    versions["frame"] = "2.0"
    run(judging(passing, **table), tmp_path, examples(2), conditions=(ALONE,), mode="none")
    run(judging(passing, **table), tmp_path, examples(2), conditions=(ALONE,))
    for condition in (ALONE, RECENT):
        with pytest.raises(CassetteError, match=r'frame: "1.0" -> "2.0".*--judge-record all'):
            run(judging(passing, **table), tmp_path, examples(3), conditions=(condition,))
    run(judging(passing, **table), tmp_path, examples(3), conditions=(ALONE,), mode="all")
    assert '"packages":{"frame":"2.0"}' in (tmp_path / "ours" / "own" / "no-cue.jsonl").read_text()
    with pytest.raises(CassetteError, match="version"):
        run(judging(passing, packages=["frame"], version="b"), tmp_path, examples(3), conditions=(ALONE,), mode="none")


def test_usage_is_read_from_what_passes_or_from_the_result(judging: Make, tmp_path: Path) -> None:
    """The tokens of all HTTP answers of a call are summed; without any the result's own fields count."""

    async def judge(output: str, **_inputs: Any) -> Any:
        if output == "Answer 0.":
            async with httpx.AsyncClient() as client:
                for _ in range(2):
                    await client.post(server.url, json={"model": "m"})
        return {"passed": True, "cost": 0.25, "usage": {"prompt_tokens": 7, "completion_tokens": 3}}

    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    with serving(wire({"model": "m-1", "choices": [], "usage": usage})) as server:
        made = run(judging(judge), tmp_path, examples(2), conditions=(ALONE,))
    row = rows(tmp_path)[0]["json"]
    assert (row["usage"]["input_tokens"], row["usage"]["output_tokens"], row["served"]) == (20, 4, "m-1")
    counts = [(each.reply.usage.input_tokens, each.reply.usage.output_tokens, each.reply.usage.usd) for each in made]
    assert counts == [(20, 4, 0.25), (7, 3, 0.25)]
    again = run(judging(judge), tmp_path, examples(2), conditions=(ALONE,), mode="none")
    assert [each.reply.usage for each in again] == [each.reply.usage for each in made]


def test_only_the_judges_own_hosts_are_recorded(judging: Make, tmp_path: Path) -> None:
    """With `recording = "http"` and `hosts`, a request to another server passes and is not kept."""

    async def judge(**_inputs: Any) -> str:
        async with httpx.AsyncClient() as client:
            await client.get(f"{other.url.replace('127.0.0.1', 'localhost')}/prices")
            return (await client.post(f"{own.url}/v1", json={})).text

    with serving(wire({"verdict": "pass"})) as own, serving(wire({"price": 1})) as other:
        table = {"recording": "http", "hosts": ["127.0.0.1"]}
        made = run(judging(judge, **table), tmp_path, examples(2), conditions=(ALONE,))
    assert [each.reply.verdict.passed for each in made] == [True, True]
    assert [json.loads(row["text"]) for row in rows(tmp_path)] == [{"verdict": "pass"}] * 2


def test_a_value_survives_in_the_recordings_pairs(judging: Make, tmp_path: Path) -> None:
    """The pairs of a recording keep a list as a list, and a replay from them passes the same."""
    example = an_example(contexts=ColumnText('["a"]', ["a"]), other="x")
    judge = judging(passing, inputs={"output": "{response}", "contexts": "{contexts}"})
    run(judge, tmp_path, [judge.shows(example)], conditions=(ALONE,))
    (kept,) = CassetteStore(tmp_path).frozen("ours", "own")
    assert inputs_of(judge, kept)["contexts"] == ["a"]
    assert '"contexts": ["a"]' in (tmp_path / "ours" / "own" / "pairs.jsonl").read_text()
    run(judge, tmp_path, [kept], conditions=(ALONE,), mode="none")


class Thinks:
    """A judge that first draws something of its own, and goes by that."""

    def __init__(self, seed: int) -> None:
        self.draws = random.Random(seed)

    def __call__(self, **_inputs: Any) -> bool:
        """Return what was drawn."""
        return self.draws.random() < 0.5


@pytest.mark.slow
def test_no_draw_is_shared_between_arms(judging: Make, tmp_path: Path) -> None:
    """Of 200 judges that answer at random, the interval of the shift covers 0 in at least 0.85."""
    contrast, covered = as_single_response(contrasts("recency")[0]), 0
    for seed in range(200):
        made = run(judging(Thinks(seed)), tmp_path / str(seed), examples(20), conditions=(contrast.x, contrast.y))
        shift = measure_contrast(made[:20], made[20:], outcome="passed").vsr
        covered += shift is not None and shift.low <= 0 <= shift.high
    assert covered >= 170


def answered(file: Path) -> set[str]:
    """Return the responses whose answers a recording holds."""
    there = rows(file.parents[2]) if file.exists() else []
    return {row["json"]["inputs"]["output"] for row in there}


@pytest.mark.slow
def test_a_kill_loses_nothing_that_arrived(judging: Make, tmp_path: Path) -> None:
    """Of a recording that is killed 20 times, no answer on disk is asked for again, and none is lost."""
    asked = tmp_path / "asked"

    def judge(output: str, **_inputs: Any) -> bool:
        with asked.open("a") as file:
            file.write(f"{output}\n")
        time.sleep(0.02)
        return True

    file, arrived = tmp_path / "ours" / "own" / "no-cue.jsonl", set[str]()
    for kill in range(20):
        asked.write_text("")
        if (child := os.fork()) == 0:
            with contextlib.suppress(BaseException):
                run(judging(judge), tmp_path, examples(400), conditions=(ALONE,), concurrency=4)
            os._exit(0)
        until = time.monotonic() + PATIENCE
        while len(answered(file)) < len(arrived) + 3 and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.001 * kill)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        now = answered(file)
        assert arrived < now
        assert not arrived & {*asked.read_text().splitlines()}
        arrived = now
    asked.write_text("")
    made = run(judging(judge), tmp_path, examples(400), conditions=(ALONE,))
    assert not arrived & {*asked.read_text().splitlines()}
    assert [each.reply.verdict.passed for each in made] == [True] * 400
    assert len(rows(tmp_path)) == 400


# --- in a run ---------------------------------------------------------------------------------------------

CONFIGURATION = """
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
dataset = ["own"]
[tool.judgefixtures.datasets.own]
path = "own.jsonl"
[tool.judgefixtures.judges.ours]
provider = "python"
target = "evals:judge"
mode = "binary"
inputs = {output = "{response}"}
"""
CODE = """
def judge(output):
    number = int(output.split()[1])
    if number in (7, 20, 41):
        BROKEN
    return {"passed": number % 10 < (6 if "2025" in output else 3), "reason": "so"}
"""


def project(pytester: pytest.Pytester, broken: str) -> None:
    """Write a project of 60 examples with a judge that does something else about three of them."""
    pytester.makepyprojecttoml(uncontrolled(CONFIGURATION))
    pytester.makepyfile(test_recency=suite("recency"), evals=CODE.replace("BROKEN", broken))
    rows = [{"id": f"e{n:03}", "question": "Why?", "response": f"Answer {n} it is."} for n in range(60)]
    (pytester.path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_a_gate_needs_no_code_in_a_replay(pytester: pytest.Pytester) -> None:
    """A recording with three exceptions is complete; its report and exit code are those of a replay without code."""
    results = []
    for broken in ("return {'passed': None}", "raise KeyError(number)"):
        project(pytester, broken)
        made = pytester.runpytest_subprocess("--judge-record", "all", "--judge-report", "made")
        (pytester.path / "evals.py").unlink()
        again = pytester.runpytest_subprocess("--judge-report", "again")
        assert made.ret == again.ret
        results.append(made.ret)
        reports = [(pytester.path / name / "report.json").read_bytes() for name in ("made", "again")]
        assert reports[0] == reports[1]
    assert results[0] == results[1]
    (row,) = json.loads(reports[0])["contrasts"]
    assert row["invalid_pairs"] == 3
    assert row["n"] == 57


@pytest.mark.slow
def test_a_judge_that_always_raises_ends_the_run(pytester: pytest.Pytester) -> None:
    """The run names class, message, file and line, and with -v the traceback."""
    project(pytester, "pass")
    pytester.makepyfile(evals="def judge(output):\n    return {}['verdict']\n")
    said = str(pytester.runpytest_subprocess("--judge-record", "missing").stdout)
    assert "KeyError: 'verdict', evals.py:2" in said
    assert "Traceback" not in said
    said = str(pytester.runpytest_subprocess("--judge-record", "all", "-v").stdout)
    assert "Traceback" in said
    assert "return {}['verdict']" in said
