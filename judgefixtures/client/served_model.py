"""Guard against a changed model: does the requested model answer, and the same one throughout?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from judgefixtures.models.replies import ModelReply
from judgefixtures.providers import FatalJudgeError
from judgefixtures.providers.judge_table import JudgeTable

# gpt-4o may be served as gpt-4o-2024-11-20: the name with a date or a revision, and nothing else.
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})\Z")


class ServedModelChangedError(FatalJudgeError):
    """Another model answered than the judge's; `model` is what it calls itself, or its fingerprint."""

    def __init__(self, message: str, model: str) -> None:
        super().__init__(message)
        self.model = model


@dataclass(frozen=True, slots=True)
class ServedModelGuard:
    """The model that a judge's table names, and whether another one may answer now and then."""

    judge: str
    table: JudgeTable

    @property
    def model(self) -> str:
        """The name that answers are to come under."""
        return (self.table.model or "").removeprefix("models/")

    def check(self, served: str | None) -> None:
        """Raise OtherModelError where an answer is of another model than the one that was asked for."""
        accepted = self.table.accept_served_model
        if not served or served in (self.model, accepted) or (not accepted and DATED.sub("", served) == self.model):
            return
        raise ServedModelChangedError(
            f"the model {served!r} answered where {self.model!r} was asked for: the provider reroutes the name. "
            f"Name the model that you mean, or set accept_served_model = {served!r} in {self.table.heading}.",
            served,
        )

    def find_mixture(self, reply: ModelReply, first: dict[str, str]) -> str | None:
        """Return what is wrong where a pinned judge is answered by another model than `first`, which is kept there.

        The report warns of any change. A name with a date pins the model alone: a provider may run one snapshot on
        several machineries at once, each with a fingerprint of its own. Whoever sets accept_served_model says that
        nothing may change.
        """
        accepted = self.table.accept_served_model
        if not accepted and not DATED.search(self.table.model or ""):
            return None
        served = {"model": reply.served_model, "fingerprint": reply.fingerprint if accepted else None}
        for kind, now in served.items():
            if now and first.setdefault(kind, now) != now:
                rule = f"accept_served_model = {accepted!r}" if accepted else f"model = {self.table.model!r}"
                return (
                    f"judge {self.judge!r}: the {kind} {now!r} answered where {first[kind]!r} did before, and {rule} "
                    "pins the judge: its answers are a mixture of two. What was recorded is kept: record anew with "
                    f"--judge-record all when the provider serves one alone{self._unpinned(reply, first)}."
                )
        return None

    def _unpinned(self, reply: ModelReply, first: Mapping[str, str]) -> str:
        """Say what takes the pin off, where the judge's name would take both models without it."""
        names = [name for name in (reply.served_model, first.get("model")) if name]
        if self.table.accept_served_model and not all(self.model in (name, DATED.sub("", name)) for name in names):
            return ""
        return f", or take the pin out of {self.table.heading}, and the change is a warning"
