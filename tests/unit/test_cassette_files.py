"""Cassettes on disk: what is written can be read again, whatever happened to the file; a file is only data.

Nothing here speaks HTTP; rows are written and found by hand.
"""

from __future__ import annotations

import base64
import codecs
import contextlib
import errno
import itertools
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.batches.manifest import BatchManifest
from judgefixtures.cassettes import files, locks, messages
from judgefixtures.cassettes.cassette import Cassette, RecordMode
from judgefixtures.cassettes.files import (
    CassetteError,
    CassetteFile,
    CassetteRow,
    atomic_write,
    identity_differences,
    today_utc,
)
from judgefixtures.cassettes.snapshot import SampleSnapshot, add_snapshot_pairs, changed_fields, read_snapshot_pairs
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cli.main import main
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.models.pairs import Pair

HEADER = {"judgefixtures": 1, "dataset": "own", "condition": "no-cue", "judge": {"provider": "openai", "model": "m"}}
JSON = "application/json"
# Imported now, so that an audited reader that meets them has nothing left to import.
for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
    codecs.lookup(encoding)


def row(number: int, pair: str | None = None, body: bytes = b"", **more: Any) -> CassetteRow:
    """Return a row whose digest and body tell its number."""
    name = f"p{number:03}" if pair is None else pair
    return CassetteRow(f"{number:032x}", name, more.pop("repeat", 0), 200, body or b'{"n":%d}' % number, **more)


def written(path: Path, rows: Sequence[CassetteRow]) -> Path:
    """Append rows to a cassette and return its path."""
    file = CassetteFile(path)
    for each in rows:
        file.append(each, HEADER)
    file.close()
    return path


def meaning(body: bytes) -> Any:
    """Return what a JSON parser makes of a body, duplicate keys and all, or the body where it is no JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(body.decode(), object_pairs_hook=lambda pairs: ("object", pairs), parse_constant=refuse)
    except (ValueError, RecursionError):
        return body


def same(one: CassetteRow, other: CassetteRow | None) -> bool:
    """Tell whether two rows say the same."""
    assert other is not None
    fields = ("digest", "pair", "repeat", "status", "content_type", "seen")
    return all(getattr(one, name) == getattr(other, name) for name in fields) and (
        meaning(one.body) == meaning(other.body)
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test keeps its cassette."""
    return tmp_path / "cassettes" / "no-cue.jsonl"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that gives a new file name: properties are tried with many files."""
    folder = tmp_path_factory.mktemp("many")
    numbers = itertools.count()
    return lambda: folder / f"{next(numbers)}.jsonl"


# --- what is written is what is read ----------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
json_bodies = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode(),
    json_values,
    st.booleans(),
    st.sampled_from([None, 0, 2]),
)
bodies = st.binary(max_size=200) | json_bodies | st.text(max_size=200).map(str.encode)
digests = st.binary(min_size=16, max_size=16).map(bytes.hex)
printable = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126))
rows = st.builds(
    CassetteRow,
    digest=digests,
    pair=st.text(min_size=1),
    repeat=st.integers(0, 99),
    status=st.integers(100, 599),
    body=bodies,
    seen=st.text(),
    content_type=st.just(JSON) | printable,
)


@given(rows)
def test_a_row_comes_back_as_it_was(given_row: CassetteRow) -> None:
    """Any body, any pair id and any status survive a line, which has one line end: at its end."""
    line = given_row.line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.startswith(f'{{"digest":"{given_row.digest}",'.encode())
    assert same(given_row, CassetteRow.parse(line))


@settings(deadline=None)
@given(st.lists(rows, max_size=8, unique_by=lambda each: each.digest))
def test_a_file_of_rows_comes_back(scratch: Callable[[], Path], given_rows: list[CassetteRow]) -> None:
    """Every row that was appended is found by its digest in the file, and nothing else is."""
    file = CassetteFile(written(scratch(), given_rows))
    assert len(file) == len(given_rows) == len(file.read_rows())
    for each in given_rows:
        assert same(each, file.find(each.digest))
    assert file.find("f" * 31 + "!") is None


def field_of(body: bytes) -> str:
    """Return under which key a body is written."""
    (name,) = {"json", "text", "base64"} & json.loads(row(1, body=body).line()).keys()
    return name


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param(b'{"a": 1, "a": 2}', "text", id="duplicate-keys"),
        pytest.param(b'[{"b":{"a": 1, "a": 1}}]', "text", id="duplicate-keys-inside"),
        pytest.param(b'{"a": NaN}', "text", id="nan"),
        pytest.param(b"[Infinity, -Infinity]", "text", id="infinity"),
        pytest.param(b'{"a": 1e400}', "text", id="number-too-big-for-a-float"),
        pytest.param(b'{"a": 123456789012345678901234567890}', "json", id="big-integer"),
        pytest.param(b"9" * 5000, "text", id="integer-too-long-for-python"),
        pytest.param(b'{"a": 1.7976931348623157e308, "b": 5e-324}', "json", id="extreme-floats"),
        pytest.param('{"a": "é\u2028\x7f😀"}'.encode(), "json", id="unicode"),
        pytest.param(b'{"a": "\\ud83d\\ude00"}', "json", id="escaped-surrogate-pair"),
        pytest.param(b'"\xed\xa0\x80"', "base64", id="surrogate-as-bytes"),
        pytest.param(b"\xef\xbb\xbf{}", "text", id="byte-order-mark"),
        pytest.param('{"a":1}'.encode("utf-16"), "base64", id="utf-16"),
        pytest.param(b"[" * 100_000, "text", id="nested-and-broken"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "text", id="nested"),
        pytest.param(b"", "text", id="empty"),
        pytest.param(b"a\nb\r\nc\x00\x1f\x85", "base64", id="no-text"),
        pytest.param(b"data: {}\n\ndata: [DONE]\n\n", "text", id="event-stream"),
    ],
)
def test_a_body_keeps_its_meaning(body: bytes, field: str) -> None:
    """A body is JSON in the file where that says the same to every reader; else its bytes are kept."""
    given_row = CassetteRow("0" * 32, "p", 0, 200, body)
    found = json.loads(given_row.line(), parse_constant=pytest.fail)
    assert {"json", "text", "base64"} & found.keys() == {field}
    back = CassetteRow.parse(given_row.line()).body
    assert back == body if field != "json" else meaning(back) == meaning(body)


@pytest.mark.parametrize("body", [b'{"a": "\\ud800"}', b'{"\\udfff": 1}', b'["\\ude00\\ud83d"]', b'"\\uD800 x"'])
def test_half_a_surrogate_pair_is_kept(body: bytes) -> None:
    """A body that escapes half of a surrogate pair, which no UTF-8 can hold, is kept with its meaning."""
    line = row(1, body=body).line()
    assert line.decode()
    assert meaning(CassetteRow.parse(line).body) == meaning(body)


def test_nesting_of_any_depth_can_be_written() -> None:
    """Bodies around the depth that Python's parser and writer can follow are written, one way or another."""
    for depth in range(800, 1100):
        given_row = row(1, body=b"[" * depth + b"]" * depth)
        try:
            back = CassetteRow.parse(given_row.line())
        except RecursionError:
            pytest.fail(f"a body that is nested {depth} deep cannot be kept")
        assert back.body == given_row.body


def test_a_body_can_be_read_in_a_diff() -> None:
    """JSON stands in the file as JSON and text as text: nothing is escaped or encoded that need not be."""
    for body, shown in (
        ('{"reason": "naïve – “quoted”"}', '"json":{"reason":"naïve – “quoted”"}'),
        ("naïve – “quoted”", '"text":"naïve – “quoted”"'),
    ):
        assert shown in row(1, body=body.encode()).line().decode()


# --- the index --------------------------------------------------------------------------------------------


def test_a_row_is_found_among_many(path: Path) -> None:
    """Each of a thousand rows is found by its digest, and a digest that is not there is not."""
    file = CassetteFile(written(path, [row(number) for number in range(1000)]))
    assert len(file) == 1000
    assert all(same(row(number), file.find(f"{number:032x}")) for number in range(1000))
    assert file.find(f"{1000:032x}") is None


def test_a_question_has_one_answer(path: Path) -> None:
    """Two pairs that ask the same question at the same time have the answer that arrived first, also once killed."""
    file = CassetteFile(path)
    first, second = row(7, "p1", b'"first"'), row(7, "p2", b'"second"')
    assert [file.append(each, HEADER) for each in (first, second)] == [first, first]
    file.close()
    again = CassetteFile(path)
    for each in (file, again):
        assert len(each) == 1
        assert [found.body for found in each.read_rows()] == [b'"first"']


def test_an_answer_that_was_asked_again_counts(path: Path) -> None:
    """Of one question the answer that says it was asked more often is the one, in whatever order the lines stand."""
    file = CassetteFile(path)
    for asked, text in ((1, b'""'), (2, b'"again"')):
        file.append(row(7, body=text, asked=asked), HEADER)
    file.close()
    header, *lines = path.read_bytes().splitlines(keepends=True)
    for order in (lines, lines[::-1]):
        path.write_bytes(b"".join([header, *order]))
        assert [found.body for found in CassetteFile(path).read_rows()] == [b'"again"']


def test_a_new_file_is_empty_and_not_made(path: Path) -> None:
    """Looking into a cassette that does not exist finds nothing and writes nothing."""
    file = CassetteFile(path)
    assert (len(file), file.read_rows(), file.header) == (0, [], None)
    assert file.find("0" * 32) is None
    assert not path.parent.exists()


