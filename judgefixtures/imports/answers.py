"""Imported answers: what a log says that a judge answered, in a file beside the cassettes, read in place of them.

Nobody is asked here, and no log is read here: `logs.py` makes the file. It is data from outside: every line is
checked, and nothing in it names a path. docs/imported.md describes the format.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from judgefixtures.asking.judges import Reply
from judgefixtures.asking.kinds import Judged
from judgefixtures.asking.kinds.binary import verdict_of
from judgefixtures.asking.kinds.pointwise import Rating, compare, graded
from judgefixtures.asking.questions import Arm
from judgefixtures.cassettes.files import CassetteError, atomic_write, dump
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import NO_CUE, Condition, Order, Single
from judgefixtures.material.diction import wording_about
from judgefixtures.material.pairs import Example, Pair, swapped
from judgefixtures.reading.grades import Grade
from judgefixtures.reading.scores import Score
from judgefixtures.reading.verdicts import InvalidKind, Verdict
from judgefixtures.words.errors import JudgeFixturesError

FILE = "imported.jsonl"
FORMAT = 1
FORMAT_KEY = "judgefixtures_import"
NO_VERDICT = "the log has no verdict"
NO_GRADE = "the log has no grade"
NO_SCORE = "the log has no score"
MOST_NAMED = 5

Selected = Literal[1, 2, "tie"] | None


class Key(NamedTuple):
    """What an answer is about: a condition without its order, a pair, its texts as they were shown, and a repeat."""

    condition: str
    pair: str
    shown: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Logged(ABC):
    """One answer of a log: what it is about, its reason, and why nothing was said that counts, where that is known."""

    field: ClassVar[str]  # under which a line of the file has what was said
    mode: ClassVar[str]  # of the judges that say such things

    key: Key
    reason: str = ""
    invalid: InvalidKind | None = None

    @property
    @abstractmethod
    def said(self) -> Any:
        """What was said, as a line of the file has it; None for nothing that counts."""

    @classmethod
    @abstractmethod
    def of(cls, said: Any, key: Key, reason: str, invalid: InvalidKind | None) -> Logged:
        """Return an answer by what was said; raises ValueError for anything else."""

    @abstractmethod
    def reply(self, table: JudgeTable) -> Reply:
        """Return the answer as a judge's reply; what a tie counts, and what passes, is the table's business."""

    def turned(self) -> Logged | None:
        """Return what it says of the same two responses the other way round; None where that is another question."""
        return None

    def alone(self, number: Literal[1, 2]) -> Logged | None:  # noqa: ARG002
        """Return what it says of one of the two responses by itself; None where it says nothing of that."""
        return None

    @property
    def row(self) -> dict[str, Any]:
        """The answer as a line of the file."""
        return {
            **self.key._asdict(),
            self.field: self.said,
            "reason": self.reason,
            **({"invalid": self.invalid} if self.invalid else {}),
        }


@dataclass(frozen=True, slots=True)
class Answered(Logged):
    """A choice: of what stood first (1) or second (2), a tie, or there is no verdict (None)."""

    field: ClassVar[str] = "selected_response"
    mode: ClassVar[str] = "pairwise"

    selected: Selected = None

    @property
    def said(self) -> Selected:
        """The choice."""
        return self.selected

    @classmethod
    def of(cls, said: Any, key: Key, reason: str, invalid: InvalidKind | None) -> Answered:
        """Return the choice of 1, 2, a tie or nothing."""
        if isinstance(said, bool) or said not in (1, 2, "tie", None):
            raise ValueError(f"selected_response is {said!r}")
        return cls(key, reason, invalid, said)

    def reply(self, table: JudgeTable) -> Reply:
        """Return the choice as a verdict."""
        if self.selected == "tie":
            verdict = Verdict(None, self.reason, tie=True) if table.counts_ties else Verdict(None, self.reason, "tie")
            return Reply(verdict, imported=True)
        if self.selected is None:
            return Reply(Verdict(None, self.reason, self.invalid or "not-a-choice"), detail=NO_VERDICT, imported=True)
        return Reply(Verdict(self.selected, self.reason), imported=True)


@dataclass(frozen=True, slots=True)
class Graded(Logged):
    """A grade: whether one response passed, or there is none (None)."""

    field: ClassVar[str] = "passed"
    mode: ClassVar[str] = "binary"

    passed: bool | None = None

    @property
    def said(self) -> bool | None:
        """Whether it passed."""
        return self.passed

    @classmethod
    def of(cls, said: Any, key: Key, reason: str, invalid: InvalidKind | None) -> Graded:
        """Return the grade of true, false or nothing."""
        if said is not None and not isinstance(said, bool):
            raise ValueError(f"passed is {said!r}")
        return cls(key, reason, invalid, said)

    def reply(self, table: JudgeTable) -> Reply:  # noqa: ARG002 (a grade is one of two)
        """Return the grade as the verdict that stands for it."""
        invalid = None if self.passed is not None else self.invalid or "not-a-choice"
        verdict = verdict_of(Grade(self.passed, self.reason, invalid))
        return Reply(verdict, detail=NO_GRADE if invalid else "", imported=True)


@dataclass(frozen=True, slots=True)
class Scored(Logged):
    """The score of one response, or those of two in the order in which they were shown; or there is none (None)."""

    field: ClassVar[str] = "scores"
    mode: ClassVar[str] = "pointwise"

    scores: tuple[float, ...] | None = None

    @property
    def said(self) -> list[float] | None:
        """The scores."""
        return None if self.scores is None else list(self.scores)

    @classmethod
    def of(cls, said: Any, key: Key, reason: str, invalid: InvalidKind | None) -> Scored:
        """Return the one score or the two of a list, or nothing."""
        if said is None:
            return cls(key, reason, invalid)
        if not isinstance(said, list | tuple) or len(said) not in (1, 2) or not all(map(_is_score, said)):
            raise ValueError(f"scores is {said!r}")
        return cls(key, reason, invalid, tuple(said))

    def reply(self, table: JudgeTable) -> Reply:
        """Return the verdict that two scores amount to, or the grade that one does where the table has a mark."""
        first, *second = (self._rated(score) for score in self.scores or (None,))
        if second:
            found = compare(first, second[0], "", counts_ties=table.counts_ties)
        else:
            found = graded(first, table.pass_mark)
        verdict = replace(found.verdict, reason=self.reason)  # of two scores, too, a log has one
        return replace(found, verdict=verdict, detail="" if self.scores else NO_SCORE, imported=True)

    def _rated(self, score: float | None) -> Rating:
        return Rating(score=Score(score, "", (self.invalid or "not-a-choice") if score is None else None))

    def turned(self) -> Logged:
        """Return it with its scores in the other order: each is of one response, and no order was seen."""
        return replace(self, scores=self.scores and self.scores[::-1])

    def alone(self, number: Literal[1, 2]) -> Logged:
        """Return the score of one of two responses."""
        return replace(self, scores=self.scores and (self.scores[number - 1],))


def _is_score(value: Any) -> bool:
    """Tell whether a value of JSON is a number that a float can hold."""
    try:
        return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


LINES: Mapping[str, type[Logged]] = {each.field: each for each in (Answered, Graded, Scored)}


@dataclass(frozen=True, slots=True)
class Log:
    """A file that answers were imported from: its name alone, and a digest of its content."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What is imported of one judge on one dataset."""

    judge: str
    dataset: str
    logs: tuple[Log, ...]
    answers: Mapping[Key, Logged]

    def found(self, pairs: Sequence[Pair], arm: Arm) -> dict[str, Logged]:
        """Return what the log answers in an arm, by pair id."""
        found = ((pair.id, self._answer(pair, arm)) for pair in pairs)
        return {pair: answered for pair, answered in found if answered is not None}

    def _answer(self, pair: Pair, arm: Arm) -> Logged | None:
        """Return what the log answers about a pair, or about one of the responses of a pair that it is about."""
        condition, repeat = arm
        own = self._shown(pair, condition, repeat)
        if own is not None:
            return own
        if isinstance(pair, Example):
            as_it_is = condition.name == NO_CUE.name  # with a cue it stood beside another response with another one
            both = self._answer(pair.of, (NO_CUE, repeat)) if pair.of is not None and as_it_is else None
            return both and both.alone(pair.number)
        turned = self._shown(pair, mirrored(condition), repeat)
        return turned and turned.turned()

    def _shown(self, pair: Pair, condition: Condition, repeat: int) -> Logged | None:
        """Return the answer about a pair as it is shown in a condition, with its responses in that order."""
        return self.answers.get(Key(bare_name(condition), pair.id, shown_digest(pair, condition.order), repeat))

    def has(self, pairs: Sequence[Pair], arm: Arm) -> bool:
        """Tell whether the log answers anything in an arm."""
        return bool(self.found(pairs, arm))

    @property
    def content(self) -> bytes:
        """The file: a header, then the answers, sorted, so that importing the same again changes no byte."""
        head = {
            FORMAT_KEY: FORMAT,
            "judge": self.judge,
            "dataset": self.dataset,
            "logs": [{"name": log.name, "digest": log.digest} for log in self.logs],
        }
        return b"".join(dump(line) + b"\n" for line in (head, *(self.answers[key].row for key in sorted(self.answers))))


