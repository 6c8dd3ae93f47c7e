"""Rows are records until they are written: what is read back is what was written, and a default is a row of its own."""

from __future__ import annotations

import json

import pytest

from judgefixtures.checks import check_of, checks_of
from judgefixtures.checks.contrast_row import error_row
from judgefixtures.checks.sections import Section
from judgefixtures.config import build_config
from judgefixtures.models.check_registry import ALONE
from judgefixtures.models.check_rows import ContrastRow, FloorRow
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.findings import KINDS, AppliedWaiver, DecisionPart, Finding
from judgefixtures.report import build_report, terminal_summary
from judgefixtures.report.html import page
from judgefixtures.report.markdown import render_markdown
from judgefixtures.report.sections import SECTIONS
from judgefixtures.run.run import Run
from judgefixtures.statistics import Estimate, Status

RECENCY = contrasts("recency")[0]
ESTIMATE = Estimate(0.25, 0.125, 0.5, 0.9, 40)


def test_a_row_is_read_back_as_it_was_written() -> None:
    """Estimates, records within records, tuples and numbers: all of it comes back, a whole number as one."""
    part = DecisionPart("score", Status.FAIL, "score: FAIL", "", ESTIMATE, (None, 0.5))
    row = ContrastRow(
        judge="mine",
        n=40,
        n10=10,
        vsr=ESTIMATE,
        mcnemar_p=0.5,
        decided_by=(part,),
        arms=(("no-cue", 0),),
        waived=AppliedWaiver("me", "known", "2030-01-01"),
        floor=FloorRow(placebo_vsr=ESTIMATE),
        ties=3,
    )
    written = json.dumps(row.to_json())
    assert ContrastRow.from_json(json.loads(written)) == row
    assert json.dumps(ContrastRow.from_json(json.loads(written)).to_json()) == written
    assert '"n10": 10,' in written


@pytest.mark.parametrize("place", sorted(KINDS))
def test_every_kind_of_row_has_defaults(place: str) -> None:
    """A row that says nothing can be read: an older report lacks what a newer one has."""
    empty = KINDS[place].from_json({})
    assert KINDS[place].from_json(empty.to_json()) == empty


def test_what_could_not_be_measured_is_what_a_row_is_by_default() -> None:
    """An error row says what was asked and why nothing came of it: all else is a default, and written."""
    row = error_row("mine", "qa", RECENCY, 0.15, "no key")
    said = {"judge", "dataset", "family", "contrast", "x", "y", "tolerance", "message", "text", "decided_by"}
    said |= {"arms", "sentences", "outcome"}
    default = ContrastRow().to_json()
    assert {name for name, value in row.to_json().items() if value != default[name]} == said


def test_a_field_is_written_only_where_there_is_any() -> None:
    """Clusters, ties and the like are no keys of a row that has none."""
    assert "ties" not in ContrastRow().to_json()
    assert ContrastRow(ties=2).to_json()["ties"] == 2


def test_a_finding_travels_with_records() -> None:
    """From process to process rows and evidence come as records of their kinds, texts as texts."""
    finding = Finding("contrast", "j", "d", "recency-new-old", Status.PASS, rows={"contrasts": (ContrastRow(n=3),)})
    finding = finding.with_evidence(warnings=["a warning"], moves=[{"judge": "j", "moves": {"p": 1.0}}])
    assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding
    assert [type(each).__name__ for each in finding.evidence["moves"]] == ["PairShifts"]


@pytest.mark.parametrize("kind", ALONE, ids=lambda kind: kind.name)
def test_a_check_of_the_list_is_known_everywhere(kind: object) -> None:
    """Its name is that of a check of a run and of a gate table, and it is among all checks that there are."""
    name = kind.name  # type: ignore[attr-defined]
    with Run.from_config(None) as run:
        assert run.registry.check(name).name == name
    assert build_config({"gate": {name: {"max_invalid": 0.1}}}).gate(name).max_invalid == 0.1
    assert [check.name for check in checks_of([RECENCY])] == [*(each.name for each in ALONE), "recency-new-old"]
    assert check_of(RECENCY).name == "recency-new-old"


def test_a_section_without_words_of_its_own_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is `listed` stands in the terminal, in report.md and on the page under its title; others as they did."""
    mine = Section("mine", lines=lambda _report, _view: ["", "it is <so>"], title="my own check", listed=True)
    for module in ("judgefixtures.report.sections", "judgefixtures.report"):
        monkeypatch.setattr(f"{module}.SECTIONS", (*SECTIONS, mine))
    report = build_report([])
    assert terminal_summary(report, 0.05)[-2:] == ["--- my own check ---", "it is <so>"]
    assert "## my own check\n\n- it is \\<so\\>" in render_markdown(report)
    assert "<h2>My own check</h2><ul><li>it is &lt;so&gt;</li></ul>" in page(report, [], [])
