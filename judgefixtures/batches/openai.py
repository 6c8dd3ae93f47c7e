"""OpenAI's batches: a file of questions, a batch of the file, and a file of answers, one of errors, or both."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from judgefixtures.batches import (
    Limits,
    Line,
    NotSentError,
    Results,
    State,
    good,
    lines_of,
    one_line,
    patiently,
)
from judgefixtures.config import JudgeTable
from judgefixtures.providers import PLACEHOLDER_KEY, FatalJudgeError, RetryableError, api_key
from judgefixtures.providers.openai import DEFAULT_BASE_URL
from judgefixtures.providers.wire import as_table, exchange, http_client, text_or_none, tokens, without_switches

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MARK = "judgefixtures"  # the key of a batch's metadata under which its intent stands
# Any other word is of a batch that may still answer: none that is new is taken for an end.
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
TRANSFER = 600.0  # seconds for a file of questions or answers
SKEW = datetime.timedelta(hours=1)  # by which clocks may differ


class OpenAIBatches:
    """Batches of chat completions, through the openai SDK."""

    limits = Limits(50_000, 200 * 10**6)

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._client: AsyncOpenAI | None = None

    async def send(self, intent: str, lines: Sequence[Line]) -> str:
        """Upload the questions, and make a batch of the file whose metadata names the intent."""
        content = b"".join(_line(line) for line in lines)
        client = self._connected()

        async def uploaded() -> Any:
            file = (f"judgefixtures-{intent}.jsonl", content, "application/jsonl")
            call = client.files.with_raw_response.create(file=file, purpose="batch", timeout=TRANSFER)
            return good(await exchange(call, self._table.base_url), self._model)

        try:
            file = text_or_none((await patiently(uploaded)).get("id"))
        except (RetryableError, FatalJudgeError) as error:
            raise NotSentError(f"the questions could not be uploaded: {error}") from None
        if file is None:
            raise NotSentError("the server gave the uploaded questions no id")
        call = client.batches.with_raw_response.create(
            input_file_id=file, endpoint=ENDPOINT, completion_window="24h", metadata={MARK: intent}
        )
        wire = await exchange(call, self._table.base_url)
        if 400 <= wire.status < 500:
            try:
                good(wire, self._model)
            except (RetryableError, FatalJudgeError) as error:
                raise NotSentError(str(error)) from None
        return _id(good(wire, self._model))

    async def find(
        self, intent: str, since: datetime.datetime, _ids: frozenset[str], _taken: frozenset[str]
    ) -> str | None:
        """Return the batch whose metadata names the intent, among those made since then."""
        client, after = self._connected(), None
        while True:
            more: dict[str, Any] = {"after": after} if after else {}
            call = client.batches.with_raw_response.list(limit=100, **more)
            page = good(await exchange(call, self._table.base_url), self._model)
            batches = [each for each in page.get("data") or () if isinstance(each, dict)]
            for batch in batches:
                if as_table(batch.get("metadata")).get(MARK) == intent:
                    return _id(batch)
            oldest = min((tokens(batch.get("created_at")) or 0 for batch in batches), default=0)
            if not page.get("has_more") or not batches or oldest < (since - SKEW).timestamp():
                return None
            after = _id(batches[-1])

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        call = self._connected().batches.with_raw_response.retrieve(batch)
        found = good(await exchange(call, self._table.base_url), self._model)
        if (word := text_or_none(found.get("status"))) is None:
            raise RetryableError("a batch without a status")
        counts = as_table(found.get("request_counts"))
        problems = as_table(found.get("errors")).get("data") or ()
        said = "; ".join(str(each.get("message") or "")[:200] for each in problems[:3] if isinstance(each, dict))
        counted = None if not counts else (tokens(counts.get("completed")) or 0) + (tokens(counts.get("failed")) or 0)
        return State(word.lower() in ENDED, word, counted, said, found)

    async def fetch(self, batch: str, state: State) -> Results:
        """Return the lines of both files; those that either lacks are unanswered."""
        results = Results()
        for name in ("output_file_id", "error_file_id"):
            file = text_or_none(state.raw.get(name))
            if file is None:
                continue
            found, whole = await self._content(file)
            results.whole = results.whole and whole
            for row in found:
                _add(results, row, self._model, batch)
        return results

    async def _content(self, file: str) -> tuple[list[dict[str, Any]], bool]:
        call = self._connected().files.with_raw_response.content(file, timeout=TRANSFER)
        return lines_of(await exchange(call, self._table.base_url), self._model)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> AsyncOpenAI:
        if self._client is None:
            from openai import AsyncOpenAI

            own = os.environ if self._table.base_url is None else {}
            with without_switches():
                self._client = AsyncOpenAI(
                    api_key=api_key(self._table) or PLACEHOLDER_KEY,
                    base_url=self._table.base_url or DEFAULT_BASE_URL,
                    max_retries=0,
                    timeout=self._table.timeout,
                    http_client=http_client(self._table.base_url, self._table.timeout),
                    organization=own.get("OPENAI_ORG_ID"),
                    project=own.get("OPENAI_PROJECT_ID"),
                )
        return self._client


def _line(line: Line) -> bytes:
    head = f'{{"custom_id":"{line.id}","method":"POST","url":"{ENDPOINT}","body":'
    return head.encode() + one_line(line.body) + b"}\n"


def _id(batch: dict[str, Any]) -> str:
    if (name := text_or_none(batch.get("id"))) is None:
        raise RetryableError("a batch without an id")
    return name


def _add(results: Results, row: dict[str, Any], model: str, batch: str) -> None:
    """Add a line of a file of answers or errors."""
    name, response = row.get("custom_id"), as_table(row.get("response"))
    if not isinstance(name, str):
        results.nameless += 1
        return
    status = tokens(response.get("status_code"))
    if status is not None and isinstance(response.get("body"), dict):
        results.add(name, status, response["body"], model, batch)
    else:
        error = as_table(row.get("error"))
        results.fail(name, str(error.get("message") or error.get("code") or "no response")[:200])
