"""Detectors that are models: a configured judge's provider, asked whether a reason cites, mentions or ignores a cue.

The prompts, the reading of its answer, and who asks live here; what is made of the answers does not. Such a detector is
asked with the words of the definition that the offline one (acknowledgment.py) is written by, and its answers are
recorded among those of the judge whose reasons it reads, in conditions of their own. Of reasons about one response that
was shown alone it is asked in words of their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgefixtures.asking.asker import Asker
from judgefixtures.asking.pacing import Pace
from judgefixtures.asking.questions import Judgment
from judgefixtures.asking.received import Received, received_with
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import LONGEST_CONDITION, NO_CUE, Condition, Single
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Plan
from judgefixtures.material.prompts import TEMPLATES
from judgefixtures.providers import Answer, load_provider
from judgefixtures.reading.acknowledgment import Acknowledgment
from judgefixtures.reading.verdicts import Form, InvalidKind, read_answer

ANSWERS: tuple[Acknowledgment, ...] = ("absent", "mentioned", "cited")

PROMPT, ALONE = (
    (TEMPLATES / "detecting" / name).read_text(encoding="utf-8") for name in ("reason.txt", "reason-alone.txt")
)
DETECTING_MARK = PROMPT.partition("responses")[0]  # how both begin: what a server can tell such a question by
# What a judge of one response did with it: one that scores without a mark neither passed nor failed it.
GRADED = {1: "passed", 2: "failed", None: "scored"}
_SLOT = re.compile(r"\{(cue_1|cue_2|chose|cue|graded|reason)\}")


@dataclass(frozen=True, slots=True)
class Detected(Condition):
    """The condition in which a detector reads the reasons of another condition; it has the name of both."""

    reasons: Condition = NO_CUE
    detector: str = ""

    @property
    def name(self) -> str:
        """The condition's name, also its cassette's: `detected-by-NAME-recency-new-old`; digested where too long."""
        name = f"detected-by-{self.detector}-{self.reasons.name}"
        if len(name.encode()) <= LONGEST_CONDITION:
            return name
        return f"detected-by-{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def detected(condition: Condition, detector: str) -> Detected:
    """Return the condition in which a detector reads the reasons of a condition.

    >>> from judgefixtures.material.contrasts import contrasts, single
    >>> detected(contrasts("recency")[0].x, "reader").name
    'detected-by-reader-recency-new-old'
    >>> detected(single(contrasts("recency")[0]).x, "reader").name
    'detected-by-reader-recency-new'
    """
    return Detected(reasons=condition, detector=detector)


@dataclass(frozen=True, slots=True)
class Reading(Received):
    """What a detector says of a reason; None with the kind of its failure."""

    acknowledgment: Acknowledgment | None
    words: str = ""
    invalid: InvalidKind | None = None


def parse_reading(text: str) -> tuple[Acknowledgment | None, str, InvalidKind | None]:
    """Return the acknowledgment that a detector's text states, its words, and why there is none; no text raises.

    >>> parse_reading('{"acknowledgment": "cited", "reason": "by an expert"}')
    ('cited', 'by an expert', None)
    >>> parse_reading("It is cited.")[2]
    'no-json'
    """
    stated = read_answer(text, "json", _FORM)
    return (None if stated.value is None else ANSWERS[int(stated.value)]), stated.reason, stated.invalid


def _value(written: object) -> int | InvalidKind:
    said = written.strip().lower() if isinstance(written, str) else ""
    return ANSWERS.index(said) if said in ANSWERS else "not-a-choice"


def _in_brackets(token: str) -> tuple[int | InvalidKind, str]:
    return _value(token), token


_FORM = Form(
    "acknowledgment",
    _value,
    lambda written: written in ANSWERS,
    re.compile(r"[\"'“]acknowledgment[\"'”]\s*+:\s*+[\"'“]?+\s*+(\w{1,20})", re.IGNORECASE),
    re.compile(r"\[\[(\w{1,20})]]"),  # asked for in JSON alone
    _in_brackets,
)


class Reader(Asker[Reading]):
    """A judge's model, asked what reasons make of the cues of their prompts: at its table's temperature, for JSON.

    It has the judge's name, address and pace, and an identity of its own: what can change an answer. `judgments` are
    those whose reasons it reads, all of one condition.
    """

    def __init__(self, name: str, table: JudgeTable, pace: Pace, judgments: Sequence[Judgment]) -> None:
        changes = {
            "response_format": "none",  # the schema that it would come with is that of a verdict
            "verdict": "json",
            "mode": "pairwise",
            "strategy": "direct",
            "system_prompt": None,  # it speaks of verdicts
            "logprobs": False,
        }
        table = table.model_copy(update=changes).saying("")
        super().__init__(name, table, load_provider(table), pace)
        self._prompts = {judgment.pair.id: detecting_prompt(judgment) for judgment in judgments}
        alone = any(isinstance(judgment.condition, Single) for judgment in judgments)
        self._digest = digest(ALONE if alone else PROMPT)
        # Equal reasons are read once, or a replay could not tell two answers to one question apart.
        self._first: dict[str, str] = {}
        for pair, prompt in sorted(self._prompts.items()):
            self._first.setdefault(prompt, pair)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer but the question's own texts, as plain JSON."""
        return self._asked | {"detector": {"digest": self._digest}}

    def stands_for(self, pair: Pair) -> str:
        """Return the id of the pair whose answer is that of a pair."""
        return self._first[self._prompts[pair.id]]

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the question about a pair's reason."""
        return self._prompts[pair.id]

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Reading:
        """Return what an answer says of the reason."""
        said, words, invalid = parse_reading(answer.text)
        if answer.invalid is not None:
            said, words, invalid = None, "", answer.invalid
        return Reading(said, words, invalid, **received_with(answer, retries, wasted))

    async def look_up_shutdown(self) -> None:
        """Nothing: the report's warnings are about the judges."""


