"""Store of known credentials, and their removal from texts."""

import base64
import binascii
import functools
import html
import json
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from .texts import make_printable, word_set

SCRUBBED = "scrubbed"
# Names of headers, and of fields of a query, whose values are credentials.
KEY_LIKE = re.compile(r"key|token|secret|auth|sig|credential|password", re.IGNORECASE)
# The headers whose values an answer may hold: ordinary words ("application/json", "identity"). What any other one
# carries is kept nowhere.
PUBLIC_HEADERS = word_set(
    "accept accept-charset accept-encoding accept-language anthropic-beta anthropic-version cache-control connection"
    " content-encoding content-language content-length content-type date expect host http-referer keep-alive"
    " openai-beta origin pragma priority referer te trailer transfer-encoding user-agent x-goog-api-client x-title"
)
PLACEHOLDER_KEY = "no-key-needed"  # sent where an SDK insists on a key and there is none

# A shorter value is a word or a number that any text may contain; with a digit or a sign in it, six will do.
SHORTEST = 8
SHORTEST_OF_SIGNS = 6
WINDOW = 8  # a part so long of a secret is one, too, unless it could be a word
LONG_WINDOW = 12  # in which case it has to be so long
LONGEST_WORD = 16  # what is so long and without a space is not a word that anybody says
LONGEST_NAME = 24  # "selected_response": the longest word among others of a header that answers may hold
MOST_RECENT = 128  # requests that are signed have new secrets each time: the latest are known

SEPARATORS = re.compile(r"[\s;,=&|:\"']+")
WORDS = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]{2,19})\s+(?=\S)")  # "Bearer ", "Basic ", "AWS4-HMAC-SHA256 "
# What stands where a text or a mask cut a secret short.
CUT = r"(?:\.\.\.|…|\*\*)"
SHORTEST_PIECE = 5

USER_INFO = re.compile(r"(?<=//)[^\s/'\"<>?#]+@")
# The value ends with the query: a key may hold what separates fields in it.
KEY_IN_QUERY = re.compile(
    rf"([?&;][^\s=&;?#'\"<>]*?(?:{KEY_LIKE.pattern})[^\s=&;?#'\"<>]*=)[^\s&#'\"<>]+", re.IGNORECASE
)


