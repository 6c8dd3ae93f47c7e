"""Loading of a TOML file: find, merge and check the tables."""

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgefixtures.models.check_registry import ALONE
from judgefixtures.models.contrasts import OTHER_FAMILIES
from judgefixtures.models.cues import BY_NAME, FAMILIES, PLACE, CueFamily, Families, Stands, cue_place
from judgefixtures.parsing.acknowledgment_classifier import normalize_term
from judgefixtures.prompts.templates import LAYOUTS, WORDINGS
from judgefixtures.providers.judge_table import PLAN_KEYS, JudgeTable, plan_keys
from judgefixtures.sources.sample import check_source
from judgefixtures.util.errors import JudgeFixturesError, accepted_values, check_known, table_heading

from . import run_tables
from .config import Config, source_of_table
from .messages import MESSAGES
from .run_tables import NOT_INHERITED, OWN_GATES, ConfigurationTable, DatasetTable, GateTable, Table
from .validation import ConfigLocation, check_folder_names, read_toml, validate_table

BUILTIN = Path(__file__).parents[1] / "builtin.toml"
TABLE = ("tool", "judgefixtures")  # where our tables stand in a pyproject.toml

# What people write for a table that has another name.
LIKELY = {name: f"{name}s" for name in ("judge", "dataset", "cue", "waiver")}
LIKELY |= {f"{name}s": name for name in ("gate", "swap", "detector", "control")}
ALIKE = 0.88  # of two names: one letter more, less or another, or two exchanged


def load_config(file: Path, *, table: tuple[str, ...] | None = None) -> Config:
    """Return a TOML file's configuration.

    `table` is its place, by default [tool.judgefixtures], or the top level if the file has other tables than tools. A
    pyproject.toml without it gives the built-in configuration.

    Raises:
        JudgeFixturesError: Missing file or invalid key; names file, key and accepted values.
    """
    held = read_toml(file)
    if table is None:
        table = TABLE if file.name == "pyproject.toml" or {*held} == {TABLE[0]} else ()
    if table:
        _check_top(held, str(file), table)
    written = held
    for depth, key in enumerate(table, 1):
        written = written.get(key, {})
        if not isinstance(written, dict):
            name = ".".join(table[:depth])
            raise JudgeFixturesError(f"{file}: {name} must be a table [{name}], got a {type(written).__name__}.")
    return build_config(written, str(file), file.parent, table)


def _check_top(held: Table, file: str, table: tuple[str, ...]) -> None:
    """Raise JudgeFixturesError for our tables in unread places."""
    *above, own = table
    for key, value in held.items():
        if key in (*ConfigurationTable.model_fields, *LIKELY, own):
            array = isinstance(value, list) and {type(each) for each in value} == {dict}
            tables = isinstance(value, dict) or array
            named = [] if key == own else [LIKELY.get(key, key)]
            path = _path_to(value)
            there = table_heading((), key, *path) if tables else key
            meant = table_heading(table, *named, *path) if tables else f"{key} below {table_heading(table)}"
            raise JudgeFixturesError(MESSAGES.array_for_table(file, there, array, meant))
    beside = held.get(above[0]) if above else None
    for name in beside if isinstance(beside, dict) else ():
        if name != own and _alike(name, own):
            raise JudgeFixturesError(
                f"{file}: {table_heading(above, name)} has no effect: did you mean {table_heading(table)}?"
            )


def _path_to(value: object) -> list[str]:
    if not isinstance(value, dict) or not value or not all(isinstance(each, dict) for each in value.values()):
        return []
    name, below = next(iter(value.items()))
    return [name, *_path_to(below)]


def _alike(name: str, ours: str) -> bool:
    bare = re.sub(r"[^a-z]", "", name.lower())
    return bare == ours or difflib.SequenceMatcher(None, bare, ours).ratio() > ALIKE


