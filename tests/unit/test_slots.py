"""Slots: any column of a dataset in a template, what is no slot, and recordings of a column that changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.asking import finished
from support.project import Project, in_pyproject, json_lines, read_rows, suite
from support.rendered import lines_about
from support.server import NOWHERE, Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures import NO_CUE, Run
from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.files import CassetteFile
from judgefixtures.cassettes.snapshot import SampleSnapshot, add_snapshot_pairs, write_snapshot
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.judges.pointwise import scored_response_condition
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.pairs import Example, Pair, keep_columns, pair_to_row
from judgefixtures.prompts.templates import LAYOUTS, Template, load_template, slots_in
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("quick_and_alone")

NEW_OLD = contrasts("recency")[0].x
CUED = "Response 1 was written recently (in 2025).\nResponse 2 was written a long time ago (in 1950)."
OURS = {"question", "response", "response_1", "response_2", "cue", "cue_1", "cue_2", "plan", "scale"}
OURS |= {"pass_label", "fail_label"}
OWN = "Q: {question}\nR: {reference}\n1: {response_1} {cue_1}\n2: {response_2} {cue_2}\n"
ALONE = "Q: {question}\nN: {notes}\nA: {response} {cue}\n"
PAIR = Pair("sky", "Why?", "Air.", "Sea.", columns={"reference": "Rayleigh", "unused": "u"})
IDENTIFIERS = st.from_regex(r"[^\W\d]\w{0,8}", fullmatch=True)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that chooses the first response, and scores 7."""
    with serving(by=lambda asked: asked.answered('{"selected_response": 1, "score": 7, "reason": "r"}')) as server:
        yield server


def written(folder: Path, text: str, mode: str = "pairwise", **more: Any) -> Template:
    """Return the template of a file."""
    path = folder / "own.txt"
    path.write_text(text, encoding="utf-8")
    return load_template(path, mode=mode, **more)


def refusal(folder: Path, text: str, mode: str = "pairwise", **more: Any) -> str:
    """Return what is said of a template that cannot be used."""
    with pytest.raises(JudgeFixturesError) as error:
        written(folder, text, mode, **more)
    return str(error.value)


# --- what a slot is ---------------------------------------------------------------------------------------


@given(name=IDENTIFIERS, value=st.text())
@example("reference", "{question} {{reference}} {reference}")
@example("größe", "}}{{")
def test_a_column_is_filled_in(name: str, value: str) -> None:
    """A name in braces is the column of that name; its text arrives to the letter and is never read as a slot."""
    assume(name not in OURS)
    pair = Pair("p", "q", "1", "2", columns={name: value})
    assert Template("own", f"<{{{name}}}> {{question}}").render(pair, NO_CUE) == f"<{value}> q"
    assert Template("own", f'{{"a":{{"b":{{{name}}}}}}}').render(pair, NO_CUE) == f'{{"a":{{"b":{value}}}}}'


@given(name=IDENTIFIERS)
@example("question")
@example("reference")
@example("label")
def test_two_braces_are_letters(name: str) -> None:
    """A name in two braces is that name in one, whether or not there is such a slot."""
    pair = Pair("p", "q", "1", "2", columns={name: "value"})
    assert Template("own", f"a {{{{{name}}}}} b").render(pair, NO_CUE) == f"a {{{name}}} b"


@given(st.text(alphabet='{}":, a1\n'))
@example('{"verdict": {"a": {}}}')
@example("{}{{}}{0}{{0}}{ a }{{ a }}{a b}")
@example('{{"score": 1}}')
def test_other_braces_are_the_templates_own(text: str) -> None:
    """Braces that hold no name and nothing else stay as they are."""
    assume("{a}" not in text)
    assume("{a1}" not in text.replace("{aa", ""))
    assume(not slots_in(text))
    assume("{{a" not in text)
    assert Template("own", text).render(Pair("p", "q", "1", "2"), NO_CUE) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{{reference}}}", "{{reference}}"),
        ("{{reference}", "{Rayleigh"),
        ("{reference}}", "Rayleigh}"),
        ("{{ reference }}", "{{ reference }}"),
        ("{reference}{reference}", "RayleighRayleigh"),
        ("{1reference}", "{1reference}"),
        ("{reference.a}", "{reference.a}"),
        ("{response} {scale} {pass_label}", "{response} {scale} {pass_label}"),
    ],
)
def test_braces_at_the_edges(text: str, said: str) -> None:
    """What is a slot is told by the braces directly around a name; slots of other judges are text of a template."""
    assert Template("own", text).render(PAIR, NO_CUE) == said


