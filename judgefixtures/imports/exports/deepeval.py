"""Exports of deepeval: what its metrics said of test cases, in a test run; and datasets that were saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from judgefixtures.imports.exports.held import By, Export, Held, finite, judged
from judgefixtures.imports.exports.titles import Told, metric_names
from judgefixtures.numbers.statistics import several
from judgefixtures.sources.named import deepeval_cases, in_snake_case
from judgefixtures.sources.parsing import Row, lookup
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import one_line

RUN, LINK, CACHE, ARENA, TALKS = (
    "testRunData",
    "testRunLink",
    "test_cases_lookup_map",
    "testRuns",
    "conversationalTestCases",
)
MARKS = ("success", "strictMode", "evaluationModel")  # of what a metric said, as every version writes it
IMAGE = "[DEEPEVAL:IMAGE:"  # stands in a text for an image
CONTESTANTS = 2
LONGEST_ERROR = 200
SPANS = ("agentSpans", "toolSpans", "retrieverSpans", "llmSpans", "baseSpans")


class Deepeval(Export):
    """A row is what one metric said of one test case; where none said anything, a row is a test case."""

    name: ClassVar[str] = "deepeval"

    @classmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether there are test cases, or what points to them."""
        value = _value(held)
        if not isinstance(value, Mapping):
            return False
        return bool({"testCases", TALKS, RUN, LINK, CACHE} & value.keys()) or _is_arena(value)

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return a row for each judgement, or for each test case where nobody judged."""
        if _is_arena(_value(held)):
            return list(_choices(held))
        cases = _cases(held)
        said = [(case, _metrics(case)) for case in cases]
        if not any(metrics for _, metrics in said):
            return [in_snake_case(case) for case in cases]
        names = metric_names([[_told(metric) for metric in metrics] for _, metrics in said])
        ids = _ids(cases)
        return [
            _judged(case, metric, names[_told(metric)], name)
            for (case, metrics), name in zip(said, ids, strict=True)
            for metric in metrics
        ]

    @classmethod
    def remarks(cls, held: Held) -> tuple[str, ...]:
        """Return what a run holds that is not read: cases that no metric judged, and metrics of parts of a trace."""
        if _is_arena(_value(held)):
            return ()
        cases = _cases(held)
        judged_by = [len(_metrics(case)) for case in cases]
        spans = sum(_span_metrics(case) for case in cases)
        remarks = []
        if any(judged_by) and (unjudged := judged_by.count(0)):
            remarks.append(f"not read: {several(unjudged, 'test case')} of {held.file} that no metric judged")
        if spans:
            remarks.append(f"not read: {several(spans, 'judgement')} of parts of a trace in {held.file}")
        return tuple(remarks)


# --- what a file holds ------------------------------------------------------------------------------------------


def _value(held: Held) -> Any:
    """Return the document that a file holds: before 3 deepeval gave it no ending, and it is its only line."""
    return held.rows[0].fields if held.value is None and len(held.rows) == 1 else held.value


def _cases(held: Held) -> list[Row]:
    """Return the test cases of a run, those of conversations last; raises JudgeFixturesError for what holds none."""
    value, where = _value(held), f"dataset {held.source.name!r}: {held.file}"
    if isinstance(value, dict) and isinstance(value.get(RUN), dict):
        value = value[RUN]
    if isinstance(value, dict) and "testCases" not in value and (LINK in value or CACHE in value):
        what = "only a link to a test run" if LINK in value else "deepeval's cache of metrics"
        raise JudgeFixturesError(
            f"{where} holds {what}, and no test cases. Set DEEPEVAL_RESULTS_FOLDER=FOLDER, run the evaluation "
            "again, and import the file that it leaves there."
        )
    if not isinstance(value, dict) or TALKS not in value:
        return deepeval_cases(value, where)
    talks = deepeval_cases({"testCases": value[TALKS]}, where)
    return [*deepeval_cases({"testCases": value.get("testCases", [])}, where), *talks]


def _metrics(case: Row) -> list[Mapping[str, Any]]:
    """Return what metrics said of a test case; raises JudgeFixturesError for what is no list of objects."""
    found = case.fields.get("metricsData")
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        raise case.mistake("metricsData must be a list of objects, as deepeval writes it.")
    return [metric for metric in found if any(name in metric for name in MARKS)]


def _told(metric: Mapping[str, Any]) -> Told:
    """Return a metric's name, and what tells it from another of that name: its model and its threshold."""
    return tuple(str(metric.get(name, "")) for name in ("name", "evaluationModel", "threshold"))


def _ids(cases: Sequence[Row]) -> list[str]:
    """Return what the cases are called: by their names where each has its own, else by their place in the run."""
    named = [case.fields.get("name") for case in cases]
    texts = [name for name in named if isinstance(name, str) and name.strip()]
    if len({*texts}) == len(cases):
        return texts
    return [str(number) for number in range(len(cases))]


