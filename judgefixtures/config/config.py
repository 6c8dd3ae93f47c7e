"""Configuration in effect: all tables by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SkipValidation

from judgefixtures.models.cues import FAMILIES, PLACE, CueFamily, Families
from judgefixtures.providers import FatalJudgeError, check_sdk
from judgefixtures.providers.judge_table import JudgeTable, StrictTable
from judgefixtures.sources.label_files import find_labels_files
from judgefixtures.sources.source import Source
from judgefixtures.util.errors import JudgeFixturesError, accepted_values, table_heading

from . import run_tables
from .ci_restrictions import CiRestrictions
from .run_tables import OWN_GATES, CanaryTable, ControlTable, DatasetTable, DetectorTable, GateTable, SwapTable, Waiver


class Config(StrictTable):
    """The configuration in effect, with absolute paths."""

    file: str
    judge: str | None
    dataset_names: tuple[str, ...]
    pairs: int | None
    seed: int
    judges: Mapping[str, JudgeTable]
    datasets: Mapping[str, DatasetTable]
    default_gate: GateTable
    family_gates: Mapping[str, GateTable]
    swap: SwapTable
    control: ControlTable | None
    waivers: tuple[Waiver, ...]
    cues: SkipValidation[Families]  # validated as it was read; a family's terms would be lost
    written_gates: frozenset[str] = frozenset()  # the [gate.NAME] tables that stand in the file
    own_families: tuple[str, ...] = ()  # those that [cues.NAME] brings into a run and a swap
    security: run_tables.SecurityTable = run_tables.SecurityTable()
    detector: DetectorTable = DetectorTable()
    canary: CanaryTable = CanaryTable()
    batch_parity: int = 20
    folder: Path = Path()  # where the configuration stands
    within: tuple[str, ...] = ()  # the table that it is, as ("tool", "judgefixtures"); none in a file of its own

    def heading(self, *names: str) -> str:
        """Return a table's heading in this file."""
        return table_heading(self.within, *names)

    def judge_table(self, name: str) -> JudgeTable:
        """Return a judge's table, or raise JudgeFixturesError."""
        self._check_there("judge", name, self.judges)
        return self.judges[name]

    def source(self, name: str) -> Source:
        """Return a dataset's source, or raise JudgeFixturesError."""
        self._check_there("dataset", name, self.datasets)
        return source_of_table(name, self.datasets[name], self.within)

    def _check_there(self, kind: str, name: str, tables: Mapping[str, object]) -> None:
        if name not in tables:
            raise JudgeFixturesError(
                f"there is no {kind} {name!r}: {accepted_values(name, tables)}. Add a table "
                f"{self.heading(f'{kind}s', 'NAME')} to {self.file}."
            )

    def datasets_of(self, family: str, judge: str | None = None) -> tuple[str, ...]:
        """Return a family's datasets, by default samples for the judge's mode."""
        if self.dataset_names:
            return self.dataset_names
        sets = run_tables.sample_datasets("pairwise" if judge is None else self.judge_table(judge).mode)
        return sets.close if family in (*self.cues, "repeat", "four-cell", "wording") else sets.clear

    def check_judge_files(self, name: str) -> None:
        """Raise JudgeFixturesError if CI would read prompts outside the repository."""
        for key, path in _files_of(self.judge_table(name)):
            self._in_ci.check_file(Path(path), f"{self.heading('judges', name)} {key}")

    def check_dataset_files(self, name: str) -> None:
        """Raise JudgeFixturesError if CI would read pairs outside the repository."""
        source = self.source(name)
        if source.path is not None:
            self._in_ci.check_file(source.path, f"{self.heading('datasets', name)} path")
        for file in find_labels_files(source.path).values() if source.path is not None and source.labels_from else ():
            self._in_ci.check_file(file, f"{self.heading('datasets', name)} labels_from")

    def check_key(self, name: str) -> None:
        """Raise JudgeFixturesError if CI would send a key to a forbidden address."""
        self._in_ci.check_key(self.judges[name], self.heading("judges", name))

    @property
    def _in_ci(self) -> CiRestrictions:
        return CiRestrictions(self.file, self.folder, self.security, self.heading("security"))

    def check_sdk(self, name: str) -> None:
        """Raise JudgeFixturesError if the judge's SDK is not installed."""
        try:
            check_sdk(self.judges[name])
        except FatalJudgeError as error:
            raise JudgeFixturesError(f"{self.file}: {self.heading('judges', name)}: {error}") from None

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that may hold a judge's key."""
        own = {table.key_variable for table in self.judges.values() if table.key_variable is not None}
        return tuple(sorted(own | set(self.security.api_key_envs)))

    def gate(self, family: str) -> GateTable:
        """Return a family's gate: [gate.FAMILY] over [gate]."""
        return self.family_gates.get(family, self.default_gate)

    @property
    def first_look(self) -> int | None:
        """The fewest pairs of a gate's look, or None."""
        planned = [gate.looks[0] for gate in (self.default_gate, *self.family_gates.values()) if gate.looks]
        return min(planned, default=None)

    @property
    def decisive(self) -> dict[str, dict[str, Any]]:
        """The keys that results depend on, by table, as plain values.

        [gate.FAMILY] has only differences from [gate]. Sources of pairs are left out.
        """
        default = self.default_gate.model_dump()
        settings: dict[str, dict[str, Any]] = {
            "": {"seed": self.seed, "control": self.control is not None},
            "gate": default,
            "swap": self.swap.model_dump(),
            "control": {} if self.control is None else self.control.model_dump(),
            "detector": self.detector.model_dump(),
            "waivers": {each.contrast: each.model_dump(mode="json") for each in reversed(self.waivers)},
            "cues": {},
        }
        for name, gate in self.family_gates.items():
            lacks = run_tables.NOT_INHERITED if name in OWN_GATES else ()
            above = {key: value for key, value in default.items() if key not in lacks}
            above |= {key: value for key, value in _usual(name).items() if key not in default}
            own = {key: value for key, value in gate.model_dump().items() if value not in (None, above.get(key))}
            settings |= {f"gate.{name}": own} if own else {}
        for name, labels in self.cues.items():
            if labels != FAMILIES.get(name):
                settings["cues"][name] = list(labels)  # their order is the declared direction
                settings[f"cues.{name}"] = dict(labels)
                if isinstance(labels, CueFamily):
                    settings[f"cues.{name}"] |= {PLACE: labels.place} if labels.place == "prompt" else {}
                    terms = {label: list(words) for label, words in labels.terms.items()}
                    settings |= {f"cues.{name}.terms": terms} if labels.terms else {}
        return settings

    def waiver(self, contrast: str) -> Waiver | None:
        """Return a contrast's waiver, even if expired, or None."""
        return next((waiver for waiver in self.waivers if waiver.contrast == contrast), None)


def _usual(gate: str) -> dict[str, Any]:
    return {key: each.default for key, each in OWN_GATES.get(gate, GateTable).model_fields.items()}


def _files_of(table: JudgeTable) -> list[tuple[str, str]]:
    named = [("template", table.template), ("system_prompt", table.system_prompt or "")]
    named += [("templates", path) for path in (table.templates or {}).values()]
    named += [("wordings", path) for path in table.wordings or ()]
    return [(key, path) for key, path in named if Path(path).is_absolute()]


def source_of_table(name: str, table: DatasetTable, within: tuple[str, ...]) -> Source:
    """Return the source in a [datasets.NAME] table."""
    fields = {**dict(table), "path": Path(table.path) if table.path else None}
    del fields["closest"]  # of what a source gives: no part of what it is
    if table.columns is not None:
        fields["columns"] = {field: column for field, column in table.columns.items() if isinstance(column, str)}
        fields["raters"] = next((tuple(each) for each in table.columns.values() if isinstance(each, list)), ())
    return Source(name=name, heading=table_heading(within, "datasets", name), **fields)
