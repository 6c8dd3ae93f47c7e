"""Labeling page: one person labels examples without seeing other judgements."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from judgefixtures.config import AgreementTable, load_config
from judgefixtures.config.config import Config
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.sources import Source, load_sample
from judgefixtures.sources.label_files import BESIDE, labels_path, rater_key
from judgefixtures.statistics.agreement import FEWEST_OF_A_CLASS, labels_for_good_judge
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.texts import join_names

from .example_view import LabelingTask
from .label_store import PersonLabels
from .messages import MESSAGES
from .server import LabelingServer

__all__ = ["LabelingRequest", "LabelingServer", "LabelingTask", "end_message", "open_labeling_server", "start_message"]

USUAL = AgreementTable(min_kappa=0.60)  # where a configuration sets no limit of agreement
_STEP = 20  # to how many parts of 1 the share of passes is rounded: the number is "about"


@dataclass(frozen=True, slots=True)
class LabelingRequest:
    """A dataset, a person and page options.

    `data` is a configured dataset or file; port 0 takes a free one; `columns` limits shown columns.
    """

    data: str
    by: str
    columns: Sequence[str] | None = None
    port: int = 0
    config: Path | None = None


@contextmanager
def open_labeling_server(request: LabelingRequest) -> Iterator[LabelingServer]:
    """Yield the page's server; the person's file is locked meanwhile.

    Raises:
        JudgeFixturesError: Unreadable data, no examples, a damaged or locked file, or a used port.
    """
    config = _config(request)
    source = _find_source(request, config)
    examples = _examples(replace(source, labels_from=None), config.seed if config else 0)
    columns = _columns(examples, request.columns, source)
    assert source.path is not None
    with PersonLabels(_own_file(source.path, request.by), source, examples) as labels:
        work = LabelingTask(examples, columns, labels, labels_needed_text(config))
        with LabelingServer(work, request.port) as server:
            yield server


def labels_needed_text(config: Config | None) -> Callable[[int, int], int | None]:
    """Return a function of the numbers of labels that returns those needed.

    It plans for [gate.agreement], or kappa 0.60, and returns None if unrealistic.
    """
    gate = config.gate("agreement") if config else USUAL
    assert isinstance(gate, AgreementTable)
    gate = gate if gate.limits.set else USUAL

    @cache
    def of_share(steps: int) -> int | None:
        return labels_for_good_judge(steps / _STEP, gate.limits, gate.alpha)[1]

    def of_counts(passed: int, failed: int) -> int | None:
        return of_share(round(_STEP * (passed + FEWEST_OF_A_CLASS) / (passed + failed + 2 * FEWEST_OF_A_CLASS)))

    return of_counts


def _config(request: LabelingRequest) -> Config | None:
    standing = Path("pyproject.toml")
    file = request.config or (standing if standing.exists() else None)
    return load_config(file) if file is not None else None


def _find_source(request: LabelingRequest, config: Config | None) -> Source:
    """Return the examples' source, or raise JudgeFixturesError."""
    if config is not None and request.data in config.datasets:
        return _labelled(config.source(request.data))
    path = Path(request.data)
    if not path.exists():
        names = [] if config is None else _with_files(config)
        raise JudgeFixturesError(
            f"there is no file or dataset {request.data!r}: {accepted_values(request.data, names)}."
        )
    same = [] if config is None else [name for name in _with_files(config) if _is_of(config.source(name), path)]
    if config is None or not same:
        return Source(path.stem, path)
    if len(same) > 1:
        raise JudgeFixturesError(f"several datasets use {path}: name {' or '.join(same)}.")
    return config.source(same[0])


def _with_files(config: Config) -> list[str]:
    return [name for name, table in config.datasets.items() if table.path is not None]


def _is_of(source: Source, path: Path) -> bool:
    return source.path is not None and source.path.resolve() == path.resolve()


def _labelled(source: Source) -> Source:
    if source.path is None:
        raise source.mistake(
            "this dataset has no file beside which labels could be saved: save a copy of its rows as JSON lines and "
            "name that file."
        )
    return source


def _examples(source: Source, seed: int) -> tuple[Example, ...]:
    pairs: tuple[Pair, ...] = load_sample(source, seed).pairs
    examples = tuple(pair for pair in pairs if isinstance(pair, Example))
    if len(examples) < len(pairs):
        raise source.mistake(MESSAGES.pairs_for_examples(source))
    return examples


def _own_file(path: Path, by: str) -> Path:
    own = labels_path(path, by)
    for other in own.parent.glob("*.jsonl"):
        if other.name != own.name and rater_key(other.name) == rater_key(own.name):
            raise JudgeFixturesError(MESSAGES.similar_name(other))
    return own


def _columns(examples: Sequence[Example], wanted: Sequence[str] | None, source: Source) -> tuple[str, ...]:
    there = tuple(dict.fromkeys(name for example in examples for name in example.columns))
    for name in wanted or ():
        if name not in there:
            raise source.mistake(f"there is no column {name!r} to show: {accepted_values(name, there)}.")
    return there if wanted is None else tuple(dict.fromkeys(wanted))


def start_message(server: LabelingServer) -> list[str]:
    """Return the terminal's lines before labeling."""
    work = server.work
    fields = join_names(("question", *work.columns, "response"), ", ")
    return [
        *work.labels.mended,
        work.summary(),
        f"shown: {fields} (use --columns to hide judgments and labels of other people)",
        f"labels: {work.labels.file}",
        f"open {server.url} (the whole address; Ctrl-C stops the page)",
    ]


def end_message(server: LabelingServer) -> list[str]:
    """Return the terminal's lines after labeling."""
    work = server.work
    return [
        f"labels: {work.labels.file}",
        work.summary(),
        f'To gate with these labels, set labels_from = "{BESIDE}" in {work.labels.source.table}.',
    ]
