"""Mapping of a row to a pair or an example, by the configured columns."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from judgefixtures.models.pairs import FIELDS, HIDDEN, TEXT_FIELDS, Example, Pair, id_key, id_text
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.texts import quote_names

from .human_labels import RaterNames, row_labels
from .label_files import LabelFiles
from .messages import MESSAGES
from .preference_votes import VOTES, PreferenceVotes, row_votes, split_pairs
from .row_readers import MISSING, DataRow, lookup
from .source import Source
from .values import messages_to_text, other_columns

PREFERENCE = ("chosen", "rejected")
RESPONSE = "response"  # the one field of an example's text
OF_EXAMPLES = ("label", "labels")  # fields that say what people say of one response
OF_PAIRS = ("gold", VOTES)  # and of two
COLUMNS = (*FIELDS, *PREFERENCE, VOTES, RESPONSE, *OF_EXAMPLES)
NAMES = frozenset(COLUMNS)
SAID = tuple(field for field in FIELDS if field not in TEXT_FIELDS)  # what is read of a pair beside its texts


def mapped_pairs(
    rows: Iterable[DataRow], source: Source, left_out: Counter[str], *, repeats: bool = False
) -> Iterator[Pair]:
    """Yield a pair or example per row; excluded rows are counted.

    Rows without ids get digests of their texts; duplicates are dropped with `repeats`, else an error.

    Raises:
        JudgeFixturesError: A wrong row; names dataset, file and row.
    """
    return split_pairs(_voted_pairs(rows, source, left_out, repeats=repeats), source, left_out)


def _voted_pairs(
    rows: Iterable[DataRow], source: Source, left_out: Counter[str], *, repeats: bool
) -> Iterator[tuple[Pair, PreferenceVotes | None]]:
    seen: dict[str, DataRow] = {}
    first: tuple[str, bool] | None = None
    columns = source.columns or {}
    unseen = [*columns.items(), *(("labels", column) for column in source.raters)]
    id_column = columns.get("id", "id")
    beside, raters = None, RaterNames()
    for row in rows:
        beside = beside or (LabelFiles(source) if source.labels_from is not None else None)
        unseen = [(field, column) for field, column in unseen if lookup(row.fields, column) is MISSING]
        has_id = lookup(row.fields, id_column) is not MISSING
        first = first or (row.place, has_id)
        if "id" not in columns and has_id and not first[1]:
            raise row.mistake(f"the row has an id, but {first[0]} has none. Add ids to all rows.")
        votes = row_votes(row, source)
        pair = mapped_pair(row, source, make_id=not first[1] and "id" not in columns, beside=beside)
        if pair is None:
            left_out["rows whose gold value is mapped to 0"] += 1
            continue
        if isinstance(pair, Example):
            raters.check(pair.labels, row)
        if (name := id_key(pair.id)) in seen:
            if repeats:
                left_out["repeated rows"] += 1
                continue
            raise JudgeFixturesError(_repeated(row, pair, seen[name], made=not has_id))
        seen[name] = row
        yield pair, votes
    if beside is not None:
        beside.check_used(seen)
    for field, column in unseen if first else ():
        raise source.mistake(
            f"columns = {{{field} = {column!r}}}, but no row of {source.path or source.origin} has {column!r}."
        )


def mapped_pair(
    row: DataRow, source: Source, *, make_id: bool, beside: LabelFiles | None = None, further: bool = True
) -> Pair | None:
    """Return a row's pair or example, or None for excluded gold.

    `beside` has labels from files; without `further`, other columns are dropped.
    """
    columns = {field: (source.columns or {}).get(field, field) for field in COLUMNS}
    # In a message: our own name of a field, or the user's column in quotes where it has another name.
    named = {field: field if columns[field] == field else repr(columns[field]) for field in SAID}
    responses = _responses(row, source)
    wanted = (*(() if make_id else ("id",)), TEXT_FIELDS[0], *responses)
    for field in wanted:
        if lookup(row.fields, columns[field]) is MISSING:
            raise JudgeFixturesError(_missing(row, source, field, columns[field]))
    question, first, *second = (
        judge_text(lookup(row.fields, columns[field]), columns[field], row.where)
        for field in (TEXT_FIELDS[0], *responses)
    )
    given = {field: lookup(row.fields, columns[field], None) for field in SAID}
    content_type = source.content_type or "Response" if given["content_type"] is None else given["content_type"]
    _check_said(row, source, responses)
    gold = 1 if responses == PREFERENCE else _gold(given["gold"], named["gold"], row, source) if second else None
    category, cluster = (
        None if given[field] is None else parse_id(given[field], named[field], row.where)
        for field in ("category", "cluster")
    )
    name = "" if make_id else parse_id(given["id"], named["id"], row.where)
    content_type = require_text(content_type, columns["content_type"], row.where)
    if gold == 0:
        return None
    more = other_columns(row.fields, _read_columns(source)) if further and not source.is_built_in else {}
    if second:
        pair = Pair(name, question, first, second[0], gold, category, content_type, cluster, more)
        return replace(pair, id=text_id(pair)) if make_id else pair
    example = Example(name, question, first, "", None, category, content_type, cluster, more)
    example = replace(example, id=text_id(example)) if make_id else example
    label, labels = row_labels(row, source, beside.of(example) if beside is not None else {})
    return Example(example.id, question, first, "", None, category, content_type, cluster, more, label, labels)


def _responses(row: DataRow, source: Source) -> tuple[str, ...]:
    """Return a row's response fields, or raise JudgeFixturesError if ambiguous."""
    columns = source.columns or {}
    for fields in (PREFERENCE, (RESPONSE,), TEXT_FIELDS[1:]):
        if any(field in columns for field in fields):
            return fields
    two = next((each for each in (TEXT_FIELDS[1:], PREFERENCE) if any(field in row.fields for field in each)), ())
    two = two if two != PREFERENCE or all(field in row.fields for field in two) else ()
    if RESPONSE not in row.fields:
        return two or TEXT_FIELDS[1:]
    if not two:
        return (RESPONSE,)
    present = [field for field in two if field in row.fields]
    of_one, of_two = (", ".join(f"{each} = {_quoted(each)}" for each in fields) for fields in ((RESPONSE,), two))
    raise row.mistake(MESSAGES.example_or_pair(RESPONSE, present, quote_names(present), of_one, of_two, source))


