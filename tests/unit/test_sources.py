"""Every source on small files that have its true schema, written and read by the real `datasets` library, offline."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from packaging.version import Version
from support.project import Project, suite
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import build_config
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.sources import Sample, Source, load_pairs, load_sample
from judgefixtures.sources.known_sources import NAMED
from judgefixtures.sources.sample import describe_sample, left_out_counts
from judgefixtures.sources.schemas import read_tables
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

DATASETS = Path(__file__).parents[2] / "docs" / "how-to" / "close-calls.md"
Table = list[dict[str, Any]]
OWN: dict[str, Any] = {"id": "a", "question": "Why?", "response_1": "Because.", "response_2": "Why not?"}


@pytest.fixture(autouse=True)
def _quiet() -> None:
    """Write the tests' files without progress bars."""
    datasets.disable_progress_bars()


def refusal(source: Source) -> str:
    """The message with which a source is refused."""
    with pytest.raises(JudgeFixturesError) as caught:
        load_sample(source)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a cause would be shown, too"
    return str(caught.value)


def unbalanced(source: Source) -> dict[str, Pair]:
    """The pairs as the data has them, by their question."""
    return {pair.question: pair for pair in load_pairs(source)}


# --- how a table may lie on a disk ----------------------------------------------------------------------------


def as_jsonl(table: Table, path: Path, features: Features | None) -> Path:
    Dataset.from_list(table, features=features).to_json(path / "data.jsonl", date_format="iso")
    return path / "data.jsonl"


def as_json(table: Table, path: Path, features: Features | None) -> Path:
    rows = Dataset.from_list(table, features=features).to_list()
    (path / "data.json").write_text(json.dumps(rows, default=str), encoding="utf-8")
    return path / "data.json"


def as_parquet(table: Table, path: Path, features: Features | None) -> Path:
    Dataset.from_list(table, features=features).to_parquet(path / "data.parquet")
    return path / "data.parquet"


def as_saved(table: Table, path: Path, features: Features | None) -> Path:
    Dataset.from_list(table, features=features).save_to_disk(str(path / "saved"))
    return path / "saved"


def as_saved_splits(table: Table, path: Path, features: Features | None) -> Path:
    whole = Dataset.from_list(table, features=features)
    DatasetDict({"here": whole}).save_to_disk(str(path / "splits"))
    return path / "splits"


def as_folder(table: Table, path: Path, features: Features | None) -> Path:
    (path / "folder").mkdir()
    whole = Dataset.from_list(table, features=features)
    half = len(table) // 2
    whole.select(range(half)).to_parquet(path / "folder" / "part-0.parquet")
    whole.select(range(half, len(table))).to_parquet(path / "folder" / "part-1.parquet")
    return path / "folder"


LAYOUTS = (as_jsonl, as_json, as_parquet, as_saved, as_saved_splits, as_folder)
Layout = Callable[[Table, Path, Any], Path]
layouts = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)

# --- the true schemas -----------------------------------------------------------------------------------------


def eli5_row(number: int, *scores: int, subreddit: str = "explainlikeimfive", selftext: str = "") -> dict[str, Any]:
    return {
        "q_id": f"q{number}",
        "title": f"Why {number}?",
        "selftext": selftext,
        "document": "",
        "subreddit": subreddit,
        "answers": {
            "a_id": [f"a{number}{i}" for i in range(len(scores))],
            "text": [f"answer {number} with {score}" for score in scores],
            "score": list(scores),
        },
        "title_urls": {"url": []},
    }


def eli5_table() -> Table:
    return [
        eli5_row(0, 10, 4),
        eli5_row(1, 3, 9, 30, selftext="Tell me."),
        eli5_row(2, 8, 2, subreddit="askscience"),
        eli5_row(3, 5, 4),
        eli5_row(4, -3, 2),
    ]


def shp_table() -> Table:
    return [
        {
            "post_id": f"p{i}",
            "domain": "explainlikeimfive_test",
            "upvote_ratio": 0.9,
            "history": f"Why {i}?",
            "c_root_id_A": f"c{i}",
            "c_root_id_B": f"d{i}",
            "created_at_utc_A": 1,
            "created_at_utc_B": 2,
            "score_A": 4,
            "score_B": 9,
            "human_ref_A": f"A {i}",
            "human_ref_B": f"B {i}",
            "labels": i % 2,
            "seconds_difference": 3.0,
            "score_ratio": ratio,
        }
        for i, ratio in enumerate((3.0, 2.0, 1.5, 8.0))
    ]


def litbench_table() -> Table:
    return [
        {
            "prompt": f"[WP] {i}",
            "chosen_story": f"good {i}",
            "rejected_story": f"bad {i}",
            "chosen_timestamp": "2020-01-02T03:04:05",
            "rejected_timestamp": "2020-01-02T03:04:05",
            "chosen_upvotes": votes,
            "rejected_upvotes": 10,
        }
        for i, votes in enumerate((30, 20, 15, 99))
    ]


LITBENCH = Features(
    {
        "prompt": Value("string"),
        "chosen_story": Value("string"),
        "rejected_story": Value("string"),
        "chosen_timestamp": Value("timestamp[ns]"),
        "rejected_timestamp": Value("timestamp[ns]"),
        "chosen_upvotes": Value("int64"),
        "rejected_upvotes": Value("int64"),
    }
)


def rewardbench_table() -> Table:
    subsets = [subset for group in read_tables()["rewardbench"].category["domains"].values() for subset in group]
    return [
        {
            "prompt": f"Do {i}",
            "chosen": f"good {i}",
            "chosen_model": "gpt-4",
            "rejected": f"bad {i}",
            "rejected_model": "llama",
            "subset": subset,
            "id": i,
        }
        for i, subset in enumerate(subsets)
    ]


def judgebench_table() -> Table:
    sources = ("mmlu-pro-computer science", "livebench-reasoning", "livebench-math", "livecodebench", "a new one")
    return [
        {
            "pair_id": f"{i}-uuid",
            "original_id": str(i),
            "source": source,
            "question": f"What {i}?",
            "response_model": "gpt-4o-2024-05-13",
            "response_A": f"A {i}",
            "response_B": f"B {i}",
            "label": "B>A" if i % 2 else "A>B",
        }
        for i, source in enumerate(sources)
    ]


def conversation(question: str, answer: str) -> list[dict[str, str]]:
    turns = ((question, "user"), (answer, "assistant"), (f"More on {question}", "user"), ("More.", "assistant"))
    return [{"content": content, "role": role} for content, role in turns]


def mt_bench_table() -> Table:
    votes = (("model_a", 1), ("model_b", 1), ("tie", 1), ("model_a", 2), ("tie (inconsistent)", 1))
    return [
        {
            "question_id": 81 + i,
            "model_a": "alpaca-13b",
            "model_b": "gpt-4",
            "winner": winner,
            "judge": "author_2",
            "conversation_a": conversation(f"What {i}?", f"A {i}"),
            "conversation_b": conversation(f"What {i}?", f"B {i}"),
            "turn": turn,
        }
        for i, (winner, turn) in enumerate(votes)
    ]


TABLES: Mapping[str, tuple[Callable[[], Table], Features | None]] = {
    "eli5": (eli5_table, None),
    "shp-eli5": (shp_table, None),
    "litbench": (litbench_table, LITBENCH),
    "rewardbench": (rewardbench_table, None),
    "judgebench": (judgebench_table, None),
    "mt-bench-human": (mt_bench_table, None),
}
on_the_hub = pytest.mark.parametrize("name", TABLES)


@pytest.fixture
def copy(tmp_path: Path) -> Callable[..., Source]:
    """Return a function that writes a local copy of a named source and returns that source."""

    def write(name: str, table: Table | None = None, layout: Layout = as_parquet, **said: Any) -> Source:
        build, features = TABLES[name]
        path = layout(build() if table is None else table, tmp_path, features if table is None else None)
        return Source(**{"name": "mine", "path": path, "source": name, "balance_positions": False, **said})

    return write


@on_the_hub
@layouts
@pytest.mark.slow
def test_a_copy_in_any_layout_gives_the_same_pairs(
    name: str, layout: Layout, copy: Callable[..., Source], tmp_path: Path
) -> None:
    """However a copy of a known source lies on the disk, in whatever order of rows, the sample is the same."""
    expected = load_sample(copy(name))
    assert expected.pairs
    assert load_sample(copy(name, layout=layout)) == expected
    (tmp_path / "again").mkdir()
    shuffled = Dataset.from_list(TABLES[name][0](), features=TABLES[name][1]).shuffle(seed=1)
    shuffled.to_parquet(tmp_path / "again" / "data.parquet")
    again = load_sample(Source("mine", tmp_path / "again", name, balance_positions=False))
    assert again == expected


