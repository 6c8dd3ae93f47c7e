"""Which response does a judge's reason argue for, and is that the one it chose? Rules, no model.

Many judges write the verdict before the reason, and some reasons then argue for the other response. Here
live the names by which judges call the two, the words in which they rank them, and what takes a ranking
back. No verdict is parsed here, nothing is counted, and nothing is gated.

A false alarm accuses a judge of incoherence, so whatever is not plain counts for nothing. The steps:
1. `_sentences` blanks out what is quoted, cuts the text, and writes ① and ② for the names;
2. `_statements` finds what a sentence says in the judge's own voice: *rankings* ("① is better") and
   *merits* ("① is more accurate", "② does not answer"), no conditions, concessions, questions or denials;
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
from itertools import islice
from typing import Literal, TypeAlias

__all__ = ["Argued", "argued", "contradiction"]

Side: TypeAlias = Literal[1, 2]

_LONGEST = 800  # characters; no judge writes such a sentence, hostile text does
_SHORT = 40  # characters; a sentence that may be no more than "so, Response 1"
_QUOTE = 200  # characters of a sentence that is shown
_MANY = 12  # statements per sentence; no judge makes more of them in one


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

_NOUNS = _any(
    "response | story | answer | output | candidate | assistant | option | argument | essay | text | version"
    " | model | completion | summary | reply | submission | entry | piece | explanation"
)
_SIDES: dict[str, str] = {
    **dict.fromkeys(("1", "one", "a", "first"), "①"),
    **dict.fromkeys(("2", "two", "b", "second"), "②"),
}
_END = r"(?![\w%]|[.,:]\d)"  # not "Response 10", "Response 2.5", "Option 1b"
_ITS = r"(?:'s (?:response|answer|output|reply)\b)?"  # "Assistant A's answer" is Assistant A


@lru_cache(maxsize=64)
def _names(noun: str) -> re.Pattern[str]:
    """Return the pattern of the names that are built with a noun; the side is its last group."""
    return re.compile(
        rf"\b{noun}(?: ?#| ?no\. | number |-| )?"
        rf"(?:([12]){_END}|(one|two)\b(?! of)|((?-i:[AB])){_END}|\(([12ab])\)){_ITS}"
        rf"|\bthe (first|second) {noun}\b(?!-){_ITS}",
        re.IGNORECASE,
    )


# Without a noun, a letter or number is a name only where a ranking stands beside it.
_ACTS = _any(
    "is | was | wins | loses | outperforms | surpasses | beats | seems | appears | should | does | provides"
    " | gives | better | more"
)
_LEADS = _any("and | but | yet | so | as | while | since | that | both | therefore | overall | think | believe")
_TAKES = _any(
    "than | choose | chose | prefer | preferred | select | selected | pick | picked | winner: | answer: | choice:"
    " | verdict: | over | is"
)
_BARE = re.compile(
    rf"(?<![^\s(*])(?:#|no\. |number )([12]){_END}"
    rf"|(?<!\w )\(([12ab])\)(?= (?:{_ACTS}|over|because|than)\b|[.!]?\Z)"
    rf"|(?:^|[,;:] |\b{_LEADS} )((?-i:[AB12]))(?= {_ACTS}\b)"
    rf"|\b{_TAKES} \(?((?-i:[AB12]))\)?(?=[.,;!]|\Z| (?:because|since|as|for|over|and)\b)"
    r"|\bthe (first|second)(?= (?:one\b|is |was |wins\b|over\b)|[.,;!]|\Z)(?: one\b)?",
    re.IGNORECASE,
)
_BEFORE_BARE = re.compile(r"(?:the |no\. |number |[#(])([①②])")
_RELATIVE = re.compile(r"\bthe (?P<which>former|latter)\b(?: (?:one|response|answer|story|option)\b)?")

# ---- words of a ranking ----------------------------------------------------------------------------------
# Patterns see a sentence in lower case and plain typography, "not" for "n't", ① and ② for the names.

_N = "[①②]"
_MANNER = _any(
    "clearly | overall | also | therefore | thus | still | far | much | slightly | somewhat | marginally"
    " | significantly | substantially | considerably | definitely | certainly | obviously | undoubtedly | simply"
    " | generally | indeed | actually | ultimately | notably | decidedly | noticeably | strongly | easily | markedly"
    " | vastly | even | way | again | just | hence | consequently | objectively | demonstrably | distinctly"
    " | arguably | evidently | plainly | quite | rather | now | only | very | a bit | a little | by far"
    " | by a wide margin | a lot | in my opinion | in my view | on balance | on the whole"
)
_HOW = f"(?:{_MANNER},? ){{0,3}}"
_IS = _any(
    "is | was | 's | remains | stands out as | comes across as | seems | appears | seems to be | appears to be"
    " | turns out to be | proves to be | proves | emerges as | comes out as | ends up being | must be"
    " | has to be | is considered | is judged | is deemed | feels | reads as | ranks as"
)
_THING = _any(f"{_NOUNS} | one | choice | pick | performer | of the two | fit | solution")
_QUALITY = _any(
    "helpful | accurate | correct | relevant | useful | convincing | persuasive | compelling | appropriate | suitable"
    " | effective | complete | precise | informative | faithful | reliable | coherent | factual | sound | satisfying"
    " | aligned | fitting | engaging | original | vivid | thorough | adequate | logical | consistent | truthful"
    " | factually accurate | factually correct"
)  # not "detailed", "concise", "specific", "creative": what is more of these may be too much of them
_GOOD = _any("better | best | superior | preferable | stronger | strongest")
_BAD = _any("worse | worst | inferior | weaker | weakest")
_WHICH = rf"{_HOW}(?:(?:the|my|our|an?) (?:(?:clear|obvious|overall) )?{_HOW})?"
_POSITIVE = _any(f"{_GOOD} | preferred | winner | more {_QUALITY}")
_NEGATIVE = _any(f"{_BAD} | loser | less {_QUALITY} | not (?:quite |nearly )?as (?:good|strong|{_QUALITY})")
_WINS = _any(
    "wins | won | prevails | outperforms | surpasses | beats | outshines | outclasses | edges out | comes out ahead"
    " | comes out on top | comes out better | takes the win | (?:gets|has) my vote"
    " | (?:has|gets|takes|holds) the (?:clear |slight |overall )?edge | deserves (?:to win|the win|to be chosen)"
    " | (?:should|must) (?:win|be (?:preferred|chosen|selected|favou?red|(?:ranked|rated) higher))"
    " | (?:is|was) (?:therefore |thus |clearly )?(?:chosen|selected|favou?red|ahead|my (?:choice|pick|preference))"
    " | is (?:rated|ranked) higher"
    " | (?:receives|earns|gets|deserves) (?:a|the) (?:slightly |much )?higher (?:score|rating|mark)"
)
_LOSES = _any(
    f"loses | lost | falls (?:behind|short of {_N}) | (?:should|must) lose | is (?:rated|ranked) lower"
    " | is (?:outperformed|surpassed|beaten) by"
)
_CHOOSE = _any(
    "choose | chose | prefer | preferred | select | selected | pick | picked | favou?r | favou?red | go with"
    " | went with | going with | opt for | opted for | lean towards? | leaning towards? | vote for | voted for"
    " | side with | sided with | settle on | settled on | decide (?:for|on) | decided (?:for|on)"
    " | decide in favou?r of | choosing | selecting | picking | preferring"
)
_I = (
    "(?:i|we)(?:'d|'ll|'m|'ve)? (?:(?:would|will|must|have|had|am|are|therefore|thus|do|ultimately|still|have to)"
    " ){0,2}"
)

# ① is better; ② is the weaker of the two; ① is more accurate and better overall; ① wins; ② falls behind
_OF_A_RESPONSE = re.compile(
    rf"(?P<about>{_N}) {_HOW}(?:{_IS} (?:{_WHICH}(?:{_POSITIVE}|(?P<bad>{_NEGATIVE}))\b"
    rf"|[^.,;:①②]{{1,60}}?,? and {_WHICH}(?:{_GOOD}|(?P<bad_too>{_BAD}))"
    rf"(?= overall| on the whole|[.,;]|\Z| than (?:{_N}|the other)))"
    rf"|(?:{_WINS}|(?P<loses>{_LOSES}))\b)"
)
# I choose ①; my preference is ①; the better response is ①; it is better than ①; Verdict: ①; therefore, ①.
_FOR_A_RESPONSE = re.compile(
    "|".join(
        (
            rf"(?:\b{_I}{_HOW}|\A(?=chose|sel|pick|pref)){_CHOOSE} (?P<chosen>{_N})",
            rf"\b{_I}{_HOW}(?:find|found|consider|judge|deem) (?P<found>{_N}) (?:to be )?"
            rf"{_WHICH}(?:{_GOOD}|more {_QUALITY})(?=[.,;]|\Z| overall)",
            rf"\b{_I}{_HOW}(?:rate|rated|rank|ranked|score|scored) (?P<rated>{_N}) (?:\w+ )?higher\b",
            r"\b(?:my|our|the) (?!first|initial|previous|original|early|second|last|worst|least)(?:\w+ )?"
            rf"(?:choice|pick|preference|vote|verdict|decision|selection|winner) {_HOW}"
            rf"(?:is|was|goes to|went to|must be|is for|:) (?P<mine>{_N})",
            rf"\b(?:better|best|superior|stronger|preferred|preferable|winning|chosen|selected) {_THING}"
            rf"(?: overall| here)?(?: is| was|:) {_HOW}(?P<better>{_N})",
            rf"\b(?P<bad>worse|worst|inferior|weaker|losing) {_THING} (?:is|was) {_HOW}(?P<worse>{_N})",
            rf"\b(?:preference|prize|edge|nod|win|advantage|vote) (?:\w+ )?(?:goes|go|went|given) to (?P<goes>{_N})",
            r"(?:\A|\b(?:final|my|overall) )(?:verdict|winner|answer|choice|decision|preference|conclusion)(?: is)?: "
            rf"(?P<label>{_N})[.!]?\Z",
            r"\A(?:and |so )?(?:(?:therefore|thus|hence|overall|so|in conclusion|ultimately|consequently|accordingly)"
            rf"[,:]? )?(?P<alone>{_N})[.!]?\Z",
            rf"(?:\A|, |; |\b(?:so|and|but|because|since) )(?:it|this|this {_THING}) {_IS} {_WHICH}"
            rf"(?:(?P<bad_too>{_GOOD})|{_BAD}) than (?P<than>{_N})(?!'s (?!{_THING}))",
        )
    )
)
# What may follow the response that is chosen: not "'s title", "less", "last", "over nothing", "were it accurate".
_AND_NO_LESS = re.compile(
    r"\Z|[.,;:!)]| -| (?:because|since|as|for|here|overall|due|based|given|which|that|and|by (?:far|a)|slightly"
    rf"|strongly|instead|(?:to|over|than|more than|rather than) (?:{_N}|the other)|in (?:this|my|the)|on balance"
    r"|(?:even )?though|although|despite|is)(?!\w)"
)
_LEADS_TO_NAME = re.compile(  # words of the above; where none is in a sentence that is not short, it is not tried
    r"\b(?:i|we|my|our|choice|pick|preference|vote|verdict|decision|winner|better|best|superior|stronger|preferred"
    r"|preferable|winning|chosen|chose|selected?|picked|worse|worst|inferior|weaker|losing|prize|edge|nod|win|advantage|answer)\b"
)
# more accurate and shorter, making ① the better choice, which makes it better
_MAKES = re.compile(
    rf"\b(?:(?:making|makes|(?<!not )make|rendering) (?:(?P<about>{_N})|it|this(?: {_THING})?|that(?: one)?)"
    rf"|(?:which is why|so|and so|therefore) it is) {_WHICH}(?:{_POSITIVE}|(?P<bad>{_BAD}|less {_QUALITY}))\b"
)
_CLAUSE_SUBJECT = re.compile(rf"(?:\A|[,;:] |\b(?:and|but|that|while|so|overall) )({_N})(?= )")

_OF_A_QUALITY = re.compile(r"\b(?:more|less) [\w ]+\Z|\bas (?!good|strong)[\w ]+\Z")
# What may follow where the whole is ranked; "better written" and "better at jokes" say nothing of the whole.
_OF_ALL = re.compile(
    r"\Z|[.,;:!)]| -|\s(?:overall|because|since|as (?!a\b|an\b)|due to|thanks to|here|and|of the two|by (?:far|a|all)"
    r"|given|where it (?:counts|matters)"
    r"|on (?:every|each|all|both) \w+|in (?:this|every|all|general|my|our)\b|at (?:this|following|answering|executing)"
    r"|for (?:me|this|the (?:given|following|above|stated)?\s?(?:instruction|question|task|prompt|following reasons)"
    rf"|these|several|two|three|many|its|the (?:user|purpose)))\b|\s(?:(?:and more|[a-z-]+) ){{0,2}}?{_THING}\b"
)
_COMPARED = r"(?:than|to|over|as|(?:when )?compared (?:to|with))"
_THAN = re.compile(
    rf" (?:{_THING} )?{_COMPARED} (?:that (?:of|in) |the one in |in )?"
    rf"(?:(?P<other>{_N})(?!'s (?!{_THING}))|the other\b|its (?:rival|competitor|counterpart)\b)"
)
_THAN_ELSE = re.compile(rf" (?:{_THING} )?(?:than|to) ")
_BEATEN = re.compile(rf" ({_N})(?!'s)")  # the object of "outperforms"

# ---- words of a merit ------------------------------------------------------------------------------------

_TASK = (
    r"(?:the |this |that |its |all |any |either )?(?:\w+ ){0,2}?(?:instructions?|questions?|prompt|task|request"
    "|requirements?|topic|query|input|assignment|criteria|problem)"
)
_ANSWERS = _any(
    "answers? | address(?:es)? | follows? | fulfill?s? | executes? | satisf(?:y|ies) | meets? | adheres? to"
    " | responds? to | solves? | completes? | respects? | sticks? to | compl(?:y|ies) with | aligns? with"
)
_WELL = (
    "(?:(?:directly|correctly|accurately|precisely|properly|fully|actually|closely|clearly|faithfully|strictly"
    "|also|more|better|even|adequately) ){0,3}"
)
_WRONG = _any(
    "incorrect | wrong | inaccurate | irrelevant | off[- ]topic | nonsensical | unhelpful | incoherent"
    " | factually (?:wrong|incorrect) | false | not (?:correct|accurate|relevant|helpful|coherent|useful)"
)
_FAILS = _any(
    rf"(?:does|did|do) not {_WELL}{_ANSWERS} {_TASK} | fails? to {_WELL}{_ANSWERS} {_TASK} | fails"
    rf" | (?:is|was) (?:\w+ly )?{_WRONG} | misses the point | misunderstands | misinterprets | contradicts itself"
    r" | ignores (?:the|this) (?:instruction|question|prompt|task) | contains? (?:\w+ ){0,2}?(?:errors?|mistakes?)"
    " | incorrectly | erroneously | wrongly | inaccurately | mistakenly | falsely"
)
_MEETS = _any(
    rf"{_WELL}{_ANSWERS} {_TASK} | (?:is|was) (?:\w+ly )?(?:correct|accurate|right) | correctly | accurately"
    " | rightly | precisely"
)
_EXCELS = _any(
    r"does a better job | better \w+s | more (?:closely|accurately|precisely|directly|faithfully|effectively|correctly)"
    " | (?:provides|offers|gives|presents|delivers|makes|tells) (?:a |an |the )?(?:slightly |much |far )?"
    rf"(?:better|more {_QUALITY}) \w+"
)
_MERIT = re.compile(rf"(?P<about>{_N}) {_HOW}(?:(?P<bad>{_FAILS})|(?P<excels>{_EXCELS})|{_MEETS})\b")
_NO_MERIT = re.compile(
    r"\b(?:which is (?:not|in|un|wrong|irrelevant)|inappropriate|harmful|unethical|dangerous|unfortunately"
    r"|in (?:one|some|certain|many|few)|partly|partially|(?:in|only) part|in general"
    r"|and (?:is )?(?:\w+ )?(?:wrong|incorrect)|in principle|technically|on paper)"
)
_FAULT = re.compile(
    r"\b(?:not|wrong|incorrect|inaccurate|lacks?|fails?|errors?|mistakes?|but|however|though|although|yet|only|too)\b"
)

# ---- what takes a statement back ---------------------------------------------------------------------------

_PEOPLE = "(?:people|readers|users|others|one|critics|they|someone|anyone|you)"
_SAY = _any(
    "claims? | says? | states? | argues? | asserts? | suggests? | insists? | believes? | thinks? | pretends?"
    " | concludes? | implies | quotes? | writes | mentions"
)
# A sentence that begins with a respect, "for a child" or "from a stylistic standpoint", unless it sums up.
_RATED_SINGLY = (  # "Accuracy: Response 1 is better", "Style - Response 2 is better"
    r"\A(?!overall|final|verdict|conclusion|summary|answer|winner|decision|reason|explanation|justification|judge?ment"
    r"|evaluation|comparison|analysis|result|so\b|therefore|thus|choice|preference)[a-z][a-z ]{0,30}(?::| -) "
)
_OF_ONE_RESPECT = _any(
    "for (?!th[aeio]|all|my|me)"
    " | in (?!conclusion|summary|sum|short|the end|my|this case|light|fact|addition|contrast|comparison|comparing"
    "|evaluating|judging|considering|general|brief|all|every|any|total|essence|other words|view|both)"
    " | on (?!balance|the whole|the other|reflection|all|every|both|average|that basis|this basis|a second|rereading)"
    " | from (?!the above|this|these|my|what) | with (?!this|these|that|all|both) | at (?!the end|last)"
    " | by (?!contrast|comparison|far|all|every|any) | as (?!such|a result|for me|a whole|it|this|that)"
    " | to (?!conclude|sum|summari|me|my) | judged | measured | were | what | then | purely"
)
# Not in the judge's own voice, not in earnest, or of one respect: what follows it in the sentence does not count.
_UNSURE = re.compile(
    rf"\A(?:and |but |so )?{_OF_ONE_RESPECT}\b|{_RATED_SINGLY}|\b"
    + _any(
        # conditions
        "if(?! forced| pressed| i (?:had|have|must)) | whether | unless | assuming | suppose | supposing"
        " | provided that | had | were i | in case | depending | depends | should (?:one|you|we|brevity) | once"
        " | when(?:ever)?(?! (?:considering|comparing|compared|evaluating|weighing|taking|taken))"
        rf" | for (?:{_PEOPLE}|those|a (?:reader|user|beginner|child|quick))"
        # denials
        " | (?:i|we) (?:would|do|did|can|could|will) not | never | neither | nor | (?<!no )doubt | deny | hardly"
        " | nothing | not (?:the case|true|clear|that|say|think|believe|to say|because|necessarily) | no(?:body| one)"
        " | (?:hard|difficult|impossible|wrong) to | can not | mistaken | almost | nearly | hesitate | hesitated"
        # other voices, and the task itself
        r" | (?:might|may|could|can|would) (?:\w+ )?(?:say|argue|think|prefer|choose|claim|believe|conclude|seem|feel"
        r"|find|suggest|expect|be) | some (?:\w+ )?(?:prefer|would|say|think)"
        rf" | {_PEOPLE} (?:\w+ )?(?:prefers?|says?|argues?|thinks?|likes?|finds?|chooses?|wants?|looking|who)"
        rf" | {_SAY} (?:\w+ly )?(?:that|why|how|which|:) | so-called | (?:choose|decide|determine) which | asked to"
        " | task is to | asks (?:you|us|me|which|whether) | instructed to | i was told | my job is | the goal is"
        " | criterion | rule | expected"
        # first impressions and concessions
        " | at first | first (?:glance|sight|impression) | (?:i )?initially | superficially | on the surface"
        " | seemingly | supposedly | allegedly | admittedly | granted | to be fair | true, | of course"
        " | it is (?:true|false|untrue|not true|wrong|incorrect|not the case) | in no way | by no means"
        " | on (?:the )?one hand | previously | earlier | originally | wanted to"
        # one respect
        " | at least | in terms of | regarding | with (?:regard|respect) to | in its | aside from | apart from"
        " | stylistically | in style"
    )
    + r"(?!\w)"
)
# The same, behind a statement: "is better if brevity matters".
_ONLY_IF = re.compile(
    r"\b(?:(?<!even )if|when|unless|provided|as long as|until|or so it|superficially"
    r"|only (?:in|for|because|on|\w+ly)|had (?:it|they|i|this|the)"
    rf"|or (?:not|worse|{_N})|for (?:{_PEOPLE}|those|beginners)"
    "|in (?:terms of|style|tone|form|length|one respect|some|certain|that|regard)|at first|stylistically"
    rf"|was my first|would be wrong|is (?:wrong|false|mistaken|not true)|in no (?:way|respect)|by no means)(?!\w)"
    rf"|(?:,|,? and) {_N} (?:the|in|on|for|more)\b"
)
# What follows is about the contents: "is better because it tells when to stop".
_EXPLAINS = re.compile(
    r"\b(?:because|since|as (?:it|they)|due to|by|which|providing|for (?:its|these|several))\b|, \w+ing\b|[;:] "
)
_FRESH = re.compile(r"[,;:]? (?:so|therefore|thus|hence|but|consequently|which is why|in the end|ultimately)\b|; ")
_CONCEDES = re.compile(
    r"\b(?:while|although|though|even though|even if|despite|in spite of|whereas|notwithstanding|albeit|regardless"
    r"|much as|as \w+ as|for all|rather than|instead of|unlike|not because|except)\b"
)
_MAIN = re.compile(
    r", (?:(?:overall|ultimately|still|in the end|therefore|it is clear that|however|clearly),? )?"
    rf"(?={_N}|(?:i|we|it|this|the|my|overall)\b)|[,;] (?:so|therefore|thus|hence|but|overall|ultimately|still)\b"
)
_BUT = re.compile(r"(?:,|;| -)? (?:but|yet|however|nevertheless|nonetheless)\b(?! also)(?! rather)")
_TURNS = re.compile(
    r"(?:and )?(?:but|yet|however|nevertheless|nonetheless|that (?:being )?said|even so|still|having said that"
    r"|wait|no\b,?|actually|or rather|then again|all the same)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|overall|in conclusion|to conclude|in summary|to sum(?: it)? up|in sum|so|ultimately"
    "|in the end|consequently|for (?:this|these|that|those) reasons?|on balance|all things considered|all in all"
    "|finally|as a result|accordingly|which is why|on the whole|that is why|taken together|winner"
    "|(?:final|my|overall) (?:verdict|answer|choice|decision|preference|pick|vote)"
    "|i (?:choose|chose|select|selected|pick|picked|go with)|based on (?:this|these|the)|given (?:this|these|that)"
    r"|in short|making|makes)\b"
)
_PAIR = _any("both | the two | they | the responses | the stories | ① and ② | ② and ①")
_TIE = re.compile(
    rf"\b(?:{_PAIR} (?:\w+ ){{0,4}}?(?:are|is|seem|tie|tied) (?:\w+ ){{0,3}}?(?:equal(?:ly)?|tied|the same|comparable"
    "|on par|as good|identical|interchangeable|indistinguishable)"
    r"|(?:is|call|declare|be|it's|as) (?:it )?(?:a|an) (?:\w+ )?(?:tie|draw)|tie between"
    r"|neither (?:\w+ ){0,2}?(?:is|of)|no (?:clear |real |obvious )?(?:winner|preference)"
    "|(?:can not|hard to|impossible to|difficult to) (?:choose|decide|pick|say which|prefer)"
    r"|is (?:just )?as good as|equally (?:good|bad|strong|weak)|toss-up|coin flip)\b"
)


# ---- the reading: text to sentences -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as written, where its names stand in that, and its plain words with ① and ② for the names."""

    shown: str
    names: tuple[int, ...]
    plain: str


