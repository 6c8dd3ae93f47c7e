"""Import of logs: read, check and write the answers for `judgefixtures import`.

A log row is one answer about one pair or example. log_files.py reads the files, metric_selection.py selects the judge's
rows, log_rows.py reads their fields, mode_detection.py detects the mode, and matching.py finds the pair or example.
"""

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgefixtures.cassettes.files import atomic_write
from judgefixtures.cassettes.snapshot import FILE as PAIRS_FILE
from judgefixtures.cassettes.snapshot import SAMPLE_FILE
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
from .imported_answers import FILE, AnswerKeyFields, Imported, ImportedAnswer, LogSource
from .log_files import check_file, read_log
from .log_rows import ImportRequest, LogRow
from .matching import RowMatcher
from .metric_selection import add_human_labels, select_metric, unused_labels
from .mode_detection import detect_mode
from .next_steps import ImportPreparation, next_steps
from .response_models import ResponseModels, response_models
from .row_formats import RowFormat

BESIDE = ("detected-by-", f"{Path(PAIRS_FILE).stem}.labels.")  # what detectors and people said of a log's answers
MOST_UNUSED = 0.05  # of the rows, unless --allow says otherwise
SUMMARY = Path(__file__).with_name("summary.txt.jinja")


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What was imported, and what was not: rows of others, rows that say again what others say, rows without a use.

    `pairs` are written beside the answers: those that these are about, and those that an earlier import wrote there
    where that file is the dataset.
    """

    request: ImportRequest
    content: RowFormat
    imported: Imported
    pairs: tuple[Pair, ...]
    folder: Path
    config: Config
    others: int
    repeated: int
    unused: tuple[tuple[str, str], ...]  # why, and where
    remarks: tuple[str, ...] = ()  # what the logs say of themselves
    replaced: int = 0  # answers of an earlier import that were there and are not among these
    changed: int = 0  # answers of an earlier import that are others here
    of_others: int = 0  # rows of other metrics, people and checks in code
    given: int = 0  # pairs of the dataset, or of a file
    people: tuple[str, ...] = ()  # metrics of people whose labels are not used

    @property
    def about(self) -> int:
        """How many pairs or examples the answers are about."""
        return len({key.pair for key in self.imported.answers})


def import_log(request: ImportRequest) -> ImportResult:
    """Read logs, check them, and write their answers beside the recordings; raises JudgeFixturesError for a mistake."""
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
        raise JudgeFixturesError(
            f"{request.names}: no row can be used: {_why(reader.unused)}.{reader.hint} Name the {content.words.many} "
            "that the log is about (--pairs FILE, or --dataset NAME of the configuration), or the columns of its "
            f"texts: --columns {','.join(f'{each}=...' for each in content.texts)}; the row has "
            f"{quote_names(rows[0].row.fields)}."
        )
    _check_share(request, reader, len(entries) - reader.repeated)
    logs = tuple(LogSource(file.name, _digest(file, request)) for file in request.files)
    answered = {key.pair for key in answers}
    kept = {pair.id for pair in given} | answered if grows else answered
    writers = _writers(reader, entries)
    pairs = writers.signed(pair for _, pair in sorted(reader.pairs.items()) if pair.id in kept)
    old = read_earlier_import(folder / FILE)
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
    """Return a digest of a log's content, and of what was chosen of it: two judges may stand in one file."""
    with open_regular(file) as opened:
        digest = hashlib.file_digest(opened, "sha256")
    chosen = (request.metric, dict(request.where), dict(request.columns), request.verdict, request.own_numbers)
    if any(chosen):
        digest.update(json.dumps(chosen, sort_keys=True).encode())
    return digest.hexdigest()[:16]


# --- what the request names -----------------------------------------------------------------------------------


def _config(request: ImportRequest) -> Config:
    """Return the configuration that names judges and datasets: a given file, the pyproject.toml here, or none."""
    path = request.config_file
    if request.config is None and not path.is_file():
        return build_config({}, f"{path}, which does not exist", path.parent, TABLE)
    return load_config(path)


def _names(request: ImportRequest, config: Config) -> str:
    """Return the dataset's name; raises JudgeFixturesError for names that cannot be folders, or mean another thing."""
    dataset = request.dataset or (request.pairs.stem if request.pairs is not None else _named_after(request, config))
    for what, name in (("--judge", request.judge), ("--dataset", dataset)):
        if not NAME.match(name) or len(name) > LONGEST_NAME:
            raise JudgeFixturesError(
                f"{what} {name[:60]!r} cannot be a folder: use letters, digits, dot, underscore "
                f"and hyphen, at most {LONGEST_NAME}, and begin with a letter or a digit."
            )
    table = config.judges.get(request.judge)
    if table is not None and mode_class(table).is_asked:
        raise JudgeFixturesError(
            f"{config.file}: {config.heading('judges', request.judge)} is asked (provider = {table.provider!r}): "
            "imported answers must not pass for its own. Choose another name with --judge."
        )
    if request.pairs is not None and dataset in config.datasets and config.source(dataset).is_built_in:
        raise JudgeFixturesError(
            f"--dataset {dataset}: the package has pairs of that name, and --pairs {request.pairs} would be others. "
            "Choose another name with --dataset, or leave out --pairs."
        )
    return dataset


