"""The canary: evidence that errs no more often than it says, and runs against a server whose judge changes."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.asking import some_pairs
from support.benchmarks import benchmark
from support.project import json_lines, read_rows, rows_of
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, chat, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.canary.change_evidence import (
    AnswerStream,
    ChangeEvidence,
    _weights,
    e_value_of_prompt,
    likeliest_change,
    log_e_value,
    total_log_e_value,
    weigh_evidence,
)
from judgefixtures.canary.log import CanaryEntry, CanaryLog, CanaryLogError
from judgefixtures.canary.reference import load_reference
from judgefixtures.cli.main import main
from judgefixtures.client import retirements
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition
from judgefixtures.run.run import Run
from judgefixtures.util.errors import JudgeFixturesError

pytestmark = pytest.mark.usefixtures("quick_and_alone")

QUIET, DRIFT, OTHER_MODEL, NOT_MEASURED, MISTAKE = 0, 20, 21, 10, 2

# --- evidence ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answers", range(2, 13))
def test_a_prompts_e_value_has_mean_one(answers: int) -> None:
    """Given how many answers are unusual, the mean of L over all places where they can stand is 1, at every cut."""
    for unusual, before in itertools.product(range(1, answers // 2 + 1), range(1, answers)):
        mean = sum(
            e_value_of_prompt(j, before, unusual, answers)
            * math.comb(before, j)
            * math.comb(answers - before, unusual - j)
            for j in range(max(0, unusual - (answers - before)), min(before, unusual) + 1)
        ) / math.comb(answers, unusual)
        assert mean == pytest.approx(1, abs=1e-12)


def chance(stream: str, law: dict[str, float]) -> float:
    """Return how likely answers are that are drawn apart."""
    return math.prod(law[answer] for answer in stream)


def mean_evidence(
    laws: list[dict[str, float]], recorded: int, runs: tuple[int, ...], of: Callable[[list[float]], float]
) -> float:
    """Return the mean, over everything that can be answered, of what the e-values against chance come to."""
    answers = recorded + sum(runs)
    cuts = list(itertools.accumulate((recorded, *runs)))
    mean = 0.0
    for seen in itertools.product(*(map("".join, itertools.product(law, repeat=answers)) for law in laws)):
        likely = math.prod(chance(stream, law) for stream, law in zip(seen, laws, strict=True))
        values = [
            weigh_evidence(
                [
                    AnswerStream(stream[:recorded], tuple(stream[a:b] for a, b in itertools.pairwise(cuts[: run + 1])))
                    for stream in seen
                ]
            ).chance
            for run in range(1, len(runs) + 1)
        ]
        mean += likely * of(values)
    return mean


LAWS = {
    "coins": [{"1": 0.5, "2": 0.5}] * 2,
    "one sure, one not": [{"1": 0.99, "2": 0.01}, {"1": 0.3, "2": 0.7}],
    "three answers": [{"1": 0.5, "2": 0.3, "x": 0.2}],
    "one that never varies": [{"1": 1.0}, {"1": 0.2, "2": 0.8}],
}


@pytest.mark.parametrize("laws", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("recorded", "runs"), [(1, (1, 1, 1)), (2, (1, 1)), (1, (2, 0, 1))])
def test_without_a_change_the_evidence_has_the_mean_of_its_weights(
    laws: list[dict[str, float]], recorded: int, runs: tuple[int, ...]
) -> None:
    """Whatever the laws are, every e(d) has mean 1, so that A(d) has that of its weights: 1 - 1 / sqrt(d + 1)."""
    for run in range(len(runs)):
        assert mean_evidence(laws, recorded, runs, lambda values, run=run: math.exp(values[run])) == pytest.approx(1)
    weights = 1 - (len(runs) + 1) ** -0.5
    assert mean_evidence(laws, recorded, runs, lambda values: math.exp(total_log_e_value(values))) == pytest.approx(
        weights
    )


def test_explanations_only_take_evidence_away() -> None:
    """What is counted is never more than the evidence against chance where that makes any, so that its mean stays."""
    assert (ChangeEvidence(9.0).log_e, ChangeEvidence(9.0, "days").log_e, ChangeEvidence(9.0, "prompts").log_e) == (
        9.0,
        0.0,
        0.0,
    )
    assert ChangeEvidence(-2.0).log_e == -2.0


@pytest.mark.parametrize("turns", ["12" * 20, "2211" * 10, "122112122122111212221121", "11222221", "1222222211"])
@pytest.mark.parametrize("moved", [3, 6, 11])
def test_backends_that_take_turns_are_no_alarm(moved: int, turns: str) -> None:
    """Two backends of which one answers each day, after recordings of either: whatever they differ on, no alarm."""
    for recorded in "12":
        values = []
        for run in range(1, len(turns) + 1):
            rest, turning = AnswerStream("1", tuple("1" * run)), AnswerStream(recorded, tuple(turns[:run]))
            values.append(log_e_value([*[rest] * (60 - moved), *[turning] * moved]))
        assert total_log_e_value(values) < math.log(100)


def test_one_recorded_day_may_have_been_unlike_others() -> None:
    """Seven runs that agree with each other, and not with the one day of the recordings, may be the usual days."""
    found = weigh_evidence([*[AnswerStream("1", tuple("1" * 7))] * 49, *[AnswerStream("1", tuple("2" * 7))] * 11])
    assert found.chance > math.log(1000)
    assert (found.explanation, found.log_e) == ("days", 0.0)


def test_prompts_that_change_one_by_one_are_no_change() -> None:
    """Twelve prompts that turn for good, each in a run of its own, are no change of the judge at one time."""
    streams = [AnswerStream("1", tuple("1" * turn + "2" * (30 - turn))) for turn in range(2, 26, 2)]
    found = weigh_evidence([*[AnswerStream("1", tuple("1" * 30))] * 48, *streams])
    assert found.chance > math.log(1000)
    assert (found.explanation, found.log_e) == ("prompts", 0.0)


def test_a_second_recorded_day_makes_a_change_sooner_found() -> None:
    """Six verdicts of 60 that turn before the first run: ten runs where one day is recorded, six where three are."""
    for days, needed in (((), 10), (("1", "1", "1"), 6)):
        values = []
        for runs in range(1, needed + 1):
            known = {"recorded": "1" * (len(days) or 1), "days": days}
            values.append(
                log_e_value(
                    [
                        *[AnswerStream(runs=tuple("1" * runs), **known)] * 54,
                        *[AnswerStream(runs=tuple("2" * runs), **known)] * 6,
                    ]
                )
            )
        assert total_log_e_value(values) >= math.log(100)
        assert total_log_e_value(values[:3]) < math.log(100)


def test_no_day_is_taken_for_a_change_by_itself() -> None:
    """One run of which eleven answers of 60 are others is not an alarm after any number of quiet runs up to 30."""
    for quiet in range(1, 30):
        said = "1" * quiet + "2"
        values = [
            log_e_value([*[AnswerStream("1", tuple("1" * run))] * 49, *[AnswerStream("1", tuple(said[:run]))] * 11])
            for run in range(1, len(said) + 1)
        ]
        assert total_log_e_value(values) < math.log(100)


def test_e_values_alone_are_not_safe_at_any_time() -> None:
    """Looking for the largest e(d) so far has a mean above 1: that is what the weights are for."""
    assert mean_evidence(LAWS["coins"], 1, (1, 1, 1), lambda values: math.exp(max(values))) > 1.1


def test_the_evidence_never_falls() -> None:
    """A(d) of more runs is never less than that of fewer."""
    rng = random.Random(1)
    values = [rng.gauss(0, 3) for _ in range(50)]
    sums = [total_log_e_value(values[:run]) for run in range(1, 51)]
    assert all(a < b for a, b in itertools.pairwise(sums))


def test_the_names_of_answers_do_not_matter() -> None:
    """Evidence is the same where every answer 1 is a 2 and the other way round, and whichever prompt comes first."""
    rng = random.Random(2)
    streams = [AnswerStream(rng.choice("12"), tuple(rng.choice("12") for _ in range(6))) for _ in range(8)]
    other = str.maketrans("12", "21")
    named = [
        AnswerStream(each.recorded.translate(other), tuple(run.translate(other) for run in each.runs))
        for each in streams
    ]
    assert log_e_value(named) == pytest.approx(log_e_value(streams))
    assert log_e_value(streams[::-1]) == pytest.approx(log_e_value(streams))


def test_a_change_is_dated_and_its_prompts_are_named() -> None:
    """Six prompts that turn after the fourth run are those that moved, and then is when."""
    quiet = [AnswerStream("1", tuple("1" * 7))] * 30
    noisy = [AnswerStream("1", tuple("1121111"))] * 3
    found = likeliest_change([*quiet, *[AnswerStream("2", tuple("2222111"))] * 6, *noisy])
    assert found.since == 4
    assert [place for place, likely in enumerate(found.moved) if likely > 0.5] == [*range(30, 36)]


def test_the_weights_of_changes_sum_to_one() -> None:
    """After any number of runs each cut stands once, the first one among them, and their weights sum to 1."""
    for runs in (*range(1, 40), 365, 3650):
        cuts = dict(_weights(runs))
        assert (len(cuts), min(cuts)) == (len(_weights(runs)), 0)
        assert max(cuts) < runs
        assert math.fsum(cuts.values()) == pytest.approx(1)


def test_no_run_is_refused() -> None:
    """Without a run there is nothing to compare."""
    with pytest.raises(ValueError, match="no run"):
        log_e_value([AnswerStream("1", ())])


@pytest.mark.slow
def test_the_canary_is_quiet_and_finds_a_new_model() -> None:
    """Of 100 histories of 60 runs without a change at most 1% cry; a new model is found within 10 runs in 90%."""
    canary = benchmark("canary")
    assert canary.false_alarms(canary.APART["2% noise"], 100, 60) <= 1
    assert canary.false_alarms(canary.APART["any law, a coin's among them"], 5, 30) <= 1
    for after, recorded in ((0, canary.TWO_DAYS), (30, canary.ONE)):
        for turned in canary.CHANGES[:2]:
            assert canary.within(canary.delays(0.02, turned, after, 10, recorded)) >= 0.9


@pytest.mark.parametrize(
    "world",
    [
        "two backends, 10% differ, by lot",
        "all prompts lean by 1 logit, 10% noise",
        "answers stick for ten days, 10% noise",
        "prompts turn for good, one a week",
    ],
)
def test_answers_that_hang_together_are_no_change(world: str) -> None:
    """Where days or prompts have habits of their own, at most one of eight histories of 25 runs cries."""
    canary = benchmark("canary")
    assert canary.false_alarms(canary.TOGETHER[world], 8, 25) <= 1


# --- runs -------------------------------------------------------------------------------------------------

PAIRS = 30
CONFIG = """\
judge = "mine"
dataset = ["own"]
control = false
[judges.mine]
{judge}
[datasets.own]
path = "pairs.jsonl"
balance_positions = false
[canary]
close_pairs = 0
clear_dataset = "own"
{canary}
"""
JUDGE = """provider = "openai"
model = "m"
base_url = "{url}/v1"
max_attempts = 2
price = {{input = 1.0, output = 1.0}}
"""


@dataclass
class Model:
    """A model behind the server: its choice by the number of a pair, and what it says of itself."""

    turned: frozenset[int] = frozenset()
    name: str = "m"
    fingerprint: str | None = None
    broken: Answer | None = None
    mute: bool = False
    said: list[int] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Answer:
        """Answer as the model: odd pairs have the better response 1, those that are turned have it not."""
        if self.broken is not None:
            return self.broken
        self.said.append(asked.number)
        own = 1 if (asked.number % 2 == 1) != (asked.number in self.turned) else 2
        choice = own if asked.prompt.find("One") < asked.prompt.find("Other") else 3 - own
        text = "I cannot tell." if self.mute else json.dumps({"selected_response": choice, "reason": "It is better."})
        more = {} if self.fingerprint is None else {"system_fingerprint": self.fingerprint}
        return wire(
            chat(text, model=self.name, named=None, usage={"prompt_tokens": 100, "completion_tokens": 20}) | more
        )


@dataclass
class Project:
    """A repository with a judge, its recordings, and its canary."""

    folder: Path
    server: Server
    model: Model
    capsys: pytest.CaptureFixture[str]

    def configure(self, judge: str = "", canary: str = f"clear_pairs = {PAIRS}") -> None:
        """Write the configuration; `judge` are further keys of its table."""
        table = JUDGE.format(url=self.server.url) + judge
        (self.folder / "judge.toml").write_text(CONFIG.format(judge=table, canary=canary))

    def record(self, repeats: int = 1, condition: Condition = NO_CUE, **options: Any) -> None:
        """Record the judge about all pairs."""
        with Run.from_config(self.folder / "judge.toml", **{"record": "missing", **options}) as run:
            arms = [(condition, repeat) for repeat in range(repeats)]
            run.answers(run.judge("mine"), "own", run.pairs("mine", "own"), arms)

    def canary(self, *options: str) -> tuple[int, str]:
        """Run the canary; return its exit code and all that it said."""
        code = main(["canary", "--config", str(self.folder / "judge.toml"), *options])
        said = self.capsys.readouterr()
        return code, said.out + said.err

    @property
    def log(self) -> Path:
        """The log's file."""
        return self.folder / "cassettes" / "mine" / "canary.jsonl"

    @property
    def runs(self) -> list[Any]:
        """The lines of the log."""
        return read_rows(self.log)

    def recordings(self) -> dict[str, bytes]:
        """Everything beside the log, byte for byte."""
        folder = self.folder / "cassettes"
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path != self.log}


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Project]:
    """A repository of thirty pairs and a judge that a server of ours answers for."""
    model = Model()
    with serving(by=lambda asked: model(asked)) as server:
        found = Project(tmp_path, server, model, capsys)
        (tmp_path / "pairs.jsonl").write_text(json_lines(rows_of(some_pairs(PAIRS))))
        found.configure()
        yield found


def test_a_quiet_run_adds_a_line_and_touches_no_recording(project: Project, snapshot: SnapshotAssertion) -> None:
    """Exit code 0, a line with every answer, its cost and its model, and not a byte of the recordings changed."""
    project.record()
    before = project.recordings()
    code, said = project.canary()
    assert (code, project.recordings()) == (QUIET, before)
    (line,) = project.runs
    assert (line["result"], line["series"], line["calls"]) == ("quiet", 1, PAIRS)
    assert line["usd"] == pytest.approx(PAIRS * 120 / 1e6)
    assert line["served"] == {"m": PAIRS}
    assert line["answers"]["own"] == {f"p{n:03}": "1" if n % 2 else "2" for n in range(PAIRS)}
    assert lines_about(said, "canary of mine") == snapshot
    for words in ("model 'm'", "run 1", f"{PAIRS} answers", "$0.0036"):
        assert words in said


@pytest.mark.slow
def test_an_alarm_names_what_moved_and_what_to_do(project: Project, snapshot: SnapshotAssertion) -> None:
    """When eight verdicts turn, runs alarm soon, name those eight, since when, and the command of the whole gate."""
    project.record(repeats=2)
    assert [project.canary()[0] for _ in range(2)] == [QUIET] * 2
    project.model.turned = frozenset(range(8))
    codes = [project.canary() for _ in range(10)]
    said = next(said for code, said in codes if code == DRIFT)
    assert lines_about(said, "its verdicts", "prompts moved") == snapshot
    assert "own/p003: response 1 in 4 of 4 before, response 2 in" in said
    assert all(f"own/p{n:03}" in said for n in range(8))
    assert "own/p008" not in said
    assert f"pytest --judge-config {project.folder / 'judge.toml'} --judge mine --judge-record all" in said
    assert codes[-1][0] == DRIFT
    assert project.runs[-1]["result"] == "drift"


