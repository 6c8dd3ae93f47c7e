"""The configuration: what may be written, what it means, and what a person reads where it is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import (
    BUILTIN,
    AgreementTable,
    Config,
    GateTable,
    PositionTable,
    WordingTable,
    build_config,
    judge_table,
    load_config,
)
from judgefixtures.config.run_tables import DatasetTable
from judgefixtures.config.validation import read_toml
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.cues import FAMILIES
from judgefixtures.models.pairs import Pair
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.errors import JudgeFixturesError

PYPROJECT = ("tool", "judgefixtures")
OURS = '[judges.ours]\nprovider = "openai"\nmodel = "m"\n'
SIMULATED = {
    "simulated-faithful",
    "simulated-candid",
    "simulated-silent",
    "simulated-noisy",
    "simulated-gpt-4o",
    "simulated-gemini-2.5-flash",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test writes its configuration."""
    return tmp_path / "judges.toml"


def load(file: Path, text: str, table: tuple[str, ...] = ()) -> Config:
    """The configuration of this text."""
    file.write_text(text, encoding="utf-8")
    return load_config(file, table=table)


def refusal(file: Path, text: str, table: tuple[str, ...] = ()) -> str:
    """The message with which this text is refused: it names the file."""
    with pytest.raises(JudgeFixturesError) as caught:
        load(file, text, table)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a cause would be shown, too"
    assert str(file) in str(caught.value)
    return str(caught.value)


# --- nothing written ----------------------------------------------------------------------------------------


def test_defaults(file: Path) -> None:
    """Nothing written selects no judge and no dataset, and takes all pairs with seed 0."""
    config = load(file, "")
    assert (config.judge, config.dataset_names, config.pairs, config.seed) == (None, (), None, 0)
    assert set(config.judges) >= SIMULATED
    assert set(config.datasets) >= {"house-qa", "house-stories"}
    assert config.cues == FAMILIES
    assert config.default_gate == GateTable()
    own = {"agreement": AgreementTable(), "wording": WordingTable(), "position": PositionTable()}
    assert config.family_gates == own
    assert config.file == str(file)
    assert build_config({}).judges == config.judges


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base_url", None),
        ("api_key_env", None),
        ("timeout", 60.0),
        ("max_attempts", 6),
        ("temperature", 0.0),
        ("seed", 0),
        ("max_output_tokens", 512),
        ("response_format", "json_schema"),
        ("cue_placement", "after"),
        ("verdict", "json"),
        ("strategy", "direct"),
    ],
)
def test_defaults_of_a_judge(file: Path, key: str, value: Any) -> None:
    """A judge of provider and model alone has the contract's values for the rest."""
    assert getattr(load(file, OURS).judge_table("ours"), key) == value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vsr_tolerance", 0.15),
        ("car_threshold", 0.8),
        ("max_silent", None),
        ("confidence", 0.90),
        ("max_invalid", 0.05),
        ("inconclusive", "fail"),
    ],
)
def test_defaults_of_a_gate(file: Path, key: str, value: Any) -> None:
    """A gate that nobody wrote has the contract's values."""
    assert getattr(load(file, "").gate("recency"), key) == value


def test_defaults_of_a_dataset(file: Path) -> None:
    """A dataset of a path alone has its own column names and balances positions."""
    source = load(file, '[datasets.support]\npath = "a.jsonl"').source("support")
    assert source == Source("support", file.parent / "a.jsonl", None, None, None, True)


def test_built_in_judges_are_simulated(file: Path) -> None:
    """Each built-in simulated judge is asked for by its own name, over loopback, and needs no key."""
    config = load(file, "")
    for name in SIMULATED:
        table = config.judge_table(name)
        assert table.model == name
        assert table.base_url is not None
        assert table.base_url.startswith("http://127.0.0.1:")
        assert table.key_variable is None
    assert config.judge_table("simulated-gemini-2.5-flash").provider == "google"


@pytest.mark.parametrize(("name", "content_type"), [("house-qa", "Response"), ("house-stories", "Story")])
def test_built_in_datasets(file: Path, name: str, content_type: str) -> None:
    """The house sets can be loaded by name, with the content type that their prompts speak of."""
    source = load(file, "").source(name)
    assert source.content_type == content_type
    assert {pair.content_type for pair in load_pairs(source)} == {content_type}


# --- what is written counts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ('judge = "ours"', "judge", "ours"),
        ("pairs = 100", "pairs", 100),
        ("seed = 7", "seed", 7),
        ('datasets = ["house-qa", "mine"]', "dataset_names", ("house-qa", "mine")),
    ],
)
def test_top_level_keys(file: Path, line: str, key: str, value: Any) -> None:
    """Every key at the top level arrives, from a file of its own and from pyproject.toml."""
    assert getattr(load(file, line), key) == value
    assert getattr(load(file, f"[tool.judgefixtures]\n{line}", PYPROJECT), key) == value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('provider = "google"', "google"),
        ('model = "gpt-4o-2024-11-20"', "gpt-4o-2024-11-20"),
        ('base_url = "http://127.0.0.1:8000/v1"', "http://127.0.0.1:8000/v1"),
        ('base_url = "https://example.com"', "https://example.com"),
        ('api_key_env = "MY_KEY"', "MY_KEY"),
        ("timeout = 5", 5.0),
        ("max_attempts = 1", 1),
        ("temperature = 1", 1.0),
        ("temperature = 2.0", 2.0),
        ('temperature = "unset"', None),
        ('seed = "unset"', None),
        ("seed = -3", -3),
        ("max_output_tokens = 1", 1),
        ('response_format = "json_object"', "json_object"),
        ('response_format = "none"', "none"),
        ('template = "mt-bench"', "mt-bench"),
        ('cue_placement = "before"', "before"),
        ('verdict = "brackets"', "brackets"),
    ],
)
def test_keys_of_a_judge(file: Path, line: str, value: Any) -> None:
    """Every key of a judge arrives."""
    key = line.partition(" ")[0]
    lines = {"provider": 'provider = "openai"', "model": 'model = "m"', key: line}
    table = load(file, "[judges.ours]\n" + "\n".join(lines.values())).judge_table("ours")
    assert getattr(table, key) == value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("vsr_tolerance = 0.1", 0.1),
        ("car_threshold = 0.5", 0.5),
        ("max_silent = 0.2", 0.2),
        ("confidence = 0.95", 0.95),
        ("max_invalid = 0", 0.0),
        ("max_invalid = 0.99", 0.99),
        ('inconclusive = "warn"', "warn"),
    ],
)
@pytest.mark.parametrize("table", ["[gate]", "[gate.recency]"])
def test_keys_of_a_gate(file: Path, table: str, line: str, value: Any) -> None:
    """Every key of a gate arrives, for all families or for one."""
    gate = load(file, f"{table}\n{line}").gate("recency")
    assert getattr(gate, line.partition(" ")[0]) == value


