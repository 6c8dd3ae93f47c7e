"""Azure OpenAI: OpenAI's models in an account of Microsoft's, through the openai SDK's client for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.replay import find_at
from judgefixtures.config import JudgeTable
from judgefixtures.providers import Answer
from judgefixtures.providers.openai import OpenAIProvider

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
        return await super().complete(prompt)

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
