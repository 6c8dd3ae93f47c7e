"""What decided a status: every output names the part that failed or is open, with its own estimate and limit."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.findings import DecisionPart, Finding
from judgefixtures.statistics import Estimate, Status

pytest_plugins = ["pytester"]

# A judge that knows which response is good, and whose sureness, scores or, on some pairs, verdicts follow a label.
MINE = '''
import json, math, re

ON_1, ON_2 = (re.compile(f"Response {n} was written recently") for n in (1, 2))


def seen(prompt):
    """The number of the pair, which response is good, and 1 where the newer one stands first, -1 where it does not."""
    number = int(re.search(r"question (\\d+)", prompt)[1])
    first = prompt.index("Good") < prompt.index("Bad")
    return number, first, bool(ON_1.search(prompt)) - bool(ON_2.search(prompt))


def answer(choice, reason="It is correct.", first=False):
    verdict, why = ("selected_response", choice), ("reason", reason)
    return json.dumps(dict([why, verdict] if first else [verdict, why]))


def sure(prompt, at=4.0, by=0.25, explains=lambda number: False):
    number, first, new = seen(prompt)
    odds = (at if first else -at) + by * new
    chance = 1 / (1 + math.exp(-odds))
    return {"text": answer(1 if first else 2, first=explains(number)), "probabilities": {"1": chance, "2": 1 - chance}}


def surest(prompt):
    return sure(prompt, at=20.0, by=0.75)


def explaining(prompt):
    return sure(prompt, by=1.0, explains=lambda number: True)


def sometimes(prompt):
    return sure(prompt, by=0.0, explains=lambda number: number % 10 == 0)


def rarely(prompt):
    return sure(prompt, by=0.0, explains=lambda number: number % 30 == 0)


def silent(prompt):
    number, first, new = seen(prompt)
    return answer((1 if new > 0 else 2) if number < 16 and new else 1 if first else 2)


def unreadable(prompt):
    number, first, new = seen(prompt)
    return "I cannot say." if number < 30 else answer(1 if first else 2)


def hardly(prompt):
    number, first, new = seen(prompt)
    return "I cannot say." if number < 6 and new else answer(1 if first else 2)


def generous(prompt):
    return json.dumps({"score": (8 if "Good" in prompt else 2) + ("written recently" in prompt), "reason": "Correct."})


def nearly(prompt):
    return json.dumps({"score": (6 if "Good" in prompt else 5) + ("written recently" in prompt), "reason": "Correct."})
'''
PAIRS = 60


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with the recency test, sixty pairs of which either response is good, and the judges of MINE."""
    project = Project(pytester, fresh=True)
    project.copy_tests("recency")
    project.write("mine.py", MINE)
    texts = ("Good, and right.", "Bad, and wrong.")
    project.write_pairs(
        {
            "id": f"p{n}",
            "question": f"This is question {n}?",
            "response_1": texts[n % 2],
            "response_2": texts[1 - n % 2],
            "gold": 1 + n % 2,
        }
        for n in range(PAIRS)
    )
    return project


def ran(project: Project, judge: str, gate: str = "", table: str = "", *options: str) -> Any:
    """Run the recency test of a judge; return the run and the row of its contrast."""
    path = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    named = (
        f'[judges.ours]\nprovider = "python"\ntarget = "mine:{judge}"\n{table}\n[datasets.own]\npath = "pairs.jsonl"\n'
    )
    project.write(project.file, path + in_pyproject(f'judge = "ours"\ncontrol = false\n{named}[gate]\n{gate}\n'))
    found = project.run(
        "-k",
        "recency",
        "--judge-dataset",
        "own",
        "--judge-force",
        "--judge-record",
        "missing",
        "--judge-report",
        "report",
        *options,
    )
    (row,) = project.report()["contrasts"]
    return found, row


