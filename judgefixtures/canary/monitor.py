"""Monitor: ask recorded prompts again, compare the answers, append a line to the log."""

from __future__ import annotations

import datetime
import math
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from judgefixtures.cassettes.file_names import CANARY_FILE
from judgefixtures.client.costs import BudgetError, Cost, maximum_cost, price_remedy, price_usd
from judgefixtures.client.served_model import ServedModelChangedError
from judgefixtures.config import CanaryTable
from judgefixtures.judges.judge import FatalJudgeError, Judge
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.replies import Arm
from judgefixtures.providers import api_key
from judgefixtures.run.run import ItemRecord, Run, RunOptions
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import safe_message

from .change_evidence import (
    AnswerStream,
    ChangeEvidence,
    likeliest_change,
    log_e_value,
    total_log_e_value,
    weigh_evidence,
)
from .log import FORMER, CanaryEntry, CanaryLog
from .reference import CanaryPrompt, CanaryReference, answer_character, load_reference

ASIDE = ".canary-{}.draft"  # where the answers of a day's run are until it is in the log
NAMED = 2 / 3  # how likely a prompt that an alarm names was moved, at least


@dataclass(frozen=True, slots=True)
class CanaryRequest:
    """The options of a canary run."""

    judge: str | None = None
    config: Path | None = None
    cassettes: Path | None = None
    max_cost: float | None = None
    restart: bool = False


@dataclass(frozen=True, slots=True)
class DriftedPrompt:
    """A prompt that probably moved, with its answers before and after."""

    prompt: CanaryPrompt
    before: str
    after: str
    likely: float


@dataclass(frozen=True, slots=True)
class RunSeries:
    """The measured runs with one reference, and their evidence.

    Attributes:
        log_alarm: Natural logarithm of the alarm's threshold.
        former: The series before, with another reference.
        renewed: Number of runs evaluated again with today's test.
    """

    number: int
    runs: tuple[CanaryEntry, ...]
    log_alarm: float
    former: RunSeries | None = None
    renewed: int = 0

    @property
    def log_total(self) -> float:
        """The logarithm of the evidence, which never falls."""
        return total_log_e_value(entry.log_e for entry in self.runs if entry.log_e is not None)

    @property
    def is_over(self) -> bool:
        """Whether the evidence reached the alarm."""
        return self.log_total >= self.log_alarm

    @property
    def served(self) -> frozenset[str]:
        """The models of the first run."""
        return frozenset(self.runs[0].served) if self.runs else frozenset()

    def streams(self, prompts: Sequence[CanaryPrompt]) -> list[AnswerStream]:
        """Return each prompt's recorded and later answers."""

        def stream(prompt: CanaryPrompt) -> AnswerStream:
            answers = (run.answers.get(prompt.dataset, {}).get(prompt.pair.id, "") for run in self.runs)
            return AnswerStream(prompt.recorded, tuple(answers), prompt.days)

        return [stream(prompt) for prompt in prompts]

    def judged_anew(self, prompts: Sequence[CanaryPrompt]) -> RunSeries:
        """Return the series with today's evidence for older runs."""
        former = [number for number, run in enumerate(self.runs) if run.format == FORMER]
        runs = list(self.runs)
        for number in former:
            streams = replace(self, runs=self.runs[: number + 1]).streams(prompts)
            runs[number] = replace(runs[number], log_e=log_e_value(streams))
        return replace(self, runs=tuple(runs), renewed=len(former))


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """A canary run's log entry, and the result over all runs.

    Attributes:
        weighed: The evidence, or None.
        since: Time of the last run before the change, or None.
        gate: The command that measures the judge again.
    """

    entry: CanaryEntry
    reference: CanaryReference
    series: RunSeries
    path: Path
    cost: Cost
    gate: str
    weighed: ChangeEvidence | None = None
    since: str | None = None
    moves: tuple[DriftedPrompt, ...] = ()
    new_models: tuple[str, ...] = ()
    new_fingerprints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CanaryForecast:
    """What a canary run would ask, its highest cost and the log."""

    reference: CanaryReference
    series: RunSeries
    path: Path
    cost: Cost


