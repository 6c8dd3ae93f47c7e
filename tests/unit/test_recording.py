"""Recording for money: calls in flight, several processes, kills, Ctrl-C; nothing lost, nothing paid twice.

Each test runs pytest as its users do, in a process of its own, on a small project with its own pairs. The
server is the test's: it counts questions by pair and condition, and can hold its answers back. More kills:

    JUDGEFIXTURES_KILLS=50 pytest tests/unit/test_recording.py -k kill
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.forked import PATIENCE, Fresh, Run, launcher
from support.project import Project, Ran, suite
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, chat, running, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.cues import FAMILIES
from judgefixtures.report.exit_code import NOT_MEASURED

pytestmark = pytest.mark.whole

KILLS = int(os.environ.get("JUDGEFIXTURES_KILLS", "8"))
KILLED = [
    pytest.param((), 2, id="one-process"),
    pytest.param(("-n", "2"), 1, id="two-workers"),
    pytest.param((), KILLS - KILLS // 4, id="one-process-often", marks=pytest.mark.slow),
    pytest.param(("-n", "2"), KILLS // 4, id="two-workers-often", marks=pytest.mark.slow),
]
CONCURRENCY = 16
RECENCY = ("recency-new-old", "recency-old-new")
PROVENANCE = tuple(f"provenance-{x}-{y}" for x in FAMILIES["provenance"] for y in FAMILIES["provenance"] if x != y)

Key = tuple[str, str]  # condition and pair


# --- a server that counts ---------------------------------------------------------------------------------

TEMPLATE = "{question}\n{response_1}\n{response_2}\n{cue_1}\n{cue_2}\nAnswer with selected_response and reason.\n"
LABELS = {
    sentence.replace("{content_type}", "Response").replace("{number}", number): (family, label)
    for family, labels in FAMILIES.items()
    for label, sentence in labels.items()
    for number in ("1", "2")
}


def key_of(prompt: str) -> Key:
    """Return which condition and pair a prompt of the test's template is about."""
    lines = prompt.split("\n")
    if lines[3] not in LABELS:
        return "no-cue", lines[0].removeprefix("About ").partition(":")[0]
    (family, x), (_, y) = LABELS[lines[3]], LABELS[lines[4]]
    return f"{family}-{x}-{y}", lines[0].removeprefix("About ").partition(":")[0]


class Counting(Server):
    """Answers chat completions, the same to the same prompt, and counts them; `hold` may wait first."""

    def __init__(self, hold: Callable[[Key], None], edition: str) -> None:
        super().__init__(self.answer, keep_alive=True)
        self.hold, self.edition = hold, edition

    @property
    def keys(self) -> list[Key]:
        """Which pairs were asked about in which conditions, in order."""
        return [key_of(asked.prompt) for asked in self.asked]

    @property
    def counted(self) -> Counter[Key]:
        """How often each pair was asked about in each condition."""
        return Counter(self.keys)

    def answer(self, asked: Asked) -> Answer:
        """Wait as the test wants, and return an answer."""
        self.hold(key_of(asked.prompt))
        digest = hashlib.sha256((asked.prompt + self.edition).encode()).hexdigest()
        text = {"selected_response": 1 + int(digest, 16) % 2, "reason": f"{digest[:8]}{self.edition}"}
        return wire(chat(json.dumps(text), model="m", named=None, usage={"prompt_tokens": 5}))


@contextlib.contextmanager
def counting(hold: Callable[[Key], None] = lambda _: None, edition: str = "") -> Iterator[Counting]:
    """Serve while the block runs; when it ends every request was counted."""
    server = Counting(hold, edition)
    with running(server):
        yield server


def jitter(seed: int, longest: float = 0.01) -> Callable[[Key], None]:
    """Return a hold that lets answers come in another order than questions, decided by the seed."""

    def hold(key: Key) -> None:
        time.sleep(random.Random(f"{seed} {key}").random() * longest)

    return hold


class Gate:
    """Lets so many answers through and holds the others back until it is opened."""

    def __init__(self, answers: int) -> None:
        self._free = threading.Semaphore(answers)
        self._open = threading.Event()

    def __call__(self, _: Key) -> None:
        while not self._free.acquire(timeout=0.02):
            if self._open.is_set():
                return

    def open(self) -> None:
        """Let everything through."""
        self._open.set()


# --- runs of pytest ---------------------------------------------------------------------------------------

PLUGINS = (
    "-p",
    "no:cacheprovider",
    "-p",
    "xdist.plugin",
    "-p",
    "judgefixtures.plugin",
)  # and no others: they take long


