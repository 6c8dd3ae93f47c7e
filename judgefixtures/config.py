"""The configuration: tables of judges, datasets, gates and cues, read with tomllib, checked by pydantic.

Nothing is guessed: an unknown key or a wrong value is an error that names file, table, key and what is
accepted. The built-in tables of builtin.toml are there unless a table of the user's has the same name.
"""

from __future__ import annotations

import datetime
import difflib
import itertools
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SkipValidation,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from judgefixtures.material.contrasts import OTHER_FAMILIES
from judgefixtures.material.cues import BY_NAME, FAMILIES, LONGEST_NAME, NAME, Families, OwnFamily
from judgefixtures.material.kinds import ALONE
from judgefixtures.reading.stance import as_read
from judgefixtures.sources.described import Source
from judgefixtures.sources.mapping import COLUMNS
from judgefixtures.sources.sample import check
from judgefixtures.words.errors import JudgeFixturesError, choices, heading
from judgefixtures.words.secrets import masked

BUILTIN = Path(__file__).with_name("builtin.toml")

# `datasets = [...]` selects and [datasets.NAME] defines: TOML forbids both in one file, people write both.
SELECTION = re.compile(r'^([ \t]*)(?:datasets|"datasets")(?=\s*=\s*\[)', re.MULTILINE)

SINGULAR = re.compile(r"^[ \t]*\[(?:.*\.)?judge\.", re.MULTILINE)  # beside `judge = "..."` TOML has no such table

TABLE = ("tool", "judgefixtures")  # where our tables stand in a pyproject.toml

# What people write for a table that has another name.
LIKELY = MappingProxyType(
    {
        "judge": "judges",
        "dataset": "datasets",
        "gates": "gate",
        "cue": "cues",
        "swaps": "swap",
        "waiver": "waivers",
        "detectors": "detector",
        "controls": "control",
    }
)
ALIKE = 0.88  # of two names: one letter more, less or another, or two exchanged

UNSET = "unset"  # a parameter that is not sent: the model's own default is asked for


