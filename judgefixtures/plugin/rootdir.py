"""Rootdir: find it again without our options. Only this module uses private attributes of pytest.

pytest looks for its rootdir before it loads plugins, and takes the value of `--judge-report DIR` for a test path.
"""

import argparse
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judgefixtures.util.paths import read_text
from judgefixtures.util.shell import quoted

HOME = pytest.StashKey[Path]()
NAMED = re.compile(r"^\s*collect\s*=\s*[\"']named[\"']", re.MULTILINE)


def find_rootdir(early_config: pytest.Config, args: list[str]) -> None:
    """Set rootdir and settings, ignoring our options' values; `args` lose other settings' options."""
    known: Any = early_config.known_args_namespace
    if all(getattr(known, dest) is None for dest in ("judge_config", "judge_report", "judge_cassettes")):
        return
    from _pytest.config.findpaths import determine_setup

    before = early_config.getini("addopts")
    config: Any = early_config
    overrides = {"override_ini": known.override_ini} if pytest.version_tuple >= (9,) else {}
    rootdir, file, settings, *ignored = determine_setup(
        inifile=known.inifilename,
        args=known.file_or_dir,
        rootdir_cmd_arg=known.rootdir or None,
        invocation_dir=early_config.invocation_params.dir,
        **overrides,
    )
    if (rootdir, file) != (early_config.rootpath, early_config.inipath):
        config._rootpath, config._inipath = rootdir, file
        setattr(config, "_inicfg" if hasattr(config, "_inicfg") else "inicfg", settings)  # its name until 9.1
        if ignored:  # since 9.0
            (config._ignored_config_files,) = ignored
        config._inicache.clear()
        known.confcutdir = str(file.parent if file else rootdir)
        # What stands first in args came from the settings of a folder that is not the project's.
        args[: len(before)] = early_config.getini("addopts")


def written_table(file: Path) -> Mapping[str, Any]:
    """Return our table in a file, or {}."""
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError):
        return {}
    try:
        held = tomllib.loads(text)
    except ValueError:  # a run that names judges says what is wrong
        return {"collect": "named"} if NAMED.search(text) else {}
    if file.name == "pyproject.toml" or {*held} == {"tool"}:
        held = tables_in(tables_in(held).get("tool")).get("judgefixtures", {})
    return held


def tables_in(value: Any) -> dict[str, dict[str, Any]]:
    """Return the tables in a value."""
    held = value.items() if isinstance(value, dict) else ()
    return {name: table for name, table in held if isinstance(table, dict)}


def home_of(config: pytest.Config) -> Path:
    """Return the folder of the pyproject.toml with our table, or the rootdir.

    Searches the rootdir, test folders below the rootdir, then parents.
    """
    if HOME not in config.stash:
        root, here = config.rootpath, config.invocation_params.dir
        beside = dict.fromkeys(folder for each in (*_paths(config), here) for folder in (each, *each.parents))
        inside = [folder for folder in beside if folder != root and folder.is_relative_to(root)]
        folders = dict.fromkeys((root, *inside, *root.parents, *beside))
        config.stash[HOME] = next((each for each in folders if written_table(each / "pyproject.toml")), root)
    return config.stash[HOME]


def root_options(config: pytest.Config) -> list[str]:
    """Return the options that reproduce rootdir and settings."""
    here, file, root = config.invocation_params.dir, config.inipath, config.option.rootdir
    named = [f"--rootdir={quoted(str(root))}"] if root else []
    if file is not None and (config.option.inifilename or file.parent not in (here, *here.parents)):
        named += ["-c", quoted(os.path.relpath(file, here))]
    return named


def outer_paths(config: pytest.Config) -> list[str]:
    """Return the test paths that another command needs."""
    here, root = config.invocation_params.dir, config.rootpath
    alone = home_of(config) in (root, *root.parents, here, *here.parents)
    return [quoted(os.path.relpath(each, here)) for each in _paths(config) if not (alone and each.is_relative_to(here))]


def _paths(config: pytest.Config) -> list[Path]:
    return [Path(os.path.normpath(config.invocation_params.dir / each.partition("::")[0])) for each in config.args]


def command_line_only(config: pytest.Config, unsaid: argparse.Namespace) -> argparse.Namespace:
    """Return the typed options only, over the defaults `unsaid`.

    The public parser is available to early plugins only.
    """
    parser: pytest.Parser = config._parser
    return parser.parse_known_args(list(config.invocation_params.args), unsaid)
