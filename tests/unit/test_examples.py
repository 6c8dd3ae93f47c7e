"""Examples: a question with one response, what people say of it, and whatever else its row holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.project import json_lines
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.snapshot import SampleSnapshot, add_snapshot_pairs, read_snapshot_pairs
from judgefixtures.config import Config, load_config
from judgefixtures.metrics.row_builders import pair_row, pairs_digest
from judgefixtures.models.pairs import Example, Pair, pair_to_row
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.sources import Source, load_pairs, load_sample
from judgefixtures.sources.sample import describe_sample
from judgefixtures.sources.values import value_to_text
from judgefixtures.util.errors import JudgeFixturesError

PASSING = ("pass", "passed", "yes", "true", "1", "correct", "right", "good")
FAILING = ("fail", "failed", "no", "false", "0", "incorrect", "wrong", "bad")
ROW = {"id": "a", "question": "Why is the sky blue?", "response": "Air scatters blue."}
PAIR_ROW = {"id": "a", "question": "Why?", "response_1": "So.", "response_2": "No."}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is my parcel?"},
    {"role": "assistant", "content": None, "tool_calls": [{"name": "track", "arguments": {"id": 7}}]},
    {"role": "tool", "content": [{"type": "text", "text": "In Bonn."}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is in Bonn."}, {"type": "image", "url": "u"}]},
]
TOLD = (
    "System: Be brief.\nUser: Where is my parcel?\n"
    'Assistant: {"name": "track", "arguments": {"id": 7}}\nTool: In Bonn.\n'
    'Assistant: It is in Bonn.\n{"type": "image", "url": "u"}'
)
Reading = Callable[..., Any]


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Return what reads rows as a dataset with further keys of its table."""

    def read(*rows: Mapping[str, Any], name: str = "rows.jsonl", text: str | None = None, **keys: Any) -> Any:
        path = tmp_path / name
        path.write_text(json_lines(rows) if text is None else text, encoding="utf-8")
        return load_pairs(Source("answers", path, **keys))

    return read


def only(pairs: tuple[Pair, ...]) -> Example:
    """Return the one example that there is."""
    (example,) = pairs
    assert isinstance(example, Example)
    return example


def refused(reading: Reading, *rows: Mapping[str, Any], **keys: Any) -> str:
    """Return what is said of rows that cannot be read."""
    with pytest.raises(JudgeFixturesError) as error:
        reading(*rows, **keys)
    return str(error.value)


# --- what an example is -----------------------------------------------------------------------------------


def test_a_file_with_a_column_response_holds_examples(reading: Reading) -> None:
    """A row is an example with its response, label, category, cluster, content type and further columns."""
    more = {"label": "pass", "category": "c", "cluster": 7, "content_type": "Answer", "reference": "Rayleigh"}
    example = only(reading(ROW | more))
    assert (example.id, example.question, example.response) == ("a", ROW["question"], ROW["response"])
    assert (example.label, example.category, example.cluster, example.content_type) == ("pass", "c", "7", "Answer")
    assert dict(example.columns) == {"reference": "Rayleigh"}


def test_a_response_of_another_name_is_mapped(reading: Reading) -> None:
    """Columns name the response and the label; the names of the file are then no columns of the example."""
    row = {"key": 1, "input": "Why?", "meta": {"human": "good"}, "out": {"text": "So."}, "notes": "n"}
    columns = {"id": "key", "question": "input", "response": "out.text", "label": "meta.human"}
    example = only(reading(row, columns=columns))
    assert (example.id, example.question, example.response, example.label) == ("1", "Why?", "So.", "pass")
    assert dict(example.columns) == {"out": '{"text": "So."}', "notes": "n"}


@pytest.mark.parametrize("suffix", ["json", "csv", "tsv"])
def test_other_formats_are_read_alike(reading: Reading, suffix: str) -> None:
    """JSON lists, CSV and TSV give the examples that JSON lines give; an empty cell is no label and no column."""
    rows = [ROW | {"label": "1", "reference": "r"}, ROW | {"id": "b", "label": None, "reference": None}]
    if suffix == "json":
        text = json.dumps(rows)
    else:
        cut = "\t" if suffix == "tsv" else ","
        lines = [[*rows[0]], *([each or "" for each in row.values()] for row in rows)]
        text = "".join(f"{cut.join(line)}\n" for line in lines)
    found = {pair.id: pair for pair in reading(name=f"rows.{suffix}", text=text)}
    assert [(found[key].label, dict(found[key].columns)) for key in "ab"] == [("pass", {"reference": "r"}), (None, {})]


