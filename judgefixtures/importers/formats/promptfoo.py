"""Exports of promptfoo: outputs with results of graders, assertions and people, or of a judge."""

import contextlib
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from judgefixtures.sources import known_sources
from judgefixtures.sources.row_readers import DataRow, cell_value, lookup
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import open_regular
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import make_one_line

from ..messages import MESSAGES
from .cell_values import dict_or_empty, text_or_none
from .loaded_file import By, ExportFormat, LoadedFile, finite_number, normalized_row
from .titles import Told, metric_names

BEST, HUMAN = "select-best", "human"
CONTESTANTS = 2  # for a choice of select-best that is one of a judge of pairs
KEPT = ("vars", "prompt", "provider", "response", "metadata", "testIdx", "promptIdx", "success", "score", "namedScores")
ASKED = ("question", "input", "query", "prompt")  # variables of a test that are what was asked
NOT_ASKED = frozenset({"id", "label", "labels", "category", "cluster", "order", "condition", "gold"})
STRIPPED = "[output stripped]"  # in place of a text, with PROMPTFOO_STRIP_RESPONSE_OUTPUT
LONGEST_ERROR = 200
OTHERS = (".yaml", ".yml", ".html", ".xml")
COLUMN = re.compile(r'(^|,)"?\[[^],]+\] ')
MARKS = ("[PASS]", "[FAIL]", "[ERROR]")
LONGEST_HEAD = 100_000


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """The result of one assertion about an output.

    Attributes:
        told: Name and details that make it unique (rubric, model).
        error: Why there is no result.
    """

    said: Mapping[str, Any]
    assertion: Mapping[str, Any]
    type: str
    by: By
    told: Told
    error: str | None = None

    @property
    def passed(self) -> bool | None:
        """The grade; None for assertions without weight, which always pass."""
        passed = self.said.get("pass")
        return passed if isinstance(passed, bool) and self.assertion.get("weight") != 0 else None

    @property
    def score(self) -> float | None:
        """The score."""
        return finite_number(self.said.get("score"))


def assertion_result(result: Mapping[str, Any], assertion: Any, error: str | None = None) -> AssertionResult:
    """Return an assertion's result; `assertion` may be missing."""
    assertion = assertion if isinstance(assertion, Mapping) else {}
    kind = str(assertion.get("type") or "unnamed")
    name = str(assertion.get("metric") or kind)
    more = (_worded(assertion.get(key)) for key in ("value", "provider"))
    title = (name, kind if kind != name else "", *more)
    return AssertionResult(result, assertion, kind, assertion_source(kind), title, error)


@functools.cache
def assertion_source(kind: str) -> By:
    """Return who judges by this kind of assertion.

    >>> assertion_source("not-llm-rubric"), assertion_source("human"), assertion_source("contains")
    ('judge', 'person', 'code')
    """
    kind = kind.removeprefix("not-")
    is_judge = kind in load_table("logs")["promptfoo"]["judges"]
    is_judge |= kind.startswith(("promptfoo:redteam:", "similar:"))
    return "person" if kind == HUMAN else "judge" if is_judge else "code"


@dataclass(frozen=True, slots=True)
class PromptfooOutput:
    """An output of a test with its id and results."""

    row: DataRow
    parts: tuple[AssertionResult, ...]
    id: str = ""
    cluster: str | None = None


