"""File of imported answers, stored beside the cassettes and read in place of them.

`import_log.py` writes the file. Every line is checked when it is read. docs/how-to/import.md describes the columns.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from judgefixtures.cassettes.files import CassetteError, atomic_write, dump_json
from judgefixtures.config import JudgeTable
from judgefixtures.judges.binary import grade_to_verdict
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.pointwise import ScoreReply, compare_scores, reply_of_score
from judgefixtures.models.contrasts import NO_CUE, Condition, Order, SingleResponseCondition
from judgefixtures.models.pairs import Example, Pair, id_key, with_line_ends
from judgefixtures.models.replies import Arm, JudgeReply
from judgefixtures.models.verdicts import Grade, InvalidKind, Score, Verdict
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import open_regular

FILE = "imported.jsonl"
FORMAT = 1
FORMAT_KEY = "judgefixtures_import"
NO_VERDICT = "the log has no verdict"
NO_GRADE = "the log has no grade"
NO_SCORE = "the log has no score"
MOST_NAMED = 5

Selected = Literal[1, 2, "tie"] | None


class AnswerKeyFields(NamedTuple):
    """What an answer is about: a condition without its order, a pair, its texts as they were shown, and a repeat."""

    condition: str
    pair: str
    shown: str
    repeat: int


@dataclass(frozen=True, slots=True)
class ImportedAnswer(ABC):
    """One answer of a log: what it is about, its reason, and why nothing was said that counts, where that is known."""

    field: ClassVar[str]  # under which a line of the file has what was said
    mode: ClassVar[str]  # of the judges that say such things

    key: AnswerKeyFields
    reason: str = ""
    invalid: InvalidKind | None = None

    @property
    @abstractmethod
    def said(self) -> Any:
        """What was said, as a line of the file has it; None for nothing that counts."""

    @classmethod
    @abstractmethod
    def of(cls, value: Any, key: AnswerKeyFields, reason: str, invalid: InvalidKind | None) -> ImportedAnswer:
        """Return an answer by what was said; raises ValueError for anything else."""

    @abstractmethod
    def reply(self, table: JudgeTable) -> JudgeReply:
        """Return the answer as a judge's reply; what a tie counts, and what passes, is the table's business."""

    def turned(self) -> ImportedAnswer | None:
        """Return what it says of the same two responses the other way round; None where that is another question."""
        return None

    def alone(self, number: Literal[1, 2]) -> ImportedAnswer | None:  # noqa: ARG002
        """Return what it says of one of the two responses by itself; None where it says nothing of that."""
        return None

    @property
    def row(self) -> dict[str, Any]:
        """The answer as a line of the file."""
        invalid = {"invalid": self.invalid} if self.invalid else {}
        return {**self.key._asdict(), self.field: self.said, "reason": self.reason, **invalid}


@dataclass(frozen=True, slots=True)
class ImportedChoice(ImportedAnswer):
    """A choice: of what stood first (1) or second (2), a tie, or there is no verdict (None)."""

    field: ClassVar[str] = "selected_response"
    mode: ClassVar[str] = "pairwise"

    selected: Selected = None

    @property
    def said(self) -> Selected:
        """The choice."""
        return self.selected

    @classmethod
    def of(cls, value: Any, key: AnswerKeyFields, reason: str, invalid: InvalidKind | None) -> ImportedChoice:
        """Return the choice of 1, 2, a tie or nothing."""
        if isinstance(value, bool) or value not in (1, 2, "tie", None):
            raise ValueError(f"selected_response is {value!r}")
        return cls(key, reason, invalid, value)

    def reply(self, table: JudgeTable) -> JudgeReply:
        """Return the choice as a verdict."""
        if self.selected == "tie":
            verdict = Verdict(None, self.reason, tie=True) if table.counts_ties else Verdict(None, self.reason, "tie")
            return JudgeReply(verdict, imported=True)
        if self.selected is None:
            verdict = Verdict(None, self.reason, self.invalid or "not-a-choice")
            return JudgeReply(verdict, detail=NO_VERDICT, imported=True)
        return JudgeReply(Verdict(self.selected, self.reason), imported=True)


@dataclass(frozen=True, slots=True)
class ImportedGrade(ImportedAnswer):
    """A grade: whether one response passed, or there is none (None)."""

    field: ClassVar[str] = "passed"
    mode: ClassVar[str] = "binary"

    passed: bool | None = None

    @property
    def said(self) -> bool | None:
        """Whether it passed."""
        return self.passed

    @classmethod
    def of(cls, value: Any, key: AnswerKeyFields, reason: str, invalid: InvalidKind | None) -> ImportedGrade:
        """Return the grade of true, false or nothing."""
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"passed is {value!r}")
        return cls(key, reason, invalid, value)

    def reply(self, table: JudgeTable) -> JudgeReply:  # noqa: ARG002 (a grade is one of two)
        """Return the grade as the verdict that stands for it."""
        invalid = None if self.passed is not None else self.invalid or "not-a-choice"
        verdict = grade_to_verdict(Grade(self.passed, self.reason, invalid))
        return JudgeReply(verdict, detail=NO_GRADE if invalid else "", imported=True)


@dataclass(frozen=True, slots=True)
class ImportedScore(ImportedAnswer):
    """The score of one response, or those of two in the order in which they were shown; or there is none (None)."""

    field: ClassVar[str] = "scores"
    mode: ClassVar[str] = "pointwise"

    scores: tuple[float, ...] | None = None

    @property
    def said(self) -> list[float] | None:
        """The scores."""
        return None if self.scores is None else list(self.scores)

    @classmethod
    def of(cls, value: Any, key: AnswerKeyFields, reason: str, invalid: InvalidKind | None) -> ImportedScore:
        """Return the one score or the two of a list, or nothing."""
        if value is None:
            return cls(key, reason, invalid)
        if not isinstance(value, list | tuple) or len(value) not in (1, 2) or not all(map(_is_score, value)):
            raise ValueError(f"scores is {value!r}")
        return cls(key, reason, invalid, tuple(value))

    def reply(self, table: JudgeTable) -> JudgeReply:
        """Return the verdict that two scores amount to, or the grade that one does where the table has a mark."""
        lowest, highest = table.scale
        if off := [score for score in self.scores or () if not lowest <= score <= highest]:
            raise JudgeFixturesError(
                f"{FILE}: the score {off[0]:g} of {self.key.pair!r} lies outside of scale = [{lowest}, {highest}] in "
                f"{table.heading}. Correct the scale there, or import the log again."
            )
        first, *second = (self._rated(score) for score in self.scores or (None,))
        if second:
            result = compare_scores(first, second[0], "", counts_ties=table.counts_ties)
        else:
            result = reply_of_score(first, table.pass_mark)
        verdict = replace(result.verdict, reason=self.reason)  # of two scores, too, a log has one
        return replace(result, verdict=verdict, detail="" if self.scores else NO_SCORE, imported=True)

    def _rated(self, score: float | None) -> ScoreReply:
        return ScoreReply(score=Score(score, "", (self.invalid or "not-a-choice") if score is None else None))

    def turned(self) -> ImportedAnswer:
        """Return it with its scores in the other order: each is of one response, and no order was seen."""
        return replace(self, scores=self.scores and self.scores[::-1])

    def alone(self, number: Literal[1, 2]) -> ImportedAnswer:
        """Return the score of one of two responses."""
        return replace(self, scores=self.scores and (self.scores[number - 1],))


def _is_score(value: Any) -> bool:
    """Tell whether a value of JSON is a number that a float can hold."""
    try:
        return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


LINES: Mapping[str, type[ImportedAnswer]] = {of.field: of for of in (ImportedChoice, ImportedGrade, ImportedScore)}


@dataclass(frozen=True, slots=True)
class LogSource:
    """A file that answers were imported from: its name alone, and a digest of its content."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What is imported of one judge on one dataset."""

    judge: str
    dataset: str
    logs: tuple[LogSource, ...]
    answers: Mapping[AnswerKeyFields, ImportedAnswer]

    def found(self, pairs: Sequence[Pair], arm: Arm) -> dict[str, ImportedAnswer]:
        """Return what the log answers in an arm, by pair id."""
        names = {id_key(key.pair): key.pair for key in self.answers}
        known = (replace(pair, id=names.get(id_key(pair.id), pair.id)) for pair in pairs)
        answers = ((pair.id, self._answer(each, arm)) for pair, each in zip(pairs, known, strict=True))
        return {pair: answered for pair, answered in answers if answered is not None}

    def _answer(self, pair: Pair, arm: Arm) -> ImportedAnswer | None:
        """Return what the log answers about a pair, or about one of the responses of a pair that it is about."""
        condition, repeat = arm
        own = self._shown(pair, condition, repeat)
        if own is not None:
            return own
        if isinstance(pair, Example):
            as_it_is = condition.name == NO_CUE.name  # with a cue it stood beside another response with another one
            both = self._answer(pair.of, (NO_CUE, repeat)) if pair.of is not None and as_it_is else None
            return both and both.alone(pair.number)
        turned = self._shown(pair, mirrored_condition(condition), repeat)
        return turned and turned.turned()

    def _shown(self, pair: Pair, condition: Condition, repeat: int) -> ImportedAnswer | None:
        """Return the answer about a pair as it is shown in a condition, with its responses in that order."""
        spelled = (shown_texts_digest(each, condition.order) for each in (pair, with_line_ends(pair, "\r\n")))
        keys = (AnswerKeyFields(name_without_order(condition), pair.id, digest, repeat) for digest in spelled)
        return next((self.answers[key] for key in keys if key in self.answers), None)

    def has(self, pairs: Sequence[Pair], arm: Arm) -> bool:
        """Tell whether the log answers anything in an arm."""
        return bool(self.found(pairs, arm))

    @property
    def lines(self) -> Iterator[bytes]:
        """The file: a header, then the answers, sorted, so that importing the same again changes no byte."""
        head = {
            FORMAT_KEY: FORMAT,
            "judge": self.judge,
            "dataset": self.dataset,
            "logs": [{"name": log.name, "digest": log.digest} for log in self.logs],
        }
        yield dump_json(head) + b"\n"
        yield from (dump_json(self.answers[key].row) + b"\n" for key in sorted(self.answers))


