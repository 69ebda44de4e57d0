"""OpenTelemetry spans as OTLP JSON, and what all readers of spans have in common."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.formats.run_samples import ASKS, NOON, OTLP, QUESTION, RUNS, SAYS, TEXT, otlp
from trajgrade import detection, read_traces
from trajgrade.errors import MalformedTraceError, TraceError
from trajgrade.trajectory import ToolCall, Trajectory


def read(*spans: tuple[str, int, dict[str, Any]]) -> Trajectory:
    return Trajectory.from_any(otlp(*spans))


def calls(*spans: tuple[str, int, dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for call in read(*spans).tool_calls]


def tool(name: str, **attributes: Any) -> dict[str, Any]:
    given = {f"gen_ai.tool.{key}": value for key, value in attributes.items()}
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **given}


def chat(*parts: Any, **attributes: Any) -> dict[str, Any]:
    messages = json.dumps([{"role": "assistant", "parts": list(parts)}])
    return {"gen_ai.operation.name": "chat", "gen_ai.output.messages": messages, **attributes}


def asked(name: str, key: str | None, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": key, "name": name, **fields}


def inside(document: dict[str, Any], **parents: str) -> dict[str, Any]:
    """Return the document with the spans put inside others."""
    made = copy.deepcopy(document)
    for span in made["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        if span["spanId"] in parents:
            span["parentSpanId"] = parents[span["spanId"]]
    return made


def test_every_part_of_a_call():
    (call,) = Trajectory.from_any(OTLP).tool_calls
    assert (call.id, call.result, call.status, call.turn) == ("call_1", "09:14", "unknown", 0)
    assert call.started_at is not None
    assert call.ended_at is not None
    assert call.started_at.timestamp() == NOON + 2


def test_a_call_that_the_model_asked_for_and_a_span_ran_counts_once_however_spans_are_ordered():
    spans = [("a", 1, ASKS), ("b", 2, RUNS), ("c", 3, SAYS)]
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        assert calls(*(spans[at] for at in order)) == [("trains", {"to": "Oslo"})]


def test_parallel_spans_that_began_together_stand_as_the_model_asked():
    model = chat(asked("f", "1", arguments={}), asked("g", "2", arguments="{}"))
    g, f = tool("g", **{"call.id": "2"}), tool("f", **{"call.id": "1"})
    assert [name for name, _ in calls(("g", 2, g), ("f", 2, f), ("m", 1, model))] == ["f", "g"]


def test_arguments_that_nobody_recorded_are_unknown_and_not_empty():
    trajectory = read(("a", 1, tool("f")), ("b", 2, chat(asked("g", "1"))))
    assert [(c.name, c.args, c.args_state) for c in trajectory.tool_calls] == [
        ("f", None, "unknown"),
        ("g", None, "unknown"),
    ]


def test_arguments_that_only_the_span_recorded_are_known():
    span = tool("f", **{"call.id": "1", "call.arguments": '{"a": 1}'})
    assert calls(("m", 1, chat(asked("f", "1"))), ("t", 2, span)) == [("f", {"a": 1})]


def test_a_tool_that_was_called_twice_is_two_calls():
    model = chat(asked("f", "1", arguments={"a": 1}), asked("f", "2", arguments={"a": 1}))
    spans = [tool("f", **{"call.id": key}) for key in ("1", "2")]
    assert len(calls(("m", 1, model), ("x", 2, spans[0]), ("y", 3, spans[1]))) == 2


def test_without_ids_a_span_belongs_to_the_call_of_its_arguments():
    model = chat(asked("f", None, arguments={"a": 1}), asked("f", None, arguments={"a": 2}))
    spans = [
        tool("f", **{"call.arguments": f'{{"a": {a}}}', "call.result": f"r{a}"}) for a in (2, 1)
    ]
    trajectory = read(("m", 1, model), ("x", 2, spans[0]), ("y", 3, spans[1]))
    assert [(c.args, c.result) for c in trajectory.tool_calls] == [
        ({"a": 1}, "r1"),
        ({"a": 2}, "r2"),
    ]


def test_tools_that_nobody_asked_for_stand_where_they_began():
    spans = [("b", 2, tool("b")), ("m", 3, chat(asked("m", "1"))), ("a", 1, tool("a")),
             ("z", 4, tool("z"))]  # fmt: skip
    assert [name for name, _ in calls(*spans)] == ["a", "b", "m", "z"]


def test_b058_tools_that_a_model_may_call_are_no_calls():
    definitions = {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": '[{"name": "f"}]'}
    functions = {"llm.request.type": "chat", "llm.request.functions.0.name": "f"}
    listed = {"gen_ai.tool.name": '[{"name": "f"}]', "gen_ai.operation.name": "chat"}
    spans = [(str(at), at + 1, held) for at, held in enumerate((definitions, functions, listed))]
    assert calls(*spans, ("t", 9, tool("g"))) == [("g", None)]


def test_b063_what_a_span_is_called_is_no_evidence_and_the_error_says_what_was_seen():
    with pytest.raises(MalformedTraceError, match="span"):
        read(("a", 1, {"http.method": "POST"}))


def test_b055_the_names_of_the_current_convention_are_read():
    trajectory = read(
        ("a", 1, {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10}),
        ("b", 2, {"gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": '{"q": "a"}'}),
    )
    assert [(c.name, c.args) for c in trajectory.tool_calls] == [("search", {"q": "a"})]


def test_b069_what_an_agent_run_as_a_tool_calls_is_inside_its_call():
    document = otlp(
        ("r", 1, chat(asked("math_agent", "1", arguments={}))),
        ("t", 2, tool("math_agent", **{"call.id": "1"})),
        ("m", 3, chat(asked("add", "2", arguments={"a": 1}))),
        ("u", 4, tool("add", **{"call.id": "2"})),
    )
    (outer,) = Trajectory.from_any(inside(document, m="t", u="t")).tool_calls
    assert (outer.name, [(c.name, c.args) for c in outer.children]) == (
        "math_agent",
        [("add", {"a": 1})],
    )


def test_agents_inside_agents_each_have_their_own_calls():
    def agent(name: str) -> dict[str, Any]:
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}

    document = otlp(
        ("root", 1, agent("root")),
        ("c0", 2, chat(asked("planner", "1", arguments={}), asked("clock", "9", arguments={}))),
        ("t1", 3, tool("planner", **{"call.id": "1"})),
        ("plan", 4, agent("planner")),
        ("c1", 5, chat(asked("guide", "2", arguments={"n": 1}))),
        ("t2", 6, tool("guide", **{"call.id": "2"})),
        ("guide", 7, agent("guide")),
        ("c2", 8, chat(asked("trains", "3", arguments={"to": "Oslo"}))),
        ("t3", 9, tool("trains", **{"call.id": "3"})),
        ("t9", 10, tool("clock", **{"call.id": "9"})),
    )
    within = {"c0": "root", "t1": "root", "t9": "root", "plan": "t1", "c1": "plan", "t2": "plan",
              "guide": "t2", "c2": "guide", "t3": "guide"}  # fmt: skip
    run = Trajectory.from_any(inside(document, **within))
    assert [(c.name, c.agent) for c in run.tool_calls] == [("planner", "root"), ("clock", "root")]
    (second,) = run.tool_calls[0].children
    (third,) = second.children
    assert [(second.name, second.agent), (third.name, third.agent, third.args)] == [
        ("guide", "planner"),
        ("trains", "guide", {"to": "Oslo"}),
    ]
    assert run.agents == ["root", "planner", "guide"]
    assert [call.name for call in run.of_agent("guide").tool_calls] == ["trains"]


def test_agents_that_take_over_are_on_one_level():
    def agent(name: str) -> dict[str, Any]:
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}

    document = otlp(
        ("a", 1, agent("front")),
        ("c", 2, chat(asked("transfer", "1", arguments={}))),
        ("b", 3, agent("guide")),
        ("d", 4, chat(asked("trains", "2", arguments={"to": "Oslo"}))),
    )
    run = Trajectory.from_any(inside(document, c="a", b="a", d="b"))
    assert [(call.name, call.agent) for call in run.tool_calls] == [
        ("transfer", "front"),
        ("trains", "guide"),
    ]


def test_a_wrapper_around_a_tool_is_the_same_call():
    document = otlp(
        ("w", 1, tool("f")), ("t", 2, tool("f", **{"call.arguments": "{}", "call.result": "r"}))
    )
    (call,) = Trajectory.from_any(inside(document, t="w")).tool_calls
    assert (call.args, call.args_state, call.result, call.children) == ({}, "ok", "r", ())


def test_two_recorders_of_one_model_call_tell_one_call():
    outer = {
        "gen_ai.system": "gcp.vertex.agent",
        "gcp.vertex.agent.llm_response": json.dumps(
            {"content": {"role": "model", "parts": [{"function_call": {"name": "trains"}}]}}
        ),
    }
    document = otlp(("o", 1, outer), ("i", 2, ASKS), ("t", 3, RUNS))
    (call,) = Trajectory.from_any(inside(document, i="o", t="o")).tool_calls
    assert (call.name, call.args, call.id) == ("trains", {"to": "Oslo"}, "call_1")


def test_a_model_call_around_several_is_an_agent():
    document = otlp(("o", 1, SAYS), ("a", 2, ASKS), ("b", 3, RUNS), ("c", 4, SAYS))
    trajectory = Trajectory.from_any(inside(document, a="o", b="o", c="o"))
    assert [call.name for call in trajectory.tool_calls] == ["trains"]
    assert sum(step.content == "Yes, at 09:14." for step in trajectory.steps) == 1


def test_requests_repeat_what_was_said_and_it_counts_once():
    history = {**SAYS, "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": QUESTION,
               "gen_ai.prompt.1.role": "assistant",
               "gen_ai.prompt.1.tool_calls.0.name": "trains",
               "gen_ai.prompt.1.tool_calls.0.arguments": TEXT,
               "gen_ai.prompt.1.tool_calls.0.id": "call_1",
               "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.tool_call_id": "call_1",
               "gen_ai.prompt.2.content": "09:14"}  # fmt: skip
    trajectory = read(("a", 1, ASKS), ("c", 3, history))
    assert [(c.name, c.result, c.turn) for c in trajectory.tool_calls] == [("trains", "09:14", 0)]
    assert [step.role for step in trajectory.steps] == ["user", "assistant", "tool", "assistant"]
    alone = read(
        ("c", 3, {key: value for key, value in history.items() if "completion" not in key})
    )
    assert [(c.name, c.args) for c in alone.tool_calls] == [("trains", {"to": "Oslo"})]


@pytest.mark.parametrize(
    "events",
    [
        [("gen_ai.choice", {"message": '{"role": "assistant", "tool_calls": [{"id": "1", "type": '
          '"function", "function": {"name": "f", "arguments": "{}"}}]}'})],
        [("gen_ai.choice", {"tool_calls": '[{"id": "1", "function": {"name": "f", "arguments": '
          '"{}"}}]'})],
        [("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": '
          '"", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}]'})],
        [("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": '[{"role": '
          '"assistant", "parts": [{"type": "tool_call", "id": "1", "name": "f", "arguments": {}}]}]'
          })],
    ],
)  # fmt: skip
def test_messages_that_are_events(events: list[tuple[str, dict[str, str]]]):
    document = otlp(("a", 1, {"gen_ai.operation.name": "chat"}))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["events"] = [
        {"name": name, "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in held.items()]}
        for name, held in events
    ]  # fmt: skip
    assert [(c.name, c.args) for c in Trajectory.from_any(document).tool_calls] == [("f", {})]


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference.span.kind": "LLM",
         "llm.output_messages.0.message.role": "assistant",
         "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
         "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}'},
        {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": '{"a": 1}'},
        {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": "{'a': 1}"},
        {"openinference.span.kind": "LLM", "output.value": '{"output": [{"type": "function_call", '
         '"call_id": "1", "name": "f", "arguments": "{\\"a\\": 1}"}]}'},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "f",
         "traceloop.entity.input": '{"args": [], "kwargs": {"a": 1}}'},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "f",
         "traceloop.entity.input": '{"input_str": "{\'a\': 1}", "tags": [], "kwargs": {}}'},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "f", "ai.toolCall.args": '{"a": 1}'},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls":
         '[{"toolCallId": "1", "toolName": "f", "input": "{\\"a\\": 1}"}]'},
        {"gen_ai.operation.name": "chat", "events": '[{"event.name": "gen_ai.choice", "message": '
         '{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", '
         '"arguments": "{\\"a\\": 1}"}}]}}]'},
        {"gen_ai.tool.name": "f", "tool_arguments": '{"a": 1}'},
    ],
)  # fmt: skip
def test_attributes_of_other_conventions(attributes: dict[str, Any]):
    assert calls(("a", 1, attributes)) == [("f", {"a": 1})]


def test_a_tool_by_which_the_model_gives_its_output_is_no_call_unless_it_ran():
    tools = '{"output_tools": [{"name": "final_result"}]}'
    model = chat(asked("final_result", "1", arguments={}), model_request_parameters=tools)
    trajectory = read(("a", 1, model))
    assert trajectory.tool_calls == ()
    assert "final_result" in trajectory.notes[0]
    ran = read(("a", 1, model), ("b", 2, tool("final_result", **{"call.id": "1"})))
    assert [call.name for call in ran.tool_calls] == ["final_result"]


def test_adks_span_for_merged_results_is_no_call():
    assert calls(("a", 1, tool("(merged tools)")), ("b", 2, tool("f"))) == [("f", None)]


@pytest.mark.parametrize(
    ("text", "final"),
    [
        ("Thought: I can.\nAnswer: Yes.", "Yes."),
        ("I now know\nFinal Answer: Yes.\nIt is.", "Yes.\nIt is."),
        ("The Answer: no mark", "The Answer: no mark"),
    ],
)
def test_the_final_response_is_what_the_model_marks_as_its_answer(text: str, final: str):
    assert read(("a", 1, chat({"type": "text", "content": text}))).final_response == final


@pytest.mark.parametrize(
    ("code", "status"), [(2, "error"), ("STATUS_CODE_OK", "ok"), (0, "unknown")]
)
def test_the_status_of_a_span_is_that_of_its_call(code: Any, status: str):
    document = otlp(("a", 1, tool("f")))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"] = {"code": code}
    assert Trajectory.from_any(document).tool_calls[0].status == status


def test_older_names_and_values_of_every_kind():
    span = {
        "trace_id": "t1",
        "span_id": "a",
        "start_time_unix_nano": 1_000_000_000,
        "attributes": [
            {"key": "gen_ai.tool.name", "value": {"string_value": "f"}},
            {"key": "gen_ai.tool.call.arguments", "value": {"kvlistValue": {"values": [
                {"key": "a", "value": {"arrayValue": {"values": [{"intValue": 1}, {}]}}}]}}},
        ],
    }  # fmt: skip
    document = {"batches": [{"resource": {}, "instrumentationLibrarySpans": [{"spans": [span]}]}]}
    (call,) = Trajectory.from_any(document).tool_calls
    assert (call.name, call.args) == ("f", {"a": [1, None]})


def test_spans_of_one_trace_on_several_lines_are_taken_together():
    lines = "\n".join(json.dumps(otlp(span)) for span in (("a", 1, ASKS), ("b", 2, RUNS)))
    (trajectory,) = read_traces(lines)
    assert len(trajectory.tool_calls) == 1


def test_each_trace_is_a_trajectory_and_those_without_an_agent_are_left_out():
    document = otlp(("a", 1, ASKS), ("b", 2, ASKS), ("c", 3, {"http.method": "GET"}))
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["traceId"] = f"trace {span['spanId']}"
    assert [t.id for t in detection.read(document)] == ["trace a", "trace b"]


def test_the_traces_of_one_file_do_not_mix(tmp_path: Path):
    """Their spans stand in each other's way: equal span ids and call ids, in turns."""
    lines = []
    for at, (op, more) in enumerate(
        (("chat", chat(asked("trains", "1", arguments={"to": "Oslo"}))), ("run", tool("trains")))
    ):
        for trace in ("t1", "t2"):
            document = otlp((op, at + 1, {**more, "gen_ai.tool.call.result": trace}))
            document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = trace
            lines.append(json.dumps(document))
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(lines))
    runs = list(read_traces(file))
    assert [(run.id, [(c.name, c.result) for c in run.tool_calls]) for run in runs] == [
        ("t1", [("trains", "t1")]),
        ("t2", [("trains", "t2")]),
    ]