def test_examples_without_ids_get_some(reading: Reading) -> None:
    """An id is made of the texts, whatever the order of the rows and whatever else stands in them."""
    one, other = ({key: ROW[key] for key in ("question", "response")} for _ in range(2))
    other["response"] = "It mirrors the sea."
    ids = {pair.response_1: pair.id for pair in reading(one, other)}
    again = {pair.response_1: pair.id for pair in reading(other | {"notes": "n"}, one | {"label": "fail"})}
    assert ids == again
    assert len(set(ids.values())) == 2
    assert "must differ" in refused(reading, one, one)


@pytest.mark.parametrize("two", [{"response_1": "x"}, {"response_1": "x", "response_2": "y"}])
def test_one_response_and_two_are_an_error(reading: Reading, two: dict[str, str]) -> None:
    """A row with both is an error that names both columns and the keys that decide; with one of these it is read."""
    said = refused(reading, ROW | two)
    for part in ("rows.jsonl:1", "'response'", *map(repr, two), 'columns = {response = "response"}'):
        assert part in said
    assert only(reading(ROW | two, columns={"response": "response"})).response == ROW["response"]
    both = {"response_1": "x", "response_2": "y"}
    (pair,) = reading(ROW | both, columns={"response_1": "response_1"}, balance_positions=False)
    assert (pair.response_1, pair.response_2) == ("x", "y")


def test_a_preference_beside_a_response_is_an_error(reading: Reading) -> None:
    """Chosen and rejected are two responses, too."""
    said = refused(reading, ROW | {"chosen": "x", "rejected": "y"})
    assert "'chosen', 'rejected'" in said


@pytest.mark.parametrize("response", ["", "  ", None, 7, [], {"role": "user"}])
def test_a_response_is_a_text(reading: Reading, response: Any) -> None:
    """A response that is no text and no conversation is an error that names file, row and field."""
    said = refused(reading, ROW | {"response": response})
    assert "rows.jsonl:1" in said
    assert "'response'" in said


@pytest.mark.parametrize(
    ("row", "keys", "key", "rows"),
    [
        (ROW, {"gold_values": {"a": 1}}, "gold_values", "examples"),
        (ROW, {"columns": {"gold": "question"}}, "columns.gold", "examples"),
        (PAIR_ROW, {"label_values": {"a": "pass"}}, "label_values", "pairs"),
        (PAIR_ROW, {"columns": {"label": "id"}}, "columns.label", "pairs"),
        (PAIR_ROW, {"raters": ("id",)}, "columns.labels", "pairs"),
    ],
)
def test_keys_of_the_other_kind_are_an_error(
    reading: Reading, row: dict[str, str], keys: dict[str, Any], key: str, rows: str
) -> None:
    """What says how gold is read means nothing for examples, nor what says how labels are for pairs."""
    said = refused(reading, row, **keys)
    assert f"{key} of [datasets.answers]" in said
    assert f"the rows hold {rows}" in said


# --- labels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, 1, 1.0, " Pass ", "Correct", *PASSING, *map(str.upper, PASSING)])
def test_usual_words_for_pass(reading: Reading, value: Any) -> None:
    """Without label_values every word that a grade is said by is understood, in any case."""
    assert only(reading(ROW | {"label": value})).label == "pass"


@pytest.mark.parametrize("value", [False, 0, 0.0, "Fail ", "Bad", *FAILING, *map(str.upper, FAILING)])
def test_usual_words_for_fail(reading: Reading, value: Any) -> None:
    """The same of fail."""
    assert only(reading(ROW | {"label": value})).label == "fail"


@pytest.mark.parametrize("row", [ROW, ROW | {"label": None}])
def test_an_absent_label_is_unlabelled(reading: Reading, row: dict[str, Any]) -> None:
    """Null is no label, and so is a column that is not there."""
    assert only(reading(row)).label is None


@pytest.mark.parametrize("value", ["partial", "", 0.5, 2, -1, ["pass"], {"a": 1}, "P", "C", "I"])
def test_any_other_label_is_an_error(reading: Reading, value: Any) -> None:
    """It names the row, the value, and the key that says what it means."""
    said = refused(reading, ROW, ROW | {"id": "b", "label": value})
    for part in ("rows.jsonl:2", "'label'", repr(value), "label_values", "[datasets.answers]", *PASSING, *FAILING):
        assert part in said


