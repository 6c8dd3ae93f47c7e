"""Measure the shipped detector on the authors held back, its false alarms on cue-free reasons, and what is English.

    python benchmarks/measure_stance.py [--cue-free FILE]

FILE has a JSON object per line with `reason` and `selected_response`. Also how many distinct reasons a second it reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from judgefixtures.models.cues import FAMILIES as FAMILY_SENTENCES
from judgefixtures.parsing.acknowledgment_classifier import classify_reason
from judgefixtures.parsing.language import is_english
from judgefixtures.parsing.lexicon import BUILT_IN, families_of
from judgefixtures.statistics.detector_correction import DetectorAccuracy

DATA = Path(__file__).parent.parent / "tests" / "unit" / "data" / "rationales"
EARLIER = DATA.parent / "acknowledgment.jsonl"
PLAIN = DATA.parent / "plain-reasons"
SMALL = DATA.parent / "small-reasons.jsonl"
LANGUAGES = DATA.parent / "languages"
LABELS = ("cited", "mentioned", "absent")
FAMILIES = ("provenance", "recency", "age", "gender", "ethnicity", "education")
HELD_BACK = frozenset({"f6", "i9", "j10", "q17", "r18"})  # authors of whom nothing was learned


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled reason."""

    id: str
    author: str
    family: str
    cues: tuple[str, str]
    selected: int | None
    style: str
    label: str
    reason: str
    readers: tuple[str, ...]  # what two others said who did not know the label


