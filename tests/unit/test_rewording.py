"""Other words for the same prompt: what is asked, what counts as a flip, what is decided of it, and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import norm
from support.asking import table
from support.benchmarks import benchmark
from support.project import Project
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.checks.wording import decide_wording
from judgefixtures.config import WordingTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.excess_flips import excess_flips
from judgefixtures.models.check_rows import ALL, WordingRow
from judgefixtures.models.contrasts import NO_CUE, SingleResponseCondition
from judgefixtures.models.findings import Finding, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.parsing.scores import parse_score
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.prompts.templates import LAYOUTS, WORDINGS, load_template, load_wording
from judgefixtures.simulator.behaviour import simulated_answer
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.statistics.clusters import score_interval, share_interval
from judgefixtures.statistics.estimate import GateResult, Status
from judgefixtures.statistics.gates import gate_excess
from judgefixtures.statistics.proportions import proportion
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

PAIR = Pair("p", "Why is the sky blue?", "Air scatters blue light.", "It reflects the sea.")
OWN = "Which is better? Say 1 or 2.\n{question}\n{response_1}\n{response_2}\n{cue_1}\n{cue_2}"
OTHER = "Choose 1 or 2.\n{question}\n{response_1}\n{response_2}"
EVERY = [(mode, template, label) for mode, each in LAYOUTS.items() for template in each.built_in for label in WORDINGS]


# --- the shipped rewritings -----------------------------------------------------------------------------------


def verdict_key(mode: str, template: str) -> dict[str, str]:
    """Return the keys of a judge with a built-in template."""
    form = next((each for each in LAYOUTS[mode].forms if template.endswith(f"-{each}")), "json")
    form = "brackets" if template.startswith("mt-bench") else form
    return {"mode": mode, "verdict": form, "template": template} | ({"ties": "half"} if "ties" in template else {})


@pytest.mark.parametrize(("mode", "template", "label"), EVERY)
def test_a_shipped_rewriting_asks_the_same_in_other_words(mode: str, template: str, label: str) -> None:
    """It shows what the template shows, in its own slots, for stories too, and is answered in the form that is read."""
    own = load_template(template, mode=mode)
    other = load_wording(label, own)
    for kind in ("Response", "Story"):
        before, after = own.text_for(kind), other.text_for(kind)
        assert before.split() != after.split()
        start = next(mark for mark in ("[Question]", "[Story prompt]", "Question:", "Story prompt:") if mark in before)
        assert before[before.index(start) :] == after[after.index(start) :]  # what is judged stands below as it did
        assert ("story" in after.lower()) == (kind == "Story")
    judge = load_judge(table("openai", NOWHERE, wordings=[label], **verdict_key(mode, template)), "mine")
    (reworded,) = judge.rewordings
    model = {"pairwise": "simulated-faithful", "pointwise": "simulated-pointwise-faithful"}.get(mode, "")
    shown = PAIR if mode == "pairwise" else Example(PAIR.id, PAIR.question, PAIR.response_1)
    condition = NO_CUE if mode == "pairwise" else SingleResponseCondition()
    if mode == "pointwise":
        scale, prompt = judge.kind.scale, reworded.template.render_one(shown, PAIR.response_1, scale="1 to 10")
        assert scale is not None
        said = simulated_answer(model, prompt)
        assert parse_score(said, judge.table.notation, scale).invalid is None
        return
    said = simulated_answer(model or "simulated-grader-faithful", reworded.prompt(shown, condition))
    if mode == "binary":
        assert parse_grade(said, judge.table.verdict, None, None).invalid is None
    else:
        assert parse_verdict(said, judge.table.notation).invalid is None


def test_a_wording_is_a_judge_of_its_own() -> None:
    """`wordings` are no part of the identity; each is the judge in all but its template, its name and its recordings."""
    plain, worded = (load_judge(table("openai", NOWHERE, **more), "mine") for more in ({}, {"wordings": [*WORDINGS]}))
    assert plain.identity == worded.identity
    assert plain.rewordings == ()
    assert [each.name for each in worded.rewordings] == ["mine~terse", "mine~reordered"]
    for each in worded.rewordings:
        assert each.identity["template"]["name"] == f"silent-judge.{each.name.partition('~')[2]}"
        assert {**each.identity, "template": None} == {**worded.identity, "template": None}
        assert each.rate_limiter is worded.rate_limiter
        assert each.paced_as == "mine"
        assert each.rewordings == ()
    assert len({each.identity["template"]["digest"] for each in (worded, *worded.rewordings)}) == 3


def test_the_name_of_a_field_is_in_every_wording() -> None:
    """A grade_field of the judge's is what its rewritings ask for, too."""
    judge = load_judge(table("openai", NOWHERE, mode="binary", grade_field="passes", wordings=["terse"]), "mine")
    assert '"passes":' in judge.rewordings[0].template.text


