"""What an import says of what comes next, and of what was there before."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers.imported_answers import logs_in_file

N = 30


def log(say: Callable[[int], str] = lambda n: "pass" if n % 2 else "fail", **more: Any) -> str:
    """Return a log of grades of a response each, as lines."""
    rows = (
        {"id": f"e{n}", "question": f"Question {n}?", "response": f"This, {n}.", "verdict": say(n), **more}
        for n in range(N)
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import a log as the command does, and return what it says."""
    monkeypatch.chdir(tmp_path)

    def taken(text: str, *options: str, judge: str = "mine", code: int = 0) -> str:
        Path("log.jsonl").write_text(text)
        assert main(["import", "log.jsonl", "--judge", judge, *options]) == code
        said = capsys.readouterr()
        return said.out + said.err

    return taken


def firsts(said: str) -> list[str]:
    """Return what is to be done first."""
    return [line.removeprefix("first: ") for line in said.splitlines() if line.startswith("first: ")]


def test_the_test_modules_are_named(take: Callable[..., str]) -> None:
    """In a repository without the test of its check the command at the end would select nothing: `init` comes first."""
    (step,) = firsts(take(log(label="pass")))
    assert step == "judgefixtures init --mode binary  # tests/judge has no test_agreement.py"
    assert main(["init", "--mode", "binary"]) == 0
    assert firsts(take(log(label="pass"))) == []


def test_without_labels_people_come_first(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Where nobody's label is known, the command by which people give some is there; of pairs, where gold stands."""
    assert lines_about(firsts(take(log()))[1], "--by") == snapshot
    pair = {"id": "p", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
    assert lines_about(firsts(take(json.dumps(pair), "--dataset", "pairs"))[1], "--columns") == snapshot


def test_a_part_of_a_dataset_is_imported_by_itself(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Where a log answers a part of a dataset of the configuration, the command that gates that part works."""
    Path("examples.jsonl").write_text(log(label="pass"))
    Path("pyproject.toml").write_text('[tool.judgefixtures.datasets.own]\npath = "examples.jsonl"\n')
    part = "".join(log().splitlines(keepends=True)[:20])
    step = firsts(take(part, "--dataset", "own"))[-1]
    command, _, why = step.partition("  # ")
    assert why == snapshot
    assert command.split()[0] == "judgefixtures"
    assert "20 answers about 20 examples" in take(part, *command.split()[3:])


def test_the_command_for_a_part_chooses_the_same_rows(take: Callable[..., str]) -> None:
    """It names the rows, the columns and the share that the import was given: without them it would be another one."""
    Path("examples.jsonl").write_text(log(label="pass"))
    Path("pyproject.toml").write_text('[tool.judgefixtures.datasets.own]\npath = "examples.jsonl"\n')
    lines = (log(by="judge a") + log(lambda _: "fail", by="b")).replace('"verdict"', '"said"').splitlines(keepends=True)
    part = "".join(lines[:20] + lines[30:])
    step = firsts(take(part, "--dataset", "own", "--where", "by=judge a", "--columns", "passed=said"))[-1]
    command = shlex.split(step.partition("  # ")[0])
    said = take(part, *command[3:])
    assert "20 answers about 20 examples" in said
    assert "passed 10, failed 10" in said


def test_two_judges_of_one_file_are_two(take: Callable[..., str], tmp_path: Path) -> None:
    """What was chosen of a log is a part of what its judge is: two of one file are not one by two names."""
    both = log(by="a") + log(lambda _: "pass", by="b")
    for judge in "ab":
        take(both, "--where", f"by={judge}", judge=judge)
    logs = [logs_in_file(tmp_path / "cassettes" / judge / "log" / "imported.jsonl") for judge in "ab"]
    assert logs[0] != logs[1]


def test_what_an_earlier_import_said_otherwise(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """An import over another one says how many answers are others."""
    assert "earlier import" not in take(log()) + take(log())
    changed = take(log(lambda n: "pass" if n % 2 or n == 4 else "fail"))
    assert lines_about(changed, "earlier import") == snapshot


def test_labels_beside_the_pairs_are_no_recordings(
    take: Callable[..., str], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """After people labelled what an import wrote, the log is imported again."""
    take(log())
    folder = tmp_path / "cassettes" / "mine" / "log"
    (folder / "pairs.labels.anna.jsonl").write_text("")
    assert "30 answers about 30 examples" in take(log())
    (folder / "no-cue.jsonl").write_text("")
    assert lines_about(take(log(), code=2), "judge (no-cue.jsonl") == snapshot


def test_ids_of_another_dataset_are_shown(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Where rows are about what the dataset lacks, both sides' ids are shown."""
    Path("others.jsonl").write_text(log(label="pass").replace('"id": "e', '"id": "x'))
    said = take(log(), "--pairs", "others.jsonl", code=2)
    assert lines_about(said, "'e0'") == snapshot


@pytest.mark.parametrize(
    "row", [{"case": 1, "prompt": "Why?", "grade": "good"}, {"case": 1, "prompt": "Why?", "passed": True}]
)
def test_columns_of_other_names(take: Callable[..., str], row: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """A log whose columns have names of its own is told which fields to name, and what its rows have."""
    told = take(json.dumps(row), code=2)
    assert told == snapshot
    assert "'case', 'prompt'" in told


def test_rows_that_nobody_judged_are_told_as_such(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Where the judge of each row ended with an error, that is said, and no column is asked for."""
    event = {"event.name": "gen_ai.evaluation.result", "gen_ai.evaluation.name": "tone", "error.type": "timeout"}
    said = take("".join(f"{json.dumps({**event, 'gen_ai.response.id': str(n)})}\n" for n in range(3)), code=2)
    assert lines_about(said, "judge ended") == snapshot
    assert "Name the column" not in said


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", '"=1+1"', '"#REF!"'])
def test_a_score_that_a_program_spoilt_is_an_error(take: Callable[..., str], value: str) -> None:
    """In a log of one's own a score that is no number, or a formula, ends the import with its row."""
    row = '{{"id": "e{}", "question": "Why?", "response": "So, {}.", "score": {}}}\n'
    lines = [row.format(n, n, value if n == 9 else n / 100) for n in range(40)]
    assert "log.jsonl:10: score is" in take("".join(lines), code=2)