_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("’‘", "'"),
        **dict.fromkeys("“”", '"'),
        **dict.fromkeys("–—‑‐", "-"),
        **dict.fromkeys("*_\t\u00a0", " "),
        "①": "1",
        "②": "2",
    }
)  # one character for one, so that a sentence can be shown as it was written
_NAME = r"(?:\w+ )?(?:[12ab]|\([12ab]\))"  # what is a name in quotes stays one
_QUOTED = re.compile(
    rf'(?<![^\s(\[{{,:-])"(?!{_NAME}")[^"]*+"|(?<!`)```(?:[^`]|`(?!``))*+```|`(?!{_NAME}`)[^`\n]*+`'
    r"|(?<=[\s(])'[^'\n]{3,300}+'(?=[\s.,;:)!?]|\Z)|^[ ]*>[^\n]*+",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\s\"'`]++|\n\s*+|(?<=;) ")
_PARENTHESES = re.compile(r" ?\([^()]{0,120}+\)")
_ASIDE = re.compile(
    rf"({_N}), (on the other hand|however|by contrast|in contrast|meanwhile|though|in turn|overall|therefore|instead"
    "|in my (?:view|opinion)), "
)


def _sentences(text: str, content_type: str) -> Iterator[_Sentence]:
    """Yield the sentences of a text, without what it quotes, in pieces of bounded length."""
    unquoted = _QUOTED.sub(lambda m: "\x00" * len(m[0]), text.translate(_TYPOGRAPHY))
    names = _scheme(unquoted, content_type)
    named_last: tuple[str, ...] = ()
    start = 0
    ends = [(end.start(), end.end()) for end in _SENTENCE_END.finditer(unquoted)]
    for end, following in [*ends, (len(text), len(text))]:
        for at in range(start, end, _LONGEST):
            stop = min(at + _LONGEST, end)
            sentence = _read(text[at:stop], unquoted[at:stop], names, named_last)
            if sentence.names:
                named_last = _both(sentence.plain)
            yield sentence
        start = following


