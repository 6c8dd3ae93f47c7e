"""A run: a configuration at work. Judges are asked about pairs through their recordings, and checked, without pytest.

The plugin strings runs and pytest's items together; a script or a notebook uses a run as it is (docs/python.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from judgefixtures.asking.asker import Asker, R, Said
from judgefixtures.asking.costs import Budget, BudgetError, Cost, Meter, rates
from judgefixtures.asking.judges import FatalJudgeError, Judge, Reply, load_judge
from judgefixtures.asking.questions import Arm, Judgment, Planned, ask_all, judgments, recorded
from judgefixtures.asking.ratings import Rater, Rating, both_ratings, check_names
from judgefixtures.asking.retirements import retirement
from judgefixtures.cassettes.files import CassetteError, CassetteWriteError, today
from judgefixtures.cassettes.library import Cassette, Library, RecordMode
from judgefixtures.cassettes.replay import CassetteMissError, NetworkBlockedError, PostponedError, recording
from judgefixtures.checks import Answers, Case, Check, Need, SwapCheck, checks_of, swap_checks
from judgefixtures.checks.approval import decide_swaps
from judgefixtures.checks.candidate import PlannedPart
from judgefixtures.checks.control import (
    ARMS,
    OFF,
    Control,
    control,
    control_dataset,
    golden_pairs,
    need_of,
    of_log,
    refusal,
    refused,
)
from judgefixtures.checks.protocol import Subject
from judgefixtures.checks.unanswered import unanswered
from judgefixtures.config import Config, ControlTable, JudgeTable, build_config, load_config
from judgefixtures.findings import Finding, Row
from judgefixtures.imports.answers import Imports
from judgefixtures.material.contrasts import (
    NO_CUE,
    NO_CUE_SWAPPED,
    OTHER_FAMILIES,
    Contrast,
    arm_name,
    contrasts,
    other_contrasts,
)
from judgefixtures.material.counts import least_telling
from judgefixtures.material.pairs import Pair, sampled
from judgefixtures.material.plans import PLAN, heuristic_plan
from judgefixtures.measures.certainty import likely_of
from judgefixtures.measures.detectors import Detections, Reader, detected, has_reason
from judgefixtures.measures.metrics import choices as choices_of
from judgefixtures.measures.rows import (
    JudgmentRow,
    PairRow,
    PlanTextRow,
    ServedIn,
    digest_of,
    judgment_row,
    pair_row,
    plan_text_row,
    served_rows,
)
from judgefixtures.numbers.statistics import Status
from judgefixtures.providers import know_credentials
from judgefixtures.runs.closest import SCREENING, About, Closest
from judgefixtures.runs.selection import Samples
from judgefixtures.swap import SwapStatus
from judgefixtures.words.commands import options as command_options
from judgefixtures.words.commands import quoted
from judgefixtures.words.errors import JudgeFixturesError, choices
from judgefixtures.words.records import Record
from judgefixtures.words.secrets import presentable
from judgefixtures.words.texts import shown

if TYPE_CHECKING:
    from judgefixtures.batches.mail import Mail

DEFAULT_CONCURRENCY = 16
REPEAT = re.compile(r"repeat-no-cue-[1-9][0-9]*")

FATAL = (FatalJudgeError, BudgetError, CassetteWriteError)  # nothing else of the run can succeed


class WaitingError(JudgeFixturesError):
    """A check has to wait for answers that are asked for in batches."""


Answered = Callable[[Any], None]
# Shows how far a recording is: gets what the calls cost so far and how many there are.
Progress = Callable[[Meter, int], AbstractContextManager[Answered | None]]


class Stop(Protocol):
    """Somebody who may ask a recording to stop, as Ctrl-C does."""

    @property
    def urgency(self) -> int:
        """0: go on; 1: ask nothing further; 2: drop what is in flight, too."""

    def heeded(self) -> AbstractContextManager[None]:
        """Let the block look at `urgency` itself, and end it in the asker's own way where it stopped."""


def _unseen(_meter: Meter, _total: int) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run asks: the command line's options, as the plugin or a script gives them.

    `invalid` narrows what record mode "invalid" asks again to some kinds; `baseline` is the judge whose pairs and
    positions the others' are to be where their own are not recorded; `datasets` are those that were selected, empty
    where those of the configuration are asked about.
    With `batch` questions go into batches in place of the network, until `send_batches` sends them.
    `command` begins the commands in messages; `usual` is where recordings are unless one says otherwise, looked at for
    what was moved. `session`, `workers` and `shared` are of a run that several processes share: its name, how many they
    are, and a folder for their pace.
    """

    record: RecordMode = "none"
    invalid: tuple[str, ...] = ()
    baseline: str | None = None
    datasets: tuple[str, ...] = ()
    pairs: int | None = None
    repeats: int = 1
    concurrency: int = DEFAULT_CONCURRENCY
    max_cost: float | None = None
    force: bool = False
    keep_judgments: bool = False
    batch: bool = False
    command: str = "pytest"
    usual: Path | None = None
    session: str = ""
    workers: int = 1
    shared: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(Record):
    """From when a judge's answers are, and how many were asked now."""

    first: str | None = None
    last: str | None = None
    undated: bool = False
    asked_now: int = 0


@dataclass(slots=True)
class Days:
    """Of which days a judge's recordings are (empty: nobody wrote it down), and how many were made in this run."""

    days: set[str] = field(default_factory=set)
    asked: int = 0

    @property
    def row(self) -> SourceRow:
        """The row of the report."""
        known = self.days - {""}
        first, last = min(known, default=None), max(known, default=None)
        return SourceRow(first=first, last=last, undated="" in self.days, asked_now=self.asked)


