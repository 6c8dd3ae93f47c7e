"""The sources that are known by name: those that are a table in named.toml, and those whose rows take more to read.

Every schema was looked up where it is published (docs/datasets.md). A row that does not fit it is an error that shows
what was found and what was expected; a row that a rule leaves out is counted under that rule.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from judgefixtures.material.pairs import Pair
from judgefixtures.sources.described import Source
from judgefixtures.sources.mapping import PREFERENCE, RESPONSE, ids_only, mapped_pairs, text
from judgefixtures.sources.parsing import (
    MISSING,
    Row,
    Rows,
    hub_rows,
    json_rows,
    json_value,
    local_rows,
    lookup,
    numbered,
)
from judgefixtures.sources.schemas import Table, is_blank, is_decided, number, objects, read_tables, whole
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import quote_names

ELI5 = "explainlikeimfive"


@dataclass(frozen=True, slots=True)
class Known:
    """A source that is known by name: what its rows look like, and how they become pairs.

    `pairs` takes rows, the source and the counts of what is left out; `read` gives the rows of a copy by path.
    """

    pairs: Callable[[Iterable[Row], Source, Counter[str]], Iterator[Pair]]
    columns: tuple[str, ...] = ()
    hub: str | None = None
    split: str | None = None
    data_dir: str | None = None
    read: Callable[[Source], Rows] | None = None
    many_per_question: bool = False
    has_ratio: bool = False
    is_export: bool = False  # of another tool: the user's columns say what is asked
    licence: str | None = None
    address: str = ""  # where to get what is read by path alone


def known_rows(source: Source, known: Known) -> Rows:
    """Return the rows of a known source from the hub, or from a local copy of the same schema.

    Raises JudgeFixturesError with the columns found and expected where they are others.
    """
    if source.path is None and known.hub is None:
        raise source.mistake(
            f"{source.origin} is read from a local copy: get it from {known.address} and give "
            f'the file or folder with `path = "..."` in {source.table}.'
        )
    if source.path is None:
        found = hub_rows(source, str(known.hub), split=known.split, data_dir=known.data_dir)
    else:
        found = (known.read or partial(local_rows, typed=True, split=known.split))(source)
    if found.columns is not None:
        _check_columns(found.columns, source.path or known.hub, source, known.columns)
    return found


def eli5(rows: Iterable[Row], source: Source, left_out: Counter[str]) -> Iterator[Pair]:
    """Yield the pairs of answers to a question whose upvotes differ by a ratio that is asked for."""
    for row in rows:
        if row.fields["subreddit"] != ELI5:
            left_out["questions of another subreddit"] += 1
            continue
        said = (key for key in ("title", "selftext") if not is_blank(row.fields[key]))
        question = "\n\n".join(text(row.fields[key], key, row.where) for key in said)
        answers = _answers(row)
        for i, one in enumerate(answers):
            for other in answers[i + 1 :]:
                better, worse = sorted((one, other), key=lambda answer: (-answer["score"], answer["a_id"]))
                if not is_decided(better["score"], worse["score"], source, left_out):
                    continue
                name = "-".join((str(row.fields["q_id"]), better["a_id"], worse["a_id"]))
                texts = ("title", question), ("answers.text", better["text"]), ("answers.text", worse["text"])
                yield from whole(name, texts, None, source, row, left_out)


LLMBAR = ("Natural", "GPTInst", "GPTOut", "Manual", "Neighbor")


def llmbar_rows(source: Source) -> Rows:
    """Return the rows of LLMBar's dataset.json files; the category is the folder that a file lies in."""
    path = source.file
    files = [file for file in sorted(path.rglob("dataset.json")) if file.parent.name in LLMBAR]
    if not path.is_dir():
        files = [path]
    if not files:
        raise _no_file(source, f"a dataset.json in a folder named {', '.join(LLMBAR)}")
    rows = []
    for file in files:
        category = file.parent.name if file.parent.name in LLMBAR else None
        rows += [row._replace(fields={**row.fields, "category": category}) for row in json_rows(file, source)]
    return _checked(rows, source)


