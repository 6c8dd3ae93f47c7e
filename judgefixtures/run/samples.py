"""Samples: the pairs of a run, from a source or the snapshot beside its recordings.

With a snapshot nothing is downloaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.snapshot import SampleSnapshot
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.config import Config
from judgefixtures.judges.judge import template_of
from judgefixtures.judges.mode import JudgeMode, mode_class
from judgefixtures.models import pairs as pair_tools
from judgefixtures.models.pairs import MODEL, MODELS, Pair
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.prompts.templates import Template
from judgefixtures.sources.mapping import text_id
from judgefixtures.sources.row_readers import is_offline, unreachable_dataset_advice
from judgefixtures.sources.sample import (
    Sample,
    describe_sample,
    hub_id,
    identical_responses_note,
    left_out_counts,
    load_sample,
)
from judgefixtures.sources.source import Source
from judgefixtures.util.errors import JudgeFixturesError

from .compatibility import check_judge_fits_dataset
from .messages import MESSAGES


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """A judge's pairs, with the sample's origin and size.

    Attributes:
        shown: The pairs, or each of their responses.
    """

    pairs: tuple[Pair, ...]
    sample: Sample
    available: int
    frozen_for: str = ""
    shown: tuple[Pair, ...] = ()


class Samples:
    """The pairs for each judge and dataset, loaded once per session."""

    def __init__(
        self,
        config: Config,
        library: CassetteStore,
        wanted: int | None,
        note: Callable[[str], None],
        baseline: str | None = None,
    ) -> None:
        self._config, self._library, self.wanted, self._note = config, library, wanted, note
        self._baseline = baseline
        self._loaded: dict[str, Sample] = {}
        self._chosen: dict[tuple[str, str], SampledPairs] = {}
        self._templates: dict[str, Template] = {}
        self._whole = False

    def whole(self) -> Samples:
        """Return the samples with all pairs of their sources."""
        whole = Samples(self._config, self._library, None, self._note, self._baseline)
        whole._whole, whole._loaded, whole._templates = True, self._loaded, self._templates
        return whole

    def of(self, judge: str, dataset: str) -> SampledPairs:
        """Return a judge's pairs.

        Raises:
            JudgeFixturesError: They are missing or unsuitable.
        """
        if (judge, dataset) not in self._chosen:
            chosen = self._choose(judge, dataset)
            kind = self._kind(judge)
            chosen = replace(chosen, shown=chosen.pairs if kind is None else kind.about(chosen.pairs))
            if (template := self._template(judge)) is not None:
                check_judge_fits_dataset(judge, self._config.judges[judge], template, dataset, chosen.shown)
            self._chosen[judge, dataset] = chosen
        return self._chosen[judge, dataset]

    def is_remote(self, dataset: str) -> bool:
        """Return whether a dataset is downloaded and frozen."""
        source = self._config.source(dataset)
        needs_copy = source.path is None and not source.is_built_in  # it is read by path alone, and none is given
        return bool(hub_id(source)) or needs_copy

    def is_here(self, judge: str, dataset: str) -> bool:
        """Return whether the pairs need no download."""
        return (judge, dataset) in self._chosen or not self.is_remote(dataset)

    def describe_pairs(self, judge: str, dataset: str) -> list[str]:
        """Return the preflight's lines on a judge's pairs."""
        chosen, source = self.of(judge, dataset), self._config.source(dataset)
        frozen = f"frozen beside the recordings of {chosen.frozen_for}" if chosen.frozen_for else ""
        return describe_sample(
            dataset, chosen.pairs, chosen.sample, source, self._config.seed, available=chosen.available, frozen=frozen
        )

    def _template(self, judge: str) -> Template | None:
        if judge not in self._config.judges:
            return None
        if judge not in self._templates:
            self._config.check_judge_files(judge)
            self._templates[judge] = template_of(self._config.judge_table(judge))
        return self._templates[judge]

    def _choose(self, judge: str, dataset: str) -> SampledPairs:
        source = self._config.source(dataset)
        if self.is_remote(dataset):
            chosen = self._unsigned(judge, self._of_hub(judge, dataset, source))
        elif source.path is not None and not source.path.exists() and self._library.mode == "none":
            chosen = self._of_recordings(judge, dataset, source)
        else:
            chosen = self._fresh(judge, dataset, source)
        if self.wanted is not None and self.wanted > len(chosen.pairs) and not source.is_built_in:
            there = vocabulary_for(chosen.pairs).counted(len(chosen.pairs))
            self._note(f"{dataset} has {there}, fewer than the {self.wanted} asked for: all of them are used")
        if chosen.sample.left_out:
            self._note(f"{dataset}: left out {left_out_counts(chosen.sample.left_out)}")
        if same := identical_responses_note(dataset, chosen.pairs):
            self._note(same)
        return chosen

    def _fresh(self, judge: str, dataset: str, source: Source, revision: str | None = None) -> SampledPairs:
        if dataset not in self._loaded:
            pinned = source if source.revision or revision is None else replace(source, revision=revision)
            self._loaded[dataset] = load_sample(replace(pinned, balance_positions=False), self._config.seed)
        sample = self._loaded[dataset]
        if source.balance_positions:
            sample = replace(
                sample,
                pairs=pair_tools.balance_gold_position(sample.pairs, self._config.seed, self._positions(judge, source)),
            )
        chosen = SampledPairs(sample.pairs[: self.wanted], sample, len(sample.pairs))
        self._keep(judge, dataset, source, chosen)
        return chosen

    def _kind(self, judge: str) -> type[JudgeMode] | None:
        table = self._config.judges.get(judge)
        return None if table is None else mode_class(table)

    def _positions(self, judge: str, source: Source) -> dict[str, Pair]:
        """Keep recorded positions even if gold changes, unless the seed changed."""
        if source.is_built_in:
            return {}
        others = sorted(folder.parent.name for folder in self._library.root.glob(f"*/{source.name}"))
        known: dict[str, Pair] = {}
        # A log has answers in both orders, mostly, where a recording has those that were asked.
        compared = sorted([judge, *filter(None, [self._baseline])], key=self._is_logged)
        for name in dict.fromkeys([*compared, *others]):
            with contextlib.suppress(CassetteError):  # the item says what is wrong with the file
                sample = self._library.frozen_sample(name, source.name)
                if sample is None or sample.seed == self._config.seed:
                    known = {_name_now(pair): pair for pair in self._library.frozen(name, source.name)} | known
        return known

    def _is_logged(self, judge: str) -> bool:
        kind = self._kind(judge)
        return kind is not None and not kind.is_asked

    def _of_hub(self, judge: str, dataset: str, source: Source) -> SampledPairs:
        if self._library.mode == "all":
            return self._fresh(judge, dataset, source)
        owner = self._owner(judge, dataset, source)
        frozen = self._library.frozen_sample(owner, dataset) if owner else None
        if owner is None or frozen is None:
            return self._unfrozen(judge, dataset, source)
        problem = self._mismatch(frozen, source) or self._lacking(judge, owner, dataset)
        if problem is None:
            return self._thawed(judge, owner, dataset, source, frozen)
        if self._library.mode == "none":
            raise JudgeFixturesError(
                MESSAGES.frozen_sample_unfit(dataset, owner, problem, self._library.command_start, judge)
            )
        # The same commit as before: what was recorded stays good, and more pairs begin with the same ones.
        return self._fresh(judge, dataset, source, frozen.revision)

    def _unsigned(self, judge: str, chosen: SampledPairs) -> SampledPairs:
        """Drop authors that no template shows: a replay lacks them too."""
        templates = [self._template(name) for name in (judge, self._baseline) if name is not None]
        columns = {column for template in templates if template is not None for column in template.columns}
        unshown = {MODEL, *MODELS} - columns
        pairs = tuple(
            pair_tools.keep_columns(pair, [each for each in pair.columns if each not in unshown])
            for pair in chosen.pairs
        )
        return replace(chosen, pairs=pairs)

    def _unfrozen(self, judge: str, dataset: str, source: Source) -> SampledPairs:
        if self._library.mode == "none" and hub_id(source) and self._library.frozen(judge, dataset):
            return self._of_recordings(judge, dataset, source)
        if self._library.mode == "none" and (hub := hub_id(source)) and not is_offline():
            raise JudgeFixturesError(
                MESSAGES.no_frozen_sample(
                    dataset, hub, self._library.folder(judge, dataset), unreachable_dataset_advice(source)
                )
            )
        return self._fresh(judge, dataset, source)

    def _owner(self, judge: str, dataset: str, source: Source) -> str | None:
        """Find a usable snapshot: two compared judges need the same pairs."""
        if self._library.frozen_sample(judge, dataset) is not None:
            return judge
        if self._library.frozen(judge, dataset):
            return None  # its own pairs are frozen, though nothing is known of them: no others may stand for them
        fitting: dict[str, SampleSnapshot] = {}
        for folder in sorted(self._library.root.glob(f"*/{dataset}")):
            try:
                frozen = self._library.frozen_sample(folder.parent.name, dataset)
            except CassetteError:
                continue
            if frozen is None or self._mismatch(frozen, source) is not None:
                continue
            if not self._lacking(judge, folder.parent.name, dataset):
                fitting[folder.parent.name] = frozen
        if not fitting:
            return None
        longest = max(fitting, key=lambda name: len(fitting[name].pairs))
        return longest if all(fitting[longest].extends(other) for other in fitting.values()) else None

    def _mismatch(self, frozen: SampleSnapshot, source: Source) -> str | None:
        if dict(frozen.selection) != source.selection:
            was, now = frozen.selection, source.selection
            changed = [key for key in sorted({*was, *now}) if was.get(key) != now.get(key)]
            return "; ".join(f"{key} was {was.get(key)!r} and is {now.get(key)!r}" for key in changed)
        if frozen.seed != self._config.seed:
            return f"it was drawn with seed {frozen.seed}, and seed = {self._config.seed} draws and swaps other pairs"
        wanted = frozen.available if self._whole else self.wanted
        if wanted is not None and len(frozen.pairs) < min(wanted, frozen.available):
            return f"{wanted} pairs are asked for, and {len(frozen.pairs)} of {frozen.available} are frozen"
        return None

    def _frozen_pairs(self, judge: str, owner: str, dataset: str) -> dict[str, Pair]:
        """Join columns of all snapshots: compared judges may show different ones."""
        frozen = {pair.id: pair for pair in self._library.frozen(owner, dataset)}
        for name in dict.fromkeys(filter(None, (judge, self._baseline))):
            for pair in self._library.frozen(name, dataset) if name != owner else ():
                if (known := frozen.get(pair.id)) is not None and known.digest == pair.digest and pair.columns:
                    frozen[pair.id] = replace(known, columns=pair_tools.merge_columns(known.columns, pair.columns))
        return frozen

    def _lacking(self, judge: str, owner: str, dataset: str) -> str | None:
        templates = [self._template(name) for name in dict.fromkeys(filter(None, (judge, self._baseline)))]
        if not any(template.columns for template in templates if template is not None):
            return None
        frozen = self._frozen_pairs(judge, owner, dataset).values()
        known = {name for pair in frozen for name in pair.columns}
        for pair in frozen:
            for template in filter(None, templates):
                there = pair.columns.keys() | (template.values & known)
                if lacking := [name for name in template.columns_for(pair.content_type) if name not in there]:
                    return f"the template {template.name} shows {{{lacking[0]}}}, which was not frozen with them"
        return None

    def _thawed(self, judge: str, owner: str, dataset: str, source: Source, frozen: SampleSnapshot) -> SampledPairs:
        by_id = self._frozen_pairs(judge, owner, dataset)
        pairs = tuple(by_id[name] for name, _ in frozen.pairs)[: self.wanted]
        if self.wanted is None and len(pairs) < frozen.available:
            self._note(f"{dataset}: the {len(pairs)} pairs that are frozen are used, of {frozen.available}")
        left_out = MappingProxyType(dict(frozen.left_out))
        chosen = SampledPairs(pairs, Sample(pairs, left_out, frozen.revision, frozen.licence), frozen.available, owner)
        self._keep(judge, dataset, source, chosen)
        return chosen

    def _of_recordings(self, judge: str, dataset: str, source: Source) -> SampledPairs:
        frozen = self._library.frozen_sample(judge, dataset)
        if frozen is not None:
            if problem := self._mismatch(frozen, source) or self._lacking(judge, judge, dataset):
                raise JudgeFixturesError(MESSAGES.no_file_and_frozen_sample_unfit(dataset, source, judge, problem))
            return self._thawed(judge, judge, dataset, source, frozen)
        frozen_pairs = self._frozen_pairs(judge, judge, dataset).values()
        pairs = pair_tools.sample_order(frozen_pairs, self._config.seed)
        if not pairs:
            return self._fresh(judge, dataset, source)
        return SampledPairs(pairs[: self.wanted], Sample(pairs), len(pairs), judge)

    def _keep(self, judge: str, dataset: str, source: Source, chosen: SampledPairs) -> None:
        if source.is_built_in:
            self._library.shipped.update(pair.digest for pair in chosen.pairs)
            return
        known = self._library.samples.get((judge, dataset))
        sample = SampleSnapshot(
            source.selection,
            self._config.seed,
            chosen.available,
            tuple((pair.id, pair.digest) for pair in chosen.pairs),
            dict(chosen.sample.left_out),
            chosen.sample.revision,
            chosen.sample.licence,
        )
        if known is None or not known.extends(sample):  # the control asks about the first pairs of a sample alone
            self._library.samples[judge, dataset] = sample


def _name_now(pair: Pair) -> str:
    return text_id(pair_tools.with_line_ends(pair, "\n")) if pair.id == text_id(pair) else pair_tools.id_key(pair.id)
