"""Record: everything that a run leaves behind, as plain rows, written to a folder and read back from it.

report.json is made of it, and so are the page and the report of several runs together: nothing else has to travel from
one machine to another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from judgefixtures.errors import JudgeFixturesError
from judgefixtures.findings import Finding, Row
from judgefixtures.secrets import redacted_json
from judgefixtures.statistics import several

FORMAT = 1
RESULTS = "results.jsonl"
PLANS, PAIRS, JUDGMENTS = "plans.jsonl", "pairs.jsonl", "judgments.jsonl"
BEGAN = '{"judgefixtures_results": "began"}'  # all that the file holds while a run is on its way
DIGITS = 12  # significant ones that are written: those behind depend on the version of scipy
JUDGMENT_KEY = ("judge", "dataset", "condition", "pair", "repeat")
PLAN_KEY = ("judge", "dataset", "pair")
OF_ITEM = ("item", "findings", "judges", "failed")  # what results.jsonl has of an item
SHARED = ("served", "warnings")  # evidence that is no item's own


@dataclass(frozen=True, slots=True)
class About:
    """When and with what a run was made: the tool's version, the day, the options that its numbers depend on.

    `families` are the ids of all contrasts of the families that it looked at: which of them a command has to name.
    `sources` say by judge of which days its answers are and how many were asked now, `prices` are by judge.
    `shared` is evidence of no item in particular, by its kind: what several need is asked for by whichever comes first.
    `lost` says which items came to no result although they ran, `unfinished` are those that
    a stopped run left out.
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


@dataclass(frozen=True, slots=True)
class Record:
    """Everything that a run leaves behind: the result of each item, and what it was found in."""

    about: About
    results: tuple[Row, ...]
    judgments: tuple[Row, ...] = ()
    pairs: tuple[Row, ...] = ()
    plans: tuple[Row, ...] = ()

    @classmethod
    def of(
        cls, about: About, results: Iterable[Row], judgments: Iterable[Row], pairs: Iterable[Row], plans: Iterable[Row]
    ) -> Self:
        """Return a record with its rows in order, each once: two items may share a condition."""
        shared = {kind: list(about.shared.get(kind, ())) for kind in SHARED}
        items = []
        for row in sorted(results, key=_item):
            findings = [{**each, "evidence": dict(each["evidence"])} for each in row["findings"]]
            for each in findings:
                for kind, found in shared.items():
                    found += each["evidence"].pop(kind, ())
            items.append({**{name: row[name] for name in OF_ITEM}, "findings": findings})
        about = replace(about, shared={kind: _distinct(found) for kind, found in shared.items()})
        return cls(about, tuple(items), once(judgments, JUDGMENT_KEY), _paired(pairs), once(plans, PLAN_KEY))

    @property
    def findings(self) -> list[Finding]:
        """What all items found."""
        found = [Finding.from_json(row) for result in self.results for row in result["findings"]]
        return [found[0].with_evidence(**self.about.shared), *found[1:]] if found else []

    @property
    def judges(self) -> dict[str, Row]:
        """The judges' identities by name."""
        return {name: identity for result in self.results for name, identity in result["judges"].items()}

    @property
    def alpha(self) -> float:
        """The level of the tests that the report names as violated."""
        return min((finding.alpha for finding in self.findings), default=0.05)

    @property
    def failed(self) -> bool:
        """Whether an item failed."""
        return any(result["failed"] for result in self.results)

    def files(self) -> dict[str, str]:
        """Return the files that the record is read back from, by name."""
        # Exactly as it was: what is computed of it anew is to be the same to the last digit.
        items = "".join(f"{written(row)}\n" for row in self.results)
        texts = {JUDGMENTS: lines(self.judgments), PAIRS: lines(self.pairs)}
        texts |= {PLANS: lines(self.plans)} if self.plans else {}
        digests = {name: _digest(content) for name, content in {RESULTS: items, **texts}.items()}
        head = {"judgefixtures_results": FORMAT, "digests": digests, **asdict(self.about)}
        return {RESULTS: f"{written(head)}\n{items}", **texts}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the record of a folder; raises JudgeFixturesError naming the file that is not as it was written.

        Every byte is checked: of a folder that was copied in part, a result that is lost must not be a result that
        passed.
        """
        first, _, items = _text_of(folder / RESULTS).partition("\n")
        if first == BEGAN:
            raise JudgeFixturesError(f"{folder}: a run into this folder began and did not end, or ended before its "
                                     f"tests: run the tests again with --judge-report {folder}.")  # fmt: skip
        try:
            head = json.loads(first)
            digests = dict(head.pop("digests"))
            if head.pop("judgefixtures_results") != FORMAT:
                raise ValueError("format")
            about = About(**head)
            about = replace(about, options=tuple(about.options), unfinished=tuple(about.unfinished))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise _not_ours(folder) from None
        texts = {name: items if name == RESULTS else _text_of(folder / name) for name in digests}
        for name, content in texts.items():
            if _digest(content) != digests[name]:
                raise JudgeFixturesError(f"{folder / name} was changed, or cut short, since it was written: copy the "
                                         "folder again, or run the tests again.")  # fmt: skip
        try:
            rows = {name: [json.loads(line) for line in content.split("\n") if line] for name, content in texts.items()}
            record = cls.of(about, rows[RESULTS], rows[JUDGMENTS], rows[PAIRS], rows.get(PLANS, ()))
            _ = record.findings
        except (KeyError, TypeError, ValueError, AttributeError):  # another version may have other fields
            raise _not_ours(folder) from None
        return record


def stopped(unfinished: Sequence[str]) -> str:
    """Return what is to be said of items that a stopped run left out; empty without any."""
    if not unfinished:
        return ""
    return f"a run was stopped before its end: {several(len(unfinished), 'item')} did not run, {unfinished[0]} first"


def joined_sources(sources: Iterable[Mapping[str, Row]]) -> dict[str, Row]:
    """Return from where each judge's answers are, of all of these."""
    found: dict[str, Row] = {}
    for part in sources:
        for judge, source in part.items():
            found[judge] = _joined(found[judge], source) if judge in found else source
    return {judge: found[judge] for judge in sorted(found)}


