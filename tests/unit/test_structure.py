"""The packages: which may import which, what is imported when, and that every example runs."""

import ast
import doctest
import functools
import importlib
import math
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from startup import NEEDLESS, replay

PACKAGE = Path(__file__).parents[2] / "judgefixtures"

# A package imports only from layers above its own in this list.
LAYERS = (
    {"util", "statistics"},
    {"models"},
    {"prompts", "parsing", "sources"},
    {"cassettes", "simulator"},
    {"providers"},
    {"config", "adapters"},
    {"client", "swap"},
    {"judges", "batches"},
    {"importers", "metrics"},
    {"checks"},
    {"run", "report"},
    {"canary", "labeling", "paper", "__init__"},
    {"plugin", "cli"},
    {"__main__"},
)
LAYER_OF = {package: number for number, layer in enumerate(LAYERS) for package in layer}
MOST_PACKAGES = 27
# Past participles that say nothing of what a value is. The limit may only go down.
VAGUE, MOST_VAGUE = {"found", "said", "told", "shown", "asked"}, 500
# The simulator plays the other side of the wire: it knows the pairs, the cues and published numbers, nothing else.
SIMULATOR_KNOWS = {"models", "prompts", "sources"}
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


def package_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path):
    return ".".join(("judgefixtures", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text())


def imports_of(path):
    """Yield the full name of every module that a file imports from the package."""
    folder = ("judgefixtures", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) + 1 - node.level] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def packages_imported(path):
    """Return the packages of ours that a file imports from; a name of `judgefixtures` itself is of `__init__`."""
    parts = (name.split(".") for name in imports_of(path))
    names = {each[1] for each in parts if each[0] == "judgefixtures" and len(each) > 1}
    return {name if name in LAYER_OF else "__init__" for name in names}


def identifiers(path):
    with path.open("rb") as file:
        return [token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.NAME]


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)
LONGEST = {ast.ClassDef: 300, ast.FunctionDef: 60, ast.AsyncFunctionDef: 60}  # lines


def test_every_package_has_a_layer():
    """There are at most 27 packages, and each is in one layer."""
    packages = {package_of(path) for path in PACKAGE.rglob("*.py")}
    assert packages == {*LAYER_OF}
    assert len(packages) <= MOST_PACKAGES
    assert sum(map(len, LAYERS)) == len(LAYER_OF)


def test_imports_are_seen(tmp_path, monkeypatch):
    """The rule of the layers sees absolute and relative imports, at the top of a file and in a function."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "report" / "html").mkdir(parents=True)
    file = tmp_path / "report" / "html" / "views.py"
    file.write_text(
        "import judgefixtures.util.texts\nfrom judgefixtures import __version__, swap\nfrom . import labels\n"
        "from ..sections import one\nfrom ...metrics import two\n\n\n"
        "def late():\n    from judgefixtures.models.pairs import Pair\n"
    )
    assert packages_imported(file) == {"util", "__init__", "swap", "report", "metrics", "models"}


def test_imports_point_one_way():
    """A module imports only from its own package and from packages of lower layers."""
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in FILES
        for package in [package_of(path)]
        for other in packages_imported(path) - {package}
        if LAYER_OF[other] >= LAYER_OF[package] or (package == "simulator" and other not in SIMULATOR_KNOWS)
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


def test_no_two_classes_have_one_name():
    """A class name stands for one class in the whole package."""
    places = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_vague_names_do_not_come_back():
    """Names such as `found` and `said` stay few: a name says what its value is."""
    count = sum(name in VAGUE for path in PACKAGE.rglob("*.py") for name in identifiers(path))
    assert count <= MOST_VAGUE


def test_only_the_plugin_sees_pytest():
    """No other module imports pytest, so that all of them can be used from a notebook."""
    seeing = {package_of(path) for path in FILES if "import pytest" in path.read_text()}
    assert seeing == {"plugin"}


@pytest.mark.whole
def test_start_up_imports_nothing_heavy():
    """Importing the plugin and the public modules imports no SDK, no vcrpy, no scipy and no pydantic."""
    light = ("plugin", "statistics", "verdicts", "acknowledgment", "sources", "models.cues", "models.contrasts")
    code = (
        f"import sys, {', '.join(f'judgefixtures.{name}' for name in light)}; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.whole
def test_the_path_of_a_question_stays_short():
    """A question passes at most 12 functions from the gate to the provider, the first one of a recording, too."""
    script = PACKAGE.parent / "benchmarks" / "path.py"
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.whole
def test_a_judge_is_made_without_its_sdk():
    """load_judge imports no SDK and opens nothing; that happens with the first question."""
    code = (
        "import sys; from judgefixtures.judges import load_judge; "
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
    names = [name for name in map(name_of, FILES) if not name.endswith("__main__")]
    assert [name for name in names if doctest.testmod(importlib.import_module(name)).failed] == []
