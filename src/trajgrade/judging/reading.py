"""Reading: what a judge's reply says, or why it cannot be read (SEMANTICS A11).

There is one reader for all judges. The structured reply is the whole reply, or the only JSON object
in it after a reasoning block. Nothing is guessed: no default stands in for a missing key, a number
off the scale is not clamped, a word counts only if it is one of those declared, two objects are
unreadable, and so is an object that begins and is broken off. A reply outside JSON is read only by
a pattern that the prompt declares, and what it captures must stand alone.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import jsonschema_rs

from trajgrade.errors import shorten
from trajgrade.judging.pattern import compiled
from trajgrade.judging.spec import VerdictSpec

MOST_CHARACTERS = 400_000
MOST_BRACES = 2_000
PATTERN_SECONDS = 1.0

_WORDS = {"true": True, "yes": True, "pass": True, "false": False, "no": False, "fail": False}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_TAGS = "think|thinking|thought|thoughts|reasoning|reflection"
_OPENING = re.compile(rf"\s*<({_TAGS})>", re.IGNORECASE)
_CLOSING = re.compile(rf"</({_TAGS})>", re.IGNORECASE)
_BEGINS_OBJECT = re.compile(r'\{\s*"')


class Unreadable(ValueError):  # noqa: N818 an outcome, which the asking turns into words
    """A reply has no verdict that can be read; the message says why.

    `plainly` says it without a word of the reply, so that the judge can be told.
    """

    def __init__(self, message: str, plainly: str = "") -> None:
        super().__init__(message)
        self.plainly = plainly or message


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: The verdict as the judge gave it: a bool, a number, a label.
        score: The verdict in [0, 1].
        reasoning: Why, in the judge's words.
        extra: The other fields that were asked for.
    """

    value: Any
    score: float | None
    reasoning: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def read(text: str, spec: VerdictSpec) -> Reading:
    """Read a judge's reply.

    Raises:
        Unreadable: It has no verdict, several, or one that was not asked for.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"the reply has {len(text)} characters (at most {MOST_CHARACTERS})")
    if not text.strip():
        raise Unreadable("the reply is empty")
    if spec.pattern is not None:
        value = _verdict(_captured(text, spec.pattern), spec)
        return Reading(value, spec.score(value), _after_reasoning(text).strip())
    found = _structured(text)
    if not isinstance(found, dict):
        if spec.extra or spec.kind == "fields":
            raise Unreadable(
                f"the reply is no JSON object: {shorten(found)}", "it is no JSON object"
            )
        value = _verdict(found, spec)
        return Reading(value, spec.score(value))
    return _of_object(found, spec)


def _of_object(found: dict[str, Any], spec: VerdictSpec) -> Reading:
    extra = {key: _extra(found, key, schema) for key, schema in spec.extra.items()}
    reasoning = found.get("reasoning", "")
    if not isinstance(reasoning, str):
        reasoning = json.dumps(reasoning, ensure_ascii=False)
    if spec.kind == "fields":
        return Reading(None, None, reasoning, extra)
    keys = [key for key in (spec.name, *spec.aliases) if key in found]
    if not keys:
        _lacking(found, spec.name)
    if len(keys) > 1:
        raise Unreadable(f"the verdict comes under several keys: {', '.join(map(repr, keys))}")
    value = _verdict(found[keys[0]], spec)
    return Reading(value, spec.score(value), reasoning, extra)


def _extra(found: dict[str, Any], key: str, schema: Any) -> Any:
    if key not in found:
        _lacking(found, key)
    try:
        jsonschema_rs.validate(schema, found[key])
    except jsonschema_rs.ValidationError as wrong:
        said = f"{key}: {shorten(wrong.message, 200)}"
        raise Unreadable(said, f"the key {key!r} does not hold what its JSON Schema says") from None
    return found[key]


def _lacking(found: dict[str, Any], key: str) -> NoReturn:
    there = ", ".join(shorten(other, 40) for other in [*found][:10]) or "none"
    raise Unreadable(
        f"the key {key!r} is missing; the reply's keys are {there}", f"the key {key!r} is missing"
    )


# ------------------------------------------------------------------------------ the verdict itself


def _verdict(given: Any, spec: VerdictSpec) -> Any:
    """Return the verdict that a value is, as one of those declared."""
    if spec.kind == "bool":
        return _bool(given, spec)
    if spec.kind == "number":
        return _number(given, spec)
    if not isinstance(given, str) or given not in spec.labels:
        _refuse(given, spec)
    return given


def _bool(given: Any, spec: VerdictSpec) -> bool:
    if isinstance(given, bool):
        return given
    word = given.strip().lower() if isinstance(given, str) else ""
    if word not in _WORDS:
        _refuse(given, spec)
    return _WORDS[word]


def _number(given: Any, spec: VerdictSpec) -> float:
    if isinstance(given, str):
        written = given.strip()
        if len(written) > 100 or _NUMBER.fullmatch(written) is None:
            _refuse(given, spec)
        given = float(written) if set(written) & set(".eE") else int(written)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        _refuse(given, spec)
    low, high = spec.scale
    whole = not spec.whole or (math.isfinite(given) and given == math.floor(given))
    if not low <= given <= high or not whole or (spec.numbers and given not in spec.numbers):
        _refuse(given, spec)
    return int(given) if spec.whole else given


def _refuse(given: Any, spec: VerdictSpec) -> NoReturn:
    where = f"{spec.name}: " if spec.name else ""
    plainly = f"the value of {spec.name!r} is not {spec.allowed}"
    raise Unreadable(f"{where}{shorten(given)} is not {spec.allowed}", plainly)


# ------------------------------------------------------------------------------ where it stands


def _structured(text: str) -> Any:
    """Return what the reply says in JSON."""
    try:
        whole = _loads(text)
    except ValueError:
        return _only_object(text)
    if isinstance(whole, list) and len(whole) == 1 and isinstance(whole[0], dict):
        return whole[0]
    return whole


def _only_object(text: str) -> dict[str, Any]:
    """Return the only JSON object in a text, after its reasoning block if it has one."""
    opening = _OPENING.match(text)
    if opening is not None:
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            raise Unreadable("the reply ends within its reasoning")
        return _the_one(_objects(text[closing.end() :]))
    objects = _objects(text)
    inside = [span for span, _ in objects]
    for closing in _CLOSING.finditer(text):
        if not any(start < closing.start() < end for start, end in inside):
            return _the_one([one for one in objects if one[0][0] >= closing.end()])
    return _the_one(objects)


def _the_one(objects: list[tuple[tuple[int, int], Any]]) -> dict[str, Any]:
    if len(objects) != 1:
        found = "no JSON object" if not objects else f"{len(objects)} JSON objects"
        raise Unreadable(f"the reply holds {found}, one is needed")
    found = objects[0][1]
    if isinstance(found, Broken):
        raise Unreadable(f"the reply's JSON is broken: {found.why}", "its JSON is broken")
    return dict(found)


@dataclass(frozen=True)
class Broken:
    """What begins as a JSON object and does not end as one."""

    why: str


def _objects(text: str) -> list[tuple[tuple[int, int], Any]]:
    """Return every outermost JSON object of a text with its place.

    One that begins and is broken takes the rest of the text: what lies inside it is no verdict.
    """
    found: list[tuple[tuple[int, int], Any]] = []
    place = text.find("{")
    for _ in range(MOST_BRACES):
        if place < 0:
            return found
        try:
            value, end = _decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as wrong:
            end = place + 1
            if _BEGINS_OBJECT.match(text, place):
                closing = _CLOSING.search(text, place)
                end = closing.start() if closing else len(text)
                found.append(((place, end), Broken(_said(wrong))))
        else:
            found.append(((place, end), value))
        place = text.find("{", end)
    raise Unreadable(f"the reply holds more than {MOST_BRACES} opening braces")


def _said(wrong: Exception) -> str:
    return "nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)[:200]


def _loads(text: str) -> Any:
    try:
        return json.loads(text.strip().removeprefix("\ufeff"), **_STRICTLY)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says one thing twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice in one object")
    return found


_STRICTLY: dict[str, Any] = {"parse_constant": _constant, "object_pairs_hook": _pairs}
_decoder = json.JSONDecoder(**_STRICTLY)


# ------------------------------------------------------------------------------ outside JSON


def _after_reasoning(text: str) -> str:
    closing = _CLOSING.search(text)
    return text[closing.end() :] if closing else text


def _captured(text: str, pattern: str) -> str:
    """Return what the declared pattern captures in a reply: once, and standing alone."""
    if _OPENING.match(text) and not _CLOSING.search(text):
        raise Unreadable("the reply ends within its reasoning")
    said = _after_reasoning(text)
    try:
        found = [*compiled(pattern).finditer(said, timeout=PATTERN_SECONDS)]
    except TimeoutError:
        raise Unreadable(f"the pattern took longer than {PATTERN_SECONDS:g} s") from None
    if len(found) != 1:
        raise Unreadable(f"the declared form is there {len(found)} times, once is needed")
    start, end = found[0].span(1)
    captured = str(found[0][1])
    if not captured or _joined(said, start) or _joined(said, end):
        raise Unreadable(
            f"what the declared form captures does not stand alone: {shorten(captured)}",
            "the verdict does not stand alone in its line",
        )
    return captured


def _joined(text: str, place: int) -> bool:
    """Whether a word or a number goes on across a place of the text."""
    before, after = text[:place][-1:], text[place:][:2]
    if not before or not after:
        return False
    through = _is_wordy(before) and _is_wordy(after[0])
    fraction = before.isdigit() and after[0] in ".,/" and after[1:].isdigit()
    return through or fraction


def _is_wordy(character: str) -> bool:
    return character.isalnum() or character == "_"
