"""Estimates and gates on counts and scores, by one path: what the modules of this room bring."""

from judgefixtures.numbers.agreement import *  # noqa: F403
from judgefixtures.numbers.calibration import *  # noqa: F403
from judgefixtures.numbers.clusters import *  # noqa: F403
from judgefixtures.numbers.elementary import *  # noqa: F403
from judgefixtures.numbers.estimate import *  # noqa: F403
from judgefixtures.numbers.kappa import *  # noqa: F403
from judgefixtures.numbers.points import *  # noqa: F403
from judgefixtures.numbers.proportions import *  # noqa: F403
from judgefixtures.numbers.takeover import *  # noqa: F403
from judgefixtures.numbers.tolerance import *  # noqa: F403
