"""The tables of the configuration by the headings under which the documentation has them."""

from __future__ import annotations

from pydantic import BaseModel, create_model

from judgefixtures import config
from judgefixtures.config import run_tables
from judgefixtures.providers.judge_table import ConnectionTable


def _own(kind: type[BaseModel]) -> type[BaseModel]:
    """Return the keys that a [gate.NAME] has beside those of [gate], and what it has of its own in place of them."""
    shared = run_tables.GateTable.model_fields.keys()
    fields = {
        name: (field.annotation, field)
        for name, field in kind.model_fields.items()
        if name not in shared or (kind is run_tables.AgreementTable and name in run_tables.NOT_INHERITED)
    }
    return create_model(f"_{kind.__name__}", **fields)  # type: ignore[call-overload, no-any-return]


TABLES: dict[str, type[BaseModel]] = {
    "Top level": run_tables.ConfigurationTable,
    "[judges.NAME]": config.JudgeTable,
    "[judges.NAME.connection]": ConnectionTable,
    "[datasets.NAME]": run_tables.DatasetTable,
    "[gate] and [gate.FAMILY]": run_tables.GateTable,
    "[gate.agreement]": _own(run_tables.AgreementTable),
    "[gate.wording]": _own(run_tables.WordingTable),
    "[gate.position]": _own(run_tables.PositionTable),
    "[swap]": run_tables.SwapTable,
    "[control]": run_tables.ControlTable,
    "[canary]": run_tables.CanaryTable,
    "[detector]": run_tables.DetectorTable,
    "[[waivers]]": run_tables.Waiver,
    "[security]": run_tables.SecurityTable,
}
