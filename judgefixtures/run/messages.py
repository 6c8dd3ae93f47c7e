"""Messages of runs and of the preflight, in messages.txt.jinja."""

from judgefixtures.client.costs import MARGIN, format_usd
from judgefixtures.models.messages import load_messages

MESSAGES = load_messages(__file__, usd=format_usd, margin=lambda _: f"{100 * MARGIN:.0f}")
