"""What a contrast shows beyond verdicts: log-odds and scores, what they decide where a gate says so, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any

from judgefixtures.asking.kinds import kind_of
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.phrasing import reach
from judgefixtures.checks.protocol import Answers, Case, Decision, Need
from judgefixtures.config import GateTable, JudgeTable
from judgefixtures.findings import Part
from judgefixtures.material.contrasts import Contrast
from judgefixtures.material.diction import OF_PAIRS, Wording, wording_of
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.certainty import Certainty, Scale, certainty
from judgefixtures.numbers.estimate import Estimate, GateResult, Status, bare, interval_text, signed, worst
from judgefixtures.numbers.odds import LARGEST, gate_log_odds, odds_in_words, odds_ratio
from judgefixtures.numbers.points import FARTHEST, gate_scores
from judgefixtures.numbers.power import fewest
from judgefixtures.providers import LOGPROBS
from judgefixtures.reading.scores import is_whole

# Pairs with which a shift can be shown to be absent: of fewer the gate errs more often (docs/statistics.md).
FEWEST = 30

# What the odds ratios of a judge that reasons first are called: not those of its verdicts.
GIVEN = "odds ratios given its reasoning (they do not tell how far verdicts shift)"


@dataclass(frozen=True, slots=True)
class Beyond:
    """What a contrast shows beyond verdicts, and what its log-odds and its scores decide."""

    found: Certainty
    log_odds: Part
    scores: Part
    not_applied: str = ""  # why a limit that is set is not applied, where it is not
    tested: GateResult | None = None  # the test of the scores, where they are gated

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a contrast's row that are about more than verdicts."""
        return {
            "log_odds_shift": self.found.log_odds_shift,
            "log_odds_status": self.log_odds.status,
            "soft_vsr": self.found.soft_vsr,
            "score_shift": self.found.score_shift,
            "score_status": self.scores.status,
            "score_limit": self.scores.allowed[1] if self.scores.allowed else None,
            "log_odds_given_reasons": self.found.reasons_first and self.found.given_reasons,
            "not_applied": self.not_applied,
        }

    def beside(self, decision: Decision) -> Decision:
        """Return a decision on VSR and CAR with what is decided beyond; an ERROR leaves nothing to decide."""
        if decision.status is Status.ERROR:
            return decision
        parts = (self.log_odds, self.scores)
        reasons = [*decision.reasons, *(part.reason for part in parts if part.reason)]
        status = worst(decision.status, *(part.status for part in parts))
        decided = replace(decision, status=status, parts=(*decision.parts, *parts))
        if decision.vsr_status is Status.NOT_APPLICABLE and self.tested is not None:  # they decide, and verdicts do not
            reasons.sort(key=lambda reason: reason != self.scores.reason)
            tested = self.tested
            decided = replace(decided, p_pass=tested.p_pass, p_fail=tested.p_fail, needed_pairs=tested.needed_pairs)
        return replace(decided, reasons=tuple(reasons))


def beyond(contrast: Contrast, case: Case, answers: Answers, gate: GateTable, *, gated: bool = True) -> Beyond:
    """Return what a contrast shows beyond verdicts; not `gated`, it is shown and decides nothing."""
    table, scale = case.judge.table, case.judge.kind.scale
    found = certainty(answers.arms[::2], answers.arms[1::2], contrast.outcome, gate.confidence, scale)
    words = wording_of(contrast.outcome)
    asked = table.logprobs and not case.judge.dropped & LOGPROBS
    log_odds, held = decide_log_odds(found, gate, contrast, asked=asked, gated=gated), table.logprobs and gated
    skipped = held and gate.log_odds_tolerance is not None and log_odds.status is Status.NOT_APPLICABLE
    scores = decide_scores(found, gate, scale, words, gated=gated)
    tested = _gate_points(found, gate, scale) if gated and scale is not None and found.points else None
    return Beyond(found, log_odds, scores, log_odds.reason if skipped else "", tested)


def by_scores_alone(judge: JudgeTable) -> bool:
    """Tell whether a judge's scores are gated in place of its verdicts: it gives scores, and no mark makes grades.

    >>> from judgefixtures.config import judge_table
    >>> table = {"provider": "openai", "model": "m", "mode": "pointwise"}
    >>> by_scores_alone(judge_table(table)), by_scores_alone(judge_table(table | {"pass_mark": 7}))
    (True, False)
    """
    return kind_of(judge).gives_scores and not kind_of(judge).grades


def need_beyond(name: str, dataset: str, pairs: Sequence[Pair], judge: JudgeTable, gate: GateTable) -> Need | None:
    """Return what the scores or the log-odds of a contrast need to be able to PASS, where there are too few pairs."""
    limit, remedy = f"log_odds_tolerance {gate.log_odds_tolerance}, not even if no probability moves", "leave it out"
    if kind_of(judge).gives_scores:
        limit, remedy = f"score_tolerance {gate.score_tolerance:g}, not even if no score moves", "raise the tolerance"
    return Need.among(pairs, name, dataset, fewest_beyond(judge, gate), limit, remedy).unmet