@pytest.mark.slow
def test_the_alarm_stays_until_a_new_series(project: Project) -> None:
    """An alarm is repeated until what is compared with is new: recorded again, or begun anew by hand."""
    project.record(repeats=3)
    project.model.turned = frozenset(range(15))
    assert [project.canary()[0] for _ in range(3)][-1] == DRIFT
    project.model.turned = frozenset()
    assert project.canary()[0] == DRIFT
    assert project.canary("--restart")[0] == QUIET
    project.model.turned = frozenset(range(15))
    project.record(repeats=3, record="all")
    assert project.canary()[0] == QUIET
    assert [line["series"] for line in project.runs] == [1, 1, 1, 1, 2, 3]


def test_another_model_is_told_at_once(project: Project, snapshot: SnapshotAssertion) -> None:
    """A name that the judge does not accept stops the run after one call, with a code of its own and both names."""
    project.record()
    project.model.name = "gpt-other"
    asked = len(project.server.asked)
    code, said = project.canary()
    assert code == OTHER_MODEL
    assert len(project.server.asked) == asked + 1
    assert lines_about(said, "ALARM: another", "'gpt-other'", "--judge-record") == snapshot
    assert [(line["result"], line["log_e"]) for line in project.runs] == [("model", None)]


def test_another_snapshot_is_told_with_its_verdicts(project: Project) -> None:
    """A dated name that the judge does accept is compared as well, and alarms because it is not the recorded one."""
    project.model.name = "m-2026-01-01"
    project.record()
    assert project.canary()[0] == QUIET
    project.model.name = "m-2026-05-05"
    code, said = project.canary()
    assert code == OTHER_MODEL
    assert "'m-2026-05-05' answers now; 'm-2026-01-01' answered" in said
    assert project.runs[-1]["log_e"] is not None


