"""Batch recording, against a server that takes batches in every wire format: nothing lost, nothing paid twice.

More kills between sending and collecting, and more judgments by batch:

    JUDGEFIXTURES_KILLS=50 JUDGEFIXTURES_JUDGMENTS=5000 pytest tests/unit/test_batches.py -k "kill or bytes"
"""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.batches import PostOffice, posting, verdict
from support.project import Project, Ran, read_rows, suite
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, base_url, chat, problem, wire
from support.server import serving as answering
from syrupy.assertion import SnapshotAssertion

import judgefixtures.batches.result_collector as intake
import judgefixtures.providers.anthropic as anthropic
import judgefixtures.providers.google as google
import judgefixtures.providers.openai as openai
from judgefixtures.batches import BatchLimits, BatchLine, BatchProvider, NotSentError, UncertainError, load_batches
from judgefixtures.batches.manifest import BatchManifest
from judgefixtures.cassettes.files import CassetteRow, DamagedFileError
from judgefixtures.config import judge_table
from judgefixtures.prompts.planning import PLANNING_MARK
from judgefixtures.providers import PROVIDERS, FatalJudgeError, RetryableError
from judgefixtures.simulator.batches import DAY, Faults, SimulatedResponse
from judgefixtures.simulator.server import serving
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

KILLS = int(os.environ.get("JUDGEFIXTURES_KILLS", "4"))
JUDGMENTS = int(os.environ.get("JUDGEFIXTURES_JUDGMENTS", "200"))
BATCH = ("--judge-record", "missing", "--judge-batch")
SDKS = tuple(sdk for sdk in ("openai", "google", "anthropic") if sdk in PROVIDERS)
KEY = "sk-never-to-be-written-4711"
each_sdk = pytest.mark.parametrize("sdk", SDKS)


def configuration(sdk: str, url: str, judge: str = "", top: str = "") -> str:
    """Return the configuration of a judge that is asked at a server."""
    return (
        f'judge = "ours"\n{top}\n[judges.ours]\nprovider = "{sdk}"\nmodel = "m"\nbase_url = "{base_url(sdk, url)}"\n'
        f'api_key_env = "KEY_OF_OURS"\nprice = {{input = 1.0, output = 10.0}}\n{judge}\n'
        '[datasets.own]\npath = "pairs.jsonl"\nbalance_positions = false\n[gate]\nvsr_tolerance = 0.9\n'
        '[security]\napi_key_envs = ["KEY_OF_OURS"]\n'
    )


def rows_of(count: int) -> list[dict[str, str]]:
    """Return the rows of a pair file."""
    return [
        {
            "id": f"p{number:04}",
            "question": f"Question {number}: which?",
            "response_1": f"One {number}.",
            "response_2": f"Two {number}.",
        }
        for number in range(count)
    ]


class Posted(Project):
    """A repository whose judge is asked at a post office."""

    def __init__(self, at: pytest.Pytester, pairs: int = 30, *families: str) -> None:
        super().__init__(
            at,
            configuration,
            file="judges.toml",
            fresh=True,
            options=("-p", "no:cacheprovider", "--judge-config", "judges.toml"),
        )
        self.write("test_ours.py", suite(*(families or ("recency",))))
        self.write_pairs(rows_of(pairs))

    def sent(self, *arguments: str) -> Ran:
        """Send or collect."""
        return self.run(*BATCH, *arguments)

    @property
    def events(self) -> list[str]:
        """What the list of batches says, by the kind of its lines."""
        return [row["event"] for row in read_rows(self.cassettes / "batches.jsonl")]

    def recorded(self) -> dict[str, dict[str, Any]]:
        """Return what is recorded, by condition and digest; without how it was asked."""
        found = {}
        for file in sorted(self.cassettes.glob("ours/own/*.jsonl")):
            rows = [row for row in read_rows(file) if "digest" in row]
            found[file.stem] = {
                row["digest"]: {key: value for key, value in row.items() if key != "by"} for row in rows
            }
        return found

    def at_once(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """Return what is recorded when everything is asked at once, and put the recordings aside."""
        assert "ERROR" not in self.run("--judge-record", "missing", *arguments).said
        found = self.recorded()
        shutil.rmtree(self.cassettes)
        return found


def day_later(office: PostOffice) -> None:
    """Set the post office's clock forward by more than a day."""
    office.desk.ahead += DAY + 60


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that no file may hold."""
    monkeypatch.setenv("KEY_OF_OURS", KEY)


@pytest.fixture
def office() -> Iterator[PostOffice]:
    """A server that takes batches."""
    with posting() as office:
        yield office


# --- sending and collecting -----------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@each_sdk
def test_what_is_missing_is_sent_waited_for_and_collected(
    sdk: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """A run sends, further ones send nothing while the answers are on their way, and the first after that measures.

    Exit code 0 is for sent. Of 30 pairs in two conditions each question is paid for once, twenty of them both ways.
    """
    project = Posted(pytester)
    project.configure(sdk, office.url)
    office.desk.seconds = 3600
    first = project.sent("--judge-report", "report")
    assert first.ret == 0
    assert first.parseoutcomes() == {"skipped": 1}
    assert "sent: ours: 60 requests in " in first.said
    assert lines_about(first.said, "half the direct price", "same command") == snapshot
    assert not first.folder.exists()
    (project.path / "earlier").mkdir()
    earlier = project.write("earlier/results.jsonl", "An earlier run's.")
    stale = project.sent("--judge-report", "earlier")
    assert lines_about(stale.said, "set aside") == snapshot
    assert earlier.read_text() == '{"judgefixtures_results": "began"}\n'
    again = project.sent()
    assert again.ret == 0
    assert lines_about(again.said, "60 requests") == snapshot
    assert len(office.desk.batches) == 1
    assert office.at_once.total() == 20
    office.desk.ahead = 3700
    collected = project.sent("--judge-report", "report")
    collected.assert_outcomes(passed=1)
    assert "collected: ours: 60 of 60 answers" in collected.said
    assert lines_about(collected.said, "parity") == snapshot
    assert "recorded: ours: 60 calls, 6000 tokens in, 1200 out, $0.0090" in collected.said  # half of $0.0180
    assert len(collected.rows("judgments")) == 60
    assert set(office.paid.values()) == {1}
    assert office.paid.total() + office.at_once.total() == 60
    assert project.events == ["intent", "sent", "parity", "ended"]
    replayed = project.run()
    replayed.assert_outcomes(passed=1)
    asked = len(office.asked)
    project.sent().assert_outcomes(passed=1)
    assert len(office.asked) == asked


@pytest.mark.sampled(3)
@each_sdk
def test_answers_are_the_ordinary_recordings_and_say_how_they_were_asked(
    sdk: str, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """By batch the same digests hold the same answers as at once; `by` is all that is added, to what a batch answered.

    The list of batches holds neither a key nor a prompt.
    """
    project = Posted(pytester)
    project.configure(sdk, office.url, "", "batch_parity = 5")
    expected = project.at_once()
    project.sent()
    project.sent().assert_outcomes(passed=1)
    assert project.recorded() == expected
    ways = Counter(
        row.get("by")
        for file in project.cassettes.glob("ours/own/recency*.jsonl")
        for row in read_rows(file)
        if "digest" in row
    )
    assert ways == {"batch": 55, None: 5}
    written = "".join(file.read_text() for file in project.cassettes.rglob("*") if file.is_file())
    assert KEY not in written
    assert "Question" not in (project.cassettes / "batches.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.sampled(3)
@each_sdk
def test_a_recording_by_batch_replays_to_the_same_report_bytes(
    sdk: str, office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports of the same questions are equal, byte for byte, however they were asked."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795341600")
    project = Posted(pytester, JUDGMENTS // 2)
    project.configure(sdk, office.url)

    def report() -> dict[str, bytes]:
        project.run("--judge-report", "report").assert_outcomes(passed=1)
        return {file.name: file.read_bytes() for file in (project.path / "report").iterdir()}

    project.run("--judge-record", "missing").assert_outcomes(passed=1)
    expected = report()
    shutil.rmtree(project.cassettes)
    project.sent()
    project.sent().assert_outcomes(passed=1)
    assert office.paid.total() == 2 * (JUDGMENTS // 2) - 20
    assert report() == expected


@each_sdk
def test_a_batch_asks_exactly_what_a_call_would_have_asked(
    sdk: str, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """The body of every question in a batch is one that the SDK sends at once, key by key."""
    project = Posted(pytester, 4)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    project.at_once()
    at_once = [asked.body for asked in office.asked if asked.sdk]
    project.sent()
    (batch,) = office.desk.batches.values()
    assert len(batch.asked) == 7  # the first one was asked at once
    assert all(body in at_once for _, _, body in batch.asked)


# --- what goes wrong -------------------------------------------------------------------------------------------

FAULTS = {
    "expired": Faults(expired=0.4),
    "all expired": Faults(expired=1.0),
    "failing": Faults(failing=0.4),
    "a file of errors alone": Faults(errors_only=True),
    "reordered": Faults(reordered=True),
    "duplicates": Faults(duplicates=5),
    "unknown": Faults(unknown=5),
    "cut off": Faults(cut=2),
    "torn": Faults(torn=1),
    "found to be invalid": Faults(invalid=1),
    "nobody is told": Faults(unsaid=1),
    "everything": Faults(expired=0.2, failing=0.2, reordered=True, duplicates=5, unknown=5, cut=1, torn=1),
}


@pytest.mark.whole
@pytest.mark.parametrize("where", [*SDKS, "google in a file"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.slow
def test_whatever_goes_wrong_every_answer_is_recorded_and_paid_for_once(
    fault: str, where: str, office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expired, failed, cut off, twice, of nobody, out of order: in the end the recording is that of calls at once."""
    sdk = where.partition(" ")[0]
    if "file" in where:
        monkeypatch.setattr(google, "INLINE", 0)
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "", "batch_parity = 3")
    expected = project.at_once()
    office.desk.faults = FAULTS[fault]
    said = project.sent().said
    for _ in range(12):
        day_later(office)
        ran = project.sent()
        said += ran.said
        if "requests wait" not in ran.said:
            break
        if fault in ("a file of errors alone", "all expired"):
            office.desk.faults = Faults()
    ran.assert_outcomes(passed=1)
    assert project.recorded() == expected
    assert set(office.paid.values()) == {1}
    assert office.paid.total() + office.at_once.total() == 40 + 40  # those of the run that asked everything at once
    assert set(project.events) <= {"intent", "sent", "partial", "parity", "ended"}
    assert project.events.count("intent") == len(office.desk.batches) == project.events.count("ended")
    told = {
        "duplicates": "answered twice: ours: 5",
        "unknown": "not used: ours: 5 lines",
        "expired": "expired",
        "failing": "which are asked again: HTTP 500",
        "found to be invalid": "0 of 40 answers",
    }
    if "torn" in fault and where != "google":
        assert "not complete: ours" in said
    assert told.get(fault, "") in said


