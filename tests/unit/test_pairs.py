"""What a pair file may hold, in which order its pairs come, and what a wrong row is told."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models import pairs
from judgefixtures.models.pairs import (
    Pair,
    balance_gold_position,
    balance_length,
    one_per_question,
    pair_to_row,
    sample_order,
    sharing_a_question,
    swap_responses,
)
from judgefixtures.sources import BUILT_IN_SOURCES, Source, load_pairs, read_pairs
from judgefixtures.util.errors import JudgeFixturesError

ROW: dict[str, Any] = {"id": "a", "question": "Why?", "response_1": "Because.", "response_2": "Why not?"}

quick = settings(deadline=None)
golds = st.lists(st.sampled_from([1, 2, None]), max_size=60)
seeds = st.integers(0, 2**32)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
some_pairs = st.builds(Pair, texts, texts, texts, texts, st.sampled_from([1, 2, None]), st.none() | texts, texts)


def rows(count: int, gold: Sequence[int | None] = ()) -> list[dict[str, Any]]:
    """That many rows with texts of their own, and these golds in turn."""
    return [
        {"id": f"p{i}", "question": f"q{i}", "response_1": f"{i} one", "response_2": f"{i} two"}
        | ({"gold": gold[i]} if i < len(gold) and gold[i] else {})
        for i in range(count)
    ]


def some(gold: Sequence[Any]) -> tuple[Pair, ...]:
    """Pairs with these golds."""
    return tuple(Pair(f"p{i}", "q", f"{i} one", f"{i} two", g) for i, g in enumerate(gold))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test writes its pairs."""
    return tmp_path / "pairs.jsonl"


def write(file: Path, *lines: Any) -> Path:
    """Write lines, texts as they are and everything else as JSON."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(written), encoding="utf-8")
    return file


def read(file: Path, **source: Any) -> tuple[Pair, ...]:
    """Read a file as the dataset `mine`."""
    return read_pairs(file, Source("mine", file, **source))


def refusal(file: Path, **source: Any) -> str:
    """The message with which a file is refused."""
    with pytest.raises(JudgeFixturesError) as caught:
        read(file, **source)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a cause would be shown, too"
    return str(caught.value)


# --- the record ---------------------------------------------------------------------------------------------


def test_a_pair_is_frozen() -> None:
    """A pair cannot be changed after it was read."""
    with pytest.raises(FrozenInstanceError):
        Pair("a", "q", "1", "2").question = "other"  # type: ignore[misc]


@pytest.mark.parametrize("field", ["question", "response_1", "response_2", "content_type"])
def test_digest_covers_what_a_judge_sees(field: str) -> None:
    """Whatever a judge can see of the pair changes its digest."""
    pair = Pair("a", "q", "1", "2", 1, "c", "Story")
    assert replace(pair, **{field: "other"}).digest != pair.digest


@pytest.mark.parametrize(("field", "value"), [("id", "b"), ("gold", 2), ("category", "other")])
def test_digest_covers_nothing_else(field: str, value: Any) -> None:
    """What no judge sees (id, gold, category) leaves the digest as it is."""
    pair = Pair("a", "q", "1", "2", 1, "c", "Story")
    assert replace(pair, **{field: value}).digest == pair.digest


def test_digest_does_not_run_fields_together() -> None:
    """The same letters divided otherwise are another pair; recordings rely on this very digest."""
    assert Pair("a", "qx", "1", "2").digest != Pair("a", "q", "x1", "2").digest
    assert Pair("a", "Why?", "Because.", "Why not?").digest == "b407b9bc83491a3a"


@given(some_pairs)
def test_swapping_twice_is_nothing(pair: Pair) -> None:
    """Swapping exchanges the responses and turns the gold, and twice it is the pair itself."""
    other = swap_responses(pair)
    assert (other.response_1, other.response_2) == (pair.response_2, pair.response_1)
    assert other.gold == (None if pair.gold is None else 3 - pair.gold)
    assert replace(other, response_1=pair.response_1, response_2=pair.response_2, gold=pair.gold) == pair
    assert swap_responses(other) == pair


@quick
@given(st.lists(some_pairs, min_size=1, max_size=5, unique_by=lambda pair: pair.id))
def test_rows_are_read_back(several: list[Pair]) -> None:
    """A pair written as a row is read as the same pair, whatever its texts hold."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        file.write_text("\n".join(json.dumps(pair_to_row(pair), ensure_ascii=False) for pair in several), "utf-8")
        assert read(file) == tuple(several)


