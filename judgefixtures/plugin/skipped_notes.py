"""Notes on named checks that a judge does not support, one line per judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgefixtures.models.check_registry import ALONE, SWAP
from judgefixtures.util.texts import join_names

from .items import checks_for, unsuitable_datasets
from .messages import MESSAGES

if TYPE_CHECKING:
    import pytest

    from judgefixtures.checks.base import CheckId

    from .session_setup import SessionSetup

INSTEAD = (
    "for judges of pairs only. Use -k agreement for agreement with labels, or -k cue, noise, verbosity, bias or attack "
    "for changes of its grades"
)
PAIRS = "for judges of one response only. Use -k accuracy where the better response is known"
OF_MARKS = (
    "for judges with a pass mark only: set pass_mark in {}. Without a pass mark, use -k cue or noise for shifts of "
    "scores"
)

UNCOMPARED = "no swap was compared: add --judge-baseline NAME"
NO_LIMITS = {"confidence", "looks", "inconclusive"}  # keys of a gate that say how it decides
WORDED = 'wordings = ["terse", "reordered"]'


def unselected_checks(setup: SessionSetup, option: Any) -> Iterator[str]:
    """Yield a line for each single-response judge with named but unsupported checks."""
    from judgefixtures.checks import checks_of

    contrasts = [contrast for family in setup.run.families for contrast in setup.run.contrasts(family)]
    if setup.baseline_name is None and all(_is_named("swap", judge, setup, option) for judge in setup.judge_names):
        yield UNCOMPARED
    for judge in setup.judge_names:
        who = setup.run.judge(judge)
        families = sorted({each.family for each in checks_of(contrasts) if not each.applies_to(who, ())})
        if "wording" in families:
            families.remove("wording")
            if _is_named("wording", judge, setup, option):
                yield f"{judge} has no wordings: set for example {WORDED} in {who.table.heading}"
        if not who.kind.grades:
            if "agreement" in families and _is_named("agreement", judge, setup, option):
                if who.kind.gives_scores:
                    yield f"{judge} scores one response: agreement with labels is {OF_MARKS.format(who.table.heading)}"
                else:
                    yield f"{judge} chooses between two responses: agreement with labels is {PAIRS}"
            continue
        if named := [each for each in families if _is_named(each, judge, setup, option)]:
            yield f"{judge} grades one response: {join_names(named)} {'are' if len(named) > 1 else 'is'} {INSTEAD}"


def unchecked(setup: SessionSetup, option: Any, chosen: Iterable[CheckId]) -> Iterator[str]:
    """Yield a line for each judge with unchecked limits, and the remedy."""
    from judgefixtures.checks import checks_of

    contrasts = [contrast for family in setup.run.families for contrast in setup.run.contrasts(family)]
    limits = {name: sorted(own.keys() - NO_LIMITS) for name, own in _limits(setup).items()}
    own = [each for each in chosen if each.baseline is None]
    before = f"({option.keyword})" if {"and", "not"} & {*option.keyword.split()} else option.keyword
    for judge in dict.fromkeys(each.judge for each in own):
        looked = {each.check.family for each in own if each.judge == judge}
        if "agreement" in looked and not limits.get("agreement"):
            yield f"{judge}: agreement is shown but not gated. Set min_kappa in [tool.judgefixtures.gate.agreement]"
        asked = {each.family for each in checks_of(contrasts) if each.applies_to(setup.run.judge(judge), ())}
        if left := [name for name, keys in limits.items() if keys and name in asked - looked]:
            keys = join_names([f"{key} of {name}" for name in left for key in limits[name]])
            words = " or ".join(filter(None, [before, *left]))
            yield f'{judge}: this run does not check the limits {keys}. Select them: -k "{words}"'


def _limits(setup: SessionSetup) -> dict[str, dict[str, Any]]:
    tables = setup.config.decisive
    found = {name.removeprefix("gate."): own for name, own in tables.items() if name.startswith("gate.")}
    least = setup.config.gate("accuracy").min_accuracy
    return found | ({} if least is None else {"accuracy": {"min_accuracy": least} | found.get("accuracy", {})})


def unsuitable_datasets_notes(mark: pytest.Mark, setup: SessionSetup, node: Any, test: str) -> Iterator[str]:
    """Yield a line for each judge whose template needs columns that sample datasets lack."""
    for judge in setup.judge_names:
        sets, who = unsuitable_datasets(mark, setup, judge), setup.run.judge(judge)
        if not sets or not any(check.applies_to(who, ()) for check in checks_for(mark, setup, judge)):
            continue
        if _is_selected((node.path.name, node.name, test, judge, *sets), (mark.name,), node.config.option):
            columns = join_names(f"{{{name}}}" for name in who.template.columns)
            yield MESSAGES.dataset_lacks_columns(node, test, judge, sets, who, columns)


def uncompared_families(mark: pytest.Mark, setup: SessionSetup, node: Any, test: str) -> Iterator[str]:
    """Yield a line for each pairwise judge with omitted swap families."""
    if mark.name != SWAP or setup.baseline_name is None:
        return
    for judge in setup.judge_names:
        who = setup.run.judge(judge)
        checks = [each for each in checks_for(mark, setup, judge) if each.contrast and each.contrast.is_of_prompts]
        left = dict.fromkeys(each.family for each in checks if not each.applies_to(who, ()))
        around = (node.path.name, node.name, test, judge)
        if named := [family for family in left if _is_selected((*around, family), (mark.name,), node.config.option)]:
            yield MESSAGES.swap_without_prompt_cues(judge, named)


def _is_named(family: str, judge: str, setup: SessionSetup, option: Any) -> bool:
    around = (judge, *setup.datasets(family, judge))
    marks = [kind.mark for kind in ALONE if kind.name == family]
    if not _is_selected((*around, family, f"test_{family}"), marks, option):
        return False
    files = {Path(argument.partition("::")[0]).stem for argument in option.file_or_dir}
    return bool(files & {f"test_{family}", f"test_judge_{family}"}) or not _is_selected(around, (), option)


def _is_selected(names: Iterable[str], marks: Iterable[str], option: Any) -> bool:
    from _pytest.mark.expression import Expression  # the words of -k and -m, read as pytest reads them

    known, marked = [name.lower() for name in names], tuple(marks)

    def has_name(word: str, /, **_: object) -> bool:
        return any(word.lower() in name for name in known)

    def has_mark(word: str, /, **_: object) -> bool:
        return word in marked

    both = ((option.keyword, has_name), (option.markexpr, has_mark))
    try:
        return all(Expression.compile(words).evaluate(matches) for words, matches in both if words)
    except SyntaxError:  # pytest says what is wrong with them
        return False