def test_keys_of_a_dataset(file: Path) -> None:
    """Every key of a dataset arrives at the source that is read."""
    config = load(
        file,
        """
        [datasets.support]
        path = "support.jsonl"
        content_type = "Email"
        columns = {question = "prompt", response_1 = "a", response_2 = "b"}
        balance_positions = false
        [datasets.again]
        source = "house-stories"
    """,
    )
    columns = {"question": "prompt", "response_1": "a", "response_2": "b"}
    assert config.source("support") == Source("support", file.parent / "support.jsonl", None, "Email", columns, False)
    assert load_pairs(config.source("again"))
    assert config.source("again").path is None


@pytest.mark.parametrize(("confidence", "alpha"), [(0.90, 0.05), (0.95, 0.025), (0.5, 0.25)])
def test_alpha(confidence: float, alpha: float) -> None:
    """Each one-sided test has half of what the interval leaves out."""
    assert GateTable(confidence=confidence).alpha == pytest.approx(alpha)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("", "silent-judge"),
        ('verdict = "brackets"', "mt-bench"),
        ('verdict = "brackets"\ntemplate = "silent-judge"', "silent-judge"),
    ],
)
def test_template_of_a_verdict_format(file: Path, line: str, name: str) -> None:
    """Each verdict format has a template of its own, unless the judge names one."""
    assert load(file, OURS + line).judge_table("ours").template_name == name


