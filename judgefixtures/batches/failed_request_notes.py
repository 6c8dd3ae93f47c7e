"""Notes about requests whose answers failed or cannot be read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .manifest import Key
from .messages import MESSAGES


@dataclass(slots=True)
class FailedRequestNotes:
    """The given-up questions (`keys`) and unreadable answers."""

    keys: set[Key] = field(default_factory=set)
    unread: dict[tuple[str, str], list[Key]] = field(default_factory=dict)  # by batch, and why
    _worn: dict[tuple[str, str, str], list[Key]] = field(default_factory=dict)  # by judge, batch, and why

    def note_worn(self, judge: str, why: tuple[str, str], key: Key) -> None:
        """Give up a question after its last batch; `why` is its failure."""
        self._worn.setdefault((judge, *why), []).append(key)
        self.keys.add(key)

    def note_unread(self, batch: str, why: str, key: Key, *, is_last: bool) -> None:
        """Note an unreadable answer; the last one gives up the question."""
        self.unread.setdefault((batch, why), []).append(key)
        if is_last:
            self.keys.add(key)

    def tell(self) -> Iterator[str]:
        """Yield messages about given-up questions."""
        for (judge, batch, why), keys in self._worn.items():
            yield MESSAGES.too_many_attempts(judge, keys, _some(keys), batch, why)
        yield from self._tell_unread(given_up=True)

    def tell_asked_again(self) -> Iterator[str]:
        """Yield messages about questions that are asked again."""
        return (f"{text} -- they are sent again" for text in self._tell_unread(given_up=False))

    def _tell_unread(self, *, given_up: bool) -> Iterator[str]:
        for (batch, why), every in self.unread.items():
            if keys := [key for key in every if (key in self.keys) == given_up]:
                yield f"not read: {len(keys)} answers of {batch} cannot be read (to {_some(keys)}): {why}"


def _some(keys: Sequence[Key]) -> str:
    return f"{', '.join(digest for _, digest, _ in keys[:3])}{', ...' if len(keys) > 3 else ''}"
