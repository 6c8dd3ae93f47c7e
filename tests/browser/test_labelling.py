"""The labelling page in Chromium: labels by keys, reloads, kills, two people, texts that try to be more than text.

Not part of `make test`: `make browser` installs selenium and runs these.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.hostile import attack
from support.labels import data_file, examples, started
from support.project import read_rows

from judgefixtures.report.html.invisible_characters import spell_out_invisible
from judgefixtures.sources import Source, load_pairs

SOON = 30.0  # seconds for what takes tenths of one, on a machine that has other things to do


@pytest.fixture(autouse=True)
def _quiet(chromium: Any) -> Iterator[None]:
    """Each test has empty logs, and a window of the usual size."""
    chromium.get("about:blank")
    chromium.set_window_size(1200, 900)
    for log in ("browser", "performance"):
        chromium.get_log(log)
    yield
    chromium.get("about:blank")


def run(chromium: Any, script: str, *arguments: Any) -> Any:
    """Return what a script returns."""
    return chromium.execute_script(script, *arguments)


def until(chromium: Any, script: str, wanted: Any) -> None:
    """Wait until a script returns a value."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(chromium, SOON, 0.02).until(
        lambda driver: driver.execute_script(script) == wanted, f"{script} is not {wanted!r}"
    )


def shows(chromium: Any, place: int | str) -> None:
    """Wait until the page shows the example at a place, or "end"."""
    until(chromium, "return document.documentElement.dataset.shown", str(place))


def press(chromium: Any, *keys: str) -> None:
    """Press keys, wherever the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(chromium).send_keys(*keys).perform()


def text(chromium: Any, selector: str) -> str:
    """Return the text of what a selector finds first."""
    return str(run(chromium, "return document.querySelector(arguments[0]).innerText", selector))


def question(chromium: Any) -> str:
    """Return the question that is shown."""
    return text(chromium, "#parts .text")


def labels(data: Path, by: str = "anna") -> list[Any]:
    """Return the lines of somebody's file."""
    return read_rows(data.with_name(f"answers.labels.{by}.jsonl"))


def order(data: Path) -> list[Any]:
    """Return the examples in the order in which they are shown."""
    return list(load_pairs(Source("answers", data)))


def test_thirty_labels_by_keys(chromium: Any, tmp_path: Path) -> None:
    """Thirty keys are thirty labels, each on disk when the next example shows; a reload in between loses nothing."""
    data = data_file(tmp_path, examples(31))
    keys = ["p", "F", "s", "f", "P"] * 6
    meant = {"p": "pass", "f": "fail", "s": None}
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        for place, key in enumerate(keys):
            shows(chromium, place)
            assert len(labels(data)) == place
            assert question(chromium) == order(data)[place].question
            press(chromium, key)
            if place == 12:
                shows(chromium, 13)
                chromium.refresh()
        shows(chromium, 30)
        assert text(chromium, "#progress").startswith("24 of 31 labelled, 6 skipped. An agreement gate needs about")
        lines = labels(data)
        assert [line["label"] for line in lines] == [meant[key.lower()] for key in keys]
        assert [line["id"] for line in lines] == [each.id for each in order(data)[:30]]
        press(chromium, "p")
        shows(chromium, "end")
        assert "Press S to see" in text(chromium, "#note")
        press(chromium, "s")
        shows(chromium, 2)
    assert chromium.get_log("browser") == []


