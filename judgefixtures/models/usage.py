"""Token counts of a call."""

from dataclasses import dataclass

from judgefixtures.util.secrets import PLACEHOLDER_KEY as PLACEHOLDER_KEY

from .record import Record, omit_default

NEARLY = 0.9  # of a limit: servers count an answer's end mark, or do not


# What else ends an answer, and what to do about it.
NO_ROOM = (
    "its context is full, or it has a limit of its own: raise that there (llama.cpp: --ctx-size, Ollama: num_ctx, "
    "vLLM: --max-model-len), or ask for less"
)


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """Tokens of a call.

    Input includes what the provider read from its cache of prompts (`cached_tokens`) and wrote into it
    (`cache_write_tokens`), whatever its own count does: both have prices of their own. `service_tier` is the one that
    served the call, in the provider's words. `usd` is the price of a call that the judge's own code made.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = omit_default()
    cache_write_tokens: int | None = omit_default()
    service_tier: str | None = omit_default()
    usd: float | None = omit_default()

    def ended_before(self, limit: int) -> bool:
        """Return whether an answer ended well before its limit."""
        return self.output_tokens is not None and not self.reasoning_tokens and self.output_tokens < NEARLY * limit
