"""File locks between processes, and notes that are valid for this machine and moment only."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .files import CassetteError
from .messages import MESSAGES

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL = 0.05  # seconds between two attempts to take a lock
# How a lock's file ends, which a kill leaves: as that of a write that was killed, which .gitignore has from the start.
LOCK = ".lock.draft"


def file_lock(path: Path) -> contextlib.AbstractContextManager[None]:
    """Hold what a path names, over processes: another one that wants it waits.

    The lock lies beside what it guards, for whoever sees the one sees the other: another user, another TMPDIR, another
    container. Where no file can be made there nothing new can be recorded, and it lies in the temporary folder.
    """
    folder = path.parent.resolve()
    lock = folder / f".{path.name}{LOCK}"
    if lock.is_symlink():
        raise CassetteError(f"{lock} is a link and no lock: delete it.")
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    # Only whoever takes the lock makes its file: where files cannot be locked, that it is there is the lock.
    if not (os.access(folder, os.W_OK) or os.access(lock, os.W_OK)):
        lock = temporary_file(str(folder / path.name), "lock")
    return _locked(lock)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock over processes; its file is removed afterwards, while it is held.

    Whoever waits must not take a lock whose file was removed meanwhile, while the next one makes a new file.
    """
    from filelock import FileLock

    while True:
        lock = FileLock(path, mode=0o666)
        try:
            lock.acquire(blocking=False)
        except TimeoutError:
            pass  # another holds it
        except OSError as error:
            raise CassetteError(MESSAGES.no_lock(path, error)) from None
        if lock.is_locked and _is_named(lock, path):
            break
        lock.release()
        time.sleep(POLL)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no file that is open
            path.unlink()
        lock.release()


def _is_named(lock: BaseFileLock, path: Path) -> bool:
    """Tell whether a file that was locked bears its name still."""
    descriptor = lock._context.lock_file_fd  # there is no other way to the file that is open
    try:
        return descriptor is None or os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def temporary_file(name: str, kind: str) -> Path:
    """Return a file outside of the project for what only this machine and moment care about."""
    folder = Path(tempfile.gettempdir()) / f"judgefixtures-{os.getuid() if hasattr(os, 'getuid') else 'locks'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CassetteError(
            f"the folder of locks {folder} cannot be made: {error.strerror}. Remove what is in the way, or set TMPDIR."
        ) from None
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.{kind}"