@pytest.mark.sampled(3)
@on_the_hub
def test_every_column_that_is_needed_is_missed(name: str, copy: Callable[..., Source]) -> None:
    """Without one of its columns a known source is refused, with what was found and what was expected."""
    for column in NAMED[name].columns:
        table = [{key: value for key, value in row.items() if key != column} for row in TABLES[name][0]()]
        message = refusal(copy(name, table))
        assert f"has no column {column!r}: found " in message
        assert f"expected {', '.join(map(repr, NAMED[name].columns))}" in message


@on_the_hub
def test_another_type_in_a_column(name: str, copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """A text column that holds numbers is an error that names the row and the field: no traceback, no guess."""
    column = {
        "eli5": "title",
        "shp-eli5": "human_ref_A",
        "litbench": "chosen_story",
        "judgebench": "question",
        "mt-bench-human": "winner",
        "rewardbench": "chosen",
    }[name]
    table = [{**row, column: 7} for row in TABLES[name][0]()]
    assert refusal(copy(name, table)) == snapshot


def test_eli5(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """A pair is two answers whose upvotes differ at least by the ratio, the better one first; the rest is counted."""
    sample = load_sample(copy("eli5", one_per_question=False))
    assert {pair.id for pair in sample.pairs} == {"q0-a00-a01", "q1-a11-a10", "q1-a12-a10", "q1-a12-a11", "q4-a41-a40"}
    first = {pair.id: pair for pair in sample.pairs}["q1-a11-a10"]
    assert first == Pair("q1-a11-a10", "Why 1?\n\nTell me.", "answer 1 with 9", "answer 1 with 3", 1)
    assert sample.left_out == snapshot


def test_eli5_answers_of_the_other_form(copy: Callable[..., Source]) -> None:
    """Answers may be a list of objects instead of an object of lists: the pairs are the same."""
    table = eli5_table()
    for row in table:
        held = row["answers"]
        row["answers"] = [dict(zip(held, values, strict=True)) for values in zip(*held.values(), strict=True)]
    assert load_sample(copy("eli5", table)) == load_sample(copy("eli5"))


def test_eli5_answers_that_are_others(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """Answers without one of their fields are refused with what was found and expected."""
    table = [{**eli5_row(0, 10, 4), "answers": {"a_id": ["a", "b"], "text": ["1", "2"]}}]
    assert lines_about(refusal(copy("eli5", table)), "'score'") == snapshot


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            {"a_id": ["a", "b", "c"], "text": ["1", "2"], "score": [3, 2, 1]},
            "the lists of answers must have the same length, got {'a_id': 3, 'text': 2, 'score': 3}",
        ),
        ({"a_id": "a", "text": "1", "score": 3}, "answers must be a list of objects or an object of lists"),
        ("none", "answers have no 'a_id', 'text', 'score': found 'none'"),
        ([{"a_id": "a", "text": "1", "score": 3}, None], "answers have no 'a_id', 'text', 'score': found None"),
        ([{"a_id": "a", "text": "1", "score": None}], "answers.score must be a number, got None"),
    ],
)
def test_eli5_answers_of_no_form(answers: Any, expected: str, copy: Callable[..., Source]) -> None:
    """Answers that are neither form, or whose lists do not go together, are an error: none is dropped silently."""
    assert f"row 1: {expected}" in refusal(copy("eli5", [{**eli5_row(0, 10, 4), "answers": answers}]))


def test_eli5_answers_with_more(copy: Callable[..., Source]) -> None:
    """Further lists beside the answers' texts, of whatever length, change nothing; nor does a blank selftext."""
    table = eli5_table()
    for row in table:
        row["answers"]["text_urls"] = []
        row["selftext"] = row["selftext"] or " \n"
    assert load_sample(copy("eli5", table)) == load_sample(copy("eli5"))


