"""Exports of LangSmith: feedback, the rows of an experiment, runs with their feedback's statistics, and comparisons.

A judgement is one feedback on one run, or a choice between two runs. Feedback alone names its run and has no text of
it: the examples then come from --pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from judgefixtures.imports.exports.alike import Alike, Answer, answer_of
from judgefixtures.imports.exports.chats import question_of, response_of
from judgefixtures.imports.exports.held import By, Export, Held, judged
from judgefixtures.imports.exports.notation import Value, filled, object_in, object_of, opened, text_of, value_of
from judgefixtures.imports.exports.pages import listed, listed_rows
from judgefixtures.numbers.statistics import several
from judgefixtures.sources.parsing import Row
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import quote_names

LISTS = ("examples_with_runs", "runs")  # of get_experiment_results, and of an answer to /runs/query
FLAT = "feedback."  # how the columns of a table of results begin that hold judgements
SOURCE = re.compile(r"""\btype['"]?\s*[:=]\s*['"](\w+)""")  # as JSON, and as Python writes a record
UNSAID = "it has neither a score nor a value"


class Langsmith(Export):
    """A row is one feedback, or one choice between two runs."""

    name: ClassVar[str] = "langsmith"

    @classmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether there is feedback in one of the forms that LangSmith has for it."""
        return any(isinstance(each, Mapping) and _form_of(each) for each in listed(held, LISTS))

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return a row per judgement."""
        told = [each for row in listed_rows(held, LISTS) for each in _said(row)]
        if not told:
            raise JudgeFixturesError(
                f"{held.file} has no feedback: export what list_feedback returns, or the rows of an experiment."
            )
        told = [*_of_single_runs(told), *_choices(told)]
        alike = Alike(each.run for each in told)
        return [each.judged(alike) for each in told]

    @classmethod
    def remarks(cls, held: Held) -> tuple[str, ...]:
        """Return how many rows nobody said anything of."""
        rows = listed_rows(held, LISTS)
        without = sum(not _has_feedback(row.fields) for row in rows)
        return (f"without feedback: {without} of {several(len(rows), 'row')} in {held.file}",) if without else ()


def _has_feedback(fields: Mapping[str, Any]) -> bool:
    """Tell whether anything was said of a row's run, or of one of its runs."""
    results = object_of(fields.get("evaluation_results") or fields.get("evaluationResults"))
    if results:
        return bool(results.get("results") or any(_is_flat(name) for name in results))
    listed = fields.get("runs")
    runs = listed if isinstance(listed, list) else [fields]
    return any(bool(run.get("feedback_stats", True)) for run in runs if isinstance(run, Mapping))


@dataclass(frozen=True, slots=True)
class _Told:
    """A judgement: of which run, whose, and what it says.

    `group` is what feedback on runs has in common that were compared with each other. `is_of_evaluator`: the metric is
    the name of an evaluator that failed, which need not be that of what it would have said.
    """

    row: Row
    run: Answer
    metric: str
    by: By = "judge"
    value: Value = None
    reason: str | None = None
    error: str | None = None
    group: str | None = None
    is_of_evaluator: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def judged(self, alike: Alike) -> Row:
        """Return the row of a log."""
        place = alike.place(self.run, (self.metric, self.by))
        value = None if self.error else self.value
        said = {"error": self.error, "reason": self.reason, **place, **self.more}
        return judged(self.row, metric=self.metric, by=self.by, value=value, **said)


# --- the forms ----------------------------------------------------------------------------------------------------


def _said(row: Row) -> Iterator[_Told]:
    """Yield the judgements of a row; raises JudgeFixturesError for one of nothing of LangSmith's."""
    form = _form_of(row.fields)
    if form is None:
        raise row.mistake(
            f"this is neither feedback (run_id, key, feedback_source) nor a result of an experiment nor a run: it has "
            f"{quote_names(row.fields)}. Give a file of one of these, or take the row out."
        )
    return form(row)