def build_config(
    written: Table, file: str = "(no file)", folder: Path = Path(), within: tuple[str, ...] = ()
) -> Config:
    """Return the configuration of parsed tables.

    Paths are relative to `folder`; `within` is the tables' place.
    """
    place = ConfigLocation(file, within)
    written, placed, terms = _sentences_apart(written, place)
    root = _root(written, place)
    builtin = _builtin()
    tables, datasets = {**builtin.judges, **root.judges}, {**builtin.datasets, **root.datasets}
    _check_terms(terms, root.cues, place)
    own_cues = {
        name: CueFamily(labels, terms.get(name, {}), placed.get(name, "response")) for name, labels in root.cues.items()
    }
    cues: dict[str, Mapping[str, str]] = {**FAMILIES, **own_cues}
    check_folder_names(place, judges=tables, datasets=root.datasets, cues=cues)
    for name, labels in root.cues.items():
        check_folder_names(place, cues=labels)
        if name in OTHER_FAMILIES:
            raise JudgeFixturesError(f"{place.at('cues', name)}: {name!r} is a built-in family. Choose another name.")
    own = tuple(name for name in root.cues if name not in FAMILIES or name in BY_NAME)
    families = (*cues, *OTHER_FAMILIES)
    _check_references(root, families, datasets, tables, place)
    # What a table extends may be the user's, by a built-in name.
    kept = {} if builtin.judges.keys() & root.judges.keys() else _builtin_judges()
    judges = {name: kept.get(name) or _judge(name, tables, place, folder) for name in tables}
    if root.detector.judge is not None and not judges[root.detector.judge].record.is_asked:
        raise JudgeFixturesError(MESSAGES.root_detector(place.at("detector"), root))
    default_gate, family_gates = _gates(root.gate, families, place)
    controlling = root.control.dataset if root.control is not None else None
    swap = root.swap
    if "families" not in swap.model_fields_set:
        compared = [*run_tables.SWAP_FAMILIES, *own]
        swap = type(swap).model_construct(swap.model_fields_set, **dict(swap) | {"families": compared})
    return Config(
        file=file,
        judge=root.judge,
        # Whoever defines datasets and selects none means all of them, but the one that controls the judges.
        dataset_names=tuple(root.dataset or (name for name in root.datasets if name != controlling)),
        judges=judges,
        datasets={name: _located(name, table, folder, place) for name, table in datasets.items()},
        default_gate=default_gate,
        family_gates=family_gates,
        written_gates=frozenset(name for name, value in root.gate.items() if isinstance(value, dict)),
        swap=swap,
        waivers=tuple(root.waivers),
        cues=cues,
        own_families=own,
        folder=folder,
        within=within,
        **{key: getattr(root, key) for key in AS_WRITTEN},
    )


AS_WRITTEN = ("pairs", "seed", "control", "security", "detector", "canary", "batch_parity")


def _check_references(
    root: ConfigurationTable,
    families: Iterable[str],
    datasets: Mapping[str, Any],
    judges: Mapping[str, Any],
    place: ConfigLocation,
) -> None:
    for family in root.swap.families:
        check_known(f"{place.at('swap')} families", "family", family, families)
    if root.control is not None and root.control.dataset is not None:
        check_known(f"{place.at('control')} dataset", "dataset", root.control.dataset, datasets)
    for key in ("close_dataset", "clear_dataset"):
        if (named := getattr(root.canary, key)) is not None:
            check_known(f"{place.at('canary')} {key}", "dataset", named, datasets)
    if root.detector.judge is not None:
        check_known(f"{place.at('detector')} judge", "judge", root.detector.judge, judges)


def _sentences_apart(
    written: Table, place: ConfigLocation
) -> tuple[Table, dict[str, Stands], dict[str, dict[str, tuple[str, ...]]]]:
    """Return the tables with cue families reduced to sentences, their places and terms."""
    families = written.get("cues")
    if not isinstance(families, dict):
        return written, {}, {}
    placed: dict[str, Stands] = {}
    terms: dict[str, dict[str, tuple[str, ...]]] = {}
    bare = {name: dict(table) if isinstance(table, dict) else table for name, table in families.items()}
    for name, labels in bare.items():
        if isinstance(labels, dict) and (at := cue_place(labels)):
            placed[name] = at
            del labels[PLACE]
        if isinstance(labels, dict) and isinstance(labels.get("terms"), dict):
            read = validate_table(run_tables.TermsTable, {"terms": labels.pop("terms")}, place.at("cues", name)).terms
            terms[name] = {label: tuple(words) for label, words in read.items()}
    return {**written, "cues": bare}, placed, terms


