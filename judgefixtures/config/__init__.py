"""The configuration: tables of judges, datasets, gates and cues, read with tomllib, checked by pydantic.

Nothing is guessed: an unknown key or a wrong value is an error that names file, table, key and what is
accepted. The built-in tables of builtin.toml are there unless a table of the user's has the same name.

run_tables: what a table holds; a judge's is that of its provider (providers/tables). places: where a table
stands and what is said of a mistake in it. loading: files to the configuration, in_force: what it is then.
"""

from judgefixtures.config.in_force import Config
from judgefixtures.config.loading import BUILTIN, TABLE, build_config, judge_table, load_config
from judgefixtures.config.places import read_toml
from judgefixtures.config.run_tables import (
    CanaryTable,
    ControlTable,
    DatasetTable,
    DetectorTable,
    GateTable,
    SecurityTable,
    SwapTable,
    Waiver,
    WholeTable,
)
from judgefixtures.providers.tables import JudgeTable as JudgeTable

__all__ = [
    "BUILTIN",
    "TABLE",
    "CanaryTable",
    "Config",
    "ControlTable",
    "DatasetTable",
    "DetectorTable",
    "GateTable",
    "JudgeTable",
    "SecurityTable",
    "SwapTable",
    "Waiver",
    "WholeTable",
    "build_config",
    "judge_table",
    "load_config",
    "read_toml",
]
