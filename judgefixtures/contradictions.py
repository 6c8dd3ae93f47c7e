"""Which response does a judge's reason argue for, and is that the one it chose? Rules, no model.

Many judges write the verdict before the reason, and some reasons then argue for the other response. Here
live the names by which judges call the two, the words in which they rank them, and what takes a ranking
back. No verdict is parsed here, nothing is counted, and nothing is gated.

A false alarm accuses a judge of incoherence, so whatever is not plain counts for nothing. The steps:
1. `_sentences` blanks out what is quoted, cuts the text, and writes ① and ② for the names;
2. `_statements` finds what a sentence says in the judge's own voice: *rankings* ("① is better") and
   *merits* ("① is more accurate", "② does not answer"), without conditions, concessions, questions, denials;
3. `_weighed` lets the last conclusion outweigh what was conceded before it. Rankings that disagree
   otherwise, a tie at the end, or merits of both: the reason argues for neither.

Linear time on any text: a sentence is at most `_LONGEST` characters, repetitions in patterns are bounded
or possessive, and what looks back sees no more than its own sentence, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

__all__ = ["Argued", "argued", "contradiction"]

Side: TypeAlias = Literal[1, 2]

_LONGEST = 800  # characters; no judge writes such a sentence, hostile text does
_QUOTE = 200  # characters of a sentence that is shown
_MANY = 200  # statements; a loop says more, and its last words are no better than these


@dataclass(frozen=True, slots=True)
class Argued:
    """The response that a reason argues for, and the sentence that says so most plainly.

    >>> Argued(2, "Response 2 is better.").response
    2
    """

    response: Side
    quote: str


def _any(table: str) -> str:
    """Return a regex group of the alternatives in a table, which are separated by `|` and may be wrapped."""
    return f"(?:{'|'.join(' '.join(entry.split()) for entry in table.split(' | '))})"


# ---- names: "Response 1", "the second story", "Output (b)" to ① and ② ---------------------------------------

_NOUNS = (
    "response | story | answer | output | candidate | assistant | option | argument | essay | text | version"
    " | model | completion | summary | reply | submission | entry | piece | explanation"
)
_SIDES: dict[str, str] = {
    **dict.fromkeys(("1", "one", "a", "first", "former"), "①"),
    **dict.fromkeys(("2", "two", "b", "second", "latter"), "②"),
}
_OTHER = {"①": "②", "②": "①"}
_END = r"(?![\w%]|[.,:]\d)"  # not "Response 10", "Response 2.5", "Option 1b"
_BEGIN = r"(?<![\w.])"


@lru_cache(maxsize=64)
def _names(noun: str) -> re.Pattern[str]:
    """Return the pattern of the names that are built with a noun; the side is in one of its groups."""
    return re.compile(
        rf"{_BEGIN}(?:the )?(?:{noun})(?: ?#| ?no\. | number |-| )?(?:([12]){_END}|(one|two)\b(?! of)"
        rf"|((?-i:[AB])){_END}|\(([12ab])\))(?:'s (?:response|answer|output|reply)\b)?"
        rf"|\bthe (first|second) (?:{noun})\b(?!-)(?:'s (?:response|answer|output|reply)\b)?",
        re.IGNORECASE,
    )


# Without a noun, a letter or number is a name only where a ranking stands beside it.
_ACTS = r"(?:is|was|wins|loses|outperforms|surpasses|beats|seems|appears|should|does|provides|gives|better|more)"
_BARE = re.compile(
    rf"(?<![^\s(*])(?:#|no\. |number )([12]){_END}"
    rf"|(?<!\w )\(([12ab])\)(?= (?:{_ACTS}|over|because|than)\b|[.!]?\Z)"
    r"|(?:^|[,;:] |\b(?:and|but|yet|so|as|while|since|that|both|therefore|overall|think|believe) )"
    rf"((?-i:[AB12]))(?= {_ACTS}\b)"
    r"|\b(?:than|choose|chose|prefer|preferred|select|selected|pick|picked|winner:|answer:|choice:|verdict:|over|is) "
    r"\(?((?-i:[AB12]))\)?(?=[.,;!]|\Z| (?:because|since|as|for|over|and)\b)"
    r"|\b(?:the )(first|second)(?= (?:one\b|is |was |wins\b|over\b)|[.,;!]|\Z)(?: one\b)?",
    re.IGNORECASE,
)
_BEFORE_BARE = re.compile(r"(?:the |no\. |number |[#(])([①②])")
_RELATIVE = re.compile(r"\bthe (former|latter)\b(?: (?:one|response|answer|story|option|is the)\b)?", re.IGNORECASE)

# ---- words of a ranking ----------------------------------------------------------------------------------
# Patterns see a sentence in lower case and plain typography, "not" for "n't", ① and ② for the names.

_N = "[①②]"
_HOW = (
    "(?:(?:"
    + "|".join(
        """clearly overall also therefore thus still far much slightly somewhat marginally significantly substantially
        considerably definitely certainly obviously undoubtedly simply generally indeed actually ultimately notably
        decidedly noticeably strongly easily markedly vastly even ever way again just hence consequently objectively
        demonstrably distinctly arguably evidently plainly quite rather both now only very""".split()
    )
    + "|a bit|a little|by far|by a wide margin|a lot|in my opinion|in my view|on balance|on the whole),? ){0,3}"
)
_IS = _any(
    "is | was | 's | remains | stands out as | comes across as | seems | appears | seems to be | appears to be"
    " | turns out to be | proves to be | proves | emerges as | comes out as | ends up being | must be"
    " | has to be | is considered | is judged | is deemed | feels | reads as | ranks as"
)
_THING = _any(_NOUNS + " | one | choice | pick | performer | of the two | fit | solution")
_QUALITY = _any(
    "helpful | accurate | correct | relevant | useful | convincing | persuasive | compelling | appropriate | suitable"
    " | effective | complete | precise | informative | faithful | reliable | coherent | factual | sound | satisfying"
    " | aligned | fitting | engaging | original | vivid | thorough | adequate | logical | consistent | truthful"
    " | factually accurate | factually correct"
)
_GOOD = _any("better | best | superior | preferable | stronger | strongest")
_BAD = _any("worse | worst | inferior | weaker | weakest")
_WHICH = rf"{_HOW}(?:(?:the|my|our|an?) {_HOW})?"
_CHOOSE = _any("choose | chose | prefer | preferred | select | selected | pick | picked | favou?r | favou?red")
_TOWARDS = _any(
    r"go with | went with | going with | opt for | opted for | lean towards? | leaning towards? | vote for"
    " | voted for | side with | sided with | settle on | settled on | decide for | decided (?:for|on)"
    " | decide in favou?r of | choosing | selecting | picking | preferring"
)
_I = r"(?:i|we)(?:'d|'ll|'m|'ve)? (?:(?:would|will|must|have|had|am|are|therefore|thus|do|ultimately|still|have to) ){0,2}"

_RANKING = re.compile(
    "|".join(
        (
            # ① is better; ② is the weaker of the two; ② is not as good as ①
            rf"(?P<is>{_N}) {_HOW}{_IS} {_WHICH}(?:(?P<is_good>{_GOOD}|preferred|winner|more {_QUALITY})"
            rf"|(?P<is_bad>{_BAD}|loser|less {_QUALITY}|not (?:quite |nearly )?as (?:good|strong|{_QUALITY})))\b",
            # ① is more accurate and better overall
            rf"(?P<also>{_N}) {_HOW}{_IS} [^.,;:①②]{{1,60}}?,? and {_WHICH}(?:(?P<also_good>{_GOOD})|(?P<also_bad>{_BAD}))"
            rf"(?= overall| on the whole|[.,;]|\Z| than (?:{_N}|the other))",
            # ① wins; ② falls behind
            rf"(?P<does>{_N}) {_HOW}(?:(?P<does_good>wins|won|prevails|outperforms|surpasses|beats|outshines|outclasses"
            "|edges out|comes out ahead|comes out on top|comes out better|takes the win|gets my vote|has my vote"
            "|(?:has|gets|takes|holds) the (?:clear |slight |overall )?edge|deserves (?:to win|the win|to be chosen)"
            "|(?:should|must) (?:win|be (?:preferred|chosen|selected|favou?red|ranked higher|rated higher))"
            "|(?:is|was) (?:therefore |thus |clearly )?(?:chosen|selected|favou?red|ahead|my (?:choice|pick|preference))"
            "|is (?:rated|ranked) higher|(?:receives|earns|gets|deserves) (?:a|the) (?:slightly |much )?higher"
            " (?:score|rating|mark))"
            rf"|(?P<does_bad>loses|lost|falls (?:behind|short of {_N})|(?:should|must) lose|is (?:rated|ranked) lower"
            r"|is outperformed by|is surpassed by|is beaten by))\b",
            # it is better than ①
            rf"(?:^|, |; |\b(?:so|and|but|because|since) )(?:it|this|this {_THING}) {_IS} {_WHICH}(?:(?P<it_good>{_GOOD})|{_BAD})"
            rf" than (?P<it_than>{_N})(?!'s (?!{_THING}))",
            # I choose ①; my preference is ①; the better response is ①; preference goes to ①
            rf"\b{_I}{_HOW}(?:{_CHOOSE}|{_TOWARDS}) (?:for )?(?P<choose>{_N})",
            rf"\b(?:my|our|the) (?:\w+ )?(?:choice|pick|preference|vote|verdict|decision|selection|winner) {_HOW}"
            rf"(?:is|was|goes to|went to|must be|is for|:) (?P<mine>{_N})",
            rf"\b(?:the )?(?:better|best|superior|stronger|preferred|preferable|winning|chosen|selected) {_THING}"
            rf"(?: overall| here)?(?: is| was|:) {_HOW}(?P<better_is>{_N})(?! (?:or|and)\b)",
            rf"\b(?:the )?(?:worse|worst|inferior|weaker|losing) {_THING} (?:is|was) {_HOW}(?P<worse_is>{_N})",
            rf"\b(?:preference|prize|edge|nod|win|advantage|vote) (?:\w+ )?(?:goes|go|went|given) to (?P<goes>{_N})",
            rf"(?:^|\b(?:final|my|overall) )(?:verdict|winner|answer|choice|decision|preference|conclusion)(?: is)?: "
            rf"(?P<label>{_N})[.!]?\Z",
            # more accurate and ..., making ① the better choice
            rf"\b(?:making|makes|make|rendering) (?P<makes>{_N}) {_WHICH}"
            rf"(?:(?P<makes_good>{_GOOD}|preferred|winner|more {_QUALITY})|(?P<makes_bad>{_BAD}|less {_QUALITY}))\b",
            # therefore, ①.
            rf"^(?:and |so )?(?:therefore|thus|hence|overall|so|in conclusion|ultimately|consequently|accordingly)[,:]? "
            rf"(?P<therefore>{_N})[.!]?\Z",
            rf"^(?P<only>{_N})[.!]?\Z",
        )
    )
)
_IT_MAKES = re.compile(
    rf"\b(?:(?:making|makes|rendering) (?:it|this(?: {_THING})?|that(?: one)?)|(?:which is why|so|and so|therefore) it is) "
    rf"{_WHICH}(?:(?P<good>{_GOOD}|preferred|winner|more {_QUALITY})|(?P<bad>{_BAD}|less {_QUALITY}))\b"
)

_OF_A_QUALITY = re.compile(r"\b(?:more|less) [\w ]+\Z|\bas (?!good|strong)[\w ]+\Z")
# What may follow the predicate of a ranking. "Better written" and "better in style" are merits at most.
_OF_ALL = re.compile(
    r"\Z|[.,;:!)]| -|\s(?:overall|because|since|as (?!a\b|an\b)|due to|here|and|of the two|by|with|given"
    r"|in (?:this|every|all|general|my|our)\b|at (?:this|following|answering|executing)"
    r"|for (?:this|the (?:given|following|above|stated)?\s?(?:instruction|question|task|prompt|following reasons)|these"
    r"|several|two|three|many|its|the (?:user|purpose)))\b"
    rf"|\s(?:(?:and more|overall|quality|[a-z-]+) ){{0,2}}?{_THING}\b"
)
_THAN = re.compile(
    rf" (?:{_THING} )?(?:than|to|over|compared (?:to|with)|as|when compared (?:to|with)) (?:that (?:of|in) |the one in |in )?"
    rf"(?:(?P<named>{_N})(?!'s (?!{_THING}))|the other\b|its (?:rival|competitor|counterpart)\b)"
)
_BEATEN = re.compile(rf" ({_N})(?!'s)")  # the object of "outperforms"
_THAN_ELSE = re.compile(rf" (?:{_THING} )?(?:than|to) ")

# ---- words of a merit ------------------------------------------------------------------------------------

_TASK = (
    r"(?:the |this |that |its |all |any |either )?(?:\w+ ){0,2}?(?:instructions?|questions?|prompt|task|request|requirements?"
    "|topic|query|input|assignment|criteria|problem)"
)
_DOES = _any(
    "answers? | address(?:es)? | follows? | fulfill?s? | executes? | satisf(?:y|ies) | meets? | adheres? to"
    " | responds? to | solves? | completes? | respects? | stick(?:s)? to | complies with | comply with | aligns? with"
)
_WELL = r"(?:(?:directly|correctly|accurately|precisely|properly|fully|actually|closely|clearly|faithfully|strictly|also|more|better|even|adequately) ){0,3}"
_WRONG = _any(
    "incorrect | wrong | inaccurate | irrelevant | off[- ]topic | nonsensical | unhelpful | incoherent | factually wrong"
    " | factually incorrect | false | not (?:correct|accurate|relevant|helpful|coherent|useful)"
)
_MERIT = re.compile(
    "|".join(
        (
            rf"(?P<fails>{_N}) {_HOW}(?:(?:does|did|do) not {_WELL}{_DOES} {_TASK}\b|fails? to {_WELL}{_DOES} {_TASK}\b"
            rf"|fails\b|(?:is|was) (?:\w+ly )?{_WRONG}\b|misses the point|misunderstands|misinterprets|contradicts itself"
            r"|ignores (?:the|this) (?:instruction|question|prompt|task)|contains? (?:\w+ ){0,2}?(?:errors?|mistakes?)\b"
            "|incorrectly|erroneously|wrongly|inaccurately|mistakenly|falsely)",
            rf"(?P<meets>{_N}) {_HOW}(?:{_WELL}{_DOES} {_TASK}\b|(?:is|was) (?:\w+ly )?(?:correct|accurate|right)\b"
            "|correctly|accurately|rightly|precisely)",
            rf"(?P<well>{_N}) {_HOW}(?:does a better job"
            rf"|(?:provides|offers|gives|presents|delivers|makes|tells) (?:a |an |the )?(?:slightly |much |far )?(?:better|more {_QUALITY}) \w+"
            r"|better \w+s\b|more (?:closely|accurately|precisely|directly"
            "|faithfully|effectively|correctly) )",
        )
    )
)

# ---- what takes a statement back -----------------------------------------------------------------------------

# Not in the judge's own voice, not in earnest, or not certain: nothing that follows in the sentence counts.
_UNSURE = re.compile(
    r"\A(?:and |but |so )?for (?!th[aeio]|all|my|me)|\b(?:if|whether|unless|assuming|suppose|supposing|provided that|had|were i|should (?:one|you|we|brevity)"
    r"|(?:i|we) (?:would|do|did|can|could|will) not|not (?:the case|true|clear|that|say|think|believe|to say|because|necessarily)|never|neither|nor|doubt|deny"
    r"|hardly|nothing|no(?:body| one)|hard to|difficult to|impossible to|cannot|can not|wrong to|mistaken"
    r"|(?:might|may|could|can|would) (?:\w+ )?(?:say|argue|think|prefer|choose|claim|believe|conclude|seem|feel|find|suggest|expect|be)"
    r"|some (?:\w+ )?(?:prefer|would|say|think)|(?:some )?(?:people|readers|users|others|one|critics|they|someone|anyone|you) "
    r"(?:\w+ )?(?:prefers?|says?|argues?|thinks?|likes?|finds?|choose|chooses|wants?|looking|who)"
    r"|(?:claims?|says?|states?|argues?|asserts?|suggests?|insists?|believes?|thinks?|pretends?|concludes?|implies|quotes?|writes|mentions)"
    r" (?:\w+ly )?(?:that|why|how|which|:)|so-called|at first|first (?:glance|sight|impression)|initially|superficially|on the surface"
    r"|seemingly|once|when(?:ever)?(?! (?:considering|comparing|compared|evaluating|weighing|taking|taken))|for (?:users|readers|people|those|someone|anyone|a (?:reader|user|beginner|child|quick))"
    r"|in case|depending|depends|supposedly|allegedly|admittedly|granted|to be fair|true,|of course|it is true|one could"
    r"|on (?:the )?one hand|choose which|decide which|determine which|asked to|task is to|asks (?:you|us|me|which|whether)|instructed to|i was told|my job is|the goal is|criterion|rule"
    r"|expected|at least|previously|earlier|i initially|originally|in terms of|regarding|with regard to|with respect to|in its|aside from|apart from|stylistically|in style)\b"
)
# What follows a statement and takes it back: "is better if brevity matters".
_ONLY_IF = re.compile(
    r"\b(?:(?<!even )if|when|unless|provided|as long as|only (?:in|for|because|on)|had (?:it|they|i|this|the)|or (?:not|worse|[①②])|for (?:users|readers|people|those|someone|anyone|beginners)"
    r"|in (?:terms of|style|tone|form|length|one respect|some|certain|that|regard)|at first|stylistically|was my first|would be wrong|is (?:wrong|false|mistaken|not true))\b"
)
# What a statement is explained by is about the contents: "is better because it tells when to stop".
_EXPLAINS = re.compile(
    r"\b(?:because|since|as (?:it|they)|due to|by|which|providing|for (?:its|these|several))\b|, \w+ing\b|[;:] "
)
_DUBIOUS = re.compile(
    r"\b(?:which is (?:not|in|un|wrong|irrelevant)|inappropriate|harmful|unethical|dangerous|unfortunately|only (?:in )?part)"
)
_FRESH = re.compile(r"[,;:]? (?:so|therefore|thus|hence|but|consequently|which is why|in the end|ultimately)\b|; ")
_CONCEDES = re.compile(
    r"\b(?:while|although|though|even though|even if|despite|in spite of|whereas|notwithstanding|albeit|regardless|much as"
    r"|as \w+ as|for all|rather than|instead of|unlike|not because|except)\b"
)
_MAIN = re.compile(
    rf", (?:(?:overall|ultimately|still|in the end|therefore|it is clear that|however|clearly),? )?"
    rf"(?={_N}|i |we |it |this |the |my |overall)|[,;] (?:so|therefore|thus|hence|but|overall|ultimately|still)\b"
)
_BUT = re.compile(r"(?:,|;| -)? (?:but|yet|however|nevertheless|nonetheless)\b(?! also)(?! rather)")
_TURNS = re.compile(
    r"(?:and )?(?:but|yet|however|nevertheless|nonetheless|that (?:being )?said|even so|still|having said that"
    r"|all the same)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|overall|in conclusion|to conclude|in summary|to sum(?: it)? up|in sum|so|ultimately|in the end"
    r"|consequently|for (?:this|these|that|those) reasons?|on balance|all things considered|all in all|finally|as a result|accordingly"
    r"|which is why|on the whole|that is why|taken together|(?:final|my|overall) (?:verdict|answer|choice|decision|preference|pick|vote)"
    r"|winner|i (?:choose|chose|select|selected|pick|picked|go with)|based on (?:this|these|the)|given (?:this|these|that)|in short|making|makes)\b"
)
_TIE = re.compile(
    r"\b(?:(?:both|the two|they|the responses|the stories|① and ②|② and ①) (?:\w+ ){0,4}?(?:are|is|seem|tie|tied) (?:\w+ ){0,3}?(?:equal(?:ly)?|tied|the same"
    r"|comparable|on par|as good|identical|interchangeable|indistinguishable)|(?:is|call|declare|be|it's|as) (?:it )?(?:a|an) (?:\w+ )?(?:tie|draw)|tie between|neither (?:\w+ ){0,2}?(?:is|of)"
    r"|no (?:clear |real |obvious )?(?:winner|preference)|(?:can not|hard to|impossible to|difficult to) (?:choose|decide|pick|say which|prefer)"
    r"|is (?:just )?as good as|equally (?:good|bad|strong|weak)|toss-up|coin flip)\b"
)


# ---- the reading: text to sentences -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as written, and in plain words with ① and ② for the names; its number in the text."""

    shown: str
    plain: str
    names: tuple[int, ...]  # where each name stands in `shown`