def _form_of(fields: Mapping[str, Any]) -> Callable[[Row], Iterator[_Told]] | None:
    """Return what reads a row, by what it holds; None for a row of nothing of LangSmith's."""
    results = object_of(fields.get("evaluation_results") or fields.get("evaluationResults"))
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


def _of_feedback(row: Row) -> Iterator[_Told]:
    """Yield one feedback of list_feedback, or of a table of such."""
    fields = row.fields
    error = None if isinstance(fields.get("run_id"), str) else "it is about no run"
    told = _of_one(row, Answer(filled(fields.get("run_id"))), fields)
    experiment = fields.get("comparative_experiment_id")
    group = str(fields.get("feedback_group_id") or experiment) if experiment else None
    yield replace(told, error=told.error or error, group=group)


def _of_result(row: Row) -> Iterator[_Told]:
    """Yield the judgements of a row of an experiment's results."""
    run, example = object_of(row.fields.get("run")), object_of(row.fields.get("example"))
    results = row.fields.get("evaluation_results") or row.fields.get("evaluationResults")
    answer, texts = _answer(run, example), _texts(run, example)
    for number, said in enumerate(object_of(results)["results"]):
        told = _of_one(row, answer, object_in(row, f"evaluation_results.results.{number}", said))
        yield replace(told, more=texts)


def _of_table(row: Row) -> Iterator[_Told]:
    """Yield the judgements of a row of a table of results, which has no reasons."""
    fields = row.fields
    parts: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}}
    for name, value in fields.items():
        part, _, key = name.partition(".")
        if key and part in parts:
            parts[part][key] = text_of(value)
    run = {"id": fields["id"], "reference_example_id": fields.get("example_id"), **parts}
    for name, value in fields.items():
        if _is_flat(name):
            said = value_of(value, textual=row.textual)
            error = filled(fields.get("error")) or (UNSAID if said is None else None)
            told = _Told(row, _answer(run, {}), name[len(FLAT) :], value=said, error=error, more=_texts(run, {}))
            yield replace(told, is_of_evaluator=said is None)


def _of_stats(row: Row) -> Iterator[_Told]:
    """Yield what the statistics of a run's feedback say: of a single one what it said, of several nothing."""
    yield from _of_run(row, row.fields, {})


def _of_example(row: Row) -> Iterator[_Told]:
    """Yield what is said of the runs of an example."""
    for number, run in enumerate(row.fields["runs"]):
        run = object_in(row, f"runs.{number}", run)
        yield from _of_run(row._replace(fields={**row.fields, "run": run}), run, row.fields)


