"""Next steps before an imported judge can be gated, one line and command each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.config import Config
from judgefixtures.models.pairs import Pair
from judgefixtures.util.shell import SUITE, quoted

from .log_rows import ImportRequest
from .row_formats import RowFormat


@dataclass(frozen=True, slots=True)
class ImportPreparation:
    """What an import has to go on: the pairs that it is about, of which only some may be answered, and where they lie.

    `people` are the metrics under which people judged, where the labels of none of them are used.
    """

    request: ImportRequest
    config: Config
    content: RowFormat
    dataset: str
    pairs: Sequence[Pair]
    given: int
    file: Path
    people: tuple[str, ...] = ()


def next_steps(prepared: ImportPreparation) -> Iterator[str]:
    """Yield what is to be done first."""
    content, config = prepared.content, prepared.config
    module = config.folder / SUITE / f"test_{content.check}.py"
    if not module.is_file():
        there = "" if config.folder.resolve() == Path.cwd() else f" {quoted(str(config.folder))}"
        yield f"judgefixtures init{there} --mode {content.kind.mode}  # {SUITE} has no {module.name}"
    if not content.is_known(prepared.pairs):
        yield from _unknown(prepared)
    answered = len(prepared.pairs)
    if prepared.request.pairs is None and prepared.dataset in config.datasets and answered < prepared.given:
        again = " ".join(quoted(word) for word in _again(prepared.request))
        yield (
            f"judgefixtures import {again} --dataset {prepared.dataset}-part --pairs {quoted(str(prepared.file))}  # "
            f"{answered} of {prepared.given} {content.words.many} are answered: a run on all of {prepared.dataset} is "
            "an ERROR"
        )


def _again(request: ImportRequest) -> Iterator[str]:
    """Yield the words of an import of the same rows, but for what they are about."""
    yield from map(str, request.files)
    given: list[tuple[str, object]] = [("--judge", request.judge), ("--metric", request.metric)]
    given += [("--label-metric", request.label_metric)]
    given += [("--where", f"{column}={value}") for column, value in request.where.items()]
    given += [("--columns", f"{name}={column}") for name, column in request.columns.items()]
    given += [("--columns", f"labels={column}") for column in request.raters]
    given += [("--format", request.format), ("--verdict", request.verdict), ("--allow", request.allow)]
    given += [("--numbers", "own" if request.own_numbers else None)]
    given += [("--into", request.into), ("--config", request.config)]
    for option, value in given:
        if value is not None:
            yield from (option, str(value))


def _unknown(prepared: ImportPreparation) -> Iterator[str]:
    """Yield how people's judgements get there, of which the check is made."""
    content = prepared.content
    if prepared.people:
        yield f"import again with --label-metric {quoted(prepared.people[0])}  # there people judged the same"
    elif content.check == "agreement":
        given = prepared.request.config
        more = "" if given is None else f" --config {quoted(str(given))}"
        yield f"judgefixtures label {prepared.dataset} --by NAME{more}  # no example has a label: have people give some"
    elif content.check == "accuracy":
        yield "name the better responses: --columns gold=..., or --pairs FILE with a column gold  # no pair has gold"