def _check_terms(terms: Mapping[str, Mapping[str, Any]], cues: Families, place: ConfigLocation) -> None:
    for name, words in terms.items():
        where, family = place.at("cues", name, "terms"), table_heading(place.within, "cues", name)
        if words and not cues[name]:
            raise JudgeFixturesError(f"{where}: terms need a cue family of your own, but {family} has no sentences.")
        for label, each in words.items():
            if label not in cues[name]:
                known = accepted_values(label, cues[name])
                raise JudgeFixturesError(f"{where}: there is no label {label!r} in {family}: {known}.")
            for term in each:
                if not normalize_term(term):
                    raise JudgeFixturesError(
                        f"{where} {label}: {term!r} can never match a reason. Use words of the letters a to z "
                        "and digits, from one sentence, and not only a response's name."
                    )


def judge_table(table: Mapping[str, Any], where: str = "the judge's table") -> JudgeTable:
    """Return a checked [judges.NAME] table, or raise JudgeFixturesError."""
    if "extends" in table:
        raise JudgeFixturesError(f"{where}: extends works only in a configuration file. Write all keys in this table.")
    return validate_table(JudgeTable, dict(table), where)


def _root(written_as: Table, place: ConfigLocation) -> ConfigurationTable:
    written = dict(written_as)
    for key in ("judge", "dataset"):
        if isinstance(value := written.get(key), dict):
            of_one = next((name for name, each in value.items() if isinstance(each, dict)), "NAME")
            raise JudgeFixturesError(
                f"{place.at(key, of_one)}: unknown table: did you mean "
                f"{table_heading(place.within, LIKELY[key], of_one)}?"
            )
    if isinstance(written.get("datasets"), list):
        written["dataset"] = written.pop("datasets")
    renamed = "datasets" if isinstance(written_as.get("datasets"), list) else "dataset"
    return validate_table(ConfigurationTable, written, _top(place), {"dataset": renamed})


def _top(place: ConfigLocation) -> str:
    return place.at() if place.within else place.file


@functools.cache
def _builtin() -> ConfigurationTable:
    return _root(read_toml(BUILTIN), ConfigLocation(str(BUILTIN)))


@functools.cache
def _builtin_judges() -> dict[str, JudgeTable]:
    """Return the built-in judges, which name no file: they are the same in every folder."""
    tables, place = _builtin().judges, ConfigLocation(str(BUILTIN))
    return {name: _judge(name, tables, place, Path()) for name in tables}


def _judge(name: str, tables: Mapping[str, Table], place: ConfigLocation, folder: Path) -> JudgeTable:
    where = place.at("judges", name)
    table = validate_table(JudgeTable, _extended((name,), tables, place), where)

    def located(path: str, key: str = "") -> str:
        return _template_path(path, folder, f"{where}: {key}" if key else where)

    own = {
        "template": table.template and located(table.template),
        "templates": {name: located(path, "templates") for name, path in (table.templates or {}).items()},
        "wordings": [each if each in WORDINGS else located(each, "wordings") for each in table.wordings or ()],
        "system_prompt": table.system_prompt and str(_path(table.system_prompt, folder, f"{where}: system_prompt")),
    }
    return table.model_copy(update={key: value for key, value in own.items() if value})


def _template_path(template: str, folder: Path, where: str) -> str:
    path = _path(template, folder, f"{where}: template")
    try:
        return str(path) if "/" in template or path.is_file() else template
    except OSError:
        raise JudgeFixturesError(
            f"{where}: template = {template[:60]!r}... is not a path. Write the prompt to a file and give its path."
        ) from None