def list_first_names(names: Sequence[str]) -> str:
    """Return the first of some names.

    >>> list_first_names("abcdef")
    'a, b, c, d, e, ...'
    """
    return ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")


def name_without_order(condition: Condition) -> str:
    """Return a condition's name without the order of the responses, which the texts as they were shown tell.

    >>> name_without_order(Condition(order="21"))
    'no-cue'
    """
    return replace(condition, order="12").name if condition.order != "12" else condition.name


def mirrored_condition(condition: Condition) -> Condition:
    """Return the condition in which the same two responses stand the other way round, each with its own cue.

    >>> from judgefixtures.models.contrasts import contrasts
    >>> mirrored_condition(contrasts("recency")[0].x).name
    'recency-old-new-21'
    """
    order: Order = "21" if condition.order == "12" else "12"
    return replace(condition, cue_1=condition.cue_2, cue_2=condition.cue_1, order=order)


def shown_texts_digest(pair: Pair, order: Order) -> str:
    """Return a digest of a pair's texts in the order in which they were shown.

    So an answer is found whichever of the two responses the run calls the first one. An example's second one is empty.

    >>> from judgefixtures.models.pairs import swap_responses
    >>> pair = Pair("1", "Why?", "So.", "No.")
    >>> digest = shown_texts_digest(pair, "21")
    >>> digest == shown_texts_digest(swap_responses(pair), "12") != shown_texts_digest(pair, "12")
    True
    """
    first, second = pair.response_1, pair.response_2
    texts = [pair.question, *((first, second) if order == "12" else (second, first))]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def write_imported(path: Path, imported: Imported) -> None:
    """Write imported answers, whole or not at all."""
    atomic_write(path, imported.lines)


