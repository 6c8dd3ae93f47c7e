"""Order flips: how many choices change with the order of the responses, whichever way, and how many may.

VSR of a position contrast is net: choices that change six each way cancel in it. Here they all count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.phrasing import reach
from judgefixtures.checks.protocol import Decision, Need
from judgefixtures.config import Config, GateTable, PositionTable
from judgefixtures.findings import Part, rows_of_parts
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.metrics import Measurement
from judgefixtures.numbers.estimate import Status, bare, describe, worst
from judgefixtures.numbers.proportions import proportion
from judgefixtures.numbers.shares import gate_share, smallest_n_of_share

FAMILY = "position"
KEY = "max_position_flips"


def limit_of(gate: GateTable) -> float | None:
    """Return how many choices may change with the order, as a share; None of any other gate, and where it is unset."""
    return gate.max_position_flips if isinstance(gate, PositionTable) else None


def fewest_of_flips(gate: GateTable) -> int:
    """Return the pairs without which not even a judge whose choices all stay can PASS; 0 where there is no limit."""
    limit = limit_of(gate)
    return 0 if limit is None else smallest_n_of_share(limit, gate.alpha)


def need_of_flips(name: str, dataset: str, pairs: Sequence[Pair], gate: GateTable) -> Need | None:
    """Return what the limit of flips needs to be able to PASS, where there are too few pairs."""
    limit = f"{KEY} {limit_of(gate) or 0.0:g}, not even if no choice changes"
    return Need.among(pairs, name, dataset, fewest_of_flips(gate), limit, "raise it").unmet


def decide_flips(measured: Measurement, gate: GateTable, config: Config) -> Part:
    """Return what is decided of the choices that change with the order, where a limit is set, else how many do.

    PASS when the one-sided exact upper bound of their share is below the limit, also with every invalid pair as one
    that changed; FAIL when the lower one is above it; else INCONCLUSIVE.
    """
    if not measured.n:
        return Part("position_flips", Status.NOT_APPLICABLE)
    flips, n, limit = measured.flips, measured.n, limit_of(gate)
    share = proportion(flips, n, gate.confidence, "exact", measured.related.flips)
    said = f"{flips} of {n} choices changed with the order"
    consistent = f"position consistency {bare(1 - share.value)}"
    if limit is None:
        unset = f"no limit is set, {KEY} in {config.heading('gate', FAMILY)}"
        reason = f"{said} ({describe(share, bare)}): {consistent}; {unset}"
        return Part("position_flips", Status.NOT_APPLICABLE, reason, estimate=share)
    found = gate_share(flips, n, limit, gate.alpha, measured.related.flips)
    reason = f"{said}: {consistent}; flips {found.message.replace(', limit', f', {KEY}', 1)}"
    plain = f"{said} ({bare(share.value)}, less than {bare(limit)} allowed; {reach(share)}): {consistent}"
    status = found.status
    if status is Status.PASS and (doubt := _worst_case(measured, limit, gate)):
        reason, plain = f"{reason.removesuffix(f': {status}')}: {doubt}", f"{plain}, {doubt}"
        status = Status.INCONCLUSIVE
    return Part("position_flips", status, reason, plain, share, (None, limit))


def _worst_case(measured: Measurement, limit: float, gate: GateTable) -> str:
    """Return why a PASS does not hold if the choice had changed in every invalid pair; empty where it does."""
    invalid = measured.invalid_pairs
    if not invalid:
        return ""
    at_worst = gate_share(measured.flips + invalid, measured.pairs, limit, gate.alpha, measured.related.most_flips)
    if at_worst.status is Status.PASS:
        return ""
    return (
        f"it would pass, but with the {invalid} invalid pairs at worst up to {bare(at_worst.estimate.high, 3)}: "
        "INCONCLUSIVE; get valid choices for them"
    )


def beside_shift(part: Part, decision: Decision) -> Decision:
    """Return a decision on a position contrast with that on its flips; an ERROR leaves nothing to decide."""
    if decision.status is Status.ERROR:
        return decision
    return replace(
        decision,
        status=worst(decision.status, part.status),
        reasons=tuple(filter(None, [*decision.reasons, part.reason])),
        parts=(*decision.parts, part),
    )


def columns_of(part: Part) -> dict[str, object]:
    """Return the column of a position row that is about its flips."""
    (row,) = rows_of_parts([part])
    return {"position_flips": row}


def flips_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return how consistent choices are in both orders, and beside it how often asking again changes them."""
    return [
        f"both orders of {row.judge} on {row.dataset}: {flips.reason}"
        + (f"; asked again in one order, {describe(again, bare)} change" if again else "")
        for row in rows
        if (flips := row.position_flips) and flips.reason
        for again in [row.floor.repeat_flip_rate if row.floor else None]
    ]
