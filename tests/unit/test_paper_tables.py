"""The paper's tables from recordings: equal to what was published, honest where they are not, the same bytes again."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from filelock import FileLock
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.models import published
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.cues import FAMILIES
from judgefixtures.models.published import PublishedExperiment, experiments, published_for
from judgefixtures.paper import PaperCell, PaperResults, measure_paper, open_run, write_paper
from judgefixtures.paper import figure as figure_room
from judgefixtures.paper import replication as measured_room
from judgefixtures.paper.figure import draw_figure
from judgefixtures.paper.markdown import describe_paper, paper_page, table_inconsistencies
from judgefixtures.paper.replication import MissingRecordings, PaperRecordings, PublishedComparison
from judgefixtures.run.run import Run
from judgefixtures.statistics import paired_difference, proportion

pytestmark = pytest.mark.whole

REPOSITORY = Path(__file__).parents[2]
CASSETTES = REPOSITORY / "cassettes"
GPT, GEMINI = "simulated-gpt-4o", "simulated-gemini-2.5-flash"
ANSWERS = ["paper", "--judge", GPT, "--dataset", "house-close"]
NEW_OLD = contrasts("recency")[0]

# Read off the paper, apart from the file under test: Table 1, and Section 3 for expert-unknown and new-old.
SHIFTS = {
    (GPT, "house-close"): "human-unknown +7, human-llm +4, llm-unknown +4, expert-unknown +18, new-old +30",
    (GEMINI, "house-close"): "human-unknown +3, human-llm +6, llm-unknown +5, new-old +16",
    (GPT, "house-close-stories"): "human-unknown +14, human-llm +16, llm-unknown +4, new-old +16",
    (GEMINI, "house-close-stories"): "human-unknown +6, human-llm +22, llm-unknown +5, new-old +4",
}
# How many rates each of the paper's Tables 2 to 5 has.
ROWS = {2: 14, 3: 4, 4: 12, 5: 4}


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> PaperResults:
    """What the shipped recordings of the simulated judges amount to: measured once, whichever process of ours asks."""
    base = tmp_path_factory.getbasetemp()
    file = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "paper.pickle"
    with FileLock(f"{file}.lock"):
        if not file.exists():
            with open_run(REPOSITORY / "pyproject.toml") as run:
                file.write_bytes(pickle.dumps(measure_paper(run)))
    paper: PaperResults = pickle.loads(file.read_bytes())
    return paper


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with a copy of what is recorded of one simulated judge."""
    shutil.copytree(CASSETTES / GPT, tmp_path / "cassettes" / GPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cassettes"


def cell(judge: str, value: int, *, asked: bool = True, dataset: str = "house-close") -> PaperCell:
    """Return a measured contrast of new and old: VSR is so many of 100 pairs."""
    rates = (proportion(42 + value, 100), proportion(42, 100))
    share = proportion(abs(value), 100)
    of = PaperRecordings(judge, dataset, model=judge, asked=asked)
    return PaperCell(
        of,
        NEW_OLD,
        is_story=False,
        rates=rates,
        vsr=paired_difference(value, 0, 100),
        flips=share,
        cited=proportion(0, 200),
    )


def table(text: str, title: str) -> list[dict[str, str]]:
    """Return the rows of the table below a title, by its header."""
    (part,) = [each for each in text.split("\n## ") if each.startswith(title)]
    rows = [[each.strip(" `") for each in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


# --- what was published -----------------------------------------------------------------------------------------


def test_there_are_34_published_rates_and_17_shifts() -> None:
    """Every one is of two labels of one family, every rate has its complement, and no number is written twice."""
    for each in experiments():
        for first, second in (*each.rates, *each.shifts):
            assert any({first, second} <= {*labels} for labels in FAMILIES.values())
        assert {labels[::-1] for labels in each.rates} == {*each.rates}
        assert {*each.shifts} < {*each.rates}
    assert sum(len(each.rates) for each in experiments()) == 34
    assert sum(len(each.shifts) for each in experiments()) == 17


@pytest.mark.parametrize(("judge", "dataset"), SHIFTS)
def test_the_published_shifts_are_those_of_the_paper(judge: str, dataset: str) -> None:
    """The file has what Table 1 and Section 3 print; the rates are held to the paper by test_simulator.py."""
    of = published_for(judge, dataset)
    assert of is not None
    printed = dict(entry.split(" ") for entry in SHIFTS[judge, dataset].split(", "))
    assert {"-".join(labels): f"{shift:+}" for labels, shift in of.shifts.items()} == printed


# --- the shipped recordings -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_shipped_recordings_equal_the_paper(shipped: PaperResults) -> None:
    """All 34 first-selection rates and all 17 VSRs are what was published, and it is said so."""
    equal = [each.quantity for each in shipped.comparisons if each.is_equal]
    assert (equal.count("rate"), equal.count("VSR"), len(shipped.comparisons)) == (34, 17, 51)
    assert describe_paper(shipped)[-1].startswith(
        "34 of 34 published first-selection rates and 17 of 17 published VSRs"
    )


@pytest.mark.slow
def test_every_number_is_that_of_the_item_of_its_name(shipped: PaperResults) -> None:
    """Rates, VSR, flips and citing reasons are those of the report's row, interval and all."""
    with Run.from_config(REPOSITORY / "pyproject.toml") as run:
        for each in shipped.cells[::3]:  # some of each judge on each dataset
            (found_row,) = run.gate(each.contrast.id, judge=each.of.judge, dataset=each.of.dataset).rows["contrasts"]
            row = found_row.to_json()
            assert each.rates is not None
            assert [rate.value for rate in each.rates] == [*row["first_selection_rate"].values()]
            for found, key in ((each.vsr, "vsr"), (each.flips, "flip_rate"), (each.cited, "car_all")):
                assert found is not None
                assert (found.value, found.low, found.high, found.n) == tuple(
                    row[key][part] for part in ("value", "low", "high", "n")
                )


@pytest.mark.slow
def test_every_table_has_the_rows_of_the_papers_table(shipped: PaperResults) -> None:
    """Tables 2 to 5 have 14, 4, 12 and 4 published rates, Table 1 its 12 VSRs and the one of EXPERT, Figure 1 four."""
    text = paper_page(shipped, [])
    for number, count in ROWS.items():
        printed = [row for row in table(text, f"Table {number}.") if row["published rate"] != "-"]
        assert len(printed) == count
        assert all(row["published rate"] == row["rate"] for row in printed)
    for title, count in (("Table 1.", 13), ("Figure 1.", 4)):
        printed = [row for row in table(text, title) if row["published VSR"] != "-"]
        assert len(printed) == count
        assert all(row["published VSR"] == row["VSR"] for row in printed)


@pytest.mark.slow
def test_no_number_stands_without_its_interval_and_its_pairs(shipped: PaperResults) -> None:
    """Every row of every table names its judge as simulated, and has an interval around its number and an n."""
    text = paper_page(shipped, [])
    for title in ("Table 1.", "Figure 1.", *(f"Table {number}." for number in ROWS)):
        for row in table(text, title):
            assert row["judge"].startswith("simulated-")
            low, high = re.fullmatch(r"90% \[(.*), (.*)\]", row["interval"]).groups()  # type: ignore[union-attr]
            assert float(low) < float(row.get("VSR") or row["rate"]) < float(high)
            assert row["pairs"] == "100"


@pytest.mark.slow
@pytest.mark.whole
def test_the_command_writes_the_page_and_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`judgefixtures paper` ends with 0 in a clone, names its three files, and asks nobody."""
    monkeypatch.chdir(REPOSITORY)
    assert main(["paper", "--into", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "34 of 34" in shown.out
    assert "17 of 17" in shown.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-1.png", "figure-1.svg", "paper.md"]
    assert all(f"written: {path}" in shown.out for path in tmp_path.iterdir())
    assert shown.err == ""
    assert "](figure-1.svg)" in (tmp_path / "paper.md").read_text()


@pytest.mark.parametrize("dataset", ["eli5", "litbench"])
def test_what_the_papers_own_judges_would_need_is_said(shipped: PaperResults, dataset: str) -> None:
    """They are not recorded here: the page and the terminal have the command that does it, and nothing else of them."""
    for judge in ("gpt-4o", "gemini-2.5-flash"):
        command = (
            f'pytest -k "provenance or recency" --judge {judge} --judge-dataset {dataset} --judge-pairs 100 '
            "--judge-record missing"
        )
        assert command in paper_page(shipped, [])
        assert any(command in line for line in describe_paper(shipped))
    assert not shipped.is_lacking


# --- where something differs ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_verdict_that_differs_is_found(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With one recorded verdict turned round, its rate and its VSR differ, by name, and the exit code is 1."""
    path = recordings / GPT / "house-close" / "recency-new-old.jsonl"
    text = path.read_text()
    path.write_text(text.replace('\\"selected_response\\": 1', '\\"selected_response\\": 2', 1))
    assert main(ANSWERS) == 1
    different = [line for line in capsys.readouterr().out.splitlines() if line.startswith("DIFFERENT")]
    where = "simulated-gpt-4o on house-close (stands for GPT-4o on ELI5)"
    assert different == [
        f"DIFFERENT: {where}: rate of new/old is 0.71, published is 0.72",
        f"DIFFERENT: {where}: VSR of new/old is +0.29, published is +0.30",
    ]


@pytest.mark.slow
def test_an_invalid_verdict_leaves_out_its_pair(recordings: Path) -> None:
    """A pair without a valid verdict in both arms counts in neither rate, and n says so."""
    path = recordings / GPT / "house-close" / "recency-new-old.jsonl"
    path.write_text(path.read_text().replace('\\"selected_response\\": 1', '\\"selected_response\\": 7', 1))
    with open_run() as run:
        (found,) = measure_paper(run, [GPT], ["house-close"]).measured("recency")
    assert found.rates is not None
    assert [rate.n for rate in found.rates] == [99, 99]
    assert found.rates[0].value == pytest.approx(71 / 99)


@pytest.mark.slow
def test_a_condition_that_is_not_recorded_is_not_guessed(
    recordings: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """The exit code is 10, the message has the command that records it, and everything else is measured."""
    (recordings / GPT / "house-close" / "recency-old-new.jsonl").unlink()
    assert main(ANSWERS) == 10
    shown = capsys.readouterr().out
    assert "8 of 10 rates and 4 of 5 VSRs are equal" in shown
    assert lines_about(shown, "recency-new-old is") == snapshot
    assert "-k recency-new-old --judge-record missing" in shown
    text = Path("report/paper/paper.md").read_text()
    for title in ("Figure 1.", "Table 3."):
        assert "Not measured:" in text.split(f"## {title}")[1].split("##")[0]
    assert len(table(text, "Table 2.")) == 12


def test_without_any_recordings_it_says_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an empty folder: 10, a command for every simulated judge with its server, and a page that says the same."""
    monkeypatch.chdir(tmp_path)
    assert main(["paper"]) == 10
    shown = capsys.readouterr().out
    assert "0 of 34 published first-selection rates and 0 of 17 published VSRs" in shown
    for judge in (GPT, GEMINI):
        command = f'python -m judgefixtures.simulator --port 8080 -- pytest -k "provenance or recency" --judge {judge} '
        assert command in shown
        assert command in Path("report/paper/paper.md").read_text()
    assert [path.name for path in Path("report/paper").iterdir()] == ["paper.md"]


def test_commands_name_the_configuration_and_the_recordings_that_were_given(tmp_path: Path) -> None:
    """A command that is copied from the page finds the same files."""
    (tmp_path / "own.toml").write_text("pairs = 40\n")
    with open_run(tmp_path / "own.toml", tmp_path / "elsewhere") as run:
        (found,) = measure_paper(run, [GPT], ["house-close"]).unrecorded
    assert f"--judge-config {tmp_path / 'own.toml'} --judge-cassettes {tmp_path / 'elsewhere'}" in found.command
    assert "--judge-pairs 40 " in found.command


def test_a_real_judge_that_happens_to_be_recorded_decides_nothing(tmp_path: Path) -> None:
    """It was asked other pairs than the paper's: it may differ, unless its comparison is asked for by name."""
    beside, named = (cell("gpt-4o", 25, asked=asked, dataset="eli5") for asked in (False, True))
    simulated = cell(GPT, 30)
    assert write_paper(PaperResults((simulated, beside)), tmp_path).exit_code == 0
    done = write_paper(PaperResults((named,)), tmp_path)
    assert done.exit_code == 1
    assert any("VSR of new/old is +0.25, published is +0.30" in line for line in done.lines)


@pytest.mark.parametrize(
    ("judge", "model", "shown"),
    [
        ("gpt-4o", "gpt-4o", "gpt-4o on eli5 (beside GPT-4o on ELI5)"),
        ("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o on eli5 (beside GPT-4o on ELI5)"),
        ("gpt-4o", "gpt-4o-mini", "gpt-4o on eli5"),
        ("gpt-4o", "gpt-6-luna", "gpt-4o on eli5"),
        ("gpt-4o", "simulated-gpt-4o", "gpt-4o (simulated) on eli5"),
    ],
)
def test_a_name_alone_makes_nobody_a_judge_of_the_paper(judge: str, model: str, shown: str) -> None:
    """A table may give any model the name gpt-4o: published numbers stand beside that very model, dated or not."""
    assert PaperRecordings(judge, "eli5", model=model).title == shown


@pytest.mark.slow
def test_a_simulated_judge_is_called_one_under_any_name(recordings: Path, tmp_path: Path) -> None:
    """Replayed as gpt-4o, its numbers are called simulated in page and terminal, and no published ones are beside."""
    shutil.move(recordings / GPT, recordings / "gpt-4o")
    (tmp_path / "own.toml").write_text(
        f'[judges.gpt-4o]\nprovider = "openai"\nmodel = "{GPT}"\nbase_url = "http://127.0.0.1:8080/v1"\n'
    )
    with open_run(tmp_path / "own.toml") as run:
        found = measure_paper(run, ["gpt-4o"], ["house-close"])
    text = paper_page(found, [])
    assert {row["judge"] for row in table(text, "Table 2.")} == {"gpt-4o (simulated)"}
    assert found.comparisons == ()
    assert all("gpt-4o (simulated)" in line for line in describe_paper(found)[:-1])


def test_of_a_real_judge_it_is_said_what_lies_within_the_interval() -> None:
    """+.30 was published: .25 of 100 pairs does not exclude it, .10 does, and neither is equal."""
    for value, within in ((25, 3), (10, 1)):
        (line, *_) = describe_paper(PaperResults((cell("gpt-4o", value, dataset="eli5"),)))
        assert line.startswith("gpt-4o on eli5 (beside GPT-4o on ELI5): 1 of 10 rates and 0 of 5 VSRs are equal")
        assert f" {within} of 15 published numbers" in line


def test_equal_is_equal_as_printed() -> None:
    """Of 200 pairs .305 is neither .30 nor .31; of 199 pairs 60 (.3015) is .30 as printed, and 59 (.296) too."""

    def is_equal(count: int, n: int, percent: int) -> bool:
        of = PaperRecordings(GPT, "house-close", model=GPT)
        return PublishedComparison(of, "rate", ("new", "old"), percent, proportion(count, n)).is_equal

    assert [is_equal(61, 200, percent) for percent in (30, 31)] == [False, False]
    assert [is_equal(count, 199, 30) for count in (58, 59, 60, 61)] == [False, True, True, False]


@pytest.mark.slow
def test_a_judge_of_which_nothing_was_published(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Its tables are written with hyphens for published numbers, there is nothing to compare, and that is no error."""
    monkeypatch.chdir(REPOSITORY)
    arguments = ["--judge", "simulated-silent", "--dataset", "house-close", "--into", str(tmp_path)]
    assert main(["paper", *arguments]) == 0
    assert lines_about(capsys.readouterr().out, "has no numbers") == snapshot
    rows = table((tmp_path / "paper.md").read_text(), "Table 2.")
    assert len(rows) == 12
    assert {row["published rate"] for row in rows} == {"-"}


@pytest.mark.parametrize(
    "arguments", [["--judge", "simulated-gtp-4o"], ["--dataset", "house-cloze"], ["--config", "nowhere.toml"]]
)
def test_a_mistake_is_one_sentence(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
) -> None:
    """A name or a file that there is not: exit code 2, what was meant, and nothing written."""
    monkeypatch.chdir(tmp_path)
    assert main(["paper", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err == snapshot
    assert shown.out == ""
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_written_is_named(
    recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A file in the way of --into is one sentence that names it."""
    (tmp_path / "file").touch()
    shutil.rmtree(recordings)
    assert main(["paper", "--into", "file/below"]) == 2
    assert lines_about(capsys.readouterr().err, "to file/below") == snapshot


# --- contradictions ---------------------------------------------------------------------------------------------


def contradicting(of: PublishedExperiment) -> PublishedExperiment:
    """Return an experiment whose published VSR of new and old is not the difference of its rates."""
    return replace(of, shifts=MappingProxyType({**of.shifts, ("new", "old"): 28}))


def test_a_published_vsr_that_its_own_rates_contradict_is_shown_with_both(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Both numbers stand in the table and in the list of contradictions; none is preferred in silence."""
    whole = tuple(contradicting(each) if each.shifts["new", "old"] == 30 else each for each in experiments())
    assert lines_about(table_inconsistencies(whole), "published rates") == snapshot
    assert "GPT-4o on ELI5, new/old: +0.28 is published, +0.30 by the rates" in table_inconsistencies(whole)
    monkeypatch.setattr(measured_room, "published_for", lambda *_: whole[0])
    (row,) = table(paper_page(PaperResults((cell(GPT, 30),)), []), "Figure 1.")
    assert (row["published VSR"], row["VSR"]) == ("+0.28 (its rates give +0.30)", "+0.30")


def test_the_page_says_where_the_paper_contradicts_itself(shipped: PaperResults, snapshot: SnapshotAssertion) -> None:
    """What VSR is, whose is smaller and where the labels stand: each with what is done about it."""
    part = paper_page(shipped, []).split("## Where the paper contradicts itself")[1]
    assert lines_about(part, "17 published VSRs", "Section 2.5", "in Table 1", "Appendix A.1") == snapshot


# --- the figure -------------------------------------------------------------------------------------------------


def test_the_same_numbers_give_the_same_files(shipped: PaperResults, tmp_path: Path) -> None:
    """Byte for byte, page and pictures, whatever style somebody has set up; without a day in them."""
    import matplotlib as mpl

    first, second = tmp_path / "first", tmp_path / "second"
    write_paper(shipped, first)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.hashsalt": "other"}):
        write_paper(shipped, second)
        assert mpl.rcParams["font.size"] == 30
    for name in ("paper.md", "figure-1.svg", "figure-1.png"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert "<dc:date>" not in (first / "figure-1.svg").read_text()
    assert (first / "figure-1.png").read_bytes().startswith(b"\x89PNG")


def test_the_figure_shows_every_number_of_its_table(
    shipped: PaperResults, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A mark at each measured VSR with its interval, a hollow one at each published number, in percentage points."""
    from matplotlib.axes import Axes

    bars: list[tuple[float, float, float]] = []
    points: list[float] = []
    errorbar, plot = Axes.errorbar, Axes.plot

    def seen_bar(axes: Axes, x: float, y: float, *, xerr: list[list[float]], **how: Any) -> Any:
        bars.append((x, x - xerr[0][0], x + xerr[1][0]))
        return errorbar(axes, x, y, xerr=xerr, **how)

    def seen_points(axes: Axes, x: list[float], *more: Any, **how: Any) -> Any:
        points.extend(x)
        return plot(axes, x, *more, **how)

    monkeypatch.setattr(Axes, "errorbar", seen_bar)
    monkeypatch.setattr(Axes, "plot", seen_points)
    cells = shipped.measured("recency")
    draw_figure(cells, tmp_path)
    for bar, each in zip(bars, cells, strict=True):
        assert each.vsr is not None
        assert bar == pytest.approx((100 * each.vsr.value, 100 * each.vsr.low, 100 * each.vsr.high))
    assert points == [30, 16, 16, 4]


def test_long_names_leave_room_for_the_picture(tmp_path: Path) -> None:
    """A name of 200 characters is cut in the figure, with no warning that the layout fails."""
    draw_figure([cell("j" * 200, 30, dataset="d" * 200)], tmp_path)
    assert figure_room.LONGEST < 200


@pytest.mark.slow
def test_without_matplotlib_the_page_is_written_all_the_same(
    recordings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """One sentence names the extra that brings it, the exit code is 2, and the page says why it has no figure."""
    assert recordings.is_dir()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(ANSWERS) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "judgefixtures[paper]" in shown.err
    text = Path("report/paper/paper.md").read_text()
    assert "10 of 10" in text
    assert lines_about(text, "matplotlib is") == snapshot
    assert "figure-1" not in text
    assert len(table(text, "Table 2.")) == 12


def test_an_old_figure_does_not_outlive_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib, the pictures of an earlier run are taken away: they are not of these numbers."""
    write_paper(PaperResults((cell(GPT, 30),)), tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_paper(PaperResults((cell(GPT, 20),)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["paper.md"]


@pytest.mark.whole
def test_the_room_imports_matplotlib_only_to_draw() -> None:
    """Whoever measures without drawing needs no matplotlib."""
    code = "import sys, judgefixtures.paper; print('matplotlib' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


# --- texts from outside -----------------------------------------------------------------------------------------


def test_a_message_from_outside_obeys_nobody() -> None:
    """What a file or a server said is shown as text: no Markdown, no HTML, no command to a terminal or a CI service."""
    hostile = "\x1b[2J::error::x\n| <img src=x> [link](http://a) `code`"
    faulty = replace(cell(GPT, 30), rates=None, vsr=None, fault=hostile)
    lacking = MissingRecordings(
        PaperRecordings("gpt-4o", "eli5", model="gpt-4o", asked=False), "pytest\n```\n# a title"
    )
    found = PaperResults((faulty,), (lacking,))
    text = paper_page(found, [])
    for sign in ("<img", " [link", " `code", "\x1b", "\n# a title"):
        assert sign not in text
    assert "&lt;img src=x&gt; \\[link\\](http://a)" in text
    assert all("\x1b" not in line and "\n" not in line for line in describe_paper(found))


def test_nothing_but_the_data_file_has_the_published_numbers() -> None:
    """The simulated judges answer by the same file: a number that is mended is mended for both."""
    from judgefixtures.simulator.behaviour import PUBLISHED

    assert {key: dict(rates) for key, rates in PUBLISHED.items()} == {
        (each.model, each.content_type): dict(each.rates) for each in published.experiments()
    }
