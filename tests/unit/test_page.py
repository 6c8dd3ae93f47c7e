"""report.html without a browser: its structure, that data stays data, and that the same input gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.benchmarks import benchmark
from support.hostile import attack, planted
from support.parsed import Parsed, data_of
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

import judgefixtures.report.html
from judgefixtures.report.html import page
from judgefixtures.report.html.charts import ChartAxis, interval_strip, shift_admission_plane
from judgefixtures.report.html.invisible_characters import spell_out_invisible
from judgefixtures.report.html.labels import status_label
from judgefixtures.report.html.pair_browser import ADMITTED, CLOSE, DIFFERS, INVALID, MOVED, browser_data
from judgefixtures.report.html.views import noise_floor, page_view

HERE = Path(judgefixtures.report.html.__file__).parent


@pytest.fixture(scope="module")
def run() -> Any:
    """Two judges in 14 contrasts on a few pairs."""
    return benchmark("page").made(12)


@pytest.fixture(scope="module")
def html(run: Any) -> str:
    """Its page."""
    return str(run.html)


@pytest.fixture(scope="module")
def parsed(html: str) -> Parsed:
    """Its page, parsed."""
    return Parsed(html)


# --- structure --------------------------------------------------------------------------------------------------


def test_every_element_is_closed(parsed: Parsed, html: str) -> None:
    """The page is well formed, and it begins with its doctype."""
    assert html.startswith("<!doctype html>\n<html lang=")
    assert (parsed.stack, parsed.unbalanced) == ([], [])


def test_a_screen_reader_finds_its_way(parsed: Parsed) -> None:
    """There are landmarks, one first heading, no level of headings is left out, and every label has its target."""
    names = [tag for tag, _ in parsed.elements]
    assert {"header", "nav", "main"} <= set(names)
    levels = [int(tag[1]) for tag in names if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {
        attributes["aria-labelledby"] for _, attributes in parsed.elements if "aria-labelledby" in attributes
    } <= set(ids)
    assert {str(link["href"])[1:] for link in parsed.of("a")} <= set(ids)


def test_every_table_head_has_a_scope_and_every_table_a_caption(parsed: Parsed) -> None:
    """A screen reader can say which row and which column a cell belongs to."""
    heads = list(parsed.of("th"))
    assert heads
    assert all(head.get("scope") in ("col", "row", "rowgroup") for head in heads)
    assert sum(1 for _ in parsed.of("table")) == sum(1 for _ in parsed.of("caption"))


def test_every_drawing_says_what_it_shows(html: str) -> None:
    """A drawing that is not mere decoration has a title and a description."""
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    shown = [drawing for drawing in drawings if 'aria-hidden="true"' not in drawing]
    assert len(shown) > 28
    assert all(re.search(r"role=\"img\"><title>[^<]+</title><desc>[^<]+</desc>", drawing) for drawing in shown)


def test_nothing_is_loaded_and_only_our_script_may_run(parsed: Parsed, html: str) -> None:
    """The policy forbids everything but this script and this style, by their hashes, and no address is in the page."""
    (policy,) = [str(meta["content"]) for meta in parsed.of("meta") if meta.get("http-equiv")]
    source = {tag: re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL) for tag in ("script", "style")}
    for tag, (text,) in source.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for name in ("src", "srcset", "style", "action", "data", "xlink:href"):
        assert not [tag for tag, attributes in parsed.elements if name in attributes]
    assert not re.search(r"url\(|@import|https?://", html)


def test_the_script_writes_texts_alone() -> None:
    """page.js has no way to turn data into HTML or code, and fetches nothing."""
    script = (HERE / "page.js").read_text()
    unwanted = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|fetch|XMLHttp|import\("
    assert not re.search(unwanted, script)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_their_ground(scheme: str) -> None:
    """Every colour of a text has a contrast of 4.5 to 1 with the page and with what is marked on it."""
    css = (HERE / "page.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", blocks[0]))
    if scheme == "dark":
        colours |= dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", blocks[1]))
    for name in ("ink", "soft", "link", "pass", "fail", "doubt", "error"):
        for ground in ("paper", "wash"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    assert contrast(colours["ink"], colours["mark"]) >= 4.5


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_status_is_a_word(html: str) -> None:
    """No status is told by its colour alone."""
    spans = re.findall(r'<span class="status [^"]*">(.*?)</span>(?: [A-Za-z ]+</span>)?', html)
    assert spans
    assert status_label("INCONCLUSIVE")["word"] == "INCONCLUSIVE"
    for kind, words in re.findall(r'<span class="status (\w+)"><span aria-hidden="true">.</span> ([^<]+)</span>', html):
        assert words == {"pass": "PASS", "fail": "FAIL"}.get(kind, words) or words in ("REJECT", "APPROVE")


# --- what it says -----------------------------------------------------------------------------------------------


def test_the_decision_comes_first_and_says_why(parsed: Parsed, snapshot: SnapshotAssertion) -> None:
    """The heading has the decision, and the first sentence says in words what it rests on."""
    lead = next(text for stack, text in parsed.texts if stack and stack[-1] == "p" and "replace" in text)
    assert lead == snapshot
    before = [text for stack, text in parsed.texts if "header" in stack]
    assert any("REJECT" in text for text in before)


@pytest.mark.parametrize(
    ("name", "model", "recorded"),
    [
        ("simulated-silent", "simulated-silent", {"first": "2026-01-01", "last": "2026-01-02", "asked_now": 0}),
        ("ours", "gpt-4o", {"first": None, "last": None, "asked_now": 40}),
        ("ours", "gpt-4o", {"first": "2026-01-01", "last": "2026-01-01", "asked_now": 40}),
        ("ours", "gpt-4o", {"first": None, "last": None, "undated": True, "asked_now": 0}),
        ("ours", "gpt-4o", {}),  # a function that ran live, or nothing was measured
    ],
)
def test_it_says_where_answers_come_from(
    name: str, model: str, recorded: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    """Recordings with their dates, what was asked now, and simulated judges are told apart."""
    report = {"judges": {name: {"provider": "openai", "model": model}}, "run": {"recorded": {name: recorded}}}
    assert [person.source for person in page_view(report).people] == snapshot


def test_an_imported_judge_is_named_as_such() -> None:
    """A judge whose answers come from a log was not asked, and the page says so."""
    (person,) = page_view({"judges": {"theirs": {"provider": "imported"}}}).people
    assert person.kind == "imported"
    assert "no requests" in person.source


def test_a_report_with_little_in_it_makes_a_page() -> None:
    """Whatever a run did not do, the page stands: without contrasts, judges, pairs, usage or dates."""
    for report in ({}, {"schema": 1, "status": "PASS"}, {"status": "ERROR", "contrasts": [], "judges": {"a": {}}}):
        assert "<main" in page(report, [], [])


def test_a_report_of_before_makes_a_page(run: Any) -> None:
    """Contrast rows without arms, sentences and texts are shown; their pairs are still browsed, verdict by verdict."""
    added = ("arms", "sentences", "moved", "text", "outcome")
    rows = [{key: value for key, value in row.items() if key not in added} for row in run.report["contrasts"]]
    report = {**run.report, "contrasts": rows}
    for key in ("run", "usage", "datasets"):
        del report[key]
    data = data_of(Parsed(page(report, run.judgments, run.pairs)))
    assert {len(each["arms"]) for each in data["contrasts"]} == {1}
    assert len(data["cases"]) == 3 * len(run.judgments)


def test_an_error_without_numbers_is_listed(run: Any, snapshot: SnapshotAssertion) -> None:
    """A contrast that could not be measured has no drawing, and its message is on the page."""
    (row, *others) = run.report["contrasts"]
    error = {**row, "vsr": None, "car": None, "status": "ERROR", "message": "nothing is recorded", "text": None}
    shown = Parsed(page({**run.report, "contrasts": [error, *others]}, run.judgments, run.pairs))
    assert lines_about(shown.inside("summary"), "Contrasts of") == snapshot
    assert "nothing is recorded" in "".join(text for _, text in shown.texts)


def result(name: str, status: str, **more: Any) -> dict[str, Any]:
    """What an item found, as report.json has it."""
    return {
        "judge": "j",
        "baseline": None,
        "dataset": f"d-{name}",
        "check": "accuracy",
        "name": name,
        "status": status,
        "waived": False,
        "text": f"text of {name}",
        "message": f"why {name}",
        **more,
    }


def test_accuracy_that_failed_is_listed_as_measured(snapshot: SnapshotAssertion) -> None:
    """Every accuracy that did not pass stands there; what was not measured is counted, and none of it is left out."""
    found = [
        result("a", "FAIL"),
        result("b", "FAIL"),
        result("c", "INCONCLUSIVE"),
        result("d", "PASS"),
        result("e", "ERROR", text=""),
        result("f", "ERROR", text=""),
    ]
    parsed = Parsed(page({"status": "FAIL", "judges": {"j": {}}, "results": found}, [], []))
    said = " ".join(text for _, text in parsed.texts)
    for each in found:
        shown = (each["text"] or each["message"]).capitalize()
        assert (shown in said) == (each["status"] != "PASS")
    assert lines_about(said, "d-e") == snapshot


def test_a_swap_says_what_came_of_the_judge_itself(run: Any) -> None:
    """A candidate that may take the place and fails a gate of its own is told so before anything else."""
    contrasts = [{**row, "movable": None} for row in run.report["contrasts"]]
    swap = {**run.report, "contrasts": contrasts, "results": [result("a", "FAIL", judge="candidate")]}
    parsed = Parsed(page(swap, [], []))
    leads = [text for stack, text in parsed.texts if "header" in stack]
    assert any("candidate" in text and "check failed" in text for text in leads)


def test_a_margin_is_drawn_on_the_side_where_it_is() -> None:
    """Accuracy may fall by its margin, everything else rise by it."""
    part = {
        "name": "recency",
        "role": "primary",
        "status": "PASS",
        "value": 0.0,
        "low": -0.4,
        "high": 0.4,
        "n": 100,
        "margin": 0.1,
        "confidence": 0.9,
    }
    decision = {
        "judge": "j",
        "baseline": "b",
        "status": "APPROVE",
        "reasons": [],
        "components": [{**part, "kind": "abs-vsr"}, {**part, "kind": "accuracy"}],
    }
    (swap,) = page_view({"decisions": [decision], "decision": {"status": "APPROVE"}}).swaps
    shift, accuracy = (line.strip.band for line in swap.parts if line.strip is not None)
    assert shift[0] == 0
    assert shift[1] < 100
    assert accuracy[0] > 0
    assert accuracy[1] == 100
    said = [line.strip.detail for line in swap.parts if line.strip is not None]
    assert [text.partition("limit ")[2] for text in said] == ["at most 0.1", "at least -0.1"]


def test_a_waiver_names_its_owner_and_its_end(run: Any) -> None:
    """A result that somebody answers for is listed with who, until when and why."""
    waived = {"owner": "search-team", "reason": "known", "expires": "2027-01-31"}
    rows = [{**run.report["contrasts"][0], "waived": waived}, *run.report["contrasts"][1:]]
    shown = Parsed(page({**run.report, "contrasts": rows}, [], []))
    assert "By search-team until 2027-01-31: known" in shown.inside("p")


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        ({"placebo_vsr": {"low": -0.02, "high": 0.04}, "repeat_flip_rate": {"value": 0.1}}, (-0.02, 0.04)),
        ({"placebo_vsr": None, "repeat_flip_rate": {"value": 0.1}}, (-0.1, 0.1)),
        ({"placebo_vsr": None, "repeat_flip_rate": None}, None),
        (None, None),
    ],
)
def test_the_noise_floor_is_the_placebo_or_the_repeats(floor: Any, expected: Any) -> None:
    """The placebo's own interval is drawn where it was asked, else as far as repeats flip verdicts either way."""
    assert noise_floor({"floor": floor}) == expected


