"""What the reading of reasons must hold to: its vocabulary, its features, its weights, and how well it does.

data/rationales/ holds labelled reasons, a file per author; those of HELD_BACK nothing was learned from, and their
reasons were read by nobody who changed the detector. benchmarks/measure_stance.py prints the same numbers.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from judgefixtures.parsing import acknowledgment_classifier, lexicon
from judgefixtures.parsing.acknowledgment_classifier import cue_references
from judgefixtures.parsing.reason_sentences import split_sentences
from judgefixtures.statistics.detector_correction import OFFLINE

ROOT = Path(__file__).parents[2]
TERMS = sorted((ROOT / "judgefixtures" / "data" / "terms").glob("*.toml"))
WEIGHTS = ROOT / "judgefixtures" / "data" / "stance.en.txt"


def load(name: str) -> ModuleType:
    """Return a module of benchmarks/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


measuring = load("measure_stance")


# --- words ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Response 1 isn't old.", [["r1", "is", "not", "old"]]),
        ("R2 can't; it won't!", [["r2", "can", "not"], ["it", "will", "not"]]),
        ("**Assistant A** is; the second one", [["r1", "is"], ["r2"]]),
        ("It has first-hand knowledge, at first.", [["it", "has", "first", "hand", "knowledge", ",", "at", "first"]]),
        ("The first is 2/3 long, 1.5 times; 2 wins", [["r1", "is", "2", "3", "long", ",", "1"]]),
        ("", []),
        ("<think>\n\n</think>", [["think"], ["think"]]),
    ],
)
def test_a_text_is_sentences_of_words(text: str, words: list[list[str]]) -> None:
    """Responses have one name, negations are words, fractions are no responses, and markup is none."""
    found = split_sentences(text)
    assert found[: len(words)] == words or [each[: len(words[0])] for each in found][:1] == words


def term_cases() -> list[tuple[str, str, str]]:
    """Return every term of every file, with its class."""
    found = []
    for file in TERMS:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        name = file.name.split(".")[0]
        groups = (
            table["classes"]
            if name == "common"
            else {**table["values"], "ATTR": table["attribute"], "HINT": table["hints"]}
        )
        found += [(name, group, term) for group, terms in groups.items() for term in terms]
    return found


@pytest.mark.parametrize("file", [file.name.split(".")[0] for file in TERMS])
def test_every_term_is_found_in_a_text_and_nothing_where_there_is_none(file: str) -> None:
    """A term that the reading cuts up would never match: each has its class, alone and in a sentence."""
    family = lexicon.common_terms() if file == "common" else lexicon.family_terms(file)
    for name, group, term in term_cases():
        if name != file:
            continue
        kind = group.upper() if file == "common" else group if group.isupper() else lexicon.VALUE + group
        for text in (term, f"zzz {term} zzz"):
            (words,) = split_sentences(text.replace("*", ""))
            marks = family.classes(words)
            assert sum(kind in mark for mark in marks) >= len(term.split()), (group, term, words)
        assert not any(family.classes(["zzz", "xqx"]))


def test_the_files_name_the_labels_of_the_families() -> None:
    """Each built-in family has a file, with words for each of its labels, and no other label."""
    assert {file.name.split(".")[0] for file in TERMS} == {*lexicon.BUILT_IN, "common"}
    for family, labels in lexicon.BUILT_IN.items():
        file = next(file for file in TERMS if file.name.startswith(family))
        assert set(tomllib.loads(file.read_text(encoding="utf-8"))["values"]) == labels


# --- features -------------------------------------------------------------------------------------------------

EXPERT = ("expert", "llm")


def features(text: str, selected: int | None = 1, cues: tuple[str, str] = EXPERT) -> set[str]:
    """Return the features of a text's sentences."""
    found = cue_references(text, lexicon.family_terms(lexicon.families_of(*cues)[0]), "x", cues, selected)
    return {feature for each in found for feature in each.own | each.shared}


