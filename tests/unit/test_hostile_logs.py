"""Logs that are damaged, or made to do harm: a sentence with file and row, and nothing is written."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers import ImportRequest, import_log
from judgefixtures.sources import encodings
from judgefixtures.util.errors import JudgeFixturesError

Refused = Callable[..., str]
ROWS = [
    {"id": f"e{n}", "question": f"Question {n}?", "response": f"This, {n}.", "verdict": "pass", "label": "fail"}
    for n in range(4)
]


def table(rows: list[dict[str, Any]], *, separator: str = ",") -> str:
    """Return rows as CSV."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def lines(rows: list[dict[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def changed(n: int, **fields: Any) -> list[dict[str, Any]]:
    """Return the rows with some fields of one of them changed."""
    return [{**row, **fields} if place == n else row for place, row in enumerate(ROWS)]


def content_of(rows: list[dict[str, Any]], form: str) -> bytes:
    """Return rows as a file of a format."""
    if form == "parquet":
        import pyarrow as pa
        from pyarrow import parquet as written

        sink = io.BytesIO()
        written.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue()
    texts = {"csv": table, "tsv": lambda rows: table(rows, separator="\t"), "jsonl": lines, "json": json.dumps}
    return str(texts[form](rows)).encode()


ODD: tuple[object, ...] = (
    [],
    {},
    [[1]],
    {"a": None},
    10**400,
    -1,
    0.5,
    "",
    "\x1b",
    "=1",
    True,
    float("nan"),
    "x" * 999,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command is run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Import a file, which must be refused in a sentence without anything being written, and return the sentence."""

    def said(name: str, content: str | bytes | None = None, *arguments: str, judge: str = "mine") -> str:
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        before = sorted(folder.iterdir())
        capsys.readouterr()
        assert main(["import", name, "--judge", judge, *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert err.replace("\n", "").isprintable()
        assert sorted(folder.iterdir()) == before, "something was written"
        return err

    return said


@pytest.mark.parametrize(
    "content",
    [
        table(changed(2, question="Café?")).encode("cp1252"),
        table(ROWS).encode() + b"e9,q,r\0,pass,fail\n",
        table(ROWS).encode("utf-16-le"),
        table(ROWS).encode("utf-16")[:-1],
        gzip.compress(table(ROWS).encode(), mtime=0),
        b"PK\x03\x04 a workbook",
        b"PAR1 a table",
        b"",
        b"id,verdict\n",
        b"id,verdict,id\ne1,pass,e2\n",
        table(ROWS) + "e9,q,r,pass\n",
        table(ROWS) + "e9,q,r, and more,pass,fail\n",
        table(ROWS) + 'e9,"q,r,pass,fail\n',
        table(ROWS) + 'e9,"a "b" c",r,pass,fail\n',
        table(changed(1, question="two\nlines")) + "e9\n",
    ],
)
def test_a_table_that_is_none(refused: Refused, content: str | bytes, snapshot: SnapshotAssertion) -> None:
    """What is no CSV in UTF-8 is told with the line at which it begins, and with what to do."""
    assert refused("log.csv", content) == snapshot


def test_how_to_save_a_file_is_told(refused: Refused, snapshot: SnapshotAssertion) -> None:
    """A file of Windows is to be saved as UTF-8, or converted, as JSON lines too."""
    for name, content in (("log.csv", table(changed(2, question="Café?"))), ("log.jsonl", '{"id": "é"}\n')):
        said = refused(name, content.encode("cp1252"))
        assert lines_about(said, 'Excel "CSV') == snapshot
        assert "iconv -f WINDOWS-1252 -t UTF-8" in said


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "e9"',
        "[1]",
        '{"id": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"id": ' + "[" * 300 + "]" * 300 + "}",
        '{"id": ' + '{"a":' * 300 + "1" + "}" * 300 + "}",
        f'{{"id": {"7" * 10_000}}}',
        '{"id": "e9", "verdict": "pass", "verdict": "fail"}',
        '{"id": "e9\0"}',
    ],
    ids=range(8),
)
def test_a_line_that_is_none(refused: Refused, line: str, snapshot: SnapshotAssertion) -> None:
    """What is no object of JSON that can be read is told with its line."""
    assert refused("log.jsonl", lines(ROWS) + line + "\n") == snapshot


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_log_without_rows(refused: Refused, content: str) -> None:
    """An empty file holds no rows."""
    assert "log.jsonl holds no rows" in refused("log.jsonl", content)


def test_a_file_whose_name_says_nothing(refused: Refused, snapshot: SnapshotAssertion) -> None:
    """A table under another name is not JSON lines, and is told how to be named."""
    assert lines_about(refused("log.txt", table(ROWS)), "of log.txt") == snapshot


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet"]),
    st.lists(st.tuples(st.integers(0, 700), st.integers(0, 3), st.binary(max_size=4)), max_size=4),
    st.sampled_from([None, *ODD]),
)
@example("parquet", [(475, 1, b"\0")], None)  # the name of a column in its chunk alone
def test_any_damage_is_a_sentence(form: str, damage: list[tuple[int, int, bytes]], value: object) -> None:
    """Whatever bytes of a log are changed, and whatever stands in a field, it is imported, or refused in a sentence."""
    rows = changed(1, **{"verdict": value, "label": value}) if form != "parquet" and value is not None else ROWS
    written = bytearray(content_of(rows, form))
    for at, removed, added in damage:
        written[at : at + removed] = added
    with TemporaryDirectory() as made:
        log = Path(made) / f"log.{form}"
        log.write_bytes(written)
        try:
            done = import_log(ImportRequest((log,), judge="mine", dataset="own", into=Path(made) / "cassettes"))
        except JudgeFixturesError as error:
            assert str(error)  # noqa: PT017
            assert [path.name for path in Path(made).iterdir()] == [log.name], "something was written"
        else:
            assert done.imported.answers


# --- values -----------------------------------------------------------------------------------------------------

FORMULAS = ("=1+1", '=HYPERLINK("http://127.0.0.1/";"e1")', "@SUM(A1:A9)", "+cmd|' /C calc'!A0", "-cmd|x!A0", "#REF!")


@pytest.mark.parametrize("value", FORMULAS)
@pytest.mark.parametrize("column", ["id", "verdict", "label"])
@pytest.mark.parametrize(("name", "write"), [("log.csv", table), ("log.jsonl", lines)])
def test_formulas_in_place_of_values(
    refused: Refused, column: str, value: str, name: str, write: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A formula where an id, a grade or a label should be says that the file was saved with formulas."""
    said = refused(name, write(changed(1, **{column: value})))
    assert said.startswith(f"{name}:{3 if name == 'log.csv' else 2}: {column} is ")
    assert lines_about(said, "a formula") == snapshot


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize("column", ["id", "verdict", "label"])
def test_numbers_that_are_none(refused: Refused, column: str, value: str, snapshot: SnapshotAssertion) -> None:
    """What Python writes for a number that is none is no id, no grade and no label, in JSON as in CSV."""
    said = refused("log.jsonl", lines(changed(1, **{column: "?"})).replace('"?"', value))
    assert said.startswith(f"log.jsonl:2: {column} is ")
    assert lines_about(said, "valid number") == snapshot
    if value != "1e999":
        assert lines_about(refused("log.csv", table(changed(1, **{column: value}))), "valid number") == snapshot


def test_ids_that_disagree(refused: Refused, snapshot: SnapshotAssertion) -> None:
    """Two grades of one example are told with both rows."""
    said = refused("log.csv", table([*ROWS, {**ROWS[1], "verdict": "fail"}]))
    assert lines_about(said, "'e1'") == snapshot
    assert "log.csv:3 already has" in said


@pytest.mark.parametrize(("one", "other"), [("e1", "E1"), ("caf\u00e9", "cafe\u0301"), ("\uff45\uff11", "e1")])
def test_ids_that_a_spreadsheet_joined(refused: Refused, one: str, other: str, snapshot: SnapshotAssertion) -> None:
    """Ids that differ in case or in Unicode's form alone, with the same texts, are one example that would count twice."""
    texts = {"question": "Why?", "response": "So.", "verdict": "pass"}
    said = refused("log.csv", table([{"id": one, **texts}, {"id": other, **texts}]))
    assert lines_about(said, "capital letters") == snapshot
    assert "(log.csv:2, log.csv:3)" in said


# --- what may stand in a text -----------------------------------------------------------------------------------


@pytest.fixture
def taken(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[Any]]:
    """Import a file, and return the rows that were written: the answers, and the examples by their ids."""

    def rows(name: str, content: str | bytes) -> list[Any]:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code = main(["import", name, "--judge", "mine"])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        assert out.replace("\n", "").isprintable()
        (written,) = folder.glob("cassettes/mine/*/imported.jsonl")
        assert {path.name for path in folder.iterdir()} == {name, "cassettes"}
        return [json.loads(line) for line in written.read_text("utf-8").splitlines()[1:]]

    return rows


def test_ids_and_texts_are_what_they_are(taken: Callable[..., list[Any]]) -> None:
    """A path, an escape of a terminal and a formula within a text are letters: they lead nowhere, and nothing obeys."""
    odd = ["../../x", "/etc/passwd", "\x1b[2Jgone", "e1", "E1", "-7", "+49 30", "a=b", "::error::x"]
    rows = [
        {
            "id": each,
            "question": f"=1+1 {n}",
            "response": '=HYPERLINK("x")\x1b[31m',
            "verdict": "pass",
            "reason": "@SUM(A1) \x1b]0;title\x07",
        }
        for n, each in enumerate(odd)
    ]
    written = taken("log.jsonl", lines(rows))
    assert {row["pair"] for row in written} == {*odd}
    assert {row["reason"] for row in written} == {rows[0]["reason"]}


def test_an_escape_in_a_mistake_is_not_printed(refused: Refused) -> None:
    """What an error quotes of a log commands no terminal, and no CI service."""
    for value in ("\x1b[2J\x1b]0;x\x07", "::error::x"):
        refused("log.jsonl", lines([{**ROWS[0], "id": value, "verdict": value}]))


def test_a_large_cell_is_read(taken: Callable[..., list[Any]]) -> None:
    """A response of 10 MB is a response."""
    written = taken("log.csv", table(changed(1, response="word " * 2_000_000)))
    assert len(written) == 4


@pytest.mark.parametrize(("name", "write"), [("log.csv", table), ("log.jsonl", lines)])
def test_a_cell_that_is_too_large_is_told(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, name: str, write: Callable[..., str]
) -> None:
    """A cell beyond the limit is told with its row."""
    from judgefixtures.sources import csv_files

    for module in (encodings, csv_files):
        monkeypatch.setattr(module, "LARGEST_CELL", 1000)
    monkeypatch.setattr(encodings.numbered_lines, "__defaults__", ("", "\n", 1000))
    limit = csv.field_size_limit()
    said = refused(name, write(changed(1, response="x" * 2000)))
    assert said.startswith(f"{name}:{3 if name == 'log.csv' else 2}: ")
    assert "longer than 1,000 characters" in said
    assert csv.field_size_limit() == limit, "the limit is all of the process's"


# --- files and names ----------------------------------------------------------------------------------------------


def test_what_is_no_file(refused: Refused, folder: Path, snapshot: SnapshotAssertion) -> None:
    """A folder, a device, a pipe that nobody writes to and a link to itself are refused at once."""
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    assert "folder.csv is a folder" in refused("folder.csv")
    assert lines_about(refused("pipe.jsonl"), "pipe.jsonl is") == snapshot
    assert lines_about(refused("/dev/null"), "/dev/null is") == snapshot
    assert lines_about(refused("loop.jsonl"), "loop.jsonl does") == snapshot
    assert "none.csv does not exist" in refused("none.csv")
    assert lines_about(refused("log.jsonl", lines(ROWS), "--pairs", "pipe.jsonl"), "pipe.jsonl is") == snapshot


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EIO])
def test_a_file_that_may_not_be_read_is_there(
    refused: Refused, folder: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a path that leads to no file is said not to exist."""

    def fails(path: Path) -> NoReturn:
        raise OSError(number, os.strerror(number), str(path))

    (folder / "log.csv").write_text("id\n")
    monkeypatch.setattr("judgefixtures.importers.log_files.open_regular", fails)
    assert f"log.csv cannot be read ({os.strerror(number)}): import a log" in refused("log.csv")


@pytest.mark.parametrize("name", ["../x", "a/b", ".", "..", "/tmp/x", "x\ny", "\x1b[2J", ""])
def test_names_lead_nowhere(refused: Refused, name: str) -> None:
    """A judge or a dataset is no path."""
    assert "--judge " in refused("log.jsonl", lines(ROWS), judge=name)
    if name:
        assert "--dataset " in refused("log.jsonl", lines(ROWS), "--dataset", name)


def test_a_name_of_two_lines(folder: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """A file whose name has a line end adds no line to what is printed."""
    (folder / "a\nwritten: nowhere.jsonl").write_text(lines(ROWS))
    assert main(["import", "a\nwritten: nowhere.jsonl", "--judge", "mine"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len([line for line in said if line.startswith("written: ")]) == 1
    assert lines_about(said[0], "written: nowhere.jsonl") == snapshot


# --- Parquet ------------------------------------------------------------------------------------------------------


def parquet(path: Path, columns: Mapping[str, Any]) -> bytes:
    """Return a Parquet file of columns."""
    import pyarrow as pa
    from pyarrow import parquet as written

    written.write_table(pa.table(dict(columns)), path)
    return path.read_bytes()


def test_parquet_that_is_damaged(
    refused: Refused, tmp_path_factory: pytest.TempPathFactory, snapshot: SnapshotAssertion
) -> None:
    """A file that is cut off, or is none, is a sentence."""
    whole = parquet(tmp_path_factory.mktemp("made") / "x", {key: [row[key] for row in ROWS] for key in ROWS[0]})
    for content in (b"", b"PAR1", whole[:-20], whole[: len(whole) // 2], whole[:100] + b"\xff" * 100 + whole[200:]):
        assert lines_about(refused("log.parquet", content), "log.parquet cannot") == snapshot


def test_parquet_of_many_types(taken: Callable[..., list[Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Lists, structs, dates, decimals, bytes and dictionaries are read as what they say."""
    import datetime
    import decimal

    import pyarrow as pa

    columns = {
        "id": pa.array([1, 2]),
        "question": pa.array(["Why?", "Where?"]).dictionary_encode(),
        "response": pa.array(["So.", "There."], pa.large_string()),
        "verdict": pa.array([decimal.Decimal("1.00"), decimal.Decimal(0)]),
        "label": pa.array([True, None]),
        "on": pa.array([datetime.date(2026, 1, 2), None]),
        "at": pa.array([datetime.datetime(2026, 1, 2), None], pa.timestamp("ns")),
        "steps": pa.array([[{"role": "user"}], None]),
        "blob": pa.array([b"\xff", None]),
    }
    written = taken("log.parquet", parquet(tmp_path_factory.mktemp("made") / "x", columns))
    assert [(row["pair"], row["passed"]) for row in written] == [("1", True), ("2", False)]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parquet_with_numbers_that_are_none(
    refused: Refused, tmp_path_factory: pytest.TempPathFactory, value: float
) -> None:
    """A grade that is no number is told with its row."""
    columns = {"id": ["a", "b"], "question": ["q", "r"], "response": ["s", "t"], "verdict": [1.0, value]}
    said = refused("log.parquet", parquet(tmp_path_factory.mktemp("made") / "x", columns))
    assert said.startswith(f"log.parquet: row 2: verdict is {value}")


def test_a_date_is_no_id(refused: Refused, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A grade that is a date, a list or bytes is told."""
    import datetime

    texts = {"id": ["a"], "question": ["q"], "response": ["s"]}
    made = tmp_path_factory.mktemp("made") / "x"
    assert "verdict is ['pass']" in refused("log.parquet", parquet(made, {**texts, "verdict": [["pass"]]}))
    said = refused("log.parquet", parquet(made, {**texts, "verdict": [datetime.date(2026, 1, 2)]}))
    assert "verdict is '2026-01-02'" in said