# --- drawings ---------------------------------------------------------------------------------------------------


def test_a_strip_stands_where_its_numbers_are() -> None:
    """An interval, its tolerance and its noise floor keep their places on the axis, whatever is beyond its ends."""
    estimate = {"value": 0.25, "low": 0.0, "high": 2.0, "confidence": 0.9, "n": 10}
    drawn = interval_strip("a", estimate, ChartAxis(-0.5, 0.5), (-0.15, 0.15), (-0.1, 0.1))
    assert drawn is not None
    assert (drawn.low, drawn.value, drawn.high, drawn.band, drawn.floor) == (50, 75, 100, (35, 65), (40, 60))
    assert interval_strip("a", None, ChartAxis(0, 1)) is None


def test_the_plane_shows_a_range_where_readings_differ() -> None:
    """A contrast that several detectors read has a dot for each and a line between them; numbers never overlap."""
    readings = {"as read": 0.2, "corrected": 0.4, "by a model": 0.8}
    drawn = shift_admission_plane(
        [("a", 0.1, readings), *((f"b{at}", at / 40, {"as read": 0.0}) for at in range(12))], ChartAxis(-0.5, 0.5)
    )
    first = drawn.points[0]
    assert first.ends == (44, 176)
    assert [dot.kind for dot in first.dots] == list(readings)
    boxes = [(point.label_x, point.label_x + 7 * len(point.label), point.label_y) for point in drawn.points]
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert one[1] < other[0] or other[1] < one[0] or abs(one[2] - other[2]) >= 12


