"""A judge is compared with single people on every example that two of them labelled, ties included."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks import Answers, CheckInput
from judgefixtures.checks.human_agreement import AgreementCheck
from judgefixtures.config import build_config, judge_table
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.agreement_rows import AgreementRow
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.simulator.server import serving
from judgefixtures.statistics.annotators import difference_from_people, gate_as_people, people_chances
from judgefixtures.statistics.estimate import Status
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

TABLE = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "mode": "binary"}
LABEL = st.sampled_from(["pass", "fail"])
LABELS = st.lists(LABEL, min_size=2, max_size=6)


def by_definition(selected: str | None, labels: Sequence[str]) -> float:
    """Return the difference person by person: the judge's agreement with the others less the person's with them."""
    parts = []
    for person, own in enumerate(labels):
        others = [label for other, label in enumerate(labels) if other != person]
        parts.append(
            sum(selected == each for each in others) / len(others) - sum(own == each for each in others) / len(others)
        )
    return sum(parts) / len(parts)


@given(st.none() | LABEL, LABELS)
def test_the_difference_is_that_of_its_definition(selected: str | None, labels: list[str]) -> None:
    """Counts give what comparing with every person gives; it lies between -1 and 0.5."""
    found = difference_from_people(selected, labels)
    assert found == pytest.approx(by_definition(selected, labels))
    assert -1 <= found <= 0.5 + 1e-12


@given(LABEL, LABELS, st.randoms())
def test_neither_order_nor_names_matter(selected: str, labels: list[str], rng: random.Random) -> None:
    """Who said what in which order is nothing; nor is which of the two labels is called pass."""
    turned = {"pass": "fail", "fail": "pass"}
    found = difference_from_people(selected, labels)
    assert difference_from_people(selected, rng.sample(labels, len(labels))) == pytest.approx(found)
    assert difference_from_people(turned[selected], [turned[each] for each in labels]) == pytest.approx(found)


@given(LABELS)
def test_a_person_in_place_of_the_judge_differs_by_nothing_in_the_mean(labels: list[str]) -> None:
    """A judge that copies a person at random agrees more than a person by that one's own label alone."""
    mean = sum(difference_from_people(each, labels) for each in labels) / len(labels)
    disagreeing = 1 - sum(labels.count(each) - 1 for each in labels) / (len(labels) * (len(labels) - 1))
    assert mean == pytest.approx(disagreeing / len(labels))


@given(LABELS)
def test_an_invalid_answer_counts_at_worst(labels: list[str]) -> None:
    """No answer agrees with nobody: it is never better than any answer."""
    assert difference_from_people(None, labels) <= min(
        difference_from_people(each, labels) for each in ("pass", "fail")
    )


def test_one_label_is_none_of_several_people(snapshot: SnapshotAssertion) -> None:
    """Of one person there is nobody else to agree with."""
    with pytest.raises(ValueError) as error:
        difference_from_people("pass", ["pass"])
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("differences", "status", "words"),
    [
        ([0.5, -0.5, 0.0, 0.0] * 100, Status.PASS, "as well as they agree"),
        ([-1.0, 0.0] * 50, Status.FAIL, "agrees less with people"),
        ([-0.04] * 900 + [0.5, -0.5] * 50, Status.PASS, "slightly less"),
        ([0.5, -1.0, 0.0] * 10, Status.INCONCLUSIVE, "may agree"),
        ([0.0] * 40, Status.INCONCLUSIVE, "may agree"),
        ([0.0] * 60, Status.PASS, "as well as they agree"),
    ],
)
def test_bounds_decide(differences: list[float], status: Status, words: str) -> None:
    """The lower bound is held to the margin, the upper one to 0; the sentence says which of both held."""
    result = gate_as_people(differences)
    assert (result.status, words in result.message) == (status, True)
    assert ("use about" in result.message or "add examples" in result.message) == (status is Status.INCONCLUSIVE)


