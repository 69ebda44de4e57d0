"""What a trace records of a run beside its steps: models, tokens, costs, times.

It is read when it is first asked for, so that what nobody asks for costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from trajgrade.trajectory import Trajectory


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and costs, summed over the requests to models that record them, each counted once.

    Attributes:
        input_tokens: Tokens that the models were given, those from a cache included.
        output_tokens: Tokens that they made, those of thoughts included.
        total_tokens: As recorded; else the two together, where both are known.
        cached_tokens: Those of the input that came from a cache.
        cost: In US dollars, where the trace records it.
        requests: How many requests were counted; 0 where the trace has only the sums.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    requests: int = 0


class Telemetry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a trace records of one run.

    Attributes:
        models: The names of the models that answered, each once, in order of their first answer.
        usage: Tokens and costs; None where none are recorded.
        started_at: When the run began.
        ended_at: When it ended.
        latency_in_seconds: How long it took: as recorded, else from its beginning to its end.
    """

    models: tuple[str, ...] = ()
    usage: Usage | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    latency_in_seconds: float | None = None


NOTHING = Telemetry()
Source = Callable[[], Telemetry]


def attach(
    runs: Sequence[Trajectory], measure: Callable[[Any], list[Telemetry]], data: Any
) -> None:
    """Let runs that were read from the data tell what it records of them, when they are asked.

    Args:
        runs: The runs.
        measure: Reads the telemetry of each, in their order. What it finds for one run where there
            are several is that of all together, and no run's own.
        data: What they were read from.
    """
    found: list[Telemetry] = []

    def of(number: int) -> Telemetry:
        if not found:
            found.extend(measure(data) or [NOTHING])
        return found[number] if len(found) == len(runs) else NOTHING

    for number, run in enumerate(runs):
        if run.telemetry_source is None:
            run.telemetry_source = lambda number=number: of(number)
