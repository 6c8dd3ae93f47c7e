"""Expenses: the cost of a verdict, compared with the baseline's."""

from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from judgefixtures.client.costs import price_of
from judgefixtures.config import JudgeTable
from judgefixtures.models.check_rows import Expense
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.swap_rows import CallsPerVerdict, ExpenseRow
from judgefixtures.models.usage import Usage
from judgefixtures.statistics.estimate import Estimate

Arms = Sequence[Sequence[Judgment]]
Price = Callable[[JudgeTable, Usage], float | None]


def compare_expenses(
    candidate: Arms, baseline: Arms, tables: Sequence[JudgeTable], confidence: float = 0.90
) -> ExpenseRow:
    """Return the cost of a verdict for both judges, with paired t intervals.

    Costs are averaged over arms. A pair needs known token counts.
    """

    def expense(price: Price) -> Expense | None:
        sides = [_per_pair(arms, table, price) for arms, table in zip((candidate, baseline), tables, strict=True)]
        known = [(ours, theirs) for ours, theirs in zip(*sides, strict=True) if ours is not None and theirs is not None]
        if not known:
            return None
        means = [fmean(side) for side in zip(*known, strict=True)]
        return Expense(means[0], means[1], len(known), _difference([a - b for a, b in known], confidence))

    return ExpenseRow(
        calls=CallsPerVerdict(judge=calls_a_verdict(candidate), baseline=calls_a_verdict(baseline)),
        input_tokens=expense(lambda _, usage: usage.input_tokens),
        output_tokens=expense(lambda _, usage: usage.output_tokens),
        reasoning_tokens=expense(lambda _, usage: usage.reasoning_tokens),
        usd=expense(price_of),
    )


def calls_a_verdict(arms: Arms) -> int:
    """Return the number of sequential calls per verdict."""
    return 1 + any(judgment.planned is not None and judgment.planned.usage is not None for judgment in arms[0])


def _per_pair(arms: Arms, table: JudgeTable, price: Price) -> list[float | None]:
    costs: list[float | None] = []
    for judgments in zip(*arms, strict=True):
        spent = [_of_verdict(judgment, table, price) for judgment in judgments]
        known = [cost for cost in spent if cost is not None]
        costs.append(fmean(known) if len(known) == len(spent) else None)
    return costs


def _of_verdict(judgment: Judgment, table: JudgeTable, price: Price) -> float | None:
    usages = [judgment.reply.usage]
    if judgment.planned is not None and judgment.planned.usage is not None:
        usages.append(judgment.planned.usage)
    prices = [price(table, usage) for usage in usages]
    known = [each for each in prices if each is not None]
    return sum(known) if len(known) == len(prices) else None


def _difference(scores: Sequence[float], confidence: float) -> Estimate | None:
    n = len(scores)
    if n < 2:
        return None
    from scipy.special import stdtrit

    value = fmean(scores)
    width = float(stdtrit(n - 1, (1 + confidence) / 2)) * stdev(scores) / n**0.5
    return Estimate(value, value - width, value + width, confidence, n)
