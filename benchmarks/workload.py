"""A made-up workload with the shape of tau-bench's airline runs: rows of OpenAI messages.

Each row has some 27 messages and 18.5 KB: a long system message, turns of text, about 6 tool calls
with their results (JSON in a text, so that every quote is escaped), and a reference that is
messages too. In a third of the rows the reference differs from what the agent did: a value, a
missing call, an extra call, the order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOOLS = {
    "get_user_details": ("user_id",),
    "get_reservation_details": ("reservation_id",),
    "search_direct_flight": ("origin", "destination", "date"),
    "search_onestop_flight": ("origin", "destination", "date"),
    "update_reservation_flights": ("reservation_id", "cabin", "payment_id"),
    "book_reservation": ("user_id", "origin", "destination", "cabin", "total_baggages"),
    "cancel_reservation": ("reservation_id",),
    "calculate": ("expression",),
}
PROSE = (
    "the agent should first obtain the user id and then ask for trip type origin destination "
    "cabin passengers baggage payment insurance policy refund certificate membership silver gold"
)
WORDS = PROSE.split()


SYSTEM, RESULT, ANSWER, QUESTION = 6150, 1050, 260, 90  # characters


def prose(chance: random.Random, size: int) -> str:
    """Return made-up text of about `size` characters."""
    found: list[str] = []
    length = 0
    while length < size:
        found.append(chance.choice(WORDS))
        length += len(found[-1]) + 1
    return " ".join(found)


def policy(chance: random.Random) -> str:
    """Return the system message: lines of prose."""
    return "\n".join(prose(chance, 150) for _ in range(SYSTEM // 155))


def passengers(chance: random.Random) -> list[dict[str, str]]:
    """Return the nested part of a booking."""
    names = chance.sample(WORDS, 4)
    return [
        {"first_name": first, "last_name": last, "dob": f"19{chance.randrange(50, 99)}-04-05"}
        for first, last in zip(names[::2], names[1::2], strict=True)
    ]


def call(chance: random.Random) -> dict[str, Any]:
    """Return one tool call, its arguments as JSON text."""
    name = chance.choice(list(TOOLS))
    args: dict[str, Any] = {
        key: f"{key[:4].upper()}{chance.randrange(9 * 10**8)}" for key in TOOLS[name]
    }
    if name == "book_reservation":
        args["total_baggages"] = chance.randrange(4)
        args["passengers"] = passengers(chance)
    return wrapped(chance, name, args)


def wrapped(chance: random.Random, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return a call as OpenAI writes it."""
    return {
        "id": f"call_{chance.randrange(10**24):024d}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(args, separators=(",", ":"))},
    }


def result(chance: random.Random) -> str:
    """Return what a tool returns: JSON in a text."""
    found: dict[str, Any] = {}
    while len(found) * 32 < RESULT:
        found[f"{chance.choice(WORDS)}_{len(found)}"] = chance.choice(WORDS)
    return json.dumps(found)


def messages(chance: random.Random, calls: list[dict[str, Any]], system: str) -> list[Any]:
    """Return a conversation in which the agent makes the calls."""
    found: list[Any] = [{"role": "system", "content": system}]
    for made in calls:
        if chance.random() < 0.85:
            found.append({"role": "user", "content": prose(chance, QUESTION)})
            found.append({"role": "assistant", "content": prose(chance, ANSWER)})
        found.append({"role": "assistant", "content": None, "tool_calls": [made]})
        name = made["function"]["name"]
        answer = {"role": "tool", "tool_call_id": made["id"], "name": name}
        found.append({**answer, "content": result(chance)})
    for _ in range(2):
        found.append({"role": "user", "content": prose(chance, QUESTION)})
        found.append({"role": "assistant", "content": prose(chance, ANSWER)})
    return found


def altered(chance: random.Random, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls that the reference expects instead."""
    calls = list(calls)
    place = chance.randrange(len(calls))
    kind = chance.choice(("value", "missing", "extra", "order"))
    if kind == "value":
        function = calls[place]["function"]
        args = json.loads(function["arguments"])
        args[next(iter(args))] = "another"
        calls[place] = wrapped(chance, function["name"], args)
    elif kind == "missing":
        del calls[place]
    elif kind == "extra":
        calls.insert(place, call(chance))
    else:
        calls.append(calls.pop(place))
    return calls


def rows(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the rows."""
    chance = random.Random(seed)
    system = policy(chance)
    for number in range(count):
        calls = [call(chance) for _ in range(chance.randint(3, 9))]
        wanted = calls if chance.random() < 2 / 3 else altered(chance, calls)
        reference = [{"role": "assistant", "content": None, "tool_calls": [one]} for one in wanted]
        yield {
            "id": f"task-{number}",
            "inputs": prose(chance, 200),
            "outputs": messages(chance, calls, system),
            "reference_outputs": reference,
        }


def write(path: Path, count: int, distinct: int = 2000) -> int:
    """Write a JSON Lines file of `count` rows, made of `distinct` ones; return its size."""
    made = [json.dumps(row, separators=(",", ":")) for row in rows(min(count, distinct))]
    bodies = [text[text.index('"inputs"') :] for text in made]
    size = 0
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            size += file.write(f'{{"id":"task-{number}",{bodies[number % len(bodies)]}\n')
    return size
