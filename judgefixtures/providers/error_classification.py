"""Classification of failed responses (phrases: data/faults.toml)."""

import functools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgefixtures import providers
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.util.secrets import redact, redact_message
from judgefixtures.util.texts import parse_json, word_set

from .http import HttpResponse, object_or_empty
from .messages import MESSAGES
from .quotas import retry_after

DATA = Path(__file__).parents[1] / "data" / "faults.toml"
RETRIED = frozenset({408, 409, 424, 425, 429, 498, 499})  # 498: Groq has no capacity left for its flex tier
GUARDED = 446  # Portkey: a guardrail refuses this prompt or its answer
LONGEST_MESSAGE = 5_000  # characters of an error that are looked through for what it means
LONGEST_WORDS = 2_000  # of these for what concerns one prompt, which many patterns tell
MODEL_CODES = frozenset({"model_not_found", "model_decommissioned", "DeploymentNotFound"})
ADDRESS_REMEDY = "this address does not exist: check base_url (is /v1 missing or doubled?)."
UNKNOWN_MODEL = "the server does not know the model"
CODE = re.compile(r"[\w.:-]+", re.ASCII)  # what an error says in one word, where prose has several
LOADING = " -- the server is still loading its model"
# The fields in which an error says what it is, in whatever depth; others may quote the prompt.
TELLING = word_set(
    "message msg detail details error errors code type status reason reasons raw metadata title description innererror "
    "base_resp status_msg status_code error_code error_msg error_message failure violation"
)
OF_EVERYBODY = frozenset({401, 402, 404, 407})  # statuses that are about the account or the address, in whatever words
KEY_REMEDY = (
    "the server rejects the API key: check the variable in api_key_env. With base_url, a key is sent only if "
    "api_key_env is set."
)


@functools.cache
def _data() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


@functools.cache
def _pattern(table: str, name: str) -> re.Pattern[str]:
    return re.compile("|".join(_data()[table][name]), re.IGNORECASE | re.MULTILINE)


def _says(what: str, message: str) -> re.Match[str] | None:
    return _pattern("said", what).search(message)


def provider_parameter_names(parameter: str) -> frozenset[str]:
    """Return the provider names of a parameter that a server rejects.

    >>> sorted(provider_parameter_names("thinkingBudget"))
    ['reasoning_effort', 'thinking_config']
    """
    return frozenset(_data()["sent_as"].get(parameter.replace("_", "").lower(), ()))


def status_of_type(kind: object) -> int | None:
    """Return the status of an Anthropic error type, or None."""
    return _data()["statuses"].get(str(kind))


def status_in_body(error: Any) -> int:
    """Return the status in an error body, or 502."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 502


def classify_failure(wire: HttpResponse, model: str) -> providers.ProviderResponse:
    """Return a failure's invalid answer, or raise RetryableError or FatalJudgeError."""
    if 300 <= wire.status < 400:
        raise providers.FatalJudgeError(MESSAGES.redirect(wire, _without_query(wire.headers)))
    error = error_object(wire)
    answer = classify_error(wire.status, error, wire, model)
    # APIs tell errors in JSON. A page of words is from whoever stands before them, and no word on this pair, whatever
    # it says; only the size is (413 is about the request alone, whoever measures it).
    if wire.status != 413 and not wire.body.lstrip().startswith(("{", "[")):
        raise providers.FatalJudgeError(MESSAGES.answer_of_gateway(answer))
    # An error status is not billed, unless the model wrote until its limit.
    return answer if answer.invalid == "truncated" else replace(answer, usage=Usage(0, 0))


def _without_query(headers: Mapping[str, str]) -> str:
    return redact_message(re.sub(r"([?#]).*", r"\1...", headers.get("location", "(nowhere)"), flags=re.DOTALL))


def error_object(wire: HttpResponse) -> Mapping[str, Any]:
    """Return a body's error object, else its text as message."""
    body = parse_json(wire.body)
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        return {"message": redact(wire.body)[:300]}
    error = body.get("error", body)
    if not isinstance(error, dict):
        return {**body, "message": str(error or redact(wire.body)[:300])}
    named = object_or_empty(error.get("details")).get("error_code")  # where Anthropic's API names the cause
    return error if named is None or error.get("code") is not None else {**error, "code": named}


