"""The tables of the configuration by the headings under which the documentation has them."""

from __future__ import annotations

from pydantic import BaseModel

from judgefixtures import config
from judgefixtures.config import run_tables
from judgefixtures.providers.tables import ConnectionTable

TABLES: dict[str, type[BaseModel]] = {
    "Top level": run_tables.WholeTable,
    "[judges.NAME]": config.JudgeTable,
    "[judges.NAME.connection]": ConnectionTable,
    "[datasets.NAME]": run_tables.DatasetTable,
    "[gate] and [gate.FAMILY]": run_tables.GateTable,
    "[swap]": run_tables.SwapTable,
    "[control]": run_tables.ControlTable,
    "[canary]": run_tables.CanaryTable,
    "[detector]": run_tables.DetectorTable,
    "[[waivers]]": run_tables.Waiver,
    "[security]": run_tables.SecurityTable,
}
