"""Costs: what calls would and did cost, unknown where nobody knows, and a limit that is kept."""

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import a_judge, rows, run, some_pairs
from support.project import Project, read_rows, rows_of, suite
from support.server import FIRST, SECOND, Server, chat, good, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.client.costs import Budget, BudgetError, Cost, CostMeter, cost_of_calls, maximum_cost, price_usd
from judgefixtures.config import JudgeTable, judge_table
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.usage import Usage

pytestmark = pytest.mark.usefixtures("quick_and_alone")

pytest_plugins = ["pytester"]

MILLION = 1_000_000
OWN = {"price": {"input": 2.0, "output": 8.0}}
(RECENCY,) = contrasts("recency")
BOTH = (RECENCY.x, RECENCY.y)

# Only tokens out cost, and an answer of ours has 20 of at most 100: 0.02 USD a call, and 0.10 at most.
DEAR = {"price": {"input": 0.0, "output": 1000.0}, "max_output_tokens": 100}
A_CALL, AT_MOST = 0.02, 0.10


def priced(provider: str = "openai", model: str = "gpt-4o", **more: Any) -> JudgeTable:
    """Return the table of a judge at the provider itself, unless more says otherwise."""
    return judge_table({"provider": provider, "model": model, **more})


# --- prices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "usd"),
    [
        (priced("openai", "gpt-4o"), 12.5),
        (priced("openai", "gpt-4o-2024-11-20"), 12.5),
        (priced("openai", "gpt-4o-mini"), 0.75),
        (priced("google", "gemini-2.5-flash"), 2.8),
        (priced("openai", "gpt-4o", **OWN), 10.0),
        (priced("openai", "gpt-4o", base_url="http://127.0.0.1:1/v1", **OWN), 10.0),
        (priced("openai", "a-model-of-my-own", **OWN), 10.0),
        (priced("openai", "a-model-of-my-own", price={"input": 0.0, "output": 0.0}), 0.0),
        (judge_table({"provider": "python", "target": "mine:judge", **OWN}), 10.0),
    ],
    ids=["alias", "snapshot", "mini", "gemini", "own", "own server", "own model", "free", "python"],
)
def test_a_million_tokens_in_and_out_have_a_price(table: JudgeTable, usd: float) -> None:
    """The price table knows the providers' models, and the judge's own table goes before it, also with a price of 0."""
    assert price_usd(table, MILLION, MILLION) == pytest.approx(usd)


@pytest.mark.parametrize(
    "table",
    [
        priced("openai", "a-model-of-my-own"),
        priced("openai", "gemini-2.5-flash"),
        priced("google", "gpt-4o"),
        priced("openai", "gpt-4o", base_url="http://127.0.0.1:1/v1"),
        priced("google", "gemini-2.5-flash", base_url="http://127.0.0.1:1"),
        judge_table({"provider": "python", "target": "mine:judge"}),
    ],
    ids=["no such model", "not OpenAI's", "not Google's", "own server", "own server of Gemini", "python"],
)
def test_an_unknown_price_is_none(table: JudgeTable) -> None:
    """What nobody knows is None, never 0: a server of one's own has its own prices, whatever its models are called."""
    assert price_usd(table, MILLION, MILLION) is None
    assert price_usd(table, 0, 0) is None
    assert maximum_cost(table, ["a prompt"]).usd is None
    assert cost_of_calls(table, [Usage(10, 20)]).usd is None


def test_tokens_in_and_out_are_priced_apart() -> None:
    """A price is proportional to the tokens of its side."""
    table = priced(**OWN)
    assert price_usd(table, 500_000, 0) == pytest.approx(1.0)
    assert price_usd(table, 0, 250_000) == pytest.approx(2.0)
    assert price_usd(table, 0, 0) == 0.0


def test_a_model_s_full_name_has_its_price() -> None:
    """models/gemini-2.5-flash is gemini-2.5-flash."""
    assert price_usd(priced("google", "models/gemini-2.5-flash"), MILLION, MILLION) == pytest.approx(2.8)


# --- costs ------------------------------------------------------------------------------------------------------


def test_a_cost_is_that_of_the_tokens_that_were_counted() -> None:
    """Calls, tokens and money of some answers; no answers cost nothing, which is known."""
    usages = [Usage(100, 20), Usage(300, 30, 25)]
    assert cost_of_calls(priced(**OWN), usages) == Cost(2, 400, 50, pytest.approx(0.0012))
    assert cost_of_calls(priced("openai", "a-model-of-my-own"), []) == Cost(0, 0, 0, 0.0)


