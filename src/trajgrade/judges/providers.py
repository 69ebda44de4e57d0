"""Providers: models behind an API, through pydantic-ai's direct requests, without its agent loop.

OpenAI and every endpoint that speaks as OpenAI does (vLLM, Ollama, OpenRouter, LM Studio, the
Hugging Face router), Anthropic and Gemini. A reply is kept to its JSON Schema by the endpoint where
it can do that, else by a tool call, else by the prompt alone; what an endpoint refuses is not tried
again. Retries are not made here, nor by the provider's own client.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from itertools import cycle
from typing import Any, NamedTuple

from trajgrade.contracts import Judge, JudgeReply, JudgeRequest
from trajgrade.errors import ConfigError, JudgeError, MissingExtraError, UnreachableJudgeError
from trajgrade.judging.guarded import GuardedJudge
from trajgrade.judging.redaction import Redaction
from trajgrade.judging.settings import JudgeSettings, Structured

try:
    import httpx2
    from pydantic_ai import direct, exceptions, messages
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition
except ModuleNotFoundError as missing:
    raise MissingExtraError("a judge behind an API", "pydantic-ai-slim", "judge") from missing

_AGAIN = frozenset((408, 409, 425, 429))
_TOO_NEW = frozenset((400, 404, 415, 422, 500, 501))  # 500 is what llama-cpp-python says
_NAME = "verdict"
_LADDER: tuple[Structured, ...] = ("schema", "tool", "prompt")
_ADVICE = {
    401: "check its API key",
    403: "check its API key, and what that may use",
    404: "check model and base_url",
    413: "the prompt is too long for it: lower the evaluator's max_tokens of the trajectory",
}
_BODY = 500
_hide = Redaction(("key",))

# How long it may take until the first byte is counted by the judge's own timeout.
_NO_LIMIT = httpx2.Timeout(None)
_CONNECTIONS = httpx2.Limits(max_connections=None, max_keepalive_connections=256)

_POOLS = 16

_Made = Callable[[JudgeSettings, str, Any], Model[Any]]


class _Provider(NamedTuple):
    """How a provider is reached.

    Attributes:
        make: Makes the model from settings, key and HTTP client.
        client: The package of its client.
        variables: The environment variables that may hold its key.
        keyless: Whether it may be asked without a key.
        base_url: Where it is, if not where its client looks.
    """

    make: _Made
    client: str
    variables: tuple[str, ...]
    keyless: bool = False
    base_url: str | None = None


def _openai(settings: JudgeSettings, key: str, client: Any) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    base_url = settings.base_url or _PROVIDERS[settings.provider].base_url
    made = AsyncOpenAI(api_key=key or "none", base_url=base_url, max_retries=0, http_client=client)
    return OpenAIChatModel(settings.model, provider=OpenAIProvider(openai_client=made))


def _anthropic(settings: JudgeSettings, key: str, client: Any) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    made = AsyncAnthropic(
        api_key=key, base_url=settings.base_url, max_retries=0, http_client=client
    )
    return AnthropicModel(settings.model, provider=AnthropicProvider(anthropic_client=made))


def _gemini(settings: JudgeSettings, key: str, client: Any) -> Model[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    made = GoogleProvider(api_key=key, base_url=settings.base_url, http_client=client)
    return GoogleModel(settings.model, provider=made)


_PROVIDERS: dict[str, _Provider] = {
    "anthropic": _Provider(_anthropic, "anthropic", ("ANTHROPIC_API_KEY",)),
    "gemini": _Provider(_gemini, "google.genai", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "huggingface": _Provider(
        _openai, "openai", ("HF_TOKEN",), base_url="https://router.huggingface.co/v1"
    ),
    "lmstudio": _Provider(_openai, "openai", (), keyless=True, base_url="http://localhost:1234/v1"),
    "ollama": _Provider(
        _openai, "openai", ("OLLAMA_API_KEY",), keyless=True, base_url="http://localhost:11434/v1"
    ),
    "openai": _Provider(_openai, "openai", ("OPENAI_API_KEY",)),
    "openrouter": _Provider(
        _openai, "openai", ("OPENROUTER_API_KEY",), base_url="https://openrouter.ai/api/v1"
    ),
    "vllm": _Provider(_openai, "openai", ("VLLM_API_KEY",), True, "http://localhost:8000/v1"),
}


def from_settings(settings: JudgeSettings) -> Judge:
    """Return the judge that settings describe, within their limits.

    Raises:
        ConfigError: Its key is missing.
        MissingExtraError: The provider's package is not installed.
    """
    return GuardedJudge(ProviderJudge(settings), settings)


def from_model(model: Any) -> Judge:
    """Return a judge that asks a pydantic-ai model, within the usual limits."""
    name = str(getattr(model, "model_name", type(model).__name__))
    settings = JudgeSettings(model=name, provider="pydantic_ai", cache=False)
    return GuardedJudge(ProviderJudge(settings, model), settings)


class ProviderJudge:
    """Asks a model once for each request.

    Args:
        settings: Which model, and how.
        model: The model, where it was made elsewhere.
    """

    def __init__(self, settings: JudgeSettings, model: Model[Any] | None = None) -> None:
        self.name = settings.name
        self._settings = settings
        self._model = model
        if model is None:
            _import(settings.provider)
        self._key = "" if model is not None else _key_of(settings)
        fixed = settings.structured != "auto"
        self._mode: Structured | None = settings.structured if fixed else None
        self._clients: dict[asyncio.AbstractEventLoop, tuple[Model[Any], object]] = {}
        compatible = settings.provider not in {"openai", "anthropic", "gemini", "pydantic_ai"}
        self._dialect = compatible or (settings.provider == "openai" and bool(settings.base_url))
        self._parameters = self._model_settings()

    def _model_settings(self) -> ModelSettings:
        settings = self._settings
        more = dict(settings.extra_body)
        given = ModelSettings()
        if self._dialect:  # `max_completion_tokens`, which OpenAI asks for, is not known everywhere
            more = {"max_tokens": settings.max_tokens, **more}
        else:
            given["max_tokens"] = settings.max_tokens
        if settings.temperature is not None:
            given["temperature"] = settings.temperature
        if more:
            given["extra_body"] = more
        return given

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask the model once; more often only while it is found out what the endpoint can do.

        Raises:
            UnreachableJudgeError: It cannot be reached for now.
            JudgeError: Its provider refuses the request.
        """
        model = await self._of_loop()
        modes = self._modes(model, request)
        for place, mode in enumerate(modes):
            try:
                response = await direct.model_request(
                    model,
                    _said(request),
                    model_settings=self._parameters,
                    model_request_parameters=_parameters(request, mode),
                    instrument=False,
                )
            except exceptions.ModelHTTPError as refused:
                if refused.status_code in _TOO_NEW and place + 1 < len(modes) and _is_form(refused):
                    self._mode = modes[place + 1]
                    continue
                raise self._failure(refused) from refused
            except (exceptions.AgentRunError, exceptions.UserError, httpx2.HTTPError) as broken:
                raise self._failure(broken) from broken
            return self._reply(response)
        raise JudgeError(f"{self.name} takes neither a JSON Schema nor a tool")

    def _modes(self, model: Model[Any], request: JudgeRequest) -> tuple[Structured, ...]:
        """Return the ways to keep the reply to its schema, the one to be tried first in front."""
        if request.schema is None:
            return ("prompt",)
        mode: Structured = self._mode or _able(model)
        self._mode = mode
        if self._settings.structured != "auto":
            return (mode,)
        return _LADDER[_LADDER.index(mode) :]

    async def ready(self) -> None:
        """Make what requests need: it takes a while, and is made once for each event loop."""
        await self._of_loop()

    async def _of_loop(self) -> Model[Any]:
        """Return the model with connections of the running event loop, which closes them."""
        if self._model is not None:
            return self._model
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            for other in [other for other in self._clients if other.is_closed()]:
                del self._clients[other]
            # An asynchronous generator that a loop began is ended by it when it shuts down.
            lasting = _client()
            client = await anext(lasting)
            if loop in self._clients:
                await lasting.aclose()
            else:
                make = _PROVIDERS[self._settings.provider].make
                self._clients[loop] = make(self._settings, self._key, client), lasting
        return self._clients[loop][0]

    def _reply(self, response: messages.ModelResponse) -> JudgeReply:
        texts = [part.content for part in response.parts if isinstance(part, messages.TextPart)]
        calls = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
        text = calls[0].args_as_json_str() if len(calls) == 1 else "".join(texts)
        usage = response.usage
        known = bool(usage.input_tokens or usage.output_tokens)
        return JudgeReply(
            text=text,
            model=response.model_name or self._settings.model,
            tokens_in=usage.input_tokens if known else None,
            tokens_out=usage.output_tokens if known else None,
            cost=self._cost(response) if known else None,
            truncated=response.finish_reason == "length",
            refused=_refusal(response, text),
        )

    def _cost(self, response: messages.ModelResponse) -> float | None:
        usage, prices = response.usage, self._settings.prices
        if prices is not None:
            spent = usage.input_tokens * prices["input"] + usage.output_tokens * prices["output"]
            return spent / 1_000_000
        if self._settings.provider == "openai" and self._settings.base_url:
            return None  # whose model it is, only its operator knows
        try:
            return float(response.cost().total_price)
        except (LookupError, ValueError, AssertionError):
            return None

    def _failure(self, broken: Exception) -> JudgeError:
        """Return what went wrong as an error of ours, without what is secret in it."""
        if isinstance(broken, exceptions.ModelHTTPError):
            status, body = broken.status_code, broken.body
            advice = _ADVICE.get(status)
            said = f"{self.name}: HTTP {status}" + (f", {advice}" if advice else "")
            said += f": {self._hidden(body)}" if body else ""
            spent = isinstance(broken, exceptions.ModelQuotaExceededError)
            if status == 429 and not spent:
                said = f"{self.name}: rate limit (HTTP 429): {self._hidden(body)}"
            if (status in _AGAIN or status >= 500) and not spent:
                after = broken.retry_after
                usable = after is not None and math.isfinite(after) and after >= 0
                return UnreachableJudgeError(said, after if usable else None)
            return JudgeError(said)
        said = f"{self.name}: {self._hidden(broken)}"
        if isinstance(broken, exceptions.UserError):
            return JudgeError(said)
        return UnreachableJudgeError(said)

    def _hidden(self, said: object) -> str:
        text = str(said)
        text = text.replace(self._key, "***") if self._key else text
        return _hide(" ".join(text.split()))[:_BODY]