class PromptfooFormat(ExportFormat):
    """promptfoo's format: an assertion's result, or a select-best choice, per row.

    Without grades, a row is a test whose output is the judge's answer.
    """

    name: ClassVar[str] = "promptfoo"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are results of tests and prompts."""
        if isinstance(held.value, dict):
            results = held.value.get("results")
            cells = results.get("results") if isinstance(results, dict) else results
            return isinstance(cells, list) and bool(cells) and _is_cell(cells[0])
        return bool(held.rows) and _is_cell(held.rows[0].fields)

    @classmethod
    def refuse(cls, file: Path) -> None:
        """Raise JudgeFixturesError for promptfoo's unsupported forms."""
        suffix = file.suffix.lower()
        if suffix in OTHERS or (suffix in (".csv", ".tsv") and _is_table(file)):
            raise JudgeFixturesError(MESSAGES.promptfoo_not_json(file))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per judgement or test."""
        where = _where(held)
        tests = known_sources.promptfoo_tests(_cells(held))
        test_rows = {n: known_sources.promptfoo_test(n, cells, where) for n, cells in tests.items()}
        by_test = {n: [PromptfooOutput(cell, tuple(_parts(cell))) for cell in cells] for n, cells in tests.items()}
        outputs = [output for of_test in by_test.values() for output in of_test]
        if not any(part.by == "judge" for output in outputs for part in output.parts):
            return [row._replace(fields=_with_best(row.fields)) for row in test_rows.values()]
        names, chosen = _names(outputs), _choices(by_test)
        rows = [_chosen(test_rows[number], chosen[number], names) for number in chosen]
        called, seen = _called(outputs), Counter[tuple[str, By, str]]()
        is_repeated = len({output.id for output in called}) < len(called)
        for output in called:
            for part in output.parts:
                if chosen and part.type == BEST:
                    continue
                key = (output.id, part.by, names[part.by, part.told])
                rows.append(_judged(output, part, key[-1], seen[key] if is_repeated and not part.error else None))
                seen[key] += not part.error
        return rows

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return a note if gradings come from a cache."""
        cells = (cell for of_test in known_sources.promptfoo_tests(_cells(held)).values() for cell in of_test)
        outputs = [PromptfooOutput(cell, tuple(part for part in _parts(cell) if _is_cached(part))) for cell in cells]
        if not any(output.parts for output in outputs):
            return ()
        cached, seen = 0, set[str]()
        for output in _called(outputs):
            cached += len(output.parts) if output.id in seen else 0
            seen.add(output.id)
        if not cached:
            return ()
        return (MESSAGES.promptfoo_cached(cached, held),)


# --- what a file holds ------------------------------------------------------------------------------------------


def _cells(held: LoadedFile) -> list[DataRow]:
    return list(held.rows) if held.value is None else known_sources.promptfoo_cells(held.value, _where(held))