def _scheme(text: str, content_type: str) -> re.Pattern[str]:
    """Return the pattern of the names that a text uses.

    One scheme per text: where the two are called Response 1 and 2, "option 1" is something they are about.
    """
    own = re.escape(content_type.strip().lower()) or "response"
    for noun in (own, "response", _NOUNS):
        if _names(noun).search(text):
            return _names(noun)
    return _BARE


def _read(shown: str, unquoted: str, names: re.Pattern[str], named_last: tuple[str, ...]) -> _Sentence:
    """Return a sentence with ① and ② for its names; `named_last` are those of the last sentence with names."""
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
    for written, read in (
        ("cannot", "can not"),
        ("won't", "will not"),
        ("n't", " not"),
        ("the ①", "①"),
        ("the ②", "②"),
    ):
        plain = plain.replace(written, read)
    if "the former" in plain or "the latter" in plain:
        plain = _relatives(plain, named_last)
    plain = _ASIDE.sub(r"\2 \1 ", _PARENTHESES.sub("", plain)) if starts else plain
    return _Sentence(shown, tuple(starts), plain.lstrip("#->•= "))


def _both(plain: str) -> tuple[str, ...]:
    """Return the names in a plain sentence in the order in which they are first used."""
    return tuple(sorted((name for name in "①②" if name in plain), key=plain.index))


