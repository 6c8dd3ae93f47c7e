"""Costs of calls, and the budget that stops a run.

An unknown price is None, never 0. Estimates take 4 characters per token plus a margin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from judgefixtures.config import JudgeTable
from judgefixtures.models.usage import Usage
from judgefixtures.providers import FLEX
from judgefixtures.util.clock import now
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES

CHARACTERS_A_TOKEN = 4
MARGIN = 0.25
BATCH_SHARE = 0.5  # of the price of a call is the price of one in a batch, with every provider that offers them
# What providers call the tier that a price without any tier is of. "auto" is that unless the project says otherwise; a
# batch's own price is no matter of its tier.
STANDARD_TIERS = frozenset({"default", "standard", "standard_only", "auto", "on_demand", "unspecified", "batch"})
PRICED_TIERS = ("default", FLEX, "priority")  # those that may have served what was asked for in any
SAMPLE = 1000  # tokens that a rate is taken from: a call of a million may be dearer per token


class BudgetError(JudgeFixturesError):
    """The next call could exceed --judge-max-cost, or its price is unknown."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens and money; usd is None if unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    cached_tokens: int = 0  # of those in

    def __add__(self, other: Cost) -> Cost:
        pairs = zip(astuple(self), astuple(other), strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return Cost(*sums)

    def __str__(self) -> str:
        cached = f" ({self.cached_tokens} of them cached)" if self.cached_tokens else ""
        return (
            f"{self.calls} calls, {self.input_tokens} tokens in{cached}, "
            f"{self.output_tokens} out, {format_usd(self.usd)}"
        )


def format_usd(usd: float | None) -> str:
    """Return an amount of US dollars as text; None is unknown.

    >>> format_usd(0.25), format_usd(12.5), format_usd(None)
    ('$0.2500', '$12.50', 'price unknown')
    """
    return "price unknown" if usd is None else f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def price_usd(
    table: JudgeTable,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
    served_tier: str | None = None,
) -> float | None:
    """Return the price of tokens in USD, or None if unknown.

    `input_tokens` include `cached_tokens` and `cache_write_tokens`. `served_tier` replaces the requested tier.

    >>> from judgefixtures.config import judge_table
    >>> own = judge_table({"provider": "openai", "model": "m", "price": {"input": 2.5, "output": 10.0}})
    >>> price_usd(own, 1_000_000, 100_000)
    3.5
    """
    # A count beyond what it is part of is a server's mistake, and no reason to lose an answer.
    cached = min(cached_tokens, input_tokens)
    written = min(cache_write_tokens, input_tokens - cached)
    if (own := table.price) is not None:
        cheaper = own.input if own.cached_input is None else own.cached_input
        return ((input_tokens - cached) * own.input + cached * cheaper + output_tokens * own.output) / 1e6
    # A server of one's own has its own prices, whatever its models are called.
    if table.base_url is not None or table.model is None:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached, cache_write_tokens=written
    )
    tier = served_tier or table.service_tier
    context = None if tier is None or tier in STANDARD_TIERS else {"service_tier": tier}
    model = table.model.removeprefix("models/")
    try:
        price = calc_price(tokens, model_ref=model, provider_id=table.provider, price_context=context)
    except LookupError:
        return None
    # The price table takes the standard price for a tier that it does not know, or not of this provider's.
    variants = (price.model.price_variants or ()) if price.model in price.provider.models else ()
    moment = now()
    known = context is None or any(
        variant.when == context and (variant.constraint is None or variant.constraint.active(moment))
        for variant in variants
    )
    return float(price.total_price) if known else None


def price_remedy(table: JudgeTable) -> str:
    """Return the line and table that set a judge's price."""
    return (
        f"price = {{input = 2.5, output = 10.0}} in {table.heading} (USD per million tokens; put in your own numbers)"
    )


def describe_priced_model(table: JudgeTable) -> str:
    """Return a judge's model or function, with its tier."""
    tier = f" in service_tier {table.service_tier!r}" if table.service_tier else ""
    return f"{table.model or table.target!r}{tier}"


def price_of(table: JudgeTable, usage: Usage) -> float | None:
    """Return a call's price in USD, or None if unknown."""
    if usage.usd is not None and table.price is None:
        return usage.usd
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached, stored = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    return price_usd(table, usage.input_tokens, usage.output_tokens, cached, stored, usage.service_tier)


def rates(table: JudgeTable) -> dict[str, Any]:
    """Return a judge's prices in USD per million tokens, None if unknown.

    Keys: `input`, `output`, and if different `cached_input`, `cache_write` and `tiers`.

    >>> from judgefixtures.config import judge_table
    >>> rates(judge_table({"provider": "openai", "model": "m", "price": {"input": 2.5, "output": 10.0}}))
    {'input': 2.5, 'output': 10.0}
    """
    base_prices = _rates(table, None)
    tiers = {tier: _rates(table, tier) for tier in PRICED_TIERS} if table.price is None else {}
    known = any(prices["input"] is not None for prices in tiers.values())
    return base_prices | ({"tiers": tiers} if known else {})