def _named_after(request: ImportRequest, config: Config) -> str:
    """Return what a dataset of a log's own texts is called: as the file, unless the package has one of that name."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", request.files[0].stem).strip("-._")[:LONGEST_NAME] or "log"
    return f"{stem}-log" if stem in config.datasets and config.source(stem).is_built_in else stem


def _check_share(request: ImportRequest, reader: RowMatcher, n: int) -> None:
    """Raise JudgeFixturesError where more rows cannot be used than are allowed: a part must not pass for the whole.

    `n` are the rows that say something of their own: copies of those that can be used make nothing whole.
    """
    unused, allowed = reader.unused, (MOST_UNUSED if request.allow is None else request.allow)
    if len(unused) <= allowed * n:
        return
    share = math.ceil(len(unused) / n * 100) / 100
    raise JudgeFixturesError(
        f"{request.names}: {len(unused)} of {pluralize(n, 'row')} ({len(unused) / n:.1%}) cannot be used, and at most "
        f"{allowed:.1%} may: {_why(unused)}.{reader.hint} Mend the log, leave rows out with --where COLUMN=VALUE, "
        f"or import the others with --allow {share:g}. Nothing was written."
    )


def _known_pairs(request: ImportRequest, dataset: str, config: Config) -> tuple[Pair, ...]:
    """Return the pairs that a file or the configuration has; none where the log's own texts are all there is."""
    if request.pairs is not None:
        check_file(request.pairs, "name a file of pairs or examples with --pairs")
        return _without_secrets(load_pairs(_beside(dataset, request.pairs, config)), str(request.pairs))
    if dataset not in config.datasets:
        return ()
    config.check_dataset_files(dataset)
    source = replace(config.source(dataset), balance_positions=False)
    return _without_secrets(load_pairs(source, config.seed), f"dataset {dataset!r}")


def _beside(dataset: str, pairs: Path, config: Config) -> Source:
    """Return a file of --pairs as a dataset; messages say which table maps its columns."""
    heading = f'{config.heading("datasets", dataset)} (path = "{pairs}"), and give --dataset {dataset} and no --pairs'
    return Source(dataset, pairs, balance_positions=False, heading=heading)


def _without_secrets(pairs: tuple[Pair, ...], where: str) -> tuple[Pair, ...]:
    """Return the pairs as a log is about them; raises JudgeFixturesError for one that holds a key.

    They are written beside the answers, and nobody knows what else the judge of a log was shown: of pairs no more is
    kept than which models wrote them. Examples keep their columns: a grader that is to take over is asked with the
    notes or the rubric that stand there.
    """
    pairs = tuple(pair if isinstance(pair, Example) else keep_columns(pair, MODELS) for pair in pairs)
    for number, pair in enumerate(pairs, 1):
        if redacted_json(row := pair_to_row(pair)) != row:
            named = "" if redact(pair.id) != pair.id else f" ({pair.id!r})"
            raise JudgeFixturesError(
                f"{where}: pair {number}{named} holds the value of a variable that is a judge's key: nothing was "
                "written. Take it out of the pair, and change the key if others may have read it."
            )
    return pairs


def _writers(reader: RowMatcher, entries: Iterable[LogRow]) -> ResponseModels:
    """Return which models wrote what the rows are about that answers are of."""
    of_row = {id(entry.row): entry for entry in entries}
    return response_models((key.pair, of_row[id(row)]) for key, row in reader.places.items())


def _is_own(folder: Path, source: Source) -> bool:
    """Tell whether a dataset is the file of pairs that imports of this judge write: then a log adds to it."""
    return source.path is not None and Path(source.path).resolve() == (folder / PAIRS_FILE).resolve()


def _is_wanted(row: DataRow, where: Mapping[str, str]) -> bool:
    return all(_as_text(lookup(row.fields, column)) == _as_text(value) for column, value in where.items())


