"""Runs of pytest in processes of their own that cost no start: each is forked from one that has imported what is heavy.

A run is what `python -m pytest` is, with its own process group, environment, folder and files for what it says, and so
are its workers under -n. What differs: modules are in memory before the run asks for them, so what a run imports, and
when, is not for tests of this kind. Executed as a program, this file is the process that is forked.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from _pytest.config import default_plugins

PATIENCE = 60.0  # seconds until a test that waits for a run gives up: no test waits so long that passes
REPOSITORY = Path(__file__).parents[3]
WHOLE = ("-v", "-o", "verbosity_test_cases=0")  # all that a run shows of its judges, and pytest's usual progress
LEAN = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
FROM_OUTSIDE = ("PYTEST_XDIST", "PYTEST_CURRENT")  # what the run of this suite says of itself


class Launcher:
    """Starts runs of pytest, each in a process and a process group of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", __file__]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads do not live through a fork
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def start(
        self,
        folder: Path,
        environment: Mapping[str, str],
        arguments: list[str],
        said: Path,
        errors: Path | None = None,
        module: str = "pytest",
    ) -> Run:
        """Start a run; what it says goes to files, and all of that to one where no other is given."""
        job = {"folder": str(folder), "environment": dict(environment), "arguments": arguments, "module": module}
        return Run(self, self.ask(**job, said=str(said), errors=str(errors or said)))

    def ask(self, **job: Any) -> Any:
        """Send a line and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the launcher; what it started has ended."""
        self._process.communicate()


@dataclass
class Run:
    """A run of pytest; `pid` is that of its process group, too."""

    launcher: Launcher
    pid: int
    code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.code is None:
            self.code = self.launcher.ask(poll=self.pid)
        return self.code

    def has_ended(self) -> bool:
        """Tell whether it has ended."""
        return self.poll() is not None

    def wait(self, patience: float = PATIENCE) -> int | None:
        """Wait for the end and return the exit code; None if it did not come."""
        if self.poll() is None:
            ended = os.pidfd_open(self.pid)
            select.select([ended], [], [], patience)
            os.close(ended)
        return self.poll()

    def kill(self) -> bool:
        """Kill the process and its workers at once; return whether it was still running."""
        running = self.poll() is None
        if running:
            os.killpg(self.pid, signal.SIGKILL)
            self.wait()
        return running


class Fresh(Run):
    """A run that is not forked, but begins as a user's does: for a few tests, to hold the forked ones against."""

    def __init__(self, folder: Path, environment: Mapping[str, str], arguments: list[str], said: Path) -> None:
        with said.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        super().__init__(launcher(), self.process.pid)

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        self.code = self.process.poll()
        return self.code


@functools.cache
def launcher() -> Launcher:
    """Return this process's launcher, which ends with it."""
    launcher = Launcher()
    atexit.register(launcher.close)
    return launcher


def run_pytest(folder: Path, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> pytest.RunResult:
    """Run pytest in a folder to its end, as `pytester.runpytest_subprocess` does, and return what that returns.

    `environment` is in place of the one of this process.
    """
    with tempfile.TemporaryDirectory() as temporary:
        return run_module("pytest", folder, f"--basetemp={temporary}/base", *arguments, environment=environment)


def run_module(
    module: str, folder: Path, *arguments: str | Path, environment: Mapping[str, str] | None = None
) -> pytest.RunResult:
    """Run `python -m MODULE`, either pytest or judgefixtures, in a folder to its end, with exactly these arguments."""
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if not name.startswith(FROM_OUTSIDE)}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), given.get("PYTHONPATH")]))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        said, errors = (Path(temporary, name) for name in ("said", "errors"))
        run = launcher().start(folder, kept, [*map(str, arguments)], said, errors, module)
        code = run.wait(5 * PATIENCE)
        lines = [file.read_text(encoding="utf-8").splitlines() for file in (said, errors)]
        if code is None:
            run.kill()
            pytest.fail("\n".join(["it hangs:", *lines[0], *lines[1]]))
    return pytest.RunResult(code, *lines, time.monotonic() - begun)


