"""`closest = N`: which pairs are chosen for a judge, who is asked for that, that it is frozen and biases nothing."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.asking import some_pairs
from support.benchmarks import benchmark
from support.project import Project, json_lines, rows_of, suite
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, chat, problem, running, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures import JudgeFixturesError, Run
from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.merges import MergeVersions, merge_versions
from judgefixtures.checks.base import CheckId
from judgefixtures.config import build_config
from judgefixtures.models.findings import Finding
from judgefixtures.run import closest_pairs
from judgefixtures.run.closest_pairs import PairScope, closest_first, is_about_closest
from judgefixtures.run.context import RunOptions
from judgefixtures.run.preflight import preflight_lines
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import Status

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("quick_and_alone")

REPOSITORY = Path(__file__).parents[2]
POOL = 30
TEMPLATE = "{question}\n{response_1}\n{response_2}\n{cue_1}\n{cue_2}\nAnswer with selected_response and reason.\n"
CLOSE = {"a": {3, 11, 12, 25}, "b": {4, 12, 25, 28}}  # the pairs of which each model chooses whatever stands first
GARBLED = 7  # the pair that no answer about is a verdict on, without cues


class Judges(Server):
    """Answers for the models a and b, and counts what it is asked by model, kind and pair; refuses after `most`."""

    def __init__(self) -> None:
        super().__init__(self.answer, keep_alive=True)
        self.close = {model: set(numbers) for model, numbers in CLOSE.items()}
        self.most: int | None = None

    def answer(self, asked: Asked) -> Answer:
        """Choose the pair's own response 1, of close pairs what stands first; a cue moves every fourth pair."""
        if self.most is not None and len(self.asked) > self.most:
            return wire(problem("no more"), 401)
        lines, number = asked.prompt.split("\n"), asked.number
        cued = bool(lines[3])
        first = number in self.close[asked.body["model"]] or lines[1].startswith("One")
        if cued and number % 4 == 0:
            first = "2025" in lines[3]
        text = json.dumps({"selected_response": 1 if first else 2, "reason": "It is right."})
        return wire(
            chat("who knows" if number == GARBLED and not cued else text, model=asked.body["model"], named=None)
        )

    @property
    def counted(self) -> Counter[tuple[str, str]]:
        """How many questions each model got, by what they are about."""
        return Counter((asked.body["model"], kind_of(asked)) for asked in self.asked)

    def numbers(self, kind: str) -> set[int]:
        """Return which pairs were asked about."""
        return {asked.number for asked in self.asked if kind_of(asked) == kind}

    def forget(self) -> None:
        """Count from here on."""
        self.asked.clear()


def kind_of(asked: Asked) -> str:
    """Return what a question is: one without cues, or one with them."""
    return "cue" if asked.prompt.split("\n")[3] else "no-cue"


def configuration(url: str, closest: int = 5, more: str = "") -> str:
    """Return a project's configuration: two judges, and a dataset of which the closest pairs are taken."""
    judges = "".join(
        f'[judges.{name}]\nprovider = "openai"\nmodel = "{name}"\nbase_url = "{url}/v1"\ntemplate = "./own.txt"\n'
        for name in CLOSE
    )
    return f'control = false\njudge = "a"\n{more}\n{judges}[datasets.own]\npath = "pairs.jsonl"\nclosest = {closest}\n'


