"""Merge of runs from several machines, each with a part of the checks."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from judgefixtures.checks.formatting import shorten
from judgefixtures.metrics.row_builders import pairs_digest
from judgefixtures.models.findings import Row
from judgefixtures.report import worse_result
from judgefixtures.util.errors import JudgeFixturesError

from .exit_code import is_test_error
from .messages import MESSAGES
from .run_record import (
    JUDGMENT_KEY,
    MOST_SHOWN,
    SHARED,
    RunInfo,
    RunRecord,
    asked_digests,
    differing_settings,
    join_sources,
    result_options,
    stopped_run_note,
)

OF_ORDER = ("response_1", "response_2", "gold", "judges")  # what of a pair differs where its responses changed places


def merge_runs(records: Mapping[Path, RunRecord]) -> RunRecord:
    """Return the record of the whole run; `records` are its parts by folder.

    Holm's method, rankings and decisions are computed anew. An item that a stopped part left out is lost unless another
    part has it. A crashed test is an ERROR.

    Raises:
        JudgeFixturesError: Parts differ in a judge's identity, a result or judgment, version, settings, or pairs.
    """
    parts = list(records.values())
    abouts = {folder: record.about for folder, record in records.items()}
    _agree(records, lambda part: {"the version of judgefixtures": part.about.version})
    _agree(records, lambda part: {"--judge-pairs or --judge-repeats": result_options(part.about)})
    _agree_on_settings(abouts)
    _agree(records, lambda part: {f"the judge {name!r}": identity for name, identity in part.judges.items()})
    _agree_on_pairs(records)
    _agree(records, _results_by_name, shows=False)
    _agree(records, _answers_by_name, shows=False)
    left = {row["item"]: row for part in parts for row in part.results if row["item"] in part.about.unfinished}
    items: dict[str, Row] = {}
    for row in (row for part in parts for row in part.results if row["item"] not in part.about.unfinished):
        items[row["item"]] = worse_result(items.get(row["item"], row), row)  # a test that crashed somewhere has crashed
    names = ("judgments", "pairs", "plans")
    judgments, pairs, plans = ([row for part in parts for row in getattr(part, name)] for name in names)
    about = _about(list(abouts.values()), items.keys())
    return RunRecord.of(about, (left | items).values(), judgments, pairs, plans)


def _about(parts: Sequence[RunInfo], ran: Collection[str]) -> RunInfo:
    left = sorted({name for part in parts for name in part.unfinished}.difference(ran))
    lost = "; ".join(dict.fromkeys(filter(None, [*(part.lost for part in parts), stopped_run_note(left)])))
    families = {name: ids for part in parts for name, ids in part.families.items()}
    settings = {table: keys for part in parts for table, keys in part.settings.items()}
    return replace(
        parts[0],
        date=max(part.date for part in parts),
        lost=lost,
        unfinished=(),
        unselected=all(part.unselected for part in parts),
        families={name: families[name] for name in sorted(families)},
        sources=join_sources(part.sources for part in parts),
        retries=sum(part.retries for part in parts),
        shared={kind: [each for part in parts for each in part.shared[kind]] for kind in SHARED},
        prices=dict(sorted(price for part in parts for price in part.prices.items())),
        settings={table: settings[table] for table in sorted(settings)},
        key_variables=tuple(sorted({name for part in parts for name in part.key_variables})),
    )


def _results_by_name(part: RunRecord) -> Row:
    return {f"the result of {row['item']}": row for row in part.results if not is_test_error(row)}


def _answers_by_name(part: RunRecord) -> Row:
    return {f"the answer of {'/'.join(str(row[key]) for key in JUDGMENT_KEY)}": row for row in part.judgments}


def _agree(records: Mapping[Path, RunRecord], settings_of: Callable[[RunRecord], Row], *, shows: bool = True) -> None:
    known: dict[str, tuple[str, Path]] = {}
    for folder, part in records.items():
        for name, value in settings_of(part).items():
            text = json.dumps(value, sort_keys=True)
            first, where = known.setdefault(name, (text, folder))
            if first != text:
                raise _apart(name, (where, first), (folder, text)) if shows else _apart(name)


def _agree_on_settings(abouts: Mapping[Path, RunInfo]) -> None:
    for (folder, about), (other, another) in combinations(abouts.items(), 2):
        for name, values in differing_settings(about, another).items():
            raise _apart(name, (folder, values[0]), (other, values[1]))


def _agree_on_pairs(records: Mapping[Path, RunRecord]) -> None:
    """Check that one part's pairs include the other's: tests may choose pairs."""
    digests: dict[str, tuple[set[str], Path]] = {}
    for folder, part in records.items():
        for name, digests_of_part in (asked_digests(part.about) | _texts_of(part)).items():
            known, where = digests.setdefault(name, (digests_of_part, folder))
            if not (known <= digests_of_part or digests_of_part <= known):
                both = (" and ".join(sorted(each)) for each in (known, digests_of_part))
                raise _apart(name, *zip((where, folder), both, strict=True))
            digests[name] = (known | digests_of_part, where)


def _texts_of(record: RunRecord) -> dict[str, set[str]]:
    digests: dict[str, set[str]] = {}
    for row in record.pairs:
        responses = [(row.get(f"response_{number}"), row.get("gold") == number) for number in (1, 2)]
        texts = {name: value for name, value in row.items() if name not in OF_ORDER}
        texts |= {"responses": sorted(responses, key=repr), "graded": row.get("gold") is not None}
        for judge in row["judges"]:
            what = f"pair {row['pair']} of {row['dataset']}, as {judge} was asked about it"
            digests.setdefault(what, set()).add(f"digest {pairs_digest([texts])}")
    return digests


def _apart(name: str, *values_in_folders: tuple[Path, str]) -> JudgeFixturesError:
    values = ", ".join(f"{shorten(value, MOST_SHOWN)} in {folder}" for folder, value in values_in_folders)
    return JudgeFixturesError(MESSAGES.parts_differ(name, values))
