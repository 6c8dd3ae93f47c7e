"""Logs of Inspect: what two of its versions wrote, packed and in JSON, is counted as Inspect counts it."""

from __future__ import annotations

import copy
import json
import math
import resource
import shlex
import statistics
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.importing import bare
from support.project import Project
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers.formats import inspect_archive
from judgefixtures.importers.formats.inspect_scores import metric_value_words
from judgefixtures.importers.log_files import LogFile, read_log
from judgefixtures.sources.row_readers import DataRow
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

LOGS = Path(__file__).with_name("data") / "logs"
EXAMPLES = LOGS / "examples.jsonl"
OLD, NEW = "0.3.50", "0.3.285"
FILES = [f"{version}{what}" for version in (OLD, NEW) for what in (".eval", ".json", "-graded.eval")]
ZSTD = 93
CREDIT = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def log_of(name: str) -> LogFile:
    """Return a log that Inspect wrote."""
    return read_log(LOGS / "inspect" / name)


def document(name: str) -> dict[str, Any]:
    """Return a whole log as JSON has it, read without the code that is tested."""
    file = LOGS / "inspect" / name
    if file.suffix == ".json":
        return dict(json.loads(file.read_text()))
    data, samples, rest = file.read_bytes(), [], {}
    for info in zipfile.ZipFile(file).infolist():
        start = info.header_offset + 30 + sum(struct.unpack("<HH", data[info.header_offset + 26 :][:4]))
        held = data[start : start + info.compress_size]
        codec = pyarrow.Codec("zstd")
        text = codec.decompress(held, info.file_size) if info.compress_type == ZSTD else zlib.decompress(held, -15)
        if info.filename == "header.json":
            rest |= json.loads(bytes(text))
        elif info.filename == "reductions.json":
            rest["reductions"] = json.loads(bytes(text))
        elif info.filename.startswith("samples/"):
            samples.append(json.loads(bytes(text)))
    return {**rest, "samples": samples}


class Member(NamedTuple):
    """A member of an archive, made by hand: whatever is wrong with one can be said."""

    name: str
    content: Any = b""
    method: int = 8
    flags: int = 0
    size: int | None = None  # as the archive claims it

    @property
    def data(self) -> bytes:
        """The content, uncompressed."""
        return self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()


def pack(file: Path, members: Iterable[Member]) -> Path:
    """Write an archive."""
    heads, at = [], 0
    with file.open("wb") as out:
        for name, data, method, flags, size in ((m.name, m.data, m.method, m.flags, m.size) for m in members):
            deflate = zlib.compressobj(wbits=-15)
            held = data if method not in (8, ZSTD) else deflate.compress(data) + deflate.flush()
            if method == ZSTD:
                held = pyarrow.Codec("zstd").compress(data, asbytes=True)
            told, own = name.encode(), (len(held), len(data) if size is None else size)
            fixed = struct.pack("<HHHHHLLLHH", 63, flags | 0x800, method, 0, 0, zlib.crc32(data), *own, len(told), 0)
            out.write(b"PK\x03\x04" + fixed + told + held)
            heads.append(b"PK\x01\x02" + struct.pack("<H", 63) + fixed + struct.pack("<HHHLL", 0, 0, 0, 0, at) + told)
            at += 4 + len(fixed) + len(told) + len(held)
        directory = b"".join(heads)
        counts = (0, 0, len(heads), len(heads), len(directory), at, 0)
        out.write(directory + b"PK\x05\x06" + struct.pack("<HHHHLLH", *counts))
    return file


