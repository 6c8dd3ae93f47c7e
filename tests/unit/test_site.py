"""The documentation as a site: docs/index.md has every page, and what `make docs` builds loads nothing from elsewhere."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.pages import REPOSITORY

DOCS = REPOSITORY / "docs"
RESULTS = REPOSITORY / "benchmarks" / "results.md"
EXAMPLES = sorted((REPOSITORY / "examples").glob("*/README.md"))
PAGES = [page.relative_to(REPOSITORY).with_suffix("").as_posix() for page in [*DOCS.rglob("*.md"), RESULTS, *EXAMPLES]]
needs_sphinx = pytest.mark.skipif(
    find_spec("furo") is None or find_spec("myst_parser") is None, reason="pip install 'judgefixtures[docs]'"
)


class Loaded(HTMLParser):
    """The addresses that a page loads: of everything but links, which load only what a reader clicks."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag names, unless it is a link."""
        named = [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset", "data", "poster")]
        self.addresses += named if tag != "a" else []


def loaded(site: Path) -> Iterator[str]:
    """Yield what the pages and the style sheets of a site load."""
    for page in site.rglob("*.html"):
        reader = Loaded()
        reader.feed(page.read_text(encoding="utf-8"))
        yield from reader.addresses
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        yield from re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')]+)", text)


def build(sources: Path, into: Path) -> subprocess.CompletedProcess[str]:
    """Build the site with the command of `make docs`, to another folder."""
    (command,) = re.findall(r"sphinx-build (.+)", (REPOSITORY / "Makefile").read_text())
    words = command.replace("build/doctrees", str(into / "doctrees")).replace("build/site", str(into / "site")).split()
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words], cwd=sources, capture_output=True, text=True, check=False
    )


def test_the_index_has_every_page_once() -> None:
    """Each page of docs/ and each example's README is in one group of docs/index.md, which is the site's navigation."""
    index = runpy.run_path(str(DOCS / "conf.py"))["index_of"]((DOCS / "index.md").read_text())
    listed = [page for _, pages in index for page in pages]
    assert sorted(listed) == sorted({*PAGES, "CHANGELOG", "CONTRIBUTING"} - {"docs/index"})
    assert len(index) > 4


@needs_sphinx
@pytest.mark.whole
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Without a warning, each page is there, and fonts, styles, scripts and images come from its own folder."""
    done = build(REPOSITORY, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    site = tmp_path / "site"
    assert [page for page in [*PAGES, "README", "index"] if not (site / f"{page}.html").is_file()] == []
    addresses = {*loaded(site)}
    assert any(address.endswith("furo.css") or "furo.css?" in address for address in addresses)
    assert [each for each in addresses if "://" in each or each.startswith("//")] == []


@needs_sphinx
@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("# A page\n\n[gone](nothing.md)\n", "'nothing.md'"),
        ("# A page\n\n[gone](glossary.md#nothing)\n", "'nothing'"),
        ("# A page\n\n[gone](../examples/nothing.sh)\n", "nothing.sh"),
        ("# A page\n", "isn't included in any toctree"),
    ],
)
def test_a_link_that_leads_nowhere_ends_the_build(page: str, said: str, tmp_path: Path) -> None:
    """So does a page that docs/index.md does not have."""
    sources = tmp_path / "sources"
    shutil.copytree(DOCS, sources / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(REPOSITORY / name, sources)
    shutil.copytree(REPOSITORY / "benchmarks", sources / "benchmarks", ignore=shutil.ignore_patterns("*.py", "__*"))
    shutil.copytree(REPOSITORY / "examples", sources / "examples", ignore=shutil.ignore_patterns("cassettes"))
    (sources / "docs" / "page.md").write_text(page)
    done = build(sources, tmp_path)
    assert done.returncode != 0
    assert re.search(rf"page\.md:?\d*: WARNING: .*({said})", done.stderr)
