"""A verdict is read from what the judge said, or not at all (SEMANTICS A11)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.judging.pattern import compiled
from trajgrade.judging.reading import MOST_BRACES, MOST_CHARACTERS, Unreadable, read
from trajgrade.judging.spec import VerdictSpec

BOOL = VerdictSpec.boolean()
UNIT = VerdictSpec.number()
TEN = VerdictSpec.number(0, 10)
LETTERS = VerdictSpec.choice({"C": 1.0, "I": 0.0})


def unread(text: str, spec: VerdictSpec) -> str:
    with pytest.raises(Unreadable) as refused:
        read(text, spec)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"pass": true}', True), ('{"pass": false}', False), ('{"pass":"false"}', False),
        ('{"pass":"no"}', False), ('{"pass":"Yes"}', True), ('{"pass":" PASS "}', True),
        ('{"pass":"Fail"}', False),
    ],
)  # fmt: skip
def test_a_bool_is_true_or_false_or_one_of_six_words(text: str, value: bool):
    found = read(text, BOOL)
    assert (found.value, found.score) == (value, float(value))


@pytest.mark.parametrize(
    "said", ["1", "0", "1.0", '"1"', '"true!"', '"passed"', "null", "[]", '["yes"]', '"y"', '""']
)
def test_nothing_else_is_a_bool(said: str):
    assert "is not true or false" in unread(f'{{"pass": {said}}}', BOOL)


def test_a_verdict_under_another_key_is_none_and_the_keys_are_told():
    assert unread('{"passed": true}', BOOL) == (
        "the key 'pass' is missing; the reply's keys are 'passed'"
    )
    assert "the key 'score' is missing" in unread(
        '{"criteria_scores":{"tone":{"score":1.0}}}', UNIT
    )
    assert read('{"score":0.92,"justification":"ok"}', UNIT).score == 0.92


def test_a_declared_alias_is_read_and_two_keys_at_once_are_not():
    spec = VerdictSpec.number(aliases=("rating",))
    assert read('{"rating": 0.5}', spec).score == 0.5
    assert "several keys" in unread('{"rating": 0.5, "score": 1}', spec)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": "0.5"}', 0.5),
        ('{"score": 0.5}', 0.5),
        ('{"score": 1}', 1.0),
        ('{"score": "1e-1"}', 0.1),
    ],
)
def test_a_number_may_be_the_text_of_one(text: str, score: float):
    assert read(text, UNIT).score == score


@pytest.mark.parametrize(
    "said",
    ["true", "false", "null", "NaN", "Infinity", "-Infinity", '"NaN"', '"0,5"', '"0.5/1"', '"½"', '"٠"',
     '"0x1"', '"1_0"', '"+1"', '"."', "1.0000001", "-0.0000001", "1e400", "[0.5]", '{"x": 0.5}', '"high"'],
)  # fmt: skip
def test_what_is_no_number_on_the_scale_is_unread_and_never_clamped(said: str):
    unread(f'{{"score": {said}}}', UNIT)


def test_the_declared_scale_stands_in_schema_and_instructions_and_is_kept():
    spec = VerdictSpec.number(0, 2)
    assert spec.schema is not None
    assert spec.schema["properties"]["score"] == {"type": "number", "minimum": 0, "maximum": 2}
    assert "a number from 0 to 2" in spec.instructions
    assert "4 is not a number from 0 to 2" in unread('{"score": 4}', spec)
    assert read('{"score": 1}', spec).score == 0.5


def test_a_whole_number_is_whole():
    spec = VerdictSpec.number(1, 5, whole=True)
    found = read('{"score": 4.0}', spec)
    assert (found.value, type(found.value), found.score) == (4, int, 0.75)
    assert "whole number from 1 to 5" in unread('{"score": 3.5}', spec)


def test_the_only_numbers_there_are_count_as_scores_or_are_put_on_a_scale():
    assert read('{"score": 0.5}', VerdictSpec.choice([0.0, 0.5, 1.0])).score == 0.5
    assert read('{"score": 0.5}', VerdictSpec.choice([0.5, 1.0])).score == 0.5
    assert read('{"score": 2}', VerdictSpec.choice([1, 2, 5])).score == 0.25
    assert "one of 0, 0.5, 1" in unread('{"score": 0.4}', VerdictSpec.choice([0.0, 0.5, 1.0]))


@pytest.mark.parametrize("said", ["CI", "Correct", "c", " C", "C ", "", "Perhaps"])
def test_a_choice_matches_exactly(said: str):
    unread(json.dumps({"choice": said}), LETTERS)


def test_a_choice_without_a_score_is_read_and_gives_none():
    found = read('{"choice": "n/a"}', VerdictSpec.choice({"good": 1.0, "n/a": None}))
    assert (found.value, found.score) == ("n/a", None)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('<think>try {a}</think>{"score":0.4}', 0.4),
        ('hmm {x}</think>{"score":0.4}', 0.4),
        ('{"reason":"uses <think> tag</think>","score":0.4}', 0.4),
        ('<think>{"score":1}</think>{"score":0.4}', 0.4),
        ('maybe {"score":1}? </think>\n{"score":0.4}', 0.4),
        ('<THINKING>{"score": 1</THINKING>\n```json\n{"score":0.4}\n```', 0.4),
        ('maybe {"score": 1 </think>{"score":0.4}', 0.4),
        ('Here you go: {"score":0.4} Hope it helps', 0.4),
        ('```json\n{"score":0.4}\n```', 0.4),
        ('```\n{"score":0.4}\n```\nbecause it is so', 0.4),
        ('Here: {"reason":"a </think> in it","score":0.4} done', 0.4),
        ('[{"score":0.4}]', 0.4),
        ("0.4", 0.4),
        ('\ufeff{"score":0.4}', 0.4),
        ('{x} is odd, so {"score":0.4}', 0.4),
    ],
)  # fmt: skip
def test_the_only_object_is_found_after_a_reasoning_block_and_around_prose(text: str, score: float):
    assert read(text, UNIT).score == score


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"score":1}{"score":0}', "2 JSON objects"),
        ('{"score":1}\n{"score":1}', "2 JSON objects"),
        ('The agent said {"score":1}. {"score":0}', "2 JSON objects"),
        ('<think>{"score":1}', "ends within its reasoning"),
        ('<think>{"score":1}</think>', "no JSON object"),
        ('{"score":1}</think>I cannot say', "no JSON object"),
        ('{"score": 1, "score": 0}', "twice"),
        ('{"score":45,"r":"costs \\$5"}', "broken"),
        ('{"score": 0.4', "broken"),
        ('{"a": oops, "inner": {"score": 1}}', "broken"),
        ('[{"score":1},{"score":1}]', "2 JSON objects"),
        ("{'score': 1}", "no JSON object"),
        ("score: 0.4", "no JSON object"),
        ("", "empty"),
        (" \n", "empty"),
        ("I will not.", "no JSON object"),
        ('"0.4 of 1"', "is not a number"),
        ("[]", "is not a number"),
    ],
)  # fmt: skip
def test_what_is_not_one_object_is_unread(text: str, why: str):
    spec = VerdictSpec.number(0, 100) if "45" in text else UNIT
    said = unread(text, spec)
    if text.startswith('[{"score":1},'):
        return
    assert why in said


def test_huge_and_deep_replies_are_refused_in_little_time():
    assert "characters" in unread(" " * (MOST_CHARACTERS + 1), UNIT)
    assert "opening braces" in unread("{ " * (MOST_BRACES + 1), UNIT)
    unread('{"a":' * 20_000, UNIT)
    unread("[" * 100_000, UNIT)
    unread('{"score": ' + "9" * 5_000 + "}", UNIT)


# ------------------------------------------------------------------------------ patterns


@pytest.mark.parametrize(
    "text", ["GRADE: CI", "GRADE: Correct", "GRADE: Perhaps", "**Answer: C**", "GRADE:C"]
)
@pytest.mark.parametrize("pattern", ["GRADE: {}", r"GRADE: ([CI])"])
def test_a_letter_with_no_boundary_after_it_is_no_verdict(text: str, pattern: str):
    unread(text, VerdictSpec.choice({"C": 1.0, "I": 0.0}, pattern=pattern))


def test_a_declared_pattern_reads_a_reply_outside_json():
    spec = VerdictSpec.choice({"C": 1.0, "I": 0.0}, pattern="GRADE: {}")
    found = read("<think>GRADE: I</think>It is right.\nGRADE: C", spec)
    assert (found.value, found.score) == ("C", 1.0)
    assert "GRADE: …" in spec.instructions
    assert spec.schema is None
    assert "2 times" in unread("GRADE: C\nGRADE: I", spec)
    assert "0 times" in unread('{"choice": "C"}', spec)
    assert "within its reasoning" in unread("<think>GRADE: C", spec)


def test_the_scale_that_a_judge_quotes_is_not_its_rating():
    spec = VerdictSpec.number(0, 3, pattern=r"I give (\d+)")
    found = read("On a scale of 0 to 3 I give 2", spec)
    assert found.value == 2
    assert found.score == pytest.approx(2 / 3)
    ten = VerdictSpec.number(0, 10, pattern=r"Score: (\d+)")
    assert "14" in unread("Score: 14", ten)
    unread("Score: 14", VerdictSpec.number(0, 10, pattern=r"Score: (\d)"))
    unread("Score: 1.5", ten)
    unread("Score: 1/5", ten)


def test_a_pattern_that_takes_too_long_is_unread():
    assert "took longer" in unread("x" * 3000, VerdictSpec.boolean(pattern=r"((?:x+x+)+)y"))


def test_a_pattern_needs_one_group():
    with pytest.raises(ConfigError, match="one group"):
        compiled("GRADE")
    with pytest.raises(ConfigError, match="no regular expression"):
        VerdictSpec.boolean(pattern="(")


# ------------------------------------------------------------------------------ other fields


def test_other_fields_are_all_needed_and_are_what_their_schema_says():
    claims = {"type": "array", "items": {"type": "object", "required": ["ok"]}}
    spec = VerdictSpec.fields({"claims": claims})
    assert read('{"claims": [{"ok": true}], "reasoning": "r"}', spec).extra == {
        "claims": [{"ok": True}]
    }
    assert "claims" in unread('{"claims": [{}]}', spec)
    assert "'claims' is missing" in unread("{}", spec)
    assert "no JSON object" in unread("[1]", spec)


def test_reasoning_comes_before_the_verdict_in_schema_and_instructions():
    for spec in (BOOL, UNIT, LETTERS):
        assert spec.schema is not None
        assert next(iter(spec.schema["properties"])) == "reasoning"
        assert spec.schema["required"] == [*spec.schema["properties"]]
        assert spec.instructions.index('"reasoning"') < spec.instructions.index(f'"{spec.name}"')
    assert read('{"reasoning": "because", "pass": true}', BOOL).reasoning == "because"
    assert VerdictSpec.boolean(reasoning=False).schema["properties"].keys() == {"pass"}  # type: ignore[index]


@pytest.mark.parametrize(
    "make",
    [
        lambda: VerdictSpec.number(1, 1),
        lambda: VerdictSpec.number(0, math.inf),
        lambda: VerdictSpec.choice({"a": 1.0}),
        lambda: VerdictSpec.choice({"a": 1.0, "b": 2.0}),
        lambda: VerdictSpec.choice({"a": 1.0, "": 0.0}),
        lambda: VerdictSpec.choice([1]),
        lambda: VerdictSpec.choice("ab"),  # type: ignore[arg-type]
        lambda: VerdictSpec.boolean("reasoning"),
        lambda: VerdictSpec.fields({}),
        lambda: VerdictSpec.boolean(pattern="x {}", extra={"a": {}}),
    ],
)
def test_a_verdict_that_cannot_be_is_refused(make: Any):
    with pytest.raises(ConfigError):
        make()


# ------------------------------------------------------------------------------ laws

_texts = st.text(max_size=60)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_specs = st.sampled_from([
    BOOL, UNIT, TEN, LETTERS, VerdictSpec.number(-3, 7, whole=True), VerdictSpec.choice([1, 2, 5]),
])  # fmt: skip


@given(_specs, _values, _texts, _texts)
def test_whatever_a_judge_says_is_read_on_the_scale_or_unread(
    spec: VerdictSpec, value: Any, before: str, after: str
):
    text = f"{before}{json.dumps({spec.name: value})}{after}"
    try:
        found = read(text, spec)
    except Unreadable:
        return
    assert found.score is not None
    assert 0 <= found.score <= 1
    match spec.kind:
        case "bool":
            assert isinstance(found.value, bool)
        case "choice":
            assert found.value in spec.labels
        case _:
            assert spec.scale[0] <= found.value <= spec.scale[1]


@given(_texts)
def test_any_text_at_all_is_read_or_unread_without_another_error(text: str):
    for spec in (BOOL, UNIT, LETTERS, VerdictSpec.boolean(pattern="GRADE: {}")):
        try:
            read(text, spec)
        except Unreadable:
            continue


@given(st.floats(0, 10), st.text(alphabet=st.characters(exclude_characters="{}<>[]"), max_size=40))
def test_prose_around_the_only_object_changes_nothing(number: float, prose: str):
    plain = read(json.dumps({"score": number}), TEN)
    assert read(f"{prose}\n{json.dumps({'score': number})}\n{prose}", TEN) == plain
    assert plain.score == number / 10


@given(st.floats(allow_nan=False), st.floats(-10, 0), st.floats(0.5, 10))
def test_a_number_is_read_exactly_where_it_lies_on_the_scale(
    number: float, low: float, high: float
):
    spec = VerdictSpec.number(low, high)
    text = json.dumps({"score": number})
    if low <= number <= high:
        assert read(text, spec).value == number
    else:
        unread(text, spec)
