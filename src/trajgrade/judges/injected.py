"""Injected: an object of the user's as a judge.

It is an object with Potato's `query(prompt, schema)`, a LangChain chat model (`ainvoke`), or a
function from prompt to text, async or not; what is not async is called in a thread. A pydantic-ai
model is asked as if it had been named.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from trajgrade import registry
from trajgrade.contracts import Judge, JudgeReply, JudgeRequest
from trajgrade.errors import ConfigError, JudgeError, TrajgradeError, shorten

Put = Callable[[JudgeRequest], Any]


def from_endpoint(endpoint: Any) -> Judge:
    """Return a judge that asks the object.

    Raises:
        ConfigError: It can be asked in no way that is known.
    """
    kinds = [f"{kind.__module__}.{kind.__name__}" for kind in type(endpoint).__mro__]
    if any(kind.startswith("pydantic_ai.models.") for kind in kinds):
        made: Judge = registry.judges.build("pydantic_ai", {"model": endpoint})
        return made
    if isinstance(endpoint, type):
        raise ConfigError(f"endpoint: {endpoint.__name__} is a class; give an instance of it")
    if callable(getattr(endpoint, "query", None)):
        return InjectedJudge(endpoint, _queried(endpoint.query))
    if callable(getattr(endpoint, "ainvoke", None)):
        return InjectedJudge(endpoint, _invoked(endpoint.ainvoke))
    if callable(endpoint):
        return InjectedJudge(endpoint, _called(endpoint))
    raise ConfigError(
        "endpoint: an object with query(prompt, schema), a pydantic-ai model, a LangChain chat "
        f"model or a function from prompt to text is needed, got {shorten(endpoint)}"
    )


class InjectedJudge:
    """Asks an object of the user's.

    Args:
        endpoint: The object.
        put: Puts a request to it.
    """

    def __init__(self, endpoint: Any, put: Put) -> None:
        named = endpoint if inspect.isroutine(endpoint) else type(endpoint)
        model = next(
            (
                found
                for name in ("model_name", "model")
                if isinstance(found := getattr(endpoint, name, None), str) and found
            ),
            "",
        )
        self.name = str(getattr(named, "__name__", "injected"))
        self._model = model or self.name
        self._put = put

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask the object once.

        Raises:
            JudgeError: It raises, or returns what is no reply.
        """
        began = time.perf_counter()
        try:
            said = await self._put(request)
        except TrajgradeError:
            raise
        except Exception as broken:  # whatever a user's object raises is a failure of the judge
            raise JudgeError(f"{self.name}: {type(broken).__name__}: {broken}") from broken
        return self._reply(said, time.perf_counter() - began)

    def _reply(self, said: Any, seconds: float) -> JudgeReply:
        if isinstance(said, JudgeReply):
            return said
        if hasattr(said, "model_dump") and not hasattr(said, "response_metadata"):
            said = said.model_dump(by_alias=True)  # a pydantic object, as Potato's endpoints return
        usage: Any = getattr(said, "usage_metadata", None) or {}
        told: Any = getattr(said, "response_metadata", None) or {}
        if hasattr(said, "content"):
            said = _content(said.content)
        if isinstance(said, (Mapping, list)):
            said = json.dumps(said, ensure_ascii=False, default=repr)
        if not isinstance(said, str):
            raise JudgeError(
                f"{self.name} must reply with a text or an object, got {shorten(said)}"
            )
        return JudgeReply(
            text=said,
            model=str(told.get("model_name") or self._model),
            tokens_in=usage.get("input_tokens"),
            tokens_out=usage.get("output_tokens"),
            seconds=seconds,
            truncated=(told.get("finish_reason") or told.get("stop_reason"))
            in ("length", "max_tokens", "MAX_TOKENS"),
        )


def _content(content: Any) -> Any:
    """Return the text of a message whose content may be a list of parts."""
    if not isinstance(content, list):
        return content
    parts = [
        part if isinstance(part, str) else part.get("text", "")
        for part in content
        if isinstance(part, (str, Mapping))
    ]
    return "".join(parts)


def flat(request: JudgeRequest) -> str:
    """Return a request as one text, for what takes no messages."""
    if len(request.turns) <= 2:
        return "\n\n".join(turn.text for turn in request.turns)
    begin, later = request.turns[:2], request.turns[2:]
    said = {"assistant": "You replied:\n\n", "user": "", "system": ""}
    return "\n\n".join([turn.text for turn in begin] + [said[t.role] + t.text for t in later])


def _queried(query: Callable[..., Any]) -> Put:
    async def put(request: JudgeRequest) -> Any:
        return await _made_async(query, flat(request), request.schema)

    return put


def _called(function: Callable[..., Any]) -> Put:
    async def put(request: JudgeRequest) -> Any:
        return await _made_async(function, flat(request))

    return put


def _invoked(ainvoke: Callable[..., Any]) -> Put:
    async def put(request: JudgeRequest) -> Any:
        return await ainvoke([(turn.role, turn.text) for turn in request.turns])

    return put


async def _made_async(function: Callable[..., Any], *arguments: Any) -> Any:
    inner = type(function).__call__
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner):
        return await function(*arguments)
    said = await asyncio.to_thread(function, *arguments)
    return await said if inspect.isawaitable(said) else said