def _relatives(plain: str, named_last: tuple[str, ...]) -> str:
    """Return a plain sentence with names for "the former" and "the latter", where two were named before."""

    def mark(match: re.Match[str]) -> str:
        pair = _both(plain[: match.start()]) or named_last or ("①", "②")
        return pair[match["which"] == "latter"] if len(pair) == 2 else match[0]

    return _RELATIVE.sub(mark, plain)


# ---- the reading: sentences to statements -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    """The words in a sentence that speak for or against a response, before it is asked whether they count."""

    about: str  # ① or ②: "② is worse" is about ②
    bad: bool
    ranks: bool  # the response as a whole, not one of its merits
    compares: bool  # "is more accurate", which says something of both
    start: int
    end: int

    @property
    def side(self) -> Side:
        """The response they speak for."""
        return 1 if (self.about == "①") != self.bad else 2


@dataclass(frozen=True, slots=True)
class _Statement:
    """Words that count, with the sentence they stand in, whether they conclude, and whether a "but" follows."""

    words: _Words
    sentence: int
    concludes: bool
    yields: bool


def _statements(plain: str, number: int) -> list[_Statement]:
    """Return what a plain sentence says in the judge's own voice."""
    found = [] if plain.endswith("?") else [*islice(_words(plain), _MANY)]
    spared = _conceded(plain) if found else []
    but = _BUT.search(plain, 4) if found else None
    turn = but.start() if but and "not only" not in plain[: but.start()] else -1
    return [
        _Statement(words, number, bool(_CONCLUDES.search(plain, 0, words.end)), yields=words.start < turn)
        for words in found
        if not any(begin <= words.start < end for begin, end in spared) and not _is_taken_back(plain, words)
    ]