_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("’‘", "'"),
        **dict.fromkeys("“”", '"'),
        **dict.fromkeys("–—", "-"),
        **dict.fromkeys("‑‐", "-"),
        **dict.fromkeys("*_\t\u00a0", " "),
        "①": "1",
        "②": "2",
    }
)
# Equal length in and out, so that a sentence can be shown as it was written. A quoted name stays a name.
_QUOTED = re.compile(
    r'(?<![^\s(\[{,:-])"(?!(?:\w+ )?(?:[12ab]|\([12ab]\))")[^"]*+"|(?<!`)```(?:[^`]|`(?!``))*+```'
    r"|`(?!(?:\w+ )?[12ab]`)[^`\n]*+`|(?<=[\s(])'[^'\n]{3,300}+'(?=[\s.,;:)!?]|\Z)|^[ ]*>[^\n]*+",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\s\"'`]++|\s*+\n\s*+|(?<=;) ")
_ASIDE = re.compile(
    r"([①②]), (on the other hand|however|by contrast|in contrast|meanwhile|though|in turn|overall|therefore|instead"
    r"|in my (?:view|opinion)), "
)
_PARENTHESES = re.compile(r" ?\([^()]{0,120}+\)")


def _unquoted(text: str) -> str:
    """Return the text, of the same length, in plain typography and with what it quotes blanked out."""
    return _QUOTED.sub(lambda m: "\x00" * len(m[0]), text.translate(_TYPOGRAPHY))


