"""Validation of tables, with errors that name file, table, key and accepted values."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from judgefixtures.models.cues import LONGEST_NAME, NAME
from judgefixtures.providers.judge_table import ConnectionTable, JudgeTable
from judgefixtures.util.errors import JudgeFixturesError, accepted_values, table_heading
from judgefixtures.util.paths import read_text

from .messages import MESSAGES
from .run_tables import CanaryTable, ControlTable, DatasetTable, SecurityTable, SwapTable, Table, Waiver

Model = TypeVar("Model", bound=BaseModel)

# `datasets = [...]` selects and [datasets.NAME] defines: TOML forbids both in one file, people write both.
SELECTION = re.compile(r'^([ \t]*)(?:datasets|"datasets")(?=\s*=\s*\[)', re.MULTILINE)

SINGULAR = re.compile(r"^[ \t]*\[(?:.*\.)?judge\.", re.MULTILINE)  # beside `judge = "..."` TOML has no such table


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """A configuration's file and table."""

    file: str
    within: tuple[str, ...] = ()

    def at(self, *names: str) -> str:
        """Return the file with a table's heading."""
        return f"{self.file}: {table_heading(self.within, *names)}"


def read_toml(file: Path) -> Table:
    """Return a TOML file's tables, or raise JudgeFixturesError."""
    try:
        text = read_text(file)
    except FileNotFoundError:
        raise JudgeFixturesError(f"the configuration file {file} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeFixturesError(f"the configuration file {file} cannot be read: {error}.") from None
    both_allowed = SELECTION.sub(r"\1dataset", text, count=1)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if both_allowed == text:
            hint = " Write [judges.NAME] instead of [judge.NAME]." if SINGULAR.search(text) else ""
            raise JudgeFixturesError(f"{file} is not valid TOML: {error}.{hint}") from None
    try:
        return tomllib.loads(both_allowed)
    except (ValueError, RecursionError) as error:
        raise JudgeFixturesError(f"{file} is not valid TOML: {error}.") from None


def check_folder_names(place: ConfigLocation, **kinds: Mapping[str, Any]) -> None:
    """Raise JudgeFixturesError for names that cannot be folders."""
    for kind, table in kinds.items():
        where = f"under {table_heading(place.within, kind)}"
        for name in table:
            if len(name) > LONGEST_NAME:
                raise JudgeFixturesError(MESSAGES.name_too_long(place, name[:40], where, name, LONGEST_NAME))
            if not NAME.match(name):
                raise JudgeFixturesError(MESSAGES.not_a_name(place, name, where))


def validate_table(
    model: type[Model], table: Table, where: str, written_as: Mapping[str, str] = MappingProxyType({})
) -> Model:
    """Return a checked table, or raise JudgeFixturesError with the written keys."""
    try:
        return model.model_validate(table)
    except ValidationError as invalid:
        messages = [_explain(error, model, where, written_as) for error in invalid.errors()]
        raise JudgeFixturesError("\n".join(messages)) from None


def _explain(error: Any, model: type[BaseModel], where: str, written_as: Mapping[str, str]) -> str:
    location = [str(part) for part in error["loc"]]
    location[:1] = [written_as.get(name, name) for name in location[:1]]
    key = ".".join(location)
    if error["type"] == "extra_forbidden":
        known = _keys_at(model, location[:-1])
        return f"{where}: unknown key {key!r}: {accepted_values(location[-1], known)}."
    if error["type"] == "missing":
        return f"{where}: key {key!r} is missing. Add it."
    message = error["msg"].removeprefix("Value error, ")
    given = error["input"]
    if key.endswith(("base_url", "endpoint")):  # its query may hold a key, and a password may stand before its host
        given = re.sub(r"\?.*", "?...", re.sub(r"[^/]*@", "...@", str(given)), flags=re.DOTALL)
    given_text = f", got {given!r}" if location else ""
    return f"{where}: {f'{key}: ' if key else ''}{message[:1].lower()}{message[1:]}{given_text}."


def _keys_at(model: type[BaseModel], location: list[str]) -> list[str]:
    nested: dict[str, type[BaseModel]] = {
        "datasets": DatasetTable,
        "swap": SwapTable,
        "waivers": Waiver,
        "control": ControlTable,
        "canary": CanaryTable,
        "security": SecurityTable,
        "connection": ConnectionTable,
    }
    if location and location[0] in nested:
        return list(nested[location[0]].model_fields)
    return [*model.model_fields, *(["extends"] if model is JudgeTable else [])]
