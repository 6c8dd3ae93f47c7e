"""Procedure: one check of one case, from whether it applies to what it finds; the judges are asked on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.cassettes.calls import CassetteMissError, PostponedError
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.checks import Answers, Case, Check
from judgefixtures.checks.control import Control, refusal, refused
from judgefixtures.checks.look_by_look import Look, LookRow, plan_looks
from judgefixtures.checks.protocol import Subject
from judgefixtures.checks.unanswered import unanswered, with_example
from judgefixtures.findings import Finding, ReportRow
from judgefixtures.material.contrasts import NO_CUE, NO_CUE_SWAPPED, arm_name
from judgefixtures.material.pairs import Pair, first
from judgefixtures.measures.certainty import likely_of
from judgefixtures.measures.metrics import choices
from judgefixtures.numbers.estimate import Status
from judgefixtures.runs.desk import FATAL, Desk, WaitingError
from judgefixtures.runs.fitting import check_fit, misplaced
from judgefixtures.runs.interviews import Interviews
from judgefixtures.runs.inventory import Inventory
from judgefixtures.runs.ledger import Archive, Asking, Ledger
from judgefixtures.runs.narrowing import Narrowing
from judgefixtures.runs.setting_aside import set_aside
from judgefixtures.runs.stopping import Looks
from judgefixtures.runs.vetting import Vetting
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import presentable

UNMEASURED = (CassetteMissError, NetworkBlockedError, JudgeFixturesError)  # one item's ERROR, and no bug


@dataclass(slots=True)
class _Course:
    """How far a check has come: what was narrowed down stays so, wherever it ends."""

    check: Check
    case: Case
    asking: Asking
    controls: tuple[Control, ...] = ()
    whole: tuple[Pair, ...] = ()  # of which a look has the first

    def lost(self, error: BaseException) -> Finding:
        """Return the ERROR of a check that could not be measured."""
        lost = self.controlled(self.check.lost(self.case, presentable(str(error))))
        return replace(lost, fatal=isinstance(error, FATAL))

    def controlled(self, finding: Finding) -> Finding:
        """Return a finding with the controls of its judges among its rows."""
        return replace(finding, rows={**finding.rows, Control.place: tuple(self.controls)})

    def looked(self, finding: Finding) -> Finding:
        """Return a finding with the look that it was made at among its rows, where there is one."""
        check, case = self.check, self.case
        if (look := case.look) is None:
            return finding
        arms = tuple(arm_name(*arm) for arm in case.judge.asks(check.arms))
        planned = case.config.gate(check.family).looks or ()
        row = LookRow(
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
        return replace(finding, rows={**finding.rows, LookRow.place: (row,)})


def _with_rows(finding: Finding, rows: Sequence[ReportRow]) -> Finding:
    """Return a finding with rows that are only shown, of one kind."""
    return replace(finding, rows={**finding.rows, rows[0].place: tuple(rows)}) if rows else finding


@dataclass(frozen=True, slots=True)
class Procedure:
    """Asks what checks ask, in an order in which nothing is paid for that cannot matter."""

    desk: Desk
    inventory: Inventory
    interviews: Interviews
    reading: Interviews  # of what this run recorded, and of nothing else
    vetting: Vetting
    narrowing: Narrowing
    looks: Looks
    archive: Archive

    def check(
        self, check: Check, case: Case, ledger: Ledger, beside: Iterable[Subject], item: Subject | None
    ) -> Finding:
        """Return what a check finds in a case, after asking its judges; what cannot be measured is an ERROR."""
        case = replace(case, repeats=self.desk.options.repeats, pairs=case.judge.kind.about(case.pairs))
        check = check.fitted(type(case.judge.kind), case.pairs)
        if excuse := check.excuse(case):
            names = check.kind, case.judge.name, case.dataset, check.name
            excused = Finding(*names, Status.NOT_APPLICABLE, reasons=(excuse,), diagnosis=(excuse,))
            return _with_rows(excused, check.shown(case, self._logged(check, case)))
        subject = Subject(case.judge.name, case.dataset, check, case.baseline.name if case.baseline else None)
        course = _Course(check, case, Asking(case.dataset, check.name, "", ledger))
        try:
            found = self._ask(course, subject, beside, item)
        except PostponedError:
            try:
                self._post_the_rest(course)
            except FATAL as error:
                return course.lost(error)
            what = f"{subject.judge} {subject.dataset} {check.name}"
            raise WaitingError(f"{what}: answers are asked for in batches") from None
        except UNMEASURED as error:
            ledger.judges.setdefault(case.judge.name, case.judge.identity)
            return course.lost(error)
        if isinstance(found, Finding):
            return found
        check, case = course.check, course.case
        for judge, answered in zip((*case.judges, *check.beside(case.judge)), found, strict=True):
            ledger.judges.setdefault(judge.name, judge.identity)
            self.archive.keep(judge, case.dataset, case.pairs, answered, ledger)
        finding = course.controlled(course.looked(with_example(check.find(case, *found), found)))
        return _with_rows(finding, check.shown(case, found[0].arms))

    def _ask(
        self, course: _Course, subject: Subject, beside: Iterable[Subject], item: Subject | None
    ) -> Finding | list[Answers]:
        """Return what each judge answers, or what is found without asking them."""
        check, case = course.check, course.case
        if wrong := misplaced(check.contrast, case.judges):
            raise JudgeFixturesError(wrong)
        for judge in case.judges:
            judge.kind.check_cues(self.desk.config.cues)
            # Pairs that a fixture of the user's chose, and a judge that code made, are no dataset's and no table's.
            check_fit(judge.name, judge.table, judge.template, case.dataset, case.pairs)
        if lacking := self.unanswered(check, case):
            return unanswered(check, case, lacking, self._cue_free(case))
        self.narrowing.refuse_hopeless(subject, case, beside)
        course.asking = asking = self._asking(course, subject, item)
        course.controls = tuple(self.vetting.control(judge, case.pairs, asking) for judge in case.judges)
        if failed := next((each for each in course.controls if each.earns_nothing), None):
            refused_it = course.controlled(refused(check.lost(case, refusal(failed)), failed))
            return _with_rows(refused_it, set_aside(self.interviews, check, case, failed.command))
        narrowed = self.narrowing.narrowed(check, case, asking)
        course.case, course.asking = self.looks.first_pairs(*narrowed)
        gate = self.desk.config.gate(check.family)
        looks = plan_looks(gate, course.case.pairs) if check.takes_looks and case.baseline is None else ()
        return self._by_looks(course, looks) if looks else self._answered(course, self.interviews)

    def _by_looks(self, course: _Course, looks: Sequence[Look]) -> list[Answers]:
        """Return what each judge answers about the first pairs, as many as the look has that decides, or the last one.

        Each look is read as a replay reads it, and leaves what one of so many pairs would: of those before it there is
        what they cost. Nothing is asked about further pairs, unless all of them were asked about beforehand.
        """
        check, case, asking = course.check, course.case, course.asking
        course.whole, interviews, before = case.pairs, self.interviews, len(self.desk.notes)
        asking = replace(asking, whole=case.pairs, look=f"{asking.options} --judge-until-decided", live={})
        if len(looks) > 1 and not (self.desk.is_offline or self.desk.options.until_decided):
            self._ask_whole(course, asking)
            interviews = self.reading
        told = self.desk.notes[before:]
        for look in looks:
            course.case = replace(case, pairs=first(case.pairs, look.pairs), look=look)
            part = asking.part or len(course.case.pairs) < len(case.pairs)
            course.check, course.asking = check, replace(asking, ledger=Ledger(), part=part)
            noted, goes_on = len(self.desk.notes), False
            try:
                answers = self._answered(course, interviews)
                goes_on = look is not looks[-1] and course.check.is_open(course.check.find(course.case, *answers))
            finally:
                take = asking.ledger.pay if goes_on else asking.ledger.take
                take(course.asking.ledger)
                course.asking = replace(course.asking, ledger=asking.ledger)
            told = self.desk.retell(told, noted)
            if not goes_on:
                break
        return answers

    def _ask_whole(self, course: _Course, asking: Asking) -> None:
        """Ask about all pairs before any look is taken: what is recorded then can be decided on in every other way."""
        course.asking = replace(asking, ledger=Ledger())
        try:
            self._answered(course, self.interviews)
            self.desk.note(  # not of a recording that stopped before its end
                "[gate] looks: all pairs were asked about, whichever look decides: --judge-until-decided asks no "
                "further than that"
            )
        finally:
            asking.ledger.pay(course.asking.ledger)
            course.asking = asking

    def _answered(self, course: _Course, interviews: Interviews) -> list[Answers]:
        """Return what each judge answers about the pairs of a case, and what is looked at beside."""
        check, case, asking = course.check, course.case, course.asking
        self.archive.keep_case(check, case, asking)
        course.check = check = self._as_recorded(check, case, asking)
        arms = self.arms(check, case)
        answers = [interviews.answers(judge, case.pairs, arms, asking) for judge in case.judges]
        answers = [
            self._with_indifferent(judge, check, case, each) for judge, each in zip(case.judges, answers, strict=True)
        ]
        answers += [
            self.interviews.answers(judge, case.pairs, check.arms[:1], asking) for judge in check.beside(case.judge)
        ]
        if check.is_read and (reader := self.desk.config.detector.judge):
            detector = self.inventory.judge(reader)
            read = interviews.readings(detector, case.judge, case.pairs, answers[0], asking)
            answers[0] = replace(answers[0], detections=read)
        return answers

    def _asking(self, course: _Course, subject: Subject, item: Subject | None) -> Asking:
        """Return what is being asked, with the commands that ask it again."""
        what = f"swap {subject.check.name}" if subject.baseline is not None else subject.check.name
        selecting = self.inventory.selecting(item or subject)
        look, start = self.looks.options(subject, self.desk.options.datasets), self.desk.options.command
        return Asking(subject.dataset, what, selecting, course.asking.ledger, look=look, start=start)

    def _post_the_rest(self, course: _Course) -> None:
        """Put into batches what else a check will ask, as far as that is known before the answers are there.

        A control that fails, and with it the others' answers that nobody needs, costs less than another day.
        """

        def posted(ask: Callable[[], object]) -> bool:
            try:
                ask()
            except FATAL:
                raise
            except (PostponedError, *UNMEASURED):
                return False
            return True

        check, case, asking = course.check, course.case, course.asking
        for judge in case.judges:
            posted(partial(self.vetting.control, judge, case.pairs, asking))
        alone = [replace(case, judge=judge, baseline=None) for judge in case.judges]
        chosen = [posted(partial(self.narrowing.narrowed, check, each, asking)) for each in alone]
        if not all(chosen):
            return
        about, asking = self.narrowing.narrowed(check, case, asking)
        for judge in about.judges:
            posted(partial(self.interviews.answers, judge, about.pairs, self.arms(check, about), asking))
        for judge in check.beside(about.judge):
            posted(partial(self.interviews.answers, judge, about.pairs, check.arms[:1], asking))

    # --- what an imported judge's log has ---------------------------------------------------------------------

    def arms(self, check: Check, case: Case) -> tuple[Arm, ...]:
        """Return what a check asks; of accuracy the pairs' own order alone, where a judge can answer in no other.

        Every other check needs both of its arms.
        """
        if check.contrast is not None or (NO_CUE_SWAPPED, 0) not in check.arms:
            return check.arms
        own = tuple(arm for arm in check.arms if arm != (NO_CUE_SWAPPED, 0))
        fewer = any(self._lacks(who, case, check.arms) and not self._lacks(who, case, own) for who in case.judges)
        return own if fewer else check.arms

    def unanswered(self, check: Check, case: Case) -> str:
        """Return why a check is about something that a judge can never answer; empty where it is not.

        Raises JudgeFixturesError where nothing is imported of a judge on the case's dataset whose log has its answers.
        """
        arms = self.arms(check, case)
        return next(filter(None, (self._lacks(judge, case, arms) for judge in case.judges)), "")

    def _lacks(self, judge: Judge, case: Case, arms: Iterable[Arm]) -> str:
        return self.interviews.unanswered(judge, case.dataset, case.pairs, arms)

    def _logged(self, check: Check, case: Case) -> list[tuple[Judgment, ...]]:
        """Return what a log has in the arms of a check; nothing of a judge that is asked: another run may record it."""
        if case.judge.kind.is_asked or case.baseline is not None:
            return []
        return [self.interviews.seen(case.judge, case.dataset, case.pairs, arm, {}) for arm in check.arms]

    def _cue_free(self, case: Case) -> tuple[Judgment, ...]:
        """Return what is recorded of a judge without cues; nothing of two that are compared."""
        return () if case.baseline else self.interviews.seen(case.judge, case.dataset, case.pairs, (NO_CUE, 0), {})

    # --- what is asked, and looked at beside ------------------------------------------------------------------

    def _as_recorded(self, check: Check, case: Case, asking: Asking) -> Check:
        """Return a check without repeats where a replay would look for some of which nothing is recorded, and note it.

        Recordings that were made before repeats of cues were asked for replay as they did.
        """
        judge = case.judge
        if check.repeats == 1:
            return check
        if judge.table.seed is not None and not judge.is_opaque and "seed" not in judge.dropped:
            self.desk.note(
                f"{judge.name}: seed = {judge.table.seed} goes with every repeat, and a server that "
                'honours it repeats itself: for shares of repeats set seed = "unset" in its table'
            )
        if not self.desk.is_offline or judge.is_opaque:
            return check
        plans = self.interviews.plans(judge, case.pairs, asking)
        if any(self.interviews.seen(judge, case.dataset, case.pairs, arm, plans) for arm in check.arms[2:]):
            return check
        self.desk.note(
            f"{judge.name} on {case.dataset}: repeats of cue contrasts are not recorded, their verdicts are "
            f"judged alone: {asking.command('missing')} asks them"
        )
        return check.repeated(1)

    def _with_indifferent(self, judge: Judge, check: Check, case: Case, answers: Answers) -> Answers:
        """Return the answers with what the judge chose where nothing that matters differs, as far as it is recorded.

        Where gates plan looks that is looked up on the first pairs alone, which all contrasts are asked about: of how
        many more another one is recorded would depend on how it was.
        """
        pairs = first(case.pairs, self.desk.config.first_look) if check.takes_looks else case.pairs
        asked = {(arm[0].condition.name, arm[0].repeat): arm for arm in answers.arms if arm}
        known: dict[str, Sequence[Judgment]] = {}
        for condition, repeat in check.indifferent(case, judge):
            own = asked.get((condition.name, repeat))
            known[arm_name(condition, repeat)] = (
                self.interviews.seen(judge, case.dataset, pairs, (condition, repeat), answers.plans)
                if own is None
                else own
            )
        chosen = {arm: choices(seen) for arm, seen in known.items()}
        likely = {arm: likely_of(seen) for arm, seen in known.items()}
        return replace(
            answers,
            indifferent={arm: each for arm, each in chosen.items() if each},
            likely={arm: each for arm, each in likely.items() if each},
            cue_free=tuple(known.get(arm_name(NO_CUE, 0), ())),
        )
