"""What a run leaves for people and services beside its log: report.md, GitHub, JUnit, exit codes."""

from __future__ import annotations

import re
import shlex
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.forked import gate_here
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.findings import AppliedWaiver, Finding
from judgefixtures.plugin.github import append_summary, workflow_notes
from judgefixtures.report import build_report, markdown_report, report_and_questions
from judgefixtures.report.exit_code import NOT_MEASURED, NOTHING_DECIDED, exit_code, has_only_errors
from judgefixtures.report.markdown import escape_markdown, render_markdown
from judgefixtures.report.overview import headlines
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.statistics import Status
from judgefixtures.util.secrets import register_secrets

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](http://x.invalid/y)",
    "# heading",
    "a | b | c",
    "`code`",
    "**bold** _it_ ~~no~~",
    "https://x.invalid",
    "www.x.invalid",
    "@somebody",
    ":rocket:",
    "#1",
    "]]>",
    "&lt;b&gt;",
    "\u202egnp.exe",
    "\x1b[31mred",
    "one\n::error::two",
    "\\[x](y)",
    "\\",
)


def passed(**more: Any) -> Finding:
    """Return a finding that passed."""
    return Finding(
        **{
            "check": "contrast",
            "judge": "mine",
            "dataset": "qa",
            "name": "recency-new-old",
            "status": Status.PASS,
            "plain": "nothing moved",
            **more,
        }
    )


def record(*findings: Finding, failed: bool = False, lost: str = "") -> RunRecord:
    """Return what a run leaves behind."""
    results = [
        {"item": f"t.py::t[{number}]", "findings": [each.to_json()], "judges": {}, "failed": failed}
        for number, each in enumerate(findings)
    ]
    return RunRecord.of(RunInfo("1", "2026-01-01", lost=lost), results, [], [], [])


# --- report.md -----------------------------------------------------------------------------------------------


def rendered(markdown: str) -> str:
    """Return what is left of escaped Markdown when its backslashes are taken away."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_shows_literally(text: str) -> None:
    """Markdown's own signs are escaped, the text is one line, and what is unseen is spelled."""
    found = escape_markdown(text)
    assert "\n" not in found
    assert "\x1b" not in found
    assert "\u202e" not in found
    bare = re.sub(r"\\.", "", found)
    assert not re.search(r"[<>\[\]`|*_@~]|https?:\S|www\.|:\S|#\S|&", bare)
    shown = rendered(found)
    if "\u202e" not in text and text.isprintable():
        assert shown == text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_sheet_shows_hostile_text_literally(text: str) -> None:
    """Wherever a text from outside stands (judge, dataset, reasons, waiver, warning), it is escaped."""
    finding = passed(judge=text, dataset=text, plain=text, status=Status.FAIL, evidence={"warnings": [text]})
    markdown = markdown_report(report_and_questions(record(finding)))
    # The command stands in a block of code, which an indented line cannot leave.
    body = re.sub(r"\\.", "", "\n".join(line for line in markdown.splitlines() if not line.startswith("    ")))
    assert "<" not in body
    assert "](" not in body
    assert "://" not in body
    assert "\u202e" not in markdown
    assert not any(line.startswith("::") for line in markdown.splitlines())


def test_a_sheet_says_what_came_of_each_judge(snapshot: SnapshotAssertion) -> None:
    """The title is the status, and a sentence a judge follows."""
    report = build_report([passed(), passed(judge="other", status=Status.FAIL)])
    lines = render_markdown(report).splitlines()
    assert lines[0] == "# Judge gate: FAIL"
    assert lines_about(lines, "mine passed") == snapshot
    assert any("other: 1 of 1 check failed" in line for line in lines)


def test_of_several_results_the_worst_comes_first(snapshot: SnapshotAssertion) -> None:
    """One FAIL among ten PASSes is the result, and the counts stand worst first."""
    report = build_report(
        [
            passed(name="a", status=Status.FAIL),
            passed(name="b", status=Status.ERROR),
            *(passed(name=f"c{number}") for number in range(8)),
        ]
    )
    assert headlines(report) == snapshot


