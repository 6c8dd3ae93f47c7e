"""Messages of reports, in messages.txt.jinja."""

from collections.abc import Mapping

from judgefixtures.checks.formatting import shorten
from judgefixtures.checks.plain_language import EDITED
from judgefixtures.models.messages import load_messages
from judgefixtures.models.vocabulary import wording_of
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

SHOWN_IDS = 5
# What differs between the two sides of a family's contrasts.
VARIED: Mapping[str, str] = {**load_table("checks")["varied"], **EDITED}


def describe_family_sides(family: str) -> str:
    """Return the difference between a family's sides.

    >>> describe_family_sides("recency"), describe_family_sides("brand")
    ('the stated date of a response (recency)', 'the label brand')
    """
    text = VARIED.get(family, f"the label {family}")
    return text if family in text else f"{text} ({family})"


MESSAGES = load_messages(
    __file__,
    sides=lambda families: [describe_family_sides(family) for family in families],
    wording=lambda row: wording_of(row.outcome),
    shortened=lambda names: join_names((shorten(name, 60) for name in names), most=SHOWN_IDS),
)
