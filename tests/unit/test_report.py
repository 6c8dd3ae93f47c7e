"""What a run leaves behind: rows of the contract, the same bytes in any order, a diagnosis one can act on."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import GateDecision
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.contrast_row import contrast_row, error_row
from judgefixtures.checks.diagnosis import failure_diagnosis
from judgefixtures.checks.sections import with_holm
from judgefixtures.config import GateTable, SwapTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.contrasts import NO_CUE, Condition, contrasts
from judgefixtures.models.findings import KINDS, Finding, worst_status
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.swap_rows import SwapRow
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import Verdict
from judgefixtures.report import build_report, terminal_summary, write_report
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.statistics import SEVERITY, Status, paired_difference
from judgefixtures.swap import SwapAccuracy, SwapContrast, SwapDecision, decide_swap, guard_margin
from judgefixtures.swap.decide_looks import decide_looks
from judgefixtures.util.errors import JudgeFixturesError

CONTRAST = contrasts("recency")[0]
IDENTITY = {"provider": "openai", "model": "m", "parameters": {"temperature": 0.0}}

# design.md, "Report"
CONTRACT = {
    "judge",
    "dataset",
    "family",
    "contrast",
    "x",
    "y",
    "n",
    "n11",
    "n10",
    "n01",
    "n00",
    "invalid_pairs",
    "first_selection_rate",
    "vsr",
    "flip_rate",
    "car",
    "car_all",
    "silent_shift_rate",
    "mcnemar_p",
    "p_pass",
    "p_fail",
    "p_fail_holm",
    "tolerance",
    "vsr_status",
    "car_status",
    "status",
    "message",
}
ESTIMATES = ("vsr", "flip_rate", "car", "car_all", "silent_shift_rate", "admitted_shift", "unadmitted_shift")
HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\b\x00\x7f\x9b31m\u202e\u2066\u200b\u2028\u2029\udcff"

Row = dict[str, Any]


def judgment(
    number: int,
    condition: Condition,
    choice: Literal[1, 2] | None,
    reason: str = "It explains more.",
    question: str | None = None,
) -> Judgment:
    """Return a judgment of pair `number`; without a choice it is a refusal."""
    pair = Pair(f"pair-{number}", question or f"Question {number}?", "A", "B")
    verdict = Verdict(choice, reason) if choice else Verdict(None, "", "refusal")
    return Judgment(pair, condition, JudgeReply(verdict))


def measured(n10: int, n01: int, n: int = 100, admitted: int = 0, invalid: int = 0) -> ContrastMeasurement:
    """Return a measurement of n complete pairs and some invalid ones; flips stand last."""
    choices: list[Any] = [(1, 1)] * (n - n10 - n01) + [(1, 2)] * n10 + [(2, 1)] * n01 + [(1, None)] * invalid
    admits = range(n - n10 - n01, n - n10 - n01 + admitted)
    reasons = [
        f"I prefer it because it was written recently, {i}." if i in admits else f"Why x {i}."
        for i in range(len(choices))
    ]
    x = [judgment(i, CONTRAST.x, a, reasons[i]) for i, (a, _) in enumerate(choices)]
    return measure_contrast(x, [judgment(i, CONTRAST.y, b, f"Why y {i}.") for i, (_, b) in enumerate(choices)])


def reported(
    found: ContrastMeasurement, judge: str = "mine", dataset: str = "qa", **gate: Any
) -> tuple[Row, GateDecision]:
    """Return the row of a measurement and the decision on it."""
    decision = decide_contrast(found, GateTable(**gate))
    return contrast_row(judge, dataset, CONTRAST, found, decision).to_json(), decision


def told(found: ContrastMeasurement, **gate: Any) -> str:
    """Return the diagnosis of a measurement."""
    row, decision = reported(found, **gate)
    return "\n".join(failure_diagnosis(ContrastRow.from_json(row), found, decision))


def some_row(judge: str, contrast: str, p_fail: float | None, status: str = "PASS") -> Row:
    """Return a row of the contract with this p-value and status."""
    row, _ = reported(measured(1, 0, 10), judge)
    return {**row, "contrast": contrast, "p_fail": p_fail, "status": status}


# --- rows -------------------------------------------------------------------------------------------------


def holding(rows: Sequence[Any] = (), section: str = "contrasts", **evidence: Any) -> Finding:
    """Return a finding that holds these rows and nothing else; its status is the worst of theirs."""
    status = max(
        (Status(row["status"]) for row in rows if not row.get("waived")),
        key=SEVERITY.index,
        default=Status.NOT_APPLICABLE,
    )
    found = tuple(KINDS.get(section, ContrastRow).from_json(row) for row in rows)
    return Finding("contrast", "mine", "qa", "it", status, rows={section: found}).with_evidence(**evidence)


def test_a_row_has_the_fields_of_the_contract() -> None:
    """A contrast's row, measured or not, has the contract's fields, and those that docs/contract.md adds."""
    row, _ = reported(measured(30, 2))
    added = {"waived", "gross_share", "car_reasoning", "thought_not_said", "movable"}
    added |= {"admitted_shift", "unadmitted_shift", "log_odds_shift", "soft_vsr", "score_shift", "contradictions"}
    added |= {"log_odds_status", "score_status", "car_corrected", "false_alarms"}
    added |= {"text", "arms", "sentences", "outcome", "moved", "decided_by"}
    assert set(row) == CONTRACT | added
    assert set(error_row("mine", "qa", CONTRAST, 0.15, "no key").to_json()) == CONTRACT | added
    assert set(build_report([holding([row])])["contrasts"][0]) == CONTRACT | added | {"floor"}


def test_a_row_says_what_was_measured() -> None:
    """Names, counts, estimates and decision stand in the row as they were measured and decided."""
    found = measured(30, 2, admitted=6, invalid=3)
    row, decision = reported(found)
    assert [row[key] for key in ("judge", "dataset", "family", "contrast", "x", "y")] == [
        "mine",
        "qa",
        "recency",
        "recency-new-old",
        "new",
        "old",
    ]
    assert [row[key] for key in ("n", "n11", "n10", "n01", "n00", "invalid_pairs")] == [100, 68, 30, 2, 0, 3]
    assert row["n"] == row["n11"] + row["n10"] + row["n01"] + row["n00"]
    assert row["first_selection_rate"] == {"xy": 0.98, "yx": 0.7}
    vsr = paired_difference(30, 2, 100)
    assert row["vsr"] == {"value": 0.28, "low": vsr.low, "high": vsr.high, "confidence": 0.9, "n": 100}
    assert (row["flip_rate"]["value"], row["flip_rate"]["n"]) == (0.32, 100)
    assert (row["car"]["value"], row["car"]["n"]) == (0.2, 30)
    assert (row["car_all"]["value"], row["car_all"]["n"]) == (6 / 203, 203)
    assert (row["silent_shift_rate"]["value"], row["silent_shift_rate"]["n"]) == (0.24, 100)
    assert (row["admitted_shift"]["value"], row["admitted_shift"]["n"]) == (0.06, 100)
    assert (row["unadmitted_shift"]["value"], row["unadmitted_shift"]["n"]) == (0.22, 100)
    assert row["mcnemar_p"] == found.mcnemar_p
    assert (row["p_pass"], row["p_fail"], row["tolerance"]) == (decision.p_pass, decision.p_fail, 0.15)
    assert (row["vsr_status"], row["car_status"], row["status"]) == ("FAIL", "FAIL", "FAIL")
    assert row["message"] == decision.message
    assert row["p_fail_holm"] is None


def test_an_error_row_measures_nothing() -> None:
    """What could not be measured has no estimate and no p-value, and its message is the error."""
    row = error_row("mine", "qa", CONTRAST, 0.15, "no key").to_json()
    assert (row["status"], row["vsr_status"], row["car_status"]) == ("ERROR", "ERROR", "NOT_APPLICABLE")
    assert row["message"] == "no key"
    empty = (*ESTIMATES, "first_selection_rate", "mcnemar_p", "p_pass", "p_fail", "p_fail_holm")
    assert {row[key] for key in empty} == {None}
    assert {row[key] for key in ("n", "n11", "n10", "n01", "n00", "invalid_pairs")} == {0}


@given(
    n10=st.integers(0, 6),
    n01=st.integers(0, 6),
    n=st.sampled_from([0, 12]),
    invalid=st.integers(0, 3),
    max_silent=st.sampled_from([None, 0.1]),
)
@settings(deadline=None, max_examples=40)
def test_rows_are_plain_json(n10: int, n01: int, n: int, invalid: int, max_silent: float | None) -> None:
    """Whatever the counts, a row survives JSON unchanged: no tuple, no NaN, null where there is nothing."""
    found = measured(n10 if n else 0, n01 if n else 0, n, invalid=invalid)
    row, _ = reported(found, max_invalid=0.5, max_silent=max_silent)
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert {type(row[key]) for key in ("status", "vsr_status", "car_status")} == {str}
    for key in ESTIMATES:
        assert row[key] is None or set(row[key]) == {"value", "low", "high", "confidence", "n"}
    assert (row["vsr"] is None) == (n == 0)
    assert (row["car"] is None) == (row["admitted_shift"] is None) == (n == 0 or n10 == n01)
    assert (row["unadmitted_shift"] is None) == (n == 0)


def test_judgment_row() -> None:
    """A judgment's row says who was asked what, what came back, and what the provider said about itself."""
    verdict = Verdict(2, "I prefer it because it was written recently.", repaired=("fence",), reasoning="hm")
    reply = JudgeReply(verdict, served_model="m-2026-01-01", fingerprint="fp_1", usage=Usage(120, 30, 10))
    row = judgment_row("mine", "qa", Judgment(Pair("p1", "Q", "A", "B"), CONTRAST.y, reply, repeat=3)).to_json()
    expected = {
        "judge": "mine",
        "dataset": "qa",
        "pair": "p1",
        "condition": "recency-old-new",
        "repeat": 3,
        "selected_response": 2,
        "invalid": None,
        "reason": "I prefer it because it was written recently.",
        "acknowledgment": "cited",
        "served_model": "m-2026-01-01",
        "usage": {"input_tokens": 120, "output_tokens": 30, "reasoning_tokens": 10},
    }
    assert {key: row[key] for key in expected} == expected
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_row_of_an_invalid_judgment() -> None:
    """An invalid judgment has its kind and no choice; without cues it acknowledges nothing."""
    row = judgment_row("mine", "qa", judgment(1, NO_CUE, None)).to_json()
    assert (row["selected_response"], row["invalid"], row["condition"]) == (None, "refusal", "no-cue")
    assert row["acknowledgment"] == "absent"
    assert json.loads(json.dumps(row, allow_nan=False)) == row


