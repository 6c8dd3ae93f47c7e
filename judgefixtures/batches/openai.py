"""OpenAI's batches: a file of questions, a batch of the file, and a file of answers, one of errors, or both."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

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
from judgefixtures.providers.openai import OpenAIProvider
from judgefixtures.providers.wire import as_table, exchange, text_or_none, tokens

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MARK = "judgefixtures"  # the key of a batch's metadata under which its intent stands
# Any other word is of a batch that may still answer: none that is new is taken for an end.
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
TRANSFER = 600.0  # seconds for a file of questions or answers
WINDOW: Literal["24h"] = "24h"


class OpenAIBatches:
    """Batches of chat completions, through the openai SDK."""

    limits = Limits(50_000, 200 * 10**6)
    window = datetime.timedelta(hours=24)  # as it is asked for

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._provider = OpenAIProvider(table)
        self.clock: datetime.datetime | None = None

    async def send(self, intent: str, lines: Sequence[Line], about_to: Callable[[], object] = lambda: None) -> str:
        """Upload the questions, and make a batch of the file whose metadata names the intent."""
        content = b"".join(_line(line) for line in lines)
        client = self._provider.connected()

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
        about_to()
        call = client.batches.with_raw_response.create(
            input_file_id=file, endpoint=ENDPOINT, completion_window=WINDOW, metadata={MARK: intent}
        )
        return await made(exchange(call, self._table.base_url), self._model, _refuses)

    async def find(
        self, intent: str, since: datetime.datetime, _ids: frozenset[str], _taken: frozenset[str]
    ) -> str | None:
        """Return the batch whose metadata names the intent, among those made since then."""
        async for batches in pages(self._page):
            for batch in batches:
                if as_table(batch.get("metadata")).get(MARK) == intent:
                    return named(batch)
            if older([batch.get("created_at") for batch in batches], since):
                break
        return None

    async def _page(self, after: str | None) -> Page:
        more: dict[str, Any] = {"after": after} if after else {}
        call = self._provider.connected().batches.with_raw_response.list(limit=100, **more)
        wire = await exchange(call, self._table.base_url)
        self.clock, page = clock_of(wire), good(wire, self._model)
        batches = rows_in(page, "data")
        return batches, named(batches[-1]) if page.get("has_more") and batches else None

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        call = self._provider.connected().batches.with_raw_response.retrieve(batch)
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
        call = self._provider.connected().files.with_raw_response.content(file, timeout=TRANSFER)
        return lines_of(await exchange(call, self._table.base_url), self._model)

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()


def _line(line: Line) -> bytes:
    head = f'{{"custom_id":"{line.id}","method":"POST","url":"{ENDPOINT}","body":'
    return head.encode() + one_line(line.body) + b"}\n"


def _add(results: Results, row: dict[str, Any], model: str, batch: str) -> None:
    """Add a line of a file of answers or errors."""
    name, response = row.get("custom_id"), as_table(row.get("response"))
    if not isinstance(name, str):
        results.nameless += 1
        return
    status = status_of(response.get("status_code"))
    error = as_table(row.get("error"))
    if status is not None and isinstance(response.get("body"), dict):
        results.add(name, status, response["body"], model, batch)
    else:
        results.fail(name, str(error.get("message") or error.get("code") or "")[:200] or results.strange(row))


def _refuses(body: Mapping[str, Any]) -> bool:
    """Tell whether a body is an error as OpenAI's API tells it."""
    error = as_table(body.get("error"))
    return isinstance(error.get("message"), str) and not error.keys().isdisjoint(("type", "code", "param"))
