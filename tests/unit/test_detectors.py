"""A model that reads reasons beside the offline detector: its question, its answer, its recordings, and the range."""

import json
import re

import pytest
from support.project import Project
from support.rendered import lines_about
from support.server import NOWHERE, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.detector_agreement import combine_detectors, describe_detector_agreement, detector_row
from judgefixtures.config import GateTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.metrics.llm_detector import (
    DETECTING_MARK,
    DetectorClient,
    DetectorReadings,
    detecting_prompt,
    detector_condition,
    parse_reading,
)
from judgefixtures.models.check_rows import DetectorRow
from judgefixtures.models.contrasts import as_single_response, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

NEW_OLD = contrasts("recency")[0]
ALONE = as_single_response(NEW_OLD)
SILENT, OPEN, HINTED = "It is clearer.", "It was written recently, which decides it.", "Its ink is barely dry."


def judged(condition, selected, reason, number=0):
    return Judgment(Pair(f"p{number}", "Which?", "One.", "Two."), condition, JudgeReply(Verdict(selected, reason)))


# --- the question and the answer ---------------------------------------------------------------------------


def test_the_question_has_all_that_the_answer_depends_on(snapshot: SnapshotAssertion):
    """It holds both cues as the judge read them, the choice and the reason, whatever braces that has."""
    prompt = detecting_prompt(judged(NEW_OLD.x, 2, "It is {cue_1} {better}."))
    assert prompt.startswith(DETECTING_MARK)
    assert lines_about(prompt, "written recently", "was written") == snapshot
    assert "It chose Response 2 and gave" in prompt
    assert "[Start of Reason]\nIt is {cue_1} {better}.\n[End of Reason]" in prompt


def test_a_tie_is_called_one(snapshot: SnapshotAssertion):
    """A verdict that is a tie chose neither."""
    tie = Judgment(Pair("p", "Which?", "One.", "Two."), NEW_OLD.x, JudgeReply(Verdict(None, "Equal.", tie=True)))
    assert lines_about(detecting_prompt(tie), "It called") == snapshot


@pytest.mark.parametrize(
    ("selected", "graded"),
    [(1, "It passed the response"), (2, "It failed the response"), (None, "It scored the response")],
)
def test_of_a_response_shown_alone_the_question_has_its_one_cue_and_its_grade(
    selected, graded, snapshot: SnapshotAssertion
):
    """The cue stands as the judge read it, without a number, and nothing speaks of a second response or a choice."""
    told = Judgment(
        Example("e", "Which?", "One."),
        ALONE.y,
        JudgeReply(Verdict(selected, "It is {cue} {better}.", tie=selected is None)),
    )
    prompt = detecting_prompt(told)
    assert prompt.startswith(DETECTING_MARK)
    assert lines_about(prompt, "The response") == snapshot
    assert f"{graded} and gave" in prompt
    assert "[Start of Reason]\nIt is {cue} {better}.\n[End of Reason]" in prompt
    assert not re.search("two responses|Response [12]|nothing about|chose", prompt)


@pytest.mark.parametrize(
    ("text", "said", "invalid"),
    [
        ('{"acknowledgment": "cited", "reason": "expert"}', "cited", None),
        ('```json\n{"acknowledgment": "Mentioned"}\n```', "mentioned", None),
        ("<think>cited?</think>{'acknowledgment': 'absent', 'reason': ''}", "absent", None),
        ('{"acknowledgment": "yes"}', None, "not-a-choice"),
        ('{"acknowledgment": "cited"} {"acknowledgment": "absent"}', None, "conflict"),
        ("It is cited.", None, "no-json"),
        ("", None, "empty"),
    ],
)
def test_an_answer_is_read_and_never_guessed(text, said, invalid):
    """One of the three words under its key, with the repairs of a verdict's syntax; anything else is invalid."""
    assert (parse_reading(text)[0], parse_reading(text)[2]) == (said, invalid)


def test_a_reader_is_its_judge_in_what_changes_an_answer():
    """Its identity has model, temperature and prompt, and nothing of the verdicts that the judge is asked for."""
    judge = load_judge({"provider": "openai", "model": "m", "temperature": 0.3, "logprobs": True, "ties": "half"})
    identity = DetectorClient("reader", judge.table, judge.rate_limiter, []).identity
    assert (identity["model"], identity["parameters"]["temperature"]) == ("m", 0.3)
    assert identity["parameters"]["response_format"] == "none"
    assert set(identity) == {"provider", "model", "parameters", "detector"}


