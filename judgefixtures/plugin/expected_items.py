"""Expected items: the judge items that a run has to report."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from judgefixtures.util.errors import JudgeFixturesError

from .items import expected_keys, subject_by_name
from .session_setup import session_setup


class ExpectedItems:
    """The collected items with their repeats, and collection errors."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collected: list[str] = []  # by a worker, and so by all of them
        self._workers: list[Any] = []
        self.copies = 1  # under --dist each, every worker runs every item
        self.is_complete = False  # all that is to run is known
        self.uncollected: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Record xdist's workers, whose final output has their notes."""
        self._workers.append(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Record how often xdist runs each item."""
        if self._config.option.dist == "each":
            self.copies = len(specs)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Record the expected items from a worker."""
        self._collected, self.is_complete = list(ids), True

    def pytest_collection_finish(self) -> None:
        """Record that collection ended."""
        self.is_complete = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record collection errors, which hide judge items."""
        if report.failed:
            self.uncollected.append(report.nodeid or "the session")

    def last_words(self, what: str) -> Iterator[Any]:
        """Yield the final output of each worker."""
        for output in (getattr(worker, "workeroutput", {}) for worker in self._workers):
            if (key := f"judgefixtures_{what}") in output:
                yield output[key]

    def awaited(self, session: pytest.Session) -> dict[str, tuple[str, str]]:
        """Return report key and name of each expected test by id.

        Without worker output they are read from the ids.
        """
        if not self._collected:
            return expected_keys(session.items)
        if noted := list(self.last_words("items")):
            return {name: tuple(known) for each in noted for name, known in each.items() if name in self._collected}
        try:
            setup = session_setup(self._config)
        except JudgeFixturesError:  # this project has no judges
            return {}
        names = {name: names_by_test_id(name) for name in self._collected if name.endswith("]")}
        return {name: known for name, known in names.items() if subject_by_name(known[1], setup) is not None}


def names_by_test_id(name: str) -> tuple[str, str]:
    """Return report key and name from a test's id."""
    test, _, called = name.partition("[")
    called = called.removesuffix("]")
    return f"{test}[{called} ]", called
