"""A canary that was interrupted goes on where it stopped: its answers are paid for."""

from __future__ import annotations

import pytest
from test_canary import PAIRS, Project, project  # noqa: F401 (a fixture)

pytestmark = pytest.mark.whole


def test_an_interrupted_canary_goes_on(
    project: Project,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the same day nothing that was answered is asked again; afterwards every run asks anew."""
    project.record()
    before, asked = project.recordings(), len(project.model.said)

    def stopped(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("judgefixtures.canary.monitor._decide_result", stopped)
        assert project.canary()[0] == 130
    assert len(project.model.said) == asked + PAIRS
    assert project.canary()[0] == 0
    assert len(project.model.said) == asked + PAIRS
    (line,) = project.runs
    assert len(line["answers"]["own"]) == PAIRS
    assert project.recordings() == before
    assert project.canary()[0] == 0
    assert len(project.model.said) == asked + 2 * PAIRS


def test_a_canary_that_a_limit_ended_goes_on(project: Project) -> None:  # noqa: F811
    """What --max-cost let through is paid for: the next run of the day asks the rest only."""
    project.record()
    before, asked = project.recordings(), len(project.model.said)
    assert project.canary("--max-cost", "0.004")[0] == 10
    assert asked < len(project.model.said) < asked + PAIRS
    assert project.canary()[0] == 0
    assert len(project.model.said) == asked + PAIRS
    assert [len(line["answers"].get("own", ())) for line in project.runs] == [0, PAIRS]
    assert project.recordings() == before
