"""Make the logs of OpenTelemetry beside this file: `VENV/bin/python make.py VERSION`, VERSION that of opentelemetry-sdk.

Run in November 2026, each in a venv of its own (python 3.11):

- 1.45.2: `pip install opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2`
- 1.27.0: `pip install opentelemetry-sdk==1.27.0 opentelemetry-exporter-otlp-proto-http==1.27.0`

The SDK's exporters write everything here: those of the console, one line per span and per log record, and OTLP's over
HTTP to a server on the loopback, which writes each request by google.protobuf's json_format: protobuf's JSON, in which
ids are base64. With 1.45.2 a judgement is a log record of the event, and messages are on the span, as today's conventions
have it; with 1.27.0 it is an event of the span, as are the prompt and the completion, as they were in 2024. What is judged
are our examples; the judge is wrong about two and fails at one.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToJson
from opentelemetry import trace
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk import _logs as logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

HERE = Path(__file__).resolve().parent
VERSION = importlib.metadata.version("opentelemetry-sdk")
EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text().splitlines()]
WRONG = {"bread-bad", "lock-good"}
UNREADABLE = "plant-bad"
EVENT = "gen_ai.evaluation.result"


def judgements(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what two judges say of an example, as attributes of the event."""
    if example["id"] == UNREADABLE:
        yield {"gen_ai.evaluation.name": "Relevance", "error.type": "timeout"}
    else:
        passes = (example["label"] == "pass") != (example["id"] in WRONG)
        yield {
            "gen_ai.evaluation.name": "Relevance",
            "gen_ai.evaluation.score.label": "pass" if passes else "fail",
            "gen_ai.evaluation.score.value": 0.9 if passes else 0.2,
            "gen_ai.evaluation.explanation": f"It {'answers' if passes else 'does not answer'} the question.",
        }
    words = len(example["response"].split())
    yield {"gen_ai.evaluation.name": "Length", "gen_ai.evaluation.score.value": float(words)}


def main() -> None:
    """Write the files of the installed version."""
    resource = Resource({"service.name": "answers"})
    traces, records = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    console = (HERE / f"{VERSION}-console.jsonl").open("w", encoding="utf-8")
    traces.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=console, formatter=line)))
    records.add_log_record_processor(SimpleLogRecordProcessor(ConsoleLogExporter(out=console, formatter=line)))
    with receive(HERE / f"{VERSION}-otlp.jsonl") as address:
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{address}/v1/traces")))
        records.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(f"{address}/v1/logs")))
        tracer, logger = traces.get_tracer("answers"), records.get_logger("judges")
        for example in EXAMPLES:
            with tracer.start_as_current_span(f"chat {example['model']}") as span:
                (answer_now if VERSION >= "1.3" else answer_then)(example, span, logger)
        traces.shutdown()
        records.shutdown()
    console.close()


def line(record: Any) -> str:
    """Return a span or a log record on one line."""
    return record.to_json(indent=None) + "\n"


def answer_now(example: dict[str, Any], span: Any, logger: Any) -> None:
    """Write messages as attributes of the span, and judgements as events about it, with another event beside them."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": example["question"]}]}]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": example["response"]}], "finish_reason": "stop"}]
    span.set_attributes(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.response.model": example["model"],
            "gen_ai.response.id": f"response-{example['id']}",
            "gen_ai.usage.output_tokens": len(example["response"].split()),
            "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(said),
            "example.id": example["id"],
        }
    )
    for attributes in judgements(example):
        record = {"timestamp": 1, "event_name": EVENT, "severity_number": SeverityNumber.INFO, "attributes": attributes}
        logger.emit(log_record(record))
    logger.emit(log_record({"timestamp": 1, "body": "answered", "severity_number": SeverityNumber.INFO}))


def log_record(fields: dict[str, Any]) -> Any:
    """Return a log record in the context of the span that is open."""
    from opentelemetry._logs import LogRecord
    from opentelemetry.context import get_current

    return LogRecord(context=get_current(), **fields)


def answer_then(example: dict[str, Any], span: Any, logger: Any) -> None:
    """Write the prompt, the completion and the judgements as events of the span, and one log record beside them."""
    span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.response.model": example["model"]})
    prompt = json.dumps([{"role": "user", "content": example["question"]}])
    span.add_event("gen_ai.content.prompt", {"gen_ai.prompt": prompt})
    completion = json.dumps([{"role": "assistant", "content": example["response"]}])
    span.add_event("gen_ai.content.completion", {"gen_ai.completion": completion})
    for attributes in judgements(example):
        span.add_event(EVENT, attributes)
    about = trace.get_current_span().get_span_context()
    logger.emit(
        logs.LogRecord(
            timestamp=1, observed_timestamp=1, trace_id=about.trace_id, span_id=about.span_id,
            trace_flags=about.trace_flags, severity_number=SeverityNumber.INFO, body="answered", resource=logger.resource,
        )
    )  # fmt: skip


@contextmanager
def receive(file: Path) -> Iterator[str]:
    """Yield the address of a server that writes what OTLP's exporters post, a request per line."""
    written = file.open("w", encoding="utf-8")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            import gzip

            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            kind = ExportTraceServiceRequest if self.path.endswith("traces") else ExportLogsServiceRequest
            written.write(MessageToJson(kind.FromString(body), indent=None) + "\n")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        written.close()


if __name__ == "__main__":
    sys.exit(main())