# --- pairs ------------------------------------------------------------------------------------------------------


def said(judge: str, condition: str, selected: int | None, **more: Any) -> dict[str, Any]:
    """A judgment about the only pair."""
    return {
        "judge": judge,
        "dataset": "d",
        "pair": "p",
        "condition": condition,
        "repeat": 0,
        "selected_response": selected,
        "reason": "because",
        "acknowledgment": "absent",
        **more,
    }


PAIR = {"dataset": "d", "pair": "p", "question": "q", "response_1": "a", "response_2": "b", "gold": 1, "close_for": []}
REPORT = {
    "decisions": [{"judge": "j", "baseline": "b", "status": "REJECT"}],
    "contrasts": [
        {
            "judge": "j",
            "dataset": "d",
            "contrast": "c",
            "arms": [["x", 0], ["y", 0]],
            "x": "new",
            "y": "old",
            "outcome": "chose-first",
            "status": "FAIL",
        }
    ],
}


def flags(judgments: list[dict[str, Any]], *, close: Sequence[str] = (), **change: Any) -> int:
    """What the only case of a contrast can be filtered by."""
    report = {**REPORT, "contrasts": [{**REPORT["contrasts"][0], **change}]}
    cases = browser_data(report, judgments, [{**PAIR, "close_for": list(close)}])["cases"]
    return next(cases[at + 2] for at in range(0, len(cases), 3) if cases[at] == 0)