@pytest.mark.parametrize(
    ("feature", "text", "other"),
    [
        ("w:because", "Better because an expert wrote it.", "Better, an expert wrote it."),
        ("z:becau", "Better because an expert wrote it.", "Better, an expert wrote it."),
        ("b:VW_is", "An expert is right.", "An expert may be right."),
        ("b:the_VL", "I know the machine.", "I know that machine."),
        ("c:DISCLAIMER", "An expert wrote it, regardless.", "An expert wrote it."),
        ("c:NEGATION", "No expert wrote it.", "An expert wrote it."),
        ("c:CONCESSION", "Although an expert wrote it, no.", "An expert wrote it."),
        ("o:REASON<VW", "Better because an expert wrote it.", "An expert wrote it, because."),
        ("o:VW<TURN", "An expert wrote it, but badly.", "But an expert wrote it."),
        ("q:VW>REASON", "An expert, therefore.", "Therefore an expert."),
        ("k:VW~like", "I like the expert.", "I like it, but the expert is bad."),
        ("K:VW~NEGATION", "It is not by an expert.", "It is not bad, an expert is."),
        ("kb:VW~because", "Better because the expert.", "Better and the expert."),
        ("ka:VW~but", "An expert but bad.", "An expert and bad."),
        ("f:x|expert", "An expert.", "A specialist."),
        ("p:good", "It is good. An expert.", "An expert. It is good."),
        ("pc:DISCLAIMER", "It is irrelevant. An expert.", "An expert. It is irrelevant."),
        ("x:good", "An expert. It is good.", "It is good. An expert."),
        ("xc:DISCLAIMER", "An expert. That is irrelevant.", "That is irrelevant. An expert."),
        ("x:NONE", "An expert.", "An expert. It is good."),
        ("G:s2", "An expert. A machine.", "An expert."),
        ("G:nospan", "Its author is unclear to me. Regardless of who wrote it.", "An expert."),
        ("g:because", "Because of the expert. It is good.", "The expert. Because it is good."),
        ("gc:REASON", "Because of the expert. Yes.", "The expert. Because yes."),
    ],
)
def test_a_feature_is_there_and_is_not(feature: str, text: str, other: str) -> None:
    """Each group of features, where it has to be and where it must not."""
    cues = ("expert", "llm") if feature != "G:nospan" else ("new", "old")
    assert feature in features(text, cues=cues)
    assert feature not in features(other, cues=cues if feature != "G:nospan" else EXPERT)


@pytest.mark.parametrize(
    ("selected", "cues", "symbol"),
    [
        (1, ("expert", "llm"), "VW"),
        (2, ("expert", "llm"), "VL"),
        (None, ("expert", "llm"), "V"),
        (1, ("expert", "expert"), "VB"),
        (1, ("human", "llm"), "VN"),
        (2, ("", "expert"), "VW"),
    ],
)
def test_a_word_stands_for_its_side(selected: int | None, cues: tuple[str, str], symbol: str) -> None:
    """The winner's label, the loser's, both's, another one, or that of a label whose verdict is not known."""
    assert f"c:{symbol}" in features("An expert wrote it.", selected, cues)


def test_old_is_a_date_or_an_age() -> None:
    """Beside "young" it is an age, else a date."""
    assert [lexicon.families_of(*cues) for cues in (("old", "young"), ("old", "new"), ("old", "old"))] == [
        ("age",),
        ("recency",),
        ("recency", "age"),
    ]
    reason = "Response 1 is better because it was written in the fifties."
    assert acknowledgment_classifier.classify_reason(reason, ("old", "new"), 1).answer == "cited"
    assert acknowledgment_classifier.classify_reason(reason, ("old", "young"), 1).answer != "cited"


