"""Run: ask judges about pairs through their recordings and check them, without pytest.

The plugin uses it for pytest's items. A script or a notebook can use it directly (docs/how-to/notebook.md).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from judgefixtures.cassettes.calls import DeferredToBatchError
from judgefixtures.checks import Answers, Check, CheckInput, SampleRequirement, SwapCheck
from judgefixtures.checks.base import CheckId
from judgefixtures.config import Config, build_config, load_config
from judgefixtures.importers.imported_answers import Imports
from judgefixtures.judges.judge import Judge
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import Finding
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm
from judgefixtures.models.swap_rows import PlannedSwapPart
from judgefixtures.providers import register_credentials

from . import context
from .answer_service import AnswerService
from .batch_session import BatchSession
from .check_runner import CheckRunner
from .closest_pairs import ClosestPairSelector, PairScope
from .compatibility import check_judge_fits_dataset
from .context import DEFAULT_CONCURRENCY, CancelToken, Progress, RunContext, RunOptions, WaitingError
from .control_runner import ControlRunner
from .item_record import ItemRecord, JudgmentArchive, RecordingDays, RequestContext
from .pair_selection import PairSelector
from .registry import RunRegistry
from .request_executor import RequestExecutor
from .samples import Samples
from .swap_looks import SwapLookProgress, SwapLookRunner

__all__ = [
    "DEFAULT_CONCURRENCY",
    "REPEAT",
    "CancelToken",
    "ItemRecord",
    "Progress",
    "RecordingDays",
    "RequestContext",
    "Run",
    "RunOptions",
    "WaitingError",
]

REPEAT = re.compile(r"repeat-no-cue-[1-9][0-9]*")


class Run:
    """Judges, datasets and recordings of one configuration, loaded on first use.

    >>> run = Run.from_config(None)
    >>> len(run.contrasts("provenance"))
    6
    """

    def __init__(
        self,
        config: Config,
        cassettes: Path = Path("cassettes"),
        options: RunOptions | None = None,
        progress: Progress = context.no_progress,
        stop: Callable[[], CancelToken] | None = None,
    ) -> None:
        register_credentials(*config.judges.values())  # selected or not: nothing is to show the key of one
        context = self.context = RunContext.of(config, cassettes, options or RunOptions())
        self.config, self.options = context.config, context.options
        self.library, self.notes = context.library, context.notes
        pairs, baseline = self.options.pairs or config.pairs, self.options.baseline
        self.samples = Samples(config, context.library, pairs, context.note, baseline)
        self.imports = Imports(cassettes)
        self.registry = RunRegistry(context, self.samples, self.imports)
        self.batch_session = BatchSession(context)
        self._executor = RequestExecutor(context, self.batch_session, progress, stop)
        self.answer_service = AnswerService(context, self._executor, self.imports)
        closest = ClosestPairSelector(config, context.library, self.samples, context.note)
        self.pair_selector = PairSelector(context, self.registry, closest, self.answer_service)
        archive, looks = JudgmentArchive(wanted=self.options.keep_judgments), SwapLookProgress()
        self.control_runner = ControlRunner(context, self.registry, self.answer_service, archive)
        reading = AnswerService(context.as_replay, self._executor.reader(), self.imports)
        self.check_runner = CheckRunner(
            context,
            self.registry,
            self.answer_service,
            reading,
            self.control_runner,
            self.pair_selector,
            looks,
            archive,
        )
        self._stopping = SwapLookRunner(context, self.registry, looks, self.pair_selector.about, self.check)

    @classmethod
    def from_config(
        cls, path: str | Path | None = "pyproject.toml", *, cassettes: str | Path | None = None, **options: Any
    ) -> Self:
        """Return the run of a configuration file.

        Args:
            path: A pyproject.toml with [tool.judgefixtures], or a file of its own; None for built-in settings.
            cassettes: The folder of recordings, by default beside the file.
            options: Fields of RunOptions.

        Raises:
            JudgeFixturesError: The configuration is invalid.
        """
        options.setdefault("command", context.command_start(path, cassettes, options))
        if path is None:
            return cls(build_config({}), Path(cassettes or "cassettes"), RunOptions(**options))
        file = Path(path).resolve()
        options.setdefault("usual", file.parent / "cassettes")
        return cls(load_config(file), Path(cassettes or file.parent / "cassettes"), RunOptions(**options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_error: object) -> None:
        self.close(finished=error is None)

    def close(self, *, finished: bool = True) -> None:
        """Close connections and the event loop.

        After an unfinished run, record mode "all" continues.
        """
        if finished:
            self.library.finish()
        self.batch_session.close(self._executor.runner)
        self._executor.close()

    # --- what there is ----------------------------------------------------------------------------------------

    def judge(self, name: str) -> Judge:
        """Return a configured judge.

        Raises:
            JudgeFixturesError: There is no such judge.
        """
        return self.registry.judge(name)

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return a judge's pairs, from the source or a snapshot.

        With `closest`, these are the pool's first pairs; cue checks use the closest.
        """
        return self.registry.pairs(judge, dataset)

    def about(self, subject: CheckId) -> PairScope:
        """Return the pairs of a check, as known before asking."""
        return self.pair_selector.about(subject)

    @property
    def families(self) -> tuple[str, ...]:
        """Every family: cues, order, repeats and edits."""
        return self.registry.families

    def selecting(self, subject: CheckId) -> str:
        """Return the options that select only this check."""
        return self.registry.selecting(subject)

    def contrasts(self, family: str) -> tuple[Contrast, ...]:
        """Return the contrasts of a family.

        Raises:
            JudgeFixturesError: There is no such family.
        """
        return self.registry.contrasts(family)

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
        """Return the finding of one check, as in pytest.

        Unmeasurable checks have the status ERROR.

        Args:
            name: The check's name.
            judge: A configured name, or a judge from `load_judge`.
            dataset: The dataset's name.
            baseline: The judge to compare with.
            pairs: Replacement for the dataset's pairs.

        Raises:
            JudgeFixturesError: A name is unknown.
            WaitingError: Batch answers are pending.
        """
        who = self.judge(judge) if isinstance(judge, str) else judge
        about = self.pairs(who.name, dataset) if pairs is None else tuple(pairs)
        check = self.registry.fitted(self.registry.check(name), who.table, about)
        other = self.judge(baseline) if isinstance(baseline, str) else baseline
        if other is not None:
            check = SwapCheck(check.contrast, self.registry.swap_cells(who.name))
        return self.check(check, CheckInput(who, dataset, about, self.config, other))

    def check(
        self,
        check: Check,
        case: CheckInput,
        ledger: ItemRecord | None = None,
        beside: Iterable[CheckId] = (),
        item: CheckId | None = None,
    ) -> Finding:
        """Return the finding of a case after asking its judges.

        `beside` are the run's other checks: nothing is recorded if one cannot pass. `item` is the check that messages
        select.
        """
        return self.check_runner.check(check, case, ItemRecord() if ledger is None else ledger, beside, item)

    def until_decided(
        self, subject: CheckId, beside: Sequence[CheckId], ledger: ItemRecord, required: Iterable[PlannedSwapPart] = ()
    ) -> Finding | None:
        """Ask about a swap look by look until it is decided.

        Args:
            subject: A part of the swap.
            beside: The run's other checks.
            ledger: The item's record.
            required: All parts; missing ones prevent a decision.

        Returns:
            The finding that ended the recording, or None.
        """
        return self._stopping.ask_until_decided(subject, beside, ledger, required)

    def control(self, judge: Judge, pairs: Sequence[Pair], asking: RequestContext) -> ControlRow:
        """Return a judge's control, run once."""
        return self.control_runner.control(judge, pairs, asking)

    def control_pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return a judge's clear pairs of a dataset."""
        return self.control_runner.trial(judge, dataset)[1]

    def control_need(self, judge: str, dataset: str) -> SampleRequirement | None:
        """Return a control's unmet requirement, or None."""
        return self.control_runner.need(judge, dataset)

    # --- answers ----------------------------------------------------------------------------------------------

    def answers(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm], ledger: ItemRecord | None = None
    ) -> Answers:
        """Return a judge's recorded or new answers in every arm.

        Raises:
            CassetteMissError: An answer is not recorded.
            JudgeFixturesError: The template cannot show a pair.
            FatalJudgeError: The recording must end.
            BudgetError: The budget is exhausted.
            WaitingError: Batch answers are pending.
        """
        check_judge_fits_dataset(judge.name, judge.table, judge.template, dataset, pairs)
        asking = RequestContext(dataset, "answers", "", ItemRecord() if ledger is None else ledger)
        try:
            return self.answer_service.answers(judge, tuple(pairs), arms, asking)
        except DeferredToBatchError:
            raise WaitingError(f"{judge.name} {dataset}: waiting for batches") from None

    # --- batches ----------------------------------------------------------------------------------------------

    def send_batches(self) -> list[str]:
        """Send the queued batches and return notes.

        Raises:
            FatalJudgeError: Some requests cannot succeed.
        """
        return self.batch_session.send(self._executor.runner)
