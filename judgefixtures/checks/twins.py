"""The control of a judge that grades one response: what is right passes, and what was spoiled fails.

It is asked about pairs of twins, an answer and the same one made wrong in a few words, each by itself; or about some
labelled examples, as many that people pass as that they fail. One that passes everything, fails everything, tosses
a coin or counts words tells them apart no better than chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.control import CONFIDENCE, TABLE, TELLING, Control
from judgefixtures.checks.protocol import Need
from judgefixtures.config import ControlTable
from judgefixtures.material.contrasts import Single
from judgefixtures.material.pairs import Example, Pair
from judgefixtures.numbers.estimate import Status, bare, describe, several
from judgefixtures.numbers.proportions import paired_difference, proportion

ARMS: tuple[Arm, ...] = ((Single(), 0),)
FEWEST_OF_A_CLASS = 10


def labelled_examples(examples: Sequence[Pair], wanted: int) -> tuple[Example, ...]:
    """Return the first examples that people pass, and as many that they fail, in their order: `wanted` of each at most.

    Those of a pair of twins, of which one is right, stay together.
    """
    sides = {
        label: [each for each in examples if isinstance(each, Example) and each.label == label][:wanted]
        for label in ("pass", "fail")
    }
    fewest = min(map(len, sides.values()))
    kept = {each.id for members in sides.values() for each in members[:fewest]}
    return tuple(each for each in examples if isinstance(each, Example) and each.id in kept)


def need_of_labels(judge: str, dataset: str, examples: Sequence[Pair]) -> Need | None:
    """Return what the control of a grader needs to be able to pass, where too few examples have a label."""
    fewest = min(sum(getattr(each, "label", None) == label for each in examples) for label in ("pass", "fail"))
    if fewest >= FEWEST_OF_A_CLASS:
        return None
    remedy = f"name one with more of both in {TABLE} dataset"
    unit = "examples of the rarer label"
    limit = "without both labels nothing tells whether it reads"
    return Need(f"control of {judge}", dataset, fewest, FEWEST_OF_A_CLASS, limit, remedy, unit)


def control_of_grades(judge: str, dataset: str, arm: Sequence[Judgment], table: ControlTable) -> Control:
    """Return whether a grader reads, from its grades of examples that are known to be right or wrong.

    Youden's J = TPR + TNR - 1 is a mean over pairs of one of either kind, those of twins; PASS where its one-sided
    95% lower bound exceeds half of the threshold. An invalid grade is a wrong one.
    """
    right = [judgment.selected == 1 for judgment in arm if _label(judgment) == "pass"]
    caught = [judgment.selected == 2 for judgment in arm if _label(judgment) == "fail"]
    both = list(zip(right, caught, strict=True))
    n, told, turned = len(both), sum(a and b for a, b in both), sum(not a and not b for a, b in both)
    youden, limit = paired_difference(told, turned, n, CONFIDENCE), table.threshold / 2
    tpr, tnr = (proportion(sum(side), n, CONFIDENCE, "exact") for side in (right, caught))
    found = Control(
        judge=judge,
        dataset=dataset,
        n=n,
        right_both_orders=None,
        first_selected=None,
        tpr=tpr,
        tnr=tnr,
        youden=youden,
        status=Status.FAIL,
    )
    said = f"passed {sum(right)} of {n} right answers and failed {sum(caught)} of {n} wrong ones, J {describe(youden)}"
    if youden.low > limit:
        return replace(found, status=Status.PASS, message=f"{said}: it reads")
    return replace(found, message=f"{said}, whose lower bound has to exceed {bare(limit)}: {_cause(arm)}")


def _label(judgment: Judgment) -> str | None:
    return judgment.pair.label if isinstance(judgment.pair, Example) else None


def _cause(arm: Sequence[Judgment]) -> str:
    """Return what is wrong with a grader that does not read, as far as its grades tell."""
    valid = [judgment for judgment in arm if judgment.selected is not None]
    if len(valid) < TELLING * len(arm):
        lost = Counter(judgment.verdict.invalid for judgment in arm if judgment.selected is None)
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(lost.items(), key=str))
        shown = next((judgment.reply.detail for judgment in arm if judgment.selected is None), "")
        said = f"{len(arm) - len(valid)} of its {several(len(arm), 'answer')} are invalid ({kinds})"
        return f"{said}: {shown}" if shown else said
    for selected, does in ((1, "passed"), (2, "failed")):
        count = sum(judgment.selected == selected for judgment in valid)
        if count >= TELLING * len(valid):
            return f"it {does} {count} of {len(valid)}, right or wrong"
    wrong = sum(_label(judgment) == ("fail" if judgment.selected == 1 else "pass") for judgment in valid)
    if wrong >= TELLING * len(valid):
        return f"it graded {wrong} of {len(valid)} the wrong way round: are its labels read as they are meant?"
    return "its grades are like the toss of a coin, or follow something else than whether an answer is right"