def sample(name: Any = "s1", epoch: Any = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    """Return a sample with one score."""
    told = {"id": name, "epoch": epoch, "input": "Why?", "target": "So.", "output": {"completion": f"So, {name}."}}
    return {**told, "scores": {"graded": {"value": value, "explanation": "It does."}}, **more}


HEADER = Member("header.json", {"version": 2, "status": "success", "eval": {"model": "openai/m"}})


def packed_log(file: Path, samples: Iterable[Mapping[str, Any]], *, method: int = 8) -> Path:
    """Write samples as Inspect packs them."""
    members = [Member(f"samples/{each['id']}_epoch_{each['epoch']}.json", each, method) for each in samples]
    return pack(file, [HEADER, *members])


def json_log(file: Path, samples: Iterable[Mapping[str, Any]], **more: Any) -> Path:
    """Write samples as a log in JSON."""
    file.write_text(json.dumps({"version": 2, "status": "success", "eval": {}, "samples": [*samples], **more}))
    return file


def read_or_told(file: Path, form: str | None = None) -> tuple[DataRow, ...] | str:
    """Return a log's rows, or the sentence that says what is wrong with it."""
    try:
        return read_log(file, form).rows
    except JudgeFixturesError as error:
        return str(error)


def judged(log: LogFile, metric: str) -> list[Any]:
    """Return what the rows of one metric say."""
    return [row.fields["judged"] for row in log.rows if row.fields["judged"]["metric"] == metric]


def number(said: Mapping[str, Any]) -> float | None:
    """Return what a row says as Inspect counts it, None where that is nothing."""
    if "score" in said:
        return float(said["score"])
    return float(said["passed"]) if isinstance(said.get("passed"), bool) else None


# --- counts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_what_is_imported_is_what_the_log_itself_counts(name: str) -> None:
    """The mean of the rows of a metric, first of a sample's epochs and then of the samples, is the log's own."""
    log, held = log_of(name), document(name)
    checked = 0
    for result in held["results"]["scores"]:
        scorer, key = result["scorer"], result["name"]
        metric = scorer if key == scorer else f"{scorer}.{key}"
        by_sample: dict[str, list[float]] = {}
        for row in log.rows:
            said = row.fields["judged"]
            if said["metric"] == metric and (value := number(said)) is not None:
                by_sample.setdefault(row.fields["id"], []).append(value)
        own = result["metrics"].get("accuracy") or result["metrics"]["mean"]
        assert statistics.mean(map(statistics.mean, by_sample.values())) == pytest.approx(own["value"])
        checked += 1
    assert checked == {"graded": 1, "json": 2, "eval": 6}["graded" if "graded" in name else name.rpartition(".")[2]]
    assert len(log.rows) == checked * len(held["samples"])


@pytest.mark.parametrize("name", FILES)
def test_each_sample_has_the_mean_that_the_log_reduces_it_to(name: str) -> None:
    """What the log itself makes of a sample's epochs is what its rows have: a mean, or nothing where none was scored."""
    log, checked = log_of(name), 0
    for reduced in document(name)["reductions"]:
        for each in reduced["samples"]:
            value = each["value"]
            parts = (
                {f"{reduced['scorer']}.{key}": part for key, part in value.items()} if isinstance(value, dict) else {}
            )
            for metric, own in (parts or {reduced["scorer"]: value}).items():
                said = [row.fields["judged"] for row in log.rows if row.fields["id"] == each["sample_id"]]
                found = [number(one) for one in said if one["metric"] == metric]
                numbers = [one for one in found if one is not None]
                assert found
                assert (statistics.mean(numbers) if numbers else math.nan) == pytest.approx(own, nan_ok=True)
                checked += 1
    assert checked >= 4


@pytest.mark.parametrize("name", FILES)
def test_each_row_says_what_its_score_says(name: str) -> None:
    """Counted by a plain loop over the file, each metric has as many of each value as its rows, and no row is lost."""
    log, held = log_of(name), document(name)
    expected: Counter[tuple[str, float | None]] = Counter()
    names = {score for each in held["samples"] for score in each.get("scores") or {}}
    for each in held["samples"]:
        for score in names - {"style"}:
            value = ((each.get("scores") or {}).get(score) or {"value": None})["value"]
            is_number = isinstance(value, int | float) and not math.isnan(value)
            expected[score, float(value) if is_number else CREDIT.get(str(value))] += 1
    found = Counter(
        (said["metric"], number(said))
        for row in log.rows
        if not (said := row.fields["judged"])["metric"].startswith("style.")
    )
    assert found == expected
    texts = {(row.fields["id"], row.fields["judged"].get("response")) for row in log.rows} - {("tea-bad", None)}
    examples = {row["id"]: row for row in map(json.loads, EXAMPLES.read_text().splitlines())}
    assert all(text == examples[name]["response"] or name == "lock-bad" for name, text in texts)
    assert {row.fields["judged"]["model"] for row in log.rows} == {"openai/loopback"}
    assert {row.fields["judged"]["question"] for row in log.rows} <= {row["question"] for row in examples.values()}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_packed_log_and_one_in_json_say_the_same(version: str, tmp_path: Path) -> None:
    """What a packed log holds, written as JSON, gives the same rows."""
    file = tmp_path / "log.json"
    file.write_text(json.dumps(document(f"{version}.eval")))
    one, other = read_log(file), log_of(f"{version}.eval")
    assert [row.fields for row in one.rows] == [row.fields for row in other.rows]
    assert other.rows[0].where.endswith(f"{version}.eval: samples/ferry-good_epoch_1.json")
    assert not {"events", "messages", "store"} & other.rows[0].fields.keys()


@pytest.mark.parametrize("version", [OLD, NEW])
def test_epochs_repeat_an_answer_or_give_another_example(version: str, snapshot: SnapshotAssertion) -> None:
    """The same response twice is a repeat; another one is an example of its own, which belongs to the first."""
    said = judged(log_of(f"{version}.eval"), "tone")
    places = {(each["id"], each.get("repeat"), each.get("cluster")) for each in said}
    assert places >= {("ferry-good", 0, None), ("ferry-good", 1, None)}
    assert places >= {("lock-bad", 0, "lock-bad"), ("lock-bad~2", 0, "lock-bad")}
    assert {each["response"] for each in said if each["id"] == "lock-bad~2"} == snapshot
    failed = [each for each in said if each["id"] == "tea-bad"]
    assert len(failed) == 2
    assert not any({"response", "score", "passed"} & each.keys() for each in failed)


def test_who_judged_is_told() -> None:
    """What compares letters is code, what people added is theirs, and the rest is a judge's."""
    by = {(said["metric"], said["by"]) for row in log_of(f"{NEW}.eval").rows if (said := row.fields["judged"])}
    assert by == {
        ("includes", "code"),
        *((name, "judge") for name in ("model_graded_qa", "model_graded_fact", "tone", "style.short", "style.polite")),
    }


# --- from the file to a report ------------------------------------------------------------------------------------


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with the examples that the logs are about."""
    project = bare(pytester)
    project.write("examples.jsonl", EXAMPLES.read_text())
    project.configure()
    return project


def take(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Import as the command does, and return what it says."""
    capsys.readouterr()
    assert main(["import", *arguments]) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err if code else said.out


@pytest.mark.parametrize(("version", "invalid"), [(OLD, 0), (NEW, 1)])
def test_a_log_is_one_command_from_a_report(
    project: Project, capsys: pytest.CaptureFixture[str], version: str, invalid: int
) -> None:
    """What is printed is all that a report takes, and its counts are those of the file.

    The grade that Inspect did not find is an I in the old version's log, and no grade in today's: invalid, and wrong.
    """
    file = str(LOGS / "inspect" / f"{version}-graded.eval")
    said = take(capsys, file, "--judge", "grader", "--pairs", "examples.jsonl")
    labels = {row["id"]: row["label"] for row in map(json.loads, EXAMPLES.read_text().splitlines())}
    counted: Counter[tuple[str, str]] = Counter()
    for each in document(f"{version}-graded.eval")["samples"]:
        value = each["scores"]["model_graded_qa"]["value"]
        counted[labels[each["id"]], value if isinstance(value, str) else "none"] += 1
    assert f"passed {counted['pass', 'C'] + counted['fail', 'C']}, failed" in said
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = (row for row in ran.report["agreement"] if row["category"] == "all")
    assert (row["n"], row["invalid"]) == (12, invalid)
    assert counted["fail", "none"] == invalid
    assert (row["tp"], row["fn"]) == (counted["pass", "C"], counted["pass", "I"])
    assert (row["fp"], row["tn"]) == (counted["fail", "C"] + invalid, counted["fail", "I"])


def test_of_several_metrics_one_is_named(
    project: Project, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A log of several scorers lists them; samples without a score count as of no use, more than 5% of which are told."""
    file = str(LOGS / "inspect" / f"{NEW}.eval")
    said = take(capsys, file, "--judge", "j", "--dataset", "replies", code=2)
    assert "holds 6 metrics" in said
    assert lines_about(said, "includes (a") == snapshot
    assert "  model_graded_qa (a judge's): 10 rows: scores from 0 to 1, nothing 4\n" in said
    chosen = ("--judge", "j", "--dataset", "replies", "--metric", "style.short")
    assert "2 of 10 rows (20.0%) cannot be used" in take(capsys, file, *chosen, code=2)
    said = take(capsys, file, *chosen, "--allow", "0.2")
    assert "imported: j on replies: 8 answers about 5 examples" in said
    assert lines_about(said, "sample ended", "limit (message") == snapshot
    pairs = [
        json.loads(line) for line in (project.cassettes / "j" / "replies" / "pairs.jsonl").read_text().splitlines()
    ]
    assert {pair["id"]: pair.get("cluster") for pair in pairs}["lock-bad~2"] == "lock-bad"


# --- what scores mean ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        ["C", "I", "N"],
        ["C", "P", "I", "N"],
        ["C", 0.25],
        ["A", "C"],  # a scale of its own
        ["yes", "No", "TRUE"],
        ["7", "7.5", 3],
        [True, False],
        [4, "later"],
        [math.inf],
        [10**400],
        [None, math.nan],
    ],
)
def test_values_are_what_inspects_own_metrics_take_them_for(values: list[Any], snapshot: SnapshotAssertion) -> None:
    """Letters are 1, a half and 0, and grades as long as none is a half; words that are none of these stay words."""
    words = metric_value_words(values)
    assert [words.told(value) for value in values] == snapshot


def test_partial_credit_is_told(snapshot: SnapshotAssertion) -> None:
    """Where a P stands in the log its grades are scores, and a remark says so and what they are."""
    remarks = "\n".join(log_of(f"{OLD}.json").remarks)
    assert lines_about(remarks, "under model_graded_qa") == snapshot
    assert "partial credit" not in "\n".join(log_of(f"{OLD}-graded.eval").remarks)


def test_a_grade_that_inspect_did_not_find_is_told(snapshot: SnapshotAssertion) -> None:
    """The old version counts it as I, which a remark says; today's has no score, which is no grade."""
    assert lines_about(log_of(f"{OLD}-graded.eval").remarks[0], "model_graded_qa that") == snapshot
    said = [each for each in judged(log_of(f"{NEW}-graded.eval"), "model_graded_qa") if each["id"] == "bread-bad"]
    assert [each["passed"] for each in said] == ["grader_failed"]


def test_an_edited_score_is_the_judges_as_it_was(snapshot: SnapshotAssertion) -> None:
    """A person's edit is none of the judge's; what they added is their own, and what they declared invalid is not used."""
    log = log_of(f"{NEW}-edited.eval")
    said = {each["id"]: each for each in judged(log, "model_graded_qa")}
    assert (said["leap-bad"]["passed"], said["leap-good"]["passed"]) == (True, True)
    assert said["bread-good"]["error"] == snapshot
    assert "passed" not in said["bread-good"]
    reviewed = {row.fields["id"]: row.fields["reviewed"] for row in log.rows if "reviewed" in row.fields}
    assert (reviewed["leap-bad"], reviewed["leap-good"]) == (False, True)
    (mine,) = judged(log, "by_hand")
    assert (mine["by"], mine["id"], mine["passed"], mine["reason"]) == ("person", "leap-bad", False, "It was none.")
    assert lines_about(log.remarks[0], "marked invalid") == snapshot
    assert "has 2 of 4 scores of model_graded_qa that somebody edited" in log.remarks[1]


def test_what_was_asked_and_answered_is_text(tmp_path: Path) -> None:
    """Of messages the user's count, of an answer in parts its text, and of a score without explanation the grader's."""
    asked = [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "Why?"}]}]
    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "So."}]
    grading = {
        "metadata": {"grading": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "It does."}]}
    }
    told = sample(
        input=[*asked, {"role": "user", "content": "And how?"}],
        output={"choices": [{"message": {"role": "assistant", "content": parts}}]},
        scores={"graded": {"value": "C", **grading}},
    )
    log = read_log(json_log(tmp_path / "log.json", [told]))
    (said,) = judged(log, "graded")
    assert (said["question"], said["response"], said["reason"]) == ("Why?\n\nAnd how?", "So.", "It does.")
    assert log.rows[0].fields["output"]["completion"] == "So."


