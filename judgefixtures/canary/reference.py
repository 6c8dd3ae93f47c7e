"""Reference of the canary: which prompts to ask again, and their recorded answers."""

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.cassettes.files import CassetteRow
from judgefixtures.client.model_client import RequestSet
from judgefixtures.config.run_tables import sample_datasets
from judgefixtures.judges.judge import Judge
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.cues import PLACEBO
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.run.run import Run
from judgefixtures.util.errors import JudgeFixturesError

INVALID = "x"


@dataclass(frozen=True, slots=True)
class CanaryPrompt:
    """A pair in a condition, with recorded answers, a character each.

    `days` are these answers by day.
    """

    dataset: str
    condition: Condition
    pair: Pair
    recorded: str
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Recorded:
    said: str
    day: str
    judgment: Judgment


@dataclass(frozen=True, slots=True)
class CanaryReference:
    """Recorded prompts and the models that answered them.

    `again` is the command to record second answers, or "".
    """

    judge: str
    identity: Mapping[str, Any]
    prompts: tuple[CanaryPrompt, ...]
    served: frozenset[str]
    fingerprints: frozenset[str]
    notes: tuple[str, ...] = ()
    again: str = ""

    @property
    def digest(self) -> str:
        """The digest of judge, prompts and recorded answers."""
        rows = [[of.dataset, of.condition.name, of.pair.id, of.pair.digest, of.recorded] for of in self.prompts]
        return hashlib.sha256(json.dumps([self.identity, rows], sort_keys=True).encode()).hexdigest()[:16]

    @property
    def days(self) -> int:
        """The number of known recording days."""
        return max(len(each.days) for each in self.prompts)

    def by_dataset(self) -> dict[tuple[str, Condition], tuple[Pair, ...]]:
        """Return the pairs by dataset and condition."""
        pairs_by_arm: dict[tuple[str, Condition], list[Pair]] = {}
        for each in self.prompts:
            pairs_by_arm.setdefault((each.dataset, each.condition), []).append(each.pair)
        return {where: tuple(pairs) for where, pairs in pairs_by_arm.items()}


def answer_character(judgment: Judgment) -> str:
    """Return a judgment as a character: own response, 0 (tie) or x (invalid)."""
    return INVALID if judgment.chosen is None else str(judgment.chosen)


def load_reference(run: Run, judge: Judge) -> CanaryReference:
    """Return the recorded prompts that [canary] selects, independently of answers.

    Raises:
        JudgeFixturesError: No recordings, another judge's, or an imported judge.
    """
    if not judge.kind.is_asked:
        raise JudgeFixturesError(
            f"judge {judge.name!r} is imported from a log, so the canary cannot send requests. "
            "Choose a judge with a model."
        )
    prompts: list[tuple[str, Condition, Pair, Sequence[_Recorded]]] = []
    served, fingerprints, notes = set[str](), set[str](), list[str]()
    for dataset, wanted in _groups(run, judge):
        condition = _condition(run, judge, dataset, wanted)
        recorded = _recorded(run, judge, dataset, condition)
        chosen = _one_per_question(recorded)[:wanted]
        prompts += [(dataset, condition, pair, recorded[pair]) for pair in chosen]
        replies = [each.judgment.reply for pair in chosen for each in recorded[pair]]
        served.update(reply.served_model for reply in replies if reply.served_model)
        fingerprints.update(reply.fingerprint for reply in replies if reply.fingerprint)
        if len(chosen) < wanted:
            notes.append(f"{dataset}: {len(chosen)} of {wanted} prompts are recorded, and only these are sent")
    if not prompts:
        raise JudgeFixturesError(_nothing(run, judge))
    repeats = 1 + max(len(recorded) for *_, recorded in prompts)
    again = f"{_command(run, judge)} -k repeat --judge-repeats {repeats} --judge-record missing"
    known = (_by_days(prompts), frozenset(served), frozenset(fingerprints), tuple(notes))
    return CanaryReference(judge.name, judge.identity, *known, again="" if judge.kind.preparation else again)


def _groups(run: Run, judge: Judge) -> tuple[tuple[str, int], ...]:
    def own_for(house: str, at: int) -> str:
        is_used = not judge.template.columns and run.library.folder(judge.name, house).is_dir()
        return house if is_used or not run.config.dataset_names else run.config.dataset_names[at]

    close, clear = sample_datasets(judge.table.mode).canary
    return run.config.canary.groups(own_for(close, 0), own_for(clear, -1))


def _by_days(prompts_found: Sequence[tuple[str, Condition, Pair, Sequence[_Recorded]]]) -> tuple[CanaryPrompt, ...]:
    days = sorted({each.day for *_, recorded in prompts_found for each in recorded if each.day}) or [""]
    prompts = []
    for dataset, condition, pair, recorded in prompts_found:
        answers = dict.fromkeys(days, "")
        for each in recorded:
            answers[each.day or days[0]] += each.said
        answered = "".join(each.said for each in recorded)
        prompts.append(CanaryPrompt(dataset, condition, pair, answered, tuple(answers.values())))
    return tuple(prompts)


