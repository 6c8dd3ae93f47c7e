"""What the preflight says a swap can come to: which sizes, margins and chances it is about, and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.project import REPOSITORY, json_lines, rows_of
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks import SwapCheck
from judgefixtures.checks.base import CheckId
from judgefixtures.client.costs import Cost
from judgefixtures.config import SwapTable, build_config
from judgefixtures.run.preflight_swap import swap_preflight_lines
from judgefixtures.run.run import Run, RunOptions
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics.grader_swap_power import GraderSwapMargins, grader_swap_prospect
from judgefixtures.swap import guard_margin

SIMULATED = "simulated for 14 contrasts in 2 families on 2 datasets, the default margins and one look (docs/explanation/swap.md)"


def a_run(folder: Path, sizes: Sequence[int] = (100, 100), *, gate: Any = None, **swap: Any) -> Run:
    """Return a run of two judges on datasets of so many pairs, `d0`, `d1`, ...; nothing is recorded."""
    for at, size in enumerate(sizes):
        (folder / f"d{at}.jsonl").write_text(json_lines(rows_of(load_pairs(Source("house-close"))[:size])))
    judges = {name: {"provider": "openai", "model": "m", "price": {"input": 1, "output": 1}} for name in ("new", "old")}
    datasets = {f"d{at}": {"path": f"d{at}.jsonl"} for at in range(len(sizes))}
    config = build_config({"judges": judges, "datasets": datasets, "swap": swap, "gate": gate or {}}, folder=folder)
    return Run(config, folder / "cassettes")


def parts(run: Run, families: Sequence[str] = ("provenance", "recency"), accuracy: bool = False) -> list[CheckId]:
    """Return the parts of a swap in these families on all datasets."""
    checks = [SwapCheck(each, 14) for family in families for each in run.contrasts(family)]
    checks += [SwapCheck(None, 14)] * accuracy
    return [CheckId("new", dataset, check, "old") for dataset in run.config.dataset_names for check in checks]


def said(run: Run, *subjects: CheckId, missing: Mapping[str, Cost] | None = None) -> list[str]:
    """Return what is said of these parts, or of all."""
    return swap_preflight_lines(run, subjects or parts(run), missing or {})


def cells(line: str) -> list[str]:
    """Return the cells of a table's line."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_chances_are_those_of_the_design_that_was_simulated(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """What is simulated as it is has no caveat; without an accuracy item accuracy cannot be rejected."""
    with a_run(tmp_path) as run:
        lines, whole = said(run), said(run, *parts(run, accuracy=True))
    assert lines_about(lines, "look (docs/") == snapshot
    assert not any(line.startswith(("this swap differs", "?", "datasets have")) for line in lines)
    assert [cells(line)[3] for line in lines[2:8]] == ["-"] * 6
    assert all("/" in cells(line)[3] for line in whole[2:8])


@pytest.mark.parametrize(
    ("swap", "gate", "families"),
    [
        ({"vsr_margin": 0.15}, {}, ("provenance", "recency")),
        ({"looks": [50, 100]}, {}, ("provenance", "recency")),
        ({}, {"confidence": 0.98}, ("provenance", "recency")),
        ({}, {}, ("recency",)),
    ],
)
def test_another_design_than_was_simulated_is_named(
    tmp_path: Path, swap: dict[str, Any], gate: dict[str, Any], families: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """Margins, looks, level and layout in which a swap is another one stand below the table."""
    with a_run(tmp_path, gate=gate, **swap) as run:
        assert lines_about(said(run, *parts(run, families)), "swap differs") == snapshot


def test_datasets_of_other_sizes(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Chances and the guard are those of the smallest one, and that is said; so is why a chance is not known."""
    with a_run(tmp_path, (20, 80)) as run:
        lines = said(run)
    assert lines_about(lines, "datasets have", "not simulated") == snapshot
    assert [cells(line)[0] for line in lines[2:8]] == ["20", "20", "100", "100", "200", "200"]
    assert cells(lines[2])[2] == "? / ? / ?"
    margin = f"{guard_margin(20, 14, SwapTable()):.2f}"
    (line,) = lines_about(lines, "20 to 80 pairs, an APPROVE")
    assert line.endswith(f" {margin} or more")
    assert [cells(line)[5] for line in lines[2:8:2]] == ["2800", "5600", "11200"]  # 2 judges, 2 arms, 7 contrasts


@pytest.mark.whole
def test_what_is_missing_is_said_where_it_is_recorded(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The command has the datasets that were selected, and how many calls it would make of which judge."""
    with a_run(tmp_path) as run:
        whole = said(run, missing={"new": Cost(4, 0, 0, 0.25), "old": Cost(3, 0, 0, 0.25)})[-1]
        unknown = said(run, missing={"new": Cost(7, 0, 0, None), "old": Cost(0, 0, 0, 0.0)})[-1]
        with Run(run.config, tmp_path / "cassettes", RunOptions(datasets=("d0", "d1"))) as some:
            chosen = said(some)[-1]
    command = "pytest -k swap --judge new --judge-baseline old"
    assert whole == snapshot
    assert lines_about(unknown, "with controls") == snapshot
    assert chosen.endswith(f"{command} --judge-dataset d0 --judge-dataset d1 --judge-record missing")


@pytest.mark.parametrize(
    "margins", [{}, {"accuracy": 0.2}, {"rate": 0.2, "accuracy": 0.1}, {"pass_rate": 0.05}], ids=str
)
def test_what_graders_may_expect_is_by_the_margins_that_are_set(tmp_path: Path, margins: dict[str, float]) -> None:
    """Of 100 labels, balanced: how often equal graders take over with [swap]'s margins of accuracy and of both rates."""
    rows = [
        {"id": at, "question": f"{at}?", "response": "So.", "label": "pass" if at % 2 else "fail"} for at in range(100)
    ]
    (tmp_path / "own.jsonl").write_text(json_lines(rows))
    judges = {name: {"provider": "openai", "model": "m", "mode": "binary"} for name in ("new", "old")}
    swap = {f"{name}_margin": margin for name, margin in margins.items()}
    config = build_config({"judges": judges, "datasets": {"own": {"path": "own.jsonl"}}, "swap": swap}, folder=tmp_path)
    with Run(config, tmp_path / "cassettes") as run:
        (line, *_) = said(run, CheckId("new", "own", SwapCheck(None, 1, graded=True), "old"))
    expected = grader_swap_prospect(50, 50, GraderSwapMargins(**margins))
    assert expected in line
    assert (expected == grader_swap_prospect(50, 50)) == (not margins)


def test_the_baselines_repeats_say_how_often_it_flips(snapshot: SnapshotAssertion) -> None:
    """Where repeats of the baseline are recorded, the chances are for its own share of flips."""
    with Run.from_config(REPOSITORY / "pyproject.toml") as run:
        compared = [
            CheckId("simulated-gpt-4o", dataset, SwapCheck(each, 14), "simulated-noisy")
            for dataset in ("house-close", "house-close-stories")
            for family in ("provenance", "recency")
            for each in run.contrasts(family)
        ]
        lines = said(run, *compared)
    assert lines_about(lines[0], "baseline's repeats") == snapshot
    assert [cells(line)[:2] for line in lines[2:5]] == [["100", "0.05"], ["200", "0.05"], ["300", "0.05"]]
