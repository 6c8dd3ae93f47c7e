"""Plain logs: a row per answer as CSV, TSV, Parquet, JSON lines or JSON, which all say the same."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.importing import bare
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes import snapshot
from judgefixtures.cli.main import main
from judgefixtures.importers import ImportRequest, import_log
from judgefixtures.util import secrets

pytest_plugins = ["pytester"]

Rows = list[dict[str, Any]]
Imported = Callable[..., Rows]
FORMATS = ("csv", "tsv", "parquet", "jsonl", "json")


def cells(value: Any) -> str:
    """Return a value as a table of texts has it."""
    return "" if value is None else str(value)


def table(rows: Iterable[Mapping[str, Any]], separator: str = ",", **options: Any) -> str:
    """Return rows as CSV."""
    rows, text = list(rows), io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator, **options)
    writer.writeheader()
    writer.writerows({key: cells(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def content(rows: Rows, form: str) -> bytes:
    """Return rows as a file of a format; Parquet has texts, as its columns have one type each."""
    if form == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        sink = io.BytesIO()
        columns = {key: [None if row[key] is None else str(row[key]) for row in rows] for key in rows[0]}
        parquet.write_table(pa.table({key: pa.array(values, pa.string()) for key, values in columns.items()}), sink)
        return sink.getvalue()
    texts = {
        "csv": lambda: table(rows),
        "tsv": lambda: table(rows, "\t"),
        "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in rows),
        "json": lambda: json.dumps(rows, indent=1),
    }
    return texts[form]().encode()


def imported(folder: Path, name: str, what: bytes | str, **request: Any) -> tuple[bytes, bytes]:
    """Import a file, and return the answers without the name of their log, and the examples, byte by byte."""
    folder.mkdir(exist_ok=True)
    log = folder / name
    log.write_bytes(what if isinstance(what, bytes) else what.encode())
    done = import_log(ImportRequest((log,), judge="mine", dataset="own", into=folder / "cassettes", **request))
    answers = (done.folder / "imported.jsonl").read_bytes().partition(b"\n")[2]
    return answers, (done.folder / "pairs.jsonl").read_bytes()


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Imported:
    """Import a file, and return the rows of its answers."""
    monkeypatch.chdir(tmp_path)

    def rows(name: str, what: bytes | str, **request: Any) -> Rows:
        return [json.loads(line) for line in imported(tmp_path, name, what, **request)[0].splitlines()]

    return rows


TEXTS = {"question": "Why?", "response": "So."}


def of(*verdicts: Any, **more: Any) -> Rows:
    """Return a row for each verdict."""
    return [{"id": f"e{n}", **TEXTS, "verdict": verdict, **more} for n, verdict in enumerate(verdicts)]


def passed(rows: Rows) -> list[bool | None]:
    """Return what was read of each row."""
    return [row["passed"] for row in rows]


# --- one table, five files ------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip())
)
row = st.fixed_dictionaries(
    {
        "question": texts,
        "response": texts,
        "verdict": st.sampled_from(["pass", "Fail", "yes", True, False, 1, 0, 1.0, 0.0, None]),
        "label": st.sampled_from(["pass", "no", "correct", True, False, 1, 0, 1.0, None]),
        "reason": st.none() | texts,
        "category": st.none() | st.sampled_from(["a", "b; c", 'd "e"']),
        "cost": st.none() | st.floats(0, 1) | st.just("1,5"),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(row, min_size=1, max_size=6), st.lists(texts, min_size=6, max_size=6))
def test_a_table_is_the_same_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, names: list[str]
) -> None:
    """A table written as CSV, TSV, Parquet, JSON lines and JSON imports to the same bytes, whatever its texts are."""
    rows = [{"id": f"e{n}{names[n]}", **each} for n, each in enumerate(rows)]
    rows[0]["verdict"] = "pass"
    folder = tmp_path_factory.mktemp("made")
    found = {form: imported(folder / form, f"log.{form}", content(rows, form)) for form in FORMATS}
    shutil.rmtree(folder)
    assert len({*found.values()}) == 1, found
    assert found["csv"][0].count(b"\n") == found["csv"][1].count(b"\n") == len(rows)


@pytest.mark.parametrize("form", FORMATS)
def test_pairs_are_the_same_in_every_format(tmp_path: Path, form: str) -> None:
    """Choices between two responses are read in every format, with their orders, gold and repeats, with a point too."""
    shown = {"question": "Why?", "response_1": "So.", "response_2": "No.", "gold": 1.0}
    rows = [
        {"id": 7, **shown, "order": order, "repeat": float(repeat), "selected_response": selected}
        for repeat, (order, selected) in enumerate([("1-2", 1.0), ("2-1", "B"), ("12", "tie"), (False, None)])
    ]
    if form == "parquet":  # whose numbers are numbers
        import pyarrow as pa
        from pyarrow import parquet

        sink = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist([{**each, **as_texts(each)} for each in rows]), sink)
        found = imported(tmp_path, "log.parquet", sink.getvalue())
    else:
        found = imported(tmp_path, f"log.{form}", content(rows, form))
    read = [json.loads(line) for line in found[0].splitlines()]
    assert {(each["repeat"], each["selected_response"]) for each in read} == {(0, 1), (1, 2), (2, "tie"), (3, None)}
    assert json.loads(found[1])["gold"] == 1


def as_texts(fields: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the columns whose values are of several types as texts."""
    return {key: None if fields[key] is None else str(fields[key]) for key in ("order", "selected_response")}