def test_a_row_holds_what_there_is() -> None:
    """A row leaves out what the pair has not, and uses the field names of a pair file."""
    assert pair_to_row(Pair("a", "q", "1", "2")) == {
        "id": "a",
        "question": "q",
        "response_1": "1",
        "response_2": "2",
        "content_type": "Response",
    }
    assert pair_to_row(Pair("a", "q", "1", "2", 2, "c"))["gold"] == 2


# --- reading ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN_SOURCES)
def test_built_in_sets(name: str) -> None:
    """Each house set holds pairs that all differ, by its own name or as the source of another dataset."""
    loaded = load_pairs(Source(name))
    assert len(loaded) == (100 if name in ("house-qa", "house-stories") else len(loaded))
    assert len({pair.id for pair in loaded}) == len({pair.digest for pair in loaded}) == len(loaded)
    assert load_pairs(Source("another-name", source=name)) == loaded


def test_fields(file: Path) -> None:
    """Every field of a row reaches its pair; whatever else the row holds is left alone."""
    write(file, ROW | {"gold": 2, "category": "maths", "content_type": "Story", "other": [1]})
    assert read(file) == (Pair("a", "Why?", "Because.", "Why not?", 2, "maths", "Story"),)


@pytest.mark.parametrize("absent", [{}, {"gold": None, "category": None, "content_type": None}])
def test_optional_fields(file: Path, absent: dict[str, Any]) -> None:
    """Gold, category and content type may be missing or null."""
    assert read(write(file, ROW | absent)) == (Pair("a", "Why?", "Because.", "Why not?"),)


@pytest.mark.parametrize(
    ("row", "source", "expected"),
    [({}, None, "Response"), ({}, "Email", "Email"), ({"content_type": "Story"}, "Email", "Story")],
)
def test_content_type(file: Path, row: dict[str, Any], source: str | None, expected: str) -> None:
    """The row's content type counts before the dataset's, and that before "Response"."""
    assert read(write(file, ROW | row), content_type=source)[0].content_type == expected


def test_ids_and_categories_may_be_numbers(file: Path) -> None:
    """Ids and categories that are numbers become texts."""
    (pair,) = read(write(file, ROW | {"id": 7, "category": 3}))
    assert (pair.id, pair.category) == ("7", "3")


def test_columns(file: Path) -> None:
    """Columns of another name are mapped, the others keep theirs."""
    columns = {
        "id": "key",
        "question": "prompt",
        "response_1": "a",
        "response_2": "b",
        "gold": "better",
        "category": "topic",
        "content_type": "kind",
    }
    mapped = {"key": 5, "prompt": "p", "a": "A", "b": "B", "better": 1, "topic": "t", "kind": "Story"}
    assert read(write(file, mapped), columns=columns) == (Pair("5", "p", "A", "B", 1, "t", "Story"),)
    assert read(write(file, ROW | {"better": 2}), columns={"gold": "better"})[0].gold == 2


def test_a_mapped_column_hides_the_field_of_that_name(file: Path) -> None:
    """Where a field is mapped, a column that bears the field's own name is not looked at."""
    row = ROW | {"prompt": "this one", "gold": "B", "content_type": 7, "better": 2, "kind": "Text"}
    columns = {"question": "prompt", "gold": "better", "content_type": "kind"}
    (pair,) = read(write(file, row), columns=columns)
    assert (pair.question, pair.gold, pair.content_type) == ("this one", 2, "Text")


