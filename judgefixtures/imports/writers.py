"""Writers: which model wrote the response of an example, where the rows of a log say so; kept as a column of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from judgefixtures.imports.entries import Entry
from judgefixtures.material.pairs import MODEL, Example, Pair
from judgefixtures.sources.values import as_text
from judgefixtures.words.texts import encodable, one_line

SHOWN = 40  # characters of a name


@dataclass(frozen=True, slots=True)
class Writers:
    """The models by the ids of what they wrote; `remark` says why a column that has models is not used."""

    models: Mapping[str, str]
    remark: str = ""

    def signed(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Return examples with who wrote their response, where they do not say it themselves."""
        alone = {model: {MODEL: model} for model in {*self.models.values()}}  # once each, of 100,000 examples
        return tuple(
            replace(pair, columns={**pair.columns, **known} if pair.columns else known)
            if isinstance(pair, Example) and known and MODEL not in pair.columns
            else pair
            for pair in pairs
            for known in [alone.get(self.models.get(pair.id, ""))]
        )


def writers_of(about: Iterable[tuple[str, Entry]]) -> Writers:
    """Return who wrote what, by the rows and the ids of what each is about.

    A response has one writer. A column that says two of one response, or by which `--where` chooses rows, is about the
    judge, and none is kept; where --columns names it, two of one are a JudgeFixturesError.
    """
    models: dict[str, str] = {}
    for name, entry in about:
        value, column = entry.value(MODEL), entry.column(MODEL)
        if value in (None, "") or column in entry.request.where:
            continue
        told = encodable(as_text(value))
        if models.setdefault(name, told) != told:
            both = " and ".join(repr(one_line(each))[:SHOWN] for each in (models[name], told))
            said = f"{column} says {both} of the response of {one_line(repr(name))[:SHOWN]}, and one model wrote it"
            if MODEL in entry.request.columns:
                raise entry.row.mistake(f"{said}. Name the column of who wrote it with --columns {MODEL}=...")
            return Writers({}, f"not used: {said}: by model with --columns {MODEL}=... of who did")
    return Writers(models)
