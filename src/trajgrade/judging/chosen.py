"""Chosen: which judge is meant, by an object, a name, settings, Potato's block or the environment.

What is given as `judge` or `endpoint` counts before Potato's block, that before the environment's
`TRAJGRADE_JUDGE`. None of them is an error that says how to name one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajgrade import registry
from trajgrade.contracts import Judge
from trajgrade.errors import ConfigError
from trajgrade.judging.settings import HOW, JudgeSettings, default_settings, judge_settings


def judges_of(judge: Any = None, *, endpoint: Any = None, config: Any = None) -> list[Judge]:
    """Return the judges that are meant; several are a panel.

    Args:
        judge: A judge, its name (`openai:gpt-5-mini`), its settings, or a list of these.
        endpoint: What answers prompts, in place of a judge: an object with Potato's
            `query(prompt, schema)`, a pydantic-ai model, a LangChain chat model, or a function from
            prompt to text.
        config: Potato's block, or a config that holds it; or what `judge` may be.

    Raises:
        ConfigError: None is meant, or what is given is none.
        UnknownNameError: No such provider is known.
        MissingExtraError: What reaches it is not installed.
    """
    if judge is not None and endpoint is not None:
        raise ConfigError("judge: give a judge or an endpoint, not both")
    given = next((one for one in (judge, endpoint, config) if one is not None), None)
    if isinstance(given, (list, tuple)):
        if not given:
            raise ConfigError("judge: the list is empty")
        return [_made(one, "judge") for one in given]
    return [_made(given, "judge" if judge is not None or config is None else "config")]


def _made(given: Any, where: str) -> Judge:
    if isinstance(given, Judge):
        return given
    if given is None or isinstance(given, (str, Mapping, JudgeSettings)):
        settings = judge_settings(given, where) if given is not None else default_settings()
        if settings is None:
            off = "none is configured" if given is None else f"{where} does not enable one"
            raise ConfigError(f"judge: {off}: {HOW}")
        return settings.judge
    made: Judge = registry.judges.build("injected", {"endpoint": given})
    return made