def test_what_was_appended_is_found_at_once_and_on_disk(path: Path) -> None:
    """After each append another reader finds the row: it was not kept in memory until the end."""
    file = CassetteFile(path)
    for number in range(5):
        file.append(row(number), HEADER)
        assert len(CassetteFile(path)) == len(file) == number + 1
    file.close()


def test_a_closed_file_can_be_appended_to(path: Path) -> None:
    """Closing keeps what was written, and the next append goes on behind it."""
    file = CassetteFile(path)
    for number in range(3):
        file.append(row(number), HEADER)
        file.close()
        file.close()
    assert [each.pair for each in CassetteFile(path).read_rows()] == ["p000", "p001", "p002"]


def test_appending_from_threads_loses_nothing(scratch: Callable[[], Path]) -> None:
    """Judges of the user's run in threads: answers that arrive at the same moment are all kept."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            path, start = scratch(), threading.Barrier(8)
            file = CassetteFile(path)

            def answer(number: int, file: CassetteFile = file, start: threading.Barrier = start) -> None:
                start.wait()
                file.append(row(number), HEADER)

            threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            file.close()
            lines = path.read_bytes().splitlines()
            assert [json.loads(lines[0]), len(lines)] == [HEADER, 9]
            assert {each.pair for each in CassetteFile(path).read_rows()} == {f"p{number:03}" for number in range(8)}
    finally:
        sys.setswitchinterval(before)


# --- torn and damaged -------------------------------------------------------------------------------------


def test_a_file_cut_anywhere_keeps_what_was_whole(path: Path) -> None:
    """Cut at any byte, the rows before the cut replay, and appending then gives a file without a scar."""
    bodies = (b'{"n":1}', "„naïve“ 😀".encode(), b"\xff\n", b'{"a": [1, {"b": "\\n"}]}')
    sample = [row(number, body=body) for number, body in enumerate(bodies)]
    whole = written(path, sample).read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    new = row(99)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sample[: max(0, sum(end <= cut for end in ends) - 1)]
        file = CassetteFile(path)
        assert [each.pair for each in file.read_rows()] == [each.pair for each in kept], cut
        assert all(same(each, file.find(each.digest)) for each in kept), cut
        assert path.read_bytes() == whole[:cut], "reading changed the file"
        file.append(new, HEADER)
        file.close()
        mended = CassetteFile(path)
        assert [each.pair for each in mended.read_rows()] == [*(each.pair for each in kept), "p099"], cut
        assert mended.header == HEADER, cut
        assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_torn_line_is_left_alone_when_another_process_mended_it(path: Path) -> None:
    """A reader that saw a torn line cuts nothing off where the file has grown since."""
    whole = written(path, [row(1), row(2)]).read_bytes()
    path.write_bytes(whole[:-5])
    late = CassetteFile(path)
    path.write_bytes(whole)
    written(path, [row(3)])
    late.append(row(4), HEADER)
    late.close()
    assert [each.pair for each in CassetteFile(path).read_rows()] == ["p001", "p002", "p003", "p004"]


def changed(line: bytes, **fields: Any) -> bytes:
    """Return a row's line with other fields."""
    return json.dumps({**json.loads(line), **fields}, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"\x00\xff garbage", id="garbage"),
        pytest.param(lambda line: line[: len(line) // 2], id="half"),
        pytest.param(lambda line: line[40:], id="without-beginning"),
        pytest.param(lambda line: line.replace(b'"pair"', b'"pear"'), id="other-key"),
        pytest.param(lambda line: changed(line, pair=7), id="pair-is-a-number"),
        pytest.param(lambda line: changed(line, repeat="0"), id="repeat-is-a-text"),
        pytest.param(lambda line: changed(line, repeat=-1), id="repeat-is-negative"),
        pytest.param(lambda line: changed(line, status=True), id="status-is-true"),
        pytest.param(lambda line: changed(line, status=0), id="status-is-no-status"),
        pytest.param(lambda line: changed(line, type="a\r\nset-cookie: b"), id="type-holds-a-header"),
        pytest.param(lambda line: changed(line, type=None), id="type-is-null"),
        pytest.param(lambda line: line.replace(b'"json":', b'"base64":"?"}, "x":'), id="cut-in-two"),
        pytest.param(lambda line: line.replace(b'"json":{"n":2}', b'"base64":"a*b="'), id="no-base64"),
        pytest.param(lambda line: line.replace(b'"json":{"n":2}', b'"text":"\\ud800"'), id="half-a-surrogate"),
        pytest.param(lambda line: line.replace(b'{"n":2}', b"[" * 50_000 + b"]" * 50_000), id="nested"),
        pytest.param(lambda line: line.replace(b'{"n":2}', b"1" * 5000), id="long-number"),
        pytest.param(lambda line: changed(line, digest="f" * 32).replace(b"{", line[:45] + b" ", 1), id="two-digests"),
        pytest.param(lambda line: changed(line, asked=0), id="never-asked"),
    ],
)
def test_a_line_that_is_not_a_row_is_an_error(
    path: Path, damage: Callable[[bytes], bytes], snapshot: SnapshotAssertion
) -> None:
    """A line that no recording wrote is named with file and line, and the remedy; nothing is taken from the file."""
    lines = written(path, [row(1), row(2), row(3)]).read_bytes().splitlines()
    lines[2] = damage(lines[2])
    content = b"\n".join(lines) + b"\n"
    path.write_bytes(content)
    with pytest.raises(CassetteError) as caught:
        CassetteFile(path)
    assert str(caught.value) == snapshot
    assert path.read_bytes() == content


def test_empty_lines_are_no_damage(path: Path) -> None:
    """Empty lines say nothing, and do not change which line an error names."""
    lines = written(path, [row(1), row(2), row(3)]).read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], b"", lines[1], b"  ", lines[2], b"\r", lines[3], b""]))
    assert [each.pair for each in CassetteFile(path).read_rows()] == ["p001", "p002", "p003"]
    path.write_bytes(b"\n".join([lines[0], b"", lines[1], b"  ", b"damage", b""]))
    with pytest.raises(CassetteError, match=re.escape(f"{path}:5 ")):
        CassetteFile(path)


def conflict(ours: bytes, theirs: bytes, base: bytes | None = None) -> bytes:
    """Return two versions as git leaves them where it cannot merge; with the base in style diff3."""
    before = b"" if base is None else b"||||||| 1234567\n" + base
    return b"<<<<<<< HEAD\n" + ours + before + b"=======\n" + theirs + b">>>>>>> other\n"


