"""Ids that programs wrote as numbers with a point: 1.0 is 1 wherever ids are compared, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from judgefixtures.cli.main import main
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.errors import JudgeFixturesError

EXAMPLES = [("1", "So."), ("2", "No."), ("3", "Well.")]
WHOLE: dict[str, Any] = {"int": int, "float": float, "text": str, "text-with-point": lambda name: f"{name}.0"}


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the format that the name says."""
    if file.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    elif file.suffix == ".json":
        file.write_text(json.dumps(rows))
    elif file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        separator = "\t" if file.suffix == ".tsv" else ","
        lines = [separator.join(rows[0]), *(separator.join(map(str, row.values())) for row in rows)]
        file.write_text("\n".join(lines) + "\n")
    return file


def examples(spell: Any) -> list[dict[str, Any]]:
    """Return rows of examples with ids that were spelled by a program."""
    return [{"id": spell(name), "question": "Why?", "response": text} for name, text in EXAMPLES]


FORMS = ["csv", "tsv", "json", "jsonl", "parquet"]


@pytest.mark.parametrize("spelled", WHOLE)
@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize("labelled", WHOLE)
def test_labels_are_found_however_a_program_wrote_the_ids(
    suffix: str, spelled: str, labelled: str, tmp_path: Path
) -> None:
    """Labels beside a dataset of any format count, whether either has 1, 1.0, "1" or "1.0"."""
    file = written(tmp_path / f"own.{suffix}", examples(WHOLE[spelled]))
    digests = {pair.response_1: pair.digest for pair in load_pairs(Source("own", file), 0)}
    lines = [
        {"id": WHOLE[labelled](name), "digest": digests[text], "label": "pass", "comment": "", "on": ""}
        for name, text in EXAMPLES
    ]
    written(tmp_path / "own.labels.anna.jsonl", lines)
    pairs = load_pairs(Source("own", file, labels_from="beside"), 0)
    assert [pair.labels for pair in pairs] == [{"anna": "pass"}] * 3


@pytest.mark.parametrize("spelled", WHOLE)
@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize("logged", [*WHOLE])
def test_logs_are_matched_however_a_program_wrote_the_ids(
    suffix: str,
    spelled: str,
    logged: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rows of a log in any format are about the examples of a file, whichever of the spellings either has."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "own.csv", examples(WHOLE[spelled]))
    log = written(
        tmp_path / f"log.{suffix}",
        [{"id": WHOLE[logged](name), "passed": "true", "reason": "It is clear."} for name, _ in EXAMPLES],
    )
    code = main(["import", str(log), "--judge", "j", "--pairs", "own.csv", "--columns", "pair=id"])
    assert code == 0, capsys.readouterr().err
    assert len(Path("cassettes/j/own/imported.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("before", WHOLE)
@pytest.mark.parametrize("after", WHOLE)
def test_imported_answers_stay_when_a_program_writes_the_dataset_again(
    before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that were imported about ids of one spelling answer the same examples with ids of another."""
    from judgefixtures.config import judge_table
    from judgefixtures.importers.imported_answers import Imports
    from judgefixtures.models.contrasts import NO_CUE

    monkeypatch.chdir(tmp_path)
    file = written(tmp_path / "own.jsonl", examples(WHOLE[before]))
    log = written(tmp_path / "log.jsonl", [{"id": name, "passed": True, "reason": "So."} for name, _ in EXAMPLES])
    assert main(["import", str(log), "--judge", "j", "--pairs", "own.jsonl", "--columns", "pair=id"]) == 0
    written(file, examples(WHOLE[after]))
    pairs = load_pairs(Source("own", file), 0)
    found = Imports(tmp_path / "cassettes").of("j", "own").found(pairs, (NO_CUE, 0))
    assert found.keys() == {pair.id for pair in pairs}
    assert judge_table


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("name", [0.5, 1e300, float(2**60), True, float("nan"), float("inf")])
def test_no_other_number_is_an_id(suffix: str, name: Any, tmp_path: Path) -> None:
    """A fraction, a truth value, no number, or one that a float cannot tell from its neighbour is an error."""
    rows = [{"id": name, "question": "Why?", "response": "So."}]
    with pytest.raises(JudgeFixturesError):
        load_pairs(Source("own", written(tmp_path / f"own.{suffix}", rows)), 0)


def test_ids_that_only_look_alike_are_others(tmp_path: Path) -> None:
    """01, 1.10, 1.1, v1.0 and 1 stay five ids, and each has its own label."""
    names = ["01", "1.10", "1.1", "v1.0", "1", "1.0.0", "1e0"]
    rows = [{"id": name, "question": "Why?", "response": f"So {name}."} for name in names]
    file = written(tmp_path / "own.csv", rows)
    pairs = load_pairs(Source("own", file), 0)
    assert {pair.id for pair in pairs} == {*names}
    lines = [{"id": pair.id, "digest": pair.digest, "label": "pass", "comment": ""} for pair in pairs if pair.id != "1"]
    written(tmp_path / "own.labels.anna.jsonl", lines)
    unlabelled = [pair.id for pair in load_pairs(Source("own", file, labels_from="beside"), 0) if not pair.labels]
    assert unlabelled == ["1"]


def test_one_id_in_two_spellings_is_used_twice(tmp_path: Path) -> None:
    """A file in which 1 and 1.0 stand has the same id twice."""
    rows = [{"id": name, "question": "Why?", "response": f"So {name}."} for name in ("1", "1.0")]
    with pytest.raises(JudgeFixturesError, match="also in"):
        load_pairs(Source("own", written(tmp_path / "own.csv", rows)), 0)


def test_an_id_is_shown_as_the_dataset_has_it(tmp_path: Path) -> None:
    """Recordings stay good: what a table of texts calls 1.0 keeps that name, and so its place in the order."""
    pairs = load_pairs(Source("own", written(tmp_path / "own.csv", examples(WHOLE["text-with-point"]))), 0)
    assert {pair.id for pair in pairs} == {"1.0", "2.0", "3.0"}
