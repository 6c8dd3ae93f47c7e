"""What a decision on a swap covers and what it does not, and both judges side by side: in the report, the page, the sheet."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any

import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.findings import Finding
from judgefixtures.models.swap_rows import ComparedSwapPart, SwapRow
from judgefixtures.report import build_report, terminal_summary
from judgefixtures.report.html import page
from judgefixtures.report.markdown import render_markdown
from judgefixtures.report.swap_coverage import SwapCoverage, swap_coverage
from judgefixtures.report.swap_section import DECISIONS
from judgefixtures.statistics import Status
from judgefixtures.swap import SwapAccuracy, SwapContrast

N = 100
IDS = [f"p{at:03}" for at in range(N)]
STAYS, FOLLOWS = (1, 1), (1, 2)


def cell(family: str, contrast: str, dataset: str, ours: int = 0, theirs: int = 0, kind: Any = "cue") -> SwapContrast:
    """Return a contrast in which so many verdicts of candidate and baseline follow the label, and no reason says so."""
    arms = [[FOLLOWS] * moved + [STAYS] * (N - moved) for moved in (ours, theirs)]
    return SwapContrast(family, contrast, dataset, IDS, *arms, [False] * N, [False] * N, kind)  # type: ignore[arg-type]


def right(dataset: str, ours: float, theirs: float, labels: list[str] | None = None) -> SwapAccuracy:
    """Return how right both judges are: a share of the pairs, each in both orders."""
    shares = [[1.0] * round(N * share) + [0.0] * (N - round(N * share)) for share in (ours, theirs)]
    return SwapAccuracy(dataset, IDS, *shares, labels)


def report_of(*parts: SwapContrast | SwapAccuracy, judge: str = "new", controls: str = "PASS") -> dict[str, Any]:
    """Return the report of a swap of `judge` for `old` in these parts."""
    both = {"judge": judge, "baseline": "old"}
    rows = tuple(ControlRow(judge=name, dataset="control", status=controls) for name in both.values())
    findings = []
    for part in parts:
        cells = isinstance(part, SwapContrast)
        contrast, family = (part.contrast, part.family) if isinstance(part, SwapContrast) else (None, "accuracy")
        of = {**both, "dataset": part.dataset, "contrast": contrast}
        row = SwapRow(**of, quantity="abs-vsr" if cells else "accuracy", n=N, status=Status.PASS)
        graded = isinstance(part, SwapAccuracy) and part.labels is not None
        kind = part.kind if isinstance(part, SwapContrast) else None
        found = ComparedSwapPart(**of, family=family, kind=kind, graded=graded, part=asdict(part))
        findings.append(
            Finding(
                *("swap", judge, part.dataset, contrast or "accuracy", Status.PASS, "old"),
                rows={"swap": (row,), "controls": rows},
                evidence={"swap_parts": (found,)},
            )
        )
    report = build_report(findings, {judge: {}, "old": {}})
    sizes = {part.dataset: N for part in parts}
    return {**report, "datasets": [{"dataset": name, "n": n, "digest": "d"} for name, n in sorted(sizes.items())]}


EQUAL = (
    cell("recency", "recency-new-old", "close"),
    cell("recency", "recency-new-old", "stories"),
    right("qa", 0.9, 0.9),
    right("tales", 0.95, 0.85),
)
WORSE = (cell("recency", "recency-new-old", "close", 40), right("qa", 0.9, 0.9))
OPEN = (cell("recency", "recency-new-old", "close", 10), right("qa", 0.9, 0.9))
SWAPS = {"APPROVE": EQUAL, "REJECT": WORSE, "INCONCLUSIVE": OPEN}
LABELS = ["pass"] * 50 + ["fail"] * 50
GRADED = (cell("recency", "recency-new-old", "answers"), right("graded", 0.9, 0.9, LABELS))


def covered(report: dict[str, Any]) -> SwapCoverage:
    """Return what the one decision of a report covers."""
    (decision,) = DECISIONS.read_records(report)
    return swap_coverage(decision, report)


@pytest.mark.parametrize("parts", [*SWAPS.values(), GRADED], ids=[*SWAPS, "graders"])
def test_a_difference_is_of_what_both_judges_do(parts: Any) -> None:
    """Every component has what each judge does by itself, with interval and n, and is their difference."""
    (decision,) = report_of(*parts)["decisions"]
    assert decision["components"]
    for each in decision["components"]:
        assert each["value"] == pytest.approx(each["judge"]["value"] - each["baseline"]["value"], abs=1e-9)
        for alone in (each["judge"], each["baseline"]):
            assert alone["low"] <= alone["value"] <= alone["high"]
            assert (alone["n"], alone["confidence"]) == (each["n"], pytest.approx(0.9))
            assert each["kind"] in ("abs-vsr", "unadmitted-shift") or 0 <= alone["low"] <= alone["high"] <= 1


def test_accuracy_is_that_of_both_orders() -> None:
    """A pair right in one of two orders counts half, for either judge."""
    halves = SwapAccuracy("qa", IDS, [1.0] * 80 + [0.5] * 20, [0.5] * N)
    (decision,) = report_of(halves)["decisions"]
    (accuracy,) = [each for each in decision["components"] if each["kind"] == "accuracy" and not each["name"]]
    assert (accuracy["judge"]["value"], accuracy["baseline"]["value"]) == (pytest.approx(0.9), 0.5)


def test_how_much_passes_is_told_of_both_judges() -> None:
    """Of a grader that is right on what people fail, that is what it does not pass."""
    report = report_of(right("graded", 0.9, 0.5, LABELS))
    by_kind = {each["kind"]: each for each in report["decisions"][0]["components"] if not each["name"]}
    # The candidate is right on all 50 that people pass and on 40 of the others, the baseline on the former alone.
    assert (by_kind["pass-rate"]["judge"]["value"], by_kind["pass-rate"]["baseline"]["value"]) == (0.6, 1.0)
    assert (by_kind["tnr"]["judge"]["value"], by_kind["tnr"]["baseline"]["value"]) == (0.8, 0.0)


def test_an_approval_says_what_it_covers_and_what_not(snapshot: SnapshotAssertion) -> None:
    """Families in words, datasets with their pairs, margins; the guard's margin, what else was not compared, the gates."""
    report = report_of(*EQUAL)
    assert report["decision"]["status"] == "APPROVE"
    found = covered(report)
    covers, leaves_out = " ".join(found.covers), " ".join(found.leaves_out)
    guard = report["decision"]["guard_margin"]
    assert covers == snapshot
    for words in (
        f"Not excluded: one contrast on one dataset is worse by less than {guard:.2f}",
        "a family is worse by less than 0.10 on average; accuracy is lower by less than 0.05",
        "the stated author of a response (provenance), the stated age of the author",
        "(attacks)",
        "(verbosity, formatting, confidence, citation and sentiment)",
        "other wordings of the prompt",
        "(position)",
        "on pairs without gold",
        "passes its own gate",
    ):
        assert words in leaves_out
    assert "framing" not in leaves_out  # no judge of pairs is asked about it
    assert "have been written" not in leaves_out


