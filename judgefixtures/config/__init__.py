"""The configuration: tables of judges, datasets, gates and cues, read with tomllib, checked by pydantic.

Nothing is guessed: an unknown key or a wrong value is an error that names file, table, key and what is
accepted. The built-in tables of builtin.toml are there unless a table of the user's has the same name.

run_tables: what a table holds; a judge's is that of its provider (providers/tables). places: where a table
stands and what is said of a mistake in it. loading: files to the configuration, in_force: what it is then.
"""

from judgefixtures.config.in_force import Config as Config
from judgefixtures.config.loading import BUILTIN as BUILTIN
from judgefixtures.config.loading import TABLE as TABLE
from judgefixtures.config.loading import build_config as build_config
from judgefixtures.config.loading import judge_table as judge_table
from judgefixtures.config.loading import load_config as load_config
from judgefixtures.config.run_tables import AgreementTable as AgreementTable
from judgefixtures.config.run_tables import CanaryTable as CanaryTable
from judgefixtures.config.run_tables import ControlTable as ControlTable
from judgefixtures.config.run_tables import GateTable as GateTable
from judgefixtures.config.run_tables import PositionTable as PositionTable
from judgefixtures.config.run_tables import SwapTable as SwapTable
from judgefixtures.config.run_tables import WordingTable as WordingTable
from judgefixtures.providers.tables import JudgeTable as JudgeTable
