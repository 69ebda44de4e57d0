"""Small traces of session logs, texts and dialects, in the story of `samples`."""

from __future__ import annotations

from typing import Any

Row = tuple[str, str, Any, list[Any], str | None]

QUESTION = "Any trains to Oslo?"
ANSWER = "Yes, at 09:14."
ARGS = {"to": "Oslo"}
CALL = ("trains", ARGS)

ROWS: list[Row] = []