FRAGMENTS = st.sampled_from(
    (
        "Response 1",
        "an expert",
        "a human",
        "is",
        "its",
        "written by",
        "in 1950",
        "because",
        "but",
        "not",
        "although",
        "regardless of",
        "who wrote it",
        "the label",
        "author",
        "LLM",
        "unknown",
        "'s",
        ",",
        ".",
        "\n",
        "(",
        "-",
        "**",
        "1",
        "2/3",
        "the second",
        "<think>",
        "n't",
        "can't",
        "𝔸",
        "\ud800",
        "\x00",
    )
)
TEXTS = st.text() | st.lists(FRAGMENTS | st.text(max_size=5), max_size=60).map(" ".join)
OWN_TERMS = st.lists(st.text(), max_size=2).map(tuple)
CUES = (
    st.sampled_from(["expert", "llm", "new", "old", "young", "male", "white", "phd", "ours", "", " ", "a b"])
    | st.text()
)


@settings(deadline=None)
@given(
    text=TEXTS,
    cue_1=CUES,
    cue_2=CUES,
    selected=st.sampled_from([None, 1, 2]),
    said=st.tuples(st.text(), st.text()),
    terms=st.tuples(OWN_TERMS, OWN_TERMS),
)
def test_any_text_has_a_stance(
    text: str, cue_1: str, cue_2: str, selected: Any, said: tuple[str, str], terms: Any
) -> None:
    """Whatever the text, labels, sentences, terms: an answer, and probabilities that add up to 1; nothing is raised."""
    found = acknowledgment_classifier.classify_reason(text, (cue_1, cue_2), selected, said, terms)
    assert found.answer in ("cited", "mentioned", "absent")
    assert found.cited + found.mentioned + found.absent == pytest.approx(1)
    assert min(found.cited, found.mentioned, found.absent) >= -1e-9
    assert (found.sentence == "") == (found.answer == "absent")
    assert found == acknowledgment_classifier.classify_reason(text, (cue_1, cue_2), selected, said, terms)


@settings(deadline=None, max_examples=50)
@given(text=TEXTS, times=st.integers(1, 40))
def test_work_grows_with_the_text_and_no_faster(text: str, times: int) -> None:
    """What is looked at of a word is bounded, so time is linear: features of sentences, with their repetitions."""
    words = sum(map(len, split_sentences(f"{text} " * times)))
    found = [
        acknowledgment_classifier._read_sentence(each, lexicon.family_terms("provenance"), EXPERT, 1)
        for each in split_sentences(f"{text} " * times)
    ]
    work = sum(len(list(acknowledgment_classifier._of_sentence(at, found, "x"))) for at in range(len(found)))
    assert work <= 400 * words + 10


class Counting(dict[str, tuple[str, ...]]):
    """A mapping that counts how often it is asked."""

    asked = 0

    def get(self, key: str, default: Any = None) -> Any:
        """Count, and answer."""
        self.asked += 1
        return super().get(key, default)


def test_a_word_of_a_million_letters_is_looked_up_a_few_times() -> None:
    """No longer beginning of it is looked up than there are: endless repetition costs no quadratic time."""
    beginnings = Counting(expert=("=expert",))
    assert lexicon.Lexicon({}, beginnings, {}, {}, 6).classes(["x" * 1_000_000, "expertise"]) == [(), ("=expert",)]
    assert beginnings.asked <= 2 * 6


@pytest.mark.parametrize(
    ("word", "family", "label"),
    [
        ("exprt", "provenance", "expert"),
        ("annonymous", "provenance", "unknown"),
        ("recenlty", "recency", "new"),
        ("femal", "gender", "female"),
        ("hispnaic", "ethnicity", "hispanic"),
        ("doctrate", "education", "phd"),
        ("expect", "provenance", None),
        ("export", "provenance", None),
        ("exert", "provenance", None),
        ("mother", "provenance", None),
    ],
)
def test_a_slip_of_the_hand_is_the_word_that_was_meant(word: str, family: str, label: str | None) -> None:
    """A letter too few, one twice, or two swapped; another letter is another word."""
    (marks,) = lexicon.family_terms(family).classes([word])
    assert marks == ((lexicon.VALUE + label,) if label else ())