def test_the_oldest_logs_have_one_score(tmp_path: Path) -> None:
    """Before Inspect knew several scorers a sample had one score, whose scorer the results name."""
    older = {name: value for name, value in sample(score={"value": "C"}).items() if name != "scores"}
    log = read_log(json_log(tmp_path / "log.json", [older], results={"scorer": {"name": "match"}}))
    assert [(said["by"], said["passed"]) for said in judged(log, "match")] == [("code", True)]


# --- hostile archives ---------------------------------------------------------------------------------------------

GOOD = Member("samples/s1_epoch_1.json", sample())


@pytest.mark.parametrize(
    "members",
    [
        [GOOD],
        [HEADER],
        [HEADER, GOOD, Member("/etc/hosts")],
        [HEADER, GOOD, Member("samples/../../s_epoch_1.json")],
        [HEADER, GOOD, Member("C:\\s")],
        [HEADER, GOOD._replace(flags=1)],
        [HEADER, GOOD._replace(content=b"{")],
        [HEADER, GOOD._replace(content=b"\xff\xfe{")],
        [HEADER, GOOD._replace(content=[1])],
        [HEADER, GOOD._replace(content=b"[" * 100_000)],
        [HEADER, GOOD._replace(size=3)],
        [HEADER, GOOD._replace(method=12)],
        [HEADER, GOOD._replace(method=77)],
        [HEADER, Member("samples/s1_epoch_1/sample.json", {})],
        [HEADER, GOOD, Member("samples/s2.json")],
        [HEADER._replace(content=[]), GOOD],
    ],
)
def test_an_archive_that_is_no_log_is_told(members: list[Member], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Whatever is wrong is one sentence that names the file and the member, and nothing lies on the disk."""
    file = pack(tmp_path / "log.eval", members)
    with pytest.raises(JudgeFixturesError) as error:
        read_log(file)
    assert str(error.value) == snapshot
    assert [path.name for path in tmp_path.iterdir()] == ["log.eval"]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_damaged_archive_is_told(version: str, tmp_path: Path) -> None:
    """A log that was cut off, or in which bytes were changed, is a sentence, or read as it was: never a traceback.

    A sample that is lost since its name is no longer one is told by the log's own count.
    """
    content = (LOGS / "inspect" / f"{version}-graded.eval").read_bytes()
    file = tmp_path / "log.eval"
    told = 0
    for at in range(0, len(content), 997):
        for damaged in (content[:at], content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]):
            file.write_bytes(damaged)
            said = read_or_told(file)
            told += isinstance(said, str)
            if isinstance(said, str):
                assert str(file) in said
            else:
                remarks = "\n".join(read_log(file).remarks)
                assert len(said) == 12 or "11 samples of 12" in remarks
    assert told > 40


@pytest.mark.parametrize("method", [8, ZSTD])
def test_a_sample_that_is_there_twice_counts_as_it_stands_last(
    method: int, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Inspect writes a sample again that it has run again: the last one counts, and a remark says so."""
    twice = [sample(value="C"), sample(value="I")]
    log = read_log(packed_log(tmp_path / "log.eval", twice, method=method))
    assert [said["passed"] for said in judged(log, "graded")] == [False]
    assert log.remarks == snapshot


def test_a_long_sample_is_in_several_frames(tmp_path: Path) -> None:
    """Inspect cuts what is long into frames of Zstandard, which follow each other: all of them are read."""
    file = packed_log(tmp_path / "log.eval", [sample()], method=ZSTD)
    codec, text = pyarrow.Codec("zstd"), GOOD.data
    framed = b"".join(codec.compress(text[at : at + 50], asbytes=True) for at in range(0, len(text), 50))
    whole, content = codec.compress(text, asbytes=True), file.read_bytes()
    sizes = struct.pack("<L", len(whole)), struct.pack("<L", len(framed))
    _, directory = content.split(whole)
    longer = content.replace(whole, framed).replace(*sizes)
    at = struct.pack("<L", content.index(directory)), struct.pack("<L", longer.index(directory.replace(*sizes)))
    file.write_bytes(longer[:-22] + longer[-22:].replace(*at))
    assert [said["passed"] for said in judged(read_log(file), "graded")] == [True]


def test_two_samples_of_one_id_and_epoch_are_told(tmp_path: Path) -> None:
    """Nothing says which of two such samples counts where both stand in a log."""
    with pytest.raises(JudgeFixturesError, match="row 2: sample 's1' of epoch 1 is also in row 1"):
        read_log(json_log(tmp_path / "log.json", [sample(), sample()]))


def test_a_run_that_has_not_ended_is_told(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Until its run ends a packed log has no header, and what it lacks may be no accident."""
    start = Member("_journal/start.json", {"version": 2, "eval": {"dataset": {"samples": 9}}})
    log = read_log(pack(tmp_path / "log.eval", [start, GOOD]))
    assert lines_about(log.remarks[0], "'started'") == snapshot


BOMB = """
import resource, sys
from pathlib import Path
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError
import pyarrow
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_log(Path(sys.argv[1]))
except JudgeFixturesError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("method", [8, ZSTD])
def test_a_bomb_stops_soon_and_in_little_memory(method: int, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A member that unpacks to more than a log has is given up at its limit, whatever size the archive claims."""
    bomb = Member("samples/s1_epoch_1.json", bytes(200 * 1024**2), method, size=1000)
    file = pack(tmp_path / "bomb.eval", [HEADER, bomb])
    del bomb
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(file)], capture_output=True, text=True, timeout=60, check=True
    )
    said, grown = done.stdout.splitlines()
    assert time.monotonic() - began < 40
    assert int(grown) < 300
    assert "samples/s1_epoch_1.json: " in said
    if method == ZSTD:  # zipfile itself ends a deflated member where the archive says that it ends
        assert lines_about(said, "zip bomb") == snapshot


@pytest.mark.parametrize("method", [8, ZSTD])
def test_all_members_together_have_a_limit(
    method: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Many members that are small enough each are given up where they are too much together."""
    monkeypatch.setattr(inspect_archive, "WHOLE", 1024**2)
    many = [sample(f"s{number}", text="x" * 300_000) for number in range(5)]
    with pytest.raises(JudgeFixturesError) as error:
        read_log(packed_log(tmp_path / "log.eval", many, method=method))
    assert str(error.value) == snapshot
    monkeypatch.setattr(inspect_archive, "LARGEST", 1000)
    with pytest.raises(JudgeFixturesError) as error:
        read_log(packed_log(tmp_path / "log.eval", many, method=method))
    assert str(error.value) == snapshot


@pytest.mark.parametrize("method", [8, ZSTD])
def test_long_ids_are_told_apart(method: int, tmp_path: Path) -> None:
    """Samples whose ids are longer than a message shows, or differ in white space alone, have their own scores."""
    names = ["x" * 200 + "1", "x" * 200 + "2", "a  b", "a b"]
    values = "CIIC"
    many = [sample(name, value=value) for name, value in zip(names, values, strict=True)]
    said = judged(read_log(packed_log(tmp_path / "log.eval", many, method=method)), "graded")
    assert {each["id"]: each["passed"] for each in said} == dict(zip(names, (True, False, False, True), strict=True))


@pytest.mark.parametrize("method", [8, ZSTD])
def test_transcripts_are_not_kept(method: int, tmp_path: Path) -> None:
    """A log whose transcripts are long is read one sample at a time."""
    events = [{"event": "model", "text": "word " * 20} for _ in range(1000)]
    many = (sample(f"s{number}", events=events) for number in range(300))
    file = packed_log(tmp_path / "log.eval", many, method=method)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    log = read_log(file)
    assert len(log.rows) == 300
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # of 45 MB of text, and more as objects


# --- anything else ------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("C"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "id", "text", "x"]), inner),
    max_leaves=5,
)
PLACES = [
    ("version",),
    ("status",),
    ("eval",),
    ("eval", "model"),
    ("results",),
    ("results", "scores"),
    ("results", "scores", 0),
    ("samples",),
    ("samples", 0),
    ("samples", 0, "scores"),
    ("samples", 0, "limit"),
    ("samples", 0, "invalidation"),
    *(
        ("samples", 1, name)
        for name in ("id", "epoch", "input", "target", "output", "scores", "metadata", "error", "score")
    ),
    ("samples", 1, "output", "choices"),
    ("samples", 1, "scores", "model_graded_qa"),
    *(
        ("samples", 1, "scores", "model_graded_qa", name)
        for name in ("value", "explanation", "metadata", "history", "reason")
    ),
]
GRADED = document(f"{NEW}.json")


@settings(max_examples=100, deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=3), as_choices=st.booleans())
def test_any_change_of_a_log_gives_rows_or_a_sentence(
    changes: list[tuple[tuple[Any, ...], Any]], as_choices: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wrong types anywhere are rows, counted and told, or one sentence: never another exception."""
    held = copy.deepcopy({**GRADED, "samples": [{**each, "events": []} for each in GRADED["samples"][:3]]})
    if as_choices:
        held["samples"][0]["metadata"] = {"order": "1-2"}
    for place, value in changes:
        inner: Any = held
        for step in place[:-1]:
            known = isinstance(inner, dict) and step in inner
            known = known or (isinstance(inner, list) and isinstance(step, int) and step < len(inner))
            inner = inner[step] if known else None
        fits = isinstance(inner, dict) or (
            isinstance(inner, list) and isinstance(place[-1], int) and place[-1] < len(inner)
        )
        if fits:
            inner[place[-1]] = value
    file = tmp_path_factory.mktemp("log") / "log.json"
    file.write_text(json.dumps(held))
    said = read_or_told(file, "inspect")
    if isinstance(said, str):
        assert str(file) in said
        return
    scores = [row.fields["judged"]["score"] for row in said if "score" in row.fields.get("judged", {})]
    assert all(map(math.isfinite, scores))
