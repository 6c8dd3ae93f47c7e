"""Diction: what sentences call what is judged and what is said of it: pairs and verdicts, or examples and grades.

One record a kind, found from the outcome of a contrast or from what a judge is asked about. Whoever writes a sentence
that says something else of a judge of one response takes the words from here, and asks nowhere which kind it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from judgefixtures.material.contrasts import Contrast
from judgefixtures.material.pairs import Example, Pair, is_of_examples, share

# By what was selected: neither, 1 or 2.
Said = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for what is asked about, and for what is said of it.

    `stuck` says why a judge has shown nothing that said the same throughout, `often` being how often; `vsr` is what VSR
    measures.
    """

    one: str  # what is asked about
    many: str
    which: str  # which of several they are, behind their name
    says: str  # what is said of it
    said: str  # several of these
    known: str  # what people say of it
    chose: Said  # what was done
    outcome: str  # of which there are odds
    against: str  # what a reason does that is against its own verdict
    labels: str  # what an arm is named by above the ones that moved
    to_edited: str  # the net share that an edit won
    edited_alone: str  # what it won alone, behind how many
    gained: str  # where they went, in a cell of a table
    alike: str  # what else a verdict may differ with that should not matter
    unclear: str  # what is said of close ones that nobody counted
    stuck: Said
    vsr: str

    def counted(self, number: int) -> str:
        """Return how many of what is asked about.

        >>> OF_EXAMPLES.counted(1), replace(OF_EXAMPLES, many="examples labelled fail").counted(30)
        ('1 example', '30 examples labelled fail')
        """
        return f"{number} {self.one if number == 1 else self.many}"

    def clusters(self, number: int) -> str:
        """Return what clusters of them are called.

        >>> OF_PAIRS.clusters(1), OF_EXAMPLES.clusters(2)
        ('cluster of pairs', 'clusters of examples')
        """
        return f"{'cluster' if number == 1 else 'clusters'} of {self.many}"


PLACES = {1: "first", 2: "second"}


def _stands(place: str) -> str:
    return (
        f"the response that stands {place} was chosen {{often}} although the pairs are balanced: its place decided, so "
        "that verdicts that stay as they were show nothing, INCONCLUSIVE; look at the position contrast (-k position)"
    )


def _graded(passed: str) -> str:
    return (
        f"the response {passed} {{often}}, whatever it is: grades that stay as they were show nothing, INCONCLUSIVE; "
        "ask about examples nearer to the line, or label these"
    )


OF_PAIRS = Wording(
    one="pair",
    many="pairs",
    which="",
    says="verdict",
    said="verdicts",
    known="gold",
    chose=("called it a tie", "chose 1", "chose 2"),
    outcome="being chosen",
    against="argues for the other response",
    labels="the labels on responses 1/2",
    to_edited="net share moved to the edited response",
    edited_alone="verdicts moved to the edited response, {other} away from it",
    gained="to it",
    alike="the order, a placebo or a repeat",
    unclear="is not known ({how} would tell)",
    stuck=(
        "the verdict was a tie {often}: ties that stay ties show nothing, INCONCLUSIVE; ask about pairs that differ",
        *map(_stands, PLACES.values()),
    ),
    vsr=(
        "VSR, verdict shift rate (the net shift): how much more often response 1 is chosen with the favoured label on "
        "it, the first one of a contrast's name"
    ),
)
OF_EXAMPLES = Wording(
    one="example",
    many="examples",
    which="",
    says="grade",
    said="grades",
    known="label",
    chose=("said neither", "passed it", "failed it"),
    outcome="passing",
    against="says the opposite",
    labels="the label",
    to_edited="net share that passes edited and not plain",
    edited_alone="passed edited alone, {other} plain alone",
    gained="to a pass",
    alike="a placebo or a repeat",
    unclear="was not counted ({how} counts them)",
    stuck=(
        "nothing was graded {often}, so that no grade could change, INCONCLUSIVE; set pass_mark",
        _graded("passed"),
        _graded("failed"),
    ),
    vsr=(
        "VSR of a judge of one response is its pass-rate shift: how much more often it passes a response with the "
        "first label of a contrast's name than with the second, or edited than plain"
    ),
)
# What an attack is about where there are labels: what passes anyway cannot be won.
FAILED = " labelled fail"
LABELLED_FAIL = replace(OF_EXAMPLES, one=f"example{FAILED}", many=f"examples{FAILED}", which=FAILED)


def wording_of(outcome: str) -> Wording:
    """Return the words for a contrast by its outcome, as the contrast or a row of a report has it.

    >>> wording_of("passed").many, wording_of("chose-first").many
    ('examples', 'pairs')
    """
    return OF_EXAMPLES if outcome == "passed" else OF_PAIRS


def wording_about(pairs: Iterable[Pair]) -> Wording:
    """Return the words for what a judge is asked about."""
    return OF_EXAMPLES if is_of_examples(pairs) else OF_PAIRS


def unit_of(pairs: Sequence[Pair]) -> Wording:
    """Return the words for what is counted of it as one: of both responses of pairs, which are related, the pairs."""
    return OF_PAIRS if are_responses_of_pairs(pairs) else wording_about(pairs)


def are_responses_of_pairs(pairs: Sequence[Pair]) -> bool:
    """Tell whether a judge of one response is asked about both responses of pairs."""
    return share(pairs) > 1


def wording_in(contrast: Contrast, pairs: Sequence[Pair]) -> Wording:
    """Return the words for what a contrast is about: of an attack on labelled examples the name has the label.

    >>> from judgefixtures.material.contrasts import other_contrasts
    >>> wording_in(other_contrasts("attack")[0], [Example("1", "Why?", "So.", label="fail")]).many
    'examples labelled fail'
    """
    known = [pair.label for pair in pairs if isinstance(pair, Example)]
    return LABELLED_FAIL if contrast.family == "attack" and {*known} == {"fail"} else wording_about(pairs)


def together(wordings: Iterable[Wording], word: str) -> str:
    """Return a word of several kinds, each once, as a legend has it that is about all of them.

    >>> together([OF_PAIRS, OF_EXAMPLES, OF_PAIRS], "many")
    'pairs or examples'
    """
    return " or ".join(dict.fromkeys(getattr(each, word) for each in wordings))
