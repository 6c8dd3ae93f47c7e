"""Paths of user files: regular files only, links followed."""

import errno
import io
import itertools
import os
import re
import shutil
import stat
from pathlib import Path

# How a file begins that only stands for another one, by how that one is fetched.
POINTERS = {
    "a Git LFS pointer: fetch the file with `git lfs pull`": re.compile(rb"version https://(git-lfs|hawser)\.github"),
    "a git-annex pointer: fetch the file with `git annex get`": re.compile(rb"[./]*(\.git)?/annex/objects/"),
}
LONGEST_PATH = 256  # bytes of a path that a checkout wrote in place of a link


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file to read its bytes; raises OSError otherwise."""
    try:
        _check_mode(path, path.stat().st_mode)
        file = path.open("rb")
    except FileNotFoundError:
        _check_absent(path)
        raise
    except ValueError:  # a NUL, or half of a surrogate pair
        raise _refusal(path, "this path is not valid") from None
    if why := _stands_for(path, file.peek(LONGEST_PATH)[:LONGEST_PATH]):
        file.close()
        raise _refusal(path, why)
    return file


def read_bytes(path: Path) -> bytes:
    """Return a regular file's content; raises OSError."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path, errors: str = "strict") -> str:
    """Return a regular file's UTF-8 text; raises OSError or UnicodeDecodeError."""
    with open_regular(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors=errors) as text:
        return text.read()


def linked(path: Path) -> Path:
    """Return the target of a link, or the path itself."""
    return Path(os.path.realpath(path))


def check_writable(path: Path) -> None:
    """Raise OSError for a directory, pipe or device."""
    if path.exists():
        _check_mode(path, path.stat().st_mode)


def move(path: Path, to: Path) -> None:
    """Move a file's content; links themselves stay."""
    check_writable(to)
    shutil.move(linked(path), linked(to))


def _refusal(path: Path, why: str) -> OSError:
    return OSError(errno.EINVAL, why, str(path))


def _check_mode(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise _refusal(path, f"it is {kind}: use a regular file")


def _stands_for(path: Path, start: bytes) -> str:
    if what := next((what for what, beginning in POINTERS.items() if beginning.match(start)), ""):
        return f"it is {what}"
    is_path = len(start) < LONGEST_PATH and b"/" in start and not {*start} & {*b"\n\0"}
    is_link = is_path and (path.parent / os.fsdecode(start)).is_file()
    return "it holds the path of a link: check it out again with git config core.symlinks true" if is_link else ""


def _check_absent(path: Path) -> None:
    if path.is_symlink():
        target = str(path.readlink())
        fetch = "fetch it with `git annex get`" if "/annex/objects/" in target else "restore it"
        raise _refusal(path, f"it is a link to {target}, which does not exist: {fetch}")
    missing = itertools.takewhile(lambda each: not each.exists(), (path, *path.parents))
    if any(Path(f"{each}.dvc").is_file() for each in missing):
        raise _refusal(path, "DVC tracks it, but it is missing: fetch it with `dvc pull`")
