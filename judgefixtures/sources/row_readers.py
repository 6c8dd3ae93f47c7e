"""Row readers of files and hub datasets; each row has a name for messages."""

import contextlib
import gc
import glob
import json
import re
import sys
import tempfile
import warnings
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.paths import open_regular
from judgefixtures.util.texts import parse_json, quote_names

from .csv_files import table_rows
from .encodings import LARGEST_CELL, LARGEST_TEXT, numbered_lines, read_text_file
from .messages import MESSAGES
from .parquet import datasets_features, parquet_rows
from .size_limits import check_json
from .source import Source

JSON_FORMATS = {".jsonl": "json", ".json": "json"}
TABLE_FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
FORMATS = {**JSON_FORMATS, **TABLE_FORMATS}
SAVED = ("state.json", "dataset_dict.json")  # what save_to_disk leaves of a Dataset and of a DatasetDict
MOST_NESTED = 100  # lists and objects in one another: logs of agents have some twenty
HUB_TIMEOUT = 30.0  # seconds for the question whether the hub is there and has the dataset


class DataRow(NamedTuple):
    """A row's fields, its place for messages, and its short place ("line 3")."""

    fields: Mapping[str, Any]
    where: str
    place: str
    textual: bool = False  # of a format without types, or with labels: a number may be text

    def mistake(self, message: str) -> JudgeFixturesError:
        """Return an error about the row."""
        return JudgeFixturesError(f"{self.where}: {message}")


@dataclass(frozen=True, slots=True)
class SourceRows:
    """Rows to read once, with columns and hub commit, if any."""

    rows: Iterable[DataRow]
    columns: tuple[str, ...] | None = None
    revision: str | None = None

    def close(self) -> None:
        """Close the file."""
        if isinstance(self.rows, Generator):
            self.rows.close()


def json_lines(path: Path, source: Source) -> Generator[DataRow, None, None]:
    """Yield a JSON-lines file's rows, or raise JudgeFixturesError naming the line."""
    check_readable(path, source)
    named = f"dataset {source.name!r}: {path}"
    with contextlib.closing(numbered_lines(path, named)) as lines:
        for number, line in lines:
            if line.strip():
                where = f"{named}:{number}"
                yield DataRow(_object(line, where), where, f"line {number}")


def local_rows(source: Source, *, typed: bool = False, split: str | None = None) -> SourceRows:
    """Return the rows of a file, folder or saved dataset.

    `split` is used if the table names none. With `typed`, `datasets` reads JSON too, with uniform columns.

    Raises:
        JudgeFixturesError: Missing or unreadable data.
    """
    path = source.file
    files = [path] if not path.is_dir() else _files(path, source, split)
    if source.rows is not None and (typed or not all(file.suffix.lower() == ".json" for file in files or (path,))):
        raise source.mistake(f"rows = {source.rows!r} applies to .json files, and {path} is none. Remove it.")
    if source.split is not None and not typed and path.is_file():
        raise source.mistake(
            f"split = {source.split!r} applies to folders and the hub, but {path} is a file. Remove it."
        )
    if not files:
        return _saved(path, source, split)
    parts = [_file_rows(file, source, typed=typed) for file in files]
    columns = parts[0].columns
    for file, part in zip(files, parts, strict=True):
        if part.columns != columns:
            raise source.mistake(MESSAGES.columns_differ(file, quote_names(part.columns), files, quote_names(columns)))
    return SourceRows(_in_turn(parts), columns)


def _in_turn(parts: Iterable[SourceRows]) -> Generator[DataRow, None, None]:
    for part in parts:
        yield from part.rows


def hub_rows(source: Source, hub: str, *, split: str | None = None, data_dir: str | None = None) -> SourceRows:
    """Return a hub dataset's rows at its current or pinned commit.

    `HF_HUB_OFFLINE` limits it to the cache.

    Raises:
        JudgeFixturesError: The hub is unreachable; names two remedies.
    """
    library = _library(source)
    revision = source.revision if is_offline() else _commit(source, hub)
    wanted = source.split or split
    try:
        loaded = library.load_dataset(hub, source.config, data_dir=data_dir, split=wanted, revision=revision)
    except Exception as error:
        raise _hub_error(source, hub, error) from None
    loaded, wanted = _one_split(loaded, wanted, f"dataset {source.name!r}: {hub}", source)
    commit = _commit_of(loaded) or revision
    if source.revision and commit and re.fullmatch("[0-9a-f]{40}", source.revision) and commit != source.revision:
        raise source.mistake(MESSAGES.revision_not_cached(source, hub, commit))
    return _table(loaded, f"dataset {source.name!r}: {hub}" + (f" ({wanted})" if wanted else ""), revision=commit)


