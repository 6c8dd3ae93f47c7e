"""Run registry: the judges, pairs, contrasts and checks of a configuration."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from judgefixtures.checks import Check, checks_of, swap_checks
from judgefixtures.checks.base import CheckId
from judgefixtures.client.model_client import REWORDED
from judgefixtures.config import JudgeTable
from judgefixtures.importers.imported_answers import Imports
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.judges.mode import mode_class
from judgefixtures.models.contrasts import OTHER_FAMILIES, Contrast, contrasts, other_contrasts
from judgefixtures.models.pairs import Pair
from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.util.errors import JudgeFixturesError, accepted_values

from .context import RunContext
from .samples import Samples


class RunRegistry:
    """The configured objects, each created once."""

    def __init__(self, context: RunContext, samples: Samples, logs: Imports) -> None:
        self._config, self._options = context.config, context.options
        self._samples, self._logs = samples, logs
        self._judges: dict[str, Judge] = {}
        self._others: dict[tuple[str, str, str | None], tuple[CheckId, ...]] = {}  # what -k is to tell apart
        self._contrasts: dict[str, tuple[Contrast, ...]] = {}

    def judge(self, name: str) -> Judge:
        """Return a configured judge, or one of its wordings.

        Raises:
            JudgeFixturesError: There is no such judge.
        """
        if REWORDED in name:
            return next(each for each in self.judge(name.partition(REWORDED)[0]).rewordings if each.name == name)
        if name not in self._judges:
            self._config.check_judge_files(name)
            judge = load_judge(self._config.judge_table(name).headed(self._config.heading("judges", name)), name)
            if not judge.kind.is_asked:
                judge.kind.logs_identity = self._logs.identity(name)
            self._judges[name] = judge
        return self._judges[name]

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return a judge's pairs, from the source or a snapshot."""
        self._config.check_dataset_files(dataset)
        return self._samples.of(judge, dataset).shown

    @property
    def families(self) -> tuple[str, ...]:
        """Every family: cues, order, repeats and edits."""
        return (*self._config.cues, *OTHER_FAMILIES)

    def contrasts(self, family: str) -> tuple[Contrast, ...]:
        """Return the contrasts of a family.

        Raises:
            JudgeFixturesError: There is no such family.
        """
        if family not in self._contrasts:
            cues, repeats = self._config.cues, self._options.repeats
            others = family in OTHER_FAMILIES
            self._contrasts[family] = other_contrasts(family, repeats, cues) if others else contrasts(family, cues)
        return self._contrasts[family]

    def _every_contrast(self) -> Iterator[Contrast]:
        return (contrast for family in self.families for contrast in self.contrasts(family))

    @functools.cached_property
    def _checks(self) -> dict[str, Check]:
        return {check.name: check for check in checks_of(self._every_contrast())}

    def check(self, name: str) -> Check:
        """Return the check with this name.

        Raises:
            JudgeFixturesError: There is no such check.
        """
        if name not in self._checks:
            raise JudgeFixturesError(f"there is no check {name!r}: {accepted_values(name, self._checks)}.")
        return self._checks[name]

    def fitted(self, check: Check, table: JudgeTable, pairs: Sequence[Pair]) -> Check:
        """Return a check for a judge, with repeats if its answers vary."""
        check = check.for_mode(mode_class(table), pairs)
        return check.repeated(self._options.repeats) if table.draws else check

    def selecting(self, subject: CheckId) -> str:
        """Return the options that select only this check."""
        key = (subject.judge, subject.dataset, subject.baseline)
        if key not in self._others:
            checks = checks_of(self._every_contrast())
            others = [CheckId(subject.judge, subject.dataset, check) for check in checks]
            if subject.baseline is not None:
                compared = swap_checks(self._every_contrast(), 0)
                others += (CheckId(subject.judge, subject.dataset, check, subject.baseline) for check in compared)
            self._others[key] = tuple(others)
        return subject.options_among(self._others[key])

    def swap_cells(
        self, judge: str, families: Iterable[str] | None = None, datasets: Sequence[str] | None = None
    ) -> int:
        """Return the number of contrasts on datasets in a swap.

        `families` and `datasets` of a test replace those configured.
        """
        names = self._config.swap.families if families is None else families
        known = judge if judge in self._config.judges else None  # code may have made it
        named = datasets if datasets is not None else self._options.datasets or None
        of_family = {name: self._config.datasets_of(name, known) if named is None else named for name in names}
        table = None if known is None else self._config.judge_table(known)
        grades = table is not None and mode_class(table).grades
        of_pairs = table is None or LAYOUTS[table.mode].shows_both

        def is_compared(contrast: Contrast) -> bool:
            return not (grades and contrast.is_of_orders) and not (of_pairs and contrast.is_of_prompts)

        cells = {name: [each for each in self.contrasts(name) if is_compared(each)] for name in names}
        return sum(len(cells[name]) * len(contrasts) for name, contrasts in of_family.items())

    def settings(self, judges: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the settings that results depend on, by table and key."""
        config = self._config
        decisive = config.decisive
        decisive[""]["pairs"] = self._options.pairs or config.pairs
        if (detector := config.detector.judge) is not None:
            # One that was not asked yet: whether it is known what its model takes depends on the process.
            decisive["detector"]["identity"] = load_judge(config.judge_table(detector), detector).identity
        for name in judges:
            if REWORDED not in name:
                table = config.judge_table(name)
                others = {} if table.wordings is None else {"wordings": table.wordings}
                decisive[f"judges.{name}"] = {"ties": table.counts_ties, **others}
        return decisive
