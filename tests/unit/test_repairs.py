"""Commands that mend a recording: they are copied as they stand, and ask for what is missing and nothing else."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.project import Project, Ran, in_pyproject, json_lines, suite
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, running, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures import NO_CUE, Run
from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.files import CassetteFile
from judgefixtures.metrics.llm_detector import DETECTING_MARK
from judgefixtures.prompts.planning import PLANNING_MARK

pytest_plugins = ["pytester"]

FAMILIES = ("recency", "position", "placebo", "repeat")
MORE = ("accuracy", "plan", "swap", "age", "cues")
PLAN = "1. Compare what both responses state with the question.\n2. Choose the response with fewer mistakes."
# Tolerances that a dozen pairs can hold, so that nothing is refused and no command needs --judge-force.
GATE = """
[gate]
vsr_tolerance = 0.9
score_tolerance = 0.9
max_degenerate = 0.5
[swap]
accuracy_margin = 0.9
vsr_margin = 0.9
silent_margin = 0.9
families = ["recency"]
looks = [20, 24]
"""
UNCONTROLLED = "control = false\n"
TEMPLATE = """Which is better?
{question}
1: {response_1} {cue_1}
2: {response_2} {cue_2}
Answer as JSON: {{"selected_response": 1 or 2, "reason": "why"}}
"""
FIXTURE = """
import pytest
from judgefixtures.judges.judge import load_judge

@pytest.fixture
def judge():
    return load_judge({{"provider": "openai", "model": "m", "base_url": "{url}/v1"}}, "made")