@dataclass(slots=True)
class Ledger:
    """What asking leaves behind beside a finding: who was asked, what it cost, and every judgment, as plain rows."""

    judges: dict[str, Row] = field(default_factory=dict)
    spent: dict[str, Cost] = field(default_factory=dict)
    retries: int = 0
    judgments: list[JudgmentRow] = field(default_factory=list)
    plans: list[PlanTextRow] = field(default_factory=list)
    pairs: list[PairRow] = field(default_factory=list)
    days: dict[str, Days] = field(default_factory=dict)
    prices: dict[str, Row] = field(default_factory=dict)  # US dollars per million tokens, null where not known
    served: list[ServedIn] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    invalid: dict[str, Counter[str]] = field(default_factory=dict)  # kinds, by the command that asks them again
    asked: dict[str, str] = field(default_factory=dict)  # which pairs and texts judges were asked about, by what it is

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if presentable(text) not in self.warnings:
            self.warnings.append(presentable(text))

    def spend(self, judge: str, cost: Cost) -> None:
        """Add what a judge's calls cost."""
        self.spent[judge] = self.spent[judge] + cost if judge in self.spent else cost

    def draw(self, judge: str, days: Iterable[str], asked: int) -> None:
        """Note where answers of a judge are from."""
        days = set(days)
        if days or asked:  # a function of the user's may run live, without any recording
            known = self.days.setdefault(judge, Days())
            known.days |= days
            known.asked += asked

    def bear(self, other: Ledger) -> None:
        """Take over what asking cost elsewhere, and its warnings, but not what was answered."""
        for judge, cost in other.spent.items():
            self.spend(judge, cost)
        for judge, days in other.days.items():
            self.draw(judge, days.days, days.asked)
        self.retries += other.retries
        for warning in other.warnings:
            self.warn(warning)

    def ask(self, what: str, judge: str, dataset: str, pairs: Sequence[Pair]) -> None:
        """Note which pairs something is about, so that parts of a run can be told from parts of another."""
        digest = digest_of(pair_row(judge, dataset, pair).to_json() for pair in pairs)
        self.asked[what] = f"{len(pairs)} pairs, digest {digest}"

    def keep(self, judge: Judge, dataset: str, answers: Answers) -> None:
        """Keep a judge's judgments, what they are about, the plans that they carried out, and what its tokens cost."""
        name = judge.name
        self.judgments += [judgment_row(name, dataset, judgment) for arm in answers.arms for judgment in arm]
        self.plans += [plan_text_row(name, dataset, pair, each) for pair, each in answers.plans.items()]
        if name not in self.prices:
            self.prices[name] = rates(judge.table)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is being asked: of which dataset, what for, with which options a command asks it again, what it leaves.

    `options` are empty where no test asks.

    `part`: no more than some pairs of the dataset that other checks may ask about as a whole.
    """

    dataset: str
    what: str
    options: str
    ledger: Ledger
    part: bool = False
    look: str = ""  # the options that ask for what is missing of a look, and for no pair behind it
    start: str = "pytest"

    def command(self, mode: str) -> str:
        """Return the command that records this in a mode, and nothing else."""
        if not self.options:  # a script asks, and no test does
            return f'make the same call with Run.from_config(..., record="{mode}")'
        return f"{self.start} {self.look if self.look and mode == 'missing' else self.options} --judge-record {mode}"


class Run:
    """Judges, datasets and recordings of one configuration, loaded when first needed.

    >>> run = Run.from_config(None)
    >>> len(run.contrasts("provenance"))
    6
    """

    def __init__(
        self,
        config: Config,
        cassettes: Path = Path("cassettes"),
        options: RunOptions | None = None,
        progress: Progress = _unseen,
        stop: Callable[[], Stop] | None = None,
    ) -> None:
        self.config = config
        self.options = options or RunOptions()
        self.notes: list[str] = []
        self.library = Library(
            cassettes, self.options.record, command_start=self.options.command, usual=self.options.usual
        )
        if self.options.invalid:
            self.library = replace(self.library, invalid=frozenset(self.options.invalid))
        if self.options.session:
            self.library = replace(self.library, run=self.options.session)
        wanted = self.options.pairs or config.pairs
        self.samples = Samples(config, self.library, wanted, self.note, self.options.baseline)
        for table in config.judges.values():
            know_credentials(table)  # the keys of every judge there is, selected or not: nothing is to show them
        cap = self.options.max_cost
        self.budget = Budget(None if cap is None else cap / self.options.workers)
        self.mail: Mail | None = None
        self._on_their_way: dict[str, str] | None = None
        self._progress = progress
        self._stop = stop
        controlled = config.control.pairs if config.control else None
        self._control_samples = Samples(config, self.library, controlled, self.note, self.options.baseline)
        self._whole = self._control_samples.whole()
        self.imports = Imports(cassettes)
        self._closest = Closest(config, self.library, self.samples, self.note)
        self._controls: dict[tuple[str, str, str], Control] = {}  # by judge, identity and dataset
        self._looks: dict[tuple[str, ...], int] = {}  # pairs per dataset that a swap of two judges is at
        self._seen_before: dict[tuple[Any, ...], tuple[Judgment, ...]] = {}
        self._others: dict[tuple[str, str, str | None], tuple[Subject, ...]] = {}  # what -k is to tell apart
        self._kept: set[tuple[str, str, Pair]] = set()  # pairs that a ledger has for the report
        self._judges: dict[str, Judge] = {}
        self._asked: dict[int, Asker[Any]] = {}  # every judge that was asked, also one that a user's code made
        self._planned: dict[tuple[int, str], dict[tuple[str, str], Planned]] = {}  # by judge and dataset, then by pair
        self._runner: asyncio.Runner | None = None

    @classmethod
    def from_config(
        cls, path: str | Path | None = "pyproject.toml", *, cassettes: str | Path | None = None, **options: Any
    ) -> Self:
        """Return the run of a configuration file: a pyproject.toml's table [tool.judgefixtures], or a file of its own.

        `path` None is the built-in configuration alone. `cassettes` is the folder of recordings, by default the one
        beside the file; further options are those of RunOptions. Raises JudgeFixturesError naming what is wrong.
        """
        options.setdefault("command", _command(path, cassettes, options))
        if path is None:
            return cls(build_config({}), Path(cassettes or "cassettes"), RunOptions(**options))
        file = Path(path).resolve()
        options.setdefault("usual", file.parent / "cassettes")
        return cls(load_config(file), Path(cassettes or file.parent / "cassettes"), RunOptions(**options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def note(self, text: str) -> None:
        """Keep a line for the end of the run, once."""
        if shown(text) not in self.notes:
            self.notes.append(shown(text))

    # --- what there is ----------------------------------------------------------------------------------------

    def judge(self, name: str) -> Judge:
        """Return a configured judge, made once; raises JudgeFixturesError with the names there are."""
        if name not in self._judges:
            self.config.check_judge_files(name)
            judge = load_judge(self.config.judge_table(name).headed(self.config.heading("judges", name)), name)
            if judge.is_imported:
                judge.answers = self.imports.identity(name)
            self._judges[name] = judge
        return self._judges[name]

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return what a judge is asked about: the pairs of a dataset's source, or as frozen with recordings of it.

        Of a dataset with `closest` they are the first ones of the pool; checks of cues are about the closest in place
        of them.
        """
        self.config.check_dataset_files(dataset)
        return self.samples.of(judge, dataset).pairs

    def about(self, subject: Subject) -> About:
        """Return which pairs a check is about, as far as that is known before anybody is asked."""
        pool = self._closest.pool(subject.judge, subject.dataset, subject.check.arms)
        if not pool:
            return About(self.pairs(subject.judge, subject.dataset))
        command = f"{self.options.command} {self.selecting(subject)}"
        return self._closest.about(subject.judges, subject.dataset, pool, command)

    def selecting(self, subject: Subject) -> str:
        """Return the options that select a check and none of the others there are, for commands in messages."""
        key = (subject.judge, subject.dataset, subject.baseline)
        if key not in self._others:
            checks = checks_of(self._every_contrast())
            self._others[key] = tuple(Subject(subject.judge, subject.dataset, check) for check in checks)
            if subject.baseline is not None:
                self._others[key] += tuple(
                    Subject(subject.judge, subject.dataset, check, subject.baseline)
                    for check in swap_checks(self._every_contrast(), 0)
                )
        return subject.options_among(self._others[key])

    @property
    def families(self) -> tuple[str, ...]:
        """Every family there is: cues, the user's own among them, and those of order, repetition and edits."""
        return (*self.config.cues, *OTHER_FAMILIES)

    def contrasts(self, family: str) -> tuple[Contrast, ...]:
        """Return the contrasts of a family; raises JudgeFixturesError where there is none of that name."""
        if family in OTHER_FAMILIES:
            return other_contrasts(family, self.options.repeats, self.config.cues)
        return contrasts(family, self.config.cues)

    def _every_contrast(self) -> Iterator[Contrast]:
        return (contrast for family in self.families for contrast in self.contrasts(family))

    def named(self, name: str) -> Check:
        """Return the check of a name as ids and reports have it: `recency-new-old`, `accuracy`, `plan`."""
        checks = {check.name: check for check in checks_of(self._every_contrast())}
        if name not in checks:
            raise JudgeFixturesError(f"there is no check {name!r}: {choices(name, checks)}.")
        return checks[name]

    def repeated(self, check: Check, table: JudgeTable) -> Check:
        """Return a check of a cue that asks all repeats of a judge that draws its answers: they tell how sure it is."""
        return check.repeated(self.options.repeats) if table.draws else check

    @property
    def swap_cells(self) -> int:
        """How many contrasts on datasets a swap compares, by the configuration."""
        families = self.config.swap.families
        return sum(len(self.contrasts(name)) * len(self.config.datasets_of(name)) for name in families)

    def settings(self, judges: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return everything that results of this run depend on beside what was asked and answered, by table and key.

        Of these judges it is what their identity leaves out.
        """
        found = self.config.decisive
        found[""]["pairs"] = self.options.pairs or self.config.pairs
        if (detector := self.config.detector.judge) is not None:
            # One that was not asked yet: whether it is known what its model takes depends on the process.
            found["detector"]["identity"] = load_judge(self.config.judge_table(detector), detector).identity
        return found | {f"judges.{name}": {"ties": self.config.judge_table(name).counts_ties} for name in judges}

    # --- gates ------------------------------------------------------------------------------------------------

    def gate(
        self,
        name: str,
        *,
        judge: str | Judge,
        dataset: str,
        baseline: str | Judge | None = None,
        pairs: Sequence[Pair] | None = None,
    ) -> Finding:
        """Return what one check finds about a judge on a dataset: the same as pytest's item of that name.

        `judge` is a name of the configuration or a judge made by `load_judge`; so is `baseline`, with which the check
        is a comparison. `pairs` are those of the dataset unless they are given. Raises JudgeFixturesError for a name
        that there is not, and WaitingError where answers are to come from a batch; what cannot be measured is a
        finding with the status ERROR.
        """
        who = self.judge(judge) if isinstance(judge, str) else judge
        check = self.repeated(self.named(name), who.table)
        other = self.judge(baseline) if isinstance(baseline, str) else baseline
        if other is not None:
            check = SwapCheck(check.contrast, self.swap_cells)
        about = self.pairs(who.name, dataset) if pairs is None else tuple(pairs)
        return self.check(check, Case(who, dataset, about, self.config, other))

    def check(
        self,
        check: Check,
        case: Case,
        ledger: Ledger | None = None,
        beside: Iterable[Subject] = (),
        item: Subject | None = None,
    ) -> Finding:
        """Return what a check finds in a case, after asking its judges; what cannot be measured is an ERROR.

        `beside` is what else the run is about to check: nothing is paid for where something of it cannot pass. `item`
        is what commands in messages select in place of the case: a user's fixtures may have made its judges.
        """
        ledger = Ledger() if ledger is None else ledger
        case = replace(case, repeats=self.options.repeats)
        if excuse := check.excuse(case):
            return Finding(
                check.kind,
                case.judge.name,
                case.dataset,
                check.name,
                Status.NOT_APPLICABLE,
                reasons=(excuse,),
                diagnosis=(excuse,),
            )
        subject = Subject(case.judge.name, case.dataset, check, case.baseline.name if case.baseline else None)
        controls: tuple[Control, ...] = ()
        try:
            if any(judge.rater is not None for judge in case.judges):
                check_names(self.config.cues)
            if lacking := self.unanswered(check, case):
                return unanswered(check, case, lacking, self._cue_free(case))
            self._refuse_hopeless(subject, case, beside)
            what = f"swap {check.name}" if case.baseline is not None else check.name
            look = self._look_options(subject)
            asking = Asking(
                case.dataset, what, self.selecting(item or subject), ledger, look=look, start=self.options.command
            )
            controls = tuple(self.control(judge, case.pairs, asking) for judge in case.judges)
            if failed := next((each for each in controls if each.earns_nothing), None):
                return _controlled(refused(check.lost(case, refusal(failed)), failed), controls)
            case, asking = self._looked_at(*self._narrowed(check, case, asking))
            self._note_asked(check, case, ledger)
            check = self._as_recorded(check, case, asking)
            arms = self.arms(check, case)
            answers = [self._asked_of(judge, case.pairs, arms, asking) for judge in case.judges]
            answers = [
                self._with_indifferent(judge, check, case, each)
                for judge, each in zip(case.judges, answers, strict=True)
            ]
            if check.is_read and (reader := self.config.detector.judge):
                read = self._detected(self.judge(reader), case.judge, case.pairs, answers[0], asking)
                answers[0] = replace(answers[0], detections=read)
        except PostponedError:
            try:
                self._post_the_rest(check, case, asking)
            except FATAL as error:
                return replace(_controlled(check.lost(case, presentable(str(error))), controls), fatal=True)
            what = f"{subject.judge} {subject.dataset} {check.name}"
            raise WaitingError(f"{what}: answers are asked for in batches") from None
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            ledger.judges.setdefault(case.judge.name, case.judge.identity)
            fatal = isinstance(error, FATAL)
            return replace(_controlled(check.lost(case, presentable(str(error))), controls), fatal=fatal)
        for judge, answered in zip(case.judges, answers, strict=True):
            ledger.judges.setdefault(judge.name, judge.identity)
            self._keep(judge, case.dataset, case.pairs, answered, ledger)
        return _controlled(check.find(case, *answers), controls)

    def _post_the_rest(self, check: Check, case: Case, asking: Asking) -> None:
        """Put into batches what else a check will ask, as far as that is known before the answers are there.

        A control that fails, and with it the others' answers that nobody needs, costs less than another day.
        """

        def posted(ask: Callable[[], object]) -> bool:
            try:
                ask()
            except FATAL:
                raise
            except (PostponedError, CassetteMissError, JudgeFixturesError):
                return False
            return True

        for judge in case.judges:
            posted(partial(self.control, judge, case.pairs, asking))
        alone = [replace(case, judge=judge, baseline=None) for judge in case.judges]
        chosen = [posted(partial(self._narrowed, check, each, asking)) for each in alone]
        if not all(chosen):
            return
        about, asking = self._narrowed(check, case, asking)
        for judge in about.judges:
            posted(partial(self._asked_of, judge, about.pairs, self.arms(check, about), asking))

    def send_batches(self) -> list[str]:
        """Send what was put into batches, and return what is to be said of them; raises FatalJudgeError."""
        if self.mail is None:
            return []
        self.runner.run(self.mail.finish())
        return [shown(line) for line in self.mail.words]

    def on_their_way(self, judge: str) -> str:
        """Say which questions to a judge are on their way in batches that this run does not collect; empty for none."""
        if self.options.batch:
            return ""
        if self._on_their_way is None:
            self._on_their_way = {}
            from judgefixtures.batches.manifest import Manifest

            try:
                found = Manifest.of(self.library.root, mends=False).open
            except CassetteError as error:  # the run needs no list, but pays for what stands in it
                self.note(str(error))
                found = []
            for name in {sent.judge for sent in found}:
                mine = [sent for sent in found if sent.judge == name]
                batches = ", ".join(sent.batch or "a batch whose id is not known" for sent in mine)
                self._on_their_way[name] = (
                    f"{name}: {sum(map(len, mine))} questions are on their way in {batches}, and paid for: "
                    "--judge-record missing --judge-batch collects them; any other recording asks them again"
                )
        return self._on_their_way.get(judge, "")

    @property
    def waits(self) -> int:
        """How many questions are to be answered in batches."""
        return 0 if self.mail is None else self.mail.unanswered

    def arms(self, check: Check, case: Case) -> tuple[Arm, ...]:
        """Return what a check asks; of accuracy the pairs' own order alone, where an imported judge's log has no other.

        Every other check needs both of its arms.
        """
        if check.contrast is not None or (NO_CUE_SWAPPED, 0) not in check.arms:
            return check.arms
        own = tuple(arm for arm in check.arms if arm != (NO_CUE_SWAPPED, 0))
        return (
            own
            if any(self._lacks(judge, case, check.arms) and not self._lacks(judge, case, own) for judge in case.judges)
            else check.arms
        )

    def unanswered(self, check: Check, case: Case) -> str:
        """Return why a check is about something that an imported judge's log has no answers to; empty where it is not.

        Raises JudgeFixturesError where nothing is imported of the judge on the case's dataset.
        """
        arms = self.arms(check, case)
        return next(filter(None, (self._lacks(judge, case, arms) for judge in case.judges)), "")

    def _lacks(self, judge: Judge, case: Case, arms: Iterable[Arm]) -> str:
        return self.imports.unanswered(judge.name, case.dataset, case.pairs, arms) if judge.is_imported else ""

    def _cue_free(self, case: Case) -> tuple[Judgment, ...]:
        return self.seen(case.judge, case.dataset, case.pairs, (NO_CUE, 0), {}) if case.judge.is_imported else ()

    def _as_recorded(self, check: Check, case: Case, asking: Asking) -> Check:
        """Return a check without repeats where a replay would look for some of which nothing is recorded, and note it.

        Recordings that were made before repeats of cues were asked for replay as they did.
        """
        if check.repeats == 1:
            return check
        if case.judge.table.seed is not None and not case.judge.is_python and "seed" not in case.judge.dropped:
            self.note(
                f"{case.judge.name}: seed = {case.judge.table.seed} goes with every repeat, and a server that "
                'honours it repeats itself: for shares of repeats set seed = "unset" in its table'
            )
        if self.options.record != "none" or case.judge.is_python:
            return check
        plans = self._plans(case.judge, case.pairs, asking)
        if any(self.seen(case.judge, case.dataset, case.pairs, arm, plans) for arm in check.arms[2:]):
            return check
        self.note(
            f"{case.judge.name} on {case.dataset}: repeats of cue contrasts are not recorded, their verdicts are "
            f"judged alone: {asking.command('missing')} asks them"
        )
        return check.repeated(1)

    def control(self, judge: Judge, pairs: Sequence[Pair], asking: Asking) -> Control:
        """Return whether a judge of such pairs reads at all: asked once per run and shared by all of its checks."""
        table = self.config.control
        if table is None:
            return Control(judge=judge.name, status=Status.NOT_APPLICABLE, message=OFF)
        dataset = self.control_dataset(judge, asking.dataset, table, pairs)
        key = (judge.name, json.dumps(judge.identity, sort_keys=True), dataset)
        if key not in self._controls:
            self._controls[key] = self._control_of(judge, dataset, table, asking)
        return self._controls[key]

    def control_dataset(self, judge: Judge, dataset: str, table: ControlTable, pairs: Sequence[Pair]) -> str:
        """Return the dataset that controls a judge: of an imported one its own, unless [control] names another."""
        own = judge.is_imported and table.dataset is None
        return dataset if own else control_dataset(table, pairs)

    def control_pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the clear pairs of a dataset that a judge is controlled with: those on which counting tells least.

        Of a hub's dataset they are the first ones that have gold: the others are neither fetched nor frozen for this.
        """
        self.config.check_dataset_files(dataset)
        first, wanted = self._control_samples.of(judge, dataset).pairs, self._control_samples.wanted
        remote = self._control_samples.is_remote(dataset)
        if wanted is None or (remote and len(golden_pairs(first)) == len(first)):
            return golden_pairs(first)
        golden = golden_pairs(self._every_pair(judge, dataset))
        return golden[:wanted] if remote else least_telling(golden, wanted)

    def _every_pair(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return all pairs of a dataset; in a replay those that were recorded, where it is not to be had as a whole."""
        try:
            return self._whole.of(judge, dataset).pairs
        except JudgeFixturesError:
            recorded = self.library.frozen(judge, dataset) if self.options.record == "none" else ()
            if not recorded:
                raise
            return sampled(self._answered(judge, dataset, recorded) or recorded, self.config.seed)

    def _answered(self, judge: str, dataset: str, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the pairs about which a control can be replayed: no others were chosen when it was recorded."""
        seen = [{each.pair.id for each in self.seen(self.judge(judge), dataset, pairs, arm, {})} for arm in ARMS]
        return tuple(pair for pair in pairs if all(pair.id in ids for ids in seen))

    def control_need(self, judge: str, dataset: str) -> Need | None:
        """Return what a judge's control needs to be able to pass, where there are too few clear pairs for it."""
        table = self.config.control
        return None if table is None else need_of(judge, dataset, len(self.control_pairs(judge, dataset)), table)

    def _control_of(self, judge: Judge, dataset: str, table: ControlTable, asking: Asking) -> Control:
        try:
            if need := self.control_need(judge.name, dataset):
                raise JudgeFixturesError(f"{need}: {need.remedy}.")
            pairs = self.control_pairs(judge.name, dataset)
            answers = self._asked_of(judge, pairs, ARMS, replace(asking, dataset=dataset, what="control", part=True))
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            if isinstance(error, FATAL):
                raise
            command = asking.command("missing")
            missed = command if isinstance(error, CassetteMissError) else ""
            lost = Control(judge=judge.name, dataset=dataset, message=presentable(str(error)), command=missed)
            return of_log(lost, table) if judge.is_imported else lost
        if self.options.keep_judgments:
            asking.ledger.ask(f"what controls {judge.name} on {dataset}", judge.name, dataset, pairs)
        self._keep(judge, dataset, pairs, answers, asking.ledger)
        found = control(judge.name, dataset, answers.arms[0], answers.arms[1], table.threshold)
        return of_log(found, table, [each for arm in answers.arms for each in arm]) if judge.is_imported else found

    def _keep(self, judge: Judge, dataset: str, pairs: Sequence[Pair], answers: Answers, ledger: Ledger) -> None:
        """Keep what a report of every judgment is made of, where one is wanted; each pair once in a run."""
        if not self.options.keep_judgments:
            return
        ledger.keep(judge, dataset, answers)
        for pair in pairs:
            if (known := (judge.name, dataset, pair)) not in self._kept:
                self._kept.add(known)
                ledger.pairs.append(pair_row(judge.name, dataset, pair))

    def _note_asked(self, check: Check, case: Case, ledger: Ledger) -> None:
        """Note what a check asks its judges about, where a report is wanted: as it is after all that narrows it."""
        if not self.options.keep_judgments:
            return
        who = " against ".join(judge.name for judge in case.judges)
        by = f", chosen by {case.chosen_by}" if case.chosen_by else ""
        what = f"what {who} is asked about of {case.dataset}{by}"
        ledger.ask(what, case.judge.name, case.dataset, case.pairs)
        if check.contrast is not None:  # a fixture of the user's may have other sentences than the configuration
            said = hashlib.sha256(repr(check.contrast).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            ledger.asked[f"what {check.contrast.id} says"] = f"digest {said}"

    def _pool(self, check: Check, case: Case) -> tuple[Pair, ...]:
        """Return the pool of which the closest pairs take the place of a case's own; empty where nothing does."""
        pool = self._closest.pool(case.judge.name, case.dataset, check.arms)
        # Pairs that a fixture of the user's chose are left alone.
        return pool if pool and case.pairs == self.pairs(case.judge.name, case.dataset) else ()

    def _narrowed(self, check: Check, case: Case, asking: Asking) -> tuple[Case, Asking]:
        """Return a case with the pairs that are closest for its judges, where its check is about those.

        Two judges are compared on the same pairs: those that are close for either, in the pool's order.
        """
        if not (pool := self._pool(check, case)):
            return case, asking
        command, chosen = f"{self.options.command} {asking.look or asking.options}", set[str]()
        for judge in case.judges:
            screen = partial(self._screened, judge, asking)
            chosen.update(self._closest.of(judge.name, case.dataset, pool, screen, command))
        pairs = tuple(pair for pair in pool if pair.id in chosen)
        return replace(case, pairs=pairs, chosen_by=f"[datasets.{case.dataset}] closest"), replace(asking, part=True)

    def _screened(self, judge: Judge, asking: Asking, pool: Sequence[Pair]) -> tuple[tuple[Judgment, ...], ...]:
        """Return what a judge answers about a whole pool in both orders, to choose from.

        Its answers are no part of the report: a replay takes the choice as it is frozen, and asks for none of them.
        """
        aside = Ledger()
        try:
            return self._asked_of(judge, pool, SCREENING, replace(asking, what="closest", ledger=aside, part=True)).arms
        finally:
            asking.ledger.bear(aside)

    def _with_indifferent(self, judge: Judge, check: Check, case: Case, answers: Answers) -> Answers:
        """Return the answers with what the judge chose where nothing that matters differs, as far as it is recorded."""
        asked = {(arm[0].condition.name, arm[0].repeat): arm for arm in answers.arms if arm}
        known: dict[str, Sequence[Judgment]] = {}
        for condition, repeat in check.indifferent(case, judge):
            own = asked.get((condition.name, repeat))
            known[arm_name(condition, repeat)] = (
                self.seen(judge, case.dataset, case.pairs, (condition, repeat), answers.plans) if own is None else own
            )
        chosen = {arm: choices_of(seen) for arm, seen in known.items()}
        likely = {arm: likely_of(seen) for arm, seen in known.items()}
        return replace(
            answers,
            indifferent={arm: each for arm, each in chosen.items() if each},
            likely={arm: each for arm, each in likely.items() if each},
            cue_free=tuple(known.get(arm_name(NO_CUE, 0), ())),
        )

    def _detected(
        self, detector: Judge, judge: Judge, pairs: Sequence[Pair], answers: Answers, asking: Asking
    ) -> Detections:
        """Return what a judge's model says of the reasons of both arms of a contrast; recorded among the judge's own.

        It is asked about every valid verdict that gives a reason, and once about equal ones.
        """
        found = Detections(detector.name, {})
        for arm in answers.arms[:2]:
            told = [judgment for judgment in arm if has_reason(judgment)]
            if not told:
                continue
            reader = Reader(detector.name, detector.table, detector.pace, told)
            self._asked[id(reader)] = reader  # closed with the run
            asked = [judgment.pair for judgment in told if reader.stands_for(judgment.pair) == judgment.pair.id]
            condition = detected(told[0].condition, detector.name)
            about = replace(asking, what=f"{asking.what} read by {detector.name}", part=True)
            (replies,) = self._collect(
                reader, detector, asked, pairs, [(condition, told[0].repeat)], {}, about, among=judge.name
            )
            said = {pair.id: reading for pair, reading in zip(asked, replies, strict=True)}
            found = found.beside(reader, ((judgment, said[reader.stands_for(judgment.pair)]) for judgment in told))
        return found

    def chosen(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm, plans: Mapping[str, Planned]
    ) -> Mapping[str, int]:
        """Return what is recorded of a judge's choices in an arm."""
        return choices_of(self.seen(judge, dataset, pairs, arm, plans))

    def seen(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm, plans: Mapping[str, Planned]
    ) -> tuple[Judgment, ...]:
        """Return what is recorded of a judge's judgments in an arm, looked up once for all contrasts of a dataset."""
        key = (id(judge), dataset, arm, tuple(pair.digest for pair in pairs))
        if key not in self._seen_before:
            replies = self._verdicts(judge, dataset, arm, pairs, plans)
            self._seen_before[key] = tuple(
                Judgment(pair, arm[0], replies[pair.id], arm[1]) for pair in pairs if pair.id in replies
            )
        return self._seen_before[key]

    def hopeless(self, subjects: Iterable[Subject]) -> tuple[Need, ...]:
        """Return what cannot PASS whatever is answered, once each."""
        found = (
            each.check.need(self.config, self.config.judge_table(each.judge), each.dataset, self.about(each).at_most)
            for each in subjects
        )
        return tuple(dict.fromkeys(need for need in found if need is not None))

    def _refuse_hopeless(self, subject: Subject, case: Case, beside: Iterable[Subject]) -> None:
        """Refuse to pay for a recording that cannot pass, whatever is answered: this check's or another's."""
        if self.options.record == "none" or self.options.force:
            return
        pairs = self.about(subject).at_most if self._pool(subject.check, case) else case.pairs
        own = subject.check.need(self.config, case.judge.table, case.dataset, pairs)
        # attack_tolerance is the tightest gate by far: too few pairs for it are not a reason to record nothing.
        others = (
            ()
            if own
            else self.hopeless(each for each in beside if each.check.contrast is None or not each.check.contrast.x.edit)
        )
        if own or others:
            lacking = own or others[0]
            raise JudgeFixturesError(
                f"{'' if own else 'nothing of this run is recorded: '}{lacking}. Add pairs, {lacking.remedy}, "
                f"{'' if own else 'deselect it, '}or record all the same with --judge-force."
            )

    # --- looks ------------------------------------------------------------------------------------------------

    def until_decided(
        self, subject: Subject, beside: Sequence[Subject], ledger: Ledger, required: Iterable[PlannedPart] = ()
    ) -> Finding | None:
        """Ask about a swap a look at a time, and stop as soon as it is decided, or the looks end.

        `subject` is one of its parts, the others are those in `beside` of the same two judges. From then on its checks
        are about the first pairs that this look has. `required` is everything that swaps compare: what is no part of
        this run decides nothing. Returns what ended the recording, if anything.
        """
        if subject.judges in self._looks:
            return None
        parts = [each for each in beside if each.judges == subject.judges]
        planned = [each for each in required if each.judge == subject.judge]
        decided = False
        for look in self.config.swap.looks:
            self._looks[subject.judges] = look
            findings: list[Finding] = []
            for each in parts:
                findings.append(self._part(each, beside, ledger).with_evidence(required=planned))
                if findings[-1].fatal:
                    return findings[-1]
            found = decide_swaps(findings) or []
            decided = bool(found) and all(row.status != SwapStatus.INCONCLUSIVE for row in found)
            if decided or look >= max(map(self._pairs_asked, parts), default=0):
                break
        self._note_look(subject, parts, decided)
        return None

    def _note_look(self, subject: Subject, parts: Sequence[Subject], decided: bool) -> None:
        """Note at which look a swap ended, and what that leaves out."""
        look = self._looks[subject.judges]
        spared = {judge: self._spared(self.judge(judge), parts, look) for judge in subject.judges}
        if any(spared.values()):
            found = "decided" if decided else "not decided, and it is the last one"
            who = " against ".join(subject.judges)
            each = f"{max(spared.values())} questions to each judge"
            if len(set(spared.values())) > 1:
                each = " and ".join(f"{questions} questions to {judge}" for judge, questions in spared.items())
            self.note(
                f"{who}: look at {look} pairs per dataset: {found}; this swap leaves out {each}, and a replay "
                "with --judge-until-decided the same ones"
            )

    def _spared(self, judge: Judge, parts: Sequence[Subject], look: int) -> int:
        """Return how many questions about the parts of a swap a judge is not asked after so many pairs."""
        pairs = {(each.dataset, arm): self._pairs_asked(each) for each in parts for arm in judge.asks(each.check.arms)}
        return sum(max(n - look, 0) for n in pairs.values())

    def _pairs_asked(self, subject: Subject) -> int:
        """Return how many pairs a check is about, all looks taken; 0 where its own ERROR says why that is not known."""
        with contextlib.suppress(JudgeFixturesError):
            return len(self.about(subject).at_most)
        return 0

    def _part(self, subject: Subject, beside: Sequence[Subject], ledger: Ledger) -> Finding:
        """Return what a part of a swap finds at the look that it is at."""
        judge, baseline = map(self.judge, subject.judges)
        pairs = self.pairs(subject.judge, subject.dataset)
        return self.check(subject.check, Case(judge, subject.dataset, pairs, self.config, baseline), ledger, beside)

    def _look_options(self, subject: Subject) -> str:
        """Return the options that ask for a swap as far as it was decided; empty where no look was taken.

        All of its parts decide, so that all of them are selected: a single one would be asked about to the last look.
        """
        if subject.judges not in self._looks:
            return ""
        chosen = "".join(f" --judge-dataset {name}" for name in self.options.datasets)
        judge, baseline = subject.judges
        return (
            f"--judge {judge} --judge-baseline {baseline}{chosen} -k {judge}-against-{baseline} --judge-until-decided"
        )

    def _looked_at(self, case: Case, asking: Asking) -> tuple[Case, Asking]:
        """Return a case with the first of its pairs, as many as the look has that its swap is at."""
        look = self._looks.get(tuple(judge.name for judge in case.judges))
        if look is None or look >= len(case.pairs):
            return case, asking
        return replace(case, pairs=case.pairs[:look]), replace(asking, part=True)

    # --- asking -----------------------------------------------------------------------------------------------

    def answers(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm], ledger: Ledger | None = None
    ) -> Answers:
        """Return what a judge answers about pairs in every arm, from its recordings or, recording, from the judge.

        One that plans first makes its plans before anything else. Raises CassetteMissError for what is not recorded,
        FatalJudgeError and BudgetError for what ends a recording, WaitingError where answers come in batches.
        """
        asking = Asking(dataset, "answers", "", Ledger() if ledger is None else ledger)
        try:
            return self._asked_of(judge, tuple(pairs), arms, asking)
        except PostponedError:
            raise WaitingError(f"{judge.name} {dataset}: answers are asked for in batches") from None

    def _asked_of(self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], asking: Asking) -> Answers:
        plans = self._plans(judge, pairs, asking)
        if not arms:
            return Answers((), plans)
        if judge.is_imported:
            replies = self.imports.replies(judge, asking.dataset, pairs, arms)
            asking.ledger.judges[judge.name] = judge.identity
            self.note(
                f"{judge.name} is imported: its answers about {asking.dataset} are those of "
                f"{self.imports.path(judge.name, asking.dataset)}, and nobody was asked"
            )
        elif judge.rater is not None:
            replies = self._scored(judge, judge.rater, pairs, arms, asking)
        else:
            replies = self._collect(judge, judge, pairs, pairs, arms, plans, asking)
        return Answers(tuple(judgments(pairs, arms, replies, plans)), plans)

    def _scored(
        self, judge: Judge, rater: Rater, pairs: Sequence[Pair], arms: Sequence[Arm], asking: Asking
    ) -> list[tuple[Reply, ...]]:
        """Return what the scores of every arm's responses amount to: each score is asked for once."""
        asked = judge.asks(arms)
        ratings = self._collect(rater, judge, pairs, pairs, asked, {}, asking)
        scored = {
            (condition.name, repeat, pair.id): rating
            for (condition, repeat), arm in zip(asked, ratings, strict=True)
            for pair, rating in zip(pairs, arm, strict=True)
        }
        return [tuple(_replies(judge, scored, pairs, arm).values()) for arm in arms]

    def _plans(self, judge: Judge, pairs: Sequence[Pair], asking: Asking) -> dict[str, Planned]:
        """Return the plans for some pairs by pair id: made or replayed once per run, for all of its checks."""
        if not judge.plans_first:
            return {}
        known = self._planned.setdefault((id(judge), asking.dataset), {})
        lacking = [pair for pair in pairs if (pair.id, pair.digest) not in known]
        if lacking:
            known |= self._made(judge, lacking, replace(asking, what="plan"))
            plans = [planned.plan for planned in known.values()]
            if fallback := [str(plan.fault) for plan in plans if plan.origin == "fallback"]:
                faults = ", ".join(f"{fault} {fallback.count(fault)}" for fault in sorted(set(fallback)))
                self.note(
                    f"{judge.name} on {asking.dataset}: {len(fallback)} of {len(plans)} plans were not plans "
                    f"({faults}): the hand-made plan of the kind of task was carried out in their place"
                )
        return {pair.id: known[pair.id, pair.digest] for pair in pairs}

    def _made(self, judge: Judge, pairs: Sequence[Pair], asking: Asking) -> dict[tuple[str, str], Planned]:
        planner = judge.planner
        if planner is None:
            return {(pair.id, pair.digest): Planned(heuristic_plan(pair)) for pair in pairs}
        tasks: dict[str, Pair] = {}  # pairs of one question have one plan, or a replay could not tell theirs apart
        for pair in sorted(pairs, key=lambda pair: pair.id):
            tasks.setdefault(planner.about(pair), pair)
        asked = list(tasks.values())
        (written,) = self._collect(planner, judge, asked, pairs, [(PLAN, 0)], {}, asking)
        replies = dict(zip(tasks, written, strict=True))
        made = ((pair, replies[planner.about(pair)]) for pair in pairs)
        return {(pair.id, pair.digest): Planned(planner.read(pair, reply), reply.usage) for pair, reply in made}

    def _collect(
        self,
        asked: Asker[R],
        judge: Judge,
        pairs: Sequence[Pair],
        frozen: Sequence[Pair],
        arms: Sequence[Arm],
        plans: Mapping[str, Planned],
        asking: Asking,
        among: str | None = None,
    ) -> list[tuple[R, ...]]:
        """Ask a judge, or its planner, through its recordings; `frozen` are the pairs that they are kept with.

        `among` names the judge among whose recordings they are, where that is another one.
        """
        offline = self.options.record == "none"
        conditions = list(dict.fromkeys(condition.name for condition, _ in arms))
        # Replaying waits for nobody: calls in flight would only cost switching.
        concurrency = 1 if offline else self.options.concurrency
        self._asked[id(judge)] = judge
        asked.stops_when_cut_off = not self.options.force
        if self.options.shared is not None:
            asked.pace.share(self.options.shared, asked.name, concurrency)
        if self.options.batch and self.mail is None:
            from judgefixtures.batches.mail import Mail

            self.mail = Mail(self.library.root, self.config.batch_parity, frozenset(self.config.judges))
        stop = None if offline or self._stop is None else self._stop()
        urgency = None if stop is None else lambda: stop.urgency
        meter, retries = Meter(asked.table, self.budget), asked.retries
        shown_as = _unseen if offline else self._progress
        with (
            self._files_noted() as opened,
            self.library.open(asked, asking.dataset, conditions, frozen, asking.command, among) as cassettes,
        ):
            opened += cassettes.values()
            try:
                with (
                    shown_as(meter, len(arms) * len(pairs)) as answered,
                    recording(only_httpx2=not judge.is_python, offline=offline, programs=judge.table.allow_programs),
                    contextlib.nullcontext() if stop is None else stop.heeded(),
                ):
                    found = self.runner.run(
                        ask_all(asked, pairs, arms, cassettes, concurrency, meter, answered, plans, urgency, self.mail)
                    )
                self._note_answers(judge, arms, pairs, found, asking)
                return found
            finally:
                ledger = asking.ledger
                if among is None:  # a detector judges nothing: its identity stands with what it read
                    ledger.judges[judge.name] = judge.identity
                self._warn_of_retirement(judge, asked.shutdown_date or judge.shutdown_date, ledger)
                self._warn_of_cache(judge, list(cassettes.values()), asking)
                ledger.retries += asked.retries - retries
                days = {day for cassette in cassettes.values() for day in cassette.days}
                ledger.draw(judge.name, days, sum(cassette.asked for cassette in cassettes.values()))
                if meter.total.calls:
                    ledger.spend(judge.name, meter.total)
                    if coming := self.on_their_way(asked.name):
                        self.note(coming)
                self._note(judge, pairs, arms, list(cassettes.values()), asking)

    def _verdicts(
        self, judge: Judge, dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, Planned]
    ) -> Mapping[str, Reply]:
        """Return what is recorded of a judge's verdicts in an arm, by pair id: of one that scores, made of two each."""
        if judge.is_imported:
            with contextlib.suppress(JudgeFixturesError):  # the item says what is wrong with the file
                return self.imports.recorded(judge, dataset, pairs, arm)
            return {}
        if judge.rater is None:
            return self._looked_up(judge, dataset, arm, pairs, plans)
        scored: dict[tuple[str, int, str], Rating] = {}
        for condition, repeat in judge.asks([arm]):
            found = self._looked_up(judge.rater, dataset, (condition, repeat), pairs, plans)
            scored |= {(condition.name, repeat, pair): rating for pair, rating in found.items()}
        return _replies(judge, scored, pairs, arm)

    def recorded(
        self, judge: Asker[R], dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, Planned]
    ) -> Mapping[str, R]:
        """Return what is recorded of an arm and would not be asked for by this run, by pair id: nothing is asked."""
        if self.options.record == "all":
            return {}
        found = self._looked_up(judge, dataset, arm, pairs, plans)
        again = self.library.invalid if self.options.record == "invalid" else frozenset[str]()
        return {pair: reply for pair, reply in found.items() if reply.invalid not in again}

    def _looked_up(
        self, judge: Asker[R], dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, Planned]
    ) -> Mapping[str, R]:
        """Return what is recorded of an arm, by pair id."""
        condition, _ = arm
        direct = condition is PLAN or judge.table.strategy == "direct"
        known = [pair for pair in pairs if direct or pair.id in plans]
        found: Mapping[str, R] = {}
        library = replace(self.library, mode="none")
        self._asked[id(judge)] = judge  # what the look-up opens is closed with the run
        with (
            contextlib.suppress(CassetteError),  # the item says what is wrong with the file
            library.open(judge, dataset, [condition.name], ()) as cassettes,
            recording(only_httpx2=not judge.is_python, offline=True),
        ):
            found = self.runner.run(recorded(judge, known, arm, cassettes[condition.name], plans))
        return found

    @property
    def runner(self) -> asyncio.Runner:
        """One event loop for the run, so that one client per judge serves all checks."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner

    def close(self) -> None:
        """Close the judges' connections and the event loop."""
        if self.mail is not None:
            self.runner.run(self.mail.close())
            self.mail = None
        if self._runner is not None:
            for judge in self._asked.values():
                self._runner.run(judge.close())
            self._runner.close()
            self._runner = None

    # --- what is said of recordings ---------------------------------------------------------------------------

    def _note(
        self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], cassettes: Sequence[Cassette], asking: Asking
    ) -> None:
        """Note for the summary what happened to the recordings, also when Ctrl-C ended it."""
        record = self.options.record
        answered, wanted = sum(len(cassette.used) for cassette in cassettes), len(pairs) * len(arms)
        kept = answered
        if answered < wanted:
            asked_for = [
                (cassette, repeat)
                for cassette in cassettes
                for condition, repeat in arms
                if condition.name == cassette.condition
            ]
            kept = sum(cassette.keeps(pair, repeat) for cassette, repeat in asked_for for pair in pairs)
        if record != "none" and answered < wanted and self.mail is None:  # batches are told of by themselves
            asked = sum(cassette.asked for cassette in cassettes)
            self.note(
                f"{judge.name} {asking.dataset} {asking.what}: {kept} of {wanted} answers are kept ({asked} of them "
                f"new), {wanted - kept} remain: run the same command again (--judge-record {record})"
            )
        if judge.is_python and answered == wanted and not any(cassette.rows() for cassette in cassettes):
            self.note(f"{judge.name} made no HTTP call that could be recorded: it was run live, not replayed")
        if record == "none" and answered == wanted:
            whole = self.options.pairs is None and self.config.pairs is None and not asking.part
            self._note_leftovers(asking.dataset, pairs, cassettes, whole=whole)

    @contextlib.contextmanager
    def _files_noted(self) -> Iterator[list[Cassette]]:
        """Note for the summary which unfinished recordings were gone on with or set aside, also at the very end."""
        cassettes: list[Cassette] = []
        try:
            yield cassettes
        finally:
            for cassette in cassettes:
                if cassette.resumed:
                    self.note(
                        f"{cassette.final_path}: it has answers of a --judge-record all that did not end "
                        f"({cassette.resumed}). To ask them anew as well, run this command again"
                    )
                if cassette.renews:
                    self.note(
                        f"{cassette.final_path}: it is of another judge ({'; '.join(cassette.renews)}) and is recorded "
                        "anew, as others of this judge were before; it stays until the new recording is complete"
                    )
                for path in cassette.set_aside:
                    self.note(f"a recording of another judge was set aside as {path}")

    def _warn_of_retirement(self, judge: Judge, announced: str | None, ledger: Ledger) -> None:
        model = judge.table.model
        if judge.table.connection is not None and announced is None:
            return  # a cloud ends models on days of its own
        if model and (warning := retirement(model, datetime.date.fromisoformat(today()), announced)):
            ledger.warn(f"judge {judge.name}: {warning}")

    def _warn_of_cache(self, judge: Judge, cassettes: Sequence[Cassette], asking: Asking) -> None:
        """Warn where a cache answered in place of the judge: then repeats are equal whatever the judge's noise is.

        A replay of what it answered warns as the recording does.
        """
        cached, asked = map(sum, zip(*(cassette.cached for cassette in cassettes), strict=True))
        if cached:
            command = asking.command("all")
            asking.ledger.warn(
                f"judge {judge.name} on {asking.dataset}: {cached} of {asked} new answers came with the response id of "
                "an earlier answer: a cache before the judge repeats what it said, so that repeats show no noise. "
                f"Switch the cache off for this judge and record anew: {command}"
            )

    def _note_answers(
        self,
        judge: Judge,
        arms: Sequence[Arm],
        pairs: Sequence[Pair],
        replies: Sequence[Sequence[Said]],
        asking: Asking,
    ) -> None:
        """Keep what the provider said of itself, which answers are invalid, and which have something not known."""
        asking.ledger.served += served_rows(judge.name, asking.dataset, arms, pairs, replies)
        command = asking.command("invalid")
        kinds = asking.ledger.invalid.setdefault(command, Counter())
        kinds.update(reply.invalid for arm in replies for reply in arm if reply.invalid)
        doubts = Counter(reply.detail for arm in replies for reply in arm if reply.detail and not reply.invalid)
        for doubt, count in sorted(doubts.items()):
            self.note(f"{judge.name} on {asking.dataset}: {count} answers: {doubt}")
        if judge.table.logprobs:
            self._note_probabilities(
                judge, [reply for arm in replies for reply in arm if isinstance(reply, Reply)], asking
            )

    def _note_probabilities(self, judge: Judge, replies: Sequence[Reply], asking: Asking) -> None:
        """Note where a judge was asked for probabilities behind its verdicts and gave none, or not always."""
        valid = [reply for reply in replies if reply.invalid is None]
        without = sum(reply.probability is None for reply in valid)
        if valid and without == len(valid):
            model = judge.table.model or judge.table.target
            self.note(f"judge {judge.name}: {model} gives no token probabilities: its verdicts are judged alone")
        elif without:
            self.note(
                f"judge {judge.name} on {asking.dataset}: {without} of {len(valid)} answers came without probabilities"
            )

    def _note_leftovers(
        self, dataset: str, pairs: Sequence[Pair], cassettes: Sequence[Cassette], *, whole: bool
    ) -> None:
        for cassette in cassettes:
            if unused := cassette.unused(whole=whole):
                self.note(
                    f"{cassette.file.path}: recordings of {len(unused)} pairs were not used ({_listed(unused)}); "
                    "they stay until their lines are deleted"
                )
            if regraded := cassette.regraded(pairs):
                self.note(f"{dataset}: gold, category or cluster of {_listed(regraded)} changed since the recording")


