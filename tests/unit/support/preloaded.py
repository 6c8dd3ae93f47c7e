"""What is imported once: in a process that forks runs of pytest, and where they run inside of a test.

Pytest forgets after a run inside of a test what that run imported: what is named here is not imported again each time.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import ssl

HEAVY = (
    "anthropic.resources.beta",
    "anthropic.resources.messages",
    "anyio.abc",
    "anyio._backends._asyncio",
    "execnet.gateway_io",
    "filelock",
    "genai_prices",
    "google.genai",
    "h11",
    "httpcore2",
    "httpx",
    "httpx2",
    "jinja2",
    "jiter",
    "openai.resources.batches",
    "openai.resources.chat.completions",
    "openai.resources.files",
    "pydantic.root_model",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "truststore",
    "vcr.cassette",
    "vcr.stubs.httpx_stubs",
    "xdist.dsession",
    "xdist.looponfail",
    "xdist.plugin",
    "xdist.remote",
)


def import_everything() -> None:
    """Import the package, but for its programs, and what it imports when it is needed."""
    package = importlib.import_module("judgefixtures")
    rooms = [module.name for module in pkgutil.walk_packages(package.__path__, "judgefixtures.")]
    there = (name for name in HEAVY if importlib.util.find_spec(name.partition(".")[0]))  # older releases lack some
    for name in (*there, *(name for name in rooms if not name.endswith("__main__"))):
        importlib.import_module(name)


def read_no_certificates() -> None:
    """Let clients be made without the world's certificates, a tenth of a second each: nothing here verifies one."""
    ssl.SSLContext.load_verify_locations = lambda *_args, **_more: None  # type: ignore[method-assign]


def wait_for_no_disk() -> None:
    """Let nothing be forced onto the disk, some milliseconds each time: tests kill processes, and cut no power."""
    os.fsync = lambda _: None
