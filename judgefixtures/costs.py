"""What calls cost: the public path of judgefixtures/asking/costs.py."""

from judgefixtures.asking.costs import *  # noqa: F403
