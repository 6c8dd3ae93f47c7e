"""A server on 127.0.0.1 that answers as a test tells it, and the wire shapes of OpenAI, Gemini and Claude for it."""

from __future__ import annotations

import contextlib
import email.utils
import json
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODELS = {"openai": "gpt-4o", "google": "gemini-2.5-flash", "anthropic": "claude-haiku-4-5"}
SDKS = ("openai", "google")  # which tell token probabilities
ALL_SDKS = tuple(MODELS)
JSON = "application/json"
NOWHERE = "http://127.0.0.1:9"  # nobody answers there


@dataclass(frozen=True)
class Answer:
    """One answer as it goes over the wire; `transport` names what happens to it on its way."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    # reset, closed, cut, chunked, chunks-cut, silent, drip (a byte each 20 ms), until-closed (HTTP/1.0), hinted (103)
    transport: str = ""


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    at: float

    @property
    def body(self) -> dict[str, Any]:
        """The request's JSON."""
        return json.loads(self.raw)

    @property
    def prompt(self) -> str:
        """The prompt, as either SDK sends it or a client of one's own, which names it; empty where none was sent."""
        if not self.raw:
            return ""
        body = self.body
        if "messages" in body:
            return str(body["messages"][-1]["content"])
        if "contents" in body:
            return "".join(part["text"] for part in body["contents"][-1]["parts"])
        return str(body["prompt"])

    @property
    def sdk(self) -> str:
        """Whose wire format this is: openai, google, anthropic, or none for a client of one's own."""
        if ":generateContent" in self.path:
            return "google"
        if self.path.endswith("/v1/messages"):
            return "anthropic"
        return "openai" if "/chat/completions" in self.path else ""

    @property
    def number(self) -> int:
        """The number of the pair that is asked about."""
        return int(re.search(r"Question (\d+)", self.prompt)[1])

    def holds(self, text: str) -> bool:
        """Tell whether a text stands anywhere in the request: path, headers or body."""
        return text in f"{self.path}\n{self.headers}\n{self.raw.decode('utf-8', 'replace')}"

    def answered(self, text: str | None, **more: Any) -> Answer:
        """Return a text as this wire format says it, None as a refusal; a client of one's own gets the text alone.

        Further arguments are fields of the whole body.
        """
        if self.sdk == "google":
            return wire(gemini(text or "", finish="SAFETY" if text is None else "STOP", modelVersion="m") | more)
        if self.sdk == "anthropic":
            return wire(
                claude(*([] if text is None else [text]), stop="refusal" if text is None else "end_turn", model="m")
                | more
            )
        if self.sdk == "openai":
            refusal = {"refusal": "I cannot."} if text is None else {}
            return wire(chat(text, model="m", named=None, **refusal) | more)
        return wire(json.loads(text or "{}") | more if more else text or "")


Answering = Callable[[Asked], Answer]


