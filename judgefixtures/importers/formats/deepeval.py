"""Exports of deepeval: metric results of a test run, and saved datasets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from judgefixtures.sources.known_sources import deepeval_cases, snake_case_test_case
from judgefixtures.sources.row_readers import DataRow, lookup
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line

from ..messages import MESSAGES
from .loaded_file import By, ExportFormat, LoadedFile, finite_number, normalized_row
from .titles import Told, metric_names

RUN, LINK, CACHE = "testRunData", "testRunLink", "test_cases_lookup_map"
ARENA, TALKS = "testRuns", "conversationalTestCases"
MARKS = ("success", "strictMode", "evaluationModel")  # of what a metric said, as every version writes it
IMAGE = "[DEEPEVAL:IMAGE:"  # stands in a text for an image
CONTESTANTS = 2
LONGEST_ERROR = 200
SPANS = ("agentSpans", "toolSpans", "retrieverSpans", "llmSpans", "baseSpans")


class DeepevalFormat(ExportFormat):
    """deepeval's format: one metric's result for one test case per row.

    Without any results, a row is a test case.
    """

    name: ClassVar[str] = "deepeval"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are deepeval test cases."""
        value = _value(held)
        if not isinstance(value, Mapping):
            return False
        return bool({"testCases", TALKS, RUN, LINK, CACHE} & value.keys()) or _is_arena(value)

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per judgement, or per test case."""
        if _is_arena(_value(held)):
            return list(_choices(held))
        cases = _cases(held)
        case_metrics = [(case, _metrics(case)) for case in cases]
        if not any(metrics for _, metrics in case_metrics):
            return [snake_case_test_case(case) for case in cases]
        names = metric_names([[_titles(metric) for metric in metrics] for _, metrics in case_metrics])
        ids = _ids(cases)
        return [
            _judged(case, metric, names[_titles(metric)], name)
            for (case, metrics), name in zip(case_metrics, ids, strict=True)
            for metric in metrics
        ]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return notes on skipped cases and trace metrics."""
        if _is_arena(_value(held)):
            return ()
        cases = _cases(held)
        judged_by = [len(_metrics(case)) for case in cases]
        spans = sum(_span_metrics(case) for case in cases)
        remarks = []
        if any(judged_by) and (unjudged := judged_by.count(0)):
            remarks.append(f"not read: {pluralize(unjudged, 'test case')} of {held.file} without a metric")
        if spans:
            remarks.append(f"not read: {pluralize(spans, 'judgment')} about parts of a trace in {held.file}")
        return tuple(remarks)


# --- what a file holds ------------------------------------------------------------------------------------------


def _value(held: LoadedFile) -> Any:
    """Return the file's document; deepeval before 3 wrote no file extension."""
    return held.rows[0].fields if held.value is None and len(held.rows) == 1 else held.value


def _cases(held: LoadedFile) -> list[DataRow]:
    value, where = _value(held), f"dataset {held.source.name!r}: {held.file}"
    if isinstance(value, dict) and isinstance(value.get(RUN), dict):
        value = value[RUN]
    if isinstance(value, dict) and "testCases" not in value and (LINK in value or CACHE in value):
        what = "only a link to a test run" if LINK in value else "deepeval's cache of metrics"
        raise JudgeFixturesError(MESSAGES.deepeval_without_cases(where, what))
    if not isinstance(value, dict) or TALKS not in value:
        return deepeval_cases(value, where)
    talks = deepeval_cases({"testCases": value[TALKS]}, where)
    return [*deepeval_cases({"testCases": value.get("testCases", [])}, where), *talks]


def _metrics(case: DataRow) -> list[Mapping[str, Any]]:
    metrics = case.fields.get("metricsData")
    if metrics is None:
        return []
    if not isinstance(metrics, list) or not all(isinstance(each, Mapping) for each in metrics):
        raise case.mistake("metricsData must be a list of objects.")
    return [metric for metric in metrics if any(name in metric for name in MARKS)]


def _titles(metric: Mapping[str, Any]) -> Told:
    return tuple(str(metric.get(name, "")) for name in ("name", "evaluationModel", "threshold"))


def _ids(cases: Sequence[DataRow]) -> list[str]:
    named = [case.fields.get("name") for case in cases]
    texts = [name for name in named if isinstance(name, str) and name.strip()]
    if len({*texts}) == len(cases):
        return texts
    return [str(number) for number in range(len(cases))]


