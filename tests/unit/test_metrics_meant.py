"""An export holds many judgements of many: the import takes those of one judge, and what people said as their labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.importing import Tool
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.importers import ImportRequest, formats, import_log, log_files, summary
from judgefixtures.importers.formats.unmarked import PlainLogFormat
from judgefixtures.util.errors import JudgeFixturesError

N = 6


@pytest.fixture(autouse=True)
def _tool(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {Tool.name: Tool, PlainLogFormat.name: PlainLogFormat}
    monkeypatch.setattr(formats, "EXPORTS", every)
    monkeypatch.setattr(log_files, "EXPORTS", every)


def said(number: int, **more: Any) -> dict[str, Any]:
    """Return what a judge says of an example."""
    texts = {"id": f"e{number}", "question": f"Question {number}?", "response": f"This, {number}."}
    return {"metric": "tone", "passed": number % 2 == 0, "reason": "It is polite.", **texts, **more}


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., Any]:
    """Import judgements; return what was done."""

    def taken(rows: list[dict[str, Any]], **more: Any) -> Any:
        log = tmp_path / "log.json"
        log.write_text(json.dumps({"judgements": rows}))
        request = ImportRequest((log,), judge="mine", into=tmp_path / "cassettes", config=None)
        return import_log(replace(request, **more))

    return taken


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_only_judge_is_meant(take: Callable[..., Any], snapshot: SnapshotAssertion) -> None:
    """Beside checks in code and people the one judge needs no name, and what people say of the same is the label."""
    code = [said(n, metric="exact", by="code", passed=True) for n in range(N)]
    people = [said(n, by="person", passed="pass" if n < 3 else "fail") for n in range(N)]
    done = take([*code, *(said(n) for n in range(N)), *people])
    assert {pair.id: pair.label for pair in done.pairs} == {f"e{n}": "pass" if n < 3 else "fail" for n in range(N)}
    assert [answer.said for _, answer in sorted(done.imported.answers.items())] == [n % 2 == 0 for n in range(N)]
    assert done.imported.dataset == "log"
    assert lines_about(summary(done), "other metrics") == snapshot


def test_of_several_the_list_is_shown(take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where several judges are there and none is named, each is listed with its count and its values."""
    rows = [*(said(n) for n in range(N)), *(said(n, metric="depth", passed=None, score=n / 10) for n in range(N))]
    with pytest.raises(JudgeFixturesError) as error:
        take([*rows, *(said(n, by="person", passed="pass") for n in range(2))])
    assert lines_about(str(error.value), "metrics, but") == snapshot
    assert "  depth (a judge's): 6 rows: scores from 0 to 0.5\n" in str(error.value)
    assert "  tone (a judge's): 6 rows: True 3, False 3\n" in str(error.value)
    assert "  tone (people's): 2 rows: pass 2\n" in str(error.value)
    assert "--metric depth" in str(error.value)
    assert not (tmp_path / "cassettes").exists()
    assert len(take(rows, metric="tone").imported.answers) == N
    with pytest.raises(JudgeFixturesError) as raised:
        take(rows, metric="ton")
    assert str(raised.value) == snapshot


def test_people_under_another_name(take: Callable[..., Any], snapshot: SnapshotAssertion) -> None:
    """People's judgements under another name are labels where it is named, and are told of where it is not."""
    people = [said(n, metric="verdict", by="person", passed=None, score=n % 2) for n in range(N)]
    rows = [*(said(n) for n in range(N)), *people]
    done = take(rows)
    assert {pair.label for pair in done.pairs} == {None}
    assert lines_about(summary(done), "'verdict'") == snapshot
    done = take(rows, label_metric="verdict")
    assert [pair.label for pair in done.pairs] == ["fail", "pass"] * 3


def test_people_who_disagree(take: Callable[..., Any]) -> None:
    """Several people's labels are all kept, and the example's is that of most."""
    people = [said(n, by="person", passed=word) for n in range(N) for word in ("pass", "pass", "fail")]
    done = take([*(said(n) for n in range(N)), *people])
    assert {pair.label for pair in done.pairs} == {"pass"}
    assert {len(pair.labels) for pair in done.pairs} == {3}


def test_people_are_not_chosen_with_a_judge(take: Callable[..., Any]) -> None:
    """Of two versions of a judge --where chooses one; what people say of the same has no version, and stays."""
    both = [said(n, version=version) for n in range(N) for version in ("1", "2")]
    people = [said(n, by="person", passed="pass") for n in range(N)]
    done = take([*both, *people], where={"judged.version": "2"})
    assert len(done.imported.answers) == N
    assert {pair.label for pair in done.pairs} == {"pass"}
    with pytest.raises(JudgeFixturesError, match=r"none of 12 rows matches --where judged\.version=3"):
        take([*both, *people], where={"judged.version": "3"})


def test_people_who_score(take: Callable[..., Any], snapshot: SnapshotAssertion) -> None:
    """What people say that is neither pass nor fail is no label, and is counted with its place."""
    people = [said(n, by="person", passed=None, score=4) for n in range(N)]
    done = take([*(said(n) for n in range(N)), *people])
    assert {pair.label for pair in done.pairs} == {None}
    (told,) = (line for line in summary(done) if "of people" in line)
    assert lines_about(told, "a subject") == snapshot
    assert "row 7" in told


