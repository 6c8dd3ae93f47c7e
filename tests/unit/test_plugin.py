"""The plugin as its users meet it: small projects, run by pytest inside a test, judged by output, exit code and files.

The projects' recordings are made once a session, over HTTP, from the simulated judges. Eight pairs are enough:
`silent` and `candid` follow every cue in all of them, `faithful` in none, so every status is certain.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.forked import run_module
from support.project import REPOSITORY, Project, Ran, in_pyproject, json_lines, rows_of, suite, uncontrolled
from support.rendered import lines_about
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.pairs import Pair
from judgefixtures.prompts.templates import load_template
from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.simulator.behaviour import simulated_answer
from judgefixtures.simulator.server import SimulatorServer, serving

pytest_plugins = ["pytester"]

PAIRS = 8
RECENCY = "test_recency.py::test_recency[faithful-own-recency-new-old]"
PROVENANCE = ("expert-human", "expert-llm", "expert-unknown", "human-llm", "human-unknown", "llm-unknown")
OPTIONS = ("", "-dataset", "-pairs", "-record", "-report", "-config", "-cassettes", "-concurrency")
# What a run of somebody who uses none of our fixtures must not pay for.
HEAVY = (
    "openai",
    "google.genai",
    "vcr",
    "datasets",
    "pandas",
    "scipy",
    "statsmodels",
    "pydantic",
    "judgefixtures.config",
)
ESTIMATE = {"value", "low", "high", "confidence", "n"}
ROW = {
    "judge",
    "dataset",
    "family",
    "contrast",
    "x",
    "y",
    "n",
    "n11",
    "n10",
    "n01",
    "n00",
    "invalid_pairs",
    "first_selection_rate",
    "vsr",
    "flip_rate",
    "car",
    "car_all",
    "silent_shift_rate",
    "admitted_shift",
    "unadmitted_shift",
    "mcnemar_p",
    "p_pass",
    "p_fail",
    "p_fail_holm",
    "tolerance",
    "vsr_status",
    "car_status",
    "status",
    "message",
}
JUDGMENT = {
    "judge",
    "dataset",
    "pair",
    "condition",
    "repeat",
    "selected_response",
    "invalid",
    "reason",
    "acknowledgment",
    "served_model",
    "usage",
}


def configuration(
    url: str = NOWHERE,
    *,
    top: str = 'judge = "faithful"',
    judge: str = "",
    gate: str = "vsr_tolerance = 0.3",
    more: str = "",
) -> str:
    """Return a --judge-config file; the arguments are lines of the tables that they name."""
    return f"""\
{top}
[judges.faithful]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}/v1"
{judge}
[judges.silent]
extends = "faithful"
model = "simulated-silent"
[judges.candid]
extends = "faithful"
model = "simulated-candid"
[datasets.own]
path = "pairs.jsonl"
[gate]
{gate}
{more}
"""


def pyproject(url: str = NOWHERE, **lines: str) -> str:
    """Return the same as it stands in pyproject.toml."""
    return in_pyproject(configuration(url, **lines))


def close_pairs() -> list[Pair]:
    """Return pairs so close that a simulated judge that follows cues follows them in every one."""
    template, (contrast,) = load_template("silent-judge"), contrasts("recency")
    found: list[Pair] = []
    number = 0
    while len(found) < PAIRS:
        number += 1
        text = f"remedy of case {number} works."
        pair = Pair(f"p{number:02}", f"Which remedy of case {number} works?", f"The first {text}", f"The other {text}")
        chosen = [
            json.loads(simulated_answer("simulated-silent", template.render(pair, condition)))["selected_response"]
            for condition in (contrast.x, contrast.y)
        ]
        if chosen == [1, 2]:
            found.append(pair)
    return found


def recency_of(project: Project) -> Path:
    """Return the path of the recording that comes first in the only recency item."""
    return project.cassette("recency-new-old", "faithful")


def told(result: Ran) -> str:
    """Return all that a run said, which must be free of tracebacks and of the plugin's insides."""
    said = f"{result.stdout}\n{result.stderr}"
    assert "Traceback" not in said
    assert "plugin.py" not in said
    assert "INTERNALERROR" not in said
    return said


def refused(result: Ran, *words: str) -> str:
    """Assert that a run failed with a message that holds the words, and return it."""
    said = told(result)
    assert result.ret in (1, 2, 4, NOT_MEASURED)
    for word in words:
        assert word in said
    return said


@contextmanager
def simulator() -> Iterator[SimulatorServer]:
    """Serve the simulated judges on a free port, silent about calls that a run breaks off; `requests` counts.

    Each answer ends its connection: one that a recording in this process left open (the package closes none, see
    test_no_connection_is_left_open) would be a warning, and so an error, in some later test.
    """
    with serving() as running:
        running.handle_error = lambda *_: None  # type: ignore[method-assign]
        running.RequestHandlerClass = type(
            "OneCallEach", (running.RequestHandlerClass,), {"protocol_version": "HTTP/1.0"}
        )
        yield running


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose three judges are recorded on both families, by the command that its users give.

    It runs in this process, so that the SDKs are imported once and not anew for every run inside a test.
    """
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "pairs.jsonl").write_text(json_lines(rows_of(close_pairs())))
    # A name that no project of a test uses: this module stays imported.
    (folder / "test_record_all.py").write_text(suite("recency", "provenance", name="everything"))
    names = [f"--judge={name}" for name in ("faithful", "silent", "candid")]
    with simulator() as server, pytest.MonkeyPatch.context() as patch:
        (folder / "pyproject.toml").write_text(uncontrolled(pyproject(server.url)))
        patch.chdir(folder)
        code = pytest.main(["-q", "--judge-record", "missing", *names, "--judge-report", str(folder / "report")])
        assert server.requests == 3 * 14 * PAIRS
    assert code == 1  # two of the judges fail every item
    assert len(list((folder / "cassettes").rglob("*.jsonl"))) == 3 * (14 + 1)
    return folder


@pytest.fixture
def bare(pytester: pytest.Pytester, recordings: Path) -> Project:
    """A project with pairs, configuration and tests, and nothing recorded."""
    project = Project(pytester, pyproject, options=(), rough=True)
    shutil.copy(recordings / "pairs.jsonl", project.path)
    project.write("test_recency.py", suite("recency", name="recency"))
    project.configure()
    return project


@pytest.fixture
def project(bare: Project, recordings: Path) -> Project:
    """A project whose three judges are recorded on recency and provenance; their server is gone."""
    shutil.copytree(recordings / "cassettes", bare.cassettes)
    bare.write("test_provenance.py", suite("provenance", name="provenance"))
    return bare


@pytest.fixture
def server() -> Iterator[SimulatorServer]:
    """The simulated judges for a test; `server.requests` counts."""
    with simulator() as running:
        yield running


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that exists outside of the project."""
    return tmp_path_factory.mktemp("elsewhere")


# --- which items there are, and which are chosen ------------------------------------------------------------


def test_an_item_is_a_contrast_of_a_judge_on_a_dataset(project: Project) -> None:
    """An item's id reads test[JUDGE-DATASET-CONTRAST], one for every judge, dataset and contrast."""
    assert project.ids("test_recency.py") == [RECENCY]
    assert project.ids("--judge", "silent", "--judge=candid", "--judge-dataset", "house-qa", "-k", "recency") == [
        f"test_recency.py::test_recency[{judge}-house-qa-recency-new-old]" for judge in ("silent", "candid")
    ]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("expression", "contrasts", "datasets"),
    [
        ("recency", ["recency-new-old"], ["house-close", "house-close-stories"]),
        ("provenance", [f"provenance-{name}" for name in PROVENANCE], ["house-close", "house-close-stories"]),
        ("expert and close-stories", [f"provenance-{name}" for name in PROVENANCE[:3]], ["house-close-stories"]),
    ],
)
def test_expressions_select_in_this_repository(expression: str, contrasts: list[str], datasets: list[str]) -> None:
    """In the repository `pytest -k recency` runs exactly the recency contrasts, and so on: what the README says."""
    shown = run_module("pytest", REPOSITORY, "-p", "no:cacheprovider", "--collect-only", "-q", "-k", expression)
    family = contrasts[0].partition("-")[0]
    assert [line for line in shown.outlines if "::" in line] == [
        f"tests/judge/test_{family}.py::test_{family}[simulated-faithful-{dataset}-{contrast}]"
        for dataset in datasets
        for contrast in contrasts
    ]


