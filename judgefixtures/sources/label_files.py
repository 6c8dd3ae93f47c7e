"""Label files beside a dataset: STEM.labels.NAME.jsonl per person; the last line per id counts."""

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgefixtures.models.pairs import LABELS, Example, Label, digests_of, id_key, id_text
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import read_bytes
from judgefixtures.util.shell import quoted

from .messages import MESSAGES
from .row_readers import DataRow, json_lines
from .source import Source

BESIDE = "beside"  # what `labels_from` says
RATER = re.compile(r"[^\W_][\w.-]{0,39}")


@dataclass(frozen=True, slots=True)
class PersonLabel:
    """A person's label of an example (None: skipped), with its text digest."""

    id: str
    digest: str
    label: Label | None
    comment: str = ""
    where: str = ""  # file and line, for messages
    on: str = ""


def labels_path(path: Path, rater: str) -> Path:
    """Return a person's label file, or raise JudgeFixturesError for invalid names.

    >>> labels_path(Path("data/answers.jsonl"), "anna").as_posix()
    'data/answers.labels.anna.jsonl'
    """
    return path.with_name(f"{_beginning(path)}{check_rater_name(rater)}.jsonl")


def check_rater_name(name: str) -> str:
    """Return a person's name, or raise JudgeFixturesError."""
    name = unicodedata.normalize("NFC", name)
    if not RATER.fullmatch(name):
        raise JudgeFixturesError(MESSAGES.not_a_label_name(name[:60]))
    return name


def rater_key(name: str) -> str:
    """Return a name's key, which ignores case.

    >>> rater_key("Anna") == rater_key("anna")
    True
    """
    return unicodedata.normalize("NFC", name).casefold()


def find_labels_files(path: Path) -> dict[str, Path]:
    """Return the label files by person, or raise JudgeFixturesError."""
    files: dict[str, Path] = {}
    for file in sorted(each for each in path.parent.glob("*.jsonl") if each.name.startswith(_beginning(path))):
        try:
            rater = check_rater_name(_rater_of(file, path))
        except JudgeFixturesError as error:
            raise JudgeFixturesError(f"{file}: {error} Rename or move the file.") from None
        for name, other in files.items():
            if rater_key(name) == rater_key(rater):
                raise JudgeFixturesError(MESSAGES.labels_in_two_files(file, rater, other))
        files[rater] = file
    return files


def read_labels(file: Path, source: Source) -> tuple[PersonLabel, ...]:
    """Return a label file's lines, or raise JudgeFixturesError naming the line."""
    try:
        with contextlib.closing(json_lines(file, source)) as rows:
            return tuple(map(_given, rows))
    except JudgeFixturesError as error:
        if file.is_file() and not read_bytes(file).endswith(b"\n"):
            rater = _rater_of(file, source.file)
            raise JudgeFixturesError(MESSAGES.cut_off_label_line(error, label_command(source, rater))) from None
        raise


def label_command(source: Source, rater: str) -> str:
    """Return the command to label a dataset."""
    what = source.name if source.heading or source.path is None else str(source.path)
    return f"judgefixtures label {quoted(what)} --by {quoted(rater)}"


class LabelFiles:
    """The labels beside a dataset."""

    def __init__(self, source: Source) -> None:
        assert source.path is not None
        self._source = source
        self._by_rater: dict[str, dict[str, PersonLabel]] = {}
        for rater, file in find_labels_files(source.path).items():
            self._by_rater[rater] = {id_key(given.id): given for given in read_labels(file, source)}
        if not self._by_rater:
            raise source.mistake(
                MESSAGES.no_label_file(
                    BESIDE, labels_path(source.path, "NAME").name, source, label_command(source, "NAME")
                )
            )

    def of(self, example: Example) -> dict[str, PersonLabel]:
        """Return people's labels of an example.

        Raises:
            JudgeFixturesError: Somebody labelled another text.
        """
        labels: dict[str, PersonLabel] = {}
        for rater, given in ((rater, lines.get(id_key(example.id))) for rater, lines in self._by_rater.items()):
            if given is None or given.label is None:
                continue
            if given.digest not in digests_of(example):
                raise JudgeFixturesError(
                    MESSAGES.labelled_another_text(given, rater, example, label_command(self._source, rater))
                )
            labels[rater] = given
        return labels

    def check_used(self, names: Iterable[str]) -> None:
        """Raise JudgeFixturesError for labels of other examples than these."""
        known = frozenset(map(id_key, names))
        for lines in self._by_rater.values():
            for given in lines.values():
                if id_key(given.id) not in known:
                    raise JudgeFixturesError(MESSAGES.labelled_no_example(given, self._source.path))


def join_labels(labels: Mapping[str, Label], beside: Mapping[str, PersonLabel], row: DataRow) -> dict[str, Label]:
    """Return labels of a row and files; JudgeFixturesError if one has both."""
    own = {rater_key(rater): rater for rater in labels}
    for rater, given in beside.items():
        if rater_key(rater) in own:
            raise row.mistake(MESSAGES.labelled_twice(own[rater_key(rater)], given))
    return {**labels, **{rater: given.label for rater, given in beside.items() if given.label is not None}}


def _beginning(path: Path) -> str:
    return f"{path.name if path.is_dir() else path.stem}.labels."


def _rater_of(file: Path, path: Path) -> str:
    return file.name[len(_beginning(path)) : -len(".jsonl")]


def _given(row: DataRow) -> PersonLabel:
    fields = {**row.fields, "id": id_text(row.fields.get("id"))}
    for name in ("id", "digest", "comment", "on"):
        if not isinstance(value := fields.get(name, "" if name in ("comment", "on") else None), str):
            raise row.mistake(f"{name!r} must be a text, got {value!r}: {_ACCEPTED}")
    label: Any = fields.get("label", "")
    if label is not None and label not in LABELS:
        raise row.mistake(f'\'label\' must be "pass", "fail" or (skipped) null, got {label!r}: {_ACCEPTED}')
    where = row.where.partition(": ")[2]
    return PersonLabel(fields["id"], fields["digest"], label, fields.get("comment", ""), where, fields.get("on", ""))


_ACCEPTED = "a line needs id, digest, label, comment and on, as the labelling page writes it. Remove the line."
