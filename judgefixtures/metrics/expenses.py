"""Expenses: the cost of a verdict, and its ratio to the judge that it is compared with.

The tokens are those that the provider counted. A verdict costs its own call and, for a planning judge, the call that
made its plan. Recordings hold no times, so the number of sequential calls stands in for them.
"""

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
    """Return what a verdict costs both judges, and the paired difference with its t interval over the pairs.

    Arms hold judgments of the same pairs in the same order; a pair's verdicts in several arms are averaged first. A
    pair counts where both providers counted all of its tokens. `tables` are those of candidate and baseline.
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
    """Return how many calls a verdict waits for, one after the other."""
    return 1 + any(judgment.planned is not None and judgment.planned.usage is not None for judgment in arms[0])


def _per_pair(arms: Arms, table: JudgeTable, price: Price) -> list[float | None]:
    """Return what a verdict about each pair costs, averaged over the arms; None where that is not known."""
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
    """Return the mean of the pairs' differences with Student's t interval."""
    n = len(scores)
    if n < 2:
        return None
    from scipy.special import stdtrit

    value = fmean(scores)
    width = float(stdtrit(n - 1, (1 + confidence) / 2)) * stdev(scores) / n**0.5
    return Estimate(value, value - width, value + width, confidence, n)
