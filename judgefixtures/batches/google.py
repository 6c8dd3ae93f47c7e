"""Gemini's batches: questions in the request itself while they are few, in a file where they are many."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgefixtures.batches import (
    Limits,
    Line,
    NotSentError,
    Page,
    Results,
    State,
    clock_of,
    good,
    lines_of,
    made,
    named,
    older,
    one_line,
    pages,
    patiently,
    rows_in,
    status_of,
)
from judgefixtures.config import JudgeTable
from judgefixtures.providers import FatalJudgeError, RetryableError
from judgefixtures.providers.google import GoogleProvider
from judgefixtures.providers.wire import as_table, exchange, text_or_none

VERSION = "v1beta"  # the one that has batches
INLINE = 19 * 10**6  # bytes of questions that fit into a request of 20 MB with what is around them
MARK = "judgefixtures-"  # a batch's display name is this and its intent
TRANSFER = 600  # seconds for a file of questions or answers
# How a batch's state ends, whatever it begins with: JOB_STATE_ or BATCH_STATE_.
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
# google.rpc.Code, as a status of HTTP.
RPC = {
    1: 499,
    3: 400,
    4: 504,
    5: 404,
    6: 409,
    7: 403,
    8: 429,
    9: 400,
    10: 409,
    11: 400,
    12: 501,
    13: 500,
    14: 503,
    15: 500,
    16: 401,
}


class GoogleBatches:
    """Batches of generateContent, through the google-genai SDK."""

    limits = Limits(200_000, 10**9)  # the file may have 2 GB; nobody wants to download more than this at once
    window = datetime.timedelta(hours=48)

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._inline = INLINE
        self._provider = GoogleProvider(table, VERSION)
        self.clock: datetime.datetime | None = None

    async def send(self, intent: str, lines: Sequence[Line], about_to: Callable[[], object] = lambda: None) -> str:
        """Make a batch whose display name holds the intent."""
        client, name = self._provider.connected(), f"{MARK}{intent}"
        if sum(len(line.body) + len(line.id) + 60 for line in lines) <= self._inline:
            # The SDK would write each request again from its parts; what is sent is what it was about to send.
            requests = [{"request": json.loads(line.body), "metadata": {"key": line.id}} for line in lines]
            body = {"batch": {"inputConfig": {"requests": {"requests": requests}}}}
            config: dict[str, Any] = {"display_name": name, "http_options": {"extra_body": body}}
            source: Any = [{"contents": "in extra_body"}]
        else:
            config, source = {"display_name": name}, await self._uploaded(name, lines)
        about_to()
        call = client.aio.batches.create(model=self._model, src=source, config=config)  # type: ignore[arg-type]
        return await made(exchange(call, self._table.base_url), self._model, _refuses, "name")

    async def _uploaded(self, name: str, lines: Sequence[Line]) -> str:
        content = b"".join(b'{"key":"%s","request":%s}\n' % (line.id.encode(), one_line(line.body)) for line in lines)

        async def uploaded() -> Any:
            config: Any = {
                "mime_type": "application/jsonl",
                "display_name": name,
                "http_options": {"timeout": 1000 * TRANSFER},
            }
            call = self._provider.connected().aio.files.upload(file=io.BytesIO(content), config=config)
            return good(await exchange(call, self._table.base_url), self._model)

        try:
            file = text_or_none(as_table((await patiently(uploaded)).get("file")).get("name"))
        except (RetryableError, FatalJudgeError) as error:
            raise NotSentError(f"the questions could not be uploaded: {error}") from None
        if file is None:
            raise NotSentError("the server gave the uploaded questions no name")
        return file

    async def find(
        self, intent: str, since: datetime.datetime, _ids: frozenset[str], _taken: frozenset[str]
    ) -> str | None:
        """Return the batch whose display name holds the intent, among those made since then."""
        async for batches in pages(self._page):
            for batch in batches:
                if as_table(batch.get("metadata")).get("displayName") == f"{MARK}{intent}":
                    return named(batch, "name")
            if older([as_table(batch.get("metadata")).get("createTime") for batch in batches], since):
                break
        return None

    async def _page(self, after: str | None) -> Page:
        config: Any = {"page_size": 100, **({"page_token": after} if after else {})}
        call = self._provider.connected().aio.batches.list(config=config)
        wire = await exchange(call, self._table.base_url)
        self.clock, page = clock_of(wire), good(wire, self._model)
        # What is empty is left out; a page that lists something else lists no batches.
        return rows_in({"operations": []} | page, "operations"), text_or_none(page.get("nextPageToken"))

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        call = self._provider.connected().aio.batches.get(name=batch)
        found = good(await exchange(call, self._table.base_url), self._model)
        about = as_table(found.get("metadata"))
        word = str(about.get("state") or "").rpartition("STATE_")[2] or "PENDING"
        stats = as_table(about.get("batchStats"))
        told = [
            int(stats[name])
            for name in ("successfulRequestCount", "failedRequestCount")
            if str(stats.get(name, "")).isdecimal()
        ]
        said = str(as_table(found.get("error")).get("message") or "")[:200]
        return State(word in ENDED, word.lower(), sum(told) if told else None, said, found)

    async def fetch(self, batch: str, state: State) -> Results:
        """Return the answers, in the batch itself or in a file of its own."""
        found = state.raw
        output = {**as_table(as_table(found.get("metadata")).get("output")), **as_table(found.get("response"))}
        inlined = as_table(output.get("inlinedResponses")).get("inlinedResponses") or ()
        rows, whole = [each for each in inlined if isinstance(each, dict)], True
        if file := text_or_none(output.get("responsesFile")):
            rows, whole = await self._content(file)
        results = Results(whole=whole)
        for row in rows:
            _add(results, row, self._model, batch)
        return results

    async def _content(self, file: str) -> tuple[list[dict[str, Any]], bool]:
        config: Any = {"http_options": {"timeout": 1000 * TRANSFER}}
        call = self._provider.connected().aio.files.download(file=file, config=config)
        return lines_of(await exchange(call, self._table.base_url), self._model)

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()


def _add(results: Results, row: dict[str, Any], model: str, batch: str) -> None:
    """Add what came for a question: in a file under its key, in the batch itself with its metadata."""
    name = row.get("key") or as_table(row.get("metadata")).get("key")
    if not isinstance(name, str):
        results.nameless += 1
        return
    if isinstance(row.get("response"), dict):
        results.add(name, 200, row["response"], model, batch)
        return
    error = as_table(row.get("error"))
    code = status_of(error.get("code"))
    status = RPC.get(code, code) if code is not None else 500
    if error and 400 <= status <= 599:
        results.add(name, status, {"error": {**error, "code": status}}, model, batch)
    else:
        results.fail(name, str(error.get("message") or "")[:200] or results.strange(row))


def _refuses(body: Mapping[str, Any]) -> bool:
    """Tell whether a body is an error as Google's APIs tell it."""
    error = as_table(body.get("error"))
    return status_of(error.get("code")) is not None and isinstance(error.get("status"), str)
