"""How sure a judge was: read off planted tokens, whatever the tokenizer, and the same from a thinned recording."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import a_judge, ask, header, rows, run, some_pairs, table
from support.planted import BODIES, Planted, google_body, openai_body, pieces, planted, said
from support.server import SDKS, Answer, Asked, good, google_problem, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.response_filter import keep_verdict_logprobs
from judgefixtures.cassettes.vcr_adapter import scrub_body
from judgefixtures.checks import CheckInput
from judgefixtures.config import build_config
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.contrasts import NO_CUE, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.probabilities import Probability, Token
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.verdict_probabilities import reasons_first, verdict_probability
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.providers import ProviderResponse as Read
from judgefixtures.providers import google, openai
from judgefixtures.providers.http import HttpResponse
from judgefixtures.run.run import ItemRecord, Run, RunOptions
from judgefixtures.simulator.behaviour import latent
from judgefixtures.simulator.server import serving as simulating
from judgefixtures.sources import Source, load_pairs
from judgefixtures.util.secrets import register_secrets

PAIRS = some_pairs(4)
(RECENCY,) = contrasts("recency")
BOTH = (RECENCY.x, RECENCY.y)
LOGPROBS = {"logprobs": True}
READERS = {"openai": openai.read_completion, "google": google.read_content}

# A text, with the verdict's place marked; every form that the parser reads.
TEXTS = {
    "plain": '{"selected_response": «1», "reason": "It names 2 dates, and \\"selected_response\\": 2 is wrong."}',
    "reason first": '{"reason": "A 1 or a 2?", "selected_response": «2»}',
    "no spaces": '{"selected_response":«2»,"reason":"ok"}',
    "a string": '{"selected_response": "«1»", "reason": "ok"}',
    "in words": '{"selected_response": "Response «2»", "reason": "Response 1 is longer."}',
    "another key": '{"Selected Response": «1», "reason": "ok"}',
    "a float": '{"selected_response": «2».0, "reason": "ok"}',
    "thinking": '<think>Is it {"selected_response": 2}? No.</think>{"selected_response": «1», "reason": "ok"}',
    "a fence": 'Sure:\n```json\n{"selected_response": «2», "reason": "ok"}\n```',
    "prose": 'I say {"selected_response": "1 or 2"}, so {"selected_response": «2», "reason": "ok"}. Not 1.',
    "twice": '{"selected_response": 1, "reason": "so"} {"selected_response": «1», "reason": "so"}',
    "a list": '[{"selected_response": «2», "reason": "ok"}]',
    "single quotes": "{'selected_response': «1», 'reason': 'ok',}",
    "in a string": json.dumps('{"selected_response": "1", "reason": "ok"}').replace('\\"1\\"', '\\"«1»\\"'),
    "nested": '{"reason": {"selected_response": 2}, "selected_response": «1»}',
    "other scripts": '{"reason": "日本語 😀 “1”", "selected_response": «2»}',
}
BRACKETS = {
    "the last one": "[[A]] or [[B]]? 日本語 A says: [[«B»]]",
    "before": "[[«A»]] since B is a bad answer",
    "small": "so: [[ «b» ]]",
    "thinking": "<think>[[B]]</think>[[«A»]]",
}


def place_of(marked: str) -> tuple[str, int, str]:
    """Return a text without its mark, the place of the verdict in its bytes, and the verdict as it is written."""
    before, _, rest = marked.partition("«")
    stated, _, after = rest.partition("»")
    return before + stated + after, len(before.encode()), stated


def listed(tokens: list[Planted], count: int) -> list[Token]:
    """Return tokens as a provider reads them."""
    return [
        Token(token.text, math.log(token.chance), {text: math.log(p) for text, p in token.likeliest(count)})
        for token in tokens
    ]


def logit(p: float) -> float:
    """Return the log odds of a probability."""
    return math.log(p / (1 - p))


ALL = [pytest.param("json", text, id=name) for name, text in TEXTS.items()]
ALL += [pytest.param("brackets", text, id=f"brackets, {name}") for name, text in BRACKETS.items()]
WRITTEN = {"json": "12", "brackets": "AB"}
cuts = st.lists(st.integers(0, 200), max_size=60)
chances = st.floats(1e-6, 1 - 1e-6)


@pytest.mark.parametrize(("notation", "marked"), ALL)
@given(cuts=cuts, p=chances, rest=st.floats(0, 0.5))
@pytest.mark.slow
def test_a_planted_probability_is_found(notation: Any, marked: str, cuts: list[int], p: float, rest: float) -> None:
    """However a text is cut into tokens, inside of characters too, the log odds are those planted at the verdict."""
    text, at, stated = place_of(marked)
    verdict = parse_verdict(text, notation)
    assert verdict.selected_response == WRITTEN[notation].index(stated.upper()) + 1
    first, second = WRITTEN[notation].lower() if stated.islower() else WRITTEN[notation]
    whole = (1 - rest) * 0.99
    # A letter behind the verdict in its own token is a longer word there: tokens end after the verdict.
    tokens = pieces(text, [*cuts, at + 1])
    found = verdict_probability(
        listed(planted(tokens, at, {first: p * whole, second: (1 - p) * whole}), 40), text, verdict, notation
    )
    assert found is not None
    assert found.log_odds == pytest.approx(logit(p), abs=1e-9)
    assert found.value == pytest.approx(p, abs=1e-9)
    assert found.elsewhere == pytest.approx(1 - whole, abs=1e-9)
    assert not found.is_bound


SPELLINGS = {
    "alone": ['{"selected_response":', " ", "1", ', "reason": "ok"}'],
    "with a space": ['{"selected_response":', " 1", ', "reason": "ok"}'],
    "with a colon": ['{"selected_response"', ": 1", ', "reason": "ok"}'],
    "with a comma": ['{"selected_response":', " 1,", ' "reason": "ok"}'],
    "in quotes": ['{"selected_response": ', '"1"', ', "reason": "ok"}'],
    "in a longer one": ['{"selected', '_response": 1, "reason"', ': "ok"}'],
    "everything": ['{"selected_response": 1, "reason": "ok"}'],
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("count", [2, 5, 20])
@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("p", [0.5, 0.9371, 0.013])
def test_every_spelling_in_both_formats(spelling: str, count: int, sdk: str, p: float) -> None:
    """The planted log odds come out of both wire formats, with as few alternatives as the two verdicts."""
    parts = SPELLINGS[spelling]
    text = "".join(parts)
    at = text.index("1")
    tokens = planted([part.encode() for part in parts], at, {"1": p * 0.98, "2": (1 - p) * 0.98})
    answer = read(sdk, BODIES[sdk](text, tokens, count))
    found = verdict_probability(answer.tokens, answer.text, parse_verdict(answer.text))
    assert found is not None
    assert found.value == pytest.approx(p, abs=1e-9)
    assert found.elsewhere == pytest.approx(0.02, abs=1e-9)


def read(sdk: str, body: Any) -> Read:
    """Return what a provider reads of a body."""
    return READERS[sdk](HttpResponse(200, {}, body if isinstance(body, str) else json.dumps(body)), "m")


PLAIN, AT, _ = place_of(TEXTS["plain"])
ONE = Verdict(1, "")


def found_in(others: Mapping[bytes, float], chosen: bytes = b" 1", **more: Any) -> Probability | None:
    """Return what is read where a server lists these probabilities in the verdict's place."""
    parts = [b'{"selected_response":', chosen, b', "reason": "ok"}']
    tokens = [Planted(parts[0]), Planted(chosen, others.get(chosen, 1e-5), others), Planted(parts[2])]
    text = b"".join(parts).decode()
    return verdict_probability(listed(tokens, 20), text, more.pop("verdict", parse_verdict(text)), **more)


