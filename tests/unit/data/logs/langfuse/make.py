"""Make the files beside this one with Langfuse's SDKs, on our examples and a loopback server of ours.

Each part ran in a venv of its own, with ../ on PYTHONPATH, and writes into this folder:

    python make.py sdk2    # langfuse 2.60.10
    python make.py sdk3    # langfuse 3.15.0
    python make.py sdk5    # langfuse 5.0.4

Real are the bodies that an SDK sent (`*-sent*`). What the service answers cannot be made here: it is written by the SDK's own
models of the answers (`*-by-schema*`), served by us, and read back by the SDK's own client, which would refuse what is not of
its schema. The export of the page (`ui-*by-schema*`) has the columns that the worker of langfuse/langfuse writes
(worker/src/features/database-read-stream/getDatabaseReadStream.ts at 00385c5), in its order.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import gzip
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text().splitlines()]
WRONG = {"bread-bad": "pass", "lock-good": "fail"}  # where our judge does not say what we say
SILENT = "leap-bad"  # where it says nothing that can be read
WHEN = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)


class Service:
    """Langfuse's end of the wire: keeps what is sent, and answers with what was put there."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.answers: dict[str, Any] = {}

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        """Yield the address."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()

    def bodies(self, path: str) -> list[Any]:
        """Return what was sent to a path."""
        return [body for sent_to, body in self.sent if sent_to == path]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                if not self.path.endswith("/otel/v1/traces"):  # these are protobuf, and no scores
                    service.sent.append((self.path, json.loads(body)))
                batch = service.sent[-1][1] if service.sent else {}
                events = batch.get("batch", []) if isinstance(batch, dict) else []
                done = [{"id": each["id"], "status": 201} for each in events]
                is_scores = self.path == "/api/public/scores"
                self._send(
                    {"message": "Accepted"} if is_scores else {"successes": done, "errors": []},
                    202 if is_scores else 207,
                )

            def do_GET(self) -> None:
                self._send(service.answers.get(self.path.split("?")[0], {}), 200)

            def _send(self, value: Any, status: int) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def trace_id(number: int) -> str:
    """Return the id of a trace of ours."""
    return f"{0xB0 + number:032x}"


def scores() -> Iterator[dict[str, Any]]:
    """Yield what our judges say of each trace: a truth value, a word, a number, and a user's thumb."""
    for number, each in enumerate(EXAMPLES):
        said = None if each["id"] == SILENT else WRONG.get(each["id"], each["label"])
        about = {"trace_id": trace_id(number), "comment": "A judge looked at it."}
        if said is not None:
            yield {**about, "name": "correct", "value": float(said == "pass"), "data_type": "BOOLEAN"}
        word = {"pass": "good", "fail": "bad", None: "unsure"}[said]
        yield {**about, "name": "tone", "value": word, "data_type": "CATEGORICAL"}
        share = {"pass": 0.9, "fail": 0.2, None: 0.5}[said]
        yield {**about, "name": "quality", "value": share, "data_type": "NUMERIC"}
        thumb = {"name": "user-feedback", "value": float(each["label"] == "pass"), "data_type": "BOOLEAN"}
        yield {"trace_id": trace_id(number), **thumb}


def sdk2() -> None:
    """Keep what the SDK of 2024 and 2025 sends, and write the answers of its API."""
    from langfuse import Langfuse
    from langfuse.api.resources.commons.types.trace_with_full_details import TraceWithFullDetails
    from langfuse.api.resources.score.types.get_scores_response import GetScoresResponse

    service = Service()
    with service.serve() as address:
        client = Langfuse(public_key="unused", secret_key="unused", host=address)
        for number, each in enumerate(EXAMPLES):
            client.trace(id=trace_id(number), name="answer", input=each["question"], output=each["response"])
        for each in scores():
            client.score(**each)
        client.flush()
        write_lines("2.60-sent.jsonl", service.bodies("/api/public/ingestion"))
        held = list(answered())
        page = {"data": [{**each, "trace": {}} for each in held], "meta": meta(held)}
        service.answers["/api/public/scores"] = page
        write_json("2.60-scores-by-schema.json", dumped(GetScoresResponse.parse_obj(page)))
        assert len(client.api.score.get().data) == len(held)
        traces = [trace(number, [each for each in held if each["traceId"] == trace_id(number)]) for number in range(12)]
        for each in traces:
            service.answers[f"/api/public/traces/{each['id']}"] = each
        write_lines("2.60-traces-by-schema.jsonl", [dumped(TraceWithFullDetails.parse_obj(each)) for each in traces])
        assert [len(client.api.trace.get(each["id"]).scores) for each in traces] == [
            len(each["scores"]) for each in traces
        ]


def sdk3() -> None:
    """Keep what the SDK of 2025 sends, and write the answers of the second API of scores, in pages."""
    from langfuse import Langfuse
    from langfuse.api.resources.score_v_2.types.get_scores_response import GetScoresResponse

    service = Service()
    with service.serve() as address:
        client = Langfuse(public_key="unused", secret_key="unused", host=address)
        for each in scores():
            client.create_score(**each)
        client.flush()
        write_lines("3.15-sent.jsonl", service.bodies("/api/public/ingestion"))
        held = [{**each, "metadata": {}, "trace": {"userId": None, "tags": []}} for each in answered(more=True)]
        pages = []
        for start in range(0, len(held), 20):
            page = {"data": held[start : start + 20], "meta": meta(held)}
            service.answers["/api/public/v2/scores"] = page
            assert len(client.api.score_v_2.get().data) == len(page["data"])
            pages.append(dumped(GetScoresResponse.parse_obj(page)))
        write_lines("3.15-pages-by-schema.jsonl", pages)


