"""Snapshots of rendered text: what differs from run to run is replaced, and lines are chosen by what they are about."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension

REPOSITORY = str(Path(__file__).parents[3])
LINE_ENDS = re.compile(r"\n|(?<=</li>)|(?<=</p>)|(?<=</tr>)|(?<=</h[1-6]>)|(?<=</summary>)")
# Lines of pytest's summary are cut to the width of the terminal, but not in CI, or name a line of our code; data is no sentence.
SUMMARY = re.compile(r"(FAILED|ERROR) \S+::|SKIPPED \[\d+\] |<script\b")
# A run that began before midnight has two of these.
RECENT = [str(datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days)) for days in (-1, 0, 1)]
VOLATILE = (
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d+"), r"\1:<port>"),
    (re.compile(r"\bin \d+\.\d+s\b"), "in <time>"),
    (re.compile(r"\b\d+ attempts in \d+ s\b"), "<n> attempts in <n> s"),
    (re.compile(rf"\bjudgefixtures([ =/]+){re.escape(version('judgefixtures'))}\b"), r"judgefixtures\1<version>"),
    (re.compile(r"(not JSON: |\()[^\n:(]*: line \d+ column \d+ \(char \d+\)"), r"\1<Python's words>"),
    (re.compile(r"(not valid TOML: )[^\n]*?\(at [^)]*\)"), r"\1<Python's words>"),
    (re.compile(r"\b0x[0-9a-f]{8,}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\bport \d{4,5}\b"), "port <port>"),
    (re.compile(r"'[^'\s]*/bin/python[\d.]*'"), "'<python>'"),
    (re.compile(r"\b20\d\d-\d\d-\d\d( \d\d:\d\d UTC|T\d\d:\d\d:\d\dZ)"), "<time>"),
    (re.compile("|".join(RECENT)), "<today>"),
    (re.compile(r"(\.\./){2,}"), "<up>/"),
)


class Rendered(AmberSnapshotExtension):
    """A snapshot without temporary folders, ports, times and our version."""

    base = ""  # the folder of all temporary folders of this run

    def serialize(self, data: Any, **kwargs: Any) -> str:
        """Return the text that stands in the snapshot."""
        text = super().serialize(data, **kwargs)
        if self.base:
            text = re.sub(rf"{re.escape(self.base)}(/[^/\s:;,'\"`)\]<\\]+)?", "<tmp>", text)
        text = text.replace(REPOSITORY, "<repository>")
        for pattern, name in VOLATILE:
            text = pattern.sub(name, text)
        return text


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion, tmp_path_factory: pytest.TempPathFactory) -> SnapshotAssertion:
    """A snapshot of what a test compares: `pytest --snapshot-update` writes it anew after a change of wording."""
    Rendered.base = str(tmp_path_factory.getbasetemp())
    return snapshot.use_extension(Rendered)


def lines_about(text: str | Iterable[str], *about: str) -> list[str]:
    """Return the lines of a text or page, or those of several, that name one of these things; each must be named.

    What a line is about is an option, an id, a number or a word of it: its sentence stands in the snapshot.
    """
    parts = [text] if isinstance(text, str) else text
    lines = [line.strip("! \t\r") for part in parts for line in LINE_ENDS.split(str(part))]
    lines = [line for line in lines if not SUMMARY.match(line)]
    for key in about:
        assert any(key in line for line in lines), f"no line has {key!r}: {lines}"
    return [line for line in lines if any(key in line for key in about)]
