"""Scripted: a judge that says what a script says, for tests, docs and dry runs.

It costs nothing, needs no network and keeps what it was asked. A reply of its script is a text, a
structure (which is written as JSON), a `JudgeReply`, an error to raise, or a function of the
request that returns one of these.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from trajgrade.contracts import JudgeReply, JudgeRequest
from trajgrade.errors import ConfigError, JudgeError
from trajgrade.judging.settings import JudgeSettings

Said = str | Mapping[str, Any] | JudgeReply | BaseException
Line = Said | Callable[[JudgeRequest], Said]


class ScriptedJudge:
    """Says the lines of its script in turn.

    Args:
        script: One line for every request, or several, one for each request in turn.
        name: What results call it.
        repeat: Whether the script begins again after its last line.

    Attributes:
        asked: Every request so far.
    """

    def __init__(
        self, script: Line | Iterable[Line], *, name: str = "scripted", repeat: bool = False
    ) -> None:
        self.name = name
        alone = callable(script) or isinstance(script, (str, Mapping, JudgeReply, BaseException))
        self._lines: list[Any] = [script] if alone else [*script]  # type: ignore[misc]  # `alone` says which
        self._again = alone or repeat
        if not self._lines:
            raise ConfigError("script: at least one line is needed")
        self.asked: list[JudgeRequest] = []
        self._lock = threading.Lock()

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Say the next line.

        Raises:
            JudgeError: The script has no more lines.
        """
        with self._lock:
            place = len(self.asked)
            self.asked.append(request)
        if place >= len(self._lines) and not self._again:
            raise JudgeError(f"the script has {len(self._lines)} lines, and more was asked")
        line = self._lines[place % len(self._lines)]
        said = line(request) if callable(line) else line
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, JudgeReply):
            return msgspec.structs.replace(said, model=said.model or self.name)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return JudgeReply(text=text, model=self.name, tokens_in=0, tokens_out=0, cost=0.0)


def from_settings(settings: JudgeSettings) -> ScriptedJudge:
    """Return the judge that a config describes by `script`, which begins again after its end.

    Raises:
        ConfigError: There is no script.
    """
    if settings.script is None:
        raise ConfigError("judge.script: is missing: what the judge says, or a list of replies")
    return ScriptedJudge(settings.script, name=settings.name, repeat=True)
