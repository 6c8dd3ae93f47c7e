"""What the unit tests share: a server (server.py), ways to ask (asking.py), a user's repository (project.py)."""
