"""Verdict against reason: which verdicts come with a reason that argues for the other response, and the quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.checks.wording import shortened
from judgefixtures.contradictions import contradiction
from judgefixtures.judgments import Judgment

EXAMPLES = 3
SHOWN_QUOTE = 200

Contradicted = tuple[Judgment, str]  # with the words that argue for the other response


def contradictions(arms: Iterable[Sequence[Judgment]]) -> tuple[Contradicted, ...]:
    """Return the judgments whose reason argues for the response that was not selected, each with its words."""
    found = []
    for judgment in (judgment for arm in arms for judgment in arm):
        verdict = judgment.verdict
        if verdict.selected_response is not None:
            quote = contradiction(verdict.reason, verdict.selected_response, judgment.pair.content_type)
            found += [(judgment, quote)] if quote is not None else []
    return tuple(found)


def contradicted(found: Sequence[Contradicted], verdicts: int) -> tuple[str, ...]:
    """Return what a diagnosis says of those of so many verdicts that their own reasons argue against."""
    if not found:
        return ()
    lines = ["", f"  {len(found)} of {verdicts} verdicts come with a reason that argues for the other response:"]
    for judgment, quote in found[:EXAMPLES]:
        lines.append(f"    pair {shortened(judgment.pair.id, 60)} in {judgment.condition.name}: chose "
                     f"{judgment.selected} -- \"{shortened(quote, SHOWN_QUOTE)}\"")  # fmt: skip
    return tuple(lines)
