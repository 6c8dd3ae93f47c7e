"""Provider of imported judges: it answers nothing and raises."""

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.providers import FatalJudgeError, ProviderResponse, ProviderSpec
from judgefixtures.util.texts import join_names

from .judge_table import JudgeTable
from .messages import MESSAGES

KEYS = {"provider", "ties", "mode"}
# How a log's grades and scores are read when it is imported; and from which score on a response passes, in any run.
OF_GRADES = {"labels", "grade_field", "verdict"}
OF_SCORES = {"scale", "pass_mark", "verdict"}


class ImportedProvider:
    """Provider of imported judges, whose answers come from a log."""

    sent: frozenset[str] = frozenset()

    def __init__(self, table: JudgeTable) -> None:  # noqa: ARG002 (as every provider is made)
        self.dropped: frozenset[str] = frozenset()

    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:  # noqa: ARG002
        """Raise FatalJudgeError: nothing can be asked."""
        raise FatalJudgeError(
            'it is imported (provider = "imported") and receives no requests. Its answers come from its log.'
        )

    async def close(self) -> None:
        """Do nothing."""

    def forget(self) -> None:
        """Do nothing."""


def _check(table: JudgeTable) -> None:
    layout = LAYOUTS[table.mode]
    if not layout.logged:
        modes = join_names((name for name, each in LAYOUTS.items() if each.logged), " or ", quoted=True)
        raise ValueError(MESSAGES.imported_mode(table, modes))
    taken = KEYS | (OF_GRADES if layout.has_labels else OF_SCORES if layout.has_scale else set())
    if others := sorted(table.model_fields_set - taken):
        raise ValueError(MESSAGES.imported_keys(others))


RECORD = ProviderSpec(answers=ImportedProvider, key=None, is_asked=False, check=_check)