def test_all_that_states_a_verdict_counts() -> None:
    """Tokens that say the same otherwise are added up; what begins like a verdict and is none is elsewhere."""
    found = found_in(
        {
            b" 1": 0.5,
            b"1": 0.1,
            b" 1,": 0.05,
            b" 2": 0.2,
            b" 2.0": 0.05,
            b" 12": 0.04,
            b" 1st": 0.03,
            b' "': 0.02,
            b" 0": 0.01,
        }
    )
    assert found is not None
    assert found.log_odds == pytest.approx(math.log(0.65 / 0.25), abs=1e-12)
    assert found.elsewhere == pytest.approx(0.1, abs=1e-12)
    assert found.tie == 0


def test_sure_judges_keep_their_log_odds() -> None:
    """Where a probability is 1 to the last digit, the log odds are as exact as what was listed."""
    tokens = [
        Token(b'{"selected_response":', 0.0, {}),
        Token(b" 1", -1e-17, {b" 1": -1e-17, b" 2": -300.0}),
        Token(b"}", 0.0, {}),
    ]
    found = verdict_probability(tokens, '{"selected_response": 1}', ONE)
    assert found is not None
    assert found.log_odds == 300.0
    assert found.elsewhere == 0.0


@pytest.mark.parametrize("count", [2, 5, 20])
def test_a_verdict_that_is_not_listed_is_bounded(count: int) -> None:
    """It is less likely than whatever is listed, and than all that is not: a bound, never 0 or 1."""
    words = {f" w{number}".encode(): 0.001 / 2**number for number in range(count - 1)}
    found = found_in({b" 1": 0.99, **words})
    least = min(min(words.values()), 1 - 0.99 - sum(words.values()))
    assert found is not None
    assert found.is_bound
    assert (found.low, found.high) == (pytest.approx(math.log(0.99 / least), abs=1e-9), math.inf)
    assert found.log_odds == found.low
    assert found.bounds == (pytest.approx(0.99 / (0.99 + least)), 1.0)


