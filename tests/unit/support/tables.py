"""The tables of the configuration by the headings under which the documentation has them."""

from __future__ import annotations

from pydantic import BaseModel

from judgefixtures import config
from judgefixtures.providers.tables import ConnectionTable

TABLES: dict[str, type[BaseModel]] = {
    "Top level": config.WholeTable,
    "[judges.NAME]": config.JudgeTable,
    "[judges.NAME.connection]": ConnectionTable,
    "[datasets.NAME]": config.DatasetTable,
    "[gate] and [gate.FAMILY]": config.GateTable,
    "[swap]": config.SwapTable,
    "[control]": config.ControlTable,
    "[canary]": config.CanaryTable,
    "[detector]": config.DetectorTable,
    "[[waivers]]": config.Waiver,
    "[security]": config.SecurityTable,
}