# --- Holm, order, overall status --------------------------------------------------------------------------


def holm_by_hand(p_values: list[float]) -> list[float]:
    """Return Holm's p-values: the smallest times m, the next times m - 1, never falling, at most 1."""
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


@pytest.mark.parametrize("p_values", [[0.03, 0.001, 0.2, 0.02], [0.01, 0.04, 0.03, 0.005, 0.9], [0.6, 0.7]])
def test_holm_is_per_judge(p_values: list[float]) -> None:
    """p_fail is adjusted over the items of its own judge and no other's."""
    rows = [some_row_of("a", f"c{index}", p) for index, p in enumerate(p_values)]
    others = [some_row_of("b", f"c{index}", 1e-6) for index in range(3)]
    found = with_holm([*others, *reversed(rows)])
    assert [row.p_fail_holm for row in found if row.judge == "a"] == pytest.approx(holm_by_hand(p_values))
    assert [row.p_fail_holm for row in found if row.judge == "b"] == pytest.approx([3e-6] * 3)


def some_row_of(judge: str, contrast: str, p_fail: float | None) -> ContrastRow:
    """Return a row with the fields that order and adjustment look at."""
    return ContrastRow(judge=judge, dataset="qa", family="f", contrast=contrast, p_fail=p_fail)


def test_holm_leaves_untested_rows_out() -> None:
    """A row without a p-value (an ERROR) is adjusted to nothing and does not count among the tests."""
    rows = [some_row_of("a", "c1", 0.01), some_row_of("a", "c2", None), some_row_of("a", "c3", 0.04)]
    assert [row.p_fail_holm for row in with_holm(rows)] == pytest.approx([0.02, None, 0.04])
    assert with_holm([]) == []


