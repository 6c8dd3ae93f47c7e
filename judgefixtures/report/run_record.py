"""Run record: everything that a run leaves behind, written to a folder and read back."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from judgefixtures.models.findings import Finding, Row
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import read_bytes
from judgefixtures.util.secrets import redacted_json, register_secrets
from judgefixtures.util.shell import is_option

from .messages import MESSAGES

if TYPE_CHECKING:
    from pydantic import BaseModel

Rows = Iterable[Row]

FORMAT = 3
RESULTS = "results.jsonl"
PLANS, PAIRS, JUDGMENTS = "plans.jsonl", "pairs.jsonl", "judgments.jsonl"
BEGAN = '{"judgefixtures_results": "began"}'  # all that the file holds while a run is on its way
DIGITS = 12  # significant ones that are written: those behind depend on the version of scipy
JUDGMENT_KEY = ("judge", "dataset", "condition", "pair", "repeat")
PLAN_KEY = ("judge", "dataset", "pair")
OF_ITEM = ("item", "findings", "judges", "failed")  # what results.jsonl has of an item
SHARED = ("served", "warnings", "asked")  # evidence that is no item's own
OPTIONS = ("config", "cassettes", "pairs", "repeats")  # of which a command in a report has to name those given
LARGEST = 1 << 29  # bytes of a file; a report of 100,000 judgments has a quarter of it
PATHS = ("--judge-config=", "--judge-cassettes=")
MOST_SHOWN = 120  # characters of a setting, in a line about it
OF_JUDGE = "judges."  # how the tables of settings begin that are about a single judge
# What a file that is no report of ours, though it is whole by its digests, ends in wherever it is looked at.
MISREAD = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run's version, date and options.

    Attributes:
        families: Contrast ids by family.
        sources: Recording dates and new answers by judge.
        prices: Prices by judge.
        shared: Evidence of several items, by kind.
        lost: Items that ran without a result.
        unfinished: Items that a stopped run left out.
        settings: Deciding settings by table and key.
        key_variables: Names of variables with API keys.
        unselected: Whether options selected no judge item.
    """

    version: str
    date: str
    options: tuple[str, ...] = ()
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sources: Mapping[str, Row] = field(default_factory=dict)
    prices: Mapping[str, Row] = field(default_factory=dict)
    retries: int = 0
    shared: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    lost: str = ""
    unfinished: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    key_variables: tuple[str, ...] = ()
    unselected: bool = False


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The results of a run, with its judgments, pairs and plans."""

    about: RunInfo
    results: tuple[Row, ...]
    judgments: tuple[Row, ...] = ()
    pairs: tuple[Row, ...] = ()
    plans: tuple[Row, ...] = ()

    @classmethod
    def of(cls, about: RunInfo, results: Rows, judgments: Rows, pairs: Rows, plans: Rows) -> Self:
        """Return a record with distinct rows in order."""
        shared = {kind: list(about.shared.get(kind, ())) for kind in SHARED}
        items = []
        for row in sorted(results, key=_item):
            findings = [{**each, "evidence": dict(each["evidence"])} for each in row["findings"]]
            for each in findings:
                for kind, values in shared.items():
                    values += each["evidence"].pop(kind, ())
            items.append({**{name: row[name] for name in OF_ITEM}, "findings": findings})
        about = replace(about, shared={kind: _distinct(values) for kind, values in shared.items()})
        judged, planned = unique_rows(judgments, JUDGMENT_KEY), unique_rows(plans, PLAN_KEY)
        return cls(about, tuple(items), judged, _paired(pairs), planned)

    @property
    def findings(self) -> list[Finding]:
        """All findings."""
        own = [Finding.from_json(row) for result in self.results for row in result["findings"]]
        return [own[0].with_evidence(**self.about.shared), *own[1:]] if own else []

    @property
    def judges(self) -> dict[str, Row]:
        """Judge identities by name."""
        return {name: identity for result in self.results for name, identity in result["judges"].items()}

    @property
    def alpha(self) -> float:
        """The level of the report's tests."""
        return min((finding.alpha for finding in self.findings), default=0.05)

    @property
    def failed(self) -> bool:
        """Whether an item failed."""
        return any(result["failed"] for result in self.results)

    def files(self) -> dict[str, str]:
        """Return the record's files by name."""
        # Exactly as it was: what is computed of it anew is to be the same to the last digit.
        items = "".join(f"{row_json_exact(row)}\n" for row in self.results)
        texts = {JUDGMENTS: json_lines_of(self.judgments), PAIRS: json_lines_of(self.pairs)}
        texts |= {PLANS: json_lines_of(self.plans)} if self.plans else {}
        digests = {name: _digest(content) for name, content in {RESULTS: items, **texts}.items()}
        head = redacted_json({"judgefixtures_results": FORMAT, "digests": digests, **asdict(self.about)})
        return {RESULTS: f"{row_json_exact({'digest': _digest_of_head(head), **head})}\n{items}", **texts}

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """Return the record of a folder.

        The folder is untrusted: digests are checked, and no text is a path or command.

        Raises:
            JudgeFixturesError: A file is damaged.
        """
        first, _, items = _text_of(folder / RESULTS).partition("\n")
        if first == BEGAN:
            raise JudgeFixturesError(MESSAGES.run_not_ended(folder))
        about, digests = _head_of(folder, first)
        keys = [os.environ.get(name, "").strip() for name in about.key_variables]
        register_secrets(*keys)  # before anything of it is shown
        texts = {name: items if name == RESULTS else _text_of(folder / name) for name in digests}
        for name, content in texts.items():
            if _digest(content) != digests[name]:
                raise _changed(folder / name)
        rows = {name: _rows_of(folder / name, content) for name, content in texts.items()}
        try:
            record = cls.of(about, rows[RESULTS], rows[JUDGMENTS], rows[PAIRS], rows.get(PLANS, ()))
            _ = record.findings
        except MISREAD:  # another version may have other fields
            raise foreign_folder_note(folder) from None
        return record


