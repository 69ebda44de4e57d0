"""The `content` of a message → its text.

A message's text is that of its text blocks, joined without separator. Pictures, sound, files and
thoughts have none.
"""

from __future__ import annotations

from typing import Any

from trajgrade import jsontext
from trajgrade.errors import MalformedTraceError, shorten
from trajgrade.formats.arguments import bounded

_TEXTUAL = ("text", "refusal")


def text_of(content: Any, place: str = "content") -> str:
    """Return the text.

    Args:
        content: A text, None, a list of texts and blocks, or one block. Another object is written
            as JSON text.
        place: Where it stands, for a message.

    Raises:
        MalformedTraceError: It is something else.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, dict):
        return _block(content, place) or ("" if "type" in content else written(content, place))
    if isinstance(content, (list, tuple)):
        return "".join([_block(block, place) for block in content])
    raise _wrong(content, place)


def _block(block: Any, place: str) -> str:
    if isinstance(block, str):
        return block
    if block is None:
        return ""
    if not isinstance(block, dict):
        raise _wrong(block, place)
    for key in _TEXTUAL:
        text = block.get(key)
        if isinstance(text, dict):  # {"type": "text", "text": {"value": …, "annotations": …}}
            text = text.get("value")
        if isinstance(text, str):
            return text
    return ""


def result_of(content: Any, place: str) -> Any:
    """Return what a tool gave back: a text where only texts stand, anything else as it is.

    Raises:
        MalformedTraceError: It is nested too deeply, or in a circle.
    """
    if isinstance(content, str) or content is None:
        return content
    bounded(content, place)
    if isinstance(content, list) and content and all(map(_is_text, content)):
        return text_of(content)
    return content


def _is_text(block: Any) -> bool:
    if isinstance(block, str):
        return True
    return (
        isinstance(block, dict)
        and isinstance(block.get("text"), str)
        and block.get("type", "text") in ("text", "input_text", "output_text")
    )


def shown(result: Any, place: str) -> str:
    """Return a tool's result as the text of its step."""
    if isinstance(result, str):
        return result
    return "" if result is None else written(result, place)


def written(value: Any, place: str) -> str:
    """Return a structure as JSON text.

    Raises:
        MalformedTraceError: It is nested too deeply, or in a circle.
    """
    try:
        return jsontext.dumps(value).decode()
    except RecursionError:
        bounded(value, place)
        raise


def _wrong(content: Any, place: str) -> MalformedTraceError:
    return MalformedTraceError(
        f"{place}: expected a text or a list of blocks, found {shorten(content)}"
    )