def test_what_cannot_be_told_is_not_said_to_want_pairs(snapshot: SnapshotAssertion) -> None:
    """A result that is undecided for another reason than too few pairs is not promised a number of them."""
    (line,) = headlines(build_report([passed(status=Status.INCONCLUSIVE)]))
    assert lines_about(line, "undecided") == snapshot


@pytest.mark.parametrize(("movable", "said"), [((0.0, 0.01), True), ((0.0, 0.5), False)])
def test_a_pass_says_how_far_it_reaches(movable: tuple[float, ...], said: bool) -> None:
    """Where hardly a pair was a close call in any contrast the headline says so, and elsewhere it does not."""
    report = build_report([passed()])
    rows = [{"judge": "mine", "sentences": {"x": "a"}, "movable": {"value": value}} for value in movable]
    (line,) = headlines({**report, "contrasts": rows})
    assert line.endswith("close for this judge") == said


def test_an_expired_waiver_is_no_broken_limit(snapshot: SnapshotAssertion) -> None:
    """What failed because nobody answers for it any more says so, and its limit is not said to be broken."""
    lapsed = passed().no_longer_waived("the waiver of recency-new-old by us expired on 2026-01-31")
    report = build_report([lapsed, passed(name="other")])
    assert headlines(report) == snapshot
    assert lines_about(rendered(render_markdown(report)), "of recency-new-old") == snapshot
    (note,) = workflow_notes([dict(result("x") | {"findings": [lapsed.to_json()]})], {"GITHUB_ACTIONS": "true"})
    assert "expired on 2026-01-31" in note
    broken = build_report([lapsed, passed(name="other", status=Status.FAIL)])
    assert lines_about(headlines(broken)[0], "demonstrably beyond") == snapshot


def test_a_margin_stands_beside_what_was_measured() -> None:
    """A part of a decision has its difference and interval in one column each, and what is allowed in another."""
    part = {
        "kind": "abs-vsr",
        "name": "recency",
        "role": "primary",
        "status": "PASS",
        "n": 90,
        "value": 0.02,
        "low": -0.01,
        "high": 0.05,
        "margin": 0.15,
        "message": "",
    }
    decision = {
        "judge": "new",
        "baseline": "old",
        "status": "APPROVE",
        "reasons": [],
        "components": [part],
        "guard_margin": None,
    }
    report = {**build_report([passed()]), "decision": decision, "decisions": [decision]}
    (row,) = (line for line in rendered(render_markdown(report)).splitlines() if "| PASS | 90 |" in line)
    assert row.split(" | ")[2:] == ["90", "+0.02", "-0.010 to 0.050", "worse by 0.15 |"]


def test_accuracy_that_failed_is_told(snapshot: SnapshotAssertion) -> None:
    """What is no contrast and did not pass has a sentence of its own on the page."""
    failed = passed(check="accuracy", name="accuracy", status=Status.FAIL, plain="mine is right on 3 of 9 pairs")
    report = build_report([failed, passed()])
    assert lines_about(rendered(render_markdown(report)).splitlines(), "pairs (accuracy") == snapshot
    assert "Other checks" not in render_markdown(build_report([passed()]))


def test_what_is_waived_is_not_said_to_keep_to_limits(snapshot: SnapshotAssertion) -> None:
    """A judge whose failures are waived passed nothing by that: the sentence says that somebody answers for them."""
    waived = passed(status=Status.FAIL).waived_by(AppliedWaiver("a", "b", "2999-01-01"))
    for findings in ([waived], [waived, passed(name="other")]):
        (line,) = (each for each in render_markdown(build_report(findings)).splitlines() if each.startswith("**"))
        assert "waived" in line.split(":")[2]
        assert lines_about(line, "waived") == snapshot
        assert "to every limit" not in line


