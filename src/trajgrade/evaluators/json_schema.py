"""JSONSchemaMatch: the response satisfies a JSON Schema (SEMANTICS A10).

The schema is checked when the evaluator is made; its draft is the one that `$schema` names, else
2020-12. Formats are asserted. A reference to another document is refused: nothing is fetched, from
no network and no file. A response that is text must be JSON (RFC 8259) first.

An object that holds its text in a known container (`{"answer": "Paris"}`) is data where the schema
names one of its members, and that text otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jsonschema_rs

from trajgrade.errors import ConfigError
from trajgrade.evaluators.answering import AnswerEvaluator, check_flags
from trajgrade.evaluators.json_strict import parsed_fault, read_strictly, unfenced
from trajgrade.evaluators.reading import Answer
from trajgrade.jsontext import loads
from trajgrade.matching.values import escape
from trajgrade.result import EvaluationResult

_STOPPED = (
    jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
    jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
)


@dataclass(frozen=True)
class JSONSchemaMatch(AnswerEvaluator):
    """1 if the response satisfies the schema, else 0; `value` is the same as a bool.

    `metadata["errors"]` has every error: its `path` in the response, the schema's `keyword`, and a
    `message`.

    Attributes:
        schema: The schema as an object, true or false, or its JSON text.
        key: The metric's name.
        allow_fences: Whether one Markdown fence around the whole response is left out.
    """

    schema: dict[str, Any] | bool | str
    key: str = "json_schema_match"
    allow_fences: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the schema and the options.

        Raises:
            ConfigError: The schema is no JSON Schema, or refers to another document.
        """
        check_flags(allow_fences=self.allow_fences)
        if isinstance(self.schema, str):
            try:
                parsed = loads(self.schema)
            except ValueError as wrong:
                raise ConfigError(f"schema: the text is not JSON: {wrong}") from wrong
            object.__setattr__(self, "schema", parsed)
        fault = parsed_fault(self.schema)
        if fault is not None:
            raise ConfigError(f"schema: {fault}")
        _ = self._validator

    @cached_property
    def _validator(self) -> Any:
        try:
            return jsonschema_rs.validator_for(
                self.schema, validate_formats=True, retriever=_refuse
            )
        except jsonschema_rs.ValidationError as wrong:
            place = written_path(wrong.instance_path)
            where = f"schema: {place}" if place else "schema"
            raise ConfigError(f"{where}: {wrong.message}") from wrong
        except ValueError as wrong:
            raise ConfigError(f"schema: {wrong}") from wrong

    def grade(self, answer: Answer) -> EvaluationResult:
        """Validate the data.

        Raises:
            TimeoutError: A pattern of the schema takes too long on the response.
        """
        data: Any = answer.said
        if isinstance(answer.held, dict) and _speaks_of(self.schema, answer.held):
            data = answer.held
        if isinstance(data, str):
            data, fault, *_ = read_strictly(unfenced(data) if self.allow_fences else data)
        else:
            fault = parsed_fault(data)
        if fault is not None:
            return self.verdict(False, f"not JSON: {fault}", {"errors": []})
        return self._validated(data)

    def _validated(self, data: Any) -> EvaluationResult:
        try:
            errors = list(self._validator.iter_errors(data))
        except UnicodeEncodeError:
            errors = list(self._validator.iter_errors(_without_surrogates(data)))
        if any(isinstance(error.kind, _STOPPED) for error in errors):
            raise TimeoutError("a pattern of the schema takes too long on this response")
        listed = [
            {
                "path": written_path(error.instance_path),
                "keyword": str(error.kind.name),
                "message": _cut(error.message),
            }
            for error in errors
        ]
        if not listed:
            return self.verdict(True, "satisfies the schema", {"errors": []})
        first = listed[0]
        comment = f"{first['path'] or 'the whole'}: {first['message']}"
        if len(listed) > 1:
            comment += f" (and {len(listed) - 1} more)"
        return self.verdict(False, comment, {"errors": listed})


def _refuse(uri: str) -> Any:
    raise ValueError(f"references to other documents are not followed ({uri}); put it in $defs")


def written_path(path: list[str | int]) -> str:
    """Write a path as `a.b[0].c`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{escape(part)}" for part in path]
    return "".join(parts).removeprefix(".")


def _cut(message: str, limit: int = 300) -> str:
    return message if len(message) <= limit else f"{message[: limit - 1]}…"


def _speaks_of(schema: Any, data: dict[Any, Any]) -> bool:
    """Whether the schema's outermost object names a member of the data."""
    return any(not data.keys().isdisjoint(names) for names in _names(schema, schema, 0))


def _names(schema: Any, root: Any, depth: int) -> Iterator[Any]:
    if not isinstance(schema, dict) or depth > 20:
        return
    yield schema.get("properties", ())
    yield schema.get("required", ())
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield from _names(part, root, depth + 1)
    pointer = schema.get("$ref", "")
    if pointer.startswith("#/"):
        part = root
        for segment in pointer[2:].split("/"):
            part = part.get(segment) if isinstance(part, dict) else None
        yield from _names(part, root, depth + 1)


def _without_surrogates(value: Any) -> Any:
    """Replace what the validator cannot hold by as many replacement characters."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
        case list() | tuple():
            return [_without_surrogates(item) for item in value]
        case _:
            return value
