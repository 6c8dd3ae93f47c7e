"""Starter kits: the files that `init` writes for a judge's mode and provider."""

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
    """The files and gate for judges of a mode.

    Attributes:
        does: What such a judge does.
        modules: Its test modules.
        words: Replacements of words for pairs, in order.
        simulated: A simulated model for a trial.
    """

    does: str
    data: Path
    gate: str
    simulated: str
    what: str = "pairs"
    modules: tuple[str, ...] = MODULES
    words: Mapping[str, str] = field(default_factory=dict)

    def worded(self, module: str) -> str:
        """Return a test module in this mode's words."""
        for words_before, instead in self.words.items():
            module = module.replace(words_before, instead)
        return module


@dataclass(frozen=True, slots=True)
class ProviderSetup:
    """A provider's key variable and simulator settings."""

    key: str = ""
    simulator: str = ""


def _kit(data: str, without: Sequence[str] = (), **others: Any) -> StarterKit:
    return StarterKit(data=Path(data), modules=tuple(name for name in MODULES if name not in without), **others)


KITS: Mapping[str, StarterKit] = {mode: _kit(**table) for mode, table in load_table("kits")["modes"].items()}
PROVIDERS = {name: ProviderSetup(**keys) for name, keys in load_table("kits")["providers"].items()}


def starter_configuration(mode: str, provider: str, *, has_data: bool = False) -> str:
    """Return the table [tool.judgefixtures] of a mode and provider.

    Without `has_data`, data tables are comments. Raises KeyError for unknown names.
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
