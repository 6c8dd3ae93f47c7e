"""Reasons that are not English: they are recognised, and nothing is decided by what could not be read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from support.project import Project, suite
from support.rendered import lines_about
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.detector_agreement import detector_row, measure_with_offline_detector
from judgefixtures.config import GateTable, SwapTable
from judgefixtures.metrics.contrast_metrics import false_alarms
from judgefixtures.metrics.llm_detector import DetectorReadings
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.language import is_english
from judgefixtures.statistics import Status
from judgefixtures.swap import SwapAccuracy, SwapContrast, decide_swap, guards

pytest_plugins = ["pytester"]

DATA = Path(__file__).parent / "data"
LANGUAGES = sorted(file for file in (DATA / "languages").glob("*.txt") if file.stem != "en")
NEW_OLD = contrasts("recency")[0]
GERMAN, CITING, SILENT = "Antwort 1 ist besser.", "It was written recently, which decides it.", "It is clearer."
Arms = tuple[list[Judgment], list[Judgment]]


def lines(file: Path) -> list[str]:
    """Return the reasons of a file, one a line."""
    return file.read_text(encoding="utf-8").splitlines()


# --- what is English ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", LANGUAGES, ids=lambda file: file.stem)
def test_reasons_in_other_languages_are_recognised(file: Path) -> None:
    """At least .98 of them, short ones, and such as call the responses by their English name, included."""
    reasons = lines(file)
    assert sum(map(is_english, reasons)) <= 0.02 * len(reasons)


def test_english_is_english() -> None:
    """Short reasons, quotes of other languages, code, formulas, lists and names, JSON: all of them can be read."""
    assert [reason for reason in lines(DATA / "languages" / "en.txt") if not is_english(reason)] == []


@pytest.mark.parametrize("folder", ["plain-reasons", "rationales"])
def test_the_detectors_own_reasons_are_english(folder: str) -> None:
    """Of the reasons that it was made with, at most one in a thousand is taken for another language."""
    reasons = [json.loads(line)["reason"] for file in sorted((DATA / folder).glob("*.jsonl")) for line in lines(file)]
    every_fifth = reasons[::5]
    assert sum(not is_english(reason) for reason in every_fifth) <= 0.001 * len(every_fifth)


@pytest.mark.parametrize("text", ["", " ", "\n", "1", "2.", "[[A]]", "--", "\ud83d", "🙂", "= 96 %", "x" * 100_000])
def test_every_text_has_an_answer(text: str) -> None:
    """What has no words is not in another language, and nothing raises."""
    assert is_english(text) is (not text.startswith("xx"))


def test_a_sentence_in_another_language_is_not_read() -> None:
    """Whatever English stands around it: it may be the one that cites the cue."""
    assert not is_english("Response 1 is better and clearer. Sie wurde nämlich kürzlich geschrieben und stimmt.")


# --- one judge ----------------------------------------------------------------------------------------------


def judged(condition: Any, selected: Literal[1, 2], reason: str, number: int) -> Judgment:
    """Return a verdict on a pair."""
    return Judgment(Pair(f"p{number}", "Which?", "One.", "Two."), condition, JudgeReply(Verdict(selected, reason)))


def following(reasons: Sequence[str], n: int = 100, against: int = 0) -> Arms:
    """Return both arms of n pairs: one moves to the newer response by each reason, and some against it after them."""
    moved = range(len(reasons))
    back = range(len(reasons), len(reasons) + against)
    return tuple(
        [
            judged(
                condition,
                own if number in moved else other if number in back else 1,
                reasons[number] if number in moved else GERMAN if number in back else SILENT,
                number,
            )
            for number in range(n)
        ]
        for condition, own, other in ((NEW_OLD.x, 1, 2), (NEW_OLD.y, 2, 1))
    )  # type: ignore[return-value]


def decided(arms: Arms, gate: GateTable | None = None, read: DetectorReadings | None = None) -> Any:
    """Return what a gate decides, offline or with what a model read."""
    gate = gate or GateTable()
    measured, unread = measure_with_offline_detector(*arms, gate, NEW_OLD.outcome, read)
    return decide_contrast(measured, gate, None, unread)


def test_what_cannot_be_read_is_not_silent(snapshot: SnapshotAssertion) -> None:
    """A judge that moves by reasons in German: CAR is INCONCLUSIVE and says what to do; in English it is a FAIL."""
    assert decided(following([SILENT] * 30)).car_status is Status.FAIL
    found = decided(following([GERMAN] * 30))
    assert found.car_status is Status.INCONCLUSIVE
    assert lines_about(found.message, "reasons of") == snapshot
    assert 'judge = "NAME" under [tool.judgefixtures.detector]' in found.message
    assert found.vsr_status is Status.FAIL  # what moved has moved


def test_few_that_cannot_be_read_change_nothing(snapshot: SnapshotAssertion) -> None:
    """Where CAR is the same whatever they admit, it stands, and says so."""
    assert decided(following([GERMAN] + [SILENT] * 29)).car_status is Status.FAIL
    found = decided(following([GERMAN] + [CITING] * 29))
    assert found.car_status is Status.PASS
    assert lines_about(found.message, "cannot change") == snapshot
    assert found.unread is not None
    assert not found.unread.hides


@pytest.mark.parametrize("german", range(0, 31, 3))
def test_a_status_is_one_that_nothing_unread_could_change(german: int) -> None:
    """Each reason in German in turn silent or citing, all at once: where those differ nothing is decided."""
    rest = [CITING] * (30 - german)
    statuses = {decided(following([reason] * german + rest)).car_status for reason in (SILENT, CITING)}
    found = decided(following([GERMAN] * german + rest)).car_status
    assert found is (statuses.pop() if len(statuses) == 1 else Status.INCONCLUSIVE)


def test_what_moved_against_the_cue_counts_at_its_worst_as_well(snapshot: SnapshotAssertion) -> None:
    """max_silent: pairs that moved the other way take nothing from the silent shift where they may admit it."""
    gate = GateTable(max_silent=0.2)
    # 30 silent ones with the cue and 25 unread against it: a shift of .05 where those are silent, of .30 where not.
    found = decided(following([SILENT] * 30, against=25), gate)
    assert found.status is Status.INCONCLUSIVE
    assert lines_about(found.message, "unadmitted shift") == snapshot
    assert lines_about(decided(following([GERMAN] * 3), gate).message, "cannot change") == snapshot


def model(arms: Arms, said: Any) -> DetectorReadings:
    """Return what a model says of all reasons."""
    return DetectorReadings("reader", {(each.condition.name, 0, each.pair.id): said for arm in arms for each in arm})


@pytest.mark.parametrize(("said", "status"), [("cited", Status.PASS), ("absent", Status.INCONCLUSIVE)])
def test_a_model_reads_what_is_not_english(said: str, status: Status) -> None:
    """With a detector that is a model CAR is decided by it alone; its answers that cannot be read leave it open.

    How often it recognises an admission is not known in other languages, so that silence is no FAIL.
    """
    arms = following([GERMAN] * 30)
    assert decided(arms, read=model(arms, said)).car_status is status
    assert decided(arms, read=model(arms, None)).car_status is Status.INCONCLUSIVE


def test_nothing_is_compared_with_what_the_offline_detector_cannot_read() -> None:
    """How far detectors agree, and how often the offline one sees a cue that was not there, are about English alone."""
    arms = following([GERMAN] * 30)
    read = model(arms, "cited")
    measured, _ = measure_with_offline_detector(*arms, GateTable(), NEW_OLD.outcome, read)
    row = detector_row(read, arms, measured, measured, 0.05).to_json()
    assert row["agreement"]["n"] == 140
    alarms = false_alarms(arms[0], NEW_OLD.x)
    assert alarms is not None
    assert alarms.n == 70
    assert measured.car_corrected is None


# --- a swap -------------------------------------------------------------------------------------------------

N = 100
RIGHT = [SwapAccuracy("qa", [str(n) for n in range(N)], [1.0] * N, [1.0] * N)]


def cell(ours: int, theirs: int, admits: bool, unread: bool) -> SwapContrast:
    """Return a cell in which so many pairs of candidate and baseline moved; those of both admit it or are unread."""
    candidate, baseline = ([(1, 2)] * moved + [(1, 1)] * (N - moved) for moved in (ours, theirs))
    return SwapContrast(
        "recency",
        "recency-new-old",
        "qa",
        [str(n) for n in range(N)],
        candidate,
        baseline,
        [admits] * N,
        [admits] * N,
        "cue",
        [unread] * N if unread else (),
        [unread] * N if unread else (),
    )  # type: ignore[arg-type]


def test_no_swap_hangs_on_what_nobody_read() -> None:
    """Judges that move alike: APPROVE if both are silent or both admit it, INCONCLUSIVE if nobody could tell."""
    assert decide_swap([cell(30, 30, False, False)], RIGHT, SwapTable()).status is SwapStatus.APPROVE
    assert decide_swap([cell(30, 30, True, False)], RIGHT, SwapTable()).status is SwapStatus.APPROVE
    found = decide_swap([cell(30, 30, False, True)], RIGHT, SwapTable())
    assert found.status is SwapStatus.INCONCLUSIVE
    assert any("of recency" in reason and "in English" in reason for reason in found.reasons)
    assert found.needed_pairs is None  # more pairs would be read no better


def test_a_silent_candidate_is_not_rejected_unread() -> None:
    """It moves no more than the baseline, which admits it: REJECT where it is silent, not where it cannot be read."""
    silent = cell(40, 40, False, False)
    told = {"baseline_admits": [True] * N}
    rejected = decide_swap([SwapContrast(**{**fields(silent), **told})], RIGHT, SwapTable())
    assert rejected.status is SwapStatus.REJECT
    unread = SwapContrast(**{**fields(silent), **told, "candidate_unread": [True] * N})
    assert decide_swap([unread], RIGHT, SwapTable()).status is SwapStatus.INCONCLUSIVE
    (found,) = (each for each in guards(unread, 1, SwapTable())[0] if each.kind == "unadmitted-shift")
    assert found.status is Status.INCONCLUSIVE


def fields(of: SwapContrast) -> dict[str, Any]:
    """Return the fields of a cell."""
    return {name: getattr(of, name) for name in SwapContrast.__dataclass_fields__}


def test_judges_that_hardly_move_are_swapped_in_any_language() -> None:
    """Whatever the reasons admit, a shift of .02 is no silent shift of .10 more."""
    assert decide_swap([cell(2, 2, False, True)], RIGHT, SwapTable()).status is SwapStatus.APPROVE


# --- through the plugin -------------------------------------------------------------------------------------

JUDGE = """\
import json