@pytest.mark.parametrize(
    ("judgments", "change", "expected"),
    [
        ([said("j", "x", 1), said("j", "y", 1)], {}, 0),
        ([said("j", "x", 1), said("j", "y", 2)], {}, MOVED),
        ([said("j", "x", 1), said("j", "y", 2)], {"outcome": "chose-own-first"}, 0),
        ([said("j", "x", 1), said("j", "y", 1)], {"outcome": "chose-own-first"}, MOVED),
        ([said("j", "x", 1), said("j", "y", 2)], {"moved": []}, 0),
        ([said("j", "x", 1), said("j", "y", 1)], {"moved": ["p"]}, MOVED),
        ([said("j", "x", 1), said("j", "y", None, invalid="empty")], {}, INVALID),
        ([said("j", "x", 1), said("j", "y", None, tie=True)], {}, MOVED),
        ([said("j", "x", 1), said("j", "y", 1, acknowledgment="cited")], {}, ADMITTED),
        ([said("j", "x", 1), said("j", "y", 1, acknowledgment="mentioned")], {}, 0),
        ([said("j", "x", 1), said("j", "y", 1), said("b", "y", 2)], {}, DIFFERS),
        ([said("j", "x", 1), said("j", "y", 1), said("b", "x", 1), said("b", "y", 1)], {}, 0),
        ([said("j", "x", 1), said("j", "y", 1)], {"close": ["j"]}, CLOSE),
        ([said("j", "x", 1), said("j", "y", 1)], {"close": ["b"]}, 0),
    ],
)
def test_a_case_is_found_by_what_is_true_of_it(judgments: Any, change: dict[str, Any], expected: int) -> None:
    """Moved, admitted, close, invalid, differing: by the report where it says so, else by the verdicts."""
    assert flags(judgments, **change) == expected


