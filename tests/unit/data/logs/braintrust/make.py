"""Make Braintrust's files: its SDK and autoevals, against a loopback server that stands for the service and the model.

    python make.py                  # in a venv with braintrust==0.48.1 autoevals==0.4.1 openai==3.57.0 (Python 3.11)
    python make.py                  # in a venv with braintrust==0.0.190 autoevals==0.0.118 openai==1.75.0

It writes, with the version before each name: `.json`, what /v1/experiment/ID/fetch answers of an Eval (roots and spans: the bodies
that the SDK posts to /logs3, merged by its own `merge_row_batch`, as the service does); `-result.json`, the dump of what
an Eval returns; `-logged.jsonl`, rows of `experiment.log` with a person's score by `log_feedback`; and of the newer version
`-trials.jsonl`, an Eval with `trial_count=2`, and by the fields of the SDK's ExperimentEvent, since only the service makes
them, `-review-by-schema.json`, traces that two people reviewed, and `-table-by-schema.csv`, traces as one table of them. Rows are without `context`, which holds paths of this machine.
"""

from __future__ import annotations

import contextlib
import csv
import importlib.metadata
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from model import _completion, _texts  # noqa: E402

EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
GOOD = {each["question"]: each["response"] for each in EXAMPLES if each["label"] == "pass"}
WRONG = {"leap-bad", "plant-good"}  # of these the judge says the opposite
BROKEN = {"lock-bad"}  # of these it says what is no choice
FEW = {"tea-good", "tea-bad", "leap-good", "leap-bad", "plant-good", "lock-bad"}  # for files with spans
VERSION = importlib.metadata.version("braintrust")
EXPERIMENT = {"id": "00000000-0000-4000-8000-00000000000e", "name": "answers", "public": False, "project_id": "p"}
PROJECT = {"id": "00000000-0000-4000-8000-00000000000a", "name": "seed", "org_id": "o"}


class Service:
    """Keeps what is posted to /logs3, and answers the few questions that the SDK asks before."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.address = ""

    def answer(self, path: str, asked: Any) -> Any:
        """Return the answer to a request."""
        if path.endswith("/completions"):
            return _tool_call(asked)
        if path.endswith("/responses"):
            return _response_call(asked)
        if path.endswith("/logs3"):
            self.rows += asked["rows"]
            return {"ids": [row["id"] for row in asked["rows"]]}
        if path.endswith("/login"):
            told = {"api_url": self.address, "proxy_url": self.address, "is_universal_api": True}
            return {"org_info": [{"id": "o", "name": "house", "git_metadata": {"collect": "none"}, **told}]}
        if path.endswith("/register") or path.endswith("/experiment"):
            return {"project": PROJECT, "experiment": EXPERIMENT, **EXPERIMENT}
        if path.endswith("/project"):
            return {**PROJECT, "objects": [PROJECT]}
        if path.endswith("/get_id"):
            return {"base_exp_id": None, "base_exp_name": None}
        return {"scores": {}, "metrics": {}}


@contextlib.contextmanager
def served() -> Iterator[Service]:
    """Yield a service on a free port of 127.0.0.1."""
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            body = json.dumps(service.answer(self.path.split("?")[0], asked)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield service
    finally:
        server.shutdown()


def _said(asked: Any) -> dict[str, str]:
    text = "\n".join(_texts(asked.get("messages") or asked.get("input")))
    shown = [each for each in EXAMPLES if each["response"] in text.split("[Submission]")[-1].split("***")[0]]
    example = next(iter(shown), EXAMPLES[0])
    good = (example["label"] == "pass") != (example["id"] in WRONG)
    choice = ("Y" if good else "N") if "[Criterion]" in text else ("C" if good else "D")
    if example["id"] in BROKEN and "[Criterion]" in text:
        choice = "perhaps"
    why = f"1. It {'says' if good else 'does not say'} what is asked."
    return {"reasons": why, "choice": choice}


def _tool_call(asked: Any) -> Any:
    made = _completion(asked, "")
    call = {"name": "select_choice", "arguments": json.dumps(_said(asked))}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": call}]}
    return {**made, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def _response_call(asked: Any) -> Any:
    call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "select_choice", "status": "completed"}
    known = {"id": "r1", "object": "response", "created_at": 0, "model": asked.get("model", "loopback")}
    return {**known, "status": "completed", "output": [{**call, "arguments": json.dumps(_said(asked))}]}


def evaluated(chosen: list[dict[str, Any]], *also: Any, **options: Any) -> Any:
    """Run an Eval on some examples, with the judge ClosedQA and also other scorers."""
    from autoevals import ClosedQA
    from braintrust import Eval

    given = [
        {
            "input": each["question"],
            "expected": GOOD[each["question"]],
            "metadata": {"id": each["id"], "model": each["model"]},
        }
        for each in chosen
    ]
    responses = {each["id"]: each["response"] for each in EXAMPLES}
    asked: dict[str, int] = {}

    def task(_: str, hooks: Any) -> str:
        mine = hooks.metadata["id"]
        asked[mine] = asked.get(mine, 0) + 1
        # The second trial of one of them has another answer; the others say the same again.
        return "Ask somebody else." if mine == "tea-good" and asked[mine] == 2 else responses[mine]

    judge = ClosedQA.partial(criteria="It answers the question.", model="loopback")
    return Eval("seed", data=lambda: given, task=task, scores=[judge, *also], max_concurrency=1, **options)


def kept(service: Service) -> list[dict[str, Any]]:
    """Return the rows as the service has them: those of one id merged, in the order in which they began."""
    from braintrust.merge_row_batch import merge_row_batch

    merged = merge_row_batch([dict(row) for row in service.rows])
    rows = [row for each in merged for row in (each if isinstance(each, list) else [each])]
    found: dict[str, dict[str, Any]] = {}
    for row in rows:  # what was posted in several requests
        into = found.setdefault(row["id"], {})
        for key, value in row.items():
            both = isinstance(value, dict) and isinstance(into.get(key), dict)
            into[key] = {**into[key], **value} if both else value
    dropped = ("context", "_is_merge", "_audit_source", "_audit_metadata")
    return [{key: value for key, value in row.items() if key not in dropped} for row in found.values()]


def reviewed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return traces with a span of each of two people, who disagree about one, and their mean in the row of the root."""
    rows = [dict(row) for row in events if row["span_attributes"]["type"] in ("eval", "score")]
    for number, root in enumerate([row for row in rows if row["span_parents"] is None]):
        label = next(each["label"] for each in EXAMPLES if each["id"] == root["metadata"]["id"])
        said = {"anna": float(label == "pass"), "bo": float(label == "pass" or number == 1)}
        for name, score in said.items():
            attributes = {"type": "review", "name": f"Review by {name}"}
            known = {key: root[key] for key in ("experiment_id", "root_span_id", "created")}
            spans = {"span_id": f"{name}-{number}", "span_parents": [root["span_id"]], "span_attributes": attributes}
            rows.append({"id": f"review-{name}-{number}", **known, **spans, "scores": {"right": score}})
        root["scores"] = {"right": sum(said.values()) / 2}
    return rows


