"""Header of a report: version, date, command, sources of the answers, and their cost."""

from collections import Counter
from collections.abc import Sequence

from judgefixtures.client.costs import STANDARD_TIERS
from judgefixtures.metrics.row_builders import pairs_digest
from judgefixtures.models.findings import Finding, Row
from judgefixtures.models.swap_rows import DecisionRow
from judgefixtures.util.shell import quoted

from .run_record import RunRecord

TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


def run_header(record: RunRecord) -> Row:
    """Return a report's `run`: date, version, sources and command."""
    about = record.about
    days = ("first", "last", "undated")
    recorded = {judge: {name: source[name] for name in days} for judge, source in about.sources.items()}
    return {
        "version": about.version,
        "date": about.date,
        "command": rerun_command(record, record.findings),
        "recorded": recorded,
    }


def rerun_command(record: RunRecord, findings: Sequence[Finding]) -> str:
    """Return a command that repeats the checks of these findings."""
    if not findings:
        return " ".join(["pytest", *record.about.options])
    judges = sorted({finding.judge for finding in findings})
    baselines = sorted({finding.baseline for finding in findings if finding.baseline is not None})
    datasets = sorted({finding.dataset for finding in findings})
    given = [("judge", judge) for judge in judges] + [("judge-baseline", name) for name in baselines]
    given += [("judge-dataset", dataset) for dataset in datasets]
    words = " or ".join(_words(record, findings))
    if baselines and all(finding.baseline for finding in findings):
        words = f"swap and ({words})"
    named = [f"--{option} {quoted(name)}" for option, name in given]
    return " ".join(["pytest", f"-k {quoted(words)}", *named, *record.about.options])


def swap_command(record: RunRecord, swap: DecisionRow) -> str:
    """Return a command that repeats a whole swap."""
    names = f"--judge {quoted(swap.judge)} --judge-baseline {quoted(swap.baseline)}"
    return " ".join(["pytest -k swap", names, *record.about.options])


def _words(record: RunRecord, findings: Sequence[Finding]) -> list[str]:
    names, words, inside = {finding.name for finding in findings}, set[str](), set[str]()
    for family, ids in record.about.families.items():
        inside |= set(ids)
        words |= {family} if set(ids) <= names else names & set(ids)
    return sorted(word.replace("-no-cue", "") for word in words | (names - inside))  # as in the items' ids


def dataset_summaries(pairs: Sequence[Row]) -> list[Row]:
    """Return a report's `datasets`: the number of pairs, and a digest of their texts."""
    rows_by_dataset: dict[str, list[Row]] = {}
    for row in pairs:
        rows_by_dataset.setdefault(row["dataset"], []).append(row)
    return [
        {"dataset": dataset, "n": len({row["pair"] for row in rows}), "digest": pairs_digest(rows)}
        for dataset, rows in sorted(rows_by_dataset.items())
    ]


def usage_summary(record: RunRecord) -> list[Row]:
    """Return the `usage` of a report's `run` by judge.

    Money is the cost of all answers; null if a price or count is unknown.
    """
    rows = []
    for judge in sorted({row["judge"] for row in record.judgments}):
        judgments = [row for row in record.judgments if row["judge"] == judge]
        plans = [row for row in record.plans if row["judge"] == judge and "usage" in row]
        usages = [row["usage"] for row in (*judgments, *plans)]
        tokens = {name: _sum([usage[name] for usage in usages]) for name in TOKENS}
        if (cached := _sum([usage.get("cached_tokens") for usage in usages])) is not None:
            tokens["cached_tokens"] = cached  # of those in, where the provider tells
        invalid = dict(sorted(Counter(row["invalid"] for row in judgments if row["invalid"]).items()))
        counts = {"judge": judge, "judgments": len(judgments), "invalid": invalid, **tokens}
        rows.append({**counts, "usd": _usd(usages, record.about.prices.get(judge, {}))})
    return rows


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _usd(usages: Sequence[Row], prices: Row) -> float | None:
    by_tier: dict[str | None, list[Row]] = {}
    for usage in usages:
        by_tier.setdefault(usage.get("service_tier"), []).append(usage)
    sums = [_of_tier(served, _rates_in(tier, prices)) for tier, served in by_tier.items()]
    return None if None in sums else float(sum(each for each in sums if each is not None) / 1e6)


def _rates_in(tier: str | None, prices: Row) -> Row:
    if tier is None or "tiers" not in prices:
        return prices
    tier_prices: Row = prices["tiers"].get("default" if tier in STANDARD_TIERS else tier, {})
    return tier_prices


def _of_tier(usages: Sequence[Row], prices: Row) -> float | None:
    rates: list[float | None] = [prices.get("input"), prices.get("output")]
    rates += [prices.get(name, rates[0]) for name in ("cached_input", "cache_write")]
    counts = [[usage[f"{side}_tokens"] for usage in usages] for side in ("input", "output")]
    if None in rates or any(None in side for side in counts):
        return None
    cached, written = (sum(usage.get(f"{name}_tokens", 0) for usage in usages) for name in ("cached", "cache_write"))
    input_count, answered = map(sum, counts)
    billed = (max(input_count - cached - written, 0), answered, cached, written)
    return float(sum(count * rate for count, rate in zip(billed, rates, strict=True) if rate is not None))
