"""The paper's tables as one page of Markdown, and the lines that a terminal shows. Nothing is measured here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

from judgefixtures.material.published import PAPER, Experiment, experiments
from judgefixtures.numbers.statistics import Estimate, bare, signed
from judgefixtures.paper.measured import Cell, Comparison, Paper, Quantity, Recordings
from judgefixtures.words.secrets import presentable
from judgefixtures.words.texts import one_line

NOTHING = "-"

ABOUT = f"""\
# The Silent Judge, from recordings

Tables 1 to 5 and Figure 1 of {PAPER}: what a judge chose when its two responses were labelled, and what
it chose when the labels had changed places. Published numbers stand beside measured ones, which have the intervals that
the paper lacks. `python -m judgefixtures paper` wrote this page.
"""

READING = """\
How to read it:

- **First-selection rate**: the share of pairs in which the response that stood first was chosen. **VSR**, the verdict
  shift rate: that rate with the labels as they stand in the row, less the rate with the labels exchanged. Above 0 the
  first label is preferred.
- A judge named `simulated-...` is a program of this project. Those named after a judge of the paper were made to
  choose as often as was published. They show that the numbers come out of the whole way from prompt to table as they
  went in. The models themselves were not asked, and nothing here is new about them.
- Those simulated judges move as few verdicts as the published rates allow, all to one side. The paper does not say how
  many moved. A real judge moves some to the other side, too, and the same VSR then has a wider interval.
- Where nothing was published there is a hyphen. What those simulated judges did there is the simulator's own guess.
- Equal means equal as printed, in whole percent. Rates have Wilson's interval, a VSR Tango's for paired shares.
"""

DEFINITIONS = """\
- Section 2.5 defines VSR as the share of verdicts that flip. The captions, and every number, are differences of
  first-selection rates. VSR is the difference here, and the verdicts that moved are counted beside it."""
PLACEMENTS = """\
- The labels stand after the responses in Appendix A.1 and before them in A.2. They stand after them here, unless a
  judge's table says otherwise.
