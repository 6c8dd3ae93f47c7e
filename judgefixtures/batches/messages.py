"""Messages of batches, in messages.txt.jinja."""

from judgefixtures.models.messages import load_messages

MESSAGES = load_messages(__file__, minute=lambda time: f"{time:%Y-%m-%d %H:%M} UTC")