def test_labels_go_to_examples_of_a_file(take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Examples of --pairs that nobody labelled have the labels of the log."""
    names = ("id", "question", "response")
    pairs = tmp_path / "examples.jsonl"
    pairs.write_text("".join(json.dumps({name: said(n)[name] for name in names}) + "\n" for n in range(N)))
    rows = [said(n, question=None, response=None) for n in range(N)]
    people = [said(n, by="person", passed="pass", question=None, response=None) for n in range(N)]
    done = take([*rows, *people], pairs=pairs)
    assert [pair.label for pair in done.pairs] == ["pass"] * N
    assert not done.remarks
    own = [{name: said(n)[name] for name in names} | ({} if n else {"label": "fail"}) for n in range(N)]
    pairs.write_text("".join(json.dumps(row) + "\n" for row in own))
    done = take([*rows, *people], pairs=pairs)
    assert [pair.label for pair in done.pairs] == ["fail", *[None] * (N - 1)]
    assert lines_about(done.remarks[0], "people's labels") == snapshot


def test_labels_of_what_nobody_judged(take: Callable[..., Any], snapshot: SnapshotAssertion) -> None:
    """What people say of other examples than the judge is told."""
    people = [said(n, by="person", passed="pass") for n in range(N + 2)]
    done = take([*(said(n) for n in range(N)), *people])
    assert done.remarks == snapshot


def test_too_many_rows_without_use(take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """More than one row in twenty without a use is an error that counts the reasons, unless so many are allowed."""
    rows = [said(n, error="timeout") if n == 2 else said(n) for n in range(N)]
    with pytest.raises(JudgeFixturesError) as error:
        take(rows)
    assert lines_about(str(error.value), "judge ended") == snapshot
    assert "--allow 0.17" in str(error.value)
    assert not (tmp_path / "cassettes").exists()
    assert len(take(rows, allow=0.17).imported.answers) == N - 1


@pytest.mark.parametrize(
    "own", [True, None, {"metric": ["a"], "by": "zz"}, {"error": "x", "metric": "a", "by": "code"}]
)
def test_a_column_of_that_name(own: Any, tmp_path: Path) -> None:
    """In a plain log a column called `judged` is a column like any other."""
    log = tmp_path / "own.jsonl"
    rows = [{"id": f"e{n}", "question": f"{n}?", "response": f"{n}.", "passed": n < 2, "judged": own} for n in range(N)]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = import_log(ImportRequest((log,), judge="mine", into=tmp_path / "cassettes"))
    assert sum(bool(each.said) for each in done.imported.answers.values()) == 2
    assert not done.unused


def test_texts_of_several_examples(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A row without an id is about the example with its texts; where two have them it is no one's, and is counted."""
    examples = [{"id": f"e{n}", "question": "Why?", "response": "So." if n < 2 else f"{n}."} for n in range(N)]
    pairs, log = tmp_path / "examples.jsonl", tmp_path / "log.jsonl"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in examples))
    rows = [{"question": row["question"], "response": row["response"], "passed": True} for row in examples[1:]]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = import_log(ImportRequest((log,), judge="mine", pairs=pairs, into=tmp_path / "cassettes", allow=0.2))
    assert [key.pair for key in sorted(done.imported.answers)] == [f"e{n}" for n in range(2, N)]
    assert [why for why, _ in done.unused] == snapshot


def test_rows_that_say_it_again_allow_nothing(take: Callable[..., Any]) -> None:
    """Copies of usable rows do not make the share of those without a use any smaller."""
    rows = [said(n, error="timeout") if n == 2 else said(n) for n in range(N)]
    with pytest.raises(JudgeFixturesError, match=r"1 of 6 rows \(16\.7%\) cannot be used"):
        take(rows + [said(0)] * 100)


def test_the_judges_own_answers_are_no_labels(
    take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """The name of the judge's metric as that of the people is an error where no person says anything under it."""
    with pytest.raises(JudgeFixturesError) as error:
        take([said(n) for n in range(N)], label_metric="tone")
    assert str(error.value) == snapshot
    assert not (tmp_path / "cassettes").exists()
    with pytest.raises(JudgeFixturesError) as error:
        take([said(n, by="person", passed="pass") for n in range(N)], metric="tone")
    assert str(error.value) == snapshot


def test_a_check_in_code_of_the_same_name_is_not_the_judge(take: Callable[..., Any]) -> None:
    """What code says under the name of a judge is another metric; by itself it can be meant."""
    code = [said(n, by="code") for n in range(2, N)]
    done = take([*(said(n) for n in range(2)), *code])
    assert (len(done.imported.answers), done.of_others) == (2, N - 2)
    assert len(take(code, metric="tone").imported.answers) == N - 2


def test_rows_without_a_metric_are_not_dropped(
    take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """A second log whose rows name no metric is an error that names its first row."""
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"id": "e0", "passed": true}\n')
    with pytest.raises(JudgeFixturesError) as error:
        take([said(n) for n in range(N)], files=(tmp_path / "log.json", plain))
    assert str(error.value) == snapshot
