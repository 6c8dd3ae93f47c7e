"""Makes the logs beside it with Inspect, against a model on this machine's loopback. Run once for each version:

python3.11 -m venv old && old/bin/pip install "inspect_ai==0.3.50" "openai<1.70" "textual<1"
python3.11 -m venv new && new/bin/pip install "inspect_ai==0.3.285" openai
cp -r ../../logs /tmp/logs && cd /tmp/logs/inspect && PYTHON make.py   # a log with an error names the folder, and a repository

Two tasks. `replies` has scorers of every kind, two epochs and a few samples: one ends with an error, one reaches a
limit, one answers differently in its second epoch, one has no grade that Inspect finds. `graded` has a model's grades,
correct or not, of all examples. JSON takes ten times the room, so that its log has fewer samples and scorers.
"""

from __future__ import annotations

import collections
import json
import os
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.update(INSPECT_DISPLAY="none", INSPECT_LOG_LEVEL="error", COLUMNS="80")

from inspect_ai import Task  # noqa: E402
from inspect_ai import eval as run  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageUser, get_model  # noqa: E402
from inspect_ai.scorer import Score, Scorer, Target, includes, mean, model_graded_fact, model_graded_qa, scorer  # noqa: E402
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, system_message  # noqa: E402
from model import serve  # noqa: E402

EXAMPLES = {row["id"]: row for row in map(json.loads, (HERE.parent / "examples.jsonl").read_text().splitlines())}
SECOND = "Write to the maker, and add a photo of the lock."  # lock-bad, when it is asked again
# Where the grader is not right: all else that is good is C, and all else is I.
GRADES = {"ferry-good": "P", "leap-bad": "C", "plant-bad": "N", "lock-good": "I", "bread-bad": ""}
RATES = {"tea-good": 9, "tea-bad": 2, "ferry-good": 6, "leap-bad": 7, "plant-bad": 3, "lock-bad": 4}
FEW = ("ferry-good", "lock-bad", "tea-bad", "plant-bad", "bread-bad")
FAILS, STOPPED = "tea-bad", "plant-bad"

asked: collections.Counter[str] = collections.Counter()


def answer(text: str) -> str:
    """Return what the model says: as the one that answers, as a grader, or as one that rates."""
    if voice := re.search("voice: ([a-z]+-[a-z]+)", text):
        asked[voice[1]] += 1
        again = voice[1] == "lock-bad" and asked[voice[1]] > 1
        return SECOND if again else EXAMPLES[voice[1]]["response"]
    about = next((name for name, row in EXAMPLES.items() if row["response"] in text), "lock-good-again")
    if "RATE" in text:
        return str(RATES.get(about, 5))
    grade = GRADES.get(about, "I" if about.endswith("bad") else "C")
    grade = {"P": "C", "N": "I"}.get(grade, grade) if "one of the two" in text else grade
    return f"The submission was compared with the criterion.\n\nGRADE: {grade}" if grade else "I would rather not say."


@scorer(metrics=[mean()])
def tone(grader: str = "loopback") -> Scorer:
    """A model's rating from 1 to 10."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        said = await _model(grader).generate(f"RATE from 1 to 10: {state.output.completion}")
        return Score(value=int(said.completion), explanation="A rating of the tone.")

    return score


@scorer(metrics={"short": [mean()], "polite": [mean()]})
def style() -> Scorer:
    """Two things at once."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        words = len(state.output.completion.split())
        return Score(value={"short": words < 10, "polite": 1 / words}, explanation=f"It has {words} words.")

    return score


@solver
def stumbling() -> Solver:
    """One sample fails, one goes on until it reaches the limit of messages."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == FAILS:
            raise RuntimeError("The kettle was not there.")
        for _ in range(3 * (state.sample_id == STOPPED)):
            state.messages.append(ChatMessageUser(content="And then?"))
            state = await generate(state)
        return state

    return solve


def _model(name: str) -> Any:
    return get_model(f"openai/{name}", base_url=f"{ADDRESS}/v1", api_key="unused")


def _samples(names: Any) -> MemoryDataset:
    rows = [EXAMPLES[name] for name in names]
    made = [
        Sample(
            id=row["id"],
            input=row["question"],
            target="It answers the question, and is right.",
            metadata={"voice": row["id"], "label": row["label"]},
        )
        for row in rows
    ]
    return MemoryDataset(made, name="examples")


def _log(task: Task, form: str, what: str = "", **given: Any) -> None:
    """Run a task, and keep its log."""
    asked.clear()
    (log,) = run(
        task, model=_model("loopback"), log_dir="logs", log_format=form, max_samples=1, max_connections=1,
        fail_on_error=False, display="none", **given,
    )  # fmt: skip
    assert log.status == "success", log.error
    Path(log.location.removeprefix("file://")).rename(HERE / f"{version('inspect_ai')}{what}.{form}")


def _edit(file: Path) -> None:
    """Have a person change a score, confirm one, add one of their own, and declare a sample invalid."""
    from inspect_ai.log import ProvenanceData, edit_score, invalidate_samples, read_eval_log, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    log, anna = read_eval_log(str(file)), ProvenanceData(author="anna", reason="I looked it up.")
    for name, value in (("leap-bad", "I"), ("leap-good", "C")):
        edit_score(log, name, "model_graded_qa", ScoreEdit(value=value, provenance=anna))
    edit_score(log, "leap-bad", "by_hand", ScoreEdit(value="I", explanation="It was none.", provenance=anna))
    uuids = [sample.uuid for sample in log.samples or () if sample.id == "bread-good"]
    write_eval_log(invalidate_samples(log, uuids, anna), str(file))


with serve(answer) as ADDRESS:
    grader = _model("grader")
    pattern = r"GRADE\s*:\s*([CPIN])"
    short = {
        "template": "{answer}\n\nDoes it answer this? {question}\n{instructions}",
        "instructions": "End: GRADE: C or I.",
    }
    panel = [_model(f"{name}-grader") for name in ("first", "second")]
    several = [
        model_graded_qa(partial_credit=True, grade_pattern=pattern, model=grader, **short),
        model_graded_fact(model=panel, **short),
        tone("grader"),
        style(),
        includes(),
    ]
    voiced = [system_message("voice: {voice}"), generate(), stumbling()]
    samples = {"solver": voiced, "message_limit": 5, "epochs": 2, "name": "replies"}
    quiet = {} if version("inspect_ai") == "0.3.50" else {"log_model_api": False, "log_realtime": False}
    _log(Task(_samples(FEW), scorer=several, **samples), "eval", **quiet)
    _log(Task(_samples(FEW[:2]), scorer=[several[0], tone("grader")], **samples), "json", **quiet)
    short["instructions"] = "End with one of the two: GRADE: C or GRADE: I."
    strict = {"solver": voiced[:2], "scorer": model_graded_qa(model=grader, **short), "name": "graded"}
    _log(Task(_samples(EXAMPLES), **strict), "eval", "-graded", **quiet)
    if quiet:
        _log(Task(_samples(list(EXAMPLES)[4:8]), **strict), "eval", "-edited", **quiet)
        _edit(HERE / f"{version('inspect_ai')}-edited.eval")
