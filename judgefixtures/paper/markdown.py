"""Markdown page of the paper's tables, and its terminal summary."""

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from judgefixtures.models.published import PAPER, PublishedExperiment, experiments
from judgefixtures.statistics import Estimate, format_share, format_signed, interval_text
from judgefixtures.util.jinja import load_template
from judgefixtures.util.secrets import safe_message
from judgefixtures.util.texts import make_one_line

from .replication import PaperCell, PaperRecordings, PaperResults, PublishedComparison, Quantity

NOTHING = "-"
TEMPLATE = Path(__file__).parent / "page.md.jinja"


def paper_page(paper: PaperResults, pictures: Sequence[str], without: str = "") -> str:
    """Return the page with `pictures`, or why it is `without`."""
    filters = {"published": _published_vsr, "fault": _fault, "plain": _plain, "interval": _interval, "count": _count}
    template = load_template(TEMPLATE, **filters, bare=format_share, signed=format_signed, one_line=make_one_line)
    subjects = [(of, _counts(paper, of)) for of in paper.subjects]
    notes = {"consistency": table_inconsistencies(experiments()), "gemini": gemini_note(experiments())}
    values = {"subjects": subjects, "pictures": pictures, "without": without, "total": count_equal(paper), **notes}
    return str(template.render(paper=paper, source=PAPER, **values))


def _interval(estimate: Estimate) -> str:
    return interval_text(estimate)


def _count(share: Estimate | None) -> str:
    return f"{share.value * share.n:.10g} of {share.n}" if share else NOTHING


def describe_paper(paper: PaperResults) -> list[str]:
    """Return terminal lines on judges, differences and missing recordings."""
    lacking = [each.of for each in paper.unrecorded]
    text = [_describe_subject(paper, of) for of in paper.subjects if of not in lacking]
    text += [_difference(each) for each in paper.differing]
    text += [f"{each.of.title}: no recordings. Record them: {each.command}" for each in paper.unrecorded]
    text += [_fault(cell) for cell in paper.faults]
    text.append(count_equal(paper))
    return [safe_message(make_one_line(line)) for line in text]


def count_equal(paper: PaperResults) -> str:
    """Return how many requested published numbers are equal."""
    comparisons = [each for each in paper.comparisons if each.of.asked]
    if not comparisons:
        return "The paper has no numbers about these judges on these datasets."
    rates, shifts = (_equal(comparisons, quantity) for quantity in ("rate", "VSR"))
    return f"{rates} published first-selection rates and {shifts} published VSRs equal the measured numbers."


def _describe_subject(paper: PaperResults, of: PaperRecordings) -> str:
    own = [each for each in paper.comparisons if each.of == of]
    if not own:
        return f"{of.title}: no published numbers"
    within = "" if of.is_simulated else f"; {_within(own)} published numbers lie within the interval"
    return f"{of.title}: {_equal(own, 'rate')} rates and {_equal(own, 'VSR')} VSRs are equal{within}"


def _counts(paper: PaperResults, of: PaperRecordings) -> tuple[str, str, str]:
    own = [each for each in paper.comparisons if each.of == of]
    return (_equal(own, "rate"), _equal(own, "VSR"), _within(own)) if own else (NOTHING,) * 3


def _equal(comparisons: Iterable[PublishedComparison], quantity: Quantity) -> str:
    own = [each for each in comparisons if each.quantity == quantity]
    return f"{sum(each.is_equal for each in own)} of {len(own)}"


def _within(comparisons: Sequence[PublishedComparison]) -> str:
    return f"{sum(each.is_within for each in comparisons)} of {len(comparisons)}"


def _difference(each: PublishedComparison) -> str:
    format_value = format_share if each.quantity == "rate" else format_signed
    measured = format_value(each.measured.value) if each.measured else NOTHING
    return (
        f"DIFFERENT: {each.of.title}: {each.quantity} of {'/'.join(each.labels)} is {measured}, published is "
        f"{format_value(each.published / 100)}"
    )


def _fault(cell: PaperCell) -> str:
    kind = "not measured" if cell.vsr is None else "in doubt"
    return f"{cell.of.name} on {cell.of.dataset}: {cell.contrast.id} is {kind}: {cell.fault}"


def _published_vsr(cell: PaperCell) -> str:
    if cell.published_vsr is None or cell.of.experiment is None:
        return NOTHING
    by_rates = cell.of.experiment.shift_by_rates(cell.labels)
    text = format_signed(cell.published_vsr / 100)
    return text if by_rates == cell.published_vsr else f"{text} (its rates give {format_signed(by_rates / 100)})"


def table_inconsistencies(published: Sequence[PublishedExperiment]) -> str:
    """Return published VSRs that differ from their rates.

    >>> table_inconsistencies(experiments())
    'All 17 published VSRs are the differences of the published rates.'
    """
    everything = [(each, labels, shift) for each in published for labels, shift in each.shifts.items()]
    wrong = [
        f"{each.judge} on {each.dataset}, {'/'.join(labels)}: {format_signed(shift / 100)} is published, "
        f"{format_signed(each.shift_by_rates(labels) / 100)} by the rates"
        for each, labels, shift in everything
        if shift != each.shift_by_rates(labels)
    ]
    if not wrong:
        return f"All {len(everything)} published VSRs are the differences of the published rates."
    return (
        f"{len(wrong)} of {len(everything)} published VSRs are not the difference of the published rates: "
        f"{'; '.join(wrong)}."
    )


def gemini_note(published: Sequence[PublishedExperiment]) -> str:
    """Return where Table 1 contradicts the text on Gemini's VSR.

    >>> gemini_note(experiments()).partition(":")[0]
    "Section 3 calls Gemini-2.5-Flash's VSRs of provenance labels smaller than GPT-4o's"
    """
    of = {(each.judge, each.dataset): each.shifts for each in published}
    own = {dataset: shifts for (judge, dataset), shifts in of.items() if judge == "Gemini-2.5-Flash"}
    both = [
        (f"{dataset} {'/'.join(labels)}", shift, of["GPT-4o", dataset][labels])
        for dataset, shifts in own.items()
        for labels, shift in shifts.items()
        if "new" not in labels
    ]
    larger = [f"{what} {format_signed(a / 100)} against {format_signed(b / 100)}" for what, a, b in both if a > b]
    return (
        "Section 3 calls Gemini-2.5-Flash's VSRs of provenance labels smaller than GPT-4o's: in Table 1 "
        f"{len(larger)} of {len(both)} are larger ({', '.join(larger)})."
    )


def _plain(text: str) -> str:
    escaped = html.escape(safe_message(make_one_line(text)), quote=False)
    return "".join(f"\\{sign}" if sign in "\\`*_[]|!#$~" else sign for sign in escaped)
