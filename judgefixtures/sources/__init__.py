"""Sources: read pairs from files, the hub and sample datasets, reproducibly on any machine."""

from .sample import Sample, load_pairs, load_sample, read_pairs
from .source import BUILT_IN_SOURCES, Source

__all__ = ["BUILT_IN_SOURCES", "Sample", "Source", "load_pairs", "load_sample", "read_pairs"]
