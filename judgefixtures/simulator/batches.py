"""Simulated batches of OpenAI, Gemini and Anthropic, with configurable failures."""

import datetime
import email.utils
import hashlib
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

DAY = 86_400.0  # seconds after which a batch that is not done expires
PAGE = 20  # batches in a list, whatever is asked for: lists have several pages

Say = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]  # what a path answers to a request at once


@dataclass(frozen=True, slots=True)
class Faults:
    """What fails in batches: shares of questions, or numbers of next events."""

    expired: float = 0.0  # unanswered after a day; the others were answered
    failing: float = 0.0  # answered with a passing error
    blocked: float = 0.0  # answered with an error that concerns the question alone
    errors_only: bool = False  # every question failed: there is a file of errors and none of answers
    reordered: bool = False
    duplicates: int = 0  # questions that are answered twice
    unknown: int = 0  # answers to questions that nobody asked
    cut: int = 0  # downloads that end early
    torn: int = 0  # downloads whose last line is half a line, with the length that was announced
    unsaid: int = 0  # batches that are made, and nobody is told
    refused: int = 0  # batches that are not made, and the server says so
    invalid: int = 0  # batches that are made and found to be invalid


@dataclass(frozen=True, slots=True)
class SimulatedResponse:
    """A response's body, and whether the connection breaks."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    unsaid: bool = False


@dataclass(slots=True)
class SimulatedBatch:
    """One batch: its wire format, questions and time."""

    name: str
    kind: str
    mark: str
    made: float
    asked: list[tuple[str, str, dict[str, Any]]]  # id, path and body of each question
    as_file: bool = False
    word: str = ""  # a state that it stays in
    results: list[tuple[str, int, dict[str, Any] | None]] | None = None  # id, status, body; None: expired


class _Shelf:
    """Batches with files and faults, regardless of wire format."""

    def __init__(self, say: Say, seconds: float = 0.0) -> None:
        self.say = say
        self.seconds = seconds  # that a batch takes
        self.faults = Faults()
        self.ahead = 0.0  # seconds by which the desk's clock is ahead
        self.batches: dict[str, SimulatedBatch] = {}
        self._files: dict[str, bytes] = {}
        self._uploads: dict[str, bytes] = {}
        self._lock = threading.RLock()

    @property
    def now(self) -> float:
        return time.time() + self.ahead

    @property
    def asked(self) -> Counter[str]:
        with self._lock:
            results = [each for batch in self.batches.values() for each in batch.results or ()]
            return Counter(name for name, status, _ in results if status in (200, 400))

    def _made(self, kind: str, questions: list[tuple[str, str, dict[str, Any]]], mark: str) -> SimulatedBatch:
        number = len(self.batches) + 1
        name = {"openai": f"batch_{number}", "google": f"batches/b{number}", "anthropic": f"msgbatch_{number}"}[kind]
        word = "failed" if self._happens("invalid") else ""
        self.batches[name] = SimulatedBatch(name, kind, mark, self.now, questions, word=word)
        return self.batches[name]

    def _refusal(self, body: dict[str, Any]) -> SimulatedResponse | None:
        return _json(body, 429) if self._happens("refused") else None

    def _happens(self, fault: str) -> bool:
        left: int = getattr(self.faults, fault)
        less: dict[str, Any] = {fault: max(left - 1, 0)}
        self.faults = replace(self.faults, **less)
        return left > 0

    def _page(self, kind: str, after: str | None) -> tuple[list[SimulatedBatch], bool]:
        own = [batch for batch in self.batches.values() if batch.kind == kind][::-1]
        start = 1 + next((number for number, batch in enumerate(own) if batch.name == after), -1)
        return own[start : start + PAGE], len(own) > start + PAGE

    def _word(self, batch: SimulatedBatch, done: str, running: str) -> str:
        if batch.word:
            return batch.word
        if self.faults.expired and batch.results is None:
            return "expired" if self.now >= batch.made + DAY else running
        if self.now < batch.made + self.seconds:
            return running
        return "expired" if any(body is None for _, _, body in self._results(batch)) else done

    def _results(self, batch: SimulatedBatch) -> list[tuple[str, int, dict[str, Any] | None]]:
        if batch.results is None and not batch.word:
            batch.results = [(name, *self._result(batch.name, name, path, body)) for name, path, body in batch.asked]
        return batch.results or []

    def _result(self, batch: str, name: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any] | None]:
        chance, faults = _chance(f"{batch} {name}"), self.faults
        if faults.errors_only or chance < faults.failing:
            return 500, {"error": {"code": 500, "message": "the model failed", "type": "server_error"}}
        if chance < faults.failing + faults.expired:
            return 0, None
        if chance > 1 - faults.blocked:
            return 400, {"error": {"code": "content_filter", "message": "the prompt was flagged by a safety system"}}
        return self.say(path, body)

    def _shuffled(self, batch: SimulatedBatch) -> list[tuple[str, int, dict[str, Any] | None]]:
        rows = list(self._results(batch))
        rows += rows[: self.faults.duplicates]
        rows += [(f"{n:032x}-0", status, body) for n, (_, status, body) in enumerate(rows[: self.faults.unknown])]
        if self.faults.reordered:
            random.Random(batch.name).shuffle(rows)
        return rows

    def _download(self, content: bytes) -> SimulatedResponse:
        headers = {"content-type": "application/octet-stream"}
        if self._happens("cut"):
            return SimulatedResponse(200, content, headers, cut=True)
        if self._happens("torn"):
            content = content[: 2 * len(content) // 3]
        return SimulatedResponse(200, content, headers)


class BatchDesk(_Shelf):
    """Server of batches that answers as if asked at once."""

    def handle(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes, url: str
    ) -> SimulatedResponse | None:
        """Return the response about batches or files, or None."""
        parts = urlsplit(path)
        for verb, pattern, answer in self._routes:
            if verb == method and (match := re.search(pattern, parts.path)):
                with self._lock:
                    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                    reply = answer(self, match, headers, raw, query, url)
                    date = email.utils.formatdate(self.now, usegmt=True)
                    return replace(reply, headers={**reply.headers, "date": date})
        return None

    def _known(
        self, name: str, to_json: Callable[[SimulatedBatch], dict[str, Any]], unknown: dict[str, Any]
    ) -> SimulatedResponse:
        batch = self.batches.get(name)
        return _json(unknown, 404) if batch is None else _json(to_json(batch))

    def _content(self, name: str, unknown: dict[str, Any]) -> SimulatedResponse:
        return self._download(self._files[name]) if name in self._files else _json({"error": unknown}, 404)

    # --- OpenAI -----------------------------------------------------------------------------------------------

    def _openai_upload(self, _match: Any, headers: Any, raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        name = f"file-{len(self._files) + 1}"
        self._files[name] = _part(headers.get("content-type", ""), raw)
        return _json({"id": name, "object": "file", "purpose": "batch", "bytes": len(self._files[name])})

    def _openai_content(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        return self._content(match[1], {"message": f"No such File object: {match[1]}"})

    def _openai_make(self, _match: Any, _headers: Any, raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        wanted = json.loads(raw)
        if refusal := self._refusal({"error": {"message": "too many batches", "code": "rate_limit_exceeded"}}):
            return refusal
        lines = [json.loads(line) for line in self._files[wanted["input_file_id"]].splitlines()]
        questions = [(line["custom_id"], line["url"], line["body"]) for line in lines]
        batch = self._made("openai", questions, (wanted.get("metadata") or {}).get("judgefixtures", ""))
        return replace(_json(self._openai_shown(batch)), unsaid=self._happens("unsaid"))

    def _openai_get(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        unknown = f"No batch found with id '{match[1]}'."
        return self._known(match[1], self._openai_shown, {"error": {"message": unknown}})

    def _openai_list(self, _match: Any, _headers: Any, _raw: bytes, query: Any, _url: str) -> SimulatedResponse:
        page, more = self._page("openai", query.get("after"))
        data = [self._openai_shown(batch) for batch in page]
        return _json({"object": "list", "data": data, "has_more": more})

    def _openai_shown(self, batch: SimulatedBatch) -> dict[str, Any]:
        word = self._word(batch, "completed", "in_progress")
        result: dict[str, Any] = {
            "id": batch.name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "input_file_id": "file-1",
            "status": word,
            "created_at": int(batch.made),
            "metadata": {"judgefixtures": batch.mark},
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(batch.asked), "completed": 0, "failed": 0},
        }
        if word == "failed":
            result["errors"] = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]}
        if word not in ("completed", "expired"):
            return result
        answers: list[dict[str, Any]] = []
        errors: list[dict[str, Any]] = []
        for name, status, body in self._shuffled(batch):
            if body is None:
                error = {"code": "batch_expired", "message": "This request could not be executed before it expired."}
                errors.append({"id": "r", "custom_id": name, "response": None, "error": dict(error)})
            else:
                line = {"id": "r", "custom_id": name, "response": {"status_code": status, "body": body}, "error": None}
                (answers if status == 200 else errors).append(line)
        for key, lines in (("output_file_id", answers), ("error_file_id", errors)):
            if lines:
                result[key] = f"{batch.name}-{key}"
                self._files.setdefault(result[key], _json_lines(lines))
        good = sum(status == 200 for _, status, _ in self._results(batch))
        result["request_counts"] |= {"completed": good, "failed": len(batch.asked) - good}
        return result

    # --- Gemini -----------------------------------------------------------------------------------------------

    def _google_start(self, _match: Any, _headers: Any, _raw: bytes, _query: Any, url: str) -> SimulatedResponse:
        name = f"files/u{len(self._uploads) + 1}"
        self._uploads[name] = b""
        return _json({}, 200, {"x-goog-upload-url": f"{url}/upload-to/{name}"})

    def _google_upload(self, match: Any, headers: Any, raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        name = match[1]
        self._uploads[name] += raw
        if "finalize" not in headers.get("x-goog-upload-command", ""):
            return _json({}, 200, {"x-goog-upload-status": "active"})
        return _json({"file": {"name": name}}, 200, {"x-goog-upload-status": "final"})

    def _google_content(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        return self._content(match[1], {"code": 404, "message": "no such file", "status": "NOT_FOUND"})

    def _google_make(self, match: Any, _headers: Any, raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        wanted = json.loads(raw)["batch"]
        if refusal := self._refusal({"error": {"code": 429, "message": "wait", "status": "RESOURCE_EXHAUSTED"}}):
            return refusal
        source, path = wanted["inputConfig"], f"/v1beta/models/{match[1]}:generateContent"
        if "fileName" in source:
            lines = [json.loads(line) for line in self._uploads[source["fileName"]].splitlines()]
            questions = [(line["key"], path, line["request"]) for line in lines]
        else:
            questions = [(each["metadata"]["key"], path, each["request"]) for each in source["requests"]["requests"]]
        batch = self._made("google", questions, wanted.get("displayName", ""))
        batch.as_file = "fileName" in source
        return replace(_json(self._google_shown(batch)), unsaid=self._happens("unsaid"))

    def _google_get(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        unknown = {"code": 404, "message": "no such batch", "status": "NOT_FOUND"}
        return self._known(match[1], self._google_shown, {"error": unknown})

    def _google_list(self, _match: Any, _headers: Any, _raw: bytes, query: Any, _url: str) -> SimulatedResponse:
        page, more = self._page("google", query.get("pageToken"))
        operations = [self._google_shown(batch) for batch in page]
        return _json({"operations": operations} | ({"nextPageToken": page[-1].name} if more else {}))

    def _google_shown(self, batch: SimulatedBatch) -> dict[str, Any]:
        word = self._word(batch, "SUCCEEDED", "RUNNING").upper()
        about: dict[str, Any] = {"displayName": batch.mark, "state": f"BATCH_STATE_{word}"}
        about["createTime"] = _moment(batch.made)
        result: dict[str, Any] = {"name": batch.name, "metadata": about}
        if word == "FAILED":
            result |= {"done": True, "error": {"code": 3, "message": "the input is not valid"}}
        if word not in ("SUCCEEDED", "EXPIRED"):
            return result
        rows = []
        for name, status, body in self._shuffled(batch):
            about_it = {"key": name} if batch.as_file else {"metadata": {"key": name}}
            if body is not None and status == 200:
                rows.append({**about_it, "response": body})
            elif body is not None:
                rows.append({**about_it, "error": {"code": status, "message": body["error"]["message"]}})
        if batch.as_file:
            output: dict[str, Any] = {"responsesFile": f"files/{batch.name.rpartition('/')[2]}"}
            self._files.setdefault(output["responsesFile"], _json_lines(rows))
        else:
            output = {"inlinedResponses": {"inlinedResponses": rows}}
        about["output"] = output
        successes = sum(body is not None for _, _, body in self._results(batch))
        about["batchStats"] = {"requestCount": str(len(batch.asked)), "successfulRequestCount": str(successes)}
        return {**result, "done": True}

    # --- Anthropic --------------------------------------------------------------------------------------------

    def _anthropic_make(self, _match: Any, _headers: Any, raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        wanted = json.loads(raw)
        error = {"type": "error", "error": {"type": "rate_limit_error", "message": "wait"}}
        if refusal := self._refusal(error):
            return refusal
        questions = [(each["custom_id"], "/v1/messages", each["params"]) for each in wanted["requests"]]
        if wrong := [name for name, _, _ in questions if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)]:
            return _json({"type": "error", "error": {"type": "invalid_request_error", "message": wrong[0]}}, 400)
        batch = self._made("anthropic", questions, "")
        return replace(_json(self._anthropic_shown(batch)), unsaid=self._happens("unsaid"))

    def _anthropic_get(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        unknown = {"type": "not_found_error", "message": "no such batch"}
        return self._known(match[1], self._anthropic_shown, {"type": "error", "error": unknown})

    def _anthropic_list(self, _match: Any, _headers: Any, _raw: bytes, query: Any, _url: str) -> SimulatedResponse:
        page, more = self._page("anthropic", query.get("after_id"))
        return _json({"data": [self._anthropic_shown(batch) for batch in page], "has_more": more})

    def _anthropic_results(self, match: Any, _headers: Any, _raw: bytes, _query: Any, _url: str) -> SimulatedResponse:
        rows = []
        for name, status, body in self._shuffled(self.batches[match[1]]):
            result: dict[str, Any] = {"type": "expired"}
            if body is not None and status == 200:
                result = {"type": "succeeded", "message": body}
            elif body is not None:
                kind = "invalid_request_error" if status == 400 else "api_error"
                error = {"type": kind, "message": body["error"]["message"]}
                result = {"type": "errored", "error": {"type": "error", "error": error}}
            rows.append({"custom_id": name, "result": result})
        return self._download(_json_lines(rows))

    def _anthropic_shown(self, batch: SimulatedBatch) -> dict[str, Any]:
        ended = self._word(batch, "ended", "in_progress") != "in_progress"
        counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        if ended:
            for _, status, body in self._results(batch):
                counts["expired" if body is None else "succeeded" if status == 200 else "errored"] += 1
        else:
            counts["processing"] = len(batch.asked)
        return {
            "id": batch.name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": _moment(batch.made),
            "expires_at": _moment(batch.made + DAY),
        }

    _routes = (
        ("POST", r"/v1/files$", _openai_upload),
        ("GET", r"/v1/files/([^/]+)/content$", _openai_content),
        ("POST", r"/v1/batches$", _openai_make),
        ("GET", r"/v1/batches/([^/]+)$", _openai_get),
        ("GET", r"/v1/batches$", _openai_list),
        ("POST", r"^/upload/v1beta/files$", _google_start),
        ("POST", r"^/upload-to/(files/\w+)$", _google_upload),
        ("GET", r"/v1beta/(files/\w+):download$", _google_content),
        ("POST", r"/v1beta/models/([^/:]+):batchGenerateContent$", _google_make),
        ("GET", r"/v1beta/(batches/\w+)$", _google_get),
        ("GET", r"/v1beta/batches$", _google_list),
        ("POST", r"/v1/messages/batches$", _anthropic_make),
        ("GET", r"/v1/messages/batches/(\w+)/results$", _anthropic_results),
        ("GET", r"/v1/messages/batches/(\w+)$", _anthropic_get),
        ("GET", r"/v1/messages/batches$", _anthropic_list),
    )


def _json(body: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> SimulatedResponse:
    return SimulatedResponse(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})


def _json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _part(content_type: str, raw: bytes) -> bytes:
    form = email.message_from_bytes(f"content-type: {content_type}\r\n\r\n".encode() + raw)
    for part in form.walk():
        if part.get_filename():
            return bytes(part.get_payload(decode=True))
    return b""


def _moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat().replace("+00:00", "Z")


def _chance(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32
