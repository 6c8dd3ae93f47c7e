"""report.html in Chromium: nothing of the data runs or is fetched, and people find their pairs in it.

Not part of `make test`: `make browser` installs selenium and runs these.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from support.benchmarks import benchmark
from support.hostile import attack, planted
from support.singles import beside, of_examples

from judgefixtures.report.html import page
from judgefixtures.report.html.invisible_characters import spell_out_invisible


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that counts who asks it for anything."""
    hits: list[str] = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    http = HTTPServer(("127.0.0.1", 0), Counting)
    http.hits = hits  # type: ignore[attr-defined]
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield http
    http.shutdown()
    http.server_close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a usual run."""
    file = tmp_path_factory.mktemp("plain") / "report.html"
    file.write_text(benchmark("page").made(30).html, encoding="utf-8")
    return file


def opened(chromium: Any, file: Path, address: str = "") -> Any:
    """Open a page anew, with empty logs."""
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)
    chromium.get(file.as_uri() + address)
    return chromium


def run(chromium: Any, script: str, *arguments: Any) -> Any:
    """Return what a script returns."""
    return chromium.execute_script(script, *arguments)


def fetched(chromium: Any) -> list[str]:
    """Every address that the browser asked for since the page was opened."""
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def texts(chromium: Any, selector: str) -> list[str]:
    """The texts of all elements that a selector finds."""
    return list(run(chromium, "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector))


def test_a_filter_that_finds_nothing_says_so(chromium: Any, plain: Path) -> None:
    """It cannot be chosen and reads (none); every other one finds a pair."""
    opened(chromium, plain)
    script = (
        "return [...document.querySelectorAll('#filters fieldset input')]"
        ".map(each => [each.name, each.disabled, each.parentNode.textContent.includes('(none)')])"
    )
    data = json.loads(run(chromium, "return document.getElementById('data').textContent"))
    for name, disabled, said in run(chromium, script):
        nothing = not any(flags & data["filters"][name] for flags in data["cases"][2::3])
        assert (disabled, said) == (nothing, nothing)


def test_data_stays_data(chromium: Any, server: Any, tmp_path: Path) -> None:
    """Scripts, handlers, addresses, overrides and templates in every text: none runs, none is fetched, all is shown."""
    text = attack(f"http://127.0.0.1:{server.server_port}")
    made = benchmark("page").made(6)
    report, judgments, pairs = (planted(part, text) for part in (made.report, made.judgments, made.pairs))
    file = tmp_path / "report.html"
    file.write_text(page(report, judgments, pairs), encoding="utf-8")

    opened(chromium, file)
    run(chromium, "document.querySelectorAll('details').forEach(e => { e.open = true; })")
    links = run(chromium, "return [...document.querySelectorAll('#list a')].map(e => e.getAttribute('href'))")
    for link in (links[0], links[5]):
        run(chromium, "location.hash = arguments[0]; dispatchEvent(new Event('hashchange'))", link)
        run(chromium, "document.querySelectorAll('*').forEach(e => e.dispatchEvent(new MouseEvent('mouseover')))")
    wanted = (report["contrasts"][0]["judge"], report["contrasts"][0]["contrast"])
    (row,) = [pair for pair in pairs if texts(chromium, "#case h3") == [spell_out_invisible(pair["pair"])]]

    assert run(chromium, "return window.hit") is None
    assert chromium.get_log("browser") == []
    assert [url for url in fetched(chromium) if not url.startswith(file.as_uri())] == []
    assert server.hits == []
    alive = "return document.querySelectorAll('img, iframe, object, embed, script:not([type])').length"
    assert run(chromium, alive) == 1  # page.js
    assert run(chromium, "return [...document.querySelectorAll('a')].every(e => e.getAttribute('href')[0] === '#')")
    assert texts(chromium, "#case .text")[:3] == [
        spell_out_invisible(row[key]) for key in ("question", "response_1", "response_2")
    ]
    arms = [each for each in judgments if each["pair"] == row["pair"] and each["judge"] == wanted[0]]
    reasons = {spell_out_invisible(each["reason"]) for each in arms}
    assert set(texts(chromium, "#case .pair p.text")[2:]) & reasons
    assert spell_out_invisible(wanted[1]) in texts(chromium, "#filters select[name=contrast] option")
    assert spell_out_invisible(report["warnings"][0]) in texts(chromium, "main > section li")
    assert any(spell_out_invisible(row["category"]) in each for each in texts(chromium, "#case p.none"))


def test_the_policy_stops_what_slips_through(chromium: Any, plain: Path, server: Any) -> None:
    """Even a script or an image that somebody got into the page does nothing."""
    opened(chromium, plain)
    url = f"http://127.0.0.1:{server.server_port}/slipped"
    run(chromium, "const s = document.createElement('script'); s.text = 'window.hit = 1'; document.body.append(s)")
    run(chromium, "const i = new Image(); i.src = arguments[0]; document.body.append(i)", url)
    run(chromium, "document.body.setAttribute('onclick', 'window.hit = 2'); document.body.click()")
    assert run(chromium, "return window.hit") is None
    assert "/slipped" not in server.hits
    assert chromium.get_log("browser") != []  # Chromium says that it refused


def test_a_link_opens_its_pair(chromium: Any, plain: Path) -> None:
    """An address with a pair, a judge and a contrast shows both arms, the admitted words, and who chose what."""
    made = benchmark("page").made(30)
    row = next(each for each in made.judgments if each["span"] and each["condition"] == "recency-new-old")
    opened(chromium, plain, f"#pair=support/{row['pair']}&judge={row['judge']}&contrast=recency-new-old")
    assert texts(chromium, "#case h3") == [row["pair"]]
    assert row["span"] in texts(chromium, "#case mark")
    assert texts(chromium, "#case .pair h4")[2:] == ["recency-new-old", "recency-old-new"]
    assert f"chose Response {row['selected_response']}" in texts(chromium, "#case .flag")
    assert run(chromium, "return document.activeElement.id") == "case"
    opened(chromium, plain, "#pair=support/nobody")
    assert texts(chromium, "#case") == ["This report does not have this pair."]
    opened(chromium, plain, "#pair=%E0%A4%A")
    assert texts(chromium, "#case") == ["This report does not have this pair."]
    assert chromium.get_log("browser") == []


def test_a_link_opens_its_example(chromium: Any, tmp_path: Path) -> None:
    """Of a judge of one response: the question, what its template shows, the response, the label, and both grades."""
    made = of_examples(benchmark("page").made(6))
    text = attack()
    report, judgments, pairs = (planted(part, text) for part in (made.report, made.judgments, made.pairs))
    file = tmp_path / "report.html"
    file.write_text(page(report, judgments, pairs), encoding="utf-8")
    opened(chromium, file)
    contrast = next(row for row in report["contrasts"] if row["family"].startswith("recency"))
    row = pairs[2]
    arms = [
        next(each for each in judgments if same_answer(each, row["pair"], contrast["judge"], *arm))
        for arm in contrast["arms"]
    ]
    wanted = [f"pair={quote(row['dataset'], safe='')}/{quote(row['pair'], safe='')}"]
    wanted += [f"{name}={quote(contrast[name], safe='')}" for name in ("judge", "contrast")]
    opened(chromium, file, f"#{'&'.join(wanted)}")
    ((name, column),) = row["columns"].items()
    assert texts(chromium, "#case .text") == [
        spell_out_invisible(each)
        for each in (row["question"], column, row["response"], *(arm["reason"] for arm in arms))
    ]
    assert texts(chromium, "#case summary")[0] == spell_out_invisible(name)
    assert "label: fail" in texts(chromium, "#case p.none")[0]
    grades = {None: f"invalid answer: empty{spell_out_invisible(text)}", 1: "passed it", 2: "failed it"}
    assert texts(chromium, "#case p.flag") == [grades[arm["selected_response"]] for arm in arms]
    assert run(chromium, "return window.hit") is None
    assert chromium.get_log("browser") == []


def same_answer(row: dict[str, Any], pair: str, judge: str, condition: str, repeat: int) -> bool:
    """Return whether a judgment is the one of a judge about an example in an arm."""
    return (row["pair"], row["judge"], row["condition"], row["repeat"]) == (pair, judge, condition, repeat)


def test_a_long_column_is_folded(chromium: Any, tmp_path: Path) -> None:
    """A document that a template shows does not push the response off the screen; a short text stands open."""
    made = of_examples(benchmark("page").made(1))
    row = {**made.pairs[0], "columns": {"reference": "Paris.", "context": "A long story. " * 500}}
    file = tmp_path / "report.html"
    file.write_text(page(made.report, made.judgments, [row]), encoding="utf-8")
    opened(chromium, file, f"#pair=support/{row['pair']}")
    folds = "return [...document.querySelectorAll('#case details')].slice(0, 2).map(e => [e.children[0].textContent, e.open])"
    assert run(chromium, folds) == [["reference", True], ["context", False]]


def test_a_page_of_both_shows_each_in_its_own_way(chromium: Any, tmp_path: Path) -> None:
    """A link beside a contrast leads to its pairs or its examples, and words are found in columns, too."""
    made = benchmark("page").made(6)
    file = tmp_path / "report.html"
    file.write_text(beside(made, of_examples(made)).html, encoding="utf-8")
    for dataset, responses in (("support", ["Response 1", "Response 2"]), ("elsewhere", ["Response"])):
        opened(chromium, file, f"#pair={dataset}/pair-0003")
        assert texts(chromium, "#case h3") == ["pair-0003"]
        assert [each for each in texts(chromium, "#case .pair h4") if each.startswith("Response")] == responses
        assert texts(chromium, "#case a")[0] == "Link to this one"
    words = made.pairs[4]["response_2"][-10:]
    opened(chromium, file)
    run(
        chromium,
        "const f = document.getElementById('filters'); f.elements.words.value = arguments[0];"
        "f.dispatchEvent(new Event('input'));",
        words,
    )
    assert {*texts(chromium, "#list a span")} == {"pair-0004 · support", "pair-0004 · elsewhere"}


@pytest.mark.parametrize(
    ("condition", "said"), [("no-cue", "chose Response 2"), ("no-cue-21", "chose Response 1 (it stood second)")]
)
def test_a_choice_is_that_of_the_pair_s_own_response(chromium: Any, tmp_path: Path, condition: str, said: str) -> None:
    """Where response 2 stood first, who chose the second chose the pair's response 1, and it is marked as chosen."""
    row = {
        "judge": "j",
        "dataset": "d",
        "pair": "p",
        "condition": condition,
        "repeat": 0,
        "selected_response": 2,
        "reason": "So.",
        "acknowledgment": "absent",
    }
    pair = {"dataset": "d", "pair": "p", "question": "q", "response_1": "a", "response_2": "b", "gold": 1}
    file = tmp_path / "report.html"
    file.write_text(page({"status": "PASS", "judges": {"j": {}}}, [row], [pair]), "utf-8")
    opened(chromium, file, f"#pair=d/p&judge=j&contrast={condition}")
    assert said in texts(chromium, "#case .flag")
    chosen = 2 if condition == "no-cue" else 1
    assert f"chosen in {condition}" in texts(chromium, f"#case .pair > div:nth-of-type({chosen}) .flag")


