"""Storage of a person's labels: locked by one process, appended and synced line by line."""

import contextlib
import datetime
import errno
import fcntl
import json
import os
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from judgefixtures.cassettes.files import append_whole_line
from judgefixtures.models.pairs import Example, Label, digests_of, id_key
from judgefixtures.sources import Source
from judgefixtures.sources.label_files import PersonLabel, read_labels
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import read_bytes
from judgefixtures.util.texts import make_encodable

from .messages import MESSAGES

SHOWN = 60  # characters of what is taken out, in a message


class PersonLabels:
    """One person's labels and locked file, as a context manager.

    `mended` has messages on repairs.
    """

    def __init__(self, file: Path, source: Source, examples: Iterable[Example]) -> None:
        """Lock the file, or raise JudgeFixturesError if used or damaged."""
        self.file, self.source, self.mended = file, source, list[str]()
        self._lock = threading.Lock()
        self._descriptor = _held(file)
        try:
            self._mend()
            lines = read_labels(file, source)
        except BaseException:
            os.close(self._descriptor)
            raise
        self._size = os.fstat(self._descriptor).st_size
        self._last = {id_key(given.id): given for given in lines}
        self._digests = {id_key(example.id): digests_of(example) for example in examples}
        for given in self._last.values():
            if id_key(given.id) not in self._digests:
                self.mended.append(MESSAGES.no_such_example(given))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the file; an empty one is removed."""
        with self._lock:
            if not self._size and self._is_ours():
                with contextlib.suppress(OSError):
                    self.file.unlink()
            os.close(self._descriptor)
            self._descriptor = -1

    def of(self, example: Example) -> PersonLabel | None:
        """Return an example's last label, even of another text, or None."""
        return self._last.get(id_key(example.id))

    def has(self, example: Example) -> bool:
        """Return whether the current example is labelled or skipped."""
        given = self.of(example)
        return given is not None and given.digest in self._digests[id_key(example.id)]

    def counted(self, examples: Iterable[Example]) -> Counter[Label | None]:
        """Return the numbers of passes, fails and (None) skips."""
        return Counter(self._last[id_key(example.id)].label for example in examples if self.has(example))

    def give(self, example: Example, label: Label | None, comment: str) -> None:
        """Write a label (None: skipped), or raise JudgeFixturesError."""
        on = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        given = PersonLabel(example.id, self._digests[id_key(example.id)][0], label, make_encodable(comment), on=on)
        row = {"id": given.id, "digest": given.digest, "label": label, "comment": given.comment, "on": on}
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            self._check_ours()
            try:
                append_whole_line(self._descriptor, line)
                os.fsync(self._descriptor)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._size)
                raise JudgeFixturesError(f"not saved: cannot write {self.file}: {error.strerror}.") from None
            self._size += len(line)
            self._last[id_key(example.id)] = given

    def _check_ours(self) -> None:
        if self._descriptor < 0:
            raise JudgeFixturesError("not saved: the page has stopped. Start it again.")
        if not self._is_ours():
            raise JudgeFixturesError(MESSAGES.not_saved(self.file))

    def _is_ours(self) -> bool:
        try:
            there = self.file.stat()
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._descriptor), there) and there.st_size == self._size

    def _mend(self) -> None:
        """Remove a torn last line, or add its missing end."""
        content = read_bytes(self.file)
        whole = content.rfind(b"\n") + 1
        torn = content[whole:]
        if not torn:
            return
        place = f"{self.file}:{content.count(bytes([10])) + 1}"
        if _is_object(torn):
            append_whole_line(self._descriptor, b"\n")
            self.mended.append(f"{place}: added the missing line end.")
        else:
            os.ftruncate(self._descriptor, whole)
            text = torn.decode("utf-8", "replace")
            text = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
            self.mended.append(MESSAGES.line_cut_off(place, text))
        os.fsync(self._descriptor)


def _held(file: Path) -> int:
    """Return the open, locked file, or raise JudgeFixturesError."""
    fresh = not file.exists()
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise JudgeFixturesError(f"cannot open the labels {file}: {why}.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if fresh:
            _sync_folder(file.parent)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise JudgeFixturesError(MESSAGES.file_in_use(file)) from None
        raise JudgeFixturesError(f"cannot lock the labels {file}: {error.strerror}.") from None
    if os.fstat(descriptor).st_nlink:
        return descriptor
    os.close(descriptor)  # somebody who labelled nothing took the file away when they left, between the two steps
    return _held(file)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
