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
    """Hold a lock on a path across processes.

    The lock file is beside the path, or in the temporary folder if unwritable.
    """
    folder = path.parent.resolve()
    lock = folder / f".{path.name}{LOCK}"
    if lock.is_symlink():
        raise CassetteError(f"{lock} is a link, not a lock. Delete it.")
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    # Only whoever takes the lock makes its file: where files cannot be locked, that it is there is the lock.
    if not (os.access(folder, os.W_OK) or os.access(lock, os.W_OK)):
        lock = temporary_file(str(folder / path.name), "lock")
    return _locked(lock)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock; its file is removed while held, so waiters must recheck it."""
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
    descriptor = lock._context.lock_file_fd  # there is no other way to the file that is open
    try:
        return descriptor is None or os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def temporary_file(name: str, kind: str) -> Path:
    """Return a file outside the project for this machine's notes."""
    folder = Path(tempfile.gettempdir()) / f"judgefixtures-{os.getuid() if hasattr(os, 'getuid') else 'locks'}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CassetteError(
            f"the folder of locks {folder} cannot be created: {error.strerror}. Remove the obstacle, or set TMPDIR."
        ) from None
    return folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.{kind}"
