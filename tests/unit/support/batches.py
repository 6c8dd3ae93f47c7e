"""A server that answers at once and by batch, and counts both."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from judgefixtures.simulator.batches import BatchDesk
from support.server import Answer, Asked, Server, running, wire

USAGE = {
    "openai": {"usage": {"prompt_tokens": 100, "completion_tokens": 20}},
    "google": {"usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20}},
    "anthropic": {"usage": {"input_tokens": 100, "output_tokens": 20}},
}

Saying = Callable[[str, bool], str | None]  # an answer to a prompt, and whether it is asked for in a batch


def verdict(prompt: str, _by_batch: bool = False) -> str:
    """Return a verdict that depends on nothing but the prompt."""
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    return json.dumps({"selected_response": 1 + int(digest, 16) % 2, "reason": f"It is {digest[:8]}."})


class PostOffice(Server):
    """Answers what is asked at once, and takes batches; `at_once` counts the prompts of the first kind."""

    def __init__(self, saying: Saying = verdict) -> None:
        super().__init__(self.answer, keep_alive=True)
        self.saying = saying
        self.at_once: Counter[str] = Counter()
        self.desk = BatchDesk(self.say)
        self.hold: Callable[[Asked], None] = lambda _asked: None

    def answer(self, asked: Asked) -> Answer:
        """Answer a request."""
        self.hold(asked)
        reply = self.desk.handle(asked.method, asked.path, asked.headers, asked.raw, self.url)
        if reply is not None:
            transport = "closed" if reply.unsaid else "cut" if reply.cut else ""
            return Answer(reply.status, reply.body, reply.headers, transport)
        if asked.method == "GET":
            return wire({"object": "list", "data": []})
        self.at_once[asked.prompt] += 1
        return self.said(asked, by_batch=False)

    def say(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return what a question of a batch is answered."""
        answer = self.said(Asked("POST", path, {}, json.dumps(body).encode(), time.monotonic()), by_batch=True)
        return answer.status, json.loads(answer.body)

    def said(self, asked: Asked, *, by_batch: bool) -> Answer:
        """Return an answer in the wire format of the question."""
        return asked.answered(self.saying(asked.prompt, by_batch), **USAGE[asked.sdk])

    @property
    def paid(self) -> Counter[str]:
        """How often each request was answered in batches, by its digest; what was asked both ways is not counted."""
        return Counter({name[:32]: count for name, count in self.desk.asked.items() if not name.endswith("-parity")})


@contextlib.contextmanager
def posting(saying: Saying = verdict) -> Iterator[PostOffice]:
    """Serve while the block runs."""
    office = PostOffice(saying)
    with running(office):
        yield office