@cache
def _forms() -> dict[str, type[BaseModel]]:
    from pydantic import create_model

    plan: dict[str, Any] = dict.fromkeys(PLAN_KEY, (str, ...))
    result: dict[str, Any] = {"item": (str, ...), "findings": (list[Finding], ...)}
    return {
        RESULTS: create_model("Result", **result, judges=(dict[str, Row], ...), failed=(bool, ...)),
        PAIRS: create_model("Pair", dataset=(str, ...), pair=(str, ...), judges=(list[str], ...)),
        PLANS: create_model("Plan", **plan),
        JUDGMENTS: create_model("Judgment", **plan, condition=(str, ...), repeat=(int, ...)),
    }


def _head_of(folder: Path, line: str) -> tuple[RunInfo, dict[str, str]]:
    from pydantic import TypeAdapter

    try:
        head = _parsed(line)
        digest = head.pop("digest")
        whole = _digest_of_head(head) == digest
        if head.pop("judgefixtures_results") != FORMAT:
            raise ValueError("format")
        digests = TypeAdapter(dict[str, str]).validate_python(head.pop("digests"))
        if not {RESULTS, JUDGMENTS, PAIRS} <= digests.keys() <= {RESULTS, JUDGMENTS, PAIRS, PLANS}:
            raise ValueError("files")
        about = TypeAdapter(RunInfo).validate_python(asdict(RunInfo(**head)))
        if not all(kind in about.shared for kind in SHARED):
            raise ValueError("shared")
    except MISREAD:
        raise foreign_folder_note(folder) from None
    if not whole or not all(is_option(option, OPTIONS) for option in about.options):
        raise _changed(folder / RESULTS)
    return about, digests


def _rows_of(path: Path, content: str) -> list[Row]:
    try:
        rows: list[Row] = [_parsed(line) for line in content.split("\n") if line]
        form = _forms()[path.name]
        for row in rows:
            form.model_validate(row)
        if path.name == RESULTS and len({row["item"] for row in rows}) < len(rows):
            raise ValueError("twice")
    except MISREAD:
        raise foreign_folder_note(path.parent, path.name) from None
    return rows


def _parsed(line: str) -> Any:
    return json.loads(line, object_pairs_hook=_each_once, parse_constant=_refused)


def _each_once(pairs: list[tuple[str, Any]]) -> Row:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key twice")
    return fields


def _refused(constant: str) -> None:
    raise ValueError(constant)


def stopped_run_note(unfinished: Sequence[str]) -> str:
    """Return a note on a stopped run's missing items, or ""."""
    if not unfinished:
        return ""
    return f"the run stopped early: {pluralize(len(unfinished), 'item')} did not run, first {unfinished[0]}"


def result_options(about: RunInfo) -> list[str]:
    """Return the options that affect numbers."""
    return [option for option in about.options if not option.startswith(PATHS)]