def _import(provider: str) -> None:
    """Import the provider's client, which takes longer than a request may.

    Raises:
        MissingExtraError: It is not installed.
    """
    package = _PROVIDERS[provider].client
    try:
        import_module(package)
        import_module(f"pydantic_ai.models.{package.partition('.')[0]}")
    except ImportError as missing:
        raise MissingExtraError(f"the judge {provider}", package, "judge") from missing


def _key_of(settings: JudgeSettings) -> str:
    import os

    provider = _PROVIDERS[settings.provider]
    if settings.api_key is not None:
        return settings.api_key.reveal()
    found = next((key for name in provider.variables if (key := os.environ.get(name))), "")
    if not found and not provider.keyless and not settings.base_url:
        names = " or ".join(provider.variables)
        raise ConfigError(
            f"judge: {settings.name} needs a key: set {names}, or `api_key: ${{NAME}}`"
        )
    return found or "none"


class _Pools(httpx2.AsyncBaseTransport):
    """Several pools of connections, used in turn: each request looks through one of them whole."""

    def __init__(self) -> None:
        secured = httpx2.create_ssl_context()  # each pool's own would take as long as a verdict
        self._pools = [
            httpx2.AsyncHTTPTransport(verify=secured, limits=_CONNECTIONS) for _ in range(_POOLS)
        ]
        self._turns = cycle(self._pools)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await next(self._turns).handle_async_request(request)

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()


