"""References: what was expected of a trace, looked up in a dataset by id or by what was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Literal, get_args

from trajgrade.dataset import Dataset, Example, Needs
from trajgrade.errors import ConfigError, DatasetError, shorten, unknown
from trajgrade.jsontext import dumps
from trajgrade.matching.paths import lookup, parse
from trajgrade.matching.values import MISSING
from trajgrade.record import DATASET

By = Literal["id", "input"]

_KEYS = ("dataset", "by", "path")
_AGAIN = 10.0  # seconds after which a dataset of the store is looked at for a newer version


class References:
    """Examples of a dataset, by their ids or by what was asked.

    Args:
        written: `{dataset, by, path}`: the dataset as `Dataset.load` takes it, or `store:NAME`;
            `id` (the default) or `input`; and the dotted path of the id, or of what was asked, in
            the trace, where that is not its own.
        store: Where datasets of a store are.

    Raises:
        ConfigError: It is no such block.
        DatasetError: The dataset cannot be read, or has two references for one example.
    """

    def __init__(self, written: Mapping[str, Any], store: Any = None) -> None:
        self._where, self._by, path = _checked(written)
        self._path = None if path is None else parse(path)
        self._store = store
        self._lock = threading.Lock()
        self._looked_at = 0.0
        self._version: Any = None
        self._found: dict[str, Example] = {}
        self.texts_apart = False
        self._refresh()

    def of(self, item_id: str, trace: Any, asked: Any) -> Example | None:
        """Return the example of a trace; None where the dataset has none.

        Args:
            item_id: What names the trace.
            trace: The trace.
            asked: What the agent was asked, as far as the trace says.
        """
        self._refresh()
        own = item_id if self._by == "id" else asked
        named = own if self._path is None else lookup(trace, self._path)
        absent = named is None or named is MISSING
        return None if absent else self._found.get(_key(named))

    def _refresh(self) -> None:
        """Read the dataset, if it was not, or is one of the store that has a newer version."""
        with self._lock:
            now = time.monotonic()
            if self._found and not (
                self._where.startswith(DATASET) and now - self._looked_at > _AGAIN
            ):
                return
            self._looked_at = now
            dataset = self._opened()
            if self._found and dataset.name == self._version:
                return
            self._found = self._indexed(dataset)
            self._version, self.texts_apart = dataset.name, dataset.texts_apart

    def _opened(self) -> Dataset:
        if not self._where.startswith(DATASET):
            return Dataset.load(self._where)
        from importlib import import_module

        kept: Dataset = import_module("trajgrade.stores.kept").kept_dataset(
            self._where, store=self._store
        )
        return kept

    def _indexed(self, dataset: Dataset) -> dict[str, Example]:
        found: dict[str, Example] = {}
        for example in dataset.examples(Needs(row=True)):
            named = example.id if self._by == "id" else example.inputs
            if named is None:
                continue
            first = found.setdefault(_key(named), example)
            if _expected(first) != _expected(example):
                raise DatasetError(
                    f"reference: {first.source} and {example.source} have the same {self._by} "
                    f"{shorten(named)}, and not the same reference: which counts?"
                )
        return found


def _expected(example: Example) -> tuple[Any, Any]:
    return example.reference_outputs, example.reference


def _checked(written: Any) -> tuple[str, str, str | None]:
    if not isinstance(written, Mapping):
        raise ConfigError(f"reference: {{dataset, by, path}} is needed, got {shorten(written)}")
    faults = [
        f"reference.{key}: {unknown('key', key, _KEYS)}" for key in written if key not in _KEYS
    ]
    where, by, path = (written.get(key) for key in _KEYS)
    by = "id" if by is None else by
    if not isinstance(where, str):
        faults.append(f"reference.dataset: a path, or store:NAME, is needed, got {shorten(where)}")
    if by not in get_args(By):
        faults.append(f"reference.by: {unknown('way', by, get_args(By))}")
    if path is not None and not isinstance(path, str):
        faults.append(f"reference.path: a dotted path is needed, got {shorten(path)}")
    if faults:
        raise ConfigError(*faults)
    return str(where), by, path


def _key(named: Any) -> str:
    """Return what is the same for the same id, or for the same question in whatever shape."""
    if isinstance(named, str):
        return " ".join(named.split())
    return dumps(named).decode()