@pytest.mark.parametrize(
    ("table", "variable"),
    [
        ({"provider": "openai"}, "OPENAI_API_KEY"),
        ({"provider": "google"}, "GEMINI_API_KEY"),
        ({"provider": "openai", "api_key_env": "MINE"}, "MINE"),
        ({"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}, None),
        ({"provider": "google", "base_url": "http://127.0.0.1:1"}, None),
        ({"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "MINE"}, "MINE"),
    ],
)
def test_a_key_goes_where_it_was_meant_for(table: dict[str, Any], variable: str | None) -> None:
    """A provider's own key is not sent to another address: with base_url, a key is sent only if named."""
    assert judge_table({"model": "m", **table}).key_variable == variable


def test_a_byte_order_mark_is_no_matter(file: Path) -> None:
    """A file that an editor began with a byte-order mark is read."""
    assert load(file, "\ufeffpairs = 3").pairs == 3


def test_the_configuration_is_frozen(file: Path) -> None:
    """A configuration cannot be changed after it was read."""
    config = load(file, OURS)
    with pytest.raises(ValidationError, match="frozen"):
        config.pairs = 1
    with pytest.raises(ValidationError, match="frozen"):
        config.judges["ours"].timeout = 1.0  # type: ignore[misc]


def test_this_repositorys_configuration() -> None:
    """The configuration that this repository ships is valid, and selects what is there."""
    file = Path(__file__).parents[2] / "pyproject.toml"
    config = load_config(file, table=PYPROJECT)
    assert config.judge is not None
    assert config.judge_table(config.judge)
    assert all(config.source(name) for name in config.dataset_names)


@pytest.mark.parametrize("text", ["", "[tool.ruff]\nline-length = 100", "[tool]"])
def test_pyproject_without_our_table(file: Path, text: str) -> None:
    """A pyproject.toml without the table is the built-in configuration alone."""
    assert load(file, text, PYPROJECT) == load(file, "").model_copy(update={"within": PYPROJECT})


def test_other_tools_are_none_of_our_business(file: Path) -> None:
    """What stands beside our table in pyproject.toml is not looked at."""
    config = load(file, "[tool.other]\npairs = 'x'\ndatasets = [1]\n[tool.judgefixtures]\npairs = 4", PYPROJECT)
    assert (config.pairs, config.dataset_names) == (4, ())


# --- datasets: a selection and tables -----------------------------------------------------------------------

TABLES = '[{0}datasets.b]\npath = "b.jsonl"\n[{0}datasets.a]\npath = "a.jsonl"\n'


@pytest.mark.parametrize(
    "selection",
    [
        'datasets = ["a"]',
        'datasets=["a"]',
        'datasets   =   [ "a", ]  # one of two',
        'datasets = [\n  # the small one\n  "a",\n]',
        "datasets = ['a']",
        'pairs = 3\ndatasets = ["a"]',
    ],
)
@pytest.mark.parametrize("table", [(), PYPROJECT])
def test_a_selection_beside_tables(file: Path, selection: str, table: tuple[str, ...]) -> None:
    """`datasets = [...]` selects and [datasets.NAME] defines, both in one file, as the contract shows."""
    dotted = ".".join(table)
    head = f"[{dotted}]\n" if table else ""
    config = load(file, f"{head}{selection}\n{TABLES.format(f'{dotted}.' if table else '')}", table)
    assert config.dataset_names == ("a",)
    assert {"a", "b", "house-qa"} <= set(config.datasets)
    assert config.source("b").path == file.parent / "b.jsonl"


def test_tables_without_a_selection_are_all_selected(file: Path) -> None:
    """Whoever defines datasets and selects none means all of them, in the order written."""
    assert load(file, TABLES.format("")).dataset_names == ("b", "a")


def test_a_selection_of_built_in_datasets(file: Path) -> None:
    """A built-in dataset can be selected beside the user's tables, which then are not."""
    assert load(file, 'datasets = ["house-qa"]\n' + TABLES.format("")).dataset_names == ("house-qa",)


def test_texts_that_look_like_a_selection_are_texts(file: Path) -> None:
    """The words of a selection inside a text stay as they are."""
    text = '[cues.mine]\na = """\ndatasets = [1] {number}"""\nb = "{number}"\n'
    assert load(file, text).cues["mine"]["a"] == "datasets = [1] {number}"
    both = load(file, f'datasets = ["a"]\n{TABLES.format("")}{text}')
    assert (both.cues["mine"]["a"], both.dataset_names) == ("datasets = [1] {number}", ("a",))


# --- extends ------------------------------------------------------------------------------------------------

CHAIN = """
[judges.tiny]
extends = "small"
temperature = 1.0
[judges.small]
extends = "ours"
model = "m-small"
temperature = 0.5
[judges.ours]
provider = "openai"
model = "m"
timeout = 9.0
"""


def test_extends(file: Path) -> None:
    """A judge has everything of the one that it extends but what it says itself, over any number of steps."""
    config = load(file, CHAIN)
    small, tiny = config.judge_table("small"), config.judge_table("tiny")
    assert (small.provider, small.model, small.temperature, small.timeout) == ("openai", "m-small", 0.5, 9.0)
    assert (tiny.provider, tiny.model, tiny.temperature, tiny.timeout) == ("openai", "m-small", 1.0, 9.0)
    assert config.judge_table("ours").model == "m"


def test_extends_a_built_in_judge(file: Path) -> None:
    """A judge may extend a built-in one."""
    config = load(file, '[judges.mine]\nextends = "simulated-faithful"\ntemperature = 1.0')
    expected = config.judge_table("simulated-faithful").model_copy(update={"temperature": 1.0})
    assert config.judge_table("mine") == expected


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ('[judges.a]\nextends = "a"', "[judges.a] extends itself: a -> a."),
        ('[judges.a]\nextends = "b"\n[judges.b]\nextends = "a"', "[judges.a] extends itself: a -> b -> a."),
        (
            '[judges.a]\nextends = "b"\n[judges.b]\nextends = "c"\n[judges.c]\nextends = "a"',
            "[judges.a] extends itself: a -> b -> c -> a.",
        ),
    ],
)
def test_extends_in_a_circle(file: Path, text: str, circle: str) -> None:
    """A circle is shown whole, with the remedy."""
    assert refusal(file, text) == f"{file}: {circle} Remove one extends."


def test_a_circle_that_is_entered_from_outside(file: Path, snapshot: SnapshotAssertion) -> None:
    """A judge that leads into a circle shows the way into it."""
    text = '[judges.c]\nextends = "a"\n[judges.a]\nextends = "b"\n[judges.b]\nextends = "a"'
    assert lines_about(refusal(file, text), "extends itself") == snapshot


def test_extends_an_unknown_judge(file: Path, snapshot: SnapshotAssertion) -> None:
    """An unknown judge is named, with the likeliest one and all there are."""
    message = refusal(file, OURS + '[judges.mine]\nextends = "our"')
    assert lines_about(message, "'our'") == snapshot
    assert "simulated-faithful" in message


@pytest.mark.parametrize("value", ["3", "true", "1.5"])
def test_extends_something_else(file: Path, value: str, snapshot: SnapshotAssertion) -> None:
    """What is not text is not a judge either."""
    message = refusal(file, OURS + f"extends = {value}")
    assert lines_about(message, "judges.ours] extends") == snapshot


def test_an_inherited_value_is_checked(file: Path) -> None:
    """A value that the extending judge inherits must be right there, too."""
    assert "temperature" in refusal(file, OURS + 'temperature = 9.0\n[judges.mine]\nextends = "ours"')


# --- paths --------------------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_file(
    file: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of datasets and templates lead from the file's folder, wherever the session was started."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    folder = file.parent
    (folder / "plain").write_text("in the folder")
    text = "[datasets.d]\npath = '../data/d.jsonl'\n"
    for name, template in (("a", "./a.txt"), ("b", "sub/b.txt"), ("c", "plain"), ("d", "../up.txt")):
        text += f"[judges.{name}]\nprovider = 'openai'\nmodel = 'm'\ntemplate = '{template}'\n"
    config = load(file, text)
    assert config.source("d").path == folder.parent / "data" / "d.jsonl"
    expected = {
        "a": folder / "a.txt",
        "b": folder / "sub" / "b.txt",
        "c": folder / "plain",
        "d": folder.parent / "up.txt",
    }
    assert {name: Path(config.judge_table(name).template) for name in "abcd"} == expected


def test_a_relative_configuration_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths become absolute though the configuration file was given by a relative path."""
    file.write_text('[datasets.d]\npath = "d.jsonl"')
    monkeypatch.chdir(file.parent)
    assert load_config(Path(file.name)).source("d").path == file.parent / "d.jsonl"


def test_absolute_paths_stay(file: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An absolute path is left as it is."""
    other = tmp_path_factory.mktemp("other") / "x.txt"
    config = load(file, f"{OURS}template = '{other}'\n[datasets.d]\npath = '{other}'")
    assert config.judge_table("ours").template == str(other)
    assert config.source("d").path == other


@pytest.mark.parametrize("name", ["silent-judge", "mt-bench"])
def test_built_in_templates_are_names(file: Path, name: str) -> None:
    """The name of a built-in template is no path."""
    assert load(file, f'{OURS}template = "{name}"').judge_table("ours").template == name


def test_an_inherited_template_keeps_its_folder(file: Path) -> None:
    """A template path that is inherited leads where it leads for the judge that names it."""
    config = load(file, f'{OURS}template = "t/p.txt"\n[judges.mine]\nextends = "ours"')
    assert config.judge_table("mine").template == str(file.parent / "t" / "p.txt")


def test_a_dataset_file_is_read_from_its_path(file: Path) -> None:
    """The source that the configuration names can be loaded."""
    (file.parent / "d.jsonl").write_text('{"id": 1, "q": "q", "response_1": "a", "response_2": "b"}')
    source = load(file, '[datasets.d]\npath = "d.jsonl"\ncolumns = {question = "q"}').source("d")
    assert load_pairs(source) == (Pair("1", "q", "a", "b"),)


# --- the user's tables and the built-in ones ----------------------------------------------------------------


def test_a_judge_of_the_users_replaces_a_built_in_one_whole(file: Path) -> None:
    """A table with a built-in judge's name wins, and nothing of the built-in one is mixed in."""
    config = load(file, '[judges.simulated-candid]\nprovider = "google"\nmodel = "mine"')
    assert config.judge_table("simulated-candid") == judge_table({"provider": "google", "model": "mine"})
    assert set(config.judges) >= SIMULATED


def test_built_in_judges_extend_the_users(file: Path) -> None:
    """A built-in judge that extends a replaced one extends the user's: another port is written once."""
    config = load(
        file, '[judges.simulated-faithful]\nprovider = "openai"\nmodel = "f"\nbase_url = "http://127.0.0.1:9/v1"'
    )
    candid = config.judge_table("simulated-candid")
    assert (candid.base_url, candid.model) == ("http://127.0.0.1:9/v1", "simulated-candid")


def test_a_dataset_of_the_users_replaces_a_built_in_one_whole(file: Path) -> None:
    """A table with a built-in dataset's name wins: neither its source nor its content type is left."""
    config = load(file, '[datasets.house-stories]\npath = "mine.jsonl"')
    assert config.source("house-stories") == Source("house-stories", file.parent / "mine.jsonl")


def test_cues_of_the_users(file: Path) -> None:
    """A family of the user's stands beside the built-in ones; one of the same name wins whole."""
    text = '[cues.brand]\nours = "{number} is ours."\ntheirs = "{number} is theirs."\n'
    config = load(file, text + '[cues.recency]\nlate = "{number} late"\nearly = "{number} early"')
    assert list(config.cues["brand"].items()) == [("ours", "{number} is ours."), ("theirs", "{number} is theirs.")]
    assert list(config.cues["recency"]) == ["late", "early"]
    assert config.cues["provenance"] == FAMILIES["provenance"]


# --- gates of families --------------------------------------------------------------------------------------


def test_gate_per_family(file: Path) -> None:
    """A family's table counts for that family, over [gate], over the defaults."""
    config = load(
        file,
        """
        [gate]
        vsr_tolerance = 0.2
        inconclusive = "warn"
        [gate.recency]
        vsr_tolerance = 0.1
    """,
    )
    assert config.gate("recency") == GateTable(vsr_tolerance=0.1, inconclusive="warn")
    assert config.gate("provenance") == GateTable(vsr_tolerance=0.2, inconclusive="warn")
    assert config.gate("a family without a table") == config.default_gate


def test_gate_of_the_users_family(file: Path) -> None:
    """A family of the user's own has a gate like any other."""
    text = '[cues.brand]\na = "{number}"\nb = "{number}"\n[gate.brand]\ncar_threshold = 0.5'
    assert load(file, text).gate("brand").car_threshold == 0.5


def test_gate_of_an_unknown_family(file: Path, snapshot: SnapshotAssertion) -> None:
    """A gate of a family that does not exist is named, with the families that do."""
    assert refusal(file, "[gate.recensy]\nvsr_tolerance = 0.1") == snapshot


def test_limits_of_agreement_are_its_own(file: Path) -> None:
    """[gate.agreement] takes confidence from [gate] and no limit: accuracy of choices is another thing."""
    config = load(file, "[gate]\nmin_accuracy = 0.7\nconfidence = 0.8\n[gate.agreement]\nmin_kappa = 0.6")
    assert config.gate("agreement") == AgreementTable(confidence=0.8, min_kappa=0.6)
    assert config.decisive["gate.agreement"] == {"min_kappa": 0.6}
    same = build_config({"gate": {"min_accuracy": 0.8, "agreement": {"min_accuracy": 0.8}}}).decisive
    assert same["gate.agreement"] == {"min_accuracy": 0.8}  # not the one that [gate] has: that is of judges of pairs
    assert load(file, "[gate]\nmin_accuracy = 0.7").gate("agreement") == AgreementTable()


@pytest.mark.parametrize("table", ["gate", "gate.recency"])
def test_a_limit_of_agreement_elsewhere(file: Path, table: str, snapshot: SnapshotAssertion) -> None:
    """A limit that stands in another table of gates is named, with the table that it belongs into."""
    assert refusal(file, f"[{table}]\nmin_kappa = 0.6") == snapshot


# --- names --------------------------------------------------------------------------------------------------

BAD_NAMES = ["", " ", "a b", "a/b", "..", "../x", ".hidden", "-x", "_x", "é", "a\n", "a\\b", "a:b", "a\0"]
GOOD_NAMES = ["a", "0", "A.b_c-1", "gpt-4o-2024-11-20", "a..b", "x" * 80]
NAMED = {
    "judges": lambda name: {"judges": {name: {"provider": "openai", "model": "m"}}},
    "datasets": lambda name: {"datasets": {name: {"path": "x.jsonl"}}},
    "cues": lambda name: {"cues": {name: {"a": "{number}", "b": "{number}"}}},
    "labels": lambda name: {"cues": {"mine": {name: "{number}", "other": "{number}"}}},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_cannot_be_folders(kind: str, name: str, snapshot: SnapshotAssertion) -> None:
    """Names of judges, datasets, families and labels become folders: what cannot is refused."""
    with pytest.raises(JudgeFixturesError) as caught:
        build_config(NAMED[kind](name), "the.toml")
    assert str(caught.value) == snapshot


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("name", GOOD_NAMES)
def test_names_that_can(kind: str, name: str) -> None:
    """Letters, digits, dots, underscores and hyphens make a name."""
    config = build_config(NAMED[kind](name), "the.toml")
    tables = {"judges": config.judges, "datasets": config.datasets, "cues": config.cues}
    assert name in tables.get(kind, config.cues.get("mine", {}))


@pytest.mark.parametrize("kind", NAMED)
def test_names_that_are_too_long_for_a_folder(kind: str) -> None:
    """A name of 255 characters is one, and a longer one is refused with its length and the limit."""
    build_config(NAMED[kind]("x" * 255), "the.toml")
    told = r"^the.toml: the name x{40}\.\.\. under \[\w+\] has 256 .* most 255\.$"
    with pytest.raises(JudgeFixturesError, match=told):
        build_config(NAMED[kind]("x" * 256), "the.toml")


SENTENCE = "{content_type} {number} is."


@pytest.mark.parametrize(
    "cues",
    [
        {"a-b": ("c", "d"), "a": ("b-c", "d")},
        {"a": ("b", "b-b", "b-b-b")},
        {"a": ("b", "c", "c-21")},
        {"no": ("cue", "21")},
        {"attack-choose": ("me", "21")},
        {"a": ("b", "c.part")},
        {"a": ("b", "c" * 213)},
    ],
)
def test_conditions_that_would_share_a_file(cues: dict[str, tuple[str, ...]], snapshot: SnapshotAssertion) -> None:
    """A condition is named by family and labels, and its file by that: two of one name would delete each other's."""
    families = FAMILIES | {name: dict.fromkeys(labels, SENTENCE) for name, labels in cues.items()}
    with pytest.raises(JudgeFixturesError) as caught:
        contrasts(next(iter(cues)), families)
    assert str(caught.value) == snapshot


def test_hyphens_that_leave_names_apart() -> None:
    """Hyphens in families and labels are fine as long as no two conditions have one name."""
    families = FAMILIES | {"a-b": {"c": SENTENCE, "d": SENTENCE}, "a": {"b-x": SENTENCE, "d-y": SENTENCE}}
    assert [contrast.id for name in ("a-b", "a") for contrast in contrasts(name, families)] == ["a-b-c-d", "a-b-x-d-y"]


# --- errors: keys and values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("pair = 3", "unknown key 'pair': did you mean \"pairs\"? Accepted: ", id="top"),
        pytest.param("[waiver]\nx = 1", "unknown key 'waiver': ", id="table"),
        pytest.param(
            f"{OURS}temprature = 1.0",
            "[judges.ours]: unknown key 'temprature': did you mean \"temperature\"? Accepted: ",
            id="judge",
        ),
        pytest.param(
            f"{OURS}extend = 'x'", "[judges.ours]: unknown key 'extend': did you mean \"extends\"?", id="extend"
        ),
        pytest.param(
            "[datasets.d]\npth = 'x'", "unknown key 'datasets.d.pth': did you mean \"path\"? Accepted: ", id="dataset"
        ),
        pytest.param(
            "[gate]\nvsr_tolerence = 0.1",
            "[gate]: unknown key 'vsr_tolerence': did you mean \"vsr_tolerance\"? Accepted: ",
            id="gate",
        ),
        pytest.param(
            "[gate]\nagreement = 0.8",
            "[gate]: agreement must be a table with the keys of a gate, got 0.8. Write its limits under "
            "[gate.agreement].",
            id="gate-of-agreement",
        ),
        pytest.param(
            "[gate]\nrecency = true",
            "[gate]: recency must be a table with the keys of a gate, got True. Write its limits under [gate.recency].",
            id="gate-of-a-family",
        ),
        pytest.param(
            "[gate.recency]\ncar_treshold = 0.1",
            "[gate.recency]: unknown key 'car_treshold': did you mean \"car_threshold\"? Accepted: ",
            id="family-gate",
        ),
        pytest.param(
            "[datasets.d]\npath = 'x'\ncolumns = {qestion = 'q'}",
            "datasets.d: columns: unknown field 'qestion'; did you mean \"question\"? "
            "Accepted: category, chosen, cluster, content_type, gold, id, label, labels, question, rejected, response, ",
            id="column",
        ),
    ],
)
def test_unknown_keys(file: Path, text: str, expected: str) -> None:
    """An unknown key is named with its file and table, the likeliest key, and all that are accepted."""
    assert refusal(file, text).startswith(f"{file}: {expected}")


@pytest.mark.parametrize(
    ("model", "prefix", "text"),
    [(DatasetTable, "datasets.d.", "[datasets.d]\n"), (GateTable, "", "[gate]\n"), (GateTable, "", "[gate.recency]\n")],
)
def test_all_accepted_keys_are_listed(file: Path, model: Any, prefix: str, text: str) -> None:
    """What an unknown key's message accepts is what the table takes, alphabetically."""
    message = refusal(file, f"{text}zzzzzz = 1")
    assert f"unknown key '{prefix}zzzzzz': Accepted: {', '.join(sorted(model.model_fields))}." in message


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('provider = "opnai"', "'opnai'"),
        ('provider = ""', "''"),
        ("model = 4", "4"),
        ('model = ""', "''"),
        ('base_url = "127.0.0.1:8000"', "'127.0.0.1:8000'"),
        ('base_url = "ftp://x"', "'ftp://x'"),
        ('base_url = "http://x?key=1"', "'http://x?...'"),
        ('base_url = "http://x y"', "'http://x y'"),
        ('api_key_env = ""', "''"),
        ("timeout = 0", "0"),
        ("timeout = nan", "nan"),
        ('timeout = "60"', "'60'"),
        ("timeout = true", "True"),
        ("max_attempts = 0", "0"),
        ("max_attempts = 1.5", "1.5"),
        ("max_attempts = 6.0", "6.0"),
        ("temperature = -0.1", "-0.1"),
        ("temperature = 2.1", "2.1"),
        ('seed = "0"', "'0'"),
        ("seed = true", "True"),
        ('temperature = "default"', "'default'"),
        ('seed = "none"', "'none'"),
        ("max_output_tokens = 0", "0"),
        ('response_format = "json"', "'json'"),
        ("template = 1", "1"),
        ('cue_placement = "between"', "'between'"),
        ('verdict = "xml"', "'xml'"),
        ('strategy = "plan"', "'plan'"),
    ],
)
def test_wrong_values_of_a_judge(file: Path, line: str, found: str, snapshot: SnapshotAssertion) -> None:
    """A wrong value is named with file, table and key, with what is accepted and what was found."""
    key = line.partition(" ")[0]
    lines = {"provider": 'provider = "openai"', "model": 'model = "m"', key: line}
    message = refusal(file, "[judges.ours]\n" + "\n".join(lines.values()))
    (first, *_) = message.splitlines()
    assert first.startswith(f"{file}: [judges.ours]: {key}: ")
    assert first == snapshot
    assert first.endswith(f", got {found}.")


