"""Together: runs of several machines, each of a part of the checks, as the one run that they are parts of."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from judgefixtures.checks.phrasing import shortened
from judgefixtures.findings import Row
from judgefixtures.measures.rows import digest_of
from judgefixtures.report import worse
from judgefixtures.report.outcome import is_of_test
from judgefixtures.report.writing import (
    JUDGMENT_KEY,
    MOST_SHOWN,
    SHARED,
    About,
    Record,
    asked_of,
    joined_sources,
    numbers,
    settings_that_differ,
    stopped,
)
from judgefixtures.words.errors import JudgeFixturesError

OF_ORDER = ("response_1", "response_2", "gold", "judges")  # what of a pair differs where its responses changed places


def together(records: Mapping[Path, Record]) -> Record:
    """Return the record of the one run that these are parts of, by the folders that they were read from.

    Nothing that was decided over a part is kept: Holm's method, rankings and decisions are computed anew of what the
    items found. Raises JudgeFixturesError where two parts say different things of the same: a judge of one name that
    is another judge, an item or a judgment with two results, versions of this tool, numbers of pairs, settings that
    decide, the pairs that were asked about. What a part did not come to, because it was stopped, is lost unless another
    part has it; a test that crashed in a part is an ERROR of the whole.
    """
    parts = list(records.values())
    abouts = {folder: record.about for folder, record in records.items()}
    _agree(records, lambda part: {"the version of judgefixtures": part.about.version})
    _agree(records, lambda part: {"--judge-pairs or --judge-repeats": numbers(part.about)})
    _agree_on_settings(abouts)
    _agree(records, lambda part: {f"the judge {name!r}": identity for name, identity in part.judges.items()})
    _agree_on_pairs(records)
    _agree(records, _results_by_name, shows=False)
    _agree(records, _answers_by_name, shows=False)
    left = {row["item"]: row for part in parts for row in part.results if row["item"] in part.about.unfinished}
    items: dict[str, Row] = {}
    for row in (row for part in parts for row in part.results if row["item"] not in part.about.unfinished):
        items[row["item"]] = worse(items.get(row["item"], row), row)  # a test that crashed somewhere has crashed
    judgments, pairs, plans = (
        [row for part in parts for row in getattr(part, name)] for name in ("judgments", "pairs", "plans")
    )
    about = _about(list(abouts.values()), items.keys())
    return Record.of(about, (left | items).values(), judgments, pairs, plans)


def _about(parts: Sequence[About], ran: Collection[str]) -> About:
    """Return when and with what the parts were made, in which these items ran."""
    left = sorted({name for part in parts for name in part.unfinished}.difference(ran))
    lost = "; ".join(dict.fromkeys(filter(None, [*(part.lost for part in parts), stopped(left)])))
    families = {name: ids for part in parts for name, ids in part.families.items()}
    settings = {table: keys for part in parts for table, keys in part.settings.items()}
    return replace(
        parts[0],
        date=max(part.date for part in parts),
        lost=lost,
        unfinished=(),
        families={name: families[name] for name in sorted(families)},
        sources=joined_sources(part.sources for part in parts),
        retries=sum(part.retries for part in parts),
        shared={kind: [each for part in parts for each in part.shared[kind]] for kind in SHARED},
        prices=dict(sorted(price for part in parts for price in part.prices.items())),
        settings={table: settings[table] for table in sorted(settings)},
        key_variables=tuple(sorted({name for part in parts for name in part.key_variables})),
    )


def _results_by_name(part: Record) -> Row:
    return {f"the result of {row['item']}": row for row in part.results if not is_of_test(row)}


def _answers_by_name(part: Record) -> Row:
    return {f"the answer of {'/'.join(str(row[key]) for key in JUDGMENT_KEY)}": row for row in part.judgments}


def _agree(records: Mapping[Path, Record], told: Callable[[Record], Row], *, shows: bool = True) -> None:
    """Raise JudgeFixturesError where two parts tell different things of one name; `shows`: it says which."""
    known: dict[str, tuple[str, Path]] = {}
    for folder, part in records.items():
        for name, value in told(part).items():
            said = json.dumps(value, sort_keys=True)
            first, where = known.setdefault(name, (said, folder))
            if first != said:
                raise _apart(name, (where, first), (folder, said)) if shows else _apart(name)


def _agree_on_settings(abouts: Mapping[Path, About]) -> None:
    """Raise JudgeFixturesError where something that decides is set otherwise: one run has one configuration."""
    for (folder, about), (other, another) in combinations(abouts.items(), 2):
        for name, values in settings_that_differ(about, another).items():
            raise _apart(name, (folder, values[0]), (other, values[1]))


def _agree_on_pairs(records: Mapping[Path, Record]) -> None:
    """Raise JudgeFixturesError where parts asked about other pairs, or about other texts of one pair.

    Items of one run may have different ones, where its tests choose them: then a part has all that the other has.
    """
    asked: dict[str, tuple[set[str], Path]] = {}
    for folder, part in records.items():
        for name, found in (asked_of(part.about) | _texts_of(part)).items():
            known, where = asked.setdefault(name, (found, folder))
            if not (known <= found or found <= known):
                told = (" and ".join(sorted(each)) for each in (known, found))
                raise _apart(name, *zip((where, folder), told, strict=True))
            asked[name] = (known | found, where)


def _texts_of(record: Record) -> dict[str, set[str]]:
    """Return digests of the pairs' texts, by what they are; which response stands first may differ by judge."""
    found: dict[str, set[str]] = {}
    for row in record.pairs:
        responses = [(row.get(f"response_{number}"), row.get("gold") == number) for number in (1, 2)]
        texts = {name: value for name, value in row.items() if name not in OF_ORDER}
        texts |= {"responses": sorted(responses, key=repr), "graded": row.get("gold") is not None}
        for judge in row["judges"]:
            what = f"pair {row['pair']} of {row['dataset']}, as {judge} was asked about it"
            found.setdefault(what, set()).add(f"digest {digest_of([texts])}")
    return found


def _apart(name: str, *told: tuple[Path, str]) -> JudgeFixturesError:
    """Return the error of parts that differ in something, and what each has where that is told."""
    values = ", ".join(f"{shortened(said, MOST_SHOWN)} in {folder}" for folder, said in told)
    return JudgeFixturesError(
        f"{name} is not the same in all of the folders{f' ({values})' if values else ''}: they are not parts of one "
        "run. Run the tests of all parts again, from the same recordings, configuration and version."
    )