def test_related_examples_tell_less() -> None:
    """Four copies of one example are one: the interval is that of the clusters, and few clusters decide nothing."""
    differences = [0.5, -0.5, 0.0, 0.0] * 25
    alone = gate_as_people([each for each in differences for _ in range(4)])
    related = gate_as_people([each for each in differences for _ in range(4)], clusters=[n // 4 for n in range(400)])
    assert related.estimate.value == alone.estimate.value
    assert related.estimate.high - related.estimate.low > 1.5 * (alone.estimate.high - alone.estimate.low)
    few = gate_as_people([0.0] * 400, clusters=[n % 3 for n in range(400)])
    assert (few.status, "too few" in few.message) == (Status.INCONCLUSIVE, True)


def test_few_disagreements_are_no_proof() -> None:
    """Of people who never differ a judge that is at the margin, wrong in 5%, rarely passes: at most twice the level."""
    rng = random.Random(4)
    passed = [
        gate_as_people([-1.0 if rng.random() < 0.05 else 0.0 for _ in range(n)]).status is Status.PASS
        for n in (60, 100, 200)
        for _ in range(200)
    ]
    assert sum(passed) / len(passed) < 0.07


def test_chances_are_those_of_the_published_table() -> None:
    """What the preflight says of three people and 400 examples: an equal judge passes in .86, a worse one fails in .98."""
    well, less = people_chances(3, 400, 0.85)
    assert (well, less) == (pytest.approx(0.86, abs=0.02), pytest.approx(0.04, abs=0.02))
    assert people_chances(3, 400, 0.85 - 0.15 / 1.4)[1] == pytest.approx(0.98, abs=0.02)


@pytest.mark.parametrize(("people", "examples", "judge"), [(3, 40, 0.95), (3, 20, 0.95), (2, 60, 0.97)])
def test_chances_are_those_of_the_gate_where_few_differ(people: int, examples: int, judge: float) -> None:
    """Fewer than 20 differences can be a PASS by the score test: the preflight counts these as the gate does."""
    rng = random.Random(people)

    def drawn(accuracy: float) -> str:
        return "pass" if rng.random() < accuracy else "fail"

    statuses = [
        gate_as_people(
            [difference_from_people(drawn(judge), [drawn(0.85) for _ in range(people)]) for _ in range(examples)]
        )
        for _ in range(400)
    ]
    passed = sum(each.status is Status.PASS for each in statuses) / len(statuses)
    assert people_chances(people, examples, judge)[0] == pytest.approx(passed, abs=0.07)
    assert passed > 0.1


# --- the check ---------------------------------------------------------------------------------------------------


def planted(
    people: int, examples: int, accuracy: float, gate: dict[str, Any], seed: int = 1, ties: str = "recorded"
) -> Finding:
    """Return what is found of a judge with an accuracy, beside people who are right in 85%.

    Its answers about ties are recorded, missing or invalid.
    """
    rng, arm = random.Random(seed), []
    right = {True: "pass", False: "fail"}
    for number in range(examples):
        truth = rng.random() < 0.5
        labels = {f"p{n}": right[truth == (rng.random() < 0.85)] for n in range(people)}
        passed = list(labels.values()).count("pass")
        label = None if 2 * passed == people else right[2 * passed > people]
        pair = Example(f"e{number}", f"Why {number}?", f"So {number}.", label=label, labels=labels)  # type: ignore[arg-type]
        selected = 1 if truth == (rng.random() < accuracy) else 2
        verdict = Verdict(selected, "Because.", None)
        if label is None and ties == "invalid":
            verdict = Verdict(None, "", "refusal")
        arm.append(Judgment(pair, SingleResponseCondition(), JudgeReply(verdict)))
    pairs = tuple(each.pair for each in arm)
    arm = [each for each in arm if ties != "missing" or each.pair.label]  # type: ignore[attr-defined]
    config = build_config({"judges": {"mine": TABLE}, "gate": {"agreement": gate}})
    judge = load_judge(TABLE, "mine")
    check = AgreementCheck().for_mode(type(judge.kind), pairs)
    assert check.select_pairs(pairs) == pairs
    return check.evaluate(CheckInput(judge, "own", pairs, config), Answers((tuple(arm),)))


def row_of(finding: Finding) -> AgreementRow:
    """Return the row of all examples."""
    return next(row for row in finding.rows["agreement"] if row.category == "all")  # type: ignore[attr-defined,return-value]


@pytest.mark.parametrize(("people", "ties"), [(2, True), (3, False)])
def test_planted_judges_are_told_apart(people: int, ties: bool, snapshot: SnapshotAssertion) -> None:
    """A good judge agrees as well as people do, a poor one less; examples on which two people are tied count."""
    good, poor = (row_of(planted(people, 600, accuracy, {})) for accuracy in (0.92, 0.70))
    assert good.as_people is not None
    assert poor.as_people is not None
    assert (good.as_people.status, poor.as_people.status) == ("PASS", "FAIL")
    assert good.as_people.difference is not None
    assert good.as_people.difference.n == 600
    assert (good.as_people.ties > 0, good.n) == (ties, 600 - good.as_people.ties)
    assert ("kappa leaves out" in good.message) == ties
    assert lines_about(poor.message, "agrees less") == snapshot


def test_it_decides_where_that_is_set() -> None:
    """By default it is shown; with as_people a judge that agrees less fails, and one that agrees as well passes."""
    shown = planted(3, 600, 0.70, {})
    assert (shown.status, row_of(shown).status) == (Status.NOT_APPLICABLE, "NOT_APPLICABLE")
    poor, good = (planted(3, 600, accuracy, {"as_people": True}) for accuracy in (0.70, 0.92))
    assert (poor.status, good.status) == (Status.FAIL, Status.PASS)
    assert [part.name for part in poor.decided_by] == ["as_people"]
    strict = planted(3, 600, 0.86, {"as_people": True, "people_margin": 0.001})
    assert strict.status is Status.INCONCLUSIVE
    assert row_of(strict).as_people.margin == 0.001  # type: ignore[union-attr]


@pytest.mark.parametrize("accuracy", [0.92, 0.70])
def test_without_its_answers_about_ties_nothing_is_decided(accuracy: float, snapshot: SnapshotAssertion) -> None:
    """A judge and people agree least on ties: the comparison that leaves them out is INCONCLUSIVE and says so."""
    found = planted(2, 600, accuracy, {"as_people": True}, ties="missing")
    assert (found.status, row_of(found).as_people.status) == (Status.INCONCLUSIVE, "INCONCLUSIVE")  # type: ignore[union-attr]
    ties = row_of(planted(2, 600, accuracy, {})).as_people.ties  # type: ignore[union-attr]
    assert f" {ties} ties between people" in found.reasons[0]
    assert found.reasons[0] == snapshot


def test_invalid_answers_about_ties_are_too_many_as_well() -> None:
    """They have no label, and count to max_invalid all the same."""
    found = planted(2, 600, 0.92, {"as_people": True}, ties="invalid")
    ties = row_of(planted(2, 600, 0.92, {})).as_people.ties  # type: ignore[union-attr]
    assert (found.status, f"{ties} of 600 grades" in found.reasons[0]) == (Status.ERROR, True)


@pytest.mark.parametrize("gate", [{"people_margin": 0}, {"people_margin": 1.5}, {"as_people": "yes"}])
def test_other_settings_are_refused(gate: dict[str, Any]) -> None:
    """A margin is a share, and as_people is true or false."""
    with pytest.raises(JudgeFixturesError):
        build_config({"gate": {"agreement": gate}}).gate("agreement")


def test_the_preflight_says_what_people_can_show(snapshot: SnapshotAssertion) -> None:
    """For the numbers of people and examples that there are."""
    pairs = [
        Example(f"e{n}", "Why?", "So.", label="pass", labels={"a": "pass", "b": "pass", "c": "fail"})
        for n in range(400)
    ]
    said = AgreementCheck().prospect(
        build_config({}), judge_table({"provider": "openai", "model": "m", "mode": "binary"}), "own", pairs
    )
    assert lines_about(said, "that agrees") == snapshot
    related = [replace(each, cluster=str(n // 10)) for n, each in enumerate(pairs)]
    said = AgreementCheck().prospect(
        build_config({}), judge_table({"provider": "openai", "model": "m", "mode": "binary"}), "own", related
    )
    assert lines_about(said, "clusters of") == snapshot


# --- recorded and replayed ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_recordings_without_ties_replay(pytester: pytest.Pytester) -> None:
    """A replay of a recording that has no ties leaves them out and says so; a recording asks about them."""
    with serving() as server:
        project = Project(pytester, in_pyproject, fresh=True)
        project.copy_tests("agreement")
        tables = (
            'judge = "ours"\ndataset = ["own"]\ncontrol = false\n[datasets.own]\npath = "own.jsonl"\n[judges.ours]\n'
            f'provider = "openai"\nbase_url = "{server.url}/v1"\nmodel = "simulated-grader-all-fail"\nmode = "binary"\n'
            "[gate.agreement]\nas_people = true\n"
        )
        project.write(project.file, in_pyproject(tables))

        def data(*, ties: bool) -> None:
            labels = [("pass", "pass"), ("fail", "fail"), ("pass", "fail") if ties else None]
            rows = [
                {"id": f"e{n}", "question": f"Why {n}?", "response": f"So {n}.", "content_type": "qa"}
                | ({"labels": dict(zip("ab", each, strict=True))} if (each := labels[n % 3]) else {})
                for n in range(90)
            ]
            project.write("own.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

        def ran(*options: str) -> tuple[str, dict[str, Any]]:
            run = project.run("-k", "agreement", "--judge-report", "report", *options)
            (row,) = (each for each in project.report()["agreement"] if each["category"] == "all")
            assert (project.path / "report" / "report.html").exists()
            return run.said.replace("\n", " "), row

        data(ties=False)
        ran("--judge-record", "missing")
        data(ties=True)
        said, row = ran()
        assert "of 30 ties between people 30 are not recorded" in said
        assert row["status"] == "INCONCLUSIVE"
        assert (row["as_people"]["difference"]["n"], row["as_people"]["ties"], row["n"]) == (60, 0, 60)
        said, row = ran("--judge-record", "missing")
        assert "are not recorded" not in said
        assert (row["as_people"]["difference"]["n"], row["as_people"]["ties"], row["n"]) == (90, 30, 60)
        assert ran()[1] == row
        assert [each["part"] for each in row.get("decided_by", [])] in (["as_people"], [])