class Server(ThreadingHTTPServer):
    """Answers on 127.0.0.1 as it is told and keeps what was asked; a connection serves one request unless told so."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answering: Answering, port: int = 0, *, keep_alive: bool = False) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.answering = answering
        self.keep_alive = keep_alive
        self.asked: list[Asked] = []
        self.in_flight = 0
        self.arrived = threading.Condition()
        self.stopping = threading.Event()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self.server_address[1]

    @property
    def url(self) -> str:
        """The address without a version."""
        return f"http://127.0.0.1:{self.port}"

    def says(self, answer: Answer) -> None:
        """Answer so from now on."""
        self.answering = lambda _asked: answer

    def table(self, sdk: str, **more: Any) -> dict[str, Any]:
        """Return the table of a judge that this server answers for, with a model of no meaning."""
        return {"provider": sdk, "model": "m", "base_url": base_url(sdk, self.url), **more}

    def prompts(self, mark: str = "") -> list[str]:
        """Return the prompts that were sent, those that begin with a mark."""
        return [asked.prompt for asked in self.asked if asked.prompt.startswith(mark)]

    def wait_for(self, number: int, ended: Callable[[], bool]) -> None:
        """Wait until so many requests arrived, or whoever asks has ended."""
        with self.arrived:
            while len(self.asked) < number and not ended():
                self.arrived.wait(0.02)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that a judge gave up, or that died with their client."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        if len(raw) < length:  # whoever asked is gone, and has asked nothing
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, raw, time.monotonic())
        with self.server.arrived:
            self.server.asked.append(asked)
            self.server.in_flight += 1
            self.server.arrived.notify_all()
        try:
            self._send(self.server.answering(asked))
        finally:
            with self.server.arrived:
                self.server.in_flight -= 1

    do_GET = do_POST = do_PUT = do_CONNECT = _serve  # noqa: N815 (the base class looks for these)

    def _send(self, answer: Answer) -> None:
        keeps = self.server.keep_alive and answer.transport in ("", "chunked", "hinted")
        self.close_connection = self.close_connection or not keeps
        match answer.transport:
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            case "closed":
                return
            case "silent":
                self.server.stopping.wait(5)
                return
        chunked = answer.transport in ("chunked", "chunks-cut")
        length = len(answer.body) + (1000 if answer.transport == "cut" else 0)
        framing = "transfer-encoding: chunked" if chunked else f"content-length: {length}"
        if answer.status == 204 or answer.transport == "until-closed":
            framing = "x-framing: none"
        headers = {name.replace("_", "-"): value for name, value in answer.headers.items()}
        soon = email.utils.formatdate(time.time() + 2, usegmt=True)  # as the shared cases write it
        named = [f"{name}: {value}".replace("{HTTP_DATE+2s}", soon) for name, value in headers.items()]
        hints = ["HTTP/1.1 103 Early Hints", "link: </style.css>", ""] if answer.transport == "hinted" else []
        version = "1.0" if answer.transport == "until-closed" else "1.1"
        lines = [*hints, f"HTTP/{version} {answer.status} Said", framing, *named]
        if not keeps:
            lines.append("connection: close")
        self.wfile.write("\r\n".join([*lines, "", ""]).encode())
        if chunked:
            for start in range(0, len(answer.body), 50):
                piece = answer.body[start : start + 50]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"" if answer.transport == "chunks-cut" else b"0\r\n\r\n")
        elif answer.transport == "drip":
            for byte in answer.body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.server.stopping.wait(0.02):
                    return
        else:
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@contextlib.contextmanager
def serving(*answers: Answer, by: Answering | None = None, port: int = 0, keep_alive: bool = False) -> Iterator[Server]:
    """Serve answers in turn, the last of them from then on, or what `by` makes of each request."""
    turns = iter(answers)
    latest = [answers[-1]] if answers else []
    server = Server(by or (lambda _asked: next(turns, None) or latest[0]), port, keep_alive=keep_alive)
    with running(server):
        yield server


@contextlib.contextmanager
def running(server: Server) -> Iterator[None]:
    """Let a server serve while the block runs; afterwards nobody listens there."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def base_url(sdk: str, url: str) -> str:
    """Return what stands in a judge's table for a server: OpenAI's has the version in it."""
    return f"{url}/v1" if sdk == "openai" else url


# --- what it says -------------------------------------------------------------------------------------------

FIRST = '{"selected_response": 1, "reason": "Only the first one gives a date."}'
SECOND = '{"selected_response": 2, "reason": "The second one shows its steps."}'


def wire(body: Any, status: int = 200, transport: str = "", **headers: str) -> Answer:
    """Return an answer with a JSON, text or binary body; underscores in header names are hyphens."""
    if isinstance(body, str):
        body = body.encode()
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return Answer(status, body, {"content-type": "application/json", **headers}, transport)


def chat(
    content: Any,
    finish: str | None = "stop",
    *,
    model: str | None = None,
    usage: Any = None,
    named: str | None = "c-1",
    **more: Any,
) -> Any:
    """Return a chat completion; `named` is its id, further arguments are fields of its message."""
    message = {"role": "assistant", "content": content, **more}
    completion = {
        "id": named,
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    return {name: value for name, value in completion.items() if value is not None}


def gemini(*parts: Any, finish: str | None = "STOP", **more: Any) -> Any:
    """Return an answer of generateContent; texts are parts, further arguments are fields of the whole."""
    told = [{"text": part} if isinstance(part, str) else part for part in parts]
    candidate = {"content": {"role": "model", "parts": told}, "index": 0, "finishReason": finish}
    return {"candidates": [{name: value for name, value in candidate.items() if value is not None}], **more}


def claude(
    *blocks: Any, stop: str | None = "end_turn", model: str | None = None, usage: Any = None, **more: Any
) -> Any:
    """Return a message of Claude's; texts are blocks, further arguments are fields of the whole."""
    told = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": told,
        "stop_reason": stop,
        "usage": usage,
    }
    return {name: value for name, value in message.items() if value is not None} | more


def called(given: Any, name: str = "verdict") -> Any:
    """Return a block in which a tool is called."""
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": given}


def claude_problem(kind: str, message: str, **more: Any) -> Any:
    """Return an error body of Anthropic's."""
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}


def latin(body: Any) -> bytes:
    """Return JSON that is not UTF-8."""
    return json.dumps(body, ensure_ascii=False).encode("latin-1")


def problem(message: str, **more: Any) -> Any:
    """Return an error body."""
    return {"error": {"message": message, **more}}


def google_problem(code: int, message: str, status: str = "", *details: Any) -> Any:
    """Return an error body of Google's."""
    return problem(message, code=code, status=status, **({"details": list(details)} if details else {}))


def good(sdk: str, text: str = SECOND) -> Answer:
    """Return an answer that states a verdict and counts its tokens."""
    if sdk == "google":
        return wire(gemini(text, usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 20}))
    if sdk == "anthropic":
        return wire(claude(text, usage={"input_tokens": 100, "output_tokens": 20}))
    return wire(chat(text, usage={"prompt_tokens": 100, "completion_tokens": 20}))
