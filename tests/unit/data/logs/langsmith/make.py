"""Make LangSmith's files: its SDK, our evaluators that ask a loopback model, and a loopback server that keeps feedback.

    python make.py     # in a venv with langsmith==0.15.1 openevals==0.2.2 langchain-openai==1.7.4 pandas==3.1.1 (Python 3.11)
    python make.py     # in a venv with langsmith==0.2.11 pandas==3.1.1 openai==3.57.0

It writes, with the version before each name: `-experiment.json`, the rows of `evaluate(..., upload_results=False)`, dumped by
pydantic; `-experiment.csv`, its `to_pandas().to_csv()`; `-feedback.json`, what `create_feedback` posted, as `list_feedback` reads
it from the same server. Of the newer version alone: a judge of openevals; `-repetitions.json`, two repetitions of which one
example has another answer the second time; and by the SDK's own records, since only the service makes them:
`-people-by-schema.jsonl` and `.csv` (Feedback of people and of a model), `-runs-by-schema.json` (runs with feedback_stats),
`-comparison-by-schema.json` (what evaluate_comparative returns) and `-comparison-feedback-by-schema.jsonl` (what it posts).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from model import serve  # noqa: E402

EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
WRONG = {"leap-bad", "plant-good"}  # of these the judge says the opposite
BROKEN = {"lock-bad"}  # of these it says nothing
VERSION = importlib.metadata.version("langsmith")
NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
DATASET = uuid.UUID(int=1)


def said(text: str) -> str:
    """Answer as a judge."""
    example = next((each for each in EXAMPLES if each["response"] in text), EXAMPLES[0])
    if example["id"] in BROKEN:
        return json.dumps({"refused": True})
    good = (example["label"] == "pass") != (example["id"] in WRONG)
    reason = f"It {'says' if good else 'does not say'} what is asked."
    graded = {"comment": reason, "reasoning": reason, "score": good, "quality": 0.9 if good else 0.2}
    return json.dumps(graded)


@contextlib.contextmanager
def kept() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of a server that keeps feedback and gives it back, and what it keeps."""
    rows: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if "feedback" not in self.path:
                self._send({})
            else:
                self._send(rows if "offset=0" in self.path or "offset" not in self.path else [])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path.endswith("/feedback"):
                rows.append(json.loads(body))
            self._send({})

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", rows
    finally:
        server.shutdown()


def asked(address: str, text: str) -> dict[str, Any]:
    """Ask the loopback model; what it says need not be what was asked for."""
    import openai

    client = openai.OpenAI(base_url=f"{address}/v1", api_key="unused", max_retries=0)
    made = client.chat.completions.create(model="loopback", messages=[{"role": "user", "content": text}])
    found: dict[str, Any] = json.loads(made.choices[0].message.content or "")
    return found


