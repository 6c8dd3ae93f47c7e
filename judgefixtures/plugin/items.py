"""Test items: one check per judge and dataset for each marked test."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.models.check_registry import REGISTRY, SWAP
from judgefixtures.util.errors import JudgeFixturesError, accepted_values

if TYPE_CHECKING:
    from judgefixtures.checks.base import Check, CheckId
    from judgefixtures.models.pairs import Pair

    from .session_setup import SessionSetup

ITEM = "_judge_item"
DATASETS = "datasets"  # the key of a mark that names them
MARKS = {kind.mark: kind.meaning for kind in REGISTRY}


def mark_of(node: Any) -> pytest.Mark | None:
    """Return the judge mark of a module, class or function."""
    return next((mark for name in MARKS if (mark := node.get_closest_marker(name)) is not None), None)


def function_mark(function: object) -> pytest.Mark | None:
    """Return the mark of a test function before collection.

    Inspects functions only: attribute access on proxies can raise.
    """
    marks = getattr(function, "pytestmark", []) if isinstance(function, FunctionType) else []
    return next((mark for mark in marks if mark.name in MARKS), None) if isinstance(marks, list) else None


def subjects_of_mark(mark: pytest.Mark, setup: SessionSetup) -> list[CheckId]:
    """Return the subjects of a marked test.

    Raises:
        JudgeFixturesError: A family is unknown.
    """
    from judgefixtures.checks.base import CheckId

    baseline = setup.baseline_name if mark.name == SWAP else None
    subjects = [
        CheckId(judge, dataset, setup.run.registry.fitted(check, setup.config.judge_table(judge), pairs), baseline)
        for judge in setup.judge_names
        for dataset, check in _checks_asked(mark, setup, checks_for(mark, setup, judge), judge)
        for pairs in [setup.run.pairs(judge, dataset)]
        if check.applies_to(setup.run.judge(judge), pairs)
    ]
    return [] if mark.name == SWAP and baseline is None else subjects


def parts_left_out(mark: pytest.Mark, setup: SessionSetup) -> Iterator[CheckId]:
    """Yield the configured swap parts that options leave out, which prevent approval.

    `[swap] families` counts if configured.
    """
    from judgefixtures.checks import swap_checks
    from judgefixtures.checks.base import CheckId

    run, config = setup.run, setup.config
    is_set = "families" in config.swap.model_fields_set
    families = config.swap.families if is_set else _families(mark, setup)
    checks = swap_checks([each for family in families for each in run.contrasts(family)], 0)
    for judge in setup.judge_names if is_set or setup.options.judge_datasets else ():
        logged = [name for name in (judge, str(setup.baseline_name)) if not run.judge(name).kind.is_asked]
        for check in checks:
            for dataset in mark.kwargs.get(DATASETS) or config.datasets_of(check.family, judge):
                unfit = run.judge(judge).template.columns and config.source(dataset).is_built_in
                if unfit or not all(run.imports.path(name, dataset).exists() for name in logged):
                    continue  # nobody can be asked about it
                pairs: Sequence[Pair] = ()
                with contextlib.suppress(JudgeFixturesError):  # no run of this selection reads it
                    frozen = (run.library.frozen(name, dataset) for name in (judge, str(setup.baseline_name)))
                    is_here = run.samples.is_here(judge, dataset)
                    pairs = run.pairs(judge, dataset) if is_here else next(filter(None, frozen), ())
                fitted = run.registry.fitted(check, config.judge_table(judge), pairs)
                if fitted.applies_to(run.judge(judge), pairs):
                    yield CheckId(judge, dataset, fitted, setup.baseline_name)


def checks_for(mark: pytest.Mark, setup: SessionSetup, judge: str) -> Sequence[Check]:
    """Return a mark's checks for a judge."""
    from judgefixtures.checks import ALONE_CHECKS, check_of, swap_checks

    if mark.name in ALONE_CHECKS:
        return [ALONE_CHECKS[mark.name]]
    families = _families(mark, setup)
    contrasts = [contrast for family in families for contrast in setup.run.contrasts(family)]
    if mark.name != SWAP:
        return [check_of(contrast) for contrast in contrasts]
    named = _datasets(mark, setup, "", judge) if DATASETS in mark.kwargs else None
    return swap_checks(contrasts, setup.run.registry.swap_cells(judge, families, named))


def item_subject(node: Any) -> CheckId | None:
    """Return an item's subject, or None."""
    params = node.callspec.params if hasattr(node, "callspec") else {}
    if ITEM not in params:
        return None
    from judgefixtures.checks.base import CheckId

    subject = params[ITEM]
    return subject if isinstance(subject, CheckId) else None  # pytest has a value of its own for an empty list


def selected_judge_items(nodes: Iterable[Any]) -> list[tuple[str, CheckId]]:
    """Return the judge tests among items, with id and subject."""
    subjects = [(node.nodeid, item_subject(node)) for node in nodes]
    return [(name, subject) for name, subject in subjects if subject is not None]


def keywords_of_item(node: Any, setup: SessionSetup) -> tuple[str, ...]:
    """Return an item's extra keywords: `cue` for cues except the placebo."""
    from judgefixtures.models.cues import PLACEBO

    subject = item_subject(node)
    if subject is None or subject.baseline is not None:
        return ()
    return ("cue",) if subject.check.family in setup.config.cues and subject.check.family != PLACEBO else ()


