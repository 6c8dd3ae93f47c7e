"""Reports of several runs: put together as one, and compared with an older one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.forked import gate_here
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.models.check_rows import ContrastRow, PairShifts
from judgefixtures.models.findings import Finding, Row
from judgefixtures.report.comparison import ReportChanges, compare_reports
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.statistics import Status, paired_difference, proportion
from judgefixtures.util.errors import JudgeFixturesError

JUDGES = ["--judge", "simulated-candid", "--judge", "simulated-gpt-4o"]
SWAP = ["--judge", "simulated-candid", "--judge-baseline", "simulated-gpt-4o"]
# What three machines run, and what one runs alone.
RUNS = {
    "gates": (
        ["-k", "provenance and house-close", *JUDGES],
        ["-k", "(recency or position) and not stories", *JUDGES],
        ["-k", "accuracy and house-qa", *JUDGES],
    ),
    "swap": (
        ["-k", "swap and recency", *SWAP],
        ["-k", "swap and accuracy", *SWAP],
        ["-k", "swap and provenance", *SWAP],
    ),
}
WHOLE = {
    "gates": [
        "-n",
        "2",
        "-k",
        "(provenance and house-close) or ((recency or position) and not stories) or (accuracy and house-qa)",
        *JUDGES,
    ],
    "swap": ["-k", "swap", *SWAP],
}


def ran(folder: Path, *options: str) -> int:
    """Run the suite with a report, and return its exit code."""
    return gate_here("--judge-report", folder, *options).returncode


def files(folder: Path) -> Mapping[str, bytes]:
    """Return every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("name", RUNS)
def test_shards_are_one_run(name: str, tmp_path: Path) -> None:
    """Reports of parts, in whatever order, give the report of one run of all: every file, byte for byte."""
    shards = [tmp_path / f"shard-{number}" for number, _ in enumerate(RUNS[name])]
    for folder, options in zip(shards, RUNS[name], strict=True):
        assert ran(folder, *options) in (0, 1)
    code = ran(tmp_path / "one", *WHOLE[name])
    for number, order in enumerate((shards, shards[::-1])):
        into = tmp_path / f"merged-{number}"
        # In a process of its own: other tests of this one know secrets that stand in the pairs, too.
        merge = [sys.executable, "-m", "judgefixtures", "report", "merge", *map(str, order), "--into", str(into)]
        merged = subprocess.run(merge, capture_output=True, text=True, check=False)
        assert merged.returncode == code, merged.stderr
        assert "report.json" in merged.stdout
        assert files(into) == files(tmp_path / "one")
    report = json.loads((tmp_path / "one" / "report.json").read_text())
    assert all(json.loads((folder / "report.json").read_text()) != report for folder in shards)


def found(status: Status = Status.PASS, moved: int = 0, n: int = 100, judge: str = "mine", first: int = 0) -> Finding:
    """Return the finding of a contrast in which some pairs, from the first on, moved."""
    estimate = paired_difference(moved, 0, n)
    names = {"judge": judge, "dataset": "qa", "contrast": "recency-new-old"}
    moves = {f"p{number}": float(first <= number < first + moved) for number in range(n)}
    rows = {"contrasts": (ContrastRow(**names, vsr=estimate),)}
    finding = Finding("contrast", judge, "qa", "recency-new-old", status, rows=rows)
    return finding.with_evidence(moves=[PairShifts(**names, moves=moves)])


def record(*findings: Finding, item: str = "i", judges: Mapping[str, Row] | None = None, lost: str = "") -> RunRecord:
    """Return what a run of one item leaves behind."""
    result = {"item": item, "findings": [each.to_json() for each in findings], "judges": judges or {}, "failed": False}
    return RunRecord.of(RunInfo("1", "2026-01-01", lost=lost), [result], [], [], [])