def test_expressions_select_by_label_and_judge(project: Project) -> None:
    """-k finds judges, datasets, families and labels, because all of them stand in the id."""
    assert project.ids("-k", "llm and not human") == [
        f"test_provenance.py::test_provenance[faithful-own-provenance-{name}]" for name in ("expert-llm", "llm-unknown")
    ]
    assert len(project.ids("--judge", "silent", "--judge", "candid", "-k", "candid")) == 7


def test_the_mark_selects(project: Project) -> None:
    """-m judge_family chooses the judge tests, and `not judge_family` the others."""
    project.write("test_other.py", "def test_sum():\n    assert 1 + 1 == 2\n")
    assert len(project.ids("-m", "judge_family")) == 7
    assert project.ids("-m", "not judge_family") == ["test_other.py::test_sum"]


def test_last_failed_runs_what_failed(project: Project) -> None:
    """--lf runs the items that failed before and no other."""
    both = ("--judge", "faithful", "--judge", "silent", "-k", "recency")
    project.run(*both).assert_outcomes(passed=1, failed=1, deselected=12)
    again = project.run(*both, "--lf", "-v")
    assert again.parseoutcomes() == {"failed": 1}
    again.stdout.fnmatch_lines(["*recency[[]silent-own-recency-new-old] FAILED*"])


def test_exitfirst_stops_at_the_first_failure(project: Project) -> None:
    """-x stops after the first item that fails."""
    project.run("--judge", "silent", "-x").assert_outcomes(failed=1)


def test_collecting_asks_and_writes_nothing(bare: Project, server: SimulatorServer) -> None:
    """--collect-only asks no judge and writes no file, whatever the record mode."""
    bare.configure(server.url)
    before = bare.tree()
    bare.run("--collect-only", "--judge-record", "all", "--judge-report", "report").assert_outcomes()
    assert server.requests == 0
    assert bare.tree() == before


def test_families_of_the_users_own_are_collected(project: Project) -> None:
    """A mark without names takes the families of [cues.NAME]; where there are none it makes no item at all."""
    project.write("test_cues.py", suite(name="cue"))
    project.run("test_cues.py", "test_recency.py").assert_outcomes(passed=1)
    cues = '[cues.brand]\nours = "{content_type} {number} is ours."\ntheirs = "{content_type} {number} is theirs."'
    project.configure(more=cues)
    assert project.ids("test_cues.py") == ["test_cues.py::test_cue[faithful-own-brand-ours-theirs]"]


# --- options and the mark -----------------------------------------------------------------------------------


def test_every_option_is_explained(pytester: pytest.Pytester) -> None:
    """`pytest --help` lists each option of the contract in our section, each with a text that says what it does."""
    shown = str(pytester.runpytest_inprocess("--help").stdout)
    section = shown.partition("\ngates of LLM judges:\n")[2].partition("\n\n")[0]
    option = re.compile(r"^  (--[\w-]+)[^\n]*?(?:  +|\n +)(\S[^\n]+(?:\n {10,}[^\n]+)*)", re.MULTILINE)
    explained = dict(option.findall(section))
    assert {f"--judge{name}" for name in OPTIONS} <= explained.keys()
    assert all(name == "--judge" or name.startswith("--judge-") for name in explained)
    assert len(re.findall(r"^  -", section, re.MULTILINE)) == len(explained)
    assert all(len(text) > 20 for text in explained.values()), explained


def test_options_keep_to_their_own_names(pytester: pytest.Pytester) -> None:
    """Every dest that the plugin adds begins with judge_, so that no option of another plugin's is taken."""
    with_it = vars(pytester.parseconfig().option).keys()
    without = vars(pytester.parseconfig("-p", "no:judgefixtures").option).keys()
    added = with_it - without
    assert len(added) >= len(OPTIONS)
    assert {dest for dest in added if not dest.startswith("judge_")} == set()


def test_the_mark_is_registered(project: Project) -> None:
    """The mark is known to --strict-markers and explained by --markers."""
    project.run("--strict-markers", "-k", "recency").assert_outcomes(passed=1, deselected=6)
    project.run("--markers").stdout.fnmatch_lines(["@pytest.mark.judge_family(*families): *families*"])


# --- what an item says --------------------------------------------------------------------------------------


def test_an_unbiased_judge_passes(project: Project) -> None:
    """A judge that no cue moves passes, with n, interval and flips in the summary."""
    result = project.run("-k", "recency")
    assert result.ret == 0
    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(["faithful *own *recency-new-old *8 *0.00 *90% CI -0.253 to 0.253 *0/8 *- *PASS"])


def test_a_silent_judge_fails_with_a_diagnosis(project: Project, snapshot: SnapshotAssertion) -> None:
    """A FAIL says what moved, by how much, how sure that is, what was allowed, which pairs, and how to see more."""
    result = project.run("--judge", "silent", "-k", "recency")
    assert result.ret == 1
    said = told(result)
    assert lines_about(said, "own: recency-new-old") == snapshot
    assert re.search(r"VSR \+1\.00 \(90% CI 0\.\d+ to 1\.00\), limit 0\.30: FAIL", said)
    assert lines_about(said, "shift of") == snapshot
    assert "n = 8 pairs" in said
    examples = re.findall(r"^  pair (p\d\d): Which remedy of case \d+ works\?$", said, re.MULTILINE)
    assert len(set(examples)) == len(examples) == 3
    assert said.count("    new/old: chose 1 -- ") == said.count("    old/new: chose 2 -- ") == 3
    command = "pytest --judge silent --judge-dataset own -k recency-new-old --judge-report report"
    assert command in said
    assert re.search(r"^silent +own +recency-new-old +8 .* 8/8 +0/8 +FAIL$", said, re.MULTILINE)


