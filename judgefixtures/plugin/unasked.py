"""Unasked: what a run selects and no item is made of, because a judge is not asked it; said in a line a judge.

A judge of one response has no items about orders, accuracy or plans. Every run collects the marks that ask for them, so
that nothing is said unless the command names one: a word of -k or -m that is its own, or the path of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgefixtures.plugin.items import candidates, checks_for, is_a_path, is_asked, unfit_sets
from judgefixtures.words.texts import join_names

if TYPE_CHECKING:
    import pytest

    from judgefixtures.checks.protocol import Subject
    from judgefixtures.plugin.setup import Setup

INSTEAD = (
    "asked of judges of pairs alone. Its control shows whether it tells right from wrong; "
    "-k cue, noise, verbosity, bias and attack ask what moves its grades"
)


@dataclass(slots=True)
class Unasked:
    """What was selected and has no items: families by judge, and lines about house sets that were left out."""

    families: dict[str, dict[str, None]] = field(default_factory=dict)
    unfit: dict[str, None] = field(default_factory=dict)

    @property
    def lines(self) -> Iterator[str]:
        """What is to be said of it, a line for each judge."""
        for judge, families in self.families.items():
            names = sorted(families)
            yield f"{judge} grades one response: {join_names(names)} {'are' if len(names) > 1 else 'is'} {INSTEAD}"
        yield from self.unfit

    def look(self, mark: pytest.Mark, setup: Setup, node: Any, test: str) -> None:
        """Keep what a marked test of a module, or of a class, asks for in vain, if the command selects it."""
        for subject in candidates(mark, setup):
            grades = setup.run.judge(subject.judge).kind.grades
            if grades and not is_asked(subject, setup) and _is_named(subject, mark, node, test):
                self.families.setdefault(subject.judge, {})[subject.check.family] = None
        for judge in setup.judge_names:
            self._look_at_sets(mark, setup, judge, node, test)

    def _look_at_sets(self, mark: pytest.Mark, setup: Setup, judge: str, node: Any, test: str) -> None:
        sets, who = unfit_sets(mark, setup, judge), setup.run.judge(judge)
        asked = any(check.is_asked(who, ()) for check in checks_for(mark, setup, judge)) if sets else False
        if asked and _is_selected([*_names(mark, node, test), judge, *sets], mark, node):
            columns = join_names(f"{{{name}}}" for name in who.template.columns)
            self.unfit[
                f"{node.nodeid}::{test} is not asked of {judge} about {join_names(sets)}, which its mark names: the "
                f"template {who.template.name} shows {columns}, and no house set has that. Name a dataset of yours in "
                "the mark"
            ] = None


def _names(mark: pytest.Mark, node: Any, test: str) -> tuple[str, ...]:
    """Return by what -k knows every item of a test: its file, its class, its own name and its mark."""
    return (node.path.name, node.name, test, mark.name)


def _is_named(subject: Subject, mark: pytest.Mark, node: Any, test: str) -> bool:
    """Return whether the command names what a subject is about: not its judge alone, and nothing but what it is not."""
    if not (node.config.option.keyword or node.config.option.markexpr or is_a_path(node)):
        return False
    around = (subject.judge, subject.dataset)
    own = (*_names(mark, node, test), subject.check.family, repr(subject))
    if not _is_selected([*around, *own], mark, node):
        return False
    return is_a_path(node) or not _is_selected(around, None, node)


def _is_selected(names: Iterable[str], mark: pytest.Mark | None, node: Any) -> bool:
    """Return whether pytest would select an item of these names with this mark."""
    from _pytest.mark.expression import Expression  # the words of -k and -m, read as pytest reads them

    option, known = node.config.option, [name.lower() for name in names]

    def has_name(word: str, /, **_: object) -> bool:
        return any(word.lower() in name for name in known)

    def has_mark(word: str, /, **_: object) -> bool:
        return mark is not None and word == mark.name

    both = ((option.keyword, has_name), (option.markexpr, has_mark))
    return all(Expression.compile(words).evaluate(matches) for words, matches in both if words)
