"""Costs: what calls will cost at most, what they did cost, and when to stop.

Prices come from genai-prices, or from the judge's own table. An unknown price is None and is shown as unknown,
never as 0. Token estimates before a call take 4 characters per token, with a margin that is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from judgefixtures.config import JudgeTable
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.providers import Usage

CHARACTERS_A_TOKEN = 4
MARGIN = 0.25
BATCH_SHARE = 0.5  # of the price of a call is the price of one in a batch, with every provider that offers them


class BudgetError(JudgeFixturesError):
    """The next call could exceed --judge-max-cost, or its price is not known."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens and money; usd is None where a price or a token count is not known."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    def __add__(self, other: Cost) -> Cost:
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Cost(self.calls + other.calls, self.input_tokens + other.input_tokens,
                    self.output_tokens + other.output_tokens, usd)  # fmt: skip

    def __str__(self) -> str:
        return f"{self.calls} calls, {self.input_tokens} tokens in, {self.output_tokens} out, {money(self.usd)}"


def money(usd: float | None) -> str:
    """Return an amount of US dollars as a person reads it; None is not known, and said to be.

    >>> money(0.25), money(12.5), money(None)
    ('$0.2500', '$12.50', 'price unknown')
    """
    return "price unknown" if usd is None else f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def price_usd(table: JudgeTable, input_tokens: int, output_tokens: int) -> float | None:
    """Return what tokens cost with a judge, in USD, or None where nobody knows.

    >>> from judgefixtures.config import judge_table
    >>> own = judge_table({"provider": "openai", "model": "m", "price": {"input": 2.5, "output": 10.0}})
    >>> price_usd(own, 1_000_000, 100_000)
    3.5
    """
    if table.price is not None:
        return (input_tokens * table.price.input + output_tokens * table.price.output) / 1e6
    # A server of one's own has its own prices, whatever its models are called.
    if table.base_url is not None or table.model is None:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        model = table.model.removeprefix("models/")
        return float(calc_price(tokens, model_ref=model, provider_id=table.provider).total_price)
    except LookupError:
        return None


def halved(cost: Cost) -> Cost:
    """Return what the same calls cost in a batch.

    >>> halved(Cost(10, 900, 100, 0.5)).usd
    0.25
    """
    return replace(cost, usd=None if cost.usd is None else BATCH_SHARE * cost.usd)


def cost_of(table: JudgeTable, usages: Iterable[Usage]) -> Cost:
    """Return what answered calls cost, by the tokens that the provider counted."""
    usages = list(usages)
    known = all(usage.input_tokens is not None and usage.output_tokens is not None for usage in usages)
    cost = _added(table, [(usage.input_tokens or 0, usage.output_tokens or 0) for usage in usages])
    return cost if known else replace(cost, usd=None)


def most_of(table: JudgeTable, prompts: Iterable[str]) -> Cost:
    """Return what asking these prompts costs at most: long tokens, and answers as long as allowed."""
    told = len(table.system_text)
    asked = [int((told + len(prompt)) / CHARACTERS_A_TOKEN * (1 + MARGIN)) + 1 for prompt in prompts]
    return _added(table, [(tokens, table.max_output_tokens) for tokens in asked])


def _added(table: JudgeTable, calls: Sequence[tuple[int, int]]) -> Cost:
    # Priced call by call: long requests can be in a dearer tier than many short ones.
    prices = {tokens: price_usd(table, *tokens) for tokens in set(calls)}
    known = [price for tokens in calls if (price := prices[tokens]) is not None]
    usd = sum(known, 0.0) if len(known) == len(calls) else None
    return Cost(len(calls), sum(asked for asked, _ in calls), sum(answered for _, answered in calls), usd)


@dataclass(slots=True)
class Budget:
    """What a session may spend, over all of its judges; None is without limit."""

    cap: float | None = None
    spent: float = 0.0
    reserved: float = 0.0
    booked: float = 0.0  # of what is reserved, for questions that go into a batch: it stays so


@dataclass(slots=True)
class Meter:
    """Counts what a judge's calls cost while they run, and says when the budget admits no further one."""

    table: JudgeTable
    budget: Budget = field(default_factory=Budget)
    total: Cost = field(default_factory=lambda: Cost(0, 0, 0, 0.0))
    stopped: bool = False

    def admits(self, prompt: str) -> bool:
        """Reserve the most that a call can cost; False when that could exceed the budget.

        With calls in flight a refusal may pass: they will cost less than was reserved for them. Without, it is
        final, and the meter is stopped.
        """
        if self.budget.cap is None:
            return True
        if self.budget.spent + self.budget.reserved + self._most(prompt) > self.budget.cap:
            self.stopped = self.stopped or self.budget.reserved - self.budget.booked < 1e-9
            return False
        self.budget.reserved += self._most(prompt)
        return True

    def settle(self, prompt: str, usage: Usage | None, wasted: int = 0, *, by_batch: bool = False) -> None:
        """Replace a reservation by what the call did cost; usage None: it was replayed, or failed.

        `wasted` attempts came to nothing and may have been billed: each counts as the most that it can have cost.
        What a batch answered counts at its price, and not against the budget: that run paid for it which sent it.
        """
        cost = None if usage is None else cost_of(self.table, [usage])
        if cost is not None:
            self.total += halved(cost) if by_batch else cost
        if self.budget.cap is None:
            return
        most = self._most(prompt)
        self.budget.reserved -= most
        if cost is not None and not by_batch:
            self.budget.spent += (most if cost.usd is None else cost.usd) + wasted * most

    def count(self, usage: Usage, *, by_batch: bool = False) -> None:
        """Count what a call did cost that nothing was set aside for."""
        cost = cost_of(self.table, [usage])
        self.total += halved(cost) if by_batch else cost

    def book(self, prompt: str) -> None:
        """Set aside, for the rest of the session, what a question can cost in a batch."""
        if self.budget.cap is not None:
            self.budget.reserved += BATCH_SHARE * self._most(prompt)
            self.budget.booked += BATCH_SHARE * self._most(prompt)

    def check(self) -> None:
        """Raise BudgetError where a budget is set and a call's price is not known."""
        if self.budget.cap is not None and price_usd(self.table, 1, 1) is None:
            raise BudgetError(
                f"--judge-max-cost {self.budget.cap:g}: the price of {self.table.model or self.table.target!r} is not "
                "known: give it with price = {input = ..., output = ...} (USD per million tokens) in the judge's table."
            )

    def exhausted(self) -> BudgetError:
        """Return the error that ends a recording at its budget."""
        return BudgetError(
            f"stopped before --judge-max-cost {self.budget.cap:g}: ${self.budget.spent:.4f} are spent and the next "
            "call could exceed it. What was recorded is kept: raise the limit and run again with "
            "--judge-record missing."
        )

    def _most(self, prompt: str) -> float:
        return most_of(self.table, [prompt]).usd or 0.0