@dataclass(slots=True)
class _Asked:
    """What a run asks and gets, also if it ends early."""

    judge: Judge
    at: str
    ledger: ItemRecord = field(default_factory=ItemRecord)
    judgments: dict[str, tuple[tuple[Judgment, ...], ...]] = field(default_factory=dict)  # by dataset, then by arm

    @property
    def cost(self) -> Cost:
        return self.ledger.spent.get(self.judge.name, Cost(0, 0, 0, 0.0))

    def answers(self) -> dict[str, dict[str, str]]:
        by_dataset: dict[str, dict[str, str]] = {}
        for dataset, arms in self.judgments.items():
            answered = by_dataset.setdefault(dataset, {})
            for judgment in (each for arm in arms for each in arm):
                answered[judgment.pair.id] = answered.get(judgment.pair.id, "") + answer_character(judgment)
        return by_dataset

    def count_by(self, what: str) -> dict[str, int]:
        replies = (judgment.reply for arms in self.judgments.values() for arm in arms for judgment in arm)
        return dict(sorted(Counter(value for reply in replies if (value := getattr(reply, what))).items()))

    def entry(self, series: int, known: CanaryReference, why: str = "") -> CanaryEntry:
        cost, served = self.cost, (self.count_by("served_model"), self.count_by("fingerprint"))
        asked = (self.answers(), *served, cost.calls, cost.usd)
        return CanaryEntry(self.at, series, known.digest, "not-measured", None, *asked, why)


