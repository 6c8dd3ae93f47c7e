"""Answers that nobody can read: one of them is shown, with what it is in plain words and the key that would read it.

In recording and in replay, in the item, the summary and the report; a key is named only where it does read the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from support.project import Project, in_pyproject
from support.rendered import lines_about
from support.server import NOWHERE, Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import judge_table
from judgefixtures.judges.judge import load_judge
from judgefixtures.judges.reply_reading import SHOWN, quote_answer
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.parsing.config_hints import IN_WORDS, hint_for_choice, hint_for_rating
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.parsing.scores import parse_score
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.providers import ProviderResponse
from judgefixtures.statistics.estimate import Status

pytest_plugins = ["pytester"]

LONG = "Both are well made. " * 40
CHOICES = [
    ("It is the first. [[A]]", "json", 'verdict = "brackets"'),
    ("Neither. [[C]]", "json", 'verdict = "brackets" and ties = "half"'),
    ('{"selected_response": 2, "reason": "so"}', "brackets", 'verdict = "json"'),
    ('{"verdict": "pass", "reason": "so"}', "json", 'mode = "binary"'),
    ("It is right.\nGRADE: C", "json", 'mode = "binary" and verdict = "grade"'),
    ('{"score": 7, "reason": "so"}', "json", 'mode = "pointwise"'),
    ("It is a [[7]]", "json", 'mode = "pointwise" and verdict = "brackets"'),
    ('{"winner": "A"}', "json", ""),
    ("I would take the first one.", "json", ""),
    ("", "json", ""),
]


@pytest.mark.parametrize(("text", "form", "hint"), CHOICES)
def test_a_hint_names_the_key_that_reads_a_choice(text: str, form: Any, hint: str) -> None:
    """What states no choice may state one in another form, or a grade, or a score; else there is no hint."""
    assert parse_verdict(text, form).invalid is not None
    assert hint_for_choice(text, form) == hint


def test_a_key_that_is_named_reads_the_answer() -> None:
    """The reader that a hint names, asked again, reads the answer that it was given for."""
    for text, form, hint in CHOICES:
        other = "brackets" if form == "json" else "json"
        read = {
            "verdict": lambda text=text, other=other: parse_verdict(text, other, ties="half").invalid,
            'mode = "binary"': lambda text=text: min(
                (parse_grade(text, each).invalid or "" for each in ("json", "grade")), key=len
            ),
            'mode = "pointwise"': lambda text=text: min(
                (parse_score(text, each).invalid or "" for each in ("json", "brackets")), key=len
            ),
        }
        named = [reader for key, reader in read.items() if hint.startswith(key)]
        assert len(named) == bool(hint)
        assert not any(reader() for reader in named)


def test_a_score_in_another_form_is_hinted_at() -> None:
    """Of a judge that scores the other form is tried first, within its scale, and then what a grade may be."""
    assert hint_for_rating("It is clear. [[7]]", "json", (1, 10)) == 'verdict = "brackets"'
    assert hint_for_rating("It is clear. [[70]]", "json", (1, 10)) == ""
    assert hint_for_rating('{"verdict": "fail"}', "json", (1, 10)) == 'mode = "binary"'


def test_a_long_answer_is_cut_and_says_so() -> None:
    """At most 300 characters, the beginning and the end, where the verdict may stand; a short one is shown whole."""
    text = LONG + "[[A]]"
    quoted, _, cut = quote_answer(text).rpartition('" ')
    assert len(quoted.removeprefix('"')) == SHOWN == 300
    assert quoted.endswith("[[A]]")
    assert cut == f"(cut: 300 of {len(text)} characters)"
    assert quote_answer("It is [[A]]") == '"It is [[A]]"'
    assert quote_answer(" \n ") == "nothing"


def test_every_kind_has_its_words() -> None:
    """Whatever an answer is invalid for is said in plain words."""
    assert set(IN_WORDS) == set(get_args(InvalidKind))


@pytest.mark.parametrize(
    ("keys", "text", "invalid", "said"),
    [
        ({}, '{"selected_response": 1, "reas', None, "cut off: raise max_output_tokens (512) in [judges.NAME]"),
        ({}, '{"selected_resp', "truncated", 'limit; it answered "{"selected_resp"'),
        ({}, "The first.", None, 'expected {"selected_response": 1 or 2, "reason": ...}'),
        ({"verdict": "brackets"}, "The first.", None, "expected [[A]] or [[B]]"),
        ({"mode": "binary"}, "So so.", None, 'expected {"verdict": "pass" or "fail", "reason": ...}'),
        ({"mode": "binary", "verdict": "word"}, "So, so.", None, "expected pass or fail, and nothing else"),
        ({}, '{"selected_response": "tie", "reason": "so"}', None, ""),
    ],
)
def test_an_answer_says_what_would_read_it(
    keys: dict[str, Any], text: str, invalid: Any, said: str, snapshot: SnapshotAssertion
) -> None:
    """A reply names the key, or that it was cut off, or what the judge is asked to answer; a tie was read."""
    table = judge_table({"provider": "openai", "model": "m", **keys})
    answer = ProviderResponse(text, invalid, "it reached a limit" if invalid else "")
    reply = load_judge(table, "mine").parse_reply(answer)
    assert reply.invalid is not None
    assert reply.detail == snapshot
    assert bool(reply.detail) == bool(said)


# --- a run ----------------------------------------------------------------------------------------------------


def configuration(url: str = NOWHERE, *, control: bool = True) -> str:
    """Return a configuration with a judge behind a server."""
    table = f'provider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\nmax_attempts = 1\n'
    own = '[datasets.own]\npath = "pairs.jsonl"\n[gate]\nvsr_tolerance = 0.45\n'
    head = "" if control else "control = false\n"
    return in_pyproject(f'judge = "ours"\n{head}[judges.ours]\n{table}{own}')


@pytest.fixture
def server() -> Iterator[Server]:
    """A judge that answers in brackets, at length, with its key in it."""
    with serving(by=lambda asked: asked.answered(f"{LONG}{SECRET} says: [[A]]")) as running:
        yield running


SECRET = "not-a-key-of-anybodys-1234567"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A user's repository with two dozen pairs."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    project = Project(pytester, configuration, fresh=True)
    project.copy_tests("recency", "accuracy")
    project.write_pairs(
        [
            {
                "id": f"p{number:02}",
                "question": f"Question {number}: which one?",
                "response_1": f"This one, {number}.",
                "response_2": f"That one, {number}.",
                "gold": 1 + number % 2,
            }
            for number in range(24)
        ]
    )
    return project


def test_a_judge_that_cannot_be_read_is_shown_one_answer(
    project: Project, server: Server, snapshot: SnapshotAssertion
) -> None:
    """In recording and in replay: the item, the control and the report have an answer and the key, and no secret."""
    file = project.path / project.file
    for arguments in (("--judge-record", "missing"), ()):
        file.write_text(configuration(server.url if arguments else NOWHERE), encoding="utf-8")
        ran = project.run("-k", "recency", "--judge-report", "report", *arguments)
        assert ran.ret == 1
        (first,) = (line for line in ran.outlines if line.startswith("FAIL: no check of ours can PASS"))
        assert lines_about(first, "invalid (no-json") == snapshot
        (row,) = ran.report["controls"]
        for said in (row["message"], next(line for line in ran.outlines if line.startswith('  it answered "Both'))):
            assert said.endswith(
                f'says: [[A]]" (cut: 300 of {len(LONG + "scrubbed says: [[A]]")} characters); to read this, set '
                'verdict = "brackets" in [tool.judgefixtures.judges.ours]'
            )
        assert SECRET not in ran.said
        for name in ("report.json", "report.md", "report.html", "results.jsonl"):
            assert SECRET not in (ran.folder / name).read_text(encoding="utf-8")
        text = (ran.folder / "report.md").read_text(encoding="utf-8")
        assert 'verdict = "brackets"' in text
        assert "only these again" not in ran.said  # asking once more would not have them read


@pytest.mark.parametrize("check", ["recency", "accuracy"])
def test_without_a_control_the_check_shows_one(project: Project, server: Server, check: str) -> None:
    """Where nothing vets the judge each check is an ERROR of its own that shows an answer and the key."""
    file: Path = project.path / project.file
    file.write_text(configuration(server.url, control=False), encoding="utf-8")
    ran = project.run("-k", check, "--judge-record", "missing", "--judge-report", "report")
    rows = [row for row in ran.report["results"] if row["status"] == Status.ERROR]
    assert rows
    assert all('set verdict = "brackets" in [tool.judgefixtures.judges.ours]' in row["message"] for row in rows)
    assert "to read this" in ran.said
    assert json.dumps(SECRET) not in json.dumps(ran.report)