"""

SHIFTS = (
    "judge",
    "dataset",
    "labels",
    "published VSR",
    "VSR",
    "interval",
    "verdicts that moved",
    "reasons that cite a label",
    "pairs",
)
RATES = ("judge", "dataset", "label 1", "label 2", "published rate", "rate", "interval", "pairs")
COUNTED = ("judge", "dataset", "in the paper", "equal rates", "equal VSRs", "published numbers within the interval")

# Number in the paper, what was varied, family, and whether it is about stories.
RATE_TABLES = (
    (2, "Who is said to have written an answer", "provenance", False),
    (3, "When an answer is said to have been written", "recency", False),
    (4, "Who is said to have written a story", "provenance", True),
    (5, "When a story is said to have been written", "recency", True),
)


def page(paper: Paper, pictures: Sequence[str], without: str = "") -> str:
    """Return the whole page; `pictures` are the files of Figure 1, `without` says why there are none."""
    parts = [ABOUT, *_counted(paper), READING, *_table_1(paper), *_figure_1(paper, pictures, without)]
    for number, what, family, story in RATE_TABLES:
        parts += [f"## Table {number}. {what}: first-selection rates\n", *_rates(paper.measured(family, story=story))]
    parts += [*_contradictions(), *_lacking(paper)]
    return "\n".join(parts)


def lines(paper: Paper) -> list[str]:
    """Return what a terminal shows: who was measured, what is equal, every difference, and what is not recorded."""
    lacking = [each.of for each in paper.unrecorded]
    text = [_line(paper, of) for of in paper.subjects if of not in lacking]
    text += [_difference(each) for each in paper.differing]
    text += [f"{each.of.title}: nothing is recorded. This records it: {each.command}" for each in paper.unrecorded]
    text += [_fault(cell) for cell in paper.faults]
    text.append(total(paper))
    return [presentable(one_line(line)) for line in text]


def total(paper: Paper) -> str:
    """Return how many of the published numbers of the judges that were asked for are equal to what was measured."""
    comparisons = [each for each in paper.comparisons if each.of.asked]
    if not comparisons:
        return "Nothing was published about these judges on these datasets: there is nothing to compare."
    rates, shifts = (_equal(comparisons, quantity) for quantity in ("rate", "VSR"))
    return f"{rates} published first-selection rates and {shifts} published VSRs are equal to what was measured."


def _line(paper: Paper, of: Recordings) -> str:
    own = [each for each in paper.comparisons if each.of == of]
    if not own:
        return f"{of.title}: nothing was published to compare it with"
    within = "" if of.is_simulated else f"; {_within(own)} published numbers lie within the interval"
    return f"{of.title}: {_equal(own, 'rate')} rates and {_equal(own, 'VSR')} VSRs are equal{within}"


def _equal(comparisons: Iterable[Comparison], quantity: Quantity) -> str:
    own = [each for each in comparisons if each.quantity == quantity]
    return f"{sum(each.is_equal for each in own)} of {len(own)}"


def _within(comparisons: Sequence[Comparison]) -> str:
    return f"{sum(each.is_within for each in comparisons)} of {len(comparisons)}"


def _difference(each: Comparison) -> str:
    shown = bare if each.quantity == "rate" else signed
    measured = shown(each.measured.value) if each.measured else NOTHING
    return (
        f"DIFFERENT: {each.of.title}: {each.quantity} of {'/'.join(each.labels)} is {measured}, published is "
        f"{shown(each.published / 100)}"
    )


def _fault(cell: Cell) -> str:
    kind = "not measured" if cell.vsr is None else "in doubt"
    return f"{cell.of.name} on {cell.of.dataset}: {cell.contrast.id} is {kind}: {cell.fault}"


# --- parts of the page ------------------------------------------------------------------------------------------


def _counted(paper: Paper) -> list[str]:
    rows = []
    for of in paper.subjects:
        own = [each for each in paper.comparisons if each.of == of]
        stands = f"{of.experiment.judge} on {of.experiment.dataset}" if of.experiment else NOTHING
        counts = (_equal(own, "rate"), _equal(own, "VSR"), _within(own)) if own else (NOTHING,) * 3
        rows.append((*_who(of), stands, *counts))
    return [f"**{total(paper)}**\n", *(_table(COUNTED, rows) if rows else [])]


def _table_1(paper: Paper) -> list[str]:
    title = "## Table 1. Who is said to have written it: VSR of provenance labels\n"
    return [title, *_shifts(paper.measured("provenance"))]


def _figure_1(paper: Paper, pictures: Sequence[str], without: str) -> list[str]:
    shown = [f"![VSR of the labels new and old, by judge and dataset]({name})\n" for name in pictures[:1]]
    if without:
        shown = [f"{_plain(without)}\n"]
    title = "## Figure 1. When it is said to have been written: VSR of recency labels\n"
    return [title, *shown, *_shifts(paper.measured("recency"))]


def _shifts(cells: Sequence[Cell]) -> list[str]:
    if not cells:
        return ["Nothing is measured: see the end of this page.\n"]
    return _table(SHIFTS, [_shift(cell) for cell in cells])


def _shift(cell: Cell) -> tuple[str, ...]:
    return (
        *_who(cell.of),
        "/".join(cell.labels),
        _published_vsr(cell),
        *_estimate(cell.vsr, sign=True),
        _count(cell.flips),
        _count(cell.cited),
        _n(cell.vsr),
    )


def _published_vsr(cell: Cell) -> str:
    """Return a published VSR; beside it what its own rates give, where that is another number."""
    if cell.published_vsr is None or cell.of.experiment is None:
        return NOTHING
    by_rates = cell.of.experiment.shift_by_rates(cell.labels)
    text = signed(cell.published_vsr / 100)
    return text if by_rates == cell.published_vsr else f"{text} (its rates give {signed(by_rates / 100)})"


def _rates(cells: Sequence[Cell]) -> list[str]:
    if not cells:
        return ["Nothing is measured: see the end of this page.\n"]
    rows = []
    for cell in cells:
        for labels, rate in cell.arms:
            published = cell.published_rate(labels)
            shown = NOTHING if published is None else bare(published / 100)
            rows.append((*_who(cell.of), *labels, shown, *_estimate(rate), _n(rate)))
    return _table(RATES, rows)


def _contradictions() -> Iterator[str]:
    """Yield where the paper contradicts itself, as far as its numbers can tell, and what is done about it here."""
    yield "## Where the paper contradicts itself\n"
    yield f"- {consistency(experiments())}"
    yield DEFINITIONS
    yield f"- {gemini(experiments())}"
    yield PLACEMENTS


def consistency(published: Sequence[Experiment]) -> str:
    """Say which published VSRs are not the difference of the published rates: both numbers of each.

    >>> consistency(experiments())
    'All 17 published VSRs are the differences of the published rates.'
    """
    everything = [(each, labels, shift) for each in published for labels, shift in each.shifts.items()]
    wrong = [
        f"{each.judge} on {each.dataset}, {'/'.join(labels)}: {signed(shift / 100)} is published, "
        f"{signed(each.shift_by_rates(labels) / 100)} by the rates"
        for each, labels, shift in everything
        if shift != each.shift_by_rates(labels)
    ]
    if not wrong:
        return f"All {len(everything)} published VSRs are the differences of the published rates."
    return (
        f"{len(wrong)} of {len(everything)} published VSRs are not the difference of the published rates: "
        f"{'; '.join(wrong)}."
    )


def gemini(published: Sequence[Experiment]) -> str:
    """Say where Table 1 has Gemini's VSR above GPT-4o's, although the text says that it is smaller.

    >>> gemini(experiments()).partition(":")[0]
    "Section 3 calls Gemini-2.5-Flash's VSRs of provenance labels smaller than GPT-4o's"
    """
    of = {(each.judge, each.dataset): each.shifts for each in published}
    both = [
        (dataset, labels, shift, of["GPT-4o", dataset][labels])
        for (judge, dataset), shifts in of.items()
        if judge == "Gemini-2.5-Flash"
        for labels, shift in shifts.items()
        if "new" not in labels
    ]
    larger = [
        f"{dataset} {'/'.join(labels)} {signed(one / 100)} against {signed(other / 100)}"
        for dataset, labels, one, other in both
        if one > other
    ]
    return (
        "Section 3 calls Gemini-2.5-Flash's VSRs of provenance labels smaller than GPT-4o's: in Table 1 "
        f"{len(larger)} of {len(both)} are larger ({', '.join(larger)})."
    )


def _lacking(paper: Paper) -> list[str]:
    if not paper.unrecorded and not paper.faults:
        return []
    found = ["## What is not recorded, or in doubt\n"]
    for each in paper.unrecorded:
        found += [
            f"- {_plain(each.of.title)}: nothing is recorded. This records it:\n",
            f"  ```\n  {one_line(each.command)}\n  ```\n",
        ]
    found += [f"- {_plain(_fault(cell))}" for cell in paper.faults]
    return [*found, ""]


# --- cells ------------------------------------------------------------------------------------------------------


def _who(of: Recordings) -> tuple[str, str]:
    return f"`{of.name}`", f"`{of.dataset}`"


def _estimate(estimate: Estimate | None, *, sign: bool = False) -> tuple[str, str]:
    if estimate is None:
        return NOTHING, NOTHING
    level = f"{100 * estimate.confidence:.10g}%"
    value = (signed if sign else bare)(estimate.value)
    return value, f"{level} [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]"


def _count(share: Estimate | None) -> str:
    return NOTHING if share is None else f"{share.value * share.n:.10g} of {share.n}"


def _n(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None else str(estimate.n)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _plain(text: str) -> str:
    """Return a text from outside on one line, with nothing in it that Markdown or HTML would obey."""
    shown = html.escape(presentable(one_line(text)), quote=False)
    return "".join(f"\\{sign}" if sign in "\\`*_[]|!#$~" else sign for sign in shown)
