"""Cassettes: what a judge answered in a condition, recorded by vcrpy and replayed offline.

`files` is the format on disk, `frozen` the pairs beside the recordings, `library` the folder of them, `in_use` one
condition that is open for a run, `misses` why nothing there answers, and `replay` the part that sits in vcrpy and sees
HTTP. Only `replay` imports vcrpy, when used.
"""
