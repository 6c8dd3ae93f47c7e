"""Make the logs of MLflow beside this file: `VENV/bin/python make.py VERSION`, where VERSION is that of the venv's mlflow.

Run in November 2026, each in a venv of its own (python 3.11):

- 3.17.2: `pip install mlflow==3.17.2 openai litellm`
- 3.4.0: `pip install mlflow==3.4.0 "sqlalchemy<2.1" openai litellm`
- 2.14.3: `pip install mlflow==2.14.3 "setuptools<80" openai tiktoken tenacity`

The judge is the loopback model of model.py beside examples.jsonl. It is wrong about two examples, and about one it says
what no judge of MLflow can read. Tracking stores are in a folder that is removed; user and host are set to `example`,
and errors are kept without their tracebacks, which name paths of the machine.
"""

from __future__ import annotations

import getpass
import inspect
import json
import os
import re
import socket
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from model import serve  # noqa: E402

EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text().splitlines()][:6]
WRONG = {"tea-good", "bread-bad"}
UNREADABLE = "ferry-bad"
UNLABELLED = "bread-good"


def example_in(text: str) -> dict[str, Any]:
    """Return the example whose response a prompt holds."""
    return next(each for each in EXAMPLES if each["response"].splitlines()[0] in text.replace("\\n", "\n"))


def grade(text: str) -> str:
    """Answer as the judges of MLflow 3 do: in the JSON that each asks for."""
    example = example_in(text)
    if example["id"] == UNREADABLE:
        return "I would rather not say."
    passes = (example["label"] == "pass") != (example["id"] in WRONG)
    said: Any = "yes" if passes else "no"
    if "1 to 5" in text:
        said = 5 if passes else 2
    elif "truth value" in text:
        said = passes
    return json.dumps({"result": said, "rationale": f"It {'answers' if passes else 'does not answer'} the question."})


def score(text: str) -> str:
    """Answer as the metrics of MLflow 2 ask for: a score and a justification."""
    said = json.loads(grade(text)) if example_in(text)["id"] != UNREADABLE else None
    if said is None:
        return "I would rather not say."
    return f"score: {5 if said['result'] == 'yes' else 2}\njustification: {said['rationale']}"


def make_3() -> None:
    """Judge with make_judge, Guidelines and Correctness, count words in code, and let a person say what is right."""
    import mlflow
    from mlflow.entities import AssessmentSource
    from mlflow.genai import evaluate, scorer
    from mlflow.genai.evaluation import harness
    from mlflow.genai.judges import make_judge
    from mlflow.genai.scorers import Correctness, Guidelines

    harness.traceback = SimpleNamespace(format_exc=lambda: None)

    def typed(kind: type) -> dict[str, Any]:  # which MLflow 3.4 leaves to the model
        known = "feedback_value_type" in inspect.signature(make_judge).parameters
        return {"feedback_value_type": kind} if known else {}

    @scorer
    def brief(outputs: str) -> bool:
        return len(outputs.split()) <= 20

    model = "openai:/loopback"
    asked = "Does {{ outputs }} answer {{ inputs }}?"
    judges = [
        make_judge(name="answers", instructions=f"{asked} Say a truth value.", model=model, **typed(bool)),
        make_judge(name="quality", instructions=f"{asked} Give 1 to 5.", model=model, **typed(int)),
        Guidelines(name="on_topic", guidelines="The response must answer the question.", model=model),
        Correctness(model=model),
        brief,
    ]
    data = [
        {
            "inputs": {"question": each["question"]},
            "outputs": each["response"],
            "expectations": {"expected_response": "What answers the question."},
            "tags": {"example": each["id"], "writer": each["model"]},
        }
        for each in EXAMPLES
    ]
    mlflow.set_experiment("judges")
    result = evaluate(data=data, scorers=judges)
    anna = AssessmentSource(source_type="HUMAN", source_id="anna")
    for trace in mlflow.search_traces(return_type="list"):
        example = next(each for each in EXAMPLES if each["id"] == trace.info.tags["example"])
        if example["id"] != UNLABELLED:
            mlflow.log_feedback(
                trace_id=trace.info.trace_id, name="answers", value=example["label"] == "pass", source=anna
            )
        judged = next(each for each in trace.info.assessments if each.name == "on_topic")
        right = "yes" if example["label"] == "pass" else "no"
        if judged.feedback.error is None and judged.feedback.value != right:
            mlflow.override_feedback(
                trace_id=trace.info.trace_id,
                assessment_id=judged.assessment_id,
                value=right,
                rationale="I see it otherwise.",
                source=anna,
            )
    write(result.result_df.drop(columns=["trace", "spans"], errors="ignore"), "result_df", "csv")
    plain = (
        "trace_id",
        "request",
        "response",
        "request_id",
        "inputs",
        "outputs",
        "/value",
        "/rationale",
        "/error_message",
    )
    write(result.result_df[[each for each in result.result_df if each.endswith(plain)]], "result_df", "parquet")
    write(mlflow.search_traces().drop(columns=["trace", "spans"], errors="ignore"), "search_traces", "csv", "jsonl")
    traces = mlflow.search_traces(return_type="list")
    (HERE / f"{mlflow.__version__}-traces.json").write_text(json.dumps([json.loads(each.to_json()) for each in traces]))
    if mlflow.__version__ == "3.17.2":
        (HERE / "3.17.2-v2-by-schema.json").write_text(json.dumps([of_before(each) for each in traces]))