def _check_said(row: DataRow, source: Source, responses: tuple[str, ...]) -> None:
    columns, is_example = source.columns or {}, responses == (RESPONSE,)
    keys = [f"columns.{field}" for field in (OF_PAIRS if is_example else OF_EXAMPLES) if field in columns]
    if is_example:
        keys += [key for key in ("gold_values", "max_margin") if getattr(source, key) is not None]
    else:
        keys += ["columns.labels"] if source.raters else []
        keys += [key for key in ("label_values", "labels_from") if getattr(source, key) is not None]
    if keys:
        what, other = ("examples", "pairs") if is_example else ("pairs", "examples")
        raise row.mistake(f"{keys[0]} of {source.table} is a key for {other}, but the rows hold {what}. Remove it.")


def _read_columns(source: Source) -> frozenset[str]:
    if not source.columns and not source.raters:
        return NAMES
    columns = source.columns or {}
    hidden = [columns[field] for field in (*HIDDEN, *PREFERENCE) if field in columns]
    return NAMES.union(columns.values(), source.raters, (column.partition(".")[0] for column in hidden))


def _quoted(name: str) -> str:
    return f'"{name}"'


def text_id(pair: Pair) -> str:
    """Return an id of a pair's texts, independent of their order."""
    seen = json.dumps([pair.question, *sorted((pair.response_1, pair.response_2)), pair.content_type])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def require_text(value: Any, field: str, where: str) -> str:
    """Return a nonempty text, or raise JudgeFixturesError."""
    if not isinstance(value, str) or not value.strip():
        raise JudgeFixturesError(f"{where}: field {field!r} must be a nonempty text, got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise JudgeFixturesError(
            f"{where}: field {field!r} holds half of a surrogate pair, which is not valid Unicode."
        ) from None
    return value


