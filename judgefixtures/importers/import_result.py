"""The result of an import."""

from dataclasses import dataclass
from pathlib import Path

from judgefixtures.config import Config
from judgefixtures.models.pairs import Pair

from .imported_answers import Imported
from .log_rows import ImportRequest
from .rows_by_mode import RowFormat


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The imported answers and the rows left out.

    `pairs` are written beside the answers.
    """

    request: ImportRequest
    content: RowFormat
    imported: Imported
    pairs: tuple[Pair, ...]
    folder: Path
    config: Config
    others: int
    repeated: int
    unused: tuple[tuple[str, str], ...]  # why, and where
    remarks: tuple[str, ...] = ()  # what the logs say of themselves
    replaced: int = 0  # answers of an earlier import that were there and are not among these
    changed: int = 0  # answers of an earlier import that are others here
    of_others: int = 0  # rows of other metrics, people and checks in code
    given: int = 0  # pairs of the dataset, or of a file
    people: tuple[str, ...] = ()  # metrics of people whose labels are not used

    @property
    def about(self) -> int:
        """The number of pairs or examples with answers."""
        return len({key.pair for key in self.imported.answers})