def test_holm_changes_nothing_else() -> None:
    """The rows handed in stay as they are: adjusting returns new ones that differ in p_fail_holm alone."""
    row = ContrastRow.from_json(reported(measured(30, 0))[0])
    (adjusted,) = with_holm([row])
    assert row.p_fail_holm is None
    assert adjusted == replace(row, p_fail_holm=row.p_fail)


@given(shuffled=st.permutations(range(16)))
@settings(max_examples=30)
def test_report_order(shuffled: list[int]) -> None:
    """Rows come sorted by judge, dataset, family and contrast, whatever order the items finished in."""
    keys = [(j, d, f, c) for j in "ab" for d in "de" for f in "fg" for c in ("new-old", "x-y")]
    names = ("judge", "dataset", "family", "contrast")
    rows = [ContrastRow(**dict(zip(names, keys[index], strict=True))) for index in shuffled]
    ordered = [(row.judge, row.dataset, row.family, row.contrast) for row in with_holm(rows)]
    assert ordered == keys


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], "NOT_APPLICABLE"),
        (["NOT_APPLICABLE", "PASS"], "PASS"),
        (["PASS", "INCONCLUSIVE", "PASS"], "INCONCLUSIVE"),
        (["FAIL", "INCONCLUSIVE"], "FAIL"),
        (["FAIL", "ERROR", "PASS"], "ERROR"),
    ],
)
def test_overall_is_the_worst(statuses: list[str], expected: str) -> None:
    """The report's status is the worst of its rows, and NOT_APPLICABLE without any."""
    assert worst_status(holding([{"status": status}]) for status in statuses) is Status(expected)


# --- the files --------------------------------------------------------------------------------------------


def results() -> tuple[list[Row], list[Row], dict[str, Row]]:
    """Return rows, judgments and judges of a small run, with each judgment only once."""
    rows, judgments = [], []
    for judge in ("zeta", "alpha"):
        for dataset in ("stories", "qa"):
            rows.append(reported(measured(8, 1, 30), judge, dataset)[0])
            for condition in (CONTRAST.x, CONTRAST.y):
                for number in range(4):
                    found = judgment(number, condition, 1, "Grüße\u2028«so»")
                    judgments.append(judgment_row(judge, dataset, found).to_json())
    return rows, judgments, {"zeta": IDENTITY, "alpha": {**IDENTITY, "model": "n"}}


def record(
    rows: Sequence[Row] = (), judgments: Sequence[Row] = (), judges: Mapping[str, Row] = MappingProxyType({})
) -> RunRecord:
    """Return what a run leaves behind in which each row was an item's."""
    found = [
        {
            "item": f"{row['judge']} {row['dataset']}",
            "findings": [holding([row]).to_json()],
            "failed": False,
            "judges": dict(sorted(judges.items())),
        }
        for row in rows
    ]
    return RunRecord.of(RunInfo("0", "2026-11-22"), found, judgments, [], [])


def written(folder: Path, rows: list[Row], judgments: list[Row], judges: Mapping[str, Row]) -> dict[str, bytes]:
    """Return the bytes of the files that a run with these results leaves behind."""
    write_report(folder, record(rows, judgments, judges))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("seed", range(2))
