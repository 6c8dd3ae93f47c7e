"""The rooms of the package: which may import which, what is imported when, and that every example runs."""

import ast
import doctest
import importlib
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from startup import NEEDLESS, replay

PACKAGE = Path(__file__).parents[2] / "judgefixtures"

# Along the flow of data: a room imports from rooms that stand before it, never from one behind.
FLOW = [
    "words",
    "numbers",
    "material",
    "sources",
    "reading",
    "cassettes",
    "providers",
    "config",
    "asking",
    "batches",
    "imports",
    "findings",
    "measures",
    "swap",
    "checks",
    "runs",
    "page",
    "report",
    "preflight",
    "plugin",
    "labelling",
    "starter",
    "paper",
    "canary",
    "__main__",
]
# Beside the flow: it plays the other side of the wire and may know the pairs, the cues and what was published of them,
# nothing else.
SIMULATOR_KNOWS = {"material", "sources", "simulator"}
HEAVY = [
    "openai",
    "google.genai",
    "anthropic",
    "vcr",
    "datasets",
    "pandas",
    "scipy",
    "statsmodels",
    "pydantic",
    "numpy",
    "httpx2",
    "jinja2",
    "matplotlib",
]


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path):
    return ".".join(("judgefixtures", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def short_name(path):
    return re.sub("(e?s|e?d|er|ing|ment|ness)$", "", path.stem)


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (name.split(".")[1] for name in names if name.startswith("judgefixtures."))


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)
# A public path of old (docs/contract.md): it hands on the names of one module, and is no room.
FACES = [path for path in FILES if path.parent == PACKAGE and "the public path of" in path.read_text()[:200]]
LONGEST = {ast.ClassDef: 300, ast.FunctionDef: 60, ast.AsyncFunctionDef: 60}  # lines
SIMULATED_BATCHES = PACKAGE / "simulator" / "batches.py"  # a path that docs/contract.md promises


def test_imports_point_one_way():
    """A module imports only from rooms that come before its own in the flow, and none from a public path of old."""
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in FILES
        if path not in FACES
        for room in [room_of(path)]
        for other in {*imports_of(path)} - (SIMULATOR_KNOWS if room == "simulator" else {*FLOW[: FLOW.index(room) + 1]})
    ]
    assert wrong == []


def test_nothing_is_too_long_to_be_read():
    """No file is above 700 lines, no class above 300, no function above 60; no line is kept from the formatter."""
    long = []
    for path in FILES:
        text = path.read_text()
        name = path.relative_to(PACKAGE)
        long += [f"{name}: {len(text.splitlines())} lines"] if len(text.splitlines()) > 700 else []
        long += [f"{name}: fmt: skip"] if "# fmt: " in text else []
        for node in ast.walk(ast.parse(text)):
            most = LONGEST.get(type(node), math.inf)
            if most < math.inf and node.end_lineno - node.lineno >= most:
                long.append(f"{name}: {node.name} has {node.end_lineno - node.lineno + 1} lines")
    assert long == []


def test_no_two_rooms_have_one_name():
    """No two files or folders have one name, or names that differ by an ending; public paths of old aside.

    The main file of a folder may have the folder's name.
    """
    names = {}
    for path in sorted({*FILES, *(path.parent for path in FILES)} - {*FACES, PACKAGE}):
        stem = short_name(path)
        if stem not in ("__init__", "__main__", short_name(path.parent)) and path != SIMULATED_BATCHES:
            names.setdefault(stem, []).append(str(path.relative_to(PACKAGE)))
    assert [paths for paths in names.values() if len(paths) > 1] == []


def test_only_the_plugin_sees_pytest():
    """No other module imports pytest, so that all of them can be used from a notebook."""
    seeing = {room_of(path) for path in FILES if "import pytest" in path.read_text()}
    assert seeing == {"plugin"}


@pytest.mark.whole
def test_start_up_imports_nothing_heavy():
    """Importing the plugin and the public modules imports no SDK, no vcrpy, no scipy and no pydantic."""
    light = ("plugin", "statistics", "verdicts", "acknowledgment", "sources", "material.cues", "material.contrasts")
    code = (
        f"import sys, {', '.join(f'judgefixtures.{name}' for name in light)}; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.whole
def test_a_judge_is_made_without_its_sdk():
    """load_judge imports no SDK and opens nothing; that happens with the first question."""
    code = (
        "import sys; from judgefixtures.asking.judges import load_judge; "
        "[load_judge({'provider': name, 'model': 'm'}) for name in ('openai', 'google', 'anthropic')]; "
        "cloud = {'endpoint': 'https://a.openai.azure.com', 'api_version': 'v'}; "
        "load_judge({'provider': 'azure', 'model': 'm', 'connection': cloud}); "
        "cloud = {'project': 'p', 'location': 'global'}; "
        "load_judge({'provider': 'google', 'model': 'm', 'connection': cloud}); "
        "heavy = ('openai', 'google.genai', 'google.auth', 'anthropic', 'vcr', 'httpx2', 'scipy'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.whole
def test_a_replay_imports_what_it_needs():
    """Replaying an OpenAI judge imports no library of datasets and no SDK of another provider's."""
    modules, _ = replay()
    assert "openai" in modules
    assert not {*NEEDLESS} & {name.partition(".")[0] for name in modules}


def test_examples_run():
    """Every example in a docstring gives what it says."""
    names = [".".join(("judgefixtures", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in FILES]
    names = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    assert [name for name in names if doctest.testmod(importlib.import_module(name)).failed] == []
