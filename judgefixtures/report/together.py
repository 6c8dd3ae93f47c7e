"""Together: runs of several machines, each of a part of the checks, as the one run that they are parts of."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from judgefixtures.errors import JudgeFixturesError
from judgefixtures.findings import Row
from judgefixtures.report import worse
from judgefixtures.report.outcome import is_of_test
from judgefixtures.report.record import JUDGMENT_KEY, SHARED, About, Record, joined_sources, stopped

PATHS = ("--judge-config", "--judge-cassettes")  # where things lie may differ from machine to machine


def together(records: Mapping[Path, Record]) -> Record:
    """Return the record of the one run that these are parts of, by the folders that they were read from.

    Nothing that was decided over a part is kept: Holm's method, rankings and decisions are computed anew of what the
    items found. Raises JudgeFixturesError where two parts say different things of the same: a judge of one name that
    is another judge, an item or a judgment with two results, versions of this tool, numbers of pairs. What a part did
    not come to, because it was stopped, is lost unless another part has it; a test that crashed in a part is an ERROR
    of the whole.
    """
    parts = list(records.values())
    abouts = {folder: record.about for folder, record in records.items()}
    _agree({"the version of judgefixtures": about.version} for about in abouts.values())
    _agree({"--judge-pairs or --judge-repeats": [option for option in about.options if not option.startswith(PATHS)]}
           for about in abouts.values())  # fmt: skip
    _agree({f"the judge {name!r}": identity for name, identity in part.judges.items()} for part in parts)
    _agree({f"the result of {row['item']}": row for row in part.results if not is_of_test(row)} for part in parts)
    _agree({f"the answer of {'/'.join(str(row[key]) for key in JUDGMENT_KEY)}": row for row in part.judgments}
           for part in parts)  # fmt: skip
    left = {row["item"]: row for part in parts for row in part.results if row["item"] in part.about.unfinished}
    items: dict[str, Row] = {}
    for row in (row for part in parts for row in part.results if row["item"] not in part.about.unfinished):
        items[row["item"]] = worse(items.get(row["item"], row), row)  # a test that crashed somewhere has crashed
    judgments, pairs, plans = ([row for part in parts for row in getattr(part, name)]
                               for name in ("judgments", "pairs", "plans"))  # fmt: skip
    about = _about(list(abouts.values()), items.keys())
    return Record.of(about, (left | items).values(), judgments, pairs, plans)


def _about(parts: Sequence[About], ran: Collection[str]) -> About:
    """Return when and with what the parts were made, in which these items ran."""
    left = sorted({name for part in parts for name in part.unfinished}.difference(ran))
    lost = "; ".join(dict.fromkeys(filter(None, [*(part.lost for part in parts), stopped(left)])))
    families = {name: ids for part in parts for name, ids in part.families.items()}
    return replace(
        parts[0], date=max(part.date for part in parts), lost=lost, unfinished=(),
        families={name: families[name] for name in sorted(families)},
        sources=joined_sources(part.sources for part in parts), retries=sum(part.retries for part in parts),
        shared={kind: [each for part in parts for each in part.shared[kind]] for kind in SHARED},
        prices=dict(sorted(price for part in parts for price in part.prices.items())),
    )  # fmt: skip


def _agree(parts: Iterable[Mapping[str, object]]) -> None:
    """Raise JudgeFixturesError where two parts hold different things of one name."""
    known: dict[str, str] = {}
    for part in parts:
        for name, value in part.items():
            said = json.dumps(value, sort_keys=True)
            if known.setdefault(name, said) != said:
                raise JudgeFixturesError(
                    f"{name} is not the same in all of the folders: they are not parts of one run. Run the tests of "
                    "all parts again, from the same recordings, configuration and version."
                )
