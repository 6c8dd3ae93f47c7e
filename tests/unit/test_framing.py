"""What is said to be at stake, once in the prompt of a judge of one response: the family, its words, and its gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.benchmarks import benchmark
from support.project import Project, in_pyproject, read_rows
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import Config, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import as_single_response, contrasts
from judgefixtures.models.cues import FAMILIES, Cue, CueFamily, family
from judgefixtures.models.pairs import Example
from judgefixtures.parsing.acknowledgment import acknowledgment
from judgefixtures.prompts.templates import load_template
from judgefixtures.run.compatibility import misplaced_cue_reason
from judgefixtures.simulator.behaviour import simulated_answer
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.statistics import Status
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

STAKES = ("retrained", "customers", "colleague")
IDS = [f"framing-{stake}-neutral" for stake in STAKES]
CUES = {cue.label: cue for cue in family("framing", FAMILIES)}
EXAMPLE = Example("p", "Why is it so?", "Because of this.")
STORY = Example("s", "A door.", "It opened.", content_type="Story")
# Sentences of ours under another name: of others the simulated judges know nothing.
OWN = (
    '[cues.pressure]\nplace = "prompt"\nurgent = "Note on the {content_type}: it is going to be shown to customers '
    'today."\ncalm = "Note on the {content_type}: it is one of several that are looked at today."\n'
)

# --- what it says -------------------------------------------------------------------------------------------


def test_each_stake_is_measured_against_the_neutral_note() -> None:
    """Three contrasts, each of a stake against the note without one; no two stakes are compared."""
    assert [contrast.id for contrast in contrasts("framing")] == IDS
    assert [as_single_response(contrast).outcome for contrast in contrasts("framing")] == ["passed"] * 3


def test_the_sentences_differ_in_the_stake_alone(snapshot: SnapshotAssertion) -> None:
    """All have one frame, name no number, and speak of the response by what it is called."""
    assert set(CUES) == {*STAKES, "neutral"}
    for cue in CUES.values():
        assert cue.sentence.startswith("Note on the {content_type}: ")
        assert "{number}" not in cue.sentence
        assert lines_about(cue.render_alone("Story"), "the story") == snapshot


@pytest.mark.parametrize("template", ["binary", "binary-word", "binary-grade", "binary-brackets"])
@pytest.mark.parametrize("example", [EXAMPLE, STORY])
def test_it_stands_once_where_the_cue_stands(template: str, example: Example) -> None:
    """The sentence is in the prompt once: where {cue} is, or before the response where cues stand there."""
    said = CUES["retrained"].render_alone(example.content_type)
    words = {"pass_label": "pass", "fail_label": "fail"}
    after, before = (
        load_template(template, mode="binary").render_one(example, example.response, said, place, labels=words)
        for place in ("after", "before")
    )
    assert after.count(said) == before.count(said) == 1
    assert f"{example.response}\n{said}" in after
    assert f"{said}\n{example.response}" in before


@pytest.mark.parametrize("label", CUES)
@pytest.mark.parametrize("example", [EXAMPLE, STORY])
def test_the_staked_grader_alone_minds_it(label: str, example: Example) -> None:
    """Simulated graders read the note for what it is; it moves only the one that is made to be moved, by retraining."""
    template = load_template("binary", mode="binary")
    words = {"pass_label": '"pass"', "fail_label": '"fail"'}
    moved = dict.fromkeys(("staked", "faithful", "silent", "candid", "lenient"), 0)
    for number in range(40):
        shown = f"{example.response} {number}"
        notes = ("", CUES[label].render_alone(example.content_type))
        plain, noted = (template.render_one(example, shown, note, labels=words) for note in notes)
        for name in moved:
            said = [
                json.loads(simulated_answer(f"simulated-grader-{name}", each))["verdict"] for each in (plain, noted)
            ]
            moved[name] += said == ["fail", "pass"]
            assert said[0] == said[1] or said == ["fail", "pass"]
    assert (moved.pop("staked") > 5) == (label == "retrained")
    assert set(moved.values()) == {0}


def test_a_planted_grader_can_say_so() -> None:
    """One that favours the first label of a family, and admits it, gives the note as its reason."""
    template = load_template("binary", mode="binary")
    words = {"pass_label": '"pass"', "fail_label": '"fail"'}
    note = CUES["retrained"].render_alone("Response")
    found = set()
    for number in range(40):
        prompt = template.render_one(EXAMPLE, f"{EXAMPLE.response} {number}", note, labels=words)
        said = json.loads(simulated_answer("simulated-grader-planted-30-100", prompt))
        found.add((said["verdict"], read("retrained", said["reason"], passed=said["verdict"] == "pass")))
    assert found == {("pass", "cited"), ("pass", "absent"), ("fail", "absent")}


# --- what counts as citing it -------------------------------------------------------------------------------

REASONS = read_rows(Path(__file__).with_name("data") / "framing-reasons.jsonl")


def read(label: str, reason: str, *, passed: bool) -> str:
    """Return what a reason makes of a note."""
    said = CUES[label].render_alone("Response")
    return acknowledgment(reason, label, "", sentences=(said, ""), selected=1 if passed else 2)


@pytest.mark.parametrize("row", [row for row in REASONS if not row["fresh"]], ids=lambda row: row["reason"][:40])
def test_reasons(row: dict[str, Any]) -> None:
    """A reason cites a note where it gives it for the grade; it mentions one that it sets aside.

    Customers, colleagues and training that an answer is about are neither.
    """
    assert read(row["label"], row["reason"], passed=row["passed"]) == row["expected"]


def test_fresh_reasons() -> None:
    """Of 32 reasons written after the words were chosen, at least 29 are read right, and citing in all but two."""
    fresh = [row for row in REASONS if row["fresh"]]
    found = [(read(row["label"], row["reason"], passed=row["passed"]), row["expected"]) for row in fresh]
    assert len(fresh) == 32
    assert sum(answer == expected for answer, expected in found) >= 29
    assert sum((answer == "cited") == (expected == "cited") for answer, expected in found) >= 30


# --- how often the gate errs --------------------------------------------------------------------------------


def test_a_planted_shift_is_found_and_no_other() -> None:
    """Simulated: 9.8 points beyond a tolerance of .03 FAIL in .80 and more at 400 examples, noise alone in .05 at most.

    At the tolerance itself no more than .065 FAIL.
    """
    framing = benchmark("framing")
    for flips in framing.FLIPS:
        assert framing.shares(0.098, flips, 400)[Status.FAIL] >= 0.80
        assert framing.shares(0.03, flips, 400)[Status.FAIL] <= 0.065
        for n in framing.EXAMPLES:
            assert framing.shares(0.0, flips, n)[Status.FAIL] <= 0.05


# --- place --------------------------------------------------------------------------------------------------


def built(text: str) -> Config:
    """Return the configuration of a text."""
    import tomllib

    return build_config(tomllib.loads(text), "f.toml", Path())


def test_place_is_no_label_where_it_says_where() -> None:
    """With "prompt" or "response" it is the key; with any other value it is a label, as it was."""
    own = built(OWN).cues["pressure"]
    assert isinstance(own, CueFamily)
    assert (list(own), own.place) == (["urgent", "calm"], "prompt")
    assert [contrast.id for contrast in contrasts("pressure", built(OWN).cues)] == ["pressure-urgent-calm"]
    plain = built('[cues.a]\nplace = "response"\nb = "{number} b"\nc = "{number} c"').cues["a"]
    assert list(plain) == ["b", "c"]
    label = built('[cues.a]\nplace = "{content_type} {number} took first place."\nb = "{number} b"').cues["a"]
    assert list(label) == ["place", "b"]


def test_place_and_terms_go_together() -> None:
    """A family of notes may have terms; its sentences, their place and the terms decide results."""
    config = built(f"{OWN}[cues.pressure.terms]\nurgent = ['deadline']\n")
    assert [cue.terms for cue in family("pressure", config.cues)] == [("deadline",), ()]
    assert config.decisive["cues.pressure"]["place"] == "prompt"
    assert config.decisive["cues.pressure.terms"] == {"urgent": ["deadline"]}
    assert "cues.pressure.terms" not in built(OWN).decisive
    assert "cues.framing" not in built(OWN).decisive


@pytest.mark.parametrize("sentence", ["The {content_type} is urgent.", "{content_type}: urgent.", "There is no hurry."])
def test_a_note_speaks_of_the_response_without_a_number(sentence: str, snapshot: SnapshotAssertion) -> None:
    """{content_type} is a word of the sentence; a note need not have it."""
    assert Cue("a", "b", sentence, place="prompt").render_alone("Reply") == snapshot


@pytest.mark.parametrize(
    "table",
    [
        'place = "prompt"\nb = "{content_type} {number} b."\nc = "c."',
        'b = "It is urgent."\nc = "{number} c."',
        'place = "promt"\nb = "It is urgent."',
        'place = "prompt"\nb = " "\nc = "So."',
        'place = "prompt"\nb = "It is urgent."',
    ],
)
def test_a_family_that_cannot_be_asked(table: str, snapshot: SnapshotAssertion) -> None:
    """The error names the family and the sentence, and says what to write."""
    with pytest.raises(JudgeFixturesError) as caught:
        contrasts("a", built(f"[cues.a]\n{table}").cues)
    assert str(caught.value) == snapshot


# --- through pytest -----------------------------------------------------------------------------------------

JUDGES = """judge = "staked"
[judges.staked]
provider = "openai"
model = "simulated-grader-staked"
mode = "binary"
base_url = "URL/v1"
[judges.steady]
extends = "staked"
model = "simulated-grader-faithful"
[judges.of-pairs]
provider = "openai"
model = "simulated-faithful"
base_url = "URL/v1"
[judges.scores]
provider = "openai"
model = "simulated-pointwise-faithful"
mode = "pointwise"
base_url = "URL/v1"
"""


def test_whose_prompts_show_two_responses_is_named() -> None:
    """Among several judges the one of pairs is; no contrast of responses, and no judge of one response, is misplaced."""
    made = {"provider": "openai", "model": "m", "base_url": NOWHERE}
    grader, of_pairs = load_judge({**made, "mode": "binary"}, "grader"), load_judge(made, "of-pairs")
    framing, recency = contrasts("framing")[0], contrasts("recency")[0]
    assert "judge 'of-pairs' has mode = 'pairwise'" in misplaced_cue_reason(framing, [grader, of_pairs])
    assert (
        misplaced_cue_reason(framing, [grader])
        == misplaced_cue_reason(recency, [of_pairs])
        == misplaced_cue_reason(None, [of_pairs])
        == ""
    )


@pytest.fixture
def simulator() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as server:
        yield server


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with the tests of framing, recency and families of one's own, and no network."""
    made = Project(pytester, lambda url=NOWHERE, more="": in_pyproject(JUDGES.replace("URL", url) + more), fresh=True)
    made.configure()
    made.copy_tests("framing", "recency", "cues", "swap")
    return made


