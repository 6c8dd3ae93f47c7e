"""The odds of recorded verdicts against those that llama.cpp's own completion endpoint gives for the same place.

    python tests/real/raw_completions.py examples/real-model smollm2-pairs http://127.0.0.1:8080

The prompt is put together by the server's template, the answer is added up to its verdict, and one token is asked for,
without the cache of prompts. No code that reads token probabilities is shared with the package.
"""

from __future__ import annotations

import json
import math
import re
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from judgefixtures import Condition, Judge, Run
from judgefixtures.models.judgments import Judgment

LISTED = 200  # tokens that the endpoint lists: both verdicts are among them, however sure the judge was
STATED = re.compile(rb'"selected_response"\s*:\s*"?(?=[12])')


@dataclass(frozen=True)
class Compared:
    """The log-odds of response 1 in one judgment, as recorded and as the endpoint gives them."""

    pair: str
    condition: str
    recorded: float
    raw: float

    @property
    def difference(self) -> float:
        """How far they are apart, in logits."""
        return abs(self.recorded - self.raw)


def compared(config: Path, judge: str, address: str, most: int = 20) -> list[Compared]:
    """Return the comparison of so many recorded judgments of a judge of pairs, spread evenly over its recordings.

    `config` is a configuration, or the folder whose pyproject.toml is one; its recordings are in `cassettes` beside it.
    Verdicts whose probability is only bounded are left out, and answers that state a verdict twice.
    """
    config = config / "pyproject.toml" if config.is_dir() else config
    with Run.from_config(config) as run:
        asked = run.judge(judge)
        found = list(_recorded(run, config.parent / "cassettes", asked))
    step = max(len(found) / most, 1.0)
    chosen = [found[int(number * step)] for number in range(min(most, len(found)))]
    return [_compared(asked, judgment, before, address) for judgment, before in chosen]


def mean_difference(found: Sequence[Compared]) -> float:
    """Return the mean absolute difference, in logits."""
    return math.fsum(each.difference for each in found) / len(found)


def _recorded(run: Run, cassettes: Path, judge: Judge) -> Iterator[tuple[Judgment, str]]:
    """Yield recorded judgments with known odds, each with its answer up to the verdict."""
    conditions = _conditions(run)
    for file in sorted((cassettes / judge.name).glob("*/*.jsonl")):
        if file.stem not in conditions:
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        starts = {row["pair"]: start for row in rows if "json" in row and (start := _start(row["json"])) is not None}
        pairs = [pair for pair in run.pairs(judge.name, file.parent.name) if pair.id in starts]
        (arm,) = run.answers(judge, file.parent.name, pairs, [(conditions[file.stem], 0)]).arms
        for judgment in arm:
            told = judgment.reply.verdict.probability
            if told is not None and not told.is_bound:
                yield judgment, starts[judgment.pair.id]


def _conditions(run: Run) -> dict[str, Condition]:
    contrasts = [contrast for family in run.families for contrast in run.contrasts(family)]
    return {condition.name: condition for contrast in contrasts for condition, _ in contrast.arms}


def _start(body: Mapping[str, Any]) -> str | None:
    """Return an answer up to the token that holds its verdict, as the model wrote it; None where there is not one."""
    told = (body["choices"][0].get("logprobs") or {}).get("content") or []
    tokens = [bytes(entry["bytes"]) if entry.get("bytes") else entry["token"].encode() for entry in told]
    spelled = b"".join(tokens)
    stated = list(STATED.finditer(spelled))
    if len(stated) != 1:
        return None
    ends = accumulate(map(len, tokens))
    start = next(end - len(token) for token, end in zip(tokens, ends, strict=True) if end > stated[0].end())
    return spelled[:start].decode()


def _compared(judge: Judge, judgment: Judgment, before: str, address: str) -> Compared:
    messages = [{"role": "user", "content": judge.prompt(judgment.pair, judgment.condition)}]
    if judge.table.system_text:
        messages.insert(0, {"role": "system", "content": judge.table.system_text})
    prompt = _post(f"{address}/apply-template", {"messages": messages})["prompt"]
    asked = {"prompt": prompt + before, "n_predict": 1, "n_probs": LISTED, "temperature": 0, "cache_prompt": False}
    (place,) = _post(f"{address}/completion", asked)["completion_probabilities"]
    masses = {verdict: _mass(place["top_logprobs"], verdict) for verdict in (b"1", b"2")}
    told = judgment.reply.verdict.probability
    assert told is not None
    return Compared(judgment.pair.id, judgment.condition.name, told.log_odds, math.log(masses[b"1"] / masses[b"2"]))


def _mass(listed: Sequence[Mapping[str, Any]], verdict: bytes) -> float:
    """Return the probability of all tokens that are a verdict, with spaces around it or without."""
    return math.fsum(math.exp(entry["logprob"]) for entry in listed if bytes(entry["bytes"]).strip(b' \n"') == verdict)


def _post(url: str, body: Mapping[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=300) as answer:
        return json.load(answer)


def main(config: str, judge: str, address: str, most: str = "20") -> None:
    """Print the comparison, a judgment a line, and the mean difference."""
    found = compared(Path(config), judge, address.removesuffix("/v1"), int(most))
    if not found:
        sys.exit(f"{config} has no recorded verdicts of {judge} with token probabilities: record some first.")
    for each in found:
        sys.stdout.write(f"{each.pair} {each.condition}: recorded {each.recorded:+.3f}, raw {each.raw:+.3f}\n")
    sys.stdout.write(f"mean absolute difference: {mean_difference(found):.3f} logits, n = {len(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
