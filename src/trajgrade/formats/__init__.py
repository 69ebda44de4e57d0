"""Formats: raw trace → Trajectory, one file per origin."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "calls": Entry(
        "trajgrade.formats.calls:FORMAT",
        "plain calls: objects with name and args, arguments, input or kwargs",
    ),
    "chat": Entry(
        "trajgrade.formats.chat:FORMAT",
        "messages with role and content that bear no origin's mark; [] is zero calls",
    ),
    "openai_chat": Entry(
        "trajgrade.formats.openai_chat:FORMAT",
        "OpenAI chat messages: tool_calls[].function, or a response with choices[].message",
    ),
    "openai_function_call": Entry(
        "trajgrade.formats.openai_function_call:FORMAT",
        "OpenAI chat messages of the older kind: function_call",
    ),
    "text": Entry("trajgrade.formats.text:FORMAT", "a bare text: one message by the assistant"),
    "vertex_trajectory": Entry(
        "trajgrade.formats.vertex_trajectory:FORMAT",
        "Vertex AI: tool_name and tool_input, or rows with predicted_trajectory",
    ),
}