# --- what a cell says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        *(("true", True), ("FALSE", False), ("1", True), ("0", False), ("1.0", True), ("0.0", False), ("Pass ", True)),
        *(("", None), ("NA", None), ("n/a", None), ("partial", None)),
    ],
)
def test_words_of_a_cell(answers: Imported, cell: str, read: bool | None) -> None:
    """A cell is a grader's word; an empty one says nothing, and a word that is no grade is an invalid one, not null."""
    found = answers("log.csv", table(of("pass", cell)))
    assert passed(found) == [True, read]
    assert found[1].get("invalid") == (None if read is not None or not cell else "not-a-choice")


@pytest.mark.parametrize(("cell", "label"), [("1.0", "pass"), ("0", "fail"), ("TRUE", "pass"), ("", None)])
def test_labels_of_a_cell(answers: Imported, tmp_path: Path, cell: str, label: str | None) -> None:
    """A label is read as a grade is; an empty cell is not labelled."""
    answers("log.csv", table(of("pass", label=cell)))
    (pairs,) = tmp_path.glob("cassettes/mine/own/pairs.jsonl")
    assert json.loads(pairs.read_text()).get("label") == label


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("written", [1, 1.0, "1", "1.0"])
@pytest.mark.parametrize("asked", ["1", "1.0"])
def test_where_is_a_number_in_every_format(tmp_path: Path, form: str, written: Any, asked: str) -> None:
    """--where reading=1 is the 1 of JSON, the 1.0 of a column with gaps, and the text of a cell."""
    rows = [*of("pass", reading=written), *({**each, "id": "other"} for each in of("fail", reading="2"))]
    found, _ = imported(tmp_path, f"log.{form}", content(rows, form), where={"reading": asked})
    assert passed([json.loads(line) for line in found.splitlines()]) == [True]


@pytest.mark.parametrize("written", [True, "true", "True", "TRUE"])
def test_where_is_a_truth_value_in_every_format(answers: Imported, written: Any) -> None:
    """--where ok=true is the true of JSON, and the True and TRUE of Python's and of Excel's cells."""
    rows = [*of("pass", ok=written), *({**each, "id": "other"} for each in of("fail", ok=False))]
    for form in ("csv", "jsonl"):
        assert passed(answers(f"log.{form}", content(rows, form), where={"ok": "true"})) == [True]


# --- what spreadsheets write ------------------------------------------------------------------------------------------

PLAIN = table(of("pass", "fail", reason='a; b, "c"\nd'))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("log.csv", PLAIN.encode("utf-8-sig")),
        ("log.csv", PLAIN.encode("utf-16")),
        ("log.csv", PLAIN.replace("\r\n", "\n").encode()),
        ("log.csv", PLAIN.replace("\r\n", "\r").encode()),
        ("log.csv", table(of("pass", "fail", reason='a; b, "c"\nd'), ";").encode()),
        ("log.csv", table(of("pass", "fail", reason='a; b, "c"\nd'), "\t").encode()),
        ("log.tsv", table(of("pass", "fail", reason='a; b, "c"\nd'), "\t").encode("utf-16")),
        ("log.csv", ("sep=;\r\n" + table(of("pass", "fail", reason='a; b, "c"\nd'), ";")).encode("utf-8-sig")),
        ("log.csv", ("sep=|\n" + table(of("pass", "fail", reason='a; b, "c"\nd'), "|")).encode()),
        ("log.csv", (PLAIN + ",,,,\r\n\r\n,,,,\r\n").encode()),
        ("log.CSV", table(of("pass", "fail", reason='a; b, "c"\nd'), quoting=csv.QUOTE_ALL).encode()),
        ("log.jsonl", content(of("pass", "fail", reason='a; b, "c"\nd'), "jsonl").decode().encode("utf-16")),
        ("log.ndjson", b"\xef\xbb\xbf" + content(of("pass", "fail", reason='a; b, "c"\nd'), "jsonl")),
    ],
    ids=range(13),
)
def test_tables_of_spreadsheets(answers: Imported, name: str, written: bytes) -> None:
    """Other separators and line ends, a mark of the encoding, UTF-16 and rows without anything are read."""
    found = answers(name, written)
    assert passed(found) == [True, False]
    assert {each["reason"] for each in found} == {'a; b, "c"\nd'}