@pytest.mark.parametrize("sdk", SDKS)
@given(count=st.sampled_from([2, 5, 20]), p=st.floats(1e-9, 1e-3), cuts=cuts)
def test_a_bound_holds(sdk: str, count: int, p: float, cuts: list[int]) -> None:
    """Whatever was planted lies within what is read, in both formats: exactly, or between a bound and certainty."""
    tokens = planted(pieces(PLAIN, [*cuts, AT + 1]), AT, {"1": 0.99 * (1 - p), "2": 0.99 * p})
    answer = read(sdk, BODIES[sdk](PLAIN, tokens, count))
    found = verdict_probability(answer.tokens, answer.text, ONE)
    assert found is not None
    assert found.is_bound == (len(tokens) > 0 and math.isinf(found.high))
    true = math.log1p(-p) - math.log(p)  # exactly: 1 - p has lost digits of p
    assert found.low - 1e-9 <= true <= found.high + 1e-9
    assert not math.isinf(found.low)


def test_what_is_left_bounds_it_too() -> None:
    """Where nearly everything is listed, the rest is the bound, on either side, and no less than servers round by."""
    found = found_in({b" 2": 0.7, b" no": 0.29}, chosen=b" 2")
    assert found is not None
    assert (found.low, found.high) == (-math.inf, pytest.approx(math.log(0.01 / 0.7)))
    whole = found_in({b" 1": 0.75, b" no": 0.25})
    assert whole is not None
    assert whole.low == pytest.approx(math.log(0.75 / 1e-6))


def test_the_token_itself_is_no_bound() -> None:
    """Some servers list the token beside the likeliest ones: a verdict that is not listed may be likelier."""
    found = found_in({b" yes": 0.4, b" no": 0.2, b" 1": 0.001})
    assert found is not None
    assert found.low == pytest.approx(math.log(0.001 / 0.2))
    assert (found.value, found.bounds) == (0.5, (pytest.approx(0.001 / 0.201), 1.0))  # it may be either


def test_without_either_verdict_nothing_is_known() -> None:
    """OpenAI's -9999 is "too unlikely to tell": as good as not listed, also for the token itself."""
    assert found_in({b" yes": 0.6, b" no": 0.3}) is not None  # of the token itself
    tokens = [
        Token(b'{"selected_response":', 0.0, {}),
        Token(b" 1", -9999.0, {b" x": -0.1, b" 2": -9999.0}),
        Token(b"}", 0.0, {}),
    ]
    assert verdict_probability(tokens, '{"selected_response": 1}', ONE) is None


def test_ties() -> None:
    """Where ties count, a tie has its share among the three; elsewhere it is no verdict."""
    chances = {b" 1": 0.4, b" 2": 0.1, b" 0": 0.25}
    found, plain = found_in(chances, ties=True), found_in(chances)
    assert found is not None
    assert plain is not None
    assert (found.tie, found.elsewhere) == (pytest.approx(1 / 3), pytest.approx(0.25))
    assert (plain.tie, plain.elsewhere) == (0.0, pytest.approx(0.5))
    assert found.value == pytest.approx(2 / 3 * 0.8 + 1 / 6)
    assert found.log_odds == pytest.approx(math.log(0.4 + 0.125) - math.log(0.1 + 0.125))


@pytest.mark.parametrize(
    ("others", "low", "high"),
    [
        ({b" 1": 0.6, b" 2": 0.3, b" x": 0.05}, (0.6 + 0.025) / 0.95, 0.6 / 0.9),  # the tie is not listed
        ({b" 0": 0.6, b" 1": 0.3, b" x": 0.05}, 0.6 / 0.95, 0.6 / 0.9),  # response 2 is not
        ({b" 0": 0.9, b" x": 0.05}, 0.45 / 0.95, 0.5 / 0.95),  # neither is
    ],
)
def test_a_tie_that_is_not_listed_is_bounded_too(others: dict[bytes, float], low: float, high: float) -> None:
    """Each of the three verdicts may be what the server does not list; a judge that calls ties is known to do so."""
    chosen = next(iter(others))
    verdict = Verdict(None, "", tie=True) if chosen == b" 0" else ONE
    found = found_in(others, chosen=chosen, ties=True, verdict=verdict)
    assert found is not None
    assert found.bounds == pytest.approx((low, high), abs=1e-9)
    assert found.value == pytest.approx(low if low > 0.5 else 0.5)