@pytest.fixture
def new_project(tmp_path: Path) -> Callable[..., Recorded]:
    """Return a function that makes a project."""
    return lambda name="project", **more: Recorded(tmp_path / name, **more)


# --- a project --------------------------------------------------------------------------------------------


OPENAI = 'provider = "openai"\nmodel = "{model}"\nbase_url = "{url}/v1"\ntemplate = "prompt.txt"'


class Recorded(Project):
    """A repository whose runs are processes that can be killed, and what is recorded in it."""

    begins_anew = False  # each run is forked, or else begins as a user's

    def __init__(
        self,
        path: Path,
        *,
        pairs: int = 10,
        families: Sequence[Sequence[str]] = (("recency",),),  # those of each test module
        provider: str = OPENAI,
        code: str = "",
    ) -> None:
        path.mkdir(parents=True)
        super().__init__(path)
        self.temporary = path.with_name(f"{path.name}-tmp")
        self.temporary.mkdir()
        self.families, self.provider, self.code = families, provider, code
        self.model = "m"
        self.write("prompt.txt", TEMPLATE)
        for number, names in enumerate(families):
            self.write(f"test_{number}.py", suite(*names))
        self.pairs = [
            {
                "id": f"p{number:03}",
                "question": f"About p{number:03}: which?",
                "response_1": f"One {number}.",
                "response_2": f"Two {number}.",
            }
            for number in range(pairs)
        ]
        self.write_pairs(self.pairs)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Every condition that a run asks about."""
        named = {name for families in self.families for name in families}
        return (RECENCY if "recency" in named else ()) + (PROVENANCE if "provenance" in named else ())

    @property
    def everything(self) -> Counter[Key]:
        """Every question, once."""
        return Counter((condition, row["id"]) for condition in self.conditions for row in self.pairs)

    def start(self, url: str, *arguments: str) -> Run:
        """Start pytest; what it says goes to a file."""
        table = self.provider.format(model=self.model, url=url)
        self.configure(
            f'[tool.judgefixtures]\njudge = "ours"\n[tool.judgefixtures.judges.ours]\n{table}\n'
            '[tool.judgefixtures.datasets.own]\npath = "pairs.jsonl"\nbalance_positions = false\n'
            "[tool.judgefixtures.gate]\nvsr_tolerance = 0.9\n"
        )
        self.write("judge_of_ours.py", self.code.replace("URL", url))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment |= {
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        said = self.path / "said.txt"
        said.unlink(missing_ok=True)
        start = Fresh if self.begins_anew else launcher().start
        return start(self.path, environment, [*PLUGINS, "--judge-force", *arguments], said)

    def workers_know(self) -> bool:
        """Return whether the controller of a run has told its workers to stop, which may take it a while."""
        return any(self.temporary.glob("judgefixtures-run-*/stop"))

    def ended(self, run: Run) -> Ran:
        """Wait for a run and return how it ended; it must have shown no traceback."""
        code = run.wait()
        said = (self.path / "said.txt").read_text()
        if code is None:
            run.kill()
            pytest.fail(f"it hangs: {said}")
        return Ran(code, said, self.path / "report").whole

    def run_at(self, url: str, *arguments: str) -> Ran:
        """Run pytest to its end."""
        return self.ended(self.start(url, *arguments))

    def record(self, *arguments: str, hold: Callable[[Key], None] = lambda _: None, edition: str = "") -> Counter[Key]:
        """Record to the end and return what was asked."""
        with counting(hold, edition) as server:
            result = self.run_at(server.url, "--judge-record", *(arguments or ("missing",)))
        assert result.ret in (0, 1), result.said
        assert "ERROR" not in result.said, result.said
        return server.counted

    def replays(self) -> Ran:
        """Replay without a server: every item must be measured."""
        result = self.run_at(NOWHERE, "--judge-record", "none")
        assert result.ret in (0, 1), result.said
        assert "ERROR" not in result.said, result.said
        return result

    def kept(self, kind: str = "") -> set[Key]:
        """Return what is recorded: whole lines alone, each parsed here and by nobody else's reader."""
        return {
            (condition, json.loads(line)["pair"])
            for condition in self.conditions
            for line in whole_lines(self.cassette(f"{condition}{kind}"))[1:]
        }

    def recordings(self) -> dict[str, bytes]:
        """Return every file below the recordings' folder, but no drafts that a kill left."""
        root = self.cassettes
        files = sorted(path for path in root.rglob("[!.]*") if path.is_file())
        return {str(path.relative_to(root)): path.read_bytes() for path in files}


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file that have an end."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def complete(project: Recorded) -> None:
    """Assert that every condition's file is whole: a header, then each pair once, in order."""
    for condition in project.conditions:
        content = project.cassette(condition).read_bytes()
        assert content.endswith(b"\n")
        header, *rows = [json.loads(line) for line in content.splitlines()]
        assert (header["judgefixtures"], header["condition"]) == (1, condition)
        assert [row["pair"] for row in rows] == [row["id"] for row in project.pairs]
        assert len({row["digest"] for row in rows}) == len(rows)


