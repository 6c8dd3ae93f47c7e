"""Labels beside a dataset: files of several people, read as their labels of its examples, or refused by file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.labels import data_file, examples
from support.project import in_pyproject, json_lines
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import load_config
from judgefixtures.models.pairs import Example
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.errors import JudgeFixturesError

Said = Callable[..., Path]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file of three examples."""
    return data_file(tmp_path, examples(3))


def digests(data: Path) -> dict[str, str]:
    """Return the digest of each example."""
    return {pair.id: pair.digest for pair in load_pairs(Source("answers", data))}


@pytest.fixture
def say(data: Path) -> Said:
    """Return what writes somebody's file: ids with labels, of the texts as they are unless a digest is given."""
    known = digests(data)

    def written(by: str, *lines: tuple[str, Any], digest: str | None = None, end: str = "") -> Path:
        file = data.with_name(f"answers.labels.{by}.jsonl")
        rows = [{"id": name, "digest": digest or known.get(name, "0" * 16), "label": label} for name, label in lines]
        file.write_text(json_lines(rows) + end, encoding="utf-8")
        return file

    return written


def read(data: Path, **keys: Any) -> dict[str, Example]:
    """Return the examples with the labels beside them, by id."""
    found = load_pairs(Source("answers", data, labels_from="beside", **keys))
    return {pair.id: pair for pair in found if isinstance(pair, Example)}


def refused(data: Path, **keys: Any) -> str:
    """Return what is said of labels that cannot be read."""
    with pytest.raises(JudgeFixturesError) as error:
        read(data, **keys)
    return str(error.value)


def test_each_file_is_one_person(data: Path, say: Said) -> None:
    """The label is what most people say; the last line of an id counts, and skipped is no label."""
    say("anna", ("id-0", "fail"), ("id-1", "pass"), ("id-0", "pass"))
    say("bo", ("id-0", "pass"), ("id-1", "fail"), ("id-2", "fail"), ("id-2", None))
    say("Zoë", ("id-0", "fail"))
    found = read(data)
    assert found["id-0"].labels == {"anna": "pass", "bo": "pass", "Zoë": "fail"}
    assert (found["id-0"].label, found["id-1"].label, found["id-2"].label) == ("pass", None, None)
    assert found["id-2"].labels == {}


def test_labels_are_in_no_digest(data: Path, say: Said) -> None:
    """With labels or without, examples have the digests and the order that they had, and the source its selection."""
    before = load_pairs(Source("answers", data))
    say("anna", ("id-0", "fail"), ("id-1", "pass"))
    after = load_pairs(Source("answers", data, labels_from="beside"))
    assert [(pair.id, pair.digest) for pair in before] == [(pair.id, pair.digest) for pair in after]
    assert Source("answers", data).selection == Source("answers", data, labels_from="beside").selection


def test_nobody_asks_for_them_nobody_reads_them(data: Path, say: Said) -> None:
    """Without `labels_from` a file beside the data is not opened: a damaged one is no error."""
    say("anna", end="{")
    assert all(pair.labels == {} for pair in load_pairs(Source("answers", data)))  # type: ignore[attr-defined]


def test_files_and_columns_together(data: Path, say: Said, snapshot: SnapshotAssertion) -> None:
    """People of a column and of files count alike; one who is in both is an error that names both places."""
    data_file(data.parent, examples(3, labels={"cy": "pass", "di": "pass"}))
    file = say("anna", ("id-0", "fail"))
    assert read(data)["id-0"].labels == {"cy": "pass", "di": "pass", "anna": "fail"}
    assert read(data)["id-0"].label == "pass"
    file.rename(file.with_name("answers.labels.Di.jsonl"))
    assert refused(data) == snapshot
    assert "answers.labels.Di.jsonl:1, but each person" in refused(data)


def test_a_label_that_most_people_contradict_is_an_error(data: Path, say: Said, snapshot: SnapshotAssertion) -> None:
    """A stated label is held against the files as against a column."""
    data_file(data.parent, examples(3, label="pass"))
    say("anna", ("id-1", "fail"))
    assert refused(data) == snapshot


def test_a_label_may_be_one_persons(data: Path, say: Said) -> None:
    """Named among the raters it contradicts nobody: with one other it is a tie, with two the majority counts."""
    labelled = [row | {"label": "pass"} for row in map(json.loads, data.read_text().splitlines())]
    data.write_text(json_lines(labelled))
    for by in ("anna", "bo"):
        say(by, (labelled[1]["id"], "fail"))
    assert 'columns = {labels = ["label"]} in [datasets.answers]' in refused(data)
    found = read(data, raters=("label",))[labelled[1]["id"]]
    assert found.labels == {"label": "pass", "anna": "fail", "bo": "fail"}
    assert found.label == "fail"


