"""Record reasons of a served model about the house questions, without a cue or with one: data for the detector.

    python examples/real-model/serve.py --port 8080 -- python benchmarks/real_reasons.py FILE --half tuning

Each question is asked in one of the forms below, at temperature .7 with a seed of its own; those to measure with
`PASSES` times, in another form each time. What the detector was tuned on and what it is measured on have neither a
question nor a seed in common. What is recorded is kept: run it again and it goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from measure_stance import FAMILIES, show

import judgefixtures
from judgefixtures.models.cues import FAMILIES as SENTENCES

DATA = Path(judgefixtures.__file__).parent / "data"
SETS: Mapping[str, tuple[str, ...]] = {
    "tuning": (
        "house-qa", "house-close", "house-control", "house-answers", "house-graded",
        "house-instructions", "house-stories", "house-close-stories",
    ),
    "measured": ("house-bias",),
}  # fmt: skip
PASSES = {"tuning": 1, "measured": 3}
FIRST_SEED = {"tuning": 0, "measured": 1_000_000}
LONGEST = 1400  # characters of a prompt
TOKENS = 64
TEMPERATURE = 0.7
MODEL = "SmolLM2-135M-Instruct-Q4_1"
ONE = "Question:\n{question}\n\nResponse:\n{response}\n\n{cue}"
TWO = "Question:\n{question}\n\nResponse 1:\n{response_1}\n\nResponse 2:\n{response_2}\n\n{cue}"
# Of one response or of two, what is asked, and the key of the verdict where the answer is JSON.
FORMS: tuple[tuple[str, str, str], ...] = (
    (ONE, 'Rate how good the response is, from 1 to 9. Reply with JSON: "score", and "reason", a sentence.', "score"),
    (TWO, 'Which response is better? Reply with JSON: "selected_response", and "reason".', "selected_response"),
    (ONE, 'Is the response right? Reply with JSON: "verdict", "pass" or "fail", and "reason".', "verdict"),
    (ONE, "Say in one or two sentences what is good or bad about the response.\n\nJustification:", ""),
    (TWO, "Say in one or two sentences which response is better, and why.\n\nJustification:", ""),
    (ONE, "Score the response from 1 to 9 and give a short reason for the score.\n\nReason:", ""),
    (ONE, "Does the response pass? Say pass or fail and why, in two sentences at most.", ""),
)
VERDICTS: Mapping[str, dict[str, Any]] = {
    "score": {"type": "integer", "minimum": 1, "maximum": 9},
    "selected_response": {"type": "integer", "minimum": 1, "maximum": 2},
    "verdict": {"type": "string", "enum": ["pass", "fail"]},
}


def rows(half: str) -> list[dict[str, Any]]:
    """Return the questions of a half in a random order, the same each time."""
    files = [DATA / f"{name}.jsonl" for name in SETS[half]]
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    random.Random(half).shuffle(found)
    return found * PASSES[half]


def cue_of(number: int, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the family and the label that a question is shown with."""
    family = FAMILIES[number % len(FAMILIES)]
    labels = sorted(SENTENCES[family])
    return family, labels[int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % len(labels)]


def prompt_of(number: int, row: Mapping[str, Any], sentence: str) -> tuple[str, str]:
    """Return the prompt about a question, and the key of its verdict."""
    both = [row.get("response_1") or row.get("response"), row.get("response_2")]
    frame, asked, key = FORMS[number % len(FORMS)]
    if frame is TWO and not all(both):
        frame, asked, key = FORMS[0]
    one = both[number // len(FORMS) % 2] or both[0]
    shown = f"About the response: {sentence}\n\n" if sentence else ""
    parts = {"question": row["question"], "response": one, "response_1": both[0], "response_2": both[1]}
    return frame.format(**parts, cue=shown) + asked, key


def asked(address: str, prompt: str, key: str, seed: int) -> str | None:
    """Return the model's reason, or None where its JSON was cut off."""
    body: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": prompt}]}
    body |= {"temperature": TEMPERATURE, "seed": seed, "max_tokens": TOKENS}
    if key:
        properties = {key: VERDICTS[key], "reason": {"type": "string"}}
        schema = {"type": "object", "properties": properties, "required": [key, "reason"]}
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    request = urllib.request.Request(
        f"{address}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=600) as answer:
        text = json.load(answer)["choices"][0]["message"]["content"]
    try:
        return str(json.loads(text)["reason"]) if key else text.strip()
    except (ValueError, KeyError):
        return None


def recorded(address: str, half: str, first: int, last: int, *, with_cues: bool) -> Iterator[dict[str, Any]]:
    """Yield the reasons to the questions from `first` to `last`, where they are complete and long enough."""
    for number, row in list(enumerate(rows(half)))[first:last]:
        family, label = cue_of(number, row) if with_cues else ("", "")
        sentence = SENTENCES[family][label].format(content_type="Response", number="") if family else ""
        prompt, key = prompt_of(number, row, " ".join(sentence.split()))
        if len(prompt) > LONGEST:
            continue
        reason = asked(address, prompt, key, FIRST_SEED[half] + number + 10_000 * with_cues)
        found = {"number": number, "about": row["id"], "form": key or "free", "reason": reason}
        yield found | ({"family": family, "label": label} if family else {})


def main() -> None:
    """Record what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="JSON lines; what it holds is not asked again")
    parser.add_argument("--address", default="http://127.0.0.1:8080", help="where the model is served")
    parser.add_argument("--half", choices=["tuning", "measured"], required=True)
    parser.add_argument("--cues", action="store_true", help="show each response with a cue")
    parser.add_argument("--first", type=int, default=0, help="the first question of the half")
    parser.add_argument("--last", type=int, default=10_000, help="questions of the half at most")
    options = parser.parse_args()
    done = options.file.read_text(encoding="utf-8").splitlines() if options.file.exists() else []
    first = 1 + max((json.loads(line)["number"] for line in done), default=options.first - 1)
    with options.file.open("a", encoding="utf-8") as file:
        for row in recorded(options.address, options.half, first, options.last, with_cues=options.cues):
            file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
            file.flush()
    show(f"{options.file}: {len(options.file.read_text(encoding='utf-8').splitlines())} reasons")


if __name__ == "__main__":
    main()
