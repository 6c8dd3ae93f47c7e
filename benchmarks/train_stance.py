"""Train the weights of judgefixtures/parsing/acknowledgment_classifier.py on the labelled reasons, and measure them.

    python benchmarks/train_stance.py            cross-validated over the authors that are not held back
    python benchmarks/train_stance.py --write    trained on those authors; judgefixtures/data/stance.en.txt is written

Deterministic; some two minutes. What the shipped weights do on the authors held back is told by
benchmarks/measure_stance.py, whose numbers were looked at when nothing was left to choose.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure_stance import (
    FAMILIES,
    HELD_BACK,
    LABELS,
    Case,
    Plain,
    earlier,
    measured,
    plain_reasons,
    reasons,
    show,
    small_reasons,
)
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import judgefixtures
from judgefixtures.parsing import acknowledgment_classifier
from judgefixtures.parsing.lexicon import family_terms

FOLDS = 6
LEAST = 5  # texts that a feature is in
KEPT = 20_500  # features, so that the file stays below 500 KB
L2_SENTENCES, L2_TEXTS = 0.1, 0.3
EARLIER = 0.5  # weight of a reason that the first detector was written with
# Weights of a case whose verdict is not told, of one read for cues of another family, of a plain reason for two cues.
UNKNOWN, CROSSED, UNCUED = 0.3, 0.5, 1.5
SMALL = 0.01  # of a small model's reason: it is read for every family, and more weight finds fewer citations
OTHER_CUES = {
    "provenance": [("expert", "unknown"), ("human", "llm"), ("llm", "expert"), ("unknown", "human")],
    "recency": [("new", "old"), ("old", "new")],
    "age": [("young", "old"), ("old", "young")],
    "gender": [("female", "male"), ("male", "female")],
    "ethnicity": [("white", "black"), ("asian", "hispanic"), ("black", "asian"), ("hispanic", "white")],
    "education": [("phd", "highschool"), ("highschool", "phd")],
}

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A text as the models see it: the features of its sentences, its label's number and its weight."""

    sentences: tuple[frozenset[str], ...]
    label: int
    weight: float

    @property
    def features(self) -> frozenset[str]:
        """The features of all its sentences."""
        return frozenset().union(*self.sentences)


def example(case: Case, weight: float = 1.0, *, knows: bool = True) -> Example:
    """Return a case as an example; one that does not know the verdict where it is not told."""
    found = acknowledgment_classifier.cue_references(
        case.reason, family_terms(case.family), case.family, case.cues, case.selected if knows else None
    )
    return Example(tuple(each.own | each.shared for each in found), LABELS.index(case.label), weight)


def silent(reason: str, selected: int | None, family: str, number: int, weight: float) -> Example:
    """Return a reason as an example of one that says nothing of the cues of a family."""
    pairs = OTHER_CUES[family]
    found = acknowledgment_classifier.cue_references(
        reason, family_terms(family), family, pairs[number % len(pairs)], selected
    )
    return Example(tuple(each.own | each.shared for each in found), LABELS.index("absent"), weight)


def strayed(reason: str) -> Iterator[Example]:
    """Yield a small model's reason as one that cites no cue, whatever the family and the verdict."""
    for family in FAMILIES:
        for number in range(len(OTHER_CUES[family])):
            yield silent(reason, None, family, number, SMALL)
            yield silent(reason, 1 + number % 2, family, number, SMALL)


def examples(cases: Sequence[Case], without: Sequence[Plain], small: Sequence[str]) -> list[Example]:
    """Return what is learned of cases: each, each without its verdict, and absent ones for cues of two other families.

    Of reasons that were given without any cue the same is learned for every family. What cites one attribute is no
    example for another family: without its words it is too much like a paraphrase that the lexicon does not know.
    """
    found = [example(case) for case in cases] + [example(case, UNKNOWN, knows=False) for case in cases]
    for number, case in enumerate(case for case in cases if case.label == "absent"):
        for step in (1, 3):
            family = FAMILIES[(FAMILIES.index(case.family) + step + number % 2) % len(FAMILIES)]
            found.append(silent(case.reason, case.selected, family, number, CROSSED))
    found += [example(case, EARLIER) for case in earlier("development")]
    found += [each for reason in small for each in strayed(reason)]
    found += [
        silent(reason.reason, selected, family, number, UNCUED)
        for reason in without
        for family in FAMILIES
        for number in range(len(OTHER_CUES[family]))
        for selected in (reason.selected, None)
    ]
    return found