def test_columns_are_those_of_every_wording() -> None:
    """A template tells which columns it shows: each once, also those of wordings for other content types."""
    template = Template("own", "{a} {question} {b} {a} {{c}}", variants=(("Story", "{d} {response}"),))
    assert template.columns == ("a", "b", "d")
    assert (template.columns_for("Response"), template.columns_for("Story")) == (("a", "b"), ("d",))
    assert all(not load_template(name, mode=mode).columns for mode, kind in LAYOUTS.items() for name in kind.built_in)


@pytest.mark.parametrize("name", ["id", "label", "labels", "gold", "votes", "category", "cluster"])
@pytest.mark.parametrize("mode", LAYOUTS)
def test_what_tells_the_answer_is_never_a_slot(tmp_path: Path, name: str, mode: str) -> None:
    """A template that names it is an error that says why; the letters are written with two braces."""
    text = " ".join(f"{{{slot}}}" for slot in (*LAYOUTS[mode].texts, *LAYOUTS[mode].cues))
    said = refusal(tmp_path, f"{text} {{{name}}}", mode)
    for part in ("own.txt", f"{{{name}}}", "never a slot", "the answer", f"{{{{{name}}}}}"):
        assert part in said
    assert written(tmp_path, f"{text} {{{{{name}}}}}", mode).columns == ()


@pytest.mark.parametrize(
    ("mode", "slot", "whose"),
    [("pointwise", "cue_1", "pairs"), ("binary", "plan", "pairs"), ("binary", "scale", "mode = 'pointwise'")],
)
def test_slots_of_another_mode_are_refused(
    tmp_path: Path, mode: str, slot: str, whose: str, snapshot: SnapshotAssertion
) -> None:
    """A template of one response that has a slot of other judges is an error that says whose it is."""
    said = refusal(tmp_path, f"{{question}} {{response}} {{cue}} {{{slot}}}", mode)
    assert lines_about(said, "of templates") == snapshot
    assert whose in said


