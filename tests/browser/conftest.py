"""What the tests in a real browser share: Chromium, or one sentence that says what is missing."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

UNIT = Path(__file__).parents[1] / "unit"
sys.path.append(str(UNIT))  # `support`: test modules are imported from their files, which puts no folder on the path

from support.benchmarks import benchmark  # noqa: E402


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium; without one the tests fail, as whoever runs them wants to know."""
    if sentence := benchmark("page").lacking():
        pytest.fail(sentence, pytrace=False)
    with benchmark("page").chromium() as driver:
        yield driver