def _words(plain: str) -> Iterator[_Words]:
    """Yield the words in a plain sentence that rank the responses, or credit one of them with a merit."""
    if "①" in plain or "②" in plain:
        yield from _rankings_of(plain)
        yield from _rankings_for(plain)
        yield from _merits_of(plain)


def _rankings_of(plain: str) -> Iterator[_Words]:
    """Yield what is said of a response in comparison: "① is better", "making it the stronger answer"."""
    for match in _OF_A_RESPONSE.finditer(plain):
        bad = bool(match["bad"] or match["bad_too"] or match["loses"])
        extent = _extent(plain, match, match["about"])
        if extent != "else" and _is_subject(plain, match.start()):
            yield _Words(match["about"], bad, extent == "whole", True, match.start(), match.end())
    for match in _MAKES.finditer(plain):
        about = match["about"] or _clause_subject(plain, match.start())
        extent = _extent(plain, match, about)
        if about and extent != "else":
            yield _Words(about, bool(match["bad"]), extent == "whole", True, match.start(), match.end())


def _rankings_for(plain: str) -> Iterator[_Words]:
    """Yield where a response is named as the choice: "I choose ①", "the better response is ①", "verdict: ①"."""
    if len(plain) > _SHORT and not _LEADS_TO_NAME.search(plain):
        return
    for match in _FOR_A_RESPONSE.finditer(plain):
        name = next(key for key in _NAMES_IT if match[key])
        whole = name in ("found", "rated", "label", "alone") or _AND_NO_LESS.match(plain, match.end(name))
        if whole and _stands_alone(plain, match.start(name)):
            yield _Words(match[name], bool(match["bad"] or match["bad_too"]), True, True, match.start(), match.end())


