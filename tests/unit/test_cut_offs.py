"""Answers that are cut off: what ends a recording, what does not, and what is said of an answer in a loop."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.asking import a_judge, rows, run, some_pairs
from support.project import Project, rows_of, suite
from support.rendered import lines_about
from support.server import SECOND, Answer, Answering, Asked, Server, chat, good, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.judges.judge import FatalJudgeError
from judgefixtures.models.contrasts import Condition, contrasts
from judgefixtures.parsing.repetition import repeated_ending

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("quick_and_alone")

(RECENCY,) = contrasts("recency")
ELSEWHERE: tuple[Condition, ...] = (RECENCY.x,)
ROUND = '{"reason": "It is clear. ' + "Response 1 says it well. " * 40
SHORT = wire(chat('{"reason": "It is cl', "length"))
LOOP = wire(chat(ROUND, "length"))
KINDS = {"short": SHORT, "loop": LOOP}


def numbered(asked: Asked) -> int:
    """Return the number of the pair that was asked about."""
    return int(re.findall(r"Question (\d+):", str(asked.body))[0])


def cut_off_about(*numbers: int, said: Answer = SHORT) -> Answering:
    """Return a server that is cut off about some pairs, every time."""
    return lambda asked: said if numbered(asked) in numbers else good("openai")


def record(by: Answering, folder: Path, numbers: Sequence[int], **how: object) -> tuple[Counter[str | None], Server]:
    """Record some pairs as a run of its own does; return how many answers are invalid, by kind, and the server."""
    pairs = some_pairs(60)
    with serving(by=by) as server:
        judgments = run(a_judge("openai", server.url), folder, [pairs[number] for number in numbers], **how)  # type: ignore[arg-type]
    return Counter(judgment.verdict.invalid for judgment in judgments), server


@pytest.mark.parametrize("said", KINDS)
def test_a_cut_off_answer_in_a_resumed_recording_is_one_invalid_answer(said: str, tmp_path: Path) -> None:
    """Where the judge has valid answers, the one that a later run lacks may be cut off: kept, and not asked again."""
    by = cut_off_about(0, said=KINDS[said])
    record(by, tmp_path, range(1, 6))
    found, server = record(by, tmp_path, range(6))
    assert found == {None: 5, "truncated": 1}
    assert len(server.asked) == 1
    found, server = record(by, tmp_path, range(6))
    assert (found, len(server.asked)) == ({None: 5, "truncated": 1}, 0)


def test_valid_answers_in_another_condition_are_enough(tmp_path: Path) -> None:
    """Which condition a resumed recording begins with does not matter, nor how many of its answers are cut off."""
    record(cut_off_about(), tmp_path, range(3))
    found, _ = record(cut_off_about(*range(60)), tmp_path, range(30), conditions=ELSEWHERE)
    assert found == {"truncated": 30}


def test_valid_answers_of_another_judge_say_nothing(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A judge with another limit has answered nothing yet: a first answer that is cut off ends its recording."""
    record(cut_off_about(), tmp_path, range(3))
    with serving(by=cut_off_about(0)) as server, pytest.raises(FatalJudgeError) as error:
        run(a_judge("openai", server.url, max_output_tokens=100), tmp_path, some_pairs(3), conditions=ELSEWHERE)
    assert str(error.value) == snapshot
    assert len(server.asked) == 1


@pytest.mark.parametrize("said", KINDS)
def test_cut_off_answers_are_asked_again_and_stay_where_they_are_cut_off_again(said: str, tmp_path: Path) -> None:
    """`invalid` asks the cut-off answers alone; cut off again they are invalid as before, and else they count."""
    by = cut_off_about(0, 3, said=KINDS[said])
    record(by, tmp_path, (1, 2, 0, 3))
    found, server = record(by, tmp_path, range(4), mode="invalid")
    assert (found, sorted(map(numbered, server.asked))) == ({None: 2, "truncated": 2}, [0, 3])
    found, server = record(cut_off_about(3, said=KINDS[said]), tmp_path, range(4), mode="invalid")
    assert (found, sorted(map(numbered, server.asked))) == ({None: 3, "truncated": 1}, [0, 3])
    assert len(rows(tmp_path)) == 4


