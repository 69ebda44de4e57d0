"""Loading: the rules of a config file, with what their actions need of the file beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from trajgrade.automation.making import Place, faults_of_action, make_actions
from trajgrade.automation.rules import Rules, read_rules
from trajgrade.config import Config, placed, read_document
from trajgrade.errors import ConfigError, unknown
from trajgrade.judging.settings import judge_settings
from trajgrade.production import Action
from trajgrade.registry import actions

_JUDGES = ("judge", "ai_support", "judge_alignment")


class Automation(NamedTuple):
    """The rules of a file.

    Attributes:
        rules: The rules; none where the file has none, or they are switched off.
        judge: Who is asked where an evaluator names no judge; None where the file names none.
        store: Where the file keeps runs and datasets, None where it does not say.
        server: The file's block `server`.
    """

    rules: Rules
    judge: Any = None
    store: str | None = None
    server: Mapping[str, Any] = {}

    def actions(self, store: Any = None) -> dict[Place, Action]:
        """Make the rules' actions.

        Args:
            store: Where datasets are, in place of the file's own: a store or its address.

        Raises:
            ConfigError: Parameters are wrong, or what they name is not there; holds all faults.
        """
        where = self.store if store is None else store
        return make_actions(self.rules, judge=self.judge, store=where)


def load_automation(
    path: str | os.PathLike[str],
    *,
    required: bool = False,
    makes: bool = False,
    store: Any = None,
) -> Automation:
    """Read the rules of a config file; paths in them are relative to the file.

    Args:
        path: The file, which may say what `trajgrade run` grades, too.
        required: Whether a file without rules is a fault.
        makes: Whether each action is made, too, so that all that is wrong is said at once.
        store: Where datasets are, in place of the file's own: a store or its address.

    Raises:
        ConfigError: Anything is wrong with them; holds all faults, each with its path.
    """
    file = Path(path)
    faults: list[str] = []
    document = read_document(file, faults)
    keys = Config.__struct_fields__
    faults += [f"{key}: {unknown('key', key, keys)}" for key in document if key not in keys]
    if required and document.get("automation") is None:
        faults.append(f"automation: is missing; the file has {', '.join(document) or 'nothing'}")
    found: dict[str, Any] = {"rules": Rules(())}
    try:
        asked = {key: document[key] for key in _JUDGES if document.get(key) is not None}
        if {"judge", "ai_support"} & asked.keys() or "ai_support" in asked.get(_JUDGES[2], {}):
            found["judge"] = judge_settings(asked, "")
    except ConfigError as wrong:
        faults += wrong.faults
    context = {"judge": found.get("judge"), "store": store or document.get("store")}
    check = partial(faults_of_action, context=context) if makes else None
    try:
        block = _placed(document.get("automation"), file.parent)
        if block is not None:
            found["rules"] = read_rules(block, actions.entries, check)
    except ConfigError as wrong:
        faults += wrong.faults
    if faults:
        raise ConfigError(*faults, where=str(path))
    server = document.get("server")
    return Automation(
        **found, store=document.get("store"), server=server if isinstance(server, dict) else {}
    )


def _placed(block: Any, folder: Path) -> Any:
    """Return rules with the file's folder before the paths of references."""
    if isinstance(block, Mapping):
        return {key: _placed_at(key, value, folder) for key, value in block.items()}
    return [_placed(one, folder) for one in block] if isinstance(block, list) else block


def _placed_at(key: Any, value: Any, folder: Path) -> Any:
    where = value.get("dataset") if key == "reference" and isinstance(value, Mapping) else None
    if not isinstance(where, str):
        return _placed(value, folder) if key in {"rules", "actions"} else value
    return {**value, "dataset": placed(where, folder)}
