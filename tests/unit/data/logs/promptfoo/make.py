"""Make the exports of promptfoo that stand beside this file, by running it on our examples against the loopback model.

    npm install promptfoo@0.100.0       # in a folder of its own, likewise promptfoo@0.121.20; node 20
    python make.py FOLDER 0.100.0       # FOLDER has node_modules; Python needs no package

Two models answer six questions, which makes the twelve examples; a third one grades. It is wrong about `lock-bad`, says
nothing that can be read about `plant-good`, and changes its mind about `bread-bad` when it is asked again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from model import serve  # noqa: E402 (it stands beside, and is no package)

EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
QUESTIONS = list(dict.fromkeys(each["question"] for each in EXAMPLES))
FIRST = 9  # characters that tell a response from every other one
READ: Counter[tuple[str, str]] = Counter()
VIEWER = 15599  # the port of promptfoo's viewer


def model(name: str) -> Any:
    """Return what a model answers to each question; model b is down for one of them where it is asked to be."""

    def answer(text: str) -> str:
        if name == "b" and "DOWN" in text:
            raise ConnectionError("the model is down")
        return next(each["response"] for each in EXAMPLES if each["question"] in text and each["model"] == name)

    return answer


def grade(text: str) -> str:
    """Return what the grader says, in the form that the prompt of each assertion asks for."""
    shown = sorted((text.rfind(each["response"][:FIRST]), each["id"], each["label"]) for each in EXAMPLES)
    shown = [each for each in shown if each[0] >= 0]
    if "steps" in text and not shown:
        return '{"steps": ["Read the answer.", "Look for what the question asks."]}'
    if "comparing" in text.lower() and len(shown) >= 2:
        best = [label for _, _, label in shown].index("pass")
        return "neither of them" if "tea" in shown[0][1] else str(1 - best if "lock" in shown[0][1] else best)
    _, name, label = shown[-1]
    READ[name, text] += 1
    if name == "plant-good":
        return "I would rather not say."
    good = label == "pass" or name == "lock-bad" or (name == "bread-bad" and READ[name, text] > 1)
    if "(A)" in text:
        return f"({'C' if good else 'D'}) They {'agree' if good else 'differ'}."
    if "[BEGIN DATA]" in text:
        return f"It {'does' if good else 'does not'}.\n{'Y' if good else 'N'}"
    reason = "It answers the question." if good else "It does not answer the question."
    ten = 10 if '"score": <' in text or "{maxScore}" in text or "0-10" in text or "0 to 10" in text else 1
    score = (0.9 if good else 0.2) * ten
    return json.dumps({"reason": reason, "pass": good, "score": round(score, 1)})


def config(address: dict[str, str], *, asserts: list[dict[str, Any]], tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a configuration of promptfoo whose models and grader are the loopback's."""

    def provider(name: str) -> dict[str, Any]:
        return {"id": f"openai:chat:{name}", "config": {"apiBaseUrl": f"{address[name]}/v1", "apiKey": "unused"}}

    return {
        "prompts": ["{{question}}"],
        "providers": [provider("a"), provider("b")],
        "defaultTest": {"options": {"provider": provider("grader")}, "assert": asserts},
        "tests": tests,
    }


def run(folder: Path, name: str, held: dict[str, Any], *options: str) -> None:
    """Run promptfoo in an empty folder, and keep what it writes."""
    READ.clear()
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "promptfooconfig.json").write_text(json.dumps(held), encoding="utf-8")
        command = [
            folder / "node_modules/.bin/promptfoo",
            "eval",
            "-c",
            "promptfooconfig.json",
            "-j",
            "1",
            "--no-cache",
        ]
        more = ["--no-table", "--no-progress-bar", "-o", f"results{Path(name).suffix}"]
        subprocess.run([*command, *more, *options], cwd=place, env=environment(), check=False)
        shutil.copy(Path(place) / more[-1], HERE / name)


