"""Messages of judges, in messages.txt.jinja."""

from judgefixtures.models.messages import load_messages

MESSAGES = load_messages(__file__)