def _scheme(text: str, content_type: str) -> re.Pattern[str]:
    """Return the pattern of the names that a text uses.

    One scheme: where responses are called Response 1 and 2, "option 1" is something they are about.
    """
    first = re.escape(content_type.strip().lower()) or "response"
    for noun in dict.fromkeys((first, "response")):
        if _names(noun).search(text):
            return _names(noun)
    every = _names("|".join(noun.strip() for noun in _NOUNS.split("|")))
    return every if every.search(text) else _BARE


def _sentences(text: str, content_type: str) -> Iterator[_Sentence]:
    """Yield the sentences of a text in which a response is named or something may be concluded."""
    unquoted = _unquoted(text)
    names = _scheme(unquoted, content_type)
    start = 0
    ends = [(m.start(), m.end()) for m in _SENTENCE_END.finditer(unquoted)]
    previous: list[str] = []
    for end, following in [*ends, (len(text), len(text))]:
        for at in range(start, end, _LONGEST):
            stop = min(at + _LONGEST, end)
            sentence = _read(text[at:stop], unquoted[at:stop], names, previous)
            previous = [c for c in sentence.plain if c in _OTHER][-2:] or previous
            yield sentence
        start = following


def _read(shown: str, unquoted: str, names: re.Pattern[str], previous: list[str]) -> _Sentence:
    """Return a sentence with ① and ② for its names; `previous` are the last names before it."""
    starts: list[int] = []

    def mark(match: re.Match[str]) -> str:
        starts.append(match.start())
        group = match.lastindex or 0
        kept = unquoted[match.start() : match.start(group)] if names is _BARE else ""
        return kept + _SIDES[match[group].lower()]

    marked = names.sub(mark, unquoted)
    if names is _BARE:
        marked = _BEFORE_BARE.sub(r"\1", marked)
    plain = " ".join(marked.lower().split()).replace(" .", ".").replace(" ,", ",")
    plain = plain.replace("cannot", "can not").replace("won't", "will not").replace("n't", " not")
    plain = _relatives(plain, previous)
    plain = plain.lstrip("#->•= ")
    plain = _ASIDE.sub(r"\2 \1 ", _PARENTHESES.sub("", plain))
    return _Sentence(shown, plain, tuple(starts))