# --- many calls in flight ---------------------------------------------------------------------------------


class Window:
    """Holds every answer back until as many questions are in flight as there can be, then lets one go.

    So a run that keeps fewer in flight, be it between two conditions, comes to a stop, which is noticed.
    The first question is answered at once: it may be a probe, which is asked alone.
    """

    def __init__(self, total: int, width: int, patience: float) -> None:
        self.remaining, self.width, self.patience = total, width, patience
        self.in_flight: set[Key] = set()
        self.most = 0
        self.mixed = False
        self.starved = False
        self.first = True
        self._changed = threading.Condition()

    def __call__(self, key: Key) -> None:
        with self._changed:
            self.in_flight.add(key)
            self.most = max(self.most, len(self.in_flight))
            self.mixed |= len({condition for condition, _ in self.in_flight}) > 1
            self._changed.notify_all()
            if not self.first and not self._changed.wait_for(self._full, self.patience):
                self.starved = True
            self.first = False
            self.in_flight.remove(key)
            self.remaining -= 1
            self._changed.notify_all()

    def _full(self) -> bool:
        return self.starved or len(self.in_flight) >= min(self.width, self.remaining)


PYTHON = 'provider = "python"\ntarget = "judge_of_ours:judge"\ntemplate = "prompt.txt"'
ASYNC = """\
import httpx
import ssl

tls = ssl.create_default_context()

async def judge(prompt):
    async with httpx.AsyncClient(verify=tls, timeout=60) as client:
        answer = await client.post("URL/v1/judge", json={"prompt": prompt})
        return answer.json()["choices"][0]["message"]["content"]
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [pytest.param("", id="openai"), pytest.param(ASYNC, id="python")])
def test_calls_in_flight_slide_over_both_conditions(code: str, new_project: Callable[..., Recorded]) -> None:
    """16 calls are in flight from first to last, without a pause between the conditions, and never more."""
    project = new_project(pairs=20, code=code)
    if code:
        project.provider = PYTHON
    window = Window(2 * len(project.pairs), CONCURRENCY, PATIENCE / 2)
    asked = project.record("missing", "--judge-concurrency", str(CONCURRENCY), hold=window)
    assert asked == project.everything
    assert not window.starved, f"only {window.most} were in flight"
    assert window.most == CONCURRENCY
    assert window.mixed
    complete(project)


# --- several processes ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_workers_lose_nothing_and_ask_everything_once(new_project: Callable[..., Recorded]) -> None:
    """Four workers, two modules with the same contrasts: each question is asked once, each line is whole.

    Which worker asked, and in which order answers came, leaves no trace: one process records the same bytes.
    """
    project = new_project(pairs=5, families=(("recency", "provenance"),) * 2)
    alone = new_project("alone", pairs=5, families=(("recency", "provenance"),))
    with counting(jitter(1, longest=0.05)) as server:
        result = project.run_at(server.url, "--judge-record", "missing", "-n", "4")
        assert result.ret in (0, 1), result.said
        assert server.counted == project.everything
    complete(project)
    assert alone.record("missing", "--judge-concurrency", "1") == alone.everything
    assert project.recordings() == alone.recordings()
    passed = re.compile(r"(?:\d+ (?:passed|failed|skipped),? ?)+")
    assert len(passed.findall(result.said)) == 1
    assert passed.findall(project.replays().said) == passed.findall(result.said)


@pytest.mark.slow
def test_a_second_run_waits_and_replays(new_project: Callable[..., Recorded]) -> None:
    """Two people start the same recording: the second run waits for the first, and asks nothing."""
    project = new_project(pairs=6)
    gate = Gate(0)
    with counting(gate) as server:
        first = project.start(server.url, "--judge-record", "missing")
        server.wait_for(1, first.has_ended)
        second = project.start(server.url, "--judge-record", "missing")
        assert second.wait(1.5) is None  # long enough to come to the lock
        assert len(server.asked) == 1
        gate.open()
        assert [run.wait() in (0, 1) for run in (first, second)] == [True, True]
    assert server.counted == project.everything
    complete(project)


# --- kills ------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What a recording under kills must account for."""

    asked: Counter[Key] = field(default_factory=Counter)
    in_flight: Counter[Key] = field(default_factory=Counter)
    kills: int = 0


