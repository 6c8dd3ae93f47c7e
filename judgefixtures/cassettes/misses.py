"""Why nothing that is recorded answers a question, where it may be recorded instead, and what to do."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.frozen import changed_fields
from judgefixtures.material.pairs import Pair
from judgefixtures.words.commands import quoted

if TYPE_CHECKING:
    from judgefixtures.cassettes.in_use import Cassette

LONGEST_HEADER = 2**20  # bytes


def explain_miss(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    """Return the message of a question that nothing recorded answers, with the command that records it."""
    what = f"judge {cassette.judge!r}, dataset {cassette.dataset!r}, condition {cassette.condition!r}, pair {pair.id!r}"
    if repeat:
        what += f", repeat {repeat}"
    if cassette.file.header is None:
        state = "holds no answers" if cassette.file.path.exists() else "does not exist"
        state += f". {found}" if (found := find_elsewhere(cassette)) else ""
        state += f". Record: {cassette.command('missing')}"
        return f"nothing is recorded for {what}: {cassette.file.path} {state}"
    return f"no recording answers {what}: {_reason(cassette, pair, repeat, plan)} Record: {cassette.command('missing')}"


def find_elsewhere(cassette: Cassette) -> str:
    """Where recordings of this very judge are, with what to do, where none are here; empty where there are none."""
    return (_find_moved(cassette) or _find_namesake(cassette)) if cassette.file.header is None else ""


def _find_moved(cassette: Cassette) -> str:
    """Say which other folder has recordings of this very judge, as after a move of them; else nothing."""
    root = cassette.final_path.parents[2]
    for other in _elsewhere(root, cassette.usual, cassette.final_path.relative_to(root)):
        recorded = identity_in(other)
        # What a model does not take is found out by asking it, and this judge was not asked yet.
        if recorded and as_told(recorded) == as_told(cassette.identity()):
            found = other.parents[2]
            return (
                f"{found} holds this condition of this very judge: if the recordings were moved, move them to "
                f"{root} or run with --judge-cassettes={quoted(str(found))}, and nothing need be asked again"
            )
    return ""


def _find_namesake(cassette: Cassette) -> str:
    """Say whose recordings are of this very judge by another name, as after a change of its name; else nothing."""
    folder = cassette.final_path.parent
    if folder.parent.name != cassette.judge:  # a detector's readings: whose reasons it read is not in its identity
        return ""
    for other in sorted(folder.parents[1].glob(f"*/{folder.name}/{cassette.final_path.name}")):
        recorded = identity_in(other)
        if other != cassette.final_path and recorded and as_told(recorded) == as_told(cassette.identity()):
            return (
                f"{other.parent} holds this condition of a judge that is the same in all but its name: if "
                f"{other.parents[1].name} was renamed, rename the folder {other.parents[1]} to "
                f"{folder.parent}, and nothing need be asked again"
            )
    return ""


def _reason(cassette: Cassette, pair: Pair, repeat: int, plan: str) -> str:
    frozen = cassette.frozen.get(pair.id)
    if frozen is not None and (frozen.response_1, frozen.response_2) == (pair.response_2, pair.response_1):
        return (
            "the pair's responses changed places since the recording, in the file or by balance_positions, which "
            "keeps gold even over positions: some pair's gold, or which pairs there are, changed."
        )
    if frozen is not None and (fields := changed_fields(frozen, pair)):
        return f"the pair's {' and '.join(fields)} changed since the recording."
    recorded = cassette.recorded()
    if (row := recorded.get((pair.id, repeat))) is not None and row.seen not in ("", pair.digest):
        return "the pair's text changed since the recording."
    if row is None:
        of = f"{len({key[0] for key in recorded})} pairs are recorded in {cassette.file.path}"
        return f"{of}, not this one (a recording that was cut short?)."
    if row.plan not in ("", plan):
        return (
            "the pair's plan is not the one that this answer was recorded with: plan.jsonl was recorded anew "
            "(or changed) and this condition was not."
        )
    return (
        "the pair is recorded, but the request is another one now: the base_url's host or path changed, "
        "or the SDK sends another body."
    )


def as_told(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a judge's table says of its identity."""
    return {key: value for key, value in identity.items() if key != "dropped"}


def identity_in(path: Path) -> Mapping[str, Any]:
    """Return the identity in a recording's header; empty where there is none that can be read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline(LONGEST_HEADER))["judge"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _elsewhere(root: Path, usual: Path | None, own: Path) -> Iterator[Path]:
    """Yield where a condition may be recorded in place of `root`: the usual folder, and those beside and below it."""
    homes = dict.fromkeys((root if usual is None else usual).parent.joinpath(place) for place in ("", root.parent))
    inside = glob.escape(str(own))
    found = [] if usual is None else [usual / own]
    for home in homes:
        if home != home.parent:  # not the whole machine
            found += [*sorted(home.glob(f"*/{inside}")), *sorted(home.glob(f"*/*/{inside}"))]
    yield from (path for path in dict.fromkeys(found) if path.parents[2] != root and path.is_file())