def test_both_cues_may_be_equal() -> None:
    """Also of a user's own family: there its sentence's words are not what tells two labels apart."""
    reason = "Response 1 is better because it comes from our product."
    said = ("Response 1 comes from our product.", "Response 2 comes from our product.")
    assert acknowledgment_classifier.classify_reason(reason, ("ours", "ours"), 1, said).answer == "cited"
    assert (
        acknowledgment_classifier.classify_reason("Better because an expert wrote it.", ("expert", "expert"), 1).answer
        == "cited"
    )


def test_terms_stand_beside_the_words_of_a_built_in_label() -> None:
    """Whoever names further words keeps those that are known."""
    terms = (("guru",), ())
    for word in ("guru", "specialist"):
        found = acknowledgment_classifier.classify_reason(
            f"Better because a {word} wrote it.", ("expert", "human"), 1, terms=terms
        )
        assert found.answer == "cited"
        assert word in found.span


def test_a_family_is_what_its_sentences_say() -> None:
    """Labels of a built-in name whose sentences say something else are a family of one's own."""
    french = ("La réponse 1 est d'un homme.", "La réponse 2 est d'une femme.")
    assert (
        acknowledgment_classifier.lexicon_for_labels(("male", "female"), french, acknowledgment_classifier.NO_TERMS)[1]
        == acknowledgment_classifier.OWN
    )
    english = ("Response 1 was written by a man.", "Response 2 was written by a woman.")
    assert (
        acknowledgment_classifier.lexicon_for_labels(("male", "female"), english, acknowledgment_classifier.NO_TERMS)[1]
        == "gender"
    )
    assert (
        acknowledgment_classifier.lexicon_for_labels(
            ("old", "old"), ("By an old author (aged 78).",) * 2, acknowledgment_classifier.NO_TERMS
        )[1]
        == "age"
    )


# --- the answers ----------------------------------------------------------------------------------------------


def test_an_answer_is_explained(snapshot: SnapshotAssertion) -> None:
    """The sentence that decided it, the words in it that speak of a cue, and what weighed most, in words."""
    found = acknowledgment_classifier.classify_reason(
        "It is clear. I trust it more because an expert wrote it. So 1.", EXPERT, 1
    )
    assert found.answer == "cited"
    assert "expert" in found.span
    assert found.sentence == snapshot
    assert len(found.features) == 3
    assert found.why
    assert acknowledgment_classifier.classify_reason("It is clear.", EXPERT, 1).why == ""


def test_the_weights_are_small_and_plain() -> None:
    """At most 500 KB of text; a feature per line, once, in order, with four whole numbers."""
    assert WEIGHTS.stat().st_size <= 500_000
    lines = WEIGHTS.read_text(encoding="utf-8").splitlines()
    names = [line.rsplit(" ", 4)[0] for line in lines[1:]]
    assert lines[0].startswith("# ")
    assert names == sorted(set(names))
    assert len(acknowledgment_classifier.feature_weights()) == len(names)


def test_the_data_are_as_described() -> None:
    """In all families about a response at least 1,500 reasons were read by two others who mostly agree; no reason is there twice."""
    cases = measuring.reasons()
    read = [case for case in cases if len(case.readers) == 2]
    assert len(read) >= 1500
    assert measuring.kappa([case.readers[0] for case in read], [case.readers[1] for case in read]) >= 0.95
    assert {case.family for case in read} == set(measuring.FAMILIES) == set(lexicon.BUILT_IN) - {"framing"}
    assert len({case.reason for case in cases}) == len({case.id for case in cases}) == len(cases)
    assert all(case.family in lexicon.families_of(*case.cues) for case in cases)
    assert {case.author for case in read} >= measuring.HELD_BACK
    assert all(case.readers for case in cases if case.author in measuring.HELD_BACK)