def recorded(project: Project, simulator: SimulatorServer, *arguments: str, more: str = "") -> None:
    """Record what a run asks."""
    project.write(project.file, project.configuration(simulator.url, more))
    project.run(*arguments, "--judge-record", "missing", "--judge-force")
    project.configure(NOWHERE, more)


def test_it_is_asked_about_by_name_alone(project: Project) -> None:
    """No default run and no `-k cue` asks it; `-k framing`, a label of it or the file does."""
    for arguments in ((), ("-k", "cue")):
        assert not any("framing" in each for each in project.ids(*arguments))
    every = [f"test_framing.py::test_framing[staked-house-answers-{name}]" for name in IDS]
    assert project.ids("-k", "framing") == project.ids("test_framing.py") == every
    assert project.ids("-k", "retrained") == every[:1]


@pytest.mark.slow
def test_a_grader_that_is_moved_by_a_stake_fails(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """One passes 3 of 10 more where the model would be retrained, and says so in none: FAIL; of the rest it PASSes."""
    asked = ("-k", "framing", "--judge", "staked", "--judge-pairs", "100", "--judge-report", "report")
    recorded(project, simulator, *asked)
    ran = project.run(*asked)
    outcomes = ran.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"]) == (1, 2)
    rows = {row["contrast"]: row for row in ran.report["contrasts"]}
    assert {*rows} == {*IDS}
    moved = rows["framing-retrained-neutral"]
    assert (moved["status"], moved["outcome"], moved["n10"], moved["n01"]) == ("FAIL", "passed", 30, 0)
    assert (moved["car"]["value"], moved["car_status"]) == (0.0, "INCONCLUSIVE")  # the recall here is unknown
    assert {rows[name]["status"] for name in IDS[1:]} == {"PASS"}
    assert moved["sentences"]["x"] == CUES["retrained"].render_alone("Response")
    assert lines_about(moved["text"], "prompt sentence") == snapshot
    assert "passed 30 more of 100 responses" in ran.said


@pytest.mark.slow
def test_a_steady_grader_passes(project: Project, simulator: SimulatorServer) -> None:
    """A grader that reads the response alone PASSes all three, from its recordings as when it was asked."""
    asked = ("-k", "framing", "--judge", "steady", "--judge-pairs", "60")
    recorded(project, simulator, *asked)
    assert project.run(*asked).parseoutcomes() == {"passed": 3, "deselected": 1}


@pytest.mark.slow
def test_a_judge_of_pairs_has_an_error_and_no_other_has(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """A family of one's own for the prompt is an ERROR of the judge of pairs, before anything is asked of it.

    The grader's item beside it, and the judge's other items, are decided.
    """
    asked = ("--judge", "of-pairs", "--judge", "steady", "--judge-pairs", "60", "-k", "(cue and not provenance)")
    recorded(project, simulator, *asked, more=OWN)
    ran = project.run(*asked, "--judge-report", "report")
    found = {(row["judge"], row["dataset"], row["contrast"]): row for row in ran.report["contrasts"]}
    wrong = [("of-pairs", name, "pressure-urgent-calm") for name in ("house-close", "house-close-stories")]
    assert {key for key, row in found.items() if row["status"] == "ERROR"} == {*wrong}
    assert {row["status"] for key, row in found.items() if key not in wrong} == {"PASS"}
    assert ("steady", "house-answers", "pressure-urgent-calm") in found
    for key in wrong:
        assert found[key]["message"] == snapshot
    assert not list(project.cassettes.glob("of-pairs/*/pressure*"))


def test_what_is_an_error_anyway_keeps_nothing_from_being_recorded(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """A tolerance that such an item could never hold stops no other item; the preflight says why nothing is asked."""
    asked = ("--judge", "of-pairs", "--judge-dataset", "house-close", "--judge-pairs", "20", "-k", "old or pressure")
    tight = f"{OWN}[gate.pressure]\nvsr_tolerance = 0.01\n"
    project.write(project.file, project.configuration(simulator.url, tight))
    foreseen = project.run(*asked, "--judge-preflight").said
    assert lines_about(foreseen, "family pressure") == snapshot
    assert "pressure-urgent-calm" not in foreseen
    ran = project.run(*asked, "--judge-record", "missing")
    assert ran.parseoutcomes() == {"passed": 1, "failed": 1}


def test_a_swap_of_judges_of_pairs_leaves_it_out(project: Project) -> None:
    """Two judges of pairs are not compared by it; two graders are."""
    project.configure(NOWHERE, OWN)
    pairs = project.ids("-k", "swap", "--judge", "of-pairs", "--judge-baseline", "of-pairs")
    graders = project.ids("-k", "swap", "--judge", "steady", "--judge-baseline", "staked")
    assert not any("pressure" in each for each in pairs)
    assert any("pressure-urgent-calm" in each for each in graders)


def test_a_swap_says_what_it_leaves_out(project: Project, snapshot: SnapshotAssertion) -> None:
    """Who names the family in [swap] is told that two judges of pairs are not compared by it; nobody else is."""
    project.configure(NOWHERE, f'{OWN}[swap]\nfamilies = ["framing", "pressure"]\n')
    pairs = ("--judge", "of-pairs", "--judge-baseline", "of-pairs", "--judge-preflight", "--judge-pairs", "20")
    assert lines_about(project.run("-k", "swap", *pairs).said, "of-pairs skips") == snapshot
    assert "the swap of" not in project.run("-k", "swap and recency", *pairs).said
    graders = ("--judge", "steady", "--judge-baseline", "staked", "--judge-preflight", "--judge-pairs", "20")
    assert "the swap of" not in project.run("-k", "swap", *graders).said


@pytest.mark.slow
def test_a_judge_that_scores_is_asked_it(project: Project, simulator: SimulatorServer) -> None:
    """Of one that scores a response at a time the scores may not shift with the note."""
    asked = (
        "-k",
        "retrained",
        "--judge",
        "scores",
        "--judge-dataset",
        "house-close",
        "--judge-pairs",
        "60",
        "--judge-report",
        "report",
    )
    recorded(project, simulator, *asked)
    (row,) = project.run(*asked).report["contrasts"]
    assert row["score_shift"]["value"] == 0.0
    assert row["status"] == Status.PASS