@pytest.mark.parametrize("word", [*PASSING, *FAILING])
def test_a_grade_and_a_label_are_said_by_the_same_words(word: str) -> None:
    """No word means one thing from a judge and another, or nothing, from people."""
    assert parse_grade(word, "word").passed is (word in PASSING)


def test_label_values_say_what_counts(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Only what they list is read then, numbers and booleans by their JSON; anything else is an error."""
    rows = [ROW | {"id": str(n), "human": value} for n, value in enumerate(("ok", 2, True, "meh", 0, None))]
    (tmp_path / "rows.jsonl").write_text(json_lines(rows))
    table = 'columns = {label = "human"}\nlabel_values = {pass = ["ok", 2, true], fail = ["meh", 0]}'
    labels = {pair.id: pair.label for pair in load_pairs(configured(tmp_path, table).source("d"))}
    assert labels == {"0": "pass", "1": "pass", "2": "pass", "3": "fail", "4": "fail", "5": None}
    with pytest.raises(JudgeFixturesError) as error:
        load_pairs(configured(tmp_path, table.replace('"ok", ', "")).source("d"))
    assert str(error.value) == snapshot
    (tmp_path / "rows.jsonl").write_text(json_lines([ROW | {"human": "fail"}]))
    with pytest.raises(JudgeFixturesError) as error:
        load_pairs(configured(tmp_path, table).source("d"))
    assert str(error.value) == snapshot


def configured(folder: Path, table: str) -> Config:
    """Return a configuration with a dataset."""
    file = folder / "judges.toml"
    file.write_text(f'[datasets.d]\npath = "rows.jsonl"\n{table}\n')
    return load_config(file)


@pytest.mark.parametrize(
    "table",
    [
        'label_values = {good = ["a"]}',
        'label_values = {pass = ["a"], fail = ["b", "a"]}',
        "label_values = {}",
        'label_values = {pass = [["a"]]}',
        'columns = {response = "a", response_1 = "b"}',
        'columns = {question = ["a", "b"]}',
        "columns = {labels = []}",
    ],
)
def test_wrong_tables_are_told(tmp_path: Path, table: str, snapshot: SnapshotAssertion) -> None:
    """What a table cannot mean is an error that names file, table and key."""
    with pytest.raises(JudgeFixturesError) as error:
        configured(tmp_path, table)
    assert "datasets.d" in str(error.value)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("labels", "label", "people"),
    [
        ({"anna": "pass", "bo": "fail", "cy": "pass"}, "pass", {"anna": "pass", "bo": "fail", "cy": "pass"}),
        ({"anna": "fail", "bo": "pass", "cy": "pass"}, "pass", {"anna": "fail", "bo": "pass", "cy": "pass"}),
        ({"anna": "fail", "bo": None}, "fail", {"anna": "fail"}),
        ([0, 0, 1], "fail", {"1": "fail", "2": "fail", "3": "pass"}),
        ({"anna": "pass", "bo": "fail"}, None, {"anna": "pass", "bo": "fail"}),
        ([], None, {}),
        (None, None, {}),
        ('{"anna": "yes"}', "pass", {"anna": "pass"}),
    ],
)
def test_the_label_is_the_majority(reading: Reading, labels: Any, label: str | None, people: dict[str, str]) -> None:
    """Labels of several people are kept by who they are; their majority is the label, and a tie has none."""
    example = only(reading(ROW | {"labels": labels}))
    assert (example.label, dict(example.labels)) == (label, people)


def test_labels_in_several_columns(tmp_path: Path) -> None:
    """Each column that is named holds what one person says; none of them is a slot."""
    rows = [ROW | {"anna": 1, "bo": 0, "cy": "yes", "notes": "n"}]
    (tmp_path / "rows.jsonl").write_text(json_lines(rows))
    source = configured(tmp_path, 'columns = {labels = ["anna", "bo", "cy"]}').source("d")
    example = only(load_pairs(source))
    assert dict(example.labels) == {"anna": "pass", "bo": "fail", "cy": "pass"}
    assert (example.label, dict(example.columns)) == ("pass", {"notes": "n"})


def test_a_rater_that_no_row_has_is_an_error(tmp_path: Path) -> None:
    """A slip in the name of a person's column loses no labels without a word."""
    (tmp_path / "rows.jsonl").write_text(json_lines([ROW | {"anna": 1}]))
    with pytest.raises(JudgeFixturesError, match="'bo'"):
        load_pairs(configured(tmp_path, 'columns = {labels = ["anna", "bo"]}').source("d"))


@pytest.mark.parametrize("key", [{}, {"raters": ("anna", "Anna")}])
def test_two_forms_of_a_name_are_one_person(reading: Reading, key: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """In one row or in two, in an object or in columns: the error names the row; files are one person's by that, too."""
    both = {"anna": "pass", "Anna": "pass"}
    said = refused(reading, ROW | ({} if key else {"labels": both}) | (both if key else {}), **key)
    assert lines_about(said, "'Anna'") == snapshot


def test_a_name_has_one_form_in_all_rows(reading: Reading, snapshot: SnapshotAssertion) -> None:
    """Otherwise there would be a person more, with whom nobody agrees or disagrees."""
    rows = [ROW | {"id": name, "labels": {name: "pass", "bo": "pass"}} for name in ("Zoë", "ZOË")]
    said = refused(reading, *rows)
    assert lines_about(said, "'ZOË'") == snapshot
    assert len(reading(*rows[:1])) == 1


@pytest.mark.parametrize("name", ["", " "])
def test_a_label_of_a_person_without_a_name_is_an_error(
    reading: Reading, name: str, snapshot: SnapshotAssertion
) -> None:
    """It names the row and what to do."""
    said = refused(reading, ROW | {"labels": {"anna": "pass", name: "pass"}})
    assert lines_about(said, "person whose") == snapshot


def test_a_label_that_most_people_contradict_is_an_error(reading: Reading, snapshot: SnapshotAssertion) -> None:
    """It names the row, both sides and who said what; a tie contradicts nothing."""
    said = refused(reading, ROW | {"label": "pass", "labels": {"anna": 0, "bo": "fail", "cy": 1}})
    assert lines_about(said, "'label'") == snapshot
    assert only(reading(ROW | {"label": "pass", "labels": ["pass", "fail"]})).label == "pass"


@pytest.mark.parametrize("labels", ["anna: pass", 3, True])
def test_labels_of_another_shape_are_an_error(reading: Reading, labels: Any, snapshot: SnapshotAssertion) -> None:
    """They are an object or a list."""
    assert lines_about(refused(reading, ROW | {"labels": labels}), "'labels'") == snapshot


def test_labels_are_in_no_digest(reading: Reading) -> None:
    """What people say changes neither the example's digest nor that of a report's pairs."""
    plain, labelled = only(reading(ROW)), only(reading(ROW | {"label": "pass", "labels": {"anna": "pass"}}))
    assert plain.digest == labelled.digest
    rows = [pair_row("j", "d", each).to_json() for each in (plain, labelled)]
    assert pairs_digest(rows[:1]) == pairs_digest(rows[1:])


# --- columns ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a {question} b", "a {question} b"),
        ("", ""),
        (3, "3"),
        (2.5, "2.5"),
        (False, "false"),
        (["a", "ä"], '["a", "ä"]'),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        ([], "[]"),
        (TALK, TOLD),
        ([{"role": "critic", "content": "Hm."}, {"role": "human", "content": "Ok."}], "Critic: Hm.\nUser: Ok."),
        ([{"role": "user", "text": "no content"}], '[{"role": "user", "text": "no content"}]'),
        ([{"role": "user", "content": "Hi."}, "bye"], '[{"role": "user", "content": "Hi."}, "bye"]'),
    ],
)
@pytest.mark.parametrize("row", [ROW, PAIR_ROW], ids=["example", "pair"])
def test_a_column_is_text(reading: Reading, row: dict[str, str], value: Any, text: str) -> None:
    """A text is as it is, messages are a conversation, anything else is JSON; of pairs as of examples."""
    (pair,) = reading(row | {"context": value})
    assert dict(pair.columns) == {"context": text}


