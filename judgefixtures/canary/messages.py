"""Words: what a run of the canary says to whoever reads its output, facts before the test."""

from __future__ import annotations

import math
from collections import Counter

from judgefixtures.asking.costs import money
from judgefixtures.canary.reference import Reference
from judgefixtures.canary.watching import Move, Outlook, Series, Watched
from judgefixtures.numbers.statistics import several
from judgefixtures.report.outcome import NOT_MEASURED
from judgefixtures.words.secrets import presentable
from judgefixtures.words.texts import quote_names

DRIFT = 20  # apart from pytest's codes and ours
OTHER_MODEL = 21
LISTED = 20
SPOKEN = {"0": "tie", "1": "response 1", "2": "response 2", "x": "no verdict"}
HEADS = {
    "quiet": "quiet",
    "drift": "ALARM: its verdicts are no longer those of the judge that was recorded",
    "model": "ALARM: another model answers than the one that was recorded",
    "not-measured": "NOT MEASURED",
}
EXPLAINED = {
    "days": "days of two kinds explain that as well: two backends that take turns, or days on which all answers "
    "lean one way",
    "prompts": "prompts that change one by one explain that as well: answers that stick, a cache, slow drift",
}
EXITS = {"quiet": 0, "drift": DRIFT, "model": OTHER_MODEL, "not-measured": NOT_MEASURED}


def exit_code(found: Watched) -> int:
    """Return the exit code of a run: 0 quiet, 20 the verdicts moved, 21 another model, 10 not measured."""
    return EXITS[found.entry.result]


def said(found: Watched) -> list[str]:
    """Return the lines that tell what a run found."""
    lines = [f"canary of {found.reference.judge}: {HEADS[found.entry.result]}"]
    lines += [f"  {line}" for line in (*_facts(found), *_test(found), *_moves(found), *_next(found))]
    return [presentable(line) for line in lines]


def said_before(found: Outlook) -> list[str]:
    """Return the lines that tell what a run would do."""
    known, series = found.reference, found.series
    prompts = ", ".join(
        f"{len(pairs)} of {dataset}, {condition.name}" for (dataset, condition), pairs in known.by_dataset().items()
    )
    recorded = Counter(len(each.recorded) for each in known.prompts)
    listed = ", ".join(
        f"{pairs} with {several(answers, 'recorded answer')}" for answers, pairs in sorted(recorded.items())
    )
    lines = [
        f"canary of {known.judge}: nothing was asked",
        f"  would ask {several(len(known.prompts), 'prompt')} ({prompts}): {listed}",
        f"  at most {found.cost}",
        f"  log: {found.path}, {several(len(series.runs), 'run')} since these recordings; {_evidence(series)}",
        *(f"  {note}" for note in (*_former(series), *_alone(known), *known.notes)),
    ]
    return [presentable(line) for line in lines]


def _facts(found: Watched) -> list[str]:
    entry, known = found.entry, found.reference
    expected = sorted(known.served or found.series.served)
    lines = []
    if found.new_models:
        lines.append(
            f"{quote_names(found.new_models)} answered, and "
            f"{quote_names(expected) if expected else 'no other model'} did when it was recorded"
        )
    elif entry.served:
        lines.append(f"model {quote_names(entry.served)}{', as recorded' if known.served else ''}")
    elif entry.is_measured:
        lines.append("the server does not say which model answered")
    if entry.why:
        lines.append(entry.why)
    if found.new_fingerprints:
        lines.append(
            f"fingerprint {quote_names(found.new_fingerprints)} is new since the last run: the provider changed "
            "what runs the model; the test below says whether its verdicts moved"
        )
    return [*lines, *found.warnings, *known.notes]


def _test(found: Watched) -> list[str]:
    entry, series = found.entry, found.series
    answers = sum(len(answer) for pairs in entry.answers.values() for answer in pairs.values())
    cost = f"{several(found.cost.calls, 'call')}, {money(found.cost.usd)}"
    if not entry.is_measured:
        before = [f"{several(len(series.runs), 'run')} before it: {_evidence(series)}"] if series.runs else []
        stands = ["the alarm of an earlier run stands"] if series.is_over else []
        return [f"nothing was compared: {cost}", *before, *stands, *_former(series)]
    invalid = sum(answer.count("x") for pairs in entry.answers.values() for answer in pairs.values())
    without = f", {invalid} of them no verdict" if invalid else ""
    return [
        f"run {len(series.runs)} since these recordings: {several(answers, 'answer')}{without}; {cost}",
        _evidence(series),
        *_explained(found),
        *_renewed(series),
        *_former(series),
        *(_alone(found.reference) if len(series.runs) == 1 else ()),
    ]