def test_the_same_bytes_in_any_order(tmp_path: Path, seed: int) -> None:
    """However the results arrive (serially, from workers, judgments twice), the files are the same bytes."""
    rows, judgments, judges = results()
    plain = written(tmp_path / "plain", rows, judgments, judges)
    shuffle = random.Random(seed).shuffle
    again = [*judgments, *json.loads(json.dumps(judgments[::2]))]
    shuffle(rows)
    shuffle(again)
    names = list(judges)
    shuffle(names)
    assert written(tmp_path / "other", rows, again, {name: judges[name] for name in names}) == plain
    assert set(plain) == {"report.json", "report.md", "report.html", "judgments.jsonl", "pairs.jsonl", "results.jsonl"}


def rounded(value: Any) -> Any:
    """Return JSON with 12 significant digits."""
    return json.loads(json.dumps(value), parse_float=lambda digits: float(f"{float(digits):.12g}"))


def test_digits_that_depend_on_the_version_of_scipy_are_not_written(tmp_path: Path) -> None:
    """Numbers have 12 significant digits wherever they stand: what differs behind them gives the same bytes.

    Only results.jsonl, of which a report is computed anew, has every digit.
    """
    rows, judgments, judges = results()
    plain = written(tmp_path / "plain", rows, judgments, judges)
    report = json.loads(plain["report.json"])
    assert report == rounded(report)
    other = json.loads(json.dumps(rows), parse_float=lambda digits: float(digits) * (1 + 1e-15))
    again = written(tmp_path / "other", other, judgments, judges)
    assert {**again, "results.jsonl": b""} == {**plain, "results.jsonl": b""}


def test_report_json(tmp_path: Path) -> None:
    """report.json has schema 1, the status, identities by judge, and the sorted rows, in this order."""
    rows, judgments, judges = results()
    report = json.loads(written(tmp_path, rows, judgments, judges)["report.json"])
    fields = ["schema", "status", "judges", "contrasts", "accuracy", "swap", "four_cells", "warnings", "rankings"]
    assert [field for field in report if field in fields] == fields
    assert report["schema"] == 1
    assert report["status"] == worst_status([holding(rows)])
    assert report["judges"] == judges
    without_floor = [{key: row[key] for key in row if key != "floor"} for row in report["contrasts"]]
    assert without_floor == rounded(rows_as_json(with_holm(map(ContrastRow.from_json, rows))))
    assert [(row["judge"], row["dataset"]) for row in report["contrasts"]] == [
        ("alpha", "qa"),
        ("alpha", "stories"),
        ("zeta", "qa"),
        ("zeta", "stories"),
    ]
    assert (report["accuracy"], report["swap"]) == ([], [])


def test_judgments_are_written_once(tmp_path: Path) -> None:
    """A judgment that several contrasts share is one line; lines are sorted; a repeat has its own."""
    rows, judgments, judges = results()
    repeated = Judgment(Pair("pair-0", "Q", "A", "B"), CONTRAST.x, JudgeReply(Verdict(1, "")), repeat=1)
    judgments += [judgment_row("alpha", "qa", repeated).to_json(), *judgments]
    lines = written(tmp_path, rows, judgments, judges)["judgments.jsonl"].split(b"\n")
    assert lines.pop() == b""
    fields = ("judge", "dataset", "condition", "pair", "repeat")
    keys = [tuple(json.loads(line)[field] for field in fields) for line in lines]
    assert keys == sorted(set(keys))
    assert len(keys) == 2 * 2 * 2 * 4 + 1
    assert json.loads(lines[0])["reason"] == "Grüße\u2028«so»"
    assert "Grüße".encode() in lines[0]


def test_a_report_without_results(tmp_path: Path) -> None:
    """A run that measured nothing leaves a valid, empty report in a folder that it makes."""
    files = written(tmp_path / "new" / "folder", [], [], {})
    assert files["judgments.jsonl"] == b""
    assert json.loads(files["report.json"])["status"] == "NOT_APPLICABLE"


def test_a_report_replaces_the_one_before(tmp_path: Path) -> None:
    """Writing into the folder of an earlier run leaves nothing of it behind."""
    rows, judgments, judges = results()
    fresh = written(tmp_path / "fresh", rows[:1], judgments[:1], judges)
    written(tmp_path / "used", rows, judgments, judges)
    assert written(tmp_path / "used", rows[:1], judgments[:1], judges) == fresh


@pytest.mark.parametrize("below", [(), ("deeper", "still")], ids=["a file", "below a file"])
def test_an_unwritable_folder_is_a_clear_error(tmp_path: Path, below: tuple[str, ...]) -> None:
    """A folder that cannot be made is an error that names it and the cause, not a traceback."""
    (tmp_path / "file").write_text("")
    folder = tmp_path.joinpath("file", *below)
    with pytest.raises(JudgeFixturesError) as error:
        write_report(folder, record())
    assert str(error.value).endswith((f"{folder}: File exists.", f"{folder}: Not a directory."))


