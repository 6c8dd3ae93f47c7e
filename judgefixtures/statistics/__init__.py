"""Statistics: estimates, intervals and gates on counts and scores."""

from .agreement import *  # noqa: F403
from .agreement_rates import *  # noqa: F403
from .calibration import *  # noqa: F403
from .clusters import *  # noqa: F403
from .elementary import *  # noqa: F403
from .estimate import *  # noqa: F403
from .gates import *  # noqa: F403
from .grader_swap_power import *  # noqa: F403
from .kappa import *  # noqa: F403
from .proportions import *  # noqa: F403
from .score_shift import *  # noqa: F403
