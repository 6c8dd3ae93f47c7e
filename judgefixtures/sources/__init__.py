"""Sources: where pairs come from, read into pairs that are reproducible on any machine.

source: what a [datasets.NAME] table says. rows: rows of files and of the hub, through the `datasets` library, which
is imported only where it is needed. mapping: a row to a pair, by columns. named: the sources that are known by
name. sample: all of that, chosen, ordered and accounted for. No judge and no cue is known here.
"""

from judgefixtures.sources.described import BUILT_IN_SOURCES, Source
from judgefixtures.sources.sample import Sample, load_pairs, load_sample, read_pairs

__all__ = ["BUILT_IN_SOURCES", "Sample", "Source", "load_pairs", "load_sample", "read_pairs"]