@given(st.text())
def test_a_text_stays_to_the_letter(text: str) -> None:
    """No text is changed, whatever it looks like."""
    assert value_to_text(text) == text


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.text()), min_size=1))
def test_nothing_of_a_conversation_is_lost(said: list[tuple[str, str]]) -> None:
    """Every message stands in the text, in its order, behind who said it."""
    told = value_to_text([{"role": role, "content": content} for role, content in said])
    assert told == "\n".join(f"{role.capitalize()}: {content}" for role, content in said)


def test_null_is_not_there(reading: Reading) -> None:
    """A column that is null is absent, and so is one that the row does not have."""
    found = {pair.id: dict(pair.columns) for pair in reading(ROW | {"notes": None}, ROW | {"id": "b", "notes": "n"})}
    assert found == {"a": {}, "b": {"notes": "n"}}


def test_what_tells_the_answer_is_no_column(reading: Reading) -> None:
    """Id, labels, gold, votes, category and cluster are never shown, by whatever name they stand in the file."""
    telling = {"label": 1, "labels": [1], "gold": 1, "votes": {"1": 1, "2": 0}, "category": "c", "cluster": "x"}
    assert dict(only(reading(ROW | telling | {"notes": "n"})).columns) == {"notes": "n"}
    row = {key: value for key, value in ROW.items() if key != "id"} | {"k": "1", "h": 1, "kind": "c", "doc": "x"}
    columns = {"id": "k", "label": "h", "category": "kind", "cluster": "doc"}
    assert dict(only(reading(row | {"notes": "n"}, columns=columns)).columns) == {"notes": "n"}


