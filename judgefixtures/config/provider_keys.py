"""What each provider takes of a judge's table, and what it refuses: the keys, and the messages about them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from judgefixtures.config.shapes import UNSET
from judgefixtures.words.errors import choices

if TYPE_CHECKING:
    from judgefixtures.config.judge_table import JudgeTable


THINKING_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
# The tiers that providers document; servers of one's own (base_url) have their own names for theirs.
SERVICE_TIERS = {
    "openai": ("auto", "default", "flex", "priority", "fast", "scale"),
    "azure": ("auto", "default", "flex", "priority"),
    "google": ("standard", "flex", "priority"),
    "anthropic": ("auto", "standard_only"),
}
FLEX = "flex"  # half the price, for whoever can wait
FLEX_TIMEOUT = 900.0  # seconds for an attempt, as OpenAI advises for its flex tier
# Who is asked over an API, who tells token probabilities, and who takes which key about thinking.
ASKED = ("openai", "azure", "google", "anthropic")
TELLING = ("openai", "azure", "google")
THINKERS = {
    "reasoning_effort": ("openai", "azure", "anthropic"),
    "thinking_level": ("google",),
    "thinking_budget": ("google", "anthropic"),
}
CONNECTIONS = {"azure": ("endpoint", "deployment", "api_version"), "google": ("project", "location")}
LEAST_THOUGHT = 1024  # tokens, by Anthropic's API
AZURES = (".azure.com", ".azure.us", ".azure.cn", ".azure-api.net")
IMPORTED_KEYS = {"provider", "ties"}
ASKING = ("plan-self", "plan-combined")
PLAN_KEYS = ("plan_temperature", "plan_max_output_tokens", "plan_sees_responses")


def plan_keys(strategy: object, provider: object) -> tuple[str, ...]:
    """Return the plan_* keys that change anything for a strategy and a provider."""
    if strategy not in ASKING:
        return ()
    return PLAN_KEYS if provider != "python" else ("plan_sees_responses",)


def is_azures(address: str) -> bool:
    """Tell whether an address is one of Azure's own hosts, for which its key is meant."""
    parts = urlsplit(address)
    return parts.scheme == "https" and (parts.hostname or "").endswith(AZURES)


def _is_googles(address: str) -> bool:
    """Tell whether Google's credentials may go to an address: one of Google's own, or this machine."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return (parts.scheme == "https" and host.endswith(".googleapis.com")) or host in ("127.0.0.1", "localhost", "::1")


def known_level(value: str) -> str:
    """Return a level of thinking; raises ValueError for one that there is not."""
    if value.upper() not in THINKING_LEVELS:
        raise ValueError(choices(value.upper(), THINKING_LEVELS))
    return value


def check_tier(table: JudgeTable) -> None:
    """Raise ValueError for a tier that the provider does not document."""
    if table.service_tier is None or table.provider == "imported":
        return
    if table.provider == "python":
        raise ValueError("service_tier means nothing with provider 'python': your function sends its own")
    tiers = SERVICE_TIERS.get(table.provider)
    if table.base_url is None and tiers is not None and table.service_tier not in tiers:
        raise ValueError(f"service_tier: {choices(table.service_tier, tiers)}")
    return


def check_connection(table: JudgeTable) -> None:
    """Check the connection: Azure needs one, Vertex is one of Google, and nobody else has any."""
    connection = table.connection
    if table.provider == "azure":
        if table.base_url is not None:
            raise ValueError("provider 'azure' takes no base_url: its address is connection.endpoint")
        for key in ("endpoint", "api_version"):
            if connection is None or getattr(connection, key) is None:
                raise ValueError(f"provider 'azure' needs {key} in the judge's connection table")
        if connection is not None and "/openai" in urlsplit(connection.endpoint or "").path:
            raise ValueError(
                "connection.endpoint is the resource's address alone: leave out /openai and what "
                "follows it, which the SDK puts behind it"
            )
    if connection is None:
        return
    meant = CONNECTIONS.get(table.provider)
    if meant is None:
        raise ValueError(f"connection is a key of providers 'azure' and 'google', not of {table.provider!r}")
    for key in connection.model_fields_set - set(meant):
        raise ValueError(
            f"connection.{key} means nothing with provider {table.provider!r}, which takes {' and '.join(meant)}"
        )
    if table.provider == "google":
        if connection.project is None or connection.location is None:
            raise ValueError("the connection of provider 'google' is one to Vertex AI: it needs project and location")
        if table.api_key_env is not None:
            raise ValueError(
                "Vertex AI takes no API key: leave out api_key_env; credentials are looked for as "
                "every program of Google's does (application default credentials)"
            )
        if table.base_url is not None and not _is_googles(table.base_url):
            raise ValueError(
                "the credentials for Vertex AI go to Google (https://...googleapis.com) or to this "
                "machine alone: correct base_url, or leave it out"
            )
    return


def check_claude(table: JudgeTable) -> None:
    """Check what Anthropic's API takes, and what it demands where the model is to think."""
    if table.response_format == "tool" and table.provider != "anthropic":
        raise ValueError("response_format 'tool' is one of provider 'anthropic'")
    if table.provider != "anthropic":
        return
    if table.response_format == "json_object":
        raise ValueError(
            "response_format 'json_object' is none of provider 'anthropic': it takes 'json_schema', "
            "'tool' (a forced tool call, for models before structured outputs) or 'none'"
        )
    if table.logprobs:
        raise ValueError("logprobs: Anthropic's API gives no token probabilities")
    if table.seed:
        raise ValueError('seed: Anthropic\'s API takes none; leave it out, or set "unset"')
    temperatures = {"temperature": table.temperature, "plan_temperature": table.plan_temperature}
    for key, temperature in temperatures.items():
        if temperature is not None and temperature > 1:
            raise ValueError(f"{key}: Anthropic's API takes 0 to 1")
        asked = key == "temperature" or table.asks_for_plans
        if table.thinking_budget and asked and temperature not in (None, 1):
            raise ValueError(
                f'{key}: a model of Anthropic\'s takes none while it thinks; leave it out, or set "{UNSET}"'
            )
    budget = table.thinking_budget or 0
    if 0 < budget < LEAST_THOUGHT:
        raise ValueError(
            f"thinking_budget: Anthropic's API takes {LEAST_THOUGHT} or more, 0 for none, or -1 for "
            "as much as the model wants"
        )
    limits = {"max_output_tokens": table.max_output_tokens}
    if table.asks_for_plans:
        limits["plan_max_output_tokens"] = table.plan_max_output_tokens
    for key, limit in limits.items():
        if budget >= limit:
            raise ValueError(
                f"{key} = {limit} leaves no room after thinking_budget = {budget}: thinking counts as "
                f"output. Set it to {budget + 512} or more, or leave it out"
            )
    if budget and table.response_format == "tool":
        raise ValueError(
            "response_format 'tool' forces a tool call, which Anthropic's API refuses while the model "
            "thinks: use 'json_schema' or 'none', or no thinking_budget"
        )
    return