@pytest.mark.parametrize(
    ("reason", "span", "marked"),
    [
        (
            "A human asked. A Human expert in the field is right.",
            "human, expert, in, the, field, right",
            ["Human expert in the field", "right"],
        ),
        ("It is recent: written recently (in 2025).", "recently, 2025", ["recently", "2025"]),
        ("It was written by an expert.", "written by an expert", ["written by an expert"]),
        ("Nothing of it <b>stands</b> here.", "expert, human", []),
    ],
)
def test_the_words_that_admit_are_marked(
    chromium: Any, tmp_path: Path, reason: str, span: str, marked: list[str]
) -> None:
    """A passage, or the words closest together in their order; words that are not in the reason are said beside it."""
    made = benchmark("page").made(2)
    judgments = [{**row, "reason": reason, "span": span, "selected_response": 1} for row in made.judgments]
    file = tmp_path / "report.html"
    file.write_text(page(made.report, judgments, made.pairs), encoding="utf-8")
    opened(chromium, file, "#pair=support/pair-0001&judge=production&contrast=recency-new-old")
    assert texts(chromium, "#case mark") == 2 * marked
    assert texts(chromium, "#case .pair .text")[2] == reason
    assert (f"Detected admission: “{span}”" in texts(chromium, "#case p.none")) is (not marked)