@pytest.mark.parametrize("field", ["question", "response"])
def test_a_field_may_be_a_conversation(reading: Reading, field: str) -> None:
    """A mapped column that holds messages is read as a conversation."""
    row = {key: value for key, value in ROW.items() if key != field} | {"messages": TALK}
    example = only(reading(row, columns={field: "messages"}))
    assert getattr(example, field) == TOLD
    assert dict(example.columns) == {}


def test_responses_of_a_pair_may_be_conversations(reading: Reading) -> None:
    """So may each response of a pair."""
    (pair,) = reading(PAIR_ROW | {"response_2": TALK}, balance_positions=False)
    assert (pair.response_1, pair.response_2) == ("So.", TOLD)


def test_columns_change_no_pair(reading: Reading) -> None:
    """A pair of old has the digest, the row and the place that it has without further columns."""
    (plain,), (more,) = reading(PAIR_ROW), reading(PAIR_ROW | {"reference": "r"})
    assert plain == more
    assert plain.digest == more.digest
    assert plain.columns_digest == ""


# --- kept beside recordings -------------------------------------------------------------------------------


def test_frozen_examples_come_back(tmp_path: Path, reading: Reading) -> None:
    """What is frozen beside recordings is read as it was: labels as gold, and whatever columns it has."""
    said = {"label": "fail", "labels": {"anna": "fail"}, "category": "c", "cluster": "k", "notes": "{question}\n"}
    example = only(reading(ROW | said))
    add_snapshot_pairs(tmp_path / "frozen", [example])
    found = read_snapshot_pairs(tmp_path / "frozen")["a"]
    assert found == example
    assert (found.label, dict(found.labels), dict(found.columns)) == (
        "fail",
        {"anna": "fail"},
        {"notes": "{question}\n"},
    )
    assert pair_to_row(found) == ROW | said | {"content_type": "Response"}


def test_a_selection_has_new_keys_only_where_set() -> None:
    """A sample that was frozen before there were examples is still the one that is configured."""
    old = Source("d", source="owner/name", columns={"question": "q"}, gold_values={"a": 1})
    assert old.selection == {"source": "owner/name", "columns": {"question": "q"}, "gold_values": {"a": 1}}
    new = Source("d", source="owner/name", label_values={"ok": "pass"}, raters=("anna", "bo"))
    assert new.selection == {"source": "owner/name", "label_values": {"ok": "pass"}, "raters": ["anna", "bo"]}
    kept = SampleSnapshot(new.selection, 0, 1, (), {})
    assert json.loads(json.dumps(kept.selection)) == new.selection


def test_a_report_shows_an_example_as_one() -> None:
    """Its row has the response, the label and the columns that it is given with, and no second response."""
    row = pair_row("j", "d", Example("a", "q", "r", label="pass", columns={"notes": "n"})).to_json()
    assert row["response"] == "r"
    assert (row["label"], row["columns"], row["judges"]) == ("pass", {"notes": "n"}, ["j"])
    assert not {"response_1", "response_2", "gold"} & row.keys()
    assert "columns" not in pair_row("j", "d", Pair("a", "q", "1", "2")).to_json()


def test_the_preflight_counts_labels(tmp_path: Path) -> None:
    """A sample of examples is described as one: how many there are, and how many of each label."""
    labels = ["pass", "pass", "fail", None]
    (tmp_path / "rows.jsonl").write_text(
        json_lines(ROW | {"id": str(n), "label": each} for n, each in enumerate(labels))
    )
    source = Source("answers", tmp_path / "rows.jsonl")
    sample = load_sample(source)
    lines = describe_sample("answers", sample.pairs, sample, source, 0, available=4)
    assert lines[0].startswith("answers: 4 of 4 examples")
    assert "  labels: pass 2, fail 1, none 1" in lines
