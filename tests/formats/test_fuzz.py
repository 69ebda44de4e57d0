"""Every sample and every shared trace with one thing wrong: `fuzzing` says what must hold.

A few thousand mutants by default, the same ones each time; with `--hypothesis-profile=explore`
twenty times as many, and others each time. `benchmarks/fuzz.py` makes ten thousand of any seed.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from random import Random
from typing import Any

import hypothesis
import pytest

from tests.conftest import shared_files
from tests.formats import fuzzing
from tests.formats.fuzzing import (
    KINDS,
    Case,
    Mutant,
    calls_of,
    case_of,
    fault,
    key_of,
    mutant,
    places,
    shared_case,
)
from tests.formats.samples import OPENAI, SAMPLES, Sample
from trajgrade import read_traces
from trajgrade.errors import TraceError
from trajgrade.trajectory import Trajectory


def rounds() -> int:
    """How many mutants of each kind."""
    return max(hypothesis.settings().max_examples // 25, 1)


def seed_for(name: str) -> str:
    """A seed that is the same each time, unless new examples are asked for."""
    return name if hypothesis.settings().derandomize else f"{name} {secrets.token_hex(4)}"


def check(case: Case) -> None:
    seed = seed_for(case.name)
    random = Random(seed)  # noqa: S311 no secret
    for number in range(rounds() * len(KINDS)):
        wrong = mutant(case, random, KINDS[number % len(KINDS)])
        if wrong is None:
            continue
        said = fault(case, wrong)
        assert said is None, f"{said}; {wrong.kind} at {wrong.path}, mutant {number} of {seed!r}"
        with suppress(TraceError):  # by detection another format may claim it
            for run in read_traces(wrong.data):
                run.to_dict()


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_one_thing_wrong_in_a_sample_changes_no_call_elsewhere(sample: Sample):
    check(case_of(str(sample), sample.format, sample.data))


@pytest.mark.parametrize("path", shared_files("traces/*/*.*"))
def test_one_thing_wrong_in_a_real_trace_changes_no_call_elsewhere(path: Any):
    case = shared_case(path)
    if case is None:
        pytest.skip("too long to be broken many times")
    check(case)


def test_the_oracle_knows_whose_place_is_whose():
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f1", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "assistant", "tool_calls": [{"id": "22", "function": {"name": "g2", "arguments": "{}"}}]},
        {"role": "assistant", "content": "bye"},
    ]  # fmt: skip
    case = case_of("talk", "openai_chat", messages)
    owners = {path: {key[0] for key in keys} for path, keys in case.owners.items()}
    assert owners == {(1,): {"f1"}, (2,): {"f1"}, (3,): {"g2"}}


def test_the_oracle_sees_a_call_that_a_fault_elsewhere_takes_away(monkeypatch: pytest.MonkeyPatch):
    case = case_of("talk", "openai_chat", OPENAI)
    wrong = Mutant("truncate", (4, "content"), [*OPENAI[:4], {**OPENAI[4], "content": "Yes"}])
    assert fault(case, wrong) is None

    def careless(data: Any, name: str) -> list[Trajectory]:
        return [Trajectory(run.steps, tool_calls=()) for run in read_traces(data, name)]

    monkeypatch.setattr(fuzzing, "read_traces", careless)
    assert "a call elsewhere is gone" in str(fault(case, wrong))
    lost = Mutant("nest", (2, "tool_calls"), wrong.data)
    assert "without a word" in str(fault(case, lost))


def test_every_kind_of_mutation_is_made():
    case = case_of("chat", "openai_chat", OPENAI)
    random = Random(1)  # noqa: S311 no secret
    for kind in KINDS:
        made = [mutant(case, random, kind) for _ in range(20)]
        assert any(one is not None and one.data != case.data for one in made)
    assert sum(1 for _ in places(case.data)) > 10
    assert [key_of(call) for run in read_traces(case.data) for call in calls_of(run)]
