"""Configuration: tables of judges, datasets, gates and cues, checked by pydantic.

Tables of builtin.toml apply unless the user has one of the same name.
"""

from judgefixtures.providers.judge_table import JudgeTable as JudgeTable

from .config import Config as Config
from .loading import BUILTIN as BUILTIN
from .loading import TABLE as TABLE
from .loading import build_config as build_config
from .loading import judge_table as judge_table
from .loading import load_config as load_config
from .run_tables import AgreementTable as AgreementTable
from .run_tables import CanaryTable as CanaryTable
from .run_tables import ControlTable as ControlTable
from .run_tables import GateTable as GateTable
from .run_tables import PositionTable as PositionTable
from .run_tables import SwapTable as SwapTable
from .run_tables import WordingTable as WordingTable
