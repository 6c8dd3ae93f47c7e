"""Thinking blocks in an answer (forms: data/thoughts.toml)."""

import bisect
import itertools
import re

from .patterns import load_pattern

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_IN_SENTENCE = re.compile(r"\w,? \Z")
_SENTENCE_GOES_ON, _SENTENCE_ENDS = re.compile(r" [a-z]|[.,;:!?)]"), re.compile(r"[.,;:!?)]")
# What may stand between two marks that a sentence speaks of: "<think> and </think>", "<think> without its </think>".
_CONJUNCTION = re.compile(r"\W{0,3}(?:and|or|but|with|without|to)?(?: \w{1,9})?\W{0,3}")


def thought_spans(text: str, *, whole: bool = True) -> list[tuple[int, int]]:
    """Return the spans of thoughts, marks included.

    Only a `whole` answer may start inside a thought.

    >>> thought_spans("[THINK]Hm.[/THINK]A <think> tag. [[A]]"), thought_spans("Hm.</think>[[A]]<thought>But")
    ([(0, 18)], [(0, 11), (16, 28)])
    """
    spans: list[tuple[int, int]] = []
    start: int | None = None
    mentioned = False
    noun = load_pattern("thoughts", "noun")
    marks = [(mark, _is_named(text, mark, noun)) for mark in load_pattern("thoughts", "mark").finditer(text)]
    ends = [mark.start() for mark, is_named in marks if mark["closing"] is not None and not is_named]
    for mark, is_named in marks:
        closes = mark["closing"] is not None
        sentence = _SENTENCE_ENDS if closes and not mentioned else _SENTENCE_GOES_ON
        is_block = start is not None or (not closes and _is_closed(text, mark, ends))
        if is_named or (not is_block and _is_in_sentence(text, mark, sentence)):
            mentioned = True
        elif closes and start is None:
            spans = [(0, mark.end())] if whole else spans
        elif closes and start is not None:
            spans.append((start, mark.end()))
            start = None
        elif start is None:
            start = mark.start()
    return spans if start is None else [*spans, (start, len(text))]


def split_thoughts(text: str) -> tuple[str, str]:
    """Return thoughts and answer.

    >>> split_thoughts("<thinking>Hm.</thinking> It is clear. [[A]]")
    ('Hm.', 'It is clear. [[A]]')
    """
    spans = thought_spans(text)
    thoughts = [_bare(text[start:end]) for start, end in spans]
    return "\n".join(filter(None, thoughts)), _joined(text, spans, "").strip()


def stated_reason(text: str) -> str:
    """Return a reason without thoughts.

    >>> stated_reason("<think>It is new.</think> It is clear."), stated_reason("The first ends with </think>. ")
    ('It is clear.', 'The first ends with </think>. ')
    """
    spans = thought_spans(text, whole=False)
    return _joined(text, spans, "").strip() if spans else text


def blank_thoughts(text: str) -> str:
    """Return the text with spaces in place of thoughts."""
    return _joined(text, thought_spans(text), " ")


def _bare(thought: str) -> str:
    first = last = None
    for last in load_pattern("thoughts", "mark").finditer(thought):
        first = first or last
    opens = first is not None and first.start() == 0 and first["opening"]
    closes = last is not None and last.end() == len(thought) and last["closing"]
    return thought[first.end() if first and opens else 0 : last.start() if last and closes else None].strip()


def _joined(text: str, spans: list[tuple[int, int]], blank: str) -> str:
    ends = [0, *itertools.chain(*spans), len(text)]
    parts = (text[a:b] if n % 2 == 0 else blank * (b - a) for n, (a, b) in enumerate(itertools.pairwise(ends)))
    return "".join(parts)


def _is_closed(text: str, opening: re.Match[str], ends: list[int]) -> bool:
    number = bisect.bisect(ends, opening.start())
    return number < len(ends) and _CONJUNCTION.fullmatch(text, opening.end(), ends[number]) is None


def _is_named(text: str, mark: re.Match[str], noun: re.Pattern[str]) -> bool:
    start, end = mark.span()
    quote = _QUOTES.get(text[start - 1 : start])
    return (quote is not None and text[end : end + 12].lstrip("\\")[:1] == quote) or bool(
        noun.match(text, end, end + 12)
    )


def _is_in_sentence(text: str, mark: re.Match[str], sentence: re.Pattern[str]) -> bool:
    start, end = mark.span()
    return bool(_IN_SENTENCE.search(text[max(0, start - 3) : start]) and sentence.match(text, end, end + 12))
