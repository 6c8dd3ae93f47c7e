"""`--judge-record all` that was interrupted goes on where it stopped, whatever ended it; one that ended starts afresh."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.server import Answer, Asked, serving, wire
from test_recording import CONCURRENCY, TEMPLATE, Counting, Gate, Key, Recorded, counting, jitter

from judgefixtures.run.run import Run

pytestmark = pytest.mark.whole

NOTE = re.compile(r"(\d+) of (\d+) items were recorded by an interrupted run")
FAMILIES = (("recency",), ("provenance",))  # of 2 and 6 conditions, in as many items


@pytest.fixture
def project(tmp_path: Path) -> Recorded:
    """A project that was recorded once."""
    made = Recorded(tmp_path / "project", pairs=4, families=FAMILIES)
    made.record(edition="old")
    return made


def editions(project: Recorded) -> Counter[str]:
    """Return how many recorded answers are of which edition of the server."""
    lines = [line for path in project.cassettes.rglob("*-*.jsonl") for line in path.read_text().splitlines()[1:]]
    texts = [json.loads(line)["json"]["choices"][0]["message"]["content"] for line in lines]
    return Counter(re.sub(r"^[0-9a-f]{8}", "", json.loads(text)["reason"]) for text in texts)


def break_off(
    project: Recorded, answers: int, end: Callable[..., object], *arguments: str, edition: str = "new"
) -> tuple[Counter[Key], int]:
    """Record all anew, end the run when so many answers were given; return what was asked and how many were lost."""
    gate = Gate(answers)
    with counting(gate, edition) as server:
        run = project.start(server.url, "--judge-record", "all", *arguments)
        server.wait_for(min(answers + 1, sum(project.everything.values())), run.has_ended)
        time.sleep(0.3)
        end(run)
        gate.open()
        run.wait()
        time.sleep(0.1)
    return server.counted, len(server.asked)


def killed(run: object) -> None:
    """Kill a run."""
    assert run.kill()  # type: ignore[attr-defined]


def interrupted(run: object) -> None:
    """End a run as Ctrl-C does."""
    os.kill(run.pid, signal.SIGINT)  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", [killed, interrupted])
@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "workers"])
def test_an_interrupted_renewal_goes_on(
    project: Recorded, arguments: Sequence[str], end: Callable[..., object]
) -> None:
    """The next `all` asks what is missing alone, and says how many items it did not ask; the one after asks all."""
    before, _ = break_off(project, 22, end, *arguments)
    with counting(edition="new") as server:
        ended = project.run_at(server.url, "--judge-record", "all", *arguments)
    assert ended.ret in (0, 1), ended.said
    lost = before + server.counted - project.everything
    assert not project.everything - (before + server.counted)
    assert sum(lost.values()) <= (CONCURRENCY if end is killed else 0)
    assert editions(project) == {"new": sum(project.everything.values())}
    ((some, of),) = set(NOTE.findall(ended.said))
    assert 2 <= int(some) < int(of) == 7
    with counting(edition="newer") as server:
        ended = project.run_at(server.url, "--judge-record", "all", *arguments)
    assert server.counted == project.everything
    assert not NOTE.search(ended.said)
    assert not [path.name for path in project.cassettes.rglob(".*")]


def test_an_interrupted_renewal_is_interrupted_again(project: Recorded) -> None:
    """However often it is killed, no answer that had arrived is asked for again."""
    asked = Counter[Key]()
    for answers in (10, 8, 7):
        asked += break_off(project, answers, interrupted)[0]
    asked += project.record("all", edition="new")
    assert asked == project.everything


def test_an_error_in_the_middle_interrupts_as_well(project: Recorded) -> None:
    """A judge that refuses its key ends the run; the next one goes on where it stopped."""
    refused = wire({"error": {"message": "no such key", "code": "invalid_api_key"}}, 401)

    class Refusing(Counting):
        def answer(self, asked: Asked) -> Answer:
            return super().answer(asked) if len(self.asked) <= 20 else refused

    server = Refusing(lambda _: None, "new")
    from support.server import running

    with running(server):
        ended = project.run_at(server.url, "--judge-record", "all")
    assert ended.ret != 0
    answered = editions(project)["new"]
    asked = project.record("all", edition="new")
    assert sum(asked.values()) <= sum(project.everything.values()) - 15
    assert answered >= 15
    assert editions(project) == {"new": sum(project.everything.values())}
    assert project.record("all", edition="newer") == project.everything


def test_another_selection_in_between_loses_nothing(project: Recorded) -> None:
    """`-k` in between goes on with its part alone, and what it did not select is not asked again afterwards."""
    first, _ = break_off(project, 22, interrupted)
    provenance = {key for key in project.everything if key[0].startswith("provenance")}
    second = project.record("all", "-k", "provenance", edition="new")
    assert second.keys() <= provenance
    assert first + second <= project.everything
    third = project.record("all", edition="newest")
    assert third.keys() == provenance | (project.everything.keys() - first.keys() - provenance)


def test_another_judge_starts_afresh(project: Recorded) -> None:
    """A judge whose table was changed is asked everything."""
    break_off(project, 22, interrupted)
    project.write("prompt.txt", TEMPLATE.replace("Answer with", "Please answer with"))
    assert project.record("all", edition="new") == project.everything


def test_older_recordings_in_place_of_the_new_ones_do_not_count(project: Recorded) -> None:
    """A checkout of the old recordings between both runs is noticed: what it replaced is asked again."""
    old = project.recordings()
    break_off(project, 22, interrupted)
    for name, content in old.items():
        (project.cassettes / name).write_bytes(content)
    for part in project.cassettes.rglob("*.part.jsonl"):
        part.unlink()
    assert project.record("all", edition="new", hold=jitter(1)) == project.everything


def test_a_run_from_python_goes_on_as_well(tmp_path: Path) -> None:
    """`with Run` that an error leaves is interrupted; one that ends is not."""
    answer = wire({"selected_response": 1, "reason": "better"})
    with serving(by=lambda asked: asked.answered('{"selected_response": 1, "reason": "better"}')) as server:
        (tmp_path / "pyproject.toml").write_text(
            '[tool.judgefixtures]\ncontrol = false\n[tool.judgefixtures.judges.ours]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{server.url}/v1"\n'
        )
        assert answer

        def one(*names: str, fails: bool = False) -> int:
            before = len(server.asked)
            with Run.from_config(tmp_path / "pyproject.toml", record="all", pairs=3, force=True) as run:
                for name in names:
                    run.gate(name, judge="ours", dataset="house-qa")
                if fails:
                    raise KeyboardInterrupt
            return len(server.asked) - before

        both = ("recency-new-old", "provenance-expert-human")
        whole = one(*both)
        assert whole == one(*both) > 0
        with pytest.raises(KeyboardInterrupt):
            one(both[0], fails=True)
        rest = one(*both)
        assert 0 < rest < whole
        assert one(*both) == whole


def test_an_interrupted_renewal_is_forgotten_after_a_week(tmp_path: Path) -> None:
    """A week later an `all` does not take the answers of the interrupted run for its own."""

    def asked(*, fails: bool = False) -> int:
        before = len(server.asked)
        with Run.from_config(tmp_path / "pyproject.toml", record="all", pairs=3, force=True) as run:
            run.gate("recency-new-old", judge="ours", dataset="house-qa")
            if fails:
                raise KeyboardInterrupt
        return len(server.asked) - before

    with serving(by=lambda asked: asked.answered('{"selected_response": 1, "reason": "better"}')) as server:
        (tmp_path / "pyproject.toml").write_text(
            '[tool.judgefixtures]\ncontrol = false\n[tool.judgefixtures.judges.ours]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{server.url}/v1"\n'
        )
        whole = asked()
        for days, again in ((6, 0), (8, whole)):
            with pytest.raises(KeyboardInterrupt):
                asked(fails=True)
            for note in (tmp_path / "cassettes").rglob(".*.done.draft"):
                os.utime(note, (time.time() - days * 86400,) * 2)
            assert asked() == again
