"""Vetting: the control of each judge, asked once per run before anything else of it; what it decides is in checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import kind_of
from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.checks import Need, twins
from judgefixtures.checks.control import ARMS, OFF, Control, control, control_dataset, golden_pairs, need_of, of_log
from judgefixtures.checks.twins import control_of_grades, labelled_examples, need_of_labels
from judgefixtures.config import ControlTable
from judgefixtures.material.counts import least_telling
from judgefixtures.material.pairs import Pair, as_examples, sampled
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

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the clear pairs of a dataset that a judge is controlled with: those on which counting tells least.

        Of a hub's dataset they are the first ones that have gold: the others are neither fetched nor frozen for this.
        """
        self._desk.config.check_dataset_files(dataset)
        if self._grades(judge):
            return self._examples(judge, dataset)
        first, wanted = self._samples.of(judge, dataset).pairs, self._samples.wanted
        remote = self._samples.is_remote(dataset)
        if wanted is None or (remote and len(golden_pairs(first)) == len(first)):
            return golden_pairs(first)
        golden = golden_pairs(self._every_pair(judge, dataset))
        return golden[:wanted] if remote else least_telling(golden, wanted)

    def _grades(self, judge: str) -> bool:
        """Tell whether a configured judge grades one response."""
        table = self._desk.config.judges.get(judge)
        return table is not None and kind_of(table).grades

    def _examples(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the labelled examples of a dataset, or the responses of its pairs, that control a grader."""
        remote, wanted = self._samples.is_remote(dataset), self._samples.wanted
        every = self._samples.of(judge, dataset).pairs if remote else self._every_pair(judge, dataset)
        shown = [example for pair in every for example in as_examples(pair)]
        return labelled_examples(shown, len(shown) if wanted is None else wanted)

    def _every_pair(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return all pairs of a dataset; in a replay those that were recorded, where it is not to be had as a whole."""
        try:
            return self._whole.of(judge, dataset).pairs
        except JudgeFixturesError:
            recorded = self._desk.library.frozen(judge, dataset) if self._desk.is_offline else ()
            if not recorded:
                raise
            return sampled(self._answered(judge, dataset, recorded) or recorded, self._desk.config.seed)

    def _answered(self, name: str, dataset: str, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the pairs about which a control can be replayed: no others were chosen when it was recorded."""
        judge = self._inventory.judge(name)
        seen = [{each.pair.id for each in self._interviews.seen(judge, dataset, pairs, arm, {})} for arm in ARMS]
        return tuple(pair for pair in pairs if all(pair.id in ids for ids in seen))

    def need(self, judge: str, dataset: str) -> Need | None:
        """Return what a judge's control needs to be able to pass, where there are too few clear pairs for it."""
        table = self._desk.config.control
        if table is None:
            return None
        pairs = self.pairs(judge, dataset)
        return self._need(judge, dataset, pairs, table, grades=self._grades(judge))

    @staticmethod
    def _need(judge: str, dataset: str, pairs: Sequence[Pair], table: ControlTable, *, grades: bool) -> Need | None:
        return need_of_labels(judge, dataset, pairs) if grades else need_of(judge, dataset, len(pairs), table)

    def _made(self, judge: Judge, dataset: str, table: ControlTable, asking: Asking) -> Control:
        grades = judge.kind.grades  # a fixture of the user's may have made a judge that no table names
        arms = twins.ARMS if grades else ARMS
        try:
            pairs = self._examples(judge.name, dataset) if grades else self.pairs(judge.name, dataset)
            if need := self._need(judge.name, dataset, pairs, table, grades=grades):
                raise JudgeFixturesError(f"{need}: {need.remedy}.")
            about = replace(asking, dataset=dataset, what="control", part=True)
            answers = self._interviews.answers(judge, pairs, arms, about)
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            if isinstance(error, FATAL):
                raise
            missed = asking.command("missing") if isinstance(error, CassetteMissError) else ""
            lost = Control(judge=judge.name, dataset=dataset, message=presentable(str(error)), command=missed)
            return lost if judge.kind.is_asked else of_log(lost, table)
        self._archive.keep_control(judge.name, dataset, [judge.shows(pair) for pair in pairs], asking.ledger)
        self._archive.keep(judge, dataset, pairs, answers, asking.ledger)
        if grades:
            return control_of_grades(judge.name, dataset, answers.arms[0], table)
        own, other = answers.arms
        found = control(judge.name, dataset, own, other, table.threshold)
        return found if judge.kind.is_asked else of_log(found, table, (*own, *other))