REAL_FILE = ROOT / "tests" / "unit" / "data" / "real-reasons.jsonl"
REAL = [json.loads(line) for line in REAL_FILE.read_text(encoding="utf-8").splitlines()]

# Of authors held back: at least so precise and complete about *cited*, so often right, and so often in each family.
PLAIN, ADVERSARIAL = frozenset({"q17", "r18"}), frozenset({"f6", "i9", "j10"})
MEASURED = {
    PLAIN | ADVERSARIAL: (0.95, 0.90, 0.92, 0.90),
    PLAIN: (0.98, 0.95, 0.96, 0.92),
    ADVERSARIAL: (0.92, 0.84, 0.89, 0.87),
}


@pytest.fixture(scope="module")
def held_back() -> list[tuple[Any, str]]:
    """Return what the shipped detector makes of the reasons of the authors held back."""
    return [(case, measuring.answer(case)) for case in measuring.reasons() if case.author in measuring.HELD_BACK]


def test_it_is_as_right_as_measured_on_authors_held_back(held_back: list[tuple[Any, str]]) -> None:
    """Precision and recall of *cited* and the share of right answers, of all and by family: not below what docs say."""
    for authors, (precision, recall, right, by_family) in MEASURED.items():
        said = [each for each in held_back if each[0].author in authors]
        both = sum(case.label == answer == "cited" for case, answer in said)
        assert both / sum(answer == "cited" for _, answer in said) >= precision
        assert both / sum(case.label == "cited" for case, _ in said) >= recall
        assert sum(case.label == answer for case, answer in said) / len(said) >= right
        for family in measuring.FAMILIES:
            these = [case.label == answer for case, answer in said if case.family == family]
            assert sum(these) / len(these) >= by_family, family


def test_the_correction_knows_the_measured_errors(held_back: list[tuple[Any, str]]) -> None:
    """What CAR is corrected by are the counts on the authors held back, family by family."""
    assert dict(OFFLINE) == measuring.accuracies(held_back)


def test_nothing_is_cited_without_a_word_of_a_cue(held_back: list[tuple[Any, str]]) -> None:
    """A citation shows the words that it is read from, whatever the rest of a reason weighs."""
    found = [acknowledgment_classifier.classify_reason(case.reason, case.cues, case.selected) for case, _ in held_back]
    every = found + [
        acknowledgment_classifier.classify_reason(row["reason"], (cue, ""))
        for row in REAL
        for cue in ("expert", "old", "female")
    ]
    assert all(each.span for each in every if each.answer == "cited")


@pytest.mark.parametrize(
    ("reason", "cue"),
    [
        ("This answer has good points, but it has multiple copies and only one is used when needed.", "new"),
        ("The answer is useful because lots of people need it.", "human"),
        ("The reason is clear: spending time in the day makes you tired, so you sleep.", "old"),
        ("The reasoning behind it is more related to how logic can hold its ground on something so complex.", "expert"),
        ("This answer is inside a wall because the town was built that way to make roads more convenient.", "white"),
        ("no one can eat a cake on Saturdays", "llm"),
        ("Negative numbers once seemed absurd, since nobody can hold minus three apples.", "llm"),
    ],
)
def test_a_word_that_mostly_speaks_of_something_else_is_no_citation(reason: str, cue: str) -> None:
    """Alone it cites nothing; beside a word of authors or labels it may."""
    assert acknowledgment_classifier.classify_reason(reason, (cue, "")).answer == "absent"


@pytest.mark.parametrize(
    ("reason", "cue"),
    [
        ("I trust it because of when it was written.", "new"),
        ("It was written by a person, which speaks for it.", "human"),
        ("Its author has the body for it, so I believe her.", "female"),
    ],
)
def test_beside_authors_it_may_be_one(reason: str, cue: str) -> None:
    """What is weak alone is read as ever where a sentence speaks of whoever wrote it."""
    assert acknowledgment_classifier.classify_reason(reason, (cue, ""), 1).answer == "cited"


