"""Reading of a recorded result: the field that counts, as the text that a judge of the mode writes."""

import json
from collections.abc import Mapping
from typing import Any

from judgefixtures.models.pairs import LABELS
from judgefixtures.models.usage import Usage
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.prompts.templates import GRADE_FIELD, LAYOUTS
from judgefixtures.providers import FatalJudgeError, ProviderResponse
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import make_one_line

from .judge_table import JudgeTable
from .messages import MESSAGES

SHOWN = 500  # characters of a result, or of an exception's message, in a message of ours
MISSING = object()
GRADES = ("passed", "success", "verdict", "label")  # fields that hold no score, even as a number


def read_result(recorded: Mapping[str, Any], table: JudgeTable) -> ProviderResponse:
    """Return a recorded call's answer.

    Raises:
        FatalJudgeError: The result has no verdict, or two that differ.
    """
    result, served = recorded.get("result"), recorded.get("served")
    about: dict[str, Any] = {"served_model": served, "usage": _usage(recorded.get("usage") or {}, result, table)}
    if invalid := recorded.get("invalid"):
        return ProviderResponse("", invalid, error_text(recorded, table), **about)
    if isinstance(result, str):
        return ProviderResponse(result, **about)
    if table.verdict != "json":
        raise FatalJudgeError(MESSAGES.verdict_of_result(table, _shown(result)))
    value = _verdict(result, table)
    if value is None:
        return ProviderResponse("", "empty", MESSAGES.result_without_value(_shown(result)), **about)
    reason = _named(result, table, "reason", load_table("results")["reason"])
    key = {"binary": table.grade_field or GRADE_FIELD, "pairwise": "selected_response"}.get(table.mode, "score")
    return ProviderResponse(json.dumps({key: value, "reason": _text(reason)}, ensure_ascii=False), **about)


def error_text(recorded: Mapping[str, Any], table: JudgeTable) -> str:
    """Return what is to be said of a call without a result."""
    error = recorded.get("error") or {}
    if "class" not in error:
        return str(recorded.get("detail", ""))
    message = make_one_line(str(error.get("message") or ""))
    message = message if len(message) <= SHOWN else f"{message[:SHOWN]}..."
    return MESSAGES.raised(table.target, error["class"], message, error.get("place"))


def _text(value: Any) -> str:
    if value in (MISSING, None):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _verdict(result: Any, table: JudgeTable) -> Any:
    """Return the value that counts as the mode writes it, None if there is one without a value."""
    if not isinstance(result, Mapping):
        values = {"": result}
    elif own := (table.result or {}).get("verdict"):
        values = {own: _at(result, own)}
    else:
        values = {name: result.get(name, MISSING) for name in load_table("results")["verdict"][table.mode]}
    values = {name: value for name, value in values.items() if value is not MISSING}
    if not values:
        names = (table.result or {}).get("verdict") or load_table("results")["verdict"][table.mode]
        raise FatalJudgeError(MESSAGES.result_without_verdict(table, names, _shown(result)))
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        return None
    if not LAYOUTS[table.mode].has_labels:
        return next(iter(given.values()))
    return _grade(given, table, result)


def _grade(given: Mapping[str, Any], table: JudgeTable, result: Any) -> Any:
    """Return the word for pass or fail that the fields agree on; of unreadable fields, the first one's value."""
    scores = {name: value for name, value in given.items() if _is_number(value) and name not in GRADES}
    score = scores.get("score", next(iter(scores.values()), None))
    if table.pass_mark is not None and score is not None:
        return _word(float(score) >= table.pass_mark, table)
    grades = {name: grade for name, value in given.items() if (grade := _read(value, table)) is not None}
    stated = {name: grade for name, grade in grades.items() if name not in scores} or grades
    if not stated and score is not None:
        raise FatalJudgeError(MESSAGES.score_without_mark(table, next(iter(scores)), _shown(result)))
    if len({*stated.values()}) > 1:
        raise FatalJudgeError(MESSAGES.result_contradicts(table, list(stated), _shown(result)))
    return _word(next(iter(stated.values())), table) if stated else next(iter(given.values()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read(value: Any, table: JudgeTable) -> bool | None:
    """Return whether a value is a pass, None if it is no grade."""
    if isinstance(value, bool) and table.labels is None:
        return value
    if isinstance(value, Mapping | list):
        return None
    return parse_grade(json.dumps({GRADE_FIELD: value}), "json", table.labels, GRADE_FIELD).passed


def _word(passed: bool, table: JudgeTable) -> str | bool:
    return table.labels[not passed][0] if table.labels else LABELS[not passed]


def _named(result: Any, table: JudgeTable, key: str, usual: list[str]) -> Any:
    """Return the field that the table names for a key, or the first usual one that is there."""
    if own := (table.result or {}).get(key):  # type: ignore[call-overload]
        return _at(result, own)
    fields = result if isinstance(result, Mapping) else {}
    return next((fields[name] for name in usual if fields.get(name) is not None), MISSING)


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return MISSING
    return value


def _usage(observed: Mapping[str, Any], result: Any, table: JudgeTable) -> Usage:
    """Return the tokens and price of a call: from its HTTP answers, else from the result's own fields."""
    known = {name: observed.get(name) for name in Usage.__dataclass_fields__ if observed.get(name) is not None}
    names = load_table("results")
    stated = result.get("usage") if isinstance(result, Mapping) else None
    fields = {**(result if isinstance(result, Mapping) else {}), **(stated if isinstance(stated, Mapping) else {})}
    if "input_tokens" not in known:
        for kind, usual in names["usage"].items():
            count = next((fields[name] for name in usual if type(fields.get(name)) is int), None)
            known |= {} if count is None else {kind: count}
    cost = _named(result, table, "cost", names["cost"])
    if "usd" not in known and _is_number(cost) and cost >= 0:
        known["usd"] = float(cost)
    return Usage(**known)


def _shown(result: Any) -> str:
    text = make_one_line(json.dumps(result, ensure_ascii=False))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
