"""Ten thousand traces with one thing wrong, over all formats; what comes of each.

    python -m benchmarks.fuzz [NUMBER] [SEED]

Breaks the samples of the tests, and the traces of ../shared where they lie there, and reads them in
the name of their format, and by detection. Each is a trajectory or a `TraceError`, within ten
seconds, and no call changes but those of the record that is broken. Exits with 1 where one does.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any

from tests.conftest import SHARED
from tests.formats.fuzzing import KINDS, Case, case_of, fault, mutant, shared_case
from tests.formats.samples import SAMPLES
from trajgrade import read_traces
from trajgrade.errors import TraceError

LONGEST = 10.0


def cases() -> list[Case]:
    """Return every trace that is broken."""
    found = [case_of(str(sample), sample.format, sample.data) for sample in SAMPLES]
    shared = [shared_case(path) for path in sorted(SHARED.glob("traces/*/*.*"))]
    return found + [case for case in shared if case is not None]


def main(number: int = 10_000, seed: int = 0) -> int:
    """Break traces; print the faults, and return how many kinds there are."""
    signal.signal(signal.SIGALRM, _late)
    random = Random(seed)
    every = cases()
    faults: Counter[str] = Counter()
    refused = made = 0
    slowest: tuple[float, str] = (0.0, "")
    begun = time.perf_counter()
    while made < number:
        case = every[made % len(every)]
        wrong = mutant(case, random, random.choice(KINDS))
        if wrong is None:
            continue
        made += 1
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        try:
            said = fault(case, wrong)
            with suppress(TraceError):
                for run in read_traces(wrong.data):
                    run.to_dict()
            refused += _refuses(case, wrong.data)
        except Exception as broken:  # noqa: BLE001 what is looked for
            said = f"{type(broken).__name__}: {broken}"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, (time.perf_counter() - start, case.name))
        if said:
            faults[f"{case.name}: {wrong.kind} at {wrong.path}: {said:.200}"] += 1
    for told, times in faults.most_common():
        sys.stdout.write(f"{times}  {told}\n")
    sys.stdout.write(
        f"{made} mutants of {len(every)} traces, seed {seed}: {refused} refused, "
        f"{sum(faults.values())} faults; slowest {slowest[0] * 1000:.0f} ms ({slowest[1]}); "
        f"{time.perf_counter() - begun:.0f} s\n"
    )
    return len(faults)


def _refuses(case: Case, data: Any) -> bool:
    try:
        list(read_traces(data, case.format))
    except TraceError:
        return True
    return False


def _late(*_: Any) -> None:
    raise TimeoutError(f"took longer than {LONGEST:.0f} s")


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
