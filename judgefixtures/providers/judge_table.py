"""Judge tables: the configuration keys that all providers share."""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import pydantic

from judgefixtures.parsing.grades import REASONS, Labels, label_sides
from judgefixtures.parsing.verdicts import normalize_key
from judgefixtures.prompts.templates import LAYOUTS, Mode, ModeLayout, wording_label
from judgefixtures.providers import FLEX, PROVIDERS, UNSET, ProviderSpec, provider_spec
from judgefixtures.util.errors import accepted_values
from judgefixtures.util.texts import join_names

from .messages import MESSAGES

THINKING_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
THINKING_KEYS = ("reasoning_effort", "thinking_level", "thinking_budget")
FLEX_TIMEOUT = 900.0  # seconds for an attempt, as OpenAI advises for its flex tier
ASKING = ("plan-self", "plan-combined")
WORDING_LABEL = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
PLAN_KEYS = ("plan_temperature", "plan_max_output_tokens", "plan_sees_responses")


def _or_unset(value: object, handler: pydantic.ValidatorFunctionWrapHandler) -> object:
    if value == UNSET:
        return None
    try:
        return handler(value)
    except pydantic.ValidationError as invalid:
        raise ValueError(f'{invalid.errors()[0]["msg"]}, or "{UNSET}", which does not send it') from None


def _ends(value: object) -> object:
    ends = value if isinstance(value, list | tuple) else ()
    numbers = [each for each in ends if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(ends) != 2 or len(numbers) != 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise ValueError("it is the lowest and the highest score, as in [1, 10]")
    return tuple(numbers)


def _thinking_level(value: str) -> str:
    if value.upper() not in THINKING_LEVELS:
        raise ValueError(accepted_values(value.upper(), THINKING_LEVELS))
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


def _apart(wordings: list[str]) -> list[str]:
    labels = [wording_label(each) for each in wordings]
    if wrong := [each for each in labels if not WORDING_LABEL.fullmatch(each)]:
        raise ValueError(
            f"{wrong[0]!r} cannot name recordings: use letters, digits, dot, underscore and hyphen in a file's name"
        )
    if "all" in labels:
        raise ValueError("'all' is what all of them are called together: give the file another name")
    if twice := [each for each in labels if labels.count(each) > 1]:
        raise ValueError(f"{twice[0]!r} would name two of them: give each file a name of its own")
    return wordings


Wordings = Annotated[list[Annotated[str, pydantic.Field(min_length=1)]], pydantic.AfterValidator(_apart)]
Temperature = Annotated[float | None, pydantic.Field(ge=0, le=2), pydantic.WrapValidator(_or_unset)]
InputName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_]\w*$")]
CODE_KEYS = ("inputs", "result", "factory", "recording", "hosts", "version", "packages")
Address = Annotated[str, pydantic.Field(pattern=r"^https?://[^\s?#]+$"), pydantic.AfterValidator(_address)]


def _provider(name: object) -> object:
    if name not in tuple(PROVIDERS):
        raise ValueError(f"input should be {join_names(PROVIDERS, ' or ', quoted=True)}")
    return name


class StrictTable(pydantic.BaseModel):
    """A table of the configuration that rejects other keys and types."""

    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True)


class Price(StrictTable):
    """A judge's cost in USD per million tokens."""

    input: float = pydantic.Field(ge=0)
    output: float = pydantic.Field(ge=0)
    cached_input: float | None = pydantic.Field(None, ge=0)


class ConnectionTable(StrictTable):
    """A [judges.NAME.connection] table: the cloud account of a model."""

    endpoint: Address | None = None
    deployment: str | None = pydantic.Field(None, pattern=r"^[^\s/?#%]+$")
    api_version: str | None = pydantic.Field(None, pattern=r"^[\w.-]+$")
    project: str | None = pydantic.Field(None, pattern=r"^[\w.:-]+$")
    location: str | None = pydantic.Field(None, pattern=r"^[a-z0-9-]+$")


