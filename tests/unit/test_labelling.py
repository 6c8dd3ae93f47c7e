"""The labelling page: what it tells, what it keeps, and whom it lets in."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from support.labels import Client, data_file, examples, started
from support.project import in_pyproject, read_rows
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.labeling import LabelingRequest, end_message, open_labeling_server, start_message
from judgefixtures.labeling.server import LabelingServer
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics.agreement import AgreementLimits, labels_for_power
from judgefixtures.util.errors import JudgeFixturesError


@contextmanager
def serving(data: Path, by: str = "anna", **more: Any) -> Iterator[tuple[Client, LabelingServer]]:
    """Serve the page of a file in a thread."""
    with open_labeling_server(LabelingRequest(str(data), by, **more)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield Client(server.url), server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of six examples in a folder without a configuration."""
    monkeypatch.chdir(tmp_path)
    return data_file(tmp_path, examples(6))


def labels(data: Path, by: str = "anna") -> list[Any]:
    """Return the lines of somebody's file; none where nothing was labelled."""
    file = data.with_name(f"{data.stem}.labels.{by}.jsonl")
    return read_rows(file) if file.exists() else []


def texts(view: Any) -> dict[str, str]:
    """Return what a view shows, by its name."""
    return {"".join(part["name"]): "".join(chain.from_iterable(part["text"])) for part in view["parts"]}


