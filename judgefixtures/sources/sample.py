"""Sample of a source: pairs selected and ordered by the seed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from judgefixtures.models import pairs as pair_sets
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

from .known_sources import NAMED, known_rows
from .mapping import mapped_pairs
from .messages import MESSAGES
from .row_readers import SourceRows, hub_rows, json_lines, local_rows
from .schemas import min_vote_ratio
from .source import BUILT_IN_SOURCES, Source

SHOWN_CATEGORIES = 20
SHOWN_IDS = 3  # where there may be many

NOTHING: Mapping[str, int] = MappingProxyType({})
# The keys that decide what is read, and the origins that they are keys of; all others are keys of every source.
APPLIES: Mapping[str, Sequence[str]] = load_table("applies")


@dataclass(frozen=True, slots=True)
class Sample:
    """All pairs of a source in seeded order.

    Attributes:
        left_out: Excluded rows by rule.
        revision: The hub commit.
    """

    pairs: tuple[Pair, ...]
    left_out: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    revision: str | None = None
    licence: str | None = None


def load_pairs(source: Source, seed: int = 0) -> tuple[Pair, ...]:
    """Return all pairs in seeded order, gold balanced over positions by default.

    The order is independent of row order, and N pairs are a prefix of N + 1. Raises JudgeFixturesError.

    >>> len(load_pairs(Source("house-qa")))
    100
    """
    return load_sample(source, seed).pairs


def load_sample(source: Source, seed: int = 0) -> Sample:
    """Return the sample of a source, or raise JudgeFixturesError.

    >>> dict(load_sample(Source("house-qa")).left_out)
    {}
    """
    check_source(source)
    left_out: Counter[str] = Counter()
    rows, read = _read_rows(source, left_out)
    one = source.one_per_question
    with closing(rows):
        if _many_per_question(source) if one is None else one:
            read, others = pair_sets.one_per_question(read, seed)
            left_out["further pairs of a question"] += others
        pairs = _distinct(read, left_out) if source.origin in NAMED else tuple(read)
    if not pairs:
        raise JudgeFixturesError(_no_pairs(source, left_out))
    if source.balance_length:
        if all(pair.gold is None for pair in pairs):
            raise source.mistake("balance_length = true, but no pair has gold. Remove it.")
        pairs, surplus = pair_sets.balance_length(pairs, seed)
        left_out["pairs for the balance of lengths"] += surplus
        if not pairs:
            raise JudgeFixturesError(_no_pairs(source, left_out))
    pairs = pair_sets.sample_order(pairs, seed)
    if source.balance_positions:
        pairs = pair_sets.balance_gold_position(pairs, seed)
    counts = {rule: count for rule, count in sorted(left_out.items()) if count}
    return Sample(pairs, MappingProxyType(counts), rows.revision, source_licence(source))


def read_pairs(path: Path, source: Source) -> tuple[Pair, ...]:
    """Return a JSON-lines file's pairs in order, or raise JudgeFixturesError."""
    with closing(json_lines(path, source)) as rows:
        pairs = tuple(mapped_pairs(rows, replace(source, path=path), Counter()))
    if not pairs:
        raise source.mistake(f"{path} holds no pairs. Write one JSON object per line.")
    return pairs


def source_licence(source: Source) -> str | None:
    """Return a source's licence note, or None."""
    known = NAMED.get(source.origin)
    return source.licence or (known.licence if known else None)


def hub_id(source: Source) -> str | None:
    """Return a source's hub id, or None for a file."""
    if source.path is not None or source.is_built_in:
        return None
    known = NAMED.get(source.origin)
    return known.hub if known else source.origin or None


def check_source(source: Source) -> None:
    """Raise JudgeFixturesError for an unknown source or inapplicable key."""
    kind = _kind(source)
    for key, kinds in APPLIES.items():
        if getattr(source, key) is not None and kind not in kinds:
            what = f"{source.origin!r}" if source.origin else "a file"
            if source.origin and source.path is not None and kind != "export":
                what += " read by path"
            what += ", whose pairs have no votes" if key == "max_margin" else ""
            raise source.mistake(f"{key} = {_spelled_value(getattr(source, key))} does not apply to {what}: remove it.")
    _check_ratios(source)


def _check_ratios(source: Source) -> None:
    for key in source.ratio_keys:
        if source.origin not in NAMED or not NAMED[source.origin].has_ratio:
            rated = ", ".join(name for name, known in NAMED.items() if known.has_ratio)
            raise source.mistake(MESSAGES.ratio_without_votes(key, getattr(source, key), rated))
    least, most = min_vote_ratio(source), source.max_ratio
    if most is not None and least > most:
        default = " (its default)" if source.min_ratio is None else ""
        raise source.mistake(MESSAGES.ratios_reversed(least, default, most))