# --- the two models ---------------------------------------------------------------------------------------------


def _matrix(bags: Sequence[frozenset[str]], index: Mapping[str, int]) -> csr_matrix:
    """Return the rows of bags of features: a feature that is there has the scale of its bag."""
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for bag in bags:
        known = sorted(index[feature] for feature in bag if feature in index)
        columns += known
        data += [acknowledgment_classifier.SCALE / np.sqrt(max(1, len(bag)))] * len(known)
        ends.append(len(columns))
    return csr_matrix((data, columns, ends), shape=(len(bags), len(index)))


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30, 30))))


@dataclass(frozen=True, slots=True)
class Data:
    """Examples as matrices: a row per sentence, whose text `owner` tells, and a row per text."""

    of_sentences: csr_matrix
    owner: Array
    of_texts: csr_matrix
    labels: Array
    weights: Array

    @classmethod
    def of(cls, cases: Sequence[Example], index: Mapping[str, int]) -> Data:
        """Return the matrices of examples."""
        return cls(
            _matrix([bag for case in cases for bag in case.sentences], index),
            np.array([number for number, case in enumerate(cases) for _ in case.sentences], int),
            _matrix([case.features for case in cases], index),
            np.array([case.label for case in cases]),
            np.array([case.weight for case in cases]),
        )


def _by_sentence(data: Data, w: Array) -> tuple[Array, Array, Array, Array]:
    """Return of each sentence how likely it refers and cites, of each text that none refers, and that none cites."""
    count, size = len(data.labels), data.of_sentences.shape[1]
    refers = np.clip(_sigmoid(data.of_sentences @ w[:size]), 1e-7, 1 - 1e-7)
    cites = np.clip(_sigmoid(data.of_sentences @ w[size:]), 1e-7, 1 - 1e-7)
    none = np.exp(np.bincount(data.owner, np.log1p(-refers), count))
    not_cited = np.exp(np.bincount(data.owner, np.log1p(-refers * cites), count))
    return refers, cites, none, not_cited


def fit_sentences(data: Data) -> Array:
    """Return the weights of the noisy-or, for refers and for cites."""
    size, y, owner, turned = data.of_sentences.shape[1], data.labels, data.owner, data.of_sentences.T.tocsr()

    def loss(w: Array) -> tuple[float, Array]:
        refers, cites, none, not_cited = _by_sentence(data, w)
        likely = np.choose(y, [1 - not_cited, not_cited - none, none]) + 1e-6
        slope = -data.weights / likely
        by_not_cited = (
            np.where(y == 0, -slope, np.where(y == 1, slope, 0))[owner] * -not_cited[owner] / (1 - refers * cites)
        )
        by_none = np.where(y == 2, slope, np.where(y == 1, -slope, 0))[owner] * -none[owner] / (1 - refers)
        of_refers = (by_none + by_not_cited * cites) * refers * (1 - refers)
        of_cites = by_not_cited * refers * cites * (1 - cites)
        value = -(data.weights * np.log(likely)).sum() + L2_SENTENCES * (w @ w) / 2
        return value, np.concatenate([turned @ of_refers, turned @ of_cites]) + L2_SENTENCES * w

    return np.asarray(minimize(loss, np.zeros(2 * size), jac=True, method="L-BFGS-B", options={"maxiter": 120}).x)


def fit_texts(data: Data) -> Array:
    """Return the weights of the softmax, features by (cited, mentioned); absent has none."""
    size, turned, true = data.of_texts.shape[1], data.of_texts.T.tocsr(), np.eye(3)[data.labels]

    def loss(flat: Array) -> tuple[float, Array]:
        w = flat.reshape(size, 2)
        odds = np.exp(np.clip(np.column_stack([data.of_texts @ w, np.zeros(len(true))]), -30, 30))
        likely = odds / odds.sum(1, keepdims=True)
        slope = ((likely - true) * data.weights[:, None])[:, :2]
        value = -(data.weights * np.log((likely * true).sum(1) + 1e-9)).sum() + L2_TEXTS * (flat @ flat) / 2
        return value, np.asarray(turned @ slope + L2_TEXTS * w).ravel()

    found = minimize(loss, np.zeros(2 * size), jac=True, method="L-BFGS-B", options={"maxiter": 120})
    return np.asarray(found.x).reshape(size, 2)


