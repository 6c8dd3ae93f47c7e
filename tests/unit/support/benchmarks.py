"""The scripts of benchmarks/ as modules: they are no package, and their simulated judges serve tests, too."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from typing import Any

from support.project import REPOSITORY


@cache
def benchmark(name: str) -> Any:
    """Return benchmarks/NAME.py."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", REPOSITORY / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