def _relatives(plain: str, previous: list[str]) -> str:
    """Return a plain sentence with ① and ② for "the former" and "the latter", where it is clear which is which."""
    if "the former" not in plain and "the latter" not in plain:
        return plain

    def mark(match: re.Match[str]) -> str:
        before = [c for c in plain[: match.start()] if c in _OTHER]
        pair = list(dict.fromkeys(before)) or list(dict.fromkeys(previous)) or ["①", "②"]
        if len(pair) < 2:
            return match[0]
        return pair[match[1] == "latter"] + (" is the" if match[0].endswith("is the") else "")

    return _RELATIVE.sub(mark, plain)


# ---- the reading: sentences to statements -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a sentence says for one of the responses: of which it says it, how much, and where."""

    side: Side
    about: str  # ① or ②: "② is worse" is about ② and for ①
    ranks: bool  # the response as a whole, not one of its merits
    compares: bool  # "is more accurate", which says something of both
    concludes: bool
    yields: bool  # a turn follows it in its sentence: "① is better written, but ..."
    sentence: int
    at: int  # which of the names in its sentence it is about


@dataclass(frozen=True, slots=True)
class _Words:
    """The words in a sentence that speak for or against a response, before it is asked whether they count."""

    about: str
    bad: bool
    ranks: bool
    compares: bool
    start: int
    end: int