def _of_run(row: Row, run: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[_Told]:
    answer, texts = _answer(run, example), _texts(run, example)
    for metric, stats in object_in(row, "feedback_stats", run.get("feedback_stats")).items():
        stats = object_in(row, f"feedback_stats.{metric}", stats)
        words, comments, sources = (opened(stats.get(name)) for name in ("values", "comments", "sources"))
        number, value, error = stats.get("n"), value_of(stats.get("avg")), None
        if number != 1:
            error = f"a mean of {number} is no judgement" if number else "nobody said anything"
        elif value is None and isinstance(words, Mapping) and len(words) == 1:
            value = value_of(next(iter(words)))
        yield _Told(
            row,
            answer,
            metric,
            by="person" if number == 1 and _source(sources) == "app" else "judge",
            value=value,
            reason=filled(comments[0]) if number == 1 and isinstance(comments, list) and len(comments) == 1 else None,
            error=error or (UNSAID if value is None else None),
            more=texts,
        )


def _of_comparison(row: Row) -> Iterator[_Told]:
    """Yield the choices of a row of evaluate_comparative, a feedback on each of its runs."""
    results, example = object_of(row.fields["evaluation_results"]), object_of(row.fields["example"])
    runs = [object_in(row, f"evaluation_results.runs.{number}", run) for number, run in enumerate(results["runs"])]
    for name in filter(_is_flat, results):
        said = object_in(row, f"evaluation_results.{name}", results[name])
        for run in runs:
            score, comment = (_of_run_id(said.get(each), run.get("id")) for each in ("scores", "comment"))
            told = _of_one(row, _answer(run, example), {"key": said.get("key"), "score": score, "comment": comment})
            yield replace(told, group=f"{row.place} {name}", more=_texts(run, example))


def _of_run_id(value: Any, run: Any) -> Any:
    """Return what is said of one run, where it is said of each."""
    return value.get(str(run)) if isinstance(value, Mapping) else value


def _of_one(row: Row, run: Answer, said: Mapping[str, Any]) -> _Told:
    """Return one feedback as the service and the SDK both write it."""
    value = value_of(said.get("score"), textual=row.textual)
    value = value_of(said.get("value"), textual=row.textual) if value is None else value
    failed = object_of(said.get("extra")).get("error") is True
    reason = filled(said.get("comment"))
    source = said.get("feedback_source.type") or _source(said.get("feedback_source"))
    return _Told(
        row,
        run,
        filled(said.get("key")) or "(no key)",
        by="person" if source == "app" else "judge",
        value=value,
        reason=None if failed else reason,
        error=(reason or "its evaluator failed") if failed else UNSAID if value is None else None,
        is_of_evaluator=failed,
    )


def _source(value: Any) -> str | None:
    """Return of what type the source of a feedback is, however it is written; of a list of sources, of the only one."""
    value = opened(value)
    if isinstance(value, list):
        return _source(value[0]) if len(value) == 1 else None
    if isinstance(value, Mapping):
        return filled(value.get("type"))
    if not isinstance(value, str):
        return None
    found = SOURCE.search(value)
    return found[1] if found else value


# --- the runs ------------------------------------------------------------------------------------------------------


def _answer(run: Mapping[str, Any], example: Mapping[str, Any]) -> Answer:
    """Return whose answer to what a run is: of the same example, or else of the same input."""
    asked = example.get("id") or run.get("reference_example_id") or run.get("inputs")
    return answer_of(filled(run.get("id")), asked, run.get("outputs"))


def _texts(run: Mapping[str, Any], example: Mapping[str, Any]) -> dict[str, Any]:
    model = object_of(object_of(run.get("extra")).get("metadata")).get("ls_model_name")
    return {
        "question": question_of(example.get("inputs") or run.get("inputs")),
        "response": response_of(run.get("outputs")),
        "model": filled(model),
    }


def _of_single_runs(told: Sequence[_Told]) -> Iterator[_Told]:
    """Yield what is said of single runs; an evaluator that failed is counted under each metric that its run lacks."""
    alone = [each for each in told if each.group is None]
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


def _choices(told: Iterable[_Told]) -> Iterator[_Told]:
    """Yield a choice for each two runs that were compared; which of them was shown first is not kept."""
    groups: dict[tuple[str, str], list[_Told]] = {}
    for each in told:
        if each.group is not None:
            groups.setdefault((each.group, each.metric), []).append(each)
    for (group, _), compared in groups.items():
        scores = [each.value for each in compared if isinstance(each.value, int | float)]
        first, last = compared[0], compared[-1]
        if len(compared) != 2 or len(scores) != 2:
            yield replace(first, error="it is not of two runs that both have a score", value=None)
            continue
        selected = "tie" if scores[0] == scores[1] else 1 if scores[0] > scores[1] else 2
        question = first.more.get("question")
        texts = {f"response_{n}": each.more.get("response") for n, each in ((1, first), (2, last))}
        reason = (last if selected == 2 else first).reason or first.reason
        said = (first.run.said or b"") + (last.run.said or b"")
        pair = Answer(None, first.run.asked, said) if all(texts.values()) else Answer(group)
        more = {"selected_response": selected, "question": question, **texts}
        yield replace(first, run=pair, value=None, reason=reason, more=more)


def _is_flat(name: object) -> bool:
    return isinstance(name, str) and name.startswith(FLAT)