def name_first(names: Sequence[str]) -> str:
    """Return the first of some names.

    >>> name_first("abcdef")
    'a, b, c, d, e, ...'
    """
    return ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")


def bare_name(condition: Condition) -> str:
    """Return a condition's name without the order of the responses, which the texts as they were shown tell.

    >>> bare_name(Condition(order="21"))
    'no-cue'
    """
    return replace(condition, order="12").name if condition.order != "12" else condition.name


def mirrored(condition: Condition) -> Condition:
    """Return the condition in which the same two responses stand the other way round, each with its own cue.

    >>> from judgefixtures.material.contrasts import contrasts
    >>> mirrored(contrasts("recency")[0].x).name
    'recency-old-new-21'
    """
    order: Order = "21" if condition.order == "12" else "12"
    return replace(condition, cue_1=condition.cue_2, cue_2=condition.cue_1, order=order)


def shown_digest(pair: Pair, order: Order) -> str:
    """Return a digest of a pair's texts in the order in which they were shown.

    So an answer is found whichever of the two responses the run calls the first one. An example's second one is empty.

    >>> pair = Pair("1", "Why?", "So.", "No.")
    >>> shown_digest(pair, "21") == shown_digest(swapped(pair), "12") != shown_digest(pair, "12")
    True
    """
    shown = pair if order == "12" else swapped(pair)
    return hashlib.sha256(json.dumps([shown.question, shown.response_1, shown.response_2]).encode()).hexdigest()[:16]


