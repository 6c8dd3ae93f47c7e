"""Groups of contrasts with equal results, and Holm's adjustment."""

from collections.abc import Container, Iterable, Sequence

from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.vocabulary import Vocabulary, wording_of
from judgefixtures.statistics.estimate import Status

from .messages import MESSAGES

ALONE = (Status.FAIL, Status.INCONCLUSIVE, Status.ERROR)


def group_equal_results(rows: Sequence[ContrastRow], alone: Container[str] = ALONE) -> list[list[ContrastRow]]:
    """Return groups of rows with equal results, largest shift first.

    Equal are judge, family, status and deciding parts. Waived rows, and statuses in `alone`, are not grouped.
    """
    groups: dict[tuple[str, ...], list[ContrastRow]] = {}
    for number, row in enumerate(rows):
        itself = [str(number)] if row.waived or row.status in alone else []
        groups.setdefault((row.judge, row.family, row.status, _due_to(row), *itself), []).append(row)
    return [sorted(each, key=_nearness) for each in groups.values()]


def _nearness(row: ContrastRow) -> float:
    return -abs(row.gated_shift.value) if row.gated_shift else 0.0


def _due_to(row: ContrastRow) -> str:
    parts = [part.part for part in row.decided_by]
    return "vsr" if "vsr" in parts else " ".join(parts)


def name_largest(rows: Sequence[ContrastRow]) -> tuple[ContrastRow, str, str]:
    """Return a group's largest row, with name and status for display."""
    row = rows[0]
    of = f"largest of {len(rows)}" if row.gated_shift else str(len(rows))
    name = f"{row.contrast} on {row.dataset}" if len(rows) == 1 else f"{row.family} ({of})"
    return row, name, f"WAIVED ({row.status})" if row.waived else row.status


def group_sentence(group: Sequence[ContrastRow], rows: Sequence[ContrastRow]) -> str:
    """Return a group's status and summary."""
    return f"{name_largest(group)[2]}: {group_summary(group, rows)}"


def group_summary(group: Sequence[ContrastRow], rows: Iterable[ContrastRow]) -> str:
    """Return one contrast's sentence, or a group's number and largest."""
    of_family = [each for each in rows if (each.judge, each.family) == (group[0].judge, group[0].family)]
    contrasts = [each for each in of_family if each.status != Status.NOT_APPLICABLE]
    return MESSAGES.group(group, contrasts, _admitted(group))


def _admitted(group: Sequence[ContrastRow]) -> tuple[int, int, Vocabulary] | None:
    known = [row.car for row in group if row.car]
    if len(known) < 2 or not any(part.part == "car" for row in group for part in row.decided_by):
        return None
    return sum(round(car.value * car.n) for car in known), sum(car.n for car in known), wording_of(group[0].outcome)


def holm_lines(rows: Sequence[ContrastRow], alpha: float) -> list[str]:
    """Return the violations that survive Holm's adjustment, a line per judge."""
    lines = []
    for judge in dict.fromkeys(row.judge for row in rows):
        rows_by_name = {_named(row): row for row in rows if row.judge == judge and row.p_fail is not None}
        violations = [name for name, row in rows_by_name.items() if (row.p_fail or 0.0) < alpha]
        adjusted = {name: p for name, row in rows_by_name.items() if (p := row.p_fail_holm) is not None and p < alpha}
        if adjusted:
            lines.append(MESSAGES.holm(judge, violations, adjusted))
    return lines


def _named(row: ContrastRow) -> str:
    return f"{row.contrast} on {row.dataset}"