def test_an_unresolved_merge_is_an_error(path: Path) -> None:
    """Merge marks are an error that names file, line and remedy: neither version wins silently."""
    header = json.dumps(HEADER).encode() + b"\n"
    ours, theirs = row(1, body=b'"a"').line(), row(1, body=b'"b"').line()
    for content, line in (
        (header + row(0).line() + conflict(ours, theirs), 3),
        (conflict(header + ours, header), 1),
        (header + conflict(ours, theirs, b""), 2),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        with pytest.raises(CassetteError) as caught:
            CassetteFile(path)
        for word in (f"{path}:{line} ", "merge", f"judgefixtures cassettes merge {path}"):
            assert word in str(caught.value)


def test_two_answers_to_one_question_are_an_error(path: Path) -> None:
    """A digest with two different answers is an error that names both lines; the same answer twice is harmless."""
    lines = written(path, [row(1), row(2, body=b'"a"')]).read_bytes()
    path.write_bytes(lines + row(2, "p9", body=b'"a"').line())
    assert len(CassetteFile(path)) == 2
    path.write_bytes(lines + row(2, body=b'"b"').line())
    with pytest.raises(CassetteError) as caught:
        CassetteFile(path)
    for word in (f"{path}:4 ", "line 3", f"judgefixtures cassettes merge {path}"):
        assert word in str(caught.value)


def test_a_cassette_is_written_where_there_is_no_close_on_exec(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no os.O_CLOEXEC: answers are appended all the same."""
    monkeypatch.delattr(os, "O_CLOEXEC", raising=False)
    assert [each.pair for each in CassetteFile(written(path, [row(1)])).read_rows()] == ["p001"]


# --- data from strangers ----------------------------------------------------------------------------------

_watching: list[tuple[str, tuple[Any, ...]]] | None = None
WATCHED = ("open", "exec", "import", "compile", "os.", "subprocess.", "socket.", "pickle.", "shutil.", "ctypes.")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching is not None and event.startswith(WATCHED):
        _watching.append((event, arguments))


sys.addaudithook(_audit)  # cannot be removed again: it looks away unless a test is watching


@pytest.fixture(scope="module", autouse=True)
def _compiled_messages() -> None:
    """Compile our own messages first: a test that watches shall see what strangers' bytes bring about."""
    for name in re.findall(r"{% macro (\w+)", Path(messages.__file__).with_name("messages.txt.jinja").read_text()):
        getattr(messages.MESSAGES, name)


@contextlib.contextmanager
def watched() -> Iterator[list[tuple[str, tuple[Any, ...]]]]:
    """Collect what the block opens, imports, executes or starts."""
    global _watching  # an audit hook is called without a context
    _watching = seen = []
    try:
        yield seen
    finally:
        _watching = None


def test_the_watch_sees(path: Path) -> None:
    """The tests below are able to fail: opening, evaluating and unpickling are seen."""
    with watched() as seen:
        path.exists()
        eval("1")
        pickle.loads(pickle.dumps(Path))
        with contextlib.suppress(OSError):
            path.open()
    assert {"exec", "pickle.find_class", "open"} <= {event for event, _ in seen}


def flipped(line: bytes, at: int, byte: int) -> bytes:
    """Return a line with one byte changed."""
    at %= len(line)
    return line[:at] + bytes([byte]) + line[at + 1 :]


any_json = json_values | st.floats() | st.integers(10**20, 10**30)
odd_rows = st.builds(
    lambda digest, fields: b'{"digest":"' + digest.encode() + b'",' + json.dumps(fields).encode()[1:],
    digests,
    st.dictionaries(
        st.sampled_from(["pair", "repeat", "status", "json", "text", "base64", "type", "seen", "digest"]),
        any_json,
        min_size=1,
    ),
)
EVIL = (
    b"!!python/object/apply:os.system ['touch evil']",
    b"- !!python/name:os.system",
    pickle.dumps(Path("evil")),
    b"{\"digest\":\"__import__('os').system('touch evil')\",",
    b'{"__reduce__": ["os.system", "touch evil"]}',
    b'{"judgefixtures": 1, "judge": {}, "path": "/etc/passwd"}',
    b"<<<<<<< HEAD",
    b"\xff\xfe{\x00}\x00",
    b"{" * 5000,
)
broken_lines = (
    st.binary(max_size=120)
    | st.sampled_from(EVIL)
    | odd_rows
    | st.builds(flipped, rows.map(CassetteRow.line), st.integers(0), st.integers(0, 255))
    | rows.map(lambda each: each.line()[:-1])
)


def read_everything(path: Path) -> CassetteFile | None:
    """Read a stranger's cassette: an error must be ours and name the file, and nothing else may be opened."""
    with watched() as seen:
        file, found, refusal = None, [], str(path)
        try:
            file = CassetteFile(path)
            found = file.read_rows()
        except CassetteError as error:
            refusal = str(error)
    assert str(path) in refusal
    assert [(event, arguments[0]) for event, arguments in seen] in ([], [("open", str(path))])
    assert all(100 <= each.status <= 599 and isinstance(each.body, bytes) for each in found)
    return file


@pytest.mark.whole
@settings(deadline=None, max_examples=300)
@given(st.binary() | st.lists(broken_lines).map(b"\n".join))
def test_any_bytes_can_stand_in_a_cassettes_place(scratch: Callable[[], Path], content: bytes) -> None:
    """Whatever a file holds, reading it is quiet or a CassetteError, and opens and executes nothing."""
    path = scratch()
    path.write_bytes(content)
    read_everything(path)
    assert path.read_bytes() == content


@pytest.mark.whole
@settings(deadline=None, max_examples=300)
@given(st.lists(broken_lines, max_size=6), st.booleans())
def test_any_line_can_stand_in_a_cassette(scratch: Callable[[], Path], lines: list[bytes], torn: bool) -> None:
    """Under a good header any line is a row or an error that names it; without one the file can grow."""
    path, good, new = scratch(), row(1), row(2)
    lines = [line.replace(b"\n", b" ") for line in lines]
    content = b"\n".join([json.dumps(HEADER).encode(), good.line()[:-1], *lines, b""])
    path.write_bytes(content[:-1] if torn and lines else content)
    file = read_everything(path)
    if file is None:
        with pytest.raises(CassetteError, match=re.escape(f"{path}:") + r"\d+ "):
            CassetteFile(path)
        return
    assert same(good, file.find(good.digest))
    before = {each.digest: each for each in file.read_rows()}
    kept = file.append(new, HEADER)  # an answer to the same question that was there stands
    file.close()
    again = CassetteFile(path)
    assert all(same(each, again.find(digest)) for digest, each in {**before, kept.digest: kept}.items())


def test_a_broken_line_is_refused_by_one_of_three_errors() -> None:
    """Row.parse turns away what we cannot have written, as documented, and nothing but that."""
    for line in EVIL:
        with pytest.raises((ValueError, KeyError, TypeError, RecursionError)):
            CassetteRow.parse(line)


@pytest.mark.parametrize(
    "header", [{**HEADER, "judgefixtures": 2}, {**HEADER, "judgefixtures": "1"}, {**HEADER, "judgefixtures": None}]
)
def test_a_later_format_is_refused(path: Path, header: dict[str, Any]) -> None:
    """A cassette of another format is named with its version, ours and the remedies, and is left as it is."""
    written(path, [row(1)])
    content = json.dumps(header).encode() + b"\n" + row(1).line()
    path.write_bytes(content)
    with pytest.raises(CassetteError) as caught:
        CassetteFile(path)
    for word in (str(path), f"format {header['judgefixtures']!r}", "reads 1", "Update judgefixtures"):
        assert word in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "first_line",
    [
        b"GIF89a",
        b"[1, 2]",
        b"7",
        b"null",
        b'"judgefixtures"',
        b"{}",
        b'{"judgefixtures": 1}',
        b"",
        b"\xff",
        b'{"judgefixtures": 1, "judge": "m"}',
        b'{"judge": {}}',
        b"[" * 100_000,
        b"{" * 100_000,
        b"1" * 5000,
        b"interactions:",
        b'{"version": 1, "interactions": []}',
    ],
)
def test_a_file_that_is_no_cassette_is_refused(path: Path, first_line: bytes, snapshot: SnapshotAssertion) -> None:
    """A file whose first line is no header is named with the remedy, and is left as it is."""
    path.parent.mkdir()
    content = first_line + b"\n" + row(1).line()
    path.write_bytes(content)
    with pytest.raises(CassetteError) as caught:
        CassetteFile(path)
    assert str(caught.value) == snapshot
    assert caught.value.__suppress_context__
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"notes of mine", b'{"interactions": []}', b"\x89PNG"])
def test_a_strangers_file_of_one_line_is_not_written_over(path: Path, content: bytes) -> None:
    """A file without a line end that is no torn header is refused like any other that is no cassette."""
    path.parent.mkdir()
    path.write_bytes(content)
    with contextlib.suppress(CassetteError):
        file = CassetteFile(path)
        file.append(row(1), HEADER)
        file.close()
    assert path.read_bytes() == content


def test_a_folder_in_a_cassettes_place_is_told(path: Path) -> None:
    """What cannot be read at all is an error that names it."""
    path.mkdir(parents=True)
    with pytest.raises(CassetteError, match="cannot be read") as caught:
        CassetteFile(path)
    assert str(path) in str(caught.value)


def test_a_huge_file_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is refused by its size, with its name and the remedy, before a byte is read."""
    size = written(path, [row(1)]).stat().st_size
    monkeypatch.setattr(files, "LARGEST_FILE", size)
    assert len(CassetteFile(path)) == 1
    monkeypatch.setattr(files, "LARGEST_FILE", size - 1)
    with watched() as seen, pytest.raises(CassetteError) as caught:
        CassetteFile(path)
    assert "open" not in {event for event, _ in seen}
    for word in (str(path), str(size - 1), "record"):
        assert word in str(caught.value)


def test_a_huge_line_is_not_parsed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is an error that names it."""
    written(path, [row(1), row(2, body=b'"%s"' % (b"x" * 500)), row(3)])
    monkeypatch.setattr(files, "LARGEST_ROW", 200)
    with pytest.raises(CassetteError, match=re.escape(f"{path}:3 ") + ".*bytes"):
        CassetteFile(path)


