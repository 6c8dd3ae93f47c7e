"""Registry of check kinds, from data/marks.toml."""

from dataclasses import dataclass

from judgefixtures.util.patterns import load_table


@dataclass(frozen=True, slots=True)
class RegisteredCheck:
    """A mark and its check.

    Attributes:
        home: As "accuracy:AccuracyCheck".
    """

    mark: str
    meaning: str
    name: str = ""
    home: str = ""


FAMILY, SWAP = "judge_family", "judge_swap"
REGISTRY = tuple(RegisteredCheck(**table) for table in load_table("marks")["marks"])
ALONE = tuple(kind for kind in REGISTRY if kind.name)  # about one judge, and no contrast
