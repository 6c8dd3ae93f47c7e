"""Files of logs to rows: exports of promptfoo, deepeval and Inspect are brought into the form of a plain log.

Where each format holds what is told by data/logs.toml; what a row says is read in entries.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from judgefixtures.numbers.statistics import several
from judgefixtures.sources import Source
from judgefixtures.sources.named import deepeval_rows, promptfoo_rows
from judgefixtures.sources.parsing import MISSING, Row, json_lines, json_rows, json_value, lookup, numbered
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import redacted_json
from judgefixtures.words.texts import one_line

Format = Literal["jsonl", "promptfoo", "deepeval", "inspect"]
HOLDS: dict[str, Format] = {"samples": "inspect", "results": "promptfoo", "testCases": "deepeval"}  # at the top
OF_LOG = "dataset 'log': "


def read_log(file: Path, form: Format) -> list[Row]:
    """Return the rows of a log in the form that its format's columns are about; raises JudgeFixturesError."""
    if not _is_file(file):
        raise JudgeFixturesError(f"{file} does not exist, or is a folder: give a log, a file with one answer per row.")
    with _of_no_dataset():
        rows = READERS[form](Source("log", file))
    # Before anything is made of them: texts and ids go to files, and both into messages.
    return [row._replace(fields=redacted_json(row.fields), where=row.where.removeprefix(OF_LOG)) for row in rows]


@contextlib.contextmanager
def _of_no_dataset() -> Iterator[None]:
    """Let errors name the log alone: the rooms that read it read datasets, and say so."""
    try:
        yield
    except JudgeFixturesError as error:
        raise JudgeFixturesError(str(error).replace(OF_LOG, "")) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def format_of(file: Path) -> Format:
    """Return the format of a file by what it holds."""
    if file.suffix.lower() == ".eval":
        raise JudgeFixturesError(
            f"{file} is a packed log of Inspect: write it as JSON first (inspect log convert "
            f"--to json --output-dir logs-json {file}), and import that."
        )
    if file.suffix.lower() != ".json" or not _is_file(file):
        return "jsonl"
    with _of_no_dataset():
        held = json_value(file, Source("log", file))
    return next((form for key, form in HOLDS.items() if isinstance(held, dict) and key in held), "jsonl")


def _plain_rows(source: Source) -> list[Row]:
    file = source.file
    return json_rows(file, source) if file.suffix.lower() == ".json" else list(json_lines(file, source))


def _promptfoo_rows(source: Source) -> list[Row]:
    """Return a row per test: the answer of a judge that promptfoo asked, or what its select-best chose of two outputs.

    Select-best keeps the criterion and not what the grader said: its choices come without reasons.
    """
    rows = promptfoo_rows(replace(source, source="promptfoo")).rows
    return [row._replace(fields=_with_best(row.fields)) for row in rows]


def _with_best(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a test's fields with the choice of a select-best between two outputs, and these as the responses.

    Of several outputs without one, nothing says whose is meant.
    """
    outputs = fields["outputs"]
    best = [_selects(grading) for grading in fields["gradings"]]
    if len(outputs) != 2 or None in best:
        return {**fields, "output": outputs[0]} if len(outputs) == 1 else fields
    chosen = best.index(True) + 1 if best.count(True) == 1 else None
    given = fields["vars"] if isinstance(fields["vars"], dict) else {}
    told = {"question": given.get("question", fields.get("prompt")), "response_1": outputs[0], "response_2": outputs[1]}
    return {**fields, "selected": chosen, "outputs": [], "vars": {**given, **told}}


def _selects(grading: Any) -> bool | None:
    """Return whether a select-best chose an output; None where none was asked."""
    parts = lookup(grading, "componentResults") if isinstance(grading, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and lookup(part, "assertion.type") == "select-best":
            return part.get("pass") is True
    return None


def _deepeval_rows(source: Source) -> list[Row]:
    return list(deepeval_rows(replace(source, source="deepeval")).rows)


def _inspect_rows(source: Source) -> list[Row]:
    """Return the samples of an Inspect log in JSON; `score` is what the only scorer said."""
    file = source.file
    held = json_value(file, source)
    samples = held.get("samples") if isinstance(held, dict) else None
    if not isinstance(samples, list):
        raise JudgeFixturesError(
            f"{file} is not a log of Inspect with samples: it has no list `samples`. Write one "
            "with `inspect log dump FILE` or --log-format json."
        )
    return [row._replace(fields=_with_score(row.fields)) for row in numbered(samples, str(file))]


def remarks_on(files: Iterable[Path], form: Format) -> tuple[str, ...]:
    """Return what is to be said of Inspect's logs of runs that did not end well: they may lack samples."""
    if form != "inspect":
        return ()
    said = []
    for file in files:
        held = json_value(file, Source("log", file))
        status, planned = lookup(held, "status"), lookup(held, "eval.dataset.samples")
        if status not in (MISSING, "success"):
            of = f" of {planned}" if isinstance(planned, int) and not isinstance(planned, bool) else ""
            said.append(
                f"take care: {file} is of a run with status {one_line(repr(status))[:40]}, not 'success': it "
                f"holds {several(len(held['samples']), 'sample')}{of}, and what it lacks may be no accident"
            )
    return tuple(said)


def _with_score(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    scores = fields.get("scores")
    only = next(iter(scores.values())) if isinstance(scores, dict) and len(scores) == 1 else None
    return {**fields, "score": only} if isinstance(only, dict) else fields


READERS: Mapping[Format, Callable[[Source], list[Row]]] = MappingProxyType(
    {"jsonl": _plain_rows, "promptfoo": _promptfoo_rows, "deepeval": _deepeval_rows, "inspect": _inspect_rows}
)