@pytest.mark.parametrize("status", ["REJECT", "INCONCLUSIVE"])
def test_what_is_not_approved_rules_nothing_out(status: str, snapshot: SnapshotAssertion) -> None:
    """Margins are named as such, and what is open is."""
    report = report_of(*SWAPS[status])
    assert report["decision"]["status"] == status
    found = covered(report)
    said = " ".join((*found.covers, *found.leaves_out)).lower()
    assert "excluded" not in said
    assert lines_about(found.covers[-1], "Margins, the") == snapshot
    open_ones = sum(each["status"] != "PASS" for each in report["decision"]["components"])
    expected = {
        "REJECT": "Parts that the reasons",
        "INCONCLUSIVE": f"{open_ones} of {len(report['decision']['components'])} parts (undecided)",
    }
    assert found.leaves_out[0].startswith(expected[status])


def test_what_was_compared_is_not_among_what_was_not(snapshot: SnapshotAssertion) -> None:
    """A family of attacks that is part of the swap is covered; so is the user's own cue, by its name."""
    parts = (cell("attack", "attack-plea", "qa", kind="edit"), cell("brand", "brand-ours-theirs", "close"))
    found = covered(report_of(*parts))
    assert lines_about(found.covers[0], "judge (attack") == snapshot
    assert "the label brand" in found.covers[0]
    assert "(attacks)" not in " ".join(found.leaves_out)
    assert lines_about(found.leaves_out, "Not compared") == snapshot


