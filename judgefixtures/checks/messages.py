"""Messages of checks, in messages.txt.jinja."""

import re

from judgefixtures.metrics.reasons import explain_reading, is_unreadable_reason
from judgefixtures.models.agreement_rows import human_label
from judgefixtures.models.cues import Cue
from judgefixtures.models.messages import load_messages
from judgefixtures.models.vocabulary import wording_of
from judgefixtures.statistics.log_odds import describe_odds

from .formatting import EXAMPLES, SHOWN_REASON, interval_cell, shorten

QUOTED = 120  # characters of a sentence that is quoted
SUBJECT = re.compile(r"\{content_type\} \{number\} (was |is )?")


def _predicate(cue: Cue) -> str:
    rest = SUBJECT.sub("", cue.sentence, count=1) if SUBJECT.match(cue.sentence) else cue.render("Response", 1)
    return shorten(rest.rstrip().rstrip("."), QUOTED)


def _called(cue: Cue) -> str:
    return f'"{_predicate(cue)}"' if SUBJECT.match(cue.sentence) else f'"{cue.render_alone("Response")}"'


MESSAGES = load_messages(
    __file__,
    called=_called,
    predicate=_predicate,
    short=shorten,
    reason=lambda text: shorten(text, SHOWN_REASON),
    is_long=lambda text: len(text) > SHOWN_REASON,
    first_examples=lambda items: list(items)[:EXAMPLES],
    label=human_label,
    wording=lambda row: wording_of(row.outcome),
    cell=interval_cell,
    is_unreadable=is_unreadable_reason,
    reading=explain_reading,
    odds=describe_odds,
)
