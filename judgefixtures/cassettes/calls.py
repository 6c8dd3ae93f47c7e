"""Context of a judge call, shared by client, provider and vcrpy adapter."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, Protocol

from .cache_detection import ResponseOrigin
from .files import CassetteRow

Found = tuple[
    str, CassetteRow, ResponseOrigin | None
]  # an answer that is not written down yet: digest of its request, and whence


class CassetteMissError(BaseException):
    """A replayed call has no recording; a BaseException, so SDKs do not retry."""


class AnswerTooLargeError(BaseException):
    """An answer is too large to record; a BaseException."""

    def __init__(self, row: CassetteRow) -> None:
        super().__init__(f"the answer has {row.oversize} bytes, too many for a recording")


class AbandonedError(BaseException):
    """A function asks after its timeout; a BaseException."""


class DeferredToBatchError(BaseException):
    """The question goes into a batch; a BaseException."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as the SDK would send it, with its digest."""

    digest: str
    body: bytes


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """An answer from a batch."""

    status: int
    body: bytes
    batch: str = ""
    tries: int = 1  # in how many batches it was asked


# How a question is asked that batches are to answer: it waits for one, goes into the next, or is asked at once, too.
Way = Literal["waits", "batch", "once", "both"]


class BatchRoute(Protocol):
    """Where a client's questions of one cassette go in place of the network, and the answers of batches come from."""

    def take(self, digest: str) -> BatchAnswer | None:
        """Return a batch's answer to a request, once."""

    def waits(self, digest: str) -> bool:
        """Return whether a request is in a batch."""

    def choose_way(self, call: "JudgeCall") -> Way:
        """Return how to send a postponed request.

        Raises:
            FatalJudgeError: It cannot be sent.
        """

    def put(self, question: RecordedRequest, repeat: int, prompt: str, *, parity: bool = False) -> bool:
        """Queue a request, and return whether it costs money.

        `parity`: also send it directly.
        """

    def of_both_ways(self, digest: str) -> "BatchRoute | None":
        """Return the batch route to compare with, or None."""

    def compare(self, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Record whether both routes agree."""


@dataclass(slots=True)
class JudgeCall:
    """A judge call in progress: its pair, repeat and recording.

    `JudgeCall()` goes to the network and records nothing.

    Attributes:
        find: Returns the recorded row of a digest.
        keep: Writes a row and returns it.
        missing: Raises for a missing recording; None asks the network.
        record_at_once: Whether answers are kept on arrival, or when final.
    """

    pair: str = ""
    repeat: int = 0
    find: Callable[[str], CassetteRow | None] = lambda _: None
    keep: Callable[[CassetteRow], CassetteRow] | None = None
    missing: Callable[[], NoReturn] | None = None
    record_at_once: bool = False
    repeats: Callable[[ResponseOrigin], bool] = lambda _: False  # tells whether a response came before
    asked: Counter[str] = field(default_factory=Counter)  # how often the same request was answered
    pending: list[Found] = field(default_factory=list)
    played: list[CassetteRow] = field(default_factory=list)
    failure: BaseException | None = None
    recorded: bool = False  # an answer of this call came over the network
    abandoned: bool = False  # its time is over: whoever still asks for it is not answered
    online: bool = False  # the present attempt went to the network
    # Of a function's calls: the example and the condition, which their recordings are found by, too.
    place: str = ""
    takes_shared: bool = False  # recordings from before there was that, which examples share, answer as well
    # Fields that its requests are found with all the same: two spellings say the same, and a server takes only one.
    ignored_fields: Mapping[str, Any] = field(default_factory=dict)
    # What its requests are found by in place of where they go: the address of a cloud names a resource, a project or a
    # region, none of which is part of what was asked.
    address: str | None = None
    texts: tuple[str, ...] = ()  # of the pair: a recording may have them with other line ends
    moved: dict[str, str] = field(default_factory=dict)  # where redirects led, and what recordings have in its place
    post: BatchRoute | None = None  # nothing goes to the network
    # Reads the HTTP exchanges of code whose results are recorded in place of them: address and body of each answer.
    hosts: frozenset[str] = frozenset()  # of code: requests to others are none of the judge's; empty: all are its own
    listener: Callable[[str, bytes], None] | None = None
    check_packages: Callable[[Mapping[str, str]], None] = lambda _: None  # raises before versions are mixed
    verdict_pattern: re.Pattern[bytes] | None = None  # where an answer states what it decides, if not as a verdict does
    question: RecordedRequest | None = None  # what is to be asked in a batch, and is not on its way in one
    delivered: BatchAnswer | None = None  # the latest answer is of a batch
    unread: str = ""  # why nobody can read that one

    @property
    def is_routed(self) -> bool:
        """Whether HTTP goes through recordings."""
        return self.keep is not None

    @property
    def is_replayed(self) -> bool:
        """Whether only recordings answer."""
        return self.missing is not None

    @property
    def is_posted(self) -> bool:
        """Whether only recordings and batches answer."""
        return self.post is not None

    @property
    def was_played(self) -> bool:
        """Whether the response came from a recording."""
        return bool(self.played) and not self.online

    @contextlib.contextmanager
    def routed(self) -> Iterator[None]:
        """Route HTTP in the block as this call says."""
        token = CALL.set(self if self.is_routed else CALL.get())
        try:
            yield
        finally:
            CALL.reset(token)

    def fail(self, failure: BaseException) -> NoReturn:
        """Raise a failure; `check` raises it again if it was caught."""
        self.failure = failure
        raise failure

    def check(self) -> None:
        """Raise the failure that the judge's code caught."""
        if self.abandoned:
            raise AbandonedError
        if self.failure is not None:
            raise self.failure

    def play(self, row: CassetteRow) -> None:
        """Take a recorded answer, or raise AnswerTooLargeError."""
        self.played.append(row)
        if row.oversize:
            self.fail(AnswerTooLargeError(row))

    def keep_answer(self) -> None:
        """Write the received answer."""
        while self.pending and self.keep is not None:
            plain, row, origin = self.pending.pop(0)
            self.asked[plain] += 1
            try:
                row = self.keep(row if origin is None else replace(row, cached=self.repeats(origin)))
            except Exception as error:
                self.fail(error)
            self.recorded = True
            self.play(row)

    def drop_answer(self) -> None:
        """Forget the received error before the next attempt."""
        self.pending.clear()
        self.asked.clear()
        self.played.clear()
        self.online = False

    def postpone(self, *, unless_asked: int = 0) -> None:
        """Raise DeferredToBatchError after a batch answer, unless `unless_asked` batches answered."""
        if self.delivered is not None and not (unless_asked and self.delivered.tries >= unless_asked):
            self.drop_answer()
            raise DeferredToBatchError

    def leave_unread(self, why: str) -> None:
        """Raise DeferredToBatchError if a batch's answer is unreadable."""
        if self.delivered is not None:
            self.unread = why
            self.postpone()


# The call that HTTP is routed for: vcrpy sits below the SDKs, where nothing can be passed.
CALL: ContextVar[JudgeCall | None] = ContextVar("judgefixtures_call", default=None)
