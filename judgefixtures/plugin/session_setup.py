"""Session setup: the options, the selected judges and datasets, and the run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.shell import options, quoted

from .messages import MESSAGES
from .rootdir import home_of, outer_paths, root_options, written_table

if TYPE_CHECKING:
    from judgefixtures.checks.base import CheckId
    from judgefixtures.client.costs import CostMeter
    from judgefixtures.config import Config
    from judgefixtures.models.judgments import Judgment
    from judgefixtures.models.swap_rows import PlannedSwapPart
    from judgefixtures.run.run import Run

    from .cancellation import SignalCancelToken


# What a run takes as the command line has it.
SAME = ("record", "pairs", "repeats", "concurrency", "max_cost", "force", "batch", "until_decided")


class SessionSetup:
    """A session's setup, loaded at the first judge test."""

    def __init__(self, config: pytest.Config) -> None:
        from judgefixtures.run.run import Run, RunOptions

        self.options, self._pytest = config.option, config
        self.folder, self.config = self._load(config)
        self.judge_names = tuple(dict.fromkeys(self.options.judge_names or [self.config.judge or ""]))
        self.baseline_name: str | None = self.options.judge_baseline
        # Every part of a swap that was collected, deselected ones included, as rows for the decision.
        self.required_swaps: list[PlannedSwapPart] = []
        if not all(self.judge_names):
            raise JudgeFixturesError(MESSAGES.no_judge(self.config.file, self._hidden(config.rootpath)))
        cassettes = self.options.judge_cassettes
        worker = getattr(config, "workerinput", {})
        options = RunOptions(
            **{name: getattr(self.options, f"judge_{name}") for name in SAME},
            invalid=tuple(self.options.judge_record_invalid or ()),
            baseline=self.baseline_name,
            datasets=tuple(dict.fromkeys(self.options.judge_datasets or ())),
            keep_judgments=self.options.judge_report is not None,
            command=self.command_start,
            usual=self.folder / "cassettes",
            session=str(worker.get("testrunuid", "")),
            workers=int(worker.get("workercount", 1)),
            shared=_shared_by(worker),
        )
        folder = self.folder / "cassettes" if cassettes is None else cassettes.absolute()
        self._interruption: SignalCancelToken | None = None
        self._checked = False
        self.run: Run = Run(self.config, folder, options, progress=ProgressBar(config), stop=self._stop)
        if self.baseline_name is not None:
            self.config.judge_table(self.baseline_name)
            if self.baseline_name in self.judge_names:
                # Against itself: nothing to learn of the judge, but a way to see that equal judges are approved.
                self.run.context.note(f"this swap compares {self.baseline_name} with itself")

    def _load(self, config: pytest.Config) -> tuple[Path, Config]:
        from judgefixtures.config import TABLE, build_config, load_config

        if self.options.judge_config is not None:
            file = (config.invocation_params.dir / self.options.judge_config).resolve()
            return file.parent, load_config(file)
        file = home_of(config) / "pyproject.toml"
        if os.path.lexists(file):
            return file.parent, load_config(file)
        return config.rootpath, build_config({}, f"{file}, which does not exist", config.rootpath, TABLE)

    def _hidden(self, root: Path) -> str:
        files = [file for depth in ("*", "*/*") for file in sorted(root.glob(f"{depth}/pyproject.toml"))]
        found = next((file.parent for file in files if written_table(file)), None)
        return f" {found} has the table: run pytest there, or add --rootdir={quoted(str(found))}" if found else ""

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges under test, then any baseline."""
        return (*self.judge_names, *filter(None, [self.baseline_name]))

    @property
    def takes_looks(self) -> bool:
        """Whether swaps use looks."""
        return bool(self.options.judge_until_decided) and len(self.config.swap.looks) > 1

    def datasets(self, family: str, judge: str) -> tuple[str, ...]:
        """Return a judge's datasets in a family, from --judge-dataset or the configuration."""
        return tuple(dict.fromkeys(self.options.judge_datasets or self.config.datasets_of(family, judge)))

    def parts_of_swap(self, subjects: Iterable[CheckId]) -> Iterator[PlannedSwapPart]:
        """Yield swap parts, with the data that options leave out."""
        from judgefixtures.checks.swap import planned_swap_part

        for each in subjects:
            yield replace(planned_swap_part(each), unselected=self._unselected(each.judge, each.dataset))

    def _unselected(self, judge: str, dataset: str) -> str:
        if dataset not in (self.options.judge_datasets or (dataset,)):
            return f"{dataset} (configured, but not selected by --judge-dataset)"
        if self.options.judge_pairs is None or not self.run.samples.is_here(judge, dataset):
            return ""
        chosen = self.run.samples.of(judge, dataset)
        n, every = len(chosen.pairs), min(self.config.pairs or chosen.available, chosen.available)
        if n >= every:
            return ""
        return f"{every - n} of the {every} configured pairs of {dataset} (not selected by --judge-pairs)"

    def _note_alike(self) -> None:
        baseline = self.baseline_name
        for name in self.judge_names if baseline is not None else ():
            judge = self.run.judge(name)
            if name != baseline and judge.identity == self.run.judge(str(baseline)).identity:
                self.run.context.note(MESSAGES.one_judge_twice(name, baseline, judge))

    def check(self) -> None:
        """Check that every judge, dataset and waiver is valid.

        Raises:
            JudgeFixturesError: One is not.
        """
        from judgefixtures.run.run import REPEAT

        if self._checked:
            return
        self._check_asked()
        self._check_swaps()
        for judge in self.judges:
            self.run.judge(judge)
            self._check_askable(judge)
            for dataset in self.options.judge_datasets or self.config.dataset_names:
                self.run.pairs(judge, dataset)
        self._note_alike()
        if self.options.judge_batch:
            self._check_batches()
        if (detector := self.config.detector.judge) is not None:
            self.run.judge(detector)
            self._check_askable(detector)
        if self.options.judge_until_decided:
            self._check_looks()
        known = [contrast.id for family in self.run.families for contrast in self.run.contrasts(family)]
        for waiver in self.config.waivers:
            # A repeat is a contrast that there is, whether or not this run asks for so many.
            if waiver.contrast not in known and not REPEAT.fullmatch(waiver.contrast):
                raise JudgeFixturesError(
                    MESSAGES.waiver_of_no_contrast(
                        self.config.file,
                        self.config.heading("waivers"),
                        waiver,
                        accepted_values(waiver.contrast, known),
                    )
                )
        self._checked = True

    def _check_askable(self, judge: str) -> None:
        if self.options.judge_record != "none":
            self.config.check_key(judge)
            self.config.check_sdk(judge)

    def _check_looks(self) -> None:
        gates = (self.config.default_gate, *self.config.family_gates.values())
        swapped = self.baseline_name is not None
        if any(gate.looks for gate in gates) or (swapped and len(self.config.swap.looks) > 1):
            return
        wanted = f"{self.config.heading('gate')} looks = [25, 50, 100]"
        if swapped:
            raise JudgeFixturesError(MESSAGES.one_look(self.config.file, self.config.heading("swap"), wanted))
        raise JudgeFixturesError(
            f"{self.config.file}: --judge-until-decided needs looks, and no gate has any. Set for example {wanted}."
        )

    def _check_swaps(self) -> None:
        if self.baseline_name is None:
            return
        from judgefixtures.checks.swap import check_comparable

        for judge in self.judge_names:
            check_comparable(self.run.judge(judge), self.run.judge(self.baseline_name))

    def _check_batches(self) -> None:
        from judgefixtures.batches import load_batches
        from judgefixtures.judges.mode import mode_class

        names = dict.fromkeys((*self.judges, *filter(None, [self.config.detector.judge])))
        for name in names:
            if mode_class(table := self.config.judge_table(name)).is_asked:
                load_batches(name, table)

    def _check_asked(self) -> None:
        if self.options.judge_record == "none" or self.config.detector.judge is not None:
            return
        from judgefixtures.judges.mode import mode_class

        names = self.judges
        if not any(mode_class(self.config.judge_table(name)).is_asked for name in names):
            who = " and ".join(dict.fromkeys(names)) + (" is" if len({*names}) == 1 else " are")
            raise JudgeFixturesError(MESSAGES.nobody_to_ask(self.options.judge_record, who))

    def _stop(self) -> SignalCancelToken:
        if self._interruption is None:
            from .cancellation import SignalCancelToken

            self._interruption = SignalCancelToken(self.run.options.shared)
            self._interruption.listen()
        return self._interruption

    def close(self) -> None:
        """Close the run and restore signal handlers."""
        self.run.close(finished=False)  # that is known when all results are there
        if self._interruption is not None:
            self._interruption.close()

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings that results depend on, by table and key."""
        judges = self.judges
        swaps = self.takes_looks and self.baseline_name is not None  # a contrast's looks are its gate's
        given = {"command line": {"--judge-until-decided": swaps}}
        return dict(sorted((self.run.registry.settings(judges) | given).items()))

    @property
    def command_start(self) -> str:
        """The start of commands: pytest with recording options."""
        return " ".join(["pytest", *root_options(self._pytest), *outer_paths(self._pytest), *self.options_given])

    @property
    def options_given(self) -> list[str]:
        """The options that affect recordings."""
        given = {
            "config": self.options.judge_config,
            "cassettes": self.options.judge_cassettes,
            "pairs": self.options.judge_pairs,
            "repeats": self.options.judge_repeats if self.options.judge_repeats > 1 else None,
        }
        return options(given)


def _shared_by(worker: dict[str, Any]) -> Path | None:
    folder = Path(worker[SHARED]) if SHARED in worker else None
    return folder if folder is not None and folder.is_dir() else None


class ProgressBar:
    """Progress of a recording on pytest's terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    @contextlib.contextmanager
    def __call__(self, meter: CostMeter, total: int) -> Iterator[Any]:
        """Show the progress of `total` calls; yields a callback."""
        terminal, capture = self._plugins.getplugin("terminalreporter"), self._plugins.getplugin("capturemanager")
        if capture is None or not getattr(terminal, "isatty", False):
            yield None
            return
        from tqdm import tqdm

        # pytest captures the terminal during a test: let go of it while the bar is drawn.
        with capture.global_and_fixture_disabled(), tqdm(total=total, unit="call", leave=False) as bar:

            def answered(_judgment: Judgment) -> None:
                cost = meter.total.usd
                bar.set_postfix_str("price unknown" if cost is None else f"${cost:.4f}", refresh=False)
                bar.update()

            yield answered


SHARED = "judgefixtures_folder"  # the key of a worker's input under which xdist's controller names a folder to it
SETUP = pytest.StashKey[SessionSetup]()


def session_setup(config: pytest.Config) -> SessionSetup:
    """Return the session's setup.

    Raises:
        JudgeFixturesError: The user's setup is invalid.
    """
    if SETUP not in config.stash:
        config.stash[SETUP] = SessionSetup(config)
    return config.stash[SETUP]
