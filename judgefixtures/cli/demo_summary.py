"""Sentences about the demo's results, read from report.json."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from judgefixtures.checks.accuracy import ACCURACY
from judgefixtures.checks.formatting import share_counted
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.findings import Row
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.report.contrast_table import CONTRASTS
from judgefixtures.report.html.labels import swap_part_label
from judgefixtures.report.overview import judge_results
from judgefixtures.report.swap_section import DECISIONS, decision_headline
from judgefixtures.statistics.estimate import Estimate, Status, format_share, format_signed, level_text
from judgefixtures.util.jinja import load_template
from judgefixtures.util.shell import quoted
from judgefixtures.util.texts import join_names

SENTENCES, FAREWELL = (Path(__file__).with_name(f"{name}.txt.jinja") for name in ("sentences", "farewell"))


def demo_sentences(names: Sequence[str], reports: Sequence[Row], codes: Sequence[int]) -> list[str]:
    """Return the findings about two judges from reports and exit codes."""
    (fooled, steady), (first, second) = reports, names
    moved, kept = (CONTRASTS.read_records(report) for report in (fooled, steady))
    filters = {"right": _right, "labelled": _labelled, "changed": _changed, "followed": _followed, "bare": format_share}
    filters |= {"estimated": _estimate_text, "admitted": _admitted, "decided": _decided, "gates": judge_results}
    both = {"fooled": fooled, "steady": steady, "first": first, "second": second, "codes": codes}
    text: str = load_template(SENTENCES, **filters).render(moved=moved, kept=kept, **both)
    return text.strip().split("\n")


def demo_end_message(folder: Path, reports: Iterable[Path], options: Sequence[str]) -> list[str]:
    """Return the reports' places and next steps."""
    text: str = load_template(FAREWELL, quoted=quoted).render(folder=folder, reports=reports, options=options)
    return text.strip().split("\n")


def _right(report: Row) -> str:
    rows = (row for row in ACCURACY.read_records(report) if row.category == "all")
    return _of_both((row.dataset, f"{row.correct:g} of {row.n}") for row in rows)


def _changed(rows: Iterable[ContrastRow]) -> str:
    return _of_both((row.dataset, f"{row.n10 + row.n01:g} of {row.n}") for row in rows)


def _of_both(counts: Iterable[tuple[str, str]]) -> str:
    answers, stories = (count for _, count in sorted(counts))
    return f"{answers} pairs (stories: {stories})"


def _labelled(row: ContrastRow) -> str:
    assert row.sentences is not None
    return f'first the prompt says "{row.sentences.x}", then "{row.sentences.y}", with the opposite about response 2'


def _followed(row: ContrastRow) -> str:
    return f"{row.n10:g} of these {row.n10 + row.n01:g} verdicts go to the response labelled {row.x}"


def _admitted(row: ContrastRow) -> str:
    assert row.car is not None
    return share_counted(row.car)


def _estimate_text(estimate: Estimate | None) -> str:
    assert estimate is not None
    level = level_text(estimate.confidence)
    return (
        f"{format_signed(estimate.value)} ({level} CI {format_share(estimate.low, 3)} to "
        f"{format_share(estimate.high, 3)})"
    )


def _decided(report: Row) -> str:
    """Return a swap's decision and its reasons."""
    (decision,) = DECISIONS.read_records(report)
    parts = [each for each in decision.components if each.role == "primary"]
    text = f"{decision.status}: {decision_headline(decision, report)}"
    if decision.status == SwapStatus.APPROVE:
        families = join_names(each.name for each in parts if each.kind == "abs-vsr")
        assert decision.guard_margin is not None
        return (
            f"{text}. Only labels of {families} were compared. A single contrast may be worse by less than "
            f"{format_share(decision.guard_margin)}"
        )
    worse = (
        f"{swap_part_label(each.kind, each.name)} ({format_signed(each.value)}, margin {format_share(each.margin)})"
        for each in parts
        if each.status != Status.PASS
    )
    return f"{text}. Worse: {join_names(worse)}"
