"""Overview: a report in its first lines: what came of each judge, and where its answers are from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgefixtures.checks.approval import DECISIONS, lead
from judgefixtures.checks.coverage import kind_of
from judgefixtures.checks.four_cells import FOUR_CELLS
from judgefixtures.checks.sections import ResultRow, Section, View, ordered, read_results
from judgefixtures.checks.sensitivity import FEW
from judgefixtures.checks.shift_table import CONTRASTS
from judgefixtures.findings import Finding, Row, is_of_control, rows_of_parts
from judgefixtures.material.diction import wording_of
from judgefixtures.numbers.estimate import SEVERITY, Status, several

KEY = ("judge", "baseline", "dataset", "name")
# What becomes of a check, worst first, in the words of a sentence about several.
BECAME = {
    Status.FAIL: "failed",
    Status.ERROR: "could not be measured",
    Status.INCONCLUSIVE: "undecided",
    Status.PASS: "passed",
}
KINDS = {"simulated": " (a simulated judge)", "imported": " (imported answers)", "asked": ""}
OPEN = (Status.FAIL, Status.ERROR, Status.INCONCLUSIVE)  # neither passed nor skipped
SAYS = {
    Status.FAIL: "at least one limit was demonstrably broken",
    Status.ERROR: "what is not measured is not passed",
    Status.INCONCLUSIVE: "these answers cannot tell; each says why, and what would",
    Status.PASS: "it kept to every limit that was checked",
}
LAPSED = "what was waived is answered for no longer: a waiver has expired"
NO_CHECK = "none of {count} applies, so that nothing was decided, and nothing passed"
MOST_TOLD = 3  # reasons for which no check applies
MISSING = "ERROR: not all that was to run came to a result, and what is not measured is not passed: see the warnings"
ANSWERED_FOR = "what did not pass is waived: somebody answers for it"


def _sum_up_findings(findings: Sequence[Finding]) -> list[ResultRow]:
    """Return what each item found, in a sentence."""
    rows = (
        ResultRow.copied(
            each,
            waived=each.waived is not None,
            decided_by=rows_of_parts(each.decided_by),
            text=each.plain,
            message="; ".join(each.reasons),
        )
        for each in findings
    )
    return ordered(rows, KEY)


def _tell_overview(report: Row, _view: View) -> list[str]:
    return [*headlines(report), *(f"  {line}" for line in ended(report)), *source(report)]


def headlines(report: Row) -> list[str]:
    """Return what came of each candidate and of each judge, a sentence each."""
    decided = [f"{decision.status}: {lead(decision, report)}" for decision in DECISIONS.read_records(report)]
    return [*opening(report), *decided, *gates(report)]


def opening(report: Row) -> list[str]:
    """Return what comes before what was found: that something is missing, or that nothing of it decides anything."""
    rows = read_results(report)
    if report.get("status") == Status.ERROR and not any(row.status == Status.ERROR for row in rows):
        return [MISSING]
    alone = not report.get("decisions") and all(row.baseline is not None for row in rows)
    if alone and report.get("status") == Status.NOT_APPLICABLE:
        return [f"{Status.NOT_APPLICABLE}: {_none_applies(rows)}"]
    return []


def ended(report: Row) -> list[str]:
    """Return by name what came to no finding of its own because of its test, a line for each thing that ended it."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for row in read_results(report):
        if row.of_test:
            who = row.judge if row.baseline is None else f"{row.judge} against {row.baseline}"
            names.setdefault((who, row.dataset, row.message), []).append(row.name)
    return [f"ERROR: {who} on {dataset}: {', '.join(found)}: {why}" for (who, dataset, why), found in names.items()]


def gates(report: Row) -> list[str]:
    """Return what came of each judge by itself, a sentence each."""
    rows = [row for row in read_results(report) if row.baseline is None]
    close: dict[str, list[float]] = {}
    called: dict[str, str] = {}
    for row in CONTRASTS.read_records(report):
        if row.sentences and row.movable:
            close.setdefault(row.judge, []).append(row.movable.value)
            called[row.judge] = wording_of(row.outcome).one
    # A PASS leaves open what hardly any pair was a close call for.
    far = {judge for judge, shares in close.items() if max(shares) < FEW}
    return [
        _headline(
            name + KINDS[kind_of(name, report["judges"].get(name, {}))],
            [row for row in rows if row.judge == name],
            f", but hardly any {called[name]} was a close call for it" if name in far else "",
        )
        for name in dict.fromkeys(row.judge for row in rows)
    ]


