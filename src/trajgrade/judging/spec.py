"""VerdictSpec: what a judge is asked to say, as a record.

From it come the JSON Schema of the reply, the instructions in the prompt and the score. The
reasoning is asked for before the verdict, so that the verdict can follow from it.

A score is normalised to [0, 1]: a bool is 1 or 0, a number its place on the declared scale, a
choice the score that is declared for it. Numbers among which is chosen are scores themselves if all
of them lie in [0, 1]; otherwise the least is 0 and the greatest 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from trajgrade.errors import ConfigError, shorten
from trajgrade.judging.pattern import compiled

Kind = Literal["bool", "number", "choice", "fields"]
_MOST = 1e300


@dataclass(frozen=True)
class VerdictSpec:
    """What a judge is asked to say; made by `boolean`, `number`, `choice` or `fields`.

    Attributes:
        kind: A bool, a number on a scale, one of several labels, or only the extra fields.
        name: The key of the verdict in the reply.
        asks: What the verdict answers, in a line of the prompt.
        scale: The lowest and the highest number.
        whole: Whether the number is a whole one.
        numbers: The only numbers that there are, where not all of the scale is.
        labels: The score of each label; None for one that gives no score.
        reasoning: Whether the judge says why, first.
        extra: Other keys of the reply, each with its JSON Schema; all are required.
        pattern: In place of JSON: a line such as `GRADE: {}`, or a regular expression of which
            one group is the verdict. The instructions show it.
        aliases: Other keys under which the verdict may come.
        open: Whether the scale is only in the prompt, which somebody else wrote: any finite number
            is a verdict, and the score as it is.
    """

    kind: Kind
    name: str = "verdict"
    asks: str = ""
    scale: tuple[float, float] = (0.0, 1.0)
    whole: bool = False
    numbers: tuple[float, ...] = ()
    labels: Mapping[str, float | None] = field(default_factory=dict)
    reasoning: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    pattern: str | None = None
    aliases: tuple[str, ...] = ()
    open: bool = False

    def __post_init__(self) -> None:
        """Check what is declared.

        Raises:
            ConfigError: A scale, a label or a key that cannot be.
        """
        faults = [*self._faults()]
        if faults:
            raise ConfigError(*faults)

    def _faults(self) -> Sequence[str]:
        faults: list[str] = []
        low, high = self.scale
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            faults.append(f"scale: a low and a greater high number are needed, got {self.scale}")
        if self.kind == "choice" and len(self.labels) < 2:
            faults.append(f"choices: at least two are needed, got {shorten(dict(self.labels))}")
        for label, score in self.labels.items():
            if not isinstance(label, str) or not label.strip():
                faults.append(f"choices: a label is a text, got {label!r}")
            if score is not None and not _is_score(score):
                faults.append(f"choices: {label}: a score from 0 to 1 is needed, got {score!r}")
        taken = ["reasoning", *self.extra, *self.aliases]
        if self.kind != "fields" and self.name in taken:
            faults.append(f"name: {self.name!r} is another key of the reply")
        if self.kind == "fields" and not self.extra:
            faults.append("extra: at least one field is needed")
        if self.pattern is not None and (self.extra or self.kind == "fields"):
            faults.append("pattern: reads one verdict and no other fields")
        elif self.pattern is not None:
            compiled(self.pattern)
        return faults

    @classmethod
    def boolean(cls, name: str = "pass", **more: Any) -> VerdictSpec:
        """Ask for yes or no."""
        return cls("bool", name, **more)

    @classmethod
    def number(
        cls,
        low: float = 0.0,
        high: float = 1.0,
        *,
        name: str = "score",
        whole: bool = False,
        **more: Any,
    ) -> VerdictSpec:
        """Ask for a number from `low` to `high`."""
        return cls("number", name, scale=(low, high), whole=whole, **more)

    @classmethod
    def any_number(cls, name: str = "score", **more: Any) -> VerdictSpec:
        """Ask for a number on the scale that the prompt says."""
        return cls("number", name, scale=(-_MOST, _MOST), open=True, **more)

    @classmethod
    def choice(
        cls,
        choices: Mapping[str, float | None] | Sequence[float],
        *,
        name: str | None = None,
        **more: Any,
    ) -> VerdictSpec:
        """Ask for one of several labels, each with its score; or for one of several numbers.

        Raises:
            ConfigError: There are fewer than two, or they are neither.
        """
        if isinstance(choices, Mapping):
            return cls("choice", name or "choice", labels=dict(choices), **more)
        numbers = [*choices] if not isinstance(choices, str) else []
        if len(set(numbers)) < 2 or not all(_is_finite(number) for number in numbers):
            raise ConfigError(
                "choices: at least two numbers, or two labels with the score of each, are needed, "
                f"got {shorten(choices)}"
            )
        ordered = tuple(sorted({float(number) for number in numbers}))
        inside = all(_is_score(number) for number in ordered)
        scale = (0.0, 1.0) if inside else (ordered[0], ordered[-1])
        return cls("number", name or "score", scale=scale, numbers=ordered, **more)

    @classmethod
    def fields(cls, extra: Mapping[str, Any], **more: Any) -> VerdictSpec:
        """Ask for an object of these keys, each with the JSON Schema of its value."""
        return cls("fields", "", extra=extra, **more)

    def score(self, value: Any) -> float | None:
        """Return a verdict that was read as a score in [0, 1]; None where it has none."""
        if self.kind == "bool":
            return float(value)
        if self.open:
            return float(value)
        if self.kind == "number":
            low, high = self.scale
            return (float(value) - low) / (high - low)
        return self.labels[value] if self.kind == "choice" else None

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the reply; None where a pattern reads it."""
        if self.pattern is not None:
            return None
        keys: dict[str, Any] = {}
        if self.reasoning:
            keys["reasoning"] = {"type": "string", "description": "Why, step by step."}
        keys |= self.extra
        if self.kind != "fields":
            keys[self.name] = self._verdict_schema()
        return {
            "type": "object",
            "properties": keys,
            "required": [*keys],
            "additionalProperties": False,
        }

    def _verdict_schema(self) -> dict[str, Any]:
        said = {"description": self.asks} if self.asks else {}
        if self.kind == "bool":
            return {"type": "boolean", **said}
        if self.kind == "choice":
            return {"type": "string", "enum": [*self.labels], **said}
        if self.numbers:
            return {"type": "number", "enum": [_plain(number) for number in self.numbers], **said}
        if self.open:
            return {"type": "number", **said}
        low, high = map(_plain, self.scale)
        type_ = "integer" if self.whole else "number"
        return {"type": type_, "minimum": low, "maximum": high, **said}

    @property
    def allowed(self) -> str:
        """What the verdict may be, in words."""
        if self.kind == "bool":
            return "true or false"
        if self.kind == "choice":
            return "one of " + ", ".join(json.dumps(c, ensure_ascii=False) for c in self.labels)
        if self.numbers:
            return "one of " + ", ".join(str(_plain(number)) for number in self.numbers)
        if self.open:
            return "a number, by the scale above"
        low, high = map(_plain, self.scale)
        return f"a {'whole ' if self.whole else ''}number from {low} to {high}"

    @cached_property
    def instructions(self) -> str:
        """How the reply must be written, for the prompt."""
        asks = f" ({self.asks.rstrip('.')})" if self.asks else ""
        if self.pattern is not None:
            first = "First say why. Then end " if self.reasoning else "End "
            form = self.pattern.replace("{}", "…") if "{}" in self.pattern else self.pattern
            how = "of the form" if "{}" in self.pattern else "that matches"
            return f"{first}your reply with one line {how} `{form}`, … being {self.allowed}{asks}."
        lines = ["Reply with one JSON object and nothing else. Its keys, in this order:"]
        if self.reasoning:
            lines.append('- "reasoning": a text, why, step by step, before you decide')
        lines += [
            f'- "{key}": as in the JSON Schema {json.dumps(schema, ensure_ascii=False)}'
            for key, schema in self.extra.items()
        ]
        if self.kind != "fields":
            lines.append(f'- "{self.name}": {self.allowed}{asks}')
        return "\n".join(lines)


def _is_finite(number: object) -> bool:
    return (
        isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number)
    )


def _is_score(number: object) -> bool:
    return isinstance(number, (int, float)) and _is_finite(number) and 0 <= number <= 1


def _plain(number: float) -> float:
    """Return a number as it is written: 1 for 1.0."""
    return int(number) if float(number).is_integer() else number