@pytest.mark.parametrize(("level", "said"), [("LW", 'did you mean "LOW"? Accepted: HIGH, '), ("", "accepted: HIGH, ")])
def test_a_thinking_level_is_one_of_gemini_s(file: Path, level: str, said: str) -> None:
    """Another thinking_level is named with those that there are; small letters are as good, and kept."""
    google = '[judges.ours]\nprovider = "google"\nmodel = "m"\n'
    assert load(file, google + 'thinking_level = "low"').judge_table("ours").thinking_level == "low"
    message = refusal(file, f'{google}thinking_level = "{level}"')
    assert f"[judges.ours]: thinking_level: {said}" in message
    assert message.endswith(f", got {level!r}.")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("key", ["vsr_tolerance", "car_threshold", "max_silent", "confidence"])
@pytest.mark.parametrize("value", ["0", "0.0", "1", "1.0", "-0.1", "15", "nan", "inf", "'0.1'", "true", "[0.1]"])
def test_shares_lie_between_0_and_1(file: Path, key: str, value: str) -> None:
    """Tolerances and thresholds lie in (0, 1): neither 0 nor 1, nor percent, nor text."""
    found = tomllib.loads(f"x = {value}")["x"]
    message = refusal(file, f"[gate]\n{key} = {value}")
    assert message.startswith(f"{file}: [gate]: {key}: input should be ")
    assert message.endswith(f", got {found!r}.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[gate]\nmax_invalid = 1.0", "[gate]: max_invalid: input should be less than 1, got 1.0."),
        ("[gate]\nmax_invalid = -0.1", "[gate]: max_invalid: input should be greater than or equal to 0, got -0.1."),
        ("[gate]\ninconclusive = 'skip'", "[gate]: inconclusive: input should be 'fail' or 'warn', got 'skip'."),
        ("[gate.recency]\nvsr_tolerance = 2", "[gate.recency]: vsr_tolerance: input should be less than 1, got 2."),
        ("gate = 3", "gate: input should be a valid dictionary, got 3."),
        ("pairs = 0", "pairs: input should be greater than or equal to 1, got 0."),
        ("pairs = true", "pairs: input should be a valid integer, got True."),
        ("pairs = 1.0", "pairs: input should be a valid integer, got 1.0."),
        ("seed = '0'", "seed: input should be a valid integer, got '0'."),
        ("judge = 3", "judge: input should be a valid string, got 3."),
        ("judge = ['a']", "judge: input should be a valid string, got ['a']."),
        ("judges = []", "judges: input should be a valid dictionary, got []."),
        ("judges.x = 3", "judges.x: input should be a valid dictionary, got 3."),
        ("datasets = 'a'", "datasets: input should be a valid dictionary, got 'a'."),
        ("datasets.x = 3", "datasets.x: input should be a valid dictionary"),
        ("[datasets.d]\npath = 3", "datasets.d.path: input should be a valid string, got 3."),
        (
            "[datasets.d]\ncontent_type = ''",
            "datasets.d.content_type: string should have at least 1 character, got ''.",
        ),
        ("[datasets.d]\nbalance_positions = 'no'", "datasets.d.balance_positions: input should be a valid boolean"),
        ("[datasets.d]\ncolumns = ['q']", "datasets.d.columns: input should be a valid dictionary, got ['q']."),
        ("[datasets.d]\ncolumns.question = 1", "datasets.d.columns.question: input should be a valid string, got 1."),
        (
            "[datasets.d]\ncolumns.labels = []",
            'datasets.d.columns: columns.labels must be a column, or a list of columns such as ["anna", "bo"], got',
        ),
        (
            "[datasets.d]\ncolumns.labels = 3",
            'datasets.d.columns: columns.labels must be a column, or a list of columns such as ["anna", "bo"], got',
        ),
        ("[datasets.d]\npath = 'x'\nsource = 'y'", "dataset 'd': set path or source, not both"),
        ("[cues]\nbrand = 'x'", "cues.brand: input should be a valid dictionary, got 'x'."),
        ("[cues.brand]\na = 1", "cues.brand.a: input should be a valid string, got 1."),
    ],
)
def test_wrong_values(file: Path, text: str, expected: str) -> None:
    """A wrong value is named with file, table and key, with what is accepted and what was found."""
    assert refusal(file, text).startswith(f"{file}: {expected}")


