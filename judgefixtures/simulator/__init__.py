"""Simulated judges: examples, of each of which it is known what moves it. Nobody's model answers here.

`behaviour` decides what a simulated judge answers to a prompt, `server` says it over HTTP in the wire formats
of OpenAI (Azure's too), Gemini (on Vertex, too) and Claude. `python -m judgefixtures.simulator --help` starts it.
"""
