"""Kinds of check: what a test can be marked for. This is the list of them; what they do stands in checks/.

Nothing is loaded to know of a kind: pytest has its marks from here and the configuration its tables [gate.NAME]. The
class of a check is loaded when something is checked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Registered:
    """A mark and what it means. A check that is about no contrast has a name, which is that of its [gate.NAME], too.

    `home` is its file and its class in checks/, as in "accuracy:AccuracyCheck".
    """

    mark: str
    meaning: str
    name: str = ""
    home: str = ""


FAMILY, SWAP = "judge_family", "judge_swap"
REGISTRY = (
    Registered(
        FAMILY,
        "the families whose contrasts a test gates; without names, those of one's own; with by_name=True only in a "
        "run that names them, by -k or by the file",
    ),
    Registered(
        "judge_accuracy",
        "a test of accuracy where gold is known; datasets=[...] names those that it is about",
        "accuracy",
        "accuracy:AccuracyCheck",
    ),
    Registered(
        "judge_agreement",
        "a test of a judge of one response against people's labels; datasets=[...] names those that it is about",
        "agreement",
        "with_people:AgreementCheck",
    ),
    Registered(
        "judge_wording",
        "a test of how far other words for the same prompt flip a judge's verdicts; makes no item of one without "
        "wordings",
        "wording",
        "rewording:RewordingCheck",
    ),
    Registered(SWAP, "a test of judge against --judge-baseline, in accuracy and in the families' contrasts"),
    Registered(
        "judge_plan",
        "a test of the plans of a judge that plans first (strategy = plan-...); takes no families",
        "plan",
        "planjudge:PlanCheck",
    ),
)
ALONE = tuple(kind for kind in REGISTRY if kind.name)  # about one judge, and no contrast