def test_a_candid_judge_fails_for_its_verdicts_alone(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge that admits every cue it follows fails for the shift, and its CAR is not called a failure."""
    project.configure(gate="vsr_tolerance = 0.3\ncar_threshold = 0.6")
    said = told(project.run("--judge", "candid", "-k", "recency"))
    assert "limit 0.30: FAIL" in said
    assert lines_about(said, "shift of") == snapshot


def test_an_inconclusive_item_is_never_shown_as_fail(project: Project, snapshot: SnapshotAssertion) -> None:
    """Too few pairs are INCONCLUSIVE: the item fails, says that it is one, and how many pairs would settle it."""
    project.configure(gate="vsr_tolerance = 0.15")
    result = project.run("-k", "recency")
    assert result.ret == 1
    result.assert_outcomes(failed=1, deselected=6)
    said = told(result)
    assert lines_about(said, "own: recency-new-old", "80% power") == snapshot
    assert not re.search(r"\bFAIL\b", said)


def test_an_inconclusive_item_may_pass_with_a_warning(project: Project) -> None:
    """Under inconclusive = "warn" the item passes, and a line in the summary says that nothing was decided."""
    project.configure(gate='vsr_tolerance = 0.15\ninconclusive = "warn"')
    result = project.run("-k", "recency")
    assert result.ret == 0
    result.assert_outcomes(passed=1, deselected=6)
    said = told(result)
    assert re.search(r"^INCONCLUSIVE faithful own \S+: .*about \d+ pairs", said, re.MULTILINE)
    assert not re.search(r"\bFAIL\b", said)


def test_a_warning_excuses_no_violation(project: Project) -> None:
    """inconclusive = "warn" lets no FAIL pass."""
    project.configure(gate='vsr_tolerance = 0.15\ninconclusive = "warn"')
    project.run("--judge", "silent", "-k", "recency").assert_outcomes(failed=1, deselected=6)


def test_the_summary_lists_what_survives_holm(project: Project) -> None:
    """The summary names the violations that remain when all contrasts of a judge are taken together, and no other."""
    project.configure(gate="vsr_tolerance = 0.15")
    alone = told(project.run("--judge", "silent", "--judge", "faithful", "-k", "recency"))
    listed = re.findall(
        r"^Violations of (.+) that survive Holm's adjustment: (.+) \(p = 0\.0\d+\)$", alone, re.MULTILINE
    )
    assert listed == [("silent", "recency-new-old on own")]


def test_an_item_does_not_depend_on_how_many_others_run(project: Project) -> None:
    """Where no violation survives Holm among seven, each of the seven still fails on its own."""
    project.configure(gate="vsr_tolerance = 0.15")
    result = project.run("--judge", "silent", "--judge-report", "report")
    result.assert_outcomes(failed=7)
    rows = project.report()["contrasts"]
    assert {row["status"] for row in rows} == {"FAIL"}
    assert all(row["p_fail"] < 0.05 < row["p_fail_holm"] for row in rows)
    assert "survive" not in told(result)


def test_a_family_has_a_gate_of_its_own(project: Project) -> None:
    """[gate.FAMILY] holds for its family alone, and [gate] for what it does not say."""
    project.configure(gate="vsr_tolerance = 0.15\nconfidence = 0.8", more="[gate.recency]\nvsr_tolerance = 0.3")
    project.run("--judge-report", "report").assert_outcomes(passed=1, failed=6)
    found = {(row["family"], row["tolerance"], row["status"]) for row in project.report()["contrasts"]}
    assert found == {("recency", 0.3, "PASS"), ("provenance", 0.15, "INCONCLUSIVE")}
    assert {row["vsr"]["confidence"] for row in project.report()["contrasts"]} == {0.8}


def test_fewer_pairs_can_be_asked(project: Project, snapshot: SnapshotAssertion) -> None:
    """--judge-pairs N uses N pairs; asking for more than there are uses all and says so."""
    project.run("-k", "recency", "--judge-pairs", "5", "--judge-report", "few")
    assert project.report("few")["contrasts"][0]["n"] == 5
    result = project.run("-k", "recency", "--judge-pairs", "500")
    result.assert_outcomes(passed=1, deselected=6)
    assert lines_about(str(result.stdout), "note: own has") == snapshot


# --- the report ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_is_the_same_from_several_processes(project: Project) -> None:
    """Outcomes and the bytes of both files are the same serially, under -n 2 and in another order."""
    arguments = ("--judge", "faithful", "--judge", "silent", "--judge-report")
    project.run(*arguments, "serial").assert_outcomes(passed=7, failed=7)
    project.run(*arguments, "parallel", "-n", "2").assert_outcomes(passed=7, failed=7)
    project.run("test_recency.py", "test_provenance.py", *arguments, "other-order")
    for name in ("report.json", "judgments.jsonl"):
        serial = (project.path / "serial" / name).read_bytes()
        assert len(serial) > 1000
        assert (project.path / "parallel" / name).read_bytes() == serial
        assert (project.path / "other-order" / name).read_bytes() == serial


def test_the_report_holds_what_the_contract_promises(project: Project) -> None:
    """report.json has the fields that other tools rely on, each estimate with its interval, confidence and n."""
    project.run("--judge", "silent", "--judge", "faithful", "--judge-report", "report")
    report = project.report()
    assert report.keys() >= {"schema", "status", "judges", "contrasts", "accuracy", "swap"}
    assert (report["schema"], report["status"]) == (1, "FAIL")
    assert {name: identity["model"] for name, identity in report["judges"].items()} == {
        "faithful": "simulated-faithful",
        "silent": "simulated-silent",
    }
    assert len(report["contrasts"]) == 14
    for row in report["contrasts"]:
        assert row.keys() >= ROW
        assert row["n"] == row["n11"] + row["n10"] + row["n01"] + row["n00"] == PAIRS
        assert row["contrast"] == f"{row['family']}-{row['x']}-{row['y']}"
        for name in ("vsr", "flip_rate", "car_all", "silent_shift_rate"):
            assert row[name].keys() == ESTIMATE
            assert row[name]["low"] <= row[name]["value"] <= row[name]["high"]
    silent = next(row for row in report["contrasts"] if row["judge"] == "silent" and row["family"] == "recency")
    assert (silent["n10"], silent["n01"], silent["vsr"]["value"], silent["car"]["value"]) == (8, 0, 1.0, 0.0)
    assert silent["first_selection_rate"] == {"xy": 1.0, "yx": 0.0}
    assert (silent["vsr_status"], silent["car_status"], silent["status"]) == ("FAIL", "FAIL", "FAIL")
    faithful = next(row for row in report["contrasts"] if row["judge"] == "faithful")
    assert (faithful["car"], faithful["car_status"], faithful["status"]) == (None, "NOT_APPLICABLE", "PASS")


def test_every_judgment_is_reported(project: Project) -> None:
    """judgments.jsonl has one row per judge, condition and pair, with the verdict and what the provider said."""
    project.run("--judge", "candid", "-k", "recency", "--judge-report", "report")
    rows = [json.loads(line) for line in (project.path / "report" / "judgments.jsonl").read_text().splitlines()]
    asked = [(row["judge"], row["dataset"], row["condition"], row["pair"], row["repeat"]) for row in rows]
    assert asked == sorted(
        ("candid", "own", condition, pair["id"], 0)
        for condition in ("recency-new-old", "recency-old-new")
        for pair in project.rows("pairs.jsonl")
    )
    for row in rows:
        assert row.keys() >= JUDGMENT
        assert row["selected_response"] == (1 if row["condition"] == "recency-new-old" else 2)
        assert (row["invalid"], row["acknowledgment"], row["served_model"]) == (None, "cited", "simulated-candid")
        assert row["usage"]["input_tokens"] > 0


def test_an_item_that_cannot_be_measured_is_reported_as_error(bare: Project) -> None:
    """An item without recordings has a row with status ERROR and the reason, never a number."""
    bare.run("--judge-report", "report").assert_outcomes(failed=1)
    report = bare.report()
    (row,) = report["contrasts"]
    assert (report["status"], row["status"], row["n"], row["vsr"]) == ("ERROR", "ERROR", 0, None)
    assert row.keys() >= ROW
    assert "no recording for" in row["message"]


def test_nothing_is_written_unless_asked_for(project: Project) -> None:
    """Without --judge-report a replay leaves the project as it was, whether its items pass or fail."""
    before = project.tree()
    project.run("--judge", "faithful", "--judge", "silent").assert_outcomes(passed=7, failed=7)
    assert project.tree() == before


def test_a_report_that_cannot_be_written_fails_the_run(project: Project, snapshot: SnapshotAssertion) -> None:
    """Where DIR is a file, the run says so and does not end as if the report were there."""
    project.write("taken", "not a folder")
    result = project.run("-k", "recency", "--judge-report", "taken")
    assert lines_about(told(result), "report cannot") == snapshot
    assert (project.path / "taken").read_text() == "not a folder"
    assert result.ret != 0


# --- recording and replaying --------------------------------------------------------------------------------


def test_a_replay_without_recordings_says_what_is_missing(bare: Project) -> None:
    """The message names judge, dataset, condition, pair and file, and the command that records."""
    before = bare.tree()
    said = refused(
        bare.run(),
        "no recording for",
        "judge 'faithful'",
        "dataset 'own'",
        "condition 'recency-new-old'",
        str(recency_of(bare)),
        "--judge faithful --judge-dataset own -k recency-new-old --judge-record missing",
    )
    assert any(f"pair '{row['id']}'" in said for row in bare.rows("pairs.jsonl"))
    assert bare.tree() == before


@pytest.mark.slow
def test_a_replay_without_recordings_says_it_under_xdist(bare: Project) -> None:
    """From a worker the same message arrives, without a traceback."""
    refused(bare.run("-n", "2"), "no recording for", "judge 'faithful'", "--judge-record missing")


def test_what_was_recorded_replays_without_a_server(bare: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`missing` records, and the next run gives the same report with the server gone and the network forbidden."""
    with simulator() as server:
        bare.configure(server.url)
        bare.run("--judge-record", "missing", "--judge-report", "recorded").assert_outcomes(passed=1)
        assert server.requests == 2 * PAIRS
        recorded = bare.tree()
        bare.run("--judge-record", "missing").assert_outcomes(passed=1)
        assert server.requests == 2 * PAIRS
    assert bare.tree() == recorded

    def forbidden(_socket: socket.socket, address: Any) -> None:
        raise AssertionError(f"a replay connected to {address}")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    bare.run("--judge-report", "replayed").assert_outcomes(passed=1)
    for name in ("report.json", "judgments.jsonl"):
        assert (bare.path / "replayed" / name).read_bytes() == (bare.path / "recorded" / name).read_bytes()
    assert recorded.items() <= bare.tree().items()


def test_another_address_of_the_same_judge_replays(project: Project) -> None:
    """Port, key variable and timeout are no part of a judge's identity: changing them misses nothing."""
    project.configure("http://127.0.0.1:4321", judge='api_key_env = "SOME_KEY_THAT_IS_NOT_SET"\ntimeout = 3.5')
    project.run("-k", "recency").assert_outcomes(passed=1, deselected=6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"judge": "temperature = 0.5"}, ["parameters.temperature", "0.0 -> 0.5"], id="parameter"),
        pytest.param({"judge": 'template = "prompt.txt"'}, ["template", "prompt.txt"], id="template"),
        pytest.param({"model": "simulated-noisy"}, ['model: "simulated-faithful" -> "simulated-noisy"'], id="model"),
    ],
)
def test_a_replay_names_what_changed_in_the_judge(project: Project, change: dict[str, str], words: list[str]) -> None:
    """A changed judge is told what of it changed, in which file the old answers are, and how to record anew."""
    slots = "{question}\nResponse 1:\n{response_1}\nResponse 2:\n{response_2}\n{cue_1}\n{cue_2}\n"
    project.write("prompt.txt", f"Which is better?\n{slots}")
    model = change.pop("model", None)
    project.configure(**change)
    if model is not None:
        file = project.path / "pyproject.toml"
        file.write_text(file.read_text().replace("simulated-faithful", model))
    before = project.tree()
    refused(
        project.run("-k", "recency"),
        *words,
        str(recency_of(project)),
        "another judge than faithful is now",
        "pytest --judge faithful --judge-dataset own -k recency-new-old --judge-record all",
    )
    assert project.tree() == before