def train(cases: Sequence[Example]) -> dict[str, acknowledgment_classifier.Weights]:
    """Return the weights of the features that matter most, in hundredths."""
    count = Counter(feature for case in cases for feature in case.features)
    index = {feature: number for number, feature in enumerate(sorted(f for f, n in count.items() if n >= LEAST))}
    data = Data.of(cases, index)
    weights = _columns(data)
    told = np.sqrt([count[feature] for feature in index]) * np.abs(weights).sum(1)
    kept = set(np.argsort(-told, kind="stable")[:KEPT].tolist())
    index = {feature: number for number, feature in enumerate(f for f, n in index.items() if n in kept)}
    rows = np.rint(100 * _columns(Data.of(cases, index))).astype(int)
    return {feature: tuple(rows[number].tolist()) for feature, number in index.items() if rows[number].any()}


def _columns(data: Data) -> Array:
    size = data.of_texts.shape[1]
    w = fit_sentences(data)
    return np.column_stack([w[:size], w[size:], fit_texts(data)])


# --- the command ------------------------------------------------------------------------------------------------


def answers(cases: Sequence[Case], weights: Mapping[str, acknowledgment_classifier.Weights]) -> list[str]:
    """Return what weights make of cases."""
    found = []
    for case in cases:
        bag = acknowledgment_classifier.cue_references(
            case.reason, family_terms(case.family), case.family, case.cues, case.selected
        )
        found.append(acknowledgment_classifier.classify_sentences(bag, weights).answer)
    return found


def false_alarms(reasons_: Sequence[Plain], weights: Mapping[str, acknowledgment_classifier.Weights]) -> str:
    """Say how often plain reasons are called cited, by family."""
    found = []
    for family in FAMILIES:
        cues = OTHER_CUES[family][0]
        bags = [
            acknowledgment_classifier.cue_references(each.reason, family_terms(family), family, cues, each.selected)
            for each in reasons_
        ]
        called = sum(acknowledgment_classifier.classify_sentences(bag, weights).answer == "cited" for bag in bags)
        found.append(f"{family} {called} of {len(bags)}")
    return ", ".join(found)


def main() -> None:
    """Cross-validate, or train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write", action="store_true", help="train on all authors but those held back, write the weights"
    )
    parser.add_argument("--errors", type=Path, help="write what cross-validation gets wrong to this file")
    options = parser.parse_args()
    cases = [case for case in reasons() if case.author not in HELD_BACK]
    authors = sorted({case.author for case in cases})
    without, small = plain_reasons(), small_reasons()
    plain_authors = sorted({reason.author for reason in without})
    if options.write:
        weights = train(examples(cases, without, small))
        lines = [f"{feature} {' '.join(map(str, row))}\n" for feature, row in sorted(weights.items())]
        made = "# Made by benchmarks/train_stance.py: hundredths of weights for refers, cites, cited, mentioned\n"
        file = Path(judgefixtures.__file__).parent / "data" / "stance.en.txt"
        file.write_text(made + "".join(lines), encoding="utf-8")
        show(f"{len(cases)} reasons of {len(authors)} authors: {len(lines)} features, {file.stat().st_size} bytes")
        return
    said: dict[str, str] = {}
    alarms: list[str] = []
    for fold in range(FOLDS):
        inside = authors[fold::FOLDS]
        apart = plain_authors[fold::FOLDS]
        weights = train(
            examples(
                [case for case in cases if case.author not in inside],
                [reason for reason in without if reason.author not in apart],
                small,
            )
        )
        for author in apart:
            alarms.append(
                f"{author}: {false_alarms([reason for reason in without if reason.author == author], weights)}"
            )
        out = [case for case in cases if case.author in inside]
        said.update(zip([case.id for case in out], answers(out, weights), strict=True))
    for author in authors:
        show(measured(author, [(case, said[case.id]) for case in cases if case.author == author]))
    show(measured("all", [(case, said[case.id]) for case in cases]))
    for line in alarms:
        show(f"cited in plain reasons of {line}")
    if options.errors:
        options.errors.write_text(
            "".join(
                f"{case.id} {'/'.join(case.cues)} {case.selected}: {case.label}, read as {said[case.id]}: "
                f"{case.reason!r}\n"
                for case in cases
                if said[case.id] != case.label
            )
        )


if __name__ == "__main__":
    main()