def is_opt_in_only(mark: pytest.Mark, subject: CheckId, node: Any, setup: SessionSetup) -> bool:
    """Return whether a subject needs naming (`by_name=True`) and is not named.

    A file path, an unambiguous `-k` word, or `--lf` after a failure names it.
    """
    if mark.kwargs.get("by_name") is not True:
        return False
    from judgefixtures.models.cues import BY_NAME

    if subject.check.family in BY_NAME and subject.check.family in setup.config.own_families:
        return True  # [cues.gender] of the user's is asked about by test_cues.py
    return not (_is_a_path(node) or _is_in_keywords(subject.check, setup) or _failed_before(subject, node))


def _is_a_path(node: Any) -> bool:
    paths = [argument.partition("::")[0] for argument in node.config.args]
    return any((node.config.invocation_params.dir / path).resolve() == Path(node.path).resolve() for path in paths)


def _is_in_keywords(check: Check, setup: SessionSetup) -> bool:
    words = re.findall(r"[^\s()]+", setup.options.keyword.lower())
    families = [family for family in setup.run.families if family != check.family]
    others = [contrast.id for family in families for contrast in setup.run.contrasts(family)]
    return any(
        check.family in re.split(r"[^a-z0-9]", word)
        or (word in check.name.lower() and not any(word in other.lower() for other in others))
        for word in words
        if word not in ("and", "or", "not")
    )


def _failed_before(subject: CheckId, node: Any) -> bool:
    if not node.config.getoption("lf", False):
        return False
    failed = node.config.cache.get("cache/lastfailed", {})
    return any(name.startswith(node.nodeid.partition("::")[0]) and repr(subject) in name for name in failed)


def report_key(node: Any) -> str:
    """Return a test's report key, equal for all its repeats.

    Parameters that begin with an underscore do not count.
    """
    chosen = [f"{name}={index}" for name, index in sorted(node.callspec.indices.items()) if not name.startswith("_")]
    return f"{node.parent.nodeid}::{node.originalname}[{node.callspec.params.get(ITEM)!r} {' '.join(chosen)}]"


def expected_keys(nodes: Iterable[Any]) -> dict[str, tuple[str, str]]:
    """Return report key and subject of each judge test by id."""
    return {
        node.nodeid: (report_key(node), repr(subject))
        for node in nodes
        if (subject := item_subject(node)) is not None and "gate" in node.fixturenames
    }


def subject_by_name(name: str, setup: SessionSetup) -> CheckId | None:
    """Return the subject of an item's name, or None.

    xdist's controller knows only ids.
    """
    from judgefixtures.checks import checks_of, swap_checks
    from judgefixtures.checks.base import CheckId

    contrasts = [contrast for family in setup.run.families for contrast in setup.run.contrasts(family)]
    every: list[tuple[Check, str | None]] = [(check, None) for check in checks_of(contrasts)]
    if setup.baseline_name is not None:
        every[:0] = [(check, setup.baseline_name) for check in swap_checks(contrasts, 0)]
    for judge in setup.judge_names:
        for check, baseline in every:
            start, _, end = repr(CheckId(judge, "\0", check, baseline)).partition("\0")
            if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end):
                return CheckId(judge, name[len(start) : -len(end)], check, baseline)
    return None


def _checks_asked(
    mark: pytest.Mark, setup: SessionSetup, checks: Sequence[Check], judge: str
) -> Iterator[tuple[str, Check]]:
    of_check = [(check, _datasets(mark, setup, check.family, judge)) for check in checks]
    for dataset in dict.fromkeys(dataset for _, datasets in of_check for dataset in datasets):
        yield from ((dataset, check) for check, datasets in of_check if dataset in datasets)


def _datasets(mark: pytest.Mark, setup: SessionSetup, family: str, judge: str) -> tuple[str, ...]:
    if DATASETS not in mark.kwargs:
        names = setup.datasets(family, judge)
    else:
        unfit = unsuitable_datasets(mark, setup, judge)
        names = tuple(name for name in _named(mark, setup) if name not in unfit)
    for name in names:
        setup.run.pairs(judge, name)
    return names


def unsuitable_datasets(mark: pytest.Mark, setup: SessionSetup, judge: str) -> tuple[str, ...]:
    """Return a mark's sample datasets that lack the template's columns."""
    if not setup.run.judge(judge).template.columns:
        return ()
    return tuple(name for name in _named(mark, setup) if setup.config.source(name).is_built_in)


def _named(mark: pytest.Mark, setup: SessionSetup) -> tuple[str, ...]:
    named: Sequence[str] = mark.kwargs.get(DATASETS, ())
    if isinstance(named, str):
        raise JudgeFixturesError(f"the mark {mark.name}(datasets={named!r}) needs a list: datasets=[{named!r}].")
    chosen = setup.options.judge_datasets
    return tuple(name for name in named if not chosen or name in chosen)


def _families(mark: pytest.Mark, setup: SessionSetup) -> tuple[str, ...]:
    for name in mark.args:
        if name not in setup.run.families:
            raise JudgeFixturesError(
                f"the mark {mark.name}({name!r}) names no family: {accepted_values(str(name), setup.run.families)}."
            )
    if mark.args:
        return mark.args
    if mark.name == SWAP:
        return tuple(setup.config.swap.families)
    return setup.config.own_families
