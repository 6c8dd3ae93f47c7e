"""`judgefixtures demo`: it runs anywhere, asks nobody, and says what pytest found and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

import judgefixtures
from judgefixtures.cli.demo import ACTS, FOOLED, STEADY, DemoRun, demo_recordings, run_demo
from judgefixtures.cli.main import main
from judgefixtures.statistics.estimate import format_share, format_signed

pytestmark = pytest.mark.whole

REPOSITORY = Path(__file__).parents[2]
# Python runs it in every process of the demo: what reaches for the network is noted, and fails.
WATCH = """
import os, sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["WATCHED"], "a") as file:
            print(event, arguments[1:], file=file)
        raise OSError("there is no network")

sys.addaudithook(watch)
with open(os.environ["WATCHED"], "a") as file:
    print("watching", os.path.basename(sys.orig_argv[2]), file=file)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, list[str]]:
    """What the command says in an empty folder, the folder that it writes, and what its processes did on the network.

    GitHub's variables and options of pytest are set around it: they are not the demo's.
    """
    place = tmp_path_factory.mktemp("empty")
    watch = tmp_path_factory.mktemp("watch")
    (watch / "sitecustomize.py").write_text(WATCH)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTHONPATH": f"{watch}{os.pathsep}{REPOSITORY}",
        "WATCHED": str(watch / "seen"),
        "PYTEST_ADDOPTS": "--no-such-option",
        "GITHUB_STEP_SUMMARY": str(watch / "summary"),
    }
    command = [sys.executable, "-m", "judgefixtures", "demo"]
    done = subprocess.run(command, cwd=place, env=environment, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (watch / "summary").exists()
    assert [path.name for path in place.iterdir()] == ["judgefixtures-demo"]
    return done.stdout, place / "judgefixtures-demo", (watch / "seen").read_text().splitlines()


def sentences(text: str) -> dict[int, str]:
    """Return the numbered sentences of the demo, each in one line."""
    parts = re.split(r"^ ?(\d+)\. ", text.partition("\n\nReports")[0], flags=re.M)[1:]
    return {int(number): " ".join(said.split()) for number, said in zip(parts[::2], parts[1::2], strict=True)}


def report(folder: Path, act: DemoRun) -> dict[str, object]:
    """Return the report.json of an act."""
    return json.loads((folder / act.report / "report.json").read_text())


def test_it_shows_both_judges_and_a_swap_each_way(shown, snapshot: SnapshotAssertion) -> None:
    """One judge fails, the other passes; in place of one another the first is rejected and the second approved."""
    text, folder, _ = shown
    said = sentences(text)
    assert list(said) == list(range(1, 11))
    assert lines_about(said[6], "a simulated") == snapshot
    assert lines_about(said[7], "a simulated") == snapshot
    assert f"REJECT: {FOOLED} must not replace {STEADY}" in said[8]
    assert f"APPROVE: {STEADY} may replace {FOOLED}" in said[9]
    assert lines_about(said[10], "pytest ended") == snapshot
    for act in ACTS:
        page = folder / act.report / "report.html"
        assert f"  {page.relative_to(folder.parent)}\n" in text
        assert act.judge in page.read_text()
    assert max(map(len, text.splitlines())) <= 100


def test_its_judges_are_called_simulated(shown, snapshot: SnapshotAssertion) -> None:
    """Before any number it says that the judges are nobody's model, and every judge in it has a name that says so."""
    text, _, _ = shown
    opening, _, rest = " ".join(text.split()).partition(" 1. ")
    assert lines_about(opening, "simulated judges") == snapshot
    assert not re.findall(r"(?<!simulated-)\b(?:silent|faithful)\b", rest)


def test_its_numbers_are_those_of_its_reports(shown, snapshot: SnapshotAssertion) -> None:
    """Counts, shifts, intervals, limits and margins in the sentences are in the report.json that pytest wrote."""
    text, folder, _ = shown
    said = sentences(text)
    fooled, steady = (report(folder, act) for act in ACTS)
    for found, numbers in ((fooled, (3, 4)), (steady, (7, 7))):
        answers, stories = found["contrasts"]
        changed, shifted = (said[number] for number in numbers)
        for row, phrase in ((answers, "{} of 100 pairs"), (stories, "(stories: {} of 100)")):
            assert phrase.format(row["n10"] + row["n01"]) in changed
        vsr = answers["vsr"]
        assert (
            f"{format_signed(vsr['value'])} (90% CI {format_share(vsr['low'])} to {format_share(vsr['high'])})"
            in shifted
        )
    row = fooled["contrasts"][0]
    assert f"The limit is {format_share(row['tolerance'])}" in said[4]
    assert lines_about(said[5], "CAR") == snapshot
    assert row["sentences"]["x"] in said[2]
    assert row["sentences"]["y"] in said[2]
    right = [row for found in (fooled, steady) for row in found["accuracy"] if row["category"] == "all"]
    assert [(row["judge"], row["dataset"]) for row in right] == [
        (judge, dataset) for judge in (FOOLED, STEADY) for dataset in ("house-qa", "house-stories")
    ]
    assert re.findall(r"\d+ of \d+", said[1]) == [f"{row['correct']} of {row['n']}" for row in right]
    worse = [
        part for part in fooled["decision"]["components"] if part["role"] == "primary" and part["status"] != "PASS"
    ]
    assert len(worse) == said[8].count("margin 0.")
    assert all(f"({format_signed(part['value'])}, margin {format_share(part['margin'])})" in said[8] for part in worse)
    assert lines_about(said[9], "less than") == snapshot
    for found, number in ((fooled, 8), (steady, 9)):
        assert f"{found['decision']['status']}: " in said[number]


def test_its_numbers_are_those_of_an_ordinary_run(shown) -> None:
    """`Run.gate`, asked without the demo's folder of this repository's own recordings, finds the same."""
    _, folder, _ = shown
    with judgefixtures.Run.from_config(folder / "pyproject.toml", cassettes=REPOSITORY / "cassettes") as run:
        for act in ACTS:
            found = report(folder, act)
            for row in found["contrasts"]:
                own = run.gate(row["contrast"], judge=act.judge, dataset=row["dataset"])
                assert (str(own.status), own.estimate.value, own.text.partition("\n")[0].partition(": ")[2]) == (
                    row["status"],
                    row["vsr"]["value"],
                    row["text"],
                )


def test_nobody_is_asked(shown) -> None:
    """Neither the command nor the two runs of pytest reach for the network."""
    _, _, seen = shown
    assert [line for line in seen if not line.startswith("watching")] == []
    assert len(seen) >= 1 + len(ACTS)


@pytest.mark.slow
def test_it_is_a_repository_of_its_own(shown) -> None:
    """pytest of the repository around it runs nothing of it, and in its folder the printed command runs it again."""
    text, folder, _ = shown
    (folder.parent / "test_own.py").write_text("def test_own():\n    assert True\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    environment["PYTHONPATH"] = str(REPOSITORY)

    def ran(command: Sequence[str], place: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=place, env=environment, text=True, capture_output=True, check=False
        )
        return done.stdout

    assert "1 passed" in ran(["pytest", "-p", "no:cacheprovider"], folder.parent)
    printed = re.search(r"  cd judgefixtures-demo && (pytest .*)\n", text)
    assert printed
    assert "REJECT" in ran([*printed[1].split(), "-k", "recency"], folder)


@pytest.mark.slow
def test_it_can_be_shown_again(shown, capsys: pytest.CaptureFixture[str]) -> None:
    """Shown again into its own folder it says the same."""
    text, folder, _ = shown
    assert main(["demo", "--into", str(folder)]) == 0
    assert sentences(capsys.readouterr().out) == sentences(text)


@pytest.mark.parametrize(
    ("place", "content"), [("notes.txt", b"mine"), ("pyproject.toml", b"[project]\n"), ("report/report.html", b"mine")]
)
def test_it_writes_over_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, content: bytes, snapshot: SnapshotAssertion
) -> None:
    """A folder that holds something else is left as it is; the message names the folder and what to do."""
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(content)
    assert main(["demo", "--into", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert str(tmp_path) in said.err
    assert lines_about(said.err, "--into") == snapshot
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / place]
    assert (tmp_path / place).read_bytes() == content


def test_what_was_changed_in_it_is_kept(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A folder of an earlier demo in which somebody changed a file is somebody's: it is refused by that file's name."""
    next(run_demo(tmp_path))
    (tmp_path / "pyproject.toml").write_text("[tool.judgefixtures]\npairs = 50\n")
    with pytest.raises(judgefixtures.JudgeFixturesError) as error:
        next(run_demo(tmp_path))
    assert str(error.value) == snapshot
    assert (tmp_path / "pyproject.toml").read_text() == "[tool.judgefixtures]\npairs = 50\n"


def test_a_place_that_cannot_be_written_to_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Where nothing can be written the message names the place, why, and the option that names another one."""
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/demo")):
        assert main(["demo", "--into", str(folder)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert lines_about(said.err, "demo cannot") == snapshot
        assert said.err.endswith("judgefixtures demo --into FOLDER\n")


def test_a_run_that_measures_nothing_is_no_demo(tmp_path: Path) -> None:
    """Where pytest does not come to a report the error says with which code it ended, and what it said."""
    lines = run_demo(tmp_path)
    next(lines)
    for place in demo_recordings():
        (tmp_path / "cassettes" / place).unlink()
    with pytest.raises(
        judgefixtures.JudgeFixturesError, match=r"(?s)ended with exit code 10 .*pytest said:.*recording"
    ):
        next(lines)


def test_the_configuration_names_what_the_wheel_carries() -> None:
    """The recordings in pyproject.toml are those that the demo replays, and they lie where it says."""
    built = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    carried = {source: target for source, target in built["force-include"].items() if source.startswith("cassettes")}
    assert carried == {f"cassettes/{place}": f"judgefixtures/cli/cassettes/{place}" for place in demo_recordings()}
    assert all(file.is_file() for file in demo_recordings().values())
