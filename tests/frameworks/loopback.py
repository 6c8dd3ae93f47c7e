"""A model on this machine with a planted shift: OpenAI's chat completions, answered by a rule.

Of every ten examples the model passes three whatever they say, and three more where the label says that the response is
new: a shift of +0.30. It answers in the form that the request asks for: a tool, a JSON schema, or text.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ALWAYS, IF_NEW = range(3), range(3, 6)
NUMBER = re.compile(r"example no (\d+)")
NEW = "written recently (in 2025)"
# How a model that is asked in words answers, by what the prompt says of the form.
FORMS = {
    "[[ ## verdict ## ]]": (
        "[[ ## reasoning ## ]]\nbecause\n\n[[ ## verdict ## ]]\nTrue\n\n[[ ## completed ## ]]",
        "True",
        "False",
    ),
    "Evaluation Steps:": ('{"score": 10, "reason": "because"}', "10", "0"),
    "Scoring Rubrics:": ('{"score": 5, "feedback": "because"}', "5", "1"),
    "GRADE: $LETTER": ("It is so.\n\nGRADE: C", "GRADE: C", "GRADE: I"),
    '"score"': ('{"score": 1, "reason": "because"}', "1", "0"),
}


def passes(prompt: str) -> bool:
    """Return whether the model passes the example of a prompt."""
    place = int(found[1]) % 10 if (found := NUMBER.search(prompt)) else 0
    return place in ALWAYS or (place in IF_NEW and NEW in prompt)


def filled(schema: dict[str, Any], good: bool, definitions: dict[str, Any], name: str = "") -> Any:
    """Return a value of a JSON schema that passes or fails."""
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], good, definitions, name)
    if options := schema.get("anyOf"):
        return filled(options[0], good, definitions, name)
    if choices := schema.get("enum"):
        passing = [each for each in choices if str(each).lower() in ("yes", "pass", "good", "correct", "true", "1")]
        others = [each for each in choices if each not in passing]
        return passing[0] if good and passing else others[0] if others else choices[0]
    kinds = {"boolean": good, "integer": int(good), "number": float(good), "string": "because", "null": None}
    if schema.get("type") == "array":
        return [filled(schema.get("items", {"type": "string"}), good, definitions, name)]
    if "properties" in schema:
        return {key: filled(each, good, definitions, key) for key, each in schema["properties"].items()}
    return kinds.get(schema.get("type", "string"), "because")


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the message that answers a request."""
    prompt = json.dumps(asked["messages"], ensure_ascii=False).replace('\\"', '"')
    good = passes(prompt)
    if tools := asked.get("tools"):
        function = tools[0]["function"]
        schema = function["parameters"]
        values = filled(schema, good, schema.get("$defs", {}))
        call = {"id": "c1", "type": "function", "function": {"name": function["name"], "arguments": json.dumps(values)}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    form = asked.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema = form["json_schema"]["schema"]
        return {"role": "assistant", "content": json.dumps(filled(schema, good, schema.get("$defs", {})))}
    return {"role": "assistant", "content": in_words(prompt, good)}


def in_words(prompt: str, good: bool) -> str:
    """Return an answer in the form that a prompt describes."""
    for mark, (text, passing, failing) in FORMS.items():
        if mark in prompt:
            return text if good else text.replace(passing, failing)
    return '{"verdict": "yes", "result": "yes"}' if good else '{"verdict": "no", "result": "no"}'


class Handler(BaseHTTPRequestHandler):
    """Answers chat completions."""

    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(asked)  # type: ignore[attr-defined]
        fixed = self.server.in_words  # type: ignore[attr-defined]
        message = {"role": "assistant", "content": fixed} if fixed else answer(asked)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": "loopback-1",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serving(in_words: str = "") -> Iterator[ThreadingHTTPServer]:
    """Serve on a free port; `seen` has the requests. With `in_words` every answer is that text."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.in_words = [], in_words  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