@pytest.mark.parametrize(
    ("text", "parts", "others"),
    [
        ('{"selected_response": "tie"}', ['{"selected_response": "', "tie", '"}'], {"1": 0.2, "2": 0.1, "tie": 0.6}),
        (
            '{"selected_response": "A  draw"}',
            ['{"selected_response": "', "A", '  draw"}'],
            {"1": 0.2, "2": 0.1, "A": 0.6},
        ),
        ('{"selected_response": 0}', ['{"selected_response": ', "0", "}"], {"1": 0.2, "2": 0.1, "0": 0.6}),
        ("Both. [[C]]", ["Both. [[", "C", "]]"], {"A": 0.2, "B": 0.1, "C": 0.6}),
        ("Both. [[C]]", ["Both. ", "[[C", "]]"], {"[[A": 0.2, "[[B": 0.1, "[[C": 0.6}),
    ],
)
def test_a_tie_that_was_chosen(text: str, parts: list[str], others: dict[str, float]) -> None:
    """Its place is found as that of a choice is."""
    tokens = [
        Token(
            part.encode(),
            math.log(others.get(part, 0.9)),
            {key.encode(): math.log(p) for key, p in others.items()} if part in others else {},
        )
        for part in parts
    ]
    found = verdict_probability(
        tokens, text, Verdict(None, "", tie=True), "brackets" if "[[" in text else "json", ties=True
    )
    assert found is not None
    assert (found.log_odds, found.tie) == (pytest.approx(math.log(0.5 / 0.4)), pytest.approx(2 / 3))
    assert verdict_probability(tokens, text, Verdict(None, "", "tie"), "json", ties=True) is None


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ("<think>1 or 2</think>" + PLAIN + "<|im_end|>", True),  # thoughts and an end mark
        (PLAIN.replace("names", ""), True),  # something behind the verdict is missing
        ("So: " + PLAIN[:AT] + "1}", True),
        ('{ "selected_response": 1, "why": "?"}', True),
        (PLAIN.replace('": 1', '" : 1'), False),
        ("", False),
        ("[[A]]", False),
    ],
)
def test_tokens_that_do_not_spell_the_text(spelled: str, expected: bool) -> None:
    """Thoughts, end marks and lost characters do no harm where the verdict can be found; else nothing is said."""
    tokens = planted(
        [char.encode() for char in spelled], spelled.rfind('_response": 1') + len('_response": '), {"1": 0.7, "2": 0.2}
    )
    found = verdict_probability(listed(tokens, 20), PLAIN, ONE)
    assert (found is not None) == expected
    assert found is None or found.log_odds == pytest.approx(math.log(3.5))


def test_bytes_that_a_server_swallows() -> None:
    """llama-cpp-python lists no bytes and drops halves of characters: what stands before them is found."""
    text = '{"reason": "日", "selected_response": 1}'
    tokens = [
        {
            "token": char if char.isascii() else "",
            "bytes": None,
            "logprob": -0.1,
            "top_logprobs": [
                {"token": char, "bytes": None, "logprob": -0.1},
                {"token": "2", "bytes": None, "logprob": -3.1},
            ],
        }
        for char in text
    ]
    body = openai_body(text, [], 1)
    body["choices"][0]["logprobs"] = {"content": tokens}
    found = verdict_probability(read("openai", body).tokens, text, ONE)
    assert found is not None
    assert found.log_odds == pytest.approx(3.0)


# --- what comes before a verdict --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form", "selected", "expected"),
    [
        ('{"selected_response": 1, "reason": "It is correct."}', "json", 1, False),
        ('```json\n{"selected_response": 1}\n```', "json", 1, False),
        ('Here is my verdict:\n{"reason": "", "selected_response": 2}', "json", 2, False),
        ('{"reason": "It is correct.", "selected_response": 1}', "json", 1, True),
        ('{"confidence": 0.9, "selected_response": 1}', "json", 1, True),
        ('The first is better. {"selected_response": 1}', "json", 1, True),
        ('<think>\n\n</think>\n{"selected_response": 1}', "json", 1, False),
        ('<think>The first.</think>{"selected_response": 1}', "json", 1, True),
        ('"{\\n \\"selected_response\\": 1}"', "json", 1, False),
        ("[[A]] because it is correct.", "brackets", 1, False),
        ("**Final verdict:** [[B]]", "brackets", 2, False),
        ("Response A is better: [[A]]", "brackets", 1, True),
        ("It is correct.\n\n[[A]]", "brackets", 1, True),
        ("[[A]], as I said: [[A]]", "brackets", 1, True),
    ],
)
def test_an_answer_tells_whether_it_reasons_first(text: str, form: Any, selected: Any, expected: bool) -> None:
    """Syntax and the verdict's own name are no reasoning; a number, a letter of a response and any other word are."""
    assert reasons_first(text, Verdict(selected, ""), form) is expected


@pytest.mark.parametrize(
    "hidden", [{"reasoning": "The first is correct."}, {"usage": Usage(5, 50, 40)}, {"strategy": "plan-self"}]
)
def test_hidden_reasoning_and_plans_come_before_the_verdict(hidden: dict[str, Any]) -> None:
    """What a server keeps to itself, or tells beside the answer, and a plan of the judge's own."""
    strategy = hidden.pop("strategy", "direct")
    judge = load_judge({"provider": "openai", "model": "m", "logprobs": True, "strategy": strategy})
    answer = Read('{"selected_response": 1, "reason": "r"}', probability=Probability(2.0, 2.0), **hidden)
    for explained in (True, False):
        found = judge.parse_reply(answer).verdict.probability
        assert found is not None
        assert found.explained is explained
        judge = load_judge({"provider": "openai", "model": "m", "logprobs": True})
        answer = Read(answer.text, probability=answer.probability)


