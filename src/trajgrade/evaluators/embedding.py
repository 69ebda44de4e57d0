"""EmbeddingDistance: how near the response and the reference are as vectors (SEMANTICS A10).

In spite of Potato's name the score is a similarity: the cosine of the two vectors, clipped to
[0, 1], higher is better. The cosine itself (-1 to 1) and the distance (1 - cosine, 0 to 2) are in
the metadata. A vector that is zero or not finite, or two of different lengths, have no cosine: not
evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

from trajgrade.errors import ConfigError, MissingExtraError, shorten
from trajgrade.evaluators.answering import AnswerComparison
from trajgrade.evaluators.reading import Answer, texts
from trajgrade.result import EvaluationResult

Embed = Callable[[str], Sequence[float]]


@dataclass(frozen=True)
class EmbeddingDistance(AnswerComparison):
    """1 for vectors of one direction, 0 for a right angle or more; `value` is the cosine.

    Attributes:
        embed_fn: A function from one text to its vector: a list of numbers, or an array. None uses
            a model of the package sentence-transformers.
        model_name: The name or folder of that model, which is loaded when first used.
        key: The metric's name.
    """

    embed_fn: Embed | None = None
    model_name: str = "all-MiniLM-L6-v2"
    key: str = "embedding_similarity"

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ConfigError: The function cannot be called, or the model's name is no text.
        """
        if self.embed_fn is not None and not callable(self.embed_fn):
            raise ConfigError(f"embed_fn: a function is needed, got {self.embed_fn!r}")
        name: object = self.model_name
        if not isinstance(name, str) or not name:
            raise ConfigError(f"model_name: a text is needed, got {self.model_name!r}")

    @cached_property
    def _embed(self) -> Embed:
        if self.embed_fn is not None:
            return self.embed_fn
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as missing:
            if missing.name != "sentence_transformers":
                raise
            raise MissingExtraError("EmbeddingDistance", "sentence-transformers", "embed") from None
        encode: Embed = SentenceTransformer(self.model_name).encode
        return encode

    def compare(self, answer: Answer, reference: Answer) -> EvaluationResult:
        """Embed both texts and take the cosine.

        Raises:
            MissingExtraError: There is no `embed_fn` and sentence-transformers is not installed.
            TypeError: The function does not return a list of numbers.
        """
        got, want = (self._vector(text) for text in texts(answer, reference))
        if len(got) != len(want):
            reason = f"the response's vector has {len(got)} dimensions, the reference's {len(want)}"
            return self.unscored("undefined", reason)
        for name, vector in (("response", got), ("reference", want)):
            if not all(map(math.isfinite, vector)):
                reason = f"the {name}'s vector holds a number that is not finite"
                return self.unscored("undefined", reason)
            if not any(vector):
                return self.unscored("undefined", f"the {name}'s vector is zero: no direction")
        value = cosine(got, want)
        metadata: dict[str, Any] = {
            "cosine": value, "distance": 1 - value, "dimensions": len(got),
            "model": self.model_name if self.embed_fn is None else None,
        }  # fmt: skip
        score = max(0.0, value)
        return EvaluationResult(self.key, score, value, f"cosine {value:.4f}", metadata)

    def _vector(self, text: str) -> list[float]:
        vector: Any = self._embed(text)
        if hasattr(vector, "tolist"):  # an array of numpy, torch, …
            vector = vector.tolist()
        try:
            return [float(number) for number in vector]
        except (TypeError, ValueError) as wrong:
            raise TypeError(
                "the embedding function must return one list of numbers for a text, got "
                f"{shorten(vector)}"
            ) from wrong


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the cosine of two finite vectors of one length that are not zero, within [-1, 1].

    Each is scaled by its largest component first, so that squares neither overflow nor vanish.
    """
    ours, theirs = _scaled(left), _scaled(right)
    product = math.fsum(map(mul, ours, theirs))
    return min(1.0, max(-1.0, product / (math.hypot(*ours) * math.hypot(*theirs))))


def _scaled(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector))
    return [number / largest for number in vector]
