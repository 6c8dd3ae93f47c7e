"""Small files that unpack to gigabytes are refused at a limit that the error names; so are scores off their scale."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers.formats.cell_values import parse_json_cell
from judgefixtures.importers.formats.chat_text import question_text
from judgefixtures.sources import Source, load_pairs
from judgefixtures.sources.human_labels import row_labels
from judgefixtures.sources.preference_votes import row_votes
from judgefixtures.sources.row_readers import DataRow
from judgefixtures.sources.size_limits import limited
from judgefixtures.util.errors import JudgeFixturesError

ROW = {"id": "a", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
EXAMPLE = {"question": "Why?", "response": "So.", "reason": "Clear."}
MB = 2**20
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
from judgefixtures.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(name: str, *options: str) -> str:
    """Return the error of an import, in a process that cannot have more than 3 GB."""
    command = [sys.executable, "-c", LIMITED, "import", name, "--judge", "mine", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stdout + done.stderr[-500:]
    return done.stdout + done.stderr


def write_eval(sample: bytes, method: int) -> None:
    with zipfile.ZipFile("log.eval", "w", method) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        archive.writestr("samples/s1_epoch_1.json", sample)


@pytest.mark.whole
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_a_packed_member_is_limited(method: int, snapshot: SnapshotAssertion) -> None:
    """A member is given up at the limit for one row, however it is packed, and a raised limit is obeyed."""
    write_eval(b'{"id": "' + b"x" * (200 * MB) + b'"}', method)
    said = refused("log.eval")
    assert lines_about(said, "zip bomb") == snapshot
    assert "--max-row-mb 256" in said
    assert lines_about(refused("log.eval", "--max-row-mb", "3"), "zip bomb") == snapshot
    assert lines_about(refused("log.eval", "--max-file-mb", "2"), "earlier members") == snapshot


@pytest.mark.whole
@pytest.mark.parametrize("name", ["log.eval", "log.json", "log.jsonl"])
def test_json_of_many_values_is_limited(name: str) -> None:
    """JSON of empty lists takes twenty times its size in memory: values count, too."""
    text = b'{"id": [' + b"[]," * (20 * MB) + b"0]}"
    if name == "log.eval":
        write_eval(text, zipfile.ZIP_DEFLATED)
    else:
        Path(name).write_bytes(text if name == "log.json" else text[: 9 * MB - 1] + b"0]}\n")
    said = refused(name)
    assert "JSON values" in said
    assert "--max-file-mb" in said if name == "log.json" else "--max-row-mb" in said


@pytest.mark.parametrize("column", ["labels", "votes", "input", "question"])
def test_json_in_a_cell_is_limited(column: str) -> None:
    """The values of JSON in the text of a cell count as those of a row do, before they are read."""
    text = "[" + "[]," * (MB // 16) + "0]"
    row, source = DataRow({column: text}, "log.csv:2", "line 2", textual=True), Source("own", Path("log.csv"))
    read: dict[str, Callable[[], Any]] = {
        "labels": lambda: row_labels(row, source),
        "votes": lambda: row_votes(row, source),
        "input": lambda: parse_json_cell(text),
        "question": lambda: question_text(text),
    }
    where = "log.csv:2" if column in ("labels", "votes") else r"a cell that begins with '\[\[\],\[\],"
    with limited(1, None), pytest.raises(JudgeFixturesError, match=rf"{where}.* holds 131,073 JSON values\. .* 1 MB"):
        read[column]()


@pytest.mark.whole
@pytest.mark.parametrize("name", ["log.jsonl", "log.csv", "log.json"])
def test_one_long_line_is_limited(name: str, snapshot: SnapshotAssertion) -> None:
    """A line of a gigabyte is not read to its end."""
    with Path(name).open("wb") as file:
        file.write(b'id\n"' if name == "log.csv" else b'{"id": "')
        for _ in range(700):
            file.write(b"x" * MB)
        file.write(b'"\n' if name == "log.csv" else b'"}\n')
    said = refused(name)
    assert lines_about(said, "The limit") == snapshot
    assert ("--max-row-mb 64" if name == "log.jsonl" else "--max-file-mb 1024") in said


BIG = "x" * (4 * MB)
TABLES: dict[str, Callable[[], pa.Table]] = {
    "text": lambda: pa.table({"t": pa.array([BIG]).take(pa.array([0] * 400))}),
    "list": lambda: pa.table({"t": pa.array([[BIG] * 7] * 40)}),
    "struct": lambda: pa.table({"t": pa.array([{"a": {"b": BIG}}] * 300)}),
    "map": lambda: pa.table({"t": pa.array([[("k", BIG)]] * 300, pa.map_(pa.string(), pa.string()))}),
    "rows": lambda: pa.table({"t": pa.array([0] * 9_000_000, pa.int8())}),
}


@pytest.mark.whole
@pytest.mark.parametrize("kind", TABLES)
def test_a_parquet_file_is_limited(kind: str, snapshot: SnapshotAssertion) -> None:
    """Texts that repeat, in lists and structs as well, and numbers that do, are counted before they are unpacked."""
    parquet.write_table(TABLES[kind](), "log.parquet", compression="zstd")
    assert Path("log.parquet").stat().st_size < MB
    said = refused("log.parquet")
    assert lines_about(said, "file, unpacked") == snapshot
    assert "--max-file-mb 2048" in said
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(JudgeFixturesError) as error:
        load_pairs(Source("mine", Path("log.parquet").absolute()))
    assert str(error.value) == snapshot
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_500_000


def test_the_size_of_a_row_of_maps_is_its_own(tmp_path: Path) -> None:
    """A row of maps is as large as its own entries, not as those of all rows around it."""
    from judgefixtures.sources.parquet import parquet_rows

    maps = pa.array([[("k", BIG)]] * 20, pa.map_(pa.string(), pa.string()))
    parquet.write_table(pa.table({"t": maps}), tmp_path / "log.parquet", compression="zstd")
    assert [len(row["t"][0][1]) for row in parquet_rows(tmp_path / "log.parquet")] == [len(BIG)] * 20


def test_one_row_of_parquet_is_limited(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """A row that is too large is named, and read with a larger limit."""
    parquet.write_table(pa.table({name: [value] for name, value in ROW.items()} | {"t": [[BIG] * 9]}), "log.parquet")
    assert main(["import", "log.parquet", "--judge", "mine"]) == 2
    said = "".join(capsys.readouterr())
    assert lines_about(said, "log.parquet: row") == snapshot
    assert "--max-row-mb 64" in said
    assert main(["import", "log.parquet", "--judge", "mine", "--max-row-mb", "64"]) == 0


@pytest.mark.parametrize("option", ["--max-row-mb", "--max-file-mb"])
@pytest.mark.parametrize("size", ["0", "-5", "1.5", "1000001", "999999999999999", "nan", "many"])
def test_a_limit_is_a_whole_number_of_megabytes(
    option: str, size: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A limit below 1 MB, or above 1,000,000 MB, is refused by its option; these two themselves are taken."""
    Path("log.csv").write_text("id,question,response_1,response_2,selected_response\na,Why?,So.,No.,1\n")
    with pytest.raises(SystemExit, match="2"):
        main(["import", "log.csv", "--judge", "mine", f"{option}={size}"])
    said = capsys.readouterr().err
    assert lines_about(said, "whole number") == snapshot
    for taken in ("1", "1000000"):
        assert main(["import", "log.csv", "--judge", "mine", option, taken]) == 0