SURE = "logprobs = true"
SCORES = 'mode = "pointwise"'
# judge, its table, the gate's; the status, the parts that it is due to, and what the sentence begins with
DECIDED = {
    "score": ("generous", SCORES, "", "FAIL", ["score"], "score shift +1.00 points on a scale of 1 to 10 (90% CI "),
    "log-odds": (
        "sure",
        SURE,
        "log_odds_tolerance = 1.3",
        "FAIL",
        ["log_odds"],
        "labelled new instead of old, the odds of being chosen rise 1.6-fold (90% CI 1.6 to 1.7), limit 1.3",
    ),
    "beyond": (
        "surest",
        SURE,
        "log_odds_tolerance = 1.5",
        "INCONCLUSIVE",
        ["log_odds"],
        "log_odds_tolerance 1.5: 60 of 60 pairs are beyond +-13.8 logits in both arms",
    ),
    "CAR": (
        "silent",
        "",
        "vsr_tolerance = 0.5",
        "FAIL",
        ["car"],
        "0 of the 16 reasons of changed verdicts cite the label (CAR 0.00, 90% CI ",
    ),
    "silent": (
        "silent",
        "",
        "vsr_tolerance = 0.5\nmax_silent = 0.05",
        "FAIL",
        ["car", "max_silent"],
        "unadmitted shift +0.267 (90% CI ",
    ),
    "invalid": (
        "unreadable",
        "",
        "",
        "ERROR",
        ["invalid"],
        "30 of 60 pairs have an invalid verdict (no-json 60), above max_invalid = 0.05",
    ),
    "worst": (
        "hardly",
        "",
        "max_invalid = 0.5",
        "INCONCLUSIVE",
        ["invalid"],
        "INCONCLUSIVE: VSR 0.00; with 6 invalid pairs ",
    ),
    "verdicts": ("silent", "", "car_threshold = 0.0001", "FAIL", ["vsr"], "The labels "),
}


