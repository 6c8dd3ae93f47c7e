"""Watching: a run of the canary. It asks recorded prompts again, compares, and adds a line to the log.

The answers go through a run of their own in a folder that is removed: retries, prices and limits are as always, and no
recording is touched.
"""

from __future__ import annotations

import datetime
import math
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from judgefixtures.asking.costs import BudgetError, Cost, most_of, price_usd
from judgefixtures.asking.judges import FatalJudgeError, Judge
from judgefixtures.asking.pinned import OtherModelError
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.canary.diary import FORMER, Entry, Log
from judgefixtures.canary.drift import Stream, Weighed, change, evidence, total, weighed
from judgefixtures.canary.reference import Prompt, Reference, answer_of, reference
from judgefixtures.cassettes.merges import CANARY_FILE
from judgefixtures.config import CanaryTable
from judgefixtures.material.contrasts import Condition
from judgefixtures.providers import api_key
from judgefixtures.runs.run import Ledger, Run, RunOptions
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import presentable

NAMED = 2 / 3  # how likely a prompt that an alarm names was moved, at least


@dataclass(frozen=True, slots=True)
class Request:
    """What a run of the canary is asked for: the command's options."""

    judge: str | None = None
    config: Path | None = None
    cassettes: Path | None = None
    max_cost: float | None = None
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A prompt that moved, most likely: its answers before the change and after it, and how likely it was moved."""

    prompt: Prompt
    before: str
    after: str
    likely: float


@dataclass(frozen=True, slots=True)
class Series:
    """The measured runs that are compared with one reference, and the evidence of a change that they come to.

    `log_total` and `log_alarm` are natural logarithms: the evidence, and what it has to reach. `former` is the series
    that this one takes the place of, because its reference is another one. `renewed` runs were judged by a former test
    when they were made, and anew by today's.
    """

    number: int
    runs: tuple[Entry, ...]
    log_alarm: float
    former: Series | None = None
    renewed: int = 0

    @property
    def log_total(self) -> float:
        """The logarithm of the evidence of a change: it never falls."""
        return total(entry.log_e for entry in self.runs if entry.log_e is not None)

    @property
    def is_over(self) -> bool:
        """Whether the evidence of a change has reached the alarm."""
        return self.log_total >= self.log_alarm

    @property
    def served(self) -> frozenset[str]:
        """The models that answered in the first run: what is expected where the recordings name none."""
        return frozenset(self.runs[0].served) if self.runs else frozenset()

    def streams(self, prompts: Sequence[Prompt]) -> list[Stream]:
        """Return the answers to each prompt, recorded and of every run."""

        def answers(run: Entry, each: Prompt) -> str:
            return run.answers.get(each.dataset, {}).get(each.pair.id, "")

        return [Stream(each.recorded, tuple(answers(run, each) for run in self.runs), each.days) for each in prompts]

    def judged_anew(self, prompts: Sequence[Prompt]) -> Series:
        """Return the series with today's evidence for runs that were judged by a former test."""
        former = [number for number, run in enumerate(self.runs) if run.format == FORMER]
        runs = list(self.runs)
        for number in former:
            streams = replace(self, runs=self.runs[: number + 1]).streams(prompts)
            runs[number] = replace(runs[number], log_e=evidence(streams))
        return replace(self, runs=tuple(runs), renewed=len(former))