def test_filters_leave_what_they_name(chromium: Any, plain: Path) -> None:
    """A judge, a contrast, moved pairs and words in a text narrow the list; all of it comes back."""
    made = benchmark("page").made(30)
    opened(chromium, plain)
    everything = texts(chromium, "#count")
    choose = (
        "const f = document.getElementById('filters'), [name, value] = arguments, field = f.elements[name];"
        "if (field.type === 'checkbox') field.checked = value;"
        "else if (field.tagName === 'SELECT') field.value = [...field.options].find(o => o.text === value).value;"
        "else field.value = value; f.dispatchEvent(new Event('input'));"
    )
    run(chromium, choose, "judge", "candidate")
    run(chromium, choose, "contrast", "recency-new-old")
    run(chromium, choose, "moved", True)
    moved = next(
        row["moved"]
        for row in made.report["contrasts"]
        if (row["judge"], row["contrast"]) == ("candidate", "recency-new-old")
    )
    assert texts(chromium, "#list a span") == [f"{pair} · support" for pair in moved[:25]]
    assert run(chromium, "return [...document.querySelectorAll('#list a small')].length") == 2 * len(moved[:25])
    run(chromium, "document.getElementById('filters').reset()")
    run(chromium, choose, "words", made.pairs[7]["question"][-10:].upper())
    assert {each.split(" ")[0] for each in texts(chromium, "#list a span")} == {"pair-0007"}
    run(chromium, choose, "words", "")
    assert texts(chromium, "#count") == everything
    assert len(texts(chromium, "#list li")) == 25


