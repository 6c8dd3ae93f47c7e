"""Import of logs: read, check and write the answers for `judgefixtures import`."""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgefixtures.cassettes.file_names import IMPORTED_FILE, PAIRS_FILE, SAMPLE_FILE
from judgefixtures.cassettes.files import atomic_write
from judgefixtures.config import TABLE, Config, build_config, load_config
from judgefixtures.judges.mode import mode_class
from judgefixtures.models.contrasts import conditions
from judgefixtures.models.cues import LONGEST_NAME, NAME
from judgefixtures.models.pairs import MODELS, Example, Pair, keep_columns, pair_to_row
from judgefixtures.providers import register_credentials
from judgefixtures.sources import Source, load_pairs
from judgefixtures.sources.row_readers import MISSING, DataRow, lookup
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.jinja import load_template
from judgefixtures.util.paths import open_regular
from judgefixtures.util.secrets import redact, redacted_json, safe_message
from judgefixtures.util.shell import options
from judgefixtures.util.texts import make_one_line, quote_names

from . import imported_answers
from .capabilities import import_capabilities
from .import_result import ImportResult
from .imported_answers import AnswerKeyFields, Imported, ImportedAnswer, LogSource
from .log_files import check_file, read_log
from .log_rows import ImportRequest, LogRow
from .matching import RowMatcher
from .messages import MESSAGES
from .metric_selection import add_human_labels, select_metric, unused_labels
from .mode_detection import detect_mode
from .next_steps import next_steps
from .response_models import ResponseModels, response_models

BESIDE = ("detected-by-", f"{Path(PAIRS_FILE).stem}.labels.")  # what detectors and people said of a log's answers
MOST_UNUSED = 0.05  # of the rows, unless --allow says otherwise
SUMMARY = Path(__file__).with_name("summary.txt.jinja")


def import_log(request: ImportRequest) -> ImportResult:
    """Import logs and write their answers beside the recordings.

    Raises:
        JudgeFixturesError: A mistake in the request or a log.
    """
    config = _config(request)
    register_credentials(*config.judges.values())  # a log may quote a key: it is not to be written
    dataset = _names(request, config)
    files = [read_log(file, request.format) for file in request.files]
    rows = [LogRow(row, file.form, request) for file in files for row in file.rows]
    # What people said of the same is theirs, whichever judge's rows are wanted.
    wanted = [entry for entry in rows if entry.by == "person" or _is_wanted(entry.row, request.where)]
    if not wanted or (request.where and all(entry.by == "person" for entry in wanted)):
        raise JudgeFixturesError(_none_wanted(request, [entry.row for entry in rows if entry.by != "person"]))
    chosen = select_metric(wanted)
    entries = chosen.entries
    folder = (request.into or config.folder / "cassettes") / request.judge / dataset
    known = _known_pairs(request, dataset, config)
    given = add_human_labels(known, chosen.labels)
    grows = request.pairs is None and dataset in config.datasets and _is_own(folder, config.source(dataset))
    content = detect_mode(entries, given, config, dataset)
    reader = RowMatcher(content, content.conditions(conditions(config.cues)), given, grows)
    answers = reader.read_answers(entries)
    if not answers:
        why, fields = _why(reader.unused), quote_names(rows[0].row.fields)
        raise JudgeFixturesError(MESSAGES.no_row_usable(request, why, reader.hint, content, fields))
    _check_share(request, reader, len(entries) - reader.repeated)
    logs = tuple(LogSource(file.name, _digest(file, request)) for file in request.files)
    answered = {key.pair for key in answers}
    kept = {pair.id for pair in given} | answered if grows else answered
    writers = _writers(reader, entries)
    pairs = writers.signed(pair for _, pair in sorted(reader.pairs.items()) if pair.id in kept)
    old = read_earlier_import(folder / IMPORTED_FILE)
    replaced = (len(old.keys() - answers.keys()), sum(each != answers.get(key, each) for key, each in old.items()))
    left = (len(rows) - len(wanted), reader.repeated, tuple(reader.unused))
    of_files = (remark for file in files for remark in file.remarks)
    of_labels = unused_labels(() if grows else known, chosen.labels, answered)
    remarks = (*of_files, *chosen.remarks, *filter(None, [writers.remark]), *of_labels)
    imported = Imported(request.judge, dataset, logs, answers)
    whose: dict[str, Any] = {"of_others": chosen.others, "given": len(given), "people": chosen.people}
    done = ImportResult(request, content, imported, pairs, folder, config, *left, remarks, *replaced, **whose)
    _keep(done, built_in=bool(given) and dataset in config.datasets and config.source(dataset).is_built_in)
    return done