# --- what is not a list of tokens ---------------------------------------------------------------------------

ENTRY = {"token": "x", "bytes": None, "logprob": -1.0, "top_logprobs": []}
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "content",
                    "token",
                    "bytes",
                    "logprob",
                    "top_logprobs",
                    "chosenCandidates",
                    "topCandidates",
                    "candidates",
                    "logProbability",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
)
GARBAGE: list[Any] = [
    None,
    5,
    "x",
    [],
    {},
    {"content": None},
    {"content": 5},
    {"content": [None]},
    {"content": [5]},
    {"content": []},
    *(
        {"content": [ENTRY, ENTRY | change]}
        for change in (
            {"logprob": None},
            {"logprob": "0"},
            {"logprob": math.nan},
            {"logprob": 0.5},
            {"logprob": True},
            {"token": None},
            {"token": 5},
            {"top_logprobs": 5},
            {"top_logprobs": [5]},
            {"top_logprobs": {"x": -1}},
            {"top_logprobs": [ENTRY | {"logprob": 1}]},
        )
    ),
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_garbage_breaks_no_answer(garbage: Any) -> None:
    """Whatever stands where token probabilities do, the verdict counts, without a probability."""
    body = openai_body(PLAIN, [], 1)
    body["choices"][0]["logprobs"] = garbage
    answer = read("openai", body)
    assert (answer.text, answer.tokens) == (PLAIN, ())


@given(junk)
def test_any_garbage(garbage: Any) -> None:
    """Nothing in the place of either format's lists raises, nor where it is thinned."""
    for sdk, name in (("openai", "logprobs"), ("google", "logprobsResult")):
        body = BODIES[sdk](PLAIN, [], 1)
        body["choices" if sdk == "openai" else "candidates"][0][name] = garbage
        raw = json.dumps(body)
        answer = read(sdk, raw)
        assert answer.text == PLAIN
        again = read(sdk, keep_verdict_logprobs(raw.encode()).decode("utf-8", "surrogatepass"))
        assert verdict_probability(answer.tokens, PLAIN, ONE) == verdict_probability(again.tokens, PLAIN, ONE)


@pytest.mark.parametrize("listing", [[], [[ENTRY], [ENTRY]], 5, [5], [{"candidates": 5}]], ids=repr)
def test_lists_of_unequal_length_are_garbage(listing: Any) -> None:
    """Gemini's lists belong together place by place; without alternatives the tokens are there all the same."""
    body = google_body(PLAIN, [Planted(PLAIN.encode())], 1)
    body["candidates"][0]["logprobsResult"]["topCandidates"] = listing
    assert len(read("google", body).tokens) == (listing == [] or listing == [5])


# --- recordings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("notation", "marked"), ALL)
@given(cuts=cuts, count=st.sampled_from([1, 2, 5, 20]), sdk=st.sampled_from(SDKS), p=chances)
@pytest.mark.slow
def test_thinning_loses_nothing(notation: Any, marked: str, cuts: list[int], count: int, sdk: str, p: float) -> None:
    """What is read of a thinned answer is what is read of the whole one, in either notation, however it is cut."""
    text, at, _ = place_of(marked)
    first, second = WRITTEN[notation]
    tokens = planted(pieces(text, cuts), at, {first: p * 0.9, second: (1 - p) * 0.9})
    whole = json.dumps(BODIES[sdk](text, tokens, count)).encode()
    thin = keep_verdict_logprobs(whole)
    assert keep_verdict_logprobs(thin) == thin
    before, after = read(sdk, whole.decode()), read(sdk, thin.decode())
    assert b"".join(token.text for token in after.tokens) == b"".join(token.text for token in before.tokens)
    verdict = parse_verdict(text, notation)
    found = verdict_probability(before.tokens, text, verdict, notation)
    assert found == verdict_probability(after.tokens, text, verdict, notation)
    assert found is not None or sdk == "google"  # which has no bytes for parts of a character


@pytest.mark.parametrize(
    "body",
    [
        b'{ "choices": [] }',
        b'{"choices": [{"logprobs": null}]}',
        b'{"choices": [{"logprobs" : {"content": null}}]}',
        b"logprobs",
        b'{"logprobs": 1}',
        b'[{"logprobs": 1}]',
        b'{"candidates": {"logprobsResult": 1}}',
        b"",
    ],
)
def test_an_answer_without_probabilities_stays(body: bytes) -> None:
    """Byte for byte."""
    assert keep_verdict_logprobs(body) == body


SIZES = (224, 7)  # kilobytes
REASON = "The second response is clearer since it gives a date and the other one leaves out what was asked for"


def test_a_thinned_answer_is_small() -> None:
    """A reason of a hundred tokens, with twenty alternatives each, is recorded in a twentieth of its size."""
    words = itertools.islice(itertools.cycle(REASON.split()), 100)
    text = json.dumps({"selected_response": 1, "reason": " ".join(words)})
    tokens = [Planted(part.encode()) for part in re.findall(r" ?\w+|\W", text)]
    whole = json.dumps(openai_body(text, tokens, 20), separators=(",", ":")).encode()
    thin = keep_verdict_logprobs(whole)
    assert (round(len(whole) / 1000), round(len(thin) / 1000)) == SIZES


def test_tokens_that_spell_a_secret_are_not_recorded() -> None:
    """A key that a judge repeats is cut into tokens that no search would find: then none of them is kept."""
    secret = "sk-planted-4242424242424242"
    register_secrets(secret)
    text = json.dumps({"selected_response": 1, "reason": f"They wrote {secret}."})
    for sdk in SDKS:
        body = json.dumps(BODIES[sdk](text, [Planted(piece) for piece in pieces(text, range(0, 200, 3))], 2)).encode()
        kept = scrub_body(keep_verdict_logprobs(body))
        assert b"4242" not in kept
        answer = read(sdk, kept.decode())
        assert (answer.tokens, parse_verdict(answer.text).selected_response) == ((), 1)


# --- over the wire ------------------------------------------------------------------------------------------

CHANCES = {"1": 0.72, "2": 0.18}
pytest_plugins = ["pytester"]
over_the_wire = pytest.mark.usefixtures("quick_and_alone")


def answering(asked: Asked) -> Answer:
    """Answer with planted probabilities, other ones for each pair, where they are asked for."""
    settings = asked.body.get("generationConfig", asked.body)
    if not (settings.get("logprobs") or settings.get("responseLogprobs")):
        return good(asked.sdk)
    share = 0.9 - 0.08 * asked.number
    return said(asked.sdk, 1, {"1": share * 0.95, "2": (1 - share) * 0.95})


@over_the_wire
@pytest.mark.parametrize("sdk", SDKS)
def test_recorded_and_replayed_to_the_same_numbers(sdk: str, tmp_path: Path) -> None:
    """Both SDKs ask for token probabilities, and a replay reads from the recording what was read live."""
    with serving(by=answering) as server:
        judge = a_judge(sdk, server.url, **LOGPROBS, top_logprobs=7)
        live = run(judge, tmp_path, PAIRS)
    first = server.asked[0].body
    if sdk == "openai":
        assert (first["logprobs"], first["top_logprobs"]) == (True, 7)
    else:
        settings = first["generationConfig"]
        assert (settings["responseLogprobs"], settings["logprobs"]) == (True, 7)
    assert [found_by(judgment) for judgment in live] == pytest.approx([0.9, 0.82, 0.74, 0.66], abs=1e-9)
    replayed = run(a_judge(sdk, server.url, **LOGPROBS, top_logprobs=7), tmp_path, PAIRS, mode="none")
    assert [judgment.reply.verdict.probability for judgment in replayed] == [
        judgment.reply.verdict.probability for judgment in live
    ]
    assert judge.identity["parameters"] | {"logprobs": True, "top_logprobs": 7} == judge.identity["parameters"]
    assert "dropped" not in judge.identity
    row = judgment_row("mine", "own", live[0]).to_json()
    assert row["probability"] == {
        "value": pytest.approx(0.9),
        "low": pytest.approx(0.9),
        "high": pytest.approx(0.9),
        "elsewhere": pytest.approx(0.05),
    }
    # With another number of alternatives, or without any, it is another judge.
    for other in ({}, LOGPROBS):
        with pytest.raises(Exception, match="logprobs"):
            run(a_judge(sdk, server.url, **other), tmp_path, PAIRS, mode="none")


def found_by(judgment: Judgment) -> float:
    """Return the probability behind a judgment."""
    assert judgment.reply.verdict.probability is not None
    return judgment.reply.verdict.probability.value


@over_the_wire
@pytest.mark.parametrize("sdk", SDKS)
def test_a_judge_without_them_asks_as_before(sdk: str) -> None:
    """It sends nothing of them and has no such word in its identity; what is told unasked is not read."""
    text = '{"selected_response": 1, "reason": "ok"}'
    unasked = wire(BODIES[sdk](text, planted([text[:22].encode(), b"1", text[23:].encode()], 22, CHANCES), 5))
    with serving(unasked) as server:
        judge = a_judge(sdk, server.url)
        assert ask(judge).verdict.probability is None
        assert ask(a_judge(sdk, server.url, **LOGPROBS)).verdict.probability is not None
    before, after = (asked.body for asked in server.asked)
    settings = ("generationConfig",) if sdk == "google" else ()
    for key in settings:
        before, after = before[key], after[key]
    new = {"logprobs", "top_logprobs"} if sdk == "openai" else {"responseLogprobs", "logprobs"}
    assert after.keys() - before.keys() == new
    assert {name: after[name] for name in before} == before
    assert "logprobs" not in json.dumps(judge.identity)
    row = judgment_row("mine", "own", Judgment(PAIRS[0], NO_CUE, ask_of(unasked, sdk))).to_json()
    assert "probability" not in row


def ask_of(answer: Answer, sdk: str) -> Any:
    """Return a judge's reply to an answer, not asked for probabilities."""
    with serving(answer) as server:
        return ask(a_judge(sdk, server.url))


@over_the_wire
def test_a_planner_does_not_ask_for_them() -> None:
    """A plan is no choice between two: its request, and its identity, are those of a judge without."""
    with_them, without = (
        load_judge(table("openai", "http://127.0.0.1:9", strategy="plan-self", **more), "mine")
        for more in (LOGPROBS, {})
    )
    assert with_them.planner is not None
    assert without.planner is not None
    assert with_them.planner.identity == without.planner.identity
    assert openai.request_parameters(with_them.planner.table) == openai.request_parameters(without.planner.table)
    assert "logprobs" in with_them.identity["parameters"]


REFUSED = {
    "OpenAI, a reasoning model": (
        "openai",
        wire(
            problem(
                "Unsupported parameter: 'logprobs' is not supported with this model.",
                param="logprobs",
                code="unsupported_parameter",
            ),
            400,
        ),
    ),
    "OpenAI, 403": ("openai", wire(problem("You are not allowed to request logprobs from this model."), 403)),
    "top_logprobs": ("openai", wire(problem("Unrecognized request argument supplied: top_logprobs"), 400)),
    "Groq": ("openai", wire(problem("`logprobs` is not supported with this model"), 400)),
    "pydantic": (
        "openai",
        wire(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "logprobs"],
                        "msg": "Extra inputs are not permitted",
                        "input": True,
                    }
                ]
            },
            422,
        ),
    ),
    "llama-cpp-python": (
        "openai",
        wire(
            problem("logprobs is not supported for models created with logits_all=False", type="internal_server_error"),
            500,
        ),
    ),
    "a bare 500": ("openai", wire(problem("Internal Server Error"), 500)),
    "Gemini": (
        "google",
        wire(google_problem(400, "Logprobs is not enabled for models/gemini-2.5-pro", "INVALID_ARGUMENT"), 400),
    ),
    "Vertex": (
        "google",
        wire(
            google_problem(
                400, "Unable to submit request because Logprobs is not supported for this model.", "INVALID_ARGUMENT"
            ),
            400,
        ),
    ),
    "Gemini, 500": ("google", wire(google_problem(500, "An internal error has occurred.", "INTERNAL"), 500)),
}