def _span_metrics(case: DataRow) -> int:
    spans = [lookup(case.fields, f"trace.{name}") for name in SPANS]
    metrics = [lookup(span, "metricsData") for each in spans if isinstance(each, list) for span in each]
    return sum(len(each) for each in metrics if isinstance(each, list))


# --- rows -------------------------------------------------------------------------------------------------------


def _judged(case: DataRow, metric: Mapping[str, Any], name: str, case_id: str) -> DataRow:
    question, response = _question_and_response(case)
    error, success, score = _error(metric, case), metric.get("success"), finite_number(metric.get("score"))
    rest = {key: value for key, value in case.fields.items() if key not in ("metricsData", "trace")}
    by: By = "judge" if metric.get("evaluationModel") else "code"
    grade = {} if error else {"passed": success if isinstance(success, bool) else None, "score": score}
    details = {**grade, "reason": metric.get("reason"), "error": error}
    texts = {"id": case_id, "question": question, "response": response}
    row = case._replace(fields={**rest, "metric": dict(metric)})
    return normalized_row(row, metric=name, by=by, **details, **texts)


def _error(metric: Mapping[str, Any], case: DataRow) -> str | None:
    """Return why a metric has no result; deepeval writes such results as fails."""
    reason, error = metric.get("reason"), metric.get("error")
    if not isinstance(reason, str | None):
        raise case.mistake(f"the reason of a metric must be a text, got a {type(reason).__name__}.")
    if error:
        return make_one_line(str(error))[:LONGEST_ERROR]
    return "skipped: neither success nor score" if finite_number(metric.get("score")) is None else None


def _question_and_response(case: DataRow) -> tuple[str | None, str | None]:
    """Return question and response; of a conversation, all user turns and the last answer."""
    turns = next((case.fields[name] for name in ("turns", "testCases") if name in case.fields), None)
    if not isinstance(turns, list):
        return _text(case.fields.get("input")), _text(case.fields.get("actualOutput"))
    questions: list[Any] = []
    answers: list[Any] = []
    for turn in turns:
        fields = turn if isinstance(turn, Mapping) else {}
        if "role" in fields:  # since 3; before, a turn is a question with its answer
            (questions if fields["role"] == "user" else answers).append(fields.get("content"))
        else:
            questions.append(fields.get("input"))
            answers.append(fields.get("actualOutput"))
    texts = [_text(each) for each in questions]
    question = "\n\n".join(text for text in texts if text) if all(texts) else None
    return question or None, _text(answers[-1]) if answers else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value and IMAGE not in value else None


# --- an arena ---------------------------------------------------------------------------------------------------


def _is_arena(value: Any) -> bool:
    runs = value.get(ARENA) if isinstance(value, Mapping) else None
    return (
        isinstance(runs, list) and bool(runs) and all(isinstance(run, Mapping) and "testCases" in run for run in runs)
    )


def _choices(held: LoadedFile) -> Iterator[DataRow]:
    """Yield arena choices: each contestant has its own run of the same cases."""
    runs = [deepeval_cases(run, f"dataset {held.source.name!r}: {held.file}") for run in _value(held)[ARENA]]
    if len(runs) != CONTESTANTS or len(runs[0]) != len(runs[1]):
        counts = ", ".join(str(len(run)) for run in runs)
        raise JudgeFixturesError(MESSAGES.deepeval_arena(held, runs, counts))
    for name, one, other in zip(_ids(runs[0]), *runs, strict=True):
        if one.fields.get("input") != other.fields.get("input"):
            raise one.mistake("the two contestants have different questions: sort their cases in the same order.")
        yield from _chosen(name, one, other)


def _chosen(name: str, one: DataRow, other: DataRow) -> Iterator[DataRow]:
    metrics, opposites = _metrics(one), _metrics(other)
    if [*map(_titles, metrics)] != [*map(_titles, opposites)]:
        raise one.mistake("the two contestants have different metrics, or a different order.")
    for metric, opposite in zip(metrics, opposites, strict=True):
        scores = [finite_number(each.get("score")) for each in (metric, opposite)]
        selected = {(1, 0): 1, (0, 1): 2}.get((scores[0], scores[1]))  # type: ignore[arg-type]
        texts = {"response_1": one.fields.get("actualOutput"), "response_2": other.fields.get("actualOutput")}
        fields = {"input": one.fields.get("input"), **texts, "selected": selected, "metric": dict(metric)}
        details: dict[str, Any] = {"reason": metric.get("reason"), "error": _error(metric, one), "id": name}
        yield normalized_row(one._replace(fields=fields), metric=str(metric.get("name")), **details)