def _digest(file: Path, request: ImportRequest) -> str:
    """Return a digest of log and selection: a file may hold several judges."""
    with open_regular(file) as opened:
        digest = hashlib.file_digest(opened, "sha256")
    chosen = (request.metric, dict(request.where), dict(request.columns), request.verdict, request.own_numbers)
    if any(chosen):
        digest.update(json.dumps(chosen, sort_keys=True).encode())
    return digest.hexdigest()[:16]


# --- what the request names -----------------------------------------------------------------------------------


def _config(request: ImportRequest) -> Config:
    path = request.config_file
    if request.config is None and not path.is_file():
        return build_config({}, f"{path}, which does not exist", path.parent, TABLE)
    return load_config(path)


def _names(request: ImportRequest, config: Config) -> str:
    dataset = request.dataset or (request.pairs.stem if request.pairs is not None else _named_after(request, config))
    for what, name in (("--judge", request.judge), ("--dataset", dataset)):
        if not NAME.match(name) or len(name) > LONGEST_NAME:
            raise JudgeFixturesError(MESSAGES.not_a_folder_name(what, name[:60], LONGEST_NAME))
    table = config.judges.get(request.judge)
    if table is not None and mode_class(table).is_asked:
        raise JudgeFixturesError(MESSAGES.judge_is_asked(config, config.heading("judges", request.judge), table))
    if request.pairs is not None and dataset in config.datasets and config.source(dataset).is_built_in:
        raise JudgeFixturesError(MESSAGES.built_in_dataset(dataset, request))
    return dataset


def _named_after(request: ImportRequest, config: Config) -> str:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", request.files[0].stem).strip("-._")[:LONGEST_NAME] or "log"
    return f"{stem}-log" if stem in config.datasets and config.source(stem).is_built_in else stem


def _check_share(request: ImportRequest, reader: RowMatcher, n: int) -> None:
    """Raise JudgeFixturesError if too many of `n` distinct rows are unusable."""
    unused, allowed = reader.unused, (MOST_UNUSED if request.allow is None else request.allow)
    if len(unused) <= allowed * n:
        return
    raise JudgeFixturesError(MESSAGES.too_many_unusable(request, len(unused), n, allowed, _why(unused), reader.hint))


def _known_pairs(request: ImportRequest, dataset: str, config: Config) -> tuple[Pair, ...]:
    if request.pairs is not None:
        check_file(request.pairs, "set --pairs to a file of pairs or examples")
        return _without_secrets(load_pairs(_beside(dataset, request.pairs, config)), str(request.pairs))
    if dataset not in config.datasets:
        return ()
    config.check_dataset_files(dataset)
    source = replace(config.source(dataset), balance_positions=False)
    return _without_secrets(load_pairs(source, config.seed), f"dataset {dataset!r}")


def _beside(dataset: str, pairs: Path, config: Config) -> Source:
    heading = f'{config.heading("datasets", dataset)} (path = "{pairs}"), with --dataset {dataset} and no --pairs'
    return Source(dataset, pairs, balance_positions=False, heading=heading)


def _without_secrets(pairs: tuple[Pair, ...], where: str) -> tuple[Pair, ...]:
    """Return pairs without columns the judge may not have seen, or raise on keys.

    Examples keep all columns, because a later grader may need them.
    """
    pairs = tuple(pair if isinstance(pair, Example) else keep_columns(pair, MODELS) for pair in pairs)
    for number, pair in enumerate(pairs, 1):
        if redacted_json(row := pair_to_row(pair)) != row:
            named = "" if redact(pair.id) != pair.id else f" ({pair.id!r})"
            raise JudgeFixturesError(MESSAGES.pair_holds_key(where, number, named))
    return pairs


def _writers(reader: RowMatcher, entries: Iterable[LogRow]) -> ResponseModels:
    of_row = {id(entry.row): entry for entry in entries}
    return response_models((key.pair, of_row[id(row)]) for key, row in reader.places.items())


def _is_own(folder: Path, source: Source) -> bool:
    return source.path is not None and Path(source.path).resolve() == (folder / PAIRS_FILE).resolve()


def _is_wanted(row: DataRow, where: Mapping[str, str]) -> bool:
    return all(_as_text(lookup(row.fields, column)) == _as_text(value) for column, value in where.items())