"""
CONTROL = '[control]\ndataset = "clear"\npairs = 6\n'
FAMILY = (
    '[cues.brand]\nours = "{content_type} {number} comes from our product."\n'
    'ours-too = "{content_type} {number} comes from our other product."\n'
    'other = "{content_type} {number} comes from elsewhere."\n'
)


def pair_rows(count: int, words: str = "") -> list[dict[str, Any]]:
    """Return the rows of a pair file: the right response says so, and is now the one and now the other."""
    rows = []
    for number in range(count):
        texts = [f"Right {number}.", f"Wrong {number}."]
        texts = texts if number % 2 else texts[::-1]
        gold = texts.index(f"Right {number}.") + 1
        rows.append(
            {
                "id": f"p{number:02}",
                "question": f"Question {number}? {words}",
                "response_1": texts[0],
                "response_2": texts[1],
                "gold": gold,
            }
        )
    return rows


class Reader(Server):
    """Answers on the wire as a judge that reads: it chooses what is right, scores it higher, and plans if asked to."""

    def __init__(self) -> None:
        super().__init__(self.reply, keep_alive=True)
        self.plan = PLAN

    def reply(self, asked: Asked) -> Answer:
        """Answer one request."""
        prompt = asked.prompt
        if prompt.startswith(PLANNING_MARK):
            return asked.answered(self.plan)
        if prompt.startswith(DETECTING_MARK):
            return asked.answered('{"acknowledgment": "absent", "reason": ""}')
        right, wrong = prompt.find("Right "), prompt.find("Wrong ")
        said = {"selected_response": 1 if wrong < 0 or 0 <= right < wrong else 2}
        if '"score"' in prompt:
            said = {"score": 8 if right >= 0 else 3}
        return asked.answered(
            json.dumps({**said, "reason": f"It has fewer mistakes than the other, as {len(self.asked)} shows."})
        )


@pytest.fixture
def server() -> Iterator[Reader]:
    """A judge that can be asked."""
    reader = Reader()
    with running(reader):
        yield reader


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: Reader) -> Project:
    """A repository with two judges, two datasets and the tests of several families."""
    folder = pytester.path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    project = Project(pytester, in_pyproject)
    for name in FAMILIES:
        project.write(f"test_{name}.py", suite(name, name=name))
    project.copy_tests(*MORE)
    project.write_pairs(pair_rows(24))
    project.write_pairs(pair_rows(6, "clearly"), "clear.jsonl")
    use(project, server.url)
    return project


def configuration(url: str, keys: str = "", more: str = "", of_dataset: str = "", control: str = CONTROL) -> str:
    """Return a configuration of two judges behind a server, and of two datasets."""
    return (
        f'judge = "ours"\ndataset = ["own"]\n{control}{GATE}'
        f'[judges.ours]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\n{keys}\n'
        f'[judges.new]\nextends = "ours"\ntemperature = 0.5\n'
        f'[datasets.own]\npath = "pairs.jsonl"\n{of_dataset}\n[datasets.clear]\npath = "clear.jsonl"\n{more}'
    )


def use(project: Project, url: str, **tables: str) -> None:
    """Configure the judges of a project."""
    project.configure(configuration(url, **tables))


def forget(file: Path, pair: str = "", repeat: int = 0) -> None:
    """Take one answer out of a recording: the one about a pair, or the first there is."""
    cassette = CassetteFile(file)
    gone = next(row for row in cassette.read_rows() if row.repeat == repeat and row.pair.startswith(pair))
    cassette.replace([row for row in cassette.read_rows() if row != gone], cassette.header or {})


def repairs(said: str) -> list[str]:
    """Return the recording commands that a run said, each once."""
    found = re.findall(r"(?:cd \S+ && )?pytest (?:--|-k)[^\n]*?--judge-record (?:missing|invalid|all)\b", said)
    return list(dict.fromkeys(found))


def carried_out(project: Project, command: str) -> Ran:
    """Run a command as it stands, with its words as a shell takes them apart."""
    program, *words = shlex.split(command)
    assert program == "pytest"
    return project.run(*words)


@dataclass(frozen=True, slots=True)
class Lost:
    """What is configured and run, which recording loses one answer, and what the command that mends it selects by."""

    recording: str
    word: str
    arguments: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0
    pairs: int = 24


SWAP = ("--judge", "new", "--judge-baseline", "ours", "-k", "swap")
PLANNING = {"keys": 'strategy = "plan-self"'}
CLOSEST = {"of_dataset": "closest = 5"}
LOST = {
    "contrast": Lost("ours/own/recency-new-old", "recency-new-old"),
    "order": Lost("ours/own/no-cue-21", "own-position", ("-k", "position")),
    "accuracy": Lost("ours/own/no-cue-21", "own-accuracy", ("-k", "accuracy")),
    "control": Lost("ours/clear/no-cue-21", "recency-new-old", ("-k", "recency")),
    "own family": Lost("ours/own/brand-ours-other", "brand-ours-other", tables={"more": FAMILY}),
    "name within another": Lost(
        "ours/own/brand-ours-other",
        '"[ours-own-brand-ours-other]"',
        tables={"more": FAMILY.replace("ours-too", "ours-other")},
    ),
    "family by name": Lost("ours/own/age-young-old", "age-young-old", ("-k", "age")),
    "scores": Lost("ours/own/score-1-recency-new", "recency-new-old", tables={"keys": 'mode = "pointwise"'}),
    "planned": Lost("ours/own/recency-new-old", "recency-new-old", tables=PLANNING),
    "plan": Lost("ours/own/plan", "own-plan", ("-k", "own-plan"), PLANNING),
    "closest": Lost("ours/own/recency-new-old", "recency-new-old", tables=CLOSEST),
    "screening": Lost("ours/own/no-cue-21", "own-position", ("-k", "position or recency"), CLOSEST),
    "repeat": Lost("ours/own/no-cue", '"[ours-own-repeat-1]"', ("--judge-repeats", "12"), repeat=1),
    "read reason": Lost(
        "ours/own/detected-by-new-recency-new-old", "recency-new-old", tables={"more": '[detector]\njudge = "new"\n'}
    ),
    "candidate": Lost("new/own/recency-new-old", "new-against-ours-own-recency-new-old", SWAP),
    "baseline": Lost("ours/own/recency-new-old", "new-against-ours-own-recency-new-old", SWAP),
    "look": Lost("ours/own/recency-new-old", "new-against-ours", (*SWAP, "--judge-until-decided"), pairs=100),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_one_lost_answer_costs_one_call(lost: Lost, project: Project, server: Reader) -> None:
    """The command of the miss names the check, asks for the lost answer alone, and then everything replays."""
    project.write_pairs(pair_rows(lost.pairs))
    use(project, server.url, **lost.tables)
    said = project.run(*lost.arguments, "--judge-record", "missing").said
    assert ("This saved" in said) == (lost.pairs > 24), "the looks end before the pairs do"
    forget(project.cassettes / f"{lost.recording}.jsonl", repeat=lost.repeat)
    asked = len(server.asked)
    (command,) = repairs(project.run(*lost.arguments).said)
    assert f" -k {lost.word} " in command
    assert len(server.asked) == asked
    assert "recorded: " in carried_out(project, command).said
    assert len(server.asked) == asked + 1
    assert not repairs(project.run(*lost.arguments).said)


@pytest.mark.slow
def test_no_command_selects_a_second_contrast(project: Project) -> None:
    """Of all families together, each with names within others', a command selects its own item and nothing else."""
    use(project, NOWHERE, control=UNCONTROLLED, more=FAMILY.replace("ours-too", "ours-other"))
    ran = project.run("--judge-repeats", "12")
    commands = repairs(ran.said)
    assert len(commands) == ran.parseoutcomes()["failed"] == len(PARTS) + 11 + 3 + 1
    for command in commands:
        chosen = project.ids(*shlex.split(command)[1:])
        assert len(chosen) == 1, (command, chosen)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("folder", ["my recordings", "of $HOME"])
