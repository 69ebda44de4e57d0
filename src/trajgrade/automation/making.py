"""Making: the actions of rules, built with what they need of the file that the rules are in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trajgrade.automation.rules import Rule, faults_of_evaluator
from trajgrade.errors import ConfigError, TrajgradeError
from trajgrade.evaluators.spelling import faults_of
from trajgrade.production import Action
from trajgrade.registry import actions

Place = tuple[str, int]


def close(actions: Iterable[Action]) -> None:
    """Have actions let go of what they hold, those of them that hold anything."""
    for action in actions:
        if callable(end := getattr(action, "close", None)):
            end()


def make_actions(
    rules: Iterable[Rule], *, judge: Any = None, store: Any = None
) -> dict[Place, Action]:
    """Return the actions of rules, by the rule's name and the action's place in it.

    Args:
        rules: The rules.
        judge: Who is asked by evaluators that name no judge.
        store: The store in which datasets are looked up: a store or its address.

    Raises:
        ConfigError: An action does not exist, or its parameters are wrong; holds all faults.
    """
    context = {"judge": judge, "store": store}
    made: dict[Place, Action] = {}
    faults: list[str] = []
    for rule in rules:
        for place, written in enumerate(rule.actions):
            where = f"automation.rules: {rule.name}: actions[{place}] ({written['type']})"
            try:
                made[rule.name, place] = _made(written, context)
            except TrajgradeError as wrong:
                faults += [f"{where}: {fault}" for fault in faults_of(wrong)]
    if faults:
        raise ConfigError(*faults)
    return made


def faults_of_action(written: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the parameters of an action, by making it.

    Args:
        written: The action: its type, and its parameters.
        context: What the file says beside it: `judge`, `store`.
    """
    if found := faults_of_evaluator(written):
        return found
    try:
        _made(written, context)
    except TrajgradeError as wrong:
        return [*faults_of(wrong)]
    return []


def _made(written: Mapping[str, Any], context: Mapping[str, Any]) -> Action:
    name = written["type"]
    params = {key: value for key, value in written.items() if key != "type"}
    wants: tuple[str, ...] = getattr(actions.find(name), "context", ())
    taken = [key for key in params if key in wants]
    if taken:
        raise ConfigError(f"{', '.join(taken)}: is that of the file, and not the action's to say")
    given = {key: context[key] for key in wants if context.get(key) is not None}
    made: Action = actions.build(name, {**params, **given})
    return made