def differing_settings(one: RunInfo, other: RunInfo) -> dict[str, tuple[str, str]]:
    """Return the differing settings of two runs, by key, for their common judges."""
    both = one.settings.keys() & other.settings.keys()
    differing = {}
    for table in sorted(one.settings.keys() | other.settings.keys()):
        if table.startswith(OF_JUDGE) and table not in both:
            continue
        for key in sorted({*one.settings.get(table, ()), *other.settings.get(table, ())}):
            values = (_setting(one, table, key), _setting(other, table, key))
            if values[0] != values[1]:
                differing[f"[{table}] {key}" if table else key] = values
    return differing


def _setting(about: RunInfo, table: str, key: str) -> str:
    settings = about.settings.get(table, {})
    if key not in settings and table.startswith("gate."):
        settings = about.settings.get("gate", {})
    return json.dumps(settings[key], ensure_ascii=False, sort_keys=True) if key in settings else "not set"


def asked_digests(about: RunInfo) -> dict[str, set[str]]:
    """Return the digests of the pairs asked about."""
    digests: dict[str, set[str]] = {}
    for row in about.shared.get("asked", ()):
        digests.setdefault(row["what"], set()).add(row["is"])
    return digests


def join_sources(sources: Iterable[Mapping[str, Row]]) -> dict[str, Row]:
    """Return the combined sources of each judge."""
    joined: dict[str, Row] = {}
    for part in sources:
        for judge, source in part.items():
            joined[judge] = _joined(joined[judge], source) if judge in joined else source
    return {judge: joined[judge] for judge in sorted(joined)}


def _joined(one: Row, other: Row) -> Row:
    days = [day for source in (one, other) for day in (source["first"], source["last"]) if day]
    return {
        "first": min(days, default=None),
        "last": max(days, default=None),
        "undated": one["undated"] or other["undated"],
        "asked_now": one["asked_now"] + other["asked_now"],
    }


def unique_rows(rows: Iterable[Row], key: Sequence[str]) -> tuple[Row, ...]:
    """Return distinct rows ordered by key."""
    unique = {tuple(row[name] for name in key): row for row in rows}
    return tuple(unique[name] for name in sorted(unique))


def _paired(rows: Iterable[Row]) -> tuple[Row, ...]:
    judges: dict[str, set[str]] = {}
    for row in rows:
        text = json.dumps({name: value for name, value in row.items() if name != "judges"})
        judges.setdefault(text, set()).update(row["judges"])
    merged = [{**json.loads(text), "judges": sorted(names)} for text, names in judges.items()]
    return tuple(sorted(merged, key=lambda row: (row["dataset"], row["pair"], row["judges"])))


def json_lines_of(rows: Iterable[Row]) -> str:
    """Return rows as JSON lines."""
    return "".join(row_json(row) + "\n" for row in rows)


def row_json(row: Any, indent: int | None = None) -> str:
    """Return a row as rounded JSON without secrets."""
    return json.dumps(row_for_display(row), ensure_ascii=False, indent=indent, allow_nan=False)


def row_for_display(row: Any) -> Any:
    """Return a row rounded and without secrets."""
    return _rounded(redacted_json(row))


def row_json_exact(row: Row) -> str:
    """Return a row as exact JSON without secrets."""
    return json.dumps(redacted_json(row), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
    return value


def _distinct(values: Iterable[Any]) -> list[Any]:
    return [json.loads(each) for each in sorted({json.dumps(value, sort_keys=True) for value in values})]


def _item(row: Row) -> str:
    return str(row["item"])


def foreign_folder_note(folder: Path, name: str = RESULTS) -> JudgeFixturesError:
    """Return the error about another tool's file."""
    return JudgeFixturesError(
        f"--judge-report of this judgefixtures version did not write {folder / name}: run the tests again with "
        f"--judge-report {folder}."
    )


def _changed(path: Path) -> JudgeFixturesError:
    return JudgeFixturesError(
        f"{path} was changed or cut off after the run: copy the folder again, or run the tests again."
    )


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _digest_of_head(head: Row) -> str:
    return _digest(json.dumps(head, sort_keys=True))


def _text_of(path: Path) -> str:
    """Read a file, refusing links and pipes: the folder is untrusted."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise JudgeFixturesError(MESSAGES.not_a_file(path))
        if status.st_size > LARGEST:
            raise JudgeFixturesError(MESSAGES.file_too_large(path, status, LARGEST))
        return read_bytes(path).decode().replace("\r\n", "\n")  # as a checkout may have written it
    except FileNotFoundError:
        raise JudgeFixturesError(f"{path} does not exist: name a folder that --judge-report wrote.") from None
    except OSError as error:
        raise JudgeFixturesError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise JudgeFixturesError(f"{path} is not UTF-8: copy the folder again, or run the tests again.") from None
