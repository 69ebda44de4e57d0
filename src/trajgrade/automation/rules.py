"""Rules: what is to be done with which traces.

    automation:
      enabled: true
      rules:
        - name: errors to review
          when: {field: status, in: [error, failed]}
          sample_rate: 0.5
          actions:
            - {type: add_to_queue, priority: 100}

A rule fires for an item that fits its `when` and is sampled. Sampling takes no dice: a hash of the
item's id and the rule's name decides, so that an item that comes again is decided alike. A rule
that looks at `scores.KEY` is asked after the rules that give that score, in whatever order they are
written. Nothing is filled in for a mistake: an unknown key or operator, `enabled: 'false'`, a rate
of 5, a rule without `when` are refused when the rules are read.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from trajgrade.automation.conditions import Condition, read, values_at
from trajgrade.automation.consistency import faults_between, names_given_twice
from trajgrade.errors import ConfigError, TrajgradeError, shorten, unknown
from trajgrade.evaluators.spelling import faults_of, graders
from trajgrade.matching.paths import parse
from trajgrade.matching.values import is_number

After = Literal["trace_complete"]
Decided = Literal["fires", "disabled", "does_not_fit", "sampled_out"]

QUIET = 30.0  # seconds without a span after which a trace without an ended root is complete
SCORES = "scores."
_GRADES = "run_evaluator"
_GIVE_NONE = {"add_to_queue", "add_to_dataset", "fire_webhook", "notify", "emit_otel"}


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What is done with an item that fits.

    Attributes:
        name: What messages, counters and sampling know it by.
        when: What an item must fit.
        actions: What is done, in this order; each a `type` and its parameters.
        sample_rate: The share of the fitting items for which it fires, from 0 to 1.
        enabled: Whether it is asked at all.
        after: When it is asked: once the trace is complete, never of half a trace.
        quiet: Seconds without a new span after which a trace counts as complete.
    """

    name: str
    when: Condition
    actions: tuple[dict[str, Any], ...]
    sample_rate: float = 1.0
    enabled: bool = True
    after: After = "trace_complete"
    quiet: float = QUIET

    def decide(self, item_id: str, item: Any) -> Decision:
        """Return whether it fires for an item, and why."""
        if not self.enabled:
            return Decision(self.name, "disabled", "the rule is switched off")
        fit = self.when.fit(item)
        if not fit.holds:
            return Decision(self.name, "does_not_fit", fit.because)
        drawn = sample(item_id, self.name)
        if drawn >= self.sample_rate:
            because = f"drew {drawn:.3f}, and sample_rate is {self.sample_rate:g}"
            return Decision(self.name, "sampled_out", because)
        return Decision(self.name, "fires", fit.because)

    @property
    def scores_read(self) -> frozenset[str]:
        """The keys of the scores that it looks at."""
        return frozenset(
            path.removeprefix(SCORES) for path in self.when.fields if path.startswith(SCORES)
        )

    @property
    def gives(self) -> tuple[str, ...]:
        """The keys of the scores that its actions give, as often as they give them."""
        return tuple(
            key
            for action in self.actions
            if action["type"] == _GRADES
            for key in graders([spec_of(action)]).keys or ()
        )

    @property
    def may_give_any(self) -> bool:
        """Whether its actions may give scores whose keys are not known beforehand."""
        return any(
            graders([spec_of(action)]).keys is None
            if action["type"] == _GRADES
            else action["type"] not in _GIVE_NONE
            for action in self.actions
        )


class Decision(NamedTuple):
    """Whether a rule fires for an item.

    Attributes:
        rule: The rule's name.
        decided: What was decided.
        because: What decided it.
    """

    rule: str
    decided: Decided
    because: str

    @property
    def fires(self) -> bool:
        """Whether it fires."""
        return self.decided == "fires"


def spec_of(action: Mapping[str, Any]) -> Any:
    """Return the evaluator of a `run_evaluator` action, as a config file spells it."""
    name = action.get("evaluator")
    if not isinstance(name, str):
        return name
    more = {key: action[key] for key in ("params", "key") if key in action}
    return {"name": name, **more}


