"""Pairs and examples, selected by digests of the seed."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Self

TEXT_FIELDS = ("question", "response_1", "response_2")
FIELDS = ("id", *TEXT_FIELDS, "gold", "category", "content_type", "cluster")
# What no template shows: which pair or example it is, and what people say of it.
HIDDEN = ("id", "label", "labels", "gold", "votes", "category", "cluster")
# Columns that say which model wrote an example's response, and which ones a pair's two.
MODEL, MODELS = "model", ("model_1", "model_2")
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)\.0")  # an id that is a number in a column of such
OTHER_MODEL: Mapping[str, str] = MappingProxyType(dict(zip(MODELS, reversed(MODELS), strict=True)))


class ColumnText(str):
    """A column's text, with the `value` of a column that holds no text.

    >>> ColumnText("[1, 2]", [1, 2]) == "[1, 2]", column_value(ColumnText("[1, 2]", [1, 2])), column_value("[1, 2]")
    (True, [1, 2], '[1, 2]')
    """

    value: Any

    def __new__(cls, text: str, value: Any = None) -> Self:
        """Create a text with its value."""
        made = super().__new__(cls, text)
        made.value = value
        return made


def column_value(text: str) -> Any:
    """Return the value of a column in its dataset, by default its text."""
    return text.value if isinstance(text, ColumnText) else text


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with two responses; gold is the better one.

    Pairs of one `cluster` are related.
    """

    id: str
    question: str
    response_1: str
    response_2: str
    gold: Literal[1, 2] | None = None
    category: str | None = None
    content_type: str = "Response"
    cluster: str | None = None
    # What else its row says, as a template shows it: a text by the column's name. Nothing else compares or digests it.
    columns: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False, repr=False)

    @property
    def digest(self) -> str:
        """A digest of the texts, without columns."""
        seen = json.dumps([self.question, self.response_1, self.response_2, self.content_type])
        return hashlib.sha256(seen.encode()).hexdigest()[:16]

    @property
    def columns_digest(self) -> str:
        """A digest of each column after its name.

        >>> Pair("1", "Why?", "So.", "No.", columns={"source": "a book"}).columns_digest
        'source=ae35964219d1'
        """
        of = {name: hashlib.sha256(text.encode("utf-8", "surrogatepass")) for name, text in self.columns.items()}
        return " ".join(f"{name}={of[name].hexdigest()[:12]}" for name in sorted(of))

    @property
    def better_is_longer(self) -> bool | None:
        """Whether the better response is longer; None if unknown or equal."""
        lengths = (len(self.response_1), len(self.response_2))
        if self.gold is None or lengths[0] == lengths[1]:
            return None
        return (lengths[0] > lengths[1]) == (self.gold == 1)


NUMBERS: tuple[Literal[1, 2], ...] = (1, 2)
Label = Literal["pass", "fail"]
LABELS: tuple[Label, ...] = ("pass", "fail")


@dataclass(frozen=True, slots=True)
class Example(Pair):
    """A question with one response and perhaps a label.

    Attributes:
        labels: By person; `label` is their majority.
        of: The pair whose response `number` it is.
    """

    response_2: str = ""
    label: Label | None = None
    labels: Mapping[str, Label] = field(default_factory=dict, hash=False, compare=False)
    of: Pair | None = field(default=None, hash=False, compare=False, repr=False)
    number: Literal[1, 2] = field(default=1, compare=False, repr=False)

    @property
    def response(self) -> str:
        """The response."""
        return self.response_1

    @property
    def digest(self) -> str:
        """A digest of the texts, without columns."""
        seen = json.dumps([self.question, self.response, self.content_type])
        return hashlib.sha256(seen.encode()).hexdigest()[:16]


def as_examples(pair: Pair) -> tuple[Example, ...]:
    """Return the responses as examples.

    >>> [(each.id, each.response, each.label) for each in as_examples(Pair("1", "Why?", "So.", "No.", gold=1))]
    [('1/1', 'So.', 'pass'), ('1/2', 'No.', 'fail')]
    """
    if isinstance(pair, Example):
        return (pair,)
    return tuple(
        Example(
            f"{pair.id}/{number}",
            pair.question,
            text,
            label=None if pair.gold is None else "pass" if pair.gold == number else "fail",
            category=pair.category,
            content_type=pair.content_type,
            cluster=pair.cluster or pair.id,
            columns=pair.columns,
            of=pair,
            number=number,
        )
        for number, text in zip(NUMBERS, (pair.response_1, pair.response_2), strict=True)
    )


