"""What holds for all unit tests: a slow machine is not a failure, and what takes long is marked."""

import gc
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Test modules are imported from their files (--import-mode=importlib), which puts no folder on the path. At its end:
# what a test's own project calls by the same name comes first.
sys.path += [str(Path(__file__).parent), *(str(Path(__file__).parents[2] / name) for name in ("benchmarks", "tools"))]
pytest.register_assert_rewrite("support")

from support.asking import quick_and_alone  # noqa: E402, F401 (a fixture, for modules that name it in usefixtures)
from support.preloaded import import_everything, read_no_certificates, wait_for_no_disk  # noqa: E402
from support.rendered import snapshot  # noqa: E402, F401 (a fixture)

from judgefixtures.util import secrets  # noqa: E402

read_no_certificates()
wait_for_no_disk()
gc.disable()  # until all is collected

SAMPLED = 10  # of the cases of a test that is `whole`, unless it says otherwise: each tenth is in `make test`


@pytest.fixture(autouse=True)
def _own_secrets() -> Iterator[None]:
    """No test knows the keys of another one: what looks like one of theirs would be scrubbed in it."""
    before, secrets._KNOWN = secrets._KNOWN, secrets.SecretStore()
    yield
    secrets._KNOWN = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs pytest or asks a server, and what `make test` leaves out of many cases."""
    seen: Counter[str] = Counter()
    for item in items:
        if {"pytester", "quick_and_alone"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker("whole")
        sampled = item.get_closest_marker("sampled")
        step = sampled.args[0] if sampled else SAMPLED if item.get_closest_marker("whole") else 1
        test = item.nodeid.partition("[")[0]
        if seen[test] % step:
            item.add_marker("slow")
        seen[test] += 1


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import once what each run of pytest inside of a test needs, and never look for garbage in what is there by now.

    The items stay, and such runs look for garbage often.
    """
    if any("pytester" in getattr(item, "fixturenames", ()) for item in session.items):
        import_everything()
    gc.freeze()
    gc.enable()
