"""Network guard: refuse network access while recordings are replayed.

A Python audit hook sees connections of every library (`socket`, `_socket`, asyncio or a client). docs/how-to/secure.md
lists what the hook cannot see.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn

# Unix sockets and socket pairs stay open: an event loop is made of them.
REACHES_HOSTS = (socket.AF_INET, socket.AF_INET6)
SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
# A fork is none of them: the hook is in the child, too, and still refuses.
STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"})
# What the standard library and SDKs ask about the machine that they run on.
ASKED_OF_THE_MACHINE = frozenset({"uname", "lsb_release", "ldconfig"})


class NetworkBlockedError(BaseException):
    """Judge code tried to reach a host while replaying. A BaseException, so that no SDK catches and retries it."""


@dataclass(slots=True)
class _Block:
    """What the audit hook refuses just now: it can never be removed, and does nothing while this is None."""

    blocked: Callable[[NetworkBlockedError], None]
    programs: bool


_BLOCK: _Block | None = None
_INSTALLED = False


@contextlib.contextmanager
def block_network(blocked: Callable[[NetworkBlockedError], None], *, programs: bool = False) -> Iterator[None]:
    """Make every attempt of this process to reach a host an error that names it; `blocked` is told of it, too.

    So is starting a program, which could reach one unseen; `programs` allows that.
    """
    global _BLOCK, _INSTALLED
    if not _INSTALLED:
        sys.addaudithook(_audit)
        _INSTALLED = True
    before, _BLOCK = _BLOCK, _Block(blocked, programs)
    try:
        yield
    finally:
        _BLOCK = before


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _BLOCK is None:
        return
    if event in SENDS:
        opened, address = arguments
        if opened.family in REACHES_HOSTS:
            _refuse(_BLOCK, "reach " + _host_and_port(address or _peer(opened)))
    elif event in LOOKS_UP:
        _refuse(_BLOCK, "reach " + _host_and_port(arguments if event == "socket.getaddrinfo" else arguments[0]))
    elif event in STARTS and not _BLOCK.programs:
        program = _program(event, arguments)
        if PurePath(program).name not in ASKED_OF_THE_MACHINE:
            remedy = " If it reaches no host, set allow_programs = true in the judge's table."
            _refuse(_BLOCK, f"start the program {program!r}", remedy)


def _refuse(block: _Block, what: str, remedy: str = "") -> NoReturn:
    error = NetworkBlockedError(
        f"judge code tried to {what} while replaying recordings, where no network is allowed. "
        f"Record the call with --judge-record missing, or remove it from the judge.{remedy}"
    )
    block.blocked(error)
    raise error


def _host_and_port(address: Any) -> str:
    """Return host and port of an address, or of the arguments of a look-up."""
    host, port = (*address, "", "")[:2] if isinstance(address, tuple) else (address, "")
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    return f"{name}:{port}" if port not in ("", None) else name


def _peer(opened: Any) -> Any:
    try:
        return opened.getpeername()
    except OSError:
        return "a host"


def _program(event: str, arguments: tuple[Any, ...]) -> str:
    """Return the program that is to be started: what a shell is given is a command, not a program."""
    named = arguments[1] if event == "os.spawn" else arguments[0]
    if event == "subprocess.Popen" and named is None:
        named = arguments[1]
    if isinstance(named, list | tuple):
        named = named[0] if named else ""
    return os.fsdecode(named) if isinstance(named, str | bytes | os.PathLike) else repr(named)
