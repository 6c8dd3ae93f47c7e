"""Simulated judges: examples with a known bias, without any model.

`behaviour` computes the answer to a prompt, and `server` serves it in the wire formats of OpenAI (and Azure), Gemini
(and Vertex) and Claude. `python -m judgefixtures.simulator --help` starts it.
"""
