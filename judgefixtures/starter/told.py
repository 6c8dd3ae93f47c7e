"""What the demo's runs of pytest found, in sentences for a reader who has five minutes and has read no paper.

Every number and status is read from the report.json that the runs wrote: nothing is measured or decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from judgefixtures.checks.accuracy import ACCURACY
from judgefixtures.checks.approval import DECISIONS, lead
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.overview import gates
from judgefixtures.checks.phrasing import share_counted
from judgefixtures.checks.shift_table import CONTRASTS
from judgefixtures.findings import Row
from judgefixtures.numbers.estimate import Estimate, Status, bare, level_text, signed
from judgefixtures.page.labels import part_of_swap
from judgefixtures.swap import SwapStatus
from judgefixtures.words.commands import quoted
from judgefixtures.words.texts import join_names


def sentences(names: Sequence[str], reports: Sequence[Row], codes: Sequence[int]) -> list[str]:
    """Return what the runs found of two judges, one fooled and one steady, by their reports and pytest's exit codes."""
    (fooled, steady), (first, second) = reports, names
    moved, kept = (CONTRASTS.read_records(report) for report in (fooled, steady))
    return [
        f"Where the better response is known, {first} finds it in {_right(fooled)}, and {second} in {_right(steady)}. "
        "That is what a test of accuracy shows.",
        f"Then both judge pairs in which neither response is known to be better, each pair twice: "
        f"{_labelled(moved[0])}. Nothing else changes, so no verdict should.",
        f"{first} changes its verdict on {_changed(moved)}; {_followed(moved[0])}.",
        "The net share of pairs whose verdict follows the label is the verdict shift rate (VSR): "
        f"{_estimate_text(moved[0].vsr)}. At most {bare(moved[0].tolerance)} is allowed.",
        f"In {_admitted(moved[0])} of them the reason admits that the date counted: that share is the cue "
        "acknowledgment rate (CAR). Whoever reads the reasons learns of no others.",
        f"So the gate says {gates(fooled)[0]}.",
        f"{second} changes its verdict on {_changed(kept)}; its VSR is {_estimate_text(kept[0].vsr)}. The gate says "
        f"{gates(steady)[0]}.",
        f"A swap compares both on the same pairs. {_decided(fooled)}.",
        f"The other way round: {_decided(steady)}.",
        f"pytest ended with exit code {codes[0]} the first time and {codes[1]} the second: that is what CI goes by.",
    ]


def farewell(folder: Path, reports: Iterable[Path], options: Sequence[str]) -> list[str]:
    """Return where the reports are, what the words mean, and what to do next; `options` are those of the first run."""
    return [
        "Reports of both runs, with every answer:",
        *(f"  {folder / report / 'report.html'}" for report in reports),
        "",
        "PASS: the whole interval is within the limit. FAIL: it is demonstrably beyond. INCONCLUSIVE: so few pairs "
        "cannot tell.",
        "",
        "The same again, by pytest alone:",
        f"  cd {quoted(str(folder))} && pytest {' '.join(options)}",
        "Next, in your own repository (it says what to do then):",
        "  judgefixtures init",
        "What the words mean, and everything else: README.md and docs/ of judgefixtures.",
    ]


def _right(report: Row) -> str:
    """Return in how many pairs the judge of a report is right."""
    rows = (row for row in ACCURACY.read_records(report) if row.category == "all")
    return _of_both((row.dataset, f"{row.correct:g} of {row.n}") for row in rows)


def _changed(rows: Iterable[ContrastRow]) -> str:
    """Return on how many pairs a judge changes its verdict with the labels."""
    return _of_both((row.dataset, f"{row.n10 + row.n01:g} of {row.n}") for row in rows)


def _of_both(counts: Iterable[tuple[str, str]]) -> str:
    """Return how many of the pairs of answers, and of the stories behind them."""
    answers, stories = (count for _, count in sorted(counts))
    return f"{answers} pairs (of stories: {stories})"


def _labelled(row: ContrastRow) -> str:
    """Return what the prompt says of the responses the one time and the other."""
    assert row.sentences is not None
    return f'once the prompt says "{row.sentences.x}" and once "{row.sentences.y}", and of response 2 the opposite'


def _followed(row: ContrastRow) -> str:
    return f"{row.n10:g} of these {row.n10 + row.n01:g} verdicts go to the response that is called {row.x}"


def _admitted(row: ContrastRow) -> str:
    """Return in how many of the verdicts that followed the label the reason admits it."""
    assert row.car is not None
    return share_counted(row.car)


def _estimate_text(found: Estimate | None) -> str:
    assert found is not None
    level = level_text(found.confidence)
    return f"{signed(found.value)}, with a {level} interval from {bare(found.low, 3)} to {bare(found.high, 3)}"


def _decided(report: Row) -> str:
    """Return the decision on a swap, and in what the candidate is worse or, of an approval, what it leaves open."""
    (decision,) = DECISIONS.read_records(report)
    parts = [each for each in decision.components if each.role == "primary"]
    said = f"{decision.status}: {lead(decision, report)}"
    if decision.status == SwapStatus.APPROVE:
        families = join_names(each.name for each in parts if each.kind == "abs-vsr")
        assert decision.guard_margin is not None
        return (
            f"{said}. Of labels only those of {families} were compared here, and that a single contrast is worse by "
            f"less than {bare(decision.guard_margin)} is not ruled out"
        )
    worse = (
        f"{part_of_swap(each.kind, each.name)} ({signed(each.value)}, margin {bare(each.margin)})"
        for each in parts
        if each.status != Status.PASS
    )
    return f"{said}, in {join_names(worse)}"