@pytest.mark.parametrize("gap", [Usage(), Usage(100, None), Usage(None, 20)])
def test_tokens_that_are_not_counted_make_the_cost_unknown(gap: Usage) -> None:
    """One answer without its tokens, and the money is None; the others' tokens are still shown."""
    cost = cost_of_calls(priced(**OWN), [Usage(100, 20), gap])
    assert (cost.calls, cost.usd) == (2, None)
    assert cost.input_tokens >= 100


def test_calls_are_priced_one_by_one() -> None:
    """Where long requests are dearer (gemini-2.5-pro beyond 200,000 tokens), many short ones are not."""
    table = priced("google", "gemini-2.5-pro")
    one = cost_of_calls(table, [Usage(100_000, 1000)]).usd
    assert cost_of_calls(table, [Usage(100_000, 1000)] * 3).usd == pytest.approx(3 * one)
    prompt = "x" * 4000
    assert maximum_cost(table, [prompt] * 300).usd == pytest.approx(300 * maximum_cost(table, [prompt]).usd)


amounts = st.integers(0, 10**9)
costs = st.builds(Cost, amounts, amounts, amounts, st.none() | st.floats(0, 1e6))


@given(costs, costs, costs)
def test_costs_add_up(one: Cost, other: Cost, third: Cost) -> None:
    """Calls and tokens are added; money too, and what is unknown in one is unknown in the sum."""
    total = one + other
    assert (total.calls, total.input_tokens, total.output_tokens) == (
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
    )
    assert (total.usd is None) == (one.usd is None or other.usd is None)
    assert total.usd is None or total.usd == one.usd + other.usd
    assert one + other == other + one
    assert (one + other + third).calls == (one + (other + third)).calls
    assert one + Cost(0, 0, 0, 0.0) == one


@pytest.mark.parametrize(
    ("usd", "shown"), [(None, "price unknown"), (0.0, "$0.0000"), (0.0123, "$0.0123"), (1.5, "$1.50"), (250, "$250.00")]
)
def test_a_cost_is_shown_with_its_money(usd: float | None, shown: str) -> None:
    """Calls, tokens and money in a line; unknown money is the word, and never a number."""
    text = str(Cost(7, 1000, 50, usd))
    assert text == f"7 calls, 1000 tokens in, 50 out, {shown}"
    assert ("$" in text) == (usd is not None)


@given(st.lists(st.text(max_size=300), max_size=20), st.integers(1, 5000))
def test_an_estimate_has_a_margin(prompts: list[str], longest: int) -> None:
    """Four characters a token with a quarter more, and every answer as long as it may be."""
    cost = maximum_cost(priced(max_output_tokens=longest, **OWN), prompts)
    characters = sum(map(len, prompts))
    assert cost.calls == len(prompts)
    assert characters / 4 * 1.25 <= cost.input_tokens <= characters / 4 * 1.25 + len(prompts)
    assert cost.output_tokens == len(prompts) * longest
    assert cost.usd == pytest.approx((cost.input_tokens * 2.0 + cost.output_tokens * 8.0) / 1e6)


# --- the budget, call by call -----------------------------------------------------------------------------------


def dear(cap: float | None) -> CostMeter:
    """Return a meter of calls that cost at most 0.10 USD."""
    return CostMeter(priced(**DEAR), Budget(cap))


def test_a_call_is_admitted_while_the_most_it_can_cost_fits() -> None:
    """What is in flight counts with the most it can cost: four calls fit into 0.45, and the fifth has to wait."""
    meter = dear(0.45)
    assert [meter.admits("x") for _ in range(5)] == [True] * 4 + [False]
    assert not meter.stopped
    assert meter.budget.reserved == pytest.approx(4 * AT_MOST)


def test_an_answer_frees_what_it_did_not_cost() -> None:
    """A settled call counts with what it cost, and a failed or replayed one with nothing."""
    meter = dear(0.25)
    assert meter.admits("x")
    assert meter.admits("x")
    meter.settle("x", Usage(100, 20))
    meter.settle("x", None)
    assert (meter.budget.spent, meter.budget.reserved) == (pytest.approx(A_CALL), pytest.approx(0.0))
    assert meter.total == Cost(1, 100, 20, pytest.approx(A_CALL))
    assert meter.admits("x")
    assert meter.admits("x")
    assert not meter.admits("x")


