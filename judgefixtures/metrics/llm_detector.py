"""Detector based on a model: ask whether a reason cites, mentions or ignores a cue."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgefixtures.client.model_client import ModelClient
from judgefixtures.client.rate_limiter import RateLimiter
from judgefixtures.config import JudgeTable
from judgefixtures.judges.reply_reading import reply_fields
from judgefixtures.models.contrasts import LONGEST_CONDITION, NO_CUE, Condition, SingleResponseCondition
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import ModelReply
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.parsing.acknowledgment import Acknowledgment
from judgefixtures.parsing.verdicts import AnswerFormat, read_answer
from judgefixtures.prompts.templates import TEMPLATES
from judgefixtures.providers import ProviderResponse, load_provider

ANSWERS: tuple[Acknowledgment, ...] = ("absent", "mentioned", "cited")

PROMPT = (TEMPLATES / "detecting" / "reason.txt").read_text(encoding="utf-8")
ALONE = (TEMPLATES / "detecting" / "reason-alone.txt").read_text(encoding="utf-8")
DETECTING_MARK = PROMPT.partition("responses")[0]  # how both begin: what a server can tell such a question by
# What a judge of one response did with it: one that scores without a mark neither passed nor failed it.
GRADED = {1: "passed", 2: "failed", None: "scored"}
_SLOT = re.compile(r"\{(cue_1|cue_2|chose|cue|graded|reason)\}")


@dataclass(frozen=True, slots=True)
class DetectorCondition(Condition):
    """The condition in which a detector reads another condition's reasons."""

    reasons: Condition = NO_CUE
    detector: str = ""

    @property
    def name(self) -> str:
        """The name: `detected-by-NAME-recency-new-old`, or its digest if long."""
        name = f"detected-by-{self.detector}-{self.reasons.name}"
        if len(name.encode()) <= LONGEST_CONDITION:
            return name
        return f"detected-by-{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def detector_condition(condition: Condition, detector: str) -> DetectorCondition:
    """Return the detector's condition.

    >>> from judgefixtures.models.contrasts import as_single_response, contrasts
    >>> detector_condition(contrasts("recency")[0].x, "reader").name
    'detected-by-reader-recency-new-old'
    >>> detector_condition(as_single_response(contrasts("recency")[0]).x, "reader").name
    'detected-by-reader-recency-new'
    """
    return DetectorCondition(reasons=condition, detector=detector)


@dataclass(frozen=True, slots=True)
class DetectorReply(ModelReply):
    """A detector's answer, or the kind of failure."""

    acknowledgment: Acknowledgment | None
    words: str = ""
    invalid: InvalidKind | None = None


def parse_reading(text: str) -> tuple[Acknowledgment | None, str, InvalidKind | None]:
    """Return acknowledgment and words of a detector's text, or the failure.

    >>> parse_reading('{"acknowledgment": "cited", "reason": "by an expert"}')
    ('cited', 'by an expert', None)
    >>> parse_reading("It is cited.")[2]
    'no-json'
    """
    stated = read_answer(text, "json", _FORM)
    return (None if stated.value is None else ANSWERS[int(stated.value)]), stated.reason, stated.invalid


def _value(written: object) -> int | InvalidKind:
    word = written.strip().lower() if isinstance(written, str) else ""
    return ANSWERS.index(word) if word in ANSWERS else "not-a-choice"


def _in_brackets(token: str) -> tuple[int | InvalidKind, str]:
    return _value(token), token


_FORM = AnswerFormat(
    "acknowledgment",
    _value,
    lambda written: written in ANSWERS,
    re.compile(r"[\"'“]acknowledgment[\"'”]\s*+:\s*+[\"'“]?+\s*+(\w{1,20})", re.IGNORECASE),
    re.compile(r"\[\[(\w{1,20})]]"),  # asked for in JSON alone
    _in_brackets,
)