@pytest.mark.parametrize("name", ["a $(id) b", 'quo"te', "`x`", "plain-1.0", "two words"])
def test_a_command_is_read_by_a_shell_as_it_was_meant(name: str) -> None:
    """Whatever a judge is called, the command that a report names gives pytest that name and runs nothing else."""
    command = report_and_questions(record(passed(judge=name)))["run"]["command"]
    words = shlex.split(command)
    assert words[words.index("--judge") + 1] == name
    done = subprocess.run(
        ["sh", "-c", command.replace("pytest", "printf '%s\\n'", 1)], capture_output=True, text=True, check=True
    )
    assert name in done.stdout.splitlines()


def test_a_control_that_is_off_is_about_no_dataset(snapshot: SnapshotAssertion) -> None:
    """`control = false` is told as such, on no dataset at all."""
    row = {"judge": "mine", "dataset": None, "status": "NOT_APPLICABLE", "message": "control = false"}
    markdown = render_markdown({**build_report([passed()]), "controls": [row]})
    assert lines_about(markdown, "control of") == snapshot
    assert "None" not in markdown


# --- GitHub --------------------------------------------------------------------------------------------------


def test_the_summary_of_a_job_is_appended_to(tmp_path: Path) -> None:
    """What stands in the file stays; without a job nothing is written; a file that cannot be written is told."""
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    assert append_summary(lambda: "# now", {"GITHUB_STEP_SUMMARY": str(file)}) == ""
    assert file.read_text() == "before\n# now\n"
    assert append_summary(lambda: "# now", {}) == ""
    assert "cannot write the job summary" in append_summary(lambda: "# now", {"GITHUB_STEP_SUMMARY": str(tmp_path)})


def result(text: str, number: int = 0, *, failed: bool = True) -> Mapping[str, Any]:
    """Return the result of an item."""
    finding = passed(judge=text, plain=text, status=Status.FAIL if failed else Status.PASS)
    return {"item": f"tests/t{number}.py::t", "failed": failed, "findings": [finding.to_json()]}


@pytest.mark.parametrize("text", [*HOSTILE, "100% sure", "a\r\n::set-output name=x::y", "x,title=y::z", "é \U0001f680"])
def test_a_note_is_one_command_whatever_it_says(text: str) -> None:
    """A failing item is one line, one command, and decodes to the text that it was made of."""
    (line,) = workflow_notes([dict(result(text))], {"GITHUB_ACTIONS": "true"})
    assert "\n" not in line
    assert "\r" not in line
    assert line.startswith("::error file=tests/t0.py,title=")
    head, _, said = line[2:].partition("::")
    assert head.count(",") == 1
    assert said == said.strip("\x1b")
    decoded = re.sub(rb"%([0-9A-F]{2})", lambda code: bytes.fromhex(code[1].decode()), said.encode())
    assert decoded.decode() == text


def test_a_secret_is_in_no_note() -> None:
    """A key with signs that a command escapes is masked all the same."""
    register_secrets("planted%key:with,signs-0123456789")
    (line,) = workflow_notes([dict(result("said planted%key:with,signs-0123456789 to me"))], {"GITHUB_ACTIONS": "true"})
    assert "planted" not in line
    assert "scrubbed" in line


def test_notes_are_for_failures_on_github_and_few() -> None:
    """Nothing is noted of what passed, or elsewhere; of many failures the first ten, and how many more there are."""
    github = {"GITHUB_ACTIONS": "true"}
    assert list(workflow_notes([dict(result("x", failed=False))], github)) == []
    assert list(workflow_notes([dict(result("x"))], {})) == []
    lines = list(workflow_notes([dict(result("x", number)) for number in range(13)], github))
    assert len(lines) == 11
    assert lines[-1].startswith("::warning")
    assert "3 more" in lines[-1]


# --- exit codes ----------------------------------------------------------------------------------------------


