"""Registry of check kinds: their pytest marks, names and classes, from data/marks.toml.

pytest takes its marks from here, and the configuration its tables [gate.NAME]. A check's class is imported when it
first runs.
"""

from dataclasses import dataclass

from judgefixtures.util.patterns import load_table


@dataclass(frozen=True, slots=True)
class RegisteredCheck:
    """A mark and what it means. A check that is about no contrast has a name, which is that of its [gate.NAME], too.

    `home` is its file and its class in checks/, as in "accuracy:AccuracyCheck".
    """

    mark: str
    meaning: str
    name: str = ""
    home: str = ""


FAMILY, SWAP = "judge_family", "judge_swap"
REGISTRY = tuple(RegisteredCheck(**table) for table in load_table("marks")["marks"])
ALONE = tuple(kind for kind in REGISTRY if kind.name)  # about one judge, and no contrast