def of_before(trace: Any) -> dict[str, Any]:
    """Return a trace as MLflow 2 has it: its record of today's package, filled in by hand, with request and response."""
    from mlflow.entities.trace_info_v2 import TraceInfoV2
    from mlflow.entities.trace_status import TraceStatus

    info = trace.info
    old = TraceInfoV2(
        request_id=info.trace_id,
        experiment_id=info.experiment_id,
        timestamp_ms=info.request_time,
        execution_time_ms=info.execution_duration,
        status=TraceStatus.OK,
        tags=info.tags,
        assessments=info.assessments,
    )
    return {
        "info": old.to_dict(),
        "data": {"request": trace.data.request, "response": trace.data.response, "spans": []},
    }


def make_2() -> None:
    """Score with answer_correctness and a metric of one's own, and keep the table that mlflow.evaluate makes."""
    import mlflow
    import pandas as pd
    import tiktoken
    from mlflow.metrics.genai import EvaluationExample, answer_correctness, make_genai_metric

    tiktoken.get_encoding = lambda _: Words()
    data = pd.DataFrame(
        {
            "inputs": [each["question"] for each in EXAMPLES],
            "predictions": [each["response"] for each in EXAMPLES],
            "targets": ["What answers the question." for _ in EXAMPLES],
            "example": [each["id"] for each in EXAMPLES],
            "label": [each["label"] for each in EXAMPLES],
        }
    )
    shown = EvaluationExample(input="2 + 2?", output="Four.", score=5, justification="It is.")
    tone = make_genai_metric(
        name="tone", definition="How calm it is.", grading_prompt="1 to 5.", examples=[shown], model="openai:/loopback"
    )
    with mlflow.start_run():
        result = mlflow.evaluate(
            data=data,
            predictions="predictions",
            targets="targets",
            extra_metrics=[answer_correctness(model="openai:/loopback"), tone, mlflow.metrics.exact_match()],
        )
    write(result.tables["eval_results_table"], "eval_results_table", "csv", "jsonl", "parquet")
    (file,) = Path.cwd().rglob("eval_results_table.json")
    (HERE / f"{mlflow.__version__}-eval_results_table.json").write_text(file.read_text())


class Words:
    """In place of tiktoken's, which would be fetched: MLflow 2 counts tokens to keep below a rate."""

    def encode(self, text: str) -> list[str]:
        """Return what is counted."""
        return text.split()


def write(table: Any, what: str, *forms: str) -> None:
    """Write a DataFrame as people do."""
    import mlflow

    for form in forms:
        file = HERE / f"{mlflow.__version__}-{what}.{form}"
        if form == "csv":
            table.to_csv(file, index=False)
        elif form == "jsonl":
            table.to_json(file, orient="records", lines=True)
        else:
            table.to_parquet(file)


def main(version: str) -> None:
    """Make the files of one version."""
    socket.gethostname = lambda: "example"
    getpass.getuser = lambda: "example"
    three = version.startswith("3")
    with tempfile.TemporaryDirectory() as folder, serve(grade if three else score) as address:
        os.chdir(folder)
        os.environ |= {"OPENAI_API_KEY": "unused", "OPENAI_API_BASE": f"{address}/v1", "LOGNAME": "example"}
        if not three:  # which has another address for OpenAI's own API only where that is Azure's
            os.environ |= {"OPENAI_API_TYPE": "azure", "OPENAI_API_VERSION": "2024-06-01", "OPENAI_API_BASE": address}
            os.environ["OPENAI_DEPLOYMENT_NAME"] = "loopback"
        os.environ |= {"MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db" if three else f"file://{folder}/runs"}
        sys.argv[0] = "make.py"
        make_3() if three else make_2()
    for file in HERE.glob(f"{version}*.*"):
        if file.suffix != ".parquet":
            text = re.sub(r"\\?/tmp\\?/tmp\w+", "runs", file.read_text(encoding="utf-8"))
            file.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