def test_a_slot_in_two_braces_is_lacking(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A slot that was written as its letters is missed, and the message says how it is written."""
    said = refusal(tmp_path, OWN.replace("{question}", "{{question}}"))
    assert "lacks {question}" in said
    assert lines_about(said, "the letters") == snapshot


def test_cues_follow_a_column(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The text that cues follow may be a column's slot, and may not end inside of one."""
    text = "{question} {response_1} {response_2} {reference}"
    template = written(tmp_path, text, cue_after="{reference}")
    assert template.render(PAIR, NEW_OLD) == f"Why? Air. Sea. Rayleigh\n{CUED}"
    assert lines_about(refusal(tmp_path, text, cue_after="{refer"), "inside of") == snapshot


# --- in every mode ----------------------------------------------------------------------------------------


def test_pairs_take_columns_in_either_order(tmp_path: Path) -> None:
    """The column stays where it is when the responses change places."""
    template = written(tmp_path, OWN)
    judge = load_judge({"provider": "openai", "model": "m", "template": str(tmp_path / "own.txt")})
    shown = [judge.prompt(PAIR, condition).splitlines()[1] for condition in (NO_CUE, replace(NO_CUE, order="21"))]
    assert shown == ["R: Rayleigh", "R: Rayleigh"]
    assert template.columns == ("reference",)


def test_judges_that_plan_take_columns(tmp_path: Path) -> None:
    """So does a judge that carries out a plan, with or without a place for the plan."""
    for text in (OWN, f"{{plan}} {OWN}"):
        written(tmp_path, text)
        table = {"provider": "openai", "model": "m", "template": str(tmp_path / "own.txt")}
        judge = load_judge(table | {"strategy": "plan-heuristic"})
        assert "R: Rayleigh\n" in judge.prompt(PAIR, NO_CUE)


@pytest.mark.parametrize("mode", ["pointwise", "binary"])
def test_one_response_takes_columns(tmp_path: Path, mode: str) -> None:
    """So does a template of one response."""
    one = Example("a", "q", "r", columns={"notes": "n"})
    assert written(tmp_path, ALONE, mode).render_one(one, one.response) == "Q: q\nN: n\nA: r "


def test_a_pair_without_the_column_is_told(snapshot: SnapshotAssertion) -> None:
    """Whoever asks for a prompt by hand is told which column is lacking, and of what."""
    with pytest.raises(JudgeFixturesError) as error:
        Template("own", "{notes}").render(PAIR, NO_CUE)
    assert str(error.value) == snapshot


# --- on the wire ------------------------------------------------------------------------------------------

HARD = {
    "braces": '{"a": {"b": {question}}} {response} {{notes}} {0}',
    "long": "ä{x}\n" * 20_000,
    "blanks": " \r\n\t\x00 ",
    "conversation": [{"role": "user", "content": "{question}"}, {"role": "tool", "content": '{"a": 1}'}],
}


@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_values_arrive_as_they_are(tmp_path: Path, server: Server, sdk: str) -> None:
    """Braces, slots' names inside of a value, 100 kB and conversations arrive to the letter."""
    rows = [{"id": name, "question": "q", "response": "r", "notes": value} for name, value in HARD.items()]
    (tmp_path / "rows.jsonl").write_text(json_lines(rows), encoding="utf-8")
    written(tmp_path, ALONE, "pointwise")
    judge = load_judge(server.table(sdk, mode="pointwise", template=str(tmp_path / "own.txt")))
    expected = {name: value for name, value in HARD.items() if isinstance(value, str)}
    expected["conversation"] = 'User: {question}\nTool: {"a": 1}'
    assert len(expected["long"].encode()) >= 100_000
    for pair in load_pairs(Source("own", tmp_path / "rows.jsonl")):
        finished(judge, judge.score(prompt_alone(judge, pair)))
        assert server.asked[-1].prompt == f"Q: q\nN: {expected[pair.id]}\nA: r "


def prompt_alone(judge: Judge, pair: Pair) -> str:
    """Return what a judge of one response is asked about the first response."""
    assert judge.rater is not None
    return judge.rater.prompt(pair, scored_response_condition(NO_CUE, 1))


def test_notes_of_a_real_form_reach_the_wire(tmp_path: Path, server: Server) -> None:
    """What people wrote down for whoever grades is what the judge is shown, word for word; their label is not."""
    notes = "!Post-$ val!: pre-money + *new money*; 20% = {option pool}; caution: {response}"
    row = {"id": "a-1", "question": "What is a post-money valuation?", "grading_notes": notes, "response": "A sum."}
    (tmp_path / "rows.jsonl").write_text(json_lines([row | {"label": "fail", "category": "money", "cluster": "a"}]))
    written(tmp_path, ALONE.replace("{notes}", "{grading_notes}"), "pointwise")
    judge = load_judge(server.table("openai", mode="pointwise", template=str(tmp_path / "own.txt")))
    (pair,) = load_pairs(Source("own", tmp_path / "rows.jsonl"))
    finished(judge, judge.score(prompt_alone(judge, pair)))
    assert server.asked[-1].prompt == f"Q: {row['question']}\nN: {notes}\nA: A sum. "


# --- before anything is asked -----------------------------------------------------------------------------


def pair_rows(count: int = 12, **columns: Any) -> list[dict[str, Any]]:
    """Return the rows of pairs with further columns."""
    about = [{"id": f"p{n:02}", "question": f"Question {n}?"} for n in range(count)]
    return [row | {"response_1": "So.", "response_2": "No."} | columns for row in about]


def configuration(url: str, template: str = "own.txt", more: str = "") -> str:
    """Return a configuration of a judge with a template, and of one without."""
    return (
        f'judge = "ours"\ndataset = ["own"]\n{more}[gate]\nvsr_tolerance = 0.9\n'
        f'[judges.ours]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\ntemplate = "{template}"\n'
        f'[judges.plain]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\n'
        '[datasets.own]\npath = "rows.jsonl"\n'
    )


@pytest.fixture
def project(pytester: pytest.Pytester, server: Server) -> Project:
    """A repository with a template that shows a column, pairs that have it, and tests of a family."""
    project = Project(pytester, in_pyproject)
    project.write("test_recency.py", suite("recency", name="recency"))
    project.write("own.txt", OWN)
    project.write_pairs(pair_rows(reference="r", unused="u"), "rows.jsonl")
    project.configure(configuration(server.url))
    return project


@pytest.mark.parametrize("options", [("--judge-preflight",), ("--judge-record", "missing"), ()])
def test_a_slot_that_is_no_column_is_an_error(
    project: Project, server: Server, options: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """It lists the dataset's columns and our slots, and says how its letters are written; nothing is asked."""
    project.write("own.txt", f"{OWN}{{refrence}}")
    said = project.run(*options).said
    assert lines_about(said, "'ours'") == snapshot
    for part in (
        "'reference', 'unused'",
        "{question} {response_1} {response_2} {cue_1} {cue_2} {plan}",
        "{{refrence}}",
    ):
        assert part in said
    assert server.asked == []


@pytest.mark.parametrize("absent", [{}, {"reference": None}])
@pytest.mark.parametrize("options", [("--judge-preflight",), ("--judge-record", "missing")])
def test_a_row_without_the_column_is_an_error(
    project: Project, server: Server, absent: dict[str, None], options: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """A row in which a used column is absent or null is named with the column; nothing is asked."""
    rows = pair_rows(reference="r")
    rows[3] = {key: value for key, value in rows[3].items() if key != "reference"} | absent
    project.write_pairs(rows, "rows.jsonl")
    said = project.run(*options).said
    assert lines_about(said, "'own'") == snapshot
    assert server.asked == []


@pytest.mark.parametrize("options", [("--judge-preflight",), ("--judge-record", "missing"), ()])
def test_a_judge_of_pairs_is_not_asked_about_examples(
    project: Project, server: Server, options: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """It is one clear error that names both, before anything is asked."""
    rows = [{"id": f"e{n}", "question": "q", "response": "r", "reference": "x"} for n in range(12)]
    project.write_pairs(rows, "rows.jsonl")
    ran = project.run(*options)
    said = ran.said
    assert ran.ret != 0
    assert lines_about(said, "'own'") == snapshot
    assert server.asked == []


def test_a_column_with_the_name_of_another_modes_slot(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """{scale} is text in a template for pairs; where the dataset has such a column it is an error and no blind judge."""
    shows = f"{OWN}{{scale}}"
    with script(tmp_path, NOWHERE, pair_rows(reference="r"), shows) as run:
        assert run.pairs("ours", "own")
    with (
        script(tmp_path, NOWHERE, pair_rows(reference="r", scale="1 to 5"), shows) as run,
        pytest.raises(JudgeFixturesError) as error,
    ):
        run.pairs("ours", "own")
    assert str(error.value) == snapshot


def test_pairs_of_a_script_are_checked(tmp_path: Path, server: Server) -> None:
    """So are pairs that no dataset has, and examples among them."""
    with script(tmp_path, server.url) as run:
        judge = run.judge("ours")
        for pairs in ([Pair("a", "q", "1", "2")], [Example("a", "q", "r", columns={"reference": "r"})]):
            with pytest.raises(JudgeFixturesError, match=r"reference|examples"):
                run.answers(judge, "own", pairs, [(NO_CUE, 0)])
    assert server.asked == []


# --- recordings -------------------------------------------------------------------------------------------


def script(folder: Path, url: str, rows: list[dict[str, Any]] | None = None, text: str = OWN, **options: Any) -> Run:
    """Return a run of a configuration with a template that shows a column."""
    (folder / "judges.toml").write_text(f"control = false\n{configuration(url)}")
    (folder / "own.txt").write_text(text)
    if rows is not None or not (folder / "rows.jsonl").exists():
        (folder / "rows.jsonl").write_text(json_lines(rows or pair_rows(reference="r", unused="u")))
    return Run.from_config(folder / "judges.toml", **options)


def asked_about(run: Run, *judges: str) -> None:
    """Ask judges, or their recordings, about all pairs without a cue."""
    with run:
        for judge in judges or ("ours", "plain"):
            run.answers(run.judge(judge), "own", run.pairs(judge, "own"), [(NO_CUE, 0)])


def recorded_rows(folder: Path, judge: str = "ours") -> list[dict[str, Any]]:
    """Return the recorded answers of a judge."""
    return [row for row in read_rows(folder / "cassettes" / judge / "own" / "no-cue.jsonl") if "digest" in row]


def test_recordings_hold_what_the_template_shows(tmp_path: Path, server: Server) -> None:
    """Beside a judge's recordings lie pairs with the columns that its template shows, and no others."""
    asked_about(script(tmp_path, server.url, record="missing"))
    frozen = {judge: read_rows(tmp_path / "cassettes" / judge / "own" / "pairs.jsonl") for judge in ("ours", "plain")}
    assert {row["reference"] for row in frozen["ours"]} == {"r"}
    assert not any("unused" in row for rows in frozen.values() for row in rows)
    assert not any("reference" in row for row in frozen["plain"])
    assert all(row["columns"].startswith("reference=") for row in recorded_rows(tmp_path))
    assert not any("columns" in row for row in recorded_rows(tmp_path, "plain"))


def test_recordings_without_columns_stay_as_they_were(tmp_path: Path, server: Server) -> None:
    """Of a template without columns recordings and frozen pairs are the same bytes, whatever else the rows hold."""
    kept = []
    for name, columns in (("old", {}), ("new", {"reference": "r"})):
        folder = tmp_path / name
        folder.mkdir()
        asked_about(script(folder, server.url, pair_rows(**columns), record="missing"), "plain")
        files = sorted((folder / "cassettes").rglob("*.jsonl"))
        kept.append({file.relative_to(folder): file.read_bytes() for file in files})
    assert kept[0] == kept[1]
    assert kept[0]


def test_a_changed_column_makes_recordings_stale(tmp_path: Path, server: Server, snapshot: SnapshotAssertion) -> None:
    """The miss names pair, column and the call that renews it; that asks for this pair alone."""
    asked_about(script(tmp_path, server.url, record="missing"))
    rows = pair_rows(reference="r", unused="other")
    rows[5]["reference"] = "another"
    with pytest.raises(CassetteMissError) as error:
        asked_about(script(tmp_path, NOWHERE, rows), "ours")
    assert lines_about(str(error.value), "'p05'") == snapshot
    assert 'record="missing"' in str(error.value)
    asked_about(script(tmp_path, NOWHERE), "plain")
    asked = len(server.asked)
    asked_about(script(tmp_path, server.url, record="missing"))
    assert len(server.asked) == asked + 1
    asked_about(script(tmp_path, NOWHERE))


def test_a_changed_column_is_told_by_the_recording_alone(
    tmp_path: Path, server: Server, snapshot: SnapshotAssertion
) -> None:
    """Where the frozen pairs are renewed or gone the recording itself says which column it was made with."""
    asked_about(script(tmp_path, server.url, record="missing"))
    (tmp_path / "cassettes/ours/own/pairs.jsonl").unlink()
    with pytest.raises(CassetteMissError) as error:
        asked_about(script(tmp_path, NOWHERE, pair_rows(reference="another")), "ours")
    assert str(error.value) == snapshot


def test_pytest_names_the_command(project: Project, server: Server, snapshot: SnapshotAssertion) -> None:
    """An item says which column of which pair changed, and its command asks what is missing and nothing else."""
    project.run("--judge-record", "missing")
    rows = pair_rows(reference="r", unused="u")
    rows[5]["reference"] = "another"
    project.write_pairs(rows, "rows.jsonl")
    said = project.run().said
    assert lines_about(said, "'p05'") == snapshot
    assert "--judge-record missing" in said
    asked = len(server.asked)
    project.run("--judge-record", "missing")
    assert len(server.asked) == asked + 2  # in both arms of the one contrast
    assert "since the recording" not in project.run().said


def test_a_judge_of_scores_knows_its_columns(tmp_path: Path, server: Server) -> None:
    """Both responses' scores are recorded with the columns that their template shows."""
    table = 'mode = "pointwise"\n'
    run = script(tmp_path, server.url, text="{question} {reference} {response} {cue}", record="missing")
    file = tmp_path / "judges.toml"
    file.write_text(file.read_text().replace('template = "own.txt"\n', f'template = "own.txt"\n{table}'))
    asked_about(Run.from_config(file, record="missing"), "ours")
    run.close()
    files = [*(tmp_path / "cassettes/ours/own").glob("score-*.jsonl")]
    rows = [row for name in files for row in CassetteFile(name).read_rows()]
    assert rows
    assert all(row.columns.startswith("reference=") for row in rows)


def test_plans_show_no_columns(server: Server) -> None:
    """A plan is made of the question, and stays good where a column changes."""
    judge = load_judge(server.table("openai", strategy="plan-self"))
    assert judge.planner is not None
    assert judge.planner.shows(PAIR).columns_digest == ""
    assert judge.shows(PAIR).columns_digest == ""


def test_frozen_pairs_replay_where_the_data_is_not(tmp_path: Path, server: Server, snapshot: SnapshotAssertion) -> None:
    """With the columns beside the recordings a replay needs no data; a template with others says what was not kept."""
    asked_about(script(tmp_path, server.url, record="missing"))
    kept = (tmp_path / "rows.jsonl").read_text()
    (tmp_path / "rows.jsonl").unlink()
    gone = "control = false\n" + configuration(NOWHERE)
    (tmp_path / "judges.toml").write_text(gone)
    with Run.from_config(tmp_path / "judges.toml") as run:
        pairs = run.pairs("ours", "own")
        assert {pair.columns["reference"] for pair in pairs} == {"r"}
        run.answers(run.judge("ours"), "own", pairs, [(NO_CUE, 0)])
    (tmp_path / "own.txt").write_text(f"{OWN}{{unused}}")
    with Run.from_config(tmp_path / "judges.toml") as run, pytest.raises(JudgeFixturesError) as error:
        run.pairs("ours", "own")
    assert str(error.value) == snapshot
    (tmp_path / "rows.jsonl").write_text(kept)


def test_a_hubs_pairs_replay_with_their_columns(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Of a dataset on the hub the frozen pairs have what a judge shows, and what the one shows that it is held against.

    A template with a column that was not frozen is an error with the command that records it.
    """
    tables = "".join(
        f'[judges.{name}]\nprovider = "openai"\nmodel = "m"\ntemplate = "{name}.txt"\n' for name in ("ours", "base")
    )
    file = tmp_path / "judges.toml"
    file.write_text(f'control = false\n{tables}[datasets.hub]\nsource = "owner/name"\n')
    pairs = [Pair(f"p{n}", f"q{n}", "1", "2", columns={"reference": "r", "notes": "n"}) for n in range(3)]
    sample = SampleSnapshot({"source": "owner/name"}, 0, 3, tuple((pair.id, pair.digest) for pair in pairs), {}, "abc")
    for name, column in (("ours", "reference"), ("base", "notes")):
        (tmp_path / f"{name}.txt").write_text(OWN.replace("{reference}", f"{{{column}}}"))
        folder = tmp_path / "cassettes" / name / "hub"
        add_snapshot_pairs(folder, [keep_columns(pair, [column]) for pair in pairs])
        write_snapshot(folder, sample, pairs)
    with Run.from_config(file) as run:
        assert [dict(pair.columns) for pair in run.pairs("ours", "hub")] == [{"reference": "r"}] * 3
    with Run.from_config(file, baseline="base") as run:
        assert [dict(pair.columns) for pair in run.pairs("ours", "hub")] == [{"reference": "r", "notes": "n"}] * 3
    (tmp_path / "ours.txt").write_text(f"{OWN}{{rubric}}")
    with Run.from_config(file) as run, pytest.raises(JudgeFixturesError) as error:
        run.pairs("ours", "hub")
    assert lines_about(str(error.value), "not frozen", "--judge") == snapshot


def test_a_report_shows_the_columns(project: Project) -> None:
    """pairs.jsonl has the columns that a template shows, and no others."""
    ran = project.run("--judge-record", "missing", "--judge-report", "report")
    rows: list[Mapping[str, Any]] = ran.rows("pairs")
    assert [row["columns"] for row in rows] == [{"reference": "r"}] * 12


def test_examples_of_one_text_may_have_other_columns() -> None:
    """A digest of columns names each, in one order, and changes with its text alone."""
    one, other = (Example("a", "q", "r", columns={"b": "1", "a": value}) for value in "xy")
    assert one.digest == other.digest
    assert one.columns_digest.split()[1] == other.columns_digest.split()[1]
    assert one.columns_digest != other.columns_digest
    assert [part.partition("=")[0] for part in one.columns_digest.split()] == ["a", "b"]
    assert json.loads(json.dumps(pair_to_row(one))) == pair_to_row(one)