def judge_text(value: Any, field: str, where: str) -> str:
    """Return a field's text as shown to a judge."""
    conversation_text = messages_to_text(value)
    return require_text(value if conversation_text is None else conversation_text, field, where)


def parse_id(value: Any, field: str, where: str) -> str:
    """Return an id as text, or raise JudgeFixturesError."""
    name = id_text(value)
    if not isinstance(name, str) or not name.strip():
        raise JudgeFixturesError(f"{where}: {field} must be a text or a whole number, got {value!r}.")
    return require_text(name, field, where)


def _gold(value: Any, field: str, row: DataRow, source: Source) -> Literal[0, 1, 2] | None:
    """Return the better response, 0 if excluded, or None."""
    if value is None:
        return None
    if source.gold_values is not None:
        # 1.0 is how a column of whole numbers reads in which one is missing.
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        key = str(value).lower() if isinstance(value, bool) else str(whole)
        if key not in source.gold_values:
            known = accepted_values(key, source.gold_values)
            raise row.mistake(f"{field} is {value!r}, which gold_values does not map: {known}.")
        return source.gold_values[key]  # type: ignore[return-value]
    if row.textual and value in ("1", "2", "1.0", "2.0"):  # with a point of a column in which one is missing
        value = int(float(value))
    if isinstance(value, bool) or value not in (1, 2):
        raise row.mistake(f"{field} must be 1 or 2 (the better response) or absent, got {value!r}.")
    return 1 if value == 1 else 2


def _missing(row: DataRow, source: Source, field: str, column: str) -> str:
    lacking = f"field {column!r}"
    remedy = f"the right column with {_as_columns(field)} in {source.table}"
    if field in TEXT_FIELDS[1:] and _has_no_response(row, source):
        one, two = _as_columns(RESPONSE), _as_columns(*TEXT_FIELDS[1:])
        lacking = "a response"
        remedy = f"its column in {source.table}: {one} for examples (one response each), or {two} for pairs"
    has = ", ".join(map(repr, row.fields)) or "no field"
    message = f"{row.where}: {lacking} is missing; the row has {has}. Name {remedy}."
    return f"{message} {hint}" if (hint := litbench_ids_note(row.fields)) else message


def _as_columns(*fields: str) -> str:
    mapped = ", ".join(f"{field} = {_quoted('...')}" for field in fields)
    return f"`columns = {{{mapped}}}`"


def _has_no_response(row: DataRow, source: Source) -> bool:
    fields = (RESPONSE, *TEXT_FIELDS[1:], *PREFERENCE)
    return not any(field in row.fields or field in (source.columns or {}) for field in fields)


def litbench_ids_note(columns: Mapping[str, Any] | tuple[str, ...]) -> str:
    """Return a note on rows with LitBench ids alone, or ""."""
    if {"chosen_comment_id", "rejected_comment_id"} <= set(columns) and "chosen_story" not in columns:
        return (
            "SAA-Lab/LitBench-Test holds only ids of Reddit comments, no stories. Fetch the comments, save a CSV file, "
            "and set `source = \"litbench\"` and `path`. Columns: 'prompt', 'chosen_story', "
            "'rejected_story', optional 'chosen_upvotes', 'rejected_upvotes'."
        )
    return ""


def _repeated(row: DataRow, pair: Pair, before: DataRow, *, made: bool) -> str:
    in_one_file = row.where.rpartition(":")[0] == before.where.rpartition(":")[0]
    place = before.place if in_one_file else before.where.partition(": ")[2]
    if made:
        return f"{row.where}: the row repeats the texts of {place}. Remove one of them, or add ids."
    return f"{row.where}: id {pair.id!r} is also in {place}. Make ids unique."