def sample(item_id: str, rule: str) -> float:
    """Return a number from 0 to below 1 that the same item and rule always draw."""
    parts = [part.encode("utf-8", "surrogatepass") for part in (rule, item_id)]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return int.from_bytes(hashlib.sha256(framed).digest()[:7], "big") / 2**56


class Rules:
    """The rules of one file, in the order in which they are asked.

    Args:
        rules: The rules.

    Raises:
        ConfigError: Two have one name, or two wait for each other's scores.

    Attributes:
        counts: How often each was decided how, by the rule's name.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = _ordered([*rules])
        self.counts: dict[str, Counter[Decided]] = {rule.name: Counter() for rule in self._rules}
        self._seen: set[str] = set()
        self._items = 0

    def __iter__(self) -> Iterator[Rule]:
        """Yield the rules, those that give a score before those that look at it."""
        return iter(self._rules)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._rules)

    def decide(self, item_id: str, item: Any) -> list[Decision]:
        """Return what each rule decides of an item.

        Args:
            item_id: What names the item.
            item: The item, as `automation.items` shows it.
        """
        return [self.decided(rule, item_id, item) for rule in self._rules]

    def decided(self, rule: Rule, item_id: str, item: Any) -> Decision:
        """Return what one rule decides of an item, and count it."""
        decision = rule.decide(item_id, item)
        self.counts[rule.name][decision.decided] += 1
        self._items += 1
        for path in rule.when.fields:
            if path not in self._seen and any(True for _ in values_at(item, parse(path))):
                self._seen.add(path)
        return decision

    def never_seen(self) -> dict[str, list[str]]:
        """Return, by rule, the fields that no item so far had; empty before the first item."""
        if not self._items:
            return {}
        absent = {rule.name: [*dict.fromkeys(rule.when.fields)] for rule in self._rules}
        absent = {name: [p for p in paths if p not in self._seen] for name, paths in absent.items()}
        return {name: paths for name, paths in absent.items() if paths}


def _ordered(rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules so that each comes after those whose scores it looks at."""
    given: dict[str, list[Rule]] = {}
    for rule in rules:
        for key in {*rule.gives}:
            given.setdefault(key, []).append(rule)
    ordered: list[Rule] = []
    waiting: list[str] = []

    def place(rule: Rule) -> None:
        if rule in ordered:
            return
        if rule.name in waiting:
            circle = " → ".join([*waiting[waiting.index(rule.name) :], rule.name])
            raise ConfigError(f"automation.rules: each waits for a score of the next: {circle}")
        waiting.append(rule.name)
        for key in sorted(rule.scores_read):
            for earlier in given.get(key, ()):
                if earlier is not rule:
                    place(earlier)
        waiting.pop()
        ordered.append(rule)

    for rule in rules:
        place(rule)
    return ordered


# ------------------------------------------------------------------------------ reading


FaultsOf = Callable[[Mapping[str, Any]], Iterable[str]]


def read_rules(
    block: Any, actions: Mapping[str, Any] | None = None, faults_of_action: FaultsOf | None = None
) -> Rules:
    """Read the `automation:` block of a config.

    Args:
        block: What is written: `{enabled, rules}`.
        actions: The known actions by name; None checks no action's name.
        faults_of_action: Returns what is wrong with an action's parameters; None checks only the
            evaluators.

    Returns:
        The rules; none where the block is not enabled.

    Raises:
        ConfigError: Anything is wrong; holds all faults, each with its path.
    """
    if not isinstance(block, Mapping):
        raise ConfigError(f"automation: {{enabled, rules}} is needed, got {shorten(block)}")
    faults = [
        f"automation: {unknown('key', name, ['enabled', 'rules'])}"
        for name in block
        if name not in {"enabled", "rules"}
    ]
    enabled = block.get("enabled", True)
    if not isinstance(enabled, bool):
        faults.append(f"automation.enabled: true or false is needed, got {shorten(enabled)}")
    written = block.get("rules", [])
    if not isinstance(written, list):
        faults.append(f"automation.rules: a list is needed, got {shorten(written)}")
        written = []
    found: list[Rule] = []
    for place, one in enumerate(written):
        try:
            found.append(
                _Reading(one, f"automation.rules[{place}]", actions, faults_of_action).rule()
            )
        except ConfigError as wrong:
            faults += wrong.faults
    faults += names_given_twice([one.get("name") for one in written if isinstance(one, Mapping)])
    if len(found) == len(written):  # else what one rule looks at may be of another, faulty one
        faults += faults_between(found)
    if faults:
        raise ConfigError(*faults)
    return Rules(found if enabled else ())