def test_keys_that_are_meant_for_something_else(chromium: Any, tmp_path: Path) -> None:
    """Letters of a comment, shortcuts of the browser and a key that is held down label nothing."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    data = data_file(tmp_path, examples(4))
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        shows(chromium, 0)
        press(chromium, "c")
        press(chromium, "pfsbn: good, but...")
        press(chromium, Keys.ESCAPE)
        held = "dispatchEvent(new KeyboardEvent('keydown', {key: 'p', code: 'KeyP', bubbles: true, ...arguments[0]}))"
        for more in ({"repeat": True}, {"ctrlKey": True}, {"metaKey": True}, {"altKey": True}, {"isComposing": True}):
            run(chromium, f"document.body.{held}", more)
        ActionChains(chromium).key_down(Keys.CONTROL).send_keys("f").key_up(Keys.CONTROL).perform()
        assert labels(data) == []
        run(chromium, f"document.body.{held}", {"key": "\u0437"})  # the same key of a Russian keyboard
        shows(chromium, 1)
        (line,) = labels(data)
        assert (line["label"], line["comment"]) == ("pass", "pfsbn: good, but...")
        press(chromium, "b")
        shows(chromium, 0)
        assert run(chromium, "return document.getElementById('pass').getAttribute('aria-pressed')") == "true"
        assert run(chromium, "return document.getElementById('comment').value") == "pfsbn: good, but..."
        press(chromium, "n")
        shows(chromium, 1)
        run(chromium, "document.getElementById('fail').click()")
        shows(chromium, 2)
        assert [line["label"] for line in labels(data)] == ["pass", "fail"]


def test_a_kill_between_two_labels(chromium: Any, tmp_path: Path) -> None:
    """After kill -9 the page says that this label is not saved; the next start goes on where it was, with all others."""
    data = data_file(tmp_path, examples(6))
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        for place in range(2):
            shows(chromium, place)
            press(chromium, "p")
        shows(chromium, 2)
        running.kill()
        press(chromium, "f")
        until(chromium, "return document.getElementById('trouble').hidden", False)
        assert "This label is not saved" in text(chromium, "#trouble")
        assert question(chromium) == order(data)[2].question
    assert [line["label"] for line in labels(data)] == ["pass", "pass"]
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        shows(chromium, 2)
        press(chromium, "f")
        shows(chromium, 3)
        assert [line["label"] for line in labels(data)] == ["pass", "pass", "fail"]


def test_two_people_at_once(chromium: Any, tmp_path: Path) -> None:
    """Two windows label the same examples in the same order; neither sees a label, a comment or a count of the other."""
    data = data_file(tmp_path, examples(5, label="pass", category="told-to-nobody"))
    with started(data, "anna", cwd=tmp_path) as anna, started(data, "bo", cwd=tmp_path) as bo:
        windows = {}
        for by, running in (("anna", anna), ("bo", bo)):
            chromium.switch_to.new_window("window")
            windows[by] = chromium.current_window_handle
            chromium.get(running.client.url)
        seen: dict[str, list[str]] = {"anna": [], "bo": []}
        for place in range(5):
            for by, key in (("anna", "p"), ("bo", "f")):
                chromium.switch_to.window(windows[by])
                shows(chromium, place)
                seen[by].append(question(chromium))
                whole = text(chromium, "body") + run(chromium, "return document.getElementById('comment').value")
                assert f"{place} of 5 labelled" in whole
                assert "anna" not in whole
                assert "told-to-nobody" not in whole
                assert run(chromium, "return document.querySelector('[aria-pressed=true]')") is None
                press(chromium, "c", f"a comment of {by}")
                press(chromium, "\ue00c", key)  # Escape
        assert seen["anna"] == seen["bo"]
        for by in windows:
            chromium.switch_to.window(windows[by])
            shows(chromium, "end")
            chromium.close()
        chromium.switch_to.window(chromium.window_handles[0])
    assert [line["label"] for line in labels(data)] == ["pass"] * 5
    assert [line["label"] for line in labels(data, "bo")] == ["fail"] * 5


def test_texts_stay_texts(chromium: Any, tmp_path: Path) -> None:
    """Scripts, handlers, overrides, null bytes and megabytes: none runs, none is fetched, all is there to be read."""
    hostile = attack("http://127.0.0.1:9")
    rows = [
        {"id": "a", "question": hostile, "response": hostile, f"column {hostile}": hostile},
        {"id": "b", "question": "long", "response": "word " * 200_000},
        {"id": "c", "question": "wide", "response": "w" * 1_000_000},
        {"id": "nulls", "question": "nothing", "response": "\x00" * 1_000_000 + "end"},
        {"id": "e", "question": "mixed", "response": "\u202ea" * 500_000},
    ]
    data = data_file(tmp_path, rows)
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        for place, example in enumerate(order(data)):
            shows(chromium, place)
            named = [("question", example.question), *example.columns.items(), ("response", example.response)]
            parts = run(chromium, "return [...document.querySelectorAll('#parts section')].map(e => e.textContent)")
            if example.id == "nulls":
                assert parts[1].startswith("response\\u0000 (16000 times)")
                assert parts[1].endswith("end")
            else:
                assert parts == [spell_out_invisible(f"{name}{each}") for name, each in named]
            assert run(chromium, "return document.documentElement.scrollWidth <= innerWidth")
            assert run(chromium, "return document.getElementById('pass').getBoundingClientRect().bottom") <= 900
            names = run(chromium, "return [...document.querySelectorAll('#parts *')].map(e => e.localName).join(' ')")
            assert {*names.split()} <= {"section", "h2", "div", "span"}
            press(chromium, "p")
        shows(chromium, "end")
        assert run(chromium, "return window.hit") is None
        assert chromium.get_log("browser") == []
        events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
        asked = {each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"}
        assert asked == {running.client.url}
    assert len(labels(data)) == 5


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a page of another site."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    http = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}/"
    http.shutdown()
    http.server_close()


def test_nobody_else_gets_in(chromium: Any, tmp_path: Path, elsewhere: str) -> None:
    """Without the token, by another name, from another site even with the whole address: nothing is told or written."""
    data = data_file(tmp_path, examples(3))
    with started(data, "anna", cwd=tmp_path) as running:
        url = running.client.url
        for address in (f"{running.client.origin}/", url.replace("127.0.0.1", "localhost")):
            chromium.get(address)
            assert "Question" not in chromium.page_source
            assert run(chromium, "return document.getElementById('parts')") is None
        chromium.get(elsewhere)
        fetched = """
            const [url, mode, kind, done] = arguments;
            fetch(url, {method: 'POST', mode, headers: {'Content-Type': kind},
                        body: '{"place": 0, "label": "pass", "comment": ""}'})
                .then(a => a.text()).then(done, () => done('refused'))"""
        assert chromium.execute_async_script(fetched, url, "cors", "application/json") == "refused"
        assert chromium.execute_async_script(fetched, url, "no-cors", "text/plain") in ("", "refused")
        framed = """
            const [url, done] = arguments;
            const frame = document.createElement('iframe');
            frame.onload = () => done(frame.contentDocument === null ? 'closed' : frame.contentDocument.body.innerText);
            frame.src = url;
            document.body.append(frame)"""
        assert chromium.execute_async_script(framed, url) == "closed"
        assert "frame-ancestors" in str(chromium.get_log("browser"))
        assert labels(data) == []


def test_the_policy_stops_what_slips_through(chromium: Any, tmp_path: Path, elsewhere: str) -> None:
    """A script or a handler that somebody got into the page does nothing, and nothing can be sent elsewhere."""
    data = data_file(tmp_path, examples(3))
    with started(data, "anna", cwd=tmp_path) as running:
        chromium.get(running.client.url)
        shows(chromium, 0)
        slipped = (
            "const s = document.createElement('script'); s.text = 'window.hit = 1'; document.body.append(s)",
            "document.body.setAttribute('onclick', 'window.hit = 2'); document.body.click()",
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=hit=3>')",
            "document.body.append(Object.assign(new Image(), {src: 'x'}))",
        )
        for each in slipped:
            run(chromium, f"try {{ {each} }} catch {{}}")
        assert run(chromium, "return window.hit") is None
        sent = "const [url, done] = arguments; fetch(url, {mode: 'no-cors'}).then(() => done('sent'), () => done('not sent'))"
        assert chromium.execute_async_script(sent, elsewhere) == "not sent"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_on_a_phone(chromium: Any, tmp_path: Path, scheme: str) -> None:
    """At 360 pixels nothing is wider than the screen, and the keys stay in reach below a long text, light or dark."""
    long = "A sentence that goes on for a while, as answers do. " * 200
    data = data_file(tmp_path, [{**row, "response": long} for row in examples(3)])
    with started(data, "anna", cwd=tmp_path) as running:
        metrics = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        try:
            chromium.get(running.client.url)
            shows(chromium, 0)
            assert run(chromium, "return document.documentElement.scrollWidth") <= 360
            boxes = (
                "return ['pass', 'fail', 'skip', 'back'].map(id => document.getElementById(id).getBoundingClientRect())"
            )
            assert all(box["top"] >= 0 and box["bottom"] <= 740 and box["height"] >= 36 for box in run(chromium, boxes))
            assert run(chromium, "return document.querySelector('footer').getBoundingClientRect().height") < 300
            paper = run(chromium, "return getComputedStyle(document.body).backgroundColor")
            assert paper == ("rgb(253, 253, 251)" if scheme == "light" else "rgb(21, 24, 27)")
            chromium.save_screenshot(str(tmp_path / f"{scheme}.png"))
        finally:
            chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
