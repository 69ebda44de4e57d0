"""RegexMatch (SEMANTICS A10)."""

from __future__ import annotations

import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from trajgrade.errors import ConfigError
from trajgrade.evaluators import RegexMatch, build_evaluator

SLOW = RegexMatch(r"(a|aa)+$", timeout=0.05)


def score(outputs, *args, **options):
    return RegexMatch(*args, **options)(outputs=outputs).score


def kind_of(result):
    return result.error and result.error.kind


def test_the_pattern_is_searched_for_by_default():
    assert score("order A-17 sent", r"A-\d+") == 1
    assert score("order B sent", r"A-\d+") == 0


def test_the_whole_response_must_match_on_request():
    assert score("A-17", r"A-\d+", fullmatch=True) == 1
    assert score("order A-17", r"A-\d+", fullmatch=True) == 0
    assert score("ab", "a|ab", fullmatch=True) == 1


def test_no_output_is_no_empty_text():
    result = RegexMatch("^$")(outputs=None)
    assert kind_of(result) == "no_output"
    assert score("", "^$") == 1


@pytest.mark.parametrize("pattern", ["(", "[", "*a", "(?P<a>x)(?P<a", "a{3,1}"])
def test_an_invalid_pattern_is_refused_when_the_evaluator_is_made(pattern):
    with pytest.raises(ConfigError, match="no regular expression"):
        RegexMatch(pattern)


def test_a_pattern_must_be_text():
    for pattern in (5, None, re.compile(b"a")):
        with pytest.raises(ConfigError, match="text"):
            build_evaluator("regex_match", {"pattern": pattern})


@pytest.mark.parametrize(
    ("flags", "pattern", "text"),
    [
        (re.IGNORECASE, "paris", "PARIS"),
        (re.MULTILINE, "^b$", "a\nb\nc"),
        (re.DOTALL, "a.b", "a\nb"),
        (re.VERBOSE, "a b  # blanks", "ab"),
        (re.IGNORECASE | re.DOTALL, "A.B", "a\nb"),
        (2, "paris", "PARIS"),
        ("IGNORECASE", "paris", "PARIS"),
        ("ignorecase | dotall", "A.B", "a\nb"),
    ],
)
def test_the_flags_are_those_of_re(flags, pattern, text):
    assert score(text, pattern) == 0
    assert score(text, pattern, flags) == 1


def test_ascii_keeps_its_meaning():
    assert score("é", r"\w") == 1
    assert score("é", r"\w", re.ASCII) == 0


@pytest.mark.parametrize("flags", [re.LOCALE, re.DEBUG, 1 << 20, "IGNORCASE", "", True, None])
def test_other_flags_are_refused(flags):
    with pytest.raises(ConfigError, match="flag"):
        RegexMatch("a", flags)


def test_a_misspelt_flag_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'IGNORECASE'"):
        RegexMatch("a", "IGNORCASE")


def test_a_compiled_pattern_brings_its_flags():
    evaluator = RegexMatch(re.compile("paris", re.IGNORECASE))
    assert evaluator(outputs="PARIS").score == 1
    assert evaluator.pattern == "paris"
    assert eval(repr(evaluator), {"RegexMatch": RegexMatch}) == evaluator  # noqa: S307 our own repr


def test_a_pattern_that_takes_too_long_is_an_error_and_no_score():
    with pytest.raises(TimeoutError, match=r"did not finish within 0\.05 s"):
        SLOW(outputs="a" * 50 + "b")


def test_time_is_bounded_in_any_thread():
    begun = time.monotonic()
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(SLOW.evaluate, outputs="a" * 50 + "b") for _ in range(4)]
        failed = [future.exception(timeout=30) for future in waiting]
    assert all(isinstance(error, TimeoutError) for error in failed)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_the_timeout_must_be_seconds_above_0(timeout):
    with pytest.raises(ConfigError, match="timeout"):
        RegexMatch("a", timeout=timeout)


def test_the_evidence_says_what_matched_and_where():
    result = RegexMatch(r"A-\d+")(outputs="order A-17 sent")
    assert result.value is True
    assert result.comment == "matches 'A-17' at character 7"
    assert result.metadata == {"match": "A-17", "start": 6, "end": 10}


def test_a_structure_is_searched_as_its_json_text():
    assert score({"city": "Paris", "at": 3}, r'"at": 3, "city"') == 1


def test_the_parameters_are_positional_in_potatos_order():
    assert RegexMatch("a", 2, "k") == RegexMatch(pattern="a", flags=2, key="k")


def test_an_evaluator_survives_pickling():
    assert pickle.loads(pickle.dumps(SLOW)) == SLOW  # noqa: S301 our own
