"""The pages of the documentation: their blocks of code, the commands in these, and runs of them as a reader makes them.

A block `console` is a dialogue in a clone of this repository, with a `$` before each command; a block `sh` holds
commands for the reader's own repository, or a script of theirs, which begins with `#!`. A command that fails says so
in its comment: `# exit code 1`.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
EXAMPLE = REPOSITORY / "examples" / "support-judge"
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+#(?= ).*$")
# What is not in a clone, wherever it lies, and what is made in the root of one.
MADE_ANYWHERE = ("__pycache__", ".*_cache", ".hypothesis", "*.egg-info")
MADE_AT_THE_ROOT = {".git", ".venv", ".venv-llama", "report", "wheels", "dist", "build"}


@dataclass(frozen=True)
class Command:
    """A command of a page, and the exit code that its comment promises."""

    line: str
    code: int = 0

    @property
    def bare(self) -> str:
        """The command without its comment."""
        return COMMENT.sub("", self.line)


@dataclass(frozen=True)
class Block:
    """A block of code: where it stands, its language and its text. `output` is the block of text right behind it."""

    page: str
    number: int
    language: str
    text: str
    output: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"

    @property
    def commands(self) -> list[Command]:
        """The commands, in their order; a script is one."""
        if self.text.startswith("#!"):
            return [Command(self.text)]
        lines = self.text.splitlines()
        if self.language == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [Command(line, _code(line)) for line in lines if line.strip()]


def _code(line: str) -> int:
    promised = re.search(r"# .*exit code (\d)", line)
    return int(promised[1]) if promised else 0


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; what a command prints is with its command."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(REPOSITORY).as_posix() if page.is_relative_to(REPOSITORY) else page.name
    found = list(BLOCK.finditer(text))
    outputs = [""] * len(found)
    for place, (one, other) in enumerate(itertools.pairwise(found)):
        if one[2] == "console" and other[2] == "text" and not text[one.end() : other.start()].strip():
            outputs[place] = other[3]
    return [
        Block(name, text.count("\n", 0, block.start()) + 1, block[2], block[3], output)
        for block, output in zip(found, outputs, strict=True)
    ]


def of_language(pages: Iterable[Path], *languages: str) -> list[Block]:
    """Return the blocks of these languages."""
    return [block for page in pages for block in blocks(page) if block.language in languages]


def clone(folder: Path, root: Path = REPOSITORY) -> Path:
    """Return a copy of this repository, or of the example in it, without what is not in a clone."""
    anywhere = shutil.ignore_patterns(*MADE_ANYWHERE)

    def left_behind(inside: str, names: list[str]) -> set[str]:
        at_a_root = MADE_AT_THE_ROOT if Path(inside) in (root, EXAMPLE) else set()
        return anywhere(inside, names) | at_a_root

    shutil.copytree(root, folder, ignore=left_behind)
    return folder


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell as a reader does: with this Python's programs, and with no key but those given."""
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=_environment(variables), capture_output=True, text=True, check=False
    )


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST") and not name.endswith("API_KEY")
    }
    kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, **variables}


def assert_done(command: Command, done: subprocess.CompletedProcess[str]) -> None:
    """Assert that a command ended as its page says, and that it ended in words."""
    assert done.returncode == command.code, f"{command.line}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr
