"""What a failed exchange means, for every provider: one question's fault, a passing one, or one that ends the asking.

How servers say it is in data/faults.toml: words that are new belong there, not in a provider.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgefixtures.providers import (
    LIMITS,
    LOGPROBS,
    TOOL,
    UNSET,
    Answer,
    FatalJudgeError,
    RetryableError,
    UnsupportedError,
    Usage,
)
from judgefixtures.providers.quotas import retry_after
from judgefixtures.providers.wire import Wire, as_table
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.secrets import masked, redacted

DATA = Path(__file__).parents[1] / "data" / "faults.toml"
RETRIED = frozenset({408, 409, 424, 425, 429, 498, 499})  # 498: Groq has no capacity left for its flex tier
LONGEST_MESSAGE = 5_000  # characters of an error that are looked through for what it means
MODERATED = ("content_filter", "invalid_prompt", "content_policy_violation", "moderation_blocked")
MODERATED_CODES = frozenset({*MODERATED, "data_inspection_failed", "1301"})
MODEL_CODES = frozenset({"model_not_found", "model_decommissioned", "DeploymentNotFound"})
ADDRESS_REMEDY = "there is nothing at this address: check base_url (does it lack /v1, or have it twice?)."
UNKNOWN_MODEL = "the server does not know the model"
LOADING = " -- the server says that it loads its model: look there how far it is"
KEY_REMEDY = "the API key is not accepted: check the variable that api_key_env names."


@functools.cache
def _data() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


@functools.cache
def _pattern(table: str, name: str) -> re.Pattern[str]:
    return re.compile("|".join(_data()[table][name]), re.IGNORECASE)


def _says(what: str, message: str) -> re.Match[str] | None:
    """Return where a message says what data/faults.toml lists under a name, or None."""
    return _pattern("said", what).search(message)


def sent_as(parameter: str) -> frozenset[str]:
    """Return the names under which providers send a parameter that a server rejects; empty if none does.

    >>> sorted(sent_as("thinkingBudget"))
    ['reasoning_effort', 'thinking_config']
    """
    return frozenset(_data()["sent_as"].get(parameter.replace("_", "").lower(), ()))


def status_in(error: Any) -> int:
    """Return the status that an error inside a 200 names, or 502: somebody upstream failed."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 502


def failure(wire: Wire, model: str) -> Answer:
    """Return the invalid answer that a failed exchange is, or raise RetryableError or FatalJudgeError."""
    if 300 <= wire.status < 400:
        raise FatalJudgeError(
            f"HTTP {wire.status} redirects to {_without_query(wire.headers)!r}: set base_url to the "
            "final address (a redirected POST would arrive as a GET)."
        )
    error = error_object(wire)
    answer = error_answer(wire.status, error, wire.headers, model)
    # APIs tell errors in JSON. A page of words is from whoever stands before them, and no word on this pair, whatever
    # it says; only the size is (413 is about the request alone, whoever measures it).
    if wire.status != 413 and not wire.body.lstrip().startswith(("{", "[")):
        raise FatalJudgeError(
            f"{answer.detail} -- this is not the judge's answer but that of a gateway, proxy or firewall before it: "
            "find out there why it refuses the request, then run again with --judge-record missing."
        )
    return replace(answer, usage=Usage(0, 0))  # an error status is not billed


def _without_query(headers: Mapping[str, str]) -> str:
    """Return where a redirect leads, without what a sign-in page puts behind a question mark or a hash."""
    return masked(re.sub(r"([?#]).*", r"\1...", headers.get("location", "(nowhere)"), flags=re.DOTALL))


def error_object(wire: Wire) -> Mapping[str, Any]:
    """Return the error object of a body, or one that holds the body's beginning as message."""
    try:
        found = json.loads(wire.body)
    except (ValueError, RecursionError):
        return {"message": redacted(wire.body)[:300]}
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, dict):
        return {"message": redacted(wire.body)[:300]}
    error = found.get("error", found)
    if not isinstance(error, dict):
        return {**found, "message": str(error or redacted(wire.body)[:300])}
    named = as_table(error.get("details")).get("error_code")  # where Anthropic's API names the cause
    return error if named is None or error.get("code") is not None else {**error, "code": named}


def error_answer(status: int, error: Mapping[str, Any], headers: Mapping[str, str], model: str) -> Answer:
    """Classify an error by status and content: one item's fault, a passing fault, or a fatal one."""
    message = str(error.get("message") or error.get("detail") or "").strip()
    if raw := as_table(error.get("metadata")).get("raw"):  # what the provider behind a gateway said
        message = f"{message}: {raw}"
    # Whole: a secret that is cut in two is not known any more.
    said = f"HTTP {status}: {masked(message)[:400]}" if message else f"HTTP {status}"
    message = message[:LONGEST_MESSAGE]
    if kind := _item_fault(status, error, message):
        return Answer("", kind, said)
    if status in (400, 403, 422, 501) and (refusal := refused_logprobs(error, message, said)) is not None:
        raise refusal
    if remedy := _fatal_remedy(status, error, message, model):
        raise FatalJudgeError(f"{said} -- {remedy}")
    if status in (400, 422):
        parameter = rejected_parameter(error, message)
        raise UnsupportedError(f"{said} -- {_unsupported(parameter)}", parameter)
    if status in RETRIED or status >= 500:
        loading = status >= 500 and _says("loading", message) is not None
        said += LOADING if loading else ""
        raise RetryableError(said, retry_after=retry_after(headers, error, message), status=status, loading=loading)
    raise FatalJudgeError(f"{said} -- the request cannot succeed as it is.")


def _unsupported(parameter: str) -> str:
    """Return what to do about a parameter that a server rejects; one with a default is sent unless it is unset."""
    if not parameter:
        return (
            "the server rejects the request and does not say what of it: compare the judge's table (model, "
            "parameters, response_format) with what this model takes."
        )
    if parameter in LIMITS or parameter == "max_output_tokens":
        how = "change max_output_tokens"
    elif parameter in ("temperature", "seed"):
        how = f'set {parameter} = "{UNSET}"'
    else:
        how = f"change or remove {_data()['keys'].get(parameter, 'it')}"
    return (
        f"the server rejects {parameter}: {how} in the judge's table, or set drop_unsupported = true to leave out "
        "what this model does not take."
    )


def refused_logprobs(error: Mapping[str, Any], message: str, said: str) -> FatalJudgeError | None:
    """Return what an error means that rejects token probabilities; None for any other error.

    A model that gives none is an UnsupportedError; one that gives fewer than are asked for can be asked for fewer.

    >>> refused_logprobs({}, "Logprobs is not enabled for models/gemini-2.5-pro", "HTTP 400").parameter
    'logprobs'
    >>> str(refused_logprobs({}, "top_logprobs must be <= 5", "HTTP 400")).rpartition(": ")[2]
    "set top_logprobs = 5 in the judge's table."
    """
    if sent_as(rejected_parameter(error, message)) != LOGPROBS:
        return None
    if not _says("too_many", message):
        return UnsupportedError(
            f"{said} -- the model gives no token probabilities: leave logprobs out of the judge's table.", "logprobs"
        )
    found = _says("at_most", message)
    at_most = f"top_logprobs = {found[1] or found[2]}" if found else "top_logprobs to a number that it takes"
    return FatalJudgeError(
        f"{said} -- the server lists fewer tokens in a place than it is asked for: set {at_most} in the judge's table."
    )


def _item_fault(status: int, error: Mapping[str, Any], message: str) -> InvalidKind | None:
    """Return the kind of an error that concerns this prompt alone, or None."""
    code, param = str(error.get("code")), str(error.get("param"))
    if code in MODERATED_CODES or error.get("type") == "content_filter":
        return "filtered"
    if status in (400, 403, 422) and _says("moderated", message):
        return "filtered"
    if code == "json_validate_failed":
        return "no-json"
    if status == 413 or code in ("context_length_exceeded", "string_above_max_length"):
        return "too-large"
    if status in (400, 422, 500) and (param == "input_tokens" or _says("too_large", message)):
        return "too-large"
    if status == 429 and "request too large" in message.lower():
        return "too-large"
    if status == 429 and (sizes := _says("requested", message)) and _number(sizes[2]) > _number(sizes[1]) > 0:
        return "too-large"
    return None


def _number(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits else 0


def _fatal_remedy(status: int, error: Mapping[str, Any], message: str, model: str) -> str | None:
    """Return what to do about an error that no retry cures, or None."""
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
        return "the account has to be paid or topped up, or activated, first."
    if "insufficient_quota" in (code, error.get("type")) or "spend_limit" in code or _says("no_money", message):
        return "the quota of this account is used up: raise it, then run again with --judge-record missing."
    if status == 429 and ("PerDay" in details or _says("daily", message)):
        return "a daily limit is used up: run again with --judge-record missing when it is reset."
    if status == 429 and re.search(r"limit:? 0(?![.,]?\d)\b", lower):
        return f"this account may not use {model!r} at all: use another model or another plan."
    if "user location" in lower or "country, region" in lower or "unsupported_country" in code:
        return "the provider does not serve this region: run from another one, or use another provider."
    if _says("no_endpoint", message) or (status in (404, 410) and not no_model and "model" not in lower):
        return ADDRESS_REMEDY
    if _says("plain_http", message):
        return "the server speaks TLS: write https:// instead of http:// in base_url."
    if status in (404, 410) or code in MODEL_CODES or (status in (400, 403, 422) and no_model):
        return (
            f"{UNKNOWN_MODEL} {model!r} (retired, renamed, another API version, or not open to this key): ask it "
            "for its list of models."
        )
    if status == 403:
        return "access is denied: check the key's permissions, the project and the region."
    if status in (405, 501):
        return "this server does not offer the call: check base_url."
    return None


def rejected_parameter(error: Mapping[str, Any], message: str) -> str:
    """Return the name of the parameter that an error rejects, or an empty text.

    >>> rejected_parameter({"param": None}, 'Unrecognized request argument supplied: seed')
    'seed'
    """
    param = error.get("param")
    if _says("forced", message):
        return TOOL
    told = param.partition(".")[0].partition("[")[0] if isinstance(param, str) and param != "None" else ""
    if not told and (first := _pattern("said", "first").match(message)):
        told = _sent_name(first[1])
    found = _says("named", message)
    named = told if sent_as(told) or not found else next(filter(None, found.groups()))
    if sent_as(named):
        return named
    # Not named as it was sent: told by its topic, in whatever words.
    said = f"{message} {json.dumps(error, default=str)}"
    return next((name for name in _data()["topics"] if _pattern("topics", name).search(said)), told or named)


def _sent_name(path: str) -> str:
    """Return the longest beginning of a path of fields under which providers send something, or an empty text.

    >>> _sent_name("output_config.format.schema"), _sent_name("messages.content")
    ('output_config.format', '')
    """
    steps = path.lower().split(".")
    names = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
    return next(filter(sent_as, names), "")
