"""Entry point of `python -m judgefixtures.simulator`: serve simulated judges."""

import argparse
import signal
import subprocess
import sys
import threading

from .server import serving


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the simulator's own options."""
    parser = argparse.ArgumentParser(
        prog="python -m judgefixtures.simulator",
        description="Serve the simulated judges on 127.0.0.1 in the wire formats of OpenAI, Gemini and Claude.",
        epilog="With a command after --, serve while it runs and return its exit code.",
    )
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0 takes a free one (8080)")
    return parser


def main(arguments: list[str]) -> int:
    """Serve until interrupted or until the command after `--` ends."""
    own, command = _split(arguments)
    parser = build_parser()
    options = parser.parse_args(own)
    try:
        with serving(options.port) as server:
            sys.stderr.write(f"simulated judges at {server.url}/v1 (OpenAI) and {server.url} (Gemini, Claude)\n")
            if command:
                return _run(command)
            threading.Event().wait()
    except OSError as error:
        parser.error(f"cannot use port {options.port}: {error.strerror}; choose another port with --port")
    except KeyboardInterrupt:
        pass
    return 0


def _run(command: list[str]) -> int:
    # It comes to both of us. An exception could come between the command's end and its exit code, which would be lost.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with subprocess.Popen(command) as running:
            return running.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
