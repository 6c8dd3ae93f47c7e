"""Command line: the commands, `init` and `demo`."""