def test_the_static_part_needs_no_script(chromium: Any, plain: Path) -> None:
    """Without JavaScript the decision, the tables and the drawings are there, and a sentence says what is not."""
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(chromium, plain)
        shown = chromium.find_element("tag name", "body").text
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for words in ("REJECT", "must not replace", "Verdict shifts", "needs JavaScript", "recency-new-old"):
        assert words in shown
    assert "Show all" not in shown
    assert "see the pairs" not in shown


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_no_width_has_to_be_scrolled_sideways(chromium: Any, plain: Path, width: int) -> None:
    """A phone shows the whole width, with every part unfolded and a pair open."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(chromium, plain, "#pair=support/pair-0003")
        run(chromium, "document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert run(chromium, "return document.documentElement.scrollWidth") <= width
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_keyboard_is_enough(chromium: Any, plain: Path) -> None:
    """Tab reaches the filters and the list, Enter opens a pair, and what has the focus is outlined."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    opened(chromium, plain, "#browse")
    for _ in range(40):
        chromium.switch_to.active_element.send_keys(Keys.TAB)
        if run(chromium, "return !!document.activeElement.closest('#list')"):
            break
    assert run(chromium, "return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    wanted = run(chromium, "return document.activeElement.querySelector('span').textContent").split(" ")[0]
    chromium.switch_to.active_element.send_keys(Keys.ENTER)
    WebDriverWait(chromium, 5).until(lambda _: texts(chromium, "#case h3"))  # the address changes after the key
    assert texts(chromium, "#case h3") == [wanted]


@pytest.mark.parametrize("size", list(benchmark("page").SIZES)[:1])
def test_it_opens_at_once(chromium: Any, tmp_path: Path, size: str) -> None:
    """A usual run is small and quick to open, the best of three times: the machine may be busy."""
    pairs, most_bytes, most_seconds = benchmark("page").SIZES[size]
    file = tmp_path / "report.html"
    file.write_text(benchmark("page").made(pairs).html, encoding="utf-8")
    assert file.stat().st_size < most_bytes
    assert min(benchmark("page").seconds_to_open(chromium, file) for _ in range(3)) < most_seconds
