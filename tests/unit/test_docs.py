"""What the documentation says: names, links, and what changed.

Its blocks of code are run in test_blocks.py.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from support.forked import gate_here
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

import judgefixtures
from judgefixtures.cli.main import main
from judgefixtures.statistics.estimate import Status

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PACKAGE = REPOSITORY / "judgefixtures"
PAGES = sorted([*DOCS.rglob("*.md"), *REPOSITORY.glob("*.md"), *REPOSITORY.glob("examples/*/README.md")])
# What the reference takes to be known.
PUBLIC_WORDS = (
    *("pair", "cue", "condition", "contrast", "judge", "identity", "verdict", "judgment", "recording", "cassette"),
    *("estimate", "VSR", "net shift", "CAR", "control", "gate", "swap"),
)
LINK = re.compile(r"(?:\]\(|<(?:img|source) [^>]*?src(?:set)?=\")([^)#\"]+?)(?:#[^)]*)?[)\"]")


@pytest.mark.slow
@pytest.mark.whole
def test_a_script_measures_what_pytest_measures(tmp_path: Path) -> None:
    """`Run.gate` finds the rows that the pytest item of that name reports, to the digit."""
    chosen = ("-k", "house-close-recency or house-qa-accuracy", "--judge", "simulated-gpt-4o")
    gate_here(*chosen, "--judge-report", tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    with judgefixtures.Run.from_config(REPOSITORY / "pyproject.toml") as run:
        shift = run.gate("recency-new-old", judge="simulated-gpt-4o", dataset="house-close")
        right = run.gate("accuracy", judge=run.judge("simulated-gpt-4o"), dataset="house-qa")
    (row,) = report["contrasts"]
    assert shift.estimate is not None
    assert shift.estimate.value == row["vsr"]["value"]
    assert shift.estimate.low == pytest.approx(row["vsr"]["low"], rel=1e-11)
    assert (str(shift.status), shift.rows["contrasts"][0].message) == (row["status"], row["message"])
    assert right.rows["accuracy"][0].correct == report["accuracy"][0]["correct"]


def test_an_unknown_check_is_told(snapshot: SnapshotAssertion) -> None:
    """A name that no item has is an error that lists the names there are."""
    with judgefixtures.Run.from_config(None) as run, pytest.raises(judgefixtures.JudgeFixturesError) as error:
        run.gate("recency-old-new", judge="simulated-faithful", dataset="house-qa")
    assert str(error.value) == snapshot


@pytest.mark.parametrize("name", judgefixtures.__all__)
def test_the_package_offers_its_names(name: str) -> None:
    """Every name of __all__ can be had from the package, and is the one of its own room."""
    assert getattr(judgefixtures, name) is not None
    assert name in dir(judgefixtures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_links_point_at_what_is_there(page: Path) -> None:
    """Every relative link of a page, and every picture, is a file of the repository."""
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_links_point_at_headings_that_are_there(page: Path) -> None:
    """Behind the `#` of a link stands a heading of that page, as GitHub spells it."""
    found = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text())
    assert [
        (target, name) for target, name in found if name not in anchors(page.parent / target if target else page)
    ] == []


def test_pages_that_the_code_names_are_there() -> None:
    """A docstring or message that sends somebody to a page of docs names one that exists."""
    texts = [path.read_text("utf-8") for kind in ("*.py", "*.jinja", "*.toml") for path in PACKAGE.rglob(kind)]
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.md", text)}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (REPOSITORY / name).exists()] == []


def anchors(page: Path) -> set[str]:
    """Return what a page's headings are called in links."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def glossary() -> list[str]:
    """Return the words of the glossary, as its lines begin."""
    return re.findall(r"^- \[(.+?)\]", (DOCS / "glossary.md").read_text(), re.MULTILINE)


def test_the_glossary_has_each_word_once_in_order() -> None:
    """Its words are sorted, whatever their case, and none is explained twice."""
    words = glossary()
    assert words == sorted(words, key=str.lower)
    single = [each.strip().lower() for word in words for each in word.split(",")]
    assert len(single) == len({*single})


def test_the_glossary_has_the_words_of_the_reference() -> None:
    """Each word that the reference uses without explaining it, and each status, is in the glossary."""
    words = {each.strip() for word in glossary() for each in word.split(",")}
    assert {*PUBLIC_WORDS, *Status} - words == set()


def test_the_changelog_begins_with_what_comes_and_the_version() -> None:
    """First *Unreleased*, then the version of pyproject.toml, then older ones, each with its day."""
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    first, *released = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert first == "Unreleased"
    assert [re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", each) is not None for each in released] == [True] * 2
    versions = [tuple(map(int, each.split()[0].split("."))) for each in released]
    assert versions == sorted(versions, reverse=True)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert released[0].split()[0] == project["version"]
    assert {*re.findall(r"^### (.+)$", text, re.MULTILINE)} <= {
        "Added",
        "Changed",
        "Deprecated",
        "Removed",
        "Fixed",
        "Security",
    }


def test_the_version_is_looked_up() -> None:
    """`judgefixtures.__version__` is the version of pyproject.toml: where it is not, install the checkout again."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert judgefixtures.__version__ == project["version"]


def test_the_version_of_a_folder_is_not_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Where the package is not installed, that is said in a sentence, and exit code 2."""
    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert main(["--version"]) == 2
    assert lines_about(capsys.readouterr().err, "installed: install") == snapshot


def missing(name: str) -> str:
    """Say that a distribution is not installed."""
    raise importlib.metadata.PackageNotFoundError(name)


def test_lowest_versions_are_the_lower_bounds() -> None:
    """`make lowest` installs of every dependency, and of every tool, the lowest version that pyproject.toml allows."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    allowed = [Requirement(each) for each in (*project["dependencies"], *extras["claude"], *extras["dev"])]
    lines = (REPOSITORY / "constraints-lowest.txt").read_text().splitlines()
    pinned = {canonicalize_name(each.name): each.specifier for each in map(Requirement, filter(_is_pin, lines))}
    for each in allowed:
        if each.name == "judgefixtures":
            continue
        (lowest,) = (Version(part.version) for part in each.specifier if part.operator == ">=")
        (version,) = (Version(part.version) for part in pinned[canonicalize_name(each.name)])
        assert version == lowest, each


def _is_pin(line: str) -> bool:
    return not line.startswith("#")
