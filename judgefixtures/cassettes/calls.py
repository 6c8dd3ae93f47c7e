"""Context of a judge call in progress, shared by the client, the provider and the vcrpy adapter."""

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
    """Nothing is recorded for a call in replay. A BaseException, so that no SDK catches and retries it."""


class AnswerTooLargeError(BaseException):
    """An answer does not fit into a recording: it is recorded as too large. A BaseException for the same reason."""

    def __init__(self, row: CassetteRow) -> None:
        super().__init__(f"the answer has {row.oversize} bytes, too many for a recording")


class AbandonedError(BaseException):
    """A function asks on after its time: nothing more is paid for. A BaseException for the same reason."""


class DeferredToBatchError(BaseException):
    """The question is to be asked in a batch, or is on its way in one. A BaseException for the same reason."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as an SDK was about to send it: what a line of a batch is made of, and what its answer is found by."""

    digest: str
    body: bytes


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """An answer that came in a batch, as the same request would have been answered at once."""

    status: int
    body: bytes
    batch: str = ""
    tries: int = 1  # in how many batches it was asked


# How a question is asked that batches are to answer: it waits for one, goes into the next, or is asked at once, too.
Way = Literal["waits", "batch", "once", "both"]


class BatchRoute(Protocol):
    """Where a client's questions of one cassette go in place of the network, and the answers of batches come from."""

    def take(self, digest: str) -> BatchAnswer | None:
        """Return what a batch answered to a request, once."""

    def waits(self, digest: str) -> bool:
        """Tell whether a request is on its way in a batch, or is about to be."""

    def choose_way(self, call: "JudgeCall") -> Way:
        """Return how the question of a call is asked that was postponed; raises FatalJudgeError."""

    def put(self, question: RecordedRequest, repeat: int, prompt: str, *, parity: bool = False) -> bool:
        """Put a question into the next batch, `parity`: also; return whether it is to be paid for."""

    def of_both_ways(self, digest: str) -> "BatchRoute | None":
        """Return where the answer of a batch comes from that an answer at once is compared with; None: it is not."""

    def compare(self, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Take note of whether both ways gave the same."""


@dataclass(slots=True)
class JudgeCall:
    """A judge call in progress: which pair and repeat it answers, and where its recording lives.

    `find` looks a digest up, `keep` writes a row and returns it as written, `missing` raises with a diagnosis
    (None: ask the network). With `eager`, answers are kept as they arrive; without, when the judge says that they are
    final. `JudgeCall()` belongs to no recording: its question goes to the network, and nothing is written.
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
        """Whether recordings alone answer."""
        return self.missing is not None

    @property
    def is_posted(self) -> bool:
        """Whether recordings and batches alone answer."""
        return self.post is not None

    @property
    def was_played(self) -> bool:
        """Whether what was received came from a recording: asking again would not change it."""
        return bool(self.played) and not self.online

    @contextlib.contextmanager
    def routed(self) -> Iterator[None]:
        """Route what is asked over HTTP in the block as this call says."""
        token = CALL.set(self if self.is_routed else CALL.get())
        try:
            yield
        finally:
            CALL.reset(token)

    def fail(self, failure: BaseException) -> NoReturn:
        """Raise what ends the call, also where the judge's own code catches it: `check` raises it again."""
        self.failure = failure
        raise failure

    def check(self) -> None:
        """Raise what ended the call, where the judge's own code caught it."""
        if self.abandoned:
            raise AbandonedError
        if self.failure is not None:
            raise self.failure

    def play(self, row: CassetteRow) -> None:
        """Take a recorded answer; raises AnswerTooLargeError for one that, replayed or not, nobody is to read."""
        self.played.append(row)
        if row.oversize:
            self.fail(AnswerTooLargeError(row))

    def keep_answer(self) -> None:
        """Write down what was received: the judge found it to be an answer, not an error."""
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
        """Forget what was received: it is an error, and the next attempt starts from the beginning."""
        self.pending.clear()
        self.asked.clear()
        self.played.clear()
        self.online = False

    def postpone(self, *, unless_asked: int = 0) -> None:
        """Raise PostponedError where a batch answered: another one has to, unless `unless_asked` batches did."""
        if self.delivered is not None and not (unless_asked and self.delivered.tries >= unless_asked):
            self.drop_answer()
            raise DeferredToBatchError

    def leave_unread(self, why: str) -> None:
        """Raise PostponedError where a batch answered what nobody can read.

        At once such an answer ends the recording, before more of the kind are paid for. Those of a batch are paid for,
        and the others are as good as they were.
        """
        if self.delivered is not None:
            self.unread = why
            self.postpone()


# The call that HTTP is routed for: vcrpy sits below the SDKs, where nothing can be passed.
CALL: ContextVar[JudgeCall | None] = ContextVar("judgefixtures_call", default=None)