def test_the_printed_repair_of_a_short_limit_works(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Twenty answers that are kept are of the judge as it was: with a higher limit `all` records, as it says."""
    by = cut_off_about(*range(1, 60))
    with serving(by=by) as server, pytest.raises(FatalJudgeError, match="Raise max_output_tokens") as caught:
        run(a_judge("openai", server.url), tmp_path, some_pairs(40), concurrency=1)
    assert lines_about(str(caught.value), "--judge-record") == snapshot
    with serving(good("openai")) as server:
        judgments = run(a_judge("openai", server.url, max_output_tokens=4096), tmp_path, some_pairs(40), mode="all")
    assert {judgment.verdict.invalid for judgment in judgments} == {None}


def test_a_judge_that_loops_is_told_so(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A first answer in a loop is kept; where all are, the recording ends, and no longer answer is recommended."""
    with serving(LOOP) as server, pytest.raises(FatalJudgeError) as caught:
        run(a_judge("openai", server.url), tmp_path, some_pairs(40), concurrency=1)
    assert str(caught.value) == snapshot
    assert len(server.asked) == 21
    assert lines_about(str(caught.value), "well. Response") == snapshot
    assert "Raise max_output_tokens" not in str(caught.value)


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_an_answer_in_a_loop_is_named_with_its_end(finish: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Whether or not the server says that it was cut off, what an item quotes of it is no call for more room."""
    with serving(by=lambda asked: wire(chat(ROUND, finish)) if numbered(asked) == 1 else good("openai")) as server:
        _, looping = run(a_judge("openai", server.url), tmp_path, some_pairs(2))
    assert looping.verdict.invalid == "truncated"
    assert lines_about(looping.reply.detail, "repeats itself", "well. Response") == snapshot
    assert "max_output_tokens" not in looping.reply.detail


def test_an_item_names_loops_and_what_may_end_them(pytester: pytest.Pytester, snapshot: SnapshotAssertion) -> None:
    """At temperature 0 no command is printed that would ask loops again for nothing; the one that is, records."""
    project = Project(pytester, configuration, options=("-p", "no:cacheprovider", "--judge-force"))
    project.write("test_ours.py", suite("recency", name="recency"))
    project.write_pairs(rows_of(some_pairs(6)))
    with serving(by=cut_off_about(3, said=LOOP)) as server:
        project.configure(server.url)
        said = project.run("--judge-record", "missing").said
    assert lines_about(said, "invalid (truncated") == snapshot
    assert "--judge-record invalid" not in said
    with serving(good("openai")) as server:
        project.configure(server.url, "temperature = 0.5")
        said = project.run("--judge-record", "all").said
    assert "are invalid" not in said


def test_an_item_says_what_a_limit_that_is_too_short_takes(
    pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Asked again they may be cut off again: the message names the key, and that a change of it takes `all`."""
    project = Project(pytester, configuration, options=("-p", "no:cacheprovider", "--judge-force"))
    project.write("test_ours.py", suite("recency", name="recency"))
    project.write_pairs(rows_of(some_pairs(6)))
    with serving(by=cut_off_about(3)) as server:
        project.configure(server.url)
        said = project.run("--judge-record", "missing").said
    assert lines_about(said, "invalid (truncated") == snapshot
    assert "raise max_output_tokens and use --judge-record all" in said
    with serving(good("openai")) as server:
        project.configure(server.url, "max_output_tokens = 4096")
        said = project.run("--judge-record", "all").said
    assert "are invalid" not in said


def test_no_line_says_to_run_the_same_again_where_the_judge_has_to_change(pytester: pytest.Pytester) -> None:
    """Twenty cut-off answers are kept: the command that is printed records the changed judge, as it stands."""
    project = Project(pytester, configuration, options=("-p", "no:cacheprovider"))
    project.write("test_ours.py", suite("recency", name="recency"))
    project.write_pairs(rows_of(some_pairs(40)))
    with serving(LOOP) as server:
        project.configure(server.url)
        said = project.run("--judge-record", "missing").said
    assert "same command again" not in said
    (command,) = set(re.findall(r"After a change of the judge, record: pytest (.*)", said))
    with serving(good("openai")) as server:
        project.configure(server.url, "temperature = 0.5")
        assert "recorded: ours: 80 calls" in project.run(*shlex.split(command)).said


def test_a_run_that_asked_and_kept_nothing_says_so(pytester: pytest.Pytester, snapshot: SnapshotAssertion) -> None:
    """The call that ended a recording was made: nowhere is it said that nobody was asked."""
    project = Project(pytester, configuration, options=("-p", "no:cacheprovider"))
    project.write("test_ours.py", suite("recency", name="recency"))
    project.write_pairs(rows_of(some_pairs(40)))
    with serving(SHORT) as server:
        project.configure(server.url)
        said = project.run("--judge-record", "missing").said
    assert "recorded: ours: 1 calls" in said
    assert lines_about(said, "none from recordings") == snapshot
    assert "no requests" not in said


def configuration(url: str, judge: str = "") -> str:
    """Return the configuration of a judge behind a server."""
    return (
        '[tool.judgefixtures]\njudge = "ours"\n[tool.judgefixtures.judges.ours]\nprovider = "openai"\nmodel = "m"\n'
        f'base_url = "{url}/v1"\n{judge}\n[tool.judgefixtures.datasets.own]\npath = "pairs.jsonl"\n'
    )


@pytest.mark.parametrize(
    ("text", "looping"),
    [
        ("word " * 40, True),
        ("\n" * 200, True),
        ("".join(f"{number}. Response 1 is right.\n" for number in range(12)), True),
        ("It says what is asked for. " + "a" * 120, True),
        (("It compares both. " * 4) + "And the last of them is better than the first one was.", False),
        (SECOND, False),
        ("yes yes yes", False),
        ("", False),
    ],
)
def test_loops_are_told_from_answers(text: str, looping: bool) -> None:
    """What stands at the end three times and fills a line or more is a loop, numbers aside; nothing else is."""
    assert bool(repeated_ending(text)) == looping
