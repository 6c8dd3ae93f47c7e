"""Replication of the paper's contrasts from recordings."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judgefixtures.checks.base import CheckId
from judgefixtures.judges.mode import mode_class
from judgefixtures.metrics.contrast_metrics import arm_rates
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import Finding, rows_of
from judgefixtures.models.published import PAIRS, SIMULATED, Labels, PublishedExperiment, experiments, published_for
from judgefixtures.run.run import Run
from judgefixtures.statistics import Estimate, Status
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import join_names

FAMILIES = ("provenance", "recency")
STORY = "Story"
# Numbers are printed in whole percent: what is nearer to a number than to its neighbours is equal to it as printed.
HALF_A_PERCENT = 0.5
DATE = r"(?:-\d{4}-\d{2}-\d{2})?"  # that a provider adds to a model's name: it is the same model, unlike "-mini"

Quantity = Literal["rate", "VSR"]


@dataclass(frozen=True, slots=True)
class PaperRecordings:
    """A judge's recordings on a dataset; `asked` affects the exit code."""

    judge: str
    dataset: str
    model: str
    asked: bool = True

    @property
    def experiment(self) -> PublishedExperiment | None:
        """The published experiment, or None for other models."""
        published = published_for(self.judge, self.dataset)
        if published is None:
            return None
        simulated = SIMULATED if self.judge.startswith(SIMULATED) else ""
        return published if re.fullmatch(rf"{simulated}{re.escape(published.model)}{DATE}", self.model) else None

    @property
    def is_simulated(self) -> bool:
        """Whether the judge is simulated."""
        return self.model.startswith(SIMULATED)

    @property
    def name(self) -> str:
        """The judge's name, marked if simulated."""
        tells = self.judge.startswith(SIMULATED) or not self.is_simulated
        return self.judge if tells else f"{self.judge} (simulated)"

    @property
    def title(self) -> str:
        """The judge, dataset and compared experiment."""
        if self.experiment is None:
            return f"{self.name} on {self.dataset}"
        stands = "stands for" if self.is_simulated else "beside"
        return f"{self.name} on {self.dataset} ({stands} {self.experiment.judge} on {self.experiment.dataset})"


@dataclass(frozen=True, slots=True)
class PaperCell:
    """One contrast of a judge on a dataset.

    `rates` count choices of response 1 with labels as named and exchanged, `cited` is the share of citing reasons,
    `fault` a doubt.
    """

    of: PaperRecordings
    contrast: Contrast
    is_story: bool
    rates: tuple[Estimate, Estimate] | None = None
    vsr: Estimate | None = None
    flips: Estimate | None = None
    cited: Estimate | None = None
    fault: str = ""

    @property
    def labels(self) -> Labels:
        """The labels of both responses, as named."""
        return self.contrast.labels

    @property
    def arms(self) -> tuple[tuple[Labels, Estimate | None], ...]:
        """Both conditions with their rates."""
        first, second = self.rates or (None, None)
        return (self.labels, first), (self.labels[::-1], second)

    def published_rate(self, labels: Labels) -> int | None:
        """Return a condition's published rate in percent, or None."""
        return self.of.experiment.rates.get(labels) if self.of.experiment else None

    @property
    def published_vsr(self) -> int | None:
        """The published VSR in percent, or None."""
        return self.of.experiment.shifts.get(self.labels) if self.of.experiment else None


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """A published number in percent and its measurement, or None."""

    of: PaperRecordings
    quantity: Quantity
    labels: Labels
    published: int
    measured: Estimate | None

    @property
    def is_equal(self) -> bool:
        """Whether both are equal in whole percent."""
        return self.measured is not None and abs(100 * self.measured.value - self.published) < HALF_A_PERCENT

    @property
    def is_within(self) -> bool:
        """Whether the published number is in the measured interval."""
        return self.measured is not None and self.measured.low <= self.published / 100 <= self.measured.high