def _as_text(value: object) -> object:
    """Return a value as --where names it, and as it is in whatever format: "1" is 1 and 1.0, "true" is True.

    >>> [_as_text(value) for value in (1, 1.0, "1.0", True, "TRUE", "v1.0", 0.5)]
    ['1', '1', '1', 'true', 'true', 'v1.0', '0.5']
    """
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
        return f"{request.names} holds no rows: a log has a row for each answer, such as one JSON object per line."
    reasons = []
    for column in request.where:
        values = {str(_as_text(value)) for row in rows if (value := lookup(row.fields, column)) is not MISSING}
        reasons.append(f"{column} is {quote_names(sorted(values)[:10])}" if values else f"no row has {column!r}")
    conditions = " and ".join(f"{column}={value}" for column, value in request.where.items())
    return f"{request.names}: none of {len(rows)} rows has --where {conditions}: {'; '.join(reasons)}."


# --- what is written, and what is said of it --------------------------------------------------------------------


def _keep(done: ImportResult, *, built_in: bool) -> None:
    """Write the answers and the pairs that they are about; raises JudgeFixturesError where recordings are there."""
    allowed = (FILE, PAIRS_FILE, SAMPLE_FILE)
    names = sorted(file.name for file in done.folder.glob("*.jsonl"))
    if recorded := [name for name in names if name not in allowed and not name.startswith(BESIDE)]:
        raise JudgeFixturesError(
            f"{done.folder} holds recordings of a judge that was asked ({recorded[0]}): imported answers must not "
            "stand among them. Choose another name with --judge."
        )
    imported_answers.write_imported(done.folder / FILE, done.imported)
    if not built_in:  # those come with the package, and are never frozen
        path = done.folder / PAIRS_FILE
        if not _is_written(path, _pair_lines(done.pairs)):
            atomic_write(path, _pair_lines(done.pairs))


def _pair_lines(pairs: Iterable[Pair]) -> Iterator[bytes]:
    return (json.dumps(pair_to_row(pair), ensure_ascii=False).encode() + b"\n" for pair in pairs)


def _is_written(path: Path, lines: Iterable[bytes]) -> bool:
    """Tell whether a file is these very lines; what cannot be read is written, or that says why not."""
    try:
        with open_regular(path) as file:
            return all(file.read(len(line)) == line for line in lines) and not file.read(1)
    except OSError:
        return False


def read_earlier_import(path: Path) -> Mapping[AnswerKeyFields, ImportedAnswer]:
    """Return the answers of an earlier import; none where there are none that can be read."""
    with contextlib.suppress(JudgeFixturesError, OSError):
        return imported_answers.read_imported(path).answers if path.exists() else {}
    return {}


def summary(done: ImportResult) -> list[str]:
    """Return the lines that say what was imported, what was not, and what to write into the configuration."""
    config, folder, pairs = done.config, done.config.folder.absolute(), (done.folder / PAIRS_FILE).absolute()
    path = pairs.relative_to(folder) if pairs.is_relative_to(folder) else pairs
    answered = {key.pair for key in done.imported.answers}
    about = [pair for pair in done.pairs if pair.id in answered]
    own = (done.imported.dataset, about, done.given, done.folder / PAIRS_FILE)
    prepared = ImportPreparation(done.request, config, done.content, *own, done.people)
    text = load_template(SUMMARY, several=pluralize, why=_why, line=make_one_line).render(
        done=done,
        counted=_counted(done),
        scope=import_capabilities(done.content, done.imported.answers.values(), {pair.id: pair for pair in done.pairs}),
        file=done.folder / FILE,
        steps=[*next_steps(prepared)],
        lacks_judge=done.imported.judge not in config.judges,
        lacks_dataset=done.imported.dataset not in config.datasets,
        lacks_gate=not done.content.is_limited(config) and done.content.is_known(done.pairs),
        pairs=json.dumps(str(path), ensure_ascii=False),
        options=options({"config": done.request.config, "cassettes": done.request.into}),
    )
    return [safe_message(line) for line in text.split("\n")]


def _counted(done: ImportResult) -> Iterator[str]:
    """Yield a line per condition and repeat: how many answers said what."""
    pairs = {pair.id: pair for pair in done.pairs}
    groups: dict[tuple[str, int], list[ImportedAnswer]] = {}
    for key, answered in sorted(done.imported.answers.items()):
        groups.setdefault((key.condition, key.repeat), []).append(answered)
    for (condition, repeat), answers in groups.items():
        more = "" if any(each.reason for each in answers) else "; none with a reason"
        again = f", repeat {repeat}" if repeat else ""
        yield f"{condition}{again}: {done.content.counted(answers, pairs)}{more}"


def _why(unused: Iterable[tuple[str, str]]) -> str:
    """Return why rows were not used, with the places of the first ones."""
    reasons: dict[str, list[str]] = {}
    for why, where in unused:
        reasons.setdefault(why, []).append(where)
    parts = (f"{why}: {len(places)} ({imported_answers.list_first_names(places)})" for why, places in reasons.items())
    return make_one_line("; ".join(parts))  # a file's name may have lines