def logs_in_file(path: Path) -> tuple[LogSource, ...]:
    """Return the logs that a file's answers are of: its first line alone is read. Raises CassetteError."""
    try:
        with open_regular(path) as file:
            logs: tuple[LogSource, ...] = _head(json.loads(file.readline()))["logs"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CassetteError(f"{path}:1 is not a line of imported answers ({error}). {AGAIN}") from None
    return logs


def read_imported(path: Path) -> Imported:
    """Return the imported answers of a file; raises CassetteError naming the line that is not what it should be."""
    answers: dict[AnswerKeyFields, ImportedAnswer] = {}
    head: dict[str, Any] = {}
    with contextlib.closing(_lines(path)) as lines:
        for number, line in lines:
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


def _lines(path: Path) -> Generator[tuple[int, bytes], None, None]:
    """Yield the lines that are not empty, each with its number."""
    try:
        with open_regular(path) as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise CassetteError(f"{path} cannot be read ({error}). {AGAIN}") from None


AGAIN = "Restore it, or import the log again (judgefixtures import)."


def _head(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict) or fields.get(FORMAT_KEY) != FORMAT:
        raise ValueError(f"the first line must say {FORMAT_KEY}: {FORMAT}")
    logs = tuple(LogSource(_text(log["name"]), _text(log["digest"])) for log in fields["logs"])
    return {"judge": _text(fields["judge"]), "dataset": _text(fields["dataset"]), "logs": logs}


def _answered(fields: Any) -> ImportedAnswer:
    if not isinstance(fields, dict):
        raise TypeError("it is not an object")
    form = next((each for name, each in LINES.items() if name in fields), ImportedChoice)
    repeat, value, invalid = fields["repeat"], fields[form.field], fields.get("invalid")
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise ValueError(f"repeat is {repeat!r}")
    if invalid is not None and (value is not None or invalid not in get_args(InvalidKind)):
        raise ValueError(f"invalid is {invalid!r}")
    key = AnswerKeyFields(_text(fields["condition"]), _text(fields["pair"]), _text(fields["shown"]), repeat)
    return form.of(value, key, _text(fields["reason"]), invalid)


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
        logs_by_dataset: dict[str, list[str]] = {}
        for file in sorted(self._root.glob(f"{judge}/*/{FILE}")):
            with contextlib.suppress(CassetteError):
                logs_by_dataset[file.parent.name] = [f"{log.name} {log.digest}" for log in logs_in_file(file)]
        return {"answers": logs_by_dataset}

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
            imported = read_imported(path)
            if (imported.judge, imported.dataset) != key:
                raise CassetteError(
                    f"{path} holds answers of {imported.judge} about {imported.dataset}: it was moved, or "
                    f"copied, by hand. {AGAIN}"
                )
            self._read[key] = imported
        return self._read[key]

    def recorded(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm) -> dict[str, JudgeReply]:
        """Return what the log answers in an arm, by pair id."""
        table, answers = judge.table, self.of(judge.name, dataset).found(pairs, arm)
        if other := next((each.mode for each in answers.values() if each.mode != table.mode), ""):
            raise JudgeFixturesError(
                f"{self.path(judge.name, dataset)} has answers of a judge with mode = {other!r}, and {table.heading} "
                f"has mode = {table.mode!r}: set the other there, or import the log again (judgefixtures import)."
            )
        return {pair: answered.reply(table) for pair, answered in answers.items()}

    def replies(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm]
    ) -> list[tuple[JudgeReply, ...]]:
        """Return every arm's replies in the order of the pairs; raises JudgeFixturesError where some are lacking."""
        replies = []
        for arm in arms:
            recorded = self.recorded(judge, dataset, pairs, arm)
            if lacking := [pair for pair in pairs if pair.id not in recorded]:
                raise JudgeFixturesError(self._lacking(judge.name, dataset, arm, lacking, len(pairs)))
            replies.append(tuple(recorded[pair.id] for pair in pairs))
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
                    f"({len(pairs)} {vocabulary_for(pairs).many} lacking)"
                )
        return ""

    def _lacking(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair], n: int) -> str:
        names, many = list_first_names([pair.id for pair in lacking]), vocabulary_for(lacking).many
        also = self._in_the_other_order(judge, dataset, arm, lacking)
        return (
            f"{judge} is imported: its log has no answer about {len(lacking)} of {n} {many} of {dataset} in condition "
            f"{_named(arm)}{also}: {names}. Nothing can be asked: import a log that has them, or ask about the {many} "
            f"that it has answers about, which lie beside {self.path(judge, dataset)} in pairs.jsonl."
        )

    def _in_the_other_order(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair]) -> str:
        """Return of how many that lack an answer the log has the other order; a single response has none."""
        condition, repeat = arm
        if isinstance(condition, SingleResponseCondition) or repeat:
            return ""
        other: Order = "21" if condition.order == "12" else "12"
        there = len(self.of(judge, dataset).found(lacking, (replace(condition, order=other), repeat)))
        # Both orders of a pair are one another's mirror: which is called the first may differ from run to run.
        return f" (about {there} of them it has the other order alone)" if there else ""


def _named(arm: Arm) -> str:
    condition, repeat = arm
    return f"{condition.name}, repeat {repeat}" if repeat else condition.name
