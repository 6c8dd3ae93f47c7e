"""Order flips: the share of choices that change with the order, and its limit."""

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.config import Config, GateTable, PositionTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.findings import DecisionPart
from judgefixtures.models.pairs import Pair
from judgefixtures.statistics.estimate import Status, format_estimate, format_share, worst_status
from judgefixtures.statistics.proportion_gate import gate_share, smallest_n_of_share
from judgefixtures.statistics.proportions import proportion

from .base import GateDecision, SampleRequirement
from .messages import MESSAGES

FAMILY = "position"
KEY = "max_position_flips"


def flip_limit(gate: GateTable) -> float | None:
    """Return the limit on order flips as a share, or None."""
    return gate.max_position_flips if isinstance(gate, PositionTable) else None


def min_pairs_for_flips(gate: GateTable) -> int:
    """Return the pairs that consistent choices need, 0 without a limit."""
    limit = flip_limit(gate)
    return 0 if limit is None else smallest_n_of_share(limit, gate.alpha)


def min_sample_for_flips(name: str, dataset: str, pairs: Sequence[Pair], gate: GateTable) -> SampleRequirement | None:
    """Return the requirement of the flip limit, or None."""
    limit = f"{KEY} {flip_limit(gate) or 0.0:g}"
    return SampleRequirement.among(pairs, name, dataset, min_pairs_for_flips(gate), limit, f"raise {KEY}").unmet


def decide_flips(measured: ContrastMeasurement, gate: GateTable, config: Config) -> DecisionPart:
    """Return the decision on order flips.

    PASS if the one-sided exact upper bound with invalid pairs as flips is below the limit, FAIL if the lower bound is
    above.
    """
    if not measured.n:
        return DecisionPart("position_flips", Status.NOT_APPLICABLE)
    flips, n, limit = measured.flips, measured.n, flip_limit(gate)
    share = proportion(flips, n, gate.confidence, "exact", measured.related.flips)
    text = f"{flips} of {n} verdicts changed with the order"
    consistent = f"position consistency {format_share(1 - share.value)}"
    if limit is None:
        unset = f"no limit; to set one, write {KEY} in {config.heading('gate', FAMILY)}"
        reason = f"{text}, share {format_estimate(share, format_share)}: {consistent}; {unset}"
        return DecisionPart("position_flips", Status.NOT_APPLICABLE, reason, estimate=share)
    result = gate_share(flips, n, limit, gate.alpha, measured.related.flips)
    reason = f"{text}: {consistent}; flips {result.message.replace(', limit', f', {KEY}', 1)}"
    plain = MESSAGES.flips(text, share, limit, consistent)
    status = result.status
    if status is Status.PASS and (doubt := _worst_case(measured, limit, gate)):
        reason, plain = f"{reason.removesuffix(f': {status}')}: {doubt}", f"{plain}; {doubt}"
        status = Status.INCONCLUSIVE
    return DecisionPart("position_flips", status, reason, plain, share, (None, limit))


def _worst_case(measured: ContrastMeasurement, limit: float, gate: GateTable) -> str:
    invalid = measured.invalid_pairs
    if not invalid:
        return ""
    at_worst = gate_share(measured.flips + invalid, measured.pairs, limit, gate.alpha, measured.related.most_flips)
    if at_worst.status is Status.PASS:
        return ""
    return MESSAGES.flips_at_worst(invalid, at_worst.estimate.high)


def combine_with_flips(part: DecisionPart, decision: GateDecision) -> GateDecision:
    """Return a position decision with its flips, unless it is an ERROR."""
    if decision.status is Status.ERROR:
        return decision
    return replace(
        decision,
        status=worst_status(decision.status, part.status),
        reasons=tuple(filter(None, [*decision.reasons, part.reason])),
        parts=(*decision.parts, part),
    )


def flips_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return summary lines on consistency over orders and repeats."""
    return MESSAGES.lines("both_orders", rows)