def run_canary(request: CanaryRequest) -> CanaryResult:
    """Ask recorded prompts again, compare, and log the run.

    Without answers, the run measured nothing.

    Raises:
        JudgeFixturesError: No recordings, another judge, or no key.
    """
    with _opened(request) as run:
        judge = run.judge(_name(run, request))
        known = load_reference(run, judge)
        _check(run, judge, request)
        progress = _Asked(judge, datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        why, other = "", ""
        with run.library.canary(judge.name):  # two runs at once would share what they were answered
            try:
                _ask(run, known, request, progress)
            except ServedModelChangedError as error:
                why, other = safe_message(str(error)), error.model
            except (BudgetError, FatalJudgeError) as error:
                why = _why(error, request)
            watched = _decide_result(run, known, request, progress, why, other)
            if not why or other:  # what a run that ended early was answered is paid for: the next one goes on
                for folder in _path(run, judge.name).parent.glob(ASIDE.format("*")):
                    shutil.rmtree(folder, ignore_errors=True)
            return watched


def forecast_run(request: CanaryRequest) -> CanaryForecast:
    """Return what `run_canary` would ask, with the same errors."""
    with _opened(request) as run:
        judge = run.judge(_name(run, request))
        known = load_reference(run, judge)
        log = CanaryLog.from_file(_path(run, judge.name))
        series = _series(run, log, known, request)
        return CanaryForecast(known, series, log.path, _most(judge, known, run.config.canary))


def _decide_result(
    run: Run, known: CanaryReference, request: CanaryRequest, progress: _Asked, why: str, other: str
) -> CanaryResult:
    log = CanaryLog.from_file(_path(run, known.judge))
    before = _series(run, log, known, request)
    entry = progress.entry(before.number, known, why)
    new = tuple(sorted({*entry.served} - (known.served or before.served))) if before.runs or known.served else ()
    fingerprints = before.runs[-1].fingerprints if before.runs else known.fingerprints
    fresh = tuple(sorted({*entry.fingerprints} - {*fingerprints})) if fingerprints else ()
    after, evidence = before, None
    if why:
        new = (other,) if other else new
        entry = replace(entry, result="model" if new else "not-measured", answers={})
    else:
        after = replace(before, runs=(*before.runs, entry))
        evidence = weigh_evidence(after.streams(known.prompts))
        entry = replace(entry, log_e=evidence.log_e)
        after = replace(before, runs=(*before.runs, entry))
        entry = replace(entry, result="model" if new else "drift" if after.is_over else "quiet")
    log.append(entry)
    since, moves = _moved(after, known) if entry.is_measured and after.is_over else (None, ())
    gate = f"{run.options.command} --judge {known.judge} --judge-record all"
    found = (evidence, since, moves, new, fresh, tuple(progress.ledger.warnings))
    return CanaryResult(entry, known, after, log.path, progress.cost, gate, *found)


def _moved(series: RunSeries, known: CanaryReference) -> tuple[str | None, tuple[DriftedPrompt, ...]]:
    streams = series.streams(known.prompts)
    likeliest = likeliest_change(streams)
    moves = []
    for prompt, stream, likely in zip(known.prompts, streams, likeliest.moved, strict=True):
        if likely >= NAMED:
            before, after = stream.runs[: likeliest.since], stream.runs[likeliest.since :]
            moves.append(DriftedPrompt(prompt, "".join((stream.recorded, *before)), "".join(after), likely))
    since = series.runs[likeliest.since - 1].at if likeliest.since else None
    by = sorted(moves, key=lambda move: (-round(move.likely, 2), move.prompt.dataset, move.prompt.pair.id))
    return since, tuple(by)


def _ask(run: Run, known: CanaryReference, request: CanaryRequest, progress: _Asked) -> None:
    """Ask every prompt in a temporary run, resuming one of the same day."""
    options = RunOptions(record="missing", max_cost=request.max_cost, force=True, command=run.options.command)
    folder = _path(run, known.judge).with_name(ASIDE.format(progress.at[:10]))
    with Run(run.config, folder, options) as aside:
        judge = aside.judge(known.judge)
        judge.adopt(known.identity)
        for (dataset, condition), pairs in known.by_dataset().items():
            arms = _arms(condition, run.config.canary)
            progress.judgments[dataset] = aside.answers(judge, dataset, pairs, arms, progress.ledger).arms


def _arms(condition: Condition, table: CanaryTable) -> list[Arm]:
    return [(condition, repeat) for repeat in range(table.answers)]


def _most(judge: Judge, known: CanaryReference, table: CanaryTable) -> Cost:
    kind, total = judge.kind, Cost(0, 0, 0, 0.0)
    prompts_by_condition: dict[Condition, list[str]] = {}
    for (_, condition), pairs in known.by_dataset().items():
        for each, _ in kind.required_arms(_arms(condition, table)):
            prompts_by_condition.setdefault(each, []).extend(kind.prompts(each, pairs))
    for each, _ in kind.preparation:
        prompts_by_condition[each] = kind.prompts(each, [prompt.pair for prompt in known.prompts])
    for each, prompts in prompts_by_condition.items():
        total += maximum_cost(kind.client_of(each).table, prompts)
    return total


def _series(run: Run, log: CanaryLog, known: CanaryReference, request: CanaryRequest) -> RunSeries:
    number = log.series(known.digest, restart=request.restart)
    alarm = -math.log(run.config.canary.false_alarms)
    former = None
    if log.entries and (last := log.entries[-1]).reference != known.digest:
        former = RunSeries(last.series, tuple(log.measured(last.series, last.reference)), alarm)
    return RunSeries(number, tuple(log.measured(number, known.digest)), alarm, former).judged_anew(known.prompts)


def _opened(request: CanaryRequest) -> Run:
    own = None if request.config is None or request.config.name == "pyproject.toml" else request.config
    options = {"--judge-config": own, "--judge-cassettes": request.cassettes}
    words = ["pytest", *(word for name, path in options.items() if path for word in (name, str(path)))]
    config_path = request.config or next((path for path in [Path("pyproject.toml")] if path.exists()), None)
    return Run.from_config(config_path, cassettes=request.cassettes, command=shlex.join(words))


def _name(run: Run, request: CanaryRequest) -> str:
    name = run.config.judge if request.judge is None else request.judge
    if name is None:
        raise JudgeFixturesError('no judge to ask. Add --judge NAME, or set judge = "NAME" in the configuration.')
    return name


def _check(run: Run, judge: Judge, request: CanaryRequest) -> None:
    table, limit = judge.table, request.max_cost
    run.config.check_key(judge.name)
    run.config.check_sdk(judge.name)
    if table.key_variable and not api_key(table):
        raise JudgeFixturesError(
            f"judge {judge.name!r}: the environment variable {table.key_variable} holds no API key, which the canary "
            f"needs. Set the variable, or name another with api_key_env in {table.heading}."
        )
    if limit is not None and price_usd(table, 1, 1) is None:
        raise JudgeFixturesError(
            f"--max-cost {limit:g}: the price of {table.model or table.target!r} is unknown. Set "
            f"{price_remedy(table)}, or omit the limit."
        )
    if judge.kind.preparation and run.config.canary.answers > 1:
        raise JudgeFixturesError(
            f"{run.config.heading('canary')} answers = {run.config.canary.answers}: judge {judge.name!r} uses plans, "
            "and answers of one run share a plan, so repeats add no information. Set answers = 1."
        )
    CanaryLog.from_file(_path(run, judge.name))  # a log that cannot be read is no reason to pay first


def _path(run: Run, judge: str) -> Path:
    return run.library.root / judge / CANARY_FILE


def _why(error: Exception, request: CanaryRequest) -> str:
    if isinstance(error, BudgetError):
        return f"the next call could exceed --max-cost {request.max_cost:g}: raise the limit"
    text = str(error).replace("What was recorded is kept: ", "")
    text = re.sub(r"run again(| later) with --judge-record missing", r"run the same command again\1", text)
    return safe_message(text)
