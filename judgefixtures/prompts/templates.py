"""Prompt templates with slots, filled in a single pass: responses arrive verbatim."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from judgefixtures.models.contrasts import Condition
from judgefixtures.models.edits import apply_edit
from judgefixtures.models.pairs import HIDDEN, Pair, columns_as_text, keep_columns, swap_responses
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.paths import read_text
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import quote_names, word_set

from .messages import MESSAGES

TEMPLATES = Path(__file__).parents[1] / "templates"
WORDINGS = ("terse", "reordered")  # the rewritings that come with each of ours, below TEMPLATES / "wordings"
PLAN_SLOT = "plan"  # where a template wants the plan that a judge carries out; it stands before the prompt otherwise
OFTEN = ("question", "scale", "pass_label", "fail_label")  # slots that may stand in a template more than once
PASS_SLOT, FAIL_SLOT = "pass_label", "fail_label"  # by which words a grader is to say that a response passes, or fails
GRADE_FIELD = "verdict"  # where built-in templates have a grader state its grade, unless its table names another field

Placement = Literal["after", "before"]


@dataclass(frozen=True, slots=True)
class ModeLayout:
    """A mode's slots and templates, in the order of `forms`."""

    shows: str
    kind: str  # the class of the kind: imported when a judge of it is made
    texts: tuple[str, ...]
    cues: tuple[str, ...]
    optional: tuple[str, ...]
    built_in: tuple[str, ...]
    forms: tuple[str, ...]
    ties: bool
    logged: str  # the class of the kind of those whose answers are of a log; empty where none can be imported

    @property
    def shows_both(self) -> bool:
        """Whether both responses are shown."""
        return "response_2" in self.texts

    @property
    def has_scale(self) -> bool:
        """Whether scores have a scale."""
        return "scale" in self.optional

    @property
    def has_labels(self) -> bool:
        """Whether responses pass or fail."""
        return PASS_SLOT in self.optional

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that are no columns."""
        return (*self.texts, *self.cues, *self.optional)


def _layout(fields: Mapping[str, object]) -> ModeLayout:
    values: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in fields.items()}
    return ModeLayout(**values)


_MODES = {mode: _layout(fields) for mode, fields in load_table("modes").items()}
LAYOUTS: Mapping[str, ModeLayout] = MappingProxyType(_MODES)
BUILT_IN = LAYOUTS["pairwise"].built_in
if TYPE_CHECKING:
    Mode = str
else:
    Mode = Literal[tuple(LAYOUTS)]

NAME = r"[^\W\d]\w*"
# A name in two braces, which is the letters of that name in one; or a slot: a name in one. Else braces are text.
BRACED = re.compile(rf"\{{\{{(?P<letters>{NAME})\}}\}}|\{{(?P<slot>{NAME})\}}")
OURS = frozenset(slot for layout in LAYOUTS.values() for slot in layout.slots)  # of judges of any kind


def slots_in(text: str) -> list[str]:
    """Return the names of a template's slots in order.

    >>> slots_in('{question} {{name}} {"a": {"b": {reference}}} {0} {two words}')
    ['question', 'reference']
    """
    return [match["slot"] for match in BRACED.finditer(text) if match["slot"]]


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with slots; unknown ones are columns.

    Pairs: {question}, {response_1}, {response_2}, {cue_1}, {cue_2}. Single: {question}, {response}, {cue}, {scale},
    {pass_label}, {fail_label}. Optional: {plan}.

    Attributes:
        variants: Wordings for other content types.
        cue_after: The text before cues without slots.
    """

    name: str
    text: str
    variants: tuple[tuple[str, str], ...] = ()
    cue_after: str = ""
    mode: Mode = "pairwise"

    @property
    def digest(self) -> str:
        """A digest of the template."""
        parts = (self.text, self.variants, *([self.cue_after] if self.cue_after else ()))
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def text_for(self, content_type: str) -> str:
        """Return a content type's wording."""
        return dict(self.variants).get(content_type, self.text)

    def takes_plan(self, content_type: str) -> bool:
        """Return whether a wording has {plan}."""
        return PLAN_SLOT in slots_in(self.text_for(content_type))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its wordings show, in order.

        >>> Template("own", "{question} {reference} {response_1} {response_2}").columns
        ('reference',)
        """
        return tuple(dict.fromkeys(name for text in self._texts for name in columns_in(text)))

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.text, *(text for _, text in self.variants))

    def columns_for(self, content_type: str) -> tuple[str, ...]:
        """Return the columns that a wording shows."""
        return columns_in(self.text_for(content_type))

    def letters_for(self, content_type: str) -> tuple[str, ...]:
        """Return other modes' slots, here plain text."""
        own = LAYOUTS[self.mode].slots
        return tuple(sorted(OURS.intersection(slots_in(self.text_for(content_type))).difference(own)))

    def has_any(self, *slots: str) -> bool:
        """Return whether any wording has these slots."""
        return any(slot in slots_in(text) for text in self._texts for slot in slots)

    @property
    def values(self) -> frozenset[str]:
        """The columns that are passed as values, not as text."""
        return frozenset()

    @property
    def identity(self) -> dict[str, Any]:
        """What of the template can change an answer."""
        return {"template": {"name": self.name, "digest": self.digest}}

    def cue_place(self, placement: Placement) -> str:
        """Return where cues stand, for the judge's identity."""
        return placement

    def shows(self, pair: Pair) -> Pair:
        """Return the pair with shown columns."""
        if not pair.columns:
            return pair
        return columns_as_text(keep_columns(pair, self.columns_for(pair.content_type)), self.values)

    def shows_all(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return pairs with the columns that the wording for each shows."""
        return [self.shows(pair) for pair in pairs]

    def render(self, pair: Pair, condition: Condition, placement: Placement = "after", plan: str = "") -> str:
        """Return the prompt for a pair in a condition."""
        labels = (condition.cue_1, condition.cue_2)
        cues = [cue.render(pair.content_type, number) if cue else "" for number, cue in enumerate(labels, 1)]
        texts, cues = self.place_cues([pair.question, pair.response_1, pair.response_2], cues, placement)
        return self._filled(pair, texts, cues, {PLAN_SLOT: plan})

    def render_one(
        self,
        pair: Pair,
        response: str,
        cue: str = "",
        placement: Placement = "after",
        scale: str = "",
        labels: Mapping[str, str] = MappingProxyType({}),
        *,
        cue_of_prompt: bool = False,
    ) -> str:
        """Return the prompt for one response, with its cue's sentence.

        `scale` is text, `labels` are words by slot. `cue_of_prompt`: the cue's place is the prompt.
        """
        texts, cues = self.place_cues([pair.question, response], [cue], placement, of_prompt=cue_of_prompt)
        optional = dict.fromkeys(LAYOUTS[self.mode].optional, "") | {"scale": scale, **labels}
        return self._filled(pair, texts, cues, optional)

    def place_cues(
        self,
        texts: list[str],
        cues: list[str],
        placement: Placement,
        *,
        of_prompt: bool = False,  # noqa: ARG002 (for templates without a prompt)
    ) -> tuple[list[str], list[str]]:
        """Return question and responses with the cues that stand before them, and the cues that have slots."""
        if placement != "before":
            return texts, cues
        responses = [f"{cue}\n{text}" if cue else text for cue, text in zip(cues, texts[1:], strict=True)]
        return [texts[0], *responses], [""] * len(cues)

    def _filled(self, pair: Pair, texts: Sequence[str], cues: Sequence[str], optional: Mapping[str, str]) -> str:
        layout = LAYOUTS[self.mode]
        slots = dict(zip((*layout.texts, *layout.cues), (*texts, *cues), strict=True))
        return self.fill(pair, slots | dict(optional))

    def fill(self, pair: Pair, slots: Mapping[str, str]) -> str:
        """Return the prompt with its slots filled."""
        layout = LAYOUTS[self.mode]
        text = self.text_for(pair.content_type)
        if self.cue_after and any(slots[cue] for cue in layout.cues):  # else the prompt is the user's own to the letter
            text = _with_cue_lines(text, self.cue_after, layout.cues)
        return self.fill_text(text, pair, slots)

    def fill_text(self, text: str, pair: Pair, slots: Mapping[str, str]) -> str:
        """Return a text with its slots and columns filled."""
        layout = LAYOUTS[self.mode]

        def put(braced: re.Match[str]) -> str:
            if (letters := braced["letters"]) is not None:
                return f"{{{letters}}}"
            name = braced["slot"]
            if name in layout.slots:
                return slots[name]
            return braced[0] if name in OURS else _column_of(pair, name, self.name)

        return BRACED.sub(put, text)


@lru_cache(maxsize=64)
def columns_in(text: str) -> tuple[str, ...]:
    """Return the distinct columns of a wording in order."""
    return tuple(dict.fromkeys(name for name in slots_in(text) if name not in OURS))


def _column_of(pair: Pair, name: str, template: str) -> str:
    if name not in pair.columns:
        raise JudgeFixturesError(
            f"the template {template} shows {{{name}}}, which {pair.id!r} does not have: its columns are "
            f"{quote_names(pair.columns) or 'none'}. Fill it in, or write {{{{{name}}}}} for these letters."
        )
    return pair.columns[name]


def _with_cue_lines(text: str, cue_after: str, cues: Sequence[str]) -> str:
    before, anchor, after = text.partition(cue_after)
    lines = "\n".join(f"{{{slot}}}" for slot in cues)
    start, end = ("" if anchor.endswith("\n") else "\n"), ("" if after.startswith("\n") or not after else "\n")
    return f"{before}{anchor}{start}{lines}{end}{after}"


def present_pair(pair: Pair, condition: Condition) -> Pair:
    """Return a pair in a condition's order, with its edit."""
    turned = condition.order == "21"
    if condition.edit is not None:
        pair, _ = apply_edit(pair, condition.edit, turned=turned)
    return swap_responses(pair) if turned else pair


def load_template(
    template: str | Path,
    placement: Placement = "after",
    cue_after: str | None = None,
    templates: Mapping[str, str | Path] = MappingProxyType({}),
    mode: Mode = "pairwise",
    field: str | None = None,
) -> Template:
    """Return a built-in template by name, or the user's by path.

    `templates` are wordings by content type, `cue_after` is the text before cues without slots, `field` the grade's.

    Raises:
        JudgeFixturesError: A slot is missing or wrong.

    >>> load_template("silent-judge").name
    'silent-judge'
    """

    def load(one: str | Path) -> Template:
        return _load(one, placement, cue_after, mode, field or GRADE_FIELD)

    loaded = load(template)
    if not templates:
        return replace(loaded, cue_after=cue_after or "")
    own = {name: load(path).text_for(name) for name, path in sorted(templates.items())}
    return replace(loaded, variants=tuple({**dict(loaded.variants), **own}.items()), cue_after=cue_after or "")


def _load(template: str | Path, placement: Placement, cue_after: str | None, mode: Mode, field: str) -> Template:
    layout = LAYOUTS[mode]
    for other, its in LAYOUTS.items():
        if other != mode and template in its.built_in:
            raise _of_another_mode(repr(str(template)), mode, other)
    if template in layout.built_in:
        name = str(template)
        if cue_after is not None:
            raise JudgeFixturesError(MESSAGES.cue_after_misplaced(name))
        return _shipped(name, "", field, mode)
    return _of_user(template, "template", layout.built_in, placement, cue_after, mode)


def _of_user(
    given: str | Path, what: str, known: Sequence[str], placement: Placement, cue_after: str | None, mode: Mode
) -> Template:
    path = Path(given)
    if path.suffix == "" and not path.exists():
        raise JudgeFixturesError(
            f"there is no {what} {str(given)!r}: {accepted_values(path.name, known)}, or the path of a file."
        )
    text = _read_text(path, what)
    _check_mode(text, path, mode)
    _check_hidden(text, path)
    _check_slots(text, path, placement, cue_after, LAYOUTS[mode])
    return Template(path.name, text, mode=mode)


def _shipped(name: str, folder: str, field: str, mode: Mode) -> Template:
    text, story = (_naming(field, _read_text(TEMPLATES / folder / f"{name}{of}.txt")) for of in ("", ".story"))
    return Template(name, text, (("Story", story),), mode=mode)


def wording_label(wording: str) -> str:
    """Return a wording's name, without a file's suffix.

    >>> wording_label("terse"), wording_label("prompts/strict.txt")
    ('terse', 'strict')
    """
    return wording if wording in WORDINGS else Path(wording).stem


def load_wording(wording: str, own: Template, field: str | None = None) -> Template:
    r"""Return a rewriting of a judge's `own` template, perhaps without cue slots.

    Raises:
        JudgeFixturesError: It shows other things.

    >>> load_wording("terse", load_template("silent-judge")).text.partition("\n")[0]
    'Which response is better overall? Consider correctness and clarity.'
    """
    if wording in WORDINGS:
        reworded = _shipped_wording(wording, own, field or GRADE_FIELD)
    else:
        reworded = _of_user(wording, "wording", WORDINGS, "before", None, own.mode)
    _check_wording(reworded, own, wording)
    return reworded


def _shipped_wording(label: str, own: Template, field: str) -> Template:
    if own.name not in LAYOUTS[own.mode].built_in or any(name != "Story" for name, _ in own.variants):
        raise JudgeFixturesError(MESSAGES.built_in_wording(label, own))
    return _shipped(f"{own.name}.{label}", "wordings", field, own.mode)


def _check_wording(reworded: Template, own: Template, wording: str) -> None:
    if reworded.text.split() == own.text.split():
        raise JudgeFixturesError(MESSAGES.wording_as_before(wording))
    if lacking := [name for name in own.columns if name not in reworded.columns]:
        raise JudgeFixturesError(MESSAGES.wording_lacks_slot(wording, lacking))
    if added := [name for name in reworded.columns if name not in own.columns]:
        raise JudgeFixturesError(
            f"the wording {wording} has {{{added[0]}}}, which the judge's own template does not show: with more to go "
            f"by it is another question. Remove it, or write {{{{{added[0]}}}}} for these letters."
        )


def _naming(field: str, text: str) -> str:
    named = BRACED.sub(lambda braced: f"{{{braced[0]}}}", json.dumps(field, ensure_ascii=False))
    return text.replace(f'"{GRADE_FIELD}":', f"{named}:")


def _check_mode(text: str, path: Path, mode: Mode) -> None:
    own = LAYOUTS[mode]
    wanted = set(own.texts)
    slots = OURS.intersection(slots_in(text))
    for other, layout in LAYOUTS.items():
        its = set(layout.texts) - wanted
        # Where a template for pairs has all that it needs, {response} is text of its own.
        if other != mode and slots & its and (not own.shows_both or not wanted <= slots):
            held = " ".join(f"{{{name}}}" for name in layout.texts if name in slots & its)
            raise _of_another_mode(f"{path} ({held})", mode, other)
    if not own.shows_both and (left := min(slots - {*own.slots}, default=None)):
        whose = next(name for name, layout in LAYOUTS.items() if left in layout.slots)
        raise JudgeFixturesError(MESSAGES.slot_left(path, left, LAYOUTS[whose].shows_both, whose))


def _check_hidden(text: str, path: Path) -> None:
    if hidden := [name for name in slots_in(text) if name in HIDDEN]:
        raise JudgeFixturesError(
            f"the template {path} has {{{hidden[0]}}}, which is never a slot: {', '.join(HIDDEN)} say which row it is "
            "and what people say of it, and would show the judge the answer. Remove it, or write "
            f"{{{{{hidden[0]}}}}} for these letters."
        )


def _of_another_mode(template: str, mode: Mode, other: Mode) -> JudgeFixturesError:
    layout = LAYOUTS[mode]
    slots = " ".join(f"{{{name}}}" for name in (*layout.texts, *layout.cues))
    return JudgeFixturesError(
        MESSAGES.template_of_other_mode(
            template, LAYOUTS[other].shows, mode, other, slots, " or ".join(map(repr, layout.built_in))
        )
    )


def load_system_prompt(path: str | Path) -> str:
    """Return the unchanged text of a system prompt's file.

    Raises:
        JudgeFixturesError: It is unreadable.
    """
    text = _read_text(Path(path), "system prompt")
    if not text.strip():
        raise JudgeFixturesError(f"the system prompt {path} holds no text: write it, or remove system_prompt.")
    return text


def _read_text(path: Path, what: str = "template") -> str:
    try:
        return read_text(path).removesuffix("\n")
    except UnicodeDecodeError as error:
        raise JudgeFixturesError(f"the {what} {path} cannot be read: {error}. Save it as UTF-8 text.") from None
    except OSError as error:
        raise JudgeFixturesError(
            f"the {what} {path} cannot be read: {error}. Paths are relative to the configuration file."
        ) from None


def _check_slots(text: str, path: Path, placement: Placement, cue_after: str | None, layout: ModeLayout) -> None:
    wanted = layout.texts + (layout.cues if placement == "after" and cue_after is None else ())
    slots = [name for name in slots_in(text) if name in layout.slots]
    if cue_after is not None:
        _check_anchor(text, path, cue_after, layout)
    if missing := [slot for slot in wanted if slot not in slots]:
        listed = ", ".join(f"{{{slot}}}" for slot in missing)
        hint = ""
        if set(missing) <= set(layout.cues):
            hint = ' Or say with cue_after = "..." which text of it the cues follow, or set cue_placement = "before".'
        hint += _renamed(text, missing)
        if doubled := [slot for slot in missing if f"{{{{{slot}}}}}" in text]:
            hint += f" {{{{{doubled[0]}}}}} stands for the letters {{{doubled[0]}}}: a slot has one brace on each side."
        raise JudgeFixturesError(f"the template {path} lacks {listed}: put it where the text belongs.{hint}")
    if twice := sorted({slot for slot in slots if slots.count(slot) > 1 and slot not in OFTEN}):
        raise JudgeFixturesError(f"the template {path} has {{{twice[0]}}} more than once: keep one.")


# Words by which other tools call our slots, and those of what people say, which is no response.
QUESTION = word_set("question query prompt input inputs instruction task user request message")
RESPONSE = word_set("response answer output outputs completion prediction candidate assistant reply result submission")
OF_PEOPLE = word_set("reference gold golden expected ideal truth correct target rubric criteria")
PLACES_OF = {"1": "_1", "2": "_2", "a": "_1", "b": "_2", "first": "_1", "second": "_2"}


def _renamed(text: str, missing: Sequence[str]) -> str:
    names = [braced["slot"] or braced["letters"] for braced in BRACED.finditer(text)]
    meant = {_meant(name): name for name in reversed(names) if name not in OURS}
    return "".join(f" Rename {{{meant[slot]}}} to {{{slot}}}." for slot in missing if slot in meant)


def _meant(name: str) -> str:
    words = [each.lower() for each in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]
    if OF_PEOPLE.intersection(words):
        return ""
    if not RESPONSE.intersection(words):
        return "question" if QUESTION.intersection(words) else ""
    return "response" + next((PLACES_OF[each] for each in words if each in PLACES_OF), "")


def _check_anchor(text: str, path: Path, cue_after: str, layout: ModeLayout) -> None:
    if held := [slot for slot in layout.cues if slot in slots_in(text)]:
        raise JudgeFixturesError(f"the template {path} has {{{held[0]}}} and there is cue_after: keep one of the two.")
    places = sum(text.startswith(cue_after, at) for at in range(len(text)))
    if places != 1:
        what = "is not in" if places == 0 else f"is {places} times in"
        raise JudgeFixturesError(
            f"cue_after = {cue_after!r} {what} the template {path}: give a text that is in it once, to the letter."
        )
    within = text.index(cue_after) + len(cue_after)
    if any(slot.start() < within < slot.end() for slot in BRACED.finditer(text)):
        raise JudgeFixturesError(
            f"cue_after = {cue_after!r} ends inside of a slot of the template {path}: give all of it."
        )
