"""Parts of one run, and what only looks like them: other settings, other pairs, folders that were tampered with.

Small projects with a judge in Python make the reports; what they hold is changed by hand, digests and all.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.project import Project, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.models.findings import Finding, Row
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.statistics import Status
from judgefixtures.util import secrets

pytest_plugins = ["pytester"]

JUDGE = """\
import json
import re


def judge(prompt):
    better = 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1)
    return json.dumps({"selected_response": better, "reason": "It is better."})
"""
PAIRS = """\
import dataclasses

import pytest


@pytest.fixture
def pairs(pairs):
    return %s
"""
HALF = PAIRS % "pairs[:20]"
OTHER_TEXTS = PAIRS % "[dataclasses.replace(pair, response_1='other') for pair in pairs]"
SAME = PAIRS % "tuple(pairs)"


def configuration(more: str = "", top: str = "") -> str:
    """Return a configuration of a judge in Python, with further tables."""
    return f"""\
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
{top}
[tool.judgefixtures.judges.ours]
provider = "python"
target = "mine:judge"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
{more}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project whose judge passes in recency and provenance, on forty pairs."""
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist")
    project = Project(pytester, configuration, options=options)
    write_pairs(project, "a", 40)
    project.write("mine.py", JUDGE)
    for family in ("recency", "provenance"):
        project.write(f"test_{family}.py", suite(family))
    project.configure()
    return project


def write_pairs(project: Project, text: str, n: int) -> None:
    """Write so many pairs, with a text in the first response."""
    project.write_pairs(
        {
            "id": f"p{number:02}",
            "question": f"q{number}",
            "response_1": f"{text}{number}",
            "response_2": "b",
            "gold": 1 + number % 2,
        }
        for number in range(n)
    )


def part(project: Project, name: str, *options: str) -> str:
    """Run a part, with a report; return its folder."""
    ran = project.run("-k", name, "--judge-report", project.path / name, *options)
    assert (project.path / name / "results.jsonl").is_file(), ran.said
    return str(project.path / name)


def merged(project: Project, *parts: str) -> int:
    """Put parts together, and return the exit code."""
    return main(["report", "merge", *parts, "--into", str(project.path / "merged")])


def refused(capsys: pytest.CaptureFixture[str], project: Project, *parts: str) -> str:
    """Return why parts are refused; they must be, by one sentence, and nothing is written."""
    assert merged(project, *parts) == 2
    said = capsys.readouterr().err
    assert not (project.path / "merged").exists()
    assert "Traceback" not in said
    return said


TABLE = "[tool.judgefixtures.%s]\n%s\n"
SENTENCE = "{content_type} {number} is"
MOOD = TABLE % ("cues.mood", f'happy = "{SENTENCE} happy."\nsad = "{SENTENCE} %s."')
WAIVER = (
    '[[tool.judgefixtures.waivers]]\ncontrast = "recency-new-old"\nowner = "me"\nreason = "so"\nexpires = 2999-01-01'
)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (("",), (TABLE % ("gate", "vsr_tolerance = 0.99"),), ("[gate] vsr_tolerance", "0.15 in", "0.99 in")),
        # It is about a family that the other part did not ask about: one run has one configuration all the same.
        (("",), (TABLE % ("gate.recency", "vsr_tolerance = 0.02"),), ("[gate.recency] vsr_tolerance", "0.15", "0.02")),
        (("",), (TABLE % ("swap", "flip_margin = 0.02"),), ("[swap] flip_margin", "0.1 in", "0.02 in")),
        (("",), (TABLE % ("swap", "looks = [10, 40]"),), ("[swap] looks", "[100]", "[10, 40]")),
        (("", "control = false"), ("", "control = {pairs = 10, threshold = 0.4}"), ("control", "false in", "true in")),
        ((TABLE % ("control", "pairs = 10"),), (TABLE % ("control", "pairs = 11"),), ("[control] pairs", "10", "11")),
        ((MOOD % "sad",), (MOOD % "gloomy",), ("[cues.mood] sad", "gloomy")),
        ((MOOD % "sad",), (f"{MOOD % 'sad'}[tool.judgefixtures.cues.mood.terms]\nsad = ['blue']",), ("terms",)),
        (("",), (WAIVER,), ("[waivers] recency-new-old", "not set", "2999-01-01")),
        (("",), (TABLE % ("detector", 'judge = "simulated-noisy"'),), ("[detector] ", "simulated-noisy")),
        (("", "seed = 1"), ("", "seed = 2"), ("seed differs", "1 in", "2 in")),
        (("", "pairs = 30"), ("", "pairs = 40"), ("pairs differs", "30 in", "40 in")),
    ],
)
def test_parts_of_other_settings_are_refused(
    one: tuple[str, ...],
    other: tuple[str, ...],
    words: tuple[str, ...],
    project: Project,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    """Whatever decides is the same in parts of one run: the error names it, and what it is in each folder."""
    project.configure(*one)
    first = part(project, "provenance")
    project.configure(*other)
    said = refused(capsys, project, first, part(project, "recency"))
    assert all(word in said for word in words), said
    assert lines_about(said, "the folders") == snapshot


@pytest.mark.slow
def test_what_a_judge_counts_as_a_tie_is_a_setting(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no part of a scoring judge's identity, and decides all the same."""
    scoring = configuration().replace('target = "mine:judge"', 'target = "mine:score"\nmode = "pointwise"\nties = "%s"')
    project.write("mine.py", 'def score(prompt):\n    return \'{"score": 5, "reason": "fine"}\'\n')
    project.configuration = lambda ties: scoring % ties
    project.configure("half")
    first = part(project, "provenance")
    project.configure("invalid")
    assert "[judges.ours] ties" in refused(capsys, project, first, part(project, "recency"))


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (lambda project: write_pairs(project, "other", 40), "40 pairs, digest"),
        (lambda project: write_pairs(project, "a", 20), "20 pairs, digest"),
        (lambda project: project.write("conftest.py", OTHER_TEXTS), "pair p00 of own"),
    ],
)
def test_parts_about_other_pairs_are_refused(
    change: Callable[[Project], Any],
    about: str,
    project: Project,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    """Other texts under the same ids, or fewer pairs, are another run, wherever they come from."""
    first = part(project, "provenance")
    change(project)
    said = refused(capsys, project, first, part(project, "recency"))
    assert lines_about(said, about) == snapshot


@pytest.mark.parametrize("given", [HALF, OTHER_TEXTS])
def test_what_a_fixture_gives_is_compared(
    given: str, project: Project, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A fixture of the user's that gives other pairs in each part: what was really asked counts."""
    project.write("conftest.py", SAME)
    first = part(project, "provenance")
    project.write("conftest.py", given)
    assert lines_about(refused(capsys, project, first, part(project, "recency")), "fixture pairs") == snapshot


def files(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("more", "modules"),
    [
        ("", {}),
        (TABLE % ("gate.recency", "vsr_tolerance = 0.2"), {}),
        ("", {"test_recency.py": PAIRS % "pairs[:36]" + suite("recency")}),  # one run may well do that
    ],
)
def test_parts_of_one_run_are_that_run(more: str, modules: dict[str, str], project: Project) -> None:
    """Where nothing but the selection differs, parts are the report of one run of all, byte for byte."""
    project.configure(more)
    for name, text in modules.items():
        project.write(name, text)
    parts = [part(project, name) for name in ("provenance", "recency")]
    assert merged(project, *parts) == 0
    part(project, "recency or provenance")
    assert files(project.path / "merged") == files(project.path / "recency or provenance")


def test_a_setting_that_is_written_out_is_no_other_one(project: Project) -> None:
    """[gate.FAMILY] with what [gate] says changes nothing, and parts that differ in it are parts of one run."""
    first = part(project, "provenance")
    project.configure(TABLE % ("gate.recency", "vsr_tolerance = 0.15"))
    assert merged(project, first, part(project, "recency")) == 0


def test_a_comparison_names_the_settings_that_changed(
    project: Project, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Two reports of other settings and pairs are compared, and a line each says what is another one."""
    old = part(project, "recency")
    project.configure(TABLE % ("gate", "vsr_tolerance = 0.4"))
    write_pairs(project, "a", 30)
    ran = project.run("-k", "recency", "--judge-report", project.path / "new")
    assert ran.ret == 0, ran.said
    assert main(["report", "compare", old, str(project.path / "new")]) == 0
    said = capsys.readouterr().out
    assert "[gate] vsr_tolerance was 0.15, is 0.4" in said
    assert lines_about(said, "set of pairs") == snapshot


# --- folders that were tampered with ------------------------------------------------------------------------


def record(*findings: Finding, failed: bool = False, **about: Any) -> RunRecord:
    """Return what a run of one item leaves behind."""
    rows = [
        {
            "item": "i",
            "findings": [each.to_json() for each in findings],
            "judges": {"mine": {"model": "a"}},
            "failed": failed,
        }
    ]
    judgment = {
        "judge": "mine",
        "dataset": "qa",
        "condition": "no-cue",
        "pair": "p",
        "repeat": 0,
        "invalid": None,
        "usage": {"input_tokens": 1, "output_tokens": 1, "reasoning_tokens": None},
    }
    pair = {
        "dataset": "qa",
        "pair": "p",
        "question": "q",
        "response_1": "a",
        "response_2": "b",
        "gold": None,
        "category": "",
        "content_type": "Response",
        "judges": ["mine"],
    }
    return RunRecord.of(RunInfo("1", "2026-01-01", **about), rows, [judgment], [pair], [])


def accuracy(status: Status = Status.PASS) -> Finding:
    """Return a finding that two reports can be compared in."""
    estimate = {"value": 0.5, "low": 0.4, "high": 0.6, "confidence": 0.9, "n": 100}
    row = {
        "judge": "mine",
        "dataset": "qa",
        "category": "all",
        "n": 100,
        "correct": 50,
        "invalid": 0,
        "accuracy": estimate,
        "accuracy_both_orders": None,
    }
    return Finding("accuracy", "mine", "qa", "accuracy", status, rows={"accuracy": (row,)})


def written(folder: Path, left: RunRecord) -> Path:
    """Write what a run leaves behind and return its folder."""
    folder.mkdir()
    for name, text in left.files().items():
        (folder / name).write_text(text)
    return folder


def digest(text: str) -> str:
    """Return a digest as the first line of results.jsonl has it."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def forge(folder: Path, change: Callable[[Row, dict[str, str]], Any]) -> None:
    """Change the first line and the files, and make every digest right again: `change` gets both, lines as texts."""
    first, _, items = (folder / "results.jsonl").read_text().partition("\n")
    head = json.loads(first)
    texts = {name: items if name == "results.jsonl" else (folder / name).read_text() for name in head["digests"]}
    change(head, texts)
    if isinstance(head.get("digests"), dict):
        head["digests"] |= {name: digest(text) for name, text in texts.items()}
    head.pop("digest", None)
    head = {"digest": digest(json.dumps(head, sort_keys=True)), **head}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "results.jsonl").write_text(f"{json.dumps(head)}\n{texts['results.jsonl']}")


def both_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return why a folder is refused, when it is merged and when it is compared: one sentence that names it."""
    whole = written(tmp_path / "whole", record(accuracy()))
    assert main(["report", "merge", str(folder), "--into", str(tmp_path / "m")]) == 2
    said = capsys.readouterr().err
    assert main(["report", "compare", str(whole), str(folder)]) == 2
    assert capsys.readouterr().err == said
    assert str(folder) in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "m").exists()
    return said


def test_a_folder_that_was_forged_back_is_read(tmp_path: Path) -> None:
    """The forging of these tests is right: what it changes nothing in is read."""
    folder = written(tmp_path / "one", record(accuracy()))
    forge(folder, lambda *_: None)
    assert main(["report", "merge", str(folder), "--into", str(tmp_path / "m")]) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"unfinished": ["j"]', '"unfinished": []'),
        lambda text: text.replace('"lost": "one was lost"', '"lost": ""'),
        lambda text: text.replace('"date": "2026-01-01"', '"date": "2026-01-02"'),
        lambda text: text.replace('"vsr_tolerance": 0.02', '"vsr_tolerance": 0.99'),
    ],
)
def test_the_first_line_is_covered(
    change: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """What a run did not come to, lost, or was held to cannot be edited away."""
    left = record(accuracy(), lost="one was lost", unfinished=("j",), settings={"gate": {"vsr_tolerance": 0.02}})
    folder = written(tmp_path / "one", left)
    text = (folder / "results.jsonl").read_text()
    assert change(text) != text
    (folder / "results.jsonl").write_text(change(text))
    assert lines_about(both_refused(folder, tmp_path, capsys), "results.jsonl was") == snapshot


@pytest.mark.parametrize(
    "options",
    [
        ["; rm -rf /"],
        ["--judge-pairs=2; rm -rf /"],
        ["--judge-config=a b"],
        ["--judge-config=$(rm)"],
        ['--judge-config="$(rm)"'],
        ["--judge-config=`rm`"],
        ["--judge-record=all"],
        ["-p", "evil"],
        ["--judge-pairs"],
        ["--judge-config='"],
    ],
)
def test_options_are_of_our_shape(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command to run the same again holds no word that this tool would not have written."""
    folder = written(tmp_path / "one", record(accuracy()))
    forge(folder, lambda head, _: head.update(options=options))
    both_refused(folder, tmp_path, capsys)


@pytest.mark.parametrize(
    "options", [("--judge-pairs=2",), ('--judge-config="my judges.toml"',), ("--judge-cassettes='costs $5'",)]
)
def test_options_that_were_written_are_read(options: tuple[str, ...], tmp_path: Path) -> None:
    """Options with spaces and signs come back as they were, quoted for a shell."""
    folder = written(tmp_path / "one", record(accuracy(), options=options))
    assert RunRecord.from_folder(folder).about.options == options


@pytest.mark.parametrize("name", ["../../../../etc/passwd", "/dev/zero", "secret.txt", "plans.jsonl/../x"])
def test_no_name_in_a_report_is_opened(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Only the files that a report has are opened, whatever names it lists."""
    folder = written(tmp_path / "one", record(accuracy()))
    forge(folder, lambda head, _: head["digests"].update({name: "0" * 32}))
    assert lines_about(both_refused(folder, tmp_path, capsys), "--judge-report") == snapshot


def linked(path: Path) -> None:
    """Put a link to the same content in place of a file."""
    content = path.read_bytes()
    path.unlink()
    (path.parent.parent / "elsewhere").write_bytes(content)
    path.symlink_to(path.parent.parent / "elsewhere")


def endless(path: Path) -> None:
    """Put a link to a device that never ends in place of a file."""
    path.unlink()
    path.symlink_to("/dev/zero")


def piped(path: Path) -> None:
    """Put a pipe in place of a file."""
    path.unlink()
    os.mkfifo(path)


def huge(path: Path) -> None:
    """Make a file a terabyte, all of it a hole."""
    os.truncate(path, 1 << 40)


def a_folder(path: Path) -> None:
    """Put a folder in place of a file."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", ["results.jsonl", "judgments.jsonl", "pairs.jsonl"])
@pytest.mark.parametrize("change", [linked, endless, piped, huge, a_folder])
def test_what_is_no_file_is_not_read(
    change: Callable[[Path], None], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link, a pipe that nobody writes to, a device, a terabyte: one sentence with the file, at once."""
    folder = written(tmp_path / "one", record(accuracy()))
    change(folder / name)
    started = time.thread_time()
    assert str(folder / name) in both_refused(folder, tmp_path, capsys)
    assert time.thread_time() - started < 5


DEEP = "[" * 100_000 + "]" * 100_000
WRONG = [None, 1, "x", True, [], {}, [1], {"a": 1}, [[]], -1.5]


def first_row(name: str, change: Callable[[Row], Any]) -> Callable[[Row, dict[str, str]], None]:
    """Return what changes the first row of a file."""

    def changing(_: Row, texts: dict[str, str]) -> None:
        line, end, rest = texts[name].partition("\n")
        row = json.loads(line)
        change(row)
        texts[name] = json.dumps(row) + end + rest

    return changing


HEAD = json.loads(record(accuracy()).files()["results.jsonl"].partition("\n")[0])


def tried(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Merge and compare a folder: whatever it holds, it is used or refused by a sentence with its name."""
    whole = tmp_path / "whole"
    if not whole.exists():
        written(whole, record(accuracy()))
    for command in (
        ["merge", str(folder), "--into", str(tmp_path / "m")],
        ["compare", str(whole), str(folder)],
        ["compare", str(folder), str(whole)],
    ):
        if main(["report", *command]) == 2:
            said = capsys.readouterr().err
            assert str(folder) in said or "cannot be compared" in said
        capsys.readouterr()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", sorted(HEAD))
def test_a_wrong_type_in_the_first_line_ends_in_a_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever stands in a field of the first line, its digest right, there is no traceback."""
    for number, value in enumerate(WRONG):
        folder = written(tmp_path / f"{number}", record(accuracy()))
        forge(folder, lambda head, _, value=value: head.update({name: value}))
        tried(folder, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["item", "finding", "row", "estimate", "judgment", "pair"])
def test_a_wrong_type_in_a_row_ends_in_a_sentence(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever stands in a field of a row, its digest right, there is no traceback."""
    file = {"judgment": "judgments.jsonl", "pair": "pairs.jsonl"}.get(where, "results.jsonl")

    def of(row: Row) -> Row:
        found = {
            "finding": lambda: row["findings"][0],
            "row": lambda: row["findings"][0]["rows"]["accuracy"][0],
            "estimate": lambda: row["findings"][0]["rows"]["accuracy"][0]["accuracy"],
        }
        inside: Row = found[where]() if where in found else row
        return inside

    whole = written(tmp_path / "one", record(accuracy()))
    line = (whole / file).read_text().splitlines()[file == "results.jsonl"]
    for name in of(json.loads(line)):
        for value in WRONG:
            folder = tmp_path / "one"
            for path, text in record(accuracy()).files().items():
                (folder / path).write_text(text)
            forge(folder, first_row(file, lambda row, name=name, value=value: of(row).update({name: value})))
            tried(folder, tmp_path, capsys)


@pytest.mark.parametrize("name", ["results.jsonl", "judgments.jsonl", "pairs.jsonl"])
@pytest.mark.parametrize("line", [DEEP, '{"a": NaN}', '{"a": Infinity}', '{"a": 1, "a": 2}', "1" * 5000, "null", "[]"])
def test_what_was_never_written_is_refused(
    line: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deep JSON, NaN, a key twice, a number of thousands of digits: one sentence with the file."""
    folder = written(tmp_path / "one", record(accuracy()))
    forge(folder, lambda _, texts: texts.update({name: f"{line}\n"}))
    assert str(folder / name) in both_refused(folder, tmp_path, capsys)


def test_an_item_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two results of one item in one folder: neither stands for the other."""
    folder = written(tmp_path / "one", record(accuracy(Status.FAIL), failed=True))
    passing = record(accuracy()).files()["results.jsonl"].splitlines()[1]
    forge(folder, lambda _, texts: texts.update({"results.jsonl": texts["results.jsonl"] + passing + "\n"}))
    both_refused(folder, tmp_path, capsys)


# --- a comparison with a run that did not pass --------------------------------------------------------------


@pytest.mark.parametrize(
    "new",
    [
        record(accuracy(Status.FAIL), failed=True),
        record(accuracy(Status.ERROR), failed=True),
        record(accuracy(Status.INCONCLUSIVE), failed=True),
        record(accuracy(), lost="2 items were lost"),
        record(accuracy(), unfinished=("j", "k")),
    ],
)
def test_a_comparison_says_first_that_the_new_run_did_not_pass(
    new: RunRecord, tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """What failed, could not be measured, was lost or stopped comes before what is equal, and the exit code is 1."""
    folders = [written(tmp_path / "old", record(accuracy())), written(tmp_path / "new", new)]
    assert main(["report", "compare", *map(str, folders)]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert lines_about(first, "NOT PASS") == snapshot
    assert first == snapshot
    assert second.startswith("NO CHANGE")
    assert main(["report", "compare", *map(str, reversed(folders))]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("NO CHANGE")
    assert any(line.startswith("OLD DID NOT") for line in said)


def test_a_new_run_without_a_single_estimate_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Where nothing is left to compare because nothing could be measured, that comes first."""
    lost = Finding("accuracy", "mine", "qa", "accuracy", Status.ERROR)
    folders = [written(tmp_path / "old", record(accuracy())), written(tmp_path / "new", record(lost, failed=True))]
    assert main(["report", "compare", *map(str, folders)]) == 1
    assert lines_about(capsys.readouterr().out, "result is") == snapshot


# --- secrets, and days --------------------------------------------------------------------------------------


def test_no_key_of_the_environment_survives_a_merge(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that did not know a key wrote it down; who merges and compares where it is known shows and writes none."""
    key = "".join(("zq7", "Wm2", "Kp9", "Xt4", "Rv6", "Ln3"))
    monkeypatch.setattr(secrets, "_KNOWN", secrets.SecretStore())
    # The name of the variable is all that travels.
    judge = f"[tool.judgefixtures.judges.other]\nprovider = 'openai'\nmodel = '{key}'\napi_key_env = 'MY_GATEWAY'"
    project.configure(judge)
    project.write("mine.py", JUDGE.replace("It is better.", f"It says {key}."))
    write_pairs(project, key, 40)
    parts = [part(project, name) for name in ("provenance", "recency")]
    assert all(key in (Path(folder) / "judgments.jsonl").read_text() for folder in parts)
    assert "MY_GATEWAY" in (Path(parts[0]) / "results.jsonl").read_text()
    monkeypatch.setenv("MY_GATEWAY", key)
    assert merged(project, *parts) == 0
    assert main(["report", "compare", parts[0], parts[0]]) == 0
    write_pairs(project, f"other {key}", 40)
    monkeypatch.delenv("MY_GATEWAY")
    other = part(project, "recency", "--judge-cassettes", key)
    monkeypatch.setenv("MY_GATEWAY", key)
    assert merged(project, parts[0], other) == 2
    said = capsys.readouterr()
    shown = [said.out, said.err, *(path.read_text() for path in (project.path / "merged").iterdir())]
    windows = {key[at : at + 8] for at in range(len(key) - 7)}
    assert not [window for window in windows for text in shown if window in text]


@pytest.mark.parametrize("zone", ["Etc/GMT-14", "Etc/GMT+12"])
@pytest.mark.parametrize(("days", "code"), [(0, 1), (2, 0)])
def test_a_waiver_fails_from_its_day_on_everywhere(
    zone: str, days: int, code: int, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiver holds until the day that it names, in UTC, whatever the clock of the machine shows."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    today = datetime.datetime.now(datetime.UTC).date()
    follows = JUDGE.replace(
        "    return", "    better = 1 if prompt.find('2025') < prompt.find('1950') else 2\n    return"
    )
    project.write("mine.py", follows)
    project.configure(WAIVER.replace("2999-01-01", str(today + datetime.timedelta(days=days))))
    try:
        ran = project.run("-k", "recency")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert ran.ret == code, ran.said
    assert ("expired on" in ran.said) == bool(code)
