"""Sources: read pairs from files, the hub and sample datasets, reproducibly on any machine.

`source` is a [datasets.NAME] table, `row_readers` reads rows of files and of the hub, `mapping` turns a row into a
pair, `known_sources` holds the sources known by name, and `sample` selects and orders pairs.
"""

from .sample import Sample, load_pairs, load_sample, read_pairs
from .source import BUILT_IN_SOURCES, Source

__all__ = ["BUILT_IN_SOURCES", "Sample", "Source", "load_pairs", "load_sample", "read_pairs"]
