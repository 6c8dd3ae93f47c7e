"""Names of the files beside the recordings."""

PAIRS_FILE = "pairs.jsonl"  # the pairs of a dataset as they were when a judge was recorded
SAMPLE_FILE = "sample.json"  # how these pairs were sampled
CHOICE_FILE = "closest.json"  # which of them are the closest
IMPORTED_FILE = "imported.jsonl"  # the answers of an imported log
CANARY_FILE = "canary.jsonl"  # the log of the canary's runs, in the judge's folder
BATCHES_FILE = "batches.jsonl"  # the list of batches, in the root folder