def test_the_two_questions_have_a_digest_each():
    """What is recorded of reasons about pairs is not recorded anew where the question about one response changes."""
    judge = load_judge({"provider": "openai", "model": "m"})
    alone = Judgment(Example("e", "Which?", "One."), ALONE.x, JudgeReply(Verdict(1, OPEN)))
    digests = [
        DetectorClient("reader", judge.table, judge.rate_limiter, [told]).identity["detector"]["digest"]
        for told in (judged(NEW_OLD.x, 1, OPEN), alone)
    ]
    assert digests[0] == "9cbea912be2cf486"
    assert digests[1] != digests[0]


def test_equal_reasons_are_asked_about_once():
    """Pairs with one question between them have one answer, that of the first by id."""
    told = [judged(NEW_OLD.x, 1, reason, number) for number, reason in enumerate([OPEN, SILENT, OPEN])]
    judge = load_judge({"provider": "openai", "model": "m"})
    reader = DetectorClient("reader", judge.table, judge.rate_limiter, told[::-1])
    assert [reader.stands_for(judgment.pair) for judgment in told] == ["p0", "p1", "p0"]


def test_names_of_conditions():
    """A condition that is read has a name of its own, which a file can have."""
    assert detector_condition(NEW_OLD.x, "reader").name == "detected-by-reader-recency-new-old"
    assert len(detector_condition(NEW_OLD.x, "r" * 250).name) < 60
    assert detector_condition(ALONE.x, "reader").name == "detected-by-reader-recency-new"


def test_the_detector_is_a_judge(snapshot: SnapshotAssertion):
    """A name that no judge has is an error that says which there are."""
    with pytest.raises(JudgeFixturesError) as error:
        build_config({"detector": {"judge": "nobody"}})
    assert str(error.value) == snapshot
    assert build_config({"detector": {"judge": "gpt-4o"}}).detector.judge == "gpt-4o"
    assert build_config({}).detector.judge is None


# --- two detectors -----------------------------------------------------------------------------------------


def hinting(n=40):
    """Return both arms of pairs that all move, with a reason that the offline detector does not see the cue in."""
    return [
        [judged(condition, selected, HINTED, number) for number in range(n)]
        for condition, selected in ((NEW_OLD.x, 1), (NEW_OLD.y, 2))
    ]


def told_by(arms, said):
    return DetectorReadings("reader", {(each.condition.name, 0, each.pair.id): said for arm in arms for each in arm})


def test_car_is_a_range_over_both_detectors():
    """The row has both values and how far their intervals reach, and how far the two agree."""
    arms = hinting()
    model = told_by(arms, "cited")
    ours, theirs = measure_contrast(*arms), measure_contrast(*arms, read_reason=model)
    row = detector_row(model, arms, ours, theirs, 0.05).to_json()
    assert row["car_range"]["values"] == [0, 1]
    assert (row["car_range"]["low"], row["car_range"]["high"]) == (0, 1)
    assert (row["agreement"]["value"], row["agreement"]["n"], row["invalid"]) == (0, 80, 0)
    assert row["answers"]["absent"] == {"absent": 0, "mentioned": 0, "cited": 80}
    assert detector_row(None, arms, ours, None, 0.05) is None


def test_an_answer_that_cannot_be_read_is_not_cited_and_counted(snapshot: SnapshotAssertion):
    """What the model did not say counts as not cited in its CAR, and is no agreement."""
    arms = hinting()
    model = told_by(arms, None)
    row = detector_row(model, arms, measure_contrast(*arms), measure_contrast(*arms, read_reason=model), 0.05).to_json()
    assert (row["car"]["value"], row["agreement"], row["invalid"]) == (0, None, 80)
    assert (row["car_range"], row["car_all_range"]) == (None, None)  # nothing was measured that one could range over
    assert lines_about(describe_detector_agreement(DetectorRow.from_json(row)), "decides nothing") == snapshot


