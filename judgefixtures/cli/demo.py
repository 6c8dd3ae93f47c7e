"""Demo: run pytest in a small repository with two simulated judges."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES
from .scaffold import suite_folder

FOOLED, STEADY = "simulated-silent", "simulated-faithful"
MODULES = ("test_recency.py", "test_accuracy.py", "test_swap.py")
CUED, CUE_FREE = ("recency-new-old", "recency-old-new"), ("no-cue", "no-cue-21")
ASKED: Mapping[str, Sequence[str]] = {  # which conditions of a dataset both judges are asked
    "house-close": CUED,
    "house-close-stories": CUED,
    "house-control": CUE_FREE,
    "house-control-stories": CUE_FREE,
    "house-qa": CUE_FREE,
    "house-stories": CUE_FREE,
}
CONFIGURATION = Path(__file__).with_name("configuration.demo.toml")
CONFTEST = Path(__file__).with_name("conftest.demo.txt")
MEASURED = (0, 1)  # what pytest ends with where everything was measured
WIDTH = 92


@dataclass(frozen=True, slots=True)
class DemoRun:
    """A run of the demo: a judge's gate and swap."""

    judge: str
    baseline: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options of pytest."""
        return ("--judge", self.judge, "--judge-baseline", self.baseline)

    @property
    def report(self) -> Path:
        """The report's path in the folder."""
        return Path("report", self.judge)


ACTS = (DemoRun(FOOLED, STEADY), DemoRun(STEADY, FOOLED))
OPENING = (
    f"{FOOLED} and {STEADY} are simulated judges: programs of this project, not models. Each reads a question with two "
    "responses, chooses the better response and gives a reason. pytest now gates and compares their recorded answers. "
    "This takes about ten seconds and needs no network."
)


def run_demo(folder: Path) -> Iterator[str]:
    """Write the demo's repository, run pytest and yield the findings.

    Raises:
        JudgeFixturesError: The folder is used or unwritable, or a run is incomplete.
    """
    _write(folder, _repository())
    yield wrap_sentence(OPENING)
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(_run, act, folder) for act in ACTS]
        from .demo_summary import demo_end_message, demo_sentences  # while they run: it takes a second

        codes = [each.result() for each in running]
    reports = [json.loads((folder / act.report / "report.json").read_text("utf-8")) for act in ACTS]
    yield ""
    for number, sentence in enumerate(demo_sentences([act.judge for act in ACTS], reports, codes), 1):
        yield wrap_sentence(f"{number:>2}. {sentence}", 4)
    yield ""
    yield from map(wrap_sentence, demo_end_message(folder, [act.report for act in ACTS], ACTS[0].options))


def wrap_sentence(text: str, indent: int = 0) -> str:
    """Return a sentence wrapped for terminals; indented lines stay."""
    if text.startswith("  "):
        return text
    return textwrap.fill(text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def demo_recordings() -> dict[Path, Path]:
    """Return the demo's recordings by their place in cassettes/."""
    shipped = Path(__file__).with_name("cassettes")
    folder = shipped if shipped.is_dir() else Path(__file__).parents[2] / "cassettes"
    places = [
        Path(judge, dataset, f"{condition}.jsonl")
        for judge in (FOOLED, STEADY)
        for dataset, conditions in ASKED.items()
        for condition in conditions
    ]
    return {place: folder / place for place in places}


def _repository() -> dict[Path, bytes]:
    files = {
        Path(".gitignore"): b"*\n",
        Path("conftest.py"): CONFTEST.read_bytes(),
        Path("pyproject.toml"): CONFIGURATION.read_bytes(),
    }
    files |= {Path("tests", "judge", name): (suite_folder() / name).read_bytes() for name in MODULES}
    return files | {Path("cassettes", place): file.read_bytes() for place, file in demo_recordings().items()}


def _write(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Write the repository into a new, empty or earlier demo folder."""
    try:
        if folder.is_dir() and any(folder.iterdir()):
            for place, content in files.items():
                if not (folder / place).is_file() or (folder / place).read_bytes() != content:
                    raise JudgeFixturesError(MESSAGES.folder_in_use(folder, place))
            return
        for place, content in files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(content)
    except OSError as error:
        raise JudgeFixturesError(MESSAGES.demo_not_written(folder, error)) from None


def _run(act: DemoRun, folder: Path) -> int:
    """Run pytest with our plugin only, and return its exit code."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GITHUB_"))}
    # The same packages as here, though a path may be relative to another folder.
    own |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "judgefixtures.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *act.options, "--judge-report", str(act.report)],
        cwd=folder,
        env=own,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode not in MEASURED or not (folder / act.report / "report.json").is_file():
        output = "\n".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-20:])
        raise JudgeFixturesError(MESSAGES.demo_failed(act, done, folder, output))
    return done.returncode