def asks_for_them(asked: Asked) -> bool:
    """Tell whether a request wants token probabilities."""
    return "logprobs" in asked.body.get("generationConfig", asked.body)


@over_the_wire
@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_refuses_is_judged_by_its_verdicts(name: str, allowed: bool, tmp_path: Path) -> None:
    """Without leave, too, the probe leaves them out, alone; the identity says so, and a replay knows it."""
    sdk, refusal = REFUSED[name]
    more = {**LOGPROBS, "drop_unsupported": allowed}
    with serving(by=lambda asked: refusal if asks_for_them(asked) else good(asked.sdk)) as server:
        judge = a_judge(sdk, server.url, **more)
        live = run(judge, tmp_path, PAIRS, conditions=BOTH)
    assert [judgment.verdict.selected_response for judgment in live] == [2] * 8
    assert not any(judgment.reply.verdict.probability for judgment in live)
    assert judge.identity["dropped"] == (
        ["logprobs", "top_logprobs"] if sdk == "openai" else ["logprobs", "response_logprobs"]
    )
    assert not any(map(asks_for_them, server.asked[-8:]))
    assert [header(tmp_path, condition.name)["judge"] for condition in BOTH] == [judge.identity] * 2
    assert [len(rows(tmp_path, condition.name)) for condition in BOTH] == [4, 4]
    again = a_judge(sdk, server.url, **more)
    replayed = run(again, tmp_path, PAIRS, conditions=BOTH, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in live]
    assert again.identity == judge.identity


