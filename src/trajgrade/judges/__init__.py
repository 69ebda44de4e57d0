"""Judges: prompt → reply. One file per way to reach one; `trajgrade.judging` is around them all."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "anthropic": Entry("trajgrade.judges.providers:from_settings", "Anthropic's models"),
    "gemini": Entry("trajgrade.judges.providers:from_settings", "Google's Gemini models"),
    "huggingface": Entry(
        "trajgrade.judges.providers:from_settings", "Models behind the Hugging Face router"
    ),
    "injected": Entry(
        "trajgrade.judges.injected:from_endpoint",
        "An object of yours: query(prompt, schema), a LangChain chat model, a function",
    ),
    "lmstudio": Entry(
        "trajgrade.judges.providers:from_settings", "A model that LM Studio serves on this machine"
    ),
    "ollama": Entry(
        "trajgrade.judges.providers:from_settings", "A model that Ollama serves on this machine"
    ),
    "openai": Entry(
        "trajgrade.judges.providers:from_settings",
        "OpenAI's models, and with base_url any endpoint that speaks as OpenAI does",
    ),
    "openrouter": Entry("trajgrade.judges.providers:from_settings", "Models behind OpenRouter"),
    "pydantic_ai": Entry(
        "trajgrade.judges.providers:from_model", "A model of pydantic-ai that you made"
    ),
    "scripted": Entry(
        "trajgrade.judges.scripted:from_settings",
        "Says what a script says: for tests, docs and dry runs",
    ),
    "vllm": Entry("trajgrade.judges.providers:from_settings", "A model that vLLM serves"),
}