def test_a_file_that_cannot_be_written_is_a_clear_error(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The same holds where the folder is there and a file in it cannot be written."""
    (tmp_path / "report.json").mkdir()
    with pytest.raises(JudgeFixturesError) as error:
        write_report(tmp_path, record())
    assert str(error.value) == snapshot


def test_any_reason_can_be_written(tmp_path: Path) -> None:
    """Whatever string a judge's JSON can hold, "\\ud83d" too, the report is written."""
    row = judgment_row("mine", "qa", judgment(1, CONTRAST.x, 1, "half a pair: \ud83d")).to_json()
    files = written(tmp_path, [], [row], {})
    assert json.loads(files["judgments.jsonl"])["pair"] == "pair-1"


# --- the diagnosis ----------------------------------------------------------------------------------------


def test_diagnosis_of_a_fail(snapshot: SnapshotAssertion) -> None:
    """A failing item says what moved by how much, the limits, what was admitted, and what to look at next."""
    text = told(measured(30, 2, admitted=3))
    lines = text.split("\n")
    assert lines[0] == snapshot
    vsr = paired_difference(30, 2, 100)
    assert lines[1] == (f"  VSR +0.28 (90% CI {vsr.low:.2f} to {vsr.high:.2f}), limit 0.15: FAIL")
    assert lines[2].startswith("  CAR 3/30 = 0.10 (90% CI ")
    assert "minimum 0.80: FAIL" in lines[2]
    assert lines_about(text, "response 1 chosen") == snapshot
    assert "30 verdicts changed towards 'new', 2 towards 'old'" in text


def test_diagnosis_of_an_inconclusive(snapshot: SnapshotAssertion) -> None:
    """An INCONCLUSIVE is called that, never FAIL, and says how many pairs would settle it."""
    text = told(measured(19, 3), vsr_tolerance=0.1, car_threshold=0.01)
    assert lines_about(text, "qa: recency-new-old", "80% power") == snapshot
    assert "FAIL" not in text


@pytest.mark.parametrize(("moved", "shown"), [(0, 0), (1, 1), (3, 3), (9, 3)])
def test_up_to_three_moved_pairs_with_both_reasons(moved: int, shown: int) -> None:
    """The diagnosis quotes up to three moved pairs: question, labels, choices and both reasons."""
    text = told(measured(moved, 0, 20))
    assert text.count("  pair pair-") == shown
    for number in range(20 - moved, 20 - moved + shown):
        assert (
            f"  pair pair-{number}: Question {number}?\n"
            f"    new/old: chose 1 -- Why x {number}.\n"
            f"    old/new: chose 2 -- Why y {number}.\n"
        ) in text + "\n"


def test_silent_followers_are_shown_first() -> None:
    """Of the moved pairs, those that follow the favoured label without admitting it come first."""
    text = told(measured(4, 2, 20, admitted=2))
    shown = [line.split(":")[0] for line in text.split("\n") if line.startswith("  pair ")]
    assert shown == ["  pair pair-16", "  pair pair-17", "  pair pair-14"]


def test_diagnosis_without_a_complete_pair(snapshot: SnapshotAssertion) -> None:
    """Where every pair is invalid the diagnosis says so and quotes no rate."""
    text = told(measured(0, 0, 0, invalid=4))
    assert "is ERROR" in text
    assert lines_about(text, "verdict (refusal") == snapshot
    assert "first response chosen" not in text


def test_long_texts_are_cut() -> None:
    """A long question and a long reason are cut to a line each, and the cut shows."""
    x = judgment(1, CONTRAST.x, 1, "word " * 400, "why " * 200)
    found = measure_contrast([x], [judgment(1, CONTRAST.y, 2, "", "why " * 200)])
    lines = [line for line in told(found).split("\n") if "pair-1" in line or "chose" in line][-3:]
    assert [line[-3:] for line in lines[:2]] == ["...", "..."]
    assert len(lines[0]) < 120
    assert len(lines[1]) < 280
    assert lines[2].endswith("(no reason)")


@given(text=st.text(max_size=60), length=st.integers(0, 3))
@example("THEN", 0)
@settings(max_examples=60, deadline=None)
def test_control_characters_never_reach_the_terminal(text: str, length: int) -> None:
    """Nothing of a question or a reason can move the cursor, recolour, reorder or break a line."""
    hostile = text + HOSTILE * length
    x = judgment(1, CONTRAST.x, 1, hostile, f"Q{hostile}")
    shown = told(measure_contrast([x], [judgment(1, CONTRAST.y, 2, f"R{hostile}", f"Q{hostile}")]))
    assert all(line.isprintable() for line in shown.split("\n"))
    calm = told(measure_contrast([judgment(1, CONTRAST.x, 1)], [judgment(1, CONTRAST.y, 2)]))
    # By which words a reason is read may be said, or not: what is read are letters.
    assert without_readings(shown).count("\n") == without_readings(calm).count("\n")


def without_readings(shown: str) -> str:
    """Return a diagnosis without the lines that say how a reason is read."""
    return "\n".join(line for line in shown.split("\n") if not line.startswith("      read as "))


def test_a_pair_id_cannot_control_the_terminal() -> None:
    """The same holds for a pair's id, which comes from a data file."""
    pair = Pair("p\x1b[2J", "Q", "A", "B")
    x, y = (
        Judgment(pair, condition, JudgeReply(Verdict(choice, "Because.")))
        for condition, choice in ((CONTRAST.x, 1), (CONTRAST.y, 2))
    )
    assert "\x1b" not in told(measure_contrast([x], [y]))


# --- the summary ------------------------------------------------------------------------------------------


def tabled(rows: Sequence[Row]) -> list[str]:
    """Return the table of contrasts in a summary."""
    lines = terminal_summary(build_report([holding(rows)]), 0.05)
    start = next(number for number, line in enumerate(lines) if line.startswith("judge "))
    return lines[start : start + 1 + len(rows)]


def test_summary_has_a_line_a_contrast() -> None:
    """The table shows n, VSR with its interval, flips, CAR as a fraction, and the status of each contrast."""
    row, _ = reported(measured(30, 2, admitted=3))
    header, line = tabled([row])
    assert header.split() == ["judge", "dataset", "contrast", "n", "VSR", "CI", "tolerance", "flips", "CAR", "status"]
    low, high = (f"{row['vsr'][key]:.3f}"[1:] for key in ("low", "high"))
    assert line.split() == [
        "mine",
        "qa",
        "recency-new-old",
        "100",
        "+0.28",
        "90%",
        f"[{low},",
        f"{high}]",
        "0.15",
        "32/100",
        "3/30",
        "FAIL",
    ]
    assert header.index("status") == line.index("FAIL")


def test_summary_shows_the_gross_share_of_an_edit() -> None:
    """Beside the verdicts that moved stands how many of them moved to the edited response."""
    row, _ = reported(measured(3, 2))
    assert "5/100 (3 to it)" in tabled([{**row, "gross_share": row["flip_rate"]}])[1]


def rights(**judges: str) -> dict[str, Any]:
    """Return the result of accuracy items; a letter a pair, upper case where the judge was right."""
    rows = [
        {
            "judge": name,
            "dataset": "d",
            "baseline": name == "base",
            "right": {str(i): (mark.lower(), mark.isupper()) for i, mark in enumerate(marks)},
        }
        for name, marks in judges.items()
    ]
    return holding(rights=rows)


def test_two_judges_differ_category_by_category() -> None:
    """Of two judges every category has its difference, candidate - baseline; small categories are in the report."""
    text = terminal_summary(build_report([rights(base="A" * 20 + "b" * 20 + "c", new="A" * 20 + "B" * 20 + "C")]), 0.05)
    lines = {line.split()[0]: line for line in text if line}
    assert lines["category"].split() == ["category", "n", "new", "base", "difference"]
    assert "0.00 (" in lines["a"]
    assert "+1.00 (" in lines["b"]
    assert "c" not in lines
    assert lines["macro"].endswith("-")


def test_of_several_judges_the_categories_that_differ_are_named() -> None:
    """With three judges, a line names every category in which two of them demonstrably differ."""
    marks = {"one": "A" * 20 + "B" * 20, "two": "A" * 20 + "b" * 20, "three": "A" * 20 + "B" * 20}
    text = terminal_summary(build_report([rights(**marks)]), 0.05)
    named = [line for line in text if line.endswith(" in b")]
    assert [line.split(":")[0].strip() for line in named] == ["one - two", "three - two"]
    assert not [line for line in text if line.endswith(" in a")]


def test_a_diagnosis_says_what_was_thought_and_not_said(snapshot: SnapshotAssertion) -> None:
    """Where reasoning came with the verdicts, one line says how many cite the cue there and not in the reason."""

    def thinking(judgment: Judgment, thought: str) -> Judgment:
        verdict = replace(judgment.verdict, reasoning=thought)
        return replace(judgment, reply=replace(judgment.reply, verdict=verdict))

    x = [
        thinking(judgment(i, CONTRAST.x, 1), "Response 1 is better because it was written recently in 2025.")
        for i in range(30)
    ]
    y = [judgment(i, CONTRAST.y, 2) for i in range(30)]
    said = told(measure_contrast(x, y))
    assert lines_about(said, "reasoning text") == snapshot
    assert "reasoning" not in told(measured(30, 0))


def test_summary_of_what_could_not_be_measured() -> None:
    """An ERROR has dashes where there is nothing to show, never a zero."""
    line = tabled([error_row("mine", "qa", CONTRAST, 0.15, "no key").to_json()])[1]
    assert line.split() == ["mine", "qa", "recency-new-old", "0", "-", "-", "0.15", "-", "-", "ERROR"]


def test_summary_lists_what_survives_holm(snapshot: SnapshotAssertion) -> None:
    """Violations whose adjusted p is below alpha are listed with it; others are not."""
    rows = [
        some_row("mine", "strong", 0.001, "FAIL"),
        some_row("mine", "weak", 0.04, "FAIL"),
        some_row("mine", "none", 0.9),
        some_row("mine", "error", None, "ERROR"),
    ]
    report = build_report([holding(rows)])
    text = "\n".join(terminal_summary(report, 0.05))
    (told,) = (line for line in text.splitlines() if "survive Holm's adjustment" in line)
    assert told == snapshot
    assert "survive" not in "\n".join(terminal_summary(report, 0.001))


def test_summary_explains_every_inconclusive() -> None:
    """An INCONCLUSIVE has its message below the table, so that a warning is never lost."""
    row, decision = reported(measured(19, 3), vsr_tolerance=0.1, car_threshold=0.01)
    text = terminal_summary(build_report([holding([row])]), 0.05)
    assert text[-1].startswith("INCONCLUSIVE mine qa")
    assert text[-1].endswith(f" recency-new-old: {decision.message}")


def test_summary_says_how_noisy_and_how_partial_to_the_first(snapshot: SnapshotAssertion) -> None:
    """Beside the contrasts stand the floor, of repeats and of the placebo, and the preference, where measured."""
    rows = [{**some_row("mine", name, None), "family": name} for name in ("placebo", "position", "recency", "repeat")]
    alone = "\n".join(terminal_summary(build_report([holding(rows[2:3])]), 0.05))
    assert "noise floor" not in alone
    assert "position" not in alone
    estimate = {"value": 0.05, "low": 0.01, "high": 0.09, "confidence": 0.9, "n": 100}
    rows[1]["position"] = {"first": estimate, "consistency": {**estimate, "value": 0.92}, "by_gold": []}
    text = terminal_summary(build_report([holding(rows)]), 0.05)
    flips, vsr = rows[3]["flip_rate"], rows[0]["vsr"]
    assert (flips["value"], vsr["value"]) == (0.1, 0.1)
    (floor,) = (line for line in text if line.startswith("noise floor of mine on qa: "))
    assert "flips between repeats 0.10 (90% CI " in floor
    assert "placebo VSR +0.10 (90% CI " in floor
    (position,) = (line for line in text if line.startswith("position preference of mine on qa: "))
    assert lines_about(position, "first chosen") == snapshot
    assert "in both orders" not in position, "the line of both orders says it"


def test_a_judge_that_disagrees_with_itself_comes_first(snapshot: SnapshotAssertion) -> None:
    """What repeats say of a judge stands before any other warning."""
    row, _ = reported(measured(20, 20))
    noisy = holding([{**row, "family": "repeat"}], warnings=["judge mine: its model is going away"])
    first, *_, second = [line for line in terminal_summary(build_report([noisy]), 0.05) if line.startswith("WARNING")]
    assert lines_about(first, "mine disagrees") == snapshot
    assert "going away" in second


# --- the decision on a swap -------------------------------------------------------------------------------


def some_swap(judge: str, status: str, dataset: str = "qa", usd: float | None = None) -> Finding:
    """Return what an item of accuracy found of a candidate against `old`: so many answers that it has this status.

    20 equal answers leave it open, of 100 they pass; 30 of 100 that the baseline alone has right fail.
    """
    n = 20 if status == "INCONCLUSIVE" else 100
    ids, baseline = [f"p{number}" for number in range(n)], [1.0] * n
    candidate = [0.0] * 30 + [1.0] * 70 if status == "FAIL" else baseline
    row = {
        "judge": judge,
        "baseline": "old",
        "dataset": dataset,
        "contrast": None,
        "quantity": "accuracy",
        "p_fail": None,
        "status": status,
        "waived": None,
    }
    about = {"judge": judge, "baseline": "old", "dataset": dataset, "contrast": None}
    measured = status != "ERROR"
    part = {
        **about,
        "part": asdict(SwapAccuracy(dataset, ids, candidate, baseline)) if measured else None,
        "lacking": [] if measured else ["no key"],
        "swap": {},
        "alpha": 0.05,
        "clusters": {},
        "flips": None,
    }
    price = {"judge": judge, "dataset": dataset, "contrast": None, "pairs": n, "usd_a_pair": usd}
    return Finding(
        "swap",
        judge,
        dataset,
        "accuracy",
        Status(status),
        "old",
        reasons=() if measured else ("no key",),
        rows={"swap": (SwapRow.from_json(row),)},
    ).with_evidence(swap_parts=[part], prices=[price] if measured else [])


@pytest.mark.parametrize(
    ("statuses", "decided", "overall_status"),
    [
        (("PASS", "PASS"), "APPROVE", "PASS"),
        (("PASS", "INCONCLUSIVE"), "INCONCLUSIVE", "INCONCLUSIVE"),
        (("FAIL", "INCONCLUSIVE"), "REJECT", "FAIL"),
        (("PASS", "ERROR"), "INCONCLUSIVE", "ERROR"),
    ],
)
def test_several_candidates_are_decided_apart(statuses: tuple[str, str], decided: str, overall_status: str) -> None:
    """Each candidate has its decision; the run's is the worst of them, with the candidate's name in each reason."""
    report = build_report([some_swap(judge, status) for judge, status in zip("ab", statuses, strict=True)])
    assert report["decision"]["status"] == decided
    assert report["status"] == overall_status
    assert [row["judge"] for row in report["decisions"]] == ["a", "b"]
    worst = [row["judge"] for row in report["decisions"] if row["status"] == decided]
    assert {reason[:3] for reason in report["decision"]["reasons"]} == {f"{judge}: " for judge in worst}
    text = terminal_summary(report, 0.05)
    for row in report["decisions"]:
        assert f"decision on {row['judge']} against old: {row['status']}" in text
    last = text.index(f"decision on b against old: {report['decisions'][1]['status']}")
    assert text.index(f"decision: {decided}") > last


def test_a_report_decides_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's decision sums up the candidates' decisions, and decides nothing again."""
    decided: list[int] = []

    def counting(*parts: Any, **more: Any) -> SwapDecision:
        decided.append(1)
        return decide_looks(*parts, **more)

    monkeypatch.setattr("judgefixtures.checks.swap_decision.decide_looks", counting)
    build_report([some_swap("a", "PASS"), some_swap("b", "FAIL")])
    assert len(decided) == 2


def test_one_candidate_is_decided_without_its_name() -> None:
    """One candidate's decision is the run's, once in the terminal, and its reasons are as they are."""
    report = build_report([some_swap("a", "FAIL")])
    (own,) = report["decisions"]
    assert report["decision"] == {key: value for key, value in own.items() if key not in ("judge", "baseline")}
    assert report["decision"]["status"] == "REJECT"
    assert report["decision"]["reasons"][0].startswith("accuracy: difference -0.30 (90% CI ")
    text = "\n".join(terminal_summary(report, 0.05))
    assert "decision on" not in text
    assert text.count("decision: ") == 1


def test_a_candidate_of_which_nothing_ran_is_not_approved(snapshot: SnapshotAssertion) -> None:
    """What was collected of a candidate and did not run is missing from its decision, and from no other's."""
    asked = [
        {"judge": judge, "baseline": "old", "dataset": "qa", "family": "accuracy", "contrast": None, "kind": None}
        for judge in ("a", "a.b")
    ]
    report = build_report([some_swap("a", "PASS"), holding(required=asked)])
    assert [(row["judge"], row["status"]) for row in report["decisions"]] == [("a", "APPROVE"), ("a.b", "INCONCLUSIVE")]
    expected = ["a.b: accuracy on qa: not compared", "a.b: nothing was compared"]
    assert report["decision"]["reasons"] == expected
    text = terminal_summary(report, 0.05)
    at = text.index("decision on a.b against old: INCONCLUSIVE")
    assert text[at + 1] == snapshot
    assert text[at + 3 : at + 5] == snapshot


def test_what_was_planned_counts_whether_or_not_it_ran() -> None:
    """14 contrasts of which one ran: its guard, and the level of a REJECT, are those of 14; so where it was lost."""
    names = [f"recency-{number}" for number in range(7)]
    required = [
        {"judge": "a", "baseline": "old", "dataset": dataset, "family": "recency", "contrast": name, "kind": "cue"}
        for dataset in ("qa", "stories")
        for name in names
    ]
    still = [(1, 1)] * 100
    cell = SwapContrast("recency", names[0], "qa", [f"p{n}" for n in range(100)], still, still, *[[False] * 100] * 2)
    measured = {
        **required[0],
        "part": asdict(cell),
        "lacking": [],
        "swap": {},
        "alpha": 0.05,
        "clusters": {},
        "flips": None,
    }
    lost = {**measured, **required[1], "part": None, "lacking": ["no key"]}
    report = build_report([holding(required=required), holding(swap_parts=[measured, lost])])
    assert report["decision"]["guard_margin"] == guard_margin(100, 14, SwapTable())
    absent = [
        SwapContrast("recency", name, dataset, [], [], [], [], []) for dataset in ("qa", "stories") for name in names
    ]
    assert tuple(report["decision"]["reasons"]) == (
        "no key",
        *decide_swap([cell, *absent[1:]], [], SwapTable()).reasons,
    )


def test_what_was_found_twice_counts_as_lost_where_it_was_lost_once(snapshot: SnapshotAssertion) -> None:
    """Two items of one part, one of which could not be measured, in either order: it was not compared."""
    both = [some_swap("a", "PASS"), some_swap("a", "ERROR")]
    for findings in (both, both[::-1]):
        assert build_report(findings)["decision"]["reasons"][:2] == snapshot


def test_what_would_settle_it_is_priced(snapshot: SnapshotAssertion) -> None:
    """Pairs, calls of each judge and money: the pairs that each part lacks of those that equal judges need."""
    findings = [some_swap("a", "INCONCLUSIVE", name, usd) for name, usd in (("qa", 0.002), ("stories", 0.001))]
    report = build_report([*findings, some_swap("b", "PASS", usd=9.0)])
    own = report["decisions"][0]
    lacking = own["needed_pairs"] - 20
    assert lacking > 0
    assert own["reasons"][-1] == snapshot
    assert f"  {own['reasons'][-1]}" in terminal_summary(report, 0.05)
    unknown = build_report([findings[0], some_swap("a", "INCONCLUSIVE", "stories")])["decision"]["reasons"][-1]
    assert lines_about(unknown, "price unknown") == snapshot


def test_what_would_settle_it_is_never_cut() -> None:
    """Of many open parts some are shown, then what would settle them, in at most 25 lines."""
    report = build_report([some_swap("a", "INCONCLUSIVE", f"d{number:02}") for number in range(30)])
    text = terminal_summary(report, 0.05)
    decided = text[text.index("decision: INCONCLUSIVE") :]
    assert len(decided) <= 25
    assert any(re.fullmatch(r"  and \d+ more like these", line) for line in decided)
    assert f"  {report['decision']['reasons'][-1]}" in decided


def test_the_status_is_the_worst_of_all_that_was_checked() -> None:
    """Contrasts, four cells, accuracy and swap: whichever is worst is the report's status; waived contrasts aside."""
    passing = some_row("mine", "recency-new-old", 0.9)
    for kind in ("four_cells", "checked", "swap"):
        row = (
            some_swap("mine", "FAIL").rows["swap"][0].to_json()
            if kind == "swap"
            else {"status": "FAIL", **dict.fromkeys(("judge", "dataset", "contrast", "message"), "x"), "waived": None}
        )
        assert build_report([holding([passing]), holding([row], kind)])["status"] == "FAIL", kind
    waived = {**passing, "status": "FAIL", "waived": {"owner": "me", "reason": "", "expires": ""}}
    assert build_report([holding([waived])])["status"] == "NOT_APPLICABLE"