def completed(result: pytest.RunResult) -> subprocess.CompletedProcess[str]:
    """Return a result as `subprocess.run` does."""
    said, errors = ("".join(f"{line}\n" for line in lines) for lines in (result.outlines, result.errlines))
    return subprocess.CompletedProcess((), int(result.ret), said, errors)


def gate_here(*options: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the suite of this repository, with no word of the continuous integration around it but those given."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PYTEST_"))}
    return completed(run_pytest(REPOSITORY, *WHOLE, *LEAN, *options, environment=inherited | environment))


# --- the process that is forked ---------------------------------------------------------------------------


def _serve() -> None:
    """Fork a run for each line that asks for one, and tell of each that is asked about how it ended."""
    for line in sys.stdin:
        job = json.loads(line)
        if "poll" in job:
            pid, status = os.waitpid(job["poll"], os.WNOHANG)
            _say(os.waitstatus_to_exitcode(status) if pid else None)
        elif child := os.fork():
            _say(child)
        else:
            os.setsid()
            _run_to_its_end(job)
            return


def _say(answer: int | None) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _run_to_its_end(job: dict[str, Any]) -> None:
    """Be a run, and end as a process does, but for taking apart all that was imported: this takes as long as a run."""
    code = None
    try:
        _become(job)
    except SystemExit as ended:
        code = ended.code
        if not isinstance(code, int | None):
            raise
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(int(code or 0))


def _become(job: dict[str, Any]) -> None:
    """Be the run that a line asks for."""
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, job["said"]), (2, job["errors"])):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.path.insert(0, job["folder"])
    sys.argv = [job["module"], *job["arguments"]]
    if (
        job["module"] == "pytest"
        and any(argument.startswith("-n") for argument in job["arguments"])
        and _hand_out_workers()
    ):
        return
    runpy.run_module(job["module"], run_name="__main__", alter_sys=True)


def _hand_out_workers() -> bool:
    """Fork what will be xdist's workers from a process that pytest has not run in; be True in a worker at its end."""
    from execnet import gateway_base, gateway_io

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not os.fork():
        ours.close()
        return _fork_workers(theirs)
    theirs.close()

    class Forked(gateway_base.Popen2IO):
        """What execnet sees of a worker."""

        def __init__(self, _: object, execmodel: Any) -> None:
            (theirs, stdin), (stdout, its) = os.pipe(), os.pipe()
            job = json.dumps({"folder": str(Path.cwd()), "environment": dict(os.environ)})
            socket.send_fds(ours, [job.encode()], [theirs, its])
            self.ended = os.pidfd_open(int(ours.recv(20)))
            os.close(theirs)
            os.close(its)
            super().__init__(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"), execmodel)

        def wait(self) -> None:
            select.select([self.ended], [], [])

        def kill(self) -> None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self.ended, signal.SIGKILL)

    gateway_io.Popen2IOMaster = Forked  # type: ignore[misc, assignment]
    return False


def _fork_workers(asked: socket.socket) -> bool:
    """Fork a worker whenever one is asked for, until nobody can ask any more."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):  # a signal to the group is for the others
        signal.signal(number, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(asked, 1 << 18, 2)
        if not message:
            os._exit(0)
        if child := os.fork():
            asked.send(str(child).encode())
            for file in files:
                os.close(file)
            continue
        asked.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        job = json.loads(message)
        os.chdir(job["folder"])
        os.environ.clear()
        os.environ.update(job["environment"])
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 (for as long as the process lives)
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # as execnet starts its own
        return True


def _prepare() -> None:
    """Import what is heavy, and all of the package, and compile the page's templates, which takes as long as a run.

    Pytest says nothing about what it cannot rewrite any more.
    """
    gc.disable()
    from judgefixtures.parsing.language import vocabulary

    preloaded = runpy.run_path(str(Path(__file__).with_name("preloaded.py")))
    preloaded["read_no_certificates"]()
    preloaded["wait_for_no_disk"]()
    preloaded["import_everything"]()
    for name in ("hypothesis", *(f"_pytest.{plugin}" for plugin in default_plugins)):
        importlib.import_module(name)
    vocabulary()
    importlib.import_module("judgefixtures.report.html").page({"schema": 1, "status": "PASS", "judges": {}}, [], [])
    AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    _prepare()
    _serve()