@pytest.mark.slow
def test_a_fingerprint_is_news_and_no_alarm(project: Project, snapshot: SnapshotAssertion) -> None:
    """A new fingerprint is told once, and its verdicts are compared."""
    project.model.fingerprint = "fp_1"
    project.record()
    assert "is new" not in project.canary()[1]
    project.model.fingerprint = "fp_2"
    code, said = project.canary()
    assert code == QUIET
    assert lines_about(said, "'fp_2'") == snapshot
    assert "is new" not in project.canary()[1]


def test_a_known_end_of_the_model_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model whose retirement is known the day is told."""
    monkeypatch.setattr(retirements, "NOTICE", retirements.datetime.timedelta(days=10**5))
    project.model.name = "gpt-4o"
    file = project.folder / "judge.toml"
    file.write_text(file.read_text().replace('model = "m"', 'model = "gpt-4o"'))
    project.record()
    assert "gpt-4o is shut down" in project.canary()[1]


@pytest.mark.parametrize(
    "broken",
    [wire(problem("no such key"), 401), wire(problem("broken"), 500), Answer(transport="closed")],
    ids=["refused", "broken", "gone"],
)
def test_what_is_not_answered_is_not_measured(project: Project, broken: Answer) -> None:
    """Exit code 10, a line that says why, and no run of the test: the next one is its first."""
    project.record()
    project.model.broken = broken
    code, said = project.canary()
    assert code == NOT_MEASURED
    assert "NOT MEASURED" in said
    (line,) = project.runs
    assert (line["result"], line["answers"], line["log_e"]) == ("not-measured", {}, None)
    assert line["why"]
    project.model.broken = None
    code, said = project.canary()
    assert (code, "run 1 since" in said) == (QUIET, True)


def test_a_limit_of_cost_ends_a_run(project: Project) -> None:
    """With --max-cost below what the run needs it stops before it, and has measured nothing."""
    project.record()
    asked = len(project.server.asked)
    code, said = project.canary("--max-cost", "0.004")
    assert code == NOT_MEASURED
    assert "--max-cost 0.004" in said
    assert 0 < len(project.server.asked) - asked < PAIRS


def test_a_dry_run_asks_nothing(project: Project) -> None:
    """--dry-run says what would be asked and what it costs at most, and writes nothing."""
    project.record()
    asked = len(project.server.asked)
    code, said = project.canary("--dry-run")
    assert (code, len(project.server.asked), project.log.exists()) == (0, asked, False)
    assert f"would send {PAIRS} prompts ({PAIRS} of own, no-cue): {PAIRS} with 1 recorded answer" in said
    assert f"at most {PAIRS} calls" in said


def test_several_answers_a_run(project: Project) -> None:
    """answers = 3 asks each prompt three times, and finds what turned in one run."""
    project.configure(canary=f"clear_pairs = {PAIRS}\nanswers = 3")
    project.record()
    project.model.turned = frozenset(range(PAIRS))
    code, said = project.canary()
    assert (code, f"{3 * PAIRS} answers" in said) == (DRIFT, True)
    assert project.runs[0]["answers"]["own"]["p001"] == "222"


def test_no_verdict_is_an_answer(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge that stops to give verdicts has changed, and does not end the run."""
    project.record(repeats=2)
    project.model.mute = True
    codes = [project.canary() for _ in range(2)]
    assert codes[-1][0] == DRIFT
    assert lines_about(codes[-1][1], "without a verdict") == snapshot
    assert "no verdict in 2 of 2 after" in codes[-1][1]


