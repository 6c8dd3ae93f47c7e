"""Loopback server of the simulated judges, in the wire formats of OpenAI, Gemini and Claude."""

import contextlib
import io
import json
import re
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .batches import BatchDesk, SimulatedResponse
from .behaviour import MODELS, is_simulated, latent, simulated_answer
from .graders import Schema, find_grader, grade_tokens
from .shown import UnreadablePromptError
from .sureness import AnswerToken, answer_tokens

GEMINI_PATH = re.compile(r"/models/([^/:]+):generateContent$")


class SimulatorServer(ThreadingHTTPServer):
    """Server of the simulated judges on 127.0.0.1 that counts questions."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _SimulatorHandler)
        self.requests = 0
        self.desk = BatchDesk(self.say)
        self._asked: Counter[tuple[str, str]] = Counter()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address without a version."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept and remember a connection."""
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Forget an ended connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that left; report other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def say(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the response to a request, without network."""
        aside = _Aside(self, path, json.dumps(body).encode())
        aside.do_POST()
        return aside.sent

    def hang_up(self) -> None:
        """Close every open connection."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def answer(self, model: str, prompt: str, schema: Schema = None) -> str:
        """Return a judge's answer and count the question."""
        with self._lock:
            before = self._asked[model, prompt]
            self._asked[model, prompt] += 1
            self.requests += 1
        return simulated_answer(model, prompt, before, schema)


@contextlib.contextmanager
def serving(port: int = 0) -> Iterator[SimulatorServer]:
    """Serve the simulated judges in a thread; port 0 takes a free one."""
    with SimulatorServer(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.hang_up()
            thread.join()


class _SimulatorHandler(BaseHTTPRequestHandler):
    server: SimulatorServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if reply := self._of_context("GET", b""):
            self._reply(reply)
            return
        self._send(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # whoever asked is gone, and has asked nothing
            self.close_connection = True
            return
        if reply := self._of_context("POST", body):
            self._reply(reply)
            return
        try:
            request = json.loads(body)
            path = self.path.partition("?")[0]
            if gemini := GEMINI_PATH.search(path):
                self._gemini(gemini[1], request)
            elif path.endswith("/chat/completions"):
                self._openai(request)
            elif path.endswith("/messages"):
                self._anthropic(request)
            else:
                self._send(404, {"error": {"message": f"no such path: {self.path}", "code": 404}})
        except UnreadablePromptError as error:
            message = (
                f"A simulated judge cannot read this prompt: {error}. Use a built-in template, or your own in the "
                "same form, with built-in labels; for other prompts, use a real judge."
            )
            self._send(400, {"error": {"message": message, "code": 400}})
        except (ValueError, KeyError, TypeError, IndexError) as error:
            self._send(400, {"error": {"message": f"not a request of this API: {error!r}", "code": 400}})

    def _of_context(self, method: str, body: bytes) -> SimulatedResponse | None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return self.server.desk.handle(method, self.path, headers, body, self.server.url)

    def _reply(self, reply: SimulatedResponse) -> None:
        if reply.unsaid:
            self.close_connection = True
            return
        self.send_response_only(reply.status)  # the desk says by itself what time it is there
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) // 2] if reply.cut else reply.body)
        self.close_connection = self.close_connection or reply.cut

    def _openai(self, request: dict[str, Any]) -> None:
        model, prompt = request["model"], request["messages"][-1]["content"]
        if not is_simulated(model):
            message = f"The simulated judge `{model}` does not exist; there are {', '.join(MODELS)}."
            self._send(404, {"error": {"message": message, "code": "model_not_found", "param": None}})
            return
        schema = _schema_for(model, request)
        text = self.server.answer(model, prompt, *schema)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        if request.get("logprobs") and (tokens := _tokens_of(model, prompt, text, request.get("top_logprobs"), schema)):
            choice["logprobs"] = {"content": [_with_likeliest(token) for token in tokens], "refusal": None}
        usage = _tokens(prompt, text, "prompt_tokens", "completion_tokens")
        self._send(200, {"model": model, "system_fingerprint": "simulated", "choices": [choice], "usage": usage})

    def _gemini(self, model: str, request: dict[str, Any]) -> None:
        prompt = "".join(part["text"] for part in request["contents"][-1]["parts"])
        if not is_simulated(model):
            message = f"models/{model} is not a simulated judge; there are {', '.join(MODELS)}."
            self._send(404, {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}})
            return
        schema = _schema_for(model, request)
        text = self.server.answer(model, prompt, *schema)
        content = {"parts": [{"text": text}], "role": "model"}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        settings = request.get("generationConfig") or {}
        wanted, count = settings.get("responseLogprobs"), settings.get("logprobs")
        if wanted and (tokens := _tokens_of(model, prompt, text, count, schema)):
            chosen = [_google_token(token.text, token.logprob) for token in tokens]
            top = [{"candidates": [_google_token(*each) for each in token.likeliest]} for token in tokens]
            candidate["logprobsResult"] = {"chosenCandidates": chosen, "topCandidates": top}
        usage = _tokens(prompt, text, "promptTokenCount", "candidatesTokenCount")
        self._send(200, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model})

    def _anthropic(self, request: dict[str, Any]) -> None:
        model, prompt = request["model"], _prompt_of(request["messages"][-1]["content"])
        if not is_simulated(model):
            message = f"model: {model} is not a simulated judge; there are {', '.join(MODELS)}."
            self._send(404, {"type": "error", "error": {"type": "not_found_error", "message": message}})
            return
        text = self.server.answer(model, prompt, *_schema_for(model, request))
        block: dict[str, Any] = {"type": "text", "text": text}
        if forced := (request.get("tool_choice") or {}).get("name"):
            block = {"type": "tool_use", "id": "toolu_simulated", "name": forced, "input": json.loads(text)}
        envelope = {"type": "message", "role": "assistant", "model": model, "content": [block]}
        why = {"stop_reason": "tool_use" if forced else "end_turn", "stop_sequence": None}
        self._send(200, {**envelope, **why, "usage": _tokens(prompt, text, "input_tokens", "output_tokens")})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Log nothing."""


def _prompt_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


class _Aside(_SimulatorHandler):
    def __init__(self, server: SimulatorServer, path: str, body: bytes) -> None:
        self.server, self.path = server, path
        self.headers = {"content-length": str(len(body))}  # type: ignore[assignment]
        self.rfile = io.BytesIO(body)
        self.sent: tuple[int, dict[str, Any]] = (500, {})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self.sent = status, body


# Where requests say to which JSON schema an answer is to keep: OpenAI's, Gemini's and Claude's.
_SCHEMAS: tuple[tuple[str | int, ...], ...] = (
    ("response_format", "json_schema", "schema"),
    ("response_format", "schema"),
    ("generationConfig", "responseJsonSchema"),
    ("generationConfig", "responseSchema"),
    ("output_config", "format", "schema"),
    ("tools", 0, "input_schema"),
)


def _schema_for(model: str, request: Any) -> tuple[dict[str, Any], ...]:
    for path in _SCHEMAS if find_grader(model) else ():
        found = request
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for key in path:
                found = found[key]
            return (dict(found),)
    return ()


def _tokens_of(model: str, prompt: str, text: str, count: int | None, schema: Sequence[Schema]) -> list[AnswerToken]:
    if (log_odds := latent(model, prompt)) is None:
        return []
    stated = grade_tokens(prompt, text, *schema) if find_grader(model) else None
    return answer_tokens(text, log_odds, count or 0, stated)


def _openai_token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "bytes": list(text.encode()), "logprob": logprob}


def _with_likeliest(token: AnswerToken) -> dict[str, Any]:
    likeliest = [_openai_token(*each) for each in token.likeliest]
    return {**_openai_token(token.text, token.logprob), "top_logprobs": likeliest}


def _google_token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logProbability": logprob}


def _tokens(prompt: str, text: str, prompt_key: str, answer_key: str) -> dict[str, int]:
    return {prompt_key: len(prompt) // 4, answer_key: len(text) // 4}