def _is_table(file: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(file) as lines:
        head, first = (lines.readline(LONGEST_HEAD).decode("utf-8", "replace") for _ in range(2))
        return bool(COLUMN.search(head)) and ("Grader Reason" in head or any(mark in first for mark in MARKS))
    return False


def _where(held: LoadedFile) -> str:
    return f"dataset {held.source.name!r}: {held.file}"


def _is_cell(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({"testIdx", "promptIdx", "gradingResult"} & value.keys())


# --- what was said of an output -----------------------------------------------------------------------------------


def _parts(cell: DataRow) -> Iterator[AssertionResult]:
    grading = cell.fields.get("gradingResult")
    failed = known_sources.provider_error(cell.fields) or (cell.fields.get("error") if not grading else None)
    if failed:
        asserts = lookup(cell.fields, "testCase.assert")
        expected = [assertion for each in asserts for assertion in _flat(each)] if isinstance(asserts, list) else []
        yield from (assertion_result({}, assertion, _short(failed)) for assertion in expected)
        return
    if not isinstance(grading, Mapping):
        if grading is None:
            return
        raise cell.mistake(f"gradingResult must be an object, got a {type(grading).__name__}.")
    parts = grading.get("componentResults")
    if parts is not None and not isinstance(parts, list):
        raise cell.mistake(f"gradingResult.componentResults must be a list, got a {type(parts).__name__}.")
    alone = [grading] if grading.get("assertion") else []  # a select-best that is the only assertion
    for result in _leaves([part for part in parts if part is not None] if parts else alone, cell):
        part = assertion_result(result, result.get("assertion"))
        error = _no_grade(part, cell)
        yield replace(part, error=error) if error else part


def _is_cached(part: AssertionResult) -> bool:
    cached = lookup(part.said, "tokensUsed.cached")
    return part.by == "judge" and isinstance(cached, int) and cached > 0


def _flat(assertion: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(assertion, Mapping):
        return
    inner = assertion.get("assert")
    if assertion.get("type") != "assert-set":
        yield assertion
    elif isinstance(inner, list):
        yield from (each for each in inner if isinstance(each, Mapping))


def _leaves(parts: Sequence[Any], cell: DataRow) -> Iterator[Mapping[str, Any]]:
    """Yield results of single assertions; a set also repeats its members."""
    number = 0
    while number < len(parts):
        part = parts[number]
        number += 1
        if not isinstance(part, Mapping):
            raise cell.mistake(f"a component of gradingResult must be an object, got a {type(part).__name__}.")
        inner = part.get("componentResults")
        members = [each for each in inner if each is not None] if isinstance(inner, list) else []
        again = parts[number : number + len(members)]
        if members and [*map(_gist, again)] == [*map(_gist, members)]:
            number += len(members)
            members = list(again)  # those that stand beside it name their assertion
        if not members or part.get("assertion"):
            yield part
        elif members != [part]:
            yield from _leaves(members, cell)


def _gist(part: Any) -> Any:
    return tuple(repr(part.get(name)) for name in ("pass", "score", "reason")) if isinstance(part, Mapping) else part


def _no_grade(part: AssertionResult, cell: DataRow) -> str | None:
    """Return why a grader failed; older versions tell only in the reason."""
    result, reason = part.said, part.said.get("reason")
    if not isinstance(reason, str | None):
        raise cell.mistake(f"the reason of a component must be a text, got a {type(reason).__name__}.")
    if part.passed is None and part.score is None:
        return "neither pass nor score"
    if part.by != "judge":
        return None
    begins = tuple(load_table("logs")["promptfoo"]["no_grade"])
    is_told = lookup(result, "metadata.graderError") is True
    if is_told or (result.get("pass") is False and not result.get("score") and (reason or "").startswith(begins)):
        return _short(reason or "the grader failed")
    return None


def _short(error: Any) -> str:
    return make_one_line(error if isinstance(error, str) else _json(error))[:LONGEST_ERROR]


# --- what it is called ----------------------------------------------------------------------------------------------


def _names(outputs: Sequence[PromptfooOutput]) -> dict[tuple[By, Told], str]:
    judges = metric_names([[part.told for part in output.parts if part.by == "judge"] for output in outputs])
    checks = metric_names([[part.told for part in output.parts if part.by == "code"] for output in outputs])
    taken, only = {*judges.values()}, next(iter(judges.values())) if len({*judges.values()}) == 1 else HUMAN
    people = {part.told: only for output in outputs for part in output.parts if part.by == "person"}
    named: dict[tuple[By, Told], str] = {("judge", title): name for title, name in judges.items()}
    named |= {("code", title): f"{name} ({title[1]})" if name in taken else name for title, name in checks.items()}
    return named | {("person", title): name for title, name in people.items()}


def _called(outputs: Sequence[PromptfooOutput]) -> list[PromptfooOutput]:
    """Return outputs with ids.

    `ID/1` numbers the outputs of a test, `ID~2` different outputs of equal variables.
    """
    keys = [_test_key(output.row) for output in outputs]
    names = _test_names(keys, outputs)
    is_several = len({output.row.fields["promptIdx"] for output in outputs}) > 1
    tests = {(key, output.row.fields["testIdx"]) for key, output in zip(keys, outputs, strict=True)}
    is_repeated = len(tests) > len(names)
    given: dict[tuple[str, int], dict[str, int]] = {}  # the outputs of a test, numbered
    outputs_named = []
    for key, output in zip(keys, outputs, strict=True):
        prompt, text = output.row.fields["promptIdx"], _response(output.row)
        texts = given.setdefault((key, prompt), {})
        number = 1 if text is None else texts.setdefault(text, len(texts) + 1)
        name = f"{names[key]}/{prompt + 1}" if is_several else names[key]
        name += f"~{number}" if number > 1 else ""
        outputs_named.append(replace(output, id=name, cluster=names[key] if is_several or is_repeated else None))
    return outputs_named


def _test_names(keys: Sequence[str], outputs: Sequence[PromptfooOutput]) -> dict[str, str]:
    own, numbers = dict[str, str](), dict[str, str]()
    for key, output in zip(keys, outputs, strict=True):
        own.setdefault(key, _own_id(output.row))
        numbers.setdefault(key, str(output.row.fields["testIdx"]))
    return numbers if "" in own.values() or len({*own.values()}) < len(own) else own


def _test_key(row: DataRow) -> str:
    given = lookup(row.fields, "testCase.vars", row.fields.get("vars"))
    return _json([given or row.fields["testIdx"], lookup(row.fields, "testCase.description", None)])


def _own_id(row: DataRow) -> str:
    value = lookup(row.fields, "vars.id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


# --- rows -------------------------------------------------------------------------------------------------------


def _judged(output: PromptfooOutput, part: AssertionResult, metric: str, repeat: int | None) -> DataRow:
    cell = output.row
    component = {name: value for name, value in part.said.items() if name in ("pass", "score", "reason", "comment")}
    fields = {name: cell.fields[name] for name in KEPT if name in cell.fields}
    row = cell._replace(fields={**fields, "component": component, "assertion": dict(part.assertion)})
    grade = {} if part.error else {"passed": part.passed, "score": part.score}
    reason = text_or_none(part.said.get("comment")) if part.by == "person" else part.said.get("reason")
    place = {"id": output.id, "repeat": repeat, "cluster": output.cluster}
    model = _provider(cell.fields.get("provider"))
    texts = {"question": _question(cell.fields), "response": _response(cell), "model": model}
    return normalized_row(row, metric=metric, by=part.by, **grade, reason=reason, error=part.error, **place, **texts)


def _response(cell: DataRow) -> str | None:
    text = known_sources.output_text(lookup(cell.fields, "response.output", None))
    return None if text == STRIPPED else text


def _provider(value: Any) -> str | None:
    name = value.get("id") if isinstance(value, Mapping) else value
    return name if isinstance(name, str) and name else None


def _question(fields: Mapping[str, Any]) -> str | None:
    given = dict_or_empty(fields.get("vars"))
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    if named := next((texts[name] for name in ASKED if texts.get(name)), None):
        return named
    others = [value for name, value in texts.items() if name not in NOT_ASKED]
    prompt = lookup(fields, "prompt.raw")
    return others[0] if len(others) == 1 else _question_in_prompt(prompt) if isinstance(prompt, str) else None


def _question_in_prompt(prompt: str) -> str:
    messages = cell_value(prompt)
    contents = [each.get("content") for each in messages if _is_users(each)] if isinstance(messages, list) else []
    return "\n\n".join(contents) if contents and all(isinstance(each, str) for each in contents) else prompt


def _is_users(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "user"


# --- choices ----------------------------------------------------------------------------------------------------


def _choices(by_test: Mapping[int, Sequence[PromptfooOutput]]) -> dict[int, list[AssertionResult]]:
    best = {n: [part for each in outputs for part in each.parts if part.type == BEST] for n, outputs in by_test.items()}
    best = {number: parts for number, parts in best.items() if parts}
    return best if all(len(by_test[number]) == CONTESTANTS for number in best) else {}


def _chosen(test: DataRow, parts: Sequence[AssertionResult], names: Mapping[tuple[By, Told], str]) -> DataRow:
    error = next((part.error for part in parts if part.error), None)
    row = test._replace(fields=_with_best(test.fields))
    return normalized_row(row, metric=names["judge", parts[0].told], error=error)


def _with_best(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    outputs = fields["outputs"]
    best = [_selects(grading) for grading in fields["gradings"]]
    if len(outputs) != 2 or None in best:
        return {**fields, "output": outputs[0]} if len(outputs) == 1 else fields
    chosen = best.index(True) + 1 if best.count(True) == 1 else None
    given = dict_or_empty(fields["vars"])
    pair = {"question": given.get("question", fields.get("prompt")), "response_1": outputs[0], "response_2": outputs[1]}
    return {**fields, "selected": chosen, "outputs": [], "vars": {**given, **pair}}


def _selects(grading: Any) -> bool | None:
    parts = lookup(grading, "componentResults") if isinstance(grading, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and lookup(part, "assertion.type") == BEST:
            return part.get("pass") is True
    return None


def _worded(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