async def _client() -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with httpx2.AsyncClient(
        timeout=_NO_LIMIT, transport=_Pools(), follow_redirects=True
    ) as client:
        yield client


def _said(request: JudgeRequest) -> list[messages.ModelMessage]:
    found: list[messages.ModelMessage] = []
    for turn in request.turns:
        if turn.role == "assistant":
            found.append(messages.ModelResponse(parts=[messages.TextPart(turn.text)]))
            continue
        kind = messages.SystemPromptPart if turn.role == "system" else messages.UserPromptPart
        part = kind(turn.text)
        if found and isinstance(found[-1], messages.ModelRequest):
            found[-1] = messages.ModelRequest(parts=[*found[-1].parts, part])
        else:
            found.append(messages.ModelRequest(parts=[part]))
    return found


def _parameters(request: JudgeRequest, mode: Structured) -> ModelRequestParameters:
    if request.schema is None or mode == "prompt":
        return ModelRequestParameters()
    if mode == "tool":
        tool = ToolDefinition(
            name=_NAME,
            description="Give your reply.",
            parameters_json_schema=request.schema,
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )
    wanted = OutputObjectDefinition(json_schema=request.schema, name=_NAME, strict=True)
    return ModelRequestParameters(
        output_mode="native", output_object=wanted, allow_text_output=True
    )


def _able(model: Model[Any]) -> Structured:
    """Return the first way to keep a reply to its schema that a model is known to have."""
    profile: Any = model.profile
    if profile.get("supports_json_schema_output", False):
        return "schema"
    return "tool" if profile.get("supports_tools", True) else "prompt"


def _is_form(refused: exceptions.ModelHTTPError) -> bool:
    """Whether a refusal is about how the reply is kept to its schema."""
    said = str(refused.body).lower()
    words = ["response_format", "json_schema", "output_format", "output_config", "tool_choice"]
    if refused.status_code != 500:
        words += ["schema", "tool"]
    return any(word in said for word in words)


def _refusal(response: messages.ModelResponse, text: str) -> str:
    if response.finish_reason != "content_filter":
        return ""
    details = response.provider_details or {}
    return str(details.get("refusal") or text or "the provider's content filter stopped it")
