"""`judgefixtures init`: what it writes in another repository, and that it disturbs nothing there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked import run_pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.kits import KITS, MODULES, PROVIDERS, starter_configuration
from judgefixtures.cli.main import main
from judgefixtures.cli.scaffold import suite_folder, write_scaffold
from judgefixtures.config import load_config
from judgefixtures.providers import PROVIDERS as ASKED
from judgefixtures.providers import provider_spec
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.shell import SUITE

pytest_plugins = ["pytester"]

REPOSITORY = Path(__file__).parents[2]
TABLE = ("tool", "judgefixtures")
# Tests of this repository's own data: nobody else's judge is asked to pass them.
ONLY_HERE = {"test_bias_accuracy.py"}
OWN_TESTS = """
import pytest

@pytest.fixture
def contrast():
    return "own"

def test_own(judge, pairs, contrast):
    assert (judge, pairs, contrast) == ("my judge", ["my pairs"], "own")
"""
OWN_CONFTEST = """
import pytest

@pytest.fixture
def judge():
    return "my judge"

@pytest.fixture
def pairs():
    return ["my pairs"]
"""


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without what running Python leaves there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"__pycache__", ".pytest_cache"} & {*path.parts}
    }


@pytest.fixture(scope="module")
def server() -> SimulatorServer:
    """The simulated judges, on a free port of this machine."""
    with serving() as server:
        yield server


def point_at(server: SimulatorServer, file: Path) -> None:
    """Make the configured judge the simulated one that is right and fair."""
    text = file.read_text(encoding="utf-8").replace('"gpt-4o-2024-11-20"', '"simulated-faithful"')
    file.write_text(text.replace('# base_url = "http://127.0.0.1:8080/v1"', f'base_url = "{server.url}/v1"'))


def uncommented(text: str) -> str:
    """Return a configuration with every commented key and table in force."""
    return re.sub(r"^# (?=[\[\w]+.*[=\]])", "", text, flags=re.MULTILINE)


# --- what is written --------------------------------------------------------------------------------------


def test_the_modules_are_this_repositorys_own(tmp_path: Path) -> None:
    """The written modules are tests/judge, byte for byte, all of them but those about data that only we have."""
    write_scaffold(tmp_path)
    written = {path.name: path.read_bytes() for path in (tmp_path / SUITE).iterdir()}
    ours = {path.name: path.read_bytes() for path in (REPOSITORY / SUITE).glob("*.py")}
    assert written == {name: text for name, text in ours.items() if name not in ONLY_HERE}
    assert {f"test_{name}.py" for name in MODULES} | ONLY_HERE == ours.keys()
    assert suite_folder() == REPOSITORY / SUITE  # and there is no second copy in a checkout


def test_a_module_is_a_few_lines(tmp_path: Path) -> None:
    """Each module fits on a small screen, and no test of it has more than one statement."""
    write_scaffold(tmp_path)
    for path in (tmp_path / SUITE).iterdir():
        assert len(path.read_text().splitlines()) <= 20


def test_the_first_run_in_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It lists what it wrote, nothing else appeared, and it says what comes next: the judge, recording, the gate."""
    assert main(["init", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for name in tree(tmp_path):
        assert f"  {name}\n" in said
    assert len(tree(tmp_path)) == len(MODULES) + 2
    assert "left alone" not in said
    steps = said.partition("next\n")[2]
    wanted = ("judges.production", "--judge-preflight", "--judge-record missing", "judges.candidate", "-k swap")
    places = [steps.index(each) for each in wanted]
    assert places == sorted(places)


def test_the_second_run_changes_no_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Everything is left alone then, and listed as such."""
    main(["init", str(tmp_path)])
    before = tree(tmp_path)
    capsys.readouterr()
    assert main(["init", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert tree(tmp_path) == before
    assert "written" not in said
    assert said.count("it exists") == len(MODULES)
    assert lines_about(said, "[tool.judgefixtures]") == snapshot


def test_the_written_configuration_is_in_force(tmp_path: Path) -> None:
    """The table loads as it is, and asks about the house sets until one's own pairs come."""
    write_scaffold(tmp_path)
    config = load_config(tmp_path / "pyproject.toml", table=TABLE)
    assert (config.judge, config.dataset_names) == ("production", ())
    assert config.datasets_of("recency") == ("house-close", "house-close-stories")
    assert config.judge_table("production").base_url is None


def test_what_is_commented_out_works(tmp_path: Path) -> None:
    """With every commented key in force the table still loads: no comment names a key that is not there."""
    file = tmp_path / "pyproject.toml"
    file.write_text(uncommented(starter_configuration("pairwise", "openai")))
    for name in ("judge", "system"):
        (tmp_path / "prompts").mkdir(exist_ok=True)
        (tmp_path / "prompts" / f"{name}.txt").write_text("{question}{response_1}{response_2}{cue_1}{cue_2}")
    config = load_config(file, table=TABLE)
    assert config.judge_table("candidate").model == "another-model"
    assert config.judge_table("production").template.endswith("judge.txt")
    assert config.judge_table("production").system_prompt.endswith("system.txt")
    assert list(config.cues["brand"]) == ["ours", "theirs"]
    assert config.gate("recency").min_accuracy == 0.7


def test_a_grader_is_configured_as_one(tmp_path: Path) -> None:
    """`--mode binary` writes a judge of one response, whose commented keys all work, and names examples."""
    done = write_scaffold(tmp_path, "binary")
    file = tmp_path / "pyproject.toml"
    config = load_config(file, table=TABLE)
    assert config.judge_table("production").mode == "binary"
    assert config.datasets_of("recency", "production") == ("house-answers",)
    assert any("data/answers.jsonl" in line for line in done.next)
    file.write_text(uncommented(file.read_text()))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "grader.txt").write_text("{question}{response}{cue}")
    (tmp_path / "prompts" / "system.txt").write_text("Be strict.")
    written = load_config(file, table=TABLE)
    assert written.judge_table("production").grade_field == "verdict"
    assert written.datasets["own"].columns == {"response": "output", "label": "human"}


def test_a_grader_gets_the_tests_that_it_is_asked_in_its_words(tmp_path: Path) -> None:
    """No module is written of which no item is made for it, and none speaks of a choice between two."""
    write_scaffold(tmp_path, "binary")
    written = {path.name: path.read_text() for path in (tmp_path / SUITE).iterdir()}
    left_out = {f"test_{name}.py" for name in MODULES} - written.keys()
    assert left_out == {"test_position.py", "test_accuracy.py", "test_plan.py"}
    for name, text in written.items():
        assert not re.search("verdict|chosen|better|order|two", text), name
        ours = (suite_folder() / name).read_text()
        assert [each.partition("(")[0] for each in text.splitlines() if "def " in each] == re.findall(r"def \w+", ours)
        assert re.findall(r" gate\..*", text) == re.findall(r" gate\..*", ours), name
    assert "passes as often" in written["test_recency.py"]


def test_every_replaced_word_is_one_of_a_module() -> None:
    """No entry of the words of graders has outlived the sentence that it was about."""
    kit = KITS["binary"]
    texts = [(suite_folder() / f"test_{name}.py").read_text() for name in kit.modules]
    assert not [said for said in kit.words if not any(said in text for text in texts)]


DOCS = REPOSITORY / "docs"
CODE = (DOCS / "how-to" / "code-judges.md").read_text(encoding="utf-8")


def block(language: str, holding: str) -> str:
    """Return the code of docs/how-to/code-judges.md in a language that holds some words."""
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```", CODE, re.M | re.S)
    (found,) = [each for each in blocks if holding in each]
    return found


@pytest.mark.parametrize(("page", "mode"), [("pairs", "pairwise"), ("pass-fail", "binary")])
def test_init_writes_the_tables_of_the_tutorials(page: str, mode: str) -> None:
    """Every key and value that a tutorial shows stands in what is written, as it is or as a comment."""
    tables = re.findall(r"^```toml\n(.*?)^```", (DOCS / "tutorial" / f"{page}.md").read_text(), re.M | re.S)
    shown = [line for table in tables for line in table.splitlines() if line and "simulated" not in line]
    text = starter_configuration(mode, "openai")
    written = {line.removeprefix("# ").partition(" #")[0].strip() for line in text.splitlines()}
    assert shown
    assert not [line for line in shown if line not in written]


@pytest.mark.slow
def test_the_first_fail_and_the_first_pass_of_a_grader(pytester: pytest.Pytester) -> None:
    """The lines of docs/how-to/code-judges.md gate a grader of three lines: one that favours what is new fails, its cure passes."""
    words = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "lmnr"]
    rows = []
    for n in range(100):
        notes = [words[(n + 7 * k) % len(words)] for k in range(20)]
        said = notes[: 20 if n % 2 else 15 if n % 4 else 8]
        row = {"id": str(n), "question": f"Why {n}?", "notes": " ".join(notes), "response": " ".join(said)}
        rows.append(row | {"label": "pass" if n % 2 else "fail"})
    (pytester.path / "data").mkdir()
    (pytester.path / "prompts").mkdir()
    (pytester.path / "data" / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (pytester.path / "prompts" / "grader.txt").write_text(block("text", "{notes}"))
    write_scaffold(pytester.path, "binary")
    file = pytester.path / "pyproject.toml"
    text = file.read_text().replace('provider = "openai"', 'provider = "python"\ntarget = "grader:grade"')
    file.write_text(
        re.sub(r"^(model|temperature) = .*\n", "", text, flags=re.M).replace("# template =", "template =", 1)
    )
    code = block("python", "def grade")
    for grader, status in ((code, "FAIL"), (code.replace("0.7", "0.8"), "PASS")):
        pytester.makepyfile(grader=grader)
        result = run_pytest(pytester.path, "-v", "-k", "recency", "-o", "pythonpath=.", "-p", "no:cacheprovider")
        for line in ("control of production *is PASS*", f"{status}: production on own *"):
            result.stdout.fnmatch_lines([line])  # a FAIL is told above, among FAILURES
        assert result.ret == (status == "FAIL")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("binari",), '--mode binari: did you mean "binary"? Accepted: binary, pairwise, pointwise.'),
        (
            ("binary", "azur"),
            '--provider azur: did you mean "azure"? Accepted: anthropic, azure, google, openai, python.',
        ),
    ],
)
def test_a_mode_or_a_provider_that_is_none_is_named(tmp_path: Path, chosen: tuple[str, ...], message: str) -> None:
    """One that there is not is an error with those there are, and nothing is written."""
    with pytest.raises(JudgeFixturesError, match=re.escape(message)):
        write_scaffold(tmp_path, *chosen)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("mode", KITS)
def test_every_judge_is_configured(tmp_path: Path, mode: str, provider: str) -> None:
    """For each mode and provider the table loads, as it is and with every comment in force, and asks nothing more."""
    write_scaffold(tmp_path, mode, provider)
    file = tmp_path / "pyproject.toml"
    (tmp_path / "prompts").mkdir()
    for name in ("grader", "judge", "system"):
        (tmp_path / "prompts" / f"{name}.txt").write_text("{question}{response}{response_1}{response_2}{cue}")
    for text in (file.read_text(), uncommented(file.read_text())):
        file.write_text(text)
        judge = load_config(file, table=TABLE).judge_table("production")
        assert (judge.provider, judge.mode) == (provider, mode)
        assert judge.temperature == (None if provider == "anthropic" else 0.0)
        assert (judge.connection is not None) == (provider == "azure")
    assert load_config(file, table=TABLE).judge_table("candidate").mode == mode


def test_every_provider_has_its_key() -> None:
    """Each provider that can be asked has a start, and the variable of its key is that of its record."""
    asked = {name: provider_spec(name) for name in ASKED if provider_spec(name).is_asked}
    assert {name: reached.key or None for name, reached in PROVIDERS.items()} == {
        name: record.key for name, record in asked.items()
    }


@pytest.mark.parametrize(
    ("mode", "provider", "shown"),
    [
        ("pairwise", "openai", ('-k "cue or position"', "OPENAI_API_KEY", '8080/v1" and model = "simulated-faithful"')),
        (
            "binary",
            "google",
            ('-k "cue or agreement"', "GEMINI_API_KEY", '8080" and model = "simulated-grader-faithful"'),
        ),
        ("pointwise", "anthropic", ('-k "cue or accuracy"', "ANTHROPIC_API_KEY", '"simulated-pointwise-faithful"')),
        ("pairwise", "azure", ("AZURE_OPENAI_API_KEY", 'endpoint = "http://127.0.0.1:8080"')),
    ],
)
def test_the_steps_are_those_of_the_judge(tmp_path: Path, mode: str, provider: str, shown: tuple[str, ...]) -> None:
    """Words of -k, the variable of the key and the simulated model are those of the mode and the provider."""
    done = write_scaffold(tmp_path, mode, provider)
    said = "\n".join([*done.next, *done.besides])
    for each in shown:
        assert each in said
    words = re.search(r'-k "(\w+) or (\w+)"', said)
    assert words is not None
    assert {words[1], words[2]} - {"cue"} <= {*KITS[mode].modules}


def test_a_function_needs_no_key(tmp_path: Path) -> None:
    """Of a judge that is a function no step names a key, and none the simulator: it makes its own calls."""
    done = write_scaffold(tmp_path, provider="python")
    said = "\n".join([*done.next, *done.besides])
    assert "API_KEY" not in said
    assert "simulator" not in said
    assert "your function" in said


def test_pairs_that_are_there_are_asked_about(tmp_path: Path) -> None:
    """Where data/pairs.jsonl exists it is the dataset from the start, and nobody is told to write it."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs.jsonl").write_text('{"id": "1", "question": "q", "response_1": "a", "response_2": "b"}')
    done = write_scaffold(tmp_path)
    assert load_config(tmp_path / "pyproject.toml", table=TABLE).dataset_names == ("own",)
    assert not any("pairs.jsonl" in line for line in done.next)


# --- what is there already --------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "", "\n\n"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_pyproject_keeps_every_byte(tmp_path: Path, newline: bytes, end: str) -> None:
    """The table is added at the end, in the file's own line ends; what stood there stays as it was."""
    file = tmp_path / "pyproject.toml"
    before = ('\ufeff[project]\nname = "café"  # ours\n[tool.other]\nx = 1' + end).encode().replace(b"\n", newline)
    file.write_bytes(before)
    write_scaffold(tmp_path)
    after = file.read_bytes()
    assert after.startswith(before)
    assert (b"\r\n" in after) == (newline == b"\r\n")
    assert after.count(b"\n") == after.count(newline)
    assert load_config(file, table=TABLE).judge == "production"


def test_a_table_of_the_users_is_left_alone(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A pyproject.toml that has the table already is not touched, the modules are still written."""
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.judgefixtures]\njudge = "mine"\n')
    done = write_scaffold(tmp_path)
    assert file.read_text() == '[tool.judgefixtures]\njudge = "mine"\n'
    assert done.left == snapshot
    assert done.besides == []
    assert len(done.written) == len(MODULES) + 1


@pytest.mark.whole
@pytest.mark.parametrize("before", [b"", b"*.pyc", b"*.pyc\n", b"*.pyc\r\nx\r\n", b"*.part.jsonl\n"])
def test_unfinished_recordings_are_ignored_by_git(tmp_path: Path, before: bytes) -> None:
    """.gitignore gets what it lacks of the lines for unfinished recordings, once; recordings are not ignored."""
    file = tmp_path / ".gitignore"
    if before:
        file.write_bytes(before)
    assert any(line.startswith(".gitignore") for line in write_scaffold(tmp_path).written)
    content = file.read_bytes()
    assert content.startswith(before)
    assert content.count(b"*.part.jsonl") == 1
    assert b"\r\n" in before or b"\r" not in content
    assert write_scaffold(tmp_path).written == []
    assert file.read_bytes() == content
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    def ignored(name: str) -> bool:
        path = f"cassettes/a/b/{name}"
        return subprocess.run(["git", "check-ignore", "--quiet", path], cwd=tmp_path, check=False).returncode == 0

    unfinished = (
        "no-cue.part.jsonl",
        "no-cue.part-of-another-judge.jsonl",
        "no-cue.part-of-another-judge-2.jsonl",
        ".no-cue.jsonl.draft",
    )
    assert [ignored(name) for name in unfinished] == [True] * 4
    assert not any(map(ignored, ("no-cue.jsonl", "pairs.jsonl", "sample.json", "recency-a.party-b.jsonl")))


def test_a_module_of_the_users_is_left_alone(tmp_path: Path) -> None:
    """A file at a module's path stays, also one that leads nowhere; the others are written."""
    (tmp_path / SUITE).mkdir(parents=True)
    (tmp_path / SUITE / "test_recency.py").write_text("# mine\n")
    (tmp_path / SUITE / "test_swap.py").symlink_to(tmp_path / "nowhere.py")
    done = write_scaffold(tmp_path)
    assert (tmp_path / SUITE / "test_recency.py").read_text() == "# mine\n"
    assert not (tmp_path / "nowhere.py").exists()
    assert [line.partition(":")[0] for line in done.left] == ["tests/judge/test_recency.py", "tests/judge/test_swap.py"]
    assert all(line.endswith("run this command again") for line in done.left)
    assert sum(line.endswith("run this command again") for line in write_scaffold(tmp_path).left) == 2


@pytest.mark.parametrize("content", ["[project\n", "tool = {other = 1}\n", "\xff"], ids=["broken", "inline", "binary"])
def test_a_pyproject_that_cannot_be_added_to_stops_it(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One clear sentence with the file's name, exit code 2, and not a single file written."""
    (tmp_path / "pyproject.toml").write_bytes(content.encode("latin-1"))
    before = tree(tmp_path)
    assert main(["init", str(tmp_path)]) == 2
    assert "pyproject.toml" in capsys.readouterr().err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("what", ["missing", "file", "suite is a file"])
def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path, what: str) -> None:
    """A folder that is none, or has a file where the tests go, is an error that names it."""
    place = tmp_path / "place"
    if what == "file":
        place.write_text("")
    elif what == "suite is a file":
        place.mkdir()
        (place / "tests").write_text("")
    with pytest.raises(JudgeFixturesError, match="place"):
        write_scaffold(place)


# --- pytest in that repository ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "folder"),
    [
        ("", "tests"),
        (
            '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = ["--strict-markers", "--strict-config"]\n',
            "tests",
        ),
        ('[tool.pytest.ini_options]\npythonpath = ["src"]\naddopts = ["--import-mode=importlib"]\n', "tests/unit"),
    ],
    ids=["plain", "strict", "src"],
)
@pytest.mark.sampled(1)
def test_its_own_pytest_gives_what_it_gave(pytester: pytest.Pytester, settings: str, folder: str) -> None:
    """Before and after init five tests pass, one fails and one is skipped, in the same order: a line more is all."""
    pytester.makepyprojecttoml(settings)
    (pytester.path / folder).mkdir(parents=True)
    (pytester.path / "src").mkdir()
    (pytester.path / "src" / "ours.py").write_text("ANSWER = 42\n")
    for number in range(5):
        (pytester.path / folder / f"test_own_{number}.py").write_text(f"def test_own(): assert {number} < 5\n")
    (pytester.path / folder / "test_recency.py").write_text("def test_recency_of_cache(): assert 0\n")
    (pytester.path / folder / "test_skipped.py").write_text("import pytest\n\ndef test_it(): pytest.skip('no')\n")

    def outcome() -> tuple[int, list[str]]:
        result = pytester.runpytest_inprocess("-v", "-p", "no:cacheprovider")
        result.assert_outcomes(passed=5, failed=1, skipped=1)
        return int(result.ret), [line for line in result.outlines if "::" in line]

    before = outcome()
    write_scaffold(pytester.path)
    assert outcome() == before


MARGINS = "".join(
    f"{name}_margin = 0.9\n" for name in ("accuracy", "vsr", "silent", "flip", "invalid", "contrast", "rate")
)
WALK = {
    "pairs = 100 ": "control = false\npairs = 30 ",
    "vsr_tolerance = 0.15": "vsr_tolerance = 0.5",
    "score_tolerance = 0.05": "score_tolerance = 0.5",
    "min_accuracy = 0.7": "min_accuracy = 0.1",
    "# [tool.judgefixtures.judges.candidate] ": "[tool.judgefixtures.judges.candidate] ",
    '# extends = "production"': 'extends = "production"',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "provider"), [("pairwise", "openai"), ("binary", "google"), ("pointwise", "anthropic")]
)
def test_the_printed_commands_walk_from_a_gate_to_a_swap(
    pytester: pytest.Pytester, server: SimulatorServer, mode: str, provider: str
) -> None:
    """The lines of init, as they are printed, and with them alone: what is to be asked, a gate, and a swap of equals."""
    done = write_scaffold(pytester.path, mode, provider)
    file = pytester.path / "pyproject.toml"
    text = file.read_text()
    if "[tool.judgefixtures.swap]" not in text:
        text += "\n[tool.judgefixtures.swap]\n"
    text = text.replace("[tool.judgefixtures.swap]\n", f"[tool.judgefixtures.swap]\n{MARGINS}")
    text = re.sub(r'^model = ".*"', f'model = "{KITS[mode].simulated}"', text, count=1, flags=re.M)
    text = re.sub(r"^# (base_url = .*)", r"\1", text, count=1, flags=re.M).replace("http://127.0.0.1:8080", server.url)
    for there, instead in WALK.items():
        text = text.replace(there, instead, 1)
    file.write_text(text)
    commands = [shlex.split(line.partition("  #")[0]) for line in done.next if line.startswith("pytest")]
    codes = [int(run_pytest(pytester.path, *command[1:]).ret) for command in commands]
    assert codes == [0, 0, 0, 0, 0]


@pytest.mark.slow
def test_recency_gates_at_once(pytester: pytest.Pytester, server: SimulatorServer) -> None:
    """After init and with a judge named, recording and then plain `pytest -k recency` gate exactly recency."""
    write_scaffold(pytester.path)
    point_at(server, pytester.path / "pyproject.toml")
    run_pytest(pytester.path, "-k", "recency", "--judge-record", "missing").assert_outcomes(passed=2)
    asked = server.requests
    result = pytester.runpytest_subprocess("-k", "recency", "--strict-markers", "-v", "-W", "error")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_recency.py::test_recency[[]production-house-close-recency-new-old]*"])
    assert server.requests == asked
    assert (pytester.path / "cassettes" / "production" / "house-close" / "recency-new-old.jsonl").is_file()


@pytest.mark.slow
def test_a_repository_with_a_judge_of_its_own_is_not_disturbed(
    pytester: pytest.Pytester, server: SimulatorServer
) -> None:
    """Fixtures of the same names keep their meaning for the user's tests, and the gates do not take them for ours."""
    strict = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = ["--strict-markers", "--strict-config"]'
    pytester.makepyprojecttoml(strict)
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "conftest.py").write_text(OWN_CONFTEST)
    (pytester.path / "tests" / "test_own.py").write_text(OWN_TESTS)
    before = tree(pytester.path)
    done = write_scaffold(pytester.path)
    assert "tests/judge/conftest.py" in done.written
    assert {name: text for name, text in tree(pytester.path).items() if name in before} == before | {
        "pyproject.toml": (pytester.path / "pyproject.toml").read_bytes()
    }
    point_at(server, pytester.path / "pyproject.toml")
    options = ("-k", "recency or test_own", "--judge-record", "missing")
    run_pytest(pytester.path, *options).assert_outcomes(passed=3)


def test_no_conftest_is_written_without_need(tmp_path: Path) -> None:
    """A conftest.py whose fixtures have other names is no reason for one of ours."""
    (tmp_path / "conftest.py").write_text("def judged():\n    pass\n\n\ndef helper(judge):\n    return judge\n")
    write_scaffold(tmp_path)
    assert not (tmp_path / SUITE / "conftest.py").exists()


@pytest.mark.slow
def test_a_module_of_the_same_name_elsewhere_does_not_clash(pytester: pytest.Pytester) -> None:
    """pytest's default import mode knows modules by their last name: ours takes another one then, and says so."""
    for folder in ("tests", "node_modules", "tests/package"):
        (pytester.path / folder).mkdir(exist_ok=True)
    (pytester.path / "tests" / "test_accuracy.py").write_text("def test_theirs():\n    pass\n")
    (pytester.path / "node_modules" / "test_recency.py").write_text("")
    (pytester.path / "tests" / "package" / "__init__.py").write_text("")
    (pytester.path / "tests" / "package" / "test_swap.py").write_text("def test_packaged():\n    pass\n")
    done = write_scaffold(pytester.path)
    assert "tests/judge/test_judge_accuracy.py" in done.written
    assert {"tests/judge/test_recency.py", "tests/judge/test_swap.py"} <= {*done.written}
    result = run_pytest(pytester.path, "tests", "-k", "accuracy or theirs or packaged", "--collect-only", "-q")
    assert result.ret == 0
    assert sum("::" in line for line in result.outlines) == 4


@pytest.mark.parametrize("mode", KITS)
def test_every_printed_command_names_the_suite(tmp_path: Path, mode: str) -> None:
    """Wherever testpaths lead, a command that is printed gates the judge, and nothing else is run by it."""
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = docs\n")
    commands = [line for line in write_scaffold(tmp_path, mode).next if line.startswith("pytest")]
    assert len(commands) == 5
    assert all(command.startswith("pytest tests/judge -k ") for command in commands)


def test_settings_of_a_folder_above_are_told(tmp_path: Path) -> None:
    """pytest would take its root, and our table, from a folder above: that is said, with what to do about it."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    assert str(tmp_path) in write_scaffold(inner).next[1]
    (inner / "tox.ini").write_text("[pytest]\n")
    assert "production" in write_scaffold(inner).next[1]


# --- the command line -------------------------------------------------------------------------------------


def test_help_explains(capsys: pytest.CaptureFixture[str]) -> None:
    """--help names the command and says where the gates' own options are."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert "init" in said
    assert "pytest --help" in said


def test_a_missing_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command nothing is written and the usage is shown."""
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.whole
def test_it_runs_as_a_module(tmp_path: Path) -> None:
    """`judgefixtures init` works in the folder that it is called in, and imports nothing heavy."""
    code = (
        "import runpy, sys; sys.argv = ['judgefixtures', 'init']\n"
        "try: runpy.run_module('judgefixtures', run_name='__main__')\n"
        "except SystemExit as end: print(end.code)\n"
        "print([name for name in ('pydantic', 'pytest', 'scipy', 'datasets') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.endswith("\n0\n[]\n")
    assert (tmp_path / "pyproject.toml").is_file()
    shutil.rmtree(tmp_path)