def _joined(one: Row, other: Row) -> Row:
    days = [day for source in (one, other) for day in (source["first"], source["last"]) if day]
    return {"first": min(days, default=None), "last": max(days, default=None),
            "undated": one["undated"] or other["undated"],
            "asked_now": one["asked_now"] + other["asked_now"]}  # fmt: skip


def once(rows: Iterable[Row], key: Sequence[str]) -> tuple[Row, ...]:
    """Return rows in the order of their keys, each once."""
    unique = {tuple(row[name] for name in key): row for row in rows}
    return tuple(unique[name] for name in sorted(unique))


def _paired(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the pairs, each once with the judges that were asked about it so: positions may differ between judges."""
    judges: dict[str, set[str]] = {}
    for row in rows:
        text = json.dumps({name: value for name, value in row.items() if name != "judges"})
        judges.setdefault(text, set()).update(row["judges"])
    found = [{**json.loads(text), "judges": sorted(names)} for text, names in judges.items()]
    return tuple(sorted(found, key=lambda row: (row["dataset"], row["pair"], row["judges"])))


def lines(rows: Iterable[Row]) -> str:
    """Return rows as JSON lines."""
    return "".join(text(row) + "\n" for row in rows)


def text(row: Any, indent: int | None = None) -> str:
    """Return a row as JSON, its numbers to the digits that are written, without secrets."""
    return json.dumps(plain(row), ensure_ascii=False, indent=indent, allow_nan=False)


def plain(row: Any) -> Any:
    """Return a row as it is written and shown: its numbers to the digits that are written, without secrets."""
    return _rounded(redacted_json(row))


def written(row: Row) -> str:
    """Return a row as JSON with every digit, without secrets."""
    return json.dumps(redacted_json(row), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    """Return a JSON value with every number rounded to the digits that are written."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
    return value


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return plain values, each once, in an order that only they decide."""
    return [json.loads(each) for each in sorted({json.dumps(value, sort_keys=True) for value in values})]


def _item(row: Row) -> str:
    return str(row["item"])


def _not_ours(folder: Path) -> JudgeFixturesError:
    return JudgeFixturesError(
        f"{folder / RESULTS} is not what a run with --judge-report of this version of judgefixtures wrote: run the "
        f"tests again with --judge-report {folder}."
    )


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _text_of(path: Path) -> str:
    """Return what a file holds; raises JudgeFixturesError naming it."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise JudgeFixturesError(f"{path} does not exist: name folders that --judge-report wrote.") from None
    except OSError as error:
        raise JudgeFixturesError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise JudgeFixturesError(f"{path} was changed since it was written: it is not UTF-8.") from None
