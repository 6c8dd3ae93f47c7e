"""Expected items: the judge items that a run has to report, from its own collection or xdist's workers."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from judgefixtures.util.errors import JudgeFixturesError

from .items import expected_keys, subject_by_name
from .session_setup import session_setup


class ExpectedItems:
    """Knows what was collected, by whom, how often each item is to run, and what could not be collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collected: list[str] = []  # by a worker, and so by all of them
        self._workers: list[Any] = []
        self.copies = 1  # under --dist each, every worker runs every item
        self.is_complete = False  # all that is to run is known
        self.uncollected: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Remember xdist's workers: when Ctrl-C ends them their notes come with their last words, in no report."""
        self._workers.append(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Remember how often xdist is to run each item."""
        if self._config.option.dist == "each":
            self.copies = len(specs)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember what is to be reported: the controller collects nothing itself."""
        self._collected, self.is_complete = list(ids), True

    def pytest_collection_finish(self) -> None:
        """Remember that all that is to run is known."""
        self.is_complete = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected: nobody knows which judge items it has."""
        if report.failed:
            self.uncollected.append(report.nodeid or "the session")

    def last_words(self, what: str) -> Iterator[Any]:
        """Yield what each of xdist's workers left of something at its end."""
        for output in (getattr(worker, "workeroutput", {}) for worker in self._workers):
            if (key := f"judgefixtures_{what}") in output:
                yield output[key]

    def awaited(self, session: pytest.Session) -> dict[str, tuple[str, str]]:
        """Return what is to come to a finding: by the test's id its key in the report, and what it is called.

        xdist's controller collects nothing itself: its workers say it at their end. Where none lived to see that, the
        ids have to do: those of judge items end in what they are about.
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
    """Return by a test's id what names it in the report, and what it is called: as far as an id can tell."""
    test, _, called = name.partition("[")
    called = called.removesuffix("]")
    return f"{test}[{called} ]", called