def test_spans_inside_each_other_in_a_circle_are_read_all_the_same():
    document = inside(otlp(("a", 1, ASKS), ("b", 2, tool("g"))), a="b", b="a")
    trajectory = Trajectory.from_any(document)
    names: list[ToolCall] = [c for call in trajectory.tool_calls for c in (call, *call.children)]
    assert sorted(call.name for call in names) == ["g", "trains"]


@pytest.mark.parametrize(
    "change",
    [{"attributes": 5}, {"attributes": [5]}, {"attributes": [{"key": 5}]}, {"events": {}},
     {"spanId": []}, {"name": {}}],
)  # fmt: skip
def test_a_broken_span_is_an_error_that_says_which(change: dict[str, Any]):
    document = otlp(("a", 1, ASKS), ("b", 2, RUNS))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][1].update(change)
    with pytest.raises(MalformedTraceError, match="resource 0, scope 0, span 1"):
        Trajectory.from_any(document)


def exported(*, arguments: bool = True) -> bytes:
    """What OpenTelemetry's own SDK and exporter send of a run, with the tool's span begun first."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder")
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import Status, StatusCode

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tests")
    with tracer.start_as_current_span("invoke_agent guide") as agent:
        agent.set_attribute("gen_ai.operation.name", "invoke_agent")
        agent.set_attribute("gen_ai.agent.name", "guide")
        with tracer.start_as_current_span("execute_tool trains") as tool:
            tool.set_attribute("gen_ai.operation.name", "execute_tool")
            tool.set_attribute("gen_ai.tool.name", "trains")
            if arguments:
                tool.set_attribute("gen_ai.tool.call.arguments", '{"to": "Oslo"}')
            tool.set_status(Status(StatusCode.ERROR))
        with tracer.start_as_current_span("chat") as chat:
            chat.set_attribute("gen_ai.operation.name", "chat")
            chat.set_attribute("gen_ai.response.model", "m")
            chat.set_attribute("gen_ai.usage.input_tokens", 7)
            chat.add_event("gen_ai.choice", {"message": '{"role": "assistant", "content": "Yes."}'})
    message: bytes = encode_spans(kept.get_finished_spans()).SerializeToString()
    return message


def test_the_bytes_that_the_sdk_exports_are_read(tmp_path: Path):
    file = tmp_path / "spans.pb"
    file.write_bytes(exported())
    for source in (exported(), file, str(file)):
        (run,) = read_traces(source)
        assert [(c.name, c.args, c.status, c.agent) for c in run.tool_calls] == [
            ("trains", {"to": "Oslo"}, "error", "guide")
        ]
        assert run.final_response == "Yes."
        assert (run.model, run.usage and run.usage.input_tokens) == ("m", 7)
        assert run.tool_calls[0].started_at is not None


def test_arguments_that_the_sdk_did_not_record_are_unknown_in_bytes_too():
    (run,) = read_traces(exported(arguments=False))
    assert [(call.args, call.args_state) for call in run.tool_calls] == [(None, "unknown")]


def in_four_bytes(message: bytes) -> bytes:
    """As the Collector's file exporter writes a message (`format: proto`)."""
    return len(message).to_bytes(4) + message


