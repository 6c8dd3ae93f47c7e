"""The configuration: tables of judges, datasets, gates and cues, read with tomllib, checked by pydantic.

Nothing is guessed: an unknown key or a wrong value is an error that names file, table, key and what is
accepted. The built-in tables of builtin.toml are there unless a table of the user's has the same name.

judge_table, run_tables: what a table holds. provider_keys: what each provider takes of a judge's. places: where a
table stands and what is said of a mistake in it. loading: files to the configuration, in_force: what it is then.
"""

from judgefixtures.config.in_force import Config
from judgefixtures.config.judge_table import ConnectionTable, JudgeTable
from judgefixtures.config.loading import BUILTIN, TABLE, build_config, judge_table, load_config
from judgefixtures.config.places import read_toml
from judgefixtures.config.provider_keys import FLEX, FLEX_TIMEOUT, THINKERS
from judgefixtures.config.run_tables import (
    CanaryTable,
    ControlTable,
    DatasetTable,
    GateTable,
    SecurityTable,
    SwapTable,
    Waiver,
    WholeTable,
)
from judgefixtures.config.shapes import UNSET

__all__ = [
    "BUILTIN",
    "FLEX",
    "FLEX_TIMEOUT",
    "TABLE",
    "THINKERS",
    "UNSET",
    "CanaryTable",
    "Config",
    "ConnectionTable",
    "ControlTable",
    "DatasetTable",
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