def test_columns_may_change_places(file: Path) -> None:
    """The two responses can be mapped crosswise."""
    columns = {"response_1": "response_2", "response_2": "response_1"}
    (pair,) = read(write(file, ROW), columns=columns)
    assert (pair.response_1, pair.response_2) == ("Why not?", "Because.")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"%s\n%s\n", id="plain"),
        pytest.param(b"%s\n%s", id="no-newline-at-the-end"),
        pytest.param(b"\xef\xbb\xbf%s\n%s\n", id="bom"),
        pytest.param(b"\xef\xbb\xbf\n%s\n%s\n", id="bom-and-blank"),
        pytest.param(b"%s\r\n%s\r\n", id="windows"),
        pytest.param(b"\n\n%s\n \t\n%s\n\n", id="blank-lines"),
        pytest.param(b"  %s  \n\t%s", id="spaces-around"),
    ],
)
def test_layout_of_the_file(file: Path, content: bytes) -> None:
    """A byte-order mark, blank lines and either kind of line end are no matter; file order is kept."""
    first, second = json.dumps(ROW | {"id": "z"}).encode(), json.dumps(ROW).encode()
    file.write_bytes(content % (first, second))
    assert [pair.id for pair in read(file)] == ["z", "a"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e"])
def test_only_newlines_end_lines(file: Path, separator: str) -> None:
    """A text may hold what str.splitlines takes for a line end."""
    question = f"one{separator}two"
    line = json.dumps(ROW | {"question": question}, ensure_ascii=False)
    if separator < " ":
        line = json.dumps(ROW | {"question": question})
    assert read(write(file, line))[0].question == question


def test_texts_arrive_verbatim(file: Path) -> None:
    """Texts are not stripped, normalised or interpreted; a whole surrogate pair is one character."""
    question = '  {cue_1} <b>"é\u0301"</b>\n\0 '
    (pair,) = read(write(file, json.dumps(ROW | {"question": question, "response_1": "\U0001f600"})))
    assert (pair.question, pair.response_1) == (question, "\U0001f600")


# --- refusals: a row ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["question", "response_1", "response_2"])
def test_missing_field(file: Path, field: str, snapshot: SnapshotAssertion) -> None:
    """A missing field is named, with what the row has and how to map it."""
    row = {key: value for key, value in ROW.items() if key != field}
    assert refusal(write(file, row)) == snapshot


def test_responses_of_other_names(file: Path, snapshot: SnapshotAssertion) -> None:
    """Where a row has none of our names for responses, it may be an example or a pair: both ways are named."""
    row = {"id": "a", "question": "Why?", "output": "So.", "human": "pass"}
    assert refusal(write(file, row)) == snapshot


@pytest.mark.parametrize(
    ("more", "columns", "missing"),
    [
        ({"response_2": "No."}, {}, "response_1"),
        ({"chosen": "So."}, {}, "response_1"),
        ({}, {"response_1": "output"}, "response_2"),
        ({}, {"response": "answer"}, "answer"),
        ({}, {"chosen": "output"}, "rejected"),
    ],
)
def test_responses_of_which_one_is_named(
    file: Path, more: dict[str, str], columns: dict[str, str], missing: str
) -> None:
    """Where a row or its table names a response, it is the other one, or that one, that is missing."""
    row = {"id": "a", "question": "Why?", "output": "So.", **more}
    assert f"field {missing!r} is missing" in refusal(write(file, row), columns=columns)


def test_missing_column(file: Path, snapshot: SnapshotAssertion) -> None:
    """Where a mapped column is missing, the column is named and the field is to be mapped anew."""
    message = refusal(write(file, ROW), columns={"question": "prompt"})
    assert message == snapshot


@pytest.mark.parametrize("field", ["question", "response_1", "response_2", "content_type"])
@pytest.mark.parametrize("value", [" ", "\n", 7, ["a"], {"a": 1}, True])
def test_text_fields_hold_text(file: Path, field: str, value: Any, snapshot: SnapshotAssertion) -> None:
    """A field of text holds text and is not blank; the message quotes what it holds."""
    assert refusal(write(file, ROW | {field: value})) == snapshot


@pytest.mark.parametrize("field", ["question", "response_1", "response_2"])
@pytest.mark.parametrize("value", ["", None, 0, False])
def test_required_texts_are_never_empty(file: Path, field: str, value: Any, snapshot: SnapshotAssertion) -> None:
    """Empty, null and falsy texts are refused as well."""
    message = refusal(write(file, ROW | {field: value}))
    assert message == snapshot


def test_a_text_in_a_mapped_column_is_named_by_its_column(file: Path, snapshot: SnapshotAssertion) -> None:
    """A message about a text speaks of the column in the user's file."""
    message = refusal(write(file, ROW | {"prompt": 3}), columns={"question": "prompt"})
    assert message == snapshot


@pytest.mark.parametrize("field", ["id", "question", "response_1", "response_2", "content_type"])
@pytest.mark.parametrize("half", [r"\ud800", r"a\udfff", r"\ude00\ud83d"])
def test_half_of_a_surrogate_pair(file: Path, field: str, half: str, snapshot: SnapshotAssertion) -> None:
    """JSON can spell text that no encoding can write; it is refused where it stands, not when it is sent."""
    line = json.dumps(ROW | {field: "HALF"}).replace("HALF", half)
    assert refusal(write(file, line)) == snapshot


@pytest.mark.parametrize("value", [None, "", "  ", 1.5, True, ["a"], {"a": 1}])
def test_ids_are_texts_or_numbers(file: Path, value: Any, snapshot: SnapshotAssertion) -> None:
    """An id is a text or a whole number."""
    assert refusal(write(file, ROW | {"id": value})) == snapshot


@pytest.mark.parametrize("value", [0, 3, -1, 1.5, True, False, "1", "A", "", [1], {"better": 1}])
def test_gold_is_1_or_2(file: Path, value: Any, snapshot: SnapshotAssertion) -> None:
    """Gold is 1 or 2 or absent: no guess from a text or a truth value."""
    assert refusal(write(file, ROW | {"gold": value})) == snapshot


@pytest.mark.parametrize("line", ["[1]", '"a"', "7", "1.5", "true", "NaN"])
def test_a_row_is_an_object(file: Path, line: str, snapshot: SnapshotAssertion) -> None:
    """Any other JSON value than an object is named by its kind."""
    assert refusal(write(file, line)) == snapshot


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"id": "b", "question":', id="torn"),
        pytest.param("id,question,response_1,response_2", id="csv"),
        pytest.param("{'id': 'b'}", id="python"),
        pytest.param(json.dumps(ROW) + json.dumps(ROW), id="two-objects"),
        pytest.param("9" * 5000, id="too-long-a-number"),
        pytest.param(json.dumps(ROW).replace("Why?", "Wh\ty?"), id="bare-control-character"),
    ],
)
def test_broken_json(file: Path, line: str, snapshot: SnapshotAssertion) -> None:
    """A line that is no JSON is named with the reader's complaint and what is wanted."""
    message = refusal(write(file, line))
    assert message.startswith(f"dataset 'mine': {file}:1: not JSON: ")
    assert message == snapshot


