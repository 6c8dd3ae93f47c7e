"""report.html for judges of one response: its words, its cases, and what it says where judges of pairs are there too."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.benchmarks import benchmark
from support.hostile import attack, planted
from support.parsed import Parsed, data_of
from support.rendered import lines_about
from support.singles import beside, of_examples
from syrupy.assertion import SnapshotAssertion

from judgefixtures.report.html import page
from judgefixtures.report.html.invisible_characters import spell_out_invisible
from judgefixtures.report.html.pair_browser import browser_data

OF_PAIRS = re.compile(r"\b(pairs?|verdicts?)\b", re.IGNORECASE)
OF_EXAMPLES = re.compile(r"\b(examples?|grades?|pass-rate|people)\b", re.IGNORECASE)
TERMS = re.compile(r"<div><dt>([^<]+)</dt><dd>([^<]+)</dd></div>")


@pytest.fixture(scope="module")
def pairs() -> Any:
    """Two judges of pairs."""
    return benchmark("page").made(12)


@pytest.fixture(scope="module")
def run(pairs: Any) -> Any:
    """Two judges of one response."""
    return of_examples(pairs)


@pytest.fixture(scope="module")
def both(pairs: Any, run: Any) -> Any:
    """One judge of pairs, and one of one response."""
    return beside(pairs, run)


def ours(parsed: Parsed) -> str:
    """What the page says outside of its data, script and style, its attributes included."""
    texts = [text for stack, text in parsed.texts if not {"script", "style"} & {*stack}]
    told = ("aria-label", "data-name", "title")
    return " ".join([*texts, *(each[name] or "" for _, each in parsed.elements for name in told if name in each)])


def script_of(html: str) -> str:
    """The script of a page."""
    return html.rpartition("<script>")[2]


# --- words ------------------------------------------------------------------------------------------------------


def test_a_page_of_examples_says_nothing_of_pairs(run: Any) -> None:
    """Neither pairs nor verdicts are named, but where a term says what a pair is to a judge of one response."""
    html = TERMS.sub(lambda found: "" if found[1] in ("Example", "Label") else found[0], run.html)
    assert [found[0] for found in OF_PAIRS.finditer(ours(Parsed(html)))] == []
    said = re.findall(r"[\"`][^\"`]*[\"`]", script_of(html))
    assert [each for each in said if re.search(r"\b(this|same|such|of|or) pairs?\b|pairs in", each)] == []


def test_a_page_of_pairs_says_nothing_of_examples(pairs: Any) -> None:
    """Who has judges of pairs alone reads what they always read, and the script has no more to do than it had."""
    assert [found[0] for found in OF_EXAMPLES.finditer(ours(Parsed(pairs.html)))] == []
    assert "column" not in script_of(pairs.html)


def test_a_page_of_both_explains_both(both: Any) -> None:
    """Every term that means another thing for grades says both, and each contrast links to what it is about."""
    terms = dict(TERMS.findall(both.html))
    for term, of_verdicts, of_grades in (
        ("VSR", "of all pairs", "pass-rate shift: of all examples"),
        ("CAR", "of the verdicts that followed", "of the responses that passed"),
        ("INCONCLUSIVE", "more pairs", "or examples"),
        ("Noise floor", "verdicts", "or grades"),
    ):
        assert of_verdicts in terms[term]
        assert of_grades in terms[term]
    links = re.findall(r'data-judge="(\w+)"[^>]*>see its (\w+)<', both.html)
    assert {*links} == {("candidate", "pairs"), ("production", "examples")}


def test_what_moves_is_called_by_its_name(both: Any, snapshot: SnapshotAssertion) -> None:
    """The first sentences say of each judge whether its verdicts or its grades move."""
    contrasts = [{**row, "vsr_status": "FAIL", "status": "FAIL"} for row in both.report["contrasts"]]
    html = page({**both.report, "contrasts": contrasts}, [], [])
    assert lines_about(html, "demonstrably") == snapshot
    assert ("VSR: verdicts follow" in html, "VSR: grades follow" in html) == (True, True)


def test_the_words_are_right_before_anything_was_answered() -> None:
    """A grader whose contrasts could not be measured has a page in its own words, without a single example."""
    lost = {"judge": "j", "dataset": "d", "family": "recency", "contrast": "recency-new-old", "x": "new", "y": "old"}
    lost |= {"status": "ERROR", "message": "nothing is recorded", "outcome": "passed"}
    shown = Parsed(page({"status": "ERROR", "judges": {"j": {}}, "contrasts": [lost]}, [], []))
    assert shown.inside("h2")[-1] == "Examples"


# --- structure --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run", "both"])
def test_the_page_is_sound(name: str, request: pytest.FixtureRequest) -> None:
    """Every element is closed, every id is there once, and the policy names the script that stands in the page."""
    html = request.getfixturevalue(name).html
    parsed = Parsed(html)
    assert (parsed.stack, parsed.unbalanced) == ([], [])
    ids = [each["id"] for _, each in parsed.elements if "id" in each]
    assert len(ids) == len({*ids})
    assert not re.search(r"\{\{|%\*/|/\*%", script_of(html))
    assert html == request.getfixturevalue(name).html


def test_texts_from_outside_change_no_element(run: Any) -> None:
    """With markup and templates planted in responses, columns and their names, the page has no element more."""
    text = attack()
    made = [planted(part, text) for part in (run.report, run.judgments, run.pairs)]
    shown, plain = Parsed(page(*made)), Parsed(run.html)
    elements = [tag for tag, attributes in shown.elements if attributes.get("class") != "mark"]
    assert elements == [tag for tag, _ in plain.elements]
    strings = data_of(shown)["strings"]
    assert f"reference{text}" in strings
    assert {row["response"] for row in made[2]} | {each for row in made[2] for each in row["columns"].values()} <= {
        *strings
    }
    assert spell_out_invisible(text) in "".join(each for _, each in shown.texts)


# --- cases ------------------------------------------------------------------------------------------------------

EXAMPLE = {"dataset": "d", "question": "q", "response": "a", "label": None, "close_for": []}
ATTACK = {
    "judge": "j",
    "dataset": "d",
    "contrast": "attack-plea",
    "family": "attack",
    "arms": [["attack-plea", 0], ["no-cue", 0]],
    "x": "plea",
    "y": "plain",
    "outcome": "passed",
    "status": "PASS",
}


def grade(pair: str, condition: str, selected: int | None = 1, **more: Any) -> dict[str, Any]:
    """A judgment about an example."""
    about = {"judge": "j", "dataset": "d", "pair": pair, "condition": condition, "repeat": 0}
    return {**about, "selected_response": selected, "reason": "So.", "acknowledgment": "absent", **more}


def shown(data: Any) -> list[tuple[str, str]]:
    """Contrast and example of every case."""
    strings, cases = data["strings"], data["cases"]
    named = [(data["contrasts"][cases[at]], data["pairs"][cases[at + 1]]) for at in range(0, len(cases), 3)]
    return [(strings[contrast["contrast"]], strings[pair[1]]) for contrast, pair in named]


def test_an_attack_is_about_the_examples_that_it_was_tried_on() -> None:
    """What should pass is not attacked: its plain answer stands by itself, and counts for no attack."""
    examples = [{**EXAMPLE, "pair": "good", "label": "pass"}, {**EXAMPLE, "pair": "bad", "label": "fail"}]
    answers = [grade("bad", "attack-plea"), grade("bad", "no-cue", 2), grade("good", "no-cue")]
    assert shown(browser_data({"contrasts": [ATTACK]}, answers, examples)) == [
        ("attack-plea", "bad"),
        ("no-cue", "good"),
    ]


def test_a_label_may_be_called_plain() -> None:
    """A cue whose second label has the name of the plain arm is a cue: its sentences say so."""
    told = {**ATTACK, "contrast": "taste-rich-plain", "family": "taste", "x": "rich"}
    told |= {"arms": [["taste-rich", 0], ["taste-plain", 0]], "sentences": {"x": "It is rich.", "y": "It is plain."}}
    answers = [grade("bad", "taste-rich"), grade("bad", "taste-plain", 2)]
    (contrast,) = browser_data({"contrasts": [told]}, answers, [{**EXAMPLE, "pair": "bad"}])["contrasts"]
    assert (contrast["cue"], contrast["edit"]) == (True, False)


def test_what_a_template_shows_is_kept_in_its_order() -> None:
    """Each column has its name and text behind all else; an example without any has nothing there."""
    columns = {"reference": "Paris.", "context": "User: Where?\nAssistant: There."}
    examples = [{**EXAMPLE, "pair": "1", "columns": columns}, {**EXAMPLE, "pair": "2"}]
    data = browser_data({}, [grade("1", "no-cue"), grade("2", "no-cue")], examples)
    (*_, kept), plain = data["pairs"]
    assert {data["strings"][name]: data["strings"][text] for name, text in kept} == columns
    assert [data["strings"][name] for name, _ in kept] == [*columns]
    assert len(plain) == len(data["pairs"][0]) - 1


def test_columns_of_a_pair_are_shown_as_well(snapshot: SnapshotAssertion) -> None:
    """A judge of pairs whose template shows a reference has it on its page, in the words of pairs."""
    pair = {"dataset": "d", "pair": "p", "question": "q", "response_1": "a", "response_2": "b"}
    html = page({}, [grade("p", "no-cue")], [{**pair, "columns": {"reference": "Paris."}}])
    data = data_of(Parsed(html))
    assert "Paris." in data["strings"]
    assert "columnView" in script_of(html)
    assert lines_about(html, "Choose") == snapshot
