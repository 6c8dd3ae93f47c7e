"""Detection of a log's mode: from its judge's table, its dataset, or its rows."""

from collections.abc import Sequence

from judgefixtures.config import Config, JudgeTable, judge_table
from judgefixtures.models.pairs import Pair, are_examples
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.texts import quote_names

from .choice_rows import ChoiceRows
from .formats.loaded_file import PLAIN
from .grade_rows import GradeRows, ZeroOneScoreRows
from .log_rows import LogRow
from .messages import MESSAGES
from .rows_by_mode import RowFormat
from .score_rows import PairScoreRows, ResponseScoreRows

# Of those that are about the same, and of judges of the same mode, the first one is it whose fields the rows have.
CONTENTS: tuple[type[RowFormat], ...] = (ChoiceRows, GradeRows, ResponseScoreRows, ZeroOneScoreRows, PairScoreRows)


def detect_mode(entries: Sequence[LogRow], given: Sequence[Pair], config: Config, dataset: str) -> RowFormat:
    """Return a log's row format.

    Raises:
        JudgeFixturesError: Judge, dataset and rows contradict.
    """
    request = entries[0].request
    table, heading = config.judges.get(request.judge), config.heading("judges", request.judge)
    of_given = (OF_EXAMPLES if are_examples(given) else OF_PAIRS) if given else None
    recognised = (each for each in (ChoiceRows, GradeRows) if any(each.is_in(entry) for entry in entries))
    of_rows = next((each.words for each in recognised), None)
    where = request.pairs or f"dataset {dataset!r}"
    if table is not None and of_given is not None:
        _check_mode(table, of_given, str(where), heading)
    fitting = _fitting(entries, table, of_given or of_rows)
    own = table or judge_table(
        {"provider": "imported", "mode": fitting.kind.mode, **fitting.proposed(entries)}, heading
    )
    content = fitting(own.headed(heading))
    words = content.words
    because = f"{where} holds {words.many}" if given else f"the rows hold {words.many}" if of_rows else ""
    _check_fields(
        content, entries, because or (f"{heading} has mode = {fitting.kind.mode!r}" if table is not None else "")
    )
    return content


def _check_mode(table: JudgeTable, about: Vocabulary, where: str, heading: str) -> None:
    own = [each for each in CONTENTS if each.kind.mode == table.mode]
    if any(each.words is about for each in own):
        return
    modes = dict.fromkeys(f'"{each.kind.mode}"' for each in CONTENTS if each.words is about)
    raise JudgeFixturesError(
        MESSAGES.mode_of_other_content(where, about, heading, table, own[0].holds, own[0].words.many, modes)
    )


def _fitting(entries: Sequence[LogRow], table: JudgeTable | None, about: Vocabulary | None) -> type[RowFormat]:
    if table is None and about is None:
        return next((each for each in CONTENTS if each.is_stated(entries)), None) or _unstated(entries)
    own = [each for each in CONTENTS if table is None or each.kind.mode == table.mode]
    fitting = [each for each in own if each.words is about] or own
    columns = entries[0].request.columns
    if "answer" in columns:
        return fitting[0]
    named = [each for each in fitting if {*each.stated} & {*columns}] or fitting
    return next((each for each in named if each.is_stated(entries)), named[0])


def _unstated(entries: Sequence[LogRow]) -> type[RowFormat]:
    first = entries[0]
    if first.form != PLAIN or any(entry.has("answer") for entry in entries) or first.request.columns:
        return ChoiceRows
    raise first.row.mistake(MESSAGES.no_judgement_column(quote_names(first.row.fields)))


def _check_fields(content: RowFormat, entries: Sequence[LogRow], because: str) -> None:
    first = entries[0]
    known = {*content.stated, "answer"}
    if not any(entry.has(name) for entry in entries for name in known):
        _check_others(content, entries, because)
    raters = {"labels": first.request.raters[0]} if first.request.raters else {}
    for name, column in {**first.request.columns, **raters}.items():
        if name in content.fields():
            continue
        if owner := next((other for other in CONTENTS if name in other.fields()), None):
            why = because or f"--pairs and --dataset name no {owner.words.many}"
            raise JudgeFixturesError(
                MESSAGES.column_of_other_mode(
                    name, column, owner, why, content, ", ".join(content.fields()), _remedy(content, owner)
                )
            )
        raise JudgeFixturesError(f"--columns: unknown field {name!r}: {accepted_values(name, content.fields())}.")


def _check_others(content: RowFormat, entries: Sequence[LogRow], because: str) -> None:
    for other in CONTENTS:
        theirs = other.stated[0]
        first = next((entry for entry in entries if entry.has(theirs)), None)
        if first is None:
            continue
        known = f"; and {because}" if because else f", but their {other.words.many} are unknown"
        about = "" if other.words is content.words else f"{other.words.many} with --pairs or --dataset, or "
        raise first.row.mistake(
            MESSAGES.answers_of_other_mode(
                content, first.column(theirs), other, known, about, content.stated[0], _remedy(content, other)
            )
        )


def _remedy(content: RowFormat, other: type[RowFormat]) -> str:
    if other.words is not content.words or other.kind.mode == content.kind.mode:
        return ""
    return f'; or set mode = "{other.kind.mode}" in {content.table.heading}'
