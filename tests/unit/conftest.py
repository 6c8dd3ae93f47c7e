"""What holds for all unit tests: a slow machine is not a failure, and what takes long is marked."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs pytest inside of a test: `-m "not whole"` is for the minutes between two edits."""
    for item in items:
        if "pytester" in getattr(item, "fixturenames", ()):
            item.add_marker("whole")
