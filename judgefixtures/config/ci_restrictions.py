"""Restrictions in CI: which files a configuration may read, and where it may send a key ([security])."""

import os
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.providers.judge_table import JudgeTable
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import redact_message

from .messages import MESSAGES
from .run_tables import SecurityTable


@dataclass(frozen=True, slots=True)
class CiRestrictions:
    """What CI refuses, because a pull request can change the configuration.

    Attributes:
        file: The configuration's file, for messages.
        folder: Its folder.
        security: The [security] table.
        heading: The heading of that table.
    """

    file: str
    folder: Path
    security: SecurityTable
    heading: str

    def check_file(self, path: Path, where: str) -> None:
        """Raise JudgeFixturesError for a file outside the repository."""
        if not _is_ci_run():
            return
        repository = _repository(self.folder.resolve())
        allowed = [repository, *((self.folder / each).resolve() for each in self.security.allow_outside)]
        links = [path_inside for path_inside in path.rglob("*") if path_inside.is_symlink()] if path.is_dir() else []
        for file in (path, *links):
            if not any(file.resolve().is_relative_to(folder) for folder in allowed):
                named = os.path.relpath(file.resolve().parent, self.folder.resolve())
                raise JudgeFixturesError(
                    MESSAGES.not_approved(self.file, where, str(file), repository, named, self.heading)
                )

    def check_key(self, table: JudgeTable, where: str) -> None:
        """Raise JudgeFixturesError if a key would be sent to an address that [security] does not allow."""
        variable = table.key_variable
        if not _is_ci_run() or table.address is None or variable is None or variable in self.security.api_key_envs:
            return
        if not os.environ.get(variable, "").strip():
            return  # nothing is sent then: a later message says that the key is missing
        address = redact_message(table.address)
        raise JudgeFixturesError(MESSAGES.foreign_address(self.file, where, variable, address, table, self.heading))


def _is_ci_run() -> bool:
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")


def _repository(folder: Path) -> Path:
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
