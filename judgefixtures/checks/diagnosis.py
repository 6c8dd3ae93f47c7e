"""Failure message of a contrast."""

from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, MovedPair
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.statistics.estimate import Status

from .base import GateDecision
from .close_pairs import describe_close_pairs
from .formatting import EXAMPLES
from .messages import MESSAGES


def failure_diagnosis(row: ContrastRow, measured: ContrastMeasurement, decision: GateDecision) -> tuple[str, ...]:
    """Return a failing item's shift, limits and moved pairs."""
    close = ""
    # Where verdicts moved for certain, that few of them differ for no reason at all says nothing more.
    if decision.vsr_status is not Status.FAIL:
        close = describe_close_pairs(row.movable, measured.wording, passed=False, unknown=row.movable_unknown)
    return tuple(MESSAGES.lines("failure", row, measured, decision, close, _examples(measured)))


def _examples(measured: ContrastMeasurement) -> list[MovedPair]:
    return sorted(measured.moved, key=lambda move: (not move.follows, move.acknowledged))[:EXAMPLES]