def biasbench_rows(source: Source) -> Rows:
    """Return the rows of biasbench.json, which holds a list for each bias."""
    path = source.file
    if path.is_dir():
        found = sorted(path.rglob("biasbench.json"))
        if not found:
            raise _no_file(source, "a biasbench.json")
        path = found[0]
    held, where = json_value(path, source), f"dataset {source.name!r}: {path}"
    if isinstance(held, dict) and all(isinstance(each, list) for each in held.values()):
        held = [row for rows in held.values() for row in rows]
    if not isinstance(held, list):
        raise JudgeFixturesError(f"{where} holds neither a list nor a list for each bias.")
    return _checked(list(numbered(held, where)), source)


def promptfoo_rows(source: Source) -> Rows:
    """Return a row for each test of a promptfoo export."""
    where = f"dataset {source.name!r}: {source.path}"
    tests = promptfoo_tests(promptfoo_cells(json_value(source.file, source), where))
    return Rows([promptfoo_test(number, outputs, where) for number, outputs in tests.items()])


def promptfoo_cells(exported: Any, where: str) -> list[Row]:
    """Return the results of a promptfoo export (`results.results`): a row for each output of each test."""
    summary = exported.get("results") if isinstance(exported, dict) else None
    if isinstance(summary, list):  # the summary alone, as the library's evaluate() returns it
        summary = exported
    cells = summary.get("results") if isinstance(summary, dict) else None
    if not isinstance(cells, list):
        raise JudgeFixturesError(
            f"{where} is not an export of promptfoo: results.results is not a list. Write one with "
            "`promptfoo eval -o results.json`."
        )
    return numbered(cells, where)


