"""Azure OpenAI, through the openai SDK's client for Azure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.providers import FatalJudgeError, ProviderResponse, ProviderSpec

from .error_classification import ADDRESS_REMEDY, UNKNOWN_MODEL
from .judge_table import JudgeTable
from .messages import MESSAGES
from .openai import OpenAIProvider

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI


class AzureProvider(OpenAIProvider):
    """Provider through an Azure deployment, whose name keys the recordings."""

    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:
        """Return the answer to one prompt."""
        call.address = f"https://azure/deployments/{deployment_name(self.table)}/chat/completions"
        try:
            return await super().complete(prompt, call)
        except FatalJudgeError as error:
            if (remedy := self._remedy(str(error))) is None:
                raise
            raise FatalJudgeError(remedy) from None

    def _remedy(self, message: str) -> str | None:
        server_message, _, remedy = message.partition(" -- ")
        table = "of the judge's connection table"
        if re.search(r"api[- ]version", server_message, re.IGNORECASE):
            return f"{server_message} -- check api_version {table}."
        if remedy.startswith(UNKNOWN_MODEL):
            return MESSAGES.no_deployment(server_message, deployment_name(self.table), table)
        if remedy == ADDRESS_REMEDY:
            return MESSAGES.nothing_at_address(server_message, table)
        return None

    def make_client(self, key: str, http: httpx2.AsyncClient) -> AsyncOpenAI:
        """Return the SDK's client."""
        from openai import AsyncAzureOpenAI, Omit

        connection = self.table.connection
        assert connection is not None  # the table was checked
        headers: dict[str, Any] = {"Authorization": Omit()}  # older versions send the key there, too
        return AsyncAzureOpenAI(
            api_key=key,
            max_retries=0,
            http_client=http,
            azure_endpoint=str(connection.endpoint),
            azure_deployment=deployment_name(self.table),
            api_version=connection.api_version,
            default_headers=headers,
        )


HOSTS = (".azure.com", ".azure.us", ".azure.cn", ".azure-api.net")


def deployment_name(table: JudgeTable) -> str | None:
    """Return the deployment's name, by default the model's."""
    return (table.connection.deployment if table.connection is not None else None) or table.model


def _is_azures(table: JudgeTable) -> bool:
    parts = urlsplit(table.address or "")
    return parts.scheme == "https" and (parts.hostname or "").endswith(HOSTS)


def _check(table: JudgeTable) -> None:
    if table.base_url is not None:
        raise ValueError("provider 'azure' does not support base_url: set connection.endpoint")
    for key in ("endpoint", "api_version"):
        if table.connection is None or getattr(table.connection, key) is None:
            raise ValueError(f"provider 'azure' needs {key} in the judge's connection table")
    if "/openai" in urlsplit(table.address or "").path:
        raise ValueError(MESSAGES.endpoint_too_long())


def _named(table: JudgeTable) -> dict[str, Any]:
    deployment = deployment_name(table)
    return {} if deployment == table.model else {"deployment": deployment}


RECORD = ProviderSpec(
    answers=AzureProvider,
    key="AZURE_OPENAI_API_KEY",
    thinking=("reasoning_effort",),
    tiers=("auto", "default", "flex", "priority"),
    connection=("endpoint", "deployment", "api_version"),
    suspects=("logprobs", "response_format"),
    is_trusted=_is_azures,
    check=_check,
    identity=_named,
)
