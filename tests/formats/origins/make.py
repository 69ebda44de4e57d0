"""Make the samples beside this file by running the packages that write them, with scripted models.

    python -m venv /tmp/origins
    /tmp/origins/bin/pip install smolagents mlflow-skinny strands-agents llama-index-core
    MLFLOW_ALLOW_FILE_STORE=true /tmp/origins/bin/python tests/formats/origins/make.py

Left out of what they write: prompts that smolagents pastes into every step, and of MLflow's `info`
what names this machine.
"""

# ruff: noqa: T201
# mypy: ignore-errors

from __future__ import annotations

import json
import sys
from pathlib import Path

QUESTION, ANSWER = "Any trains to Oslo?", "Yes, at 09:14."
HERE = Path(__file__).parent
CODE = ('x = trains("Oslo")\nprint(x)', f'final_answer("{ANSWER}")')


def smolagents(*, code: bool):
    from smolagents import ChatMessage, CodeAgent, Model, ToolCallingAgent, tool
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
    from smolagents.monitoring import TokenUsage

    @tool
    def trains(to: str) -> str:
        """Find trains.

        Args:
            to: Where to.
        """
        return "09:14"

    class Scripted(Model):
        asked = 0

        def generate(self, messages, **options):
            self.asked += 1
            text, calls = "Hm.", None
            if code:
                text = f"<code>\n{CODE[self.asked - 1]}\n</code>"
            else:
                name, arguments = (
                    ("trains", {"to": "Oslo"})
                    if self.asked == 1
                    else ("final_answer", {"answer": ANSWER})
                )
                function = ChatMessageToolCallFunction(name=name, arguments=arguments)
                calls = [
                    ChatMessageToolCall(id=f"c{self.asked}", type="function", function=function)
                ]
            said = ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=calls)
            said.token_usage = TokenUsage(9, 5)
            return said

    kind = CodeAgent if code else ToolCallingAgent
    agent = kind(tools=[trains], model=Scripted(model_id="m"), verbosity_level=0)
    agent.run(QUESTION)
    steps = agent.memory.get_full_steps()
    for step in steps:
        step.pop("model_input_messages", None)
    return steps


def mlflow():
    import mlflow
    from mlflow.entities import SpanType

    mlflow.set_tracking_uri("file:///tmp/origins-mlruns")

    @mlflow.trace(span_type=SpanType.TOOL)
    def trains(to):
        return "09:14"

    @mlflow.trace(span_type=SpanType.CHAT_MODEL)
    def chat(messages):
        usage = {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}
        mlflow.get_current_active_span().set_attribute("mlflow.chat.tokenUsage", usage)
        said = {"role": "assistant", "content": ANSWER}
        if len(messages) == 1:
            function = {"name": "trains", "arguments": '{"to": "Oslo"}'}
            said = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            }
        return {"choices": [{"message": said}]}

    @mlflow.trace(span_type=SpanType.AGENT)
    def agent(question):
        messages = [{"role": "user", "content": question}]
        messages.append(chat(messages)["choices"][0]["message"])
        found = trains(to="Oslo")
        messages.append({"role": "tool", "tool_call_id": "c1", "content": found})
        return chat(messages)["choices"][0]["message"]["content"]

    agent(QUESTION)
    mlflow.flush_trace_async_logging()
    trace = mlflow.get_trace(mlflow.get_last_active_trace_id()).to_dict()
    kept = ("trace_id", "state", "request_time", "execution_duration_ms")
    return {**trace, "info": {key: trace["info"][key] for key in kept}}


def strands():
    from strands import Agent, tool
    from strands.models import Model

    @tool
    def trains(to: str) -> str:
        """Find trains."""
        return "09:14"

    class Scripted(Model):
        asked = 0

        def update_config(self, **options): ...

        def get_config(self):
            return {}

        async def structured_output(self, *args, **options):
            for never in ():
                yield never

        async def stream(self, messages, *args, **options):
            self.asked += 1
            use = {"toolUse": {"name": "trains", "toolUseId": "c1"}} if self.asked == 1 else {}
            delta = {"toolUse": {"input": '{"to": "Oslo"}'}} if use else {"text": ANSWER}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "tool_use" if use else "end_turn"}}
            usage = {"inputTokens": 9, "outputTokens": 5, "totalTokens": 14}
            yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    agent = Agent(model=Scripted(), tools=[trains], callback_handler=None)
    agent(QUESTION)
    return agent.messages


def llama_index(*, older: bool):
    import asyncio

    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
    from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection
    from llama_index.core.memory import ChatMemoryBuffer

    def trains(to: str) -> str:
        """Find trains."""
        return "09:14"

    function = {"name": "trains", "arguments": '{"to": "Oslo"}'}
    asks = (
        ChatMessage(
            role="assistant",
            content=None,
            additional_kwargs={
                "tool_calls": [{"id": "c1", "type": "function", "function": function}]
            },
        )
        if older
        else ChatMessage(
            role="assistant",
            blocks=[
                TextBlock(text="Hm."),
                ToolCallBlock(tool_call_id="c1", tool_name="trains", tool_kwargs={"to": "Oslo"}),
            ],
        )
    )

    class Scripted(FunctionCallingLLM):
        asked: int = 0

        @property
        def metadata(self):
            return LLMMetadata(is_function_calling_model=True, model_name="m")

        def _prepare_chat_with_tools(self, tools, *args, **options):
            return {"messages": []}

        def get_tool_calls_from_response(self, response, *args, **options):
            if response.message is not asks:
                return []
            return [ToolSelection(tool_id="c1", tool_name="trains", tool_kwargs={"to": "Oslo"})]

        def chat(self, messages, **options):
            self.asked += 1
            said = asks if self.asked == 1 else ChatMessage(role="assistant", content=ANSWER)
            return ChatResponse(message=said)

        async def achat(self, messages, **options):
            return self.chat(messages)

        def never(self, *args, **options):
            raise AssertionError

        stream_chat = complete = stream_complete = never
        astream_chat = acomplete = astream_complete = never

    async def run():
        memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
        agent = FunctionAgent(tools=[trains], llm=Scripted(), streaming=False)
        await agent.run(QUESTION, memory=memory)
        return [message.model_dump(mode="json") for message in memory.get_all()]

    return asyncio.run(run())


MADE = {
    "smolagents_tools": lambda: smolagents(code=False),
    "smolagents_code": lambda: smolagents(code=True),
    "mlflow_trace": mlflow,
    "strands_messages": strands,
    "llama_index_messages": lambda: llama_index(older=False),
    "llama_index_older": lambda: llama_index(older=True),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MADE:
        make = MADE[name]
        HERE.joinpath(f"{name}.json").write_text(json.dumps(make(), indent=1) + "\n")
        print(name)
