"""A scripted HTTP server on loopback that speaks as OpenAI, or as Anthropic, does.

Each request takes the next `Answer` of the script; the last one is given again and again.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    """What the server does with one request."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    never: bool = False
    chunked: bool = False
    drop: bool = False
    held: threading.Event | None = None


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: Any


class Server:
    def __init__(self, script: Sequence[Answer | Callable[[Any], Answer]]) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self.port = 0
        self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.seen]

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        path = head[0].split(" ")[1]
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        place = len(self.seen)
        self.seen.append(Seen(path, headers, body))
        planned = self.script[min(place, len(self.script) - 1)]
        answer = planned(body) if callable(planned) else planned
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if answer.never:
                await asyncio.sleep(3600)
            if answer.held is not None:
                await asyncio.to_thread(answer.held.wait, 10)
        finally:
            self._at_once -= 1
        if answer.drop:
            return False
        writer.write(_written(answer))
        await writer.drain()
        return True


def _written(answer: Answer) -> bytes:
    body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
    headers = {"content-type": "application/json", **answer.headers}
    if answer.chunked:
        headers["transfer-encoding"] = "chunked"
        parts = [body[i : i + 7] for i in range(0, len(body), 7)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    else:
        headers["content-length"] = str(len(body))
    lines = [
        f"HTTP/1.1 {answer.status} X",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def serving(*script: Answer | Callable[[Any], Answer]) -> Iterator[Server]:
    server = Server(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def chat(
    content: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    model: str = "a-model",
    usage: tuple[int, int] | None = (10, 5),
    call: str | None = None,
) -> dict[str, Any]:
    """The body of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if refusal:
        message["refusal"] = refusal
    if call is not None:
        function = {"name": "verdict", "arguments": call}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    body: dict[str, Any] = {
        "id": "x", "object": "chat.completion", "created": 1_700_000_000, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }  # fmt: skip
    if usage:
        read, wrote = usage
        body["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": wrote,
            "total_tokens": read + wrote,
        }
    return body


def said(verdict: Any, **more: Any) -> Answer:
    return Answer(chat(verdict if isinstance(verdict, str) else json.dumps(verdict), **more))


def failed(status: int, message: str = "no", **headers: str) -> Answer:
    body = {"error": {"message": message, "type": "x", "code": None}}
    return Answer(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def anthropic(
    content: list[dict[str, Any]], *, stop: str = "end_turn", model: str = "claude-x"
) -> Answer:
    return Answer({
        "id": "m", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    })  # fmt: skip