def refused(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command says where it does not start; where it does, it is stopped at once, with another code."""
    with patch.object(LabelingServer, "serve_forever", side_effect=KeyboardInterrupt):
        assert main(["label", *arguments]) == 2
    return capsys.readouterr().err


# --- what is shown --------------------------------------------------------------------------------------------


def test_the_order_is_that_of_a_run_and_the_same_for_everybody(data: Path) -> None:
    """The examples come as a run takes them, whatever the order of the rows, and whoever asks."""
    wanted = [pair.question for pair in load_pairs(Source("answers", data))]
    found = {}
    for by in ("anna", "bo"):
        with serving(data, by) as (client, _):
            found[by] = [texts(client.ask(place=place))["question"] for place in range(6)]
        data_file(data.parent, examples(6)[::-1])
    assert found == {"anna": wanted, "bo": wanted}
    assert wanted != [row["question"] for row in examples(6)]


def test_nothing_is_told_that_could_sway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No id, label, gold, vote, category or cluster is in what the page gets, and no word of another person."""
    monkeypatch.chdir(tmp_path)
    secret = {
        "label": "fail",
        "labels": {"cy": "fail"},
        "category": "concealed-c",
        "cluster": "concealed-d",
        "gold": "concealed",
    }
    rows = [{**row, **secret, "id": f"concealed-{row['id']}", "reference": "seen"} for row in examples(3)]
    data = data_file(tmp_path, rows)
    with serving(data, "bo") as (client, _):
        client.label("fail", 0, "concealed comment of bo")
    with serving(data) as (client, _):
        views = [client.ask(place=place) for place in range(3)]
        told = json.dumps(views) + client.send("GET")[2]
    assert "concealed" not in told
    assert all(view["own"] is None for view in views)
    assert list(texts(views[0])) == ["question", "reference", "response"]


def test_columns_are_chosen(data: Path, snapshot: SnapshotAssertion) -> None:
    """`--columns` shows those that it names; one that there is not is an error, an empty one shows none."""
    data_file(data.parent, examples(3, reference="r", grade_of_judge="good"))
    for columns, shown in ((["reference"], ["question", "reference", "response"]), ([], ["question", "response"])):
        with serving(data, columns=columns) as (client, server):
            assert list(texts(client.ask(place=0))) == shown
            assert lines_about("\n".join(start_message(server)), "--columns") == snapshot
    with pytest.raises(JudgeFixturesError) as error, serving(data, columns=["referense"]):
        pass
    assert str(error.value) == snapshot


def test_hostile_texts_are_text(data: Path) -> None:
    """Markup stays letters, overrides and null bytes are spelled out as pieces of their own, and 1 MB comes whole.

    No block is longer than what a browser lays out at once, and marks, each an element of the page, are limited.
    """
    hostile = "<script>x</script>\x00\x00\u202eabc" + "\x00" * 1000
    rows = [{"id": "1", "question": hostile, "response": "y" * 1_000_000, "no\u202ete": "\ud83d" + "\x00a" * 100_000}]
    data_file(data.parent, rows)
    with serving(data) as (client, _):
        view = client.ask(place=None)
    question, note, response = view["parts"]
    marks = "\\u0000\\u0000\\u202e", "\\u0000 (1000 times)"
    assert question["text"] == [["<script>x</script>", marks[0], "abc", marks[1], ""]]
    assert note["name"] == ["no", "\\u202e", "te"]
    assert texts(view)["no\\u202ete"] == "\\ud83d" + "\\u0000a" * 100_000
    assert sum(len(block) for block in note["text"]) < 20_000
    assert texts(view)["response"] == "y" * 1_000_000
    assert max(len(block[0]) for block in response["text"]) == 16_000


def test_a_long_text_is_parted_where_it_does_not_show(data: Path) -> None:
    """Blocks of a long text end at a line end, else at a space, else anywhere; nothing of the text is lost."""
    lines, words = "a line of words\r\n" * 3000, "word " * 9000
    data_file(data.parent, [{"id": "1", "question": lines, "response": words}])
    with serving(data) as (client, _):
        question, response = client.ask(place=None)["parts"]
    assert "".join(block[0] for block in question["text"]) == lines.replace("\r\n", "\n")
    assert {block[0][-1] for block in question["text"][:-1]} == {"\n"}
    assert "".join(block[0] for block in response["text"]) == words
    assert {block[0][-1] for block in response["text"][:-1]} == {" "}


def test_a_dataset_s_table_counts_by_name_and_by_path(data: Path) -> None:
    """The table of the configuration says where the columns are, whether the dataset or its file is named."""
    rows = [{"id": 1, "prompt": "Why?", "output": "So.", "human": "good"}]
    data_file(data.parent, rows)
    table = in_pyproject('[datasets.mine]\npath = "answers.jsonl"\n')
    table += 'columns = {question = "prompt", response = "output", label = "human"}\n'
    (data.parent / "pyproject.toml").write_text(table)
    for name in ("mine", "answers.jsonl"):
        with serving(Path(name)) as (client, server):
            assert texts(client.ask(place=None)) == {"question": "Why?", "response": "So."}
            assert 'labels_from = "beside" in [tool.judgefixtures.datasets.mine]' in end_message(server)[-1]


def test_a_dataset_whose_gate_reads_labels_can_be_labelled(data: Path) -> None:
    """`labels_from` is no matter of the page: it opens where nobody has labelled, and where a label is of another text."""
    table = '[datasets.mine]\npath = "answers.jsonl"\nlabels_from = "beside"\n'
    (data.parent / "pyproject.toml").write_text(in_pyproject(table))
    with serving(Path("mine")) as (client, _):
        client.label("pass", 0)
        question = texts(client.ask(place=0))["question"]
    changed = [row | {"response": "Other."} if row["question"] == question else row for row in examples(6)]
    data_file(data.parent, changed)
    with serving(Path("mine")) as (client, _):
        view = client.ask(place=None)
        assert (view["place"], view["changed"], texts(view)["response"]) == (0, True, "Other.")


@pytest.mark.parametrize("name", ["answer.jsonl", "pairs.jsonl", "house-graded", "twice.jsonl"])
def test_what_cannot_be_labelled_is_said(
    data: Path, name: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Nothing, pairs, a house set, a file of two datasets: one sentence and exit code 2."""
    (data.parent / "pairs.jsonl").write_text('{"id": 1, "question": "q", "response_1": "a", "response_2": "b"}\n')
    data_file(data.parent, examples(1), "twice.jsonl")
    tables = "".join(f'[datasets.{each}]\npath = "twice.jsonl"\n' for each in ("one", "two"))
    (data.parent / "pyproject.toml").write_text(in_pyproject(tables))
    assert refused(name, "--by", "anna", capsys=capsys) == snapshot


@pytest.mark.parametrize("by", ["", "../anna", "a/b", "anna bo", ".hidden", "-x", "a" * 41, "a\n"])
def test_a_name_is_a_part_of_a_file_s_name(
    data: Path, by: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A name that leads elsewhere, or hides, is refused, and nothing is written."""
    assert lines_about(refused(str(data), f"--by={by}", capsys=capsys), "for labels") == snapshot
    assert [each.name for each in data.parent.iterdir()] == ["answers.jsonl"]


# --- what is kept ---------------------------------------------------------------------------------------------


def test_a_label_is_on_the_disk_before_the_next_is_shown(data: Path) -> None:
    """When the answer to a label comes, its line is in the file: id, digest, label, comment, and when."""
    order = load_pairs(Source("answers", data))
    with serving(data) as (client, _):
        view = client.label("fail", 0, "größer \u202e\ud83d")
        (line,) = labels(data)
        assert (line["id"], line["digest"], line["label"]) == (order[0].id, order[0].digest, "fail")
        assert line["comment"] == "größer \u202e\ufffd"
        assert line["on"].endswith("+00:00")
        assert (view["place"], view["labelled"]) == (1, 1)


def test_going_back_and_saying_it_anew(data: Path) -> None:
    """An earlier example shows what was said of it; a new label is a new line, and then comes what is open."""
    with serving(data) as (client, _):
        client.label("pass", 0, "good")
        client.label("pass", 1)
        back = client.ask(place=0)
        assert back["own"] == {"label": "pass", "comment": "good"}
        assert client.label("fail", 0)["place"] == 2
        assert client.ask(place=0)["own"]["label"] == "fail"
    assert [line["label"] for line in labels(data)] == ["pass", "pass", "fail"]


def test_what_was_skipped_comes_again_at_the_end(data: Path) -> None:
    """Skipped is no label, and does not come again before all is seen; then the page knows where to go on."""
    with serving(data) as (client, _):
        client.label(None, 0)
        client.label(None, 1)
        for place in range(2, 6):
            view = client.label("pass", place)
        assert (view["place"], view["labelled"], view["skipped"], view["skipped_at"]) == (None, 4, 2, 0)
        assert client.label("fail", 0)["place"] == 1
        assert client.label("fail", 1) | {"needed": 0} == {
            "total": 6,
            "labelled": 6,
            "skipped": 0,
            "needed": 0,
            "place": None,
            "skipped_at": None,
        }


def test_after_a_label_comes_the_next_that_is_open(data: Path) -> None:
    """Whoever leaves one open and labels a later one goes on behind that; the first comes again behind the last."""
    with serving(data) as (client, _):
        client.label("pass", 0)
        assert client.label("pass", 3)["place"] == 4
        client.label("fail", 4)
        assert client.label("fail", 5)["place"] == 1


def test_a_second_start_goes_on(data: Path) -> None:
    """What was labelled before is counted, and the first that is open comes first."""
    with serving(data) as (client, server):
        client.label("pass", 0)
        client.label(None, 1)
        assert "1 of 6 examples labelled (1 pass, 0 fail), 1 skipped" in end_message(server)[1]
    with serving(data) as (client, server):
        assert client.ask(place=None)["place"] == 2
        assert start_message(server)[0].startswith("1 of 6 examples labelled (1 pass, 0 fail), 1 skipped")


def test_how_many_are_needed_follows_the_gate_and_the_labels(data: Path, snapshot: SnapshotAssertion) -> None:
    """With so many a good judge mostly passes [gate.agreement]; without a limit in it a kappa of .60 is assumed."""
    with serving(data) as (client, server):
        client.label("pass", 0)
        assert client.label("fail", 1)["needed"] == labels_for_power(0.5, 0.9, 0.9, AgreementLimits(kappa=0.60)) == 80
        assert lines_about(end_message(server)[1], "agreement gate") == snapshot
    (data.parent / "pyproject.toml").write_text(in_pyproject("[gate]\nmin_accuracy = 0.9\n"))
    with serving(data, "di") as (client, server):
        assert client.label("pass", 0)["needed"] == 80
    (data.parent / "pyproject.toml").write_text(in_pyproject("[gate.agreement]\nmin_tpr = 0.8\n"))
    with serving(data, "bo") as (client, server):
        assert client.label("pass", 0)["needed"] == labels_for_power(0.5, 0.9, 0.9, AgreementLimits(tpr=0.8)) == 180
        assert [client.label("pass", place)["needed"] for place in range(1, 6)][-1] < 180  # more of them pass
    (data.parent / "pyproject.toml").write_text(in_pyproject("[gate.agreement]\nmin_tpr = 0.999\n"))
    with serving(data, "cy") as (client, server):
        assert client.label("pass", 0)["needed"] is None
        assert lines_about(end_message(server)[1], "realistic number") == snapshot


def test_an_example_that_changed_is_shown_again(data: Path) -> None:
    """Another text under the same id is not labelled; the page says that it changed, and the old comment is gone."""
    with serving(data) as (client, _):
        for place in range(6):
            client.label("pass", place, "of the old text")
    changed = examples(6)
    changed[2]["response"] = "Something else."
    data_file(data.parent, changed)
    with serving(data) as (client, _):
        view = client.ask(place=None)
        assert texts(view)["response"] == "Something else."
        assert (view["changed"], view["own"], view["labelled"]) == (True, None, 5)
        assert client.label("fail", view["place"])["place"] is None
    examples_now = load_pairs(Source("answers", data, labels_from="beside"))
    assert {pair.id: pair.label for pair in examples_now}["id-2"] == "fail"  # type: ignore[attr-defined]


def test_an_example_that_is_gone_is_told(data: Path) -> None:
    """A line about an id that no example has is told with file and line, and stays where it is."""
    with serving(data) as (client, _):
        for place in range(6):
            client.label("pass", place)
    data_file(data.parent, examples(5))
    with serving(data) as (_, server):
        (said,) = [line for line in start_message(server) if "id-5" in line]
    assert "answers.labels.anna.jsonl:" in said
    assert len(labels(data)) == 6


@pytest.mark.parametrize("cut", range(1, 100, 7))
def test_a_torn_last_line_is_mended_with_a_word(data: Path, cut: int, snapshot: SnapshotAssertion) -> None:
    """Whatever a kill left of the last line is taken out, shown, and its example comes again; the others stay."""
    with serving(data) as (client, _):
        client.label("pass", 0)
        client.label("fail", 1, "größer")
    file = data.with_name("answers.labels.anna.jsonl")
    content = file.read_bytes()
    first = content.index(b"\n") + 1
    file.write_bytes(content[: first + cut])
    with serving(data) as (client, server):
        assert client.ask(place=None)["place"] == 1
        said = start_message(server)[0]
        assert lines_about(said, "last line") == snapshot
        assert '{"id"'[:cut] in said
    assert file.read_bytes() == content[:first]


def test_a_last_line_that_lacks_its_end_alone_counts(data: Path, snapshot: SnapshotAssertion) -> None:
    """Where nothing but the line end is lacking the label counts, and the next one has a line of its own."""
    with serving(data) as (client, _):
        client.label("fail", 0)
    file = data.with_name("answers.labels.anna.jsonl")
    file.write_bytes(file.read_bytes()[:-1])
    with serving(data) as (client, server):
        assert lines_about(start_message(server)[0], "line end") == snapshot
        assert client.ask(place=None)["place"] == 1
        client.label("pass", 1)
    assert [line["label"] for line in labels(data)] == ["fail", "pass"]


def test_a_damaged_line_is_an_error(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line in the middle that is none stops the start, by file and line; nothing is taken out."""
    file = data.with_name("answers.labels.anna.jsonl")
    file.write_text('{"id": "id-1", "digest": "x", "label": "pass"}\n<<<<<<< ours\n')
    assert "answers.labels.anna.jsonl:2: not JSON" in refused(str(data), "--by", "anna", capsys=capsys)
    assert file.read_text().endswith("<<<<<<< ours\n")


def test_the_same_person_twice_is_refused(
    data: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Who labels already is told so; another person is let in; afterwards the name is free."""
    with serving(data):
        assert lines_about(refused(str(data), "--by", "anna", capsys=capsys), "in use") == snapshot
        with serving(data, "bo") as (client, _):
            client.label("pass", 0)
    with serving(data):
        pass


def test_a_page_without_a_label_leaves_nothing(data: Path) -> None:
    """Who opens the page and labels nothing leaves no file, and is nobody whose labels a gate would read."""
    with serving(data) as (client, _):
        client.ask(place=None)
    assert [each.name for each in data.parent.iterdir()] == ["answers.jsonl"]
    with serving(data) as (client, _):
        client.label(None, 0)
    assert len(labels(data)) == 1


def test_a_name_in_other_letters_is_refused(
    data: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """Anna is told that anna has labelled: a gate would refuse two files that differ in capital letters alone."""
    with serving(data) as (client, _):
        client.label("pass", 0)
    assert lines_about(refused(str(data), "--by", "Anna", capsys=capsys), "answers.labels.anna.jsonl has") == snapshot


def test_a_name_is_the_same_however_its_letters_are_composed(data: Path) -> None:
    """A terminal may give an umlaut as two characters: the file is the one that has it as one."""
    composed, parted = "zo\u00eb", "zoe\u0308"
    for at, by in enumerate((parted, composed, parted)):
        with serving(data, by) as (client, _):
            assert client.ask(place=None)["place"] == at
            client.label("pass", at)
    assert len(labels(data, composed)) == 3
    assert [each.name for each in data.parent.glob("*.labels.*")] == [f"answers.labels.{composed}.jsonl"]


def test_a_file_that_something_else_changed_is_left_alone(data: Path) -> None:
    """An editor, git or a deletion while the page is open: the label is refused with a sentence, the file stays."""
    file = data.with_name("answers.labels.anna.jsonl")
    with serving(data) as (client, _):
        client.label("pass", 0)
        kept = file.read_bytes()
        for change in (lambda: file.write_bytes(kept + kept), lambda: data.replace(file), file.unlink):
            change()
            before = file.read_bytes() if file.exists() else None
            ask = {"place": 1, "label": "fail", "comment": ""}
            status, _, said = client.send(
                "POST", None, json.dumps(ask), origin=client.origin, content_type="application/json"
            )
            assert (status, "another program" in said) == (500, True)
            assert (file.read_bytes() if file.exists() else None) == before


@pytest.mark.parametrize("content", ["", '{"id": "id-1"}\n'], ids=["empty", "labels"])
def test_a_file_that_is_no_longer_ours_stays(data: Path, content: str) -> None:
    """Who opens the page and labels nothing takes their own file away, not one that was put in its place meanwhile."""
    file, other = data.with_name("answers.labels.anna.jsonl"), data.with_name("other")
    with serving(data):
        other.write_text(content)
        other.replace(file)
    assert file.read_text() == content


def test_a_full_disk_saves_nothing_and_says_so(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a line cannot be written whole, or not reach the disk, nothing of it stays, and the next try is saved."""
    with serving(data) as (client, server):
        client.label("pass", 0)
        kept = labels(data)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        example = server.work.examples[1]
        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", full)
            with pytest.raises(JudgeFixturesError, match=r"not saved: .*No space left"):
                server.work.labels.give(example, "fail", "")
        assert labels(data) == kept
        assert not server.work.labels.has(example)
        client.label("fail", 1)
    assert [line["label"] for line in labels(data)] == ["pass", "fail"]


def test_a_link_is_not_written_through(
    data: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A file of labels that is a link, as a branch may bring one, is refused."""
    victim = data.with_name("victim")
    data.with_name("answers.labels.anna.jsonl").symlink_to(victim)
    assert lines_about(refused(str(data), "--by", "anna", capsys=capsys), "a link") == snapshot
    assert not victim.exists()


# --- whom it lets in ------------------------------------------------------------------------------------------

ASK = json.dumps({"place": 0, "label": "pass", "comment": ""})
JSON_TYPE = "application/json"


def test_only_the_whole_address_is_answered(data: Path, snapshot: SnapshotAssertion) -> None:
    """Every other path is the same refusal: without the token, with a part of it, with more, with tricks."""
    with serving(data) as (client, _):
        token = client.url.rstrip("/").rpartition("/")[2]
        assert len(token) == 32
        paths = ["/", "//", f"/{token}", f"/{token[:-1]}/", f"/{token}x/", f"/{token}/..", f"/{token}//", f"/{token}/x"]
        paths += ["/answers.jsonl", "/../../etc/passwd", "/%2e%2e/", f"/{token.swapcase()}/", f"/?{token}"]
        found = {client.send("GET", path)[::2] for path in paths}
        found |= {
            client.send("POST", path, ASK, origin=client.origin, content_type=JSON_TYPE)[::2] for path in paths[:4]
        }
        assert found == snapshot
        assert client.send("GET")[0] == 200
    assert labels(data) == []


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]", "127.0.0.1.nip.io"])
def test_another_name_for_this_machine_is_refused(data: Path, host: str) -> None:
    """A name that somebody's DNS leads here is not the page's, even with the token."""
    with serving(data) as (client, _):
        for method in ("GET", "POST"):
            status, _, said = client.send(method, None, ASK, host=host, origin=client.origin, content_type=JSON_TYPE)
            assert (status, "only. With ssh" in said) == (421, True)
    assert labels(data) == []


def raw(client: Client, headers: list[str], body: str = "") -> str:
    """Return the first line and the text of the answer to a request of these lines, whose sender then says no more."""
    host, port = client.origin.removeprefix("http://").split(":")
    path = client.url.removeprefix(client.origin)
    own = [f"Origin: {client.origin}", f"Content-Type: {JSON_TYPE}", *headers]
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall("\r\n".join([f"POST {path} HTTP/1.0", *own, "", body]).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    return answer.partition("\r\n")[0] + answer.partition("\r\n\r\n")[2]


@pytest.mark.parametrize("other", [None, "evil.example"])
def test_two_names_are_none(data: Path, other: str | None, snapshot: SnapshotAssertion) -> None:
    """A request that names its host twice is refused, whichever of the two is the page's."""
    with serving(data) as (client, _):
        own = client.origin.removeprefix("http://")
        for hosts in ((own, other or own), (other or own, own)):
            said = raw(client, [f"Content-Length: {len(ASK)}", *(f"Host: {host}" for host in hosts)], ASK)
            assert " 421 " in said
            assert lines_about(said, "only. With ssh") == snapshot
        assert " 200 " in raw(client, [f"Content-Length: {len(ASK)}", f"Host: {own}"], ASK)
    assert len(labels(data)) == 1


@pytest.mark.parametrize(("length", "body"), [("200000", ASK), (str(len(ASK) + 1), ASK), ("-1", ASK)])
def test_a_request_is_as_long_as_it_says(data: Path, length: str, body: str, snapshot: SnapshotAssertion) -> None:
    """One that announces too much is refused for that; one that breaks off writes nothing, though it is JSON so far."""
    with serving(data) as (client, _):
        host = client.origin.removeprefix("http://")
        found = raw(client, [f"Content-Length: {length}", f"Host: {host}"], body)
    assert " 400 " in found
    assert found == snapshot
    assert labels(data) == []


def test_only_the_page_itself_may_write(data: Path, snapshot: SnapshotAssertion) -> None:
    """Another origin, none, or a form of another page: refused, and nothing is written."""
    with serving(data) as (client, _):
        for origin in ("http://evil.example", "null", client.origin.replace("127.0.0.1", "localhost"), ""):
            assert client.send("POST", None, ASK, origin=origin, content_type=JSON_TYPE)[0] == 403
        assert client.send("POST", None, ASK, content_type=JSON_TYPE)[0] == 403
        assert client.send("GET", origin="http://evil.example")[0] == 403
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            assert client.send("POST", None, ASK, origin=client.origin, content_type=kind)[0] == 400
        for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"):
            status, headers, said = client.send(method, None, ASK, origin="http://evil.example")
            assert (status, said) == snapshot
            assert not [name for name in headers if name.lower().startswith("access-control")]
    assert labels(data) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        "null",
        "[" * 5000,
        "{}",
        '{"place": "0"}',
        '{"place": true, "label": "pass", "comment": ""}',
        '{"place": -1, "label": "pass", "comment": ""}',
        '{"place": 6}',
        '{"place": 0.0, "label": "pass", "comment": ""}',
        '{"place": 0, "label": "Pass", "comment": ""}',
        '{"place": 0, "label": ["pass"], "comment": ""}',
        '{"place": 0, "label": "pass"}',
        '{"place": 0, "label": "pass", "comment": null}',
        json.dumps({"place": 0, "label": "pass", "comment": "x" * 10_001}),
        json.dumps({"place": 0, "label": "pass", "comment": "x" * 200_000}),
    ],
    ids=range(17),
)
def test_nonsense_writes_nothing(data: Path, body: str) -> None:
    """What the page never asks is refused without a traceback, and the page works on."""
    with serving(data) as (client, _):
        status, _, said = client.send("POST", None, body, origin=client.origin, content_type=JSON_TYPE)
        assert status == 400
        assert body[:20] not in said or len(body) < 5
        assert labels(data) == []
        client.label("pass", 0)


def test_the_page_may_do_little(data: Path) -> None:
    """Its policy lets nothing load and nothing run but its own script; it is not kept, framed, sniffed or referred."""
    with serving(data) as (client, server):
        status, headers, html = client.send("GET")
        assert status == 200
        assert server.server_address[0] == "127.0.0.1"
    policy = dict(each.strip().partition(" ")[::2] for each in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Server" not in headers
    assert "http" not in html
    assert "{{" not in html


def test_a_port_that_is_taken_is_said(
    data: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """A port of another program, or none that there is, is one sentence."""
    with serving(data, "bo") as (_, server):
        taken = str(server.server_address[1])
        for port in (taken, "70000", "-1"):
            said = refused(str(data), "--by", "anna", f"--port={port}", capsys=capsys)
            assert lines_about(said.replace(taken, "PORT"), "--port") == snapshot
            assert ".." not in said


# --- as a process ---------------------------------------------------------------------------------------------


@pytest.mark.whole
def test_a_kill_between_two_labels_loses_none(data: Path) -> None:
    """After kill -9 every label that was answered is in the file, the name is free, and the next start goes on."""
    for number in range(2):
        with started(data, "anna", cwd=data.parent) as running:
            view = running.client.ask(place=None)
            assert view["place"] == 2 * number
            running.client.label("pass", view["place"])
            running.client.label("fail", view["place"] + 1)
            running.kill()
    assert [line["label"] for line in labels(data)] == ["pass", "fail"] * 2


@pytest.mark.whole
def test_two_people_at_once_and_ctrl_c(data: Path) -> None:
    """Two processes label the same examples at once; Ctrl-C ends each and says where the labels are and how many lack."""
    with started(data, "anna", cwd=data.parent) as anna, started(data, "bo", "--port=0", cwd=data.parent) as bo:
        for place in range(3):
            assert anna.client.label("pass", place)["labelled"] == place + 1
            assert bo.client.label("fail", place)["labelled"] == place + 1
        for running, by in ((anna, "anna"), (bo, "bo")):
            code, said = running.interrupt()
            assert code == 0
            assert f"answers.labels.{by}.jsonl" in said
            assert "3 of 6 examples labelled" in said
            assert "more" in said.partition("needs about")[2]
            assert "Traceback" not in said
    assert [line["id"] for line in labels(data)] == [line["id"] for line in labels(data, "bo")]
