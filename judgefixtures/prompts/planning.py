"""Plans: what a judge has to check before its verdict (PlanJudge, arXiv 2601.03630).

Plans depend on the kind of task only: the bias or gold would invalidate the measurement.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast, get_args

from judgefixtures.models.check_rows import PlansRow
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Fault, Kind, Plan, PlanStrategy
from judgefixtures.util.patterns import load_pattern, load_table, pattern_names
from judgefixtures.util.thoughts import split_thoughts

LEAKS: tuple[Fault, ...] = ("names-response", "names-bias")
LEAST_WORDS = 5
LONGEST_PLAN = 100_000  # characters; what is longer is a loop, and is not read

# What a server can tell the two calls apart by: a prompt that asks for a plan begins with the one, a prompt that
# has one carried out begins with the other, or holds it where its template has {plan}.
PLANNING_MARK = "Write an evaluation plan for the task below."
EXECUTION_MARK = "Carry out the evaluation plan below, step by step, and nothing but the plan:"
START_TAG, END_TAG = "[Start of Plan]", "[End of Plan]"


@dataclass(frozen=True, slots=True)
class _Planning(Condition):
    @property
    def name(self) -> str:
        return "plan"


PLAN = _Planning()


# --- kinds of task --------------------------------------------------------------------------------------------

# A request says what it wants at its start or at its end; what stands between is often a text to work on.
REQUEST_START, REQUEST_END = 400, 200


def task_kind(pair: Pair) -> Kind:
    """Return the kind of task of a pair's question, by English wording.

    "Story" is creative writing. Else the first match: translation, summarization, rewriting, safety, code, creative
    writing, reasoning, factual, general.

    >>> task_kind(Pair("1", "Why are there two high tides a day?", "Because", "Perhaps"))
    'factual'
    >>> task_kind(Pair("2", "Translate the following poem into French: ...", "Un", "Deux"))
    'translation'
    """
    if pair.content_type == "Story":
        return "creative-writing"
    question = pair.question
    request = question[:REQUEST_START]
    if len(question) > REQUEST_START:
        request += "\n" + question[REQUEST_START:][-REQUEST_END:]
    kinds = (kind for kind in pattern_names("tasks.en") if load_pattern("tasks.en", kind).search(request))
    return cast("Kind", next(kinds, "instruction"))


HAND_MADE = Path(__file__).parents[1] / "templates" / "plans"
KINDS: tuple[Kind, ...] = get_args(Kind)
HEURISTICS: Mapping[Kind, str] = MappingProxyType(
    {kind: (HAND_MADE / f"{kind}.txt").read_text(encoding="utf-8").removesuffix("\n") for kind in KINDS}
)


def heuristic_plan(pair: Pair, kind: Kind | None = None) -> Plan:
    """Return the hand-made plan of a kind of task."""
    kind = kind or task_kind(pair)
    return Plan(HEURISTICS[kind], kind, "heuristic")


# --- prompts --------------------------------------------------------------------------------------------------

_SLOT = re.compile(r"\{(kind|question|response_1|response_2|seen|context|responses|plan)\}")


_wording = partial(load_table, "planning")  # what is said to a judge's model about plans


def _filled(text: str, **slots: str) -> str:
    """Fill all slots in one pass: inserted text is never a slot."""
    return _SLOT.sub(lambda slot: slots.get(slot[1], slot[0]), text)


def planning_prompt(pair: Pair, about: PlanStrategy, *, sees_responses: bool = False, kind: Kind | None = None) -> str:
    """Return the planning prompt, without cues.

    "combined" adds the hand-made plan of `kind`.
    """
    kind = kind or task_kind(pair)
    wording = _wording()
    context = _filled(wording["context"], kind=kind.replace("-", " "), plan=HEURISTICS[kind])
    responses = _filled(wording["responses"], response_1=pair.response_1, response_2=pair.response_2)
    return _filled(
        wording["planning"],
        seen=wording["shown" if sees_responses else "hidden"],
        context=context if about == "combined" else "",
        question=pair.question,
        responses=responses if sees_responses else "",
    )


def execution_text(plan: Plan) -> str:
    """Return the text of a plan for {plan}."""
    return _filled(_wording()["execution"], plan=plan.text)


def execution_prompt(prompt: str, plan: Plan) -> str:
    r"""Return a prompt with a plan before it.

    >>> execution_prompt("Which is better?", Plan("1. Check {question}.", "factual", "self"))[-20:]
    'n]\n\nWhich is better?'
    """
    return f"{execution_text(plan)}\n\n{prompt}"


def planning_digest(strategy: str) -> str:
    """Return a digest of a strategy's wording."""
    texts = _wording()
    keys = () if strategy == "plan-heuristic" else ("planning", "hidden", "shown", "responses")
    context = (texts["context"],) if strategy == "plan-combined" else ()
    # Every strategy falls back on the hand-made plans.
    wording = (texts["execution"], sorted(HEURISTICS.items()), tuple(texts[key] for key in keys), context)
    return hashlib.sha256(repr(wording).encode()).hexdigest()[:16]


# --- from an answer to a plan -----------------------------------------------------------------------------------


