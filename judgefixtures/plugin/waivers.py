"""Waivers: written, dated exceptions to a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .messages import MESSAGES

if TYPE_CHECKING:
    from judgefixtures.config import Config
    from judgefixtures.models.findings import Finding


def apply_waiver(finding: Finding, config: Config) -> Finding:
    """Return the finding under its waiver: waived, or FAIL once the waiver has expired; ERROR has none."""
    from judgefixtures.cassettes.files import today_utc
    from judgefixtures.models.findings import AppliedWaiver
    from judgefixtures.statistics import Status

    waiver = config.waiver(finding.name) if finding.baseline is None else None
    if waiver is None or finding.status is Status.ERROR or finding.is_of_control:
        return finding
    if waiver.expires.isoformat() <= today_utc():
        needed = finding.status in (Status.FAIL, Status.INCONCLUSIVE)
        remedy = "remove it, or renew it in" if needed else "the check needs no waiver; remove it from"
        return finding.no_longer_waived(MESSAGES.waiver_expired(finding, waiver, remedy, config.file))
    if finding.status not in (Status.FAIL, Status.INCONCLUSIVE):
        return finding
    return finding.waived_by(AppliedWaiver(waiver.owner, waiver.reason, str(waiver.expires)))