def in_a_varint(message: bytes) -> bytes:
    """As protobuf's libraries write delimited messages."""
    size, length = len(message), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return length + bytes([size]) + message


@pytest.mark.parametrize("framed", [in_four_bytes, in_a_varint])
@pytest.mark.parametrize("number", [1, 3])
def test_messages_with_their_length_before_each_are_read(
    framed: Callable[[bytes], bytes], number: int, tmp_path: Path
):
    content = b"".join(framed(exported()) for _ in range(number))
    file = tmp_path / "spans.bin"
    file.write_bytes(content)
    for source in (content, file):
        runs = list(read_traces(source))
        assert len({run.id for run in runs}) == number
        assert [(c.name, c.args) for run in runs for c in run.tool_calls] == [
            ("trains", {"to": "Oslo"})
        ] * number


@pytest.mark.parametrize("framed", [in_four_bytes, in_a_varint])
def test_messages_of_which_the_last_ends_too_early_are_refused(framed: Callable[[bytes], bytes]):
    content = framed(exported()) * 2
    with pytest.raises(TraceError):
        list(read_traces(content[:-1]))


def test_the_messages_of_one_trace_are_taken_together_in_bytes_too():
    service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    request = service.ExportTraceServiceRequest.FromString(exported())
    spans = request.resource_spans[0].scope_spans[0].spans
    held = list(spans)
    content = b""
    for span in held:
        del spans[:]
        spans.append(span)
        content += in_four_bytes(request.SerializeToString())
    (run,) = read_traces(content)
    assert [(call.name, call.agent) for call in run.tool_calls] == [("trains", "guide")]
    assert run.final_response == "Yes."