def read_plan(
    answer: str, pair: Pair, origin: PlanStrategy, failure: str | None = None, kind: Kind | None = None
) -> Plan:
    """Return the plan in an answer, or the hand-made one with the fault.

    `failure` is why no answer is usable. No text raises. Linear time.

    >>> pair = Pair("1", "Why is the sky blue?", "a", "b")
    >>> read_plan("[Start of Plan]1. Check that each response names scattering. "
    ...           "2. Compare how clear the responses are.[End of Plan]", pair, "self").origin
    'self'
    >>> read_plan("Because blue light scatters more than red light does.", pair, "self").fault
    'answer'
    """
    kind = kind or task_kind(pair)
    text = plan_text(answer)
    fault, detail = ("failed", failure) if failure is not None else plan_fault(text, pair)
    if fault is None and not (_STEP.search(text) or _TAG.search(split_thoughts(answer)[1])):
        fault, detail = "answer", "no plan between the required tags, and no list of steps"
    if fault is None:
        return Plan(text, kind, origin)
    return Plan(HEURISTICS[kind], kind, "fallback", fault, detail, text[:LONGEST_PLAN])


_TAG = re.compile(r"\[ ?(start|end) of (?:the )?plan ?\]", re.IGNORECASE)
_STEP = re.compile(r"^[ \t*#|]{0,9}(?:(?:step )?\d{1,2}\*{0,2}[.):]|[-*•] )", re.IGNORECASE | re.MULTILINE)


def plan_text(answer: str) -> str:
    """Return the text between the last tags.

    >>> plan_text("<think>Hm.</think>Sure! [Start of Plan] 1. Check the sum. [End of Plan] Good luck!")
    '1. Check the sum.'
    """
    text = split_thoughts(answer)[1]
    tags = list(_TAG.finditer(text))
    starts = [number for number, tag in enumerate(tags) if tag[1].lower() == "start"]
    if not starts:
        return text[: tags[-1].start() if tags else None].strip()  # an end without a start
    end = tags[starts[-1] + 1].start() if starts[-1] + 1 < len(tags) else len(text)
    return text[tags[starts[-1]].end() : end].strip(" \t\r\n*#`")


# --- what is wrong with a plan ----------------------------------------------------------------------------------

_VERDICT_JSON = re.compile(r"\"selected_response\"\s{0,9}:\s{0,9}\"?([12])")
_VERDICT_BRACKETS = re.compile(r"\[\[([AB])\]\]")
_leak = partial(load_pattern, "leaks.en")


def plan_fault(text: str, pair: Pair) -> tuple[Fault | None, str]:
    """Return a plan's fault and detail, or (None, "").

    "empty" (under 5 words), "failed" (over LONGEST_PLAN), "answer" (one verdict), or from `plan_leak`.
    """
    if sum(1 for _, _ in zip(_WORD.finditer(text), range(LEAST_WORDS), strict=False)) < LEAST_WORDS:
        return "empty", f"{text[:80]!r} is not a plan"
    if len(text) > LONGEST_PLAN:
        return "failed", f"{len(text)} characters, probably a loop"
    verdicts = {*_VERDICT_JSON.findall(text)} or {*_VERDICT_BRACKETS.findall(text)}
    if len(verdicts) == 1:
        return "answer", "the plan gives a verdict"
    return plan_leak(text, pair) or (None, "")


def plan_leak(text: str, pair: Pair) -> tuple[Fault, str] | None:
    """Return the leak of a plan, or None.

    Leaks prefer one response, describe the right one, or name a bias of BiasBench; words of the question do not count.

    >>> plan_leak("Choose Response 2.", Pair("1", "Why?", "a", "b", gold=2))
    ('names-response', "the plan prefers response 2, the better one: 'Choose Response 2'")
    """
    preferred: dict[int, str] = {}
    for statement in _statements(text):
        if _leak("open").search(statement):
            continue
        names = ("choose",) if _leak("asks").search(statement) else ("choose", "is_better")
        for leak in (match for name in names for match in _leak(name).finditer(statement)):
            named = (leak[1] or leak[2]).lower()
            preferred.setdefault(1 if named in ("1", "a", "one", "first") else 2, statement.strip()[:160])
    if len(preferred) == 1:
        ((number, statement),) = preferred.items()
        gold = ", the better one" if number == pair.gold else ""
        return "names-response", f"the plan prefers response {number}{gold}: {statement!r}"
    if looks := next(_named("looks_like", text, pair), None):
        return "names-response", f"the plan describes the right response: {looks!r}"
    named_biases = itertools.chain(_named("bias", text, pair), _named("common_bias", text, pair, unless="caution"))
    if bias := next(named_biases, None):
        return "names-bias", f"the plan names a bias: {bias!r}"
    return None


def _statements(text: str) -> Iterator[str]:
    for statement in re.split(r"[\n;?!]|(?<!e\.g)(?<!i\.e)\.(?=\s|$)", text):
        if statement.strip():
            yield statement[:LONGEST_STATEMENT]


LONGEST_STATEMENT = 1000
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+")  # scripts that set no spaces: a character counts


def _named(name: str, text: str, pair: Pair, unless: str = "") -> Iterator[str]:
    question = pair.question.casefold()
    for statement in _statements(text):
        if not unless or not _leak(unless).search(statement):
            yield from (match[0] for match in _leak(name).finditer(statement) if match[0].casefold() not in question)


# --- counts -----------------------------------------------------------------------------------------------------


def count_plans(pairs: Sequence[Pair], plans: Sequence[Plan]) -> PlansRow:
    """Return the counts of plans, hand-made leaks included."""
    faults = Counter(plan.fault for plan in plans if plan.fault is not None)
    kinds = Counter(plan.kind for plan in plans)
    planned = zip(pairs, plans, strict=True)
    leaking = sum(plan.fault in LEAKS or plan_leak(plan.text, pair) is not None for pair, plan in planned)
    fallback = sum(plan.origin == "fallback" for plan in plans)
    return PlansRow(
        n=len(plans),
        planned=len(plans) - fallback,
        fallback=fallback,
        faults=dict(sorted(faults.items())),
        kinds=dict(sorted(kinds.items())),
        leaks=leaking,
    )
