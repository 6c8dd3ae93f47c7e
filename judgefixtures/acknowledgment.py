"""Does a reason admit a cue: the public path of judgefixtures/reading/acknowledgment.py, read when it is first used."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgefixtures.reading.acknowledgment import Acknowledgment, Detector, acknowledgment, explained

__all__ = ["Acknowledgment", "Detector", "acknowledgment", "explained"]


def __getattr__(name: str) -> Any:
    from judgefixtures.reading import acknowledgment as room

    return getattr(room, name)