@dataclass(frozen=True, slots=True)
class MissingRecordings:
    """Missing recordings and the command to make them."""

    of: PaperRecordings
    command: str


@dataclass(frozen=True, slots=True)
class PaperResults:
    """All measurements and missing recordings."""

    cells: tuple[PaperCell, ...]
    unrecorded: tuple[MissingRecordings, ...] = ()

    def measured(self, family: str, *, story: bool | None = None) -> tuple[PaperCell, ...]:
        """Return a family's measured cells."""
        own = (cell for cell in self.cells if cell.contrast.family == family and cell.vsr is not None)
        return tuple(cell for cell in own if story in (None, cell.is_story))

    @property
    def subjects(self) -> tuple[PaperRecordings, ...]:
        """All recorded or requested judges and datasets."""
        lacking = [each.of for each in self.unrecorded if each.of.asked]
        return tuple(dict.fromkeys([*(cell.of for cell in self.cells), *lacking]))

    @property
    def comparisons(self) -> tuple[PublishedComparison, ...]:
        """Every published number of these subjects."""
        return tuple(each for of in self.subjects for each in self._compared(of))

    def _compared(self, of: PaperRecordings) -> Iterator[PublishedComparison]:
        if of.experiment is None:
            return
        cells = [cell for cell in self.cells if cell.of == of]
        rates = {labels: rate for cell in cells for labels, rate in cell.arms}
        shifts = {cell.labels: cell.vsr for cell in cells}
        for labels, published in of.experiment.rates.items():
            yield PublishedComparison(of, "rate", labels, published, rates.get(labels))
        for labels, published in of.experiment.shifts.items():
            yield PublishedComparison(of, "VSR", labels, published, shifts.get(labels))

    @property
    def differing(self) -> tuple[PublishedComparison, ...]:
        """The requested numbers that differ from the published ones."""
        return tuple(each for each in self.comparisons if each.of.asked and each.measured and not each.is_equal)

    @property
    def faults(self) -> tuple[PaperCell, ...]:
        """The recorded cells that are unmeasured or in doubt."""
        return tuple(cell for cell in self.cells if cell.fault)

    @property
    def is_lacking(self) -> bool:
        """Whether anything requested was not measured."""
        unmeasured = any(cell.of.asked and cell.vsr is None for cell in self.cells)
        return unmeasured or any(each.of.asked for each in self.unrecorded)


def open_run(config: Path | None = None, cassettes: Path | None = None) -> Run:
    """Return the run of a configuration file, or raise JudgeFixturesError."""
    own = None if config is None or config.name == "pyproject.toml" else config  # pytest finds that one by itself
    options = {"--judge-config": own, "--judge-cassettes": cassettes}
    words = ["pytest", *(word for name, path in options.items() if path for word in (name, str(path)))]
    config_path = config or next((path for path in [Path("pyproject.toml")] if path.exists()), None)
    run = Run.from_config(config_path, cassettes=cassettes, command=shlex.join(words))
    if run.config.pairs is not None:
        return run
    run.close()
    return Run.from_config(config_path, cassettes=cassettes, command=shlex.join(words), pairs=PAIRS)


def measure_paper(run: Run, judges: Sequence[str] = (), datasets: Sequence[str] = ()) -> PaperResults:
    """Return the paper's contrasts, measured from recordings.

    Defaults: the simulated and recorded judges of the paper, on its datasets.

    Raises:
        JudgeFixturesError: An unknown judge or dataset, or a judge of one response.

    >>> paper = measure_paper(Run.from_config(None, cassettes="nowhere"), ["simulated-gpt-4o"], ["house-close"])
    >>> len(paper.cells), len(paper.comparisons), paper.is_lacking
    (0, 15, True)
    """
    for name in judges:
        run.judge(name)
    for name in datasets:
        run.config.source(name)
    names = [(judge, name, True) for judge in judges for name in datasets or _datasets(run, judge)]
    chosen = dict.fromkeys(names if judges else _by_default(datasets))
    models = {judge: run.config.judge_table(judge).model or "" for judge, _, _ in chosen}
    _check_pairwise(run, list(models))
    wanted = [PaperRecordings(judge, name, models[judge], required) for judge, name, required in chosen]
    recorded = [each for each in wanted if is_recorded(run, each)]
    return PaperResults(
        tuple(cell for each in recorded for cell in _cells(run, each)),
        tuple(MissingRecordings(each, recording_command(run, each)) for each in wanted if each not in recorded),
    )