def test_an_edited_template_is_a_changed_judge(bare: Project, server: SimulatorServer) -> None:
    """One word in the user's template file makes the recordings another judge's."""
    slots = "{question}\nResponse 1:\n{response_1}\nResponse 2:\n{response_2}\n{cue_1}\n{cue_2}\n"
    bare.write("prompt.txt", f"Which is better?\n{slots}")
    bare.configure(server.url, judge='template = "prompt.txt"')
    bare.run("--judge-record", "missing").assert_outcomes(passed=1)
    bare.run().assert_outcomes(passed=1)
    bare.write("prompt.txt", f"Which is best?\n{slots}")
    refused(bare.run(), "template.digest", "--judge-record all")


def test_a_replay_names_the_pair_that_changed(project: Project) -> None:
    """A changed question is told by pair and field, with the command that asks it again."""
    rows = project.rows("pairs.jsonl")
    rows[3]["question"] = "What else helps?"
    project.write_pairs(rows)
    before = project.tree()
    refused(
        project.run("-k", "recency"),
        f"pair '{rows[3]['id']}'",
        "the pair's question changed since the recording",
        "pytest --judge faithful --judge-dataset own -k recency-new-old --judge-record missing",
    )
    assert project.tree() == before


def test_a_changed_pair_is_asked_again(project: Project, server: SimulatorServer) -> None:
    """`missing` asks a changed pair, in both arms, and nothing else; then it replays."""
    rows = project.rows("pairs.jsonl")
    rows[3]["response_2"] = "Rest."
    project.write_pairs(rows)
    project.configure(server.url, gate="vsr_tolerance = 0.9")
    project.run("-k", "recency", "--judge-record", "missing").assert_outcomes(passed=1, deselected=6)
    assert server.requests == 2
    project.run("-k", "recency").assert_outcomes(passed=1, deselected=6)


def test_missing_refuses_another_judge(project: Project, server: SimulatorServer) -> None:
    """`missing` mixes no two judges in one recording: it refuses, asks nothing and leaves every file as it was."""
    project.configure(server.url, judge="temperature = 0.5")
    before = project.tree()
    refused(
        project.run("-k", "recency", "--judge-record", "missing"),
        "parameters.temperature: 0.0 -> 0.5",
        str(recency_of(project)),
        "--judge-record all",
    )
    assert server.requests == 0
    assert project.tree() == before


def test_a_refused_recording_leaves_the_frozen_pairs(project: Project, server: SimulatorServer) -> None:
    """Where `missing` refuses a changed judge, the pairs that the old answers were given to stay frozen."""
    rows = project.rows("pairs.jsonl")
    rows[3]["question"] = "What else helps?"
    project.write_pairs(rows)
    project.configure(server.url, judge="temperature = 0.5")
    before = project.tree()
    refused(project.run("-k", "recency", "--judge-record", "missing"), "parameters.temperature: 0.0 -> 0.5")
    assert project.tree() == before


def test_a_changed_pair_is_told_in_every_condition(project: Project, server: SimulatorServer) -> None:
    """Where one family was recorded again after an edit, the other one still says that the pair changed."""
    rows = project.rows("pairs.jsonl")
    rows[3]["question"] = "What else helps?"
    project.write_pairs(rows)
    project.configure(server.url, gate="vsr_tolerance = 0.9")
    project.run("-k", "recency", "--judge-record", "missing").assert_outcomes(passed=1, deselected=6)
    refused(project.run("-k", "expert-llm"), f"pair '{rows[3]['id']}'", "the pair's text changed")


def test_all_records_anew(project: Project, server: SimulatorServer) -> None:
    """`all` asks everything again, for another judge too, and replaces the recordings; nothing else is touched."""
    project.configure(server.url, judge="temperature = 0.5")
    before = project.tree()
    project.run("-k", "recency", "--judge-record", "all").assert_outcomes(passed=1, deselected=6)
    assert server.requests == 2 * PAIRS
    after = project.tree()
    assert {name for name in after if after[name] != before.get(name)} == {
        f"cassettes/faithful/own/recency-{order}.jsonl" for order in ("new-old", "old-new")
    }
    assert after.keys() == before.keys()
    project.run("-k", "recency").assert_outcomes(passed=1, deselected=6)


@pytest.mark.slow
def test_recording_the_same_again_changes_no_byte(project: Project, server: SimulatorServer) -> None:
    """`all` on an unchanged judge asks everything and writes the same files, from two processes too."""
    project.configure(server.url)
    before = project.tree()
    project.run("--judge-record", "all", "-n", "2").assert_outcomes(passed=7)
    assert server.requests == 14 * PAIRS
    assert project.tree() == before


def failing_after(server: SimulatorServer, answers: int) -> Callable[[], None]:
    """Let a server refuse everybody's key after so many answers; call what is returned to mend it."""
    working = server.answer

    def answer(model: str, prompt: str, schema: Any = None) -> str:
        if server.requests >= answers:
            raise ValueError("out of order: API_KEY_INVALID")  # not of one prompt, as any other 400 might be
        return working(model, prompt, schema)

    def mend() -> None:
        server.answer = working  # type: ignore[method-assign]

    server.answer = answer  # type: ignore[method-assign]
    return mend


def test_an_interrupted_recording_continues(bare: Project, server: SimulatorServer) -> None:
    """When the server fails for good, what it answered is kept, and `missing` asks the rest alone."""
    bare.configure(server.url)
    mend = failing_after(server, answers=11)
    refused(
        bare.run("--judge-record", "missing", "--judge-concurrency", "1"),
        "judge 'faithful'",
        "HTTP 400",
        "out of order",
    )
    refused(bare.run(), "pairs are recorded", "--judge-record missing")
    mend()
    bare.run("--judge-record", "missing").assert_outcomes(passed=1)
    assert server.requests == 2 * PAIRS
    bare.run().assert_outcomes(passed=1)