@pytest.mark.parametrize(
    ("by", "lines", "digest", "end"),
    [
        ("anna", [("id-0", "pass")], "f" * 16, ""),
        ("anna", [("id-0", "pass"), ("gone", "pass")], None, ""),
        ("anna", [("gone", None)], None, ""),
        ("anna", [("id-0", "good")], None, ""),
        ("anna", [("id-0", ["pass"])], None, ""),
        ("anna", [("id-0", "pass")], None, "{}\n"),
        ("anna", [("id-0", "pass")], None, "[]\n"),
        ("anna", [("id-0", "pass")], None, '{"id": "id-1", "dig'),
        ("anna bo", [("id-0", "pass")], None, ""),
    ],
    ids=range(9),
)
def test_what_is_wrong_is_said_by_file_and_line(
    data: Path,
    say: Said,
    by: str,
    lines: list[tuple[str, Any]],
    digest: str | None,
    end: str,
    snapshot: SnapshotAssertion,
) -> None:
    """Another text, an unknown id, another value, a line that is none, a torn end, a name that is none."""
    say(by, *lines, digest=digest, end=end)
    assert refused(data) == snapshot


def test_a_stale_label_that_was_given_anew_is_none(data: Path, say: Said) -> None:
    """Of an id the last line counts alone, and who skipped another text said nothing of this one."""
    file = say("anna", ("id-0", "pass"), digest="f" * 16)
    stale = file.read_text()
    file = say("anna", ("id-0", "fail"))
    file.write_text(stale + file.read_text())
    say("bo", ("id-0", None), digest="f" * 16)
    assert read(data)["id-0"].labels == {"anna": "fail"}


def test_one_person_has_one_file(data: Path, say: Said, snapshot: SnapshotAssertion) -> None:
    """Two names that differ in capital letters alone are an error that names both files."""
    say("anna", ("id-0", "pass"))
    say("Anna", ("id-1", "pass"))
    assert refused(data) == snapshot


def test_a_column_and_a_file_name_a_person_alike(data: Path, say: Said, snapshot: SnapshotAssertion) -> None:
    """Who is Anna in a row and anna in the name of a file is one person, whichever examples they labelled."""
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    rows[0]["labels"] = {"Anna": "pass"}
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    say("anna", ("id-1", "pass"))
    assert refused(data) == snapshot


def test_no_file_at_all_is_an_error(data: Path) -> None:
    """Where labels are wanted and nobody labelled, it is said how one does."""
    said = refused(data)
    assert "no file answers.labels.NAME.jsonl next to" in said
    assert "judgefixtures label" in said


def test_another_dataset_s_labels_are_not_taken(data: Path, say: Said) -> None:
    """The stem is the whole stem: `answers-old.labels...` and `answers.labels` of a folder elsewhere are not ours."""
    say("anna", ("id-0", "pass"))
    data.with_name("answers-old.labels.bo.jsonl").write_text("{")
    data.with_name("answers.labels.cy.jsonl.bak").write_text("{")
    assert read(data)["id-0"].labels == {"anna": "pass"}


def test_the_labels_of_a_folder_lie_beside_it(tmp_path: Path) -> None:
    """A dataset that is a folder of files has its labels beside the folder, where no row is looked for."""
    folder = tmp_path / "answers"
    folder.mkdir()
    data_file(folder, examples(2))
    file = tmp_path / "answers.labels.anna.jsonl"
    file.write_text(json.dumps({"id": "id-1", "digest": digests(folder)["id-1"], "label": "pass"}) + "\n")
    assert read(folder)["id-1"].label == "pass"


@pytest.mark.parametrize(
    "table",
    [
        'path = "pairs.jsonl"\nlabels_from = "beside"',
        'source = "owner/name"\nlabels_from = "beside"',
        'path = "answers.jsonl"\nlabels_from = "column"',
    ],
)
def test_where_the_key_does_not_apply(data: Path, say: Said, table: str, snapshot: SnapshotAssertion) -> None:
    """Pairs, the hub, another value: an error that names the key."""
    (data.parent / "pairs.jsonl").write_text('{"id": 1, "question": "q", "response_1": "a", "response_2": "b"}\n')
    say("anna", ("id-0", "pass")).replace(data.with_name("pairs.labels.anna.jsonl"))
    file = data.with_name("pyproject.toml")
    file.write_text(in_pyproject(f"[datasets.d]\n{table}\n"))
    with pytest.raises(JudgeFixturesError) as error:
        load_pairs(load_config(file).source("d"))
    assert str(error.value) == snapshot


def test_ci_reads_no_labels_from_elsewhere(
    data: Path,
    say: Said,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    """A file of labels that is a link out of the repository is refused where CI is set, as the data's would be."""
    file = data.with_name("pyproject.toml")
    file.write_text(in_pyproject('[datasets.d]\npath = "answers.jsonl"\nlabels_from = "beside"\n'))
    outside = tmp_path_factory.mktemp("outside") / "labels.jsonl"
    say("anna", ("id-0", "pass")).replace(outside)
    data.with_name("answers.labels.anna.jsonl").symlink_to(outside)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(JudgeFixturesError) as error:
        load_config(file).check_dataset_files("d")
    assert str(error.value) == snapshot