@each_sdk
def test_what_concerns_a_question_alone_is_its_answer(sdk: str, office: PostOffice, pytester: pytest.Pytester) -> None:
    """A question that is refused for its content is an invalid answer, recorded as one, and not sent again."""
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    office.desk.faults = Faults(blocked=0.5)
    project.sent()
    ran = project.sent("--judge-report", "report")
    assert len(office.desk.batches) == 1
    kinds = Counter(row["invalid"] for row in ran.rows("judgments"))
    assert kinds["filtered"] > 5
    assert kinds["filtered"] + kinds[None] == 40


def test_an_answer_of_nothing_is_asked_again_as_often_as_at_once(pytester: pytest.Pytester) -> None:
    """An empty answer goes into the next batch until max_attempts batches brought none: then it is what is recorded."""

    def saying(prompt: str, by_batch: bool) -> str:
        return "" if by_batch and "Question 1:" in prompt else verdict(prompt)

    project = Posted(pytester, 5)
    with posting(saying) as office:
        project.configure("openai", office.url, "max_attempts = 3", "batch_parity = 0")
        for _ in range(3):
            assert "requests wait" in project.sent().said
        last = project.sent("--judge-report", "report")
    assert "requests wait" not in last.said
    assert [len(batch.asked) for batch in office.desk.batches.values()] == [9, 2, 2]
    assert Counter(row["invalid"] for row in last.rows("judgments")) == {None: 8, "empty": 2}