def _rates(table: JudgeTable, tier: str | None) -> dict[str, Any]:
    calls = {
        "input": Usage(SAMPLE, 0),
        "output": Usage(0, SAMPLE),
        "cached_input": Usage(SAMPLE, 0, None, SAMPLE),
        "cache_write": Usage(SAMPLE, 0, None, 0, SAMPLE),
    }
    prices = {name: price_of(table, replace(usage, service_tier=tier)) for name, usage in calls.items()}
    rounded = {name: None if price is None else round(price * 1e6 / SAMPLE, 9) for name, price in prices.items()}
    same = {name for name in ("cached_input", "cache_write") if rounded[name] == rounded["input"]}
    return {name: price for name, price in rounded.items() if name not in same}


def batch_cost(cost: Cost) -> Cost:
    """Return the cost in a batch.

    >>> batch_cost(Cost(10, 900, 100, 0.5)).usd
    0.25
    """
    return replace(cost, usd=None if cost.usd is None else BATCH_SHARE * cost.usd)


def share_of_cost(cost: Cost, share: float) -> Cost:
    """Return a share of a cost.

    >>> share_of_cost(Cost(10, 900, 100, 0.5), 0.5)
    Cost(calls=5, input_tokens=450, output_tokens=50, usd=0.25, cached_tokens=0)
    """
    counts = (cost.calls, cost.input_tokens, cost.output_tokens, cost.cached_tokens)
    calls, read, written, cached = (round(count * share) for count in counts)
    return Cost(calls, read, written, None if cost.usd is None else cost.usd * share, cached)


def cost_of_calls(table: JudgeTable, usages: Iterable[Usage]) -> Cost:
    """Return the cost of answered calls."""
    calls = list(usages)
    # Priced call by call: long requests can be in a dearer tier than many short ones.
    prices = {call: price_of(table, call) for call in set(calls)}
    known = [price for call in calls if (price := prices[call]) is not None]
    usd = sum(known, 0.0) if len(known) == len(calls) else None
    counts = ("input_tokens", "output_tokens", "cached_tokens")
    read, written, cached = (sum(getattr(call, name) or 0 for call in calls) for name in counts)
    return Cost(len(calls), read, written, usd, cached)


def maximum_cost(table: JudgeTable, prompts: Iterable[str]) -> Cost:
    """Return the prompts' maximum cost."""
    system_length = len(table.system_text)
    input_tokens = [int((system_length + len(prompt)) / CHARACTERS_A_TOKEN * (1 + MARGIN)) + 1 for prompt in prompts]
    return cost_of_calls(table, [Usage(tokens, table.max_output_tokens) for tokens in input_tokens])


@dataclass(slots=True)
class Budget:
    """A session's budget in USD over all judges; None is unlimited."""

    cap: float | None = None
    spent: float = 0.0
    reserved: float = 0.0
    booked: float = 0.0  # of what is reserved, for questions that go into a batch: it stays so


@dataclass(slots=True)
class CostMeter:
    """Counts a judge's costs, and stops at the budget."""

    table: JudgeTable
    budget: Budget = field(default_factory=Budget)
    total: Cost = field(default_factory=lambda: Cost(0, 0, 0, 0.0))
    stopped: bool = False

    def admits(self, prompt: str) -> bool:
        """Reserve a call's maximum cost, or return False above the budget.

        A refusal is final without calls in flight.
        """
        if self.budget.cap is None:
            return True
        if self.budget.spent + self.budget.reserved + self._most(prompt) > self.budget.cap:
            self.stopped = self.stopped or self.budget.reserved - self.budget.booked < 1e-9
            return False
        self.budget.reserved += self._most(prompt)
        return True

    def settle(self, prompt: str, usage: Usage | None, wasted: int = 0, *, by_batch: bool = False) -> None:
        """Replace a reservation by the call's cost.

        Args:
            prompt: The prompt.
            usage: The tokens; None if replayed or failed.
            wasted: Failed attempts, at maximum cost.
            by_batch: Whether a batch answered, outside of the budget.
        """
        cost = None if usage is None else self.count(usage, by_batch=by_batch)
        if self.budget.cap is None:
            return
        most = self._most(prompt)
        self.budget.reserved -= most
        if cost is not None and not by_batch:
            self.budget.spent += (most if cost.usd is None else cost.usd) + wasted * most

    def count(self, usage: Usage, *, by_batch: bool = False) -> Cost:
        """Count a call's cost, and return it without batch discount."""
        cost = cost_of_calls(self.table, [usage])
        self.total += batch_cost(cost) if by_batch else cost
        return cost

    def book(self, prompt: str) -> None:
        """Reserve a batch request's maximum cost."""
        if self.budget.cap is not None:
            self.budget.reserved += BATCH_SHARE * self._most(prompt)
            self.budget.booked += BATCH_SHARE * self._most(prompt)

    def check(self) -> None:
        """Check that a budget has a known price.

        Raises:
            BudgetError: It does not.
        """
        if self.budget.cap is not None and price_usd(self.table, 1, 1) is None:
            raise BudgetError(
                MESSAGES.price_unknown(self.budget.cap, describe_priced_model(self.table), price_remedy(self.table))
            )

    def exhausted(self) -> BudgetError:
        """Return the error that ends a recording at its budget."""
        return BudgetError(MESSAGES.cost_limit_reached(self.budget.cap, self.budget.spent))

    def _most(self, prompt: str) -> float:
        return maximum_cost(self.table, [prompt]).usd or 0.0
