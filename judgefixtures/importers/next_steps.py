"""Next steps before an imported judge can be gated, one line and command each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judgefixtures.cassettes.file_names import PAIRS_FILE
from judgefixtures.util.shell import SUITE, quoted

from .import_result import ImportResult
from .log_rows import ImportRequest
from .messages import MESSAGES


def next_steps(done: ImportResult) -> Iterator[str]:
    """Yield what is to be done first; the pairs are those that the answers are about."""
    content, config, dataset = done.content, done.config, done.imported.dataset
    module = config.folder / SUITE / f"test_{content.check}.py"
    if not module.is_file():
        there = "" if config.folder.resolve() == Path.cwd() else f" {quoted(str(config.folder))}"
        yield f"judgefixtures init{there} --mode {content.kind.mode}  # {SUITE} has no {module.name}"
    if not content.is_known(done.pairs):
        yield from _unknown(done)
    answered = len(done.pairs)
    if done.request.pairs is None and dataset in config.datasets and answered < done.given:
        again = " ".join(quoted(word) for word in _again(done.request))
        yield MESSAGES.import_answered_part(again, done, quoted(str(done.folder / PAIRS_FILE)), answered, content)


def _again(request: ImportRequest) -> Iterator[str]:
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


def _unknown(done: ImportResult) -> Iterator[str]:
    content = done.content
    if done.people:
        yield f"import again with --label-metric {quoted(done.people[0])}  # uses people's labels"
    elif content.check == "agreement":
        given = done.request.config
        more = "" if given is None else f" --config {quoted(str(given))}"
        label = f"judgefixtures label {done.imported.dataset} --by NAME{more}"
        yield f"{label}  # no example has a label"
    elif content.check == "accuracy":
        yield "add gold: --columns gold=..., or --pairs FILE with a column gold  # no pair has gold"