_KEYS = Rule.__struct_fields__


class _Reading:
    """One rule on its way from what is written to a record."""

    def __init__(
        self,
        written: Any,
        where: str,
        actions: Mapping[str, Any] | None,
        faults_of_action: FaultsOf | None,
    ) -> None:
        self._written = written
        self._where = where
        self._known = actions
        self._faults_of = faults_of_action
        self._faults: list[str] = []

    def rule(self) -> Rule:
        """Return the rule.

        Raises:
            ConfigError: Anything is wrong.
        """
        written, where = self._written, self._where
        if not isinstance(written, Mapping):
            raise ConfigError(f"{where}: {{name, when, actions}} is needed, got {shorten(written)}")
        self._faults += [
            f"{where}: {unknown('key', name, _KEYS)}" for name in written if name not in _KEYS
        ]
        name = written.get("name")
        if not isinstance(name, str) or not name.strip():
            self._fault("name", f"a text is needed, got {shorten(name)}")
        when = self._when()
        found = {
            "sample_rate": self._number("sample_rate", 1.0, most=1.0),
            "enabled": self._choice("enabled", default=True, choices=(True, False)),
            "after": self._choice("after", default="trace_complete", choices=get_args(After)),
            "quiet": self._number("quiet", QUIET, most=None),
        }
        actions = self._actions()
        if self._faults:
            raise ConfigError(*self._faults)
        return Rule(name=str(name), when=when, actions=actions, **found)

    def _fault(self, key: str, fault: str) -> None:
        self._faults.append(f"{self._where}.{key}: {fault}")

    def _when(self) -> Any:
        if "when" not in self._written:
            self._fault("when", "is missing; for every item write `when: always`")
            return None
        try:
            return read(self._written["when"], f"{self._where}.when")
        except ConfigError as wrong:
            self._faults += wrong.faults
            return None

    def _number(self, key: str, default: float, most: float | None) -> Any:
        value = self._written.get(key, default)
        fits = is_number(value) and value >= 0 and (most is None or value <= most)
        if not fits:
            bounds = "0 or more" if most is None else f"0 to {most:g}"
            self._fault(key, f"a number of {bounds} is needed, got {shorten(value)}")
        return value

    def _choice(self, key: str, *, default: Any, choices: tuple[Any, ...]) -> Any:
        value = self._written.get(key, default)
        if type(value) is not type(choices[0]) or value not in choices:
            words = " or ".join(str(choice).lower() for choice in choices)
            self._fault(key, f"{words} is needed, got {shorten(value)}")
        return value

    def _actions(self) -> tuple[dict[str, Any], ...]:
        written = self._written.get("actions")
        if not isinstance(written, list) or not written:
            self._fault("actions", f"a list of {{type, …}} is needed, got {shorten(written)}")
            return ()
        found = []
        for place, action in enumerate(written):
            where = f"actions[{place}]"
            if not isinstance(action, Mapping) or not isinstance(action.get("type"), str):
                self._fault(where, f"{{type: …}} is needed, got {shorten(action)}")
            elif self._known is not None and action["type"] not in self._known:
                self._fault(f"{where}.type", unknown("action", action["type"], [*self._known]))
            else:
                faults = [*(self._faults_of or faults_of_evaluator)(action)]
                for fault in faults:
                    self._faults.append(f"{self._where}.{where}{_joint(fault)}{fault}")
                if not faults:
                    found.append(dict(action))
        return tuple(found)


def faults_of_evaluator(action: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the evaluator of an action that runs one, each with its path."""
    if action["type"] != "run_evaluator":
        return []
    if action.get("evaluator") is None:
        return ["evaluator: is missing"]
    try:
        graders([spec_of(action)])
    except TrajgradeError as wrong:
        return [fault.replace("evaluators[0]", "evaluator", 1) for fault in faults_of(wrong)]
    return []


def _joint(fault: str) -> str:
    """Return what stands between an action's path and a fault, which may begin with a path."""
    return "." if re.match(r"[\w.\[\]]+: ", fault) else ": "