@pytest.mark.parametrize("length", [50, -1])
def test_bytes_that_end_too_early_are_refused(length: int):
    with pytest.raises(TraceError):
        list(read_traces(exported()[:length]))


def test_traceloop_spans_are_read():
    def attribute(key: str, value: str) -> dict[str, Any]:
        return {"key": key, "value": {"stringValue": value}}

    chat = [
        attribute("traceloop.span.kind", "llm"),
        attribute("gen_ai.prompt.0.role", "user"),
        attribute("gen_ai.prompt.0.content", "Any trains?"),
        attribute("gen_ai.completion.0.role", "assistant"),
        attribute("gen_ai.completion.0.tool_calls.0.id", "c1"),
        attribute("gen_ai.completion.0.tool_calls.0.name", "trains"),
        attribute("gen_ai.completion.0.tool_calls.0.arguments", '{"to": "Oslo"}'),
        attribute("llm.request.type", "chat"),
    ]
    tool = [
        attribute("traceloop.span.kind", "tool"),
        attribute("traceloop.entity.name", "trains"),
        attribute("traceloop.entity.input", '{"to": "Oslo"}'),
        attribute("traceloop.entity.output", "09:14"),
    ]
    held = [
        {"traceId": "t", "spanId": "b", "startTimeUnixNano": "2", "attributes": tool},
        {"traceId": "t", "spanId": "a", "startTimeUnixNano": "1", "attributes": chat},
    ]
    run = Trajectory.from_any({"resourceSpans": [{"scopeSpans": [{"spans": held}]}]})
    assert [(c.name, c.args, c.id, c.result) for c in run.tool_calls] == [
        ("trains", {"to": "Oslo"}, "c1", "09:14")
    ]


