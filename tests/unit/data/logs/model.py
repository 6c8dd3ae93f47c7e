"""A model on this machine's loopback, for making logs with other tools: it speaks OpenAI's wire form and says what it is told to.

with serve(lambda text: "GRADE: C") as address:
    ...  # base_url=f"{address}/v1"
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextlib.contextmanager
def serve(answer: Callable[[str], str], port: int = 0) -> Iterator[str]:
    """Yield the address of a server that answers every request with `answer(all texts of the request)`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(answer))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _handler(answer: Callable[[str], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(
                {"object": "list", "data": [{"id": "loopback", "object": "model", "created": 0, "owned_by": "us"}]}
            )

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            said = answer("\n".join(_texts(asked.get("messages") or asked.get("input") or asked.get("prompt"))))
            self._send(_response(asked, said) if self.path.endswith("/responses") else _completion(asked, said))

        def _send(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, dict):
        return _texts(value.get("content") or value.get("text"))
    return []


def _completion(asked: dict[str, Any], said: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    known = {"id": "loopback-1", "object": "chat.completion", "created": 0, "model": asked.get("model", "loopback")}
    return {**known, "choices": [choice], "usage": usage}


def _response(asked: dict[str, Any], said: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": said, "annotations": []}]
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    known = {"id": "loopback-1", "object": "response", "created_at": 0, "model": asked.get("model", "loopback")}
    return {**known, "status": "completed", "output": [message], "usage": usage}
