"""Names of the models that wrote the responses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from judgefixtures.models.pairs import MODEL, Example, Pair
from judgefixtures.sources.values import value_to_text
from judgefixtures.util.texts import make_encodable, make_one_line, short_repr

from .log_rows import LogRow

SHOWN = 40  # characters of a name


@dataclass(frozen=True, slots=True)
class ResponseModels:
    """The models by response id; `remark` says why a column is unused."""

    models: Mapping[str, str]
    remark: str = ""

    def signed(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Return examples with missing writers filled in."""
        alone = {model: {MODEL: model} for model in {*self.models.values()}}  # once each, of 100,000 examples
        return tuple(
            replace(pair, columns={**pair.columns, **known} if pair.columns else known)
            if isinstance(pair, Example) and known and MODEL not in pair.columns
            else pair
            for pair in pairs
            for known in [alone.get(self.models.get(pair.id, ""))]
        )


def response_models(about: Iterable[tuple[str, LogRow]]) -> ResponseModels:
    """Return who wrote each response.

    A column with two writers of one response is ignored, as is a `--where` column.

    Raises:
        JudgeFixturesError: --columns names such a column.
    """
    models: dict[str, str] = {}
    for name, entry in about:
        value, column = entry.value(MODEL), entry.column(MODEL)
        if value in (None, "") or column in entry.request.where:
            continue
        model = make_encodable(value_to_text(value))
        if models.setdefault(name, model) != model:
            both = " and ".join(repr(make_one_line(each))[:SHOWN] for each in (models[name], model))
            clash = f"{column} has {both} for the response of {short_repr(name, SHOWN)}"
            if MODEL in entry.request.columns:
                raise entry.row.mistake(f"{clash}. Name the column of the author with --columns {MODEL}=...")
            return ResponseModels({}, f"not used: {clash}; name the column of the author: --columns {MODEL}=...")
    return ResponseModels(models)