def others(report: Row) -> list[ResultRow]:
    """Return what checks found that have no row of a contrast or of four cells: of accuracy, of plans."""
    known = {(row.judge, row.dataset, row.contrast) for row in CONTRASTS.read_records(report)}
    known |= {(row.judge, row.dataset, row.contrast) for row in FOUR_CELLS.read_records(report)}
    return [
        row for row in read_results(report) if row.baseline is None and (row.judge, row.dataset, row.name) not in known
    ]


def _none_applies(rows: Sequence[ResultRow]) -> str:
    """Return that nothing was decided, with the first reasons for it."""
    why = [*dict.fromkeys(row.message for row in rows if row.message)]
    told = "; ".join(why[:MOST_TOLD]) or "each says why"
    more = f"; and {len(why) - MOST_TOLD} more" if len(why) > MOST_TOLD else ""
    return f"{NO_CHECK.format(count=several(len(rows), 'check'))}: {told}{more}"


def _headline(who: str, rows: Sequence[ResultRow], caveat: str) -> str:
    """Return what came of all checks of a judge."""
    counts = Counter(Status(row.status) for row in rows if not row.waived)
    waived = sum(row.waived for row in rows)
    counts.pop(Status.NOT_APPLICABLE, None)
    total = counts.total() + waived
    if not total:
        return f"{Status.NOT_APPLICABLE}: {who}: {_none_applies(rows)}"
    worst = max(counts, key=SEVERITY.index, default=Status.PASS)
    if counts[Status.PASS] == total:
        return (
            f"{worst}: {who} passed {'its one check' if total == 1 else f'all {total} checks'}: {SAYS[worst]}{caveat}"
        )
    unread = [row for row in rows if is_of_control(row.decided_by)]
    by_control = Counter(Status(row.status) for row in unread)
    rest = counts - by_control
    parts = [f"{by_control[status]} {word} by its control" for status, word in BECAME.items() if by_control[status]]
    parts += [f"{rest[status]} {word}" for status, word in BECAME.items() if rest[status]]
    parts += [f"{waived} waived"] if waived else []
    said = "; ".join([*dict.fromkeys(row.text for row in unread), *_says(rest, rows, alone=not unread)])
    return f"{worst}: {who}: of {several(total, 'check')} {', '.join(parts)}: {said}"


def _says(counts: Mapping[Status, int], rows: Sequence[ResultRow], *, alone: bool) -> Iterator[str]:
    """Yield what came of those checks of a judge that its control did not decide; where that did, nothing of a PASS."""
    failed = [row for row in rows if row.status == Status.FAIL and not row.waived and not is_of_control(row.decided_by)]
    if failed and all(row.lapsed for row in failed):
        yield LAPSED
    elif worst := [text for status, text in SAYS.items() if counts[status] and status is not Status.PASS]:
        yield worst[0]
    elif alone:
        yield ANSWERED_FOR


def source(report: Row, *, of_this_run: bool = True) -> list[str]:
    """Say from where the answers are, judges of the same days together, and of which judges nobody's model is.

    `of_this_run`: also how many of them this very run asked for, which its replay says otherwise.
    """
    recorded: Row = report.get("run", {}).get("recorded", {})
    said: dict[str, list[str]] = {}
    for judge, days in recorded.items():
        asked = report.get("asked", {}).get("now", {}).get(judge, 0) if of_this_run else None
        said.setdefault(_from(days, asked), []).append(judge)
    lines = [f"answers{' of ' + ', '.join(judges) if len(said) > 1 else ''}: {text}" for text, judges in said.items()]
    simulated = [name for name, identity in report["judges"].items() if kind_of(name, identity) == "simulated"]
    if simulated and report.get("decisions"):  # elsewhere every headline says it of its judge
        lines.append(f"simulated, nobody's model: {', '.join(simulated)}")
    return lines


def _from(days: Row, asked: int | None) -> str:
    """Say from where a judge's answers are: recordings of some days, or asked in this run; None: that is left out."""
    first, last = days["first"], days["last"]
    until = f" to {last}" if last != first else ""
    recordings = "recordings" if first is None else f"recordings of {first}{until}"
    recordings += " (some without a date)" if days["undated"] and first else ""
    if asked is None:
        return recordings
    if asked and first is None and not days["undated"]:
        return f"{asked} asked in this run, and none recorded"
    if asked:
        return f"{asked} were asked in this run, any others are from {recordings}"
    return f"replayed from {recordings}; nobody was asked in this run"


RESULTS = Section("results", ResultRow, _sum_up_findings, _tell_overview)