def test_what_is_nested_in_parquet_is_read_as_before() -> None:
    """Lists, structs, maps, dictionaries and nulls of texts come out as they went in."""
    from judgefixtures.sources.parquet import parquet_rows

    rows: list[dict[str, Any]] = [
        {"l": ["a", None, "a"], "s": {"a": "x", "b": [1]}, "d": "q", "n": None, "m": [{"role": "u", "text": "é"}]},
        {"l": [], "s": None, "d": None, "n": None, "m": [{"role": "u", "text": None}]},
    ]
    table = pa.Table.from_pylist(rows * 1500)
    table = table.append_column("k", table["d"].combine_chunks().dictionary_encode())
    table = table.append_column("p", pa.array([[("k", "v")]] * 3000, pa.map_(pa.string(), pa.string())))
    parquet.write_table(table, "log.parquet", row_group_size=700)
    found = parquet_rows(Path("log.parquet"))
    assert found == [{**row, "k": row["d"], "p": [["k", "v"]]} for row in rows * 1500]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["log.jsonl", "log.csv", "log.json"])
def test_a_packed_text_is_not_unpacked(
    pack: Callable[[bytes], bytes], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that are packed with gzip, bzip2 or xz are refused by their first bytes."""
    Path(name).write_bytes(pack(bytes(MB)))
    assert main(["import", name, "--judge", "mine"]) == 2
    assert "archive: unpack it" in "".join(capsys.readouterr())


def test_a_small_bzip2_member_is_read() -> None:
    """What zipfile would unpack at once comes out as it went in."""
    from judgefixtures.importers.formats.inspect_archive import read_archive

    sample = {"id": "s1", "input": "é" * 5000}
    write_eval(json.dumps(sample).encode(), zipfile.ZIP_BZIP2)
    assert read_archive(Path("log.eval")).samples[0].fields == sample
    with zipfile.ZipFile(io.BytesIO(Path("log.eval").read_bytes())) as archive:
        assert archive.testzip() is None


# --- scores -----------------------------------------------------------------------------------------------------


def scores_log(*scores: Any, name: str = "scores.jsonl") -> str:
    rows = [{"id": f"n{i:02}", **EXAMPLE, "response": f"Note {i}.", "score": s} for i, s in enumerate(scores)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


NINE = [1, 7, 3, 9, 4, 8, 2, 6, 5, 7, 9]


@pytest.mark.parametrize("bad", [9.2e124, -9.2e124, 1e308, -999, -1, 999, 10**400, "1e999", math.inf, math.nan])
@pytest.mark.parametrize("at", [0, 5, 11])
def test_a_corrupt_score_is_named(bad: Any, at: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a declared scale one score of twelve makes none of its own: the row is named, and nothing is written."""
    scores = [*NINE[:at], bad, *NINE[at:]]
    assert main(["import", scores_log(*scores), "--judge", "mine"]) == 2
    assert f"scores.jsonl:{at + 1}: " in "".join(capsys.readouterr())
    assert not Path("cassettes").exists()


@pytest.mark.parametrize("bad", [11, 0.5, -1, 1e300, 10**400, "1e999"])
@pytest.mark.parametrize("columns", [("score",), ("score_1", "score_2")])
def test_a_score_off_the_declared_scale_is_named(
    bad: Any, columns: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """On a scale that a table declares each score outside of it is an error with its row, of pairs as well."""
    table = '[tool.judgefixtures.judges.mine]\nprovider = "imported"\nmode = "pointwise"\nscale = [1, 10]\n'
    Path("pyproject.toml").write_text(table)
    texts = {"response": "So."} if len(columns) == 1 else {"response_1": "So.", "response_2": "No."}
    rows = [{"id": f"n{i}", "question": f"Why {i}?", **texts, **dict.fromkeys(columns, 5)} for i in range(40)]
    rows[7][columns[-1]] = bad
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", "log.jsonl", "--judge", "mine"]) == 2
    assert "log.jsonl:8: " in "".join(capsys.readouterr())
    rows[7][columns[-1]] = 6
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", "log.jsonl", "--judge", "mine"]) == 0


@pytest.mark.parametrize(
    "scores", [range(12, 900, 75), range(0, 1000, 90), [-2, 3, -1, 2, 0], [0.1, 0.9, 0.5], [2, 5], range(-50, 60, 10)]
)
def test_a_scale_of_its_own_is_imported(scores: Any) -> None:
    """Scores that are spread over a scale of their own are refused nowhere."""
    assert main(["import", scores_log(*scores), "--judge", "mine"]) == 0
