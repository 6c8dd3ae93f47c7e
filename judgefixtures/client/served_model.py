"""Guard against a changed model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from judgefixtures.models.replies import ModelReply
from judgefixtures.providers import FatalJudgeError
from judgefixtures.providers.judge_table import JudgeTable

from .messages import MESSAGES

# gpt-4o may be served as gpt-4o-2024-11-20: the name with a date or a revision, and nothing else.
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})\Z")


class ServedModelChangedError(FatalJudgeError):
    """Another model answered; `model` is its name or fingerprint."""

    def __init__(self, message: str, model: str) -> None:
        super().__init__(message)
        self.model = model


@dataclass(frozen=True, slots=True)
class ServedModelGuard:
    """The expected model of a judge."""

    judge: str
    table: JudgeTable

    @property
    def model(self) -> str:
        """The expected name."""
        return (self.table.model or "").removeprefix("models/")

    def check(self, served: str | None) -> None:
        """Check the model of an answer.

        Raises:
            ServedModelChangedError: It is another one.
        """
        accepted = self.table.accept_served_model
        if not (self.model or accepted):  # the judge's own code chooses its models
            return
        if not served or served in (self.model, accepted) or (not accepted and DATED.sub("", served) == self.model):
            return
        raise ServedModelChangedError(MESSAGES.rerouted(served, self.model, self.table.heading), served)

    def find_mixture(self, reply: ModelReply, first: dict[str, str]) -> str | None:
        """Return why a pinned judge's answer is not by `first`, or None.

        A dated name pins the model only, accept_served_model the fingerprint too.
        """
        accepted = self.table.accept_served_model
        if not accepted and not DATED.search(self.table.model or ""):
            return None
        served = {"model": reply.served_model, "fingerprint": reply.fingerprint if accepted else None}
        for kind, now in served.items():
            if now and first.setdefault(kind, now) != now:
                rule = f"accept_served_model = {accepted!r}" if accepted else f"model = {self.table.model!r}"
                return MESSAGES.model_changed(self.judge, kind, now, first[kind], rule, self._unpinned(reply, first))
        return None

    def _unpinned(self, reply: ModelReply, first: Mapping[str, str]) -> str:
        names = [name for name in (reply.served_model, first.get("model")) if name]
        if self.table.accept_served_model and not all(self.model in (name, DATED.sub("", name)) for name in names):
            return ""
        return f", or take the pin out of {self.table.heading}, and the change is a warning"