def ended(*statuses: Status, failed: bool = True, lost: str = "") -> RunRecord:
    """Return what a run of items of these statuses leaves behind: those that do not pass failed, unless tolerated."""
    whole = record(*(passed(status=status) for status in statuses), lost=lost)
    fails = (Status.FAIL, Status.ERROR, *((Status.INCONCLUSIVE,) if failed else ()))
    results = [{**row, "failed": status in fails} for row, status in zip(whole.results, statuses, strict=True)]
    return RunRecord.of(whole.about, results, [], [], [])


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.ERROR], NOT_MEASURED),
        ([Status.ERROR, Status.PASS, Status.NOT_APPLICABLE], NOT_MEASURED),
        ([Status.ERROR, Status.FAIL], 1),
        ([Status.ERROR, Status.INCONCLUSIVE], 1),
        ([Status.INCONCLUSIVE], 1),
        ([Status.PASS], 0),
        ([Status.NOT_APPLICABLE], NOTHING_DECIDED),
        ([Status.NOT_APPLICABLE, Status.PASS], 0),
    ],
)
def test_not_measured_is_errors_alone(statuses: list[Status], expected: int) -> None:
    """A FAIL or an INCONCLUSIVE was measured: only errors, beside what passed, are a run that could not be."""
    assert has_only_errors(ended(*statuses).results) is (expected == NOT_MEASURED)
    assert exit_code(ended(*statuses), {}) == expected


def test_what_is_tolerated_does_not_make_errors_measured() -> None:
    """An INCONCLUSIVE that is let through, or a FAIL that somebody answers for, is no item that failed."""
    assert exit_code(ended(Status.INCONCLUSIVE, Status.ERROR, failed=False), {}) == NOT_MEASURED
    waived = record(passed(status=Status.FAIL).waived_by(AppliedWaiver("a", "b", "2999-01-01")), passed())
    assert exit_code(waived, {}) == 0


def test_items_that_were_lost_are_no_success() -> None:
    """Where items were never reported, what the others found does not make it 0."""
    assert exit_code(ended(Status.PASS, lost="two items"), {}) == 1


def test_a_rejected_swap_is_a_failure() -> None:
    """REJECT is 1 whatever could not be measured beside it, and APPROVE with nothing failed is 0."""
    error = record(passed(status=Status.ERROR), failed=True)
    assert exit_code(error, {"decision": {"status": "REJECT"}}) == 1
    assert exit_code(error, {"decision": {"status": "INCONCLUSIVE"}}) == NOT_MEASURED
    assert exit_code(record(passed()), {"decision": {"status": "INCONCLUSIVE"}}) == 1
    assert exit_code(record(passed()), {"decision": {"status": "APPROVE"}}) == 0


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "workers"])
def test_every_junit_case_says_what_was_found(
    tmp_path: Path, workers: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """Passing and failing cases have status, estimate, interval, n, tolerance and a sentence; GitHub has the page."""
    file, page = tmp_path / "junit.xml", tmp_path / "summary.md"
    done = gate_here(
        "-k",
        "recency and house-close and not stories",
        "--judge",
        "simulated-silent",
        "--judge",
        "simulated-faithful",
        f"--junitxml={file}",
        *workers,
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(page),
    )
    assert done.returncode == 1
    cases = ET.parse(file).getroot().iter("testcase")
    told = {case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases}
    assert sorted(found["status"] for found in told.values()) == ["FAIL", "PASS"]
    for found in sorted(told.values(), key=lambda found: found["status"]):
        assert {"estimate", "low", "high", "n", "tolerance", "confidence", "says"} <= set(found)
        assert float(found["low"]) <= float(found["estimate"]) <= float(found["high"])
        assert (found["n"], found["tolerance"]) == ("100", "0.15")
        assert lines_about(found["says"], '"written recently') == snapshot
    assert page.read_text().startswith("# Judge gate: FAIL")
    assert done.stdout.count("::error file=tests/judge/test_recency.py,title=simulated-silent") == 1


@pytest.mark.slow
@pytest.mark.whole
def test_what_could_not_be_measured_has_a_code_of_its_own() -> None:
    """Nothing is recorded of the built-in judge gpt-4o: exit code 10; where another judge fails as well, 1."""
    error = ("-k", "recency and not stories", "--judge-dataset", "house-close", "--judge", "gpt-4o")
    assert gate_here(*error).returncode == NOT_MEASURED
    assert gate_here(*error, "--judge", "simulated-faithful", "-n", "2").returncode == NOT_MEASURED
    assert gate_here(*error, "--judge", "simulated-silent").returncode == 1
