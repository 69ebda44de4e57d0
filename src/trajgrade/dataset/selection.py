"""Which rows of a dataset are graded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

import msgspec

from trajgrade.dataset.dataset import Dataset
from trajgrade.dataset.example import Example, Needs
from trajgrade.errors import ConfigError, DatasetError, near


class Selected(msgspec.Struct, frozen=True):
    """Which rows of a dataset are graded.

    Attributes:
        ids: The examples, all where empty.
        matching: A part of the example's id, or a glob over it, in any case.
        limit: How many rows at most.
    """

    ids: frozenset[str] = frozenset()
    matching: str | None = None
    limit: int | None = None

    def check(self, dataset: Dataset) -> None:
        """Refuse a selection that selects nothing, reading no more than ids.

        Raises:
            ConfigError: The limit is below 1.
            DatasetError: The dataset has no such example.
        """
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"limit: at least one row is needed, got {self.limit}")
        if not self.ids and self.matching is None:
            return
        found = [example.id for example in dataset.examples(Needs(frozenset()))]
        faults = [
            f"{dataset.name} has no example {name!r}{_hint(name, found)}"
            for name in sorted(self.ids.difference(found))
        ]
        if not faults and not any(self._takes(name) for name in found):
            first = ", ".join(dict.fromkeys(found[:5]))
            faults = [
                f"{dataset.name} has no example whose id matches {self.matching!r}; first: {first}"
            ]
        if faults:
            raise DatasetError("\n".join(faults))

    def of(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Yield the examples that are selected."""
        taken = 0
        for example in examples:
            if self.limit is not None and taken >= self.limit:
                return
            if self._takes(example.id):
                taken += 1
                yield example

    def _takes(self, name: str) -> bool:
        if self.ids and name not in self.ids:
            return False
        return self.matching is None or _matches(name, self.matching)


def _hint(name: str, known: Iterable[str]) -> str:
    guess = near(name, known)
    return f"; did you mean {guess!r}?" if guess else ""


def _matches(name: str, pattern: str) -> bool:
    name, pattern = name.casefold(), pattern.casefold()
    return fnmatchcase(name, pattern) if set("*?[") & set(pattern) else pattern in name
