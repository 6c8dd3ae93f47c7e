"""Files of users as they lie on disk: pointers, links, pipes, devices, line ends; nothing hangs, nothing is paid."""

from __future__ import annotations

import contextlib
import csv
import gc
import io
import json
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.project import Project, Ran, suite
from support.server import Server, serving

from judgefixtures.cassettes.files import CassetteFile, atomic_write
from judgefixtures.cli.main import main
from judgefixtures.importers.imported_answers import read_imported
from judgefixtures.judges.judge import load_template
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"
ANNEX = "/annex/objects/SHA256E-s1234--4d7a214614ab2935c943f9e0ff69d22e.jsonl\n"
ROWS = [
    {"id": f"p{n}", "question": f"Why\n{n}?", "response_1": f"So.\nIt is {n}.", "response_2": f"No,\n\n{n}."}
    for n in range(3)
]


@pytest.fixture(autouse=True)
def deadline() -> Iterator[None]:
    """End a test that reads without end."""

    def stop(*_: object) -> None:
        raise TimeoutError("it is still reading")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve a judge that always prefers the first response, and keeps what it was asked."""
    said = json.dumps({"reason": "It is clear.", "selected_response": 1})
    with serving(by=lambda asked: asked.answered(said)) as made:
        yield made


def table_of(rows: list[dict[str, str]], end: str, separator: str = ",") -> bytes:
    """Return rows as a table in which every line ends alike, those within cells included."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().replace("\n", end).encode()


def project_of(pytester: pytest.Pytester, server: Server, dataset: str = "own.csv", more: str = "") -> Project:
    """Return a repository with a judge that the server answers for, and a dataset in a file."""
    project = Project(pytester, options=("-p", "no:cacheprovider", "--judge-force"))
    project.write("test_judge.py", suite("recency"))
    project.write(
        "pyproject.toml",
        "[tool.judgefixtures]\ncontrol = false\njudge = 'j'\ndataset = ['own']\n"
        f"[tool.judgefixtures.judges.j]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}/v1'\n"
        f"[tool.judgefixtures.datasets.own]\npath = '{dataset}'\n{more}",
    )
    (project.path / "own.csv").write_bytes(table_of(ROWS, "\n"))
    return project


def recorded(project: Project, server: Server, *options: str) -> int:
    """Record what lacks; return how many questions were asked."""
    before = len(server.asked)
    project.run("-k", "recency", "--judge-record", *(options or ("missing",)))
    return len(server.asked) - before


def replayed(project: Project, server: Server) -> Ran:
    """Replay; nothing may be asked."""
    before = len(server.asked)
    ran = project.run("-k", "recency", "--judge-report", "report")
    assert len(server.asked) == before
    return ran


def measured(ran: Ran) -> list[tuple[int, int]]:
    """Return of each contrast how many pairs were measured and how many could not be."""
    return [(row["n"], row["unanswered"]) if "unanswered" in row else (row["n"], 0) for row in ran.report["contrasts"]]


def cassettes_of(project: Project) -> list[Path]:
    """Return the recordings of conditions."""
    return sorted(file for file in project.cassettes.rglob("recency*.jsonl") if file.is_file())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the judge a key of no meaning."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")


# --- a file that only stands for another one ----------------------------------------------------------------


def pointer(text: str) -> Callable[[Path], None]:
    """Return what puts such a text in place of a file."""

    def put(file: Path) -> None:
        file.write_text(text)

    return put


def annexed(file: Path) -> None:
    """Put a locked file of git-annex, whose content is elsewhere, in place of a file."""
    file.unlink()
    file.symlink_to("../../../.git/annex/objects/Xx/Yy/SHA256E-s1/SHA256E-s1")


def dangling(file: Path) -> None:
    """Put a link that leads nowhere in place of a file."""
    file.unlink()
    file.symlink_to("nowhere.jsonl")


def link_as_text(file: Path) -> None:
    """Put the path of another file in place of a file, as git does without symbolic links."""
    file.rename(file.with_name(f"real-{file.name}"))
    file.write_text(f"../{file.parent.name}/real-{file.name}")


