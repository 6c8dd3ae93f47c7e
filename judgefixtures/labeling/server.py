"""Server of the labeling page, on 127.0.0.1 at a secret address.

It refuses other addresses, host names (DNS rebinding) and origins.
"""

import hmac
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from judgefixtures.report.html import content_security_policy, style_sheet
from judgefixtures.util.errors import JudgeFixturesError

from .example_view import LabelingTask, View

HERE = Path(__file__).parent
HOST = "127.0.0.1"
LARGEST = 1 << 17  # bytes of a request: the longest comment in any writing
PATIENCE = 20.0  # seconds until somebody has to have said what they want
HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"


class LabelingServer(ThreadingHTTPServer):
    """Server of one person's page."""

    daemon_threads = True

    def __init__(self, work: LabelingTask, port: int = 0) -> None:
        """Listen on a port (0: any), or raise JudgeFixturesError."""
        self.work = work
        self._path = f"/{secrets.token_urlsafe(24)}/"
        try:
            super().__init__((HOST, port), _LabelingHandler)
        except (OSError, OverflowError) as error:
            why = (getattr(error, "strerror", None) or str(error)).removesuffix(".")
            raise JudgeFixturesError(
                f"cannot use --port {port}: {why}. Without --port, the page takes a free port."
            ) from None
        self.page, self.policy = _page()

    @property
    def origin(self) -> str:
        """The address without the token."""
        return f"http://{HOST}:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The page's address with its token."""
        return f"{self.origin}{self._path}"

    def is_page(self, path: str) -> bool:
        """Return in constant time whether a path is the page."""
        return hmac.compare_digest(path.encode("utf-8", "replace"), self._path.encode())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that left; report other errors."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def _page() -> tuple[str, str]:
    html, script, style = ((HERE / f"label.{kind}").read_text(encoding="utf-8") for kind in ("html", "js", "css"))
    style = style_sheet() + style
    may = (
        f"{content_security_policy(style, script)}; connect-src 'self'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    return html.replace("{{ style }}", style).replace("{{ script }}", script), may


class _LabelingHandler(BaseHTTPRequestHandler):
    server: LabelingServer
    timeout = PATIENCE

    def do_GET(self) -> None:
        if self._is_let_in(of_page=self.headers.get("origin") is not None):
            self._send(200, self.server.page, HTML)

    def do_POST(self) -> None:
        if not self._is_let_in(of_page=True):
            return
        try:
            request = self._asked()
        except ValueError as error:
            self._send(400, str(error))
            return
        try:
            self._send(200, json.dumps(self._done(request)), JSON)
        except (ValueError, IndexError, KeyError, TypeError):
            self._send(400, "Unknown request.")
        except JudgeFixturesError as error:
            self._send(500, str(error))

    def _done(self, request: dict[str, Any]) -> View:
        place = request["place"]
        if place is not None and type(place) is not int:
            raise TypeError(place)
        if "label" in request and place is not None:
            return self.server.work.give(place, request["label"], request["comment"])
        return self.server.work.view(place)

    def _is_let_in(self, *, of_page: bool) -> bool:
        """Return whether to answer a request, else refuse it."""
        if self.headers.get_all("host") != [self.server.origin.removeprefix("http://")]:
            self._send(421, f"Open this page at {self.server.origin} only. With ssh, forward the same port.")
        elif not self.server.is_page(self.path):
            self._send(404, "Not found. Open the whole address that the terminal shows.")
        elif of_page and self.headers.get_all("origin") != [self.server.origin]:
            self._send(403, "Only the page itself may send requests.")
        else:
            return True
        return False

    def _asked(self) -> dict[str, Any]:
        """Return a request's JSON object, or raise ValueError."""
        length = self.headers.get("content-length", "")
        if self.headers.get_content_type() != JSON or not length.isdecimal() or int(length) > LARGEST:
            raise ValueError(f"Send JSON of at most {LARGEST} bytes.")
        body = self.rfile.read(int(length))
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise ValueError("This is not JSON.") from None
        if len(body) < int(length) or not isinstance(request, dict):
            raise ValueError("This is not a JSON object.")
        return request

    def _send(self, status: int, text: str, kind: str = TEXT) -> None:
        content = text.encode()
        self.send_response_only(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": self.server.policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def send_error(self, code: int, *_: object, **__: object) -> None:
        self._send(int(code), "Bad request.")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Log nothing, because addresses hold the token."""