class DetectorClient(ModelClient[DetectorReply]):
    """A client that asks a model about reasons of one condition."""

    client_name = "Reader"

    def __init__(self, name: str, table: JudgeTable, rate_limiter: RateLimiter, judgments: Sequence[Judgment]) -> None:
        changes = {
            "response_format": "none",  # the schema that it would come with is that of a verdict
            "verdict": "json",
            "mode": "pairwise",
            "strategy": "direct",
            "system_prompt": None,  # it speaks of verdicts
            "logprobs": False,
        }
        table = table.model_copy(update=changes).saying("")
        super().__init__(name, table, load_provider(table), rate_limiter)
        self._prompts = {judgment.pair.id: detecting_prompt(judgment) for judgment in judgments}
        alone = any(isinstance(judgment.condition, SingleResponseCondition) for judgment in judgments)
        self._digest = prompt_digest(ALONE if alone else PROMPT)
        # Equal reasons are read once, or a replay could not tell two answers to one question apart.
        self._first: dict[str, str] = {}
        for pair, prompt in sorted(self._prompts.items()):
            self._first.setdefault(prompt, pair)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON."""
        return self._asked | {"detector": {"digest": self._digest}}

    def stands_for(self, pair: Pair) -> str:
        """Return the id of the pair with the same question."""
        return self._first[self._prompts[pair.id]]

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the question about a pair's reason."""
        return self._prompts[pair.id]

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> DetectorReply:
        """Return the reading of an answer."""
        reading, words, invalid = parse_reading(answer.text)
        if answer.invalid is not None:
            reading, words, invalid = None, "", answer.invalid
        return DetectorReply(reading, words, invalid, **reply_fields(answer, retries, wasted))

    async def look_up_shutdown(self) -> None:
        """Do nothing: warnings are about judges."""


def has_reason(judgment: Judgment) -> bool:
    """Return whether a valid verdict has a reason."""
    return judgment.verdict.invalid is None and bool(judgment.verdict.reason.strip())


def detecting_prompt(judgment: Judgment) -> str:
    """Return the question about a reason, with cues and verdict."""
    condition, kind = judgment.condition, judgment.pair.content_type
    verdict, cues = judgment.verdict, condition.sentences(kind)
    slots = {"reason": verdict.reason}
    if isinstance(condition, SingleResponseCondition):
        prompt = ALONE
        slots |= {"cue": cues[0], "graded": GRADED[verdict.selected_response]}
    else:
        prompt, chosen = PROMPT, verdict.selected_response
        for number, cue in enumerate(cues, 1):
            slots[f"cue_{number}"] = cue or f"nothing about {kind} {number}"
        slots["chose"] = "called it a tie" if chosen is None else f"chose {kind} {chosen}"
    # In one pass: a reason may hold braces of its own.
    return _SLOT.sub(lambda slot: slots[slot[1]], prompt)


def prompt_digest(prompt: str) -> str:
    """Return a prompt's digest."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class DetectorReadings:
    """A detector's readings by condition, repeat and pair; None if invalid."""

    detector: str
    said: Mapping[tuple[str, int, str], Acknowledgment | None]
    identity: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, judgment: Judgment) -> Acknowledgment:
        """Return the acknowledgment, "absent" if unknown."""
        return self.said.get(_key(judgment)) or "absent"

    def of(self, judgment: Judgment) -> Acknowledgment | None:
        """Return the reading, or None."""
        return self.said.get(_key(judgment))

    @property
    def unread(self) -> int:
        """The number of invalid readings."""
        return sum(reading is None for reading in self.said.values())

    def lack(self, max_invalid: float) -> bool:
        """Return whether too many readings are invalid."""
        return self.unread > max_invalid * len(self.said)

    def beside(self, reader: DetectorClient, arm: Iterable[tuple[Judgment, DetectorReply]]) -> DetectorReadings:
        """Return the readings with further ones."""
        readings = {_key(judgment): reading.acknowledgment for judgment, reading in arm}
        return replace(self, said={**self.said, **readings}, identity=reader.identity)


def _key(judgment: Judgment) -> tuple[str, int, str]:
    return judgment.condition.name, judgment.repeat, judgment.pair.id
