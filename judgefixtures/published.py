"""What arXiv 2509.26072 published: the public path of judgefixtures/material/published.py."""

from judgefixtures.material.published import *  # noqa: F403
