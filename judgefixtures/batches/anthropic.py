"""Anthropic's message batches: questions in the request itself, answers as lines behind an address of their own.

Such a batch can be given no name. After a kill the one that was made is told by what it answers.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgefixtures.batches import (
    SKEW,
    Limits,
    Line,
    Page,
    Results,
    State,
    UncertainError,
    clock_of,
    good,
    lines_of,
    made,
    moment,
    named,
    older,
    pages,
    rows_in,
)
from judgefixtures.config import JudgeTable
from judgefixtures.providers.anthropic import STATUS_OF, AnthropicProvider, version_of
from judgefixtures.providers.wire import as_table, exchange, tokens

TRANSFER = 600.0
NO_ANSWER = frozenset({"expired", "canceled"})  # results of questions that were not asked


class AnthropicBatches:
    """Batches of messages, through the anthropic SDK."""

    limits = Limits(100_000, 256 * 10**6)
    window = datetime.timedelta(hours=24)

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._provider = AnthropicProvider(table)
        self.clock: datetime.datetime | None = None

    async def send(self, _intent: str, lines: Sequence[Line], about_to: Callable[[], object] = lambda: None) -> str:
        """Make a batch; it can be given no name."""
        # In extra_body, because that is sent as it is: exactly what the SDK was about to send.
        requests = [{"custom_id": line.id, "params": json.loads(line.body)} for line in lines]
        headers = version_of(*(each["params"] for each in requests))
        about_to()
        call = self._provider.connected().messages.batches.with_raw_response.create(
            requests=[], extra_body={"requests": requests}, extra_headers=headers, timeout=TRANSFER
        )
        return await made(exchange(call, self._table.base_url), self._model, _refuses)

    async def find(
        self, _intent: str, since: datetime.datetime, ids: frozenset[str], taken: frozenset[str]
    ) -> str | None:
        """Return the batch that answers these questions, among those made since then and of their number."""
        running = False
        async for batches in pages(self._page):
            for batch in batches:
                at = moment(batch.get("created_at"))
                if (at is not None and at < since - SKEW) or _total(batch) != len(ids):
                    continue
                if named(batch) in taken:  # whose it is, is known: it is neither waited for nor downloaded
                    continue
                state = _state(batch)
                if not state.ended:
                    running = True
                    continue
                results = await self.fetch(named(batch), state)
                if ids & (results.answers.keys() | results.failed.keys()):
                    return named(batch)
                running = running or not results.whole
            if older([batch.get("created_at") for batch in batches], since):
                break
        if running:
            raise UncertainError
        return None

    async def _page(self, after: str | None) -> Page:
        more: dict[str, Any] = {"after_id": after} if after else {}
        call = self._provider.connected().messages.batches.with_raw_response.list(limit=100, **more)
        wire = await exchange(call, self._table.base_url)
        self.clock, page = clock_of(wire), good(wire, self._model)
        batches = rows_in(page, "data")
        return batches, named(batches[-1]) if page.get("has_more") and batches else None

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        call = self._provider.connected().messages.batches.with_raw_response.retrieve(batch)
        return _state(good(await exchange(call, self._table.base_url), self._model))

    async def fetch(self, batch: str, _state: State, /) -> Results:
        """Return the lines of answers."""
        # `results` would ask where the answers are, and that was told.
        call = self._provider.connected().get(
            f"/v1/messages/batches/{batch}/results", cast_to=object, options={"timeout": TRANSFER}
        )
        rows, whole = lines_of(await exchange(call, self._table.base_url), self._model)
        results = Results(whole=whole)
        for row in rows:
            _add(results, row, self._model, batch)
        return results

    async def close(self) -> None:
        """Close the connections."""
        await self._provider.close()


def _state(batch: dict[str, Any]) -> State:
    word = str(batch.get("processing_status"))
    return State(word == "ended", word, _total(batch), "", batch)


def _total(batch: dict[str, Any]) -> int:
    return sum(tokens(count) or 0 for count in as_table(batch.get("request_counts")).values())


def _add(results: Results, row: dict[str, Any], model: str, batch: str) -> None:
    """Add a line of the answers."""
    name, result = row.get("custom_id"), as_table(row.get("result"))
    if not isinstance(name, str):
        results.nameless += 1
        return
    if result.get("type") == "succeeded" and isinstance(result.get("message"), dict):
        results.add(name, 200, result["message"], model, batch)
    elif result.get("type") == "errored":
        error = as_table(result.get("error"))
        kind = str(as_table(error.get("error")).get("type"))
        results.add(name, STATUS_OF.get(kind, 500), error, model, batch)
    elif result.get("type") in NO_ANSWER:
        results.fail(name, str(result["type"]))
    else:
        results.fail(name, results.strange(row))


def _refuses(body: Mapping[str, Any]) -> bool:
    """Tell whether a body is an error as Anthropic's API tells it."""
    return body.get("type") == "error" and isinstance(as_table(body.get("error")).get("type"), str)