def tracked_by_dvc(file: Path) -> None:
    """Leave what DVC leaves of a file that was not pulled."""
    file.unlink()
    file.with_name(f"{file.name}.dvc").write_text("outs:\n- md5: 0\n")


STANDING = [
    pytest.param(pointer(LFS), "git lfs pull", id="lfs"),
    pytest.param(pointer(ANNEX), "git annex get", id="annex-pointer"),
    pytest.param(annexed, "git annex get", id="annex-link"),
    pytest.param(dangling, "nowhere.jsonl", id="dangling-link"),
    pytest.param(link_as_text, "core.symlinks", id="link-as-text"),
    pytest.param(tracked_by_dvc, "dvc pull", id="dvc"),
]


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["none", "missing", "all", "invalid"])
@pytest.mark.parametrize(("put", "advice"), STANDING)
def test_a_recording_that_stands_for_another_is_fetched_and_not_recorded_again(
    pytester: pytest.Pytester, server: Server, put: Callable[[Path], None], advice: str, mode: str
) -> None:
    """The message says how to fetch it, nothing is asked in any mode, the file stays, and the run does not pass."""
    project = project_of(pytester, server)
    assert recorded(project, server) == 6
    first, _ = cassettes_of(project)
    put(first)
    before = first.read_bytes() if first.exists() else None
    ran = project.run("-k", "recency", "--judge-record", mode)
    assert advice in ran.said
    assert "--judge-record all" not in ran.said
    assert len(server.asked) == 6
    assert ran.ret not in (0, 5)
    assert (first.read_bytes() if first.exists() else None) == before


@pytest.mark.whole
@pytest.mark.parametrize("name", ["pairs.jsonl", "own.csv", "own.jsonl", "own.parquet", "judge.txt", "system.txt"])
@pytest.mark.parametrize("text", [LFS, ANNEX], ids=["lfs", "annex"])
def test_any_other_file_that_is_a_pointer_is_told_as_one(
    pytester: pytest.Pytester, server: Server, name: str, text: str
) -> None:
    """Frozen pairs, datasets of each format, templates and system prompts: what to fetch, and nothing is asked."""
    is_dataset = name.startswith("own")
    project = project_of(pytester, server, name if is_dataset else "own.csv")
    if name == "pairs.jsonl":
        recorded(project, server)
        file = next(project.cassettes.rglob(name))
    else:
        file = project.path / name
        key = {"judge.txt": "template", "system.txt": "system_prompt"}.get(name)
        toml = project.path / "pyproject.toml"
        if key:
            toml.write_text(toml.read_text().replace("model = 'm'\n", f"model = 'm'\n{key} = './{name}'\n"))
    before = len(server.asked)
    file.write_text(text)
    ran = project.run("-k", "recency", "--judge-record", "missing", "--judge", "j")
    assert ("git lfs pull" if text is LFS else "git annex get") in ran.said
    assert len(server.asked) == before
    assert ran.ret not in (0, 5)
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["log.jsonl", "log.json", "log.csv", "log.parquet", "log.eval"])
def test_a_log_that_is_a_pointer_is_told_as_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`judgefixtures import` names the command that fetches the log."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(LFS)
    assert main(["import", name, "--judge", "j"]) == 2
    assert "git lfs pull" in capsys.readouterr().err


def test_a_folder_without_one_of_its_files_is_no_smaller_dataset(tmp_path: Path) -> None:
    """A file of a folder that is a link to nowhere is an error, as it would be alone."""
    rows = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "a.jsonl").write_text(rows)
    (tmp_path / "b.jsonl").symlink_to("../.git/annex/objects/x")
    with pytest.raises(JudgeFixturesError, match="git annex get"):
        load_pairs(Source("own", tmp_path), 0)


