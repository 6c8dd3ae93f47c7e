"""Starter kits: the files that `init` writes for a judge's mode and provider.

configuration.toml.jinja is the template of the configuration. data/kits.toml holds the steps that `init` prints, which
differ by mode and provider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgefixtures.util.jinja import load_template
from judgefixtures.util.patterns import load_table

MODULES = (
    *("recency", "provenance", "cues", "noise", "position", "verbosity", "bias", "attack", "accuracy", "agreement"),
    *("wording", "plan", "swap", "age", "gender", "ethnicity", "education", "framing"),
)
CONFIGURATION = Path(__file__).with_name("configuration.toml.jinja")


@dataclass(frozen=True, slots=True)
class StarterKit:
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
        for words_before, instead in self.words.items():
            module = module.replace(words_before, instead)
        return module


@dataclass(frozen=True, slots=True)
class ProviderSetup:
    """How the judges of a provider are reached: the variable of their key, and the keys that lead to the simulator."""

    key: str = ""
    simulator: str = ""


def _kit(data: str, without: Sequence[str] = (), **others: Any) -> StarterKit:
    return StarterKit(data=Path(data), modules=tuple(name for name in MODULES if name not in without), **others)


KITS: Mapping[str, StarterKit] = {mode: _kit(**table) for mode, table in load_table("kits")["modes"].items()}
PROVIDERS = {name: ProviderSetup(**keys) for name, keys in load_table("kits")["providers"].items()}


def starter_configuration(mode: str, provider: str, *, has_data: bool = False) -> str:
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