# --- what is refused --------------------------------------------------------------------------------------------


def refusal(folder: Path, judge: str, wording: str = OTHER, own: str = OWN) -> str:
    """Return why a configuration with a file of another wording is refused."""
    (folder / "own.txt").write_text(own)
    (folder / "other.txt").write_text(wording)
    file = folder / "judges.toml"
    file.write_text(f'[judges.mine]\nprovider = "openai"\nmodel = "m"\n{judge}\n')
    with pytest.raises(JudgeFixturesError) as caught, Run.from_config(file) as run:
        run.judge("mine")
    assert "[judges.mine]" in str(caught.value)
    return str(caught.value)


REFUSED = {
    "a name that there is not": ('wordings = ["ters"]', {}, "there is no wording 'ters': did you mean \"terse\"?"),
    "a file that there is not": ('wordings = ["none.txt"]', {}, "cannot be read"),
    "a slot that lacks": (
        'wordings = ["other.txt"]',
        {"wording": "Choose.\n{question}\n{response_1}"},
        "lacks {response_2}: add this",
    ),
    "the same text": (
        'template = "own.txt"\nwordings = ["other.txt"]',
        {"wording": OWN.replace("\n{question}", "\n\n{question}\n")},
        "has the same text as the judge's template",
    ),
    "a column less": (
        'template = "own.txt"\nwordings = ["other.txt"]',
        {"own": f"{{reference}}\n{OWN}"},
        "lacks {reference}, which",
    ),
    "a column more": (
        'template = "own.txt"\nwordings = ["other.txt"]',
        {"wording": f"{{reference}}\n{OTHER}"},
        "has {reference}, which",
    ),
    "a column that is the answer": ('wordings = ["other.txt"]', {"wording": f"{{gold}}\n{OTHER}"}, "is not a slot"),
    "one of another mode": (
        'wordings = ["other.txt"]',
        {"wording": "Good?\n{question}\n{response}"},
        "the judge has mode = 'pairwise'",
    ),
    "a shipped one of one's own template": (
        'template = "own.txt"\nwordings = ["terse"]',
        {},
        "own.txt is your own: write",
    ),
    "two of one name": ('wordings = ["terse", "terse"]', {}, "'terse' names two wordings"),
    "a name of a file that is no folder": ('wordings = ["other words.txt"]', {}, "cannot name recordings"),
    "the name of all of them": ('wordings = ["all.txt"]', {}, "rename the file"),
    "none": ("wordings = []", {}, "wordings"),
    "plans that are written anew": (
        'strategy = "plan-self"\nwordings = ["terse"]',
        {},
        'Remove wordings, or set strategy = "direct" or "plan-heuristic"',
    ),
}