def test_a_fatal_answer_ends_the_session(bare: Project, server: SimulatorServer) -> None:
    """After an error that no item can survive the remaining items are not asked."""
    bare.write("test_provenance.py", suite("provenance", name="provenance"))
    bare.configure(server.url)
    failing_after(server, answers=0)
    result = bare.run("--judge-record", "missing")
    refused(result, "fatal: judge 'faithful'")
    result.assert_outcomes(failed=1)


def cut_off_after(server: SimulatorServer, answers: int) -> None:
    """Let a server cut every answer off after so many whole ones, as it does where a limit leaves no room."""
    working = server.answer

    def answer(model: str, prompt: str, schema: Any = None) -> str:
        text = working(model, prompt, schema)
        return text if server.requests <= answers else text[:30]

    server.answer = answer  # type: ignore[method-assign]


def test_a_judge_whose_answers_are_cut_off_is_found_out_by_the_probe(bare: Project, server: SimulatorServer) -> None:
    """Where the first answer is cut off one call is paid, and the terminal says what to set; the next run may begin."""
    bare.write("test_provenance.py", suite("provenance", name="provenance"))
    bare.configure(server.url)
    cut_off_after(server, answers=0)
    result = bare.run("--judge-record", "missing")
    refused(
        result,
        "fatal: judge 'faithful': the first answer was cut off (max_output_tokens = 512)",
        "Raise max_output_tokens in [tool.judgefixtures.judges.faithful]",
        "reasoning_effort",
        "faithful: 1 calls",
    )
    result.assert_outcomes(failed=1)
    assert server.requests == 1

    bare.configure(server.url, judge="max_output_tokens = 4096")  # the remedy, and nothing of before is in its way
    cut_off_after(server, answers=10**6)
    server.answer = type(server).answer.__get__(server)  # type: ignore[method-assign]
    bare.run("--judge-record", "missing", "-k", "recency").assert_outcomes(passed=1)


def test_a_judge_whose_first_answers_are_cut_off_is_stopped(bare: Project, server: SimulatorServer) -> None:
    """Where the probe was whole and the next twenty are not, over items, the session ends; --judge-force goes on."""
    bare.write("test_provenance.py", suite("provenance", name="provenance"))
    bare.configure(server.url)
    cut_off_after(server, answers=1)
    result = bare.run("--judge-record", "missing", "--judge-concurrency", "2")
    refused(
        result,
        "fatal: judge 'faithful': the first 20 answers after the probe were all cut off",
        "Raise max_output_tokens",
        "--judge-record all",
    )
    assert 21 <= server.requests <= 22
    refused(bare.run("--judge-record", "missing", "--judge-force", "-k", "recency"), "truncated")
    assert 2 * PAIRS <= server.requests <= 22 + 2 * PAIRS


