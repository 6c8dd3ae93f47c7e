"""Sources known by name: tables in known_sources.toml, and readers for those that need code.

Every schema was checked against its publication (docs/how-to/sample-data.md). A row that does not fit is an error
with the found and the expected value. A row that a rule excludes is counted under that rule.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from judgefixtures.models.pairs import Pair
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from . import schemas
from .mapping import PREFERENCE, RESPONSE, litbench_ids_note, mapped_pairs, require_text
from .messages import MESSAGES
from .row_readers import DataRow, SourceRows, hub_rows, json_rows, json_value, local_rows, lookup, numbered_rows
from .source import Source

ELI5 = "explainlikeimfive"


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A known source's schema, row reader and conversion to pairs.

    `pairs` takes rows, source and counts of excluded rows; `read` reads a local copy.
    """

    pairs: Callable[[Iterable[DataRow], Source, Counter[str]], Iterator[Pair]]
    columns: tuple[str, ...] = ()
    hub: str | None = None
    split: str | None = None
    data_dir: str | None = None
    read: Callable[[Source], SourceRows] | None = None
    many_per_question: bool = False
    has_ratio: bool = False
    is_export: bool = False  # of another tool: the user's columns say what is asked
    licence: str | None = None
    address: str = ""  # where to get what is read by path alone


def known_rows(source: Source, known: KnownSource) -> SourceRows:
    """Return a known source's rows from the hub or a local copy.

    Raises:
        JudgeFixturesError: Other columns than expected.
    """
    if source.path is None and known.hub is None:
        raise source.mistake(MESSAGES.local_copy_only(source, known))
    if source.path is None:
        rows = hub_rows(source, str(known.hub), split=known.split, data_dir=known.data_dir)
    else:
        rows = (known.read or partial(local_rows, typed=True, split=known.split))(source)
    if rows.columns is not None:
        _check_columns(rows.columns, source.path or known.hub, source, known.columns)
    return rows


def eli5_pairs(rows: Iterable[DataRow], source: Source, left_out: Counter[str]) -> Iterator[Pair]:
    """Yield pairs of answers whose upvote ratio is allowed."""
    for row in rows:
        if row.fields["subreddit"] != ELI5:
            left_out["questions of another subreddit"] += 1
            continue
        fields = (key for key in ("title", "selftext") if not schemas.is_blank(row.fields[key]))
        question = "\n\n".join(require_text(row.fields[key], key, row.where) for key in fields)
        answers = _answers(row)
        for i, one in enumerate(answers):
            for other in answers[i + 1 :]:
                better, worse = sorted((one, other), key=lambda answer: (-answer["score"], answer["a_id"]))
                if not schemas.has_decided_votes(better["score"], worse["score"], source, left_out):
                    continue
                name = "-".join((str(row.fields["q_id"]), better["a_id"], worse["a_id"]))
                texts = ("title", question), ("answers.text", better["text"]), ("answers.text", worse["text"])
                yield from schemas.complete_pairs(name, texts, None, source, row, left_out)


LLMBAR = ("Natural", "GPTInst", "GPTOut", "Manual", "Neighbor")


def llmbar_rows(source: Source) -> SourceRows:
    """Return the rows of LLMBar; the category is the folder."""
    path = source.file
    files = [file for file in sorted(path.rglob("dataset.json")) if file.parent.name in LLMBAR]
    if not path.is_dir():
        files = [path]
    if not files:
        raise _no_file(source, f"dataset.json in a folder named {', '.join(LLMBAR)}")
    rows = []
    for file in files:
        category = file.parent.name if file.parent.name in LLMBAR else None
        rows += [row._replace(fields={**row.fields, "category": category}) for row in json_rows(file, source)]
    return _checked(rows, source)


def biasbench_rows(source: Source) -> SourceRows:
    """Return the rows of biasbench.json."""
    path = source.file
    if path.is_dir():
        files = sorted(path.rglob("biasbench.json"))
        if not files:
            raise _no_file(source, "biasbench.json")
        path = files[0]
    held, where = json_value(path, source), f"dataset {source.name!r}: {path}"
    if isinstance(held, dict) and all(isinstance(each, list) for each in held.values()):
        held = [row for rows in held.values() for row in rows]
    if not isinstance(held, list):
        raise JudgeFixturesError(f"{where} holds neither a list nor a list for each bias.")
    return _checked(list(numbered_rows(held, where)), source)