def test_a_command_is_understood_by_a_shell(folder: str, project: Project, server: Reader) -> None:
    """Files and folders whose names need quotes get them: sh runs the command as it was printed."""
    project.write("our judges.toml", configuration(server.url))
    project.write("pyproject.toml", "")
    options = ("--judge-config", "our judges.toml", "--judge-cassettes", folder, "-k", "recency")
    project.run(*options, "--judge-record", "missing")
    forget(project.path / folder / "ours/own/recency-new-old.jsonl")
    asked = len(server.asked)
    (command,) = repairs(project.run(*options).said)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-c", command], cwd=project.path, env={**os.environ, "PATH": path}, check=True)
    assert len(server.asked) == asked + 1


def test_a_command_names_the_item_whoever_made_its_judge(project: Project, server: Reader) -> None:
    """With a fixture `judge` of the user's the command selects the item, by the names that pytest knows."""
    project.write("conftest.py", FIXTURE.format(url=server.url))
    project.run("-k", "recency", "--judge-record", "missing")
    forget(project.cassettes / "made/own/recency-new-old.jsonl")
    asked = len(server.asked)
    (command,) = repairs(project.run("-k", "recency").said)
    carried_out(project, command)
    assert len(server.asked) == asked + 1


def test_a_script_says_the_command_for_its_configuration(tmp_path: Path, server: Reader) -> None:
    """A run from Python names the file, the folder and the pairs that it was given."""
    (tmp_path / "our judges.toml").write_text(configuration(server.url), encoding="utf-8")
    (tmp_path / "pairs.jsonl").write_text(json_lines(pair_rows(24)), encoding="utf-8")
    (tmp_path / "clear.jsonl").write_text(json_lines(pair_rows(6, "clearly")), encoding="utf-8")
    with Run.from_config(tmp_path / "our judges.toml", cassettes=tmp_path / "there", pairs=20) as run:
        text = run.gate("recency-new-old", judge="ours", dataset="own").text
    (command,) = repairs(text)
    assert shlex.split(command)[1:] == [
        f"--judge-config={tmp_path / 'our judges.toml'}",
        f"--judge-cassettes={tmp_path / 'there'}",
        "--judge-pairs=20",
        "--judge",
        "ours",
        "--judge-dataset",
        "own",
        "-k",
        "recency-new-old",
        "--judge-record",
        "missing",
    ]