def _former(series: Series) -> list[str]:
    """Return what is said of runs that are compared with nothing any more."""
    if series.former is None or not series.former.runs:
        return []
    alarm = " and an alarm" if series.former.is_over else ""
    return [
        f"a new series: the recordings, the judge's table or the prompts are others than in the run before; the "
        f"{several(len(series.former.runs), 'run')} until then, with evidence {_number(series.former.log_total)}"
        f"{alarm}, no longer count"
    ]


def _alone(known: Reference) -> list[str]:
    """Return what is said where one recorded answer cannot be told from noise, or one recorded day from others."""
    alone = sum(len(each.recorded) == 1 for each in known.prompts)
    if not known.again or known.days > 1:
        return []
    remedy = f"record another answer each, on another day: {known.again}"
    if 2 * alone <= len(known.prompts):
        return [
            "the prompts were recorded on one day, which may have been unlike others: a change from before "
            f"the first run takes about nine runs to tell from that; {remedy}"
        ]
    return [
        f"{several(alone, 'prompt')} with one recorded answer: a change from before the first run, of a judge that "
        f"varies, is then hardly found; {remedy}"
    ]


def _explained(found: Watched) -> list[str]:
    """Return what is said where the answers are not chance, and still no evidence of a change."""
    weighed = found.weighed
    if weighed is None or weighed.explanation is None:
        return []
    return [
        f"the answers differ by more than chance, but {EXPLAINED[weighed.explanation]}. So this run is no evidence "
        "of a change that lasts; further runs tell"
    ]


def _renewed(series: Series) -> list[str]:
    """Return what is said of runs that were judged by a former test."""
    if not series.renewed:
        return []
    return [f"{several(series.renewed, 'run')} of a former version, whose test took days for alike, judged anew"]


def _evidence(series: Series) -> str:
    alarm = math.exp(series.log_alarm)
    return (
        f"evidence of a change: {_number(series.log_total)}; {alarm:.4g} is an alarm, which at most "
        f"{100 / alarm:.3g}% of all canaries without a change ever reach by chance"
    )


def _moves(found: Watched) -> list[str]:
    if not found.series.is_over or not found.entry.is_measured:
        return []
    since = f"after the run of {found.since}" if found.since else "between the recordings and the first run"
    if not found.moves:
        return [f"most likely {since}; no single prompt stands out"]
    lines = [f"{several(len(found.moves), 'prompt')} moved, most likely {since}:"]
    lines += [f"  {_move(move)}" for move in found.moves[:LISTED]]
    more = len(found.moves) - LISTED
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _move(move: Move) -> str:
    before, after = (_counted(answers) for answers in (move.before, move.after))
    return f"{move.prompt.dataset}/{move.prompt.pair.id}: {before} before, {after} after"


def _counted(answers: str) -> str:
    counts = sorted(Counter(answers).items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{SPOKEN[answer]} in {count} of {len(answers)}" for answer, count in counts)


def _next(found: Watched) -> list[str]:
    measure = f"measure the judge as it is now with the whole gate: {found.gate}"
    stays = {
        "drift": "the alarm stays until the recordings are new ones, with which a new series begins; --restart begins "
        "one with the same recordings",
        "model": "the alarm stays as long as that model answers, or until its answers are the recorded ones",
    }
    if found.entry.result not in stays:
        return []
    return [*_false_if(found), measure, stays[found.entry.result]]


def _false_if(found: Watched) -> list[str]:
    """Return what would make an alarm of the verdicts false, and how to find out."""
    if found.entry.result != "drift":
        return []
    known, stuck = found.reference, "answers only stick since then (a cache, a fixed seed)"
    if found.since or known.days > 1:
        return [
            f"false if the provider stays with one of two backends for many days in a row, or if {stuck}: a series "
            "from --restart, some days later, is then quiet or alarms again"
        ]
    surer = f"; before the next change, be surer with answers of another day: {known.again}" if known.again else ""
    return [
        f"false if the one day of the recordings was unlike others (the provider alternates between backends, "
        f"and that one answers seldom), or if {stuck}: measure on another day{surer}"
    ]


def _number(logarithm: float) -> str:
    """Return a number of which the natural logarithm is known, also where it is too large for a float."""
    if logarithm == -math.inf:
        return "0"
    ten = logarithm / math.log(10)
    return f"{math.exp(logarithm):.3g}" if ten < 6 else f"1e{math.floor(ten)}"