def test_a_span_that_was_sent_twice_counts_once_and_is_noted():
    document = otlp(("a", 1, ASKS), ("b", 2, tool("trains")), ("c", 3, tool("now")))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    once = Trajectory.from_any(document)
    spans += copy.deepcopy(spans)
    twice = Trajectory.from_any(document)
    assert twice == once
    assert twice.telemetry == once.telemetry
    assert "spans that stand there twice, and count once: 3" in twice.notes


def test_spans_of_one_id_that_differ_are_all_kept_and_have_their_parts_once():
    document = otlp(("a", 1, tool("f")), ("a", 2, tool("g")), ("b", 3, tool("h")))
    run = Trajectory.from_any(inside(document, b="a"))
    assert [(c.name, [i.name for i in c.children]) for c in run.tool_calls] == [
        ("f", ["h"]),
        ("g", []),
    ]


def test_spans_of_one_id_inside_each_other_take_no_time_in_powers():
    """Each of thirty levels is there thrice: three to the thirtieth ways down."""
    levels = [f"s{number}" for number in range(30)]
    spans = [
        (name, 3 * at + copy_, tool(f"{name} {copy_}"))
        for at, name in enumerate(levels)
        for copy_ in range(3)
    ]
    document = inside(otlp(*spans), **dict(zip(levels[1:], levels, strict=False)))
    run = Trajectory.from_any(document)
    assert len(run.tool_calls) == 3


def test_a_chain_of_many_spans_is_refused_or_read_in_steps_that_do_not_square():
    spans = [(f"s{number}", number, {"http.method": "GET"}) for number in range(20_000)]
    document = inside(otlp(*spans), **{f"s{n}": f"s{n - 1}" for n in range(1, 20_000)})
    with pytest.raises(MalformedTraceError):
        Trajectory.from_any(document)
