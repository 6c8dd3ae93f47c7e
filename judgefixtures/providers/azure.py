"""Azure OpenAI: OpenAI's models in an account of Microsoft's, through the openai SDK's client for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.replay import find_at
from judgefixtures.config import JudgeTable
from judgefixtures.providers import Answer, FatalJudgeError
from judgefixtures.providers.openai import OpenAIProvider
from judgefixtures.providers.wire import ADDRESS_REMEDY, UNKNOWN_MODEL

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class AzureProvider(OpenAIProvider):
    """Answers prompts through a deployment: the same wire format, another address and another header for the key.

    Recordings are found by the deployment's name alone: the resource and the API's version are no part of them.
    """

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(table)
        self._found_at = f"https://azure/deployments/{table.deployment}/chat/completions"

    async def complete(self, prompt: str) -> Answer:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError."""
        find_at(self._found_at)
        try:
            return await super().complete(prompt)
        except FatalJudgeError as error:
            if (remedy := self._remedy(str(error))) is None:
                raise
            raise FatalJudgeError(remedy) from None

    def _remedy(self, message: str) -> str | None:
        """Return what an error says with the keys of Azure's table in place of others'; None where it needs none."""
        said, _, remedy = message.partition(" -- ")
        table = "of the judge's connection table"
        if re.search(r"api[- ]version", said, re.IGNORECASE):
            return f"{said} -- check api_version {table}."
        if remedy.startswith(UNKNOWN_MODEL):
            return (
                f"{said} -- the deployment asked for is {self._table.deployment!r}: check deployment (without it, "
                f"model) and endpoint {table}."
            )
        if remedy == ADDRESS_REMEDY:
            return f"{said} -- there is nothing at this address: check endpoint, deployment and api_version {table}."
        return None

    def _made(self, **options: Any) -> AsyncOpenAI:
        from openai import AsyncAzureOpenAI

        connection = self._table.connection
        assert connection is not None  # the table was checked
        return AsyncAzureOpenAI(
            azure_endpoint=str(connection.endpoint),
            azure_deployment=self._table.deployment,
            api_version=connection.api_version,
            **options,
        )