def _statements(plain: str, number: int) -> Iterator[_Statement]:
    """Yield what a plain sentence says in the judge's own voice."""
    found = [] if plain.endswith("?") else [*_ranked(plain), *_credited(plain)]
    if not found:
        return
    spared = _spared(plain)
    but = _BUT.search(plain, 4)
    turn = but.start() if but and "not only" not in plain[: but.start()] else -1
    for words in found:
        if any(begin <= words.start < stop for begin, stop in spared) or _taken_back(plain, words):
            continue
        yield _Statement(
            side=1 if (words.about == "①") != words.bad else 2,
            about=words.about,
            ranks=words.ranks,
            compares=words.compares,
            concludes=bool(_CONCLUDES.search(plain, 0, words.end)),
            yields=words.start < turn,
            sentence=number,
            at=sum(plain.count(name, 0, words.start) for name in "①②"),
        )


def _ranked(plain: str) -> Iterator[_Words]:
    """Yield the words that compare the responses; where something else is compared, none."""
    for match in _RANKING.finditer(plain):
        named = next(key for key in _NAMED if match[key])
        bad = any(match[key] for key in ("is_bad", "does_bad", "makes_bad", "also_bad", "worse_is", "it_good"))
        says_of = named in ("is", "does", "also")
        extent = _extent(plain, match, match[named]) if says_of or named == "makes" else True
        if extent is not None and (_is_subject if says_of else _stands_alone)(plain, match.start(named)):
            yield _Words(match[named], bad, extent, True, match.start(), match.end())
    for match in _IT_MAKES.finditer(plain):
        subject = _subject(plain[: match.start()])
        if subject and (extent := _extent(plain, match, subject)) is not None:
            yield _Words(subject, bool(match["bad"]), extent, True, match.start(), match.end())