def _or_unset(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    if value == UNSET:
        return None
    try:
        return handler(value)
    except ValidationError as invalid:
        raise ValueError(f'{invalid.errors()[0]["msg"]}, or "{UNSET}", which does not send it') from None


def _ends(value: object) -> object:
    ends = value if isinstance(value, list | tuple) else ()
    numbers = [each for each in ends if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(ends) != 2 or len(numbers) != 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise ValueError("it is the lowest and the highest score, as in [1, 10]")
    return tuple(numbers)


def _thinking_level(value: str) -> str:
    if value.upper() not in THINKING_LEVELS:
        raise ValueError(choices(value.upper(), THINKING_LEVELS))
    return value


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        if parts.hostname and (parts.port is None or parts.port > 0):
            return value
        why = "it has no host" if not parts.hostname else "its port is 0"
    except ValueError as error:
        why = str(error)
    raise ValueError(f"it is no address of a server: {why}")


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
Temperature = Annotated[float | None, Field(ge=0, le=2), WrapValidator(_or_unset)]
Share = Annotated[float, Field(gt=0, lt=1)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), AfterValidator(_address)]
Table = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Price(_Table):
    """What a judge costs, in USD per million tokens; overrides the price table."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0)


class ConnectionTable(_Table):
    """A [judges.NAME.connection] table: through which account of a cloud a model is reached; no part of the identity.

    The name of Azure's deployment is the exception, where it is another one than the model's: it decides who answers.
    """

    endpoint: Address | None = None
    deployment: str | None = Field(None, pattern=r"^[^\s/?#%]+$")
    api_version: str | None = Field(None, pattern=r"^[\w.-]+$")
    project: str | None = Field(None, pattern=r"^[\w.:-]+$")
    location: str | None = Field(None, pattern=r"^[a-z0-9-]+$")


class JudgeTable(_Table):
    """A [judges.NAME] table: provider, model, parameters, template, strategy, and how to reach it."""

    provider: Literal["openai", "azure", "google", "anthropic", "python", "imported"]
    model: str | None = Field(None, min_length=1)
    target: str | None = Field(None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
    base_url: Address | None = None
    connection: ConnectionTable | None = None
    api_key_env: str | None = Field(None, min_length=1)
    timeout: float = Field(60.0, gt=0, allow_inf_nan=False)
    max_attempts: int = Field(6, ge=1)
    requests_per_minute: float | None = Field(None, gt=0)
    accept_served_model: str | None = Field(None, min_length=1)
    temperature: Temperature = 0.0  # None: unset
    seed: Annotated[int | None, WrapValidator(_or_unset)] = 0
    reasoning_effort: str | None = Field(None, min_length=1)
    thinking_level: Annotated[str, AfterValidator(_thinking_level)] | None = None
    thinking_budget: int | None = Field(None, ge=-1)
    service_tier: str | None = Field(None, min_length=1)
    max_output_tokens: int = Field(512, ge=1)
    response_format: Literal["json_schema", "json_object", "tool", "none"] = "json_schema"
    logprobs: bool = False
    top_logprobs: int = Field(20, ge=1, le=20)
    mode: Literal["pairwise", "pointwise"] = "pairwise"
    scale: Annotated[tuple[int | float, int | float], BeforeValidator(_ends)] = (1, 10)
    ties: Literal["half", "invalid"] | None = None  # None: as the mode has it
    template: str = ""
    templates: dict[str, Annotated[str, Field(min_length=1)]] | None = Field(None, min_length=1)
    system_prompt: str | None = Field(None, min_length=1)
    cue_placement: Literal["after", "before"] = "after"
    cue_after: str | None = Field(None, min_length=1)
    verdict: Literal["json", "brackets"] = "json"
    strategy: Literal["direct", "plan-heuristic", "plan-self", "plan-combined"] = "direct"
    plan_temperature: Temperature = 0.7
    plan_max_output_tokens: int = Field(1024, ge=1)
    plan_sees_responses: bool = False
    drop_unsupported: bool = False
    allow_programs: bool = False
    price: Price | None = None
    _system_text: str = PrivateAttr("")
    _heading: str = PrivateAttr("[judges.NAME]")

    @model_validator(mode="before")
    @classmethod
    def _room_to_think(cls, written: Any) -> Any:
        """Make room for what Claude is told to think, where the table does not say otherwise.

        Its API counts thinking as output, and takes no temperature beside it.
        """
        if not isinstance(written, dict) or written.get("provider") != "anthropic":
            return written
        budget = written.get("thinking_budget")
        if type(budget) is not int or budget == 0:
            return written
        made = {"temperature": UNSET}
        if budget > 0:
            made["max_output_tokens"] = budget + cls.model_fields["max_output_tokens"].default
        if written.get("strategy") in ASKING:
            made["plan_temperature"] = UNSET
            if budget > 0:
                made["plan_max_output_tokens"] = budget + cls.model_fields["plan_max_output_tokens"].default
        return {**made, **written}

    @model_validator(mode="before")
    @classmethod
    def _waits_for_flex(cls, table: Any) -> Any:
        """Return a table with the time that a flex tier takes, unless it names another."""
        waits = isinstance(table, dict) and table.get("service_tier") == FLEX and "timeout" not in table
        return {**table, "timeout": FLEX_TIMEOUT} if waits else table

    @model_validator(mode="after")
    def _which_tier(self) -> Self:
        if self.service_tier is None or self.provider == "imported":
            return self
        if self.provider == "python":
            raise ValueError("service_tier means nothing with provider 'python': your function sends its own")
        tiers = SERVICE_TIERS.get(self.provider)
        if self.base_url is None and tiers is not None and self.service_tier not in tiers:
            raise ValueError(f"service_tier: {choices(self.service_tier, tiers)}")
        return self

    @model_validator(mode="after")
    def _who_answers(self) -> Self:
        if self.provider == "imported":
            if others := sorted(self.model_fields_set - IMPORTED_KEYS):
                raise ValueError(
                    f"{others[0]} means nothing with provider 'imported': its answers are those of a log, "
                    "and nothing is asked. It takes ties and no other key"
                )
            return self
        wanted, other = ("target", "model") if self.provider == "python" else ("model", "target")
        if getattr(self, wanted) is None or getattr(self, other) is not None:
            raise ValueError(f"provider {self.provider!r} takes {wanted} and no {other}")
        for key, providers in THINKERS.items():
            if getattr(self, key) is not None and self.provider not in providers:
                which = f"provider {providers[0]!r}" if len(providers) == 1 else f"providers {_listed(providers)}"
                raise ValueError(f"{key} is a key of {which}, not of {self.provider!r}")
        if self.system_prompt is not None and self.provider == "python":
            raise ValueError(f"system_prompt is a key of providers {_listed(ASKED)}: your function sends its own")
        if self.allow_programs and self.provider != "python":
            raise ValueError("allow_programs is a key of provider 'python': no other judge starts a program")
        if self.cue_after is not None and self.cue_placement == "before":
            raise ValueError('cue_after and cue_placement = "before" say different things: keep one of the two')
        return self

    @model_validator(mode="after")
    def _what_is_said(self) -> Self:
        if self.mode == "pointwise" and self.logprobs:
            raise ValueError(
                'logprobs are those of a choice between two responses: leave them out of mode = "pointwise"'
            )
        if self.mode == "pointwise" and self.strategy != "direct":
            raise ValueError('a plan compares two responses: mode = "pointwise" goes with strategy = "direct"')
        if self.mode == "pairwise" and "scale" in self.model_fields_set:
            raise ValueError('scale is a key of mode = "pointwise": a judge of pairs gives no scores')
        if "top_logprobs" in self.model_fields_set and not self.logprobs:
            raise ValueError("top_logprobs means nothing without logprobs = true")
        if "top_logprobs" in self.model_fields_set and self.provider == "python":
            raise ValueError(f"top_logprobs is a key of providers {_listed(TELLING)}: your function returns its own")
        return self

    @model_validator(mode="after")
    def _how_it_is_reached(self) -> Self:
        """Check the connection: Azure needs one, Vertex is one of Google, and nobody else has any."""
        connection = self.connection
        if self.provider == "azure":
            if self.base_url is not None:
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
            return self
        meant = CONNECTIONS.get(self.provider)
        if meant is None:
            raise ValueError(f"connection is a key of providers 'azure' and 'google', not of {self.provider!r}")
        for key in connection.model_fields_set - set(meant):
            raise ValueError(
                f"connection.{key} means nothing with provider {self.provider!r}, which takes {' and '.join(meant)}"
            )
        if self.provider == "google":
            if connection.project is None or connection.location is None:
                raise ValueError(
                    "the connection of provider 'google' is one to Vertex AI: it needs project and location"
                )
            if self.api_key_env is not None:
                raise ValueError(
                    "Vertex AI takes no API key: leave out api_key_env; credentials are looked for as "
                    "every program of Google's does (application default credentials)"
                )
            if self.base_url is not None and not _is_googles(self.base_url):
                raise ValueError(
                    "the credentials for Vertex AI go to Google (https://...googleapis.com) or to this "
                    "machine alone: correct base_url, or leave it out"
                )
        return self

    @model_validator(mode="after")
    def _what_claude_takes(self) -> Self:
        """Check what Anthropic's API takes, and what it demands where the model is to think."""
        if self.response_format == "tool" and self.provider != "anthropic":
            raise ValueError("response_format 'tool' is one of provider 'anthropic'")
        if self.provider != "anthropic":
            return self
        if self.response_format == "json_object":
            raise ValueError(
                "response_format 'json_object' is none of provider 'anthropic': it takes 'json_schema', "
                "'tool' (a forced tool call, for models before structured outputs) or 'none'"
            )
        if self.logprobs:
            raise ValueError("logprobs: Anthropic's API gives no token probabilities")
        if self.seed:
            raise ValueError('seed: Anthropic\'s API takes none; leave it out, or set "unset"')
        temperatures = {"temperature": self.temperature, "plan_temperature": self.plan_temperature}
        for key, temperature in temperatures.items():
            if temperature is not None and temperature > 1:
                raise ValueError(f"{key}: Anthropic's API takes 0 to 1")
            asked = key == "temperature" or self.asks_for_plans
            if self.thinking_budget and asked and temperature not in (None, 1):
                raise ValueError(
                    f'{key}: a model of Anthropic\'s takes none while it thinks; leave it out, or set "{UNSET}"'
                )
        budget = self.thinking_budget or 0
        if 0 < budget < LEAST_THOUGHT:
            raise ValueError(
                f"thinking_budget: Anthropic's API takes {LEAST_THOUGHT} or more, 0 for none, or -1 for "
                "as much as the model wants"
            )
        limits = {"max_output_tokens": self.max_output_tokens}
        if self.asks_for_plans:
            limits["plan_max_output_tokens"] = self.plan_max_output_tokens
        for key, limit in limits.items():
            if budget >= limit:
                raise ValueError(
                    f"{key} = {limit} leaves no room after thinking_budget = {budget}: thinking counts as "
                    f"output. Set it to {budget + 512} or more, or leave it out"
                )
        if budget and self.response_format == "tool":
            raise ValueError(
                "response_format 'tool' forces a tool call, which Anthropic's API refuses while the model "
                "thinks: use 'json_schema' or 'none', or no thinking_budget"
            )
        return self

    @property
    def counts_ties(self) -> bool:
        """Whether a tie is half an outcome, not an invalid verdict; by default for judges that score."""
        return (self.ties or ("half" if self.mode == "pointwise" else "invalid")) == "half"

    @model_validator(mode="after")
    def _what_plans(self) -> Self:
        meant = plan_keys(self.strategy, self.provider)
        for key in sorted(self.model_fields_set & set(PLAN_KEYS)):
            if key in meant:
                continue
            if not plan_keys(self.strategy, "openai"):
                asking = " or ".join(f'"{name}"' for name in ASKING)
                raise ValueError(f"{key} means nothing with strategy = {self.strategy!r}: remove it, or set {asking}")
            raise ValueError(f"{key} means nothing with provider {self.provider!r}: remove it, your function decides")
        return self

    @property
    def draws(self) -> bool:
        """Whether the judge's verdicts are drawn at a temperature, and no probabilities of them are asked for."""
        return self.mode == "pairwise" and not self.logprobs and (self.temperature is None or self.temperature > 0)

    @property
    def asks_for_plans(self) -> bool:
        """Whether the judge's model is asked to write plans: a call of its own for every pair."""
        return self.strategy in ASKING

    @property
    def system_text(self) -> str:
        """The text of the system prompt's file, once the judge is loaded; empty without one."""
        return self._system_text

    @property
    def heading(self) -> str:
        """The table's heading, as it is written in its file."""
        return self._heading

    def headed(self, heading: str) -> Self:
        """Return the table with its heading."""
        named = self.model_copy()
        named._heading = heading
        return named

    def saying(self, system_text: str) -> Self:
        """Return the table of a judge that is told this first."""
        table = self.model_copy()
        table._system_text = system_text
        return table

    @property
    def template_name(self) -> str:
        """The template's name or path: the answer form's own unless the table names one; it offers what counts."""
        if self.mode == "pointwise":
            return self.template or {"json": "pointwise", "brackets": "pointwise-brackets"}[self.verdict]
        own = {"json": "silent-judge", "brackets": "mt-bench"}[self.verdict]
        return self.template or (f"{own}-ties" if self.counts_ties else own)

    @property
    def key_variable(self) -> str | None:
        """The environment variable of the API key; None for a server of one's own that names none.

        A key is never sent to an address that it was not meant for: with base_url it has to be named.
        """
        if self.api_key_env or self.base_url or self.is_vertex:
            return self.api_key_env
        if self.provider == "azure":
            return "AZURE_OPENAI_API_KEY" if _is_azures(self.address or "") else None
        names = {"openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
        return names.get(self.provider)

    @property
    def address(self) -> str | None:
        """The address that the table names: base_url, or Azure's endpoint; None for the provider's own."""
        return self.base_url or (self.connection.endpoint if self.connection is not None else None)

    @property
    def is_vertex(self) -> bool:
        """Whether a model of Google's is asked through Vertex AI."""
        return self.provider == "google" and self.connection is not None

    @property
    def deployment(self) -> str | None:
        """The name of Azure's deployment, the model's own unless the connection says otherwise; None elsewhere."""
        if self.provider != "azure":
            return None
        return (self.connection.deployment if self.connection is not None else None) or self.model


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


def _listed(names: tuple[str, ...]) -> str:
    quoted = [repr(name) for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _is_azures(address: str) -> bool:
    """Tell whether an address is one of Azure's own hosts, for which its key is meant."""
    parts = urlsplit(address)
    return parts.scheme == "https" and (parts.hostname or "").endswith(AZURES)


def _is_googles(address: str) -> bool:
    """Tell whether Google's credentials may go to an address: one of Google's own, or this machine."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return (parts.scheme == "https" and host.endswith(".googleapis.com")) or host in ("127.0.0.1", "localhost", "::1")


IMPORTED_KEYS = {"provider", "ties"}
ASKING = ("plan-self", "plan-combined")
PLAN_KEYS = ("plan_temperature", "plan_max_output_tokens", "plan_sees_responses")


def plan_keys(strategy: object, provider: object) -> tuple[str, ...]:
    """Return the plan_* keys that change anything for a strategy and a provider."""
    if strategy not in ASKING:
        return ()
    return PLAN_KEYS if provider != "python" else ("plan_sees_responses",)


class DatasetTable(_Table):
    """A [datasets.NAME] table: where the pairs come from and how to read them."""

    path: str | None = Field(None, min_length=1)
    source: str | None = Field(None, min_length=1)
    content_type: str | None = Field(None, min_length=1)
    columns: dict[str, str] | None = None
    balance_positions: bool = True
    revision: str | None = Field(None, min_length=1)
    config: str | None = Field(None, min_length=1)
    split: str | None = Field(None, min_length=1)
    rows: str | None = Field(None, min_length=1)
    gold_values: dict[str, Annotated[int, Field(ge=0, le=2)]] | None = Field(None, min_length=1)
    min_ratio: float | None = Field(None, ge=1, allow_inf_nan=False)
    max_ratio: float | None = Field(None, ge=1, allow_inf_nan=False)
    max_margin: float | None = Field(None, ge=0, le=1)
    one_per_question: bool | None = None
    balance_length: bool = False
    closest: int | None = Field(None, ge=1)
    licence: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _whole_columns(self) -> Self:
        columns = set(self.columns or ())
        if unknown := sorted(columns - set(COLUMNS)):
            raise ValueError(f"columns: unknown field {unknown[0]!r}; {choices(unknown[0], COLUMNS)}")
        preference = columns & {"chosen", "rejected"}
        if preference and (columns & {"response_1", "response_2", "gold"} or self.gold_values):
            raise ValueError(
                "columns: chosen and rejected say which response is better: give no response_1, "
                "response_2, gold or gold_values beside them"
            )
        return self


class GateTable(_Table):
    """A [gate] or [gate.FAMILY] table: what is tolerated, and how sure the answer must be."""

    vsr_tolerance: Share = 0.15
    car_threshold: Share = 0.8
    max_silent: Share | None = None
    confidence: Share = 0.90
    max_invalid: float = Field(0.05, ge=0, lt=1)
    min_accuracy: Share | None = None
    attack_tolerance: Share = 0.05
    max_degenerate: Share = 0.05
    log_odds_tolerance: float | None = Field(None, gt=1, allow_inf_nan=False)  # a ratio of odds; None: not gated
    score_tolerance: Share = 0.05  # of the scale, for judges that score
    inconclusive: Literal["fail", "warn"] = "fail"

    @property
    def alpha(self) -> float:
        """The level of each one-sided test."""
        return (1 - self.confidence) / 2

    def tolerance(self, family: str) -> float:
        """What a contrast of this family is held to."""
        return self.attack_tolerance if family == "attack" else self.vsr_tolerance


# What is asked about where nobody selects datasets: close pairs, on which a cue can move a verdict, for whatever shows
# a judge the same pair twice; clear ones, whose better response is known, for all else.
CLOSE_DATASETS = ("house-close", "house-close-stories")
CLEAR_DATASETS = ("house-qa", "house-stories")

# A swap compares these, and nothing that a later version brings, unless [swap] families names others.
SWAP_FAMILIES = ("provenance", "recency")


class SwapTable(_Table):
    """The [swap] table: by how much a candidate may be worse than its baseline, and in which families."""

    accuracy_margin: Share = 0.05
    vsr_margin: Share = 0.10
    silent_margin: Share = 0.10
    flip_margin: Share = 0.10
    invalid_margin: Share = 0.05
    contrast_margin: float | Literal["plan"] = "plan"
    looks: list[int] = Field(default_factory=lambda: [100])
    families: list[str] = Field(default_factory=lambda: list(SWAP_FAMILIES))

    @field_validator("contrast_margin", mode="before")
    @classmethod
    def _planned_or_a_share(cls, value: object) -> object:
        share = isinstance(value, float) and 0 < value < 1
        if value != "plan" and not share:
            raise ValueError('it is "plan", the margin that so many pairs can carry, or a share between 0 and 1')
        return value

    @field_validator("looks")
    @classmethod
    def _increasing(cls, looks: list[int]) -> list[int]:
        if not looks or looks[0] < 1 or any(later <= earlier for earlier, later in itertools.pairwise(looks)):
            raise ValueError("looks are numbers of pairs per dataset, 1 or more, each larger than the one before")
        return looks


CONTROL_ALPHA = 0.05


class ControlTable(_Table):
    """The [control] table: the clear pairs on which a judge shows that it reads, before anything else is believed."""

    dataset: str | None = Field(None, min_length=1)
    pairs: int = Field(30, ge=1)
    threshold: Share = 0.5

    @property
    def fewest(self) -> int:
        """With how many pairs a judge that is right about all of them can pass: the exact bound is alpha ** (1 / n)."""
        return math.floor(math.log(CONTROL_ALPHA) / math.log(self.threshold)) + 1

    @model_validator(mode="after")
    def _can_pass(self) -> Self:
        if self.pairs < self.fewest:
            raise ValueError(
                f"pairs = {self.pairs} can never exceed threshold = {self.threshold:g}, not even if the "
                f"judge is right about all of them: at least {self.fewest} are needed"
            )
        return self


class CanaryTable(_Table):
    """The [canary] table: which recorded prompts are asked again every day, and how rare a false alarm is to be."""

    close_dataset: str = Field("house-close", min_length=1)
    close_pairs: int = Field(20, ge=0)
    clear_dataset: str = Field("house-qa", min_length=1)
    clear_pairs: int = Field(40, ge=0)
    answers: int = Field(1, ge=1)
    false_alarms: Share = 0.01

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.close_pairs + self.clear_pairs:
            raise ValueError("close_pairs and clear_pairs are both 0: nothing would be asked")
        return self

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The datasets that are asked about, each with how many pairs of it."""
        wanted: dict[str, int] = {}
        for dataset, pairs in ((self.close_dataset, self.close_pairs), (self.clear_dataset, self.clear_pairs)):
            wanted[dataset] = wanted.get(dataset, 0) + pairs
        return tuple((dataset, pairs) for dataset, pairs in wanted.items() if pairs)


class Waiver(_Table):
    """A [[waivers]] entry: a contrast whose gate somebody answers for, until a day."""

    contrast: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    expires: datetime.date


class SecurityTable(_Table):
    """The [security] table: what a configuration may do in CI beyond its own repository and provider."""

    api_key_envs: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    allow_outside: tuple[Annotated[str, Field(min_length=1)], ...] = ()

    @field_validator("api_key_envs", "allow_outside", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value  # TOML has lists alone


class _Terms(_Table):
    """A [cues.NAME.terms] table: by which words a reason may cite a label of the family."""

    terms: dict[str, list[Annotated[str, Field(pattern=r"\w")]]]


class DetectorTable(_Table):
    """The [detector] table: who, beside the offline detector, says what a reason makes of the cues."""

    judge: str | None = Field(None, min_length=1)  # a judge whose model is asked; None: nobody


class _Root(_Table):
    """The whole configuration as written; gate holds tables of families beside its own keys."""

    judge: str | None = None
    dataset: list[str] = Field(default_factory=list)
    pairs: int | None = Field(None, ge=1)
    seed: int = 0
    judges: dict[str, Table] = Field(default_factory=dict)
    datasets: dict[str, DatasetTable] = Field(default_factory=dict)
    gate: Table = Field(default_factory=dict)
    swap: SwapTable = SwapTable()
    control: ControlTable | None = ControlTable()  # None: switched off
    canary: CanaryTable = CanaryTable()
    waivers: list[Waiver] = Field(default_factory=list)
    security: SecurityTable = SecurityTable()
    detector: DetectorTable = DetectorTable()
    cues: dict[str, dict[str, str]] = Field(default_factory=dict)
    batch_parity: int = Field(20, ge=0)  # questions of a judge that --judge-batch asks at once as well; 0: none

    @field_validator("control", mode="before")
    @classmethod
    def _switched(cls, value: object) -> object:
        if value is False:
            return None
        if not isinstance(value, dict):
            raise ValueError("it is a table with dataset, pairs and threshold, or false, which leaves it out")
        return value


class Config(_Table):
    """The configuration in force, built-in tables included. Paths are absolute."""

    file: str
    judge: str | None
    dataset_names: tuple[str, ...]
    pairs: int | None
    seed: int
    judges: Mapping[str, JudgeTable]
    datasets: Mapping[str, DatasetTable]
    default_gate: GateTable
    family_gates: Mapping[str, GateTable]
    swap: SwapTable
    control: ControlTable | None
    waivers: tuple[Waiver, ...]
    cues: SkipValidation[Families]  # validated as it was read; a family's terms would be lost
    own_families: tuple[str, ...] = ()  # those that [cues.NAME] brings into a run and a swap
    security: SecurityTable = SecurityTable()
    detector: DetectorTable = DetectorTable()
    canary: CanaryTable = CanaryTable()
    batch_parity: int = 20
    folder: Path = Path()  # where the configuration stands
    within: tuple[str, ...] = ()  # the table that it is, as ("tool", "judgefixtures"); none in a file of its own

    def heading(self, *names: str) -> str:
        """Return the heading of a table of ours as it is written in this configuration's file."""
        return heading(self.within, *names)

    def judge_table(self, name: str) -> JudgeTable:
        """Return the table of a judge; raises JudgeFixturesError with the names there are."""
        if name not in self.judges:
            raise JudgeFixturesError(
                f"there is no judge {name!r}: {choices(name, self.judges)}. Judges are "
                f"{self.heading('judges', 'NAME')} tables of {self.file}."
            )
        return self.judges[name]

    def source(self, name: str) -> Source:
        """Return where the pairs of a dataset come from; raises JudgeFixturesError with the names there are."""
        if name not in self.datasets:
            raise JudgeFixturesError(
                f"there is no dataset {name!r}: {choices(name, self.datasets)}. Datasets are "
                f"{self.heading('datasets', 'NAME')} tables of {self.file}."
            )
        return _source(name, self.datasets[name], self.within)

    def datasets_of(self, family: str) -> tuple[str, ...]:
        """Return the datasets that a family is about: those selected, or the house sets that are made for it."""
        if self.dataset_names:
            return self.dataset_names
        return CLOSE_DATASETS if family in (*self.cues, "repeat", "four-cell") else CLEAR_DATASETS

    def check_judge_files(self, name: str) -> None:
        """Raise JudgeFixturesError where CI would read a judge's prompt from outside of the repository."""
        for key, path in _files_of(self.judge_table(name)):
            self._check_inside(Path(path), f"{self.heading('judges', name)} {key}")

    def check_dataset_files(self, name: str) -> None:
        """Raise JudgeFixturesError where CI would read pairs from outside of the repository."""
        if (path := self.source(name).path) is not None:
            self._check_inside(path, f"{self.heading('datasets', name)} path")

    def check_key(self, name: str) -> None:
        """Raise JudgeFixturesError where CI would send a judge's key to an address that nobody allowed it for.

        A branch can name any variable and any address: who answers for the repository lists the variables.
        """
        table = self.judges[name]
        variable = table.key_variable
        if not in_ci() or table.address is None or variable is None or variable in self.security.api_key_envs:
            return
        if not os.environ.get(variable, "").strip():
            return  # nothing is sent then: asking says that the key is missing
        raise JudgeFixturesError(
            f"{self.file}: {self.heading('judges', name)} sends the variable {variable} to {masked(table.address)}, "
            f"{'an endpoint' if table.base_url is None else 'a base_url'} of its own: recording in CI refuses that "
            f"unless it is allowed. If the address is right, list the variable: "
            f'api_key_envs = ["{variable}"] in {self.heading("security")}.'
        )

    def _check_inside(self, path: Path, where: str) -> None:
        """Raise JudgeFixturesError where CI would read a file that neither is the repository's nor allowed."""
        if not in_ci():
            return
        repository = _repository(self.folder.resolve())
        allowed = [repository, *((self.folder / each).resolve() for each in self.security.allow_outside)]
        links = [found for found in path.rglob("*") if found.is_symlink()] if path.is_dir() else []
        for file in (path, *links):
            if not any(file.resolve().is_relative_to(folder) for folder in allowed):
                named = os.path.relpath(file.resolve().parent, self.folder.resolve())
                raise JudgeFixturesError(
                    f"{self.file}: {where} = {str(file)!r} is outside of the repository {repository}: CI reads nothing "
                    "there unless it is allowed. Move the file into the repository, or list its folder: "
                    f'allow_outside = ["{named}"] in {self.heading("security")}.'
                )

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that may hold a key of a judge of this configuration."""
        own = {table.key_variable for table in self.judges.values() if table.key_variable is not None}
        return tuple(sorted(own | set(self.security.api_key_envs)))

    def gate(self, family: str) -> GateTable:
        """Return the gate of a family: [gate.FAMILY] where it is written, over [gate]."""
        return self.family_gates.get(family, self.default_gate)

    @property
    def decisive(self) -> dict[str, dict[str, Any]]:
        """Return what results depend on, by table and key as they are written: plain values, of whole tables all keys.

        Of [gate.FAMILY] it is what differs from [gate]. Where pairs come from is left out: what counts is which came.
        """
        default = self.default_gate.model_dump()
        found: dict[str, dict[str, Any]] = {
            "": {"seed": self.seed, "control": self.control is not None},
            "gate": default,
            "swap": self.swap.model_dump(),
            "control": {} if self.control is None else self.control.model_dump(),
            "detector": self.detector.model_dump(),
            "waivers": {each.contrast: each.model_dump(mode="json") for each in reversed(self.waivers)},
            "cues": {},
        }
        for name, gate in self.family_gates.items():
            own = {key: value for key, value in gate.model_dump().items() if value != default[key]}
            found |= {f"gate.{name}": own} if own else {}
        for name, labels in self.cues.items():
            if labels != FAMILIES.get(name):
                found["cues"][name] = list(labels)  # their order is the declared direction
                found[f"cues.{name}"] = dict(labels)
                if isinstance(labels, OwnFamily):
                    found[f"cues.{name}.terms"] = {label: list(words) for label, words in labels.terms.items()}
        return found

    def waiver(self, contrast: str) -> Waiver | None:
        """Return the waiver of a contrast, expired or not, or None."""
        return next((waiver for waiver in self.waivers if waiver.contrast == contrast), None)


def in_ci() -> bool:
    """Tell whether this is a run of a CI service: the variable CI says so, in all of them."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")


def _repository(folder: Path) -> Path:
    """Return the root of the repository that a configuration belongs to: where .git is, else its own folder."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def _files_of(table: JudgeTable) -> list[tuple[str, str]]:
    """Return the files that a judge is made of, with the keys that name them; built-in templates are none."""
    named = [("template", table.template), ("system_prompt", table.system_prompt or "")]
    named += [("templates", path) for path in (table.templates or {}).values()]
    return [(key, path) for key, path in named if Path(path).is_absolute()]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a configuration is written: its file, and the table that it is there."""

    file: str
    within: tuple[str, ...] = ()

    def at(self, *names: str) -> str:
        """Return the file with the heading of a table of ours, as messages begin."""
        return f"{self.file}: {heading(self.within, *names)}"


def load_config(file: Path, *, table: tuple[str, ...] | None = None) -> Config:
    """Return the configuration of a TOML file; `table` is where it stands, as ("tool", "judgefixtures").

    Without `table` that is [tool.judgefixtures] of a pyproject.toml, and of another file that has only tables of tools;
    else the file's top level. A file that does not exist is an error; a pyproject.toml without the table is the
    built-in configuration alone. Raises JudgeFixturesError naming file, key and accepted values.
    """
    held = read_toml(file)
    if table is None:
        table = TABLE if file.name == "pyproject.toml" or {*held} == {TABLE[0]} else ()
    if table:
        _check_top(held, str(file), table)
    written = held
    for depth, key in enumerate(table, 1):
        written = written.get(key, {})
        if not isinstance(written, dict):
            name = ".".join(table[:depth])
            raise JudgeFixturesError(f"{file}: {name} is a {type(written).__name__}: it must be the table [{name}].")
    return build_config(written, str(file), file.parent, table)


def _check_top(held: Table, file: str, table: tuple[str, ...]) -> None:
    """Raise JudgeFixturesError for settings of ours in a place where nothing reads them: they would do nothing.

    A pyproject.toml has few tables at its top, and none of them has a name that ours have.
    """
    *above, own = table
    for key, value in held.items():
        if key in (*_Root.model_fields, *LIKELY, own):
            array = isinstance(value, list) and {type(each) for each in value} == {dict}
            tables = isinstance(value, dict) or array
            named = [] if key == own else [LIKELY.get(key, key)]
            path = _path_to(value)
            there = heading((), key, *path) if tables else key
            meant = heading(table, *named, *path) if tables else f"{key} below {heading(table)}"
            raise JudgeFixturesError(
                f"{file}: {f'[{there}]' if array else there} stands at the top of the file, and "
                f"nothing reads it there: write {f'[{meant}]' if array else meant}."
            )
    beside = held.get(above[0]) if above else None
    for name in beside if isinstance(beside, dict) else ():
        if name != own and _alike(name, own):
            raise JudgeFixturesError(f"{file}: nothing reads {heading(above, name)}: did you mean {heading(table)}?")


def _path_to(value: object) -> list[str]:
    """Return the names below a table, down to the first that holds something: [judges.x] is written, not [judges]."""
    if not isinstance(value, dict) or not value or not all(isinstance(each, dict) for each in value.values()):
        return []
    name, below = next(iter(value.items()))
    return [name, *_path_to(below)]


def _alike(name: str, ours: str) -> bool:
    """Tell whether a name is ours, but for a slip."""
    bare = re.sub(r"[^a-z]", "", name.lower())
    return bare == ours or difflib.SequenceMatcher(None, bare, ours).ratio() > ALIKE


def build_config(
    written: Table, file: str = "(no file)", folder: Path = Path(), within: tuple[str, ...] = ()
) -> Config:
    """Return the configuration for tables as tomllib gives them; paths are relative to `folder`.

    `within` is the table of the file that these stand in, for messages.
    """
    place = Place(file, within)
    written, terms = _terms_apart(written, place)
    root = _root(written, place)
    builtin = _root(read_toml(BUILTIN), Place(str(BUILTIN)))
    raw_judges = {**builtin.judges, **root.judges}
    _check_terms(terms, root.cues, place)
    own_cues = {name: OwnFamily(labels, terms[name]) if name in terms else labels for name, labels in root.cues.items()}
    cues: dict[str, Mapping[str, str]] = {**FAMILIES, **own_cues}
    _check_names(place, judges=raw_judges, datasets=root.datasets, cues=cues)
    for name, labels in root.cues.items():
        _check_names(place, cues=labels)
        if name in OTHER_FAMILIES:
            raise JudgeFixturesError(f"{place.at('cues', name)}: {name!r} is a family already: choose another name.")
    own = tuple(name for name in root.cues if name not in FAMILIES or name in BY_NAME)
    swap = (
        root.swap
        if "families" in root.swap.model_fields_set
        else root.swap.model_copy(update={"families": [*SWAP_FAMILIES, *own]})
    )
    for name in swap.families:
        if name not in (*cues, *OTHER_FAMILIES):
            raise JudgeFixturesError(
                f"{place.at('swap')} families: there is no family {name!r}: {choices(name, (*cues, *OTHER_FAMILIES))}."
            )
    known = {**builtin.datasets, **root.datasets}
    controlling = root.control.dataset if root.control is not None else None
    if controlling is not None and controlling not in known:
        raise JudgeFixturesError(
            f"{place.at('control')} dataset: there is no dataset {controlling!r}: {choices(controlling, known)}."
        )
    for key in ("close_dataset", "clear_dataset"):
        if (asked := getattr(root.canary, key)) not in known:
            raise JudgeFixturesError(
                f"{place.at('canary')} {key}: there is no dataset {asked!r}: {choices(asked, known)}."
            )
    if root.detector.judge is not None and root.detector.judge not in raw_judges:
        raise JudgeFixturesError(
            f"{place.at('detector')} judge: there is no judge {root.detector.judge!r}: "
            f"{choices(root.detector.judge, raw_judges)}."
        )
    judges = {name: _judge(name, raw_judges, place, folder) for name in raw_judges}
    if root.detector.judge is not None and judges[root.detector.judge].provider == "imported":
        raise JudgeFixturesError(
            f"{place.at('detector')} judge: {root.detector.judge} is imported, and can be asked "
            "nothing: name a judge with a model."
        )
    default_gate, family_gates = _gates(root.gate, (*cues, *OTHER_FAMILIES, *(kind.name for kind in ALONE)), place)
    return Config(
        file=file,
        judge=root.judge,
        # Whoever defines datasets and selects none means all of them, but the one that controls the judges.
        dataset_names=tuple(root.dataset or (name for name in root.datasets if name != controlling)),
        pairs=root.pairs,
        seed=root.seed,
        judges=judges,
        datasets={name: _located(name, table, folder, place) for name, table in known.items()},
        default_gate=default_gate,
        family_gates=family_gates,
        swap=swap,
        control=root.control,
        waivers=tuple(root.waivers),
        cues=cues,
        own_families=own,
        security=root.security,
        detector=root.detector,
        canary=root.canary,
        batch_parity=root.batch_parity,
        folder=folder,
        within=within,
    )


def _terms_apart(written: Table, place: Place) -> tuple[Table, dict[str, dict[str, tuple[str, ...]]]]:
    """Return the configuration without the tables [cues.NAME.terms], and the words of these by family and label.

    A sentence of the name `terms` is a label as any other.
    """
    families = written.get("cues")
    if not isinstance(families, dict):
        return written, {}
    tables = {
        name: labels["terms"]
        for name, labels in families.items()
        if isinstance(labels, dict) and isinstance(labels.get("terms"), dict)
    }
    found = {}
    for name, table in tables.items():
        read = _validated(_Terms, {"terms": table}, place.at("cues", name)).terms
        found[name] = {label: tuple(words) for label, words in read.items()}
    bare = {
        name: {label: sentence for label, sentence in labels.items() if label != "terms"} if name in tables else labels
        for name, labels in families.items()
    }
    return {**written, "cues": bare}, found


def _check_terms(terms: Mapping[str, Mapping[str, Any]], cues: Families, place: Place) -> None:
    """Raise JudgeFixturesError for terms of no label of one's own, and for such as no text can hold as it is read."""
    for name, words in terms.items():
        where, family = place.at("cues", name, "terms"), heading(place.within, "cues", name)
        if words and not cues[name]:
            raise JudgeFixturesError(
                f"{where}: terms belong to labels of a family of your own: {family} has no sentences."
            )
        for label, each in words.items():
            if label not in cues[name]:
                raise JudgeFixturesError(
                    f"{where}: there is no label {label!r} in {family}: {choices(label, cues[name])}."
                )
            for term in each:
                if not as_read(term):
                    raise JudgeFixturesError(
                        f"{where} {label}: {term!r} can never be found in a reason. A term is "
                        "words of the letters a to z and digits, in one sentence, and not just a response's name."
                    )


def judge_table(table: Mapping[str, Any], where: str = "the judge's table") -> JudgeTable:
    """Return a checked [judges.NAME] table; raises JudgeFixturesError naming the key."""
    if "extends" in table:
        raise JudgeFixturesError(f"{where}: extends needs the configuration file's other tables: merge them yourself.")
    return _validated(JudgeTable, dict(table), where)


def read_toml(file: Path) -> Table:
    """Return the tables of a TOML file; raises JudgeFixturesError naming file and line."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise JudgeFixturesError(f"the configuration file {file} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeFixturesError(f"the configuration file {file} cannot be read: {error}.") from None
    both_allowed = SELECTION.sub(r"\1dataset", text, count=1)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if both_allowed == text:
            hint = " A judge's table is [judges.NAME], and not [judge.NAME]." if SINGULAR.search(text) else ""
            raise JudgeFixturesError(f"{file} is not valid TOML: {error}.{hint}") from None
    try:
        return tomllib.loads(both_allowed)
    except (ValueError, RecursionError) as error:
        raise JudgeFixturesError(f"{file} is not valid TOML: {error}.") from None


def _root(written_as: Table, place: Place) -> _Root:
    written = dict(written_as)
    for key in ("judge", "dataset"):
        if isinstance(value := written.get(key), dict):
            of_one = next((name for name, each in value.items() if isinstance(each, dict)), "NAME")
            raise JudgeFixturesError(
                f"{place.at(key, of_one)}: there are no such tables: did you mean "
                f"{heading(place.within, LIKELY[key], of_one)}?"
            )
    if isinstance(written.get("datasets"), list):
        written["dataset"] = written.pop("datasets")
    renamed = "datasets" if isinstance(written_as.get("datasets"), list) else "dataset"
    return _validated(_Root, written, _top(place), {"dataset": renamed})


def _top(place: Place) -> str:
    """Return where the configuration's own keys stand, as messages begin."""
    return place.at() if place.within else place.file


def _judge(name: str, tables: Mapping[str, Table], place: Place, folder: Path) -> JudgeTable:
    where = place.at("judges", name)
    table = _validated(JudgeTable, _extended((name,), tables, place), where)
    if table.template:
        table = table.model_copy(update={"template": _template_path(table.template, folder, where)})
    if table.templates:
        own = {name: _template_path(path, folder, f"{where}: templates") for name, path in table.templates.items()}
        table = table.model_copy(update={"templates": own})
    if table.system_prompt:
        path = _path(table.system_prompt, folder, f"{where}: system_prompt")
        table = table.model_copy(update={"system_prompt": str(path)})
    return table


def _template_path(template: str, folder: Path, where: str) -> str:
    """Return a template's path, absolute, or a built-in template's name as it is."""
    path = _path(template, folder, f"{where}: template")
    try:
        return str(path) if "/" in template or path.is_file() else template
    except OSError:
        raise JudgeFixturesError(
            f"{where}: template = {template[:60]!r}... cannot be a path: write the prompt into a file and name that."
        ) from None


def _path(text: str, folder: Path, where: str) -> Path:
    try:
        return (folder / text).resolve()
    except (ValueError, OSError) as error:
        raise JudgeFixturesError(f"{where} = {text[:60]!r} cannot be a path: {error}.") from None


def _extended(chain: tuple[str, ...], tables: Mapping[str, Table], place: Place) -> Table:
    """Return the table of the last judge of a chain of extensions over those that it extends in turn."""
    table = dict(tables[chain[-1]])
    parent = table.pop("extends", None)
    if parent is None:
        return table
    if not isinstance(parent, str) or parent not in tables:
        raise JudgeFixturesError(
            f"{place.at('judges', chain[-1])} extends {parent!r}, which is not a judge: {choices(str(parent), tables)}."
        )
    if parent in chain:
        circle = " -> ".join((*chain, parent))
        raise JudgeFixturesError(f"{place.at('judges', chain[0])} extends itself: {circle}. Break the circle.")
    inherited = _extended((*chain, parent), tables, place)
    if table.get("mode", "pointwise") != "pointwise":  # what is switched off takes along what belongs to it
        inherited.pop("scale", None)
    if table.get("logprobs") is False:
        inherited.pop("top_logprobs", None)
    if table.get("provider", inherited.get("provider")) != inherited.get("provider"):
        inherited.pop("connection", None)  # another provider's account
    if "strategy" in table:  # what the other strategy's plans were made with is not meant for this one
        kept = plan_keys(table["strategy"], table.get("provider", inherited.get("provider")))
        inherited = {key: value for key, value in inherited.items() if key not in PLAN_KEYS or key in kept}
    return {**inherited, **table}


def _located(name: str, table: DatasetTable, folder: Path, place: Place) -> DatasetTable:
    if table.path is not None:
        table = table.model_copy(update={"path": str(_path(table.path, folder, place.at("datasets", name) + " path"))})
    try:
        check(_source(name, table, place.within))
    except JudgeFixturesError as error:
        raise JudgeFixturesError(f"{place.file}: {error}") from None
    return table


def _source(name: str, table: DatasetTable, within: tuple[str, ...]) -> Source:
    said = {**dict(table), "path": Path(table.path) if table.path else None}
    del said["closest"]  # of what a source gives: no part of what it is
    return Source(name=name, heading=heading(within, "datasets", name), **said)


def _gates(written: Table, families: Iterable[str], place: Place) -> tuple[GateTable, dict[str, GateTable]]:
    own = {key: value for key, value in written.items() if not isinstance(value, dict)}
    default = _validated(GateTable, own, place.at("gate"))
    tables = {key: value for key, value in written.items() if isinstance(value, dict)}
    for name in tables:
        if name not in families:
            raise JudgeFixturesError(
                f"{place.at('gate', name)}: there is no family {name!r}: {choices(name, families)}."
            )
    return default, {
        name: _validated(GateTable, {**own, **table}, place.at("gate", name)) for name, table in tables.items()
    }


def _check_names(place: Place, **kinds: Mapping[str, Any]) -> None:
    for kind, table in kinds.items():
        where = f"under {heading(place.within, kind)}"
        for name in table:
            if len(name) > LONGEST_NAME:
                raise JudgeFixturesError(
                    f"{place.file}: the name {name[:40]}... {where} has {len(name)} characters and cannot be a "
                    f"folder: shorten it to at most {LONGEST_NAME}."
                )
            if not NAME.match(name):
                raise JudgeFixturesError(
                    f"{place.file}: the name {name!r} {where} cannot be a folder: use letters, digits, "
                    "dot, underscore and hyphen, and begin with a letter or a digit."
                )


def _validated(
    model: type[Model], table: Table, where: str, written_as: Mapping[str, str] = MappingProxyType({})
) -> Model:
    try:
        return model.model_validate(table)
    except ValidationError as invalid:
        messages = [_explain(error, model, where, written_as) for error in invalid.errors()]
        raise JudgeFixturesError("\n".join(messages)) from None


def _explain(error: Any, model: type[BaseModel], where: str, written_as: Mapping[str, str]) -> str:
    """Return one validation error as file, key, what was found and what is accepted."""
    location = [str(part) for part in error["loc"]]
    location[:1] = [written_as.get(name, name) for name in location[:1]]
    key = ".".join(location)
    if error["type"] == "extra_forbidden":
        known = _keys_at(model, location[:-1])
        return f"{where}: unknown key {key!r}: {choices(location[-1], known)}."
    if error["type"] == "missing":
        return f"{where}: key {key!r} is missing: add it."
    message = error["msg"].removeprefix("Value error, ")
    given = error["input"]
    if key.endswith(("base_url", "endpoint")):  # its query may hold a key, and a password may stand before its host
        given = re.sub(r"\?.*", "?...", re.sub(r"[^/]*@", "...@", str(given)), flags=re.DOTALL)
    found = f", got {given!r}" if location else ""
    return f"{where}: {f'{key}: ' if key else ''}{message[:1].lower()}{message[1:]}{found}."


def _keys_at(model: type[BaseModel], location: list[str]) -> list[str]:
    nested: dict[str, type[BaseModel]] = {
        "datasets": DatasetTable,
        "swap": SwapTable,
        "waivers": Waiver,
        "control": ControlTable,
        "canary": CanaryTable,
        "security": SecurityTable,
        "connection": ConnectionTable,
    }
    if location and location[0] in nested:
        return list(nested[location[0]].model_fields)
    return [*model.model_fields, *(["extends"] if model is JudgeTable else [])]
