"""The tables of the configuration by the headings under which the documentation has them."""

from __future__ import annotations

from pydantic import BaseModel, create_model

from judgefixtures import config
from judgefixtures.config import run_tables
from judgefixtures.providers.tables import ConnectionTable

_OWN = {*run_tables.AgreementTable.model_fields, *run_tables.NOT_INHERITED} - {
    *(run_tables.GateTable.model_fields.keys() - {*run_tables.NOT_INHERITED})
}
# The keys that [gate.agreement] has beside those of [gate], and what it has of its own in place of them.
_AGREEMENT = create_model(
    "_AGREEMENT",
    **{
        name: (field.annotation, field)
        for name, field in run_tables.AgreementTable.model_fields.items()
        if name in _OWN
    },
)  # type: ignore[call-overload]

TABLES: dict[str, type[BaseModel]] = {
    "Top level": run_tables.WholeTable,
    "[judges.NAME]": config.JudgeTable,
    "[judges.NAME.connection]": ConnectionTable,
    "[datasets.NAME]": run_tables.DatasetTable,
    "[gate] and [gate.FAMILY]": run_tables.GateTable,
    "[gate.agreement]": _AGREEMENT,
    "[swap]": run_tables.SwapTable,
    "[control]": run_tables.ControlTable,
    "[canary]": run_tables.CanaryTable,
    "[detector]": run_tables.DetectorTable,
    "[[waivers]]": run_tables.Waiver,
    "[security]": run_tables.SecurityTable,
}
