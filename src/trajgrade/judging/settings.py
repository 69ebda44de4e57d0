"""JudgeSettings: which judge, and how it is asked, as a record; and every way to write it.

There are two ways with one meaning. The short form is a text, `openai:gpt-5-mini`, or an object
whose keys are those of the record. Potato's is `ai_support: {enabled, endpoint_type, ai_config}`,
with `judge_alignment: {ai_support: …}` before it where both are there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from trajgrade import registry
from trajgrade.contracts import Judge
from trajgrade.errors import ConfigError, TrajgradeError, shorten, unknown
from trajgrade.judging.redaction import Redaction
from trajgrade.judging.secret import Secret

VARIABLE = "TRAJGRADE_JUDGE"
HOW = (
    f"name one: judge: openai:gpt-5-mini in the config, {VARIABLE}=openai:gpt-5-mini in the "
    "environment, or endpoint= with an object of yours"
)
Structured = Literal["auto", "schema", "tool", "prompt"]
# What Potato's `ai_config` also holds, which is about what its annotators are shown.
_POTATO_ONLY = frozenset(("include", "ai_assistant_text", "hint", "keyword", "rationale"))

_AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
_Above0 = Annotated[float, msgspec.Meta(gt=0)]


class Prices(TypedDict):
    """US dollars for a million tokens."""

    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a run may spend on its judge.

    Attributes:
        usd: US dollars.
        tokens: Tokens, read and written.
        requests: Requests.
    """

    usd: _Above0 | None = None
    tokens: _AtLeastOne | None = None
    requests: _AtLeastOne | None = None


class Redact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is taken out of every text before it leaves the machine.

    Attributes:
        kinds: Built-in kinds.
        patterns: Regular expressions, by what replaces them.
    """

    kinds: list[Literal["email", "phone", "key"]] = []
    patterns: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True, repr=False)
class JudgeSettings:
    """Which judge, and how it is asked.

    Attributes:
        model: `provider:model`, or the model's name where `provider` or `base_url` is given.
        provider: Which provider, as a registered judge is named.
        base_url: Where an endpoint is that speaks as OpenAI does, or the provider's own elsewhere.
        api_key: The key, best as `${NAME}` of an environment variable; by default the provider's
            own variable.
        temperature: 0 for the likeliest reply; by default the provider's.
        max_tokens: How long a reply may be, the model's thinking included.
        timeout: Seconds for one request.
        retries: How often a request that failed for a while is made again.
        max_concurrency: How many requests are under way at once.
        requests_per_minute: How many requests are begun in any minute.
        tokens_per_minute: How many tokens are read and written in any minute.
        structured: How a reply is kept to its JSON Schema: by `schema`, by a `tool` call, by the
            `prompt` alone; `auto` takes the first that the endpoint has.
        cache: Whether replies are kept for later runs; or the file to keep them in.
        budget: US dollars that may be spent, or `{usd, tokens, requests}`.
        prices: US dollars for a million tokens, `{input, output}`, in place of the known price.
        redact: `email`, `phone`, `key`, or `{kinds, patterns}`: what is taken out of every text.
        extra_body: What else the request holds, for options that one endpoint has.
        script: What a scripted judge says.
    """

    model: str = ""
    provider: str = ""
    base_url: str | None = None
    api_key: Secret | None = None
    temperature: float | None = None
    max_tokens: int = 4096
    timeout: float = 120.0
    retries: int = 5
    max_concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    structured: Structured = "auto"
    cache: bool | str = True
    budget: Budget = field(default_factory=Budget)
    prices: Prices | None = None
    redact: Redact = field(default_factory=Redact)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    script: Any = None

    @property
    def name(self) -> str:
        """Provider and model, as results call the judge."""
        return f"{self.provider}:{self.model}" if self.model else self.provider

    @cached_property
    def judge(self) -> Judge:
        """The judge, made at first use; whoever shares these settings shares its limits.

        Raises:
            UnknownNameError: There is no such provider.
            MissingExtraError: What reaches the provider is not installed.
            ConfigError: A key is missing.
        """
        made: Judge = registry.judges.build(self.provider, {"settings": self})
        return made

    @cached_property
    def redaction(self) -> Redaction | None:
        """What is done to every text; None where nothing is."""
        if not self.redact.kinds and not self.redact.patterns:
            return None
        return Redaction(tuple(self.redact.kinds), self.redact.patterns)

    def __repr__(self) -> str:
        """Write what is not the default."""
        given = (
            f"{one.name}={value!r}"
            for one in fields(self)
            if (value := getattr(self, one.name)) != _DEFAULTS[one.name]
        )
        return f"JudgeSettings({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the judge, whose connections cannot be pickled."""
        made = {"judge", "redaction"}
        return {name: value for name, value in self.__dict__.items() if name not in made}