def tabled(result: list[dict[str, Any]], into: Path) -> None:
    """Write what an Eval returned as a table of traces: objects as JSON."""
    with into.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "input", "output", "expected", "scores", "metadata", "tags", "created"))
        for each, row in zip(EXAMPLES, result, strict=True):
            texts = (row["input"], row["output"], row["expected"])
            writer.writerow(
                (f"row-{each['id']}", *texts, json.dumps(row["scores"]), json.dumps(row["metadata"]), "", "2026-11-26")
            )


def write(name: str, text: str) -> None:
    """Write a file beside this one."""
    (HERE / f"{VERSION}{name}").write_text(text, encoding="utf-8")


def main() -> None:
    """Write this version's files."""
    import braintrust
    from autoevals import Factuality, Levenshtein

    with served() as service:
        address = service.address
        os.environ |= {"BRAINTRUST_APP_URL": address, "BRAINTRUST_API_URL": address, "BRAINTRUST_API_KEY": "unused"}
        os.environ |= {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "unused"}
        evaluated([each for each in EXAMPLES if each["id"] in FEW], Levenshtein)
        braintrust.flush()
        events = kept(service)
        write(".json", json.dumps({"events": events, "cursor": None}) + "\n")
        result = evaluated(EXAMPLES, Factuality.partial(model="loopback"), Levenshtein)
        write("-result.json", json.dumps(result.as_dict(), default=str) + "\n")
        braintrust.flush()
        service.rows.clear()
        experiment = braintrust.init(project="seed", experiment="logged")
        for each in EXAMPLES:
            said = _said({"messages": [{"content": f"[Submission]: {each['response']} *** [Criterion]"}]})
            score = {"Y": 1, "N": 0}.get(said["choice"])
            told = {"input": {"question": each["question"]}, "output": each["response"], "expected": None}
            given = {"scores": {"helpful": score}, "metadata": {"model": each["model"], "seed": each["id"]}}
            row = experiment.log(**told, **given)
            experiment.log_feedback(id=row, scores={"human": float(each["label"] == "pass")}, source="app")
        experiment.flush()
        write("-logged.jsonl", "".join(json.dumps(row) + "\n" for row in kept(service)))
        if VERSION != "0.0.190":
            write("-review-by-schema.json", json.dumps(reviewed(events)) + "\n")
            tabled(result.as_dict()["results"], HERE / f"{VERSION}-table-by-schema.csv")
            service.rows.clear()
            evaluated(EXAMPLES[:4], trial_count=2)
            braintrust.flush()
            write("-trials.jsonl", "".join(json.dumps(row) + "\n" for row in kept(service)))


if __name__ == "__main__":
    main()