class JudgeTable(StrictTable):
    """A [judges.NAME] table: provider, model, parameters, template, strategy, and how to reach it."""

    provider: Annotated[str, pydantic.BeforeValidator(_provider)]
    model: str | None = pydantic.Field(None, min_length=1)
    target: str | None = pydantic.Field(None, pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
    base_url: Address | None = None
    connection: ConnectionTable | None = None
    api_key_env: str | None = pydantic.Field(None, min_length=1)
    timeout: float = pydantic.Field(60.0, gt=0, allow_inf_nan=False)
    max_attempts: int = pydantic.Field(6, ge=1)
    requests_per_minute: float | None = pydantic.Field(None, gt=0)
    accept_served_model: str | None = pydantic.Field(None, min_length=1)
    temperature: Temperature = 0.0  # None: unset
    seed: Annotated[int | None, pydantic.WrapValidator(_or_unset)] = 0
    reasoning_effort: str | None = pydantic.Field(None, min_length=1)
    thinking_level: Annotated[str, pydantic.AfterValidator(_thinking_level)] | None = None
    thinking_budget: int | None = pydantic.Field(None, ge=-1)
    service_tier: str | None = pydantic.Field(None, min_length=1)
    max_output_tokens: int = pydantic.Field(512, ge=1)
    response_format: Literal["json_schema", "json_object", "tool", "none"] = "json_schema"
    logprobs: bool = False
    top_logprobs: int = pydantic.Field(20, ge=1, le=20)
    mode: Mode = "pairwise"
    scale: Annotated[tuple[int | float, int | float], pydantic.BeforeValidator(_ends)] = (1, 10)
    ties: Literal["half", "invalid"] | None = None  # None: as the mode has it
    template: str = ""
    templates: dict[str, Annotated[str, pydantic.Field(min_length=1)]] | None = pydantic.Field(None, min_length=1)
    wordings: Wordings | None = pydantic.Field(None, min_length=1)
    system_prompt: str | None = pydantic.Field(None, min_length=1)
    cue_placement: Literal["after", "before"] = "after"
    cue_after: str | None = pydantic.Field(None, min_length=1)
    verdict: Literal["json", "brackets", "grade", "word"] = "json"
    labels: Annotated[Labels, pydantic.BeforeValidator(label_sides)] | None = None  # None: the usual words are all read
    grade_field: str | None = pydantic.Field(None, min_length=1)
    pass_mark: float | None = pydantic.Field(None, allow_inf_nan=False)
    strategy: Literal["direct", "plan-heuristic", "plan-self", "plan-combined"] = "direct"
    plan_temperature: Temperature = 0.7
    plan_max_output_tokens: int = pydantic.Field(1024, ge=1)
    plan_sees_responses: bool = False
    drop_unsupported: bool = False
    allow_programs: bool = False
    inputs: dict[InputName, str] | None = pydantic.Field(None, min_length=1)
    result: dict[Literal["verdict", "reason", "cost"], str] | None = None
    factory: bool = False
    recording: Literal["result", "http"] | None = None
    hosts: list[str] | None = pydantic.Field(None, min_length=1)
    version: str | None = pydantic.Field(None, min_length=1)
    packages: list[str] | None = None
    price: Price | None = None
    _system_text: str = pydantic.PrivateAttr("")
    _schema: dict[str, Any] | None = pydantic.PrivateAttr(None)
    _heading: str = pydantic.PrivateAttr("[judges.NAME]")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        record, layout = _record_named(written.get("provider")), LAYOUTS.get(str(written.get("mode")))
        follows: dict[str, Any] = {"timeout": FLEX_TIMEOUT} if written.get("service_tier") == FLEX else {}
        if layout and layout.has_labels and _is_of_its_own(written.get("template"), written.get("templates"), layout):
            follows["response_format"] = "none"
        return {**follows, **({} if record is None else record.defaults(written)), **written}

    @pydantic.model_validator(mode="after")
    def _what_the_provider_takes(self) -> Self:
        record = self.record
        if record.is_asked:
            self._check_tier(record)
            self._check_who_answers(record)
            self._check_connection(record)
        record.check(self)
        self._check_parameters(record)
        return self

    def _check_tier(self, record: ProviderSpec) -> None:
        if self.service_tier is None:
            return
        if record.is_code:
            raise ValueError("service_tier means nothing with provider 'python': your function sends its own")
        # Servers of one's own (base_url) have their own names for theirs.
        if self.base_url is None and record.tiers and self.service_tier not in record.tiers:
            raise ValueError(f"service_tier: {accepted_values(self.service_tier, record.tiers)}")

    def _check_who_answers(self, record: ProviderSpec) -> None:
        wanted, other = ("target", "model") if record.is_code else ("model", "target")
        if getattr(self, wanted) is None or getattr(self, other) is not None:
            raise ValueError(f"provider {self.provider!r} takes {wanted} and no {other}")
        if others := [key for key in THINKING_KEYS if getattr(self, key) is not None and key not in record.thinking]:
            having = _having(lambda each: others[0] in each.thinking)
            raise ValueError(f"{others[0]} is a key of {having}, not of {self.provider!r}")
        if self.system_prompt is not None and record.is_code:
            raise ValueError(f"system_prompt is a key of {_having(lambda each: each.key)}: your function sends its own")
        if self.allow_programs and not record.is_code:
            raise ValueError("allow_programs is a key of provider 'python': no other judge starts a program")
        if not record.is_code and (others := sorted(self.model_fields_set & {*CODE_KEYS})):
            raise ValueError(f"{others[0]} is a key of judges of code, such as provider 'python'")
        if self.cue_after is not None and self.cue_placement == "before":
            raise ValueError('cue_after and cue_placement = "before" say different things: keep one of the two')

    def _check_connection(self, record: ProviderSpec) -> None:
        if self.connection is None:
            return
        if not record.connection:
            having = _having(lambda each: each.connection)
            raise ValueError(f"connection is a key of {having}, not of {self.provider!r}")
        for key in self.connection.model_fields_set - set(record.connection):
            raise ValueError(MESSAGES.foreign_connection_key(key, self.provider, record))

    def _check_parameters(self, record: ProviderSpec) -> None:
        if self.response_format not in record.formats:
            having = _having(lambda each: self.response_format in each.formats)
            raise ValueError(f"response_format {self.response_format!r} is one of {having}")
        if self.logprobs and not record.logprobs:
            raise ValueError(f"logprobs: {record.api} gives no token probabilities")
        if self.seed and not record.seed:
            raise ValueError(f'seed: {record.api} takes none; leave it out, or set "{UNSET}"')
        for key in ("temperature", "plan_temperature"):
            if (getattr(self, key) or 0) > record.hottest:
                raise ValueError(f"{key}: {record.api} takes 0 to {record.hottest:g}")

    @pydantic.model_validator(mode="after")
    def _what_is_said(self) -> Self:
        layout, mode = LAYOUTS[self.mode], f'mode = "{self.mode}"'
        if self.logprobs and layout.has_scale:
            raise ValueError(f"logprobs are those of a verdict: leave them out of {mode}, whose judges give scores")
        if self.strategy != "direct" and not layout.shows_both:
            raise ValueError(f'a plan compares two responses: {mode} goes with strategy = "direct"')
        if "scale" in self.model_fields_set and not layout.has_scale:
            scoring = " or ".join(f'"{name}"' for name, each in LAYOUTS.items() if each.has_scale)
            who = "a judge of pairs" if layout.shows_both else f"one of {mode}"
            raise ValueError(f"scale is a key of mode = {scoring}: {who} gives no scores")
        if self.verdict not in layout.forms:
            raise ValueError(f'verdict = "{self.verdict}": {accepted_values(self.verdict, layout.forms)} in {mode}')
        if not self.template and layout.forms.index(self.verdict) >= len(layout.built_in):
            raise ValueError(f'verdict = "{self.verdict}" takes a template of your own: none is built in for {mode}')
        self._check_grades(layout, mode)
        if "top_logprobs" in self.model_fields_set and not self.logprobs:
            raise ValueError("top_logprobs means nothing without logprobs = true")
        if "top_logprobs" in self.model_fields_set and self.record.is_code:
            telling = _having(lambda each: each.key and each.logprobs)
            raise ValueError(f"top_logprobs is a key of {telling}: your function returns its own")
        return self

    def _check_grades(self, layout: ModeLayout, mode: str) -> None:
        grading = " or ".join(f'"{name}"' for name, each in LAYOUTS.items() if each.has_labels)
        for key in ("labels", "grade_field"):
            if getattr(self, key) is not None and not layout.has_labels:
                raise ValueError(f"{key} is a key of mode = {grading}: a judge of {mode} gives no grades")
        if self.grade_field is not None and self.verdict != "json":
            raise ValueError(f'grade_field names a field of JSON: leave it out of verdict = "{self.verdict}"')
        if layout.has_labels:
            self._check_said(layout)
        if self.ties is not None and (layout.has_labels or self.pass_mark is not None):
            what = mode if layout.has_labels else "pass_mark"
            raise ValueError(f"ties means nothing with {what}: a response passes or fails, and nothing is between them")
        if self.pass_mark is None:
            return
        if self.records_results and layout.has_labels:
            return
        if not layout.has_scale:
            scoring = " or ".join(f'"{name}"' for name, each in LAYOUTS.items() if each.has_scale)
            raise ValueError(f"pass_mark is a key of mode = {scoring}: a judge of {mode} gives no scores")
        lowest, highest = self.scale
        if not lowest < self.pass_mark <= highest:
            raise ValueError(MESSAGES.pass_mark_outside(self.pass_mark, lowest, highest))

    def _check_said(self, layout: ModeLayout) -> None:
        if self.grade_field is not None and normalize_key(self.grade_field) in map(normalize_key, REASONS):
            raise ValueError(f"grade_field = {self.grade_field!r} is where the reason is read: name that of the grade")
        if self.template in layout.built_in and self.template != layout.built_in[layout.forms.index(self.verdict)]:
            wanted = layout.forms[layout.built_in.index(self.template)]
            raise ValueError(MESSAGES.template_of_other_verdict(self.template, wanted, self.verdict))
        if self.response_format == "none":
            return
        if self.verdict != "json" and "response_format" in self.model_fields_set:
            raise ValueError(MESSAGES.json_for_other_verdict(self.response_format, self.verdict))
        unsaid = [key for key in ("labels", "grade_field") if getattr(self, key) is None]
        if self.has_own_words and unsaid and self.sends_schema:
            raise ValueError(MESSAGES.schema_without_fields(self.response_format, unsaid))

    @pydantic.model_validator(mode="after")
    def _what_plans(self) -> Self:
        _check_wordings(self)
        meant = plan_keys(self.strategy, self.provider)
        for key in sorted(self.model_fields_set & set(PLAN_KEYS)):
            if key in meant:
                continue
            if self.strategy not in ASKING:
                asking = " or ".join(f'"{name}"' for name in ASKING)
                raise ValueError(f"{key} means nothing with strategy = {self.strategy!r}: remove it, or set {asking}")
            raise ValueError(f"{key} means nothing with provider {self.provider!r}: remove it, your function decides")
        return self

    @property
    def record(self) -> ProviderSpec:
        """The provider's specification."""
        return provider_spec(self.provider)

    @property
    def records_results(self) -> bool:
        """Whether the results of the judge's code are recorded, not its HTTP calls."""
        return self.record.is_code and (self.recording or ("result" if self.inputs else "http")) == "result"

    @property
    def counts_ties(self) -> bool:
        """Whether a tie is half an outcome."""
        return LAYOUTS[self.mode].ties if self.ties is None else self.ties == "half"

    @property
    def draws(self) -> bool:
        """Whether verdicts are sampled without probabilities."""
        layout = LAYOUTS[self.mode]
        return not layout.has_scale and not self.logprobs and (self.temperature is None or self.temperature > 0)

    @property
    def has_own_words(self) -> bool:
        """Whether a user's template says how to answer."""
        return _is_of_its_own(self.template, self.templates, LAYOUTS[self.mode])

    @property
    def sends_schema(self) -> bool:
        """Whether answers are requested by a JSON schema."""
        wants_schema = self.verdict == "json" and self.response_format != "none" and not self.record.is_code
        return wants_schema and not (self.has_own_words and self.response_format == "json_object")

    @property
    def notation(self) -> Literal["json", "brackets"]:
        """The form of a choice or score."""
        return "brackets" if self.verdict == "brackets" else "json"

    @property
    def asks_for_plans(self) -> bool:
        """Whether the model writes a plan for every pair."""
        return self.strategy in ASKING

    @property
    def system_text(self) -> str:
        """The system prompt of a loaded judge, or ""."""
        return self._system_text

    @property
    def heading(self) -> str:
        """The table's heading in its file."""
        return self._heading

    def headed(self, heading: str) -> Self:
        """Return the table with this heading."""
        return self._with(_heading=heading)

    def saying(self, system_text: str) -> Self:
        """Return the table with this system prompt."""
        return self._with(_system_text=system_text)

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The JSON schema of a custom mode's answers, or None."""
        return self._schema

    def answered_by(self, schema: dict[str, Any] | None) -> Self:
        """Return the table with this answer schema."""
        return self._with(_schema=schema)

    def _with(self, **known: Any) -> Self:
        table = self.model_copy()
        for name, value in known.items():
            setattr(table, name, value)
        return table

    @property
    def template_name(self) -> str:
        """The template's name or path, by default the answer form's."""
        layout = LAYOUTS[self.mode]
        own = layout.built_in[layout.forms.index(self.verdict)]
        return self.template or (f"{own}-ties" if self.counts_ties and not layout.ties else own)

    @property
    def key_variable(self) -> str | None:
        """The API key's environment variable, or None; required with base_url."""
        if self.api_key_env or self.base_url:
            return self.api_key_env
        return self.record.key if self.record.is_trusted(self) else None

    @property
    def address(self) -> str | None:
        """The configured address (base_url or Azure endpoint), or None."""
        return self.base_url or (self.connection.endpoint if self.connection is not None else None)


def _check_wordings(table: JudgeTable) -> None:
    if table.wordings is None:
        return
    if not table.record.is_asked:
        raise ValueError(f"wordings are asked: nobody can ask a judge of provider {table.provider!r}; remove them")
    if table.asks_for_plans:
        raise ValueError(MESSAGES.wordings_with_plans(table))


def _record_named(name: object) -> ProviderSpec | None:
    return provider_spec(name) if isinstance(name, str) and name in PROVIDERS else None


def _is_of_its_own(template: object, templates: object, layout: ModeLayout) -> bool:
    return bool(templates) or (bool(template) and template not in layout.built_in)


def _having(has: Callable[[ProviderSpec], object]) -> str:
    names = [name for name in PROVIDERS if has(provider_spec(name))]
    return f"provider{'s' * (len(names) > 1)} {join_names(names, quoted=True)}"


def plan_keys(strategy: object, provider: object) -> tuple[str, ...]:
    """Return the plan_* keys that apply to a strategy and provider."""
    if strategy not in ASKING:
        return ()
    record = _record_named(provider)
    return PLAN_KEYS if record is None or not record.is_code else ("plan_sees_responses",)