def written(folder: Path, left: RunRecord) -> Path:
    """Write what a run leaves behind and return its folder."""
    folder.mkdir()
    for name, text in left.files().items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    "other",
    [
        record(found(moved=9)),
        record(found(), judges={"mine": {"model": "b"}}, item="j"),
        RunRecord.of(RunInfo("2", "2026-01-01"), [], [], [], []),
        RunRecord.of(RunInfo("1", "2026-01-01", ("--judge-pairs=2",)), [], [], [], []),
    ],
)
def test_what_is_no_part_of_the_run_is_refused(
    other: RunRecord, tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Two results of one item, two judges of one name or two versions are no parts of one run: exit code 2, and why."""
    one = written(tmp_path / "one", record(found(), judges={"mine": {"model": "a"}}))
    assert (
        main(["report", "merge", str(one), str(written(tmp_path / "two", other)), "--into", str(tmp_path / "m")]) == 2
    )
    assert capsys.readouterr().err == snapshot
    assert not (tmp_path / "m").exists()


CHANGED = "was changed or cut off"


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("results.jsonl", None, "does not exist"),
        ("results.jsonl", lambda _: "{}", "did not write"),
        ("results.jsonl", lambda _: "", "did not write"),
        ("results.jsonl", lambda _: "[1]", "did not write"),
        ("results.jsonl", lambda _: "{", "did not write"),
        ("results.jsonl", lambda text: text.replace('_results": 3', '_results": 2'), "run the tests again"),
        ("results.jsonl", lambda text: text.replace('"version"', '"edition"'), "did not write"),
        ("results.jsonl", lambda text: text.replace('"PASS"', '"FAIL"'), CHANGED),
        ("results.jsonl", lambda text: "".join(text.splitlines(keepends=True)[:-1]), CHANGED),  # a result is lost
        ("results.jsonl", lambda text: text[:-3], CHANGED),
        ("judgments.jsonl", None, "does not exist"),
        ("judgments.jsonl", lambda text: text + '{"judge": "x"}\n', CHANGED),
        ("pairs.jsonl", lambda text: text + '{"dataset": "x"}\n', CHANGED),
        ("pairs.jsonl", lambda text: text + "\n", CHANGED),
    ],
)
def test_a_folder_that_is_no_report_is_refused(
    name: str, change: Callable[[str], str] | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is missing, was changed or is cut short, at a line's end too, is one sentence, and exit code 2."""
    folder = written(tmp_path / "one", record(found()))
    text = (folder / name).read_text()
    (folder / name).unlink()
    if change is not None:
        assert change(text) != text
        (folder / name).write_text(change(text))
    assert main(["report", "merge", str(folder), "--into", str(tmp_path / "m")]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert str(folder) in said


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head["digests"].pop("judgments.jsonl"),  # what another version may write, whole as it is
        lambda head: head.update(shared=None),
        lambda head: head.update(digests=head["digests"].popitem()),
    ],
)
def test_a_report_of_another_form_is_refused(
    change: Callable[[dict[str, Any]], object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    """A file of today's format that lacks what this version needs is one sentence as well."""
    folder = written(tmp_path / "one", record(found()))
    head, _, items = (folder / "results.jsonl").read_text().partition("\n")
    fields = json.loads(head)
    change(fields)
    (folder / "results.jsonl").write_text(f"{json.dumps(fields)}\n{items}")
    assert main(["report", "merge", str(folder), "--into", str(tmp_path / "m")]) == 2
    assert lines_about(capsys.readouterr().err, "--judge-report") == snapshot


def passed(item: str, judge: str = "mine") -> RunRecord:
    """Return what a run of one item leaves behind that passed."""
    return record(Finding("accuracy", judge, "qa", "accuracy", Status.PASS), item=item)


def test_paths_may_differ_from_part_to_part(tmp_path: Path) -> None:
    """Where a machine had its recordings is its own affair."""
    shards = [
        written(tmp_path / name, replace(part, about=replace(part.about, options=(f"--judge-cassettes={name}",))))
        for name, part in (("a", passed("i")), ("b", passed("j")))
    ]
    assert main(["report", "merge", *map(str, shards), "--into", str(tmp_path / "m")]) == 0


def test_prices_are_in_one_order(tmp_path: Path) -> None:
    """In whatever order parts are named, the files are the same: of judges of several parts, too."""
    parts = {"a": passed("i", "z"), "b": passed("j", "b")}
    shards = [
        written(tmp_path / name, replace(part, about=replace(part.about, prices={judge: {}})))
        for (name, part), judge in zip(parts.items(), "zb", strict=True)
    ]
    for into, order in (("m", shards), ("n", shards[::-1])):
        assert main(["report", "merge", *map(str, order), "--into", str(tmp_path / into)]) == 0
    assert files(tmp_path / "m") == files(tmp_path / "n")


def test_a_part_that_was_stopped_is_no_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """What a stopped run did not come to is an ERROR of the whole, unless another part has it."""
    one = passed("i")
    cut = written(tmp_path / "a", replace(one, about=replace(one.about, unfinished=("j",))))
    assert main(["report", "merge", str(cut), "--into", str(tmp_path / "m")]) == 1
    assert lines_about(capsys.readouterr().out, "stopped early") == snapshot
    assert json.loads((tmp_path / "m" / "report.json").read_text())["status"] == "ERROR"
    rest = written(tmp_path / "b", passed("j"))
    assert main(["report", "merge", str(cut), str(rest), "--into", str(tmp_path / "n")]) == 0


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_a_run_that_x_ended_is_no_whole(tmp_path: Path, options: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    """-x leaves items out: alone they are an ERROR, and with a run of the others the parts are whole."""
    selection = ("-k", "recency", "--judge", "simulated-gpt-4o")
    assert ran(tmp_path / "cut", *selection, "-x", *options) == (2 if options else 1)  # xdist is interrupted by itself
    report = json.loads((tmp_path / "cut" / "report.json").read_text())
    assert report["status"] == "ERROR"
    assert lines_about(report["warnings"], "stopped early") == snapshot
    assert main(["report", "merge", str(tmp_path / "cut"), "--into", str(tmp_path / "m")]) == 1
    assert json.loads((tmp_path / "m" / "report.json").read_text())["status"] == "ERROR"
    assert ran(tmp_path / "whole", *selection) == 1
    parts = [str(tmp_path / name) for name in ("cut", "whole")]
    assert main(["report", "merge", *parts, "--into", str(tmp_path / "n")]) == 1
    assert json.loads((tmp_path / "n" / "report.json").read_text())["status"] == "FAIL"


@pytest.mark.whole
def test_a_reader_that_has_enough_ends_no_command_in_a_traceback(tmp_path: Path) -> None:
    """`report compare ... | head` says what was read and nothing else."""
    for name in ("a", "b"):
        written(tmp_path / name, record(found()))
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "judgefixtures", "report", "compare", str(tmp_path / "a"), str(tmp_path / "b")]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_items_that_a_shard_lost_are_an_error(tmp_path: Path) -> None:
    """What one of the machines lost is lost to the whole: status ERROR, exit code 1 where others passed."""
    passed = Finding("accuracy", "mine", "qa", "accuracy", Status.PASS)
    shards = [
        written(tmp_path / "a", record(passed, lost="2 items were lost")),
        written(tmp_path / "b", record(passed, item="j")),
    ]
    assert main(["report", "merge", *map(str, shards), "--into", str(tmp_path / "m")]) == 1
    report = json.loads((tmp_path / "m" / "report.json").read_text())
    assert report["status"] == "ERROR"
    assert "2 items were lost" in report["warnings"]


# --- compared ------------------------------------------------------------------------------------------------


def changes(old: Finding, new: Finding) -> ReportChanges:
    """Return what changed from one finding to another."""
    return compare_reports(record(old), record(new))


def test_the_same_report_did_not_change(snapshot: SnapshotAssertion) -> None:
    """Nothing differs, and nothing is said to."""
    same = changes(found(moved=7), found(moved=7))
    assert lines_about(same.lines[0], "CHANGE: 0") == snapshot
    assert not same.beyond_chance


def test_a_change_of_many_pairs_is_more_than_chance() -> None:
    """Twenty pairs of a hundred that move now and did not before are named, with old, new and the interval."""
    (first, *_), text = changes(found(), found(moved=20)).lines, "\n".join(changes(found(), found(moved=20)).lines)
    assert first.startswith("CHANGED: 1 of 1 estimates")
    assert "VSR of recency-new-old" in text
    assert "+0.20" in text
    assert "same" in text


def test_a_change_of_few_pairs_is_noise(snapshot: SnapshotAssertion) -> None:
    """Three pairs more than before are shown, and said to be no more than chance."""
    found_changes = changes(found(moved=4), found(moved=7))
    assert lines_about(found_changes.lines[0], "CHANGE beyond") == snapshot
    assert not found_changes.beyond_chance


def test_related_pairs_are_not_taken_for_many() -> None:
    """Twenty pairs of two documents that moved together are two changes, which chance makes; of twenty they are not."""

    def beyond(cluster: int) -> bool:
        pairs = [
            {"dataset": "qa", "pair": f"p{number}", "cluster": f"{number // cluster}", "judges": ["mine"]}
            for number in range(100)
        ]
        old, new = (
            {"item": "i", "findings": [found(moved=moved).to_json()], "judges": {}, "failed": False}
            for moved in (0, 20)
        )
        return compare_reports(
            *(RunRecord.of(RunInfo("1", "d"), [row], [], pairs, []) for row in (old, new))
        ).beyond_chance

    assert beyond(1)
    assert not beyond(10)


def test_the_same_rate_of_other_pairs_is_no_change_of_the_rate() -> None:
    """Pairs that changed both ways in equal number leave the estimate where it was."""
    assert not changes(found(moved=10), found(moved=10, first=50)).beyond_chance


def test_other_pairs_are_compared_as_independent() -> None:
    """A report about a different number of pairs is compared with a wider interval, and the line says so."""
    apart = changes(found(moved=10), found(moved=20, n=80))
    assert "  others  " in apart.lines[3]


def test_levels_do_not_depend_on_which_report_is_named_first() -> None:
    """An interval of .90 and one of .99 are compared at .99, in either order."""

    def at(confidence: float, moved: int, n: int) -> RunRecord:
        wide = paired_difference(moved, 0, n, confidence=confidence)
        row = ContrastRow(judge="mine", dataset="qa", vsr=wide, contrast="recency-new-old")
        return record(replace(found(), rows={"contrasts": (row,)}))

    one, other = at(0.9, 10, 60), at(0.99, 20, 100)
    there, back = (
        re.search(r"99% CI (-?0\.\d+) to (-?0\.\d+)", "\n".join(compare_reports(*pair).lines))
        for pair in ((one, other), (other, one))
    )
    assert there is not None
    assert back is not None
    assert [float(limit) for limit in there.groups()] == [-float(limit) for limit in back.groups()[::-1]]


def test_admissions_are_not_said_to_be_of_other_pairs() -> None:
    """CAR has no score of a pair: it is compared as independent, and no pairs are said to be others."""
    rows = [
        ContrastRow(
            judge="mine", dataset="qa", contrast="recency-new-old", vsr=proportion(20, 60), car=proportion(admitted, 20)
        )
        for admitted in (16, 4)
    ]
    old, new = (record(replace(found(), rows={"contrasts": (row,)})) for row in rows)
    (line,) = (line for line in compare_reports(old, new).lines if "CAR of recency-new-old" in line)
    assert line.split()[-5] == "-"
    assert "yes, p =" in line


def test_what_was_imported_elsewhere_is_no_other_judge() -> None:
    """A second dataset that was imported makes no other judge of the first one's; another log of that does."""

    def by(**answers: list[str]) -> RunRecord:
        return record(found(), judges={"mine": {"provider": "imported", "answers": answers}})

    assert not any(
        "the judge mine" in line for line in compare_reports(by(qa=["a 1"]), by(qa=["a 1"], b=["b 2"])).lines
    )
    assert any("the judge mine" in line for line in compare_reports(by(qa=["a 1"]), by(qa=["a 2"])).lines)


def test_another_status_judge_or_version_is_told(snapshot: SnapshotAssertion) -> None:
    """A result that passed and fails now is told, and so is a judge that is another one."""
    old = record(found(), judges={"mine": {"model": "a"}})
    new = record(found(Status.FAIL, moved=40), judges={"mine": {"model": "b"}})
    text = "\n".join(compare_reports(old, new).lines)
    assert lines_about(text, "qa: recency-new-old", "the judge mine") == snapshot


def test_reports_of_different_things_cannot_be_compared() -> None:
    """Where nothing is in both there is nothing to say."""
    with pytest.raises(JudgeFixturesError, match="cannot be compared"):
        changes(found(), found(judge="other"))