def whole_pairs(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return the responses' pairs; examples stay.

    >>> [each.id for each in whole_pairs(as_examples(Pair("1", "Why?", "So.", "No.")))]
    ['1']
    """
    owners = (replace(p.of, columns=p.columns) if isinstance(p, Example) and p.of else p for p in pairs)
    return tuple({each.id: each for each in owners}.values())


def first_pairs(pairs: tuple[Pair, ...], wanted: int | None) -> tuple[Pair, ...]:
    """Return the first `wanted` pairs.

    >>> [each.id for each in first_pairs(as_examples(Pair("1", "Why?", "So.", "No.")), 1)]
    ['1/1', '1/2']
    """
    return pairs if wanted is None else pairs[: wanted * units_per_pair(pairs)]


def units_per_pair(pairs: Sequence[Pair]) -> int:
    """Return the units per pair, 2 for pair responses."""
    return 2 if pairs and isinstance(pairs[0], Example) and pairs[0].of is not None else 1


def are_examples(pairs: Iterable[Pair]) -> bool:
    """Return whether these are single-response examples."""
    return any(isinstance(pair, Example) for pair in pairs)


def sample_order(pairs: Iterable[Pair], seed: int) -> tuple[Pair, ...]:
    """Return pairs in seeded order, each prefix with proportional categories.

    >>> several = [Pair(f"{name}{n}", "q", "1", "2", category=name) for name in "ab" for n in range(50)]
    >>> sum(pair.category == "a" for pair in sample_order(several, 0)[:20])
    10
    """
    strata: dict[str | None, list[tuple[bytes, Pair]]] = defaultdict(list)
    for pair in pairs:
        strata[pair.category].append((_draw(seed, "order", pair.id), pair))
    placed: list[tuple[float, bytes, Pair]] = []
    for category, drawn in strata.items():
        start = int.from_bytes(_draw(seed, "stratum", category or "")[:6]) / 2**48
        drawn.sort(key=lambda each: each[0])
        placed += [((k + start) / len(drawn), draw, pair) for k, (draw, pair) in enumerate(drawn)]
    return tuple(pair for _, _, pair in sorted(placed, key=lambda each: each[:2]))


def balance_gold_position(
    pairs: Sequence[Pair], seed: int, kept: Mapping[str, Pair] = MappingProxyType({})
) -> tuple[Pair, ...]:
    """Return the pairs with seeded swaps that balance gold.

    Pairs in `kept` (by `id_key`) keep their order.

    >>> some = [Pair(f"{n}", "q", "1", "2", gold=1) for n in range(4)]
    >>> first_pairs = {pair.id: pair for pair in balance_gold_position(some[:2], 0)}
    >>> balanced = balance_gold_position(some, 0, first_pairs)
    >>> balanced[:2] == tuple(first_pairs.values()), [pair.gold for pair in balanced].count(1)
    (True, 2)
    """
    placed = {pair.id: _as_in(kept[name], pair) for pair in pairs if (name := id_key(pair.id)) in kept}
    ordered = [placed.get(pair.id) or pair for pair in pairs]
    free = [pair for pair in ordered if placed.get(pair.id) is None]
    surplus = sum((pair.gold == 1) - (pair.gold == 2) for pair in ordered)
    majority = [pair for pair in free if pair.gold == (1 if surplus > 0 else 2)]
    drawn = sorted(majority, key=lambda pair: _draw(seed, "swap", pair.id))[: abs(surplus) // 2]
    swap = {pair.id for pair in drawn}
    return tuple(swap_responses(pair) if pair.id in swap else pair for pair in ordered)


def _as_in(kept: Pair, pair: Pair) -> Pair | None:
    known = with_line_ends(kept, "\n").digest
    return next((each for each in (pair, swap_responses(pair)) if with_line_ends(each, "\n").digest == known), None)


def one_per_question(pairs: Iterable[Pair], seed: int) -> tuple[tuple[Pair, ...], int]:
    """Return one seeded pair per question, and the number of others.

    >>> kept, others = one_per_question([Pair(str(n), "q", f"{n}", "2") for n in range(5)], seed=0)
    >>> (len(kept), others)
    (1, 4)
    """
    kept: dict[str, tuple[bytes, Pair]] = {}
    count = 0
    for count, pair in enumerate(pairs, 1):  # noqa: B007
        # The texts and not the id: two pairs that were given the same id are told apart only later.
        drawn = (_draw(seed, "question", pair.digest), pair)
        best = kept.get(pair.question)
        if best is None or (drawn[0], pair.id) < (best[0], best[1].id):
            kept[pair.question] = drawn
    return tuple(pair for _, pair in kept.values()), count - len(kept)


def balance_length(pairs: Sequence[Pair], seed: int) -> tuple[tuple[Pair, ...], int]:
    """Return length-balanced pairs, and the number left out.

    >>> several = [Pair(str(n), "q", "long", "no", gold=2 if n else 1) for n in range(4)]
    >>> [len(balance_length(several, 0)[0]), balance_length(several, 0)[1]]
    [2, 2]
    """
    sides = {side: [pair for pair in pairs if pair.better_is_longer is side] for side in (True, False)}
    majority = max(sides.values(), key=len)
    surplus = abs(len(sides[True]) - len(sides[False]))
    drawn = sorted(majority, key=lambda pair: _draw(seed, "length", pair.id))[:surplus]
    out = {pair.id for pair in drawn}
    return tuple(pair for pair in pairs if pair.id not in out), surplus


def sharing_a_question(pairs: Iterable[Pair]) -> int:
    """Return the number of pairs sharing a question across clusters."""
    pairs = tuple(pairs)
    counts = Counter(pair.question for pair in pairs)
    inside: Counter[tuple[str, str | None]] = Counter((p.question, p.cluster) for p in pairs if p.cluster is not None)
    return sum(counts[pair.question] > max(inside[pair.question, pair.cluster], 1) for pair in pairs)


def clusters_of(pairs: Iterable[Pair]) -> list[Hashable] | None:
    """Return cluster labels, or None without related pairs.

    >>> clusters_of([Pair("1", "q", "a", "b", cluster="c"), Pair("2", "q", "b", "c")])
    >>> len(set(clusters_of([Pair(n, "q", "a", n, cluster="c" if n < "3" else None) for n in "1234"])))
    3
    """
    labels: list[Hashable] = [n if pair.cluster is None else pair.cluster for n, pair in enumerate(pairs)]
    return labels if len(set(labels)) < len(labels) else None


def count_independent(pairs: Sequence[Pair]) -> int:
    """Return the number of pairs or related clusters."""
    return len(set(clusters_of(pairs) or range(len(pairs))))


def swap_responses(pair: Pair) -> Pair:
    """Return the pair with responses, gold and authors exchanged."""
    gold: Literal[1, 2] | None = {1: 2, 2: 1}.get(pair.gold or 0)  # type: ignore[assignment]
    columns = {OTHER_MODEL.get(name, name): text for name, text in pair.columns.items()}
    return replace(pair, response_1=pair.response_2, response_2=pair.response_1, gold=gold, columns=columns)


def keep_columns(pair: Pair, names: Iterable[str]) -> Pair:
    """Return the pair with only these columns.

    >>> keep_columns(Pair("1", "Why?", "So.", "No.", columns={"source": "a book", "page": "7"}), ["page"]).columns
    {'page': '7'}
    """
    kept = {name: pair.columns[name] for name in names if name in pair.columns}
    return pair if kept == pair.columns else replace(pair, columns=kept)


def columns_as_text(pair: Pair, values: Set[str] = frozenset()) -> Pair:
    """Return the pair with the text alone of its columns, except `values`."""
    if all(type(text) is str or name in values for name, text in pair.columns.items()):
        return pair
    columns = {name: text if name in values else str(text) for name, text in pair.columns.items()}
    return replace(pair, columns=columns)


def merge_columns(known: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of both; a value stays, even where `more` has its text."""
    values = {name: text for name, text in known.items() if isinstance(text, ColumnText)}
    return {**known, **more, **values}


def id_key(name: str) -> str:
    """Return an id's comparable form.

    >>> [id_key(name) for name in ("1.0", "1", "01", "1.10", "v1.0")]
    ['1', '1', '01', '1.10', 'v1.0']
    """
    return name.removesuffix(".0") if WHOLE.fullmatch(name) else name


def id_text(value: Any) -> Any:
    """Return a whole number as id."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def with_line_ends(pair: Pair, end: str) -> Pair:
    """Return the pair with uniform line ends."""
    texts = (pair.question, pair.response_1, pair.response_2)
    question, first, second = (text.replace("\r\n", "\n").replace("\n", end) for text in texts)
    return replace(pair, question=question, response_1=first, response_2=second)


def digests_of(pair: Pair) -> tuple[str, str]:
    """Return the digests for both line ends."""
    return pair.digest, with_line_ends(pair, "\r\n").digest


def pair_to_row(pair: Pair, *, values: bool = False) -> dict[str, Any]:
    """Return the row of a data file, with columns as text or, with `values`, as in the dataset."""
    of_pair = {"response_1": pair.response_1, "response_2": pair.response_2}
    labels = {"label": pair.label, "labels": dict(pair.labels)} if isinstance(pair, Example) else {}
    row = {
        "id": pair.id,
        "question": pair.question,
        **({"response": pair.response} if isinstance(pair, Example) else of_pair),
        "gold": pair.gold,
        "category": pair.category,
        "content_type": pair.content_type,
        "cluster": pair.cluster,
        **labels,
    }
    columns = {name: column_value(text) if values else text for name, text in pair.columns.items()}
    return {key: value for key, value in row.items() if value is not None and value != {}} | columns


def _draw(seed: int, purpose: str, of: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{purpose}\0{of}".encode()).digest()
