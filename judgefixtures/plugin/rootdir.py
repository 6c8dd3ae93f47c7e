"""The rootdir, found again: the one place where attributes of pytest are set that are not public.

pytest looks for its rootdir before plugins are loaded, and takes the value of `--judge-report DIR` or `--judge-config
FILE` for a path of tests: an existing one elsewhere would hide the user's pyproject.toml. pytest 9 has no public way to
look again: hooks for it run before plugins are loaded, or when the settings are read, and a Config is parsed once.
"""

from __future__ import annotations

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
    found = determine_setup(
        inifile=known.inifilename,
        override_ini=known.override_ini,
        args=known.file_or_dir,
        rootdir_cmd_arg=known.rootdir or None,
        invocation_dir=early_config.invocation_params.dir,
    )
    if found[:2] != (early_config.rootpath, early_config.inipath):
        config._rootpath, config._inipath, config._inicfg, config._ignored_config_files = found
        config._inicache.clear()
        known.confcutdir = str(found[1].parent if found[1] else found[0])
        # What stands first in args came from the settings of a folder that is not the project's.
        args[: len(before)] = early_config.getini("addopts")