def evaluators(address: str) -> list[Any]:
    """Return a judge that grades and one that scores and a check in code; with openevals its judge, too."""

    def correct(inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        found = asked(address, f"Is it right? {inputs['question']}\n{outputs['answer']}")
        return {"key": "correct", "score": found["score"], "comment": found["comment"]}

    def quality(inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        found = asked(address, f"How good is it? {inputs['question']}\n{outputs['answer']}")
        return {"key": "quality", "score": found["quality"], "comment": found["comment"]}

    def tone(outputs: dict[str, Any]) -> dict[str, Any]:
        return {"key": "tone", "value": "terse" if len(outputs["answer"]) < 40 else "polite"}

    every: list[Any] = [correct, quality, tone]
    with contextlib.suppress(ImportError):
        from langchain_openai import ChatOpenAI
        from openevals.llm import create_llm_as_judge

        model = ChatOpenAI(model="loopback", base_url=f"{address}/v1", api_key="unused", max_retries=0)
        prompt = "Is the answer right?\n{inputs}\n{outputs}"
        every.append(create_llm_as_judge(prompt=prompt, judge=model, feedback_key="openevals"))
    return every


def dumped(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of results as JSON holds it."""
    made = {name: json.loads(row[name].json(exclude={"child_runs", "attachments"})) for name in ("run", "example")}
    results = [json.loads(each.json()) for each in row["evaluation_results"]["results"]]
    made["run"]["extra"] = {}  # the machine that ran it
    return {**made, "evaluation_results": {"results": results}}


def main() -> None:
    """Write this version's files."""
    os.environ |= {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "LANGSMITH_API_KEY": "unused"}
    with serve(said) as model, kept() as (address, rows):
        os.environ["LANGSMITH_ENDPOINT"] = os.environ["LANGCHAIN_ENDPOINT"] = address
        from langsmith import Client, evaluate, schemas

        client = Client(api_url=address, api_key="unused", auto_batch_tracing=False, info={})
        examples = [
            schemas.Example(
                id=uuid.uuid5(uuid.NAMESPACE_DNS, each["id"]),
                inputs={"question": each["question"]},
                outputs={"label": each["label"]},
                metadata={"seed": each["id"], "model": each["model"]},
                dataset_id=DATASET,
                created_at=NOW,
                modified_at=NOW,
            )
            for each in EXAMPLES
        ]
        answers = {each["question"]: [] for each in EXAMPLES}
        for each in EXAMPLES:
            answers[each["question"]].append(each["response"])
        taken: dict[str, int] = {}

        def target(inputs: dict[str, Any]) -> dict[str, Any]:
            known, number = answers[inputs["question"]], taken.get(inputs["question"], 0)
            taken[inputs["question"]] = number + 1
            return {"answer": known[number % len(known)]}

        def again(inputs: dict[str, Any]) -> dict[str, Any]:
            number = taken.get("again", 0)
            taken["again"] = number + 1
            return {"answer": "Ask somebody else." if number == 4 else answers[inputs["question"]][0]}

        options = {"data": examples, "client": client, "upload_results": False, "max_concurrency": 0}
        results = evaluate(target, evaluators=evaluators(model), **options)
        made = list(results)
        write("-experiment.json", json.dumps([dumped(row) for row in made]) + "\n")
        write("-experiment.csv", results.to_pandas().to_csv(index=False))
        if VERSION != "0.2.11":
            options |= {"data": examples[:8:2], "num_repetitions": 2}
            twice = list(evaluate(again, evaluators=evaluators(model)[:1], **options))
            write("-repetitions.json", json.dumps([dumped(row) for row in twice]) + "\n")
            by_schema(made)
        for row in made:
            for each in row["evaluation_results"]["results"]:
                if each.score is None and each.value is None:
                    continue  # the SDK logs no feedback of an evaluator that ended with an error
                client.create_feedback(
                    run_id=row["run"].id,
                    key=each.key,
                    score=each.score,
                    value=each.value,
                    comment=each.comment,
                    feedback_source_type="model",
                    source_run_id=each.source_run_id,
                )
            label = row["example"].outputs["label"]
            client.create_feedback(run_id=row["run"].id, key="thumbs", score=int(label == "pass"))
        for row in rows:
            row.setdefault("trace_id", None)
        feedback = [json.loads(each.json()) for each in client.list_feedback(run_ids=[row["run"].id for row in made])]
        write("-feedback.json", json.dumps(feedback) + "\n")


def by_schema(made: list[Any]) -> None:
    """Write what only the service makes, by the SDK's records."""
    import pandas
    from langsmith import schemas
    from langsmith.evaluation.evaluator import ComparisonEvaluationResult
    from langsmith.types.run import FeedbackStats

    def feedback(number: int, row: Any, source: str, **said: Any) -> Any:
        known = {"id": uuid.UUID(int=number), "created_at": NOW, "modified_at": NOW, "trace_id": row["run"].id}
        made_by = schemas.FeedbackSourceBase(type=source, user_id=uuid.UUID(int=7) if source == "app" else None)
        return schemas.Feedback(**known, run_id=row["run"].id, feedback_source=made_by, **said)

    people, runs, compared, posted = [], [], [], []
    for number, row in enumerate(made):
        first, label = row["evaluation_results"]["results"][0], row["example"].outputs["label"]
        if first.score is not None:
            people.append(feedback(number, row, "auto_eval", key="correct", score=first.score, comment=first.comment))
        people.append(feedback(100 + number, row, "app", key="correct", score=int(label == "pass")))
        score = None if first.score is None else float(first.score)
        one = {"n": 1, "avg": score, "values": {}, "comments": [first.comment], "sources": ["model"], "errors": 0}
        if number == 1:  # several were asked, and what each of them said is not kept
            one |= {"n": 3, "avg": 1 / 3, "comments": [], "sources": ["model"]}
        stats = {"correct": FeedbackStats(**one).model_dump()} if score is not None else {}
        runs.append({**json.loads(row["run"].json(exclude={"child_runs"})), "extra": {}, "feedback_stats": stats})
    for number in range(0, len(made), 2):
        pair = made[number : number + 2]
        ids = [row["run"].id for row in pair]
        best = 1 if pair[0]["example"].outputs["label"] == "fail" else 0
        scores = {ids[best]: 1, ids[1 - best]: 0} if number else {ids[0]: 0.5, ids[1]: 0.5}
        result = ComparisonEvaluationResult(key="better", scores=scores, comment="It answers the question.")
        example = json.loads(pair[0]["example"].json(exclude={"attachments"}))
        listed = [{**json.loads(row["run"].json(exclude={"child_runs"})), "extra": {}} for row in pair]
        held = {"runs": listed, "feedback.better": json.loads(result.json())}
        compared.append({"example": example, "evaluation_results": held})
        both = {"comparative_experiment_id": uuid.UUID(int=9), "feedback_group_id": uuid.UUID(int=200 + number)}
        for row in pair:
            said = {"key": "better", "score": scores[row["run"].id], "comment": "It answers the question."}
            posted.append(feedback(300 + len(posted), row, "api", **said, **both))
    lines = [json.loads(each.json()) for each in people]
    write("-people-by-schema.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    write("-people-by-schema.csv", pandas.DataFrame([each.model_dump() for each in people]).to_csv(index=False))
    write("-runs-by-schema.json", json.dumps(runs) + "\n")
    write("-comparison-by-schema.json", json.dumps(compared) + "\n")
    write("-comparison-feedback-by-schema.jsonl", "".join(each.json() + "\n" for each in posted))


def write(name: str, text: str) -> None:
    """Write a file beside this one."""
    (HERE / f"{VERSION}{name}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