def _credited(plain: str) -> Iterator[_Words]:
    """Yield the words that say of one response that it does, or does not do, what was asked."""
    for match in _MERIT.finditer(plain):
        named = match.lastgroup or "meets"
        if _is_subject(plain, match.start(named)):
            yield _Words(match[named], named == "fails", False, named == "well", match.start(), match.end())


_NAMED = (
    "is",
    "does",
    "also",
    "it_than",
    "choose",
    "mine",
    "better_is",
    "worse_is",
    "goes",
    "label",
    "makes",
    "therefore",
)
_NAMED += ("only",)


def _extent(plain: str, match: re.Match[str], name: str) -> bool | None:
    """Return whether a comparison ranks the whole (True), a merit (False), or something else (None)."""
    end = match.end()
    if beaten := _BEATEN.match(plain, end):
        if beaten[1] == name:
            return None
        end = beaten.end()
    if than := _THAN.match(plain, end):
        return None if than["named"] == name else not _OF_A_QUALITY.search(match[0])
    if _THAN_ELSE.match(plain, end):
        return None
    if _OF_A_QUALITY.search(match[0]):
        return False
    return True if _OF_ALL.match(plain, end) else None


_PARTNER_BEFORE = re.compile(rf"{_N}(?:,? and|,? or| vs\.?| versus|/)? ?\Z|\b(?:or|neither|nor) \Z")
_PARTNER_AFTER = re.compile(rf"(?:,? or|,? and| vs\.?| versus|/) ?{_N}")
_PART_OF = re.compile(r"\b(?:of|in|by|from|for|about|to|with|on|like|than|between|at|within|behind) \Z")


