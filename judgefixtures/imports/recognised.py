"""Recognised: what a log holds, by its judge's table, else by the dataset that it is about, else by its own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgefixtures.config import Config, judge_table
from judgefixtures.imports.choices import Choices
from judgefixtures.imports.contents import Content
from judgefixtures.imports.entries import Entry
from judgefixtures.imports.gradings import Gradings
from judgefixtures.material.pairs import Pair, is_of_examples
from judgefixtures.words.errors import JudgeFixturesError, choices

# By the mode of the judges. Rows without a dataset are of the first one whose texts they hold.
CONTENTS: Mapping[str, type[Content]] = {each.mode: each for each in (Choices, Gradings)}


def recognised(entries: Sequence[Entry], given: Sequence[Pair], config: Config, dataset: str) -> Content:
    """Return what a log holds; raises JudgeFixturesError where its judge, its dataset and its rows contradict."""
    request = entries[0].request
    table, heading = config.judges.get(request.judge), config.heading("judges", request.judge)
    of_given = (Gradings if is_of_examples(given) else Choices) if given else None
    told = next((each for each in CONTENTS.values() if any(each.is_in(entry) for entry in entries)), None)
    mode = table.mode if table is not None else (of_given or told or Choices).mode
    content = CONTENTS[mode]((table or judge_table({"provider": "imported", "mode": mode}, heading)).headed(heading))
    words, where = content.words, request.pairs or f"dataset {dataset!r}"
    if of_given not in (None, type(content)):
        raise JudgeFixturesError(
            f"{where} holds {of_given.words.many}, and {heading} has mode = {mode!r}, whose answers are "
            f'{content.holds}: name {words.many} with --pairs or --dataset, or set mode = "{of_given.mode}" there.'
        )
    because = f"{where} holds {words.many}" if given else f"the rows hold {words.many}" if told else ""
    _check_fields(content, entries, because or (f"{heading} has mode = {mode!r}" if table is not None else ""))
    return content


def _check_fields(content: Content, entries: Sequence[Entry], because: str) -> None:
    """Raise JudgeFixturesError where rows say what logs of other content say, or --columns names what none says."""
    field, first = content.form.field, entries[0]
    for other in CONTENTS.values():
        theirs = other.form.field
        if theirs == field or any(entry.has(field) or entry.has("answer") for entry in entries):
            continue
        if column := next((entry.column(theirs) for entry in entries if entry.has(theirs)), ""):
            known = f"; and {because}" if because else f", and nothing says which {other.words.many} they are about"
            raise first.row.mistake(
                f"no row says {content.asked}, but {column!r} stands there, where logs have {other.holds}{known}. Name "
                f"{other.words.many} with --pairs or --dataset, or where the {content.words.says} stands with "
                f"--columns {field}=..."
            )
    raters = {"labels": first.request.raters[0]} if first.request.raters else {}
    for name, column in {**first.request.columns, **raters}.items():
        if name in content.fields():
            continue
        if owner := next((other for other in CONTENTS.values() if name in other.fields()), None):
            why = because or f"no {owner.words.many} are named"
            raise JudgeFixturesError(
                f"--columns {name}={column}: that is a field of {owner.holds}, and {why}: these are {content.holds}, "
                f"and have {', '.join(content.fields())}."
            )
        raise JudgeFixturesError(f"--columns: there is no field {name!r}: {choices(name, content.fields())}.")