def test_eli5_without_text_or_difference(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """Equal upvotes make no gold, and a deleted answer no pair; both are counted."""
    table = [eli5_row(0, 4, 4), eli5_row(1, 9, 1), eli5_row(2, 9, 1)]
    table[1]["answers"]["text"][1] = " "
    assert load_sample(copy("eli5", table)).left_out == snapshot


@pytest.mark.parametrize("name", ["eli5", "shp-eli5", "litbench"])
def test_one_pair_a_question_and_the_ratio(name: str, copy: Callable[..., Source]) -> None:
    """A larger ratio leaves fewer pairs; by default each question has one, and the others are counted."""
    everything = load_sample(copy(name, one_per_question=False))
    one = load_sample(copy(name))
    assert len(one.pairs) == len({pair.question for pair in everything.pairs})
    assert one.left_out.get("further pairs of a question", 0) == len(everything.pairs) - len(one.pairs)
    assert len(load_sample(copy(name, min_ratio=3.0)).pairs) < len(one.pairs)
    assert len(load_sample(copy(name, min_ratio=1.0, one_per_question=False)).pairs) > len(everything.pairs)


@pytest.mark.parametrize(("name", "within"), [("eli5", 4), ("shp-eli5", 3), ("litbench", 3)])
def test_the_largest_ratio(name: str, within: int, copy: Callable[..., Source]) -> None:
    """max_ratio takes the pairs up to that ratio, itself included, and counts those above it."""
    bounds = {"min_ratio": 1.0, "one_per_question": False}
    everything = load_sample(copy(name, **bounds))
    sample = load_sample(copy(name, max_ratio=3.0, **bounds))
    assert len(sample.pairs) == within
    assert {pair.id for pair in sample.pairs} < {pair.id for pair in everything.pairs}
    above = len(everything.pairs) - within
    assert sample.left_out == {**everything.left_out, "pairs with a ratio of upvotes above 3": above}
    only = load_sample(copy(name, min_ratio=3.0, max_ratio=3.0, one_per_question=False))
    assert 0 < len(only.pairs) < within


def test_the_largest_ratio_as_documented(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """close-calls.md's example: of 10, 9 and 4 upvotes the pair 10 and 9 is kept, the two others are counted."""
    (said,) = re.findall(
        r"^\[tool\.judgefixtures\.datasets\.close-answers\]\n(.*?)^```", DATASETS.read_text(), re.MULTILINE | re.DOTALL
    )
    table = tomllib.loads(said)
    keys = {key: value for key, value in table.items() if key != "source"}
    sample = load_sample(copy(table["source"], [eli5_row(0, 10, 9, 4)], **keys))
    assert [pair.id for pair in sample.pairs] == ["q0-a00-a01"]
    assert left_out_counts(sample.left_out) == snapshot


def test_shp(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """labels = 1 says that A is preferred, 0 that B is."""
    pairs = unbalanced(copy("shp-eli5"))
    assert pairs["Why 0?"] == Pair("p0-c0-d0", "Why 0?", "A 0", "B 0", 2)
    assert pairs["Why 1?"].gold == 1
    assert "Why 2?" not in pairs
    assert (
        lines_about(refusal(copy("shp-eli5", [{**row, "labels": 3} for row in shp_table()])), "labels is") == snapshot
    )


def test_shp_of_all_subreddits(tmp_path: Path) -> None:
    """A clone of SHP's repository holds other subreddits, too: their posts are counted and left out."""
    for subreddit in ("askculinary", "explainlikeimfive"):
        (tmp_path / subreddit).mkdir()
        table = [
            {**row, "domain": f"{subreddit}_test", "post_id": f"{subreddit}-{row['post_id']}"} for row in shp_table()
        ]
        as_jsonl(table, tmp_path / subreddit, None).rename(tmp_path / subreddit / "test.json")
    sample = load_sample(Source("shp", tmp_path, "shp-eli5"))
    assert {pair.id.partition("-")[0] for pair in sample.pairs} == {"explainlikeimfive"}
    assert sample.left_out["questions of another subreddit"] == 4


@pytest.mark.parametrize("said", ["[deleted]", "[removed]\n"])
def test_deleted_texts(said: str, copy: Callable[..., Source]) -> None:
    """What Reddit shows in place of a text is no response: the pair is counted and left out."""
    table = litbench_table()
    table[0]["rejected_story"] = said
    assert load_sample(copy("litbench", table)).left_out["pairs with a deleted text"] == 1


def test_litbench(copy: Callable[..., Source]) -> None:
    """The chosen story is the better one, and a story is called one."""
    pair = unbalanced(copy("litbench"))["[WP] 0"]
    assert (pair.response_1, pair.response_2, pair.gold, pair.content_type) == ("good 0", "bad 0", 1, "Story")
    assert {p.content_type for p in load_pairs(copy("litbench", content_type="Tale"))} == {"Tale"}


def test_litbench_rehydrated(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A CSV of stories without upvotes is read; a ratio that is asked for all the same is an error."""
    with (tmp_path / "test.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["prompt", "chosen_story", "rejected_story"])
        writer.writeheader()
        writer.writerow({"prompt": "NA", "chosen_story": 'He said "no",\nthen left.', "rejected_story": "007"})
    source = Source("mine", tmp_path / "test.csv", "litbench", balance_positions=False)
    (pair,) = load_pairs(source)
    assert (pair.question, pair.response_1, pair.response_2) == snapshot
    refused = refusal(Source("mine", tmp_path / "test.csv", "litbench", min_ratio=2.0))
    assert lines_about(refused, "min_ratio is") == snapshot
    refused = refusal(Source("mine", tmp_path / "test.csv", "litbench", max_ratio=3.0))
    assert lines_about(refused, "max_ratio is") == snapshot
    refused = refusal(Source("mine", tmp_path / "test.csv", "litbench", min_ratio=2.0, max_ratio=3.0))
    assert refused.endswith("Remove min_ratio and max_ratio.")


@pytest.mark.parametrize("name", ["litbench", None])
def test_litbench_ids_alone(name: str | None, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """LitBench's test set holds ids only: that is said, with the CSV that would do."""
    table = [{"chosen_comment_id": "abc", "rejected_comment_id": "def"}]
    message = refusal(Source("mine", as_parquet(table, tmp_path, None), name))
    assert lines_about(message, "Reddit comments") == snapshot
    assert "'prompt', 'chosen_story', 'rejected_story'" in message


def test_rewardbench(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """The category is the official domain of the subset; all four are there; an unknown subset is an error."""
    pairs = load_pairs(copy("rewardbench"))
    assert len(pairs) == 23
    assert {pair.category for pair in pairs} == {"Chat", "Chat Hard", "Safety", "Reasoning"}
    by_id = {pair.id: pair for pair in pairs}
    assert by_id["hep-go-18"].category == "Reasoning"
    assert (by_id["alpacaeval-easy-0"].response_1, by_id["alpacaeval-easy-0"].gold) == ("good 0", 1)
    table = [{**row, "subset": "hep-cobol"} for row in rewardbench_table()]
    assert lines_about(refusal(copy("rewardbench", table)), "'hep-cobol'") == snapshot


def test_an_id_that_is_used_for_several_pairs(copy: Callable[..., Source]) -> None:
    """Published ids that are used twice are told apart by the texts; a row that is there twice counts once."""
    row = rewardbench_table()[0]
    table = [row, row, {**row, "prompt": "Do something else"}]
    sample = load_sample(copy("rewardbench", table))
    assert len({pair.id for pair in sample.pairs}) == len(sample.pairs) == 2
    assert all(pair.id.startswith("alpacaeval-easy-0-") for pair in sample.pairs)
    assert sample.left_out == {"repeated rows": 1}
    assert load_sample(copy("rewardbench", table[::-1])) == sample


def test_judgebench(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """Gold and responses are as in the data; the category is the authors' group, or the source as it is."""
    pairs = unbalanced(copy("judgebench"))
    assert [pairs[f"What {i}?"].category for i in range(5)] == ["knowledge", "reasoning", "math", "coding", "a new one"]
    assert pairs["What 1?"] == Pair("1-uuid", "What 1?", "A 1", "B 1", 2, "reasoning")
    table = [{**row, "label": "A=B"} for row in judgebench_table()]
    assert lines_about(refusal(copy("judgebench", table)), "A=B', which") == snapshot


def test_labels_are_read_by_their_names(tmp_path: Path) -> None:
    """A column of the type ClassLabel stands for its names, in a copy of a known source and in one's own data."""
    texts = {key: Value("string") for key in judgebench_table()[0]}
    named = as_parquet(judgebench_table(), tmp_path, Features({**texts, "label": ClassLabel(names=["A>B", "B>A"])}))
    (tmp_path / "plain").mkdir()
    plain = as_parquet(judgebench_table(), tmp_path / "plain", None)
    assert load_pairs(Source("j", named, "judgebench")) == load_pairs(Source("j", plain, "judgebench"))
    rows = [{**OWN, "id": str(i), "gold": i % 2, "category": i - 1} for i in range(3)]
    types = {"gold": ClassLabel(names=["1", "2"]), "category": ClassLabel(names=["math", "law"])}
    saved = as_saved(rows, tmp_path, Features({**{key: Value("string") for key in OWN}, **types}))
    read = {pair.id: pair for pair in load_pairs(Source("mine", saved, balance_positions=False))}
    assert [read[name].gold for name in "012"] == [1, 2, 1]
    assert [read[name].category for name in "012"] == [None, "math", "law"]
    mapped = load_pairs(Source("mine", saved, balance_positions=False, gold_values={"1": 2, "2": 1}))
    assert {pair.id: pair.gold for pair in mapped} == {"0": 2, "1": 1, "2": 2}


def test_a_column_of_mixed_types(tmp_path: Path) -> None:
    """Ids that are numbers here and texts there are read as they are, in a copy of a known source, too.

    `datasets` before 4.7 reads no such file: then that is said, and no id is changed.
    """
    rows = [{**row, "id": number} for row, number in zip(rewardbench_table(), (1, "b"), strict=False)]
    (tmp_path / "copy.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    if Version(datasets.__version__) < Version("4.7"):
        with pytest.raises(JudgeFixturesError, match=r"copy\.jsonl cannot be read: .*Correct it"):
            load_pairs(Source("r", tmp_path / "copy.jsonl", "rewardbench"))
        return
    pairs = load_pairs(Source("r", tmp_path / "copy.jsonl", "rewardbench"))
    assert {pair.id.rpartition("-")[2] for pair in pairs} == {"1", "b"}


def test_images_are_not_looked_at(tmp_path: Path) -> None:
    """A column that is no text stops nobody: it is not decoded, whatever would be needed for that."""
    image = {"bytes": Value("binary"), "path": Value("string")}  # as it is stored; to write one needs Pillow
    features = Features({**{key: Value("string") for key in OWN}, "seen": image})
    saved = as_saved([{**OWN, "seen": {"bytes": b"no image", "path": None}}], tmp_path, features)
    info = json.loads((saved / "dataset_info.json").read_text())
    info["features"]["seen"] = {"_type": "Image"}
    (saved / "dataset_info.json").write_text(json.dumps(info))
    assert [pair.id for pair in load_pairs(Source("mine", saved))] == ["a"]


@pytest.mark.parametrize("name", ["{}.json", "eli5_{}.json", "data-{}-00000.json"])
def test_the_files_of_a_split(name: str, tmp_path: Path) -> None:
    """Of a folder with a file a split the source's own split is read, wherever its name stands in the file's."""
    for number, split in enumerate(("train", "validation", "test", "latest")):
        rows = as_jsonl([eli5_row(number, 10, 4)], tmp_path, None)
        rows.rename(tmp_path / name.format(split))
    assert [pair.question for pair in load_pairs(Source("eli5", tmp_path, "eli5"))] == ["Why 2?"]


def test_judgebench_splits_of_a_folder(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A clone of the hub's repository holds a file a split: gpt is taken unless the table says claude."""
    (tmp_path / "data").mkdir()
    gpt, claude = judgebench_table()[:2], judgebench_table()[2:]
    Dataset.from_list(gpt).to_json(tmp_path / "data" / "gpt-00000-of-00001.jsonl")
    Dataset.from_list(claude).to_json(tmp_path / "data" / "claude-00000-of-00001.jsonl")
    assert len(load_pairs(Source("mine", tmp_path, "judgebench"))) == 2
    assert len(load_pairs(Source("mine", tmp_path, "judgebench", split="claude"))) == 3
    assert lines_about(refusal(Source("mine", tmp_path, "judgebench", split="o1")), "'o1'") == snapshot


def test_mt_bench_human(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """A pair is a vote on a first turn; ties and votes on second turns are counted and left out."""
    sample = load_sample(copy("mt-bench-human"))
    pairs = {pair.question: pair for pair in sample.pairs}
    assert set(pairs) == {"What 0?", "What 1?"}
    assert pairs["What 1?"] == Pair("82-alpaca-13b-gpt-4-author_2", "What 1?", "A 1", "B 1", 2)
    assert sample.left_out == snapshot


def test_mt_bench_conversations_of_the_other_form(copy: Callable[..., Source]) -> None:
    """Conversations may be an object of lists, as `datasets` has a sequence of objects: the pairs are the same."""
    table = mt_bench_table()
    for row in table:
        for column in ("conversation_a", "conversation_b"):
            row[column] = {key: [message[key] for message in row[column]] for key in ("content", "role")}
    assert load_sample(copy("mt-bench-human", table)) == load_sample(copy("mt-bench-human"))


WRONG_TABLES = {
    'hubb = "o/n"': 'has an unknown key .hubb.: did you mean "hub"',
    'texts = ["a", "b"]': r"texts = \['a', 'b'\] is not valid: it must be the columns of question, response 1",
    'many_per_question = "yes"': "many_per_question = 'yes' is not valid: it must be true or false",
    'gold = {column = "g", values = {a = 3}}': "gold values = .* is not valid: it must be values mapped to 1, 2 or 0",
    'gold = "g"': r"gold must be a table, got 'g'",
    'gold = {column = "g"}': "gold has no 'values'",
    'category = {column = "c", domain = {}}': "category has an unknown key 'domain'",
    'only = {column = "c", left_out = "others"}': "only must hold one of equals and begins",
    'votes = ["a"]': "votes must be the columns of the better and the worse",
    'hub = "o/n"\naddress = "there"': "must have either hub",
}


@pytest.mark.parametrize(("said", "refused"), WRONG_TABLES.items())
def test_a_wrong_table_of_columns_is_refused(said: str, refused: str, tmp_path: Path) -> None:
    """A key or a value of the shipped tables that cannot be used is an error that names file, table and key."""
    own = {line.partition(" = ")[0] for line in said.splitlines()}
    rest = {"hub": '"o/n"', "columns": '["a", "b", "c"]', "texts": '["a", "b", "c"]'}
    lines = [f"{key} = {value}" for key, value in rest.items() if key not in own]
    (tmp_path / "own.toml").write_text("\n".join(["[x]", *lines, said]))
    with pytest.raises(JudgeFixturesError, match=rf"^own\.toml: \[x\].* {refused}"):
        read_tables(tmp_path / "own.toml")


LLMBAR_ROW = {"input": "Say it.", "output_1": "It.", "output_2": "Not it.", "label": 1}


def llmbar(folder: Path) -> Path:
    """A clone of LLMBar's repository, with the files that must not be read."""
    places = (
        "LLMBar/Natural",
        "LLMBar/Adversarial/GPTInst",
        "LLMBar/Adversarial/GPTOut",
        "LLMBar/Adversarial/Manual",
        "LLMBar/Adversarial/Neighbor",
        "CaseStudy/Base-9",
        "Processed/FairEval",
    )
    for number, place in enumerate(places):
        (folder / "Dataset" / place / "evaluators").mkdir(parents=True)
        rows = [{**LLMBAR_ROW, "input": f"Say {number}.", "label": number % 2 + 1}]
        (folder / "Dataset" / place / "dataset.json").write_text(json.dumps(rows))
        (folder / "Dataset" / place / "evaluators" / "result.json").write_text('[{"swap": 1}]')
    return folder


def test_llmbar(tmp_path: Path) -> None:
    """From the repository's folder the five sets of LLMBar are read, the folder's name is the category."""
    pairs = unbalanced(Source("mine", llmbar(tmp_path), "llmbar", balance_positions=False))
    assert {pair.category for pair in pairs.values()} == {"Natural", "GPTInst", "GPTOut", "Manual", "Neighbor"}
    assert (pairs["Say 1."].category, pairs["Say 1."].gold, pairs["Say 0."].gold) == ("GPTInst", 2, 1)
    natural = tmp_path / "Dataset" / "LLMBar" / "Natural" / "dataset.json"
    assert [pair.category for pair in load_pairs(Source("mine", natural, "llmbar"))] == ["Natural"]


BIAS_ROW = {"bias": "length bias", "instruction": "Say it.", "response1": "It.", "response2": "It, it.", "label": 1}


@pytest.mark.parametrize("by_bias", [True, False])
def test_biasbench(tmp_path: Path, by_bias: bool) -> None:
    """The file holds a list for each bias, or one list; the bias is the category and the label, always 1, the gold."""
    rows = [{**BIAS_ROW, "bias": bias, "instruction": f"Say {bias}."} for bias in ("length bias", "concreteness")]
    held: Any = {row["bias"]: [row] for row in rows} if by_bias else rows
    (tmp_path / "data" / "evalbiasbench").mkdir(parents=True)
    (tmp_path / "data" / "evalbiasbench" / "biasbench.json").write_text(json.dumps(held))
    pairs = unbalanced(Source("mine", tmp_path, "biasbench", balance_positions=False))
    assert pairs["Say concreteness."].category == "concreteness"
    assert {pair.gold for pair in pairs.values()} == {1}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"bias": ["length"]}, "bias must be a text or a whole number, got ['length']"),
        ({"label": None}, "label must be a number, got None"),
        ({"label": 3}, "label is 3, which is unknown"),
    ],
)
def test_biasbench_of_other_values(tmp_path: Path, changed: dict[str, Any], expected: str) -> None:
    """A bias that is no name and a label that is no response are errors that name the row."""
    (tmp_path / "biasbench.json").write_text(json.dumps([{**BIAS_ROW, **changed}]))
    assert f"row 1: {expected}" in refusal(Source("mine", tmp_path / "biasbench.json", "biasbench"))


@pytest.mark.parametrize(("name", "row"), [("llmbar", LLMBAR_ROW), ("biasbench", BIAS_ROW)])
def test_authors_files(tmp_path: Path, name: str, row: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """What is read by path alone says where to get it, and what it misses in a file that is not theirs."""
    assert "github.com" in refusal(Source("mine", source=name))
    assert "github.com" in refusal(Source("mine", tmp_path, name))
    file = tmp_path / "own.json"
    file.write_text(json.dumps([{key: value for key, value in row.items() if key != "label"}]))
    assert lines_about(refusal(Source("mine", file, name)), "'label'") == snapshot
    file.write_text(json.dumps([{**row, "label": 0}]))
    assert lines_about(refusal(Source("mine", file, name)), "is unknown") == snapshot


# --- files of the user's --------------------------------------------------------------------------------------


def own(count: int = 6) -> Table:
    return [
        {
            "id": f"p{i}",
            "question": f"q{i}",
            "response_1": f"{i} one",
            "response_2": f"{i} two",
            "gold": 1 + i % 2,
            "category": f"c{i % 3}",
        }
        for i in range(count)
    ]


def as_csv(table: Table, path: Path, _: Features | None, *, name: str = "data.csv") -> Path:
    with (path / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(table[0]), delimiter="\t" if name.endswith("tsv") else ",")
        writer.writeheader()
        writer.writerows(table)
    return path / name


def as_tsv(table: Table, path: Path, features: Features | None) -> Path:
    return as_csv(table, path, features, name="data.tsv")


@pytest.mark.parametrize("layout", [*LAYOUTS, as_csv, as_tsv], ids=lambda layout: layout.__name__)
def test_own_files_of_any_format(layout: Layout, tmp_path: Path) -> None:
    """The same table in any format gives the same pairs."""
    expected = load_pairs(Source("mine", as_jsonl(own(), tmp_path, None)))
    assert load_pairs(Source("mine", layout(own(), tmp_path, None))) == expected


@pytest.mark.parametrize("layout", [*LAYOUTS, as_csv, as_tsv], ids=lambda layout: layout.__name__)
def test_votes_in_files_of_any_format(layout: Layout, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Votes in any format take the same pairs; in formats without types they are the object's JSON text."""
    votes = [{"1": 1, "2": 1, "tie": 3}, {"1": 2, "2": 1}, {"1": 5, "2": 0, "tie": 0}, None, {"1": 0, "2": 0, "tie": 5}]
    textual = layout in (as_csv, as_tsv)
    table = [
        {**row, "votes": json.dumps(said) if textual and said else said}
        for row, said in zip(own(5), votes, strict=True)
    ]
    sample = load_sample(Source("mine", layout(table, tmp_path, None), max_margin=0.34))
    assert {pair.id for pair in sample.pairs} == {"p0", "p1", "p4"}
    assert sample.left_out == snapshot


def test_a_folder_whose_name_is_a_pattern(tmp_path: Path) -> None:
    """A path that would match other files as a pattern names the one file that it spells."""
    (tmp_path / "a[b]*").mkdir()
    assert len(load_pairs(Source("mine", as_csv(own(), tmp_path / "a[b]*", None)))) == 6


def test_csv_is_text(tmp_path: Path) -> None:
    """No value of a CSV is taken for a number, a date or nothing because of how it looks; an empty one is nothing."""
    row = {"id": "007", "question": "2020-01-01", "response_1": "NA", "response_2": "1.0", "gold": "", "category": ""}
    assert load_pairs(Source("mine", as_csv([row], tmp_path, None))) == (Pair("007", "2020-01-01", "NA", "1.0"),)


@pytest.mark.parametrize(
    ("rows", "line", "cells"),
    [("1,q,a,b,c\n2,r,a,b,c\n", 2, 5), ("1,q,a,b,c,d\n", 2, 6), ("1,q,a,b\n2,r,a,b,c\n", 3, 5), ("1,q,a\n", 2, 3)],
    ids=["all", "by-two", "one", "shorter"],
)
def test_csv_rows_of_another_length_than_the_head(rows: str, line: int, cells: int, tmp_path: Path) -> None:
    """Cells beyond the last column, or fewer, are an error with the line: never is a row shifted to make them fit."""
    (tmp_path / "x.csv").write_text("id,question,response_1,response_2\n" + rows)
    message = refusal(Source("mine", tmp_path / "x.csv"))
    assert message.startswith(f"dataset 'mine': {tmp_path / 'x.csv'}:{line}: the row has {cells} cells")


def test_csv_of_a_spreadsheet(tmp_path: Path) -> None:
    """Semicolons, and UTF-16 with tabs, are read as a spreadsheet writes them."""
    rows = load_pairs(Source("mine", as_csv(own(), tmp_path, None)))
    text = (tmp_path / "data.csv").read_text()
    (tmp_path / "x.csv").write_bytes(text.replace(",", ";").encode("utf-8-sig"))
    (tmp_path / "y.csv").write_bytes(text.replace(",", "\t").encode("utf-16"))
    assert load_pairs(Source("mine", tmp_path / "x.csv")) == load_pairs(Source("mine", tmp_path / "y.csv")) == rows


def test_csv_with_an_index(tmp_path: Path) -> None:
    """pandas writes its index under no name: such a CSV is read, the index as a column that is ignored."""
    path = as_csv([{"": i, **row} for i, row in enumerate(own())], tmp_path, None)
    (tmp_path / "without").mkdir()
    assert load_pairs(Source("mine", path)) == load_pairs(Source("mine", as_csv(own(), tmp_path / "without", None)))


@pytest.mark.parametrize("layout", [as_jsonl, as_json, as_csv, as_parquet, as_saved, as_saved_splits])
def test_errors_name_file_and_row(layout: Layout, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A wrong row is named with its dataset, its file and its place."""
    table = own()
    table[1]["question"] = " "
    message = refusal(Source("mine", layout(table, tmp_path, None)))
    assert message.startswith("dataset 'mine': ")
    assert lines_about(message, "'question'") == snapshot


def test_json_objects_around_the_rows(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The one list of an object is taken; where there are several, `rows` names one, also a nested one."""
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"version": 1, "items": own()}))
    assert len(load_pairs(Source("mine", file))) == 6
    file.write_text(json.dumps({"items": own(), "others": [], "deep": [{"rows": own(3)}]}))
    assert lines_about(refusal(Source("mine", file)), "with `rows") == snapshot
    assert len(load_pairs(Source("mine", file, rows="deep.0.rows"))) == 3
    assert lines_about(refusal(Source("mine", file, rows="items.rows")), "'items'") == snapshot


@pytest.mark.parametrize(
    ("layout", "key"),
    [(as_jsonl, "rows"), (as_csv, "rows"), (as_saved, "rows"), (as_json, "split"), (as_parquet, "split")],
)
def test_keys_that_a_file_does_not_have(layout: Layout, key: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """`rows` is a key of JSON, `split` of what has several files or splits: elsewhere they are errors, not ignored."""
    source = Source("mine", layout(own(), tmp_path, None), **{key: "data"})  # type: ignore[arg-type]
    assert lines_about(refusal(source), "'data'") == snapshot


def test_an_empty_saved_dataset(tmp_path: Path) -> None:
    """`datasets` cannot read back what it saved without rows: that is said."""
    Dataset.from_dict({key: [] for key in OWN}).save_to_disk(str(tmp_path / "saved"))
    message = refusal(Source("mine", tmp_path / "saved"))
    assert re.search("no pairs|without rows", message)


def test_splits(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Of several splits one must be named; the message names them."""
    DatasetDict({"train": Dataset.from_list(own(4)), "test": Dataset.from_list(own(2))}).save_to_disk(
        str(tmp_path / "both")
    )
    assert len(load_pairs(Source("mine", tmp_path / "both", split="test"))) == 2
    assert lines_about(refusal(Source("mine", tmp_path / "both")), "splits: Accepted") == snapshot
    assert lines_about(refusal(Source("mine", tmp_path / "both", split="trian")), "'trian'") == snapshot


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.parquet", b"PAR1 not"),
        ("x.csv", b""),
        ("x.csv", b"id,id\n1,2\n"),
        ("x.json", b"{"),
        ("x.json", b"3"),
        ("x.json", b"[3]"),
        ("x.csv", b"id,question,response_1,response_2\n"),
        ("x.jsonl", b""),
        ("x.csv", b"id\n\xe9\n"),
        ("x.json", b"{}\n{}\n"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, content: bytes, snapshot: SnapshotAssertion) -> None:
    """A file that is not what its name says is an error with the file's name and no traceback."""
    (tmp_path / name).write_bytes(content)
    message = refusal(Source("mine", tmp_path / name))
    assert message.startswith(f"dataset 'mine': {tmp_path / name}")
    assert message == snapshot


def test_folders_that_are_no_data(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A folder without rows, or with files of several kinds, says what it holds."""
    assert lines_about(refusal(Source("mine", tmp_path)), "rows; found") == snapshot
    as_csv(own(), tmp_path, None)
    as_parquet(own(), tmp_path, None)
    assert "several kinds (.csv, .parquet); found 'data.csv', 'data.parquet'" in refusal(Source("mine", tmp_path))


def test_files_of_one_folder_have_one_form(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Files of a folder with other columns are named, and ids are unique over all of them."""
    as_csv(own(), tmp_path, None, name="a.csv")
    as_csv([{**row, "id": row["id"] + "b"} for row in own()], tmp_path, None, name="b.csv")
    assert len(load_pairs(Source("mine", tmp_path))) == 12
    as_csv(own()[3:], tmp_path, None, name="c.csv")
    used = refusal(Source("mine", tmp_path))
    assert re.search(r"c\.csv: row 1: id .* is also in .*a\.csv: row 4", used), "the other file is named, too"
    as_csv([{"text": "x"}], tmp_path, None, name="c.csv")
    assert lines_about(refusal(Source("mine", tmp_path)), "'text'") == snapshot


# --- the mapping ----------------------------------------------------------------------------------------------


def mapped(tmp_path: Path, table: Sequence[Any], **source: Any) -> Source:
    (tmp_path / "rows.json").write_text(json.dumps(list(table)))
    return Source(**{"name": "mine", "path": tmp_path / "rows.json", "balance_positions": False, **source})


def test_chosen_and_rejected(tmp_path: Path) -> None:
    """Of a chosen and a rejected response the chosen one is better: mapped, or by their very names."""
    row = {"id": 1, "prompt": "Why?", "yes": [{"content": "Good."}], "no": [{"content": "Bad."}]}
    columns = {"question": "prompt", "chosen": "yes.0.content", "rejected": "no.0.content"}
    expected = (Pair("1", "Why?", "Good.", "Bad.", 1),)
    assert load_pairs(mapped(tmp_path, [row], columns=columns)) == expected
    plain = {"id": 1, "question": "Why?", "chosen": "Good.", "rejected": "Bad."}
    assert load_pairs(mapped(tmp_path, [plain])) == expected
    # Balanced like any other pair.
    several = [{**plain, "id": number} for number in range(10)]
    assert [pair.gold for pair in load_pairs(mapped(tmp_path, several, balance_positions=True))].count(2) == 5


def test_dotted_paths(tmp_path: Path) -> None:
    """A path goes into objects and lists; a column whose name has dots comes first; one that leads nowhere is named."""
    row = {"id": 1, "vars": {"q": "Why?"}, "vars.q": "Which?", "outputs": ["One.", "Two."]}
    columns = {"question": "vars.q", "response_1": "outputs.0", "response_2": "outputs.1"}
    assert load_pairs(mapped(tmp_path, [row], columns=columns)) == (Pair("1", "Which?", "One.", "Two."),)
    assert "field 'outputs.2' is missing" in refusal(
        mapped(tmp_path, [row], columns={**columns, "response_2": "outputs.2"})
    )


def test_gold_values(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Values of gold are mapped to 1 and 2, those mapped to 0 are left out and counted, any other is an error."""
    table = [{**OWN, "id": i, "gold": gold} for i, gold in enumerate(["A>B", "B>A", "tie", True, None])]
    values = {"A>B": 1, "B>A": 2, "tie": 0, "true": 1}
    sample = load_sample(mapped(tmp_path, table, gold_values=values))
    assert {pair.id: pair.gold for pair in sample.pairs} == {"0": 1, "1": 2, "3": 1, "4": None}
    assert sample.left_out == snapshot
    numbers = load_sample(
        mapped(tmp_path, [{**OWN, "id": i, "gold": float(i)} for i in (0, 1)], gold_values={"0": 1, "1": 2})
    )
    assert {pair.id: pair.gold for pair in numbers.pairs} == {"0": 1, "1": 2}, "whole numbers that were read as floats"
    message = refusal(mapped(tmp_path, table, gold_values={"A>B": 1}))
    assert "row 2: gold is 'B>A', which gold_values does not map: " in message
    assert "Accepted: A>B" in message


PROMPTFOO = {
    "evalId": "eval-abc-2026-01-01T00:00:00",
    "results": {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "prompts": [{"raw": "{{q}}", "label": "{{q}}", "provider": "openai:gpt-4o"}],
        "results": [
            {
                "promptIdx": provider,
                "testIdx": test,
                "promptId": "hash",
                "id": f"{test}-{provider}",
                "provider": {"id": f"openai:model-{provider}", "label": ""},
                "prompt": {"raw": f"Why {test}?", "label": ""},
                "vars": {"q": f"Why {test}?"},
                "response": {"output": f"Because {test} {provider}.", "tokenUsage": {}},
                "success": provider == 0,
                "score": 1 - provider,
                "failureReason": 0,
                "latencyMs": 3,
                "cost": 0.1,
                "namedScores": {},
                "gradingResult": None,
                "metadata": {},
                "testCase": {"vars": {"q": f"Why {test}?"}, "metadata": {"topic": "why"}},
            }
            for provider in (1, 0)
            for test in range(3)
        ],
        "stats": {"successes": 3, "failures": 3, "errors": 0, "tokenUsage": {}},
    },
    "config": {},
    "shareableUrl": None,
    "metadata": {"promptfooVersion": "0.118.0"},
}


def test_promptfoo(tmp_path: Path) -> None:
    """A promptfoo export gives a pair a test: its outputs in the order of the providers, not of the rows."""
    file = tmp_path / "results.json"
    file.write_text(json.dumps(PROMPTFOO))
    pairs = unbalanced(Source("mine", file, "promptfoo", balance_positions=False))
    assert (pairs["Why 2?"].response_1, pairs["Why 2?"].response_2) == ("Because 2 0.", "Because 2 1.")
    columns = {
        "question": "vars.q",
        "category": "metadata.topic",
        "gold": "success.0",
        "response_1": "outputs.1",
        "response_2": "outputs.0",
    }
    chosen = unbalanced(
        Source("mine", file, "promptfoo", columns=columns, gold_values={"true": 2, "false": 0}, balance_positions=False)
    )
    assert (chosen["Why 0?"].response_1, chosen["Why 0?"].gold, chosen["Why 0?"].category) == ("Because 0 1.", 2, "why")


def test_promptfoo_calls_that_failed(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A test without one of its outputs is counted and left out; an output that is an object is written as JSON."""
    export = json.loads(json.dumps(PROMPTFOO))
    del export["results"]["results"][0]["response"]
    export["results"]["results"][1]["response"]["output"] = {"a": ["é"]}
    file = tmp_path / "results.json"
    file.write_text(json.dumps(export))
    sample = load_sample(Source("mine", file, "promptfoo", balance_positions=False))
    assert sample.left_out == snapshot
    assert {pair.response_2 for pair in sample.pairs} == {'{"a": ["é"]}', "Because 2 1."}
    file.write_text(json.dumps({"results": {"table": {}}}))
    assert lines_about(refusal(Source("mine", file, "promptfoo")), "promptfoo export") == snapshot


GOLDEN = {
    "input": "Why?",
    "actual_output": "Because.",
    "expected_output": "So.",
    "context": None,
    "source_file": None,
    "retrieval_context": None,
}
TEST_CASE = {
    "name": "test_case_0",
    "input": "Why?",
    "actualOutput": "Because.",
    "expectedOutput": "So.",
    "context": None,
    "retrievalContext": None,
    "success": True,
    "metricsData": [],
    "order": 0,
}


@pytest.mark.parametrize(
    "export", [[GOLDEN], {"testCases": [TEST_CASE], "conversationalTestCases": [], "metricsScores": []}]
)
def test_deepeval(tmp_path: Path, export: Any) -> None:
    """A saved dataset and a test run of deepeval give the same pairs: actual against expected, or as mapped."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(export))
    (pair,) = load_pairs(Source("mine", file, "deepeval", balance_positions=False))
    assert (pair.question, pair.response_1, pair.response_2, pair.gold) == ("Why?", "Because.", "So.", None)
    columns = {"chosen": "expected_output", "rejected": "actual_output"}
    (pair,) = load_pairs(Source("mine", file, "deepeval", columns=columns, balance_positions=False))
    assert (pair.response_1, pair.response_2, pair.gold) == ("So.", "Because.", 1)


# --- the configuration ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        {"path": "x.jsonl", "min_ratio": 2.0},
        {"path": "x.jsonl", "max_ratio": 3.0},
        {"path": "x.jsonl", "revision": "abc"},
        {"path": "x.jsonl", "config": "abc"},
        {"source": "eli5", "columns": {"question": "title"}},
        {"source": "eli5", "gold_values": {"A": 1}},
        {"source": "eli5", "path": "x", "revision": "abc"},
        {"source": "rewardbench", "min_ratio": 2.0},
        {"source": "rewardbench", "max_ratio": 2.0},
        {"source": "eli5", "min_ratio": 3.0, "max_ratio": 2.5},
        {"source": "eli5", "max_ratio": 1.5},
        {"source": "eli5", "max_margin": 0.2},
        {"source": "house-qa", "max_margin": 0.2},
        {"source": "house-qa", "split": "train"},
        {"source": "owner/name", "rows": "items"},
        {"source": "owner/name", "path": "x"},
        {"source": "rewardbnech"},
        {"path": ""},
        {"path": "x", "min_ratio": 0.5},
        {"path": "x", "max_ratio": 0.5},
        {"path": "x", "max_margin": -0.1},
        {"path": "x", "max_margin": 1.5},
        {"path": "x", "max_margin": float("nan")},
        {"path": "x", "max_ratio": float("inf")},
        {"path": "x", "gold_values": {"A": 3}},
        {"path": "x", "columns": {"chosen": "a", "gold": "b"}},
        {"path": "x", "license": "MIT"},
    ],
)
def test_keys_that_do_not_apply(table: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """A key that a source does not have is an error when the configuration is read, never ignored."""
    with pytest.raises(JudgeFixturesError) as caught:
        build_config({"datasets": {"d": table}}, "judges.toml")
    assert str(caught.value).startswith("judges.toml: ")
    assert str(caught.value) == snapshot


def test_every_key_reaches_its_source() -> None:
    """Whatever a table says stands in the record that is read from, and in what a frozen sample is told by."""
    table = {
        "source": "owner/name",
        "revision": "r",
        "config": "c",
        "split": "s",
        "columns": {"question": "q"},
        "gold_values": {"A": 1},
        "one_per_question": False,
        "balance_length": True,
        "licence": "mine",
        "balance_positions": False,
        "content_type": "Story",
        "max_margin": 0.0,
    }
    source = build_config({"datasets": {"d": table}}).source("d")
    assert {key: getattr(source, key) for key in table} == table
    assert source.selection == {key: value for key, value in table.items() if key != "licence"}
    scored = {"source": "eli5", "min_ratio": 1.0, "max_ratio": 1.5}
    assert build_config({"datasets": {"d": scored}}).source("d").selection == scored


def test_balance_length(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The surplus of pairs whose better response is longer is left out and counted; without any gold it is an error."""
    table = [
        {**OWN, "id": i, "response_1": "long enough", "response_2": "no", "gold": 1 if i < 7 else 2} for i in range(10)
    ]
    sample = load_sample(mapped(tmp_path, table, balance_length=True))
    assert [pair.better_is_longer for pair in sample.pairs].count(True) == 3
    assert sample.left_out == snapshot
    assert lines_about(refusal(mapped(tmp_path, [OWN], balance_length=True)), "pair has") == snapshot
    message = refusal(mapped(tmp_path, table[:7], balance_length=True))
    assert "no pair of" in message
    assert lines_about(message, "the balance") == snapshot


def test_pairs_that_share_a_question_are_shown(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Benchmarks and own files keep all pairs of a question unless told, but the preflight counts them."""
    table = [{**OWN, "id": i, "question": f"q{i // 2}"} for i in range(4)]
    source = mapped(tmp_path, table)
    sample = load_sample(source)
    lines = describe_sample("mine", sample.pairs, sample, source, 0, available=4)
    assert lines_about(lines, "share a question") == snapshot
    one = load_sample(mapped(tmp_path, table, one_per_question=True))
    assert len(one.pairs) == 2
    assert not any(
        "share a question" in line for line in describe_sample("mine", one.pairs, one, source, 0, available=2)
    )


def test_many_categories_are_no_wall_of_text() -> None:
    """The preflight lists twenty categories with their counts, and says how many more there are."""
    pairs = tuple(Pair(f"p{n}", f"Why {n}?", "This.", "That.", category=f"c{n:02}") for n in range(80))
    (line,) = [
        each
        for each in describe_sample("mine", pairs, Sample(pairs), Source("mine"), 0, available=80)
        if "categories" in each
    ]
    assert line.endswith("c18 1, c19 1, and 60 more")


def test_nothing_left(copy: Callable[..., Source], snapshot: SnapshotAssertion) -> None:
    """Where the rules leave no pair, the rules are named with their counts."""
    assert lines_about(refusal(copy("eli5", [eli5_row(0, 4, 4)])), "upvotes. Relax") == snapshot


# --- the hub --------------------------------------------------------------------------------------------------

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """A hub that holds the tables above, and a list of what was asked of it."""
    from types import SimpleNamespace

    import huggingface_hub

    asked: list[tuple[Any, ...]] = []

    def info(_: Any, name: str, *, revision: str | None, timeout: float) -> Any:
        assert timeout
        asked.append(("info", name, revision))
        return SimpleNamespace(sha=SHA)

    def load(name: str, config: str | None = None, **given: Any) -> Any:
        asked.append((name, config, given))
        found = {known.hub: key for key, known in NAMED.items()}.get(name)
        if found is None:
            return DatasetDict({"train": Dataset.from_list([{**row, "ask": row["question"]} for row in own()] * 2)})
        return Dataset.from_list(TABLES[found][0](), features=TABLES[found][1])

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets, "load_dataset", load)
    return asked


@on_the_hub
def test_what_is_asked_of_the_hub(name: str, hub: list[tuple[Any, ...]]) -> None:
    """A known source is asked for by its id, data_dir and split, at the commit that was found first."""
    sample = load_sample(Source(name))
    known = NAMED[name]
    assert hub == [
        ("info", known.hub, None),
        (known.hub, None, {"data_dir": known.data_dir, "split": known.split, "revision": SHA}),
    ]
    assert sample.revision == SHA
    assert sample.licence


def test_a_hub_id_with_columns(hub: list[tuple[Any, ...]]) -> None:
    """Any dataset on the hub is read by columns; its only split is taken, and rows that are there twice count once."""
    sample = load_sample(Source("mine", source="o/n", config="c", revision="v1", columns={"question": "ask"}))
    assert hub == [("info", "o/n", "v1"), ("o/n", "c", {"data_dir": None, "split": None, "revision": SHA})]
    assert len(sample.pairs) == 6
    assert sample.left_out == {"repeated rows": 6}


@pytest.mark.usefixtures("hub")
def test_a_column_of_the_hub_that_is_called_votes(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """On the hub `votes` may be anything, which is no error until the table asks for votes."""
    table = [{**row, "votes": 12, "people": {"1": i, "2": 1}} for i, row in enumerate(own())]
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: DatasetDict({"train": Dataset.from_list(table)}))
    source = Source("mine", source="o/n")
    assert len(load_pairs(source)) == 6
    assert lines_about(refusal(replace(source, max_margin=0.2)), "'votes'") == snapshot
    assert lines_about(refusal(replace(source, columns={"votes": "votes"})), "'votes'") == snapshot
    sample = load_sample(replace(source, max_margin=0.2, columns={"votes": "people"}))
    assert [pair.id for pair in sample.pairs] == ["p1"]
    assert sample.left_out == snapshot


def hub_refusal(monkeypatch: pytest.MonkeyPatch, error: Exception, source: Source) -> str:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    return refusal(source)


@pytest.mark.usefixtures("hub")
def test_what_can_go_wrong_on_the_hub(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """Gated, missing and broken datasets, dead scripts and wrong splits each say what happened and what to do."""
    from datasets.exceptions import DatasetNotFoundError

    source = Source("mine", source="o/n", revision="v1")
    for error in (
        DatasetNotFoundError("Dataset 'o/n' is a gated dataset on the Hub."),
        DatasetNotFoundError("Dataset 'o/n' doesn't exist on the Hub or cannot be accessed."),
        DatasetNotFoundError("Revision 'v1' doesn't exist for dataset 'o/n' on the Hub."),
        ValueError("Unknown split \"a\". Should be one of ['b']."),
        ConnectionError("Couldn't reach 'o/n' on the Hub (ConnectTimeout)"),
    ):
        message = hub_refusal(monkeypatch, error, source)
        assert message.startswith("dataset 'mine': o/n ")
        assert message == snapshot
    dead = RuntimeError("Dataset scripts are no longer supported, but found eli5.py")
    message = hub_refusal(monkeypatch, dead, Source("mine", source="defunct-datasets/eli5"))
    assert lines_about(message, "which `datasets`") == snapshot
    assert 'use `source = "eli5"`, which reads Pavithree/eli5' in message


@pytest.mark.whole
@pytest.mark.parametrize(
    ("environment", "problem"),
    [({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE"), ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "cannot be reached")],
)
def test_without_network(
    environment: dict[str, str], problem: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Offline by wish or by accident: soon one message with what is missing and the two ways to get it."""
    code = (
        "from judgefixtures.sources import Source, load_sample\nfrom judgefixtures.util.errors import JudgeFixturesError\n"
        "try: load_sample(Source('eli5'))\nexcept JudgeFixturesError as error: print(error)"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    shown = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**kept, "HF_HOME": str(tmp_path), **environment},
    )
    assert shown.stderr == ""
    assert shown.stdout.startswith("dataset 'eli5': Pavithree/eli5 ")
    assert lines_about(shown.stdout, problem, "--judge-record missing", "local copy", "loading script") == snapshot


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own JSON lines and tables need no `datasets`; for anything else its absence is said, with the way around."""
    Dataset.from_list(own()).save_to_disk(str(tmp_path / "saved"))
    files = [layout(own(), tmp_path, None) for layout in (as_jsonl, as_csv)]
    monkeypatch.setitem(sys.modules, "datasets", None)
    for file in files:
        assert len(load_pairs(Source("mine", file))) == len(own())
    assert "the library `datasets` cannot be imported" in refusal(Source("mine", tmp_path / "saved"))


@pytest.mark.whole
def test_own_json_lines_do_not_import_the_library(tmp_path: Path) -> None:
    """Reading a pair file imports nothing heavy."""
    (tmp_path / "own.jsonl").write_text(json.dumps(OWN))
    code = (
        "import sys, pathlib; from judgefixtures.sources import Source, load_pairs; "
        f"load_pairs(Source('m', pathlib.Path({str(tmp_path / 'own.jsonl')!r}))); "
        "print([n for n in ('datasets', 'pandas', 'pyarrow', 'huggingface_hub') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_a_local_file_leaves_nothing_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read anew each time: an edit within a second is seen, and no copy of private data stays behind."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    file = as_csv(own(2), tmp_path, None)
    assert len(load_pairs(Source("mine", file))) == 2
    as_csv(own(5), tmp_path, None)
    assert len(load_pairs(Source("mine", file))) == 5
    assert not list((tmp_path / "cache").rglob("*.arrow"))


def test_ids_are_pinned(copy: Callable[..., Source]) -> None:
    """These ids in this order for good: recordings, and other versions of `datasets`, rely on it."""
    ids = [pair.id for pair in load_pairs(copy("rewardbench", balance_positions=True), seed=3)]
    assert ids[:6] == PINNED


PINNED = ["mt-bench-med-4", "llmbar-natural-6", "hep-rust-22", "donotanswer-15", "hep-js-20", "mt-bench-easy-3"]


# --- in a project ---------------------------------------------------------------------------------------------

HUB = """
import datasets, huggingface_hub
from types import SimpleNamespace
from datasets import Dataset

def load(name, config=None, **given):
    with open("asked.txt", "a") as file:
        file.write(f"{name} {given['revision']}\\n")
    rows = [{"pair_id": f"p{i:03}", "source": ["mmlu-pro-law", "livecodebench"][i % 2], "question": f"What {i}?",
             "response_A": f"A {i}", "response_B": f"B {i}, longer", "label": ["A>B", "B>A"][i % 3 == 0]}
            for i in range(40)]
    return Dataset.from_list(rows)

huggingface_hub.HfApi.dataset_info = lambda self, name, revision, timeout: SimpleNamespace(sha=revision or "a" * 40)
datasets.load_dataset = load
"""


def configuration(url: str = NOWHERE, top: str = "pairs = 20", table: str = "") -> str:
    """Return a configuration with a dataset of the hub and two judges."""
    return (
        f'judge = "simulated"\ndataset = ["bench"]\n{top}\n[judges.simulated]\nprovider = "openai"\n'
        f'model = "simulated-faithful"\nbase_url = "{url}/v1"\n[judges.candidate]\nextends = "simulated"\n'
        f'seed = 1\n[datasets.bench]\nsource = "judgebench"\n{table}\n[gate]\nvsr_tolerance = 0.3\n'
    )


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with a dataset of the hub, run in processes of its own."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    options = ("-p", "no:cacheprovider", "--judge-config", "judges.toml")
    project = Project(pytester, configuration, file="judges.toml", options=options, apart=True)
    project.write("test_recency.py", suite("recency", name="recency"))
    project.configure()
    return project


def run(project: Project, *arguments: str, network: bool = False) -> str:
    """Run pytest, with a hub or without; return what it said, and its exit code."""
    project.write("conftest.py", HUB if network else "")
    ran = project.run(*arguments)
    return f"{ran.said}\nexit {ran.ret}"


def asked_of(project: Project) -> list[str]:
    """Return what the hub was asked for."""
    file = project.path / "asked.txt"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.slow
def test_a_hub_dataset_is_recorded_once_and_replays_offline(project: Project, snapshot: SnapshotAssertion) -> None:
    """Recorded once with network, the sample is frozen; then no run asks the hub, and none writes a byte."""
    from judgefixtures.simulator.server import serving

    assert lines_about(run(project), "--judge-record") == snapshot
    with serving() as server:
        project.configure(server.url)
        assert "exit 0" in run(project, "--judge-record", "missing", network=True)
    assert asked_of(project) == [f"ScalerLab/JudgeBench {'a' * 40}"], "the hub was asked once"
    folder = project.path / "cassettes" / "simulated" / "bench"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    sample = json.loads(before["sample.json"])
    assert (sample["revision"], sample["seed"], sample["available"], len(sample["pairs"])) == ("a" * 40, 0, 40, 20)
    assert sample["licence"] == "MIT"

    assert "1 passed" in run(project)
    assert "1 passed" in run(project, "--judge-pairs", "10")
    said = run(project, "--judge-preflight")
    assert (
        lines_about(said, "ScalerLab/JudgeBench (judgebench", "categories: coding", "the recordings", "first response")
        == snapshot
    )
    assert "1 passed" in run(project, "--judge-record", "missing"), "nothing is missing, so nothing is fetched"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(asked_of(project)) == 1

    for arguments, problem in (
        (["--judge-pairs", "30"], "30 pairs are requested, but 20 of 40 are saved"),
        (["seed = 3"], "its seed was 0 and is now 3, which selects other pairs"),
    ):
        if arguments[0].startswith("seed"):
            project.configure(server.url, arguments[0])
            arguments = []
        said = run(project, *arguments)
        assert lines_about(said, problem) == snapshot
        assert "Traceback" not in said
    project.configure(server.url, table='split = "claude"')
    assert lines_about(run(project), "'claude'") == snapshot


@pytest.mark.slow
def test_a_candidate_is_asked_about_the_baselines_pairs(project: Project) -> None:
    """Another judge's frozen sample serves a judge without one, so that both are asked the same: no hub is needed."""
    from judgefixtures.simulator.server import serving

    with serving() as server:
        project.configure(server.url)
        run(project, "--judge-record", "missing", network=True)
        asked = len(asked_of(project))
        assert "1 passed" in run(project, "--judge", "candidate", "--judge-record", "missing", "--judge-force")
        assert len(asked_of(project)) == asked
    folder = project.path / "cassettes"
    frozen = [(folder / judge / "bench" / "sample.json").read_bytes() for judge in ("simulated", "candidate")]
    assert frozen[0] == frozen[1]
    more = run(project, "--judge-record", "missing", "--judge-pairs", "25", "--judge-preflight", network=True)
    assert "bench: 25 of 40 pairs" in more
    assert asked_of(project)[-1].endswith("a" * 40)


@pytest.mark.slow
def test_judges_of_pairs_and_of_responses_share_a_sample(project: Project) -> None:
    """What lies beside a grader's recordings are the pairs of the hub: a judge of pairs is asked about the same."""
    from judgefixtures.simulator.server import serving

    with serving() as server:
        project.configure(server.url)
        file = project.path / "judges.toml"
        file.write_text(
            file.read_text().replace(
                "[judges.candidate]",
                f"""[judges.grader]
provider = "openai"
model = "simulated-grader-faithful"
base_url = "{server.url}/v1"
mode = "binary"
[judges.candidate]""",
            )
        )
        assert "1 passed" in run(
            project, "--judge", "grader", "--judge-record", "missing", "--judge-force", network=True
        )
        assert "1 passed" in run(project, "--judge", "candidate", "--judge-record", "missing", "--judge-force")
    assert len(asked_of(project)) == 1
    folder = project.path / "cassettes"
    frozen = [(folder / judge / "bench" / "sample.json").read_bytes() for judge in ("grader", "candidate")]
    assert frozen[0] == frozen[1]
    assert len(json.loads(frozen[0])["pairs"]) == 20
    said = run(project, "--judge", "grader")
    assert "1 passed" in said
    assert "20 of 40 pairs" in run(project, "--judge", "grader", "--judge-preflight")


def test_a_damaged_sample_is_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """A sample that does not fit its pairs is an error that says how to go on, never another sample."""
    folder = project.path / "cassettes" / "simulated" / "bench"
    folder.mkdir(parents=True)
    (folder / "pairs.jsonl").write_text(json.dumps(pair_to_row(Pair("a", "q", "1", "2"))) + "\n")
    for content in (
        "{",
        "[]",
        '{"judgefixtures": 2}',
        json.dumps(
            {
                "judgefixtures": 1,
                "selection": {},
                "seed": 0,
                "available": 1,
                "left_out": {},
                "pairs": [{"id": "a", "digest": "0"}],
            }
        ),
    ):
        (folder / "sample.json").write_text(content)
        said = run(project)
        assert lines_about(said, "sample.json") == snapshot
        assert "Traceback" not in said


def test_samples_compare() -> None:
    """Two loads of the same thing are equal records."""
    assert load_sample(Source("house-qa")) == load_sample(Source("house-qa"))
    assert isinstance(load_sample(Source("house-qa")), Sample)
