"""Spans → Trajectory: what model calls said and tools did, joined and put in order.

One call is recorded in up to three places: the model asked for it, a tool span ran it, later
requests repeat it. It counts once: a tool span belongs to what the model asked for, by id, else by
name and arguments, else by name. The order is that in which the model asked; tool spans that nobody
asked for stand where they began. Spans may come in any order of time.

Model calls inside a model call are the same one, told by two recorders: the innermost counts. A
tool span inside a tool span of the same name is a wrapper: one call. What else happens inside a
tool span (an agent run as a tool) are the children of its call.

Arguments that are recorded nowhere are unknown. A tool by which a model gives its output, and which
no span runs, is no call.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import msgspec

from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.answers import marked_answer
from trajgrade.formats.arguments import parsed
from trajgrade.formats.assembly import Assembly
from trajgrade.formats.content import result_of, shown
from trajgrade.formats.message_pieces import Answer, Asked
from trajgrade.formats.span_usage import told
from trajgrade.formats.spans import (
    MERGED,
    RULES,
    Free,
    Span,
    Tree,
    before,
    fill,
    is_wrapped,
    time_of,
)
from trajgrade.formats.utterances import Said
from trajgrade.trajectory import ArgsState, ToolCall, Trajectory


def trajectories_of(traces: dict[str, list[Span]], format: str) -> list[Trajectory]:  # noqa: A002
    """Read each trace, by its id; those that tell of no agent are left out where others do."""
    told = {key: spans for key, spans in traces.items() if any(s.kind != "other" for s in spans)}
    return [trajectory_of(spans, format, id=key or None) for key, spans in (told or traces).items()]


def trajectory_of(
    spans: list[Span],
    format: str,  # noqa: A002 the field's word for it
    *,
    id: str | None = None,  # noqa: A002 the field's word for it
    answer: str | None = None,
) -> Trajectory:
    """Read the spans of one run.

    Args:
        spans: The spans, in any order.
        format: The name of the format.
        id: The run's id.
        answer: The final response where no model call has a text.

    Raises:
        MalformedTraceError: No span tells of an agent.
    """
    if all(span.kind == "other" for span in spans):
        names = sorted({span.name for span in spans})
        raise MalformedTraceError(
            "no span tells of a model call, a tool or an agent by its attributes; "
            f"the spans are {shorten(names, 300)}"
        )
    assembly = Assembly(format)
    tree = Tree(spans)
    if tree.copies:
        assembly.notes.append(f"spans that stand there twice, and count once: {tree.copies}")
    said = _Level(assembly, tree).read()
    final = answer if said is None else said
    return assembly.trajectory(final=final, id=id, telemetry=lambda: told(tree))


class _Level:
    """What happens at one level: in the run, or inside one tool span."""

    def __init__(self, assembly: Assembly, tree: Tree, within: Span | None = None) -> None:
        self.assembly = assembly
        self.tree = tree
        self.models: list[Span] = []
        self.tools: list[Span] = []
        for span in tree.roots if within is None else tree.inner(within):
            self._collect(span, None if within is None else within.agent)
        self.models.sort(key=time_of)
        self.tools.sort(key=time_of)
        if self.models and not any(span.said for span in self.models):
            # Nobody recorded what was said; the longest request repeats the most of it.
            last = max(self.models, key=lambda span: len(span.told))
            last.said, last.told = last.told, []
            self.models = [last]
        self._ran: dict[tuple[int, int], Span] = {}
        self._heard: Counter[tuple[str, str]] = Counter()
        self._results: list[tuple[Any, str]] = []
        self._answers: dict[str | None, list[tuple[int, Answer]]] | None = None

    def _collect(self, span: Span, agent: str | None) -> list[Span]:
        """Take in a span and those inside it; return the model calls among them that spoke."""
        span.agent = span.agent or agent
        if span.kind == "tool":
            if span.tool != MERGED:
                self.tools.append(span)
            return []
        inner = [one for part in self.tree.inner(span) for one in self._collect(part, span.agent)]
        if inner and span.kind == "model":
            fill(inner, span)
        if inner or span.kind == "other" or not (span.said or span.told):
            return inner
        self.models.append(span)
        return [span] if span.said else []

    def read(self) -> str | None:
        """Add the steps and calls; return the last text that was said."""
        self._match()
        matched = set(map(id, self._ran.values()))
        alone = deque(span for span in self.tools if id(span) not in matched)
        final: str | None = None
        for number, model in enumerate(self.models):
            while alone and before(alone[0], model):
                self._tool(alone.popleft())
            final = self._model(number, model) or final
        for span in alone:
            self._tool(span)
        self._show()
        return None if final is None else marked_answer(final)

    def _match(self) -> None:
        """Find which tool span ran what the model asked for."""
        free = Free(self.tools)
        asked = [
            (number, at, model, call)
            for number, model in enumerate(self.models)
            for at, call in enumerate(call for said in model.said for call in said.calls)
            if not call.hosted
        ]
        for rule in RULES:
            for number, at, model, call in asked:
                if (number, at) in self._ran:
                    continue
                some = free.of(call, rule)
                fits = (span for span in some if not before(span, model) and rule(call, span))
                span = next(fits, None)
                if span is not None:
                    self._ran[number, at] = span
                    free.take(span)

    def _model(self, number: int, model: Span) -> str | None:
        self._listen(model.told)
        final: str | None = None
        self.assembly.agent = model.agent
        fresh = True
        at = 0
        for said in model.said:
            if said.role in ("user", "system"):
                self._listen([said])
                fresh = True
                continue
            for answer in said.answers:
                if self.assembly.waits:
                    self._show()
                    value = result_of(answer.value, "a result")
                    self.assembly.result(value, answer.key, answer.name)
                    fresh = True
            if said.role == "tool":
                continue
            if fresh or said.text:
                self._message("assistant", said.text)
                fresh = False
            final = said.text or final
            for call in said.calls:
                self._asked(number, at, model, call)
                at += 1
        return final

    def _listen(self, told: list[Said]) -> None:
        """Add what the user and the system said and had not said before: requests repeat it."""
        now: Counter[tuple[str, str]] = Counter()
        for said in told:
            observed = said.text.startswith("Observation:")  # a result, in a ReAct prompt
            if said.role in ("user", "system") and said.text and not observed:
                heard = said.role, said.text
                now[heard] += 1
                if now[heard] > self._heard[heard]:
                    self._heard[heard] = now[heard]
                    self._message(*heard)

    def _message(self, role: str, text: str) -> None:
        self._show()
        self.assembly.message(role, text)

    def _show(self) -> None:
        """Add the steps that show the results of the last calls."""
        for value, name in self._results:
            self.assembly.message("tool", shown(value, f"the result of {name}"))
        self._results.clear()

    def _asked(self, number: int, at: int, model: Span, call: Asked) -> None:
        span = self._ran.get((number, at))
        if span is not None:
            self._tool(span, call)
            return
        if call.name in model.outputs:
            self.assembly.notes.append(f"{call.name}: the model gave its output by it; no call")
            return
        args, state = self._arguments(call.raw, call.name)
        self.assembly.call(call.name, args, call.key, state=state, hosted=call.hosted)
        answer = None if call.hosted else self._told(number, call)
        if answer is not None:
            value = result_of(answer.value, call.name)
            self.assembly.result(value, call.key, call.name, step=False)
            self._results.append((value, call.name))

    def _told(self, number: int, call: Asked) -> Answer | None:
        """Return the result that a later request tells, if one does."""
        if call.key is None:
            return None
        if self._answers is None:
            self._answers = {}
            for at, model in enumerate(self.models):
                for answer in (answer for said in model.told for answer in said.answers):
                    self._answers.setdefault(answer.key, []).append((at, answer))
        found = self._answers.get(call.key, ())
        return next((answer for at, answer in found if at > number), None)

    def _tool(self, span: Span, call: Asked | None = None) -> None:
        inner = self._inside(span)
        while not inner.models and len(inner.tools) == 1 and is_wrapped(inner.tools[0], span):
            part = inner.tools[0]
            span.raw = part.raw if span.raw is msgspec.UNSET else span.raw
            span.result = part.result if span.result is None else span.result
            span.key = span.key or part.key
            inner = self._inside(part)
        asked = call or Asked(span.tool)
        raw = span.raw if asked.raw is msgspec.UNSET else asked.raw
        args, state = self._arguments(raw, asked.name)
        inner.read()
        steps = inner.assembly.trajectory().steps
        children = tuple(made for step in steps for made in step.tool_calls)
        value = result_of(span.result, asked.name)
        if call is None:
            self._show()
        self.assembly.add(
            ToolCall(
                asked.name, args, state, asked.key or span.key, value, span.status,
                agent=span.agent, children=children, started_at=span.began, ended_at=span.ended,
            ),
            waits=False,
        )  # fmt: skip
        if value is not None:
            self._results.append((value, asked.name))

    def _inside(self, span: Span) -> _Level:
        return _Level(Assembly(self.assembly.format), self.tree, span)

    def _arguments(self, raw: Any, name: str) -> tuple[Any, ArgsState]:
        if raw is msgspec.UNSET:
            return None, "unknown"
        return parsed(raw, self.assembly.place(name), self.assembly.notes)
