"""The inventory: the judges, pairs, contrasts and checks of a configuration, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from judgefixtures.asking.asker import REWORDED
from judgefixtures.asking.judges import Judge, load_judge
from judgefixtures.asking.kinds import Logs, kind_of
from judgefixtures.checks import Check, checks_of, swap_checks
from judgefixtures.checks.protocol import Subject
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import OTHER_FAMILIES, Contrast, contrasts, other_contrasts
from judgefixtures.material.pairs import Pair
from judgefixtures.material.prompts import LAYOUTS
from judgefixtures.runs.desk import Desk
from judgefixtures.runs.selection import Samples
from judgefixtures.words.errors import JudgeFixturesError, choices


class Inventory:
    """What a configuration names; everything has one object in a run."""

    def __init__(self, desk: Desk, samples: Samples, logs: Logs) -> None:
        self._config, self._options = desk.config, desk.options
        self._samples, self._logs = samples, logs
        self._judges: dict[str, Judge] = {}
        self._others: dict[tuple[str, str, str | None], tuple[Subject, ...]] = {}  # what -k is to tell apart

    def judge(self, name: str) -> Judge:
        """Return a configured judge, or one with a wording of it, made once.

        Raises JudgeFixturesError with the names there are.
        """
        if REWORDED in name:
            return next(each for each in self.judge(name.partition(REWORDED)[0]).rewordings if each.name == name)
        if name not in self._judges:
            self._config.check_judge_files(name)
            judge = load_judge(self._config.judge_table(name).headed(self._config.heading("judges", name)), name)
            judge.kind.learn_logs(self._logs)
            self._judges[name] = judge
        return self._judges[name]

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return what a judge is asked about: the pairs of a dataset's source, or as frozen with recordings of it."""
        self._config.check_dataset_files(dataset)
        return self._samples.of(judge, dataset).shown

    @property
    def families(self) -> tuple[str, ...]:
        """Every family there is: cues, the user's own among them, and those of order, repetition and edits."""
        return (*self._config.cues, *OTHER_FAMILIES)

    def contrasts(self, family: str) -> tuple[Contrast, ...]:
        """Return the contrasts of a family; raises JudgeFixturesError where there is none of that name."""
        if family in OTHER_FAMILIES:
            return other_contrasts(family, self._options.repeats, self._config.cues)
        return contrasts(family, self._config.cues)

    def _every_contrast(self) -> Iterator[Contrast]:
        return (contrast for family in self.families for contrast in self.contrasts(family))

    def check(self, name: str) -> Check:
        """Return the check of a name as ids and reports have it; raises JudgeFixturesError where there is none."""
        checks = {check.name: check for check in checks_of(self._every_contrast())}
        if name not in checks:
            raise JudgeFixturesError(f"there is no check {name!r}: {choices(name, checks)}.")
        return checks[name]

    def fitted(self, check: Check, table: JudgeTable, pairs: Sequence[Pair]) -> Check:
        """Return a check as a judge is asked it: of a cue with all repeats where its answers are drawn.

        They tell how sure it is.
        """
        check = check.fitted(kind_of(table), pairs)
        return check.repeated(self._options.repeats) if table.draws else check

    def selecting(self, subject: Subject) -> str:
        """Return the options that select a check and none of the others there are, for commands in messages."""
        key = (subject.judge, subject.dataset, subject.baseline)
        if key not in self._others:
            checks = checks_of(self._every_contrast())
            others = [Subject(subject.judge, subject.dataset, check) for check in checks]
            if subject.baseline is not None:
                compared = swap_checks(self._every_contrast(), 0)
                others += (Subject(subject.judge, subject.dataset, check, subject.baseline) for check in compared)
            self._others[key] = tuple(others)
        return subject.options_among(self._others[key])

    def swap_cells(
        self, judge: str, families: Iterable[str] | None = None, datasets: Sequence[str] | None = None
    ) -> int:
        """Return how many contrasts on datasets a swap to a judge compares: the margin of each is planned for them.

        A test may name families and datasets of its own; the others are those of the options and the configuration.
        """
        names = self._config.swap.families if families is None else families
        known = judge if judge in self._config.judges else None  # code may have made it
        named = datasets if datasets is not None else self._options.datasets or None
        of_family = {name: self._config.datasets_of(name, known) if named is None else named for name in names}
        table = None if known is None else self._config.judge_table(known)
        grades = table is not None and kind_of(table).grades
        of_pairs = table is None or LAYOUTS[table.mode].shows_both

        def is_compared(contrast: Contrast) -> bool:
            return not (grades and contrast.is_of_orders) and not (of_pairs and contrast.is_of_prompts)

        cells = {name: [each for each in self.contrasts(name) if is_compared(each)] for name in names}
        return sum(len(cells[name]) * len(found) for name, found in of_family.items())

    def settings(self, judges: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return everything that results depend on beside what was asked and answered, by table and key.

        Of these judges it is what their identity leaves out.
        """
        config = self._config
        found = config.decisive
        found[""]["pairs"] = self._options.pairs or config.pairs
        if (detector := config.detector.judge) is not None:
            # One that was not asked yet: whether it is known what its model takes depends on the process.
            found["detector"]["identity"] = load_judge(config.judge_table(detector), detector).identity
        for name in judges:
            if REWORDED not in name:
                table = config.judge_table(name)
                others = {} if table.wordings is None else {"wordings": table.wordings}
                found[f"judges.{name}"] = {"ties": table.counts_ties, **others}
        return found