def test_answers_of_a_script_are_asked_by_the_script(
    tmp_path: Path, server: Reader, snapshot: SnapshotAssertion
) -> None:
    """No test asks what `Run.answers` asks: its miss names the same call, which asks for what was missing alone."""
    (tmp_path / "judges.toml").write_text(configuration(server.url), encoding="utf-8")
    (tmp_path / "pairs.jsonl").write_text(json_lines(pair_rows(24)), encoding="utf-8")

    def answers(**options: Any) -> None:
        with Run.from_config(tmp_path / "judges.toml", **options) as run:
            run.answers(run.judge("ours"), "own", run.pairs("ours", "own"), [(NO_CUE, 0)])

    answers(record="missing")
    forget(tmp_path / "cassettes/ours/own/no-cue.jsonl")
    asked = len(server.asked)
    with pytest.raises(CassetteMissError) as error:
        answers()
    assert str(error.value) == snapshot
    answers(record="missing")
    assert len(server.asked) == asked + 1


# --- recordings that became stale -------------------------------------------------------------------------

COLDER = {"keys": "temperature = 0.5"}
PARTS = ("recency", "position", "placebo")  # two conditions each, of 24 pairs


def record_all(project: Project, server: Reader, **tables: str) -> None:
    """Record everything of a judge, and forget what was asked."""
    use(project, server.url, **tables)
    project.run("--judge-record", "missing")
    server.asked.clear()


def headers(project: Project, dataset: str = "own") -> dict[str, float]:
    """Return the temperature of the judge of each condition."""
    found = {}
    for file in sorted((project.cassettes / "ours" / dataset).glob("*.jsonl")):
        if file.name != "pairs.jsonl":
            found[file.stem] = CassetteFile(file).header["judge"]["parameters"]["temperature"]  # type: ignore[index]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_missing_asks_anew_what_another_judge_left(
    workers: tuple[str, ...], project: Project, server: Reader, snapshot: SnapshotAssertion
) -> None:
    """After `all` of one contrast under a changed table, `missing` asks the other conditions anew, and nothing else."""
    record_all(project, server)
    use(project, server.url, **COLDER)
    project.run("-k", "recency", "--judge-record", "all")
    assert len(server.asked) == 2 * 24 + 2 * 6
    server.asked.clear()
    said = project.run().said
    assert lines_about(said, "this folder") == snapshot
    assert {command.rpartition(" ")[2] for command in repairs(said)} == {"missing"}
    assert "ours: at most 96 calls" in project.run("--judge-record", "missing", "--judge-preflight").said
    said = project.run("--judge-record", "missing", *workers).said
    assert len(server.asked) == 4 * 24
    assert lines_about(said, "judge (parameters.temperature") == snapshot
    assert set(headers(project).values()) == {0.5}
    assert not list(project.cassettes.rglob("*.part*"))
    assert not repairs(project.run("--judge-record", "missing").said)
    assert len(server.asked) == 4 * 24
    assert "ERROR" not in project.run().said


@pytest.mark.slow
def test_the_command_for_a_stale_contrast_asks_it_alone(project: Project, server: Reader) -> None:
    """Copied from the message, it asks both stale conditions of its contrast, its control and the others replay."""
    record_all(project, server)
    use(project, server.url, **COLDER)
    project.run("-k", "recency", "--judge-record", "all")
    server.asked.clear()
    (command,) = repairs(project.run("-k", "placebo").said)
    carried_out(project, command)
    assert len(server.asked) == 2 * 24
    assert {name: heat for name, heat in headers(project).items() if "no-cue" in name} == {"no-cue": 0, "no-cue-21": 0}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_slip_in_the_table_asks_nothing_anew(mode: str, project: Project, server: Reader) -> None:
    """Where no recording is of the judge as it is now nothing is asked, and the message says why, and what would."""
    record_all(project, server)
    before = project.tree()
    use(project, server.url, **COLDER)
    said = project.run("-k", "recency", "--judge-record", mode).said
    assert not server.asked
    assert all(project.tree()[name] == digest for name, digest in before.items() if name.startswith("cassettes"))
    assert ("a costly mistake" in said) == (mode == "missing")
    (command,) = repairs(said)
    assert command.endswith("-k recency-new-old --judge-record all")