def test_a_report_that_is_a_pointer_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`report merge` and `report compare` name the command that fetches it."""
    (tmp_path / "results.jsonl").write_text(LFS)
    assert main(["report", "compare", str(tmp_path), str(tmp_path)]) == 2
    assert "git lfs pull" in capsys.readouterr().err


# --- only regular files are read ------------------------------------------------------------------------------


def zero(file: Path) -> None:
    """Put a link to a device without an end there."""
    file.symlink_to("/dev/zero")


def pipe(file: Path) -> None:
    """Put a pipe there that nobody writes to."""
    os.mkfifo(file)


def piped_link(file: Path) -> None:
    """Put a link to a pipe there."""
    os.mkfifo(file.with_name("pipe"))
    file.symlink_to("pipe")


def folder(file: Path) -> None:
    """Put a folder there."""
    file.mkdir()


ODD = [zero, pipe, piped_link, folder]


@pytest.mark.parametrize("put", ODD)
def test_what_is_no_regular_file_is_never_read(
    put: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cassettes, pairs, labels, logs, templates, reports, merges and configurations: an error, and at once."""
    monkeypatch.chdir(tmp_path)

    def odd(name: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        put(file)
        return file

    with pytest.raises(JudgeFixturesError, match="regular file"):
        CassetteFile(odd("one/x.jsonl"))
    with pytest.raises(JudgeFixturesError):
        read_imported(odd("two/answers.jsonl"))
    for suffix in ("json", "jsonl", "csv", "tsv", "parquet", "txt"):
        with pytest.raises(JudgeFixturesError):
            load_pairs(Source("own", odd(f"{suffix}/own.{suffix}")), 0)
    with pytest.raises(JudgeFixturesError):
        load_template(str(odd("three/judge.txt")))
    assert main(["import", str(odd("four/log.jsonl")), "--judge", "j"]) == 2
    assert main(["cassettes", "merge", str(odd("five/x.jsonl"))]) == (0 if put is folder else 2)
    odd("six/results.jsonl")
    assert main(["report", "merge", "six", "--into", "out"]) == 2
    assert main(["import", "x.jsonl", "--judge", "j", "--config", str(odd("seven/judges.toml"))]) == 2
    (tmp_path / "own.csv").write_text("id,question,response\n1,Why?,So.\n")
    odd("own.labels.anna.jsonl")
    with pytest.raises(JudgeFixturesError):
        load_pairs(Source("own", tmp_path / "own.csv", labels_from="beside"), 0)
    capsys.readouterr()


@pytest.mark.whole
@pytest.mark.parametrize("put", ODD)
def test_a_cassette_that_is_no_regular_file_is_an_error(
    pytester: pytest.Pytester, server: Server, put: Callable[[Path], None]
) -> None:
    """A run ends, names the file, asks nothing, and fails."""
    project = project_of(pytester, server)
    recorded(project, server)
    first, _ = cassettes_of(project)
    first.unlink()
    put(first)
    for mode in ("none", "missing", "all"):
        ran = project.run("-k", "recency", "--judge-record", mode)
        assert (first.name in ran.said, ran.ret in (0, 5)) == (True, False), mode
    assert len(server.asked) == 6


@pytest.mark.parametrize("put", [pipe, zero])
def test_nothing_is_written_into_a_pipe_or_a_device(put: Callable[[Path], None], tmp_path: Path) -> None:
    """A file that is written whole is neither written into what is none, nor put in its place."""
    put(tmp_path / "x.jsonl")
    with pytest.raises(JudgeFixturesError, match="cannot be written"):
        atomic_write(tmp_path / "x.jsonl", b"new")
    assert not (tmp_path / "x.jsonl").is_file()
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]


