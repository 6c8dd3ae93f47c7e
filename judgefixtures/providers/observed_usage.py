"""Usage of the HTTP answers that pass while a judge's code is recorded."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judgefixtures.models.usage import Usage


@dataclass(slots=True)
class ObservedUsage:
    """The tokens, models and price of one call's HTTP answers."""

    usages: list[Usage] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    prices: list[float | None] = field(default_factory=list)

    def take(self, address: str, body: bytes) -> None:
        """Count an answer that states its tokens."""
        for answer in _answers(body):
            usage, model = _read(answer)
            if usage is not None and (usage.input_tokens is not None or usage.output_tokens is not None):
                self.usages.append(usage)
                self.models += [model] if model and model not in self.models else []
                self.prices.append(_price(usage, model, address))
                return

    def to_json(self) -> dict[str, Any]:
        """Return the sums, without what is unknown."""
        if not self.usages:
            return {}
        names = [name for name, value in asdict(self.usages[0]).items() if name not in ("service_tier", "usd")]
        sums = {name: [each for usage in self.usages if (each := getattr(usage, name)) is not None] for name in names}
        usage: dict[str, Any] = {name: sum(counts) for name, counts in sums.items() if counts}
        prices = [price for price in self.prices if price is not None]
        if len(prices) == len(self.prices):
            usage["usd"] = round(sum(prices), 9)
        return {"usage": usage, **({"served": ", ".join(self.models)} if self.models else {})}


def _answers(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of a body; of a stream, the last event first."""
    lines = [line[5:] for line in body.splitlines() if line.startswith(b"data:")] or [body]
    for line in reversed(lines):
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(answer, dict):
            yield answer


def _read(answer: Mapping[str, Any]) -> tuple[Usage | None, str]:
    from . import anthropic, google, openai

    counts = answer.get("usage")
    model = str(answer.get("model") or answer.get("modelVersion") or "")
    if isinstance(answer.get("usageMetadata"), dict):
        return google.read_usage(answer["usageMetadata"]), model
    if not isinstance(counts, dict):
        return None, ""
    if "prompt_tokens" in counts:
        return openai.read_usage(counts, answer.get("service_tier")), model
    return anthropic.read_usage(counts), model


def _price(usage: Usage, model: str, address: str) -> float | None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        tokens = Tokens(
            input_tokens=usage.input_tokens or 0,
            output_tokens=usage.output_tokens or 0,
            cache_read_tokens=usage.cached_tokens or 0,
            cache_write_tokens=usage.cache_write_tokens or 0,
        )
        return float(calc_price(tokens, model_ref=model, provider_api_url=address).total_price)
    except (LookupError, ValueError):  # a server of one's own has its own prices
        return None