@pytest.mark.slow
def test_what_a_run_began_with_a_slip_renews_nothing(project: Project, server: Reader) -> None:
    """A condition that this very run was the first to ask about does not make the others of another judge stale."""
    use(project, server.url, control=UNCONTROLLED)
    project.run("-k", "recency or placebo", "--judge-record", "missing")
    server.asked.clear()
    use(project, server.url, control=UNCONTROLLED, **COLDER)
    said = project.run("--judge-record", "missing").said
    assert len(server.asked) == 2 * 24, "position and accuracy, which were never recorded"
    assert said.count("from another judge") >= 2
    assert headers(project)["recency-new-old"] == 0


@pytest.mark.slow
def test_a_renewal_that_breaks_off_keeps_the_old_answers(project: Project, server: Reader) -> None:
    """The old recording stays until the new one is complete, and the next `missing` goes on where this one ended."""
    record_all(project, server)
    use(project, server.url, **COLDER)
    project.run("-k", "recency", "--judge-record", "all")
    old = project.cassette("placebo-listed-shown").read_bytes()
    server.asked.clear()
    server.answering = lambda asked: server.reply(asked) if len(server.asked) <= 9 else wire({"error": {}}, 401)
    project.run("-k", "placebo", "--judge-record", "missing", "--judge-concurrency", "1")
    assert project.cassette("placebo-listed-shown").read_bytes() == old
    server.answering, broken = server.reply, len(server.asked)
    project.run("-k", "placebo", "--judge-record", "missing")
    assert len(server.asked) - broken == 48 - 9
    assert headers(project)["placebo-listed-shown"] == 0.5


@pytest.mark.slow
def test_another_template_is_another_judge(project: Project, server: Reader) -> None:
    """An edited template is asked anew where `all` was asked for once, as any other part of the identity."""
    template = project.write("ours.txt", TEMPLATE)
    record_all(project, server, keys='template = "ours.txt"')
    template.write_text(TEMPLATE.replace("Which", "Tell which"))
    assert "template.digest" in project.run("-k", "recency", "--judge-record", "missing").said
    assert not server.asked
    project.run("-k", "recency", "--judge-record", "all")
    server.asked.clear()
    project.run("-k", "placebo", "--judge-record", "missing")
    assert len(server.asked) == 2 * 24


def swapped(rows: list[dict[str, Any]]) -> None:
    """Let the responses of the first pair change places."""
    first = rows[0]
    first["response_1"], first["response_2"], first["gold"] = (
        first["response_2"],
        first["response_1"],
        3 - first["gold"],
    )


def reworded(rows: list[dict[str, Any]]) -> None:
    """Change the question of the first pair."""
    rows[0]["question"] += " Really?"


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("change", [swapped, reworded])
def test_a_changed_pair_is_asked_anew_and_its_old_answers_go(
    change: Callable[[list[dict[str, Any]]], None], project: Project, server: Reader
) -> None:
    """`missing` asks about the changed pair alone, in each condition, and no other answer of it is left."""
    record_all(project, server, of_dataset="balance_positions = false")
    before = {file: len(CassetteFile(file)) for file in (project.cassettes / "ours/own").glob("*-*.jsonl")}
    rows = pair_rows(24)
    change(rows)
    project.write_pairs(rows)
    project.run("--judge-record", "missing")
    assert Counter(re.findall(r"Question (\d+)", " ".join(server.prompts()))) == {"0": 6}
    assert {file: len(CassetteFile(file)) for file in before} == before
    assert "were not used" not in project.run().said