def killed_run(project: Recorded, tally: Tally, chance: random.Random, arguments: Sequence[str]) -> None:
    """Begin to record, kill at a random question or soon after; nothing that was written may be lost."""
    before = project.kept()
    remaining = sum(project.everything.values()) - len(before)
    with counting(jitter(chance.randrange(10**6))) as server:
        run = project.start(server.url, *arguments)
        server.wait_for(chance.randint(1, remaining), run.has_ended)
        time.sleep(chance.random() * 0.03)
        tally.kills += run.kill()
    after, asked = project.kept(), server.counted
    assert before <= after, "an answer that was written is gone"
    assert not before & asked.keys(), "an answer that was kept was asked for again"
    assert set(asked.values()) <= {1}
    lost = asked.keys() - after
    assert after - before <= asked.keys()
    assert len(lost) <= CONCURRENCY * (2 if "-n" in arguments else 1), "answers that had arrived were not written"
    tally.asked += asked
    tally.in_flight += Counter(lost)


@pytest.mark.parametrize(("arguments", "kills"), KILLED)
@pytest.mark.slow
def test_kills_lose_no_answer_and_pay_none_twice(
    arguments: tuple[str, ...], kills: int, new_project: Callable[..., Recorded]
) -> None:
    """Killed at random moments, a recording goes on: what was written stays and is not asked again.

    At the end the files are those of a recording that nobody killed, byte for byte, and each question was
    asked once, and once more for each kill that it was in flight at.
    """
    families = ("recency", "provenance") if arguments else ("recency",)
    pairs = 6 if arguments else 60
    reference = new_project("reference", pairs=pairs, families=(families,))
    assert reference.record() == reference.everything
    chance = random.Random(20260214)
    done = 0
    while done < kills:
        project, tally = new_project(f"killed-at-{done}", pairs=pairs, families=(families,)), Tally()
        project.begins_anew = kills > 2 and not done  # where there are many, the first are of runs that begin anew
        while done + tally.kills < kills and project.kept() != project.everything.keys():
            killed_run(project, tally, chance, ("--judge-record", "missing", *arguments))
        done += tally.kills
        tally.asked += project.record("missing", *arguments)
        assert project.recordings() == reference.recordings()
        assert tally.asked == project.everything + tally.in_flight