def _command(path: str | Path | None, cassettes: str | Path | None, options: Mapping[str, Any]) -> str:
    """Return the start of pytest commands that look at the same recordings as a run from Python."""
    file = None if path is None else Path(path).resolve()
    elsewhere = file is not None and file.name == "pyproject.toml" and file.parent != Path.cwd()
    repeats = options.get("repeats", 1)
    given = {
        "config": file if file is not None and file.name != "pyproject.toml" else None,
        "cassettes": None if cassettes is None else Path(cassettes).resolve(),
        "pairs": options.get("pairs"),
        "repeats": repeats if repeats > 1 else None,
    }
    start = f"cd {quoted(str(file.parent))} && pytest" if file is not None and elsewhere else "pytest"
    return " ".join([start, *command_options(given)])


def _replies(
    judge: Judge, scored: Mapping[tuple[str, int, str], Rating], pairs: Sequence[Pair], arm: Arm
) -> dict[str, Reply]:
    """Return what scores amount to in an arm, by pair id, of the pairs that have both."""
    ties = judge.table.counts_ties
    found = {pair.id: (pair, both) for pair in pairs if (both := both_ratings(scored, pair, *arm)) is not None}
    return {name: Reply.of_scores(*both, pair, counts_ties=ties) for name, (pair, both) in found.items()}


def _controlled(finding: Finding, controls: Sequence[Control]) -> Finding:
    """Return a finding with the controls of its judges among its rows."""
    return replace(finding, rows={**finding.rows, Control.place: tuple(controls)})


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