# --- written behind links ------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize("what", ["files", "dataset", "judge", "cassettes"])
@pytest.mark.parametrize("mode", ["all", "missing"])
def test_recordings_are_written_behind_their_links(
    pytester: pytest.Pytester, server: Server, what: str, mode: str
) -> None:
    """Files or folders of recordings that are links stay links, and what they lead to is what was recorded last."""
    project = project_of(pytester, server)
    recorded(project, server)
    store = project.path.parent / f"store-{project.path.name}"
    store.mkdir()
    places = {"cassettes": project.cassettes, "judge": project.cassettes / "j", "dataset": project.cassettes / "j/own"}
    linked = [places[what]] if what in places else sorted((project.cassettes / "j/own").iterdir())
    for each in linked:
        each.rename(store / each.name)
        each.symlink_to(store / each.name)
    if mode == "missing":
        with (project.path / "own.csv").open("a") as file:
            file.write("p9,Why?,So.,No.\n")
    assert recorded(project, server, mode) == (6 if mode == "all" else 2)
    assert all(each.is_symlink() for each in linked)
    assert not [each for each in store.rglob("*") if each.name.startswith(".")]
    for each in cassettes_of(project):
        rows = [json.loads(line) for line in each.resolve().read_text().splitlines()[1:]]
        assert len(rows) == (3 if mode == "all" else 4)
        assert store in each.resolve().parents
    replayed(project, server)


@pytest.mark.whole
def test_another_judges_recording_behind_a_link_is_set_aside_and_the_link_stays(
    pytester: pytest.Pytester, server: Server
) -> None:
    """What --judge-record all does not ask again is kept beside, and the new recording is behind the link."""
    project = project_of(pytester, server)
    recorded(project, server)
    store = project.path.parent / f"store-{project.path.name}"
    store.mkdir()
    for each in cassettes_of(project):
        each.rename(store / each.name)
        each.symlink_to(store / each.name)
    linked = cassettes_of(project)
    toml = project.path / "pyproject.toml"
    toml.write_text(toml.read_text().replace("model = 'm'", "model = 'm'\ntemperature = 0.5"))
    assert recorded(project, server, "all", "--judge-pairs", "2") == 4
    assert all(each.is_symlink() for each in linked)
    headers = [json.loads(each.resolve().read_text().splitlines()[0]) for each in linked]
    assert [header["judge"]["parameters"]["temperature"] for header in headers] == [0.5] * len(linked)


