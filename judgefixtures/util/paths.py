"""Paths of user files: open regular files only, follow links, and write where a link leads."""

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
    """Open a regular file to read its bytes.

    Raises:
        FileNotFoundError: There is nothing at this path.
        OSError: The path leads to a directory, a pipe or a device, the file only stands for another one or cannot be
            opened, or no file can have such a path.
    """
    try:
        _check_mode(path, path.stat().st_mode)
        file = path.open("rb")
    except FileNotFoundError:
        _check_absent(path)
        raise
    except ValueError:  # a NUL, or half of a surrogate pair
        raise _refusal(path, "no file can have such a path") from None
    if why := _stands_for(path, file.peek(LONGEST_PATH)[:LONGEST_PATH]):
        file.close()
        raise _refusal(path, why)
    return file


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file; raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path, errors: str = "strict") -> str:
    r"""Return the text of a regular file in UTF-8, with `\n` for any line end; raises OSError or UnicodeDecodeError."""
    with open_regular(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors=errors) as text:
        return text.read()


def linked(path: Path) -> Path:
    """Return the path of the file that a link leads to, whether or not it is there; of another path itself."""
    return Path(os.path.realpath(path))


def check_writable(path: Path) -> None:
    """Raise OSError where a directory, a pipe or a device is in the place of a file that is to be written."""
    if path.exists():
        _check_mode(path, path.stat().st_mode)


def move(path: Path, to: Path) -> None:
    """Move the content of a file to another name; where either is a link, the link itself stays."""
    check_writable(to)
    shutil.move(linked(path), linked(to))


def _refusal(path: Path, why: str) -> OSError:
    return OSError(errno.EINVAL, why, str(path))


def _check_mode(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise _refusal(path, f"it is {kind}, and only regular files are used: name a file, or put one there")


def _stands_for(path: Path, start: bytes) -> str:
    """Return how to fetch the file that a file which begins so stands for; empty for a file of its own."""
    if what := next((what for what, beginning in POINTERS.items() if beginning.match(start)), ""):
        return f"it is {what}"
    is_path = len(start) < LONGEST_PATH and b"/" in start and not {*start} & {*b"\n\0"}
    is_link = is_path and (path.parent / os.fsdecode(start)).is_file()
    return "it holds a link's target: check it out again with git config core.symlinks true" if is_link else ""


def _check_absent(path: Path) -> None:
    """Raise OSError where something says that there is a file, though it is not here."""
    if path.is_symlink():
        target = str(path.readlink())
        fetch = "fetch it with `git annex get`" if "/annex/objects/" in target else "restore it"
        raise _refusal(path, f"it is a link to {target}, which is not there: {fetch}")
    missing = itertools.takewhile(lambda each: not each.exists(), (path, *path.parents))
    if any(Path(f"{each}.dvc").is_file() for each in missing):
        raise _refusal(path, "DVC tracks it, and it is not there: fetch it with `dvc pull`")
