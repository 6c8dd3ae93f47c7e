"""Answer forms of grades; a prompt states the passing label first."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .sureness import VerdictTokens

Notation = Literal["json", "brackets", "grade", "word"]
USUAL = ("pass", "fail")
_SPEAK_WELL = ("pass", "passed", "correct", "right", "good")  # of a response, wherever in a prompt they stand
_OF_REASONS = ("reason", "reasoning", "explanation", "rationale", "feedback", "comment", "why")
_BARE = r"\w+(?:['-]\w+)*"
_WORD = rf'"[^"\n]*"|{_BARE}(?: {_BARE}){{0,2}}?'
_END = r'(?=[.,;)}]|[ \t]*$|(?<=")[ \t])'
_FIELD = re.compile(rf'"(\w+)": *({_WORD}) (?:or|\|) ({_WORD}){_END}', re.MULTILINE)
_REASON = re.compile(rf'"({"|".join(_OF_REASONS)})":')
_LABELS: Mapping[Notation, re.Pattern[str]] = {
    "brackets": re.compile(r"\[\[([^\[\]\n]+)]]"),
    "grade": re.compile(rf"GRADE: *({_BARE}(?: (?!or\b){_BARE})*)"),
    "word": re.compile(rf"\b(?:one|single) word\b[^\n:]*: *({_WORD}) or ({_WORD}){_END}", re.IGNORECASE | re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class GradeForm:
    """The notation, labels (pass first) and JSON fields of a grade."""

    notation: Notation
    labels: tuple[Any, Any] = USUAL
    fields: Mapping[str, str] = field(default_factory=lambda: {"verdict": "grade", "reason": "string"})

    def say(self, passed: bool, reason: str) -> str:
        r"""Return an answer in this form.

        >>> GradeForm("brackets", ("PASS", "FAIL")).say(True, "It is right.")
        'It is right.\n\n[[PASS]]'
        """
        label = self.labels[not passed]
        if self.notation == "json":
            held = {"grade": label, "string": reason, "boolean": passed, "integer": int(passed), "number": int(passed)}
            return json.dumps({name: held.get(what) for name, what in self.fields.items()}, ensure_ascii=False)
        return {"brackets": f"{reason}\n\n[[{label}]]", "grade": f"{reason}\n\nGRADE: {label}", "word": str(label)}[
            self.notation
        ]

    def stated(self, text: str) -> VerdictTokens:
        """Return where an answer states its grade.

        >>> answer = GradeForm("grade", ("C", "I")).say(False, "It is wrong.")
        >>> GradeForm("grade", ("C", "I")).stated(answer).texts
        (' C', ' I')
        """
        if self.notation == "json":
            name = next(name for name, what in self.fields.items() if what == "grade")
            start = text.index(f"{json.dumps(name)}: ") + len(json.dumps(name)) + 1
            written = [f" {json.dumps(label, ensure_ascii=False)}" for label in self.labels]
            longest_first = sorted(written, key=len, reverse=True)
            end = start + len(next(each for each in longest_first if text.startswith(each, start)))
            if text.startswith(' "', start):  # of a string, what stands between its quotation marks
                return VerdictTokens(start + 2, end - 1, _pair(each.strip(' "') for each in written))
            return VerdictTokens(start, end, _pair(written))
        before = {"brackets": "[[", "grade": "GRADE:", "word": ""}[self.notation]
        dress = {"brackets": "{}", "grade": " {}", "word": "{}"}[self.notation]
        start = text.rindex(before) + len(before) if before else 0
        end = text.rindex("]]") if self.notation == "brackets" else len(text)
        return VerdictTokens(start, end, _pair(dress.format(label) for label in self.labels))


def requested_form(head: str, prompt: str, schema: Mapping[str, Any] | None = None) -> GradeForm:
    """Return the form that a prompt or its schema requests, default JSON.

    `head` is the prompt before the response.

    >>> requested_form('Say {"passed": true or false}.', "").labels
    (True, False)
    """
    form = _in_words(head) or _in_words(prompt) or GradeForm("json")
    return form if schema is None else _in_schema(form, schema)


def _in_words(text: str) -> GradeForm | None:
    forms = [each for each in (_json(text), *map(functools.partial(_plain, text), _LABELS)) if each is not None]
    return min(forms, key=lambda each: each[0])[1] if forms else None


def _json(text: str) -> tuple[int, GradeForm] | None:
    for named in _FIELD.finditer(text):
        if named[1] in _OF_REASONS:
            continue
        reason = _REASON.search(text)
        fields = {named[1]: "grade", reason[1] if reason else "reason": "string"}
        if reason and reason.start() < named.start():
            fields = dict(reversed(fields.items()))
        return named.start(), GradeForm("json", _ordered(_value(named[2]), _value(named[3])), fields)
    return None


def _plain(text: str, notation: Notation) -> tuple[int, GradeForm] | None:
    labels_at = [(each.start(), label.strip()) for each in _LABELS[notation].finditer(text) for label in each.groups()]
    labels = list(dict.fromkeys(label for _, label in labels_at))
    return (labels_at[0][0], GradeForm(notation, _ordered(*labels[:2]))) if len(labels) > 1 else None


def _ordered(first: Any, second: Any) -> tuple[Any, Any]:
    good = [str(label).lower() in _SPEAK_WELL for label in (first, second)]
    return (second, first) if good == [False, True] else (first, second)


def _value(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written


def _in_schema(form: GradeForm, schema: Mapping[str, Any]) -> GradeForm:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    kinds = {name: _kind(each) for name, each in properties.items()}
    name = next((name for name in form.fields if form.fields[name] == "grade" and name in kinds), None)
    name = name or next((name for name, kind in kinds.items() if kind in ("enum", "boolean")), None)
    name = name or next((name for name in kinds if name not in _OF_REASONS), None)
    if name is None:
        return form
    allowed = properties[name].get("enum") or ([True, False] if kinds[name] == "boolean" else None)
    labels = form.labels
    if allowed and len(allowed) > 1 and not all(label in allowed for label in labels):
        labels = _ordered(*allowed[:2])
    if kinds[name] == "string":
        labels = _as_text(labels[0]), _as_text(labels[1])
    return GradeForm("json", labels, {each: "grade" if each == name else kind for each, kind in kinds.items()})


def _as_text(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _kind(described: Mapping[str, Any]) -> str:
    return "enum" if "enum" in described else str(described.get("type", "string")).lower()


def _pair(texts: Any) -> tuple[str, str]:
    first, second = texts
    return first, second
