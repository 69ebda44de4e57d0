"""Formats: raw trace → Trajectory, one file per origin."""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "adk_evalset": Entry(
        "trajgrade.formats.adk_evalset:FORMAT",
        "ADK eval sets: eval_cases, or rows with expected_tool_use",
    ),
    "adk_session": Entry(
        "trajgrade.formats.adk_session:FORMAT",
        "ADK sessions: events with author and invocation_id",
    ),
    "anthropic_managed_events": Entry(
        "trajgrade.formats.anthropic_managed_events:FORMAT",
        "Anthropic Managed Agents: events like agent.tool_use, agent.message",
    ),
    "anthropic_messages": Entry(
        "trajgrade.formats.anthropic_messages:FORMAT",
        "Anthropic messages: content blocks tool_use, tool_result, thinking",
    ),
    "atif": Entry(
        "trajgrade.formats.atif:FORMAT",
        "Agent Trajectory Interchange Format: schema_version ATIF-…",
    ),
    "autogen_history": Entry(
        "trajgrade.formats.autogen_history:FORMAT",
        "AutoGen and AG2 group chats: a history of messages with named speakers",
    ),
    "bedrock_agent_trace": Entry(
        "trajgrade.formats.bedrock_agent_trace:FORMAT",
        "Amazon Bedrock agents: events with orchestrationTrace",
    ),
    "bedrock_converse": Entry(
        "trajgrade.formats.bedrock_converse:FORMAT",
        "Bedrock Converse messages: blocks toolUse, toolResult",
    ),
    "bfcl": Entry(
        "trajgrade.formats.bfcl:FORMAT",
        "Berkeley Function-Calling Leaderboard: ground_truth, question or result",
    ),
    "browser_use": Entry(
        "trajgrade.formats.browser_use:FORMAT",
        "browser-use histories: steps with model_output and result",
    ),
    "calls": Entry(
        "trajgrade.formats.calls:FORMAT",
        "plain calls: objects with name and args, arguments, input or kwargs",
    ),
    "chat": Entry(
        "trajgrade.formats.chat:FORMAT",
        "messages with role and content that bear no origin's mark; [] is zero calls",
    ),
    "claude_code": Entry(
        "trajgrade.formats.claude_code:FORMAT",
        "Claude Code sessions: lines with sessionId, uuid and a message",
    ),
    "codex_rollout": Entry(
        "trajgrade.formats.codex_rollout:FORMAT",
        "Codex sessions: lines with a payload and a type like response_item",
    ),
    "cohere_chat": Entry(
        "trajgrade.formats.cohere_chat:FORMAT",
        "Cohere chat: tool_plan, citations with sources, chat_history",
    ),
    "crewai_react": Entry(
        "trajgrade.formats.crewai_react:FORMAT",
        "CrewAI's agents that write calls as text: Action, Action Input",
    ),
    "deepeval_trace": Entry(
        "trajgrade.formats.deepeval_trace:FORMAT",
        "DeepEval traces: llmSpans, toolSpans, agentSpans, baseSpans",
    ),
    "gemini_cli": Entry(
        "trajgrade.formats.gemini_cli:FORMAT",
        "Gemini CLI sessions: sessionId with projectHash, messages of type gemini",
    ),
    "gemini_contents": Entry(
        "trajgrade.formats.gemini_contents:FORMAT",
        "Gemini contents: parts with text, functionCall, functionResponse",
    ),
    "graph_trajectory": Entry(
        "trajgrade.formats.graph_trajectory:FORMAT",
        "graph trajectories of LangGraph threads: steps, lists of node names, beside results",
    ),
    "hermes_chatml": Entry(
        "trajgrade.formats.hermes_chatml:FORMAT",
        "Hermes calls in ChatML: <|im_start|>, <tool_call>",
    ),
    "inspect_eval_log": Entry(
        "trajgrade.formats.inspect_eval_log:FORMAT",
        "Inspect logs (JSON): eval and samples",
    ),
    "langchain_agent_executor": Entry(
        "trajgrade.formats.langchain_agent_executor:FORMAT",
        "LangChain's AgentExecutor: pairs of action and observation, intermediate_steps",
    ),
    "langchain_messages": Entry(
        "trajgrade.formats.langchain_messages:FORMAT",
        "LangChain messages: type human, ai, system or tool",
    ),
    "langfuse_trace": Entry(
        "trajgrade.formats.langfuse_trace:FORMAT",
        "Langfuse traces: observations",
    ),
    "langgraph_state": Entry(
        "trajgrade.formats.langgraph_state:FORMAT",
        "LangGraph states: an object with LangChain messages under messages",
    ),
    "langsmith_run": Entry(
        "trajgrade.formats.langsmith_run:FORMAT",
        "LangSmith runs: run_type with inputs, outputs, child_runs; post and patch",
    ),
    "llama_index_messages": Entry(
        "trajgrade.formats.llama_index_messages:FORMAT",
        "LlamaIndex's chat messages: blocks of a block_type",
    ),
    "mcp_jsonrpc": Entry(
        "trajgrade.formats.mcp_jsonrpc:FORMAT",
        "MCP messages: jsonrpc with methods like tools/call",
    ),
    "mini_swe_agent": Entry(
        "trajgrade.formats.mini_swe_agent:FORMAT",
        "mini-swe-agent: trajectory_format mini-swe-agent-…",
    ),
    "mistral_chat": Entry(
        "trajgrade.formats.mistral_chat:FORMAT",
        "Mistral chat: OpenAI's shape with Mistral's models, prefix",
    ),
    "mlflow_trace": Entry(
        "trajgrade.formats.mlflow_trace:FORMAT",
        "MLflow's traces: info beside data with spans of attributes like mlflow.spanType",
    ),
    "openai_agents_run_state": Entry(
        "trajgrade.formats.openai_agents_run_state:FORMAT",
        "saved runs of OpenAI's Agents SDK: $schemaVersion",
    ),
    "openai_chat": Entry(
        "trajgrade.formats.openai_chat:FORMAT",
        "OpenAI chat messages: tool_calls[].function, or a response with choices[].message",
    ),
    "openai_chat_stream": Entry(
        "trajgrade.formats.openai_chat_stream:FORMAT",
        "streams of OpenAI's chat API: chunks with choices[].delta, or their server-sent events",
    ),
    "openai_function_call": Entry(
        "trajgrade.formats.openai_function_call:FORMAT",
        "OpenAI chat messages of the older kind: function_call",
    ),
    "openai_responses": Entry(
        "trajgrade.formats.openai_responses:FORMAT",
        "OpenAI Responses items: type function_call, reasoning, web_search_call, …",
    ),
    "openhands_events": Entry(
        "trajgrade.formats.openhands_events:FORMAT",
        "OpenHands events: source with action or observation",
    ),
    "otel_jaeger": Entry(
        "trajgrade.formats.otel_jaeger:FORMAT",
        "Jaeger's JSON of OpenTelemetry spans: spans with operationName and tags",
    ),
    "otlp_tempo": Entry(
        "trajgrade.formats.otlp_tempo:FORMAT",
        "OTLP JSON of OpenTelemetry spans, Grafana Tempo's too: resourceSpans or batches",
    ),
    "potato_conversation": Entry(
        "trajgrade.formats.potato_conversation:FORMAT",
        "Potato conversations: turns with speaker and text, structured_turns",
    ),
    "pydantic_ai_messages": Entry(
        "trajgrade.formats.pydantic_ai_messages:FORMAT",
        "Pydantic AI's messages: kind request or response, parts with a part_kind",
    ),
    "react_text": Entry(
        "trajgrade.formats.react_text:FORMAT",
        "ReAct as text: Thought, Action with its input, Observation",
    ),
    "sharegpt": Entry(
        "trajgrade.formats.sharegpt:FORMAT",
        "ShareGPT records: conversations of from and value",
    ),
    "smolagents_memory": Entry(
        "trajgrade.formats.smolagents_memory:FORMAT",
        "smolagents' memory: steps with step_number, model_output and observations",
    ),
    "swe_agent_traj": Entry(
        "trajgrade.formats.swe_agent_traj:FORMAT",
        "SWE-agent: a history with agents, steps with action and observation",
    ),
    "tau_bench": Entry(
        "trajgrade.formats.tau_bench:FORMAT",
        "tau-bench runs: traj beside task_id or reward",
    ),
    "text": Entry("trajgrade.formats.text:FORMAT", "a bare text: one message by the assistant"),
    "toolbench": Entry(
        "trajgrade.formats.toolbench:FORMAT",
        "ToolBench runs: answer_generation beside tree, win",
    ),
    "trajgrade": Entry("trajgrade.formats.own:FORMAT", "trajgrade's own shape: trajgrade, steps"),
    "vertex_trajectory": Entry(
        "trajgrade.formats.vertex_trajectory:FORMAT",
        "Vertex AI: tool_name and tool_input, or rows with predicted_trajectory",
    ),
    "vercel_ui_messages": Entry(
        "trajgrade.formats.vercel_ui_messages:FORMAT",
        "the AI SDK's UI messages: parts of types like tool-…, dynamic-tool, step-start",
    ),
}
