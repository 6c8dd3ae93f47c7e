"""Asserts compare values and codes; sentences stand in snapshots, where a change of wording is one command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MOST = 150  # asserts that compare four English words in a row; snapshots hold all others
WORD = r"(?:[A-Za-z][a-z]+(?:['’][a-z]+)?|[aAI]|[A-Z]{2,})"
SENTENCE = re.compile(rf"(?<![\w/.\-_=`{{@]){WORD}(?:[,;:.!?)\"'»”]{{0,2}}\s+[(\"'«“]?{WORD}){{3,}}(?![\w/_=@])")
SEARCHES = {"startswith", "endswith", "search", "match", "fullmatch", "findall", "count", "index", "split", "partition"}
BUILDERS = {"join", "replace", "format"}
COLLECTIONS = {"set", "list", "tuple", "sorted", "dict", "frozenset", "any", "all", "Counter", "str"}

Names = dict[str, list[ast.expr]]


def texts(node: ast.AST, names: Names) -> Iterator[str]:
    """Yield the texts that an operand holds: its own and those of names, but not what a function is called with."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{1}" for part in node.values)
    elif isinstance(node, ast.Name):
        rest = {name: values for name, values in names.items() if name != node.id}
        for value in names.get(node.id, []):
            yield from texts(value, rest)
    elif isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute):
            yield from texts(called.value, names)
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in (SEARCHES | BUILDERS if isinstance(called, ast.Attribute) else COLLECTIONS):
            for argument in node.args:
                yield from texts(argument, names)
    elif not isinstance(node, (ast.Attribute, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from texts(child, names)


def compared(test: ast.AST) -> Iterator[ast.expr]:
    """Yield what an assert compares, or looks for in a text."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            yield from node.args


def bound(tree: ast.AST) -> Names:
    """Return what names may be: by assignments, loops and the parameters of tests."""
    names: Names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.For, ast.comprehension)):
            pairs = [(node.target, each) for each in getattr(node.iter, "elts", [node.iter])]
        elif isinstance(node, ast.Call) and node.args and getattr(node.func, "attr", "") == "parametrize":
            keys = ast.literal_eval(node.args[0])
            targets = [ast.Name(key.strip()) for key in (keys.split(",") if isinstance(keys, str) else keys)]
            rows = getattr(node.args[1], "elts", [node.args[1]])
            target = targets[0] if len(targets) == 1 else ast.Tuple(targets)
            pairs = [(target, ast.Tuple(row.args) if isinstance(row, ast.Call) else row) for row in rows]
        else:
            continue
        for target, value in pairs:
            if isinstance(target, ast.Name):
                names.setdefault(target.id, []).append(value)
            elif isinstance(target, ast.Tuple) and isinstance(value, (ast.Tuple, ast.List)):
                for each, part in zip(target.elts, value.elts, strict=False):
                    if isinstance(each, ast.Name):
                        names.setdefault(each.id, []).append(part)
    return names


def sentences(source: str) -> Iterator[int]:
    """Yield the lines of asserts, and of `pytest.raises`, that compare a sentence."""
    tree = ast.parse(source)
    module = bound(ast.Module([node for node in tree.body if isinstance(node, ast.Assign)], []))
    for statement in tree.body:
        names = module | bound(statement)
        for node in ast.walk(statement):
            operands: list[ast.expr] = []
            if isinstance(node, ast.Assert):
                operands = [*compared(node.test)]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"raises", "warns"}:
                operands = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            elif isinstance(node, ast.Call) and "match_line" in getattr(node.func, "attr", ""):
                operands = node.args
            if any(SENTENCE.search(text) for operand in operands for text in texts(operand, names)):
                yield getattr(node, "lineno", 0)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def test(): assert said == 'no limit is set'", 1),
        ("SAID = 'no limit is set'\ndef test(): assert SAID in said", 1),
        ("def test():\n for each in ('a', 'no limit is set'): assert each in said", 1),
        (
            "@pytest.mark.parametrize(('a', 'said'), [(1, 'no limit is set')])\ndef test(a, said): assert told(a) == said",
            1,
        ),
        ("def test():\n with pytest.raises(ValueError, match='no limit is set'): pass", 1),
        ("def test(): assert parsed('no limit is set') == 1", 0),
        ("def test(): assert said == snapshot", 0),
        ("def test(): assert said == 'max_position_flips'", 0),
    ],
)
def test_what_compares_a_sentence(source: str, found: int) -> None:
    """Literals, constants, loops and parameters count; what a function is asked with does not."""
    assert len([*sentences(source)]) == found


def test_few_asserts_compare_sentences() -> None:
    """More than these make a change of wording a change of tests: compare codes and values, or take a snapshot."""
    found = [f"{path}:{line}" for path in TESTS.rglob("test_*.py") for line in sentences(path.read_text("utf-8"))]
    assert len(found) <= MOST, found