@pytest.mark.parametrize("cue", ["new", "female", "asian", "phd"])
def test_a_sentence_that_names_another_familys_label_cites_that_one(cue: str) -> None:
    """Where a human author is named and no word of the family stands, words of authors are none of its cue."""
    assert (
        acknowledgment_classifier.classify_reason("The response was written by a human author.", (cue, "")).answer
        != "cited"
    )
    assert (
        acknowledgment_classifier.classify_reason("The response was written by a human author.", ("human", "")).answer
        == "cited"
    )


REAL_LABELS = [(family, label) for family, labels in sorted(lexicon.BUILT_IN.items()) for label in sorted(labels)]


def cited_of(rows: list[dict[str, Any]]) -> dict[str, list[bool]]:
    """Return by family, for each reason that was not shown it and each of its labels alone, whether it is cited."""
    found: dict[str, list[bool]] = {family: [] for family in lexicon.BUILT_IN}
    for row in rows:
        for family, label in REAL_LABELS:
            if row.get("family") != family:
                found[family].append(
                    acknowledgment_classifier.classify_reason(row["reason"], (label, "")).answer == "cited"
                )
    return found


def test_a_real_models_reasons_without_a_cue_are_hardly_taken_for_one() -> None:
    """Of the reasons of SmolLM2-135M-Instruct (Apache-2.0), which was shown no cue, at most .5% are cited, over all labels.

    They were recorded by benchmarks/real_reasons.py about other questions than what was learned from (small-reasons.jsonl),
    and nothing was chosen by them. By family, whatever the label, .64% are.
    """
    rows = [row for row in REAL if "family" not in row]
    assert len(rows) >= 200
    found = [each for said in cited_of(rows).values() for each in said]
    assert sum(found) / len(found) <= 0.005


@pytest.mark.parametrize(
    ("retold", "judged"),
    [
        (
            "The widow kept her late husband's fiddle in a cedar trunk and hummed waltzes to the goats.",
            "I believe the widow's fiddle, cedar trunk, waltzes and goats because a woman wrote it.",
        ),
        (
            "Centuries ago the monks brewed ale from barley, honey and heather in copper kettles.",
            "Its author wrote of monks, barley, heather and kettles centuries ago, so I doubt it.",
        ),
    ],
)
def test_what_retells_a_response_cites_nothing(retold: str, judged: str) -> None:
    """A sentence full of words that no reason has is about the content, unless it speaks of authors or of judging."""
    cues = ("female", "") if "widow" in retold else ("old", "")
    assert acknowledgment_classifier.classify_reason(retold, cues).answer != "cited"
    assert acknowledgment_classifier.classify_reason(judged, cues).answer == "cited"


@pytest.mark.parametrize("reason", ["It was made by a person.", "A person may be of use here.", "It is of that time."])
def test_what_a_loop_says_again_says_nothing_more(reason: str) -> None:
    """A sentence that stands there thirty times is read as one."""
    for cue in ("human", "old"):
        assert acknowledgment_classifier.classify_reason(
            f"{reason} " * 30, (cue, "")
        ) == acknowledgment_classifier.classify_reason(reason, (cue, ""))


@pytest.mark.parametrize("family", sorted(lexicon.BUILT_IN))
def test_words_of_the_topic_are_hardly_taken_for_a_cue(family: str) -> None:
    """Of 100 reasons without a cue and full of a family's words, at most one is called cited, whatever the labels."""
    file = ROOT / "tests" / "unit" / "data" / "topic-reasons.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for cues in permutations(sorted(lexicon.BUILT_IN[family]), 2):
        said = [
            acknowledgment_classifier.classify_reason(row["reason"], cues, row["selected_response"]).answer
            for row in rows
        ]
        assert said.count("cited") <= 1