@pytest.mark.parametrize("line", ["[" * 100_000, json.dumps(ROW)[:-1] + ', "steps": ' + "[" * 300 + "]" * 300 + "}"])
def test_json_that_is_nested_too_deeply(file: Path, line: str, snapshot: SnapshotAssertion) -> None:
    """What is nested in more lists and objects than anybody writes is named with its line."""
    assert refusal(write(file, line)) == snapshot


def test_broken_json_in_line_57(file: Path) -> None:
    """The number is the line's in the file, blank ones counted, so that an editor jumps to it."""
    lines: list[Any] = rows(99)
    lines[10] = lines[30] = ""
    lines[56] = json.dumps(lines[56])[:-1]
    message = refusal(write(file, *lines))
    assert message.startswith(f"dataset 'mine': {file}:57: not JSON: Expecting ',' delimiter")


@pytest.mark.parametrize(("first", "second"), [("a", "a"), (7, 7), (7, "7")])
def test_duplicate_ids(file: Path, first: Any, second: Any, snapshot: SnapshotAssertion) -> None:
    """An id is used once, as text or as number; both lines are named."""
    lines = [{**ROW, "id": "other"}, {**ROW, "id": first}, "", {**ROW, "id": second}]
    assert refusal(write(file, *lines)) == snapshot


