"""An agent as a config file or a flag spells it.

    agent: my_agent:answer                       a function or an object of a module
    agent: http://localhost:8000/agent           an address that takes a POST
    agent:
      command: [python, agent.py]                a program, begun anew for each row
      timeout: 60
      retries: 3
      retry_on: [75]

A module is looked for beside the config file, in the working directory, and among what is
installed.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec

from trajgrade.agent import Agent
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.pace import Pace, pace_of

_FUNCTION = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")
KINDS = ("function", "command", "url")
_PACE = Pace.__struct_fields__


class AgentConfig(Pace, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What answers each row, and how it is called: one of `function`, `command` and `url`.

    Attributes:
        max_concurrency: How many calls are under way at once, at most.
        timeout: After how many seconds a call counts as failed; null waits for ever.
        retries: How many times a call is made again that failed in a way that is transient.
        retry_on: What is transient: names of exceptions, HTTP statuses, exit codes.
        backoff: How many seconds the first wait before a retry is at most; each next is doubled.
        rate_limit: How many calls begin in a time, at most: `60/minute`, `5/second`.
        function: `module:name` of a function, or of an object with `query` or `query_row`.
        command: A program and its arguments; the row is on its standard input, as JSON.
        url: An address that takes the row in a POST, as JSON.
        headers: What is sent with that; `${NAME}` is taken from the environment.
        folder: Where the module is looked for first, or the program runs; the config's folder.
    """

    function: str | None = None
    command: tuple[str, ...] | None = None
    url: str | None = None
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    folder: str | None = None

    def __repr__(self) -> str:
        """Return what it is, without headers: they may be secret."""
        kind = next(kind for kind in KINDS if getattr(self, kind) is not None)
        return f"AgentConfig({kind}={getattr(self, kind)!r})"

    def build(self, *, seed: int = 0) -> Agent:
        """Return the agent: its module is imported, its program looked for.

        Raises:
            ConfigError: There is none, or it cannot be called.
        """
        try:
            return Agent(self._target(), seed=seed, **{key: getattr(self, key) for key in _PACE})
        except ConfigError as wrong:
            raise ConfigError(*(f"agent.{fault}" for fault in wrong.faults)) from wrong.__cause__

    def _target(self) -> Any:
        if self.url is not None:
            from trajgrade.remote import Remote

            return Remote(self.url, headers=self.headers, timeout=self.timeout)
        if self.command is not None:
            from trajgrade.program import Program

            return Program(self.command, folder=self.folder or "")
        return imported(self.function or "", self.folder or "")


def agent_config(given: Any, folder: Path) -> AgentConfig:
    """Read how an agent is spelt.

    Args:
        given: What is written.
        folder: The folder of the config file, which paths are relative to.

    Raises:
        ConfigError: Anything is wrong with it; holds all faults.
    """
    if isinstance(given, str):
        given = {"url" if given.startswith(("http://", "https://")) else "function": given}
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"agent: expected module:function, an address, or an object, got {shorten(given)}"
        )
    faults = [*_faults(given)]
    if faults:
        raise ConfigError(*faults)
    placed = {**given, "folder": str(folder / (given.get("folder") or ""))}
    return msgspec.convert({k: v for k, v in placed.items() if v is not None}, AgentConfig)


_TYPES = {field.name: field.type for field in msgspec.structs.fields(AgentConfig)}
_EXPECTED = {
    "function": "module:function, as text", "command": "a list, the program and its arguments",
    "url": "an address, as text", "headers": "an object of texts", "folder": "a path",
}  # fmt: skip


def _faults(given: Mapping[str, Any]) -> list[str]:
    known = [*_TYPES]
    faults = [f"agent.{key}: {unknown('key', key, known)}" for key in given if key not in known]
    for key, expected in _EXPECTED.items():
        try:
            msgspec.convert(given.get(key, {} if key == "headers" else None), _TYPES[key])
        except msgspec.ValidationError:
            got = "what it holds" if key == "headers" else shorten(given[key])
            faults.append(f"agent.{key}: expected {expected}, got {got}")
    kinds = [kind for kind in KINDS if given.get(kind) is not None]
    if len(kinds) != 1:
        said = f"{' and '.join(kinds)} are given" if kinds else "none is given"
        faults.append(f"agent: one of function, command and url is needed; {said}")
    if given.get("headers") and "url" not in kinds:
        faults.append("agent.headers: only an agent behind a url is sent headers")
    function = given.get("function")
    if isinstance(function, str) and not _FUNCTION.fullmatch(function):
        faults.append(f"agent.function: expected module:function, got {shorten(function)}")
    try:
        pace_of(**{key: given[key] for key in _PACE if key in given})
    except ConfigError as wrong:
        faults += [f"agent.{fault}" for fault in wrong.faults]
    return faults


def imported(spelt: str, folder: str | os.PathLike[str] = "") -> Any:
    """Return what `module:name` names, its module imported.

    The folder and the working directory are put before what is installed, and stay there: what an
    agent imports later lies beside it, too.

    Raises:
        ConfigError: The module cannot be imported, or has nothing of that name.
    """
    found = _FUNCTION.fullmatch(spelt)
    if found is None:
        raise ConfigError(f"function: expected module:function, got {shorten(spelt)}")
    for place in (str(Path.cwd()), str(Path(folder).resolve())):
        if place not in sys.path:
            sys.path.insert(0, place)
    name = found["module"]
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as absent:
        if absent.name is not None and f"{name}.".startswith(f"{absent.name}."):
            raise ConfigError(
                f"function: no module {absent.name!r} is in {Path(folder).resolve()}, in the "
                "working directory, or installed"
            ) from None
        raise ConfigError(f"function: {name} cannot be imported: {absent}") from absent
    except Exception as broken:  # whatever the agent's module does when it is imported
        what = f"{type(broken).__name__}: {broken}"
        raise ConfigError(f"function: {name} cannot be imported: {what}") from broken
    return reduce(_attribute, found["name"].split("."), module)


def _attribute(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name)
    except AttributeError:
        known = sorted(other for other in dir(holder) if not other.startswith("_"))
        where = getattr(holder, "__name__", type(holder).__name__)
        raise ConfigError(f"function: {where}: {unknown('name', name, known)}") from None