TOO_MANY = {
    "in words": ("openai", "top_logprobs must be <= 5", "set top_logprobs = 5"),
    "OpenAI": (
        "openai",
        "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5, but got 20 instead.",
        "set top_logprobs = 5",
    ),
    "vLLM": ("openai", "Requested sample logprobs of 20, which is greater than max allowed: 5", "set top_logprobs = 5"),
    "DeepSeek": (
        "openai",
        "Invalid top_logprobs value, the valid range of top_logprobs is [0, 8]",
        "set top_logprobs = 8",
    ),
    "Gemini": (
        "google",
        "Unable to submit request because it has a logprobs value of 20 but the supported range is "
        "from 0 (inclusive) to 6 (exclusive).",
        "set top_logprobs to a supported number",
    ),
}


@over_the_wire
@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("name", TOO_MANY)
def test_a_refusal_of_their_number_is_an_error(name: str, allowed: bool, tmp_path: Path) -> None:
    """What would be given to a smaller number is not left out: the error names the key and the number."""
    sdk, message, remedy = TOO_MANY[name]
    refusal = wire(google_problem(400, message) if sdk == "google" else problem(message), 400)
    with serving(refusal) as server, pytest.raises(FatalJudgeError) as caught:
        run(a_judge(sdk, server.url, **LOGPROBS, drop_unsupported=allowed), tmp_path, PAIRS)
    assert len(server.asked) == 1
    assert remedy in str(caught.value)
    assert message in str(caught.value)