def test_an_answer_without_tokens_counts_with_the_most_it_can_cost() -> None:
    """A server that counts no tokens does not make the budget endless, and the money stays unknown."""
    meter = dear(0.25)
    assert meter.admits("x")
    meter.settle("x", Usage())
    assert meter.budget.spent == pytest.approx(AT_MOST)
    assert meter.total.usd is None
    assert meter.admits("x")
    assert not meter.admits("x")


def test_judges_share_a_budget() -> None:
    """What one judge of a session spends, another cannot."""
    budget = Budget(0.15)
    one, other = (CostMeter(priced(**DEAR), budget) for _ in range(2))
    assert one.admits("x")
    assert not other.admits("x")
    assert (one.stopped, other.stopped) == (False, False)  # what one has in flight may cost less
    one.settle("x", Usage(700, 140))
    assert not other.admits("x")
    assert other.stopped


def test_without_a_limit_everything_is_admitted_and_counted() -> None:
    """No cap: no reservation and no price needed, and the total is the same."""
    meter = CostMeter(priced("openai", "a-model-of-my-own"))
    meter.check()
    assert all(meter.admits("x") for _ in range(1000))
    meter.settle("x", Usage(100, 20))
    assert meter.total == Cost(1, 100, 20, None)
    assert not meter.stopped


def test_a_limit_without_a_price_is_refused(snapshot: SnapshotAssertion) -> None:
    """The error names the limit, the model and where a price can be given."""
    with pytest.raises(BudgetError) as error:
        CostMeter(priced("openai", "mine-7b"), Budget(2.0)).check()
    assert str(error.value) == snapshot
    CostMeter(priced("openai", "mine-7b", price={"input": 0.0, "output": 0.0}), Budget(2.0)).check()


# --- the budget, in a recording ---------------------------------------------------------------------------------


def kept(folder: Path) -> int:
    """Return how many answers are recorded."""
    return sum(len(rows(folder, condition.name)) for condition in BOTH if list(folder.rglob(f"{condition.name}.jsonl")))


def test_a_recording_is_metered(tmp_path: Path) -> None:
    """The meter has the calls and tokens that were paid for, failed attempts and replayed answers left out."""
    with serving(wire(problem("Later."), 503), good("openai")) as server:
        judge = a_judge("openai", server.url, **DEAR)
        first, again = CostMeter(judge.table), CostMeter(judge.table)
        run(judge, tmp_path, some_pairs(10), conditions=BOTH, meter=first)
        run(judge, tmp_path, some_pairs(10), conditions=BOTH, meter=again)
    assert first.total == Cost(20, 2000, 400, pytest.approx(20 * A_CALL))
    assert again.total == Cost(0, 0, 0, 0.0)
    assert len(server.asked) == 21


def test_a_recording_stops_before_its_limit(tmp_path: Path) -> None:
    """One call at a time goes on until the next could exceed the limit; all that was paid for is kept."""
    with serving(good("openai")) as server:
        judge = a_judge("openai", server.url, **DEAR)
        with pytest.raises(BudgetError, match=r"--judge-max-cost 0\.3: \$0\.\d+ are spent.*--judge-record missing"):
            run(
                judge,
                tmp_path,
                some_pairs(20),
                conditions=BOTH,
                concurrency=1,
                meter=CostMeter(judge.table, Budget(0.3)),
            )
    assert 10 <= len(server.asked) <= 11
    assert kept(tmp_path) == len(server.asked)


@pytest.mark.parametrize("cap", [0.05, 0.15, 0.31, 0.55])
def test_no_limit_is_exceeded_however_much_is_in_flight(cap: float, tmp_path: Path) -> None:
    """At 16 in flight, what the server counted is within the limit, and a limit below one call asks nothing."""
    with serving(good("openai")) as server:
        judge = a_judge("openai", server.url, **DEAR)
        with pytest.raises(BudgetError, match=r"stopped before --judge-max-cost"):
            run(judge, tmp_path, some_pairs(40), conditions=BOTH, meter=CostMeter(judge.table, Budget(cap)))
    assert len(server.asked) * A_CALL <= cap
    assert (server.asked == []) == (cap < AT_MOST)
    assert kept(tmp_path) == len(server.asked)


