"""CallComparison: what all evaluators that compare tool calls with a reference share.

How arguments are compared, which calls count, what several references and turns mean, and the
evidence that every result carries. A subclass says what its score is, given the pairings: one, or
one for each turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeGuard

import msgspec

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, TraceError, shorten
from trajgrade.evaluators.answering import check_flags
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.paired import BARE_TEXT, Paired
from trajgrade.evaluators.part import OfPart
from trajgrade.evaluators.references import (
    alternatives,
    constrains,
    cut_at_users,
    messages_of,
    turns_of,
)
from trajgrade.evaluators.wording import clip, hinges_on
from trajgrade.matching.alignment import Alignment, Order, shown
from trajgrade.matching.arguments import ArgsMode, ArgumentRule, CompiledRule, Override, UnicodeForm
from trajgrade.matching.pairing import Pairing
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import ToolCall, Trajectory

_NO_CALLS = (
    "the reference is a bare text, which does not say what calls are expected: give a list of "
    "calls, [] for none"
)
_RULES = "the reference is constraints, not calls: trajectory_constraints grades them"

Failed = Literal["count", "exclude"]
Hosted = Literal["apart", "count"]
Depth = Literal["top", "leaves", "all"]
Empty = Literal["score", "none"]


class Selection(msgspec.Struct, frozen=True):
    """Which of a trajectory's calls count."""

    failed: Failed = "count"
    hosted: Hosted = "apart"
    depth: Depth = "top"


class Spec(msgspec.Struct, frozen=True):
    """All that two evaluators must share to share one pairing."""

    rule: ArgumentRule
    selection: Selection
    by_message: bool = False
    turns: bool = False
    overrides: str = ""
    """As written: by Python's equality, which the rule is compared by, 1 is True."""


class ArgsCompared(OfPart):
    """An evaluator whose arguments say how arguments are compared.

    These stand apart from `CallComparison` so that a subclass can place them where its users expect
    them: a dataclass puts the fields of its parents first.

    Attributes:
        tool_args_match_mode: How arguments are compared, read from the agent's side: `exact`,
            `ignore`, `subset` (agent ⊆ reference), `superset` (reference ⊆ agent).
        tool_args_match_overrides: By tool: a mode, a list of key paths, a mapping from key path to
            comparator, or a function `(agent_args, reference_args) -> bool`.
    """

    tool_args_match_mode: ArgsMode = "exact"
    tool_args_match_overrides: Mapping[str, Override] | None = None

    @property
    def args_mode(self) -> ArgsMode:
        """How arguments are compared, where no override says otherwise."""
        return self.tool_args_match_mode