def _span_metrics(case: Row) -> int:
    """Return how many judgements stand in the trace of a case."""
    spans = [lookup(case.fields, f"trace.{name}") for name in SPANS]
    found = [lookup(span, "metricsData") for each in spans if isinstance(each, list) for span in each]
    return sum(len(each) for each in found if isinstance(each, list))


# --- rows -------------------------------------------------------------------------------------------------------


def _judged(case: Row, metric: Mapping[str, Any], name: str, case_id: str) -> Row:
    """Return what one metric said of one test case as a row."""
    question, response = _shown(case)
    error, success, score = _error(metric, case), metric.get("success"), finite(metric.get("score"))
    rest = {key: value for key, value in case.fields.items() if key not in ("metricsData", "trace")}
    by: By = "judge" if metric.get("evaluationModel") else "code"
    return judged(
        case._replace(fields={**rest, "metric": dict(metric)}),
        metric=name,
        by=by,
        passed=success if isinstance(success, bool) and not error else None,
        score=None if error else score,
        reason=metric.get("reason"),
        error=error,
        id=case_id,
        question=question,
        response=response,
    )


def _error(metric: Mapping[str, Any], case: Row) -> str | None:
    """Return why a metric said nothing: deepeval writes such a one as a fail."""
    reason, error = metric.get("reason"), metric.get("error")
    if not isinstance(reason, str | None):
        raise case.mistake(f"the reason of a metric must be a text, got a {type(reason).__name__}.")
    if error:
        return one_line(str(error))[:LONGEST_ERROR]
    return "skipped: neither success nor score" if finite(metric.get("score")) is None else None


def _shown(case: Row) -> tuple[str | None, str | None]:
    """Return what was asked and answered: of a conversation all that the user said, and the last answer."""
    turns = next((case.fields[name] for name in ("turns", "testCases") if name in case.fields), None)
    if not isinstance(turns, list):
        return _text(case.fields.get("input")), _text(case.fields.get("actualOutput"))
    asked: list[Any] = []
    said: list[Any] = []
    for turn in turns:
        fields = turn if isinstance(turn, Mapping) else {}
        if "role" in fields:  # since 3; before, a turn is a question with its answer
            (asked if fields["role"] == "user" else said).append(fields.get("content"))
        else:
            asked.append(fields.get("input"))
            said.append(fields.get("actualOutput"))
    texts = [_text(each) for each in asked]
    question = "\n\n".join(text for text in texts if text) if all(texts) else None
    return question or None, _text(said[-1]) if said else None


def _text(value: Any) -> str | None:
    """Return a text; None where it shows an image, which nobody can be asked about here."""
    return value if isinstance(value, str) and value and IMAGE not in value else None


# --- an arena ---------------------------------------------------------------------------------------------------


def _is_arena(value: Any) -> bool:
    runs = value.get(ARENA) if isinstance(value, Mapping) else None
    return (
        isinstance(runs, list) and bool(runs) and all(isinstance(run, Mapping) and "testCases" in run for run in runs)
    )


def _choices(held: Held) -> Iterator[Row]:
    """Yield which of two contestants was chosen: each has a run of its own, with the same cases in the same order."""
    runs = [deepeval_cases(run, f"dataset {held.source.name!r}: {held.file}") for run in _value(held)[ARENA]]
    if len(runs) != CONTESTANTS or len(runs[0]) != len(runs[1]):
        counts = ", ".join(str(len(run)) for run in runs)
        raise JudgeFixturesError(
            f"{held.file} is an arena of {several(len(runs), 'contestant')} with {counts} test cases: a judge of pairs "
            "chooses between two, with as many each. Compare two at a time."
        )
    for name, one, other in zip(_ids(runs[0]), *runs, strict=True):
        if one.fields.get("input") != other.fields.get("input"):
            raise one.mistake("the two contestants were asked different questions: their cases are not in one order.")
        yield from _chosen(name, one, other)


def _chosen(name: str, one: Row, other: Row) -> Iterator[Row]:
    """Yield what each metric of an arena chose; the scores of two contestants are 1 and 0."""
    metrics, opposites = _metrics(one), _metrics(other)
    if [*map(_told, metrics)] != [*map(_told, opposites)]:
        raise one.mistake("the two contestants have other metrics, or in another order.")
    for metric, opposite in zip(metrics, opposites, strict=True):
        scores = [finite(each.get("score")) for each in (metric, opposite)]
        selected = {(1, 0): 1, (0, 1): 2}.get((scores[0], scores[1]))  # type: ignore[arg-type]
        texts = {"response_1": one.fields.get("actualOutput"), "response_2": other.fields.get("actualOutput")}
        told = {"input": one.fields.get("input"), **texts, "selected": selected, "metric": dict(metric)}
        yield judged(
            one._replace(fields=told),
            metric=str(metric.get("name")),
            reason=metric.get("reason"),
            error=_error(metric, one),
            id=name,
        )
