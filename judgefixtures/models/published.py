"""Published numbers of arXiv 2509.26072."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from judgefixtures.util.patterns import load_table

PAPER = "arXiv 2509.26072"
PAIRS = 100  # of each dataset
SIMULATED = "simulated-"  # what the name of every simulated judge begins with

Labels = tuple[str, str]
Percent = Mapping[Labels, int]


@dataclass(frozen=True, slots=True)
class PublishedExperiment:
    """A judge of the paper on a dataset.

    Attributes:
        rates: Percent by both labels.
    """

    judge: str
    model: str
    dataset: str
    content_type: str
    recorded: Mapping[str, str]
    rates: Percent
    shifts: Percent

    def shift_by_rates(self, labels: Labels) -> int:
        """Return the rates' shift in percentage points.

        >>> published_for("simulated-gpt-4o", "house-close").shift_by_rates(("new", "old"))
        30
        """
        return self.rates[labels] - self.rates[labels[::-1]]


@cache
def experiments() -> tuple[PublishedExperiment, ...]:
    """Return the paper's four experiments.

    >>> [(each.judge, each.dataset) for each in experiments()][:2]
    [('GPT-4o', 'ELI5'), ('Gemini-2.5-Flash', 'ELI5')]
    """
    return tuple(_experiment(table) for table in load_table("silent-judge")["experiments"])


def published_for(judge: str, dataset: str) -> PublishedExperiment | None:
    """Return a judge's experiment, or None.

    >>> published_for("simulated-faithful", "house-close")
    """
    return next((each for each in experiments() if each.recorded.get(judge) == dataset), None)


def _experiment(table: Mapping[str, Any]) -> PublishedExperiment:
    numbers = {
        key: MappingProxyType({_labels(name): value for name, value in table[key].items()})
        for key in ("rates", "shifts")
    }
    return PublishedExperiment(**{**table, "recorded": MappingProxyType(table["recorded"]), **numbers})


def _labels(name: str) -> Labels:
    first, second = name.split("-")
    return first, second