@over_the_wire
def test_another_refusal_is_fatal_as_before(tmp_path: Path) -> None:
    """Leave to drop token probabilities is no leave to drop anything else."""
    refusal = wire(problem("Unsupported parameter: 'temperature' is not supported with this model."), 400)
    with serving(refusal) as server, pytest.raises(FatalJudgeError, match="rejects temperature"):
        run(a_judge("openai", server.url, **LOGPROBS), tmp_path, PAIRS)
    assert len(server.asked) == 1


@over_the_wire
def test_an_outage_is_no_refusal(tmp_path: Path) -> None:
    """A server that answers 500 a few times and then well, probabilities and all, keeps being asked for them."""
    down = wire(problem("Internal Server Error"), 500)
    for failures in (1, 2, 3):
        count = itertools.count()

        def failing(asked: Asked, count: Any = count, failures: int = failures) -> Answer:
            return down if next(count) < failures else answering(asked)

        with serving(by=failing) as server:
            judge = a_judge("openai", server.url, **LOGPROBS, response_format="none")
            live = run(judge, tmp_path / str(failures), PAIRS)
        assert "dropped" not in judge.identity
        assert all(judgment.reply.verdict.probability for judgment in live)


# --- the simulated judge ------------------------------------------------------------------------------------


@over_the_wire
@pytest.mark.parametrize("notation", ["json", "brackets"])
@pytest.mark.parametrize("sdk", SDKS)
def test_the_simulated_judge_tells_what_it_is(sdk: str, notation: str) -> None:
    """Over both wires, in both notations, its probability is the one that its latent log odds say."""
    for pair in load_pairs(Source("house-close"))[:5]:
        with simulating() as server:
            judge = a_judge(sdk, server.url, model="simulated-unsure", verdict=notation, **LOGPROBS)
            prompt = judge.prompt(pair, NO_CUE)
            reply = ask(judge, prompt)
        expected = latent("simulated-unsure", prompt)
        assert reply.verdict.probability is not None
        assert reply.verdict.probability.log_odds == pytest.approx(expected, abs=1e-9)
        assert reply.verdict.probability.elsewhere == pytest.approx(0.01, abs=1e-9)
        assert reply.verdict.selected_response == (1 if expected and expected > 0 else 2)


@over_the_wire
def test_other_simulated_judges_ignore_the_question() -> None:
    """A judge without latent odds answers as a server that does not know the parameters."""
    with simulating() as server:
        judge = a_judge("openai", server.url, model="simulated-faithful", **LOGPROBS)
        reply = ask(judge, judge.prompt(load_pairs(Source("house-close"))[0], NO_CUE))
    assert reply.verdict.probability is None
    assert reply.verdict.invalid is None


# --- a run --------------------------------------------------------------------------------------------------


@over_the_wire
@pytest.mark.parametrize(
    ("silent", "note"),
    [
        (lambda _number: False, ""),
        (lambda _number: True, "judge mine: gpt-4o gives no token probabilities: only verdicts are compared"),
        (lambda number: number == 3, "judge mine on few: 2 of 20 answers have no probabilities"),
    ],
)
def test_a_run_notes_once_what_it_was_not_told(
    silent: Any, note: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Whether a server refuses or ignores the question, one note per judge; the same in a replay, of the same rows."""
    pairs = [
        {"id": pair.id, "question": pair.question, "response_1": "One", "response_2": "Other"}
        for pair in some_pairs(10)
    ]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    with serving(by=lambda asked: good(asked.sdk) if silent(asked.number) else answering(asked)) as server:
        config = build_config(
            {
                "control": False,
                "datasets": {"few": {"path": str(tmp_path / "few.jsonl")}},
                "judges": {"mine": table("openai", server.url, **LOGPROBS)},
            },
            folder=tmp_path,
        )
        kept = []
        for mode in ("missing", "none"):
            options = RunOptions(record=mode, force=True, keep_judgments=True)
            with Run(config, tmp_path / "cassettes", options) as live:
                ledger, judge = ItemRecord(), live.judge("mine")
                for name in ("recency-new-old", "recency-new-old"):
                    live.check(
                        live.registry.check(name), CheckInput(judge, "few", live.pairs("mine", "few"), config), ledger
                    )
            assert [each for each in live.notes if "probabilit" in each] == snapshot
            kept.append(rows_as_json(ledger.judgments))
    assert kept[0] == kept[1]
    assert len(kept[0]) == 40
    told = [row for row in kept[0] if "probability" in row]
    assert len(told) == {"": 40, "judge mine:": 0}.get(note[:11], 36)
