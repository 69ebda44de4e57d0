"""Verdicts per second of a judge behind an API, against a server that takes 300 ms for each.

The server is a process of its own on loopback and speaks as OpenAI does. A first run asks it for
every verdict; a second one takes all of them from the cache. Told are wall time against the ideal
(verdicts × delay / concurrency), CPU of this process per verdict, and how much faster the second
run is. The same requests made by pydantic-ai alone, with nothing of trajgrade's, say how much of it
is the client library's on this machine.

    python benchmarks/judge_throughput.py [--verdicts 2000] [--concurrency 64] [--delay 0.3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

VERDICT = json.dumps({"reasoning": "It did what was asked.", "pass": True})
REPLY = {
    "id": "x", "object": "chat.completion", "created": 1_700_000_000, "model": "a-model",
    "choices": [{
        "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": VERDICT},
    }],
    "usage": {"prompt_tokens": 600, "completion_tokens": 20, "total_tokens": 620},
}  # fmt: skip


async def serve(delay: float) -> None:
    """Answer every request after a while, until the standard input ends."""
    body = json.dumps(REPLY).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    answer = f"{head}{len(body)}\r\n\r\n".encode() + body

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(asked.partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                await asyncio.sleep(delay)
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


def graded(rows: list[dict[str, Any]], url: str, concurrency: int, cache: Path) -> dict[str, Any]:
    """Grade the rows once, and return what it took."""
    import trajgrade
    from trajgrade.evaluators import LLMTrajectoryJudge
    from trajgrade.judging.settings import judge_settings

    judge = judge_settings({
        "model": "openai:a-model", "base_url": url, "api_key": "none", "cache": str(cache),
        "max_concurrency": concurrency,
    })  # fmt: skip
    evaluator = LLMTrajectoryJudge(judge=judge)
    evaluator.prepare()
    wall, cpu = time.perf_counter(), time.process_time()
    run = trajgrade.evaluate(rows, [evaluator], explain="none")
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    scored = run.summary["llm_trajectory_judge"].n_scored
    if scored != len(rows):
        sys.exit(f"only {scored} of {len(rows)} rows have a verdict")
    return took


async def bare(prompts: list[str], url: str, concurrency: int) -> dict[str, Any]:
    """Make as many requests by pydantic-ai alone, and return what it took."""
    from openai import AsyncOpenAI
    from pydantic_ai import direct, messages
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.providers.openai import OpenAIProvider

    schema = {
        "type": "object", "required": ["reasoning", "pass"], "additionalProperties": False,
        "properties": {"reasoning": {"type": "string"}, "pass": {"type": "boolean"}},
    }  # fmt: skip
    shape = OutputObjectDefinition(json_schema=schema, name="verdict", strict=True)
    wanted = ModelRequestParameters(output_mode="native", output_object=shape)
    places = asyncio.Semaphore(concurrency)
    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        model = OpenAIChatModel("a-model", provider=OpenAIProvider(openai_client=client))

        async def ask(prompt: str) -> None:
            async with places:
                asked = messages.ModelRequest(parts=[messages.UserPromptPart(prompt)])
                await direct.model_request(
                    model, [asked], model_request_parameters=wanted, instrument=False
                )

        await ask(prompts[0])
        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*map(ask, prompts))
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--verdicts", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--delay", type=float, default=0.3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(given.delay))
        return
    rows = [
        {"id": str(n), "outputs": [{"role": "user", "content": f"Add {n} and 1."},
                                   {"role": "assistant", "content": str(n + 1)}]}
        for n in range(given.verdicts)
    ]  # fmt: skip
    command = [sys.executable, __file__, "--serve", "--delay", str(given.delay)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdout is not None  # noqa: S101 it was asked for
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        cache = Path(folder) / "replies.db"
        graded(rows[:1], url, given.concurrency, Path(folder) / "warm.db")
        asked = graded(rows, url, given.concurrency, cache)
        kept = graded(rows, url, given.concurrency, cache)
        prompts = [f"{'x' * 2500} {n}" for n in range(given.verdicts)]
        alone = asyncio.run(bare(prompts, url, given.concurrency))
        server.communicate("")
    ideal = given.verdicts * given.delay / given.concurrency
    print(
        f"{given.verdicts} verdicts, {given.concurrency} at once, {given.delay * 1000:.0f} ms each"
    )
    print(f"ideal         {ideal:8.2f} s")
    print(f"asked         {asked['wall']:8.2f} s   {asked['wall'] / ideal:.2f} × the ideal")
    print(f"  CPU         {asked['cpu'] / given.verdicts * 1000:8.2f} ms per verdict")
    print(f"pydantic-ai   {alone['wall']:8.2f} s   {alone['wall'] / ideal:.2f} × the ideal, alone")
    print(f"  CPU         {alone['cpu'] / given.verdicts * 1000:8.2f} ms per request")
    print(f"from cache    {kept['wall']:8.2f} s   {asked['wall'] / kept['wall']:.0f} × faster")
    print(f"  CPU         {kept['cpu'] / given.verdicts * 1000:8.2f} ms per verdict")
    print(f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