def json_value(path: Path, source: Source) -> Any:
    """Return a JSON file's value, or raise JudgeFixturesError."""
    check_readable(path, source)
    try:
        text = read_text_file(path, named := f"dataset {source.name!r}: {path}")
        check_json(text, named, "file", LARGEST_TEXT)
        return _loads(text)
    except (ValueError, RecursionError) as error:
        hint = " Rename a file of JSON lines to .jsonl." if "Extra data" in str(error) and not source.origin else ""
        raise source.mistake(f"{path}: {_fault(error)}.{hint}") from None


def json_rows(path: Path, source: Source) -> list[DataRow]:
    """Return a JSON file's rows: its list, only list, or `rows`."""
    return rows_within(json_value(path, source), path, source)


def rows_within(value: Any, path: Path, source: Source) -> list[DataRow]:
    """Return the rows in a JSON value."""
    if source.rows is not None:
        rows = lookup(value, source.rows) if isinstance(value, Mapping | list) else MISSING
        if rows is MISSING:
            raise source.mistake(f"{path}: rows = {source.rows!r} does not exist in it; {_inside(value)}.")
        value = rows
    elif isinstance(value, dict):
        lists = [key for key, held in value.items() if isinstance(held, list)]
        if len(lists) != 1:
            raise source.mistake(
                f"{path}: expected a list of rows, got an object; {_inside(value)}. Set the list "
                f'with `rows = "{(lists or ["..."])[0]}"` in {source.table}.'
            )
        value = value[lists[0]]
    if not isinstance(value, list):
        raise source.mistake(f"{path}: expected a list of objects, got a JSON {type(value).__name__}.")
    return numbered_rows(value, f"dataset {source.name!r}: {path}")


def numbered_rows(values: Sequence[Any], where: str, *, textual: bool = False) -> list[DataRow]:
    """Return objects as numbered rows, or raise JudgeFixturesError."""
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            raise JudgeFixturesError(f"{where}: row {number}: expected an object, got a JSON {type(value).__name__}.")
    return [DataRow(each, f"{where}: row {n}", f"row {n}", textual) for n, each in enumerate(values, 1)]


MISSING = object()
OBJECTS = (dict, Mapping)  # a dict is told at once, and most are: of a large log millions


def lookup(value: Any, path: str, default: Any = MISSING) -> Any:
    """Return the value at a dotted path, or the default; literal keys first.

    >>> lookup({"vars": {"q": "Why?"}, "outputs": ["So.", "No."]}, "outputs.1")
    'No.'
    """
    if isinstance(value, OBJECTS):
        if path in value:
            return value[path]
        if "." not in path:
            return default
    for step in path.split("."):
        if isinstance(value, OBJECTS) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return default
    return value


def _file_rows(file: Path, source: Source, *, typed: bool) -> SourceRows:
    suffix = file.suffix.lower()
    if suffix in JSON_FORMATS and not typed:
        return SourceRows(json_lines(file, source) if suffix == ".jsonl" else json_rows(file, source))
    if suffix not in FORMATS and not typed and not source.origin:
        return SourceRows(json_lines(file, source))  # whatever its name: JSON lines is the format of pair files
    check_readable(file, source)
    if suffix not in FORMATS:
        raise source.mistake(f"{file}: {accepted_values(suffix or file.name, FORMATS)}.")
    return _tabular(file, source)


def _tabular(file: Path, source: Source) -> SourceRows:
    where, suffix = f"dataset {source.name!r}: {file}", file.suffix.lower()
    if TABLE_FORMATS.get(suffix) == "csv":
        # As text, all of it: an id of 007, an answer of NA or a question of 1 would be changed by a guess of types.
        return _in_memory([fields for _, fields in table_rows(file, where)], where, textual=True)
    if suffix == ".parquet" and not datasets_features(file):
        return _in_memory(parquet_rows(file, where, as_json=False), where)
    return _of_library(file, source, where)


def _in_memory(values: Sequence[Any], where: str, *, textual: bool = False) -> SourceRows:
    return SourceRows(numbered_rows(values, where, textual=textual), tuple(values[0]) if values else None)