@pytest.mark.slow
def test_a_new_address_asks_everything_and_leaves_nothing_old(project: Project, server: Reader) -> None:
    """Behind another path of base_url every answer is missing; the old ones go, and the identity is the same."""
    record_all(project, server)
    before = {file: len(CassetteFile(file)) for file in (project.cassettes / "ours/own").glob("*-*.jsonl")}
    use(project, f"{server.url}/gateway")
    project.run("-k", "recency", "--judge-record", "missing")
    assert len(server.asked) == 2 * 24 + 2 * 6
    assert {file: len(CassetteFile(file)) for file in before} == before


@pytest.mark.slow
def test_a_new_plan_makes_its_verdicts_stale(project: Project, server: Reader) -> None:
    """Where a plan was recorded anew, and is another one, the pair's verdicts are asked anew and no others."""
    record_all(project, server, **PLANNING)
    forget(project.cassette("plan"), "p00")
    server.plan = PLAN.replace("Compare", "Hold against each other")
    project.run("--judge-record", "missing")
    assert len(server.prompts(PLANNING_MARK)) == 1
    assert len(server.asked) == 1 + 2 * len(PARTS)
    assert "were not used" not in project.run().said


# --- renamed, moved, expired, damaged ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "options"),
    [("recordings", ()), ("tests/recordings", ()), ("cassettes", ("--judge-cassettes", "elsewhere"))],
)
def test_a_moved_folder_is_told(
    place: str, options: tuple[str, ...], project: Project, server: Reader, snapshot: SnapshotAssertion
) -> None:
    """A miss of a whole condition names the folder that has it, by the usual place or beside, and the option for it."""
    record_all(project, server)
    moved = project.path / place
    moved.parent.mkdir(exist_ok=True)
    project.cassettes.rename(moved)
    said = project.run("-k", "recency", *options).said
    assert lines_about(said, "this condition") == snapshot
    option = f"--judge-cassettes={moved}"
    assert lines_about(said, "you moved") == snapshot
    said = project.run("-k", "recency", *options, "--judge-record", "missing", "--judge-preflight").said
    assert lines_about(said, "this condition") == snapshot
    assert "ERROR" not in project.run("-k", "recency", option).said
    assert "before ours" not in project.run("-k", "recency", option, "--judge-preflight").said
    use(project, server.url, **COLDER)
    assert "you moved" not in project.run("-k", "recency", *options).said


def test_a_damaged_line_is_told_with_its_command(project: Project, server: Reader, snapshot: SnapshotAssertion) -> None:
    """The message names file, line and command, which asks one answer once the line was deleted."""
    record_all(project, server)
    file = project.cassette("recency-new-old")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], b"not an answer\n", *lines[4:]]))
    said = project.run("-k", "recency").said
    assert lines_about(said, "answer'). Restore") == snapshot
    (command,) = repairs(said)
    file.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    carried_out(project, command)
    assert len(server.asked) == 1


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("file", ["pairs.jsonl", "sample.json"])
def test_damaged_pairs_cost_no_answer(file: str, project: Project, server: Reader, snapshot: SnapshotAssertion) -> None:
    """Frozen pairs that cannot be read are written anew once they are deleted, as the message says: nobody is asked."""
    record_all(project, server)
    folder = project.cassettes / "ours" / "own"
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(b"damaged\n" + whole)
    said = project.run("-k", "recency").said
    assert lines_about(said, "--judge-record") == snapshot
    (folder / "pairs.jsonl").unlink()
    (folder / "sample.json").unlink()
    assert project.run("-k", "recency", "--judge-record", "missing").ret == 0
    assert not server.asked
    assert (folder / file).read_bytes() == whole
