"""Make the test runs of deepeval that stand beside this file, by running it on our examples against the loopback model.

    python3.11 -m venv FOLDER && FOLDER/bin/pip install deepeval==2.9.7       # likewise deepeval==4.3.1
    FOLDER/bin/python make.py 2.9.7

The judge is wrong about `lock-bad`, and says nothing that can be read about `plant-good`, which deepeval calls an error.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

for name in ("DEEPEVAL_TELEMETRY_OPT_OUT", "CONFIDENT_TRACE_FLUSH", "DEEPEVAL_UPDATE_WARNING_OPT_OUT"):
    os.environ[name] = "YES"
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from deepeval import evaluate  # noqa: E402
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig  # noqa: E402
from deepeval.metrics import AnswerRelevancyMetric, BaseMetric, GEval  # noqa: E402
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.test_case import ConversationalTestCase, LLMTestCase, LLMTestCaseParams  # noqa: E402
from model import serve  # noqa: E402 (it stands beside, and is no package)

EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
FIRST = 9  # characters that tell a response from every other one


def grade(text: str) -> str:
    """Return what the judge says, in the form that each of deepeval's prompts asks for."""
    shown = sorted((text.rfind(each["response"][:FIRST]), each["id"], each["label"]) for each in EXAMPLES)
    _, name, label = shown[-1]
    if "garbage" in text or name == "plant-good":
        return "I would rather not say."
    good = label == "pass" or name == "lock-bad"
    reason = "It answers the question." if good else "It does not answer the question."
    said: dict[str, Any] = {"reason": reason, "score": 9 if good else 2, "steps": ["Read it."]}
    said |= {"statements": [next(each["response"] for each in EXAMPLES if each["id"] == name)]}
    said |= {"verdicts": [{"verdict": "yes" if good else "no", "reason": reason}]}
    return json.dumps(said)


class Loopback(DeepEvalBaseLLM):  # type: ignore[misc]
    """The model on this machine's loopback."""

    def __init__(self, address: str) -> None:
        self.address = address

    def load_model(self) -> Any:
        """Return the model itself."""
        return self

    def generate(self, prompt: str) -> str:
        """Return what it says."""
        body = json.dumps({"messages": [{"role": "user", "content": prompt}]}).encode()
        request = urllib.request.Request(f"{self.address}/v1/chat/completions", body)
        with urllib.request.urlopen(request) as response:
            said: str = json.load(response)["choices"][0]["message"]["content"]
        return said

    async def a_generate(self, prompt: str) -> str:
        """Return what it says."""
        return self.generate(prompt)

    def get_model_name(self) -> str:
        """Return its name."""
        return "loopback"


class Short(BaseMetric):  # type: ignore[misc]
    """A check in code: the answer is short."""

    def __init__(self) -> None:
        self.threshold, self.async_mode, self.strict_mode = 1, False, False

    def measure(self, test_case: Any, *_: Any, **__: Any) -> float:
        """Return 1 for a short answer."""
        self.score = float(len(test_case.actual_output) < 80)
        self.success = self.score >= self.threshold
        self.reason = None
        return self.score

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float:
        """Return 1 for a short answer."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Tell whether it is short."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Short"


def run(name: str, cases: list[Any], metrics: list[Any]) -> None:
    """Evaluate in an empty folder, and keep the test run that it leaves."""
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        os.environ["DEEPEVAL_RESULTS_FOLDER"] = "results"
        for folder in ("results", ".deepeval"):
            Path(folder).mkdir()
        shown = DisplayConfig(show_indicator=False, print_results=False)
        evaluate(
            cases,
            metrics,
            async_config=AsyncConfig(run_async=False),
            display_config=shown,
            error_config=ErrorConfig(ignore_errors=True),
        )
        (left,) = Path("results").glob("[t2]*")  # test_run_DATE_TIME.json; before 3 a name without an ending
        shutil.copy(left, HERE / name)
        os.chdir(HERE)


def conversation(version: str, good: dict[str, Any], *, name: str) -> Any:
    """Return a conversation of one question and its answer."""
    if version.startswith("2."):
        return ConversationalTestCase(turns=[LLMTestCase(input=good["question"], actual_output=good["response"])])
    from deepeval.test_case import Turn

    asked, said = Turn(role="user", content=good["question"]), Turn(role="assistant", content=good["response"])
    return ConversationalTestCase(turns=[asked, said], name=name)


def main(version: str) -> None:
    """Make all files of one version."""
    with serve(grade) as address:
        model = Loopback(address)
        params = [LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT]
        helpful = GEval("Helpful", params, evaluation_steps=["It answers the question."], model=model, async_mode=False)
        relevant = AnswerRelevancyMetric(0.7, model=model, async_mode=False)
        cases = [
            LLMTestCase(input=each["question"], actual_output=each["response"], name=each["id"]) for each in EXAMPLES
        ]
        run(f"{version}.json", cases, [helpful, relevant, Short()])
        unnamed = [LLMTestCase(input=each["question"], actual_output=each["response"]) for each in EXAMPLES[:4]]
        run(f"{version}-unnamed.json", unnamed, [helpful])
        from deepeval.metrics import ConversationalGEval

        if version.startswith("2."):
            steps = {"evaluation_params": params}
        else:
            from deepeval.test_case import TurnParams

            steps = {"evaluation_params": [TurnParams.ROLE, TurnParams.CONTENT]}
        talked = [conversation(version, each, name=each["id"]) for each in EXAMPLES[:4]]
        polite = ConversationalGEval(
            name="Polite", evaluation_steps=["It answers."], model=model, async_mode=False, **steps
        )
        run(f"{version}-talk.json", talked, [polite])


if __name__ == "__main__":
    main(sys.argv[1])
