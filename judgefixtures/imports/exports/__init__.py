"""Exports: what the tools write that teams run their judges with. One is a file here, a line below, and its words in
data/logs.toml.

Each row says what it says twice: as the tool wrote it, for --columns and --where, and in one form for all (`judged`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from judgefixtures.imports.exports.braintrust import Braintrust
from judgefixtures.imports.exports.deepeval import Deepeval
from judgefixtures.imports.exports.held import Export, Held
from judgefixtures.imports.exports.inspect import Inspect
from judgefixtures.imports.exports.langfuse import Langfuse
from judgefixtures.imports.exports.langsmith import Langsmith
from judgefixtures.imports.exports.mlflow import MLflow
from judgefixtures.imports.exports.otel import OpenTelemetry
from judgefixtures.imports.exports.phoenix import Phoenix
from judgefixtures.imports.exports.promptfoo import Promptfoo
from judgefixtures.imports.exports.unmarked import Plain

# In the order in which they are asked whether a file is theirs: any is plain.
EXPORTS: Mapping[str, type[Export]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Inspect,
            Promptfoo,
            Deepeval,
            Braintrust,
            Langsmith,
            MLflow,
            Phoenix,
            Langfuse,
            OpenTelemetry,
            Plain,
        )
    }
)


def export_of(held: Held) -> type[Export]:
    """Return whose export a file is, by what it holds."""
    return next(each for each in EXPORTS.values() if each.claims(held))