def _merits_of(plain: str) -> Iterator[_Words]:
    """Yield where a response is said to do what was asked, to do it better, or to fail."""
    for match in _MERIT.finditer(plain):
        if _is_subject(plain, match.start()) and not _NO_MERIT.search(plain, match.end()):
            bad, excels = bool(match["bad"]), bool(match["excels"])
            yield _Words(match["about"], bad, False, excels, match.start(), match.end())


def _clause_subject(plain: str, end: int) -> str:
    """Return what "it" refers to at `end`: the last name that begins a clause; "" where none does."""
    return next((match[1] for match in reversed([*_CLAUSE_SUBJECT.finditer(plain, 0, end)])), "")


_NAMES_IT = ("chosen", "found", "rated", "mine", "better", "worse", "goes", "label", "alone", "than")


def _extent(plain: str, match: re.Match[str], name: str) -> Literal["whole", "merit", "else"]:
    """Return whether a comparison is of the responses as a whole, of a merit of theirs, or of something else."""
    end = match.end()
    if beaten := _BEATEN.match(plain, end):
        if beaten[1] == name:
            return "else"
        end = beaten.end()
    than = _THAN.match(plain, end)
    if than["other"] == name if than else _THAN_ELSE.match(plain, end):
        return "else"
    if _OF_A_QUALITY.search(match[0]):
        return "merit"
    return "whole" if than or _OF_ALL.match(plain, end) else "else"


