"""What looks spare: how many calls contrasts take in the mean that end at the first look that decides them.

The bound of a preflight is of all pairs. Beside it stands what is to be expected of a judge without bias, exactly for
its gates; contrasts count as independent, and an arm that several share is asked for as long as one of them is open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from judgefixtures.asking.costs import Cost, cost_of, scaled
from judgefixtures.asking.questions import Arm
from judgefixtures.checks.look_by_look import beyond_looks
from judgefixtures.checks.protocol import Subject
from judgefixtures.numbers.peeking import expected
from judgefixtures.numbers.power import Design
from judgefixtures.providers import Usage
from judgefixtures.runs.run import Run

Key = tuple[str, str, Arm]  # a judge, a dataset and what is asked
FLIPS = {"if no verdict flips": 0.0, "at 5% flips": 0.05}  # of a judge without bias
NOISE = {"if no score moves": 0.0, "at noise of .05 of the scale": 0.05}  # the same where scores are gated alone


def spared_by_looks(
    run: Run,
    designs: Mapping[Subject, Design | None],
    costs: Mapping[Key, Cost],
    recorded: Mapping[Key, Sequence[Usage]],
) -> Iterator[str]:
    """Yield a line for each judge whose contrasts have looks: calls, tokens and money that they take in the mean.

    Before them a line for each dataset with more pairs than the last look has.

    `costs` are of what is missing at most; `recorded` what the answers took that are there already, of which the tokens
    of the others are the mean, where any tells.
    """
    beyond = {
        (subject.dataset, design.n, looks[-1])
        for subject, design in designs.items()
        if design is not None and (looks := run.config.gate(subject.check.family).looks) and design.n > looks[-1]
    }
    yield from (beyond_looks(*each) for each in sorted(beyond))
    keys: dict[str, list[Key]] = {}
    for key, cost in costs.items():
        if cost.calls and run.judge(key[0]).kind.is_asked:
            keys.setdefault(key[0], []).append(key)
    for judge, missing in keys.items():
        mine = {key: _sharing(run, designs, key) for key in missing}
        looked = [each for sharing in mine.values() for each in sharing if each is not None and each.steps]
        if not looked:
            continue
        known = [usage for key, all_of_it in recorded.items() if key[0] == judge for usage in all_of_it if _told(usage)]
        said = []
        for words, flips in (NOISE if all(each.scored for each in looked) else FLIPS).items():
            parts = [
                scaled(costs[key], _share(sharing, flips, len(recorded.get(key, ())), costs[key].calls))
                for key, sharing in mine.items()
            ]
            cost = sum(parts, Cost(0, 0, 0, 0.0))
            if known and not run.judge(judge).kind.preparation:
                cost = scaled(cost_of(run.judge(judge).table, known), cost.calls / len(known))
            said.append(f"{cost} {words}")
        tokens = f", tokens as in {len(known)} recorded answers" if known else ", answers as long as they may be"
        yield (
            f"{judge}: with --judge-until-decided about {'; about '.join(said)} (what looks come to in the mean of "
            f"judges without bias, no bound{tokens})"
        )


def _told(usage: Usage) -> bool:
    return usage.input_tokens is not None and usage.output_tokens is not None


def _sharing(run: Run, designs: Mapping[Subject, Design | None], key: Key) -> list[Design | None]:
    """Return the designs of the checks for which something is asked; None for one that asks about all its pairs."""
    judge, dataset, arm = key
    return [
        design
        for subject, design in designs.items()
        if subject.dataset == dataset
        and judge in subject.judges
        and arm in run.judge(judge).kind.asks_in_all(subject.check.arms)
    ]


def _share(sharing: Sequence[Design | None], flips: float, recorded: int, missing: int) -> float:
    """Return which share of the calls that are missing is made in the mean; the recorded ones are the first."""
    looked = [design for design in sharing if design is not None and design.steps]
    if len(looked) < len(sharing) or not looked:
        return 1.0
    shares, ended = _ended(looked, flips)
    every = recorded + missing
    return expected([max(share * every - recorded, 0.0) / missing for share in shares], ended)


def _ended(designs: Sequence[Design], flips: float) -> tuple[list[float], list[float]]:
    """Return the looks of some contrasts, as shares of the pairs, and how likely all of them have ended by each."""
    ends = [
        [(look / each.n, ended) for look, ended in zip(course.looks, course.ended, strict=True)]
        for each in designs
        for course in [each.course(flips)]
    ]
    shares = sorted({share for each in ends for share, _ in each})
    return shares, [
        math.prod(max((ended for at, ended in each if at <= share), default=0.0) for each in ends) for share in shares
    ]