def fewest_beyond(judge: JudgeTable, gate: GateTable) -> int:
    """Return the pairs without which what a judge tells beyond verdicts cannot PASS; 0 where no gate holds it."""
    if kind_of(judge).gives_scores:
        return smallest_n_of_scores(gate.score_tolerance, gate.alpha, farthest_on(judge.scale))
    gated = gate.log_odds_tolerance is not None and not judge.asks_for_plans  # who plans first reasons first
    return FEWEST if judge.logprobs and gated else 0


def limit_beyond(judge: JudgeTable, gate: GateTable) -> str:
    """Return the limit that these pairs follow from, as a table has it."""
    if kind_of(judge).gives_scores:
        return f"score {bare(gate.score_tolerance)}"
    return "" if gate.log_odds_tolerance is None else f"odds {gate.log_odds_tolerance:g}"


@lru_cache(maxsize=256)
def smallest_n_of_scores(tolerance: float, alpha: float = 0.05, farthest: float = FARTHEST) -> int:
    """Return the fewest pairs at which scores that do not move PASS; with fewer nothing can.

    >>> smallest_n_of_scores(0.05), smallest_n_of_scores(0.05, farthest=1.0)
    (29, 52)
    """
    return fewest(lambda n: gate_scores([0.0] * n, tolerance, alpha, farthest=farthest).status is Status.PASS)


def farthest_on(scale: Scale) -> float:
    """Return how far a pair is taken to move at most on a scale, as a share of it: a point, where there are few.

    >>> farthest_on((1, 10)), farthest_on((0, 1)), farthest_on((0.0, 1.0))
    (0.5, 1.0, 0.5)
    """
    return max(FARTHEST, 1 / (scale[1] - scale[0])) if is_whole(scale) else FARTHEST


def decide_log_odds(
    found: Certainty, gate: GateTable, contrast: Contrast, *, asked: bool = True, gated: bool = True
) -> Part:
    """Return what the log-odds of a contrast decide: their shift is within log_odds_tolerance, where that is set.

    `asked`: whether the judge is asked for probabilities, and has not refused. Shares of repeats understate a shift, so
    that they can show one and not its absence. Nor can few pairs, which may miss the few that move, or what may be in
    more pairs without a known shift than may be invalid. Where the judge reasons first nothing is decided.
    """
    tolerance, words = gate.log_odds_tolerance if gated else None, wording_of(contrast.outcome)
    if found.reasons_first:
        return Part("log_odds", Status.NOT_APPLICABLE, _given_reasons(found, contrast, tolerance))
    if found.log_odds_shift is None:
        return _nothing_told(found, tolerance, words, asked=asked)
    shown = in_words(found.log_odds_shift, contrast)
    of = f"{shown}{_source(found, words)}"
    if tolerance is None:
        return Part("log_odds", Status.NOT_APPLICABLE, of)
    decided = gate_log_odds(found.shifts, tolerance, gate.alpha, found.clusters, words.many)
    status, said, plain = decided.status, decided.message, f"{shown}, at most {tolerance:g}-fold allowed"
    if status is Status.PASS and (doubt := _doubt(found, gate, words)):
        status, said, plain = Status.INCONCLUSIVE, f"{said}, but INCONCLUSIVE: {doubt}", f"{plain}, but {doubt}"
    return Part("log_odds", status, f"{of}; {said}", plain, found.log_odds_shift, (-log(tolerance), log(tolerance)))


def _given_reasons(found: Certainty, contrast: Contrast, tolerance: float | None) -> str:
    """Return why the log-odds of a judge that reasons first decide nothing, and what they are given its reasoning."""
    limit = "" if tolerance is None else f"log_odds_tolerance {tolerance:g} is not applied: "
    words = wording_of(contrast.outcome)
    why = (
        f"{limit}on {found.explained} of {found.pairs} {words.many} the judge reasons before it states its "
        f"{words.says}, whose "
        "probability is then that given the reasoning, and not how sure the judge was"
    )
    if found.given_reasons is None:
        return why
    return f"{why}; given the reasoning, {in_words(found.given_reasons, contrast)}"


def _nothing_told(found: Certainty, tolerance: float | None, words: Wording, *, asked: bool) -> Part:
    """Return what is decided where a gate is set and no pair tells a shift: that nothing shows one absent."""
    lacking = _lacking(found, words) if found.beyond else ""
    if tolerance is None:
        return Part("log_odds", Status.NOT_APPLICABLE, lacking and f"no shift of log-odds is known: {lacking}")
    if asked:
        why = lacking or f"no {words.one} came with probabilities in both arms"
        return Part("log_odds", Status.INCONCLUSIVE, f"log_odds_tolerance {tolerance:g}: {why}: INCONCLUSIVE")
    return Part(
        "log_odds",
        Status.NOT_APPLICABLE,
        f"log_odds_tolerance {tolerance:g} is not applied: the judge tells no probabilities",
    )


def _doubt(found: Certainty, gate: GateTable, words: Wording) -> str:
    """Return why a shift that seems absent may be there all the same, empty where nothing speaks for it."""
    if found.repeats:
        return "repeats understate a shift of log-odds, and only logprobs can show it absent"
    if found.lacking > gate.max_invalid * found.pairs:
        return _lacking(found, words)
    if found.units < FEWEST:
        units = words.clusters(2) if found.clusters else words.many
        return f"{found.units} {units} may miss the few that move, and at least {FEWEST} are needed"
    return ""