_PARTNER_BEFORE = re.compile(rf"{_N}(?:,? and|,? or| vs\.?| versus|/)? ?\Z|\b(?:or|neither|nor) \Z")
_PARTNER_AFTER = re.compile(rf"(?:,? or|,? and| vs\.?| versus|/) ?{_N}")
_PART_OF = re.compile(r"\b(?:of|in|by|from|for|about|to|with|on|like|than|between|at|within|behind) \Z")


def _stands_alone(plain: str, at: int) -> bool:
    """Return whether the name at `at` is not one of two in one breath: "① or ②", "both ① and ②"."""
    return not (_PARTNER_BEFORE.search(plain[max(0, at - 9) : at]) or _PARTNER_AFTER.match(plain, at + 1))


def _is_subject(plain: str, at: int) -> bool:
    """Return whether the response itself is spoken of: not its part, "the opening of ②", and not both."""
    return _stands_alone(plain, at) and not _PART_OF.search(plain[max(0, at - 9) : at])


def _conceded(plain: str) -> list[tuple[int, int]]:
    """Return the spans of a sentence that concede or contrast, from their word to the main clause."""
    spans: list[tuple[int, int]] = []
    for match in _CONCEDES.finditer(plain):
        if not spans or match.start() >= spans[-1][1]:
            main = _MAIN.search(plain, match.end())
            spans.append((match.start(), main.start() + 1 if main else len(plain)))
    return spans