@dataclass(frozen=True)
class CallComparison(ArgsCompared):
    """The options of every evaluator that compares tool calls with a reference.

    Attributes:
        deep: Whether `subset` and `superset` also hold inside nested objects.
        ignore_keys: Globs over key paths that are left out on both sides.
        name_aliases: Other names of tools, by alias.
        unicode: `NFC` or `NFKC`: the form that text is normalised to.
        failed: Whether calls that failed or never ran `count`, or are left out (`exclude`) on the
            agent's side.
        hosted: Whether calls that the provider ran are kept `apart`, or `count`.
        depth: Of calls that contain others, the `top` ones count, the `leaves`, or `all`.
        empty: `none` leaves the cells of A5 that are undefined without a score.
        turns: Whether a reference given as messages is compared turn by turn.
    """

    reads: ClassVar[Reads] = "trajectory"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"
    needs_reference: ClassVar[bool] = True

    deep: bool = field(default=False, kw_only=True)
    ignore_keys: Sequence[str] = field(default=(), kw_only=True)
    name_aliases: Mapping[str, str] | None = field(default=None, kw_only=True)
    unicode: UnicodeForm | None = field(default=None, kw_only=True)
    failed: Failed = field(default="count", kw_only=True)
    hosted: Hosted = field(default="apart", kw_only=True)
    depth: Depth = field(default="top", kw_only=True)
    empty: Empty = field(default="score", kw_only=True)
    turns: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: A mode, a path, a comparator or another choice that does not exist, or a
                value of another type than it needs.
        """
        check_choice("failed", self.failed, Failed)
        check_choice("hosted", self.hosted, Hosted)
        check_choice("depth", self.depth, Depth)
        check_choice("empty", self.empty, Empty)
        check_flags(deep=self.deep, turns=self.turns)
        self.check_part()
        faults = list(self._faults())
        if faults:
            raise ConfigError(*faults)
        _ = self._compiled

    def _faults(self) -> Iterator[str]:
        """Say of what type a parameter should be, for each that would be misread as another."""
        globs = self.ignore_keys
        if isinstance(globs, str) or not all(isinstance(glob, str) for glob in globs):
            yield f"ignore_keys: a list of globs is needed, got {shorten(globs)}"
        for name in ("tool_args_match_overrides", "name_aliases"):
            given = getattr(self, name)
            if given is not None and not _by_name(given):
                yield f"{name}: a mapping by tool is needed, got {shorten(given)}"
        if _by_name(self.name_aliases) and not _by_name(dict.fromkeys(self.name_aliases.values())):
            yield f"name_aliases: names of tools are needed, got {shorten(self.name_aliases)}"

    @cached_property
    def _spec(self) -> Spec:
        rule = ArgumentRule(
            mode=self.args_mode,
            overrides=dict(self.tool_args_match_overrides or {}),
            deep=self.deep,
            ignore_keys=tuple(self.ignore_keys),
            name_aliases=dict(self.name_aliases or {}),
            unicode=self.unicode,
        )
        selection = Selection(self.failed, self.hosted, self.depth)
        return Spec(rule, selection, self.by_message, self.turns, repr(rule.overrides))

    @cached_property
    def _compiled(self) -> CompiledRule:
        return CompiledRule(self._spec.rule)

    def measure(self, paired: Paired) -> float | None:
        """Return the score, None where it is undefined."""
        raise NotImplementedError(type(self).__name__)

    def explain(self, paired: Paired, score: float) -> str:
        """Return the comment: why the score is what it is."""
        raise NotImplementedError(type(self).__name__)

    def details(self, paired: Paired) -> dict[str, Any]:
        """Return metadata of this evaluator's own."""
        return {}

    def special(self, paired: Paired) -> str | None:
        """Return `vacuous` or `undefined` where SEMANTICS A5 says so."""
        return None

    def verdict(self, paired: Paired, score: float) -> Any:
        """Return the raw value of the result."""
        return score

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Compare the agent's calls with the reference's.

        Args:
            outputs: The agent's trace, in any shape.
            reference_outputs: The expected calls, in any shape, or `{"any_of": […]}` or
                `{"turns": […]}`. None is *not evaluated*; `[]` means that no call is expected.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs or the reference cannot be read.
        """
        if reference_outputs is None:
            return self.unscored("no_reference", "there is no reference")
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        ours = self.part_of(outputs)
        if type(reference_outputs) is not Trajectory:
            if constrains(reference_outputs):
                return self.unscored("no_reference", _RULES)
            options = alternatives(reference_outputs)
            if options is not None:
                options = [Trajectory.from_any(o) if isinstance(o, str) else o for o in options]
                if any(map(_is_bare_text, options)):
                    return self.unscored("no_reference", _NO_CALLS)
                return self._best(ours, options)
            if isinstance(reference_outputs, str):
                reference_outputs = Trajectory.from_any(reference_outputs)
        if _is_bare_text(reference_outputs):
            return self.unscored("no_reference", _NO_CALLS)
        return self._against(ours, reference_outputs)

    def _best(self, ours: Trajectory, options: Sequence[Any]) -> EvaluationResult:
        """Return the result of the best of several references; the earliest of equals."""
        results = [self._against(ours, option) for option in options]
        scored = [index for index, result in enumerate(results) if result.score is not None]
        best = max(scored, key=lambda index: results[index].score or 0.0, default=0)
        for index, result in enumerate(results):
            if result.metadata.get("unrecorded") and (
                not scored or self._at_most(ours, options[index]) > (results[best].score or 0.0)
            ):
                best = index
                break
        which = f"reference {best + 1} of {len(options)}: "
        return msgspec.structs.replace(
            results[best],
            comment=clip(which + results[best].comment),
            metadata={**results[best].metadata, "reference_index": best},
        )

    def _at_most(self, ours: Trajectory, reference: Any) -> float:
        """Return the best score that arguments which were not recorded may still give."""
        return self.measure(self.paired(ours, reference).generous) or 0.0

    def _against(self, ours: Trajectory, reference: Any) -> EvaluationResult:
        paired = self.paired(ours, reference)
        score = self.measure(paired)
        metadata = {**paired.evidence, **self.details(paired)}
        if paired.uncertain and self.measure(paired.generous) != score:
            metadata["unrecorded"] = True
            return self.unscored("undefined", hinges_on(paired.pairings), metadata)
        special = self.special(paired)
        if special is not None:
            metadata[special] = True
        if score is None or (special == "undefined" and self.empty == "none"):
            return self.unscored("undefined", self.explain(paired, 0.0), metadata)
        comment = clip(self.explain(paired, score) + paired.remarks)
        return EvaluationResult(self.key, score, self.verdict(paired, score), comment, metadata)

    def paired(self, ours: Trajectory, reference: Any) -> Paired:
        """Pair the agent's calls with those of one reference: once, or turn by turn.

        What two evaluators with the same options pair, is paired once: the trajectory remembers it.

        Raises:
            TraceError: The reference cannot be read, or the numbers of turns differ.
        """
        memo = ours.pairing_memo
        spec = self._spec
        if memo is not None and memo[0] is reference and (memo[1] is spec or memo[1] == spec):
            shared: Paired = memo[2]
            return shared
        pairings, notes = self._pairings(ours, reference)
        paired = Paired(ours, pairings, self._considered(ours), notes)
        if type(reference) is Trajectory:  # any other may be changed by its owner
            ours.pairing_memo = (reference, spec, paired)
        return paired

    def _considered(self, ours: Trajectory) -> Sequence[ToolCall]:
        """Return the agent's calls that count, failed ones included."""
        if self.hosted == "apart" and self.depth == "top":
            return ours.tool_calls
        return [call for message in messages_of(ours) for call in self._expected(message)]

    def _pairings(self, ours: Trajectory, reference: Any) -> tuple[list[Pairing], Sequence[str]]:
        """Return the pairings, and what is unusual about the reference."""
        given = None if type(reference) is Trajectory else turns_of(reference)
        wanted = self.part_expected(
            Trajectory.from_any(reference) if given is None else given, cut=self.turns
        )
        if isinstance(wanted, list):
            notes: Sequence[str] = [note for group in wanted for note in group.notes]
            expected = [[self._expected(message) for message in messages_of(g)] for g in wanted]
        elif self.turns and self.turn is None:
            notes = wanted.notes
            expected = cut_at_users(wanted, self._expected)
        else:
            return [self._pairing(ours, wanted)], wanted.notes
        found = cut_at_users(ours, self._made)
        if len(found) != len(expected):
            raise TraceError(
                f"the reference has {len(expected)} turns, the trace has {len(found)} user "
                "turns; to compare turn by turn the numbers must be equal"
            )
        pairings = [self._by_turn(got, want) for got, want in zip(found, expected, strict=True)]
        return pairings, notes

    @property
    def by_message(self) -> bool:
        """Whether it matters which calls stand in one message."""
        return False

    def _pairing(self, ours: Trajectory, theirs: Trajectory) -> Pairing:
        if self.by_message or self._spec.selection != Selection():
            return self._by_turn(
                [self._made(message) for message in messages_of(ours)],
                [self._expected(message) for message in messages_of(theirs)],
            )
        return Pairing(ours.tool_calls, theirs.tool_calls, self._compiled)

    def _by_turn(
        self, ours: Sequence[Sequence[ToolCall]], theirs: Sequence[Sequence[ToolCall]]
    ) -> Pairing:
        """Pair the calls of messages."""
        return Pairing(
            [call for message in ours for call in message],
            [call for message in theirs for call in message],
            self._compiled,
            messages=([len(m) for m in ours if m], [len(m) for m in theirs if m]),
        )

    def _made(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Return those of the agent's calls that count."""
        chosen = self._expected(calls)
        if self.failed == "exclude":
            return [call for call in chosen if not call.failed]
        return chosen

    def _expected(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Return those of the reference's calls that count."""
        if self.hosted == "apart":
            calls = [call for call in calls if not call.hosted]
        if self.depth == "top":
            return calls
        return [inner for call in calls for inner in nested(call, self.depth)]

    def override_spots(self) -> list[str]:
        """Return what the options name of calls: tools, key paths, keys left out, aliases."""
        return self._compiled.spots

    def alignment(
        self, *, outputs: Any, reference_outputs: Any, order: Order = "any"
    ) -> list[Alignment]:
        """Align the calls, for an explanation: one alignment, or one for each turn.

        Of several references the one that scores best is aligned.

        Raises:
            TraceError: The outputs or the reference cannot be read.
            TooLargeError: There are too many calls.
        """
        ours = self.part_of(outputs)
        options = alternatives(reference_outputs)
        if options is not None:
            best = self._best(ours, options).metadata["reference_index"]
            reference_outputs = options[best]
        return [shown(pairing, order) for pairing in self.paired(ours, reference_outputs).pairings]


def _by_name(given: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(given, Mapping) and all(isinstance(name, str) for name in given)


def _is_bare_text(data: Any) -> bool:
    return type(data) is Trajectory and data.format == BARE_TEXT


def nested(call: ToolCall, depth: Depth) -> list[ToolCall]:
    """Return the call and those inside it, or of these the innermost (`leaves`)."""
    inner = [below for child in call.children for below in nested(child, depth)]
    return inner if inner and depth == "leaves" else [call, *inner]