def _lacking(found: Certainty, words: Wording) -> str:
    """Return on how many pairs no shift of log-odds is known, and why."""
    of = f"of {found.pairs} {words.many}"
    said = {
        f"{of} came without probabilities in both arms": found.lacking - found.beyond - found.explained,
        f"{of} are beyond +-{LARGEST:.1f} logits in both arms, where no shift is told": found.beyond,
        f"{of} came after reasoning of the judge": found.explained,
    }
    return " and ".join(f"{count} {why}" for why, count in said.items() if count)


def _source(found: Certainty, words: Wording) -> str:
    of = f"shares of {found.repeats} repeats" if found.repeats else f"the probabilities behind its {words.said}"
    n = found.pairs - found.lacking
    bounded = sum(each.is_bound for each in found.shifts)
    said = f", by {of} on {n} {words.many}"
    said += f", {bounded} of them bounds" if bounded else ""
    return f"{said} ({_lacking(found, words)})" if found.beyond or found.explained else said


def in_words(shift: Estimate, contrast: Contrast) -> str:
    """Return a log-odds shift as a sentence about what was varied."""
    (x, y), of = contrast.labels, wording_of(contrast.outcome).outcome
    if contrast.x.edit:
        return odds_in_words(shift, "edited", "plain", "", of)
    if x:
        return odds_in_words(shift, x, y, outcome=of)
    if contrast.family == "position":
        return odds_in_words(shift, "first", "second", "standing ", of)
    return odds_in_words(shift, "once", "again", "asked ", of)


def not_applied_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return which limits are set and not applied, and why: a line per judge and dataset, by its first contrast."""
    found: dict[tuple[str, str], list[ContrastRow]] = {}
    for row in rows:
        if row.not_applied:
            found.setdefault((row.judge, row.dataset), []).append(row)
    return [
        f"not applied to {judge} on {dataset} in {of[0].contrast}"
        f"{f' and {len(of) - 1} more' if len(of) > 1 else ''}: {of[0].not_applied}"
        for (judge, dataset), of in found.items()
    ]


def beyond_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what a summary says beyond verdicts: a line per judge and dataset with the odds ratios, or the points.

    And which limit is not applied.
    """
    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for what, found, shown in (
            ("odds ratios", row.log_odds_shift, odds_ratio),
            (GIVEN, row.log_odds_given_reasons, odds_ratio),
            ("points", row.score_shift, signed),
        ):
            if found:
                text = f"{row.contrast} {shown(found.value)} [{shown(found.low)}, {shown(found.high)}]"
                lines.setdefault((row.judge, row.dataset, what), []).append(text)
    return [
        *(f"{what} of {judge} on {dataset}: {'; '.join(each)}" for (judge, dataset, what), each in lines.items()),
        *not_applied_lines(rows),
    ]


def decide_scores(
    found: Certainty, gate: GateTable, scale: Scale | None, words: Wording = OF_PAIRS, *, gated: bool = True
) -> Part:
    """Return what the scores of a contrast decide: their shift is within score_tolerance, a share of the scale."""
    if found.score_shift is None or scale is None:
        return Part("score", Status.NOT_APPLICABLE)
    shift, tolerance = found.score_shift, gate.score_tolerance
    by = f"{signed(shift.value)} points on a scale of {scale[0]:g} to {scale[1]:g}"
    said = f"score shift {by}, {interval_text(shift)}"
    if not gated:
        return Part("score", Status.NOT_APPLICABLE, said)
    decided, most = _gate_points(found, gate, scale, words.many), tolerance * (scale[1] - scale[0])
    status, more = decided.status, decided.message
    if status is Status.PASS and not _within_at_worst(decided.estimate, found.lacking, tolerance):
        status = Status.INCONCLUSIVE
        lacking = f"the {found.lacking} invalid {words.many}"
        more = f"it would pass, but not with {lacking} at worst; get valid scores for them"
    plain = f"the scores shift by {by}, at most {bare(most)} allowed ({reach(shift)})"
    plain += f": {more}" if status is not decided.status else ""
    said += f", tolerance {bare(tolerance)} of the scale ({bare(most)} points): {status}"
    return Part("score", status, f"{said}; {more}" if more else said, plain, shift, (-most, most))


def _gate_points(found: Certainty, gate: GateTable, scale: Scale, units: str = "pairs") -> GateResult:
    """Return the decision on the scores of the pairs that have them."""
    points = [each.value for each in found.points]
    return gate_scores(points, gate.score_tolerance, gate.alpha, found.clusters, units, farthest_on(scale))


def _within_at_worst(shift: Estimate, lacking: int, tolerance: float) -> bool:
    """Tell whether a shift is within its tolerance if every pair that lacks scores had moved across the whole scale."""
    pairs = shift.n + lacking
    return -tolerance < (shift.n * shift.low - lacking) / pairs and (shift.n * shift.high + lacking) / pairs < tolerance