def test_merges_are_written_behind_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording that git could not merge is joined where it lies, in linked files and in linked folders."""
    monkeypatch.chdir(tmp_path)
    row = '{{"digest":"{0}","pair":"{1}","seen":"","json":{{}}}}\n'
    head = '{"judgefixtures":1,"dataset":"own","condition":"no-cue","judge":{"model":"m"}}\n'
    ours, theirs = row.format("0" * 32, "a"), row.format("1" * 32, "b")
    text = f"{head}<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n"
    store = tmp_path / "store"
    (store / "own").mkdir(parents=True)
    Path("cassettes/j").mkdir(parents=True)
    Path("cassettes/j/own").symlink_to(store / "own")
    (store / "own" / "no-cue.jsonl").write_text(text)
    Path("cassettes/j/other").mkdir()
    (store / "file.jsonl").write_text(text)
    Path("cassettes/j/other/no-cue.jsonl").symlink_to(store / "file.jsonl")
    assert main(["cassettes", "merge"]) == 0
    assert "<<<<" not in (store / "own" / "no-cue.jsonl").read_text() + (store / "file.jsonl").read_text()
    assert Path("cassettes/j/other/no-cue.jsonl").is_symlink()
    capsys.readouterr()


@pytest.mark.whole
def test_a_report_is_written_behind_its_links(pytester: pytest.Pytester, server: Server) -> None:
    """The files of a report that are links stay links, and lead to the newest report."""
    project = project_of(pytester, server)
    recorded(project, server)
    replayed(project, server)
    store = project.path.parent / f"published-{project.path.name}"
    store.mkdir()
    names = ("report.json", "report.md", "report.html", "results.jsonl")
    for name in names:
        (project.path / "report" / name).unlink()
        (store / name).write_text("old")
        (project.path / "report" / name).symlink_to(store / name)
    replayed(project, server)
    assert all((project.path / "report" / name).is_symlink() for name in names)
    assert [name for name in names if (store / name).read_text() == "old"] == []
    assert not list((project.path / "report").glob("*.before"))


# --- line ends that a checkout changes -------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_the_same_with_any_line_ends(separator: str, tmp_path: Path) -> None:
    """A table of which a checkout changed the line ends holds the same pairs, made ids and columns included."""
    suffix = "tsv" if separator == "\t" else "csv"
    rows = [{**row, "notes": "one\ntwo"} for row in ROWS]
    loaded = []
    for end in ("\n", "\r\n"):
        for hidden in ((), ("id",)):
            kept = [{name: text for name, text in row.items() if name not in hidden} for row in rows]
            file = tmp_path / f"own.{suffix}"
            file.write_bytes(table_of(kept, end, separator))
            pairs = load_pairs(Source("own", file), 0)
            loaded.append([(pair, pair.columns) for pair in pairs])
    assert loaded[:2] == loaded[2:]
    assert loaded[0][0][0].question.count("\n") == 1


@pytest.mark.whole
@pytest.mark.parametrize("ends", [("\n", "\r\n"), ("\r\n", "\n")], ids=["lf-to-crlf", "crlf-to-lf"])
@pytest.mark.parametrize("name", ["own.csv", "own.tsv"])
def test_a_checkout_with_other_line_ends_replays(
    pytester: pytest.Pytester, server: Server, name: str, ends: tuple[str, str]
) -> None:
    """Recordings made with either spelling replay with both: dataset, template and recordings themselves."""
    project = project_of(pytester, server, name)
    toml = project.path / "pyproject.toml"
    toml.write_text(toml.read_text().replace("model = 'm'\n", "model = 'm'\ntemplate = './judge.txt'\n"))
    template = "{question}\n{response_1}\n{response_2}\n{cue_1}\n{cue_2}\nselected_response, reason\n"
    separator = "\t" if name.endswith("tsv") else ","

    def check_out(end: str) -> None:
        (project.path / name).write_bytes(table_of(ROWS, end, separator))
        (project.path / "judge.txt").write_bytes(template.replace("\n", end).encode())
        for file in project.cassettes.rglob("*.jsonl"):
            file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end.encode()))

    check_out(ends[0])
    assert recorded(project, server) == 6
    first = measured(replayed(project, server))
    check_out(ends[1])
    assert measured(replayed(project, server)) == first
    assert recorded(project, server) == 0
    check_out(ends[0])
    assert measured(replayed(project, server)) == first


def as_before(project: Project, server: Server) -> None:
    """Record as the version before did with a table of a Windows checkout: its cells had both characters."""
    rows = [{name: text.replace("\n", "\r\n") for name, text in row.items()} for row in ROWS]
    project.write("own.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    toml = project.path / "pyproject.toml"
    text = toml.read_text()
    toml.write_text(text.replace("own.csv", "own.jsonl"))
    assert recorded(project, server) == 6
    toml.write_text(text)


@pytest.mark.whole
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("gold", [False, True])
def test_a_recording_of_an_earlier_version_with_two_characters_per_line_end_replays(
    pytester: pytest.Pytester, server: Server, monkeypatch: pytest.MonkeyPatch, end: str, gold: bool
) -> None:
    """What was recorded when cells had carriage returns answers today, in positions drawn for gold, too."""
    if gold:
        monkeypatch.setitem(globals(), "ROWS", [{**row, "gold": "1"} for row in ROWS])
    project = project_of(pytester, server)
    as_before(project, server) if not gold else _as_before_with_gold(project, server)
    (project.path / "own.csv").write_bytes(table_of(ROWS, end))
    assert {n for n, _ in measured(replayed(project, server))} == {3}
    assert recorded(project, server) == 0
    replayed(project, server)


def _as_before_with_gold(project: Project, server: Server) -> None:
    as_before_rows = [
        {name: int(text) if name == "gold" else text.replace("\n", "\r\n") for name, text in row.items()}
        for row in ROWS
    ]
    project.write("own.jsonl", "".join(json.dumps(row) + "\n" for row in as_before_rows))
    toml = project.path / "pyproject.toml"
    text = toml.read_text()
    toml.write_text(text.replace("own.csv", "own.jsonl"))
    assert recorded(project, server) == 6
    toml.write_text(text)


@pytest.mark.parametrize("made", ["\n", "\r\n"])
@pytest.mark.parametrize("read", ["\n", "\r\n"])
def test_labels_stay_good_with_either_line_end(made: str, read: str, tmp_path: Path) -> None:
    """A label says of which text it is; a checkout that changes line ends makes it none of another text."""
    rows = [{"id": "1", "question": "Why?\nHow?", "response": "So.\nThus."}]
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({name: text.replace("\n", made) for name, text in rows[0].items()}) + "\n")
    (example,) = load_pairs(Source("own", own), 0)
    line = {"id": "1", "digest": example.digest, "label": "pass", "comment": "", "on": ""}
    (tmp_path / "table.labels.anna.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "table.csv").write_bytes(table_of(rows, read))
    (labelled,) = load_pairs(Source("own", tmp_path / "table.csv", labels_from="beside"), 0)
    assert labelled.labels == {"anna": "pass"}


@pytest.mark.whole
def test_a_report_that_a_checkout_changed_is_whole(
    pytester: pytest.Pytester, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digests in a report are of its text, whichever line ends a checkout gave it."""
    project = project_of(pytester, server)
    recorded(project, server)
    report = replayed(project, server).folder
    for file in report.glob("*.jsonl"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    capsys.readouterr()
    assert main(["report", "compare", str(report), str(report)]) in (0, 1)
    assert "was changed" not in capsys.readouterr().err


# --- files are closed --------------------------------------------------------------------------------------------


def open_files(root: Path) -> list[str]:
    """Return the files below a folder that this process has open."""
    found = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found += [str(each.readlink())] if str(each.readlink()).startswith(str(root)) else []
    return found


GOOD = json.dumps(ROWS[0]) + "\n"
MISTAKES = [
    ("own.jsonl", GOOD + "{\n" + GOOD),
    ("own.jsonl", GOOD + '{"id": "x"}\n' + GOOD),
    ("own.jsonl", GOOD + GOOD),
    ("own.jsonl", GOOD + "\0\n"),
    ("own.jsonl", GOOD + "\udcff\n"),
    ("own.json", '[{"id": "x"}, 1]'),
    ("own.csv", "id,question,response_1,response_2\n1,a,b,c\n2,a\n3,a,b,c\n"),
    ("own.csv", 'id,question,response_1,response_2\n1,a,b,"c\n'),
    ("own.csv", "id,id\n1,2\n"),
    ("own.tsv", "sep=;\nid;question;response_1;response_2\n1;;b;c\n2;a;b;c\n"),
    ("answers.jsonl", '{"judgefixtures_imported": 1}\n{}\n'),
    ("own.labels.anna.jsonl", '{"id": 1}\n{}\n{}\n'),
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("as_log", [False, True], ids=["dataset", "log"])
@pytest.mark.parametrize(("name", "text"), MISTAKES)
def test_a_file_is_closed_when_reading_ends_by_an_error(
    name: str, text: str, as_log: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the error is still held, with its traceback, and no garbage was collected, the file is closed already."""
    file = tmp_path / name
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if as_log:
                main(["import", str(file), "--judge", "j", "--into", str(tmp_path / "into")])
            elif name == "answers.jsonl":
                with pytest.raises(JudgeFixturesError) as held:
                    read_imported(file)
            else:
                data, beside = file, None
                if ".labels." in name:
                    data, beside = tmp_path / "own.csv", "beside"
                    data.write_text("id,question,response\n1,Why?,So.\n")
                with pytest.raises(JudgeFixturesError) as held:
                    load_pairs(Source("own", data, labels_from=beside), 0)
            assert open_files(tmp_path) == []
            assert isinstance(locals().get("held", types.SimpleNamespace()), object)
    finally:
        gc.enable()
    capsys.readouterr()