def test_an_unknown_finish_reason_is_in_the_summary(
    bare: Project, server: SimulatorServer, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Whole answers of Gemini's with a new finish reason count, and the summary says how many there are."""
    handler = server.RequestHandlerClass
    send = handler._send  # type: ignore[attr-defined]

    def with_another_reason(self: Any, status: int, body: dict[str, Any]) -> None:
        send(self, status, json.loads(json.dumps(body).replace('"STOP"', '"A_REASON_TO_COME"')))

    monkeypatch.setattr(handler, "_send", with_another_reason)
    gem = f'[judges.gem]\nprovider = "google"\nmodel = "simulated-faithful"\nbase_url = "{server.url}"'
    bare.configure(server.url, more=gem)
    result = bare.run("--judge", "gem", "--judge-record", "missing")
    result.assert_outcomes(passed=1)
    assert lines_about(told(result), "reason A_REASON_TO_COME") == snapshot


def test_an_interrupted_renewal_keeps_the_old_recordings(project: Project, server: SimulatorServer) -> None:
    """When `all` is cut short the complete old recordings still replay."""
    project.configure(server.url)
    before = project.tree()
    failing_after(server, answers=5)
    refused(project.run("-k", "recency", "--judge-record", "all", "--judge-concurrency", "1"), "out of order")
    after = project.tree()
    assert {name: after[name] for name in before} == before
    project.run("-k", "recency").assert_outcomes(passed=1, deselected=6)


def test_an_interrupted_renewal_continues(project: Project, server: SimulatorServer) -> None:
    """The next `all` after one that was cut short asks the rest alone."""
    project.configure(server.url)
    before = project.tree()
    mend = failing_after(server, answers=5)
    refused(project.run("-k", "recency", "--judge-record", "all", "--judge-concurrency", "1"), "out of order")
    mend()
    project.run("-k", "recency", "--judge-record", "all").assert_outcomes(passed=1, deselected=6)
    assert server.requests == 2 * PAIRS
    assert project.tree() == before


def test_an_interrupted_renewal_does_not_block_another_judge(project: Project, server: SimulatorServer) -> None:
    """`all` records whatever judge is configured now, also after an `all` for another one that was cut short."""
    project.configure(server.url, judge="temperature = 0.5")
    mend = failing_after(server, answers=5)
    refused(project.run("-k", "recency", "--judge-record", "all", "--judge-concurrency", "1"), "out of order")
    mend()
    project.configure(server.url, judge="temperature = 0.6")
    project.run("-k", "recency", "--judge-record", "all").assert_outcomes(passed=1, deselected=6)


def test_recording_without_a_server_says_so(bare: Project) -> None:
    """Where nobody listens, the message names the judge and its address at once, without retries."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        bare.configure(address, judge="max_attempts = 2")
        refused(bare.run("--judge-record", "missing"), "judge 'faithful'", f"{address}/v1 refuses connections")


def test_the_folder_of_recordings_can_be_elsewhere(project: Project, elsewhere: Path) -> None:
    """--judge-cassettes DIR replays from DIR, given with a space or with =."""
    shutil.move(project.cassettes, elsewhere / "kept")
    for arguments in (("--judge-cassettes", elsewhere / "kept"), (f"--judge-cassettes={elsewhere / 'kept'}",)):
        project.run("-k", "recency", *arguments).assert_outcomes(passed=1, deselected=6)
    assert not project.cassettes.exists()


def test_frozen_pairs_replay_where_the_data_is_not(project: Project) -> None:
    """Without the pair file a replay uses the pairs frozen beside the recordings, and gives the same report."""
    project.run("-k", "recency", "--judge-report", "with")
    (project.path / "pairs.jsonl").unlink()
    project.run("-k", "recency", "--judge-report", "without").assert_outcomes(passed=1, deselected=6)
    for name in ("report.json", "judgments.jsonl"):
        assert (project.path / "with" / name).read_bytes() == (project.path / "without" / name).read_bytes()


# --- bad input: one clear message, no traceback, nothing written over ---------------------------------------


def broken_in_line_57(project: Project) -> None:
    rows = [{"id": f"q{n}", "question": "Why?", "response_1": "So.", "response_2": "Thus."} for n in range(80)]
    lines = json_lines(rows).splitlines(keepends=True)
    lines[56] = lines[56][:20] + "\n"
    project.write("pairs.jsonl", "".join(lines))


def without_a_field(project: Project) -> None:
    rows = project.rows("pairs.jsonl")
    del rows[4]["response_2"]
    project.write_pairs(rows)


def with_an_id_twice(project: Project) -> None:
    rows = project.rows("pairs.jsonl")
    project.write_pairs([*rows, {**rows[2], "question": "Again?"}])


def without_placeholders(project: Project) -> None:
    project.write("prompt.txt", "Which is better, {question}?\n{response_1}\n")
    project.configure(judge='template = "prompt.txt"')


CONFIGURATION_ERRORS = [
    pytest.param(broken_in_line_57, ["dataset 'own'", "pairs.jsonl:57", "not JSON", "one JSON object"], id="line-57"),
    pytest.param(without_a_field, ["pairs.jsonl:5", "'response_2' is missing", "columns"], id="missing-field"),
    pytest.param(with_an_id_twice, ["pairs.jsonl:9", "used in line 3 already", "unique"], id="duplicate-id"),
    pytest.param(
        without_placeholders,
        ["prompt.txt", "lacks {response_2}, {cue_1}, {cue_2}", "add this where the text belongs"],
        id="template",
    ),
    pytest.param(
        lambda project: project.configure(top='judge = "nobody"'),
        ["faithful", "there is no judge 'nobody'", "[tool.judgefixtures.judges.NAME]"],
        id="unknown-judge",
    ),
    pytest.param(
        lambda project: project.configure(top='judge = "faithful"\ndataset = ["support"]'),
        ["own", "there is no dataset 'support'", "[tool.judgefixtures.datasets.NAME]"],
        id="unknown-dataset",
    ),
    pytest.param(
        lambda project: project.configure(top='jugde = "faithful"'),
        ["pyproject.toml", "unknown key 'jugde'", 'did you mean "judge"'],
        id="unknown-key",
    ),
    pytest.param(
        lambda project: project.configure(judge="temprature = 0.5"),
        [
            "pyproject.toml: [tool.judgefixtures.judges.faithful]",
            "unknown key 'temprature'",
            'did you mean "temperature"',
        ],
        id="unknown-judge-key",
    ),
    pytest.param(
        lambda project: project.configure(gate="vsr_tolerance = 1.5"),
        ["pyproject.toml: [tool.judgefixtures.gate]", "vsr_tolerance", "less than 1", "1.5"],
        id="wrong-value",
    ),
    pytest.param(
        lambda project: project.configure(more="[gate.recensy]\nvsr_tolerance = 0.1"),
        ["[tool.judgefixtures.gate.recensy]", "there is no family", 'did you mean "recency"'],
        id="unknown-family",
    ),
    pytest.param(lambda project: project.configure(top=""), ["no judge to gate", "--judge NAME"], id="no-judge"),
    pytest.param(
        lambda project: project.write("test_recency.py", suite("recensy", name="recency")),
        ["no family", "judge_family('recensy')", 'did you mean "recency"'],
        id="unknown-family-in-the-mark",
    ),
]


@pytest.mark.parametrize(("spoil", "words"), CONFIGURATION_ERRORS)
def test_a_mistake_in_the_configuration_is_told_once(
    project: Project, spoil: Callable[[Project], None], words: list[str]
) -> None:
    """What is wrong in configuration, data or template is told in one message, which names it and the remedy."""
    spoil(project)
    before = project.tree()
    result = project.run("test_recency.py", "test_provenance.py")
    said = refused(result, *words)
    assert said.count(words[1]) == 1
    result.assert_outcomes(errors=1)
    assert project.tree() == before


@pytest.mark.parametrize(
    ("spoil", "words"), [case for case in CONFIGURATION_ERRORS if case.id in ("line-57", "unknown-key", "template")]
)
def test_a_mistake_in_the_configuration_is_told_under_xdist(
    project: Project, spoil: Callable[[Project], None], words: list[str]
) -> None:
    """Two processes tell the same mistake as one, once."""
    spoil(project)
    before = project.tree()
    result = project.run("-n", "2")
    refused(result, *words)
    result.assert_outcomes(errors=1)
    assert project.tree() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["--judge", "nobody"], ["there is no judge 'nobody'", "Accepted: ", "faithful"], id="judge"),
        pytest.param(["--judge-dataset", "support"], ["there is no dataset 'support'", "Accepted: eli5"], id="dataset"),
        pytest.param(["--judge-pairs", "0"], ["--judge-pairs", "'0' is not a whole number of at least 1"], id="pairs"),
        pytest.param(["--judge-record", "once"], ["--judge-record", "'once'", "missing"], id="record"),
        pytest.param(
            ["--judge-concurrency", "many"], ["--judge-concurrency", "'many'", "whole number"], id="concurrency"
        ),
        pytest.param(["--judge-config", "absent.toml"], ["absent.toml does not exist"], id="no-file"),
        pytest.param(["--judge-config", "broken.toml"], ["broken.toml is not valid TOML", "line 2"], id="broken-toml"),
        pytest.param(
            ["--judge-config", "typo.toml"], ["typo.toml", "unknown key 'jugdes'", "judges"], id="unknown-key"
        ),
    ],
)
@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_a_mistake_on_the_command_line_is_told_at_once(
    project: Project, arguments: list[str], words: list[str], processes: tuple[str, ...]
) -> None:
    """A wrong option ends the run before anything is collected or any process started, with what is accepted."""
    project.write("broken.toml", 'judge = "faithful"\n[gate\n')
    project.write("typo.toml", '[jugdes.mine]\nprovider = "openai"\nmodel = "m"\n')
    before = project.tree()
    result = project.run(*arguments, *processes)
    said = refused(result, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "collected" not in said
    assert "workers" not in said
    assert project.tree() == before


def test_recording_without_the_key_names_the_variable(bare: Project, server: SimulatorServer) -> None:
    """A missing API key is told by its variable, its table and the remedies, before anything is asked."""
    bare.configure(server.url, judge='api_key_env = "OUR_JUDGE_KEY"')
    refused(
        bare.run("--judge-record", "missing"),
        "judge 'faithful'",
        "OUR_JUDGE_KEY",
        "holds no API key",
        "set it",
        "[tool.judgefixtures.judges.faithful]",
        "replay",
    )
    assert server.requests == 0


def test_a_torn_recording_misses_one_pair(project: Project, server: SimulatorServer) -> None:
    """A recording cut off in mid-line misses the answer that was torn; `missing` asks that one alone."""
    whole = recency_of(project).read_bytes()
    recency_of(project).write_bytes(whole[:-30])
    torn = json.loads(whole.splitlines()[-1])["pair"]
    before = project.tree()
    refused(
        project.run("-k", "recency"),
        f"pair '{torn}'",
        f"{PAIRS - 1} pairs are recorded in {recency_of(project)}",
        "was the recording interrupted?",
        "--judge-record missing",
    )
    assert project.tree() == before
    project.configure(server.url)
    project.run("-k", "recency", "--judge-record", "missing").assert_outcomes(passed=1, deselected=6)
    assert server.requests == 1
    assert recency_of(project).read_bytes() == whole


def other_format(header: dict[str, Any]) -> str:
    return json.dumps({**header, "judgefixtures": 2}) + "\n"


@pytest.mark.parametrize(
    ("first_line", "words"),
    [
        pytest.param(lambda _: "GIF89a\n", ["not a cassette of judgefixtures", "move the file away"], id="no-cassette"),
        pytest.param(lambda _: "[1, 2]\n", ["not a cassette of judgefixtures", "move the file away"], id="other-json"),
        pytest.param(other_format, ["has format 2", "reads 1", "Update judgefixtures"], id="later-format"),
    ],
)
@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_file_that_is_no_cassette_is_left_alone(
    project: Project, first_line: Callable[[Any], str], words: list[str], mode: str, server: SimulatorServer
) -> None:
    """A file in a cassette's place that cannot be read as one is named with the remedy, and not written over."""
    project.configure(server.url)
    header, rest = recency_of(project).read_text().split("\n", 1)
    recency_of(project).write_text(first_line(json.loads(header)) + rest)
    before = project.tree()
    refused(project.run("-k", "recency", "--judge-record", mode), str(recency_of(project)), *words)
    assert server.requests == 0
    assert project.tree() == before


@pytest.mark.parametrize("mode", ["none", "missing", "all"])
def test_an_unresolved_merge_is_told(project: Project, server: SimulatorServer, mode: str) -> None:
    """Both versions of a merge in a cassette: neither wins, nothing is asked, and the command that joins is named."""
    project.configure(server.url)
    header, first, rest = recency_of(project).read_text().split("\n", 2)
    other = first.replace('"selected_response', '"SELECTED_response')
    marked = "\n".join([header, "<<<<<<< HEAD", first, "=======", other, ">>>>>>> theirs", rest])
    recency_of(project).write_text(marked)
    refused(
        project.run("-k", "recency", "--judge-record", mode),
        f"{recency_of(project)}:2 ",
        f"judgefixtures cassettes merge {recency_of(project)}",
    )
    assert server.requests == 0
    assert recency_of(project).read_text() == marked


def test_cues_that_would_share_recordings_are_told(project: Project) -> None:
    """Two families whose contrasts would have one name are a mistake in the configuration: nothing runs."""
    labels = {"a-b": ("c", "d"), "a": ("b-c", "d")}
    tables = [
        f"[cues.{name}]\n" + "".join(f'{label} = "{{number}} {label}."\n' for label in both)
        for name, both in labels.items()
    ]
    project.configure(more="\n".join(tables))
    refused(project.run("-k", "recency"), "the cue family a", "would have the same name 'a-b-c-d'", "without hyphens")


def test_damaged_frozen_pairs_are_told(project: Project) -> None:
    """Frozen pairs that cannot be read are named, with the line and the remedy."""
    frozen = project.cassettes / "faithful" / "own" / "pairs.jsonl"
    frozen.write_text(frozen.read_text().replace('"response_2"', '"response_3"', 1))
    before = project.tree()
    words = ("saved pairs are damaged", "delete ", "--judge-record missing")
    refused(project.run("-k", "recency"), f"{frozen}:1", *words)
    assert project.tree() == before


def test_a_mark_on_a_function_tells_mistakes_as_clearly(project: Project) -> None:
    """A mark on the test function instead of the module changes nothing: a mistake is one message, no traceback."""
    marked = suite("recency", name="recency").replace("pytestmark = ", "@").replace(")\n\n\ndef", ")\ndef")
    project.write("test_recency.py", marked)
    assert project.ids("test_recency.py") == [RECENCY]
    project.run("test_recency.py").assert_outcomes(passed=1)
    project.configure(top='jugde = "faithful"')
    refused(project.run("test_recency.py"), "unknown key 'jugde'")


def test_a_forgotten_mark_is_told(project: Project) -> None:
    """A test that uses the fixtures and has no mark is told to add the mark."""
    project.write("test_recency.py", suite("recency", name="recency").replace("pytestmark =", "unused ="))
    refused(project.run("test_recency.py"), "judge_family")


def test_a_mark_on_a_class_works(project: Project) -> None:
    """The mark may stand on a class, with the same items and the same message for a mistake."""
    project.write(
        "test_recency.py",
        'import pytest\n\n\n@pytest.mark.judge_family("recency")\nclass TestCues:\n'
        "    def test_recency(self, judge, pairs, contrast, gate):\n        gate.check(judge, pairs, contrast)\n",
    )
    project.run("test_recency.py").assert_outcomes(passed=1)
    project.configure(top='judge = "nobody"')
    refused(project.run("test_recency.py"), "there is no judge 'nobody'")


# --- where the configuration is found -----------------------------------------------------------------------


def test_a_file_can_hold_the_configuration(project: Project, elsewhere: Path, snapshot: SnapshotAssertion) -> None:
    """--judge-config FILE is used in place of pyproject.toml; its paths are relative to it."""
    shutil.move(project.path / "pairs.jsonl", elsewhere)
    shutil.move(project.cassettes, elsewhere)
    (elsewhere / "gates.toml").write_text(uncontrolled(configuration(top='judge = "silent"\ndatasets = ["own"]')))
    (project.path / "pyproject.toml").unlink()
    result = project.run("-k", "recency", "--judge-config", elsewhere / "gates.toml")
    result.assert_outcomes(failed=1, deselected=6)
    assert lines_about(told(result), "own: recency-new-old") == snapshot


def test_a_pyproject_can_be_named(project: Project, elsewhere: Path, snapshot: SnapshotAssertion) -> None:
    """--judge-config some/pyproject.toml reads the table [tool.judgefixtures] there, as it would where it lies."""
    shutil.move(project.path / "pairs.jsonl", elsewhere)
    shutil.move(project.cassettes, elsewhere)
    (elsewhere / "pyproject.toml").write_text(uncontrolled(pyproject(top='judge = "silent"\ndataset = ["own"]')))
    (project.path / "pyproject.toml").unlink()
    result = project.run("-k", "recency", "--judge-config", elsewhere / "pyproject.toml")
    result.assert_outcomes(failed=1, deselected=6)
    assert lines_about(told(result), "own: recency-new-old") == snapshot


@pytest.mark.parametrize("arguments", [(), ("-n", "2"), ("--collect-only",)], ids=["serial", "xdist", "collect"])
def test_a_table_at_the_top_of_pyproject_stops_the_run(project: Project, arguments: tuple[str, ...]) -> None:
    """A gate that is pasted to the end of a pyproject.toml under its short name is told, and nothing passes."""
    file = project.path / "pyproject.toml"
    file.write_text(f"{file.read_text()}\n[gate.recency]\nvsr_tolerance = 0.02\n")
    result = project.run("-k", "recency", *arguments)
    refused(result, "[gate.recency] is at the top of the file", "Write [tool.judgefixtures.gate.recency]")
    assert result.ret != 0


def test_the_command_in_a_message_can_be_run_as_it_is(project: Project, server: SimulatorServer) -> None:
    """What a message tells the user to run records exactly what this run missed."""
    (project.path / "pyproject.toml").unlink()
    shutil.rmtree(project.cassettes)
    project.write("gates.toml", uncontrolled(configuration(server.url, gate="vsr_tolerance = 0.9")))
    said = told(project.run("test_recency.py", "--judge-config", "gates.toml", "--judge-pairs", "5"))
    (command,) = set(re.findall(r"Record: pytest (.+)$", said, re.MULTILINE))
    assert project.run("test_recency.py", *command.split()).ret == 0
    assert server.requests == 2 * 5


def test_the_configuration_is_found_from_a_subfolder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started in a subfolder, and with a pytest.ini beside it, pyproject.toml is found and its paths still hold."""
    project.write("pytest.ini", "[pytest]\n")
    (project.path / "tests").mkdir()
    shutil.move(project.path / "test_recency.py", project.path / "tests")
    monkeypatch.chdir(project.path / "tests")
    project.run("--judge-report", "here").assert_outcomes(passed=1)
    assert (project.path / "tests" / "here" / "report.json").exists()


def test_a_path_elsewhere_brings_no_settings(project: Project, elsewhere: Path) -> None:
    """The addopts of a pytest.ini beside an option's value are not this project's."""
    (elsewhere / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
    project.run("--judge-report", elsewhere).assert_outcomes(passed=7)


@pytest.mark.parametrize(
    ("option", "processes"),
    [("--judge-report", ()), ("--judge-config", ()), ("--judge-cassettes", ()), ("--judge-config", ("-n", "2"))],
)
def test_a_path_elsewhere_leaves_the_rootdir(
    project: Project, elsewhere: Path, option: str, processes: tuple[str, ...]
) -> None:
    """An option's value that exists outside of the project, given with a space, hides neither rootdir nor settings."""
    file = project.path / "pyproject.toml"
    settings = '[tool.pytest.ini_options]\naddopts = ["-k", "recency"]\ntestpaths = ["tests"]\n'
    file.write_text(file.read_text() + settings)
    (project.path / "tests").mkdir()
    for name in ("test_recency.py", "test_provenance.py"):
        shutil.move(project.path / name, project.path / "tests")
    value = elsewhere
    if option == "--judge-config":
        value = elsewhere / "gates.toml"
        value.write_text(uncontrolled(configuration()))
        for name in ("cassettes", "pairs.jsonl"):
            shutil.move(project.path / name, elsewhere)
    if option == "--judge-cassettes":
        value = elsewhere / "kept"
        shutil.move(project.cassettes, value)
    result = project.run(option, value, *processes)
    result.stdout.fnmatch_lines([f"rootdir: {project.path}", "configfile: pyproject.toml"])
    result.assert_outcomes(passed=1, deselected=0 if processes else 6)


# --- in other people's repositories -------------------------------------------------------------------------


def test_a_repository_with_a_judge_of_its_own_is_not_disturbed(pytester: pytest.Pytester) -> None:
    """Fixtures named like ours, and no mark: the tests run as without the plugin, and no configuration is read."""
    pytester.makepyprojecttoml("[tool.judgefixtures]\njudge = 7\nunknown = true\n[tool.judgefixtures.gate.x]\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(params=["strict", "lenient"])
        def judge(request):
            return request.param

        @pytest.fixture
        def pairs(judge):
            return [judge]

        def test_own(judge, pairs):
            assert pairs == [judge]
        """
    )
    for processes in ((), ("-n", "2")):
        result = pytester.runpytest_inprocess("--strict-markers", "-v", *processes)
        assert result.ret == 0
        result.assert_outcomes(passed=2)
        assert "test_own[strict]" in str(result.stdout)
        assert "judgefixtures]" not in told(result)


@pytest.mark.parametrize("processes", [(), ("-n", "1")], ids=["serial", "xdist"])
def test_a_run_without_us_imports_nothing_heavy(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    """With the plugin loaded and unused, a run imports no SDK, no vcrpy, no statistics and no configuration."""
    pytester.makepyprojecttoml("[tool.judgefixtures]\njudge = 7\n")
    pytester.makepyfile(
        f"""
        import sys

        def test_modules():
            assert "judgefixtures.plugin" in sys.modules
            assert [name for name in {[*HEAVY, "judgefixtures.statistics", "jinja2"]!r} if name in sys.modules] == []
        """
    )
    # Other plugins of this environment are none of our business: hypothesis and anyio import what they like.
    only_ours = ("-p", "no:hypothesispytest", "-p", "no:anyio")
    pytester.runpytest_subprocess(*only_ours, *processes).assert_outcomes(passed=1)


def test_fixtures_can_be_overridden(project: Project, server: SimulatorServer) -> None:
    """A user's conftest replaces judge, pairs and gate by its own, and the run gates those."""
    project.write(
        "conftest.py",
        f"""\
import pytest
from judgefixtures.judges.judge import load_judge

@pytest.fixture
def judge():
    table = {{"provider": "openai", "model": "simulated-silent", "base_url": "{server.url}/v1"}}
    return load_judge(table, "mine")

@pytest.fixture
def pairs(pairs):
    return pairs[:6]

@pytest.fixture
def gate(gate):
    class Reported:
        def check(self, judge, pairs, contrast):
            print("gating", judge.name, "with", len(pairs), "pairs:", contrast.id)
            gate.check(judge, pairs, contrast)
    return Reported()
""",
    )
    result = project.run("-k", "recency", "--judge-record", "missing", "--judge-force", "--judge-report", "report")
    result.assert_outcomes(failed=1, deselected=6)
    assert server.requests == 12
    result.stdout.fnmatch_lines(["mine on own: * is FAIL", "gating mine with 6 pairs: *"], consecutive=False)
    report = project.report()
    assert report["judges"]["mine"]["model"] == "simulated-silent"
    assert (report["contrasts"][0]["judge"], report["contrasts"][0]["n"]) == ("mine", 6)
    assert (project.cassettes / "mine" / "own" / "recency-new-old.jsonl").exists()


@pytest.mark.parametrize(
    ("fixture", "words"),
    [
        ("def judge(): return 'the supreme court'", ("'the supreme court'", "not a Judge", "load_judge")),
        ("def pairs(): return [{'id': '1'}]", ("a dict ({'id': '1'})", "judgefixtures.Pair objects")),
        ("def pairs(): return None", ("None", "judgefixtures.Pair objects")),
        ("def pairs(): return []", ("returns no pairs",)),
        ("def pairs(pairs): return [*pairs, pairs[3]]", ("Give each pair",)),
        ("def contrast(): return 'recency-new-old'", ("'recency-new-old'", "judgefixtures.models.contrasts")),
        ("def contrast(): return None", ("needs a contrast", "judge_family", "gate.check_accuracy")),
    ],
)
def test_a_fixture_that_returns_something_else(project: Project, fixture: str, words: tuple[str, ...]) -> None:
    """A user's fixture of our name that returns something else fails the test with one sentence, no traceback."""
    project.write("conftest.py", f"import pytest\n\n@pytest.fixture\n{fixture}\n")
    result = project.run("-k", "recency")
    result.assert_outcomes(failed=1, deselected=6)
    said = told(result)
    for word in words:
        assert word in said


def test_pairs_may_be_given_by_a_generator(project: Project) -> None:
    """A `pairs` fixture may return anything that gives pairs, once."""
    project.write("conftest.py", "import pytest\n\n@pytest.fixture\ndef pairs(pairs): return iter(pairs)\n")
    project.run("-k", "recency").assert_outcomes(passed=1, deselected=6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("datasets", "about"), [("'own'", "datasets=['own']"), ("['nope']", "'nope'"), ("['lost']", "dataset 'lost'")]
)
def test_a_mark_of_datasets_that_are_none(
    bare: Project, datasets: str, about: str, snapshot: SnapshotAssertion
) -> None:
    """What a mark says of datasets is checked while collecting: one error that names it, also before recording."""
    lost = '[datasets.lost]\npath = "lost.jsonl"\n'
    bare.write("pyproject.toml", in_pyproject('dataset = ["own"]\n' + configuration() + lost))
    bare.write(
        "test_more.py",
        f"import pytest\n\npytestmark = pytest.mark.judge_accuracy(datasets={datasets})\n\n\n"
        "def test_more(judge, pairs, gate):\n    gate.check_accuracy(judge, pairs)\n",
    )
    result = bare.pytester.runpytest_subprocess("--judge-record", "missing")
    result.assert_outcomes(errors=1)
    said = told(result)
    assert lines_about(said, about) == snapshot


def test_overriding_one_fixture_keeps_the_others(project: Project) -> None:
    """A conftest may replace the contrast alone: judge, pairs and gate stay the plugin's."""
    project.write(
        "conftest.py",
        "import pytest\nfrom judgefixtures.models.contrasts import Contrast\n\n@pytest.fixture\n"
        "def contrast(contrast):\n    return Contrast(contrast.family, contrast.y, contrast.x)\n",
    )
    project.run("--judge", "silent", "-k", "recency", "--judge-report", "report").assert_outcomes(
        failed=1, deselected=6
    )
    (row,) = project.report()["contrasts"]
    assert (row["contrast"], row["vsr"]["value"]) == ("recency-old-new", -1.0)


@pytest.mark.slow
def test_no_connection_is_left_open(bare: Project) -> None:
    """Recording with a judge made by a fixture leaves nothing open that a strict suite would be told of."""
    settings = '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n'
    bare.write("pyproject.toml", pyproject() + settings)
    conftest = """\
import gc
import pytest
from judgefixtures.judges.judge import load_judge

@pytest.fixture
def judge():
    table = {"provider": "openai", "model": "simulated-faithful", "base_url": "URL/v1"}
    yield load_judge(table, "mine")

@pytest.fixture(autouse=True)
def collected():
    yield
    gc.collect()
"""
    with serving() as server:
        bare.write("conftest.py", conftest.replace("URL", server.url))
        result = bare.pytester.runpytest_subprocess("--judge-record", "missing")
    result.assert_outcomes(passed=1)
    told(result)
    assert result.ret == 0


@pytest.mark.slow
def test_only_pairs_that_the_package_lacks_are_frozen(bare: Project, server: SimulatorServer) -> None:
    """House pairs come with the package; what a `pairs` fixture made of them is kept beside its recordings."""
    bare.configure(server.url)
    bare.write(
        "conftest.py",
        """\
import dataclasses
import pytest

@pytest.fixture
def pairs(pairs):
    return [dataclasses.replace(pairs[0], question="Another question?"), *pairs[1:20]]
""",
    )
    asked = ("-k", "recency", "--judge-dataset", "house-qa", "--judge-pairs", "20")
    assert bare.run(*asked, "--judge-record", "missing").ret == 0
    (frozen,) = (bare.path / "cassettes").rglob("pairs.jsonl")
    assert [json.loads(line)["question"] for line in frozen.read_text().splitlines()] == ["Another question?"]
    (bare.path / "conftest.py").unlink()
    bare.run(*asked, "--judge-record", "all")
    assert bare.run(*asked).ret == 0