def test_graders_are_told_of_labels(snapshot: SnapshotAssertion) -> None:
    """Of judges of one response labels, pass rate and framing are named, and no order."""
    found = covered(report_of(*GRADED))
    covers, leaves_out = " ".join(found.covers), " ".join(found.leaves_out)
    assert lines_about(covers, "labels (accuracy") == snapshot
    assert lines_about(covers.lower(), "grades follow") == snapshot
    assert lines_about(leaves_out, "verdict (framing", "without a label") == snapshot
    assert "position" not in leaves_out


def simulated(*names: str) -> dict[str, Any]:
    """Return the report of an APPROVE between judges, of which a program played those named."""
    report = report_of(*EQUAL)
    return {
        **report,
        "judges": {name: {"model": f"simulated-{name}"} if name in names else {} for name in ("new", "old")},
    }


@pytest.mark.parametrize(
    ("names", "said"), [(("new", "old"), "new and old"), (("new",), "new"), (("old",), "old"), ((), "")]
)
def test_a_decision_on_simulated_judges_says_nothing_of_real_models(names: tuple[str, ...], said: str) -> None:
    """It is the first thing that is not covered, in page, sheet and terminal, and stands in the page's first sentences."""
    report = simulated(*names)
    kind = "are simulated judges" if len(names) > 1 else "is a simulated judge"
    sentence = f"Real models: {said} {kind}."
    shown = [
        covered(report).leaves_out[0] == sentence,
        sentence in page(report, [], []),
        sentence in render_markdown(report),
    ]
    (line,) = [line for line in terminal_summary(report, 0.05) if "does not cover" in line]
    shown += [f"does not cover: real models (a program played {said}); " in line]
    (lead,) = [text for text in re.findall(r'<p class="lead">(.*?)</p>', page(report, [], [])) if "may replace" in text]
    shown += [f"{said} {kind}" in lead]
    assert shown == [bool(names)] * 5
    assert ("[simulated; extrapolated]" in page(report, [], [])) == bool(names)


def test_what_was_seen_stands_beside_what_was_promised(snapshot: SnapshotAssertion) -> None:
    """An APPROVE tells the rule's promise from the ends of the intervals, and what is not approved has no such promise."""
    report = report_of(cell("recency", "recency-new-old", "close", 1), *EQUAL[1:])
    assert report["decision"]["status"] == "APPROVE"
    promised, seen = covered(report).leaves_out[:2]
    assert lines_about(promised, "fixed before") == snapshot
    parts = report["decision"]["components"]
    shifts = [each for each in parts if each["kind"] == "abs-vsr"]
    worst = max((each for each in shifts if each["role"] == "guard"), key=lambda each: each["high"])
    (family,) = [each for each in shifts if each["role"] == "primary"]
    (right_,) = [each for each in parts if each["kind"] == "accuracy" and not each["name"]]
    for value, words in (
        (worst["high"], "upper end of the worst single contrast is {} (recency-new-old on close)"),
        (family["high"], "upper end of the worst family is {} (recency)"),
        (right_["low"], "lower end of accuracy is {}"),
    ):
        assert words.format(f"{value:+.3f}") in seen
    assert not any(
        "upper end" in each
        for status in ("REJECT", "INCONCLUSIVE")
        for each in covered(report_of(*SWAPS[status])).leaves_out
    )


