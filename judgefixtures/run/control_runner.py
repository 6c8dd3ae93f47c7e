"""Control runner: run each judge's control once per run, before its other checks."""

import json
from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.replay_guard import NetworkBlockedError
from judgefixtures.checks import SampleRequirement
from judgefixtures.checks.control import OFF, ControlTrial, control_dataset, control_from_log
from judgefixtures.checks.grader_control import control_trial
from judgefixtures.config import ControlTable
from judgefixtures.judges.judge import Judge
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, sample_order
from judgefixtures.models.replies import Arm
from judgefixtures.statistics.estimate import Status
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import safe_message

from .answer_service import AnswerService
from .context import FATAL, RunContext
from .item_record import JudgmentArchive, RequestContext
from .registry import RunRegistry
from .samples import Samples


class ControlRunner:
    """The controls of a run's judges."""

    def __init__(
        self, context: RunContext, registry: RunRegistry, answer_service: AnswerService, archive: JudgmentArchive
    ) -> None:
        self._context, self._registry, self._answer_service, self._archive = context, registry, answer_service, archive
        wanted = context.config.control.pairs if context.config.control else None
        self._samples = Samples(context.config, context.library, wanted, context.note, context.options.baseline)
        self._whole = self._samples.whole()
        self._controls: dict[tuple[str, str, str], ControlRow] = {}  # by judge, identity and dataset

    def control(self, judge: Judge, pairs: Sequence[Pair], asking: RequestContext) -> ControlRow:
        """Return a judge's control, run once."""
        table, mode = self._context.config.control, judge.kind
        if table is None:
            return ControlRow(judge=judge.name, status=Status.NOT_APPLICABLE, message=OFF)
        dataset = self.dataset(judge, asking.dataset, table, pairs)
        key = (judge.name, json.dumps(judge.identity, sort_keys=True), dataset)
        if key in self._controls:
            return self._controls[key]
        answered: list[Judgment] = []
        try:
            trial, pairs = self._trial(judge, dataset)
            if need := trial.need(judge.name, dataset, pairs, table):
                raise JudgeFixturesError(f"{need}: {need.remedy}.")
            about = replace(asking, dataset=dataset, what="control", part=True, plan=0)
            answers = self._answer_service.answers(judge, pairs, trial.arms, about)
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            if isinstance(error, FATAL):
                raise
            missed = asking.command("missing") if isinstance(error, CassetteMissError) else ""
            control = ControlRow(judge=judge.name, dataset=dataset, message=safe_message(str(error)), command=missed)
            trial = control_trial(mode, ())
        else:
            self._archive.keep_control(judge.name, dataset, judge.template.shows_all(pairs), asking.ledger)
            self._archive.keep(judge, dataset, pairs, answers, asking.ledger)
            control = trial.decide(judge.name, dataset, answers.arms, table)
            answered = [judgment for arm in answers.arms for judgment in arm]
        control = control if mode.is_asked else control_from_log(control, table, trial, answered)
        self._controls[key] = control
        return control

    def dataset(self, judge: Judge, dataset: str, table: ControlTable, pairs: Sequence[Pair]) -> str:
        """Return the dataset that controls a judge.

        Imported judges and templates with columns use their own, unless [control] names one.
        """
        own = (not judge.kind.is_asked or bool(judge.template.columns)) and table.dataset is None
        return dataset if own else control_dataset(table, pairs)

    def trial(self, judge: str, dataset: str) -> tuple[ControlTrial, tuple[Pair, ...]]:
        """Return a judge's control and its pairs."""
        return self._trial(self._registry.judge(judge), dataset)

    def _trial(self, judge: Judge, dataset: str) -> tuple[ControlTrial, tuple[Pair, ...]]:
        self._context.config.check_dataset_files(dataset)
        wanted = self._context.config.control.pairs if self._context.config.control else 0
        pairs, remote = judge.kind.about(self._samples.of(judge.name, dataset).pairs), self._samples.is_remote(dataset)
        trial = control_trial(judge.kind, pairs)
        if not remote or not trial.is_enough(pairs):
            pairs = self._every_pair(judge, dataset, trial)
        return trial, (trial.first if remote else trial.choose)(pairs, wanted)

    def _every_pair(self, judge: Judge, dataset: str, trial: ControlTrial) -> tuple[Pair, ...]:
        try:
            return judge.kind.about(self._whole.of(judge.name, dataset).pairs)
        except JudgeFixturesError:
            recorded = self._context.library.frozen(judge.name, dataset) if self._context.is_offline else ()
            if not recorded:
                raise
            pairs = judge.kind.about(sample_order(recorded, self._context.config.seed))
            return self._answered(judge, dataset, pairs, trial.arms) or pairs

    def _answered(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm]) -> tuple[Pair, ...]:
        seen = [
            {each.pair.id for each in self._answer_service.recorded_judgments(judge, dataset, pairs, arm, {})}
            for arm in arms
        ]
        return tuple(pair for pair in pairs if all(pair.id in ids for ids in seen))

    def need(self, judge: str, dataset: str) -> SampleRequirement | None:
        """Return a control's unmet requirement, or None."""
        table = self._context.config.control
        if table is None:
            return None
        trial, pairs = self.trial(judge, dataset)
        return trial.need(judge, dataset, pairs, table)
