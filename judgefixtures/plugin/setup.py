"""What a session runs with: configuration, judges, datasets, recordings. Loaded when a judge test is first met."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgefixtures.errors import JudgeFixturesError, choices

if TYPE_CHECKING:
    import asyncio

    from judgefixtures.cassettes.library import Library
    from judgefixtures.config import Config
    from judgefixtures.contrasts import Contrast
    from judgefixtures.costs import Budget
    from judgefixtures.judges import Judge
    from judgefixtures.judgments import Planned
    from judgefixtures.pairs import Pair
    from judgefixtures.plugin.interruption import Interruption
    from judgefixtures.plugin.samples import Samples


class Setup:
    """What a session runs with: configuration, selected judges and datasets, loaded when first needed."""

    def __init__(self, config: pytest.Config) -> None:
        self.options = config.option
        self.folder, self.config = self._load(config)
        self.judge_names = tuple(dict.fromkeys(self.options.judge_names or [self.config.judge or ""]))
        self.baseline_name: str | None = self.options.judge_baseline
        self.repeats: int = self.options.judge_repeats
        self.notes: list[str] = []
        self.required_swaps: dict[str, None] = {}  # every comparison that was collected, deselected ones included
        self.dataset_names = tuple(dict.fromkeys(self.options.judge_datasets or self.config.dataset_names))
        if not all(self.judge_names):
            raise JudgeFixturesError(
                "no judge to gate: name one with --judge NAME, or set `judge` in the configuration "
                f"({self.config.file})."
            )
        if not self.dataset_names:
            raise JudgeFixturesError(
                "no dataset to ask about: name one with --judge-dataset NAME (built in: house-qa, house-stories), or "
                f"set `datasets` in the configuration ({self.config.file})."
            )
        self._judges: dict[str, Judge] = {}
        self.plans: dict[tuple[int, str], dict[tuple[str, str], Planned]] = {}  # of a judge and dataset, by pair
        self.asked: dict[int, Judge] = {}  # every judge that was asked, also one that a user's fixture made
        self._samples: Samples | None = None
        self._budget: Budget | None = None
        if self.baseline_name is not None:
            self.config.judge_table(self.baseline_name)
            if self.baseline_name in self.judge_names:
                # Against itself: nothing to learn of the judge, but a way to see that equal judges are approved.
                self.note(f"{self.baseline_name} is compared with itself")
        worker = getattr(config, "workerinput", {})
        self.run = str(worker.get("testrunuid", ""))
        self.workers = int(worker.get("workercount", 1))
        # What the workers of a recording share: the pace of each judge, places for calls in flight, the word to stop.
        self.shared = Path(worker[SHARED]) if SHARED in worker else None
        self._interruption: Interruption | None = None
        self._library: Library | None = None
        self._runner: asyncio.Runner | None = None

    def _load(self, config: pytest.Config) -> tuple[Path, Config]:
        from judgefixtures.config import build_config, load_config

        if self.options.judge_config is not None:
            file = (config.invocation_params.dir / self.options.judge_config).resolve()
            return file.parent, load_config(file)
        file = config.rootpath / "pyproject.toml"
        if file.is_file():
            return file.parent, load_config(file, table=("tool", "judgefixtures"))
        return config.rootpath, build_config({}, f"{file}, which does not exist", config.rootpath)

    def note(self, text: str) -> None:
        """Keep a line for the summary."""
        self.notes.append(text)

    def check(self) -> None:
        """Raise JudgeFixturesError unless every selected judge and dataset can be loaded and every waiver is of one."""
        for judge in (*self.judge_names, *filter(None, [self.baseline_name])):
            self.judge(judge)
            for dataset in self.dataset_names:
                self.pairs(judge, dataset)
        known = [contrast.id for family in self.families for contrast in self.contrasts(family)]
        for waiver in self.config.waivers:
            # A repeat is a contrast that there is, whether or not this run asks for so many.
            if waiver.contrast not in known and not REPEAT.fullmatch(waiver.contrast):
                raise JudgeFixturesError(
                    f"{self.config.file}: [[waivers]] names no contrast: {waiver.contrast!r}: "
                    f"{choices(waiver.contrast, known)}."
                )

    @property
    def families(self) -> tuple[str, ...]:
        """Every family there is: cues, the user's own among them, and those of order and repetition."""
        from judgefixtures.contrasts import OTHER_FAMILIES

        return (*self.config.cues, *OTHER_FAMILIES)

    def contrasts(self, family: str) -> tuple[Contrast, ...]:
        """Return the contrasts of a family; raises JudgeFixturesError where there is none of that name."""
        from judgefixtures.contrasts import OTHER_FAMILIES, contrasts, other_contrasts

        if family in OTHER_FAMILIES:
            return other_contrasts(family, self.repeats, self.config.cues)
        return contrasts(family, self.config.cues)

    @property
    def library(self) -> Library:
        """The folder of cassettes in the mode of this run."""
        if self._library is None:
            from judgefixtures.cassettes.library import Library

            folder = self.folder / (self.options.judge_cassettes or "cassettes")
            if self.options.judge_cassettes is not None:
                folder = self.options.judge_cassettes.absolute()
            self._library = Library(folder, self.options.judge_record, command_start=self.command_start)
            if self.run:
                self._library = replace(self._library, run=self.run)
        return self._library

    @property
    def command_start(self) -> str:
        """The start of the commands in messages: pytest with the options that decide what is recorded."""
        given = {"config": self.options.judge_config, "cassettes": self.options.judge_cassettes,
                 "pairs": self.options.judge_pairs}  # fmt: skip
        return " ".join(["pytest", *(f"--judge-{name}={value}" for name, value in given.items() if value is not None)])

    @property
    def budget(self) -> Budget:
        """What this process may spend: under xdist, its share of --judge-max-cost."""
        if self._budget is None:
            from judgefixtures.costs import Budget

            cap = self.options.judge_max_cost
            self._budget = Budget(None if cap is None else cap / self.workers)
        return self._budget

    @property
    def runner(self) -> asyncio.Runner:
        """One event loop for the session, so that one client per judge serves all items."""
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        return self._runner

    @property
    def interruption(self) -> Interruption:
        """How urgently the run is asked to stop; from the first use on, signals are taken."""
        if self._interruption is None:
            from judgefixtures.plugin.interruption import Interruption

            self._interruption = Interruption(self.shared)
            self._interruption.listen()
        return self._interruption

    def close(self) -> None:
        """Close the judges' connections and the event loop, and give the signals back."""
        if self._runner is not None:
            for judge in self.asked.values():
                self._runner.run(judge.close())
            self._runner.close()
            self._runner = None
        if self._interruption is not None:
            self._interruption.close()

    def judge(self, name: str) -> Judge:
        """Return a judge, made once a session."""
        if name not in self._judges:
            from judgefixtures.judges import load_judge

            self._judges[name] = load_judge(self.config.judge_table(name), name)
        return self._judges[name]

    def pairs(self, judge: str, dataset: str) -> tuple[Pair, ...]:
        """Return the pairs of a dataset: from its source, or as frozen with recordings of it."""
        return self.samples.of(judge, dataset).pairs

    @property
    def samples(self) -> Samples:
        """The pairs of this run, and what is known of them."""
        if self._samples is None:
            from judgefixtures.plugin.samples import Samples

            wanted = self.options.judge_pairs or self.config.pairs
            self._samples = Samples(self.config, self.library, wanted, self._note_once)
        return self._samples

    def _note_once(self, text: str) -> None:
        """Keep a line that several judges give rise to."""
        if text not in self.notes:
            self.note(text)


REPEAT = re.compile(r"repeat-no-cue-[1-9][0-9]*")
SHARED = "judgefixtures_folder"  # the key of a worker's input under which xdist's controller names a folder to it
SETUP = pytest.StashKey[Setup]()


def setup_of(config: pytest.Config) -> Setup:
    """Return the session's setup; raises JudgeFixturesError for a user's mistake."""
    if SETUP not in config.stash:
        config.stash[SETUP] = Setup(config)
    return config.stash[SETUP]
