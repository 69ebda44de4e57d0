"""Traces with one thing wrong at a place that is known, and what must be true of them all the same.

Any mutant is trajectories or a `TraceError`, in bounded time. Beyond that, a place has *owners*: the
calls that are mentioned in the same record (message, item, span), by name, id or arguments. What
is wrong at a place changes no call but its owners; and an owner that is gone leaves a note.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from trajgrade import read_traces
from trajgrade.errors import TraceError
from trajgrade.matching.values import canonical
from trajgrade.trajectory import ToolCall, Trajectory

Path = tuple[Any, ...]

LONGEST = 400_000
"""A file with more characters is not broken many times."""

KINDS = ("drop", "duplicate", "retype", "truncate", "nest", "swap")


class Case(NamedTuple):
    """A trace that is read as it should be, and whose each place is.

    Attributes:
        name: What it is.
        format: Its format.
        data: The trace, parsed.
        calls: Its calls, each as a key that equal ones share.
        owners: By path of a record: the calls that are mentioned in it.
        told: All texts of its steps.
    """

    name: str
    format: str
    data: Any
    calls: Counter[Any]
    owners: dict[Path, set[Any]]
    told: str


class Mutant(NamedTuple):
    """A case with one thing wrong."""

    kind: str
    path: Path
    data: Any


def case_of(name: str, format: str, data: Any) -> Case:  # noqa: A002 the field's word for it
    """Read a trace, and find who owns each record of it."""
    runs = list(read_traces(copy.deepcopy(data), format))
    made = [call for run in runs for call in calls_of(run)]
    owners: dict[Path, set[Any]] = {}
    for path, value in places(data):
        mentioned = [call for call in made if _mentions(value, call)]
        if mentioned:
            owners.setdefault(record_of(data, path), set()).update(map(key_of, mentioned))
    return Case(name, format, data, Counter(map(key_of, made)), owners, _texts(runs))


def calls_of(run: Trajectory) -> Iterator[ToolCall]:
    """Yield every call, those inside others and hosted ones too."""
    waiting = [*run.tool_calls, *run.hosted_calls][::-1]
    while waiting:
        call = waiting.pop()
        yield call
        waiting.extend(reversed(call.children))


def key_of(call: ToolCall) -> Any:
    """Return what tells a call from others: its name and arguments."""
    return call.name, call.args_state, canonical(call.args)


def _mentions(value: Any, call: ToolCall) -> bool:
    """Whether a value names the call, or holds its id or a part of its arguments."""
    if isinstance(value, str):
        texts = {call.name, *call_texts(call)} | ({call.id} if call.id else set())
        return any(text in value for text in texts) or (len(value) > 2 and value in texts)
    return bool(call.args) and value == call.args


def call_texts(call: ToolCall) -> frozenset[str]:
    """Return the texts in the arguments of a call, which may stand apart in a trace."""
    return frozenset(value for _, value in places(call.args) if isinstance(value, str) and value)


def places(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every path and what stands there, keys of objects included in the path."""
    waiting: list[tuple[Path, Any]] = [(path, data)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting.extend(((*path, key), item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend(((*path, at), item) for at, item in enumerate(value))


def record_of(data: Any, path: Path) -> Path:
    """Return the path of the record that a place is in: the outermost of several alike."""
    value = data
    for depth, key in enumerate(path):
        if isinstance(value, list) and len(value) > 1:
            return path[: depth + 1]
        value = value[key]
    return ()


def mutant(case: Case, random: Random, kind: str) -> Mutant | None:
    """Return the case with one thing wrong of that kind; None where nothing suits it."""
    root = [copy.deepcopy(case.data)]
    some = [path for path, value in places(case.data) if _suits(kind, path, value)]
    if not some:
        return None
    path = random.choice(some)
    holder: Any = root
    for key in (0, *path)[:-1]:
        holder = holder[key]
    key = (0, *path)[-1]
    holder_and_key = MUTATIONS[kind](holder, key, random)
    return None if holder_and_key is False else Mutant(kind, path, root[0])


def _suits(kind: str, path: Path, value: Any) -> bool:
    if kind in ("drop", "duplicate"):
        return bool(path)
    if kind == "truncate":
        return isinstance(value, (str, list)) and len(value) > 0
    if kind == "swap":
        return isinstance(value, (list, dict)) and len(value) > 1
    return True


def _drop(holder: Any, key: Any, _: Random) -> None:
    del holder[key]


def _duplicate(holder: Any, key: Any, _: Random) -> None:
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[f"{key}_2"] = copy.deepcopy(holder[key])


ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1.5, "", "odd", "{", "\ud800", [], {}, [None], {"odd": [{}]},
    [["odd"]], {"role": "user"}, [{"type": "text"}], "9" * 5000,
)  # fmt: skip


def _retype(holder: Any, key: Any, random: Random) -> None:
    holder[key] = copy.deepcopy(random.choice(ODD))


def _truncate(holder: Any, key: Any, random: Random) -> None:
    holder[key] = holder[key][: random.randrange(len(holder[key]))]


def _nest(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    how = random.randrange(4)
    if how == 3:
        for _ in range(random.choice((30, 400))):
            value = [value]
    holder[key] = (
        [value], {"value": value}, json.dumps(value, default=str, allow_nan=True), value,
    )[how]  # fmt: skip


def _swap(holder: Any, key: Any, random: Random) -> None:
    value = holder[key]
    keys = list(range(len(value))) if isinstance(value, list) else list(value)
    one, other = random.sample(keys, 2)
    value[one], value[other] = value[other], value[one]


MUTATIONS: dict[str, Callable[[Any, Any, Random], Any]] = {
    "drop": _drop, "duplicate": _duplicate, "retype": _retype, "truncate": _truncate,
    "nest": _nest, "swap": _swap,
}  # fmt: skip


def touched(case: Case, wrong: Mutant) -> set[Any] | None:
    """Return the calls that a mutation may change; None where that may be any."""
    if case.format in SPREAD:
        return None  # a call is told piece by piece, in several records
    record = record_of(case.data, wrong.path)
    inside = wrong.path[: len(record)] == record and len(wrong.path) >= len(record) > 0
    if wrong.kind == "swap" and inside and len(wrong.path) == len(record):
        inside = True
    if not inside:
        return None  # what is wrong is around the records
    return case.owners.get(record, set())


def fault(case: Case, wrong: Mutant) -> str | None:
    """Read a mutant in the name of its format; return what is wrong with what comes of it.

    Raises:
        Exception: Whatever reading it raises that is no `TraceError`.
    """
    try:
        runs = list(read_traces(wrong.data, case.format))
    except TraceError:
        return None
    found = Counter(key_of(call) for run in runs for call in calls_of(run))
    allowed = touched(case, wrong)
    if allowed is None or found == case.calls:
        return None
    lost = case.calls - found
    strange = [key for key in lost if key not in allowed]
    if strange:
        return f"a call elsewhere is gone or changed: {strange[0]!r:.200}"
    notes = sum(len(run.notes) for run in runs)
    told = _texts(runs) + "".join(str(key) for key in found - case.calls)
    kept = all(told.count(key[0]) > case.told.count(key[0]) for key in lost)
    kept = kept or sum(found.values()) >= sum(case.calls.values())
    if not kept and not notes and _still_told(case, wrong, lost):
        return f"a call is gone without a word: {next(iter(lost))!r:.200}"
    return None


def _texts(runs: list[Trajectory]) -> str:
    return "".join(step.content for run in runs for step in run.steps)


def _still_told(case: Case, wrong: Mutant, lost: Counter[Any]) -> bool:
    """Whether all that was said of the calls is still there, if somewhere else or beside an oddity.

    What is dropped, cut off or replaced can be noted by nobody; where a call is a line of a text,
    so is who says it.
    """
    if case.format in TEXTS or wrong.kind in ("drop", "truncate"):
        return False
    if wrong.kind in ("nest", "swap"):
        return True
    value = case.data
    for key in wrong.path:
        value = value[key]
    said = {text for key in lost for text in (key[0], str(key[2]))}
    return not any(text in str(value) or str(value) in text for text in said) and not any(
        inner == text for _, inner in places(value) for text in said
    )


SPREAD = frozenset({"openai_chat_stream"})
TEXTS = frozenset({
    "potato_conversation", "react_text", "crewai_react", "hermes_chatml", "text", "mini_swe_agent",
    "sharegpt", "toolbench", "mcp_jsonrpc",
})  # fmt: skip
"""Formats in which a call is known as one by who says it, or by its method."""


def shared_case(path: Any) -> Case | None:
    """Return a file of ../shared as a case; None where it is too long."""
    text = path.read_text("utf-8")
    if len(text) > LONGEST:
        return None
    data: Any = text
    if path.suffix == ".json":
        data = json.loads(text)
    elif path.suffix == ".jsonl":
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    return case_of(f"{path.parent.name}/{path.name}", path.parent.name, data)