def test_what_was_asked_again_counts_as_it_was_first(project: Project) -> None:
    """An invalid answer that --judge-record invalid replaced is compared as the invalid one: the later was chosen."""
    project.model.mute = True
    project.record()
    project.model.mute = False
    project.record(record="invalid")
    project.canary()
    with Run.from_config(project.folder / "judge.toml") as run:
        assert {each.recorded for each in load_reference(run, run.judge("mine")).prompts} == {"x"}


def test_prompts_in_another_condition_serve_as_well(project: Project) -> None:
    """Where nothing is recorded without cues, the prompts are those of a condition that is."""
    project.record(condition=NO_CUE_SWAPPED)
    assert "own, no-cue-21" in project.canary("--dry-run")[1]
    code, _ = project.canary()
    assert code == QUIET
    assert project.runs[0]["answers"]["own"]["p001"] == "1"


def test_as_many_prompts_as_are_wanted(project: Project) -> None:
    """No more pairs than [canary] says are asked, and fewer are told."""
    project.record()
    project.configure(canary="clear_pairs = 7")
    project.canary()
    assert len(project.runs[0]["answers"]["own"]) == 7
    project.configure(canary="clear_pairs = 31")
    assert "own: 30 of 31 prompts are recorded" in project.canary()[1]


def test_one_pair_of_a_question_is_asked(project: Project) -> None:
    """Pairs with one question may share a request, and one answer is not evidence twice: the first of them counts."""
    rows = rows_of(some_pairs(PAIRS))
    (project.folder / "pairs.jsonl").write_text(json_lines([*rows, *({**row, "id": f"{row['id']}-2"} for row in rows)]))
    project.record()
    project.configure(canary=f"clear_pairs = {2 * PAIRS}")
    project.canary()
    assert len(project.runs[0]["answers"]["own"]) == PAIRS