def promptfoo_tests(cells: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the outputs of each test by its number, in the order of prompts and providers."""
    tests: dict[int, dict[int, Row]] = {}
    for row in cells:
        test, prompt = row.fields.get("testIdx"), row.fields.get("promptIdx")
        if not isinstance(test, int) or not isinstance(prompt, int):
            raise row.mistake(
                f"testIdx and promptIdx must be whole numbers, got {test!r} and "
                f"{prompt!r}; the row has {quote_names(row.fields)}."
            )
        if prompt in tests.setdefault(test, {}):
            raise row.mistake(f"test {test} has an output of prompt {prompt} already.")
        tests[test][prompt] = row
    return {test: [tests[test][prompt] for prompt in sorted(tests[test])] for test in sorted(tests)}


def promptfoo_test(number: int, outputs: Sequence[Row], where: str) -> Row:
    """Return a row for a test of a promptfoo export.

    It holds vars, prompt (where all outputs answer the same one), and in the order of prompts and providers outputs,
    providers, success, scores and gradings; also metadata and description of the test, and the first `error` with which
    a provider ended.
    """
    cells = [output.fields for output in outputs]
    prompts = {str(_at(cell, "prompt.raw")) for cell in cells}
    fields: dict[str, Any] = {
        "vars": _at(cells[0], "vars"),
        "outputs": [output_text(_at(cell, "response.output")) for cell in cells],
        **{name: [_at(cell, path) for cell in cells] for name, path in OF_CELLS.items()},
        **{name: _at(cells[0], f"testCase.{name}") for name in ("metadata", "description")},
    }
    if errors := [error for cell in cells if (error := provider_error(cell)) is not None]:
        fields["error"] = errors[0]
    if len(prompts) == 1:
        fields["prompt"] = prompts.pop()
    return Row(fields, f"{where}: test {number}", f"test {number}")


def deepeval_rows(source: Source) -> Rows:
    """Return the rows of a deepeval export: a saved dataset (a list), or the test run that `evaluate` leaves."""
    where = f"dataset {source.name!r}: {source.path}"
    return Rows([in_snake_case(row) for row in deepeval_cases(json_value(source.file, source), where)])


def deepeval_cases(exported: Any, where: str) -> list[Row]:
    """Return the test cases of a deepeval export as it spells them."""
    held = exported.get("testCases") if isinstance(exported, dict) else exported
    if not isinstance(held, list):
        raise JudgeFixturesError(
            f"{where} is not an export of deepeval: neither a list nor an object with a list testCases. Write one with "
            '`dataset.save_as(file_type="json", include_test_cases=True)`, or with DEEPEVAL_RESULTS_FOLDER.'
        )
    return numbered(held, where)


def in_snake_case(row: Row) -> Row:
    """Return a test case as a saved dataset spells it: a test run has its fields in camel case."""
    return row._replace(fields={SNAKE.get(key, key): value for key, value in row.fields.items()})


SNAKE: Mapping[str, str] = {
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
}
EXPORT_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "promptfoo": {"question": "prompt", "response_1": "outputs.0", "response_2": "outputs.1"},
    "deepeval": {"question": "input", "response_1": "actual_output", "response_2": "expected_output"},
}
"""Where an export's question and responses are, unless the user's columns say otherwise."""


def exported(rows: Iterable[Row], source: Source, left_out: Counter[str]) -> Iterator[Pair]:
    """Yield a pair or an example for each row of an export with its responses: a call that failed has none."""
    defaults, given = EXPORT_COLUMNS[source.origin], source.columns or {}
    if any(field in given for field in (*PREFERENCE, RESPONSE)):
        defaults = {"question": defaults["question"]}
    columns = {**defaults, **given}
    answers = [columns[field] for field in ("response_1", "response_2", *PREFERENCE, RESPONSE) if field in columns]

    def whole() -> Iterator[Row]:
        for row in rows:
            found = [lookup(row.fields, column) for column in answers]
            if any(value is None or value == "" for value in found):
                left_out["tests without an output"] += 1
            else:
                yield row

    yield from mapped_pairs(whole(), replace(source, columns=columns), left_out)


def _known(table: Table, read: Callable[[Source], Rows] | None = None) -> Known:
    same = {name: getattr(table, name) for name in SAME}
    return Known(table.pairs, read=read, has_ratio=bool(table.ratio or table.votes), **same)


SAME = ("columns", "hub", "split", "data_dir", "many_per_question", "licence", "address")  # in a table and in a source
READERS = MappingProxyType({"llmbar": llmbar_rows, "biasbench": biasbench_rows})
NAMED: Mapping[str, Known] = {
    "eli5": Known(
        eli5,
        ("q_id", "title", "selftext", "subreddit", "answers"),
        "Pavithree/eli5",
        "test",
        many_per_question=True,
        has_ratio=True,
        licence="not stated by its publisher (texts of Reddit users)",
    ),
    **{name: _known(table, READERS.get(name)) for name, table in read_tables().items()},
    "promptfoo": Known(exported, read=promptfoo_rows, is_export=True, address="`promptfoo eval -o results.json`"),
    "deepeval": Known(
        exported, read=deepeval_rows, is_export=True, address='`dataset.save_as(file_type="json")` of deepeval'
    ),
}


def _answers(row: Row) -> list[Mapping[str, Any]]:
    """Return the answers of a question, in an order of their own."""
    answers = [
        {**answer, "a_id": str(answer["a_id"]), "score": number(answer["score"], "answers.score", row)}
        for answer in objects(row, "answers", ("a_id", "text", "score"))
    ]
    return sorted(answers, key=lambda answer: str(answer["a_id"]))


OF_CELLS = {"providers": "provider.id", "success": "success", "scores": "score", "gradings": "gradingResult"}
PROVIDER_FAILED = 2  # promptfoo's failureReason: 0 none, 1 an assertion, 2 an error


def provider_error(cell: Mapping[str, Any]) -> Any:
    """Return with which error a provider ended, None where it answered: `error` alone may be an assertion's reason."""
    failed = _at(cell, "failureReason") == PROVIDER_FAILED
    return _at(cell, "response.error") or (_at(cell, "error") or "error" if failed else None)


def _at(cell: Mapping[str, Any], path: str) -> Any:
    """Return what a path names in a result, or None."""
    return None if (found := lookup(cell, path)) is MISSING else found


def output_text(value: Any) -> str | None:
    """Return an answer as text; one that is not text is written as JSON, as promptfoo shows it."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _checked(rows: list[Row], source: Source) -> Rows:
    for row in rows:
        _check_columns(tuple(row.fields), row.where.partition(": ")[2], source, NAMED[source.origin].columns)
    return Rows(rows)


def _check_columns(found: tuple[str, ...], where: object, source: Source, expected: Iterable[str]) -> None:
    if missing := [column for column in expected if column not in found]:
        hint = ids_only(found) or (
            "Give data of that schema, pin an older version of it with `revision`, or read it by a mapping of your own "
            f"(`columns`, without `source = {source.origin!r}`)."
        )
        raise source.mistake(
            f"{where} has no column {quote_names(missing)}: found {quote_names(found)}; "
            f"expected {quote_names(expected)}. {hint}"
        )


def _no_file(source: Source, wanted: str) -> JudgeFixturesError:
    return source.mistake(
        f"{source.path} holds no {wanted.removeprefix('a ')}. Get it from {NAMED[source.origin].address}."
    )
