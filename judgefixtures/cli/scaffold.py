"""Scaffold: the files that `init` writes into another repository."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.jinja import load_template
from judgefixtures.util.paths import read_bytes, read_text
from judgefixtures.util.shell import SUITE, quoted

from .kits import KITS, PROVIDERS, ProviderSetup, StarterKit, starter_configuration

NEXT, BESIDES = (Path(__file__).with_name(f"{name}.txt.jinja") for name in ("next", "besides"))
SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "env", "build", "dist"})

# Where pytest looks for its settings, first to last, and what a file holds that has some.
SETTINGS: Mapping[str, str] = {
    "pytest.toml": "",
    "pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
# What a recording that was cut short leaves beside the others, and a write or a lock that was killed: never committed.
IGNORED = ("*.part.jsonl", "*.part-of-another-judge*.jsonl", ".*.draft")
FIXTURES = ("judge", "baseline", "pairs", "contrast", "gate")
NAMES = "|".join(FIXTURES)
FIXTURE = re.compile(rf"^(?:async )?def ({NAMES})\(|name\s*=\s*[\"']({NAMES})[\"']", re.MULTILINE)
CONFTEST = f'''"""The suite's own fixtures: those of the same names in a conftest.py above mean something else."""

from judgefixtures.plugin import {", ".join(sorted(FIXTURES))}  # noqa: F401
'''


@dataclass(slots=True)
class ScaffoldResult:
    """Lines on written and skipped files, next steps and notes."""

    written: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    next: list[str] = field(default_factory=list)
    besides: list[str] = field(default_factory=list)


def suite_folder() -> Path:
    """Return the test modules' folder in a wheel or checkout."""
    shipped = Path(__file__).with_name("judge")
    return shipped if shipped.is_dir() else Path(__file__).parents[2] / SUITE


def write_scaffold(folder: Path, mode: str = "pairwise", provider: str = "openai") -> ScaffoldResult:
    """Write suite and configuration into a repository, never over a file.

    Everything is checked before the first write.

    Args:
        folder: The repository.
        mode: One of `KITS`.
        provider: One of `PROVIDERS`.

    Raises:
        JudgeFixturesError: The files cannot be written.
    """
    for option, value, accepted in (("mode", mode, KITS), ("provider", provider, PROVIDERS)):
        if value not in accepted:
            raise JudgeFixturesError(f"--{option} {value}: {accepted_values(value, accepted)}.")
    if not folder.is_dir():
        raise JudgeFixturesError(f"{folder} is not a folder. Give the root of the repository with your judge.")
    done, kit = ScaffoldResult(), KITS[mode]
    table = _table(folder, starter_configuration(mode, provider, has_data=(folder / kit.data).is_file()))
    taken = _taken(folder)
    try:
        for name in kit.modules:
            source = suite_folder() / f"test_{name}.py"
            # pytest's default import mode cannot tell two modules of one name apart.
            target = SUITE / (source.name if source.name not in taken else f"test_judge_{name}.py")
            _write(folder, target, kit.worded(source.read_text(encoding="utf-8")), done)
        if any(FIXTURE.search(_text(folder / above / "conftest.py")) for above in (".", SUITE.parts[0])):
            _write(folder, SUITE / "conftest.py", CONFTEST, done)
        _configure(folder, table, done)
        _ignore(folder, done)
    except OSError as error:
        raise JudgeFixturesError(f"{folder} cannot be written to: {error}.") from None
    done.next = _next(folder, kit, PROVIDERS[provider])
    if table is not None:
        besides: str = load_template(BESIDES).render(kit=kit, simulator=PROVIDERS[provider].simulator)
        done.besides = besides.strip().split("\n")
    return done


def _write(folder: Path, file: Path, text: str, done: ScaffoldResult) -> None:
    if os.path.lexists(folder / file):
        gates = not file.name.startswith("test_") or "mark.judge_" in _text(folder / file)
        hint = "" if gates else ", but has no judge test: rename it and run this command again"
        done.left.append(f"{file}: it exists{hint}")
        return
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    with (folder / file).open("x", encoding="utf-8") as opened:
        opened.write(text)
    done.written.append(str(file))


def _table(folder: Path, text: str) -> str | None:
    """Return the addition to pyproject.toml, or None."""
    before = _pyproject(folder)
    if _at(_parsed(before, folder), "tool", "judgefixtures") is not None:
        return None
    if before:
        text = ("\n" if before.endswith("\n") else "\n\n") + text
    try:
        tomllib.loads(before + text)
    except ValueError as error:
        raise JudgeFixturesError(
            f"{folder / 'pyproject.toml'}: cannot add the table [tool.judgefixtures] ({error}): `tool` is one inline "
            "value. Write `tool` as tables first."
        ) from None
    return text


def _configure(folder: Path, table: str | None, done: ScaffoldResult) -> None:
    if table is None:
        always = _at(_parsed(_pyproject(folder), folder), "tool", "judgefixtures", "collect") != "named"
        hint = '; add collect = "named", so that plain `pytest` runs no judge tests' if always else ""
        done.left.append(f"pyproject.toml: it has [tool.judgefixtures]{hint}")
    else:
        _append(folder / "pyproject.toml", table, "the table [tool.judgefixtures]", done)


def _ignore(folder: Path, done: ScaffoldResult) -> None:
    before = _text(folder / ".gitignore")
    present = {line.strip() for line in before.splitlines()}
    if lacking := [pattern for pattern in IGNORED if pattern not in present]:
        lines = [*([""] if before and not before.endswith("\n") else []), "# unfinished recordings", *lacking, ""]
        _append(folder / ".gitignore", "\n".join(lines), "unfinished recordings", done)
    else:
        done.left.append(".gitignore: it lists unfinished recordings")


def _append(file: Path, text: str, what: str, done: ScaffoldResult) -> None:
    before = read_bytes(file) if os.path.lexists(file) else b""
    with file.open("ab") as opened:
        opened.write((text.replace("\n", "\r\n") if b"\r\n" in before else text).encode())
    done.written.append(file.name + (f": {what}, at its end" if before else ""))


def _pyproject(folder: Path) -> str:
    file = folder / "pyproject.toml"
    try:
        return read_text(file)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeFixturesError(f"{file} cannot be read: {error}.") from None


def _parsed(text: str, folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise JudgeFixturesError(f"{folder / 'pyproject.toml'} is not valid TOML: {error}.") from None


def _at(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _taken(folder: Path) -> set[str]:
    return {
        name
        for path, names in _folders(folder)
        if "__init__.py" not in names and path != folder / SUITE
        for name in names
        if name.startswith("test_") and name.endswith(".py")
    }


def _folders(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for path, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if name not in SKIPPED and not name.startswith(".")]
        yield Path(path), names


def _text(file: Path) -> str:
    try:
        return read_text(file, errors="replace")
    except OSError:
        return ""


def _next(folder: Path, kit: StarterKit, reached: ProviderSetup) -> list[str]:
    """Return the next steps, a line each."""
    root = _pytest_root(folder)
    suite = f"pytest {'--rootdir . ' if root else ''}{SUITE.as_posix()}"
    text: str = load_template(NEXT).render(
        folder="" if folder.resolve() == Path.cwd() else quoted(str(folder)),
        root=root,
        kit=kit,
        has_data=(folder / kit.data).is_file(),
        key=reached.key,
        gate=f"{suite} {kit.gate}",
        swap=f"{suite} -k swap --judge candidate --judge-baseline production",
    )
    return text.strip().split("\n")


def _pytest_root(folder: Path) -> Path | None:
    here, *above = (folder.resolve(), *folder.resolve().parents)
    if any(_holds_settings(here, name) for name in SETTINGS):
        return None
    return next((path for path in above if any(_holds_settings(path, name) for name in SETTINGS)), None)


def _holds_settings(folder: Path, name: str) -> bool:
    return (folder / name).is_file() and SETTINGS[name] in _text(folder / name)