def test_a_swap_s_contrast_has_both_arms_of_both_judges() -> None:
    """What a swap compared is browsed as what a gate did: moved, admitted, the sentences, the baseline beside it.

    A contrast that a gate has, too, is there once.
    """
    asked = {"contrast": "c", "arms": [["x", 0], ["y", 0]], "x": "new", "y": "old", "outcome": "chose-first"}
    asked |= {"sentences": {"x": "It is new.", "y": "It is old."}, "message": "difference 0", "status": "PASS"}
    of = {"judge": "j", "baseline": "b", "dataset": "d"}
    beside = [{**of, "contrast": "c", "quantity": "kappa"}, {**of, "contrast": None, "quantity": "accuracy"}]
    report = {"decisions": REPORT["decisions"], "swap": [{**of, **asked, "quantity": "abs-vsr"}, *beside]}
    judgments = [said("j", "x", 1), said("j", "y", 1, acknowledgment="cited"), said("b", "x", 1), said("b", "y", 2)]
    found = browser_data(report, judgments, [PAIR])
    named = [(found["strings"][each["judge"]], len(each["arms"])) for each in found["contrasts"]]
    assert named == [("j", 2), ("b", 2)]
    assert found["cases"][2::3] == [ADMITTED | DIFFERS, MOVED]
    ours, theirs = found["contrasts"]
    assert [found["strings"][each] for each in ours["sentences"]] == ["It is new.", "It is old."]
    assert ours["cue"]
    assert ours["others"] == theirs["arms"]
    assert len(browser_data({**report, "contrasts": REPORT["contrasts"]}, judgments, [PAIR])["contrasts"]) == 2


@pytest.mark.parametrize(
    ("condition", "others", "turned"),
    [
        ("no-cue-21", [], True),  # the control asks this order, and a log may have it alone
        ("no-cue", [], False),
        ("recency-new-old-21", ["recency-new-old"], True),
        ("age-20-21", [], False),  # labels that are numbers
    ],
)
def test_a_choice_is_told_of_the_pair_s_own_response(condition: str, others: list[str], turned: bool) -> None:
    """An arm that shows response 2 first is known by its condition, whether or not a contrast is about the order."""
    data = browser_data({}, [said("j", name, 1) for name in (condition, *others)], [PAIR])
    arms = {data["strings"][arm["condition"]]: arm["turned"] for arm in data["arms"]}
    assert arms == {condition: turned, **dict.fromkeys(others, False)}


def test_a_judge_s_answer_stands_beside_the_pair_that_it_saw() -> None:
    """Where two judges were asked about a pair with its responses in other places, each has its own row of it."""
    mirrored = {**PAIR, "response_1": "b", "response_2": "a", "judges": ["b"]}
    found = browser_data(
        REPORT, [said("j", "x", 1), said("j", "y", 1), said("b", "x", 2)], [{**PAIR, "judges": ["j"]}, mirrored]
    )
    shown = {
        (found["strings"][arm["judge"]], found["strings"][arm["condition"]]): arm["pairs"] for arm in found["arms"]
    }
    assert shown == {("j", "x"): [0], ("j", "y"): [0], ("b", "x"): [1]}


