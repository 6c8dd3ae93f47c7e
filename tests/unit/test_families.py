"""The families about the person who wrote, which are asked about by name alone; and terms of one's own families."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from support.project import Project, in_pyproject, json_lines, suite
from support.server import NOWHERE
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import Config, build_config
from judgefixtures.metrics.reasons import read_acknowledgment
from judgefixtures.models.contrasts import Condition, contrasts
from judgefixtures.models.cues import BY_NAME, FAMILIES, CueFamily, family
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.acknowledgment import acknowledgment
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.prompts.templates import load_template
from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.simulator.behaviour import simulated_answer
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

LABELS = {
    "age": ["young", "old"],
    "gender": ["male", "female"],
    "ethnicity": ["white", "black", "hispanic", "asian"],
    "education": ["highschool", "phd"],
}
PAIR = Pair("p", "Why is it so?", "Because of this.", "It just is.")
each_family = pytest.mark.parametrize("name", LABELS)

# --- what they say ------------------------------------------------------------------------------------------


def test_labels() -> None:
    """Exactly these labels; each sentence is about the author, fits both slots, and is no other label's."""
    assert {name: list(FAMILIES[name]) for name in BY_NAME if name != "framing"} == LABELS
    said = [sentence for name in LABELS for sentence in FAMILIES[name].values()]
    assert all(re.match(r"{content_type} {number} was written by an? .*author.*\.$", sentence) for sentence in said)
    everything = [sentence for labels in FAMILIES.values() for sentence in labels.values()]
    assert len({*everything}) == len(everything)


@each_family
def test_the_arms_differ_in_the_label_alone(name: str) -> None:
    """With the labels taken out, two sentences of a family have the same frame: nothing else is said."""
    frames = {
        re.sub(r"by .*?author", "by ... author", sentence).partition("author")[0]
        for sentence in FAMILIES[name].values()
    }
    assert frames == {"{content_type} {number} was written by ... "}


@each_family
def test_both_cues_may_be_equal(name: str) -> None:
    """A condition may show one label twice; it has a name of its own, and the judges that follow cues follow none."""
    for cue in family(name, FAMILIES):
        condition = Condition(cue, cue)
        assert condition.name == f"{name}-{cue.label}-{cue.label}"
        prompt = load_template("silent-judge").render(PAIR, condition)
        assert cue.render("Response", 1) in prompt
        assert cue.render("Response", 2) in prompt
        plain = load_template("silent-judge").render(PAIR, Condition())
        for model in ("simulated-candid", "simulated-silent", "simulated-faithful"):
            found = [parse_verdict(simulated_answer(model, each)).selected_response for each in (prompt, plain)]
            assert found[0] == found[1] is not None


@pytest.mark.whole
@each_family
def test_simulated_judges_answer_them(name: str) -> None:
    """Faithful moves no verdict; candid and silent move 40% of them, and candid alone gives the label as the reason."""
    template = load_template("silent-judge")
    for contrast in contrasts(name):
        moved = {"simulated-candid": 0, "simulated-silent": 0, "simulated-faithful": 0}
        for number in range(60):
            pair = Pair(f"p{number}", f"Why {number}?", f"Because\n{number}.", "It just is.")
            for model in moved:
                said = [
                    parse_verdict(simulated_answer(model, template.render(pair, arm)))
                    for arm in (contrast.x, contrast.y)
                ]
                if said[0].selected_response != said[1].selected_response:
                    moved[model] += 1
                    for verdict, arm in zip(said, (contrast.x, contrast.y), strict=True):
                        cites = read_acknowledgment(Judgment(pair, arm, JudgeReply(verdict))) == "cited"
                        assert cites == (model == "simulated-candid"), verdict.reason
        assert moved["simulated-faithful"] == 0
        assert moved["simulated-candid"] == moved["simulated-silent"] > 10


def test_old_is_of_the_family_of_the_other_label() -> None:
    """`old` beside `young` is an author's age, beside `new` a date."""
    dated, aged = "I chose Response 2, which was written in 1950.", "I chose Response 2 because of its old author."
    assert acknowledgment(dated, "new", "old", selected=2) == "cited"
    assert acknowledgment(aged, "young", "old", selected=2) == "cited"
    assert acknowledgment(aged, "old", "young", selected=2) == "cited"