@pytest.fixture
def server() -> Iterator[Judges]:
    """A server that answers for both judges."""
    judges = Judges()
    with running(judges):
        yield judges


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with thirty pairs."""
    (tmp_path / "own.txt").write_text(TEMPLATE)
    (tmp_path / "pairs.jsonl").write_text(json_lines(rows_of(some_pairs(POOL))))
    return tmp_path


Gating = Callable[..., Finding]


@pytest.fixture
def gate(folder: Path, server: Judges) -> Gating:
    """Return what makes one check in a run of its own: replayed at a closed port, recorded at the server."""

    def checked(
        name: str = "recency-new-old",
        record: str = "none",
        closest: int = 5,
        baseline: str | None = None,
        more: str = "",
        judge: str = "a",
        **options: Any,
    ) -> Finding:
        file = folder / "judges.toml"
        file.write_text(configuration(NOWHERE if record == "none" else server.url, closest, more))
        with Run.from_config(file, record=record, force=True, **options) as run:
            found = run.gate(name, judge=judge, dataset="own", baseline=baseline)
            notes.extend(run.notes)
            return found

    notes: list[str] = []
    checked.notes = notes  # type: ignore[attr-defined]
    return checked


def expected(folder: Path, model: str, n: int) -> list[str]:
    """Return the ids of the n closest pairs: close ones, the others, those without a verdict; each in seeded order."""
    pool = [pair.id for pair in load_pairs(Source("own", folder / "pairs.jsonl"))]
    close = {f"p{number:03}" for number in CLOSE[model]}
    first = [name for name in pool if name in close]
    last = [f"p{GARBLED:03}"]
    return [*first, *(name for name in pool if name not in close and name not in last), *last][:n]


def frozen(folder: Path, judge: str = "a") -> list[str]:
    """Return the ids that are frozen as the closest."""
    written = json.loads((folder / "cassettes" / judge / "own" / "closest.json").read_text())
    assert (written["judgefixtures"], written["closest"], written["pool"]) == (1, len(written["pairs"]), POOL)
    return [pair["id"] for pair in written["pairs"]]


def asked_about(found: Finding) -> set[str]:
    """Return the pairs that a contrast was measured on."""
    (evidence,) = found.evidence["indifferent"]
    return set(evidence.pairs)


# --- the choice -------------------------------------------------------------------------------------------------


def test_the_order_of_closeness() -> None:
    """Pairs whose choice depends on the order come first, those with an invalid verdict last, all in their order."""
    choices = [(1, 1), (None, 2), (1, 2), (2, 2), (2, 1), (None, None)]
    assert closest_first(choices) == [2, 4, 0, 3, 1, 5]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "narrowed"),
    [
        ("recency-new-old", True),
        ("provenance-expert-llm", True),
        ("placebo-listed-shown", True),
        ("four-cell-new-old", True),
        ("position-no-cue", False),
        ("repeat-no-cue-1", False),
        ("accuracy", False),
        ("attack-override", False),
        ("plan", False),
    ],
)
def test_what_is_about_the_closest_pairs(name: str, narrowed: bool) -> None:
    """Checks of cues alone: nothing that measures the cue-free answers by which pairs are chosen."""
    with Run(build_config({}), options=RunOptions(repeats=2)) as run:
        names = [contrast.id for family in run.families for contrast in run.contrasts(family)]
        found = next((each for each in [*names, "accuracy", "plan"] if each.startswith(name.split("-override")[0])), "")
        assert is_about_closest(run.registry.check(found).arms) is narrowed


@pytest.mark.parametrize("value", ["0", "-3", '"all"', "1.5"])
def test_closest_is_a_whole_number_from_one(folder: Path, value: str) -> None:
    """Anything else is an error that names the key."""
    file = folder / "judges.toml"
    file.write_text(configuration(NOWHERE).replace("closest = 5", f"closest = {value}"))
    with pytest.raises(JudgeFixturesError, match=r"datasets\.own\.closest"):
        Run.from_config(file)


def test_the_closest_pairs_are_asked_about(folder: Path, server: Judges, gate: Gating) -> None:
    """The whole pool is asked about without cues, once per run and judge; the cues are asked of the closest alone."""
    found = gate(record="missing")
    assert asked_about(found) == set(expected(folder, "a", 5)) == set(frozen(folder))
    assert frozen(folder) == expected(folder, "a", 5)
    assert server.counted == {("a", "no-cue"): 2 * POOL, ("a", "cue"): 2 * 5}
    server.forget()
    gate("provenance-expert-llm", record="missing")
    assert server.counted == {("a", "cue"): 2 * 5}
    replayed = gate()
    assert replayed.rows == found.rows
    assert found.estimate is not None
    assert found.estimate.n == 5


def test_invalid_pairs_come_last(folder: Path, gate: Gating) -> None:
    """A pair without a verdict is chosen when there is no other."""
    gate(record="missing", closest=POOL - 1)
    assert f"p{GARBLED:03}" not in frozen(folder)
    assert frozen(folder) == expected(folder, "a", POOL - 1)


def test_pairs_cut_what_was_chosen(folder: Path, server: Judges, gate: Gating) -> None:
    """`pairs` takes the first of the closest for cues, and the first of the pool for all else; all N are frozen."""
    found = gate(record="missing", more="pairs = 3")
    assert asked_about(found) == set(expected(folder, "a", 3))
    assert frozen(folder) == expected(folder, "a", 5)
    assert len(server.numbers("no-cue")) == POOL
    pool = [pair.id for pair in load_pairs(Source("own", folder / "pairs.jsonl"))]
    assert asked_about(gate("position-no-cue", more="pairs = 3")) == set(pool[:3])
    assert asked_about(gate("position-no-cue")) == set(pool)
    assert asked_about(gate(pairs=2)) == set(expected(folder, "a", 2))


@pytest.mark.parametrize("closest", [POOL, POOL + 1])
def test_all_pairs_need_no_choice(
    folder: Path, server: Judges, gate: Gating, closest: int, snapshot: SnapshotAssertion
) -> None:
    """Where all pairs are used nobody is asked for a choice; a note says so where there are fewer than asked for."""
    found = gate(record="missing", closest=closest)
    assert len(asked_about(found)) == POOL
    assert server.counted == {("a", "cue"): 2 * POOL}
    assert not (folder / "cassettes" / "a" / "own" / "closest.json").exists()
    assert any("closest = 31" in note for note in gate.notes) == (closest > POOL)  # type: ignore[attr-defined]
    assert gate.notes == snapshot  # type: ignore[attr-defined]


# --- frozen ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_choice_survives_answers_that_are_recorded_again(folder: Path, server: Judges, gate: Gating) -> None:
    """`missing` asks lost cue-free answers again and keeps the choice; `all` chooses anew."""
    gate(record="missing")
    before = (folder / "cassettes" / "a" / "own" / "closest.json").read_bytes()
    for name in ("no-cue", "no-cue-21"):
        (folder / "cassettes" / "a" / "own" / f"{name}.jsonl").unlink()
    server.close["a"] = {1, 2}
    gate("position-no-cue", record="missing")
    gate(record="missing")
    assert (folder / "cassettes" / "a" / "own" / "closest.json").read_bytes() == before
    gate(record="all")
    assert {"p001", "p002"} == set(frozen(folder)[:2])
    assert gate().status is not Status.ERROR


def test_a_replay_needs_no_screening(folder: Path, gate: Gating, snapshot: SnapshotAssertion) -> None:
    """With a frozen choice nothing else is looked up; without, it follows from the recordings, and is not written."""
    recorded = gate(record="missing")
    choice = folder / "cassettes" / "a" / "own" / "closest.json"
    choice.unlink()
    assert gate().rows == recorded.rows
    assert not choice.exists()
    assert lines_about(gate.notes, "the recordings") == snapshot  # type: ignore[attr-defined]
    gate(record="missing")
    for name in ("no-cue", "no-cue-21"):
        (folder / "cassettes" / "a" / "own" / f"{name}.jsonl").unlink()
    assert asked_about(gate()) == asked_about(recorded)


@pytest.mark.slow
def test_a_later_repeat_tells_which_pairs_are_movable(gate: Gating) -> None:
    """The contrast of a repeat compares it with the first answers, and a replay of a cue finds both."""
    (row,) = gate("repeat-no-cue-2", record="missing", repeats=3, closest=POOL).rows["contrasts"]
    assert row.movable.n == POOL - 1
    (row,) = gate(record="missing", closest=POOL).rows["contrasts"]
    assert row.movable is None
    (row,) = gate(repeats=3, closest=POOL).rows["contrasts"]
    assert row.movable.n == POOL - 1


def test_the_closest_pairs_are_not_called_movable_by_what_chose_them(gate: Gating, snapshot: SnapshotAssertion) -> None:
    """A cue alone does not tell how many were close, and says so; the placebo does, and a replay says the same."""
    recorded = gate(record="missing")
    (row,) = recorded.rows["contrasts"]
    assert row.movable is None
    assert lines_about(row.movable_unknown, "these pairs") == snapshot
    assert gate().rows == recorded.rows
    (row,) = gate("placebo-listed-shown", record="missing").rows["contrasts"]
    assert (row.movable.n, row.movable_unknown) == (row.n, "")
    (row,) = gate().rows["contrasts"]
    assert row.movable.n == row.n


def test_another_number(folder: Path, server: Judges, gate: Gating, snapshot: SnapshotAssertion) -> None:
    """A smaller N takes the first ones; a larger one is an error with the command, and `missing` adds to the choice."""
    gate(record="missing")
    first = frozen(folder)
    assert asked_about(gate(closest=2)) == set(first[:2])
    assert frozen(folder) == first
    larger = gate(closest=8)
    assert larger.status is Status.ERROR
    assert lines_about(larger.text, "closest = 8") == snapshot
    command = " --judge a --judge-dataset own -k recency-new-old --judge-record missing"
    assert command in larger.text
    server.forget()
    assert asked_about(gate(record="missing", closest=8)) == set(expected(folder, "a", 8))
    assert server.counted == {("a", "cue"): 2 * 3}
    assert frozen(folder)[:5] == first


def test_a_choice_that_does_not_fit(folder: Path, server: Judges, gate: Gating, snapshot: SnapshotAssertion) -> None:
    """A chosen pair that is gone or changed is an error with the remedy, which asks only what is not recorded."""
    gate(record="missing")
    pairs = some_pairs(POOL)
    for rows in (
        rows_of(pair for pair in pairs if pair.id != "p011"),
        [row | ({"response_1": "One anew."} if row["id"] == "p011" else {}) for row in rows_of(pairs)],
    ):
        (folder / "pairs.jsonl").write_text(json_lines(rows))
        for record in ("none", "missing"):
            found = gate(record=record)
            assert found.status is Status.ERROR
            assert lines_about(found.text, "'p011'") == snapshot
    server.forget()
    (folder / "cassettes" / "a" / "own" / "closest.json").unlink()
    assert gate(record="missing").status is not Status.ERROR
    assert server.counted[("a", "no-cue")] == 2
    assert server.numbers("no-cue") == {11}


def test_a_pool_that_grows_keeps_the_choice(folder: Path, gate: Gating, snapshot: SnapshotAssertion) -> None:
    """Pairs that come are not among the closest until all is recorded anew, and a note says so."""
    before = asked_about(gate(record="missing"))
    (folder / "pairs.jsonl").write_text(json_lines(rows_of(some_pairs(POOL + 5))))
    assert asked_about(gate()) == before
    assert lines_about(gate.notes, "--judge-record") == snapshot  # type: ignore[attr-defined]


def choice(pool: str = "30", pairs: str = '[{"id": "p011", "digest": "d"}]') -> str:
    """Return a choice of one pair as it is written, of what is given."""
    return f'{{"judgefixtures": 1, "closest": 1, "pool": {pool}, "pairs": {pairs}}}'


NO_CHOICES = [
    "{}",
    "[]",
    '{"judgefixtures": 2}',
    "no JSON",
    "[" * 100_000,
    choice("Infinity"),
    choice("-1e999"),
    choice("-3"),
    choice("0"),
    choice("2.5"),
    choice("true"),
    choice("null"),
    choice(pairs='{"id": "d"}'),
    choice(pairs="3"),
    choice(pairs="null"),
    choice(pairs="[3]"),
    choice(pairs="[]"),
]


@pytest.mark.parametrize("content", NO_CHOICES, ids=lambda content: content[:70])
@pytest.mark.slow
def test_a_file_that_is_not_a_choice(folder: Path, gate: Gating, content: str) -> None:
    """It is an error that names the file; where all is recorded anew it is replaced."""
    gate(record="missing")
    path = folder / "cassettes" / "a" / "own" / "closest.json"
    path.write_text(content)
    found = gate()
    assert found.status is Status.ERROR
    assert str(path) in found.text
    assert gate(record="all").status is not Status.ERROR
    assert frozen(folder) == expected(folder, "a", 5)


@pytest.mark.parametrize("record", ["none", "missing", "all"])
def test_marks_of_a_merge_are_never_replaced(
    folder: Path, server: Judges, gate: Gating, record: str, snapshot: SnapshotAssertion
) -> None:
    """In every mode the file is an error that names the command that joins it; nobody is asked, nothing is written."""
    gate(record="missing")
    server.forget()
    path = folder / "cassettes" / "a" / "own" / "closest.json"
    text = f"<<<<<<< ours\n{path.read_text()}=======\n{choice()}\n>>>>>>> theirs\n"
    path.write_text(text)
    found = gate(record=record)
    assert found.status is Status.ERROR
    assert lines_about(found.text, "conflict mark") == snapshot
    assert path.read_text() == text
    assert not server.asked


def test_choices_of_two_branches_are_joined(snapshot: SnapshotAssertion) -> None:
    """The longer one is kept where it begins with the other; else neither, with a sentence."""

    def chosen(*names: str) -> bytes:
        pairs = [{"id": name, "digest": "d"} for name in names]
        return json.dumps({"judgefixtures": 1, "closest": len(names), "pool": 9, "pairs": pairs}).encode()

    path = Path("cassettes/a/own/closest.json")
    short, long = chosen("x"), chosen("x", "y")
    assert (
        merge_versions(path, MergeVersions(short, long)).content
        == merge_versions(path, MergeVersions(long, short)).content
        == long
    )
    with pytest.raises(CassetteError) as error:
        merge_versions(path, MergeVersions(long, chosen("y")))
    assert str(error.value) == snapshot


# --- swaps, preflight, what is left alone --------------------------------------------------------------------------


@pytest.mark.slow
def test_a_swap_is_about_what_is_closest_for_either(folder: Path, server: Judges, gate: Gating) -> None:
    """Both judges are screened, and both are asked about the union of both choices, as a replay is."""
    found = gate(record="missing", closest=4, baseline="b")
    union = {int(name[1:]) for model in CLOSE for name in expected(folder, model, 4)}
    assert server.numbers("cue") == union == CLOSE["a"] | CLOSE["b"]
    assert server.counted == {
        (model, kind): 2 * n for model in CLOSE for kind, n in (("no-cue", POOL), ("cue", len(union)))
    }
    assert (frozen(folder, "a"), frozen(folder, "b")) == (expected(folder, "a", 4), expected(folder, "b", 4))
    assert {row.n for row in found.rows["swap"] if row.quantity == "agreement"} <= {len(union), 2 * len(union)}
    assert gate(closest=4, baseline="b").rows == found.rows
    assert asked_about(gate(closest=4)) == set(expected(folder, "a", 4)), "alone, each has its own"
    asked = len(server.asked)
    gate("accuracy", record="missing", closest=4, baseline="b")
    assert server.numbers("cue") == union
    assert len(server.asked) == asked, "accuracy is about the pool, which is recorded"


def test_the_preflight_counts_the_screening(
    folder: Path, server: Judges, gate: Gating, snapshot: SnapshotAssertion
) -> None:
    """It counts two cue-free calls per pair of the pool and the cues of N pairs at most; then what is chosen."""
    file = folder / "judges.toml"
    file.write_text(configuration(server.url))

    def lines(*subjects: tuple[str, str | None]) -> str:
        with Run.from_config(file, record="missing") as run:
            return "\n".join(
                preflight_lines(run, [CheckId("a", "own", run.registry.check(name), with_) for name, with_ in subjects])
            )

    said = lines(("recency-new-old", None), ("position-no-cue", None))
    assert lines_about(said, "answers without") == snapshot
    assert "a: at most 70 calls" in said
    assert re.search(r"recency +1 +5 ", said)
    assert re.search(r"position +1 +30 ", said)
    asked = forecast_of_swap(file)
    assert "a: at most 80 calls" in asked, "up to ten pairs are closest for either"
    assert "b: at most 80 calls" in asked
    gate(record="missing")
    said = lines(("recency-new-old", None))
    assert lines_about(said, "own: closest") == snapshot
    assert "a: at most 0 calls" in said


def forecast_of_swap(file: Path) -> str:
    """Return the preflight of a swap."""
    from judgefixtures.checks import SwapCheck

    with Run.from_config(file, record="missing") as run:
        check = SwapCheck(run.registry.check("recency-new-old").contrast)
        return "\n".join(preflight_lines(run, [CheckId("a", "own", check, "b")]))


def test_what_is_foreseen_has_as_many_clusters_as_there_can_be() -> None:
    """What stands for pairs that are still to be chosen is as unrelated as possible: nothing is refused too soon."""
    pairs = [replace(pair, cluster=name) for pair, name in zip(some_pairs(6), "aabbcd", strict=True)]
    about = PairScope((pairs[0],), tuple(pairs), frozenset({"a"}), 3)
    assert [pair.cluster for pair in about.at_most] == ["a", "b", "c", "d"]
    assert len((about | PairScope((), tuple(pairs), frozenset({"b"}), 3)).at_most) == 6


def test_what_two_checks_are_about() -> None:
    """The pairs of both, each once; the pool of either; whoever is undecided for one; the larger number to choose."""
    pairs = some_pairs(6)
    known, open_ = PairScope(tuple(pairs[:2])), PairScope(tuple(pairs[1:3]), tuple(pairs), frozenset({"a"}), 2)
    other = PairScope((), tuple(pairs), frozenset({"b"}), 3)
    for both in (known | open_ | other, other | open_ | known):
        assert {pair.id for pair in both.pairs} == {pair.id for pair in pairs[:3]}
        assert (both.pool, both.undecided, both.cut) == (tuple(pairs), {"a", "b"}, 3)
        assert len(both.pairs) == both.more == len(both.others) == 3


def test_a_frozen_choice_is_read_once(folder: Path, gate: Gating, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is asked for in a run: the preflight does so for every item several times."""
    gate(record="missing")
    read: list[Path] = []
    read_snapshot = closest_pairs.read_closest_snapshot
    monkeypatch.setattr(closest_pairs, "read_closest_snapshot", lambda path: read.append(path) or read_snapshot(path))  # type: ignore[func-returns-value]
    with Run.from_config(folder / "judges.toml") as run:
        subject = CheckId("a", "own", run.registry.check("recency-new-old"))
        first = run.about(subject)
        assert first.pairs
        assert run.about(subject) == first
    assert len(read) == 1


