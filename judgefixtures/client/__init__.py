"""Model client: send requests with retries, rate limiting, concurrency and cost limits."""
