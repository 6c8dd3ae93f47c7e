"""What a contrast shows beyond verdicts: log-odds and scores, what they decide where a gate says so, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judgefixtures.certainty import Certainty, Scale
from judgefixtures.checks.check import Decision, Need
from judgefixtures.config import GateTable, JudgeTable
from judgefixtures.contrasts import Contrast
from judgefixtures.findings import Row, estimate_row
from judgefixtures.odds import gate_log_odds, odds_in_words, odds_ratio
from judgefixtures.pairs import Pair
from judgefixtures.power import fewest
from judgefixtures.statistics import Estimate, Status, bare, gate_scores, signed, worst

# Pairs with which a shift can be shown to be absent: of fewer the gate errs more often (docs/statistics.md).
FEWEST = 30

NOTHING: Row = {"log_odds_shift": None, "soft_vsr": None, "score_shift": None}


@dataclass(frozen=True, slots=True)
class Part:
    """What one quantity beside VSR says: a status, NOT_APPLICABLE where no gate holds it, and why."""

    status: Status
    reason: str = ""


def certainty_row(found: Certainty) -> Row:
    """Return the keys of a contrast's row that are about more than verdicts."""
    return {
        "log_odds_shift": estimate_row(found.log_odds_shift),
        "soft_vsr": estimate_row(found.soft_vsr),
        "score_shift": estimate_row(found.score_shift),
    }


def need_beyond(name: str, dataset: str, pairs: Sequence[Pair], judge: JudgeTable, gate: GateTable) -> Need | None:
    """Return what the scores or the log-odds of a contrast need to be able to PASS, where there are too few pairs."""
    found, remedy = None, "ask about more pairs, or raise the tolerance"
    if judge.mode == "pointwise":
        limit = f"score_tolerance {gate.score_tolerance:g}, not even if no score moves"
        found = Need.among(pairs, name, dataset, smallest_n_of_scores(gate.score_tolerance, gate.alpha), limit, remedy)
    elif judge.logprobs and gate.log_odds_tolerance is not None:
        limit = f"log_odds_tolerance {gate.log_odds_tolerance:g}, not even if no probability moves"
        found = Need.among(pairs, name, dataset, FEWEST, limit, "ask about more pairs")
    return found if found is not None and found.lacking else None


@lru_cache(maxsize=256)
def smallest_n_of_scores(tolerance: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which scores that do not move PASS; with fewer nothing can.

    >>> smallest_n_of_scores(0.05)
    52
    """
    return fewest(lambda n: gate_scores([0.0] * n, tolerance, alpha).status is Status.PASS)


def decide_log_odds(found: Certainty, gate: GateTable, contrast: Contrast, *, gated: bool = True) -> Part:
    """Return what the log-odds of a contrast decide: their shift is within log_odds_tolerance, where that is set.

    Shares of repeats understate a shift, so that they can show one and not its absence. Nor can few pairs, which may
    miss the few that move, or what may be in more pairs without a probability than may be invalid.
    """
    if found.log_odds_shift is None:
        return Part(Status.NOT_APPLICABLE)
    words = f"{in_words(found.log_odds_shift, contrast)}{_source(found)}"
    if gate.log_odds_tolerance is None or not gated:
        return Part(Status.NOT_APPLICABLE, words)
    decided = gate_log_odds(found.shifts, gate.log_odds_tolerance, gate.alpha, found.clusters)
    status, doubt = decided.status, ""
    if status is Status.PASS and found.repeats:
        status, doubt = Status.INCONCLUSIVE, "repeats understate a shift of log-odds: only logprobs can show it absent"
    elif status is Status.PASS and len(found.shifts) < FEWEST:
        status, doubt = Status.INCONCLUSIVE, f"{len(found.shifts)} pairs may miss the few that move: at least {FEWEST}"
    elif status is Status.PASS and found.lacking > gate.max_invalid * found.pairs:
        status, doubt = Status.INCONCLUSIVE, f"{found.lacking} of {found.pairs} pairs came without probabilities"
    message = f"{decided.message}; INCONCLUSIVE, since {doubt}" if doubt else decided.message
    return Part(status, f"{words}; {message}")


def _source(found: Certainty) -> str:
    of = f"shares of {found.repeats} repeats" if found.repeats else "the probabilities of its tokens"
    n = found.pairs - found.lacking
    bounded = sum(each.is_bound for each in found.shifts)
    said = f", by {of} on {n} pairs"
    return f"{said}, {bounded} of them bounds" if bounded else said


def in_words(shift: Estimate, contrast: Contrast) -> str:
    """Return a log-odds shift as a sentence about what was varied."""
    x, y = contrast.x.labels
    if contrast.x.edit:
        return odds_in_words(shift, "edited", "plain").replace("labelled ", "", 1)
    if x:
        return odds_in_words(shift, x, y)
    if contrast.family == "position":
        return odds_in_words(shift, "first", "second").replace("labelled ", "standing ", 1)
    return odds_in_words(shift, "once", "again").replace("labelled ", "asked ", 1)


def beyond_lines(rows: Sequence[Row]) -> list[str]:
    """Return what a summary says beyond verdicts: a line per judge and dataset with the odds ratios, or the points."""
    said: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        of = (row["judge"], row["dataset"])
        if odds := row["log_odds_shift"]:
            value, low, high = (odds_ratio(odds[end]) for end in ("value", "low", "high"))
            said.setdefault((*of, "odds ratios"), []).append(f"{row['contrast']} {value} [{low}, {high}]")
        if points := row["score_shift"]:
            value, low, high = (signed(points[end]) for end in ("value", "low", "high"))
            said.setdefault((*of, "points"), []).append(f"{row['contrast']} {value} [{low}, {high}]")
    return [f"{what} of {judge} on {dataset}: {'; '.join(each)}" for (judge, dataset, what), each in said.items()]


def decide_scores(found: Certainty, gate: GateTable, scale: Scale | None, *, gated: bool = True) -> Part:
    """Return what the scores of a contrast decide: their shift is within score_tolerance, a share of the scale."""
    if found.score_shift is None or scale is None:
        return Part(Status.NOT_APPLICABLE)
    shift, tolerance = found.score_shift, gate.score_tolerance
    limits = f"{100 * shift.confidence:.10g}% CI [{bare(shift.low, 3)}, {bare(shift.high, 3)}]"
    said = f"score shift {signed(shift.value)} points on a scale of {scale[0]:g} to {scale[1]:g}, {limits}"
    if not gated:
        return Part(Status.NOT_APPLICABLE, said)
    decided = gate_scores([each.value for each in found.points], tolerance, gate.alpha, found.clusters)
    points = bare(tolerance * (scale[1] - scale[0]))
    said = f"{said}, tolerance {bare(tolerance)} of the scale ({points} points): {decided.status}"
    return Part(decided.status, f"{said}; {decided.message}" if decided.message else said)


def beside(decision: Decision, *parts: Part) -> Decision:
    """Return a decision with what other quantities decide beside VSR and CAR; an ERROR leaves nothing to decide."""
    if decision.status is Status.ERROR:
        return decision
    reasons = (*decision.reasons, *(part.reason for part in parts if part.reason))
    return replace(decision, status=worst(decision.status, *(part.status for part in parts)), reasons=reasons)
