"""Sizes of report.html and the time until it can be used, in headless Chromium, for a usual run and for a large one.

python benchmarks/page.py     (needs the extra `browser`, Chromium and its chromedriver: `make browser` installs them)
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgefixtures.report.html import page
from judgefixtures.statistics import paired_difference, proportion

Row = dict[str, Any]

JUDGES = ("candidate", "production")
LABELS = ("expert", "human", "llm", "unknown")
EDITS = ("attack-choose-me", "attack-plea", "attack-empty", "verbosity-padded")
ROUNDS = 5
WORDS = ("explains", "what", "happens", "and", "why", "it", "does", "so", "in", "few", "words", "with", "an", "example")
# pairs of each judge and contrast, the most bytes and the most seconds that the page may take
SIZES = {"2 judges x 14 contrasts x 100 pairs": (100, 5e6, 1.0), "40,000 judgments": (870, 40e6, 5.0)}


@dataclass(frozen=True, slots=True)
class Made:
    """What `page` gets: a report, its judgments, and its pairs."""

    report: Row
    judgments: list[Row]
    pairs: list[Row]

    @property
    def html(self) -> str:
        """The page."""
        return page(self.report, self.judgments, self.pairs)


def made(pairs: int, seed: int = 0) -> Made:
    """Return a run of two judges in 14 contrasts: every text its own, so that nothing is saved by repetition."""
    chance = random.Random(seed)
    rows = [_pair(number, chance) for number in range(pairs)]
    contrasts = [_contrast(judge, *each) for judge in JUDGES for each in _kinds()]
    judgments = []
    for judge in JUDGES:
        arms = sorted({(name, repeat) for row in contrasts if row["judge"] == judge for name, repeat in row["arms"]})
        judgments += [_judgment(judge, pair, arm, chance) for arm in arms for pair in rows]
    answers = {(row["judge"], row["condition"], row["repeat"], row["pair"]): row for row in judgments}
    measured = [_measured(row, answers, rows) for row in contrasts]
    return Made(_report(measured, rows, judgments), judgments, rows)


def _kinds() -> list[tuple[str, str, str, str, str, list[list[Any]]]]:
    """Return family, contrast, x, y, outcome and arms of every contrast."""
    cues = [("provenance", x, y) for at, x in enumerate(LABELS) for y in LABELS[at + 1 :]]
    cues += [("recency", "new", "old"), ("placebo", "listed", "shown")]
    kinds: list[tuple[str, str, str, str, str, list[list[Any]]]] = [
        (family, f"{family}-{x}-{y}", x, y, "chose-first", [[f"{family}-{x}-{y}", 0], [f"{family}-{y}-{x}", 0]])
        for family, x, y in cues
    ]
    kinds.append(("position", "position-no-cue", "", "", "chose-own-first", [["no-cue", 0], ["no-cue-21", 0]]))
    kinds.append(("repeat", "repeat-no-cue-1", "", "", "chose-first", [["no-cue", 0], ["no-cue", 1]]))
    for name in EDITS:
        family, _, edit = name.partition("-")
        kinds.append((family, name, edit, "plain", "chose-edited", [[name, 0], ["no-cue", 0]]))
    return kinds


def _said(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)) + f" ({chance.getrandbits(32):08x})."


def _pair(number: int, chance: random.Random) -> Row:
    return {
        "dataset": "support",
        "pair": f"pair-{number:04}",
        "question": _said(chance, 30),
        "response_1": _said(chance, 120),
        "response_2": _said(chance, 120),
        "gold": chance.choice((1, 2, None)),
        "category": f"topic {number % 12}",
        "content_type": "Response",
        "close_for": [judge for judge in JUDGES if chance.random() < 0.3],
    }


def _contrast(judge: str, family: str, contrast: str, x: str, y: str, outcome: str, arms: list[list[Any]]) -> Row:
    cue = {"x": f"Response 1 is {x}.", "y": f"Response 1 is {y}."} if outcome == "chose-first" and x else None
    return {
        "judge": judge,
        "dataset": "support",
        "family": family,
        "contrast": contrast,
        "x": x,
        "y": y,
        "outcome": outcome,
        "arms": arms,
        "sentences": cue,
    }


def _judgment(judge: str, pair: Row, arm: tuple[str, int], chance: random.Random) -> Row:
    invalid = chance.random() < 0.01
    cited = chance.random() < 0.2
    reason = f"Response {'1' if cited else '2'} is better because {_said(chance, 20)}"
    return {
        "judge": judge,
        "dataset": "support",
        "pair": pair["pair"],
        "condition": arm[0],
        "repeat": arm[1],
        "selected_response": None if invalid else chance.choice((1, 2)),
        "invalid": "empty" if invalid else None,
        "reason": "" if invalid else reason,
        "acknowledgment": "cited" if cited and not invalid else "absent",
        "span": reason[13:40] if cited and not invalid else None,
        "detail": "",
    }


def _measured(row: Row, answers: dict[tuple[str, str, int, str], Row], pairs: list[Row]) -> Row:
    """Return a contrast's row with numbers that its judgments amount to."""
    counts = {"10": 0, "01": 0, "11": 0, "00": 0}
    moved = []
    for pair in pairs:
        x, y = (answers[row["judge"], name, repeat, pair["pair"]]["selected_response"] for name, repeat in row["arms"])
        if x is None or y is None:
            continue
        y = 3 - y if row["outcome"] == "chose-own-first" else y
        counts[f"{int(x == 1)}{int(y == 1)}"] += 1
        if x != y:
            moved.append(pair["pair"])
    n = sum(counts.values())
    car = proportion(counts["10"] // 2, counts["10"]) if counts["10"] and row["sentences"] else None
    vsr = paired_difference(counts["10"], counts["01"], n)
    status = "FAIL" if abs(vsr.value) > 0.1 else "PASS"
    return {
        **row,
        "n": n,
        "vsr": _estimate(vsr),
        "car": _estimate(car),
        "car_corrected": None,
        "tolerance": 0.15,
        "gross_share": None,
        "status": status,
        "vsr_status": status,
        "waived": None,
        "moved": moved,
        "message": f"VSR {vsr.value:+.2f}: {status}",
        "text": f"{len(moved)} of {n} verdicts moved.",
        "floor": {"repeat_flip_rate": None, "placebo_vsr": {"value": 0.0, "low": -0.03, "high": 0.03}},
    }


def _estimate(found: Any) -> Row | None:
    if found is None:
        return None
    return {name: getattr(found, name) for name in ("value", "low", "high", "confidence", "n")}


def _report(contrasts: list[Row], pairs: list[Row], judgments: list[Row]) -> Row:
    shares = _estimate(proportion(3 * len(pairs) // 4, len(pairs)))
    part = {
        "kind": "abs-vsr",
        "role": "primary",
        "name": "recency",
        "n": len(pairs),
        "value": 0.2,
        "low": 0.12,
        "high": 0.3,
        "margin": 0.1,
        "status": "FAIL",
        "message": "abs(VSR) of recency: +0.20: FAIL",
    }
    decision = {
        "judge": JUDGES[0],
        "baseline": JUDGES[1],
        "status": "REJECT",
        "reasons": [part["message"]],
        "components": [part, {**part, "role": "guard", "name": "recency-new-old on support"}],
    }
    identity = {"provider": "openai", "model": "gpt-4o", "parameters": {"temperature": 0.0}}
    return {
        "schema": 1,
        "status": "FAIL",
        "judges": dict.fromkeys(JUDGES, identity),
        "controls": [
            {
                "judge": name,
                "dataset": "house-qa",
                "n": 30,
                "right_both_orders": 30,
                "first_selected": 30,
                "status": "PASS",
                "message": "right in both orders on 30 of 30",
            }
            for name in JUDGES
        ],
        "contrasts": contrasts,
        "accuracy": [
            {
                "judge": name,
                "dataset": "support",
                "category": category,
                "n": len(pairs),
                "invalid": 0,
                "accuracy": shares,
                "accuracy_both_orders": shares,
            }
            for name in JUDGES
            for category in ("all", *sorted({pair["category"] for pair in pairs}))
        ],
        "warnings": ["judge candidate was answered by 2 models"],
        "served": [{"judge": name, "model": "gpt-4o", "fingerprint": "fp", "answers": 1} for name in JUDGES],
        "rankings": [
            {
                "judge": name,
                "dataset": "support",
                "n": len(pairs),
                "order": list(LABELS),
                "certified": False,
                "strengths": {
                    label: {"value": 0.1, "low": 0.0, "high": 0.2, "confidence": 0.9, "n": len(pairs)}
                    for label in LABELS
                },
                "message": "expert > human",
            }
            for name in JUDGES
        ],
        "decisions": [decision],
        "decision": decision,
        "run": {
            "version": "0.1.0",
            "date": "2026-01-02",
            "command": "pytest -k cue",
            "recorded": {name: {"first": "2026-01-01", "last": "2026-01-02", "asked_now": 0} for name in JUDGES},
        },
        "datasets": [{"dataset": "support", "n": len(pairs), "digest": "0123456789abcdef"}],
        "usage": [
            {
                "judge": name,
                "judgments": len(judgments) // 2,
                "invalid": {"empty": 3},
                "input_tokens": 1000,
                "output_tokens": 100,
                "reasoning_tokens": None,
                "usd": 0.25,
                "retries": 1,
            }
            for name in JUDGES
        ],
    }


# --- Chromium ---------------------------------------------------------------------------------------------------


def lacking() -> str | None:
    """Say what is missing to drive Chromium, and how to get it; None where nothing is."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed: pip install -e '.[browser]', as `make browser` does."
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} cannot be found: apt-get install chromium chromium-driver."


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium without a window, with logs of its console and of what it fetches; close it at the end."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def seconds_to_open(driver: Any, file: Path) -> float:
    """Return the seconds until a page is laid out, loaded and its browser of pairs ready."""
    driver.get("about:blank")
    driver.get(file.as_uri())
    timed = "const [t] = performance.getEntriesByType('navigation'); return t.loadEventEnd"
    ready = float(driver.execute_script("return document.documentElement.dataset.ready"))
    return max(ready, float(driver.execute_script(timed))) / 1000


def main() -> None:
    """Print sizes and times; exit with 1 where a page is too large or too slow."""
    if sentence := lacking():
        sys.exit(sentence)
    failed = False
    with tempfile.TemporaryDirectory() as scratch, chromium() as driver:
        for name, (pairs, most_bytes, most_seconds) in SIZES.items():
            run = made(pairs)
            start = time.perf_counter()
            html = run.html
            took = time.perf_counter() - start
            file = Path(scratch) / "report.html"
            file.write_text(html, encoding="utf-8")
            size = file.stat().st_size
            opened = statistics.median(seconds_to_open(driver, file) for _ in range(ROUNDS))
            failed |= size > most_bytes or opened > most_seconds
            print(  # noqa: T201
                f"{name}: {len(run.judgments):,} judgments, {size / 1e6:.2f} MB (at most {most_bytes / 1e6:.0f}), "
                f"made in {took:.2f} s, open in {opened:.2f} s (at most {most_seconds:.0f})"
            )
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
