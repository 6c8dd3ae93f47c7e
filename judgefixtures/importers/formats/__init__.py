"""Export formats of evaluation tools, one file each; messages are in data/logs.toml."""

from collections.abc import Mapping
from types import MappingProxyType

from .braintrust import BraintrustFormat
from .deepeval import DeepevalFormat
from .inspect import InspectFormat
from .langfuse import LangfuseFormat
from .langsmith import LangsmithFormat
from .loaded_file import ExportFormat, LoadedFile
from .mlflow import MLflowFormat
from .otel import OpenTelemetryFormat
from .phoenix import PhoenixFormat
from .promptfoo import PromptfooFormat
from .unmarked import PlainLogFormat

# In the order in which they are asked whether a file is theirs: any is plain.
_EVALUATIONS = (InspectFormat, PromptfooFormat, DeepevalFormat, BraintrustFormat, LangsmithFormat, MLflowFormat)
_TRACES = (PhoenixFormat, LangfuseFormat, OpenTelemetryFormat)
EXPORTS: Mapping[str, type[ExportFormat]] = MappingProxyType(
    {each.name: each for each in (*_EVALUATIONS, *_TRACES, PlainLogFormat)}
)


def detect_format(held: LoadedFile) -> type[ExportFormat]:
    """Return the format that claims a file."""
    return next(each for each in EXPORTS.values() if each.claims(held))
