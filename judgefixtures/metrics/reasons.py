"""Readings of reasons: what a judgment's reason says of the cues of its prompt, and against its own verdict."""

from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.judgments import Judgment
from judgefixtures.parsing.acknowledgment import Acknowledgment, explain_acknowledgment
from judgefixtures.parsing.acknowledgment_classifier import AcknowledgmentReading
from judgefixtures.parsing.contradictions import contradiction, grade_contradiction
from judgefixtures.parsing.language import is_english
from judgefixtures.parsing.lexicon import Terms

from .llm_detector import has_reason


def read_acknowledgment(judgment: Judgment, text: str | None = None) -> Acknowledgment:
    """Return how a judgment's reason, or another text of it, acknowledges its cues."""
    return explain_reading(judgment, text).answer


def is_unreadable_reason(judgment: Judgment) -> bool:
    """Return whether a reason exists and is not English."""
    return has_reason(judgment) and not is_english(judgment.verdict.reason)


def explain_reading(judgment: Judgment, text: str | None = None) -> AcknowledgmentReading:
    """Return the offline detector's reading of a reason, or of another text of it, with its words."""
    sentences, terms = render_cues(judgment)
    verdict = judgment.verdict
    reason, selected = verdict.reason if text is None else text, verdict.selected_response
    return explain_acknowledgment(
        reason, *judgment.condition.labels, sentences=sentences, selected=selected, terms=terms
    )


def render_cues(judgment: Judgment) -> tuple[tuple[str, str], Terms]:
    """Return the sentences of the cues in a judgment's prompt, and by which words they may be cited.

    A response by itself has no number that tells the noun for it from the words of its cue: it is called a response.
    """
    condition = judgment.condition
    noun = "Response" if isinstance(condition, SingleResponseCondition) else judgment.pair.content_type
    terms_1, terms_2 = (cue.terms if cue else () for cue in (condition.cue_1, condition.cue_2))
    return condition.sentences(noun), (terms_1, terms_2)


def contradicting_words(judgment: Judgment) -> str | None:
    """Return the words of a reason that contradict its verdict or grade, or None."""
    verdict = judgment.verdict
    if verdict.selected_response is None or judgment.verdict.scores is not None:
        return None
    if isinstance(judgment.condition, SingleResponseCondition):
        return grade_contradiction(verdict.reason, verdict.selected_response == 1, judgment.pair.content_type)
    return contradiction(verdict.reason, verdict.selected_response, judgment.pair.content_type)
