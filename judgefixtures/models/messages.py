"""Messages of a package, with the filters that all of them share."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from judgefixtures.util.jinja import Messages
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names


@cache
def shared_filters() -> Mapping[str, Callable[..., object]]:
    """Return the filters; the plugin loads its messages at start-up, without statistics."""
    from judgefixtures.statistics.estimate import format_estimate, format_share, format_signed, interval_text, pluralize

    return {
        "share": format_share,
        "signed": format_signed,
        "estimate": format_estimate,
        "share_estimate": lambda estimate: format_estimate(estimate, format_share),
        "interval": interval_text,
        "ci": interval_text,
        "count": lambda estimate: round(estimate.value * estimate.n),
        "counted": lambda estimate: f"{round(estimate.value * estimate.n)} of {estimate.n}",
        "plural": pluralize,
        "names": join_names,
        "repr": repr,
        "g": lambda number: f"{number:g}",
        "word": lambda key, table: load_table("checks")[table].get(key),
    }


def load_messages(module: str, **filters: Callable[..., object]) -> Messages:
    """Return the messages beside a module, in NAME.txt.jinja, with filters of its own."""
    return Messages(Path(module).with_suffix(".txt.jinja"), lambda: {**shared_filters(), **filters})
