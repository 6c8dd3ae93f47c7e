"""Vocabulary for pairs and verdicts, or examples and grades."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.util.patterns import load_table

from .contrasts import Contrast
from .pairs import Example, Pair, are_examples, units_per_pair

# By what was selected: neither, 1 or 2.
Said = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words for judged units and answers."""

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
    stuck: Said
    vsr: str
    rate: str  # what a wording of the prompt may shift
    chance: str  # of one of them, what it may change
    more_often: str  # what happens where verdicts follow a label

    def counted(self, number: int) -> str:
        """Return a number of units.

        >>> OF_EXAMPLES.counted(1), replace(OF_EXAMPLES, many="examples labelled fail").counted(30)
        ('1 example', '30 examples labelled fail')
        """
        return f"{number} {self.one if number == 1 else self.many}"

    def clusters(self, number: int) -> str:
        """Return the name of their clusters.

        >>> OF_PAIRS.clusters(1), OF_EXAMPLES.clusters(2)
        ('cluster of pairs', 'clusters of examples')
        """
        return f"{'cluster' if number == 1 else 'clusters'} of {self.many}"


PLACES = {1: "first", 2: "second"}


def _wording(kind: str) -> Vocabulary:
    words: dict[str, Any] = load_table("diction")[kind]
    return Vocabulary(**{**words, "chose": tuple(words["chose"]), "stuck": tuple(words["stuck"])})


OF_PAIRS, OF_EXAMPLES = map(_wording, ("pairs", "examples"))
# What an attack is about where there are labels: what passes anyway cannot be won.
FAILED = " labelled fail"
LABELLED_FAIL = replace(OF_EXAMPLES, one=f"example{FAILED}", many=f"examples{FAILED}", which=FAILED)


def wording_of(outcome: str) -> Vocabulary:
    """Return the words for a contrast's outcome.

    >>> wording_of("passed").many, wording_of("chose-first").many
    ('examples', 'pairs')
    """
    return OF_EXAMPLES if outcome == "passed" else OF_PAIRS


def vocabulary_for(pairs: Iterable[Pair]) -> Vocabulary:
    """Return the words for a judge's input."""
    return OF_EXAMPLES if are_examples(pairs) else OF_PAIRS


def unit_vocabulary(pairs: Sequence[Pair]) -> Vocabulary:
    """Return the words for counted units."""
    return OF_PAIRS if is_of_pair_responses(pairs) else vocabulary_for(pairs)


def is_of_pair_responses(pairs: Sequence[Pair]) -> bool:
    """Return whether these are responses of pairs."""
    return units_per_pair(pairs) > 1


def vocabulary_for_row(contrast: Contrast, pairs: Sequence[Pair]) -> Vocabulary:
    """Return the words for a contrast's row.

    >>> from judgefixtures.models.contrasts import other_contrasts
    >>> vocabulary_for_row(other_contrasts("attack")[0], [Example("1", "Why?", "So.", label="fail")]).many
    'examples labelled fail'
    """
    known = [pair.label for pair in pairs if isinstance(pair, Example)]
    return LABELLED_FAIL if contrast.family == "attack" and {*known} == {"fail"} else vocabulary_for(pairs)


def combine_words(wordings: Iterable[Vocabulary], word: str) -> str:
    """Return a word's distinct forms.

    >>> combine_words([OF_PAIRS, OF_EXAMPLES, OF_PAIRS], "many")
    'pairs or examples'
    """
    return " or ".join(dict.fromkeys(getattr(each, word) for each in wordings))