def _command(run: Run, judge: Judge) -> str:
    datasets = "".join(f" --judge-dataset {shlex.quote(dataset)}" for dataset, _ in _groups(run, judge))
    return f"{run.options.command} --judge {shlex.quote(judge.name)}{datasets}"


def _nothing(run: Run, judge: Judge) -> str:
    for dataset, wanted in _groups(run, judge):
        condition = _condition(run, judge, dataset, wanted)
        recorded = _recorded_rows(run, judge, dataset, condition)
        pairs = [pair for pair in run.pairs(judge.name, dataset) if pair.id in recorded]
        if pairs:
            return (
                f"judge {judge.name!r} is recorded on {dataset}, but its recordings cannot be replayed: "
                f"{_fault(run, judge, dataset, pairs[:1], condition)}"
            )
    datasets = " and ".join(dataset for dataset, _ in _groups(run, judge))
    of_functions = " (only HTTP calls of a function are recorded)" if judge.is_opaque else ""
    return (
        f"judge {judge.name!r} has no recordings on {datasets}{of_functions}, and the canary compares with "
        f"recordings. Record the judge: {_command(run, judge)} --judge-record missing. Or set "
        "close_dataset and clear_dataset to recorded datasets in "
        f"{run.config.heading('canary')}."
    )


def _fault(run: Run, judge: Judge, dataset: str, pairs: Sequence[Pair], condition: Condition) -> str:
    try:
        run.answers(judge, dataset, pairs, [(condition, 0)])
    except JudgeFixturesError as error:
        return str(error)
    return "their prompts differ."


def _condition(run: Run, judge: Judge, dataset: str, wanted: int) -> Condition:
    pairs, kind = run.pairs(judge.name, dataset), judge.kind
    contrasts = (kind.contrast(each, pairs) for name in (PLACEBO, *run.config.cues) for each in run.contrasts(name))
    cued = [each for contrast in contrasts for each in (contrast.x, contrast.y)]
    cue_free = [condition for condition, _ in kind.screening]
    counts: dict[Condition, int] = {}
    for condition in dict.fromkeys((*cue_free, *cued)):
        recorded = _recorded_rows(run, judge, dataset, condition)
        counts[condition] = min(len(_one_per_question(pair for pair in pairs if pair.id in recorded)), wanted)
        if counts[condition] == wanted:
            break
    return max(counts, key=counts.__getitem__)


def _one_per_question(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the first pair of each question, as others can share its request."""
    first: dict[str, Pair] = {}
    for pair in pairs:
        first.setdefault(pair.digest if isinstance(pair, Example) else pair.question, pair)
    return list(first.values())


def _recorded(run: Run, judge: Judge, dataset: str, condition: Condition) -> dict[Pair, list[_Recorded]]:
    """Return each pair's recorded answers; reasked ones count as invalid.

    Otherwise answers would be selected.
    """
    pairs = run.pairs(judge.name, dataset)
    found_rows = _recorded_rows(run, judge, dataset, condition)
    rows = {(name, row.repeat): row for name, rows in found_rows.items() for row in rows}
    again = {key for key, row in rows.items() if row.asked > 1}
    days = {key: row.on for key, row in rows.items()}
    repeats = sorted({row.repeat for row in rows.values() if not judge.kind.preparation or not row.repeat})
    plans = run.answer_service.known_plans(judge, dataset, pairs)
    recorded: dict[Pair, list[_Recorded]] = {}
    for repeat in repeats:
        for judgment in run.answer_service.recorded_judgments(judge, dataset, pairs, (condition, repeat), plans):
            key = judgment.pair.id, repeat
            answer = INVALID if key in again else answer_character(judgment)
            recorded.setdefault(judgment.pair, []).append(_Recorded(answer, days.get(key, ""), judgment))
    return {pair: recorded[pair] for pair in pairs if pair in recorded}


def _recorded_rows(run: Run, judge: Judge, dataset: str, condition: Condition) -> dict[str, list[CassetteRow]]:
    pairs, rows_by_name = run.pairs(judge.name, dataset), dict[str, list[CassetteRow]]()
    plans = run.answer_service.known_plans(judge, dataset, pairs)

    def rows_of(task: RequestSet[Any]) -> dict[str, list[CassetteRow]]:
        rows: dict[str, list[CassetteRow]] = {}
        with replace(run.library, mode="none").open(task.client, dataset, task.conditions, ()) as cassettes:
            for cassette in cassettes.values():
                for row in cassette.file.read_rows():
                    rows.setdefault(row.pair, []).append(row)
        return rows

    for requests in judge.kind.requests(pairs, judge.asks([(condition, 0)]), plans):
        rows, ids = rows_of(requests), requests.ids
        if ids is not None:
            rows = {name: rows[pair.id] for name, pair in zip(ids, requests.pairs, strict=True) if pair.id in rows}
        for name, of_name in rows.items():
            rows_by_name.setdefault(name, []).extend(of_name)
    return rows_by_name