def test_the_first_mistake_is_named(file: Path) -> None:
    """Of several wrong rows the first is named."""
    assert f"{file}:2: gold" in refusal(write(file, ROW, ROW | {"id": "b", "gold": 3}, "{", ROW))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@quick
@given(st.dictionaries(st.sampled_from(pairs.FIELDS), json_values), st.sampled_from([{}, ROW]))
@example({"gold": [1]}, ROW)
@example({"question": "\ud800"}, ROW)
def test_any_row_is_a_pair_or_a_message(row: dict[str, Any], base: dict[str, Any]) -> None:
    """Whatever a row holds, it is a pair or a message that names dataset, file and line: no other error."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        write(file, "", base | row)
        try:
            (pair,) = read(file)
        except JudgeFixturesError as error:
            assert str(error).startswith(f"dataset 'mine': {file}:2: ")  # noqa: PT017
        else:
            assert pair.question
            assert pair.gold in (1, 2, None)


@quick
@given(st.binary(max_size=60) | st.text().map(str.encode))
@example(b"\xff\xfe{\x00")
@example(b"\x00")
def test_any_file_is_pairs_or_a_message(content: bytes) -> None:
    """Whatever bytes a file holds, no error but ours comes out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.jsonl"
        file.write_bytes(content)
        with pytest.raises(JudgeFixturesError, match=r"^dataset 'mine': .*pairs\.jsonl"):
            read(file)


# --- refusals: a file, a source -----------------------------------------------------------------------------


def test_missing_file(file: Path, snapshot: SnapshotAssertion) -> None:
    """A file that is not there is named, with what its path is relative to."""
    assert refusal(file) == snapshot


@pytest.mark.parametrize("content", ["", "\n \n\t\n", "\ufeff"])
def test_file_without_pairs(file: Path, content: str, snapshot: SnapshotAssertion) -> None:
    """A file of nothing is an error, never a dataset of no pairs."""
    file.write_text(content, encoding="utf-8")
    assert refusal(file) == snapshot


