"""Messages of a run, in messages.txt.jinja."""

from judgefixtures.client.costs import format_usd
from judgefixtures.models.messages import load_messages

MESSAGES = load_messages(__file__, usd=format_usd)