def promptfoo_rows(source: Source) -> SourceRows:
    """Return a row per test of a promptfoo export."""
    where = f"dataset {source.name!r}: {source.path}"
    tests = promptfoo_tests(promptfoo_cells(json_value(source.file, source), where))
    return SourceRows([promptfoo_test(number, outputs, where) for number, outputs in tests.items()])


def promptfoo_cells(exported: Any, where: str) -> list[DataRow]:
    """Return a row per output of a promptfoo export (`results.results`)."""
    summary = exported.get("results") if isinstance(exported, dict) else None
    if isinstance(summary, list):  # the summary alone, as the library's evaluate() returns it
        summary = exported
    cells = summary.get("results") if isinstance(summary, dict) else None
    if not isinstance(cells, list):
        raise JudgeFixturesError(MESSAGES.no_promptfoo_export(where))
    return numbered_rows(cells, where)


def promptfoo_tests(cells: Iterable[DataRow]) -> dict[int, list[DataRow]]:
    """Return each test's outputs by number, in prompt and provider order."""
    tests: dict[int, dict[int, DataRow]] = {}
    for row in cells:
        test, prompt = row.fields.get("testIdx"), row.fields.get("promptIdx")
        if not isinstance(test, int) or not isinstance(prompt, int):
            raise row.mistake(MESSAGES.no_test_indexes(test, prompt, quote_names(row.fields)))
        if prompt in tests.setdefault(test, {}):
            raise row.mistake(f"test {test} already has an output of prompt {prompt}.")
        tests[test][prompt] = row
    return {test: [tests[test][prompt] for prompt in sorted(tests[test])] for test in sorted(tests)}


def promptfoo_test(number: int, outputs: Sequence[DataRow], where: str) -> DataRow:
    """Return a promptfoo test as one row.

    It has vars, prompt, outputs, providers, success, scores, gradings, metadata, description and the first `error`.
    """
    cells = [output.fields for output in outputs]
    prompts = {str(lookup(cell, "prompt.raw", None)) for cell in cells}
    fields: dict[str, Any] = {
        "vars": lookup(cells[0], "vars", None),
        "outputs": [output_text(lookup(cell, "response.output", None)) for cell in cells],
        **{name: [lookup(cell, path, None) for cell in cells] for name, path in OF_CELLS.items()},
        **{name: lookup(cells[0], f"testCase.{name}", None) for name in ("metadata", "description")},
    }
    if errors := [error for cell in cells if (error := provider_error(cell)) is not None]:
        fields["error"] = errors[0]
    if len(prompts) == 1:
        fields["prompt"] = prompts.pop()
    return DataRow(fields, f"{where}: test {number}", f"test {number}")


def deepeval_rows(source: Source) -> SourceRows:
    """Return the rows of a deepeval dataset or test run."""
    where = f"dataset {source.name!r}: {source.path}"
    return SourceRows([snake_case_test_case(row) for row in deepeval_cases(json_value(source.file, source), where)])


def deepeval_cases(exported: Any, where: str) -> list[DataRow]:
    """Return a deepeval export's test cases unchanged."""
    held = exported.get("testCases") if isinstance(exported, dict) else exported
    if not isinstance(held, list):
        raise JudgeFixturesError(MESSAGES.no_deepeval_export(where))
    return numbered_rows(held, where)


def snake_case_test_case(row: DataRow) -> DataRow:
    """Return a test case with snake-case fields."""
    return row._replace(fields={SNAKE.get(key, key): value for key, value in row.fields.items()})


SNAKE = {"actualOutput": "actual_output", "expectedOutput": "expected_output", "retrievalContext": "retrieval_context"}
EXPORT_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "promptfoo": {"question": "prompt", "response_1": "outputs.0", "response_2": "outputs.1"},
    "deepeval": {"question": "input", "response_1": "actual_output", "response_2": "expected_output"},
}
"""Where an export's question and responses are, unless the user's columns say otherwise."""


