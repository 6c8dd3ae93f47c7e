"""Overview: the first lines of a report."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgefixtures.checks.close_pairs import FEW
from judgefixtures.checks.four_cells import FOUR_CELLS
from judgefixtures.checks.sections import DisplayOptions, Section, read_results, sorted_rows
from judgefixtures.models.check_rows import ItemResultRow
from judgefixtures.models.findings import Finding, Row, decided_by_control
from judgefixtures.models.vocabulary import wording_of
from judgefixtures.statistics.estimate import SEVERITY, Status
from judgefixtures.util.patterns import load_table

from .contrast_table import CONTRASTS
from .messages import MESSAGES
from .swap_coverage import answer_origin
from .swap_section import DECISIONS, decision_headline

KEY = ("judge", "baseline", "dataset", "name")
SAYS = {Status(name): text for name, text in load_table("checks")["says"].items()}
KINDS = {"simulated": " (a simulated judge)", "imported": " (imported answers)", "asked": ""}
OPEN = (Status.FAIL, Status.ERROR, Status.INCONCLUSIVE)  # neither passed nor skipped
LAPSED = "a waiver has expired: renew it or fix the check"
MISSING = "ERROR: some judge items have no result, so the run did not pass: see the warnings"
ANSWERED_FOR = "every check that did not pass is waived"


def _sum_up_findings(findings: Sequence[Finding]) -> list[ItemResultRow]:
    def row_of(finding: Finding) -> ItemResultRow:
        message, waived = "; ".join(finding.reasons), finding.waived is not None
        return ItemResultRow.from_sources(finding, waived=waived, text=finding.plain, message=message)

    return sorted_rows(map(row_of, findings), KEY)


def _tell_overview(report: Row, _view: DisplayOptions) -> list[str]:
    return [*headlines(report), *(f"  {line}" for line in unfinished_items(report)), *describe_sources(report)]


def headlines(report: Row) -> list[str]:
    """Return a sentence for each candidate and judge."""
    decided = [f"{each.status}: {decision_headline(each, report)}" for each in DECISIONS.read_records(report)]
    return [*missing_results_line(report), *decided, *judge_results(report)]


def missing_results_line(report: Row) -> list[str]:
    """Return a line if results are missing or none applies."""
    rows = read_results(report)
    if report.get("status") == Status.ERROR and not any(row.status == Status.ERROR for row in rows):
        return [MISSING]
    alone = not report.get("decisions") and all(row.baseline is not None for row in rows)
    if alone and report.get("status") == Status.NOT_APPLICABLE:
        return [f"{Status.NOT_APPLICABLE}: {MESSAGES.none_applies(rows)}"]
    return []


def unfinished_items(report: Row) -> list[str]:
    """Return the items that their tests ended, a line per cause."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for row in read_results(report):
        if row.of_test:
            who = row.judge if row.baseline is None else f"{row.judge} against {row.baseline}"
            names.setdefault((who, row.dataset, row.message), []).append(row.name)
    return [f"ERROR: {who} on {dataset}: {', '.join(items)}: {why}" for (who, dataset, why), items in names.items()]


def judge_results(report: Row) -> list[str]:
    """Return a sentence for each judge."""
    rows = [row for row in read_results(report) if row.baseline is None]
    close: dict[str, list[float]] = {}
    called: dict[str, str] = {}
    for row in CONTRASTS.read_records(report):
        if row.sentences and row.movable:
            close.setdefault(row.judge, []).append(row.movable.value)
            called[row.judge] = wording_of(row.outcome).one
    # A PASS says little if almost no pair could move.
    far = {judge for judge, shares in close.items() if max(shares) < FEW}
    return [
        _headline(
            name + KINDS[answer_origin(name, report["judges"].get(name, {}))],
            [row for row in rows if row.judge == name],
            f", but almost no {called[name]} was close for this judge" if name in far else "",
        )
        for name in dict.fromkeys(row.judge for row in rows)
    ]


def other_results(report: Row) -> list[ItemResultRow]:
    """Return the results without contrast rows."""
    own = [row for row in read_results(report) if row.baseline is None]
    known = {(row.judge, row.dataset, row.contrast) for row in CONTRASTS.read_records(report)}
    known |= {(row.judge, row.dataset, row.contrast) for row in FOUR_CELLS.read_records(report)}
    return [row for row in own if (row.judge, row.dataset, row.name) not in known]


def _headline(who: str, rows: Sequence[ItemResultRow], caveat: str) -> str:
    counts = Counter(Status(row.status) for row in rows if not row.waived)
    waived = sum(row.waived for row in rows)
    counts.pop(Status.NOT_APPLICABLE, None)
    total = counts.total() + waived
    if not total:
        return f"{Status.NOT_APPLICABLE}: {who}: {MESSAGES.none_applies(rows)}"
    worst = max(counts, key=SEVERITY.index, default=Status.PASS)
    if counts[Status.PASS] == total:
        return MESSAGES.judge_passed(who, total, caveat)
    unread = [row for row in rows if decided_by_control(row.decided_by)]
    by_control = Counter(Status(row.status) for row in unread)
    rest = counts - by_control
    sentences = [*dict.fromkeys(row.text for row in unread), *_says(rest, rows, alone=not unread)]
    return MESSAGES.judge(who, worst, total, by_control, rest, waived, sentences)


def _says(counts: Mapping[Status, int], rows: Sequence[ItemResultRow], *, alone: bool) -> Iterator[str]:
    own = [row for row in rows if not row.waived and not decided_by_control(row.decided_by)]
    failed = [row for row in own if row.status == Status.FAIL]
    if failed and all(row.lapsed for row in failed):
        yield LAPSED
    elif worst := [text for status, text in SAYS.items() if counts[status] and status is not Status.PASS]:
        yield worst[0]
    elif alone:
        yield ANSWERED_FOR


def describe_sources(report: Row, *, of_this_run: bool = True) -> list[str]:
    """Return the sources of answers, and simulated judges.

    `of_this_run`: include the number of new answers.
    """
    recorded: Row = report.get("run", {}).get("recorded", {})
    judges_by_text: dict[str, list[str]] = {}
    for judge, days in recorded.items():
        calls = report.get("asked", {}).get("now", {}).get(judge, 0) if of_this_run else None
        judges_by_text.setdefault(MESSAGES.answers_from(days, calls), []).append(judge)
    lines = [f"answers of {', '.join(judges)}: {text}" for text, judges in judges_by_text.items()]
    if len(lines) == 1:
        lines = [f"answers: {text}" for text in judges_by_text]
    simulated = [name for name, identity in report["judges"].items() if answer_origin(name, identity) == "simulated"]
    if simulated and report.get("decisions"):  # elsewhere every headline says it of its judge
        lines.append(f"simulated judges, no models: {', '.join(simulated)}")
    return lines


RESULTS = Section("results", ItemResultRow, _sum_up_findings, _tell_overview)
