"""Old names in a module: they work and warn."""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def old_names(module: str, new_names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose old names stand for new ones."""

    def of_module(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is now {new_names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], new_names[name])

    return of_module
