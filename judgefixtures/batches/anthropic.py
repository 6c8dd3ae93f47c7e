"""Anthropic's message batches: questions in the request itself, answers as lines behind an address of their own.

Such a batch can be given no name. After a kill the one that was made is told by what it answers.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgefixtures.batches import (
    Limits,
    Line,
    NotSentError,
    Results,
    State,
    UncertainError,
    good,
    lines_of,
    moment,
)
from judgefixtures.config import JudgeTable
from judgefixtures.providers import PLACEHOLDER_KEY, FatalJudgeError, RetryableError, api_key
from judgefixtures.providers.wire import as_table, exchange, http_client, text_or_none, tokens, without_switches

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

DEFAULT_BASE_URL = "https://api.anthropic.com"
TRANSFER = 600.0
SKEW = datetime.timedelta(minutes=5)
# Kinds of errors, as a status of HTTP.
STATUS = {"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
          "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
          "timeout_error": 504, "overloaded_error": 529}  # fmt: skip


class AnthropicBatches:
    """Batches of messages, through the anthropic SDK."""

    limits = Limits(100_000, 256 * 10**6)

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._client: AsyncAnthropic | None = None

    async def send(self, _intent: str, lines: Sequence[Line]) -> str:
        """Make a batch; it can be given no name."""
        # In extra_body, because that is sent as it is: exactly what the SDK was about to send.
        requests = [{"custom_id": line.id, "params": json.loads(line.body)} for line in lines]
        call = self._connected().messages.batches.with_raw_response.create(
            requests=[], extra_body={"requests": requests}, timeout=TRANSFER
        )
        wire = await exchange(call, self._table.base_url)
        if 400 <= wire.status < 500:
            try:
                good(wire, self._model)
            except (RetryableError, FatalJudgeError) as error:
                raise NotSentError(str(error)) from None
        return _id(good(wire, self._model))

    async def find(
        self, _intent: str, since: datetime.datetime, ids: frozenset[str], taken: frozenset[str]
    ) -> str | None:
        """Return the batch that answers these questions, among those made since then and of their number."""
        running, after = False, None
        while True:
            more: dict[str, Any] = {"after_id": after} if after else {}
            call = self._connected().messages.batches.with_raw_response.list(limit=100, **more)
            page = good(await exchange(call, self._table.base_url), self._model)
            batches = [each for each in page.get("data") or () if isinstance(each, dict)]
            for batch in batches:
                made = moment(batch.get("created_at"))
                if made is None or made < since - SKEW or _total(batch) != len(ids):
                    continue
                if _id(batch) in taken:  # whose it is, is known: it is neither waited for nor downloaded
                    continue
                state = _state(batch)
                if not state.ended:
                    running = True
                    continue
                results = await self.fetch(_id(batch), state)
                if ids & (results.answers.keys() | results.failed.keys()):
                    return _id(batch)
            times = [moment(batch.get("created_at")) for batch in batches]
            old = all(made is not None and made < since - SKEW for made in times)
            if not page.get("has_more") or not batches or old:
                break
            after = _id(batches[-1])
        if running:
            raise UncertainError
        return None

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        call = self._connected().messages.batches.with_raw_response.retrieve(batch)
        return _state(good(await exchange(call, self._table.base_url), self._model))

    async def fetch(self, batch: str, _state: State, /) -> Results:
        """Return the lines of answers."""
        # `results` would ask where the answers are, and that was told.
        call = self._connected().get(
            f"/v1/messages/batches/{batch}/results", cast_to=object, options={"timeout": TRANSFER}
        )
        rows, whole = lines_of(await exchange(call, self._table.base_url), self._model)
        results = Results(whole=whole)
        for row in rows:
            _add(results, row, self._model, batch)
        return results

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> AsyncAnthropic:
        if self._client is None:
            from anthropic import AsyncAnthropic

            with without_switches():
                self._client = AsyncAnthropic(
                    api_key=api_key(self._table) or PLACEHOLDER_KEY,
                    base_url=self._table.base_url or DEFAULT_BASE_URL,
                    max_retries=0,
                    timeout=self._table.timeout,
                    http_client=http_client(self._table.base_url, self._table.timeout),
                )
        return self._client


def _state(batch: dict[str, Any]) -> State:
    word = str(batch.get("processing_status"))
    return State(word == "ended", word, _total(batch), "", batch)


def _total(batch: dict[str, Any]) -> int:
    return sum(tokens(count) or 0 for count in as_table(batch.get("request_counts")).values())


def _id(batch: dict[str, Any]) -> str:
    if (name := text_or_none(batch.get("id"))) is None:
        raise RetryableError("a batch without an id")
    return name


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
        results.add(name, STATUS.get(kind, 500), error, model, batch)
    else:
        results.fail(name, str(result.get("type") or "no result")[:200])