@pytest.mark.slow
def test_a_renewal_that_is_killed_keeps_the_old_recording_and_goes_on(new_project: Callable[..., Recorded]) -> None:
    """Killed again and again, `all` leaves the old answers replaying until it is done; it asks none twice."""
    project = new_project(pairs=40)
    project.record(edition="old")
    old = project.recordings()
    chance = random.Random(7)
    tally = Tally()
    for _ in range(max(2, KILLS // 4)):
        before = project.kept(".part")
        left = sum(project.everything.values()) - len(before)
        with counting(jitter(1), "new") as server:
            run = project.start(server.url, "--judge-record", "all")
            server.wait_for(chance.randint(1, max(1, left // 2)), run.has_ended)
            time.sleep(chance.random() * 0.02)
            assert run.kill()
        after = project.kept(".part")
        assert before <= after
        assert not before & server.counted.keys()
        assert len(server.counted.keys() - after) <= CONCURRENCY
        assert {name: content for name, content in project.recordings().items() if ".part." not in name} == old
        tally.asked += server.counted
        tally.in_flight += Counter(server.counted.keys() - after)
    project.replays()
    tally.asked += project.record("all", edition="new")
    assert tally.asked == project.everything + tally.in_flight
    assert project.recordings().keys() == old.keys()
    complete(project)
    for condition in RECENCY:
        assert all(b"new" in line for line in whole_lines(project.cassette(condition))[1:])


Answered = dict[tuple[str, str, int], int]  # condition, pair and repeat, and the edition of the answer


def answered(project: Recorded, kind: str = "") -> Answered:
    """Return what is recorded, with the number that the server's edition ends with; whole lines, parsed here."""
    found: Answered = {}
    for condition in (*RECENCY, "no-cue"):
        for line in whole_lines(project.cassette(f"{condition}{kind}"))[1:]:
            row = json.loads(line)
            key = (condition, row["pair"], row.get("repeat", 0))
            assert key not in found, "two answers to one question"
            content = row["json"]["choices"][0]["message"]["content"]
            found[key] = int(json.loads(content)["reason"].rpartition("-")[2])
    return found


WHOLE = ("--judge-repeats", "3")
RENEWALS = (WHOLE, (), ("--judge-pairs", "5", *WHOLE))  # what a renewal asks: all, no repeats, some pairs


@pytest.mark.parametrize(("arguments", "kills"), KILLED)
@pytest.mark.slow
def test_a_renewal_that_is_killed_loses_no_older_answer(
    arguments: tuple[str, ...], kills: int, new_project: Callable[..., Recorded]
) -> None:
    """Killed at random moments, `all` loses nothing, whether it asks everything, no repeats, or some of the pairs.

    Every older answer stays until a newer one stands in its place, every newer one stays, at most those that were in
    flight are gone, the frozen pairs are those of the recordings, and what is there replays.
    """
    project = new_project(pairs=10, families=(("recency", "repeat"),))
    with counting(edition="-0") as server:
        assert project.run_at(server.url, "--judge-record", "missing", *WHOLE).ret in (0, 1)
    whole = answered(project)
    assert len(whole) == 10 * (2 + 3)
    frozen = {name: project.recordings()[name] for name in ("ours/own/pairs.jsonl", "ours/own/sample.json")}
    chance, done, edition = random.Random(20261122), 0, 0
    while done < kills:
        edition += 1
        before = {**answered(project), **answered(project, ".part")}
        with counting(jitter(chance.randrange(10**6)), f"-{edition}") as server:
            run = project.start(server.url, "--judge-record", "all", *chance.choice(RENEWALS), *arguments)
            server.wait_for(chance.randint(1, len(whole)), run.has_ended)
            time.sleep(chance.random() * 0.03)
            done += run.kill()
            assert run.code in (-signal.SIGKILL, 0, 1)
        recorded, part = answered(project), answered(project, ".part")
        after = {**recorded, **part}
        assert recorded.keys() == whole.keys(), "an older answer is gone"
        assert all(after[key] >= number for key, number in before.items()), "a newer answer is gone"
        new = sum(number == edition for number in after.values())
        lost = len(server.asked) - new
        assert 0 <= lost <= CONCURRENCY * (2 if arguments else 1), "answers that had arrived were not written"
        assert frozen.items() <= project.recordings().items()
    end = project.run_at(NOWHERE, *WHOLE)
    assert "ERROR" not in end.said, end.said
    with counting(edition=f"-{edition + 1}") as server:
        end = project.run_at(server.url, "--judge-record", "all", *WHOLE)
    assert end.ret in (0, 1), end.said
    assert ("an interrupted --judge-record all" in end.said) == bool(part), end.said
    assert answered(project).keys() == whole.keys()
    assert not list(project.path.rglob("*.part*"))


@pytest.mark.parametrize("some", RENEWALS[1:], ids=["without-repeats", "fewer-pairs"])
def test_a_renewal_keeps_what_it_does_not_ask(some: tuple[str, ...], new_project: Callable[..., Recorded]) -> None:
    """`all` without repeats, or with fewer pairs, asks what it asks once, and every other answer stays as it was."""
    project = new_project(pairs=10, families=(("recency", "repeat", "position"),))
    with counting(edition="-0") as server:
        project.run_at(server.url, "--judge-record", "missing", *WHOLE)
    before, frozen = answered(project), project.recordings()["ours/own/sample.json"]
    with counting(edition="-1") as server:
        end = project.run_at(server.url, "--judge-record", "all", *some)
    assert end.ret in (0, 1), end.said
    after = answered(project)
    assert after.keys() == before.keys()
    renewed = {key for key, edition in after.items() if edition}
    assert len(renewed) == (10 * 3 if not some else 5 * (2 + 3))
    assert project.recordings()["ours/own/sample.json"] == frozen
    assert "ERROR" not in project.run_at(NOWHERE, *WHOLE).said


# --- a full disk ------------------------------------------------------------------------------------------

# Files may not grow beyond this, as on a full disk: the kernel takes a part of a line, and then no more.
FULL = """\
import resource
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY))
"""


@pytest.mark.parametrize(
    "families", [pytest.param(("recency",), id="one-item"), pytest.param(("recency", "provenance"), id="more-items")]
)
def test_a_full_disk_keeps_the_answers_and_stops_the_run(
    families: tuple[str, ...], new_project: Callable[..., Recorded]
) -> None:
    """When nothing more can be written the run says so and asks no more; with room, `missing` goes on."""
    project = new_project(pairs=40, families=(families,))
    conftest = project.path / "conftest.py"
    conftest.write_text(FULL)
    with counting() as server:
        end = project.run_at(server.url, "--judge-record", "missing")
    assert end.ret in (1, 2), end.said
    for word in ("cannot be written", "File too large", f"{RECENCY[0]}.jsonl", "--judge-record missing"):
        assert word in end.said
    kept = project.kept()
    assert len(kept) > 10
    assert set(server.counted.values()) == {1}
    assert len(server.counted.keys() - kept) <= CONCURRENCY, "it went on asking what it could not write"
    conftest.unlink()
    assert project.record() == project.everything - Counter(kept)
    complete(project)


# --- Ctrl-C -----------------------------------------------------------------------------------------------

NOTE = re.compile(r"(\d+) of (\d+) answers are saved \((\d+) of them new\), (\d+) are missing")


def interrupted(project: Recorded, answers: int, *arguments: str) -> Ran:
    """Record, press Ctrl-C when so many new answers are on disk and others in flight; return the end."""
    gate = Gate(answers)
    wanted = len(project.kept()) + answers
    with counting(gate) as server:
        run = project.start(server.url, "--judge-record", "missing", *arguments)
        try:
            server.wait_for(answers + 1, run.has_ended)
            while len(project.kept()) < wanted and run.poll() is None:
                time.sleep(0.01)
            os.killpg(run.pid, signal.SIGINT)  # as a terminal does it
            return project.ended(run)
        finally:
            gate.open()


@pytest.mark.slow
def test_ctrl_c_keeps_the_answers_and_says_how_many(new_project: Callable[..., Recorded]) -> None:
    """Ctrl-C ends the run with code 2, says how many answers are kept and remain; `missing` asks the rest."""
    project = new_project(pairs=20)
    end = interrupted(project, 9)
    assert end.ret == 2
    assert len(project.kept()) == 9
    (told,) = set(NOTE.findall(end.said))
    assert told == ("9", "40", "9", "31")
    assert "--judge-record missing" in end.said
    kept = project.kept()
    end = interrupted(project, 5)
    assert (end.ret, len(project.kept())) == (2, 14)
    assert kept < project.kept()
    kept = project.kept()
    assert project.record() == project.everything - Counter(kept)
    complete(project)


@pytest.mark.slow
def test_ctrl_c_counts_what_was_kept_before(new_project: Callable[..., Recorded]) -> None:
    """The answers of earlier runs are kept as well, and counted, also those that this run did not come to."""
    project = new_project(pairs=20)
    with counting() as server:
        project.run_at(server.url, "--judge-record", "missing", "--judge-concurrency", "1")
        (_, first) = server.keys[0]
    row = next(row for row in project.pairs if row["id"] == first)
    row["response_1"] = "Another one."
    project.write_pairs(project.pairs)
    end = interrupted(project, 0, "--judge-concurrency", "1")
    assert end.ret == 2
    (told,) = set(NOTE.findall(end.said))
    assert told == ("38", "40", "0", "2")


@pytest.mark.slow
def test_ctrl_c_reaches_workers(new_project: Callable[..., Recorded]) -> None:
    """Under xdist, too, answers are kept on Ctrl-C, the exit code is 2, and `missing` asks the rest."""
    project = new_project(pairs=20)
    end = interrupted(project, 9, "-n", "2")
    assert end.ret == 2
    kept = project.kept()
    assert len(kept) == 9
    assert project.record() == project.everything - Counter(kept)
    complete(project)


@pytest.mark.slow
def test_ctrl_c_says_how_many_under_xdist(new_project: Callable[..., Recorded]) -> None:
    """From workers, too, the run says how many answers are kept and how many remain."""
    end = interrupted(new_project(pairs=20), 9, "-n", "2")
    assert set(NOTE.findall(end.said)) == {("9", "40", "9", "31")}


def stopped(
    project: Recorded, *arguments: str, signals: Sequence[tuple[str, int]], opens: bool
) -> tuple[Ran, set[Key]]:
    """Record until the first answers are kept and more are in flight, send signals; return the end and what was asked.

    A signal goes to "all", as from a terminal, or to the process that was started alone. Where the server `opens`, it
    answers what is in flight after that.
    """
    gate = Gate(9)
    with counting(gate) as server:
        run = project.start(server.url, "--judge-record", "missing", *arguments)
        try:
            server.wait_for(9 + CONCURRENCY, run.has_ended)
            while len(project.kept()) < 9 and run.poll() is None:
                time.sleep(0.01)
            for whom, number in signals:
                (os.killpg if whom == "all" else os.kill)(run.pid, number)
                time.sleep(1.0)
            end = time.monotonic() + 30
            while "-n" in arguments and time.monotonic() < end and run.poll() is None and not project.workers_know():
                time.sleep(0.05)
            time.sleep(0.5)
            if opens:
                gate.open()
            return project.ended(run), set(server.keys)
        finally:
            gate.open()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("anew", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["forked", "anew"])
def test_answers_in_flight_are_kept(
    anew: bool, number: int, arguments: Sequence[str], new_project: Callable[..., Recorded]
) -> None:
    """After a signal to the process that was started what was asked is kept and said, and nothing more is asked."""
    project = new_project(pairs=20)
    project.begins_anew = anew
    end, asked = stopped(project, *arguments, signals=[("one", number)], opens=True)
    assert end.ret == 2
    assert project.kept() == asked
    assert len(asked) == 9 + CONCURRENCY
    assert set(NOTE.findall(end.said)) == {("25", "40", "25", "15")}
    assert project.record() == project.everything - Counter(asked)
    complete(project)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.parametrize("signals", [[("all", signal.SIGINT)] * 2, [("one", signal.SIGTERM)] * 2], ids=["int", "term"])
@pytest.mark.slow
def test_a_second_signal_ends_the_run_at_once(
    signals: Sequence[tuple[str, int]], arguments: Sequence[str], new_project: Callable[..., Recorded]
) -> None:
    """Twice Ctrl-C, or SIGTERM, drops what is in flight, and still says what is kept, with pytest's exit code."""
    project = new_project(pairs=20)
    end, asked = stopped(project, *arguments, signals=signals, opens=False)
    assert end.ret == 2
    assert len(asked) == 9 + CONCURRENCY
    assert set(NOTE.findall(end.said)) == {("9", "40", "9", "31")}
    assert len(project.kept()) == 9


@pytest.mark.slow
def test_concurrency_holds_over_all_workers(new_project: Callable[..., Recorded]) -> None:
    """Two workers that record two judges' conditions have as many calls in flight as one process would."""
    project = new_project(pairs=6, families=(("recency",), ("provenance",)))
    in_flight: list[int] = []
    present: Counter[str] = Counter()
    lock = threading.Lock()

    def hold(_key: Key) -> None:
        with lock:
            present["now"] += 1
            in_flight.append(present["now"])
        time.sleep(0.05)
        with lock:
            present["now"] -= 1

    with counting(hold) as server:
        end = project.run_at(server.url, "--judge-record", "missing", "--judge-concurrency", "3", "-n", "2")
    assert end.ret in (0, 1)
    assert server.counted == project.everything
    assert max(in_flight) == 3


# --- what has to be asked again ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A project that was recorded, to be copied."""
    project = Recorded(tmp_path_factory.mktemp("recorded") / "project")
    assert project.record() == project.everything
    complete(project)
    return project


@pytest.fixture
def project(recorded: Recorded, new_project: Callable[..., Recorded]) -> Recorded:
    """A project of one's own with recordings."""
    own = new_project()
    for name, content in recorded.recordings().items():
        path = own.path / "cassettes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return own


def test_recording_the_same_again_changes_no_byte(project: Recorded) -> None:
    """`missing` on a complete recording asks nothing, `all` asks everything; neither changes a byte."""
    before = project.recordings()
    assert project.record("missing") == Counter()
    sample = "ours/own/sample.json"  # what is said of the sample is said of the pairs that there are now
    assert project.recordings() | {sample: b""} == before | {sample: b""}
    assert project.record("all", hold=jitter(3)) == project.everything
    assert project.recordings() == before


def test_a_changed_pair_alone_is_asked_again(project: Recorded) -> None:
    """After one pair changed, `missing` asks that pair in each condition, and drops its old answers."""
    project.pairs[4]["response_2"] = "Two, but better."
    project.write_pairs(project.pairs)
    asked = project.record("missing")
    assert asked == {(condition, "p004"): 1 for condition in RECENCY}
    complete(project)


def test_a_new_pair_alone_is_asked(project: Recorded) -> None:
    """A pair that was added is asked in each condition; the answers about the others stay as they are."""
    before = {name: set(content.splitlines()) for name, content in project.recordings().items()}
    project.pairs.append({"id": "p010", "question": "About p010: which?", "response_1": "One.", "response_2": "Two."})
    project.write_pairs(project.pairs)
    assert project.record("missing") == {(condition, "p010"): 1 for condition in RECENCY}
    complete(project)
    after = {
        name: set(content.splitlines()) for name, content in project.recordings().items() if name.endswith(".jsonl")
    }
    for name, lines in after.items():  # the header says that more pairs are planned now
        assert {line for line in before[name] if not line.startswith(b'{"judgefixtures"')} < lines


@pytest.mark.parametrize("mode", ["missing", "none"])
def test_a_changed_model_is_refused(project: Recorded, mode: str) -> None:
    """After a change of the model nothing is asked or written: the message names the change and `all`."""
    before = project.recordings()
    project.model = "another"
    with counting() as server:
        end = project.run_at(server.url, "--judge-record", mode)
    assert (end.ret, server.asked) == (NOT_MEASURED, [])
    for word in ('model: "m" -> "another"', "--judge-record all", f"{RECENCY[0]}.jsonl"):
        assert word in end.said
    assert project.recordings() == before


@pytest.mark.parametrize(
    ("damaged", "content"),
    [
        ("recency-new-old.jsonl", b'{"judgefixtures":2,"judge":{}}\n'),
        ("recency-new-old.jsonl", b"no cassette\n"),
        ("pairs.jsonl", b"no pair\n"),
    ],
)
def test_all_replaces_what_cannot_be_read(project: Recorded, damaged: str, content: bytes) -> None:
    """`--judge-record all`, which the messages name as the remedy, replaces a damaged file; `missing` refuses it."""
    before = project.recordings()
    (project.cassette(RECENCY[0]).parent / damaged).write_bytes(content)
    with counting() as server:
        assert project.run_at(server.url, "--judge-record", "missing").ret == NOT_MEASURED
        assert server.asked == []
    assert project.record("all") == project.everything
    assert project.recordings() == before


def test_responses_that_changed_places_are_told(project: Recorded) -> None:
    """Where a pair's responses changed places, as balancing does, the message says so, not that both were edited."""
    pair = project.pairs[0]
    pair["response_1"], pair["response_2"] = pair["response_2"], pair["response_1"]
    project.write_pairs(project.pairs)
    end = project.run_at(NOWHERE)
    assert end.ret == NOT_MEASURED
    for word in ("'p000'", "swapped places", "balance_positions", "--judge-record missing"):
        assert word in end.said


def test_an_empty_cassette_is_told(project: Recorded) -> None:
    """A cassette without a line is said to hold nothing; one that is not there, not to exist."""
    project.cassette(RECENCY[0]).write_bytes(b"")
    assert f"{RECENCY[0]}.jsonl holds no answers" in project.run_at(NOWHERE).said
    project.cassette(RECENCY[0]).unlink()
    assert f"{RECENCY[0]}.jsonl does not exist" in project.run_at(NOWHERE).said


def test_a_folder_of_locks_that_cannot_be_made_is_told(project: Recorded, snapshot: SnapshotAssertion) -> None:
    """Where something stands in the place of the folder of what a run notes for itself, it stops with one sentence."""
    folder = project.temporary / f"judgefixtures-{os.getuid()}"
    folder.write_bytes(b"")
    end = project.run_at(NOWHERE, "--judge-record", "all")
    assert end.ret == NOT_MEASURED
    assert lines_about(end.said, "folder of") == snapshot


def test_recordings_of_removed_pairs_are_reported(project: Recorded, snapshot: SnapshotAssertion) -> None:
    """Recordings that no pair asks for any more are named, and stay, in `all` as well: another run may ask for them."""
    removed = project.pairs.pop(3)["id"]
    project.write_pairs(project.pairs)
    before = project.recordings()
    end = project.replays()
    for condition in RECENCY:
        line = next(line for line in end.said.splitlines() if str(project.cassette(condition)) in line)
        assert lines_about(line, "recordings of") == snapshot
        assert removed in line
        assert lines_about(line, "were not") == snapshot
    assert project.record("missing") == Counter()
    sample = "ours/own/sample.json"  # what is said of the sample is said of the pairs that there are now
    assert project.recordings() | {sample: b""} == before | {sample: b""}
    assert project.record("all") == project.everything
    assert project.recordings() | {sample: b""} == before | {sample: b""}


def test_a_run_of_some_pairs_reports_no_others_as_unused(project: Recorded) -> None:
    """--judge-pairs leaves recordings of other pairs unused on purpose."""
    end = project.run_at(NOWHERE, "--judge-pairs", "4")
    assert "were not used" not in end.said
    assert "ERROR" not in end.said


def test_all_asks_everything_once_from_two_workers(project: Recorded) -> None:
    """Two workers that gate the same contrast renew it once: the second replays what is new."""
    (project.path / "test_1.py").write_text((project.path / "test_0.py").read_text())
    assert project.record("all", "-n", "2", hold=jitter(5, 0.05), edition="new") == project.everything
    complete(project)
    for condition in RECENCY:
        assert all(b"new" in line for line in whole_lines(project.cassette(condition))[1:])
