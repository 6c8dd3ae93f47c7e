"""The [judges.NAME] table: who judges, how it is asked, and what of that goes together."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, WrapValidator, model_validator

from judgefixtures.config.provider_keys import (
    ASKED,
    ASKING,
    FLEX,
    FLEX_TIMEOUT,
    IMPORTED_KEYS,
    PLAN_KEYS,
    TELLING,
    THINKERS,
    check_claude,
    check_connection,
    check_tier,
    is_azures,
    known_level,
    plan_keys,
)
from judgefixtures.config.shapes import UNSET, Address, StrictTable, Temperature, or_unset, score_ends
from judgefixtures.words.texts import join_names


class Price(StrictTable):
    """What a judge costs, in USD per million tokens; overrides the price table."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0)


class ConnectionTable(StrictTable):
    """A [judges.NAME.connection] table: through which account of a cloud a model is reached; no part of the identity.

    The name of Azure's deployment is the exception, where it is another one than the model's: it decides who answers.
    """

    endpoint: Address | None = None
    deployment: str | None = Field(None, pattern=r"^[^\s/?#%]+$")
    api_version: str | None = Field(None, pattern=r"^[\w.-]+$")
    project: str | None = Field(None, pattern=r"^[\w.:-]+$")
    location: str | None = Field(None, pattern=r"^[a-z0-9-]+$")


class JudgeTable(StrictTable):
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
    seed: Annotated[int | None, WrapValidator(or_unset)] = 0
    reasoning_effort: str | None = Field(None, min_length=1)
    thinking_level: Annotated[str, AfterValidator(known_level)] | None = None
    thinking_budget: int | None = Field(None, ge=-1)
    service_tier: str | None = Field(None, min_length=1)
    max_output_tokens: int = Field(512, ge=1)
    response_format: Literal["json_schema", "json_object", "tool", "none"] = "json_schema"
    logprobs: bool = False
    top_logprobs: int = Field(20, ge=1, le=20)
    mode: Literal["pairwise", "pointwise"] = "pairwise"
    scale: Annotated[tuple[int | float, int | float], BeforeValidator(score_ends)] = (1, 10)
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
    def _provider_takes_it(self) -> Self:
        check_tier(self)
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
                which = (
                    f"provider {providers[0]!r}"
                    if len(providers) == 1
                    else f"providers {join_names(providers, quoted=True)}"
                )
                raise ValueError(f"{key} is a key of {which}, not of {self.provider!r}")
        if self.system_prompt is not None and self.provider == "python":
            raise ValueError(
                f"system_prompt is a key of providers {join_names(ASKED, quoted=True)}: your function sends its own"
            )
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
            raise ValueError(
                f"top_logprobs is a key of providers {join_names(TELLING, quoted=True)}: your function returns its own"
            )
        return self

    @model_validator(mode="after")
    def _provider_reaches_it(self) -> Self:
        check_connection(self)
        check_claude(self)
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
                asking = join_names((f'"{name}"' for name in ASKING), " or ")
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
            return "AZURE_OPENAI_API_KEY" if is_azures(self.address or "") else None
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
