"""The gate fixture: asks, measures, decides, and passes, fails or skips the test with a diagnosis."""

from __future__ import annotations

import contextlib
import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from judgefixtures.plugin.setup import Setup

if TYPE_CHECKING:
    from judgefixtures.cassettes.library import Cassette
    from judgefixtures.config import GateTable
    from judgefixtures.contrasts import Contrast
    from judgefixtures.costs import Meter
    from judgefixtures.gates import Decision
    from judgefixtures.judges import Judge
    from judgefixtures.judgments import Arm, Judgment, Planned
    from judgefixtures.pairs import Pair
    from judgefixtures.swap import Comparison, Quantity

RESULT = pytest.StashKey[dict[str, Any]]()


class Gate:
    """What an item is checked with. Every result is kept as plain values: under xdist it travels."""

    def __init__(self, setup: Setup, node: Any, dataset: str) -> None:
        self._setup = setup
        self._node = node
        self._dataset = dataset
        self._result: dict[str, Any] = {
            "contrasts": [], "accuracy": [], "four_cells": [], "swap": [], "judgments": [], "differences": [],
            "shifts": [], "rights": [], "warnings": [], "checked": [], "prices": [],
            "plans": [], "plan_texts": [], "expenses": [],
            "judges": {}, "spent": {}, "retries": 0, "alpha": setup.config.default_gate.alpha,
            "notes": setup.notes, "required": list(setup.required_swaps),
        }  # fmt: skip
        node.stash[RESULT] = self._result

    def check(self, judge: Judge, pairs: Sequence[Pair], contrast: Contrast) -> None:
        """Check everything about a contrast: VSR within tolerance, CAR where verdicts demonstrably moved."""
        from judgefixtures.rows import error_row

        pairs = _given(pairs, judge, contrast=contrast)
        table = self._setup.config.gate(contrast.family)
        self._result["alpha"] = table.alpha
        with self._errors(judge, lambda message: self._result["contrasts"].append(
            error_row(judge.name, self._dataset, contrast, table.tolerance(contrast.family), message)
        )):  # fmt: skip
            self._refuse_hopeless(pairs, contrast)
            x, y = self._ask(judge, pairs, contrast.arms, contrast.id)
        self._decide(judge, contrast, x, y, table)

    def check_four_cells(self, judge: Judge, pairs: Sequence[Pair], contrast: Contrast) -> None:
        """Check a cue contrast in both orders: the cue's effect, apart from that of the position."""
        from judgefixtures.gates import decide_four_cells
        from judgefixtures.metrics import four_cells
        from judgefixtures.rows import four_cell_row

        pairs = _given(pairs, judge, contrast=contrast)
        table = self._setup.config.gate(contrast.family)
        with self._errors(judge):
            self._refuse_hopeless(pairs, contrast)
            cells = self._ask(judge, pairs, contrast.cells, contrast.id)
        measured = four_cells(cells, table.confidence)
        decision = decide_four_cells(measured, len(pairs), table)
        row = four_cell_row(judge.name, self._dataset, contrast, measured, decision)
        self._result["four_cells"].append(row)
        self._keep_judgments(judge, *cells)
        title = f"{judge.name} on {self._dataset}: {contrast.id} is {decision.status}"
        text = "\n  ".join([title, *decision.reasons])
        if self._waived(contrast, row, decision, text):
            waived = row["waived"]
            by = f"WAIVED by {waived['owner']} until {waived['expires']} ({waived['reason']})"
            row["message"] = f"{by}: {row['message']}"  # the summary shows nothing else of this row
        else:
            self._conclude(decision, text, table)

    def check_accuracy(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        """Check a judge's accuracy where gold is known: above min_accuracy, where one is configured."""
        from judgefixtures.contrasts import NO_CUE, NO_CUE_SWAPPED
        from judgefixtures.gates import decide_accuracy
        from judgefixtures.metrics import accuracy
        from judgefixtures.rows import accuracy_row

        pairs = _given(pairs, judge)
        table = self._setup.config.gate("accuracy")
        if all(pair.gold is None for pair in pairs):
            pytest.skip(f"no pair of {self._dataset} has gold: accuracy is not applicable")
        with self._errors(judge):
            self._refuse_hopeless(pairs, None)
            own, other = self._ask(judge, pairs, ((NO_CUE, 0), (NO_CUE_SWAPPED, 0)), "accuracy")
        measured = accuracy(own, other, table.confidence)
        self._result["accuracy"] += [accuracy_row(judge.name, self._dataset, row) for row in measured]
        self._keep_rights(judge, own)
        self._keep_judgments(judge, own, other)
        decision = decide_accuracy(measured[0], table)
        self._result["checked"].append({"status": str(decision.status)})
        if decision.status != "NOT_APPLICABLE":
            self._conclude(decision, f"{judge.name} on {self._dataset}: {decision.message}", table)

    def check_plans(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        """Check a judge's plans themselves: no leak, and no more degenerate ones than max_degenerate tolerates."""
        from judgefixtures.diagnosis import plan_diagnosis
        from judgefixtures.gates import decide_plans
        from judgefixtures.plans import tally
        from judgefixtures.rows import plan_error_row, plan_row

        pairs = _given(pairs, judge)
        if not judge.plans_first:
            pytest.skip(f"{judge.name} makes no plans: its strategy is direct")
        table = self._setup.config.gate("plan")
        with self._errors(judge, lambda message: self._result["plans"].append(
            plan_error_row(judge.name, self._dataset, len(pairs), message)
        )):  # fmt: skip
            self._refuse_hopeless(pairs, None, plans_of=judge.name)
            planned = self._plans(judge, pairs)
        plans = [planned[pair.id].plan for pair in pairs]
        counted = tally(pairs, plans)
        decision, share = decide_plans(counted, judge.table.asks_for_plans, table)
        self._result["judges"].setdefault(judge.name, judge.identity)
        self._result["plans"].append(plan_row(judge.name, self._dataset, counted, decision, share))
        self._keep_plans(judge, planned)
        self._conclude(decision, plan_diagnosis(judge.name, self._dataset, pairs, plans, decision), table)

    def check_swap(
        self, judge: Judge, baseline: Judge, pairs: Sequence[Pair], comparison: Contrast | None
    ) -> None:
        """Check that a candidate is no worse than its baseline on the same pairs: in a contrast, or in accuracy."""
        from judgefixtures.contrasts import NO_CUE
        from judgefixtures.swap import Comparison, compare_accuracy, compare_car, compare_contrast

        pairs = _given(pairs, judge, baseline)
        config = self._setup.config
        table = config.gate(comparison.family if comparison else "accuracy")
        name = comparison.id if comparison else "accuracy"
        quantity: Quantity = "accuracy"
        if comparison:
            quantity = "moved-to-edited" if comparison.x.edit else "abs-vsr"

        def failed(message: str) -> None:
            self._keep_comparisons(judge, baseline, comparison, [Comparison(quantity, _ERROR, message, 0)])

        with self._errors(judge, failed):
            self._refuse_hopeless(pairs, comparison, baseline.name)
            arms = comparison.arms if comparison else ((NO_CUE, 0),)
            ours, theirs = (self._ask(who, pairs, arms, f"swap {name}") for who in (judge, baseline))
        if comparison:
            both = (ours[0], ours[1]), (theirs[0], theirs[1])
            comparisons = compare_contrast(*both, comparison, config.swap, table)
            comparisons += compare_car(*both, comparison, table.confidence)
        else:
            comparisons = compare_accuracy(ours[0], theirs[0], config.swap, table)
            self._keep_rights(judge, ours[0])
            self._keep_rights(baseline, theirs[0], baseline=True)
        self._keep_comparisons(judge, baseline, comparison, comparisons)
        self._keep_expenses(judge, baseline, comparison, ours, theirs)
        if any(each.status == "INCONCLUSIVE" for each in comparisons):
            self._keep_price(judge, baseline, comparison, pairs, arms)
        self._keep_judgments(judge, *ours)
        self._keep_judgments(baseline, *theirs)
        self._keep_differences(judge, baseline, ours, theirs)
        self._conclude_swap(judge, baseline, name, comparisons, table)

    def _decide(
        self, judge: Judge, contrast: Contrast, x: Sequence[Judgment], y: Sequence[Judgment], table: GateTable
    ) -> None:
        from judgefixtures.diagnosis import diagnosis
        from judgefixtures.gates import decide, decide_edit
        from judgefixtures.metrics import measure, preference
        from judgefixtures.rows import contrast_row

        measured = measure(x, y, table.confidence, contrast.outcome)
        edits = contrast.x.edit is not None
        decision = decide_edit(measured, table, table.tolerance(contrast.family)) if edits else decide(measured, table)
        row = contrast_row(judge.name, self._dataset, contrast, measured, decision)
        self._result["contrasts"].append(row)
        if contrast.family == "position" and (found := preference(x, y, table.confidence)) is not None:
            row["position"] = asdict(found)
        self._keep_judgments(judge, x, y)
        self._keep_shifts(judge, contrast, x, y)
        text = diagnosis(row, measured, decision, self._report_hint(judge, contrast))
        if not self._waived(contrast, row, decision, text):
            self._conclude(decision, text, table)

    def _waived(self, contrast: Contrast, row: dict[str, Any], decision: Decision, text: str) -> bool:
        """Return whether somebody answers for a contrast that does not pass, and note it; fail where no longer."""
        waiver = self._setup.config.waiver(contrast.id)
        if waiver is None:
            return False
        if waiver.expires < datetime.date.today():
            text = f"the waiver of {contrast.id} by {waiver.owner} expired on {waiver.expires}: remove it, or "\
                   f"renew it in {self._setup.config.file}.\n{text}"  # fmt: skip
            row["status"], row["message"] = "FAIL", text.partition("\n")[0]
            pytest.fail(text, pytrace=False)
        if decision.status not in ("FAIL", "INCONCLUSIVE"):
            return False
        row["waived"] = {"owner": waiver.owner, "reason": waiver.reason, "expires": str(waiver.expires)}
        return True

    def _conclude(self, decision: Decision, text: str, table: GateTable) -> None:
        if decision.status == "NOT_APPLICABLE":
            pytest.skip(text)
        if decision.status == "INCONCLUSIVE" and table.inconclusive == "warn":
            return
        if decision.status != "PASS":
            pytest.fail(text, pytrace=False)

    def _conclude_swap(
        self, judge: Judge, baseline: Judge, name: str, comparisons: Sequence[Comparison], table: GateTable
    ) -> None:
        from judgefixtures.diagnosis import difference_lines
        from judgefixtures.statistics import Status, worst

        status = worst(*(comparison.status for comparison in comparisons if comparison.decides))
        lines = [f"{judge.name} against {baseline.name} on {self._dataset}: {name} is {status}"]
        lines += [f"  {comparison.message}" for comparison in comparisons]
        lines += difference_lines(self._result["differences"], judge.name, baseline.name)
        if status is Status.NOT_APPLICABLE:
            pytest.skip("\n".join(lines))
        if status is Status.PASS or (status is Status.INCONCLUSIVE and table.inconclusive == "warn"):
            return
        pytest.fail("\n".join(lines), pytrace=False)

    @contextlib.contextmanager
    def _errors(self, judge: Judge, keep: Callable[[str], None] = lambda _message: None) -> Iterator[None]:
        """Turn what keeps an item from being measured into one clear failure; a fatal one ends the session."""
        from judgefixtures.cassettes.files import CassetteWriteError
        from judgefixtures.cassettes.replay import CassetteMissError, NetworkBlockedError
        from judgefixtures.costs import BudgetError
        from judgefixtures.errors import JudgeFixturesError
        from judgefixtures.judges import FatalJudgeError

        try:
            yield
        except (CassetteMissError, NetworkBlockedError, JudgeFixturesError) as error:
            message = str(error)
            if isinstance(error, FatalJudgeError | BudgetError | CassetteWriteError):
                self._node.session.shouldstop = f"fatal: {message}"
        else:
            return
        self._result["judges"].setdefault(judge.name, judge.identity)
        self._result["checked"].append({"status": _ERROR})
        keep(message)
        _fail(message)

    def _refuse_hopeless(
        self, pairs: Sequence[Pair], contrast: Contrast | None, baseline: str | None = None, plans_of: str = ""
    ) -> None:
        """Refuse to pay for a recording that cannot pass, whatever is answered: this item's or another's."""
        options = self._setup.options
        if options.judge_record == "none" or options.judge_force:
            return
        from judgefixtures.errors import JudgeFixturesError
        from judgefixtures.plugin.forecast import hopeless, need, selected
        from judgefixtures.plugin.items import Item

        own = need(self._setup.config, Item(plans_of, self._dataset, contrast, baseline, bool(plans_of)), pairs)
        items = () if own else selected(self._node.session.items)
        # attack_tolerance is the tightest gate by far: too few pairs for it are no reason to record nothing.
        others = hopeless(self._setup, [item for item in items if item.contrast is None or not item.contrast.x.edit])
        if own or others:
            lacking = own or others[0]
            raise JudgeFixturesError(
                f"{'' if own else 'nothing of this run is recorded: '}{lacking}. Add pairs, {lacking.remedy}, "
                f"{'' if own else 'deselect it, '}or record all the same with --judge-force."
            )

    def _ask(
        self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], what: str
    ) -> list[tuple[Judgment, ...]]:
        """Ask a judge about the pairs in every arm; one that plans first makes its plans before anything else."""
        return self._collect(judge, judge, pairs, pairs, arms, what, self._plans(judge, pairs))

    def _plans(self, judge: Judge, pairs: Sequence[Pair]) -> dict[str, Planned]:
        """Return the plans for some pairs by pair id: made or replayed once a session, for all of its items."""
        if not judge.plans_first:
            return {}
        known = self._setup.plans.setdefault((id(judge), self._dataset), {})
        lacking = [pair for pair in pairs if (pair.id, pair.digest) not in known]
        if lacking:
            known |= self._made(judge, lacking)
            plans = [planned.plan for planned in known.values()]
            if fallback := [str(plan.fault) for plan in plans if plan.origin == "fallback"]:
                faults = ", ".join(f"{fault} {fallback.count(fault)}" for fault in sorted(set(fallback)))
                self._setup.note(
                    f"{judge.name} on {self._dataset}: {len(fallback)} of {len(plans)} plans were no plans ({faults}): "
                    "the hand-made plan of the kind of task was carried out in their place"
                )
        return {pair.id: known[pair.id, pair.digest] for pair in pairs}

    def _made(self, judge: Judge, pairs: Sequence[Pair]) -> dict[tuple[str, str], Planned]:
        from judgefixtures.judgments import Planned
        from judgefixtures.plans import PLAN, heuristic_plan

        planner = judge.planner
        if planner is None:
            return {(pair.id, pair.digest): Planned(heuristic_plan(pair)) for pair in pairs}
        tasks: dict[str, Pair] = {}  # pairs of one question have one plan, or a replay could not tell theirs apart
        for pair in sorted(pairs, key=lambda pair: pair.id):
            tasks.setdefault(planner.about(pair), pair)
        asked = list(tasks.values())
        (answered,) = self._collect(planner, judge, asked, pairs, [(PLAN, 0)], "plan", {})
        replies = {task: judgment.reply for task, judgment in zip(tasks, answered, strict=True)}
        made = ((pair, replies[planner.about(pair)]) for pair in pairs)
        return {(pair.id, pair.digest): Planned(planner.read(pair, reply), reply.usage) for pair, reply in made}

    def _collect(
        self,
        asked: Judge,
        judge: Judge,
        pairs: Sequence[Pair],
        frozen: Sequence[Pair],
        arms: Sequence[Arm],
        what: str,
        plans: dict[str, Planned],
    ) -> list[tuple[Judgment, ...]]:
        """Ask a judge, or its planner, through its recordings; `frozen` are the pairs that they are kept with."""
        from judgefixtures.cassettes.replay import recording
        from judgefixtures.costs import Meter
        from judgefixtures.judgments import collect

        setup = self._setup
        library = setup.library
        offline = library.mode == "none"
        conditions = list(dict.fromkeys(condition.name for condition, _ in arms))
        # Replaying waits for nobody: calls in flight would only cost switching.
        concurrency = 1 if offline else setup.options.judge_concurrency
        setup.asked[id(judge)] = judge
        if setup.shared is not None:
            asked.pace.share(setup.shared, asked.name, concurrency)
        meter, retries = Meter(asked.table, setup.budget), asked.retries
        with library.open(asked, self._dataset, conditions, frozen) as cassettes:
            try:
                with (
                    self._progress(offline, meter, len(arms) * len(pairs)) as answered,
                    recording(only_httpx2=not judge.is_python, offline=offline),
                    contextlib.nullcontext() if offline else setup.interruption.heeded(),
                ):
                    urgency = None if offline else lambda: setup.interruption.urgency
                    return setup.runner.run(
                        collect(asked, pairs, arms, cassettes, concurrency, meter, answered, plans, urgency)
                    )
            finally:
                self._result["judges"][judge.name] = judge.identity
                self._note_retirement(judge)
                self._result["retries"] += asked.retries - retries
                if meter.total.calls:
                    self._spend(judge, meter)
                self._note(judge, pairs, arms, what, list(cassettes.values()))

    def _spend(self, judge: Judge, meter: Meter) -> None:
        from judgefixtures.costs import Cost

        before = self._result["spent"].get(judge.name)
        self._result["spent"][judge.name] = asdict(meter.total + Cost(**before) if before else meter.total)

    @contextlib.contextmanager
    def _progress(self, offline: bool, meter: Meter, total: int) -> Iterator[Callable[[Judgment], None] | None]:
        """Show progress on a terminal while recording: done, rate, time left, money. Quiet elsewhere."""
        plugins = self._node.config.pluginmanager
        terminal, capture = plugins.getplugin("terminalreporter"), plugins.getplugin("capturemanager")
        if offline or capture is None or not getattr(terminal, "isatty", False):
            yield None
            return
        from tqdm import tqdm

        # pytest captures the terminal during a test: let go of it while the bar is drawn.
        with capture.global_and_fixture_disabled(), tqdm(total=total, unit="call", leave=False) as bar:

            def answered(_judgment: Judgment) -> None:
                cost = meter.total.usd
                bar.set_postfix_str("price unknown" if cost is None else f"${cost:.4f}", refresh=False)
                bar.update()

            yield answered

    def _note(
        self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], what: str, cassettes: Sequence[Cassette]
    ) -> None:
        """Note for the summary what happened to the recordings, also when Ctrl-C ended it."""
        setup, options = self._setup, self._setup.options
        answered, wanted = sum(len(cassette.used) for cassette in cassettes), len(pairs) * len(arms)
        kept = answered
        if answered < wanted:
            asked_for = [(cassette, repeat) for cassette in cassettes for condition, repeat in arms
                         if condition.name == cassette.condition]  # fmt: skip
            kept = sum(cassette.keeps(pair, repeat) for cassette, repeat in asked_for for pair in pairs)
        if options.judge_record != "none" and answered < wanted:
            asked = sum(cassette.asked for cassette in cassettes)
            setup.note(
                f"{judge.name} {self._dataset} {what}: {kept} of {wanted} answers are kept ({asked} of them new), "
                f"{wanted - kept} remain: run the same command again (--judge-record {options.judge_record})"
            )
        if judge.is_python and answered == wanted and not any(len(cassette.file) for cassette in cassettes):
            setup.note(f"{judge.name} made no HTTP call that could be recorded: it was run live, not replayed")
        for cassette in cassettes:
            if cassette.set_aside:
                setup.note(f"an unfinished recording of another judge was set aside as {cassette.set_aside}")
        if options.judge_record == "none" and answered == wanted:
            whole = options.judge_pairs is None and setup.config.pairs is None
            self._note_leftovers(pairs, cassettes, whole=whole)

    def _note_retirement(self, judge: Judge) -> None:
        from judgefixtures.retirements import retirement

        model = judge.table.model
        warning = model and retirement(model, datetime.date.today(), judge.shutdown_date)
        if warning:
            self._result["warnings"] = [f"judge {judge.name}: {warning}"]

    def _note_leftovers(self, pairs: Sequence[Pair], cassettes: Sequence[Cassette], *, whole: bool) -> None:
        for cassette in cassettes:
            if unused := cassette.unused(whole=whole):
                self._setup.note(
                    f"{cassette.file.path}: recordings of {len(unused)} pairs were not used ({_listed(unused)}); "
                    "--judge-record all leaves them out"
                )
            if regraded := cassette.regraded(pairs):
                changed = f"gold or category of {_listed(regraded)} changed since the recording"
                self._setup.note(f"{self._dataset}: {changed}")

    def _keep_judgments(self, judge: Judge, *arms: Sequence[Judgment]) -> None:
        if self._setup.options.judge_report is None:
            return
        from judgefixtures.rows import judgment_row

        rows = [judgment_row(judge.name, self._dataset, judgment) for arm in arms for judgment in arm]
        self._result["judgments"] += rows
        planned = {judgment.pair.id: judgment.planned for arm in arms for judgment in arm if judgment.planned}
        self._keep_plans(judge, planned)

    def _keep_plans(self, judge: Judge, planned: dict[str, Planned]) -> None:
        if self._setup.options.judge_report is None:
            return
        from judgefixtures.rows import plan_text_row

        self._result["plan_texts"] += [
            plan_text_row(judge.name, self._dataset, pair, each.plan) for pair, each in planned.items()
        ]

    def _keep_rights(self, judge: Judge, own: Sequence[Judgment], *, baseline: bool = False) -> None:
        """Keep about which pairs a judge is right: judges stand side by side only when all are through."""
        from judgefixtures.metrics import is_right

        right = {j.pair.id: (j.pair.category, is_right(j)) for j in own if j.pair.gold is not None}
        self._result["rights"].append(
            {"judge": judge.name, "dataset": self._dataset, "right": right, "baseline": baseline}
        )

    def _keep_shifts(
        self, judge: Judge, contrast: Contrast, x: Sequence[Judgment], y: Sequence[Judgment]
    ) -> None:
        """Keep which way each pair moved: the ranking needs all provenance contrasts of a judge together."""
        if contrast.family != "provenance":
            return
        moves = {a.pair.id: (b.verdict.selected_response, a.verdict.selected_response)
                 for a, b in zip(x, y, strict=True)}  # fmt: skip
        shifts = {pair: second - first for pair, (second, first) in moves.items() if first and second}
        self._result["shifts"].append(
            {"judge": judge.name, "dataset": self._dataset, "labels": list(contrast.x.labels), "shifts": shifts}
        )

    def _keep_comparisons(
        self, judge: Judge, baseline: Judge, contrast: Contrast | None, comparisons: Sequence[Comparison]
    ) -> None:
        from judgefixtures.rows import swap_row

        name = contrast.id if contrast else None
        rows = [swap_row(judge.name, baseline.name, self._dataset, name, comparison) for comparison in comparisons]
        self._result["swap"] += rows

    def _keep_expenses(
        self,
        judge: Judge,
        baseline: Judge,
        contrast: Contrast | None,
        ours: Sequence[Sequence[Judgment]],
        theirs: Sequence[Sequence[Judgment]],
    ) -> None:
        from judgefixtures.expenses import compare_expenses
        from judgefixtures.rows import expense_row

        expenses = compare_expenses(ours, theirs, (judge.table, baseline.table))
        name = contrast.id if contrast else None
        self._result["expenses"].append(expense_row(judge.name, baseline.name, self._dataset, name, expenses))

    def _keep_price(
        self, judge: Judge, baseline: Judge, contrast: Contrast | None, pairs: Sequence[Pair], arms: Sequence[Arm]
    ) -> None:
        """Keep what another pair would cost at most, of both judges: more pairs would settle what is open."""
        from judgefixtures.costs import Cost, most_of

        asked = [(pair, condition) for pair in pairs for condition, _ in arms]
        costs = [most_of(who.table, (who.longest_prompt(*each) for each in asked)) for who in (judge, baseline)]
        usd = sum(costs, Cost(0, 0, 0, 0.0)).usd
        self._result["prices"].append({
            "judge": judge.name, "dataset": self._dataset, "contrast": contrast.id if contrast else None,
            "usd_a_pair": None if usd is None else usd / len(pairs),
        })  # fmt: skip

    def _keep_differences(
        self,
        judge: Judge,
        baseline: Judge,
        ours: Sequence[Sequence[Judgment]],
        theirs: Sequence[Sequence[Judgment]],
    ) -> None:
        from judgefixtures.rows import difference_row

        for mine, its in zip(ours, theirs, strict=True):
            for a, b in zip(mine, its, strict=True):
                if a.chosen != b.chosen:
                    row = difference_row(judge.name, baseline.name, self._dataset, a, b)
                    self._result["differences"].append(row)

    def _report_hint(self, judge: Judge, contrast: Contrast) -> str:
        folder = self._setup.options.judge_report
        if folder is not None:
            return f"{folder}/judgments.jsonl"
        command = f"{self._setup.command_start} --judge {judge.name} --judge-dataset {self._dataset}"
        return f'{command} -k "{contrast.id}" --judge-report report'


