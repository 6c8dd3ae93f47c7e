"""File of imported answers, stored beside the cassettes and read in place of them.

`import_log.py` writes the file. Every line is checked when it is read. docs/how-to/import.md describes the columns.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from judgefixtures.cassettes.file_names import IMPORTED_FILE
from judgefixtures.cassettes.files import CassetteError, atomic_write, dump_json
from judgefixtures.config import JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.pointwise import compare_scores, reply_of_score
from judgefixtures.models.contrasts import NO_CUE, Condition, Order, SingleResponseCondition
from judgefixtures.models.pairs import Example, Pair, id_key, with_line_ends
from judgefixtures.models.replies import Arm, JudgeReply
from judgefixtures.models.verdicts import InvalidKind, NamedOutcome
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import open_regular

from .messages import MESSAGES

FORMAT = 1
FORMAT_KEY = "judgefixtures_import"
MOST_NAMED = 5

Selected = Literal[1, 2, "tie"] | None


class AnswerKeyFields(NamedTuple):
    """An answer's key: condition without order, pair, digest of texts, repeat."""

    condition: str
    pair: str
    shown: str
    repeat: int


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """What judges of a mode say: an `outcome`, under a `field` of a line, and `lacking` where nothing counts."""

    outcome: str
    field: str
    mode: str
    lacking: str
    accepts: Callable[[Any], bool]


def _are_scores(value: Any) -> bool:
    return value is None or (isinstance(value, tuple) and len(value) in (1, 2) and all(map(_is_score, value)))