def _check_pairwise(run: Run, judges: Sequence[str]) -> None:
    if graders := [name for name in judges if mode_class(run.config.judge_table(name)).grades]:
        grade = "grades" if len(graders) == 1 else "grade"
        raise JudgeFixturesError(
            f"{join_names(graders)} {grade} one response, but the paper's rates are of choices between two. Name other "
            f'judges with --judge, or run the gate: pytest -k "{" or ".join(FAMILIES)}" --judge {graders[0]}'
        )


def is_recorded(run: Run, of: PaperRecordings) -> bool:
    """Return whether a judge has answers to the paper's labels."""
    folder = run.library.folder(of.judge, of.dataset)
    return any(path for family in FAMILIES for path in folder.glob(f"*{family}-*.jsonl"))


def recording_command(run: Run, of: PaperRecordings) -> str:
    """Return the command that records the paper's contrasts."""
    # The simulated judges are nobody's: their server is started for as long as they are asked.
    server = "python -m judgefixtures.simulator --port 8080 -- " if of.is_simulated else ""
    pairs = run.options.pairs or run.config.pairs or PAIRS
    what = f"--judge {of.judge} --judge-dataset {of.dataset} --judge-pairs {pairs}"
    return f'{server}{run.options.command} -k "{" or ".join(FAMILIES)}" {what} --judge-record missing'


def _by_default(datasets: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    everyone = [(judge, dataset) for each in experiments() for judge, dataset in each.recorded.items()]
    for judge, dataset in sorted(everyone, key=lambda who: not who[0].startswith(SIMULATED)):
        for name in datasets or (dataset,):
            yield judge, name, judge.startswith(SIMULATED)


def _datasets(run: Run, judge: str) -> tuple[str, ...]:
    published = tuple(each.recorded[judge] for each in experiments() if judge in each.recorded)
    configured = (name for family in FAMILIES for name in run.config.datasets_of(family, judge))
    return published or tuple(dict.fromkeys(configured))


def _cells(run: Run, of: PaperRecordings) -> Iterator[PaperCell]:
    story = run.config.source(of.dataset).content_type == STORY
    for family in FAMILIES:
        for contrast in run.contrasts(family):
            yield _cell(run, of, contrast, story=story)


def _cell(run: Run, of: PaperRecordings, contrast: Contrast, *, story: bool) -> PaperCell:
    try:
        finding = run.gate(contrast.id, judge=of.judge, dataset=of.dataset)
    except JudgeFixturesError as error:
        return PaperCell(of, contrast, story, fault=str(error))
    (row,) = rows_of([finding], ContrastRow)
    fault = "; ".join(finding.reasons) if finding.status is Status.ERROR or finding.is_of_control else ""
    if finding.estimate is None:
        return PaperCell(of, contrast, story, fault=fault)
    return PaperCell(of, contrast, story, _rates(run, of, finding), finding.estimate, row.flip_rate, row.car_all, fault)


def _rates(run: Run, of: PaperRecordings, finding: Finding) -> tuple[Estimate, Estimate] | None:
    judge, check = run.judge(of.judge), run.registry.check(finding.name)
    check = run.registry.fitted(check, judge.table, run.pairs(of.judge, of.dataset))
    pairs = run.about(CheckId(of.judge, of.dataset, check)).pairs
    answers = run.answers(judge, of.dataset, pairs, check.arms[:2])
    x, y = answers.arms
    return arm_rates(x, y, run.config.gate(check.family).confidence)
