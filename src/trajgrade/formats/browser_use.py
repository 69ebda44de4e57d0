r"""browser-use's `AgentHistoryList`. The mark: `history` whose steps have `model_output`.

    {"history": [
      {"model_output": {
         "current_state": {"next_goal": "Search"},
         "action": [{"search": {"query": "trains"}}, {"wait": {"seconds": 3}}]},
       "result": [{"is_done": false, "extracted_content": "Searched"},
                  {"is_done": false, "extracted_content": "Waited"}],
       "state": {"url": "about:blank"}},
      {"model_output": {"current_state": {"next_goal": "Answer"},
         "action": [{"done": {"text": "Yes, at 09:14.", "success": true}}]},
       "result": [{"is_done": true, "success": true, "extracted_content": "Yes, at 09:14."}],
       "state": {"url": "about:blank"}}]}

Each action is a call, in order; `result` goes along with `action` and ends after an error: the
actions that it does not reach were not run. The final response is the text that `done` was given;
there is none where the agent did not finish. A step without `model_output` is one whose model call
failed.
"""

from __future__ import annotations

from typing import Any

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats import expect
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of
from trajgrade.formats.logged import of_browser_use
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import CallStatus, Trajectory

_THOUGHTS = ("next_goal", "thinking", "memory")
_BESIDE = "interacted_element"
_PARTS = frozenset({"model_output", "result", "state"})


class BrowserUse:
    """browser-use's history; the module shows one."""

    keys = frozenset({"history"})
    measure = staticmethod(of_browser_use)

    def recognises(self, seen: Glimpse) -> bool:
        """Whether there is a history of steps with a model output and results."""
        history = seen.data.get("history") if isinstance(seen.data, dict) else None
        return isinstance(history, list) and bool(history) and all(map(_is_step, history))

    def read(self, data: Any) -> list[Trajectory]:
        """Read the one run."""
        assembly = Assembly("browser_use")
        final: str | None = None
        history = expect.record(data, "the history").get("history")
        for at, step in enumerate(expect.array(history, "history")):
            said = _step(assembly, expect.record(step, f"step {at}"), f"step {at}")
            final = said if said is not None else final
        return [assembly.trajectory(final=final)]


def _is_step(step: Any) -> bool:
    return isinstance(step, dict) and "model_output" in step and "result" in step


def _step(assembly: Assembly, step: dict[str, Any], place: str) -> str | None:
    if _PARTS.isdisjoint(step):
        raise MalformedTraceError(f"{place}: no step: it has none of {', '.join(sorted(_PARTS))}")
    output = expect.record(step.get("model_output") or {}, f"{place}, model_output")
    if output and "action" not in output:
        assembly.notes.append(f"{place}: model_output has no action: {shorten(output)}")
    actions = [
        _action(action, f"{place}, action {at}")
        for at, action in enumerate(expect.array(output.get("action"), f"{place}, action"))
    ]
    results = [
        expect.record(result, f"{place}, result {at}")
        for at, result in enumerate(expect.array(step.get("result"), f"{place}, result"))
    ]
    assembly.message("assistant", _thought(output))
    for name, args in actions:
        ran = len(results) or not actions
        assembly.call(name, args, status="unknown" if ran else "not_run")
    final: str | None = None
    for at, result in enumerate(results):
        if at < len(actions):
            value, status = _outcome(result, f"{place}, result {at}")
            assembly.result(value, None, actions[at][0], status=status)
            if result.get("is_done") is True or actions[at][0] == "done":
                final = _answer(actions[at], value)
        elif result.get("error"):
            assembly.notes.append(f"{place}: {shorten(result['error'])}")
    for name, _ in actions[len(results) :] if results else ():
        assembly.result(None, None, name, status="not_run", step=False)
    return final


def _action(action: Any, place: str) -> tuple[str, Any]:
    raw = expect.record(action, place)
    given = {key: value for key, value in raw.items() if key != _BESIDE}
    # All actions are fields of one model: those that were not chosen are null.
    chosen = {key: value for key, value in given.items() if value is not None} or given
    if len(chosen) != 1:
        raise MalformedTraceError(
            f"{place}: expected one action, found {shorten(sorted(map(str, chosen)))}"
        )
    ((name, args),) = chosen.items()
    return expect.name(name, place), args


def _outcome(result: dict[str, Any], place: str) -> tuple[Any, CallStatus]:
    if result.get("error"):
        return result_of(result["error"], f"{place}, error"), "error"
    return result_of(result.get("extracted_content"), f"{place}, extracted_content"), "ok"


def _answer(action: tuple[str, Any], value: Any) -> str | None:
    text = action[1].get("text") if isinstance(action[1], dict) else None
    return text if isinstance(text, str) else value if isinstance(value, str) else None


def _thought(output: dict[str, Any]) -> str:
    state = output.get("current_state")
    held = [state if isinstance(state, dict) else {}, output]
    texts = [record.get(key) for record in held for key in _THOUGHTS]
    return next((text for text in texts if isinstance(text, str) and text), "")


FORMAT = BrowserUse()