def _of_library(file: Path, source: Source, where: str) -> SourceRows:
    """Return rows that `datasets` reads, without using its cache."""
    if file.suffix.lower() == ".parquet":
        parquet_rows(file, where)  # which tells what is too large
    else:  # a packed file, too, would be read
        deque(numbered_lines(file, where, most=LARGEST_TEXT), maxlen=0)
    library = _library(source)
    problem = ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache, _quiet(library):
        try:
            loaded = library.load_dataset(
                FORMATS[file.suffix.lower()], data_files=glob.escape(str(file)), split="train", cache_dir=cache
            )
            values, columns, textual = list(_values(loaded)), tuple(loaded.column_names), bool(_labels(loaded))
        except Exception as error:
            if "corresponds to no data" in str(error):  # a head and no row
                return SourceRows(())
            problem = _gist_of(error)
            del error  # and with it the file, which `datasets` 4 leaves open, here, where that is not shown
            gc.collect()
    if problem:
        raise JudgeFixturesError(
            f"{where} cannot be read: {problem}. Correct it, or use another format ({', '.join(FORMATS)})."
        )
    return SourceRows(numbered_rows(values, where, textual=textual), columns)


def _files(folder: Path, source: Source, split: str | None) -> list[Path]:
    if any((folder / name).exists() for name in SAVED):
        return []
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in FORMATS and not path.is_dir()]
    files = [path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    name = source.split or split
    wanted = [path for path in files if name and re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", path.stem)]
    if source.split is None:
        wanted = wanted or files
    kinds = sorted({path.suffix.lower() for path in wanted})
    if len(kinds) == 1:
        return wanted
    names = quote_names(str(path.relative_to(folder)) for path in files[:10])
    problem = f"holds files of several kinds ({', '.join(kinds)})" if kinds else "holds no rows"
    if files and not wanted:
        problem = f"has no file with the split {source.split!r} in its name"
    raise source.mistake(MESSAGES.unfit_folder(folder, problem, names, FORMATS))


def _saved(folder: Path, source: Source, default: str | None) -> SourceRows:
    library = _library(source)
    where = f"dataset {source.name!r}: {folder}"
    try:
        with _quiet(library):
            loaded = library.load_from_disk(str(folder))
    except Exception as error:
        empty = " A dataset without rows cannot be read back." if isinstance(error, IndexError) else ""
        raise JudgeFixturesError(MESSAGES.unreadable_file(where, _gist_of(error), empty, FORMATS)) from None
    several = isinstance(loaded, Mapping) and default in loaded
    loaded, split = _one_split(loaded, source.split or (default if several else None), where, source)
    return _table(loaded, where + (f" ({split})" if split else ""))


def _one_split(loaded: Any, wanted: str | None, where: str, source: Source) -> tuple[Any, str | None]:
    if not isinstance(loaded, Mapping):
        return loaded, wanted
    name = wanted or (next(iter(loaded)) if len(loaded) == 1 else None)
    if name not in loaded:
        problem = f"has no split {name!r}" if name else "has several splits"
        known = accepted_values(name or "", loaded)
        raise JudgeFixturesError(f"{where} {problem}: {known}. Set `split` in {source.table}.")
    return loaded[name], name


def _table(loaded: Any, where: str, revision: str | None = None) -> SourceRows:
    textual = bool(_labels(loaded))
    values = enumerate(_values(loaded), 1)
    rows = (DataRow(row, f"{where}: row {number}", f"row {number}", textual) for number, row in values)
    return SourceRows(rows, tuple(loaded.column_names), revision)


def _values(loaded: Any) -> Iterator[dict[str, Any]]:
    labels = _labels(loaded)
    # What is decoded by a library of its own, and is not text; a column of JSON is no more than of mixed types.
    decoded = {name: type(kind).__name__ for name, kind in loaded.features.items() if hasattr(kind, "decode")}
    unread = [name for name, kind in decoded.items() if kind != "Json"]
    for row in loaded.remove_columns(unread):
        for column, names in labels.items():
            number = row[column]
            row[column] = None if number is None or number < 0 else names[number]
        yield row


def _labels(loaded: Any) -> dict[str, list[str]]:
    return {column: feature.names for column, feature in loaded.features.items() if hasattr(feature, "int2str")}


def _library(source: Source) -> Any:
    try:
        import datasets
    except Exception as error:  # a broken pyarrow or torch raises anything
        raise source.mistake(MESSAGES.no_datasets_library(_gist_of(error))) from None
    return datasets


@contextlib.contextmanager
def _quiet(library: Any) -> Iterator[None]:
    were_shown = not library.are_progress_bars_disabled()
    library.disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            yield
    finally:
        if were_shown:
            library.enable_progress_bars()


def is_offline() -> bool:
    """Return whether HF_HUB_OFFLINE is set."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def _commit(source: Source, hub: str) -> str | None:
    from huggingface_hub import HfApi

    try:
        return HfApi().dataset_info(hub, revision=source.revision, timeout=HUB_TIMEOUT).sha
    except Exception as error:
        raise _hub_error(source, hub, error) from None


def _commit_of(loaded: Any) -> str | None:
    matches = (re.search("@([0-9a-f]{40})/", str(address)) for address in loaded.info.download_checksums or ())
    return next((match[1] for match in matches if match), None)


def _hub_error(source: Source, hub: str, error: Exception) -> JudgeFixturesError:
    kinds, text = {kind.__name__ for kind in type(error).__mro__}, str(error)
    problem = f"cannot be loaded: {_gist_of(error)}"
    remedy = unreachable_dataset_advice(source)
    if "scripts are no longer supported" in text or "DefunctDatasetError" in kinds:
        problem = "is a loading script, which `datasets` does not run"
        remedy = 'For ELI5 use `source = "eli5"`, which reads Pavithree/eli5. ' if "eli5" in hub.lower() else ""
        remedy += "Set `path` to a local copy of the data."
    elif "OfflineModeIsEnabled" in kinds or "OfflineModeIsEnabled" in text:
        problem = "is not in the local cache, and HF_HUB_OFFLINE forbids downloads"
    elif "GatedRepoError" in kinds or "is a gated dataset" in text:
        problem = "is gated"
        remedy = f"Accept its terms on https://huggingface.co/datasets/{hub}, set HF_TOKEN and run again; {remedy}"
    elif "RevisionNotFoundError" in kinds or text.startswith("Revision "):
        problem, remedy = f"has no revision {source.revision!r}", "Correct or remove `revision`."
    elif kinds & {"RepositoryNotFoundError", "DatasetNotFoundError", "HFValidationError"}:
        problem, remedy = "is not on the hub, or is private", f"Correct `source` (or set HF_TOKEN); {remedy}"
    elif kinds & {"HTTPError", "ConnectionError", "TimeoutError", "OSError"}:
        problem = f"cannot be reached ({_gist_of(error)}). Check the network."
        problem += " If it is in the local cache, set HF_HUB_OFFLINE=1"
    elif "split" in text.lower() or "config" in text.lower():
        remedy = f"Correct `split` or `config` in {source.table}."
    if source.origin == "eli5":
        remedy += " (This is a copy: `datasets` does not run the loading script of the original `eli5`.)"
    return source.mistake(f"{hub} {problem}. {remedy}")


def unreachable_dataset_advice(source: Source) -> str:
    """Return two ways to get an unreachable dataset."""
    return MESSAGES.unreachable_dataset(source)


def _gist_of(error: Exception) -> str:
    if type(error).__name__ == "DatasetGenerationError" and isinstance(error.__cause__, Exception):
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__


def check_readable(path: Path, source: Source) -> None:
    """Raise JudgeFixturesError for a missing or unreadable path."""
    try:
        open_regular(path).close()
    except FileNotFoundError:
        raise source.mistake(f"{path} does not exist. Paths are relative to the configuration file.") from None
    except OSError as error:
        raise source.mistake(f"{path} cannot be read: {error.strerror}.") from None


def cell_value(text: str, where: str = "") -> Any:
    """Return a cell's JSON value, else its text.

    Raises:
        JudgeFixturesError: More values than allowed.
    """
    check_json(text, where or f"a cell that begins with {text[:40]!r}", "row", LARGEST_CELL)
    return parse_json(text, text)


def _object(line: str, where: str) -> dict[str, Any]:
    check_json(line, where, "row", LARGEST_CELL)
    try:
        row = _loads(line)
    except (ValueError, RecursionError) as error:
        raise JudgeFixturesError(f"{where}: {_fault(error)}. Each line must hold one JSON object.") from None
    if not isinstance(row, dict):
        raise JudgeFixturesError(f"{where}: expected an object, got a JSON {type(row).__name__}.")
    return row


class _AmbiguousError(ValueError):
    """One object has a key twice with different values."""


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # One key for all objects: a hundred thousand lines would hold as many copies of each.
    fields = {sys.intern(key): value for key, value in pairs}
    if len(fields) < len(pairs):
        for key, value in pairs:
            if value != fields[key]:
                raise _AmbiguousError(f"an object has the key {key!r} twice with different values")
    return fields


class _NestedError(ValueError):
    """A value is nested too deeply."""


def _loads(text: str) -> Any:
    value = _as_json(text)
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(value):
        raise _NestedError(f"a value is nested in more than {MOST_NESTED} lists and objects")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_NESTED):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _fault(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return f"a value is nested in more than {MOST_NESTED} lists and objects"
    return str(error) if isinstance(error, _AmbiguousError | _NestedError) else f"not JSON: {error}"


_as_json = json.JSONDecoder(object_pairs_hook=_unambiguous).decode


def _inside(value: Any) -> str:
    return f"it has {quote_names(value)}" if isinstance(value, dict) else f"it is a JSON {type(value).__name__}"
