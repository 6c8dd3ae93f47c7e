"""Queue of requests for the next batch, split by size limits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judgefixtures.client.costs import Cost
from judgefixtures.providers.batch_api import BatchLimits

from .manifest import PARITY, Key

OVERHEAD = 120  # bytes of a line beside the request's body


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A question for a batch."""

    key: Key
    repeat: int
    body: bytes
    cost: Cost
    identity: str
    kind: str  # of client: a judge, its planner, a detector
    dropped: tuple[str, ...]  # the parameters that it leaves out, because the model does not take them

    @property
    def name(self) -> str:
        """Its id: digest and repeat."""
        _, digest, parity = self.key
        return f"{digest}-{self.repeat}" + (f"-{PARITY}" if parity else "")


@dataclass(slots=True)
class BatchQueue:
    """The queued requests by judge."""

    _queues: dict[str, dict[Key, BatchRequest]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __contains__(self, key: Key) -> bool:
        return any(key in queue for queue in self._queues.values())

    def put(self, judge: str, letter: BatchRequest) -> None:
        """Queue a judge's request."""
        self._queues.setdefault(judge, {})[letter.key] = letter

    def drop(self, keys: Iterable[Key]) -> None:
        """Remove these questions."""
        for queue in self._queues.values():
            for key in keys & queue.keys():
                del queue[key]

    def parcels(self, limits: Mapping[str, BatchLimits]) -> Iterator[tuple[str, list[BatchRequest]]]:
        """Yield judges with one batch of requests each, removing the previous."""
        for judge, queue in self._queues.items():
            if all(letter.key[2] for letter in queue.values()):
                queue.clear()  # all was asked at once: there is no other way to compare with
            while letters := list(_first(queue.values(), limits[judge])):
                yield judge, letters
                for letter in letters:
                    del queue[letter.key]


def _first(letters: Iterable[BatchRequest], limits: BatchLimits) -> Iterator[BatchRequest]:
    size = 0
    for number, letter in enumerate(letters, 1):
        size += len(letter.body) + OVERHEAD
        if number > 1 and (number > limits.lines or size > limits.size):
            return
        yield letter


def requests_by_id(letters: Sequence[BatchRequest]) -> Mapping[str, BatchRequest]:
    """Return requests by unique ids, as cassettes can share a question."""
    names: dict[str, BatchRequest] = {}
    for letter in letters:
        name, number = letter.name, 2
        while name in names:
            name, number = f"{letter.name}-{number}", number + 1
        names[name] = letter
    return names