@dataclass(frozen=True, slots=True)
class Plain:
    """A reason that speaks of no author, date or source of a response."""

    id: str
    author: str
    selected: int
    reason: str


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def reasons() -> list[Case]:
    """Return all labelled reasons, by author."""
    found = []
    for file in sorted(DATA.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            readers = tuple(row[key] for key in ("reader_1", "reader_2") if key in row)
            found.append(
                Case(
                    row["id"],
                    row["author"],
                    row["family"],
                    (row["cue_1"], row["cue_2"]),
                    row["selected"],
                    row["style"],
                    row["label"],
                    row["reason"],
                    readers,
                )
            )
    return found


def earlier(half: str) -> list[Case]:
    """Return a half of the reasons that the first detector was written with, in which no verdict is told.

    Of built-in families; the hash of the text decides on the half, "development" or "held-out".
    """
    found = []
    for number, line in enumerate(EARLIER.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        odd = int(hashlib.sha256(row["reason"].encode()).hexdigest(), 16) % 2 == 1
        families = families_of(row["cue_1"], row["cue_2"])
        if families and odd == (half == "held-out"):
            found.append(
                Case(
                    f"earlier-{number}",
                    "earlier",
                    families[0],
                    (row["cue_1"], row["cue_2"]),
                    None,
                    "short",
                    row["label"],
                    row["reason"],
                    (),
                )
            )
    return found


def plain_reasons() -> list[Plain]:
    """Return the reasons that were written for no cue, by author."""
    return [
        Plain(row["id"], row["author"], row["selected"], row["reason"])
        for file in sorted(PLAIN.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def small_reasons() -> list[str]:
    """Return the reasons that a small real model gave without a cue: it strays from what it was asked."""
    return [json.loads(line)["reason"] for line in SMALL.read_text(encoding="utf-8").splitlines()]


def answer(case: Case) -> str:
    """Return what the shipped detector makes of a reason, given the sentences that the judge was shown."""
    shown = tuple(
        FAMILY_SENTENCES[case.family][cue].format(content_type="Response", number=number)
        for number, cue in enumerate(case.cues, start=1)
    )
    return classify_reason(case.reason, case.cues, case.selected, (shown[0], shown[1])).answer


def measured(name: str, said: Sequence[tuple[Case, str]]) -> str:
    """Return precision and recall of cited, the share of right answers, and that share by family, as a line."""
    both = sum(case.label == answer == "cited" for case, answer in said)
    called, are = sum(answer == "cited" for _, answer in said), sum(case.label == "cited" for case, _ in said)
    right = Counter(case.family for case, answer in said if case.label == answer)
    every = Counter(case.family for case, _ in said)
    by_family = " ".join(f"{family[:4]} {right[family] / every[family]:.3f}" for family in FAMILIES if every[family])
    return (
        f"{name:6} n {len(said):4}  precision {both}/{called} = {both / max(1, called):.3f}  recall {both}/{are} = "
        f"{both / max(1, are):.3f}  three-way {right.total() / max(1, len(said)):.3f}  {by_family}"
    )


def accuracies(said: Sequence[tuple[Case, str]]) -> dict[str, DetectorAccuracy]:
    """Return by family how well *cited* is told from the rest: what detection.OFFLINE holds."""
    found = {}
    for family in FAMILIES:
        cited = [answer for case, answer in said if (case.family, case.label == "cited") == (family, True)]
        others = [answer for case, answer in said if (case.family, case.label == "cited") == (family, False)]
        found[family] = DetectorAccuracy(
            len(cited), cited.count("cited"), len(others), len(others) - others.count("cited")
        )
    return found


def languages() -> str:
    """Say how many reasons in each language are recognised as not English.

    The share was chosen by the lines with odd numbers and by `borrowing`; by the other lines and `others` nothing was.
    """
    found = []
    for file in sorted(LANGUAGES.glob("*.txt")):
        lines = file.read_text(encoding="utf-8").splitlines()
        parts = [lines] if file.stem in ("en", "others", "borrowing") else [lines[::2], lines[1::2]]
        told = [f"{sum(not is_english(line) for line in part)} of {len(part)}" for part in parts]
        found.append(f"{file.stem} {', held back '.join(told)}")
    return f"not English: {'; '.join(found)}"


def kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's kappa of two readers (Cohen 1960)."""
    n = len(one)
    same = sum(a == b for a, b in zip(one, other, strict=True)) / n
    chance = sum(one.count(label) * other.count(label) for label in LABELS) / n**2
    return (same - chance) / (1 - chance)


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cue-free", type=Path, help="a file of reasons that were given without any cue")
    options = parser.parse_args()
    cases = reasons()
    read = [case for case in cases if len(case.readers) == 2]
    show(
        f"{len(cases)} reasons of {len({case.author for case in cases})} authors, {len(read)} read by two others, "
        f"kappa {kappa([case.readers[0] for case in read], [case.readers[1] for case in read]):.3f}"
    )
    classify_reason("warm", ("new", "old"), 1)
    held = [case for case in cases if case.author in HELD_BACK]
    begun = time.perf_counter()
    said = [(case, answer(case)) for case in held]
    passed = time.perf_counter() - begun
    for author in sorted(HELD_BACK):
        show(measured(author, [each for each in said if each[0].author == author]))
    show(measured("held", said))
    for family, found in accuracies(said).items():
        show(f'    "{family}": DetectorAccuracy({found.cited}, {found.found}, {found.others}, {found.cleared}),')
    show(f"{len(held) / passed:.0f} reasons a second")
    show(languages())
    strange = sum(not is_english(case.reason) for case in cases)
    show(f"of the {len(cases)} labelled reasons {strange} taken for another language")
    if options.cue_free:
        free = [json.loads(line) for line in options.cue_free.read_text(encoding="utf-8").splitlines()]
        free = [row for row in free if row["reason"] and row["selected_response"] in (1, 2)]
        strange = sum(not is_english(row["reason"]) for row in free)
        show(f"of the {len(free)} cue-free reasons {strange} taken for another language")
        for family, labels in BUILT_IN.items():
            found = {
                cues: [(row, classify_reason(row["reason"], cues, row["selected_response"])) for row in free]
                for cues in permutations(sorted(labels), 2)
            }
            alarms = {cues: [each for each in said if each[1].answer == "cited"] for cues, said in found.items()}
            counts = sorted(map(len, alarms.values()))
            show(
                f"{family}: cited in {counts[0]} to {counts[-1]} of {len(free)}, by labels: at most "
                f"{counts[-1] / len(free):.2%}"
            )
            seen = {row["reason"]: (row, each) for said in alarms.values() for row, each in said}
            for row, each in seen.values():
                show(f"   {row.get('id')}: {each.cited:.2f} {each.span!r}: {each.sentence}")


if __name__ == "__main__":
    main()