def has_reason(judgment: Judgment) -> bool:
    """Tell whether there is anything to read: a valid verdict with a reason."""
    return judgment.verdict.invalid is None and bool(judgment.verdict.reason.strip())


def detecting_prompt(judgment: Judgment) -> str:
    """Return the question about a judgment's reason: with the cues as its prompt had them, and what its verdict is."""
    condition, kind = judgment.condition, judgment.pair.content_type
    verdict, cues = judgment.verdict, condition.sentences(kind)
    slots = {"reason": verdict.reason}
    if isinstance(condition, Single):
        prompt = ALONE
        slots |= {"cue": cues[0], "graded": GRADED[verdict.selected_response]}
    else:
        prompt, chosen = PROMPT, verdict.selected_response
        for number, cue in enumerate(cues, 1):
            slots[f"cue_{number}"] = cue or f"nothing about {kind} {number}"
        slots["chose"] = "called it a tie" if chosen is None else f"chose {kind} {chosen}"
    # In one pass: a reason may hold braces of its own.
    return _SLOT.sub(lambda slot: slots[slot[1]], prompt)


def digest(prompt: str) -> str:
    """Return what tells a prompt from another wording of it."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Detections:
    """What a detector says of the reasons of some judgments: by condition, repeat and pair; None for what is invalid.

    It is asked like a detector of judgments: what has no reason, and what no answer could be read of, is "absent".
    """

    detector: str
    said: Mapping[tuple[str, int, str], Acknowledgment | None]
    identity: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, judgment: Judgment) -> Acknowledgment:
        """Return what a judgment's reason acknowledges."""
        return self.said.get(_key(judgment)) or "absent"

    def of(self, judgment: Judgment) -> Acknowledgment | None:
        """Return what was said of a judgment's reason; None where nothing was, or nothing that can be read."""
        return self.said.get(_key(judgment))

    @property
    def unread(self) -> int:
        """Of how many reasons nothing is known although they were asked about."""
        return sum(said is None for said in self.said.values())

    def lack(self, max_invalid: float) -> bool:
        """Tell whether too many answers cannot be read for anything to be decided by the others."""
        return self.unread > max_invalid * len(self.said)

    def beside(self, reader: Reader, arm: Iterable[tuple[Judgment, Reading]]) -> Detections:
        """Return these and further ones, with the identity of who said them."""
        said = {_key(judgment): reading.acknowledgment for judgment, reading in arm}
        return replace(self, said={**self.said, **said}, identity=reader.identity)


def _key(judgment: Judgment) -> tuple[str, int, str]:
    return judgment.condition.name, judgment.repeat, judgment.pair.id