def _path(text: str, folder: Path, where: str) -> Path:
    try:
        return (folder / text).resolve()
    except (ValueError, OSError) as error:
        raise JudgeFixturesError(f"{where} = {text[:60]!r} is not a path: {error}.") from None


def _extended(chain: tuple[str, ...], tables: Mapping[str, Table], place: ConfigLocation) -> Table:
    table = dict(tables[chain[-1]])
    parent = table.pop("extends", None)
    if parent is None:
        return table
    if not isinstance(parent, str) or parent not in tables:
        raise JudgeFixturesError(
            MESSAGES.no_parent_judge(place.at("judges", chain[-1]), parent, accepted_values(str(parent), tables))
        )
    if parent in chain:
        circle = " -> ".join((*chain, parent))
        raise JudgeFixturesError(f"{place.at('judges', chain[0])} extends itself: {circle}. Remove one extends.")
    inherited = _extended((*chain, parent), tables, place)
    layout = LAYOUTS.get(str(table.get("mode")))
    if "mode" in table and not (layout and layout.has_scale):  # what is switched off takes along what belongs to it
        inherited.pop("scale", None)
    if table.get("logprobs") is False:
        inherited.pop("top_logprobs", None)
    if table.get("provider", inherited.get("provider")) != inherited.get("provider"):
        inherited.pop("connection", None)  # another provider's account
    if table.keys() & {"template", "templates", "mode"}:
        inherited.pop("wordings", None)  # of the other template
    if "strategy" in table:  # what the other strategy's plans were made with is not meant for this one
        kept = plan_keys(table["strategy"], table.get("provider", inherited.get("provider")))
        inherited = {key: value for key, value in inherited.items() if key not in PLAN_KEYS or key in kept}
    return {**inherited, **table}


def _located(name: str, table: DatasetTable, folder: Path, place: ConfigLocation) -> DatasetTable:
    if table.path is not None:
        table = table.model_copy(update={"path": str(_path(table.path, folder, place.at("datasets", name) + " path"))})
    try:
        check_source(source_of_table(name, table, place.within))
    except JudgeFixturesError as error:
        raise JudgeFixturesError(f"{place.file}: {error}") from None
    return table


def _gates(written: Table, families: Iterable[str], place: ConfigLocation) -> tuple[GateTable, dict[str, GateTable]]:
    own = {key: value for key, value in written.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in written.items() if isinstance(value, dict)}
    _check_own_keys({"": own, **tables}, place)
    known = (*families, *(kind.name for kind in ALONE))
    # A family may be called as a key of [gate] is: without a table it is the key that is meant.
    for name in sorted(own.keys() & {*known} - GateTable.model_fields.keys()):
        raise JudgeFixturesError(
            MESSAGES.gate_key_misplaced(place.at("gate"), name, own[name], table_heading(place.within, "gate", name))
        )
    default = validate_table(GateTable, own, place.at("gate"))
    for name in tables:
        check_known(place.at("gate", name), "family", name, known)
    shared = {name: table for name, table in tables.items() if name not in OWN_GATES}
    gates = {name: validate_table(GateTable, own | table, place.at("gate", name)) for name, table in shared.items()}
    inherited = {key: value for key, value in own.items() if key not in NOT_INHERITED}
    for name, kind in OWN_GATES.items():
        gates[name] = validate_table(kind, {**inherited, **tables.get(name, {})}, place.at("gate", name))
    return default, gates


def _check_own_keys(tables: Mapping[str, Table], place: ConfigLocation) -> None:
    for name, kind in OWN_GATES.items():
        keys = kind.model_fields.keys() - GateTable.model_fields.keys()
        for other, table in tables.items():
            if other != name and (misplaced := sorted(keys & table.keys())):
                where = place.at("gate", other) if other else place.at("gate")
                raise JudgeFixturesError(
                    MESSAGES.table_misplaced(where, misplaced, table_heading(place.within, "gate", name))
                )
