"""How the site is built: README.md and the pages of docs/ as they stand, by Sphinx with MyST. `make docs` runs it.

The sources are the repository's folder, so that every link between pages is the same here and where the repository is
read. The navigation is README's own index: the lists below *Pages*. Nothing of the site is loaded from elsewhere.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

project = "judgefixtures"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/reference/*.md", "examples/*/README.md"]
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


def index_of(readme: str) -> list[tuple[str, list[str]]]:
    """Return the groups of README's index with their pages."""
    lists = readme.partition("\n## Pages\n")[2]
    return [(name, PAGE.findall(pages)) for name, pages in GROUP.findall(lists)]


def add_navigation(app: Any, page: str, source: list[str]) -> None:
    """Make README's index the site's navigation."""
    if page == app.config.root_doc:
        index = index_of(source[0])
        listed = {each for _, pages in index for each in pages}
        generated = [f"docs/reference/{file.stem}" for file in sorted(Path(__file__).parent.glob("reference/*.md"))]
        for name, pages in [*index, ("Lists", [each for each in generated if each not in listed])]:
            source[0] += "\n```{toctree}\n:hidden:\n:caption: " + name + "\n\n" + "\n".join(pages) + "\n```\n"


def add_index(app: Any, failure: Exception | None) -> None:
    """Let the site begin at index.html."""
    if failure is None and app.builder.name == "html":
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> None:
    """Tell Sphinx of both."""
    app.connect("source-read", add_navigation)
    app.connect("build-finished", add_index)