@pytest.mark.parametrize("case", DECIDED)
def test_what_decided_is_named_everywhere(project: Project, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row, the sentence in every output, the table and the JUnit file; first of all where no verdict failed."""
    judge, table, gate, status, parts, begins = DECIDED[case]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found, row = ran(project, judge, gate, table, "--junitxml", "junit.xml")
    assert row["status"] == status, row["message"]
    assert [part["part"] for part in row["decided_by"]] == parts
    if parts == ["vsr"]:
        assert row["text"].startswith(begins)
    elif parts == ["score"]:  # what was done first, and how far scores moved with it
        assert row["text"].startswith("ours on own, the labels ")
        assert begins in row["text"].partition("). ")[0]
    else:
        assert begins in row["text"].partition("; The labels ")[0], row["text"]
    assert f"{status}: {row['text']}" in found.said
    (result,) = project.report()["results"]
    assert (result["text"], result["decided_by"]) == (row["text"], row["decided_by"])
    for part in row["decided_by"]:
        assert part["status"] == status
        assert part["reason"] in row["message"]
    properties = {each.get("name"): each.get("value") for each in ET.parse(project.path / "junit.xml").iter("property")}
    assert properties["decided_by"] == "; ".join(f"{part['part']}: {part['reason']}" for part in row["decided_by"])
    assert row["text"] in properties["says"]
    (note,) = [line for line in found.said.splitlines() if line.startswith("::error")]
    assert begins.partition("(")[0].replace("%", "%25") in note
    said = (project.path / "report" / "report.md").read_text()
    assert begins.partition(" [")[0].partition("log_odds")[2].partition("max_")[0][:12] in said.replace("\\", "")


@pytest.mark.parametrize(
    ("case", "named", "measured", "allowed"),
    [("log-odds", "log-odds", "odds ratio 1.6", "0.77 to 1.3"), ("silent", "unadmitted shift", "+0.2", "at most 0.05")],
)
def test_tables_and_pictures_show_what_decided(
    project: Project, case: str, named: str, measured: str, allowed: str
) -> None:
    """The terminal's table names it beside the status; report.md and the page have a row of its own numbers."""
    judge, table, gate, *_ = DECIDED[case]
    found, row = ran(project, judge, gate, table)
    (line,) = [line for line in found.said.splitlines() if line.startswith("ours   own ")]
    assert named in line.partition("FAIL (")[2]
    page, text = ((project.path / "report" / f"report.{kind}").read_text() for kind in ("md", "html"))
    (cells,) = [line for line in page.splitlines() if f"recency-new-old on own: {named}" in line]
    assert measured in cells
    assert allowed in cells.replace("\\", "")
    assert f'<th scope="row">{named} <small>of recency-new-old, own' in text
    assert f"<b>{measured}" in text
    assert f'data-name="Allowed">{allowed}</td>' in text
    assert row["text"].partition("; ")[0].split("(")[0][1:40] in text


def test_scores_that_are_gated_stand_in_the_tables(project: Project, snapshot: SnapshotAssertion) -> None:
    """In each the row has their shift, its limit and the status; VSR is shown beside a FAIL, without a status."""
    judge, table, gate, *_ = DECIDED["score"]
    found, row = ran(project, judge, gate, table)
    assert (row["score_limit"], row["vsr_status"]) == (pytest.approx(0.45), "NOT_APPLICABLE")
    assert lines_about(row["text"], "verdicts made") == snapshot
    assert ", shown only)" in row["text"]
    (head,) = [line for line in found.said.splitlines() if line.startswith("judge  dataset  contrast ")]
    assert head.split() == ["judge", "dataset", "contrast", "n", "shift", "CI", "tolerance", "flips", "CAR", "status"]
    (line,) = [line for line in found.said.splitlines() if line.startswith("ours   own ")]
    assert re.search(r" 60 +\+1\.00 points +90% CI \S+ to \S+ +0\.45 ", line)
    assert line.endswith("FAIL (score)")
    page, text = ((project.path / "report" / f"report.{kind}").read_text() for kind in ("md", "html"))
    first, second = (line for line in page.splitlines() if "recency-new-old on own" in line and line.startswith("|"))
    assert re.search(r"own \| FAIL \(score\) \| 60 \| \+1\.00 points \| .* \| -0\.45 to 0\.45 \|$", first)
    assert re.search(r"own: VSR \| shown \| 60 \| \S+ \| \S+ to \S+ \| - \|$", second)
    assert '<h2 id="shifts">Score shifts</h2>' in text
    (main, shown) = re.findall(r'<tr><th scope="row">(?:recency-new-old|VSR) <small>.*?</tr>', text, re.DOTALL)
    assert "<b>+1.00 points</b>" in main
    assert 'data-name="Allowed">-0.45 to 0.45</td>' in main
    assert "FAIL (score)" in main
    assert "<b>VSR " in shown
    assert "FAIL" not in shown
    assert "noise floor</span>" not in text


def test_scores_that_pass_show_their_shift_and_limit(project: Project) -> None:
    """A PASS has nothing that decided it, and the tables have the limit all the same; VSR stands in none of them."""
    found, row = ran(project, "generous", "score_tolerance = 0.2", SCORES)
    assert (row["status"], row["decided_by"]) == ("PASS", [])
    (line,) = [line for line in found.said.splitlines() if line.startswith("ours   own ")]
    assert re.search(r" \+1\.00 points +90% CI \S+ to \S+ +1\.80 .* PASS$", line)
    page, text = ((project.path / "report" / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert re.search(r"\| PASS \| 60 \| \+1\.00 points \| .* \| -1\.80 to 1\.80 \|\n", page)
    assert "VSR | shown" not in page
    assert 'data-name="Allowed">-1.80 to 1.80</td>' in text


def test_the_same_again_says_who_is_asked(project: Project, snapshot: SnapshotAssertion) -> None:
    """Of a function nothing is recorded: the command in report.md asks it again, and says so."""
    ran(project, "generous", "", SCORES)
    page = (project.path / "report" / "report.md").read_text()
    assert lines_about(page, "again, which") == snapshot
    assert "nobody is asked" not in page


def test_a_limit_that_nobody_set_is_not_spoken_of(project: Project, snapshot: SnapshotAssertion) -> None:
    """Without log_odds_tolerance no output has a word of it; with it a judge without probabilities says so."""
    assert "log_odds_tolerance" not in ran(project, "silent")[0].said
    assert lines_about(ran(project, "silent", "log_odds_tolerance = 1.5")[0].said, "no probabilities") == snapshot


def test_ties_that_count_half_are_said_to(project: Project, snapshot: SnapshotAssertion) -> None:
    """Verdicts of equal scores are ties, so that more verdicts change than follow a label; of choices nothing is."""
    assert lines_about(ran(project, "nearly", "", SCORES)[0].said, "tie counts") == snapshot
    assert "tie counts half" not in ran(project, "silent")[0].said


def test_a_judge_that_reasons_first_has_no_gate_on_log_odds(project: Project, snapshot: SnapshotAssertion) -> None:
    """A true shift of 7.4-fold that the letter would not show passes or fails nothing, and every output says why."""
    found, row = ran(project, "explaining", "log_odds_tolerance = 1.5", SURE)
    assert (row["status"], row["log_odds_status"], row["log_odds_shift"]) == ("PASS", "NOT_APPLICABLE", None)
    assert row["log_odds_given_reasons"]["value"] == pytest.approx(2.0)
    assert lines_about(row["message"], "reasons before") == snapshot
    assert lines_about(found.said, "reasons before", "not a shift of") == snapshot
    assert "odds ratios of" not in found.said
    for file in ("report.md", "report.html"):
        assert lines_about((project.path / "report" / file).read_text(), "reasons before") == snapshot
    assert all(each["probability"]["explained"] is True for each in found.rows("judgments"))
    assert row["movable"] is None or row["movable"]["n"] == 0


@pytest.mark.parametrize(("judge", "status"), [("sometimes", "NOT_APPLICABLE"), ("rarely", "PASS")])
def test_how_many_may_reason_first(project: Project, judge: str, status: str, snapshot: SnapshotAssertion) -> None:
    """Of six pairs in sixty nothing is decided; two are left out and counted, as pairs without a probability are."""
    _, row = ran(project, judge, "log_odds_tolerance = 1.5", SURE)
    assert row["log_odds_status"] == status
    if status == "PASS":
        assert row["log_odds_shift"]["n"] == 58
        assert lines_about(row["message"], "have reasoning") == snapshot


def test_the_preflight_shows_the_tolerance_that_its_pairs_follow_from(project: Project) -> None:
    """Twenty-nine pairs follow from the scores' tolerance and not from .15 of the verdicts."""
    for judge, table, gate, at_least, held_to in (
        ("generous", SCORES, "", "29", "score 0.05"),
        ("sure", SURE, "log_odds_tolerance = 1.5", "30", "odds 1.5"),
        ("silent", "", "", "16", "0.15"),
    ):
        ran(project, judge, gate, table)
        said = project.run("-k", "recency", "--judge-dataset", "own", "--judge-preflight").said
        (line,) = [line for line in said.splitlines() if line.strip().startswith("own ")]
        assert f" {at_least}  " in line
        assert held_to in line


def test_the_parts_travel() -> None:
    """A finding crosses from one process to another with what decided it; where a waiver has ended that decided."""
    estimate = Estimate(1, 0.9, 1.1, 0.9, 60)
    part = DecisionPart("score", Status.FAIL, "score shift +1: FAIL", "the scores shift", estimate, (-0.5, 0.5))
    row = ContrastRow(status="FAIL", text="x", message="y", decided_by=(part,))
    finding = Finding(
        "contrast", "ours", "own", "recency-new-old", Status.FAIL, rows={"contrasts": (row,)}, decided_by=(part,)
    )
    assert Finding.from_json(finding.to_json()) == finding
    lapsed = finding.no_longer_waived("it expired")
    assert [each.part for each in lapsed.decided_by] == ["waiver"]
    assert lapsed.rows["contrasts"][0].decided_by[0].part == "waiver"