_DEFAULTS = {one.name: getattr(JudgeSettings(), one.name) for one in fields(JudgeSettings)}

# How each is written; `JudgeSettings` says what they mean.
WRITTEN: dict[str, Any] = {
    "model": str,
    "provider": str,
    "base_url": str | None,
    "api_key": str | None,
    "temperature": Annotated[float, msgspec.Meta(ge=0)] | None,
    "max_tokens": _AtLeastOne,
    "timeout": _Above0,
    "retries": Annotated[int, msgspec.Meta(ge=0)],
    "max_concurrency": _AtLeastOne,
    "requests_per_minute": _Above0 | None,
    "tokens_per_minute": _Above0 | None,
    "structured": Structured,
    "cache": bool | str,
    "budget": _Above0 | Budget | None,
    "prices": Prices | None,
    "redact": list[Literal["email", "phone", "key"]] | Redact,
    "extra_body": dict[str, Any],
    "script": Any,
}


def judge_settings(written: Any, where: str = "judge") -> JudgeSettings | None:
    """Return settings from any way to write them; None where Potato's block is not enabled.

    Args:
        written: A text, an object, Potato's block, or a config that holds one of them.
        where: What faults begin with.

    Raises:
        ConfigError: Anything is wrong; holds all faults, each with its path.
    """
    if isinstance(written, JudgeSettings):
        return written
    if isinstance(written, str):
        return _made({"model": written}, where)
    if not isinstance(written, Mapping):
        raise ConfigError(
            f"{where}: expected `provider:model` or an object, got {shorten(written)}"
        )
    for path in (("judge_alignment", "ai_support"), ("ai_support",), ("judge",)):
        found: Any = written
        for step in path:
            found = found.get(step) if isinstance(found, Mapping) else None
        if found is not None:
            inner = ".".join(part for part in (where, *path) if part)
            return judge_settings(found, inner) if path == ("judge",) else _of_potato(found, inner)
    if {"endpoint_type", "ai_config"} & {*written}:
        return _of_potato(written, where)
    return _made(written, where)


def default_settings() -> JudgeSettings | None:
    """Return the settings that the environment names; None where it names none."""
    named = os.environ.get(VARIABLE, "").strip()
    return _made({"model": named}, VARIABLE) if named else None


def _of_potato(block: Any, where: str) -> JudgeSettings | None:
    if not isinstance(block, Mapping):
        raise ConfigError(f"{where}: expected an object, got {shorten(block)}")
    keys = ("enabled", "endpoint_type", "ai_config")
    faults = [
        f"{where}.{key}: {unknown('key', key, [*keys, *_POTATO_ONLY])}"
        for key in block
        if key not in keys and key not in _POTATO_ONLY and key != "cache_config"
    ]
    inner = block.get("ai_config") or {}
    if not isinstance(inner, Mapping):
        faults.append(f"{where}.ai_config: expected an object, got {shorten(inner)}")
    if not isinstance(block.get("enabled", True), bool):
        faults.append(f"{where}.enabled: expected true or false, got {shorten(block['enabled'])}")
    if faults:
        raise ConfigError(*faults)
    if not block.get("enabled", True):
        return None
    given = {key: value for key, value in inner.items() if key not in _POTATO_ONLY}
    kind = block.get("endpoint_type")
    return _made({**given, "provider": kind} if kind else given, f"{where}.ai_config")


