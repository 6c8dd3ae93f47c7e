"""Loader of jinja2 templates that stand beside the code."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load_template(path: Path, **filters: Callable[..., object]) -> Any:
    """Return the template of a file with filters of its own; a name that is missing is an error, no line is added."""
    import jinja2

    made = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= filters
    return made.from_string(path.read_text(encoding="utf-8"))