def classify_error(status: int, error: Mapping[str, Any], wire: HttpResponse, model: str) -> providers.ProviderResponse:
    """Return an item's invalid answer, or raise RetryableError or FatalJudgeError."""
    words = [" ".join(each.split()) for each in _words(error)]
    stated = error.get("message") or error.get("detail") or next((each for each in words if " " in each), "")
    message = str(stated).strip()
    if raw := object_or_empty(error.get("metadata")).get("raw"):  # what the provider behind a gateway said
        message = f"{message}: {raw}"
    # Whole: a secret that is cut in two is not known any more.
    detail = f"HTTP {status}: {redact_message(message)[:400]}" if message else f"HTTP {status}"
    message = message[:LONGEST_MESSAGE]
    wait = retry_after(wire.headers, error, message)
    if kind := item_fault(status, error, message, "\n".join(sorted(words, key=len))[:LONGEST_WORDS]):
        detail += " -- raise max_output_tokens, or reduce thinking" if kind == "truncated" else ""
        codes = "\n".join(filter(CODE.fullmatch, words))[:LONGEST_WORDS]
        # A failing server's prose may only sound like this prompt's fault, and a model may write something else.
        is_certain = kind != "no-answer" and item_fault(status, error, message, codes) == kind
        is_certain |= kind == "too-large" and _says("too_large", message) is not None  # local servers say it with a 500
        is_page = wire.body.lstrip()[:1] not in ("", "{", "[")  # words of no API, as in `failure`
        if (status >= 500 or status == 408) and (is_page or not is_certain):
            raise providers.RetryableError(detail, retry_after=wait, invalid=None if is_page else kind, status=status)
        return providers.ProviderResponse("", kind, detail, refused=True)
    rejects = functools.partial(rejected_parameter, error, message, wire.sent)
    if status in (400, 403, 422, 501) and (refusal := logprobs_rejection(rejects(), message, detail)) is not None:
        raise refusal
    if remedy := _fatal_remedy(status, error, message, model):
        raise providers.FatalJudgeError(f"{detail} -- {remedy}")
    if status in (400, 422) or (status >= 500 and wire.sent and rejects() == providers.SYSTEM):
        raise providers.UnsupportedParameterError(f"{detail} -- {_unsupported(rejects(), wire.sent)}", rejects())
    if status in RETRIED or status >= 500:
        loading = status >= 500 and _says("loading", message) is not None
        detail += LOADING if loading else ""
        raise providers.RetryableError(detail, retry_after=wait, status=status, loading=loading)
    raise providers.FatalJudgeError(f"{detail} -- the same request will fail again.")


def _words(error: Any) -> Iterator[str]:
    if isinstance(error, str | int):
        yield str(error)
    for each in error if isinstance(error, list) else ():
        yield from _words(each)
    for name, each in error.items() if isinstance(error, dict) else ():
        if name.lower() in TELLING:
            yield from _words(each)


def _unsupported(parameter: str, sent: frozenset[str] | None) -> str:
    keys, names = (
        _data()["keys"],
        provider_parameter_names(parameter) if sent is None else provider_parameter_names(parameter) & sent,
    )
    key = keys.get(parameter) or " or ".join(dict.fromkeys(keys.get(name, name) for name in sorted(names))) or parameter
    if not parameter or (sent is not None and not names):
        what = f"rejects {parameter}. This run did not send {parameter}" if parameter else "rejects the request"
        return MESSAGES.no_parameter_named(what)
    if key == providers.SYSTEM:
        return MESSAGES.no_system_prompt()
    unset = f'set {key} = "{providers.UNSET}"'
    ways = {"temperature": unset, "seed": unset, "max_output_tokens": f"change {key}"}
    how = ways.get(key, f"change or remove {key}")
    return MESSAGES.parameter_rejected(parameter, how)


def logprobs_rejection(rejected: str, message: str, detail: str) -> providers.FatalJudgeError | None:
    """Return the error for rejected token probabilities, or None.

    >>> logprobs_rejection("logprobs", "Logprobs is not enabled for models/gemini-2.5-pro", "HTTP 400").parameter
    'logprobs'
    >>> str(logprobs_rejection("logprobs", "top_logprobs must be <= 5", "HTTP 400")).rpartition(": ")[2]
    "set top_logprobs = 5 in the judge's table."
    """
    if provider_parameter_names(rejected) != providers.LOGPROBS:
        return None
    if not _says("too_many", message):
        return providers.UnsupportedParameterError(
            f"{detail} -- the model gives no token probabilities: remove logprobs from the judge's table.", "logprobs"
        )
    match = _says("at_most", message)
    at_most = f"top_logprobs = {match[1] or match[2]}" if match else "top_logprobs to a supported number"
    return providers.FatalJudgeError(MESSAGES.fewer_tokens_listed(detail, at_most))