def _as_text(value: object) -> object:
    """Return a --where value in a form that all file formats share."""
    if isinstance(value, bool | int | float):
        value = json.dumps(value)
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower()
    whole, point, rest = value.partition(".")
    return whole if point and whole.lstrip("-").isdecimal() and rest.strip("0") == "" else value


def _none_wanted(request: ImportRequest, rows: Sequence[DataRow]) -> str:
    if not rows:
        return f"{request.names} holds no rows. Write one row per answer, such as one JSON object per line."
    reasons = []
    for column in request.where:
        values = {str(_as_text(value)) for row in rows if (value := lookup(row.fields, column)) is not MISSING}
        reasons.append(f"{column} is {quote_names(sorted(values)[:10])}" if values else f"no row has {column!r}")
    conditions = " and ".join(f"{column}={value}" for column, value in request.where.items())
    return f"{request.names}: none of {len(rows)} rows matches --where {conditions}: {'; '.join(reasons)}."


# --- what is written, and what is said of it --------------------------------------------------------------------


def _keep(done: ImportResult, *, built_in: bool) -> None:
    allowed = (IMPORTED_FILE, PAIRS_FILE, SAMPLE_FILE)
    names = sorted(file.name for file in done.folder.glob("*.jsonl"))
    if recorded := [name for name in names if name not in allowed and not name.startswith(BESIDE)]:
        raise JudgeFixturesError(MESSAGES.folder_of_asked_judge(done, recorded))
    imported_answers.write_imported(done.folder / IMPORTED_FILE, done.imported)
    if not built_in:  # those come with the package, and are never frozen
        path = done.folder / PAIRS_FILE
        if not _is_written(path, _pair_lines(done.pairs)):
            atomic_write(path, _pair_lines(done.pairs))


def _pair_lines(pairs: Iterable[Pair]) -> Iterator[bytes]:
    return (json.dumps(pair_to_row(pair), ensure_ascii=False).encode() + b"\n" for pair in pairs)


def _is_written(path: Path, lines: Iterable[bytes]) -> bool:
    try:
        with open_regular(path) as file:
            return all(file.read(len(line)) == line for line in lines) and not file.read(1)
    except OSError:
        return False


def read_earlier_import(path: Path) -> Mapping[AnswerKeyFields, ImportedAnswer]:
    """Return the answers of an earlier import, empty if unreadable."""
    with contextlib.suppress(JudgeFixturesError, OSError):
        return imported_answers.read_imported(path).answers if path.exists() else {}
    return {}


def summary(done: ImportResult) -> list[str]:
    """Return lines on what was imported, what was not, and the configuration."""
    config, folder, pairs = done.config, done.config.folder.absolute(), (done.folder / PAIRS_FILE).absolute()
    path = pairs.relative_to(folder) if pairs.is_relative_to(folder) else pairs
    answered = {key.pair for key in done.imported.answers}
    about = tuple(pair for pair in done.pairs if pair.id in answered)
    text = load_template(SUMMARY, several=pluralize, why=_why, line=make_one_line).render(
        done=done,
        counted=_counted(done),
        scope=import_capabilities(done.content, done.imported.answers.values(), {pair.id: pair for pair in done.pairs}),
        file=done.folder / IMPORTED_FILE,
        steps=[*next_steps(replace(done, pairs=about))],
        lacks_judge=done.imported.judge not in config.judges,
        lacks_dataset=done.imported.dataset not in config.datasets,
        lacks_gate=not done.content.is_limited(config) and done.content.is_known(done.pairs),
        pairs=json.dumps(str(path), ensure_ascii=False),
        options=options({"config": done.request.config, "cassettes": done.request.into}),
    )
    return [safe_message(line) for line in text.split("\n")]


def _counted(done: ImportResult) -> Iterator[str]:
    pairs = {pair.id: pair for pair in done.pairs}
    groups: dict[tuple[str, int], list[ImportedAnswer]] = {}
    for key, answered in sorted(done.imported.answers.items()):
        groups.setdefault((key.condition, key.repeat), []).append(answered)
    for (condition, repeat), answers in groups.items():
        more = "" if any(each.reason for each in answers) else "; none with a reason"
        again = f", repeat {repeat}" if repeat else ""
        yield f"{condition}{again}: {done.content.counted(answers, pairs)}{more}"


def _why(unused: Iterable[tuple[str, str]]) -> str:
    reasons: dict[str, list[str]] = {}
    for why, where in unused:
        reasons.setdefault(why, []).append(where)
    parts = (f"{why}: {len(places)} ({imported_answers.list_first_names(places)})" for why, places in reasons.items())
    return make_one_line("; ".join(parts))  # a file's name may have lines
