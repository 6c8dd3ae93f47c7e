"""Tables and figure of arXiv 2509.26072 from recordings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.report.exit_code import decide_exit_code
from judgefixtures.util.errors import JudgeFixturesError

from .figure import NAMES, draw_figure
from .markdown import describe_paper, paper_page
from .replication import PaperCell, PaperResults, measure_paper, open_run

__all__ = ["PaperCell", "PaperResults", "WrittenPaper", "measure_paper", "open_run", "write_paper"]

PAGE = "paper.md"


@dataclass(frozen=True, slots=True)
class WrittenPaper:
    """The written files, terminal lines and exit code."""

    files: tuple[Path, ...]
    lines: tuple[str, ...]
    trouble: str
    exit_code: int


def write_paper(paper: PaperResults, folder: Path) -> WrittenPaper:
    """Write paper.md, figure-1.svg and figure-1.png into a folder.

    Exit codes: 0 equal, 1 another number than published, 10 not measured, 2 no figure.

    Raises:
        JudgeFixturesError: The folder is unwritable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:  # of an earlier run: where none is drawn now, the page would stand beside another's figure
            (folder / name).unlink(missing_ok=True)
        pictures, trouble = _drawn(paper, folder)
        written = folder / PAGE
        written.write_text(paper_page(paper, [path.name for path in pictures], trouble), encoding="utf-8")
    except OSError as error:
        raise JudgeFixturesError(
            f"cannot write the paper's tables to {folder}: {error.strerror}. Name another folder with --into."
        ) from None
    code = decide_exit_code(failed=bool(paper.differing), unmeasured=bool(paper.is_lacking), mistake=bool(trouble))
    return WrittenPaper((written, *pictures), tuple(describe_paper(paper)), trouble, code)


def _drawn(paper: PaperResults, folder: Path) -> tuple[Sequence[Path], str]:
    try:
        return draw_figure(paper.measured("recency"), folder), ""
    except JudgeFixturesError as error:
        return (), str(error)