@pytest.mark.slow
@pytest.mark.sampled(3)
@each_sdk
def test_a_batch_that_was_refused_is_not_sent_and_the_run_says_so(
    sdk: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Where the server makes no batch the run ends with a code of its own, and the next one sends it."""
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    office.desk.faults = Faults(refused=1)
    refused = project.sent()
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert lines_about(refused.said, "'ours'") == snapshot
    assert office.desk.batches == {}
    assert project.sent().ret == 0
    assert project.events == ["intent", "void", "intent", "sent"]
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}


@pytest.mark.slow
def test_a_batch_that_nobody_knows_any_more_is_not_paid_for_again(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Under another key a batch is not found: that is an error that names the remedy, and nothing is sent."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    lost = dict(office.desk.batches)
    office.desk.batches.clear()
    ran = project.sent()
    assert ran.ret not in (0, 1)
    assert lines_about(ran.said, "batches.jsonl") == snapshot
    assert office.desk.batches == {}
    office.desk.batches.update(lost)
    project.sent().assert_outcomes(passed=1)


# --- states and downloads that mislead -------------------------------------------------------------------------


def lying(office: PostOffice, lie: Callable[[str, SimulatedResponse], SimulatedResponse | None]) -> None:
    """Let something change the post office's replies about batches and files, by the path that was asked for."""
    handle = office.desk.handle

    def lied(method: str, path: str, headers: Mapping[str, str], raw: bytes, url: str) -> SimulatedResponse | None:
        reply = handle(method, path, headers, raw, url)
        return reply if reply is None or method != "GET" else lie(path, reply)

    office.desk.handle = lied  # type: ignore[method-assign]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shown", [{"id": "batch_1", "status": "queued"}, {"object": "list"}, {"status": 7}])
def test_a_state_that_nobody_knows_is_no_end(
    shown: dict[str, Any], office: PostOffice, pytester: pytest.Pytester
) -> None:
    """A word that is new, or none at all, ends no batch: nothing is sent again, and its answers are collected later."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    handle = office.desk.handle
    lying(
        office,
        lambda _path, _reply: SimulatedResponse(200, json.dumps(shown).encode(), {"content-type": "application/json"}),
    )
    ran = project.sent()
    assert ("39 requests in batch_1 (queued)" if "id" in shown else "without a status") in ran.said
    assert project.events == ["intent", "sent"]
    office.desk.handle = handle  # type: ignore[method-assign]
    lying(office, lambda _path, reply: replace(reply, body=reply.body.replace(b'"completed",', b'"COMPLETED",')))
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == 1


def aged(project: Posted, days: int, event: str = "") -> None:
    """Set the list's times back, or those of one kind of event."""
    file = project.cassettes / "batches.jsonl"
    time = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)).isoformat()
    rows = [row | ({"time": time} if event in ("", row["event"]) else {}) for row in read_rows(file)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def shorter(path: str, reply: SimulatedResponse) -> SimulatedResponse | None:
    """Download a file of answers without its last two."""
    return (
        SimulatedResponse(200, b"".join(reply.body.splitlines(keepends=True)[:-2]))
        if path.endswith("/content")
        else reply
    )


def test_a_first_download_days_later_may_be_torn(office: PostOffice, pytester: pytest.Pytester) -> None:
    """What a download lacks is waited for from the day of that download on, however long ago the batch was sent."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    aged(project, days=5)
    office.desk.faults = Faults(torn=1)
    assert "not complete: ours" in project.sent().said
    assert project.events == ["intent", "sent", "partial"]
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == 1
    assert project.events[-1] == "ended"


@pytest.mark.slow
def test_what_is_never_given_out_is_asked_again_after_days_and_several_downloads(
    office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Days after a download lacked something, another one that is torn is made again; what all of them lack is lost."""
    monkeypatch.setattr(intake, "FIRST_WAIT", 0.01)
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    handle = office.desk.handle
    lying(office, shorter)
    assert lines_about(project.sent().said, "batch_1") == snapshot
    assert project.events == ["intent", "sent", "partial"]
    aged(project, days=4)
    cassettes = project.path / "kept"
    shutil.copytree(project.cassettes, cassettes)
    assert lines_about(project.sent().said, "batch_1") == snapshot
    assert [len(batch.asked) for batch in office.desk.batches.values()] == [39, 1]  # the first one was asked at once
    shutil.rmtree(project.cassettes)
    cassettes.rename(project.cassettes)
    office.desk.handle = handle  # type: ignore[method-assign]
    office.desk.faults = Faults(torn=2)
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == 2


@pytest.mark.sampled(3)
@each_sdk
def test_a_line_that_is_no_text_leaves_the_others_to_be_read(
    sdk: str,
    office: PostOffice,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    """A byte that is not UTF-8 costs the line that it stands in: it is waited for, and the other answers recorded."""
    monkeypatch.setattr(google, "INLINE", 0)
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    project.sent()
    handle = office.desk.handle
    downloads = []

    def garbled(path: str, reply: SimulatedResponse) -> SimulatedResponse:
        if not any(end in path for end in ("/content", "/results", ":download")):
            return reply
        downloads.append(path)
        return SimulatedResponse(200, reply.body.replace(b"It is", b"It \xff is", 1), reply.headers)

    lying(office, garbled)
    ran = project.sent()
    assert ran.ret == 0
    assert len(downloads) == 1
    assert "collected: ours: 38 of 39 answers" in ran.said
    assert lines_about(ran.said, "be downloaded") == snapshot
    assert sum(map(len, project.recorded().values())) == 39  # and the first one, which was asked at once
    office.desk.handle = handle  # type: ignore[method-assign]
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}


FILLED = {
    "twice": lambda lines: [*lines[:-3], *lines[:3]],
    "unknown": lambda lines: [
        *(re.sub(rb'[0-9a-f]{32}-0"', b'%032d-0"' % number, line) for number, line in enumerate(lines[:3])),
        *lines[3:],
    ],
    "nameless": lambda lines: (
        [re.sub(rb'"(custom_id|key)": "[^"]*"', rb'"\1": null', line) for line in lines[:3]] + lines[3:]
    ),
}


@pytest.mark.slow
@pytest.mark.sampled(4)
@each_sdk
@pytest.mark.parametrize("case", FILLED)
def test_as_many_lines_as_there_are_questions_are_not_all_answers(
    case: str, sdk: str, office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lines that stand there twice hide may be there: it is waited for. What no line is about is asked again."""
    monkeypatch.setattr(google, "INLINE", 0)
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    project.sent()
    handle = office.desk.handle

    def filled(path: str, reply: SimulatedResponse) -> SimulatedResponse:
        if not any(end in path for end in ("/content", "/results", ":download")):
            return reply
        return replace(reply, body=b"".join(FILLED[case](reply.body.splitlines(keepends=True))))

    lying(office, filled)
    ran = project.sent()
    assert ("be downloaded" in ran.said) == (case == "twice")
    assert ("sent: ours: 2 requests" in ran.said) == (case != "twice")  # and one at once, the first of a run that sends
    assert ("without an id" in ran.said) == (case == "nameless")
    assert ("answer requests that" in ran.said) == (case == "unknown")
    office.desk.handle = handle  # type: ignore[method-assign]
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == (1 if case == "twice" else 2)


UNREADABLE = {
    "openai": {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}},
    "google": {"error": {"code": 401, "message": "API key not valid", "status": "UNAUTHENTICATED"}},
    "anthropic": {"choices": []},
}


def unreadable(office: PostOffice, sdk: str) -> Callable[[], None]:
    """Let batches answer Question 3 with a body that ends a recording at once; return what mends that."""
    office.desk.say = lambda path, body: (
        (200, UNREADABLE[sdk]) if "Question 3:" in json.dumps(body) else office.say(path, body)
    )
    return lambda: setattr(office.desk, "say", office.say)


@pytest.mark.slow
@pytest.mark.sampled(3)
@each_sdk
def test_an_answer_that_nobody_can_read_ends_no_collection(
    sdk: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """The other answers are recorded; its question is asked in max_attempts batches, and then the run says so."""
    project = Posted(pytester, 20)
    project.configure(sdk, office.url, "max_attempts = 2", "batch_parity = 0")
    mend = unreadable(office, sdk)
    project.sent()
    once = project.sent()
    assert once.ret == 0
    assert f"not read: 2 answers of {next(iter(office.desk.batches))} cannot be read" in once.said
    assert sum(map(len, project.recorded().values())) == 38
    for _ in range(2):
        twice = project.sent()
        assert twice.ret == pytest.ExitCode.USAGE_ERROR
        assert "2 answers of" in twice.said
        assert lines_about(twice.said, "'ours'") == snapshot
        assert [len(batch.asked) for batch in office.desk.batches.values()] == [39, 2]
    mend()
    project.run("--judge-record", "missing").assert_outcomes(passed=1)
    project.sent().assert_outcomes(passed=1)
    assert project.events == ["intent", "sent", "intent", "sent", "ended", "ended"]
    assert len(office.desk.batches) == 2


def test_a_batch_of_which_nothing_can_be_read_is_not_sent_again(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """What spoils every answer would spoil those of the next batch: the run says so and pays for no other one."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "max_attempts = 5", "batch_parity = 2")
    office.desk.say = lambda _path, _body: (200, UNREADABLE["openai"])
    project.sent()
    for _ in range(2):
        ran = project.sent()
        assert ran.ret == pytest.ExitCode.USAGE_ERROR
        assert "not read: 38 answers of batch_1 cannot be read" in ran.said
        assert lines_about(ran.said, "api_key_env") == snapshot
        assert len(office.desk.batches) == 1


@pytest.mark.slow
def test_a_later_batch_answers_what_an_earlier_one_did_not_answer_well(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """While the earlier one holds answers of other items, too: what was asked again is not asked a third time."""
    project = Posted(pytester, 20, "recency", "placebo")
    project.configure("openai", office.url, "", "batch_parity = 0")
    mend = unreadable(office, "openai")
    project.sent()
    mend()
    office.desk.seconds, office.desk.ahead = 3600, 3700
    assert "not read: 2 answers of batch_1" in project.sent("-k", "recency").said
    waiting = project.sent("-k", "recency")
    assert lines_about(waiting.said, "(in_progress)") == snapshot
    assert "not read" not in waiting.said
    office.desk.seconds = 0
    some = project.sent("-k", "recency")
    some.assert_outcomes(passed=1, deselected=1)
    assert "left: ours" in some.said
    project.sent()
    project.sent().assert_outcomes(passed=2)
    first, second, third = ([name for name, _, _ in batch.asked] for batch in office.desk.batches.values())
    assert (len(first), len(second), len(third)) == (79, 2, 2)
    assert not set(second) & set(third)  # the third one asks the other item's, which the first did not answer, either


@pytest.mark.slow
def test_what_another_batch_failed_to_answer_is_not_taken_for_settled(
    office: PostOffice, pytester: pytest.Pytester
) -> None:
    """A batch stays open until its own answers are recorded, also where an earlier one failed at the same questions."""
    project = Posted(pytester, 20, "recency", "placebo")
    project.configure("openai", office.url, "", "batch_parity = 0")
    office.desk.say = lambda path, body: (
        (500, {"error": {"message": "Later."}}) if "Question 3:" in json.dumps(body) else office.say(path, body)
    )
    project.sent()
    office.desk.seconds = 3600
    office.desk.ahead = 3700
    project.sent("-k", "recency")
    office.desk.say = office.say
    office.desk.ahead = 7500
    assert "left: ours: 2 answers of batch_2" in project.sent("-k", "placebo").said
    office.desk.seconds = 0
    project.sent()
    project.sent().assert_outcomes(passed=2)
    _, second, *others = ([name for name, _, _ in batch.asked] for batch in office.desk.batches.values())
    assert len(second) == 2
    assert not any(set(second) & set(other) for other in others)


def test_a_batch_on_its_way_is_no_try_yet(office: PostOffice, pytester: pytest.Pytester) -> None:
    """An empty answer of an earlier batch is not final while another batch may bring a better one, after a kill too."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "max_attempts = 2", "batch_parity = 0")
    say, office.desk.say = (
        office.say,
        lambda path, body: (200, chat("")) if "Question 3:" in json.dumps(body) else office.say(path, body),
    )
    project.sent()
    office.desk.say = say
    office.desk.seconds = 3600
    office.desk.ahead = 3700
    project.sent()
    log = project.cassettes / "batches.jsonl"
    log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if '"ended"' not in line))
    project.sent()
    office.desk.ahead = 7500
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == 2
    rows = [row for found in (project.cassettes / "ours").rglob("*.jsonl") for row in read_rows(found)]
    assert not any('"content":""' in json.dumps(row) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [{"x": 1}, {"model": "m", "choices": [{"index": 0, "finish_reason": "error", "message": {"content": "{"}}]}],
    ids=["nothing known", "broken off"],
)
def test_an_answer_of_no_known_form_is_asked_in_max_attempts_batches(
    body: dict[str, Any], office: PostOffice, pytester: pytest.Pytester
) -> None:
    """What would be asked again at once is asked in max_attempts batches, and then the run says so."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "max_attempts = 2", "batch_parity = 0")
    office.desk.say = lambda path, asked: (200, body) if "Question 3:" in json.dumps(asked) else office.say(path, asked)
    project.sent()
    assert "not read: 2 answers of batch_1" in project.sent().said
    for _ in range(3):
        assert project.sent().ret == pytest.ExitCode.USAGE_ERROR
    assert [len(batch.asked) for batch in office.desk.batches.values()] == [39, 2]


@pytest.mark.slow
def test_what_a_model_does_not_take_is_known_of_its_batches(office: PostOffice, pytester: pytest.Pytester) -> None:
    """A run of other items finds the answers of a batch whose questions left a parameter out, and pays for none."""
    project = Posted(pytester, 20, "recency", "placebo")
    project.configure("openai", office.url, "seed = 7\ndrop_unsupported = true", "batch_parity = 0")
    answer = office.answer

    def refusing(asked: Asked) -> Answer:
        if asked.path.endswith("/chat/completions") and b'"seed"' in asked.raw:
            return wire(problem("Unsupported parameter: 'seed'", code="unsupported_parameter", param="seed"), 400)
        return answer(asked)

    office.answering = refusing
    project.sent()
    at_once = office.at_once.total()
    project.sent("-k", "placebo").assert_outcomes(passed=1, deselected=1)
    project.sent().assert_outcomes(passed=2)
    assert office.at_once.total() == at_once == 1
    assert len(office.desk.batches) == 1


@pytest.mark.slow
def test_a_batch_that_is_not_known_matters_only_where_its_answers_are_needed(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Answers about a pair as it was stay with the provider; when it deletes them, what is missing goes on being sent.

    The batch is named, and stays in the list: it may be another key's. Where a pair is as it was, that is an error.
    """
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 2")
    project.sent()
    rows = rows_of(6)
    project.write_pairs([*rows[:5], {**rows[5], "response_1": "Edited."}])
    project.sent()
    second = project.sent()
    second.assert_outcomes(passed=1)
    assert "left: ours: 2 answers of batch_1" in second.said
    assert lines_about(second.said, "batches.jsonl") == snapshot
    office.desk.batches["deleted"] = office.desk.batches.pop("batch_1")
    shorter = project.sent()
    shorter.assert_outcomes(passed=1)
    assert lines_about(shorter.said, "batches.jsonl") == snapshot
    project.write_pairs([*rows[:4], {**rows[4], "response_1": "Edited, too."}, rows[5]])
    ran = project.sent()
    assert ran.ret not in (0, 1)
    assert lines_about(ran.said, "batches.jsonl") == snapshot
    assert len(office.desk.batches) == 2
    project.write_pairs([*rows[:4], *({**row, "response_1": "Edited, too."} for row in rows[4:])])
    assert "sent: ours: " in project.sent().said
    assert project.sent().parseoutcomes() == {"passed": 1}
    assert set(office.paid.values()) == {1}


# --- in doubt -------------------------------------------------------------------------------------------------

MAKING = re.compile(r"/v1/batches$|:batchGenerateContent$|/v1/messages/batches$")
OWN = {
    "openai": {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}},
    "google": {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}},
}
HTML = b"<html><body>Bad request</body></html>"


def gateway(
    office: PostOffice, status: int, body: bytes, *, makes: bool = True, headers: Mapping[str, str] | None = None
) -> list[str]:
    """Answer in a server's place when a batch is to be made, which it is all the same; return what was asked for."""
    handle = office.desk.handle
    asked: list[str] = []

    def answered(method: str, path: str, sent: Mapping[str, str], raw: bytes, url: str) -> SimulatedResponse | None:
        if method != "POST" or not MAKING.search(path.partition("?")[0]):
            return handle(method, path, sent, raw, url)
        asked.append(path)
        if makes:
            handle(method, path, sent, raw, url)
        return SimulatedResponse(status, body, {"content-type": "application/json", **(headers or {})})

    office.desk.handle = answered  # type: ignore[method-assign]
    return asked


DOUBTS = {
    "408": (408, b'{"error": {"message": "Timeout."}}'),
    "409": (409, None),
    "425": (425, b"{}"),
    "429": (429, None),
    "499": (499, b""),
    "502": (502, HTML),
    "400 of a proxy": (400, HTML),
    "403 in words": (403, b'{"message": "Forbidden"}'),
    "a redirect": (307, b""),
    "no id": (200, b"{}"),
    "an id that is none": (200, b'{"id": 7, "name": ["x"]}'),
    "half a body": (200, b'{"id": "batch'),
    "a sign-in page": (200, HTML),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("doubt", DOUBTS)
@each_sdk
def test_a_batch_that_may_have_been_made_is_looked_for(
    doubt: str, sdk: str, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said when a batch is made, only the provider's own refusal means that none was; it is asked once."""
    monkeypatch.setattr("judgefixtures.batches.batch_upload.SETTLE", 0.0)
    status, body = DOUBTS[doubt]
    own = json.dumps(OWN[sdk]).encode()
    asked = gateway(office, status, own if body is None else body, headers={"location": "/elsewhere"})

    async def use(batches: BatchProvider) -> None:
        with pytest.raises((RetryableError, FatalJudgeError)):
            await batches.send("mine", lines_of(sdk, 2))

    during(batches_of(sdk, office.url), use)
    assert len(asked) == len(office.desk.batches) == 1


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("status", [400, 408, 409, 429, 502])
@each_sdk
def test_a_gateway_that_made_a_batch_and_gave_up_costs_nothing_twice(
    status: int, sdk: str, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """Whatever it says, the batch is found in the list by the run that sent it: billed is what was asked, once."""
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    gateway(office, status, json.dumps(OWN[sdk]).encode())
    assert project.sent().ret == 0
    assert project.events == ["intent", "sent"]
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}
    assert office.paid.total() + office.at_once.total() == 12


def test_a_refusal_beside_a_running_batch_of_as_many_leaves_a_doubt(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Anthropic's batches have no name: one that runs and is nobody's may have been made before the refusal."""
    project = Posted(pytester, 6)
    project.configure("anthropic", office.url, "", "batch_parity = 0")
    office.desk.seconds = 3600
    gateway(office, 400, json.dumps(OWN["anthropic"]).encode())
    ran = project.sent()
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert lines_about(ran.said, "response_format") == snapshot
    assert lines_about(project.sent().said, "the same size") == snapshot
    office.desk.ahead = 3700
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}


def unlisted(path: str, reply: SimulatedResponse) -> SimulatedResponse | None:
    """Show a list without the latest batch."""
    if not re.search(r"/batches(\?.*)?$", path):
        return reply
    shown = json.loads(reply.body)
    return replace(
        reply, body=json.dumps({key: [] if isinstance(value, list) else value for key, value in shown.items()}).encode()
    )


@pytest.mark.slow
@pytest.mark.sampled(3)
@each_sdk
def test_a_batch_that_no_list_shows_is_asked_for_again_when_it_would_have_ended(
    sdk: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """As long as it may run it may be there, whatever this machine's clock says; when the list shows it, it counts."""
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    handle = office.desk.handle
    gateway(office, 409, json.dumps(OWN[sdk]).encode())
    lying(office, unlisted)
    assert project.sent().ret == pytest.ExitCode.USAGE_ERROR
    assert project.events == ["intent", "unseen"]
    for days in (30, -30):  # what this machine's clock says of when it was sent
        aged(project, days, "intent")
        waiting = project.sent()
        assert waiting.ret == 0
        assert lines_about(waiting.said, "batches.jsonl") == snapshot
    assert len(office.desk.batches) == 1
    kept = (project.cassettes / "batches.jsonl").read_bytes()
    office.desk.ahead = (49 if sdk == "google" else 25) * 3600
    project.sent()
    assert len(office.desk.batches) == 2
    assert project.events.count("void") == 1
    (project.cassettes / "batches.jsonl").write_bytes(kept)
    office.desk.batches.popitem()
    office.desk.handle = handle  # type: ignore[method-assign]
    ran = project.sent()
    assert "found: ours: " in ran.said
    ran.assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}


def test_a_clock_that_was_ahead_delays_nothing_for_ever(office: PostOffice, pytester: pytest.Pytester) -> None:
    """A time in the future, of a server whose clock was wrong, is replaced by the next look at the list."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    gateway(office, 409, b"{}", makes=False)
    project.sent()
    aged(project, -400, "unseen")
    project.sent()
    assert project.events == ["intent", "unseen", "unseen"]
    office.desk.ahead = 25 * 3600
    project.sent()
    assert "void" in project.events


LISTS = {
    "refuses": lambda reply: SimulatedResponse(403, b'{"error": {"message": "No lists here."}}', reply.headers),
    "is none": lambda reply: replace(reply, body=b'{"object": "list"}'),
    "is empty": lambda reply: replace(reply, body=b""),
    "has no end": lambda reply: replace(
        reply, body=b'{"data": [{"id": "batch_9", "created_at": 4000000000}], "has_more": true}'
    ),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_that_shows_nothing_it_can_be_told_by_ends_no_doubt(
    case: str,
    office: PostOffice,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    """A list that refuses, is none or comes to no end says nothing about a batch: nothing is sent, however late."""
    monkeypatch.setattr("judgefixtures.providers.batch_api.FIRST_WAIT", 0.01)
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    handle = office.desk.handle
    gateway(office, 409, b"{}")
    lying(office, lambda path, reply: LISTS[case](reply) if re.search(r"/batches(\?.*)?$", path) else reply)
    assert project.sent().ret == pytest.ExitCode.USAGE_ERROR
    office.desk.ahead = 50 * 3600
    ran = project.sent()
    assert ran.ret not in (0, 1)
    assert lines_about(ran.said, "batches.jsonl") == snapshot
    assert len(office.desk.batches) == 1
    office.desk.handle = handle  # type: ignore[method-assign]
    office.desk.ahead = 0
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
@each_sdk
def test_a_refusal_in_the_providers_own_form_means_that_no_batch_was_made(
    status: int, sdk: str, office: PostOffice
) -> None:
    """So does a server that cannot be reached: these are certain, and the next run sends without waiting."""
    gateway(office, status, json.dumps(OWN[sdk]).encode(), makes=False)

    async def use(batches: BatchProvider) -> None:
        with pytest.raises(NotSentError, match=str(status)):
            await batches.send("mine", lines_of(sdk, 2))

    async def nowhere(batches: BatchProvider) -> None:
        with pytest.raises(NotSentError, match="refuses connections"):
            await batches.send("mine", lines_of(sdk, 2))

    during(batches_of(sdk, office.url), use)
    if status == 400:
        during(batches_of(sdk, NOWHERE), nowhere)


def test_questions_that_could_not_be_uploaded_leave_nothing_in_the_list(
    office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """A file costs nothing: only what asks for a batch stands in the list before it is sent."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    answer = office.answer
    office.answering = lambda asked: wire({}, 403) if asked.path == "/v1/files" else answer(asked)
    ran = project.sent()
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert lines_about(ran.said, "'ours'") == snapshot
    assert not (project.cassettes / "batches.jsonl").exists()
    office.answering = answer
    project.sent()
    project.sent().assert_outcomes(passed=1)


# --- lines that nobody can read ---------------------------------------------------------------------------------


def changed(row: dict[str, Any], sdk: str, status: Any) -> dict[str, Any]:
    """Return a line of answers with another status, or in the place where a format has none, another word."""
    if sdk == "openai":
        return {**row, "response": {**row["response"], "status_code": status}}
    if sdk == "google":
        return {"key": row["key"], "metadata": row.get("metadata"), "answer": {"status": status, "key": KEY}}
    return {**row, "result": {"type": status, "message": row["result"].get("message")}}


def telling(office: PostOffice, sdk: str, status: Any) -> None:
    """Let every line of answers tell a status."""

    def told(path: str, reply: SimulatedResponse) -> SimulatedResponse:
        if not any(end in path for end in ("/content", "/results", ":download")):
            return reply
        rows = [changed(json.loads(line), sdk, status) for line in reply.body.splitlines()]
        return replace(reply, body="".join(json.dumps(row) + "\n" for row in rows).encode())

    lying(office, told)


@pytest.mark.parametrize("status", ["200", 200.0, " 200 "])
def test_a_status_is_read_however_it_is_written(status: Any, office: PostOffice, pytester: pytest.Pytester) -> None:
    """As a text, or with a point, it is the number that it says: nothing is asked again."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "max_attempts = 2", "batch_parity = 0")
    telling(office, "openai", status)
    project.sent()
    project.sent().assert_outcomes(passed=1)
    assert len(office.desk.batches) == 1


@pytest.mark.slow
@pytest.mark.sampled(3)
@each_sdk
def test_lines_of_no_known_form_are_asked_again_in_max_attempts_batches(
    sdk: str,
    office: PostOffice,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    """Rounds end, over all runs together, with exit code 4, one of the lines, and what to do; no key is shown."""
    monkeypatch.setattr(google, "INLINE", 0)
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "max_attempts = 2", "batch_parity = 2")
    telling(office, sdk, f"fine {KEY}")
    assert project.sent().ret == 0
    assert project.sent().ret == 0
    asked = office.at_once.total()
    for _ in range(3):
        ran = project.sent()
        assert ran.ret == pytest.ExitCode.USAGE_ERROR
        assert lines_about(ran.said, "--judge-batch") == snapshot
        assert "record these without --judge-batch" in ran.said
        assert KEY not in ran.said
    assert len(office.desk.batches) == 2
    assert set(office.paid.values()) <= {1, 2}
    assert office.at_once.total() == asked
    project.run("--judge-record", "missing").assert_outcomes(passed=1)
    assert project.sent().ret == 0


@pytest.mark.parametrize("fault", ["failing", "expired"])
@each_sdk
@pytest.mark.slow
def test_what_always_fails_is_asked_in_max_attempts_batches(
    fault: str, sdk: str, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """Questions that fail or expire in every batch end the rounds as well, and the others are recorded."""
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "max_attempts = 2", "batch_parity = 0")
    office.desk.faults = Faults(failing=1.0) if fault == "failing" else Faults(expired=1.0)
    codes = []
    for _ in range(5):
        codes.append(project.sent().ret)
        day_later(office)
    assert codes[:2] == [0, 0]
    assert set(codes[2:]) == {pytest.ExitCode.USAGE_ERROR}
    assert len(office.desk.batches) == 2


@pytest.mark.slow
@each_sdk
def test_rounds_end_however_differently_they_fail(
    sdk: str,
    office: PostOffice,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    """Expired, failed, then unreadable: together they are as many batches as max_attempts allows, and then none."""
    monkeypatch.setattr(google, "INLINE", 0)
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "max_attempts = 3", "batch_parity = 0")
    handle = office.desk.handle
    office.desk.faults = Faults(expired=1.0)
    assert project.sent().ret == 0
    day_later(office)
    assert project.sent().ret == 0
    next(iter(office.desk.batches.values())).word = ""
    office.desk.faults = Faults(failing=1.0)
    day_later(office)
    assert project.sent().ret == 0
    office.desk.faults = Faults()
    telling(office, sdk, "fine")
    for _ in range(3):
        ran = project.sent()
        assert ran.ret == pytest.ExitCode.USAGE_ERROR
        assert lines_about(ran.said, "max_attempts") == snapshot
    assert len(office.desk.batches) == 3
    office.desk.handle = handle  # type: ignore[method-assign]
    assert project.sent().ret == pytest.ExitCode.USAGE_ERROR  # the batch is closed: what it said is not asked for again


TOO_LONG = "The input token count (40000) exceeds the maximum number of tokens allowed (32768)."


@pytest.mark.parametrize(("code", "answered"), [("3", 5), (" 400 ", 5), ("14", 0), ("INTERNAL", 0)])
def test_a_code_of_an_error_is_read_however_it_is_written(
    code: str, answered: int, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """Gemini's codes among the answers themselves: what blames the question is its answer, what passes is not."""
    project = Posted(pytester, 3)
    project.configure("google", office.url, "max_attempts = 1", "batch_parity = 0")
    handle = office.desk.handle

    def told(method: str, path: str, sent: Mapping[str, str], raw: bytes, url: str) -> SimulatedResponse | None:
        reply = handle(method, path, sent, raw, url)
        if reply is None or not re.search(r"/batches/\w+$", path.partition("?")[0]):
            return reply
        shown = json.loads(reply.body)
        rows = shown["metadata"].get("output", {}).get("inlinedResponses", {}).get("inlinedResponses", [])
        for row in rows:
            del row["response"]
            row["error"] = {"code": code, "message": TOO_LONG if answered else "Later."}
        return replace(reply, body=json.dumps(shown).encode())

    office.desk.handle = told  # type: ignore[method-assign]
    project.sent()
    said = project.sent().said
    assert f"collected: ours: {answered} of 5 answers" in said
    assert len(office.desk.batches) == 1


# --- two runs at once -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", ["another TMPDIR", "another name of the folder"])
def test_two_runs_on_one_folder_wait_for_each_other(case: str, office: PostOffice, pytester: pytest.Pytester) -> None:
    """Whatever their TMPDIR, and by whichever name they know the folder: one sends, the other finds it sent."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    office.desk.seconds = 3600
    project.cassettes.mkdir()
    names = [project.path, project.path]
    if "name" in case:
        other = project.path.parent / f"{project.path.name}-again"
        other.symlink_to(project.path)
        names[1] = other
    office.hold = lambda asked: time.sleep(1.0) if asked.path == "/v1/files" else None
    plugins = ("-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "judgefixtures.plugin")
    command = [sys.executable, "-m", "pytest", *plugins, "--judge-config", "judges.toml", *BATCH]
    runs = []
    for number, folder in enumerate(names):
        temporary = project.path / f"tmp{number}"
        temporary.mkdir()
        environment = {
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TMPDIR": str(temporary),
            "PWD": str(folder),
        }
        runs.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL))
    assert [run.wait() for run in runs] == [0, 0]
    assert len(office.desk.batches) == 1
    assert office.at_once.total() == 1
    office.desk.ahead = 3700
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}
    assert not list(project.cassettes.rglob("*lock*"))


# --- kills -----------------------------------------------------------------------------------------------------


@dataclass
class Assassin:
    """Kills a run at one of its requests to the post office, which deals with it after all."""

    office: PostOffice
    number: int
    process: subprocess.Popen[bytes] | None = None
    struck: threading.Event = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.struck = threading.Event()
        self.office.hold = self

    def __call__(self, _asked: Asked) -> None:
        """Count a request, and strike."""
        self.number -= 1
        if self.number == 0 and self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.struck.set()


@pytest.mark.slow
@pytest.mark.whole
@each_sdk
def test_kills_between_sending_and_collecting_lose_no_answer_and_pay_none_twice(
    sdk: str, office: PostOffice, pytester: pytest.Pytester
) -> None:
    """Killed at whichever request, also where a batch is made of it and nobody is left to hear that, a run goes on.

    Each question is answered in one batch, and the recordings are those of a run that nobody killed.
    """
    project = Posted(pytester, 12)
    project.configure(sdk, office.url, "", "batch_parity = 0")
    expected = project.at_once()
    plugins = ("-p", "no:cacheprovider", "-p", "xdist.plugin", "-p", "judgefixtures.plugin")  # others take long to load
    command = [sys.executable, "-m", "pytest", *plugins, "--judge-config", "judges.toml", *BATCH]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    most = max(-(-KILLS // len(SDKS)), 2)
    chance = random.Random(f"kills of {sdk}")
    kills = 0
    while kills < most:
        shutil.rmtree(project.cassettes, ignore_errors=True)
        office.desk.batches.clear()
        office.desk.faults = Faults(failing=0.3)
        while kills < most:
            assassin = Assassin(office, chance.randint(1, 5))
            with subprocess.Popen(
                command,
                cwd=project.path,
                env=environment,
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as run:
                assassin.process = run
                run.wait()
            kills += assassin.struck.is_set()
            day_later(office)
            if not assassin.struck.is_set() and run.returncode == 0 and project.recorded() == expected:
                break
        office.hold = lambda _asked: None
        office.desk.faults = Faults()
        for _ in range(9):
            ran = project.sent()
            if "requests wait" not in ran.said:
                break
            day_later(office)
        ran.assert_outcomes(passed=1)
        assert project.recorded() == expected
        assert set(office.paid.values()) == {1}, office.paid
        assert len(office.desk.batches) == project.events.count("sent")


# --- rounds, limits, money, refusals ---------------------------------------------------------------------------


def test_a_judge_that_plans_first_runs_in_two_rounds(pytester: pytest.Pytester) -> None:
    """Plans go first; when they are collected the verdicts that carry them out are sent by the same command."""

    def saying(prompt: str, by_batch: bool) -> str:
        if prompt.startswith(PLANNING_MARK):
            return "[Start of Plan]\n1. Check what is asked for.\n2. Choose the one that does it best.\n[End of Plan]"
        return verdict(prompt, by_batch)

    project = Posted(pytester, 6)
    with posting(saying) as office:
        project.configure("openai", office.url, 'strategy = "plan-self"', "batch_parity = 2")
        project.sent()
        project.sent()
        last = project.sent()
    last.assert_outcomes(passed=1)
    sizes = [len(batch.asked) for batch in office.desk.batches.values()]
    assert sizes == [5, 12]  # plans but the probe; verdicts, two of them asked at once and by batch
    assert office.at_once.total() == 3
    project.run().assert_outcomes(passed=1)


KEYS = {
    "openai": ("OPENAI_API_KEY", "authorization", "Bearer "),
    "google": ("GEMINI_API_KEY", "x-goog-api-key", ""),
    "anthropic": ("ANTHROPIC_API_KEY", "authorization", "Bearer "),
}


@each_sdk
def test_a_batch_is_sent_as_a_call_is(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the judge's key, from the variable that is the provider's own; to the same address, in the same version."""
    variable, header, before = KEYS[sdk]
    monkeypatch.setenv(variable, "a-key-of-nobody")
    replies = {"/files": {"id": "file-1"}}
    with answering(by=lambda asked: wire(replies.get(asked.path[-6:], {"id": "b1", "name": "batches/b1"}))) as server:
        address = server.url if sdk == "google" else f"{server.url}/v1"
        table = judge_table({"provider": sdk, "model": "m", "api_key_env": variable, "base_url": address})
        batches = load_batches("ours", table)

        async def sent() -> str:
            try:
                return await batches.send("intent", [BatchLine("q-0", b'{"temperature":0.0}'), BatchLine("q-1", b"{}")])
            finally:
                await batches.close()

        assert asyncio.run(sent()).endswith("b1")
    for asked in server.asked:
        assert asked.headers[header] == f"{before}a-key-of-nobody"
    last = server.asked[-1]
    assert (
        last.path
        == {
            "openai": "/v1/batches",
            "google": "/v1beta/models/m:batchGenerateContent",
            "anthropic": "/v1/messages/batches",
        }[sdk]
    )
    if sdk == "anthropic":
        assert last.headers["anthropic-version"] == "2023-06-01"  # the last that knows a temperature


@pytest.mark.slow
def test_batches_keep_to_the_limits(
    office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No batch has more lines or bytes than its provider takes; together they ask everything once."""
    monkeypatch.setattr(openai.OpenAIBatches, "limits", BatchLimits(7, 10**6))
    project = Posted(pytester, 10)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    assert [len(batch.asked) for batch in office.desk.batches.values()] == [7, 7, 5]
    project.sent().assert_outcomes(passed=1)
    assert set(office.paid.values()) == {1}
    monkeypatch.setattr(openai.OpenAIBatches, "limits", BatchLimits(10**6, 5000))
    shutil.rmtree(project.cassettes)
    office.desk.batches.clear()
    project.sent()
    uploads = [asked.raw for asked in office.asked if asked.path == "/v1/files"]
    assert len(office.desk.batches) > 3
    assert all(len(raw) < 5000 + 1000 for raw in uploads[-len(office.desk.batches) :])


def test_the_limits_are_those_that_the_providers_document() -> None:
    """OpenAI 50,000 lines and 200 MB; Gemini 20 MB in the request itself; Anthropic 100,000 and 256 MB."""
    assert openai.OpenAIBatches.limits == BatchLimits(50_000, 200 * 10**6)
    assert google.INLINE < 20 * 10**6
    assert anthropic.AnthropicBatches.limits == BatchLimits(100_000, 256 * 10**6)


@pytest.mark.slow
def test_answers_to_other_questions_wait_for_the_command_that_asked_them(
    office: PostOffice, pytester: pytest.Pytester
) -> None:
    """A run of some of the items collects theirs; the others' answers are there for whoever asks, and paid for once."""
    project = Posted(pytester, 8, "recency", "placebo")
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    some = project.sent("-k", "recency")
    some.assert_outcomes(passed=1, deselected=1)
    assert "left: ours: 16 answers of batch_1" in some.said
    assert "ended" not in project.events
    project.sent().assert_outcomes(passed=2)
    assert project.events.count("ended") == len(office.desk.batches) == 1


@pytest.mark.slow
def test_batches_of_judges_that_are_not_asked_are_named(office: PostOffice, pytester: pytest.Pytester) -> None:
    """A batch of a judge that was renamed, or is no part of the run, is named in every run, and stays."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent()
    whole = (project.path / "judges.toml").read_text()
    renamed = whole.replace("ours", "theirs")
    other = whole.partition("[judges.ours]")[2].partition("[datasets")[0]
    for text, why in (
        (renamed, "the judge is not configured"),
        (f"{renamed}\n[judges.ours]{other}", "this run does not use that judge"),
    ):
        (project.path / "judges.toml").write_text(text)
        assert f"not collected: ours: 11 requests in batch_1: {why}" in project.sent().said
    (project.path / "judges.toml").write_text(whole)
    collected = project.sent()
    collected.assert_outcomes(passed=1)
    assert "not collected" not in collected.said


def test_two_conditions_that_ask_the_same_are_both_asked(office: PostOffice, pytester: pytest.Pytester) -> None:
    """Repeats and equal prompts of several conditions have an answer each: none stands for another's noise."""
    project = Posted(pytester, 5, "placebo", "repeat")
    project.configure("openai", office.url, "", "batch_parity = 0")
    project.sent("--judge-repeats", "3")
    project.sent("--judge-repeats", "3").assert_outcomes(passed=3)
    (batch,) = office.desk.batches.values()
    assert len({name for name, _, _ in batch.asked}) == len(batch.asked) == 5 * 5 - 1


def test_parity_tells_of_a_judge_that_answers_otherwise_by_batch(
    pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Pairs whose verdict differs are counted and named; `batch_parity = 0` asks nothing both ways."""

    def saying(prompt: str, by_batch: bool) -> str:
        said = json.loads(verdict(prompt))
        turned = by_batch and "Question 2:" in prompt
        return json.dumps({**said, "selected_response": 3 - said["selected_response"]} if turned else said)

    project = Posted(pytester, 8)
    with posting(saying) as office:
        project.configure("openai", office.url, "", "batch_parity = 8")
        project.sent()
        said = project.sent().said
        assert lines_about(said, "--judge-repeats") == snapshot
        assert "different: p0002" in said
        assert office.at_once.total() == 8
        shutil.rmtree(project.cassettes)
        project.configure("openai", office.url, "", "batch_parity = 0")
        project.sent()
        assert office.at_once.total() == 9
        assert "parity: " not in project.sent().said


@pytest.mark.parametrize("parity", [0, 2])
@each_sdk
@pytest.mark.slow
def test_answers_of_another_model_than_at_once_can_be_recorded(
    sdk: str, parity: int, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Where batches are answered by another model, the error of the pinned judge says what records their answers.

    None is paid for again, by batch or at once.
    """
    by_batch = office.desk.say

    def other(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, answer = by_batch(path, body)
        return status, {**answer, "modelVersion" if sdk == "google" else "model": "m-other"}

    office.desk.say = other
    project = Posted(pytester, 6)
    project.configure(sdk, office.url, "", f"batch_parity = {parity}")
    project.sent()
    at_once = office.at_once.total()
    assert "or set accept_served_model = 'm-other' in [judges.ours]" in project.sent().said
    project.configure(sdk, office.url, 'accept_served_model = "m-other"', f"batch_parity = {parity}")
    mixed = project.sent().said
    assert "the pin from" not in mixed  # it would be the first error again
    assert lines_about(mixed, "accept_served_model") == snapshot
    project.configure(sdk, office.url, 'accept_served_model = "m-other"', "batch_parity = 0")
    for file in project.cassettes.glob("ours/own/*.jsonl"):
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(
            b"".join(line for line in lines if not line.startswith(b'{"digest"') or b'"by":"batch"' in line)
        )
    ran = project.sent()
    if parity == 0:  # the first question was asked at once alone
        assert "sent: ours: 1 requests" in ran.said
        ran = project.sent()
    ran.assert_outcomes(passed=1)
    project.run().assert_outcomes(passed=1)
    project.write_pairs(rows_of(8))
    assert "sent: ours: 4 requests" in project.sent().said
    project.sent().assert_outcomes(passed=1)
    assert office.at_once.total() == at_once
    assert set(office.paid.values()) == {1}
    assert BatchManifest.of(project.cassettes).open == []


def test_parity_is_asked_once_for_a_judge(office: PostOffice, pytester: pytest.Pytester) -> None:
    """What a judge was asked both ways before is not asked so again, unless the judge is another one now."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 3")
    project.sent("--judge-pairs", "4")
    project.sent("--judge-pairs", "4")
    assert office.at_once.total() == 3
    project.sent()
    assert office.at_once.total() == 4  # a probe


NEVER_MADE = {"refused": Faults(refused=1), "expired": Faults(expired=1.0), "found to be invalid": Faults(invalid=1)}


@pytest.mark.slow
@pytest.mark.parametrize("fault", NEVER_MADE)
def test_parity_that_could_not_be_measured_is_measured_by_the_next_batch(
    fault: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Where the batch answered nothing, the next one asks the same pairs: none is asked at once again."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 3")
    office.desk.faults = NEVER_MADE[fault]
    project.sent()
    day_later(office)
    said = ""
    if fault != "refused":
        said = project.sent().said
        assert lines_about(said, "3 pairs could", "9 requests of", "3 requests of") == snapshot
    office.desk.faults = Faults()
    day_later(office)
    for _ in range(4):
        ran = project.sent()
        said += ran.said
        day_later(office)
        if "requests wait" not in ran.said:
            break
    assert lines_about(said, "same verdict") == snapshot
    ran.assert_outcomes(passed=1)
    assert project.events.count("parity") == 1
    assert set(office.at_once.values()) == {1}
    assert office.at_once.total() <= 3 + 2  # a probe in each run that sends
    asked = len(office.asked)
    project.sent().assert_outcomes(passed=1)
    assert len(office.asked) == asked


def test_a_bad_key_or_parameter_costs_one_call_and_no_batch(
    pytester: pytest.Pytester, office: PostOffice, snapshot: SnapshotAssertion
) -> None:
    """The first question is asked at once: what would fail everything fails there."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "seed = 7")
    office.saying = lambda _prompt, _by_batch: None
    before = office.answer

    def refusing(asked: Asked) -> Any:
        if asked.sdk:
            from support.server import problem, wire

            return wire(problem("Incorrect API key provided", code="invalid_api_key"), 401)
        return before(asked)

    office.answering = refusing
    ran = project.sent()
    assert ran.ret not in (0, 1)
    assert lines_about(ran.said, "api_key_env") == snapshot
    assert office.desk.batches == {}
    assert not (project.cassettes / "batches.jsonl").exists()


def test_a_batch_that_could_exceed_the_budget_is_not_sent(office: PostOffice, pytester: pytest.Pytester) -> None:
    """Batches count at half their price, before they are sent; collecting costs nothing of a budget."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url, "", "batch_parity = 0")
    # 40 questions of at most 512 tokens at $10 per million, half of it: about $0.11.
    little = project.sent("--judge-max-cost", "0.06")
    assert little.ret not in (0, 1)
    assert "stopped before --judge-max-cost 0.06" in little.said
    assert office.desk.batches == {}
    project.sent("--judge-max-cost", "0.14")
    assert len(office.desk.batches) == 1
    project.sent("--judge-max-cost", "0.02").assert_outcomes(passed=1)


def test_the_preflight_prices_both_ways(office: PostOffice, pytester: pytest.Pytester) -> None:
    """What batches cost stands below what calls cost: half of it."""
    project = Posted(pytester, 20)
    project.configure("openai", office.url)
    said = project.run("--judge-preflight").said
    at_most = float(said.partition("ours: at most 40 calls")[2].partition("$")[2].split()[0])
    by_batch = float(said.partition("ours: in batches (--judge-batch) at most $")[2].partition(",")[0])
    assert by_batch == pytest.approx(at_most / 2, abs=1e-4)


@pytest.mark.parametrize("record", ["missing", "all"])
def test_a_recording_without_batches_says_what_is_on_its_way(
    record: str, office: PostOffice, pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Before its first question and at its end a run that asks at once names the batch; a torn list stays as it is."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url, "", "batch_parity = 0")
    office.desk.seconds = 3600
    project.sent()
    path = project.cassettes / "batches.jsonl"
    torn = path.read_bytes() + b'{"event":"ended","in'
    path.write_bytes(torn)
    assert lines_about(project.run("--judge-preflight").said, "--judge-record") == snapshot
    assert office.at_once.total() == 1
    ran = project.run("--judge-record", record)
    ran.assert_outcomes(passed=1)
    assert lines_about(ran.said.partition("test_ours.py")[0], "--judge-record") == snapshot
    assert lines_about(ran.said, "--judge-record") == snapshot
    assert path.read_bytes() == torn
    assert "on their way" not in project.run().said
    assert "on their way" not in project.run("--judge-record", "missing").said


REFUSED = {
    "all": (("--judge-record", "all"), "it needs --judge-record missing"),
    "none": ((), "it needs --judge-record missing"),
    "looks": (("--judge-record", "missing", "--judge-baseline", "ours", "--judge-until-decided"), "cannot combine"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_do_not_go_together_are_refused(case: str, pytester: pytest.Pytester) -> None:
    """Batches send what is missing, all of it."""
    arguments, said = REFUSED[case]
    project = Posted(pytester, 3)
    project.configure("openai", NOWHERE)
    ran = project.run("--judge-batch", *arguments)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert said in ran.said


def test_a_judge_without_batches_is_refused(pytester: pytest.Pytester, snapshot: SnapshotAssertion) -> None:
    """A function of the user's has no provider that takes batches."""
    project = Posted(pytester, 3)
    project.write("mine.py", "def judge(prompt):\n    return ''\n")
    project.configuration = lambda: (
        'judge = "ours"\n[judges.ours]\nprovider = "python"\ntarget = "mine:judge"\n'
        '[datasets.own]\npath = "pairs.jsonl"\n'
    )
    project.configure()
    ran = project.sent()
    assert ran.ret == pytest.ExitCode.USAGE_ERROR or "ERROR" in ran.said
    assert ran.said == snapshot


@pytest.mark.slow
@pytest.mark.parametrize("loaded", ["as installed", "by its module"])
def test_a_run_that_sends_batches_starts_no_workers(
    loaded: str, office: PostOffice, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-n 2` starts none, however pytest-xdist was loaded: the items of one process are sent in one batch."""
    project = Posted(pytester, 6, "recency", "placebo")
    project.configure("openai", office.url, "", "batch_parity = 0")
    plugins = ["-p", "no:cacheprovider"]
    if loaded == "by its module":
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        plugins += ["-p", "xdist.plugin", "-p", "judgefixtures.plugin"]
    command = [sys.executable, "-m", "pytest", *plugins, "--judge-config", "judges.toml", *BATCH, "-n", "2"]
    ran = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert "workers [" not in ran.stdout
    assert "sent: ours: " in ran.stdout
    assert len(office.desk.batches) == 1


def test_a_run_that_is_stopped_sends_nothing(office: PostOffice, pytester: pytest.Pytester) -> None:
    """-x after a failure leaves unknown what else is missing: nothing is sent, and nothing stands in the list."""
    project = Posted(pytester, 6)
    project.configure("openai", office.url)
    project.write("test_a.py", "def test_fails():\n    assert False\n")
    project.run(*BATCH, "test_ours.py", "test_a.py", "-x")
    assert office.desk.batches == {}


# --- the list of batches ---------------------------------------------------------------------------------------


def test_the_list_survives_a_torn_line_and_names_a_damaged_one(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A torn last line never came to be; a line that is none is an error with its number."""
    manifest = BatchManifest.of(tmp_path)
    sent = manifest.intend("i1", "openai", "ours", {"ours/own/no-cue": ["a" * 32 + "-0"]})
    manifest.note("sent", sent, batch="batch_1")
    whole = manifest.path.read_bytes()
    with manifest.path.open("ab") as file:
        file.write(b'{"event":"intent","intent":"i2","pro')
    again = BatchManifest.of(tmp_path)
    assert [each.batch for each in again.open] == ["batch_1"]
    assert manifest.path.read_bytes() == whole
    again.note("ended", again.open[0])
    assert BatchManifest.of(tmp_path).open == []
    manifest.path.write_bytes(whole + b"{}\n")
    with pytest.raises(DamagedFileError) as error:
        BatchManifest.of(tmp_path)
    assert str(error.value) == snapshot


INTENT = {
    "event": "intent",
    "intent": "i1",
    "provider": "openai",
    "judge": "ours",
    "time": "2026-11-22T10:00:00.000+00:00",
    "asked": {"ours/own/no-cue": ["a" * 32 + "-0"]},
}
SENT = {"event": "sent", "intent": "i1", "time": "2026-11-22T10:00:01.000+00:00", "batch": "batch_1"}
FOREIGN = {
    "no zone": {**INTENT, "time": "2026-11-22T10:00:00"},
    "no judge": {**INTENT, "judge": None},
    "no provider": {**INTENT, "provider": ""},
    "intent of no text": {**INTENT, "intent": ["x"]},
    "a text for a list": {**INTENT, "asked": {"ours/own/no-cue": "a" * 32}},
    "ids of no text": {**INTENT, "asked": {"ours/own/no-cue": [7]}},
    "NUL": {**INTENT, "asked": {"a\0b": ["x-0"]}},
    "outside": {**INTENT, "asked": {"../own/no-cue": ["x-0"]}},
    "absolute": {**INTENT, "asked": {"/etc/passwd": ["x-0"]}},
    "no place": {**INTENT, "asked": {"": ["x-0"]}},
    "half a character": {**INTENT, "asked": {"a\ud800": ["x-0"]}},
    "parity of nobody": {**INTENT, "intent": "i2", "parity": 3},
    "another intent of its name": {**INTENT, "judge": "theirs"},
    "unknown": {"event": "lost", "intent": "i1"},
    "no event": {"event": None, "intent": "i1"},
    "batch null": {**SENT, "batch": None},
    "batch empty": {**SENT, "batch": ""},
    "another batch": {**SENT, "batch": "batch_7"},
    "partial without a time": {"event": "partial", "intent": "i1", "time": 7},
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_line_that_no_run_wrote_is_an_error_with_its_number(
    case: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """What is misread would be lost or paid for again: a line of wrong types, places, times or names is damage."""
    first = [] if FOREIGN[case]["event"] == "intent" and "another" not in case else [INTENT, SENT]
    lines = [*first, FOREIGN[case]]
    (tmp_path / "batches.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DamagedFileError) as error:
        BatchManifest.of(tmp_path)
    assert str(error.value) == snapshot


def test_the_same_lines_twice_are_one_batch(tmp_path: Path) -> None:
    """Two copies of a list that somebody put together say what one of them says."""
    ended = {"event": "ended", "intent": "i1", "time": "2026-11-23T10:00:00.000+00:00", "state": "completed"}
    once = "".join(json.dumps(line) + "\n" for line in (INTENT, SENT))
    (tmp_path / "batches.jsonl").write_text(once + once)
    (sent,) = BatchManifest.of(tmp_path).open
    assert (sent.batch, len(sent)) == ("batch_1", 1)
    assert intake.ResultCollector(BatchManifest.of(tmp_path), []).tries["ours/own/no-cue", "a" * 32, False] == 1
    (tmp_path / "batches.jsonl").write_text(once + json.dumps(ended) + "\n" + once)
    assert BatchManifest.of(tmp_path).open == []


def test_a_row_says_how_it_was_asked_and_equals_one_that_was_asked_at_once() -> None:
    """`by` is a fact of a row, and no part of what is compared; anything else there is damage."""
    row = CassetteRow("a" * 32, "p1", 0, 200, b"{}", by="batch")
    line = row.line()
    assert CassetteRow.parse(line).by == "batch"
    assert CassetteRow.parse(line) == CassetteRow("a" * 32, "p1", 0, 200, b"{}")
    with pytest.raises(ValueError, match="way"):
        CassetteRow.parse(line.replace(b'"batch"', b'"post"'))


# --- wire formats ----------------------------------------------------------------------------------------------

WIRES = ("openai", "google", "anthropic")
BODIES = {
    "openai": lambda text: {"model": "m", "messages": [{"role": "user", "content": text}]},
    "google": lambda text: {"contents": [{"role": "user", "parts": [{"text": text}]}]},
    "anthropic": lambda text: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]},
}


def batches_of(sdk: str, url: str) -> BatchProvider:
    """Return a provider's batches, asked at a server."""
    table = judge_table({"provider": "openai", "model": "m", "base_url": base_url(sdk, url)})
    kinds = {"openai": openai.OpenAIBatches, "google": google.GoogleBatches, "anthropic": anthropic.AnthropicBatches}
    return kinds[sdk](table)


def lines_of(sdk: str, count: int, mark: str = "0") -> list[BatchLine]:
    """Return questions."""
    return [
        BatchLine(f"{mark}{number:031x}-0", json.dumps(BODIES[sdk](f"Question {number}")).encode())
        for number in range(count)
    ]


def during(batches: BatchProvider, use: Callable[[BatchProvider], Any]) -> Any:
    """Return what a use of batches gives; their connections are closed afterwards."""

    async def used() -> Any:
        try:
            return await use(batches)
        finally:
            await batches.close()

    return asyncio.run(used())


def saying_in(sdk: str) -> Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]:
    """Return a judge that answers in a wire format."""
    return lambda path, body: (200, {"echo": [path, body], "format": sdk})


@pytest.mark.parametrize("sdk", WIRES)
def test_every_wire_format_sends_finds_looks_and_fetches(sdk: str, office: PostOffice) -> None:
    """A batch is found by its intent, of many; it runs, ends, and its answers are those of the same requests."""
    office.desk.say = saying_in(sdk)
    office.desk.seconds = 3600
    lines, since = lines_of(sdk, 3), datetime.datetime.now(datetime.UTC)
    names = frozenset(line.id for line in lines)

    async def use(batches: BatchProvider) -> None:
        others = [await batches.send(f"other-{number}", lines_of(sdk, 2, "f")) for number in range(25)]
        batch = await batches.send("mine", lines)
        assert batch not in others
        state = await batches.look(batch)
        assert not state.ended
        if sdk == "anthropic":
            with pytest.raises(UncertainError):
                await batches.find("mine", since, names, frozenset())
        office.desk.ahead = 3700
        assert await batches.find("mine", since, names, frozenset()) == batch
        assert await batches.find("nobody's", since, frozenset(["e" * 32]), frozenset()) is None
        state = await batches.look(batch)
        results = await batches.fetch(batch, state)
        assert results.whole
        assert results.answers.keys() == names
        for line in lines:
            answer = json.loads(results.answers[line.id].body)
            assert answer["echo"][1] == json.loads(line.body)

    during(batches_of(sdk, office.url), use)


def test_a_batch_that_is_known_to_be_anothers_is_not_waited_for(office: PostOffice) -> None:
    """Of Anthropic's batches, which have no names, one that an intent led to is neither this one's nor downloaded."""
    since, ids = datetime.datetime.now(datetime.UTC), frozenset(line.id for line in lines_of("anthropic", 3))

    async def use(batches: BatchProvider) -> None:
        office.desk.seconds = 3600
        other = await batches.send("other", lines_of("anthropic", 3, "f"))
        with pytest.raises(UncertainError):
            await batches.find("mine", since, ids, frozenset())
        assert await batches.find("mine", since, ids, frozenset([other])) is None
        office.desk.ahead = 3700
        before = len(office.asked)
        assert await batches.find("mine", since, ids, frozenset([other])) is None
        assert len(office.asked) == before + 1  # the list alone

    during(batches_of("anthropic", office.url), use)


@pytest.mark.parametrize("sdk", WIRES)
def test_every_wire_format_tells_answers_from_failures(sdk: str, office: PostOffice) -> None:
    """Expired and failed questions are failures, what concerns one question alone is its answer."""
    office.desk.say = saying_in(sdk)
    office.desk.faults = Faults(expired=0.3, failing=0.3, blocked=0.2, reordered=True, duplicates=2, unknown=2)
    lines = lines_of(sdk, 60)

    async def use(batches: BatchProvider) -> None:
        batch = await batches.send("mine", lines)
        assert not (await batches.look(batch)).ended
        day_later(office)
        results = await batches.fetch(batch, await batches.look(batch))
        names = {line.id for line in lines}
        answered = results.answers.keys() & names
        statuses = Counter(results.answers[name].status for name in answered)
        assert statuses.keys() == {200, 400}
        failed = names - answered
        assert 10 < len(failed) < 50
        assert office.desk.asked.keys() >= answered

    during(batches_of(sdk, office.url), use)


@pytest.mark.parametrize("sdk", WIRES)
def test_every_wire_format_says_what_is_wrong_with_a_batch_that_is_not_there(sdk: str, office: PostOffice) -> None:
    """A batch that is not known is a fatal error; so is a server that refuses to make one, before anything is paid."""

    async def use(batches: BatchProvider) -> None:
        with pytest.raises(FatalJudgeError, match="404"):
            await batches.look({"openai": "batch_9", "google": "batches/b9", "anthropic": "msgbatch_9"}[sdk])
        office.desk.faults = Faults(refused=1)
        with pytest.raises(Exception, match="429"):
            await batches.send("mine", lines_of(sdk, 2))
        assert office.desk.batches == {}

    during(batches_of(sdk, office.url), use)


def test_the_simulator_takes_batches(snapshot: SnapshotAssertion) -> None:
    """`python -m judgefixtures.simulator` answers a batch as it answers calls."""
    with serving() as simulator:
        body = {"model": "simulated-faithful", "messages": [{"role": "user", "content": "?"}]}
        line = BatchLine("a" * 32 + "-0", json.dumps(body).encode())

        async def use(batches: BatchProvider) -> Any:
            batch = await batches.send("mine", [line])
            return await batches.fetch(batch, await batches.look(batch))

        results = during(batches_of("openai", simulator.url), use)
    assert results.failed[line.id] == snapshot


def test_only_providers_with_batches_have_them() -> None:
    """Any other provider is refused with the names of those that have."""
    table = judge_table({"provider": "python", "target": "mine:judge"})
    with pytest.raises(JudgeFixturesError, match="anthropic, google, openai"):
        load_batches("ours", table)