def test_columns_without_a_name(answers: Imported) -> None:
    """The index that pandas writes, and empty columns at the end, are columns like others."""
    rows = [{"": n, **each, " ": ""} for n, each in enumerate(of("pass", "fail"))]
    assert passed(answers("log.csv", table(rows).replace(" \r\n", "\r\n", 1))) == [True, False]


def test_lines_are_those_of_the_file(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A row is named by the line at which it begins, whatever lines are in the cells before it."""
    rows = [*of("pass", "fail", reason="one\ntwo\nthree"), *of("fail", reason="x")]
    with pytest.raises(Exception) as error:
        imported(tmp_path, "log.csv", table(rows))
    assert str(error.value) == snapshot


def test_a_dataset_is_named_after_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --dataset and --pairs the dataset has the name of the log."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my log.csv").write_text(table(of("pass")))
    assert main(["import", "my log.csv", "--judge", "mine"]) == 0
    assert (tmp_path / "cassettes/mine/my-log/imported.jsonl").is_file()


def test_importing_again_writes_no_byte(answers: Imported, tmp_path: Path) -> None:
    """The pairs are written where they change, and else stay the file that they are; a shorter file is replaced."""
    answers("log.csv", PLAIN)
    file = tmp_path / "cassettes/mine/own/pairs.jsonl"
    before, node = file.read_bytes(), file.stat().st_ino
    answers("log.csv", PLAIN)
    assert file.stat().st_ino == node
    for damaged in (before + b"\n", before[:-1], b"", before.replace(b"Why", b"Who")):
        file.write_bytes(damaged)
        answers("log.csv", PLAIN)
        assert file.read_bytes() == before


def test_frozen_pairs_are_read_anew_where_they_changed(answers: Imported, tmp_path: Path) -> None:
    """The pairs beside an import are read once, as long as they are the same, and nobody changes what others were given."""
    answers("log.csv", PLAIN)
    folder = tmp_path / "cassettes/mine/own"
    before = snapshot.read_snapshot_pairs(folder)
    taken = before.pop("e0")
    assert snapshot.read_snapshot_pairs(folder)["e0"] is taken
    answers("log.csv", PLAIN.replace("Why?", "How?"))
    assert {pair.question for pair in snapshot.read_snapshot_pairs(folder).values()} == {"How?"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["sk-Ab3dEf9hIj", "k", " ", "Ab3dEf9h", "Ab3dEf9hIj!x", "word words", "é", "..."])))
def test_secrets_are_found_wherever_they_stand(parts: list[str]) -> None:
    """A known key is found at every place of a text: looking at fewer places finds no fewer keys."""
    known = secrets.SecretStore()
    known.know({"sk-Ab3dEf9hIj": True}, lasting=True)
    text = "".join(parts)
    assert "Ab3dEf9h" not in known.redacted(text)
    assert ("scrubbed" in known.redacted(text)) == ("Ab3dEf9h" in text or "scrubbed" in text)


# --- to a report ----------------------------------------------------------------------------------------------------


def label_of(n: int) -> str:
    """Return what people say of an example."""
    return "pass" if n % 9 < 5 else "fail"


def readings(n: int) -> Rows:
    """Return three readings of examples, of which the second and the third each pass one that people fail."""
    others = {(2, 5), (3, 14)}
    return [
        {
            "id": f"e{each:03}",
            "reading": reading,
            "cue": "expert" if each % 2 else "llm",
            "verdict": "pass" if (reading, each) in others else label_of(each),
            "confidence": 90 + each % 9,
            "reason": f'It names {each} points, one of them "late";\nthe rest is there.',
        }
        for reading in (1, 2, 3)
        for each in range(n)
    ]


@pytest.mark.parametrize(("reading", "right", "kappa"), [(1, 80, 1.0), (2, 79, 0.975), (3, 79, 0.975)])
def test_three_readings_of_one_table(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], reading: int, right: int, kappa: float
) -> None:
    """240 readings by three judges in one CSV become three judges, and what is printed is all that a report takes."""
    project = bare(pytester)
    examples = [
        {"id": f"e{n:03}", "question": f"Why {n}?", "response": f"So, {n}.", "label": label_of(n), "notes": "x"}
        for n in range(160)
    ]
    project.write_pairs(examples, "examples.jsonl")
    project.write("readings.csv", table(readings(80)))
    where = ("--pairs", "examples.jsonl", "--where", f"reading={reading}")
    assert main(["import", "readings.csv", "--judge", f"r{reading}", *where]) == 0
    said = capsys.readouterr().out
    assert "80 answers about 80 examples, from readings.csv" in said
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    chosen = ("--judge", f"r{reading}", "--judge-dataset", "examples", "--judge-report", "report")
    ran = project.run("-k", "agreement", *chosen)
    ran.assert_outcomes(passed=1)
    (found,) = ran.report["agreement"]
    assert (found["n"], found["tp"] + found["tn"], round(found["kappa"]["value"], 3)) == (80, right, kappa)
