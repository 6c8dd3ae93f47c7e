"""Exports of LangSmith: feedback, experiments, runs and comparisons.

Feedback alone has no texts: the examples come from --pairs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from ..messages import MESSAGES
from .cell_values import cell_text, judgement_value, non_empty_text, object_or_empty, parse_json_cell, require_object
from .chat_text import question_text, response_text
from .deduplication import AnswerDeduplicator, AnswerKey, answer_key
from .loaded_file import By, ExportFormat, LoadedFile, normalized_row
from .pages import listed_objects, listed_rows

LISTS = ("examples_with_runs", "runs")  # of get_experiment_results, and of an answer to /runs/query
FLAT = "feedback."  # how the columns of a table of results begin that hold judgements
SOURCE = re.compile(r"""\btype['"]?\s*[:=]\s*['"](\w+)""")  # as JSON, and as Python writes a record
UNSAID = "it has neither a score nor a value"


class LangsmithFormat(ExportFormat):
    """LangSmith's format: one feedback, or one choice, per row."""

    name: ClassVar[str] = "langsmith"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there is LangSmith feedback."""
        return any(isinstance(each, Mapping) and _form_of(each) for each in listed_objects(held, LISTS))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per judgement."""
        feedback = [each for row in listed_rows(held, LISTS) for each in _feedback(row)]
        if not feedback:
            raise JudgeFixturesError(
                f"{held.file} has no feedback. Export the result of list_feedback, or the rows of an experiment."
            )
        feedback = [*_of_single_runs(feedback), *_choices(feedback)]
        alike = AnswerDeduplicator(each.run for each in feedback)
        return [each.judged(alike) for each in feedback]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return how many rows have no feedback."""
        rows = listed_rows(held, LISTS)
        without = sum(not _has_feedback(row.fields) for row in rows)
        return (f"without feedback: {without} of {pluralize(len(rows), 'row')} in {held.file}",) if without else ()


def _has_feedback(fields: Mapping[str, Any]) -> bool:
    results = object_or_empty(fields.get("evaluation_results") or fields.get("evaluationResults"))
    if results:
        return bool(results.get("results") or any(_is_flat(name) for name in results))
    listed = fields.get("runs")
    runs = listed if isinstance(listed, list) else [fields]
    return any(bool(run.get("feedback_stats", True)) for run in runs if isinstance(run, Mapping))


@dataclass(frozen=True, slots=True)
class _LangsmithFeedback:
    """One feedback: its run, author and value.

    `group` joins compared runs. If `is_of_evaluator`, the metric is a failed evaluator's name.
    """

    row: DataRow
    run: AnswerKey
    metric: str
    by: By = "judge"
    value: bool | float | str | None = None
    reason: str | None = None
    error: str | None = None
    group: str | None = None
    is_of_evaluator: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def judged(self, alike: AnswerDeduplicator) -> DataRow:
        place = alike.place(self.run, (self.metric, self.by))
        value = None if self.error else self.value
        details = {"error": self.error, "reason": self.reason, **place, **self.more}
        return normalized_row(self.row, metric=self.metric, by=self.by, value=value, **details)


# --- the forms ----------------------------------------------------------------------------------------------------


def _feedback(row: DataRow) -> Iterator[_LangsmithFeedback]:
    form = _form_of(row.fields)
    if form is None:
        raise row.mistake(MESSAGES.langsmith_unknown_row(quote_names(row.fields)))
    return form(row)


def _form_of(fields: Mapping[str, Any]) -> Callable[[DataRow], Iterator[_LangsmithFeedback]] | None:
    results = object_or_empty(fields.get("evaluation_results") or fields.get("evaluationResults"))
    if isinstance(results.get("results"), list) and isinstance(fields.get("run"), Mapping):
        return _of_result
    if isinstance(results.get("runs"), list) and "example" in fields:
        return _of_comparison
    if {"run_id", "key"} <= fields.keys() and any(str(name).startswith("feedback_source") for name in fields):
        return _of_feedback
    if {"feedback_stats", "run_type"} <= fields.keys():
        return _of_stats
    if isinstance(fields.get("runs"), list) and "dataset_id" in fields:
        return _of_example
    if "id" in fields and {"example_id", "execution_time"} & fields.keys() and any(_is_flat(name) for name in fields):
        return _of_table
    return None


def _of_feedback(row: DataRow) -> Iterator[_LangsmithFeedback]:
    fields = row.fields
    error = None if isinstance(fields.get("run_id"), str) else "it belongs to no run"
    feedback = _of_one(row, AnswerKey(non_empty_text(fields.get("run_id"))), fields)
    experiment = fields.get("comparative_experiment_id")
    group = str(fields.get("feedback_group_id") or experiment) if experiment else None
    yield replace(feedback, error=feedback.error or error, group=group)


def _of_result(row: DataRow) -> Iterator[_LangsmithFeedback]:
    run, example = object_or_empty(row.fields.get("run")), object_or_empty(row.fields.get("example"))
    results = row.fields.get("evaluation_results") or row.fields.get("evaluationResults")
    answer, texts = _answer(run, example), _texts(run, example)
    for number, result in enumerate(object_or_empty(results)["results"]):
        feedback = _of_one(row, answer, require_object(row, f"evaluation_results.results.{number}", result))
        yield replace(feedback, more=texts)


def _of_table(row: DataRow) -> Iterator[_LangsmithFeedback]:
    """Yield judgements of a results table, which has no reasons."""
    fields = row.fields
    parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}}
    for name, value in fields.items():
        part, _, key = name.partition(".")
        if key and part in parts:
            parts[part][key] = cell_text(value)
    run = {"id": fields["id"], "reference_example_id": fields.get("example_id"), **parts}
    answer, texts = _answer(run, {}), _texts(run, {})
    for name, value in fields.items():
        if _is_flat(name):
            judgement = judgement_value(value, textual=row.textual)
            error = non_empty_text(fields.get("error")) or (UNSAID if judgement is None else None)
            feedback = _LangsmithFeedback(row, answer, name[len(FLAT) :], value=judgement, error=error, more=texts)
            yield replace(feedback, is_of_evaluator=judgement is None)


def _of_stats(row: DataRow) -> Iterator[_LangsmithFeedback]:
    yield from _of_run(row, row.fields, {})


def _of_example(row: DataRow) -> Iterator[_LangsmithFeedback]:
    for number, run in enumerate(row.fields["runs"]):
        run = require_object(row, f"runs.{number}", run)
        yield from _of_run(row._replace(fields={**row.fields, "run": run}), run, row.fields)


def _of_run(row: DataRow, run: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[_LangsmithFeedback]:
    answer, texts = _answer(run, example), _texts(run, example)
    for metric, stats in require_object(row, "feedback_stats", run.get("feedback_stats")).items():
        stats = require_object(row, f"feedback_stats.{metric}", stats)
        words, comments, sources = (parse_json_cell(stats.get(name)) for name in ("values", "comments", "sources"))
        number, value, error = stats.get("n"), judgement_value(stats.get("avg")), None
        if number != 1:
            error = f"a mean of {number} is not a judgment" if number else "it has no feedback"
        elif value is None and isinstance(words, Mapping) and len(words) == 1:
            value = judgement_value(next(iter(words)))
        by: By = "person" if number == 1 and _source(sources) == "app" else "judge"
        is_only = number == 1 and isinstance(comments, list) and len(comments) == 1
        reason = non_empty_text(comments[0]) if is_only else None
        error = error or (UNSAID if value is None else None)
        yield _LangsmithFeedback(row, answer, metric, by, value, reason, error, more=texts)


def _of_comparison(row: DataRow) -> Iterator[_LangsmithFeedback]:
    results, example = object_or_empty(row.fields["evaluation_results"]), object_or_empty(row.fields["example"])
    runs = [require_object(row, f"evaluation_results.runs.{number}", run) for number, run in enumerate(results["runs"])]
    for name in filter(_is_flat, results):
        result = require_object(row, f"evaluation_results.{name}", results[name])
        for run in runs:
            score, comment = (_of_run_id(result.get(each), run.get("id")) for each in ("scores", "comment"))
            fields = {"key": result.get("key"), "score": score, "comment": comment}
            feedback = _of_one(row, _answer(run, example), fields)
            yield replace(feedback, group=f"{row.place} {name}", more=_texts(run, example))


def _of_run_id(value: Any, run: Any) -> Any:
    return value.get(str(run)) if isinstance(value, Mapping) else value


def _of_one(row: DataRow, run: AnswerKey, fields: Mapping[str, Any]) -> _LangsmithFeedback:
    value = judgement_value(fields.get("score"), textual=row.textual)
    value = judgement_value(fields.get("value"), textual=row.textual) if value is None else value
    failed = object_or_empty(fields.get("extra")).get("error") is True
    reason = non_empty_text(fields.get("comment"))
    source = fields.get("feedback_source.type") or _source(fields.get("feedback_source"))
    by: By = "person" if source == "app" else "judge"
    metric = non_empty_text(fields.get("key")) or "(no key)"
    if failed:
        error = reason or "its evaluator failed"
        return _LangsmithFeedback(row, run, metric, by, value, error=error, is_of_evaluator=True)
    return _LangsmithFeedback(row, run, metric, by, value, reason, UNSAID if value is None else None)


def _source(value: Any) -> str | None:
    value = parse_json_cell(value)
    if isinstance(value, list):
        return _source(value[0]) if len(value) == 1 else None
    if isinstance(value, Mapping):
        return non_empty_text(value.get("type"))
    if not isinstance(value, str):
        return None
    match = SOURCE.search(value)
    return match[1] if match else value


# --- the runs ------------------------------------------------------------------------------------------------------


def _answer(run: Mapping[str, Any], example: Mapping[str, Any]) -> AnswerKey:
    question = example.get("id") or run.get("reference_example_id") or run.get("inputs")
    return answer_key(non_empty_text(run.get("id")), question, run.get("outputs"))


def _texts(run: Mapping[str, Any], example: Mapping[str, Any]) -> dict[str, Any]:
    model = object_or_empty(object_or_empty(run.get("extra")).get("metadata")).get("ls_model_name")
    return {
        "question": question_text(example.get("inputs") or run.get("inputs")),
        "response": response_text(run.get("outputs")),
        "model": non_empty_text(model),
    }


def _of_single_runs(feedback: Sequence[_LangsmithFeedback]) -> Iterator[_LangsmithFeedback]:
    """Yield feedback on single runs; a failed evaluator counts under each missing metric."""
    alone = [each for each in feedback if each.group is None]
    metrics = {each.metric for each in alone if each.value is not None and each.by == "judge"}
    has: dict[str, set[str]] = {}
    for each in alone:
        has.setdefault(each.run.id or each.row.place, set()).add(each.metric)
    for each in alone:
        mine = has[each.run.id or each.row.place]
        if not each.is_of_evaluator or each.metric in metrics:
            yield each
        elif lacking := sorted(metrics - mine):
            mine.update(lacking)
            yield from (replace(each, metric=metric) for metric in lacking)


def _choices(feedback: Iterable[_LangsmithFeedback]) -> Iterator[_LangsmithFeedback]:
    """Yield a choice for each two compared runs; their order is unknown."""
    groups: dict[tuple[str, str], list[_LangsmithFeedback]] = {}
    for each in feedback:
        if each.group is not None:
            groups.setdefault((each.group, each.metric), []).append(each)
    for (group, _), compared in groups.items():
        scores = [each.value for each in compared if isinstance(each.value, int | float)]
        first, last = compared[0], compared[-1]
        if len(compared) != 2 or len(scores) != 2:
            yield replace(first, error="it does not have two runs with scores", value=None)
            continue
        selected = "tie" if scores[0] == scores[1] else 1 if scores[0] > scores[1] else 2
        question = first.more.get("question")
        texts = {f"response_{n}": each.more.get("response") for n, each in ((1, first), (2, last))}
        reason = (last if selected == 2 else first).reason or first.reason
        responses = (first.run.said or b"") + (last.run.said or b"")
        pair = AnswerKey(None, first.run.asked, responses) if all(texts.values()) else AnswerKey(group)
        more = {"selected_response": selected, "question": question, **texts}
        yield replace(first, run=pair, value=None, reason=reason, more=more)


def _is_flat(name: object) -> bool:
    return isinstance(name, str) and name.startswith(FLAT)
