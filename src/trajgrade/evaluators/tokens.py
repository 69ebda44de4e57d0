"""Words and sentences of a text in any script, as ROUGE counts them.

A word is a run of letters, marks and digits, in lower case: on ASCII what Google's rouge-score
takes for one. Scripts written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) give a word for
each letter with its marks. Nothing is downloaded.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import regex

from trajgrade.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

TOKENIZER = "unicode-words"

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+", regex.VERSION1
)
_END = regex.compile(r"(?<=[.!?…]['\")\]»”’]*)\s+|(?<=[。！？｡۔।॥՞؟])\s*")
_STEMMED_FROM = 4


def words(text: str, *, stem: bool = False) -> list[str]:
    """Return the words of a text.

    Args:
        text: The text.
        stem: Whether English words of four or more letters are cut to their Porter stem.

    Raises:
        MissingExtraError: Stems are asked for and nltk is not installed.
    """
    found: list[str] = _WORD.findall(text.lower())
    if not stem:
        return found
    cut = _porter()
    return [cut(word) if len(word) >= _STEMMED_FROM else word for word in found]


def sentences(text: str, *, split: bool = False) -> list[str]:
    """Return the sentences of a text: its lines, or the parts that end in a full stop.

    Args:
        text: The text.
        split: Whether sentences are found by their punctuation; else each line is one.
    """
    if split:
        return [part for part in _END.split(text) if part and part.strip()]
    return [line for line in text.split("\n") if line]


def is_unspaced(text: str) -> bool:
    """Whether the text has letters of a script that is written without spaces."""
    return regex.search(f"[{_UNSPACED}]", text) is not None


@cache
def _porter() -> Callable[[str], str]:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise MissingExtraError("use_stemmer", "nltk", "text") from None
    cut: Callable[[str], str] = PorterStemmer().stem
    return cut