@pytest.mark.parametrize("key", ["provider", "model"])
def test_missing_keys_of_a_judge(file: Path, key: str) -> None:
    """A judge without provider or model says which table lacks which key."""
    lines = {"provider": 'provider = "openai"', "model": 'model = "m"'}
    lines.pop(key)
    message = refusal(file, "[judges.ours]\n" + "\n".join(lines.values()))
    assert message.startswith(f"{file}: [judges.ours]: ")
    assert key in message


def test_all_mistakes_of_a_table_are_named(file: Path) -> None:
    """Two mistakes of one table are two lines, each with file and table."""
    message = refusal(file, OURS + 'timeout = 0\nverdict = "xml"')
    assert [line.split(": ")[:3] for line in message.splitlines()] == [
        [str(file), "[judges.ours]", "timeout"],
        [str(file), "[judges.ours]", "verdict"],
    ]


# --- errors: references -------------------------------------------------------------------------------------


def test_unknown_judge(file: Path, snapshot: SnapshotAssertion) -> None:
    """A judge that is not there is named, with the likeliest, all there are, and where they are written."""
    with pytest.raises(JudgeFixturesError) as caught:
        load(file, OURS).judge_table("our")
    message = str(caught.value)
    assert lines_about(message, "'our'") == snapshot
    assert message.endswith(f". Add a table [judges.NAME] to {file}.")


