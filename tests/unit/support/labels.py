"""The labelling page as its users start it: a process of its own, and what its page would ask of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.project import json_lines


def examples(number: int, **more: Any) -> list[dict[str, Any]]:
    """Return rows of examples."""
    return [
        {"id": f"id-{at}", "question": f"Question {at}?", "response": f"Answer {at}.", **more} for at in range(number)
    ]


def data_file(folder: Path, rows: list[dict[str, Any]], name: str = "answers.jsonl") -> Path:
    """Write rows as a file of examples."""
    file = folder / name
    file.write_text(json_lines(rows), encoding="utf-8")
    return file


@dataclass
class Client:
    """Asks a page what its script asks, or what somebody else would."""

    url: str

    @property
    def origin(self) -> str:
        """Where the page is."""
        return self.url[: self.url.index("/", len("http://"))]

    def send(
        self, method: str, path: str | None = None, body: str | bytes | None = None, **headers: str
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and text of an answer; headers are given with underscores."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, parts.path if path is None else path, body, named)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read().decode()
        connection.close()
        return found

    def ask(self, **asked: Any) -> Any:
        """Return what the page is told next; fails where it is refused."""
        status, _, text = self.send(
            "POST", None, json.dumps(asked), origin=self.origin, content_type="application/json"
        )
        assert status == 200, text
        return json.loads(text)

    def label(self, label: str | None, place: int, comment: str = "") -> Any:
        """Label the example at a place, and return what is shown next."""
        return self.ask(place=place, label=label, comment=comment)


@dataclass
class Started:
    """A running `judgefixtures label`."""

    process: subprocess.Popen[str]
    client: Client
    said: list[str] = field(default_factory=list)

    def kill(self) -> None:
        """Kill it, as a crash of the machine does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit code and what it says then."""
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest


@contextmanager
def started(data: Path | str, by: str, *options: str, cwd: Path) -> Iterator[Started]:
    """Start the command and wait for its address; it is killed at the end, if it runs still."""
    command = [sys.executable, "-m", "judgefixtures", "label", str(data), "--by", by, *options]
    process = subprocess.Popen(
        command,
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "CI": ""},
        # What runs in the background of a shell does not hear Ctrl-C, and neither does what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    said: list[str] = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"open (http://\S+)", line):
                yield Started(process, Client(found[1]), said)
                break
        else:
            raise AssertionError("".join(said))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=30)
        process.stdout.close()
