"""Cassettes: a judge's answers in a condition, recorded by vcrpy and replayed offline.

`files` is the format on disk, `snapshot` the pairs beside the recordings, `store` the folder of cassettes, `cassette`
one open condition, and `vcr_adapter` the part that patches HTTP. Only `vcr_adapter` imports vcrpy, on first use.
"""