def _made(written: Mapping[str, Any], where: str) -> JudgeSettings:
    given = {key: value for key, value in written.items() if value is not None}
    if "script" in given and not given.get("model"):
        given.setdefault("provider", "scripted")
    provider, model = given.get("provider", ""), given.get("model", "")
    faults = [*_faults(given, where)]
    if not faults:
        provider, model = _split(provider, model, bool(given.get("base_url")))
        try:
            faults += _of_provider(provider, model, where)
        except TrajgradeError as wrong:
            faults.append(f"{where}: {wrong}")
    if faults:
        raise ConfigError(*faults)
    kept: dict[str, Any] = {**given, "provider": provider, "model": model}
    if "api_key" in kept:
        kept["api_key"] = Secret(kept["api_key"])
    for name in ("budget", "redact"):
        if name in kept:
            kept[name] = msgspec.convert(kept[name], WRITTEN[name])
    if isinstance(kept.get("budget"), (int, float)):
        kept["budget"] = Budget(usd=kept["budget"])
    if isinstance(kept.get("redact"), list):
        kept["redact"] = Redact(kinds=kept["redact"])
    made = JudgeSettings(**kept)
    try:
        _ = made.redaction
    except ConfigError as wrong:
        raise ConfigError(*(f"{where}.{fault}" for fault in wrong.faults)) from None
    return made


def _faults(given: Mapping[str, Any], where: str) -> Iterator[str]:
    for key, value in given.items():
        if key not in WRITTEN:
            yield f"{where}.{key}: {unknown('key', key, [*WRITTEN])}"
            continue
        try:
            msgspec.convert(value, WRITTEN[key])
        except msgspec.ValidationError as wrong:
            message, _, place = str(wrong).partition(" - at `$")
            shown = "" if key == "api_key" else f", got {shorten(value)}"
            said = f"{message[:1].lower()}{message[1:]}{shown}"
            yield f"{where}.{key}{place.removesuffix('`')}: {said}"
    if not given.get("model") and given.get("provider") != "scripted":
        yield f"{where}.model: is missing: `provider:model`, such as openai:gpt-5-mini"


def _split(provider: str, model: str, elsewhere: bool) -> tuple[str, str]:
    """Return provider and model: from `provider:model`, or as given apart.

    A name of a model may hold a colon of its own (`qwen3:8b`), so that only a known provider, or
    any text where neither provider nor address is given, is taken off.
    """
    if provider:
        return _ALIASES.get(provider, provider), model
    head, colon, tail = model.partition(":")
    head = _ALIASES.get(head, head)
    if colon and (head in registry.judges.entries or not elsewhere):
        return head, tail
    if elsewhere:
        return "openai", model
    return (head, "") if head == "scripted" else ("", model)


_ALIASES = {
    "google": "gemini",
    "google-gla": "gemini",
    "hf": "huggingface",
    "lm_studio": "lmstudio",
}


def _of_provider(provider: str, model: str, where: str) -> Iterator[str]:
    known = [*registry.judges]
    if not provider:
        yield (
            f"{where}.model: {model!r} names no provider: write provider:{model}, "
            f"the provider being one of {', '.join(known)}; or give base_url"
        )
    elif provider not in registry.judges.entries:
        yield f"{where}.model: {unknown('judge provider', provider, known)}"
    elif not model and provider != "scripted":
        yield f"{where}.model: no model after {provider!r}"


def settings_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON Schema of what can be written for a judge, and what it refers to."""
    record = msgspec.defstruct(
        "Judge",
        [(name, hint if hint is Any else hint | None, None) for name, hint in WRITTEN.items()],
        forbid_unknown_fields=True,
    )
    (root,), parts = msgspec.json.schema_components([record], ref_template="#/$defs/{name}")
    return {"anyOf": [{"type": "string"}, root]}, parts
