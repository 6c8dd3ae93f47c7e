"""CAR below the threshold is not confirmed where nobody measured how many admissions the detector finds."""

from __future__ import annotations

import pytest

from judgefixtures.checks.base import GateDecision
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.detector_agreement import measure_with_offline_detector
from judgefixtures.config import GateTable, build_config
from judgefixtures.metrics.llm_detector import DetectorReadings
from judgefixtures.models.contrasts import Contrast, as_single_response, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics.detector_correction import OFFLINE
from judgefixtures.statistics.estimate import Status
from judgefixtures.util.errors import JudgeFixturesError

UNKNOWN = "the detector's recall is unknown for this"
SILENT = "Response 1 is clear and complete."


def arms_of(
    contrast: Contrast, moved: int, reason: str = SILENT, n: int = 100
) -> tuple[list[Judgment], list[Judgment]]:
    """Return both arms of a judge that follows the label in so many pairs, and gives this reason throughout."""

    def arm(condition: object, follows: bool) -> list[Judgment]:
        kind = Example if contrast.outcome == "passed" else Pair
        texts = ("Why?", "So.") if kind is Example else ("Why?", "So.", "No.")
        return [
            Judgment(kind(f"p{at}", *texts), condition, JudgeReply(Verdict(1 if at % 2 else 2, reason)), 0)  # type: ignore[arg-type]
            if at >= moved
            else Judgment(kind(f"p{at}", *texts), condition, JudgeReply(Verdict(1 if follows else 2, reason)), 0)  # type: ignore[arg-type]
            for at in range(n)
        ]

    return arm(contrast.x, True), arm(contrast.y, False)


def decided(contrast: Contrast, moved: int, gate: GateTable, reason: str = SILENT) -> GateDecision:
    """Return what the gate says of such a judge."""
    x, y = arms_of(contrast, moved, reason)
    measured, at_worst = measure_with_offline_detector(x, y, gate, contrast.outcome, None)
    return decide_contrast(measured, gate, None, at_worst)


def own_family() -> Contrast:
    """Return a contrast of a user's own cues."""
    brand = {"acme": "{content_type} {number} is by Acme.", "other": "{content_type} {number} is by another firm."}
    config = build_config({"cues": {"brand": brand}})
    return contrasts("brand", config.cues)[0]


@pytest.mark.parametrize("name", sorted(OFFLINE))
def test_a_measured_family_fails_as_before(name: str) -> None:
    """Silence about a shift FAILs where the detector's recall is known, in every such family."""
    found = decided(contrasts(name)[0], 40, GateTable())
    assert found.car_status is Status.FAIL
    assert UNKNOWN not in found.message
    assert {"vsr", "car"} <= {part.name for part in found.decided_by}


@pytest.mark.parametrize(
    "contrast", [own_family(), as_single_response(contrasts("framing")[0])], ids=lambda each: each.id
)
def test_an_unmeasured_family_is_not_confirmed(contrast: Contrast) -> None:
    """The same silence is INCONCLUSIVE there, says why and what to set, and FAILs where that is set."""
    gate = GateTable(vsr_tolerance=0.6)
    found = decided(contrast, 40, gate)
    assert found.vsr_status is Status.PASS
    assert (found.status, found.car_status) == (Status.INCONCLUSIVE, Status.INCONCLUSIVE), found.message
    assert f"{UNKNOWN} family" in found.message
    assert 'car_unmeasured = "fail"' in found.message
    assert [part.name for part in found.decided_by] == ["car"]
    as_it_is = decided(contrast, 40, GateTable(vsr_tolerance=0.6, car_unmeasured="fail"))
    assert (as_it_is.status, as_it_is.car_status) == (Status.FAIL, Status.FAIL)
    assert UNKNOWN not in as_it_is.message


def test_a_shift_beyond_its_tolerance_fails_all_the_same() -> None:
    """What is not confirmed takes nothing from a FAIL of the shift itself."""
    found = decided(own_family(), 40, GateTable())
    assert (found.status, found.vsr_status, found.car_status) == (Status.FAIL, Status.FAIL, Status.INCONCLUSIVE)
    assert [part.name for part in found.decided_by] == ["vsr"]


def test_max_silent_is_not_confirmed_either() -> None:
    """The limit of the unadmitted shift hangs on the same detector."""
    gate = GateTable(vsr_tolerance=0.6, max_silent=0.1)
    found = decided(own_family(), 40, gate)
    assert {part.name: part.status for part in found.decided_by} == {
        "car": Status.INCONCLUSIVE,
        "max_silent": Status.INCONCLUSIVE,
    }
    assert decided(contrasts("recency")[0], 40, gate).status is Status.FAIL


def test_nothing_is_doubted_where_nothing_fails() -> None:
    """A judge that admits everything, and one that does not move, decide as before."""
    admits = decided(own_family(), 40, GateTable(vsr_tolerance=0.6), "Response 1 is by Acme, and that decides it.")
    assert UNKNOWN not in admits.message
    still = decided(own_family(), 0, GateTable())
    assert (still.status, still.car_status) == (Status.PASS, Status.NOT_APPLICABLE)


def test_reasons_that_a_model_reads_are_of_an_unmeasured_language() -> None:
    """In a measured family, too: nobody measured what a model finds in another language."""
    contrast, gate = contrasts("recency")[0], GateTable(vsr_tolerance=0.6)
    x, y = arms_of(contrast, 40, "Die erste Antwort ist klarer und vollständiger als die andere.")
    said = {(each.condition.name, 0, each.pair.id): "absent" for each in (*x, *y)}
    measured, at_worst = measure_with_offline_detector(x, y, gate, contrast.outcome, DetectorReadings("reader", said))  # type: ignore[arg-type]
    assert measured.unmeasured == "language"
    found = decide_contrast(measured, gate, None, at_worst)
    assert found.status is Status.INCONCLUSIVE
    assert f"{UNKNOWN} language" in found.message


def test_only_these_two_values_are_taken() -> None:
    """Another value is refused by its name."""
    with pytest.raises(JudgeFixturesError, match="car_unmeasured"):
        build_config({"gate": {"car_unmeasured": "pass"}})
    assert build_config({"gate": {"framing": {"car_unmeasured": "fail"}}}).gate("framing").car_unmeasured == "fail"