def test_where_detectors_disagree_nothing_is_decided(snapshot: SnapshotAssertion):
    """CAR is FAIL by one and PASS by the other: INCONCLUSIVE, and the reason has both; where they agree it stands."""
    arms, gate = hinting(), GateTable()
    ours, theirs = measure_contrast(*arms), measure_contrast(*arms, read_reason=told_by(arms, "cited"))
    assert decide_contrast(ours, gate).car_status is Status.FAIL
    both = decide_contrast(ours, gate, ("reader", theirs))
    assert both.car_status is Status.INCONCLUSIVE
    assert lines_about(both.message, "detector reader") == snapshot
    assert decide_contrast(ours, gate, ("reader", ours)).car_status is Status.FAIL
    assert combine_detectors("reader", (Status.NOT_APPLICABLE, ""), (Status.NOT_APPLICABLE, "")) == (
        Status.NOT_APPLICABLE,
        "",
    )


# --- through the plugin ------------------------------------------------------------------------------------

N = 6


def configuration(url=NOWHERE, detector='judge = "reader"', grader=""):
    return f"""\
[tool.judgefixtures]
judge = "mine"
[tool.judgefixtures.judges.mine]
provider = "openai"
model = "m"
base_url = "{url}/v1"
max_attempts = 1
{grader}
[tool.judgefixtures.judges.reader]
provider = "google"
model = "m"
base_url = "{url}"
[tool.judgefixtures.detector]
{detector}
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
balance_positions = false
[tool.judgefixtures.gate]
vsr_tolerance = 0.45
"""


def answering(asked):
    """Answer as a judge that follows the newer response, and as a reader that sees that in one reason of two."""
    if asked.prompt.startswith(DETECTING_MARK):
        number = int(re.search(r"thing (\d+)", asked.prompt)[1])
        return asked.answered(json.dumps({"acknowledgment": "cited" if number % 2 else "absent", "reason": ""}))
    number = re.search(r"thing (\d+)", asked.prompt)[1]
    first = "Response 1 was written recently" in asked.prompt
    return asked.answered(
        json.dumps({"selected_response": 1 if first else 2, "reason": f"It explains thing {number}."})
    )


@pytest.fixture
def project(pytester):
    project = Project(pytester, configuration)
    project.write_pairs(
        {
            "id": f"p{number}",
            "question": f"Why does thing {number} happen?",
            "response_1": f"A{number}.",
            "response_2": f"B{number}.",
        }
        for number in range(N)
    )
    project.copy_tests("recency")
    return project


def test_the_preflight_says_how_many_reasons_are_read(project, snapshot: SnapshotAssertion):
    """Before anything is asked it is known how many further calls there are at most."""
    project.configure()
    ran = project.run("--judge-preflight", "-k", "recency")
    assert lines_about(str(ran.stdout), "further calls") == snapshot


def test_ci_sends_no_key_of_the_detector_elsewhere(project, monkeypatch):
    """Recording in CI refuses a detector whose key would go to an address that nobody allowed it for."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("READER_KEY", "secret-of-the-reader")
    text = configuration().replace('provider = "google"', 'provider = "google"\napi_key_env = "READER_KEY"')
    project.write("pyproject.toml", text.replace("[tool.judgefixtures]\n", "[tool.judgefixtures]\ncontrol = false\n"))
    ran = project.run(*RUN, "--judge-record", "missing")
    assert ran.ret != 0
    assert "[tool.judgefixtures.judges.reader] would send the variable READER_KEY" in f"{ran.stdout}{ran.stderr}"


RUN = ("--judge-report", "report", "-k", "recency")


def test_readings_are_recorded_among_the_judges_and_replayed(project):
    """The reader is asked once per reason, recorded beside the judge's own answers, and a replay asks nobody."""
    with serving(by=answering) as server:
        project.configure(server.url)
        project.run(*RUN, "--judge-record", "missing", "--judge-force")
        assert len(server.prompts(DETECTING_MARK)) == 2 * N
    first = (project.path / "report" / "report.json").read_bytes()
    folder = project.cassettes / "mine" / "own"
    assert {file.name for file in folder.glob("detected*")} == {
        "detected-by-reader-recency-new-old.jsonl",
        "detected-by-reader-recency-old-new.jsonl",
    }
    assert not (project.cassettes / "reader").exists()
    project.configure()
    ran = project.run(*RUN)
    assert (project.path / "report" / "report.json").read_bytes() == first
    (row,) = project.report()["contrasts"]
    assert (row["car"]["value"], row["detector"]["car"]["value"]) == (0, 0.5)
    assert row["detector"]["car_range"]["values"] == [0, 0.5]
    assert (row["detector"]["agreement"]["value"], row["detector"]["agreement"]["n"]) == (0.5, 2 * N)
    assert "CAR 0.00 to 0.50" in str(ran.stdout)
    assert row["detector"]["identity"]["detector"]["digest"]
    assert list(project.report()["judges"]) == ["mine"]  # the reader judged nothing