_ERROR: Any = "ERROR"
NO_CONTRAST: Any = object()


def _given(pairs: Sequence[Pair], *judges: Judge, contrast: Contrast = NO_CONTRAST) -> tuple[Pair, ...]:
    """Return the pairs of a check; fails for what a fixture of the user's must not give.

    A repository may well have a fixture `judge` of its own that is about something else.
    """
    from judgefixtures.contrasts import Contrast
    from judgefixtures.judges import Judge
    from judgefixtures.pairs import Pair

    for judge in judges:
        if not isinstance(judge, Judge):
            _fail(f"the judge of this test is {_shown(judge)}, not a judge: a fixture `judge` of another meaning may "
                  "be in the way. Return judgefixtures.judges.load_judge({...}) from it, or rename it.")  # fmt: skip
    if contrast is None:
        _fail("this check needs a contrast, and the test's mark gives none: mark it with "
              '@pytest.mark.judge_family("recency"), or use gate.check_accuracy(judge, pairs).')  # fmt: skip
    if contrast is not NO_CONTRAST and not isinstance(contrast, Contrast):
        _fail(f"the contrast of this test is {_shown(contrast)}: a fixture `contrast` returns one of "
              "judgefixtures.contrasts.contrasts(family).")  # fmt: skip
    given = tuple(pairs) if isinstance(pairs, Iterable) else (pairs,)
    if not given:
        _fail("there are no pairs to ask about: the fixture `pairs` of this test gives none.")
    if wrong := [each for each in given if not isinstance(each, Pair)]:
        _fail(f"among the pairs of this test is {_shown(wrong[0])}: a fixture `pairs` returns judgefixtures.pairs.Pair "
              "objects, as judgefixtures.sources.load_pairs does.")  # fmt: skip
    ids = [pair.id for pair in given]
    if twice := sorted(name for name, count in Counter(ids).items() if count > 1):
        _fail(f"the pair id {twice[0]!r} is given twice: each pair needs an id of its own, or it would count twice.")
    return given


def _shown(value: object) -> str:
    text = repr(value)
    return f"a {type(value).__name__} ({text[:60]}{'...' if len(text) > 60 else ''})"


def _fail(message: str) -> NoReturn:
    raise pytest.fail.Exception(message, pytrace=False) from None  # the error behind it says the same


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