def test_too_few_closest_pairs_are_not_paid_for(folder: Path, server: Judges) -> None:
    """Where N pairs cannot pass, nothing is asked, the screening neither, unless it is forced."""
    file = folder / "judges.toml"
    file.write_text(configuration(server.url))
    with Run.from_config(file, record="missing") as run:
        found = run.gate("recency-new-old", judge="a", dataset="own")
    assert "recency-new-old on own: 5 pairs cannot pass" in found.text
    assert not server.asked


def test_the_control_takes_no_closest_pairs(folder: Path, server: Judges) -> None:
    """The control is about the first pairs of its dataset, whatever is closest in it."""
    text = configuration(server.url).replace("control = false\n", "")
    (folder / "judges.toml").write_text(f'{text}[control]\ndataset = "own"\npairs = 6\n')
    rows = [row | {"gold": 1} for row in rows_of(some_pairs(POOL))]
    (folder / "pairs.jsonl").write_text(json_lines(rows))
    with Run.from_config(folder / "judges.toml") as run:
        assert run.control_pairs("a", "own") == run.pairs("a", "own")[:6]


def test_given_pairs_are_left_alone(folder: Path, server: Judges) -> None:
    """Pairs that are not the pool's own are asked about as they are, and nothing is chosen."""
    file = folder / "judges.toml"
    file.write_text(configuration(server.url))
    with Run.from_config(file, record="missing", force=True) as run:
        given = run.pairs("a", "own")[:9]
        assert asked_about(run.gate("recency-new-old", judge="a", dataset="own", pairs=given)) == {p.id for p in given}
    assert server.counted == {("a", "cue"): 2 * 9}