class SecretStore:
    """The known secrets; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lasting: dict[str, bool] = {}  # and whether each word of a value is secret, too
        self._recent: dict[str, bool] = {}
        self._index: _Index | None = None

    def know(self, values: Mapping[str, bool], *, lasting: bool = False) -> None:
        """Register secrets, each with whether its words are secret too."""
        with self._lock:
            for value, words in values.items():
                if not _tells(value) or value in self._lasting:
                    continue
                before = self._recent.pop(value, None)
                if before is None or before < words or lasting:
                    self._index = None
                (self._lasting if lasting else self._recent)[value] = words or bool(before)
            while len(self._recent) > MOST_RECENT:
                del self._recent[next(iter(self._recent))]

    def __bool__(self) -> bool:
        return bool(self._lasting or self._recent)

    def redacted(self, text: str) -> str:
        """Return a text without known secrets and their longer parts."""
        if not self:
            return text
        with self._lock:
            if self._index is None:
                self._index = _Index(self._recent | self._lasting)
            index = self._index
        return index.redacted(text)


class _Index:
    def __init__(self, values: Mapping[str, bool]) -> None:
        needles = {needle for value, words in values.items() for needle in _needles(value, words=words)}
        longest_first = sorted(needles, key=lambda needle: (-len(needle), needle))
        self._by_start: dict[str, list[str]] = {}
        letters = "".join(sorted({letter for needle in longest_first for letter in needle[:WINDOW]}))
        # Every start is made of these: elsewhere in a text nothing can begin, and texts are long.
        self._runs = re.compile(f"[{re.escape(letters)}]{{{WINDOW},}}") if letters else None
        for needle in longest_first:
            if len(needle) >= WINDOW:
                self._by_start.setdefault(needle[:WINDOW], []).append(needle)
        short = "|".join(re.escape(needle) for needle in longest_first if len(needle) < WINDOW)
        self._short = re.compile(rf"(?<!\w)(?:{short})(?!\w)") if short else None
        pieces = [piece for value in values for piece in _pieces(value)]
        self._cut = re.compile("|".join(pieces)) if pieces else None

    def redacted(self, text: str) -> str:
        if spans := list(self._spans(text)):
            kept, end = [], 0
            for start, stop in spans:
                kept += [text[end:start], SCRUBBED]
                end = stop
            text = "".join([*kept, text[end:]])
        if self._short is not None:
            text = self._short.sub(SCRUBBED, text)
        if self._cut is not None and re.search(CUT, text):
            text = self._cut.sub(_without_piece, text)
        return text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        start = stop = -1
        for at in self._places(text):
            for needle in self._by_start.get(text[at : at + WINDOW], ()):
                if text.startswith(needle, at):
                    if at > stop:
                        if stop >= 0:
                            yield start, stop
                        start = at
                    stop = max(stop, at + len(needle))
                    break
        if stop >= 0:
            yield start, stop

    def _places(self, text: str) -> Iterator[int]:
        for run in self._runs.finditer(text) if self._runs else ():
            yield from range(run.start(), run.end() - WINDOW + 1)


def _tells(value: str) -> bool:
    if value == PLACEHOLDER_KEY:
        return False
    return len(value) >= (SHORTEST_OF_SIGNS if not value.isalpha() else SHORTEST)


@functools.lru_cache(maxsize=2 * MOST_RECENT)
def _needles(value: str, *, words: bool) -> frozenset[str]:
    spellings = {
        value,
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
    }
    needles = set(spellings)
    tokens = SEPARATORS.split(value)
    needles |= {part for part in tokens if len(part) >= SHORTEST}
    for spelling in spellings:
        starts = range(len(spelling))
        windows = {spelling[at : at + WINDOW] for at in starts[: 1 - WINDOW]}
        needles |= {window for window in windows if not _is_wordlike(window)}
        needles |= {spelling[at : at + LONG_WINDOW] for at in starts[: 1 - LONG_WINDOW]}
    public = "" if words or len(tokens) == 1 else " ".join(filter(_is_name, tokens))
    kept = {
        each for each in needles if any(map(str.isalnum, each)) and (" " in each.strip() or each.strip() not in public)
    }
    return frozenset(spellings | kept)


def _is_name(token: str) -> bool:
    return len(token) <= LONGEST_NAME and all(map(_is_wordlike, filter(None, token.split("_"))))


def _is_wordlike(part: str) -> bool:
    if not WORDS.fullmatch(part := part.strip()):
        return False
    return all(word.islower() or word.isupper() or word[1:].islower() for word in part.split(" "))


def _pieces(value: str) -> Iterator[str]:
    if len(value) <= WINDOW:
        return
    for length in range(WINDOW - 1, SHORTEST_PIECE - 1, -1):
        if not _is_wordlike(start := value[:length].strip()):
            yield rf"{re.escape(start)}(?={CUT})"
        if not _is_wordlike(end := value[-length:].strip()):
            yield rf"{CUT}\**{re.escape(end)}(?!\w)"


def _without_piece(match: re.Match[str]) -> str:
    mark = re.match(rf"{CUT}\**", match[0])
    return f"{mark[0]}{SCRUBBED}" if mark else SCRUBBED


_KNOWN = SecretStore()


def register_secrets(*values: str) -> None:
    """Register secrets for the process."""
    _KNOWN.know(dict.fromkeys(values, True), lasting=True)


def register_address_secrets(url: str | None) -> None:
    """Register a URL's credentials for the process."""
    _KNOWN.know(dict.fromkeys(_of_user_info(url or ""), True), lasting=True)


def register_request_secrets(headers: Mapping[str, Any], url: str) -> None:
    """Register a request's credentials."""
    _KNOWN.know(request_secrets(headers, url))


def redact(text: str) -> str:
    """Return a text without known secrets, otherwise unchanged."""
    return _KNOWN.redacted(text)