def judge(prompt):
    better = 1
    if "2025" in prompt:
        better = 1 if prompt.index("2025") < prompt.index("1950") else 2
    return json.dumps({"selected_response": better, "reason": %r})
"""


def configuration() -> str:
    """Return the configuration of two judges, one of which is the other by another name."""
    return """\
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
control = false
[tool.judgefixtures.judges.ours]
provider = "python"
target = "mine:judge"
[tool.judgefixtures.judges.theirs]
provider = "python"
target = "mine:judge"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
balance_positions = false
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project whose judge follows the newer date in every pair, for reasons in German."""
    project = Project(pytester, configuration)
    project.write_pairs(
        {"id": f"p{n:02}", "question": f"q{n}", "response_1": "a", "response_2": "b"} for n in range(30)
    )
    project.write("mine.py", JUDGE % "Die gewählte Antwort ist besser, weil sie aktueller ist.")
    project.configure()
    project.write("test_recency.py", suite("recency"))
    return project


def test_no_output_says_that_reasons_were_silent_which_nobody_read(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    """Terminal, report.json, judgments.jsonl, report.md and the page: CAR is not known, and the words say why."""
    said = str(project.run("--judge-report", "report", "-k", "recency").stdout)
    assert lines_about(said, "reasons cite") == snapshot
    assert "0 of these" not in said
    (row,) = project.report()["contrasts"]
    assert (row["car_status"], row["unread_reasons"]) == ("INCONCLUSIVE", 60)
    for key in ("car", "car_all", "car_corrected", "silent_shift_rate", "unadmitted_shift"):
        assert row[key] is None
    judgments = project.rows("report/judgments.jsonl")
    assert all(each["unread"] for each in judgments if each["condition"].startswith("recency"))
    for name in ("report.md", "report.html"):
        assert "not in English" in (project.path / "report" / name).read_text(encoding="utf-8")


def test_reasons_in_english_are_told_as_before(project: Project, snapshot: SnapshotAssertion) -> None:
    """No further key stands in the rows of a judge whose reasons are read."""
    project.write("mine.py", JUDGE % "It is better.")
    said = str(project.run("--judge-report", "report", "-k", "recency").stdout)
    (row,) = project.report()["contrasts"]
    assert lines_about(said, "reasons cite") == snapshot
    assert (row["car_status"], row["car"]["value"]) == ("FAIL", 0)
    assert "unread_reasons" not in row
    assert not any("unread" in each for each in project.rows("report/judgments.jsonl"))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "piece", ["«", "„", "“", "「", "『", '"', "$", "`", "```a ", "'a", " 'a", ". ", "a:", "word ", "http://"]
)
def test_a_text_without_end_is_read_in_a_moment(piece: str) -> None:
    """A judge may repeat anything a hundred thousand times: the time grows with the text's length, not its square."""
    assert quickest(lambda: is_english.__wrapped__(piece * 100_000), 2) < 2
