"""Vetting: the control of each judge, asked once per run before anything else of it; what it decides is in checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm
from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.checks import Need
from judgefixtures.checks.control import OFF, Control, Trial, control_dataset, of_log
from judgefixtures.checks.twins import trial_of
from judgefixtures.config import ControlTable
from judgefixtures.material.pairs import Pair, sampled
from judgefixtures.numbers.estimate import Status
from judgefixtures.runs.desk import FATAL, Desk
from judgefixtures.runs.interviews import Interviews
from judgefixtures.runs.inventory import Inventory
from judgefixtures.runs.ledger import Archive, Asking
from judgefixtures.runs.selection import Samples
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import presentable


class Vetting:
    """Whether the judges of a run read at all."""

    def __init__(self, desk: Desk, inventory: Inventory, interviews: Interviews, archive: Archive) -> None:
        self._desk, self._inventory, self._interviews, self._archive = desk, inventory, interviews, archive
        wanted = desk.config.control.pairs if desk.config.control else None
        self._samples = Samples(desk.config, desk.library, wanted, desk.note, desk.options.baseline)
        self._whole = self._samples.whole()
        self._controls: dict[tuple[str, str, str], Control] = {}  # by judge, identity and dataset

    def control(self, judge: Judge, pairs: Sequence[Pair], asking: Asking) -> Control:
        """Return whether a judge of such pairs reads at all: asked once per run and shared by all of its checks."""
        table = self._desk.config.control
        if table is None:
            return Control(judge=judge.name, status=Status.NOT_APPLICABLE, message=OFF)
        dataset = self.dataset(judge, asking.dataset, table, pairs)
        key = (judge.name, json.dumps(judge.identity, sort_keys=True), dataset)
        if key not in self._controls:
            self._controls[key] = self._made(judge, dataset, table, asking)
        return self._controls[key]

    def dataset(self, judge: Judge, dataset: str, table: ControlTable, pairs: Sequence[Pair]) -> str:
        """Return the dataset that controls a judge: its own, unless [control] names one, where no other can.

        Nobody can ask the judge of a log, and no house set has the columns that a template shows.
        """
        own = (not judge.kind.is_asked or bool(judge.template.columns)) and table.dataset is None
        return dataset if own else control_dataset(table, pairs)

    def trial(self, judge: str, dataset: str) -> tuple[Trial, tuple[Pair, ...]]:
        """Return what shows whether a judge reads, and the pairs of a dataset, or examples, that it is asked about."""
        return self._trial(self._inventory.judge(judge), dataset)

    def _trial(self, judge: Judge, dataset: str) -> tuple[Trial, tuple[Pair, ...]]:
        self._desk.config.check_dataset_files(dataset)
        wanted = self._desk.config.control.pairs if self._desk.config.control else 0
        pairs, remote = judge.kind.about(self._samples.of(judge.name, dataset).pairs), self._samples.is_remote(dataset)
        trial = trial_of(judge.kind, pairs)
        if not remote or not trial.is_enough(pairs):
            pairs = self._every_pair(judge, dataset, trial)
        return trial, (trial.first if remote else trial.choose)(pairs, wanted)

    def _every_pair(self, judge: Judge, dataset: str, trial: Trial) -> tuple[Pair, ...]:
        """Return all of a dataset; in a replay what was recorded, where it is not to be had as a whole."""
        try:
            return judge.kind.about(self._whole.of(judge.name, dataset).pairs)
        except JudgeFixturesError:
            recorded = self._desk.library.frozen(judge.name, dataset) if self._desk.is_offline else ()
            if not recorded:
                raise
            pairs = judge.kind.about(sampled(recorded, self._desk.config.seed))
            return self._answered(judge, dataset, pairs, trial.arms) or pairs

    def _answered(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm]) -> tuple[Pair, ...]:
        """Return the pairs about which a control can be replayed: no others were chosen when it was recorded."""
        seen = [{each.pair.id for each in self._interviews.seen(judge, dataset, pairs, arm, {})} for arm in arms]
        return tuple(pair for pair in pairs if all(pair.id in ids for ids in seen))

    def need(self, judge: str, dataset: str) -> Need | None:
        """Return what a judge's control needs to be able to pass, where there are too few clear pairs for it."""
        table = self._desk.config.control
        if table is None:
            return None
        trial, pairs = self.trial(judge, dataset)
        return trial.need(judge, dataset, pairs, table)

    def _made(self, judge: Judge, dataset: str, table: ControlTable, asking: Asking) -> Control:
        try:
            trial, pairs = self._trial(judge, dataset)
            if need := trial.need(judge.name, dataset, pairs, table):
                raise JudgeFixturesError(f"{need}: {need.remedy}.")
            about = replace(asking, dataset=dataset, what="control", part=True, plan=0)
            answers = self._interviews.answers(judge, pairs, trial.arms, about)
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            if isinstance(error, FATAL):
                raise
            missed = asking.command("missing") if isinstance(error, CassetteMissError) else ""
            lost = Control(judge=judge.name, dataset=dataset, message=presentable(str(error)), command=missed)
            return lost if judge.kind.is_asked else of_log(lost, table, trial_of(judge.kind, ()))
        self._archive.keep_control(judge.name, dataset, [judge.shows(pair) for pair in pairs], asking.ledger)
        self._archive.keep(judge, dataset, pairs, answers, asking.ledger)
        found = trial.decide(judge.name, dataset, answers.arms, table)
        answered = [judgment for arm in answers.arms for judgment in arm]
        return found if judge.kind.is_asked else of_log(found, table, trial, answered)