def rate(folder: Path, name: str) -> None:
    """Rate the outputs of an export as the viewer does, and export them again: the server keeps what people said."""
    held = json.loads((HERE / name).read_text(encoding="utf-8"))
    command = folder / "node_modules/.bin/promptfoo"
    with subprocess.Popen([command, "view", "-n", "-p", str(VIEWER)], env=environment()) as viewer:
        time.sleep(15)
        for cell in held["results"]["results"]:
            label = next(each["label"] for each in EXAMPLES if each["response"] == cell["response"]["output"])
            said = {"pass": label == "pass", "score": int(label == "pass")}
            said |= {"reason": "Manual result (overrides all other grading results)", "assertion": {"type": "human"}}
            graded = {**cell["gradingResult"], **said, "assertion": None}
            graded["componentResults"] = [*cell["gradingResult"]["componentResults"], said]
            address = f"http://127.0.0.1:{VIEWER}/api/eval/{held['evalId']}/results/{cell['id']}/rating"
            request = urllib.request.Request(address, json.dumps(graded).encode())
            request.add_header("Content-Type", "application/json")
            urllib.request.urlopen(request).close()
        viewer.terminate()
    exported = [command, "export", "eval", held["evalId"], "-o", HERE / name]
    subprocess.run(exported, env=environment(), check=True)


def environment() -> dict[str, str]:
    """Return an environment in which promptfoo asks nobody but the loopback."""
    off = {f"PROMPTFOO_DISABLE_{name}": "1" for name in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION", "SHARING")}
    home = {"PROMPTFOO_CONFIG_DIR": os.environ.get("PROMPTFOO_CONFIG_DIR", "/tmp/promptfoo")}
    return {**os.environ, **off, **home, "PROMPTFOO_REQUEST_BACKOFF_MS": "1", "OPENAI_API_KEY": "unused"}


def main(folder: Path, version: str) -> None:
    """Make all files of one version."""
    cases = [{"vars": {"id": question.split()[-1].strip("?"), "question": question}} for question in QUESTIONS]
    rubric = {"type": "llm-rubric", "rubricPrompt": 'Reply with {"reason", "pass", "score"}. {{rubric}} {{output}}'}
    helpful = {**rubric, "value": "It answers the question."}
    polite = {**rubric, "value": "It is polite about {{question}}"}
    factual = {"type": "factuality", "value": "The truth."}
    short = {"type": "javascript", "value": "output.length < 80", "metric": "short"}
    closed = {"type": "model-graded-closedqa", "value": "It answers."}
    group = {"type": "assert-set", "assert": [factual, {"type": "icontains", "value": "in"}]}
    geval = {"type": "g-eval", "value": "It answers the question."}
    best = {"type": "select-best", "value": "It answers the question."}
    newest = tuple(map(int, version.split("."))) > (0, 101)
    lines = "jsonl" if newest else "json"  # the older one writes no lines, and shorter rows
    quiet = () if newest else ("--no-write",)  # its database does not work without the network
    with serve(model("a")) as a, serve(model("b")) as b, serve(grade) as grader:
        address = {"a": a, "b": b, "grader": grader}
        run(folder, f"{version}.{lines}", config(address, asserts=[helpful, short], tests=cases), *quiet)
        many = config(address, asserts=[helpful, polite, group, geval if newest else closed], tests=cases[:3])
        run(folder, f"{version}-many.json", {**many, "providers": many["providers"][:1]}, *quiet)
        one = config(address, asserts=[helpful], tests=cases[1:4])
        run(folder, f"{version}-repeat.json", {**one, "providers": one["providers"][:1]}, "--repeat", "2", *quiet)
        chosen = config(address, asserts=[best, helpful], tests=cases[:3] + cases[5:])
        run(folder, f"{version}-best.{lines}", chosen, *quiet)
        down = [{"vars": {"question": f"{QUESTIONS[1]} DOWN"}}, {"vars": {"question": QUESTIONS[0]}}]
        run(folder, f"{version}-down.json", config(address, asserts=[helpful], tests=down), *quiet)
        if newest:
            run(folder, f"{version}-small.csv", config(address, asserts=[helpful], tests=cases[:1]))
            rated = config(address, asserts=[helpful], tests=[cases[0], cases[2], cases[5]])
            run(folder, f"{version}-people.json", rated)
            rate(folder, f"{version}-people.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
