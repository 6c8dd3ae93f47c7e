"""Detection of cached responses by repeated response ids, which are never written to disk."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from math import exp, factorial, sqrt
from typing import NamedTuple

from judgefixtures.statistics.elementary import z_quantile
from judgefixtures.util.texts import parse_json

FEW_IDS = 100  # as few ids as a server is taken to draw from
FIRST_PAIRS = 100  # pairs of responses before which a repeat is taken for a cache's, unless other ids recur, too
CHANCE, UNLIKELY = 0.00001, 0.005  # of one response, and of all that are repeated
IDS = ("id", "responseId", "response_id")  # OpenAI's, Gemini's, and what gateways make of them


class ResponseOrigin(NamedTuple):
    """Digests of a response's id, body and request."""

    id: str
    body: str
    request: str


def response_origin(body: bytes, request: str) -> ResponseOrigin | None:
    """Return a response's origin, or None without an id."""
    fields = parse_json(body)
    ids = [fields[name] for name in IDS if isinstance(fields.get(name), str)] if isinstance(fields, dict) else []
    response_id = next(filter(None, ids), None)
    if response_id is None:
        return None
    return ResponseOrigin(_digest(response_id.encode("utf-8", "surrogatepass")), _digest(body), request)


@dataclass(slots=True)
class ResponseOrigins:
    """The responses a run received so far.

    Repeated ids count only among related responses (same request or body), because some servers draw ids from few
    numbers.
    """

    _seen: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _pairs: int = 0  # of responses
    _related: int = 0  # pairs
    _same_id: int = 0  # pairs with one id
    _evident: int = 0  # related pairs with one id

    def repeats(self, origin: ResponseOrigin) -> bool:
        """Remember a response and return whether it repeats beyond chance."""
        seen, (name, body, request) = self._seen, origin

        def related(*of: str) -> int:
            return seen["asked", request, *of] + seen["said", body, *of] - seen["both", request, body, *of]

        came = related(name)
        self._pairs += seen["all",]
        self._related += related()
        self._same_id += seen["id", name]
        self._evident += came
        for of in ((), (name,)):
            seen.update([("asked", request, *of), ("said", body, *of), ("both", request, body, *of)])
        seen.update([("all",), ("id", name)])
        return came > 0 and self._is_beyond_chance()

    def _is_beyond_chance(self) -> bool:
        share = self._related / self._pairs
        if self._evident == self._same_id:
            return self._pairs < FIRST_PAIRS or share**self._evident < CHANCE
        expected = share * self._same_id
        return self._evident - expected > z_quantile(1 - CHANCE) * sqrt(expected * (1 - share))


def is_cache(repeated: int, answers: int) -> bool:
    """Return whether this many repeats show a cache.

    Servers with `FEW_IDS` ids repeat by chance; that number is Poisson.

    >>> is_cache(6, 12), is_cache(1, 12), is_cache(1, 400)
    (True, False, False)
    """
    mean = min(answers * (answers - 1) / 2, FIRST_PAIRS) / FEW_IDS
    fewer = sum(mean**count / factorial(count) for count in range(min(repeated, FIRST_PAIRS))) * exp(-mean)
    return repeated > 0 and 1 - fewer < UNLIKELY


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
