"""Model client: send requests to a model with retries, rate limiting, concurrency and cost limits.

`model_client` sends one prompt and retries it, `requests` runs many at once, `parameter_probe` finds the parameters
that a model accepts, and `served_model` and `truncation` stop a recording that would waste money.
"""