def _stands_alone(plain: str, at: int) -> bool:
    """Return whether the name at `at` is not one of two in one breath: "① or ②", "both ① and ②"."""
    return not (_PARTNER_BEFORE.search(plain[max(0, at - 9) : at]) or _PARTNER_AFTER.match(plain, at + 1))


def _is_subject(plain: str, at: int) -> bool:
    """Return whether the response itself is spoken of: not its part, "the opening of ②", and not both."""
    return _stands_alone(plain, at) and not _PART_OF.search(plain[max(0, at - 9) : at])


def _subject(before: str) -> str | None:
    """Return the name that "making it better" refers to: the last that begins a clause."""
    found = [m[1] for m in re.finditer(rf"(?:^|[,;:] |\b(?:and|but|that|while|so|overall) )({_N})(?= )", before)]
    return found[-1] if found else None


def _spared(plain: str) -> list[tuple[int, int]]:
    """Return the spans of a sentence that concede or contrast, from their word to the main clause."""
    spans: list[tuple[int, int]] = []
    for match in _CONCEDES.finditer(plain):
        if spans and match.start() < spans[-1][1]:
            continue
        main = _MAIN.search(plain, match.end())
        spans.append((match.start(), main.start() + 1 if main else len(plain)))
    return spans


def _taken_back(plain: str, words: _Words) -> bool:
    """Return whether what stands around a statement in its sentence makes it none."""
    fresh = 0
    for match in _FRESH.finditer(plain, 0, words.start + 1):
        fresh = match.start()
    if _UNSURE.search(plain, fresh, words.start + 1) or (not words.ranks and _DUBIOUS.search(plain, words.end)):
        return True
    explained = _EXPLAINS.search(plain, words.end)
    return bool(_ONLY_IF.search(plain, words.end, explained.start() if explained else len(plain)))