def test_file_in_another_encoding(file: Path, snapshot: SnapshotAssertion) -> None:
    """A file that is not UTF-8 is told with the line of the first such byte, and how to save it; marked UTF-16 is read."""
    text = json.dumps(ROW | {"question": "é"}, ensure_ascii=False)
    file.write_bytes(f"{json.dumps(ROW)}\n{text}\n".encode("latin-1"))
    message = refusal(file)
    assert message.startswith(f"dataset 'mine': {file}:2: byte ")
    assert message == snapshot
    file.write_bytes(text.encode("utf-16"))
    assert read(file)[0].question == "é"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder given as path is named as what cannot be read."""
    assert refusal(tmp_path).startswith(f"dataset 'mine': {tmp_path} cannot be read: ")


def test_unknown_source(snapshot: SnapshotAssertion) -> None:
    """A source that is not built in is named, with those that are and the other way to give one."""
    with pytest.raises(JudgeFixturesError) as caught:
        load_pairs(Source("mine", source="house-q"))
    assert str(caught.value) == snapshot
    with pytest.raises(JudgeFixturesError) as error:
        load_pairs(Source("mine"))
    assert str(error.value) == snapshot


def test_a_path_counts_before_a_built_in_name(file: Path) -> None:
    """A dataset with the name of a built-in one and a path of its own is read from the path."""
    assert load_pairs(Source("house-qa", write(file, ROW))) == (Pair("a", "Why?", "Because.", "Why not?"),)


# --- order and balance --------------------------------------------------------------------------------------


def test_order_is_the_same_for_good() -> None:
    """This seed and these ids give this order in every version: recordings rely on it."""
    several = [Pair(name, "q", "1", "2") for name in ("a", "b", "c", "d", "e", "f")]
    assert "".join(pair.id for pair in sample_order(several, 0)) == "cadfeb"
    assert "".join(pair.id for pair in sample_order(several, 1)) == "abcefd"


@quick
@given(st.permutations(range(12)), golds, seeds)
def test_the_order_of_the_rows_is_no_matter(order: list[int], gold: list[int | None], seed: int) -> None:
    """The same rows in any order are loaded as the same pairs in the same order, swapped alike."""
    written = rows(12, gold)
    with tempfile.TemporaryDirectory() as folder:
        file, shuffled = Path(folder) / "pairs.jsonl", Path(folder) / "shuffled.jsonl"
        write(file, *written)
        write(shuffled, *(written[i] for i in order))
        assert load_pairs(Source("mine", file), seed) == load_pairs(Source("mine", shuffled), seed)


@given(st.lists(some_pairs, max_size=12, unique_by=lambda pair: pair.id), seeds)
def test_order_depends_on_seed_ids_and_categories_alone(several: list[Pair], seed: int) -> None:
    """Pairs with the same ids and categories and quite other contents come in the same order."""
    blank = [Pair(pair.id, "q", "1", "2", category=pair.category) for pair in several]
    assert [pair.id for pair in sample_order(several, seed)] == [pair.id for pair in sample_order(blank, seed)]


@given(golds, st.sets(st.integers(0, 59)), seeds)
def test_other_pairs_do_not_disturb_the_order(gold: list[Any], kept: set[int], seed: int) -> None:
    """Pairs that are added or removed leave the order of the others as it is."""
    several = some(gold)
    fewer = {pair.id for i, pair in enumerate(several) if i in kept}
    expected = [pair for pair in sample_order(several, seed) if pair.id in fewer]
    assert list(sample_order([pair for pair in several if pair.id in fewer], seed)) == expected


def test_seeds_differ() -> None:
    """Another seed gives another order and swaps other pairs; file order is not kept."""
    loaded = [load_pairs(Source("house-qa"), seed) for seed in range(4)]
    assert len({tuple(pair.id for pair in pairs_) for pairs_ in loaded}) == 4
    unsorted = [pair.id for pair in read_pairs(Source("house-qa").file, Source("house-qa"))]
    assert all([pair.id for pair in pairs_] != unsorted for pairs_ in loaded)
    several = some([1] * 20)
    assert len({balance_gold_position(several, seed) for seed in range(4)}) == 4


def test_n_pairs_are_a_prefix_of_more(file: Path) -> None:
    """The first n are the same pairs, swapped the same way, however many are taken and as the rows stand."""
    written = rows(40, [1] * 31 + [2] * 4)
    whole = load_pairs(Source("mine", write(file, *written)), 5)
    for n in range(1, 40):
        again = load_pairs(Source("mine", write(file, *written[n:], *written[:n])), 5)
        assert again[:n] == whole[:n]
    # The balance is the whole set's: a prefix is not balanced anew.
    assert any(abs(sum(1 if p.gold == 1 else -1 for p in whole[:n] if p.gold)) > 1 for n in range(1, 40))


@given(golds, seeds)
@example([1] * 60, 0)
@example([2] * 59 + [None], 0)
@example([1, 2], 0)
@example([], 0)
def test_gold_is_even_over_positions(gold: list[Any], seed: int) -> None:
    """Whatever the golds, afterwards as many are 1 as are 2, +-1, with as few swaps as that takes."""
    several = some(gold)
    result = balance_gold_position(several, seed)
    counts = [sum(pair.gold == g for pair in result) for g in (1, 2)]
    assert abs(counts[0] - counts[1]) <= 1
    assert [pair.id for pair in result] == [pair.id for pair in several]
    changed = [(before, after) for before, after in zip(several, result, strict=True) if before != after]
    assert all(after == swap_responses(before) and before.gold for before, after in changed)
    assert len(changed) == abs(gold.count(1) - gold.count(2)) // 2
    assert balance_gold_position(result, seed) == result


@given(golds, seeds, st.randoms(use_true_random=False))
def test_which_pairs_are_swapped_depends_on_seed_and_ids(gold: list[Any], seed: int, random: Any) -> None:
    """The order in which the pairs come does not decide which of them are swapped."""
    several = list(some(gold))
    expected = {pair.id: pair for pair in balance_gold_position(several, seed)}
    random.shuffle(several)
    assert {pair.id: pair for pair in balance_gold_position(several, seed)} == expected


@pytest.mark.parametrize("gold", [[1] * 10, [2] * 10])
def test_load_pairs_balances_unless_told(file: Path, gold: list[int]) -> None:
    """Loading balances the gold; with balance_positions = false every pair is as in the file."""
    write(file, *rows(10, gold))
    as_written = read(file)
    even = load_pairs(Source("mine", file))
    assert [pair.gold for pair in even].count(1) == 5
    untouched = load_pairs(Source("mine", file, balance_positions=False))
    assert set(untouched) == set(as_written)
    assert [pair.id for pair in untouched] == [pair.id for pair in even]


def test_without_gold_nothing_is_swapped(file: Path) -> None:
    """There is nothing to balance where no pair has a gold label."""
    assert set(load_pairs(Source("mine", write(file, *rows(9))))) == set(read(file))


categories = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=60)


@given(categories, seeds)
@example(["a"] * 59 + ["b"], 0)
@example(["a", "b"] * 30, 1)
def test_every_prefix_holds_the_categories_in_proportion(several: list[str | None], seed: int) -> None:
    """In every prefix a category has its share of the whole, give or take one pair for each of two categories."""
    ordered = sample_order([Pair(f"p{i}", "q", "1", "2", category=c) for i, c in enumerate(several)], seed)
    for n in range(len(ordered) + 1):
        for category in set(several):
            here = sum(pair.category == category for pair in ordered[:n])
            assert abs(here - n * several.count(category) / len(several)) <= len(set(several))


@given(categories, seeds, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_decides_nothing(several: list[str | None], seed: int, random: Any) -> None:
    """Order, choice by question and choice by length are the same for any order in which the pairs come."""
    pairs_ = [Pair(f"p{i}", f"q{i % 7}", "x" * (i % 3 + 1), "yy", 1 if i % 2 else 2, c) for i, c in enumerate(several)]
    shuffled = list(pairs_)
    random.shuffle(shuffled)
    assert sample_order(pairs_, seed) == sample_order(shuffled, seed)
    for choose in (one_per_question, balance_length):
        (chosen, count), (again, as_many) = choose(pairs_, seed), choose(shuffled, seed)
        assert set(chosen) == set(again)
        assert count == as_many == len(pairs_) - len(chosen)


@given(st.lists(st.integers(0, 8), max_size=40), seeds)
def test_one_pair_of_a_question_is_kept(questions: list[int], seed: int) -> None:
    """Every question keeps exactly one of its pairs, and none of the kept ones shares its question."""
    several = [Pair(f"p{i}", f"q{question}", f"{i}", "2") for i, question in enumerate(questions)]
    kept, others = one_per_question(iter(several), seed)
    assert {pair.question for pair in kept} == {pair.question for pair in several}
    assert len(kept) == len({pair.question for pair in kept}) == len(several) - others
    assert sharing_a_question(kept) == 0


def test_another_seed_keeps_other_pairs() -> None:
    """Which pair of a question is kept is drawn with the seed, not taken from the first row."""
    several = [Pair(f"p{i}", "q", f"{i}", "2") for i in range(20)]
    assert len({one_per_question(several, seed)[0] for seed in range(8)}) > 2


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 2, None])), max_size=40), seeds)
def test_the_better_response_is_the_longer_one_in_half(lengths: list[tuple[int, int, Any]], seed: int) -> None:
    """Afterwards the better response is the longer one as often as the shorter; only the surplus is left out."""
    several = [Pair(f"p{i}", "q", "x" * a, "y" * b, gold) for i, (a, b, gold) in enumerate(lengths)]
    kept, surplus = balance_length(several, seed)
    sides = [sum(pair.better_is_longer is side for pair in several) for side in (True, False)]
    assert [sum(pair.better_is_longer is side for pair in kept) for side in (True, False)] == [min(sides)] * 2
    assert surplus == abs(sides[0] - sides[1])
    assert [pair for pair in several if pair in kept] == list(kept)


@given(some_pairs)
def test_swapping_leaves_which_response_is_longer(pair: Pair) -> None:
    """That the better response is the longer one does not depend on its position."""
    assert pair.better_is_longer == swap_responses(pair).better_is_longer


# --- rows without ids -----------------------------------------------------------------------------------------


def test_ids_are_made_of_the_texts(file: Path) -> None:
    """Without any id, ids are made of the texts: the same in any order of the rows, other ones for other texts."""
    without = [{key: value for key, value in row.items() if key != "id"} for row in rows(6)]
    once = {pair.id: pair for pair in read(write(file, *without))}
    again = {pair.id: pair for pair in read(write(file, *reversed(without)))}
    assert once == again
    assert len(once) == 6


def test_the_same_texts_twice_without_ids(file: Path, snapshot: SnapshotAssertion) -> None:
    """Rows that are the same cannot be told apart by ids of their texts; both are named."""
    row = {key: value for key, value in ROW.items() if key != "id"}
    assert refusal(write(file, row, "", row)) == snapshot


@pytest.mark.parametrize("missing", [0, 1])
def test_ids_in_some_rows_alone(file: Path, missing: int) -> None:
    """Ids in some rows only are a mistake, whichever row comes first."""
    lines: list[dict[str, Any]] = rows(2)
    del lines[missing]["id"]
    assert refusal(write(file, *lines)).startswith(f"dataset 'mine': {file}:2: ")


# --- whatever the file holds ------------------------------------------------------------------------------------


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    """A path that no file can have is an error like that of a file that does not exist."""
    refusal(tmp_path / "a\0b")


def test_half_of_a_surrogate_pair_in_a_category(file: Path) -> None:
    """A category, too, must be text that can be written to a report."""
    refusal(write(file, json.dumps(ROW | {"category": "HALF"}).replace("HALF", r"\ud800")))


def test_a_category_is_a_text(file: Path) -> None:
    """A category that is a list or an object is refused, not turned into Python's spelling of it."""
    refusal(write(file, ROW | {"category": ["a"]}))


@pytest.mark.parametrize("value", [0, False, []])
def test_a_falsy_content_type(file: Path, value: Any) -> None:
    """A content type that is no text is refused, whatever its truth value."""
    refusal(write(file, ROW | {"content_type": value}))


@pytest.mark.parametrize(("field", "value"), [("gold", "A"), ("id", None)])
def test_mapped_columns_are_named(file: Path, field: Literal["gold", "id"], value: Any) -> None:
    """A message about a mapped gold or id speaks of the column in the user's file."""
    assert "'theirs'" in refusal(write(file, ROW | {"theirs": value}), columns={field: "theirs"})


def test_a_mapped_column_that_no_row_has(file: Path) -> None:
    """A column that the configuration names and no row has is an error, not a dataset without gold."""
    refusal(write(file, ROW | {"label": 1}), columns={"gold": "lable"})


def test_an_empty_row(file: Path) -> None:
    """A row without any field is said to have none."""
    assert "the row has ." not in refusal(write(file, {}))