def test_a_text_stands_once_however_often_it_is_said(run: Any) -> None:
    """A reason that is given about every pair in every condition is in the page once."""
    reason = "the very same reason, word for word"
    shown = page(run.report, [{**row, "reason": reason} for row in run.judgments], run.pairs)
    assert shown.count(reason) == 1


def test_an_answer_keeps_all_that_was_said(run: Any) -> None:
    """What page.js reads holds every judgment with its choice, reason, admission and the words that admit."""
    data = data_of(Parsed(run.html))
    strings = data["strings"]
    found = {}
    for arm in data["arms"]:
        for pair, answer in zip(arm["pairs"], arm["answers"], strict=True):
            chosen, reason, invalid, acknowledgment, span, _ = [*answer, *[0] * (6 - len(answer))]
            key = (strings[arm["judge"]], strings[arm["condition"]], arm["repeat"], strings[data["pairs"][pair][1]])
            found[key] = (chosen, *(strings[each] for each in (reason, invalid, acknowledgment, span)))
    assert found == {
        (row["judge"], row["condition"], row["repeat"], row["pair"]): (
            -1 if row["selected_response"] is None else row["selected_response"],
            *(row[name] or "" for name in ("reason", "invalid", "acknowledgment", "span")),
        )
        for row in run.judgments
    }


# --- texts from outside -----------------------------------------------------------------------------------------


def skeleton(parsed: Parsed) -> list[tuple[str, tuple[str, ...]]]:
    """Every element with the names of its attributes, without the marks of unseen characters."""
    return [(tag, tuple(attributes)) for tag, attributes in parsed.elements if attributes.get("class") != "mark"]


def test_texts_from_outside_change_no_element(run: Any, parsed: Parsed) -> None:
    """With markup, templates and line ends planted in every text, the page has the elements that it has without."""
    text = attack()
    made = [planted(part, text) for part in (run.report, run.judgments, run.pairs)]
    shown = Parsed(page(*made))
    assert skeleton(shown) == skeleton(parsed)
    assert not [name for _, attributes in shown.elements for name in attributes if name.startswith("on")]
    everything = "".join(text for _, text in shown.texts)
    assert f"candidate{spell_out_invisible(text)}" in everything
    assert "{{7*7}}" in everything
    assert text in data_of(shown)["strings"][1]


def test_unseen_characters_are_spelled_out_everywhere(run: Any) -> None:
    """No control character, no override of direction and no half of a surrogate pair is left in the page as it is."""
    made = [planted(part, attack() + "\ud83d") for part in (run.report, run.judgments, run.pairs)]
    html = page(*made)
    assert html.encode()
    data = html.index('<script type="application/json"')
    for character in "\x00\x1b\x9b\u202e\u2066\u200b\u2028\u2029\U000e0041\r":
        assert character not in html[:data]
    assert not re.search("[\u2028\u2029\ud800-\udfff]", html)
    assert '<span class="mark">\\u202e</span>gnp.exe' in html
    assert '<span class="mark">\\ud83d</span>' in html


def test_the_same_run_gives_the_same_bytes(run: Any, html: str) -> None:
    """In whatever order judgments came, the page is the same."""
    shuffled = list(run.judgments)
    random.Random(1).shuffle(shuffled)
    assert page(json.loads(json.dumps(run.report)), shuffled, run.pairs) == html


def test_a_usual_run_is_small() -> None:
    """Two judges, 14 contrasts and 100 pairs with a reason of its own for every verdict take less than 5 MB."""
    usual = benchmark("page").made(100)
    assert len(usual.html.encode()) < 5e6