def test_unknown_dataset(file: Path, snapshot: SnapshotAssertion) -> None:
    """A dataset that is not there is named, with the likeliest, all there are, and where they are written."""
    with pytest.raises(JudgeFixturesError) as caught:
        load(file, '[datasets.mine]\npath = "x"').source("house-q")
    message = str(caught.value)
    assert lines_about(message, "'house-q'") == snapshot
    assert message.endswith(f"mine. Add a table [datasets.NAME] to {file}.")


# --- errors: the file ---------------------------------------------------------------------------------------


def test_missing_file(file: Path) -> None:
    """A configuration file that is not there is an error, never an empty configuration."""
    with pytest.raises(JudgeFixturesError) as caught:
        load_config(file)
    assert str(caught.value) == f"the configuration file {file} does not exist."


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder is named as what cannot be read."""
    with pytest.raises(JudgeFixturesError) as caught:
        load_config(tmp_path)
    assert str(caught.value).startswith(f"the configuration file {tmp_path} cannot be read: ")


def test_another_encoding(file: Path, snapshot: SnapshotAssertion) -> None:
    """A file that is not UTF-8 is named as what cannot be read."""
    file.write_bytes("judge = 'é'".encode("latin-1"))
    with pytest.raises(JudgeFixturesError) as caught:
        load_config(file)
    assert lines_about(str(caught.value), "'utf-8'") == snapshot


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("pairs = 3\njudge = \n", 2),
        ("pairs 3", 1),
        ("pairs = 1\npairs = 2", 2),
        ("[judges.a]\n[judges.a]", 2),
        ("datasets = [\n", 1),
        ('judge = "\\ud800"', 1),
        ("\n\n[gate\n", 3),
        ("vsr = .1", 1),
    ],
)
def test_no_valid_toml(file: Path, text: str, line: int, snapshot: SnapshotAssertion) -> None:
    """A file that is no TOML is named with the reader's complaint and its line."""
    message = refusal(file, text)
    assert lines_about(message, "valid TOML") == snapshot
    assert f"line {line}, " in message or "end of document" in message


def test_read_toml(file: Path) -> None:
    """Tables are returned as they are written, and the built-in file is valid."""
    file.write_text("[a]\nb = 1")
    assert read_toml(file) == {"a": {"b": 1}}
    assert set(read_toml(BUILTIN)) == {"datasets", "judges"}


# --- one judge's table --------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["the judge's table", "mine"])
def test_judge_table(where: str, snapshot: SnapshotAssertion) -> None:
    """A table from Python is checked as one from a file, and its message says where it stands."""
    assert judge_table({"provider": "openai", "model": "m"}).model == "m"
    arguments = () if where == "the judge's table" else (where,)
    with pytest.raises(JudgeFixturesError) as caught:
        judge_table({"provider": "openai", "model": "m", "timeout": -1}, *arguments)
    assert str(caught.value) == snapshot


def test_judge_table_leaves_its_argument_alone() -> None:
    """The mapping that was given is not changed."""
    given = {"provider": "openai", "model": "m"}
    judge_table(given)
    assert given == {"provider": "openai", "model": "m"}


def test_build_config_leaves_its_argument_alone() -> None:
    """The tables that were given are not changed."""
    given: dict[str, Any] = {"datasets": ["a"], "judges": {"a": {"extends": "simulated-faithful"}}}
    build_config(given)
    assert given == {"datasets": ["a"], "judges": {"a": {"extends": "simulated-faithful"}}}


# --- whatever the file holds ------------------------------------------------------------------------------------

BUGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tool-is-no-table": ("tool = 1", PYPROJECT),
    "ours-is-a-text": ('[tool]\njudgefixtures = "x"', PYPROJECT),
    "ours-is-an-array": ('[[tool.judgefixtures]]\njudge = "x"', PYPROJECT),
    "extends-a-list": (f'{OURS}extends = ["a"]', ()),
    "template-is-the-prompt-itself": (f"{OURS}template = '{'Compare the two. ' * 20}'", ()),
    "template-with-nul": (f'{OURS}template = "./a\\u0000"', ()),
    "path-with-nul": ('[datasets.d]\npath = "a\\u0000"', ()),
    "number-of-5000-digits": (f"pairs = {'9' * 5000}", ()),
    "brackets-too-deep": (f"pairs = {'[' * 5000}", ()),
}


@pytest.mark.parametrize(("text", "table"), BUGS.values(), ids=BUGS)
def test_no_other_exception(file: Path, text: str, table: tuple[str, ...]) -> None:
    """Whatever the file holds, what is wrong with it is a message of ours."""
    refusal(file, text, table)


SELECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "indented": ('  datasets = ["a"]\n' + TABLES.format(""), ()),
    "in-quotes": ('"datasets" = ["a"]\n' + TABLES.format(""), ()),
}


@pytest.mark.parametrize(("text", "table"), SELECTIONS.values(), ids=SELECTIONS)
def test_selections_that_are_overlooked(file: Path, text: str, table: tuple[str, ...]) -> None:
    """A selection beside tables is a selection wherever TOML allows the key to stand."""
    assert load(file, text, table).dataset_names == ("a",)


def broken_elsewhere(file: Path) -> None:
    message = refusal(file, 'datasets = ["a"]\n' + TABLES.format("") + "\njudge = = 3")
    assert "line 7" in message


def selection_of_numbers(file: Path) -> None:
    assert f"{file}: datasets.0: " in refusal(file, "datasets = [1]")


def wrong_grandparent(file: Path) -> None:
    message = refusal(file, '[judges.a]\nextends = "b"\n[judges.b]\nextends = "nobody"')
    assert "[judges.b] extends 'nobody'" in message


def extends_in_python(file: Path) -> None:
    with pytest.raises(JudgeFixturesError) as caught:
        judge_table({"provider": "openai", "model": "m", "extends": str(file)})
    assert '"extends"?' not in str(caught.value)


@pytest.mark.parametrize(
    "names_the_wrong_thing", [broken_elsewhere, selection_of_numbers, wrong_grandparent, extends_in_python]
)
def test_messages_name_what_is_wrong(file: Path, names_the_wrong_thing: Callable[[Path], None]) -> None:
    """A message names the line, key or table that the user has to change, by the name that it has there."""
    names_the_wrong_thing(file)


def test_a_key_in_the_query_of_an_address_is_not_repeated(tmp_path: Path) -> None:
    """An address with a query is refused; the message does not show what stands in the query."""
    file = tmp_path / "config.toml"
    file.write_text('[judges.mine]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1?key=canary"\n')
    with pytest.raises(JudgeFixturesError) as caught:
        load_config(file)
    assert "base_url" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("address", ["judge:canary@127.0.0.1:1/v1", "http://judge:canary@127.0.0.1:1/v1?x=1"])
def test_a_password_in_a_wrong_address_is_not_repeated(address: str, file: Path) -> None:
    """An address that is refused is shown without the password before its host."""
    assert "canary" not in refusal(file, f'{OURS}base_url = "{address}"\n')


# --- what is refused in CI: docs/how-to/secure.md ----------------------------------------------------------------


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a CI service that has a key."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("MY_KEY", "fakewordsonly")


NO_CI = ("", "0", "false", "no")
GATEWAY = f'{OURS}base_url = "https://judge:canary@127.0.0.1:1/v1"\napi_key_env = "MY_KEY"\n'


def refused(check: Callable[[], object]) -> str:
    """The message of a refusal."""
    with pytest.raises(JudgeFixturesError) as caught:
        check()
    return str(caught.value)


@pytest.mark.usefixtures("ci")
def test_ci_sends_a_key_to_no_address_that_it_was_not_allowed_for(file: Path) -> None:
    """A variable and an address of the configuration's own: refused in CI, with the variable and the entry."""
    message = refused(lambda: load(file, GATEWAY).check_key("ours"))
    for words in (str(file), "[judges.ours]", "MY_KEY", "127.0.0.1:1", 'api_key_envs = ["MY_KEY"] in [security]'):
        assert words in message
    assert "canary" not in message
    other = '[security]\napi_key_envs = ["OTHER"]\n'
    assert "MY_KEY" in refused(lambda: load(file, GATEWAY + other).check_key("ours"))


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize(
    "text",
    [
        GATEWAY + '[security]\napi_key_envs = ["OTHER", "MY_KEY"]\n',
        OURS,
        f'{OURS}api_key_env = "MY_KEY"\n',
        f'{OURS}base_url = "http://127.0.0.1:1/v1"\n',
    ],
)
def test_ci_sends_what_is_allowed_or_needs_no_key(text: str, file: Path) -> None:
    """A listed variable, a provider's own address, a server without a key: nothing is refused."""
    load(file, text).check_key("ours")