@pytest.mark.parametrize(("judge", "texts", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_wording_is_refused(tmp_path: Path, judge: str, texts: dict[str, str], why: str) -> None:
    """Whatever is wrong with a wording is said when the configuration is read: what, of which judge, and what to do."""
    assert why in refusal(tmp_path, judge, **texts)


def test_ci_reads_no_wording_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """In CI a file of another wording lies in the repository, as the template does, or in a folder that is allowed."""
    (tmp_path / "other.txt").write_text(OTHER)
    (tmp_path / "ours" / ".git").mkdir(parents=True)
    file = tmp_path / "ours" / "judges.toml"
    text = '[judges.mine]\nprovider = "openai"\nmodel = "m"\nwordings = ["../other.txt"]\n'
    file.write_text(text)
    monkeypatch.setenv("CI", "true")
    with Run.from_config(file) as run, pytest.raises(JudgeFixturesError) as error:
        run.judge("mine")
    assert str(error.value) == snapshot
    file.write_text(f'{text}[security]\nallow_outside = [".."]\n')
    with Run.from_config(file) as run:
        assert [each.name for each in run.judge("mine").rewordings] == ["mine~other"]


def test_nobody_asks_an_imported_judge_in_other_words(tmp_path: Path) -> None:
    """An imported judge takes no wordings; a function of one's own gets the prompt, and does."""
    file = tmp_path / "judges.toml"
    file.write_text('[judges.mine]\nprovider = "imported"\nwordings = ["terse"]\n')
    with pytest.raises(JudgeFixturesError, match="wordings"):
        Run.from_config(file)
    judge = load_judge({"provider": "python", "target": "somewhere:function", "wordings": ["terse"]}, "mine")
    assert [each.name for each in judge.rewordings] == ["mine~terse"]


def test_another_template_takes_no_wordings_over(tmp_path: Path) -> None:
    """`extends` hands wordings on, unless the table has a template of its own: they are rewritings of the other one."""
    (tmp_path / "own.txt").write_text(OWN)
    file = tmp_path / "judges.toml"
    file.write_text(
        '[judges.a]\nprovider = "openai"\nmodel = "m"\nwordings = ["terse"]\n[judges.b]\nextends = "a"\nmodel = "n"\n'
        '[judges.c]\nextends = "a"\ntemplate = "own.txt"\n'
    )
    with Run.from_config(file) as run:
        assert [len(run.judge(name).rewordings) for name in "abc"] == [1, 1, 0]


# --- what is measured -------------------------------------------------------------------------------------------


def arm(said: Sequence[int | None], repeat: int = 0) -> list[Judgment]:
    """Return judgments that chose these responses: 0 is a tie, None an invalid answer."""

    def verdict(selected: int | None) -> Verdict:
        if selected is None:
            return Verdict(None, "", "malformed")
        return Verdict(selected or None, "So.", tie=selected == 0)  # type: ignore[arg-type]

    return [
        Judgment(Pair(f"p{number}", "Why?", "So.", "No."), NO_CUE, JudgeReply(verdict(each)), repeat)
        for number, each in enumerate(said)
    ]


def test_excess_is_what_flips_beyond_the_repeats() -> None:
    """Per pair the mean of the flips of all wordings less the flip of a repeat, then the mean over pairs; ties half."""
    own, again = arm([1, 1, 1, 2, 1]), arm([1, 2, 1, 2, 1], 1)
    every, *each = excess_flips(own, again, {"a": arm([2, 1, 1, 2, 0]), "b": arm([2, 2, 1, 1, 1])})
    assert [found.wording for found in (every, *each)] == [ALL, "a", "b"]
    assert list(every.excess.values()) == [1.0, -0.5, 0.0, 0.5, 0.25]
    assert every.excess_flips is not None
    assert every.flip_rate is not None
    assert every.repeat_flip_rate is not None
    assert every.net_shift is not None
    assert (every.flip_rate.value, every.repeat_flip_rate.value) == (pytest.approx(2.25 / 5), pytest.approx(0.2))
    assert every.excess_flips.value == pytest.approx(1.25 / 5)
    assert every.net_shift.value == pytest.approx((-1 - 0.5 + 0 + 0.5 - 0.25) / 5)
    assert [found.excess_flips.value for found in each if found.excess_flips] == pytest.approx([0.1, 0.4])


def test_an_invalid_answer_may_have_gone_any_way(snapshot: SnapshotAssertion) -> None:
    """It is out of the estimate, counted, and between the least and the most that the excess may be."""
    every, _ = excess_flips(arm([1, 1, None]), arm([1, 1, 1], 1), {"a": arm([None, 2, 1])})
    assert (every.n, every.invalid, every.excess) == (1, 2, {"p1": 1.0})
    assert (every.least, every.most) == ((0.0, 1.0, 0.0), (1.0, 1.0, 0.0))
    nothing, _ = excess_flips(arm([None]), arm([None], 1), {"a": arm([None])})
    assert (nothing.n, nothing.excess_flips) == (0, None)
    with pytest.raises(ValueError) as error:
        excess_flips(arm([1]), arm([1]), {})
    assert str(error.value) == snapshot


def test_a_share_is_wilsons(snapshot: SnapshotAssertion) -> None:
    """Of shares of 0 and 1 the interval is Wilson's; of others it lies within 0 and 1; errors name the share."""
    found, wilson = share_interval([1.0] * 9 + [0.0] * 31), proportion(9, 40)
    assert (found.value, found.low, found.high) == pytest.approx((wilson.value, wilson.low, wilson.high), abs=1e-6)
    assert 0 <= share_interval([0.5, 0.25]).low < share_interval([0.5, 0.25]).high <= 1
    for wrong in (1.5, -0.5):
        with pytest.raises(ValueError) as error:
            share_interval([0.0, wrong])
        assert str(error.value) == snapshot


def test_related_pairs_count_as_such_in_every_number() -> None:
    """Where pairs share a cluster all four intervals go by clusters, and so do the labels that a gate is given."""
    own, again, other = arm([1] * 24), arm([1, 1, 2, 1] * 6, 1), arm([2, 2, 2, 1] * 6)
    labels = [number // 4 for number in range(24)]
    runs = [_clustered(judgments, labels) for judgments in (own, again, other)]
    (found, _) = excess_flips(runs[0], runs[1], {"a": runs[2]})
    flips, repeats = [1.0, 1.0, 1.0, 0.0] * 6, [0.0, 0.0, 1.0, 0.0] * 6
    excess = [flip - repeat for flip, repeat in zip(flips, repeats, strict=True)]
    assert found.flip_rate == share_interval(flips, clusters=labels) != share_interval(flips)
    assert found.repeat_flip_rate == share_interval(repeats, clusters=labels) != share_interval(repeats)
    assert found.excess_flips == score_interval(excess, clusters=labels) != score_interval(excess)
    assert found.net_shift == score_interval([-flip for flip in flips], clusters=labels)
    assert len(set(found.labels or ())) == len(set(found.all_labels or ())) == 6


def _clustered(judgments: Sequence[Judgment], labels: Sequence[int]) -> list[Judgment]:
    return [
        replace(judgment, pair=replace(judgment.pair, cluster=f"c{label}"))
        for judgment, label in zip(judgments, labels, strict=True)
    ]


# --- what is decided --------------------------------------------------------------------------------------------


def decided_of(
    own: Sequence[int | None],
    again: Sequence[int | None],
    other: Sequence[int | None],
    labels: Sequence[int] | None = None,
) -> WordingRow:
    """Return what is decided of two runs of a judge's own words and one of others."""
    runs = [arm(own), arm(again, 1), arm(other)]
    if labels is not None:
        runs = [_clustered(each, labels) for each in runs]
    (found, _) = excess_flips(runs[0], runs[1], {"a": runs[2]})
    named = dict(zip(("own", "again", "other"), runs, strict=True))
    row, part = decide_wording(replace(found, judge="j", dataset="d", message="so"), named, WordingTable(), "examples")
    assert (row.status, row.message) == (part.status, part.reason)
    return row


def test_invalid_answers_undo_what_they_could_have_changed(snapshot: SnapshotAssertion) -> None:
    """A PASS and a FAIL hold whatever a few invalid answers would have been, or are INCONCLUSIVE and say so."""
    steady = [1] * 30
    assert decided_of(steady, steady, steady).status == Status.PASS
    assert decided_of(steady, steady, [None, *steady[1:]]).status == Status.INCONCLUSIVE
    assert decided_of([1] * 200, [1] * 200, [None, *[1] * 199]).status == Status.PASS
    for flipped, status in ((10, Status.FAIL), (6, Status.INCONCLUSIVE)):  # at worst these 4 of 34 did not flip
        found = decided_of([1] * 34, [1] * 34, [2] * flipped + [1] * (30 - flipped) + [None] * 4)
        assert found.status == status, found.message
    undone = decided_of([1] * 34, [1] * 34, [2] * 6 + [1] * 24 + [None] * 4)
    assert lines_about(undone.message, "invalid answers") == snapshot


def test_a_gate_of_related_pairs_counts_clusters() -> None:
    """Four clusters decide nothing, however many pairs are in them; as pairs by themselves they would pass."""
    steady, labels = [1] * 80, [number // 20 for number in range(80)]
    assert decided_of(steady, steady, steady).status == Status.PASS
    assert decided_of(steady, steady, steady, labels).status == Status.INCONCLUSIVE
    steady, thirty = [1] * 180, [number // 6 for number in range(180)]
    unread = [*[None] * 6, *[1] * 174]
    assert decided_of(steady, steady, steady, thirty).status == Status.PASS
    assert decided_of(steady, steady, unread).status == Status.PASS
    assert decided_of(steady, steady, unread, thirty).status == Status.INCONCLUSIVE, "at worst a whole cluster flips"


def test_a_run_that_nobody_reads_is_an_error() -> None:
    """Too many invalid answers in any of the runs are an ERROR that names it; of related ones fewer clusters count."""
    steady, unread = [1] * 40, [None] * 10 + [1] * 30
    for place, name in enumerate(("own", "again", "other")):
        found = decided_of(*(unread if place == each else steady for each in range(3)))
        assert found.status == Status.ERROR
        assert f"10 of 40 answers {name} are invalid" in found.message
    assert decided_of(steady, steady, unread, [number // 10 for number in range(40)]).status != Status.ERROR


def test_what_would_settle_it_is_said_of_what_is_asked_about() -> None:
    """Of single responses the advice counts examples, and as many as it names do settle it in most runs."""
    found = decided_of([1] * 60, [1] * 60, [2] * 3 + [1] * 57)
    assert (found.status, f"about {found.needed_pairs} examples" in found.message) == (Status.INCONCLUSIVE, True)
    few, many = gate_excess([1.0] * 6 + [0.0] * 54, 0.15), gate_excess([1.0] * 12 + [0.0] * 48, 0.15)
    assert few.needed_pairs == many.needed_pairs == math.ceil(60 * ((norm.ppf(0.95) + norm.ppf(0.8)) / z_of(few)) ** 2)
    related = gate_excess([1.0, *[0.0] * 39], 0.10, clusters=[number // 10 for number in range(40)])
    assert related.needed_pairs is None, "too few clusters decide nothing, and no number of such pairs would"


def z_of(found: GateResult) -> float:
    """Return how many standard errors a PASS is away from the tolerance."""
    return float(norm.isf(found.p_pass))


def test_the_gate_has_one_side() -> None:
    """A judge that flips less with other words than from run to run passes; one in between is told how many it takes."""
    assert gate_excess([-1.0, 0.0] * 30, 0.10).status is Status.PASS
    between = gate_excess([1.0] * 6 + [0.0] * 54, 0.15)
    assert (between.status, between.needed_pairs is not None) == (Status.INCONCLUSIVE, True)
    assert "use about" in between.message
    few = gate_excess([0.0] * 40, 0.10, clusters=[number // 10 for number in range(40)])
    assert few.status is Status.INCONCLUSIVE
    assert "4 clusters are too few" in few.message
    assert (few.p_pass, few.p_fail, few.needed_pairs) == (1.0, 1.0, None)
    with pytest.raises(ValueError, match="tolerance"):
        gate_excess([0.0], 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("flips", [0.02, 0.05, 0.10, 0.20])
def test_noise_is_no_wording(flips: float) -> None:
    """A judge that words do not move FAILs in at most .05, however much it flips by itself."""
    for pairs in (60, 200):
        assert benchmark("wording").decisions(pairs, flips, 0.0, 400, alike=True)[1] <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("alike", [True, False])
def test_twenty_points_are_found(alike: bool) -> None:
    """Of 20 points in excess 200 pairs and three wordings make a FAIL in at least .80; noise of 5% is allowed for."""
    for flips in (0.0, 0.05):
        assert benchmark("wording").decisions(200, flips, 0.20, 400, alike=alike)[1] >= 0.80


# --- through pytest ---------------------------------------------------------------------------------------------


def configuration(url: str, pairs: int = 60) -> str:
    """Return a configuration with judges that go by the words of their prompt, and others that do not."""
    return f"""
pairs = {pairs}
[judges.calm]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}"
wordings = ["terse", "reordered", "strict.txt"]
[judges.worded]
extends = "calm"
model = "simulated-worded"
[judges.calm-grader]
provider = "openai"
model = "simulated-grader-faithful"
base_url = "{url}"
mode = "binary"
wordings = ["terse", "reordered"]
[judges.worded-grader]
extends = "calm-grader"
model = "simulated-grader-worded"
[judges.points]
provider = "openai"
model = "simulated-pointwise-faithful"
base_url = "{url}"
mode = "pointwise"
wordings = ["terse"]
[judges.marked]
extends = "points"
pass_mark = 6
[judges.without]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}"
"""


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: SimulatorServer) -> Project:
    """A repository with the shipped test of wordings."""
    options = ("-p", "no:cacheprovider", "--judge-config", "judges.toml")
    project = Project(pytester, configuration, file="judges.toml", options=options, rough=True)
    project.copy_tests("wording")
    project.write(
        "strict.txt",
        'Pick one, as JSON: {"selected_response": 1}\nQuestion:\n{question}\n'
        "Response 1:\n{response_1}\nResponse 2:\n{response_2}",
    )
    project.configure(f"{server.url}/v1")
    return project


def asked(*judges: str) -> list[str]:
    """Return the options that select judges."""
    return [word for judge in judges for word in ("--judge", judge)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "dataset", "status", "calls"),
    [
        ("calm", "house-close", "PASS", 60 * 8),
        ("worded", "house-close", "FAIL", 60 * 8),
        ("calm-grader", "house-answers", "PASS", 60 * 6),
        ("worded-grader", "house-answers", "FAIL", 60 * 6),
        ("points", "house-close", "PASS", 60 * 2 * 4),
        ("marked", "house-answers", "PASS", 60 * 4),
    ],
)
def test_a_recorded_judge_is_found_out(
    project: Project,
    server: SimulatorServer,
    judge: str,
    dataset: str,
    status: str,
    calls: int,
    snapshot: SnapshotAssertion,
) -> None:
    """One that words move FAILs, one that they do not PASSes at 60; every wording is asked twice, and replays."""
    chosen = [*asked(judge), "--judge-dataset", dataset]
    before = project.run(*chosen, "--judge-preflight")
    assert f"{judge}~terse: at most {240 if judge == 'points' else 120} calls" in before.said
    recorded = project.run(*chosen, "--judge-record", "missing", "--judge-report", "report")
    assert server.requests == calls
    rows = recorded.report["wordings"]
    assert rows[0]["wording"] == "all"
    assert (rows[0]["status"], rows[0]["n"], rows[0]["tolerance"]) == (status, 60, 0.1)
    assert {row["runs"] for row in rows} == {2}
    assert {row["status"] for row in rows[1:]} <= ({"PASS"} if status == "PASS" else {"FAIL", "INCONCLUSIVE"})
    assert (rows[0]["excess_flips"]["value"] > 0.2) == (status == "FAIL")
    assert rows[0]["repeat_flip_rate"]["value"] == 0
    assert lines_about(recorded.said, "The wordings") == snapshot
    project.configure("http://127.0.0.1:9/v1")
    kept = (project.path / "report" / "judgments.jsonl").read_bytes()
    for workers in ([], ["-n", "2"]):
        again = project.run(*chosen, "--judge-report", "report", *workers)
        assert again.report["wordings"] == rows
        assert (project.path / "report" / "judgments.jsonl").read_bytes() == kept
    assert server.requests == calls


def test_no_other_judge_has_an_item(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge without wordings makes no item, and a run that names them says so in a line."""
    assert project.ids(*asked("without", "calm"), "--judge-dataset", "house-close") == [
        "test_wording.py::test_wording[calm-house-close-wording]"
    ]
    ran = project.run(*asked("without"), "-k", "wording", "--judge-dataset", "house-close")
    assert lines_about(ran.said, "wordings = ") == snapshot


def test_nothing_but_scores_is_not_applicable(project: Project, snapshot: SnapshotAssertion) -> None:
    """Of a judge that scores examples without a mark nothing can flip: the item says so, and nothing is asked."""
    ran = project.run(*asked("points"), "--judge-dataset", "house-answers", "--judge-record", "missing", "-rs")
    assert ran.parseoutcomes() == {"skipped": 1}
    assert lines_about(ran.said, "scores on house-answers") == snapshot


def test_the_tolerance_is_a_key_of_its_own(snapshot: SnapshotAssertion) -> None:
    """wording_tolerance stands in [gate.wording] alone; a report's settings have it where it is not as usual."""
    assert "gate.wording" not in build_config({}).decisive
    set_apart = build_config({"gate": {"confidence": 0.8, "wording": {"wording_tolerance": 0.2}}})
    assert set_apart.decisive["gate.wording"] == {"wording_tolerance": 0.2}
    assert set_apart.gate("wording").confidence == 0.8
    with pytest.raises(JudgeFixturesError) as error:
        build_config({"gate": {"wording_tolerance": 0.2}})
    assert str(error.value) == snapshot


@pytest.mark.slow
def test_batches_bring_the_wordings_too(project: Project, server: SimulatorServer) -> None:
    """--judge-batch posts the judge's own questions and those of every wording at once, and collects all of them."""
    project.configure(f"{server.url}/v1", pairs=30)
    chosen = [*asked("worded-grader"), "--judge-record", "missing", "--judge-batch"]
    sent = project.run(*chosen)
    for name in ("worded-grader", "worded-grader~terse", "worded-grader~reordered"):
        assert f"sent: {name}: " in sent.said
    collected = project.run(*chosen, "--judge-report", "report")
    assert collected.report["wordings"][0]["status"] == "FAIL"


def wording_of_code(folder: Path, body: str, wordings: str = '["terse"]') -> Finding:
    """Return what is found of a judge that code makes, which is asked about 26 pairs, in its wordings."""
    pairs = [{"id": f"p{n}", "question": f"Question {n}?", "response_1": "So.", "response_2": "No."} for n in range(26)]
    (folder / "own.jsonl").write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs))
    (folder / f"{folder.name}.py").write_text(f"import json\n\n\ndef judge(prompt):\n{body}")
    file = folder / "judges.toml"
    file.write_text(
        'control = false\n[datasets.own]\npath = "own.jsonl"\n[judges.mine]\nprovider = "python"\n'
        f'target = "{folder.name}:judge"\nwordings = {wordings}\n'
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        with Run.from_config(file, record="missing") as run:
            return run.gate("wording", judge="mine", dataset="own")


def test_one_invalid_answer_may_undo_a_pass(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """What 25 pairs without a flip would pass is INCONCLUSIVE where one of them might have flipped, and says so."""
    found = wording_of_code(
        tmp_path,
        "    unread = prompt.startswith('Which') and 'Question 7?' in prompt\n"
        "    return 'neither' if unread else json.dumps({'selected_response': 1, 'reason': 'So.'})\n",
    )
    assert found.status is Status.INCONCLUSIVE
    assert lines_about(found.text, "invalid answers") == snapshot


def test_the_pairs_that_flip_most_are_named(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """What to look at comes first: the pairs that most wordings flip, and none that does not flip."""
    found = wording_of_code(
        tmp_path,
        "    terse, reordered = prompt.startswith('Which'), prompt.startswith('Your')\n"
        "    flipped = (terse and 'Question 7?' in prompt) or ((terse or reordered) and 'Question 3?' in prompt)\n"
        "    return json.dumps({'selected_response': 2 if flipped else 1, 'reason': 'So.'})\n",
        '["terse", "reordered"]',
    )
    assert found.diagnosis[-1].strip() == snapshot
    shifts = {row.wording: row.net_shift and round(26 * row.net_shift.value, 1) for row in rows_of([found], WordingRow)}
    assert shifts == {"all": -1.5, "terse": -2, "reordered": -1}


def test_answers_that_nobody_reads_are_an_error(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where a wording demonstrably brings invalid answers the item is an ERROR that names it, and no FAIL."""
    (tmp_path / "words.py").write_text(
        "import json\n\n\ndef judge(prompt):\n"
        "    return 'neither' if prompt.startswith('Which') else json.dumps({'selected_response': 1, 'reason': 'So.'})\n"
    )
    file = tmp_path / "judges.toml"
    file.write_text(
        'control = false\npairs = 30\n[judges.mine]\nprovider = "python"\ntarget = "words:judge"\n'
        'wordings = ["terse", "reordered"]\n'
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(tmp_path))
        with Run.from_config(file, record="missing") as run:
            found = run.gate("wording", judge="mine", dataset="house-close")
    assert found.status is Status.ERROR
    assert lines_about(found.text, "wording terse") == snapshot
    assert [part.name for part in found.decided_by] == ["invalid"]


def test_what_cannot_pass_is_not_paid_for(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """With too few pairs for the tolerance nothing is asked, and the message says how many are needed."""
    file = tmp_path / "judges.toml"
    file.write_text(
        'control = false\npairs = 20\n[judges.mine]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"'
        '\nwordings = ["terse"]\n'
    )
    with Run.from_config(file, record="missing") as run:
        found = run.gate("wording", judge="mine", dataset="house-close")
    assert found.status is Status.ERROR
    assert lines_about(found.text, "wording_tolerance") == snapshot


@pytest.mark.slow
def test_two_reports_are_compared(project: Project, server: SimulatorServer, snapshot: SnapshotAssertion) -> None:
    """`report compare` sets the excess of two reports against each other, pair by pair."""
    project.configure(f"{server.url}/v1", pairs=30)
    for folder, model in (("old", "simulated-grader-faithful"), ("new", "simulated-grader-worded")):
        text = configuration(f"{server.url}/v1", pairs=30).replace("simulated-grader-faithful", model)
        project.write("judges.toml", f"control = false\n{text}")
        project.run(*asked("calm-grader"), "--judge-record", "all", "--judge-report", folder)
    done = project.pytester.run("python", "-m", "judgefixtures", "report", "compare", "old", "new")  # type: ignore[union-attr]
    assert lines_about(done.stdout.str(), "excess flips") == snapshot
    assert "same" in done.stdout.str()
    assert done.ret == 1
    rows = json.loads((project.path / "new" / "report.json").read_text())["wordings"]
    assert rows[0]["n"] == 30
    fewer = (project.path / "judges.toml").read_text().replace('["terse", "reordered"]', '["terse"]')
    project.write("judges.toml", fewer)
    project.run(*asked("calm-grader"), "--judge-report", "fewer")
    done = project.pytester.run("python", "-m", "judgefixtures", "report", "compare", "new", "fewer")  # type: ignore[union-attr]
    assert '[judges.calm-grader] wordings was ["terse", "reordered"], is ["terse"]' in done.stdout.str()