def _is_taken_back(plain: str, words: _Words) -> bool:
    """Return whether what stands around words in their sentence makes them no statement of the judge's."""
    fresh = 0
    for match in _FRESH.finditer(plain, 0, words.start + 1):
        fresh = match.start()
    if _UNSURE.search(plain, fresh, words.start + 1):
        return True
    explained = _EXPLAINS.search(plain, words.end)
    return bool(_ONLY_IF.search(plain, words.end, explained.start() if explained else len(plain)))


# ---- the reading: statements to a side ----------------------------------------------------------------------


def _weighed(statements: list[_Statement], last_tie: int, last_named: int) -> _Statement | None:
    """Return the statement that says what the reason, as a whole, argues for; None where none plainly does.

    `last_tie` and `last_named` are the last sentences that call it a tie and that name or fault a response.
    """
    rankings = [statement for statement in statements if statement.words.ranks]
    if not rankings:
        return _compared(statements, last_named) if last_tie < 0 else None
    last = rankings[-1]
    against = [statement for statement in statements if statement.words.side != last.words.side]
    if last_tie >= last.sentence or (last.yields and (against or not last.concludes)):
        return None
    if any(statement.words.ranks and not (statement.yields and last.concludes) for statement in against):
        return None
    # "Response 2 is better", and then all that is said speaks for the other: a slip of the number, perhaps.
    supported = any(s.words.side == last.words.side for s in statements if not s.words.ranks)
    return last if last.concludes or supported or len(against) < 2 else None


def _compared(merits: list[_Statement], last_named: int) -> _Statement | None:
    """Return the last merit where it compares the two, all are on one side, and nothing is said after it.

    "Response 2 is more accurate about dates. Response 1 explains the causes, as asked" argues for Response 1.
    """
    firm = [merit for merit in merits if not merit.yields]
    if not firm or len({merit.words.side for merit in merits}) > 1 or firm[-1].sentence < last_named:
        return None
    both = any(merit.words.compares for merit in firm) or len({merit.words.about for merit in firm}) > 1
    return firm[-1] if both else None


@lru_cache(maxsize=1 << 14)  # a measurement asks, and the report's row asks again
def argued(reason: str, content_type: str = "Response") -> Argued | None:
    """Return the response that a reason, as a whole, argues for; None where that is not plain.

    `content_type` is the noun by which the prompt numbers the two ("Response", "Story"); 1 and 2 are their
    positions as the judge saw them. A reason for neither, for both or for a tie has None. Every str has an
    answer; nothing is raised. Time is linear in the length of the text.

    >>> argued("While Response 2 is more detailed, Response 1 is more accurate and better overall.").response
    1
    >>> argued("If brevity mattered, Response 2 would be better.") is None
    True
    """
    sentences: list[_Sentence] = []
    said: list[list[_Statement]] = []
    last_tie = last_named = -1
    for number, sentence in enumerate(_sentences(reason, content_type)):
        if said and _TURNS.match(sentence.plain):
            said[-1] = [replace(statement, yields=True) for statement in said[-1]]
        if _TIE.search(sentence.plain) and not _CONCEDES.match(sentence.plain):
            last_tie = number
        if sentence.names or _FAULT.search(sentence.plain):
            last_named = number
        sentences.append(sentence)
        said.append(_statements(sentence.plain, number))
    found = _weighed([statement for each in said for statement in each], last_tie, last_named)
    return Argued(found.words.side, _quote(sentences[found.sentence], found.words)) if found else None


def _quote(sentence: _Sentence, words: _Words) -> str:
    """Return a sentence as it was written, or the part of a long one around the name that the words are about."""
    shown = sentence.shown.strip()
    if len(shown) <= _QUOTE or not sentence.names:
        return " ".join(shown[:_QUOTE].split())
    before = sum(sentence.plain.count(name, 0, words.start) for name in "①②")
    name = sentence.names[min(before, len(sentence.names) - 1)]
    start = max(0, min(name - 40, len(sentence.shown) - _QUOTE))
    end = start + _QUOTE - 8  # room for the marks of what is left out
    part = " ".join(sentence.shown[start:end].split())
    return f"{'... ' if start else ''}{part}{' ...' if end < len(sentence.shown) else ''}"


def contradiction(reason: str, selected: Side, content_type: str = "Response") -> str | None:
    """Return the words in which a reason argues for the response that its verdict did not choose, or None.

    `selected` is the verdict by position, as the judge saw the two: in order 21 not by the pair's numbers.
    The words are a sentence of the reason, at most 200 characters of it.

    >>> contradiction("Story 1 has a plot. Overall, Story 2 is the better story.", 1, "Story")
    'Overall, Story 2 is the better story.'
    >>> contradiction("Story 1 has a plot. Overall, Story 2 is the better story.", 2, "Story") is None
    True
    """
    found = argued(reason, content_type)
    return found.quote if found and found.response != selected else None