def test_a_detector_whose_answers_cannot_be_read_decides_nothing(project, snapshot: SnapshotAssertion):
    """Its CAR of 0 is no measurement: the contrast is decided as without it, and the summary says why."""

    def mumbling(asked):
        return asked.answered("dunno") if asked.prompt.startswith(DETECTING_MARK) else answering(asked)

    with serving(by=mumbling) as server:
        project.configure(server.url)
        ran = project.run(*RUN, "--judge-record", "missing", "--judge-force")
    (row,) = project.report()["contrasts"]
    assert row["detector"]["car_range"] is None
    assert "by the detector" not in row["message"]
    assert lines_about(str(ran.stdout), "decides nothing") == snapshot


def test_a_replay_needs_the_readings(project):
    """Without recordings of the reader the item is an ERROR with the command that makes them."""
    with serving(by=answering) as server:
        project.configure(server.url, detector="")
        project.run(*RUN, "--judge-record", "missing", "--judge-force")
        assert not server.prompts(DETECTING_MARK)
    project.configure()
    ran = project.run(*RUN)
    (row,) = project.report()["contrasts"]
    assert row["status"] == "ERROR"
    assert "detected-by-reader-recency-new-old" in row["message"]
    assert "--judge mine" in row["message"]
    assert ran.ret != 0


def test_readings_of_another_judges_reasons_are_not_offered(project):
    """They were made by the same detector, and say nothing of this judge: no advice to rename their folder."""
    with serving(by=answering) as server:
        project.configure(server.url)
        project.run(*RUN, "--judge-record", "missing", "--judge-force")
        (project.cassettes / "mine").rename(project.cassettes / "other")
        project.configure(server.url, detector="")
        project.run(*RUN, "--judge-record", "missing", "--judge-force")
    project.configure()
    project.run(*RUN)
    (row,) = project.report()["contrasts"]
    assert row["status"] == "ERROR"
    assert "rename" not in row["message"]


def grading(asked):
    """Answer as a grader that passes what is new, or scores it higher, and as a reader that sees it in every other."""
    if asked.prompt.startswith(DETECTING_MARK):
        return answering(asked)
    number = re.search(r"thing (\d+)", asked.prompt)[1]
    new = "The response was written recently" in asked.prompt
    said = {"score": 8 if new else 4} if "score" in asked.prompt else {"verdict": "pass" if new else "fail"}
    return asked.answered(json.dumps(said | {"reason": f"It explains thing {number}."}))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ['mode = "binary"', 'mode = "pointwise"\npass_mark = 7'])
def test_a_model_reads_the_reasons_of_a_grader_too(project, mode):
    """It is asked once per reason of either arm, and CAR is a range as it is of judges of pairs."""
    project.write_pairs(
        {"id": f"e{number}", "question": f"Why does thing {number} happen?", "response": f"A{number}."}
        for number in range(N)
    )
    with serving(by=grading) as server:
        project.configure(server.url, grader=mode)
        project.run(*RUN, "--judge-record", "missing", "--judge-force")
        asked = server.prompts(DETECTING_MARK)
    first = (project.path / "report" / "report.json").read_bytes()
    assert len(asked) == 2 * N
    assert sum("It passed the" in prompt for prompt in asked) == N
    project.configure(grader=mode)
    project.run(*RUN)
    assert (project.path / "report" / "report.json").read_bytes() == first
    (row,) = project.report()["contrasts"]
    assert (row["car"]["value"], row["detector"]["car"]["value"]) == (0, 0.5)