def test_price_the_day_and_chance_are_not_covered(snapshot: SnapshotAssertion) -> None:
    """They are named: prices where there are any, the days of the recordings, and repeats unless both were repeated."""
    report = report_of(*EQUAL)
    price, day, chance = covered(report).leaves_out[-3:]
    assert lines_about(price, "price is") == snapshot
    assert day == snapshot
    assert lines_about(chance, "Repeats:") == snapshot
    recorded = {
        "new": {"first": "2026-11-21", "last": "2026-11-22"},
        "old": {"first": "2026-11-20", "last": "2026-11-20"},
    }
    repeats = [{"judge": name, "arms": [["no-cue", 0], ["no-cue", 1]]} for name in ("new", "old")]
    known = {
        **report,
        "run": {"recorded": recorded},
        "expenses": [{"judge": "new", "baseline": "old", "usd": {"judge": 1.0, "baseline": 1.0}}],
        "contrasts": repeats,
    }
    price, day = covered(known).leaves_out[-2:]
    assert lines_about(price, "price of") == snapshot
    assert lines_about(day, "these are") == snapshot
    assert lines_about(covered({**known, "contrasts": repeats[:1]}).leaves_out[-1], "Repeats:") == snapshot


def test_a_control_that_was_not_passed_is_not_covered() -> None:
    """That both judges read is said only where both controls passed."""
    assert "passed its control" not in " ".join(covered(report_of(*EQUAL, controls="NOT_APPLICABLE")).covers)


def test_nothing_compared_covers_nothing(snapshot: SnapshotAssertion) -> None:
    """Where no part was compared the decision covers nothing, and says so."""
    empty = SwapContrast("recency", "recency-new-old", "close", (), (), (), (), ())
    assert covered(report_of(empty)).covers[0] == snapshot


# --- where it is shown --------------------------------------------------------------------------------------------

ORDER = (
    "What this decision covers",
    "What it does not cover",
    "<caption>Both judges",
    "Deciding parts",
    "Guards: single contrasts and datasets",
    "<h4>Reasons",
    "Before you sign, read what",
    "Signed for / against:",
)


def swap_part(html: str) -> str:
    """Return the part of a page that is about the swap."""
    (part,) = re.findall(r'<section aria-labelledby="swap">.*?</section>', html, re.DOTALL)
    return part


@pytest.mark.parametrize("status", SWAPS)
def test_the_page_begins_with_what_is_to_be_signed(status: str) -> None:
    """After the decision in a sentence: what it covers and what not, both judges, parts, guards, reasons, a line to sign.

    All of it is in the open, before anything else.
    """
    html = page(report_of(*SWAPS[status]), [], [])
    part = swap_part(html)
    found = [part.index(title) for title in ORDER]
    assert found == sorted(found)
    assert "<details" not in part
    main = html[html.index("<main") :]
    assert main.index('aria-labelledby="swap"') < main.index('aria-labelledby="judges"')
    assert html.index('<p class="lead">') < html.index('aria-labelledby="swap"')
    guards = part[found[4] : found[5]]
    assert guards.count("recency-new-old on close") == 1  # no reason admits anything: unadmitted shift is the same


def test_the_first_sentences_have_both_judges_numbers(snapshot: SnapshotAssertion) -> None:
    """How often each is right over both orders, and how far each follows the family, stand in the lead."""
    lead = page(report_of(*EQUAL), [], []).partition('<p class="lead">')[2].partition("</p>")[0]
    assert lines_about(lead, "(over both") == snapshot
    assert "recency 0.000 against 0.000" in lead


def test_rows_of_unadmitted_shift_are_told_once_where_they_are_those_of_shift(snapshot: SnapshotAssertion) -> None:
    """Where reasons admit nothing a sentence stands for the guards' rows; the parts that decide keep theirs."""
    silent = swap_part(page(report_of(*WORSE), [], []))
    assert lines_about(silent, "unadmitted shift") == snapshot
    assert "single contrast that" not in silent
    assert lines_about(silent, "reason admits") == snapshot
    followed = replace(WORSE[0], candidate_admits=[True] * N)
    admitted = swap_part(page(report_of(followed, WORSE[1]), [], []))
    assert "the whole shift" not in admitted
    assert lines_about(admitted, "single contrast") == snapshot


