"""In which form a prompt, or the schema beside it, asks for a grade, and a grade in that form.

Which label passes is what a prompt states first, as the built-in templates do. No response is known here.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judgefixtures.simulator.sureness import Stated

Notation = Literal["json", "brackets", "grade", "word"]
USUAL = ("pass", "fail")
_SPEAK_WELL = ("pass", "passed", "correct", "right", "good")  # of a response, wherever in a prompt they stand
_OF_REASONS = ("reason", "reasoning", "explanation", "rationale", "feedback", "comment", "why")
_BARE = r"\w+(?:['-]\w+)*"
_WORD = rf'"[^"\n]*"|{_BARE}(?: {_BARE}){{0,2}}?'
_ENDS = r'(?=[.,;)}]|[ \t]*$|(?<=")[ \t])'
_FIELD = re.compile(rf'"(\w+)": *({_WORD}) (?:or|\|) ({_WORD}){_ENDS}', re.MULTILINE)
_REASON = re.compile(rf'"({"|".join(_OF_REASONS)})":')
_LABELS: Mapping[Notation, re.Pattern[str]] = {
    "brackets": re.compile(r"\[\[([^\[\]\n]+)]]"),
    "grade": re.compile(rf"GRADE: *({_BARE}(?: (?!or\b){_BARE})*)"),
    "word": re.compile(
        rf"\b(?:one|single) word\b[^\n:]*: *({_WORD}) or ({_WORD}){_ENDS}", re.IGNORECASE | re.MULTILINE
    ),
}


@dataclass(frozen=True, slots=True)
class Form:
    """How a grade is to be said: in which notation, and by which labels, that of a pass first.

    Of JSON also the fields of the answer in their order: what a field holds beside its name, "grade" or a type.
    """

    notation: Notation
    labels: tuple[Any, Any] = USUAL
    fields: Mapping[str, str] = field(default_factory=lambda: {"verdict": "grade", "reason": "string"})

    def say(self, passed: bool, reason: str) -> str:
        """Return an answer in this form.

        >>> Form("brackets", ("PASS", "FAIL")).say(True, "It is right.")
        'It is right.\\n\\n[[PASS]]'
        """
        label = self.labels[not passed]
        if self.notation == "json":
            values = {
                "grade": label,
                "string": reason,
                "boolean": passed,
                "integer": int(passed),
                "number": int(passed),
            }
            return json.dumps({name: values.get(what) for name, what in self.fields.items()}, ensure_ascii=False)
        return {"brackets": f"{reason}\n\n[[{label}]]", "grade": f"{reason}\n\nGRADE: {label}", "word": str(label)}[
            self.notation
        ]

    def stated(self, text: str) -> Stated:
        """Return where an answer in this form states its grade.

        >>> answer = Form("grade", ("C", "I")).say(False, "It is wrong.")
        >>> Form("grade", ("C", "I")).stated(answer).texts
        (' C', ' I')
        """
        if self.notation == "json":
            name = next(name for name, what in self.fields.items() if what == "grade")
            start = text.index(f"{json.dumps(name)}: ") + len(json.dumps(name)) + 1
            written = [f" {json.dumps(label, ensure_ascii=False)}" for label in self.labels]
            said = next(each for each in sorted(written, key=len, reverse=True) if text.startswith(each, start))
            if said.startswith(' "'):  # of a string, what stands between its quotation marks
                return Stated(start + 2, start + len(said) - 1, _pair(each.strip(' "') for each in written))
            return Stated(start, start + len(said), _pair(written))
        before = {"brackets": "[[", "grade": "GRADE:", "word": ""}[self.notation]
        dress = {"brackets": "{}", "grade": " {}", "word": "{}"}[self.notation]
        start = text.rindex(before) + len(before) if before else 0
        end = text.rindex("]]") if self.notation == "brackets" else len(text)
        return Stated(start, end, _pair(dress.format(label) for label in self.labels))


def asked_form(head: str, prompt: str, schema: Mapping[str, Any] | None = None) -> Form:
    """Return the form that a prompt asks for, where what stands before the response is its `head`.

    A schema has the last word on fields and on the labels that they can hold. Where nothing is stated it is JSON.

    >>> asked_form('Say {"passed": true or false}.', "").labels
    (True, False)
    """
    form = _in_words(head) or _in_words(prompt) or Form("json")
    return form if schema is None else _in_schema(form, schema)


def _in_words(text: str) -> Form | None:
    """Return the form that a text states first; None where it states none."""
    found = [each for each in (_json(text), *map(functools.partial(_plain, text), _LABELS)) if each is not None]
    return min(found, key=lambda each: each[0])[1] if found else None


def _json(text: str) -> tuple[int, Form] | None:
    """Return where a text names a field with two labels, and the form of an answer with it."""
    for named in _FIELD.finditer(text):
        if named[1] in _OF_REASONS:
            continue
        reason = _REASON.search(text)
        fields = {named[1]: "grade", reason[1] if reason else "reason": "string"}
        if reason and reason.start() < named.start():
            fields = dict(reversed(fields.items()))
        return named.start(), Form("json", _ordered(_value(named[2]), _value(named[3])), fields)
    return None


def _plain(text: str, notation: Notation) -> tuple[int, Form] | None:
    """Return where a text states two labels in a notation, and the form of an answer with one of them."""
    found = [(each.start(), label.strip()) for each in _LABELS[notation].finditer(text) for label in each.groups()]
    labels = list(dict.fromkeys(label for _, label in found))
    return (found[0][0], Form(notation, _ordered(*labels[:2]))) if len(labels) > 1 else None


def _ordered(first: Any, second: Any) -> tuple[Any, Any]:
    """Return two labels, that of a pass first: the first one, unless only the second says so by itself."""
    good = [str(label).lower() in _SPEAK_WELL for label in (first, second)]
    return (second, first) if good == [False, True] else (first, second)


def _value(written: str) -> Any:
    """Return the value that a label in a prompt is in JSON: what it is there already, or a text."""
    try:
        return json.loads(written)
    except ValueError:
        return written


def _in_schema(form: Form, schema: Mapping[str, Any]) -> Form:
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
    return Form("json", labels, {each: "grade" if each == name else kind for each, kind in kinds.items()})


def _as_text(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _kind(described: Mapping[str, Any]) -> str:
    return "enum" if "enum" in described else str(described.get("type", "string")).lower()


def _pair(texts: Any) -> tuple[str, str]:
    first, second = texts
    return first, second