def item_fault(status: int, error: Mapping[str, Any], message: str, words: str) -> InvalidKind | None:
    """Return the invalid kind of an error about this prompt, or None."""
    if status == 413 or str(error.get("param")) == "input_tokens":
        return "too-large"
    if status == GUARDED:
        return "filtered"
    if status == 429:
        sizes = _says("requested", message)
        is_larger = sizes is not None and _number(sizes[2]) > _number(sizes[1]) > 0
        return "too-large" if is_larger or "request too large" in message.lower() else None
    for each in () if status in OF_EVERYBODY else _data()["items"]["in_order"]:
        if _says(each["said"], words) and not _says(each["unless"], words):
            kind: InvalidKind = each["kind"]
            return kind
    return None


def _number(text: str) -> int:
    return int(text.replace(",", "") or 0)


def _fatal_remedy(status: int, error: Mapping[str, Any], message: str, model: str) -> str | None:
    code, lower = str(error.get("code")), message.lower()
    details = json.dumps(error.get("details", "")) + message  # a gateway passes an error on as a text
    no_model = code in MODEL_CODES or error.get("param") == "model" or _says("no_model", message)
    if status == 401 or code == "invalid_api_key" or "API_KEY_INVALID" in details or _says("key_refused", message):
        return KEY_REMEDY
    if (
        "billing" in code
        or code == "organization_on_hold"
        or status == 402
        or (status in (400, 403) and ("billing" in lower or _says("switched_off", message)))
    ):
        return "pay, top up or activate the account first."
    if "insufficient_quota" in (code, error.get("type")) or "spend_limit" in code or _says("no_money", message):
        return "the account's quota is used up: raise it, then run again with --judge-record missing."
    if status == 429 and ("PerDay" in details or _says("daily", message)):
        return "a daily limit is used up: after its reset, run again with --judge-record missing."
    if status == 429 and re.search(r"limit:? 0(?![.,]?\d)\b", lower):
        return f"this account cannot use {model!r}: use another model or plan."
    if "user location" in lower or "country, region" in lower or "unsupported_country" in code:
        return "the provider does not serve this region: use another region or provider."
    if _says("no_endpoint", message) or (status in (404, 410) and not no_model and "model" not in lower):
        return ADDRESS_REMEDY
    if _says("plain_http", message):
        return "the server uses TLS: write https:// instead of http:// in base_url."
    if status in (404, 410) or code in MODEL_CODES or (status in (400, 403, 422) and no_model):
        return MESSAGES.unknown_model(UNKNOWN_MODEL, model)
    if status == 403:
        return "access is denied: check the key's permissions, the project and the region."
    if status in (405, 501):
        return "the server does not support this call: check base_url."
    return None


def rejected_parameter(error: Mapping[str, Any], message: str, sent: frozenset[str] | None = None) -> str:
    """Return the rejected parameter, or "", from `sent` if unnamed.

    >>> rejected_parameter({"param": None}, 'Unrecognized request argument supplied: seed')
    'seed'
    >>> rejected_parameter({}, "A thinking model takes temperature 1 alone.", frozenset({"temperature"}))
    'temperature'
    """
    param = error.get("param")
    if _says("forced", message):
        return providers.TOOL
    parameter = param.partition(".")[0].partition("[")[0] if isinstance(param, str) and param != "None" else ""
    if not parameter and (first := _pattern("said", "first").match(message)):
        parameter = _sent_name(first[1])
        parameter = parameter if sent is None or provider_parameter_names(parameter) & sent else ""
    match = _says("named", message)
    named = parameter if provider_parameter_names(parameter) or not match else next(filter(None, match.groups()))
    if provider_parameter_names(named) or _says("foreign", named):
        return named
    # Not named as it was sent: told by its topic, in whatever words.
    full_message = f"{message} {json.dumps(error, default=str)}"
    topics = [name for name in _data()["topics"] if sent is None or provider_parameter_names(name) & sent]
    topic = next((name for name in topics if _pattern("topics", name).search(full_message)), "")
    if sent is None or not topic:
        return topic or parameter or (named if sent is None else "")
    return topic if topic in sent | {"response_format"} else min(provider_parameter_names(topic) & sent)


def _sent_name(path: str) -> str:
    steps = path.lower().split(".")
    names = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
    return next(filter(provider_parameter_names, names), "")
