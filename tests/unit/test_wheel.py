"""The built package: what is in the wheel, and that a repository gates its judge with nothing but that installed."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import trove_classifiers
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.demo import demo_recordings
from judgefixtures.simulator.server import serving

pytestmark = pytest.mark.whole

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "judgefixtures"


def alone(path: Path | None) -> dict[str, str]:
    """Return an environment without what a run of pytest sets; with `path`, that folder is where packages come from."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    return kept | ({} if path is None else {"PYTHONPATH": str(path)})


def run(*command: str | Path, cwd: Path, path: Path | None = None) -> str:
    """Run a command of this Python and return what it said; with `path`, that folder is where packages come from."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=cwd,
        env=alone(path),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def built(kind: str, source: Path, into: Path) -> Path:
    """Build a wheel or an sdist, without network, and return it."""
    run("hatchling", "build", "-t", kind, "-d", into, cwd=source)
    (found,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return built("wheel", REPOSITORY, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it, without what it depends on: that is in this environment."""
    folder = tmp_path_factory.mktemp("installed")
    run("pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel, cwd=folder)
    return folder


def contents(wheel: Path) -> set[str]:
    """Return the names of a wheel's files, without its metadata."""
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """Code, data, templates, the type marker, the modules that init writes, what the demo replays; no more."""
    package = {
        path.relative_to(REPOSITORY).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    suite = {f"judgefixtures/cli/judge/{path.name}" for path in (REPOSITORY / "tests" / "judge").glob("*.py")}
    replayed = {f"judgefixtures/cli/cassettes/{place.as_posix()}" for place in demo_recordings()}
    assert contents(wheel) == package | suite | replayed
    for name in (
        "builtin.toml",
        "py.typed",
        "data/house-qa.jsonl",
        "data/house-close.jsonl",
        "sources/known_sources.toml",
        "data/house-close.reading.jsonl",
        "templates/silent-judge.txt",
        "cli/configuration.toml.jinja",
    ):
        assert f"judgefixtures/{name}" in package


def test_the_metadata_is_valid(wheel: Path) -> None:
    """It says what pyproject.toml says, in classifiers that exist, and names no address: there is none."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        told = Metadata.from_email(archive.read(name), validate=True)
    written = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert (told.name, str(told.version)) == (written["name"], written["version"])
    assert (told.license_expression, told.license_files) == ("MIT", ["LICENSE"])
    assert told.classifiers
    assert {*told.classifiers} == {*written["classifiers"]} <= trove_classifiers.classifiers
    assert {*told.keywords} == {*written["keywords"]}
    assert {*told.provides_extra} == {*written["optional-dependencies"]}
    needed = [each for each in told.requires_dist if each.marker is None]
    assert sorted(map(str, needed)) == sorted(str(Requirement(each)) for each in written["dependencies"])
    assert not {"anthropic", "statsmodels"} & {each.name for each in needed}
    assert not told.project_urls
    assert not told.home_page


def test_the_version_is_that_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    """`--version` and `__version__` say what is installed."""
    written = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert run("judgefixtures", "--version", cwd=tmp_path, path=installed) == f"judgefixtures {written}\n"


def test_the_command_has_a_script_of_its_own(wheel: Path, installed: Path, tmp_path: Path) -> None:
    """The wheel's console script is the same command, and the module calls itself by the script's name."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/entry_points.txt"))
        written = configparser.ConfigParser()
        written.read_string(archive.read(name).decode())
    assert dict(written["console_scripts"]) == {"judgefixtures": "judgefixtures.cli.main:run"}
    assert dict(written["pytest11"]) == {"judgefixtures": "judgefixtures.plugin"}
    script = installed / "bin" / "judgefixtures"
    done = subprocess.run(
        [script, "--help"], cwd=tmp_path, text=True, capture_output=True, check=True, env=alone(installed)
    )
    assert done.stdout == run("judgefixtures", "--help", cwd=tmp_path, path=installed)
    assert done.stdout.startswith("usage: judgefixtures [-h]")
    wrong = subprocess.run(
        [script, "init", "nowhere/at/all"], cwd=tmp_path, capture_output=True, check=False, env=alone(installed)
    )
    assert wrong.returncode == 2


@pytest.mark.slow
def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """A wheel from the source distribution holds the same files: nothing is lost on the way, and nothing huge is there."""
    sdist = built("sdist", REPOSITORY, tmp_path / "sdist")
    assert sdist.stat().st_size < 12 * 10**6
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert contents(built("wheel", source, tmp_path / "again")) == contents(wheel)
    inside = {name.split("/")[1] for name in names if "/" in name}
    assert {"judgefixtures", "tests", "docs", "cassettes", "LICENSE", "CHANGELOG.md"} <= inside  # what a gate needs
    assert not {".venv", ".venv-lowest", ".git", ".mypy_cache", ".pytest_cache", "report", "wheels"} & inside


@pytest.mark.slow
def test_a_repository_gates_its_judge_with_the_wheel_alone(
    installed: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """In an empty folder: init, record from a server on this machine, then replay the gate without any server."""
    where = run("judgefixtures", "--help", cwd=tmp_path, path=installed)
    assert "init" in where
    run("judgefixtures", "init", cwd=tmp_path, path=installed)
    file = tmp_path / "pyproject.toml"
    text = file.read_text().replace('"gpt-4o-2024-11-20"', '"simulated-faithful"')
    with serving() as server:
        file.write_text(text.replace('# base_url = "http://127.0.0.1:8080', f'base_url = "{server.url}'))
        recorded = run("pytest", "-k", "recency", "--judge-record", "missing", cwd=tmp_path, path=installed)
        asked = server.requests
    assert "2 passed" in recorded  # answers and stories
    assert asked == 2 * (100 * 2 + 30 * 2)  # of each 100 close pairs both ways round; the control's clear pairs
    code = "import judgefixtures.plugin as p\ndef pytest_report_header(config): return f'ours: {p.__file__}'\n"
    (tmp_path / "conftest.py").write_text(code)
    replayed = run("pytest", "-k", "recency", cwd=tmp_path, path=installed)
    for said in (recorded, replayed):
        assert lines_about(said, "of production") == snapshot
    assert "2 passed" in replayed
    assert f"ours: {installed / 'judgefixtures'}" in replayed


@pytest.mark.slow
def test_the_demo_is_the_same_with_the_wheel_alone(
    installed: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """In an empty folder, from the recordings that the wheel carries, it says to the letter what a checkout says."""
    shown = {}
    for name, package in (("wheel", installed), ("checkout", REPOSITORY)):
        (tmp_path / name).mkdir()
        shown[name] = run("judgefixtures", "demo", cwd=tmp_path / name, path=package)
    assert lines_about(" ".join(shown["wheel"].split()), "replace simulated-faithful") == snapshot
    assert shown["wheel"] == shown["checkout"]
