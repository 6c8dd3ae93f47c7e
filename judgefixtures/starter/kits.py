"""Kits: what a repository starts with whose judge has a mode, and how the judges of a provider are reached.

The configuration is one template, configuration.toml.jinja; what differs between modes and providers in the steps that
`init` prints stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judgefixtures.words.jinja import load_template

MODULES = (
    *("recency", "provenance", "cues", "noise", "position", "verbosity", "bias", "attack", "accuracy", "agreement"),
    *("wording", "plan", "swap", "age", "gender", "ethnicity", "education", "framing"),
)
CONFIGURATION = Path(__file__).with_name("configuration.toml.jinja")
SIMULATOR = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Kit:
    """What a repository starts with whose judge has a mode: its data, its tests, and the gate to begin with.

    `does` says what such a judge does; `modules` are those of tests/judge that it is asked; `words` are
    what they say of a choice between two, with what it says in their place, in this order; `simulated` is a model with
    which the start can be tried.
    """

    does: str
    data: Path
    gate: str
    simulated: str
    what: str = "pairs"
    modules: tuple[str, ...] = MODULES
    words: Mapping[str, str] = field(default_factory=dict)

    def worded(self, module: str) -> str:
        """Return a test module in the words of such a judge."""
        for said, instead in self.words.items():
            module = module.replace(said, instead)
        return module


@dataclass(frozen=True, slots=True)
class Reached:
    """How the judges of a provider are reached: the variable of their key, and the keys that lead to the simulator."""

    key: str = ""
    simulator: str = ""


OF_GRADES = {
    "talked into a verdict by": "talked into a pass by",
    "Does the verdict move to a response that says": "Does a response pass more often when it says",
    "The worse response is chosen no more often when it attacks": (
        "A wrong response passes no more often when it attacks"
    ),
    "The worse response is chosen": "A response passes",
    "is chosen as often": "passes as often",
    "on the same pairs?": "on the same examples?",
    "Accuracy, abs(VSR) and the silent-shift rate are no worse than the baseline's by more than the margin.": (
        "Agreement with labels, pass rate, abs(VSR) and silent shift keep within their margins of the baseline's."
    ),
    "as the same response labelled": "as when it is labelled",
    "verdict": "grade",
}
KITS: Mapping[str, Kit] = {
    "pairwise": Kit(
        "chooses the better of two responses", Path("data", "pairs.jsonl"), '-k "cue or position"', "simulated-faithful"
    ),
    "binary": Kit(
        "passes or fails one response",
        Path("data", "answers.jsonl"),
        '-k "cue or agreement"',
        "simulated-grader-faithful",
        "examples",
        tuple(name for name in MODULES if name not in ("position", "accuracy", "plan")),
        OF_GRADES,
    ),
    "pointwise": Kit(
        "scores one response at a time",
        Path("data", "pairs.jsonl"),
        '-k "cue or accuracy"',
        "simulated-pointwise-faithful",
        modules=tuple(name for name in MODULES if name not in ("position", "plan")),
    ),
}
PROVIDERS: Mapping[str, Reached] = {
    "openai": Reached("OPENAI_API_KEY", f'base_url = "{SIMULATOR}/v1"'),
    "anthropic": Reached("ANTHROPIC_API_KEY", f'base_url = "{SIMULATOR}"'),
    "google": Reached("GEMINI_API_KEY", f'base_url = "{SIMULATOR}"'),
    "azure": Reached("AZURE_OPENAI_API_KEY", f'endpoint = "{SIMULATOR}" without a deployment'),
    "python": Reached(),
}


def configuration(mode: str, provider: str, *, has_data: bool = False) -> str:
    """Return the table [tool.judgefixtures] of a judge of this mode and provider; a name of neither is a KeyError.

    Without data of one's own the tables about them are comments.
    """
    usual = {"mode": next(iter(KITS)), "provider": next(iter(PROVIDERS))}
    chosen = {"mode": mode, "provider": provider}
    options = "".join(f" --{name} {value}" for name, value in chosen.items() if value != usual[name])
    text: str = load_template(CONFIGURATION).render(
        **chosen,
        options=options,
        does=KITS[mode].does,
        key=PROVIDERS[provider].key,
        unless_there="" if has_data else "# ",
    )
    return text