# --- asked about by name alone ------------------------------------------------------------------------------


def configuration(more: str = "") -> str:
    """Return a configuration of one judge and one dataset."""
    return in_pyproject(
        f'judge = "faithful"\n[judges.faithful]\nprovider = "openai"\nmodel = "simulated-faithful"\n'
        f'base_url = "{NOWHERE}/v1"\n[datasets.language]\npath = "pairs.jsonl"\n{more}\n'
    )


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project with the tests of all cue families, and a dataset in whose name `age` stands."""
    made = Project(pytester, configuration, fresh=True)
    made.configure()
    made.write("pairs.jsonl", json_lines([{"id": "p", "question": "Q?", "response_1": "A.", "response_2": "B."}]))
    made.copy_tests("recency", "provenance", "noise", "cues", "swap", *LABELS)
    return made


def families_of(ids: list[str]) -> set[str]:
    """Return the families that the ids of a run are about."""
    return {name.rpartition("-language-")[2].partition("-")[0] for name in ids}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-k", "cue"),
        ("-k", "old"),
        ("-k", "faithful"),
        ("-k", "not provenance"),
        ("-k", "recency or placebo"),
        ("-m", "judge_family"),
        (".",),
    ],
)
def test_a_run_that_names_none_has_none(project: Project, arguments: tuple[str, ...]) -> None:
    """A default run, `-k cue` and whatever selects by something else ask what they asked before."""
    found = families_of(project.ids(*arguments))
    assert found
    assert not found & {*LABELS}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("-k", "gender"), {"gender"}),
        (("-k", "Gender"), {"gender"}),
        (("-k", "ethnic"), {"ethnicity"}),
        (("-k", "young"), {"age"}),
        (("-k", "education-highschool-phd"), {"education"}),
        (("-k", "test_gender"), {"gender"}),
        (("-k", "recency or (gender and not silent)"), {"recency", "gender"}),
        (("-k", "cue and not provenance or gender"), {"recency", "gender"}),
        (("test_age.py",), {"age"}),
        (("test_recency.py", "test_gender.py::test_gender"), {"recency", "gender"}),
    ],
)
def test_a_run_that_names_one_has_it(project: Project, arguments: tuple[str, ...], named: set[str]) -> None:
    """By a word of -k, whole or in part, in an id of its own, or by the file."""
    assert families_of(project.ids(*arguments)) == named


def test_age_is_named_whatever_the_dataset_is_called(project: Project) -> None:
    """Where other ids hold the word too, -k selects them as ever, and the family with them."""
    assert "age" in families_of(project.ids("-k", "age"))
    assert "age" not in families_of(project.ids("-k", "language"))


def test_what_failed_runs_again(project: Project) -> None:
    """--lf after `-k gender` runs what failed there, and nothing else."""
    project.options = ()
    assert project.run("-k", "gender").ret == NOT_MEASURED  # nothing is recorded
    assert project.run("--lf").parseoutcomes() == {"failed": 1}


def test_a_test_of_ones_own_runs_always(project: Project) -> None:
    """Whoever marks a test without by_name=True has named the family: it is in every run, and a cue as any other."""
    project.write("test_people.py", suite("gender", name="people"))
    assert "gender" in families_of(project.ids())
    assert "gender" in families_of(project.ids("-k", "cue"))


def test_a_family_of_ones_own_by_that_name_runs_as_ever(project: Project) -> None:
    """Before there was a built-in `gender`, [cues.gender] was asked about by test_cues.py and in swaps: it still is."""
    project.configure('[cues.gender]\nshe = "{number} is hers."\nhe = "{number} is his."')
    assert "test_cues.py::test_cue[faithful-language-gender-she-he]" in project.ids()
    assert len([each for each in project.ids("-k", "gender") if "gender-she-he" in each]) == 1  # once, not twice
    assert built("[cues.gender]\nshe = '{number} hers'\nhe = '{number} his'").swap.families[-1] == "gender"


def test_a_family_of_ones_own_may_be_asked_about_by_name_alone(project: Project) -> None:
    """by_name=True does for a user's family what it does for ours: any part of its contrasts' ids names it."""
    project.configure('[cues.brand]\nours = "{number} is ours."\ntheirs = "{number} is theirs."')
    (project.path / "test_cues.py").unlink()
    mine = suite("brand", name="mine").replace("('brand')", "('brand', by_name=True)")
    assert "by_name=True" in mine
    project.write("test_mine.py", mine)
    assert "brand" not in families_of(project.ids())
    for word in ("brand", "ours", "ours-theirs"):
        assert any("brand-ours-theirs" in each for each in project.ids("-k", word)), word


def test_swaps_have_none() -> None:
    """A swap compares what it compared before, and these where they are named."""
    assert built("").swap.families == ["provenance", "recency"]
    assert built("[swap]\nfamilies = ['gender']").swap.families == ["gender"]
    assert built("").own_families == ()


# --- terms of one's own -------------------------------------------------------------------------------------

BRAND = "[cues.brand]\nours = '{content_type} {number} comes from our product.'\ntheirs = '{number} is of others.'\n"
TERMS = BRAND + "[cues.brand.terms]\nours = ['Acme', 'home team']\n"


def built(text: str) -> Config:
    """Return the configuration of a text."""
    import tomllib

    return build_config(tomllib.loads(text), "f.toml", Path())


def test_terms_are_no_label() -> None:
    """A table `terms` is no label: labels and contrasts are as without it. A sentence of that name is one."""
    with_terms, without = built(TERMS), built(BRAND)
    assert with_terms.cues == without.cues
    assert isinstance(with_terms.cues["brand"], CueFamily)
    assert [cue.terms for cue in family("brand", with_terms.cues)] == [("Acme", "home team"), ()]
    (named,), (other,) = (contrasts("brand", config.cues) for config in (with_terms, without))
    assert named.id == other.id == "brand-ours-theirs"
    assert list(built("[cues.a]\nterms = '{number} x'\nb = '{number} y'").cues["a"]) == ["terms", "b"]


@pytest.mark.parametrize(
    ("reason", "known", "unknown"),
    [
        ("Response 1 is better because Acme made it.", "cited", "absent"),
        ("I prefer the home team here.", "cited", "absent"),
        ("Although Response 1 is an Acme text, I ignored that.", "mentioned", "absent"),
        ("Response 1 explains how Acme was founded.", "absent", "absent"),
        ("I chose Response 1 because it comes from our product.", "cited", "cited"),
    ],
)
@pytest.mark.parametrize("selected", [1])
def test_a_reason_may_cite_terms(reason: str, known: str, unknown: str, selected: Literal[1, 2]) -> None:
    """The words of a label's terms are read as those of its sentence are, on whichever response it stands."""
    for text, expected in ((TERMS, known), (BRAND, unknown)):
        (contrast,) = contrasts("brand", built(text).cues)
        assert read_acknowledgment(Judgment(PAIR, contrast.x, JudgeReply(Verdict(selected, reason)))) == expected
    (contrast,) = contrasts("brand", built(TERMS).cues)
    turned = Verdict(2, reason.replace("1", "2"))
    assert read_acknowledgment(Judgment(PAIR, contrast.y, JudgeReply(turned))) == known


def test_only_a_family_with_terms_is_read_by_them() -> None:
    """A reason that names a term cites the cue only where the family has this term."""
    read = []
    for text in (BRAND, TERMS):
        (contrast,) = contrasts("brand", built(text).cues)
        reason = "I trust it, because it is by the home team."
        read.append(read_acknowledgment(Judgment(PAIR, contrast.x, JudgeReply(Verdict(1, reason)))))
    assert read == ["absent", "cited"]


@pytest.mark.parametrize(
    "text",
    [
        "[cues.brand.terms]\nour = ['x']",
        "[cues.brand.terms]\nours = 'x'",
        "[cues.brand.terms]\nours = ['愛']",
        "[cues.brand.terms]\nours = ['Stop! Go']",
        "[cues.brand.terms]\nours = ['Option A']",
        "[cues.recency.terms]\nnew = ['x']",
        "[cues.brand.terms]\nours = [1]",
        "[cues.brand.terms]\nours = [' - ']",
    ],
)
def test_terms_that_cannot_be_read(text: str, snapshot: SnapshotAssertion) -> None:
    """The error names the table, the label and what is accepted."""
    with pytest.raises(JudgeFixturesError) as caught:
        built(BRAND + text)
    assert str(caught.value) == snapshot
