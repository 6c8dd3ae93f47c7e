"""Figure 1: the shift from the labels new and old, by judge and dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgefixtures.checks.formatting import shorten
from judgefixtures.util.errors import JudgeFixturesError

from .replication import PaperCell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("figure-1.svg", "figure-1.png")
LACKING = (
    "Figure 1 is missing because matplotlib is not installed: run `pip install 'judgefixtures[paper]'`. All tables are "
    "written."
)
FONT = {"font.family": "DejaVu Sans", "font.size": 9.0}
SETTINGS: dict[Any, Any] = {"svg.hashsalt": "judgefixtures", "svg.fonttype": "path", **FONT}
# Neither the day nor the version of matplotlib is in a file.
METADATA = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}
TITLE = "Figure 1. How far verdicts move when the labels new and old change places"
WIDTH, ROW, FRAME = 7.2, 0.55, 1.5  # inches: of the picture, of a judge on a dataset, of title, legend and axis
MEASURED, PUBLISHED = "#1f4e79", "#b35900"
LONGEST = 40  # characters of a name: a longer one would leave no room for the picture
ABOVE = 0.22  # a published number stands above the measured one, in rows


def draw_figure(cells: Sequence[PaperCell], folder: Path) -> tuple[Path, ...]:
    """Draw Figure 1 as SVG and PNG and return the files.

    Raises:
        JudgeFixturesError: matplotlib is not installed.
    """
    if not cells:
        return ()
    try:
        from matplotlib import rc_context, rcdefaults, rcParams
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise JudgeFixturesError(LACKING) from None
    paths = tuple(folder / name for name in NAMES)
    with rc_context():
        rcdefaults()  # whatever style somebody has set up for other pictures
        rcParams.update(SETTINGS)
        figure = Figure(figsize=(WIDTH, FRAME + ROW * len(cells)), layout="constrained")
        _fill(figure.subplots(), cells)
        figure.suptitle(TITLE, x=0.01, ha="left", fontsize=10)  # above the axes alone it would be cut off
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        for path in paths:
            figure.savefig(path, dpi=160, metadata=METADATA[path.suffix])
    return paths


def _fill(axes: Axes, cells: Sequence[PaperCell]) -> None:
    for row, cell in enumerate(cells):
        if cell.vsr is None:
            continue
        value, low, high = (100 * number for number in (cell.vsr.value, cell.vsr.low, cell.vsr.high))
        label = "measured, with its interval" if row == 0 else None
        ends = [[value - low], [high - value]]
        axes.errorbar(value, row, xerr=ends, fmt="o", color=MEASURED, capsize=4, label=label)
        axes.annotate(_points(value), (high, row), xytext=(8, 0), textcoords="offset points", va="center")
    published = [(cell.published_vsr, row - ABOVE) for row, cell in enumerate(cells) if cell.published_vsr is not None]
    if published:
        label = "published (arXiv 2509.26072)"
        axes.plot(*zip(*published, strict=True), "D", mfc="white", mec=PUBLISHED, label=label)
    axes.axvline(0, color="0.4", linewidth=0.8)
    axes.set_yticks(range(len(cells)), [_name(cell) for cell in cells])
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.grid(axis="x", color="0.88")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(_axis(cells))


def _name(cell: PaperCell) -> str:
    experiment = cell.of.experiment
    stands = f" (for {experiment.dataset})" if experiment and cell.of.is_simulated else ""
    return f"{shorten(cell.of.name, LONGEST)}\n{shorten(cell.of.dataset, LONGEST)}{stands}"


def _points(value: float) -> str:
    return f"{value:+.3g}" if round(value, 9) else "0"


def _axis(cells: Sequence[PaperCell]) -> str:
    levels = sorted({f"{100 * cell.vsr.confidence:.10g}%" for cell in cells if cell.vsr})
    return f"VSR of new/old in percentage points, {' and '.join(levels)} intervals; above 0: new is preferred"