def test_a_limit_is_used_however_much_is_in_flight(tmp_path: Path) -> None:
    """A run stops when its money does not suffice for another call, not when the calls in flight could use it up."""
    with serving(good("openai")) as server:
        judge = a_judge("openai", server.url, **DEAR)
        with pytest.raises(BudgetError):
            run(judge, tmp_path, some_pairs(40), conditions=BOTH, meter=CostMeter(judge.table, Budget(0.55)))
    assert len(server.asked) * A_CALL > 0.55 - 2 * AT_MOST


def test_answers_that_are_asked_for_again_are_paid_for(tmp_path: Path) -> None:
    """A model that spends its tokens on nothing, again and again, does not exceed the limit."""
    nothing = wire(chat("", usage={"prompt_tokens": 100, "completion_tokens": 20}))
    with serving(nothing) as server:
        judge = a_judge("openai", server.url, max_attempts=8, **DEAR)
        meter = CostMeter(judge.table, Budget(0.3))
        try:
            run(judge, tmp_path, some_pairs(10), concurrency=1, meter=meter)
        except BudgetError:
            meter.stopped = True
    assert len(server.asked) * A_CALL <= 0.3
    assert meter.stopped


def test_refused_attempts_cost_nothing(tmp_path: Path) -> None:
    """A server that is down for a while uses up no money: 503 and 429 are billed by nobody."""
    down = itertools.count()

    def answering(asked: Any) -> Any:
        return wire(problem("Later."), 503) if asked.number == 3 and next(down) < 3 else good("openai")

    with serving(by=answering) as server:
        judge = a_judge("openai", server.url, **DEAR)
        meter = CostMeter(judge.table, Budget(5.0))
        run(judge, tmp_path, some_pairs(4), meter=meter)
    assert len(server.asked) == 4 + 3
    assert meter.budget.spent == pytest.approx(4 * A_CALL)


def test_tokens_that_are_no_number_are_not_counted(tmp_path: Path) -> None:
    """A server that says "20" for 20 is recorded, at an unknown price."""
    told = wire(chat(FIRST, usage={"prompt_tokens": "100", "completion_tokens": "20"}))
    with serving(told) as server:
        judge = a_judge("openai", server.url, **DEAR)
        assert len(run(judge, tmp_path, some_pairs(3), meter=CostMeter(judge.table))) == 3


# --- the option -------------------------------------------------------------------------------------------------


def configuration(url: str, price: str = "price = {input = 0.0, output = 1000.0}") -> str:
    """Return a configuration with one judge, with or without a price."""
    return f"""\
[tool.judgefixtures]
judge = "mine"
[tool.judgefixtures.gate]
vsr_tolerance = 0.3
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
[tool.judgefixtures.judges.mine]
provider = "openai"
model = "gpt-4o"
base_url = "{url}/v1"
max_output_tokens = 100
{price}
"""


def a_project(pytester: pytest.Pytester, url: str, family: str = "recency") -> Project:
    """Return a project of 20 pairs in the conditions of a family."""
    project = Project(pytester, functools.partial(configuration, url))
    project.write_pairs(rows_of(some_pairs(20)))
    project.configure()
    project.write("test_judge.py", suite(family))
    return project


