"""The rootdir, found again: the one place where attributes of pytest are set or read that are not public.

pytest looks for its rootdir before plugins are loaded, and takes the value of `--judge-report DIR` or `--judge-config
FILE` for a path of tests: an existing one elsewhere would hide the user's pyproject.toml. pytest has no public way to
look again: hooks for it run before plugins are loaded, or when the settings are read, and a Config is parsed once. What
these attributes are called in which release is asked here alone.
"""

from __future__ import annotations

import argparse
from typing import Any

import pytest


def find_rootdir(early_config: pytest.Config, args: list[str]) -> None:
    """Find rootdir and settings without the values of our options; `args` lose what came from other settings."""
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


def parse_again(config: pytest.Config, unsaid: argparse.Namespace) -> argparse.Namespace:
    """Return what was typed after `pytest`, without what settings add, over what stands for an option that was not.

    The public way to the parser is open to plugins that are loaded early, and to no others.
    """
    parser: pytest.Parser = config._parser
    return parser.parse_known_args(list(config.invocation_params.args), unsaid)
