"""How the site is built: README.md and the pages of docs/ as they stand, by Sphinx with MyST. `make docs` runs it.

The sources are the repository's folder, so that every link between pages is the same here and where the repository is
read. The navigation is the list of docs/index.md. Nothing of the site is loaded from elsewhere.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

project = "judgefixtures"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "benchmarks/results.md", "examples/*/README.md"]
exclude_patterns = [".*", "**/.*", "build", "cassettes", "dist", "report", "tests", "**/cassettes", "**/wheels"]
nitpicky = True
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "judgefixtures"
html_use_index = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "default"

GROUP = re.compile(r"^- \*\*(.+?)\*\*: (.+?)(?=^- |\Z)", re.MULTILINE | re.DOTALL)
PAGE = re.compile(r"\]\((.+?)\.md\)")


def index_of(index: str) -> list[tuple[str, list[str]]]:
    """Return the groups of docs/index.md with their pages, as paths from the repository's folder."""
    return [
        (name, [posixpath.normpath(posixpath.join("docs", page)) for page in PAGE.findall(pages)])
        for name, pages in GROUP.findall(index)
    ]


def add_navigation(app: Any, page: str, source: list[str]) -> None:
    """Make the list of docs/index.md the site's navigation."""
    if page == app.config.root_doc:
        index = Path(__file__).with_name("index.md").read_text(encoding="utf-8")
        for name, pages in [("Start", ["docs/index"]), *index_of(index)]:
            source[0] += "\n```{toctree}\n:hidden:\n:caption: " + name + "\n\n" + "\n".join(pages) + "\n```\n"


def add_index(app: Any, failure: Exception | None) -> None:
    """Let the site begin at index.html."""
    if failure is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> None:
    """Tell Sphinx of both."""
    app.connect("source-read", add_navigation)
    app.connect("build-finished", add_index)
