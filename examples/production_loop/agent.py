"""A scripted support agent, instrumented with OpenTelemetry as any agent may be.

    python agent.py      handles one day's requests, and exports a trace of each

Its release 1 looks an order up before it refunds anything. Release 2 was to be faster, and does not
any more: the regression that `loop.py` finds. `AGENT_RELEASE` chooses; production has 2.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

REQUESTS = (
    "Where is order 1001?",
    "Refund order 1002, please.",
    "Cancel order 1003.",
    "I want my money back for order 1004!",
    "Where is order 1005?",
    "Refund order 1006.",
)
PRICES = {"1002": 30, "1004": 12, "1006": 99}

Call = tuple[str, dict[str, Any], str]


def calls(prompt: str) -> Iterator[Call]:
    """Yield the tools that the agent calls for a request, with what they give back."""
    (order,) = re.findall(r"\d+", prompt)
    wants_money = re.search("refund|money", prompt, re.IGNORECASE) is not None
    if not wants_money or os.environ.get("AGENT_RELEASE", "2") == "1":
        yield "find_order", {"order": order}, "found"
    if wants_money:
        yield "refund", {"order": order, "amount": PRICES[order]}, "refunded"
    elif "Cancel" in prompt:
        yield "cancel", {"order": order}, "cancelled"


def answer(prompt: str) -> list[dict[str, Any]]:
    """Answer a request; return the conversation. This is what `trajgrade run` calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number, (name, args, result) in enumerate(calls(prompt)):
        call = {"name": name, "arguments": json.dumps(args)}
        asked = [{"id": str(number), "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": result})
    return [*messages, {"role": "assistant", "content": "Done."}]


def handle(prompt: str, tracer: Any) -> None:
    """Answer a request in production: the same calls, each in a span."""
    with tracer.start_as_current_span("invoke_agent support") as agent:
        agent.set_attribute("gen_ai.operation.name", "invoke_agent")
        agent.set_attribute("gen_ai.agent.name", "support")
        asked = [{"role": "user", "parts": [{"type": "text", "content": prompt}]}]
        agent.set_attribute("gen_ai.input.messages", json.dumps(asked))
        for name, args, result in calls(prompt):
            with tracer.start_as_current_span(f"execute_tool {name}") as tool:
                tool.set_attribute("gen_ai.operation.name", "execute_tool")
                tool.set_attribute("gen_ai.tool.name", name)
                tool.set_attribute("gen_ai.tool.call.arguments", json.dumps(args))
                tool.set_attribute("gen_ai.tool.call.result", result)
        said = [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]
        agent.set_attribute("gen_ai.output.messages", json.dumps(said))


def main() -> None:
    """Handle the requests, and export their traces to `OTEL_EXPORTER_OTLP_ENDPOINT`."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource({"service.name": "support-agent"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    for prompt in REQUESTS:
        handle(prompt, provider.get_tracer("support"))
    provider.shutdown()
    sys.stdout.write(f"the agent has handled {len(REQUESTS)} requests\n")


if __name__ == "__main__":
    main()