def test_an_answer_over_the_limit_is_not_lost_silently(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that the reader would not read again is written as one that was too large, with its size."""
    monkeypatch.setattr(files, "LARGEST_ROW", 200)
    huge = row(1, body=b'"%s"' % (b"x" * 500))
    written(path, [huge])
    found = CassetteFile(path).find(huge.digest)
    assert found is not None
    assert (found.key, found.body, found.oversize) == (huge.key, b"", 502)
    CassetteFile(path).replace([found], {"judgefixtures": 1, "judge": {}})
    assert CassetteFile(path).find(huge.digest) == found


# --- replacing a file -------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.data())
def test_the_same_rows_give_the_same_bytes(scratch: Callable[[], Path], data: st.DataObject) -> None:
    """`replace` sorts by pair, repeat and digest: in whatever order answers arrived, the file is the same."""
    sample = data.draw(st.lists(rows, max_size=6, unique_by=lambda each: each.digest))
    contents = set()
    for order in (sample, data.draw(st.permutations(sample))):
        path = scratch()
        written(path, order)
        file = CassetteFile(path)
        file.replace(order, HEADER)
        contents.add(path.read_bytes())
        again = CassetteFile(path)
        keys = [(each.pair, each.repeat, each.digest) for each in again.read_rows()]
        assert keys == sorted(keys)
        assert all(same(each, again.find(each.digest)) for each in order)
        assert all(same(each, file.find(each.digest)) for each in order)
    assert len(contents) == 1


def test_replacing_by_the_same_writes_nothing(path: Path) -> None:
    """A file that holds what it should is not written again: neither its bytes nor its time change."""
    sample = [row(2), row(1)]
    CassetteFile(written(path, sample)).replace(sample, HEADER)
    before, content = path.stat(), path.read_bytes()
    CassetteFile(path).replace(reversed(sample), HEADER)
    assert path.read_bytes() == content
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_replaced_file_can_be_appended_to(path: Path) -> None:
    """After `replace` the same object appends to the new file, not to the old one."""
    file = CassetteFile(path)
    file.append(row(2), HEADER)
    file.append(row(1), HEADER)
    file.replace(file.read_rows(), HEADER)
    file.append(row(0), HEADER)
    file.close()
    assert [each.pair for each in CassetteFile(path).read_rows()] == ["p001", "p002", "p000"]


def test_replacing_elsewhere_leaves_the_file(path: Path) -> None:
    """`replace` to another path writes that one, and the file that it came from stays."""
    file = CassetteFile(written(path, [row(2), row(1)]))
    content = path.read_bytes()
    file.replace(file.read_rows(), HEADER, path.with_name("other.jsonl"))
    assert path.read_bytes() == content
    assert [each.pair for each in CassetteFile(path.with_name("other.jsonl")).read_rows()] == ["p001", "p002"]


# --- a full disk ------------------------------------------------------------------------------------------


class FullDisk:
    """Takes so many bytes and then no more, as `os.write` and `os.fsync` tell it."""

    def __init__(self, room: int, patch: pytest.MonkeyPatch) -> None:
        self.room = room
        self._write, self._fsync = os.write, os.fsync
        patch.setattr(os, "write", self.write)
        patch.setattr(os, "fsync", self.fsync)

    def write(self, descriptor: int, content: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self._write(descriptor, content[: self.room])
        self.room -= taken
        return taken

    def fsync(self, descriptor: int) -> None:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._fsync(descriptor)


def full(file: CassetteFile, given_row: CassetteRow) -> None:
    """Append to a file on a full disk: the error names file, cause and remedy."""
    with pytest.raises(CassetteError) as caught:
        file.append(given_row, HEADER)
    for word in (str(file.path), os.strerror(errno.ENOSPC), "kept", "Free space", "--judge-record missing"):
        assert word in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_disk_that_is_full_in_mid_answer_keeps_the_others(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of a line a full disk takes, the file stays readable, and goes on once there is room."""
    start, new = written(path, [row(1), row(2)]).read_bytes(), row(3)
    for room in range(len(new.line())):
        path.write_bytes(start)
        file = CassetteFile(path)
        with monkeypatch.context() as patch:
            FullDisk(room, patch)
            full(file, new)
            full(file, row(4))
            assert path.read_bytes() == start, room
        file.append(new, HEADER)
        file.close()
        again = CassetteFile(path)
        assert [each.pair for each in again.read_rows()] == ["p001", "p002", "p003"], room


def test_a_disk_that_is_full_from_the_start_leaves_a_file_to_go_on_with(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not even the header fits, the message is the same, and the next run writes a whole cassette."""
    new = row(1)
    for room in (0, 1, 50, len(json.dumps(HEADER)) + 20):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            FullDisk(room, patch)
            file = CassetteFile(path)
            full(file, new)
            file.close()
        assert CassetteFile(path).read_rows() == [], room
        written(path, [new])
        assert [each.pair for each in CassetteFile(path).read_rows()] == ["p001"], room


def test_an_answer_after_the_header_failed_makes_no_headless_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers go on arriving after the disk was full for the first: what is written then can be read."""
    for room in (0, 10):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            disk = FullDisk(room, patch)
            file = CassetteFile(path)
            full(file, row(1))
            disk.room = 10**6
            file.append(row(2), HEADER)
            file.close()
        try:
            found = [each.pair for each in CassetteFile(path).read_rows()]
        except CassetteError as error:
            pytest.fail(str(error))
        assert found == ["p002"]


def test_a_disk_that_is_full_at_the_end_keeps_the_recording(
    path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Where there is no room to sort a complete recording, the unsorted file stays and is whole."""
    content = written(path, [row(2), row(1)]).read_bytes()
    with monkeypatch.context() as patch:
        FullDisk(0, patch)
        file = CassetteFile(path)
        with pytest.raises(CassetteError) as caught:
            file.replace(file.read_rows(), HEADER)
        assert str(caught.value) == snapshot
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """Where the folder of the recordings cannot be made, writing and freezing fail with one sentence."""
    (tmp_path / "file").write_bytes(b"")
    for write in (
        lambda: atomic_write(tmp_path / "file" / "folder" / "x", b"new"),
        lambda: add_snapshot_pairs(tmp_path / "file" / "folder", PAIRS),
    ):
        with pytest.raises(CassetteError, match="cannot be written"):
            write()


@pytest.mark.parametrize("failing", ["fsync", "replace", "open"])
def test_a_failed_write_leaves_the_old_file(
    path: Path, failing: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """`atomic_write` gives the new content or leaves the old, and cleans up what it began."""
    path.parent.mkdir()
    path.write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os if failing == "fsync" else Path, failing, fail)
        with pytest.raises(CassetteError) as caught:
            atomic_write(path, b"new")
    assert str(caught.value) == snapshot
    assert path.read_bytes() == b"old"
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"


def died_while_replacing(path: Path) -> None:
    """Let a process die when the new file is written and not yet in its place."""
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from judgefixtures.cassettes.files import atomic_write\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); atomic_write(Path(sys.argv[1]), b'new')"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -signal.SIGKILL


def test_a_process_that_dies_while_it_replaces_leaves_the_old_file(path: Path) -> None:
    """Killed at the worst moment: the old file is whole, and the next write works."""
    content = written(path, [row(2), row(1)]).read_bytes()
    died_while_replacing(path)
    assert path.read_bytes() == content
    file = CassetteFile(path)
    file.replace(file.read_rows(), HEADER)
    assert [each.pair for each in CassetteFile(path).read_rows()] == ["p001", "p002"]


def test_a_process_that_dies_while_it_replaces_leaves_no_litter(path: Path) -> None:
    """After the next write nothing but the file is there, for `git add` to find."""
    written(path, [row(2), row(1)])
    died_while_replacing(path)
    file = CassetteFile(path)
    file.replace(file.read_rows(), HEADER)
    assert [found.name for found in path.parent.iterdir()] == [path.name]


# --- identities -------------------------------------------------------------------------------------------

PARAMETERS = {"temperature": 0.0, "seed": 0}
OLD = {"provider": "openai", "model": "a", "parameters": PARAMETERS, "template": {"digest": "1"}}


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ({}, []),
        ({"model": "b"}, ['model: "a" -> "b"']),
        ({"parameters": {"temperature": 0.5, "seed": 0}}, ["parameters.temperature: 0.0 -> 0.5"]),
        ({"parameters": {"temperature": 0.0}}, ["parameters.seed: 0 -> null"]),
        ({"parameters": {**PARAMETERS, "effort": "low"}}, ['parameters.effort: null -> "low"']),
        ({"dropped": ["seed"]}, ['dropped: null -> ["seed"]']),
        ({"template": "other"}, ['template: {"digest": "1"} -> "other"']),
        ({"model": "b", "template": {"digest": "2"}}, ['model: "a" -> "b"', 'template.digest: "1" -> "2"']),
    ],
)
def test_a_changed_identity_is_told_field_by_field(new: dict[str, Any], told: list[str]) -> None:
    """Every field that changed is named with its old and its new value, and nothing else is."""
    assert identity_differences(OLD, {**OLD, **new}) == told


identities = st.recursive(
    st.text(max_size=3) | st.integers(0, 3),
    lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.whole
@given(st.dictionaries(st.text(max_size=2), identities), st.dictionaries(st.text(max_size=2), identities))
def test_identities_differ_where_they_are_not_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    """There is a difference to tell exactly where two identities are not the same, and it has a direction."""

    def without_nothing(value: Any) -> Any:  # a field that holds nothing at all says as much as one that lacks
        if not isinstance(value, dict):
            return value
        return {key: kept for key, inner in value.items() if (kept := without_nothing(inner)) != {}}

    assert identity_differences(one, one) == []
    assert bool(identity_differences(one, other)) == bool(identity_differences(other, one))
    if without_nothing(one) != without_nothing(other):
        assert identity_differences(one, other) != []


# --- the library ------------------------------------------------------------------------------------------

PAIRS = tuple(Pair(f"p{number}", f"Question {number}?", f"One {number}.", f"Two {number}.") for number in range(4))
FOLDER = ("ours", "own")
CONDITIONS = ("recency-new-old", "recency-old-new")


def judge(**changes: Any) -> Judge:
    """Return a judge, which is never asked here."""
    return load_judge({"provider": "openai", "model": "m", **changes}, "ours")


def answer(cassette: Cassette, pairs: Sequence[Pair] = PAIRS) -> int:
    """Answer the pairs of a condition, from the recording where it can; return how many were asked for."""
    asked = 0
    for number, pair in enumerate(pairs):
        call, digest = cassette.call(pair), f"{PAIRS.index(pair) if pair in PAIRS else 90 + number:032x}"
        found = call.find(digest)
        if found is None:
            found = CassetteRow(digest, pair.id, 0, 200, b'{"selected_response":1}')
            found = call.keep(found)
            asked += 1
        call.played.append(found)
        cassette.used_by(call)
    return asked


def record(
    root: Path,
    mode: RecordMode = "missing",
    conditions: Sequence[str] = CONDITIONS,
    pairs: Sequence[Pair] = PAIRS,
    **changes: Any,
) -> int:
    """Record conditions as a run of pytest would, and return how many questions went out."""
    with CassetteStore(root, mode).open(judge(**changes), "own", conditions, pairs) as cassettes:
        return sum(answer(cassettes[name], pairs) for name in conditions)


def break_off(root: Path, mode: RecordMode) -> None:
    """Begin to record, and be interrupted after three answers."""
    with CassetteStore(root, mode).open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        assert answer(cassettes[CONDITIONS[0]], PAIRS[:3]) == 3
        raise KeyboardInterrupt


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_condition_is_a_file(tmp_path: Path) -> None:
    """Recording writes one file a condition and the frozen pairs, sorted by pair, below judge and dataset."""
    assert record(tmp_path, pairs=PAIRS[::-1]) == 8
    assert sorted(tree(tmp_path)) == ["ours/own/pairs.jsonl", *(f"ours/own/{name}.jsonl" for name in CONDITIONS)]
    for name in CONDITIONS:
        file = CassetteFile(tmp_path.joinpath(*FOLDER, f"{name}.jsonl"))
        assert file.header == {
            "judgefixtures": 1,
            "dataset": "own",
            "condition": name,
            "judge": judge().identity,
            "recorded": today_utc(),
        }
        assert [each.pair for each in file.read_rows()] == ["p0", "p1", "p2", "p3"]


def test_recording_again_asks_and_changes_nothing(tmp_path: Path) -> None:
    """What is recorded is not asked again, and no byte changes."""
    record(tmp_path)
    before = tree(tmp_path)
    assert record(tmp_path) == 0
    assert tree(tmp_path) == before


def test_answers_of_another_day_say_so(tmp_path: Path) -> None:
    """The header has the day of the first answers, later ones their own; a recording without days stays one."""
    record(tmp_path, pairs=PAIRS[:2])
    path = tmp_path.joinpath(*FOLDER, f"{CONDITIONS[0]}.jsonl")
    path.write_bytes(path.read_bytes().replace(f'"recorded":"{today_utc()}"'.encode(), b'"recorded":"2020-02-29"'))
    record(tmp_path)
    assert [each.on for each in CassetteFile(path).read_rows()] == [
        "2020-02-29",
        "2020-02-29",
        today_utc(),
        today_utc(),
    ]
    assert path.read_text().count(today_utc()) == 2
    assert path.read_text().count("2020-02-29") == 1
    path.write_text(path.read_text().replace(',"recorded":"2020-02-29"', ""))
    assert [each.on for each in CassetteFile(path).read_rows()] == ["", "", today_utc(), today_utc()]


@pytest.mark.parametrize("day", ["2020-02-30", "20200229", "2020-W01-1", "yesterday", "7"])
def test_what_is_no_day_is_refused(path: Path, day: str, snapshot: SnapshotAssertion) -> None:
    """A day that there is not makes a file that is no cassette, or a line that is no answer."""
    path.parent.mkdir()
    path.write_text(json.dumps({**HEADER, "recorded": day}) + "\n")
    with pytest.raises(CassetteError):
        CassetteFile(path)
    written(path.with_name("other.jsonl"), [row(1, on=day)])
    with pytest.raises(CassetteError) as error:
        CassetteFile(path.with_name("other.jsonl"))
    assert str(error.value) == snapshot


def test_looking_up_writes_nothing(tmp_path: Path) -> None:
    """In mode none no file and no folder is made, recorded or not."""
    with CassetteStore(tmp_path / "none").open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        assert [len(cassette.file) for cassette in cassettes.values()] == [0, 0]
    assert not (tmp_path / "none").exists()
    record(tmp_path)
    before = tree(tmp_path)
    assert record(tmp_path, "none") == 0
    assert tree(tmp_path) == before


def test_a_recording_that_breaks_off_keeps_its_answers(tmp_path: Path) -> None:
    """An error in the middle leaves what was answered, and `missing` asks the rest alone."""
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path, "missing")
    assert record(tmp_path) == 5


def test_another_judge_is_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """`missing` refuses recordings of another identity: each changed field, file and remedy are named."""
    record(tmp_path)
    for mode in ("missing", "none"):
        with pytest.raises(CassetteError) as caught:
            record(tmp_path, mode, model="n", temperature=0.5)
        assert str(caught.value) == snapshot
        assert "seed" not in str(caught.value)


def test_a_renewal_replaces_the_old_when_it_is_complete(tmp_path: Path) -> None:
    """`all` asks everything, leaves the old file until the end, and leaves nothing beside the new one."""
    record(tmp_path)
    before = tree(tmp_path)
    library = CassetteStore(tmp_path, "all")
    with library.open(judge(model="n"), "own", CONDITIONS, PAIRS) as cassettes:
        assert sum(answer(cassettes[name]) for name in CONDITIONS) == 8
        during = tree(tmp_path)
    assert {name: during[name] for name in before} == before
    after = tree(tmp_path)
    assert after.keys() == before.keys()
    header = CassetteFile(tmp_path.joinpath(*FOLDER, "recency-new-old.jsonl")).header
    assert header is not None
    assert header["judge"]["model"] == "n"
    with library.open(judge(model="n"), "own", CONDITIONS, PAIRS) as cassettes:
        assert sum(answer(cassettes[name]) for name in CONDITIONS) == 0, "twice in a run"
    assert tree(tmp_path) == after


def test_a_renewal_that_breaks_off_is_resumed(tmp_path: Path) -> None:
    """An `all` that broke off leaves the old recording as it was, and the next `all` asks the rest alone."""
    record(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path, "all")
    during = tree(tmp_path)
    assert {name: during[name] for name in before} == before
    assert record(tmp_path, "none") == 0
    assert record(tmp_path, "all") == 5
    assert tree(tmp_path) == before


def test_a_renewal_of_some_pairs_keeps_the_others(tmp_path: Path) -> None:
    """What `all` does not ask anew stays: answers about other pairs, whichever item of the run comes first."""
    record(tmp_path)
    before = tree(tmp_path)
    assert record(tmp_path, "all", pairs=PAIRS[1:3]) == 4
    assert tree(tmp_path) == before
    library = CassetteStore(tmp_path, "all")
    for some, asked in ((PAIRS[:2], 4), (PAIRS[1:], 4), (PAIRS, 0)):  # p1 is this run's own by then
        with library.open(judge(), "own", CONDITIONS, some) as cassettes:
            assert sum(answer(cassettes[name], some) for name in CONDITIONS) == asked
    assert tree(tmp_path) == before


def test_a_renewal_by_another_judge_sets_aside_what_it_does_not_replace(tmp_path: Path) -> None:
    """Answers of a judge that changed cannot stay among the new ones, and are not deleted either."""
    record(tmp_path)
    before = tree(tmp_path)
    for number, model in enumerate(("n", "o"), 1):
        library = CassetteStore(tmp_path, "all")
        with library.open(judge(model=model), "own", CONDITIONS, PAIRS[:number]) as cassettes:
            assert sum(answer(cassettes[name], PAIRS[:number]) for name in CONDITIONS) == 2 * number
    asides = {name: content for name, content in tree(tmp_path).items() if ".part-of-another-judge" in name}
    assert sorted(asides) == [f"ours/own/{name}.part-of-another-judge.jsonl" for name in CONDITIONS]
    for name, content in asides.items():
        assert content == before[name.replace(".part-of-another-judge", "")]
        assert [path.name for path in cassettes[CONDITIONS[0]].set_aside] == []
    record(tmp_path, "all", pairs=PAIRS[:1], model="p")
    assert sum(".part-of-another-judge" in name for name in tree(tmp_path)) == 4, "what was set aside before stays"


def test_pairs_are_frozen_with_the_recording_that_needs_them(tmp_path: Path) -> None:
    """Changed pairs replace the frozen ones when the recording that asked about them is complete, not before."""
    record(tmp_path)
    before = tree(tmp_path)["ours/own/pairs.jsonl"]
    changed = (replace(PAIRS[0], question="Another?"), *PAIRS[1:])
    for mode in get_args(RecordMode):
        if mode == "none":
            continue
        with pytest.raises(KeyboardInterrupt), CassetteStore(tmp_path, mode).open(judge(), "own", CONDITIONS, changed):
            raise KeyboardInterrupt
        assert tree(tmp_path)["ours/own/pairs.jsonl"] == before, mode
    record(tmp_path, "missing", pairs=changed)
    assert read_snapshot_pairs(tmp_path.joinpath(*FOLDER))["p0"] == changed[0]


def test_a_sample_becomes_valid_with_the_recording_that_needs_it(tmp_path: Path) -> None:
    """A new sample replaces the frozen one when a recording of it is complete; the first one is kept at once."""

    def library(mode: RecordMode, pairs: Sequence[Pair], seed: int) -> CassetteStore:
        sample = SampleSnapshot({}, seed, 4, tuple((pair.id, pair.digest) for pair in pairs), {})
        return CassetteStore(tmp_path, mode, samples={("ours", "own"): sample})

    def seed_and_pairs() -> tuple[int, int]:
        found = CassetteStore(tmp_path).frozen_sample("ours", "own")
        assert found is not None
        return found.seed, len(found.pairs)

    def interrupted(mode: RecordMode, pairs: Sequence[Pair], seed: int) -> None:
        with pytest.raises(KeyboardInterrupt), library(mode, pairs, seed).open(judge(), "own", CONDITIONS, pairs):
            raise KeyboardInterrupt

    interrupted("missing", PAIRS[:2], 0)
    assert seed_and_pairs() == (0, 2), "nothing else would say which commit these answers are of"
    for mode in ("missing", "all"):
        interrupted(mode, PAIRS, 0)
        interrupted(mode, PAIRS[:1], 1)
        assert seed_and_pairs() == (0, 2)
    for pairs, seed in ((PAIRS, 0), (PAIRS[:3], 0), (PAIRS[:1], 1)):
        with library("all", pairs, seed).open(judge(), "own", CONDITIONS, pairs) as cassettes:
            for name in CONDITIONS:
                answer(cassettes[name], pairs)
        assert seed_and_pairs() == ((0, 4) if seed == 0 else (1, 1))


def test_an_unfinished_renewal_is_told_when_it_is_used(tmp_path: Path) -> None:
    """Answers that another run's unfinished `all` left are used and said; this run's own are no news."""
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path, "all")
    library = CassetteStore(tmp_path, "all")
    with library.open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        told = [cassette.resumed for cassette in cassettes.values() if cassette.resumed]
        assert len(told) == 1
        assert re.fullmatch(r"3, the last from \d{4}-\d\d-\d\d \d\d:\d\d", told[0])
        assert sum(answer(cassettes[name]) for name in CONDITIONS) == 5
    with library.open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        assert not any(cassette.resumed for cassette in cassettes.values())


@pytest.mark.parametrize("mode", ["none", "missing", "all"])
@pytest.mark.parametrize("file", [f"{CONDITIONS[0]}.jsonl", "pairs.jsonl", "sample.json"])
def test_an_unresolved_merge_is_refused_in_every_mode(tmp_path: Path, mode: RecordMode, file: str) -> None:
    """With merge marks in any file nothing is asked and nothing replaced, also where all is recorded anew."""
    record(tmp_path)
    path = tmp_path.joinpath(*FOLDER, file)
    content = path.read_bytes() if path.exists() else b""
    path.write_bytes(content + b"<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    before = tree(tmp_path)
    line = content.count(b"\n") + 1
    with pytest.raises(CassetteError, match=re.escape(f"{path}:{line} is a git conflict mark")):
        record(tmp_path, mode)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "content",
    [
        b'{\n "judgefixtures": 1,\n oops\n}',
        (
            b'{"judgefixtures": 1, "selection": {}, "seed": 0, "available": 2, "left_out": {}, '
            b'"pairs": [{"id": "a", "digest": "1"}, {"id": "a", "digest": "2"}]}'
        ),
    ],
)
def test_a_damaged_sample_names_its_line(tmp_path: Path, content: bytes, snapshot: SnapshotAssertion) -> None:
    """A sample.json that is not one is an error with file and line, and so is a pair with two digests."""
    record(tmp_path)
    path = tmp_path.joinpath(*FOLDER, "sample.json")
    path.write_bytes(content)
    for mode in ("none", "missing"):
        with pytest.raises(CassetteError) as caught:
            record(tmp_path, mode)
        assert str(path) in str(caught.value)
        assert str(caught.value) == snapshot


@pytest.mark.parametrize("names", [("j" * 256, "own"), ("ours", "d" * 256)])
def test_a_name_that_cannot_be_a_folder_is_told(
    tmp_path: Path, names: tuple[str, str], snapshot: SnapshotAssertion
) -> None:
    """Where a judge that was made in Python, or a data set, has too long a name for a folder, the error says so."""
    with pytest.raises(CassetteError) as error:
        CassetteStore(tmp_path).frozen(*names)
    assert str(error.value) == snapshot


def test_names_in_a_cassette_lead_nowhere(tmp_path: Path) -> None:
    """Pair ids and the names in a header are data: whatever they say, no file is written elsewhere."""
    outside = "../../../../outside"
    odd = [Pair(name, "Q?", "1", "2") for name in (outside, "/etc/passwd", "a/b", "..", "C:\\x", "nul\0l", "~", "-rf")]
    root = tmp_path / "project" / "cassettes"
    record(root, pairs=odd)
    expected = {"ours/own/pairs.jsonl", *(f"ours/own/{name}.jsonl" for name in CONDITIONS)}
    assert tree(tmp_path).keys() == {f"project/cassettes/{name}" for name in expected}
    path = root.joinpath(*FOLDER, "recency-new-old.jsonl")
    evil = {**HEADER, "dataset": outside, "condition": outside, "judge": dict(judge().identity), "path": outside}
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps(evil).encode() + b"\n" + rest)
    assert record(root, pairs=odd) == 0
    assert record(root, "all", pairs=odd) == len(odd) * 2
    assert tree(tmp_path).keys() == {f"project/cassettes/{name}" for name in expected}
    assert {each.pair for each in CassetteFile(path).read_rows()} == {pair.id for pair in odd}
    assert path.read_bytes().startswith(first)


def test_unused_recordings_are_known(tmp_path: Path) -> None:
    """Recordings that a whole run did not ask for are unused; a run of some pairs judges no others."""
    record(tmp_path)
    with CassetteStore(tmp_path).open(judge(), "own", CONDITIONS, PAIRS[:2]) as cassettes:
        for name in CONDITIONS:
            answer(cassettes[name], PAIRS[:2])
            assert cassettes[name].unused(whole=True) == ["p2", "p3"]
            assert cassettes[name].unused(whole=False) == []
    with CassetteStore(tmp_path).open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        answer(cassettes[CONDITIONS[0]])
        assert cassettes[CONDITIONS[0]].unused(whole=True) == []


def test_recordings_of_other_pairs_stay(tmp_path: Path) -> None:
    """Recording some of the pairs leaves the answers about the others where they are."""
    record(tmp_path)
    before = tree(tmp_path)
    assert record(tmp_path, pairs=PAIRS[1:3]) == 0
    assert tree(tmp_path) == before


def test_a_second_recorder_waits_and_replays(tmp_path: Path) -> None:
    """Two that record the same condition take turns: the second finds what the first asked."""
    inside, done, asked = threading.Event(), threading.Event(), []

    def second() -> None:
        with CassetteStore(tmp_path, "missing").open(judge(), "own", CONDITIONS[::-1], PAIRS) as cassettes:
            inside.set()
            asked.append(sum(answer(cassettes[name]) for name in CONDITIONS))
        done.set()

    with CassetteStore(tmp_path, "missing").open(judge(), "own", CONDITIONS, PAIRS) as cassettes:
        thread = threading.Thread(target=second)
        thread.start()
        for name in CONDITIONS:
            assert answer(cassettes[name]) == 4
            assert not inside.wait(0.1)
    thread.join()
    assert done.is_set()
    assert asked == [0]


def test_locks_leave_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a recording no lock's file is left, however many waited.

    Whoever waits while a lock's file is removed must not hold it together with the next one.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(locks, "POLL", 0.0)
    held, most = [], []

    def take() -> None:
        for _ in range(25):
            with locks.file_lock(tmp_path / "x"):
                held.append(1)
                most.append(len(held))
                held.pop()

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 150
    assert not list(tmp_path.iterdir())
    record(tmp_path / "cassettes")
    assert not list(tmp_path.rglob("*lock*"))


def test_a_lock_can_be_held_where_files_cannot_be_locked(tmp_path: Path) -> None:
    """There the file itself is the lock: whoever takes it has made it, and does not wait for himself."""
    pytest.importorskip("fcntl")
    program = (
        "import errno, fcntl, sys, pathlib\n"
        "def missing(*_): raise OSError(errno.ENOSYS, 'no locks here')\n"
        "fcntl.flock = missing\n"
        "from judgefixtures.cassettes.locks import file_lock\n"
        "for _ in range(2):\n"
        "    with file_lock(pathlib.Path(sys.argv[1])): print(len(list(pathlib.Path(sys.argv[1]).parent.iterdir())))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "batches")],
        timeout=60,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["1", "1"]
    assert not list(tmp_path.iterdir())


def test_other_conditions_are_not_locked(tmp_path: Path) -> None:
    """Two that record different conditions do not wait for each other."""
    with CassetteStore(tmp_path, "missing").open(judge(), "own", CONDITIONS[:1], PAIRS) as cassettes:
        answer(cassettes[CONDITIONS[0]])
        with CassetteStore(tmp_path, "missing").open(judge(), "own", CONDITIONS[1:], PAIRS) as others:
            assert answer(others[CONDITIONS[1]]) == 4
    assert record(tmp_path) == 0


# --- frozen pairs -----------------------------------------------------------------------------------------

texts = st.text(min_size=1).filter(str.strip)
pairs = st.builds(
    Pair,
    id=texts,
    question=texts,
    response_1=texts,
    response_2=texts,
    gold=st.sampled_from([None, 1, 2]),
    category=st.none() | texts,
    content_type=texts,
)


@settings(deadline=None)
@given(st.lists(pairs, max_size=5, unique_by=lambda pair: pair.id))
def test_frozen_pairs_come_back(scratch: Callable[[], Path], sample: list[Pair]) -> None:
    """Any pairs are frozen, sorted by id, and come back as they were."""
    folder = scratch()
    add_snapshot_pairs(folder, sample)
    if not sample:
        return
    found = read_snapshot_pairs(folder)
    assert found == {pair.id: pair for pair in sample}
    assert list(found) == sorted(found)


def test_freezing_adds_and_replaces(tmp_path: Path) -> None:
    """Other pairs are added, a changed pair is replaced, and the same pairs change no byte and no time."""
    add_snapshot_pairs(tmp_path, PAIRS[2:])
    add_snapshot_pairs(tmp_path, PAIRS[:3])
    assert tuple(read_snapshot_pairs(tmp_path).values()) == PAIRS
    before = (tmp_path / "pairs.jsonl").stat()
    add_snapshot_pairs(tmp_path, PAIRS[::-1])
    assert (tmp_path / "pairs.jsonl").stat().st_mtime_ns == before.st_mtime_ns
    other = Pair("p1", "Another?", "One 1.", "Two 1.", gold=1)
    add_snapshot_pairs(tmp_path, [other])
    assert read_snapshot_pairs(tmp_path)["p1"] == other
    assert len(read_snapshot_pairs(tmp_path)) == 4


@pytest.mark.parametrize(
    ("change", "fields", "asked_again"),
    [
        ({"question": "x"}, ["question"], True),
        ({"response_1": "x", "response_2": "y"}, ["response_1", "response_2"], True),
        ({"content_type": "Story"}, ["content_type"], True),
        ({"gold": 2}, ["gold"], False),
        ({"category": "c"}, ["category"], False),
        ({}, [], False),
    ],
)
def test_a_changed_pair_is_noticed(change: dict[str, Any], fields: list[str], asked_again: bool) -> None:
    """What changed in a pair is named; only what a judge can see makes its recordings stale."""
    old = Pair("p", "q", "1", "2")
    new = Pair(**{"id": "p", "question": "q", "response_1": "1", "response_2": "2", **change})
    assert changed_fields(old, new) == fields
    assert (new.digest != old.digest) is asked_again


def test_damaged_frozen_pairs_name_their_line(tmp_path: Path) -> None:
    """Frozen pairs that cannot be read are an error with file, line and remedy."""
    add_snapshot_pairs(tmp_path, PAIRS)
    file = tmp_path / "pairs.jsonl"
    lines = file.read_text().splitlines()
    for damage in (lines[0], "{}", "[]", lines[2][:20]):
        file.write_text("\n".join([*lines[:2], damage, *lines[3:]]))
        with pytest.raises(CassetteError) as caught:
            read_snapshot_pairs(tmp_path)
        for word in (f"{file}:3", "damaged", "--judge-record missing"):
            assert word in str(caught.value)


# --- the format, for those who read it later --------------------------------------------------------------

# Format 1 as it was first released: whoever changes the format must go on reading this.
FORMAT_1 = """\
{"judgefixtures":1,"dataset":"own","condition":"no-cue","judge":{"provider":"openai","model":"m"}}
{"digest":"00000000000000000000000000000001","pair":"p1","seen":"0f1e2d3c4b5a6978",\
"json":{"choices":[{"message":\
{"content":"{\\"selected_response\\": 1, \\"reason\\": \\"naïve\\"}"}}],"id":"scrubbed"}}
{"digest":"00000000000000000000000000000002","pair":"p1","seen":"0f1e2d3c4b5a6978","repeat":1,\
"json":{"n":1.5,"m":[true,null]}}
{"digest":"00000000000000000000000000000003","pair":"p2","seen":"8796a5b4c3d2e1f0","status":400,\
"type":"text/plain; charset=utf-8",\
"text":"too large\\n"}
{"digest":"00000000000000000000000000000004","pair":"ü/../2","seen":"",\
"type":"image/png","base64":\
"iVBOR/8="}
""".encode()
VERDICT_1 = '{"selected_response": 1, "reason": "naïve"}'
ANSWER_1 = {"choices": [{"message": {"content": VERDICT_1}}], "id": "scrubbed"}
ROWS_1 = [
    CassetteRow(
        "0" * 31 + "1",
        "p1",
        0,
        200,
        json.dumps(ANSWER_1, ensure_ascii=False, separators=(",", ":")).encode(),
        seen="0f1e2d3c4b5a6978",
    ),
    CassetteRow("0" * 31 + "2", "p1", 1, 200, b'{"n":1.5,"m":[true,null]}', seen="0f1e2d3c4b5a6978"),
    CassetteRow("0" * 31 + "3", "p2", 0, 400, b"too large\n", "text/plain; charset=utf-8", "8796a5b4c3d2e1f0"),
    CassetteRow("0" * 31 + "4", "ü/../2", 0, 200, base64.b64decode("iVBOR/8="), "image/png"),
]


def test_format_1_is_read(path: Path) -> None:
    """A cassette of format 1, as first released, is read as it was meant."""
    path.parent.mkdir()
    path.write_bytes(FORMAT_1)
    file = CassetteFile(path)
    assert file.header == HEADER
    assert file.read_rows() == ROWS_1


def test_what_is_usual_may_be_written_out(path: Path) -> None:
    """A row that says repeat 0 and status 200 is the row that leaves them out."""
    path.parent.mkdir()
    path.write_bytes(FORMAT_1.replace(b'"seen"', b'"repeat":0,"status":200,"seen"', 1))
    assert CassetteFile(path).read_rows() == ROWS_1


def test_recordings_from_before_the_pair_digest_are_read(path: Path) -> None:
    """The first recordings of format 1 had no `seen`: they replay all the same."""
    path.parent.mkdir()
    path.write_bytes(re.sub(rb'"seen":"\w*",', b"", FORMAT_1))
    assert CassetteFile(path).read_rows() == [replace(each, seen="") for each in ROWS_1]


def test_format_1_is_written(path: Path) -> None:
    """What this version writes is format 1, byte for byte, and can be read by the first release."""
    assert written(path, ROWS_1).read_bytes() == FORMAT_1
    path.unlink()
    CassetteFile(path).replace(ROWS_1[::-1], HEADER)
    assert path.read_bytes() == FORMAT_1


def test_keys_of_later_versions_are_ignored(path: Path) -> None:
    """A later version that only adds keys is read by this one."""
    path.parent.mkdir()
    lines = FORMAT_1.splitlines()
    lines[0] = lines[0][:-1] + b',"made_by":"judgefixtures 9"}'
    lines[1:] = [line[:-1] + b',"cost":0.01,"nested":{"digest":"x"}}' for line in lines[1:]]
    path.write_bytes(b"\n".join([*lines, b""]))
    assert CassetteFile(path).read_rows() == ROWS_1


class Repository:
    """A git repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        assert self.git("init", "--quiet", "--initial-branch", "main") == 0

    def git(self, *arguments: str) -> int:
        """Run git, without anybody's configuration, and return its exit code."""
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": "somebody", f"GIT_{role}_EMAIL": "somebody@example.org"}
        return subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True).returncode

    def commit(self) -> None:
        """Commit everything."""
        assert self.git("add", "--all") == 0
        assert self.git("commit", "--quiet", "--message", "recorded") == 0

    def branch(self, name: str) -> None:
        """Go to a new branch of main."""
        assert self.git("switch", "--quiet", "--create", name, "main") == 0


def test_two_people_can_record_different_conditions(tmp_path: Path) -> None:
    """Git merges two people's recordings of different conditions without a conflict, and both replay."""
    cassettes, repository = tmp_path / "cassettes", Repository(tmp_path)
    record(cassettes, conditions=["no-cue"])
    repository.commit()
    for branch, condition in (("ann", CONDITIONS[0]), ("bob", CONDITIONS[1])):
        repository.branch(branch)
        record(cassettes, conditions=[condition])
        repository.commit()
    assert repository.git("merge", "--quiet", "--no-edit", "ann") == 0
    merged = tree(cassettes)
    assert record(cassettes, conditions=["no-cue", *CONDITIONS]) == 0
    assert tree(cassettes) == merged


# --- joining two branches' recordings ---------------------------------------------------------------------

MERGE = "judgefixtures cassettes merge"


def recorded_on_branches(folder: Path, base: Sequence[Pair], change: Callable[[Path], None]) -> Repository:
    """Record some pairs on main, three on branch ann and three on bob, where `change` edits a condition; be on bob."""
    repository, cassettes = Repository(folder), folder / "cassettes"
    (folder / "readme").write_text("")
    if base:
        record(cassettes, pairs=base)
    repository.commit()
    for branch, some in (("ann", PAIRS[:3]), ("bob", PAIRS[1:])):
        repository.branch(branch)
        record(cassettes, pairs=some)
        if branch == "bob":
            change(cassettes.joinpath(*FOLDER, f"{CONDITIONS[0]}.jsonl"))
        repository.commit()
    return repository


def other_answer(path: Path) -> None:
    """Change the answers about pair p2, as if the judge had said something else."""
    lines = [
        line.replace(b'response":1', b'response":2') if b'"p2"' in line else line
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    path.write_bytes(b"".join(lines))


def joins_everything(folder: Path) -> None:
    """Assert that what either branch recorded is there, sorted and readable, and nothing is asked again."""
    cassettes = folder / "cassettes"
    assert read_snapshot_pairs(cassettes.joinpath(*FOLDER)) == {pair.id: pair for pair in PAIRS}
    before = tree(cassettes)
    assert record(cassettes, "none") == 0
    assert record(cassettes) == 0
    assert tree(cassettes) == before


@pytest.mark.parametrize("base", [(), PAIRS[1:2]], ids=["added-on-both", "changed-on-both"])
@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_what_two_branches_recorded_is_joined(
    tmp_path: Path, base: Sequence[Pair], style: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """After a merge that left marks, one command keeps every answer of both; ours where both asked."""
    repository = recorded_on_branches(tmp_path, base, other_answer)
    assert repository.git("-c", f"merge.conflictStyle={style}", "merge", "ann") == 1
    with pytest.raises(CassetteError, match=MERGE):
        record(tmp_path / "cassettes", "missing")
    assert main(["cassettes", "merge", str(tmp_path / "cassettes")]) == 0
    said = capsys.readouterr().out
    assert lines_about(said, "first answer") == snapshot
    joins_everything(tmp_path)
    rows = CassetteFile(tmp_path.joinpath("cassettes", *FOLDER, f"{CONDITIONS[0]}.jsonl")).read_rows()
    assert [each.body for each in rows if each.pair == "p2"] == [b'{"selected_response":2}']
    assert main(["cassettes", "merge", str(tmp_path / "cassettes")]) == 0
    assert capsys.readouterr().out == "nothing to join\n"


@pytest.mark.parametrize("base", [(), PAIRS[1:2]], ids=["added-on-both", "changed-on-both"])
def test_git_joins_recordings_itself(tmp_path: Path, base: Sequence[Pair]) -> None:
    """As git's merge driver the command leaves no marks, and what one branch removed is removed."""
    repository = recorded_on_branches(tmp_path, base, other_answer)
    (tmp_path / ".gitattributes").write_text("cassettes/** merge=judgefixtures\n")
    driver = f"{sys.executable} -m judgefixtures cassettes merge --driver %O %A %B %P"
    assert repository.git("config", "merge.judgefixtures.driver", driver) == 0
    assert repository.git("merge", "--no-edit", "ann") == 0
    joins_everything(tmp_path)


def test_what_one_branch_removed_is_removed(tmp_path: Path) -> None:
    """Rows that one branch dropped and the other left as they were are dropped; what the other changed stays."""
    rows = [row(number) for number in range(4)]
    versions = {"base": rows[:3], "ours": rows[1:3], "theirs": [rows[0], rows[3]]}
    base, ours, theirs = (written(tmp_path / f"{name}.jsonl", some) for name, some in versions.items())
    theirs.write_bytes(theirs.read_bytes().replace(b'{"n":0}', b'{"n":9}'))
    assert main(["cassettes", "merge", "--driver", *map(str, (base, ours, theirs)), "cassettes/no-cue.jsonl"]) == 0
    found = [(each.pair, each.body) for each in CassetteFile(ours).read_rows()]
    assert found == [("p000", b'{"n":9}'), ("p003", b'{"n":3}')]


def test_joined_answers_keep_their_days(tmp_path: Path) -> None:
    """What two branches recorded on different days says of each answer when it was given."""
    given = {
        "base": ([row(0)], "2020-01-01"),
        "ours": ([row(0), row(1, on="2020-01-03")], "2020-01-01"),
        "theirs": ([row(0, on="2020-01-01"), row(2, body=b'{"on": "fire"}')], "2020-01-02"),
    }
    for name, (some, day) in given.items():
        path = written(tmp_path / f"{name}.jsonl", some)
        path.write_text(path.read_text().replace('"model":"m"}', f'"model":"m"}},"recorded":"{day}"'))
    files = [str(tmp_path / f"{name}.jsonl") for name in given]
    assert main(["cassettes", "merge", "--driver", *files, "cassettes/no-cue.jsonl"]) == 0
    joined = CassetteFile(tmp_path / "ours.jsonl")
    assert [each.on for each in joined.read_rows()] == ["2020-01-01", "2020-01-03", "2020-01-02"]
    assert joined.header == HEADER


def test_two_answers_are_made_one(path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """A file with two answers to one question, as a merge of all lines leaves it, keeps the upper one."""
    written(path, [row(1, body=b'"a"'), row(2)])
    path.write_bytes(path.read_bytes() + row(1, body=b'"b"').line())
    assert main(["cassettes", "merge", str(path)]) == 0
    assert capsys.readouterr().out == snapshot
    assert [each.body for each in CassetteFile(path).read_rows()] == [b'"a"', b'{"n":2}']


def test_each_folder_is_mended_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Links to folders are followed, in a circle as well; hidden folders are left alone."""
    judge, elsewhere, hidden = (tmp_path / name for name in ("cassettes/judge", "elsewhere", "cassettes/.git"))
    for folder in (judge, elsewhere, hidden):
        folder.mkdir(parents=True)
        written(folder / "no-cue.jsonl", [row(1, body=b'"a"')])
        with (folder / "no-cue.jsonl").open("ab") as file:
            file.write(row(1, body=b'"b"').line())
    for name, target in (("l1", "."), ("l2", ".."), ("l3", elsewhere)):
        (judge / name).symlink_to(target)
    assert main(["cassettes", "merge", str(tmp_path / "cassettes")]) == 0
    assert capsys.readouterr().out == snapshot
    left = {folder.name: len(CassetteFile(folder / "no-cue.jsonl").read_rows()) for folder in (judge, elsewhere)}
    assert left == {"judge": 1, "elsewhere": 1}
    assert (hidden / "no-cue.jsonl").read_bytes().endswith(row(1, body=b'"b"').line())


HEAD = json.dumps(HEADER).encode() + b"\n"
NO_JUDGE_HEAD = b'{"judgefixtures":1,"judge":[]}\n'
OTHER_HEAD = HEAD.replace(b'"m"', b'"n"')
PAIR_LINE = b'{"id":"p","question":"%s","response_1":"1","response_2":"2"}\n'
SAMPLE = (
    b'{"judgefixtures":1,"selection":{},"seed":%d,"available":3,"left_out":{},"pairs":[%s],'
    b'"revision":null,"licence":null}\n'
)
SAMPLE_PAIRS = b'{"id":"a","digest":"1"}', b'{"id":"a","digest":"1"},{"id":"b","digest":"2"}'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("no-cue.jsonl", conflict(HEAD + row(1).line(), OTHER_HEAD + row(2).line())),
        ("no-cue.jsonl", conflict(row(1).line(), row(2).line())),
        ("no-cue.jsonl", conflict(NO_JUDGE_HEAD + row(1).line(), NO_JUDGE_HEAD)),
        ("no-cue.jsonl", HEAD + conflict(row(1).line(), b"damage\n")),
        ("no-cue.jsonl", HEAD + b"=======\n" + row(1).line()),
        ("no-cue.jsonl", HEAD + conflict(b"", row(1).line())[:-14]),
        ("pairs.jsonl", conflict(PAIR_LINE % b"x", PAIR_LINE % b"y")),
        ("pairs.jsonl", conflict(PAIR_LINE % b"x", b"{}\n")),
        ("sample.json", conflict(SAMPLE % (0, b""), SAMPLE % (1, b""))),
        ("sample.json", conflict(SAMPLE % (0, b""), b"{}\n")),
        ("batches.jsonl", conflict(b"{}\n", b"")),
    ],
)
def test_what_cannot_be_joined_is_left_as_it_is(
    tmp_path: Path, name: str, content: bytes, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Answers of different judges, and pairs that differ, are not mixed: exit code 2, what to do, no byte changed."""
    path = tmp_path / name
    path.write_bytes(content)
    assert main(["cassettes", "merge", str(path)]) == 2
    said = capsys.readouterr().err
    assert said == snapshot
    assert path.read_bytes() == content


def batch_event(kind: str, intent: str, **more: Any) -> bytes:
    """Return a line of the list of batches."""
    about = {"provider": "openai", "judge": "ours", "asked": {"ours/own/x": [f"{intent}-0"]}}
    event = {"event": kind, "intent": intent, "time": "2026-11-22T10:00:00.000+00:00", **more}
    event |= about if kind == "intent" else {}
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("way", ["marks", "marks with the base", "driver"])
def test_the_lists_of_batches_of_two_branches_are_joined(tmp_path: Path, way: str) -> None:
    """No batch that either branch sent or ended is forgotten; what one branch alone took out of the list is out."""
    lost = batch_event("intent", "i9") + batch_event("sent", "i9", batch="b9")
    base = lost + batch_event("intent", "i0") + batch_event("sent", "i0", batch="b0")
    ended = batch_event("ended", "i0")
    mine = batch_event("intent", "i1") + batch_event("sent", "i1", batch="b1")
    its = batch_event("intent", "i2") + batch_event("sent", "i2", batch="b2")
    ours, theirs = base.removeprefix(lost) + mine, base + ended + its
    path = tmp_path / "cassettes" / "batches.jsonl"
    path.parent.mkdir()
    if way == "driver":
        files = [tmp_path / name for name in ("base", "ours", "theirs")]
        for file, content in zip(files, (base, ours, theirs + b'{"event":"inte'), strict=True):
            file.write_bytes(content)
        assert main(["cassettes", "merge", "--driver", *map(str, files), "cassettes/batches.jsonl"]) == 0
        path.write_bytes(files[1].read_bytes())
    else:
        path.write_bytes(conflict(ours, theirs, base if "base" in way else None))
        with pytest.raises(CassetteError, match=re.escape(f"cassettes merge {path}")):
            BatchManifest.of(path.parent)
        assert main(["cassettes", "merge", str(path.parent)]) == 0
    found = BatchManifest.of(path.parent)
    assert [each.batch for each in found.open] == (["b1", "b9", "b2"] if way == "marks" else ["b1", "b2"])
    assert {each.batch for each in found.sent if each.closed} == {"b0"}
    assert path.read_bytes().startswith(ours)
    assert main(["cassettes", "merge", str(path.parent)]) == 0


def test_what_both_branches_noted_of_a_batch_stays(tmp_path: Path) -> None:
    """A batch that one branch took out of the list stays where the other noted more of it."""
    files = {
        "base": batch_event("intent", "i0"),
        "ours": batch_event("intent", "i1"),
        "theirs": batch_event("intent", "i0") + batch_event("sent", "i0", batch="b0"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in files]
    assert main(["cassettes", "merge", "--driver", *paths, "cassettes/batches.jsonl"]) == 0
    assert (tmp_path / "ours").read_bytes() == files["ours"] + files["theirs"]


def test_the_longer_sample_is_kept(tmp_path: Path) -> None:
    """Of two samples of which one begins the other, the longer one is kept, whichever branch it is on."""
    path = tmp_path / "sample.json"
    short, long = (SAMPLE % (0, pairs) for pairs in SAMPLE_PAIRS)
    for ours, theirs in ((short, long), (long, short)):
        path.write_bytes(conflict(ours, theirs))
        assert main(["cassettes", "merge", str(path)]) == 0
        assert path.read_bytes() == long


@pytest.mark.whole
@settings(deadline=None)
@given(st.lists(rows, max_size=6, unique_by=lambda each: each.digest), st.data())
def test_any_two_versions_are_joined(
    scratch: Callable[[], Path], given_rows: list[CassetteRow], data: st.DataObject
) -> None:
    """Whatever rows two versions have, the joined file is the one that a recording of all of them writes."""
    ours, theirs = (written(scratch(), [each for each in given_rows if data.draw(st.booleans())]) for _ in range(2))
    contents = [path.read_bytes() if path.exists() else HEAD for path in (ours, theirs)]
    marked, whole = scratch(), scratch()
    marked.write_bytes(conflict(*contents))
    assert main(["cassettes", "merge", str(marked)]) == 0
    both = {each.digest: each for path in (ours, theirs) for each in CassetteFile(path).read_rows()}
    whole.write_bytes(HEAD)
    CassetteFile(whole).replace(both.values(), HEADER)
    assert CassetteFile(marked).read_rows() == CassetteFile(whole).read_rows()
