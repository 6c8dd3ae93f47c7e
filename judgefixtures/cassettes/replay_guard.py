"""Replay guard: refuse network access and programs while recordings are replayed.

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

from .messages import MESSAGES

# Unix sockets and socket pairs stay open: an event loop is made of them.
REACHES_HOSTS = (socket.AF_INET, socket.AF_INET6)
SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKS_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
# A fork is none of them: the hook is in the child, too, and still refuses.
STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"})
# What the standard library and SDKs ask about the machine that they run on.
ASKED_OF_THE_MACHINE = frozenset({"uname", "lsb_release", "ldconfig"})


class NetworkBlockedError(BaseException):
    """The judge used the network in replay; a BaseException, so SDKs do not retry."""


@dataclass(slots=True)
class _Block:
    """State of the audit hook, which cannot be removed; None allows everything."""

    blocked: Callable[[NetworkBlockedError], None]
    programs: bool


_BLOCK: _Block | None = None
_INSTALLED = False


@contextlib.contextmanager
def block_network(blocked: Callable[[NetworkBlockedError], None], *, programs: bool = False) -> Iterator[None]:
    """Raise NetworkBlockedError for network access, and tell `blocked`.

    Without `programs`, starting a program is an error too.
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
    error = NetworkBlockedError(MESSAGES.network_call(what, remedy))
    block.blocked(error)
    raise error


def _host_and_port(address: Any) -> str:
    host, port = (*address, "", "")[:2] if isinstance(address, tuple) else (address, "")
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    return f"{name}:{port}" if port not in ("", None) else name


def _peer(opened: Any) -> Any:
    try:
        return opened.getpeername()
    except OSError:
        return "a host"


def _program(event: str, arguments: tuple[Any, ...]) -> str:
    named = arguments[1] if event == "os.spawn" else arguments[0]
    if event == "subprocess.Popen" and named is None:
        named = arguments[1]
    if isinstance(named, list | tuple):
        named = named[0] if named else ""
    return os.fsdecode(named) if isinstance(named, str | bytes | os.PathLike) else repr(named)
