"""Check runner: one check of one judge and dataset, from its requirements to its finding."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from traceback import format_exception
from typing import Any

from judgefixtures.cassettes.calls import CassetteMissError, DeferredToBatchError
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.cassettes.store import PlaceOfLooks
from judgefixtures.checks import Answers, Check, CheckInput
from judgefixtures.checks.base import CheckId
from judgefixtures.checks.control import control_refusal, finding_without_control
from judgefixtures.checks.gate_looks import GateLook, plan_looks
from judgefixtures.checks.log_gaps import not_in_log, with_unreadable_example
from judgefixtures.client.model_client import ModelClient
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.certainty import likely_of
from judgefixtures.metrics.movable_pairs import chosen_responses
from judgefixtures.models.check_rows import ControlRow, GateLookRow
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, arm_name
from judgefixtures.models.findings import Finding, ReportRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, first_pairs
from judgefixtures.models.replies import Arm
from judgefixtures.statistics.estimate import Status
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import safe_message

from .answer_service import AnswerService
from .compatibility import check_judge_fits_dataset, misplaced_cue_reason
from .context import FATAL, RunContext, WaitingError
from .control_runner import ControlRunner
from .item_record import ItemRecord, JudgmentArchive, RequestContext
from .messages import MESSAGES
from .pair_selection import PairSelector
from .registry import RunRegistry
from .swap_looks import SwapLookProgress
from .uncontrolled import measure_uncontrolled

UNMEASURED = (CassetteMissError, NetworkBlockedError, JudgeFixturesError)  # one item's ERROR, and no bug


@dataclass(slots=True)
class _Course:
    """The state of a running check."""

    check: Check
    case: CheckInput
    asking: RequestContext
    controls: tuple[ControlRow, ...] = ()
    whole: tuple[Pair, ...] = ()  # of which a look has the first

    def lost(self, error: BaseException) -> Finding:
        lost = self.controlled(self.check.error_finding(self.case, safe_message(str(error))))
        traced = safe_message("".join(format_exception(error.__cause__)) if error.__cause__ is not None else "")
        return replace(lost, fatal=isinstance(error, FATAL), traceback=traced)

    def controlled(self, finding: Finding) -> Finding:
        return replace(finding, rows={**finding.rows, ControlRow.place: tuple(self.controls)})

    def looked(self, finding: Finding) -> Finding:
        check, case = self.check, self.case
        if (look := case.look) is None:
            return finding
        arms = tuple(arm_name(*arm) for arm in case.judge.asks(check.arms))
        planned = case.config.gate(check.family).looks or look.plan
        row = GateLookRow(
            judge=case.judge.name,
            dataset=case.dataset,
            contrast=check.name,
            look=look.pairs,
            pairs=look.of,
            planned=tuple(planned),
            status=finding.status,
            arms=arms,
            calls=len(arms) * len(case.pairs),
            calls_of_all=len(arms) * len(self.whole),
        )
        return replace(finding, rows={**finding.rows, GateLookRow.place: (row,)})


def _with_rows(finding: Finding, rows: Sequence[ReportRow]) -> Finding:
    return replace(finding, rows={**finding.rows, rows[0].place: tuple(rows)}) if rows else finding


@dataclass(frozen=True, slots=True)
class CheckRunner:
    """Runs checks without paying for requests that cannot matter."""

    context: RunContext
    registry: RunRegistry
    answer_service: AnswerService
    reading: AnswerService  # of what this run recorded, and of nothing else
    control_runner: ControlRunner
    pair_selector: PairSelector
    looks: SwapLookProgress
    archive: JudgmentArchive

    def check(
        self, check: Check, case: CheckInput, ledger: ItemRecord, beside: Iterable[CheckId], item: CheckId | None
    ) -> Finding:
        """Return what a check finds in a case, after asking its judges: see `Run.check`."""
        case = replace(case, repeats=self.context.options.repeats, pairs=case.judge.kind.about(case.pairs))
        check = check.for_mode(type(case.judge.kind), case.pairs)
        if excuse := check.skip_reason(case):
            names = check.kind, case.judge.name, case.dataset, check.name
            excused = Finding(*names, Status.NOT_APPLICABLE, reasons=(excuse,), diagnosis=(excuse,))
            # Of a judge that is asked nothing is looked up: another run may record it.
            logged = () if case.judge.kind.is_asked or case.baseline is not None else check.arms
            return _with_rows(excused, check.ungated_rows(case, [self._recorded(case, arm) for arm in logged]))
        subject = CheckId(case.judge.name, case.dataset, check, case.baseline.name if case.baseline else None)
        course = _Course(check, case, RequestContext(case.dataset, check.name, "", ledger))
        try:
            if lacking := self._prepare(course, subject, beside, item):
                return not_in_log(check, case, lacking, [] if case.baseline else self._recorded(case, (NO_CUE, 0)))
            controls = []
            for judge in case.judges:
                controls.append(self.control_runner.control(judge, case.pairs, course.asking))
            course.controls = tuple(controls)
            if (refused := self._refused_by_control(course)) is not None:
                return refused
            looks = self._narrow(course)
            answers = self._by_looks(course, looks) if looks else self._answers(course, self.answer_service)
        except DeferredToBatchError:
            return self._wait(course, subject)
        except UNMEASURED as error:
            ledger.judges.setdefault(case.judge.name, case.judge.identity)
            return course.lost(error)
        return self._finding(course, answers)

    def _prepare(self, course: _Course, subject: CheckId, beside: Iterable[CheckId], item: CheckId | None) -> str:
        """Check the case first; return what a judge can never answer."""
        check, case = course.check, course.case
        if wrong := misplaced_cue_reason(check.contrast, case.judges):
            raise JudgeFixturesError(wrong)
        for judge in case.judges:
            judge.kind.check_cues(self.context.config.cues)
            # Pairs that a fixture of the user's chose, and a judge that code made, are no dataset's and no table's.
            check_judge_fits_dataset(judge.name, judge.table, judge.template, case.dataset, case.pairs)
        if lacking := self.unanswered(check, case):
            return lacking
        self.pair_selector.refuse_hopeless(subject, case, beside)
        what = f"swap {check.name}" if subject.baseline is not None else check.name
        selecting = self.registry.selecting(item or subject)  # the commands that ask it again
        look, start = self.looks.options(subject, self.context.options.datasets), self.context.options.command
        course.asking = RequestContext(subject.dataset, what, selecting, course.asking.ledger, look=look, start=start)
        return ""

    def _refused_by_control(self, course: _Course) -> Finding | None:
        """Return the finding of a check whose judge failed its control, with what its recordings come to."""
        check, case = course.check, course.case
        if (failed := next((each for each in course.controls if each.blocks_pass), None)) is None:
            return None
        refused = finding_without_control(check.error_finding(case, control_refusal(failed)), failed)
        return _with_rows(
            course.controlled(refused), measure_uncontrolled(self.answer_service, check, case, failed.command)
        )

    def _narrow(self, course: _Course) -> tuple[GateLook, ...]:
        """Keep the pairs that the check is about; return the contrast's looks."""
        narrowed = self.pair_selector.narrowed(course.check, course.case, course.asking)
        course.case, course.asking = self.looks.first_pairs(*narrowed)
        return self._planned(course) if course.check.takes_looks and course.case.baseline is None else ()

    def _wait(self, course: _Course, subject: CheckId) -> Finding:
        """Put the rest into batches, and raise WaitingError; return the ERROR where that ends the recording."""
        try:
            self._post_the_rest(course)
        except FATAL as error:
            return course.lost(error)
        what = f"{subject.judge} {subject.dataset} {subject.check.name}"
        raise WaitingError(f"{what}: answers are asked for in batches") from None

    def _finding(self, course: _Course, answers: Sequence[Answers]) -> Finding:
        """Return what a check finds in the answers of its judges."""
        check, case, ledger = course.check, course.case, course.asking.ledger
        for judge, answered in zip((*case.judges, *check.extra_judges(case.judge)), answers, strict=True):
            ledger.judges.setdefault(judge.name, judge.identity)
            self.archive.keep(judge, case.dataset, case.pairs, answered, ledger)
        finding = course.controlled(course.looked(with_unreadable_example(check.evaluate(case, *answers), answers)))
        return _with_rows(finding, check.ungated_rows(case, answers[0].arms))

    def _planned(self, course: _Course) -> tuple[GateLook, ...]:
        kept = self.context.library.decided_looks(*self._kept_in(course)) if course.asking.plan else ([], 1)
        return plan_looks(self.context.config.gate(course.check.family), course.case.pairs, *kept)

    @staticmethod
    def _kept_in(course: _Course) -> tuple[ModelClient[Any], PlaceOfLooks]:
        judge = course.case.judge
        condition = judge.asks(course.check.arms)[0][0]
        return judge.kind.client_of(condition), (course.case.dataset, condition.name, course.check.name)

    def _by_looks(self, course: _Course, looks: Sequence[GateLook]) -> list[Answers]:
        """Return the answers up to the look that decides, or the last.

        Each look is read as a replay reads it. Only costs of earlier looks are kept.
        """
        check, case, asking = course.check, course.case, course.asking
        course.whole, answer_service, before = case.pairs, self.answer_service, len(self.context.notes)
        asking = replace(asking, whole=case.pairs, look=f"{asking.options} --judge-until-decided", live={})
        if len(looks) > 1 and not (self.context.is_offline or self.context.options.until_decided):
            self._ask_whole(course, asking)
            answer_service = self.reading
        notes = self.context.notes[before:]
        for look in looks:
            course.case = replace(case, pairs=first_pairs(case.pairs, look.pairs), look=look)
            part = asking.part or len(course.case.pairs) < len(case.pairs)
            course.check, course.asking = check, replace(asking, ledger=ItemRecord(), part=part)
            noted, goes_on = len(self.context.notes), False
            try:
                answers = self._answers(course, answer_service)
                goes_on = look is not looks[-1] and course.check.is_open(course.check.evaluate(course.case, *answers))
                if asking.plan and not self.context.is_offline and case.judge.kind.is_asked:
                    client, where = self._kept_in(course)
                    self.context.library.keep_look(client.name, where, (look.plan, look.pairs, look.level))
            finally:
                take = asking.ledger.add_costs if goes_on else asking.ledger.merge
                take(course.asking.ledger)
                course.asking = replace(course.asking, ledger=asking.ledger)
            notes = self.context.retell(notes, noted)
            if not goes_on:
                break
        return answers

    def _ask_whole(self, course: _Course, asking: RequestContext) -> None:
        course.asking = replace(asking, ledger=ItemRecord())
        try:
            self._answers(course, self.answer_service)
            self.context.note(  # not of a recording that stopped before its end
                "[gate] looks: all pairs were asked about, whichever look decides: --judge-until-decided asks no "
                "further than that"
            )
        finally:
            asking.ledger.add_costs(course.asking.ledger)
            course.asking = asking

    def _answers(self, course: _Course, answer_service: AnswerService) -> list[Answers]:
        """Return each judge's answers about the pairs of a case."""
        check, case, asking = course.check, course.case, course.asking
        self.archive.keep_case(check, case, asking)
        course.check = check = self._as_recorded(check, case, asking)
        arms, judges, answers = self.arms(check, case), case.judges, []
        for judge in judges:
            answers.append(answer_service.answers(judge, case.pairs, arms, asking))
        answers = [
            self._with_indifferent(judge, check, case, each) for judge, each in zip(judges, answers, strict=True)
        ]
        for judge in check.extra_judges(case.judge):
            arms_beside = self._arms_beside(judge, check, case, asking)
            answers.append(answer_service.answers(judge, case.pairs, arms_beside, asking))
        if check.is_read and (reader := self.context.config.detector.judge):
            detector = self.registry.judge(reader)
            read = answer_service.readings(detector, case.judge, case.pairs, answers[0], asking)
            answers[0] = replace(answers[0], detections=read)
        return answers

    def _post_the_rest(self, course: _Course) -> None:
        """Queue the check's later requests in the same batches, which saves a day."""

        def posted(ask: Callable[[], object]) -> bool:
            try:
                ask()
            except FATAL:
                raise
            except (DeferredToBatchError, *UNMEASURED):
                return False
            return True

        check, case, asking = course.check, course.case, course.asking
        for judge in case.judges:
            posted(partial(self.control_runner.control, judge, case.pairs, asking))
        alone = [replace(case, judge=judge, baseline=None) for judge in case.judges]
        chosen = [posted(partial(self.pair_selector.narrowed, check, each, asking)) for each in alone]
        if not all(chosen):
            return
        about, asking = self.pair_selector.narrowed(check, case, asking)
        for judge in about.judges:
            posted(partial(self.answer_service.answers, judge, about.pairs, self.arms(check, about), asking))
        for judge in check.extra_judges(about.judge):
            posted(partial(self.answer_service.answers, judge, about.pairs, check.arms_beside(about.config), asking))

    # --- what an imported judge's log has ---------------------------------------------------------------------

    def arms(self, check: Check, case: CheckInput) -> tuple[Arm, ...]:
        """Return the arms of a check.

        Accuracy uses one order if the judge cannot answer in the other.
        """
        if check.contrast is not None or (NO_CUE_SWAPPED, 0) not in check.arms:
            return check.arms
        own = tuple(arm for arm in check.arms if arm != (NO_CUE_SWAPPED, 0))
        fewer = any(self._lacks(who, case, check.arms) and not self._lacks(who, case, own) for who in case.judges)
        return own if fewer else check.arms

    def unanswered(self, check: Check, case: CheckInput) -> str:
        """Return why the judge can never answer, or "".

        Raises:
            JudgeFixturesError: A log's answers on this dataset were not imported.
        """
        arms = self.arms(check, case)
        return next(filter(None, (self._lacks(judge, case, arms) for judge in case.judges)), "")

    def _lacks(self, judge: Judge, case: CheckInput, arms: Iterable[Arm]) -> str:
        return self.answer_service.unanswered(judge, case.dataset, case.pairs, arms)

    def _recorded(self, case: CheckInput, arm: Arm) -> tuple[Judgment, ...]:
        return self.answer_service.recorded_judgments(case.judge, case.dataset, case.pairs, arm, {})

    # --- what is asked, and looked at beside ------------------------------------------------------------------

    def _as_recorded(self, check: Check, case: CheckInput, asking: RequestContext) -> Check:
        """Drop unrecorded repeats in a replay, so that older recordings still replay."""
        judge = case.judge
        if check.repeats == 1:
            return check
        if judge.table.seed is not None and not judge.is_opaque and "seed" not in judge.dropped:
            self.context.note(MESSAGES.seed_with_repeats(judge))
        if not self.context.is_offline or judge.is_opaque:
            return check
        plans = self.answer_service.plans(judge, case.pairs, asking)
        if any(
            self.answer_service.recorded_judgments(judge, case.dataset, case.pairs, arm, plans)
            for arm in check.arms[2:]
        ):
            return check
        self.context.note(MESSAGES.repeats_not_recorded(judge, case, asking.command("missing")))
        return check.repeated(1)

    def _arms_beside(self, judge: Judge, check: Check, case: CheckInput, asking: RequestContext) -> tuple[Arm, ...]:
        arms = check.arms_beside(self.context.config)
        seen = [
            self.answer_service.recorded_judgments(judge, case.dataset, case.pairs, arm, {})
            for arm in arms
            if self.context.is_offline
        ]
        if len(seen) < 2 or seen[1] or not seen[0]:
            return arms
        self.context.note(MESSAGES.one_run_recorded(judge, case, asking.command("missing")))
        return arms[:1]

    def _with_indifferent(self, judge: Judge, check: Check, case: CheckInput, answers: Answers) -> Answers:
        """Add the recorded choices in neutral conditions.

        With planned looks only the first pairs count, which all contrasts share.
        """
        pairs = first_pairs(case.pairs, self.context.config.first_look) if check.takes_looks else case.pairs
        arms = {(arm[0].condition.name, arm[0].repeat): arm for arm in answers.arms if arm}
        known: dict[str, Sequence[Judgment]] = {}
        for condition, repeat in check.neutral_arms(case, judge):
            own = arms.get((condition.name, repeat))
            known[arm_name(condition, repeat)] = own or self.answer_service.recorded_judgments(
                judge, case.dataset, pairs, (condition, repeat), answers.plans
            )
        chosen = {arm: each for arm, seen in known.items() if (each := chosen_responses(seen))}
        likely = {arm: found for arm, seen in known.items() if (found := likely_of(seen))}
        cue_free = tuple(known.get(arm_name(NO_CUE, 0), ()))
        return replace(answers, indifferent=chosen, likely=likely, cue_free=cue_free)