@dataclass(frozen=True, slots=True)
class Watched:
    """What a run of the canary found: its entry in the log, and what it comes to together with the others.

    `weighed` is what the answers of all runs say; None where nothing was measured. `since` is the time of the last run
    before the change, None where it came before the first one. `gate` is the command that measures the judge anew.
    """

    entry: Entry
    reference: Reference
    series: Series
    path: Path
    cost: Cost
    gate: str
    weighed: Weighed | None = None
    since: str | None = None
    moves: tuple[Move, ...] = ()
    new_models: tuple[str, ...] = ()
    new_fingerprints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a run of the canary would ask, what that costs at most, and what is in the log so far."""

    reference: Reference
    series: Series
    path: Path
    cost: Cost


@dataclass(slots=True)
class _Asked:
    """What a run asks and gets: also where it ends early."""

    judge: Judge
    at: str
    ledger: Ledger = field(default_factory=Ledger)
    judgments: dict[str, tuple[tuple[Judgment, ...], ...]] = field(default_factory=dict)  # by dataset, then by arm

    @property
    def cost(self) -> Cost:
        """What the calls cost."""
        return self.ledger.spent.get(self.judge.name, Cost(0, 0, 0, 0.0))

    def answers(self) -> dict[str, dict[str, str]]:
        """Return the answers to each pair, those of every arm in turn."""
        found: dict[str, dict[str, str]] = {}
        for dataset, arms in self.judgments.items():
            answered = found.setdefault(dataset, {})
            for judgment in (each for arm in arms for each in arm):
                answered[judgment.pair.id] = answered.get(judgment.pair.id, "") + answer_of(judgment)
        return found

    def count_by(self, what: str) -> dict[str, int]:
        """Return how many answers came from each served model, or fingerprint."""
        replies = (judgment.reply for arms in self.judgments.values() for arm in arms for judgment in arm)
        return dict(sorted(Counter(said for reply in replies if (said := getattr(reply, what))).items()))

    def entry(self, series: int, known: Reference, why: str = "") -> Entry:
        """Return the run as an entry that is still to be judged."""
        cost, told = self.cost, (self.count_by("served_model"), self.count_by("fingerprint"))
        answers = self.answers()
        return Entry(self.at, series, known.digest, "not-measured", None, answers, *told, cost.calls, cost.usd, why)


def watch(request: Request) -> Watched:
    """Ask a judge again what is recorded of it, compare, and add the run to the log.

    What the provider does not answer, and what a limit of cost ends, is a run that measured nothing. Raises
    JudgeFixturesError where nobody can be asked: no recordings, another judge than the recorded one, no key.
    """
    with _opened(request) as run:
        judge = run.judge(_name(run, request))
        known = reference(run, judge)
        _check(run, judge, request)
        asked = _Asked(judge, _now())
        why, other = "", ""
        try:
            _ask(run, known, request, asked)
        except OtherModelError as error:
            why, other = presentable(str(error)), error.model
        except (BudgetError, FatalJudgeError) as error:
            why = _why(error, request)
        with run.library.canary(judge.name):
            return _concluded(run, known, request, asked, why, other)


def outlook(request: Request) -> Outlook:
    """Return what `watch` would ask, asking nobody; raises as it does."""
    with _opened(request) as run:
        judge = run.judge(_name(run, request))
        known = reference(run, judge)
        log = Log.from_file(_path(run, judge.name))
        series = _series(run, log, known, request)
        return Outlook(known, series, log.path, _most(judge, known, run.config.canary))


def _concluded(run: Run, known: Reference, request: Request, asked: _Asked, why: str, other: str) -> Watched:
    """Write a run down, behind those that are in the log by now, and return what it comes to."""
    log = Log.from_file(_path(run, known.judge))
    before = _series(run, log, known, request)
    entry = asked.entry(before.number, known, why)
    new = tuple(sorted({*entry.served} - (known.served or before.served))) if before.runs or known.served else ()
    shown = before.runs[-1].fingerprints if before.runs else known.fingerprints
    fresh = tuple(sorted({*entry.fingerprints} - {*shown})) if shown else ()
    after, found = before, None
    if why:
        new = (other,) if other else new
        entry = replace(entry, result="model" if new else "not-measured", answers={})
    else:
        after = replace(before, runs=(*before.runs, entry))
        found = weighed(after.streams(known.prompts))
        entry = replace(entry, log_e=found.log_e)
        after = replace(before, runs=(*before.runs, entry))
        entry = replace(entry, result="model" if new else "drift" if after.is_over else "quiet")
    log.append(entry)
    since, moves = _moved(after, known) if entry.is_measured and after.is_over else (None, ())
    gate = f"{run.options.command} --judge {known.judge} --judge-record all"
    return Watched(
        entry, known, after, log.path, asked.cost, gate, found, since, moves, new, fresh, tuple(asked.ledger.warnings)
    )


def _moved(series: Series, known: Reference) -> tuple[str | None, tuple[Move, ...]]:
    """Return since when prompts moved, and which, the likeliest first."""
    streams = series.streams(known.prompts)
    found = change(streams)
    moves = [
        Move(prompt, stream.recorded + "".join(stream.runs[: found.since]), "".join(stream.runs[found.since :]), likely)
        for prompt, stream, likely in zip(known.prompts, streams, found.moved, strict=True)
        if likely >= NAMED
    ]
    since = series.runs[found.since - 1].at if found.since else None
    return since, tuple(sorted(moves, key=lambda move: (-round(move.likely, 2), *_place(move.prompt))))


def _place(prompt: Prompt) -> tuple[str, str]:
    return prompt.dataset, prompt.pair.id


def _ask(run: Run, known: Reference, request: Request, asked: _Asked) -> None:
    """Ask every prompt as often as is wanted, in a run whose recordings are thrown away."""
    options = RunOptions(record="missing", max_cost=request.max_cost, force=True, command=run.options.command)
    with (
        tempfile.TemporaryDirectory(prefix="judgefixtures-canary-") as folder,
        Run(run.config, Path(folder), options) as aside,
    ):
        judge = aside.judge(known.judge)
        judge.adopt(known.identity)
        for (dataset, condition), pairs in known.by_dataset().items():
            arms = _arms(condition, run.config.canary)
            asked.judgments[dataset] = aside.answers(judge, dataset, pairs, arms, asked.ledger).arms


def _arms(condition: Condition, table: CanaryTable) -> list[Arm]:
    return [(condition, repeat) for repeat in range(table.answers)]


def _most(judge: Judge, known: Reference, table: CanaryTable) -> Cost:
    """Return what a run costs at most."""
    kind, total = judge.kind, Cost(0, 0, 0, 0.0)
    asked: dict[Condition, list[str]] = {}
    for (_, condition), pairs in known.by_dataset().items():
        for each, _ in kind.asks(_arms(condition, table)):
            asked.setdefault(each, []).extend(kind.prompts(each, pairs))
    for each, _ in kind.preparation:
        asked[each] = kind.prompts(each, [prompt.pair for prompt in known.prompts])
    for each, prompts in asked.items():
        total += most_of(kind.asker_of(each).table, prompts)
    return total


def _series(run: Run, log: Log, known: Reference, request: Request) -> Series:
    number = log.series(known.digest, restart=request.restart)
    alarm = -math.log(run.config.canary.false_alarms)
    former = None
    if log.entries and (last := log.entries[-1]).reference != known.digest:
        former = Series(last.series, tuple(log.measured(last.series, last.reference)), alarm)
    return Series(number, tuple(log.measured(number, known.digest)), alarm, former).judged_anew(known.prompts)


def _opened(request: Request) -> Run:
    """Return the run of the configuration, asking nobody; its commands name the files that were named here."""
    own = None if request.config is None or request.config.name == "pyproject.toml" else request.config
    options = {"--judge-config": own, "--judge-cassettes": request.cassettes}
    words = ["pytest", *(word for name, path in options.items() if path for word in (name, str(path)))]
    found = request.config or next((path for path in [Path("pyproject.toml")] if path.exists()), None)
    return Run.from_config(found, cassettes=request.cassettes, command=shlex.join(words))


def _name(run: Run, request: Request) -> str:
    name = run.config.judge if request.judge is None else request.judge
    if name is None:
        raise JudgeFixturesError('no judge is named: give --judge NAME, or set judge = "NAME" in the configuration.')
    return name


def _check(run: Run, judge: Judge, request: Request) -> None:
    """Raise JudgeFixturesError for what a user can mend before anything is asked."""
    table, limit = judge.table, request.max_cost
    run.config.check_key(judge.name)
    run.config.check_sdk(judge.name)
    if table.key_variable and not api_key(table):
        raise JudgeFixturesError(
            f"judge {judge.name!r}: the environment variable {table.key_variable} holds no API key: set it, or name "
            f"another with api_key_env in {table.heading}. A canary asks the provider."
        )
    if limit is not None and price_usd(table, 1, 1) is None:
        raise JudgeFixturesError(
            f"--max-cost {limit:g}: the price of {table.model or table.target!r} is not known: give it with price = "
            f"{{input = ..., output = ...}} (USD per million tokens) in {table.heading}, or leave the limit out."
        )
    if judge.kind.preparation and run.config.canary.answers > 1:
        raise JudgeFixturesError(
            f"{run.config.heading('canary')} answers = {run.config.canary.answers}: judge {judge.name!r} writes a plan "
            "first, and answers of one run share it, so that they tell nothing of each other. Set answers = 1."
        )
    Log.from_file(_path(run, judge.name))  # a log that cannot be read is no reason to pay first


def _path(run: Run, judge: str) -> Path:
    return run.library.root / judge / CANARY_FILE


def _why(error: Exception, request: Request) -> str:
    """Return why nothing was measured, in the words of this command."""
    if isinstance(error, BudgetError):
        return f"the next call could cost more than --max-cost {request.max_cost:g} leaves: raise the limit"
    text = str(error).replace("What was recorded is kept: ", "")
    return presentable(re.sub(r"run again(| later) with --judge-record missing", r"run the same command again\1", text))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
