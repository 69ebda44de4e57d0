"""Every sample is read by exactly one format, and tells what it should."""

from __future__ import annotations

import copy
import importlib
import json
import re
from typing import Any

import pytest

from tests.formats.samples import SAMPLES, Sample
from trajgrade import detection
from trajgrade.formats import BUILTINS
from trajgrade.glimpse import Glimpse
from trajgrade.trajectory import Trajectory

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
every_format = pytest.mark.parametrize("name", BUILTINS)


@every_sample
def test_a_sample_is_recognised_by_its_own_format_only(sample: Sample):
    assert list(detection.claimants(Glimpse(sample.data))) == [sample.format]


@every_sample
def test_a_sample_is_read_as_it_was_meant(sample: Sample):
    trajectory = Trajectory.from_any(copy.deepcopy(sample.data))
    assert [(call.name, call.args) for call in trajectory.tool_calls] == sample.calls
    assert trajectory.final_response == sample.final


@every_sample
def test_a_sample_as_json_text_is_the_same_trace(sample: Sample):
    if isinstance(sample.data, str):
        return
    assert Trajectory.from_any(json.dumps(sample.data)) == Trajectory.from_any(sample.data)


@every_sample
def test_naming_the_format_reads_the_same(sample: Sample):
    named = Trajectory.from_any(sample.data, format=sample.format)
    assert named == Trajectory.from_any(sample.data)
    assert named.format == ("openai_chat" if sample.format == "trajgrade" else sample.format)


@every_format
def test_every_format_has_a_sample(name: str):
    assert name in {sample.format for sample in SAMPLES}


@every_format
def test_every_format_shows_a_shape_that_it_alone_reads(name: str):
    module = importlib.import_module(str(BUILTINS[name].target).partition(":")[0])
    shapes = list(shown(str(module.__doc__)))
    assert shapes
    for shape in shapes:
        assert list(detection.claimants(Glimpse(shape))) == [name]
        assert Trajectory.from_any(shape).steps


def shown(docstring: str) -> Any:
    """The JSON texts among the indented blocks; one with dots or a remark shows only a part."""
    for block in re.findall(r"(?:^ {4}.*\n)+", docstring, re.MULTILINE):
        if "…" not in block:
            yield json.loads(block)


@every_format
def test_every_format_says_in_a_line_what_it_reads(name: str):
    assert BUILTINS[name].description
    assert "\n" not in BUILTINS[name].description