def write_imported(path: Path, imported: Imported) -> None:
    """Write imported answers, whole or not at all."""
    atomic_write(path, imported.content)


def logs_of(path: Path) -> tuple[Log, ...]:
    """Return the logs that a file's answers are of: its first line alone is read. Raises CassetteError."""
    try:
        with path.open(encoding="utf-8") as file:
            logs: tuple[Log, ...] = _head(json.loads(file.readline()))["logs"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CassetteError(f"{path}:1 is not a line of imported answers ({error}). {AGAIN}") from None
    return logs


def read_imported(path: Path) -> Imported:
    """Return the imported answers of a file; raises CassetteError naming the line that is not what it should be."""
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CassetteError(f"{path} cannot be read ({error}). {AGAIN}") from None
    answers: dict[Key, Logged] = {}
    head: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            if not head:
                head = _head(fields)
                continue
            answered = _answered(fields)
            if answered.key in answers:
                raise ValueError("the same pair, order, condition and repeat stand in it twice")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CassetteError(f"{path}:{number} is not a line of imported answers ({error}). {AGAIN}") from None
        answers[answered.key] = answered
    if not head:
        raise CassetteError(f"{path} is empty. {AGAIN}")
    return Imported(head["judge"], head["dataset"], head["logs"], answers)


AGAIN = "Restore it, or import the log again (judgefixtures import)."


def _head(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict) or fields.get(FORMAT_KEY) != FORMAT:
        raise ValueError(f"the first line must say {FORMAT_KEY}: {FORMAT}")
    logs = tuple(Log(_text(log["name"]), _text(log["digest"])) for log in fields["logs"])
    return {"judge": _text(fields["judge"]), "dataset": _text(fields["dataset"]), "logs": logs}


def _answered(fields: Any) -> Logged:
    if not isinstance(fields, dict):
        raise TypeError("it is not an object")
    form = next((each for name, each in LINES.items() if name in fields), Answered)
    repeat, said, invalid = fields["repeat"], fields[form.field], fields.get("invalid")
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise ValueError(f"repeat is {repeat!r}")
    if invalid is not None and (said is not None or invalid not in get_args(InvalidKind)):
        raise ValueError(f"invalid is {invalid!r}")
    key = Key(_text(fields["condition"]), _text(fields["pair"]), _text(fields["shown"]), repeat)
    return form.of(said, key, _text(fields["reason"]), invalid)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


class Imports:
    """The imported answers of a folder of recordings: each file is read once, when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[tuple[str, str], Imported] = {}

    def path(self, judge: str, dataset: str) -> Path:
        """Return where the imported answers of a judge on a dataset lie."""
        return self._root / judge / dataset / FILE

    def identity(self, judge: str) -> dict[str, Any]:
        """Return what the answers of an imported judge are: for each dataset its logs, as names with digests.

        A file that cannot be read is none here: whoever asks about its dataset is told.
        """
        found: dict[str, list[str]] = {}
        for file in sorted(self._root.glob(f"{judge}/*/{FILE}")):
            with contextlib.suppress(CassetteError):
                found[file.parent.name] = [f"{log.name} {log.digest}" for log in logs_of(file)]
        return {"answers": found}

    def of(self, judge: str, dataset: str) -> Imported:
        """Return what is imported of a judge on a dataset; raises JudgeFixturesError where nothing is."""
        key = (judge, dataset)
        if key not in self._read:
            path = self.path(judge, dataset)
            if not path.is_file():
                datasets = sorted(file.parent.name for file in self._root.glob(f"{judge}/*/{FILE}"))
                others = f"Ask about {' or '.join(datasets)} (--judge-dataset), or import" if datasets else "Import"
                raise JudgeFixturesError(
                    f"{judge} is imported, and there are no answers of it about {dataset}: {path} does not exist. "
                    f"{others} them: judgefixtures import FILE --judge {judge} --dataset {dataset}"
                )
            found = read_imported(path)
            if (found.judge, found.dataset) != key:
                raise CassetteError(
                    f"{path} holds answers of {found.judge} about {found.dataset}: it was moved, or "
                    f"copied, by hand. {AGAIN}"
                )
            self._read[key] = found
        return self._read[key]

    def recorded(self, judge: Judged, dataset: str, pairs: Sequence[Pair], arm: Arm) -> dict[str, Reply]:
        """Return what the log answers in an arm, by pair id."""
        table, found = judge.table, self.of(judge.name, dataset).found(pairs, arm)
        if other := next((each.mode for each in found.values() if each.mode != table.mode), ""):
            raise JudgeFixturesError(
                f"{self.path(judge.name, dataset)} has answers of a judge with mode = {other!r}, and {table.heading} "
                f"has mode = {table.mode!r}: set the other there, or import the log again (judgefixtures import)."
            )
        return {pair: answered.reply(table) for pair, answered in found.items()}

    def replies(
        self, judge: Judged, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm]
    ) -> list[tuple[Reply, ...]]:
        """Return every arm's replies in the order of the pairs; raises JudgeFixturesError where some are lacking."""
        replies = []
        for arm in arms:
            found = self.recorded(judge, dataset, pairs, arm)
            if lacking := [pair for pair in pairs if pair.id not in found]:
                raise JudgeFixturesError(self._lacking(judge.name, dataset, arm, lacking, len(pairs)))
            replies.append(tuple(found[pair.id] for pair in pairs))
        return replies

    def unanswered(self, judge: str, dataset: str, pairs: Sequence[Pair], arms: Iterable[Arm]) -> str:
        """Return why a log answers nothing at all in an arm, empty where it answers something in each.

        A log without any cue-free answer about these pairs is not about them: that is for `replies` to say.
        """
        imported = self.of(judge, dataset)
        if not any(imported.has(pairs, (replace(NO_CUE, order=order), 0)) for order in get_args(Order)):
            return ""
        for arm in arms:
            if not imported.has(pairs, arm):
                return (
                    f"{judge} is imported: its log has no answers in condition {_named(arm)} "
                    f"({len(pairs)} {wording_about(pairs).many} lacking)"
                )
        return ""

    def _lacking(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair], n: int) -> str:
        names, many = name_first([pair.id for pair in lacking]), wording_about(lacking).many
        also = self._in_the_other_order(judge, dataset, arm, lacking)
        return (
            f"{judge} is imported: its log has no answer about {len(lacking)} of {n} {many} of {dataset} in condition "
            f"{_named(arm)}{also}: {names}. Nothing can be asked: import a log that has them, or ask about the {many} "
            f"that it has answers about, which lie beside {self.path(judge, dataset)} in pairs.jsonl."
        )

    def _in_the_other_order(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair]) -> str:
        """Return of how many that lack an answer the log has the other order; a single response has none."""
        condition, repeat = arm
        if isinstance(condition, Single) or repeat:
            return ""
        other: Order = "21" if condition.order == "12" else "12"
        there = len(self.of(judge, dataset).found(lacking, (replace(condition, order=other), repeat)))
        # Both orders of a pair are one another's mirror: which is called the first may differ from run to run.
        return f" (about {there} of them it has the other order alone)" if there else ""


def _named(arm: Arm) -> str:
    condition, repeat = arm
    return f"{condition.name}, repeat {repeat}" if repeat else condition.name
