"""Logs of Inspect, as JSON or packed: one row per scorer and sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from judgefixtures.sources.row_readers import MISSING, DataRow, lookup
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line

from ..messages import MESSAGES
from .inspect_archive import without_transcript
from .inspect_scores import UNSCORED, InspectScore, message_text, metric_value_words, sample_scores
from .loaded_file import By, ExportFormat, LoadedFile, normalized_row

# Scorers that come with Inspect and ask nobody.
IN_CODE = ("answer", "choice", "exact", "f1", "includes", "match", "math", "pattern", "perplexity", "target_perplexity")
ORDERS = ("1-2", "2-1", "12", "21")  # in the metadata of a sample whose output is a judge's own answer about a pair
NO_MODEL = "none/none"  # of a run that only scored
SHOWN = 40  # characters of what stands where something else is wanted


class InspectFormat(ExportFormat):
    """Inspect's format; edited scores are imported as the scorer gave them."""

    name: ClassVar[str] = "inspect"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are Inspect samples."""
        log = held.value if isinstance(held.value, dict) else {}
        return held.file.suffix.lower() == ".eval" or "samples" in log or {"version", "status", "eval"} <= log.keys()

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per sample and metric."""
        log = _Log(held)
        scored = zip(log.samples, log.scores, log.places, strict=True)
        return [row for sample, scores, place in scored for row in log.rows_of(sample, scores, place)]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return notes on the run and its scores."""
        log = _Log(held)
        notes = [*log.of_run(), *log.of_scores()]
        if lost := held.replaced:
            notes.append(f"has {pluralize(len(lost), 'sample')} twice ({make_one_line(lost[0])}): the last one counts")
        return tuple(f"take care: {held.file} {each}" for each in notes)


class _Log:
    """The samples of a log, with metrics `scorer` or `scorer.key`."""

    def __init__(self, held: LoadedFile) -> None:
        self.samples = _samples(held)
        self._header: Mapping[str, Any] = held.value if isinstance(held.value, dict) else {}
        older = lookup(self._header, "results.scorer.name")
        unnamed = older if isinstance(older, str) else "score"
        self.scores = [sample_scores(row, unnamed) for row in self.samples]
        self.places = _placed(self.samples)
        self._scorers = dict(_scorers(self._header))
        self._metrics = _metrics(self.scores) or {name: name for name in self._scorers}
        self._words = {name: metric_value_words(score.value for score in self._of(name)) for name in self._metrics}
        self._edited = {metric for metric in self._metrics if any(score.is_edited for score in self._of(metric))}
        self._peoples = {metric for metric in self._metrics if self._is_peoples(metric)}

    def _of(self, metric: str) -> Iterator[InspectScore]:
        return (scores[metric] for scores in self.scores if metric in scores)

    def _is_peoples(self, metric: str) -> bool:
        whose = [score.is_persons for score in self._of(metric)]
        return bool(whose) and all(whose)

    def _by(self, metric: str) -> By:
        name = self._metrics[metric]
        return "code" if self._scorers.get(name, name).removeprefix("inspect_ai/") in IN_CODE else "judge"

    # --- rows -------------------------------------------------------------------------------------------------

    def rows_of(self, sample: DataRow, scores: Mapping[str, InspectScore], place: _Place) -> Iterator[DataRow]:
        judged_of, fault = self._judged_of(sample, place), _fault(sample.fields)
        if not self._metrics:
            yield sample
        for metric, words in self._words.items():
            score = scores.get(metric)
            if score is None:
                if metric not in self._peoples:
                    details = {"error": UNSCORED} if fault is None else fault
                    yield normalized_row(sample, metric=metric, by=self._by(metric), **details, **judged_of)
                continue
            fields = {**sample.fields, "score": score.raw}
            if metric in self._edited:
                now = words.told(score.present)
                fields["reviewed"] = now.get("passed", now.get("score"))
            by = "person" if score.is_persons else self._by(metric)
            details = {"reason": score.reason, **words.told(score.value, score.failed)} if fault is None else fault
            yield normalized_row(sample._replace(fields=fields), metric=metric, by=by, **details, **judged_of)

    def _judged_of(self, sample: DataRow, place: _Place) -> dict[str, Any]:
        fields, model = sample.fields, lookup(self._header, "eval.model")
        details = place._asdict() | {"question": _question(fields.get("input"))}
        if isinstance(model, str) and model != NO_MODEL:
            details["model"] = model
        return details | ({"response": _completion(fields) or None} if _fault(fields) is None else {})

    # --- remarks ----------------------------------------------------------------------------------------------

    def of_run(self) -> Iterator[str]:
        status, planned = lookup(self._header, "status"), lookup(self._header, "eval.dataset.samples")
        n = len(self.samples)
        if status not in (MISSING, "success"):
            of = f" of {planned}" if isinstance(planned, int) and not isinstance(planned, bool) else ""
            yield MESSAGES.inspect_status(make_one_line(repr(status))[:SHOWN], n, of)
        elif _is_whole(total := lookup(self._header, "results.total_samples")) and total > n:
            yield f"holds {pluralize(n, 'sample')} of {total} in its results: the missing samples may not be random"
        for limit, count in sorted(Counter(_limits(self.samples)).items()):
            yield f"has {pluralize(count, 'sample')} of {n} cut off by a limit ({limit}): the partial output was judged"
        if invalid := sum(bool(row.fields.get("invalidation")) for row in self.samples):
            yield f"has {pluralize(invalid, 'sample')} of {n} marked invalid: not used"

    def of_scores(self) -> Iterator[str]:
        for metric, words in self._words.items():
            scores = list(self._of(metric))
            name, n = make_one_line(metric)[:SHOWN], pluralize(len(scores), "score")
            if words.is_partial:
                yield MESSAGES.inspect_partial_credit(name)
            if lost := sum(score.is_lost for score in scores):
                yield f"has {lost} of {n} of {name} that are I because Inspect found no grade in the grader's text"
            if edited := sum(score.is_edited for score in scores):
                yield MESSAGES.inspect_edited(edited, n, name)


# --- a log's samples --------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    id: str | int | None = None
    repeat: int | None = None
    cluster: str | None = None


def _samples(held: LoadedFile) -> list[DataRow]:
    rows: Sequence[DataRow] = held.rows
    if held.file.suffix.lower() != ".eval":
        samples = held.value.get("samples") if isinstance(held.value, dict) else None
        if not isinstance(samples, list):
            raise JudgeFixturesError(MESSAGES.inspect_without_samples(held))
        rows = [row._replace(fields=without_transcript(row.fields)) for row in held.numbered(samples)]
    return [row._replace(fields=_completed(row.fields)) for row in rows]


def _completed(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    output = fields.get("output")
    if not isinstance(output, dict) or "completion" in output or not (text := _completion(fields)):
        return fields
    return {**fields, "output": {**output, "completion": text}}


def _scorers(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for listed in (lookup(header, "results.scores"), lookup(header, "eval.scorers")):
        for each in listed if isinstance(listed, list) else ():
            name, scorer = (each.get("name"), each.get("scorer")) if isinstance(each, dict) else (None, None)
            if isinstance(name, str):
                yield name, scorer if isinstance(scorer, str) else name


def _metrics(scores: Iterable[Mapping[str, InspectScore]]) -> dict[str, str]:
    scorers = {score.metric: score.scorer for each in scores for score in each.values()}
    parted = {scorer for metric, scorer in scorers.items() if metric != scorer}
    return {metric: scorer for metric, scorer in scorers.items() if metric != scorer or scorer not in parted}


def _placed(samples: Sequence[DataRow]) -> list[_Place]:
    """Return each sample's place: epochs with equal answers are repeats.

    If the judge chooses between two responses, each epoch is a repeat.
    """
    given: list[tuple[int, Any, Any]] = [
        (number, row.fields.get("id"), row.fields.get("epoch", 1)) for number, row in enumerate(samples)
    ]
    known = [each for each in given if _is_id(each[1]) and _is_whole(each[2])]
    variants: dict[str, dict[str, str | int]] = {}
    counted: Counter[str] = Counter()
    seen: dict[tuple[str, int], DataRow] = {}
    places = [_Place()] * len(samples)
    for number, name, epoch in sorted(known, key=lambda each: each[2]):
        row = samples[number]
        if _is_of_pair(row.fields):
            places[number] = _Place(name, epoch)
            continue
        if (before := seen.setdefault((str(name), epoch), row)) is not row:
            raise row.mistake(MESSAGES.inspect_sample_twice(make_one_line(repr(name))[:SHOWN], epoch, before))
        if _fault(row.fields) is not None:
            places[number] = _Place(name)
            continue
        named = variants.setdefault(str(name), {})
        own = named.setdefault(_completion(row.fields), f"{name}~{epoch}" if named else name)
        places[number] = _Place(own, counted[str(own)], str(name))
        counted[str(own)] += 1
    alone = {name for name, named in variants.items() if len(named) == 1}
    return [place._replace(cluster=None) if place.cluster in alone else place for place in places]


def _fault(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    if fields.get("error"):
        return {}
    return {"error": "its sample was marked invalid"} if fields.get("invalidation") else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or _is_whole(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_of_pair(fields: Mapping[str, Any]) -> bool:
    metadata = fields.get("metadata")
    return isinstance(metadata, dict) and ("response_1" in metadata or metadata.get("order") in ORDERS)


def _question(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    messages = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    texts = [message_text(each.get("content")) for each in messages if each.get("role") == "user"]
    return "\n\n".join(text for text in texts if text) or None


def _completion(fields: Mapping[str, Any]) -> str:
    output = fields.get("output")
    if not isinstance(output, dict):
        return ""
    if isinstance(text := output.get("completion"), str) and text:
        return text
    message = lookup(output, "choices.0.message")
    return message_text(message.get("content")) if isinstance(message, dict) else ""


def _limits(samples: Sequence[DataRow]) -> Iterator[str]:
    for row in samples:
        if limit := row.fields.get("limit"):
            kind = limit.get("type") if isinstance(limit, dict) else limit
            yield make_one_line(str(kind))[:SHOWN]