def test_a_reason_that_stands_above_is_not_repeated(snapshot: SnapshotAssertion) -> None:
    """What is not ruled out is said once on the page and in the sheet; a reason that nothing says stays."""
    report = report_of(*EQUAL)
    assert sum("not excluded" in each for each in report["decision"]["reasons"]) == 1
    for said in (swap_part(page(report, [], [])), render_markdown(report)):
        assert lines_about(said.lower(), "one contrast") == snapshot
        assert report["decision"]["reasons"][0] in said


def test_a_swap_explains_its_terms_and_no_others() -> None:
    """Family, contrast, margin and the like are explained where a swap is, and CAR and tolerance only beside shifts."""
    terms = re.findall(r"<dt>(.*?)</dt><dd>", page(report_of(*EQUAL), [], []).partition('id="terms"')[2])
    assert {"Family", "Contrast", "Margin", "Baseline", "Single contrast, guard", "Control", "Both orders"} <= {*terms}
    assert not {"CAR", "Tolerance", "Noise floor"} & {*terms}
    graded = page(report_of(*GRADED), [], []).partition('id="terms"')[2]
    assert "<dt>Family</dt>" in graded


def test_the_page_shows_whose_difference_a_number_is(snapshot: SnapshotAssertion) -> None:
    """Beside +0.05 stand both accuracies over both orders, and a note says what that is."""
    part = swap_part(page(report_of(*EQUAL), [], []))
    assert re.search(r"<b>\+0\.05</b> <small>0\.925 minus 0\.875; ", part)
    assert lines_about(part, "accuracy over") == snapshot


def test_names_on_the_page_are_text() -> None:
    """A judge or dataset that is named like HTML is shown as it is spelled."""
    parts = (cell("recency", "recency-new-old", "<img src=x>", 40), right("<b>", 0.9, 0.9))
    part = swap_part(page(report_of(*parts, judge="<script>"), [], []))
    assert "<img" not in part
    assert "<script>" not in part
    assert "&lt;img src=x&gt; (100 pairs)" in part


@pytest.mark.parametrize("status", SWAPS)
def test_the_sheet_has_the_same_in_the_same_order(status: str) -> None:
    """report.md: the decision, what it covers, what not, both judges with the parts, guards, and a line to sign at its end."""
    said = render_markdown(report_of(*SWAPS[status]))
    found = [
        said.index(words)
        for words in (
            f"# Swap: {status}",
            "What this decision covers:",
            "What it does not cover:",
            "|  | result | new | old (baseline) | pairs | measured | interval | allowed |",
            "Single contrasts and datasets:",
            f"{status} is the result of the rule.",
            "Signed for / against:",
        )
    ]
    assert found == sorted(found)
    assert said.splitlines()[-1].startswith("Signed for / against: ____")


def test_the_terminal_says_it_in_two_lines(snapshot: SnapshotAssertion) -> None:
    """Behind the decision come what it covers and what not, a line each, then the parts as before."""
    lines = terminal_summary(report_of(*EQUAL), 0.05)
    at = lines.index("decision: APPROVE")
    assert lines[at + 1] == snapshot
    assert lines_about(lines[at + 2], "ethnicity, education") == snapshot
    assert lines_about(lines[at + 3], "abs(VSR) of") == snapshot
    assert sum("does not cover" in line for line in lines) == 1


def test_a_report_of_before_is_shown_as_far_as_it_goes(snapshot: SnapshotAssertion) -> None:
    """Without what each judge does by itself, and without rows of the swap, page and sheet have the rest."""
    report = report_of(*EQUAL)
    for decision in (report["decision"], *report["decisions"]):
        for each in decision["components"]:
            del each["judge"], each["baseline"]
    for old in (report, {**report, "swap": [], "controls": [], "datasets": []}):
        part = swap_part(page(old, [], []))
        assert "Both judges" not in part
        assert not re.search(r"\d minus [\d.]", part)
        assert lines_about(part, "less than") == snapshot
        said = render_markdown(old)
        assert "|  | result | pairs | measured | interval | allowed |" in said
        assert lines_about(said, "not cover") == snapshot
