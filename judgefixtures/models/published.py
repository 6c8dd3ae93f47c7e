"""Published numbers of arXiv 2509.26072, read from data/silent-judge.toml.

The simulated judges answer at these rates, and `judgefixtures paper` compares recordings with them.
"""

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
    """One judge of the paper on one of its datasets: `rates` and `shifts` in percent, by the labels of both responses.

    `recorded` are the judges whose recordings stand for it, each with its dataset. `model` is the judge as the
    built-in configuration names it.
    """

    judge: str
    model: str
    dataset: str
    content_type: str
    recorded: Mapping[str, str]
    rates: Percent
    shifts: Percent

    def shift_by_rates(self, labels: Labels) -> int:
        """Return the shift that the published rates amount to, in points of percent.

        >>> published_for("simulated-gpt-4o", "house-close").shift_by_rates(("new", "old"))
        30
        """
        return self.rates[labels] - self.rates[labels[::-1]]


@cache
def experiments() -> tuple[PublishedExperiment, ...]:
    """Return the four experiments of the paper, answers first.

    >>> [(each.judge, each.dataset) for each in experiments()][:2]
    [('GPT-4o', 'ELI5'), ('Gemini-2.5-Flash', 'ELI5')]
    """
    return tuple(_experiment(table) for table in load_table("silent-judge")["experiments"])


def published_for(judge: str, dataset: str) -> PublishedExperiment | None:
    """Return the experiment that a judge's recordings of a dataset stand for; None of those that stand for none.

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