def exported_pairs(rows: Iterable[DataRow], source: Source, left_out: Counter[str]) -> Iterator[Pair]:
    """Yield a pair or example per row; failed calls are left out."""
    defaults, given = EXPORT_COLUMNS[source.origin], source.columns or {}
    if any(field in given for field in (*PREFERENCE, RESPONSE)):
        defaults = {"question": defaults["question"]}
    columns = {**defaults, **given}
    answers = [columns[field] for field in ("response_1", "response_2", *PREFERENCE, RESPONSE) if field in columns]

    def whole() -> Iterator[DataRow]:
        for row in rows:
            values = [lookup(row.fields, column) for column in answers]
            if any(value is None or value == "" for value in values):
                left_out["tests without an output"] += 1
            else:
                yield row

    yield from mapped_pairs(whole(), replace(source, columns=columns), left_out)


def _known(table: schemas.SourceSchema, read: Callable[[Source], SourceRows] | None = None) -> KnownSource:
    same = {name: getattr(table, name) for name in SAME}
    return KnownSource(table.pairs, read=read, has_ratio=bool(table.ratio or table.votes), **same)


SAME = ("columns", "hub", "split", "data_dir", "many_per_question", "licence", "address")  # in a table and in a source
READERS = MappingProxyType({"llmbar": llmbar_rows, "biasbench": biasbench_rows})
NAMED: Mapping[str, KnownSource] = {
    "eli5": KnownSource(
        eli5_pairs,
        ("q_id", "title", "selftext", "subreddit", "answers"),
        "Pavithree/eli5",
        "test",
        many_per_question=True,
        has_ratio=True,
        licence="not stated by its publisher (texts of Reddit users)",
    ),
    **{name: _known(table, READERS.get(name)) for name, table in schemas.read_tables().items()},
    "promptfoo": KnownSource(
        exported_pairs, read=promptfoo_rows, is_export=True, address="`promptfoo eval -o results.json`"
    ),
    "deepeval": KnownSource(
        exported_pairs, read=deepeval_rows, is_export=True, address='`dataset.save_as(file_type="json")` of deepeval'
    ),
}


def _answers(row: DataRow) -> list[Mapping[str, Any]]:
    answers = [
        {**answer, "a_id": str(answer["a_id"]), "score": schemas.require_number(answer["score"], "answers.score", row)}
        for answer in schemas.column_objects(row, "answers", ("a_id", "text", "score"))
    ]
    return sorted(answers, key=lambda answer: str(answer["a_id"]))


OF_CELLS = {"providers": "provider.id", "success": "success", "scores": "score", "gradings": "gradingResult"}
PROVIDER_FAILED = 2  # promptfoo's failureReason: 0 none, 1 an assertion, 2 an error


def provider_error(cell: Mapping[str, Any]) -> Any:
    """Return a provider's error, or None for an assertion's."""
    failed = lookup(cell, "failureReason") == PROVIDER_FAILED
    return lookup(cell, "response.error", None) or (lookup(cell, "error", None) or "error" if failed else None)


def output_text(value: Any) -> str | None:
    """Return an output as text, other values as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _checked(rows: list[DataRow], source: Source) -> SourceRows:
    for row in rows:
        _check_columns(tuple(row.fields), row.where.partition(": ")[2], source, NAMED[source.origin].columns)
    return SourceRows(rows)


def _check_columns(columns: tuple[str, ...], where: object, source: Source, expected: Iterable[str]) -> None:
    if missing := [column for column in expected if column not in columns]:
        hint = litbench_ids_note(columns) or (
            "Use data with these columns, pin an older version with `revision`, or map the columns yourself "
            f"(`columns`, without `source = {source.origin!r}`)."
        )
        raise source.mistake(
            MESSAGES.lacking_columns(where, quote_names(missing), quote_names(columns), quote_names(expected), hint)
        )


def _no_file(source: Source, wanted: str) -> JudgeFixturesError:
    return source.mistake(f"{source.path} holds no {wanted}. Get it from {NAMED[source.origin].address}.")
