"""Selection of one judge's rows from an export; people's judgements become labels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from judgefixtures.models.pairs import Example, Pair, id_key
from judgefixtures.sources.human_labels import USUAL, label_key
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.shell import quoted
from judgefixtures.util.texts import make_one_line, quote_names

from .formats.loaded_file import JUDGED
from .log_rows import LogRow
from .messages import MESSAGES

WHOSE: Mapping[str, str] = {"judge": "a judge's", "person": "people's", "code": "a check in code"}
MOST_WORDS = 4
MOST_LISTED = 40

Kinds: TypeAlias = dict[tuple[str, str], list[LogRow]]  # by the name and by whom


@dataclass(frozen=True, slots=True)
class SelectedMetric:
    """The rows of one metric, and people's labels by id.

    `others` counts the rows of other metrics.
    """

    entries: tuple[LogRow, ...]
    others: int = 0
    remarks: tuple[str, ...] = ()
    labels: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    people: tuple[str, ...] = ()  # metrics under which people judged, where none of them is used


def select_metric(entries: Sequence[LogRow]) -> SelectedMetric:
    """Return the rows of the named metric, or of the only judge's.

    Raises:
        JudgeFixturesError: No such metric, or several; lists them.
    """
    request, named = entries[0].request, [entry for entry in entries if entry.judgement is not None]
    if not named:
        for option, name in (("--metric", request.metric), ("--label-metric", request.label_metric)):
            if name is not None:
                raise JudgeFixturesError(MESSAGES.no_metric_named(option, name, request))
        return SelectedMetric(tuple(entries))
    if other := next((entry for entry in entries if len(named) < len(entries) and entry.judgement is None), None):
        raise other.row.mistake(MESSAGES.rows_with_and_without_metric(named[0].row.where))
    kinds: Kinds = {}
    for entry in named:
        kinds.setdefault((_judgement(entry)["metric"], _judgement(entry)["by"]), []).append(entry)
    judges = [name for name, by in kinds if by == "judge"]
    metric = judges[0] if request.metric is None and len(judges) == 1 else request.metric
    whose = [(metric, by) for by in ("judge", "code") if metric is not None and (metric, by) in kinds]
    if metric is None or not whose:
        raise JudgeFixturesError(_which(kinds, request.metric, "--metric", request.names))
    # Code that says something under the name of a judge is another metric.
    own, wanted = kinds[whose[0]], request.label_metric or metric
    # Under the judge's own name what anybody but people says is no label: at worst it is the judge's own answer.
    by_whom = ("person",) if wanted == metric else ("person", "code", "judge")
    people = next((kinds[wanted, by] for by in by_whom if (wanted, by) in kinds), [])
    if request.label_metric is not None and not people:
        raise JudgeFixturesError(_which(kinds, wanted, "--label-metric", request.names))
    labels, remarks = _labels(people)
    if request.label_metric is not None and not labels:
        raise JudgeFixturesError(f"--label-metric {request.label_metric}: {remarks[0].removeprefix('not used: ')}.")
    who = () if people else tuple(sorted(name for name, by in kinds if by == "person"))
    if who:
        remarks.append(f"not used: people's values of {quote_names(who)}; for labels, add --label-metric NAME")
    others = len(named) - len(own) - len(people)
    return SelectedMetric(tuple(_labelled(own, labels)), others, tuple(remarks), labels, who)


def add_human_labels(pairs: Sequence[Pair], labels: Mapping[str, Sequence[Any]]) -> tuple[Pair, ...]:
    """Return examples with the log's labels where they have none.

    >>> add_human_labels([Example("e1", "Why?", "So.")], {"e1": ["pass"]})[0].label
    'pass'
    """
    if _are_labelled(pairs):
        return tuple(pairs)
    return tuple(
        replace(pair, label=_one(labels[name]))
        if isinstance(pair, Example) and (name := id_key(pair.id)) in labels
        else pair
        for pair in pairs
    )


def unused_labels(given: Sequence[Pair], labels: Mapping[str, Sequence[Any]], answered: Set[str]) -> Iterator[str]:
    """Yield how many examples have unused labels, and why."""
    if labels and _are_labelled(given):
        known = pluralize(len(labels), "example")
        yield f"not used: people's labels of {known} in the log, because the given examples have labels"
    elif lost := len(labels.keys() - set(map(id_key, answered))):
        yield f"not used: people's labels of {pluralize(lost, 'example')} without an answer"


def _are_labelled(pairs: Iterable[Pair]) -> bool:
    return any(isinstance(pair, Example) and pair.label for pair in pairs)


def _one(values: Sequence[Any]) -> Any:
    counted = Counter(USUAL[str(label_key(each)).strip().casefold()] for each in values)
    (first, most), *others = counted.most_common()
    return None if others and others[0][1] == most else first


def _labels(people: Iterable[LogRow]) -> tuple[dict[str, list[Any]], list[str]]:
    labels: dict[str, list[Any]] = {}
    unread: list[LogRow] = []
    for entry in people:
        judgement = _judgement(entry)
        value, about = judgement.get("passed", judgement.get("score")), judgement.get("id")
        if about is None or str(label_key(value)).strip().casefold() not in USUAL:
            unread.append(entry)
        else:
            labels.setdefault(id_key(str(about)), []).append(value)
    if not unread:
        return labels, []
    judgement = _judgement(unread[0])
    return labels, [
        MESSAGES.unread_human_rows(
            unread, unread[0].row.where, make_one_line(repr(judgement.get("passed", judgement.get("score"))))[:40]
        )
    ]


def _labelled(entries: Iterable[LogRow], labels: Mapping[str, Sequence[Any]]) -> Iterator[LogRow]:
    key = "labels" if any(len(labels_of_entry) > 1 for labels_of_entry in labels.values()) else "label"
    for entry in entries:
        labels_of_entry = labels.get(id_key(str(_judgement(entry).get("id"))))
        if not labels_of_entry:
            yield entry
            continue
        fields = {JUDGED: {**_judgement(entry), key: labels_of_entry if key == "labels" else labels_of_entry[0]}}
        yield replace(entry, row=entry.row._replace(fields={**entry.row.fields, **fields}))


def _judgement(entry: LogRow) -> Mapping[str, Any]:
    judgement: Mapping[str, Any] = entry.row.fields[JUDGED]
    return judgement


# --- what there is ----------------------------------------------------------------------------------------------


def _which(kinds: Kinds, metric: str | None, option: str, names: str) -> str:
    whose = "judge" if option == "--metric" else "person"
    if metric is not None:
        is_there = any(name == metric for name, _ in kinds)
        what = f"none called {metric!r} is {WHOSE[whose]}" if is_there else f"none is called {metric!r}"
    elif all(by != "judge" for _, by in kinds):
        what = "none is from a judge"
    else:
        what = "none is selected"
    listed = sorted(kinds.items(), key=lambda item: (item[0][1] != whose, item[0]))
    first = listed[0][0][0]
    remedy = "" if first == metric else f"Select one, such as {option} {quoted(first)}. "
    lines = [
        f"  {make_one_line(name)} ({WHOSE[by]}): {pluralize(len(held), 'row')}: {_values(held)}"
        for (name, by), held in listed
    ]
    more = [f"  and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else []
    head = f"{names} holds {pluralize(len(kinds), 'metric')}, but {what}:"
    return "\n".join([head, *lines[:MOST_LISTED], *more, f"{remedy}Nothing was written."])


def _values(entries: Sequence[LogRow]) -> str:
    judgements = [_judgement(entry) for entry in entries]
    passed = Counter(str(each["passed"]) for each in judgements if "passed" in each)
    unpassed = (each for each in judgements if "passed" not in each)
    scores = [each["score"] for each in unpassed if isinstance(each.get("score"), int | float)]
    parts = [f"{make_one_line(word)[:40]} {count}" for word, count in passed.most_common(MOST_WORDS)]
    parts += ["..."] if len(passed) > MOST_WORDS else []
    if scores:
        parts.append(f"scores from {min(scores):g} to {max(scores):g}")
    if nothing := len(judgements) - passed.total() - len(scores):
        parts.append(f"nothing {nothing}")
    return ", ".join(parts)