def answers_of(project: Project) -> int:
    """Return how many answers are recorded."""
    files = (project.cassettes / "mine" / "own").glob("*-*.jsonl")
    return sum("digest" in row for file in files for row in read_rows(file))


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers everything well."""
    with serving(by=lambda asked: good("openai", FIRST if asked.number % 2 else SECOND)) as running:
        yield running


@pytest.fixture
def project(pytester: pytest.Pytester, server: Server) -> Project:
    """A project of 20 pairs in two conditions: 40 calls of 0.02 USD."""
    return a_project(pytester, server.url)


def test_max_cost_stops_and_a_higher_one_asks_the_rest(project: Project, server: Server) -> None:
    """The run ends before the limit and says how; the next one, with a higher limit, asks only what is left."""
    limited = ("--judge-record", "missing", "--judge-concurrency", "1", "--judge-max-cost")
    result = project.run(*limited, "0.5")
    said = result.said
    asked = len(server.asked)
    assert asked in (20, 21)
    assert answers_of(project) == asked
    assert result.ret != 0
    for words in (
        "stopped before --judge-max-cost 0.5",
        f"${asked * A_CALL:.4f}",
        "--judge-record missing",
        f"{asked} of 40 answers are saved",
        f"recorded: mine: {asked} calls",
    ):
        assert words in said

    result = project.run(*limited, "5")
    said = result.said
    assert len(server.asked) == 40 == answers_of(project)
    assert len({asked.raw for asked in server.asked}) == 40
    assert result.ret == 0
    assert f"recorded: mine: {40 - asked} calls" in said
    assert f"${(40 - asked) * A_CALL:.4f}" in said


def test_max_cost_refuses_to_start_where_no_price_is_known(project: Project, server: Server) -> None:
    """A server of one's own without a price in the judge's table is not asked at all; replaying needs no price."""
    project.configure("")
    result = project.run("--judge-record", "missing", "--judge-max-cost", "5")
    said = result.said
    assert server.asked == []
    assert answers_of(project) == 0
    assert result.ret != 0
    for words in ("--judge-max-cost 5", "'gpt-4o' is not known", "price = {input"):
        assert words in said
    project.run("--judge-record", "missing")
    result = project.run("--judge-max-cost", "5")
    said = result.said
    assert result.ret == 0


@pytest.mark.parametrize("usage", [True, False], ids=["no price", "no tokens"])
def test_an_unknown_cost_is_printed_as_such(usage: bool, pytester: pytest.Pytester) -> None:
    """What a recording cost is said after it; where price or tokens are not known it says so, and never $0."""

    def answering(asked: Any) -> Any:
        text = FIRST if asked.number % 2 else SECOND
        return good("openai", text) if usage else wire(chat(text))

    with serving(by=answering) as running:
        project = a_project(pytester, running.url)
        if usage:
            project.configure("")
        result = project.run("--judge-record", "missing")
        said = result.said
    assert result.ret == 0
    assert re.search(r"recorded: mine: 40 calls, \d+ tokens in, \d+ out, price unknown", said)
    assert re.search(r"at most 40 calls, .*price unknown" if usage else r"at most 40 calls, .*\$4\.00", said)
    assert ("$" in said) == (not usage)


def test_a_replay_says_nothing_of_money(project: Project, server: Server) -> None:
    """Nothing was paid, so nothing is said."""
    project.run("--judge-record", "missing")
    for mode in ("none", "missing"):
        said = project.run("--judge-record", mode).said
        assert len(server.asked) == 40
        assert "recorded:" not in said
        assert ("$" in said) == (mode == "missing")  # its preflight says that nothing would be paid


def test_a_recording_begins_with_what_it_could_cost(project: Project, server: Server) -> None:
    """Before the first call: calls, tokens and money at most, the margin, and only of what is not recorded yet."""
    said = project.run("--judge-record", "missing", "--judge-pairs", "15").said
    lines = said.splitlines()
    (estimate,) = [line for line in lines if "mine: at most" in line]
    assert re.search(r"mine: at most 30 calls, \d+ tokens in, 3000 out, \$3\.00 \(.*\+25%", estimate)
    assert lines.index(estimate) < next(place for place, line in enumerate(lines) if "recorded:" in line)
    assert "mine: at most 10 calls" in project.run("--judge-record", "missing").said
    assert len(server.asked) == 40


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "ten"])
def test_max_cost_takes_an_amount_above_0(amount: str, pytester: pytest.Pytester) -> None:
    """Anything else is told at once, with what was given."""
    result = pytester.runpytest_inprocess(f"--judge-max-cost={amount}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--judge-max-cost*{amount}*above 0*"])


@pytest.mark.slow
def test_processes_share_max_cost(pytester: pytest.Pytester, server: Server) -> None:
    """Under xdist all processes together keep the limit, and more is spent than the share of one of the two."""
    project = a_project(pytester, server.url, "provenance")
    limited = ("--judge-record", "missing", "--judge-concurrency", "1", "--judge-max-cost", "1.0")
    result = project.run("-n", "2", *limited)
    said = result.said
    assert result.ret != 0
    assert "stopped before --judge-max-cost" in said
    assert 0.5 < len(server.asked) * A_CALL <= 1.0
    assert answers_of(project) == len(server.asked)