def test_a_judge_that_plans_and_one_that_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Plans and scores are asked for as in a recording, and compared as the verdicts that they amount to."""
    (tmp_path / "pairs.jsonl").write_text(json_lines(rows_of(some_pairs(6))))

    def answered(asked: Asked) -> Answer:
        text = json.dumps({"selected_response": 1, "reason": "It is better.", "score": 5 + asked.number % 3})
        return asked.answered(text if "selected_response" in asked.prompt or "score" in asked.prompt else "1. Read.")

    with serving(by=answered) as server:
        table = JUDGE.format(url=server.url)
        for more in ('strategy = "plan-self"\n', 'mode = "pointwise"\n'):
            file = tmp_path / "judge.toml"
            file.write_text(CONFIG.format(judge=table + more, canary="clear_pairs = 6"))
            with Run.from_config(file, record="all", cassettes=tmp_path / more[:4]) as run:
                run.answers(run.judge("mine"), "own", run.pairs("mine", "own"), [(NO_CUE, 0), (NO_CUE, 1)])
            code = main(["canary", "--config", str(file), "--cassettes", str(tmp_path / more[:4])])
            said = capsys.readouterr().out
            assert (code, "6 answers" in said) == (QUIET, True), said


# --- mistakes ---------------------------------------------------------------------------------------------


def test_nothing_recorded_is_a_mistake(project: Project, snapshot: SnapshotAssertion) -> None:
    """Without recordings there is nothing to compare with: the command that records is named."""
    code, said = project.canary()
    assert code == MISTAKE
    assert lines_about(said, "'mine'") == snapshot
    assert "--judge mine --judge-dataset own --judge-record missing" in said
    assert not project.log.exists()


def test_one_recorded_answer_is_told_with_the_remedy(project: Project, snapshot: SnapshotAssertion) -> None:
    """The first run says that one recorded answer hides a change, and gives the command that records another."""
    project.record()
    said = project.canary()[1]
    assert lines_about(said, "prompts with") == snapshot
    assert "--judge mine --judge-dataset own -k repeat --judge-repeats 2 --judge-record missing" in said
    assert "one recorded answer" not in project.canary()[1]
    project.record(repeats=2)
    said = project.canary("--dry-run")[1]
    assert "one recorded answer" not in said
    assert lines_about(said, "an exception") == snapshot
    assert "on another day: " in said
    assert "-k repeat --judge-repeats 3 --judge-record missing" in said


def test_answers_of_two_days_are_told_apart(project: Project) -> None:
    """A second answer that was recorded on another day stands on a day of its own, and nothing more is asked for."""
    project.record()
    with Run.from_config(project.folder / "judge.toml") as run:
        assert {each.days for each in load_reference(run, run.judge("mine")).prompts} == {("1",), ("2",)}
    file = next(path for path in (project.folder / "cassettes").rglob("*.jsonl") if "no-cue" in path.name)
    header, rest = file.read_bytes().split(b"\n", 1)
    file.write_bytes(json.dumps(json.loads(header) | {"recorded": "2020-02-02"}).encode() + b"\n" + rest)
    project.record(repeats=2)
    with Run.from_config(project.folder / "judge.toml") as run:
        found = load_reference(run, run.judge("mine"))
    assert (found.days, {each.days for each in found.prompts}) == (2, {("1", "1"), ("2", "2")})
    assert "on another day" not in project.canary()[1]


@pytest.mark.slow
def test_a_day_that_differs_is_told_and_is_no_alarm(project: Project, snapshot: SnapshotAssertion) -> None:
    """Where days of two kinds explain what differs, the run says so in words, and is quiet."""
    project.record(repeats=3)
    project.model.turned = frozenset(range(8))
    code, said = [project.canary() for _ in range(4)][-1]
    assert code == QUIET
    assert lines_about(said, "answers differ") == snapshot


@pytest.mark.slow
def test_an_alarm_says_what_would_make_it_false(project: Project, snapshot: SnapshotAssertion) -> None:
    """An alarm after one recorded day names alternating backends and stuck answers, and the command against both."""
    project.record(repeats=3)
    project.model.turned = frozenset(range(8))
    said = next(said for code, said in (project.canary() for _ in range(12)) if code == DRIFT)
    assert lines_about(said, "seldom answers") == snapshot
    assert "-k repeat --judge-repeats 4 --judge-record missing" in said


@pytest.mark.slow
def test_runs_that_no_longer_count_are_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """When what is compared with changes, the run says that earlier runs, and an alarm, count no more."""
    project.record(repeats=3)
    project.model.turned = frozenset(range(15))
    assert [project.canary()[0] for _ in range(3)][-1] == DRIFT
    project.configure(canary=f"clear_pairs = {PAIRS - 1}")
    for options in (("--dry-run",), ()):
        said = project.canary(*options)[1]
        assert lines_about(said, "recordings, the", "with evidence", "do not count") == snapshot
    assert "do not count" not in project.canary()[1]


@pytest.mark.slow
def test_an_alarm_stands_where_nothing_is_measured(project: Project, snapshot: SnapshotAssertion) -> None:
    """A run without answers says that the alarm of the runs before it stands, and names no option of pytest's."""
    project.record(repeats=3)
    project.model.turned = frozenset(range(15))
    assert [project.canary()[0] for _ in range(3)][-1] == DRIFT
    project.model.broken = wire(problem("Check your plan.", code="insufficient_quota"), 429)
    code, said = project.canary()
    assert code == NOT_MEASURED
    assert lines_about(said, "earlier run", "command again") == snapshot
    assert "--judge-record missing" not in said


FUNCTION = """\
import urllib.request
def judge(prompt):
    asked = urllib.request.Request({url!r}, json.dumps({{"prompt": prompt}}).encode())
    return urllib.request.urlopen(asked).read().decode()
"""


def test_recordings_that_do_not_replay_are_not_called_missing(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Where a judge's own code fails, the canary says what it raised, and not that nothing is recorded."""
    monkeypatch.chdir(project.folder)
    monkeypatch.syspath_prepend(project.folder)
    module = project.folder / "a_function_of_mine.py"
    module.write_text("import json\n" + FUNCTION.format(url=f"{project.server.url}/mine"))
    project.configure()
    file = project.folder / "judge.toml"
    table = 'provider = "python"\ntarget = "a_function_of_mine:judge"\nresponse_format = "none"\n'
    file.write_text(CONFIG.format(judge=table, canary=f"clear_pairs = {PAIRS}"))
    project.record()
    assert project.canary()[0] == QUIET
    module.write_text("def judge(prompt):\n    raise ZeroDivisionError('boom')\n")
    monkeypatch.delitem(sys.modules, "a_function_of_mine")
    importlib.invalidate_caches()
    code, said = project.canary()
    assert code == MISTAKE
    assert lines_about(said, "its recordings") == snapshot
    assert "boom" in said


def test_another_judge_than_the_recorded_one_is_a_mistake(project: Project) -> None:
    """A changed parameter is said, as a replay says it, and nobody is asked."""
    project.record()
    project.configure(judge="max_output_tokens = 99\n")
    asked = len(project.server.asked)
    code, said = project.canary()
    assert (code, len(project.server.asked)) == (MISTAKE, asked)
    assert "max_output_tokens: 512 -> 99" in said


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ("", ()),
        ("", ("--judge", "nobody")),
        ('[judges.log]\nprovider = "imported"\n', ("--judge", "log")),
        ('[canary]\nclear_dataset = "nothing"\n', ()),
        ("[canary]\nclose_pairs = 0\nclear_pairs = 0\n", ()),
        ("[canary]\nprompts = 5\n", ()),
        ("[canary]\nfalse_alarms = 1.0\n", ()),
    ],
)
def test_mistakes_are_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    config: str,
    options: tuple[str, ...],
    snapshot: SnapshotAssertion,
) -> None:
    """Exit code 2 and a sentence that names what is wrong."""
    file = tmp_path / "judge.toml"
    file.write_text(config)
    assert main(["canary", "--config", str(file), *options]) == MISTAKE
    assert capsys.readouterr().err == snapshot