# --- under pytest --------------------------------------------------------------------------------------------------


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with thirty pairs, a test of recency and placebo and one of the position."""
    project = Project(
        pytester,
        configuration,
        file="judges.toml",
        rough=True,
        options=("-p", "no:cacheprovider", "--judge-config", "judges.toml", "--judge-force"),
    )
    project.write("own.txt", TEMPLATE)
    project.write_pairs(rows_of(some_pairs(POOL)))
    project.write("test_cues.py", suite("recency", "placebo", name="cues"))
    project.write("test_position.py", suite("position", name="position"))
    return project


@pytest.mark.slow
def test_reports_are_the_same_whoever_runs(project: Project, server: Judges) -> None:
    """Recorded by two workers, replayed by one process and by two: the same bytes, and nothing is asked twice."""
    project.configure(server.url)
    recorded = project.run("--judge-record", "missing", "-n", "2", "--judge-report", "report")
    assert "ERROR" not in recorded.said, recorded.said
    assert server.counted == {("a", "no-cue"): 2 * POOL, ("a", "cue"): 2 * 2 * 5}
    whole = project.tree()
    assert "cassettes/a/own/closest.json" in whole
    project.configure(NOWHERE)
    for folder, workers in (("one", ()), ("two", ("-n", "2"))):
        project.run("--judge-report", folder, *workers)
    names = ("report.json", "judgments.jsonl")
    reports = {
        folder: [(project.path / folder / name).read_bytes() for name in names] for folder in ("report", "one", "two")
    }
    assert reports["one"] == reports["two"]
    assert reports["one"] == reports["report"]
    rows = project.report("one")["contrasts"]
    assert {row["contrast"]: row["n"] for row in rows} == {
        "recency-new-old": 5,
        "placebo-listed-shown": 5,
        "position-no-cue": POOL - 1,
    }
    assert {name: digest for name, digest in project.tree().items() if name.startswith("cassettes/")} == {
        name: digest for name, digest in whole.items() if name.startswith("cassettes/")
    }, "a replay writes nothing"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one", "two"])
def test_a_renewal_screens_once(project: Project, server: Judges, workers: tuple[str, ...]) -> None:
    """`all` asks everything anew once per run, whoever needs the choice."""
    project.configure(server.url)
    project.run("--judge-record", "missing")
    server.forget()
    renewed = project.run("--judge-record", "all", *workers)
    assert "ERROR" not in renewed.said, renewed.said
    assert server.counted == {("a", "no-cue"): 2 * POOL, ("a", "cue"): 2 * 2 * 5}


def test_a_miss_names_the_command(project: Project, snapshot: SnapshotAssertion) -> None:
    """Without recordings the item says what records it, the screening with it; so it does with a choice alone."""
    project.configure(NOWHERE)
    said = project.run("-k", "recency").said
    assert lines_about(said, "'own'") == snapshot
    assert re.search(r"pytest .*--judge a --judge-dataset own -k recency-new-old --judge-record missing", said)


def test_a_fixture_of_pairs_is_left_alone(project: Project, server: Judges) -> None:
    """What a `pairs` fixture of the user's returns is asked about."""
    project.write("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef pairs(pairs):\n    return pairs[:4]\n")
    project.configure(server.url)
    project.run("-k", "recency", "--judge-record", "missing")
    assert server.counted == {("a", "cue"): 2 * 4}