# ---- the reading: statements to a side ----------------------------------------------------------------------


def _weighed(statements: list[_Statement], last_tie: int) -> _Statement | None:
    """Return the statement that says what the reason, as a whole, argues for; None where nothing plain does."""
    rankings = [s for s in statements if s.ranks]
    if not rankings:
        return _merits(statements) if last_tie < 0 else None
    last = rankings[-1]
    if last_tie >= last.sentence:
        return None
    against = [s for s in statements if s.side != last.side]
    if any(s.ranks and not (s.yields and last.concludes) for s in against):
        return None
    if last.yields and against:
        return None
    # "Response 2 is better", and then all that is said is said for the other: a slip of the number, perhaps.
    unsupported = len(against) > 1 and not any(s.side == last.side for s in statements if not s.ranks)
    return None if unsupported and not last.concludes else last


def _merits(statements: list[_Statement]) -> _Statement | None:
    """Return the last merit where all are on one side and together they compare the two."""
    if len({s.side for s in statements}) != 1:
        return None
    firm = [s for s in statements if not s.yields]
    compared = any(s.compares for s in firm) or len({s.about for s in firm}) > 1
    return firm[-1] if compared else None


@lru_cache(maxsize=1 << 14)  # a measurement asks, and the report's row asks again
def argued(reason: str, content_type: str = "Response") -> Argued | None:
    """Return the response that a reason, as a whole, argues for; None where that is not plain.

    `content_type` is the noun by which the prompt numbers the two ("Response", "Story"); 1 and 2 are their
    positions as the judge saw them. A reason for neither, for both or for a tie has None. Every str has an
    answer; nothing is raised. Time is linear in the length of the text.

    >>> argued("While Response 2 is more detailed, Response 1 is more accurate and better overall.")
    Argued(response=1, quote='While Response 2 is more detailed, Response 1 is more accurate and better overall.')
    >>> argued("If brevity mattered, Response 2 would be better.") is None
    True
    """
    statements: list[_Statement] = []
    sentences: list[_Sentence] = []
    last_tie = -1
    for number, sentence in enumerate(_sentences(reason, content_type)):
        sentences.append(sentence)
        if not (sentence.names or _TIE.search(sentence.plain) or "①" in sentence.plain or "②" in sentence.plain):
            continue
        if _TIE.search(sentence.plain) and not _CONCEDES.match(sentence.plain):
            last_tie = number
        if _TURNS.match(sentence.plain):
            statements = [replace(s, yields=True) if s.sentence == number - 1 else s for s in statements]
        statements.extend(_statements(sentence.plain, number))
    found = _weighed(statements, last_tie)
    return Argued(found.side, _quote(sentences[found.sentence], found.at)) if found else None


def _quote(sentence: _Sentence, at: int) -> str:
    """Return a sentence, or the part of a long one around its name number `at`."""
    if len(sentence.shown.strip()) <= _QUOTE:
        return " ".join(sentence.shown.split())
    name = sentence.names[min(at, len(sentence.names) - 1)] if sentence.names else 0
    start = max(0, min(name - 40, len(sentence.shown) - _QUOTE))
    cut = sentence.shown[start : start + _QUOTE - 8]
    return " ".join(
        f"{'... ' if start else ''}{cut}{' ...' if start + _QUOTE - 8 < len(sentence.shown) else ''}".split()
    )


def contradiction(reason: str, selected: Side, content_type: str = "Response") -> str | None:
    """Return the words in which a reason argues for the response that its verdict did not choose, or None.

    `selected` is the verdict by position, as the judge saw the two: in order 21 not by the pair's numbers.

    >>> contradiction("Story 1 has a plot. Overall, Story 2 is the better story.", 1, "Story")
    'Overall, Story 2 is the better story.'
    >>> contradiction("Story 1 has a plot. Overall, Story 2 is the better story.", 2, "Story") is None
    True
    """
    found = argued(reason, content_type)
    return found.quote if found and found.response != selected else None
