"""Packed logs of Inspect (`.eval`): an archive with one member per sample.

Archives are untrusted: sizes are counted while reading, and nothing is written to disk.
"""

import bz2
import contextlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.sources.size_limits import What, check_json, limit, remedy
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import open_regular
from judgefixtures.util.texts import make_one_line

from ..messages import MESSAGES

LARGEST = 128 * 1024**2  # bytes of one member, unpacked
WHOLE = 1024**3  # bytes of all of them
PIECE = 1024**2
ZSTANDARD = 93  # the method of compression that today's Inspect uses, and zipfile knows from Python 3.14 on
ENCRYPTED = 0x1
LOCAL_HEAD = struct.Struct("<4s22xHH")  # of a member: its mark, and how long its name and its extra field are

HEADERS = ("header.json", "_journal/start.json")  # the second one is all that a run has until it ends
SAMPLE = re.compile(r"samples/.+_epoch_[0-9]+\.json", re.DOTALL)
IN_CHUNKS = re.compile(r"samples/.+_epoch_[0-9]+/.+", re.DOTALL)
# A transcript may be a thousand times as long as what was judged.
DROPPED = ("events", "events_data", "messages", "store", "attachments", "timelines", "model_usage", "role_usage")
AS_JSON = "write it as JSON (inspect log convert --to json --output-dir logs-json"

BROKEN = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error)


@dataclass(frozen=True, slots=True)
class InspectArchive:
    """A packed log: header, samples and names of replaced members."""

    header: Mapping[str, Any]
    samples: tuple[DataRow, ...]
    replaced: tuple[str, ...] = ()


def without_transcript(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample without its transcript.

    >>> without_transcript({"id": 1, "events": [{}], "messages": []})
    {'id': 1}
    """
    return {name: value for name, value in sample.items() if name not in DROPPED}


def read_archive(file: Path) -> InspectArchive:
    """Return a packed log, or raise JudgeFixturesError."""
    try:
        with open_regular(file) as raw, zipfile.ZipFile(raw) as archive:
            return _Members(file, raw, archive).read()
    except BROKEN as error:
        raise JudgeFixturesError(MESSAGES.inspect_archive_unreadable(file, _gist(error), AS_JSON)) from None


class _Members:
    def __init__(self, file: Path, raw: IO[bytes], archive: zipfile.ZipFile) -> None:
        self._file, self._raw, self._archive = file, raw, archive
        self._left = self._most = limit("file", WHOLE)

    def read(self) -> InspectArchive:
        """Return header and samples; the last of duplicate members counts."""
        listed = self._archive.infolist()
        for info in listed:
            self._check(info)
        last = {info.filename: info for info in listed}
        header = next((name for name in HEADERS if name in last), None)
        if header is None:
            raise JudgeFixturesError(f"{self._file} is not an Inspect log: it has no member {HEADERS[0]}.")
        names = [name for name in last if SAMPLE.fullmatch(name)]
        if not names:
            raise JudgeFixturesError(MESSAGES.inspect_archive_without_samples(self._file))
        rows = [
            DataRow(without_transcript(self._document(last[name])), f"{self._file}: {_quoted(name)}", _quoted(name))
            for name in names
        ]
        document = {"status": "started", **self._document(last[header])}
        replaced = (info.filename for info in listed if info is not last[info.filename])
        return InspectArchive(document, tuple(rows), tuple(filter(SAMPLE.fullmatch, replaced)))

    def _check(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
            raise self._mistake(name, "its path leaves the log, so Inspect did not write it")
        if info.flag_bits & ENCRYPTED:
            raise self._mistake(name, "it is encrypted; import the original log")
        if name.startswith("samples/") and not name.endswith("/") and not SAMPLE.fullmatch(name):
            if IN_CHUNKS.fullmatch(name):
                raise self._mistake(name, "the sample was split into chunks; import the original log")
            raise self._mistake(name, f"its name is not samples/ID_epoch_N.json; {AS_JSON}), and import that")

    def _document(self, info: zipfile.ZipInfo) -> dict[str, Any]:
        try:
            document = json.loads(self._content(info))
        except RecursionError:
            raise self._mistake(info.filename, "it is nested too deeply") from None
        except BROKEN as error:
            raise self._mistake(info.filename, f"it cannot be read ({_gist(error)})") from None
        if not isinstance(document, dict):
            raise self._mistake(info.filename, f"it must hold an object, got a JSON {type(document).__name__}")
        return document

    def _content(self, info: zipfile.ZipInfo) -> bytearray:
        """Return a member's content; the declared size is not trusted."""
        content = bytearray()
        with self._opened(info) as stream:
            while piece := stream.read(PIECE):
                content += piece
                self._left -= len(piece)
                what: What = "row" if self._left >= 0 else "file"
                if len(content) > (most := limit("row", LARGEST)) or self._left < 0:
                    size, of = (most, "") if self._left >= 0 else (self._most, " with earlier members")
                    raise self._mistake(
                        info.filename,
                        f"unpacked, it takes{of} more than {size // 1024**2} MB, like a zip bomb. {remedy(what, size)}",
                    )
        if zlib.crc32(content) != info.CRC:
            raise ValueError("its content is damaged")
        check_json(content, f"{self._file}: {_quoted(info.filename)}", "row", LARGEST)
        return content

    @contextlib.contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[Any]:
        if info.compress_type == zipfile.ZIP_LZMA:
            raise ValueError("it uses LZMA compression, which is not supported")
        if info.compress_type not in (ZSTANDARD, zipfile.ZIP_BZIP2):
            with self._archive.open(info) as stream:
                yield stream
            return
        import pyarrow  # comes with `datasets`, and reads what zipfile cannot

        if info.compress_size > LARGEST:
            raise ValueError("it is too large")
        self._raw.seek(info.header_offset)
        mark, name, extra = LOCAL_HEAD.unpack(self._raw.read(LOCAL_HEAD.size))
        if mark != b"PK\x03\x04":
            raise ValueError("the archive has a wrong offset for it")
        self._raw.seek(name + extra, 1)
        packed = self._raw.read(info.compress_size)
        if info.compress_type == zipfile.ZIP_BZIP2:  # zipfile unpacks what it has read all at once
            with bz2.open(io.BytesIO(packed)) as unpacking:
                yield unpacking
            return
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
            yield stream

    def _mistake(self, name: str, why: str) -> JudgeFixturesError:
        return JudgeFixturesError(f"{self._file}: {_quoted(name)}: {why}. Nothing was written.")


def _quoted(name: str) -> str:
    return make_one_line(name)[:80]


def _gist(error: BaseException) -> str:
    return make_one_line(str(error))[:80] or type(error).__name__