def _is_score(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return False


CHOICE = AnswerKind(
    "winner",
    "selected_response",
    "pairwise",
    "the log has no verdict",
    lambda value: not isinstance(value, bool) and value in (1, 2, "tie", None),
)
GRADE = AnswerKind(
    "passed", "passed", "binary", "the log has no grade", lambda value: value is None or isinstance(value, bool)
)
SCORES = AnswerKind("score", "scores", "pointwise", "the log has no score", _are_scores)
LINES: Mapping[str, AnswerKind] = {of.field: of for of in (CHOICE, GRADE, SCORES)}


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """One answer of a log: what it is about, what was said, its reason, and why nothing was said that counts.

    What was said is a choice of what stood first (1) or second (2) or "tie", whether one response passed, or the
    scores of one response or of two in the order in which they were shown; None for nothing that counts. ValueError for
    anything else.
    """

    kind: AnswerKind
    key: AnswerKeyFields
    said: Any
    reason: str = ""
    invalid: InvalidKind | None = None

    def __post_init__(self) -> None:
        if isinstance(self.said, list):
            object.__setattr__(self, "said", tuple(self.said))
        if not self.kind.accepts(self.said):
            raise ValueError(f"{self.kind.field} is {self.said!r}")

    def reply(self, table: JudgeTable) -> JudgeReply:
        """Return the answer as a judge's reply, by the judge's table."""
        if self.said is None:
            verdict = NamedOutcome(None, self.reason, self.invalid or "not-a-choice", name=self.kind.outcome)
            return JudgeReply(verdict, imported=True, detail=self.kind.lacking)
        if self.said == "tie":
            ties = table.counts_ties
            return JudgeReply(NamedOutcome(None, self.reason, None if ties else "tie", tie=ties), imported=True)
        if self.kind is not SCORES:
            return JudgeReply(NamedOutcome(self.said, self.reason, name=self.kind.outcome), imported=True)
        lowest, highest = table.scale
        if off := [score for score in self.said if not lowest <= score <= highest]:
            raise JudgeFixturesError(
                MESSAGES.score_outside_scale(IMPORTED_FILE, off, self.key.pair, lowest, highest, table)
            )
        first, *second = (JudgeReply(NamedOutcome(score, "", name="score")) for score in self.said)
        if second:
            result = compare_scores(first, second[0], "", counts_ties=table.counts_ties)
        else:
            result = reply_of_score(first, table.pass_mark)
        verdict = replace(result.verdict, reason=self.reason)  # of two scores, too, a log has one
        return replace(result, verdict=verdict, imported=True)

    def turned(self) -> ImportedAnswer | None:
        """Return what it says of the same two responses the other way round; None where that is another question.

        Scores are each of one response, and no order was seen.
        """
        return replace(self, said=self.said and self.said[::-1]) if self.kind is SCORES else None

    def alone(self, number: Literal[1, 2]) -> ImportedAnswer | None:
        """Return the answer about one response alone, or None."""
        return replace(self, said=self.said and self.said[number - 1 : number]) if self.kind is SCORES else None

    @property
    def row(self) -> dict[str, Any]:
        """The answer as a line of the file."""
        invalid = {"invalid": self.invalid} if self.invalid else {}
        return {**self.key._asdict(), self.kind.field: self.said, "reason": self.reason, **invalid}


@dataclass(frozen=True, slots=True)
class LogSource:
    """An imported file's name and content digest."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The imported answers of one judge on one dataset."""

    judge: str
    dataset: str
    logs: tuple[LogSource, ...]
    answers: Mapping[AnswerKeyFields, ImportedAnswer]

    def found(self, pairs: Sequence[Pair], arm: Arm) -> dict[str, ImportedAnswer]:
        """Return the answers in an arm by pair id."""
        return dict(self._found(pairs, arm))

    def _found(self, pairs: Sequence[Pair], arm: Arm) -> Iterator[tuple[str, ImportedAnswer]]:
        names = {id_key(key.pair): key.pair for key in self.answers}
        for pair in pairs:
            answered = self._answer(replace(pair, id=names.get(id_key(pair.id), pair.id)), arm)
            if answered is not None:
                yield pair.id, answered

    def _answer(self, pair: Pair, arm: Arm) -> ImportedAnswer | None:
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
        spelled = (shown_texts_digest(each, condition.order) for each in (pair, with_line_ends(pair, "\r\n")))
        keys = (AnswerKeyFields(name_without_order(condition), pair.id, digest, repeat) for digest in spelled)
        return next((self.answers[key] for key in keys if key in self.answers), None)

    def has(self, pairs: Sequence[Pair], arm: Arm) -> bool:
        """Return whether the log has any answer in an arm."""
        return any(self._found(pairs, arm))

    @property
    def lines(self) -> Iterator[bytes]:
        """The lines of the file, sorted: importing again changes nothing."""
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
    """Return a condition's name without the order.

    >>> name_without_order(Condition(order="21"))
    'no-cue'
    """
    return replace(condition, order="12").name if condition.order != "12" else condition.name


def mirrored_condition(condition: Condition) -> Condition:
    """Return the condition with responses and cues exchanged.

    >>> from judgefixtures.models.contrasts import contrasts
    >>> mirrored_condition(contrasts("recency")[0].x).name
    'recency-old-new-21'
    """
    order: Order = "21" if condition.order == "12" else "12"
    return replace(condition, cue_1=condition.cue_2, cue_2=condition.cue_1, order=order)


def shown_texts_digest(pair: Pair, order: Order) -> str:
    """Return a digest of a pair's texts in the order shown.

    The second response of an example is empty.

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
    """Write imported answers atomically."""
    atomic_write(path, imported.lines)


def logs_in_file(path: Path) -> tuple[LogSource, ...]:
    """Return a file's logs from its first line, or raise CassetteError."""
    try:
        with open_regular(path) as file:
            logs: tuple[LogSource, ...] = _head(json.loads(file.readline()))["logs"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CassetteError(f"{path}:1 is not a line of imported answers ({error}). {AGAIN}") from None
    return logs


def read_imported(path: Path) -> Imported:
    """Return a file's imported answers, or raise CassetteError naming the line."""
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
                    raise ValueError("it has the same pair, order, condition and repeat twice")
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise CassetteError(f"{path}:{number} is not a line of imported answers ({error}). {AGAIN}") from None
            answers[answered.key] = answered
    if not head:
        raise CassetteError(f"{path} is empty. {AGAIN}")
    return Imported(head["judge"], head["dataset"], head["logs"], answers)


def _lines(path: Path) -> Generator[tuple[int, bytes], None, None]:
    try:
        with open_regular(path) as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise CassetteError(f"{path} cannot be read ({error}). {AGAIN}") from None


AGAIN = "Restore it, or import the log again (judgefixtures import)."


def _head(fields: Any) -> dict[str, Any]:
    if not isinstance(fields, dict) or fields.get(FORMAT_KEY) != FORMAT:
        raise ValueError(f"the first line must have {FORMAT_KEY}: {FORMAT}")
    logs = tuple(LogSource(_text(log["name"]), _text(log["digest"])) for log in fields["logs"])
    return {"judge": _text(fields["judge"]), "dataset": _text(fields["dataset"]), "logs": logs}


def _answered(fields: Any) -> ImportedAnswer:
    if not isinstance(fields, dict):
        raise TypeError("it is not an object")
    kind = next((each for name, each in LINES.items() if name in fields), CHOICE)
    repeat, value, invalid = fields["repeat"], fields[kind.field], fields.get("invalid")
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise ValueError(f"repeat is {repeat!r}")
    if invalid is not None and (value is not None or invalid not in get_args(InvalidKind)):
        raise ValueError(f"invalid is {invalid!r}")
    key = AnswerKeyFields(_text(fields["condition"]), _text(fields["pair"]), _text(fields["shown"]), repeat)
    return ImportedAnswer(kind, key, value, _text(fields["reason"]), invalid)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


class Imports:
    """The imported answers in a folder of recordings, read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[tuple[str, str], Imported] = {}

    def path(self, judge: str, dataset: str) -> Path:
        """Return the file for a judge and dataset."""
        return self._root / judge / dataset / IMPORTED_FILE

    def identity(self, judge: str) -> dict[str, Any]:
        """Return an imported judge's logs by dataset, without unreadable files."""
        logs_by_dataset: dict[str, list[str]] = {}
        for file in sorted(self._root.glob(f"{judge}/*/{IMPORTED_FILE}")):
            with contextlib.suppress(CassetteError):
                logs_by_dataset[file.parent.name] = [f"{log.name} {log.digest}" for log in logs_in_file(file)]
        return {"answers": logs_by_dataset}

    def of(self, judge: str, dataset: str) -> Imported:
        """Return a judge's answers on a dataset, or raise JudgeFixturesError."""
        key = (judge, dataset)
        if key not in self._read:
            path = self.path(judge, dataset)
            if not path.is_file():
                datasets = sorted(file.parent.name for file in self._root.glob(f"{judge}/*/{IMPORTED_FILE}"))
                others = f"Use --judge-dataset {' or '.join(datasets)}, or import" if datasets else "Import"
                raise JudgeFixturesError(MESSAGES.no_imported_answers(judge, dataset, path, others))
            imported = read_imported(path)
            if (imported.judge, imported.dataset) != key:
                raise CassetteError(MESSAGES.moved_answers(path, imported, AGAIN))
            self._read[key] = imported
        return self._read[key]

    def recorded(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm) -> dict[str, JudgeReply]:
        """Return the replies in an arm by pair id."""
        table, answers = judge.table, self.of(judge.name, dataset).found(pairs, arm)
        if other := next((each.kind.mode for each in answers.values() if each.kind.mode != table.mode), ""):
            raise JudgeFixturesError(MESSAGES.answers_of_another_mode(self.path(judge.name, dataset), other, table))
        return {pair: answered.reply(table) for pair, answered in answers.items()}

    def replies(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm]
    ) -> list[tuple[JudgeReply, ...]]:
        """Return every arm's replies in pair order.

        Raises:
            JudgeFixturesError: An answer is missing.
        """
        replies = []
        for arm in arms:
            recorded = self.recorded(judge, dataset, pairs, arm)
            if lacking := [pair for pair in pairs if pair.id not in recorded]:
                raise JudgeFixturesError(self._lacking(judge.name, dataset, arm, lacking, len(pairs)))
            replies.append(tuple(recorded[pair.id] for pair in pairs))
        return replies

    def unanswered(self, judge: str, dataset: str, pairs: Sequence[Pair], arms: Iterable[Arm]) -> str:
        """Return why the log has no answers in an arm, or "".

        "" also if the log has no cue-free answer: `replies` reports that.
        """
        imported = self.of(judge, dataset)
        if not any(imported.has(pairs, (replace(NO_CUE, order=order), 0)) for order in get_args(Order)):
            return ""
        for arm in arms:
            if not imported.has(pairs, arm):
                return MESSAGES.no_answers_in_condition(judge, _named(arm), pairs, vocabulary_for(pairs).many)
        return ""

    def _lacking(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair], n: int) -> str:
        names, many = list_first_names([pair.id for pair in lacking]), vocabulary_for(lacking).many
        also = self._in_the_other_order(judge, dataset, arm, lacking)
        return MESSAGES.answers_lacking(
            judge, lacking, n, many, dataset, _named(arm), also, names, self.path(judge, dataset)
        )

    def _in_the_other_order(self, judge: str, dataset: str, arm: Arm, lacking: Sequence[Pair]) -> str:
        condition, repeat = arm
        if isinstance(condition, SingleResponseCondition) or repeat:
            return ""
        other: Order = "21" if condition.order == "12" else "12"
        there = len(self.of(judge, dataset).found(lacking, (replace(condition, order=other), repeat)))
        # Both orders of a pair are one another's mirror: which is called the first may differ from run to run.
        return f" ({there} of them only in the other order)" if there else ""


def _named(arm: Arm) -> str:
    condition, repeat = arm
    return f"{condition.name}, repeat {repeat}" if repeat else condition.name
