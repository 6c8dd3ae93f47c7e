"""Compatibility check of a judge and a dataset, before any request."""

from collections.abc import Iterable, Sequence

from judgefixtures.config import JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import mode_class
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.prompts.templates import LAYOUTS, Template
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import join_names, quote_names

from .messages import MESSAGES

SOME = 3  # ids that a message shows


def check_judge_fits_dataset(
    judge: str, table: JudgeTable, template: Template, dataset: str, pairs: Sequence[Pair]
) -> None:
    """Check that a judge can be asked about a dataset.

    Raises:
        JudgeFixturesError: It cannot; the message gives the remedy.
    """
    is_asked = mode_class(table).is_asked
    if LAYOUTS[table.mode].shows_both and any(isinstance(pair, Example) for pair in pairs):
        modes = (mode for mode, each in LAYOUTS.items() if not each.shows_both and (is_asked or each.logged))
        alone = join_names(modes, " or ", quoted=True)
        raise JudgeFixturesError(MESSAGES.examples_for_pairwise_judge(dataset, judge, table, alone))
    if not is_asked:
        return
    of_kind: dict[str, list[Pair]] = {}
    for pair in pairs:
        of_kind.setdefault(pair.content_type, []).append(pair)
    for content_type, some in of_kind.items():
        for column in template.columns_for(content_type):
            _check_column(column, judge, template, dataset, some)
        for column in template.letters_for(content_type):
            if any(column in pair.columns for pair in some):
                raise JudgeFixturesError(MESSAGES.slot_of_other_mode(template, judge, column, dataset))


def misplaced_cue_reason(contrast: Contrast | None, judges: Iterable[Judge]) -> str:
    """Return why pairwise judges cannot be asked a contrast, or ""."""
    if contrast is None or not contrast.is_of_prompts:
        return ""
    for judge in judges:
        if LAYOUTS[judge.table.mode].shows_both:
            return MESSAGES.prompt_cue_for_pairwise_judge(contrast, judge)
    return ""


def _check_column(column: str, judge: str, template: Template, dataset: str, pairs: Sequence[Pair]) -> None:
    there = f"the template {template.name} of judge {judge!r} shows {{{column}}}"
    lacking = [pair for pair in pairs if column not in pair.columns]
    if len(lacking) == len(pairs):
        columns = dict.fromkeys(name for pair in pairs for name in pair.columns)
        ours = " ".join(f"{{{slot}}}" for slot in LAYOUTS[template.mode].slots)
        raise JudgeFixturesError(MESSAGES.no_such_column(there, dataset, quote_names(columns), ours, column))
    if lacking and column not in template.values:
        some = quote_names(pair.id for pair in lacking[:SOME]) + (", ..." if len(lacking) > SOME else "")
        raise JudgeFixturesError(MESSAGES.metadata_lacking(there, lacking, pairs, dataset, some))
    for pair in pairs:
        try:
            pair.columns.get(column, "").encode()
        except UnicodeEncodeError:
            raise JudgeFixturesError(MESSAGES.metadata_not_unicode(there, pair, dataset)) from None
