"""Unasked: what a run names and no item is made of, because a judge is not asked it; said in a line a judge.

A judge of one response has no items about orders, accuracy or plans. Nothing is said of that unless the command names
one of them: by a word of -k or -m that is not its judge's or dataset's, or by the path of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgefixtures.material.registry import ALONE, SWAP
from judgefixtures.plugin.items import checks_for, unfit_sets
from judgefixtures.words.texts import join_names

if TYPE_CHECKING:
    import pytest

    from judgefixtures.plugin.setup import Setup

INSTEAD = (
    "asked of judges of pairs alone. -k agreement asks whether it grades as people label, its control shows whether it "
    "tells right from wrong, and -k cue, noise, verbosity, bias and attack ask what moves its grades"
)
OF_PAIRS = (
    "asked of judges of one response alone. -k accuracy asks whether it is right where the better response is known"
)
OF_MARKS = (
    "asked of judges whose scores pass from a mark on: set pass_mark in {}. Without one -k cue and noise ask how far "
    "scores shift"
)

UNCOMPARED = "no swap was compared: it takes the incumbent as well, --judge-baseline NAME"
WORDED = 'wordings = ["terse", "reordered"]'


def unasked(setup: Setup, option: Any) -> Iterator[str]:
    """Yield a line for each judge of one response of which a command names what it is not asked."""
    from judgefixtures.checks import checks_of

    contrasts = [contrast for family in setup.run.families for contrast in setup.run.contrasts(family)]
    if setup.baseline_name is None and all(_is_named("swap", judge, setup, option) for judge in setup.judge_names):
        yield UNCOMPARED
    for judge in setup.judge_names:
        who = setup.run.judge(judge)
        families = sorted({each.family for each in checks_of(contrasts) if not each.is_asked(who, ())})
        if "wording" in families:
            families.remove("wording")
            if _is_named("wording", judge, setup, option):
                yield f"{judge} has no wordings: {who.table.heading} names none, as in {WORDED}"
        if not who.kind.grades:
            if "agreement" in families and _is_named("agreement", judge, setup, option):
                if who.kind.gives_scores:
                    yield f"{judge} scores one response: agreement with labels is {OF_MARKS.format(who.table.heading)}"
                else:
                    yield f"{judge} chooses between two responses: agreement with labels is {OF_PAIRS}"
            continue
        if named := [each for each in families if _is_named(each, judge, setup, option)]:
            yield f"{judge} grades one response: {join_names(named)} {'are' if len(named) > 1 else 'is'} {INSTEAD}"


def unfit(mark: pytest.Mark, setup: Setup, node: Any, test: str) -> Iterator[str]:
    """Yield a line for each judge that a selected test does not ask about house sets that its mark names.

    They have none of the columns that the judge's template shows.
    """
    for judge in setup.judge_names:
        sets, who = unfit_sets(mark, setup, judge), setup.run.judge(judge)
        if not sets or not any(check.is_asked(who, ()) for check in checks_for(mark, setup, judge)):
            continue
        if _is_selected((node.path.name, node.name, test, judge, *sets), (mark.name,), node.config.option):
            columns = join_names(f"{{{name}}}" for name in who.template.columns)
            yield (
                f"{node.nodeid}::{test} is not asked of {judge} about {join_names(sets)}, which its mark names: the "
                f"template {who.template.name} shows {columns}, and no house set has that. Name a dataset of yours in "
                "the mark"
            )


def uncompared(mark: pytest.Mark, setup: Setup, node: Any, test: str) -> Iterator[str]:
    """Yield a line for each judge of pairs of whose swap a selected test leaves families for one response out."""
    if mark.name != SWAP or setup.baseline_name is None:
        return
    for judge in setup.judge_names:
        who = setup.run.judge(judge)
        of_prompts = (
            check for check in checks_for(mark, setup, judge) if check.contrast and check.contrast.is_of_prompts
        )
        left = dict.fromkeys(check.family for check in of_prompts if not check.is_asked(who, ()))
        around = (node.path.name, node.name, test, judge)
        if named := [family for family in left if _is_selected((*around, family), (mark.name,), node.config.option)]:
            yield (
                f'the swap of {judge} leaves {join_names(named)} out: sentences with place = "prompt" are for judges '
                f"of one response, and {judge} compares two"
            )


def _is_named(family: str, judge: str, setup: Setup, option: Any) -> bool:
    """Return whether a command names a family: not its judge alone, and nothing but what it is not."""
    around = (judge, *setup.datasets(family, judge))
    marks = [kind.mark for kind in ALONE if kind.name == family]
    if not _is_selected((*around, family, f"test_{family}"), marks, option):
        return False
    files = {Path(argument.partition("::")[0]).stem for argument in option.file_or_dir}
    return bool(files & {f"test_{family}", f"test_judge_{family}"}) or not _is_selected(around, (), option)


def _is_selected(names: Iterable[str], marks: Iterable[str], option: Any) -> bool:
    """Return whether pytest would select an item of these names with these marks."""
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