def sdk5() -> None:
    """Keep what today's SDK sends, which is scores alone, and write the answers of the third API of scores."""
    from langfuse import Langfuse

    service = Service()
    with service.serve() as address:
        client = Langfuse(public_key="unused", secret_key="unused", base_url=address)
        for each in scores():
            client.create_score(**each)
        client.flush()
        write_json("5.0-sent.json", service.bodies("/api/public/scores"))
        page = {"data": [third(each) for each in answered(more=True)], "meta": {"limit": 100, "cursor": None}}
        service.answers["/api/public/v3/scores"] = page
        read = client.api.scores.get_many()
        assert len(read.data) == len(page["data"])
        write_json("5.0-scores-v3-by-schema.json", dumped(read))
    write_page_export()


def answered(*, more: bool = False) -> Iterator[dict[str, Any]]:
    """Yield scores as the API answers them: our judges', a person's annotations, and of two traces other data types."""
    for number, each in enumerate(scores()):
        yield known(number, each, "EVAL" if each["name"] != "user-feedback" else "API")
    for number, each in enumerate(EXAMPLES):
        person = {"trace_id": trace_id(number), "name": "correct", "value": float(each["label"] == "pass")}
        yield known(100 + number, {**person, "data_type": "BOOLEAN"}, "ANNOTATION")
    if more:
        better = {"trace_id": trace_id(1), "name": "output", "value": "Two minutes.", "data_type": "CORRECTION"}
        yield known(200, better, "ANNOTATION")
        note = {"trace_id": trace_id(2), "name": "note", "value": "Read once more.", "data_type": "TEXT"}
        yield known(201, note, "ANNOTATION")


def known(number: int, score: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a score as the API answers it."""
    when = (WHEN + dt.timedelta(minutes=number)).isoformat().replace("+00:00", ".000Z")
    value, kind = score["value"], score["data_type"]
    told = {"value": value} if kind in ("NUMERIC", "BOOLEAN") else {"value": 0, "stringValue": value}
    if kind == "BOOLEAN":
        told["stringValue"] = str(value == 1)
    if kind == "TEXT":
        told.pop("value")
    return {
        "id": f"score-{number}",
        "traceId": score["trace_id"],
        "observationId": None,
        "name": score["name"],
        "source": source,
        "timestamp": when,
        "createdAt": when,
        "updatedAt": when,
        "authorUserId": "anna" if source == "ANNOTATION" else None,
        "comment": score.get("comment"),
        "configId": None,
        "queueId": None,
        "environment": "default",
        "dataType": kind,
        **told,
    }


def third(score: dict[str, Any]) -> dict[str, Any]:
    """Return a score as the third API answers it: one value, and what it is of as a subject."""
    kind, subject = score["dataType"], {"kind": "trace", "id": score["traceId"]}
    value = score["value"] == 1 if kind == "BOOLEAN" else score.get("stringValue", score.get("value"))
    kept = {name: each for name, each in score.items() if name not in ("traceId", "observationId", "stringValue")}
    return {**kept, "projectId": "ours", "value": value, "subject": subject, "metadata": {}}


def trace(number: int, held: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a trace with its scores, as the API answers it."""
    each = EXAMPLES[number]
    return {
        "id": trace_id(number),
        "timestamp": WHEN.isoformat().replace("+00:00", ".000Z"),
        "name": "answer",
        "input": {"messages": [{"role": "user", "content": each["question"]}]},
        "output": {"role": "assistant", "content": each["response"]},
        "metadata": None,
        "tags": [],
        "public": False,
        "environment": "default",
        "htmlPath": f"/project/ours/traces/{trace_id(number)}",
        "latency": 0.1,
        "totalCost": 0,
        "observations": [],
        "scores": held,
    }


def meta(held: list[Any]) -> dict[str, int]:
    """Return what a page says of the pages."""
    return {"page": 1, "limit": 100, "totalItems": len(held), "totalPages": 1}


def write_page_export() -> None:
    """Write what the page of scores exports, as CSV, as older versions wrote it, too, and as JSON lines."""
    names = [
        "id",
        "traceId",
        "sessionId",
        "datasetRunId",
        "timestamp",
        "source",
        "name",
        "dataType",
        "value",
        "stringValue",
    ]
    names += [
        "comment",
        "metadata",
        "observationId",
        "traceName",
        "userId",
        "traceTags",
        "environment",
        "authorUserName",
    ]
    told = {"metadata": {}, "traceName": "answer", "traceTags": []}
    rows = [{name: {**told, **each}.get(name) for name in names} for each in answered(more=True)]
    rows = [{**row, "authorUserName": "Anna" if row["source"] == "ANNOTATION" else None} for row in rows]
    write_lines("ui-by-schema.jsonl", rows)
    filled = [["" if each is None else each for each in row.values()] for row in rows]
    write_table("ui-by-schema.csv", [names, *([plain(each) for each in row] for row in filled)])
    # Older versions of the page wrote each text as JSON, too.
    write_table("ui-quoted-by-schema.csv", [names, *([json.dumps(each) for each in row] for row in filled)])


def plain(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def write_table(name: str, rows: list[list[str]]) -> None:
    """Write a table with each cell in quotes."""
    with (HERE / name).open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)


def dumped(answer: Any) -> Any:
    """Return what a model of the SDK writes."""
    return json.loads(answer.json())


def write_json(name: str, value: Any) -> None:
    """Write a document."""
    (HERE / name).write_text(json.dumps(value))


def write_lines(name: str, values: list[Any]) -> None:
    """Write a line per value."""
    (HERE / name).write_text("".join(json.dumps(each) + "\n" for each in values))


if __name__ == "__main__":
    {each.__name__: each for each in (sdk2, sdk3, sdk5)}[sys.argv[1]]()