@pytest.mark.usefixtures("ci")
def test_a_key_that_is_not_there_is_not_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing would be sent: whoever asks is told that it is missing, as everywhere."""
    monkeypatch.delenv("MY_KEY")
    load(file, GATEWAY).check_key("ours")


@pytest.mark.parametrize("value", NO_CI)
def test_nothing_is_refused_outside_of_ci(value: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a person's own machine keys and files are that person's."""
    monkeypatch.setenv("CI", value)
    config = load(file, f'{GATEWAY}system_prompt = "/etc/hostname"\n[datasets.own]\npath = "../pairs.jsonl"\n')
    config.check_key("ours")
    config.check_judge_files("ours")
    config.check_dataset_files("own")


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A configuration in a folder of a repository, beside which lie other folders."""
    folder = tmp_path / "repository" / "gates"
    folder.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "shared").mkdir()
    for file in (tmp_path / "shared" / "own.txt", tmp_path / "repository" / "own.txt", folder / "own.txt"):
        file.write_text("{question} {response_1} {response_2} {cue_1} {cue_2}")
    return folder / "judges.toml"


FILES = {
    "template": '{ours}template = "{path}"\n',
    "templates": '{ours}templates = {{Story = "{path}"}}\n',
    "system_prompt": '{ours}system_prompt = "{path}"\n',
    "path": '{ours}[datasets.own]\npath = "{path}"\n',
}


def used(file: Path, text: str) -> None:
    """Check the judge and, where there is one, the dataset of a configuration, as a run does that uses them."""
    config = load(file, text)
    config.check_judge_files("ours")
    if "own" in config.datasets:
        config.check_dataset_files("own")


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize("path", ["../../shared/own.txt", "/etc/hostname", "link.txt"])
def test_ci_reads_no_file_outside_of_the_repository(
    key: str, path: str, inside: Path, snapshot: SnapshotAssertion
) -> None:
    """Whatever a key of the configuration names, by whatever way: outside of the repository it is refused in CI."""
    (inside.parent / "link.txt").symlink_to("../../shared/own.txt")
    message = refused(lambda: used(inside, FILES[key].format(ours=OURS, path=path)))
    assert message == snapshot


@pytest.mark.usefixtures("ci")
@pytest.mark.parametrize("key", FILES)
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("own.txt", None),
        ("../own.txt", None),
        ("../../shared/own.txt", "../../shared"),
        ("../../shared/own.txt", "../../shared/own.txt"),
    ],
)
def test_ci_reads_the_repository_and_what_is_allowed(key: str, path: str, allowed: str | None, inside: Path) -> None:
    """Files of the repository, above the configuration too, and what allow_outside names are read."""
    text = FILES[key].format(ours=OURS, path=path)
    used(inside, text + (f'[security]\nallow_outside = ["{allowed}"]\n' if allowed else ""))


@pytest.mark.usefixtures("ci")
def test_ci_follows_no_link_out_of_a_folder_of_pairs(inside: Path) -> None:
    """A folder of files may lie in the repository and a file of it elsewhere: refused all the same."""
    folder = inside.parent / "pairs"
    folder.mkdir()
    text = '[datasets.own]\npath = "pairs"\n'
    load(inside, text).check_dataset_files("own")
    (folder / "a.jsonl").symlink_to("../../../shared/own.txt")
    assert "a.jsonl" in refused(lambda: load(inside, text).check_dataset_files("own"))


@pytest.mark.usefixtures("ci")
def test_ci_refuses_only_what_is_used(inside: Path) -> None:
    """A dataset that a developer keeps elsewhere is no reason to refuse a run that does not ask about it."""
    config = load(inside, f'{OURS}[datasets.own]\npath = "../../shared/own.txt"\n')
    config.check_judge_files("ours")
    config.check_dataset_files("house-qa")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[security]\napi_keys = []\n", "api_key_envs"),
        ("[security]\nallow_outside = true\n", "allow_outside"),
        (f"{OURS}allow_programs = true\n", "provider 'python'"),
    ],
)
def test_wrong_keys_of_security_are_told(text: str, words: str, file: Path) -> None:
    """An unknown key, a wrong value, and a key of python judges elsewhere are errors that name what is accepted."""
    assert words in refusal(file, text)


# --- settings in a place where nothing reads them -----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[judges.x]\nprovider = 'openai'",
        '[judges."gpt-4.1"]\nprovider = "openai"',
        "[judges.x.connection]\nregion = 'r'",
        "[datasets.own]\npath = 'p'",
        "[gate]\nvsr_tolerance = 0.1",
        "[gate.recency]\nvsr_tolerance = 0.02",
        "[swap]\nflip_margin = 0.1",
        "[control]\npairs = 20",
        "[canary]\nanswers = 2",
        "[detector]\njudge = 'd'",
        "[security]\nallow_outside = ['x']",
        "[cues.brand]\nours = 'o'",
        "[cues.brand.terms]\nours = ['o']",
        "[[waivers]]\ncontrast = 'recency-new-old'",
        "[judge.x]\nprovider = 'openai'",
        "[judgefixtures.gate]\nvsr_tolerance = 0.1",
        "judge = 'production'",
        "control = false",
        "seed = 3",
    ],
)
@pytest.mark.parametrize("ours", ["", "\n[tool.judgefixtures]\njudge = 'simulated-faithful'"], ids=["alone", "beside"])
def test_settings_at_the_top_of_a_pyproject(tmp_path: Path, text: str, ours: str, snapshot: SnapshotAssertion) -> None:
    """What is pasted to the top of a pyproject.toml would do nothing: an error says where it belongs."""
    file = tmp_path / "pyproject.toml"
    file.write_text(f"{text}\n{ours}")
    with pytest.raises(JudgeFixturesError) as refused:
        load_config(file)
    assert str(refused.value) == snapshot


@pytest.mark.parametrize("name", ["judgefixture", "judge-fixtures", "judge_fixtures", "JudgeFixtures", "judgefixtuers"])
def test_a_slip_in_the_name_of_our_table(tmp_path: Path, name: str) -> None:
    """A table of tools that is ours but for a slip is an error, not another tool's."""
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.{name}]\njudge = 'x'\n")
    with pytest.raises(
        JudgeFixturesError, match=rf"\[tool\.{name}\] has no effect: did you mean \[tool\.judgefixtures\]"
    ):
        load_config(file)


@pytest.mark.parametrize("name", ["pytest", "ruff", "judge", "judges", "fixtures", "testfixtures", "judgeval"])
def test_other_tools_are_left_alone(tmp_path: Path, name: str) -> None:
    """Tables of other tools, and what else a pyproject.toml holds, are nobody's mistake."""
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[project]\nname = 'x'\n[build-system]\nrequires = []\n[tool.{name}]\njudge = 'x'\n")
    assert load_config(file).judge is None


@pytest.mark.parametrize("text", ["[{}judge.production]\nprovider = 'openai'", "[{}dataset.own]\npath = 'p'"])
@pytest.mark.parametrize(("name", "within"), [("pyproject.toml", "tool.judgefixtures."), ("judges.toml", "")])
def test_a_singular_is_told_as_such(
    tmp_path: Path, text: str, name: str, within: str, snapshot: SnapshotAssertion
) -> None:
    """[judge.production] is [judges.production] with a slip, and not a judge that must be a string."""
    file = tmp_path / name
    file.write_text(text.format(within))
    with pytest.raises(JudgeFixturesError) as refused:
        load_config(file)
    assert str(refused.value) == snapshot


def test_a_singular_beside_the_key(tmp_path: Path) -> None:
    """`judge = "production"` and [judge.production] contradict each other in TOML; the error names the table meant."""
    file = tmp_path / "judges.toml"
    file.write_text("judge = 'production'\n[judge.production]\nprovider = 'openai'\n")
    with pytest.raises(JudgeFixturesError, match=r"not valid TOML.*\[judges\.NAME\]"):
        load_config(file)


@pytest.mark.parametrize("name", ["pyproject.toml", "other.toml"])
def test_a_file_with_tables_of_tools(tmp_path: Path, name: str) -> None:
    """A pyproject.toml that is named, and a file with nothing but tables of tools, are read at [tool.judgefixtures]."""
    file = tmp_path / name
    file.write_text("[tool.judgefixtures.gate.recency]\nvsr_tolerance = 0.02\n[tool.ruff]\nline-length = 100\n")
    assert load_config(file).gate("recency").vsr_tolerance == 0.02


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "pyproject.toml",
            "[tool.judgefixtures.gate.recency]\ncar = 0.1",
            "[tool.judgefixtures.gate.recency]: unknown key",
        ),
        (
            "pyproject.toml",
            "[tool.judgefixtures.judges.x]\nmodel = 'm'",
            "[tool.judgefixtures.judges.x]: key 'provider'",
        ),
        ("pyproject.toml", "[tool.judgefixtures.swap]\nlooks = []", "[tool.judgefixtures]: swap.looks: "),
        ("judges.toml", "[gate.recency]\ncar = 0.1", "[gate.recency]: unknown key"),
    ],
)
def test_messages_write_the_table_as_its_file_does(tmp_path: Path, name: str, text: str, said: str) -> None:
    """Tables in messages have the name by which they can be found and pasted in that very file."""
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(JudgeFixturesError) as refused:
        load_config(file)
    assert str(refused.value).startswith(f"{file}: {said}")