@pytest.mark.slow
def test_a_recording_that_fails_keeps_the_screening(project: Project, server: Judges) -> None:
    """Where the server refuses in the middle of a screening, `-x` or not, all answers stay; only the rest is asked."""
    project.configure(server.url)
    server.most = 20
    stopped = project.run("--judge-record", "missing", "--judge-concurrency", "1", "-x")
    assert stopped.ret != 0
    assert "closest: 20 of 60 answers are saved (20 of them new), 40 are missing" in stopped.said
    assert not (project.cassettes / "a" / "own" / "closest.json").exists()
    server.most = None
    server.forget()
    project.run("--judge-record", "missing")
    assert server.counted == {("a", "no-cue"): 2 * POOL - 20, ("a", "cue"): 2 * 2 * 5}
    assert frozen(project.path) == expected(project.path, "a", 5)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal here")
def test_ctrl_c_keeps_the_screening(project: Project, server: Judges) -> None:
    """Ctrl-C in the middle of a screening ends with exit code 2; every answer that arrived is kept."""
    project.configure(server.url, more="")
    answering = server.answering
    server.answering = lambda asked: (server.stopping.wait(0.02), answering(asked))[1]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *project.options,
        "--judge-record",
        "missing",
        "--judge-concurrency",
        "2",
    ]
    run = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    server.wait_for(15, lambda: run.poll() is not None)
    run.send_signal(signal.SIGINT)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 2, said
    asked = len(server.asked)
    assert asked < 2 * POOL
    kept = sum(
        len(project.cassette(name, "a").read_text().splitlines()) - 1
        for name in ("no-cue", "no-cue-21")
        if project.cassette(name, "a").exists()
    )
    assert kept == asked
    server.answering = answering
    server.forget()
    project.run("--judge-record", "missing")
    assert server.counted == {("a", "no-cue"): 2 * POOL - asked, ("a", "cue"): 2 * 2 * 5}


# --- it biases nothing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [0.0, 1.0])
def test_the_choice_biases_no_vsr(position: float) -> None:
    """On chosen pairs a VSR is measured without bias; chosen by the contrast's own answers it is far too large."""
    simulation = benchmark("closest")
    right, wrong = simulation.simulate(simulation.Judge(0.8, position), runs=400, seed=7)
    assert right.true > 0.2
    assert abs(right.bias) < 0.01
    assert wrong.bias > 0.3
