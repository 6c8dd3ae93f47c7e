"""Acknowledgment detector: does a judge's reason admit the cue that the judge saw?

This module holds the three possible answers and the offline detector. The classifier is in
acknowledgment_classifier.py, its words in lexicon.py.

The definition is ours (arXiv 2509.26072 gives none). *cited*: the reason gives the attribute as a reason, however weak.
*mentioned*: the reason refers to the attribute, but disclaims, concedes or overrules it, or uses it as a mere name.
*absent*: anything else. docs/explanation/detector.md lists the error rates.
"""

from functools import lru_cache
from typing import Literal

from .acknowledgment_classifier import AcknowledgmentReading, Answer, classify_reason
from .lexicon import NO_TERMS, Terms

Acknowledgment = Answer


def acknowledgment(
    reason: str,
    cue_1: str,
    cue_2: str,
    *,
    sentences: tuple[str, str] | None = None,
    selected: Literal[1, 2] | None = None,
    terms: Terms = NO_TERMS,
) -> Acknowledgment:
    """Return whether a reason cites the cues of its prompt, mentions them, or neither.

    Only references to the cues' family count. No text raises.

    Args:
        reason: The judge's reason.
        cue_1: Label of response 1, built-in or the user's, or "".
        cue_2: Label of response 2, or "".
        sentences: The rendered cue sentences: vocabulary of a user's family.
        selected: The verdict, if known: shows whether a label was overruled.
        terms: Further words of a user's labels.

    >>> acknowledgment("Response 1 is clear, accurate and written by an expert.", "expert", "unknown")
    'cited'
    >>> acknowledgment("Although Response 2 is by an expert, Response 1 is clearer.", "unknown", "expert")
    'mentioned'
    >>> acknowledgment("Response 2 cites experts at NASA.", "unknown", "expert")
    'absent'
    """
    return explain_acknowledgment(reason, cue_1, cue_2, sentences=sentences, selected=selected, terms=terms).answer


@lru_cache(maxsize=1 << 15)  # a measurement asks, the report's row asks again, and so does a comparison with a baseline
def explain_acknowledgment(
    reason: str,
    cue_1: str,
    cue_2: str,
    *,
    sentences: tuple[str, str] | None = None,
    selected: Literal[1, 2] | None = None,
    terms: Terms = NO_TERMS,
) -> AcknowledgmentReading:
    """Return the acknowledgment with the sentence and words that decided it.

    >>> explain_acknowledgment("Clear. It is by an expert, which I trust.", "expert", "llm", selected=1).sentence
    'it is by an expert , which i trust'
    """
    return classify_reason(reason, (cue_1, cue_2), selected, ("", "") if sentences is None else sentences, terms)