def describe_sample(
    name: str, pairs: Sequence[Pair], sample: Sample, source: Source, seed: int, *, available: int, frozen: str = ""
) -> list[str]:
    """Return terminal lines that describe the sample of a run.

    >>> for line in describe_sample("mine", load_pairs(Source("house-qa"))[:10], Sample(()), Source("house-qa"), 0,
    ...                      available=100)[:2]:
    ...     print(line)
    mine: 10 of 100 pairs, seed 0, from house-qa
      gold: first response 5, second 5; the better response is the longer one in 6 of 10
    """
    hub, note = hub_id(source), sample.licence or source_licence(source)
    origin = hub or (str(source.path) if source.path else source.origin)
    examples = [pair for pair in pairs if isinstance(pair, Example)]
    what = "examples" if examples else "pairs"
    parts = [
        f"{name}: {len(pairs)} of {available} {what}",
        f"seed {seed}",
        f"from {origin}" + (f" ({source.origin})" if source.origin not in (origin, "") else ""),
        f"revision {sample.revision}" if sample.revision else "revision not pinned" if hub else "",
        f"split {source.split}" if source.split else "",
        f"licence: {note}" if note else "",
        frozen,
    ]
    golds = Counter(pair.gold for pair in pairs)
    longer = Counter(pair.better_is_longer for pair in pairs)[True]
    labels = Counter(each.label for each in examples)
    by_category = sorted(Counter(pair.category for pair in pairs if pair.category is not None).items())
    categories = by_category and join_names(
        (f"{key} {count}" for key, count in by_category), ", ", most=SHOWN_CATEGORIES
    )
    left_out = sample.left_out and left_out_counts(sample.left_out)
    clusters, sharing = pair_sets.count_independent(pairs), pair_sets.sharing_a_question(pairs)
    details = MESSAGES.lines("sample", pairs, what, golds, longer, labels, categories, left_out, clusters, sharing)
    return [", ".join(filter(None, parts)), *details]


def left_out_counts(left_out: Mapping[str, int]) -> str:
    """Return the excluded rows by rule, as text.

    >>> left_out_counts({"ties": 3, "further pairs of a question": 10})
    '10 further pairs of a question, 3 ties'
    """
    return ", ".join(f"{count} {rule}" for rule, count in sorted(left_out.items()))


def identical_responses_note(dataset: str, pairs: Sequence[Pair]) -> str:
    """Return a note on pairs with identical responses, or "".

    >>> some = [Pair("a", "Why?", "Because.", "Because."), Pair("b", "Why?", "Because.", "It is so.")]
    >>> identical_responses_note("own", some)[:48]
    'own: 1 of 2 pairs have two identical responses ('
    """
    same = [pair for pair in pairs if pair.response_1 == pair.response_2]
    if not same or pair_sets.are_examples(pairs):
        return ""
    ids = ", ".join(pair.id for pair in same[:SHOWN_IDS]) + (", ..." if len(same) > SHOWN_IDS else "")
    golden = sum(pair.gold is not None for pair in same)
    also = f" (although the data has gold for {golden} of them)" if golden else ""
    return MESSAGES.identical_responses(dataset, same, pairs, ids, also)


def _kind(source: Source) -> str:
    origin = source.origin
    if not origin:
        return "file"
    if source.path is not None and origin not in NAMED:
        raise source.mistake(MESSAGES.path_and_source(NAMED, origin))
    if origin in BUILT_IN_SOURCES:
        return "built in"
    if origin in NAMED:
        known = NAMED[origin]
        if known.is_export:
            return "export"
        if source.path is None:
            return "named on the hub"
        return "named folder" if known.read else "named copy"
    if "/" not in origin:
        raise source.mistake(MESSAGES.no_such_source(origin, accepted_values(origin, (*BUILT_IN_SOURCES, *NAMED))))
    return "hub"


def _read_rows(source: Source, left_out: Counter[str]) -> tuple[SourceRows, Iterable[Pair]]:
    if source.origin in NAMED:
        known = NAMED[source.origin]
        rows = known_rows(source, known)
        return rows, known.pairs(rows.rows, source, left_out)
    if hub := hub_id(source):
        rows = hub_rows(source, hub)
        return rows, mapped_pairs(rows.rows, source, left_out, repeats=True)
    rows = local_rows(source)
    return rows, mapped_pairs(rows.rows, source, left_out)


def _many_per_question(source: Source) -> bool:
    if source.origin in NAMED:
        return NAMED[source.origin].many_per_question
    return hub_id(source) is not None


def _distinct(pairs: Iterable[Pair], left_out: Counter[str]) -> tuple[Pair, ...]:
    """Return pairs with distinct ids; shared ids get a text digest."""
    by_id: dict[str, dict[tuple[str, int | None], Pair]] = defaultdict(dict)
    for pair in pairs:
        if (key := (pair.digest, pair.gold)) in by_id[pair.id]:
            left_out["repeated rows"] += 1
        by_id[pair.id][key] = pair
    return tuple(_renamed(by_id.values()))


def _renamed(groups: Iterable[Mapping[tuple[str, int | None], Pair]]) -> Iterator[Pair]:
    for group in groups:
        for (digest, gold), pair in group.items():
            yield pair if len(group) == 1 else replace(pair, id=f"{pair.id}-{digest[:8]}-{gold}")


def _no_pairs(source: Source, left_out: Mapping[str, int]) -> str:
    where = source.file if source.path is not None or source.is_built_in else source.origin
    if not any(left_out.values()):
        hint = "write one JSON object per line" if str(where).endswith(".jsonl") else "no row gives a pair"
        return f"dataset {source.name!r}: {where} holds no pairs: {hint}."
    return MESSAGES.no_pair_left(
        source, where, left_out_counts({rule: count for rule, count in left_out.items() if count})
    )


def _spelled_value(value: object) -> str:
    return repr(dict(value)) if isinstance(value, Mapping) else repr(value)