def test_a_missing_key_is_a_mistake(project: Project) -> None:
    """A judge whose key is not there cannot be asked: the variable is named."""
    project.record()
    project.configure(judge='api_key_env = "NO_SUCH_KEY"\n')
    code, said = project.canary()
    assert (code, "NO_SUCH_KEY" in said) == (MISTAKE, True)


def test_a_limit_needs_a_price(project: Project) -> None:
    """--max-cost with a model whose price nobody knows is a mistake, not a run without a limit."""
    file = project.folder / "judge.toml"
    file.write_text(file.read_text().replace("price =", "#"))
    project.record()
    code, said = project.canary("--max-cost", "1")
    assert (code, "price" in said) == (MISTAKE, True)


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "much"])
def test_a_limit_is_an_amount(amount: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    """--max-cost takes an amount above 0."""
    with pytest.raises(SystemExit):
        main(["canary", "--max-cost", amount])
    assert lines_about(capsys.readouterr().err, "US dollars") == snapshot


# --- the log ----------------------------------------------------------------------------------------------


def entry(at: str = "2026-11-22T16:00:00Z", **more: Any) -> CanaryEntry:
    """Return a run."""
    return CanaryEntry(
        **{
            "at": at,
            "series": 1,
            "reference": "abc",
            "result": "quiet",
            "log_e": -0.5,
            "answers": {"own": {"p1": "12"}},
        }
        | more
    )


def test_a_last_line_without_its_end_is_a_run(tmp_path: Path) -> None:
    """An editor that takes the last line end away takes no run with it."""
    path = tmp_path / "canary.jsonl"
    first, second = entry(), entry("2026-11-23T16:00:00Z")
    path.write_bytes(first.line().rstrip())
    assert CanaryLog.from_file(path).entries == (first,)
    CanaryLog.from_file(path).append(second)
    assert path.read_bytes() == first.line() + second.line()


def test_series_of_two_branches_are_not_mixed() -> None:
    """Where two branches each began a series, runs are compared with their own reference, and a new one is new."""
    ours, theirs = (entry(series=2, reference=name) for name in ("ours", "theirs"))
    log = CanaryLog(
        Path("canary.jsonl"), (entry(), ours, theirs, entry("2026-11-24T16:00:00Z", series=2, reference="ours"))
    )
    assert (log.series("ours"), len(log.measured(2, "ours")), len(log.measured(2, "theirs"))) == (2, 2, 1)
    assert log.series("theirs") == log.series("a third") == 3


def test_a_log_reads_what_it_wrote(tmp_path: Path) -> None:
    """What is appended is read again, in its order; a file that is not there is empty."""
    path = tmp_path / "judge" / "canary.jsonl"
    assert CanaryLog.from_file(path).entries == ()
    several = [entry(), entry("2026-11-23T16:00:00Z", result="not-measured", log_e=None, answers={}, why="é \ud800")]
    for each in several:
        CanaryLog.from_file(path).append(each)
    assert CanaryLog.from_file(path).entries[0] == several[0]
    assert [each.is_measured for each in CanaryLog.from_file(path).entries] == [True, False]


def test_a_kill_costs_one_run_at_most(tmp_path: Path) -> None:
    """Wherever a line is torn, what stands before it is whole, and the next run begins a line of its own."""
    path = tmp_path / "canary.jsonl"
    first, second = entry(), entry("2026-11-23T16:00:00Z")
    whole = first.line() + second.line()
    for cut in range(len(first.line()), len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert CanaryLog.from_file(path).entries == (first,)
        CanaryLog.from_file(path).append(second)
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        "not json",
        '{"judgefixtures-canary":2}',
        *(
            json.dumps(json.loads(entry().line()) | wrong)
            for wrong in (
                {"at": "yesterday"},
                {"series": 0},
                {"series": "1"},
                {"result": "fine"},
                {"log_e": "1"},
                {"log_e": True},
                {"answers": {"own": {"p1": "3"}}},
                {"answers": {"own": ["1"]}},
                {"answers": [1]},
                {"more": 1},
                {"served": {"m": 1.5}},
                {"usd": float("nan")},
                {"log_e": 1e999},
                {"usd": 10**400},
            )
        ),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, snapshot: SnapshotAssertion) -> None:
    """A line that is not a run is an error with file and line, before anybody is asked."""
    path = tmp_path / "canary.jsonl"
    path.write_bytes(entry().line() + line.encode() + b"\n")
    with pytest.raises(CanaryLogError) as error:
        CanaryLog.from_file(path)
    assert str(error.value) == snapshot


def test_a_damaged_log_costs_nothing(project: Project, snapshot: SnapshotAssertion) -> None:
    """A log that cannot be read is a mistake that is told before anything is asked."""
    project.record()
    project.log.write_text("what?\n")
    asked = len(project.server.asked)
    code, said = project.canary()
    assert (code, len(project.server.asked)) == (MISTAKE, asked)
    assert lines_about(said, "is not") == snapshot


def test_two_branches_runs_are_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a merge with marks `cassettes merge` keeps every run of both, in the order of their times."""
    path = tmp_path / "canary.jsonl"
    first, ours, theirs = (entry(f"2026-11-2{day}T16:00:00Z") for day in (2, 4, 3))
    path.write_bytes(
        b"".join([first.line(), b"<<<<<<< ours\n", ours.line(), b"=======\n", theirs.line(), b">>>>>>> theirs\n"])
    )
    with pytest.raises(JudgeFixturesError, match="cassettes merge"):
        CanaryLog.from_file(path)
    assert main(["cassettes", "merge", str(tmp_path)]) == 0
    assert CanaryLog.from_file(path).entries == (first, theirs, ours)
    assert main(["cassettes", "merge", str(tmp_path)]) == 0
    assert "nothing to join" in capsys.readouterr().out


@pytest.mark.parametrize("marked", [True, False], ids=["marks", "driver"])
@pytest.mark.parametrize("torn", ["ours", "theirs", "both"])
def test_a_torn_last_line_is_not_joined(tmp_path: Path, marked: bool, torn: str) -> None:
    """A kill leaves a torn last line on a branch: the joined log has every whole run of both, and not that line."""
    path = tmp_path / "canary.jsonl"
    first, ours, theirs = (entry(f"2026-11-2{day}T16:00:00Z") for day in (2, 4, 3))
    rest = entry("2026-11-25T16:00:00Z").line()[:40]
    mine, its = (
        run.line() + (rest if torn in (name, "both") else b"") for name, run in (("ours", ours), ("theirs", theirs))
    )
    if marked:  # git ends a line that has no end before it puts its mark
        mine, its = (each if each.endswith(b"\n") else each + b"\n" for each in (mine, its))
        path.write_bytes(b"".join([first.line(), b"<<<<<<< ours\n", mine, b"=======\n", its, b">>>>>>> theirs\n"]))
        assert main(["cassettes", "merge", str(tmp_path)]) == 0
    else:
        base, other = tmp_path / "base", tmp_path / "other"
        base.write_bytes(first.line())
        path.write_bytes(first.line() + mine)
        other.write_bytes(first.line() + its)
        assert main(["cassettes", "merge", "--driver", str(base), str(path), str(other), str(path)]) == 0
    assert CanaryLog.from_file(path).entries == (first, theirs, ours)


def former(run: CanaryEntry, **more: Any) -> bytes:
    """Return a run as a line of the first format, which had no test of days."""
    return json.dumps(json.loads(run.line()) | {"judgefixtures-canary": 1} | more).encode() + b"\n"


@pytest.mark.slow
def test_a_former_log_is_read(project: Project, snapshot: SnapshotAssertion) -> None:
    """Runs that a former version wrote count with their answers; their evidence is that of today's test."""
    project.record()
    for _ in range(3):
        project.canary()
    lines = project.log.read_bytes().splitlines()
    project.log.write_bytes(b"".join(former(CanaryEntry.parse(line), log_e=50.0, result="drift") for line in lines))
    code, said = project.canary()
    assert (code, "run 4 since these recordings" in said) == (QUIET, True)
    assert lines_about(said, "older version") == snapshot
    assert [line["judgefixtures-canary"] for line in project.runs] == [1, 1, 1, 2]


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where the line cannot be written the error says that the run is not in the log."""
    (tmp_path / "canary.jsonl").mkdir()
    with pytest.raises(CanaryLogError) as error:
        CanaryLog(tmp_path / "canary.jsonl").append(entry())
    assert str(error.value) == snapshot


def test_secrets_do_not_reach_the_log(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server repeats of the key is neither in the log nor shown."""
    monkeypatch.setenv("OWN_KEY", "sk-canary-4f81c09d77aa")
    monkeypatch.delenv("CI", raising=False)  # there the key would need leave to go to this address
    project.configure(judge='api_key_env = "OWN_KEY"\n')
    project.record()
    project.model.broken = wire(problem("the key sk-canary-4f81c09d77aa is not known"), 401)
    code, said = project.canary()
    assert code == NOT_MEASURED
    assert "sk-canary-4f81c09d77aa" not in said + project.log.read_text()


def test_ctrl_c_leaves_no_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is stopped ends with 130 and a sentence, and is not in the log."""
    project.record()

    def stopped(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("judgefixtures.canary.monitor._ask", stopped)
    code, said = project.canary()
    assert (code, "in the log" in said, project.log.exists()) == (130, True, False)


def test_nobody_listens(project: Project) -> None:
    """A server that is not there is a run that measured nothing."""
    project.record()
    file = project.folder / "judge.toml"
    file.write_text(file.read_text().replace(project.server.url, NOWHERE))
    assert project.canary()[0] == NOT_MEASURED