def redact_message(text: str) -> str:
    """Return a message without known secrets and URL credentials.

    >>> redact_message("http://me:pass@127.0.0.1:1/v1?api_key=abc&page=2 is not there")
    'http://...@127.0.0.1:1/v1?api_key=...&page=2 is not there'
    """
    if "//" in text and "@" in text:
        text = USER_INFO.sub("...@", text)
    if "=" in text:
        text = KEY_IN_QUERY.sub(r"\1...", text)
    return redact(text)


def safe_message(text: str) -> str:
    """Return a redacted message without terminal or CI commands."""
    return make_printable(redact_message(text))


def redacted_json(value: Any) -> Any:
    """Return JSON values without known secrets."""
    return _redacted_json(value) if _KNOWN else value


def _redacted_json(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {_redacted_json(key): _redacted_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_redacted_json, value))
    if type(value) in (int, float) and redact(str(value)) != str(value):
        return type(value)()  # a secret of digits alone, repeated as a number
    return value


def request_secrets(headers: Mapping[str, Any], url: str) -> dict[str, bool]:
    """Return a request's secrets, and whether their words are secret.

    >>> request_secrets({"Authorization": "Bearer abc def", "Accept": "text/plain"}, "http://h/x?api_key=k;1&page=2")
    {'abc def': True, 'k;1': True}
    """
    secrets: dict[str, bool] = {}
    for name, value in headers.items():
        secrets |= _of_header(name.lower(), header_text(value))
    for written in urlsplit(url).query.split("&"):
        name, _, value = written.partition("=")
        spellings = (value, unquote(value), unquote(value.replace("+", " ")))
        if value and (KEY_LIKE.search(name) or (len(value) >= LONGEST_WORD and _is_no_word(spellings[-1]))):
            secrets |= dict.fromkeys(spellings, True)
    return secrets | dict.fromkeys(_of_user_info(url), True)


def _of_header(name: str, value: str) -> dict[str, bool]:
    if name in PUBLIC_HEADERS or name.startswith("x-stainless-"):
        return {}
    if name == "cookie":
        return _of_cookies(value)
    if not KEY_LIKE.search(name) and _is_wordlike(value) and len(value) < LONGEST_WORD and " " not in value:
        return {}  # a word that anybody may say
    scheme = SCHEME.match(value)
    if scheme is None or (name not in AUTHORIZATION and scheme[1].lower() not in SCHEMES):
        return {value: KEY_LIKE.search(name) is not None}
    credential = value[scheme.end() :]
    basic = _of_basic(credential) if scheme[1].lower() == "basic" else []
    return dict.fromkeys((credential, *basic), True)


def _is_no_word(part: str) -> bool:
    return SEPARATORS.search(part) is None and (any(map(str.isdigit, part)) or not _is_wordlike(part))


AUTHORIZATION = ("authorization", "proxy-authorization")
SCHEMES = frozenset({"bearer", "basic", "token", "apikey", "key"})


def _of_basic(credential: str) -> list[str]:
    try:
        user, _, password = base64.b64decode(credential, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return []
    return _of_user(user, password)


def _of_cookies(value: str) -> dict[str, bool]:
    values = [part.partition("=")[2] or part for part in re.split(r";\s*", value)]
    return dict.fromkeys((value.partition("=")[2].strip(' "'), *(each.strip(' "') for each in values)), True)


def _of_user_info(url: str) -> list[str]:
    try:
        user_info, at, _ = urlsplit(url).netloc.rpartition("@")
    except ValueError:
        return []
    if not at:
        return []
    user, _, password = user_info.partition(":")
    values = [*_of_user(user, password), *_of_user(unquote(user), unquote(password))]
    return list(dict.fromkeys(filter(None, values)))


def _of_user(user: str, password: str) -> list[str]:
    pair = f"{user}:{password}"
    alone = [user] if not password or any(map(str.isdigit, user)) else []
    return [password, pair, *alone, base64.b64encode(pair.encode()).decode()]


def header_text(value: Any) -> str:
    """Return a header's value, or values, as one text."""
    if isinstance(value, list | tuple):
        return " ".join(map(header_text, value))
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
